"""The page of HTML in a browser without a screen: Chromium, driven by selenium."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import report_programs as programs

import pytocu
from pytocu.report.page import collect, html_report, render

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
REASON = "needs a browser: apt-get install chromium chromium-driver, pip install 'pytocu[docs]'"
SWITCHES = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --window-size=1500,1200"""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not (BROWSER and DRIVER):
        pytest.skip(REASON)
    webdriver = pytest.importorskip("selenium.webdriver", reason=REASON)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for switch in (*SWITCHES.split(), f"--user-data-dir={folder}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        driver.get("about:blank")  # so that the browser's own first page is not what a test's page is taken for
        yield driver
        driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html_report(pytocu.jit(programs.standard).lower("f32[n, m]", "f32[m]")), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Any, address: str) -> Any:
    ui = pytest.importorskip("selenium.webdriver.support.ui", reason=REASON)
    browser.get(address)
    # A browser that has just begun says that a page is there before the page's script has run.
    drawn = "return document.readyState === 'complete' && document.querySelector('[data-pane=python] .row') !== null"
    ui.WebDriverWait(browser, 30).until(lambda page: page.execute_script(drawn))
    yield browser
    severe = [entry["message"] for entry in browser.get_log("browser")]
    assert severe == []


def texts(page: Any, pane: str, style: str) -> list[str]:
    """The texts of a view's lines that have a class."""
    chosen = f"[data-pane={pane}] .row.{style} code"
    return page.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", chosen)


def line_with(page: Any, pane: str, text: str) -> str:
    """The id of the first line with a text."""
    script = """for (const row of document.querySelectorAll(`[data-pane=${arguments[0]}] .row`))
        if (row.textContent.includes(arguments[1])) return row.id; return ''"""
    found = page.execute_script(script, pane, text)
    assert found, text
    return found


def click(page: Any, pane: str, text: str) -> None:
    page.execute_script("document.getElementById(arguments[0]).click()", line_with(page, pane, text))


def press(page: Any, *keys: str) -> None:
    page.switch_to.active_element.send_keys(*keys)


def test_nothing_is_asked_of_the_network(browser: Any, address: str) -> None:
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get(address)
    events = browser.get_log("performance")
    asked = [e["message"] for e in events if '"Network.requestWillBeSent"' in e["message"]]
    assert asked and all('"url":"file:' in message or '"url":"data:' in message for message in asked)


def test_a_line_of_python_lights_up_in_all_views(page: Any) -> None:
    click(page, "python", "spread > 3")
    assert len(texts(page, "python", "lit")) == 1
    assert any("greater" in text for text in texts(page, "ir", "lit"))
    assert any("> 3.0f" in text for text in texts(page, "code", "lit"))
    assert any("setp.gt.f32" in text for text in texts(page, "assembly", "lit"))


def test_a_statement_of_cuda_c_lights_up_its_instructions_and_no_others(page: Any) -> None:
    click(page, "code", "sqrtf(")
    assert len(texts(page, "code", "lit")) == 1
    assert {text.split()[2] for text in texts(page, "ir", "lit")} == {"convert_raw", "divide", "multiply", "sqrt"}
    assert {text.split()[0].partition(".")[0] for text in texts(page, "assembly", "lit")} <= {"cvt", "div", "ld", "mul", "sqrt"}
    marks = page.execute_script("return [...document.querySelectorAll('.row mark')].map(e => e.textContent)")
    assert marks == ["x * weight / np.sqrt((x * x).mean(axis=1, keepdims=True))", "scaled(x, weight)"]
    assert texts(page, "ir", "near") and texts(page, "code", "near")


def test_ptx_lights_up_its_statement(page: Any) -> None:
    click(page, "assembly", "sqrt.rn.f32")
    (statement,) = texts(page, "code", "lit")
    assert "sqrtf(" in statement


def test_what_is_chosen_stays_in_every_pass(page: Any) -> None:
    click(page, "python", "spread > 3")
    names = page.execute_script("return [...document.querySelectorAll('#stage option')].map(e => e.textContent)")
    assert names[0] == "lower" and len(names) > 8
    seen: list[int] = []
    for _ in names[1:]:
        press_outside(page, "[")
        seen.append(len(texts(page, "ir", "lit")))
    assert all(seen) and page.execute_script("return document.getElementById('stage').selectedOptions[0].text") == "lower"
    assert not page.find_element("id", "earlier").is_enabled()
    press_outside(page, "]")
    assert page.execute_script("return document.getElementById('stage').value") == "1"
    assert texts(page, "ir", "new")


def test_the_code_of_the_other_backend_is_one_key_away(page: Any) -> None:
    click(page, "python", "spread > 3")
    before = texts(page, "code", "lit")
    assert any("> 3.0f" in text for text in before)
    press_outside(page, "b")
    shown = page.execute_script("return document.getElementById('backend').selectedOptions[0].text")
    assert shown == "NVVM IR"
    assert page.find_element("css selector", "[data-pane=code] .rows").get_attribute("aria-label") == shown
    lit = texts(page, "code", "lit")
    assert any("fcmp ogt float" in text for text in lit) and texts(page, "assembly", "lit")
    click(page, "code", "@llvm.sqrt" if line_of(page, "code", "@llvm.sqrt") else "sqrt")
    assert any("sqrt" in text for text in texts(page, "assembly", "lit"))
    assert {text.split()[2] for text in texts(page, "ir", "lit")} == {"sqrt"}
    for _ in range(page.execute_script("return document.querySelectorAll('#backend option').length") - 1):
        press_outside(page, "b")
    assert page.execute_script("return document.getElementById('backend').value") == "0"


def line_of(page: Any, pane: str, text: str) -> bool:
    rows = "[...document.querySelectorAll(`[data-pane=${arguments[0]}] .row`)]"
    script = f"return {rows}.some(r => r.textContent.includes(arguments[1]))"
    return page.execute_script(script, pane, text)


def test_a_page_of_the_cpu(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "cpu.html"
    file.write_text(html_report(pytocu.jit(programs.heat).lower("f64[n]", "weak int"), "cpu"), encoding="utf-8")
    browser.get(file.as_uri())
    click(browser, "python", "u[1:-1] +=")
    assert any("fmul double" in text for text in texts(browser, "code", "lit"))
    assert any("mul" in text for text in texts(browser, "assembly", "lit"))
    assert not browser.find_element("id", "backend").is_enabled()
    boxes = browser.execute_script("return [...document.querySelectorAll('svg .kernel .title')].map(e => e.textContent)")
    assert boxes == ["heat_0 (rows)", "heat_1 (rows, in each step)"]
    assert browser.get_log("browser") == []


def test_a_page_without_kernels(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "whole.html"
    file.write_text(html_report(pytocu.jit(programs.whole).lower("f32[n]")), encoding="utf-8")
    browser.get(file.as_uri())
    assert "No kernel" in browser.find_element("css selector", "[data-pane=assembly]").text
    assert browser.get_log("browser") == []


def press_outside(page: Any, key: str) -> None:
    page.execute_script("document.activeElement.blur()")
    page.find_element("tag name", "body").send_keys(key)


def test_keyboard_alone(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    press_outside(page, "1")
    assert page.execute_script("return document.activeElement.getAttribute('aria-label')") == "Python"
    press(page, Keys.HOME, Keys.ARROW_DOWN)
    active = page.execute_script("return document.activeElement.getAttribute('aria-activedescendant')")
    assert active == "python-1" and page.find_element("id", active).get_attribute("aria-selected") == "true"
    assert "scaled" not in "".join(texts(page, "python", "cursor")) and texts(page, "code", "lit")
    press(page, "3", Keys.END)
    assert page.execute_script("return document.activeElement.getAttribute('aria-label')") == "CUDA C"
    assert texts(page, "code", "cursor") == ["}"]
    press(page, Keys.PAGE_UP)
    assert texts(page, "code", "cursor") != ["}"]
    click(page, "python", "spread > 3")
    press(page, "2", "n")
    first = texts(page, "ir", "cursor")
    press(page, "n")
    assert texts(page, "ir", "cursor") != first and len(texts(page, "ir", "lit")) > 1
    press(page, "N")
    assert texts(page, "ir", "cursor") == first
    press(page, Keys.ESCAPE)
    assert not texts(page, "ir", "lit") and page.find_element("id", "status").text == ""
    press(page, "?")
    assert page.find_element("id", "help").is_displayed()
    press(page, Keys.ESCAPE)
    assert not page.find_element("id", "help").is_displayed()


def test_every_control_is_reached_by_tab(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.activeElement.blur()")
    reached: list[str] = []
    for _ in range(30):
        press(page, Keys.TAB)
        name = "const e = document.activeElement; return e.id || e.dataset.kernel || e.getAttribute('aria-label') || e.tagName"
        reached.append(page.execute_script(name))
    wanted = {"help-button", "theme-button", "0", "1", "2", "Python", "stage", "earlier", "IR", "CUDA C", "PTX"}
    assert wanted <= set(reached)


def test_a_kernel_of_the_plan_lights_up(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('[data-kernel=\"1\"]').focus()")
    press(page, Keys.ENTER)
    lit = texts(page, "code", "lit")
    assert " standard_1(" in lit[0] and lit[-1] == "}" and not any(" standard_2(" in text for text in lit)
    assert any('name = "standard_1"' in text for text in texts(page, "ir", "lit"))
    assert page.find_element("id", "status").text.startswith("kernel standard_1")


def test_pointing_lights_up_until_something_is_chosen(page: Any) -> None:
    over = "document.getElementById(arguments[0]).dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
    page.execute_script(over, line_with(page, "python", "spread > 3"))
    assert "spread > 3" in texts(page, "python", "lit")[0]
    click(page, "python", "y = scaled")
    page.execute_script(over, line_with(page, "python", "spread > 3"))
    assert all("spread > 3" not in text for text in texts(page, "python", "lit"))


def brightness(color: str) -> float:
    numbers = [float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [(c / 255 / 12.92) if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in numbers]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("preferred", ["light", "dark"])
def test_light_and_dark_are_readable(page: Any, preferred: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": preferred}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    color = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert (brightness(page.execute_script(color, "body", "backgroundColor")) > 0.5) == (preferred == "light")
    click(page, "code", "sqrtf(")
    # While colours change, a line has one in between.
    page.execute_script("for (const animation of document.getAnimations()) animation.finish()")
    pairs = [("article", s) for s in (".c", ".w", ".v", ".t", ".number", "#doc")]
    inside = ("code", ".number", ".w", ".v")
    pairs += [(row, f"{row} {part}") for row in (".row.lit", ".row.near") for part in inside]
    for behind, text in pairs:
        back, front = (
            brightness(page.execute_script(color, selector, name))
            for selector, name in ((behind, "backgroundColor"), (text, "color"))
        )
        ratio = (max(back, front) + 0.05) / (min(back, front) + 0.05)
        assert ratio >= 4.5, f"{text} on {behind}: {ratio:.2f}"
    press_outside(page, "t")
    assert (brightness(page.execute_script(color, "body", "backgroundColor")) > 0.5) == (preferred == "dark")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_two_thousand_instructions(browser: Any, tmp_path: Path) -> None:
    source = ["def many(x, y):", *(f"    x = (x + {k}) * y" for k in range(1000)), "    return x"]
    file = tmp_path / "many.py"
    file.write_text("\n".join(source))
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    report = collect(pytocu.jit(names["many"]).lower("f32[n]", "f32[n]"))
    assert len(report.stages[0].rows) > 2000
    page = tmp_path / "many.html"
    page.write_text(render(report), encoding="utf-8")
    browser.get(page.as_uri())
    click(browser, "python", "x = (x + 700) * y")
    assert len(texts(browser, "python", "lit")) == 1
    assert any("+ 700.0f" in text for text in texts(browser, "code", "lit"))
    visible = """const row = document.querySelector('[data-pane=code] .row.lit').getBoundingClientRect();
        const box = document.querySelector('[data-pane=code] .rows').getBoundingClientRect();
        return row.top >= box.top - 1 && row.bottom <= box.bottom + 1"""
    assert browser.execute_script(visible)
    assert browser.get_log("browser") == []

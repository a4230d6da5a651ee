"""Writes the picture of a report that the documentation shows: ``python tests/report_picture.py docs/report.png``.

Needs Chromium and selenium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver

import pytocu
from pytocu.report.page import html_report
from pytocu.testing import pages

SWITCHES = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --window-size=1500,1290"
ROOT = Path(__file__).parent.parent


def main(output: str, chosen: str = "sqrtf(") -> None:
    """Write the function of docs/report.md as a report, choose a statement of CUDA C, and take the picture."""
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    example = next(e for e in pages.examples(page) if e.file == "rows.py")
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        (Path(folder) / "rows.py").write_text(example.text)
        from rows import normalise  # type: ignore[import-not-found]

        report = Path(folder) / "report.html"
        report.write_text(html_report(pytocu.jit(normalise).lower("f32[n, m]", "f32[m]")), encoding="utf-8")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for switch in (*SWITCHES.split(), f"--user-data-dir={folder}/profile"):
            options.add_argument(switch)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        browser.get(report.as_uri())
        script = """document.documentElement.style.overflow = 'hidden';
            const panes = document.querySelector('.panes');
            panes.style.height = `${innerHeight - panes.getBoundingClientRect().top - 12}px`;
            for (const row of document.querySelectorAll('[data-pane=code] .row'))
                if (row.textContent.includes(arguments[0])) { row.click(); break; }
            for (const animation of document.getAnimations()) animation.finish();"""
        browser.execute_script(script, chosen)
        browser.save_screenshot(output)
        browser.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])

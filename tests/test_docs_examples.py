"""Every example of the documentation is run: commands print what the pages show, programs run, changes can be made."""

from __future__ import annotations

import difflib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

from pytocu.backend import nvrtc, nvvm
from pytocu.errors import BackendError
from pytocu.testing import pages

# Each page is tested, however many there are.
pytestmark = pytest.mark.every

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in zip(NAMES, PAGES, strict=True)}
FILES = [str(path) for path in ROOT.rglob("*.py") if not any(part[0] == "." for part in path.relative_to(ROOT).parts)]
KINDS = {"python", "console", "sh", "diff", "cuda", "text", "ir", "toml", "toctree", "include"}
PROGRAMS = [(name, n) for name in NAMES for n, e in enumerate(pages.examples(TEXTS[name])) if e.is_program]
WITH_COMMANDS = [n for n in NAMES if any(e.language in ("console", "diff") for e in pages.examples(TEXTS[n]))]


def missing_compilers() -> str:
    """Why code for GPUs cannot be built here; empty where it can."""
    try:
        nvrtc.version(), nvvm.version()
    except BackendError as error:
        return str(error)
    return ""


MISSING = missing_compilers()
needs_compilers = pytest.mark.skipif(bool(MISSING), reason=MISSING)
SHOWN = [
    (name, line)
    for name in NAMES
    for example in pages.examples(TEXTS[name])
    if example.language == "sh"
    for line in example.text.splitlines()
    if line.startswith("pytocu ")
]
MASK = """import numpy as np
import pytocu

@pytocu.jit
def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_block_is_of_a_known_kind(name: str) -> None:
    fences = re.findall(r"^```\{?(\w*)", TEXTS[name], flags=re.MULTILINE)
    assert set(fences[::2]) <= KINDS and set(fences[1::2]) <= {""}
    for example in pages.examples(TEXTS[name]):
        if example.language == "python" and example.text.startswith(">>>"):
            assert example.text.endswith("\n\n"), f"{name}:{example.line}: a doctest ends with an empty line"


@pytest.mark.parametrize("name", NAMES)
def test_files_and_names_that_are_told_of_are_there(name: str) -> None:
    own = set(re.findall(r"^(?:# |\+\+\+ )([\w/]+\.py)$", TEXTS[name], flags=re.MULTILINE))
    prose = re.sub(r"^```.*?^```$", "", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    named = {*re.findall(r"`((?:\w+/)*\w+\.py)`", prose)} - own - {"mask.py"}
    assert [file for file in sorted(named) if not any(f"/{path}".endswith(f"/{file}") for path in FILES)] == []
    for dotted in re.findall(r"`(pytocu(?:\.\w+)+)`", prose):
        assert pkgutil.resolve_name(dotted) is not None


@needs_compilers
@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_print_what_the_page_shows(name: str) -> None:
    text = TEXTS[name]
    found = pages.rewritten(text)
    diff = "\n".join(difflib.unified_diff(text.splitlines(), found.splitlines(), "page", "printed now", lineterm=""))
    assert found == text, f"write it again: python -m pytocu.testing.pages {name} --write\n{diff}"


@needs_compilers
@pytest.mark.parametrize("name", sorted({name for name, _ in SHOWN}))
def test_commands_that_are_shown_are_there(name: str, tmp_path: Path) -> None:
    sandbox = pages.Sandbox(tmp_path)
    (sandbox.space / "mask.py").write_text(MASK)
    for command in (command for page, command in SHOWN if page == name):
        printed = sandbox.run(command)
        assert "[exit code" not in printed, f"{command}\n{printed}"


@pytest.mark.parametrize(("name", "number"), PROGRAMS, ids=[f"{name}-{number}" for name, number in PROGRAMS])
def test_programs_run(name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program runs behind those above it on the page that need nothing more than it does."""
    found = pages.examples(TEXTS[name])
    needs = set(found[number].needs.split())
    for module in sorted(needs):
        if module == "gpu":
            pytest.skip("needs a GPU: tests/gpu/test_docs_gpu.py runs it")
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "__page__"}
    for example in found[: number + 1]:
        if example.file:
            (tmp_path / example.file).write_text(example.text)
        elif example.is_program and set(example.needs.split()) <= needs:
            # Functions are compiled from their text, which is looked for in a file.
            file = tmp_path / f"block{example.line}.py"
            file.write_text(example.text)
            exec(compile(example.text, str(file), "exec"), space)


def test_a_wrong_output_is_found() -> None:
    page = "```python\n# one.py\nprint(1)\n```\n\n```console\n$ python one.py\n2\n$ pytocu passes --wrong | cat\n```\n"
    found = pages.rewritten(page)
    assert "$ python one.py\n1\n" in found and "[exit code 2]\n" in found


def test_a_change_that_does_not_fit_is_found() -> None:
    page = "```diff\n--- pytocu/lazy.py\n+++ pytocu/lazy.py\n@@\n-this stands nowhere\n+that\n```\n"
    with pytest.raises(ValueError, match=r"pytocu/lazy.py has this 0 times"):
        pages.rewritten(page)


VERSIONS = '--- pytocu/config.py\n+++ pytocu/config.py\n@@\n-VERSION = "{}"\n+VERSION = "{}"\n'


def test_a_change_is_made_in_a_copy() -> None:
    page = f"```diff\n{VERSIONS.format('0.1.0', '9.9.9')}```\n```console\n$ pytocu --version\n```\n"
    assert "pytocu 9.9.9" in pages.rewritten(page)
    assert "9.9.9" not in (pages.PACKAGE / "config.py").read_text()


def test_bytecode_of_a_copy_is_of_its_last_change(tmp_path: Path) -> None:
    """Bytecode is known by the second in which a file was changed, and its size."""
    sandbox = pages.Sandbox(tmp_path)
    times: set[int] = set()
    for old, new in (("0.1.0", "9.9.9"), ("9.9.9", "8.8.8"), ("8.8.8", "7.7.7")):
        sandbox.change(VERSIONS.format(old, new))
        times.add(int((sandbox.package / "config.py").stat().st_mtime))
    assert len(times) == 3

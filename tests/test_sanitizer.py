"""The command that runs the GPU tests under compute-sanitizer, with a program in its place that says what a test wants."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytocu.runtime import cuda
from pytocu.testing import figures, sanitizer

TESTS = """
import pytest
pytestmark = pytest.mark.gpu

def test_fine(): pass
def test_wrong(): assert not WRONG
@pytest.mark.unwatched
def test_left_out(): assert False
"""

TOOL = """#!{python}
import subprocess, sys
at = sys.argv.index("--log-file")
code = subprocess.run(sys.argv[at + 2:]).returncode
{write}
sys.exit(code)
"""

SUMMARY = 'open(sys.argv[at + 1], "w").write("========= Invalid read\\n========= ERROR SUMMARY: {n} errors\\n")'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three tests, and a tool that finds nothing."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu: a\n    unwatched: b\n")
    fill(tmp_path, write=SUMMARY.format(n=0))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(cuda, "available", lambda: (True, ""))
    return tmp_path


def fill(folder: Path, write: str, wrong: bool = False) -> None:
    (folder / "tests" / "test_some.py").write_text(TESTS.replace("WRONG", str(wrong)))
    tool = folder / "compute-sanitizer"
    tool.write_text(TOOL.format(python=sys.executable, write=write))
    tool.chmod(0o700)


def test_no_error(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = checkout / "page.md"
    assert sanitizer.main(["--tests", str(checkout), "--write", str(page)]) == 0
    assert "2 tests in 1 processes, 0 errors of the tool, 0 processes that failed" in capsys.readouterr().out
    row = figures.read(page.read_text())["compute-sanitizer"]
    assert (row.covered, row.differences) == ("2 tests in 1 processes", 0)


@pytest.mark.parametrize(
    ("write", "wrong", "said", "counted"),
    [(SUMMARY.format(n=3), False, "Invalid read", "3 errors of the tool, 1 processes that failed"),
     (SUMMARY.format(n=0), True, "assert not True", "0 errors of the tool, 1 processes that failed"),
     ("", False, "2 passed", "0 errors of the tool, 1 processes that failed")],
    ids=["the tool finds something", "a test fails", "no report"])  # fmt: skip
def test_errors(
    write: str, wrong: bool, said: str, counted: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(checkout, write, wrong)
    assert sanitizer.main(["--tests", str(checkout)]) == 1
    printed = capsys.readouterr().out
    assert said in printed
    assert counted in printed


def test_what_is_not_finished_fails(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sanitizer.main(["--tests", str(checkout), "--seconds", "0"]) == 1
    assert "0 of 2 tests" in capsys.readouterr().out


def test_tests_that_are_stopped_do_not_count(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(checkout, "import time; time.sleep(60)")
    assert sanitizer.main(["--tests", str(checkout), "--seconds", "8"]) == 1
    assert "0 of 2 tests in 1 processes, 0 errors of the tool, 1 processes that failed" in capsys.readouterr().out


def test_a_folder_without_tests(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="pytest collects no tests"):
        sanitizer.collected(tmp_path)


def test_no_tool(checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(checkout / "tests"))
    with pytest.raises(SystemExit, match="2"):
        sanitizer.main([])
    assert "compute-sanitizer is not on the PATH" in capsys.readouterr().err

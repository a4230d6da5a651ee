"""``pytocu explain --html``: a file is written, and what cannot be is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytocu.cli.main import main

PROGRAMS = Path(__file__).parent / "report_programs.py"
CALL = ["explain", f"{PROGRAMS}:damped", "--args", "f32[n], f32[n]", "--html"]


def test_report_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.html"
    assert main([*CALL, str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}\n"
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "np.where(faded &gt; y, faded, wave)" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--measure"], "--html shows code, which is not run: leave --measure out"),
        (["--backend", "llvm"], "there is no backend 'llvm' for cuda: did you mean nvvm?"),
        (["--json"], "argument --json: not allowed with argument --html"),
    ],
)
def test_what_has_no_page_is_one_sentence(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CALL, str(tmp_path / "report.html"), *words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (tmp_path / "report.html").exists()


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, str(tmp_path / "none" / "report.html")]) == 2
    assert "report.html cannot be written: No such file or directory" in capsys.readouterr().err

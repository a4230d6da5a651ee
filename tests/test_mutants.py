"""Broken kernels: a sample of the mutants of `python -m pytocu.testing.mutants` is reported."""

from __future__ import annotations

import pytest

from pytocu.ir import interp_accesses
from pytocu.testing import figures, mutants
from pytocu.testing.mutant_kernels import KERNELS

QUICK = ("vectors", "rows", "rows at once", "in place", "transposes", "rows of a warp", "rows of a block", "scans of rows",
         "gather")  # fmt: skip


def test_a_sample_is_found() -> None:
    lost = [mutant for name in QUICK for mutant in mutants.examine(name, 0.3, 4).lost]
    assert [mutant for mutant in lost if not mutants.explained(mutant)] == []


def test_what_is_not_checked_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interp_accesses, "_raced", lambda *given: None)
    lost = mutants.examine("rows of a block").lost
    assert any(mutant.kind == "barrier" and not mutants.explained(mutant) for mutant in lost)


def test_reasons_name_kernels_of_the_list() -> None:
    names = {kernel.name for kernel in KERNELS}
    for known in mutants.EQUIVALENT:
        assert set(known.kernels) <= names and known.reason
    assert len(names) == len(KERNELS) >= 20


def test_the_line_of_the_page(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    page = tmp_path / "page.md"
    assert mutants.main(["--only", "vectors", "strides", "--write", str(page)]) == 0
    row = figures.read(page.read_text())["broken kernels"]
    assert row.differences == 0 and "14 mutants" in row.covered
    assert "misaligned" in capsys.readouterr().out

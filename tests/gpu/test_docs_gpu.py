"""The programs of the documentation that need a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytocu.testing import pages

ROOT = Path(__file__).parent.parent.parent
FOUND = [
    (str(path.relative_to(ROOT)), example)
    for path in sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
    for example in pages.examples(path.read_text(encoding="utf-8"))
    if example.is_program and "gpu" in example.needs.split()
]


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "example"), FOUND, ids=[f"{name}:{example.line}" for name, example in FOUND])
def test_program_runs(name: str, example: pages.Example, tmp_path: Path) -> None:
    for module in example.needs.split():
        if module != "gpu":
            pytest.importorskip(module)
    file = tmp_path / "program.py"
    file.write_text(example.text)
    exec(compile(example.text, str(file), "exec"), {"__name__": "__page__"})

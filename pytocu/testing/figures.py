"""The page of the docs with the last figures of the checks that take longer than the tests.

Each command that runs such a check replaces its own line with ``--write docs/verification.md``.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

_HEAD = """# What was verified

The tests run samples; these commands run everything. Each line is what the command printed when it ran last; with
`--write docs/verification.md` it replaces its line. "Differences" counts results whose kind, dtype, shape or (where the
operation is exact) bits are not NumPy's, or that are further from the correctly rounded value than
[the bound](operations.md).

| check | covered | differences | date | NumPy | command |
|---|---|---|---|---|---|
"""


class Row(NamedTuple):
    """One line of the page."""

    check: str
    covered: str
    differences: int
    command: str
    date: str = ""
    numpy: str = ""


def read(text: str) -> dict[str, Row]:
    """The lines of a page by the name of the check."""
    cells = r"^\| ([^|`]+) \| ([^|]*) \| (\d+) \| ([-\d]+) \| ([^|]*) \| `([^`|]*)` \|$"
    found = re.findall(cells, text, re.M)
    return {check: Row(check, covered, int(count), command, date, numpy)
            for check, covered, count, date, numpy, command in found}  # fmt: skip


def page(rows: dict[str, Row]) -> str:
    """The page for these lines.

    Examples
    --------
    >>> row = Row("matrix, cpu", "3 groups", 0, "python -m pytocu.testing.matrix", "2030-01-02", "2.5.0")
    >>> read(page({row.check: row})) == {row.check: row}
    True
    """
    return _HEAD + "".join(f"{line(row)}\n" for _, row in sorted(rows.items()))


def line(row: Row) -> str:
    """One line of the page."""
    return f"| {row.check} | {row.covered} | {row.differences} | {row.date} | {row.numpy} | `{row.command}` |"


def dated(row: Row) -> Row:
    """The row with today's date and the NumPy that was compared with."""
    return row._replace(date=datetime.datetime.now(datetime.UTC).date().isoformat(), numpy=np.__version__)


def write(path: Path, row: Row) -> None:
    """Replace one check's line of a page, with today's date and the NumPy that was compared with."""
    rows = read(path.read_text()) if path.exists() else {}
    rows[row.check] = dated(row)
    path.write_text(page(rows))


__all__ = ["Row", "dated", "line", "page", "read", "write"]

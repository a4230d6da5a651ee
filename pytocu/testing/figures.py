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

The tests run samples; these commands run everything, on all CPUs of a machine:

    python -m pytocu.testing.everything --jobs 64 --log logs --write docs/verification.md
    python -m pytocu.testing.everything --jobs 64 --log logs --write docs/verification.md --gpu --devices 4

`--list` prints the commands that they consist of, `--only NAME` runs some, and `--seconds 500` stops in time: what was
finished is in the logs, and the same command goes on behind it.

* **Random programs** (`python -m pytocu.testing.fuzz`): programs of four to twenty operations over every operation of
  [the table](operations.md) in every dtype, views, joins, gathers, reductions, scans and changes in place, loops of
  elements and of whole arrays, sweeps along an axis, branches, masks, scatters, positions and slices of run time, lists whose
  length a run decides (stacks, queues, tuples in them, comprehensions with conditions), names that hold a value or None, dicts
  and objects that change from step to step, functions that return out of nested loops or change lists of those around them,
  functions inside of functions, functions of scalars, which are called alone as well, numbers that are Python's on one way and
  NumPy's on another, and lines that raise where a run comes to them: the exception and its sentence are compared. NumPy runs
  each of them line by line. The command prints how often each operation was written in each dtype, how many operations
  a program has, and what was refused; a failure is made small and printed as a test. `--on` says what runs: `cpu`,
  `interpreter`, `threads` (a GPU's kernels, thread by thread, with reads out of bounds and races reported), and `nvvm`
  or `cuda_c` on a GPU. On a CPU and a GPU every new array lies between words that nobody may write.
* **Planted faults** (`python -m pytocu.testing.planted`): each changes a few characters in a pass, a formula or the
  backend. A fault is found by the first random program that differs with it and does not differ without it. A check
  that found none of them would say nothing.
* **Broken kernels** (`python -m pytocu.testing.mutants`): kernels of every schedule of a GPU, with each barrier deleted and
  each guard broken, one at a time. The interpreter of threads reports an access out of bounds, a read of what nobody wrote,
  a race, threads that wait for ever, or another result. Mutants that change nothing are listed with the reason.
* **Matrix** (`python -m pytocu.testing.matrix`): every operation on every pair of dtypes and kinds of operands (arrays,
  arrays without axes, NumPy scalars, Python scalars as arguments, literals and globals), with edge values and random
  bits. On a GPU, results are compared with the CPU's bits.
* **Loops in loops** (`pytocu/testing/nest_programs.py`, `tests/test_nests_random.py`): random programs of rows, parts and
  numbers in two or three loops, which on a CPU are native functions. They are lines of the random programs above too.
* **Sequences of statements** (`pytocu/testing/statement_programs.py`, `tests/test_statements_random.py`): random programs of
  numbers, a list, arrays and a dict under a few names, which branches, loops and functions change, pop, bind again, return and
  raise in any order; what they return, raise and leave in their arguments is compared with Python's. They are lines of the
  random programs above too.
* **compute-sanitizer** (`python -m pytocu.testing.sanitizer`): the tests of `pytest -m gpu` under its memcheck, which reports
  every access of a kernel outside of memory. Five tests are left out: what they show is another where a tool calls the driver.

The tests themselves (`pytest`) run a part of the cases of those that have more than two, other ones on each version of
Python, and fewer random programs; `pytest --whole` runs all.

Each line is what the command printed when it ran last; with `--write docs/verification.md` it replaces its line.
"Differences" counts results whose kind, dtype, shape or (where the operation is exact) bits are not NumPy's, or that are
further from the correctly rounded value than [the bound](operations.md), and faults that were not found.

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


def remarks(text: str) -> str:
    """What a page says behind its lines: of each difference, what came of it."""
    *_, end = re.split(r"^\|.*\|\n", text, flags=re.M)
    return end


def page(rows: dict[str, Row], remarks: str = "") -> str:
    """The page for these lines, with what is said behind them.

    Examples
    --------
    >>> row = Row("matrix, cpu", "3 groups", 0, "python -m pytocu.testing.matrix", "2030-01-02", "2.5.0")
    >>> read(page({row.check: row})) == {row.check: row}
    True
    """
    return _HEAD + "".join(f"{line(row)}\n" for _, row in sorted(rows.items())) + remarks


def line(row: Row) -> str:
    """One line of the page."""
    return f"| {row.check} | {row.covered} | {row.differences} | {row.date} | {row.numpy} | `{row.command}` |"


def dated(row: Row) -> Row:
    """The row with today's date and the NumPy that was compared with."""
    return row._replace(date=datetime.datetime.now(datetime.UTC).date().isoformat(), numpy=np.__version__)


def write(path: Path, row: Row) -> None:
    """Replace one check's line of a page, with today's date and the NumPy that was compared with."""
    text = path.read_text() if path.exists() else ""
    path.write_text(page(read(text) | {row.check: dated(row)}, remarks(text)))


__all__ = ["Row", "dated", "line", "page", "read", "remarks", "write"]

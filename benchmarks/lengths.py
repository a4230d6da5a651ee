"""Shares of the copy limit by the length of the axis: what a table of one size does not show.

Size classes choose the code, so between the ends of a class a kernel may have threads that do nothing, and
behind an end another schedule begins.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import functions as f
from benchmarks.report import Table, progress
from benchmarks.run_time import Section, measure
from benchmarks.run_time_command import chosen_of, make_section
from benchmarks.workloads import Array, Workload

LENGTHS = (3, 24, 100, 250, 500, 1000, 1500, 3000, 5000, 8192, 12_000, 20_000, 32_768, 50_000, 200_000)
ELEMENTS = {"gpu": 2**26, "cpu": 2**22}


@dataclass(frozen=True)
class Case:
    """A function along an axis.

    Parameters
    ----------
    name : str
    function : callable
    inputs : callable
        ``inputs(rows, length, dtype)`` gives the arrays.
    dtype : str
    tolerance : float
        The largest error against float64.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[int, int, str], Sequence[Array]]
    dtype: str = "float32"
    tolerance: float = 1e-3

    def workload(self) -> Workload:
        """The same as a workload of rows and a length."""
        return Workload(
            self.name, self.function, lambda n, m: self.inputs(n, m, self.dtype), (3, 5), (3, 5), (3, 5), self.tolerance
        )


def _rows(n: int, m: int, dtype: str) -> Sequence[Array]:
    return [Array((n, m), dtype)]


def _weighted(n: int, m: int, dtype: str) -> Sequence[Array]:
    return [Array((n, m), dtype), Array((m,), dtype), Array((m,), dtype)]


def _columns(n: int, m: int, dtype: str) -> Sequence[Array]:
    return [Array((m, n), dtype)]


CASES = (
    Case("softmax", f.softmax, _rows),
    Case("softmax, float16", f.softmax, _rows, "float16", 3e-2),
    Case("softmax, float64", f.softmax, _rows, "float64"),
    Case("layernorm", f.layernorm, _weighted),
    Case("logsumexp", f.log_sum_exp, _rows),
    Case("mean and variance", f.row_moments, _rows),
    Case("mean and variance, float16", f.row_moments, _rows, "float16", 3e-2),
    Case("argmax", f.argmax_rows, _rows),
    Case("cumsum", f.running_sum_rows, _rows, tolerance=3e-2),
    Case("column mean of x*x + 1", f.column_mean, _columns),
    Case("(x - mean(0)) / std(0)", f.standardise, _columns),
    Case("x.T + y", f.add_transposed, lambda n, m, dtype: [Array((n, m), dtype), Array((m, n), dtype)]),
)  # fmt: skip


def run(chosen: argparse.Namespace) -> tuple[list[Table], list[str]]:
    """A table of shares, one for pytocu and one for each peer, and where pytocu's results are wrong.

    Raises
    ------
    BenchmarkError
        A name is unknown, or the package of a peer is not installed and not left out.
    """
    cases = chosen_of(CASES, chosen.only, "function")
    return tables(make_section(chosen), cases, chosen.lengths or LENGTHS, chosen.elements, chosen.slow)


def tables(
    section: Section, cases: Sequence[Case], lengths: Sequence[int], elements: int, slow: float
) -> tuple[list[Table], list[str]]:
    """The same of a section."""
    elements = elements or ELEMENTS[section.name]
    names = (*section.ours, *section.peers)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    problems: list[str] = []
    for case in cases:
        progress(f"{case.name}:", end="")
        for name in names:
            rows[name].append({"along": case.name})
        for length in lengths:
            progress(f" {length}", end="")
            row = measure(section, case.workload(), (max(elements // length, 1), length), slow)
            for name in names:
                if name in row:
                    rows[name][-1][str(length)] = row[name]
                if name in section.ours and isinstance(row.get(name), str):
                    problems.append(f"{case.name}, {length}: {name} {row[name]}")
            section.clean()
        progress("")
    notes = (
        f"shares of the copy limit ({section.copy_speed / 1e9:.4g} GB/s) by the length of the axis that the function is along",
        f"{elements} elements in all; {section.timing}, after the results were checked",
    )
    columns = ("along", *map(str, lengths))
    return [Table(name, columns, notes if name == names[-1] else (), rows[name]) for name in names], problems

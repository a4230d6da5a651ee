"""``python -m benchmarks gpu`` and ``cpu``: what the options choose, and where the table goes."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from benchmarks import performance_page, run_time
from benchmarks.report import PEERS, BenchmarkError, Table, environment, required, show, write_json
from benchmarks.run_time import Section
from benchmarks.workloads import WORKLOADS

GPU_PEERS = ("cupy", "cupy.fuse", "torch", "torch.compile", "jax", "cuda")
CPU_PEERS = ("numpy", "numexpr", "numba", "jax", "torch.compile")
OURS = ("pytocu", "pytocu cuda_c", "pytocu nvvm")
SLOW = {"gpu": 0.25, "cpu": 5.0}
"""Seconds a call that a peer may take unless the command says otherwise."""


class _Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


def chosen_of(known: Sequence[Named], only: Sequence[str], kind: str = "workload") -> tuple[Named, ...]:
    """Those whose `name` has one of the texts; all where there is none.

    Raises
    ------
    BenchmarkError
        A text is in no name.
    """
    names = [one.name for one in known]
    for text in only:
        if not any(text in name for name in names):
            raise BenchmarkError(f"no {kind} has {text!r} in its name; there are: {', '.join(names)}")
    return tuple(one for one, name in zip(known, names, strict=True) if not only or any(text in name for text in only))


def chosen_peers(known: Sequence[str], wanted: Sequence[str] | None, without: Sequence[str]) -> tuple[str, ...]:
    """The columns beside pytocu's.

    Raises
    ------
    BenchmarkError
        A name is unknown, or the package of one is not installed and not left out.
    """
    unknown = sorted({*(wanted or ())} - {*known})
    if unknown:
        raise BenchmarkError(f"there is no peer {', '.join(unknown)}; choose from {', '.join(known)}")
    names = [n for n in known if (wanted is None or n in wanted) and _package(n) not in without]
    required(dict.fromkeys(_package(n) for n in names if _package(n) in PEERS), without)
    return tuple(names)


def _package(peer: str) -> str:
    # The hand-written kernels are compiled and launched by CuPy.
    return "cupy" if peer == "cuda" else peer.partition(".")[0]


def make_section(chosen: argparse.Namespace) -> Section:
    """The device and its candidates."""
    if chosen.group == "cpu" or getattr(chosen, "cpu", False):
        peers = chosen_peers(CPU_PEERS, chosen.peers, chosen.without)
        from benchmarks import cpu

        return cpu.section(peers, chosen.processor_time)
    # CuPy makes the arrays, whoever else is left out.
    required(("cupy",), ())
    peers = chosen_peers(GPU_PEERS, chosen.peers, chosen.without)
    from benchmarks import gpu

    return gpu.section(peers, ("cuda_c", "nvvm") if chosen.backend == "both" else (chosen.backend,))


def run(chosen: argparse.Namespace) -> int:
    """Measure, print and write; 1 where a peer is missing or pytocu's results are wrong."""
    # The first call is to compile, not to find what an earlier run kept.
    os.environ["PYTOCU_CACHE"] = "0"
    problems: list[str] = []
    try:
        if chosen.chart and importlib.util.find_spec("matplotlib") is None:
            raise BenchmarkError("a chart needs matplotlib (pip install matplotlib)")
        if chosen.read:
            about, table = read(chosen.read)
        else:
            about, table, problems = measure(chosen)
    except BenchmarkError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    finish(chosen, about, table)
    for problem in problems:
        print(f"benchmarks: {problem}", file=sys.stderr)
    return 1 if problems else 0


def measure(chosen: argparse.Namespace) -> tuple[dict[str, Any], Table, list[str]]:
    """The environment, the rows, and where pytocu is wrong; the JSON is written after every workload."""
    workloads = chosen_of(WORKLOADS, chosen.only)
    if chosen.group == "cpu" and chosen.processor_time:
        from benchmarks.cpu import one_cpu

        # Before the peers are imported, since they start as many threads as there are CPUs.
        one_cpu()
    about = environment(chosen.group == "gpu", tuple(PEERS), chosen.without)
    if chosen.group == "cpu":
        for_all = "hugetlb" in os.environ.get("GLIBC_TUNABLES", "")
        about["huge pages"] = "for all candidates" if for_all else "where a candidate asks for them"
    section = make_section(chosen)
    about["copy GB/s"] = section.copy_speed / 1e9

    def keep(table: Table) -> None:
        if chosen.json:
            write_json(chosen.json, about, [table])

    slow = SLOW[chosen.group] if chosen.slow is None else chosen.slow
    table, problems = run_time.run(section, workloads, slow, chosen.budget, keep)
    return about, table, problems


def read(file: Path) -> tuple[dict[str, Any], Table]:
    """The environment and the rows of an earlier run, also of one that was cut off.

    Raises
    ------
    BenchmarkError
        The file is missing or holds something else.
    """
    try:
        written = json.loads(file.read_text())
        (table,) = written["tables"]
        return written["environment"], Table(table["title"], (), tuple(table["notes"]), table["rows"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{file} is no result of an earlier run: {error}") from None


def candidates(group: str, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names in rows: pytocu's, those of peers, those of references.

    Examples
    --------
    >>> candidates("gpu", [{"pytocu nvvm": 0.9, "pytocu nvvm us": 100.0, "cupy": 0.2, "cuda": "fails"}])
    (('pytocu nvvm',), ('cupy',), ('cuda',))
    """
    ours = tuple(n for n in OURS if any(n in row for row in rows))
    peers = tuple(n for n in (GPU_PEERS if group == "gpu" else CPU_PEERS) if any(n in row for row in rows))
    return ours, tuple(n for n in peers if n != "cuda"), tuple(n for n in peers if n == "cuda")


def finish(chosen: argparse.Namespace, about: Mapping[str, Any], table: Table) -> None:
    """Print the table and the misses, write the page, draw the chart."""
    names = ours, peers, references = candidates(chosen.group, table.rows)
    everyone = (*ours, *peers, *references)
    table = replace(table, columns=run_time.columns(chosen.group, ours, (*peers, *references)))
    show(about, [run_time.in_words(table, everyone)])
    for why in run_time.reasons(table.rows, everyone):
        print(f"without a figure: {why}")
    for miss in run_time.misses(table.rows, ours):
        print(f"miss: {miss}")
    if chosen.write:
        section = performance_page.section_text(chosen.group, about, table, *names, chosen.chart, chosen.write.parent)
        performance_page.write(chosen.write, chosen.group, section)
    if chosen.chart:
        from benchmarks import chart

        chart.draw(chosen.chart, table.rows, *names, about)

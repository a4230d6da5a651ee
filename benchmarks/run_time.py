"""Run time of every workload: candidates made ready, checked against NumPy, timed in turns, one row each.

What differs between a GPU and a CPU is a :class:`Section`: its arrays, candidates and clock.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import BenchmarkError, Table, cell, progress
from benchmarks.workloads import Workload, as_tuple, bytes_of, checked, error_of, reference, result_types
from pytocu.errors import DeviceLostError, PytocuError

BEHIND = 0.03
"""How far behind the best peer a workload may be."""
SECONDS_TO_FIRST_RESULT = 60.0
"""A peer that compiles for longer is left out."""


class Call(NamedTuple):
    """A candidate that is ready to be called.

    Parameters
    ----------
    function : callable
        No arguments; gives the results, perhaps before they are computed.
    wait : callable
        ``wait(result)`` returns when it is computed.
    own_stream : bool
        It runs on streams of its own, where events of other libraries do not see it.
    """

    function: Callable[[], Any]
    wait: Callable[[Any], Any]
    own_stream: bool = False


class AbsentError(Exception):
    """A candidate has no version of a workload, and none is missed: its cell stays empty."""


Maker = Callable[[Workload, Sequence[Any]], Call]
Clock = Callable[[Mapping[str, Call], Mapping[str, float]], Mapping[str, float]]
"""``clock(calls, estimates)`` gives the median seconds of each; the estimates are seconds too."""


@dataclass
class Section:
    """One kind of device.

    Parameters
    ----------
    name : str
        ``gpu`` or ``cpu``: which sizes are used.
    xp : module
        NumPy, or CuPy on a GPU: makes the arguments and computes what is expected.
    random : callable
        Gives a new random generator of `xp`.
    makers : dict of str to Maker
        Candidates by name; those of pytocu start with ``pytocu``.
    clock : Clock
    convert : callable
        ``convert(value)`` makes an array of `xp` of one result.
    copy_speed : float
        Bytes a second of a copy, read and written bytes counted.
    clean : callable
        Gives memory back between workloads.
    details : callable
        ``details(workload, arguments)`` gives more columns, such as launches and registers.
    references : tuple of str
        Candidates that are shown and are no peers.
    timing : str
        What of how many runs the clock gives.
    """

    name: str
    xp: Any
    random: Callable[[], Any]
    makers: dict[str, Maker]
    clock: Clock
    convert: Callable[[Any], Any]
    copy_speed: float
    clean: Callable[[], None] = lambda: None
    details: Callable[[Workload, Sequence[Any]], dict[str, Any]] = lambda workload, arguments: {}
    references: tuple[str, ...] = ("cuda",)
    timing: str = "medians of 5 batches of up to 10 calls"

    @property
    def ours(self) -> tuple[str, ...]:
        """The names of pytocu's candidates."""
        return tuple(n for n in self.makers if n.startswith("pytocu"))

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the candidates that pytocu is compared with."""
        return tuple(n for n in self.makers if n not in self.ours and n not in self.references)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, where signals can."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"no first result after {seconds:.0f} s")

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def reason(error: BaseException, ours: bool) -> str:
    """Why a candidate has no figure: one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if not line.startswith(("-->", "|"))), "")
    if ours and isinstance(error, PytocuError):
        return f"refused: {said}"
    return f"fails: {type(error).__name__}: {said}"[:160]


@dataclass
class _Ready:
    """The candidates of one workload that gave right results, and why the others have no figure."""

    calls: dict[str, Call] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    estimates: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def _prepare(section: Section, workload: Workload, arguments: Sequence[Any], slow: float) -> tuple[_Ready, int]:
    """Make and check every candidate; the bytes that must move."""
    wanted = result_types(workload)
    expected = reference(workload, arguments, section.xp)
    # What the reference took between is not to be missing for the candidates.
    section.clean()
    moved = bytes_of(arguments, ()) + sum(
        e.size * w.itemsize for e, w in zip(expected, wanted, strict=True) if getattr(e, "ndim", 0)
    )
    ready = _Ready()
    for name, maker in section.makers.items():
        progress(f"    {name}", end="")
        try:
            call, first, problem, error = _first(section, workload, arguments, maker, expected, wanted)
            start = time.perf_counter()
            call.wait(call.function())
            estimate = time.perf_counter() - start
        except DeviceLostError:
            raise
        except AbsentError:
            continue
        except Exception as error:  # whoever fails a workload is part of the table
            ready.reasons[name] = reason(error, name in section.ours)
            section.clean()
            continue
        ready.first[name] = first
        if math.isfinite(error):
            ready.errors[name] = error
        if problem:
            ready.reasons[name] = f"fails: {problem}"
        elif estimate > slow and name not in section.ours:
            ready.reasons[name] = f"fails: {estimate:.1f} s a call, more than {slow:g} s"
        else:
            ready.calls[name], ready.estimates[name] = call, estimate
    return ready, moved


def _first(
    section: Section, workload: Workload, arguments: Sequence[Any], maker: Maker, expected: Sequence[Any], wanted: Any
) -> tuple[Call, float, str, float]:
    """A candidate, the seconds to its first result, what is wrong with it, and its error."""
    with _at_most(SECONDS_TO_FIRST_RESULT):
        start = time.perf_counter()
        call = maker(workload, arguments)
        result = call.function()
        call.wait(result)
        first = time.perf_counter() - start
    results = [section.convert(r) for r in as_tuple(result)]
    return call, first, *checked(workload, results, expected, wanted, section.xp)


def measure(section: Section, workload: Workload, sizes: Sequence[int], slow: float) -> dict[str, Any]:
    """One row: a share of the limit or a rate for every candidate, and what is known of pytocu's code.

    Parameters
    ----------
    section : Section
    workload : Workload
    sizes : sequence of int
    slow : float
        Seconds a call that a peer may take.
    """
    if section.xp is not np:
        check_reference(section, workload)
    arguments = workload.make(sizes, section.xp, section.random())
    ready, moved = _prepare(section, workload, arguments, slow)
    times = section.clock(ready.calls, ready.estimates)
    limit = moved / section.copy_speed
    row: dict[str, Any] = {"workload": workload.name, "sizes": list(sizes), "bytes": moved, "limit us": limit * 1e6}
    if section.name == "gpu" and workload.target:
        row["target"] = workload.target
    if workload.operations is not None:
        row["operations"] = workload.operations(*sizes)
    for name in section.makers:
        if name in ready.first:
            row[f"{name} first ms"] = ready.first[name] * 1e3
        if name in ready.errors:
            row[f"{name} error"] = ready.errors[name]
        if name in times:
            row[f"{name} us"] = times[name] * 1e6
            # A rate where the bytes do not set the pace.
            row[name] = row["operations"] / times[name] / 1e9 if "operations" in row else limit / times[name]
        elif name in ready.reasons:
            row[name] = ready.reasons[name]
    row |= standing(row, section.ours, section.peers)
    for name in ("numpy", "cupy"):
        errors = [ready.errors[n] for n in section.ours if n in ready.errors]
        if ready.errors.get(name) and errors:
            row[f"error / {name}'s"] = max(errors) / ready.errors[name]
    if any(name in ready.calls for name in section.ours):
        try:
            row |= section.details(workload, arguments)
        except Exception as error:  # what was measured stays
            row["launches"] = reason(error, True)
    return row


def standing(row: Mapping[str, Any], ours: Sequence[str], peers: Sequence[str]) -> dict[str, Any]:
    """The best peer of a row, and pytocu's time over the peer's.

    Examples
    --------
    >>> standing({"pytocu us": 11.0, "a us": 12.0, "b us": 10.0}, ["pytocu"], ["a", "b", "c"])
    {'best peer': 'b', 'times best peer': 1.1}
    """
    timed = {n: row[f"{n} us"] for n in peers if f"{n} us" in row}
    if not timed:
        return {}
    best = min(timed, key=lambda n: timed[n])
    mine = [row[f"{n} us"] for n in ours if f"{n} us" in row]
    return {"best peer": best} | ({"times best peer": min(mine) / timed[best]} if mine else {})


def misses(rows: Sequence[Mapping[str, Any]], ours: Sequence[str]) -> list[str]:
    """The workloads that miss the share that is to reach, or are behind the best peer: one sentence each."""
    found: list[str] = []
    for row in rows:
        mine = [row[n] for n in ours if isinstance(row.get(n), float)]
        if not mine:
            if why := next((row[n] for n in ours if n in row), ""):
                found.append(f"{row['workload']}: {why}")
            continue
        if row.get("target") and max(mine) < row["target"]:
            found.append(f"{row['workload']}: {max(mine):.2f} of the copy limit, {row['target']:.2f} is to reach")
        if row.get("times best peer", 0) > 1 + BEHIND:
            found.append(f"{row['workload']}: {row['times best peer']:.2f} times the time of {row['best peer']}")
    return found


def columns(section_name: str, ours: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """The columns that are shown."""
    code = ("launches", "registers", "error / cupy's") if section_name == "gpu" else ("launches", "error / numpy's")
    first = tuple(f"{n} first ms" for n in ours)
    return ("workload", "limit us", *ours, *others, "times best peer", *first, *code)


def notes(section: Section) -> tuple[str, ...]:
    """What the figures are."""
    return (
        f"shares of the copy limit ({section.copy_speed / 1e9:.4g} GB/s; 1.00 is the limit); G/s: 10^9 operations a second",
        f"{section.timing}, the candidates taking turns, after their results were checked",
        "errors are the largest against float64; error / NumPy's or CuPy's: pytocu's over that of the same text there",
    )


def run(
    section: Section,
    workloads: Sequence[Workload],
    slow: float,
    budget: float,
    keep: Callable[[Table], None] = lambda table: None,
    sizes: Callable[[Workload], Sequence[int]] | None = None,
) -> tuple[Table, list[str]]:
    """Measure workload after workload.

    Parameters
    ----------
    section : Section
    workloads : sequence of Workload
    slow : float
        Seconds a call that a peer may take.
    budget : float
        Seconds after which no further workload is begun.
    keep : callable
        Gets the table after every workload, so that what is measured is not lost.
    sizes : callable, optional
        Sizes of a workload, those of the section otherwise.

    Returns
    -------
    table : Table
    problems : list of str
        Where pytocu's results are wrong or its code fails, which no figure excuses.
    """
    others = (*section.peers, *(n for n in section.makers if n in section.references))
    table = Table("Run time", columns(section.name, section.ours, others), notes(section))
    problems: list[str] = []
    began = time.perf_counter()
    for number, workload in enumerate(workloads, 1):
        spent = time.perf_counter() - began
        if spent > budget:
            table.rows.append({"workload": workload.name} | dict.fromkeys(section.ours, f"not measured: {budget:g} s are used"))
            continue
        progress(f"[{number}/{len(workloads)}, {spent:.0f} s] {workload.name}:", end="")
        try:
            row = measure(section, workload, (sizes or partial(_sizes, section.name))(workload), slow)
        except DeviceLostError as error:
            problems.append(f"{workload.name}: {reason(error, True)}")
            break
        except Exception as error:  # the arguments or the expected result could not be made
            row = {"workload": workload.name} | dict.fromkeys(section.ours, f"not measured: {reason(error, False)}")
        progress("")
        progress("    " + "  ".join(f"{n} {shown(row, n)}" for n in (*section.ours, *others)))
        problems += [f"{workload.name}: {n} {row[n]}" for n in section.ours if str(row.get(n)).startswith("fails")]
        table.rows.append(row)
        section.clean()
        keep(table)
    keep(table)
    return table, problems


def _sizes(section_name: str, workload: Workload) -> Sequence[int]:
    return workload.gpu if section_name == "gpu" else workload.cpu


def shown(row: Mapping[str, Any], name: str) -> str:
    """A figure of a row as text, with its unit where it is a rate."""
    value = row.get(name)
    return f"{cell(value)} G/s" if isinstance(value, float) and "operations" in row else cell(value)


def in_words(table: Table, candidates: Sequence[str]) -> Table:
    """The table for people: rates have their unit, and of a sentence only the first word is left."""
    rows = [row | {n: shown(row, n).partition(":")[0] for n in candidates if n in row} for row in table.rows]
    return Table(table.title, table.columns, table.notes, rows)


def reasons(rows: Sequence[Mapping[str, Any]], candidates: Sequence[str]) -> list[str]:
    """Why candidates have no figure, workloads with the same reason together."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for name in candidates:
            if isinstance(row.get(name), str):
                found.setdefault(f"{name} {row[name]}", []).append(row["workload"])
    return [f"{said} ({'all' if len(names) == len(rows) > 1 else '; '.join(names)})" for said, names in found.items()]


def check_reference(section: Section, workload: Workload) -> None:
    """Compare what `section.xp` expects with NumPy, on tiny arrays.

    Raises
    ------
    BenchmarkError
        It cannot serve as the measure of the others.
    """
    arguments = workload.make(workload.tiny)
    there = [section.xp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    found = [section.convert(r) for r in reference(workload, there, section.xp)]
    wanted = [section.xp.asarray(r) for r in reference(workload, arguments)]
    error = error_of(found, wanted, section.xp)
    if error > max(workload.tolerance / 10, 1e-9):
        raise BenchmarkError(f"{workload.name}: {section.xp.__name__} in float64 differs from NumPy by {error:.2g}")

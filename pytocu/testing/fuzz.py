"""Random programs: NumPy against a backend, with what was covered and failures made small.

``python -m pytocu.testing.fuzz -n 2000`` runs programs on the CPU, ``--on interpreter``, ``--on threads``
(the GPU form, thread by thread), ``--on cuda_c`` and ``--on nvvm`` elsewhere.  A failure is printed as
a pytest.  The same ``--seed`` writes the same programs.
"""

from __future__ import annotations

import argparse
import collections
import functools
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pytocu.jit import jit
from pytocu.testing import figures
from pytocu.testing.cases import call_interpreted
from pytocu.testing.fuzz_check import Run, as_test, check, shrink
from pytocu.testing.fuzz_programs import WANTED, Coverage
from pytocu.testing.fuzz_writer import random_program
from pytocu.testing.matrix import call_threads

CHUNK = 50
"""Programs that one random generator writes, and one process runs."""


def call_cpu(function: Any, *arguments: Any) -> Any:
    """Compile for the CPU and run."""
    return jit(function)(*arguments)


def _on_device(backend: str) -> Run:
    return lambda function, *arguments: jit(function, device="cuda", backend=backend)(*arguments)


RUNS: dict[str, Run] = {
    "cpu": call_cpu,
    "interpreter": call_interpreted,
    "threads": call_threads,
    "cuda_c": _on_device("cuda_c"),
    "nvvm": _on_device("nvvm"),
}


class Report(NamedTuple):
    """What some programs gave.

    Attributes
    ----------
    kinds : Counter
        Programs by verdict: ``same``, ``error`` (the same in both), ``refused``, ``differs``, ``invalid``.
    coverage : Counter
        Statements by row and dtype.
    operations : Counter
        Programs by their number of operations.
    refusals, tests : tuple of str
        First lines of refusals; a pytest for each failure.
    """

    kinds: collections.Counter[str]
    coverage: Coverage
    operations: collections.Counter[int]
    refusals: tuple[str, ...]
    tests: tuple[str, ...]

    def plus(self, other: Report) -> Report:
        """Both together."""
        return Report(self.kinds + other.kinds, self.coverage + other.coverage, self.operations + other.operations,
                      self.refusals + other.refusals, self.tests + other.tests)  # fmt: skip

    @property
    def programs(self) -> int:
        """How many were run."""
        return sum(self.kinds.values())

    def lines(self) -> list[str]:
        """What was covered, for people."""
        counts = sorted((self.coverage[name, d.name], f"{name} {d.numpy.name}") for name, d in WANTED)
        median = statistics.median(self.operations.elements()) if self.operations else 0
        refused = self.kinds["refused"] / max(self.programs, 1)
        rare = [text for count, text in counts if count < 20]
        return [
            f"{self.programs} programs: {self.kinds['same']} the same, {self.kinds['error']} with NumPy's error, "
            f"{self.kinds['refused']} refused ({refused:.2%}), {self.kinds['invalid']} dropped, "
            f"{self.kinds['differs']} different",
            f"operations of a program: median {median:g}, most {max(self.operations, default=0)}",
            f"{len(counts)} pairs of operation and dtype: least {counts[0][0]} times ({counts[0][1]}), "
            f"{len(rare)} of them fewer than 20 times{': ' if rare else ''}{', '.join(rare[:10])}",
            *(f"refused {count} times: {text}" for text, count in collections.Counter(self.refusals).most_common(5)),
        ]


NOTHING = Report(collections.Counter(), Coverage(), collections.Counter(), (), ())


def run_chunk(run: Run, seed: int, chunk: int, count: int = CHUNK, small: bool = True, stop: bool = False) -> Report:
    """Some programs; the same numbers give the same programs.

    Parameters
    ----------
    run : callable
        The compiled side: ``run(function, *arguments)``.
    count : int
        Stop after so many programs.
    small : bool
        Make failures small, which takes some hundred runs each.
    stop : bool
        Stop at the first failure.
    """
    pick, coverage = random.Random(f"{seed} {chunk}"), Coverage()
    kinds: collections.Counter[str] = collections.Counter()
    operations: collections.Counter[int] = collections.Counter()
    refusals: list[str] = []
    tests: list[str] = []
    for _ in range(count):
        program, arguments = random_program(pick, coverage)
        verdict = check(program, arguments, run)
        kinds[verdict.kind] += 1
        operations[program.operations] += 1
        if verdict.kind == "refused":
            refusals.append(verdict.message.partition("\n")[0])
        if verdict.kind == "differs":
            if small:
                program, arguments, verdict = shrink(program, arguments, run)
            tests.append(as_test(program, arguments, verdict))
            if stop:
                break
    return Report(kinds, coverage, operations, tuple(refusals), tuple(tests))


def _chunk(on: str, seed: int, job: tuple[int, int]) -> Report:
    return run_chunk(RUNS[on], seed, *job)


def run_many(on: str, seed: int, count: int, jobs: int, report: Callable[[str], None]) -> Report:
    """Run programs in some processes, and report failures as they come."""
    chunks = [(number, min(CHUNK, count - number * CHUNK)) for number in range(-(-count // CHUNK))]
    total, begun = NOTHING, time.perf_counter()
    said = begun

    def add(found: Iterable[Report]) -> None:
        nonlocal total, said
        for part in found:
            total = total.plus(part)
            for test in part.tests:
                report(test)
            if time.perf_counter() - said > 60:
                said = time.perf_counter()
                report(f"{total.programs} programs, {total.kinds['differs']} different, {said - begun:.0f} s")

    work = functools.partial(_chunk, on, seed)
    if jobs == 1:
        add(map(work, chunks))
    else:
        with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=40) as pool:
            add(pool.imap_unordered(work, chunks))
    return total


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.fuzz -n N [--on BACKEND] [--seed S] [--jobs J] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.fuzz", description=main.__doc__)
    parser.add_argument("-n", type=int, default=1000, help="how many programs")
    parser.add_argument("--on", choices=tuple(RUNS), default="cpu", help="what runs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", type=Path, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    begun = time.perf_counter()
    total = run_many(options.on, options.seed, options.n, options.jobs, functools.partial(print, flush=True))
    print(*total.lines(), f"{time.perf_counter() - begun:.0f} s", sep="\n", flush=True)
    if options.write:
        covered = f"{total.programs} programs, {sum(total.coverage.values())} operations, {total.kinds['refused']} refused"
        command = f"python -m pytocu.testing.fuzz -n {options.n} --on {options.on} --seed {options.seed}"
        figures.write(options.write, figures.Row(f"random programs, {options.on}", covered, total.kinds["differs"], command))
    return 1 if total.kinds["differs"] else 0


if __name__ == "__main__":
    # A program is compiled once, so what it leaves on disk is never read.
    os.environ.setdefault("PYTOCU_CACHE", "0")
    sys.exit(main())

"""Random programs: NumPy against a backend, with what was covered and failures made small.

``python -m pytocu.testing.fuzz -n 2000`` runs programs on the CPU, ``--on interpreter``, ``--on threads``
(the GPU form, thread by thread), ``--on cuda_c`` and ``--on nvvm`` elsewhere.  ``--jobs`` processes share the
work, and on a machine with several GPUs ``--devices 4`` shares out the processes.

The same ``--seed`` writes the same programs, chunk by chunk: a failure is printed as a pytest, with the command
that runs its chunk alone.  With ``--log FILE`` each finished chunk is a line of a file, and the same command
again goes on behind what the file holds; chunks with differences are run again.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import functools
import importlib
import json
import math
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any, NamedTuple

from pytocu.elementwise import VectorizedFunction, vectorize
from pytocu.jitted import jit
from pytocu.testing import device_arrays, figures
from pytocu.testing.cases import call_interpreted
from pytocu.testing.fuzz_blocks import FEATURES, PROGRAMS
from pytocu.testing.fuzz_check import Run, as_test, check, shrink
from pytocu.testing.fuzz_layouts import LAID_OUT
from pytocu.testing.fuzz_programs import WANTED, Coverage
from pytocu.testing.fuzz_writer import random_program
from pytocu.testing.guarded import guarded, guarded_on_device
from pytocu.testing.matrix import call_threads
from pytocu.testing.options import check_runs, count, file
from pytocu.testing.progress import meter

CHUNK = 50
"""Programs that one random generator writes, and one process runs."""


def call_cpu(function: Any, *arguments: Any) -> Any:
    """Compile for the CPU and run, with words around new arrays; a function of scalars is called as it is."""
    with guarded():
        return function(*arguments) if isinstance(function, VectorizedFunction) else jit(function)(*arguments)


LAID_OUT.update((call_cpu, call_threads))

_device = "cuda:0"
"""The GPU of this process."""


def _on_device(backend: str) -> Run:
    def run(function: Any, *arguments: Any) -> Any:
        if isinstance(function, VectorizedFunction):
            made = vectorize(function.__wrapped__, device=_device, backend=backend)
        else:
            made = jit(function, device=_device, backend=backend)
        with importlib.import_module("cupy").cuda.Device(int(_device.removeprefix("cuda:"))), guarded_on_device():
            return device_arrays.call(made, arguments)

    return run


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
        held = sorted((self.coverage[feature, PROGRAMS], feature) for feature in FEATURES)
        few = [text for count, text in held if count < 20]
        return [
            f"{self.programs} programs: {self.kinds['same']} the same, {self.kinds['error']} with NumPy's error, "
            f"{self.kinds['refused']} refused ({refused:.2%}), {self.kinds['invalid']} dropped, "
            f"{self.kinds['differs']} different",
            f"operations of a program: median {median:g}, most {max(self.operations, default=0)}",
            f"{len(counts)} pairs of operation and dtype: least {counts[0][0]} times ({counts[0][1]}), "
            f"{len(rare)} of them fewer than 20 times{': ' if rare else ''}{', '.join(rare[:10])}",
            f"{len(held)} kinds of loops, branches and masks: least in {held[0][0]} programs ({held[0][1]}), "
            f"{len(few)} of them in fewer than 20{': ' if few else ''}{', '.join(few[:10])}",
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


Job = tuple[int, int]
"""A chunk: its number, and how many of its programs are run."""


_LONG, _TOO_LONG = 240, 900
"""Seconds after which a chunk says where it is, and after which nobody waits for any chunk."""


def _chunk(on: str, seed: int, job: Job) -> tuple[Job, Report]:
    return job, run_chunk(RUNS[on], seed, *job)


def _watched(on: str, seed: int, job: Job) -> tuple[Job, Report]:
    faulthandler.dump_traceback_later(_LONG)
    try:
        return _chunk(on, seed, job)
    finally:
        faulthandler.cancel_dump_traceback_later()


def in_processes(pool: Pool, work: Callable[[Job], tuple[Job, Report]], jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
    """Chunks as they are finished.

    Raises
    ------
    RuntimeError
        None was finished for a long time: a process has died, and its chunk with it, or hangs.
    """
    left = list(jobs)
    # The pool takes them from a list of its own, while what is finished leaves this one.
    found = pool.imap_unordered(work, tuple(left))
    while left:
        try:
            job, part = found.next(timeout=_TOO_LONG)
        except multiprocessing.TimeoutError:
            numbers = ", ".join(str(number) for number, _ in left[:20])
            text = f"no chunk was finished for {_TOO_LONG} seconds: a process has died or hangs, of one of the chunks {numbers}"
            raise RuntimeError(f"{text}; run each alone with --chunk") from None
        left.remove(job)
        yield job, part


def _begin(started: Any, devices: int) -> None:
    """In a process of a pool: take the next GPU in turn, and say where a fault of native code is."""
    global _device
    faulthandler.enable()
    with started.get_lock():
        _device = f"cuda:{started.value % devices}"
        started.value += 1


def run_many(
    on: str,
    seed: int,
    count: int,
    jobs: int,
    report: Callable[[str], None],
    devices: int = 1,
    log: Path | None = None,
    only: int | None = None,
    seconds: float = math.inf,
) -> Report:
    """Run programs in some processes, and report failures as they come.

    Parameters
    ----------
    on : str
        Name of what runs.
    seed, count : int
        The first so many programs of a seed.
    jobs : int
        How many processes.
    report : callable
        Is given what there is to say.
    devices : int
        How many GPUs the processes share.
    log : Path, optional
        A file of finished chunks: those that it holds without a difference are not run again, the others are added.
    only : int, optional
        The number of the one chunk that is run.
    seconds : float
        Stop after so long; what was finished by then is reported, and in the log.

    Returns
    -------
    Report
        With what the file held.

    Raises
    ------
    ValueError
        The file is of other programs.
    """
    chunks = [(number, min(CHUNK, count - number * CHUNK)) for number in range(-(-count // CHUNK))]
    if only is not None:
        chunks = [(only, CHUNK)]
    # Where something differed, that may be mended by now.
    done = {job: part for job, part in (read_log(log, on, seed) if log else {}).items() if not part.kinds["differs"]}
    total = functools.reduce(Report.plus, (done[c] for c in chunks if c in done), NOTHING)
    begun = time.perf_counter()
    earlier = total.programs
    tell = meter(sum(programs for _, programs in chunks), earlier)

    def add(found: Iterable[tuple[Job, Report]]) -> None:
        nonlocal total
        for job, part in found:
            total = total.plus(part)
            if log:
                add_to_log(log, on, seed, job, part)
            for test in part.tests:
                report(f"# python -m pytocu.testing.fuzz --on {on} --seed {seed} --chunk {job[0]}\n{test}")
            tell(total.programs, f"{total.kinds['differs']} different")
            if time.perf_counter() - begun > seconds:
                report(f"stopped after {total.programs} of {count} programs")
                return

    work, left = functools.partial(_chunk, on, seed), [c for c in chunks if c not in done]
    if jobs == 1:
        add(map(work, left))
    else:
        processes = multiprocessing.get_context("spawn")
        with processes.Pool(jobs, _begin, (processes.Value("i", 0), devices), maxtasksperchild=40) as pool:
            add(in_processes(pool, functools.partial(_watched, on, seed), left))
    report(speed(total.programs - earlier, time.perf_counter() - begun, jobs))
    return total


def speed(programs: int, seconds: float, jobs: int) -> str:
    """How fast programs were run, in words.

    Examples
    --------
    >>> speed(300, 30.0, 2)
    '300 programs in 30 s: 10.0 a second, 5.00 a second and process'
    """
    rate = programs / max(seconds, 1e-9)
    return f"{programs} programs in {seconds:.0f} s: {rate:.1f} a second, {rate / jobs:.2f} a second and process"


def read_log(file: Path, on: str, seed: int) -> dict[Job, Report]:
    """The finished chunks of a file, without a last line that was not written to its end.

    Raises
    ------
    ValueError
        A line is of another seed, or was run by something else.
    """
    found: dict[Job, Report] = {}
    text = file.read_text() if file.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole)
    for line in whole.splitlines():
        kept = json.loads(line)
        if (kept["on"], kept["seed"]) != (on, seed):
            raise ValueError(f"{file} holds programs of --on {kept['on']} --seed {kept['seed']}")
        coverage = Coverage({(row, dtype): times for row, dtype, times in kept["coverage"]})
        operations = collections.Counter({int(number): times for number, times in kept["operations"].items()})
        found[kept["chunk"], kept["programs"]] = Report(
            collections.Counter(kept["kinds"]), coverage, operations, tuple(kept["refusals"]), tuple(kept["tests"])
        )
    return found


def add_to_log(file: Path, on: str, seed: int, job: Job, report: Report) -> None:
    """Add a finished chunk to a file."""
    coverage = [(row, dtype, times) for (row, dtype), times in report.coverage.items()]
    kept = {"on": on, "seed": seed, "chunk": job[0], "programs": job[1], **report._asdict(), "coverage": coverage}
    with file.open("a") as opened:
        opened.write(json.dumps(kept) + "\n")


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.fuzz -n N [--on BACKEND] [--seed S] [--jobs J] [--devices D] [--log FILE] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.fuzz", description=main.__doc__)
    parser.add_argument("-n", type=count, default=1000, help="how many programs")
    parser.add_argument("--on", choices=tuple(RUNS), default="cpu", help="what runs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=count, default=1, help="processes")
    parser.add_argument("--devices", type=count, default=1, help="GPUs that the processes share")
    parser.add_argument("--log", type=file, help="a file of finished chunks; the same command again goes on behind them")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; the log says how far it is")
    parser.add_argument("--chunk", type=int, help="this chunk alone")
    parser.add_argument("--write", type=file, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    check_runs(parser, options.on)
    say = functools.partial(print, flush=True)
    total = run_many(
        options.on, options.seed, options.n, options.jobs, say, options.devices, options.log, options.chunk, options.seconds
    )
    print(*total.lines(), sep="\n", flush=True)
    whole = "" if options.chunk is not None or total.programs >= options.n else f" of {options.n}"
    covered = f"{total.programs}{whole} programs, {sum(total.coverage.values())} operations, {total.kinds['refused']} refused"
    command = f"python -m pytocu.testing.fuzz -n {options.n} --on {options.on} --seed {options.seed}"
    row = figures.Row(f"random programs, {options.on}", covered, total.kinds["differs"], command)
    print(figures.line(figures.dated(row)))
    if options.write:
        figures.write(options.write, row)
    return 1 if total.kinds["differs"] else 0


if __name__ == "__main__":
    # A program is compiled once, so what it leaves on disk is never read.
    os.environ.setdefault("PYTOCU_CACHE", "0")
    sys.exit(main())

"""The GPU tests under compute-sanitizer's memcheck, which reports what a kernel reads or writes outside of memory.

``python -m pytocu.testing.sanitizer`` runs, from a checkout, the tests that pytest chooses with ``gpu and not unwatched``.
Each process takes some of them, because the tool slows a process down that has loaded many kernels.  Calls of the driver
that fail are not counted: tests provoke them, and libraries look functions up that their driver lacks.  Programs that
tests start are not watched, since some of them fault on purpose.  ``--write FILE`` puts the figures into the docs.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path
from typing import NamedTuple

from pytocu.runtime import cuda
from pytocu.testing import figures
from pytocu.testing.options import count, file
from pytocu.testing.progress import meter

CHOSEN = "gpu and not unwatched"
"""The marks of the tests."""

A_PROCESS = 32
"""Tests of one process."""

_TOOL = "compute-sanitizer"

# Its ten seconds for the start of a process are too few where one for each of 64 CPUs is started at once.
TOOL = (_TOOL, "--tool", "memcheck", "--report-api-errors", "no", "--target-processes", "application-only",
        "--launch-timeout", "120")  # fmt: skip

_PYTEST = (sys.executable, "-m", "pytest", "-o", "addopts=--strict-markers", "-p", "no:cacheprovider", "-m", CHOSEN)


class Outcome(NamedTuple):
    """What one process gave.

    ``tests`` counts those of processes that ended, ``errors`` the tool's, and ``says`` holds what it and pytest said where
    something is wrong.
    """

    tests: int
    errors: int
    failed: bool
    says: str


def collected(folder: Path) -> list[str]:
    """The names of the tests, in pytest's order.

    Raises
    ------
    RuntimeError
        pytest finds none, or cannot read the tests.
    """
    ran = subprocess.run([*_PYTEST, "--collect-only", "-q", "tests"], cwd=folder, capture_output=True, text=True)
    names = [line for line in ran.stdout.splitlines() if "::" in line]
    if ran.returncode or not names:
        raise RuntimeError(f"pytest collects no tests in {folder}: {(ran.stdout + ran.stderr).strip()[-500:]}")
    return names


def errors_of(report: str) -> int | None:
    """How many errors a report of the tool counts, or None for one that was not written to its end.

    Examples
    --------
    >>> errors_of("========= ERROR SUMMARY: 3 errors")
    3
    """
    found = re.search(r"ERROR SUMMARY: (\d+) error", report)
    return int(found[1]) if found else None


def run_tests(names: Sequence[str], folder: Path, device: int, seconds: float) -> Outcome:
    """Run some tests in a process that the tool watches.

    Parameters
    ----------
    names : sequence of str
        Of the tests.
    folder : Path
        The checkout.
    device : int
        The GPU.
    seconds : float
        After so long the process is stopped, which is a failure.
    """
    with tempfile.TemporaryDirectory() as there:
        listed, report = Path(there) / "tests", Path(there) / "report"
        listed.write_text("\n".join(names))
        command = [*TOOL, "--log-file", str(report), *_PYTEST, "-q", "-rf", "--tb=short", f"@{listed}"]
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": str(device), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                                 timeout=None if math.isinf(seconds) else seconds)  # fmt: skip
            code, output = ran.returncode, ran.stdout + ran.stderr
        except subprocess.TimeoutExpired:
            code, output = -1, f"not finished after {seconds:.0f} s: {names[0]} and {len(names) - 1} more"
        said = report.read_text() if report.exists() else ""
    errors = errors_of(said)
    if not code and errors == 0:
        return Outcome(len(names), 0, False, "")
    # Nobody knows what the tool would have found in tests that were stopped.
    return Outcome(len(names) if code >= 0 else 0, errors or 0, True, f"{said[:3000]}\n{output[-3000:]}")


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m pytocu.testing.sanitizer [--jobs N] [--devices N] [--seconds S] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.sanitizer", description=main.__doc__)
    parser.add_argument("--jobs", type=count, default=1, help="processes")
    parser.add_argument("--devices", type=count, default=1, help="GPUs that the processes share")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--tests", type=Path, default=Path(), help="the checkout, unless it is the current folder")
    parser.add_argument("--write", type=file, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    runs, reason = cuda.available()
    if not runs:
        parser.error(f"a GPU is needed: {reason}")
    if shutil.which(_TOOL) is None:
        parser.error(f"{_TOOL} is not on the PATH: it comes with the CUDA toolkit")
    end = time.perf_counter() + options.seconds
    names = collected(options.tests)
    # Neighbours are cases of one test, and take equally long.
    shares = [names[first :: math.ceil(len(names) / A_PROCESS)] for first in range(math.ceil(len(names) / A_PROCESS))]
    tell, done, bad = meter(len(names)), 0, list[Outcome]()
    with futures.ThreadPoolExecutor(options.jobs) as pool:
        started = itertools.count()

        def begin(share: Sequence[str]) -> Outcome:
            left = end - time.perf_counter()
            if left <= 0:
                return Outcome(0, 0, False, "")
            return run_tests(share, options.tests, next(started) % options.devices, left)

        for outcome in pool.map(begin, shares):
            done += outcome.tests
            if outcome.failed:
                bad.append(outcome)
                print(outcome.says, flush=True)
            tell(done, f"{len(bad)} processes with errors")
    errors = sum(outcome.errors for outcome in bad)
    covered = f"{done}{'' if done == len(names) else f' of {len(names)}'} tests in {len(shares)} processes"
    print(f"{covered}, {errors} errors of the tool, {len(bad)} processes that failed")
    row = figures.Row("compute-sanitizer", covered, max(errors, len(bad)), "python -m pytocu.testing.sanitizer")
    print(figures.line(figures.dated(row)))
    if options.write:
        figures.write(options.write, row)
    return int(bool(bad) or done < len(names))


if __name__ == "__main__":
    sys.exit(main())

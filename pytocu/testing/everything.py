"""Every long check, one after the other: what ``docs/verification.md`` holds.

``python -m pytocu.testing.everything --jobs 64 --log DIRECTORY`` runs the planted faults, the matrix and the
random programs on the CPU, ``--gpu`` those on a GPU as well.  Each check has its log in the directory, so that the
same command goes on where it was stopped, by hand or after ``--seconds``; what differed is run again.  ``--only NAME``
runs some of the checks, ``--list`` prints their commands.  The exit status is 0 where all checks were finished without a
difference, 1 where something differs, 2 where the time did not last.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pytocu.testing import fuzz, matrix, mutants, planted, sanitizer


class Check(NamedTuple):
    """A command, without what says how it is run."""

    name: str
    module: str
    arguments: str
    gpu: bool = False


CHECKS: tuple[Check, ...] = (
    Check("planted", "planted", "--seed 0"),
    Check("mutants", "mutants", ""),
    Check("matrix-interpreter", "matrix", "--on interpreter --one-value"),
    Check("matrix-cpu", "matrix", "--on cpu"),
    Check("sanitizer", "sanitizer", "", True),
    Check("matrix-nvvm", "matrix", "--on nvvm --sample 1000 --seed 1", True),
    Check("matrix-cuda_c", "matrix", "--on cuda_c --sample 1000 --seed 2", True),
    Check("fuzz-nvvm", "fuzz", "-n 10000 --on nvvm --seed 77", True),
    Check("fuzz-cuda_c", "fuzz", "-n 10000 --on cuda_c --seed 78", True),
    Check("fuzz-threads", "fuzz", "-n 10000 --on threads --seed 79"),
    Check("fuzz-cpu", "fuzz", "-n 100000 --on cpu --seed 80"),
)
"""The checks in the order in which they are run: those that say most in the shortest time first."""

MAINS = {"planted": planted.main, "mutants": mutants.main, "matrix": matrix.main, "fuzz": fuzz.main,
         "sanitizer": sanitizer.main}  # fmt: skip


def command(
    check: Check, jobs: int, devices: int, log: Path | None, write: Path | None, seconds: float = math.inf
) -> list[str]:
    """The arguments of a check's command.

    Examples
    --------
    >>> command(CHECKS[0], 8, 1, Path("logs"), None)
    ['--seed', '0', '--jobs', '8']
    """
    found = [*shlex.split(check.arguments), "--jobs", str(jobs)]
    if check.gpu:
        found += ["--devices", str(devices)]
    if log is not None and check.module in ("matrix", "fuzz"):
        found += ["--log", str(log / f"{check.name}.log")]
    if seconds < math.inf and check.module not in ("planted", "mutants"):
        found += ["--seconds", f"{max(seconds, 0):.0f}"]
    return found if write is None else [*found, "--write", str(write)]


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m pytocu.testing.everything [--jobs N] [--gpu] [--only NAME]... [--log DIRECTORY] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.everything", description=main.__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--devices", type=int, default=1, help="GPUs that the processes share")
    parser.add_argument("--gpu", action="store_true", help="with what runs on a GPU")
    parser.add_argument("--only", action="append", choices=[c.name for c in CHECKS], help="these checks alone")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    parser.add_argument("--seconds", type=float, default=math.inf, help="for all checks together")
    parser.add_argument("--log", type=Path, help="a directory of logs; the same command goes on behind them")
    parser.add_argument("--write", type=Path, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    if options.log is not None and not options.list:
        options.log.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    unfinished: list[str] = []
    end = time.perf_counter() + options.seconds
    for check in CHECKS:
        if check.name not in options.only if options.only else check.gpu and not options.gpu:
            continue
        left = end - time.perf_counter()
        if left < 0:
            print(f"== {check.name}: no time left", flush=True)
            unfinished.append(check.name)
            continue
        arguments = command(check, options.jobs, options.devices, options.log, options.write, left)
        print(f"== python -m pytocu.testing.{check.module} {shlex.join(arguments)}", flush=True)
        if options.list:
            continue
        begun = time.perf_counter()
        if MAINS[check.module](arguments):
            failed.append(check.name)
        print(f"== {check.name}: {time.perf_counter() - begun:.0f} s", flush=True)
        if time.perf_counter() > end:
            unfinished.append(check.name)
    if failed:
        print(f"differences in: {', '.join(failed)}")
    if unfinished:
        print(f"not finished: {', '.join(unfinished)}")
    return 1 if failed else 2 if unfinished else 0


if __name__ == "__main__":
    # A program is compiled once, so what it leaves on disk is never read.
    os.environ.setdefault("PYTOCU_CACHE", "0")
    sys.exit(main())

"""The whole matrix: every operation on every pair of dtypes and kinds of operands, on one backend or several.

``python -m pytocu.testing.matrix`` runs :func:`pytocu.testing.operands.all_groups` on the interpreter and
on the CPU; ``--on cuda_c`` and ``--on nvvm`` on a GPU, ``--on threads`` the GPU form of the kernels
thread by thread.  Groups that differ only in the values of arguments run one after the other in one
process, so that each function is compiled once.  ``--write FILE`` puts the figures into the docs.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import json
import math
import multiprocessing
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytocu.elementwise import VectorizedFunction
from pytocu.ir import interp
from pytocu.jitted import jit
from pytocu.testing import figures
from pytocu.testing.cases import call_interpreted, check_group, device_failures
from pytocu.testing.operands import Group, all_groups, promotion_groups, sampled_groups
from pytocu.testing.options import check_runs, count, file, part, pattern
from pytocu.testing.progress import meter

Cluster = tuple[Group, ...]
"""Groups whose functions are the same."""


@functools.lru_cache(256)
def _jitted(function: Any, device: str | None, backend: str | None) -> Any:
    return jit(function, device=device, backend=backend)


def call_cpu(function: Any, *arguments: Any) -> Any:
    """Run with the CPU backend; a function that was seen lately is not compiled again."""
    with warnings.catch_warnings():
        # Python warns of ~True, which is what a case is for.
        warnings.simplefilter("ignore", DeprecationWarning)
        return _jitted(function, None, None)(*arguments)


def call_threads(function: Any, *arguments: Any) -> Any:
    """Run the GPU form of the kernels thread by thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        low = (function if isinstance(function, VectorizedFunction) else jit(function)).lower(*arguments)
    results = interp.run(low.host("cuda"), arguments)
    return interp.arrange(low.function.body.terminator.attr("tree"), results)


_device = "cuda:0"
"""The GPU of this process."""


def _on_device(backend: str) -> Callable[[Group], list[Any]]:
    def call(function: Any, *arguments: Any) -> Any:
        return _jitted(function, _device, backend)(*arguments)

    return lambda group: device_failures(group, call)


CHECKS: dict[str, Callable[[Group], list[Any]]] = {
    "interpreter": lambda group: check_group(group, call_interpreted),
    "cpu": lambda group: check_group(group, call_cpu),
    "threads": lambda group: check_group(group, call_threads),
    "cuda_c": _on_device("cuda_c"),
    "nvvm": _on_device("nvvm"),
}
"""By name of what runs: the failures of a group."""


def _function_key(group: Group) -> tuple[tuple[str, str, str], ...]:
    """What decides a group's functions: kinds of arguments, and values of what the source holds."""
    known = ("literal", "constant")
    return tuple((o.form, o.dtype, o.text if o.form in known else "") for o in group.operands)


def clusters(groups: Iterable[Group]) -> list[Cluster]:
    """Groups with the same functions together.

    Examples
    --------
    >>> from pytocu.testing.operands import Operand
    >>> [len(c) for c in clusters(Group((Operand("scalar", "i8", f"np.int8({n})"),)) for n in range(3))]
    [3]
    """
    return [tuple(found) for _, found in itertools.groupby(sorted(groups, key=_function_key), _function_key)]


def one_value(groups: Iterable[Group]) -> list[Group]:
    """Of the groups that differ only in values, the first: where a function takes long to compile."""
    first: dict[Any, Group] = {}
    for group in groups:
        first.setdefault(tuple((o.form, o.dtype) for o in group.operands), group)
    return list(first.values())


class Outcome(NamedTuple):
    """What a cluster gave."""

    groups: int
    cases: int
    failures: tuple[str, ...]


def run_cluster(job: tuple[str, Cluster]) -> Outcome:
    """Every case of some groups on one backend."""
    on, groups = job
    failures = [str(failure) for group in groups for failure in CHECKS[on](group)]
    return Outcome(len(groups), sum(1 for g in groups for _ in g.expressions()), tuple(failures))


def _numbered(job: tuple[str, int, Cluster]) -> tuple[int, Outcome]:
    on, number, cluster = job
    return number, run_cluster((on, cluster))


def _begin(started: Any, devices: int) -> None:
    """In a process of a pool: take the next GPU in turn."""
    global _device
    with started.get_lock():
        _device = f"cuda:{started.value % devices}"
        started.value += 1


def run(
    on: str,
    groups: Sequence[Group],
    jobs: int,
    report: Callable[[str], None],
    devices: int = 1,
    log: Path | None = None,
    seconds: float = math.inf,
) -> Outcome:
    """Run groups on one backend with some processes, and report failures as they come.

    Parameters
    ----------
    on : str
        Name of what runs.
    groups : sequence of Group
    jobs, devices : int
        How many processes, and the GPUs that they share.
    report : callable
        Is given the failures.
    log : Path, optional
        A file of finished clusters: those that it holds are not run again, the others are added.
    seconds : float
        Stop after so long.

    Raises
    ------
    ValueError
        The file is of other groups.
    """
    chosen = clusters(groups)
    # Where something failed, that may be mended by now.
    done = {n: outcome for n, outcome in (read_log(log, on, len(chosen)) if log else {}).items() if not outcome.failures}
    begun = time.perf_counter()
    total = functools.reduce(_both, done.values(), Outcome(0, 0, ()))
    tell = meter(len(groups), total.groups)
    work = [(on, number, cluster) for number, cluster in enumerate(chosen) if number not in done]
    processes = multiprocessing.get_context("spawn")
    with processes.Pool(jobs, _begin, (processes.Value("i", 0), devices)) if jobs > 1 else _Here() as pool:
        for number, outcome in pool.imap_unordered(_numbered, work):
            total = _both(total, outcome)
            if log:
                with log.open("a") as opened:
                    opened.write(json.dumps({"on": on, "of": len(chosen), "number": number, **outcome._asdict()}) + "\n")
            for failure in outcome.failures:
                report(failure)
            tell(total.groups, f"{on}: {total.cases} cases, {len(total.failures)} differences")
            if time.perf_counter() - begun > seconds:
                report(f"stopped after {total.groups} of {len(groups)} groups")
                break
    return total


def _both(first: Outcome, second: Outcome) -> Outcome:
    return Outcome(first.groups + second.groups, first.cases + second.cases, first.failures + second.failures)


def read_log(file: Path, on: str, count: int) -> dict[int, Outcome]:
    """The finished clusters of a file, without a last line that was not written to its end.

    Raises
    ------
    ValueError
        A line is of other clusters, or was run by something else.
    """
    text = file.read_text() if file.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole)
    found: dict[int, Outcome] = {}
    for line in whole.splitlines():
        kept = json.loads(line)
        if (kept["on"], kept["of"]) != (on, count):
            raise ValueError(f"{file} holds {kept['of']} functions of --on {kept['on']}, not {count} of --on {on}")
        found[kept["number"]] = Outcome(kept["groups"], kept["cases"], tuple(kept["failures"]))
    return found


class _Here:
    """A pool of this process alone."""

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def imap_unordered(self, function: Any, work: Iterable[Any]) -> Iterable[Any]:
        return map(function, work)


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.matrix [--on BACKEND]... [--jobs N] [--part I/N] [--log FILE] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.matrix", description=main.__doc__)
    parser.add_argument("--on", action="append", choices=tuple(CHECKS), help="what runs: interpreter and cpu unless stated")
    parser.add_argument("--jobs", type=count, default=1, help="processes")
    parser.add_argument("--devices", type=count, default=1, help="GPUs that the processes share")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--log", type=file, help="a file of finished groups, of one --on; the same command goes on behind them")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; the log says how far it is")
    parser.add_argument("--one-value", action="store_true", help="one value of each kind of operand instead of several")
    parser.add_argument("--promotion", action="store_true", help="what decides the dtype alone")
    parser.add_argument("--only", type=pattern, metavar="REGEX", help="groups whose operands, as failures say, hold it")
    parser.add_argument("--expressions", type=pattern, metavar="REGEX", help="cases whose source holds it")
    parser.add_argument("--sample", type=count, help="so many groups of the matrix, besides the usual ones")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--write", type=file, help="the page of the docs to put the figures into")
    options = parser.parse_args(argv)
    for on in options.on or ():
        check_runs(parser, on)
    for name in ("only", "expressions"):
        if options.write and getattr(options, name):
            parser.error(f"--write is for figures of the whole, and --{name} leaves some out")
    if options.promotion:
        groups = list(promotion_groups())
    else:
        groups = list(all_groups()) if options.sample is None else sampled_groups(options.sample, options.seed)
    if options.only is not None:
        groups = [group for group in groups if options.only.search(str(group))]
    if options.expressions is not None:
        chosen = (dataclasses.replace(group, pattern=options.expressions.pattern) for group in groups)
        groups = [group for group in chosen if any(group.expressions())]
    if options.one_value:
        groups = one_value(groups)
    number, parts = options.part
    groups = [group for cluster in clusters(groups)[number::parts] for group in cluster]
    failed = 0
    for on in options.on or ["interpreter", "cpu"]:
        begun = time.perf_counter()
        say = functools.partial(print, flush=True)
        total = run(on, groups, options.jobs, say, options.devices, options.log, options.seconds)
        seconds = time.perf_counter() - begun
        failed += len(total.failures)
        whole = "" if total.groups == len(groups) else f" of {len(groups)}"
        covered = f"{total.groups}{whole} groups, {total.cases} cases"
        print(f"{on}: {covered}, {len(total.failures)} differences, {seconds:.0f} s", flush=True)
        extent = "".join(f" --{name.replace('_', '-')}" for name in ("one_value", "promotion") if getattr(options, name))
        extent += f" --sample {options.sample} --seed {options.seed}" if options.sample is not None else ""
        chosen = {name: getattr(options, name) for name in ("only", "expressions")}
        extent += "".join(f" --{name} {shlex.quote(given.pattern)}" for name, given in chosen.items() if given is not None)
        extent += f" --part {number}/{parts}" if parts > 1 else ""
        command = f"python -m pytocu.testing.matrix --on {on}{extent}"
        row = figures.Row(f"matrix, {on}", covered, len(total.failures), command)
        print(figures.line(figures.dated(row)))
        if options.write:
            figures.write(options.write, row)
    return 1 if failed else 0


if __name__ == "__main__":
    # Every process would write the same plans.
    os.environ.setdefault("PYTOCU_CACHE", "0")
    sys.exit(main())

"""pytocu bisect: find the pass or backend that makes a function wrong, and write a test of it.

Arguments are made from types, or read from a file.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import math
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pytocu.cli.arguments import TYPES, TYPES_HELP, Values, add_options, arguments, prepared
from pytocu.cli.dump import target_of
from pytocu.cli.load import existing
from pytocu.cli.terminal import CommandError, progress, show, suggestion
from pytocu.errors import PytocuError
from pytocu.explain.inputs import load_inputs
from pytocu.ir.types import ArrayType, ScalarType, WeakType, shape_of
from pytocu.jitted import JitFunction
from pytocu.testing.arguments import make_argument, size_cases, symbol_names
from pytocu.testing.bisect import LIMIT, Finding, Outcome, as_called, bisect
from pytocu.testing.reproducer import test_text
from pytocu.trees import by_name, put_together

EPILOG = """\
examples:
  pytocu bisect mask.py:mask_out --args "f32[n, 3], bool[n]"
  pytocu bisect waves.py:step --inputs inputs.npz --target cpu

Every pass is interpreted, and what it makes is compared with NumPy; then the binary runs, on a GPU where there is
one.  A loop that has far more steps than before, or does not end within --limit, is wrong, too.  np.savez("inputs.npz", x=x,
mask=mask) writes arrays by name; Python's numbers, and tuples, lists, dicts and objects that hold arrays, are written
by pytocu.explain.inputs.save_inputs("inputs.npz", {"x": x, "k": 3}, function), as by a call that fails inside the
compiler.  Exit code 1: a step is wrong; its test is in the folder of --output.
"""
EPILOG += f"\n{TYPES}"

_VALUES = ("plain", "edge", "positive")
_SEEDS = 2
_LONG = (261, 37, 5)

_MOST = 1 << 24
"""Elements that arguments are made with; the interpreter takes a minute for a tenth of them."""

_OF_MADE = 2.0
"""Seconds that NumPy may take for arguments that are made: these are few numbers, for which a loop ends at once or never."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too")
    parser.add_argument("--args", default="", metavar="TYPES", help=TYPES_HELP)
    parser.add_argument("--inputs", metavar="FILE.npz", help="arguments by name, in place of made ones")
    add_options(parser)
    parser.add_argument("--target", metavar="TARGET", help="cpu, cuda or cuda:sm_90; both by default")
    parser.add_argument("--output", default=".", metavar="DIR", help="where the test is written; here by default")
    parser.add_argument(
        "--limit", type=_seconds, default=LIMIT, metavar="SECONDS",
        help=f"after which a backend, or NumPy, counts as endless; {LIMIT:g} by default",
    )  # fmt: skip
    parser.add_argument("--steps", action="store_true", help="every step and its verdict")


def run(options: argparse.Namespace) -> None:
    """Search, and say what was found."""
    function, known = prepared(options.function, options.static, options.fastmath)
    try:
        cases = list(_cases(function, known, options))
    except (OverflowError, MemoryError, ValueError) as error:
        raise CommandError(f"--args {options.args!r}: no arguments of these lengths can be made ({error})") from None
    targets = ("cpu", "cuda:sm_90")
    if options.target:
        targets = (str(target_of(options.target, "bisection", targets)),)
    _check_folder(options.output)
    notes: dict[str, Outcome] = {}
    raised: list[str] = []
    endless: list[str] = []
    of_numpy = options.limit if options.inputs else min(options.limit, _OF_MADE)
    compared = len(cases)
    with progress(len(cases), "inputs") as advance:
        for number, values in enumerate(cases):

            def say(outcome: Outcome) -> None:
                if options.steps:
                    reason = f" ({outcome.reason.splitlines()[0]})" if outcome.reason else ""
                    show(f"{outcome.step}: {outcome.verdict}{reason}")
                nonlocal compared
                if outcome.step == "NumPy":
                    compared -= outcome.verdict in ("not run", "endless")
                    endless.extend([outcome.reason] if outcome.verdict == "endless" else [])
                    raised.extend([outcome.reason] if outcome.verdict == "raises" else [])
                elif outcome.verdict in ("refused", "not run"):
                    notes[outcome.step] = outcome
                    compared -= outcome.step == "a call"

            finding = bisect(function, values, targets, say, options.limit, of_numpy)
            if finding is not None:
                raise PytocuError(_told(finding, function, values, options))
            advance(number + 1)
    refused = notes.get("the front end")
    if refused is not None and refused.verdict == "refused":
        raise PytocuError(f"{function.__name__} is not compiled: {refused.reason}")
    if not compared and "a call" in notes:
        raise PytocuError(f"{function.__name__} refuses all that was tried: {notes['a call'].reason}")
    if endless and not compared:
        other = "--limit waits longer" if options.inputs else "give arguments for which it ends with --inputs"
        raise PytocuError(f"{function.__name__} itself, run by Python, gives {endless[0]} for all that was tried: {other}")
    for outcome in notes.values():
        show(f"note: {outcome.step} was {outcome.verdict}: {outcome.reason}")
    if endless:
        many = f"{len(endless)} of {len(cases)} lists of arguments"
        show(f"note: {function.__name__} itself, run by Python, gives {endless[0]} for {many}, which were left out")
    shown = f"{compared} lists of arguments" if len(cases) != 1 else "these arguments"
    same = f"{function.__name__} is NumPy's after every pass and on every backend that ran, for {shown}"
    if raised and len(raised) == compared:
        show(f"{function.__name__} raises what NumPy raises, {raised[0]}, for {shown}: there is no result to compare")
    elif raised:
        show(f"{same}; of these, {len(raised)} raise what NumPy raises: {raised[0]}")
    else:
        show(same)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    # A thread waits no longer than this.
    if not 0 < found <= threading.TIMEOUT_MAX:
        raise CommandError(f"--limit {text}: write seconds, as {LIMIT:g}")
    return found


def _check_folder(output: str) -> None:
    """Refuse a place that is no folder before the search."""
    place = next((p for p in (Path(output), *Path(output).parents) if p.exists()), Path("."))
    if not output or not place.is_dir():
        raise CommandError(f"--output {output}: {place} is a file" if output else "--output is empty")
    if not os.access(place, os.W_OK | os.X_OK):
        raise CommandError(f"--output {output}: {place} may not be written")


def _cases(function: JitFunction[..., Any], known: Values, options: argparse.Namespace) -> Iterator[Values]:
    if options.inputs == "":
        raise CommandError("--inputs is empty")
    if options.inputs:
        yield _read(function, known, options)
        return
    args, kwargs = arguments(function, known, options.args)
    bound = inspect.signature(function.__wrapped__).bind(*args, **kwargs).arguments
    trees, stated = by_name(bound, function._static)
    types = [v for v in stated.values() if isinstance(v, ArrayType | ScalarType | WeakType)]
    names = symbol_names(types)
    for type in types:
        fixed = math.prod(n for n in shape_of(type) if isinstance(n, int))
        if fixed > _MOST:
            help = "name the length, f32[n], or give arrays with --inputs"
            raise CommandError(f"--args {options.args!r}: {type} has {fixed} elements, which are too many to interpret: {help}")

    def whole(values: Values) -> Values:
        return put_together(trees, values, lambda made: None)

    # Lengths of other names may have to be equal.
    equal = [dict.fromkeys(names, 7)] if len(names) > 1 else []
    for sizes in (*size_cases(types), *equal):
        for values in _VALUES if not sizes or any(sizes.values()) else _VALUES[:1]:
            for seed in range(_SEEDS):
                yield whole(_made(stated, sizes, seed, values))
    # Several vectors and a rest, of several blocks or warps.
    long = dict(zip(names, itertools.chain(_LONG, itertools.repeat(_LONG[-1])), strict=False))
    for sizes in (long, *(dict.fromkeys(names, _LONG[1]) for _ in equal)):
        yield whole(_meeting(_made(stated, sizes, 0, "plain")))


def _made(stated: Values, sizes: Mapping[str, int], seed: int, values: str) -> Values:
    return {
        name: make_argument(v, sizes, seed * 7 + 17 * number, values) if isinstance(v, ArrayType | ScalarType | WeakType) else v
        for number, (name, v) in enumerate(stated.items())
    }


def _meeting(values: Values) -> Values:
    """Arguments that have elements in common: on equal ones a comparison shows whether it is the right one."""
    arrays = [v for v in values.values() if isinstance(v, np.ndarray) and v.ndim]
    numbers = [v for v in values.values() if isinstance(v, int | float | np.number) and not isinstance(v, bool)]
    for array in arrays:
        first = next(other for other in arrays if (other.dtype, other.shape) == (array.dtype, array.shape))
        array[..., ::2] = first[..., ::2]
        for number in numbers:
            if np.can_cast(np.min_scalar_type(number), array.dtype, "same_kind"):
                array[..., 1::4] = number
    return values


def _read(function: JitFunction[..., Any], known: Values, options: argparse.Namespace) -> Values:
    if options.args:
        raise CommandError("--args and --inputs are two ways to give the arguments: choose one")
    existing(options.inputs)
    try:
        values = load_inputs(options.inputs, function._function)
    except PytocuError as error:
        raise CommandError(str(error)) from None
    parameters = inspect.signature(function.__wrapped__).parameters
    for name in values:
        if name not in parameters:
            hint = suggestion(name, parameters, "it has")
            raise CommandError(f"{options.inputs} holds {name!r}, and {function.__name__} has no such parameter{hint}")
    missing = [p.name for p in parameters.values() if p.name not in {**values, **known} and p.default is p.empty]
    if missing:
        raise CommandError(f"{options.inputs} holds nothing for {', '.join(missing)}, which {function.__name__} needs")
    return {**values, **known}


def _told(finding: Finding, function: JitFunction[..., Any], values: Values, options: argparse.Namespace) -> str:
    """What was found, and where its test is."""
    file, _, name = options.function.rpartition(":")
    given = as_called(function, values)
    sizes = {} if finding.kind == "front end" else dict(function.lower(*given.args, **given.kwargs).sizes)
    text = test_text(finding, function, (str(Path(file).resolve()), name), values, sizes)
    made = Path(options.output) / ("test_" + re.sub(r"\W", "_", f"{name}_{finding.name}") + ".py")
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text)
    except OSError as error:
        raise CommandError(f"--output {options.output}: {error.strerror or error}") from None
    step = "the front end" if finding.kind == "front end" else f"the {finding.kind} {finding.name} ({finding.target})"
    lines = [f"{step} makes {name} {'endless' if finding.difference.endless else 'wrong'}", f"  {finding.difference.message}"]
    if finding.instruction:
        lines.append(f"  first wrong at {finding.instruction}")
    if finding.loc is not None and finding.loc.line:
        lines.append(f"  --> {finding.loc.file}:{finding.loc.line}:{finding.loc.column}")
    lines.append(f"  {made} reproduces it: pytest {made}")
    return "\n".join(lines)

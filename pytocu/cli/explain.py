"""pytocu explain: say in plain words what a function becomes: kernels, bytes, schedules, dtypes, and why.

Needs no GPU.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytocu.cli.arguments import TYPES, TYPES_HELP, add_options, arguments, prepared
from pytocu.cli.dump import target_of
from pytocu.cli.terminal import CommandError, show_rich, suggestion
from pytocu.config import BACKENDS
from pytocu.driver import Lowered
from pytocu.explain.collect import explanation
from pytocu.explain.model import Explanation
from pytocu.ir.dims import Dim
from pytocu.ir.types import ArrayType, ScalarType, WeakType
from pytocu.jitted import JitFunction
from pytocu.passes.context import Target
from pytocu.record import Record
from pytocu.report.page import html_report
from pytocu.runtime import cuda, device_array
from pytocu.testing.arguments import make_argument, symbol_names
from pytocu.trees import by_name, put_together

EPILOG = """\
examples:
  pytocu explain mask.py:mask_out --args "f32[n, 3], bool[n]"
  pytocu explain waves.py:step --args "f64[4096, 4096], weak float" --target cpu
  pytocu explain mask.py:mask_out --args "f32[n, 3], bool[n]" --html report.html

Numbers as lengths give numbers of bytes, names give formulas.  The expected share is an estimate with the figures of
an H200; --measure times the kernels where there is a GPU, and so does f.explain of arrays that are on one.  In Python,
f.explain(*args) says the same of real arguments, and why the last call compiled again.
"""
EPILOG += f"\n{TYPES}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too")
    parser.add_argument("--args", default="", metavar="TYPES", help=TYPES_HELP)
    add_options(parser)
    parser.add_argument("--target", metavar="TARGET", help="cpu, cuda or cuda:sm_90 (the default)")
    parser.add_argument("--backend", metavar="BACKEND", help="nvvm (the default) or cuda_c for CUDA, llvm for the CPU")
    parser.add_argument("--measure", action="store_true", help="run it on this machine's GPU, on made-up values, and time it")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the same as JSON")
    said = "write a page that shows Python, IR, code and assembly linked, the plan as a picture, and the same words"
    form.add_argument("--html", metavar="FILE", help=said)


def run(options: argparse.Namespace) -> None:
    """Say it."""
    target = target_of(options.target, "explanation", ("cuda:sm_90", "cpu"))
    if options.backend and options.backend not in BACKENDS[target.kind]:
        known = BACKENDS[target.kind]
        raise CommandError(f"there is no backend {options.backend!r} for {target.kind}{suggestion(options.backend, known)}")
    function, bound = prepared(options.function, options.static, options.fastmath)
    args, kwargs = arguments(function, bound, options.args)
    if options.html is not None:
        if not options.html:
            raise CommandError("--html is empty: name the file to write")
        if options.measure:
            raise CommandError("--html shows code, which is not run: leave --measure out")
        return _write_page(options, function.lower(*args, **kwargs), target)
    if options.measure:
        told = _measured(function, args, kwargs, options)
    else:
        told = explanation(function.lower(*args, **kwargs), target, options.backend)
    if options.json:
        print(json.dumps(as_json(told), indent=1))
    else:
        show_rich(told)


def _measured(
    function: JitFunction[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], options: argparse.Namespace
) -> Explanation:
    """The explanation of a call with made-up values, which is timed."""
    if options.target or options.backend:
        raise CommandError("--measure runs what a call on this machine's GPU runs: leave --target and --backend out")
    fine, reason = cuda.available()
    if not fine:
        raise CommandError(f"--measure needs a GPU: {reason}")
    bound = inspect.signature(function.__wrapped__).bind(*args, **kwargs)
    trees, stated = by_name(bound.arguments, function._static)
    types = [t for t in stated.values() if isinstance(t, ArrayType)]
    if names := symbol_names(types):
        raise CommandError(f"--measure needs numbers as lengths: write one for {', '.join(names)}")
    if not types or any(t.layout != "C" for t in types):
        raise CommandError("--measure takes arrays in row-major order, and at least one")
    device = cuda.current_device()

    def made(value: Any, number: int) -> Any:
        if not isinstance(value, ArrayType | ScalarType | WeakType):
            return value
        found = make_argument(value, {}, number, "positive")
        return device_array.to_device(found, device) if isinstance(value, ArrayType) else found

    values = {name: made(v, n) for n, (name, v) in enumerate(stated.items())}
    bound.arguments.update(put_together(trees, values, lambda made: None))
    return function.explain(*bound.args, **bound.kwargs)


def _write_page(options: argparse.Namespace, lowered: Lowered, target: Target) -> None:
    try:
        Path(options.html).write_text(html_report(lowered, target, options.backend), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--html {options.html} cannot be written: {error.strerror or error}") from None
    print(f"wrote {options.html}")


def as_json(told: Any) -> Any:
    """Records as objects, polynomials as their text."""
    match told:
        case Record() | Explanation():
            return {name: as_json(value) for name, value in told._asdict().items()}
        case tuple() | list():
            return [as_json(v) for v in told]
        case Dim():
            return str(told)
        case _:
            return told

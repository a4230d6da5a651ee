"""pytocu explain: say in plain words what a function becomes: kernels, bytes, schedules, dtypes, and why.

Needs no GPU.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from pytocu.cli.arguments import add_options, arguments, prepared
from pytocu.cli.dump import target_of
from pytocu.cli.terminal import CommandError, show_rich, suggestion
from pytocu.config import BACKENDS
from pytocu.explain.collect import explanation
from pytocu.explain.model import Explanation
from pytocu.ir.dims import Dim
from pytocu.record import Record

EPILOG = """\
examples:
  pytocu explain mask.py:mask_out --args "f32[n, 3], bool[n]"
  pytocu explain waves.py:step --args "f64[4096, 4096], weak float" --target cpu

Numbers as lengths give numbers of bytes, names give formulas.  The expected share is an estimate with the figures of
an H200.  In Python, f.explain(*args) says the same of real arguments, and why the last call compiled again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too")
    parser.add_argument("--args", default="", metavar="TYPES", help='in order or by name: "f32[n, 3], dt=weak float"')
    add_options(parser)
    parser.add_argument("--target", metavar="TARGET", help="cpu, cuda or cuda:sm_90 (the default)")
    parser.add_argument("--backend", metavar="BACKEND", help="nvvm (the default) or cuda_c for CUDA, llvm for the CPU")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(options: argparse.Namespace) -> None:
    """Say it."""
    target = target_of(options.target, "explanation", ("cuda:sm_90", "cpu"))
    if options.backend and options.backend not in BACKENDS[target.kind]:
        known = BACKENDS[target.kind]
        raise CommandError(f"there is no backend {options.backend!r} for {target.kind}{suggestion(options.backend, known)}")
    function, bound = prepared(options.function, options.static, options.fastmath)
    args, kwargs = arguments(function, bound, options.args)
    told = explanation(function.lower(*args, **kwargs), target, options.backend)
    if options.json:
        print(json.dumps(as_json(told), indent=1))
    else:
        show_rich(told)


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

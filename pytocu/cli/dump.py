"""pytocu dump: print a function as the compiler sees it, after any pass, or as generated code.

Needs no GPU.  Argument types are written as in ``Lowered``: ``f32[n, 3]``, ``bool[n]``, ``weak float``.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytocu.backend import nvrtc
from pytocu.cli.load import load
from pytocu.cli.terminal import CommandError, nearest, show, suggestion
from pytocu.config import FASTMATH_FLAGS
from pytocu.driver import Lowered
from pytocu.errors import BackendError
from pytocu.ir.printer import print_function
from pytocu.ir.types import ALL_DTYPES, WEAK_ORDER, Type, parse_type, split_top
from pytocu.jit import JitFunction, jit
from pytocu.passes.context import PassContext, Target, parse_target
from pytocu.passes.pipeline import PIPELINE, History, pass_names, run_pipeline

EPILOG = """\
examples:
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]"
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]" --after infer-types --locs
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]" --emit cuda
  pytocu dump mask.py:Masks.out --args "f32[n, 3], bool[n]" --emit asm
  pytocu dump waves.py:step --args "f64[n, m], dt=weak float" --static "order=2" --all

types:
  bool i8 .. i64 u8 .. u64 f32 f64, arrays of them as f32[n, 3] (append "; F" for column-major, "; S" for
  strided), and weak bool, weak int, weak float for Python's scalars
"""

EMIT: dict[str, tuple[str, tuple[str, ...]]] = {
    "ir": ("", ("cuda:sm_90", "cpu")),
    "cuda": ("cuda_c", ("cuda:sm_90",)),
    "nvvm": ("nvvm", ("cuda:sm_90",)),
    "llvm": ("llvm", ("cpu",)),
    "asm": ("llvm", ("cpu",)),
}
"""What can be printed: the backend that writes it, and its targets, the default first."""

FIRST = "lower"
"""The step before every pass: what the front end made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too")
    parser.add_argument("--args", default="", metavar="TYPES", help='in order or by name: "f32[n, 3], dt=weak float"')
    parser.add_argument("--static", action="append", default=[], metavar="NAME=VALUE", help="a parameter known while compiling")
    parser.add_argument("--fastmath", nargs="?", const="all", metavar="FLAGS", help=f"of {','.join(FASTMATH_FLAGS)}; or all")
    stage = parser.add_mutually_exclusive_group()
    stage.add_argument("--after", metavar="PASS", help="the IR after this pass, see pytocu passes; lower comes first")
    stage.add_argument("--all", action="store_true", help="the IR after every pass that changed it")
    parser.add_argument("--emit", default="ir", metavar="|".join(EMIT), help="IR (default), CUDA C, NVVM IR, LLVM IR, assembly")
    parser.add_argument("--target", metavar="TARGET", help="cpu, cuda or cuda:sm_90 (the default)")
    parser.add_argument("--locs", action="store_true", help="the source place of every instruction of the IR")


def run(options: argparse.Namespace) -> None:
    """Print what was asked for."""
    if options.emit not in EMIT:
        raise CommandError(f"--emit {options.emit}{suggestion(options.emit, EMIT)}")
    if options.emit != "ir" and (options.after or options.all or options.locs):
        raise CommandError("--after, --all and --locs are for --emit ir")
    names = (FIRST, *pass_names())
    if options.after and options.after not in names:
        raise CommandError(f"there is no pass {options.after!r}{suggestion(options.after, names)}")
    backend, targets = EMIT[options.emit]
    target = _target(options.target, options.emit, targets)
    lowered = _lowered(options)
    match options.emit:
        case "ir" if options.all:
            _show_all(lowered, target, options.locs)
        case "ir":
            show(lowered.ir(options.after, target, options.locs), "ir")
        case "asm":
            show(lowered.compile(target, backend).assembly.rstrip(), "asm")
        case kind:
            show(lowered.compile(target, backend).source.rstrip(), kind)


def _target(text: str | None, emit: str, allowed: Sequence[str]) -> Target:
    if text is None:
        return parse_target(allowed[0])
    try:
        target = parse_target(text)
    except BackendError as error:
        hint = nearest(text, ("cpu", "cuda", *(f"cuda:{a}" for a in _archs())))
        raise CommandError(f"{error}{hint}") from None
    if target.kind not in {a.partition(":")[0] for a in allowed}:
        raise CommandError(f"--emit {emit} has nothing for --target {text}: its target is {allowed[0]}")
    if target.kind == "cuda":
        known = _archs()
        if target.arch and known and target.arch.rstrip("af") not in known:
            raise CommandError(f"NVRTC has no code for {target.arch}{suggestion(target.arch, known)}")
        # The text is the same for every architecture, so `cuda` asks for no GPU here.
        return target if target.arch else Target("cuda", "sm_90")
    return target


def _archs() -> tuple[str, ...]:
    try:
        return nvrtc.supported_archs()
    except BackendError:
        # Printing code needs no vendor compiler; without one no architecture can be ruled out.
        return ()


def _lowered(options: argparse.Namespace) -> Lowered:
    function, bound = load(options.function)
    static = dict(_static(text) for text in options.static)
    compiled = function if isinstance(function, JitFunction) else jit(function)
    signature = inspect.signature(compiled.__wrapped__)
    names = tuple(signature.parameters)
    for name in static:
        if name not in names:
            raise CommandError(f"--static {name}: {compiled.__name__} has no such parameter{suggestion(name, names, 'it has')}")
    flags = _fastmath(options.fastmath)
    compiled = jit(
        compiled.__wrapped__,
        static=tuple(dict.fromkeys((*compiled._static, *static))),
        backend=compiled._options.backend,
        fastmath=compiled._options.fastmath if flags is None else flags,
    )
    typed = tuple(n for n in names[len(bound) :] if n not in static)
    values = {**dict(zip(names, bound, strict=False)), **_types(options.args, typed), **static}
    missing = [p.name for p in signature.parameters.values() if p.name not in values and p.default is p.empty]
    if missing:
        shown = f"{compiled.__name__}({', '.join(names)})"
        raise CommandError(f'{shown} needs a type for {", ".join(missing)}: write --args "f32[n], ..."')
    # In the order of the signature, because some parameters take no keyword.
    arguments = signature.bind_partial()
    arguments.arguments.update({n: values[n] for n in names if n in values})
    return compiled.lower(*arguments.args, **arguments.kwargs)


def _types(text: str, names: tuple[str, ...]) -> dict[str, Type]:
    """Types by parameter from ``f32[n, 3], dt=weak float``."""
    positional = 0
    named: dict[str, Type] = {}
    for part in split_top(text):
        match = re.match(r"(\w+)\s*=\s*", part)
        if match is None:
            if positional >= len(names):
                raise CommandError(f"--args has more types than parameters, which are {', '.join(names) or 'none'}")
            name = names[positional]
            named[name] = _type(part, name)
            positional += 1
            continue
        name = match[1]
        if name not in names:
            raise CommandError(f"--args: there is no parameter {name!r}{suggestion(name, names)}")
        if name in named:
            raise CommandError(f"--args gives {name} twice")
        named[name] = _type(part[match.end() :], name)
    return named


_TYPE_NAMES = (
    *(d.name for d in ALL_DTYPES),
    *(d.numpy.name for d in ALL_DTYPES),
    *(f"weak {kind}" for kind in WEAK_ORDER),
)


def _type(text: str, name: str) -> Type:
    try:
        return parse_type(text)
    except ValueError as error:
        word, bracket, rest = text.partition("[")
        close = nearest(word.strip(), _TYPE_NAMES)
        hint = f"{close[:-1]}{bracket}{rest}?" if close else ""
        raise CommandError(f"--args, {name}: {error}{hint}") from None


def _static(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise CommandError(f"--static {text!r}: write NAME=VALUE")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        quoted = f"{name}=\"'text'\""
        raise CommandError(f"--static {text!r}: the value is no Python literal; strings are quoted: {quoted}") from None


def _fastmath(text: str | None) -> bool | tuple[str, ...] | None:
    if text is None or text == "all":
        return None if text is None else True
    flags = tuple(f.strip() for f in text.split(","))
    for flag in flags:
        if flag not in FASTMATH_FLAGS:
            raise CommandError(f"--fastmath {flag}{suggestion(flag, FASTMATH_FLAGS)}")
    return flags


def _show_all(lowered: Lowered, target: Target, locs: bool) -> None:
    """Print as the passes run, so that a failing pass leaves what came before it on the screen."""
    history = History()
    show("# lower: the front end reads the Python source.", "header")
    before = print_function(lowered.function, locs)
    show(before, "ir")
    try:
        run_pipeline(lowered.function, PassContext(target, lowered.options.fastmath), history, check=True)
    finally:
        _show_changes(before, ((r.name, print_function(r.function, locs)) for r in history.records))


def _show_changes(before: str, after: Iterable[tuple[str, str]], say: Callable[..., None] = show) -> None:
    sentences = dict(zip(pass_names(), (p.doc for p in PIPELINE), strict=True))
    for name, text in after:
        if text != before:
            say(f"\n# {name}: {sentences[name]}", "header")
            say(text, "ir")
        before = text

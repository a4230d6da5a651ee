"""pytocu dump: print a function as the compiler sees it, after any pass, or as generated code.

Needs no GPU.  Argument types are written as in ``Lowered``: ``f32[n, 3]``, ``bool[n]``, ``weak float``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from pytocu.backend import nvrtc
from pytocu.cli.arguments import add_options, arguments, prepared
from pytocu.cli.terminal import CommandError, nearest, show, suggestion
from pytocu.driver import Lowered
from pytocu.errors import BackendError
from pytocu.ir.printer import print_function
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
    "resources": ("", ("cuda:sm_90",)),
}
"""What can be printed: the backend that writes it, and its targets, the default first."""

FIRST = "lower"
"""The step before every pass: what the front end made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too")
    parser.add_argument("--args", default="", metavar="TYPES", help='in order or by name: "f32[n, 3], dt=weak float"')
    add_options(parser)
    stage = parser.add_mutually_exclusive_group()
    stage.add_argument("--after", metavar="PASS", help="the IR after this pass, see pytocu passes; lower comes first")
    stage.add_argument("--all", action="store_true", help="the IR after every pass that changed it")
    said = "IR (default), CUDA C, NVVM IR, LLVM IR, assembly, or the registers and spills of the kernels"
    parser.add_argument("--emit", default="ir", metavar="|".join(EMIT), help=said)
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
        case "resources":
            compiled = lowered.compile(target)
            for kernel, taken in zip(compiled.kernels, compiled.resources, strict=True):
                show(f"{kernel.name}: {taken}", "ir")
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
    function, bound = prepared(options.function, options.static, options.fastmath)
    args, kwargs = arguments(function, bound, options.args)
    return function.lower(*args, **kwargs)


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

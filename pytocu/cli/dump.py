"""pytocu dump: print a function as the compiler sees it, after any pass, or as generated code.

Needs no GPU.  Argument types are written as in ``Lowered``: ``f32[n, 3]``, ``bool[n]``, ``weak float``.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytocu.backend import nvrtc
from pytocu.cli.arguments import TYPES, TYPES_HELP, add_options, arguments, fastmath_of, prepared
from pytocu.cli.ir_file import is_ir, read_ir
from pytocu.cli.terminal import CommandError, debugging, nearest, show, suggestion
from pytocu.config import BACKENDS, Options
from pytocu.errors import BackendError, PytocuError
from pytocu.explain.stages import (
    EMIT,
    NoKernelError,
    Stage,
    Subject,
    code_text,
    compiled,
    difference,
    kernels_of,
    next_in_words,
    no_kernel,
    passes_behind,
    stage_text,
    stages,
    subject_of,
    subject_of_text,
)
from pytocu.ir.places import place_of
from pytocu.passes.context import Target, parse_target
from pytocu.passes.pipeline import pass_names
from pytocu.runtime.plan_json import plan_to_json

EPILOG = """\
examples:
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]"
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]" --after infer-types --locs
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]" --changed
  pytocu dump mask.py:mask_out --args "f32[n, 3], bool[n]" --emit cuda
  pytocu dump mask.py:Masks.out --args "f32[n, 3], bool[n]" --emit asm
  pytocu dump waves.py:step --args "f64[n, m], dt=weak float" --static "order=2" --all
  pytocu dump step.ir --start fuse --after schedule

A .ir file holds one function as this command prints it.  The passes begin with the first one whose work the
text does not show, or with --start.

"""
EPILOG += TYPES + """
What a running program compiles is written to a folder by PYTOCU_DUMP=DIR, and said by PYTOCU_LOG=compile.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "function", metavar="FILE.py:FUNCTION", help="a function, jitted or not; Class.method too; or IR as text, FILE.ir"
    )
    parser.add_argument("--args", default="", metavar="TYPES", help=TYPES_HELP)
    add_options(parser)
    stage = parser.add_mutually_exclusive_group()
    stage.add_argument("--after", metavar="PASS", help="the IR after this pass, see pytocu passes; lower comes first")
    stage.add_argument("--all", action="store_true", help="the IR after every pass that changed it")
    parser.add_argument("--changed", action="store_true", help="what every pass changed, as differences")
    parser.add_argument("--start", metavar="PASS", help="the first pass to run on a .ir file")
    parser.add_argument("--kernel", metavar="NAME", help="this kernel alone")
    said = "IR (default), the plan, CUDA C, NVVM IR, PTX, LLVM IR, assembly, or the registers and spills of the kernels"
    parser.add_argument("--emit", default="ir", metavar="|".join(EMIT), help=said)
    parser.add_argument("--target", metavar="TARGET", help="cpu, cuda or cuda:sm_90 (the default)")
    parser.add_argument("--backend", metavar="BACKEND", help="nvvm (the default) or cuda_c for CUDA, llvm for the CPU")
    parser.add_argument("--index-bits", type=int, choices=(32, 64), default=32, help="of positions in arrays; 32 by default")
    parser.add_argument("--locs", action="store_true", help="the source place of every instruction of the IR")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(options: argparse.Namespace) -> None:
    """Print what was asked for."""
    if not is_ir(options.function):
        _run(options)
        return
    try:
        _run(options)
    except (CommandError, BackendError, OSError):
        raise
    except Exception as error:
        # The verifier knows the rules of the IR, and not all that a pass expects of what came before it.
        said = str(error)
        if not isinstance(error, PytocuError):
            place = place_of(error)
            said = f"{f'{place}: ' if place else ''}{type(error).__name__}: {error}"
        if debugging():
            raise
        raise CommandError(f"{options.function} holds IR that cannot be compiled: {said}") from None


def _run(options: argparse.Namespace) -> None:
    for name in ("after", "start", "kernel", "target", "backend", "emit"):
        if getattr(options, name) == "":
            raise CommandError(f"--{name} is empty")
    if options.emit not in EMIT:
        raise CommandError(f"--emit {options.emit}{suggestion(options.emit, EMIT)}")
    if options.emit != "ir" and (options.after or options.all or options.changed or options.locs):
        raise CommandError("--after, --all, --changed and --locs are for --emit ir")
    if options.changed and options.after:
        raise CommandError("--changed shows what every pass changed: leave out --after")
    if options.start and not is_ir(options.function):
        raise CommandError("--start is for IR from a file: a Python function begins with lower")
    first = "text" if is_ir(options.function) else "lower"
    if first == "text" and "lower" in (options.after, options.start):
        raise CommandError("lower reads a Python function, and the IR of a file is behind it: begin with any other pass")
    for name, names in ((options.after, (first, *pass_names())), (options.start, pass_names())):
        if name and name not in names:
            raise CommandError(f"there is no pass {name!r}{suggestion(name, names)}")
    wanted, targets = EMIT[options.emit]
    subject = _subject(options)
    stated = _stated(subject)
    target = target_of(options.target or stated, options.emit, targets)
    if stated and target.kind != stated.partition(":")[0]:
        raise CommandError(f"{options.function} is scheduled for {stated.partition(':')[0]}, and not for {target.kind}")
    backend = _backend(options, target, wanted)
    kernel = options.kernel or ""
    if options.emit == "ir":
        shown = _shown(subject, target, options)
        if options.json:
            _print_json(subject, target, shown, options)
        else:
            _print(shown, options)
        return
    try:
        made = compiled(subject, target, backend, options.index_bits, kernel)
    except NoKernelError as error:
        raise CommandError(str(error)) from None
    if options.json:
        known = {"function": subject.name, "target": str(target), "backend": made.backend, "emit": options.emit}
        show(json.dumps(known | _code_json(made, options.emit), indent=1))
        return
    kinds = {"nvvm": "llvm", "resources": "ir"}
    show(code_text(made, options.emit), kinds.get(options.emit) or options.emit)


def _subject(options: argparse.Namespace) -> Subject:
    if not is_ir(options.function):
        function, bound = prepared(options.function, options.static, options.fastmath)
        args, kwargs = arguments(function, bound, options.args)
        return subject_of(function.lower(*args, **kwargs))
    if options.args or options.static:
        raise CommandError("--args and --static are for Python functions: the IR of a file states its types")
    flags = fastmath_of(options.fastmath)
    try:
        return subject_of_text(read_ir(options.function), options.start, Options(fastmath=flags or ()))
    except CommandError:
        raise
    except PytocuError as error:
        raise CommandError(f"{options.function}: {error}") from None


def _stated(subject: Subject) -> str | None:
    """The target that scheduled IR is for."""
    kind = subject.function.fact("target")
    return {None: None, "cpu": "cpu", "cuda": "cuda:sm_90"}[kind]


def target_of(text: str | None, emit: str, allowed: Sequence[str]) -> Target:
    """The target of an option, by default the first of those that are allowed; ``cuda`` asks for no GPU.

    Raises
    ------
    CommandError
        There is no such target or architecture.
    """
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


def _backend(options: argparse.Namespace, target: Target, wanted: str) -> str | None:
    asked = options.backend
    if asked is None:
        return wanted or None
    known = BACKENDS[target.kind]
    if asked not in known:
        raise CommandError(f"there is no backend {asked!r} for {target.kind}{suggestion(asked, known)}")
    if wanted and asked != wanted:
        raise CommandError(f"--emit {options.emit} is the text of the backend {wanted}, not of {asked}")
    return asked


class _Shown:
    """A stage that is printed: its text, and the one before it."""

    def __init__(self, stage: Stage, text: str, before: tuple[str, str] | None):
        self.stage, self.text, self.before = stage, text, before


def _shown(subject: Subject, target: Target, options: argparse.Namespace) -> Iterator[_Shown]:
    """The stages that were asked for, one after the other, so that a failing pass leaves what came before it."""
    every = options.all or options.changed
    kernel = options.kernel or ""
    before: tuple[str, str] | None = None
    found: _Shown | None = None
    for stage in stages(subject, target, options.index_bits, options.after or ""):
        named = stage.names.get(kernel, kernel)
        if kernel and every and named not in kernels_of(stage.function):
            found = _Shown(stage, "", None)
            continue
        if not every:
            found = _Shown(stage, "", before)
            continue
        text = stage_text(stage.function, named, options.locs)
        found = _Shown(stage, text, before)
        if before is None or text != before[1]:
            yield found
            before = (stage.name, text)
    assert found is not None
    if not every:
        if options.after and found.stage.name != options.after:
            behind = options.after in passes_behind(subject.function)
            then = next_in_words(subject.function) if behind else f"--start {options.after} begins with it"
            raise CommandError(f"{options.function} is behind the pass {options.after} already: {then}")
        found.text = _named_kernel(found.stage, kernel, options.locs)
        yield found
    elif before is None:
        raise CommandError(no_kernel(kernel, list(kernels_of(found.stage.function))))


def _named_kernel(stage: Stage, kernel: str, locs: bool) -> str:
    try:
        return stage_text(stage.function, stage.names.get(kernel, kernel), locs)
    except PytocuError as error:
        raise CommandError(str(error)) from None


def _print(shown: Iterable[_Shown], options: argparse.Namespace) -> None:
    for number, one in enumerate(shown):
        if options.all or options.changed:
            gap = "\n" if number else ""
            show(f"{gap}# {one.stage.name}: {one.stage.sentence}", "header")
        if options.changed and one.before:
            show(difference(one.before[1], one.text, (one.before[0], one.stage.name)), "diff")
        else:
            show(one.text, "ir")


_PLACE = re.compile(r"  # (\S+:\d+:\d+)$")


def _print_json(subject: Subject, target: Target, shown: Iterable[_Shown], options: argparse.Namespace) -> None:
    found: list[dict[str, Any]] = []
    for one in shown:
        kernel = one.stage.names.get(options.kernel, options.kernel or "")
        located = stage_text(one.stage.function, kernel, locs=True)
        places = [match[1] if (match := _PLACE.search(line)) else None for line in located.splitlines()]
        entry = {"pass": one.stage.name, "sentence": one.stage.sentence, "milliseconds": round(one.stage.milliseconds, 3)}
        entry |= {"text": one.text, "places": places}
        if options.changed and one.before:
            entry["difference"] = difference(one.before[1], one.text, (one.before[0], one.stage.name))
        found.append(entry)
    show(json.dumps({"function": subject.name, "target": str(target), "emit": "ir", "stages": found}, indent=1))


def _code_json(made: Any, emit: str) -> dict[str, Any]:
    match emit:
        case "plan":
            return {"plan": json.loads(plan_to_json(made.plan))}
        case "resources":
            rows = dict(zip(made.kernel_names, made.resources, strict=True))
            return {"kernels": [{"name": name, **taken._asdict()} for name, taken in rows.items()]}
        case _:
            return {"text": code_text(made, emit)}

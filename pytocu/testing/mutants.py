"""Broken kernels that the thread-level interpreter must report: what it cannot see it does not check.

``python -m pytocu.testing.mutants`` takes kernels of every schedule of a GPU, deletes each barrier and breaks each guard of
them, one at a time, and interprets the kernels thread by thread. A mutant is found where a thread touches memory outside
of an array, or what nobody wrote, where threads race or wait for ever, or where a result differs. Those that are
not found are printed; the ones that `EQUIVALENT` explains do nothing wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent import futures
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from pytocu.errors import CompileError, InternalError
from pytocu.ir import interp
from pytocu.ir.core import OPS, Block, Function, Inst, Value, walk
from pytocu.ir.interp_launch import text_of
from pytocu.ir.types import BOOL, IndexType, scalar
from pytocu.jitted import jit
from pytocu.passes import schedule
from pytocu.testing import figures
from pytocu.testing.mutant_kernels import KERNELS, Kernel
from pytocu.testing.options import count, file


class Mutant(NamedTuple):
    """A change of one instruction of a kernel."""

    kernel: str
    launch: str
    kind: str
    number: int
    text: str


class Equivalent(NamedTuple):
    """Mutants that change nothing: of which kernels, their kind and instruction, and why."""

    kernels: tuple[str, ...]
    kind: str
    text: str
    reason: str


_ROWS = ("rows of a warp", "rows of vectors", "rows in registers", "long rows", "columns", "short columns", "full", "positions",
         "scans of rows", "long scans", "scans of columns", "short rows at once")  # fmt: skip
_AT_ONCE = ("rows at once", "short rows at once")

_BEHIND = "in the loop behind the last row or share there is nothing, which is compared again inside"
_TWICE = "a row that does not exist has no elements, and begins at the first row: either is enough"
_SINGLE = "what the loop of whole groups leaves is computed element by element"
_OWN = "the plan's own memory is aligned"
_ONE = "there is one row, so nobody reads what another row left"
_LESS = "the bound is never above the length that it is compared with here, and a negative one has no whole groups"

EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent(("vectors", "short rows", "in place", "gather", "histogram"), "where second", r"%(_|vectors) = where %_, %_, %_",
               _SINGLE),
    Equivalent(("strides",), "where second", r"%vectors = where %_, %_, %_", _SINGLE),
    Equivalent(("strides", "in place"), "where first", r"%_ = where %_, %_, %length0", _LESS),
    Equivalent(("strides", "in place"), "where first", r"%_ = where %_, %_, %_", _SINGLE),
    Equivalent(("strides",), "where second", r"%_ = where %_, %_, %_", _LESS),
    Equivalent(("stencil", "insert"), "one more", r'for %_, %\w+, %_ \{over = "grid_rows"\}', _BEHIND),
    Equivalent(("insert", "insert in a vector"), "if never", r"(%_ = )?if %_", _SINGLE),
    Equivalent(("transposes",), "one more", r'for %_, %_, %_ \{over = "serial"\}', _BEHIND),
    Equivalent(("transposes",), "if never", r"if %_", "whole tiles are a special case of those at the edge"),
    Equivalent(_ROWS, "one more", r'(%_(, %_)* = )?for (%_|%first), [^{]*\{over = "serial"\}', _BEHIND),
    Equivalent(("rows of hundreds of threads",), "one more", r'%_ = for %thread, [^{]*\{over = "serial"\}', _BEHIND),
    Equivalent(_ROWS, "where first", r"%(row_1|end) = where %_, %\w+, %_", _TWICE),
    Equivalent(("rows in registers", "rows of pairs", "rows in a block's registers"), "fit", r"store %out, .*",
               "memory of results is aligned; where it is given, see rows into an array"),
    Equivalent(_AT_ONCE, "if never", r"%_(, %_)* = if %fit", "what single elements are loaded for is right wherever they lie"),
    Equivalent(_AT_ONCE, "room", r"%y_share(_1)? = load .*", "the loop ends before a group that does not exist"),
    Equivalent(_AT_ONCE, "fit", r"%y_share = load .*", "this loop is for groups that fit"),
    Equivalent(("compaction", "histogram"), "one more", r'(%_, %_ = )?for %_, [^{]*\{over = "serial"\}', _BEHIND),
    Equivalent(("compaction", "histogram"), "barrier", "barrier", _ONE),
    Equivalent(("histogram",), "if never", r"if %_", "the library call that counts refuses negative numbers, too"),
    Equivalent(("compaction", "histogram"), "where first", r"%_ = where %exists(_1)?, %_, %_",
               "what does not exist is loaded as 0"),
    Equivalent(("compaction",), "where first", r"%_ = where %_, %_, %_", "a search finds positions that exist"),
    Equivalent(("compaction in blocks",), "one more", r'(%_ = )?for %(_|first), [^{]*\{over = "serial"\}', _BEHIND),
    Equivalent(("compaction in blocks",), "barrier", "barrier", _ONE),
    Equivalent(("compaction in blocks",), "aligned", r"%fit = aligned %a0, %out .*", _OWN),
    Equivalent(("compaction in blocks",), "fit", r"(%a0_share = load|store %out,) .*", _OWN),
    Equivalent(("compaction in blocks",), "where second", r"%_ = where %_, %_, %room", "both loads give the same bools"),
    Equivalent(("compaction in blocks",), "where first", r"%_ = where %_, %_, %_", "positions of a mask exist"),
    Equivalent(("histogram",), "aligned", r"%_ = aligned (%a0, %out0, %out1|%out) .*", _OWN),
    Equivalent(("histogram",), "where first", r"%(_|vectors) = where %_, %_, %_", _OWN),
    Equivalent(("histogram",), "where first", r"%_ = where %_, (%_, %low_5|%high_5, %_)",
               "the last place alone is left by the vectors, and ends where all end"),
    Equivalent(("full",), "fit", r".*align = 4, .*width = 1\}", "single elements fit everywhere"),
)  # fmt: skip
"""What nobody can find."""

LIMIT = 1000
"""Iterations after which a search counts as endless."""


def sites(function: Function) -> Iterator[tuple[Inst, Inst, str]]:
    """Every launch, instruction of it, and way to break it."""
    for launch in walk(function.body):
        if launch.op.name != "launch":
            continue
        positions = _positions(launch.regions[0])
        for inst in walk(launch.regions[0]):
            for kind in _kinds(inst, inst in positions):
                yield launch, inst, kind


def _positions(region: Block) -> set[Inst]:
    """Choices between integers of the data that become positions in memory."""
    stack = [i.args[0].inst for i in walk(region) if i.op.name == "convert_raw" and isinstance(i.types[0], IndexType)]
    found: set[Inst] = set()
    while stack:
        inst = stack.pop()
        if inst is not None and inst not in found and inst.op.name == "where":
            found.add(inst)
            stack.extend(arg.inst for arg in inst.args[1:])
    return found


def _kinds(inst: Inst, position: bool) -> Sequence[str]:
    match inst.op.name:
        case "barrier":
            return ("barrier",)
        case "if":
            return ("if always", "if never")
        case "for":
            return ("one more",)
        case "load" | "store" if inst.attr("width") is not None:
            return ("room", "fit")
        case "where" if isinstance(inst.types[0], IndexType) or position:
            return ("where first", "where second")
        case "aligned":
            return ("aligned",)
    return ()


def broken(function: Function, wanted: Inst, kind: str) -> Function:
    """The function with one instruction broken."""
    return Function(function.name, function.level, _broken(function.body, wanted, kind), function.facts)


def _broken(block: Block, wanted: Inst, kind: str) -> Block:
    insts: list[Inst] = []
    changed = False
    for inst in block.insts:
        if inst is wanted:
            insts.extend(_instead(inst, kind))
            changed = True
            continue
        regions = tuple(_broken(region, wanted, kind) for region in inst.regions)
        if any(a is not b for a, b in zip(regions, inst.regions, strict=True)):
            inst, changed = _again(inst, inst.args, regions), True
        insts.append(inst)
    return Block(block.params, tuple(insts)) if changed else block


def _again(inst: Inst, args: Sequence[Value], regions: Sequence[Block]) -> Inst:
    """The instruction on other arguments; what uses its results goes on doing so."""
    made = Inst(inst.op, tuple(args), inst.attrs, inst.types, tuple(regions), inst.loc)
    object.__setattr__(made, "results", inst.results)
    return made


def _instead(inst: Inst, kind: str) -> list[Inst]:
    """What stands for the instruction in a mutant."""
    args = list(inst.args)

    def const(value: Any, type: Any) -> Inst:
        return Inst(OPS["const"], (), (("value", value),), (type,), (), inst.loc)

    def more(value: Value, by: Value) -> Inst:
        return Inst(OPS["add"], (value, by), (), (value.type,), (), inst.loc)

    match kind:
        case "barrier":
            return []
        case "if always" | "if never" | "where first" | "where second":
            made = const(kind in ("if always", "where first"), scalar(BOOL))
            return [made, _again(inst, (made.result, *args[1:]), inst.regions)]
        case "one more":
            made = more(args[1], args[2])
            return [made, _again(inst, (args[0], made.result, *args[2:]), inst.regions)]
        case "room":
            step = const(inst.attr("width"), args[-2].type)
            made = more(args[-2], step.result)
            return [step, made, _again(inst, (*args[:-2], made.result, args[-1]), inst.regions)]
        case "fit":
            made = const(True, scalar(BOOL))
            return [made, _again(inst, (*args[:-1], made.result), inst.regions)]
    made = const(True, scalar(BOOL))
    object.__setattr__(made, "results", inst.results)
    return [made]


def _run(function: Function, arguments: Sequence[Any]) -> tuple[list[Any], Any]:
    """The arguments behind a call, and the results, or what an error of the data says."""
    given = [_copy(a) for a in arguments]
    try:
        return given, interp.run(function, given, LIMIT)
    except CompileError as error:
        return given, str(error)


def _copy(value: Any) -> Any:
    """An array at an address of the same alignment."""
    if not isinstance(value, np.ndarray) or not value.size:
        return value
    shift = value.ctypes.data % 64 // value.itemsize if value.flags.c_contiguous else 0
    room = np.zeros(value.size + shift + 64, value.dtype)
    start = (-room.ctypes.data % 64) // value.itemsize + shift
    made = room[start : start + value.size].reshape(value.shape)
    if not value.flags.c_contiguous:
        made = value.copy("K")
    made[...] = value
    return made


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and a == b
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


class Prepared(NamedTuple):
    """A kernel of one class of sizes: its host function, the arguments, and what comes out."""

    kernel: Kernel
    function: Function
    cases: tuple[tuple[Sequence[Any], Any], ...]


def prepared(kernel: Kernel) -> Prepared:
    """Compile a kernel and interpret it as it is.

    Raises
    ------
    InternalError
        It is not in order without being broken.
    """
    arguments = [case() for case in kernel.cases]
    with mock.patch.object(schedule, "MANY_THREADS", kernel.many):
        function = jit(kernel.function).lower(*arguments[0]).host("cuda")
    return Prepared(kernel, function, tuple((given, _run(function, given)) for given in arguments))


def is_found(case: Prepared, inst: Inst, kind: str) -> str:
    """How the mutant is found out, or nothing."""
    function = broken(case.function, inst, kind)
    for arguments, expected in case.cases:
        try:
            found = _run(function, arguments)
        except InternalError as error:
            fault = getattr(error, "fault", None)
            return fault.kind if fault is not None else "unwritten"
        if not _same(found, expected):
            return "result"
    return ""


class Report(NamedTuple):
    """What became of the mutants of a kernel: how many were found in which way, and those that were not."""

    kernel: str
    found: dict[str, int]
    lost: list[Mutant]

    def lines(self) -> list[str]:
        """As they are printed."""
        shown = ", ".join(f"{count} {how or 'not found'}" for how, count in sorted(self.found.items(), reverse=True))
        head = f"{self.kernel}: {sum(self.found.values())} mutants: {shown}"
        return [head, *(f"    {m.launch} {m.number}: {m.kind}: {m.text}{explained(m)}" for m in self.lost)]


def examine(name: str, share: float = 1.0, seed: int = 0) -> Report:
    """Run mutants of a kernel.

    Parameters
    ----------
    name : str
        The kernel.
    share : float
        How many of the mutants, at random.
    seed : int
        Which.
    """
    pick = random.Random(f"{seed} {name}")
    case = prepared(next(kernel for kernel in KERNELS if kernel.name == name))
    report = Report(name, {}, [])
    for number, (launch, inst, kind) in enumerate(sites(case.function)):
        if pick.random() >= share:
            continue
        how = is_found(case, inst, kind)
        report.found[how] = report.found.get(how, 0) + 1
        if not how:
            report.lost.append(Mutant(name, str(launch.attr("name")), kind, number, _text(launch, inst)))
    return report


def _text(launch: Inst, inst: Inst) -> str:
    """The instruction without the numbers of values that have no name."""
    return re.sub(r"%\d+", "%_", text_of(launch.regions[0], inst))


def explained(mutant: Mutant) -> str:
    """Why nobody can find a mutant, where that is known."""
    for known in EQUIVALENT:
        if mutant.kernel in known.kernels and mutant.kind == known.kind and re.fullmatch(known.text, mutant.text):
            return f" ({known.reason})"
    return ""


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.mutants [--only NAME ...] [--share S] [--jobs N] [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.mutants", description=main.__doc__)
    names = [kernel.name for kernel in KERNELS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help="kernels by name")
    parser.add_argument("--share", type=float, default=1.0, help="of the mutants, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=count, default=1, help="processes")
    parser.add_argument("--write", type=file, help="replace the line of this check in the page")
    options = parser.parse_args(argv)
    reports: list[Report] = []
    with futures.ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        run = pool.map if options.jobs > 1 else map
        for report in run(partial(examine, share=options.share, seed=options.seed), options.only):
            reports.append(report)
            print("\n".join(report.lines()), flush=True)
    lost = [mutant for report in reports for mutant in report.lost]
    total, unexplained = sum(sum(r.found.values()) for r in reports), [m for m in lost if not explained(m)]
    print(f"{total} mutants, {len(lost)} not found, {len(lost) - len(unexplained)} of these equivalent")
    if options.write:
        covered = f"{total} mutants of {len(reports)} kernels, {len(lost) - len(unexplained)} of them equivalent"
        command = "python -m pytocu.testing.mutants"
        figures.write(options.write, figures.Row("broken kernels", covered, len(unexplained), command))
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())

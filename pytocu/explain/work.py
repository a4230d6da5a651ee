"""How often the instructions of a kernel are computed: elements, and steps of the loops around them.

In: a launch before its loops are written.  Out: counts as polynomials of the lengths, in which a loop whose number of steps
is not known stands with a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytocu.errors import Loc
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike, is_number, product, symbol, symbols
from pytocu.ir.types import shape_of

_STEPS = "steps_of_line_"
MANY = 1 << 20
"""Steps that a loop may have whose number is not known."""

LOOPS = ("for_loop", "while_loop")


def steps_of(loop: Inst) -> DimLike:
    """How many steps a loop has: a number, a length, or a name where only a run tells."""
    if loop.op.name == "for_loop":
        if loop.attr("numbers") is not None:
            return loop.attr("numbers")[1]
        first, last, step = (_number(v) for v in loop.args[:3])
        if first is not None and last is not None and step:
            return len(range(first, last, step))
    return symbol(f"{_STEPS}{loop.loc.line}")


def _number(value: Value) -> int | None:
    """The number that a bound of a loop is."""
    if value.inst is None or value.inst.op.name not in ("const", "dim"):
        return None
    number = value.inst.attr("value")
    return number if isinstance(number, int) else None


def is_count(name: str) -> bool:
    """Whether a name stands for the steps of a loop, or an int of run time, which no call knows before it runs."""
    return name.startswith(_STEPS) or is_number(name)


def counted(insts: Iterable[Inst], times: DimLike = 1, arrays: bool = False) -> Iterator[tuple[Inst, DimLike]]:
    """Each instruction with how many elements of it are computed, those in loops and maps too.

    Numbers of a step, which are the same for all elements of arrays beside them, count nothing.

    Parameters
    ----------
    times : int or Dim
        How often all of it is computed.
    arrays : bool
        Whether it is the body of a loop over arrays.
    """
    for inst in insts:
        type = inst.args[0].type if inst.op.kind in ("reduce", "scan") else inst.types[0] if inst.types else None
        shape = shape_of(type) if type is not None else ()
        if inst.op.kind != "region":
            if shape or not arrays:
                yield inst, product(shape) * times
            continue
        yield inst, product(shape) * times
        inside, over = times, arrays
        if inst.op.name == "map":
            inside = product(shape) * times
        elif inst.op.name in LOOPS:
            inside, over = times * steps_of(inst), arrays or any(shape_of(v.type) for v in inst.results)
        for region in inst.regions:
            yield from counted(region.insts, inside, over)


def unknown_loops(insts: Iterable[Inst]) -> tuple[Loc, ...]:
    """The loops inside whose number of steps only a run tells, in order."""
    loops = (i for i, _ in counted(insts) if i.op.name in LOOPS)
    return tuple(dict.fromkeys(i.loc for i in loops if any(is_count(name) for name in symbols(steps_of(i)))))

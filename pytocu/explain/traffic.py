"""Which bytes a launch moves: the elements of its arrays that its views show, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.errors import PytocuError
from pytocu.explain.model import Bytes
from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.dims import DimLike, evaluate, product
from pytocu.ir.types import ArrayType, Type, element, shape_of


def number_of(formula: DimLike, sizes: Mapping[str, int]) -> int | None:
    """The polynomial's value; None where a length is not known.

    Examples
    --------
    >>> from pytocu.ir.dims import symbol
    >>> number_of(symbol("n") * 4, {"n": 3}), number_of(symbol("n") * 4, {})
    (12, None)
    """
    try:
        return evaluate(formula, sizes)
    except KeyError:
        return None


def bytes_of(type: Type, sizes: Mapping[str, int]) -> Bytes:
    """All of an array."""
    formula = product((*shape_of(type), element(type).itemsize))
    return Bytes(formula, number_of(formula, sizes))


def added(parts: Sequence[Bytes]) -> Bytes:
    """Amounts together."""
    formula: DimLike = 0
    for part in parts:
        formula = formula + part.formula
    numbers = [p.number for p in parts]
    number = None if None in numbers else sum(n for n in numbers if n is not None)
    return Bytes(formula, number, any(p.most for p in parts))


def bytes_read(region: Block, param: Value, sizes: Mapping[str, int]) -> Bytes:
    """What a region reads of an array: all that its views of it show.

    Where several views may show the same elements, or elements are read by number, it is the most that can be.
    """
    whole = bytes_of(param.type, sizes)
    size = element(param.type).itemsize
    shown: dict[DimLike, None] = {}
    by_number = False
    uses = _uses(region)
    stack = [param]
    count = 0
    while stack:
        value = stack.pop()
        for inst in uses.get(value, ()):
            if inst.op.kind == "view" and isinstance(inst.types[0], ArrayType) and not inst.op.repeats:
                stack.append(inst.results[0])
            elif inst.op.name == "gather" and inst.args[0] is value:
                by_number = True
                shown[product((*shape_of(inst.types[0]), size))] = None
                count += 1
            else:
                shown[product((*shape_of(value.type), size))] = None
                count += 1
    if not shown or (whole.formula in shown and not by_number):
        return whole
    if len(shown) == 1 and count == 1 and not by_number:
        (formula,) = shown
        return Bytes(formula, number_of(formula, sizes))
    numbers = [number_of(formula, sizes) for formula in shown]
    if whole.number is None and all(isinstance(formula, int) for formula in shown):
        # A few elements of an array of any length.
        together = sum(n for n in numbers if n is not None) * (1 if len(shown) == count else count)
        return Bytes(together, together, True)
    if whole.number is None or None in numbers:
        return Bytes(whole.formula, whole.number, True)
    together = sum(n for n in numbers if n is not None) * (1 if len(shown) == count else count)
    return Bytes(whole.formula, min(together, whole.number), True)


def _uses(region: Block) -> dict[Value, list[Inst]]:
    found: dict[Value, list[Inst]] = {}
    for inst in walk(region):
        for arg in inst.args:
            found.setdefault(arg, []).append(inst)
    return found


def memory_of(value: Value) -> Value:
    """The argument or allocation that a view of the plan is of."""
    while value.inst is not None and value.inst.op.kind == "view":
        value = value.inst.args[0]
    return value


def split_arguments(launch: Inst) -> tuple[list[tuple[Value, Value]], list[Value]]:
    """The inputs of a launch with their parameters, and its outputs.

    Parameters
    ----------
    launch : Inst
        Before its loops are lowered, so that its region has no parameters for outputs.
    """
    params = launch.regions[0].params
    outputs = launch.attr("outputs", 0)
    if len(params) + outputs != len(launch.args):
        raise PytocuError(f"the launch {launch.attr('name')} has its loops already")
    return list(zip(launch.args, params, strict=False)), list(launch.args[len(params) :])

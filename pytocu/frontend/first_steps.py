"""Python numbers that loops make NumPy scalars of: ``total = 0.0`` before a loop that adds sums of arrays.

In NumPy such a name holds a Python number in the first step alone.  From the start it is a NumPy scalar here, where that
computes the same: what it meets in a step has the scalar's dtype, to which Python's number adapts.  Behind the loop it is
required that there was a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytocu.frontend.frames import Unset
from pytocu.frontend.operators import binary
from pytocu.frontend.requirements import require
from pytocu.frontend.values import Context, as_strong, as_value, const_inst
from pytocu.ir import promote
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.regions import HEADS, carried_count, given, is_region, parameters
from pytocu.ir.rewrite import made_again
from pytocu.ir.types import BOOL, F64, WEAK_BOOL, WEAK_FLOAT, DType, ScalarType, Type, WeakType, element, scalar

_EXACT = ("add", "subtract", "multiply", "negative", "positive")
"""What Python's floats and float64 compute alike, beside Python's numbers too."""


def scalar_from_start(context: Context, first: Type, behind: Type) -> Type | None:
    """The type of a name from the start that is a Python number then and a NumPy scalar behind a step."""
    if context.elements is not None or not isinstance(first, WeakType) or not isinstance(behind, ScalarType):
        return None
    if first == WEAK_BOOL:
        return behind if behind.dtype is BOOL else None
    return behind if promote.result_dtype((promote.operand(first), behind.dtype)) is behind.dtype else None


class Begun(NamedTuple):
    """What a value may still be that is a NumPy scalar here: the Python number that a name begins as.

    Attributes
    ----------
    first : WeakType
        Its kind.
    known : int, float, bool or None
        Which number, where that is known now.
    origins : frozenset of Value
        Parameters of the loop that it comes from.
    """

    first: WeakType
    known: Any
    origins: frozenset[Value]


def follow(
    begun: Mapping[Value, Begun], insts: Sequence[Inst], yields: Mapping[Value, Value]
) -> tuple[set[Value], dict[Value, Begun]]:
    """Find where NumPy scalars from the start compute something else than the Python numbers that they stand for.

    Parameters
    ----------
    begun : mapping
        Parameters of a loop that begin as Python numbers.
    insts : sequence of Inst
        A step.
    yields : mapping
        By parameter: what it is in the next step.

    Returns
    -------
    set of Value
        The parameters for which a step computes something else.
    dict
        All values of a step that may be Python numbers.
    """
    bad: set[Value] = set()
    entering = dict(begun)
    while True:
        found = _follow(entering, insts, bad)
        joined = {p: _joined(b, found.get(yields.get(p, p))) for p, b in entering.items()}
        if joined == entering:
            return bad, found
        entering = joined


def _follow(begun: Mapping[Value, Begun], insts: Sequence[Inst], bad: set[Value]) -> dict[Value, Begun]:
    """All values of these instructions that may be Python numbers; parameters that must not be go to `bad`."""
    found = dict(begun)
    for inst in insts:
        own = [found[a] for a in inst.args if a in found]
        if not own or inst.op.name == "yield":
            continue
        if is_region(inst):
            found |= _follow_region(inst, found, bad)
            continue
        made = _computed(inst, found, own)
        if made is None:
            bad.update(*(b.origins for b in own))
        elif made.origins:
            found[inst.result] = made
    return found


def _follow_region(inst: Inst, found: Mapping[Value, Begun], bad: set[Value]) -> dict[Value, Begun]:
    bad.update(*(found[a].origins for a in inst.args[: HEADS[inst.op.name]] if a in found))
    results: dict[Value, Begun] = {}
    for region in inst.regions:
        outer = list(zip(parameters(inst, region), given(inst), strict=True))
        entering = {p: found[a] for p, a in outer if a in found}
        carried = [p for p, _ in outer[: carried_count(inst)]]
        while True:
            inside = _follow(entering, region.insts, bad)
            joined = dict(entering)
            for param, value in zip(carried, region.terminator.args, strict=False):
                if value in inside:
                    joined[param] = _joined(inside[value], joined.get(param))
            if joined == entering:
                break
            entering = joined
        # Of a loop inside it is what steps make: sums in loops in loops begin as Python's numbers.
        for result, value in zip(inst.results, region.terminator.args, strict=True):
            if value in inside:
                results[result] = _joined(inside[value], results.get(result))
    return results


def _joined(one: Begun, other: Begun | None) -> Begun:
    """What is one or the other."""
    if other is None or one == other:
        return one
    first = one.first if one.first == other.first else WEAK_FLOAT
    same = type(one.known) is type(other.known) and repr(one.known) == repr(other.known)
    return Begun(first, one.known if same else None, one.origins | other.origins)


def _computed(inst: Inst, found: Mapping[Value, Begun], own: Sequence[Begun]) -> Begun | None:
    """What an instruction makes of Python numbers: None where it is not what it makes of NumPy scalars.

    It has no origins where it is a NumPy scalar or array in any case.
    """
    if inst.op.kind != "elementwise" or inst.op.name == "power":
        return None
    dtype = element(next(a for a in inst.args if a in found).type)
    others = [a for a in inst.args if a not in found]
    if others and all(_meets(b.first, dtype, a.type) for a in others for b in own):
        return Begun(own[0].first, None, frozenset())
    if not all(isinstance(a.type, WeakType) for a in others):
        return None
    numbers = [found[a].known if a in found else _constant(a) for a in inst.args]
    known = None if None in numbers else _same_number(inst, dtype, numbers)
    if known is None and not (dtype is F64 and inst.op.name in _EXACT):
        return None
    kinds = {*(b.first for b in own), *(a.type for a in others)}
    first = own[0].first if len(kinds) == 1 and inst.op.name != "divide" else WEAK_FLOAT
    return Begun(first, known, frozenset().union(*(b.origins for b in own)))


def _constant(value: Value) -> Any:
    inst = const_inst(value)
    return None if inst is None else inst.attr("value")


def _same_number(inst: Inst, dtype: DType, numbers: Sequence[Any]) -> Any:
    """What Python computes, where the dtype computes the same; else None."""
    if inst.op.python is None:
        return None
    try:
        made = inst.op.python(*numbers)
    except ArithmeticError:
        return None
    with np.errstate(all="ignore"):
        number = getattr(np, inst.op.name)(*(dtype.numpy.type(n) for n in numbers))
    same = number.dtype == dtype.numpy and all(dtype.numpy.type(n) == n for n in numbers) and number == made
    return made if same else None


def _meets(first: WeakType, dtype: DType, other: Type) -> bool:
    """Whether Python's number and the scalar both are computed with in the scalar's dtype beside an operand."""
    if isinstance(other, WeakType):
        return False
    if first == WEAK_BOOL or element(other) is dtype:
        return element(other) is dtype
    return all(promote.result_dtype((o, element(other))) is dtype for o in (promote.operand(first), dtype))


def behind_steps(context: Context, op: str, head: Sequence[Value], going: Value | None, value: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop; see :func:`had_step` for the others."""
    condition = had_step(context, op, head, going)
    if condition is None:
        return value
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where the loop has no step and np.{dtype} where it has one"
    sentence = f"{kinds}: begin with np.{dtype}(...)"
    return require(context, value, as_strong(context, condition), "UnsupportedError", sentence)


def had_step(context: Context, op: str, head: Sequence[Value], going: Value | None) -> Value | None:
    """Whether a loop had a step, or None where it is known that it had one.

    Parameters
    ----------
    op : str
        ``for_loop`` or ``while_loop``.
    head : sequence of Value
        The range of a ``for_loop``.
    going : Value or None
        Of a ``while_loop``: whether there is a first step.
    """
    if op == "while_loop":
        assert going is not None
        inst = going.inst
        # A flag beside those on data is a NumPy bool.
        has_steps = inst.args[0] if inst is not None and inst.op.name == "convert" else going
    else:
        start, stop, step = head
        known = const_inst(step)
        if known is None:
            span = binary(context, "multiply", binary(context, "subtract", stop, start), step)
            has_steps = binary(context, "greater", span, 0)
        else:
            has_steps = binary(context, "greater" if known.attr("value") < 0 else "less", start, stop)
    condition = as_value(context, has_steps)
    fixed = const_inst(condition)
    return None if fixed is not None and fixed.attr("value") else condition


def is_scalar(builder: Builder, value: Value, found: Mapping[Value, Begun], flags: Mapping[Value, Value]) -> Value | None:
    """Whether a value of a step is a NumPy scalar and no Python number any more, or None where that is not followed.

    Parameters
    ----------
    builder : Builder
        Writes behind the instructions of the step.
    found : mapping
        The values that may be Python numbers.
    flags : mapping
        By parameter: whether it is a NumPy scalar when the step begins.
    """
    if value in flags:
        return flags[value]
    if value not in found:
        return builder.const(True, scalar(BOOL))
    inst = value.inst
    if inst is None:
        return None
    if inst.op.kind == "elementwise":
        known = [is_scalar(builder, a, found, flags) for a in inst.args if a in found]
        first, *others = known
        for other in others:
            first = None if first is None or other is None else builder.emit("bitwise_or", (first, other))
        return first
    if inst.op.name != "if_else":
        return None
    outer = [a for a in given(inst) if a in found]
    marks = [is_scalar(builder, a, found, flags) for a in outer]
    blocks: list[Block] = []
    for region in inst.regions:
        # Written again, for what the branches inside ask; what nobody reads is dropped.
        made = made_again(region, {})
        params = [Value(scalar(BOOL)) for _ in marks]
        inner = Builder(region.terminator.loc)
        inner.insts.extend(made.insts[:-1])
        inside = [p for p, a in zip(made.params, given(inst), strict=True) if a in found]
        entering = {p: found[a] for p, a in zip(inside, outer, strict=True)}
        result = made.terminator.args[value.index]
        mark = is_scalar(inner, result, _follow(entering, inner.insts, set()), dict(zip(inside, params, strict=True)))
        if mark is None:
            return None
        inner.inst("yield", (mark,))
        blocks.append(Block((*made.params, *params), inner.take()))
    args = (*inst.args[: HEADS["if_else"]], *given(inst))
    if any(mark is None for mark in marks):
        return None
    return builder.inst("if_else", (*args, *(m for m in marks if m is not None)), {}, (scalar(BOOL),), blocks).result


def once_scalar(context: Context, value: Value, flag: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop, where `flag` says that it is one no more."""
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where no step binds it and np.{dtype} where one does"
    return require(context, value, flag, "UnsupportedError", f"{kinds}: begin with np.{dtype}(...)")


def still_python(name: str, value: Value) -> Unset:
    """What a name holds behind a loop that may leave it the Python number that it was before."""
    dtype = element(value.type).numpy.name
    text = f"{name} may be a Python number behind the loop, or np.{dtype}, by what the loop's branches do"
    return Unset(text, f"begin with np.{dtype}(...)")


__all__ = ["Begun", "behind_steps", "follow", "had_step", "is_scalar", "once_scalar", "scalar_from_start", "still_python"]

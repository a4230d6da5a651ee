"""Algebra that keeps every bit: each rule states its equation.

Rules that NaN, infinity or signed zero would contradict are absent on purpose: ``x * 0``,
``x + 0.0`` and ``x - x`` stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, attr_key
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import WEAK_COMPLEX, ArrayType, element, shape_of
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Apply the rules once, in order of the program."""
    return rewrite(function, _rule)


def _known(value: Value) -> Any:
    inst = value.inst
    return inst.attr("value") if inst is not None and inst.op.name == "const" else None


def _is(value: Value, number: float) -> bool:
    """The value is this constant, -0.0 and 0.0 told apart."""
    known = _known(value)
    # (a + bi) * (1 + 0i) is not a + bi where a part is infinite.
    if known is None or isinstance(known, bool | complex):
        return False
    return attr_key(float(known)) == attr_key(float(number)) if abs(known) < 2 else False


def _rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    replacement = _replacement(inst, args)
    if replacement is not None and replacement.type == inst.types[0]:
        if _is_callers(replacement):
            if inst.op.name == "broadcast":
                # A view of its own, where nothing is repeated too.
                return (builder.emit("transpose", (replacement,), {"axes": tuple(range(len(shape_of(inst.types[0]))))}),)
            # The result is a new array even where its values are an argument's.
            return (builder.emit("copy", (replacement,), name=replacement.name),)
        return (replacement,)
    if inst.op.name == "transpose":
        return _transpose(builder, inst, args[0])
    if inst.op.name == "update":
        return _whole(builder, *args)
    return None


def _whole(builder: Builder, old: Value, target: Value, new: Value) -> Sequence[Value] | None:
    """update(x, transpose(x), e) = transpose back e: nothing of the old contents is left."""
    axes = tuple(range(len(shape_of(target.type))))
    while target is not old:
        inst = target.inst
        if inst is None or inst.op.name != "transpose":
            return None
        axes = tuple(inst.attr("axes")[a] for a in axes)
        target = inst.args[0]
    if new.inst is None or new.inst.op.kind != "elementwise":
        # The new contents are a value of their own: what they are copied from may change later.
        new = builder.emit("copy", (new,))
    back = tuple(axes.index(a) for a in range(len(axes)))
    if back != tuple(range(len(axes))):
        new = builder.emit("copy", (builder.emit("transpose", (new,), {"axes": back}),))
    return (new,)


def _is_callers(value: Value) -> bool:
    """An argument, or a view of one, which would be returned as such, or memory that is changed."""
    while value.inst is not None and value.inst.op.kind == "view" and not value.inst.op.repeats:
        value = value.inst.args[0]
    return (value.inst is None or value.inst.op.name in ("update", "memory")) and isinstance(value.type, ArrayType)


def _replacement(inst: Inst, args: tuple[Value, ...]) -> Value | None:
    if inst.types[:1] == (WEAK_COMPLEX,):
        # Python makes a number complex: (-0j) + (-0.0) is 0j, and (inf + 1j) * 1.0 has a NaN.
        return None
    match inst.op.name:
        case "multiply":
            # x * 1 = x
            if _is(args[1], 1):
                return args[0]
            if _is(args[0], 1):
                return args[1]
        case "divide":
            # x / 1 = x
            if _is(args[1], 1):
                return args[0]
        case "subtract":
            # x - (+0) = x, for -0.0 too
            if _is(args[1], 0):
                return args[0]
        case "add":
            # x + (-0.0) = x; integers have one zero
            for x, zero in (args, args[::-1]):
                integer = not isinstance(x.type, type(None)) and _integer(x)
                if _is(zero, -0.0) or (integer and _is(zero, 0)):
                    return x
        case "where":
            # where(True, a, b) = a; where(c, a, a) = a
            known = _known(args[0])
            if known is not None:
                return args[1] if known else args[2]
            if args[1] is args[2] and shape_of(args[1].type) == shape_of(inst.types[0]):
                return args[1]
        case "broadcast":
            if shape_of(args[0].type) == shape_of(inst.types[0]):
                return args[0]
    return None


def _integer(value: Value) -> bool:
    try:
        return element(value.type).is_integer
    except TypeError:
        return False


def _transpose(builder: Builder, inst: Inst, source: Value) -> Sequence[Value] | None:
    """Two transposes are one; the identity order stays a view of its own where it is returned."""
    inner = source.inst
    if inner is None or inner.op.name != "transpose":
        return None
    axes, first = inst.attr("axes"), inner.attr("axes")
    return (builder.emit("transpose", inner.args, {"axes": tuple(first[a] for a in axes)}),)

"""Selections of a zero, as compilers keep its sign.

Beside a conversion of floats, the conversion stands behind the selection:

    where(c, 0.0, convert(x)) = convert(where(c, 0.0, x))

which is exact, since a zero keeps its sign.  LLVM makes the same of it where `c` compares `x` with zero, but with the
comparison of a minimum or maximum, which takes the other zero: ``where(x > 0, 0.0, convert(x))`` would be 0 and not -0
where x is -0.  The compilers of NVIDIA, which are made of LLVM, do so too.  LLVM may find out later that what is selected
is such a conversion (``-(-convert(x))``, ``copysign(convert(x), x)``).  So numbers of another dtype than that of the zero
are compared with the number next to zero, with t the smallest subnormal one:

    x > 0 = x >= t        x >= 0 = x > -t        x < 0 = x <= -t        x <= 0 = x < t

Beside 1 or -1, NVIDIA's assembler writes float32 with an instruction that sets 0 or 1, for -0.0 too.  The sign is put
there afterwards, with v = where(c, 0.0, 1.0) and its bits as an unsigned integer:

    where(c, -0.0, 1.0) = v | (v - 1) & 2**31

A selection of `x` or a zero by a comparison of `x` with zero they write as the minimum or maximum of the two, whose
instructions, but for those of x86, take -0.0 for less than 0.0: ``where(x < 0, x, 0.0)`` would be -0.0 and not 0.0 where x
is -0.0.  They do so for branches and for what follows from several comparisons too.  So they are not shown that such a
comparison is with zero; a maximum of `x` and 0.0 they may write.

NVIDIA's compilers take the quotient of two numbers that are not below zero for one that is not, also where the divisor is
-0.0, as a square root may be: ``1 / np.sqrt(-0.0) < 0`` would be False.  So they are not shown what such a divisor is.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Sequence
from functools import partial

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F32, F64, U32, IndexType, ScalarType, VectorType, WeakType, element, scalar
from pytocu.passes.context import PassContext

_HIDDEN = {F32: "hidden_single", F64: "hidden_double"}

ORDERS = frozenset({"less", "less_equal", "greater", "greater_equal"})

_JOINED = frozenset({"bitwise_and", "bitwise_or"})

_OF_CONDITIONS = frozenset({"bitwise_xor", "equal", "not_equal", "where"})
"""Other rows through which a truth value follows from others."""


_NEXT = {"greater": ("greater_equal", 1), "greater_equal": ("greater", -1), "less": ("less_equal", -1),
         "less_equal": ("less", 1)}  # fmt: skip
"""The same comparison of x with the number next to 0, and the sign of that."""

_SMALLEST = {F32: 2.0**-149, F64: 2.0**-1074}


def run(function: Function, context: PassContext) -> Function:
    """Write selections of zeros so that their signs stay."""
    if converted := frozenset(_converted(function)):
        function = rewrite(function, partial(_beside, converted))
    if context.target.kind == "cuda":
        function = rewrite(function, _signed)
        function = rewrite(function, _divided)
    while (found := rewrite(function, _rule)) is not function:
        # A float16 is converted to a float64 in two steps.
        function = found
    selects = context.target.kind == "cpu" and platform.machine().lower() in ("x86_64", "amd64")
    if not selects and (compared := frozenset(_compared(function))):
        function = rewrite(function, partial(_hidden, compared))
    return function


def _is_zero(value: Value) -> bool:
    """Whether a value is a constant 0 of a dtype with two of them."""
    return _number(value) == 0


def _number(value: Value) -> float | None:
    """The number that a constant of such a dtype is."""
    inst = value.inst
    if inst is None or inst.op.name != "const" or isinstance(value.type, IndexType | WeakType):
        return None
    return inst.attr("value") if element(value.type) in _HIDDEN else None


def _compared(function: Function) -> Iterator[Inst]:
    """Comparisons with zero that select a zero as a minimum or maximum would not, or may do so."""
    for inst in walk(function.body):
        match inst.op.name:
            case "where":
                test, *arms = inst.args
                for zero, other, holds in ((*arms, False), (*arms[::-1], True)):
                    if _is_zero(zero):
                        yield from _orders(test, holds, zero, other)
            case "if" if any(map(_is_zero, given(inst))):
                yield from _orders(inst.args[0], None, None, None)


def _converted(function: Function) -> Iterator[Inst]:
    """Comparisons with zero by which a zero of another dtype is selected."""
    for inst in walk(function.body):
        if inst.op.name in ("where", "if"):
            dtypes = {element(v.type) for v in (inst.args[1:] if inst.op.name == "where" else given(inst)) if _is_zero(v)}
            for test in _orders(inst.args[0], None, None, None) if dtypes else ():
                if dtypes - {element(test.args[0].type)}:
                    yield test


def _beside(converted: frozenset[Inst], builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst not in converted:
        return None
    name, sign = _NEXT[inst.op.name]
    place = 1 if _is_zero(args[1]) else 0
    smallest = _SMALLEST[element(args[place].type)] * (sign if place else -sign)
    shown = [builder.const(smallest, a.type) if n == place else a for n, a in enumerate(args)]
    return builder.inst(name, shown, dict(inst.attrs), inst.types).results


def given(branch: Inst) -> Iterator[Value]:
    """What the sides of a branch give and store."""
    for block in branch.regions:
        for inst in walk(block):
            if inst.op.name in ("yield", "store"):
                yield from inst.args


def _orders(condition: Value, holds: bool | None, zero: Value | None, other: Value | None) -> Iterator[Inst]:
    """Comparisons with zero that a condition follows from, but for those of which a minimum or maximum gives the same.

    What is selected beside the zero is taken where the condition holds, or where it does not, or that is not known.
    """
    pending = [(condition, holds)]
    seen = set(pending)
    while pending:
        value, holds = pending.pop()
        inst = value.inst
        if inst is None:
            continue
        name = inst.op.name
        if name in ORDERS and any(map(_is_zero, inst.args)):
            # A minimum takes -0.0 and not 0.0, a maximum 0.0 and not -0.0.
            above = name.startswith("greater") == _is_zero(inst.args[1])
            taken = repr(_number(zero)) == "-0.0" if zero is not None else False
            if other is None or (
                _bare(other) in map(_bare, inst.args) and (holds is None or other not in inst.args or (above == holds) == taken)
            ):
                yield inst
        elif name == "invert" or name in _JOINED or name in _OF_CONDITIONS:
            passed = None if holds is None or name in _OF_CONDITIONS else holds != (name == "invert")
            more = [(a, passed) for a in inst.args if _is_truth(a)]
            pending += [entry for entry in more if entry not in seen]
            seen.update(more)


def _bare(value: Value) -> Value:
    """What a value is but for its sign, its dtype and added zeros."""
    while (inst := value.inst) is not None:
        if inst.op.name in ("add", "subtract") and any(map(_is_zero, inst.args)):
            value = inst.args[_is_zero(inst.args[0])]
        elif inst.op.name in ("negative", "convert_raw", "half_to_float"):
            value = inst.args[0]
        else:
            break
    return value


def _is_truth(value: Value) -> bool:
    return isinstance(value.type, ScalarType | VectorType) and element(value.type).kind == "b"


def _hidden(compared: frozenset[Inst], builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst not in compared:
        return None
    shown = [builder.emit(_HIDDEN[element(a.type)], (a,)) if _is_zero(a) else a for a in args]
    return builder.inst(inst.op, shown, dict(inst.attrs), inst.types).results


def _divided(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.name != "divide" or inst.types[0] not in (scalar(F32), scalar(F64)) or inst.attr("fastmath"):
        return None
    divisor = args[1].inst
    root = divisor is not None and divisor.op.name == "sqrt" and _may_be_negative_zero(divisor.args[0])
    # Of what has any sign they conclude nothing.
    if (root or repr(_number(args[1])) == "-0.0") and not _has_any_sign(args[0]):
        shown = builder.emit(_HIDDEN[element(args[1].type)], (args[1],))
        return builder.inst(inst.op, (args[0], shown), dict(inst.attrs), inst.types).results
    return None


def _has_any_sign(value: Value, depth: int = 3) -> bool:
    """Whether a compiler cannot know that a value is not negative."""
    inst = value.inst
    if inst is None or depth == 0:
        return inst is None
    if inst.op.name == "multiply":
        return inst.args[0] is not inst.args[1] and any(_has_any_sign(a, depth - 1) for a in inst.args)
    return inst.op.name in ("load", "subtract", "negative")


def _may_be_negative_zero(value: Value, depth: int = 3) -> bool:
    """Whether a value may be -0.0; squares are not, nor sums with them."""
    inst = value.inst
    if inst is None or depth == 0:
        return True
    match inst.op.name:
        case "const":
            return repr(_number(value)) == "-0.0"
        case "multiply":
            return inst.args[0] is not inst.args[1]
        case "add":
            return all(_may_be_negative_zero(a, depth - 1) for a in inst.args)
    return True


def _parts(inst: Inst, args: Sequence[Value]) -> tuple[Inst, float, int] | None:
    """The conversion, the zero, and which argument the zero is, of a selection between them."""
    if inst.op.name != "where" or not isinstance(inst.types[0], ScalarType | VectorType):
        return None
    if element(inst.types[0]).kind != "f":
        return None
    for number in (1, 2):
        zero, other = args[number].inst, args[3 - number].inst
        is_zero = zero is not None and zero.op.name == "const" and zero.attr("value") == 0
        if zero is not None and other is not None and is_zero and _of_floats(other):
            return other, zero.attr("value"), number
    return None


def _of_floats(inst: Inst) -> bool:
    # The 16 bits of a float16 are an unsigned integer here.
    return inst.op.name == "half_to_float" or (inst.op.name == "convert_raw" and element(inst.args[0].type).kind == "f")


def _rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    found = _parts(inst, args)
    if found is None:
        return None
    conversion, value, number = found
    source = conversion.args[0]
    if conversion.op.name == "half_to_float":
        value = 0x8000 if math.copysign(1.0, value) < 0 else 0
    zero = builder.const(value, source.type)
    arms = (zero, source) if number == 1 else (source, zero)
    selected = builder.emit("where", (args[0], *arms))
    return builder.inst(conversion.op, (selected,), dict(conversion.attrs), inst.types).results


def _signed(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.name != "where" or inst.types[0] != scalar(F32):
        return None
    values = [a.inst.attr("value") if a.inst is not None and a.inst.op.name == "const" else None for a in args[1:]]
    if not any(v == 0 and math.copysign(1.0, v) < 0 for v in values if v is not None) or not {1.0, -1.0} & {*values}:
        return None
    unsigned, sign = scalar(U32), builder.const(0x80000000, scalar(U32))
    arms = [builder.const(0.0, a.type) if v == 0 else a for a, v in zip(args[1:], values, strict=True)]
    bits = builder.emit("bitcast", (builder.emit("where", (args[0], *arms)),), {}, (unsigned,))
    below = builder.emit("subtract", (bits, builder.const(1, unsigned)))
    made = builder.emit("bitwise_or", (bits, builder.emit("bitwise_and", (below, sign))))
    return (builder.emit("bitcast", (made,), {}, inst.types),)

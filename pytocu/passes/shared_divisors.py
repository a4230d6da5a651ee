"""Exact float32 quotients of lanes that all divide by one number, without a division, on GPUs with many float64 units.

An assembler writes each division as arithmetic for ordinary numbers, a test, and a jump to other code for very large and small
ones.  That code takes as long to compile as a hundred instructions, and each division as ten.  Here the reciprocal is
computed once, as float64, and each quotient is a product, of which the last bits are cut:

    quotient = float32(cut(float64(a) * y)),      y = (1 / b) * (1 + d),      cut: the last three bits become 0

This is the nearest float32 for all `a` and `b`, with no test.  Of positive numbers, let x = a / b, p the product, and m a
float32 or the middle of two: x is rounded to the right one if what is left of p is below, at, or above each m as x is.  An m
has up to 25 digits, subnormal or not, and `b` has 24, so `a` and m * b are multiples of one power of two that is more than
m * b * 2**-49, and where they differ, |x - m| > m * 2**-49.  `d` is 2**-51, but for less than 2**-52 of rounding y.  The
product is rounded by up to 2**-53, and never past an m, which is a float64, so p < x * (1 + 2**-50).  Eight units in the
last place are at most m * 2**-49 where m and p have one exponent, and m is a multiple of them.  So

    x = m:   m <= p < m + 8 units, and m is what is left
    x > m:   p > m + m * 2**-49 >= m + 8 units, and more than m is left
    x < m:   p < m * (1 - 2**-49) * (1 + 2**-50) < m

Quotients too large for a float32 become infinities by the conversion, and those that are subnormal are rounded once, by it.  A
float64 that was a float32 has a reciprocal that is neither too large nor subnormal; those of zeros and infinities are
infinities and zeros, with which products are what quotients are.

The reciprocal of a constant is a constant, and a product with it is less than a division wherever it stands, in a loop without
lanes too.

GPUs with few float64 units, which are those for graphics, divide: they would wait for these.  So do lanes that round each
quotient and make an integer of it: with what makes float64 of float32 and back these are four conversions for each element,
and `np.clip(np.rint(x / s), -128, 127).astype(np.int8)` takes longer with products than with divisions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.rewrite import put_again, put_with
from pytocu.ir.types import F32, F64, INDEX, U64, element, scalar
from pytocu.passes.context import PassContext

LEAST = 4
"""Quotients, and roots, from which on what is computed once for all takes less than what is saved of each."""

ABOVE = 1 + 2.0**-51
"""What a reciprocal is wrong by, so that no product is below its quotient."""

CUT = 2**64 - 8
"""The bits of a product that are kept."""


def run(function: Function, context: PassContext) -> Function:
    """Write lanes that divide by one number with its reciprocal."""
    body = _block(function.body, {})
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


def _block(block: Block, values: dict[Value, Value], of_lanes: bool = False) -> Block:
    """Write a block again; `values` says what stands for values of before, and grows.  Divisions of lanes themselves stay."""
    builder, changed = Builder(), False
    for inst in block.insts:
        builder.loc = inst.loc
        if not of_lanes and _is_quotient(inst) and _is_constant(inst.args[1]):
            changed = True
            _put_product(builder, inst, _reciprocal(Real(Expander(builder), inst.args[1])), values)
            continue
        args = tuple(values.get(a, a) for a in inst.args)
        lanes = inst.op.name == "lanes"
        found = _found(inst) if lanes else {}
        if found:
            e = Expander(builder)
            by = dict.fromkeys(found.values())
            inverses = {divisor: _reciprocal(Real(e, values.get(divisor, divisor))) for divisor in by}
            made = {quotient: inverses[divisor] for quotient, divisor in found.items()}
            regions = (_multiplied(inst.regions[0], made, values),)
        else:
            regions = tuple(_block(region, values, lanes) for region in inst.regions)
        changed |= put_with(inst, builder, args, regions, values)
    return Block(block.params, builder.take()) if changed else block


def _converts(inst: Inst) -> bool:
    """Whether an instruction rounds a float, or makes an integer of one, or a float of an integer."""
    if inst.op.name != "convert_raw":
        return inst.op.name in ("rint", "floor", "ceil", "trunc")
    types = inst.args[0].type, inst.types[0]
    if INDEX in types:
        # A position becomes an integer.
        return False
    kinds = {element(type).kind for type in types}
    return len(kinds) == 2 and "f" in kinds


def _is_quotient(inst: Inst) -> bool:
    """Whether it is a division that a product with a reciprocal can stand for."""
    return inst.op.name == "divide" and inst.types[0] == scalar(F32) and not is_product(inst)


def _is_constant(divisor: Value) -> bool:
    """Whether it is a number with a reciprocal that is known."""
    number = divisor.inst.attr("value") if divisor.inst is not None and divisor.inst.op.name == "const" else 0.0
    return number != 0 and math.isfinite(number)


def _found(lanes: Inst) -> dict[Inst, Value]:
    """Divisions by what comes from outside, where they are many, and by what."""
    found = _outside(lanes)
    return {inst: divisor for inst, (divisor, _) in found.items()} if sum(n for _, n in found.values()) >= LEAST else {}


def _outside(lanes: Inst) -> dict[Inst, tuple[Value, int]]:
    """Divisions by what comes from outside, where they are not too many for what converts: by what, and how many each is."""
    (region,) = lanes.regions
    inside = {*region.params, *(r for inst in region.insts for r in inst.results)}
    count = lanes.attr("lanes")
    own: dict[Inst, tuple[Value, int]] = {}
    nested: dict[Inst, tuple[Value, int]] = {}
    for inst in region.insts:
        if _is_quotient(inst):
            divisor = inst.args[1]
            if divisor.inst is not None and divisor.inst.op.name == "hidden_single":
                # Of a product they take no sign for granted.
                divisor = divisor.inst.args[0]
            if divisor not in inside:
                own[inst] = divisor, count
        elif inst.op.name == "lanes":
            within = _outside(inst).items()
            nested.update({quotient: (by, n * count) for quotient, (by, n) in within if by not in inside})
    return (own if sum(map(_converts, region.insts)) < 2 * len(own) else {}) | nested


def _multiplied(region: Block, inverses: Mapping[Inst, Value], values: dict[Value, Value]) -> Block:
    """The region with products."""
    builder = Builder()
    for inst in region.insts:
        builder.loc = inst.loc
        if inst in inverses:
            _put_product(builder, inst, inverses[inst], values)
        elif inst.op.name == "lanes":
            args = tuple(values.get(a, a) for a in inst.args)
            put_with(inst, builder, args, (_multiplied(inst.regions[0], inverses, values),), values)
        else:
            put_again(builder, inst, values)
    return Block(region.params, builder.take())


def _put_product(builder: Builder, quotient: Inst, inverse: Value, values: dict[Value, Value]) -> None:
    """Write a division as a product."""
    numerator = quotient.args[0]
    made = _quotient(Real(Expander(builder), values.get(numerator, numerator)), inverse)
    made.name = quotient.result.name
    values[quotient.result] = made


def is_product(inst: Inst) -> bool:
    """Whether it is a division by a power of two, which compilers write as a product."""
    divisor = inst.args[-1].inst
    return divisor is not None and divisor.op.name == "const" and math.frexp(divisor.attr("value"))[0] in (0.5, -0.5)


def _reciprocal(divisor: Real) -> Value:
    """1 / divisor as a float64, a little larger: two steps of Newton's method, where it is not known."""
    if _is_constant(divisor.value):
        inst = divisor.value.inst
        assert inst is not None
        # A first call imports this where a divisor is known.
        from fractions import Fraction

        return divisor.e.builder.const(float(Fraction(ABOVE) / Fraction(inst.attr("value"))), scalar(F64))
    b = divisor.cast(F64)
    near = b.row("near_double_reciprocal")
    made = near.fma((-b).fma(near, 1.0), near)
    made = made.fma((-b).fma(made, ABOVE), made)
    # Of zeros and infinities the steps make NaN.
    return made.equals(made).choose(made, near).value


def _quotient(a: Real, inverse: Value) -> Value:
    product = (a.cast(F64) * Real(a.e, inverse)).bitcast(U64)
    return product.row("bitwise_and", CUT).bitcast(F64).cast(F32).value

"""Integers that are negated and then compared, as NVIDIA's assemblers write them.

The assemblers of CUDA 12.8 to 13.3 write a minimum or maximum of three int32 as one instruction for compute capability 9.0
and 10.0, make the negation of an operand a part of it, and forget that of the second operand: ``max(max(-x, -y), -z)`` was
``max(max(-x, y), -z)``.  So what a minimum or maximum takes of arithmetic, which may be or become a negation, goes through
an instruction that no assembler sees through.

They take the magnitude of an integer of 32 or 64 bits for a number that is not negative, also that of the smallest one,
which is itself: ``abs(x) < 0`` was False, and so was what follows from it, as the quotient of two integers that is rounded
down.  So they are not shown what a magnitude is, but where nothing but sums and products is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import I32, I64, IndexType, element, scalar
from pytocu.passes.context import PassContext
from pytocu.passes.zeros import ORDERS, given

_ARITHMETIC = frozenset({"negative", "subtract", "multiply", "add"})

_WORDS = (scalar(I32), scalar(I64))


def run(function: Function, context: PassContext) -> Function:
    """Hide what minima and maxima of int32 take of arithmetic, and magnitudes."""
    words = frozenset((*_words(function, context), *_magnitudes(function), *_signs(function)))
    return rewrite(function, partial(_hidden, words)) if words else function


def is_magnitude(inst: Inst) -> bool:
    """Whether an instruction chooses an integer of 32 or 64 bits or its negation."""
    if inst.op.name != "where" or inst.types[0] not in _WORDS:
        return False
    first, second = inst.args[1:]
    return any(
        made.inst is not None and _is_negation(made.inst) and made.inst.args[-1] is other
        for made, other in ((first, second), (second, first))
    )


def _is_negation(inst: Inst) -> bool:
    return inst.op.name == "negative" or (inst.op.name == "subtract" and _is_zero(inst.args[0]))


def _magnitudes(function: Function) -> Iterator[Inst]:
    """The negations of those magnitudes of which more is made than sums and products."""
    seen: set[Value] = set()
    _look(function.body, None, seen)
    for inst in walk(function.body):
        if is_magnitude(inst) and inst.result in seen:
            yield from (a.inst for a in inst.args[1:] if a.inst is not None and _is_negation(a.inst))


def _signs(function: Function) -> Iterator[Inst]:
    """The bits of the sign, of which a magnitude may be made: ``(x ^ s) - s`` and ``(x + s) ^ s``."""
    insts = list(walk(function.body))
    for dtype in {inst.types[0] for inst in insts if inst.op.name == "bitwise_xor" and inst.types[0] in _WORDS}:
        for inst in insts:
            if inst.op.name != "shift_right_raw" or inst.types[0] != dtype:
                continue
            count = inst.args[1].inst
            if count is not None and count.op.name == "const" and count.attr("value") == element(dtype).bits - 1:
                yield inst


def _look(block: Block, around: Inst | None, seen: set[Value]) -> None:
    """Add the values that are read, but for what is stored and for sums and products that are stored."""
    for inst in reversed(block.insts):
        for region in inst.regions:
            _look(region, inst, seen)
        if inst.op.name == "store":
            continue
        handed = inst.op.name == "yield" and around is not None and around.op.name == "lanes"
        made = around.results if handed and around is not None else inst.results
        if not (handed or inst.op.name in _ARITHMETIC) or not seen.isdisjoint(made):
            seen.update(inst.args)


def _words(function: Function, context: PassContext) -> Iterator[Inst]:
    """Arithmetic of 32 bits that a comparison takes by which one of its operands is chosen."""
    for inst in walk(function.body):
        if inst.op.name not in ("where", "if"):
            continue
        test = inst.args[0].inst
        if test is None or test.op.name not in ORDERS:
            continue
        chosen = set(inst.args[1:]) if inst.op.name == "where" else set(given(inst))
        if chosen & set(test.args):
            yield from (made for a in test.args if (made := _arithmetic(a, context)) is not None)


def _arithmetic(value: Value, context: PassContext) -> Inst | None:
    """What makes a value, if that may be a negation of 32 bits for the compilers."""
    inst = value.inst
    if inst is None:
        return None
    if isinstance(value.type, IndexType):
        # Positions are negated rarely, and compared everywhere.
        return inst if context.index_bits == 32 and _is_negation(inst) else None
    return inst if value.type == scalar(I32) and _is_arithmetic(inst) else None


def _is_arithmetic(inst: Inst) -> bool:
    # The conversion of a negation they write as the negation of a conversion.
    while inst.op.name in ("convert_raw", "bitcast"):
        source = inst.args[0]
        if source.inst is None or isinstance(source.type, IndexType) or element(source.type).kind not in "iu":
            return False
        inst = source.inst
    return inst.op.name in _ARITHMETIC


def _is_zero(value: Value) -> bool:
    return value.inst is not None and value.inst.op.name == "const" and value.inst.attr("value") == 0


def _hidden(words: frozenset[Inst], builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst not in words:
        return None
    made = builder.inst(inst.op, args, dict(inst.attrs), inst.types)
    row = "hidden_long" if made.result.type == scalar(I64) else "hidden_word"
    return builder.inst(row, made.results, {}, inst.types).results


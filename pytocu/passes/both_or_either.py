"""``p & q`` beside ``p | q``, as NVIDIA's assemblers write them.

The assemblers of CUDA 13.0 and 13.5 write both of the same two truth values as one instruction with two results.  Where more
truth values are alive than there are predicate registers, they compute the second result again and take the first of that
instruction, or give a register away that is still read: ``np.logical_or(a, b)`` was ``np.logical_and(a, b)``, and
``np.less_equal`` of other operands was another comparison.  So of such a pair one takes the first of its operands from a word
that no assembler sees through.

What is negated is followed to what it negates, since ``~(p | q)`` is ``~p & ~q``: with a set of literals for each instruction,

    p & q  is  {p, q}        p | q  is the opposite of  {~p, ~q}
    p < q  is  {~p, q}       p <= q  is the opposite of  {p, ~q}

a pair are two instructions of which one set holds the opposites of what the other holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import BOOL_SCALAR, I32, IndexType, element, scalar
from pytocu.passes.context import PassContext
from pytocu.passes.zeros import ORDERS

Literal = tuple[object, bool]
"""What is true or not, and whether it is negated."""

JOINS = frozenset({"bitwise_and", "bitwise_or", "where"})
"""Rows that join truth values; orders of truth values do so too."""

_TURNED = {"greater": "less", "greater_equal": "less_equal"}
"""The comparison with its operands exchanged."""

_NEGATED = {"not_equal": "equal", "less_equal": "greater"}
"""What a comparison is the opposite of; an order of floats is that of nothing, since NaN has none."""


def run(function: Function, context: PassContext) -> Function:
    """Hide an operand of one of each pair."""
    sets = [(inst, literals) for inst in _truths(function) if (literals := _literals(inst)) is not None]
    shown: set[frozenset[Literal]] = set()
    hidden: set[Inst] = set()
    for inst, literals in sets:
        opposites = frozenset((what, not negated) for what, negated in literals)
        if opposites in shown:
            hidden.add(inst)
        else:
            shown.add(literals)
    return rewrite(function, partial(_hidden, frozenset(hidden))) if hidden else function


def _truths(function: Function) -> Iterator[Inst]:
    """What kernels compute of truth values."""
    for launch in function.body.insts:
        for region in launch.regions if launch.op.name == "launch" else ():
            yield from filter(joins, walk(region))


def joins(inst: Inst) -> bool:
    """Whether an instruction makes a truth value of others."""
    if inst.op.name not in JOINS and inst.op.name not in ORDERS:
        return False
    return all(value.type == BOOL_SCALAR for value in (*inst.args, inst.result))


def _literals(inst: Inst) -> frozenset[Literal] | None:
    """The literals of a conjunction, or of the opposite of a disjunction; None for another choice."""
    match inst.op.name:
        case "bitwise_and":
            operands = [_literal(a) for a in inst.args]
        case "bitwise_or":
            operands = [_opposite(_literal(a)) for a in inst.args]
        case "less" | "greater_equal":
            operands = [_opposite(_literal(inst.args[0])), _literal(inst.args[1])]
        case "greater" | "less_equal":
            operands = [_literal(inst.args[0]), _opposite(_literal(inst.args[1]))]
        case _:
            test, chosen, other = inst.args
            if _known(other) is not None:
                # where(c, x, False) is c & x, and where(c, x, True) is ~c | x.
                operands = [_literal(test), _literal(chosen) if not _known(other) else _opposite(_literal(chosen))]
            elif _known(chosen) is not None:
                # where(c, False, x) is ~c & x, and where(c, True, x) is c | x.
                operands = [_opposite(_literal(test)), _literal(other) if not _known(chosen) else _opposite(_literal(other))]
            else:
                return None
    literals = frozenset(operands)
    return literals if len(literals) == 2 else None


def _opposite(literal: Literal) -> Literal:
    what, negated = literal
    return what, not negated


def _known(value: Value) -> bool | None:
    return value.inst.attr("value") if value.inst is not None and value.inst.op.name == "const" else None


def _literal(value: Value) -> Literal:
    """What a truth value is, or the opposite of."""
    negated = False
    while (inst := value.inst) is not None and inst.op.name in ("invert", "equal", "not_equal", "bitwise_xor"):
        known = [_known(a) for a in inst.args]
        if inst.op.name == "invert":
            value, negated = inst.args[0], not negated
        elif inst.args[0].type != BOOL_SCALAR or known.count(None) != 1:
            break
        else:
            # Equal to True, or not equal to False, is the value itself.
            negated ^= (True in known) == (inst.op.name != "equal")
            value = inst.args[known.index(None)]
    if inst is None:
        return value, negated
    name, operands = inst.op.name.removeprefix("half_"), inst.args
    if name in _TURNED:
        name, operands = _TURNED[name], operands[::-1]
    if name in _NEGATED and (name == "not_equal" or not _has_nan(inst)):
        name, negated = _NEGATED[name], not negated
        if name in _TURNED:
            name, operands = _TURNED[name], operands[::-1]
    if name in ("equal", "less", "less_equal"):
        return (name, frozenset(operands) if name == "equal" else operands), negated
    return value, negated


def _has_nan(comparison: Inst) -> bool:
    """Whether numbers are compared that may be NaN; a float16 is a word of 16 bits here."""
    compared = comparison.args[0].type
    return comparison.op.name.startswith("half_") or (not isinstance(compared, IndexType) and element(compared).kind == "f")


def _hidden(pairs: frozenset[Inst], builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst not in pairs:
        return None
    word = scalar(I32)
    seen = builder.emit("where", (args[0], builder.const(1, word), builder.const(0, word)))
    shown = builder.emit("not_equal", (builder.emit("hidden_word", (seen,)), builder.const(0, word)))
    return builder.inst(inst.op, (shown, *args[1:]), dict(inst.attrs), inst.types).results

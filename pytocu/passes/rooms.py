"""How many members lists have room for, which depends on the target.

In: array level; a number that is bound with one for a CPU is the length of memory that steps may fill, but need not, or says
whether a loop is written again with more memory.  Out: it is a number like any other, written where its name was.  On a CPU
memory has room for the most that there may be, since what nobody touches takes nothing there, and no loop is written again:
branches that such a number decides are gone, with the numbers that say which side is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.dims import DimLike, as_symbol, substitute
from pytocu.ir.rewrite import Rule, replay, rewrite, with_lengths
from pytocu.ir.types import WEAK_INT, ScalarType, WeakType, shape_of
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Write the numbers for their names."""
    mapping: dict[str, DimLike] = {}
    decisive: set[str] = set()
    for inst in walk(function.body):
        if inst.op.name == "bind" and inst.attr("on_cpu", None) is not None:
            (number,) = inst.args
            assert number.inst is not None
            names, on_cpu = inst.attr("names"), inst.attr("on_cpu")
            mapping |= dict.fromkeys(names, on_cpu if context.target.kind == "cpu" else number.inst.attr("value"))
            decisive.update(names if on_cpu == 0 else ())
    if decisive:
        function = rewrite(function, _decided(mapping, decisive))
    builder = Builder()
    with_lengths(builder, function.body.insts, mapping, {})
    made = Function(function.name, function.level, Block(function.params, builder.take()), function.facts)
    return rewrite(made, _whole) if decisive else made


def _whole(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    """Leave out a part that is all of an array: sides of a branch that is gone had arrays of other lengths."""
    if inst.op.name != "slice" or any(inst.attr("start")) or any(step != 1 for step in inst.attr("step")):
        return None
    return args if inst.attr("size") == shape_of(args[0].type) else None


def _decided(numbers: dict[str, DimLike], decisive: set[str]) -> Rule:
    """Write no condition on a name that decides, and no branch that it rules out; `numbers` gets what follows from that."""
    known: dict[Value, int] = {}

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        match inst.op.name:
            case "bitwise_and" if (name := _asked(inst.args[-1])) in decisive:
                if numbers[name]:
                    return args[:1]
                return [_number(builder, known, inst, 0)]
            case "python_int" | "cast" | "convert" | "as_array" | "keep" if args[0] in known:
                return [_number(builder, known, inst, known[args[0]])]
            case "dim":
                value = substitute(inst.attr("value"), numbers)
                return [_number(builder, known, inst, value)] if known and isinstance(value, int) else None
            case "bind" if args[0] in known and len(inst.attr("names")) == 1:
                numbers[inst.attr("names")[0]] = known[args[0]]
                return []
            case "read_length" if args[0] in known:
                numbers[inst.attr("name")] = known[args[0]]
                return []
            case "check" if known and inst.attr("kind") == "equal" and _alike(inst, numbers):
                return []
            case "if_else" if args[0] in known:
                return _side(builder, inst.regions[1], args[1:], rule)
        return None

    return rule


def _asked(value: Value) -> str:
    """The name that a condition compares with 0; empty for others."""
    inst = value.inst
    if inst is None or inst.op.name != "not_equal" or inst.args[0].inst is None or inst.args[0].inst.op.name != "dim":
        return ""
    return as_symbol(inst.args[0].inst.attr("value")) or ""


def _number(builder: Builder, known: dict[Value, int], inst: Inst, value: int) -> Value:
    type = inst.types[0]
    # In memory it is read as a length alone.
    scalar = isinstance(type, WeakType | ScalarType)
    made = builder.const(value, type if scalar else WEAK_INT)
    known[made] = value
    return made


def _alike(inst: Inst, numbers: Mapping[str, DimLike]) -> bool:
    first, *others = (substitute(dim, numbers) for dim in inst.attr("dims"))
    return isinstance(first, int) and all(first == other for other in others)


def _side(builder: Builder, side: Block, given: Sequence[Value], rule: Rule) -> Sequence[Value]:
    """Write what a side does where the branch stood."""
    values = dict(zip(side.params, given, strict=True))
    *insts, end = side.insts
    for inst in insts:
        replay(builder, inst, rule, values)
    return [values.get(a, a) for a in end.args]

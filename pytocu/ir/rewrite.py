"""Building a changed function from an unchangeable one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value

Rule = Callable[[Builder, Inst, tuple[Value, ...]], "Sequence[Value] | None"]
"""``rule(builder, inst, new_args)`` writes a replacement and returns its results, or None."""


def rewrite(function: Function, rule: Rule) -> Function:
    """Replay the function, letting `rule` replace instructions.

    Instructions whose arguments did not change and for which the rule returns None are
    kept as they are, and so is the whole function when nothing changed.
    """
    body = rewrite_block(function.body, rule, {})
    if body is function.body:
        return function
    return Function(function.name, function.level, body, function.facts)


def rewrite_block(block: Block, rule: Rule, values: dict[Value, Value]) -> Block:
    """Replay a block; `values` maps old values to new ones and grows."""
    builder = Builder()
    changed = False
    for inst in block.insts:
        changed |= replay(builder, inst, rule, values)
    return Block(block.params, builder.take()) if changed else block


def replay(builder: Builder, inst: Inst, rule: Rule, values: dict[Value, Value]) -> bool:
    """Write one instruction again, or what the rule makes of it; True when something changed."""
    builder.loc = inst.loc
    args = tuple([values.get(a, a) for a in inst.args]) if values else inst.args
    new = rule(builder, inst, args)
    if new is not None:
        for old, value in zip(inst.results, new, strict=True):
            if not value.name and value.inst is not None:
                value.name = old.name
            values[old] = value
        return True
    if not inst.regions and args == inst.args:
        # Most instructions, in most passes.
        builder.insts.append(inst)
        return False
    regions = tuple([rewrite_block(r, rule, values) for r in inst.regions])
    return put_with(inst, builder, args, regions, values)


def put_with(
    inst: Inst, builder: Builder, args: tuple[Value, ...], regions: tuple[Block, ...], values: dict[Value, Value]
) -> bool:
    """Append the instruction, or one on other arguments and regions, whose results `values` gets; True for another one."""
    if args == inst.args and regions == inst.regions:
        builder.insts.append(inst)
        return False
    made = Inst(inst.op, args, inst.attrs, inst.types, regions, inst.loc)
    builder.insts.append(made)
    for old, value in zip(inst.results, made.results, strict=True):
        value.name = old.name
        values[old] = value
    return True


def made_again(block: Block, values: dict[Value, Value]) -> Block:
    """A block of new instructions with new parameters; `values` says what stands for values from outside, and grows."""
    params = tuple(Value(p.type, p.name) for p in block.params)
    values.update(zip(block.params, params, strict=True))
    builder = Builder()
    for inst in block.insts:
        put_again(builder, inst, values)
    return Block(params, builder.take())


def put_again(builder: Builder, inst: Inst, values: dict[Value, Value]) -> None:
    """Append a new instruction that does the same; `values` says what stands for its arguments, and gets the results."""
    regions = tuple(made_again(region, values) for region in inst.regions)
    args = tuple(values.get(a, a) for a in inst.args)
    made = Inst(inst.op, args, inst.attrs, inst.types, regions, inst.loc)
    builder.insts.append(made)
    for old, value in zip(inst.results, made.results, strict=True):
        value.name = old.name
        values[old] = value


def copy_with(inst: Inst, builder: Builder, args: Sequence[Value]) -> tuple[Value, ...]:
    """The same instruction on other arguments, its types inferred again where a rule exists."""
    attrs = dict(inst.attrs)
    types = None if inst.op.infer is not None else inst.types
    made = builder.inst(inst.op, args, attrs, types, inst.regions)
    for old, value in zip(inst.results, made.results, strict=True):
        value.name = old.name
    return made.results

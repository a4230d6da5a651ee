"""Building a changed function from an unchangeable one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, make_attrs, substitute_attr, substitute_type
from pytocu.ir.dims import DimLike, as_symbol, symbol

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


def with_lengths(builder: Builder, insts: Sequence[Inst], mapping: Mapping[str, DimLike], values: dict[Value, Value]) -> None:
    """Write instructions with other lengths or numbers for names, and those that give a name to one of these without it.

    Parameters
    ----------
    builder : Builder
    insts : sequence of Inst
    mapping : mapping of str
        What stands for each name: a number, or the symbol of another name.
    values : dict of Value
        What stands for values; gets the results.
    """
    for inst in insts:
        blocks: list[Block] = []
        for region in inst.regions:
            params = tuple(Value(substitute_type(p.type, mapping), p.name) for p in region.params)
            values.update(zip(region.params, params, strict=True))
            inner = Builder(region.terminator.loc)
            with_lengths(inner, region.insts, mapping, values)
            blocks.append(Block(params, inner.take()))
        attrs = {key: substitute_attr(value, mapping) for key, value in inst.attrs}
        if inst.op.name == "bind":
            others = [as_symbol(mapping.get(name, symbol(name))) for name in inst.attr("names")]
            if None in others:
                continue
            attrs["names"] = tuple(others)
        types = tuple(substitute_type(t, mapping) for t in inst.types)
        args = tuple(values.get(a, a) for a in inst.args)
        made = Inst(inst.op, args, make_attrs(attrs), types, tuple(blocks), inst.loc)
        for old, new in zip(inst.results, made.results, strict=True):
            new.name = old.name
            values[old] = new
        builder.insts.append(made)


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

"""Common subexpressions and dead code, on every level."""

from __future__ import annotations

from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, attr_key, walk
from pytocu.ir.regions import HEADS, carried_count, carried_memories, compares, is_region, may_fail, prune, raises, requires
from pytocu.ir.rewrite import replay
from pytocu.passes.context import PassContext

_SAME_EVERYWHERE = frozenset({"elementwise", "view", "const", "scalar", "index", "reduce", "scan", "generated", "choice"})


def cse(function: Function, context: PassContext) -> Function:
    """Equal pure instructions once; inner blocks see what outer blocks computed."""
    body = _cse_block(function.body, {}, {})
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


def _cse_block(block: Block, seen: dict[Any, tuple[Value, ...]], values: dict[Value, Value]) -> Block:
    builder = Builder()
    changed = False
    for inst in block.insts:
        args = tuple([values.get(a, a) for a in inst.args]) if values else inst.args
        # A copy is a new array each time; loads stay in order with stores.
        pure = inst.op.kind in _SAME_EVERYWHERE and not inst.regions and inst.op.name != "copy" and inst.results
        key = None
        if pure:
            key = (inst.op.name, args, tuple([(k, attr_key(v)) for k, v in inst.attrs]), inst.types)
            if key in seen:
                for old, new in zip(inst.results, seen[key], strict=True):
                    values[old] = new
                    new.name = new.name or old.name
                changed = True
                continue
        if inst.regions:
            args = _of_their_own(builder, inst, args)
            regions = tuple([_cse_block(r, {} if inst.op.isolated else dict(seen), values) for r in inst.regions])
            if regions != inst.regions or args != inst.args:
                changed = True
                made = Inst(inst.op, args, inst.attrs, inst.types, regions, inst.loc)
                for old, new in zip(inst.results, made.results, strict=True):
                    new.name = old.name
                    values[old] = new
                builder.insts.append(made)
            else:
                builder.insts.append(inst)
            continue
        changed |= replay(builder, inst, _keep, values)
        if key is not None:
            seen[key] = tuple(values.get(r, r) for r in inst.results)
    return Block(block.params, builder.take()) if changed else block


def _of_their_own(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands of a loop, in which what it changes and what begins with equal contents stay arrays of their own."""
    if args == inst.args or not carried_count(inst):
        return args
    made, given = list(args), list(inst.args)
    for place in (HEADS[inst.op.name] + k for k in carried_memories(inst)):
        if any(made[n] is args[place] and given[n] is not given[place] for n in range(len(made)) if n != place):
            builder.loc = inst.loc
            made[place] = builder.emit("copy", (args[place],), name=given[place].name)
    return tuple(made)


def _keep(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> None:
    return None


def dce(function: Function, context: PassContext) -> Function:
    """Drop instructions whose results nobody reads and that do nothing else.

    ``convert`` stays even unread where it can fail on a run-time number.
    """
    function = prune(function)
    used: set[Value] = set()
    keep: set[Inst] = set()
    launches: set[Inst] = set()
    insts = list(walk(function.body))
    inside = {i for inst in insts if is_region(inst) for region in inst.regions for i in region.insts}
    # Uses come after definitions in the text, so one walk backwards finds everything alive.
    for inst in reversed(insts):
        alive = bool(inst.op.effects and inst.op.effects != "read" and inst.op.effects != "alloc")
        alive = alive or any(r in used for r in inst.results) or inst.op.kind == "control" or raises(inst)
        alive = alive or requires(inst)
        # A loop of the host hands on nothing where all it does is to change memory; what is inside was seen before.
        alive = alive or (inst.op.kind == "region" and any(i in launches for r in inst.regions for i in r.insts))
        alive = alive or (is_region(inst) and (compares if inst in inside else may_fail)(inst))
        if inst.op.name == "launch" or (alive and inst.op.kind == "region"):
            launches.add(inst)
        if alive:
            keep.add(inst)
            used.update(inst.args)
    body = _sweep(function.body, keep)
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


def _sweep(block: Block, keep: set[Inst]) -> Block:
    insts: list[Inst] = []
    changed = False
    for inst in block.insts:
        if inst not in keep:
            changed = True
            continue
        regions = tuple(_sweep(r, keep) for r in inst.regions)
        if regions != inst.regions:
            # Results of an instruction with regions are named by others, so they move along.
            made = Inst(inst.op, inst.args, inst.attrs, inst.types, regions, inst.loc)
            object.__setattr__(made, "results", inst.results)
            for value in inst.results:
                value.inst = made
            insts.append(made)
            changed = True
        else:
            insts.append(inst)
    return Block(block.params, tuple(insts)) if changed else block

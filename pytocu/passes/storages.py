"""Gives every memory that is changed one line of contents, the first of them its own.

In: array level, where ``return`` pairs arguments with their final contents, whatever these are
made of.  Out: the same with these properties, which the passes behind rely on:

* the contents of an argument begin with the argument, and each ``update`` of them continues
  the one before; the last one is what ``return`` states;
* contents of memory that the function makes begin with a value nobody else updates;
* no contents are updated twice, and what is written is a value that a kernel computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, chain_from
from pytocu.ir.rewrite import replay


def run(function: Function) -> Function:
    """Put the updates in order; the function itself where nothing is updated."""
    terminator = function.body.terminator
    pairs = [(terminator.args[place], terminator.args[new]) for place, new in terminator.attr("updates", ())]
    if not pairs and not any(i.op.name == "update" for i in function.body.insts):
        return function
    owner = {inst: memory for memory, contents in pairs for inst in _chain(contents)}
    for inst in function.body.insts:
        if inst.op.name == "update" and contents_of(inst.results[0])[0] in dict(pairs):
            # It continues what the argument held, and is lost again later.
            owner[inst] = contents_of(inst.results[0])[0]
    writer = _Writer(owner)
    for inst in function.body.insts[:-1]:
        writer.builder.loc = inst.loc
        if inst.op.name == "update":
            writer.update(inst)
        else:
            replay(writer.builder, inst, lambda builder, inst, args: None, writer.of)
    finals = [writer.final(memory, contents) for memory, contents in pairs]
    writer.builder.loc = terminator.loc
    args = [writer.of.get(a, a) for a in terminator.args]
    shown = tree_numbers(terminator.attr("tree"))
    updates: list[tuple[int, int]] = []
    for (place, new), last in zip(terminator.attr("updates", ()), finals, strict=True):
        if new in shown:
            # The value is returned as well, as an array of its own.
            new = len(args)
            args.append(last)
        args[new] = last
        updates.append((place, new))
    attrs = dict(terminator.attrs) | ({"updates": tuple(updates)} if updates else {})
    writer.builder.inst("return", args, attrs)
    return Function(function.name, function.level, Block(function.params, writer.builder.take()), function.facts)


def tree_numbers(tree: Any) -> set[int]:
    """The numbers of results that a tree names."""
    match tree:
        case bool() | None:
            return set()
        case int():
            return {tree}
        case ("str", _):
            return set()
        case ("members", member, _):
            return {member}
        case ("named", _, *trees):
            return {n for t in trees for n in tree_numbers(t)}
        case ("dict", *items):
            return {n for _, t in items for n in tree_numbers(t)}
        case ("tuple" | "list" | "if" | "none" | "read-only" | "either" | "zip", *trees) | trees:
            return {n for t in trees for n in tree_numbers(t)}
    return set()


def _chain(contents: Value) -> list[Inst]:
    """The updates that lead to some contents, up to the last value that replaces all."""
    chain: list[Inst] = []
    while contents.inst is not None and contents.inst.op.name == "update":
        chain.append(contents.inst)
        contents = contents.inst.args[0]
    return chain


def contents_of(value: Value) -> tuple[Value, int]:
    """The first contents of the memory, and how many updates led to these."""
    chain = _chain(value)
    return (chain[-1].args[0] if chain else value), len(chain)


class _Writer:
    """Writes the function again; `of` maps old values to new ones, `now` is the last contents of an argument."""

    def __init__(self, owner: dict[Inst, Value]):
        self.builder = Builder()
        self.owner = owner
        self.now: dict[Value, Value] = {}
        self.of: dict[Value, Value] = {}
        self.continued: set[Value] = set()

    def update(self, inst: Inst) -> None:
        """One update, of its own line of contents."""
        old, target, new = inst.args
        memory = self.owner.get(inst)
        if memory is None:
            base = self._local(old)
        elif self.of.get(old, old) is self.now.get(memory, memory):
            base = self.now.get(memory, memory)
        else:
            base = self.replace(memory, old)
        made = self._write(base, rebased(self.builder, target, old, base), new, inst.results[0].name)
        self.of[inst.results[0]] = made
        if memory is not None:
            self.now[memory] = made

    def final(self, memory: Value, contents: Value) -> Value:
        """The last update of an argument."""
        if contents.inst is not None:
            self.builder.loc = contents.inst.loc
        last = self.now.get(memory)
        return last if last is not None and self.of.get(contents, contents) is last else self.replace(memory, contents)

    def _local(self, old: Value) -> Value:
        """The contents to go on with, in memory of the function's own that nobody else updates."""
        current = self.of.get(old, old)
        arguments = old.inst is not None and old.inst in self.owner
        if arguments or not _computed(current, "update") or current in self.continued:
            current = self.builder.emit("copy", (current,), name=old.name)
        self.continued.add(current)
        return current

    def replace(self, memory: Value, contents: Value) -> Value:
        """All of an argument gets other contents."""
        base = self.now.get(memory, memory)
        self.now[memory] = self._write(base, base, contents, memory.name)
        return self.now[memory]

    def _write(self, base: Value, target: Value, new: Value, name: str) -> Value:
        new = self.of.get(new, new)
        if not _computed(new) and not (new.inst is not None and new.inst.op.name == "broadcast"):
            new = self.builder.emit("copy", (new,))
        return self.builder.emit("update", (base, target, new), name=name)


def _computed(value: Value, *others: str) -> bool:
    """Whether a kernel computes the value in memory of its own."""
    return value.inst is not None and value.inst.op.kind in ("elementwise", *others)


def rebased(
    builder: Builder, target: Value, old: Value, base: Value, values: Mapping[Value, Value] = MappingProxyType({})
) -> Value:
    """The same view of other contents; `values` are what stands for the positions that it picks."""
    if old is base:
        return target
    for inst in chain_from(old, target):
        args = (base, *(values.get(a, a) for a in inst.args[1:]))
        base = builder.emit(inst.op, args, dict(inst.attrs), None if inst.op.infer else inst.types)
    return base

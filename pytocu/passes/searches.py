"""Searches in ascending numbers: how many elements of an array come before a value.

A search goes by halves.  Where one thread computes neighbouring elements one after the other and the values ascend with
them, as those that `repeat` looks for do, it begins where the search before it ended and goes on in steps
that double (Bentley and Yao, 1976): what lies near costs few of them, and memory is read in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.types import BOOL, I64, INDEX, PointerType, element, scalar, shape_of

if TYPE_CHECKING:
    from pytocu.passes.elements import Elements, Memory


def write(e: Elements, builder: Builder, inst: Inst, value: Value) -> Value:
    """The number of elements before a value."""
    return _Search(e, builder, inst, value).write()


class _Search:
    """Writes one search."""

    def __init__(self, e: Elements, builder: Builder, inst: Inst, value: Value):
        self.e, self.builder, self.inst, self.value = e, builder, inst, value
        self.memory: Memory = e.whole(inst.args[0])
        # Lengths and constants stand before the loop, also where the builder is that of the lines before.
        self.stride, self.zero, self.one, self.two = (e.dim(d) for d in (self.memory.strides[0], 0, 1, 2))
        (length,) = shape_of(inst.args[0].type)
        self.length = e.dim(length, builder)

    def write(self) -> Value:
        if self.e.sequential and _ascend(self.inst.args[1]):
            cell = self.e.before.emit("local", (), {"size": 1}, (PointerType(I64, "local"),))
            self.e.before.inst("store", (cell, self.zero, self.e.before.const(0, scalar(I64))))
            last = self.builder.emit("load", (cell, self.zero))
            found = self._halved(*self._near(self.builder.emit("convert_raw", (last,), {}, (INDEX,))))
            self.builder.inst("store", (cell, self.zero, found))
            return found
        return self._halved(self.zero, self.length)

    def _near(self, last: Value) -> tuple[Value, Value]:
        """Bounds of the answer, near the one that was found last where it is not before that."""
        builder = self.builder
        with builder.nested() as some:
            builder.emit("yield", (self._comes_before(builder.emit("subtract", (last, self.one))),))
        with builder.nested() as none:
            builder.emit("yield", (builder.const(True, scalar(BOOL)),))
        first = builder.emit("less", (self.zero, last))
        behind = builder.inst("if", (first,), {}, (scalar(BOOL),), (Block((), tuple(some)), Block((), tuple(none)))).results[0]
        low = builder.emit("where", (behind, last, self.zero))
        # Nothing is tried where the answer is before the last one.
        end = builder.emit("where", (behind, self.length, self.zero))
        tried = [Value(INDEX, name) for name in ("low", "step")]
        with builder.nested() as asked:
            there = builder.emit("add", tried)
            with builder.nested() as inside:
                builder.emit("yield", (self._comes_before(builder.emit("subtract", (there, self.one))),))
            with builder.nested() as outside:
                builder.emit("yield", (builder.const(False, scalar(BOOL)),))
            sides = (Block((), tuple(inside)), Block((), tuple(outside)))
            fits = builder.emit("less_equal", (there, end))
            on = builder.inst("if", (fits,), {}, (scalar(BOOL),), sides).results[0]
            builder.emit("yield", (on, *tried))
        passed = [Value(INDEX, v.name) for v in tried]
        with builder.nested() as doubled:
            builder.emit("yield", (builder.emit("add", passed), builder.emit("multiply", (passed[1], self.two))))
        regions = (Block(tuple(tried), tuple(asked)), Block(tuple(passed), tuple(doubled)))
        low, step = builder.inst("while", (low, self.one), {}, (INDEX, INDEX), regions).results
        beyond = builder.emit("subtract", (builder.emit("add", (low, step)), self.one))
        near = builder.emit("where", (builder.emit("less", (beyond, self.length)), beyond, self.length))
        return low, builder.emit("where", (behind, near, last))

    def _halved(self, low: Value, high: Value) -> Value:
        """The answer between bounds, which know nothing of the elements between them."""
        builder = self.builder
        bounds = [Value(INDEX, name) for name in ("low", "high")]
        with builder.nested() as asked:
            builder.emit("yield", (builder.emit("less", bounds), *bounds))
        state = [Value(INDEX, v.name) for v in bounds]
        with builder.nested() as halved:
            middle = builder.emit("divide_truncated", (builder.emit("add", state), self.two))
            before = self._comes_before(middle)
            above = builder.emit("add", (middle, self.one))
            lower, upper = (builder.emit("where", (before, a, b)) for a, b in ((above, state[0]), (state[1], middle)))
            builder.emit("yield", (lower, upper))
        regions = (Block(tuple(bounds), tuple(asked)), Block(tuple(state), tuple(halved)))
        found = builder.inst("while", (low, high), {}, (INDEX, INDEX), regions).results[0]
        return builder.emit("convert_raw", (found,), {}, (scalar(I64),), name=self.inst.result.name)

    def _comes_before(self, place: Value) -> Value:
        """Whether the element at a place is one of those that are counted."""
        builder = self.builder
        offset = place if self.memory.strides[0] == 1 else builder.emit("multiply", (place, self.stride))
        there = builder.emit("load", (self.memory.pointer, offset))
        if self.inst.attr("right", False):
            return builder.emit("invert", (_sorts_before(builder, self.value, there),))
        return _sorts_before(builder, there, self.value)


def _ascend(values: Value) -> bool:
    """Whether values are positions, or so many behind them, also of another integer dtype and within limits."""
    inst = values.inst
    while inst is not None and inst.op.name in ("cast", "minimum", "maximum"):
        inst = inst.args[0].inst
    if inst is None or inst.op.name == "iota":
        return inst is not None
    parts = [a.inst.op.name for a in inst.args if a.inst is not None]
    return inst.op.name == "add" and len(parts) == 2 and "iota" in parts and bool({"const", "broadcast", "convert"} & {*parts})


def _sorts_before(builder: Builder, first: Value, second: Value) -> Value:
    """Whether an element is less, where NaN is the largest number."""
    less = builder.emit("less", (first, second))
    if element(first.type).kind != "f":
        return less
    nan, number = builder.emit("not_equal", (second, second)), builder.emit("equal", (first, first))
    return builder.emit("bitwise_or", (less, builder.emit("bitwise_and", (nan, number))))

"""Loops of CPU kernels that look for the position of an extreme along long rows.

Several elements meet each other, and then a state, which notes where they began if the best of them is better than its own.  So
an element costs few operations, and its position a part of one.  At the end of a row, the first of the places that go with the
extreme is where it is looked for, until an element is that number.  Nothing jumps because of a number: a processor that
took the wrong way would know it only when all of the row has come from memory, and ask for no more until then.
Elements that are left at the end meet states a second time with others, for which an extreme is the same.

States are never NaN.  Whether an element was one is noted beside them, and a row that has one is gone through again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.types import I16, I32, I64, INDEX, PointerType, ScalarType, element, scalar
from pytocu.passes.accesses import Index, operands, position
from pytocu.passes.costs import operations
from pytocu.passes.reduce_loops import Pair, Reduced
from pytocu.passes.schedule import DEAR, LANES
from pytocu.passes.spaces import is_scan

if TYPE_CHECKING:
    from pytocu.passes.stretch_loops import Stretches

STATES, STATES_BYTES = 32, 64
"""The most states of a long row, and their bytes: registers hold them, beside the places and what is noted of NaNs."""

EACH = {1: 8, 2: 8, 4: 4, 8: 4}
"""Elements of so many bytes that meet before they meet a state: many where the places have more bytes than they have."""

FEW_EACH = 2
"""The same of rows that have few states and no places."""

_COUNTED_IN = {1: I16, 2: I16, 4: I32, 8: I64}
"""Integers that count the elements that are looked through, as wide as elements where these are wide enough."""


def fits(rows: Stretches, places: Sequence[Reduced]) -> bool:
    """Whether elements may be computed twice, and in any order."""
    closure = rows._closure([_number(rows, reduced) for reduced in places])
    values = [value for value, _ in closure]
    cheap = sum(operations(v.inst) for v in values if v.inst is not None and v not in rows.e.made) < DEAR
    return cheap and not any(map(is_scan, values)) and all(element(i.args[0].type).kind != "c" for i, _ in places)


def write(rows: Stretches, places: Sequence[Reduced]) -> None:
    """Find the positions of all extremes of a sweep; rows have more elements than states."""
    for reduced in places:
        _Search(rows, *reduced).write()


def _number(rows: Stretches, reduced: Reduced) -> Pair:
    """The element that is compared, without its position."""
    inst, at = reduced
    return operands(inst.results[0], at, rows.e.ndim)[0]


class _Search:
    """Writes the loops of one extreme."""

    def __init__(self, rows: Stretches, inst: Inst, at: Index):
        self.rows, self.inst, self.at = rows, inst, at
        self.better = "less" if inst.attr("op") == "argmin" else "greater"
        self.dtype = element(inst.args[0].type)
        size = self.dtype.itemsize
        self.long = rows.most == LANES
        self.states = min(STATES, STATES_BYTES // size) if self.long else rows.most
        self.each = EACH[size] if self.long else FEW_EACH
        self.count, self.round = rows.e.dim(self.states), rows.e.dim(self.each * self.states)
        self.counted = scalar(_COUNTED_IN[size])
        self.place = scalar(element(inst.args[1].type))
        before = rows.e.before
        identity = REDUCTIONS[inst.attr("op")].identity((self.dtype, I64))[0]
        self.none = before.const(identity, scalar(self.dtype))
        self.best = self._local(scalar(self.dtype))
        self.begin = self._local(self.place) if self.long else None
        self.nan = self._local(self.counted) if self.dtype.kind == "f" else None

    def _local(self, type: ScalarType) -> Value:
        """Memory for something of each state."""
        return self.rows.e.before.emit("local", (), {"size": self.states}, (PointerType(element(type), "local"),))

    def write(self) -> None:
        """The number and its position, for the results of the reduction."""
        rows, e, body = self.rows, self.rows.e, self.rows.body
        assert rows.extent is not None
        lower, upper = rows.extent
        body.loc = self.inst.loc
        self._meet_all(lower, upper)
        place = self._found(lower, upper)
        with rows._forgotten():
            found = [self._element(body, place, pair) for pair in operands(self.inst.results[0], self.at, e.ndim)]
        for result, value in zip(self.inst.results, found, strict=True):
            value.name = value.name or result.name
            e.made[result, position(result, self.at)] = value

    def _element(self, builder: Builder, j: Value, pair: Pair) -> Value:
        """What is at a place of the row."""
        rows, e = self.rows, self.rows.e
        e.inside = builder
        e.loop_index = [*e.loop_index[: rows.loops], *rows._decompose(builder, j, e.sizes[rows.loops :])]
        for each in rows._closure([pair]):
            e.made[each] = e.write(builder, *each)
        return e.made[pair]

    def _number(self, builder: Builder, place: Value) -> Value:
        """The element at a place, of which nothing is known behind these instructions."""
        rows = self.rows
        with rows._forgotten():
            found = self._element(builder, place, _number(rows, (self.inst, self.at)))
        return found

    def _meet_all(self, lower: Value, upper: Value) -> None:
        """All elements of a row meet the states."""
        rows, e, body = self.rows, self.rows.e, self.rows.body

        def clear(lane: Value, inner: Builder) -> None:
            inner.inst("store", (self.best, lane, self.none))
            for pointer in (self.begin, self.nan):
                if pointer is not None:
                    inner.inst("store", (pointer, lane, e.before.const(0, scalar(element(pointer.type)))))

        rows._lanes(body, self.count, clear)
        rounds = body.emit("divide_truncated", (body.emit("subtract", (upper, lower)), self.round), name="rounds")
        end = body.emit("add", (lower, body.emit("multiply", (rounds, self.round))))
        last = body.emit("subtract", (upper, self.count))
        for first, behind, each in ((lower, end, self.each), (end, last, 1)):
            at, into = Value(INDEX, "at"), Builder(self.inst.loc)
            if each > 1:
                rows._prefetch(into, at, ((self.inst, self.at),), each * self.states)
            self._meet(into, at, lower, each)
            into.emit("yield")
            step = e.dim(each * self.states)
            body.inst("for", (first, behind, step), {"over": "serial"}, (), (Block((at,), into.take()),))
        self._meet(body, last, lower, 1)

    def _meet(self, into: Builder, at: Value, lower: Value, each: int) -> None:
        """So many elements meet each state, from a place of the row on."""
        e = self.rows.e

        def write(lane: Value, inner: Builder) -> None:
            x = Expander(inner)
            starts = [at, *(inner.emit("add", (at, e.dim(k * self.states))) for k in range(1, each))]
            numbers = [self._number(inner, inner.emit("add", (start, lane), name="j")) for start in starts]
            better = functools.reduce(partial(self._better, inner), numbers)
            best = inner.emit("load", (self.best, lane))
            inner.inst("store", (self.best, lane, self._better(inner, best, better)))
            if self.begin is not None:
                here = inner.emit("convert_raw", (inner.emit("subtract", (at, lower)),), {}, (self.place,))
                before = inner.emit("load", (self.begin, lane))
                inner.inst("store", (self.begin, lane, x.where(x(self.better, better, best), here, before)))
            if self.nan is not None:
                nan = functools.reduce(partial(x, "bitwise_or"), [x("isnan", number) for number in numbers])
                noted = x.where(nan, e.before.const(-1, self.counted), inner.emit("load", (self.nan, lane)))
                inner.inst("store", (self.nan, lane, noted))

        self.rows._lanes(into, self.count, write)

    def _better(self, builder: Builder, first: Value, second: Value) -> Value:
        """The better of two numbers, neither of which is NaN."""
        return builder.emit("where", (builder.emit(self.better, (second, first)), second, first))

    def _tree(self, pointer: Value, none: Value, combine: Callable[[Builder, Value, Value], Value]) -> Value:
        """What the states make together."""

        def write(builder: Builder, inst: Inst, first: Sequence[Value], second: Sequence[Value]) -> tuple[Value]:
            return (combine(builder, *first, *second),)

        return self.rows._tree(self.rows.body, self.inst, (pointer,), (none,), write, self.states)[0]

    def _found(self, lower: Value, upper: Value) -> Value:
        """The place of the extreme, or of the first NaN."""
        e, body = self.rows.e, self.rows.body
        best = self._tree(self.best, self.none, self._better)
        if self.nan is None:
            return self._place(best, lower, upper)
        no = e.before.const(0, self.counted)
        nan = self._tree(self.nan, no, lambda builder, a, b: builder.emit("bitwise_or", (a, b)))
        with body.nested() as numbers:
            body.emit("yield", (self._place(best, lower, upper),))
        with body.nested() as some:
            body.emit("yield", (self._first_nan(lower, upper),))
        sides = (Block((), tuple(numbers)), Block((), tuple(some)))
        return body.inst("if", (body.emit("equal", (nan, no)),), {}, (INDEX,), sides).results[0]

    def _first_nan(self, lower: Value, upper: Value) -> Value:
        """The place of the first NaN."""
        body = self.rows.body
        last = body.emit("subtract", (upper, self.rows.e.dim(1)))
        tried, passed = ([Value(INDEX, "at")] for _ in range(2))
        with body.nested() as asked:
            # Behind the last element there is nothing, even where another thread changes elements meanwhile.
            more = body.emit("less", (tried[0], last))
            number = body.emit("invert", (body.emit("isnan", (self._number(body, tried[0]),)),))
            body.emit("yield", (body.emit("bitwise_and", (more, number)), *tried))
        with body.nested() as searched:
            body.emit("yield", (body.emit("add", (passed[0], self.rows.e.dim(1))),))
        regions = (Block(tuple(tried), tuple(asked)), Block(tuple(passed), tuple(searched)))
        return body.inst("while", (lower,), {}, (INDEX,), regions).results[0]

    def _place(self, best: Value, lower: Value, upper: Value) -> Value:
        """The first place that has a number."""
        rows, e, body = self.rows, self.rows.e, self.rows.body
        if self.begin is None:
            return self._first(best, lower, upper)
        begin, far = self.begin, e.before.const(int(np.iinfo(element(self.place).numpy).max), self.place)

        def choose(lane: Value, inner: Builder) -> None:
            same = inner.emit("equal", (inner.emit("load", (self.best, lane)), best))
            inner.inst("store", (begin, lane, inner.emit("where", (same, inner.emit("load", (begin, lane)), far))))

        rows._lanes(body, self.count, choose)
        first = body.emit("convert_raw", (self._tree(begin, far, _earlier),), {}, (INDEX,))
        first = body.emit("add", (lower, first))
        whole = self.each * self.states <= LANES
        last = body.emit("subtract", (upper, self.round if whole else self.count))
        first = body.emit("where", (body.emit("less", (last, first)), last, first))
        if whole:
            return self._first(best, first, None)
        end = body.emit("add", (first, self.round))
        return self._first(best, first, body.emit("where", (body.emit("less", (upper, end)), upper, end)))

    def _first(self, best: Value, lower: Value, upper: Value | None) -> Value:
        """The first of some places, of one round where no end is given, that has a number.

        All are looked at, since a jump costs as much.
        """
        rows, e, body = self.rows, self.rows.e, self.rows.body
        zero = e.before.const(0, self.counted)
        nowhere = e.before.const(max(LANES, self.each * self.states), self.counted)
        places = self._local(self.counted)

        def meet(into: Builder, at: Value) -> None:
            def write(lane: Value, inner: Builder) -> None:
                j = inner.emit("add", (at, lane), name="j")
                place = inner.emit("convert_raw", (inner.emit("subtract", (j, lower)),), {}, (self.counted,))
                found = inner.emit("where", (inner.emit("equal", (self._number(inner, j), best)), place, nowhere))
                inner.inst("store", (places, lane, _earlier(inner, inner.emit("load", (places, lane)), found)))

            rows._lanes(into, self.count, write)

        def clear(lane: Value, inner: Builder) -> None:
            inner.inst("store", (places, lane, nowhere))

        rows._lanes(body, self.count, clear)
        if upper is None:
            for number in range(self.each):
                meet(body, body.emit("add", (lower, e.dim(number * self.states))))
        else:
            last = body.emit("subtract", (upper, self.count))
            at, into = Value(INDEX, "at"), Builder(self.inst.loc)
            meet(into, at)
            into.emit("yield")
            body.inst("for", (lower, last, self.count), {"over": "serial"}, (), (Block((at,), into.take()),))
            meet(body, last)
        found = self._tree(places, nowhere, _earlier)
        # Another thread may have changed the elements meanwhile.
        found = body.emit("where", (body.emit("less", (found, nowhere)), found, zero))
        return body.emit("add", (lower, body.emit("convert_raw", (found,), {}, (INDEX,))), name="place")


def _earlier(builder: Builder, first: Value, second: Value) -> Value:
    """The earlier of two places."""
    return builder.emit("minimum", (first, second))

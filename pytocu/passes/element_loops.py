"""Loops over elements in the words of a kernel, as one thread goes through them (see `pytocu.passes.one_thread`).

A part of an array is changed element by element, elements are combined by a loop over them, and the positions of a mask's
true elements are written one behind the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.compensation import given_back, lost
from pytocu.ir.core import Value, chain_from
from pytocu.ir.dims import Dim, DimLike, dim_min, floordiv, symbol
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import Reduction, is_rounded
from pytocu.ir.regions import bare, captured, closed, is_region
from pytocu.ir.types import I64, WEAK_INT, DType, element, scalar, shape_of

LANES = 8
"""States of a sum, which meet elements in turns: NumPy's number, and its order up to 128 elements."""

STRETCH = 128
"""Numbers after which these states are added to those of all, which lose nothing; see `pytocu.ir.compensation`.

A complex element is two.
"""


class ElementLoops:
    """Writes such loops.

    Parameters
    ----------
    taken : set of str
        Names of lengths and numbers.
    """

    def __init__(self, taken: set[str]):
        self.taken = taken

    def elements(self, builder: Builder, memory: Value, old: Value, target: Value, new: Value) -> Value:
        """Memory, with new elements where `target` is in `old`."""
        ndim = len(shape_of(target.type))

        def axis(outer: Builder, array: Value, places: tuple[DimLike, ...]) -> Value:
            if len(places) < ndim:
                size = shape_of(target.type)[len(places)]
                step = lambda inner, at, held: [axis(inner, held[0], (*places, at))]  # noqa: E731
                return self.repeat(outer, size, [array], step)[0]
            # Numbers are computed before, and elements of the contents themselves are read of what is changed.
            value = _again(outer, new, {old: array} if memory is old else {})
            view = viewed(outer, old, target, array)
            for place in places:
                view = outer.emit("index", (view,), {"axis": 0, "at": place, "keep": True})
                value = outer.emit("index", (value,), {"axis": 0, "at": place})
            made = outer.emit("as_array", (value,))
            return outer.emit("update", (array, view, made), name=memory.name)

        return axis(builder, memory, ())

    def positions(self, builder: Builder, mask: Value, memory: Value) -> Value:
        """Memory with the positions of a mask's true elements: each is written where the next one belongs, and stays there."""
        dtype, (size,) = element(memory.type), shape_of(mask.type)

        def step(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
            count, array = held
            number = inner.emit("convert", (inner.emit("dim", (), {"value": place}, (WEAK_INT,)),), {}, (scalar(dtype),))
            cell = inner.emit("pick", (array, count), {"axis": 0})
            array = inner.emit("update", (array, cell, inner.emit("as_array", (number,))), name=array.name)
            true = inner.emit("cast", (inner.emit("index", (mask,), {"axis": 0, "at": place}),), {}, (scalar(dtype),))
            return inner.emit("add", (count, true)), array

        return self.repeat(builder, size, [builder.const(0, scalar(dtype)), memory], step)[1]

    def fold(self, builder: Builder, row: Reduction, dtypes: Sequence[DType], arrays: Sequence[Value]) -> Sequence[Value]:
        size, *rest = shape_of(arrays[0].type)
        none = [builder.const(v, scalar(d)) for v, d in zip(row.identity(tuple(dtypes)), dtypes, strict=True)]

        def at(inner: Builder, place: DimLike) -> list[Value]:
            return [inner.emit("index", (a,), {"axis": 0, "at": place}) for a in arrays]

        exact = is_rounded(row.name, dtypes[0])
        parts = row.states

        def added(inner: Builder, held: Sequence[Value], more: Sequence[Value]) -> tuple[Value, ...]:
            """A state with another one; a sum has what it lost beside it, and so may what is added to it."""
            e = Expander(inner)
            if not exact:
                return tuple(row.combine(e, tuple(held), tuple(more)))
            (before, rest), (part, *taken) = held, more
            (after,) = row.combine(e, (before,), (part,))
            rest = e("add", rest, *taken) if taken else rest
            return after, e("add", rest, lost(e, before, part, after))

        nothing = none * 2 if exact else none
        if rest:
            def rows(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
                return added(inner, held, self.fold(inner, row, dtypes, at(inner, place)))

            made = self.repeat(builder, size, nothing, rows)
            return (given_back(Expander(builder), *made),) if exact else made
        last = lambda inner, place, held: row.append(Expander(inner), tuple(held), tuple(at(inner, place)))  # noqa: E731
        if (dtypes[0].kind not in "fc" and row.states == 1) or row.loops:
            # LLVM makes vectors of these itself.
            return self.repeat(builder, size, none, last)

        def states(held: Sequence[Value], count: int = parts) -> list[tuple[Value, ...]]:
            return [tuple(held[first : first + count]) for first in range(0, len(held), count)]

        def rounds(outer: Builder, first: DimLike, count: DimLike) -> Sequence[Value]:
            """So many elements for each state, from one on."""

            def step(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
                begin = (first + place) * LANES
                elements = [tuple(at(inner, begin + lane)) for lane in range(LANES)]
                pairs = zip(states(held), elements, strict=True)
                return [value for state, more in pairs for value in row.append(Expander(inner), state, more)]

            return self.repeat(outer, count, none * LANES, step)

        def stretches(outer: Builder, number: DimLike, totals: Sequence[Value]) -> Sequence[Value]:
            made = rounds(outer, number * stretch, dim_min(whole - number * stretch, stretch))
            pairs = zip(states(totals, len(nothing)), states(made), strict=True)
            return [value for total, state in pairs for value in added(outer, total, state)]

        elements = STRETCH // 2 if dtypes[0].kind == "c" else STRETCH
        whole, stretch = floordiv(size, LANES), elements // LANES
        if row.states > 1 or row.name in ("minimum", "maximum", "fmin", "fmax"):
            found = states(rounds(builder, 0, whole))
        else:
            totals = self.repeat(builder, floordiv(whole + (stretch - 1), stretch), nothing * LANES, stretches)
            found = states(totals, len(nothing))
        while len(found) > 1:
            found = [added(builder, a, b) for a, b in zip(found[::2], found[1::2], strict=True)]
        if not exact:
            behind = lambda inner, place, held: last(inner, whole * LANES + place, held)  # noqa: E731
            return self.repeat(builder, size - whole * LANES, found[0], behind)
        (total, rest) = found[0]

        def few(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
            """The elements behind, added to the sum of all others and to one another."""
            more = tuple(at(inner, whole * LANES + place))
            return [value for one in held for value in row.append(Expander(inner), (one,), more)]

        in_order, apart = self.repeat(builder, size - whole * LANES, [total, *none], few)
        # Up to one stretch the sum is NumPy's.
        length = builder.emit("convert", (builder.emit("dim", (), {"value": size}, (WEAK_INT,)),), {}, (scalar(I64),))
        several = builder.emit("greater", (length, builder.const(elements, scalar(I64))))
        exact_sum = given_back(Expander(builder), *added(builder, (total, rest), (apart,)))
        return (builder.emit("where", (several, exact_sum, in_order)),)

    def repeat(
        self,
        builder: Builder,
        count: DimLike,
        starts: Sequence[Value],
        step: Callable[[Builder, DimLike, Sequence[Value]], Sequence[Value]],
    ) -> Sequence[Value]:
        """A loop of so many steps, which has the number of a step and what it carries, and gives what it carries on."""
        name, number = "part_", 0
        while name in self.taken:
            name, number = f"part{number}_", number + 1
        self.taken.add(name)
        inner, at = Builder(builder.loc), Value(WEAK_INT, name)
        params = [Value(bare(v.type), v.name) for v in starts]
        ends = step(inner, symbol(name), params)
        insts = inner.take()
        shared = captured(insts, (at, *params), ends)
        region = closed(insts, (at, *params), ends, shared, builder.loc)
        known = not isinstance(count, Dim)
        size = builder.const(count, WEAK_INT) if known else builder.emit("dim", (), {"value": count}, (WEAK_INT,))
        bounds = builder.const(0, WEAK_INT), size, builder.const(1, WEAK_INT)
        attrs = {"carried": len(params), "numbers": (name, count, False)}
        return builder.inst("for_loop", (*bounds, *starts, *shared), attrs, [p.type for p in params], (region,)).results


def is_known_before(value: Value) -> bool:
    """Whether a value is no matter of elements of a part: a number, or contents of memory."""
    return not shape_of(value.type) or value.inst is None or value.inst.op.name == "update" or is_region(value.inst)


def viewed(builder: Builder, old: Value, target: Value, array: Value) -> Value:
    """The part of another array that is `target` in `old`."""
    view = array
    for step in chain_from(old, target):
        view = builder.emit(step.op, (view, *step.args[1:]), dict(step.attrs), None if step.op.infer else step.types)
    return view


def _again(builder: Builder, value: Value, made: dict[Value, Value]) -> Value:
    """A value, made again of numbers and of contents of memory, or of what stands for these."""
    if value in made or is_known_before(value):
        return made.get(value, value)
    inst = value.inst
    assert inst is not None
    args = [_again(builder, a, made) for a in inst.args]
    copy = builder.inst(inst.op, args, dict(inst.attrs), inst.types, inst.regions)
    made.update(zip(inst.results, copy.results, strict=True))
    return made[value]

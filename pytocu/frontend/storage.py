"""Which memory the arrays of the user's function stand in, and what it holds now.

The IR is pure: an in-place change makes a new value.  The user's names keep the value they
were bound to, which serves as a *handle*: of an argument, of an array the function made, or of
a view of one.  Here stands what each memory holds after the changes so far, so that every
instruction reads the contents as they are when it is written; views are taken again of the
new contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import combinations, product, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from pytocu.deferred import Deferred
from pytocu.errors import UNKNOWN, Loc, UnsupportedError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Op, Value, chain_from, named, walk
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min, is_number, symbol
from pytocu.ir.regions import bare, closed
from pytocu.ir.types import ArrayType, Type, axes_of, element, scalar, shape_of
from pytocu.record import Record

if TYPE_CHECKING:
    from pytocu.ir.axis_orders import Ranks

_ranks_of = Deferred("pytocu.ir.axis_orders", "ranks_of")

Sharing: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Groups of arguments in one memory: ``same`` or ``overlap``, and their numbers."""

Changes: TypeAlias = "tuple[dict[Value, Value], dict[tuple[Value, Value], Value], dict[Value, None], dict[Value, Any]]"
"""What memories hold, views of that, arguments found writable, and memories of which nothing is known."""

_RETYPES = ("real", "imag", "view")
"""Views whose elements have another dtype than those that they are of."""


class HandOn(Exception):
    """The function is read again, with keys among those in `Context.handed`: only reading on could tell.

    A loop hands on a name that it first binds, since that is read behind it, or its first step is written apart.
    """

    def __init__(self, key: Any, *more: Any):
        super().__init__(key)
        self.key = key
        self.keys = (key, *more)


NUMBERED, PLAIN = "numbered memories", "plain memories"
"""What `Context.handed` holds where loops carry which memory each name has, and where that has not helped."""


_MOST_TESTS = 6


class _LayOut(Record):
    """Why nothing is known of a memory: a copy of it, which may be a view, has changed."""

    copy: Value


class StorageBuilder(Builder):
    """A builder whose instructions read the present contents of the arrays they are given.

    Attributes
    ----------
    arguments : dict
        Handles of arguments, each with the function's parameter.
    written : dict
        Parameters that are changed, in order of the first change.
    unit_lengths : frozenset of Dim
        Lengths that are 1, and that axes have as 1 so that they are repeated.
    compared : tuple of DimLike
        What is not negative where the program stands, because it was compared before.
    made : list of Value
        What may be a handle, in the order in which it was made.
    orders : dict
        How far the elements of each axis of an array are apart in NumPy (`pytocu.ir.layouts`), or None, and the arguments
        of which it is known only where they are in row-major order.
    memory_of : dict
        Of what loops and branches make of the contents of a memory, its handle.
    lists : dict of MemberArrays
        The memories of members of lists whose length a run decides, by the places of these.
    depth : int
        How many regions are being written, one in the other.
    watch : callable or None
        Looks at each instruction that is written.
    catches : bool
        Whether the program would catch that an argument is read-only.
    numbered : bool or None
        Whether loops carry which memory each name has, also where it is another one in some steps only; None where that was
        not asked for: reading without it is enough for most functions.
    """

    def __init__(self, loc: Loc = UNKNOWN, unit_lengths: frozenset[Dim] = frozenset()):
        super().__init__(loc)
        self.unit_lengths = unit_lengths
        self.arguments: dict[Value, Value] = {}
        self.written: dict[Value, None] = {}
        self.compared: tuple[DimLike, ...] = ()
        self._views: dict[Value, tuple[Value, Inst]] = {}
        self._now: dict[Value, Value] = {}
        self._derived: dict[tuple[Value, Value], Value] = {}
        self._either: dict[Value, frozenset[Value]] = {}
        # The memories there.
        self._several: set[Value] = set()
        # The places of what is `made`, as far as they were asked for, and of results that are one of several.
        self._places: tuple[dict[Value, int], dict[Value, int]] = {}, {}
        self._placed = 0
        self._apart: set[frozenset[Value]] = set()
        # Those that are made in a region which has ended.
        self._left: set[Value] = set()
        self._chosen: dict[Value, tuple[tuple[Value, ...], tuple[Value, ...]]] = {}
        self._keys: dict[Value, Any] = {}
        self._unsure: dict[Value, Any] = {}
        self._perhaps_views: dict[Value, tuple[Value, Value, Dim | None]] = {}
        self._strides: dict[Value, tuple[str, ...]] = {}
        # Arguments whose order decides whether views of a memory are views.
        self._rests: dict[Value, dict[Value, None]] = {}
        self.orders: dict[Value, tuple[Ranks | None, frozenset[Value]]] = {}
        self.memory_of: dict[Value, Value] = {}
        self.depth = 0
        self.watch: Callable[[Inst], None] | None = None
        self.catches = False
        self.numbered: bool | None = None
        self.made: list[Value] = []
        # How many there were where the steps begin that are being read.
        self.begun: list[int] = []
        self.lists: dict[Any, Any] = {}
        self._in_list = False
        self._told: set[Value] = set()

    def inst(
        self,
        op: str | Op,
        args: Sequence[Value] = (),
        attrs: dict[str, Any] | None = None,
        types: Sequence[Type] | None = None,
        regions: Sequence[Block] = (),
    ) -> Inst:
        """As :meth:`Builder.inst`, with handles as arguments."""
        made = super().inst(op, [self.contents(a) for a in args], attrs, types, regions)
        self.made.extend(made.results)
        if made.op.kind == "view" and isinstance(made.types[0], ArrayType) and isinstance(args[0].type, ArrayType):
            self._views[made.result] = (args[0], made)
        if self.watch is not None:
            self.watch(made)
        return made

    def whole(
        self,
        op: str,
        args: Sequence[Value],
        captured: Sequence[Value],
        attrs: dict[str, Any],
        types: Sequence[Type],
        regions: Sequence[Block],
    ) -> Inst:
        """An instruction with regions; what these use is `captured` as it was read there, whatever is known of it by now."""
        made = super().inst(op, [*(self.contents(a) for a in args), *captured], attrs, types, regions)
        self.made.extend(made.results)
        return made

    def emit(
        self,
        op: str | Op,
        args: Sequence[Value] = (),
        attrs: dict[str, Any] | None = None,
        types: Sequence[Type] | None = None,
        regions: Sequence[Block] = (),
        name: str = "",
    ) -> Value:
        """As :meth:`Builder.emit`; axes of the result whose length is known to be 1 have that length."""
        made = super().emit(op, args, attrs, types, regions, name)
        if not self.unit_lengths or not isinstance(made.type, ArrayType):
            return made
        shape = made.type.shape
        sizes = tuple(1 if d in self.unit_lengths else d for d in shape)
        if sizes == shape:
            return made
        whole = {"start": (0,) * len(shape), "size": sizes, "step": (1,) * len(shape)}
        return super().emit("slice", (made,), whole, name=name)

    @contextmanager
    def nested(self):
        """As :meth:`Builder.nested`; what was compared, and views that were taken, need not be there where the region ends."""
        compared, known, derived = self.compared, self.chosen(), dict(self._derived)
        self.depth += 1
        try:
            with super().nested() as insts:
                yield insts
        finally:
            self.compared, self._derived = compared, derived
            self.depth -= 1
            self.forget_choices(known)

    def chosen(self) -> frozenset[Value]:
        """The results of loops and branches of which it was stated which arrays they are."""
        return frozenset(self._chosen)

    def forget_choices(self, known: frozenset[Value]) -> None:
        """End a region, or drop what was written: behind it there is only what was `known` before it."""
        self._left |= self._chosen.keys() - known

    @contextmanager
    def in_list(self) -> Iterator[None]:
        """Change the memory that the members of a list stand in, which is none of an array of the program."""
        before, self._in_list = self._in_list, True
        try:
            yield
        finally:
            self._in_list = before

    @contextmanager
    def behind(self, insts: list[Inst]) -> Iterator[None]:
        """As :meth:`Builder.behind`, likewise."""
        compared, derived = self.compared, dict(self._derived)
        try:
            with super().behind(insts):
                yield
        finally:
            self.compared, self._derived = compared, derived

    def share(self, kind: str, params: Sequence[Value]) -> list[Value]:
        """Handles of arguments that stand in one memory.

        Parameters
        ----------
        kind : str
            ``same``: every argument is the same elements in the same order; ``overlap``: they
            are anyhow in one memory.
        params : sequence of Value
            Parameters of one dtype.
        """
        first = params[0]
        if kind == "same":
            order = tuple(range(len(shape_of(first.type))))
            handles = [first, *(self.emit("transpose", (first,), {"axes": order}, name=p.name) for p in params[1:])]
        else:
            names = tuple(p.name for p in params)
            flat = ArrayType(element(first.type), (symbol(f"{first.name}_span"),))
            memory = self.emit("memory", params, {"names": names}, (flat,))
            handles = [self._strided(memory, p) for p in params]
        self.arguments.update(zip(handles, params, strict=True))
        return handles

    def _strided(self, memory: Value, param: Value) -> Value:
        """An argument as the elements of shared memory that it is."""
        shape = shape_of(param.type)
        strides = tuple(symbol(f"{param.name}_s{axis}") for axis in range(len(shape)))
        attrs = {"shape": shape, "offset": symbol(f"{param.name}_at"), "strides": strides}
        made = self.emit("strided", (memory,), attrs, name=param.name)
        assert isinstance(param.type, ArrayType)
        self.orders[made] = _ranks_of(axes_of(param.type.layout, len(shape)), shape), frozenset()
        return made

    def contents(self, handle: Value) -> Value:
        """What the array of a handle holds now."""
        if handle not in self._views:
            if handle in self._unsure:
                raise self._refused(handle, self._unsure[handle])
            if handle in self._perhaps_views and self._is_changed(handle):
                self._demand_copy(handle)
            return self._now.get(handle, handle)
        source, inst = self._views[handle]
        return self._again(handle, inst, self.contents(source))

    def _again(self, handle: Value, inst: Inst, base: Value) -> Value:
        """The same view of another value."""
        if base is inst.args[0]:
            return handle
        if (handle, base) not in self._derived:
            args = (base, *inst.args[1:])
            made = super().inst(inst.op, args, dict(inst.attrs), None if inst.op.infer else inst.types)
            self._derived[handle, base] = made.result
        return self._derived[handle, base]

    def memories(self, handle: Value) -> set[Value]:
        """The handles of every memory that a handle may be in: several behind a loop or branch that binds a name again."""
        root = self.root(handle)
        return {root, *self._either.get(root, ())}

    def may_be(
        self,
        results: Sequence[tuple[Value, Sequence[Any], set[Value]]],
        apart: Callable[[Value, Value], bool] | None = None,
    ) -> None:
        """State which memories from before a loop or branch its results may be, where they are none that it makes.

        Parameters
        ----------
        results : sequence of (Value, sequence, set of Value)
            A result, what it is on each way there is, and the memories.
        apart : callable, optional
            Whether two values of one way are known to be in different memories.
        """
        ways = [(result, given) for result, given, _ in results if all(isinstance(v, Value) for v in given)]
        for k, (first, mine) in enumerate(ways):
            for second, others in ways[:k]:
                # A value of a way that goes on, beside one of both ways, says nothing of the other.
                if len(mine) == len(others) and all(map(apart or self.apart, mine, others)):
                    self._apart.add(frozenset((first, second)))
        for result, _, memories in results:
            if memories:
                self._either[result] = frozenset(memories)
                self._several |= {result, *memories}
                self._places[1].setdefault(result, len(self._places[1]))
        for result, given, _ in results:
            self._told.add(result)
            for held in self.lists.values():
                if any(held.holds(self, v) for v in given if isinstance(v, Value) and isinstance(v.type, ArrayType)):
                    held.know(self, result)

    def is_told(self, result: Value) -> bool:
        """Whether it was stated which memories a result of a loop or branch may be."""
        return result in self._told

    def choose(self, result: Value, tests: Sequence[Value], arrays: Sequence[Value]) -> None:
        """State which array a result of a loop or branch is: the first of which the test holds, or the last one.

        `arrays` are handles from before it; the result itself stands for what is made in it.
        """
        self._chosen[result] = tuple(tests), tuple(arrays)

    def choice(self, handle: Value) -> tuple[tuple[Value, ...], list[Value]] | None:
        """What decides at run time which array a handle is, and the handles of these; None where it is one."""
        if (root := self.root(handle)) not in self._chosen:
            return None
        tests, made = self._chosen[root]
        return tests, [handle if array is root else self.same_view(handle, array) for array in made]

    def choice_with_argument(self, handle: Value) -> tuple[tuple[Value, ...], list[Value]] | None:
        """As :meth:`choice`, where an argument is among them: of the others nobody sees which one is returned."""
        choice = self.decided(root := self.root(handle))
        arrays = [array for array in choice[1] if array is not root] if choice is not None else []
        seen = any(self.argument(a) is not None or self.choice_with_argument(a) is not None for a in arrays)
        return self.choice(handle) if seen else None

    def decided(self, handle: Value) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """As :meth:`choice`, of what is the whole of its memory."""
        return self._chosen.get(handle)

    def same_view(self, handle: Value, array: Value) -> Value:
        """What a handle is of the whole of its memory, of another array."""
        for view in reversed(self.views(handle)):
            types = None if view.op.infer else view.types
            array = self.inst(view.op, (array, *view.args[1:]), dict(view.attrs), types).result
        return array

    def selected(self, tests: Sequence[Value], values: Sequence[Value], like: Value) -> Value:
        """The first value of which the test holds, or the last one, with the lengths of another."""
        values = [self._of_lengths(value, like) for value in values]
        made = values[-1]
        for test, value in zip(reversed(tests), reversed(values[:-1]), strict=True):
            if value is made:
                continue
            both = [value, made]
            blocks = [closed((), (), [chosen], both, self.loc) for chosen in both]
            made = self.whole("if_else", (test,), both, {}, [bare(value.type)], blocks).result
            made.name = like.name
        return made

    def _of_lengths(self, value: Value, like: Value) -> Value:
        """An array with the lengths of another, which the call compares."""
        wanted = shape_of(like.type)
        differ = [pair for pair in zip(wanted, shape_of(value.type), strict=True) if pair[0] != pair[1]]
        for pair in differ:
            said = ("UnsupportedError", "lengths {0} and {1} of arrays that one name stands for differ")
            super().inst("check", (), {"kind": "equal", "dims": pair, "shapes": said})
        if not differ:
            return value
        attrs = {"start": (0,) * len(wanted), "size": wanted, "step": (1,) * len(wanted)}
        return super().inst("slice", (value,), attrs).result

    def apart(self, first: Value, second: Value) -> bool:
        """Whether two handles are known to be in different memories."""
        first, second = self.root(first), self.root(second)
        if first is second:
            return False
        if frozenset((first, second)) in self._apart or not self._meet(self.memories(first), second):
            return True
        return bool(self.numbered) and self._decided_apart(first, second)

    def _decided_apart(self, first: Value, second: Value) -> bool:
        """Whether results are different arrays however what decides turns out."""
        ways = [self._chosen.get(result, ((), (result,))) for result in (first, second)]
        tests = list(dict.fromkeys(test for of, _ in ways for test in of))
        if not 0 < len(tests) <= _MOST_TESTS or not all(map(self._of_wholes, self._chosen.keys() & {first, second})):
            return False
        for holds in product((True, False), repeat=len(tests)):
            taken = dict(zip(tests, holds, strict=True))
            one, other = (next(a for t, a in zip_longest(of, arrays) if t is None or taken[t]) for of, arrays in ways)
            if one is other or not self.made_memories(one).isdisjoint(self.made_memories(other)):
                return False
        return True

    def made_memories(self, array: Value) -> set[Value]:
        """The memories of an array that is none of those that it was chosen from."""
        own = self.memories(array)
        return own - {a for a in self._chosen[array][1] if a is not array} if array in self._chosen else own

    def _meet(self, memories: Set[Value], other: Value) -> bool:
        """Whether a handle may be in one of these memories, as far as it was not said that they are apart."""
        root = self.root(other)
        return root in memories or not memories.isdisjoint(self._either.get(root, ()))

    def name_strides(self, param: Value) -> None:
        """Give the strides of an argument, which the call looks up, names."""
        axes = range(len(shape_of(param.type)))
        self._strides[param] = tuple(f"{param.name}_s{axis}_{side}_" for axis in axes for side in ("above", "below"))
        super().inst("strides", (param,), {"names": self._strides[param]})

    def forget_strides(self) -> None:
        """Leave out the strides that nothing mentions."""
        if not self._strides:
            return
        used = {
            name
            for whole in self.insts
            for inst in (whole, *(inner for region in whole.regions for inner in walk(region)))
            if inst.op.name != "strides"
            for _, value in inst.attrs
            for name in named(value)
        }
        self.insts[:] = [i for i in self.insts if i.op.name != "strides" or not used.isdisjoint(i.attr("names"))]

    def strides_of(self, param: Value) -> list[tuple[Dim, Dim]] | None:
        """What the strides of an argument have above 0 and below, where they have names."""
        names = self._strides.get(param, ())
        return [(symbol(above), symbol(below)) for above, below in zip(names[::2], names[1::2], strict=True)] or None

    def rests_on(self, root: Value, params: Iterable[Value]) -> None:
        """State that a view is made of a memory that NumPy lays out in row-major order where these arguments are in it."""
        if made := dict.fromkeys(params):
            self._rests.setdefault(root, {}).update(made)

    def _demand_order(self, root: Value) -> None:
        """Refuse arguments in another order than that in which a memory was taken to be."""
        for param in self._rests.get(root, ()):
            strides, shape = self.strides_of(param), shape_of(param.type)
            assert strides is not None
            steps = [above + below for above, below in strides]
            other: DimLike = 0
            for a, b in combinations(range(len(shape)), 2):
                lengths = [dim_min((shape[axis] - 1) * (shape[axis] - 1), 1) for axis in (a, b)]
                falls = dim_min(steps[a], 1) * dim_min(dim_max(steps[b] - steps[a], 0), 1)
                other = other + lengths[0] * lengths[1] * falls
            name = root.name or "an array"
            why = f"the elements of {name} lie in memory as those of {param.name}, whose axes are not in row-major order"
            said = ("UnsupportedError", f"{why}: write .copy() where {name} is reshaped")
            super().inst("check", (), {"kind": "equal", "dims": (dim_min(other, 1), 0), "shapes": said})

    def copy_unless(self, copy: Value, source: Value, apart: Dim | None) -> None:
        """State that a copy were a view of its source if a number of lengths were 0, or that it is not known to be none.

        Where that makes a difference, which is after a change of either, the call refuses such lengths.
        """
        root = self.root(source)
        self._perhaps_views[copy] = (root, self._now.get(root, root), apart)

    def _is_changed(self, copy: Value) -> bool:
        """Whether what a copy was made of has changed since, and the copy as well if it were a view."""
        source, before, _ = self._perhaps_views[copy]
        reason = self._unsure.get(source, self)
        if self._now.get(source, source) is not before or not (reason is self or reason == _LayOut(copy)):
            return True
        return source in self._perhaps_views and self._is_changed(source)

    def _demand_copy(self, handle: Value, changed: bool = False) -> None:
        """Refuse the lengths, or the layout, with which a copy would be a view; where the copy is `changed`, its source."""
        source, _, apart = self._perhaps_views[handle]
        self._demand_order(source)
        if apart is None:
            if not changed or self._is_seen(source) or self._is_changed(handle):
                raise self._laid_out(handle, source)
            self._unsure[source] = _LayOut(handle)
            return
        name, base = self._names(handle, source)
        why = "with these lengths and strides, and one of them is changed"
        text = f"{name} is a view of {base} {why}: write .copy() where it is made"
        said = ("UnsupportedError", text)
        super().inst("check", (), {"kind": "equal", "dims": (dim_min(apart, 1), 1), "shapes": said})

    def _is_seen(self, root: Value) -> bool:
        """Whether the caller sees a memory: it is an argument's, or several arguments are in it."""
        return self.argument(root) is not None or (root.inst is not None and root.inst.op.name == "memory")

    def _names(self, copy: Value, source: Value) -> tuple[str, str]:
        return copy.name or "a reshaped array", source.name or "an array"

    def _laid_out(self, copy: Value, source: Value) -> UnsupportedError:
        name, base = self._names(copy, source)
        return UnsupportedError(
            f"{name} is a view of {base} or a copy, as the elements of {base} lie in memory, and one of them is changed",
            self.loc,
            "write .copy() where it is made",
        )

    def _note_change(self, root: Value) -> None:
        """After a change of a memory, give it to what is known to be the same memory, and know nothing of what may be.

        Raises
        ------
        UnsupportedError
            That is an argument's, which the caller sees.
        """
        touched = {root}
        wholes = root in self._chosen and self._of_wholes(root)
        if wholes:
            tests, arrays = self._chosen[root]
            for memory in dict.fromkeys(arrays):
                if memory is not root:
                    now = self._now.get(memory, memory)
                    ways = [self._now[root] if array is memory else now for array in arrays]
                    self._hold(memory, self.selected(tests, ways, memory))
                    touched.add(memory)
        mine = self.memories(root)
        # One that stands among these for what was made where it was chosen may be another one of them, too.
        again = {other for other in touched if other in self._either} if wholes and self.numbered else set()
        others = (self._several - (touched - again) - self._left) - {root}
        others = {other for other in others if self._meet(mine, other) and not self.apart(root, other)}
        # In the order in which they were made, so that a function is written the same each time.
        known = [other for other in self._chosen if other in others and self._of_wholes(other) and self._is_chosen(root, other)]
        unknown = {*self._unsure, *others} - set(known) - {root}
        # Of wholes each is a memory of its own, or made with the other: none is one of those that are found here.
        known = [other for other in known if unknown.isdisjoint(self._chosen[other][1])]
        for other in known:
            tests, arrays = self._chosen[other]
            self._hold(other, self.selected(tests, [self._now.get(array, array) for array in arrays], other))
        for other in self._in_order(others - set(known)):
            key = self._keys.get(root) or self._keys.get(other)
            if other in self.arguments:
                raise self._refused(other, key)
            self._unsure[other] = key

    def _is_chosen(self, root: Value, other: Value) -> bool:
        """Whether two results can be one memory only where they are the same one of those that they are chosen from."""
        pairs = ((root, other), (other, root))
        return not self.numbered or all(self._made_beside(a).isdisjoint(self.memories(b)) for a, b in pairs)

    def _made_beside(self, result: Value) -> set[Value]:
        """The memories that a result may be besides those it is chosen from: what was made in a region, and has other names."""
        known = {*self._chosen[result][1], *(self._chosen.keys() - self._left)} if result in self._chosen else ()
        return self.memories(result) - {result, *known}

    def _in_order(self, memories: Set[Value]) -> list[Value]:
        """Memories, arguments first and as they were made: what is said of them is the same in every process."""
        if len(memories) < 2:
            return list(memories)
        made, either = self._places
        made.update((memory, place) for place, memory in enumerate(self.made[self._placed :], self._placed))
        self._placed = len(self.made)
        arguments = {memory: place for place, memory in enumerate(self.arguments)}

        def place(memory: Value) -> tuple[bool, int, int]:
            if memory in arguments:
                return False, 0, arguments[memory]
            return (True, 1, either[memory]) if memory in either else (True, 0, made.get(memory, -1))

        return sorted(memories, key=place)

    def _of_wholes(self, result: Value) -> bool:
        """Whether what a result may be are whole memories, each known to be no other one, of lengths that are the call's.

        One that is chosen itself stands for what was made where it was.
        """
        arrays = set(self._chosen[result][1]) - {result}
        known = self._chosen.keys() if self.numbered else set()
        if any(array in self._views or (array in self._either and array not in known) for array in arrays):
            return False
        pairs = (pair for array in arrays for pair in zip(shape_of(result.type), shape_of(array.type), strict=True))
        return not any(is_number(name) for first, second in pairs if first != second for name in named((first, second)))

    def doubt(self, state: Changes) -> None:
        """Know nothing of the memories of which nothing was known in another state."""
        self._unsure.update(state[3])

    def known_with(self, results: Iterable[Value], key: Any) -> None:
        """State that it is known which memories results are where the function is read again with a key; see `HandOn`."""
        self._keys.update(dict.fromkeys(results, key))

    def known_as(self, results: Iterable[Value], sides: Iterable[Value]) -> None:
        """State that what makes known which memories one of the sides of a branch is does so of results, too."""
        key = next((self._keys[root] for side in sides if self._keys.get(root := self.root(side)) is not None), None)
        if key is not None:
            self.known_with(results, key)

    def _refused(self, handle: Value, key: Any) -> UnsupportedError | HandOn:
        if isinstance(key, _LayOut):
            return self._laid_out(key.copy, handle)
        if key is not None:
            return HandOn(key)
        if self.numbered is None:
            return HandOn(NUMBERED)
        name = handle.name or "an array"
        return UnsupportedError(
            f"{name} may share its memory with an array that is changed, or not: a loop or branch decides at run time",
            self.loc,
            f"make a copy before the loop or branch: {name}.copy()",
        )

    def root(self, handle: Value) -> Value:
        """The handle of the whole memory that a handle is in."""
        while handle in self._views:
            handle = self._views[handle][0]
        return handle

    def sources(self, root: Value) -> list[Value]:
        """The memories that a copy would be a view of, as the elements of these lie in memory."""
        found: list[Value] = []
        while root in self._perhaps_views:
            root = self._perhaps_views[root][0]
            found.append(root)
        return found

    def argument(self, handle: Value) -> Value | None:
        """The parameter whose memory a handle is in, or None for memory the function made."""
        while handle not in self.arguments:
            if handle not in self._views:
                return None
            handle = self._views[handle][0]
        return self.arguments[handle]

    def views(self, handle: Value) -> list[Inst]:
        """The views from the whole memory to the handle, the last one first."""
        found: list[Inst] = []
        while handle in self._views:
            handle, inst = self._views[handle]
            found.append(inst)
        return found

    def read_only(self, handle: Value) -> bool:
        """Whether NumPy lets nobody write through a handle, whatever memory it is in."""
        # NumPy's views of these kinds are read-only, but for the diagonals of np.einsum.
        return any(i.op.repeats or (i.op.name == "diagonal" and i.attr("writable") is None) for i in self.views(handle))

    def is_offered(self, handle: Value) -> bool:
        """Whether all that repeats elements is of ``np.broadcast_arrays``, whose results NumPy lets write, with a warning."""
        repeating = [i for i in self.views(handle) if i.op.repeats or i.op.name == "diagonal"]
        return all(i.attr("writable") is not None for i in repeating)

    def reference(self, handle: Value) -> Value:
        """What a ``return`` names: a parameter or a view of one as such, else the contents."""
        if handle in self.arguments:
            return self.arguments[handle]
        if self.argument(handle) is None or any(inst.op.repeats for inst in self.views(handle)):
            # Repeated elements are returned as a new array, with what they are at the end.
            return self.contents(handle)
        if any(inst.op.name == "pick" for inst in self.views(handle)):
            # So are those of a place that data state.
            return super().emit("copy", (self.contents(handle),))
        source, inst = self._views[handle]
        return self._again(handle, inst, self.reference(source))

    def update(self, handle: Value, new: Value) -> None:
        """Replace the elements of an array; `new` has its dtype and broadcasts to its shape."""
        handle, new = self._in_memory(handle, new)
        root = self.root(handle)
        for held in self.lists.values() if not self._in_list else ():
            held.refuse_change(self, root)
        if root in self._perhaps_views:
            self._demand_copy(root, changed=True)
        self._demand_order(root)
        whole = self.contents(root)
        made = super().inst("update", (whole, self._beside(handle, whole), self.contents(new)))
        made.result.name = root.name
        self._now[root] = made.result
        if self._either:
            self._note_change(root)

    def _beside(self, handle: Value, whole: Value) -> Value:
        """What a handle is in the whole of its memory; in a region the view is taken there, since it is what a change names."""
        view = self.contents(handle)
        if not self.depth or all(inst in self.insts for inst in chain_from(whole, view)):
            return view
        view = whole
        for inst in reversed(self.views(handle)):
            view = super().inst(inst.op, (view, *inst.args[1:]), dict(inst.attrs), None if inst.op.infer else inst.types).result
        return view

    def _in_memory(self, handle: Value, new: Value) -> tuple[Value, Value]:
        """An array of its memory's dtype, of which a handle is the parts or the bits, and what its elements become."""
        below: list[Inst] = []
        whole = handle
        while whole in self._views:
            whole, inst = self._views[whole]
            if inst.op.name not in _RETYPES:
                below.append(inst)
                continue
            for view in reversed(below):
                types = None if view.op.infer else view.types
                whole = self.inst(view.op, (whole, *view.args[1:]), dict(view.attrs), types).result
            if inst.op.name == "view":
                dtype, shape = element(whole.type), shape_of(new.type)
                made = ArrayType(dtype, shape) if isinstance(new.type, ArrayType) else scalar(dtype)
                return self._in_memory(whole, self.emit("view", (new,), {}, (made,)))
            real, imag = (new if inst.op.name == part else self.emit(part, (whole,)) for part in ("real", "imag"))
            return self._in_memory(whole, self.emit("compose", (real, imag)))
        return handle, new

    def write_check(self, param: Value, what: str) -> None:
        """Let the call check that an argument may be written."""
        super().inst("writable", (param,), {"what": what, **({"caught": True} if self.catches else {})})

    def updates(self) -> list[tuple[Value, Value]]:
        """The memories of arguments that were changed, each with what it holds now."""
        outside = {self.root(handle): None for handle in self.arguments}
        return [(root, self._now[root]) for root in outside if root in self._now]

    # Regions.

    def state(self) -> Changes:
        """What memories hold now, and which arguments were found writable: for :meth:`go_back`."""
        return dict(self._now), dict(self._derived), dict(self.written), dict(self._unsure)

    def go_back(self, state: Changes) -> None:
        """Forget what was changed, and the views that were taken, since a state."""
        self._now, self._derived, self.written, self._unsure = (dict(part) for part in state)  # type: ignore[assignment]

    def changed(self, state: Changes) -> list[Value]:
        """The memories whose contents were changed since a state."""
        return [root for root, contents in self._now.items() if state[0].get(root, root) is not contents]

    def replace(self, root: Value, contents: Value, changed: bool = True) -> None:
        """State what a memory holds from here on.

        Raises
        ------
        UnsupportedError
            It is `changed`, and may be the memory of an argument.
        """
        self._hold(root, contents)
        if changed and self._either:
            self._note_change(root)

    def lose(self, root: Value, contents: Value) -> None:
        """State that a memory was changed, perhaps to these contents, and that nothing else is known of it."""
        self.replace(root, contents)
        self._unsure[root] = None

    def _hold(self, root: Value, contents: Value) -> None:
        self._now[root] = contents
        self.memory_of.setdefault(contents, root)

    def leave(self, results: Sequence[Value], attrs: dict[str, Any]) -> None:
        """Write the ``return``; `results` are values, not handles."""
        super().inst("return", results, attrs)

"""Writes what one iteration of a kernel computes: loads, element operations, index arithmetic.

In: array values and where an iteration reads them.  Out: instructions at loop level.  Which
loops stand around them is the schedule's; see `pytocu.passes.lower_loops`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytocu.deferred import Deferred
from pytocu.errors import NOTHING, Loc
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.dims import Atom, Dim, DimLike, product, substitute, symbol, symbols
from pytocu.ir.regions import bindings, is_region
from pytocu.ir.types import BOOL, F64, I64, INDEX, ArrayType, DType, axes_of, element, is_strided, scalar
from pytocu.passes.accesses import Index, choice_key, demand, is_choice, operands, pieces, position
from pytocu.passes.affine import Affine, Part, constant
from pytocu.passes.known_positions import Known
from pytocu.record import Mutable, Record, fresh

_region_loop = Deferred("pytocu.passes.region_loops", "write")
_search = Deferred("pytocu.passes.searches", "write")


def strides_of(type: ArrayType, name: str) -> tuple[DimLike, ...]:
    """Elements from one position to the next on each axis; symbols where any strides may come."""
    if is_strided(type.layout):
        return tuple(symbol(f"{name}_s{axis}") if d != 1 else 0 for axis, d in enumerate(type.shape))
    order = axes_of(type.layout, type.ndim)
    dims = [type.shape[a] for a in order]
    steps = [product(dims[k + 1 :]) for k in range(len(dims))]
    out: list[DimLike] = [0] * type.ndim
    for place, axis in enumerate(order):
        out[axis] = steps[place]
    return tuple(out)


class Bound(Record):
    """A number of run time: what an int has above 0, or with the sign -1 below it; with a length a bound of a slice."""

    value: Value
    sign: int
    length: DimLike | None


class Memory(Mutable):
    """An array in memory as a kernel sees it; `known` are lengths that the kernel is written for."""

    pointer: Value
    strides: tuple[DimLike, ...]
    known: Mapping[str, int] = fresh(default_factory=dict)

    def offset(self, index: Index, ndim: int) -> Affine:
        total = constant(0, ndim)
        for place, stride in zip(index, self.strides, strict=True):
            total = total + place * stride
        if not self.known:
            return total
        coefficients = tuple(substitute(c, self.known) for c in total.coefficients)
        return Affine(coefficients, substitute(total.offset, self.known), total.parts)


def reading_places(
    insts: Iterable[Inst], pairs: Sequence[tuple[Value, Index]], memory: Mapping[Value, Memory], ndim: int
) -> dict[tuple[Value, Index] | Value, Loc]:
    """Where the program asks for elements: by array and position, by array, and by pointer, where it does first.

    Parameters
    ----------
    insts : iterable of Inst
        What the kernel computes, with what its loops and branches do.
    pairs : sequence
        What one iteration needs.
    """
    found: dict[tuple[Value, Index] | Value, Loc] = {}
    # What loops and branches are given is asked for inside of them.
    outer: dict[Value, Value] = {}
    for inst in insts:
        if is_region(inst):
            outer.update(bindings(inst))
            continue
        for array in inst.args:
            while array in outer:
                array = outer[array]
            if array in memory and inst.loc.line:
                found.setdefault(array, inst.loc)
                found.setdefault(memory[array].pointer, inst.loc)
    for value, at in pairs:
        user = value.inst
        if user is None or is_region(user) or not user.loc.line:
            continue
        if any(array in memory for array in user.args):
            for pair in operands(value, at, ndim):
                found.setdefault(pair, user.loc)
    return found


_ONLY_INSIDE = ("require", "concatenate", "gather", "search", "compaction", "fold_range")
"""Rows that are written where the iterations are, however fixed their operands."""


class Target(Record):
    """Where a result goes: the offset from a pointer at which each iteration stores."""

    pointer: Value
    offset: Affine


_END = 2.0**63 - 2.0**12
"""What is larger as a float64 int64 may not hold."""


class Elements(Mutable):
    """Writes elements of one kernel; lengths and invariants go to `before`, the rest to `inside`.

    Attributes
    ----------
    loc : Loc
        Of the kernel.
    memory, scalars : mapping
        The kernel's inputs: arrays in memory, and scalars as parameters.
    sizes : list of DimLike
        Lengths of the loops.
    groups : list of list of int
        Which axes of the iteration space each loop stands for.
    ndim : int
        Axes of the iteration space.
    written : frozenset of Value
        Pointers that the kernel writes.
    loop_index : list of Value
        The index of each loop.
    linear : Value or None
        The index over all loops in row-major order, where there is one.
    failures : Value or None
        Points to the words in which requirements note that they do not hold.
    words : mapping
        The first word of each requirement.
    exists : Value or None
        Whether the row is one, where threads without a row go round too: nothing is required of these.
    picked : mapping
        The number of the piece that holds a position of a concatenation, where the loops around it know.
    vectors : mapping of (Value, Affine) to Value
        What an iteration reads through a pointer at an offset over the loops, where it was loaded before.
    replaces : bool
        What is required of an integer and does not hold makes it 0.
    sequential : bool
        One thread computes neighbouring elements one after the other.
    leaves : bool
        What is required and does not hold ends the kernel: it is one element's, and what follows would be written for nobody.
    broken : Value or None
        In regions, where nothing leaves the kernel: whether what was required so far does not hold. It ends loops.
    region : bool
        Whether what is written is in a loop or branch of the program, or in the function of a map.
    within : dict
        Integers that a requirement made positions of an axis, with its length.
    given : mapping
        What the parameters of loops and branches of the user's program stand for.
    places : mapping
        Where the program asks for an element of an array in memory, and for any element of the array.
    numbers : dict
        Numbers that are known in the region that is written, by the names by which positions know them.
    versions : dict
        Contents of arrays that change while an iteration runs, each with the memory: what is loaded of it, is loaded
        while they are there.
    made_before : set of Value
        What loops and branches that change arrays gave besides, whose elements are in `made`.
    known : Known
        What is known of positions where the next instruction is written.
    """

    loc: Loc
    memory: Mapping[Value, Memory]
    scalars: Mapping[Value, Value]
    before: Builder
    inside: Builder
    sizes: list[DimLike]
    groups: list[list[int]]
    ndim: int
    written: frozenset[Value]
    lengths: dict[Atom, Value] = fresh(default_factory=dict)
    dims: dict[DimLike, Value] = fresh(default_factory=dict)
    loop_index: list[Value] = fresh(default_factory=list)
    made: dict[tuple[Value, Index], Value] = fresh(default_factory=dict)
    offsets: dict[Affine, Value] = fresh(default_factory=dict)
    linear: Value | None = None
    failures: Value | None = None
    exists: Value | None = None
    words: Mapping[Inst, int] = fresh(default_factory=dict)
    picked: Mapping[tuple[Value, Affine], int] = fresh(default_factory=dict)
    vectors: Mapping[tuple[Value, Affine], Value] = fresh(default_factory=dict)
    replaces: bool = False
    sequential: bool = False
    leaves: bool = False
    broken: Value | None = None
    region: bool = False
    within: dict[Value, tuple[DimLike, ...]] = fresh(default_factory=dict)
    given: dict[Value, Value] = fresh(default_factory=dict)
    places: Mapping[tuple[Value, Index] | Value, Loc] = fresh(default_factory=dict)
    numbers: dict[str, Value | Bound] = fresh(default_factory=dict)
    versions: dict[Value, Memory] = fresh(default_factory=dict)
    made_before: set[Value] = fresh(default_factory=set)
    known: Known = Known()

    def invariants(self, pairs: list[tuple[Value, Index]]) -> None:
        """Compute before the loops what does not move with them."""
        perhaps = self._perhaps_read(pairs)
        for value, at in pairs:
            fixed = all(p.fixed for p in at) and value.inst is not None
            if fixed and (value, at) not in perhaps and not self._moves(value, at):
                self.made[value, at] = self.write(self.before, value, at)

    def _perhaps_read(self, pairs: list[tuple[Value, Index]]) -> set[tuple[Value, Index]]:
        """What reads memory for a piece of a concatenation, which may not have the position."""
        found: set[tuple[Value, Index]] = set()
        for value, at in pairs:
            if not is_choice(value):
                continue
            assert value.inst is not None
            for piece, where, _ in pieces(value.inst, at):
                read: set[tuple[Value, Index]] = set()
                for part, place in demand([piece], where, self.ndim):
                    arguments = operands(part, place, self.ndim)
                    if part in self.memory or any(argument in read for argument in arguments):
                        read.add((part, place))
                found |= read
        return found

    def _moves(self, value: Value, at: Index) -> bool:
        if value.inst is not None and value.inst.op.name in _ONLY_INSIDE:
            # Where there are no iterations nothing is required, and no position exists.
            return True
        regions = value.inst.regions if value.inst is not None else ()
        if any(i.op.name in ("require", "check") for region in regions for i in walk(region)):
            return True
        needed = operands(value, at, self.ndim)
        return any((arg, place) not in self.made and not self._leaf(arg, place) for arg, place in needed)

    def _leaf(self, value: Value, at: Index) -> bool:
        if value.inst is not None or not all(p.fixed for p in at):
            return False
        # What the kernel changes is read by the one iteration that needs it, not by every thread.
        memory = self.memory.get(value)
        return memory is None or memory.pointer not in self.written

    def elements(
        self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]], targets: list[Target]
    ) -> None:
        """Everything one iteration computes, then the stores."""
        self.compute(self.eager(roots, index, pairs))
        self.store(roots, index, targets)

    def eager(self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]]) -> list[tuple[Value, Index]]:
        """What every iteration computes, without what only the iterations of a piece of a concatenation do."""
        some = any(is_choice(v) or is_region(v.inst) for v, _ in pairs)
        return demand(roots, index, self.ndim, chosen=False) if some else pairs

    def store(self, roots: Sequence[Value], index: Index, targets: list[Target]) -> None:
        """Write the results of one iteration."""
        for root, target in zip(roots, targets, strict=True):
            self.store_element(self.inside, (root, position(root, index)), target)

    def store_element(self, builder: Builder, pair: tuple[Value, Index], target: Target) -> None:
        """Write one element of a result."""
        value = pair[0]
        builder.loc = value.inst.loc if value.inst is not None else self.loc
        builder.inst("store", (target.pointer, self.address(builder, target.offset), self.made[pair]))

    def compute(self, pairs: list[tuple[Value, Index]]) -> None:
        """Everything one iteration computes."""
        for value, at in pairs:
            if (value, at) not in self.made:
                self.made[value, at] = self.write(self.inside, value, at)

    def whole(self, value: Value) -> Memory:
        """The array that an instruction looks into at positions of its own; loops call it what it is given as."""
        while value in self.given:
            value = self.given[value]
        return self.memory[value]

    def write(self, builder: Builder, value: Value, at: Index) -> Value:
        """One element of a value."""
        inst = value.inst
        if inst is None or value in self.versions:
            if value in self.given:
                return self.operand(builder, self.given[value], at)
            if value in self.scalars:
                return self.scalars[value]
            memory = self.versions[value] if value in self.versions else self.memory[value]
            builder.loc = self.places.get((value, at)) or self.places.get(value, self.loc)
            offset = memory.offset(at, self.ndim)
            loaded = self.vectors.get((memory.pointer, self.merged(offset)))
            if loaded is not None:
                return loaded
            return builder.emit("load", (memory.pointer, self.address(builder, offset)))
        builder.loc = inst.loc
        match inst.op.name:
            case "iota":
                made = self.address(builder, at[inst.attr("axis")])
                return builder.emit("convert_raw", (made,), {}, (scalar(I64),), name=value.name)
            case "gather":
                return self.operand(builder, *operands(value, at, self.ndim)[-1])
            case "concatenate":
                return self.choose(builder, inst, at)
            case "fold_range":
                start, _, *bounds = inst.args
                return self.fold_range(builder, inst, *(self.operand(builder, a, position(a, at)) for a in (start, *bounds)))
            case "search":
                return _search(self, builder, inst, self.operand(builder, inst.args[1], position(inst.args[1], at)))
            case "dim":
                if any(isinstance(self.numbers.get(name), Bound) for name in symbols(inst.attr("value"))):
                    # An int of the program, which need be no index.
                    return self.wide(inst.attr("value"), builder, [])
                made = self.dim(inst.attr("value"), builder)
                return builder.emit("convert_raw", (made,), {}, (scalar(I64),), name=value.name)
        if inst.op.kind == "region":
            return _region_loop(self, builder, value, at)
        values = [self.operand(builder, arg, place) for arg, place in operands(value, at, self.ndim)]
        if inst.op.name == "require":
            return self.require(builder, inst, values)
        if inst.op.name == "view":
            return self.view(builder, values[0], element(value.type))
        if inst.op.name in ("real", "imag"):
            return builder.emit("part", values, {"which": inst.op.name}, name=value.name)
        if inst.op.kind == "view" or inst.op.name in ("copy", "as_array", "own_piece"):
            return values[-1]
        type = scalar(element(value.type))
        if inst.op.name == "const":
            return builder.const(inst.attr("value"), type, value.name)
        attrs = dict(inst.attrs)
        return builder.emit(inst.op, values, attrs, (type,), name=value.name)

    def choose(self, builder: Builder, inst: Inst, at: Index) -> Value:
        """The element of the piece that has the position; the others are not read."""
        parts = pieces(inst, at)
        key = choice_key(inst.results[0], at)
        if key in self.picked:
            value, where, _ = parts[self.picked[key]]
            return self.needed(builder, value, where)
        along, type = at[inst.attr("axis")], scalar(element(inst.types[0]))
        undecided = any(self.known.is_below(along, start) is None for _, _, start in parts[1:])
        place = self.address(builder, along) if undecided else None

        def one_of(count: int) -> Value:
            """The element where the position is in one of the first pieces."""
            value, where, start = parts[count - 1]
            below = self.known.is_below(along, start) if count > 1 else False
            if below is not None:
                return one_of(count - 1) if below else self.needed(builder, value, where)
            assert place is not None
            before = builder.emit("less", (place, self.dim(start, builder)))
            sides: list[tuple[list[Inst], Value, Value | None]] = []
            known, broken = self.known, self.broken
            for below, find in ((True, lambda: one_of(count - 1)), (False, lambda: self.needed(builder, value, where))):
                made, offsets, dims = dict(self.made), dict(self.offsets), dict(self.dims)
                self.known, self.broken = known.compared(along, start, below), None
                with builder.nested() as insts:
                    found = find()
                sides.append((insts, found, self.broken))
                # What was computed for a piece is known in its region only, and so are lengths that were written there.
                self.made, self.offsets, self.known, self.broken = made, offsets, known, broken
                if self.before is builder:
                    self.dims = dims
            builder.loc = inst.loc
            flags = [scalar(BOOL)] if any(flag is not None for *_, flag in sides) else []
            regions: list[Block] = []
            for insts, found, flag in sides:
                with builder.nested() as end:
                    wrong = [flag if flag is not None else builder.const(False, of) for of in flags]
                    builder.emit("yield", (found, *wrong))
                regions.append(Block((), (*insts, *end)))
            chosen = builder.inst("if", (before,), {}, (type, *flags), regions).results
            if count == len(parts):
                chosen[0].name = inst.result.name
            if flags:
                self.breaks(builder, chosen[1])
            return chosen[0]

        return one_of(len(parts))

    def fold_range(self, builder: Builder, inst: Inst, start: Value, lower: Value, upper: Value) -> Value:
        """A number combined with the elements of a range, one after the other."""
        memory = self.whole(inst.args[1])
        index, state = Value(INDEX, "position"), Value(start.type, "state")
        first, last = (builder.emit("convert_raw", (b,), {}, (INDEX,)) for b in (lower, upper))
        # Lengths and constants stand before the loop, also where the builder is that of the lines before.
        stride, one = self.dim(memory.strides[0]), self.dim(1)
        with builder.nested() as insts:
            offset = index
            if memory.strides[0] != 1:
                offset = builder.emit("multiply", (index, stride))
            there = builder.emit("load", (memory.pointer, offset))
            builder.emit("yield", (builder.emit(inst.attr("op"), (state, there), {}, (start.type,)),))
        region = Block((index, state), tuple(insts))
        made = builder.inst("for", (first, last, one, start), {"over": "serial"}, (start.type,), (region,))
        made.results[0].name = inst.result.name
        return made.results[0]

    def needed(self, builder: Builder, value: Value, at: Index) -> Value:
        """An element and all it is made of."""
        for operand, place in demand([value], at, self.ndim, self.is_known, chosen=False):
            if (operand, place) not in self.made:
                self.made[operand, place] = self.write(builder, operand, place)
        return self.made[value, position(value, at)]

    def is_known(self, value: Value) -> bool:
        """In memory, or computed before what depends on it."""
        return _is_known(value) or value in self.versions or value in self.made_before

    def require(self, builder: Builder, inst: Inst, values: Sequence[Value]) -> Value:
        """The first value; where the second does not hold, the third and the lengths go to the requirement's words."""
        value, condition, *shown = values
        # What does not hold is replaced on a CPU, where nothing else keeps a position inside of its axis.
        kept = [value] if (self.replaces or self.leaves) and value.type == scalar(I64) else []
        lengths = [self.dim(d, builder) for d in inst.attr("dims")]
        broken = builder.emit("invert", (condition,))
        if self.exists is not None:
            broken = builder.emit("bitwise_and", (broken, self.exists))
        made = self.note(builder, inst, broken, shown, lengths, kept)
        if not made:
            return value
        made[0].name = inst.result.name
        self.within[made[0]] = tuple(inst.attr("dims"))
        return made[0]

    def note(
        self, builder: Builder, inst: Inst, broken: Value, shown: Sequence[Value], lengths: Sequence[Value],
        kept: Sequence[Value] = (),
    ) -> Sequence[Value]:  # fmt: skip
        """Where something is `broken`, the number and the lengths go to the words of a requirement; else what is `kept`."""
        assert self.failures is not None
        first, word = self.words[inst], scalar(I64)
        with builder.nested() as bad:
            number = shown[0] if shown else builder.const(0, word)
            # The largest number says that nothing went wrong.
            number = builder.emit("minimum", (number, builder.const(NOTHING - 1, word)))
            for place, length in enumerate((number, *lengths)):
                noted = builder.emit("convert_raw", (length,), {}, (word,)) if length.type == INDEX else length
                builder.inst("atomic_minimum", (self.failures, builder.const(first + place, INDEX), noted))
            if self.leaves:
                builder.emit("return")
            else:
                builder.emit("yield", [builder.const(0, word)] if kept else [])
        with builder.nested() as good:
            builder.emit("yield", kept)
        regions = Block((), tuple(bad)), Block((), tuple(good))
        made = builder.inst("if", (broken,), {}, [word for _ in kept], regions).results
        if self.region and not self.leaves:
            self.breaks(builder, broken)
        return made

    def breaks(self, builder: Builder, broken: Value) -> None:
        """State that more is required, which does not hold where this is true."""
        self.broken = broken if self.broken is None else builder.emit("bitwise_or", (self.broken, broken))

    def compare(self, builder: Builder, check: Inst) -> None:
        """Note an index that is no position, or two numbers that are not equal."""
        builder.loc = check.loc
        index = check.attr("kind") == "index"
        large: list[Value] = []
        numbers = [self.wide(d, builder, large) for d in check.attr("dims")[: 2 if index else None]]
        first, second, *_ = numbers
        if index:
            below = builder.emit("less", (first, builder.emit("negative", (second,))))
            broken = builder.emit("bitwise_or", (below, builder.emit("greater_equal", (first, second))))
            for flag in large:
                broken = builder.emit("bitwise_or", (broken, flag))
        else:
            broken = builder.emit("not_equal", (first, second))
        self.note(builder, check, broken, numbers[:1], numbers[1:])

    def wide(self, dim: DimLike, builder: Builder, large: list[Value]) -> Value:
        """A number of run time as an int64, whatever the width of an index: it may be no position.

        `large` gets flags of what int64 may not hold: of products, and of a sum, which is right where it is a number of int64,
        whatever it was in between.
        """
        word = scalar(I64)
        if not isinstance(dim, Dim):
            return builder.const(dim, word)
        left = dict(dim.terms)
        parts: list[tuple[Value, int]] = []
        for monomial, coefficient in dim.terms:
            whole = self._whole(monomial)
            if whole is not None and left.get(whole[1]) == -coefficient:
                parts.append((self.needed(builder, whole[0], ()), coefficient))
                del left[monomial], left[whole[1]]
        for monomial, coefficient in left.items():
            factors = [self._wide_factor(atom, builder, large) for atom in monomial] or [builder.const(1, word)]
            made = factors[0]
            for factor in factors[1:]:
                _note_large(builder, large, _real_product(builder, made, factor))
                made = builder.emit("multiply", (made, factor))
            parts.append((made, coefficient))
        total: Value | None = None
        real: Value | None = None
        for made, coefficient in parts:
            factor = builder.const(coefficient, word)
            if len(parts) > 1 or coefficient not in (1, -1):
                product = _real_product(builder, made, factor)
                _note_large(builder, large, product)
                real = product if real is None else builder.emit("add", (real, product))
            term = made if coefficient == 1 else builder.emit("multiply", (made, factor))
            total = term if total is None else builder.emit("add", (total, term))
        assert total is not None
        if real is not None and len(parts) > 1:
            _note_large(builder, large, real)
        return total

    def _whole(self, monomial: tuple[Atom, ...]) -> tuple[Value, tuple[Atom, ...]] | None:
        """The int of which a term is what is above 0, and the term that is what it has below."""
        found = self.numbers.get(monomial[0].name) if len(monomial) == 1 and not monomial[0].args else None
        if not isinstance(found, Bound) or found.length is not None or found.sign < 0:
            return None
        for name, other in self.numbers.items():
            if isinstance(other, Bound) and other.value is found.value and other.sign < 0:
                return found.value, symbol(name).terms[0][0]
        return None

    def _wide_factor(self, atom: Atom, builder: Builder, large: list[Value]) -> Value:
        word = scalar(I64)
        dim = Dim((((atom,), 1),))
        if self.numbers.keys().isdisjoint(symbols(dim)):
            return builder.emit("convert_raw", (self.length(atom),), {}, (word,))
        if not atom.args:
            found = self.numbers[atom.name]
            if isinstance(found, Value):
                return builder.emit("convert_raw", (found,), {}, (word,))
            if found.length is not None:
                # It is a position of the array, or its length.
                return builder.emit("convert_raw", (self._bound(found, builder),), {}, (word,))
            made = self.needed(builder, found.value, ())
            if found.sign < 0:
                made = builder.emit("negative", (made,))
            return builder.emit("maximum", (made, builder.const(0, word)))
        a, b = (self.wide(x, builder, large) for x in atom.args)
        row = {"min": "minimum", "max": "maximum", "//": "floor_divide", "%": "remainder"}[atom.name]
        return builder.emit(row, (a, b))

    def view(self, builder: Builder, value: Value, dtype: DType) -> Value:
        """An element's bits as another dtype; a bool is one byte, 0 or 1."""
        source = element(value.type)
        if source is dtype:
            return value
        return builder.emit("convert_raw" if source.kind == "b" else "bitcast", (value,), {}, (scalar(dtype),))

    def operand(self, builder: Builder, value: Value, at: Index) -> Value:
        """An element that was computed before, or one the arguments hold."""
        if (value, at) not in self.made:
            self.made[value, at] = self.write(builder, value, at)
        return self.made[value, at]

    # Index arithmetic.

    def merged(self, offset: Affine) -> Affine:
        """The offset over the loops rather than the axes."""
        return Affine(tuple(offset.coefficients[g[-1]] for g in self.groups), offset.offset, offset.parts)

    def walk(self) -> tuple[DimLike, ...]:
        """The coefficients of an offset that is the number of the iteration."""
        return tuple(product(self.sizes[k + 1 :]) for k in range(len(self.sizes)))

    def is_linear(self, offset: Affine) -> bool:
        """Whether an offset is the number of the iteration."""
        return offset.offset == 0 and not offset.parts and self.merged(offset).coefficients == self.walk()

    def address(self, builder: Builder, offset: Affine) -> Value:
        """An element's offset from its pointer."""
        merged = self.merged(offset)
        if merged in self.offsets:
            return self.offsets[merged]
        made = self._address(builder, merged)
        if builder is self.inside or merged.fixed:
            self.offsets[merged] = made
        return made

    def _address(self, builder: Builder, merged: Affine) -> Value:
        if merged.fixed:
            return self.dim(merged.offset, builder)
        pairs: list[tuple[Value, DimLike]] = list(zip(self.loop_index, merged.coefficients, strict=True))
        factors: list[tuple[Value, DimLike]] = [(index, c) for index, c in pairs if c != 0]
        if self.linear is not None and merged.coefficients == self.walk():
            factors = [(self.linear, 1)]
        factors.extend((self.part(builder, part), c) for part, c in merged.parts)
        terms = [f if c == 1 else builder.emit("multiply", (f, self.dim(c, builder))) for f, c in factors]
        return self._sum(builder, terms, merged.offset)

    def part(self, builder: Builder, part: Part) -> Value:
        """A term that is not linear in the loop indices."""
        place = Affine((0,) * len(self.groups), 0, ((part, 1),))
        if place not in self.offsets:
            made = self._element(builder, *part.args) if part.name == "element" else self._divided(builder, part)
            if builder is not self.inside:
                return made
            self.offsets[place] = made
        return self.offsets[place]

    def _divided(self, builder: Builder, part: Part) -> Value:
        position, length = part.args
        if part.name == "wrap":
            place, whole = self.address(builder, position), self.dim(length, builder)
            before, rest = builder.emit("less", (place, whole)), builder.emit("subtract", (place, whole))
            return builder.emit("where", (before, place, rest))
        row = "divide_truncated" if part.name == "//" else "remainder_truncated"
        return builder.emit(row, (self.address(builder, position), self.dim(length, builder)))

    def _element(self, builder: Builder, value: Value, at: Index, length: DimLike) -> Value:
        """What an array of integers states as a position, inside of the memory whatever it is."""
        stated = self.operand(builder, value, at)
        axis = self.within.get(stated, ())
        if len(axis) == 1 and self.known.is_same(axis[0], length):
            return builder.emit("convert_raw", (stated,), {}, (INDEX,))
        last = builder.emit("convert_raw", (self.dim(length + (-1), builder),), {}, (scalar(I64),))
        stated = builder.emit("minimum", (stated, last))
        stated = builder.emit("maximum", (stated, builder.const(0, scalar(I64))))
        return builder.emit("convert_raw", (stated,), {}, (INDEX,))

    def _sum(self, builder: Builder, terms: list[Value], offset: DimLike) -> Value:
        total = terms[0]
        for term in terms[1:]:
            total = builder.emit("add", (total, term))
        if offset == 0:
            return total
        if isinstance(offset, int) and offset < 0:
            return builder.emit("subtract", (total, self.dim(-offset)))
        return builder.emit("add", (total, self.dim(offset, builder)))

    def dim(self, dim: DimLike, builder: Builder | None = None) -> Value:
        """A length as an index, computed before the loops from the kernel's length parameters.

        What depends on the numbers of a region is computed there, by the builder.
        """
        if self.numbers and isinstance(dim, Dim) and not self.numbers.keys().isdisjoint(symbols(dim)):
            assert builder is not None
            return self._sum_of_terms(dim, builder)
        if dim not in self.dims:
            self.dims[dim] = self._dim(dim)
        return self.dims[dim]

    def _dim(self, dim: DimLike) -> Value:
        if not isinstance(dim, Dim):
            return self.before.const(dim, INDEX)
        return self._sum_of_terms(dim, self.before)

    def _sum_of_terms(self, dim: Dim, builder: Builder) -> Value:
        total: Value | None = None
        for monomial, coefficient in dim.terms:
            factors = [self._factor(atom, builder) for atom in monomial]
            size = abs(coefficient)
            if size != 1 or not factors:
                factors.append(self.dim(size))
            term = factors[0]
            for factor in factors[1:]:
                term = builder.emit("multiply", (term, factor))
            if total is None:
                total = term if coefficient > 0 else builder.emit("subtract", (self.dim(0), term))
            else:
                total = builder.emit("add" if coefficient > 0 else "subtract", (total, term))
        assert total is not None
        return total

    def _factor(self, atom: Atom, builder: Builder) -> Value:
        """A named length, or a number of a region, or what is computed of such."""
        if not atom.args:
            found = self.numbers.get(atom.name)
            if found is None:
                return self.length(atom)
            return found if isinstance(found, Value) else self._bound(found, builder)
        dim = Dim((((atom,), 1),))
        if self.numbers.keys().isdisjoint(symbols(dim)):
            return self.length(atom)
        a, b = (self.dim(x, builder) for x in atom.args)
        if atom.name in ("min", "max"):
            less = builder.emit("less", (a, b))
            return builder.emit("where", (less, a, b) if atom.name == "min" else (less, b, a))
        # The divisor is positive, and what is left is not negative.
        rest = builder.emit("remainder_truncated", (a, b))
        below = builder.emit("less", (rest, self.dim(0)))
        rest = builder.emit("where", (below, builder.emit("add", (rest, b)), rest))
        return rest if atom.name == "%" else builder.emit("divide_truncated", (builder.emit("subtract", (a, rest)), b))

    def _bound(self, number: Bound, builder: Builder) -> Value:
        made = builder.emit("convert_raw", (self.needed(builder, number.value, ()),), {}, (INDEX,))
        if number.sign < 0:
            made = builder.emit("subtract", (self.dim(0), made))
        if number.length is not None:
            length = self.dim(number.length, builder)
            below = builder.emit("less", (made, self.dim(0)))
            made = builder.emit("where", (below, builder.emit("add", (made, length)), made))
            made = builder.emit("where", (builder.emit("less", (made, length)), made, length))
        return builder.emit("where", (builder.emit("less", (made, self.dim(0))), self.dim(0), made))

    def length(self, atom: Atom) -> Value:
        """A kernel parameter for a named length, a stride or a length formula."""
        if atom not in self.lengths:
            self.lengths[atom] = Value(INDEX, atom.name if not atom.args else f"length{len(self.lengths)}")
        return self.lengths[atom]


def _real_product(builder: Builder, a: Value, b: Value) -> Value:
    """A product of two int64 as a float64, which holds it nearly."""
    return builder.emit("multiply", [builder.emit("convert_raw", (v,), {}, (scalar(F64),)) for v in (a, b)])


def _note_large(builder: Builder, large: list[Value], number: Value) -> None:
    """Note whether int64 may not hold what is this as a float64."""
    magnitude = builder.emit("absolute", (number,))
    large.append(builder.emit("greater", (magnitude, builder.const(_END, scalar(F64)))))


def _is_known(value: Value) -> bool:
    """In memory, or a reduction, which is computed before what depends on it."""
    return value.inst is None or value.inst.op.kind == "reduce"

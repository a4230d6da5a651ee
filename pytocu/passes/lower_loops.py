"""Kernels over arrays become loops over elements.

In: host level, each launch with a region of array operations.  Out: each launch with a
region at loop level whose parameters are pointers, scalars and lengths.  Views become index
arithmetic in the loads; nothing else of them remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.dims import Atom, Dim, DimLike, product, symbol
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import INDEX, ArrayType, DType, PointerType, Type, element, scalar, shape_of
from pytocu.passes.accesses import Index, demand, operands, position, target_index, view_chain
from pytocu.passes.affine import Affine, constant, merge_axes, unit
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Lower every launch."""

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch":
            return None
        _Kernel(builder, inst, args, strides=dict(strides), offsets=offsets).lower()
        return ()

    strides, offsets = _shared_symbols(function)
    return rewrite(function, rule)


def _shared_symbols(function: Function) -> tuple[dict[str, tuple[Value, int]], dict[str, tuple[Value, Value]]]:
    """What the symbols of arguments in shared memory stand for: strides by argument and axis, offsets by argument."""
    strides: dict[str, tuple[Value, int]] = {}
    offsets: dict[str, tuple[Value, Value]] = {}
    for inst in function.body.insts:
        if inst.op.name == "memory":
            for name, argument in zip(inst.attr("names"), inst.args, strict=True):
                offsets[f"{name}_at"] = (argument, inst.result)
                strides |= {f"{name}_s{axis}": (argument, axis) for axis in range(len(shape_of(argument.type)))}
    return strides, offsets


def strides_of(type: ArrayType, name: str) -> tuple[DimLike, ...]:
    """Elements from one position to the next on each axis; symbols where any strides may come."""
    if type.layout == "S":
        return tuple(symbol(f"{name}_s{axis}") if d != 1 else 0 for axis, d in enumerate(type.shape))
    order = range(type.ndim) if type.layout == "C" else range(type.ndim - 1, -1, -1)
    dims = [type.shape[a] for a in order]
    steps = [product(dims[k + 1 :]) for k in range(len(dims))]
    out: list[DimLike] = [0] * type.ndim
    for place, axis in enumerate(order):
        out[axis] = steps[place]
    return tuple(out)


@dataclass(slots=True)
class _Memory:
    """An array in memory as a kernel sees it."""

    pointer: Value
    strides: tuple[DimLike, ...]

    def offset(self, index: Index, ndim: int) -> Affine:
        total = constant(0, ndim)
        for place, stride in zip(index, self.strides, strict=True):
            total = total + place * stride
        return total


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a result goes: the offset from a pointer at which each iteration stores."""

    pointer: Value
    offset: Affine


@dataclass(slots=True)
class _Kernel:
    host: Builder
    inst: Inst
    args: tuple[Value, ...]
    params: list[Value] = field(default_factory=list)
    passed: list[Value] = field(default_factory=list)
    memory: dict[Value, _Memory] = field(default_factory=dict)
    scalars: dict[Value, Value] = field(default_factory=dict)
    strides: dict[str, tuple[Value, int]] = field(default_factory=dict)
    offsets: Mapping[str, tuple[Value, Value]] = field(default_factory=dict)

    def lower(self) -> None:
        outputs = self.inst.attr("outputs")
        inputs = self.args[: len(self.args) - outputs]
        results = self.args[len(self.args) - outputs :]
        region = self.inst.regions[0]
        for outer, inner in zip(inputs, region.params, strict=True):
            self._input(outer, inner)
        roots = region.terminator.args
        shape = list(shape_of(roots[0].type))
        ndim = len(shape)
        # Column-major results are walked in the order of memory: last axis outermost.
        first = view_chain(results[0])[0].type
        column = isinstance(first, ArrayType) and first.layout == "F"
        order = list(range(ndim - 1, -1, -1)) if column else list(range(ndim))
        index = tuple(unit(order.index(axis), ndim) for axis in range(ndim))
        targets = [self._target(value, index, ndim) for value in results]
        shape = [shape[axis] for axis in order]
        pairs = demand(roots, index, ndim)
        accesses = [self.memory[v].offset(i, ndim) for v, i in pairs if v in self.memory]
        sizes, groups = merge_axes(shape, [*accesses, *(t.offset for t in targets)])
        written = frozenset(t.pointer for t in targets)
        body = _Body(self, Builder(self.inst.loc), Builder(self.inst.loc), sizes, groups, ndim, written)
        if self.inst.attr("schedule") == "pointwise":
            work = body.pointwise(roots, index, pairs, targets)
        else:
            work = body.rows(roots, index, pairs, targets)
        self._finish(body, work, outputs)

    def _input(self, outer: Value, inner: Value) -> None:
        if isinstance(outer.type, ArrayType):
            self.memory[inner] = self._array(outer, inner.name)
        else:
            self.scalars[inner] = self._parameter(outer, inner.type, inner.name)

    def _parameter(self, outer: Value, type: Type, name: str) -> Value:
        self.passed.append(outer)
        self.params.append(Value(type, name))
        return self.params[-1]

    def _array(self, outer: Value, hint: str) -> _Memory:
        """The memory of an argument of the launch: one pointer, however often it is named."""
        if outer in self.memory:
            return self.memory[outer]
        type = outer.type
        name = hint or f"a{len(self.params)}"
        pointer = self._parameter(outer, PointerType(element(type)), name)
        if not isinstance(type, ArrayType):
            self.memory[outer] = _Memory(pointer, ())
            return self.memory[outer]
        if type.layout == "S":
            for axis in range(type.ndim):
                self.strides[f"{name}_s{axis}"] = (outer, axis)
        self.memory[outer] = _Memory(pointer, strides_of(type, name))
        return self.memory[outer]

    def _target(self, value: Value, index: Index, ndim: int) -> _Target:
        """A result goes into an array, or into a view of one."""
        base, _ = view_chain(value)
        memory = self._array(base, base.name)
        place = target_index(value, base, position(value, index), ndim)
        return _Target(memory.pointer, memory.offset(place, ndim))

    def _finish(self, body: _Body, work: DimLike, outputs: int) -> None:
        args = list(self.passed)
        lengths: list[Value] = []
        for atom, param in body.lengths.items():
            lengths.append(param)
            if atom.name in self.strides:
                outer, axis = self.strides[atom.name]
                args.append(self.host.emit("stride", (outer,), {"axis": axis}))
            elif atom.name in self.offsets:
                args.append(self.host.emit("offset", self.offsets[atom.name]))
            else:
                dim = Dim((((atom,), 1),))
                args.append(self.host.emit("dim", (), {"value": dim}, (INDEX,)))
        block = Block((*self.params, *lengths), body.before.take())
        attrs = dict(self.inst.attrs) | {"work": work, "outputs": outputs}
        if body.cost != 1:
            attrs["cost"] = body.cost
        self.host.inst("launch", args, attrs, (), (block,))


@dataclass(slots=True)
class _Body:
    """Writes the loops of one kernel."""

    kernel: _Kernel
    before: Builder
    inside: Builder
    sizes: list[DimLike]
    groups: list[list[int]]
    ndim: int
    written: frozenset[Value]
    lengths: dict[Atom, Value] = field(default_factory=dict)
    dims: dict[tuple[DimLike, bool], Value] = field(default_factory=dict)
    loop_index: list[Value] = field(default_factory=list)
    made: dict[tuple[Value, Index], Value] = field(default_factory=dict)
    offsets: dict[Affine, Value] = field(default_factory=dict)
    linear: Value | None = None
    cost: DimLike = 1

    # Loops.

    def pointwise(
        self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]], targets: list[_Target]
    ) -> DimLike:
        """One index over all elements, taken apart where an access needs the axes."""
        total = product(self.sizes)
        self.invariants(pairs)
        i = Value(INDEX, "i")
        upper = self.dim(total)
        lower, step = self.dim(0), self.dim(1)
        self.linear = i if len(self.sizes) > 1 else None
        names = ["i"] if len(self.sizes) == 1 else [f"i{k}" for k in range(len(self.sizes))]
        self.loop_index = [i] if len(self.sizes) == 1 else []
        if len(self.sizes) > 1:
            rest = i
            for k in range(len(self.sizes) - 1, 0, -1):
                length = self.dim(self.sizes[k])
                self.loop_index.insert(0, self.inside.emit("remainder_truncated", (rest, length), name=names[k]))
                rest = self.inside.emit("divide_truncated", (rest, length), name=names[0] if k == 1 else "")
            self.loop_index.insert(0, rest)
        self.elements(roots, index, pairs, targets)
        self.inside.emit("yield")
        region = Block((i,), self.inside.take())
        self.before.inst("for", (lower, upper, step), {"over": "grid"}, (), (region,))
        self.before.emit("return")
        return total

    def rows(
        self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]], targets: list[_Target]
    ) -> DimLike:
        """The last axis as an inner loop, all others as one parallel loop."""
        self.invariants(pairs)
        lower, step = self.dim(0), self.dim(1)
        outer = self.sizes[:-1]
        i = Value(INDEX, "i" if not outer else "row")
        if not outer:
            self.loop_index = [i] if self.sizes else []
            self.elements(roots, index, pairs, targets)
            body = self.inside
            total = product(self.sizes)
        else:
            total = product(outer)
            self.cost = self.sizes[-1]
            rest = i
            head = Builder(self.inside.loc)
            indices: list[Value] = []
            for k in range(len(outer) - 1, 0, -1):
                length = self.dim(outer[k])
                indices.insert(0, head.emit("remainder_truncated", (rest, length), name=f"i{k}"))
                rest = head.emit("divide_truncated", (rest, length))
            indices.insert(0, rest)
            j = Value(INDEX, "j")
            self.loop_index = [*indices, j]
            self.elements(roots, index, pairs, targets)
            self.inside.emit("yield")
            inner = Block((j,), self.inside.take())
            head.inst("for", (lower, self.dim(self.sizes[-1]), step), {"over": "serial"}, (), (inner,))
            body = head
        body.emit("yield")
        region = Block((i,), body.take())
        self.before.inst("for", (lower, self.dim(total), step), {"over": "parallel"}, (), (region,))
        self.before.emit("return")
        return total

    # Elements.

    def invariants(self, pairs: list[tuple[Value, Index]]) -> None:
        """Compute before the loops what does not move with them."""
        for value, at in pairs:
            if all(c == 0 for p in at for c in p.coefficients) and value.inst is not None and not self._moves(value, at):
                self.made[value, at] = self.write(self.before, value, at)

    def _moves(self, value: Value, at: Index) -> bool:
        needed = operands(value, at, self.ndim)
        return any((arg, place) not in self.made and not self._leaf(arg, place) for arg, place in needed)

    def _leaf(self, value: Value, at: Index) -> bool:
        if value.inst is not None or any(c != 0 for p in at for c in p.coefficients):
            return False
        # What the kernel changes is read by the one iteration that needs it, not by every thread.
        memory = self.kernel.memory.get(value)
        return memory is None or memory.pointer not in self.written

    def elements(
        self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]], targets: list[_Target]
    ) -> None:
        """Everything one iteration computes, then the stores."""
        for value, at in pairs:
            if (value, at) not in self.made:
                self.made[value, at] = self.write(self.inside, value, at)
        for root, target in zip(roots, targets, strict=True):
            result = self.made[root, position(root, index)]
            self.inside.inst("store", (target.pointer, self.address(self.inside, target.offset), result))

    def write(self, builder: Builder, value: Value, at: Index) -> Value:
        """One element of a value."""
        kernel = self.kernel
        inst = value.inst
        if inst is None:
            if value in kernel.scalars:
                return kernel.scalars[value]
            memory = kernel.memory[value]
            builder.loc = kernel.inst.loc
            offset = self.address(builder, memory.offset(at, self.ndim))
            return builder.emit("load", (memory.pointer, offset))
        builder.loc = inst.loc
        values = [self.operand(builder, arg, place) for arg, place in operands(value, at, self.ndim)]
        if inst.op.name == "view":
            return self.view(builder, values[0], element(value.type))
        if inst.op.name in ("real", "imag"):
            return builder.emit("part", values, {"which": inst.op.name}, name=value.name)
        if inst.op.kind == "view" or inst.op.name in ("copy", "as_array"):
            return values[0]
        type = scalar(element(value.type))
        if inst.op.name == "const":
            return builder.const(inst.attr("value"), type, value.name)
        attrs = dict(inst.attrs)
        return builder.emit(inst.op, values, attrs, (type,), name=value.name)

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

    def address(self, builder: Builder, offset: Affine) -> Value:
        """An element's offset from its pointer."""
        merged = Affine(tuple(offset.coefficients[g[-1]] for g in self.groups), offset.offset)
        if merged in self.offsets:
            return self.offsets[merged]
        made = self._address(builder, merged)
        if builder is self.inside or all(c == 0 for c in merged.coefficients):
            self.offsets[merged] = made
        return made

    def _address(self, builder: Builder, merged: Affine) -> Value:
        if not any(merged.coefficients):
            return self.dim(merged.offset)
        walk = tuple(product(self.sizes[k + 1 :]) for k in range(len(self.sizes)))
        if self.linear is not None and merged.coefficients == walk:
            return self._sum(builder, [self.linear], merged.offset)
        terms: list[Value] = []
        for coefficient, index in zip(merged.coefficients, self.loop_index, strict=True):
            if coefficient == 0:
                continue
            if coefficient == 1:
                terms.append(index)
            else:
                terms.append(builder.emit("multiply", (index, self.dim(coefficient))))
        return self._sum(builder, terms, merged.offset)

    def _sum(self, builder: Builder, terms: list[Value], offset: DimLike) -> Value:
        total = terms[0]
        for term in terms[1:]:
            total = builder.emit("add", (total, term))
        if offset == 0:
            return total
        if isinstance(offset, int) and offset < 0:
            return builder.emit("subtract", (total, self.dim(-offset)))
        return builder.emit("add", (total, self.dim(offset)))

    def dim(self, dim: DimLike) -> Value:
        """A length as an index, computed before the loops from the kernel's length parameters."""
        key = (dim, True)
        if key not in self.dims:
            self.dims[key] = self._dim(dim)
        return self.dims[key]

    def _dim(self, dim: DimLike) -> Value:
        builder = self.before
        if not isinstance(dim, Dim):
            return builder.const(dim, INDEX)
        total: Value | None = None
        for monomial, coefficient in dim.terms:
            factors = [self.length(atom) for atom in monomial]
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

    def length(self, atom: Atom) -> Value:
        """A kernel parameter for a named length, a stride or a length formula."""
        if atom not in self.lengths:
            self.lengths[atom] = Value(INDEX, atom.name if not atom.args else f"length{len(self.lengths)}")
        return self.lengths[atom]



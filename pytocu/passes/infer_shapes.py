"""Settles lengths: which are equal, which are 1, and what the call must check.

After this pass every operand of an elementwise instruction has the shape of the result or
no axes at all; ``broadcast`` instructions do what NumPy does silently.  Lengths that must be
equal are one symbol, and a ``check`` states what the call verifies before anything runs.  A
length that is not a bare symbol (``n - 2``) may happen to be 1; the sizes of the call that
asked for the compile decide, and an ``assume`` records the decision as a guard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, substitute_attr, substitute_type
from pytocu.ir.dims import Dim, DimLike, as_symbol, evaluate, substitute, symbols
from pytocu.ir.infer import broadcast_shapes
from pytocu.ir.types import ArrayType, Type, shape_of
from pytocu.passes.context import PassContext

Shape = tuple[DimLike, ...]


def run(function: Function, context: PassContext) -> Function:
    """Unify lengths and make broadcasting visible."""
    facts = _Facts(function, context.sizes)
    _discover(function, facts)
    return _apply(function, facts)


class _Facts:
    """Equalities of lengths found so far."""

    def __init__(self, function: Function, sizes: Mapping[str, int]):
        self.sizes = sizes
        self.equal: dict[str, DimLike] = {}
        self.ones: set[Dim] = set()
        self.assumed: dict[Dim, bool] = {}
        self.order = {name: n for n, name in enumerate(bound_symbols(function))}

    def norm(self, dim: DimLike) -> DimLike:
        """The dimension with everything known applied."""
        while True:
            new = substitute(dim, self.equal)
            if isinstance(new, Dim) and new in self.ones:
                return 1
            if new == dim:
                return new
            dim = new

    def is_one(self, dim: DimLike) -> bool:
        """Whether a length is 1, deciding (and recording) it for a length that may be."""
        dim = self.norm(dim)
        if not isinstance(dim, Dim):
            return dim == 1
        if dim not in self.assumed:
            known = all(s in self.sizes for s in symbols(dim))
            self.assumed[dim] = known and evaluate(dim, self.sizes) == 1
            if self.assumed[dim]:
                self.ones.add(dim)
        return self.assumed[dim]

    def unify(self, a: DimLike, b: DimLike) -> bool:
        """Take two lengths as equal; True when the call has to check it."""
        a, b = self.norm(a), self.norm(b)
        if a == b:
            return False
        for keep, drop in sorted(((a, b), (b, a)), key=lambda pair: self._rank(pair[1]), reverse=True):
            name = as_symbol(drop)
            if name is not None and name not in symbols(keep):
                self.equal[name] = keep
                break
        return True

    def _rank(self, dim: DimLike) -> int:
        name = as_symbol(dim)
        return -1 if name is None else self.order.get(name, 0)


def bound_symbols(function: Function) -> dict[str, tuple[int, int]]:
    """Where each length comes from: (parameter number, axis), in order of the parameters."""
    stated = function.fact("symbols")
    if stated is not None:
        return {name: (number, axis) for name, number, axis in stated}
    places: dict[str, tuple[int, int]] = {}
    for number, param in enumerate(function.params):
        for axis, dim in enumerate(shape_of(param.type)):
            name = as_symbol(dim)
            if name is not None:
                places.setdefault(name, (number, axis))
    return places


def _discover(function: Function, facts: _Facts) -> None:
    """Walk the broadcasts once and record which lengths meet."""
    shapes: dict[Value, Shape] = {p: shape_of(p.type) for p in function.params}
    for inst in function.body.insts:
        if not inst.results:
            continue
        if inst.op.kind == "elementwise" and len(inst.args) > 1:
            result = _meet(inst, [shapes[a] for a in inst.args], facts)
            shapes[inst.result] = result
        elif inst.op.kind == "elementwise" and inst.args:
            shapes[inst.result] = shapes[inst.args[0]] if isinstance(inst.types[0], ArrayType) else ()
        else:
            for value in inst.results:
                shapes[value] = shape_of(_retyped(inst, shapes, facts, value.type))


def _retyped(inst: Inst, shapes: Mapping[Value, Shape], facts: _Facts, type: Type) -> Type:
    """The type of a view after the shapes of its argument changed."""
    if inst.op.kind != "view" or inst.op.infer is None or shapes[inst.args[0]] == shape_of(inst.args[0].type):
        return type
    argument = inst.args[0].type
    if not isinstance(argument, ArrayType):
        return type
    changed = ArrayType(argument.dtype, shapes[inst.args[0]])
    return inst.op.infer(inst.op, (changed,), dict(inst.attrs))[0]


def _meet(inst: Inst, operand_shapes: list[Shape], facts: _Facts) -> Shape:
    ndim = max(map(len, operand_shapes))
    out: list[DimLike] = []
    for axis in range(-ndim, 0):
        dims = [facts.norm(s[axis]) for s in operand_shapes if len(s) >= -axis]
        if any(d != dims[0] for d in dims) and len({d for d in dims if d != 1}) > 1:
            dims = [1 if facts.is_one(d) else facts.norm(d) for d in dims]
        wide = [d for d in dims if d != 1]
        for other in wide[1:]:
            facts.unify(wide[0], other)
        out.append(facts.norm(wide[0]) if wide else 1)
    return tuple(out)


def _apply(function: Function, facts: _Facts) -> Function:
    mapping = {name: facts.norm(dim) for name, dim in facts.equal.items()}
    places = bound_symbols(function)
    builder = Builder()
    values: dict[Value, Value] = {}
    params: list[Value] = []
    for old in function.params:
        new = Value(_settled(old.type, mapping, facts), old.name)
        params.append(new)
        values[old] = new
    originals: dict[Value, Shape] = {p: shape_of(p.type) for p in function.params}
    checked: set[tuple[DimLike, DimLike]] = set()
    for dim, is_one in facts.assumed.items():
        if set(symbols(dim)) <= set(places):
            builder.loc = function.body.terminator.loc
            builder.emit("assume", (), {"dim": dim, "is_one": is_one})
    for inst in function.body.insts:
        builder.loc = inst.loc
        args = tuple(values[a] for a in inst.args)
        if inst.op.kind == "elementwise" and len(args) > 1:
            _checks(builder, inst, originals, facts, checked)
            args = _broadcast_all(builder, args)
        attrs = dict(inst.attrs)
        if inst.op.name not in ("check", "dim"):
            attrs = {k: substitute_attr(_one(v, facts), mapping) for k, v in attrs.items()}
        types = None
        if inst.op.infer is None:
            types = tuple(_settled(t, mapping, facts) for t in inst.types)
            if inst.op.kind == "elementwise" and args and isinstance(inst.types[0], ArrayType):
                types = (ArrayType(inst.types[0].dtype, shape_of(args[0].type)),)
        made = builder.inst(inst.op, args, attrs, types)
        for old, new in zip(inst.results, made.results, strict=True):
            new.name = old.name
            values[old] = new
            originals[old] = _original_shape(inst, originals, old.type)
    symbols_fact = tuple((name, number, axis) for name, (number, axis) in places.items())
    facts_out = function.facts
    made_function = Function(function.name, function.level, Block(tuple(params), builder.take()), facts_out)
    if bound_symbols(made_function) != places and function.fact("symbols") is None:
        facts_out = (*facts_out, ("symbols", symbols_fact))
        made_function = Function(function.name, function.level, made_function.body, facts_out)
    return made_function


def _original_shape(inst: Inst, originals: Mapping[Value, Shape], type: Type) -> Shape:
    """The shape in the lengths of the call, for NumPy's sentence."""
    if inst.op.kind == "elementwise" and len(inst.args) > 1:
        return broadcast_lenient([originals[a] for a in inst.args])
    return shape_of(type)


def broadcast_lenient(shapes: Sequence[Shape]) -> Shape:
    """The broadcast shape, with the first of several lengths that are taken to be equal."""
    try:
        return broadcast_shapes(list(shapes))
    except ValueError:
        return max(shapes, key=len)


def _one(value: object, facts: _Facts) -> object:
    if isinstance(value, Dim):
        return facts.norm(value)
    if isinstance(value, tuple):
        return tuple(_one(v, facts) for v in value)
    return value


def _settled(type: Type, mapping: dict[str, DimLike], facts: _Facts) -> Type:
    type = substitute_type(type, mapping)
    if isinstance(type, ArrayType) and facts.ones:
        return ArrayType(type.dtype, tuple(facts.norm(d) for d in type.shape), type.layout)
    return type


def _checks(
    builder: Builder, inst: Inst, originals: Mapping[Value, Shape], facts: _Facts, checked: set[tuple[DimLike, DimLike]]
) -> None:
    shapes = [originals[a] for a in inst.args]
    ndim = max(map(len, shapes))
    for axis in range(-ndim, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis]
        wide = [d for d in dims if facts.norm(d) != 1]
        for other in wide[1:]:
            first = wide[0]
            if first == other or (first, other) in checked:
                continue
            if isinstance(first, int) and isinstance(other, int):
                continue
            checked.add((first, other))
            checked.add((other, first))
            builder.emit("check", (), {"kind": "broadcast", "dims": (first, other), "shapes": tuple(shapes)})


def _broadcast_all(builder: Builder, args: tuple[Value, ...]) -> tuple[Value, ...]:
    shapes = [shape_of(a.type) for a in args]
    target = broadcast_lenient(shapes)
    out: list[Value] = []
    for arg, shape in zip(args, shapes, strict=True):
        if shape == () or shape == target:
            out.append(arg)
            continue
        lead = len(target) - len(shape)
        expand = tuple(a for a in range(len(target)) if a < lead or (shape[a - lead] == 1 and target[a] != 1))
        attrs = {"shape": target, "expand": expand, "ndim": len(shape)}
        out.append(builder.emit("broadcast", (arg,), attrs))
    return tuple(out)

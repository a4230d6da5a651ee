"""Python scalars in loops and branches on arrays become NumPy scalars, which a kernel can compute.

In: array level, where Python scalars stand beside arrays in regions.  Out: regions hold no Python scalars, but
for loops and branches on Python scalars alone, which stay Python's and run on the host.

A Python int is an int64 in a kernel, a float a float64.  What Python would raise is required (``require``): a
division by zero, a result that int64 does not hold, and an int that the dtype it meets does not hold.  What the host
needs of a loop's Python scalars is computed by a loop of their own, where they do not depend on arrays.
"""

from __future__ import annotations

from pytocu.errors import Loc, UnsupportedError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.dims import Dim, DimLike, symbol, symbols
from pytocu.ir.regions import (
    FITS,
    bindings,
    carried_count,
    is_region,
    kept,
    numbers_of,
    parameters,
    prune,
    pruned,
)
from pytocu.ir.rewrite import put_with
from pytocu.ir.stores import stored
from pytocu.ir.types import BOOL, C128, F64, I64, U64, WEAK_INT, DType, Type, WeakType, element, scalar
from pytocu.passes import cleanup
from pytocu.passes.accesses import is_elementwise
from pytocu.passes.context import PassContext
from pytocu.passes.infer_shapes import bound_symbols
from pytocu.passes.numbers_of_steps import is_branch, is_for_the_step, require_numbers, unknown_names
from pytocu.passes.python_numbers import (
    FUNCTIONS,
    OTHER_BITS,
    STRONG,
    as_dtype,
    complex_power,
    float_power,
    int_power,
    int_quotient,
    item,
    known_number,
    nonzero,
    require,
    shifted,
)
from pytocu.passes.read_back import python_number
from pytocu.passes.sweeps import sweep_of


def run(function: Function, context: PassContext) -> Function:
    """Settle the Python scalars of loops and branches."""
    # A change of which nobody reads anything would keep a loop from being a kernel's.
    function = cleanup.dce(function, context)
    builder = Builder()
    taken = {*bound_symbols(function), *numbers_of(function.body), *function.fact("numbers", ())}
    writer = _Writer(builder, {}, taken, any_ints=_read_ints(function))
    used = _uses(function)
    for inst in function.body.insts:
        builder.loc = inst.loc
        if is_region(inst) and not on_host(inst) and (is_elementwise(inst) or sweep_of(inst) is not None):
            require_numbers(builder, inst)
            _split(writer, inst, used)
        else:
            writer.outside(inst)
    body = Block(function.params, builder.take())
    return prune(Function(function.name, function.level, body, function.facts))


def on_host(inst: Inst) -> bool:
    """Whether a loop or a branch is about Python scalars alone."""
    weak = all(isinstance(v.type, WeakType) for v in (*inst.args, *inst.results))
    inner = (i for region in inst.regions for i in walk(region))
    return weak and all(all(isinstance(t, WeakType) for t in i.types) for i in inner)


def _names_numbers(inst: Inst) -> bool:
    """Whether steps inside of a region have numbers that the host knows."""
    return any(inner.op.name == "bind" for region in inst.regions for inner in walk(region))


def _uses(function: Function) -> set[Value]:
    return {a for inst in function.body.insts for a in inst.args}


def _split(writer: _Writer, inst: Inst, used: set[Value]) -> None:
    """The loop with NumPy scalars, and a loop of its own for what the host needs."""
    builder = writer.builder
    weak = {r for r in inst.results if isinstance(r.type, WeakType) and r in used}
    alone = _python_part(inst, weak) if weak else {}
    writer.region(inst)
    python = next(iter(alone.values())).inst if alone else None
    # What a kernel computes the host does not have.
    if python is not None and all(a in writer.host or a not in writer.values for a in python.args):
        args = [writer.host.get(a, a) for a in python.args]
        made = builder.inst(python.op, args, dict(python.attrs), python.types, python.regions)
        for old, new in zip(python.results, made.results, strict=True):
            new.name = old.name
        for result, alone_result in alone.items():
            del writer.values[result]
            writer.host[result] = made.results[alone_result.index]


def _python_part(inst: Inst, weak: set[Value]) -> dict[Value, Value]:
    """The loop without what is not needed for these results, where the rest is about Python scalars alone."""
    less = pruned(inst, weak)
    keep = kept(inst, weak)
    candidate = _unchecked(inst if less is None else less)
    if not on_host(candidate) or any(_has_other_bits(i) for region in candidate.regions for i in walk(region)):
        return {}
    places = range(len(inst.results)) if less is None else keep
    return {inst.results[k]: candidate.results[n] for n, k in enumerate(places) if inst.results[k] in weak}


def _has_other_bits(inst: Inst) -> bool:
    """Whether a kernel may give another number than Python, in the last place: what it stores would not be this one."""
    if inst.op.name in OTHER_BITS:
        return True
    return inst.op.name in ("power", "multiply", "divide", "absolute") and any(
        isinstance(v.type, WeakType) and v.type.kind in (("float", "complex") if inst.op.name == "power" else ("complex",))
        for v in (*inst.args, *inst.results)
    )


def _unchecked(inst: Inst) -> Inst:
    """A loop without what it compares in its steps, which the loop that it is taken out of does already."""
    if inst.op.name != "for_loop" or not any(i.op.name == "check" and not i.args for i in inst.regions[0].insts):
        return inst
    (region,) = inst.regions
    body = Block(region.params, tuple(i for i in region.insts if i.op.name != "check" or i.args))
    made = Inst(inst.op, inst.args, inst.attrs, inst.types, (body,), inst.loc)
    for old, new in zip(inst.results, made.results, strict=True):
        new.name = old.name
    return made


def strong(type: Type) -> Type:
    """The type in a kernel."""
    return scalar(STRONG[type.kind]) if isinstance(type, WeakType) else type


class _Writer:
    """Writes instructions again.

    Attributes
    ----------
    values : dict
        NumPy scalars that stand for Python scalars, and new values for others.
    host : dict
        Python scalars that stand for others.
    taken : set of str
        The names of the function's lengths and numbers.
    exact : bool
        Whether every sum of ints is looked at: positions are known by them.
    any_ints : set
        Python ints that may be any of int64: sums of them with small constants are looked at, too.  What a loop carries
        from another number is taken for a counter.
    unknown : frozenset of str
        The names of numbers that the host does not know before the outermost loop or branch.
    branch : bool
        Whether what is written need not run.
    """

    def __init__(
        self,
        builder: Builder,
        values: dict[Value, Value],
        taken: set[str] | None = None,
        exact: bool = False,
        any_ints: set[Value] | None = None,
        unknown: frozenset[str] = frozenset(),
        branch: bool = False,
    ):
        self.builder, self.exact, self.unknown, self.branch = builder, exact, unknown, branch
        self.any_ints = set() if any_ints is None else any_ints
        self.values = values
        self.host: dict[Value, Value] = {}
        self.taken = set() if taken is None else taken

    def outside(self, inst: Inst) -> None:
        """An instruction of the function itself: a Python scalar stays one unless a kernel computes it."""
        if inst.types and _is_any_int(inst, self.any_ints):
            self.any_ints.add(inst.results[0])
        in_kernel = any(isinstance(a.type, WeakType) and a in self.values for a in inst.args)
        if in_kernel:
            if inst.op.name not in ("return", "bind") and not _names_numbers(inst):
                self.region(inst) if is_region(inst) else self.inst(inst)
                return
            # The host needs the numbers themselves.
            for arg in inst.args:
                if isinstance(arg.type, WeakType) and arg in self.values and arg not in self.host:
                    self.host[arg] = python_number(self.builder, self.values[arg], self.taken)
        args = tuple(self.host.get(a, self.values.get(a, a)) for a in inst.args)
        if args == inst.args:
            self.builder.insts.append(inst)
            return
        made = Inst(inst.op, args, inst.attrs, inst.types, inst.regions, inst.loc)
        self.builder.insts.append(made)
        self._stand_for(inst, made)

    def _stand_for(self, inst: Inst, made: Inst) -> None:
        for old, new in zip(inst.results, made.results, strict=True):
            new.name = old.name
            (self.host if isinstance(new.type, WeakType) else self.values)[old] = new

    def value(self, old: Value) -> Value:
        """A NumPy scalar for a Python scalar; other values as they are now."""
        if old in self.values:
            return self.values[old]
        if not isinstance(old.type, WeakType):
            return old
        python = self.host.get(old, old)
        dtype = STRONG[old.type.kind]
        if python.inst is not None and python.inst.op.name == "const":
            return self.builder.const(_number(python.inst, dtype), scalar(dtype), old.name)
        return self.builder.emit("convert", (python,), {}, (scalar(dtype),), name=old.name)

    def region(self, inst: Inst) -> None:
        """A loop or a branch, whose regions hold NumPy scalars."""
        _mark(inst, self.any_ints)
        self.unknown = unknown_names(inst)
        self._region(inst)

    def _region(self, inst: Inst) -> None:
        args = [self.value(a) for a in inst.args]
        exact = self.exact or any(i.op.name in ("bind", "check") for region in inst.regions for i in walk(region))
        blocks = [self.block(region, exact, self.branch or is_branch(inst)) for region in inst.regions]
        types = [strong(t) for t in inst.types]
        made = self.builder.inst(inst.op, args, dict(inst.attrs), types, blocks)
        for old, new in zip(inst.results, made.results, strict=True):
            new.name = old.name
            self.values[old] = new

    def block(self, region: Block, exact: bool, branch: bool) -> Block:
        """A region of NumPy scalars."""
        builder = Builder(region.terminator.loc)
        params = {p: Value(strong(p.type), p.name) for p in region.params}
        inner = _Writer(
            builder, dict(params), exact=exact, any_ints=self.any_ints, unknown=self.unknown, branch=branch
        )
        for inst in region.insts:
            builder.loc = inst.loc
            if is_region(inst):
                inner._region(inst)
            else:
                inner.inst(inst)
        return Block(tuple(params.values()), builder.take())

    def put(self, inst: Inst, made: Value) -> None:
        """What stands for the only result."""
        if not made.name and made.inst is not None:
            made.name = inst.results[0].name
        self.values[inst.results[0]] = made

    def inst(self, inst: Inst) -> None:
        """An instruction whose Python scalars become NumPy scalars."""
        weak = bool(inst.types) and isinstance(inst.types[0], WeakType)
        if inst.op.name == "const" and weak:
            dtype = STRONG[inst.types[0].kind]  # type: ignore[union-attr]
            self.put(inst, self.builder.const(_number(inst, dtype), scalar(dtype)))
        elif inst.op.name == "dim":
            dim = inst.attr("value")
            if is_for_the_step(dim, self.branch, self.unknown):
                self.put(inst, _required(self.builder, dim))
            else:
                self.put(inst, self.builder.emit("dim", (), dict(inst.attrs), (scalar(I64),)))
        elif inst.op.name == "convert":
            self.put(inst, converted(self.builder, self.value(inst.args[0]), element(inst.types[0]), inst.attr("wrap", False)))
        elif weak:
            if _is_any_int(inst, self.any_ints):
                self.any_ints.add(inst.results[0])
            any_int = any(a in self.any_ints for a in inst.args)
            self.put(inst, _python(self.builder, inst, [self.value(a) for a in inst.args], self.exact, any_int))
        else:
            put_with(inst, self.builder, tuple(self.value(a) for a in inst.args), inst.regions, self.values)


_ROWS = {"min": "minimum", "max": "maximum", "//": "floor_divide", "%": "remainder"}


def _required(builder: Builder, dim: DimLike) -> Value:
    """A number made of sums and products, each of which is required to be one of int64.

    Raises
    ------
    UnsupportedError
        A constant that int64 does not hold.
    """
    if not isinstance(dim, Dim):
        return _constant(builder, dim)
    total: Value | None = None
    for monomial, coefficient in dim.terms:
        factors = [] if abs(coefficient) == 1 and monomial else [_constant(builder, abs(coefficient))]
        for atom in monomial:
            if atom.args:
                factors.append(builder.emit(_ROWS[atom.name], [_required(builder, arg) for arg in atom.args]))
            else:
                factors.append(builder.emit("dim", (), {"value": symbol(atom.name)}, (scalar(I64),)))
        made = factors[0]
        for factor in factors[1:]:
            made = _in_range(builder, "multiply", made, factor, builder.emit("multiply", (made, factor)), True)
        if total is None and coefficient > 0:
            total = made
            continue
        total = _constant(builder, 0) if total is None else total
        row = "add" if coefficient > 0 else "subtract"
        total = _in_range(builder, row, total, made, builder.emit(row, (total, made)), True)
    assert total is not None
    return total


def _constant(builder: Builder, value: int) -> Value:
    if not -(2**63) <= value < 2**63:
        raise _too_large(value, builder.loc)
    return builder.const(value, scalar(I64))


def _too_large(value: int, loc: Loc) -> UnsupportedError:
    return UnsupportedError(f"the Python int {value} in a loop on arrays does not fit int64", loc, "use a float")


def _number(inst: Inst, dtype: DType) -> int | float | complex | bool:
    value = inst.attr("value")
    if dtype is I64 and not -(2**63) <= value < 2**63:
        raise _too_large(value, inst.loc)
    return value


def converted(builder: Builder, value: Value, dtype: DType, wrap: bool) -> Value:
    """A scalar that was Python's as another dtype: what becomes an integer has to fit."""
    given = element(value.type)
    if given is dtype:
        return value
    if dtype.is_integer and given.kind in "if" and not wrap:
        return stored(builder, value, dtype)
    return builder.emit("cast", (value,), {}, (scalar(dtype),))


_ORDER = (BOOL, I64, F64, C128)


def _python(builder: Builder, inst: Inst, args: list[Value], exact: bool, any_int: bool) -> Value:
    """What Python computes of Python scalars, of NumPy scalars."""
    name = inst.op.name
    if name == "item":
        return item(builder, inst, args[0])
    result = STRONG[inst.types[0].kind]  # type: ignore[union-attr]
    common = max((element(a.type) for a in args), key=_ORDER.index, default=result)
    if name in FUNCTIONS:
        return FUNCTIONS[name](builder, inst, args, common)
    if name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        return builder.emit(name, [as_dtype(builder, a, common) for a in args])
    if name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return builder.emit(name, [as_dtype(builder, a, result) for a in args])
    if name in ("negative", "positive", "absolute"):
        (x,) = (as_dtype(builder, a, C128 if common is C128 else result) for a in args)
        if name != "positive" and any_int:
            fine = builder.emit("not_equal", (x, builder.const(-(2**63), scalar(I64))))
            x = require(builder, x, fine, "OverflowError", FITS)
        return builder.emit(name, (x,))
    if name == "invert":
        return builder.emit(name, [as_dtype(builder, a, I64) for a in args])
    if name in ("add", "subtract", "multiply"):
        x, y = (as_dtype(builder, a, result) for a in args)
        made = builder.emit(name, (x, y))
        return made if result is not I64 else _in_range(builder, name, x, y, made, exact or any_int)
    if name in ("divide", "floor_divide", "remainder"):
        x, y = (as_dtype(builder, a, result) for a in args)
        y = nonzero(builder, y, _zero_sentence(inst, common))
        return int_quotient(builder, x, y) if name == "floor_divide" and any_int else builder.emit(name, (x, y))
    if name in ("left_shift", "right_shift"):
        return shifted(builder, name, *(as_dtype(builder, a, I64) for a in args))
    if name == "power":
        exponent = known_number(inst.args[1])
        if result is C128 and _is_multiplied(exponent):
            return complex_power(builder, as_dtype(builder, args[0], C128), int(exponent))
        if result is F64 and common is not C128:
            return float_power(builder, *(as_dtype(builder, a, F64) for a in args))
        if result is I64 and exponent is not None and 0 <= exponent <= 63:
            x = as_dtype(builder, args[0], I64)
            made = builder.const(1, scalar(I64))
            for _ in range(int(exponent)):
                made = _in_range(builder, "multiply", made, x, builder.emit("multiply", (made, x)))
            return made
        if result is I64 and exponent is None:
            return int_power(builder, *(as_dtype(builder, a, I64) for a in args))
    text = name.replace("_", ".", 1) if name.startswith(("math_", "python_")) else inst.op.symbol or name
    raise UnsupportedError(
        f"{text} of Python scalars in a loop or branch that runs beside arrays is not compiled",
        inst.loc,
        "use NumPy scalars and functions there: np.sqrt(np.float64(x)), or compute it before the loop",
    )


_SAME = frozenset(
    {
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor",
        "negative", "positive", "absolute", "invert", "add", "subtract", "multiply", "divide", "floor_divide", "remainder",
        "left_shift", "right_shift", "const", "dim", "item",
    }
)  # fmt: skip
"""What Python computes of its numbers, and a kernel of NumPy scalars: see `_python`."""


def has_form(inst: Inst) -> bool:
    """Whether a kernel has what an instruction on Python scalars computes; others are NumPy's."""
    if not inst.types or not isinstance(inst.types[0], WeakType) or is_region(inst):
        return True
    if inst.op.name == "const" and inst.types[0].kind == "int":
        return -(2**63) <= inst.attr("value") < 2**63
    if inst.op.name == "power":
        exponent = inst.args[1].inst
        known = exponent.attr("value") if exponent is not None and exponent.op.name == "const" else None
        kind = inst.types[0].kind
        if kind == "complex":
            return _is_multiplied(known)
        return kind == "float" or (kind == "int" and (known is None or 0 <= known <= 63))
    return inst.op.name in _SAME or inst.op.name in FUNCTIONS


_EXAMPLES = {"bool": 1, "i64": 1, "f64": 1.0, "c128": 1j}


def _zero_sentence(inst: Inst, common: DType) -> str:
    """What Python says of a division by zero."""
    assert inst.op.python is not None
    try:
        inst.op.python(_EXAMPLES[common.name], 0 * _EXAMPLES[common.name])
    except ZeroDivisionError as error:
        return str(error)
    return "division by zero"


def _beside_constant(builder: Builder, name: str, x: Value, y: Value) -> Value:
    """Whether int64 holds a sum or a difference with a constant: one comparison of the other operand."""
    known = known_number(y)
    if known is not None:
        # x + c and x - c leave int64 at the end that they move to.
        moved = known if name == "add" else -known
        row, bound = ("less_equal", 2**63 - 1 - moved) if moved >= 0 else ("greater_equal", -(2**63) - moved)
        return builder.emit(row, (x, builder.const(bound, scalar(I64))))
    if name == "add":
        return _beside_constant(builder, name, y, x)
    c = known_number(x)
    # c - x leaves it at the end that -x moves to, and with c < 0 at the other.
    row, bound = ("greater_equal", c - (2**63 - 1)) if c >= 0 else ("less_equal", c + 2**63)
    return builder.emit(row, (y, builder.const(bound, scalar(I64))))


def _is_multiplied(exponent: object) -> bool:
    """Whether Python multiplies for a complex number to this power."""
    return isinstance(exponent, (int, float)) and exponent in range(101)


_WHOLE = ("python_int", "python_round", "math_floor", "math_ceil", "math_trunc")

_AS_LARGE = (*_WHOLE, "add", "subtract", "negative", "positive", "absolute", "python_min", "python_max", "python_choose")


def _is_any_int(inst: Inst, any_ints: set[Value]) -> bool:
    """Whether a Python int is a number of the data, which may be the least or the largest that int64 holds."""
    name = inst.op.name
    if not isinstance(inst.types[0], WeakType) or inst.types[0].kind != "int":
        return False
    if name == "item":
        return element(inst.args[0].type) in (I64, U64)
    if name in _WHOLE and inst.args[0].type != WEAK_INT:
        return True
    return name in _AS_LARGE and any(a in any_ints for a in inst.args)


def _read_ints(function: Function) -> set[Value]:
    """The Python ints that are arguments, and those that the host reads of the data."""
    insts = list(walk(function.body))
    read = {i.attr("name") for i in insts if i.op.name == "read_length" and i.attr("limit") == 2**63 - 1}
    given = {p for p in function.params if p.type == WEAK_INT}
    dims = (i for i in insts if read and i.op.name == "dim")
    return given | {i.results[0] for i in dims if not read.isdisjoint(symbols(i.attr("value")))}


def _mark(inst: Inst, any_ints: set[Value]) -> None:
    """Add the Python ints of a loop or branch that are numbers of the data, or become one in some step."""
    any_ints.update(parameter for parameter, argument in bindings(inst) if argument in any_ints)
    known = -1
    while known != len(any_ints):
        known = len(any_ints)
        for region in inst.regions:
            for inner in region.insts:
                if is_region(inner):
                    _mark(inner, any_ints)
                elif inner.types and _is_any_int(inner, any_ints):
                    any_ints.add(inner.results[0])
            carried = parameters(inst, region)[: carried_count(inst)]
            for number, end in enumerate(region.terminator.args):
                if end in any_ints:
                    any_ints.update((inst.results[number], *carried[number : number + 1]))


def _in_range(builder: Builder, name: str, x: Value, y: Value, made: Value, exact: bool = False) -> Value:
    """The result, which Python's ints have at any size: it is required that int64 holds it.

    Unless it has to be `exact`, a sum with a small constant, as counters are, is not looked at.
    """
    small = any((number := known_number(v)) is not None and abs(number) < 2**31 for v in (x, y))
    if small and not exact and name != "multiply":
        return made
    if name == "multiply":
        product = builder.emit("multiply", (as_dtype(builder, x, F64), as_dtype(builder, y, F64)))
        limit = builder.const(9.2233720368547e18, scalar(F64))
        fine = builder.emit("less", (builder.emit("absolute", (product,)), limit))
    elif small:
        fine = _beside_constant(builder, name, x, y)
    else:
        # An overflow has a sign that neither operand has (of a difference: x and -y).
        other = builder.emit("invert", (y,)) if name == "subtract" else y
        moved = [builder.emit("bitwise_xor", (v, made)) for v in (x, other)]
        fine = builder.emit("greater_equal", (builder.emit("bitwise_and", moved), builder.const(0, scalar(I64))))
    return require(builder, made, fine, "OverflowError", FITS)

"""Type rules of the op table: result types from argument types and attributes.

A rule raises ``TypeError`` or ``ValueError`` with NumPy's sentence; the builder adds the
user's line.  Rules work on every level: at loop level the same rows see scalars, vectors
and indices.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pytocu.ir import library, promote
from pytocu.ir.core import Op
from pytocu.ir.dims import DimLike, assignment_sentence, format_shape, may_repeat, misfit
from pytocu.ir.reductions import REDUCTIONS, Reduction
from pytocu.ir.types import (
    BOOL,
    C64,
    C128,
    I64,
    INDEX,
    U64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_ORDER,
    ArrayType,
    DType,
    IndexType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    WeakType,
    element,
    scalar,
    shape_of,
)

Types = tuple[Type, ...]
Shape = tuple[DimLike, ...]


def broadcast_shapes(shapes: Sequence[tuple[DimLike, ...]]) -> tuple[DimLike, ...]:
    """NumPy's broadcast over dimensions.

    Two different symbolic lengths are taken to be equal (the call checks); of a number and
    a symbol the number is kept, of two symbols the first.  A length of run time that is 0 or 1 is
    taken to be 1 beside one that may be more.

    Raises
    ------
    ValueError
        Two numbers differ and neither is 1; NumPy's sentence.
    """
    ndim = max((len(s) for s in shapes), default=0)
    out: list[DimLike] = []
    for axis in range(-ndim, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis]
        wide = [d for d in dims if d != 1]
        numbers = {d for d in wide if isinstance(d, int)}
        if len(numbers) > 1:
            raise misfit(shapes)
        out.append(numbers.pop() if numbers else kept_length(wide) if wide else 1)
    return tuple(out)


def kept_length(wide: Sequence[DimLike]) -> DimLike:
    """The length that several, none of them 1, are taken to be where they meet: the first that may be more than 1."""
    return wide[0] if len(wide) == 1 else next((d for d in wide if not may_repeat(d)), wide[0])


def is_repeated(own: DimLike, wanted: DimLike) -> bool:
    """Whether an axis of one length is repeated where it meets another one, which the result has."""
    return own == 1 or (may_repeat(own) and not may_repeat(wanted)) if own != wanted else False


def meeting(length: DimLike, other: DimLike) -> tuple[DimLike, DimLike]:
    """What is compared of two lengths that meet, the first of which the result has.

    An element that is repeated is there also where the result has none: it may be read before the loop over these.
    """
    return (other, 1) if is_repeated(other, length) else (length, other)


def repeated_axes(given: Shape, shape: Shape) -> tuple[int, ...]:
    """The axes along which an array is repeated to a shape that it fits."""
    lead = len(shape) - len(given)
    ends = [*enumerate(zip(given, shape[lead:], strict=True), lead)]
    return (*range(lead), *(a for a, (own, wanted) in ends if is_repeated(own, wanted)))


def shaped(dtype: DType, types: Types, always_array: bool = False) -> Type:
    """A result of `dtype` over the broadcast arguments, of the kind NumPy returns.

    Ufuncs over 0-d operands give NumPy scalars; array functions give arrays
    (`always_array`).
    """
    lanes = next((t.lanes for t in types if isinstance(t, VectorType)), 0)
    if lanes:
        return VectorType(dtype, lanes)
    shape = broadcast_shapes([shape_of(t) for t in types])
    if shape or (always_array and any(isinstance(t, ArrayType) for t in types)):
        return ArrayType(dtype, shape)
    return scalar(dtype)


def weak_result(op: Op, types: Types) -> Type:
    """Python's result type for an operator on Python scalars."""
    kinds = [t.kind for t in types if isinstance(t, WeakType)]
    top = max(kinds, key=WEAK_ORDER.index)
    comparison = op.python in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    if top == "complex":
        return _weak_complex(op, kinds, comparison)
    if comparison:
        return WEAK_BOOL
    match op.name:
        case "divide":
            return WEAK_COMPLEX if top == "complex" else WEAK_FLOAT
        case "bitwise_and" | "bitwise_or" | "bitwise_xor" | "invert" | "left_shift" | "right_shift":
            if top not in ("bool", "int"):
                if op.arity == 1:
                    raise TypeError(f"bad operand type for unary {op.symbol}: '{top}'")
                names = "' and '".join(kinds)
                raise TypeError(f"unsupported operand type(s) for {op.symbol}: '{names}'")
            same_bool = top == "bool" and op.name.startswith("bitwise")
            return WEAK_BOOL if same_bool else WEAK_INT
    if op.python is None:
        raise TypeError(f"{op.name} has no meaning on Python scalars alone")
    return WEAK_INT if top == "bool" else WeakType(top)


def _weak_complex(op: Op, kinds: list[str], comparison: bool) -> Type:
    """Python's result type where an operand is complex."""
    match op.name:
        case "equal" | "not_equal":
            return WEAK_BOOL
        case "absolute":
            return WEAK_FLOAT
        case "add" | "subtract" | "multiply" | "divide" | "power" | "negative" | "positive":
            return WEAK_COMPLEX
    names = "' and '".join(kinds)
    if comparison:
        raise TypeError(f"'{op.symbol}' not supported between instances of '{names}'")
    if op.arity == 1:
        raise TypeError(f"bad operand type for unary {op.symbol}: 'complex'")
    raise TypeError(f"unsupported operand type(s) for {op.symbol}: '{names}'")


def ufunc(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A NumPy ufunc, or one of its outputs."""
    if any(isinstance(t, PointerType) for t in types):
        raise TypeError(f"{op.name} does not take pointers")
    if any(isinstance(t, IndexType) for t in types):
        return (scalar(BOOL) if op.llvm.startswith("cmp") else INDEX,)
    if all(isinstance(t, WeakType) for t in types):
        return (weak_result(op, types),)
    _, outputs = promote.ufunc_loop(op.numpy, tuple(map(promote.operand, types)))
    return (shaped(outputs[op.output], types),)


def where(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """``np.where(c, a, b)``: the common dtype of `a` and `b`; always an array at array level."""
    _, a, b = types
    if a == b and isinstance(a, (ScalarType, IndexType, VectorType, PointerType)):
        return (shaped(element(a), types, True),) if isinstance(a, ScalarType) else (a,)
    dtype = promote.result_dtype((promote.operand(a), promote.operand(b)))
    return (shaped(dtype, types, True),)


def same(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """All arguments have one type and so has the result."""
    if any(t != types[0] for t in types):
        raise TypeError(f"{op.name} takes operands of one type, not {', '.join(map(str, types))}")
    return (types[0],)


def marked(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The first operand; a bool may say of which kind it is."""
    if not 1 <= len(types) <= 2 or any(element(t) is not BOOL for t in types[1:]):
        raise TypeError(f"{op.name} takes a number, and perhaps a bool, not {', '.join(map(str, types))}")
    return (types[0],)


def require(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The first operand, over the shape of all; a condition is bool, a number for the sentence int64."""
    wanted = (BOOL, I64)[: len(types) - 1]
    if not 2 <= len(types) <= 3 or any(element(t) is not d for t, d in zip(types[1:], wanted, strict=True)):
        raise TypeError(f"require takes a value, a bool and an int64, not {', '.join(map(str, types))}")
    return (shaped(element(types[0]), types, True),)


def copied(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The type of a new array, which has no layout of an argument's."""
    (type,) = types
    return (ArrayType(type.dtype, type.shape),) if isinstance(type, ArrayType) else types


def as_array(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The same dtype, as an array without axes."""
    return (ArrayType(element(types[0]), ()),)


def part(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The dtype of a complex number's parts, or of a float16's bits."""
    dtype = element(types[0]).word
    if dtype is element(types[0]):
        raise TypeError(f"{op.name} takes a float16 or a complex number, not {types[0]}")
    return (ArrayType(dtype, types[0].shape) if isinstance(types[0], ArrayType) else scalar(dtype),)


def compose(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The complex dtype of two floats."""
    dtype = {"f32": C64, "f64": C128}.get(element(types[0]).name)
    if dtype is None or element(types[1]) is not element(types[0]):
        raise TypeError(f"{op.name} takes two float32 or two float64, not {', '.join(map(str, types))}")
    return (shaped(dtype, types),)


def constant_dtype(dtype: DType) -> Callable[..., Types]:
    """The arguments' shape with a dtype of its own."""
    return lambda op, types, attrs: (shaped(dtype, types),)


def newaxis(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A new axis of length 1 before `axis`."""
    shape = shape_of(types[0])
    axis = attrs["axis"]
    if axis > len(shape):
        raise ValueError(f"{types[0]} gets no new axis {axis}")
    return (ArrayType(element(types[0]), (*shape[:axis], 1, *shape[axis:])),)


def transpose(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """Axes in the order of `axes`."""
    shape = shape_of(types[0])
    if sorted(attrs["axes"]) != list(range(len(shape))):
        raise ValueError(f"transpose takes each axis of {types[0]} once, not {attrs['axes']}")
    return (ArrayType(element(types[0]), tuple(shape[a] for a in attrs["axes"])),)


def slice_(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape stated in `size`."""
    if any(len(attrs[name]) != len(shape_of(types[0])) for name in ("start", "step", "size")):
        raise ValueError(f"slice states a start, a step and a size for each axis of {types[0]}")
    return (ArrayType(element(types[0]), attrs["size"]),)


def index(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """One position of an axis; the last axis gone, NumPy returns a scalar."""
    shape = shape_of(types[0])
    axis = attrs["axis"]
    if axis >= len(shape):
        raise ValueError(f"{types[0]} has no axis {axis}")
    rest = (*shape[:axis], *shape[axis + 1 :])
    return (ArrayType(element(types[0]), rest) if rest or attrs.get("keep") else scalar(element(types[0])),)


def pick(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """One position of an axis; an array without axes where that was the last one."""
    shape, axis = shape_of(types[0]), attrs["axis"]
    if axis >= len(shape) or types[1] != scalar(I64):
        raise TypeError(f"pick takes an array with an axis {axis} and a position, not {', '.join(map(str, types))}")
    return (ArrayType(element(types[0]), (*shape[:axis], *shape[axis + 1 :])),)


def broadcast(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape stated in `shape`."""
    shape, given, expand = attrs["shape"], shape_of(types[0]), attrs["expand"]
    if attrs["ndim"] != len(given) or len(shape) < len(given) or any(axis >= len(shape) for axis in expand):
        raise ValueError(f"{types[0]} with the axes {expand} repeated does not become {format_shape(shape)}")
    return (ArrayType(element(types[0]), shape),)


def reshape(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape stated in `shape`; that of the operand is stated too."""
    if len(attrs["source"]) != len(shape_of(types[0])):
        raise ValueError(f"the shape of {types[0]} is not {format_shape(attrs['source'])}")
    return (ArrayType(element(types[0]), attrs["shape"]),)


def strided(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape stated in `shape`, of flat memory."""
    if len(attrs["strides"]) != len(attrs["shape"]) or len(shape_of(types[0])) != 1:
        raise ValueError(f"strided states a stride for each axis of {format_shape(attrs['shape'])}, over memory with one axis")
    return (ArrayType(element(types[0]), attrs["shape"]),)


def meeting_lengths(shapes: Sequence[Shape]) -> list[tuple[DimLike, DimLike]]:
    """Pairs of lengths that a broadcast takes as equal: the one that it keeps, and each other that is not 1."""
    pairs: list[tuple[DimLike, DimLike]] = []
    for axis in range(-max(map(len, shapes), default=0), 0):
        wide = [s[axis] for s in shapes if len(s) >= -axis and s[axis] != 1]
        met = (meeting(kept_length(wide), other) for other in wide)
        pairs.extend(dict.fromkeys((first, other) for first, other in met if first != other))
    return pairs


def assignment_pairs(value: Shape, target: Shape) -> list[tuple[DimLike, DimLike]]:
    """Lengths that must be equal when a value of one shape is assigned to another shape.

    Returns
    -------
    list of (target length, value length)
        Those that are not known to be equal; the call checks them.

    Raises
    ------
    ValueError
        The value does not broadcast to the target; NumPy's sentence.
    """
    wanted = (*[1] * (len(value) - len(target)), *target)[-len(value) :] if value else ()
    pairs = [meeting(t, v) for t, v in zip(wanted, value, strict=True) if v != 1 and v != t]
    if any(isinstance(t, int) and isinstance(v, int) for t, v in pairs):
        raise ValueError(assignment_sentence(value, target))
    return pairs


def update(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The array that is changed; the new elements have its dtype and broadcast to its view."""
    old, target, new = types
    if element(old) is not element(target) or element(new) is not element(old):
        raise TypeError(f"update takes operands of one dtype, not {', '.join(map(str, types))}")
    assignment_pairs(shape_of(new), shape_of(target))
    return (ArrayType(element(old), shape_of(old)),)


def _combining(op: Op, attrs: dict[str, Any]) -> Reduction:
    """The row of `REDUCTIONS` that is stated."""
    if attrs["op"] not in REDUCTIONS:
        raise TypeError(f"{op.name} with {attrs['op']!r}, which is none of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[attrs["op"]]


def reduce(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The operands without the reduced axes; with ``pieces``, those are a new first axis."""
    row, axes = _combining(op, attrs), attrs["axes"]
    if len(types) != row.states:
        raise TypeError(f"reduce with {row.name} takes {row.states} operands, not {len(types)}")
    shape = shape_of(types[0])
    if any(shape_of(t) != shape for t in types):
        raise ValueError(f"reduce takes operands of one shape, not {', '.join(map(str, types))}")
    if list(axes) != sorted(set(axes)) or any(not 0 <= a < len(shape) for a in axes):
        raise ValueError(f"reduce takes the axes of {types[0]} in order, not {axes}")
    rest = tuple(d for a, d in enumerate(shape) if a not in axes)
    if attrs.get("pieces") is not None:
        rest = (attrs["pieces"], *rest)
    return tuple(ArrayType(element(t), rest) if rest else scalar(element(t)) for t in types)


def scan(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The operand's type; with ``pieces`` the second operand has an element for each piece of each row."""
    shape, axis, pieces = shape_of(types[0]), attrs["axis"], attrs.get("pieces")
    if not 0 <= axis < len(shape):
        raise ValueError(f"scan along axis {axis} of {types[0]}")
    if _combining(op, attrs).states != 1 or len(types) != (1 if pieces is None else 2):
        raise TypeError(f"scan with {attrs['op']} does not take {', '.join(map(str, types))}")
    starts = (element(types[0]), (pieces, *shape[:axis], *shape[axis + 1 :]))
    if pieces is not None and (element(types[1]), shape_of(types[1])) != starts:
        raise ValueError(f"scan in {pieces} pieces along axis {axis} of {types[0]} does not begin with {types[1]}")
    return (ArrayType(element(types[0]), shape),)


def iota(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """int64 of the stated shape."""
    if attrs["axis"] >= len(attrs["shape"]):
        raise ValueError(f"{format_shape(attrs['shape'])} has no axis {attrs['axis']}")
    return (ArrayType(I64, attrs["shape"]),)


def own_piece(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The stated shape, without the axes that are cut one for each piece more."""
    shape = attrs["shape"]
    rest = tuple(d for a, d in enumerate(shape) if a not in attrs["axes"])
    if shape_of(types[0])[1:] != rest or len(rest) != len(shape) - len(attrs["axes"]):
        raise ValueError(f"the pieces of the axes {attrs['axes']} of {shape} are not {types[0]}")
    return (ArrayType(element(types[0]), shape),)


def diagonal(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The last two axes become one of the length stated."""
    if len(shape_of(types[0])) < 2:
        raise ValueError(f"diagonal takes an array with two axes or more, not {types[0]}")
    return (ArrayType(element(types[0]), (*shape_of(types[0])[:-2], attrs["length"])),)


def windows(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The axis has as many elements as there are windows, and the last one those of a window."""
    shape, axis = shape_of(types[0]), attrs["axis"]
    if not 0 <= axis < len(shape):
        raise ValueError(f"windows along axis {axis} of {types[0]}")
    return (ArrayType(element(types[0]), (*shape[:axis], attrs["size"], *shape[axis + 1 :], attrs["length"])),)


def concatenate(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The operands' dtype; along the axis the lengths add up, elsewhere they are those of the first."""
    axis, first = attrs["axis"], shape_of(types[0])
    if any(element(t) is not element(types[0]) or len(shape_of(t)) != len(first) for t in types) or not 0 <= axis < len(first):
        raise TypeError(f"concatenate takes arrays of one dtype and rank, not {', '.join(map(str, types))}")
    total: DimLike = 0
    for type in types:
        total = total + shape_of(type)[axis]
    return (ArrayType(element(types[0]), (*first[:axis], total, *first[axis + 1 :])),)


def gather(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The axes that are not named, and at a place those of the positions."""
    source, *positions = types
    axes, shape = attrs["axes"], shape_of(source)
    if len(axes) != len(positions) or any(element(p) is not I64 for p in positions):
        raise TypeError(f"gather takes an int64 array for each axis, not {', '.join(map(str, positions))}")
    rest = [d for a, d in enumerate(shape) if a not in axes]
    if len(rest) != len(shape) - len(axes) or attrs["at"] > len(rest):
        raise TypeError(f"gather along the axes {axes} of {source}, whose positions come at {attrs['at']}")
    rest[attrs["at"] : attrs["at"]] = broadcast_shapes([shape_of(p) for p in positions])
    return (ArrayType(element(source), tuple(rest)) if rest else scalar(element(source)),)


def search(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A position for each value."""
    if len(shape_of(types[0])) != 1 or element(types[0]) is not element(types[1]):
        raise TypeError(f"search takes an array with one axis and values of its dtype, not {', '.join(map(str, types))}")
    return (shaped(I64, types[1:]),)


def compaction(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """int64 of the stated shape."""
    mask, *starts = types
    if element(mask) is not BOOL or any(element(s).kind != "i" or len(shape_of(s)) != 1 for s in starts):
        raise TypeError(f"compaction takes an array of bools and counts, not {', '.join(map(str, types))}")
    if len(starts) != ("piece" in attrs) or len(attrs["shape"]) != 1:
        raise TypeError("compaction gives one axis, and takes counts where it has pieces")
    return (ArrayType(I64, attrs["shape"]),)


def fold_range(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape and dtype of the first operand."""
    start, vector, *bounds = types
    if len(shape_of(vector)) != 1 or element(vector) is not element(start) or any(element(b) is not I64 for b in bounds):
        raise TypeError(f"fold_range takes a value, a vector of its dtype and positions, not {', '.join(map(str, types))}")
    return (shaped(element(start), (start, *bounds), True),)


def combine_at(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape and dtype of the first operand."""
    start, places, values = types
    lengths = [shape_of(t) for t in types]
    fits = len(lengths[1]) == 1 and 0 < len(lengths[2]) <= len(lengths[0])
    if not fits or element(places).kind not in "iu" or element(values) is not element(start):
        raise TypeError(f"combine_at takes an array, positions, and values of its dtype, not {', '.join(map(str, types))}")
    return (ArrayType(element(start), lengths[0]),)


def place(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The shape and dtype of the first operand."""
    start, mask, values, count = types
    lengths = [shape_of(t) for t in types]
    fits = len(lengths[1]) > 0 and len(lengths[1]) + len(lengths[2]) == len(lengths[0]) + 1 and not lengths[3]
    if not fits or element(mask) is not BOOL or element(values) is not element(start) or element(count) is not I64:
        raise TypeError(f"place takes an array, a mask, values of its dtype and a number, not {', '.join(map(str, types))}")
    return (ArrayType(element(start), lengths[0]),)


def kept(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """The operand's."""
    return (ArrayType(element(types[0]), shape_of(types[0])),)


def library_call(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """As the list of library calls says."""
    return library.result_types(attrs["function"], types, attrs.get("options", ()))


def load(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """An element of the pointer's dtype, or a vector of as many as the attribute says."""
    lanes = attrs.get("lanes")
    return (VectorType(element(types[0]), lanes) if lanes else scalar(element(types[0])),)


def transposed(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """As many vectors as there are operands, each with as many elements."""
    count = len(types)
    if any(t != types[0] or not isinstance(t, VectorType) or t.lanes != count for t in types) or count & (count - 1):
        wanted = "as many vectors of one type as these have elements, a power of two"
        raise TypeError(f"{op.name} takes {wanted}, not {count} of {types[0]}")
    return types


def packed(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A uint64 of as many bools as it has bits."""
    if types[0] != VectorType(BOOL, 64):
        raise TypeError(f"{op.name} takes a vector of 64 bools, not {types[0]}")
    return (scalar(U64),)


def of_bits(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A uint64 of one."""
    if types[0] != scalar(U64):
        raise TypeError(f"{op.name} takes a uint64, not {types[0]}")
    return types


def truth(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """One truth value."""
    return (scalar(BOOL),)


def index_of(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """An index."""
    return (INDEX,)


def boolean(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """A truth value of the arguments' shape."""
    return (shaped(BOOL, types),)


def item(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """Python's number of a NumPy scalar."""
    (type,) = types
    if not isinstance(type, ScalarType):
        raise TypeError(f"{op.name} takes a NumPy scalar, not {type}")
    return ({"b": WEAK_BOOL, "f": WEAK_FLOAT, "c": WEAK_COMPLEX}.get(type.dtype.kind, WEAK_INT),)


def python_scalar(kind: str) -> Callable[[Op, Types, dict[str, Any]], Types]:
    """What a function of Python returns for Python scalars: `kind`, or ``same`` for that of the last."""

    def rule(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
        if not types or not all(isinstance(t, WeakType) for t in types):
            raise TypeError(f"{op.name} takes Python scalars")
        return (types[-1] if kind == "same" else WeakType(kind),)

    return rule


def nothing(op: Op, types: Types, attrs: dict[str, Any]) -> Types:
    """No result."""
    return ()

"""Reductions of ufuncs: what ``np.add.reduce`` and every function made of it share.

In: an array, and the arguments of NumPy's reductions.  Out: ``reduce`` instructions around which
every conversion stands: NumPy's accumulator before, the result's dtype behind.  NumPy itself is
asked for dtypes and errors, by a reduction of one element.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import ShapeError, UnsupportedError, raised
from pytocu.frontend.inplace import OUTPUT, mask_of, note_write, out_array, out_arrays, put_in, write_outputs
from pytocu.frontend.layouts import laid_out_as, reduced
from pytocu.frontend.narrow_outputs import converts_last, first_converted, identity_converted, require_one_part
from pytocu.frontend.operators import attempt, check_plain, constant_or_static, elementwise, index_of, truths
from pytocu.frontend.requirements import REMAPPED, fields, require, require_equal, require_fit
from pytocu.frontend.tables import methods
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_number,
)
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, Shape, empty_sentence, lower_bound, product
from pytocu.ir.infer import repeated_axes
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.types import BOOL, F16, F32, I64, WEAK_BOOL, WEAK_INT, DType, element, scalar

_folded = Deferred("pytocu.frontend.folds", "folded")
_LOGICAL = {"logical_and": "bitwise_and", "logical_or": "bitwise_or", "logical_xor": "bitwise_xor"}
ROUNDING = ("add", "multiply", "subtract", "divide", "true_divide", "hypot", "logaddexp", "logaddexp2")
"""What loses digits in float16: NumPy's loops keep a float32, and so does the accumulator."""


def row_of(name: str, dtype: DType) -> str | None:
    """The row of the table of reductions behind a ufunc, or None."""
    if name in ("fmin", "fmax") and dtype.kind not in "fc":
        name = "minimum" if name == "fmin" else "maximum"
    name = _LOGICAL.get(name, name)
    return name if name in REDUCTIONS and REDUCTIONS[name].states == 1 else None

_CHANGED_BY_IDENTITY = ("add", "gcd", "hypot")
"""NumPy combines a single element with the identity as well: 0 + -0.0, hypot(0, -3)."""


def given(value: Any, default: Any) -> Any:
    """An argument, where NumPy marks one that is left out by an object."""
    return default if value is MISSING or value is np._NoValue else value


def known_axis(context: Context, axis: Any) -> Any:
    """The argument ``axis=``, which is known while compiling.

    Raises
    ------
    CompileError
        It is an array, or a number known only at run time.
    """
    if contains_dynamic(axis):
        if is_array(axis) and dimensions(axis):
            raise raised(TypeError("only integer scalar arrays can be converted to a scalar index"), context.loc)
        raise UnsupportedError("axis= must be known while compiling", context.loc, constant_or_static(context, axis))
    check_plain(context, axis, "axis=")
    return axis


def known_flag(context: Context, keepdims: Any) -> bool:
    """The argument ``keepdims=``, which is known while compiling."""
    keepdims = given(keepdims, False)
    if contains_dynamic(keepdims):
        help = constant_or_static(context, keepdims, constant="True or False")
        raise UnsupportedError("keepdims= must be known while compiling", context.loc, help)
    number = index_of(context, keepdims)
    # NumPy takes it for an int of C.
    attempt(context, np.add.reduce, np.zeros(1), keepdims=number)
    return bool(number)


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes in order, counted from 0, of an argument that NumPy has accepted."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    # NumPy lets axis 0 and -1 of an array without axes pass.
    return tuple(sorted(operator.index(a) % ndim for a in axes)) if ndim else ()


def stand_in(value: Any) -> Any:
    """An array of ones with one element on every axis for a run-time value; others are themselves."""
    if not isinstance(value, Value):
        return value
    dtype = promote.strong(value.type).numpy
    return np.ones((1,) * len(dimensions(value)), dtype) if is_array(value) else dtype.type(1)


def _accumulator(
    context: Context, name: str, value: Value, axis: Any, dtype: Any, out: Value | None, keepdims: Any, initial: Any, where: Any
) -> DType:
    """The dtype that NumPy reduces in, which is that of its result.

    Raises
    ------
    CompileError
        What NumPy raises for these dtypes and axes.
    """
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if initial is not MISSING:
        options["initial"] = stand_in(initial)
    if where is not True:
        # A mask of the same number of axes: where it has too many, NumPy says so.
        options["where"] = stand_in(where)
    return accumulator(context, name, "reduce", value, dtype, out, options)


def accumulator(
    context: Context,
    name: str,
    method: str,
    value: Value,
    dtype: Any,
    out: Value | None,
    options: Mapping[str, Any],
    shared: bool = False,
) -> DType:
    """The dtype in which a method of a ufunc accumulates, which is that of its result.

    The output may have `shared` memory with the value.

    Raises
    ------
    UnsupportedError
        The argument ``dtype=`` is an array.
    CompileError
        What NumPy raises for these dtypes and options.
    """
    if isinstance(dtype, Value):
        raise UnsupportedError(f"{describe(dtype)} is used as a dtype", context.loc, "write np.float32, 'f4' or x.dtype")
    ufunc = promote.numpy_function(name)
    apply = getattr(ufunc, method)
    if out is not None:
        attempt_into(context, apply, value, out, dtype, options, shared, method == "accumulate")
        if dtype is None and name not in _LOGICAL:
            given = (element(out.type).numpy, element(value.type).numpy, None)
            found = attempt(context, ufunc.resolve_dtypes, given, reduction=True, casting="unsafe")[2]
            return promote.known_dtype(found, f"np.{name}.{method}")
    example = attempt(context, apply, stand_in(value), dtype=dtype, **options)
    if not isinstance(example, (np.ndarray, np.generic)):
        help = "name a bool, integer, float or complex dtype"
        raise UnsupportedError(f"np.{name}.{method} of Python's objects", context.loc, help)
    return promote.known_dtype(example.dtype, f"np.{name}.{method}")


def attempt_into(
    context: Context,
    apply: Callable[..., Any],
    value: Value,
    out: Value,
    dtype: Any,
    options: Mapping[str, Any],
    shared: bool,
    cut: bool = False,
) -> None:
    """Let NumPy say what is wrong with an output, which may have `shared` memory with the value, or be `cut` to its axes."""
    target, count = stand_in(out), len(dimensions(value))
    if cut and target.ndim > count > 0:
        target = target.reshape((1,) * count)
    source = target.reshape(-1)[:1].reshape((1,) * count) if shared else stand_in(value)
    attempt(context, apply, source, dtype=dtype, **options, out=target)


def check_not_empty(context: Context, name: str, shape: Sequence[DimLike], axes: Sequence[int]) -> None:
    """State that there is something to reduce.

    Raises
    ------
    ShapeError
        The lengths are known to be 0; NumPy's sentence.
    """
    count = product([shape[a] for a in axes])
    low = lower_bound(count)
    if low is not None and low > 0:
        return
    if count == 0:
        raise ShapeError(empty_sentence(name), context.loc)
    context.builder.emit("check", (), {"kind": f"empty {name}", "dims": (count,), "shapes": ()})


def combined(context: Context, row: str, operands: Sequence[Value], axes: Sequence[int], keepdims: bool) -> tuple[Value, ...]:
    """The ``reduce`` instruction, and the axes of length 1 that `keepdims` asks for."""
    if not axes:
        return tuple(operands)
    made = context.builder.inst("reduce", operands, {"op": row, "axes": tuple(axes)}).results
    return tuple(kept_axes(context, m, axes) for m in made) if keepdims else tuple(made)


def kept_axes(context: Context, value: Value, axes: Sequence[int]) -> Value:
    """A result with its reduced axes as axes of length 1."""
    for axis in axes:
        value = context.builder.emit("newaxis", (value,), {"axis": axis})
    return value


def reduce(
    context: Context,
    name: str,
    value: Value,
    axis: Any = None,
    dtype: Any = None,
    out: Value | None = None,
    keepdims: Any = False,
    initial: Any = MISSING,
    where: Any = True,
) -> Value:
    """The value of ``ufunc.reduce``, in the dtype of `out` where that is given, which is not written.

    Raises
    ------
    CompileError
        What NumPy raises.
    """
    initial, where, own = given(initial, MISSING), given(where, True), promote.numpy_function(name).__name__
    if out is not None:
        # NumPy looks at that before anything else.
        note_write(context, out, OUTPUT)
    if isinstance(where, Value) and where.type == WEAK_BOOL and _asks_for_initial(name, initial):
        # Python's True is no mask.
        said = f"reduction operation '{own}' does not have an identity, so to use a where mask one has to specify 'initial'"
        value, where = require(context, value, as_strong(context, where), "ValueError", said), True
    if where is not True:
        where = mask_of(context, where)
    axis, keep = known_axis(context, axis), known_flag(context, keepdims)
    result = _accumulator(context, name, value, axis, dtype, out, keep, initial, where)
    row = row_of(name, result)
    axes = normal_axes(axis, len(dimensions(value)))
    if out is not None:
        check_output(context, value, dimensions(value), axes, keep, out, where)
    kept = F32 if result is F16 and name in ROUNDING else result
    logical = name in _LOGICAL
    # Each element is rounded to the dtype before anything is added.
    made = truths(context, value) if logical else accumulated_as(context, name, value, result, kept)
    start = _start(context, initial, kept, logical)
    if start is None and (initial is None or row is None or not REDUCTIONS[row].empty):
        check_not_empty(context, own, dimensions(value), axes)
    if out is not None and not converts_last(name, result, element(out.type), name in ROUNDING and row is not None):
        held = element(out.type)
        require_one_part(context, own, value, axes, result, held, where is not True)
        if start is not None:
            start = cast(context, cast(context, start, held), kept)
        elif initial is MISSING and promote.numpy_function(name).identity is not None:
            start = identity_converted(context, name, result, kept, held)
        else:
            made = first_converted(context, made, value, axes, held)
    if row is None:
        made = _folded(context, name, made, axes, kept, start, None if where is True else mask_like(context, where, made))
        if keep:
            made = kept_axes(context, made, axes)
        return _finished(context, made, value, axes, result if out is None else element(out.type))
    if where is not True:
        # Without an identity NumPy asks for `initial`, which changes nothing the second time.
        other = start if start is not None and not REDUCTIONS[row].empty else _identity(context, row, kept)
        made = _masked(context, made, where, other)
    source = made
    made = combined(context, row, (made,), axes, keep)[0]
    if not axes and start is None and row in _CHANGED_BY_IDENTITY:
        start = _identity(context, row, kept)
    if row == "lcm" and start is None and axes:
        made = _alone(context, source, made, axes, keep)
    if row in ("fmin", "fmax") and kept.kind == "c" and start is None and axes:
        made = _of_nan_alone(context, source, made, axes, keep)
    if start is not None:
        made = elementwise(context, row, start, made)
    return _finished(context, made, value, axes, result if out is None else element(out.type))


def accumulated_as(context: Context, name: str, value: Value, result: DType, kept: DType) -> Value:
    """The elements, each rounded to the dtype of the result, in that of the accumulator."""
    return value if name == "ldexp" else cast(context, cast(context, value, result), kept)


def _finished(context: Context, made: Value, value: Value, axes: Sequence[int], dtype: DType) -> Value:
    """A reduction's result in its dtype, a new one."""
    made = cast(context, made, dtype)
    if not axes and is_array(value):
        made = context.builder.emit("copy", (made,)) if dimensions(value) and made is value else without_axes(context, made)
    # A mask without axes makes no array of a number.
    return reduced(context, made, value) if is_array(value) else without_axes(context, made)


def _asks_for_initial(name: str, initial: Any) -> bool:
    """Whether NumPy has no number to begin with where a mask leaves all elements out."""
    return initial is None or (initial is MISSING and promote.numpy_function(name).identity is None)


def reducible() -> list[str]:
    """The ufuncs whose reductions are compiled."""
    return sorted([n for n, r in REDUCTIONS.items() if r.states == 1] + list(_LOGICAL))


def _alone(context: Context, source: Value, made: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """A reduction whose row has no identity leaves a single element as it is, negative ones too."""
    count = length(context, product([dimensions(source)[a] for a in axes]))
    (element_itself,) = combined(context, "add", (source,), axes, keepdims)
    return elementwise(context, "where", elementwise(context, "equal", count, 1), element_itself, made)


def _of_nan_alone(context: Context, source: Value, made: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """What is left of NaNs alone is the first one, both of its parts; the row's own NaN has others."""
    for axis in reversed(axes):
        source = context.builder.emit("index", (source,), {"axis": axis, "at": 0})
    first = kept_axes(context, source, axes) if keepdims else source
    return elementwise(context, "where", elementwise(context, "isnan", made), first, made)


def _identity(context: Context, row: str, dtype: DType) -> Value:
    return context.builder.const(REDUCTIONS[row].identity((dtype,))[0], scalar(dtype))


def _start(context: Context, initial: Any, dtype: DType, logical: bool) -> Value | None:
    """The argument ``initial=`` in the accumulator's dtype."""
    if initial is MISSING or initial is None:
        return None
    if is_number(initial):
        number = bool(initial) if logical else attempt(context, np.array, initial, dtype.numpy).item()
        return context.builder.const(number, scalar(dtype))
    made = as_value(context, initial)
    if dimensions(made):
        example = np.zeros((1,) * len(dimensions(made)), element(made.type).numpy)
        attempt(context, np.add.reduce, np.zeros(1, dtype.numpy), initial=example)
        if logical or dtype is BOOL:
            raise UnsupportedError("initial= of a sequence is not compiled", context.loc, "write True or False")
        raise raised(ValueError("setting an array element with a sequence."), context.loc)
    return without_axes(context, truths(context, made) if logical else put_in(context, made, dtype))


def _masked(context: Context, value: Value, where: Any, other: Value) -> Value:
    """The elements that ``where=`` chooses, the others changed into one that changes nothing."""
    return elementwise(context, "where", mask_like(context, where, value), value, other)


def mask_like(context: Context, where: Any, value: Value) -> Value:
    """The mask of ``where=``, which must broadcast to the shape of the value."""
    mask = mask_of(context, where)
    own, wanted = dimensions(mask), dimensions(value)
    if len(own) > len(wanted):
        text = "input operand has more dimensions than allowed by the axis remapping"
        raise raised(ValueError(text), context.loc)
    ends = list(zip(own, wanted[len(wanted) - len(own) :], strict=True))
    whole = (*wanted[: len(wanted) - len(own)], *(length if other == 1 else other for length, other in ends))
    text, behind = fields(2, wanted), 2 + len(wanted)
    misfit = f"{REMAPPED}{text} {fields(behind, own)} "
    repeats = f"non-broadcastable operand with shape {text} doesn't match the broadcast shape {fields(behind, whole)}"
    for alone, sentence, shape in ((False, misfit, own), (True, repeats, whole)):
        for length, other in ends:
            if length != 1 and (other == 1) == alone:
                shown, operands = (*wanted, *shape), (value, mask)
                require_fit(context, length, other, "ValueError", sentence, *shown, operands=operands)
    return mask


def check_output(
    context: Context, value: Value, shape: Shape, axes: Sequence[int], keepdims: bool, out: Value, where: Any = True
) -> None:
    """State that an output array has exactly the shape of the result; they have as many axes.

    The `shape` of what is reduced is that of the value, or of a part of it.  NumPy's sentences show that of the mask, too.

    Raises
    ------
    ShapeError
        The lengths are known and differ.
    """
    own = dimensions(out)
    kept = [a for a in range(len(shape)) if keepdims or a not in axes]
    ends = [(k, length, a, shape[a]) for k, (length, a) in enumerate(zip(own, kept, strict=True))]
    behind = 2 + len(own)

    def unequal(length: DimLike, other: DimLike, sentence: str, shown: Sequence[DimLike] = ()) -> None:
        require_equal(context, length, other, "ValueError", sentence, *own, *shown, operands=(out, value))

    words = [f"{{{2 + kept.index(a)}}}" if a in kept else "newaxis" for a in range(len(shape))]
    mapped = words[next((n for n, word in enumerate(words) if word != "newaxis"), len(words)) :]
    misfit = f"{REMAPPED}{fields(2, own)}->({','.join(mapped)}{',' if len(words) == 1 else ''}) {fields(behind, shape)} "
    mask = () if where is True else dimensions(mask_of(context, where))
    misfit += "" if where is True else f"{fields(behind + len(shape), mask)} "
    for _, length, a, other in ends:
        if a in axes and isinstance(length, Dim):
            # A part of an array (``out=y[:1]``) may have the length 1.
            unequal((length - 1) * (length - other), 0, misfit, (*shape, *mask))
        elif length != 1 and other != 1:
            unequal(length, other, misfit, (*shape, *mask))
    for length, other in zip(mask[::-1], shape[::-1], strict=False):
        if 1 not in (length, other):
            require_fit(context, length, other, "ValueError", misfit, *own, *shape, *mask, operands=(out, value))
    whole = [length if other == 1 else other for _, length, _, other in ends]
    grown = tuple(whole[kept.index(a)] if a in kept and a not in axes else shape[a] for a in range(len(shape)))
    text, wider = fields(behind, shape), fields(behind + len(shape), grown)
    repeats = f"non-broadcastable operand with shape {text} doesn't match the broadcast shape {wider}"
    for k, length, a, other in reversed(ends):
        if a in axes:
            found = f"operand was set up as a reduction along axis {a}, but the length of the axis is {{2}} (it has to be 1)"
            require_equal(context, length, 1, "ValueError", found, length, operands=(out, value))
        elif length == 1:
            unequal(1, other, _DISABLED.format(k))
        elif other == 1:
            unequal(length, 1, repeats, (*shape, *grown))


_DISABLED = (
    "output operand requires a reduction along dimension {}, but the reduction is not enabled. The dimension size of 1 does "
    "not match the expected output shape."
)


def replaced_nan(context: Context, value: Value, other: Any) -> tuple[Value, Value | None]:
    """The value with a number in place of NaN, and where NaN stood; integers have none."""
    if element(value.type).kind not in "fc":
        return value, None
    mask = elementwise(context, "isnan", value)
    made = elementwise(context, "where", mask, element(value.type).numpy.type(other), value)
    # NumPy changes a copy.
    return laid_out_as(context, made, value, "K") if is_array(value) else made, mask


def reduce_into(
    context: Context,
    name: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = MISSING,
    where: Any = True,
) -> Value:
    """As :func:`reduce`, written into ``out=``, which is then the result."""
    outs = out_arrays(context, out, 1)
    made = reduce(context, name, as_strong(context, a), axis, dtype, outs[0], keepdims, initial, where)
    return write_outputs(context, (made,), outs)[0]


def length(context: Context, dim: DimLike) -> Value:
    """A number of elements as NumPy has it, an int64."""
    value = dim_value(context, dim)
    if not isinstance(value, Value):
        return context.builder.const(value, scalar(I64))
    assert value.type == WEAK_INT
    return context.builder.emit("convert", (value,), {}, (scalar(I64),))


def repeated(context: Context, value: Value, shape: tuple[DimLike, ...]) -> Value:
    """The value broadcast to a shape that it fits."""
    given = dimensions(value)
    if given == shape:
        return value
    attrs = {"shape": shape, "expand": repeated_axes(given, shape), "ndim": len(given)}
    return context.builder.emit("broadcast", (value,), attrs)


# The functions that are one reduction.


def reduction(name: str, doc: str, with_dtype: bool, neutral: int | None = None) -> Callable[..., Any]:
    """A function of NumPy that is the reduction by a ufunc.

    Parameters
    ----------
    name : str
        The ufunc.
    doc : str
        What the function gives.
    with_dtype : bool
        It has the parameter ``dtype=``.
    neutral : int, optional
        What takes the place of NaN.
    """

    def typed(
        context: Context,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        value = as_strong(context, a)
        if neutral is not None:
            value, _ = replaced_nan(context, value, neutral)
        if name not in ("fmax", "fmin"):
            # NumPy hands it on to a method of the ufunc, and from np.nanmax and np.nanmin as it is.
            (out,) = out_array(context, out)
        return reduce_into(context, name, value, axis, dtype, out, keepdims, initial, where)

    def plain(
        context: Context,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        return typed(context, a, axis, None, out, keepdims, initial, where)

    def logical(
        context: Context, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        return typed(context, a, axis, None, out, keepdims, MISSING, where)

    made = typed if with_dtype else logical if name.startswith("logical") else plain
    made.__doc__ = doc
    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": reduction("add", "The sum of elements; integers add up as 64 bits, float16 in float32", True),
    "prod": reduction("multiply", "The product of elements", True),
    "min": reduction("minimum", "The smallest element; NaN wins", False),
    "max": reduction("maximum", "The largest element; NaN wins", False),
    "any": reduction("logical_or", "Whether any element is not zero", False),
    "all": reduction("logical_and", "Whether no element is zero", False),
}
FUNCTIONS |= {"amin": FUNCTIONS["min"], "amax": FUNCTIONS["max"]}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = methods(FUNCTIONS)

"""``x.view(dtype)`` with a dtype of another size: the bytes of the last axis as numbers of that dtype.

The bytes are computed (the machines that code is made for all have the lowest byte first), so the result is an array of its own
where NumPy's is a view. Nothing depends on that until one of the two is changed, which is refused.
"""

from __future__ import annotations

from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.layouts import is_unknown, laid_out_as, rests, strides_of
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, cast, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv, modulo, product
from pytocu.ir.types import BOOL, F32, F64, U8, U16, U32, U64, ArrayType, DType, element

_APART = "To change to a dtype of a different size, the last axis must be contiguous"
_NO_MULTIPLE = (
    "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array."
)
_UNSIGNED = {8: U8, 16: U16, 32: U32, 64: U64}


def view_of_another_size(context: Context, value: Value, target: DType) -> Value:
    """The elements' bytes as numbers of a dtype of another size; see the module.

    Raises
    ------
    ValueError
        As NumPy: an array without axes, a last axis with gaps, or of a length that is no multiple.
    UnsupportedError
        Where the elements lie does not follow from the types; bytes become bools.
    """
    source = element(value.type)
    if target is BOOL:
        text = f"a view of {source.numpy} as bool is not compiled: bytes other than 0 and 1 are no bools"
        raise UnsupportedError(text, context.loc, "write x.view(np.uint8) != 0")
    if not is_array(value) or not dimensions(value):
        attempt(context, stand_in(value).view, target.numpy)
    _check_contiguous(context, value)
    made = _smaller(context, value, target) if target.bits < source.bits else _larger(context, value, target)
    made = context.builder.emit("copy", (made,))
    context.builder.copy_unless(made, value, None)
    return laid_out_as(context, made, value, "K")


def _check_contiguous(context: Context, value: Value) -> None:
    """State that the elements along the last axis lie next to each other, unless there are none or there is one."""
    shape = dimensions(value)
    stride, last = strides_of(context, value)[-1], shape[-1]
    if last == 1 or stride == 1:
        return
    root = context.builder.root(value)
    if is_unknown(stride) and root is value and root in context.builder.arguments and len(shape) == 1:
        # A vector without gaps is in row-major order.
        stride = 2
    if is_unknown(stride) or rests(context, value):
        text = "where the elements lie in memory of which the bytes are taken is not known while compiling"
        raise UnsupportedError(text, context.loc, "write .copy() in front: x.copy().view(dtype)")
    some = dim_min(dim_max(last - 1, 0), 1) * dim_min(product(shape), 1)
    gaps = dim_min((stride - 1) * (stride - 1), 1)
    require_equal(context, some * gaps, 0, "ValueError", _APART)


def _with_last(value: Value, length: DimLike, *more: DimLike) -> tuple[DimLike, ...]:
    return (*dimensions(value)[:-1], length, *more)


def _reshaped(context: Context, value: Value, shape: tuple[DimLike, ...]) -> Value:
    return context.builder.emit("reshape", (value,), {"shape": shape, "source": dimensions(value)})


def _as(context: Context, value: Value, dtype: DType) -> Value:
    """The same bits as numbers of a dtype of the same size."""
    if element(value.type) is dtype:
        return value
    return context.builder.emit("view", (value,), {}, (ArrayType(dtype, dimensions(value)),))


def _parts(context: Context, value: Value) -> Value:
    """Complex numbers as real and imaginary parts in turns."""
    ndim = len(dimensions(value))
    parts = [context.builder.emit(name, (value,)) for name in ("real", "imag")]
    parts = [context.builder.emit("newaxis", (p,), {"axis": ndim}) for p in parts]
    both = context.builder.emit("concatenate", parts, {"axis": ndim})
    return _reshaped(context, both, _with_last(value, dimensions(value)[-1] * 2))


def _smaller(context: Context, value: Value, target: DType) -> Value:
    if element(value.type).kind == "c":
        parts = _parts(context, value)
        return _of_one_size(context, parts, target)
    size, count = element(value.type).bits, element(value.type).bits // target.bits
    ndim = len(dimensions(value))
    words = context.builder.emit("newaxis", (_as(context, value, _UNSIGNED[size]),), {"axis": ndim})
    number = context.builder.emit("iota", (), {"axis": ndim, "shape": (*[1] * ndim, count)})
    shift = elementwise(context, "multiply", cast(context, number, _UNSIGNED[size]), target.bits)
    pieces = cast(context, elementwise(context, "right_shift", words, shift), _UNSIGNED[target.bits])
    return _as(context, _reshaped(context, pieces, _with_last(value, dimensions(value)[-1] * count)), target)


def _of_one_size(context: Context, value: Value, target: DType) -> Value:
    """A view with a dtype of any size."""
    bits = element(value.type).bits
    if bits == target.bits:
        return _as(context, value, target)
    return _smaller(context, value, target) if target.bits < bits else _larger(context, value, target)


def _larger(context: Context, value: Value, target: DType) -> Value:
    if target.kind == "c":
        part = F32 if target.bits == 64 else F64
        floats = value if element(value.type) is part else _of_one_size(context, value, part)
        return elementwise(context, "compose", *_in_turns(context, floats, 2))
    size, count = element(value.type).bits, target.bits // element(value.type).bits
    made: Any = None
    bits = cast(context, value, U8) if element(value.type) is BOOL else _as(context, value, _UNSIGNED[size])
    for number, part in enumerate(_in_turns(context, bits, count)):
        word = elementwise(context, "left_shift", cast(context, part, _UNSIGNED[target.bits]), size * number)
        made = word if made is None else elementwise(context, "bitwise_or", made, word)
    return _as(context, made, target)


def _in_turns(context: Context, value: Value, count: int) -> list[Value]:
    """Every `count`-th element of the last axis, from each of the first ones on."""
    ndim, last = len(dimensions(value)), dimensions(value)[-1]
    require_equal(context, modulo(last, count), 0, "ValueError", _NO_MULTIPLE)
    rows = _reshaped(context, value, _with_last(value, context.length(floordiv(last, count)), count))
    return [context.builder.emit("index", (rows,), {"axis": ndim, "at": number}) for number in range(count)]


__all__ = ["view_of_another_size"]

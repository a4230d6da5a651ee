"""What an expression of the user's function stands for while it is read.

An *abstract value* is an IR :class:`~pytocu.ir.core.Value` (known at run time) or any other
Python object (known now: a literal, a captured number, a module, a tuple of abstract
values).  Numbers that are known stay Python or NumPy objects until they meet an IR value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytocu.errors import CompileError, Loc, UnsupportedError
from pytocu.frontend.guards import Guard
from pytocu.ir import promote
from pytocu.ir.builder import Builder
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import Dim, DimLike
from pytocu.ir.types import (
    COMPILED_DTYPES,
    I64,
    WEAK_INT,
    ArrayType,
    DType,
    ScalarType,
    WeakType,
    dtype_of,
    element,
    scalar,
    shape_of,
    weak_type_of,
)

Reader = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Static:
    """An argument known while compiling."""

    value: Any


@dataclass(frozen=True, slots=True)
class Hooks:
    """Parts of the reader that the modules below it call back into."""

    run_function: Callable[..., Any]
    iterate: Callable[..., Any]
    get_attribute: Callable[..., Any]
    assign: Callable[..., None]


@dataclass(slots=True)
class Context:
    """What one run of the front end shares over all inlined functions.

    ``readers`` finds objects that came in as arguments again at the next call, so that
    guards on their attributes do not keep the objects alive.  ``unit_lengths`` are lengths such
    as ``n - 2`` that are 1 in the call that compiles; NumPy broadcasts them.
    """

    builder: Builder
    hooks: Hooks
    unit_lengths: frozenset[Dim] = frozenset()
    readers: dict[int, Reader] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    guarded: set[Any] = field(default_factory=set)
    active: list[Any] = field(default_factory=list)

    @property
    def loc(self) -> Loc:
        """The place being read."""
        return self.builder.loc

    def length(self, dim: DimLike) -> DimLike:
        """A length that a view has: 1 where it is known to be."""
        return 1 if dim in self.unit_lengths else dim


def is_dynamic(value: Any) -> bool:
    """Whether the value is only known at run time."""
    return isinstance(value, Value)


def contains_dynamic(value: Any) -> bool:
    """Whether the value, or a member of a tuple, list or dict, is only known at run time."""
    if isinstance(value, (tuple, list)):
        return any(map(contains_dynamic, value))
    if isinstance(value, dict):
        return any(map(contains_dynamic, value.values()))
    return is_dynamic(value)


def is_number(value: Any) -> bool:
    """A Python or NumPy scalar known now."""
    return isinstance(value, (bool, int, float, complex, np.generic))


def checked_dtype(dtype: DType, loc: Loc | None) -> DType:
    """The dtype, if backends have code for it.

    Raises
    ------
    UnsupportedError
        For float16 and complex.
    """
    if dtype not in COMPILED_DTYPES:
        raise UnsupportedError(
            f"dtype {dtype.numpy} is not supported",
            loc,
            "the dtypes are bool, int8 to int64, uint8 to uint64, float32 and float64; convert with astype",
        )
    return dtype


def as_value(context: Context, value: Any) -> Value:
    """An IR value for an operand: constants are written where they are used.

    Raises
    ------
    CompileError
        The object is not a number or an array.
    """
    if isinstance(value, Value):
        return value
    weak = weak_type_of(value)
    if weak is not None:
        if weak.kind == "complex":
            raise UnsupportedError("complex numbers are not supported", context.loc)
        return context.builder.const(value, weak)
    if isinstance(value, np.generic):
        dtype = dtype_of(value.dtype)
        if dtype is None:
            raise UnsupportedError(f"a NumPy scalar of dtype {value.dtype} is not supported", context.loc)
        return context.builder.const(value.item(), scalar(checked_dtype(dtype, context.loc)))
    if isinstance(value, np.ndarray):
        raise CompileError(
            "an array is captured from outside the function",
            context.loc,
            "pass it as an argument; captured numbers, strings, tuples and functions are fine",
        )
    if isinstance(value, (tuple, list)):
        raise UnsupportedError(
            f"a {type(value).__name__} is used as an array", context.loc, "pass an array, or index the tuple with a constant"
        )
    raise UnsupportedError(f"{_describe(value)} is used as a number or an array", context.loc)


def _describe(value: Any) -> str:
    if value is None:
        return "None"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    kind = type(value).__name__
    return f"{kind} {name}" if name else f"an object of type {kind}"


describe = _describe


def as_strong(context: Context, value: Any) -> Value:
    """An operand of a NumPy function called with Python scalars only: NumPy's default dtype."""
    made = as_value(context, value)
    if isinstance(made.type, WeakType):
        return convert(context, made, strong_dtype(made))
    return made


def strong_dtype(value: Value) -> DType:
    """NumPy's dtype for a value on its own; a large Python int is what ``np.asarray`` says."""
    inst = value.inst
    if value.type == WEAK_INT and inst is not None and inst.op.name == "const":
        return dtype_of(np.asarray(inst.attr("value")).dtype) or I64
    return promote.strong(value.type)


def convert(context: Context, value: Value, dtype: DType) -> Value:
    """A weak scalar as a NumPy scalar of `dtype`."""
    return context.builder.emit("convert", (value,), {}, (scalar(dtype),))


def cast(context: Context, value: Value, dtype: DType) -> Value:
    """``astype`` without a copy of equal dtypes."""
    checked_dtype(dtype, context.loc)
    if isinstance(value.type, WeakType):
        # np.float32(300) follows the unsafe rules of a NumPy scalar constructor.
        return convert(context, value, dtype)
    if element(value.type) is dtype:
        return value
    type = ArrayType(dtype, value.type.shape) if isinstance(value.type, ArrayType) else scalar(dtype)
    return context.builder.emit("cast", (value,), {}, (type,))


def const_inst(value: Any) -> Inst | None:
    """The constant behind an IR value, or None."""
    if isinstance(value, Value) and value.inst is not None and value.inst.op.name == "const":
        return value.inst
    return None


def as_dim(value: Any) -> DimLike | None:
    """The dimension a Python int or a run-time length stands for, or None."""
    if type(value) is int:
        return value
    if isinstance(value, Value) and value.inst is not None and value.inst.op.name == "dim":
        return value.inst.attr("value")
    return None


def dim_value(context: Context, dim: DimLike) -> Any:
    """A length as the user sees it: a number known now, or a run-time Python int."""
    if isinstance(dim, int):
        return dim
    return context.builder.emit("dim", (), {"value": dim}, (WEAK_INT,))


def is_array(value: Any) -> bool:
    """An IR value that is an array (0-d included)."""
    return isinstance(value, Value) and isinstance(value.type, ArrayType)


def is_numpy_scalar(value: Any) -> bool:
    """An IR value that is a NumPy scalar."""
    return isinstance(value, Value) and isinstance(value.type, ScalarType)


def is_weak(value: Any) -> bool:
    """A Python scalar, known now or at run time."""
    if isinstance(value, Value):
        return isinstance(value.type, WeakType)
    return weak_type_of(value) is not None


def dimensions(value: Value) -> tuple[DimLike, ...]:
    """The shape of an IR value."""
    return shape_of(value.type)


__all__ = [
    "Context", "Static", "as_dim", "as_strong", "as_value", "cast", "checked_dtype", "const_inst", "contains_dynamic",
    "convert", "describe", "dim_value", "dimensions", "is_array", "is_dynamic", "is_number", "is_numpy_scalar", "is_weak",
    "strong_dtype",
]  # fmt: skip

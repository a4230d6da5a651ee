"""Calls of NumPy functions (and their namesakes in CuPy and jax.numpy).

Functions are known by the object they are, so ``np.exp``, ``from numpy import exp`` and
``xp.exp`` from a closure are one operation.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import attributes
from pytocu.frontend.operators import compute, elementwise
from pytocu.frontend.values import (
    Context,
    all_strong,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dimensions,
    is_array,
    is_number,
    is_weak,
)
from pytocu.ir.core import Op, Value
from pytocu.ir.ops import NUMPY_NAMES
from pytocu.ir.types import BOOL, I8, ScalarType, WeakType, element, scalar

NAMESPACES = ("numpy", "cupy", "jax.numpy")
"""Modules whose functions are taken for NumPy's of the same name."""

Handler = Callable[..., Any]


def _where(context: Context, condition: Any, *rest: Any) -> Any:
    if len(rest) != 2:
        raise UnsupportedError(
            "np.where with one argument (the positions of True) has a length known only at run time",
            context.loc,
            "use the three-argument form np.where(condition, a, b)",
        )
    a, b = rest
    if is_weak(a) and is_weak(b):
        # NumPy makes arrays of both first: np.where(c, 1, 2.0) is float64.
        a, b = all_strong(context, a, b)
    chosen = as_strong(context, condition)
    if element(chosen.type) is not BOOL:
        chosen = elementwise(context, "not_equal", chosen, element(chosen.type).numpy.type(0))
    made = elementwise(context, "where", chosen, a, b)
    if isinstance(made.type, ScalarType):
        return context.builder.emit("as_array", (made,))
    return made


def _constructor(context: Context, scalar_type: type[np.generic], args: tuple[Any, ...]) -> Any:
    """``np.float32(x)``: a scalar of a scalar or 0-d array, an array of an array."""
    if len(args) != 1:
        raise UnsupportedError(f"np.{scalar_type.__name__} takes one argument here", context.loc)
    dtype = attributes.target_dtype(context, scalar_type)
    value = as_value(context, args[0])
    if is_array(value) and not dimensions(value):
        return context.builder.emit("cast", (value,), {}, (scalar(dtype),))
    return cast(context, value, dtype)


def _asarray(context: Context, value: Any, dtype: Any = None) -> Any:
    made = _strong_as(context, value, dtype)
    return made if is_array(made) else context.builder.emit("as_array", (made,))


def _array(context: Context, value: Any, dtype: Any = None) -> Any:
    made = _strong_as(context, value, dtype)
    return context.builder.emit("copy" if is_array(made) else "as_array", (made,))


def _strong_as(context: Context, value: Any, dtype: Any) -> Value:
    """A Python scalar goes to the dtype at once: no detour over NumPy's default."""
    if dtype is None:
        return as_strong(context, value)
    return attributes.astype(context, as_value(context, value), dtype, copy=False)


def _divmod(context: Context, a: Any, b: Any) -> Any:
    if is_weak(a) and is_weak(b):
        a, b = all_strong(context, a, b)
    return elementwise(context, "floor_divide", a, b), elementwise(context, "remainder", a, b)


def _conjugate(context: Context, x: Any) -> Value:
    value = as_strong(context, x)
    # NumPy has no conjugate of bools and takes int8's.
    return cast(context, value, I8) if element(value.type) is BOOL else elementwise(context, "positive", value)


def _transpose(context: Context, value: Value, axes: Any = None) -> Value:
    return attributes.transpose(context, value, (axes,))


def _result_type(context: Context, *operands: Any) -> Any:
    return compute(context, np.result_type, *(_promotion_example(o) for o in operands))


def _promotion_example(operand: Any) -> Any:
    """What stands for a run-time value in ``np.result_type``."""
    if not isinstance(operand, Value):
        return operand
    if isinstance(operand.type, WeakType):
        return {"bool": np.dtype(bool), "int": 0, "float": 0.0}[operand.type.kind]
    return element(operand.type).numpy


def _is_scalar(context: Context, value: Any) -> bool:
    return not is_array(value) if isinstance(value, Value) else compute(context, np.isscalar, value)


def _on_array(function: Handler) -> Handler:
    def call(context: Context, a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(context, as_strong(context, a), *args, **kwargs)

    signature = inspect.signature(function)
    call.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    return call


FUNCTIONS: dict[str, Handler] = {
    "where": _where,
    "divmod": _divmod,
    "clip": _on_array(attributes.clip),
    "transpose": _on_array(_transpose),
    "permute_dims": _on_array(_transpose),
    "matrix_transpose": _on_array(lambda context, x: attributes.attribute(context, x, "mT")),
    "swapaxes": _on_array(attributes.swapaxes),
    "moveaxis": _on_array(attributes.moveaxis),
    "expand_dims": _on_array(lambda context, a, axis: attributes.expand_dims(context, a, axis)),
    "squeeze": _on_array(attributes.squeeze),
    "astype": _on_array(attributes.astype),
    "copy": _array,
    "array": _array,
    "asarray": _asarray,
    "asanyarray": _asarray,
    "real": lambda context, val: as_value(context, val),
    "ndim": lambda context, a: len(dimensions(as_value(context, a))),
    "shape": lambda context, a: attributes.attribute(context, as_strong(context, a), "shape"),
    "size": lambda context, a: attributes.attribute(context, as_strong(context, a), "size"),
    "conj": _conjugate,
    "conjugate": _conjugate,
    "result_type": _result_type,
    "isscalar": _is_scalar,
    "iscomplexobj": lambda context, x: False,
    "isrealobj": lambda context, x: True,
}
"""NumPy functions that are not ufuncs of the op table, by name; parameters are called as NumPy calls them."""


@lru_cache(maxsize=1)
def _by_identity() -> dict[int, tuple[str, Any]]:
    """Every public function of NumPy's namespace, by its id."""
    found: dict[int, tuple[str, Any]] = {}
    # Not dir(): asking for each name would import NumPy's test and Fortran tools.
    for name, value in vars(np).items():
        if callable(value):
            preferred = name in FUNCTIONS or name in NUMPY_NAMES or name == getattr(value, "__name__", "")
            if preferred or id(value) not in found:
                found[id(value)] = (name, value)
    return found


def numpy_name(function: Any) -> str | None:
    """The NumPy name of a function of NumPy or a namesake library, or None."""
    entry = _by_identity().get(id(function))
    if entry is not None and entry[1] is function:
        return entry[0]
    module = getattr(function, "__module__", None) or type(function).__module__ or ""
    if module.split(".")[0] in ("cupy", "jax"):
        name = getattr(function, "__name__", None) or getattr(function, "name", "")
        name = name.removeprefix("cupy_")
        if hasattr(np, name) and callable(getattr(np, name)):
            return name
    return None


def namespace_attribute(module: types.ModuleType, name: str) -> Any:
    """An attribute of a NumPy-like module; functions come from NumPy itself."""
    if module.__name__ in NAMESPACES and module is not np and callable(getattr(np, name, None)):
        return getattr(np, name)
    return getattr(module, name)


def call_numpy(context: Context, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a NumPy function on abstract values.

    Raises
    ------
    UnsupportedError
        pytocu has no such function, or not with this keyword.
    """
    known_now = not contains_dynamic(args) and not contains_dynamic(kwargs)
    if isinstance(function, type) and issubclass(function, (np.generic, np.dtype)):
        if known_now or not issubclass(function, np.generic):
            return compute(context, function, *args, **kwargs)
        _refuse_keywords(context, name, kwargs)
        return _constructor(context, function, args)
    row = NUMPY_NAMES.get(name)
    if name in FUNCTIONS:
        return call_handler(context, f"np.{name}", FUNCTIONS[name], args, kwargs, context)
    if row is not None:
        if known_now and all(map(is_number, args)):
            # Numbers known now get NumPy's own value; they may be branched on as well.
            return compute(context, function, *args, **kwargs)
        _refuse_keywords(context, name, kwargs)
        return _ufunc(context, row, name, args)
    if name in _COMPILE_TIME and known_now:
        return compute(context, function, *args, **kwargs)
    raise UnsupportedError(f"np.{name} is not supported", context.loc, attributes.instead_of(name))


_COMPILE_TIME = ("finfo", "iinfo", "promote_types", "can_cast", "issubdtype", "min_scalar_type", "broadcast_shapes")


def call_handler(
    owner: Any, name: str, handler: Handler, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context
) -> Any:
    """``handler(owner, *args, **kwargs)`` when its signature takes the arguments.

    Raises
    ------
    UnsupportedError
        It does not; the parameters it has are named.
    """
    signature = inspect.signature(handler)
    try:
        bound = signature.bind(owner, *args, **kwargs)
    except TypeError as error:
        taken = [p for p in list(signature.parameters)[1:] if p != "value"]
        raise UnsupportedError(
            f"{name}(): {error}",
            context.loc,
            f"supported are the arguments {', '.join(taken)}" if taken else "it takes no arguments",
        ) from None
    return handler(*bound.args, **bound.kwargs)


def _refuse_keywords(context: Context, name: str, kwargs: dict[str, Any]) -> None:
    for keyword in kwargs:
        raise UnsupportedError(f"np.{name} with the argument {keyword}= is not supported", context.loc, _keyword_help(keyword))


def _keyword_help(keyword: str) -> str | None:
    return {
        "out": "return the result; pytocu allocates it",
        "where": "choose with np.where(condition, result, other)",
        "dtype": "convert the operands with astype first",
    }.get(keyword)


def _ufunc(context: Context, row: Op, name: str, args: tuple[Any, ...]) -> Any:
    assert row.arity is not None
    if len(args) == row.arity + 1:
        _refuse_keywords(context, name, {"out": args[-1]})
    if len(args) != row.arity:
        was = "was" if len(args) == 1 else "were"
        text = f"{name}() takes from {row.arity} to {row.arity + 1} positional arguments but {len(args)} {was} given"
        raise raised(TypeError(text), context.loc)
    if all(is_weak(a) for a in args):
        # Without a strong operand NumPy gives its default dtypes: np.add(1, 2) is an int64.
        first, *rest = args
        args = all_strong(context, first, *rest) if rest else (as_strong(context, first),)
    return elementwise(context, row.name, *args)

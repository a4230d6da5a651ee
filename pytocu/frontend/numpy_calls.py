"""Calls of NumPy functions (and their namesakes in CuPy and jax.numpy).

Functions are known by the object they are, so ``np.exp``, ``from numpy import exp`` and
``xp.exp`` from a closure are one operation.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import DTypeError, UnsupportedError
from pytocu.frontend import attributes
from pytocu.frontend.operators import compute, elementwise
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dim_value,
    dimensions,
    is_weak,
)
from pytocu.ir.core import Op, Value
from pytocu.ir.ops import NUMPY_NAMES
from pytocu.ir.types import BOOL, ArrayType, ScalarType, WeakType, element, scalar

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
        a, b = as_strong(context, a), as_strong(context, b)
    made_condition = as_value(context, condition)
    if isinstance(made_condition.type, WeakType):
        made_condition = as_strong(context, made_condition)
    if element(made_condition.type) is not BOOL:
        made_condition = elementwise(context, "not_equal", made_condition, _zero_of(made_condition))
    made = elementwise(context, "where", made_condition, a, b)
    if isinstance(made.type, ScalarType):
        return context.builder.emit("as_array", (made,))
    return made


def _zero_of(value: Value) -> Any:
    return element(value.type).numpy.type(0)


def _cast_call(context: Context, scalar_type: type[np.generic], *args: Any) -> Any:
    if not args:
        return scalar_type()
    if len(args) != 1:
        raise UnsupportedError(f"np.{scalar_type.__name__} takes one argument here", context.loc)
    dtype = attributes.target_dtype(context, scalar_type)
    value = as_value(context, args[0])
    if isinstance(value.type, ArrayType) and not value.type.shape:
        return context.builder.emit("cast", (value,), {}, (scalar(dtype),))
    return cast(context, value, dtype)


def _asarray(context: Context, value: Any, dtype: Any = None) -> Any:
    made = as_strong(context, value)
    if dtype is not None:
        made = attributes.astype(context, made, dtype, copy=False)
    return context.builder.emit("as_array", (made,)) if isinstance(made.type, ScalarType) else made


def _divmod(context: Context, a: Any, b: Any) -> Any:
    if is_weak(a) and is_weak(b):
        a, b = as_strong(context, a), as_strong(context, b)
    return elementwise(context, "floor_divide", a, b), elementwise(context, "remainder", a, b)


def _on_array(function: Handler) -> Handler:
    def call(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        return function(context, as_strong(context, value), *args, **kwargs)

    return call


FUNCTIONS: dict[str, Handler] = {
    "where": _where,
    "divmod": _divmod,
    "clip": _on_array(attributes.clip),
    "transpose": _on_array(lambda c, v, axes=None: attributes.transpose(c, v, () if axes is None else tuple(axes))),
    "permute_dims": _on_array(lambda c, v, axes=None: attributes.transpose(c, v, () if axes is None else tuple(axes))),
    "matrix_transpose": _on_array(lambda c, v: attributes.attribute(c, v, "mT")),
    "swapaxes": _on_array(attributes.swapaxes),
    "expand_dims": _on_array(attributes.expand_dims),
    "squeeze": _on_array(attributes.squeeze),
    "astype": _on_array(attributes.astype),
    "copy": _on_array(lambda c, v: c.builder.emit("copy", (v,))),
    "asarray": _asarray,
    "asanyarray": _asarray,
    "real": _on_array(lambda c, v: v),
    "conjugate": _on_array(lambda c, v: elementwise(c, "positive", v)),
    "conj": _on_array(lambda c, v: elementwise(c, "positive", v)),
    "ndim": lambda c, v: len(dimensions(as_value(c, v))),
    "shape": lambda c, v: tuple(dim_value(c, d) for d in dimensions(as_value(c, v))),
    "size": lambda c, v: attributes.attribute(c, as_strong(c, v), "size"),
}
"""NumPy functions that are not ufuncs of the op table, by name."""

@lru_cache(maxsize=1)
def _by_identity() -> dict[int, tuple[str, Any]]:
    """Every public function of NumPy's namespace, by its id."""
    found: dict[int, tuple[str, Any]] = {}
    for name in dir(np):
        value = getattr(np, name, None)
        if callable(value):
            known = name in FUNCTIONS or name in NUMPY_NAMES
            if known or id(value) not in found:
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
    if isinstance(function, type) and issubclass(function, np.generic):
        if contains_dynamic(args):
            return _cast_call(context, function, *args)
        return compute(context, function, *args)
    if isinstance(function, type) and issubclass(function, np.dtype):
        return compute(context, function, *args)
    row = NUMPY_NAMES.get(name)
    if row is not None and name not in FUNCTIONS:
        _refuse_keywords(context, name, kwargs)
        return _ufunc(context, row, name, args)
    handler = FUNCTIONS.get(name)
    if handler is None:
        if name in _COMPILE_TIME and not contains_dynamic(args):
            return compute(context, function, *args)
        raise UnsupportedError(f"np.{name} is not supported", context.loc, _instead(name))
    try:
        return handler(context, *args, **kwargs)
    except TypeError as error:
        if "argument" in str(error) and not hasattr(error, "loc"):
            keywords = ", ".join(kwargs) or "these arguments"
            raise UnsupportedError(f"np.{name} with {keywords} is not supported", context.loc) from None
        raise


_COMPILE_TIME = ("dtype", "finfo", "iinfo", "result_type", "promote_types", "can_cast", "issubdtype", "isscalar")


def _instead(name: str) -> str | None:
    if name in ("sum", "mean", "prod", "min", "max", "amin", "amax", "any", "all", "std", "var", "argmin", "argmax", "cumsum"):
        return "reductions and scans are not compiled; compute them outside the function"
    if hasattr(np.random, name):
        return "pass the samples as an argument"
    return "only elementwise functions, np.where, np.clip, casts and views are compiled"


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
    if len(args) != row.arity:
        if row.arity is not None and len(args) == row.arity + 1:
            _refuse_keywords(context, name, {"out": args[-1]})
        raise DTypeError(f"{name}() takes {row.arity} positional arguments but {len(args)} were given", context.loc)
    for argument in args:
        if not isinstance(argument, Value) and isinstance(argument, (tuple, list, str, type(None))):
            as_value(context, argument)
    if all(is_weak(a) for a in args):
        # Without a strong operand NumPy gives its default dtypes: np.add(1, 2) is an int64.
        args = tuple(as_strong(context, a) for a in args)
    return elementwise(context, row.name, *args)


__all__ = ["FUNCTIONS", "NAMESPACES", "call_numpy", "namespace_attribute", "numpy_name"]

"""``np.add.reduce``, ``np.add.accumulate`` and ``np.add.outer``: methods of ufuncs on abstract values."""

from __future__ import annotations

from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import raised
from pytocu.frontend.histograms import at
from pytocu.frontend.inplace import method_output
from pytocu.frontend.numpy_calls import call_handler
from pytocu.frontend.reductions import reduce_into
from pytocu.frontend.scans import accumulate_into
from pytocu.frontend.ufunc_calls import checked_keywords, compute_ufunc, rows_of
from pytocu.frontend.values import Context, as_strong, dimensions, is_array
from pytocu.guards import MISSING

_reduceat_into = Deferred("pytocu.frontend.segments", "reduceat_into")


def call_ufunc_method(context: Context, name: str, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A reduction or scan by a ufunc.

    Raises
    ------
    UnsupportedError
        There is no row for it; the message says which there are.
    """
    if method == "at":
        return call_handler((context, name), f"np.{name}.at", _at, args, kwargs, context)
    (row, *others) = rows_of(name)
    if method == "outer":
        if row.arity != 2:
            raise raised(ValueError("outer product only supported for binary functions"), context.loc)
        if len(args) != 2:
            raise raised(TypeError("exactly two arguments expected"), context.loc)
        return _outer(context, name, *args, kwargs)
    if row.arity != 2:
        raise raised(ValueError(f"{method} only supported for binary functions"), context.loc)
    if others:
        raise raised(ValueError(f"{method} only supported for functions returning a single value"), context.loc)
    place = 4 if method == "reduceat" else 3
    if len(args) > place and isinstance(args[place], tuple):
        # NumPy takes a tuple of one output by its name only.
        args = (*args[:place], [*args[place]], *args[place + 1 :])
    handler = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}[method]
    return call_handler((context, name), f"np.{name}.{method}", handler, args, kwargs, context)


def _reduce(
    owner: tuple[Context, str],
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = MISSING,
    where: Any = True,
) -> Any:
    context, name = owner
    return reduce_into(context, name, array, axis, dtype, method_output(context, out, dtype), keepdims, initial, where)


def _outer(context: Context, name: str, a: Any, b: Any, kwargs: dict[str, Any]) -> Any:
    """Every element of one operand with every element of the other; Python scalars are arrays of their default dtype."""
    kwargs = checked_keywords(context, name, kwargs)
    first, second = as_strong(context, a), as_strong(context, b)
    for _ in dimensions(second):
        first = first if is_array(first) else context.builder.emit("as_array", (first,))
        first = context.builder.emit("newaxis", (first,), {"axis": len(dimensions(first))})
    return compute_ufunc(context, name, (first, second), kwargs)


def _at(owner: tuple[Context, str], a: Any, indices: Any, b: Any = None) -> None:
    at(*owner, a, indices, b)


def _accumulate(owner: tuple[Context, str], array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    context, name = owner
    return accumulate_into(context, name, array, axis, dtype, method_output(context, out, dtype))


def _reduceat(
    owner: tuple[Context, str], array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    context, name = owner
    return _reduceat_into(context, name, array, indices, axis, dtype, out)

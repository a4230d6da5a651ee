"""Calls of NumPy's ufuncs with the arguments every ufunc has (``dtype=``, ``casting=`` and others)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import EllipsisType
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.operators import (
    attempt,
    binary,
    check_fits_long,
    check_held,
    compute,
    elementwise,
    example,
    harmless_exponent,
    is_beyond,
    known_option,
    refuse_complex,
)
from pytocu.frontend.values import Context, all_strong, as_strong, as_value, cast, const_inst, dimensions, is_array, is_weak
from pytocu.guards import is_plain
from pytocu.ir import promote
from pytocu.ir.core import Op, Value
from pytocu.ir.dims import Shape
from pytocu.ir.layouts import elementwise_ranks
from pytocu.ir.ops import NUMPY_NAMES, OUTPUTS
from pytocu.ir.types import F64, I64, WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType, scalar

_TYPES = ("dtype", "signature", "sig")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_KEYWORDS = ("out", "where", "casting", "order", "subok", *_TYPES)

REFUSED_UFUNCS = {
    "isnat": "dates and time differences have no dtype here, and NumPy answers for no other",
}
"""NumPy's ufuncs that are not compiled, and why."""


def rows_of(name: str) -> tuple[Op, ...]:
    """The rows of a NumPy function, one a result; empty when it is no elementwise function of the table."""
    if name in OUTPUTS:
        return OUTPUTS[name]
    row = NUMPY_NAMES.get(name)
    return () if row is None else (row,)


def call_ufunc(context: Context, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc on abstract values.

    Raises
    ------
    UnsupportedError
        The function, or an argument, is not compiled; it is named.
    CompileError
        What NumPy raises for these dtypes.
    """
    rows = rows_of(name)
    if not rows:
        _no_loop(context, name, args)
        raise UnsupportedError(f"np.{name} is not supported", context.loc, REFUSED_UFUNCS[name])
    arity = rows[0].arity
    assert arity is not None
    outputs = len(rows)
    if not arity <= len(args) <= arity + outputs:
        # NumPy counts them in words that are others in older versions.
        attempt(context, promote.numpy_function(name), *[1.0] * len(args))
    args, given = args[:arity], args[arity:]
    _refuse_unknown(context, name, kwargs)
    if given and "out" in kwargs:
        raise raised(TypeError("cannot specify 'out' as both a positional and keyword argument"), context.loc)
    if outputs > 1 and "out" in kwargs and not isinstance(kwargs["out"], (tuple, EllipsisType)):
        raise raised(TypeError("'out' must be a tuple of arrays"), context.loc)
    if any(one is Ellipsis for one in given):
        attempt(context, np.negative, 1.0, ...)
    if given:
        # Results behind the last array that is given are new.
        kwargs = {**kwargs, "out": (*given, *[None] * (outputs - len(given)))}
    # NumPy's order: how many arrays there are, what names the loop, then the arrays, and then the other arguments.
    _check_named(context, name, kwargs)
    args = tuple(as_value(context, a) if isinstance(a, (list, tuple)) else a for a in args)
    out = kwargs.get("out")
    if out is not None and out is not Ellipsis:
        for target in _out_arrays(context, out, outputs):
            if target is not None:
                _note_write(context, target)
    return compute_ufunc(context, name, args, checked_keywords(context, name, kwargs))


def compute_ufunc(context: Context, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The results of a ufunc whose arguments are checked; a tuple where it has several."""
    rows = rows_of(name)
    if kwargs.get("out") is Ellipsis:
        # An array is returned where there would be a scalar, but not by older versions.
        attempt(context, np.add if len(rows) == 1 else np.divmod, 1.0, 1.0, out=...)
        made = compute_ufunc(context, name, args, {**kwargs, "out": None})
        arrays = [context.builder.emit("as_array", (as_strong(context, m),)) if not is_array(m) else m for m in _several(made)]
        return tuple(arrays) if isinstance(made, tuple) else arrays[0]
    out = kwargs.get("out")
    outs = (None,) * len(rows) if out is None else _out_arrays(context, out, len(rows))
    check_where(context, name, kwargs.get("where", True), outs)
    values: Sequence[Value] = ()
    if any(out is not None for out in outs) or kwargs.get("dtype") is not None:
        _check_held_first(context, name, args, kwargs)
    if any(out is not None for out in outs):
        casting = "same_kind" if kwargs.get("casting") is None else kwargs["casting"]
        values = tuple(as_value(context, a) for a in args)
        # However large ints are that Python compares, they are compared as ints.
        values = _defaults(context, name, values if not _compared_by_python(name, values) else (as_value(context, 0),) * 2)
        _prepare_outputs(context, name, values, outs, loop_named(context, name, kwargs), casting, kwargs.get("where", True))
        if name == "power" and kwargs.get("where", True) is not True:
            base, exponent = args
            args = base, harmless_exponent(context, base, exponent, _mask_of(context, kwargs["where"]))
    like = next((out for out in outs if out is not None), None) if None in outs else None
    if like is None:
        results = _results(context, name, args, kwargs)
    else:
        # The results that are new have the shape of those that are given, which decide on their order as operands do.
        apart = all(dimensions(v) != dimensions(like) for v in values)
        spread = _spread(context, values, dimensions(like)) if apart else args
        arrays = [v for v in (*values, *filter(None, outs)) if is_array(v)]
        rule = partial(elementwise_ranks, shape=dimensions(like))
        made = _results(context, name, spread, kwargs)
        results = [m if o is not None else _laid_out(context, m, arrays, rule) for m, o in zip(made, outs, strict=True)]
    made = list(results if out is None else _write_outputs(context, results, outs, kwargs.get("where", True)))
    order = kwargs.get("order", "K")
    if order == "A" and any(o is None and len(dimensions(m)) > 1 for m, o in zip(made, outs, strict=True)):
        order = _common_order(context, [as_value(context, v) for v in (*args, *filter(None, outs))])
    made = [_ordered(context, m, order) if o is None else m for m, o in zip(made, outs, strict=True)]
    return tuple(made) if len(made) > 1 else made[0]


_mask_of = Deferred("pytocu.frontend.inplace", "mask_of")
_note_write = Deferred("pytocu.frontend.inplace", "note_write")
_out_arrays = Deferred("pytocu.frontend.inplace", "out_arrays")
_prepare_outputs = Deferred("pytocu.frontend.inplace", "prepare_outputs")
_write_outputs = Deferred("pytocu.frontend.inplace", "write_outputs")
_in_order = Deferred("pytocu.frontend.reshaping", "in_order")
_laid_out = Deferred("pytocu.frontend.layouts", "laid_out")
_broadcast = Deferred("pytocu.frontend.reshaping", "broadcast")


def _spread(context: Context, values: Sequence[Value], shape: Shape) -> tuple[Value, ...]:
    """Operands of which one, which is no Python scalar, has a shape that all of them broadcast to."""
    first = next(n for n, v in enumerate(values) if not is_weak(v))
    return (*values[:first], _broadcast(context, values[first], shape), *values[first + 1 :])


_lies_in_columns = Deferred("pytocu.frontend.reshaping", "lies_in_columns")


def _common_order(context: Context, operands: Sequence[Value]) -> str:
    """``F`` where all arrays are in column-major order, some of them perhaps in row-major order as well, else ``C``."""
    return "F" if all(_lies_in_columns(context, v) for v in operands if is_array(v)) else "C"


def _ordered(context: Context, made: Value, order: str) -> Value:
    """A new result in the order that is asked for; one with fewer than two axes has all of them."""
    return made if order == "K" or len(dimensions(made)) < 2 else _in_order(context, made, order)


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _results(context: Context, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    rows = rows_of(name)
    values = tuple(as_value(context, a) for a in args)
    stated = any(kwargs.get(k) is not None for k in (*_TYPES, "casting"))
    named = any(kwargs.get(k) is not None for k in ("signature", "sig"))
    if not stated:
        _check_mixed(context, name, values)
    if _compared_by_python(name, values) and not named:
        if stated:
            # For its exceptions.
            _in_loop(context, name, values, (as_strong(context, 0),) * 2, kwargs)
        return tuple(as_strong(context, binary(context, row.name, *values)) for row in rows)
    operands = _defaults(context, name, values)
    if stated:
        chosen = _in_loop(context, name, values, operands, kwargs)
        if not named:
            # In bool, any int is held.
            check_fits_long(context, rows[0].name, values)
        # Comparisons answer for Python ints that no loop holds, and dtype= states their result.
        answers = rows[0].name in _COMPARISONS and loop_named(context, name, kwargs) is None
        answers = answers and any(v.type == WEAK_INT for v in values)
        answers = answers or (rows[0].overflow == "answer" and kwargs.get("dtype") is not None)
        operands = operands if answers else chosen()
    elif rows[0].overflow != "answer":
        # NumPy's sentence speaks of Python scalars where there is no loop for them, and each of
        # several rows has loops of its own.
        attempt(context, promote.ufunc_loop, name, tuple(promote.operand(v.type) for v in values))
    return tuple(elementwise(context, row.name, *operands) for row in rows)


def _check_held_first(context: Context, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """NumPy converts Python ints before it looks at casts and at the shape of the output."""
    row = rows_of(name)[0]
    values = [as_value(context, a) for a in args]
    if row.overflow == "answer" or all(map(is_weak, values)):
        return
    operands = tuple(promote.operand(v.type) for v in values)
    try:
        loop = promote.ufunc_loop(name, operands, loop_named(context, name, kwargs), "unsafe")
    except (TypeError, UnsupportedError):
        return
    check_fits_long(context, row.name, values)
    check_held(context, row.name, values, loop[0].__getitem__)


def _compared_by_python(name: str, values: Sequence[Value]) -> bool:
    """Whether ints of Python's are compared as Python does, however large they are."""
    return name in _COMPARISONS and all(v.type in (WEAK_INT, WEAK_BOOL) for v in values)


def _check_mixed(context: Context, name: str, values: Sequence[Value]) -> None:
    """NumPy's error of an int of Python's beyond 64 bits beside a Python number of another kind."""
    if len({v.type for v in values}) < 2 or not all(map(is_weak, values)):
        return
    if any(map(is_beyond, values)):
        examples = [example(v) if (inst := const_inst(v)) is None else inst.attr("value") for v in values]
        attempt(context, promote.numpy_function(name), *examples)


def _defaults(context: Context, name: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """Without a strong operand NumPy gives its default dtypes: ``np.add(1, 2)`` is an int64."""
    if not all(is_weak(a) for a in args):
        return args
    if len(args) == 1:
        return (as_strong(context, args[0]),)
    try:
        promote.ufunc_loop(name, (F64,) * len(args))
    except TypeError:
        # A function of a float and an integer, or of integers alone.
        return tuple(as_strong(context, a) for a in args)
    if any(is_beyond(v) for v in args) and set(promote.ufunc_loop(name, (I64,) * len(args))[0]) == {F64}:
        # A function of floats alone has one for ints that int64 does not hold, too.
        return tuple(as_strong(context, a, F64) for a in args)
    return all_strong(context, *args)


def _in_loop(
    context: Context, name: str, args: tuple[Value, ...], operands: tuple[Value, ...], kwargs: dict[str, Any]
) -> Callable[[], tuple[Value, ...]]:
    """Makes the operands of the loop that ``dtype=``, ``signature=`` and ``casting=`` choose."""
    # Beside another operand a Python scalar adapts, whatever the casting; comparisons of two are of objects.
    weak = len(args) > 1 and rows_of(name)[0].overflow != "answer"
    known = tuple(promote.operand(v.type) for v in (args if weak else operands))
    chosen = loop_named(context, name, kwargs)
    casting = kwargs.get("casting")
    loop = attempt(context, promote.ufunc_loop, name, known, chosen, "same_kind" if casting is None else casting)
    # Beside another operand a Python scalar goes to the loop's dtype at once.
    given = args if len(args) > 1 else operands
    names = "->" in chosen if isinstance(chosen, str) else any(d is not None for d in (chosen or ())[: len(args)])
    # To the dtype of an operand that is named, a Python scalar is converted as Python does.
    converts = casting != "unsafe" or (names and len(args) > 1)
    return lambda: tuple(_to_loop(context, v, d, converts) for v, d in zip(given, loop[0], strict=True))


def _to_loop(context: Context, value: Value, dtype: DType, converts: bool) -> Value:
    if converts:
        refuse_complex(context, value, dtype)
    elif value.type in (WEAK_FLOAT, WEAK_COMPLEX) and dtype.is_integer:
        # An element is cast, where a Python number would be converted.
        value = as_strong(context, value)
    return cast(context, value, dtype)


def loop_named(context: Context, name: str, kwargs: dict[str, Any]) -> Any:
    """The loop that ``dtype=`` or ``signature=`` names, as NumPy takes it, or None."""
    chosen = next((kwargs[k] for k in ("signature", "sig") if kwargs.get(k) is not None), None)
    dtype = kwargs.get("dtype")
    if dtype is not None and chosen is not None:
        raise raised(TypeError("cannot specify both 'signature' and 'dtype'"), context.loc)
    if dtype is None:
        return chosen
    ufunc = promote.numpy_function(name)
    return (*[None] * ufunc.nin, *[compute(context, np.dtype, dtype)] * ufunc.nout)


def _check_named(context: Context, name: str, kwargs: dict[str, Any]) -> None:
    """Raise what NumPy raises of the names of a loop, and of the number of arrays in a tuple."""
    asked = {k: v for k, v in kwargs.items() if k in _TYPES and is_plain(v)}
    if isinstance(out := kwargs.get("out"), tuple):
        asked["out"] = (None,) * len(out)
    if not asked:
        return
    ufunc = promote.numpy_function(name)
    try:
        # What is wrong behind these is found, if nothing else is.
        attempt(context, ufunc, *[True] * ufunc.nin, **asked, casting=0)
    except CompileError as error:
        if not error.message.startswith("casting must be"):
            raise


def check_where(context: Context, name: str, where: Any, outs: Sequence[Value | None]) -> None:
    """Refuse ``where=`` without an array that holds what it leaves out.

    Raises
    ------
    UnsupportedError
    """
    if where is not True and any(out is None for out in outs):
        raise UnsupportedError(
            f"np.{name} with the argument where= and no out= is not supported: what it leaves out is not defined",
            context.loc,
            "choose with np.where(condition, result, other)",
        )


def checked_keywords(context: Context, name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ufuncs that NumPy takes, with its own name of an order.

    Raises
    ------
    TypeError, ValueError
        NumPy has no such argument, or not this value.
    """
    loc = context.loc
    made = dict(kwargs)
    _refuse_unknown(context, name, kwargs)
    if kwargs.get("where", True) is not True:
        _mask_of(context, kwargs["where"])
    for keyword in (k for k in ("casting", "order", "subok") if k in kwargs):
        value = kwargs[keyword]
        match keyword:
            case "order":
                attempt(context, np.positive, 1.0, order=known_option(context, value, "order="))
                made[keyword] = "K" if value is None else (value.decode() if isinstance(value, bytes) else value).upper()
            case "casting":
                attempt(context, np.positive, 1.0, casting=known_option(context, value, "casting="))
            case "subok" if not isinstance(value, (bool, np.bool_)):
                raise raised(TypeError("'subok' must be a boolean"), loc)
    return made


def _refuse_unknown(context: Context, name: str, kwargs: dict[str, Any]) -> None:
    for keyword in kwargs:
        if keyword not in _KEYWORDS:
            own = promote.numpy_function(name).__name__
            raise raised(TypeError(f"{own}() got an unexpected keyword argument '{keyword}'"), context.loc)


def _no_loop(context: Context, name: str, args: tuple[Any, ...]) -> None:
    """NumPy's own TypeError where a refused function has no loop for these dtypes either."""
    ufunc = promote.numpy_function(name)
    if ufunc.signature is None and len(args) == ufunc.nin:
        values = [as_strong(context, a) for a in args]
        attempt(context, promote.ufunc_loop, name, tuple(promote.operand(v.type) for v in values))


def without_axes(context: Context, value: Value) -> Value:
    """What ``x[()]`` is: a NumPy scalar for an array without axes."""
    if is_array(value) and not dimensions(value):
        return context.builder.emit("cast", (value,), {}, (scalar(promote.strong(value.type)),))
    return value

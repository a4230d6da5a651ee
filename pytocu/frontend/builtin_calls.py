"""Python's own functions on abstract values.

On values known now the functions of :data:`PURE` are called as they are; the functions of
:data:`BUILTINS` also have a meaning on run-time values, on containers of them and on functions.
"""

from __future__ import annotations

import builtins
import enum
import functools
import math
import operator
import types
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import MissingAttributeError, UnsupportedError, raised
from pytocu.frontend.attribute_lookup import get_attribute
from pytocu.frontend.attributes import METHODS, Method, attribute
from pytocu.frontend.choices import extreme
from pytocu.frontend.frames import Frame, LocalFunction, Partial
from pytocu.frontend.gathering import subscript as element_of
from pytocu.frontend.indexing import subscript
from pytocu.frontend.loops import run_time_range
from pytocu.frontend.math_calls import MATH, python_complex, python_float, python_int, python_round
from pytocu.frontend.numbers import as_numpy, python_truth
from pytocu.frontend.numpy_calls import call_handler
from pytocu.frontend.objects import NO_METHOD, may_have_methods, note_class
from pytocu.frontend.operators import attempt, binary, compute, is_queue, refuse_complex_scalars, truth, truths, unary
from pytocu.frontend.reading import read_bool, read_number, scalar_of
from pytocu.frontend.reductions import check_not_empty, reduce
from pytocu.frontend.requirements import is_length, require_equal
from pytocu.frontend.reshaping import ravel
from pytocu.frontend.ufunc_calls import compute_ufunc
from pytocu.frontend.values import (
    Context,
    Counted,
    Flat,
    Generated,
    Grown,
    Masked,
    Members,
    Steps,
    as_dim,
    as_value,
    contains_dynamic,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_number,
    is_numpy_scalar,
    is_weak,
    python_type_name,
    refuse_array,
)
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, product
from pytocu.ir.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, WeakType, element, type_text, weak_type_of

_after = Deferred("pytocu.frontend.worded", "after")
_example_of = Deferred("pytocu.frontend.own_words", "example_of")
_length_of = Deferred("pytocu.frontend.grown", "length_of")
_refuse_pythons = Deferred("pytocu.frontend.notes", "refuse_pythons")
_length_of_range = Deferred("pytocu.frontend.range_parts", "length")
_sum_of_range = Deferred("pytocu.frontend.range_parts", "total")
_member_of = Deferred("pytocu.frontend.grown", "member_of")
_greatest = Deferred("pytocu.frontend.grown", "greatest")
_settled = Deferred("pytocu.frontend.counted", "settled")
_place = Deferred("pytocu.frontend.positions", "place")
_refuse_none = Deferred("pytocu.frontend.list_kinds", "refuse_none")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")
_total = Deferred("pytocu.frontend.grown", "total")
_sort = Deferred("pytocu.frontend.list_methods", "sort")
_sum_of = Deferred("pytocu.frontend.generated", "sum_of")
_any_generated = Deferred("pytocu.frontend.first_members", "any_generated")
_next = Deferred("pytocu.frontend.first_members", "next_of")
_binary_of_objects = Deferred("pytocu.frontend.special_methods", "binary_of_objects")
_method_of_object = Deferred("pytocu.frontend.special_methods", "method_of_object")
_refuse_held_again = Deferred("pytocu.frontend.once", "refuse_held_again")
_any_long = Deferred("pytocu.frontend.ordering", "any_long")
_any_of = Deferred("pytocu.frontend.ordering", "any_of")
_extreme_by_key = Deferred("pytocu.frontend.ordering", "extreme_by_key")
_listed = Deferred("pytocu.frontend.ordering", "listed")
_sort_known = Deferred("pytocu.frontend.ordering", "sort_known")

_NOTHING: Any = object()

PURE: tuple[Any, ...] = (
    abs, all, any, ascii, bin, bool, bytes, chr, complex, dict, divmod, float, format, frozenset, hex, int,
    issubclass, len, list, max, min, oct, ord, pow, range, repr, round, set, slice, sorted, str, sum, tuple,
)  # fmt: skip
"""Builtins without effects."""

_ABOUT_FUNCTIONS = (issubclass, repr, str, dict, list, tuple, len, set, slice)
_BY_KEY = (max, min, sorted)
_OF_MEMBERS = (all, any, list, max, min, sorted, sum, tuple)
_PURE_MODULES = ("math", "cmath", "_operator", "operator")
_PLAIN_OWNERS = (
    str,
    bytes,
    tuple,
    list,
    dict,
    set,
    frozenset,
    int,
    float,
    complex,
    range,
    np.dtype,
    np.generic,
    np.finfo,
    np.iinfo,
)


def is_pure(function: Any) -> bool:
    """Whether calling a function of Python or NumPy with known values has no effects."""
    if any(function is f for f in PURE):
        return True
    if isinstance(function, type):
        plain = not any(isinstance(getattr(function, n), types.FunctionType) for n in ("__init__", "__new__"))
        return issubclass(function, Exception) and plain
    if not isinstance(function, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        return False
    if getattr(function, "__module__", None) in _PURE_MODULES:
        return True
    owner = getattr(function, "__self__", None)
    return owner is not None and isinstance(owner, _PLAIN_OWNERS)


def call_pure(context: Context, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a pure function with known values.

    Raises
    ------
    UnsupportedError
        It would call a function of the user.
    """
    if not any(function is f for f in _ABOUT_FUNCTIONS):
        for value in (*args, *kwargs.values()):
            if isinstance(value, (types.FunctionType, types.MethodType, LocalFunction, functools.partial)):
                raise UnsupportedError(
                    f"{function.__name__}() with {describe(value)} would run it while compiling",
                    context.loc,
                    "write the loop or the comprehension",
                )
    if function is len:
        for value in args:
            _refuse_unsized(context, value)
    return compute(context, function, *args, **kwargs)


def iterate(frame: Frame, value: Any, what: str) -> Sequence[Any]:
    """The members of something whose length is known now.

    Raises
    ------
    UnsupportedError
        The length is only known at run time.
    """
    context = frame.context
    value = _gone_over(frame, value)
    if isinstance(value, Flat):
        value = ravel(context, value.array)
    if isinstance(value, Value):
        if not is_array(value):
            raise raised(TypeError(f"'{python_type_name(value)}' object is not iterable"), context.loc)
        if not dimensions(value):
            raise raised(TypeError("iteration over a 0-d array"), context.loc)
        length = dimensions(value)[0]
        if not isinstance(length, int):
            raise UnsupportedError(
                f"{what} goes over an array whose length is known only at run time ({type_text(value.type)})",
                context.loc,
                "compute on the whole array, or index the rows you need",
            )
        return [subscript(context, value, i) for i in range(length)]
    if isinstance(value, (range, tuple, list, str, bytes)):
        for held in value if isinstance(value, tuple | list) else ():
            if isinstance(held, Members | Steps):
                _refuse_held_again(context, held)
        return value
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, np.ndarray):
        refuse_array(context, "")
    if isinstance(value, Grown) and isinstance(length := dimensions(value.rows)[0], int) and value.place is None:
        # A list of a known length that stands in another.
        return [_member_of(frame, value, i, True) for i in range(length)]
    if isinstance(value, Steps | Generated | Grown):
        raise UnsupportedError(
            f"{what} goes over a number of steps that is known only at run time",
            context.loc,
            "use a for statement, which may go over range(n), enumerate(x) or the rows of x",
        )
    if isinstance(value, (set, frozenset)):
        raise UnsupportedError(f"{what} goes over a set, whose order is not fixed", context.loc, "use a tuple, or sorted(...)")
    if isinstance(value, enum.EnumType):
        return list(value.__members__.values())
    if value is None or isinstance(value, (bool, int, float, complex, np.generic)):
        raise raised(TypeError(f"'{type(value).__name__}' object is not iterable"), context.loc)
    raise UnsupportedError(
        f"{what} goes over {describe(value)}", context.loc, "loop over a tuple, a list, a dict or range(...)"
    )


_METHODS = {len: "__len__", abs: "__abs__"}
"""Builtins that ask an object of the program, and what its method is called."""

_OVER_MEMBERS = (tuple, list, sum, sorted, enumerate, iter, any, all, zip, map, filter)
"""Builtins that go over the members of what they are given."""

_OF_NUMBERS = (int, float, complex, abs, round)
"""Builtins that take no containers."""


def call_builtin(frame: Frame, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of :data:`BUILTINS`."""
    context = frame.context
    handler = _HANDLERS[id(function)]
    if function in _METHODS and len(args) == 1 and not kwargs:
        answer = _method_of_object(frame, args[0], _METHODS[function])
        if answer is not NO_METHOD:
            return answer
    if any(map(may_have_methods, args)):
        args = _with_members(frame, function, args)
    if args and isinstance(args[0], Flat) and isinstance(function, type) and issubclass(function, (int, float, complex)):
        attempt(context, function, np.zeros(1).flat)
    if args and function in _OF_NUMBERS and isinstance(args[0], (tuple, list, dict, Grown)):
        # Whatever is in it: Python has its own sentence.
        attempt(context, function, next((k() for k in (tuple, dict) if isinstance(args[0], k)), []))
    if function in _OF_MEMBERS:
        args = tuple(ravel(context, a.array) if isinstance(a, Flat) else a for a in args)
    # A function that is given may read what is known only at run time.
    read = function in _BY_KEY and isinstance(kwargs.get("key"), types.FunctionType | LocalFunction | Partial | Method)
    known_now = not read and not contains_dynamic(args) and not contains_dynamic(kwargs)
    known_now = known_now and not (function is sum and _are_of_classes(args))
    if known_now and is_pure(function):
        return call_pure(context, function, *args, **kwargs)
    return call_handler(frame, f"{getattr(function, '__name__', 'this')}", handler, args, kwargs, context)


def _with_members(frame: Frame, function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with what ``__iter__`` gives in the place of objects that the function goes over."""
    first, behind = {zip: (0, len(args)), map: (1, len(args)), filter: (1, 2)}.get(function, (0, 1))
    if function in _OVER_MEMBERS or (function in (max, min) and len(args) == 1):
        return (*args[:first], *(_gone_over(frame, arg) for arg in args[first:behind]), *args[behind:])
    return args


def _are_of_classes(args: tuple[Any, ...]) -> bool:
    """Whether there is an object whose class may say what its sums are."""
    members = [m for a in args for m in (a if isinstance(a, tuple | list) else (a,))]
    return any(map(may_have_methods, members))


def _refuse_unsized(context: Context, value: Any) -> None:
    if isinstance(value, Members) and not value.sized:
        raise raised(TypeError("an iterator has no len()"), context.loc, "make a list of its members: list(...)")


def _len(frame: Frame, value: Any) -> Any:
    if isinstance(value, Steps):
        return _length_of_range(frame.context, value)
    if isinstance(value, Flat):
        return attribute(frame.context, value.array, "size")
    if isinstance(value, Grown):
        return _length_of(frame.context, value)
    if not isinstance(value, Value):
        _refuse_unsized(frame.context, value)
        return len(value)
    if not is_array(value):
        raise raised(TypeError(f"object of type '{python_type_name(value)}' has no len()"), frame.context.loc)
    if not dimensions(value):
        raise raised(TypeError("len() of unsized object"), frame.context.loc)
    return dim_value(frame.context, dimensions(value)[0])


def _members(frame: Frame, value: Any) -> list[Any]:
    return list(iterate(frame, value, "iteration"))


def _slice(frame: Frame, *bounds: Any) -> slice:
    """``slice(...)`` of what a run knows, as it stands in an index."""
    return attempt(frame.context, slice, *bounds)


def span(frame: Frame, *bounds: Any) -> Any:
    """``range``, of ints that are known or of run time."""
    if contains_dynamic(bounds):
        return run_time_range(frame.context, *bounds)
    return compute(frame.context, range, *bounds)


def _gone_over(frame: Frame, value: Any) -> Any:
    """What ``__iter__`` of an object of the program gives; anything else as it is."""
    if may_have_methods(value) and (found := _method_of_object(frame, value, "__iter__")) is not NO_METHOD:
        return found
    return value


def steps_over(frame: Frame, values: Any) -> Any:
    """What a loop over an array of run-time length goes over; anything else as it is."""
    values = _gone_over(frame, values)
    if isinstance(values, Masked):
        values = as_value(frame.context, values)
    if isinstance(values, Grown):
        return Steps(0, _len(frame, values), 1, lambda number: _member_of(frame, values, number, True))
    if isinstance(values, Flat):
        # Each element is read when its step comes.
        array, row = values.array, ravel(frame.context, values.array)
        if not _is_long(row):
            return row
        return Steps(0, _len(frame, row), 1, lambda number: element_of(frame.context, ravel(frame.context, array), number))
    if not _is_long(values):
        return values
    rows: Value = values
    return Steps(0, _len(frame, rows), 1, lambda number: element_of(frame.context, rows, number))


def _bool(frame: Frame, value: Any) -> Any:
    if isinstance(value, Value) and isinstance(value.type, WeakType):
        return value if value.type.kind == "bool" else binary(frame.context, "not_equal", value, 0)
    if frame.context.elements is not None and is_numpy_scalar(value):
        return python_truth(frame.context, value)
    if isinstance(value, Value) and not dimensions(value):
        return read_bool(frame.context, truths(frame.context, scalar_of(frame.context, value, "bool")))
    if isinstance(value, Grown):
        return binary(frame.context, "greater", _length_of(frame.context, value), 0)
    return truth(frame.context, value, "bool()")


def _abs(frame: Frame, value: Any) -> Any:
    return unary(frame.context, "absolute", value)


def _pow(frame: Frame, base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is not None:
        # Only Python's ints have that.
        attempt(frame.context, pow, *map(_example_of.function, (base, exp, mod)))
        text = "pow() with a modulo of ints known only at run time is not compiled"
        loop = "write the loop: while e: r = r * b % m if e % 2 else r; b = b * b % m; e //= 2"
        raise UnsupportedError(text, frame.context.loc, loop)
    return binary(frame.context, "power", base, exp)


def _round(frame: Frame, number: Any, ndigits: Any = None) -> Any:
    return python_round(frame, as_value(frame.context, number), ndigits)


def _int(frame: Frame, value: Any, /, base: Any = None) -> Any:
    if base is None:
        return python_int(frame, value)
    if isinstance(value, Value):
        attempt(frame.context, int, 1.0, 10)
    text = "int() of a text with a base that is known only at run time is not compiled"
    raise UnsupportedError(text, frame.context.loc, "pass the number as an argument")


def _copy(frame: Frame, x: Any) -> Any:
    """``copy.copy`` of arrays, numbers, lists, tuples and dicts."""
    if is_array(x):
        return METHODS["copy"](frame.context, x, order="K")
    if type(x) in (list, dict):
        return x.copy()
    _refuse_copy(frame, x, "copy")
    return x


def _deep_copy(frame: Frame, x: Any) -> Any:
    """``copy.deepcopy`` of the same: what stands in several places is copied once."""
    made: dict[int, Any] = {}

    def copied(value: Any) -> Any:
        if id(value) not in made:
            made[id(value)] = of_members(value)
        return made[id(value)]

    def of_members(value: Any) -> Any:
        if is_array(value):
            return _copy(frame, value)
        if type(value) in (list, tuple):
            return type(value)(map(copied, value))
        if type(value) is dict:
            return {k: copied(v) for k, v in value.items()}
        # Of other tuples the members would stay the same.
        _refuse_copy(frame, value, "deepcopy", (str,))
        return value

    return copied(x)


def _refuse_copy(frame: Frame, x: Any, name: str, same: tuple[type, ...] = (str, tuple)) -> None:
    if isinstance(x, Value) or is_number(x) or x is None or isinstance(x, same):
        return
    text = f"copy.{name} of a {type(x).__name__} is not compiled"
    raise UnsupportedError(text, frame.context.loc, "copy the arrays that it holds: x.copy()")


def copiers() -> dict[str, Callable[..., Any]]:
    """What makes copies, by the names in `copy`."""
    return {"copy": _copy, "deepcopy": _deep_copy}


def _divmod(frame: Frame, a: Any, b: Any) -> Any:
    refuse_complex_scalars(frame.context, divmod, a, b)
    if any(isinstance(v, (list, tuple)) for v in (a, b)) and not any(is_array(v) or is_numpy_scalar(v) for v in (a, b)):
        # Python's own error.
        return attempt(frame.context, divmod, *map(_example_of.function, (a, b)))
    if not (is_weak(a) and is_weak(b)):
        return compute_ufunc(frame.context, "divmod", (a, b), {})
    if any(v.type == WEAK_FLOAT if isinstance(v, Value) else isinstance(v, float) for v in (a, b)):
        names = {"a": a, "b": b, "error": ZeroDivisionError, "said": _said_by_divmod(), "made": None}
        return _after(frame.context, _DIVMOD, names, "made")
    return binary(frame.context, "floor_divide", a, b), binary(frame.context, "remainder", a, b)


_DIVMOD = """
if b == 0:
    raise error(said)
made = a // b, a % b
"""
"""Of floats Python says something else of a divisor that is 0 than ``//`` does."""


@functools.cache
def _said_by_divmod() -> str:
    try:
        divmod(1.0, 0.0)
    except ZeroDivisionError as error:
        return str(error)
    raise AssertionError("Python divides by zero")


def _isinstance(frame: Frame, value: Any, classes: Any) -> bool:
    wanted = classes if isinstance(classes, tuple) else (classes,)
    flat = [c for w in wanted for c in (w.__args__ if isinstance(w, types.UnionType) else (w,))]
    # A class to ask about stands for its objects below; what is wrong with the others isinstance says itself.
    compute(frame.context, isinstance, None, tuple(flat))
    kind: type
    if isinstance(value, LocalFunction):
        kind = types.FunctionType
    elif isinstance(value, Steps) and value.plain:
        kind = range
    elif is_queue(frame.context, value):
        kind = deque
    elif isinstance(value, Grown):
        kind = list
    elif isinstance(value, Flat):
        kind = np.flatiter
    elif not isinstance(value, Value):
        note_class(frame.context, value)
        return isinstance(value, tuple(flat))
    elif isinstance(value.type, WeakType):
        kind = getattr(builtins, value.type.kind)
    elif is_array(value):
        kind = np.ndarray
    else:
        kind = element(value.type).numpy.type
        python = (bool, int, float, complex)
        if any(issubclass(kind, tuple(flat)) is not issubclass(p, tuple(flat)) for p in python):
            as_numpy(frame.context, value, "object")
            _refuse_pythons(frame.context, value)
    return compute(frame.context, issubclass, kind, tuple(flat))


def _callable(frame: Frame, value: Any) -> bool:
    return isinstance(value, (LocalFunction, Method, Partial)) or callable(value)


def _getattr(frame: Frame, base: Any, name: Any, *default: Any) -> Any:
    _refuse_name(frame, name)
    try:
        return get_attribute(frame, base, name)
    except MissingAttributeError:
        if default:
            return default[0]
        raise


def _refuse_name(frame: Frame, name: Any) -> None:
    """Python's error for an attribute's name that is no string."""
    if not isinstance(name, str):
        kind = python_type_name(name) if isinstance(name, Value) else type(name).__name__
        raise raised(TypeError(f"attribute name must be string, not '{kind}'"), frame.context.loc)


def _hasattr(frame: Frame, base: Any, name: Any) -> bool:
    _refuse_name(frame, name)
    try:
        get_attribute(frame, base, name)
    except MissingAttributeError:
        return False
    except UnsupportedError:
        if isinstance(base, Value):
            return True
        raise
    return True


def _extreme(function: Callable[..., Any], row: str, dim: Callable[..., Any]) -> Callable[..., Any]:
    def handler(frame: Frame, *values: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        if not values:
            attempt(frame.context, function)
        if len(values) > 1 and default is not _NOTHING:
            attempt(frame.context, function, 0, 0, default=0)
        over: Any = values[0] if len(values) == 1 else list(values)
        plain = key is None and default is _NOTHING
        if isinstance(over, Grown) and plain:
            return _extreme_of_members(frame, function, row, over)
        if isinstance(over, Generated) and plain:
            made = _listed(frame, over)
            return handler(frame, made)
        if isinstance(over, Value) and _is_long(over) and plain and element(over.type).kind != "f":
            return _extreme_of_array(frame, function.__name__, row, over)
        more = {} if default is _NOTHING else {"default": default}
        if _is_long(over) or isinstance(over, Grown | Generated | Steps):
            return _extreme_by_key(frame, function, over, key, **more)
        members = list(_members(frame, over))
        if key is not None or not members:
            return _extreme_by_key(frame, function, members, key, **more)
        lengths = [as_dim(m) for m in members]
        if None not in lengths:
            return dim_value(frame.context, functools.reduce(dim, lengths))
        if any(isinstance(m, tuple | list) for m in members):
            return _extreme_by_key(frame, function, members)
        comparison = "less" if function is min else "greater"
        return extreme(frame.context, function.__name__, row, comparison, members)

    return handler


def _extreme_of_members(frame: Frame, function: Callable[..., Any], row: str, grown: Grown) -> Any:
    """``max`` of a list that a loop of run time makes longer."""
    context = frame.context
    _refuse_none(context, grown, f"by {function.__name__}()")
    rows = _rows_of(context, grown)
    check_not_empty(context, f"{function.__name__}()", dimensions(rows)[:1], (0,))
    if len(dimensions(rows)) > 1 or element(rows.type).kind in "fc":
        return _greatest(frame, grown, function)
    if grown.mixed:
        # The first one that is as great says of what kind it is.
        grown = _settled(context, grown) if isinstance(grown, Counted) else grown
        return _member_of(frame, grown, _place(context, f"arg{function.__name__}", rows, None, None, False), True)
    made = reduce(context, row, rows, 0)
    return read_number(context, made) if isinstance(grown.type, WeakType) else made


def _extreme_of_array(frame: Frame, name: str, row: str, values: Value) -> Value:
    """``min(x)`` of a vector of integers, whose order leaves no choice."""
    context = frame.context
    if len(dimensions(values)) > 1:
        if dimensions(values)[0] == 1 or product(dimensions(values)[1:]) == 1:
            text = f"Python's {name}() of arrays of one element is one of them"
            raise UnsupportedError(text, context.loc, f"write np.{name}(x, axis=0)")
        text = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        raise raised(ValueError(text), context.loc, f"write np.{name}(x, axis=0)")
    if element(values.type).kind in "fc":
        raise UnsupportedError(
            f"Python's {name}() of floats depends on where NaN stands among them", context.loc, f"write np.{name}(x)"
        )
    check_not_empty(context, f"{name}()", dimensions(values), (0,))
    return reduce(context, row, values, 0)


def _sum(frame: Frame, values: Any, start: Any = 0) -> Any:
    context = frame.context
    if isinstance(values, Generated):
        return _sum_of(values, start)
    if isinstance(values, Grown):
        return _total(frame, values, start)
    if isinstance(values, Steps) and values.plain and context.elements is None:
        return binary(context, "add", start, _sum_of_range(context, values))
    if isinstance(values, Steps) or not _is_long(values):
        members = [start, *_members(frame, values)]
        types = {v.type if isinstance(v, Value) else weak_type_of(v) for v in members}
        if context.elements is None and {WEAK_FLOAT} <= types <= {WEAK_FLOAT, WEAK_INT, WEAK_BOOL}:
            # Since 3.12 Python makes up for what is lost where floats of different sizes are added.
            return context.builder.emit("python_sum", [as_value(context, m) for m in members])
        return functools.reduce(functools.partial(_added, frame), members)
    # Of no elements the sum is the number that Python begins with.
    (length, *_) = dimensions(values)
    is_empty = is_length(context, length, 0)
    if is_empty:
        return start
    if is_empty is None:
        text, help = "sum() of an array without elements is a number of Python's", "write x.sum()"
        require_equal(context, dim_min(length, 1), 1, "UnsupportedError", text, help=help)
    # Python adds one element after the other to an int; the dtype is that of such a sum.
    first = as_value(context, start)
    operands = tuple(promote.operand(v.type) for v in (first, values))
    dtype = attempt(context, promote.ufunc_loop, "add", operands)[1][0]
    total = reduce(context, "add", values, 0, dtype.numpy)
    return total if type(start) is int and start == 0 else binary(context, "add", start, total)


def _added(frame: Frame, total: Any, value: Any) -> Any:
    """A sum and one more."""
    if may_have_methods(total) or may_have_methods(value):
        found = _binary_of_objects(frame, "add", total, value)
        if found is not NO_METHOD:
            return found
    return binary(frame.context, "add", total, value)


def _is_long(values: Any) -> bool:
    """An array whose length is known only at run time."""
    return is_array(values) and bool(dimensions(values)) and not isinstance(dimensions(values)[0], int)


def _product(frame: Frame, values: Any, start: Any = 1) -> Any:
    return functools.reduce(
        lambda total, value: binary(frame.context, "multiply", total, value), _members(frame, values), start
    )


def _answer(function: Callable[..., Any]) -> Callable[..., Any]:
    """``any`` or ``all``."""

    def handler(frame: Frame, values: Any, /) -> Any:
        if isinstance(values, Generated):
            return _any_generated(values, function)
        if _is_long(values) or isinstance(values, Grown | Steps):
            return _any_long(frame, values, function)
        return _any_of(frame, _members(frame, values), function)

    return handler


def _steady(over: Sequence[Steps]) -> list[Value]:
    return [array for steps in over for array in steps.steady]


def _zip(frame: Frame, *values: Any, strict: bool = False) -> Any:
    over = [steps_over(frame, v) for v in values]
    if any(isinstance(v, Steps) for v in over):
        over = [_from_zero(frame, v) for v in over]
        if all(isinstance(v, Steps) for v in over):
            stops = [v.stop for v in over]
            if not strict:
                stop = functools.reduce(lambda a, b: BUILTINS[min](frame, a, b), stops)
                return Steps(0, stop, 1, lambda number: tuple(v.item(number) for v in over), steady=_steady(over))
            lengths = [length for length in map(as_dim, stops) if length is not None]
            if len(lengths) == len(stops):
                _require_one_length(frame.context, lengths)
                return Steps(0, stops[0], 1, lambda number: tuple(v.item(number) for v in over), steady=_steady(over))
    members = [iterate(frame, v, "iteration") for v in values]
    return arranged(frame, lambda: zip(*members, strict=strict), *members)


def _require_one_length(context: Context, lengths: Sequence[DimLike]) -> None:
    """State that what ``zip`` takes with ``strict=True`` is equally long; Python finds it out behind the last step."""
    first, *others = lengths
    for number, length in enumerate(others, 2):
        before = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
        for shown, word in ((first, "shorter"), (length, "longer")):
            sentence = f"zip() argument {number} is {word} than {before}"
            require_equal(context, dim_min(first, length), shown, "ValueError", sentence)


def counted(frame: Frame, values: Any) -> Any:
    """What a loop over an array or a range of known length goes over, beside one of run time; anything else as it is."""
    context = frame.context
    if isinstance(values, range):
        start, step = values.start, values.step
        return Steps(0, len(values), 1, lambda number: binary(context, "add", binary(context, "multiply", number, step), start))
    if is_array(values) and dimensions(values):
        return Steps(0, _len(frame, values), 1, lambda number: element_of(context, values, number))
    return values


def item_at(frame: Frame, steps: Steps, place: Any) -> Any:
    """What stands for a number of a range, by its place."""
    moved = binary(frame.context, "multiply", place, steps.step)
    return steps.item(binary(frame.context, "add", moved, steps.start))


def _from_zero(frame: Frame, values: Any) -> Any:
    """What a loop of run time goes over by the numbers of its steps; anything else as it is."""
    over = counted(frame, values)
    if not isinstance(over, Steps) or (as_dim(over.start) == 0 and as_dim(over.step) == 1):
        return over
    if as_dim(over.step) in (1, -1):
        ends = (over.start, over.stop) if as_dim(over.step) == -1 else (over.stop, over.start)
        count = binary(frame.context, "subtract", *ends)
    else:
        bounds = [as_value(frame.context, v) for v in (over.start, over.stop, over.step)]
        count = frame.context.builder.emit("python_steps", bounds)
    return Steps(0, count, 1, functools.partial(item_at, frame, over))


def arranged(frame: Frame, make: Callable[[], Iterable[Any]], *over: Sequence[Any]) -> Members:
    """Members that Python's own iterators over sequences arrange; their errors become errors at this line."""

    def made() -> list[Any]:
        try:
            return list(make())
        except (TypeError, ValueError) as error:
            raise raised(error, frame.context.loc) from None

    return Members(made(), [functools.partial(_members_now, frame.context, one) for one in over], made)


def _members_now(context: Context, members: Sequence[Any]) -> Sequence[Any]:
    return members.now(context) if isinstance(members, Members) else members


def computed_members(frame: Frame, members: Iterable[Any], of: Callable[[], Sequence[Any]]) -> Members:
    """Members that are computed at once of the values that `of` gives, where Python computes each when it is asked for."""

    def held() -> list[Any]:
        values = of()
        return [*values, *(v for value in values for v in _inside(value)), *frame.context.builder.state()[0].values()]

    made = list(members)
    return Members(made, [held])


def _inside(value: Any) -> Sequence[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def _enumerate(frame: Frame, values: Any, start: Any = 0) -> Any:
    over = steps_over(frame, values)
    if isinstance(over, Steps):
        context, over = frame.context, _from_zero(frame, over)
        item = lambda number: (binary(context, "add", number, start), over.item(number))  # noqa: E731
        return Steps(0, over.stop, 1, item, steady=over.steady)
    members = iterate(frame, values, "iteration")
    if contains_dynamic(start):
        add = lambda k: binary(frame.context, "add", start, k)  # noqa: E731
        return arranged(frame, lambda: ((add(k), member) for k, member in enumerate(members)), members)
    return arranged(frame, lambda: enumerate(members, start), members)


def _reversed(frame: Frame, values: Any) -> Any:
    kind = python_type_name(values) if isinstance(values, Value) else type(values).__name__
    if weak_type_of(values) is not None or (isinstance(values, Value) and not is_array(values)):
        raise raised(TypeError(f"'{kind}' object is not reversible"), frame.context.loc)
    if isinstance(values, Value) and not dimensions(values):
        raise raised(TypeError("len() of unsized object"), frame.context.loc)
    over = steps_over(frame, values)
    if not isinstance(over, Steps):
        members = iterate(frame, values, "iteration")
        return arranged(frame, lambda: reversed(members), members)
    context = frame.context
    if over.step in (1, -1):
        first, last = (binary(context, "subtract", v, over.step) for v in (over.stop, over.start))
        return Steps(first, last, -over.step, over.item)
    bounds = [as_value(context, v) for v in (over.start, over.stop, over.step)]
    last = binary(context, "subtract", context.builder.emit("python_steps", bounds), 1)
    before = binary(context, "subtract", over.start, over.step)
    return Steps(binary(context, "add", over.start, binary(context, "multiply", last, over.step)), before,
                 unary(context, "negative", over.step), over.item)  # fmt: skip


def _iter(frame: Frame, values: Any) -> Any:
    over = steps_over(frame, values)
    if isinstance(over, Steps):
        return Steps(over.start, over.stop, over.step, over.item, steady=over.steady)
    members = iterate(frame, values, "iteration")
    return arranged(frame, lambda: members, members)


def _map(frame: Frame, function: Any, *values: Any) -> Any:
    call = frame.context.hooks.call
    over = _zip(frame, *values) if any(isinstance(steps_over(frame, v), Steps) for v in values) else None
    if isinstance(over, Steps):
        # Each call is made when its step comes.
        return Steps(0, over.stop, 1, lambda number: call(frame, function, over.item(number), {}), steady=over.steady)
    rows = zip(*(_members(frame, v) for v in values), strict=False)
    return computed_members(frame, (call(frame, function, members, {}) for members in rows), lambda: values)


def _filter(frame: Frame, function: Any, values: Any) -> Any:
    call = frame.context.hooks.call
    kept = ((m, m if function is None else call(frame, function, (m,), {})) for m in _members(frame, values))
    return computed_members(frame, (m for m, keep in kept if truth(frame.context, keep, "filter()")), lambda: [values])


def _reduce(frame: Frame, function: Any, values: Any, *initial: Any) -> Any:
    members = [*initial, *_members(frame, values)]
    if not members:
        raise raised(TypeError("reduce() of empty iterable with no initial value"), frame.context.loc)
    return functools.reduce(lambda total, value: frame.context.hooks.call(frame, function, (total, value), {}), members)


def _dict(frame: Frame, *pairs: Any, **named: Any) -> Any:
    if pairs and not isinstance(pairs[0], dict):
        pairs = ([tuple(iterate(frame, p, "dict()")) for p in _members(frame, pairs[0])],)
    return compute_dict(frame, pairs, named)


def compute_dict(frame: Frame, pairs: tuple[Any, ...], named: dict[str, Any]) -> dict[Any, Any]:
    """A dict of abstract values."""
    try:
        made = dict(*pairs, **named)
    except (TypeError, ValueError) as error:
        raise raised(error, frame.context.loc) from None
    refuse_keys(frame.context, made)
    return made


def refuse_keys(context: Context, held: dict[Any, Any]) -> None:
    """Refuse keys of run time, of which it is not known whether they are equal."""
    if contains_dynamic(tuple(held)):
        raise UnsupportedError("a key cannot be a value known only at run time", context.loc, "use constants as keys")


def _operator(row: str) -> Callable[..., Any]:
    return lambda frame, a, b: binary(frame.context, row, a, b)


def _unary_operator(row: str) -> Callable[..., Any]:
    return lambda frame, a: unary(frame.context, row, a)


_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "power", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip

_UNARY_OPERATORS = {"neg": "negative", "pos": "positive", "invert": "invert"}

def _copy_of(frame: Frame, grown: Grown) -> Grown:
    """A list of its own with the same members, which nothing makes longer."""
    made = _member_of(frame, grown, slice(None))
    made.key, made.queue = None, None
    return made


def list_of(frame: Frame, values: Any = (), /) -> Any:
    """``list``: a new one with the same members."""
    if _is_long(values) or isinstance(values, Generated | Steps):
        return _listed(frame, values)
    return _copy_of(frame, values) if isinstance(values, Grown) else _members(frame, values)


def _sorted(frame: Frame, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    if _is_long(values) or isinstance(values, Generated | Steps):
        values = _listed(frame, values)
    if not isinstance(values, Grown):
        return _sort_known(frame, list(_members(frame, values)), key=key, reverse=reverse)
    made = _copy_of(frame, values)
    _sort(frame, made, key=key, reverse=reverse)
    return made


BUILTINS: dict[Any, Callable[..., Any]] = {
    len: _len,
    range: span,
    slice: _slice,
    enumerate: _enumerate,
    zip: _zip,
    map: _map,
    filter: _filter,
    functools.reduce: _reduce,
    reversed: _reversed,
    tuple: lambda frame, values=(): tuple(_members(frame, values)),
    list: list_of,
    sorted: _sorted,
    iter: _iter,
    next: lambda frame, *args: _next(frame, *args),
    dict: _dict,
    sum: _sum,
    all: _answer(all),
    any: _answer(any),
    abs: _abs,
    pow: _pow,
    divmod: _divmod,
    round: _round,
    float: python_float,
    int: _int,
    complex: python_complex,
    bool: _bool,
    min: _extreme(min, "minimum", dim_min),
    max: _extreme(max, "maximum", dim_max),
    isinstance: _isinstance,
    functools.partial: lambda frame, function, *args, **kwargs: Partial(function, args, kwargs),
    callable: _callable,
    getattr: _getattr,
    hasattr: _hasattr,
    **MATH,
    math.prod: _product,
    **{getattr(operator, name): _operator(row) for name, row in _OPERATORS.items()},
    **{getattr(operator, name): _unary_operator(row) for name, row in _UNARY_OPERATORS.items()},
}  # fmt: skip
"""Python functions with a meaning on run-time values: ``(frame, *args)``."""

_HANDLERS = {id(function): handler for function, handler in BUILTINS.items()}


def has_handler(function: Any) -> bool:
    """Whether the function is one of :data:`BUILTINS`."""
    return id(function) in _HANDLERS

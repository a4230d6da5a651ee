"""Numbers of one element: where ways of a vectorized function meet, and Python's numbers made of NumPy's.

While a vectorized function is read (`Context.elements`) scalars are computed by a kernel, element by element, so a NumPy
scalar may become Python's number and decide what is done.  Where a name holds a number of Python on one way and
one of NumPy on another, it is NumPy's on both: the dtype is that of ``np.where(condition, a, b)``, if this is the dtype of
the NumPy scalar.  Of two kinds of Python's numbers it is the wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend.kinds import Maybe, is_int, is_numpys
from pytocu.frontend.operators import elementwise, truths
from pytocu.frontend.requirements import require
from pytocu.frontend.values import Context, as_value, const_inst, convert, is_numpy_scalar
from pytocu.ir import promote
from pytocu.ir.core import Value, walk
from pytocu.ir.types import F64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, WEAK_ORDER, DType, ScalarType, Type, WeakType, scalar


def item(context: Context, value: Any) -> Any:
    """A NumPy scalar as Python's number, in a vectorized function; anything else as it is."""
    if context.elements is None:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if not is_numpy_scalar(value):
        return value
    return context.builder.emit("item", (value,), name=value.name)


def python_truth(context: Context, value: Value) -> Value:
    """The truth of a scalar as Python's bool."""
    return item(context, truths(context, value))


def common_type(context: Context, first: Type, second: Type) -> Type | None:
    """The type of a number that is of these two types on two ways; None where there is none."""
    if first == second:
        return first
    match first, second:
        case (WeakType(), WeakType()) if context.elements is not None:
            return max(first, second, key=lambda t: WEAK_ORDER.index(t.kind if isinstance(t, WeakType) else ""))
        case (WeakType() as weak, ScalarType(dtype) as strong) | (ScalarType(dtype) as strong, WeakType() as weak):
            return strong if promote.adapts(weak, dtype) else None
    return None


def of_type(context: Context, value: Any, type: Type) -> Value:
    """A number as one of the type that it has on another way."""
    made = as_value(context, value)
    if made.type == type or not isinstance(made.type, WeakType):
        return made
    if isinstance(type, ScalarType):
        return from_python(context, made, type) if context.elements is None else convert(context, made, type.dtype)
    known = _known(made)
    if known is not None:
        return context.builder.const(known, type)
    assert isinstance(type, WeakType)
    if type == WEAK_COMPLEX:
        return context.builder.emit("python_complex", (made, context.builder.const(0, WEAK_INT)))
    return context.builder.emit(f"python_{type.kind}", (made,))


def perhaps_complex(value: Value) -> bool:
    """Whether what is taken for a float of Python's may be complex: a negative one to a power that is no integer."""
    if value.type != WEAK_FLOAT:
        return False
    left, seen = [value], {value}
    while left:
        inst = left.pop().inst
        if inst is None or inst.op.name == "python_float":
            continue
        if inst.op.name == "power":
            exponent = _known(inst.args[1])
            if inst.args[1].type == WEAK_FLOAT and (exponent is None or not float(exponent).is_integer()):
                return True
        inner = [a for region in inst.regions for i in walk(region) for r in i.results for a in (r, *i.args)]
        more = {a for a in (*inst.args, *inner) if a.type == WEAK_FLOAT} - seen
        seen |= more
        left.extend(more)
    return False


def are_both_kinds(context: Context, values: Sequence[Value]) -> bool:
    """Whether they are Python's ints and floats, between which a run chooses."""
    return context.elements is None and {v.type for v in values} == {WEAK_INT, WEAK_FLOAT}


def of_both_kinds(context: Context, values: Sequence[Value]) -> list[Value]:
    """Python's ints and floats as :func:`in_float64` makes them; other values as they are."""
    return [in_float64(context, v) for v in values] if are_both_kinds(context, values) else list(values)


def in_float64(context: Context, value: Value) -> Value:
    """Python's int or float, where a name holds the other kind on another way, as float64 that remembers which.

    An int beyond 2**53 is refused when the program runs.
    """
    known = _known(value)
    number = context.builder.const(float(known), scalar(F64)) if known is not None else convert(context, value, F64)
    if value.type == WEAK_INT and known is None:
        number = _exact(context, number)
    kind, beside = ("int", "float") if value.type == WEAK_INT else ("float", "int")
    context.open = True
    attrs = {"known": known, "of": kind, "beside": beside}
    return context.builder.emit("from_python", (number,), attrs, name=value.name)


def _exact(context: Context, number: Value) -> Value:
    """One of Python's ints as float64, refused in a run in which that does not hold it."""
    inside = elementwise(context, "less", elementwise(context, "absolute", number), float(_EXACT))
    return require(context, number, inside, "UnsupportedError", _BEYOND)


_EXACT = 2**53
_BEYOND = f"a Python int beyond {_EXACT} stands beside a float, on another way through the program"


def _fits(dtype: DType, number: Any) -> bool:
    limits = np.iinfo(dtype.numpy)
    return limits.min <= number <= limits.max


def _known(value: Value) -> Any:
    inst = const_inst(value)
    return None if inst is None else inst.attr("value")


def from_python(context: Context, value: Value, type: ScalarType) -> Value:
    """A Python number as a NumPy scalar that remembers what it is.

    Raises
    ------
    UnsupportedError
        An int that the dtype does not hold.
    """
    known = _known(value)
    if known is not None and type.dtype.is_integer and not _fits(type.dtype, known):
        raise UnsupportedError(
            f"{known} stands beside an np.{type.dtype.numpy.name}, which does not hold it, on another way through the program",
            context.loc,
            f"make both NumPy's, of one dtype: np.int64({known})",
        )
    assert isinstance(value.type, WeakType)
    made = convert(context, value, type.dtype) if known is None else context.builder.const(known, type)
    if known is None and value.type == WEAK_INT and type.dtype is F64:
        # The int may come back as what it is: where it is returned, or where a loop began with Python's float.
        made = _exact(context, made)
    context.open = True
    return context.builder.emit("from_python", (made,), {"known": known, "of": value.type.kind}, name=value.name)


def begins_as_python(context: Context, value: Value, type: ScalarType) -> Value:
    """A Python number with which a loop begins, as the NumPy scalar that its steps take it for."""
    assert isinstance(value.type, WeakType)
    context.open = True
    attrs = {"known": _known(value), "of": value.type.kind}
    return context.builder.emit("from_python", (convert(context, value, type.dtype),), attrs, name=value.name)


def perhaps_python(context: Context, value: Value, maybe: Any, mark: Value | None = None) -> Value:
    """What a loop leaves of a number that began as Python's; without a mark nobody follows whether a step has bound it."""
    (kind,) = maybe.kinds
    context.open = True
    attrs = {"known": maybe.known, "of": kind.kind, "perhaps": True}
    return context.builder.emit("from_python", (value,) if mark is None else (value, mark), attrs, name=value.name)


def perhaps_either(context: Context, value: Value, rank: Value | None) -> Value:
    """A float64 that may be Python's int, its float or NumPy's, as its rank says; without one nobody follows which."""
    builder = context.builder
    no_int = None if rank is None else builder.emit("logical_not", (is_int(builder, rank),))
    numpys = None if rank is None else is_numpys(builder, rank)
    for kind, mark in ((WEAK_INT, no_int), (WEAK_FLOAT, numpys)):
        value = perhaps_python(context, value, Maybe(frozenset([kind]), None, frozenset()), mark)
    return value


def as_numpy(context: Context, value: Any, what: str = "operand") -> Any:
    """A note that something besides Python's operators is given a number, which may be Python's; other values as they are.

    `what` is ``operand`` where it is a NumPy function, the name of a dtype where it makes a number of that dtype, and
    ``object`` where it asks for what only NumPy scalars have.
    """
    if not context.asking:
        return value
    if type(value) in (tuple, list):
        return type(value)(as_numpy(context, v, what) for v in value)
    if not isinstance(value, Value) or not isinstance(value.type, ScalarType):
        return value
    return context.builder.emit("as_numpy", (value,), {"what": what}, name=value.name)

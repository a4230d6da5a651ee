"""Small arrays that are written out: ``np.array([0.25, 0.5, 0.25])``, ``np.array([x.min(), x.max()])``.

Each number is a constant, or a value computed before, and an element is chosen by its position: an array of known
numbers costs no memory and no argument, and a kernel that reads a known element has the number itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import target_dtype
from pytocu.frontend.layouts import row_major
from pytocu.frontend.operators import attempt, refuse_complex
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import (
    Context,
    Flat,
    Grown,
    Members,
    Steps,
    as_element,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dimensions,
    no_number,
    refuse_captured,
)
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, product
from pytocu.ir.types import I64, DType, dtype_of, scalar

_array_of_members = Deferred("pytocu.frontend.grown", "array_of_members")
_copied = Deferred("pytocu.frontend.reshaping", "copied")
_is_dense = Deferred("pytocu.frontend.reshaping", "is_dense")
_ravel = Deferred("pytocu.frontend.reshaping", "ravel")
_refuse_unheld = Deferred("pytocu.frontend.grown_members", "refuse_unheld")
_arange = Deferred("pytocu.frontend.arange", "arange")

LONGEST = 64
"""Numbers of an array that is written out: each is a comparison in the kernel."""

_RAGGED = "setting an array element with a sequence. The requested array has an inhomogeneous shape"


def _ragged(lengths: Sequence[DimLike | str]) -> str:
    """NumPy's sentence, of the lengths of lists and arrays down to where members differ."""
    shape = ", ".join(map(str, lengths)) + "," * (len(lengths) == 1)
    return f"{_RAGGED} after {len(lengths)} dimensions. The detected shape was ({shape}) + inhomogeneous part."


def known_array(context: Context, known: np.ndarray) -> Value:
    """An array of numbers that are known while compiling.

    Raises
    ------
    CompileError
        Something captured holds the array.
    UnsupportedError
        More than :data:`LONGEST` numbers, or a dtype that pytocu does not have.
    """
    refuse_captured(context, known)
    dtype = dtype_of(known.dtype)
    if dtype is None:
        raise UnsupportedError(f"an array of dtype {known.dtype} is not supported", context.loc)
    if known.size > LONGEST:
        raise UnsupportedError(
            f"an array of {known.size} numbers known while compiling would become as many comparisons",
            context.loc,
            "pass it as an argument",
        )
    numbers = [context.builder.const(number, scalar(dtype)) for number in known.ravel().tolist()]
    if not numbers:
        return _repeated(context, context.builder.const(0, scalar(dtype)), known.shape)
    if known.ndim == 0:
        return context.builder.emit("as_array", (numbers[0],))
    made = _side_by_side(context, [_repeated(context, number, (1,)) for number in numbers])
    if known.ndim == 1:
        return made
    return context.builder.emit("reshape", (made,), {"shape": known.shape, "source": (known.size,)})


def listed(context: Context, values: Sequence[Any] | Steps | Grown | Flat, dtype: Any = None) -> Value:
    """The array of nested lists or tuples of numbers and arrays, or of a range, as ``np.array`` makes it.

    Raises
    ------
    CompileError
        Members of different shapes, what is no number, a number that the dtype does not hold.
    """
    target = None if dtype is None else target_dtype(context, dtype)
    _refuse_iterators(context, values)
    if isinstance(values, Flat):
        # NumPy's is a view of an array in row-major order, also as np.array makes it.
        row = _ravel(context, values.array)
        made = row if _is_dense(context, values.array) else _copied(context, row)
        return made if target is None else cast(context, made, target)
    if isinstance(values, Grown):
        made = _array_of_members(context, values, target is not None)
        if target is None:
            return made
        _refuse_unheld(context, values, made, target)
        return cast(context, made, target)
    if isinstance(values, (range, Steps)):
        return _of_range(context, values, target)
    if not contains_dynamic(values):
        # NumPy's own array, with NumPy's errors; of text and other objects too, which has no dtype here.
        return known_array(context, attempt(context, np.array, values, None if target is None else target.numpy))
    leaves = list(_leaves(context, values))
    if target is None:
        strong = [as_strong(context, leaf) for leaf in leaves]
        target = attempt(context, promote.result_dtype, tuple(promote.operand(v.type) for v in strong))
        leaves = strong
    for leaf in leaves:
        refuse_complex(context, leaf, target)
    made = iter([as_element(context, as_value(context, leaf), target) for leaf in leaves])
    return row_major(context, _stacked(context, values, lambda: next(made), target))


def _of_range(context: Context, values: range | Steps, target: DType | None) -> Value:
    """The ints of a range, which NumPy takes one by one."""
    if isinstance(values, Steps) and not values.plain:
        text = "what enumerate, zip or reversed gives is used as a number or an array"
        raise UnsupportedError(text, context.loc, "use the range or the array itself: np.arange(n)[::-1]")
    if values == range(0):
        return known_array(context, np.array((), None if target is None else target.numpy))
    if target is not None and target.is_integer and target is not I64:
        text = f"a range is used as an array of {target.numpy}"
        raise UnsupportedError(text, context.loc, f"write np.arange(...).astype(np.{target.numpy})")
    made = _arange(context, values.start, values.stop, values.step)
    if target is None:
        text = "a range without numbers is an array of float64, and one with numbers of int64: write np.arange(...)"
        require_equal(context, dim_min(dimensions(made)[0], 1), 1, "UnsupportedError", text)
        return made
    return cast(context, made, target)


def _refuse_iterators(context: Context, values: Any) -> None:
    if isinstance(values, Members):
        raise no_number(context, values)
    if isinstance(values, (tuple, list)):
        for value in values:
            _refuse_iterators(context, value)


def listed_operand(context: Context, values: Sequence[Any] | Steps, dtype: Any = None) -> Value:
    """The array that NumPy makes of a list among its operands.

    Raises
    ------
    UnsupportedError
        A long one that is an argument of the function: each of its numbers is an argument of the code.
    """
    found, path = context.paths.get(id(values), (None, ()))
    while path and path[0] != "argument":
        path = path[1] if len(path) > 1 and isinstance(path[1], tuple) else ()
    if found is values and path and isinstance(values, (list, tuple)) and len(list(_leaves(context, values))) > LONGEST:
        kind = type(values).__name__
        raise UnsupportedError(
            f"a {kind} is used as an array",
            context.loc,
            f"pass an array, write np.array(...) of a short {kind}, or index it with a constant",
        )
    return listed(context, values, dtype)


def _leaves(context: Context, values: Any) -> Any:
    if isinstance(values, Grown):
        values = _array_of_members(context, values)
    if not isinstance(values, (list, tuple)):
        yield as_value(context, values)
        return
    for value in values:
        yield from _leaves(context, value)


def _stacked(context: Context, values: Any, leaf: Any, dtype: DType, outer: tuple[int, ...] = ()) -> Value:
    """Members along a new first axis; `outer` are the lengths of the lists around them."""
    if not isinstance(values, (list, tuple)):
        return leaf()
    if not values:
        return _repeated(context, context.builder.const(0, scalar(dtype)), (0,))
    here = (*outer, len(values))
    members = [_stacked(context, value, leaf, dtype, here) for value in values]
    first, *others = map(dimensions, members)
    common = min(len(first), *map(len, others)) if others else len(first)
    for axis in range(common):
        # The axes before that one are as long in all members.
        same = first[:axis]
        sentence = _ragged((*here, *(f"{{{2 + n}}}" for n in range(axis))))
        for shape in others:
            require_equal(context, first[axis], shape[axis], "ValueError", sentence, *same)
    if any(len(shape) != len(first) for shape in others):
        same = first[:common]
        if all(isinstance(length, int) for length in same):
            raise raised(ValueError(_ragged((*here, *same))), context.loc)
        # The sentence shows lengths, which the run knows.
        sentence = _ragged((*here, *(f"{{{2 + n}}}" for n in range(common))))
        require_equal(context, product(same) + 1, 0, "ValueError", sentence, *same)
        members = [members[0]] * len(members)
    layers: list[Value] = []
    for member in members:
        if first:
            layers.append(context.builder.emit("newaxis", (member,), {"axis": 0}))
        else:
            layers.append(_repeated(context, member, (1,)))
    return _side_by_side(context, layers)


def _repeated(context: Context, number: Value, shape: tuple[int, ...]) -> Value:
    """A new array of one number."""
    attrs = {"shape": shape, "expand": tuple(range(len(shape))), "ndim": 0}
    return context.builder.emit("copy", (context.builder.emit("broadcast", (number,), attrs),))


def _side_by_side(context: Context, pieces: Sequence[Value]) -> Value:
    if len(pieces) == 1:
        return context.builder.emit("copy", (pieces[0],))
    return context.builder.emit("concatenate", pieces, {"axis": 0})


__all__ = ["LONGEST", "known_array", "listed", "listed_operand"]

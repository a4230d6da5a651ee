"""``x.flat``: the elements of an array in row-major order, read, assigned and gone over by their number.

What is read is a copy.  Values that are assigned begin again behind the last one, as those of ``np.put``.  One value goes
through a view where the array lies in row-major order; else each element is given its value by its number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import gathering, scattering
from pytocu.frontend.inplace import assign_elements, assigned_value, element_view, note_write
from pytocu.frontend.masked import has_none_for, is_told_by_a_run, lengthened, require_mask
from pytocu.frontend.operators import attempt, check_plain, elementwise, is_c_long
from pytocu.frontend.requirements import compares, require, require_equal
from pytocu.frontend.reshaping import array_of, copied, is_dense, ravel
from pytocu.frontend.values import (
    Context,
    Flat,
    Grown,
    Masked,
    Steps,
    as_value,
    cast,
    contains_dynamic,
    dim_value,
    dimensions,
    is_array,
    is_number,
    strong_dtype,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, product
from pytocu.ir.types import BOOL, I64, WEAK_BOOL, WEAK_INT, WeakType, element

_READ_ONLY = "underlying array"


def read(context: Context, flat: Flat, key: Any) -> Value:
    """``x.flat[key]``: an element, or a new array of some.

    Raises
    ------
    IndexError
        NumPy's sentence, which is another one in older versions.
    UnsupportedError
        A key that is no number, slice, or array of one axis.
    """
    key = _checked(context, flat, key, reads=True)
    made = gathering.subscript(context, ravel(context, flat.array), key)
    return copied(context, made) if is_array(made) else made


def assign(context: Context, flat: Flat, key: Any, value: Any) -> None:
    """``x.flat[key] = value``

    Raises
    ------
    IndexError, TypeError, ValueError
        NumPy's.
    UnsupportedError
        As for reading.
    """
    note_write(context, flat.array, _READ_ONLY)
    key = _checked(context, flat, key)
    if _is_one(key) and _is_row(value) and element(flat.array.type) is BOOL:
        # A bool takes the truth of any object, which several elements of an array have none of.
        if isinstance(value, (list, tuple, range)):
            value = len(value) > 0
        elif not is_array(value) or not compares(context, product(dimensions(value)), ">", 1):
            text = "several values are assigned to one bool, whose truth it is"
            raise UnsupportedError(text, context.loc, "assign one element of them")
    if _is_one(key) and _is_row(value):
        raise raised(ValueError("Error setting single item of array."), context.loc, "assign one element of it")
    if _is_one(key) and is_number(value):
        # NumPy has one sentence for all that an element does not take.
        attempt(context, np.zeros(1, element(flat.array.type).numpy).flat.__setitem__, 0, value)
    _put(context, flat.array, key, value)


def assign_all(context: Context, array: Value, value: Any) -> None:
    """``x.flat = value``"""
    note_write(context, array, "array")
    _put(context, array, Ellipsis, value)


def _is_one(key: Any) -> bool:
    return isinstance(key, int) or (isinstance(key, Value) and not dimensions(key))


def _is_row(value: Any) -> bool:
    """Whether what is assigned has several values, or none, and not one."""
    return isinstance(value, (list, tuple, range, Flat, Steps, Grown, Masked)) or (is_array(value) and bool(dimensions(value)))


def _put(context: Context, array: Value, key: Any, value: Any) -> None:
    if is_array(value) and context.builder.root(value) is context.builder.root(array) and dimensions(value):
        text = "an array is assigned to its own x.flat, which NumPy reads while it is written"
        raise UnsupportedError(text, context.loc, "assign a copy: x.flat = y.copy()")
    if not _is_row(value):
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            assign_elements(context, array, value)
            return
        if is_dense(context, array) and (isinstance(key, slice | int) or (isinstance(key, Value) and key.type == WEAK_INT)):
            assign_elements(context, element_view(context, ravel(context, array), key, value), value)
            return
    numbers = scattering.numbered(context, (product(dimensions(array)),))
    places = ravel(context, array_of(context, gathering.subscript(context, numbers, key)))
    given = assigned_value(context, value, element(array.type)) if _is_row(value) else value
    scattering.put_values(context, array, places, given)


def _checked(context: Context, flat: Flat, key: Any, reads: bool = False) -> Any:
    """A key of the elements in a row, compared with their number in NumPy's words.

    These may be others where one element is read.
    """
    total = product(dimensions(flat.array))
    if isinstance(key, tuple) and len(key) == 1 and isinstance(key[0], (int, slice)):
        key = key[0]
    if isinstance(key, slice) or key is Ellipsis:
        return key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        if not is_c_long(int(key)):
            _refuse(context, int(key))
        _compare(context, int(key), total, reads)
        return int(key)
    if isinstance(key, list) and not contains_dynamic(key):
        numbers = attempt(context, np.asarray, key)
        if not numbers.size:
            return key
        if numbers.dtype.kind in "iu":
            for number in {int(numbers.min()), int(numbers.max())}:
                _compare(context, number, total, False)
            return key
    elif isinstance(key, Value) and is_array(key) and element(key.type) is BOOL and dimensions(key):
        if len(dimensions(key)) > 1:
            _refuse(context, np.zeros((1,) * len(dimensions(key)), np.bool_))
        if dimensions(key)[0] == 0 or has_none_for(context, dimensions(key)[0], total):
            return []
        sentence = (
            "boolean index did not match indexed flat iterator along axis 0; "
            "size of axis is {0} but size of corresponding boolean axis is {1}"
        )
        if is_told_by_a_run(context, dimensions(key)[0], total):
            require_mask(context, dimensions(key)[0], total, 0, sentence)
            return lengthened(context, key, 0, total)
        require_equal(context, total, dimensions(key)[0], "IndexError", sentence)
        return key
    elif isinstance(key, Value) and (isinstance(key.type, WeakType) or element(key.type).is_integer) and key.type != WEAK_BOOL:
        if isinstance(key.type, WeakType) and key.type != WEAK_INT:
            _refuse(context, 0.5)
        if key.type == WEAK_INT and is_dense(context, flat.array):
            # A position of a view, which the host compares.
            return key
        position = cast(context, as_value(context, key), I64)
        length = as_value(context, dim_value(context, total))
        low = elementwise(context, "greater_equal", elementwise(context, "add", position, length), 0)
        inside = elementwise(context, "bitwise_and", low, elementwise(context, "less", position, length))
        sentence = _out_of_bounds(reads and not dimensions(position))
        return require(context, position, inside, "IndexError", sentence, position, (total,))
    _refuse(context, np.zeros((1,) * len(dimensions(key)), strong_dtype(key).numpy) if isinstance(key, Value) else key)


def _refuse(context: Context, key: Any) -> NoReturn:
    """Let NumPy refuse a key, as one of a single element."""
    if not contains_dynamic(key):
        if not isinstance(key, np.ndarray):
            check_plain(context, key, "indexing")
        if isinstance(key, (float, np.floating, bool)):
            # Which element that is does not matter.
            key = type(key)(0)
        attempt(context, lambda: np.zeros(1).flat[key])
    text = "an index of x.flat that is no int, slice, mask or array of ints is not compiled"
    raise UnsupportedError(text, context.loc, "write x.reshape(-1)[...]")


def _compare(context: Context, number: int, total: DimLike, alone: bool) -> None:
    least = number + 1 if number >= 0 else -number
    sentence = _out_of_bounds(alone).format(number, "{0}")
    require_equal(context, dim_min(total, least), least, "IndexError", sentence)


@lru_cache
def _out_of_bounds(alone: bool) -> str:
    """NumPy's sentence about an index and the number of elements; of one that is read `alone` older versions have another."""
    try:
        np.zeros(7).flat[8 if alone else [8]]
    except IndexError as error:
        return str(error).replace("8", "{0}").replace("7", "{1}")
    raise AssertionError("NumPy takes an element that is not there")

"""Members of arrays, lists and dicts by position or key: read, assigned, unpacked."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, IndexingError, UnsupportedError, closest, raised
from pytocu.frontend import few_positions
from pytocu.frontend.builtin_calls import iterate
from pytocu.frontend.compaction import known_masks
from pytocu.frontend.expressions import assign, evaluate, key_of
from pytocu.frontend.frames import Frame
from pytocu.frontend.gathering import NO_INDEX, has_positions, subscript
from pytocu.frontend.indexing import distance, is_computed, mask_for_bool
from pytocu.frontend.inplace import DESTINATION, assign_elements, element_view, note_write
from pytocu.frontend.literals import known_array
from pytocu.frontend.masked import as_mask, chosen, same, values
from pytocu.frontend.masked_work import assign as assign_masked
from pytocu.frontend.masked_work import mask_in, without_numbers
from pytocu.frontend.notes import note_operands
from pytocu.frontend.numbers import as_numpy
from pytocu.frontend.numpy_calls import index_trick
from pytocu.frontend.objects import IN_LISTS, NO_METHOD, may_have_methods, refuse_outside
from pytocu.frontend.operators import as_queue, attempt, binary, check_plain, example, is_queue, refuse_own_code
from pytocu.frontend.reading import read_int, scalar_of
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.type_texts import by_number
from pytocu.frontend.values import (
    Context,
    Counted,
    Flat,
    Grown,
    Masked,
    Members,
    Steps,
    as_value,
    contains_dynamic,
    dimensions,
    is_array,
    is_number,
    no_number,
    type_name,
)
from pytocu.guards import overrides
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min
from pytocu.ir.types import I64, WEAK_BOOL, WeakType, element, scalar

_method_of_object = Deferred("pytocu.frontend.special_methods", "method_of_object")
_ask = Deferred("pytocu.frontend.counted", "ask")
_begin_here = Deferred("pytocu.frontend.counted", "begin_here")
_after = Deferred("pytocu.frontend.worded", "after")
_assign_flat = Deferred("pytocu.frontend.flat", "assign")
_read_flat = Deferred("pytocu.frontend.flat", "read")
_array_of_members = Deferred("pytocu.frontend.grown", "array_of_members")
_assign_in_grown = Deferred("pytocu.frontend.grown_members", "assign")
_evaluated = Deferred("pytocu.frontend.worded", "evaluated")
_member_at = Deferred("pytocu.frontend.choosing_members", "member_at")
_member_of_range = Deferred("pytocu.frontend.range_parts", "member")
_of_range = Deferred("pytocu.frontend.range_parts", "of_range")
_member_of = Deferred("pytocu.frontend.grown", "member_of")
_picked = Deferred("pytocu.frontend.picking", "picked")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")
_settled = Deferred("pytocu.frontend.counted", "settled")
_scatter = Deferred("pytocu.frontend.scattering", "assign")


def read(frame: Frame, node: ast.Subscript) -> Any:
    """The value of ``base[key]``."""
    array, place = evaluate(frame, node.value), key_of(frame, node.slice)
    try:
        return member(frame, array, place)
    except CompileError as error:
        note_operands(frame, error, [(node.value, array), (node.slice, place)])
        error.help = error.help or what_there_is(error, ast.unparse(node.value), array, place)
        raise


def slice_of(frame: Frame, node: ast.Slice) -> slice:
    """The value of ``start:stop:step``."""
    context = frame.context
    start, stop, step = (None if part is None else evaluate(frame, part) for part in (node.lower, node.upper, node.step))
    if isinstance(start, Value) and isinstance(stop, Value) and start.type == stop.type == scalar(I64):
        apart = distance(start, stop, same)
        if isinstance(apart, int) and abs(apart) < _NEAR and context.elements is None:
            # Beside the first one it is read once; where it wraps around nothing lies between the two.
            start = _read_bound(context, start)
            stop = binary(context, "add", start, apart)
    return slice(*(_read_bound(context, bound) for bound in (start, stop, step)))


_NEAR = 2**31
"""Ints closer than this are read as one and their distance."""


def _read_bound(context: Context, bound: Any) -> Any:
    """A bound of a slice, which is Python's int: the host reads one that is computed."""
    if isinstance(bound, Value) and bound.type == WEAK_BOOL:
        # Python's truth values are ints, NumPy's are not.
        return context.builder.emit("python_int", (bound,))
    if context.elements is not None or not isinstance(bound, Value) or isinstance(bound.type, WeakType) or dimensions(bound):
        return bound
    return read_int(context, scalar_of(context, bound, "slice"), "a slice bound") if element(bound.type).is_integer else bound


def _with_masks(context: Context, base: Value | Masked, key: Any) -> tuple[Value, Any, tuple[int, Value] | None]:
    """An array as a value, its key with lists of bools as masks, and where in the key a mask stands, if one does."""
    base = as_value(context, base)
    key = values(context, as_numpy(context, index_arrays(context, base, key)))
    key = known_masks(context, base, as_mask(context, base, key))
    if not is_array(base):
        return base, key, None
    base, key = mask_for_bool(context, base, key)
    return base, key, mask_in(key)


def index_arrays(context: Context, base: Any, key: Any) -> Any:
    """A key in which arrays stand for tuples and lists that hold arrays or numbers of run time, as NumPy makes them."""
    if not isinstance(base, Value | Masked):
        return key
    if isinstance(key, tuple):
        return tuple(_index_array(context, list(k) if isinstance(k, tuple) else k) for k in key)
    return _index_array(context, key)


def _index_array(context: Context, item: Any) -> Any:
    if isinstance(item, (range, Steps)):
        # Positions may be none at all, unlike the numbers of an array.
        return context.hooks.listed(context, item, np.intp)
    if isinstance(item, list) and contains_dynamic(item):
        return context.hooks.listed(context, values(context, item))
    if isinstance(item, Grown) and item.queue is None:
        # An empty list is one of positions.
        return _array_of_members(context, item, typed=True)
    if isinstance(item, Masked):
        # What a mask chooses of an array is positions as well as the array.
        return as_value(context, item)
    return item


def member(frame: Frame, base: Any, key: Any) -> Any:
    """``base[key]``."""
    context = frame.context
    if may_have_methods(base) and (found := _method_of_object(frame, base, "__getitem__", key)) is not NO_METHOD:
        return found
    _refuse_iterators(context, base, key)
    refuse_part(context, base, key)
    if isinstance(base, Value | Masked):
        # Rows that a step exchanges: one thread reads each of them where it is.
        few = few_positions.place_of(context, base, key) if context.in_steps or context.in_side else None
        if few is not None and isinstance(base, Value):
            return few_positions.read(context, base, as_numpy(context, key), few)
        base, key, place = _with_masks(context, base, key)
        view, mask, first = (base, None, 0) if place is None else without_numbers(context, base, key, *place)
        if place is not None and mask is not None and not first:
            return chosen(context, view, mask, place[0])
        return _picked(context, base, key) if _is_part(context, base, key) else subscript(context, base, key)
    if isinstance(base, Flat):
        return _read_flat(context, base, as_numpy(context, values(context, key)))
    if isinstance(base, Grown):
        return _member_of(frame, base, key)
    trick = index_trick(base)
    if trick is not None:
        return trick(context, key)
    if isinstance(base, Steps) or (isinstance(base, range) and contains_dynamic(key)):
        return _member_of_range(context, _of_range(base), key)
    if isinstance(key, slice) and contains_dynamic(key):
        return _part_of_run_time(context, base, key)
    if contains_dynamic(key):
        if isinstance(base, (list, tuple)) and isinstance(key, Value):
            return _member_at(frame, base, key, lambda array, place: member(frame, array, place))
        text = f"a {type(base).__name__} cannot be indexed by a value known only at run time"
        arrays = "; or count in a list or an array, whose places data may say: n = [0] * 5" if isinstance(base, dict) else ""
        raise UnsupportedError(text, context.loc, "index with constants or static arguments" + arrays)
    # A tuple, list or dict may hold anything: only the keys are compared.
    check_plain(context, list(base) if isinstance(base, dict) else () if isinstance(base, (tuple, list)) else base, "indexing")
    check_plain(context, key, "indexing")
    if overrides(base, "__getitem__"):
        kind = next(k.__name__ for k in (tuple, list, dict) if isinstance(base, k))
        refuse_own_code(context, base, "indexing", f"index a plain {kind}")
    # A Counter has 0 for what it does not count; others make a member, or find one elsewhere.
    makes = isinstance(base, dict) and hasattr(type(base), "__missing__") and type(base) is not Counter
    if makes and not attempt(context, lambda: key in base):
        refuse_own_code(context, base, f"the missing key {key!r}", "give it the key before the call, or write .get(key, value)")
    found = attempt(context, lambda: base[key])
    if isinstance(found, np.ndarray):
        if isinstance(base, np.generic):
            # scalar[None] is an array of it.
            return subscript(context, as_value(context, base), key)
        return known_array(context, found)
    return found


def refuse_part(context: Context, base: Any, key: Any) -> None:
    """Refuse a slice of a queue, in Python's words."""
    if isinstance(key, slice) and is_queue(context, base):
        attempt(context, operator.getitem, as_queue(context, base), slice(None))


def _refuse_part_of_run_time(context: Context, base: Any, key: Any) -> None:
    """Refuse a slice of a list, tuple or text whose length only a run knows."""
    if isinstance(key, slice) and contains_dynamic(key):
        raise _no_part(context, base)


def _no_part(context: Context, base: Any) -> UnsupportedError:
    text = f"a slice of a {type(base).__name__} with bounds that are known only at run time is not compiled"
    return UnsupportedError(text, context.loc, "take it of an array: np.array(...)[:n]")


def _part_of_run_time(context: Context, base: Any, key: slice) -> Any:
    """A slice of a list whose length only a run knows: a list of the members, which are numbers of one type."""
    # What is no bound of a slice is no bound of any list.
    bounds = (key.start, key.stop, key.step)
    attempt(context, operator.getitem, [], slice(*(example(b) if isinstance(b, Value) else b for b in bounds)))
    step = 1 if key.step is None else key.step
    if type(base) is not list or isinstance(step, Value):
        raise _no_part(context, base)
    least, most = (0, len(base)) if step > 0 else (-1, len(base) - 1)
    first, last = (least, most) if step > 0 else (most, least)
    # As Python's `slice.indices` does it.
    ends = (f"min(max({name} + (length if {name} < 0 else 0), least), most)" if bound is not None else str(without)
            for name, bound, without in (("start", key.start, first), ("stop", key.stop, last)))  # fmt: skip
    names = {"start": key.start, "stop": key.stop, "length": len(base), "least": least, "most": most, "base": base}
    return _evaluated(context, f"[base[place] for place in range({', '.join(ends)}, {step})]", names)


def changed_member(frame: Frame, base: Any, key: Any) -> Any:
    """``base[key]`` as what is changed in place: ints of run time are positions of a view."""
    context = frame.context
    changing, context.changing = context.changing, True
    try:
        return member(frame, base, key)
    finally:
        context.changing = changing


def _is_part(context: Context, base: Value, key: Any) -> bool:
    """Whether a part of an array stands at a position that is computed: a view, as at a position known before."""
    items = key if isinstance(key, tuple) else (key,)
    if not is_array(base) or has_positions(base, key) or not any(is_computed(context, k) for k in items):
        return False
    numbers = [k for k in items if not (k is None or k is Ellipsis or isinstance(k, slice))]
    return len(items) > len(numbers) or len(numbers) < len(dimensions(base))


def what_there_is(error: CompileError, text: str, known: Any, key: Any) -> str | None:
    """The help where a list, tuple or dict known now has no such member."""
    match known:
        case tuple() | list() if isinstance(error, IndexError):
            return f"{text} has {'1 element' if len(known) == 1 else f'{len(known)} elements'}, with indices from 0"
        case dict() if isinstance(error, KeyError):
            close = closest(key, [k for k in known if isinstance(k, str)]) if isinstance(key, str) else ""
            return f"did you mean {close!r}?" if close else f"its keys are {', '.join(map(repr, known)) or 'none'}"
    return None


def _refuse_iterators(context: Context, base: Any, key: Any) -> None:
    if isinstance(base, Members):
        raise raised(TypeError("an iterator is not subscriptable"), context.loc, "make a list of its members: list(...)")
    if isinstance(key, Members):
        found = IndexingError(NO_INDEX, context.loc, "make a list of the positions: list(...)")
        raise found if isinstance(base, Value | Masked) else no_number(context, key)


def assign_member(frame: Frame, base: Any, key: Any, value: Any, text: str) -> None:
    """``base[key] = value``; `text` is the target as it is written."""
    context = frame.context
    if may_have_methods(base) and _method_of_object(frame, base, "__setitem__", key, value) is not NO_METHOD:
        return
    _refuse_iterators(context, base, key)
    refuse_part(context, base, key)
    if isinstance(base, Value | Masked):
        if isinstance(base, Value) and is_array(base):
            # NumPy looks at the key behind that.
            note_write(context, base, DESTINATION)
            if (place := few_positions.place_of(context, base, key)) is not None:
                few_positions.assign(context, base, as_numpy(context, key), place, values(context, value))
                return
        base, key, place = _with_masks(context, base, key)
        if place is not None:
            assign_masked(context, base, key, place, value)
            return
        if has_positions(base, key):
            _scatter(context, base, key, value)
            return
        assign_elements(context, element_view(context, base, key, value), value)
        return
    if isinstance(base, Flat):
        _assign_flat(context, base, as_numpy(context, values(context, key)), values(context, value))
        return
    part = isinstance(key, slice) and isinstance(value, Grown)
    if part and (type(base) is list or (isinstance(base, Counted) and key == slice(None))):
        _assign_members(context, base, key, value)
        return
    if isinstance(base, Grown):
        _assign_in_grown(frame, base, key, value, text)
        return
    if not isinstance(base, (list, dict)):
        raise raised(TypeError(f"'{type_name(base)}' object does not support item assignment"), context.loc)
    refuse_outside(context, base, f"{text} = ...")
    _refuse_part_of_run_time(context, base, key)
    if contains_dynamic(key):
        if isinstance(base, list):
            _ask(context, base, [*base, value])
            if (counted := _begin_here(frame, base, value)) is not None:
                _assign_in_grown(frame, counted, key, value, text)
                return
        text = f"a member of a {type(base).__name__} is assigned at a place known only at run time"
        nested = isinstance(base, list) and any(isinstance(member, list | dict | Grown) for member in base)
        otherwise = IN_LISTS if nested else "use an array in its place: np.array(...)[i] = ..."
        raise UnsupportedError(text, context.loc, by_number(base) or otherwise)
    check_plain(context, key, "indexing")
    attempt(context, base.__setitem__, key, value)


def _assign_members(context: Context, base: list[Any] | Counted, key: slice, value: Grown) -> None:
    """``base[:] = value``, of a list whose length a run decides."""
    if key != slice(None):
        kind = "a part of a list is assigned a list that a loop of run time has made"
        raise UnsupportedError(kind, context.loc, "put the list together: a[:i] + b + a[j:]")
    if value is not base:
        _after(context, "base.clear()\nbase.extend(value)", {"base": base, "value": value}, "base")


def _require_as_many(context: Context, length: DimLike, count: int) -> None:
    """Let a run raise what Python says where there are not as many members as targets."""
    said = f"not enough values to unpack (expected {count}, got {{0}})"
    require_equal(context, dim_min(length, count), count, "ValueError", said)
    require_equal(context, length, count, "ValueError", f"too many values to unpack (expected {count})")


def unpack(frame: Frame, parts: list[ast.expr], value: Any) -> None:
    """Assign the members of a value to several targets."""
    loc = frame.context.loc
    if (isinstance(value, Value) and not is_array(value)) or value is None or is_number(value):
        raise raised(TypeError(f"cannot unpack non-iterable {type_name(value)} object"), loc, "it is one value")
    star = next((n for n, p in enumerate(parts) if isinstance(p, ast.Starred)), None)
    long = isinstance(value, Value) and bool(dimensions(value)) and not isinstance(dimensions(value)[0], int)
    if star is None and isinstance(value, Value) and long:
        _require_as_many(frame.context, dimensions(value)[0], len(parts))
        # Comparing these positions once more would refuse in other words, before a loop that has no step.
        items = [frame.context.builder.emit("index", (value,), {"axis": 0, "at": n}) for n in range(len(parts))]
    elif star is None and isinstance(value, Grown):
        value = _settled(frame.context, value) if isinstance(value, Counted) else value
        _require_as_many(frame.context, dimensions(_rows_of(frame.context, value))[0], len(parts))
        items = [_member_of(frame, value, n, True) for n in range(len(parts))]
    else:
        items = list(iterate(frame, value, "unpacking"))
    if star is None:
        if len(items) != len(parts):
            problem = "too many" if len(items) > len(parts) else "not enough"
            count = "" if len(items) > len(parts) else f", got {len(items)}"
            raise raised(ValueError(f"{problem} values to unpack (expected {len(parts)}{count})"), loc)
        targets = list(zip(parts, items, strict=True))
    else:
        behind = len(parts) - star - 1
        if len(items) < len(parts) - 1:
            problem = f"not enough values to unpack (expected at least {len(parts) - 1}, got {len(items)})"
            raise raised(ValueError(problem), loc)
        middle, end = items[star : len(items) - behind], items[len(items) - behind :]
        starred = parts[star]
        assert isinstance(starred, ast.Starred)
        targets = [*zip(parts[:star], items, strict=False), (starred.value, middle), *zip(parts[star + 1 :], end, strict=True)]
    for part, item in targets:
        assign(frame, part, item)

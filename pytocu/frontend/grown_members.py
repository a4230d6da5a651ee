"""Members of lists that a loop of run time makes: lists and tuples that stand in them, and numbers that are assigned.

The members are rows of one array.  Where a member is a list or a tuple itself, `Held` says so, and reading one gives a tuple of
its numbers, or a list whose rows are a part of that array: what is assigned to it changes the list around it, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.aliases import mark_shared
from pytocu.frontend.frames import Failing, Frame, Raised, Shown, mark
from pytocu.frontend.kinds import Maybe
from pytocu.frontend.list_forms import refuse_named
from pytocu.frontend.operators import binary, elementwise
from pytocu.frontend.reading import read_number
from pytocu.frontend.storage import HandOn
from pytocu.frontend.type_texts import type_text, type_texts
from pytocu.frontend.values import Context, Counted, Grown, Perhaps, as_value, cast, dimensions, is_array
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.types import (
    I64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    ArrayType,
    DType,
    ScalarType,
    Type,
    WeakType,
    element,
)

_ask_grown = Deferred("pytocu.frontend.counted", "ask_grown")
_assign_counted = Deferred("pytocu.frontend.counted", "assign")
_assign_part = Deferred("pytocu.frontend.list_kinds", "assign_part")
_dtype_of = Deferred("pytocu.frontend.list_kinds", "dtype_of")
_from_none = Deferred("pytocu.frontend.list_kinds", "from_none")
_perhaps_none = Deferred("pytocu.frontend.list_kinds", "perhaps_none")
_in_floats = Deferred("pytocu.frontend.list_kinds", "in_floats")
_marked = Deferred("pytocu.frontend.list_kinds", "marked")
_read_marked = Deferred("pytocu.frontend.list_kinds", "read_marked")
_columns_of = Deferred("pytocu.frontend.columns", "numbers_in")
_form_in = Deferred("pytocu.frontend.columns", "form_in")
_is_uneven = Deferred("pytocu.frontend.columns", "is_uneven")
_read_columns = Deferred("pytocu.frontend.columns", "read")
_store_columns = Deferred("pytocu.frontend.columns", "store")
_member = Deferred("pytocu.frontend.subscripts", "member")
_noted = Deferred("pytocu.frontend.columns", "noted")
_put_all = Deferred("pytocu.frontend.grown", "put_all")
_position = Deferred("pytocu.frontend.grown", "position")
_reduce = Deferred("pytocu.frontend.reductions", "reduce")
_refuse_if = Deferred("pytocu.frontend.raising", "refuse_if")
_refuse_outside = Deferred("pytocu.frontend.grown", "refuse_outside")
_scan = Deferred("pytocu.frontend.scans", "scan")
_type_of = Deferred("pytocu.frontend.grown", "type_of")


_IN_ROWS = "fill rows and count: y[k, n[k]] = v; n[k] += 1; or append pairs to one list: found.append((k, v))"


class Held(NamedTuple):
    """That members are lists or tuples.

    Attributes
    ----------
    kind : type
        Their class.
    type : Type or None
        That of each of their members; None where these are not alike.
    inner : Held or None
        What these hold, where they are lists or tuples as well.
    columns : tuple of Type
        Those of the numbers in a tuple, where they differ; see `pytocu.frontend.columns`.
    form : tuple or None
        For each member of a tuple that holds tuples: None, or the class of the tuple that it is and the form of that.
    """

    kind: type
    type: Type | None
    inner: Held | None
    columns: tuple[Type, ...] = ()
    form: tuple[Any, ...] | None = None


def held_in(context: Context, value: Any) -> Held | None:
    """What a member is, where it is a list or a tuple."""
    if isinstance(value, Grown):
        return Held(list, value.type, value.inner)
    if not isinstance(value, (list, tuple)):
        return None
    if isinstance(value, tuple) and _is_uneven(value) and (columns := _columns_of(context, value)):
        return Held(type(value), None, None, columns, _form_in(value))
    types = {_type_of(context, member) for member in value}
    inside = {held_in(context, member) for member in value}
    if len(types) != 1 or len(inside) != 1:
        return Held(type(value), None, None, _columns_of(context, value) or ())
    return Held(type(value), types.pop(), inside.pop())


def same_held(one: Held | None, other: Held | None) -> bool:
    """Whether members are of one kind, whatever their lengths."""
    if one is None or other is None:
        return one is other
    return one.kind is other.kind and same_held(one.inner, other.inner) and _same_type(one.type, other.type)


def _same_type(one: Type | None, other: Type | None) -> bool:
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return one.dtype is other.dtype and one.ndim == other.ndim
    return one == other


def note_held(frame: Frame, grown: Grown, value: Any) -> None:
    """Note what has another name as well, through which the member may be changed."""
    context = frame.context
    if isinstance(value, Grown):
        _note_alias(frame, grown, value.rows, value)
    elif isinstance(value, (list, tuple)):
        mark_shared(context, value)
        for member in value:
            note_held(frame, grown, member)
    elif is_array(value) and dimensions(value):
        _note_alias(frame, grown, value, value)


def _note_alias(frame: Frame, grown: Grown, array: Value, value: Any) -> None:
    scope: Frame | None = frame
    known = array.inst is None or array.inst.op.kind == "view"
    while scope is not None and not known:
        known = any(held is value for held in scope.locals.values())
        scope = scope.parent
    for held in frame.context.builder.lists.values():
        if held.holds(frame.context.builder, array):
            # A change of this list's member is one of the other's.
            held.know(frame.context.builder, grown.rows)
            known = True
    if known:
        builder = frame.context.builder
        grown.aliases.append((array, builder.contents(array)))
        grown.roots.add(builder.root(array))
        grown.shared = True


def opened(frame: Frame, grown: Grown, row: Value, type: Type, held: Held | None, mark: Value | None = None) -> Any:
    """What a row stands for."""
    context = frame.context
    if held is None:
        if grown.nones and mark is not None:
            return _perhaps_none(frame, row, grown, mark)
        if grown.mixed and not dimensions(row):
            return perhaps_numpys(frame, row, grown, mark)
        return read_number(context, row) if isinstance(type, WeakType) else row
    if held.columns:
        return _read_columns(frame, row, held, grown, mark)
    if held.type is None:
        kind = "lists" if held.kind is list else "tuples"
        if dimensions(row)[0] == 0:
            text = f"{grown.text} holds empty {kind}, and one of these is read at a position known only at run time"
            raise UnsupportedError(text, context.loc, _IN_ROWS)
        text = f"{grown.text} holds {kind} whose members are not of one type, and one of these is read"
        raise UnsupportedError(text, context.loc, "keep what differs in type in lists of its own")
    if held.kind is not list:
        count = dimensions(row)[0]
        assert isinstance(count, int)
        marks = [None if mark is None else _member(frame, mark, n) for n in range(count)]
        members = [opened(frame, grown, _member(frame, row, n), held.type, held.inner, marks[n]) for n in range(count)]
        make = getattr(held.kind, "_make", tuple)
        return make(members)
    part = Grown(grown.name, row, held.type, 0, 0)
    part.inner, part.mixed, part.key, part.marks = held.inner, grown.mixed, grown.key, mark
    part.ints, part.kinds = grown.ints, grown.kinds
    part.frozen = grown.frozen or grown.shared
    part.origin = part.end = len(context.builder.made)
    part.after = context.builder.state()
    return part


def perhaps_numpys(frame: Frame, row: Value, grown: Grown, mark: Value | None = None) -> Value:
    """A number that may be Python's or NumPy's, as the mark says if there is one; a float may be one of Python's ints."""
    number = _member(frame, row, ()) if is_array(row) else row
    mark = None if mark is None else _member(frame, mark, ()) if is_array(mark) else mark
    number = _read_marked(frame.context, number, grown, mark, _OF_DTYPE)
    frame.context.read_of[number] = grown
    return number


_OF_DTYPE = {
    kind: Maybe(frozenset([weak]), None, frozenset())
    for kind, weak in (("b", WEAK_BOOL), ("i", WEAK_INT), ("u", WEAK_INT), ("f", WEAK_FLOAT), ("c", WEAK_COMPLEX))
}


def note_member(context: Context, value: Value, key: Any, what: str = "member") -> Value:
    """A number that becomes a member of a list of NumPy's; one that may be Python's asks for another list by a key."""
    context.members[context.loc] = key
    return context.builder.emit("as_numpy", (value,), {"what": what}, name=value.name)


def assign(frame: Frame, grown: Grown, key: Any, value: Any, text: str) -> None:
    """``list[key] = value`` of a number.

    Raises
    ------
    UnsupportedError
        The members are arrays or lists, the number is of another kind, or the list is being made.
    """
    context = frame.context
    if isinstance(grown, Counted):
        _assign_counted(frame, grown, key, value, text)
        return
    refuse_named(context, grown)
    said = f"{text} = ... changes a list whose length is known only at run time"
    if grown.place is not None:
        _ask_grown(context, grown)
        text = f"{said}, in the loop that makes it longer"
        raise UnsupportedError(text, context.loc, "change it behind the loop, or fill an array: y = np.zeros(n)")
    if isinstance(key, slice):
        _assign_part(frame, grown, key, value, text)
        return
    if grown.inner is not None and grown.inner.columns and held_in(context, value) == grown.inner and not grown.mixed:
        value = _noted(context, grown, value, grown.key)
        key = _position(context, key)
        if not grown.sure:
            _refuse_outside(context, key, dimensions(grown.rows)[0], "list assignment index out of range")
        _store_columns(frame, grown.rows, key, value, grown.inner, text)
        return
    if grown.inner is not None or isinstance(grown.type, ArrayType):
        held = "lists or tuples" if grown.inner is not None else type_text(grown.type)
        raise UnsupportedError(f"{said} and whose members are {held}", context.loc, "use an array: np.array(...)")
    if grown.frozen:
        text = f"{said} and which has other names, or may have"
        raise UnsupportedError(text, context.loc, f"append a copy: {grown.name}.append(x.copy())")
    if grown.nones:
        value = _from_none(context, grown, value)
    given, value = (value.given, value.value) if isinstance(value, Perhaps) else (True, value)
    found = regions.bare(as_value(context, value).type)
    value, found = _in_floats(context, grown, value, found)
    if found != grown.type:
        alike = isinstance(found, WeakType | ScalarType) and _dtype_of(context, found) is element(grown.rows.type)
        if not alike or (grown.key is None and not grown.mixed):
            text = f"{said} and which holds {', to '.join(type_texts(grown.type, found))}"
            raise UnsupportedError(text, context.loc, _begin_with(found))
        if not grown.mixed:
            raise HandOn(grown.key)
    if isinstance(value, Value) and isinstance(found, ScalarType) and not grown.mixed and grown.key is not None:
        value = note_member(context, value, grown.key)
    key = _position(context, key)
    _refuse_outside(context, key, dimensions(grown.rows)[0], "list assignment index out of range")
    if grown.marks is not None:
        _put_all(frame, grown.marks, key, _marked(context, grown, value, given), text)
    _put_all(frame, grown.rows, key, cast(context, as_value(context, value), element(grown.rows.type)), text)


def refuse_unheld(context: Context, grown: Grown, rows: Value, target: DType) -> None:
    """Let a run refuse numbers that an array of integers does not hold, which NumPy converts one by one.

    Raises
    ------
    UnsupportedError
        At run time: NumPy scalars, or floats; for Python's ints it is NumPy's OverflowError.
    """
    source = element(rows.type)
    if not target.is_integer or source.kind not in "iuf" or np.can_cast(source.numpy, target.numpy):
        return
    bounds = np.iinfo(target.numpy)
    high = binary(context, "less_equal", rows, int(bounds.max))
    if source.kind == "f":
        high = binary(context, "less", rows, float(int(bounds.max) + 1))
    low = binary(context, "greater_equal", rows, float(bounds.min) if source.kind == "f" else int(bounds.min))
    outside = elementwise(context, "invert", binary(context, "bitwise_and", low, high))
    if isinstance(grown.type, WeakType) and grown.type.kind == "int" and not grown.mixed and len(dimensions(rows)) == 1:
        sentence = f"Python integer {mark(0)} out of bounds for {target.numpy}"
        counted = _scan(context, "add", outside, 0, I64.numpy)
        first = binary(context, "bitwise_and", outside, binary(context, "equal", counted, 1))
        shown = Shown("@", (read_number(context, _reduce(context, "add", binary(context, "multiply", rows, first), 0)),))
        error, failing = raised(OverflowError(sentence), context.loc), Failing("OverflowError", sentence, context.loc, (shown,))
    else:
        sentence, help = f"{grown.text} holds a number that {target.numpy} does not hold", "write np.array(...).astype(...)"
        error = UnsupportedError(sentence, context.loc, help)
        failing = Failing("UnsupportedError", sentence, context.loc, (), (help,))
    _refuse_if(context, _reduce(context, "logical_or", outside, None), True, Raised(error, failing, stated=False))


def _begin_with(type: Type) -> str:
    if isinstance(type, WeakType):
        zero = {"bool": "False", "int": "0", "float": "0.0"}.get(type.kind, "0j")
        return f"begin with numbers of that type: [{zero}] * n"
    dtype = element(type)
    return f"use an array: np.zeros(n, np.{dtype.numpy.name})"


__all__ = ["Held", "assign", "held_in", "note_held", "note_member", "opened", "perhaps_numpys", "refuse_unheld", "same_held"]

"""What lists keep beside numbers that may be Python's or NumPy's: which of them each is.

A list keeps how high each number ranks: 0 for Python's int, 1 for another of Python's numbers, 2 for NumPy's.  What an operator
makes of several numbers ranks as high as the highest of them.  That is kept only where the list is returned, or something that
is made of its members.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import Loc, UnsupportedError
from pytocu.frontend.columns import types_of
from pytocu.frontend.flags import both
from pytocu.frontend.frames import Failing, Frame, Raised
from pytocu.frontend.grown_members import Held, note_member, perhaps_numpys
from pytocu.frontend.kinds import INT, NUMPYS, PYTHONS, Maybe, holds, is_numpys, rank_of_python, ranked
from pytocu.frontend.list_forms import alike
from pytocu.frontend.literals import listed
from pytocu.frontend.numbers import of_type, perhaps_either, perhaps_python
from pytocu.frontend.operators import binary, elementwise
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.ranges import known_here, most, number_as_dim
from pytocu.frontend.reading import read_bool, read_number
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import filled
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import (
    Context,
    Counted,
    Grown,
    Perhaps,
    as_strong,
    as_value,
    cast,
    const_inst,
    dimensions,
    flattened,
    is_array,
)
from pytocu.ir import promote, regions
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_min
from pytocu.ir.types import (
    BOOL,
    C128,
    F64,
    I64,
    U8,
    U64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    ArrayType,
    DType,
    ScalarType,
    WeakType,
    element,
    scalar,
)

_ask_grown = Deferred("pytocu.frontend.counted", "ask_grown")
_member = Deferred("pytocu.frontend.subscripts", "member")
_settled = Deferred("pytocu.frontend.counted", "settled")
_put_all = Deferred("pytocu.frontend.grown", "put_all")

_NONE = NUMPYS + 1
"""The mark of a member that is None."""

_OPERATORS = ("add", "subtract", "multiply", "negative", "positive", "absolute", "divide", "remainder", "floor_divide")
"""Operators whose results rank as high as the highest of what they are given."""

_EXACT = 2**53
"""Python's ints up to here are numbers of float64."""


class Kinds(NamedTuple):
    """The members of a list may be Python's numbers or NumPy's of its dtype: of `Context.handed`.

    Attributes
    ----------
    place, name : object
        The list.
    ints : bool
        Python's ints may stand beside floats.
    marked : bool
        It is kept of each member which it is, since the list is returned.
    floats : bool
        What begins as a list of Python's ints gets floats.
    """

    place: Loc
    name: str
    ints: bool = False
    marked: bool = False
    floats: bool = False


def asked_of(context: Context, kinds: tuple[Any, ...]) -> Kinds | None:
    """What is asked of a list, if anything."""
    found = [one for one in context.handed if isinstance(one, Kinds) and one[:2] == kinds[:2]]
    return Kinds(*kinds[:2], *map(any, zip(*(one[2:] for one in found), strict=True))) if found else None


def ask(context: Context, grown: Grown, **flags: bool) -> None:
    """Let the function be read again with a list of which more is asked than was, if somebody knows it then."""
    if grown.kinds is not None:
        known = asked_of(context, grown.kinds)
        wanted = (known or Kinds(*grown.kinds[:2]))._replace(**flags)
        if known != wanted:
            raise HandOn(wanted)


def ask_for_marks(context: Context, grown: Grown) -> None:
    """Let the function be read again with a list that is returned, where its members may be Python's numbers or NumPy's."""
    if not grown.mixed or grown.marks is not None:
        return
    ask(context, grown, marked=True)
    if grown.kinds is None and not isinstance(grown, Counted) and grown.key is not None:
        _ask_grown(context, grown, grown.key[1])


def mark(context: Context, grown: Grown, blank: bool = False) -> None:
    """Let a list keep of each member what it is."""
    shape = (dimensions(grown.rows)[0], *numbers_in(grown))
    grown.marks = filled(context, context.builder.const(0, scalar(U8)), shape, "", blank=blank)


def numbers_in(grown: Grown) -> tuple[Any, ...]:
    """How many marks a member has that is a tuple or a list."""
    if grown.inner is None or grown.inner.kind is list:
        return dimensions(grown.rows)[1:]
    return (len(types_of(grown)),)


def mark_of_type(type: Any) -> Any:
    """The mark of what is known to be of a type."""
    return np.uint8(NUMPYS if isinstance(type, ScalarType) else INT if type == WEAK_INT else PYTHONS)


def put_all_marks(frame: Frame, made: Grown, places: Any, values: Grown) -> None:
    """Mark members that are those of another list, where that is kept."""
    if made.marks is None:
        return
    type, held = values.type, values.inner
    while held is not None and held.kind is list:
        type, held = held.type, held.inner
    if values.marks is not None or held is None:
        _put_all(frame, made.marks, places, mark_of_type(type) if values.marks is None else values.marks, made.name)
        return
    for number, column in enumerate(types_of(values)):
        _put_all(frame, made.marks, (places, number), mark_of_type(column), made.name)


def put_marks(frame: Frame, grown: Grown, place: Any, value: Any) -> None:
    """Mark what becomes a member, where that is kept."""
    context = frame.context
    if grown.marks is None:
        return
    if isinstance(value, Grown):
        put_all_marks(frame, grown, place, value)
        return
    if grown.inner is not None:
        for number, one in enumerate(flattened(value)):
            _put_all(frame, grown.marks, (place, number), marked(context, grown, one), grown.name)
        return
    _put_all(frame, grown.marks, place, marked(context, grown, value), grown.name)


def marked(context: Context, grown: Grown, value: Any, given: Any = True) -> Any:
    """What a number is that becomes a member, where it is `given`; the end of the function looks at what nobody follows."""

    def unknown(one: Value) -> int:
        # What is made of Python's numbers by branches and loops is none of which anybody knows that.
        note_member(context, one, grown.kinds, "listed")
        return NUMPYS

    rank = _NONE if given is False else _rank(context, value, unknown)
    if isinstance(given, Value):
        rank = context.builder.emit("where", (as_strong(context, given), _as_value(context, rank), _as_value(context, _NONE)))
    return np.uint8(rank) if isinstance(rank, int) else rank


def _rank(context: Context, value: Any, unknown: Callable[[Value], int]) -> Any:
    """How high a number ranks; `unknown` says it of what nobody follows."""
    if not isinstance(value, Value):
        return NUMPYS if isinstance(value, np.generic) else INT if type(value) is int else PYTHONS
    if isinstance(value.type, WeakType):
        return INT if value.type == WEAK_INT else PYTHONS
    inst = value.inst
    if inst is None:
        return unknown(value)
    name, args = inst.op.name, inst.args
    if name == "from_python" and (len(args) == 2 or not inst.attr("perhaps")):
        return rank_of_python(context.builder, inst)
    if name == "from_python" and value in context.read_of:
        ask_for_marks(context, context.read_of[value])
    if name == "require":
        return _rank(context, args[0], unknown)
    if name == "where" and isinstance(value.type, ScalarType):
        first, second = (_rank(context, side, unknown) for side in args[1:])
        if first is second:
            return first
        return context.builder.emit("where", (args[0], _as_value(context, first), _as_value(context, second)))
    if name in _OPERATORS:
        # Nobody need follow what stands beside a number of NumPy's.
        ranks = [_rank(context, a, lambda _: INT) for a in args]
        if NUMPYS in [rank for rank in ranks if isinstance(rank, int)]:
            return NUMPYS
        ranks = [_rank(context, a, unknown) for a in args] + [PYTHONS] * (name == "divide")
        known = max((rank for rank in ranks if isinstance(rank, int)), default=INT)
        found = [rank for rank in ranks if not isinstance(rank, int)]
        if known == NUMPYS or not found:
            return known
        return functools.reduce(functools.partial(_higher, context), found if known == INT else [*found, known])
    return unknown(value)


def _higher(context: Context, one: Any, other: Any) -> Value:
    return context.builder.emit("maximum", (_as_value(context, one), _as_value(context, other)))


def _as_value(context: Context, rank: Any) -> Value:
    return ranked(context.builder, rank) if isinstance(rank, int) else rank


def read_marked(context: Context, number: Value, grown: Grown, rank: Value | None, maybe: Mapping[str, Maybe]) -> Value:
    """A member that may be Python's number or NumPy's, by its mark; a float may be one of Python's ints."""
    kind = element(number.type).kind
    if grown.ints and kind == "f":
        return perhaps_either(context, number, rank)
    return perhaps_python(context, number, maybe[kind], None if rank is None else is_numpys(context.builder, rank))


def agree(context: Context, grown: Grown, value: Any) -> None:
    """Let the function be read again where a list that becomes a member keeps other things of its numbers than the list."""
    if not isinstance(value, Grown) or grown.kinds is None or value.kinds is None:
        return
    asked = asked_of(context, grown.kinds)
    if asked is not None:
        ask(context, value, ints=asked.ints or value.ints, floats=asked.floats, marked=asked.marked)
    elif value.mixed:
        ask(context, grown, ints=value.ints, marked=value.marks is not None)


def as_floats(type: Any, held: Held | None) -> tuple[Any, Held | None]:
    """The type of members that are Python's ints, or lists of these, where floats come among them."""
    if held is None:
        return (WEAK_FLOAT if type == WEAK_INT else type), None
    inner, more = as_floats(held.type, held.inner)
    if inner == held.type or not isinstance(type, ArrayType):
        return type, held
    return ArrayType(F64, type.shape), held._replace(type=inner, inner=more)


def in_floats(context: Context, grown: Grown, value: Any, found: Any) -> tuple[Any, Any]:
    """A number that becomes a member, and its type: a list of floats may get Python's ints, and begin with these."""
    if grown.inner is not None or grown.kinds is None or context.elements is not None:
        return value, found
    dtype = element(grown.rows.type)
    if found == WEAK_INT and dtype is F64:
        ask(context, grown, ints=True)
        return of_type(context, as_float(context, grown, value), scalar(F64)), grown.type
    if grown.type == WEAK_INT and dtype is I64 and found in (WEAK_FLOAT, scalar(F64)):
        ask(context, grown, ints=True, floats=True)
    return value, found


def of_members(context: Context, members: list[Any], like: Grown) -> Grown | None:
    """A list of numbers, or of no members, that is known while compiling as one like another; None of other kinds."""
    if not members and like.arrays is None and (like.inner is None or issubclass(like.inner.kind, tuple)):
        rest, zero = dimensions(like.rows)[1:], context.builder.const(0, scalar(element(like.rows.type)))
        made = like.with_rows(filled(context, zero, (0, *rest), ""))
        if like.marks is not None:
            made.marks = filled(context, context.builder.const(0, scalar(U8)), (0, *numbers_in(like)), "")
        return made
    if like.inner is not None or any(isinstance(member, (list, tuple, Grown, Perhaps)) or member is None for member in members):
        return None
    dtype = element(like.rows.type)
    rows, marks = [], []
    for member in members:
        if not isinstance(as_value(context, member).type, ScalarType | WeakType):
            return None
        value, found = in_floats(context, like, member, regions.bare(as_value(context, member).type))
        if found != like.type and not like.mixed:
            if like.kinds is None or dtype_of(context, found) is not dtype:
                return None
            ask(context, like)
        rows.append(cast(context, as_value(context, held_exactly(context, like, member, scalar(dtype))), dtype))
        marks.append(marked(context, like, value) if like.marks is not None else None)
    made = like.with_rows(listed(context, rows))
    if like.marks is not None:
        made.marks = listed(context, marks)
    return made


def assign_part(frame: Frame, grown: Grown, key: slice, value: Any, text: str) -> None:
    """``list[a:b] = other`` of as many numbers.

    Raises
    ------
    UnsupportedError
        They are no numbers of the list's kind, or the other list has other names; a run in which there are more, or fewer.
    """
    context = frame.context
    value = _settled(context, value) if isinstance(value, Counted) else value
    if isinstance(value, list):
        value = of_members(context, value, grown)
    found = alike(context, grown, value) if grown.inner is None else None
    if found is None:
        said = f"{text} = ... changes a list whose length is known only at run time, at more than one place"
        raise UnsupportedError(said, context.loc, "assign a list of numbers of its kind, or use a loop over the places")
    kept = [context.builder.emit("copy", (part,)) for part in found[1]]
    size, given = (dimensions(rows)[0] for rows in (_member(frame, grown.rows, key), kept[0]))
    said = f"{text} = ... replaces {{0}} members by {{1}}, and so the list would have another length"
    extended = key.step not in (None, 1)
    said = "attempt to assign sequence of size {1} to extended slice of size {0}" if extended else said
    require_equal(context, size, given, "ValueError" if extended else "UnsupportedError", said)
    for array, values in zip(found[0], kept, strict=True):
        _put_all(frame, array, key, values, text)


def beside_python(types: Sequence[Any]) -> ScalarType | None:
    """The NumPy scalars among numbers of which the others are Python's, where these are of their dtype on their own, too."""
    strong = {one for one in types if isinstance(one, ScalarType)}
    weak = [one for one in types if isinstance(one, WeakType)]
    if len(strong) != 1 or len(strong) + len(weak) < len(types):
        return None
    (common,) = strong
    return common if all(promote.default_dtype(one) is common.dtype for one in weak) else None


def dtype_of(context: Context, type: Any) -> Any:
    """The dtype that NumPy gives an array of numbers of a type."""
    with context.builder.nested():
        return element(listed(context, [context.builder.const(0, type)]).type)


class OfNone(NamedTuple):
    """The type of the numbers that come in the place of a list's None: of `Context.handed`."""

    place: Loc
    type: Any


def of_none(context: Context, count: Value) -> Grown:
    """``[None] * count``: of which type the numbers are that come in their place is known when one does."""
    known = [one.type for one in context.handed if isinstance(one, OfNone) and one.place == context.loc]
    type = known[0] if known else WEAK_INT
    size = most(number_as_dim(context, count) or 0, 0, known_here(context))
    asked = asked_of(context, (context.loc, ""))
    type = WEAK_FLOAT if type == WEAK_INT and asked is not None and asked.floats else type
    dtype = {WEAK_INT: I64, WEAK_FLOAT: F64, WEAK_BOOL: BOOL}.get(type) or element(type)
    made = Grown("", filled(context, context.builder.const(0, scalar(dtype)), (size,), ""), type, 0, 0)
    made.text = "a list of None"
    made.key, made.kinds, made.nones = ("list", context.loc, ""), Kinds(context.loc, ""), True
    made.mixed, made.ints = made.key in context.handed or asked is not None, asked is not None and asked.ints
    made.marks = filled(context, context.builder.const(_NONE, scalar(U8)), (size,), "")
    made.origin = made.end = len(context.builder.made)
    made.after = context.builder.state()
    return made


def from_none(context: Context, grown: Grown, value: Any) -> Any:
    """What is assigned in a list of None, with a number that nobody looks at for None.

    Raises
    ------
    HandOn
        It is of another type than was known.
    """
    if value is None:
        return Perhaps(False, context.builder.const(0, grown.type))
    number = value.value if isinstance(value, Perhaps) else value
    found = regions.bare(as_value(context, number).type)
    first = not any(isinstance(one, OfNone) and one.place == grown.kinds.place for one in context.handed)
    numbers = isinstance(found, ScalarType) or found in (WEAK_BOOL, WEAK_INT, WEAK_FLOAT)
    if first and numbers and grown.key not in context.handed:
        raise HandOn(OfNone(grown.kinds.place, found))
    return value


def perhaps_none(frame: Frame, row: Value, grown: Grown, mark: Value) -> Perhaps:
    """A member of a list of None, in the place of which there may be a number."""
    context = frame.context
    rank = _member(frame, mark, ()) if is_array(mark) else mark
    number = perhaps_numpys(frame, row, grown, mark) if grown.mixed else row
    if not grown.mixed and isinstance(grown.type, WeakType):
        number = read_number(context, row)
    return Perhaps(read_bool(context, binary(context, "not_equal", rank, np.uint8(_NONE))), number)


def refuse_none(context: Context, grown: Grown, how: str) -> None:
    """Refuse what is done with all members of a list of which some may be None."""
    if grown.nones:
        text = f"a list whose members may be None is used {how}"
        raise UnsupportedError(text, context.loc, "begin with a number that says so: [-1] * n, or [np.nan] * n")


def as_float(context: Context, grown: Grown, value: Any) -> Any:
    """One of Python's ints as a member of a list of floats; a run is refused in which float64 does not hold it."""
    text, help = f"{grown.text} holds floats, and gets a Python int beyond 2**53", "make it a float: float(k)"
    _refuse_unless(context, _is_within(context, value, -_EXACT, _EXACT), text, help)
    return value


def held_exactly(context: Context, grown: Grown, value: Any, type: Any) -> Any:
    """A Python number as a member of a list of NumPy's; a run is refused in which their dtype does not hold it.

    Raises
    ------
    UnsupportedError
        It is known now that the dtype does not.
    """
    made, dtype = as_value(context, value), element(type)
    if not isinstance(made.type, WeakType) or (weak := promote.default_dtype(made.type)) is dtype:
        return value
    text = f"{grown.text} holds numbers of {dtype.numpy.name}, and gets a Python {made.type.kind} that is none of these"
    help = f"make it NumPy's: np.{dtype.numpy.name}(...)"
    known = const_inst(made)
    if known is not None:
        _refuse_unless(context, holds(dtype, known.attr("value")), text, help)
    elif made.type == WEAK_INT and dtype.is_integer:
        limits = np.iinfo(dtype.numpy)
        _refuse_unless(context, _is_within(context, made, int(limits.min), int(limits.max)), text, help)
    elif made.type == WEAK_INT and dtype not in (F64, C128):
        most = 2 ** (np.finfo(dtype.numpy).nmant + 1)
        _refuse_unless(context, _is_within(context, made, -most, most), text, help)
    elif made.type != WEAK_INT and dtype is not C128:
        number = cast(context, made, weak)
        again = cast(context, cast(context, number, dtype), weak)
        same = elementwise(context, "equal", number, again)
        nan = elementwise(context, "not_equal", number, number)
        _refuse_unless(context, read_bool(context, elementwise(context, "bitwise_or", same, nan)), text, help)
    return value


def _is_within(context: Context, value: Any, least: int, most: int) -> Any:
    made = as_value(context, value)
    inside = [binary(context, name, made, bound) for name, bound in (("less_equal", most), ("greater_equal", least))]
    return both(context, *(flag if isinstance(flag, Value) else bool(flag) for flag in inside))


def _refuse_unless(context: Context, holds: Any, text: str, help: str) -> None:
    """Refuse a run in which something does not hold."""
    error = UnsupportedError(text, context.loc, help)
    if holds is False:
        raise error
    if isinstance(holds, Value):
        failing = Failing("UnsupportedError", text, context.loc, (), (help,))
        refuse_if(context, holds, False, Raised(error, failing, stated=False))


def dtype_of_array(context: Context, grown: Grown) -> DType | None:
    """The dtype of an array of Python's numbers and NumPy's; None for that of the rows.

    Raises
    ------
    UnsupportedError
        Which of them the list holds decides, and nobody knows that.
    """
    if not grown.mixed:
        return None
    columns = types_of(grown) if grown.inner is not None and grown.inner.kind is not list else (_innermost(grown),)
    dtypes = {element(one) for one in columns if isinstance(one, ScalarType)}
    wide = {_beside_python(dtype) for dtype in dtypes}
    stays = not context.counting and grown.kinds not in context.shortened
    known = grown if isinstance(grown, Counted) and stays else None
    if grown.ints:
        _refuse_ints(context, grown, known)
    if wide == dtypes:
        return None
    if known is None or not known.pythons or U64 in dtypes:
        names = " and ".join(sorted(dtype.numpy.name for dtype in dtypes))
        text = f"{grown.text} may hold Python's numbers beside {names}, which decides the dtype of an array of it"
        made = promote.result_dtype(tuple(wide)).numpy.name
        raise UnsupportedError(text, context.loc, f"state it, as np.array(x, dtype=np.{made})")
    return promote.result_dtype((*wide, *(promote.strong(one) for one in columns)))


def _innermost(grown: Grown) -> Any:
    type, held = grown.type, grown.inner
    while held is not None:
        type, held = held.type, held.inner
    return type


def _beside_python(dtype: DType) -> DType:
    """The dtype of an array of such numbers and Python's of their kind."""
    return promote.result_dtype((dtype, promote.default_dtype(_OF_KIND[dtype.kind])))


_OF_KIND = {"b": WEAK_BOOL, "i": WEAK_INT, "u": WEAK_INT, "f": WEAK_FLOAT, "c": WEAK_COMPLEX}


def _refuse_ints(context: Context, grown: Grown, known: Counted | None) -> None:
    """Refuse an array of Python's ints and greater numbers, where there may be none of these."""
    of = "floats: float(k)" if grown.inner is not None or element(grown.rows.type).kind == "f" else "complex numbers"
    text = f"{grown.text} may hold Python's ints alone, and so the dtype of an array of it is known only at run time"
    text = text if of != "complex numbers" else text.replace("ints", "ints and floats")
    error = UnsupportedError(text, context.loc, f"state it, as np.array(x, dtype={of.split()[0].rstrip('s:')}), or append {of}")
    if known is None or known.floats is None:
        raise error
    if not known.floats:
        count = number_as_dim(context, known.length)
        if count is None or (known.kinds, "ints") in context.shortened:
            raise error
        # Each that was appended is a float.
        least = known.began + 1
        require_equal(context, dim_min(count, least), least, "UnsupportedError", text)
        context.doubted = True


__all__ = [
    "Kinds", "agree", "as_float", "as_floats", "ask", "ask_for_marks", "asked_of", "assign_part", "beside_python", "dtype_of",
    "dtype_of_array", "from_none", "held_exactly", "in_floats", "mark", "mark_of_type", "marked", "numbers_in", "of_members",
    "of_none", "perhaps_none", "put_all_marks", "put_marks", "read_marked", "refuse_none",
]  # fmt: skip

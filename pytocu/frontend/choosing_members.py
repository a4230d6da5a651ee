"""Members of lists and tuples whose lengths are known, by positions that are not: ``steps[i % 4]``.

In: a list or tuple, and an int of run time.  Out: the member at the position; one that there is not is Python's error.  Of
Python's numbers, or tuples of these, one is chosen after the other, which stays Python's; NumPy's are elements of an array.
Arrays, lists and what else has a place of its own are chosen by branches, so that it is known which of them the member is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.control import choice
from pytocu.frontend.frames import Frame
from pytocu.frontend.grown import position, refuse_outside
from pytocu.frontend.literals import LONGEST, listed
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import binary
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.ranges import known_here, number_as_dim
from pytocu.frontend.values import Context, as_value, describe, is_array, is_number, python_type_name
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ScalarType, WeakType

MOST_BRANCHES = 32
"""Members that are chosen by branches, of which each is written once."""


def member_at(frame: Frame, members: Sequence[Any], key: Any, element: Callable[[Value, Any], Any]) -> Any:
    """``members[key]``; `element` reads an array.

    Raises
    ------
    UnsupportedError
        Members that a branch cannot choose between, as lists of different lengths, or a key that is no int.
    """
    context = frame.context
    kind = type(members).__name__
    if isinstance(key, Value) and key.type == WEAK_BOOL:
        key = on_host(context, "python_int", key)
    if context.elements is None:
        key = position(context, key)
    elif isinstance(key, Value) and isinstance(key.type, ScalarType) and key.type.dtype.is_integer:
        key = context.hooks.call(frame, int, (key,), {})
    if not isinstance(key, Value) or key.type != WEAK_INT:
        if isinstance(key, Value) and isinstance(key.type, WeakType | ScalarType) and key.type != WEAK_INT:
            raise raised(TypeError(f"{kind} indices must be integers or slices, not {python_type_name(key)}"), context.loc)
        text = f"a {kind} cannot be indexed by {describe(key)} that is known only at run time"
        raise UnsupportedError(text, context.loc, f"index an array: np.array(the {kind})[i]")
    if context.elements is not None and members:
        return _of_an_element(frame, kind, members, key)
    by_branches = bool(members) and not _are_numbers(members)
    if members and not by_branches:
        _check_alike(context, kind, members)
    refuse_outside(context, key, len(members), f"{kind} index out of range")
    if not members:
        raise raised(IndexError(f"{kind} index out of range"), context.loc)
    at, place = number_as_dim(context, key), key
    if at is None or not known_here(context)(at):
        behind = binary(context, "add", key, len(members))
        place = on_host(context, "python_choose", binary(context, "less", key, 0), behind, key)
    return _by_branches(frame, kind, members, place) if by_branches else _at(context, members, place, element)


_PLACE = """
if number < -length or number >= length:
    raise IndexError(said)
found = number + length if number < 0 else number
"""


def _of_an_element(frame: Frame, kind: str, members: Sequence[Any], key: Value) -> Any:
    """A member by the number that an element of a vectorized function comes to, as ``if`` statements choose it."""
    said = f"{kind} index out of range"
    return _by_branches(frame, kind, members, run_piece(frame, _PLACE, number=key, length=len(members), said=said))


def _are_numbers(members: Sequence[Any]) -> bool:
    return all(
        _are_numbers(m) if isinstance(m, tuple) else is_number(m) or (isinstance(m, Value) and not is_array(m)) for m in members
    )


def _by_branches(frame: Frame, kind: str, members: Sequence[Any], place: Value) -> Any:
    """The member itself, as ``members[0] if place == 0 else members[1] if place == 1 else ...``."""
    context = frame.context
    if len(members) > MOST_BRANCHES:
        said = f"a {kind} of {len(members)} arrays or lists"
        text = f"{said}, indexed by an int known only at run time, would be as many branches"
        raise UnsupportedError(text, context.loc, "index one array of all: np.stack(...)[i]")
    what = f"a {kind} at an int known only at run time"

    def from_member(number: int) -> Any:
        if number == len(members) - 1:
            return members[number]
        here = as_value(context, binary(context, "equal", place, number))
        return choice(frame, here, lambda: members[number], lambda: from_member(number + 1), what)

    return from_member(0)


def _check_alike(context: Context, kind: str, members: Sequence[Any]) -> None:
    first = members[0]
    if isinstance(first, tuple) and all(isinstance(m, tuple) and len(m) == len(first) for m in members):
        for column in zip(*members, strict=True):
            _check_alike(context, kind, column)
        return
    types = [as_value(context, m).type if is_number(m) or isinstance(m, Value) else None for m in members]
    odd = next((n for n, found in enumerate(types) if not isinstance(found, WeakType | ScalarType) or found != types[0]), None)
    if odd is None:
        return
    text = f"a {kind} is indexed by an int known only at run time, and not all of its members are numbers of one type"
    if isinstance(types[odd], WeakType | ScalarType):
        said = f"member 0 is of type {types[0]}, member {odd} of type {types[odd]}"
        raise UnsupportedError(f"{text}: {said}", context.loc, "write all of one type, as 1.0 beside 0.5")
    raise UnsupportedError(text, context.loc, f"index an array of them: np.array(the {kind})[i]")


def _at(context: Context, members: Sequence[Any], key: Value, element: Callable[[Value, Any], Any]) -> Any:
    first = members[0]
    if isinstance(first, tuple):
        return tuple(_at(context, column, key, element) for column in zip(*members, strict=True))
    made = [as_value(context, m) for m in members]
    kind = made[0].type
    if not isinstance(kind, WeakType):
        return element(listed(context, made), key)
    if len(made) > LONGEST:
        text = f"a sequence of {len(made)} numbers, indexed by an int known only at run time, would become as many comparisons"
        raise UnsupportedError(text, context.loc, "pass an array of them as an argument")
    found = made[-1]
    for number in range(len(made) - 2, -1, -1):
        found = on_host(context, "python_choose", binary(context, "equal", key, number), made[number], found)
    return found


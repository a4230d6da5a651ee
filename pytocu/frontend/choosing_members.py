"""Members of lists and tuples whose lengths are known, by positions that are not: ``steps[i % 4]``.

In: a list or tuple that the program made, and an int of run time.  Out: the member at the position, where all are numbers
of one kind, or tuples of these; a position that there is not is Python's error.  Of Python's numbers one is chosen after the
other, which stays Python's; NumPy's are elements of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.grown import position, refuse_outside
from pytocu.frontend.literals import LONGEST, listed
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import binary
from pytocu.frontend.values import Context, as_value, describe, is_number, python_type_name
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ScalarType, WeakType


def member_at(context: Context, members: Sequence[Any], key: Any, element: Callable[[Value, Any], Any]) -> Any:
    """``members[key]``; `element` reads an array.

    Raises
    ------
    UnsupportedError
        Members of different kinds or such as may be changed in place, or a key that is no int.
    """
    kind = type(members).__name__
    if isinstance(key, Value) and key.type == WEAK_BOOL:
        key = on_host(context, "python_int", key)
    key = position(context, key)
    if not isinstance(key, Value) or key.type != WEAK_INT or context.elements is not None:
        if isinstance(key, Value) and isinstance(key.type, WeakType | ScalarType) and key.type != WEAK_INT:
            raise raised(TypeError(f"{kind} indices must be integers or slices, not {python_type_name(key)}"), context.loc)
        text = f"a {kind} cannot be indexed by {describe(key)} that is known only at run time"
        raise UnsupportedError(text, context.loc, f"index an array: np.array(the {kind})[i]")
    if members:
        _check_alike(context, kind, members)
    refuse_outside(context, key, len(members), f"{kind} index out of range")
    if not members:
        raise raised(IndexError(f"{kind} index out of range"), context.loc)
    behind = binary(context, "add", key, len(members))
    return _at(context, members, on_host(context, "python_choose", binary(context, "less", key, 0), behind, key), element)


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


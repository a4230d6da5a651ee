"""Lists whose members a loop of run time has made, as what branches and loops hand on of them: the arrays behind a list.

A name that is bound to one such list and then to another holds a list of the same kind, of whose arrays only a run knows
which they are.  These are arrays like any others, so what is one memory with what else is known of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, Counted, Grown, dimensions
from pytocu.ir.core import Inst
from pytocu.ir.types import element

_ask_kinds = Deferred("pytocu.frontend.list_kinds", "ask")
_settled = Deferred("pytocu.frontend.counted", "settled")


LEAVE_BEFORE = "keep it under a name, leave the loop with break, and return it behind the loop"
"""The way out where a list cannot be returned out of a loop."""

IN_ROWS = "append arrays of one length, or write them into rows that are long enough: y[i, :len(a)] = a; n[i] = len(a)"
"""The way out where the members of a list are arrays of many lengths."""


class OfGrown(tuple[Any, ...]):
    """The arrays of a list, in a form of `pytocu.frontend.state.flatten`."""

    model: Grown

    @classmethod
    def _make(cls, members: Sequence[Any]) -> Grown:
        rows, *marks = members
        made = cls.model.with_rows(rows)
        made.marks = marks[0] if marks else None
        return made


def holding(context: Context, grown: Grown) -> OfGrown | None:
    """The arrays of a list that may be bound to a name in another's place; None of others."""
    other_names = grown.shared or grown.frozen or grown.arrays is not None
    if type(grown) is not Grown or grown.place is not None or other_names or grown.queue is not None:
        return None
    # Of lists of both kinds it says nothing of which kind their members were at first.
    numbers = (element(grown.rows.type), len(dimensions(grown.rows)), _bare(grown.inner))
    kind = numbers if grown.mixed else (grown.type, grown.inner)
    key = (Grown, *kind, grown.mixed, grown.ints, grown.nones, grown.marks is None)
    if key not in context.forms:
        context.forms[key] = type("OfGrown", (OfGrown,), {"model": grown})
    context.forms[key].model.named |= grown.named
    return context.forms[key]((grown.rows,) if grown.marks is None else (grown.rows, grown.marks))


def refuse_named(context: Context, grown: Grown) -> None:
    """Refuse a change of a list that has another name in some runs.

    Raises
    ------
    UnsupportedError
    """
    if grown.named:
        text = f"{grown.text} is changed, and a run decides whether it has another name, too"
        raise UnsupportedError(text, context.loc, "give that name a copy of it: list(...)")


def _bare(held: Any) -> Any:
    """What members are but for the types of numbers."""
    return None if held is None else (held.kind, held.columns, held.form, _bare(held.inner))


def alike(context: Context, one: Any, other: Any) -> tuple[OfGrown, OfGrown] | None:
    """The arrays of two lists of one kind; None of others."""
    if not isinstance(one, Grown) or not isinstance(other, Grown):
        return None
    first, second = holding(context, one), holding(context, other)
    if first is None or second is None:
        return None
    if type(first) is not type(second):
        _ask(context, one, other)
        return None
    return first, second


def in_parts(context: Context, value: Any, insts: Sequence[Inst]) -> Any:
    """What is returned at the end of a region, with the arrays of lists that its instructions have made in their places.

    Raises
    ------
    UnsupportedError
        A list has other names, or its members have.
    """
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [in_parts(context, member, insts) for member in value])
    if not isinstance(value, Grown) or not any(value.rows in inst.results for inst in insts):
        return value
    found = holding(context, _settled(context, value) if isinstance(value, Counted) else value)
    if found is None:
        text = f"{value.text} is returned out of a loop, and it has other names, or its members have"
        raise UnsupportedError(text, context.loc, LEAVE_BEFORE)
    return tuple.__new__(type(found), [context.builder.contents(array) for array in found])


def _ask(context: Context, *lists: Grown) -> None:
    """Let the function be read again with lists that hold Python's numbers and NumPy's, where one does and the other may."""
    if len({(element(one.rows.type), len(dimensions(one.rows)), _bare(one.inner)) for one in lists}) > 1:
        return
    for one in lists:
        if one.kinds is not None and not one.mixed and one.key is not None:
            raise HandOn(one.key)
    first, second = lists
    for one, other in ((first, second), (second, first)):
        if one.kinds is not None:
            _ask_kinds(context, one, ints=one.ints or other.ints, marked=one.marks is not None or other.marks is not None)


__all__ = ["IN_ROWS", "LEAVE_BEFORE", "OfGrown", "alike", "holding", "in_parts", "refuse_named"]

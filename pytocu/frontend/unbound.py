"""Names of which only a run knows whether they are bound: ``if x[0] > 0: y = x[1]``, and ``y`` is read behind it.

A function is read without them first, and read again where such a name is read.  Then the name holds a `MaybeBound`: whether
it is bound, and what it is bound to, which is zeros where it is not.  Branches hand on both, and loops carry both from the
start, as the value of one step is there in the next.  Whoever reads the name requires that it is bound: the run that comes
there raises Python's exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import Loc, UnsupportedError, raised, told
from pytocu.frontend.frames import BIND_IT, Failing, Frame, Unset
from pytocu.frontend.marks import type_of
from pytocu.frontend.numbers import item
from pytocu.frontend.perhaps import fits, zero
from pytocu.frontend.raising import raised_here, refuse_if
from pytocu.frontend.requirements import require
from pytocu.frontend.state import Container, State, flatten, rebuild
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, MaybeBound, as_strong, as_value
from pytocu.ir import regions
from pytocu.ir.core import Value, named
from pytocu.ir.types import F64, ArrayType, Type, WeakType, shape_of

_blank = Deferred("pytocu.frontend.merging", "blank")
_refuse_by_data = Deferred("pytocu.frontend.trying", "refuse_by_data")


class OneSide(NamedTuple):
    """A name that is bound on one side of a branch, and read behind it: of `Context.handed`."""

    place: Loc
    name: str


def bound_value(context: Context, held: MaybeBound, key: tuple[Frame, str], error: NameError) -> Any:
    """What a name is bound to, where it is read; the run raises the `error` if it is bound to nothing.

    Raises
    ------
    CompileError
        It is known to be bound to nothing.
    """
    given = context.told.get(held.given) if isinstance(held.given, Value) else bool(held.given)
    if given is not None:
        if not given:
            context.missed.append(key)
            raise raised(error, context.loc, BIND_IT)
        return held.value
    # In a loop a step before may have bound it.
    context.missed.append(key)
    found = raised_here(context, error)
    found.error.help = BIND_IT
    if context.tries:
        _refuse_by_data(context, found)
    assert found.failing is not None
    found.failing.parts = told(found.error)
    flag = held.given
    if context.elements is not None:
        return _required(context, held.value, as_strong(context, flag), found.failing)
    refuse_if(context, flag, False, found)
    context.told = {**context.told, held.given: True}
    return held.value


def _required(context: Context, value: Any, bound: Value, failing: Failing) -> Any:
    """What a name is bound to, each number of which demands that it is: who reads none of them does not ask."""
    leaves: list[Any] = []
    form = flatten(value, leaves)
    made: list[Any] = []
    for leaf in leaves:
        number = as_value(context, leaf)
        strong = require(context, as_strong(context, number), bound, failing.error, failing.sentence, said=failing.parts)
        made.append(item(context, strong) if isinstance(number.type, WeakType) else strong)
    return rebuild(form, made)


def may_be_unbound(held: Any) -> bool:
    """Whether what a name holds says that it may be bound to nothing."""
    if isinstance(held, Unset):
        # The key of a loop is a plain tuple.
        return isinstance(held.key, OneSide) or type(held.key) is tuple
    return isinstance(held, MaybeBound)


def may_be_handed_on(value: Any) -> bool:
    """Whether what a name is bound to is made of numbers and arrays, of which there are zeros."""
    leaves: list[Any] = []
    return fits(flatten(value.value if isinstance(value, MaybeBound) else value, leaves)) and bool(leaves)


def is_strong(flag: Any) -> bool:
    """Whether a flag is NumPy's bool, which data decide, and not Python's."""
    return not isinstance(flag, bool) and not (isinstance(flag, Value) and isinstance(flag.type, WeakType))


def in_kind(context: Context, flag: Any, strong: bool) -> Any:
    """A flag as NumPy's bool, or as it is."""
    if not strong or is_strong(flag):
        return flag
    return np.bool_(flag) if isinstance(flag, bool) else as_strong(context, flag)


# In loops.


class Start(NamedTuple):
    """What a loop carries of a name from the start.

    Attributes
    ----------
    form : object
        Of what a step leaves; see `pytocu.frontend.state.flatten`.
    types : tuple of Type or None
        Of the zeros that it begins with; None where the name holds something before the loop.
    strong : bool
        Whether the flag is NumPy's.
    """

    form: Any
    types: tuple[Type, ...] | None
    strong: bool


def starts(
    context: Context,
    before: State,
    after: State,
    begun: Mapping[tuple[Frame, str], Start],
    own: Set[str],
    read: Sequence[tuple[Frame, str]],
) -> dict[tuple[Frame, str], Start]:
    """The names that a loop has to carry in another form than it does, since a step may leave them unbound or find them so.

    Parameters
    ----------
    begun : mapping
        What it carries in such a form already.
    own : set of str
        The names of lengths that are known in a step only.
    read : sequence
        What the step was found to read that may be unbound.

    Raises
    ------
    UnsupportedError
        What a step reads of the step before has no zeros.
    """
    found: dict[tuple[Frame, str], Start] = {}
    nothing = object()
    for key in before.names():
        if isinstance(key[0], Container):
            # What a step takes out of a list or dict is no name that is deleted.
            continue
        old, new = before.held(*key, nothing), after.held(*key, nothing)
        fresh = old is nothing or (key in begun and begun[key].types is not None)
        missed = fresh and key in read
        if new is old:
            continue
        if new is nothing:
            # Deleted: the next step finds it unbound.
            if not fresh and not isinstance(old, MaybeBound | Unset):
                if not may_be_handed_on(old):
                    raise UnsupportedError(f"{key[1]} is deleted in a loop", context.loc, "leave the del out")
                found[key] = Start(None, None, False)
            continue
        if isinstance(new, Unset):
            # Of what was bound before it says that a step may delete it.
            if missed or (not fresh and may_be_unbound(new) and not isinstance(old, Unset)):
                raise _left(context, key[1]) if new.key is None else HandOn(new.key)
            continue
        asked = missed or (isinstance(new, MaybeBound) and (context.loc, key[1]) in context.handed)
        if not (asked if old is nothing else isinstance(old, MaybeBound) or isinstance(new, MaybeBound)):
            continue
        leaves: list[Any] = []
        form = flatten(new.value if isinstance(new, MaybeBound) else new, leaves)
        types = tuple(regions.bare(type_of(context, leaf)) for leaf in leaves)
        strong = any(isinstance(held, MaybeBound) and is_strong(held.given) for held in (old, new))
        found_out = next((t for t in types if not own.isdisjoint(named(shape_of(t)))), None)
        if fresh and (not may_be_handed_on(new) or found_out is not None):
            if missed:
                raise _left(context, key[1], found_out)
            continue
        if not fresh and not may_be_handed_on(old):
            continue
        start = Start(form, types if fresh else None, strong)
        if key not in begun or begun[key][1:] != start[1:]:
            found[key] = start
    return found


def _left(context: Context, name: str, found_out: Type | None = None) -> UnsupportedError:
    """The error for what an earlier step may have left; `found_out` is the type of an array whose length a step finds out."""
    text = f"{name} is read in a step of the loop and assigned behind that, so it is what an earlier step has left"
    help = "assign it before the loop, with a value of the same type"
    if isinstance(found_out, ArrayType) and len(found_out.shape) == 1:
        text = f"{name} may be what an earlier step of the loop has left, whose length only that step knows"
        dtype = "" if found_out.dtype is F64 else f", np.{found_out.dtype.numpy.name}"
        help = f"assign it on both sides of the branch, or before the loop: {name} = np.zeros(0{dtype})"
    return UnsupportedError(text, context.loc, help)


def begin(context: Context, key: tuple[Frame, str], start: Start) -> None:
    """Let a name hold, before a loop, what the loop carries of it."""
    owner, name = key
    if start.types is None:
        old = owner.locals[name]
        given, value = (old.given, old.value) if isinstance(old, MaybeBound) else (True, old)
    else:
        zeros = [_blank(context, t) if isinstance(t, ArrayType) else zero(Value(t)) for t in start.types]
        given, value = False, rebuild(start.form, zeros)
    owner.locals[name] = MaybeBound(in_kind(context, given, start.strong), value)


def end(context: Context, held: Any, model: MaybeBound) -> Any:
    """What a step leaves in a name of which only a run knows whether it is bound."""
    if isinstance(held, Unset):
        return held
    if isinstance(held, MaybeBound):
        given, value = held.given, held.value
    else:
        given, value = True, held
    return MaybeBound(in_kind(context, given, is_strong(model.given)), value)


__all__ = [
    "OneSide", "Start", "begin", "bound_value", "end", "in_kind", "is_strong", "may_be_handed_on", "may_be_unbound",
    "starts",
]  # fmt: skip

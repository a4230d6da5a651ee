"""Names that hold something else in the first step of a loop than in the others.

``total = 0.0`` before a loop that adds sums of arrays is a Python number in the first step alone.  From the start it is a NumPy
scalar here, where that computes the same: what it meets in a step has the scalar's dtype, to which Python's number adapts.
Behind the loop it is required that there was a step.

What is no number then (``previous = None``), or no array (``total = 0``, then ``total += x[i]``), or an array of another type,
cannot be carried: the first step is written before the loop, and it is required that there is one.

An argument that is changed and then bound to a new array (``x += v``, then ``x = x % 1``) is the caller's in the first step and
the function's own in the others: the first step is written before the loop as well, in a branch if there may be none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pytocu.errors import Loc, UnsupportedError
from pytocu.frontend.frames import Unset
from pytocu.frontend.kinds import holds
from pytocu.frontend.operators import binary
from pytocu.frontend.ranges import number_as_dim
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.state import State, flatten
from pytocu.frontend.storage import NUMBERED
from pytocu.frontend.values import Context, as_strong, as_value, const_inst
from pytocu.ir.core import Value
from pytocu.ir.types import ScalarType, Type, WeakType, element


def holds_start(type: Type, start: Any) -> bool:
    """Whether a NumPy scalar of a type is the number with which a name begins, as far as that is known."""
    constant = const_inst(start) if isinstance(start, Value) else None
    number = constant.attr("value") if constant is not None else start
    if not isinstance(number, int) or not isinstance(type, ScalarType) or not type.dtype.is_integer:
        return True
    return holds(type.dtype, number)


_MOST_APART = 3
"""First steps that are written before a loop: what the first makes may come to another name in the next."""


class FirstApart(NamedTuple):
    """The first steps of a loop are written before it: what `Context.handed` holds of such a loop.

    Attributes
    ----------
    place : Loc
        The loop.
    steps : int
        How many.
    message, help : str
        Why, which is said where that does not help.
    needed : bool
        Whether there have to be so many steps: without them names are of other kinds behind the loop.
    memory : bool
        Whether a name is in another memory then, and no more than that.
    """

    place: Loc
    steps: int
    message: str
    help: str
    needed: bool
    memory: bool = False


def first_apart(context: Context, place: Loc) -> FirstApart | None:
    """How many first steps of a loop are written before it, and why."""
    found = (one for one in context.handed if isinstance(one, FirstApart) and one.place == place)
    return max(found, key=lambda one: (one.steps, one.needed), default=None)


def differs(
    context: Context, place: Loc, message: str, help: str, needed: bool = True, memory: bool = False
) -> Unset:
    """What a name holds that is something else after a step than before: where it is read the first step is written apart.

    Not where that is the `memory` that it is in, and loops carry which one that is.
    """
    if context.elements is not None or (memory and context.builder.numbered):
        return Unset(message, help)
    tried = first_apart(context, place)
    if tried is None:
        return Unset(message, help, FirstApart(place, 1, message, help, needed, memory))
    more = tried._replace(steps=tried.steps + 1, needed=tried.needed or needed) if tried.steps < _MOST_APART else None
    return Unset(tried.message, tried.help, more)


def same_without(context: Context, place: Loc, name: str) -> FirstApart | str | None:
    """What makes known that a name is not the array from before a loop, which it is where the loop has no step."""
    if context.builder.numbered is not False:
        return None if context.builder.numbered else NUMBERED
    tried = first_apart(context, place)
    if tried is not None:
        return None if tried.needed else tried._replace(needed=True)
    text = f"{name} is the array from before the loop, and that or {name} is changed behind it"
    return FirstApart(place, 1, text, f"make a copy before the loop: {name} = {name}.copy()", True, True)


def know_with_step(before: State, needed: FirstApart) -> None:
    """State, behind a branch with a loop that may have no step, that more is known of names where it is known to have one."""
    for owner, name in before.names():
        held = owner.locals.get(name)
        if held is before.value(owner, name):
            continue
        if isinstance(held, Unset) and held.key is None:
            owner.locals[name] = Unset(held.message, held.help, needed, held.types)
        else:
            leaves: list[Any] = []
            flatten(held, leaves)
            if not before.builder.numbered:
                key = NUMBERED if before.builder.numbered is None else needed
                before.builder.known_with((v for v in leaves if isinstance(v, Value)), key)


def require_step(context: Context, apart: FirstApart, stepped: Value | None) -> None:
    """Let the call compare whether a loop has a step that is written before it.

    Raises
    ------
    UnsupportedError
        That depends on data.
    """
    if stepped is None:
        return
    if not isinstance(stepped.type, WeakType):
        raise UnsupportedError(apart.message, context.loc, apart.help)
    steps = number_as_dim(context, context.builder.emit("python_int", (stepped,)))
    assert steps is not None
    few = "without a step" if apart.steps == 1 else f"of fewer than {apart.steps} steps"
    sentence = f"a loop {few} is not compiled where {apart.message}"
    require_equal(context, steps, 1, "UnsupportedError", sentence, help=apart.help)


class Required(NamedTuple):
    """Which kind of number a name holds behind a loop is required and not left to the run: of `Context.handed`."""

    place: Loc
    name: str


class Mark(NamedTuple):
    """Of a number that loops carry and that may be Python's: its rank, and of which kinds it may be."""

    value: Value
    kinds: frozenset[WeakType]


def behind_steps(context: Context, op: str, head: Sequence[Value], going: Value | None, value: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop; see :func:`had_step` for the others."""
    condition = had_step(context, op, head, going)
    if condition is None:
        return value
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where the loop has no step and np.{dtype} where it has one"
    sentence = f"{kinds}: begin with np.{dtype}(...)"
    return _numpys(context, require(context, value, as_strong(context, condition), "UnsupportedError", sentence))


def had_step(context: Context, op: str, head: Sequence[Value], going: Value | None) -> Value | None:
    """Whether a loop had a step, or None where it is known that it had one.

    Parameters
    ----------
    op : str
        ``for_loop`` or ``while_loop``.
    head : sequence of Value
        The range of a ``for_loop``.
    going : Value or None
        Of a ``while_loop``: whether there is a first step.
    """
    if op == "while_loop":
        assert going is not None
        inst = going.inst
        # A flag beside those on data is a NumPy bool.
        has_steps = inst.args[0] if inst is not None and inst.op.name == "convert" else going
    else:
        start, stop, step = head
        known = const_inst(step)
        if known is None:
            span = binary(context, "multiply", binary(context, "subtract", stop, start), step)
            has_steps = binary(context, "greater", span, 0)
        else:
            has_steps = binary(context, "greater" if known.attr("value") < 0 else "less", start, stop)
    condition = as_value(context, has_steps)
    fixed = const_inst(condition)
    return None if fixed is not None and fixed.attr("value") else condition


def once_scalar(context: Context, value: Value, flag: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop, where `flag` says that it is one no more."""
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where no step binds it and np.{dtype} where one does"
    return _numpys(context, require(context, value, flag, "UnsupportedError", f"{kinds}: begin with np.{dtype}(...)"))


def _numpys(context: Context, value: Value) -> Value:
    """A number that was required to be NumPy's, with a note that it is."""
    return context.builder.emit("as_numpy", (value,), {"what": element(value.type).name}, name=value.name)


def still_python(name: str, value: Value) -> Unset:
    """What a name holds behind a loop that may leave it the Python number that it was before."""
    dtype = element(value.type).numpy.name
    text = f"{name} may be a Python number behind the loop, or np.{dtype}, by what the loop's branches do"
    return Unset(text, f"begin with np.{dtype}(...)")


__all__ = [
    "FirstApart", "Mark", "Required", "behind_steps", "differs", "first_apart", "had_step", "holds_start", "know_with_step",
    "once_scalar", "require_step", "same_without", "still_python",
]  # fmt: skip

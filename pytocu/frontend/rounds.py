"""Loops that make lists or arrays longer in steps of which nobody knows how many there are.

Such a loop ends where there is no room for another step, and is written again behind it, with more room: in *rounds*.  On a CPU
there is room for the most at once, since memory that nobody touches takes nothing, and the pass `rooms` takes the second round
away.  A loop in a step of another one has one round.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pytocu.errors import Loc, UnsupportedError
from pytocu.frontend.control import branch, connected
from pytocu.frontend.flags import both, either, negated
from pytocu.frontend.frames import Failing, Flow, Frame, Raised, Unset, flow_of
from pytocu.frontend.operators import binary
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.ranges import Facts, new_name
from pytocu.frontend.state import holder
from pytocu.frontend.values import Context, Masked, as_value, dim_value, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, dim_max, floordiv, product, symbol
from pytocu.ir.types import WEAK_INT

_ROUNDS = (2**10, 2**24)
"""How many members there is room for at first, and when that was too few."""

_IN_STEPS = 2**17
"""How many members there is room for in a step of a loop, at least: see `pytocu.passes.rooms`."""

MOST_IN_STEPS = f"{_ROUNDS[-1]:,} members, or {_IN_STEPS:,} on a GPU"


class Longer(NamedTuple):
    """That steps of a ``while`` make an array longer until something else than lengths ends it; one of `Context.handed`.

    Attributes
    ----------
    place : Loc
        The loop.
    name : str
        The array's.
    axis : int
        Which of its axes.
    """

    place: Loc
    name: str
    axis: int


def room_of_loop(context: Context, axes: int = 1) -> Dim:
    """The room of a loop in a step of another one, which is known only to those who know the target.

    Along each of the `axes` that get longer: all of them together make as many elements as one that does.
    """
    return _of_target(context, "room", _along(_IN_STEPS, axes), _along(_ROUNDS[-1], axes))


def rooms_of_rounds(context: Context, axes: int = 1) -> tuple[DimLike, ...]:
    """How much room there is in the first round of a loop, and how much more in each of the others, likewise."""
    if context.counting:
        return (room_of_loop(context, axes),)
    rooms = [_along(room, axes) for room in _ROUNDS]
    return (_of_target(context, "room", rooms[0], sum(rooms)), *rooms[1:])


def _along(room: int, axes: int) -> int:
    return round(room ** (1 / axes))


def _of_target(context: Context, hint: str, number: int, on_cpu: int) -> Dim:
    """A number that is another one on a CPU; see `pytocu.passes.rooms`."""
    name = new_name(context, hint)
    context.builder.inst("bind", (context.builder.const(number, WEAK_INT),), {"names": (name,), "on_cpu": on_cpu})
    return symbol(name)


def all_hold(context: Context, flags: Iterable[Any]) -> Any:
    """Whether all of several comparisons hold."""
    return functools.reduce(functools.partial(both, context), (f if isinstance(f, Value) else bool(f) for f in flags))


def while_room(frame: Frame, room: Callable[[], Any], asked: Callable[[], Any]) -> Any:
    """The condition of a round: whether there is room for another step, and then what the program asks."""
    left = room()
    return connected(frame, "and", left, asked) if isinstance(left, Value) else asked() if left else False


def in_rounds(
    frame: Frame, rounds: Sequence[DimLike], room: Callable[[], Any], read: Callable[[int], Flow], what: str, help: str
) -> Flow:
    """Read a loop in rounds.

    Parameters
    ----------
    rounds : sequence of DimLike
        Of :func:`rooms_of_rounds`.
    room : callable
        Gives whether there is room for another step, behind a round too.
    read : callable
        Reads the loop, given the number of the round.
    what, help : str
        What is said where the last round has no room.
    """
    context = frame.context
    flow = read(0)
    for number in range(1, len(rounds) + 1):
        full = negated(context, room())
        more = both(context, full, negated(context, either(context, flow.broke, flow.returned)))
        if more is False:
            break
        if number < len(rounds):
            # On a CPU there is room for all in the first one.
            again = dim_value(context, _of_target(context, "again", 1, 0))
            more = context.builder.emit("bitwise_and", (as_value(context, more), binary(context, "not_equal", again, 0)))
            side = functools.partial(_signal, read, number)
            flow = flow_of(branch(frame, as_value(context, more), side, flow.signal))
            continue
        limit = MOST_IN_STEPS if len(rounds) == 1 else f"{_ROUNDS[-1]:,} members"
        text = f"{what} holds more than {limit}"
        error = UnsupportedError(text, context.loc, help)
        failing = Failing("UnsupportedError", text, context.loc, (), (help,))
        refuse_if(context, as_value(context, more), True, Raised(error, failing, stated=False))
    return flow


def _signal(read: Callable[[int], Flow], number: int) -> Any:
    return read(number).signal()


def longer_at(frame: Frame, place: Loc) -> list[tuple[Frame, Longer]]:
    """The arrays that a loop makes longer so, and who holds them."""
    found: list[tuple[Frame, Longer]] = []
    for one in frame.context.handed:
        if isinstance(one, Longer) and one.place == place:
            owner = holder(frame, one.name)
            held = None if owner is None else owner.locals[one.name]
            if owner is not None and isinstance(held, Masked):
                # Its length is known behind this.
                owner.locals[one.name] = held = as_value(frame.context, held)
            if owner is not None and is_array(held):
                found.append((owner, one))
    return sorted(found, key=lambda pair: pair[1][1:])


def arrays_in_rounds(
    frame: Frame,
    arrays: Sequence[tuple[Frame, Longer]],
    test: Callable[[], Any],
    run: Callable[[Callable[[], Any], Callable[[], Facts]], Flow],
) -> Flow:
    """Read a ``while`` that makes arrays longer; `run` reads it with a condition and what that says of lengths."""
    context = frame.context

    def shape(owner: Frame, one: Longer) -> tuple[DimLike, ...]:
        held = owner.locals[one.name]
        if isinstance(held, Unset):
            raise UnsupportedError(held.message, context.loc, held.help)
        return dimensions(held)

    def most(k: int, room: DimLike) -> DimLike:
        start, others = begun[k]
        return start + (room if others == 1 else floordiv(room, dim_max(others, 1)))

    begun: list[tuple[DimLike, DimLike]] = []
    together: list[int] = []
    for owner, one in arrays:
        lengths = shape(owner, one)
        longer = {other.axis for holds, other in arrays if holds is owner and other.name == one.name}
        begun.append((lengths[one.axis], product([n for k, n in enumerate(lengths) if k not in longer])))
        together.append(len(longer))
    rounds = {axes: rooms_of_rounds(context, axes) for axes in dict.fromkeys(together)}
    ends: list[DimLike] = []

    def facts() -> Facts:
        return tuple(end - 1 - shape(*pair)[pair[1].axis] for pair, end in zip(arrays, ends, strict=True))

    def room() -> Any:
        numbers = [(dim_value(context, shape(*pair)[pair[1].axis]), end) for pair, end in zip(arrays, ends, strict=True)]
        return all_hold(context, (binary(context, "less", length, dim_value(context, end)) for length, end in numbers))

    def read(number: int) -> Flow:
        # The first round has room for all on a CPU, where it is the only one.
        rooms = [sum(_along(r, axes) for r in _ROUNDS[: number + 1]) if number else rounds[axes][0] for axes in together]
        ends[:] = itertools.starmap(most, enumerate(rooms))
        return run(lambda: while_room(frame, room, test), facts)

    help = "fill an array of the most that there may be, and count: y[k] = v; k += 1"
    return in_rounds(frame, rounds[together[0]], room, read, arrays[0][1].name, help)


__all__ = [
    "MOST_IN_STEPS",
    "Longer",
    "all_hold",
    "arrays_in_rounds",
    "in_rounds",
    "longer_at",
    "room_of_loop",
    "rooms_of_rounds",
    "while_room",
]

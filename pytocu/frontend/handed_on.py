"""Names that a loop of run time first binds and that are read behind it: what the last step bound goes on.

A function is read without them first.  Where such a name is read, the function is read again, and the loop carries what a step
binds to the name, beginning with zeros that nobody looks at.  Behind the loop the name is bound if there was a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.frontend.frames import Frame, Late, Unset, no_step
from pytocu.frontend.loop_memory import StepRead, made_by
from pytocu.frontend.merging import at_end, in_region
from pytocu.frontend.state import State, flatten, rebuild
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, MaybeBound, is_array
from pytocu.ir.core import Value, named
from pytocu.ir.types import ArrayType, shape_of
from pytocu.record import Mutable


class Handed(Mutable):
    """A name that a step binds first and that is read behind the loop.

    Attributes
    ----------
    form, leaves : form and list
        What it holds at the end of a step; see `pytocu.frontend.state.flatten`.
    made : list of Value
        The leaves as the step's instructions make them.
    held : object
        What it holds behind the loop.
    """

    frame: Frame
    name: str
    form: Any
    leaves: list[Any]
    made: list[Value]
    held: Any = None


def names_handed_on(context: Context, read: StepRead, before: State, after: State, changing: set[str]) -> list[Handed]:
    """The names that the loop at this place was told to hand on."""
    found: list[Handed] = []
    for number, frame in enumerate(after.frames):
        for name, value in after.locals[number].items():
            if (context.loc, name) not in context.handed or name in before.locals[number]:
                continue
            if isinstance(value, Unset) and value.key is not None:
                raise HandOn(value.key)
            if isinstance(value, MaybeBound):
                # What one step may have left and another not is carried from the start, or not at all.
                continue
            if isinstance(value, Late):
                with at_end(context, read.insts, after):
                    value = value.read(context, no_step(name))
            leaves: list[Any] = []
            form = flatten(value, leaves)
            if leaves:
                made = [in_region(context, read.insts, after, v) for v in leaves]
                if all(changing.isdisjoint(named(shape_of(v.type))) for v in made if isinstance(v.type, ArrayType)):
                    found.append(Handed(frame, name, form, leaves, made))
    return found


def hand_on(
    context: Context,
    read: StepRead,
    handed: Sequence[Handed],
    results: list[Value],
    stepped: Value | None,
    bound: list[tuple[Value, Sequence[Any], set[Value]]],
    memories: dict[tuple[Frame, str], list[set[Value]]],
) -> None:
    """What names hold behind the loop, which is required to have had a step, and which memories they may be in."""
    builder = context.builder
    own, place = made_by(read), 0
    of_params: dict[Value, set[Value]] = {}
    for name, sets in memories.items():
        of_params.update(zip(read.params[place : place + len(sets)], memories[name], strict=True))
        place += len(sets)
    ends = [(ways[-1], result) for result, ways, _ in bound]
    for one in handed:
        values, results[:] = results[: len(one.made)], results[len(one.made) :]
        for leaf, value in zip(one.leaves, values, strict=True):
            value.name = one.name
            if is_array(leaf):
                shared = {r for end, r in ends if is_array(end) and not builder.apart(leaf, end)}
                shared |= {m for k in builder.memories(leaf) for m in of_params.get(k, {k} - own)}
                bound.append((value, (leaf,), shared))
                ends.append((leaf, value))
        held = rebuild(one.form, values)
        one.held = held if stepped is None else MaybeBound(stepped, held)


def holds_values(value: Any) -> bool:
    """Whether what a name holds is numbers and arrays, or what an inner loop hands on of them."""
    leaves: list[Any] = []
    flatten(value, leaves)
    return bool(leaves) or isinstance(value, Late) or (isinstance(value, Unset) and value.key is not None)


__all__ = ["Handed", "hand_on", "holds_values", "names_handed_on"]

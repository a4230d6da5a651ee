"""Names that a loop of run time first binds and that are read behind it: what the last step bound goes on.

A function is read without them first.  Where such a name is read, the function is read again, and the loop carries what a step
binds to the name, beginning with zeros that nobody looks at.  Behind the loop it is required that there was a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Frame, Late, Unset, no_step
from pytocu.frontend.loop_memory import StepRead, made_by
from pytocu.frontend.merging import in_region
from pytocu.frontend.numbers import item
from pytocu.frontend.ranges import number_as_dim
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.state import State, flatten, rebuild
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, as_strong, is_array
from pytocu.ir.core import Value, named
from pytocu.ir.types import ArrayType, WeakType, shape_of
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
            if isinstance(value, Late):
                with context.builder.behind(read.insts):
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
    weak_test = stepped is None or isinstance(stepped.type, WeakType)
    for one in handed:
        given, results[:] = results[: len(one.made)], results[len(one.made) :]
        values: list[Value] = []
        for leaf, result in zip(one.leaves, given, strict=True):
            value = result
            if stepped is not None and not weak_test and context.elements is None and not isinstance(result.type, WeakType):
                # Where it is read cannot be seen from here, so Python may not have raised its error.
                value = require(context, result, stepped, "UnsupportedError", no_step(one.name))
                value.name = one.name
            values.append(value)
            if is_array(leaf):
                shared = {r for end, r in ends if is_array(end) and not builder.apart(leaf, end)}
                shared |= {m for k in builder.memories(leaf) for m in of_params.get(k, {k} - own)}
                bound.append((value, (leaf,), shared))
                ends.append((leaf, value))
        one.held = rebuild(one.form, list(values))
        late = weak_test or context.elements is not None or any(isinstance(v.type, WeakType) for v in values)
        if stepped is not None and late:
            one.held = Late(partial(_after_a_step, one.name, one.form, values, stepped))


def _after_a_step(name: str, form: Any, values: list[Value], stepped: Value, context: Context, said: str) -> Any:
    """The value of the last step, where a name is read: it is required that there was a step."""
    error = "UnsupportedError" if said else "UnboundLocalError"
    sentence = said or f"cannot access local variable '{name}' where it is not associated with a value"
    if context.elements is not None:
        made: list[Value] = []
        for value in values:
            found = require(context, as_strong(context, value), as_strong(context, stepped), error, sentence)
            made.append(item(context, found) if isinstance(value.type, WeakType) else found)
        return rebuild(form, made)
    if not isinstance(stepped.type, WeakType):
        raise UnsupportedError(
            f"{name} is a Python number that a loop binds, and whether the loop has a step depends on data",
            context.loc,
            "assign it before the loop, with a value of the same type",
        )
    steps = number_as_dim(context, context.builder.emit("python_int", (stepped,)))
    assert steps is not None
    require_equal(context, steps, 1, error, sentence)
    return rebuild(form, list(values))


def holds_values(value: Any) -> bool:
    """Whether what a name holds is numbers and arrays, or what an inner loop hands on of them."""
    leaves: list[Any] = []
    flatten(value, leaves)
    return bool(leaves) or isinstance(value, Late) or (isinstance(value, Unset) and value.key is not None)


__all__ = ["Handed", "hand_on", "holds_values", "names_handed_on"]

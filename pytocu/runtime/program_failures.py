"""What a program raises, at the user's line: the sentences about lengths, indices and data that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import (
    CompileError,
    IndexingError,
    Loc,
    ShapeError,
    UnsupportedError,
    failure,
    located,
    refuse_repeating,
    tell,
)
from pytocu.ir.dims import ASSIGNED, DimLike, assignment_sentence, empty_sentence, first_outside, format_shape, output_sentence
from pytocu.runtime import arrays
from pytocu.runtime.failures import found
from pytocu.runtime.plan import Plan

_operand_notes = Deferred("pytocu.operands", "operand_notes")
_output_notes = Deferred("pytocu.operands", "output_notes")
_array_notes = Deferred("pytocu.operands", "array_notes")
_give_warning = Deferred("pytocu.ir.python_functions", "give_warning")
_assignment_notes = Deferred("pytocu.operands", "assignment_notes")


class Failures:
    """Raises for the steps of a plan, which are named by their positions."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.needs = plan.failures()

    def globals(self) -> dict[str, Any]:
        """What the text of a program names."""
        names = ("fail_broadcast", "fail_assign", "fail_index", "fail_squeeze", "fail_empty", "check_output", "raise_found")
        return {name: getattr(self, name) for name in names}

    def error(self, position: int) -> Callable[[BaseException], None]:
        """What raises an exception at a step's line."""
        loc = self.loc(position)

        def fail(error: BaseException) -> None:
            raise located(error, loc) from None

        return fail

    def conversion(self, position: int) -> Callable[[BaseException], None]:
        """What raises an exception of a Python scalar that has to be a number of a dtype, at a step's line."""
        fail = self.error(position)

        def refuse(error: BaseException) -> None:
            if not isinstance(error, TypeError):
                fail(error)
            # No other number of Python is none of a dtype.
            text = "a negative Python float to a power that is no integer is a complex number"
            raise UnsupportedError(text, self.loc(position), "write (x + 0j) ** p") from None

        return refuse

    def lengths(self, error: str, sentence: str, position: int, kind: str, said: Sequence[Any]) -> Callable[..., None]:
        """What raises an error about lengths that it is given, of which NumPy may repeat one that is 1; `said` is told too."""
        return partial(self._lengths, error, sentence, position, kind, said)

    def warning(self, position: int, path: str, sentence: str, modules: Sequence[str], level: int) -> Callable[..., None]:
        """What gives a warning that shows numbers, which it is given."""

        def give(numbers: Sequence[int]) -> None:
            loc = self.loc(position)
            assert loc is not None
            _give_warning(path, sentence, numbers, loc, modules, level)

        return give

    def steps(self, position: int, index: DimLike, size: DimLike, axis: int, steps: Any) -> Callable[[dict[str, int]], None]:
        """What raises that an index is outside of an axis in a step of loops, if it is in any, given the lengths."""

        def fail(sizes: dict[str, int]) -> None:
            outside = first_outside(index, size, steps, sizes)
            if outside is not None:
                self.fail_index(position, *outside, axis)

        return fail

    def too_long(self, position: int) -> Callable[[int], None]:
        """What raises that a length, which it is given, is too large."""
        def fail(length: int) -> None:
            raise CompileError(f"the result would have {length} elements", self.loc(position), "leave out the large numbers")

        return fail

    def fail_broadcast(self, position: int, shapes: Sequence[tuple[int, ...]]) -> None:
        """Raise that shapes do not go together."""
        refuse_repeating(shapes, self.loc(position))
        listed = " ".join(format_shape(s) for s in shapes)
        loc = self.loc(position)
        notes = _operand_notes(loc, [f"shape {format_shape(s)}" for s in shapes]) if loc is not None else ()
        raise ShapeError(f"operands could not be broadcast together with shapes {listed} ", loc, None, notes)

    def fail_assign(self, position: int, given: tuple[int, ...], wanted: tuple[int, ...], kind: str) -> None:
        """Raise that a shape is not the target's."""
        if kind in ASSIGNED:
            refuse_repeating([given], self.loc(position), wanted)
        loc = self.loc(position)
        if kind != "output":
            shapes = [f"shape {format_shape(s)}" for s in (wanted, given)]
            notes = _assignment_notes(loc, *shapes) if loc is not None and kind == "assign" else ()
            raise ShapeError(assignment_sentence(given, wanted, ASSIGNED[kind]), loc, None, notes)
        notes = _output_notes(loc, f"shape {format_shape(given)}") if loc is not None else ()
        raise ShapeError(output_sentence(given, wanted), loc, None, notes)

    def fail_index(self, position: int, index: int, size: int, axis: int) -> None:
        """Raise that an index is none of the axis."""
        raise IndexingError(f"index {index} is out of bounds for axis {axis} with size {size}", self.loc(position))

    def fail_squeeze(self, position: int) -> None:
        """Raise that an axis that is taken out has another length than 1."""
        message = "cannot select an axis to squeeze out which has size not equal to one"
        raise ShapeError(message, self.loc(position))

    def _lengths(
        self,
        error: str,
        sentence: str,
        position: int,
        kind: str,
        said: Sequence[Any],
        dims: Sequence[int],
        *shapes: tuple[int, ...],
    ) -> None:
        if kind == "fits":
            refuse_repeating([(dims[0],)], self.loc(position), (dims[1],))
        if kind == "meets":
            refuse_repeating([(dims[0],), (dims[1],)], self.loc(position))
        found = failure(error, sentence, dims, self.loc(position))
        if found.loc is not None and shapes:
            found.notes = _array_notes(found.loc, [f"shape {format_shape(s)}" for s in shapes])
        raise tell(found, said)

    def fail_empty(self, position: int, name: str) -> None:
        """Raise that a reduction has nothing to begin with."""
        raise ShapeError(empty_sentence(name), self.loc(position))

    def check_output(self, info: arrays.ArrayInfo, what: str, position: int, caught: bool) -> None:
        """Raise where an array may not be written."""
        try:
            arrays.check_output(info, what, caught)
        except CompileError as error:
            raise type(error)(error.message, self.loc(position), error.help) from None

    def raise_found(self, words: Any, number: int) -> None:
        """Raise what a kernel has noted."""
        raise found(words, self.needs[number])

    def loc(self, position: int) -> Loc | None:
        """The user's line."""
        return self.plan.locs.get(position)

"""What the operands of an expression are, told where the expression is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Note, UnsupportedError
from pytocu.frontend.frames import Failing, Frame, Raised
from pytocu.frontend.values import Context
from pytocu.ir.core import Inst, Value
from pytocu.ir.types import BOOL, WEAK_INT, ScalarType, element, type_text
from pytocu.operands import origin

_begun = Deferred("pytocu.frontend.marks", "begun_in_front")
_refuse_if = Deferred("pytocu.frontend.raising", "refuse_if")
_follow = Deferred("pytocu.frontend.kinds", "follow")


def note_operands(frame: Frame, error: CompileError, operands: Iterable[tuple[ast.expr, Any]]) -> None:
    """Let an error about the expression that is being read say of each array in it what it is and where it comes from.

    Parameters
    ----------
    frame : Frame
    error : CompileError
        One about a part of the expression, one that says it already, and one about what is not compiled stay as they are.
    operands : iterable of (syntax node, value)
    """
    loc = frame.context.loc
    if error.loc != loc or isinstance(error, UnsupportedError):
        return
    operands = list(operands)
    refuse_perhaps_ints(frame.context, [value for _, value in operands])
    if error.notes:
        return
    notes: list[Note] = []
    for node, value in operands:
        parts = [(node, value)]
        if isinstance(node, ast.List | ast.Tuple) and isinstance(value, list | tuple) and len(node.elts) == len(value):
            parts = list(zip(node.elts, value, strict=True))
        for part, held in parts:
            place = frame.loc(part)
            if isinstance(held, Value) and place.line == loc.line and place.end_column > place.column:
                name = part.id if isinstance(part, ast.Name) else ""
                notes.append(Note(place, f"{type_text(held.type)}{origin(place, name)}"))
    error.notes = tuple(notes)


@contextmanager
def with_numbers(context: Context, *operands: Any) -> Iterator[None]:
    """Read what is done with numbers where the program stands; see :func:`refuse_perhaps_ints`."""
    try:
        yield
    except (CompileError, Raised) as found:
        error, stated = (found.error, found.stated) if isinstance(found, Raised) else (found, False)
        if error.loc == context.loc and not stated and not isinstance(error, UnsupportedError):
            refuse_perhaps_ints(context, operands)
        raise


def refuse_perhaps_ints(context: Context, operands: Iterable[Any]) -> None:
    """Refuse what NumPy or Python refuses for a float which on another way is an int of Python's.

    Raises
    ------
    UnsupportedError
        One of the operands, or of what is in them, is such a number.
    """
    for value in _numbers(operands):
        dtype = element(value.type)
        if dtype.is_integer or dtype is BOOL:
            continue
        name, type = value.name or "a number", f"np.{dtype.numpy.name}"
        help = f"make it an int on each way: int({value.name or '...'})"
        if (needed := required(value)) is not None:
            raise UnsupportedError(needed.attr("sentence"), context.loc, f"or {help}")
        if _may_be_int(context, value):
            text = f"{name} is a Python int on one way and {type} on another, and only with that is it an error"
            raise UnsupportedError(text, context.loc, help)


def required(value: Value) -> Inst | None:
    """What refuses the runs in which a number is Python's that a loop leaves, or None."""
    inst = value.inst
    while inst is not None and inst.op.name == "as_numpy":
        inst = inst.args[0].inst
    return inst if inst is not None and inst.op.name == "require" and inst.attr("error") == "UnsupportedError" else None


def refuse_pythons(context: Context, value: Any) -> None:
    """Refuse the runs in which a loop leaves a number Python's where only its kind is asked for, which requires nothing."""
    needed = required(value) if isinstance(value, Value) else None
    if needed is None or context.elements is not None:
        return
    sentence = needed.attr("sentence")
    failing = Failing("UnsupportedError", sentence, context.loc)
    _refuse_if(context, needed.args[1], False, Raised(UnsupportedError(sentence, context.loc), failing, stated=False))


def _numbers(values: Iterable[Any]) -> Iterator[Value]:
    for value in values:
        if isinstance(value, Value):
            if isinstance(value.type, ScalarType):
                yield value
        elif isinstance(value, slice):
            yield from _numbers((value.start, value.stop, value.step))
        elif type(value) in (tuple, list):
            yield from _numbers(value)
        elif type(value) is dict:
            yield from _numbers(value.values())


def _may_be_int(context: Context, number: Value) -> bool:
    """Whether a NumPy scalar stands for a Python int on some way, or is computed of such a one."""
    lost, found = _follow(_begun(context), [*context.builder.in_front()], {}, fits=set())
    unlike = {*lost.values()}
    left, seen = [number], set[Value]()
    while left:
        value = left.pop()
        if value in found and WEAK_INT in found[value].kinds:
            return True
        inst = value.inst
        if inst is not None and value not in seen and (inst in unlike or inst.op.kind == "elementwise"):
            left.extend(inst.args)
        seen.add(value)
    return False

"""Exceptions of the user's function: raised while it is read, or in a vectorized function required not to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, builtin_name, class_name, failure, own_name, raised, told
from pytocu.frontend.compaction import read_length
from pytocu.frontend.frames import Failing, Flow, Raised, Returned, Shown, flow_of, with_marks
from pytocu.frontend.operators import elementwise
from pytocu.frontend.ranges import bound_count, names_given, new_name, number_as_dim
from pytocu.frontend.requirements import of_arguments
from pytocu.frontend.values import Context, cast
from pytocu.ir.core import Block, Inst, Value, named, walk
from pytocu.ir.dims import DimLike, in_fields
from pytocu.ir.python_functions import class_at, class_path
from pytocu.ir.regions import RAISES, raises
from pytocu.ir.types import I64, U8, U16, U32, U64, WeakType, element, scalar

_with_all = Deferred("pytocu.frontend.reading_on", "with_all")
_refuse_by_data = Deferred("pytocu.frontend.trying", "refuse_by_data")
_catching = Deferred("pytocu.frontend.trying", "catching")

_BITS = {1: U8, 2: U16, 4: U32, 8: U64}
"""Unsigned integers of so many bytes."""


def raised_here(context: Context, error: Exception, shown: Sequence[Shown] = ()) -> Raised:
    """An exception that the program raises where it stands.

    Parameters
    ----------
    shown : sequence of Shown
        The values of run time whose marks are in its text.
    """
    name = class_name(type(error))
    found = raised(error, context.loc)
    found.message = with_marks(found.message, lambda number: _types_of(shown[number]))
    failing = None if name is None else Failing(own_name(name), _plain(str(error)), context.loc, tuple(shown))
    return Raised(found, failing, made=None if shown else error)


def failing(context: Context, found: Raised) -> Returned:
    """Raise an exception; in a vectorized function whether it is raised may depend on the data.

    Raises
    ------
    Raised
        The exception, if it is raised at all.
    UnsupportedError
        Of a class of which a kernel cannot make objects.
    """
    if context.elements is None or (context.tries and _catching(context, found.error, found.place) is not None):
        raise found
    failing = found.failing
    if failing is None:
        raise UnsupportedError(
            f"a vectorized function raises {type(found.error).__name__}, which is not one of Python's own exceptions",
            context.loc,
            "raise ValueError",
        )
    # Elements raise in no order, so the text says of which types their values are.
    told = with_marks(failing.sentence, lambda number: _types_of(failing.shown[number]))
    return Returned(Failing(failing.error, told, failing.loc))


def _types_of(shown: Shown) -> str:
    return f"<{', '.join(str(value.type) for value in shown.values) or 'run-time values'}>"


def _plain(text: str) -> str:
    """A text as a sentence that has no numbers."""
    return text.replace("{", "{{").replace("}", "}}")


def reached(context: Context, run: Callable[[], Any], steps: bool = False) -> tuple[Flow, Raised | None]:
    """Read a piece of the program that a run may not come to: how it ends, or what a run that comes to it raises.

    What NumPy or Python refuses there is raised where it stands, as by a ``raise`` statement: nothing behind it is read.

    Parameters
    ----------
    run : callable
        Gives a signal.
    steps : bool
        The piece is a loop, which notes itself what its steps raise.

    Raises
    ------
    CompileError
        What pytocu does not do; and what is raised only by types that names have behind a step of a loop around it, since
        there may be no such step.
    """
    try:
        return flow_of(run()), None
    except Raised as found:
        if context.tries and not steps:
            _refuse_by_data(context, found)
        return Flow(), found
    except CompileError as error:
        if context.tries and not steps and (raises := _raised_by(error)) is not None:
            _refuse_by_data(context, raises)
        if not steps:
            note_raised(context, error)
        found = _noted(context, error)
        if found is None or (error.loc, error.message) not in context.met:
            raise
        return Flow(), found


def note_raised(context: Context, error: CompileError) -> None:
    """Note what a statement raises, in the first step of the loops around it."""
    if not context.later:
        context.met.add((error.loc, error.message))


def is_raised(error: CompileError) -> bool:
    """Whether an error is one that a run raises which comes to its place; others are pytocu's own."""
    return _raised_by(error) is not None


def as_raised(found: CompileError | Raised) -> Raised:
    """What a statement raises that NumPy or Python refuses, as a ``raise`` statement would."""
    made = found if isinstance(found, Raised) else _raised_by(found)
    assert made is not None
    return made


def _raised_by(error: CompileError) -> Raised | None:
    """What a statement raises that NumPy or Python refuses; None for what is pytocu's own to refuse."""
    name = builtin_name(error)
    if name in (None, "UnsupportedError") or error.loc is None:
        return None
    sentence, lengths = in_fields(error, 2) or (_plain(error.message), ())
    return Raised(error, Failing(name, sentence, error.loc, (), told(error), lengths), stated=False)


def _noted(context: Context, error: CompileError) -> Raised | None:
    """As :func:`_raised_by`; what it keeps from being read is known when the function is read again."""
    found = _raised_by(error)
    if found is not None:
        context.refused.append(error)
        if others := context.others.get((error.loc, error.message)):
            error.others = others
            assert found.failing is not None
            found.failing.parts = told(error)
    return found


def refuse(context: Context, found: Raised) -> None:
    """Let the program raise an exception where it stands, which it may not come to.

    Raises
    ------
    UnsupportedError
        It is of a class of which pytocu cannot make objects.
    """
    failing = _failing_of(found)
    with context.builder.at(failing.loc):
        sentence, numbers = _in_numbers(context, failing)
        # Lengths that never are equal.
        said = {"kind": "equal", "dims": (1, 0, *numbers), "shapes": (failing.error, sentence, *failing.parts)}
        context.builder.emit("check", (), said)


def refuse_if(context: Context, test: Value, wanted: bool, found: Raised) -> None:
    """Let the host look at a truth value before it goes on: where it is `wanted`, the program raises the exception.

    Raises
    ------
    UnsupportedError
        It is of a class of which pytocu cannot make objects.
    """
    failing = _failing_of(found)
    with context.builder.at(failing.loc):
        if isinstance(test.type, WeakType):
            number = bound_count(context, context.builder.emit("python_int", (test,)), new_name(context, RAISES))
        else:
            number = read_length(context, cast(context, test, I64), 1, RAISES)
        sentence, numbers = _in_numbers(context, failing)
        said = {"kind": "equal", "dims": (number, 0 if wanted else 1, *numbers)}
        context.builder.emit("check", (), {**said, "shapes": (failing.error, sentence, *failing.parts)})


def behind_others(context: Context, error: CompileError | Raised) -> Raised | None:
    """What ends a program that raises for certain where the run chooses what: behind places where it may have raised something
    else, or been refused since a dtype is another one, or with numbers of run time in the text; None elsewhere.

    The exception is written down here, so that the run chooses.
    """
    found = error if isinstance(error, Raised) else _noted(context, error)
    if context.elements is not None or found is None or found.failing is None:
        return None
    shown = found.failing.shown and not any(one.refused for one in found.failing.shown)
    lengths = (d for shape in found.error.lengths[1] for d in shape) if found.error.lengths else ()
    counted = any(not of_arguments(context, length) for length in lengths)
    chosen = shown or counted or context.doubted or any(map(_is_said, walk(Block((), tuple(context.builder.insts)))))
    if not chosen:
        return None
    refuse(context, found)
    return Raised(found.error, found.failing, found.stated, written=True)


def warned(context: Context, kind: type[Warning], text: str, shown: Sequence[Shown], level: int) -> None:
    """Let the program give a warning where it stands.

    Raises
    ------
    UnsupportedError
        It is given for elements, or the class is not found again by its name.
    """
    if context.elements is not None:
        raise UnsupportedError("warnings.warn in a vectorized function is not compiled", context.loc, "warn around the call")
    path = class_path(kind)
    if class_at(path) is not kind:
        text = f"the class {kind.__name__} of a warning is not found by its name in its module"
        raise UnsupportedError(text, context.loc, "define it outside of functions")
    sentence, numbers = _in_numbers(context, Failing("", _plain(text), context.loc, tuple(shown)))
    functions = [getattr(f, "frame", None) or f for f in reversed(context.active)]
    modules = tuple([getattr(f, "function", f).__module__ or "" for f in functions])
    # Each is a warning of its own, though others may say the same.
    said = (path, sentence, modules, level, context.name("warning"))
    context.builder.emit("check", (), {"kind": "warn", "dims": (0, 0, *numbers), "shapes": said})


def _is_said(inst: Inst) -> bool:
    """Whether an instruction raises an exception of the program, or of Python's numbers, or gives a warning."""
    return is_refusal(inst) or raises(inst) or (inst.op.name == "check" and inst.attr("kind") == "warn")


def is_refusal(inst: Inst) -> bool:
    """Whether an instruction is one of :func:`refuse` or :func:`refuse_if`."""
    if inst.op.name != "check" or inst.attr("kind") != "equal":
        return False
    first, second, *_ = inst.attr("dims")
    return (first, second) == (1, 0) or any(name.startswith(RAISES) for name in named((first,)))


def _failing_of(found: Raised) -> Failing:
    if found.failing is None:
        raise UnsupportedError(
            f"{found.error.message!r} is raised by what is known only at run time, and is not one of Python's own exceptions",
            found.error.loc,
            "raise ValueError",
        )
    return found.failing


def shows_data(found: Raised, insts: Sequence[Inst]) -> bool:
    """Whether the text of an exception shows what the host does not know before it reads it, `insts` of a side included."""
    made = {result: inst for inst in insts for result in inst.results}
    reads = {name for inst in insts if inst.op.name == "read_length" for name in names_given(inst)}
    left = [value for shown in (found.failing.shown if found.failing is not None else ()) for value in shown.values]
    while left:
        value = left.pop()
        inst = made.get(value)
        if not isinstance(value.type, WeakType) or (inst is not None and reads & {n for _, a in inst.attrs for n in named(a)}):
            return True
        left.extend(inst.args if inst is not None else ())
    return False


def _in_numbers(context: Context, failing: Failing) -> tuple[str, list[DimLike]]:
    """The sentence of an exception with fields, and the numbers that they are made of; they stand behind two others."""
    if not failing.shown:
        return failing.sentence, list(failing.lengths)
    numbers: list[DimLike] = []
    known: dict[tuple[Value, bool], str] = {}

    def tokens(value: Value, inside: bool) -> str:
        if (value, inside) not in known:
            known[value, inside] = _tokens(context, value, numbers, inside)
        return known[value, inside]

    def field(number: int) -> str:
        shown = failing.shown[number]
        if shown.refused is not None:
            raise shown.refused
        first, *others = shown.form.split("@")
        inside = shown.form.startswith("array")
        form = first + "".join(tokens(value, inside) + rest for value, rest in zip(shown.values, others, strict=True))
        return f"{{{form}{with_marks(shown.how, field)}}}"

    return with_marks(failing.sentence, field), numbers


def _tokens(context: Context, value: Value, numbers: list[DimLike], inside: bool) -> str:
    """How a scalar is made of numbers, which are added to those before, by :mod:`pytocu.sentences`; `inside` of an array."""

    def put(number: DimLike | None) -> str:
        numbers.append(0 if number is None else number)
        return str(len(numbers) + 1)

    def of_float(part: Value) -> list[str]:
        halves = [(half, builder.emit(f"python_{half}", (part,))) for half in ("high", "low")]
        return [put(bound_count(context, half, new_name(context, name))) for name, half in halves]

    builder = context.builder
    if isinstance(value.type, WeakType):
        match value.type.kind:
            case "int":
                return put(number_as_dim(context, value))
            case "bool":
                return f"truth {put(bound_count(context, builder.emit('python_int', (value,)), new_name(context, 'truth')))}"
            case "float":
                return " ".join(["float", *of_float(value)])
        parts = [builder.emit(f"python_{part}", (value,)) for part in ("real", "imag")]
        return " ".join(["complex", *(place for part in parts for place in of_float(part))])
    words = [put(read_length(context, word, most, "word")) for word, most in _words(context, value)]
    return " ".join([*([] if inside else [element(value.type).numpy.name]), *words])


def _words(context: Context, value: Value) -> list[tuple[Value, int]]:
    """The words of 32 bits of a NumPy scalar as int64, the highest first, and the largest number that each may be."""
    dtype = element(value.type)
    if dtype.kind == "c":
        return [word for part in ("real", "imag") for word in _words(context, context.builder.emit(part, (value,)))]
    if dtype.kind == "b":
        return [(cast(context, value, I64), 1)]
    bits = context.builder.emit("view", (value,), {}, (scalar(_BITS[dtype.numpy.itemsize]),))
    if dtype.numpy.itemsize < 8:
        return [(cast(context, bits, I64), 2 ** (8 * dtype.numpy.itemsize) - 1)]
    low = elementwise(context, "bitwise_and", bits, np.uint64(2**32 - 1))
    high = elementwise(context, "right_shift", bits, np.uint64(32))
    return [(cast(context, half, I64), 2**32 - 1) for half in (high, low)]


def always(context: Context, name: str, flow: Any) -> Any:
    """What a vectorized function that never returns a value does, where it is called.

    Raises
    ------
    CompileError
        It raises whatever the data are.
    UnsupportedError
        It raises by data, and nothing that it returns depends on that; or another function calls it, perhaps by data.
    """
    found: Failing = flow.value
    if flow.returned is not True:
        raise UnsupportedError(
            f"{name} raises by data and returns nothing otherwise", context.loc, "return a number, and compute with that"
        )
    if len(context.active) > 1:
        raise UnsupportedError(f"{name} only raises", context.loc, "write the raise statement where it is called")
    for error in context.refused:
        # What a statement does, and not a raise statement: there may be more of that on this way and on the others.
        if (builtin_name(error), error.loc) == (found.error, found.loc):
            raise _with_all(error, context.refused)
    raise failure(found.error, found.sentence, (), found.loc)

"""Source locations and the errors a user sees.

Every error the compiler raises names a place in the user's file and shows the line with
a caret.  The classes also derive from the exception NumPy or Python would have raised, so
``except ValueError`` around a call keeps working when the function is compiled.
"""

from __future__ import annotations

import builtins
import linecache
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pytocu.record import Record


class Loc(Record):
    """A span in a source file.

    Parameters
    ----------
    file : str
        File name as Python's code object states it.
    line, column : int
        First line (from 1) and column (from 1).
    end_column : int
        One past the last column, on the same line; 0 when unknown.
    function : str
        Name of the enclosing function.
    caller : Loc, optional
        Where the function was called, when it was inlined.
    """

    file: str
    line: int
    column: int = 1
    end_column: int = 0
    function: str = ""
    caller: Loc | None = None

    def chain(self) -> Iterator[Loc]:
        """This location, then the call sites it was inlined through."""
        here: Loc | None = self
        while here is not None:
            yield here
            here = here.caller

    def short(self) -> str:
        """``name.py:line:column`` without the directory, so that text is stable."""
        base = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return f"{base}:{self.line}:{self.column}"


UNKNOWN = Loc("<unknown>", 0)


class Note(Record):
    """What an error says about a part of the line, as ``f32[n, 3] from `points`, line 4``."""

    loc: Loc
    text: str


def closest(name: str, known: Iterable[str], cutoff: float = 0.6, capitals: bool = True) -> str:
    """The known name that is most like a name, or an empty string.

    Parameters
    ----------
    cutoff : float
        How like it has to be, from 0 to 1.
    capitals : bool
        Whether capital letters tell names apart that have more differences.

    Examples
    --------
    >>> closest("lenght", ["height", "length"]), closest("cosine", ["csingle", "cos"]), closest("Inf", ["int", "inf"])
    ('length', 'cos', 'inf')
    """
    # Only errors ask, and importing it takes a part of a first call.
    import difflib

    known = list(known)
    if same := [k for k in known if k.lower() == name.lower()]:
        return same[0]
    names = {k if capitals else k.lower(): k for k in reversed(known)}
    name = name if capitals else name.lower()
    close = difflib.get_close_matches(name, list(names), 8, cutoff)

    def likeness(other: str) -> float:
        # A word that is cut short or made longer is meant more often than one of other letters.
        begins = other.startswith(name) or name.startswith(other)
        return difflib.SequenceMatcher(None, other, name).ratio() + 0.15 * begins

    return names[max(close, key=likeness)] if close else ""


def source_excerpt(loc: Loc, notes: Sequence[Note] = ()) -> str:
    """Return the source line of `loc` with a caret line below, and a line for each note; or an empty string."""
    text = linecache.getline(loc.file, loc.line)
    if not text.strip():
        return ""
    line = text.rstrip("\n").expandtabs(1)
    start = max(loc.column - 1, 0)
    end = min(loc.end_column - 1, len(line)) if loc.end_column > loc.column else start + 1
    number = str(loc.line)
    caret = " " * _width(line[:start]) + "^" * max(_width(line[start:end]), 1)
    lines = [f"  {number} | {line}", f"  {' ' * len(number)} | {caret}"]
    for note in notes:
        first, last = note.loc.column - 1, note.loc.end_column - 1
        mark = " " * _width(line[:first]) + "-" * max(_width(line[first:last]), 1)
        lines.append(f"  {' ' * len(number)} | {mark} {note.text}")
    return "\n".join(lines)


def _width(text: str) -> int:
    """Columns of a terminal: East Asian wide characters take two, combining ones none."""
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


_USUAL = (
    ("cannot reshape array", "the lengths have to multiply to as many elements; one of them may be -1, for what is left"),
    ("zero-size array to reduction", "give initial=..., or return before where x.size is 0"),
    ("Singular matrix", "np.linalg.lstsq finds the nearest solution, and np.linalg.pinv(a) @ b gives it too"),
    ("all the input array dimensions", "the other axes have to be equally long: cut or pad, or join along another axis"),
    ("boolean index did not match", "a mask is as long as the axes that it chooses from"),
    ("non-broadcastable output", "in place an array keeps its shape: x = x + y makes a new one"),
    ("could not broadcast input array", "what is assigned has the lengths of the target from the last axis on, or 1"),
    ("ufunc '", "convert the operands with astype to dtypes that it has; of complex numbers take z.real and z.imag"),
    ("matmul: Input operand 1", "the last axis of the left operand is as long as the first of the right one (the last but one "
     "where it has more): see whether one is to be transposed, as y.T"),
)  # fmt: skip
"""What to write where sentences of NumPy begin like this; they say what is wrong alone."""


def usual_help(message: str) -> str | None:
    """What to write where an error says no more than NumPy's sentence.

    Examples
    --------
    >>> usual_help("operands could not be broadcast together with shapes (4,2) (4,) ")
    'lengths are compared from the last axis on: give the one of shape (4,) another axis, as in y[:, np.newaxis]'
    >>> usual_help("operands could not be broadcast together with shapes (3,) (4,) ")
    'lengths are compared from the last axis on, and have to be equal or 1'
    >>> usual_help("index 7 is out of bounds for axis 0 with size 3")
    'its positions are 0 to 2, or -3 to -1'
    """
    if message.startswith("operands could not be broadcast together with shapes"):
        return _broadcast_help(message)
    words = message.split()
    if " is out of bounds for a" in message and words[-1].isdigit() and words[-2] in ("dimension", "size"):
        count, axes = int(words[-1]), words[-2] == "dimension"
        if count > 1:
            return f"its {'axes' if axes else 'positions'} are 0 to {count - 1}, or -{count} to -1"
        if count:
            return f"its only {'axis' if axes else 'position'} is 0"
        return "it has no axes" if axes else "it has no elements"
    return next((help for beginning, help in _USUAL if message.startswith(beginning)), None)


def _broadcast_help(message: str) -> str:
    # Only errors ask.
    import re

    compared = "lengths are compared from the last axis on"
    shapes = [tuple(text.split(",")) for text in re.findall(r"\(([\w ,]*?),?\)", message.partition("with shapes")[2])]
    if len(shapes) == 2:
        small, large = sorted(shapes, key=len)
        if 0 < len(small) < len(large) and small == large[: len(small)]:
            index = ", ".join([*[":"] * len(small), *["np.newaxis"] * (len(large) - len(small))])
            shown = f"({','.join(small)}{',' if len(small) == 1 else ''})"
            return f"{compared}: give the one of shape {shown} another axis, as in y[{index}]"
        if len(small) == len(large) == 2 and small == large[::-1]:
            return f"{compared}: transpose one of them, as y.T"
    return f"{compared}, and have to be equal or 1"


class PytocuError(Exception):
    """Base of every error pytocu raises on purpose."""


class CompileError(PytocuError):
    """A function cannot be compiled, or a call of it cannot be answered.

    Parameters
    ----------
    message : str
        What is wrong; for shape and dtype errors NumPy's own sentence.
    loc : Loc, optional
        Where.
    help : str, optional
        What to write instead.
    notes : sequence of Note
        What the parts of the line are; they stand in the line of `loc`.
    others : sequence of CompileError
        What else is wrong in the function.

    Examples
    --------
    >>> import pytocu
    >>> print(pytocu.CompileError("no such thing", help="write another thing"))
    no such thing
      help: write another thing
    """

    def __init__(
        self,
        message: str,
        loc: Loc | None = None,
        help: str | None = None,
        notes: Sequence[Note] = (),
        others: Sequence[CompileError] = (),
    ):
        Exception.__init__(self, message)
        self.message = message
        self.loc = loc
        self.help = help or usual_help(message)
        self.notes = tuple(notes)
        self.others = tuple(others)
        self.lengths: tuple[str, tuple[Any, ...], tuple[Any, ...]] | None = None
        """Of shapes that do not go together, as :class:`pytocu.ir.dims.Misfit` has them."""
        self.ints: tuple[tuple[str, bool, str, str], ...] = ()
        """Ints of run time among the lengths: the name, whether it is an argument, and the numbers whose difference it is."""
        self.unread: list[Any] = []
        """What the front end has not read because of it, as :class:`pytocu.frontend.reading_on.Unread`."""
        self.own_words: str | None = None
        """The function that is given what is wrong may have words of its own for that; what to write where it has not."""

    def __str__(self) -> str:
        lines = [self.message]
        if self.loc is not None and self.loc.line:
            for depth, loc in enumerate(self.loc.chain()):
                where = f", in {loc.function}" if loc.function else ""
                arrow = "-->" if depth == 0 else "called from"
                lines.append(f"  {arrow} {loc.file}:{loc.line}:{loc.column}{where}")
                excerpt = source_excerpt(loc, self.notes if depth == 0 else ())
                if excerpt:
                    lines.append(excerpt)
        if self.help:
            lines.append(f"  help: {self.help}")
        for other in self.others:
            lines += ["", f"also: {other}"]
        return "\n".join(lines)

    def __reduce__(self):
        return (type(self), (self.message, self.loc, self.help, self.notes, self.others))

    def with_others(self, others: Sequence[CompileError]) -> CompileError:
        """The same error, and more errors of the function, which are said behind it."""
        self.others = (*self.others, *others)
        return self


class UnsupportedError(CompileError, NotImplementedError):
    """Valid Python or NumPy that pytocu does not compile."""


class DTypeError(CompileError, TypeError):
    """A dtype NumPy (or pytocu) has no loop for; NumPy's ``TypeError``."""


class ShapeError(CompileError, ValueError):
    """Shapes that do not fit; NumPy's ``ValueError``."""


class IndexingError(CompileError, IndexError):
    """An index or axis that does not exist; NumPy's ``IndexError``."""


class UndefinedNameError(CompileError, NameError):
    """A name without a value; Python's ``NameError``."""


class MissingAttributeError(CompileError, AttributeError):
    """An attribute that does not exist; Python's ``AttributeError``."""


class RangeError(CompileError, OverflowError):
    """A Python integer that does not fit the dtype; NumPy's ``OverflowError``."""


class DivisionError(CompileError, ZeroDivisionError):
    """Division of Python scalars by zero; Python's ``ZeroDivisionError``."""


class InternalError(PytocuError):
    """A defect of pytocu itself: a pass or a backend broke a rule of the IR.

    Parameters
    ----------
    message : str
    loc : Loc, optional
        Of the instruction that breaks a rule.
    inst : str
        That instruction, which is said where its line is not shown.
    """

    def __init__(self, message: str = "", loc: Loc | None = None, inst: str = ""):
        Exception.__init__(self, message)
        self.loc = loc
        self.inst = inst

    def __str__(self) -> str:
        said = Exception.__str__(self)
        return f"{said}: {self.inst}" if self.inst else said


def failed(step: str, name: str, error: Exception, place: str = "") -> InternalError:
    """The defect behind an exception that a step of the compiler did not mean to raise.

    Parameters
    ----------
    place : str
        What the step was looking at, as :func:`pytocu.ir.places.place_of` says it.

    Examples
    --------
    >>> print(failed("the pass cse", "f", KeyError("x"), "add at f.py:3:5"))
    the pass cse failed on f, looking at add at f.py:3:5: KeyError: 'x'
    """
    at = f", looking at {place}" if place else ""
    return InternalError(f"{step} failed on {name}{at}: {type(error).__name__}: {error}")


class BackendError(PytocuError, RuntimeError):
    """A vendor compiler, the driver or a device refused; the text says which and why."""


class OutOfMemoryError(BackendError, MemoryError):
    """There is no memory left for a result, on the device or in the host; arrays and functions stay usable."""


class DeviceLostError(BackendError):
    """An earlier fault on the GPU took this process's CUDA context with it: only a new process can go on."""


_BY_BUILTIN: tuple[tuple[type[BaseException], type[CompileError]], ...] = (
    (ZeroDivisionError, DivisionError),
    (OverflowError, RangeError),
    (NotImplementedError, UnsupportedError),
    (IndexError, IndexingError),
    (NameError, UndefinedNameError),
    (AttributeError, MissingAttributeError),
    (TypeError, DTypeError),
    (ValueError, ShapeError),
)


_OWN = "own_"
"""Before the name of a class that the program itself raises."""


def own_name(kind: str) -> str:
    """The name that :func:`failure` takes for a class of Python's where the program itself raises it.

    Examples
    --------
    >>> type(failure(own_name("ValueError"), "not positive", (), None)).__name__
    'ValueError'
    """
    return f"{_OWN}{kind}" if any(builtin.__name__ == kind for builtin, _ in _BY_BUILTIN) else kind


def plain_name(kind: str) -> str:
    """The class's own name in such a name."""
    return kind.removeprefix(_OWN)


def failure(kind: str, sentence: str, numbers: Sequence[int], loc: Loc | None) -> CompileError:
    """The exception of something that went wrong with the data.

    Parameters
    ----------
    kind : str
        Python's class of exceptions by name, or that of what is not supported; see :func:`own_name`.
    sentence : str
        With ``{0}`` and so on for the numbers, and fields for values that are made of them (`pytocu.sentences`).  Where
        Python cannot show a value so, that is the exception.

    Examples
    --------
    >>> error = failure("IndexError", "index {0} is out of bounds for axis 0 with size {1}", (7, 5), None)
    >>> isinstance(error, IndexError), error.message
    (True, 'index 7 is out of bounds for axis 0 with size 5')
    """
    from pytocu.sentences import said  # Programs that raise nothing do not read it.

    try:
        text = said(sentence, numbers)
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        return located(error, loc)
    if kind == "UnsupportedError":
        return UnsupportedError(text, loc)
    name = plain_name(kind)
    if not hasattr(builtins, name):
        return _located(_of_numpy(name), text, loc, None)
    found = (located if name == kind else raised)(getattr(builtins, name)(text), loc)
    # A KeyError would show its text in quotes once more.
    found.message = text
    return found


def told(error: CompileError) -> tuple[Any, ...]:
    """The help, the notes and the other errors of an error, as a check of lengths states them behind its sentence; see
    :func:`tell`.  Other errors are those of the same function.
    """
    notes = [(note.text, note.loc.line, note.loc.column, note.loc.end_column) for note in error.notes]
    others: list[tuple[Any, ...]] = []
    for other in error.others:
        loc, kind = other.loc, builtin_name(other)
        if loc is not None and error.loc is not None and kind is not None and loc == error.loc._replace(
            line=loc.line, column=loc.column, end_column=loc.end_column
        ):
            others.append((kind, other.message, (loc.line, loc.column, loc.end_column), *told(other)))
    return (*(() if error.help is None else (error.help,)), *notes, *others)


def tell(error: CompileError, parts: Sequence[Any]) -> CompileError:
    """The error with the help, the notes and the other errors of :func:`told`, which stand in `parts` beside shapes.

    Examples
    --------
    >>> error = tell(CompileError("no such axis", Loc("f.py", 3)), [("f32[n]", 3, 5, 6), (4,), "use another one"])
    >>> error.help, error.notes[0].text, error.notes[0].loc.short()
    ('use another one', 'f32[n]', 'f.py:3:5')
    """
    for part in parts:
        if isinstance(part, str):
            error.help = part
        elif is_note(part) and error.loc is not None:
            if isinstance(part[1], str):
                kind, message, (line, column, end_column), *rest = part
                loc = error.loc._replace(line=line, column=column, end_column=end_column)
                plain = message.replace("{", "{{").replace("}", "}}")
                error.with_others([tell(failure(kind, plain, (), loc), rest)])
                continue
            text, *place = part
            error.notes += (Note(Loc(error.loc.file, *place), text),)
    return error


def is_note(part: Any) -> bool:
    """Whether a part of a check is a note or another error of :func:`told`, and no shape."""
    return isinstance(part, tuple) and bool(part) and isinstance(part[0], str)


def class_name(kind: type[BaseException]) -> str | None:
    """The name that :func:`failure` takes for a class of exceptions: Python's own, and NumPy's public ones; None for others.

    Examples
    --------
    >>> import numpy as np
    >>> class_name(KeyError), class_name(np.exceptions.AxisError), class_name(CompileError)
    ('KeyError', 'AxisError', None)
    """
    name = kind.__name__
    if getattr(builtins, name, None) is kind or (name in _NUMPYS and _of_numpy(name) is kind):
        return name
    return None


def builtin_name(error: CompileError) -> str | None:
    """The name that :func:`failure` takes for the class of an error, or None.

    Examples
    --------
    >>> builtin_name(DTypeError("no loop")), builtin_name(UnsupportedError("not compiled")), builtin_name(CompileError("no"))
    ('TypeError', 'UnsupportedError', None)
    """
    if isinstance(error, UnsupportedError):
        return "UnsupportedError"
    name = next((name for kind in type(error).__mro__ if (name := class_name(kind)) is not None), None)
    return None if name in ("Exception", "BaseException", "object") else name


_NUMPYS = ("AxisError", "DTypePromotionError", "LinAlgError", "TooHardError", "UFuncTypeError")
"""The exceptions that NumPy's functions raise besides Python's own."""


def _of_numpy(name: str) -> type[BaseException]:
    import numpy as np

    if name == "UFuncTypeError":
        return np._core._exceptions.UFuncTypeError  # pyright: ignore[reportAttributeAccessIssue]
    return getattr(np.linalg if name == "LinAlgError" else np.exceptions, name)


def refuse_repeating(shapes: Sequence[tuple[int, ...]], loc: Loc | None, target: tuple[int, ...] | None = None) -> None:
    """Refuse shapes that NumPy would broadcast, to a target if there is one: a length known only at run time happens to be 1.

    Raises
    ------
    UnsupportedError
        They broadcast.

    Examples
    --------
    >>> refuse_repeating([(3,), (4,)], None)
    >>> refuse_repeating([(4,)], None, target=(1,))
    """
    count = max(map(len, shapes if target is None else (*shapes, target)))
    longer = [(*[1] * (count - len(s)), *s) for s in shapes]
    wanted = [next((length for length in lengths if length != 1), 1) for lengths in zip(*longer, strict=True)]
    if target is not None:
        wanted = [*[1] * (count - len(target)), *target]
    if all(length in (1, w) for shape in longer for length, w in zip(shape, wanted, strict=True)):
        listed = " and ".join(map(str, shapes))
        if any(1 in shape for shape in shapes):
            text = f"a length known only at run time is 1, and NumPy would repeat the element: {listed}"
            raise UnsupportedError(text, loc, "pick the element with [0], which has no axis")
        text = f"a length that is known only at run time is 0, and compiled as 1 beside others: {listed}"
        raise UnsupportedError(text, loc, NO_ELEMENTS)


NO_ELEMENTS = "leave arrays without elements to an if: if x.size: ..."
"""What to write where a slice of one element meets no others."""

NOTHING = 2**63 - 1
"""What a word of failures holds while nothing has gone wrong."""


def located(
    error: BaseException, loc: Loc | None, help: str | None = None, notes: Sequence[Note] = ()
) -> CompileError:
    """Give a Python or NumPy exception the user's line, keeping its type and sentence."""
    if isinstance(error, CompileError):
        return error
    text = str(error) or type(error).__name__
    for builtin, ours in _BY_BUILTIN:
        # NumPy's private subclasses of TypeError and ValueError say no more than those, but for those of its ufuncs' errors.
        named = any(kind.__name__ in _NUMPYS for kind in type(error).__mro__)
        private = type(error).__module__.startswith("numpy") and not named
        lengths = getattr(error, "lengths", None)
        if type(error) is builtin or (isinstance(error, builtin) and (private or lengths)):
            found = ours(text, loc, help, notes)
            found.lengths = lengths
            return found
    return _located(type(error), text, loc, help, notes)


def raised(error: BaseException, loc: Loc | None, help: str | None = None) -> CompileError:
    """As :func:`located`, for what the user's own code raises: the class has the exception's own name.

    Examples
    --------
    >>> error = raised(KeyError("mode"), None)
    >>> isinstance(error, KeyError), isinstance(error, CompileError), str(error)
    (True, True, "'mode'")
    """
    if isinstance(error, CompileError):
        return error
    return _located(type(error), str(error) or type(error).__name__, loc, help)


def _located(
    kind: type[BaseException],
    message: str,
    loc: Loc | None,
    help: str | None,
    notes: Sequence[Note] = (),
    others: Sequence[CompileError] = (),
) -> CompileError:
    return _located_class(kind)(message, loc, help, notes, others)


@lru_cache(maxsize=256)
def _located_class(kind: type[BaseException]) -> type[CompileError]:
    """A CompileError that ``except kind`` catches too."""
    # Made again by name when unpickled, because the class is in no module.
    reduce = {"__reduce__": lambda self: (_located, (kind, self.message, self.loc, self.help, self.notes, self.others))}
    return type(kind.__name__, (CompileError, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__} | reduce)


def callers_frame() -> int:
    """How many frames above the one that asks the user's program is: for the `stacklevel` of a warning.

    It is the first that is no code of pytocu, in a file or written by it.
    """
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and _is_ours(frame):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_ours(frame: types.FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "pytocu" or frame.f_code.co_filename.startswith(("<pytocu ", "<plan of "))

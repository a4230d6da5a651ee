"""What an expression of the user's function stands for while it is read.

An *abstract value* is an IR :class:`~pytocu.ir.core.Value` (known at run time) or any other
Python object (known now: a literal, a captured number, a module, a tuple of abstract
values).  Numbers that are known stay Python or NumPy objects until they meet an IR value.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, DTypeError, Loc, RangeError, UnsupportedError, raised
from pytocu.frontend.storage import StorageBuilder
from pytocu.guards import Guard, Path, is_opaque, is_plain
from pytocu.ir import promote
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import Dim, DimLike, Fact
from pytocu.ir.types import (
    C128,
    F64,
    I64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    ArrayType,
    DType,
    ScalarType,
    WeakType,
    dtype_of,
    element,
    number_of,
    scalar,
    shape_of,
    type_text,
    weak_type_of,
)
from pytocu.record import Mutable, Record

_T = TypeVar("_T")
Reader = Callable[[Sequence[Any]], Any]

_stored = Deferred("pytocu.ir.stores", "stored")


class Members(list[Any]):
    """The members of a generator expression, ``zip``, ``map`` and the like, which are iterators in Python.

    Parameters
    ----------
    members : iterable
    over : sequence of callables
        What they are made of, each as the members that it has when it is asked.
    again : callable, optional
        Makes the members anew of what that holds then.
    sized : bool
        They are the keys, values or items of a dict, which have a length.
    """

    __pytocu_plain__ = True

    def __init__(
        self,
        members: Iterable[Any],
        over: Sequence[Callable[[], Sequence[Any]]] = (),
        again: Callable[[], list[Any]] | None = None,
        sized: bool = False,
    ):
        super().__init__(members)
        self.sized = sized
        self._over, self._again = over, again
        self._seen = [list(part()) for part in over]

    @property
    def goes_on(self) -> bool:
        """Whether it is asked later what they are made of."""
        return bool(self._over)

    def now(self, context: Context) -> Members:
        """The members that Python's iterator would give now.

        Raises
        ------
        UnsupportedError
            What they are made of was changed, and Python would compute them of that.
        """
        found = [list(part()) for part in self._over]
        pairs = zip(found, self._seen, strict=True)
        if not all(len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True)) for a, b in pairs):
            if self._again is None:
                raise UnsupportedError(
                    "an iterator computes its members when it is gone over, and what they are computed of was changed before",
                    context.loc,
                    "make a list of it where it is made: [... for ...] or list(...)",
                )
            self[:], self._seen = self._again(), found
        return self


class NeedsBranch(UnsupportedError):
    """What Python may leave out cannot be computed in any case."""


class AsBranch(NamedTuple):
    """What `Context.handed` holds of a conditional expression of which a run computes the side alone that it takes."""

    place: Loc


class SeenTwice(Exception):
    """A list, dict or object may stand in a result in several places, as a run decides: it is to be made before them."""

    def __init__(self, value: Any):
        super().__init__()
        self.value = value


class Hooks(Record):
    """What the modules below call back into: reading another function, calling anything, writing out a list."""

    run_function: Callable[..., Any]
    call: Callable[..., Any]
    compact: Callable[..., Any]
    listed: Callable[..., Any]


class Context:
    """What one run of the front end shares over all inlined functions.

    Attributes
    ----------
    unit_lengths : frozenset of Dim
        Lengths such as ``n - 2`` that are 1 in the call that compiles; NumPy broadcasts them.
    zeros : frozenset of Dim
        Lengths that are 0 in the call that compiles, where positions are looked at although no element is taken.
    guards : list of Guard
        What the code depends on, in order of reading.
    guarded : dict
        Places that have a guard, each with its owner (kept alive so that ids stay unique).
    paths : dict
        By id: objects from outside the function, and how another process finds them.
    inlined : list
        The functions that were read, the first one included.
    origins : dict
        By id: an opaque object and how to find it again at the next call, so that guards on
        its attributes do not pin one object.
    outside : dict
        By id: lists, dicts and sets the function did not make.
    captured_arrays : dict from int to tuple of (numpy.ndarray, str)
        By id: arrays that those hold, and how the user writes them.  Their numbers may be others at the next call.
    active : list
        The functions being read, outermost first.
    frames : list of Frame
        Their frames.
    chosen : dict
        By id: a list, dict or object, and those that may be the same one, as a loop or branch of run time decides.
    ways : dict
        By id: what branches of run time left, and which lists, dicts or objects those are.
    unnamed : list
        What calls and choices of the expressions that are being read have given.
    in_message : list of Shown, or None
        The text of an exception is read, which shows these values of run time, each as its `mark`.
    compacted : list of (Value, Value)
        Masks, and the positions that they choose.
    containers : dict
        By id: lists and dicts whose places a loop or branch of run time may change, each as a frame.
    built : dict
        By id: objects that the function made, or arguments that were put together of their parts.
    held : dict
        By id: tuples, lists, dicts and objects among the arguments, each with what it held at first.
    met_again : dict
        By id: the other ways on which such an object is found.
    forms : dict
        Classes that stand for objects with known attributes; see `pytocu.frontend.state.flatten`.
    placed : dict
        By id: which of the lists, dicts and objects of what the function returns it is, outer ones before inner ones.
    fresh : list
        Those that are made for the caller, each with what decides that a name holds it.
    repeated : set of int
        Those of them that stand there once more.
    given_back : list of Grown
        Lists of arrays that the function returns.
    shared : dict
        By id: lists and dicts that may be one with another, or not, as a run decides.
    positions : dict
        The masks behind results of ``nonzero`` and its like.
    read : list of (Value, DimLike, str)
        Numbers that the host reads, with what they never exceed and their names.
    choosing : bool
        What is read may not be what Python would run, so it must change nothing.
    elements : tuple of lengths, or None
        Scalars are elements of arrays of this shape: a vectorized function is read.
    results_at : int
        How many functions are read, one in the other, where what is returned goes to arrays of results.
    changing : bool
        The body of a loop is read that changes memory.
    given : set of Value
        The arguments that are known at run time.
    numbers : set of str
        The names of lengths, and of ints of run time that positions are made of; see `pytocu.frontend.ranges`.
    most : dict
        What lengths are at most that the host finds out, by name.
    named : dict from (str, str) to int
        Beginnings and ends of such names, each with a number below which all are taken.
    steps : set of str
        Those of them that change while the function runs: of the steps of loops.
    bound : dict
        Ints of run time, each with the names of what it has above and below 0.
    clamped : dict
        Formulas of bounds of slices of axes of some length, each with the name of the position that it means.
    facts, step_facts : tuple of DimLike
        What is known not to be negative where the program stands, by the branches taken and by the loops around it.
    in_steps, in_side : bool
        Whether the program stands in a loop of numbers of run time, and there in a side of a branch.
    implied : dict
        Conditions, each with what is known where it holds, and where it does not.
    told : dict
        Conditions that the branches around where the program stands have asked, each with what they found, and those without
        which it would have raised before.
    parts_of : dict
        Conditions made of others by ``and`` and ``or``: what those are where one holds, and where it does not.
    apart : set of pairs of lengths
        Lengths of arguments that differ, which sides of a branch hand on.
    open, asking : bool
        Whether a number of Python's stands for a NumPy scalar somewhere, and whether NumPy functions note what they are given.
    complexes : set of Value
        Complex numbers of Python's that are computed as NumPy's complex128; beside arrays they adapt as Python's do.
    members : dict of Loc
        By the place of an ``append``: what is asked for where the member may be a Python number.
    read_held : dict
        By its id: an iterator that was read where a list, dict or object holds it.
    read_of : dict of Value to Grown
        The list of both kinds of numbers that a number was read of.
    marks : dict of Value to Mark
        By value that loops carry from a Python number on: what says whether it is NumPy's.
    fits : set of Inst
        What is computed of ints that may be Python's, which int64 has to hold.
    handed : set
        Places of loops, each with a name that is first bound in the loop and read behind it.
    loops : Loops or None
        The loops of the body that is being read, once there was one.
    queues : dict
        By its id: a list that is a ``collections.deque``, and how many members it may hold.
    raising : set of Loc
        The branches of which the second side was found to raise.
    branching : set of Loc
        The conditional expressions whose sides were found to need a branch.
    both_computed : dict of Loc to set of Loc
        By the place of a conditional expression of which both sides are computed: the places of what is computed for that.
    later : bool
        A step of a loop is read that may not be the first: names have types there that they have behind a step.
    met : set of (Loc or None, str)
        The places and texts of errors that statements raise in the first step of the loops around them.
    filling : list of Grown
        The lists that the loops being read fill.
    growing : list of Around
        The loops of run time that are being read.
    counting : list of (str, DimLike, bool) or None
        The numbers of their steps, where these have numbers.
    written_out : int
        How often what is read is written out by the ``for`` loops around it.
    passes : list of int
        Which of the times it is that something is read: the step of each ``while`` that is written out around it, or the member
        of a comprehension, or 0 for a call expression, each with how many functions were called there by now.
    refused : list of CompileError
        What NumPy or Python refuses where a run may not come.
    doubted : bool
        Whether an array is read whose dtype is another one for runs that are refused.
    shortened : set
        The lists whose length a run decides of which members go, or are replaced; with ``ints`` those that get Python's ints.
    likenesses : dict from Value to int
        Numbers that are equal for what is computed alike of the same contents.
    others : dict from (Loc or None, str) to tuple of CompileError
        What else is wrong where these stand, by their places and texts, as it was found when the function was read before.
    catching : (int, list of Value) or None
        Where a clause catches what library calls may raise that stand in so many regions: whether each of them raised nothing.
    tries : list of Trying
        The ``try`` statements that are being read, the outermost first.
    handling : list of (Trying, ast.ExceptHandler, Raised)
        The clauses of them that are being read, and what each caught.
    missed : list of (Frame, str)
        Names that were read where they were not known to be bound, each with the function that it belongs to.
    misses : set of Fact
        What would have to hold of the lengths of the call that asks, in the statements of a ``try``, and does not.
    sizes : dict
        These lengths by name.
    """

    __slots__ = (
        "active", "apart", "asking", "both_computed", "bound", "branching", "builder", "built", "captured_arrays", "catching",
        "changing", "choosing", "chosen", "clamped", "compacted", "complexes", "containers", "counting", "doubted",
        "elements", "facts", "filling", "fits", "forms", "frames", "fresh", "given", "given_back", "growing", "guarded",
        "guards", "handed", "handling", "held", "hooks", "implied", "in_message", "in_side", "in_steps", "inlined",
        "later", "likenesses", "loops", "marks", "members", "met", "met_again", "missed", "misses", "most", "named",
        "numbers", "open", "origins", "others", "outside", "parts_of", "passes", "paths", "placed", "positions", "queues",
        "raising", "read", "read_held", "read_of", "refused", "repeated", "results_at", "shared", "shortened", "sizes",
        "step_facts", "steps", "told", "tries", "unit_lengths", "unnamed", "ways", "written_out", "zeros",
    )  # fmt: skip

    def __init__(self, builder: StorageBuilder, hooks: Hooks, unit_lengths: frozenset[Dim] = frozenset()):
        self.builder, self.hooks, self.unit_lengths = builder, hooks, unit_lengths
        self.guards: list[Guard] = []
        self.handed: frozenset[Any] = frozenset()
        self.zeros: frozenset[Dim] = frozenset()
        self.apart: frozenset[tuple[DimLike, DimLike]] = frozenset()
        self.loops: Any = None
        self.marks: dict[Value, Any] = {}
        self.fits: set[Inst] = set()
        self.members: dict[Loc, Any] = {}
        self.read_held: dict[int, Any] = {}
        self.read_of: dict[Value, Grown] = {}
        self.queues: dict[int, tuple[list[Any], Any]] = {}
        self.raising: set[Loc] = set()
        self.branching: set[Loc] = set()
        self.both_computed: dict[Loc, set[Loc]] = {}
        self.later = False
        self.likenesses: dict[Value, int] = {}
        self.named: dict[tuple[str, str], int] = {}
        self.growing: list[Any] = []
        self.counting: list[tuple[str, DimLike, bool] | None] = []
        self.filling: list[Grown] = []
        self.written_out = 1
        self.passes = [0]
        self.met: set[tuple[Loc | None, str]] = set()
        self.met_again: dict[int, list[Path]] = {}
        self.refused: list[CompileError] = []
        self.doubted = False
        self.tries: list[Any] = []
        self.catching: tuple[int, list[Value]] | None = None
        self.handling: list[Any] = []
        self.missed: list[tuple[Any, str]] = []
        self.misses: frozenset[Fact] = frozenset()
        self.sizes: Mapping[str, int] = {}
        self.others: Mapping[tuple[Loc | None, str], tuple[CompileError, ...]] = {}
        self.guarded: dict[Any, Any] = {}
        self.paths: dict[int, tuple[Any, Path]] = {}
        self.inlined: list[types.FunctionType] = []
        self.origins: dict[int, tuple[Any, Reader]] = {}
        self.outside: dict[int, Any] = {}
        self.captured_arrays: dict[int, tuple[np.ndarray, str]] = {}
        self.active: list[Any] = []
        self.frames: list[Any] = []
        self.chosen: dict[int, tuple[Any, list[Any]]] = {}
        self.unnamed: list[Any] = []
        self.ways: dict[int, Any] = {}
        self.compacted: list[tuple[Value, Value]] = []
        self.containers: dict[int, Any] = {}
        self.built: dict[int, Any] = {}
        self.held: dict[int, Any] = {}
        self.forms: dict[Any, type] = {}
        self.placed: dict[int, int] = {}
        self.repeated: set[int] = set()
        self.fresh: list[tuple[Mapping[Any, bool], Any]] = []
        self.given_back: list[Grown] = []
        self.shared: dict[int, Any] = {}
        self.shortened: set[Any] = set()
        self.positions: dict[tuple[Value, ...], Value] = {}
        self.read: list[tuple[Value, DimLike, str]] = []
        self.in_message: list[Any] | None = None
        self.open = self.asking = False
        self.complexes: set[Value] = set()
        self.choosing = False
        self.elements: tuple[DimLike, ...] | None = None
        self.results_at = 0
        self.changing = False
        self.given: set[Value] = set()
        self.numbers: set[str] = set()
        self.most: dict[str, DimLike] = {}
        self.steps: set[str] = set()
        self.bound: dict[Value, tuple[str, str]] = {}
        self.clamped: dict[tuple[Any, DimLike], str] = {}
        self.facts: tuple[DimLike, ...] = ()
        self.step_facts: tuple[DimLike, ...] = ()
        self.in_steps = self.in_side = False
        self.implied: dict[Value, tuple[tuple[DimLike, ...], tuple[DimLike, ...]]] = {}
        self.told: dict[Value, bool] = {}
        self.parts_of: dict[Value, tuple[tuple[tuple[Value, bool], ...], tuple[tuple[Value, bool], ...]]] = {}

    @property
    def loc(self) -> Loc:
        """The place being read."""
        return self.builder.loc

    def name(self, hint: str, end: str = "") -> str:
        """A name for a number that no other has."""
        number = self.named.get((hint, end), 0)
        # Those before it are taken for good.
        while (made := f"{hint}{number or ''}{end}") in self.numbers:
            number += 1
        self.named[hint, end] = number
        self.numbers.add(made)
        return made

    @contextmanager
    def passing(self, number: int = 0) -> Iterator[None]:
        """Read a call expression, or the step of a ``while`` or member of a comprehension with a number: see `passes`."""
        self.passes += (number, 0)
        try:
            yield
        finally:
            del self.passes[-2:]

    def length(self, dim: DimLike) -> DimLike:
        """A length that a view has: 1 where it is known to be."""
        return 1 if dim in self.unit_lengths else dim


class Masked(Mutable):
    """``array[mask]``, whose elements nobody has asked for one after the other; see `pytocu.frontend.masked`.

    Attributes
    ----------
    array, mask : Value
        Contents that do not change; the mask has the lengths of the first axes of the array.
    elements : Value or None
        The chosen elements, where they were asked for: from then on they are the value.
    """

    __pytocu_plain__ = True

    array: Value
    mask: Value
    elements: Value | None = None


COMPREHENSION = "the comprehension's list"
"""What no name of the program is called."""


def list_text(name: str) -> str:
    """A list as a message says it."""
    return "the list of a comprehension" if name == COMPREHENSION else f"the list {name}"


def _entry(name: str) -> Any:
    """An attribute that is an entry of what a list holds."""
    return property(lambda one: one.held[name], lambda one, value: one.held.__setitem__(name, value))


class Grown:
    """A list whose members a loop of run time makes, as the rows of an array; see `pytocu.frontend.grown`.

    Attributes
    ----------
    name, text : str
        The list as the program and a message call it.
    rows : Value
    type : Type
        Of each member.
    first, each : int, DimLike
        How many members there were before the loop, and how many a step appends.
    start : DimLike
        Where the first member of the first step goes.
    place : DimLike or None
        Where the first member of the step goes that is read; None behind the loop.
    appended : DimLike
        How many were appended in this step.
    counted : DimLike
        How many were in the step that was read last.
    aliases : list of (Value, Value)
        Arrays that were appended in this step and have another name, with what they held.
    begun : list of (Value, Value)
        Arrays that were members before the loop, with what they held.
    roots : set of Value
        The memories of those that were appended.
    shared : bool
        Whether there are such arrays.
    own : bool
        Whether each of these is an array that its step has made, and no other member.
    origin, end : int
        How many handles were made before the loop, and behind it.
    after : Changes
        What memories held behind the loop.
    inner : Held or None
        What the members are, where they are lists or tuples; see `pytocu.frontend.grown_members`.
    mixed, ints : bool
        Whether the members may be Python's numbers or NumPy's of the same dtype, and Python's ints among floats.
    nones : bool
        Whether members may be None.
    named : bool
        Whether a run decides that it has another name, under which it is a copy here: it may not be changed.
    kinds : object
        What is asked for where members are Python's numbers and NumPy's.
    marks : Value or None
        Where the list is returned and members may be either: whether each of them is NumPy's.
    key : object
        What the list is known by when the function is read again.
    queue : Queue or None
        That it is a ``collections.deque``.
    frozen : bool
        It is a member of a list of which members may be one list, so that none may be changed.
    sure : bool
        What is read names no place outside of it.
    arrays : MemberArrays or None
        The memories of its members, where these are arrays and a run decides how many there are.
    """

    __pytocu_plain__ = True
    __slots__ = (
        "after", "aliases", "appended", "arrays", "begun", "counted", "each", "end", "first", "frozen", "inner", "ints", "key",
        "kinds", "marks", "mixed", "name", "named", "nones", "origin", "own", "place", "queue", "roots", "rows", "shared",
        "start", "sure", "text", "type",
    )  # fmt: skip

    def __init__(self, name: str, rows: Value, type: Any, first: int, each: DimLike):
        self.name, self.rows, self.type, self.first, self.each = name, rows, type, first, each
        self.text = list_text(name)
        self.start: DimLike = first
        self.place: DimLike | None = None
        self.appended: DimLike = 0
        self.counted: DimLike = 0
        self.begun: list[tuple[Value, Value]] = []
        self.queue: Any = None
        self.roots: set[Value] = set()
        self.origin = self.end = 0
        self.aliases: list[tuple[Value, Value]] = []
        self.shared = self.frozen = self.mixed = self.ints = self.nones = self.sure = self.named = False
        self.own = True
        self.kinds: Any = None
        self.marks: Any = None
        self.after: Any = None
        self.inner: Any = None
        self.key: Any = None
        self.arrays: Any = None

    def with_rows(self, rows: Value) -> Grown:
        """A list of such members that are the rows of another array."""
        made = Grown(self.name, rows, self.type, 0, 0)
        for name in _OF_MEMBERS:
            setattr(made, name, getattr(self, name))
        return made


_OF_MEMBERS = (
    "after", "arrays", "begun", "end", "inner", "ints", "key", "kinds", "mixed", "named", "nones", "origin", "own", "queue",
    "roots", "shared",
)  # fmt: skip
"""What is known of a list through its members."""


class Counted(Grown):
    """A list whose length a run decides, as rows of an array that are in use; see `pytocu.frontend.counted`.

    Attributes
    ----------
    held : dict
        The array, the row of the first member and how many there are, which branches and loops hand on as entries of a dict.
    at : Loc or None
        The loop that made the array; None for a branch.
    sites : dict
        By the place of an ``append``, the number of the member there and which of the times it is that this is read in a step:
        how many are appended there at most as often as it is written out in a step, and the numbers of the loops around it
        there, None for a ``while``.
    depth : int
        How many loops were being read around the one that made the array.
    written_out : int
        How often what was read there is written out.
    watched : set
        The places of those that may append more in a step than there is room for.
    spare : int
        How many rows are free behind the loop that made the array, for the appends that come next.
    unbounded : bool
        Whether there is room for the most, since nobody knows how many there will be.
    wanted : object
        What is asked for where members are of another type than was known.
    began : int
        How many members there were in the list that became this one.
    floats : int or None
        Whether one of these was of the list's kind, no Python int among floats; None where that is not known.
    pythons : bool
        Whether one of these was Python's number.
    """

    __slots__ = (
        "at", "began", "depth", "floats", "held", "pythons", "sites", "spare", "unbounded", "wanted", "watched",
        "written_out",
    )  # fmt: skip

    def __init__(self, name: str, rows: Value, type: Any, inner: Any, at: Loc | None, depth: int, written_out: int):
        self.held: dict[str, Any] = {}
        super().__init__(name, rows, type, 0, 0)
        self.begin: Any = 0
        self.length: Any = 0
        self.at, self.depth, self.inner = at, depth, inner
        self.written_out = written_out
        self.watched: set[tuple[Loc, int]] = set()
        self.unbounded = self.pythons = False
        self.began = self.spare = 0
        self.floats: int | None = None
        self.wanted: Any = None
        self.sites: dict[tuple[Loc, int, Any], tuple[DimLike, list[tuple[str, DimLike, bool] | None]]] = {}
        # No loop makes it longer by as many members in each step.
        self.place = 0

    rows = _entry("rows")
    begin = _entry("begin")
    length = _entry("length")

    @property
    def marks(self) -> Any:
        return self.held.get("marks")

    @marks.setter
    def marks(self, value: Any) -> None:
        if value is not None:
            self.held["marks"] = value


class GrownMethod:
    """A method of such a list, or of a queue."""

    __pytocu_plain__ = True
    __slots__ = ("grown", "name")

    def __init__(self, grown: Grown | list[Any], name: str):
        self.grown, self.name = grown, name


class Ranks:
    """What is sorted by: a key whose tuples in tuples are as good as one tuple, since those of all members are alike."""

    __pytocu_plain__ = True
    __slots__ = ("key",)

    def __init__(self, key: Any):
        self.key = key


def flattened(value: Any) -> Any:
    """A tuple without tuples in it.

    Examples
    --------
    >>> flattened((1, (2, (3, 4))))
    (1, 2, 3, 4)
    """
    if not any(isinstance(member, tuple) for member in (value if isinstance(value, tuple) else ())):
        return value
    return tuple(one for member in value for one in (flattened(member) if isinstance(member, tuple) else (member,)))


class Perhaps:
    """A value or None, of which only a run knows which it is; see `pytocu.frontend.perhaps`.

    Attributes
    ----------
    given : bool or Value
        Whether there is a value, as Python's bool.
    value : Any
        A number, an array, or a tuple of these.
    """

    __pytocu_plain__ = True
    __slots__ = ("given", "value")

    def __init__(self, given: Any, value: Any):
        self.given, self.value = given, value

    @classmethod
    def _make(cls, members: Sequence[Any]) -> Perhaps:
        return cls(*members)


class MaybeBound:
    """What a name holds of which only a run knows whether it is bound; see `pytocu.frontend.unbound`.

    Attributes
    ----------
    given : bool or Value
        Whether it is bound: Python's bool, or NumPy's.
    value : Any
        A number, an array, or a tuple of these; zeros where it is not.
    """

    __pytocu_plain__ = True
    __slots__ = ("given", "value")

    def __init__(self, given: Any, value: Any):
        self.given, self.value = given, value

    @classmethod
    def _make(cls, members: Sequence[Any]) -> MaybeBound:
        return cls(*members)


def decides(value: Any) -> bool:
    """Whether a condition is a scalar known only at run time."""
    return isinstance(value, Value) and not dimensions(value)


def is_dynamic(value: Any) -> bool:
    """Whether the value is only known at run time."""
    return isinstance(value, Value)


class Steps:
    """What a loop goes over when it is known only at run time: a range, and what each number of it stands for.

    A `part` of a range may have other bounds than Python's, between which the same numbers lie.  Of arrays that have to be
    `steady` a step reads what Python has read in the step before: steps must not change them.
    """

    __pytocu_plain__ = True
    __slots__ = ("item", "part", "plain", "start", "steady", "step", "stop")

    def __init__(
        self,
        start: Any,
        stop: Any,
        step: Any,
        item: Callable[[Any], Any] | None = None,
        part: bool = False,
        steady: Sequence[Value] = (),
    ):
        self.start, self.stop, self.step = start, stop, step
        self.plain, self.part, self.steady = item is None, part, tuple(steady)
        self.item = item or (lambda number: number)


class Generated:
    """The generator that ``sum`` is called with, where it goes over steps of run time: where it stands, and what they are."""

    __pytocu_plain__ = True
    __slots__ = ("frame", "node", "steps")

    def __init__(self, frame: Any, node: ast.GeneratorExp, steps: Steps):
        self.frame, self.node, self.steps = frame, node, steps


def called(name: str) -> Callable[[type[_T]], type[_T]]:
    """Let Python's own sentences call a class as they call what it stands for."""

    def named(kind: type[_T]) -> type[_T]:
        kind.__name__ = name
        return kind

    return named


@called("numpy.flatiter")
class Flat:
    """``x.flat`` of an array."""

    __pytocu_plain__ = True
    __slots__ = ("array",)

    def __init__(self, array: Value):
        self.array = array


def contains_dynamic(value: Any) -> bool:
    """Whether the value, a member of a tuple, list or dict, or a bound of a slice is only known at run time."""
    if isinstance(value, (tuple, list)):
        return any(map(contains_dynamic, value))
    if isinstance(value, slice):
        return any(map(contains_dynamic, (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return any(map(contains_dynamic, value.values()))
    return is_dynamic(value) or isinstance(value, Masked | Steps | Generated | Grown | Perhaps | Flat)


def several(given: Any) -> tuple[Any, ...]:
    """Numbers of axes, lengths or positions, of which NumPy takes one or a sequence.

    Examples
    --------
    >>> several(3), several([3, 4]), several(range(2))
    ((3,), (3, 4), (0, 1))
    """
    return tuple(given) if isinstance(given, (tuple, list, range)) else (given,)


def is_number(value: Any) -> bool:
    """A Python or NumPy scalar known now."""
    return isinstance(value, (bool, int, float, complex, np.generic))


def as_value(context: Context, value: Any) -> Value:
    """An IR value for an operand: constants are written where they are used.

    Raises
    ------
    CompileError
        The object is not a number or an array.
    """
    if isinstance(value, Value):
        return value
    if isinstance(value, Masked):
        if value.elements is None:
            value.elements = context.hooks.compact(context, value)
        assert value.elements is not None
        return value.elements
    weak = weak_type_of(value)
    if weak is not None:
        return context.builder.const(value, weak)
    if isinstance(value, enum.Enum) and isinstance(value, (int, float)):
        # NumPy takes a subclass of int or float for an array of its default dtype: not weak.
        value = np.asarray(value.value)[()]
    if isinstance(value, np.generic):
        dtype = dtype_of(value.dtype)
        if dtype is None:
            raise UnsupportedError(f"a NumPy scalar of dtype {value.dtype} is not supported", context.loc)
        return context.builder.const(value.item(), scalar(dtype))
    if isinstance(value, np.ndarray):
        refuse_captured(context, value)
        refuse_array(context, "")
    if isinstance(value, (tuple, list, range, Steps, Grown, Flat)):
        return context.hooks.listed(context, value)
    raise no_number(context, value)


def no_number(context: Context, value: Any) -> CompileError:
    """The error of what is used as a number or an array."""
    if isinstance(value, Members):
        # To NumPy an iterator, and what a dict has, is one object of Python's.
        what = "a view of a dict" if value.sized else "an iterator"
        return DTypeError(f"{what} is used as a number or an array", context.loc, "make a list of its members: list(...)")
    if isinstance(value, Perhaps):
        text = f"{describe(value)}, is used as a number or an array"
        return UnsupportedError(text, context.loc, "test it before, as with if y is not None:")
    help = "name its attribute that is the number" if is_opaque(value) else None
    error = DTypeError(f"{describe(value)} is used as a number or an array", context.loc, help)
    error.own_words = "pass numbers: there are no arrays of Python objects here"
    return error


def no_int(context: Context, sentence: str) -> CompileError:
    """The error of what is no int, for which the function that is given it may have words of its own."""
    error = raised(TypeError(sentence), context.loc)
    error.own_words = "write an int"
    return error


def refuse_array(context: Context, name: str, kind: str = "") -> NoReturn:
    """An array that is not an argument; it may be held by one of a class that is no dataclass.

    Raises
    ------
    CompileError
        UnsupportedError where the array has no name: known numbers made it.
    """
    if not name:
        text = "an array of numbers known while compiling is used as a value"
        raise UnsupportedError(text, context.loc, "pass it as an argument, or make it of a length: np.full(len(x), 3)")
    if kind:
        text = f"the array {name} is held by an argument of the class {kind}, which is no dataclass or named tuple"
        help = f"make {kind} one: @dataclasses.dataclass and a line for each attribute, as x: np.ndarray; or pass the array"
        raise CompileError(text, context.loc, help)
    raise CompileError(
        f"the array {name} is captured from outside the function",
        context.loc,
        "pass it as an argument; captured numbers, strings, tuples and functions are fine",
    )


def refuse_captured(context: Context, value: Any) -> None:
    """Refuse an array that something captured holds, also inside of tuples, lists and dicts.

    Raises
    ------
    CompileError
    """
    if not context.captured_arrays:
        return
    if isinstance(value, np.ndarray):
        if id(value) in context.captured_arrays:
            refuse_array(context, context.captured_arrays[id(value)][1])
    elif isinstance(value, (tuple, list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            refuse_captured(context, member)


def describe(value: Any) -> str:
    """A few words for a message."""
    match value:
        case None:
            return "None"
        case str():
            return f"the string {value!r}"
        case Value():
            return f"a value of type {value.type if is_weak(value) else type_text(value.type)}"
    # Asking an object of the user for a name may run its code.
    name = (getattr(value, "__qualname__", None) or getattr(value, "__name__", None)) if is_plain(value) else None
    if isinstance(value, Grown):
        return f"{value.text}, which a loop of run time made longer"
    if isinstance(value, Steps):
        return f"{'a range' if value.plain else 'an iterator'} that is known only at run time"
    if isinstance(value, Perhaps):
        return "a value or None, of which only a run knows which it is"
    kind = "function" if hasattr(value, "__pytocu_plain__") else type(value).__name__
    return f"the {kind} {name}" if name else f"an object of type {kind}"


def python_type_name(value: Value) -> str:
    """What Python calls the type of a run-time value."""
    match value.type:
        case WeakType(kind):
            return kind
        case ArrayType():
            return "numpy.ndarray"
        case _:
            return f"numpy.{element(value.type).numpy.name}"


def type_name(value: Any) -> str:
    """What NumPy calls the type of a run-time value or of an object."""
    if isinstance(value, Value):
        return python_type_name(value)
    return class_name(type(value))


def class_name(kind: type) -> str:
    """What Python's own sentences call a class: those that C code defines have the name of their module before theirs."""
    if kind.__module__ == "builtins" or kind.__flags__ & _MADE_AT_RUN_TIME:
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


_MADE_AT_RUN_TIME = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``."""


def with_axes(context: Context, value: Any, name: str) -> None:
    """Python's error where a NumPy function reads an attribute of what may be a Python number or a list.

    Raises
    ------
    AttributeError
        It is one.
    """
    weak = weak_type_of(value) is not None or (isinstance(value, Value) and isinstance(value.type, WeakType))
    if weak or isinstance(value, (list, tuple)):
        raise raised(AttributeError(f"'{type_name(value)}' object has no attribute '{name}'"), context.loc)


def as_strong(context: Context, value: Any, integer: DType | None = None, wrap: bool = False) -> Value:
    """An operand of a NumPy function called with Python scalars only: NumPy's default dtype.

    `integer` is the dtype of a Python int; by default what ``np.asarray`` gives it.  With `wrap` the low bits are taken of one
    that the dtype does not hold and another one of 64 bits does.

    Raises
    ------
    OverflowError
        The dtype does not hold a number that is known now; or no dtype does, and NumPy's array of it is one of Python's
        objects.
    """
    made = as_value(context, value)
    if not isinstance(made.type, WeakType):
        return made
    dtype = integer if integer is not None and made.type == WEAK_INT else strong_dtype(made)
    wrap = wrap and made.type == WEAK_INT and dtype.is_integer
    inst = const_inst(made)
    if inst is None:
        return context.builder.emit("convert", (made,), {"wrap": True} if wrap else {}, (scalar(dtype),))
    try:
        return context.builder.const(number_of(inst.attr("value"), dtype.numpy, wrap).item(), scalar(dtype))
    except OverflowError as error:
        if integer is None:
            text = f"NumPy computes with Python's int {inst.attr('value')} as an object, since no dtype of ints holds it"
            raise RangeError(text, context.loc, "make it a float: 2.0**64 for 2**64") from None
        raise raised(error, context.loc) from None


def all_strong(context: Context, *values: Any, wrap: bool = False) -> tuple[Value, ...]:
    """Several Python scalars together: ints are int64, which `wrap` makes of their low bits, or float64 beside a float."""
    kinds = {v.type if isinstance(v, Value) else weak_type_of(v) for v in values}
    integer = C128 if WEAK_COMPLEX in kinds else F64 if WEAK_FLOAT in kinds else I64
    return tuple(as_strong(context, v, integer, wrap) for v in values)


def strong_dtype(value: Value) -> DType:
    """NumPy's dtype for a value on its own; a large Python int is what ``np.asarray`` says."""
    inst = value.inst
    if value.type == WEAK_INT and inst is not None and inst.op.name == "const":
        return dtype_of(np.asarray(inst.attr("value")).dtype) or I64
    return promote.strong(value.type)


def convert(context: Context, value: Value, dtype: DType) -> Value:
    """A weak scalar as a NumPy scalar of `dtype`."""
    return context.builder.emit("convert", (value,), {}, (scalar(dtype),))


def cast(context: Context, value: Value, dtype: DType) -> Value:
    """``astype`` without a copy of equal dtypes."""
    if value.type == WEAK_COMPLEX and dtype.kind in "iuf":
        value = convert(context, value, C128)
    if isinstance(value.type, WeakType):
        return convert(context, value, dtype)
    if element(value.type) is dtype:
        return value
    type = ArrayType(dtype, value.type.shape) if isinstance(value.type, ArrayType) else scalar(dtype)
    return context.builder.emit("cast", (value,), {}, (type,))


def as_element(context: Context, value: Value, dtype: DType) -> Value:
    """What becomes an element as `cast`, but that signed integers take only those NumPy scalars that fit."""
    if not isinstance(value.type, ScalarType) or dtype.kind != "i" or value.type.dtype.kind == "b":
        return cast(context, value, dtype)
    # NumPy leaves out an imaginary part.
    real = context.builder.emit("real", (value,)) if value.type.dtype.kind == "c" else value
    return _stored(context.builder, real, dtype)


def const_inst(value: Any) -> Inst | None:
    """The constant behind an IR value, or None."""
    if isinstance(value, Value) and value.inst is not None and value.inst.op.name == "const":
        return value.inst
    return None


def as_dim(value: Any) -> DimLike | None:
    """The dimension a Python int or a run-time length stands for, or None."""
    if type(value) is int:
        return value
    if isinstance(value, Value) and value.inst is not None and value.inst.op.name == "dim":
        return value.inst.attr("value")
    return None


def dim_value(context: Context, dim: DimLike) -> Any:
    """A length as the user sees it: a number known now, or a run-time Python int."""
    if isinstance(dim, int):
        return dim
    return context.builder.emit("dim", (), {"value": dim}, (WEAK_INT,))


def is_array(value: Any) -> bool:
    """An IR value that is an array (0-d included)."""
    return isinstance(value, Value) and isinstance(value.type, ArrayType)


def is_numpy_scalar(value: Any) -> bool:
    """An IR value that is a NumPy scalar."""
    return isinstance(value, Value) and isinstance(value.type, ScalarType)


def is_weak(value: Any) -> bool:
    """A Python scalar, known now or at run time."""
    if isinstance(value, Value):
        return isinstance(value.type, WeakType)
    return weak_type_of(value) is not None


def dimensions(value: Value) -> tuple[DimLike, ...]:
    """The shape of an IR value."""
    return shape_of(value.type)

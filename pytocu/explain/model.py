"""What there is to say about a compiled function, as data: renderers make texts, pages and drawings of it.

Numbers of bytes are polynomials of the lengths (:class:`~pytocu.ir.dims.Dim`), and numbers too where all
lengths are known.
"""

from __future__ import annotations

from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import Loc
from pytocu.ir.dims import DimLike
from pytocu.record import Record
from pytocu.runtime.changes import Change

_plain = Deferred("pytocu.explain.words", "plain")
_rich_text = Deferred("pytocu.explain.words", "rich_text")
_html = Deferred("pytocu.explain.words", "html")


class SourceLine(Record):
    """A line of the user's program."""

    file: str
    line: int
    text: str


class Around(Record):
    """A loop or a branch of the host, around a launch.

    Attributes
    ----------
    file : str
    line : int
    text : str
        The line of the program that it is of.
    holds : bool or None
        On which side of a branch the launch is: where the condition holds, or where it does not. None in a loop.
    """

    file: str
    line: int
    text: str
    holds: bool | None = None


class Bytes(Record):
    """An amount of memory.

    Attributes
    ----------
    formula : int or Dim
        Bytes as a polynomial of lengths.
    number : int or None
        The same for the lengths that are known; None where one is not.
    most : bool
        Whether it may be less: elements that are read in several ways, or by their number.
    """

    formula: DimLike
    number: int | None
    most: bool = False


class Access(Record):
    """An array that a kernel reads or writes.

    Attributes
    ----------
    array : str
        The node of the graph (see :class:`Edge`).
    name, type : str
        As the kernel calls it.
    bytes : Bytes
        Of its elements that are read or written, each once.
    source : str
        The node that wrote what is read last; empty where that is not known, and of what is written.
    """

    array: str
    name: str
    type: str
    bytes: Bytes
    source: str = ""


class Taken(Record):
    """What a kernel takes of a GPU: 32-bit registers a thread, bytes a thread beside them, bytes shared, bytes of code."""

    registers: int
    local_bytes: int
    shared_bytes: int
    code_bytes: int


class KernelTime(Record):
    """Launches of a kernel on a GPU, timed with nothing of its operands in the cache.

    Attributes
    ----------
    microseconds : float
        The median.
    share : float or None
        Of the speed of a large copy there; None where the bytes are not known.
    launches : int
        How many were timed.
    """

    microseconds: float
    share: float | None
    launches: int


class Kernel(Record):
    """One launch.

    Attributes
    ----------
    name : str
        In the plan and the code.
    lines : tuple of SourceLine
        What it computes, in order.
    reads, writes : tuple of Access
    bytes : Bytes
        Read and written together.
    schedule : str
        ``pointwise``, ``tiles``, ``rows``, ``columns``.
    how : str
        The schedule in words.
    why_schedule : str
        What decided it.
    why : str
        Why it is a kernel of its own; empty for the only one.
    work : int or Dim
        Iterations that are spread over threads.
    taken : Taken or None
        Of a GPU; None for the CPU and where there is no compiler.
    expected : float or None
        Estimated share of the speed of a copy of as many bytes; None for the CPU.
    limited_by : str
        ``memory``, ``arithmetic``, ``threads`` or ``launch``: what the estimate rests on.
    supposed : str
        The lengths that the estimate supposes where they are not known, as ``n = m = 8192``.
    within : tuple of Around
        The loops and branches of the host that the launch is in, the outermost first.
    measured : KernelTime or None
        None where nothing was run on a GPU.
    code : str
        The earlier kernel whose code it has; empty where it has its own.
    loops : tuple of SourceLine
        The loops in it whose numbers of steps are not known; what is expected is that of one step of each.
    steps : int
        From so many steps on it is limited by arithmetic; 0 where that depends on none.
    """

    name: str
    lines: tuple[SourceLine, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    bytes: Bytes
    schedule: str
    how: str
    why_schedule: str
    why: str
    work: DimLike
    taken: Taken | None = None
    expected: float | None = None
    limited_by: str = ""
    supposed: str = ""
    within: tuple[Around, ...] = ()
    measured: KernelTime | None = None
    code: str = ""
    loops: tuple[SourceLine, ...] = ()
    steps: int = 0


class Edge(Record):
    """Memory that goes from one node of the graph to another.

    Nodes are ``argument NAME``, ``kernel NAME``, ``library NUMBER`` and ``result NUMBER``.
    """

    source: str
    target: str
    name: str
    type: str
    bytes: Bytes


class Refusal(Record):
    """Two kernels that are not one.

    Attributes
    ----------
    first, second : str
        Names of the kernels.
    reason : str
        Why.
    bytes : Bytes
        What one kernel would not have to move: results that only pass from the first to the second, and
        arrays that both read.
    """

    first: str
    second: str
    reason: str
    bytes: Bytes


class Repeated(Record):
    """An expression whose elements are computed more than once, instead of handing them on in memory.

    Several kernels do so, each for itself, or one in each step of a loop around it that does not change them.

    Attributes
    ----------
    expression : str
    part : bool
        Whether it is a part of that expression.
    at : SourceLine
    type : str
        Of all its elements.
    kernels : tuple of str
        Those that compute it, in order of launch.
    operations : int or Dim
        Simple operations of computing it once, without parts that more kernels compute: these stand alone.
    loops : tuple of SourceLine
        The loops in it whose numbers of steps are not known; `operations` have names for them.
    rounds : tuple of tuples of SourceLine
        The loops in each of whose steps it is computed, for each of the kernels.
    time : int or None
        The bytes that memory moves in the time of so many operations; None where a length is not known.
    stored : Bytes
        What would move if the first kernel stored it and the others read it.
    spared : Bytes
        What the others would not read then.
    cheaper : str
        ``again`` where computing it in each takes less time than storing it, ``stored`` where it takes more, and
        ``neither`` where it makes next to no difference.
    steps : int
        From how many steps of those loops on it is ``stored``; 0 where that depends on none.
    before : bool
        Whether it is stored before these loops, and not by the first of the kernels.
    """

    expression: str
    part: bool
    at: SourceLine
    type: str
    kernels: tuple[str, ...]
    operations: DimLike
    loops: tuple[SourceLine, ...]
    rounds: tuple[tuple[SourceLine, ...], ...]
    time: int | None
    stored: Bytes
    spared: Bytes
    cheaper: str
    steps: int = 0
    before: bool = False


class Step(Record):
    """A place where a dtype is handed on: the text there, its dtype, the place, and what it is said of: ``behind the loop``.

    The text is empty where it is what the function returns, and the program has no name for it.
    """

    text: str
    dtype: str
    loc: Loc
    where: str = ""


class Cause(Record):
    """Where a dtype comes from.

    Attributes
    ----------
    kind : str
        ``argument``, ``constant``, ``conversion``, ``function`` or ``promotion``.
    text : str
        The literal, argument or expression.
    sentence : str
        What NumPy does there.
    help : str
        What to write instead; empty where nothing is to be changed.
    steps : tuple of Step
        From the cause to the value.
    loc : Loc or None
        None for arguments.
    """

    kind: str
    text: str
    sentence: str
    help: str
    steps: tuple[Step, ...]
    loc: Loc | None = None


class Wide(Record):
    """A value of float64 or complex128, and why it is.

    Attributes
    ----------
    name : str
        The variable, or ``result`` with its number.
    dtype : str
        NumPy's name.
    causes : tuple of Cause
        All of them have to go for the value to be narrower.
    """

    name: str
    dtype: str
    causes: tuple[Cause, ...]


class Recompiled(Record):
    """How the code of the call that was asked about came about.

    Attributes
    ----------
    number, of : int
        Which specialisation of how many, from 1.
    changes : tuple of Change
        What tells it from the earlier one most like it.
    sentence : str
    """

    number: int
    of: int
    changes: tuple[Change, ...]
    sentence: str


class Measured(Record):
    """A call on a GPU, timed.

    Attributes
    ----------
    microseconds : float or None
        Median time of a call, many being made in a row; None for a call that changes its arguments.
    copy_microseconds : float or None
        Of a copy of as many bytes; None where these are not known.
    share : float or None
        The copy's time over the call's.
    device : str
    copy_rate : float
        Bytes a second that a large copy reads and writes.
    """

    microseconds: float | None
    copy_microseconds: float | None
    share: float | None
    device: str
    copy_rate: float


class Apart(Record):
    """A loop whose steps are launches, and why it is not one kernel.

    Attributes
    ----------
    loop : SourceLine
    at : SourceLine
        The line in its body that is the reason; the loop's own where no single one is.
    expression : str
        Of that line; empty where it is the loop.
    text : str
        What the expression does, as a sentence without its subject.
    help : str
        What to write instead.
    """

    loop: SourceLine
    at: SourceLine
    expression: str
    text: str
    help: str


class LibraryCall(Record):
    """What the caller's library computes between kernels.

    Attributes
    ----------
    name : str
        NumPy's.
    at : SourceLine
    reads : tuple of Access
        Its operands.
    makes : tuple of str
        The types of its results.
    """

    name: str
    at: SourceLine
    reads: tuple[Access, ...]
    makes: tuple[str, ...]


class Explanation(Record):
    """All there is to say about a function compiled for one list of types.

    Attributes
    ----------
    function, file : str
        The function's name, and where it is.
    types : tuple of str
        The parameters.
    target, backend : str
        What the code is for, and what makes it.
    kernels : tuple of Kernel
        In order of launch: the lines, what is read and written, bytes, schedule and why.
    edges : tuple of Edge
        What lies in memory between kernels, calls of libraries, arguments and results.
    refused : tuple of Refusal
        Fusions that were not made, with the reason and what that costs.
    wide : tuple of Wide
        Values of float64 and complex128, and what they follow from.
    recompiled : Recompiled or None
        Why code was made for this call; None where the function was not called.
    facts : tuple of str
        What the code relies on.
    measured : Measured or None
        Times on a GPU.
    notes : tuple of str
        What could not be found out, and why.
    library_calls : tuple of LibraryCall
        In order.
    loops : tuple of str
        How the steps of loops around kernels are made.
    apart : tuple of Apart
        Why such a loop is not one kernel.
    repeated : tuple of Repeated
        What several kernels compute, each for itself.
    parts : tuple of (str, str)
        Of arguments that hold others: the parts by the names that the IR has for them, and how the function writes each.
    """

    function: str
    file: str
    types: tuple[str, ...]
    target: str
    backend: str
    kernels: tuple[Kernel, ...]
    edges: tuple[Edge, ...]
    refused: tuple[Refusal, ...]
    wide: tuple[Wide, ...]
    recompiled: Recompiled | None = None
    facts: tuple[str, ...] = ()
    measured: Measured | None = None
    notes: tuple[str, ...] = ()
    library_calls: tuple[LibraryCall, ...] = ()
    loops: tuple[str, ...] = ()
    apart: tuple[Apart, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return _plain(self)

    def __repr__(self) -> str:
        # A prompt shows it to a reader.
        return _plain(self)

    def __rich__(self) -> Any:
        return _rich_text(self)

    def _repr_html_(self) -> str:
        return _html(self)

"""What a program is written with: how arrays of a library are read and made, and how kernels are started.

Templates of Python text, which `pytocu.runtime.program` fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytocu.ir.types import DType
from pytocu.record import Record


class Access(Record):
    """How a program reads arrays and makes new ones.

    Templates of Python text: ``{n}`` is the number of an argument, ``{made}`` the name of a new
    array, ``{dtype}`` and ``{element}`` its library's dtype and :class:`DType`, ``{itemsize}`` the
    bytes of an element.  `allocate` is a statement for each order of elements (``{axes}``: those of a transpose that makes
    others than ``C`` and ``F``), `maker` one that states what it calls, where that depends on the shape.  Lines of `setup`
    stand at the beginning, those with ``{n}`` once for each array; `misaligned` leaves a call for whose
    arrays ``{pointers}``, joined bit by bit, are no multiples of the word size (``{mask}``: that - 1).
    `launch` starts a kernel on ``{work}`` iterations, on a GPU in ``{blocks}`` blocks of ``{block}`` threads (``{early}`` is
    ``early_`` where it may begin while the launch before it ends), and
    `idle` stands where a kernel has nothing to do.  `given` are parameters that follow each array.
    `keep` is a statement about arrays that are no results (``{made}`` is a tuple of them).
    `writable` refuses an array that must not be written (``{what}``: NumPy's name for it,
    ``{position}``: the step), and `shared` leaves a call whose arguments are in other memory than
    the plan says; where it is empty, that was compared before.  `failures` makes ``{count}`` words
    in which kernels note what is wrong with the data, and `failed` raises it (``{number}``: of the
    requirement, ``{at}``: its first word); where nobody waits for the kernel, it is empty, and `noticed`
    raises it where the host has waited for something else, and `settled`, an expression, where the host is about to
    raise something that comes after it.  `word` reads an int64 at ``{pointer}`` and
    waits for it, and `library` calls ``{name}`` of the caller's library, which gives
    `library_targets`, by default the arrays.  `steps` makes the steps of the loop ``{loop}`` whose launches repeat, over
    ``{numbers}`` (see `pytocu.runtime.host_loops`), ``{alone}`` where it is not a step of another one whose launches are
    noted, and `note` gives a launch to the steps ``{steps}``; `until` and `note_flag` are these for a loop that ends when the
    truth value at ``{pointer}`` says so, empty where the program makes its steps.  `computes` says that steps may compute
    numbers that kernels take.  `bound`
    says that there is a `bind`: see :class:`~pytocu.runtime.program.Program`.  `loaded` gives the globals that the binary has;
    it is asked when the text is compiled, because the binary may still be on its way.
    """

    shape: str
    pointer: str
    strides: str
    allocate: Mapping[str, str]
    made_pointer: str
    launch: str
    scalar: str
    array: str
    globals: Mapping[str, Any]
    dtype: Callable[[DType], Any] = lambda element: element.numpy
    setup: tuple[str, ...] = ()
    misaligned: str = ""
    idle: str = ""
    given: tuple[str, ...] = ()
    keep: str = ""
    writable: str = ""
    shared: str = ""
    failures: str = ""
    failed: str = ""
    noticed: str = ""
    settled: str = ""
    word: str = ""
    library: str = ""
    library_targets: str = ""
    steps: str = ""
    note: str = ""
    until: str = ""
    note_flag: str = ""
    computes: bool = False
    maker: str = ""
    bound: bool = False
    loaded: Callable[[], Mapping[str, Any]] = dict


class Launch(Record):
    """How kernels are started, as the fields of :class:`Access` of these names."""

    launch: str
    idle: str
    globals: Mapping[str, Any]
    keep: str = ""
    failures: str = ""
    failed: str = ""
    steps: str = ""
    note: str = ""
    until: str = ""
    note_flag: str = ""
    computes: bool = False
    loaded: Callable[[], Mapping[str, Any]] = dict
    noticed: str = ""
    settled: str = ""


ANY_LIBRARY = Access(
    shape="infos[{n}].shape",
    pointer="infos[{n}].pointer",
    strides="infos[{n}].byte_strides",
    allocate=dict.fromkeys(("C", "F", "other"), "{made}, {made}_pointer = executor.allocate({shape}, {element}, {order})"),
    made_pointer="{made}_pointer",
    launch="executor.launch({number}, ({values},), {work}, {cost}, ({grid}))",
    scalar="executor.scalar({made})",
    array="executor.array({made})",
    globals={},
    keep="executor.keep({made})",
    writable="check_output(infos[{n}], {what!r}, {position}, {caught})",
    failures="{made}, {made}_pointer = executor.failures({count})",
    word="executor.word({pointer})",
    library="executor.library({name!r}, {operands}, {options}, {results})",
    library_targets="{made}{pointers}",
    steps="executor.steps({loop}, {numbers}, {alone})",
    note="{steps}.note(executor.note({number}, ({values},), {work}, {cost}, ({grid})))",
    until="executor.until({loop})",
    note_flag="{steps}.note((-1, {pointer}, 0, 0))",
    computes=True,
    failed="if executor.waits and {made}[{at}] != {nothing}: raise_found({made}, {number})",
    noticed="if not executor.waits: executor.notice()",
    settled="executor.waits or executor.settle()",
)
"""Arrays by their descriptions, memory and launches by an executor: ``run(executor, infos, *arguments)``."""

"""Calls that native code begins: for signatures that are called often, in front of the functions that Python runs.

A jitted function finds a ready program by running Python, which takes longer than the kernel of a small array.  Signatures
that are called often get a record: a list of operations (:mod:`pytocu.runtime.call_words`) that compares the arguments with
the signature and does what the program does.  The function of `pytocu.backend.call_code` tries the records of a jitted
function, the newest first, and calls what Python runs where none holds: for other signatures, and when something goes wrong.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pytocu import config
from pytocu.call_operations import MOST_PARAMETERS, NAME
from pytocu.errors import InternalError
from pytocu.record import Record
from pytocu.runtime import access, call_frames, call_words, cuda, native
from pytocu.runtime.call_guards import write_guards
from pytocu.runtime.executable import Executable, cpu_part
from pytocu.runtime.libraries import key_globals, templates_of
from pytocu.runtime.program import Program

if TYPE_CHECKING:
    from inspect import Parameter

    from pytocu.guards import Guard

MOST_RECORDS = 4
"""Signatures of one function that native code knows: comparing each takes its time."""

_FAST_CALL_WITH_KEYWORDS = 0x0080 | 0x0002
_WORD = ctypes.c_uint64


class _Method(ctypes.Structure):
    """Python's ``PyMethodDef``."""

    _fields_ = (("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


_methods: dict[int, _Method] = {}

_HEAD = 16
"""Bytes before what an object holds: a count of references and its class."""


def method(build: Callable[[], bytes | None]) -> Any:
    """The native function, loaded; None where there is none.  ``build()`` gives its object code the first time.

    A Python without the global lock has longer heads, which the native function does not know: it makes all calls itself.
    """
    found = _code.load(build) if object.__basicsize__ == _HEAD else None
    if found is None:
        return None
    # Python keeps the address of what stands here.
    made = _Method(NAME.encode(), int(found[NAME]), _FAST_CALL_WITH_KEYWORDS, None)
    return _methods.setdefault(int(found[NAME]), made)


def python_api(name: str) -> int:
    """The address of a function of Python's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def code() -> native.Shared:
    """The native function of this process."""
    return native.Shared([NAME], "calls of small arrays take longer than they need to", python_api)


_code = code()


def possible(parameters: int) -> bool:
    """Whether this Python is one whose objects native code can read, for a function of so many parameters."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    alike = sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8 and sys.byteorder == "little"
    return alike and has_lock and parameters <= MOST_PARAMETERS and config.enabled("native_calls")


class _Owner:
    """A record of native code, and the objects that it names."""

    __slots__ = ("keep", "memory")

    def __init__(self, memory: Any, keep: Sequence[Any]):
        self.memory = memory
        self.keep = keep


class Calls:
    """A function that tries records, and calls another function where none holds.

    Parameters
    ----------
    python : callable
        What is called then.
    method : _Method
        The native function.
    parameters : sequence of inspect.Parameter
        Of `python`, none of them variadic.

    Attributes
    ----------
    function : builtin
        Takes what `python` takes.
    """

    def __init__(self, python: Callable[..., Any], method: _Method, parameters: Sequence[Parameter]):
        self.python = python
        # Names are compared by identity: those of calls are interned.
        self.names = tuple(sys.intern(p.name) for p in parameters)
        positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
        named = sum(p.kind is p.POSITIONAL_ONLY for p in parameters)
        # Where a tuple has its members differs between versions of Python, and the native code is the same for all.
        members = tuple.__basicsize__
        self.state = (_WORD * 7)(0, id(python), id(self.names), len(self.names), positional, named, members)
        self.records: tuple[_Owner, ...] = ()
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )
        # The module of a builtin is any object, which lives as long.
        self.function = make(ctypes.addressof(method), ctypes.addressof(self.state), self)

    def add(self, count: int, words: call_frames.Words) -> None:
        """Put a record in front of others; the last one goes where there are too many."""
        frame, operations, (low, high) = words.finish()
        memory = (_WORD * (8 + len(frame) + len(operations)))()
        start = ctypes.addressof(memory)
        owner = _Owner(memory, words.keep)
        memory[1:8] = [id(owner), count, len(frame), start + 64, start + 64 + 8 * len(frame), low, high]
        memory[8:] = frame + operations
        kept = self.records[: MOST_RECORDS - 1]
        if kept:
            memory[0] = ctypes.addressof(kept[0].memory)
            # A call may be at the one that goes: its own reference keeps it.
            kept[-1].memory[0] = 0
        self.state[0] = start
        self.records = (owner, *kept)


class NativeProgram(Record):
    """A plan as text that `call_words` reads.

    Attributes
    ----------
    bind : callable
        What depends on lengths and strides; gives the function whose text it is.
    body : list of statements
    launching : Launching
    """

    bind: Callable[..., Any]
    body: list[Any]
    launching: call_frames.Launching


_STEPS = {
    "launch", "allocate", "dim", "stride", "check", "writable", "convert", "const", "python", "part", "failures", "failed",
    "view",
}  # fmt: skip
"""Steps of plans that native code makes."""

_CPU_STEPS = _STEPS | {"bind", "read_length"}
"""The same on a CPU, where the blocks of a launch need not be known before."""


def program_of(executable: Executable, library: str, device: int | str) -> NativeProgram | None:
    """The program for arrays of a library on a device, loaded; None where Python has to make some step."""
    plan = executable.plan
    kinds, known = {step[0] for step in plan.steps}, _CPU_STEPS if device == "cpu" else _STEPS
    if not kinds <= known or not kinds & {"launch", "view"}:
        return None
    # What is computed between kernels may go wrong there, which only Python puts into words.
    again = bool(kinds & {"bind", "read_length"}) and not plan.written
    if "read_length" in kinds and not again:
        return None
    program = Program(plan, access.native_access(library, device, plan, executable.words_on), ())
    parameters = [spec.parameters for spec in plan.kernels]
    if device == "cpu":
        addresses, part = executable.cpu_addresses, cpu_part()
        limits = part.MOST_ALONE, part.MOST_NATIVE, part.threads.alone
        launching = call_frames.Launching(parameters, 0, addresses, (addresses,), _never, *limits, 0, again)
    else:
        kernels = executable.cuda_kernels.on(int(device))

        def failed(number: int, status: int, blocks: int, threads: int) -> NoReturn:
            cuda.launch_failed(kernels[number], status, blocks, threads)

        address = ctypes.cast(cuda.bindings().launch_ex, ctypes.c_void_p).value or 0
        handles = [int(k.handle) for k in kernels]
        early = cuda.EARLY if any(k.waits for k in plan.kernels) and cuda.starts_early(int(device)) else 0
        launching = call_frames.Launching(parameters, address, handles, (kernels,), failed, 0, 0, _never, early, again)
    return NativeProgram(program.bind, call_words.body_of(program.source), launching)


def _never(*_: Any) -> NoReturn:
    raise InternalError("a native function does not fail")


class Signature(Record):
    """An exact signature.

    Attributes
    ----------
    library : str
    device : int or str
    classes : tuple of type
        Of all arguments.
    static : tuple of bool
        Which of them the code is compiled for the value of.
    passed : int
        How many are passed; those behind them have their defaults.
    key : tuple
        As `runtime.dispatch` makes it.
    """

    library: str
    device: int | str
    classes: tuple[type, ...]
    static: tuple[bool, ...]
    passed: int
    key: Any


def words_of(
    executable: Executable, signature: Signature, guards: Sequence[Guard], function: Any, given: Sequence[Any]
) -> call_frames.Words | None:
    """What native code does in calls of a signature; None where Python has to make some step.

    Parameters
    ----------
    executable : Executable
    signature : Signature
    guards : sequence of Guard
        On what the code captured.
    function : function or None
        Whose globals the guards name.
    given : sequence
        What the program is called with.
    """
    library = signature.library
    program = program_of(executable, library, signature.device)
    run = None if program is None else program.bind(*given)
    if program is None or run is None:
        return None
    compiler = call_words.Compiler(signature.classes, signature.static, signature.passed)
    try:
        compiler.compare(templates_of(library), signature.key, key_globals(library))
        write_guards(compiler, guards, function)
        compiler.program(program.body, call_words.names_of(run), program.launching)
        compiler.words.finish()
    except call_frames.NotNative:
        return None
    return compiler.words

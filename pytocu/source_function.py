"""A Python function with its options, and the code that is there for it: its own, and what earlier processes kept.

What a warm start does not need is in :mod:`pytocu.compiles`.
"""

from __future__ import annotations

import inspect
import time
import types
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pytocu import config
from pytocu.config import Options
from pytocu.deferred import Deferred, DeferredModule
from pytocu.errors import CompileError, DTypeError, Loc
from pytocu.guards import may_hold
from pytocu.ir.types import Type, parse_type
from pytocu.runtime import arrays, cuda, results
from pytocu.runtime.dispatcher import Dispatcher, Entry
from pytocu.runtime.executable import Executable
from pytocu.runtime.plan import Plan
from pytocu.runtime.signature import Call

_take_apart = Deferred("pytocu.trees", "take_apart")
_settle = Deferred("pytocu.trees", "settle")
_is_tree_text = Deferred("pytocu.tree_text", "is_tree_text")
_read_argument = Deferred("pytocu.tree_text", "read_argument")
_names_in = Deferred("pytocu.tree_text", "names_in")
_gpu_steps = Deferred("pytocu.host_builds", "steps")
_write_call = Deferred("pytocu.tree_calls", "write_call")
_part_names = Deferred("pytocu.trees", "part_names")
_owner_of = Deferred("pytocu.trees", "owner_of")
_as_written = Deferred("pytocu.trees", "as_written")
_shown = Deferred("pytocu.trees", "shown")

if TYPE_CHECKING:
    from pytocu.runtime.manifest import Kept

compiler = DeferredModule("pytocu.driver")
"""The module that compiles; loading it takes several times as long as ``import pytocu``."""
keeper = DeferredModule("pytocu.runtime.manifest")
"""The module that keeps finished plans on disk, loaded at the first call that finds none in memory."""
watcher = DeferredModule("pytocu.explain.watch")
"""The module that shows what a running program compiles."""

_MOST_WAYS = 16
"""In how many ways arguments of a function may hold others before no more short ways are written."""


class SourceFunction(Dispatcher):
    """Finds code for the arguments of a function, in memory or on disk, and lets the rest be compiled.

    Parameters
    ----------
    function : function
    device : str or None
    options : Options
    static : tuple of str
    """

    __qualname__: str

    def __init__(self, function: types.FunctionType, device: str | None, options: Options, static: tuple[str, ...]):
        self._function = function
        self._options = options
        self._own_arguments = not options.trees
        self._by_trees: dict[Any, SourceFunction] = {}
        self._seen_ways: dict[Any, int] = {}
        signature, plain = self._calling(inspect.signature(function, follow_wrapped=False), options)
        super().__init__(function.__name__, signature, device, static, plain)

    def _calling(self, signature: inspect.Signature, options: Options) -> tuple[inspect.Signature, Callable[..., Any]]:
        """What it is called with, and what is called where nothing is compiled."""
        if options.trees:
            kind = inspect.Parameter.POSITIONAL_ONLY
            signature = inspect.Signature([inspect.Parameter(name, kind) for name in _part_names(options.trees)])
        return signature, self._function

    def _general(self, values: tuple[Any, ...]) -> Any:
        of_parts, parts = (None, ()) if config.enabled("disable") else self._of_parts(values)
        if of_parts is None:
            return super()._general(values)
        # Before the function may change what its arguments hold.
        self._shorten(of_parts, parts, values)
        try:
            return _settle(of_parts(*parts), of_parts._options.trees, values)
        except CompileError as error:
            of_parts._reword(error)
            raise

    def _reword(self, error: CompileError) -> None:
        if error.help is not None:
            error.help = _as_written(error.help, self._options.trees)

    def _shorten(self, of_parts: SourceFunction, parts: Sequence[Any], values: Sequence[Any]) -> None:
        """Let the next calls whose arguments hold others in this way find their parts soon."""
        way = (of_parts, *map(type, values), *map(type, parts))
        seen = self._seen_ways.get(way, 0)
        if seen > 1 or (not seen and len(self._seen_ways) >= _MOST_WAYS):
            # It was written, or others left it, or no more are: what came in many ways comes in another one next.
            return
        self._seen_ways[way] = seen + 1
        if not seen:
            # One call alone is not worth it.
            return
        classes = tuple(map(type, values))
        other = self._ways.get(classes) or (lambda *given: self._general(given))
        made = _write_call(of_parts._options.trees, values, self._static, of_parts, other, of_parts._reword)
        if made is not None:
            self._ways[classes] = made

    def _of_parts(self, values: Sequence[Any]) -> tuple[SourceFunction | None, tuple[Any, ...]]:
        """The same function of what its arguments hold, and that, if one holds an array."""
        whole = self._options.trees or self._options.elements is not None or not any(map(may_hold, values))
        found = None if whole else _take_apart(self._names, values, self._static)
        if found is None:
            return None, ()
        trees, parts = found
        with self._lock:
            made = self._by_trees.get(trees)
            if made is None:
                options = self._options._replace(trees=trees)
                made = self._by_trees[trees] = type(self)(self._function, self._device, options, tuple(self._static))
                # One list of all code, so that a compile is told from the one most like it, however arguments hold arrays.
                made._made = self._made
        return made, parts

    def _describe_one(self, call: Call, name: str, value: Any) -> None:
        trees = self._options.trees
        if not trees:
            return super()._describe_one(call, name, value)
        try:
            super()._describe_one(call, name, value)
        except CompileError as error:
            help = _as_written(error.help, trees) if error.help else None
            raise type(error)(_as_written(error.message, trees), error.loc, help) from None

    @property
    def _held(self) -> tuple[tuple[str, str], ...]:
        return _shown(self._options.trees) if self._options.trees else ()

    def _place(self, parameter: str) -> Loc | None:
        parameter = _owner_of(self._options.trees, parameter) if self._options.trees else parameter
        return compiler().parameter_loc(self._function, parameter)

    def _call_code(self) -> bytes | None:
        from pytocu import host_builds

        return host_builds.calls()

    def _missing(self, call: Call) -> Entry:
        with self._lock:
            # Another thread may have found or compiled the same while this one waited.
            found = self._find(call)
            if found is None and config.get("log") and watcher().logs("compile"):
                return self._said(call)
            return found or self._load(call) or self._compile(call)

    def _said(self, call: Call) -> Entry:
        """As without a log, and one line about it."""
        began = time.perf_counter()
        found = self._load(call)
        how = "compiled" if found is None else "read from the cache"
        entry = found or self._compile(call)
        entry.executable.binary(target_of(call).partition(":")[2])
        taken = time.perf_counter() - began
        first = len(self._made) == 1
        watcher().say(self._name, entry.types, call.target, how, taken, self._why_made(), first)
        return entry

    def _load(self, call: Call) -> Entry | None:
        """The code that an earlier process kept for such calls."""

        def suits(executable: Executable) -> bool:
            if not executable.suits(call.dynamic, call.infos):
                return False
            if index_bits_of(executable.plan) == 32:
                return True
            # Code with wide indices is right for every call, and slower.
            narrow = tuple(k._replace(index_bits=32) for k in executable.plan.kernels)
            plan = executable.plan._replace(kernels=narrow)
            return not Executable(self._name, call.target, plan, executable.binary).suits(call.dynamic, call.infos)

        return self._load_where(call, target_of(call), suits)

    def _load_where(self, call: Call, target: str, suits: Callable[[Executable], bool]) -> Entry | None:
        if not config.enabled("cache") or config.get("dump"):
            return None
        try:
            key = keeper().key(self._function, call, self._options, target)
        except keeper().NotWritable:
            return None
        for found in keeper().load(key, self._function, call):
            binary = self._binary(call, target, found)
            executable = Executable(self._name, call.target, found.plan, binary, _gpu_steps)
            if suits(executable):
                entry = Entry(executable, found.guards, call.shown(), self._held)
                return self._keep(call.key, index_bits_of(found.plan), entry)
        return None

    def _binary(self, call: Call, target: str, found: Kept) -> Callable[[str], bytes]:
        def binary(arch: str) -> bytes:
            if arch == target.partition(":")[2]:
                return found.binary
            # A device of another kind than the one the plan was found for.
            lowered = compiler().lower(self._function, call.parameters, self._options, lengths_of(call), call.infos)
            return lowered.compile(f"cuda:{arch}", index_bits=index_bits_of(found.plan)).binary

        return binary

    @abstractmethod
    def _compile(self, call: Call) -> Entry:
        """New code, for a call that none is there for."""

    def _stated(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name, with types in place of texts that state them.

        Beside real arrays a text that is no type is a value.
        """
        given = self._arguments(args, kwargs).arguments
        return {name: self._read(name, value, given.values()) for name, value in given.items()}

    def _read(self, name: str, value: Any, beside: Iterable[Any]) -> Any:
        known = self._options.trees or name in self._static
        if not isinstance(value, str) or known or isinstance(self._signature.parameters[name].default, str):
            return value
        try:
            return parse_type(value)
        except ValueError:
            # Text of what holds others is rare, and so is its reader's import.
            pass
        try:
            if _is_tree_text(value):
                return _read_argument(value, name, _type_at, _names_in(self._function))
            return _type_at(value, name)
        except ValueError as error:
            if any(hasattr(other, "dtype") for other in beside):
                return value
            raise DTypeError(f"argument {error}") from None

    def _known_in_bundle(self) -> tuple[str, ...]:
        """The parameters that a function of a bundle takes the value of."""
        return tuple(self._static)


def target_of(call: Call) -> str:
    """What code is made for: ``cuda:sm_90``, or ``cpu``."""
    if call.target == "cpu":
        return "cpu"
    like = arrays.common(call.infos.values())
    device = cuda.current_device() if like is None else results.resolve_device(like)
    assert isinstance(device, int)
    return f"cuda:{cuda.arch(device)}"


def index_bits_of(plan: Plan) -> int:
    """How wide the indices of the kernels are."""
    return plan.kernels[0].index_bits if plan.kernels else 32


def lengths_of(call: Call) -> dict[str, int]:
    """The lengths of arrays that are not 1, by the names of axes."""
    return {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape) if n != 1}


def _type_at(text: str, place: str) -> Type:
    try:
        return parse_type(text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


__all__ = ["SourceFunction", "compiler", "index_bits_of", "keeper", "lengths_of", "target_of", "watcher"]

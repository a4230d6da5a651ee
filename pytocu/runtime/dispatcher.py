"""From a call to the code that answers it, whoever made the code.

:class:`Dispatcher` holds the specialisations of one function.  `jit` derives from it to compile
what is missing; a bundle says what it has.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pytocu import config
from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, PytocuError, UnsupportedError, raised
from pytocu.guards import Default, Guard, Identity, Static, argument_key
from pytocu.processes import fork_waits, lock_of
from pytocu.record import Record
from pytocu.runtime import arrays
from pytocu.runtime.dispatch import SCALARS, TABLE_SIZE, Dispatch, Ready, count_calls, left_out, write_dispatch, write_entry
from pytocu.runtime.signature import Call

if TYPE_CHECKING:
    from pytocu.runtime.changes import Change, Facts
    from pytocu.runtime.executable import Executable

_binding_words = Deferred("pytocu.binding", "binding_words")
_settled = Deferred("pytocu.trees", "settle")


class Specialization(Record):
    """One compiled form of a function.

    Attributes
    ----------
    types : tuple of str
        The parameters as types; ``static`` ones show their value.
    target : str
        ``cpu`` or ``cuda``.
    facts : tuple of str
        What else the code relies on: captured values, lengths that are or are not 1.
    library_calls : tuple of str
        NumPy's names of the steps that the caller's library computes.
    """

    types: tuple[str, ...]
    target: str
    facts: tuple[str, ...]
    library_calls: tuple[str, ...] = ()


class Entry(Record):
    """Code for one kind of call, the captured values it was made for, and how arguments hold others, by name and as text."""

    executable: Executable
    guards: tuple[Guard, ...]
    types: tuple[str, ...]
    held: tuple[tuple[str, str], ...] = ()

    def holds(self, arguments: Sequence[Any]) -> bool:
        """Whether the captured values are those the code was made for."""
        return all(guard.holds(arguments) for guard in self.guards)


class Dispatcher(ABC):
    """A callable that finds code for its arguments.

    Parameters
    ----------
    name : str
        For messages.
    signature : inspect.Signature
        Of the function as the user wrote it.
    device : str or None
        ``cuda`` or ``cuda:1`` copies NumPy arrays there and results back.
    static : sequence of str
        Parameters whose values are known while compiling.
    plain : callable, optional
        The function itself, for ``PYTOCU_DISABLE``.

    Raises
    ------
    PytocuError
        `static` names no parameter.
    """

    # A call looks "__call__" up on the class and finds this slot, so what it holds is run without another frame.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    __call__: Callable[..., Any]
    _known_defaults = True
    _own_arguments = True
    """Whether what it is called with are a caller's arguments, and no parts of them."""

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        device: str | None,
        static: Sequence[str],
        plain: Callable[..., Any] | None = None,
    ):
        self._name = name
        self._plain = plain
        self._device = device
        self._static = frozenset(static)
        self._signature = signature
        self._names = tuple(signature.parameters)
        kinds = [p.kind for p in signature.parameters.values()]
        self._variadic = next((n for n, k in zip(self._names, kinds, strict=True) if k in _VARIADIC), None)
        self._positional = sum(k not in (*_VARIADIC, inspect.Parameter.KEYWORD_ONLY) for k in kinds)
        self._lock = lock_of(self)
        self._table: dict[Any, tuple[Entry, ...]] = {}
        self._made: list[tuple[str, Entry]] = []
        self._dispatch: dict[tuple[type, ...], Dispatch] = {}
        self._ways: dict[tuple[type, ...], Callable[..., Any]] = {}
        self._calls: Any = None
        for parameter in static:
            if parameter not in self._names:
                listed = ", ".join(self._names) or "none"
                raise PytocuError(f"static={static!r}: {name} has no parameter {parameter}; its parameters: {listed}")

        if self._variadic:
            self.__call__ = self._refuse_variadic
        else:
            qualname = getattr(plain, "__qualname__", name)
            ways = self._ways.get, self._general
            self.__call__ = write_entry(name, qualname, signature, *ways, _keeps_traceback, self._known_defaults)

    def _general(self, values: tuple[Any, ...]) -> Any:
        """A call that no short way is ready for; `values` are all arguments in order of the parameters."""
        if self._plain is not None and config.enabled("disable"):
            values = tuple(v.value if type(v) is Default else v for v in values)
            keywords = dict(zip(self._names[self._positional :], values[self._positional :], strict=True))
            return self._plain(*values[: self._positional], **keywords)
        return self._call(values)

    def _refuse_variadic(self, *args: Any, **kwargs: Any) -> Any:
        if self._plain is not None and config.enabled("disable"):
            return self._plain(*args, **kwargs)
        self._arguments(args, kwargs)

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        if self._variadic:
            stars = "**" if self._signature.parameters[self._variadic].kind is inspect.Parameter.VAR_KEYWORD else "*"
            raise UnsupportedError(
                f"{self._name} takes any number of arguments ({stars}{self._variadic})",
                self._place(self._variadic),
                "name each parameter; where a decorator stands between jit and the function, put jit next to the def",
            )
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            qualname = getattr(self._plain, "__qualname__", self._name)
            text = f"{qualname}() {_binding_words(self._signature, args, kwargs) or error}"
            raise raised(TypeError(text), None, f"the signature is {self._name}{self._signature}") from None
        passed = set(bound.arguments)
        bound.apply_defaults()
        if self._known_defaults:
            bound.arguments.update({n: left_out(v) for n, v in bound.arguments.items() if n not in passed})
        return bound

    def _call(self, values: tuple[Any, ...]) -> Any:
        device = self._device
        originals = None
        with fork_waits():
            if device is not None and device.startswith("cuda"):
                from pytocu.runtime import copying

                moved = copying.move_to_device(values, int(device[5:]) if device[4:5] == ":" else None)
                if moved is not None:
                    originals, values = values, moved
            call = self._describe(values)
            entry = self._find(call) or self._missing(call)
            run = self._remember(call, entry)
        if run is not None:
            result = run()
            if result is not NotImplemented:
                return self._settle(result, values)
        kept = None
        if originals is not None:
            kept = tuple(o for o, (_, p) in zip(originals, call.parameters, strict=True) if not isinstance(p, Static))
        return self._settle(entry.executable.run(call.dynamic, call.infos, kept), originals or values)

    def _settle(self, found: Any, values: Sequence[Any]) -> Any:
        """A result in which the arguments that are returned are these."""
        if not self._own_arguments or type(found).__name__ != "Changed":
            return found
        return _settled(found, tuple((name, name) for name in self._names), values)

    def _remember(self, call: Call, entry: Entry) -> Callable[[], Any] | None:
        """Let the next call of this signature find its program at once; gives what makes this one, where that can."""
        if self._device is not None and self._device != "cpu":
            return None
        static = [isinstance(p, Static) for _, p in call.parameters]
        for (name, _), fixed, value in zip(call.parameters, static, call.values, strict=True):
            if fixed and type(value) in SCALARS and not self._is_static(name, value):
                # A Python int that is too large for an argument; others of its class are arguments.
                return None
        like = arrays.common(call.infos.values())
        if (like is None and call.on_gpu) or (like is not None and like.device == arrays.ANY_DEVICE):
            return None
        # Numbers alone are computed on the host.
        device = "cpu" if like is None else like.device
        if any(kind == "overlap" for kind, _ in entry.executable.plan.sharing):
            # How far apart the arguments are is no part of a signature.
            return None
        classes = tuple(map(type, call.values))
        dispatch = self._dispatch.get(classes)
        if dispatch is None:
            settle = self._settle if self._own_arguments else None
            dispatch = write_dispatch(classes, static, self._general, argument_key, like is None, settle)
            if dispatch is None:
                return None
            dispatch = self._dispatch.setdefault(classes, dispatch)
        program = entry.executable.short_program(dispatch.library, device)
        ready = Ready(program, tuple(g.watch() for g in entry.guards))
        passed = self._passed(call.values, static)
        promote = partial(self._promote, entry, dispatch.library, device, classes, tuple(static), passed)
        ready = ready._replace(counted=partial(count_calls, promote))
        run = dispatch.remember(call.values, ready)
        if len(self._ways) >= TABLE_SIZE:
            self._ways.clear()
        self._ways[classes] = dispatch.call
        return run

    def _passed(self, values: Sequence[Any], static: Sequence[bool]) -> int:
        """How many arguments a call passes, where those behind them are known while compiling and have their defaults."""
        defaults = [p.default for p in self._signature.parameters.values()]
        passed = len(values)
        while passed and static[passed - 1]:
            value = values[passed - 1]
            if type(value) is not Default and value is not defaults[passed - 1]:
                break
            passed -= 1
        return passed

    def _promote(
        self,
        entry: Entry,
        library: str,
        device: int | str,
        classes: Sequence[type],
        static: Sequence[bool],
        passed: int,
        key: Any,
        given: Sequence[Any],
    ) -> None:
        """Let native code make the calls of a signature that is called often, where it can."""
        with fork_waits():
            from pytocu.runtime import native_calls

            if not native_calls.possible(len(classes)) or (self._own_arguments and _gives_back(entry.executable.plan.tree)):
                return
            method = native_calls.method(self._call_code)
            if method is None:
                return
            signature = native_calls.Signature(library, device, tuple(classes), tuple(static), passed, key)
            words = native_calls.words_of(entry.executable, signature, entry.guards, self._plain, given)
            if words is None:
                return
            parameters = list(self._signature.parameters.values())
            with self._lock:
                if self._calls is None:
                    self._calls = native_calls.Calls(self.__call__, method, parameters)
                    self.__call__ = self._calls.function
                self._calls.add(passed, words)

    def _call_code(self) -> bytes | None:
        """The object code of the native function that begins calls; None where it cannot be made."""
        return None

    def _describe(self, values: tuple[Any, ...]) -> Call:
        call = Call(values, on_gpu=(self._device or "").startswith("cuda"))
        for name, value in zip(self._names, values, strict=True):
            self._describe_one(call, name, value)
        host = [i for i in call.infos.values() if i.on_host]
        if len(host) < len(call.infos) and any(not i.shape for i in host):
            # Beside device arrays a NumPy array without axes is a scalar, as CuPy and PyTorch take it.
            return self._describe(tuple(v[()] if isinstance(v, np.ndarray) and not v.ndim else v for v in values))
        call.on_gpu = call.on_gpu or len(host) < len(call.infos)
        return call

    def _describe_one(self, call: Call, name: str, value: Any) -> None:
        try:
            if type(value) is Default:
                call.add(name, value.value, self._knows_default(name))
            else:
                call.add(name, value, self._is_static(name, value))
        except CompileError as error:
            if error.loc is not None:
                raise
            raise type(error)(error.message, self._place(name), error.help) from None

    def _knows_default(self, name: str) -> bool:
        """Whether code is compiled for the default of an argument that is left out."""
        return True

    def _is_static(self, name: str, value: Any) -> bool:
        """Whether code is compiled for the value of an argument."""
        return name in self._static

    def _find(self, call: Call) -> Entry | None:
        """Code that was made before and whose guards and facts hold for the call."""
        for index_bits in (32, 64):
            for entry in self._table.get((call.key, index_bits), ()):
                if entry.holds(call.values) and entry.executable.suits(call.dynamic, call.infos):
                    return entry
        return None

    def _keep(self, key: Any, index_bits: int, entry: Entry) -> Entry:
        """Let `_find` see an entry that was made for a call."""
        self._add(key, index_bits, entry)
        number, allowed = len(self._made), allowed_specializations()
        if allowed and number >= allowed:
            from pytocu.runtime import changes

            changes.warn_when_many(self._name, number, allowed, self._facts)
        return entry

    def _add(self, key: Any, index_bits: int, entry: Entry) -> None:
        place = (key, index_bits)
        self._table[place] = (entry, *self._table.get(place, ()))
        self._made.append((key[0], entry))

    def _facts(self) -> list[Facts]:
        """What tells the specialisations apart, in the order in which they were made."""
        return [self._facts_of(target, entry) for target, entry in self._made]

    def _facts_of(self, target: str, entry: Entry) -> Facts:
        from pytocu.runtime import changes

        plan = entry.executable.plan
        shared = changes.sharing_text(plan.sharing, [p.name for p in plan.parameters])
        bits = max((spec.index_bits for spec in plan.kernels), default=32)
        captured = [(g.name, g.key) for g in entry.guards]
        width = 32 if target == "cpu" else bits
        return changes.facts_of(entry.types, target, captured, plan.assumptions, shared, width, entry.held)

    def _why_made(self, number: int = -1) -> tuple[Change, ...]:
        """What tells a specialisation, by default the last one, from the earlier one most like it."""
        from pytocu.runtime import changes

        facts = self._facts()
        place = number % len(facts)
        return changes.nearest_changes([(facts[place], earlier) for earlier in facts[:place]])

    def _why_new(self, call: Call) -> tuple[Change, ...]:
        """What of a call's arguments no specialisation has, beside the one most like it."""
        from pytocu.runtime import changes

        pairs: list[tuple[Facts, Facts]] = []
        for target, entry in self._made:
            plan = entry.executable.plan
            alike = entry.held == self._held
            captured = [(g.name, g.key_of(g.read(call.values))) for g in entry.guards if alike]
            shared = changes.sharing_text(plan.shared(call.infos) if alike else (), [p.name for p in plan.parameters])
            now = changes.facts_of(call.shown(), call.target, captured, (), shared, held=self._held)
            before = self._facts_of(target, entry)
            pairs.append((now, {n: v for n, v in before.items() if n in now or n.startswith("memory")}))
        return changes.nearest_changes(pairs)

    @abstractmethod
    def _missing(self, call: Call) -> Entry:
        """The entry for a call that nothing in the table fits."""

    @property
    def _held(self) -> tuple[tuple[str, str], ...]:
        """How arguments hold others, by name and as text."""
        return ()

    def _place(self, parameter: str) -> Loc | None:
        """Where the source names a parameter."""
        return None

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """What has been compiled so far, newest first: a tuple of :class:`Specialization`.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> f = pytocu.jit(lambda x: x * 2)
        >>> for x in (np.ones(3), np.ones(5), np.ones(3, np.float32)):
        ...     _ = f(x)
        >>> [s.types for s in f.specializations]
        [('x: f32[x_0]',), ('x: f64[x_0]',)]
        """
        with self._lock:
            found = self._made[::-1]
        out: list[Specialization] = []
        for target, entry in found:
            plan = entry.executable.plan
            captured = [f"captured {g.name}" for g in entry.guards if not isinstance(g.key, Identity)]
            lengths = list(map(str, plan.assumptions))
            names = [p.name for p in plan.parameters]
            shared = [f"{' and '.join(names[n] for n in numbers)} {_SHARED[kind]}" for kind, numbers in plan.sharing]
            bits = [f"offsets fit {s.index_bits} bits" for s in plan.kernels[:1]]
            out.append(Specialization(entry.types, target, (*captured, *lengths, *shared, *bits), plan.library_calls()))
        return tuple(out)


def _gives_back(tree: Any) -> bool:
    """Whether a result has to be settled with the arguments, which native code does not do."""
    return isinstance(tree, tuple) and tree[:2] == ("named", "pytocu.trees:Changed")


def allowed_specializations() -> int:
    """After how many specialisations of one function a warning comes; 0 for never.

    Raises
    ------
    PytocuError
        ``PYTOCU_MAX_SPECIALIZATIONS`` is no number.
    """
    text = config.get("max_specializations").strip()
    if not text.isascii() or not text.isdigit():
        raise PytocuError(f"PYTOCU_MAX_SPECIALIZATIONS={text!r}: write a number, 0 for no warning")
    return int(text)


_SHARED = {"same": "are the same array", "overlap": "overlap"}


def _keeps_traceback(error: PytocuError) -> bool:
    # The compiler's own frames say nothing to the user, and the message names the user's line.
    return config.enabled("debug")


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

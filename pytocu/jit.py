"""``@pytocu.jit``: a call's signature, and the table of compiled specialisations."""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np

from pytocu import config
from pytocu.driver import Compiled, Lowered, Options, lower, move_to_device
from pytocu.errors import CompileError, DTypeError, InternalError, PytocuError, UnsupportedError, raised
from pytocu.frontend.guards import Identity, argument_key, is_plain
from pytocu.frontend.source import parameter_loc
from pytocu.frontend.values import Static, describe
from pytocu.ir.dims import symbol
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, dtype_of, parse_type, scalar
from pytocu.passes.context import FASTMATH_FLAGS
from pytocu.runtime import arrays
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.dispatch import SCALARS, TABLE_SIZE, Dispatch, Ready, write_dispatch, write_entry
from pytocu.runtime.plan import layout_of

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Specialization:
    """One compiled form of a function.

    Attributes
    ----------
    types : tuple of str
        The parameters as types; ``static`` ones show their value.
    target : str
        ``cpu`` or ``cuda``.
    facts : tuple of str
        What else the code relies on: captured values, lengths that are or are not 1.
    """

    types: tuple[str, ...]
    target: str
    facts: tuple[str, ...]


@dataclass(slots=True)
class _Entry:
    lowered: Lowered
    compiled: Compiled
    types: tuple[str, ...]

    def holds(self, arguments: Sequence[Any]) -> bool:
        return all(guard.holds(arguments) for guard in self.lowered.guards)


class JitFunction(Generic[P, R]):
    """A function that compiles itself for the arguments it meets; made by :func:`jit`."""

    # A call looks "__call__" up on the class and finds this slot, so what it holds is run without another frame.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    __call__: Callable[P, R]
    __pytocu_plain__ = True
    __wrapped__: Callable[P, R]
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, R], device: str | None, options: Options, static: tuple[str, ...]):
        functools.update_wrapper(self, function)
        self.__wrapped__ = self._function = _plain(function)
        self._device = device
        self._options = options
        self._static = frozenset(static)
        self._signature = inspect.signature(self._function, follow_wrapped=False)
        self._names = tuple(self._signature.parameters)
        kinds = [p.kind for p in self._signature.parameters.values()]
        self._variadic = next((n for n, k in zip(self._names, kinds, strict=True) if k in _VARIADIC), None)
        self._positional = sum(k not in (*_VARIADIC, inspect.Parameter.KEYWORD_ONLY) for k in kinds)
        self._lock = threading.RLock()
        self._table: dict[Any, tuple[_Entry, ...]] = {}
        self._dispatch: dict[tuple[type, ...], Dispatch] = {}
        self._ways: dict[tuple[type, ...], Callable[..., Any]] = {}
        for name in static:
            if name not in self._names:
                listed = ", ".join(self._names) or "none"
                raise PytocuError(f"static={static!r}: {self.__name__} has no parameter {name}; its parameters: {listed}")
        if self._variadic:
            entry = self._refuse_variadic
        else:
            entry = write_entry(self._function, self._signature, self._ways.get, self._general, _keeps_traceback)
        self.__call__ = cast("Callable[P, R]", entry)

    def _general(self, values: tuple[Any, ...]) -> Any:
        """A call that no short way is ready for; `values` are all arguments in order of the parameters."""
        if config.enabled("disable"):
            keywords = dict(zip(self._names[self._positional :], values[self._positional :], strict=True))
            return self._function(*values[: self._positional], **keywords)
        return self._call(values)

    def _refuse_variadic(self, *args: Any, **kwargs: Any) -> Any:
        if config.enabled("disable"):
            return self._function(*args, **kwargs)
        self._arguments(args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundJitFunction(self, instance)

    def __repr__(self) -> str:
        return f"<pytocu.jit {self.__name__}{self._signature}>"

    def __reduce__(self) -> str:
        # By reference, as functions pickle: the decorated name finds this object again.
        return self.__qualname__

    # Calls.

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        if self._variadic:
            raise UnsupportedError(
                f"{self.__name__} takes any number of arguments (*{self._variadic})",
                parameter_loc(self._function, self._variadic),
                "name each parameter; where a decorator stands between jit and the function, put jit next to the def",
            )
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            text = f"{self.__name__}() {error}"
            raise raised(TypeError(text), None, f"the signature is {self.__name__}{self._signature}") from None
        bound.apply_defaults()
        return bound

    def _call(self, values: tuple[Any, ...]) -> Any:
        device = self._device
        originals = None
        if device is not None and device.startswith("cuda"):
            moved = move_to_device(values, int(device[5:]) if device[4:5] == ":" else None)
            if moved is not None:
                originals, values = values, moved
        call = self._describe(values)
        entry, sizes = self._find(call) or self._compile(call)
        compiled = entry.compiled
        self._remember(call, entry)
        kept = None
        if originals is not None:
            kept = tuple(o for o, (_, p) in zip(originals, call.parameters, strict=True) if not isinstance(p, Static))
        return compiled.run(call.dynamic, call.infos, sizes, kept)

    def _remember(self, call: _Call, entry: _Entry) -> None:
        """Let the next call of this signature find its program at once."""
        if self._device is not None and self._device != "cpu":
            return
        static = [isinstance(p, Static) for _, p in call.parameters]
        for (name, _), fixed, value in zip(call.parameters, static, call.values, strict=True):
            if fixed and type(value) in SCALARS and name not in self._static:
                # A Python int that is too large for an argument; others of its class are arguments.
                return
        like = arrays.common(call.infos.values())
        if like is None or like.device == arrays.ANY_DEVICE:
            return
        classes = tuple(map(type, call.values))
        dispatch = self._dispatch.get(classes)
        if dispatch is None:
            dispatch = write_dispatch(classes, static, self._general, argument_key)
            if dispatch is None:
                return
            dispatch = self._dispatch.setdefault(classes, dispatch)
        program = entry.compiled.short_program(dispatch.library, like.device)
        guards = tuple(g.holds for g in entry.lowered.guards)
        dispatch.remember(call.values, Ready(program.run, program.suits, guards))
        if len(self._ways) >= TABLE_SIZE:
            self._ways.clear()
        self._ways[classes] = dispatch.call

    def _describe(self, values: tuple[Any, ...]) -> _Call:
        call = _Call(values, on_gpu=(self._device or "").startswith("cuda"))
        for name, value in zip(self._names, values, strict=True):
            self._describe_one(call, name, value)
        host = [i for i in call.infos.values() if i.on_host]
        if len(host) < len(call.infos) and any(not i.shape for i in host):
            # Beside device arrays a NumPy array without axes is a scalar, as CuPy and PyTorch take it.
            return self._describe(tuple(v[()] if isinstance(v, np.ndarray) and not v.ndim else v for v in values))
        call.on_gpu = call.on_gpu or len(host) < len(call.infos)
        return call

    def _describe_one(self, call: _Call, name: str, value: Any) -> None:
        try:
            call.add(name, value, name in self._static)
        except CompileError as error:
            if error.loc is not None:
                raise
            raise type(error)(error.message, parameter_loc(self._function, name), error.help) from None

    def _find(self, call: _Call) -> tuple[_Entry, dict[str, int]] | None:
        """Code that was compiled before and whose guards and facts hold for the call."""
        for index_bits in (32, 64):
            for entry in self._table.get((call.key, index_bits), ()):
                if not entry.holds(call.values):
                    continue
                plan = entry.compiled.plan
                sizes = plan.sizes(call.infos)
                if plan.applies(sizes) and plan.fits(sizes, call.infos):
                    return entry, sizes
        return None

    def _compile(self, call: _Call) -> tuple[_Entry, dict[str, int]]:
        lengths = {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape) if n != 1}
        with self._lock:
            # Another thread may have compiled the same while this one waited.
            found = self._find(call)
            if found is not None:
                return found
            lowered = lower(self._function, call.parameters, self._options, lengths)
            for index_bits in (32, 64):
                compiled = lowered.compile(call.target, index_bits=index_bits)
                sizes = compiled.plan.sizes(call.infos)
                if compiled.plan.fits(sizes, call.infos):
                    break
            types = tuple(f"{name}: {_shown(p)}" for name, p in call.parameters)
            place = (call.key, index_bits)
            entry = _Entry(lowered, compiled, types)
            self._table[place] = (entry, *self._table.get(place, ()))
            return entry, sizes

    # Looking at it.

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Lower for argument types (or real arguments), with no GPU and nothing run.

        Parameters
        ----------
        *args, **kwargs
            Type texts such as ``"f32[n, 3]"``, ``"bool[n]"``, ``"weak float"``, or real
            arrays and scalars.  Static parameters take their value, and so do parameters
            whose default is a text.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> low = pytocu.jit(lambda x, y: np.hypot(x, y)).lower("f64[n]", "f64[n]")
        >>> [k.name for k in low.kernels]
        ['lambda_']
        """
        call = _Call((), on_gpu=False)
        for name, value in self._arguments(args, kwargs).arguments.items():
            is_text = isinstance(value, str) and name not in self._static
            if is_text and not isinstance(self._signature.parameters[name].default, str):
                call.parameters.append((name, _parsed(value, name)))
            elif isinstance(value, (ArrayType, ScalarType, WeakType)):
                call.parameters.append((name, value))
            else:
                self._describe_one(call, name, value)
        sizes = {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape)}
        return lower(self._function, call.parameters, self._options, sizes)

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """What has been compiled so far, newest first."""
        with self._lock:
            found = [(key, entry) for (key, _), entries in self._table.items() for entry in entries]
        out: list[Specialization] = []
        for (target, _), entry in found:
            plan = entry.compiled.plan
            captured = [f"captured {g.name}" for g in entry.lowered.guards if not isinstance(g.key, Identity)]
            lengths = [f"{d} {'is' if one else 'is not'} 1" for d, one in plan.assumptions]
            bits = [f"offsets fit {s.index_bits} bits" for s in plan.kernels[:1]]
            out.append(Specialization(entry.types, target, (*captured, *lengths, *bits)))
        return tuple(out)


class BoundJitFunction:
    """A jitted method with the object it was taken from."""

    __pytocu_plain__ = True
    __slots__ = ("__func__", "__self__")

    def __init__(self, function: JitFunction[..., Any], instance: Any):
        self.__func__ = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """As :meth:`JitFunction.lower`, with the object filled in."""
        return self.__func__.lower(self.__self__, *args, **kwargs)

    @property
    def __wrapped__(self) -> Any:
        return types.MethodType(self.__func__.__wrapped__, self.__self__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundJitFunction) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"


@dataclass(slots=True)
class _Call:
    """What one call passes.

    Attributes
    ----------
    values : tuple
        All arguments in order of the parameters.
    parameters : list of (str, Type or Static)
    keys : list
        What tells specialisations apart, one a parameter.
    infos : dict
        The array arguments, by their number among `dynamic`.
    dynamic : list
        The arguments that are not static, in order.
    """

    values: tuple[Any, ...]
    on_gpu: bool
    parameters: list[tuple[str, Type | Static]] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    infos: dict[int, ArrayInfo] = field(default_factory=dict)
    dynamic: list[Any] = field(default_factory=list)

    @property
    def target(self) -> str:
        return "cuda" if self.on_gpu else "cpu"

    @property
    def key(self) -> Any:
        return (self.target, tuple(self.keys))

    def add(self, name: str, value: Any, static: bool) -> None:
        """Describe one argument.

        Raises
        ------
        CompileError
            It can be neither compiled for nor known while compiling.
        """
        weak = _WEAK.get(type(value))
        if static:
            if isinstance(value, np.ndarray):
                raise UnsupportedError(f"the static argument {name} is an array", None, f"leave {name} out of static=")
            self._static(name, value)
        elif weak is not None and (weak is not _INT or -(2**63) <= value < 2**63):
            self._dynamic(name, value, weak)
        elif isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
            found = dtype_of(value.dtype)
            if found is None:
                raise DTypeError(f"argument {name} is a NumPy scalar of dtype {value.dtype}, which is not supported")
            self._dynamic(name, value, scalar(found))
        else:
            info = None if is_plain(value) else arrays.describe(value, name)
            if info is None:
                self._static(name, value)
            else:
                self.infos[len(self.dynamic)] = info
                self._dynamic(name, value, array_type(info))

    def _dynamic(self, name: str, value: Any, type: Type) -> None:
        self.parameters.append((name, type))
        self.keys.append(type)
        self.dynamic.append(value)

    def _static(self, name: str, value: Any) -> None:
        if isinstance(value, (tuple, list, dict)) and _holds_array(value):
            raise UnsupportedError(
                f"the argument {name} is a {type(value).__name__} of arrays", None, "pass each array as an argument of its own"
            )
        self.parameters.append((name, Static(value)))
        self.keys.append(argument_key(value))


def _keeps_traceback(error: PytocuError) -> bool:
    # The compiler's own frames say nothing to the user, and the message names the user's line.
    return isinstance(error, InternalError) or config.enabled("debug")


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_INT = WeakType("int")
_WEAK: dict[type, WeakType] = {bool: WeakType("bool"), int: _INT, float: WeakType("float"), complex: WeakType("complex")}


def _plain(function: Any) -> Any:
    match function:
        case JitFunction():
            return function._function
        case types.FunctionType():
            return function
        case staticmethod() | classmethod() | property():
            kind = type(function).__name__
            raise UnsupportedError(f"jit takes a Python function, not a {kind}", None, f"write @{kind} above @pytocu.jit")
        case functools.partial():
            help = "jit the function, and make the partial of the result"
            raise UnsupportedError("jit takes a Python function, not a functools.partial", None, help)
    raise UnsupportedError(f"jit takes a Python function, not {describe(function)}", None, "decorate a def or a lambda")


def _holds_array(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return any(_holds_array(m) if isinstance(m, (tuple, list, dict)) else _is_array_like(m) for m in members)


def _is_array_like(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, (np.generic, type))


def _shown(parameter: Type | Static) -> str:
    return f"static {parameter.value!r}" if isinstance(parameter, Static) else str(parameter)


def _parsed(text: str, name: str) -> Type:
    try:
        return parse_type(text)
    except ValueError as error:
        raise DTypeError(f"argument {name}: {error}") from None


def array_type(info: ArrayInfo) -> ArrayType:
    """The type of an argument: lengths are symbols of its name, except 1."""
    shape = tuple(1 if length == 1 else symbol(f"{info.name}_{axis}") for axis, length in enumerate(info.shape))
    return ArrayType(info.dtype, shape, layout_of(info))


def fastmath_flags(fastmath: bool | str | Sequence[str]) -> tuple[str, ...]:
    """LLVM's flag names from what ``jit(fastmath=...)`` takes.

    Raises
    ------
    PytocuError
        An unknown flag.

    Examples
    --------
    >>> fastmath_flags("contract")
    ('contract',)
    """
    if fastmath is True:
        return FASTMATH_FLAGS
    if not fastmath:
        return ()
    flags = (fastmath,) if isinstance(fastmath, str) else tuple(fastmath)  # pyright: ignore[reportArgumentType]
    for flag in flags:
        if flag not in FASTMATH_FLAGS:
            raise PytocuError(f"fastmath={flag!r}: the flags are {', '.join(FASTMATH_FLAGS)}")
    return tuple(f for f in FASTMATH_FLAGS if f in flags)


@overload
def jit(fn: Callable[P, R], /) -> JitFunction[P, R]: ...
@overload
def jit(
    *,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
    static: str | Sequence[str] = (),
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
@overload
def jit(
    fn: Callable[P, R],
    /,
    *,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
    static: str | Sequence[str] = (),
) -> JitFunction[P, R]: ...
def jit(
    fn: Callable[P, R] | None = None,
    /,
    *,
    device: str | None = None,
    backend: str | None = None,
    fastmath: bool | str | Sequence[str] = False,
    static: str | Sequence[str] = (),
) -> Any:
    """Compile a NumPy-style function; use it bare or called.

    Parameters
    ----------
    fn : function
        A function, method, nested function or lambda with source.
    device : str, optional
        ``"cuda"`` or ``"cuda:1"`` copies NumPy arrays to that GPU and results back.  Without
        it NumPy arrays run on the CPU and device arrays where they are.
    backend : str, optional
        Name of a backend of the target; the default one otherwise.
    fastmath : bool, str or sequence of str
        LLVM's fast-math flags to allow; exact by default.
    static : str or sequence of str
        Parameters whose values are known while compiling; another value compiles again.

    Returns
    -------
    JitFunction
        Called like `fn`; the results are those of NumPy.

    Raises
    ------
    PytocuError
        An unknown flag, device or parameter name.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> @pytocu.jit
    ... def scaled(x, factor):
    ...     return np.sqrt(x) * factor
    >>> scaled(np.array([1.0, 4.0], np.float32), 3)
    array([3., 6.], dtype=float32)
    """
    if device is not None and not (device in ("cpu", "cuda") or (device.startswith("cuda:") and device[5:].isdigit())):
        raise PytocuError(f"device={device!r}: write 'cpu', 'cuda' or 'cuda:0'")
    names = (static,) if isinstance(static, str) else tuple(static)
    options = Options(backend, fastmath_flags(fastmath))

    def decorate(function: Any) -> Any:
        if isinstance(function, types.MethodType):
            return BoundJitFunction(JitFunction(function.__func__, device, options, names), function.__self__)
        return JitFunction(function, device, options, names)

    return decorate if fn is None else decorate(fn)


__all__ = ["JitFunction", "Specialization", "jit"]

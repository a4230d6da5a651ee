"""``@pytocu.jit``: a call's signature, and the table of compiled specialisations."""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from pytocu import config
from pytocu.driver import Compiled, Lowered, Options, lower, move_to_device
from pytocu.errors import CompileError, DTypeError, Loc, PytocuError, UnsupportedError
from pytocu.frontend.guards import static_key
from pytocu.frontend.values import Static
from pytocu.ir.dims import symbol
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, dtype_of, parse_type, scalar
from pytocu.passes.context import FASTMATH_FLAGS
from pytocu.runtime import arrays
from pytocu.runtime.arrays import ArrayInfo
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

    __pytocu_jit__ = True
    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], device: str | None, options: Options, static: tuple[str, ...]):
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self._function = _plain(function)
        self._device = device
        self._options = options
        self._static = static
        self._signature = inspect.signature(function)
        self._names = tuple(self._signature.parameters)
        self._lock = threading.RLock()
        self._table: dict[Any, list[_Entry]] = {}
        for name in static:
            if name not in self._names:
                raise PytocuError(f"static={static!r}: {self.__name__} has no parameter {name}; it has {', '.join(self._names)}")

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if config.enabled("disable"):
            return self.__wrapped__(*args, **kwargs)
        try:
            return self._call(self._bind(args, kwargs), None)
        except CompileError as error:
            if config.enabled("debug"):
                raise
            # The compiler's own frames say nothing to the user; the message names the user's line.
            raise error.with_traceback(None) from None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<pytocu.jit {self.__name__}{self._signature}>"

    def __reduce__(self) -> Any:
        # By reference, as functions pickle; the decorated name finds this object again.
        return self.__qualname__  # pyright: ignore[reportAttributeAccessIssue]

    # Calls.

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not kwargs and len(args) == len(self._names) and not self._variadic:
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    @functools.cached_property
    def _variadic(self) -> bool:
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        found = [p.name for p in self._signature.parameters.values() if p.kind in kinds]
        if found:
            raise UnsupportedError(
                f"{self.__name__} takes *{found[0]}", self._loc, "name each argument of a compiled function"
            )
        return False

    @property
    def _loc(self) -> Loc:
        code = self._function.__code__
        return Loc(code.co_filename, code.co_firstlineno, 1, 0, self._function.__name__)

    def _call(self, values: tuple[Any, ...], sizes_hint: None) -> Any:
        self._variadic  # noqa: B018 - raises for *args
        device = self._device
        originals = None
        if device is not None and device.startswith("cuda"):
            moved = move_to_device(values, int(device[5:]) if device[4:5] == ":" else None)
            if moved is not None:
                originals, values = values, moved
        parameters, key, infos, dynamic = self._describe(values)
        on_gpu = any(not i.on_host for i in infos.values()) or (device or "").startswith("cuda")
        target = "cuda" if on_gpu else "cpu"
        key = (target, key)
        for index_bits in (32, 64):
            for entry in self._table.get((key, index_bits), ()):
                if not entry.holds(values):
                    continue
                plan = entry.compiled.plan
                sizes = plan.sizes(infos)
                if plan.applies(sizes) and plan.fits(sizes, infos):
                    return entry.compiled.run(dynamic, infos, sizes, self._dynamic_only(originals, values, parameters))
        entry, sizes = self._compile(values, parameters, infos, key, target)
        return entry.compiled.run(dynamic, infos, sizes, self._dynamic_only(originals, values, parameters))

    def _dynamic_only(
        self, originals: tuple[Any, ...] | None, values: tuple[Any, ...], parameters: Sequence[tuple[str, Type | Static]]
    ) -> tuple[Any, ...] | None:
        if originals is None:
            return None
        return tuple(o for o, (_, p) in zip(originals, parameters, strict=True) if not isinstance(p, Static))

    def _compile(
        self,
        values: tuple[Any, ...],
        parameters: list[tuple[str, Type | Static]],
        infos: dict[int, ArrayInfo],
        key: Any,
        target: str,
    ) -> tuple[_Entry, dict[str, int]]:
        sizes = {
            f"{info.name}_{axis}": length for info in infos.values() for axis, length in enumerate(info.shape) if length != 1
        }
        with self._lock:
            lowered = lower(self._function, parameters, self._options, sizes)
            for index_bits in (32, 64):
                compiled = lowered.compile(target, index_bits=index_bits)
                if compiled.plan.fits(compiled.plan.sizes(infos), infos):
                    break
            shown = tuple(f"{name}: {_shown(p)}" for name, p in parameters)
            entry = _Entry(lowered, compiled, shown)
            self._table.setdefault((key, index_bits), []).insert(0, entry)
        return entry, compiled.plan.sizes(infos)

    def _describe(
        self, values: tuple[Any, ...]
    ) -> tuple[list[tuple[str, Type | Static]], Any, dict[int, ArrayInfo], list[Any]]:
        """Parameters as types, the key of the specialisation, arrays by number, dynamic arguments."""
        parameters: list[tuple[str, Type | Static]] = []
        key: list[Any] = []
        infos: dict[int, ArrayInfo] = {}
        dynamic: list[Any] = []
        on_gpu = False
        for name, value in zip(self._names, values, strict=True):
            if name in self._static:
                parameters.append((name, Static(value)))
                key.append(_static_argument(value, name))
                continue
            kind = _SCALAR_KINDS.get(type(value))
            if kind is not None and (kind is not _INT or -(2**63) <= value < 2**63):
                parameters.append((name, kind))
                key.append(kind.kind)
                dynamic.append(value)
                continue
            if isinstance(value, np.generic):
                found = dtype_of(value.dtype)
                if found is None:
                    raise DTypeError(f"argument {name} is a NumPy scalar of dtype {value.dtype}, which is not supported")
                parameters.append((name, scalar(found)))
                key.append(found)
                dynamic.append(value)
                continue
            info = None if _is_static(value) else arrays.describe(value, name)
            if info is None:
                parameters.append((name, Static(value)))
                key.append(self._object_key(value, name))
                continue
            on_gpu = on_gpu or not info.on_host
            described = array_type(info)
            infos[len(dynamic)] = info
            parameters.append((name, described))
            key.append(described)
            dynamic.append(value)
        if on_gpu and any(i.on_host and not i.shape for i in infos.values()):
            values = tuple(v[()] if isinstance(v, np.ndarray) and not v.ndim else v for v in values)
            return self._describe(values)
        return parameters, tuple(key), infos, dynamic

    def _object_key(self, value: Any, name: str) -> Any:
        if isinstance(value, (tuple, list, dict)) and _holds_array(value):
            raise UnsupportedError(
                f"the argument {name} is a {type(value).__name__} of arrays", self._loc, "pass each array as an argument of its own"
            )
        if name == self._names[0] and inspect.isfunction(getattr(type(value), self.__name__, None)) is False:
            # The object a method is called on: its class and the attributes read are guarded.
            if getattr(type(value), self.__name__, None) is self:
                return ("self", type(value))
        return _static_argument(value, name)

    # Looking at it.

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Lower for argument types (or real arguments), with no GPU and nothing run.

        Parameters
        ----------
        *args, **kwargs
            Type texts such as ``"f32[n, 3]"``, ``"bool[n]"``, ``"weak float"``, or real
            arrays and scalars.  Static parameters take their value.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> low = pytocu.jit(lambda x, y: np.hypot(x, y)).lower("f64[n]", "f64[n]")
        >>> [k.name for k in low.kernels]
        ['lambda_']
        """
        self._variadic  # noqa: B018
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        parameters: list[tuple[str, Type | Static]] = []
        sizes: dict[str, int] = {}
        for name, value in zip(self._names, values, strict=True):
            if isinstance(value, str) and name not in self._static and name in bound.arguments:
                parameters.append((name, _parsed(value, name)))
                continue
            if isinstance(value, (ArrayType, ScalarType, WeakType)):
                parameters.append((name, value))
                continue
            one = JitFunction.__new__(JitFunction)
            one._names, one._static, one.__name__ = (name,), self._static, self.__name__
            one._function = self._function
            described, _, infos, _ = one._describe((value,))
            parameters.extend(described)
            for info in infos.values():
                sizes.update({f"{name}_{axis}": length for axis, length in enumerate(info.shape)})
        return lower(self._function, parameters, self._options, sizes)

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """What has been compiled so far, newest first."""
        with self._lock:
            found = [(key, entry) for (key, _), entries in self._table.items() for entry in entries]
        out: list[Specialization] = []
        for (target, _), entry in found:
            plan = entry.compiled.plan
            captured = [f"captured {g.name}" for g in entry.lowered.guards if not isinstance(g.key, _identity())]
            lengths = [f"{d} {'is' if one else 'is not'} 1" for d, one in plan.assumptions]
            bits = [f"offsets fit {s.index_bits} bits" for s in plan.kernels[:1]]
            out.append(Specialization(entry.types, target, (*captured, *lengths, *bits)))
        return tuple(out)


def _identity() -> type:
    from pytocu.frontend.guards import Identity

    return Identity


_INT = WeakType("int")
_SCALAR_KINDS: dict[type, WeakType] = {bool: WeakType("bool"), int: _INT, float: WeakType("float"), complex: WeakType("complex")}


def _plain(function: Any) -> types.FunctionType:
    if isinstance(function, JitFunction):
        return function._function
    if not isinstance(function, types.FunctionType):
        kind = type(function).__name__
        raise UnsupportedError(f"jit takes a Python function, not {kind}", None, "decorate a def or a lambda")
    return function


def _is_static(value: Any) -> bool:
    return value is None or isinstance(value, (str, bytes, int, types.FunctionType, types.ModuleType, type, JitFunction))


def _holds_array(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return any(_holds_array(m) if isinstance(m, (tuple, list, dict)) else hasattr(m, "dtype") and hasattr(m, "shape") for m in members)


def _static_argument(value: Any, name: str) -> Any:
    key = static_key(value)
    try:
        hash(key)
    except TypeError:
        raise UnsupportedError(f"the static argument {name} cannot be hashed") from None
    return key


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

    def decorate(function: Callable[P, R]) -> JitFunction[P, R]:
        return JitFunction(function, device, options, names)

    return decorate if fn is None else decorate(fn)


__all__ = ["JitFunction", "Specialization", "jit"]

"""``@pytocu.jit``: functions that compile themselves for the arguments they meet.

How code for a call is found stands in :mod:`pytocu.source_function`, how it is made in :mod:`pytocu.compiles`.
"""

from __future__ import annotations

import functools
import importlib
import pickle
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from pytocu.config import FASTMATH_FLAGS, Elementwise, Options
from pytocu.deferred import Deferred
from pytocu.errors import PytocuError, UnsupportedError
from pytocu.source_function import SourceFunction, compiler

_compile_for = Deferred("pytocu.compiles", "compile_for")
_lower_for = Deferred("pytocu.compiles", "lower_for")
_precompile = Deferred("pytocu.compiles", "precompile")
_explain = Deferred("pytocu.explain.call", "explain")

if TYPE_CHECKING:
    from pytocu.driver import Lowered
    from pytocu.explain.model import Explanation
    from pytocu.runtime.dispatcher import Entry
    from pytocu.runtime.signature import Call

P = ParamSpec("P")
R = TypeVar("R")


class JitFunction(SourceFunction, Generic[P, R]):
    """A function that compiles itself for the arguments it meets; made by :func:`jit`.

    Attributes
    ----------
    __wrapped__ : function
        The function as it was written: what NumPy runs.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> f = pytocu.jit(lambda x: x[1:] - x[:-1])
    >>> x = np.array([1.0, 4.0, 9.0])
    >>> f(x), f.__wrapped__(x)
    (array([3., 5.]), array([3., 5.]))
    """

    __call__: Callable[P, R]
    __pytocu_plain__ = True
    __wrapped__: Callable[P, R]
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, R], device: str | None, options: Options, static: tuple[str, ...]):
        functools.update_wrapper(self, function)
        self.__wrapped__ = plain = plain_function(function)
        super().__init__(plain, device, options, static)

    @property
    def __pytocu_elements__(self) -> Elementwise | None:
        """How arguments are taken apart, where the function is one of scalars."""
        return self._options.elements

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundJitFunction(self, instance)

    def __repr__(self) -> str:
        return f"<pytocu.jit {self.__name__}{self._signature}>"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        # By reference, as functions pickle: the decorated name finds this object again, or the plain function it wraps.
        found = _named(self.__module__, self.__qualname__)
        if found is self:
            return self.__qualname__
        if _unwrapped(found) is not self._function:
            name = f"{self.__module__}.{self.__qualname__}"
            raise pickle.PicklingError(f"{self!r} is not {name}: functions pickle by name, so define it at the top of a module")
        options = (self._device, self._options, tuple(sorted(self._static)))
        return _made_again, (type(self), self.__module__, self.__qualname__, *options)

    def _with(self, static: Sequence[str], fastmath: Sequence[str] | None) -> JitFunction[..., Any]:
        """The same with other options."""
        flags = self._options.fastmath if fastmath is None else fastmath_flags(fastmath)
        names = tuple(dict.fromkeys((*self._static, *static)))
        return type(self)(self._function, self._device, self._options._replace(fastmath=flags), names)

    def _compile(self, call: Call) -> Entry:
        return _compile_for(self, call)

    # Looking at it.

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Lower for argument types (or real arguments), with no GPU and nothing run.

        Parameters
        ----------
        *args, **kwargs
            Type texts such as ``"f32[n, 3]"``, ``"bool[n]"``, ``"weak float"``, or real
            arrays and scalars.  Static parameters take their value, and so do parameters
            whose default is a text.

        Returns
        -------
        Lowered
            What each pass makes of it, its kernels, and their code for any target.

        Raises
        ------
        CompileError
            The function cannot be compiled for these types.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> low = pytocu.jit(lambda x, y: np.hypot(x, y)).lower("f64[n]", "f64[n]")
        >>> [k.name for k in low.kernels]
        ['lambda_']
        """
        return _lower_for(self, args, kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What the function becomes for arguments, in plain words: kernels, bytes, schedules, dtypes, and why.

        Parameters
        ----------
        *args, **kwargs
            As for :meth:`lower`.  For real arguments bytes are numbers, and it says which specialisation answers
            them, and what tells that from the earlier one most like it.  On a GPU the call is timed.

        Returns
        -------
        Explanation
            Prints as text; data besides.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> f = pytocu.jit(lambda x: x * np.float64(2))
        >>> told = f.explain(np.ones(1000, np.float32))
        >>> len(told.kernels), told.kernels[0].bytes.number
        (1, 12000)
        >>> print(told.wide[0].causes[0].help)
        write np.float32(2), or compute it with Python's numbers and math
        """
        of_parts, parts = self._of_parts(tuple(self._stated(args, kwargs).values()))
        return _explain(of_parts or self, parts if of_parts else args, {} if of_parts else kwargs)

    # Ahead of time.

    def precompile(self, *args: Any, targets: str | Sequence[str] | None = None, **kwargs: Any) -> None:
        """Compile for argument types before the first call with such arguments, and keep the code on disk.

        Parameters
        ----------
        *args, **kwargs
            As for :meth:`lower`.  A number in a shape is an example of a length: 1 broadcasts, and
            ``"f32[2]"`` prepares for the calls in which ``x[1:]`` has length 1.
        targets : str or sequence of str, optional
            ``cpu``, ``cuda`` (the current device), or ``cuda:sm_90``, which needs no such GPU and is for
            the cache on disk.  By default the GPU if there is one, else the CPU.

        Raises
        ------
        CompileError, BackendError
            As a call would.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> @pytocu.jit
        ... def half(x):
        ...     return x / 2
        >>> half.precompile("f32[n]", targets="cpu")
        >>> half.specializations[0].types
        ('x: f32[x_0]',)
        """
        _precompile(self, args, kwargs, targets)


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

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """As :meth:`JitFunction.explain`, with the object filled in."""
        return self.__func__.explain(self.__self__, *args, **kwargs)

    def precompile(self, *args: Any, **kwargs: Any) -> None:
        """As :meth:`JitFunction.precompile`, with the object filled in."""
        self.__func__.precompile(self.__self__, *args, **kwargs)

    @property
    def __wrapped__(self) -> Any:
        return types.MethodType(self.__func__.__wrapped__, self.__self__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__func__.__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundJitFunction) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"


def plain_function(function: Any) -> types.FunctionType:
    """The Python function to compile.

    Raises
    ------
    UnsupportedError
        It is something else.
    """
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
    found = compiler().describe(function)
    raise UnsupportedError(f"jit takes a Python function, not {found}", None, "decorate a def or a lambda")


def _named(module: str, name: str) -> Any:
    """What a dotted name of a module is bound to; None for nothing."""
    try:
        return functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError):
        return None


def _unwrapped(found: Any) -> Any:
    return found._function if isinstance(found, JitFunction) else found


@functools.lru_cache(maxsize=1024)
def _made_again(kind: type, module: str, name: str, device: str | None, options: Options, static: Any) -> Any:
    """The function of a pickle that names a plain function and options; one object for all such pickles."""
    function = _unwrapped(_named(module, name))
    if function is None:
        raise pickle.UnpicklingError(f"there is no function {module}.{name}")
    return kind(function, device, options, static)


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


def checked_device(device: str | None) -> None:
    """Refuse what is no device.

    Raises
    ------
    PytocuError
    """
    if device is not None and not (device in ("cpu", "cuda") or (device.startswith("cuda:") and device[5:].isdigit())):
        raise PytocuError(f"device={device!r}: write 'cpu', 'cuda' or 'cuda:0'")


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
        ``"nvvm"`` or ``"cuda_c"`` on GPUs, ``"llvm"`` on the CPU; the first one of the target by default.
    fastmath : bool, str or sequence of str
        LLVM's fast-math flags to allow: ``reassoc``, ``nnan``, ``ninf``, ``nsz``, ``arcp``, ``contract``, ``afn``;
        True for all of them, none by default.
    static : str or sequence of str
        Parameters whose values are known while compiling; another value compiles again.  Strings, functions,
        dtypes and None are known without being named here.

    Returns
    -------
    JitFunction
        Called like `fn` and with arrays of any shape; the results have NumPy's dtypes, shapes and values, and are
        arrays of the library of the first array on a GPU, else NumPy's.

    Raises
    ------
    PytocuError
        An unknown flag, device or parameter name.
    UnsupportedError
        `fn` is no Python function.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> @pytocu.jit
    ... def scaled(x, factor):
    ...     return np.sqrt(x) * factor
    >>> scaled(np.array([1.0, 4.0], np.float32), 3)
    array([3., 6.], dtype=float32)
    """
    checked_device(device)
    names = (static,) if isinstance(static, str) else tuple(static)
    options = Options(backend, fastmath_flags(fastmath))

    def decorate(function: Any) -> Any:
        if isinstance(function, types.MethodType):
            return BoundJitFunction(JitFunction(function.__func__, device, options, names), function.__self__)
        return JitFunction(function, device, options, names)

    return decorate if fn is None else decorate(fn)


__all__ = ["JitFunction", "jit"]

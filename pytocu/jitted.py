"""``@pytocu.jit``: functions that compile themselves for the arguments they meet.

The compiler is loaded when something has to be compiled, not before: see `compiler`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pickle
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from pytocu import config
from pytocu.config import FASTMATH_FLAGS, Elementwise, Options
from pytocu.deferred import Deferred
from pytocu.errors import BackendError, CompileError, DTypeError, InternalError, Loc, PytocuError, UnsupportedError
from pytocu.guards import may_hold
from pytocu.ir.collector import paused
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, parse_type
from pytocu.runtime import arrays, cuda, results
from pytocu.runtime.dispatcher import Dispatcher, Entry
from pytocu.runtime.executable import Executable
from pytocu.runtime.plan import Plan
from pytocu.runtime.signature import Call

_open_ahead = Deferred("pytocu.backend.libraries", "open_ahead")
_say_lengths = Deferred("pytocu.ir.dims", "say_lengths")
_take_apart = Deferred("pytocu.trees", "take_apart")
_put_together = Deferred("pytocu.trees", "put_together")
_settle = Deferred("pytocu.trees", "settle")
_is_tree_text = Deferred("pytocu.tree_text", "is_tree_text")
_read_argument = Deferred("pytocu.tree_text", "read_argument")
_names_in = Deferred("pytocu.tree_text", "names_in")
_part_names = Deferred("pytocu.trees", "part_names")
_owner_of = Deferred("pytocu.trees", "owner_of")
_as_written = Deferred("pytocu.trees", "as_written")
_shown = Deferred("pytocu.trees", "shown")
_layout = Deferred("pytocu.trees", "layout")
_reported = Deferred("pytocu.explain.failures", "reported")

if TYPE_CHECKING:
    from pytocu.driver import Compiled, Lowered
    from pytocu.explain.model import Explanation
    from pytocu.runtime.manifest import Kept

P = ParamSpec("P")
R = TypeVar("R")


def compiler() -> Any:
    """The module that compiles; loading it takes several times as long as ``import pytocu``."""
    from pytocu import driver

    return driver


def keeper() -> Any:
    """The module that keeps finished plans on disk, loaded at the first call that finds none in memory."""
    from pytocu.runtime import manifest

    return manifest


def watcher() -> Any:
    """The module that shows what a running program compiles."""
    from pytocu.explain import watch

    return watch


def explainer() -> Any:
    """The module that explains what a function becomes."""
    from pytocu.explain import call

    return call


class JitFunction(Dispatcher, Generic[P, R]):
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
        self.__wrapped__ = self._function = plain_function(function)
        self._options = options
        self._by_trees: dict[Any, JitFunction[..., Any]] = {}
        signature, plain = self._calling(inspect.signature(self._function, follow_wrapped=False), options)
        super().__init__(self.__name__, signature, device, static, plain)

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
        try:
            return _settle(of_parts(*parts), of_parts._options.trees, values)
        except CompileError as error:
            if error.help is not None:
                error.help = _as_written(error.help, of_parts._options.trees)
            raise

    def _of_parts(self, values: Sequence[Any]) -> tuple[JitFunction[..., Any] | None, tuple[Any, ...]]:
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
                made = self._by_trees[trees] = JitFunction(self._function, self._device, options, tuple(self._static))
                # One list of all code, so that a compile is told from the one most like it, however arguments hold arrays.
                made._made = self._made
        return made, parts

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
        from pytocu import call_builds

        return call_builds.code()

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
        entry.executable.binary(_target(call).partition(":")[2])
        taken = time.perf_counter() - began
        first = len(self._made) == 1
        watcher().say(self.__name__, entry.types, call.target, how, taken, self._why_made(), first)
        return entry

    def _load(self, call: Call) -> Entry | None:
        """The code that an earlier process kept for such calls."""

        def suits(executable: Executable) -> bool:
            if not executable.suits(call.dynamic, call.infos):
                return False
            if _index_bits(executable.plan) == 32:
                return True
            # Code with wide indices is right for every call, and slower.
            narrow = tuple(k._replace(index_bits=32) for k in executable.plan.kernels)
            plan = executable.plan._replace(kernels=narrow)
            return not Executable(self.__name__, call.target, plan, executable.binary).suits(call.dynamic, call.infos)

        return self._load_where(call, _target(call), suits)

    def _load_where(self, call: Call, target: str, suits: Callable[[Executable], bool]) -> Entry | None:
        if not config.enabled("cache") or config.get("dump"):
            return None
        try:
            key = keeper().key(self._function, call, self._options, target)
        except keeper().NotWritable:
            return None
        for found in keeper().load(key, self._function, call):
            executable = Executable(self.__name__, call.target, found.plan, self._binary(call, target, found))
            if suits(executable):
                return self._keep(call.key, _index_bits(found.plan), Entry(executable, found.guards, call.shown(), self._held))
        return None

    def _binary(self, call: Call, target: str, found: Kept) -> Callable[[str], bytes]:
        def binary(arch: str) -> bytes:
            if arch == target.partition(":")[2]:
                return found.binary
            # A device of another kind than the one the plan was found for.
            lowered = compiler().lower(self._function, call.parameters, self._options, _lengths(call), call.infos)
            return lowered.compile(f"cuda:{arch}", index_bits=_index_bits(found.plan)).binary

        return binary

    def _compile(self, call: Call) -> Entry:
        target = _target(call)
        self._open_libraries(target)
        lowered = None
        try:
            with paused(), _lengths_said(_lengths(call)):
                lowered = compiler().lower(self._function, call.parameters, self._options, _lengths(call), call.infos)
                compiled = lowered.compile_for(call.dynamic, call.infos, target)
                compiled.begin()
        except InternalError as error:
            values = dict(zip(self._names, call.values, strict=True))
            if self._options.trees:
                values = _put_together(self._options.trees, values, lambda made: None)
            told = _reported(error, self._function, values, target, lowered)
            raise told from (error if config.enabled("debug") else None)
        return self._keep_compiled(call, target, lowered, compiled)

    def _open_libraries(self, target: str) -> None:
        """Let the compilers be opened while the module that reads functions is loaded, and reads."""
        if target.startswith("cuda"):
            _open_ahead(self._options.backend or config.BACKENDS["cuda"][0])

    def _keep_compiled(self, call: Call, target: str, lowered: Lowered, compiled: Compiled) -> Entry:
        entry = Entry(compiled.executable, lowered.guards, call.shown(), self._held)
        if folder := config.get("dump"):
            watcher().write(folder, self.__qualname__, entry.types, lowered, compiled, {})
        code = compiled.begin()
        if config.enabled("cache"):
            try:
                self._store(call, target, lowered, compiled, code)
            except keeper().NotWritable as reason:
                keeper().refuse(self.__qualname__, reason)
        return self._keep(call.key, _index_bits(compiled.plan), entry)

    def _store(self, call: Call, target: str, lowered: Lowered, compiled: Compiled, code: str) -> None:
        """Keep the plan for other processes, while its binary is built."""
        for function in (self._function, *(callee for callee, _ in lowered.callees)):
            if not compiler().is_current(function, keeper().code_digest):
                raise keeper().NotWritable(f"the source of {function.__qualname__}, which changed since it was imported")
        key = keeper().key(self._function, call, self._options, target)
        made = keeper().Made(compiled.plan, lowered.guards, lowered.callees, compiled.backend, code)
        # For people; the values of static arguments may be long.
        signature = f"({', '.join(call.shown())})"[:400]
        meta = {"function": self.__qualname__, "signature": signature, "target": target}
        keeper().store(key, self._function, call, made, meta | {"backend": compiled.backend})

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
        call = Call((), on_gpu=False)
        given = self._stated(args, kwargs)
        of_parts, parts = self._of_parts(tuple(given.values()))
        if of_parts is not None:
            return of_parts.lower(*parts)
        for name, value in given.items():
            if isinstance(value, (ArrayType, ScalarType, WeakType)):
                call.parameters.append((name, value))
            else:
                self._describe_one(call, name, value)
        sizes = {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape)}
        with _lengths_said(sizes):
            return compiler().lower(self._function, call.parameters, self._options, sizes, call.infos)

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
        return explainer().explain(of_parts or self, parts if of_parts else args, {} if of_parts else kwargs)

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
        of_parts, parts = self._of_parts(tuple(self._stated(args, kwargs).values()))
        if of_parts is not None:
            return of_parts.precompile(*parts, targets=targets)
        if targets is None:
            targets = "cuda" if cuda.available()[0] else "cpu"
        for text in (targets,) if isinstance(targets, str) else targets:
            kind = text.partition(":")[0]
            if kind not in ("cpu", "cuda"):
                raise BackendError(f"{text!r} is not a target: write cpu, cuda or cuda:sm_90")
            here = cuda.arch(cuda.current_device()) if kind == "cuda" and cuda.available()[0] else ""
            target = f"cuda:{here}" if text == "cuda" and here else text
            call, sizes = self._call_of_types(args, kwargs, kind == "cuda")
            with self._lock:
                entry = self._load_where(call, target, functools.partial(_is_example, sizes=sizes))
                if entry is None:
                    with paused():
                        lowered, compiled = self._compile_ahead(call, sizes, target, 32)
                        compiled.begin()
                    entry = self._keep_compiled(call, target, lowered, compiled)
            entry.executable.binary(target.partition(":")[2])
            if kind == "cpu" or target == f"cuda:{here}":
                entry.executable.prepare()

    def _call_of_types(self, args: tuple[Any, ...], kwargs: dict[str, Any], on_gpu: bool) -> tuple[Call, dict[str, int]]:
        """A call with types in place of arguments, and the lengths that are given."""
        values: list[Any] = []
        sizes: dict[str, int] = {}
        call = Call((), on_gpu)
        for name, value in self._stated(args, kwargs).items():
            is_type = isinstance(value, (ArrayType, ScalarType, WeakType))
            values.append(None if is_type else value)
            if not is_type:
                self._describe_one(call, name, value)
                continue
            call.add_type(name, value)
            if isinstance(value, ArrayType):
                for axis, n in enumerate(value.shape):
                    # A length without a number is any but those that make a fact: far from 1, and from the others.
                    sizes[f"{name}_{axis}"] = n if isinstance(n, int) else _ANY_LENGTH * (len(sizes) + 2) ** 2
        call.values = tuple(values)
        return call, {**_lengths(call), **sizes}

    def _compile_ahead(self, call: Call, sizes: dict[str, int], target: str, index_bits: int) -> tuple[Lowered, Compiled]:
        self._open_libraries(target)
        known = {name: n for name, n in sizes.items() if n < _ANY_LENGTH}
        lowered = compiler().lower(self._function, call.parameters, self._options, sizes, known=known)
        return lowered, lowered.compile(target, index_bits=index_bits)

    def _known_in_bundle(self) -> tuple[str, ...]:
        """The parameters that a function of a bundle takes the value of."""
        return tuple(self._static)

    def _build(
        self, signatures: Sequence[tuple[Sequence[Any], dict[str, Any]]], targets: Sequence[str], folder: str
    ) -> Iterator[tuple[str, str, int, int]]:
        """Write a bundle, and say of each binary that it is made: ``pytocu build``.

        Parameters
        ----------
        signatures : sequence of (args, kwargs)
            Types as for :meth:`precompile`; each is built with indices of 32 and of 64 bits.
        targets : sequence of str
            ``cpu`` (this machine's) and ``cuda:sm_90``.
        folder : str
            Made where it is missing; functions that are there stay.

        Yields
        ------
        tuple of (str, str, int, int)
            For each binary: the types, the target, the bits of an index, and the bytes.
        """
        from pytocu.runtime import bundle

        built: list[bundle.Built] = []
        for args, kwargs in signatures:
            for target in targets:
                of_parts, parts = self._of_parts(tuple(self._stated(tuple(args), kwargs).values()))
                function = of_parts or self
                given = (parts, {}) if of_parts else (tuple(args), kwargs)
                call, sizes = function._call_of_types(*given, target != "cpu")
                held = _layout(function._options.trees) if of_parts else ()
                for index_bits in (32, 64):
                    _, compiled = function._compile_ahead(call, sizes, target, index_bits)
                    made = bundle.Built(call, compiled.target.arch, compiled.plan, compiled.binary, held)
                    built.append(made)
                    yield f"({', '.join(call.shown())})", str(compiled.target), index_bits, len(made.binary)
                    if not compiled.plan.kernels:
                        break
        known, calls = self._known_in_bundle(), self._call_code()
        bundle.write(folder, self.__name__, self._signature, self._device, known, built, calls)


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


_ANY_LENGTH = 10**9
"""Stands for lengths without a number ahead of time."""


def _target(call: Call) -> str:
    """What code is made for: ``cuda:sm_90``, or ``cpu``."""
    if call.target == "cpu":
        return "cpu"
    like = arrays.common(call.infos.values())
    device = cuda.current_device() if like is None else results.resolve_device(like)
    assert isinstance(device, int)
    return f"cuda:{cuda.arch(device)}"


def _index_bits(plan: Plan) -> int:
    return plan.kernels[0].index_bits if plan.kernels else 32


def _is_example(executable: Executable, sizes: dict[str, int]) -> bool:
    """Whether the code is what would be compiled ahead of time for these lengths."""
    plan = executable.plan
    return _index_bits(plan) == 32 and all(fact.holds(sizes) for fact in plan.assumptions)


def _lengths(call: Call) -> dict[str, int]:
    return {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape) if n != 1}


@contextmanager
def _lengths_said(sizes: dict[str, int]) -> Iterator[None]:
    """Errors about shapes say lengths that are known, as NumPy does."""
    try:
        yield
    except CompileError as error:
        _say_lengths(error, sizes)
        raise


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


def _type_at(text: str, place: str) -> Type:
    try:
        return parse_type(text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


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

"""The road itself: a function lowered, and compiled; every stage can be looked at."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pytocu import config
from pytocu.ahead import Ahead
from pytocu.config import BACKENDS, DEFAULT_OPTIONS, Options
from pytocu.deferred import Deferred
from pytocu.errors import BackendError, PytocuError, failed
from pytocu.frontend import lower as frontend_lower
from pytocu.frontend.source import is_current, parameter_loc
from pytocu.frontend.values import describe
from pytocu.guards import Guard, Path, Static
from pytocu.ir.core import Block, Function, walk
from pytocu.ir.dims import Dim, DimLike, Fact
from pytocu.ir.types import PointerType, Type
from pytocu.lazy import lazy
from pytocu.passes import infer_shapes
from pytocu.passes.context import PassContext, Target, parse_target
from pytocu.passes.pipeline import (
    FIRST_OF_OFFSETS,
    LAST_OF_ANY_OFFSETS,
    History,
    pass_names,
    run_pipeline,
    with_offsets_of,
)
from pytocu.planning import kernel_function, kernel_functions, launches, make_plan, names_in_module, written_arguments
from pytocu.record import Record
from pytocu.runtime import cache, cuda, toolchain
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.executable import Executable
from pytocu.runtime.plan import Sharing, shared_memory
from pytocu.runtime.plan_loops import steady
from pytocu.runtime.program import Program

if TYPE_CHECKING:
    from pytocu.backend import cubin

_gpu_steps = Deferred("pytocu.host_builds", "steps")
_place_of = Deferred("pytocu.ir.places", "place_of")
_print_function = Deferred("pytocu.ir.printer", "print_function")


class _Tools(Record):
    """A backend: loop-level functions to text, text to a binary, and what the binary depends on besides.

    `begin` does what is better done in the caller's thread and returns the rest of building.
    """

    emit: Callable[[Sequence[Function]], str]
    begin: Callable[[str, str, str], Callable[[], bytes]]
    version: Callable[[str], tuple[str, ...]]
    assembly: Callable[[str, str, str], str]


def _tools(backend: str) -> _Tools:
    """The only backend that is loaded."""
    lines = config.enabled("lineinfo")
    match backend:
        case "cuda_c":
            from pytocu.backend import cuda_c, nvrtc

            return _Tools(
                partial(cuda_c.emit, lineinfo=lines),
                partial(partial, nvrtc.build, lineinfo=lines),
                lambda arch: (str(nvrtc.version()), *nvrtc.options_for(arch, lines)),
                partial(nvrtc.ptx, lineinfo=lines),
            )
        case "nvvm":
            from pytocu.backend import nvvm

            return _Tools(
                partial(nvvm.emit, lineinfo=lines),
                partial(nvvm.begin, lineinfo=lines),
                lambda arch: (str(nvvm.version()), *nvvm.options_for(arch, lines)),
                partial(nvvm.ptx, lineinfo=lines),
            )
        case _:
            from pytocu.backend import cpu, llvm

            return _Tools(
                llvm.emit,
                lambda source, arch, name: partial(cpu.build, source),
                lambda arch: (*cpu.host_cpu(), *cpu.options()),
                lambda source, arch, name: cpu.assembly(source),
            )


def missing(backend: str, arch: str) -> str:
    """Why the compiler of a backend cannot be used here; empty where it can."""
    try:
        _tools(backend).version(arch)
    except BackendError as error:
        return str(error)
    return ""


class KernelInfo(Record):
    """One kernel of a function.

    Attributes
    ----------
    name : str
        Its name in the generated code.
    ir : str
        The kernel as loop-level text.
    reads, writes : tuple of str
        The arrays, as ``name: type``.
    schedule : str
        How the elements are shared out: ``pointwise``, ``rows``, ``columns``, ``sweep`` and others.
    why : str
        Why it is a kernel of its own; empty where there is one.
    launches : int
        How often the plan starts it.
    """

    name: str
    ir: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    schedule: str
    why: str
    launches: int = 1


class Lowered:
    """A function for one list of argument types, before any backend; made by ``f.lower(...)``.

    Parameters
    ----------
    function : Function
        Array IR as the front end made it.
    guards : tuple of Guard
        What it captured.
    options : Options
        Those of :func:`pytocu.jit`.
    name : str
        The user's name of the function.
    callees : tuple of (function, path or None)
        The functions that were read besides, and how another process finds them.
    sizes : mapping
        Lengths of the call that asks, by name; they choose size classes.

    Examples
    --------
    >>> import pytocu
    >>> low = pytocu.jit(lambda x: x + 1).lower("f32[n]")
    >>> print(low.ir("lower"))
    func @lambda_(%x: f32[n]) {
      %0 = const 1 : weak int
      %1 = add %x, %0 : f32[n]
      return %1 {tree = 0}
    }
    """

    def __init__(
        self,
        function: Function,
        guards: tuple[Guard, ...],
        options: Options,
        name: str = "",
        callees: tuple[tuple[types.FunctionType, Path | None], ...] = (),
        sizes: Mapping[str, int] = types.MappingProxyType({}),
    ):
        self.function = function
        self.guards = guards
        self.callees = callees
        self.options = options
        self.name = name or function.name
        self.sizes = sizes
        self._begun: dict[Target, Function] = {}

    def context(self, target: str | Target = "cuda", index_bits: int = 32) -> PassContext:
        """What the passes know besides the function."""
        return PassContext(parse_target(target), self.options.fastmath, index_bits, self.sizes)

    def history(
        self, target: str | Target = "cuda", index_bits: int = 32, check: bool = True, stop: str = ""
    ) -> History:
        """The function after every pass.

        Parameters
        ----------
        target : str
            ``cuda`` or ``cpu``.
        index_bits : int
            32 where every offset is below 2**31, else 64.
        check : bool
            Verify the IR after every pass.
        stop : str
            The last pass to run; all by default.

        Returns
        -------
        History
            ``records``: of each pass its ``name``, the ``function``, the ``milliseconds``, and whether it ``changed``
            anything.

        Examples
        --------
        >>> import pytocu
        >>> records = pytocu.jit(lambda x: x * 1 + 2).lower("f32[n]").history(stop="simplify").records
        >>> [r.name for r in records if r.changed]
        ['infer-types', 'infer-shapes', 'simplify']
        """
        history = History()
        run_pipeline(self.function, self.context(target, index_bits), history, check=check, stop=stop)
        return history

    def ir(self, after: str | None = None, target: str | Target = "cuda", locs: bool = False) -> str:
        """The IR as text.

        Parameters
        ----------
        after : str, optional
            Name of a pass (``lower`` for the front end's result, ``infer-types``, ...); after
            the whole pipeline by default.
        target : str
            ``cuda`` or ``cpu``; matters from the pass ``schedule`` on.
        locs : bool
            Show the source place of every instruction.

        Raises
        ------
        PytocuError
            There is no such pass.

        Examples
        --------
        >>> import pytocu
        >>> print(pytocu.jit(lambda x: x + 1).lower("f32[n]").ir("dce"))
        func @lambda_(%x: f32[n]) {
          %0 = const 1.0 : f32
          %1 = add %x, %0 : f32[n]
          return %1 {tree = 0}
        }
        """
        names = ("lower", *pass_names())
        if after is not None and after not in names:
            raise PytocuError(f"there is no pass {after!r}; the passes are {', '.join(names)}")
        if after == "lower":
            return _print_function(self.function, locs)
        # What comes behind may fail, which is no reason not to show this.
        return _print_function(self.history(target, stop=after or "").records[-1].function, locs)

    def host(self, target: str | Target = "cuda", index_bits: int = 32) -> Function:
        """The host function after the whole pipeline."""
        context, check = self.context(target, index_bits), config.enabled("check")
        begun = self._begun.get(context.target)
        if begun is None:
            # As far as it is the same for offsets of 64 bits, which a call may turn out to need.
            begun = self._begun[context.target] = run_pipeline(self.function, context, check=check, stop=LAST_OF_ANY_OFFSETS)
        return run_pipeline(with_offsets_of(begun, index_bits), context, check=check, start=FIRST_OF_OFFSETS)

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """One :class:`KernelInfo` a kernel, in order of launch (GPU schedules).

        Examples
        --------
        >>> import pytocu
        >>> (kernel,) = pytocu.jit(lambda x: x / x.sum(axis=1, keepdims=True)).lower("f32[n, 1000]").kernels
        >>> kernel.schedule, kernel.reads, kernel.writes
        ('rows', ('x: f32[n, 1000]',), ('out: f32[n, 1000]',))
        """
        return kernel_infos(self.host("cuda"))

    def compile(self, target: str | Target = "cuda", backend: str | None = None, index_bits: int = 32) -> Compiled:
        """Generate and build code.

        Parameters
        ----------
        target : str
            ``cuda:sm_90`` needs no GPU, ``cuda`` takes the current device's architecture,
            ``cpu`` is this machine.
        backend : str, optional
            ``nvvm`` (the default) or ``cuda_c`` for CUDA, ``llvm`` for the CPU.
        index_bits : int
            32 where every offset is below 2**31, else 64.

        Returns
        -------
        Compiled
            Its text and binary, built when they are asked for.

        Raises
        ------
        BackendError
            Unknown target or backend, or a missing compiler.

        Examples
        --------
        >>> import numpy as np, pytocu
        >>> compiled = pytocu.jit(lambda x: x + 1).lower("f32[n]").compile("cpu")
        >>> compiled(np.zeros(2, np.float32))
        array([1., 1.], dtype=float32)
        """
        parsed = parse_target(target)
        chosen = choose_backend(parsed, backend or self.options.backend)
        if parsed.kind == "cuda" and not parsed.arch:
            parsed = Target("cuda", cuda.arch(cuda.current_device()))
        return Compiled(self.host(parsed, index_bits), parsed, chosen, self.name)

    def compile_for(
        self, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo], target: str | Target, backend: str | None = None
    ) -> Compiled:
        """Code for a call: with wide indices where the lengths that are known before it do not say that offsets fit 32 bits.

        Parameters
        ----------
        arguments : sequence
            Those that are not known while compiling.
        infos : mapping
            The arrays among them by position.
        target, backend
            As of :meth:`compile`.
        """
        compiled = self.compile(target, backend)
        return compiled if compiled.executable.suits(arguments, infos) else self.compile(target, backend, 64)


def _native_steps() -> str:
    """The function that makes the steps of loops on a CPU."""
    from pytocu.backend import cpu_steps

    return cpu_steps.TEXT


def choose_backend(target: Target, backend: str | None) -> str:
    """The backend's name, checked against the target.

    Raises
    ------
    BackendError
        The target has no such backend.
    """
    known = BACKENDS[target.kind]
    if backend is None:
        return known[0]
    if backend not in known:
        raise BackendError(f"there is no backend {backend!r} for {target.kind}; choose from {', '.join(known)}")
    return backend


def kernel_infos(host: Function) -> tuple[KernelInfo, ...]:
    """Descriptions of a host function's kernels."""
    infos: list[KernelInfo] = []
    for launch in launches(host):
        function = kernel_function(host, launch)
        pointers = [(p, a) for p, a in zip(function.params, launch.args, strict=True) if isinstance(p.type, PointerType)]
        used = {name: {i.args[0] for i in walk(function.body) if i.op.name == name} for name in ("load", "store")}
        reads, writes = (tuple(f"{p.name}: {a.type}" for p, a in pointers if p in used[n]) for n in ("load", "store"))
        infos.append(
            KernelInfo(
                function.name,
                _print_function(function),
                reads,
                writes,
                launch.attr("schedule"),
                launch.attr("why", ""),
            )
        )
    return tuple(infos)


class Compiled:
    """Code for one target, callable with matching arguments; made by :meth:`Lowered.compile`.

    Parameters
    ----------
    host : Function
        After the whole pipeline.
    target : Target
        What it is for; ``str(target)`` is ``cuda:sm_90`` or ``cpu``.
    backend : str
        What makes the code.
    name : str
        The user's name of the function.
    only : str
        The one kernel whose code is looked at; all by default.

    Attributes
    ----------
    source : str
        CUDA C, NVVM IR or LLVM IR.
    binary : bytes
        A cubin, or object code of this machine.
    assembly : str
        PTX, or the CPU's assembly.
    sass : str
        The machine code of a GPU, where nvdisasm is installed.
    signature : str
        The types of the parameters.
    kernel_names : tuple of str
        Of each launch the kernel's name in the generated code.
    kernels : tuple of KernelInfo
        Launches of the finished plan.
    resources : tuple of Resources
        Registers, spills, shared memory and code of each kernel of a CUDA target.
    plan : Plan
        What a call does.
    executable : Executable
        Runs it, without the rest of this.
    """

    def __init__(self, host: Function, target: Target, backend: str, name: str, only: str = ""):
        self.host = host
        self.target = target
        self.backend = backend
        self.name = name
        self.plan = make_plan(host)
        self.executable = Executable(name, target.kind, self.plan, self._binary_for, _gpu_steps)
        self._only = only
        self._functions = tuple(f for f in kernel_functions(host) if only in ("", f.name))

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """Launches of the finished plan."""
        return kernel_infos(self.host)

    @property
    def resources(self) -> tuple[cubin.Resources, ...]:
        """What each kernel takes of a GPU, in order of launch: registers, spills, shared memory, code.

        Raises
        ------
        BackendError
            For the cpu target.
        """
        if self.target.kind == "cpu":
            raise BackendError("registers are counted for CUDA targets; the assembly shows the CPU's")
        from pytocu.backend import cubin

        return tuple(cubin.resources(self.binary, name) for name in self.kernel_names)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels' names in the generated code, in order of launch."""
        names = names_in_module(self._functions, self.target.kind)
        return tuple(names[i.attr("name")] for i in launches(self.host) if i.attr("name") in names)

    @lazy
    def source(self) -> str:
        """The generated text: CUDA C, NVVM IR or LLVM IR."""
        try:
            text = _tools(self.backend).emit(self._functions)
            # Kernels that are looked at alone have no loop around them.
            loops = self.target.kind == "cpu" and not self._only and steady(self.plan, False)
            return f"{text}\n{_native_steps()}" if loops else text
        except PytocuError:
            raise
        except Exception as error:
            # A defect, which names the step; it is never compiled in another way.
            raise failed(f"the backend {self.backend}", self.name, error, _place_of(error)) from error

    @lazy
    def binary(self) -> bytes:
        """The built code: a cubin for the target's architecture, or object code."""
        if not self._functions:
            return b""
        return self._binary_for(self.target.arch)

    def begin(self) -> str:
        """Begin to build the binary in a thread of its own, for which :attr:`binary` waits.

        Returns
        -------
        str
            The key under which the cache keeps the binary; empty without a cache or without kernels.
        """
        return self._build(self.target.arch).key if self._functions else ""

    def _binary_for(self, arch: str) -> bytes:
        return self._build(arch).binary()

    def _build(self, arch: str) -> _Build:
        return _begun(self.backend, self.source, arch, self.name, self.signature, _kept_in())

    @property
    def signature(self) -> str:
        """The types of the parameters, for people."""
        return f"({', '.join(str(p.type) for p in self.host.params)})"

    @property
    def assembly(self) -> str:
        """Assembly of the CPU code, or PTX, which is what NVIDIA's assembler gets."""
        return _tools(self.backend).assembly(self.source, self.target.arch, self.name)

    @property
    def sass(self) -> str:
        """The machine code of a CUDA target, as nvdisasm shows it.

        Raises
        ------
        BackendError
            For the cpu target, and where there is no nvdisasm.
        """
        if self.target.kind == "cpu":
            raise BackendError("SASS is the code of GPUs; the assembly shows the CPU's")
        from pytocu.backend import sass

        return sass.disassemble(self.binary)

    def short_program(self, library: str, device: int | str) -> Program:
        """See :meth:`Executable.short_program`."""
        return self.executable.short_program(library, device)

    def __call__(self, *arguments: Any) -> Any:
        """Run on arrays that match the types the code was compiled for."""
        return self.executable(*arguments)


class _Build:
    """The binary of a source: from the cache on disk, or built in a thread of its own and kept there.

    Parameters are those of :func:`_begun`.
    """

    def __init__(self, backend: str, source: str, arch: str, name: str, signature: str, kept_in: str):
        self.key = _code_key(backend, source, arch) if kept_in else ""
        self._shown = {"function": name, "signature": signature, "target": _target(arch), "backend": backend}
        found = cache.load(self.key) if self.key else None
        self._binary = None if found is None else found.binary
        self._ahead = Ahead(_tools(backend).begin(source, arch, name)) if found is None else None
        # One of the threads that wait for it keeps it.
        self._first = iter((True,))

    def binary(self) -> bytes:
        """What was built; errors as the backend's `build`."""
        ahead = self._ahead
        if ahead is not None and self._binary is None:
            try:
                binary = ahead.result()
            except BaseException:
                # The next call may find what was missing.
                _begun.cache_clear()
                raise
            if self.key and next(self._first, False):
                cache.store(self.key, cache.Entry("code", self._shown, "", binary))
            self._binary, self._ahead = binary, None
        assert self._binary is not None
        return self._binary


@lru_cache(maxsize=512)
def _begun(backend: str, source: str, arch: str, name: str, signature: str, kept_in: str) -> _Build:
    """The build of a source, under way or finished, for the cache in a directory: another one does not have it."""
    return _Build(backend, source, arch, name, signature, kept_in)


def _kept_in() -> str:
    """The directory that the cache keeps binaries in; empty without a cache."""
    if not config.enabled("cache"):
        return ""
    try:
        return cache.path()
    except cache.CacheError:
        # The look-up says so, once.
        return "nowhere"


def _code_key(backend: str, source: str, arch: str) -> str:
    # Comments name the user's file and line, which the binary does not depend on.
    code = "\n".join(line for line in source.splitlines() if not line.startswith("//"))
    return cache.key(("code", config.VERSION, backend, _target(arch), *_toolchain(backend, arch), code))


def _target(arch: str) -> str:
    return f"cuda:{arch}" if arch else "cpu"


def _toolchain(backend: str, arch: str) -> tuple[str, ...]:
    """What a binary depends on besides its source: the compiler and how it is called."""
    return (toolchain.installed(backend), *_tools(backend).version(arch))


def lower(
    function: types.FunctionType,
    parameters: Sequence[tuple[str, Type | Static]],
    options: Options = DEFAULT_OPTIONS,
    sizes: Mapping[str, int] | None = None,
    infos: Mapping[int, ArrayInfo] | None = None,
    known: Mapping[str, int] | None = None,
) -> Lowered:
    """Front end only; see :class:`Lowered`.

    `sizes` are the lengths of the call that asks, if any: they decide which lengths of views
    are 1 and so broadcast, which are 0 where elements are taken at positions, and nothing else.
    `infos` are its arrays: they decide which of them share memory with one that is written. Of several errors the call's
    first one is raised.
    `known` are the lengths that choose size classes, by default all.
    """
    ones: frozenset[Dim] = frozenset()
    apart: frozenset[tuple[DimLike, DimLike]] = frozenset()
    zeros: frozenset[Dim] = frozenset()
    missed: frozenset[Fact] = frozenset()
    sharing: Sharing = ()
    call = None if infos is None else (sizes or {}, frozenset(n for n, info in infos.items() if info.readonly))
    elements, trees = options.elements, options.trees
    while True:
        try:
            misses = (missed, sizes or {})
            result = frontend_lower(function, parameters, ones, sharing, elements, apart, trees, zeros, call, misses)
        except PytocuError:
            raise
        except Exception as error:
            # A defect, as above.
            raise failed("the front end", function.__name__, error, _place_of(error)) from error
        found = infer_shapes.unit_lengths(result.function, sizes or {})
        shared = shared_memory(written_arguments(result.function), infos or {})
        differing = infer_shapes.apart_lengths(result.function, sizes or {})
        none = infer_shapes.zero_lengths(result.function, sizes or {})
        wrong = infer_shapes.missed(result.function, sizes or {})
        if found <= ones and differing <= apart and none <= zeros and wrong <= missed and shared == sharing:
            classes = (sizes or {}) if known is None else known
            return Lowered(result.function, result.guards, options, function.__name__, result.callees, classes)
        # Arguments in one memory have the symbols of one of them, so lengths are looked at anew.
        ones = ones | found if shared == sharing else frozenset()
        apart = apart | differing if shared == sharing else frozenset()
        zeros = zeros | none if shared == sharing else frozenset()
        missed = missed | wrong if shared == sharing else frozenset()
        sharing = shared


__all__ = [
    "Block",
    "Compiled",
    "KernelInfo",
    "Lowered",
    "Options",
    "describe",
    "is_current",
    "lower",
    "make_plan",
    "parameter_loc",
]

"""What of a jitted function needs the compiler: code for calls and for argument types, kept on disk or in bundles.

A warm start does not load this module.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytocu import config
from pytocu.deferred import Deferred
from pytocu.errors import BackendError, CompileError, InternalError
from pytocu.ir.collector import paused
from pytocu.ir.types import ArrayType, ScalarType, WeakType
from pytocu.processes import fork_waits
from pytocu.runtime import cuda
from pytocu.runtime.dispatcher import Entry
from pytocu.runtime.executable import Executable
from pytocu.runtime.plan_loops import steady
from pytocu.runtime.signature import Call
from pytocu.source_function import SourceFunction, compiler, index_bits_of, keeper, lengths_of, target_of, watcher

_open_ahead = Deferred("pytocu.backend.libraries", "open_ahead")
_say_lengths = Deferred("pytocu.ir.dims", "say_lengths")
_put_together = Deferred("pytocu.trees", "put_together")
_layout = Deferred("pytocu.trees", "layout")
_gpu_steps = Deferred("pytocu.host_builds", "steps")
_shown_with = Deferred("pytocu.explain.lengths", "shown_with")
_reported = Deferred("pytocu.explain.failures", "reported")

if TYPE_CHECKING:
    from pytocu.driver import Compiled, Lowered

_ANY_LENGTH = 10**9
"""Stands for lengths without a number ahead of time."""


def compile_for(function: SourceFunction, call: Call) -> Entry:
    """Code for a call that none is there for, kept in memory and on disk."""
    # Not as a decorator, whose frame would be the one that a warning names as the caller's.
    with paused():
        return _compiled_for(function, call)


def _compiled_for(function: SourceFunction, call: Call) -> Entry:
    target = target_of(call)
    _open_libraries(function, target)
    lowered = None
    try:
        with _lengths_said(lengths_of(call), dict(zip(function._names, call.values, strict=True))):
            lowered = compiler().lower(function._function, call.parameters, function._options, lengths_of(call), call.infos)
            compiled = lowered.compile_for(call.dynamic, call.infos, target)
            compiled.begin()
    except InternalError as error:
        values = dict(zip(function._names, call.values, strict=True))
        if function._options.trees:
            values = _put_together(function._options.trees, values, lambda made: None)
        told = _reported(error, function._function, values, target, lowered)
        raise told from (error if config.enabled("debug") else None)
    return _keep_compiled(function, call, target, lowered, compiled)


def _open_libraries(function: SourceFunction, target: str) -> None:
    """Let the compilers be opened while the module that reads functions is loaded, and reads."""
    if target.startswith("cuda"):
        _open_ahead(function._options.backend or config.BACKENDS["cuda"][0])


def _keep_compiled(function: SourceFunction, call: Call, target: str, lowered: Lowered, compiled: Compiled) -> Entry:
    entry = Entry(compiled.executable, lowered.guards, call.shown(), function._held)
    if folder := config.get("dump"):
        watcher().write(folder, function.__qualname__, entry.types, lowered, compiled, {})
    code = compiled.begin()
    if config.enabled("cache"):
        try:
            _store(function, call, target, lowered, compiled, code)
        except keeper().NotWritable as reason:
            keeper().refuse(function.__qualname__, reason)
    return function._keep(call.key, index_bits_of(compiled.plan), entry)


def _store(function: SourceFunction, call: Call, target: str, lowered: Lowered, compiled: Compiled, code: str) -> None:
    """Keep the plan for other processes, while its binary is built."""
    for read in (function._function, *(callee for callee, _ in lowered.callees)):
        if not compiler().is_current(read, keeper().code_digest):
            raise keeper().NotWritable(f"the source of {read.__qualname__}, which changed since it was imported")
    key = keeper().key(function._function, call, function._options, target)
    made = keeper().Made(compiled.plan, lowered.guards, lowered.callees, compiled.backend, code)
    # For people; the values of static arguments may be long.
    signature = f"({', '.join(call.shown())})"[:400]
    meta = {"function": function.__qualname__, "signature": signature, "target": target}
    keeper().store(key, function._function, call, made, meta | {"backend": compiled.backend})


def lower_for(function: SourceFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
    """See :meth:`pytocu.JitFunction.lower`."""
    with fork_waits():
        return _lowered_for(function, args, kwargs)


def _lowered_for(function: SourceFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
    call = Call((), on_gpu=False)
    given = function._stated(args, kwargs)
    of_parts, parts = function._of_parts(tuple(given.values()))
    if of_parts is not None:
        return _lowered_for(of_parts, parts, {})
    for name, value in given.items():
        if isinstance(value, (ArrayType, ScalarType, WeakType)):
            call.parameters.append((name, value))
        else:
            function._describe_one(call, name, value)
    sizes = {f"{i.name}_{axis}": n for i in call.infos.values() for axis, n in enumerate(i.shape)}
    with _lengths_said(sizes):
        return compiler().lower(function._function, call.parameters, function._options, sizes, call.infos)


def precompile(
    function: SourceFunction, args: tuple[Any, ...], kwargs: dict[str, Any], targets: str | Sequence[str] | None
) -> None:
    """See :meth:`pytocu.JitFunction.precompile`."""
    of_parts, parts = function._of_parts(tuple(function._stated(args, kwargs).values()))
    if of_parts is not None:
        return precompile(of_parts, parts, {}, targets)
    with fork_waits():
        _precompile_itself(function, args, kwargs, targets)


def _precompile_itself(
    function: SourceFunction, args: tuple[Any, ...], kwargs: dict[str, Any], targets: str | Sequence[str] | None
) -> None:
    if targets is None:
        targets = "cuda" if cuda.available()[0] else "cpu"
    for text in (targets,) if isinstance(targets, str) else targets:
        kind = text.partition(":")[0]
        if kind not in ("cpu", "cuda"):
            raise BackendError(f"{text!r} is not a target: write cpu, cuda or cuda:sm_90")
        here = cuda.arch(cuda.current_device()) if kind == "cuda" and cuda.available()[0] else ""
        target = f"cuda:{here}" if text == "cuda" and here else text
        call, sizes = call_of_types(function, args, kwargs, kind == "cuda")
        with function._lock:
            entry = function._load_where(call, target, functools.partial(_is_example, sizes=sizes))
            if entry is None:
                with paused():
                    lowered, compiled = compile_ahead(function, call, sizes, target, 32)
                    compiled.begin()
                    entry = _keep_compiled(function, call, target, lowered, compiled)
        entry.executable.binary(target.partition(":")[2])
        if kind == "cpu" or target == f"cuda:{here}":
            entry.executable.prepare()


def call_of_types(
    function: SourceFunction, args: tuple[Any, ...], kwargs: dict[str, Any], on_gpu: bool
) -> tuple[Call, dict[str, int]]:
    """A call with types in place of arguments, and the lengths that are given."""
    values: list[Any] = []
    sizes: dict[str, int] = {}
    call = Call((), on_gpu)
    for name, value in function._stated(args, kwargs).items():
        is_type = isinstance(value, (ArrayType, ScalarType, WeakType))
        values.append(None if is_type else value)
        if not is_type:
            function._describe_one(call, name, value)
            continue
        call.add_type(name, value)
        if isinstance(value, ArrayType):
            for axis, n in enumerate(value.shape):
                # A length without a number is any but those that make a fact: far from 1, and from the others.
                sizes[f"{name}_{axis}"] = n if isinstance(n, int) else _ANY_LENGTH * (len(sizes) + 2) ** 2
    call.values = tuple(values)
    return call, {**lengths_of(call), **sizes}


def compile_ahead(
    function: SourceFunction, call: Call, sizes: dict[str, int], target: str, index_bits: int
) -> tuple[Lowered, Compiled]:
    """Code for what :func:`call_of_types` gives, not yet kept."""
    _open_libraries(function, target)
    known = {name: n for name, n in sizes.items() if n < _ANY_LENGTH}
    lowered = compiler().lower(function._function, call.parameters, function._options, sizes, known=known)
    return lowered, lowered.compile(target, index_bits=index_bits)


def build(
    whole: SourceFunction, signatures: Sequence[tuple[Sequence[Any], dict[str, Any]]], targets: Sequence[str], folder: str
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
            of_parts, parts = whole._of_parts(tuple(whole._stated(tuple(args), kwargs).values()))
            function = of_parts or whole
            given = (parts, {}) if of_parts else (tuple(args), kwargs)
            call, sizes = call_of_types(function, *given, target != "cpu")
            held = _layout(function._options.trees) if of_parts else ()
            for index_bits in (32, 64):
                _, compiled = compile_ahead(function, call, sizes, target, index_bits)
                made = bundle.Built(call, compiled.target.arch, compiled.plan, compiled.binary, held)
                built.append(made)
                yield f"({', '.join(call.shown())})", str(compiled.target), index_bits, len(made.binary)
                if not compiled.plan.kernels:
                    break
    known, calls = whole._known_in_bundle(), whole._call_code()
    loops = any(one.arch and any(s.numbers is not None for s in steady(one.plan, True).values()) for one in built)
    steps = _gpu_steps() if loops else None
    bundle.write(folder, whole._name, whole._signature, whole._device, known, built, calls, steps)


def _is_example(executable: Executable, sizes: dict[str, int]) -> bool:
    """Whether the code is what would be compiled ahead of time for these lengths."""
    plan = executable.plan
    return index_bits_of(plan) == 32 and all(fact.holds(sizes) for fact in plan.assumptions)


@contextmanager
def _lengths_said(sizes: Mapping[str, int], values: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """Errors about shapes say lengths that are known, as NumPy does, and ints of run time by their names."""
    try:
        yield
    except CompileError as error:
        known = dict(sizes)
        for name, given, above, below in error.ints:
            if given and isinstance(values.get(name), int):
                known |= {above: max(values[name], 0), below: max(-values[name], 0)}
        _say_lengths(error, known)
        for one in (error, *error.others):
            named = {above: (name, below) for name, _, above, below in one.ints}
            one.message, one.notes = _shown_with((one.message, one.notes), named)
        raise


__all__ = ["build", "call_of_types", "compile_ahead", "compile_for", "lower_for", "precompile"]

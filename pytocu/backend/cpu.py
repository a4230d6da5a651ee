"""LLVM IR text to native code of this machine, with llvmlite.

In: a module's text (:mod:`pytocu.backend.llvm`).  Out: object code, which can be kept in a file
and loaded by another process on a like CPU (:mod:`pytocu.runtime.native`).  It may refer to the C
math library and to nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from pytocu.backend import divider, guards, strided_bytes
from pytocu.backend.llvm import Dialect
from pytocu.errors import BackendError
from pytocu.ir.ops import OPS
from pytocu.llvm_access import llvm_binding, undisturbed

_PREFIX = Dialect().library.partition("{name}")[0]

MATH_FUNCTIONS = frozenset(
    f"{op.libm}{suffix}" for op in OPS.values() if op.libm and op.llvm != "intrinsic" for suffix in ("", "f")
)
"""C math functions that code may call, under the name the dialect gives them."""

CODE_GENERATOR_FUNCTIONS = frozenset(
    {f"{op.libm}{suffix}" for op in OPS.values() if op.llvm == "intrinsic" for suffix in ("", "f")}
    | {"memcpy", "memmove", "memset"}
)
"""C functions LLVM itself calls where a CPU has no instruction (rounding before SSE 4.1)."""


NARROWING = """define half @__truncdfhf2(double %x) nounwind willreturn memory(none) {
  %bits = bitcast double %x to i64
  %kept = and i64 %bits, -536870912
  %rest = and i64 %bits, 536870911
  %inexact = icmp ne i64 %rest, 0
  %odd = select i1 %inexact, i64 536870912, i64 0
  %short = or i64 %kept, %odd
  %double = bitcast i64 %short to double
  %single = fptrunc double %double to float
  %half = fptrunc float %single to half
  ret half %half
}
"""
"""The function that LLVM's code generator calls to round float64 to float16, where a CPU has no such instruction.

pytocu writes no such conversion, but where only the sign of a float16 is used LLVM takes it from the float64 that
the number is made of.  What float32 cannot hold goes into its last bit, so that the second rounding is the only one.
"""


@lru_cache(maxsize=1)
def host_cpu() -> tuple[str, str]:
    """Name and features of this CPU as LLVM states them, for building and for cache keys.

    Returns
    -------
    tuple of (str, str)
        Such as ``("znver5", "+64bit,+adx,...")``; features in the order of their names.
    """
    llvm = llvm_binding()

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


WHOLE_REGISTERS = "-prefer-256-bit"
"""LLVM uses half of a register of AVX-512 on Intel's processors, since the first of them lowered their clock for whole ones.
Loops of many operations take a half to nine tenths of the time with whole ones, on those too."""

NO_GATHERS = "+prefer-no-gather"
"""A load from several places at once takes two to three times as long as loads one by one on Intel's processors of the names
below, where microcode keeps what was fetched from others ("gather data sampling")."""

_WITH_SLOW_GATHERS = frozenset(
    {"skylake", "skylake-avx512", "cascadelake", "cooperlake", "cannonlake"}
    | {"icelake-client", "icelake-server", "tigerlake", "rocketlake"}
)


@lru_cache(maxsize=8)
def _machine(cpu: tuple[str, str]) -> Any:
    llvm = llvm_binding()

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = cpu
    if "+avx512f" in features.split(","):
        features += f",{WHOLE_REGISTERS}"
    if name in _WITH_SLOW_GATHERS:
        features += f",{NO_GATHERS}"
    target = llvm.Target.from_default_triple()
    # Position-independent code: the loader reaches far libraries through its own table.
    return target.create_target_machine(cpu=name, features=features, opt=3, reloc="pic", codemodel="small")


_WITH_SWITCH = range(20, 23)
"""Versions of LLVM that are known to have the switch: an option that there is none of ends the process."""


@contextmanager
def _addresses_as_written(machine: Any) -> Iterator[None]:
    """Emit code without LLVM's search for other ways to compute the addresses of a loop ("loop strength reduction").

    It is half of what emitting takes, and most of it for stencils; x86, whose instructions add a base, an index and a
    constant, gains a percent or two by it.  The switch is one of the process, so it is put back: others use LLVM too.
    """
    llvm = llvm_binding()

    has_switch = llvm.llvm_version_info[0] in _WITH_SWITCH and machine.triple.startswith("x86_64")
    if has_switch:
        llvm.set_option("pytocu", "-disable-lsr=true")
    try:
        yield
    finally:
        if has_switch:
            llvm.set_option("pytocu", "-disable-lsr=false")


_LEVEL = 3
_OPTIONS = {
    "loop_vectorization": True,
    # Vectors of operations that stand beside each other. No kernel is faster for them, since the loops are vector code without,
    # and of branches behind each other an assertion of LLVM 22 ends the process.
    "slp_vectorization": False,
    "loop_interleaving": True,
    "loop_unrolling": True,
}


def options() -> tuple[str, ...]:
    """What LLVM's passes are told, for cache keys.

    Returns
    -------
    tuple of str
        The level, and each option with its value.

    Examples
    --------
    >>> "slp_vectorization=False" in options()
    True
    """
    return (f"-O{_LEVEL}", *(f"{name}={wanted}" for name, wanted in _OPTIONS.items()))


@contextmanager
def _optimized_module(
    text: str, cpu: tuple[str, str] | None, allowed: frozenset[str] = frozenset()
) -> Iterator[tuple[Any, Any]]:
    """The module after LLVM's passes, and the machine it is for."""
    llvm = llvm_binding()

    machine = _machine(cpu or host_cpu())
    # A context of its own: the global one keeps every type and constant ever read.  Both are closed
    # here, since a module must go before its context, and the garbage collector knows no order.
    with llvm.create_context() as context, ExitStack() as modules:
        try:
            module = modules.enter_context(llvm.parse_assembly(text, context))
            module.triple = machine.triple
            module.data_layout = str(machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise BackendError(f"LLVM does not accept the module: {str(error).strip()}") from None
        module = _run_passes(text, module, modules, machine, context, frozenset((cpu or host_cpu())[1].split(",")))
        for function in module.functions:
            if function.is_declaration and not function.name.startswith("llvm.") and function.name not in allowed:
                _check_external(function.name)
        yield module, machine


def _run_passes(text: str, module: Any, modules: ExitStack, machine: Any, context: Any, features: frozenset[str]) -> Any:
    """The module behind all passes, this one or another one of `modules`."""
    llvm = llvm_binding()

    tuning = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    for name, wanted in _OPTIONS.items():
        setattr(tuning, name, wanted)
    with llvm.create_pass_builder(machine, tuning) as builder:
        with _disposed(builder.getModulePassManager()) as manager:
            manager.run(module, builder)
        if strided_bytes.concerns(text, features):
            vectors = str(module)
            if (made := strided_bytes.rewritten(vectors)) != vectors:
                module = modules.enter_context(llvm.parse_assembly(made, context))
        names = [f.name for f in module.functions]
        definitions: list[str] = []
        if found := guards.declared(names):
            definitions.append(guards.definitions(found, Dialect()))
        if found := divider.declared(names):
            definitions.append(divider.definitions(found, features))
            if divider.shares(found):
                module = modules.enter_context(llvm.parse_assembly(divider.shared_out(str(module)), context))
        for definition in definitions:
            with llvm.parse_assembly(definition, context) as rest:
                rest.triple, rest.data_layout = module.triple, module.data_layout
                module.link_in(rest, preserve=True)
        if definitions:
            with _disposed(llvm.create_new_module_pass_manager()) as manager:
                manager.add_always_inliner_pass()
                manager.add_simplify_cfg_pass()
                manager.add_global_dead_code_eliminate_pass()
                manager.run(module, builder)
        if machine.triple.startswith("x86_64") and "fptrunc double" in text and "to half" in text:
            with llvm.parse_assembly(NARROWING, context) as rest:
                rest.triple, rest.data_layout = module.triple, module.data_layout
                module.link_in(rest, preserve=True)
    return module


@contextmanager
def _disposed(manager: Any) -> Iterator[Any]:
    """A pass manager whose memory is given back.

    Its own `close` calls an empty method of the first of its base classes and keeps 90 kB of every build.
    """
    from llvmlite.binding.newpassmanagers import NewPassManager

    try:
        yield manager
    finally:
        NewPassManager._dispose(manager)
        manager.detach()


def optimized(text: str, cpu: tuple[str, str] | None = None) -> str:
    """The module's text after LLVM's passes.

    Parameters
    ----------
    text : str
        LLVM IR.
    cpu : tuple of (str, str), optional
        Name and features, as :func:`host_cpu` gives them; this machine's by default.

    Raises
    ------
    BackendError
        LLVM does not accept the text, or it calls a function that is not a C math function.
    """
    return undisturbed(_optimized, text, cpu)


def _optimized(text: str, cpu: tuple[str, str] | None) -> str:
    with _optimized_module(text, cpu) as (module, _):
        return str(module)


def assembly(text: str, cpu: tuple[str, str] | None = None) -> str:
    """The module as assembly; parameters and errors as :func:`optimized`."""
    return undisturbed(_assembly, text, cpu)


def _assembly(text: str, cpu: tuple[str, str] | None) -> str:
    with _optimized_module(text, cpu) as (module, machine), _addresses_as_written(machine):
        return machine.emit_assembly(module)


def build(text: str, cpu: tuple[str, str] | None = None, allowed: frozenset[str] = frozenset()) -> bytes:
    """Object code of the module; parameters and errors as :func:`optimized`.

    `allowed` are names of functions that the code may call besides.

    Examples
    --------
    >>> code = build("define void @nothing(ptr %slots, i64 %begin, i64 %end) { ret void }")
    >>> code[:4]
    b'\\x7fELF'
    """
    return undisturbed(_build, text, cpu, allowed)


def _build(text: str, cpu: tuple[str, str] | None, allowed: frozenset[str]) -> bytes:
    with _optimized_module(text, cpu, allowed) as (module, machine), _addresses_as_written(machine):
        return machine.emit_object(module)


def _check_external(symbol: str) -> None:
    name = symbol.removeprefix(_PREFIX)
    if name not in (MATH_FUNCTIONS if name != symbol else CODE_GENERATOR_FUNCTIONS):
        raise BackendError(f"the code calls {symbol!r}, which is none of the C math functions that it may call")

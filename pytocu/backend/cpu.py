"""LLVM IR text to native code of this machine, with llvmlite.

In: a module's text (:mod:`pytocu.backend.llvm`).  Out: object code, which can be kept in a file
and loaded by another process on a like CPU (:mod:`pytocu.runtime.native`).  It may refer to the C
math library and to nothing else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pytocu.backend.llvm import Dialect
from pytocu.errors import BackendError
from pytocu.ir.ops import OPS

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


@lru_cache(maxsize=1)
def host_cpu() -> tuple[str, str]:
    """Name and features of this CPU as LLVM states them, for building and for cache keys.

    Returns
    -------
    tuple of (str, str)
        Such as ``("znver5", "+64bit,+adx,...")``; features in the order of their names.
    """
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@lru_cache(maxsize=8)
def _machine(cpu: tuple[str, str]) -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = cpu
    target = llvm.Target.from_default_triple()
    # Position-independent code: the loader reaches far libraries through its own table.
    return target.create_target_machine(cpu=name, features=features, opt=3, reloc="pic", codemodel="small")


def _optimized_module(text: str, cpu: tuple[str, str] | None) -> tuple[Any, Any]:
    import llvmlite.binding as llvm

    machine = _machine(cpu or host_cpu())
    try:
        # A context of its own: the global one keeps every type and constant ever read.
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise BackendError(f"LLVM does not accept the module: {str(error).strip()}") from None
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_interleaving = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            _check_external(function.name)
    return module, machine


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
    return str(_optimized_module(text, cpu)[0])


def assembly(text: str, cpu: tuple[str, str] | None = None) -> str:
    """The module as assembly; parameters and errors as :func:`optimized`."""
    module, machine = _optimized_module(text, cpu)
    return machine.emit_assembly(module)


def build(text: str, cpu: tuple[str, str] | None = None) -> bytes:
    """Object code of the module; parameters and errors as :func:`optimized`.

    Examples
    --------
    >>> code = build("define void @nothing(ptr %slots, i64 %begin, i64 %end) { ret void }")
    >>> code[:4]
    b'\\x7fELF'
    """
    module, machine = _optimized_module(text, cpu)
    return machine.emit_object(module)


def _check_external(symbol: str) -> None:
    name = symbol.removeprefix(_PREFIX)
    if name not in (MATH_FUNCTIONS if name != symbol else CODE_GENERATOR_FUNCTIONS):
        raise BackendError(f"the code calls {symbol!r}, which is none of the C math functions that it may call")

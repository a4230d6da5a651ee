"""LLVM IR text to native code of this machine, with llvmlite.

In: a module's text (:mod:`pytocu.backend.llvm`).  Out: object code, which can be kept in a file
and loaded by another process on a like CPU, and the addresses of its kernels once loaded.

Object code may refer to the C math library and to nothing else; each reference is bound to the
address of that function in this process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import threading
from collections.abc import Iterable
from functools import lru_cache
from itertools import count
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
            _external(function.name)
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
    >>> list(load(code, ["nothing"]))
    ['nothing']
    """
    module, machine = _optimized_module(text, cpu)
    code = machine.emit_object(module)
    for symbol in undefined_symbols(code):
        _external(symbol)
    return code


def undefined_symbols(code: bytes) -> tuple[str, ...]:
    """Names that ELF object code refers to and does not define, in order of their names.

    Raises
    ------
    BackendError
        The bytes are no 64-bit ELF object code.
    """
    if code[:5] != b"\x7fELF\x02":
        raise BackendError("the object code is not 64-bit ELF: the CPU backend runs on Linux")
    order = "<" if code[5] == 1 else ">"
    names: set[str] = set()
    try:
        (table,) = struct.unpack_from(f"{order}Q", code, 40)
        size, number = struct.unpack_from(f"{order}HH", code, 58)
        # Section header: name, type, flags, address, offset, size, link, info, alignment, entry size.
        headers = [struct.unpack_from(f"{order}IIQQQQIIQQ", code, table + size * i) for i in range(number)]
        for _, kind, _, _, offset, length, link, _, _, entry in headers:
            if kind != 2:
                continue
            strings = headers[link][4]
            for place in range(offset, offset + length, entry):
                name, _, _, section = struct.unpack_from(f"{order}IBBH", code, place)
                if section == 0 and name:
                    start = strings + name
                    names.add(code[start : code.index(b"\0", start)].decode())
    except (struct.error, ValueError, IndexError):
        raise BackendError("the object code is damaged: its symbol table cannot be read") from None
    return tuple(sorted(names))


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    # Elsewhere than in glibc the math functions are in the C library, which the process has open.
    return ctypes.CDLL("libm.so.6" if platform.libc_ver()[0] == "glibc" else None)


def _external(symbol: str) -> int:
    """The address of a function that code may call."""
    name = symbol.removeprefix(_PREFIX)
    allowed = MATH_FUNCTIONS if name != symbol else CODE_GENERATOR_FUNCTIONS
    if name not in allowed:
        raise BackendError(f"the code calls {symbol!r}, which is none of the C math functions that it may call")
    function = getattr(_library(), name, None)
    if function is None:
        raise BackendError(f"this machine's C math library has no function {name!r}")
    address = ctypes.cast(function, ctypes.c_void_p).value
    if address is None:
        raise BackendError(f"this machine's C math library has no function {name!r}")
    return address


_lock = threading.Lock()
_numbers = count()
_loaded: list[Any] = []


def _renew_lock() -> None:
    # A thread of the parent may have held the lock; it does not exist in the child.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@lru_cache(maxsize=1)
def _linker() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(use_jit_link=True)


def load(code: bytes, names: Iterable[str]) -> dict[str, int]:
    """Load object code into this process.

    The code stays loaded until the process ends, so addresses never dangle.

    Parameters
    ----------
    code : bytes
        What :func:`build` returned, on this machine or one with the same CPU features.
    names : iterable of str
        Kernels whose addresses are wanted.

    Returns
    -------
    dict of str to int
        Addresses of functions ``void (void *slots, int64_t begin, int64_t end)``.

    Raises
    ------
    BackendError
        The code is damaged, calls a function it may not call, or lacks a kernel.
    """
    import llvmlite.binding as llvm

    wanted = list(names)
    builder = llvm.JITLibraryBuilder().add_object_img(code)
    for symbol in undefined_symbols(code):
        builder.import_symbol(symbol, _external(symbol))
    for name in wanted:
        builder.export_symbol(name)
    with _lock:
        try:
            library = builder.link(_linker(), f"pytocu.{next(_numbers)}")
        except RuntimeError as error:
            raise BackendError(f"the object code cannot be loaded: {str(error).strip()}") from None
        _loaded.append(library)
    return {name: library[name] for name in wanted}

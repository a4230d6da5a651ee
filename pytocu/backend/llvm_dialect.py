"""What LLVMs spell differently: processors and versions, and the spellings all of them share.

A :class:`Dialect` is data; :mod:`pytocu.backend.llvm_writer` reads it while it writes instructions.
"""

from __future__ import annotations

import platform
import re
import struct
from dataclasses import dataclass

from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr
from pytocu.ir.types import COMPILED_DTYPES, DType, IndexType, PointerType, ScalarType, Type, VectorType


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one LLVM spells what versions and targets of LLVM spell differently.

    Parameters
    ----------
    pointer, load, store, element : str
        Templates over ``type`` (of the element in memory), ``pointer``, ``address``, ``align``,
        ``value``, ``index_type`` and ``index``.
    negate : str
        Flips the sign bit of a float: a template over ``type``, ``flags`` and ``x``.
    intrinsic : str
        Name of an intrinsic: a template over ``name`` and ``suffix`` (``f32``, ``v4f32``).
    library : str
        Symbol of a C math function: a template over ``name`` (``sinf``, ``sin``).
    kernel, local, call : str
        Attributes of an exported kernel, of the function it calls, and of a library call.
    enter, leave : tuple of str
        Lines around the work of a kernel.
    declarations : tuple of str
        What those lines need.
    """

    pointer: str = "ptr"
    load: str = "load {type}, {pointer} {address}, align {align}"
    store: str = "store {type} {value}, {pointer} {address}, align {align}"
    element: str = "getelementptr inbounds {type}, {pointer} {address}, {index_type} {index}"
    negate: str = "fneg {flags}{type} {x}"
    intrinsic: str = "llvm.{name}.{suffix}"
    # The dot keeps a function of the user's that is called `exp` apart from the library's,
    # and keeps LLVM from rewriting calls as it would those of names it knows.
    library: str = "math.{name}"
    kernel: str = 'nounwind "no-builtins"'
    local: str = 'noinline nounwind "no-builtins"'
    call: str = "nobuiltin nounwind willreturn memory(none)"
    enter: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    declarations: tuple[str, ...] = ()


CPU = Dialect()
"""Any processor whose floating-point mode is left as the caller has it."""

# 0x1F80: round to nearest, all exceptions masked, subnormals kept on input and on output.  The
# work is in a function that is not inlined, so no arithmetic moves across the two changes.
X86_64 = Dialect(
    enter=(
        "%mode.saved = alloca i32, align 4",
        "%mode.exact = alloca i32, align 4",
        "store i32 8064, ptr %mode.exact, align 4",
        "call void @llvm.x86.sse.stmxcsr(ptr %mode.saved)",
        "call void @llvm.x86.sse.ldmxcsr(ptr %mode.exact)",
    ),
    leave=("call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)",),
    declarations=("declare void @llvm.x86.sse.stmxcsr(ptr)", "declare void @llvm.x86.sse.ldmxcsr(ptr)"),
)
"""x86-64: subnormal numbers count whatever mode the calling thread is in."""


def host_dialect() -> Dialect:
    """The dialect for this machine's processor."""
    return X86_64 if platform.machine().lower() in ("x86_64", "amd64") else CPU


_FLOAT = {32: "float", 64: "double"}


def kind_of(type: Type) -> str:
    match type:
        case ScalarType(dtype) | VectorType(dtype):
            return dtype.kind
        case IndexType():
            return "i"
        case PointerType():
            return "p"
    raise InternalError(f"a value of type {type} at loop level")


def element_type(dtype: DType, memory: bool = False) -> str:
    if dtype not in COMPILED_DTYPES:
        raise BackendError(f"LLVM code for {dtype.name} is not written: lower it to float32 or float64 first")
    if dtype.kind == "b":
        return "i8" if memory else "i1"
    return _FLOAT[dtype.bits] if dtype.kind == "f" else f"i{dtype.bits}"


def literal(value: Attr, dtype: DType) -> str:
    match dtype.kind:
        case "b":
            return "true" if value else "false"
        case "f":
            # LLVM writes a float as the hexadecimal bits of the double of the same value.
            rounded = float(dtype.numpy.type(value))
            bits = 0x7FF8000000000000 if rounded != rounded else struct.unpack("<Q", struct.pack("<d", rounded))[0]
            return f"0x{bits:016X}"
        case _:
            if not isinstance(value, int):
                raise InternalError(f"the constant {value!r} is not a {dtype.name}")
            half = 1 << (dtype.bits - 1)
            return str((value + half) % (2 * half) - half)


def symbol(name: str) -> str:
    return f"@{name}" if re.fullmatch(r"[A-Za-z_.$][\w.$]*", name, re.ASCII) else f'@"{name}"'

"""What LLVMs spell differently: processors and versions, and the spellings all of them share.

A :class:`Dialect` is data; :mod:`pytocu.backend.llvm_writer` reads it while it writes instructions.
"""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr
from pytocu.ir.types import COMPILED_DTYPES, DType, IndexType, PointerType, ScalarType, Type, VectorType


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one LLVM spells what versions and targets of LLVM spell differently.

    Parameters
    ----------
    device : str
        What the code runs on, for messages.
    spread : str
        The ``over`` of loops whose iterations run on many threads.
    pointer, load, store, element : str
        Templates over ``type`` (of the element in memory), ``space``, ``pointer``, ``address``,
        ``align``, ``value``, ``index_type`` and ``index``.
    shared : str
        The ``space`` of memory that a block's threads share; empty where there is none.
    steps : mapping of str to tuple of str
        Operations on a float, ``neg`` and names of intrinsics, that take one instruction or
        several: templates over ``type``, ``flags``, ``x`` and ``y`` (the operands), ``0``, ``1``
        ... (the steps before), ``bits`` (the integer type of that size), ``sign`` and ``rest``
        (integers with the sign bit alone and with all others).
    select : str
        A template over ``flags`` and ``operands``.
    intrinsic : str
        Name of an intrinsic: a template over ``name`` and ``suffix`` (``f32``, ``v4f32``).
    own : mapping of str to str
        Intrinsics this LLVM has under another name, for one element at a time: templates over
        ``letter`` (``f`` or ``d``).
    library : str
        Symbol of a C math function: a template over ``name`` (``sinf``, ``sin``).
    kernel, local, call : str
        Attributes of an exported kernel, of the function it calls, and of a library call.
    register : str
        Intrinsic that reads a thread's place in the grid: a template over ``name`` (``tid.x``).
    barrier : str
        Intrinsic at which a block's threads meet.
    enter, leave : tuple of str
        Lines around the work of a kernel.
    declarations : tuple of str
        What those lines need.
    """

    device: str = "CPU"
    spread: str = "parallel"
    pointer: str = "ptr"
    load: str = "load {type}, {pointer} {address}, align {align}"
    store: str = "store {type} {value}, {pointer} {address}, align {align}"
    element: str = "getelementptr inbounds {type}, {pointer} {address}, {index_type} {index}"
    shared: str = ""
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"neg": ("fneg {flags}{type} {x}",)})
    select: str = "select {flags}{operands}"
    intrinsic: str = "llvm.{name}.{suffix}"
    own: Mapping[str, str] = field(default_factory=dict)
    # The dot keeps a function of the user's that is called `exp` apart from the library's,
    # and keeps LLVM from rewriting calls as it would those of names it knows.
    library: str = "math.{name}"
    kernel: str = 'nounwind "no-builtins"'
    local: str = 'noinline nounwind "no-builtins"'
    call: str = "nobuiltin nounwind willreturn memory(none)"
    register: str = ""
    barrier: str = ""
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

# One dialect for both LLVMs inside libNVVM: the one of before Blackwell is LLVM 7, which has
# typed pointers, no `fneg` and no flags on `select`; the other one reads all of this too.
NVVM = Dialect(
    device="GPU",
    spread="grid",
    pointer="{type}{space}*",
    shared=" addrspace(3)",
    # A GPU's own instructions for these change or keep the sign of a NaN as they like.
    steps={
        "neg": ("bitcast {type} {x} to {bits}", "xor {bits} {0}, {sign}", "bitcast {bits} {1} to {type}"),
        "fabs": ("bitcast {type} {x} to {bits}", "and {bits} {0}, {rest}", "bitcast {bits} {1} to {type}"),
        "copysign": (
            "bitcast {type} {x} to {bits}",
            "bitcast {type} {y} to {bits}",
            "and {bits} {0}, {rest}",
            "and {bits} {1}, {sign}",
            "or {bits} {2}, {3}",
            "bitcast {bits} {4} to {type}",
        ),
    },
    select="select {operands}",
    # libNVVM takes LLVM's own names of these not at all, or not before CUDA 13.1.
    own={"rint": "llvm.nvvm.round.{letter}", "trunc": "llvm.nvvm.trunc.{letter}"},
    library="__nv_{name}",
    kernel="nounwind",
    call="nounwind",
    register="llvm.nvvm.read.ptx.sreg.{name}",
    barrier="llvm.nvvm.barrier0",
)
"""NVIDIA's GPUs, through libNVVM."""


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

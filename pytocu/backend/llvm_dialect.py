"""What LLVMs spell differently: processors and versions, and the spellings all of them share.

A :class:`Dialect` is data; :mod:`pytocu.backend.llvm_writer` reads it while it writes instructions.
"""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from pytocu.backend import ptx
from pytocu.deferred import Deferred
from pytocu.errors import BackendError, InternalError
from pytocu.ir.core import Attr
from pytocu.ir.types import COMPILED_DTYPES, DType, IndexType, PointerType, ScalarType, Type, VectorType
from pytocu.record import Record

_llvm_binding = Deferred("pytocu.llvm_access", "llvm_binding")

HALF_INSTRUCTIONS: Mapping[str, tuple[str, ...]] = {
    "half_to_float": ("bitcast {bits} {x} to {half}", "fpext {half} {0} to {float}"),
    "float_to_half": ("fptrunc {float} {x} to {half}", "bitcast {half} {0} to {bits}"),
}
"""Processors with instructions for float16: elsewhere LLVM calls functions that need not exist."""

_RELATIONS = {"equal": "oeq", "not_equal": "une", "less": "olt", "less_equal": "ole", "greater": "ogt", "greater_equal": "oge"}

HALF_COMPARISONS: Mapping[str, tuple[str, ...]] = {
    f"half_{name}": ("bitcast {bits} {x} to {half}", "bitcast {bits} {y} to {half}", f"fcmp {relation} {{half}} {{0}}, {{1}}")
    for name, relation in _RELATIONS.items()
}
"""Whose result is a predicate from the first; see :data:`pytocu.backend.ptx.COMPARISONS`."""

HALF_OF_ITSELF: Mapping[str, tuple[str, ...]] = {
    f"half_{name}": ("bitcast {bits} {x} to {half}", f"fcmp {relation} {{half}} {{0}}, zeroinitializer")
    for name, relation in (("equal", "ord"), ("not_equal", "uno"), ("less_equal", "ord"), ("greater_equal", "ord"))
}
"""Whether a number is NaN: libNVVM takes a constant that is one, and that it did not compute, to be equal to itself."""

HALF_ARITHMETIC: Mapping[str, tuple[str, ...]] = {
    # The bits moved to their places are a float32 that is 2**112 times too small.
    "half_to_float": (
        "zext {bits} {x} to {wide}",
        "and {wide} {0}, {magnitude}",
        "shl {wide} {1}, {thirteen}",
        "bitcast {wide} {2} to {float}",
        "fmul {float} {3}, {two_to_112}",
        "bitcast {float} {4} to {wide}",
        "or {wide} {5}, {infinity}",
        "icmp ugt {wide} {1}, {largest}",
        "select {truth} {7}, {wide} {6}, {wide} {5}",
        "and {wide} {0}, {sign}",
        "shl {wide} {9}, {sixteen}",
        "or {wide} {8}, {10}",
        "bitcast {wide} {11} to {float}",
    ),
    # Normal numbers round by adding just under half of the last place, and one more where the kept
    # part is odd; subnormal ones by adding 0.5, whose last place is theirs; the rest is infinite.
    "float_to_half": (
        "bitcast {float} {x} to {wide}",
        "and {wide} {0}, {rest}",
        "lshr {wide} {1}, {thirteen}",
        "and {wide} {2}, {one}",
        "add {wide} {1}, {rebias}",
        "add {wide} {4}, {3}",
        "lshr {wide} {5}, {thirteen}",
        "bitcast {wide} {1} to {float}",
        "fadd {float} {7}, {half_number}",
        "bitcast {float} {8} to {wide}",
        "sub {wide} {9}, {half_bits}",
        "icmp ult {wide} {1}, {normal}",
        "select {truth} {11}, {wide} {10}, {wide} {6}",
        "icmp uge {wide} {1}, {too_large}",
        "icmp ugt {wide} {1}, {infinity}",
        "select {truth} {14}, {wide} {quiet}, {wide} {endless}",
        "select {truth} {13}, {wide} {15}, {wide} {12}",
        "lshr {wide} {0}, {sixteen}",
        "and {wide} {17}, {sign}",
        "or {wide} {16}, {18}",
        "trunc {wide} {19} to {bits}",
    ),
}
"""The same with integers, for processors without such instructions; no symbol is needed."""

HALF_INTEGERS = {
    "magnitude": 0x7FFF, "sign": 0x8000, "rest": 0x7FFFFFFF, "largest": 0x7BFF, "infinity": 0x7F800000, "one": 1,
    "thirteen": 13, "sixteen": 16, "rebias": 0xC8000FFF, "half_bits": 0x3F000000, "normal": 0x38800000,
    "too_large": 0x47800000, "quiet": 0x7E00, "endless": 0x7C00,
}  # fmt: skip
HALF_FLOATS = {"two_to_112": 2.0**112, "half_number": 0.5}


class Dialect(Record):
    """How one LLVM spells what versions and targets of LLVM spell differently.

    Parameters
    ----------
    device : str
        What the code runs on, for messages.
    spread : tuple of str
        The ``over`` of loops whose iterations run on many threads.
    pointer, load, store, element : str
        Templates over ``type`` (of the element in memory), ``space``, ``pointer``, ``address``,
        ``align``, ``value``, ``index_type`` and ``index``.
    spaces : mapping of str to str
        The ``space`` of pointers to each memory that the device has: ``global``, and ``shared`` or ``local``.
    unchanged : str
        What stands behind a load from memory that nobody writes while the kernel runs.
    as_written : bool
        LLVM does not optimise: what divides an integer by a constant is written without a division, and the address of several
        accesses once.
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
    half : mapping of str to tuple of str
        Steps of ``half_to_float``, ``float_to_half`` and what else the dialect has for float16, over
        ``x`` and ``y``, ``bits``, ``half``, ``float``, ``wide`` (types of the operand's lanes) and constants.
    library : str
        Symbol of a C math function: a template over ``name`` (``sinf``, ``sin``).
    kernel, local, call : str
        Attributes of an exported kernel, of the function it calls, and of a library call.
    outlined : str
        Attributes of a function around a library function that is long and rarely called, where these would be inlined; empty
        where they are calls.
    keeps_loops : bool
        Loops whose bodies take several shares at a time are not unrolled by LLVM.
    guarded : bool
        Library functions for rare arguments are called as :mod:`pytocu.backend.guards` says.
    fence : str
        Intrinsic that gives its operand, through which LLVM does not look; empty where there is none.
    freeze : bool
        There is an instruction through which LLVM does not look, of any type.
    expect : str
        Intrinsic that gives its first operand, which is likely to be the second; empty where there is none.
    worth_vectors : int or None
        Operations on floats for each comparison of a position that a loop has at least, if it is to become vector code in
        spite of these: failures are noted behind it then, not by branches in it.
    long : int
        Operations on floats from which on a loop takes two vectors at once; 0 for never.
    waits : bool
        In loops that wait for the divider, quotients and roots are made by multiplication (:mod:`pytocu.backend.divider`).
    masks : bool
        Instructions may leave out elements: a selection of what is converted, or 0, stands behind the conversion.
    index_bits : int
        Bits of every index; 0 where they are as many as the function says.
    register : str
        Intrinsic that reads a thread's place in the grid: a template over ``name`` (``tid.x``).
    barrier : str
        Intrinsic at which a block's threads meet.
    shuffle, shuffle_declaration : str
        Exchange of 32 bits with the thread of the warp whose number differs in some bits: a
        template over ``word`` and ``mask``, and what it needs.
    prefetch : str
        Intrinsic that fetches a line of memory into the caches; empty where there is none.
    line : int
        Bytes of a line.
    enter, leave : tuple of str
        Lines around the work of a kernel.
    declarations : tuple of str
        What those lines need.
    """

    device: str = "CPU"
    spread: tuple[str, ...] = ("parallel",)
    pointer: str = "ptr"
    load: str = "load {type}, {pointer} {address}, align {align}"
    store: str = "store {type} {value}, {pointer} {address}, align {align}"
    element: str = "getelementptr inbounds {type}, {pointer} {address}, {index_type} {index}"
    spaces: Mapping[str, str] = MappingProxyType({"global": "", "local": ""})
    unchanged: str = ""
    as_written: bool = False
    steps: Mapping[str, tuple[str, ...]] = MappingProxyType({"neg": ("fneg {flags}{type} {x}",)})
    select: str = "select {flags}{operands}"
    intrinsic: str = "llvm.{name}.{suffix}"
    own: Mapping[str, str] = MappingProxyType({})
    # The dot keeps a function of the user's that is called `exp` apart from the library's,
    # and keeps LLVM from rewriting calls as it would those of names it knows.
    half: Mapping[str, tuple[str, ...]] = HALF_INSTRUCTIONS
    library: str = "math.{name}"
    kernel: str = 'nounwind "no-builtins"'
    local: str = 'noinline nounwind "no-builtins"'
    call: str = "nobuiltin nounwind willreturn memory(none)"
    outlined: str = ""
    keeps_loops: bool = False
    guarded: bool = True
    fence: str = "llvm.arithmetic.fence"
    freeze: bool = True
    expect: str = "llvm.expect.i1"
    worth_vectors: int | None = 16
    long: int = 0
    waits: bool = False
    masks: bool = False
    # An index as wide as an address: of a narrower one LLVM has to show, in the loop, that it does not wrap.
    index_bits: int = 64
    register: str = ""
    barrier: str = ""
    shuffle: str = ""
    shuffle_declaration: str = ""
    prefetch: str = "llvm.prefetch.p0"
    line: int = 64
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
    spread=("grid", "grid_rows"),
    pointer="{type}{space}*",
    spaces={"global": "", "shared": " addrspace(3)"},
    # A GPU's own instructions for these change or keep the sign of a NaN as they like.
    steps={
        "neg": ("bitcast {type} {x} to {bits}", "xor {bits} {0}, {sign}", "bitcast {bits} {1} to {type}"),
        # Part of the instruction that takes it, where nobody sees the sign of a NaN.
        "plain_neg": ("fsub {type} {zero}, {x}",),
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
    half={name: ptx.llvm_steps(name) for name in ptx.INSTRUCTIONS} | HALF_COMPARISONS,
    # libNVVM takes LLVM's own names of these not at all, or not before CUDA 13.1.
    own={"rint": "llvm.nvvm.round.{letter}", "trunc": "llvm.nvvm.trunc.{letter}"},
    library="__nv_{name}",
    kernel="nounwind",
    call="nounwind",
    outlined="noinline nounwind readnone",
    keeps_loops=True,
    guarded=False,
    fence="",
    freeze=False,
    expect="",
    worth_vectors=None,
    index_bits=0,
    prefetch="",
    register="llvm.nvvm.read.ptx.sreg.{name}",
    barrier="llvm.nvvm.barrier0",
    shuffle="call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 {word}, i32 {mask}, i32 31)",
    shuffle_declaration="declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)",
)
"""NVIDIA's GPUs, through libNVVM."""

NVVM_AS_WRITTEN = NVVM._replace(
    as_written=True,
    # Not "inbounds": an address that others are computed from may lie outside of the array.
    element=NVVM.element.replace(" inbounds", ""),
    spaces={"global": " addrspace(1)", "shared": " addrspace(3)"},
    unchanged=", !invariant.load !99999",
)
"""The same where libNVVM does not optimise, and so finds out neither the memory of a pointer nor what nobody writes."""


@lru_cache(maxsize=1)
def host_dialect() -> Dialect:
    """The dialect for this machine's processor."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return CPU
    llvm = _llvm_binding()

    features = llvm.get_host_cpu_features()
    dialect = X86_64 if features.get("f16c") else X86_64._replace(half=HALF_ARITHMETIC)
    if features.get("avx512dq") and features.get("avx512vl"):
        # Vectors of positions are compared, and the elements there loaded, by an instruction each; and there are 32 registers.
        # On those with instructions for float16 loops wait for the divider longer than multiplications take.
        return dialect._replace(worth_vectors=0, long=16, masks=True, waits=features.get("avx512fp16", False))
    if features.get("avx2"):
        # Two elements' registers are few enough for 16 of them: constants are operands in memory.
        return dialect._replace(long=16)
    return dialect


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
            (bits,) = struct.unpack("<Q", struct.pack("<d", float(dtype.numpy.type(value))))
            return f"0x{bits:016X}"
        case _:
            if not isinstance(value, int):
                raise InternalError(f"the constant {value!r} is not a {dtype.name}")
            half = 1 << (dtype.bits - 1)
            return str((value + half) % (2 * half) - half)


def symbol(name: str) -> str:
    return f"@{name}" if re.fullmatch(r"[A-Za-z_.$][\w.$]*", name, re.ASCII) else f'@"{name}"'

"""Names of kernels and of variables in CUDA C: valid, unique, and like the user's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytocu.backend.ptx import INSTRUCTIONS
from pytocu.ir.core import Function, Op
from pytocu.ir.ops import OPS
from pytocu.ir.types import F32, F64, DType


def outlined(op: Op, dtype: DType) -> str:
    """What the function of a module is called that has the code of a row.

    Examples
    --------
    >>> outlined(OPS["outlined_sin"], F32)
    'outlined_sinf'
    """
    return op.name + ("f" if dtype is F32 else "")


_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl concept
const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept
not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq threadIdx blockIdx blockDim gridDim
warpSize dim3 size_t ptrdiff_t nullptr_t clock_t clock clock64 printf malloc free memcpy memset assert min max umin umax abs
labs llabs pow powi round roundf lround llround saturate linux unix std cuda cudaError_t cudaStream_t NULL INFINITY NAN main
"""
_FUNCTIONS = """
cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp10 fdim fdivide fmax fmin frexp ilogb j0 j1 jn ldexp lgamma
llrint llround logb lrint lround modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv rcbrt remainder remquo
rhypot rnorm rnorm3d rnorm4d rsqrt scalbln scalbn sincos sincospi sinpi tgamma y0 y1 yn
"""
_OF_COMPILER = frozenset(name + end for name in _FUNCTIONS.split() for end in ("", "f")) | {
    "llmax", "llmin", "ullmax", "ullmin", "va_list",
}  # fmt: skip
"""What NVRTC declares beside those that are called: a variable hides it, but a kernel cannot have its name."""
_RESERVED = frozenset(_KEYWORDS.split()) | {*INSTRUCTIONS, "aligned"}
_OUTLINED = frozenset(outlined(op, dtype) for op in OPS.values() if op.llvm == "outlined" for dtype in (F32, F64))
_VECTOR_TYPE = r"((u?(char|short|int|long|longlong)|float|double)[1-4]|(bool|[iuf]\d+)x\d+)$"


def reserved() -> frozenset[str]:
    """What no variable may be called: words of CUDA C, and names of math functions."""
    return _RESERVED | _OUTLINED | {name for op in OPS.values() if op.libm for name in (op.libm, f"{op.libm}f")}


def _identifier(hint: str) -> str:
    """An ASCII identifier that looks like the hint; ``alpha`` for the Greek letter."""
    if hint.isascii():
        out = "".join([char if char.isalnum() or char == "_" else "_" for char in hint])
    else:
        out = _in_ascii(hint)
    out = out.strip("_") if out.startswith("__") or not hint.isidentifier() else out
    return f"_{out}" if out[:1].isdigit() else out


def _in_ascii(hint: str) -> str:
    import unicodedata

    out = ""
    for char in unicodedata.normalize("NFKD", hint):
        if char.isascii():
            out += char if char.isalnum() or char == "_" else "_"
        elif char.isalpha():
            out += re.sub(r"\W", "_", unicodedata.name(char, "x").split()[-1].lower())
    return out


def file_name(text: str) -> str:
    """The name of a file as generated code has it: without what PTX, into which compilers copy it, cannot escape.

    Examples
    --------
    >>> print(file_name('C:\\\\"new"\\\\waves.py'))
    C:/'new'/waves.py
    """
    text = text.encode("utf-8", "replace").decode()
    return re.sub(r"[\x00-\x1f]", "?", text).replace("\\", "/").replace('"', "'")


class Names:
    """Identifiers of one scope, each given out once."""

    def __init__(self, reserved: frozenset[str]):
        self.reserved = reserved
        self.used: set[str] = set()
        # The last number behind each name: those before it are taken.
        self.numbers: dict[str, int] = {}

    def add(self, hint: str) -> str:
        base = _identifier(hint) or "value"
        if base in self.reserved or (base[-1:].isdigit() and re.match(_VECTOR_TYPE, base)):
            base += "_"
        name, stem = base, base.rstrip("_")
        number = self.numbers.get(stem, 0)
        while name in self.used:
            number += 1
            name = f"{stem}_{number}"
        self.numbers[stem] = number
        self.used.add(name)
        return name


def kernel_names(functions: Sequence[Function]) -> tuple[str, ...]:
    """The names the kernels have in the compiled module, in order.

    They are the functions' names, made valid and unique: ``<lambda>`` becomes ``lambda``.
    """
    names = Names(reserved() | _OF_COMPILER)
    return tuple(names.add(f.name) for f in functions)

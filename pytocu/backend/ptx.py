"""Instructions of GPUs that CUDA C and LLVM IR have no operator for, as inline PTX.

Each rounds once, keeps subnormal numbers and is never joined with another: ``.rn`` stands where PTX
would leave the rounding to the assembler, and ``.ftz`` only where no number of a formula is subnormal.
"""

from __future__ import annotations

_COMPARED = "{{{{.reg .pred p; setp.{0}.f16 p, {{1}}, {{2}}; selp.b32 {{0}}, 1, 0, p;}}}}"

INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "half_to_float": ("cvt.f32.f16 {0}, {1};", "f", "h"),
    "float_to_half": ("cvt.rn.f16.f32 {0}, {1};", "h", "f"),
    "half_add": ("add.rn.f16 {0}, {1}, {2};", "h", "hh"),
    "half_subtract": ("sub.rn.f16 {0}, {1}, {2};", "h", "hh"),
    "half_multiply": ("mul.rn.f16 {0}, {1}, {2};", "h", "hh"),
    # A NaN is unequal to everything and in no order.
    **{
        f"half_{name}": (_COMPARED.format(relation), "r", "hh")
        for name, relation in (
            ("equal", "eq"),
            ("not_equal", "neu"),
            ("less", "lt"),
            ("less_equal", "le"),
            ("greater", "gt"),
            ("greater_equal", "ge"),
        )
    },
    # The assembler takes a negation of 16 bits for one of the 32 that it computes with, and 32768 for -(-32768).
    "short_negative": ("{{.reg .s32 t; cvt.s32.s16 t, {1}; neg.s32 t, t; cvt.s16.s32 {0}, t;}}", "h", "h"),
    "near_reciprocal": ("rcp.approx.ftz.f32 {0}, {1};", "f", "f"),
    "near_power_of_two": ("ex2.approx.ftz.f32 {0}, {1};", "f", "f"),
    "near_inverse_root": ("rsqrt.approx.ftz.f32 {0}, {1};", "f", "f"),
}
"""By row: the text over result and operands, and their constraints, ``r`` for a truth value as an integer."""

WAIT = ("griddepcontrol.wait;", "griddepcontrol.launch_dependents;")
"""What a kernel begins with that may be started while the kernel before it ends: it waits until that one has ended and
what it wrote can be read, and lets the next one start."""

WAITING_ARCH = 90
"""The first architecture that has these instructions; others start no kernel early."""

WAIT_FUNCTION = f"""static __device__ __forceinline__ void wait_for_launch_before() {{
#if __CUDA_ARCH__ >= {WAITING_ARCH}0
    asm volatile("{WAIT[0]}" ::: "memory");
    asm volatile("{WAIT[1]}");
#endif
}}"""
"""The same as a function of CUDA C."""

LLVM_WAIT = tuple(f'  call void asm sideeffect "{text}", "~{{memory}}"()' for text in WAIT)
"""The same as lines of LLVM IR."""

_C_TYPES = {"h": "unsigned short", "f": "float", "r": "int"}
_LLVM_TYPES = {"h": "{bits}", "f": "{float}", "r": "{wide}"}


def cuda_function(name: str) -> str:
    """The instruction as a function of CUDA C.

    Examples
    --------
    >>> print(cuda_function("half_add"))
    static __device__ __forceinline__ unsigned short half_add(unsigned short x, unsigned short y) {
        unsigned short value;
        asm("add.rn.f16 %0, %1, %2;" : "=h"(value) : "h"(x), "h"(y));
        return value;
    }
    """
    text, result, operands = INSTRUCTIONS[name]
    names = "xyz"[: len(operands)]
    params = ", ".join(f"{_C_TYPES[kind]} {x}" for kind, x in zip(operands, names, strict=True))
    given = ", ".join(f'"{kind}"({x})' for kind, x in zip(operands, names, strict=True))
    written = text.format(*(f"%{k}" for k in range(len(operands) + 1)))
    returned = "bool" if result == "r" else _C_TYPES[result]
    return "\n".join(
        (
            f"static __device__ __forceinline__ {returned} {name}({params}) {{",
            f"    {_C_TYPES[result]} value;",
            f'    asm("{written}" : "={result}"(value) : {given});',
            "    return value;",
            "}",
        )
    )


def llvm_steps(name: str) -> tuple[str, ...]:
    """The instruction as templates of a :class:`~pytocu.backend.llvm_dialect.Dialect`.

    Examples
    --------
    >>> llvm_steps("half_add")
    ('call {bits} asm "add.rn.f16 $0, $1, $2;", "=h,h,h"({bits} {x}, {bits} {y})',)
    """
    text, result, operands = INSTRUCTIONS[name]
    # The templates are formatted again.
    written = text.format(*(f"${k}" for k in range(len(operands) + 1))).replace("{", "{{").replace("}", "}}")
    given = ", ".join(f"{_LLVM_TYPES[kind]} {{{x}}}" for kind, x in zip(operands, "xyz", strict=False))
    call = f'call {_LLVM_TYPES[result]} asm "{written}", "={result},{",".join(operands)}"({given})'
    return (call, "icmp ne {wide} {0}, 0") if result == "r" else (call,)


__all__ = ["INSTRUCTIONS", "cuda_function", "llvm_steps"]

"""Instructions of GPUs that CUDA C and LLVM IR have no operator for, as inline PTX.

Each rounds once, keeps subnormal numbers and is never joined with another: ``.rn`` stands where PTX
would leave the rounding to the assembler, and ``.ftz`` only where no number of a formula is subnormal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "half_to_float": ("cvt.f32.f16 {0}, {1};", "f", "h"),
    # Of a pair `cvt.rn.f16.f32`, each masked with a constant and stored as one word, the assembler of CUDA 13.0 forgets the
    # first mask.
    "float_to_half": ("{{.reg .b32 t; cvt.rn.f16x2.f32 t, {1}, {1}; cvt.u16.u32 {0}, t;}}", "h", "f"),
    "half_add": ("add.rn.f16 {0}, {1}, {2};", "h", "hh"),
    "half_subtract": ("sub.rn.f16 {0}, {1}, {2};", "h", "hh"),
    "half_multiply": ("mul.rn.f16 {0}, {1}, {2};", "h", "hh"),
    # The assembler takes a negation of 16 bits for one of the 32 that it computes with, and 32768 for -(-32768).  What is
    # computed in 32 bits compilers would compute in 16, if they saw what becomes of it.
    "to_short": ("cvt.u16.u32 {0}, {1};", "h", "r"),
    # Assemblers see through these, compilers do not.
    "hidden_single": ("mov.f32 {0}, {1};", "f", "f"),
    "hidden_double": ("mov.f64 {0}, {1};", "d", "d"),
    # Assemblers do not see through these: bytes in their order, of 64 bits those of the upper half.
    "hidden_word": ("prmt.b32 {0}, {1}, 0, 0x3210;", "w", "w"),
    "hidden_long": (
        "{{.reg .b32 t, u; mov.b64 {{t, u}}, {1}; prmt.b32 u, u, 0, 0x3210; mov.b64 {0}, {{t, u}};}}",
        "l",
        "l",
    ),
    "near_reciprocal": ("rcp.approx.ftz.f32 {0}, {1};", "f", "f"),
    "near_double_reciprocal": ("rcp.approx.ftz.f64 {0}, {1};", "d", "d"),
    "near_power_of_two": ("ex2.approx.ftz.f32 {0}, {1};", "f", "f"),
    "near_logarithm": ("lg2.approx.ftz.f32 {0}, {1};", "f", "f"),
    "near_inverse_root": ("rsqrt.approx.ftz.f32 {0}, {1};", "f", "f"),
}
"""By row: the text over result and operands, and their constraints; ``w`` is an int32."""

COMPARISONS = {
    "half_equal": "==", "half_not_equal": "!=", "half_less": "<", "half_less_equal": "<=", "half_greater": ">",
    "half_greater_equal": ">=",
}  # fmt: skip
"""By row: the operator of CUDA C between the float32 of two float16.

A predicate is no result of inline PTX, and of one that was an integer on its way the assembler of CUDA 13.0 and 13.5 read
another one, where many were alive.
"""

BEFORE: dict[str, tuple[int, str]] = {"float_to_half": (80, "cvt.rn.f16.f32 {0}, {1};")}
"""By row: the first architecture that has the instruction, and the text for those before it."""

WAIT = ("griddepcontrol.launch_dependents;", "griddepcontrol.wait;")
"""What a kernel begins with that may be started while the kernel before it ends: it lets the next one start, which waits for
it in turn, and waits until the one before has ended and what that wrote can be read."""

WAITING_ARCH = 90
"""The first architecture that has these instructions; others start no kernel early."""

START_FUNCTION = f"""static __device__ __forceinline__ void let_next_launch_begin() {{
#if __CUDA_ARCH__ >= {WAITING_ARCH}0
    asm volatile("{WAIT[0]}");
#endif
}}"""
"""What a kernel begins with that only lets the next one start, as a function of CUDA C."""

WAIT_FUNCTION = f"""static __device__ __forceinline__ void wait_for_launch_before() {{
#if __CUDA_ARCH__ >= {WAITING_ARCH}0
    asm volatile("{WAIT[0]}");
    asm volatile("{WAIT[1]}" ::: "memory");
#endif
}}"""
"""What a kernel begins with that waits, as a function of CUDA C."""

LLVM_WAIT = tuple(f'  call void asm sideeffect "{text}", "~{{memory}}"()' for text in WAIT)
"""What a kernel begins with that waits, as lines of LLVM IR; the first of them lets the next one start."""


_MOVED = {
    "float": ("f32", "f"), "double": ("f64", "d"), "i64": ("b64", "l"), "i32": ("b32", "r"), "i16": ("b16", "h"),
    "i8": ("b8", "r"),
}  # fmt: skip
"""By type in LLVM IR: what a load or store of it is called, and the constraint of its register."""


def load_before_end(word: str, words: int, offsets: Sequence[int], at: int, bits: int, unchanged: bool) -> tuple[str, str]:
    """Loads of a share of a row, or zeros where it lies behind the row's end, as an expression of LLVM IR.

    Written as branches, a register that two of them fill is copied between the loads, and the second waits for the first.

    Parameters
    ----------
    word : str
        The type of a register.
    words : int
        How many each load fills.
    offsets : sequence of int
        Bytes of each load behind the address.
    at, bits : int
        Elements in front of the share, and the size of the number of elements that there are.
    unchanged : bool
        Nobody writes the memory while the kernel runs.

    Returns
    -------
    str
        A template over the address and the number of elements, each with its type.
    str
        The type of the result: of one register, or a structure of all.

    Examples
    --------
    >>> text, type = load_before_end("float", 1, [8], 512, 32, True)
    >>> print(text.format("float* %at", "i32 %room").replace("; ", ";\\n"))
    call float asm "{.reg .pred p;
    setp.ge.s32 p, $2, 513;
    mov.b32 $0, 0;
    @p ld.global.nc.f32 $0, [$1+8];}", "=&f,l,r"(float* %at, i32 %room)
    """
    spelled, letter = _MOVED[word]
    count = words * len(offsets)
    zero = "mov.b32 {}, 0;" if spelled == "b8" else f"mov.b{spelled[1:]} {{}}, 0;"
    registers = [f"${k}" for k in range(count)]
    lines = [_before_end(count + 1, at, bits), *map(zero.format, registers)]
    path = "ld.global.nc" if unchanged else "ld.global"
    for number, offset in enumerate(offsets):
        target = _registers(registers[number * words : (number + 1) * words])
        lines.append(f"@p {path}{_several(words)}.{spelled} {target}, {_place(count, offset)};")
    register = "i32" if spelled == "b8" else word
    type = register if count == 1 else f"{{{', '.join([register] * count)}}}"
    letters = [*[f"=&{letter}"] * count, "l", _number(bits), *([] if unchanged else ["~{memory}"])]
    text = f'call {type} asm {"" if unchanged else "sideeffect "}"{{{" ".join(lines)}}}", "{",".join(letters)}"'
    return f"{_literal(text)}({{}}, {{}})", type


def store_before_end(word: str, count: int, words: int, offsets: Sequence[int], at: int, bits: int) -> str:
    """Stores of a share of a row, where it lies before the row's end, as an instruction of LLVM IR.

    Parameters
    ----------
    word : str
        The type of a register.
    count, words : int
        How many there are, and how many of them each store moves.
    offsets, at, bits
        As for :func:`load_before_end`.

    Returns
    -------
    str
        A template over the registers, the address and the number of elements, each with its type.

    Examples
    --------
    >>> text = store_before_end("i32", 1, 1, [0], 0, 32)
    >>> print(text.format("i32 %a", "i32* %at", "i32 %room").replace("; ", ";\\n"))
    call void asm sideeffect "{.reg .pred p;
    setp.ge.s32 p, $2, 1;
    @p st.global.b32 [$1], $0;}", "r,l,r,~{memory}"(i32 %a, i32* %at, i32 %room)
    """
    spelled, letter = _MOVED[word]
    registers = [f"${k}" for k in range(count)]
    lines = [_before_end(count + 1, at, bits)]
    for number, offset in enumerate(offsets):
        moved = _registers(registers[number * words : (number + 1) * words])
        lines.append(f"@p st.global{_several(words)}.{spelled} {_place(count, offset)}, {moved};")
    letters = ",".join([*[letter] * count, "l", _number(bits), "~{memory}"])
    text = f'call void asm sideeffect "{{{" ".join(lines)}}}", "{letters}"'
    return f"{_literal(text)}({', '.join(['{}'] * (count + 2))})"


def _before_end(operand: int, at: int, bits: int) -> str:
    # Not as what is compared later: an assembler would keep the predicates of all shares until then.
    return f".reg .pred p; setp.ge.s{bits} p, ${operand}, {at + 1};"


def _registers(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _several(words: int) -> str:
    return "" if words == 1 else f".v{words}"


def _place(operand: int, offset: int) -> str:
    return f"[${operand}+{offset}]" if offset else f"[${operand}]"


def _number(bits: int) -> str:
    return "r" if bits == 32 else "l"


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def for_arch(source: str, arch: int) -> str:
    """A module of LLVM IR with the instructions that an architecture has."""
    for name, (first, _) in BEFORE.items():
        if arch < first:
            source = source.replace(f'asm "{_llvm_text(name)}"', f'asm "{_llvm_text(name, arch)}"')
    if arch < WAITING_ARCH:
        for line in LLVM_WAIT:
            # Behind it the place of the line may stand.
            source = re.sub(rf"^{re.escape(line)}(?:, !dbg !\d+)?\n", "", source, flags=re.MULTILINE)
    return source


def _text(name: str, arch: int | None) -> str:
    first, text = BEFORE.get(name, (0, ""))
    return text if arch is not None and arch < first else INSTRUCTIONS[name][0]


def _llvm_text(name: str, arch: int | None = None) -> str:
    operands = INSTRUCTIONS[name][2]
    return _text(name, arch).format(*(f"${k}" for k in range(len(operands) + 1)))


_C_TYPES = {"h": "unsigned short", "f": "float", "d": "double", "r": "int", "w": "int", "l": "long long"}
_LLVM_TYPES = {"h": "{bits}", "f": "{float}", "d": "{double}", "r": "{wide}", "w": "{wide}", "l": "{long}"}
_CONSTRAINTS = str.maketrans("w", "r")


def cuda_function(name: str) -> str:
    """The instruction, or a comparison of two float16, as a function of CUDA C.

    Examples
    --------
    >>> print(cuda_function("half_add"))
    static __device__ __forceinline__ unsigned short half_add(unsigned short x, unsigned short y) {
        unsigned short value;
        asm("add.rn.f16 %0, %1, %2;" : "=h"(value) : "h"(x), "h"(y));
        return value;
    }
    """
    if name in COMPARISONS:
        return "\n".join(
            (
                f"static __device__ __forceinline__ bool {name}(unsigned short x, unsigned short y) {{",
                f"    return half_to_float(x) {COMPARISONS[name]} half_to_float(y);",
                "}",
            )
        )
    _, result, operands = INSTRUCTIONS[name]
    names = "xyz"[: len(operands)]
    params = ", ".join(f"{_C_TYPES[kind]} {x}" for kind, x in zip(operands, names, strict=True))
    given = ", ".join(f'"{kind}"({x})' for kind, x in zip(operands.translate(_CONSTRAINTS), names, strict=True))

    def written(arch: int | None) -> str:
        text = _text(name, arch).format(*(f"%{k}" for k in range(len(operands) + 1)))
        return f'    asm("{text}" : "={result.translate(_CONSTRAINTS)}"(value) : {given});'

    first, _ = BEFORE.get(name, (0, ""))
    lines = [f"#if __CUDA_ARCH__ >= {first}0", written(first), "#else", written(0), "#endif"] if first else [written(None)]
    return "\n".join(
        (
            f"static __device__ __forceinline__ {_C_TYPES[result]} {name}({params}) {{",
            f"    {_C_TYPES[result]} value;",
            *lines,
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
    _, result, operands = INSTRUCTIONS[name]
    # The templates are formatted again.
    written = _llvm_text(name).replace("{", "{{").replace("}", "}}")
    given = ", ".join(f"{_LLVM_TYPES[kind]} {{{x}}}" for kind, x in zip(operands, "xyz", strict=False))
    letters = ",".join(result + operands).translate(_CONSTRAINTS)
    return (f'call {_LLVM_TYPES[result]} asm "{written}", "={letters}"({given})',)


__all__ = ["COMPARISONS", "INSTRUCTIONS", "cuda_function", "for_arch", "llvm_steps"]

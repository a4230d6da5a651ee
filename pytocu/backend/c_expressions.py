"""Expressions of C with their precedence: literals, operators, casts, arithmetic that wraps.

Signed arithmetic that may wrap is done unsigned and cast back, and narrow integers are cut back to
their width after C's promotion to ``int``.
"""

from __future__ import annotations

import math

import numpy as np

from pytocu.ir.types import BOOL, COMPILED_DTYPES, F32, I32, I64, U8, U16, U32, U64, DType
from pytocu.record import Record

_SPELLED = (
    "bool", "signed char", "short", "int", "long long",
    "unsigned char", "unsigned short", "unsigned int", "unsigned long long", "float", "double",
)  # fmt: skip
C_TYPES: dict[DType, str] = dict(zip(COMPILED_DTYPES, _SPELLED, strict=True))

PRIMARY, POSTFIX, UNARY, CONJUNCTION, TERNARY = 16, 15, 14, 5, 3
# Level of the expression, lowest level of a left and of a right operand that needs no parentheses.
# Stricter than C for shifts, comparisons and bitwise operators, where C's levels surprise readers.
BINARY: dict[str, tuple[int, int, int]] = {
    "*": (13, 13, 14), "/": (13, 13, 14), "%": (13, 13, 14), "+": (12, 12, 13), "-": (12, 12, 13),
    "<<": (11, 14, 14), ">>": (11, 14, 14),
    "<": (10, 12, 12), "<=": (10, 12, 12), ">": (10, 12, 12), ">=": (10, 12, 12), "==": (9, 12, 12), "!=": (9, 12, 12),
    "&": (8, 14, 14), "^": (7, 14, 14), "|": (6, 14, 14),
}  # fmt: skip
WRAPPING = frozenset({"+", "-", "*", "<<"})


class Expression(Record):
    """C text and its precedence level; `unsigned` has the same bits in the unsigned type."""

    text: str
    level: int = PRIMARY
    unsigned: Expression | None = None
    literal: bool = False

    def inside(self, lowest: int) -> str:
        """The text, in parentheses when it binds weaker than `lowest`."""
        return self.text if self.level >= lowest else f"({self.text})"


def _shortest(value: float) -> str:
    """The shortest decimal of a positive float32, spelled the same whichever NumPy is installed.

    A compiler may read a decimal as a double first, so both ways must give the value.
    """
    number = np.float32(value)
    with np.errstate(over="ignore"):
        below, above = (float(np.nextafter(number, np.float32(to))) for to in (-np.inf, np.inf))
    above = above if math.isfinite(above) else 2 * value - below
    # A double holds the midpoint of two neighbours exactly.
    low, high = ((value + side) / 2 for side in (below, above))
    for digits in range(1, 10):
        decimal = float(f"{value:.{digits}g}")
        # Strictly between the midpoints the text rounds to the value: a text beyond one would not have been read as a
        # double on this side of it.
        if low < decimal < high:
            return repr(decimal)
    return value.hex()


def float_literal(value: float, dtype: DType) -> Expression:
    """A floating constant that the C compiler reads back to the same bits."""
    single = dtype is F32
    as_float = "__int_as_float(0x{:08x})" if single else "__longlong_as_double(0x{:016x}LL)"
    negative = math.copysign(1.0, value) < 0
    if math.isnan(value):
        # With its sign: a compiler may take the negative of a NaN for the NaN.
        return Expression(as_float.format(int(dtype.numpy.type(value).view(f"u{dtype.bits // 8}"))), literal=True)
    if math.isinf(value):
        text = as_float.format(0x7F800000 if single else 0x7FF0000000000000)
    elif single:
        text = f"{_shortest(abs(value))}f"
    else:
        text = repr(abs(value))
    return Expression(f"-{text}", UNARY, literal=True) if negative else Expression(text, literal=True)


def integer_literal(value: int, dtype: DType) -> Expression:
    """An integer constant of the dtype's C type (``int`` for narrower ones)."""
    suffix = {U32: "u", I64: "LL", U64: "ULL"}.get(dtype, "")
    if dtype in (I32, I64) and value == -(2 ** (dtype.bits - 1)):
        return Expression(f"(-{-value - 1}{suffix} - 1)", literal=True)
    unsigned = None
    if dtype in (I32, I64) and value >= 0:
        unsigned = Expression(f"{value}{'u' if dtype is I32 else 'ULL'}", literal=True)
    return Expression(f"{value}{suffix}", PRIMARY if value >= 0 else UNARY, unsigned, literal=True)


def binary(token: str, left: Expression, right: Expression) -> Expression:
    """An operator between two operands."""
    level, lowest_left, lowest_right = BINARY[token]
    if token in "&|^" and left.level == level:
        lowest_left = level
    return Expression(f"{left.inside(lowest_left)} {token} {right.inside(lowest_right)}", level)


def unary(token: str, x: Expression) -> Expression:
    """An operator before an operand."""
    text = x.inside(UNARY)
    return Expression(f"{token}({text})" if text.startswith(token) else f"{token}{text}", UNARY)


def cast(c_type: str, x: Expression) -> Expression:
    """A conversion to a type of C."""
    return Expression(f"({c_type}){x.inside(UNARY)}", UNARY)


def as_unsigned(x: Expression, dtype: DType) -> Expression:
    """The bits as the unsigned type of at least 32 bits."""
    return x.unsigned or cast("unsigned long long" if dtype.bits == 64 else "unsigned int", x)


def wrapping(token: str, args: list[Expression], dtype: DType) -> Expression:
    """``+ - * <<`` and negation modulo ``2**bits``; `args` has one element for negation."""
    narrow = dtype.bits < 32
    # Promoted to int, only these can leave int's range.
    overflows = not narrow or token == "<<" or (token == "*" and dtype is U16)
    if overflows and dtype not in (U32, U64):
        left = as_unsigned(args[0], dtype)
        if len(args) == 2 and token != "<<":
            # One unsigned operand makes the operation unsigned.
            right = args[1].unsigned or args[1]
            if args[1].unsigned is not None and args[0].unsigned is None:
                left = args[0]
            args = [left, right]
        else:
            args = [left, *args[1:]]
    made = unary(token, args[0]) if len(args) == 1 else binary(token, *args)
    if dtype in (U32, U64):
        return made
    cut = cast(C_TYPES[dtype], made)
    return cut if narrow else Expression(cut.text, cut.level, made)


def bitcast(x: Expression, source: DType, target: DType) -> Expression:
    """The same bits, through the functions the compiler has for float and double."""
    if (source.kind == "f") == (target.kind == "f"):
        return x if source is target else cast(C_TYPES[target], x)
    single = source.bits == 32
    if target.kind == "f":
        name, integer = ("__int_as_float", I32) if single else ("__longlong_as_double", I64)
        given = x if source is integer else cast(C_TYPES[integer], x)
        return Expression(f"{name}({given.text})", POSTFIX)
    name, integer = ("__float_as_int", I32) if single else ("__double_as_longlong", I64)
    made = Expression(f"{name}({x.text})", POSTFIX)
    return made if target is integer else cast(C_TYPES[target], made)


def invert(x: Expression, dtype: DType) -> Expression:
    """``~x``, in the width of the dtype."""
    if dtype is BOOL:
        return unary("!", x)
    made = unary("~", x)
    return cast(C_TYPES[dtype], made) if dtype in (U8, U16) else made

"""What Python computes of its own numbers, of NumPy scalars in a kernel: an int is an int64, a float a float64.

What Python would raise is required; see `pytocu.passes.loop_scalars`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.ir.builder import Builder
from pytocu.ir.core import Inst, Value
from pytocu.ir.python_functions import NEGATIVE_POWER
from pytocu.ir.regions import FITS
from pytocu.ir.types import BOOL, C128, F64, I64, U64, DType, WeakType, element, scalar

STRONG = {"bool": BOOL, "int": I64, "float": F64, "complex": C128}
"""The dtype that a kernel computes Python scalars of a kind in."""

DOMAIN, RANGE = "math domain error", "math range error"
HELP = "keep it below 2**63, as with % in each step, or begin with np.int64(...), which wraps around as NumPy's integers do"


def require(builder: Builder, value: Value, condition: Value, error: str, sentence: str, shown: Value | None = None) -> Value:
    """The value, where the condition holds."""
    args = (value, condition) if shown is None else (value, condition, shown)
    said = {"said": (HELP,)} if sentence == FITS else {}
    return builder.emit("require", args, {"error": error, "sentence": sentence, "dims": (), **said})


def as_dtype(builder: Builder, value: Value, dtype: DType) -> Value:
    """The number in a dtype."""
    if element(value.type) is dtype:
        return value
    known = known_number(value)
    if known is not None:
        # A constant stays one: what it divides needs no requirement.
        return builder.const(np.asarray(known, element(value.type).numpy).astype(dtype.numpy).item(), scalar(dtype))
    return builder.emit("cast", (value,), {}, (scalar(dtype),))


def known_number(value: Value) -> Any:
    """The value of a constant."""
    inst = value.inst
    return inst.attr("value") if inst is not None and inst.op.name == "const" else None


def nonzero(builder: Builder, divisor: Value, sentence: str) -> Value:
    """A divisor that is not zero."""
    known = known_number(divisor)
    if known is not None and known != 0:
        return divisor
    fine = builder.emit("not_equal", (divisor, builder.const(0, divisor.type)))
    return require(builder, divisor, fine, "ZeroDivisionError", sentence)


def shifted(builder: Builder, row: str, x: Value, count: Value) -> Value:
    """An int shifted by a count, which Python wants not to be negative; its ints do not lose bits."""
    known = known_number(count)
    if not isinstance(known, int) or known < 0:
        fine = builder.emit("greater_equal", (count, builder.const(0, count.type)))
        count = require(builder, count, fine, "ValueError", "negative shift count")
    made = builder.emit(row, (x, count))
    if row == "right_shift":
        return made
    back = builder.emit("right_shift", (made, count))
    return require(builder, made, builder.emit("equal", (back, x)), "OverflowError", FITS)


def _both(builder: Builder, *flags: Value) -> Value:
    first, *others = flags
    for flag in others:
        first = builder.emit("bitwise_and", (first, flag))
    return first


def _not(builder: Builder, flag: Value) -> Value:
    return builder.emit("invert", (flag,))


def _without(builder: Builder, value: Value, bad: Value, error: str, sentence: str) -> Value:
    """The value, where something is not so."""
    return require(builder, value, _not(builder, bad), error, sentence)


def _is(builder: Builder, row: str, *values: Value) -> Value:
    """Whether all values are so."""
    return _both(builder, *(builder.emit(row, (v,)) for v in values))


def _checked(builder: Builder, made: Value, args: Sequence[Value], overflows: bool) -> Value:
    """What `math` raises: a result that is no number of numbers, an infinite one of finite numbers."""
    numbers = _both(builder, *(_not(builder, builder.emit("isnan", (a,))) for a in args))
    bad = _both(builder, builder.emit("isnan", (made,)), numbers)
    made = _without(builder, made, bad, "ValueError", DOMAIN)
    bad = _both(builder, builder.emit("isinf", (made,)), _is(builder, "isfinite", *args))
    return _without(builder, made, bad, *(("OverflowError", RANGE) if overflows else ("ValueError", DOMAIN)))


Written = Callable[[Builder, Inst, list[Value], DType], Value]


def _math(row: str, overflows: bool = False) -> Written:
    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        numbers = [as_dtype(builder, a, F64) for a in args]
        return _checked(builder, builder.emit(row, numbers), numbers, overflows)

    return made


def _plain(row: str) -> Written:
    """A function that raises nothing."""

    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        return builder.emit(row, [as_dtype(builder, a, F64) for a in args])

    return made


def _logarithm(row: str) -> Written:
    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        found: list[Value] = []
        for arg in args:
            x = as_dtype(builder, arg, F64)
            bad = builder.emit("less_equal", (x, builder.const(0, scalar(F64))))
            found.append(builder.emit(row, (_without(builder, x, bad, "ValueError", DOMAIN),)))
        if len(found) == 1:
            return found[0]
        return builder.emit("divide", (found[0], nonzero(builder, found[1], "float division by zero")))

    return made


def _scaled(factor: float) -> Written:
    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        return builder.emit("multiply", (as_dtype(builder, args[0], F64), builder.const(factor, scalar(F64))))

    return made


def _whole(row: str) -> Written:
    """A Python int of a float."""

    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        (x,) = args
        if element(x.type) is not F64:
            return as_dtype(builder, x, I64)
        x = _without(builder, x, builder.emit("isnan", (x,)), "ValueError", "cannot convert float NaN to integer")
        x = _without(builder, x, builder.emit("isinf", (x,)), "OverflowError", "cannot convert float infinity to integer")
        x = builder.emit(row, (x,))
        low = builder.emit("greater_equal", (x, builder.const(-(2.0**63), scalar(F64))))
        high = builder.emit("less", (x, builder.const(2.0**63, scalar(F64))))
        return as_dtype(builder, require(builder, x, _both(builder, low, high), "OverflowError", FITS), I64)

    return made


def _gcd(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    total = builder.const(0, scalar(I64))
    for arg in args:
        total = builder.emit("gcd", (total, as_dtype(builder, arg, I64)))
    # Of the least int64 and 0 it is 2**63.
    return require(builder, total, builder.emit("greater_equal", (total, builder.const(0, scalar(I64)))), "OverflowError", FITS)


def _lcm(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    total = builder.const(1, scalar(I64))
    for arg in args:
        number = as_dtype(builder, arg, I64)
        sizes = [builder.emit("absolute", (as_dtype(builder, v, F64),)) for v in (total, number)]
        # x / gcd(x, y) * y is no larger than what float64 says of it, up to its rounding.
        part = as_dtype(builder, builder.emit("gcd", (total, number)), F64)
        part = builder.emit("maximum", (part, builder.const(1.0, scalar(F64))))
        size = builder.emit("multiply", (builder.emit("divide", (sizes[0], part)), sizes[1]))
        fine = builder.emit("less", (size, builder.const(9.2233720368547e18, scalar(F64))))
        total = require(builder, builder.emit("lcm", (total, number)), fine, "OverflowError", FITS)
    return total


def int_quotient(builder: Builder, x: Value, y: Value) -> Value:
    """``x // y`` of Python ints: that of the least int64 and -1 is 2**63."""
    made = builder.emit("floor_divide", (x, y))
    known = known_number(y)
    if known is not None and known != -1:
        return made
    least = builder.emit("equal", (x, builder.const(-(2**63), scalar(I64))))
    beyond = least if known is not None else _both(builder, least, builder.emit("equal", (y, builder.const(-1, scalar(I64)))))
    return _without(builder, made, beyond, "OverflowError", FITS)


def complex_power(builder: Builder, x: Value, exponent: int) -> Value:
    """``x ** 3`` of a Python complex number, as Python multiplies: by the powers of x whose exponents are powers of two."""
    made, square = builder.const(1 + 0j, scalar(C128)), x
    while exponent:
        if exponent & 1:
            made = builder.emit("multiply", (made, square))
        exponent >>= 1
        if exponent:
            square = builder.emit("multiply", (square, square))
    bad = [builder.emit("isinf", (builder.emit(part, (made,)),)) for part in ("real", "imag")]
    return _without(builder, made, builder.emit("bitwise_or", bad), "OverflowError", "complex exponentiation")


def _isqrt(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    """The root in float64 is within 1 of it."""
    x, one = as_dtype(builder, args[0], I64), builder.const(1, scalar(I64))
    fine = builder.emit("greater_equal", (x, builder.const(0, scalar(I64))))
    x = require(builder, x, fine, "ValueError", "isqrt() argument must be nonnegative")
    root = as_dtype(builder, builder.emit("sqrt", (as_dtype(builder, x, F64),)), I64)
    # The largest int64 whose square is one.
    root = builder.emit("minimum", (root, builder.const(3037000499, scalar(I64))))
    less = builder.emit("greater", (builder.emit("multiply", (root, root)), x))
    root = builder.emit("where", (less, builder.emit("subtract", (root, one)), root))
    after = builder.emit("minimum", (builder.emit("add", (root, one)), builder.const(3037000499, scalar(I64))))
    more = builder.emit("less_equal", (builder.emit("multiply", (after, after)), x))
    return builder.emit("where", (more, after, root))


def _bit_count(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return as_dtype(builder, builder.emit("bitwise_count", (as_dtype(builder, args[0], I64),)), I64)


def _bit_length(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    """How many bits there are from the highest one of the magnitude on."""
    x, zero = as_dtype(builder, args[0], I64), builder.const(0, scalar(I64))
    negated = builder.emit("where", (builder.emit("less", (x, zero)), builder.emit("subtract", (zero, x)), x))
    bits = as_dtype(builder, negated, U64)
    for distance in (1, 2, 4, 8, 16, 32):
        lower = builder.emit("right_shift", (bits, builder.const(distance, bits.type)))
        bits = builder.emit("bitwise_or", (bits, lower))
    return as_dtype(builder, builder.emit("bitwise_count", (bits,)), I64)


def _is_integer(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    x = as_dtype(builder, args[0], F64)
    whole = builder.emit("equal", (x, builder.emit("trunc", (x,))))
    return _both(builder, whole, builder.emit("isfinite", (x,)))


def _is_close(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    a, b, relative, least = (as_dtype(builder, v, F64) for v in args)
    size = builder.emit("fmax", tuple(builder.emit("absolute", (v,)) for v in (a, b)))
    allowed = builder.emit("fmax", (builder.emit("multiply", (relative, size)), least))
    near = builder.emit("less_equal", (builder.emit("absolute", (builder.emit("subtract", (a, b)),)), allowed))
    near = _both(builder, near, _is(builder, "isfinite", a, b))
    return builder.emit("bitwise_or", (near, builder.emit("equal", (a, b))))


def _hypot(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    first, *others = (as_dtype(builder, a, F64) for a in args)
    made = builder.emit("absolute", (first,))
    for other in others:
        made = builder.emit("hypot", (made, other))
    return made


def float_power(builder: Builder, x: Value, y: Value) -> Value:
    """``x ** y`` of Python floats."""
    made = builder.emit("power", (x, y))
    exponent = known_number(y)
    if isinstance(exponent, (int, float)) and exponent in (1.0, 2.0):
        return _overflow_of_power(builder, made, x, y)
    zero = builder.const(0, scalar(F64))
    bad = _both(builder, builder.emit("equal", (x, zero)), builder.emit("less", (y, zero)))
    made = _without(builder, made, bad, "ZeroDivisionError", "0.0 cannot be raised to a negative power")
    bad = _both(builder, builder.emit("isnan", (made,)), _is(builder, "isfinite", x, y))
    sentence = "a negative Python float to a power that is no integer is a complex number"
    made = _without(builder, made, bad, "ValueError", sentence)
    return _overflow_of_power(builder, made, x, y)


def int_power(builder: Builder, x: Value, n: Value) -> Value:
    """``x ** n`` of Python ints, of which the second is not negative."""
    numbers = builder.emit("absolute", (as_dtype(builder, x, F64),)), as_dtype(builder, n, F64)
    fits = builder.emit("less", (builder.emit("power", numbers), builder.const(9.2233720368547e18, scalar(F64))))
    fits = builder.emit("bitwise_or", (fits, builder.emit("less_equal", (n, builder.const(1, scalar(I64))))))
    return require(builder, builder.emit("power", (x, n)), fits, "OverflowError", FITS)


def _natural(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    (n,) = (as_dtype(builder, a, I64) for a in args)
    fine = builder.emit("greater_equal", (n, builder.const(0, scalar(I64))))
    return require(builder, n, fine, "UnsupportedError", NEGATIVE_POWER)


def _overflow_of_power(builder: Builder, made: Value, x: Value, y: Value) -> Value:
    bad = _both(builder, builder.emit("isinf", (made,)), _is(builder, "isfinite", x, y))
    return _without(builder, made, bad, "OverflowError", "(34, 'Numerical result out of range')")


def _math_power(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    x, y = (as_dtype(builder, a, F64) for a in args)
    made = builder.emit("power", (x, y))
    pole = _both(builder, builder.emit("equal", (x, builder.const(0, scalar(F64)))), builder.emit("isinf", (made,)))
    pole = _both(builder, pole, builder.emit("isfinite", (y,)))
    return _checked(builder, _without(builder, made, pole, "ValueError", DOMAIN), (x, y), True)


def _ldexp(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    x, exponent = as_dtype(builder, args[0], F64), as_dtype(builder, args[1], I64)
    return _checked(builder, builder.emit("ldexp", (x, exponent)), (x,), True)


def _exponent(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return as_dtype(builder, builder.emit("frexp_exponent", (as_dtype(builder, args[0], F64),)), I64)


def _spacing(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return builder.emit("spacing", (builder.emit("absolute", (as_dtype(builder, args[0], F64),)),))


def item(builder: Builder, inst: Inst, value: Value) -> Value:
    """Python's number of a NumPy scalar."""
    assert isinstance(inst.types[0], WeakType)
    made = as_dtype(builder, value, STRONG[inst.types[0].kind])
    if element(value.type) is not U64:
        return made
    fine = builder.emit("greater_equal", (made, builder.const(0, scalar(I64))))
    return require(builder, made, fine, "OverflowError", FITS)


def _part(row: str) -> Written:
    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        return builder.emit(row, (as_dtype(builder, args[0], C128),))

    return made


def _complex(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    """x + i y: a part that is complex itself brings its own parts."""
    if common is C128:
        first, second = (as_dtype(builder, a, C128) for a in args)
        turned = builder.emit("multiply", (second, builder.const(1j, scalar(C128))))
        return first if known_number(args[1]) == 0 else builder.emit("add", (first, turned))
    return builder.emit("compose", [as_dtype(builder, a, F64) for a in args])


def _checked_exponent(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    fine = builder.emit("greater_equal", (args[0], builder.const(0, args[0].type)))
    return require(builder, args[0], fine, "ValueError", "Integers to negative integer powers are not allowed.")


def _choose(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    test, yes, no = args
    dtype = STRONG[inst.types[0].kind]  # type: ignore[union-attr]
    return builder.emit("where", (_truth(builder, test), as_dtype(builder, yes, dtype), as_dtype(builder, no, dtype)))


def _truth(builder: Builder, value: Value) -> Value:
    if element(value.type) is BOOL:
        return value
    return builder.emit("not_equal", (value, builder.const(0, value.type)))


def _negated(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return builder.emit("invert", (_truth(builder, args[0]),))


def _extreme(comparison: str) -> Callable[[Builder, Inst, list[Value], DType], Value]:
    def made(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        best, *rest = (as_dtype(builder, a, common) for a in args)
        for value in rest:
            best = builder.emit("where", (builder.emit(comparison, (value, best)), value, best))
        return best

    return made


def _float(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return as_dtype(builder, args[0], F64)


def _step(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    fine = builder.emit("not_equal", (args[0], builder.const(0, args[0].type)))
    return require(builder, args[0], fine, "ValueError", "range() arg 3 must not be zero")


def _steps(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    return steps_of_range(builder, *(as_dtype(builder, a, I64) for a in args))


def steps_of_range(builder: Builder, start: Value, stop: Value, step: Value) -> Value:
    """len(range(start, stop, step)), of int64.

    With d = stop - start and s = sign(step) it is max((d + step - s) // step, 0), where d + step is a number of int64.  That is
    taken for granted only of steps known to be short, by which a longer distance has more steps than anybody waits for.
    Else it is (|d| - 1) // |step| + 1 where s*d > 0, of numbers without sign, which hold both distances, and 0 elsewhere.
    """
    zero, one = builder.const(0, scalar(I64)), builder.const(1, scalar(I64))
    positive = builder.emit("greater", (step, zero))
    known = known_number(step)
    if known is not None and abs(known) <= _SHORT_STEP:
        sign = builder.emit("where", (positive, one, builder.const(-1, scalar(I64))))
        total = builder.emit("add", (builder.emit("subtract", (stop, start)), builder.emit("subtract", (step, sign))))
        count = builder.emit("floor_divide", (total, step))
        return builder.emit("where", (builder.emit("greater", (count, zero)), count, zero))
    low, high = (builder.emit("where", (positive, *ends)) for ends in ((start, stop), (stop, start)))
    some = builder.emit("less", (low, high))
    # Chosen in front of the division: where the quotient was chosen behind it, NVIDIA's assemblers of CUDA 13.0 and 13.5 ended
    # the process.
    distance = builder.emit("where", (some, builder.emit("subtract", (builder.emit("subtract", (high, low)), one)), zero))
    length = as_dtype(builder, builder.emit("where", (positive, step, builder.emit("negative", (step,)))), U64)
    count = builder.emit("floor_divide", (as_dtype(builder, distance, U64), length))
    return builder.emit("add", (as_dtype(builder, count, I64), builder.emit("where", (some, one, zero))))


_SHORT_STEP = 2**16


def _from_words(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
    """The float of the two halves of its bits."""
    high = builder.emit("left_shift", (args[0], builder.const(32, args[0].type)))
    bits = builder.emit("bitwise_or", (high, args[1]))
    return builder.emit("view", (bits,), {}, (scalar(F64),))


def _word(shift: int) -> Callable[[Builder, Inst, list[Value], DType], Value]:
    """A half of the bits of a float."""

    def half(builder: Builder, inst: Inst, args: list[Value], common: DType) -> Value:
        bits = builder.emit("view", (as_dtype(builder, args[0], F64),), {}, (scalar(U64),))
        bits = builder.emit("right_shift", (bits, builder.const(shift, bits.type)))
        low = builder.emit("bitwise_and", (bits, builder.const(2**32 - 1, bits.type)))
        return as_dtype(builder, low, I64)

    return half


FUNCTIONS: dict[str, Callable[[Builder, Inst, list[Value], DType], Value]] = {
    "python_choose": _choose,
    "python_not": _negated,
    "python_min": _extreme("less"),
    "python_max": _extreme("greater"),
    "python_float": _float,
    "python_from_words": _from_words,
    "python_high": _word(32),
    "python_low": _word(0),
    "python_step": _step,
    "python_steps": _steps,
    "python_real": _part("real"),
    "python_imag": _part("imag"),
    "python_complex": _complex,
    "python_int": _whole("trunc"),
    "python_round": _whole("rint"),
    "python_bit_count": _bit_count,
    "python_bit_length": _bit_length,
    "python_conjugate": _part("conjugate"),
    "python_is_integer": _is_integer,
    "python_exponent": _checked_exponent,
    "python_natural": _natural,
    "math_trunc": _whole("trunc"),
    "math_floor": _whole("floor"),
    "math_ceil": _whole("ceil"),
    "math_isnan": _plain("isnan"),
    "math_isinf": _plain("isinf"),
    "math_isfinite": _plain("isfinite"),
    "math_fabs": _plain("absolute"),
    "math_copysign": _plain("copysign"),
    "math_nextafter": _plain("nextafter"),
    "math_atan2": _plain("arctan2"),
    "math_modf_fraction": _plain("modf_fraction"),
    "math_modf_integer": _plain("modf_integer"),
    "math_frexp_mantissa": _plain("frexp_mantissa"),
    "math_frexp_exponent": _exponent,
    "math_ulp": _spacing,
    "math_ldexp": _ldexp,
    "math_hypot": _hypot,
    "math_pow": _math_power,
    "math_isqrt": _isqrt,
    "math_isclose": _is_close,
    "math_gcd": _gcd,
    "math_lcm": _lcm,
    "math_degrees": _scaled(180 / math.pi),
    "math_radians": _scaled(math.pi / 180),
    "math_fmod": _math("fmod"),
    **{f"math_{name}": _logarithm(name) for name in ("log", "log2", "log10")},
    **{f"math_{name}": _math(name, True) for name in ("cosh", "exp", "exp2", "expm1", "sinh")},
    **{f"math_{name}": _math(name) for name in ("cbrt", "cos", "log1p", "sin", "sqrt", "tan", "tanh")},
    **{f"math_a{name}": _math(f"arc{name}") for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
}
"""By the rows of Python's own functions."""

OTHER_BITS = frozenset(
    {
        "math_pow", "math_hypot", "math_atan2", "math_log", "math_log2", "math_log10", "math_log1p", "math_exp", "math_exp2",
        "math_expm1", "math_cbrt",
        *(f"math_{a}{name}{h}" for name in ("sin", "cos", "tan") for a in ("", "a") for h in ("", "h")),
    }
)  # fmt: skip
"""Functions whose results in a kernel are near Python's, within the bounds of the op table, and need not be the same."""

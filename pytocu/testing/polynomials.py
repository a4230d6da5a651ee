"""Derives the polynomials of the elementary functions and prints the module that holds them.

``python -m pytocu.testing.polynomials > pytocu/ir/polynomials.py`` writes
:mod:`pytocu.ir.polynomials` again; it needs mpmath.  Each polynomial is the weighted
least-squares fit at Chebyshev nodes, which is close to the one of smallest largest error.  Its
coefficients are rounded to the dtype one after the other from the lowest power up, and the higher
ones fitted anew to what the rounding left.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

DIGITS = 60
NODES = 90


class Fit(NamedTuple):
    """A polynomial to find.

    Parameters
    ----------
    name : str
        Of the constant.
    function : str
        What is approximated, as an expression over mpmath's functions and ``x``.
    lower, upper : str
        The interval, as expressions.
    weight : str
        Factor of the error at ``x``.
    terms : dict of str to int
        How many coefficients in each dtype.
    doc : str
        The equation.
    """

    name: str
    function: str
    lower: str
    upper: str
    weight: str
    terms: dict[str, int]
    doc: str


FITS = (
    Fit("EXP", "(expm1(x) - x) / x**2", "-log(2) * 0.501", "log(2) * 0.501", "x**2 / exp(x)", {"f32": 5, "f64": 10},
        "exp(x) = 1 + x + x**2 p(x) for |x| <= log(2) / 2"),
    Fit("EXP2", "(2**x - 1 - x * log(2)) / x**2", "-0.501", "0.501", "x**2 / 2**x", {"f32": 5, "f64": 10},
        "2**x = 1 + x log(2) + x**2 p(x) for |x| <= 1 / 2"),
    Fit("LOG", "(log(1 + x) - x) / x**2", "sqrt(0.5) - 1", "sqrt(2) - 1", "x**2 / log(1 + x)", {"f32": 9},
        "log(1 + x) = x + x**2 p(x) for 1 + x from sqrt(1 / 2) to sqrt(2)"),
    Fit("LOG_THIRDS", "(log(1 + x) - x) / x**2", "-0.33334", "0.33334", "x**2 / log(1 + x)", {"f32": 8},
        "log(1 + x) = x + x**2 p(x) for 1 + x from 2 / 3 to 4 / 3"),
    Fit("LOG2", "log(1 + x) / (x * log(2)) - 1.44269502162933349609375", "sqrt(0.5) - 1", "sqrt(2) - 1", "x / log(1 + x)",
        {"f32": 10}, "log2(1 + x) = C x + x p(x) for 1 + x from sqrt(1 / 2) to sqrt(2), C being log2(e) as a float32"),
    Fit("LOG10", "log(1 + x) / (x * log(10)) - 0.4342944920063018798828125", "sqrt(0.5) - 1", "sqrt(2) - 1",
        "x / log(1 + x)", {"f32": 10},
        "log10(1 + x) = C x + x p(x) for 1 + x from sqrt(1 / 2) to sqrt(2), C being log10(e) as a float32"),
    Fit("ATANH", "2 * (atanh(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "(3 - 2 * sqrt(2))**2", "x", {"f64": 7},
        "atanh(s) = s + s**3 p(s**2) / 2 for s up to 3 - 2 sqrt(2)"),
    Fit("TANH", "(tanh(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "0.5501**2", "x", {"f32": 4},
        "tanh(x) = x + x**3 p(x**2) for |x| <= 0.55"),
    Fit("SIN", "(sin(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "(pi / 4 * 1.001)**2", "x", {"f32": 3, "f64": 6},
        "sin(x) = x + x**3 p(x**2) for |x| <= pi / 4"),
    Fit("COS", "(cos(sqrt(x)) - 1 + x / 2) / x**2", "1e-9", "(pi / 4 * 1.001)**2", "x**2", {"f32": 3, "f64": 6},
        "cos(x) = 1 - x**2 / 2 + x**4 p(x**2) for |x| <= pi / 4"),
    Fit("ATAN", "(atan(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "(sqrt(2) - 1)**2", "x", {"f32": 5, "f64": 11},
        "atan(x) = x + x**3 p(x**2) for |x| <= sqrt(2) - 1"),
    Fit("ATAN_WHOLE", "(atan(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "1", "x", {"f32": 8},
        "atan(x) = x + x**3 p(x**2) for |x| <= 1"),
    Fit("ASIN", "(asin(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "0.25", "x", {"f32": 5, "f64": 12},
        "asin(x) = x + x**3 p(x**2) for |x| <= 1 / 2"),
    Fit("SIN_SHORT", "(sin(sqrt(x)) / sqrt(x) - 1) / x", "1e-9", "(pi / 4 * 1.001)**2", "x", {"f64": 3},
        "sin(x) = x + x**3 p(x**2) for |x| <= pi / 4, to the digits of a float32"),
    Fit("COS_SHORT", "(cos(sqrt(x)) - 1) / x", "1e-9", "(pi / 4 * 1.001)**2", "x", {"f64": 4},
        "cos(x) = 1 + x**2 p(x**2) for |x| <= pi / 4, to the digits of a float32"),
    Fit("LOG2_SHORT", "2 / log(2) * atanh(sqrt(x)) / sqrt(x)", "1e-9", "(3 - 2 * sqrt(2))**2", "1", {"f64": 5},
        "log2(1 + f) = s p(s**2) for s = f / (2 + f) up to 3 - 2 sqrt(2), to the digits of a float32 power"),
    Fit("EXP2_SHORT", "(2**x - 1) / x", "-0.501", "0.501", "x", {"f64": 6},
        "2**x = 1 + x p(x) for |x| <= 1 / 2, to the digits of a float32"),
    Fit("LOG2_TAIL", "(2 / log(2) * (atanh(sqrt(x)) / sqrt(x) - 1) - 2 / log(2) / 3 * x) / x**2", "1e-9",
        "(3 - 2 * sqrt(2))**2", "x**2", {"f64": 7},
        "log2(1 + f) = s (2 + 2 / 3 s**2) / log(2) + s**5 p(s**2) for s = f / (2 + f) up to 3 - 2 sqrt(2)"),
    Fit("ROOT", "exp(-log(1 + x) / 3)", "sqrt(0.5) - 1", "sqrt(2) - 1", "1", {"f32": 4, "f64": 7},
        "(1 + x)**(-1 / 3) = p(x) for 1 + x from sqrt(1 / 2) to sqrt(2), a first guess"),
)  # fmt: skip


def evaluate(expression: str) -> Callable[[Any], Any]:
    """A function of ``x`` over mpmath's functions."""
    import mpmath

    names = {name: getattr(mpmath.mp, name) for name in ("exp", "expm1", "log", "sqrt", "sin", "cos", "tan", "atan", "asin",
                                                         "atanh", "cbrt", "tanh")}  # fmt: skip
    code = compile(expression, "<fit>", "eval")
    return lambda x: mpmath.mpf(eval(code, {"__builtins__": {}}, names | {"pi": mpmath.mp.pi, "x": x}))


def rounded(value: Any, bits: int) -> Any:
    """The nearest number of so many binary digits."""
    import mpmath

    if value == 0:
        return value
    mantissa, exponent = mpmath.frexp(value)
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(mantissa, bits)), exponent - bits)


def solve(fit: Fit, terms: int, bits: int) -> tuple[list[Any], Any]:
    """Coefficients from the lowest power up, and the largest weighted error."""
    import mpmath

    mpmath.mp.dps = DIGITS
    function, weight = evaluate(fit.function), evaluate(fit.weight)
    low, high = evaluate(fit.lower)(0), evaluate(fit.upper)(0)
    nodes = [(low + high) / 2 + (high - low) / 2 * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * NODES)) for k in range(NODES)]
    target = [function(x) for x in nodes]
    weights = [abs(weight(x)) for x in nodes]
    fixed: list[Any] = []
    for _ in range(terms):
        rest = [y - sum(c * x**k for k, c in enumerate(fixed)) for x, y in zip(nodes, target, strict=True)]
        free = range(len(fixed), terms)
        matrix = mpmath.matrix([[w * x**k for k in free] for x, w in zip(nodes, weights, strict=True)])
        side = mpmath.matrix([w * r for r, w in zip(rest, weights, strict=True)])
        found = mpmath.lu_solve(matrix.T * matrix, matrix.T * side)
        fixed.append(rounded(found[0], bits))
    grid = [low + (high - low) * k / 500 for k in range(501)]
    errors = [abs(weight(x) * (sum(c * x**k for k, c in enumerate(fixed)) - function(x))) for x in grid if abs(x) > 1e-6]
    return fixed, max(errors)


HEAD = '''"""Coefficients of the polynomials in the elementary functions, from the lowest power up, by dtype.

Written by ``python -m pytocu.testing.polynomials``; the comment of each states what it
approximates and its largest error, relative to the function.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytocu.ir.types import F32, F64, DType

Polynomial = Mapping[DType, tuple[float, ...]]
'''


def main() -> int:
    """Print the module."""
    import mpmath
    import numpy as np

    print(HEAD)
    for fit in FITS:
        print(f"# {fit.doc}")
        lines: list[str] = []
        for dtype, terms in fit.terms.items():
            found, error = solve(fit, terms, {"f32": 24, "f64": 53}[dtype])
            print(f"# {dtype}: 2**{float(mpmath.log(error, 2)):.1f}")
            number = {"f32": np.float32, "f64": np.float64}[dtype]
            assert all(mpmath.mpf(float(number(float(c)))) == c for c in found)
            lines.append(f"    {dtype.upper()}: (")
            lines += [f"        {float(c)!r}," for c in found]
            lines.append("    ),")
        print("\n".join([f"{fit.name}: Polynomial = {{", *lines, "}"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

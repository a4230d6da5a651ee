"""Python scalars known only at run time: Python's functions, choices and exceptions, on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytocu.errors import UnsupportedError
from pytocu.frontend import math_calls
from pytocu.ir import interp
from pytocu.ir.python_functions import PYTHON_FUNCTIONS
from pytocu.jitted import jit
from pytocu.testing.cases import call_jit
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

NAMES = {"np": np, "math": math}
VALUES: tuple[Any, ...] = (2.75, 0.0, -0.0, -3, 7, True, False, 1e300, math.inf, -math.inf, math.nan, 2**80)


def answer(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        return error


def agree(text: str, *arguments: Any) -> None:
    """Compiled and interpreted, a function of Python scalars does what Python does."""
    parameters = "abc"[: len(arguments)]
    function = make_function(parameters, [text], NAMES)
    expected = answer(function, *arguments)
    actual = answer(call_jit, function, *arguments)
    if isinstance(expected, Exception):
        kinds = (TypeError, OverflowError, ZeroDivisionError, ValueError)
        wanted = next(k for k in kinds if isinstance(expected, k))
        assert isinstance(actual, wanted) and str(actual).startswith(str(expected)), f"{text} of {arguments}: {actual!r}"
        return
    if isinstance(actual, Exception):
        raise AssertionError(f"{text} of {arguments}: {actual!r} where Python gives {expected!r}")
    assert repr(actual) == repr(expected), f"{text} of {arguments}"
    compare(actual, expected)


ONE = sorted(name for name, f in PYTHON_FUNCTIONS.items() if name.startswith("math_") and f.arity == 1 and "_m" not in name[4:])
CALLS_OF_ONE = [f"math.{name[5:]}(a)" for name in ONE if hasattr(math, name[5:])]


@pytest.mark.parametrize("text", [*CALLS_OF_ONE, "math.modf(a)", "math.frexp(a)", "math.log(a)", "math.perm(a)", "round(a)",
                                  "round(a, 1)", "round(a, -1)", "int(a)", "float(a)", "bool(a)", "not a", "abs(a)",
                                  "math.gcd(a)", "math.fsum((a, 1))", "math.isclose(a, 2.7, rel_tol=0.1)",
                                  "math.pow(a, 2)", "math.hypot(a, 3, a)", "a > 1 and a < 3", "a < 1 or a > 3",
                                  "-1 < a < 3", "0 < a <= 7 != 5", "not a > 0", "min(a, a)",
                                  "abs(a) if a < 0 else a"])  # fmt: skip
def test_functions_of_one_number(text: str) -> None:
    for value in VALUES:
        if text == "math.factorial(a)" and value == 2**80:
            continue
        if text in ("abs(a) if a < 0 else a",) and isinstance(value, bool):
            continue
        agree(text, value)


@pytest.mark.parametrize("name", ["atan2", "copysign", "fmod", "pow", "remainder", "nextafter", "log", "hypot", "ldexp",
                                  "comb", "perm", "gcd", "lcm", "isclose"])  # fmt: skip
def test_functions_of_two_numbers(name: str) -> None:
    for a in (2.75, -3, 7, 0, math.inf, math.nan, True):
        for b in (2.0, -1, 3, 0, math.inf):
            agree(f"math.{name}(a, b)", a, b)


@pytest.mark.parametrize("text", ["min(a, b)", "max(a, b)", "a if a > b else b", "a and b", "a or b", "min(a, b, a)"])
def test_choices_of_one_kind(text: str) -> None:
    for pair in ((1, 2), (2, 1), (0, 3), (2.5, 1.5), (0.0, -0.0), (-0.0, 0.0), (math.nan, 1.0), (1.0, math.nan), (True, False)):
        if "min" in text and isinstance(pair[0], bool):
            continue
        agree(text, *pair)


def test_sums_of_floats_are_pythons() -> None:
    for text in ("sum([a, b, 1.0, -b])", "sum((a, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), 0.5)", "sum([3, a, True, b])"):
        agree(text, 1.0, 1e100)
        agree(text, math.inf, -math.inf)
        agree(text, 2, 3)


def test_every_function_of_math_is_decided() -> None:
    decided = {name.__name__ for name in math_calls.MATH} | {"prod"}
    functions = {name for name in dir(math) if callable(getattr(math, name)) and not name.startswith("_")}
    assert functions == decided, functions ^ decided


@pytest.mark.parametrize("text", ["math.dist((a,), (a,))", "math.sumprod((a,), (a,))"])
def test_functions_of_sequences_are_refused_by_name(text: str) -> None:
    name = text.partition("(")[0]
    if not hasattr(math, name[5:]):
        pytest.skip(f"this Python has no {name}")
    with pytest.raises(UnsupportedError, match=f"{name} of values known only at run time"):
        call_jit(make_function("a", [text], NAMES), 2.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x * (a if a > 1 else 1)", "a Python float .line 3. or, on another way, a Python int, and which of them"),
        ("not x", "'not' depends on the data of an array"),
        ("x[0] and a", "a Python float .line 3. or, on another way, an np.float32, and so the kind of what the function"),
        ("min(x[0], a)", "and so the kind of what the function returns is known only at run time"),
        ("min(x[0], 2j)", "min.. of run-time values of types f32, a Python complex"),
        ("0 < x < 1", "a chained comparison of run-time values"),
        ("x and a", "'and' depends on the data of an array"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    function = make_function("ax", [text], NAMES)
    with pytest.raises(UnsupportedError, match=said):
        call_jit(function, 2.5, np.ones(3, np.float32))


def test_choices_of_numpy_scalars() -> None:
    def function(x, a):
        p, q, r = x[0] * 2, x[1] + 1, x[2]
        return (
            min(p, q), max(p, q), p < q < r, p > 0 and q > 0, p < 0 or q < 0, p if a > 1 else q, p if p > q else q,
            round(p, 1), round(q, 0),
        )  # fmt: skip

    for values in ([1, 2, 3], [3, 0.25, -1], [0.5, 0, np.nan], [np.nan, 1, 2]):
        for a in (2.0, 0.5):
            x = np.array(values, np.float32)
            compare(jit(function)(x, a), function(x, a))


def test_lengths() -> None:
    def function(x):
        n, m = x.shape
        return x / math.sqrt(m), math.ceil(n / 2), min(n, m), math.gcd(n, m), n if n > m else m, x * (1 < n <= 4)

    for shape in ((2, 3), (6, 4), (1, 1)):
        x = np.ones(shape, np.float32)
        compare(jit(function)(x), function(x))
        low = jit(function).lower(x)
        results = interp.run(low.host("cuda"), (x,))
        compare(interp.arrange(low.function.body.terminator.attr("tree"), results), function(x))


def test_complex_of_python_scalars() -> None:
    def function(x, count, factor, flag):
        return complex(factor, count) + x, complex(count) * x, complex(flag), x - complex(imag=factor, real=1)

    x = np.arange(3.0)
    for given in ((2, 0.5, True), (-1, -0.0, False)):
        actual, expected = jit(function)(x, *given), function(x, *given)
        assert actual[2] == expected[2] and type(actual[2]) is complex
        for a, e in zip(actual, expected, strict=True):
            assert np.array_equal(a, e) and np.asarray(a).dtype == np.asarray(e).dtype
    with pytest.raises(TypeError, match="only 0-dimensional arrays can be converted to Python scalars"):
        jit(function)(x, x, 0.5, True)
    with pytest.raises(UnsupportedError, match=r"complex\(\) of a value known only at run time"):
        jit(function)(x, np.complex128(2), 0.5, True)


def alternating(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        total = total + (-1) ** k * x[k] / 2 ** (k + 1)
    return total


def doubled(x: Any, n: int) -> Any:
    if n < 0:
        return x / 2 ** -n
    return x * 2**n + n**n


@pytest.mark.parametrize("n", [1, 3, 6])
def test_powers_of_ints_are_ints(n: int) -> None:
    x = np.arange(1.0, 7.0)
    for function in (alternating, doubled, lambda x, n: 3**n + x.size**n, lambda x, n: True**n):
        compare(jit(function)(x, n), function(x, n))
    compare(jit(doubled)(x, -n), doubled(x, -n))


def test_an_int_to_a_negative_power_is_refused_in_the_run() -> None:
    with pytest.raises(UnsupportedError, match="to a negative power is a float, which is known only at run time"):
        jit(lambda x, n: x * 2**n)(np.ones(3), -1)
    with pytest.raises(UnsupportedError, match="to a negative power is a float"):
        jit(alternating_down)(np.ones(3), 3)


def alternating_down(x: Any, n: int) -> Any:
    total = np.float64(0)
    for k in range(n):
        total = total + x[k] * 2 ** (1 - k)
    return total


def powers_of_three(x: Any, n: int) -> Any:
    total = np.float64(0)
    for k in range(n):
        total = total + x[0] * 3**k
    return total


def test_powers_beyond_int64_are_refused_in_a_loop() -> None:
    x = np.ones(1)
    compare(jit(powers_of_three)(x, 40), powers_of_three(x, 40))
    with pytest.raises(OverflowError, match="does not fit int64"):
        jit(powers_of_three)(x, 41)


def parts_of_zeros(b):
    return -0.0 + b, b + -0.0, b * 1.0, b / 1.0, b - 0.0


@pytest.mark.parametrize("number", [-0j, complex(-0.0, -0.0), complex(0.0, -0.0), complex(np.inf, 1), complex(-0.0, np.inf)])
def test_a_float_beside_a_complex_number_is_python_s(number: complex) -> None:
    expected, actual = parts_of_zeros(number), jit(parts_of_zeros)(number)
    assert list(map(repr, actual)) == list(map(repr, expected))


def test_a_base_that_does_not_fit_comes_before_a_negative_exponent() -> None:
    exponent = np.int8(-3)
    power = jit(lambda base: base**exponent)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        power(300)
    with pytest.raises(ValueError, match="Integers to negative integer powers"):
        power(30)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_powers_of_arrays_without_axes_are_numpy_s_rows(dtype: str) -> None:
    def powers(x, n):
        return x**-1, x**0.5, x**2, x**n

    for value in (-np.inf, -0.0, np.inf, *([complex(np.inf, 1)] if dtype[0] == "c" else [])):
        for n in (-1, 2, 0.5):
            x = np.array(value, dtype)
            with np.errstate(all="ignore"):
                expected = powers(x, n)
            compare(jit(powers)(x, n), expected)

"""``float``, ``int``, ``bool``, ``round`` and ``item`` of what kernels compute: Python's numbers, for which the host waits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere
from test_run_time_positions import agrees

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

FLOATS = [0.0, -0.0, 1.5, -2.5, 3.5, np.inf, -np.inf, np.nan, 5e-324, -1.7976931348623157e308, 2.0**62]
NUMBERS = [np.array(FLOATS), np.array([0.1, -3.3e38, 1e-45, 2.5], np.float32), np.array([65504, -0.0, 6e-8], np.float16),
           np.array([-(2**63) + 1, 2**63 - 1, 0, -1]), np.array([-128, 127], np.int8), np.array([0, 2**63 - 1], np.uint64),
           np.array([True, False])]  # fmt: skip


def same(found: Any, wanted: Any) -> bool:
    """Python's numbers of one kind with the same bits."""
    return type(found) is type(wanted) and repr(found) == repr(wanted)


@pytest.mark.parametrize("function", ["float(x[i])", "x[i].item()", "bool(x[i])", "int(x[i])", "round(x[i])"])
@pytest.mark.parametrize("numbers", NUMBERS, ids=lambda v: v.dtype.name)
def test_numbers_of_every_kind(function: str, numbers: np.ndarray) -> None:
    program = make_function("xi", [function], {"np": np})
    for i, number in enumerate(numbers):
        if function[:3] in ("int", "rou") and not abs(float(number)) < 2.0**63:
            continue
        if function == "round(x[i])" and numbers.dtype == bool:
            continue
        (found,), (wanted,) = call_interpreted(program, numbers, i), program(numbers, i)
        assert same(found, wanted), (function, number, found, wanted)


@pytest.mark.parametrize(
    ("number", "error", "said"),
    [
        (np.nan, ValueError, "cannot convert float NaN to integer"),
        (np.inf, OverflowError, "cannot convert float infinity to integer"),
        (2.0**63, UnsupportedError, "int64 does not hold"),
        (np.int64(-(2**63)), UnsupportedError, "int64 does not hold"),
        (np.uint64(2**63), UnsupportedError, "int64 does not hold"),
    ],
)
def test_numbers_that_are_no_int(number: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call_interpreted(make_function("x", ["int(x[0])"], {}), np.array([number]))


def scaled(x):
    # A Python float leaves the dtype as it is.
    return x * float(x.max())


def halved(x, tolerance):
    error = float(np.abs(x).max())
    steps = 0
    while error > tolerance:
        x = x * 0.5
        error = float(np.abs(x).max())
        steps += 1
    return x, steps, error


def counted(x):
    found = np.zeros(int(x.max()) + 1)
    for k in range(len(x)):
        found[int(x[k])] += 1
    return found


def cut(x):
    return x[: int(x[0])], x[int(x[1])], np.arange(int(x.min()), int(x.max()))


PROGRAMS = [
    (scaled, (np.array([1.5, -2.5, 0.1], np.float32),)),
    (halved, (np.array([40.0, -3.0]), 1.0)),
    (counted, (np.array([3, 1, 3, 0]),)),
    (cut, (np.array([2, 1, 5]),)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_programs(function: Any, arguments: tuple[Any, ...]) -> None:
    compare(call_interpreted(function, *arguments), function(*arguments))


def test_on_the_cpu_and_thread_by_thread() -> None:
    agrees(scaled, PROGRAMS[0][1])
    agrees(cut, PROGRAMS[3][1])
    x, tolerance = PROGRAMS[1][1]
    made, steps, error = pytocu.jit(halved)(x, tolerance)
    compare(made, x / 64)
    assert (steps, error) == (6, 0.625)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("complex(x[0] * 1j)", "use x . 1j"), ("math.ldexp(2.0, x[0])", "np.ldexp"),
        ("float(x[0] * 1j)", r"write float\(x.real\)"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        call_interpreted(make_function("x", [text], {"math": math}), np.ones(2))


def test_an_item_of_many_is_refused_as_numpys() -> None:
    with pytest.raises(ValueError, match="can only convert an array of size 1 to a Python scalar"):
        call_interpreted(make_function("x", ["x.item()"], {}), np.ones(2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8])
def test_functions_of_math_take_numpy_scalars(dtype: Any) -> None:
    texts = (
        "math.sqrt(x[3])", "math.floor(x[3] / 3)", "math.ceil(x[3])", "math.atan2(x[1], a)", "math.isnan(x[2])",
        "math.modf(x[3])", "math.log(x[3], 2)", "math.hypot(x[3], x[4], a)", "x[:2] * math.sqrt(x[3])", "math.erf(x[1])",
        "a * math.exp(x[0])", "math.isclose(x[1], 1.0)", "math.fsum([x[1], a])", "complex(x[1], x[2])",
        "complex(x[2]) * a", "math.frexp(x[3])",
    )  # fmt: skip
    program = make_function("xa", list(texts), {"np": np, "math": math})
    x = np.arange(7).astype(dtype)
    for found, wanted in zip(pytocu.jit(program)(x, 0.5), program(x, 0.5), strict=True):
        compare(found, wanted, exact=False, ulp=2)


def test_functions_of_ints_take_numpy_ints() -> None:
    texts = ("math.gcd(x[4], a)", "math.isqrt(x[5])", "math.factorial(x[3])", "math.comb(x[5], x[2])", "math.perm(x[5], 2)")
    program = make_function("xa", list(texts), {"math": math})
    x = np.arange(7, dtype=np.int16)
    assert same(pytocu.jit(program)(x, 6), program(x, 6))
    with pytest.raises(TypeError, match=r"'numpy\.float64' object cannot be interpreted as an integer"):
        pytocu.jit(program)(x * 1.0, 6)


def cholesky(a):
    n = a.shape[0]
    lower = np.zeros((n, n))
    for j in range(n):
        lower[j, j] = math.sqrt(a[j, j] - np.sum(lower[j, :j] ** 2))
        for i in range(j + 1, n):
            lower[i, j] = (a[i, j] - np.sum(lower[i, :j] * lower[j, :j])) / lower[j, j]
    return lower


def escape_times(n, steps, c):
    image = np.zeros((n, n), dtype=np.uint8)
    places = np.linspace(-1.5, 1.5, n)
    for i, x in enumerate(places):
        for j, y in enumerate(places):
            z = complex(x, y)
            k = 0
            while abs(z) <= 2.0 and k < steps:
                z = z * z + c
                k += 1
            image[j, i] = k
    return image


def test_functions_of_math_in_loops() -> None:
    for n in (0, 1, 2, 5):
        a = np.eye(n) * 9 + np.arange(n * n).reshape(n, n) / (n * n + 1)
        compare(pytocu.jit(cholesky)(a), cholesky(a), exact=False, ulp=4)
        compare(pytocu.jit(escape_times)(n, 30, -0.4 + 0.6j), escape_times(n, 30, -0.4 + 0.6j))
    a = -np.eye(2)
    with pytest.raises(ValueError, match="math domain error"):
        pytocu.jit(cholesky)(a)


def test_arrays_are_no_numbers_of_math() -> None:
    with pytest.raises(TypeError, match=r"only 0-dimensional arrays(?s:.*)np\.sqrt"):
        pytocu.jit(lambda x: math.sqrt(x))(np.ones(2))


def test_the_element_at_a_position() -> None:
    positions = ("x.item(5)", "x.item(-1)", "x.item(1, i)", "x.item((2, -1))", "x[0].item(3)", "x.item(i)", "x[i].item(0)")
    x = np.arange(12.0).reshape(3, 4)
    program = make_function("xi", list(positions), {})
    assert call_interpreted(program, x, 2) == program(x, 2)
    for position, error in (("x.item(1, 2, 3)", ValueError), ("x[0].item(4)", IndexError), ("x.item(1, 9)", IndexError)):
        program = make_function("x", [position], {})
        with pytest.raises(error) as wanted:
            program(x)
        with pytest.raises(error) as found:
            call_interpreted(program, x)
        assert str(found.value).startswith(str(wanted.value))


def sparse_rows(indptr, indices, data, x):
    y, z = np.zeros(len(indptr) - 1), np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        first, last = indptr[i], indptr[i + 1]
        y[i] = (data[first:last] * x[indices[first:last]]).sum()
        for k in range(indptr[i], indptr[i + 1]):
            z[i] += data[k] * x[indices[k]]
    return y, z


def parts(x, n):
    first, rest = x[:n].copy(), x[n:].copy()
    x[:n] = 7
    x[-n:] += 1
    for i in range(n):
        x = x + i
    k = x.argmax()
    return x, first, rest, x[: k + 1]


def test_numpys_ints_bound_slices_and_ranges() -> None:
    random = np.random.default_rng(3)
    mask = random.random((9, 10)) > 0.5
    indptr = np.concatenate(([0], np.cumsum(mask.sum(1)))).astype(np.int32)
    everywhere(sparse_rows, indptr, np.nonzero(mask)[1], random.random(int(mask.sum())), random.random(10), ulp=8)
    for n in (np.int64(2), np.uint8(9), np.array(-2), np.int32(0)):
        everywhere(parts, random.random(6), n)
    for n in (np.float64(2), np.True_, np.array([3]), np.array(2.5)):
        everywhere(lambda x, n: [x + i for i in range(n)], random.random(2), n)


def first_above(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return k
    return -1


def first_and_number(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return x * k, k, 0.5
    return x, -1, -0.0


def of_two_loops(x, limit):
    first, last = -1, -1
    for k in range(len(x)):
        if x[k] > limit:
            first = k
            break
    for k in range(len(x) - 1, -1, -1):
        if x[k] > limit:
            last = k
            break
    return first - last, last


def three_that_are_not_negative(x, limit):
    total, n = np.float64(0), 0
    for v in x:
        if v < limit:
            continue
        total += v
        n += 1
        if n == 3:
            break
    else:
        return total, -n
    return total, n


def of_two_loops_in_loops(x, limit):
    places = np.zeros(2 * len(x), int)
    k = 0
    for i in range(len(x)):
        while k >= 2 and x[i] < limit:
            k -= 1
        places[k] = i
        k += 1
    for i in range(len(x) - 1):
        while k >= 3 and x[i] > limit:
            k -= 1
        places[k] = i
        k += 1
    return places, k


@pytest.mark.parametrize(
    "function", [first_above, first_and_number, of_two_loops, three_that_are_not_negative, of_two_loops_in_loops]
)
@pytest.mark.parametrize("limit", [-1.0, 0.4, 0.99, 2.0])
def test_what_a_loop_reads_and_what_is_read_behind_it_have_names_of_their_own(function: Any, limit: float) -> None:
    everywhere(function, np.array([0.1, 0.5, 0.7, 0.99]), limit)


def test_a_side_whose_steps_have_numbers_stays_the_hosts() -> None:
    def summed(a, n):
        total = a[0] + 0.0
        if total[0] < n:
            return total, 0
        for k in range(1, n):
            total = total + a[k]
            if total[0] < n:
                return total, k
        else:
            total = total * 2
        return total, -1

    for n in (-9, 1, 2, 6):
        everywhere(summed, np.random.default_rng(3).standard_normal((6, 4)), n)


def int_of_each(x, n):
    out = np.zeros(len(x))
    for i in range(len(x)):
        k = int(x[i])
        out[i] = k * n
    return out


def divisors(x, n):
    prime = np.zeros(len(x), dtype=bool)
    for i in range(len(x)):
        v = x[i]
        for d in range(n, int(v)):
            if v % d == 0:
                break
        else:
            prime[i] = True
    return prime


def range_of_each(x, n):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for d in range(x[i]):
            out[i] += d * n
    return out


def first_ones(x, n):
    out = np.zeros(len(x) + 40)
    for i in range(len(x)):
        out[: int(x[i])] += n
    return out


@pytest.mark.parametrize("function", [int_of_each, divisors, range_of_each, first_ones])
def test_numbers_that_each_step_of_a_loop_reads(function) -> None:
    """Loops that would otherwise be sweeps."""
    everywhere(function, np.array([2, 9, 7, 0, 31, 4]), 2)


def inside(a, b):
    y, x = int(a[0]), int(b[0])
    return 2 * x if 0 <= y < 3 and 0 <= x < 4 else -1


def test_the_right_side_of_a_condition_asks_for_a_number_of_its_own() -> None:
    for y, x in ((1.5, 3.9), (1.5, 4), (3, 1), (-1, -1)):
        agrees(inside, (np.array([y]), np.array([x])))

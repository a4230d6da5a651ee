"""Python ints of run time as lengths: shapes of new arrays, ranges, reshapes, repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check
from test_run_time_positions import agrees

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.testing.cases import call_interpreted, call_jit
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

VECTOR, MATRIX = np.linspace(0.5, 4, 12), np.linspace(-1, 2, 12).reshape(4, 3)
COUNTS = np.array([1, 2, 2, 0])

TEXTS = {
    "n": ["np.zeros(n)", "np.ones((n, 2), np.int16)", "np.full([n, n], 3)", "np.empty(n).shape", "np.arange(n)",
          "np.arange(1, n + 1, 2)", "np.arange(n, 0, -1)", "np.arange(n, dtype=np.float32)", "np.arange(0, n, 0.5)",
          "np.linspace(0, 1, n)", "np.linspace(0, 1, num=n, endpoint=False)", "np.logspace(0, 1, n)",
          "np.geomspace(1, 8, n)", "np.eye(n)", "np.eye(n, 3, k=1)", "np.identity(n)", "np.tri(n, k=-1)",
          "np.indices((n, 2))", "np.hanning(n)", "np.triu_indices(n)", "np.diag_indices(n)",
          "np.vander(np.arange(3.0), n)", "np.zeros(2 * n + 1)", "np.zeros(n // 2)", "np.zeros(n * n)",
          "np.zeros(max(n, 2))", "len(np.zeros(n)) + n", "np.arange(n)[1:] - np.arange(n)[:-1]",
          "np.meshgrid(np.arange(n), np.zeros(n))", "np.ones((n, n)) @ np.ones(n)",
          "np.ogrid[-1:1:n * 1j, 0:2:2j]", "np.mgrid[0:1.5:1j * n, 0:n]", "np.r_[-1:1:1j * n, n]"],
    "xn": ["np.tile(x, n)", "np.tile(x, (n, 2))", "np.repeat(x, n)", "np.pad(x, n)", "np.pad(x, (n, 1), mode='edge')",
           "np.resize(x, (n, 2))", "np.broadcast_to(x, (n, 12))", "np.concatenate([np.zeros(n), x])",
           "np.full((n, 12), x)", "np.histogram(x, n + 1, range=(0.0, 5.0))", "np.bincount(k, minlength=n)",
           "np.bincount(k, np.ones(4), n)"],
    "reshaped": ["x.reshape(n, -1)", "x.reshape(-1, n)", "x.reshape((n, 3, -1))", "np.reshape(x, (n, 12 // n))",
                 "x.reshape(n, -1).sum(axis=1)", "x.reshape(n, -1, order='F')"],
    "ab": ["np.arange(a, b, 0.25)", "np.arange(b)", "np.arange(1, b)", "np.arange(a, 9)", "np.arange(0.0, b, a)",
           "np.arange(b, a, -a)", "np.arange(a, b, 0.25, dtype=np.float32)", "np.linspace(a, b, int(b))"],
}  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_lengths_of_new_arrays(n: int) -> None:
    function = make_function("n", TEXTS["n"], {"np": np})
    compare(call_interpreted(function, n), function(n))


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
@pytest.mark.parametrize("n", [0, 2, 5])
def test_lengths_that_are_ints_of_numpy(kind: Any, n: int) -> None:
    texts = ["np.zeros(n)", "np.ones((n, 2), np.int16)", "np.full((n, n), x[0])", "np.arange(n)", "np.arange(1, n, 2)",
             "np.arange(n, dtype=np.float32)", "np.linspace(0, 1, n)", "np.eye(n)", "np.tile(x, n)", "np.repeat(x, n)",
             "np.zeros(x[:n].size)", "np.zeros(x.argmax() + n)", "np.zeros(2 * n + 1)", "np.zeros(k.max() + 1, dtype=int)",
             "np.arange(x[n])"]  # fmt: skip
    function = make_function("nxk", texts, {"np": np})
    compare(call_interpreted(function, kind(n), VECTOR, COUNTS), function(kind(n), VECTOR, COUNTS))
    compare(call_jit(function, kind(n), VECTOR, COUNTS), function(kind(n), VECTOR, COUNTS))


def test_a_length_that_is_a_negative_int_of_numpy() -> None:
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        call_jit(make_function("n", ["np.zeros(n)"], {"np": np}), np.int32(-1))


@pytest.mark.parametrize("n", [1, 4])
def test_frequencies_of_a_number_of_samples_that_is_numpys(n: int) -> None:
    function = make_function("n", ["np.fft.fftfreq(n)", "np.fft.rfftfreq(n, 0.5)"], {"np": np})
    compare(call_interpreted(function, np.int64(n)), function(np.int64(n)))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_lengths_beside_arrays(n: int) -> None:
    function = make_function("xkn", TEXTS["xn"], {"np": np})
    compare(call_interpreted(function, VECTOR, COUNTS, n), function(VECTOR, COUNTS, n))


def test_lengths_of_reshaped_arrays() -> None:
    function = make_function("xn", TEXTS["reshaped"], {"np": np})
    compare(call_interpreted(function, VECTOR, 2), function(VECTOR, 2))


@pytest.mark.parametrize(("a", "b"), [(0.5, 3.25), (2.0, 2.0), (3.5, 1.0)])
def test_ranges_between_floats(a: float, b: float) -> None:
    function = make_function("ab", TEXTS["ab"], {"np": np})
    compare(call_interpreted(function, a, b), function(a, b))


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("np.zeros(n)", -1),
        ("np.ones(n - 7)", 5),
        ("np.linspace(0, 1, n)", -2),
        ("np.linspace(0, 1, n - 1)", 0),
        ("np.repeat(np.ones(2), n)", -1),
        ("np.pad(np.ones(2), n)", -1),
        ("np.resize(np.ones(2), n)", -1),
        ("np.broadcast_to(1.0, (n, 2))", -1),
        ("np.ones(12).reshape(n, -1)", 5),
        ("np.zeros(n) + np.ones(4)", 3),
        ("np.zeros(n).max()", 0),
        ("np.bincount(np.zeros(2, int), minlength=n)", -1),
        ("np.histogram(np.ones(2), n, range=(0.0, 1.0))", 0),
    ],
)
def test_lengths_that_numpy_refuses(text: str, n: int) -> None:
    function = make_function("n", [text], {"np": np})
    with pytest.raises(ValueError) as wanted:
        function(n)
    with pytest.raises(ValueError) as found:
        call_interpreted(function, n)
    assert str(wanted.value).strip() in str(found.value)


RANGES = (
    "np.arange(a)", "np.arange(a, 8)", "np.arange(0.1, a, 0.3)", "np.arange(a, 7, dtype='f2')", "np.arange(True, a)",
    "np.arange(a, a + 3, np.int8(1))", "np.arange(a, False)", "np.arange(a, np.True_)",
)  # fmt: skip
STEPS = (
    "np.arange(0, 9, a)", "np.arange(9.5, -4, -a)", "np.arange(a, 20, a / 7)", "np.arange(20, 2, -(a + 1), dtype='i4')",
    "np.arange(20, 2, -4.3, dtype='i4')", "np.arange(-a / 9, 5, dtype=int)", "np.arange(-0.5, 5, dtype=int)",
)  # fmt: skip
ENDS = (
    "np.float32(3.3)", "np.float16(2.1)", "np.array(2.5, 'f4')", "2.75", "3", "np.int8(5)", "np.uint8(250)", "True", "np.True_",
)  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_ranges_of_numbers_of_run_time(end: str) -> None:
    """NumPy computes with the numbers as they are: a float32 rounds, an uint8 wraps around, a bool is an int."""
    check([end], RANGES + STEPS * (end not in ("True", "np.True_", "np.uint8(250)")), call=call_interpreted)


def test_ranges_that_are_none() -> None:
    check(["np.float32(np.nan)"], ["np.arange(a)", "np.arange(0, a)"], call=call_interpreted)
    for zero in ("np.float32(0)", "np.int8(0)", "0"):
        check([zero], ["np.arange(1, 9, a)"], call=call_interpreted)


@pytest.mark.parametrize("bound", ["True", "False", "np.True_", "np.array(True)", "np.array([2])", "np.float32(2)", "2.0"])
def test_bounds_of_slices_that_are_no_ints(bound: str) -> None:
    check(["np.arange(6.0)", bound], ["a[:b]", "a[b:]", "a[False:b]", "a[::b]", *["np.roll(a, b)"] * ("[" not in bound)])


@pytest.mark.parametrize(
    ("text", "n", "said"),
    [
        ("np.ones(12).reshape(n, 3)", -1, "a length of run time is -1 in reshape"),
        ("np.zeros(n) + x", 1, "a length known only at run time is 1"),
        ("np.linspace(0, 1, n, retstep=True)", 1, "has no step"),
        ("np.zeros(n)", True, "a length must be an int"),
        ("np.arange(x)", 1, "a bound of np.arange must be a number"),
    ],
)
def test_lengths_that_are_refused(text: str, n: Any, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        call_interpreted(make_function("nx", [text], {"np": np}), n, VECTOR)


@pytest.mark.parametrize(
    "text",
    ["np.zeros(n) + x", "x[:n] * x", "x[x > 3.9] - x", "np.broadcast_to(np.zeros(n), (12,))",
     "x.reshape(n, -1) + np.ones((2, 12))",
     "np.broadcast_arrays(np.zeros(n), x)", "np.broadcast_arrays(x, np.zeros(n))", "np.add(x, np.arange(n), out=x)",
     "np.repeat(x, np.arange(n))"],
)  # fmt: skip
def test_a_length_of_run_time_that_is_1_is_never_repeated_nor_taken_for_wrong(text: str) -> None:
    function = make_function("nx", [text], {"np": np})
    x = VECTOR.copy()
    with pytest.raises(UnsupportedError, match="only at run time is 1") as found:
        call_jit(function, 1, x)
    assert (x == VECTOR).all() and found.value.loc is not None


def test_lengths_that_do_not_fit_have_numpys_sentence() -> None:
    for text in ("np.broadcast_to(x, (n,))", "np.broadcast_to(np.zeros(n + 1), (5,))",
    "np.broadcast_arrays(x, np.zeros(n + 1))"):
        function = make_function("nx", [text], {"np": np})
        with pytest.raises(ValueError) as wanted:
            function(1, VECTOR)
        for call in (call_interpreted, call_jit):
            with pytest.raises(ValueError, match="broadcast") as found:
                call(function, 1, VECTOR)
            assert str(found.value).startswith(str(wanted.value).strip())


def trapezoid(a, b, n):
    x = np.linspace(a, b, n + 1)
    y = np.sin(x)
    return (b - a) / n * (y[1:] + y[:-1]).sum() / 2


def heat(n, steps):
    u = np.zeros(n)
    u[n // 2] = 1.0
    for _ in range(steps):
        u[1:-1] = 0.25 * (u[2:] + 2 * u[1:-1] + u[:-2])
    return u


def table(x, n):
    found = np.empty((n + 1, *x.shape))
    found[0] = x
    for i in range(n):
        found[i + 1] = np.sqrt(found[i]) + i
    return found


def products(n):
    made = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            made[i, j] = i * j
    return made


def growing(n):
    total = 0.0
    for i in range(1, n):
        row = np.zeros(i)
        row[:] = 2
        total = total + row.sum()
    return total


def moving(x, width):
    n = len(x) - width + 1
    total = np.zeros(n)
    for k in range(width):
        total += x[k : k + n]
    return total / width


PROGRAMS = [
    (heat, (9, 4)),
    (table, (np.array([4.0, 9.0]), 3)),
    (products, (4,)),
    (growing, (5,)),
    (moving, (VECTOR, 4)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_programs_with_lengths_of_run_time(function: Any, arguments: tuple[Any, ...]) -> None:
    agrees(function, arguments)


def test_a_sum_over_a_grid_of_run_time() -> None:
    compiled = pytocu.jit(trapezoid)
    for n in (1, 2, 50):
        assert np.isclose(compiled(0.0, 2.0, n), trapezoid(0.0, 2.0, n), rtol=1e-14)
    # A new number is no new compile.
    assert len(compiled.specializations) == 1


def where_positive(x, n):
    if n > 0:
        x = x + np.ones(n).sum()
    return x


def where_long_enough(x, n):
    if n >= 2:
        return np.linspace(0, 1, n - 1).sum()
    return x.sum()


def where_it_divides(x, n):
    if n > 0 and 12 % n == 0:
        return x.reshape(n, -1).max(axis=0).sum()
    return x.sum()


def where_it_fits(x, n):
    if n == len(x):
        x = x + np.arange(n)
    return x.sum()


@pytest.mark.parametrize("function", [where_positive, where_long_enough, where_it_divides, where_it_fits])
def test_a_branch_asks_for_the_length(function: Any) -> None:
    """What a length must be is looked at in the branch, which often asks for it."""
    compiled = pytocu.jit(function)
    for n in (-1, 0, 2, 5, 12):
        wanted = function(VECTOR, n)
        compare(call_interpreted(function, VECTOR, n), wanted)
        assert np.allclose(compiled(VECTOR, n), wanted, rtol=1e-14)


def shorter_on_one_side(x, n):
    if n == 2:
        x = x.reshape(n, -1).sum(axis=0)
    return x.sum()


def test_lengths_that_differ_behind_a_branch() -> None:
    assert call_interpreted(shorter_on_one_side, VECTOR, 2) == VECTOR.sum()
    assert call_interpreted(shorter_on_one_side, VECTOR, 3) == VECTOR.sum()


def matrix_powers(matrix, count):
    x = np.ones(2)
    for _ in range(count):
        x = matrix @ x
    return x


def test_a_length_known_now_may_be_that_of_an_argument() -> None:
    matrix = np.array([[1.0, 0.5], [0.0, 2.0]])
    np.testing.assert_array_equal(pytocu.jit(matrix_powers)(matrix, 3), matrix_powers(matrix, 3))
    np.testing.assert_array_equal(pytocu.jit(matrix_powers)(np.ones((3, 2)), 1), [2.0, 2.0, 2.0])
    with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch"):
        pytocu.jit(matrix_powers)(np.ones((2, 3)), 1)


def sharpened(y, count):
    for _ in range(count):
        y = y - 0.1 * np.gradient(y)
    return y


def test_a_gradient_is_as_long_as_the_array() -> None:
    for size in (2, 3, 7):
        agrees(sharpened, (np.arange(float(size)) ** 2, 3))


def coordinates(points):
    x, y = points.T
    return np.hypot(x, y)


def test_an_axis_of_run_time_is_unpacked() -> None:
    for count in (2, 3, 1, 0):
        agrees(coordinates, (np.arange(4.0 * count).reshape(4, count),))


def rows_of_a_sparse_matrix(starts, columns, values, x):
    y = np.empty(starts.size - 1)
    for i in range(starts.size - 1):
        y[i] = (values[starts[i] : starts[i + 1]] * x[columns[starts[i] : starts[i + 1]]]).sum()
    return y


def read_again_behind_a_change(starts, x):
    first = x[starts[0] : starts[1]] * 1
    starts[1] = starts[1] + 1
    return first, x[starts[0] : starts[1]] * 2, x[: int(starts[1])].max()


def test_a_number_of_the_same_contents_is_read_once() -> None:
    starts, columns = np.array([0, 2, 2, 5], np.uint32), np.array([3, 0, 1, 2, 3], np.uint32)
    values, x = np.arange(5) + 0.5, np.array([1.0, 2.0, -4.0, 8.0])
    for function, arguments, reads in (
        # On a CPU one thread's kernel goes through the rows, and reads by itself.
        (rows_of_a_sparse_matrix, (starts, columns, values, x), (0, 2)),
        (read_again_behind_a_change, (starts, x), (4, 4)),
    ):
        expected = function(*(a.copy() for a in arguments))
        compare(pytocu.jit(function)(*(a.copy() for a in arguments)), expected)
        lowered = pytocu.jit(function).lower(*arguments)
        for target, count in zip(("cpu", "cuda:sm_90"), reads, strict=True):
            host = lowered.host(target)
            assert sum(i.op.name == "read_length" for i in walk(host.body)) == count
            made = interp.run(host, [a.copy() for a in arguments])
            compare(interp.arrange(lowered.function.body.terminator.attr("tree"), made), expected)

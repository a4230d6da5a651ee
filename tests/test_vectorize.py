"""Functions of scalars over arrays: against the plain function called for each element.

Every case runs on the CPU, in the interpreter at array level, and thread by thread as a GPU runs it.
"""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.compiles import build
from pytocu.errors import CompileError, PytocuError, UnsupportedError
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.testing.compare import compare, complex_distance

RANDOM = np.random.default_rng(7)
PLANE = RANDOM.normal(size=(5, 7))
POSITIVE = RANDOM.random((4, 9)) * 10
SMALL = POSITIVE.astype(np.float32)
WHOLE = np.arange(1, 40)


def in_python(function: Callable[..., Any], args: tuple[Any, ...], excluded: tuple[int, ...] = ()) -> Any:
    """The plain function for each element; a result is of the dtype that all of its elements have together."""
    spread = [n for n in range(len(args)) if n not in excluded]
    numbers = [n for n in spread if isinstance(args[n], (np.ndarray, np.generic))]
    given = np.broadcast_arrays(*(args[n] for n in numbers))
    shape = given[0].shape
    members: list[tuple[Any, ...]] = []
    several = False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for place in np.ndindex(shape):
            here = list(args)
            for n, array in zip(numbers, given, strict=True):
                here[n] = array[place]
            made = function(*here)
            several = isinstance(made, tuple)
            members.append(made if several else (made,))
    results: list[Any] = []
    for column in zip(*members, strict=True):
        kinds = {type(m): m for m in column}
        result = np.array(column, np.result_type(*kinds.values())).reshape(shape)
        results.append(result[()])
    return tuple(results) if several else results[0]


def check(function: Callable[..., Any], *args: Any, excluded: tuple[int, ...] = (), within: float = 0) -> None:
    """The same everywhere, and IR that reads back."""
    expected = in_python(function, args, tuple(n % len(args) for n in excluded))
    made = pytocu.vectorize(function, excluded=excluded)
    lowered = made.lower(*args)
    tree = lowered.function.body.terminator.attr("tree")
    for found in (
        made(*args),
        interp.arrange(tree, interp.run(lowered.function, list(args))),
        interp.arrange(tree, interp.run(lowered.host("cuda"), list(args))),
    ):
        if within:
            np.testing.assert_allclose(found, expected, rtol=within, atol=within)
            assert np.asarray(found).dtype == np.asarray(expected).dtype
        else:
            compare(found, expected)
    for after in ("lower", "infer-shapes", "fuse"):
        text = lowered.ir(after)
        assert print_function(parse_function(text)) == text


# Programs.


def escape_time(x, y):
    c = x + 1j * y
    z = 0
    for k in range(50):
        if z.real * z.real + z.imag * z.imag > 4:
            return k
        z = z * z + c
    return 50


def escape_pairs(x0, y0):
    x = y = 0.0
    count = 0
    while x * x + y * y <= 4 and count < 60:
        x, y = x * x - y * y + x0, 2 * x * y + y0
        count += 1
    return count


def root(a):
    """Newton's steps for a square root."""
    if a < 0:
        return np.nan
    if a == 0:
        return 0.0
    x = a
    for _ in range(100):
        new = 0.5 * (x + a / x)
        if abs(new - x) <= 1e-6 * abs(new):
            return new
        x = new
    return x


def cube_root(c):
    low, high = 0.0, 10.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle * middle * middle < c:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def bessel(x):
    term = total = 1.0
    k = 0
    while abs(term) > 1e-16 * abs(total):
        k += 1
        term *= -(x * x) / (4 * k * k)
        total += term
    return total


def error_function(x):
    term = total = x
    n = 0
    while abs(term) > 1e-12:
        n += 1
        term = -term * x * x / n
        total = total + term / (2 * n + 1)
    return 2 / math.sqrt(math.pi) * total


def gamma(x):
    """Lanczos."""
    weights = (676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059)
    total = 0.99999999999980993
    for k, weight in enumerate(weights):
        total += weight / (x + k)
    t = x + len(weights) - 1.5
    return total / t


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def kepler(anomaly, eccentricity):
    angle = anomaly if eccentricity < 0.8 else math.pi
    while True:
        step = (angle - eccentricity * math.sin(angle) - anomaly) / (1 - eccentricity * math.cos(angle))
        angle = angle - step
        if abs(step) < 1e-12:
            break
    return angle


def pieces(x):
    if x < -1:
        return -1.0
    elif x > 1:
        return 1.0
    elif -0.5 < x < 0.5 and x != 0:
        return x * x
    return x


def clamped(x):
    return max(0.0, min(x, 1.0))


def sign(x):
    return 1 if x > 0 else (0 if x == 0 else -1)


def wrapping(x):
    for _ in range(5):
        x = x + 100
    return x


def connected(x, y):
    return (x > 0 and y > 0) or (not x)


def counted(x, n):
    for k in range(n):
        if k % 3 == 1:
            continue
        x = x + k
        if x > 20:
            break
    else:
        x = -x
    return x


def last_number(x):
    for k in range(40):
        if k * x > 10:
            break
    return k


def several(x, y):
    if x > y:
        x, y = y, x
    return x, y, x == y


def nested_loops(n):
    total = 0
    i = 0
    while i < n:
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if (i + j) % 2:
                continue
            total += i * j
        i += 1
    return total


def helper(x, power=2):
    if x < 0:
        return -helper_of_positive(-x, power)
    return helper_of_positive(x, power)


def helper_of_positive(x, power):
    made = x
    for _ in range(power - 1):
        made = made * x
    return made


def python_numbers(x):
    return math.floor(x), math.hypot(x, 3), int(x) // 2, math.exp(-x), round(x), float(x) / 3, math.atan2(x, 2), bool(x)


def search(x, table):
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) // 2
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def interpolated(x, xs, ys):
    k = search(x, xs)
    if k == 0:
        return ys[0]
    if k == len(xs):
        return ys[-1]
    return ys[k - 1] + (x - xs[k - 1]) * (ys[k] - ys[k - 1]) / (xs[k] - xs[k - 1])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (escape_time, (np.linspace(-2, 1, 9), np.linspace(-1, 1, 7)[:, None])),
        (escape_pairs, (np.linspace(-2, 1, 9), np.linspace(-1, 1, 7)[:, None])),
        (escape_pairs, (np.linspace(-2, 1, 9, dtype="f"), np.linspace(-1, 1, 7, dtype="f")[:, None])),
        (root, (PLANE,)),
        (root, (PLANE.astype("f"),)),
        (cube_root, (POSITIVE,)),
        (cube_root, (SMALL,)),
        (bessel, (POSITIVE,)),
        (bessel, (SMALL,)),
        (error_function, (PLANE,)),
        (gamma, (POSITIVE,)),
        (gcd, (np.arange(20), np.arange(0, 90, 18)[:, None])),
        (gcd, (np.arange(-9, 9).astype(np.int32), np.int32(12))),
        (gcd, (np.arange(20).astype(np.uint8), np.arange(20).astype(np.uint8)[:, None])),
        (collatz, (WHOLE,)),
        (pieces, (PLANE,)),
        (pieces, (SMALL,)),
        (clamped, (PLANE,)),
        (clamped, (PLANE.astype("f"),)),
        (sign, (PLANE,)),
        (wrapping, (np.arange(250, 256).astype(np.uint8),)),
        (wrapping, (np.arange(100, 128).astype(np.int8),)),
        (connected, (np.array([1.0, 0, -1]), np.array([0.0, 1, 2]))),
        (connected, (np.array([True, False]), np.array([3, 0]))),
        (counted, (PLANE, np.arange(7))),
        (counted, (PLANE, 11)),
        (last_number, (POSITIVE,)),
        (several, (PLANE, PLANE[::-1, ::-1])),
        (several, (np.arange(7), PLANE.astype(np.float16).astype(np.int64))),
        (nested_loops, (np.arange(9),)),
        (helper, (PLANE, 3)),
    ],
)
def test_programs(function: Callable[..., Any], args: tuple[Any, ...]):
    check(function, *args)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (kepler, (POSITIVE, np.array([0.1, 0.9, 0.5, 0.99, 0.2, 0.3, 0.85, 0.0, 0.7]))),
        (python_numbers, (POSITIVE,)),
        (python_numbers, (SMALL,)),
    ],
)
def test_programs_with_elementary_functions(function: Callable[..., Any], args: tuple[Any, ...]):
    made = pytocu.vectorize(function)
    expected = in_python(function, args)
    for found in (made(*args), interp.arrange(_tree(made, args), interp.run(made.lower(*args).host("cuda"), list(args)))):
        for one, wanted in zip(np.broadcast_arrays(*_tuple(found)), np.broadcast_arrays(*_tuple(expected)), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-12)
    assert [np.asarray(f).dtype for f in _tuple(made(*args))] == [np.asarray(e).dtype for e in _tuple(expected)]


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _tree(made: Any, args: tuple[Any, ...]) -> Any:
    return made.lower(*args).function.body.terminator.attr("tree")


@pytest.mark.parametrize("table", [np.sort(RANDOM.random(20) * 10), np.array([3.0]), np.arange(64)[::3].astype(float)])
def test_table_search(table: np.ndarray):
    check(search, POSITIVE, table, excluded=(1,))
    assert np.array_equal(pytocu.vectorize(search, excluded="table")(POSITIVE, table), np.searchsorted(table, POSITIVE))


def test_tables_are_read_anywhere():
    xs, ys = np.linspace(0, 9, 13), RANDOM.random(13)
    check(interpolated, POSITIVE, xs, ys, excluded=(1, 2))
    check(interpolated, POSITIVE, xs, np.stack([ys, ys])[1], excluded=(-2, -1))


def table_row(k, table):
    return table[k, -1] - table[k, 0] + table.shape[0]


def test_a_table_with_two_axes():
    table = RANDOM.random((6, 4))
    check(table_row, np.array([[0, 5], [-1, 2]]), table, excluded=(1,))
    check(table_row, np.array([[0, 5], [1, 2]], np.uint8), np.asfortranarray(table), excluded=(1,))


def weighted(x, table):
    total = x
    for i in range(table.shape[0]):
        for j in range(1, table.shape[1]):
            total = total + table[i, j] * table[0, -1]
    return total


@pytest.mark.parametrize("shape", [(3, 2), (0, 2), (2, 0), (0, 0), (2, 1)])
def test_loops_over_tables_without_elements_have_no_step(shape: tuple[int, int]) -> None:
    check(weighted, POSITIVE, np.ones(shape), excluded=(1,))


@pytest.mark.parametrize(("k", "shown"), [(6, 6), (-7, -7), (10**12, 10**12)])
def test_indices_outside_of_a_table(k: int, shown: int):
    made = pytocu.vectorize(table_row, excluded="table")
    with pytest.raises(IndexError, match=f"index {shown} is out of bounds for axis 0 with size 6"):
        made(np.array([1, k]), np.ones((6, 4)))
    host = made.lower(np.array([1, k]), np.ones((6, 4))).host("cuda")
    with pytest.raises(IndexError, match=f"index {shown} is out of bounds"):
        interp.run(host, [np.array([1, k]), np.ones((6, 4))])
    with pytest.raises(IndexError):
        made(np.array([0]), np.ones((0, 4)))
    assert made(np.zeros(0, int), np.ones((6, 4))).shape == (0,)


# Dtypes and shapes.


def mixed(a, b):
    if a > b:
        return a - b
    return b - a


@pytest.mark.parametrize("first", ["i1", "u1", "i8", "f2", "f4", "f8", "?"])
@pytest.mark.parametrize("second", ["i2", "u4", "f4", "f8"])
def test_any_mix_of_dtypes(first: str, second: str):
    a = np.array([3, 1, 0, 1]).astype(first)
    b = np.array([1, 1, 5, 0]).astype(second)
    check(mixed, a, b)
    check(mixed, a, b[:, None])


def complex_steps(z, n):
    while n > 0 and z.real < 10:
        z = z * z + 1
        n -= 1
    return z, z.imag if n else 0.0


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype: type):
    z = (RANDOM.integers(-2, 3, 6) + 1j * RANDOM.integers(-2, 3, 6)).astype(dtype)
    z[-1] = 20
    check(complex_steps, z, np.arange(6))


def test_scalars_and_arrays_without_axes():
    made = pytocu.vectorize(gcd)
    for args in ((12, 18), (np.int64(12), 18), (np.array(12), np.int64(18)), (np.array(12), np.array(18))):
        result = made(*args)
        assert type(result) is np.int64 and result == 6
    assert type(pytocu.vectorize(root)(2.0)) is np.float64
    assert type(pytocu.vectorize(root)(np.float32(2))) is np.float32
    assert type(pytocu.vectorize(pieces)(2.0)) is np.float64
    out = np.zeros((), np.int64)
    assert made(12, 18, out) is out and out == 6


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_empty_arrays(shape: tuple[int, ...]):
    for function in (root, several, escape_pairs):
        args = [np.zeros(shape)] * (1 if function is root else 2)
        made = _tuple(pytocu.vectorize(function)(*args))
        assert all(m.shape == shape for m in made)


@pytest.mark.parametrize(("first", "second"), [((3, 1), (1, 4)), ((5, 1, 2), (3, 1)), ((1,), (6,)), ((2, 3), ())])
def test_broadcasting(first: tuple[int, ...], second: tuple[int, ...]):
    check(mixed, RANDOM.random(first), RANDOM.random(second))


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\)"):
        pytocu.vectorize(gcd)(np.arange(3), np.arange(4))


def test_layouts():
    x = RANDOM.random((6, 8))
    for view in (x[::2, 1::3], x.T, x[::-1], np.broadcast_to(x[0], (3, 8)), np.asfortranarray(x)):
        check(pieces, view)


def test_python_numbers_adapt():
    made = pytocu.vectorize(mixed)
    assert made(np.float32([1, 5]), 2).dtype == np.float32
    assert made(np.uint8([1, 5]), 2).tolist() == [1, 3]
    assert made([1, 5], (2, 3)).tolist() == [1, 2]
    with pytest.raises(OverflowError):
        made(np.uint8([1]), 300)


# As ufuncs are called.


def test_out():
    made = pytocu.vectorize(pieces)
    x = PLANE.copy()
    expected = in_python(pieces, (x,))
    out = np.zeros_like(x)
    assert made(x, out) is out and np.array_equal(out, expected)
    out[...] = 0
    assert made(x, out=out) is out and np.array_equal(out, expected)
    assert made(x, out=(out,)) is out
    assert made(x, out=x) is x and np.array_equal(x, expected)
    wide = np.zeros((2, *expected.shape), np.float32)
    made(PLANE, wide, casting="same_kind")
    assert np.array_equal(wide, np.stack([expected.astype(np.float32)] * 2))


def test_out_that_overlaps_an_argument():
    made = pytocu.vectorize(mixed)
    x = RANDOM.random(50)
    expected = in_python(mixed, (x[:-1].copy(), x[1:].copy()))
    made(x[:-1], x[1:], out=x[1:])
    assert np.array_equal(x[1:], expected)


def bound_where_a_step_goes_on(a, b):
    n = 0
    while n < 5 and b != 0:
        n += 1
        if b > 0:
            continue
        b = a
        if b > 2:
            return b
    return -b


def test_names_of_a_step_that_may_go_on_or_return():
    a = np.arange(-4.0, 4.0)
    expected = np.array([bound_where_a_step_goes_on(p, q) for p, q in zip(a, -a, strict=True)])
    compare(pytocu.vectorize(bound_where_a_step_goes_on)(a, -a), expected)


def test_several_results_into_arrays():
    made = pytocu.vectorize(several, nout=3)
    assert (made.nin, made.nout) == (2, 3)
    x, y = PLANE, PLANE[::-1]
    expected = in_python(several, (x, y))
    outs = (np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, bool))
    assert all(a is b for a, b in zip(made(x, y, out=outs), outs, strict=True))
    compare(outs, expected)
    one = np.zeros_like(x)
    results = made(x, y, one)
    assert results[0] is one
    compare(results, expected)
    compare(made(x, y, out=(None, one, None)), expected)
    with pytest.raises(ValueError, match="exactly one entry per ufunc output"):
        made(x, y, out=(one, one))
    with pytest.raises(ValueError, match="exactly one entry per ufunc output") as info:
        pytocu.vectorize(several)(x, y, out=outs)
    assert "nout=3" in str(info.value)


def test_where():
    made = pytocu.vectorize(pieces)
    mask = PLANE > 0.3
    out = np.full_like(PLANE, 7)
    assert made(PLANE, out=out, where=mask) is out
    assert np.array_equal(out, np.where(mask, in_python(pieces, (PLANE,)), 7))
    out[...] = 7
    made(PLANE, out, where=mask[0])
    assert np.array_equal(out, np.where(mask[0], in_python(pieces, (PLANE,)), 7))
    made(PLANE, out, where=False)
    made(PLANE, out, where=True)
    assert np.array_equal(out, in_python(pieces, (PLANE,)))
    with pytest.raises(UnsupportedError, match="pieces with the argument where= and no out="):
        made(PLANE, where=mask)


def test_where_leaves_out_what_would_fail():
    made = pytocu.vectorize(table_row, excluded="table")
    k = np.array([1, 99, 2])
    out = np.zeros(3)
    made(k, np.ones((6, 4)), out=out, where=k < 6)
    assert out.tolist() == [6, 0, 6]


def test_dtype_and_casting():
    made = pytocu.vectorize(pieces)
    assert made(PLANE, dtype=np.float32).dtype == np.float32
    assert made(PLANE, dtype="c16").dtype == np.complex128
    assert np.array_equal(made(PLANE, dtype=int, casting="unsafe"), in_python(pieces, (PLANE,)).astype(int))
    with pytest.raises(TypeError, match=r"Cannot cast ufunc 'pieces' output from dtype\('float64'\) to dtype\('int64'\)"):
        made(PLANE, dtype=int)
    with pytest.raises(TypeError, match="Cannot cast"):
        made(PLANE, out=np.zeros(PLANE.shape, int))
    with pytest.raises(TypeError, match="Cannot cast"):
        made(PLANE, out=np.zeros(PLANE.shape, np.float32), casting="safe")
    with pytest.raises(ValueError, match="casting"):
        made(PLANE, casting="wild", dtype=int)
    with pytest.raises(TypeError, match="order"):
        made(PLANE, order="F")


def test_methods_and_captured_values():
    class Scale:
        factor = 3.0

        @pytocu.vectorize
        def apply(self, x):
            return x * self.factor if x > 0 else 0.0

    scale = Scale()
    assert scale.apply(np.array([1.0, -1.0])).tolist() == [3.0, 0.0]
    scale.factor = 5.0
    assert scale.apply(np.array([1.0, -1.0])).tolist() == [5.0, 0.0]


# In jitted functions.

collatz_steps = pytocu.vectorize(collatz)
soft = pytocu.vectorize(lambda x: x / (1 + x) if x > 0 else x * 0.5)
find = pytocu.vectorize(search, excluded="table")
ordered = pytocu.vectorize(several, nout=3)


def with_sum(n):
    return collatz_steps(n).sum()


def softmax_like(x):
    e = soft(x - x.max(1, keepdims=True)) + 1
    return e / e.sum(1, keepdims=True)


def found_in_sums(x, w):
    return find(x * 2, np.cumsum(w))


def in_place(x, y):
    soft(x[1:], out=x[1:])
    first, second, same = ordered(x, y[:, None])
    y[:2] = soft(y[:2], where=y[:2] > 0, out=y[:2])
    return first - second, same


def stencil(x):
    y = soft(x)
    return y[1:] + y[:-1]


def with_scalars(x, s):
    return soft(s) * x + soft(2.0) + ordered(x[0], s)[0]


def repeated(x, n):
    for _ in range(n):
        x = soft(x) + 0.25
    return x


def whole_steps(x, n):
    for _ in range(n):
        x[1:] = soft(x[:-1]) + x[1:]
    return x


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (with_sum, (WHOLE,)),
        (softmax_like, (PLANE,)),
        (softmax_like, (PLANE.astype("f"),)),
        (found_in_sums, (POSITIVE, RANDOM.random(12))),
        (in_place, (RANDOM.normal(size=5), RANDOM.normal(size=4))),
        (stencil, (PLANE[0],)),
        (with_scalars, (PLANE[0], np.float64(0.5))),
        (repeated, (PLANE, 3)),
        (whole_steps, (PLANE[0].copy(), 3)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_in_jitted_functions(function: Callable[..., Any], args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch):
    given = copy.deepcopy(args)
    monkeypatch.setenv("PYTOCU_DISABLE", "1")
    expected = function(*given)
    monkeypatch.delenv("PYTOCU_DISABLE")
    jitted = pytocu.jit(function)
    mine = copy.deepcopy(args)
    found = jitted(*mine)
    lowered = jitted.lower(*copy.deepcopy(args))
    tree = lowered.function.body.terminator.attr("tree")
    threads = interp.arrange(tree, interp.run(lowered.host("cuda"), list(copy.deepcopy(args))))
    for one in (found, threads):
        for a, b in zip(_tuple(one), _tuple(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6 if np.asarray(b).dtype == np.float32 else 1e-14)
            assert np.asarray(a).dtype == np.asarray(b).dtype
    for a, b in zip(mine, given, strict=True):
        np.testing.assert_allclose(a, b)


def test_it_fuses_with_what_is_around():
    assert len(pytocu.jit(softmax_like).lower("f32[n, 64]").kernels) == 1
    assert len(pytocu.jit(with_sum).lower("i64[1000]").kernels) == 1
    names = [inst.op.name for inst in walk(pytocu.jit(repeated).lower("f64[n]", "weak int").host("cuda").body)]
    assert "read" not in names and names.count("launch") == 1


inner = pytocu.vectorize(lambda x, k: x if k == 0 else x * k)


def outer(x, k):
    total = inner(x, k)
    while total > 3:
        total = inner(total, 0) / 2
    return total


def test_vectorized_in_vectorized():
    expected = in_python(outer, (PLANE, np.int64(4)))
    made = pytocu.vectorize(outer)
    assert np.array_equal(made(PLANE, np.int64(4)), expected)


# Exceptions by data.


def guarded(x):
    if x < 0:
        raise ValueError("negative {x}")
    y = x
    for k in range(100):
        if y > 50:
            break
        if k > 40:
            raise OverflowError("too slow")
        y = y + x
    assert y != 60, "sixty"
    return y


def test_exceptions_by_data():
    made = pytocu.vectorize(guarded)
    fine = np.array([2.0, 30.5])
    check(guarded, fine)
    cases = ((-1.0, ValueError, r"negative \{x\}"), (0.5, OverflowError, "too slow"), (30.0, AssertionError, "sixty"))
    for bad, kind, text in cases:
        with pytest.raises(kind, match=text):
            made(np.append(fine, bad))
        with pytest.raises(kind, match=text):
            interp.run(made.lower("f64[n]").host("cuda"), [np.append(fine, bad)])


@pytest.mark.parametrize(
    ("function", "bad", "kind", "text"),
    [
        (lambda x: math.sqrt(x), -1.0, ValueError, "math domain error"),
        (lambda x: math.log(x), 0.0, ValueError, "math domain error"),
        (lambda x: math.exp(x), 1000.0, OverflowError, "math range error"),
        (lambda x: int(x), np.nan, ValueError, "cannot convert float NaN to integer"),
        (lambda x: int(x), np.inf, OverflowError, "cannot convert float infinity to integer"),
        (lambda x: float(x) / int(x), 0.5, ZeroDivisionError, "float division by zero"),
        (lambda x: 7 // int(x), 0.5, ZeroDivisionError, "integer division or modulo by zero"),
        (lambda x: float(x) ** -1, 0.0, ZeroDivisionError, "negative power"),
        (lambda x: math.sin(x), np.inf, ValueError, "math domain error"),
        (lambda x: math.fmod(x, int(x)), 0.5, ValueError, "math domain error"),
        (lambda x: math.isqrt(int(x)), -4.0, ValueError, "nonnegative"),
    ],
)
def test_what_python_raises(function: Callable[..., Any], bad: float, kind: type[Exception], text: str):
    with pytest.raises(kind):
        function(np.float64(bad))
    made = pytocu.vectorize(function)
    assert np.isfinite(made(np.array([1.5]))).all()
    with pytest.raises(kind, match=text):
        made(np.array([1.5, bad]))


LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("function", "beyond", "inside"),
    [
        (lambda x: 100 - int(x), LEAST, 100 - MOST),
        (lambda x: int(x) - -3, MOST, MOST - 3),
        (lambda x: -2 - int(x), MOST, MOST - 2),
        (lambda x: 3 + (2 + int(x)), MOST - 4, MOST - 5),
        (lambda x: max(int(x), 3) + 1, MOST, MOST - 1),
        (lambda x: -int(x), LEAST, LEAST + 1),
        (lambda x: abs(int(x)), LEAST, LEAST + 1),
        (lambda x: int(x) // -1, LEAST, LEAST + 1),
        (lambda x: divmod(int(x), -1)[0], LEAST, LEAST + 1),
        (lambda x: math.gcd(int(x), 0), LEAST, LEAST + 1),
        (lambda x: math.lcm(int(x), 3), 2**62 + 1, 2**60 + 1),
        (lambda x: math.floor(float(x)) + 2000, 2**63 - 1024, 2**62),
    ],
)
def test_ints_of_the_data_that_leave_int64(function: Callable[..., Any], beyond: int, inside: int):
    """Sums with small constants are looked at where a number of the data is one operand, not a counter."""
    made = pytocu.vectorize(function)
    with pytest.raises(OverflowError, match="does not fit int64"):
        made(np.array([beyond]))
    assert made(np.array([inside])).tolist() == [function(np.int64(inside))]


def _counted(x, n):
    k = int(x)
    for _ in range(n):
        k += 1
    return k


def _counted_down(x, n):
    k = 5
    while n > 0:
        if n == 3:
            k = int(x)
        k = k - 1
        n -= 1
    return k


def _counted_in_both(x, n):
    k = int(x)
    for _ in range(n):
        for _ in range(2):
            k = k + 1 if n > 1 else k
    return k - 1


@pytest.mark.parametrize(
    ("function", "beyond", "inside"),
    [(_counted, MOST - 2, MOST - 3), (_counted_down, LEAST + 2, LEAST + 3), (_counted_in_both, MOST - 5, MOST - 6)],
)
def test_counters_that_begin_at_numbers_of_the_data(function: Callable[..., Any], beyond: int, inside: int):
    made = pytocu.vectorize(function)
    with pytest.raises(OverflowError, match="does not fit int64"):
        made(np.array([3, beyond]), np.array([3, 3]))
    assert made(np.array([3, inside]), np.array([3, 3])).tolist() == [function(3, 3), function(np.int64(inside), 3)]


def test_counters_beside_arrays_that_begin_at_numbers_of_the_data():
    def counted(x, n):
        k = int(x[0])
        for i in range(n):
            if x[i] > 0:
                k += 1
        return k

    made = pytocu.jit(counted)
    with pytest.raises(OverflowError, match="does not fit int64"):
        made(np.full(4, MOST - 3), 4)
    assert made(np.full(4, MOST - 4), 4) == MOST


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 2.0])
def test_powers_of_python_complex_numbers(exponent: float):
    """``z = z**2 + c``, multiplied as Python does."""
    made = pytocu.vectorize(lambda x, y: complex(x, y) ** exponent)
    for x, y in itertools.product((0.0, -0.0, 0.5, -2.5, 1e200, np.inf, np.nan), repeat=2):
        try:
            expected = complex(x, y) ** exponent
        except OverflowError as error:
            with pytest.raises(OverflowError, match=str(error)):
                made(np.float64(x), np.float64(y))
        else:
            assert complex_distance(made(np.float64(x), np.float64(y)), np.complex128(expected)) <= 4


def test_item_is_pythons_number():
    check(lambda x: x.item() / 2, WHOLE.astype(np.float32))
    check(lambda x: x.item() + 300, WHOLE.astype(np.uint8))


# What is refused.


def bound_to_two_dtypes(x):
    if x > 0:
        y = np.float32(1)
    else:
        y = np.float64(2)
    return y


def nothing_there(x):
    if x > 0:
        return x


def growing(x):
    found = []
    while x > 0:
        found.append(x)
        x = x - 1
    return x


def printing(x):
    print(x)
    return x


TABLE = np.arange(3.0)


def capturing(x):
    return TABLE[0] + x


def calling_itself(n):
    return 1 if n < 2 else n * calling_itself(n - 1)


def whole_sum(x, table):
    return x + table.sum()


def whole_result(x, table):
    return table * x


def changing(x, table):
    table[0] = x
    return x


def changing_kind(x, n):
    s = n
    for _ in range(n):
        s = s + x
    return s


def indexed(x):
    return x[0]


def as_text(x):
    if x > 0:
        return "positive"
    return "negative"


def failing_by_hand(x):
    def fail():
        raise ValueError("no")

    return x if x > 0 else fail()


def checked(x):
    def check(y):
        if y < 0:
            raise ValueError("no")

    check(x)
    return x


def larger(a, b):
    return a if a > b else b


def kept_between(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def rectified(x):
    return x if x > 0 else 0.0


def one_of_three(x, y):
    return x if x > 1 else (y if y > 0 else -1)


def of_a_pair(x, y):
    if x > y:
        return x, 1
    return y, 2.5


def found_in_steps(x, y):
    for k in range(5):
        if x > k + 2:
            return y
        if x < -k:
            return k
    return -1.5


LESS, MORE = np.arange(4), np.linspace(-1, 4, 4)


@pytest.mark.parametrize(
    ("function", "arguments", "dtypes"),
    [
        (larger, (LESS, MORE), ["f8"]),
        (larger, (LESS.astype(np.int8), LESS[::-1]), ["i8"]),
        (larger, (MORE.astype(np.float32), MORE[::-1]), ["f8"]),
        (larger, (np.array([1, 200], np.uint8), np.array([-1, 5], np.int8)), ["i2"]),
        (larger, (2, 0.5), ["f8"]),
        (larger, (LESS.astype(np.float32), 1), ["f4"]),
        (lambda a, b: a if a > b else b, (LESS, 0.5), ["f8"]),
        (kept_between, (0.5, 0, 1), ["f8"]),
        (kept_between, (LESS, 0.5, 2.5), ["f8"]),
        (rectified, (LESS,), ["f8"]),
        (rectified, (MORE.astype(np.float32),), ["f4"]),
        (one_of_three, (LESS, MORE), ["f8"]),
        (of_a_pair, (LESS, MORE), ["f8", "f8"]),
        (found_in_steps, (MORE, LESS), ["f8"]),
    ],
)
def test_results_are_of_the_dtype_of_all_ways(function: Callable[..., Any], arguments: tuple[Any, ...], dtypes: list[str]):
    elements = [[v[()] for v in one] for one in zip(*map(np.ravel, np.broadcast_arrays(*arguments)), strict=True)]
    made = [function(*one) for one in elements]
    wanted = list(zip(*made, strict=True)) if isinstance(made[0], tuple) else [made]
    compiled = pytocu.vectorize(function)
    calls = {1: lambda a: compiled(a), 2: lambda a, b: compiled(a, b), 3: lambda a, b, c: compiled(a, b, c)}
    for found in (compiled(*arguments), pytocu.jit(calls[len(arguments)])(*arguments)):
        results = found if isinstance(found, tuple) else (found,)
        for result, numbers, dtype in zip(results, wanted, dtypes, strict=True):
            assert result.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(np.ravel(result), np.array(numbers, dtype))


def test_a_result_inside_of_another_function_is_of_one_dtype():
    inner = pytocu.vectorize(larger)
    compiled = pytocu.vectorize(lambda a, b: inner(a, b) / 2 + 1)
    np.testing.assert_array_equal(compiled(LESS, MORE), np.maximum(LESS, MORE) / 2 + 1, strict=True)
    np.testing.assert_array_equal(pytocu.vectorize(larger)(LESS, MORE, dtype=np.float32), np.maximum(LESS, MORE).astype("f4"))


def test_what_is_refused_inside_says_nothing_of_what_is_returned_behind_it():
    @pytocu.vectorize
    def raising(a):
        raise ValueError("no")

    @pytocu.vectorize
    def behind(a, b):
        if a > 99:
            raising(a)
        return a if a > b else b

    with pytest.raises(UnsupportedError, match="raising only raises") as info:
        behind(LESS, MORE)
    assert "also:" not in str(info.value)


class Special(ValueError):
    pass


def special(x):
    if x < 0:
        raise Special("no")
    return x


def two_lengths(x):
    if x > 0:
        return x, x
    return x


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (bound_to_two_dtypes, ("y is f32 on one side of a branch and f64 on the other", "convert it before, as")),
        (nothing_there, ("returns", "or nothing, and which of them is known only at run time", "end every path with a return")),
        (growing, ("a list grows in a loop",)),
        (printing, ("print() has no meaning",)),
        (capturing, ("the array TABLE is captured",)),
        (calling_itself, ("recursion: calling_itself calls itself",)),
        (indexed, ("invalid index to scalar variable",)),
        (as_text, ("returns 'positive' (line ", "or 'negative' (line ")),
        (failing_by_hand, ("fail only raises", "write the raise statement where it is called")),
        (checked, ("check raises by data and returns nothing otherwise",)),
        (special, ("raises Special, which is not one of Python's own exceptions",)),
        (two_lengths, ("returns a tuple of 2 (line ", ") or f64 (line ", "return values of one kind")),
    ],
)
def test_wrong_programs(function: Callable[..., Any], texts: tuple[str, ...]):
    with pytest.raises(CompileError) as info:
        pytocu.vectorize(function)(np.array([1.0, 2.0]))
    for text in texts:
        assert text in str(info.value), str(info.value)
    assert info.value.loc is not None


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (whole_sum, "work on an array in a vectorized function"),
        (whole_result, "returns an array"),
        (changing, "work on an array in a vectorized function"),
    ],
)
def test_whole_arrays_are_only_read(function: Callable[..., Any], text: str):
    with pytest.raises(UnsupportedError, match=text):
        pytocu.vectorize(function, excluded="table")(PLANE, TABLE.copy())


def test_names_with_two_types_say_both():
    with pytest.raises(UnsupportedError, match="s is i32 before a step of the loop and f64 after it"):
        pytocu.vectorize(changing_kind)(PLANE, np.int32(3))
    with pytest.raises(UnsupportedError, match=r"x is i64 before a step of the loop and f64 after it") as info:
        pytocu.vectorize(root)(WHOLE)
    assert "convert it before, as np.float64(...)" in str(info.value)


def test_decoration():
    with pytest.raises(PytocuError, match="excluded='z': gcd has no such parameter; its parameters: a, b"):
        pytocu.vectorize(gcd, excluded="z")
    with pytest.raises(PytocuError, match="excluded=2: gcd has 2 parameters"):
        pytocu.vectorize(gcd, excluded=2)
    with pytest.raises(PytocuError, match="a parameter out, which every vectorized function has"):
        pytocu.vectorize(lambda out: out)
    with pytest.raises(PytocuError, match=r"takes any number of arguments \(\*\*more\): name each parameter"):
        pytocu.vectorize(lambda x, **more: x)
    with pytest.raises(PytocuError, match="device"):
        pytocu.vectorize(gcd, device="tpu")
    with pytest.raises(UnsupportedError, match="returns 3 numbers and not 2 numbers"):
        pytocu.vectorize(several, nout=2)(1.0, 2.0)
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments"):
        pytocu.vectorize(gcd)(1, 2, None, 3)
    with pytest.raises(TypeError, match="print is used as a number"):
        pytocu.vectorize(lambda a, b: a % b)(print, 2)
    with pytest.raises(UnsupportedError, match="gcd returns the builtin"):
        pytocu.vectorize(gcd)(print, 2)


# It is a jitted function.


def test_specializations_and_precompile():
    made = pytocu.vectorize(gcd)
    made.precompile("i32[n]", "i32[n]", targets="cpu")
    made(np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32))
    assert len(made.specializations) == 1
    made(np.arange(3.0), 2)
    assert len(made.specializations) == 2
    assert "map" in made.lower("f32[n]", "weak int").ir("lower")
    assert made.explain("f32[n]", "f32[n]").kernels[0].name == "gcd"
    assert repr(made).startswith("<pytocu.vectorize gcd(a, b, out=None, *, where=True")
    for target in ("cuda_c", "nvvm"):
        compiled = made.lower("f32[n]", "f32[n]").compile("cuda:sm_90", target)
        assert compiled.binary


def test_pickles_by_name():
    assert pickle.loads(pickle.dumps(collatz_named)) is collatz_named
    made = pytocu.vectorize(gcd)
    again = pickle.loads(pickle.dumps(made))
    assert again(12, np.arange(8, 10)).tolist() == [4, 3]


@pytocu.vectorize
def collatz_named(n):
    return collatz(n)


def test_disabled(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTOCU_DISABLE", "1")
    made = pytocu.vectorize(several, nout=3)
    compare(made(PLANE, PLANE[::-1]), in_python(several, (PLANE, PLANE[::-1])))
    out = np.zeros(PLANE.shape)
    pytocu.vectorize(pieces)(PLANE, out=out, where=PLANE > 0)
    assert np.array_equal(out, np.where(PLANE > 0, in_python(pieces, (PLANE,)), 0))


SOURCE = '''
import pytocu

@pytocu.vectorize
def gcd(a, b):
    """The greatest common divisor."""
    while b:
        a, b = b, a % b
    return a

@pytocu.vectorize(excluded="table")
def find(x, table):
    k = 0
    while k < len(table) and table[k] < x:
        k += 1
    return k
'''


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "scalars.py"
    file.write_text(SOURCE)
    assert main(["dump", f"{file}:gcd", "--args", "i64[n], i64[m, 1]", "--after", "lower"]) == 0
    assert "map %a, %b {elements = 2} : i64[m, n]" in capsys.readouterr().out
    assert main(["dump", f"{file}:find", "--args", "f32[n], f32[m]", "--emit", "cuda"]) == 0
    assert "while" in capsys.readouterr().out
    assert main(["explain", f"{file}:gcd", "--args", "i32[n], i32[n]"]) == 0
    assert "gcd" in capsys.readouterr().out


def test_bundles(tmp_path: Path):
    made = pytocu.vectorize(gcd)
    written = list(build(made, [(("i64[n]", "i64[n]"), {})], ["cpu"], str(tmp_path)))
    assert written
    loaded = pytocu.load(str(tmp_path)).gcd
    assert loaded(np.array([12, 18]), np.array([8, 27])).tolist() == [4, 9]


def test_keeps_its_face():
    assert collatz_named.__name__ == "collatz_named" and collatz_named.__wrapped__(np.int64(6)) == 8
    assert np.array_equal(collatz_named.__wrapped__(np.int64(6)), collatz_named(6))


@pytocu.vectorize
def distance_from_zero(a, b):
    return abs(a + b)


def test_known_numbers_alone() -> None:
    """Nothing goes over elements then."""

    def program(x):
        return distance_from_zero(np.int64(-3), np.int64(1)), distance_from_zero(2, -7) + x

    one, other = pytocu.jit(program)(np.ones(2))
    assert type(one) is np.int64 and one == 2 and other.tolist() == [6.0, 6.0]


def test_branches_in_branches_are_looked_at_once() -> None:
    """What follows a branch that may leave a loop is in its other side, and so deep; looking twice each time took minutes."""

    @pytocu.vectorize
    def steps(a, b):
        k = 0
        for _ in range(3):
            if a < 1:
                if 0 < b < 8:
                    continue
                if not a:
                    break
                b = -b
            if b > 0 and b > 0:
                k += 2
                b = b - a
            elif k > 2:
                a, b = b, -a
                a, b = b, (a if 0 < a < 8 else b)
            else:
                k += 2
            if b > 9:
                return -a
        return b + a + k

    given = np.float16([-1, 0, 0.5, 3]), np.float16([3, -2, 9, 4])
    began = time.perf_counter()
    compare(steps(*given), np.array([steps.__wrapped__(a, b) for a, b in zip(*given, strict=True)]))
    assert time.perf_counter() - began < 60


def test_results_of_branches_in_branches_are_followed_once() -> None:
    """Each result of a branch that holds the next one was followed into all results of that: minutes for nine returns."""

    @pytocu.vectorize
    def steps(x, y):
        k = 0
        for i in range(3):
            if x > i:
                break
            for j in range(3):
                if j >= y:
                    return i, j, k, x
                k = k + j
        return k, k, k, x

    given = np.arange(4.0) - 1, np.arange(4.0)
    began = time.perf_counter()
    compare(steps(*given), in_python(steps.__wrapped__, given))
    assert time.perf_counter() - began < 30


def found_at(v, table):
    k = 0
    while table[k] != v:
        k += 1
    return k


def followed(v, table):
    steps = 0
    while table[v] != -1:
        for _ in range(3):
            v = table[v] % 100
            steps += 1
    return steps


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize(
    ("function", "arguments", "sentence"),
    [
        ("found_at", "np.array([3, 7, 4] * 50), np.arange(5)", "index 5 is out of bounds for axis 0 with size 5"),
        ("followed", "np.array([0, 1, 2]), np.array([1, 2, 9, -1])", "index 9 is out of bounds for axis 0 with size 4"),
    ],
)
def test_a_loop_of_an_element_ends_with_a_wrong_index(function, arguments, sentence, target) -> None:
    program = f"""
        import numpy as np, pytocu
        from pytocu.ir import interp
        from test_vectorize import {function}
        arguments = {arguments}
        function = pytocu.vectorize({function}, excluded="table")
        try:
            if "{target}" == "cpu":
                function(*arguments)
            else:
                interp.run(function.lower(*arguments).host("cuda"), list(arguments))
        except IndexError as error:
            print(str(error).splitlines()[0])
    """
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, cwd=here, check=False
    )
    assert done.stdout.strip() == sentence, done.stderr


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("function", [found_at, followed])
def test_loops_that_end_with_a_wrong_index_have_code_for_gpus(function, backend) -> None:
    lowered = pytocu.vectorize(function, excluded="table").lower(np.arange(3), np.arange(5))
    assert lowered.compile("cuda:sm_90", backend).binary


OF_NUMPY = np.vectorize(lambda a: a + 1)


def test_numpys_own_vectorize_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"np\.vectorize is not supported") as caught:
        pytocu.jit(lambda x: OF_NUMPY(x))(np.ones(3))
    assert caught.value.help and "@pytocu.vectorize" in caught.value.help


# Members of tuples and lists whose positions an element comes to.

WEIGHTS = (1.5, 2.5, 3.5)
PAIRS = [(1, 2.0), (3, 4.0), (5, 6.0)]


def weight(n):
    return WEIGHTS[n]


def product_of_a_pair(n):
    first, second = PAIRS[n]
    return first * second


def day_of_the_year(year, month, day):
    days = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    for k in range(month - 1):
        day += days[k]
    leaps = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return day + 1 if month > 2 and leaps else day


def of_a_list_made_here(n):
    members = [1, 2, 3, n]
    members[0] = 7
    return members[n % 4] + ((1, 2, 3), (4, 5, 6))[n % 2][n % 3]


def weights_in_turn(x):
    total, k = 0.0, 0
    while x > 0.1:
        total, x, k = total + WEIGHTS[k % 3] * x, x / 2, k + 1
    return total


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.int16])
def test_members_by_what_an_element_comes_to(dtype) -> None:
    numbers = np.arange(-3, 3).astype(dtype)
    for function in (weight, product_of_a_pair):
        check(function, numbers)
    check(of_a_list_made_here, numbers)
    check(weight, np.arange(3).astype(np.uint8))
    check(day_of_the_year, np.array([1900, 2000, 2023, 2024])[:, None], np.arange(1, 13), 5)
    check(weights_in_turn, POSITIVE)


@pytest.mark.parametrize("function", [weight, product_of_a_pair], ids=lambda f: f.__name__)
def test_a_member_that_there_is_not_is_pythons_error(function: Callable[..., Any]) -> None:
    kind = "tuple" if function is weight else "list"
    for numbers in (np.arange(-3, 4), np.arange(-4, 3)):
        with pytest.raises(IndexError, match=f"{kind} index out of range"):
            pytocu.vectorize(function)(numbers)
    with pytest.raises(IndexError, match="tuple index out of range"):
        pytocu.vectorize(lambda n: ()[n])(WHOLE)

"""Positions of extremes along rows that are longer than a few elements, on a CPU: every remainder of a round of elements."""

import numpy as np
import pytest

import pytocu

pytestmark = pytest.mark.filterwarnings("ignore::pytocu.SpecializationWarning")
LENGTHS = (16, 17, 31, 64, 65, 95, 96, 97, 127, 128, 129, 191, 193, 256, 257, 1000, 1025)


@pytocu.jit
def of_rows(x):
    return np.argmax(x, axis=1), np.argmin(x, axis=1)


@pytocu.jit
def of_products(x, y):
    z = x * y
    return np.argmax(z, axis=1), z.max(axis=1), np.argmin(z - 1)


@pytocu.jit
def of_all(x):
    return np.argmax(x), np.argmin(x)


def chosen(x, mask):
    return np.argmin(x[mask]), np.argmax(x[mask])


def same(got, wanted):
    for g, w in zip(got, wanted, strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)


def rows(dtype, length, random):
    """Rows of random numbers, of equal ones, of the ends of the dtype, and with an extreme at either end."""
    x = (random.standard_normal((9, length)) * 50).astype(np.float64)
    x[1] = 0
    x[2, :-1] = 3
    x[3, 1:] = x[3, 0]
    x[4, -1], x[4, 0] = 120, -120
    x[5, length // 2 :] = x[5].max()
    made = np.abs(x).astype(dtype) if np.dtype(dtype).kind == "u" else x.astype(dtype)
    end = np.iinfo(dtype) if made.dtype.kind in "iu" else np.finfo(dtype) if made.dtype.kind == "f" else None
    if end is not None:
        made[6], made[7] = end.min, end.max
        made[8, : length // 3] = end.min
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int16", "uint32", "int64", "bool"])
def test_the_first_of_the_best_is_found_wherever_it_is(dtype):
    random = np.random.default_rng(1)
    for length in LENGTHS:
        x = rows(dtype, length, random)
        same(of_rows(x), (np.argmax(x, axis=1), np.argmin(x, axis=1)))
        # Each place once, more than one round from the other ones.
        one = np.zeros((length, length) if length < 300 else (3, length), dtype)
        np.fill_diagonal(one, True)
        same(of_rows(one), (np.argmax(one, axis=1), np.argmin(one, axis=1)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_the_first_nan_wins_and_zeros_are_equal(dtype):
    random = np.random.default_rng(2)
    for length in LENGTHS:
        x = rows(dtype, length, random)
        x[0] = np.where(random.random(length) < 0.5, -0.0, 0.0)
        for k, row in enumerate(x[1:6]):
            row[random.random(length) < 0.02 * k] = np.nan
        x[6, -1] = np.nan
        x[7] = -np.inf
        x[8] = np.inf
        x[8, length // 2 :: 7] = np.nan
        same(of_rows(x), (np.argmax(x, axis=1), np.argmin(x, axis=1)))
        x[:, 0] = np.nan
        same(of_rows(x), (np.argmax(x, axis=1), np.argmin(x, axis=1)))


def test_expressions_views_and_whole_arrays():
    random = np.random.default_rng(3)
    for shape in ((5, 40), (3, 300), (2, 70001)):
        x, y = random.random((2, *shape)).astype(np.float32)
        z = x * y
        same(of_products(x, y), (np.argmax(z, axis=1), z.max(axis=1), np.argmin(z - 1)))
        same(of_all(x[:, ::-1]), (np.argmax(x[:, ::-1]), np.argmin(x[:, ::-1])))
        same(of_all(x[:, 1::2]), (np.argmax(x[:, 1::2]), np.argmin(x[:, 1::2])))
        same(of_rows(x[:, 1::2]), (np.argmax(x[:, 1::2], axis=1), np.argmin(x[:, 1::2], axis=1)))
        x[-1, -1] = np.nan
        same(of_all(x), (np.argmax(x), np.argmin(x)))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1"])
def test_rows_whose_length_a_run_decides(dtype):
    """They may have fewer elements than there are states."""
    jitted = pytocu.jit(chosen)
    draw = np.random.default_rng(5)
    for size in (5, 40, 300):
        x = (draw.random(size) * 100).astype(dtype)
        for count in (1, 2, 15, 16, 40, 65, size):
            mask = np.isin(np.arange(size), draw.permutation(size)[:count])
            assert jitted(x, mask) == chosen(x, mask)


def test_code_for_any_lengths():
    compiled = pytocu.jit(lambda x: np.argmax(x)).lower("f8[n]").compile("cpu")
    for size in (1, 15, 16, 63, 64, 65, 200):
        x = np.random.default_rng(size).random(size)
        assert compiled(x) == np.argmax(x)

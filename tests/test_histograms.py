"""Counts by number, counts between edges, and ``ufunc.at``: the order of equal places is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(5)
PLACES = RANDOM.integers(0, 9, 300)
WEIGHTS = RANDOM.random(300) - 0.5
NUMBERS = np.r_[RANDOM.random(500) * 6 - 1, 0.0, 5.0, 2.5, np.nan]
EDGES = np.float64([0, 0.5, 0.5, 2, 4.25])


def counts(x: np.ndarray) -> Any:
    return np.bincount(x), np.bincount(x, minlength=20), np.bincount(x, minlength=2).sum()


def more_than_the_dtype_has(x: np.ndarray, w: np.ndarray) -> Any:
    return np.bincount(x), np.bincount(x, minlength=300), np.bincount(x, w)


def weighted(x: np.ndarray, w: np.ndarray) -> Any:
    return np.bincount(x, w), np.bincount(x, weights=w, minlength=12)


def by_range(x: np.ndarray) -> Any:
    return np.histogram(x, 10, (0, 5)), np.histogram(x, bins=3, range=(0.5, 2.5)), np.histogram(x, 7, (1, 1))[0]


def by_edges(x: np.ndarray, e: np.ndarray) -> Any:
    return np.histogram(x, e), np.histogram(x, bins=e, density=True)[0]


def by_no_edges(x: np.ndarray) -> Any:
    return np.histogram(x, bins=[]), np.histogram(x, [], weights=x)


def by_weights(x: np.ndarray, w: np.ndarray, e: np.ndarray) -> Any:
    return np.histogram(x, e, weights=w)[0], np.histogram(x, 5, (0.0, 3.0), weights=w)[0]


def added(a: np.ndarray, i: np.ndarray, v: np.ndarray) -> None:
    np.add.at(a, i, v)


def at_what_a_loop_finds(a: np.ndarray, n: int) -> None:
    found, others = [], []
    for i in range(n):
        if i % 3:
            found.append(i % len(a))
        others.append(0)
    np.add.at(a, found, 1.5)
    np.subtract.at(a[::2], others, np.arange(0.0, n))


def by_equal_bins(x: np.ndarray, w: np.ndarray) -> Any:
    return np.histogram(x, 10, (0.0, 1.0), weights=w), np.histogram(x, 3, (0, 6), weights=w), np.histogram(x, 20, (0, 2))


def parts_of_what_is_changed(a: np.ndarray, i: np.ndarray) -> None:
    np.add.at(a, i, a)
    np.add.at(a[1:], i[:4] % 3, a[:4] * 2)


def in_steps(a: np.ndarray, i: np.ndarray, w: np.ndarray) -> np.ndarray:
    for k in range(3):
        np.add.at(a, i, w * k + a[i])
        a = a + np.bincount(i, w, 5)
    return a


def changed(a: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
    np.subtract.at(a, i, v)
    np.maximum.at(a, i[:5], 0)
    np.multiply.at(a, i % 3, 2)
    return a.sum()


def equalised(image: np.ndarray) -> np.ndarray:
    count = np.bincount(image.ravel(), minlength=256)
    total = np.cumsum(count)
    return (total[image] * 255 // image.size).astype(np.uint8)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = [
    (counts, (PLACES,), 0),
    (counts, (np.uint8(PLACES),), 0),
    (counts, (np.zeros(0, np.int64),), 0),
    (more_than_the_dtype_has, (np.uint8([0, 255, 255, 7]), WEIGHTS[:4]), 0),
    (more_than_the_dtype_has, (np.int8([127, 0, 126, 0, 127]), WEIGHTS[:5]), 0),
    (more_than_the_dtype_has, (np.array([True, False, True]), WEIGHTS[:3]), 0),
    (more_than_the_dtype_has, (np.int16([-1, 3]), WEIGHTS[:2]), 0),
    (more_than_the_dtype_has, (np.uint64([1, 3]), WEIGHTS[:2]), 0),
    (more_than_the_dtype_has, (np.int64([1, 3]), WEIGHTS[:2]), 0),
    (counts, (np.array([3, -1, 2]),), 0),
    (weighted, (PLACES, WEIGHTS), 0),
    (weighted, (PLACES, np.int32(WEIGHTS * 9)), 0),
    (by_range, (NUMBERS,), 0),
    (by_range, (np.arange(-3, 9),), 0),
    (by_edges, (NUMBERS, EDGES), 4),
    (by_edges, (np.float32(NUMBERS), np.arange(5)), 4),
    (by_edges, (NUMBERS, EDGES[::-1].copy()), 4),
    (by_weights, (NUMBERS[:300], WEIGHTS, EDGES), 512),
    (by_edges, (NUMBERS, EDGES[:0]), 0),
    (by_edges, (NUMBERS, EDGES[:1]), 0),
    (by_weights, (NUMBERS[:300], WEIGHTS, EDGES[:0]), 512),
    (by_no_edges, (NUMBERS,), 0),
    (by_equal_bins, (NUMBERS[:300], WEIGHTS), 0),
    (by_equal_bins, (np.float32(NUMBERS[:300]), np.float32(WEIGHTS)), 0),
    (by_equal_bins, (np.arange(300) % 7, np.arange(300)), 0),
    (by_equal_bins, (np.arange(300) % 11 * 0.1, np.int8(np.arange(300) % 5)), 0),
    (by_equal_bins, (np.zeros(0), np.zeros(0)), 0),
    (added, (np.zeros(9), PLACES, WEIGHTS), 0),
    (added, (np.zeros(18)[::2], PLACES, WEIGHTS), 0),
    (added, (np.zeros(9)[::-1], np.uint8(PLACES), WEIGHTS), 0),
    (added, (np.zeros(9), PLACES[:1], WEIGHTS[:1]), 0),
    (added, (np.zeros(9), PLACES[:0], WEIGHTS[:0]), 0),
    (added, (np.zeros(9), PLACES[:0], np.float64(3)), 0),
    (added, (np.zeros(0), PLACES[:0], WEIGHTS[:0]), 0),
    (added, (np.zeros(9), np.array([0, 8, -10]), WEIGHTS[:3]), 0),
    (added, (np.zeros(9, np.int8), PLACES, np.int8(100)), 0),
    (added, (np.zeros(9, np.float16), PLACES, np.float16(WEIGHTS)), 0),
    (added, (np.zeros(9, np.complex64), PLACES, np.complex64(WEIGHTS * 1j)), 0),
    (added, (np.zeros(9, bool), PLACES, WEIGHTS > 0.5), 0),
    (parts_of_what_is_changed, (np.arange(9.0), PLACES[:9]), 0),
    (in_steps, (np.arange(5.0), PLACES % 5, WEIGHTS), 0),
    (added, (np.ones(9, np.float32), PLACES - 9, np.float32(WEIGHTS)), 0),
    (added, (np.arange(9), PLACES.reshape(100, 3), 2), 0),
    (added, (np.zeros(9, np.complex128), PLACES, WEIGHTS * 1j), 0),
    (added, (np.arange(9.0), -2, np.float64(3)), 0),
    (at_what_a_loop_finds, (np.arange(9.0), 14), 0),
    (at_what_a_loop_finds, (np.arange(9.0), 0), 0),
    (changed, (np.arange(9.0) - 4, PLACES, WEIGHTS), 8),
    (equalised, (RANDOM.integers(0, 200, (16, 20)).astype(np.uint8),), 0),
]


@pytest.mark.parametrize(("function", "arguments", "ulp"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_numpys_answer(function: Callable[..., Any], arguments: tuple[Any, ...], ulp: float) -> None:
    everywhere(function, *arguments, ulp=ulp)


def test_an_index_out_of_bounds() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 9"):
        pytocu.jit(added)(np.zeros(9), np.array([0, 9]), np.ones(2))


def test_nothing_is_changed_where_an_index_is_out_of_bounds() -> None:
    a = np.zeros(9)
    with pytest.raises(IndexError):
        pytocu.jit(added)(a, np.array([0, 1, -10, 2]), np.ones(4))
    assert not a.any()


def test_read_only() -> None:
    a = np.zeros(9)
    a.flags.writeable = False
    everywhere(added, a, PLACES, WEIGHTS)


def test_a_cpu_combines_in_one_loop() -> None:
    low = pytocu.jit(added).lower(np.zeros(9), PLACES, WEIGHTS)
    assert low.compile("cpu").plan.library_calls() == ()
    assert low.compile("cuda:sm_90").plan.library_calls() == ("argsort",)


def test_refused_with_what_to_write() -> None:
    for function, said in (
        (lambda a, i, v: np.add.at(a, i, v.astype(np.float64)), r"computes in float64 and rounds to float32 at every step"),
        (lambda a, i, v: np.add.at(a, i, 0.1), r"computes in float64 and rounds to float32 at every step"),
        (lambda a, i, v: np.hypot.at(a, i, v), r"np.hypot.at is not compiled"),
        (lambda a, i, v: np.histogram(v, "auto"), r"bins='auto' is not compiled"),
    ):
        with pytest.raises(UnsupportedError, match=said):
            pytocu.jit(function)(np.zeros(9, np.float32), PLACES, np.float32(WEIGHTS))


def test_cubins() -> None:
    builds(weighted, PLACES, WEIGHTS)
    builds(added, np.zeros(9, np.complex128), PLACES, WEIGHTS * 1j)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("number", [1, -3, 300, 0.5])
def test_python_numbers_are_arrays_for_at(dtype: str, number: Any) -> None:
    """NumPy does not adapt a Python number to the dtype here: it takes the loop of its default dtype, then the low bits."""

    def add(a: Any, i: Any) -> None:
        np.add.at(a, i, number)

    a = np.array([3, 100, 50, 7]).astype(dtype) + np.array(100 if dtype == "i1" else 0, dtype)
    i, changed, expected = np.array([0, 1, 1, 3, 0]), a.copy(), a.copy()
    add(expected, i)
    if (dtype == "u8" or number == 0.5) and a.dtype.kind in "iu":
        with pytest.raises(UnsupportedError, match="computes in float64"):
            pytocu.jit(add)(changed, i)
        return
    pytocu.jit(add)(changed, i)
    compare(changed, expected)


def addends_of_a_step(x: Any, n: int) -> Any:
    made = np.zeros(4)
    for i in range(n):
        made = made * 0.5 + np.histogram(x * i, bins=4, range=(-2, 6), weights=x * i + 0.5)[0]
    return made


def a_step_searches(table: Any, n: int) -> Any:
    z = np.linspace(-2, 8, 7)
    for _ in range(n):
        table = table * 0.5
        z = z * 0.5 + np.searchsorted(table, z)
    return z


@pytest.mark.parametrize("function", [addends_of_a_step, a_step_searches])
def test_a_step_searches_what_it_made(function: Callable[..., Any]) -> None:
    x = np.arange(7.0)
    everywhere(function, x, 3)


@pytest.mark.parametrize("function", [lambda x: np.bincount(x), lambda x: np.bincount(x, x * 0.5)], ids=["counts", "weights"])
@pytest.mark.parametrize("number", [2**28, 2**63 - 1])
def test_numbers_that_are_too_large(function: Callable[..., Any], number: int) -> None:
    with pytest.raises(pytocu.CompileError, match="the result would have"):
        pytocu.jit(function)(np.array([1, number]))


def test_what_a_step_of_a_loop_combines() -> None:
    """The numbers of the steps, Python's, are those of a kernel around a loop that combines one value after the other."""

    def function(x, count):
        sums = np.zeros(5)
        for k in range(count):
            np.add.at(sums, np.arange(x.size) % 5, x * k)
        return sums

    for count in (0, 3):
        given = np.arange(7, dtype=np.uint16), count
        compare(pytocu.jit(function)(*given), function(*given))


def of_every_number(x: np.ndarray, w: np.ndarray) -> Any:
    count = np.bincount(x.ravel(), minlength=256)
    return count, np.bincount(x.ravel(), w.ravel(), 300), count[x], np.arange(255)[x // 2]


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.int8, np.uint16])
def test_numbers_that_are_all_counted(dtype: Any) -> None:
    """Of a dtype whose numbers all have bins nothing is read back, and each is a position of the counts."""
    x, w = RANDOM.integers(0, 127, (6, 7)).astype(dtype), RANDOM.random((6, 7))
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
        if dtype is not np.bool_:
            everywhere(of_every_number, given, w[: len(given)])
    steps = [step[0] for step in pytocu.jit(lambda x: np.bincount(x, minlength=256)).lower(x.ravel()).compile("cpu").plan.steps]
    assert ("read_length" in steps) == (dtype in (np.int8, np.uint16))


def masked(a, m, v):
    np.add.at(a, m, v)
    np.maximum.at(a, a > 1, 2)
    return a[a > 0]


def a_mask_beside_positions(a, m):
    np.add.at(a, (m, 1), 1.5)
    np.subtract.at(a, (slice(None), a[0] > 0), 0.5)
    return a


@pytest.mark.parametrize("v", [2, np.arange(9) - 3, np.arange(4)], ids=str)
def test_masks_name_no_element_twice(v: Any) -> None:
    a = np.arange(9) - 4
    everywhere(masked, a, a > 0, v)
    everywhere(masked, a, a[:3] > 0, v)


def test_masks_of_some_axes() -> None:
    a = RANDOM.random((5, 3)) - 0.5
    everywhere(masked, a, a > 0, 1.0)
    everywhere(masked, a, a[:, 0] > 0, np.arange(3))
    everywhere(a_mask_beside_positions, a, a[:, 0] > 0)


def test_an_array_of_edges_is_handed_back() -> None:
    assert pytocu.jit(lambda x, e: np.histogram(x, e))(NUMBERS[:500], EDGES)[1] is EDGES

"""What a mask chooses as arrays: elements and positions, whose number the host reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.core import walk
from pytocu.ir.verifier import STAGE_RULES, verify
from pytocu.testing.compare import compare

LONG = np.linspace(-3, 4, 1000)
SMALL = np.float32([[1, -2, 3], [-4, 5, -6], [7, 8, -9], [0, 1, 2]])
ROWS = np.array([True, False, True, True])


def chosen(x: np.ndarray) -> np.ndarray:
    return x[x > 0]


def chosen_rows(x: np.ndarray, m: np.ndarray) -> Any:
    return x[m], x[m, 1], x[m, 1:], x[:, x[0] > 0]


def positions(x: np.ndarray) -> Any:
    return np.where(x > 0), np.nonzero(x), np.flatnonzero(x < 0), np.argwhere(x > 1)


def lengths(x: np.ndarray) -> Any:
    y = x[x > 0]
    return y.size, len(y), y.shape, y.shape[0] * 2, np.arange(y.size)


def worked_on(x: np.ndarray, y: np.ndarray) -> Any:
    m = x > 0
    a, b = x[m], y[m]
    c = np.concatenate([a, b * 2])
    return a[::-1] - b, c, np.cumsum(a > 1), a[0], b[-1], np.argmax(a), a[1:] - a[:-1]


def after_a_change(x: np.ndarray) -> Any:
    y = x[x > 0]
    x[...] = 0
    return y, y[1:]


def changed_elements(x: np.ndarray) -> Any:
    y = x[x > 0]
    y[0] = 100
    y[1:] += 1
    return y, y.sum()


def used_twice(x: np.ndarray) -> Any:
    y = x[x > 0]
    z = x[x > 3]
    z[z > 5] = 0
    return y[y > 1], y[y < 1].sum(), z


def from_another(x: np.ndarray, y: np.ndarray) -> None:
    x[x > 0] = y[x > 0][::-1]


def by_condition(x: np.ndarray, c: np.ndarray) -> Any:
    return np.compress(c, x, 0), x.compress(c, axis=0), np.extract(x > 1, x)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chosen, (LONG,)),
    (chosen, (SMALL,)),
    (chosen, (SMALL.T,)),
    (chosen, (-np.abs(LONG),)),
    (chosen, (np.zeros((0, 3)),)),
    (chosen, (np.float16(SMALL),)),
    (chosen, (np.arange(-5, 3000, dtype=np.int8),)),
    (chosen_rows, (SMALL, ROWS)),
    (positions, (LONG,)),
    (positions, (SMALL,)),
    (positions, (np.arange(24).reshape(2, 3, 4) % 5 - 2,)),
    (lengths, (LONG,)),
    (worked_on, (LONG, np.arange(1000))),
    (after_a_change, (LONG,)),
    (changed_elements, (np.arange(-5, 30),)),
    (used_twice, (np.arange(-5, 30),)),
    (from_another, (LONG, np.arange(1000.0))),
    (by_condition, (SMALL, ROWS)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_numpys_elements_and_positions(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    everywhere(function, *arguments)


def test_one_code_for_any_number_of_elements() -> None:
    jitted = pytocu.jit(chosen)
    for x in (LONG, LONG - 3.9, LONG + 9, LONG * 0):
        np.testing.assert_array_equal(jitted(x), chosen(x))
    assert len(jitted.specializations) == 1


def test_a_single_element_is_not_repeated() -> None:
    def added(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x[x > 0] + y

    with pytest.raises(pytocu.UnsupportedError, match="a length known only at run time is 1"):
        pytocu.jit(added)(np.arange(-3.0, 2), np.ones(4))
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(4,\)"):
        pytocu.jit(added)(np.arange(-3.0, 4), np.ones(4))
    everywhere(added, np.arange(-3.0, 4), np.ones(3))
    everywhere(added, np.arange(-3.0, 2), np.ones(1))


def summed(x: np.ndarray, y: np.ndarray) -> Any:
    return np.sum(y, where=x[x > 0] > 0)


def copied(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    np.copyto(y, 3, where=x[x > 0] > 0)
    return y


def placed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    y[np.array([0, 1])] = x[x > 0]
    return y


@pytest.mark.parametrize("function", [summed, copied, placed])
def test_a_single_element_of_a_mask_is_not_repeated(function: Any) -> None:
    everywhere(function, np.arange(-3.0, 3), np.ones(2))
    compiled = pytocu.jit(function)
    for x in (np.arange(-3.0, 4), np.zeros(3)):
        with pytest.raises(ValueError):
            compiled(x, np.ones(2))
    with pytest.raises(UnsupportedError, match="a length known only at run time is 1"):
        compiled(np.arange(-3.0, 2), np.ones(2))


def taken(x: np.ndarray, m: np.ndarray) -> np.ndarray:
    return x[m]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 1.0])
def test_masks_in_pieces(share: float) -> None:
    """Blocks of a GPU walk through pieces of a mask; runs of it lie at the end of a piece, and at addresses that do not fit."""
    draw = np.random.default_rng(1)
    for size in (16385, 32783):
        x, m = draw.random(size, dtype=np.float32), draw.random(size) < share
        everywhere(taken, x, m)
        everywhere(lambda x, m: x[1:][m[:-1]], x, m)


def test_what_is_made_of_masks_in_pieces() -> None:
    x = np.random.default_rng(2).random(20000)
    everywhere(lambda x: (x[x > 0.5] * 2 + np.flatnonzero(x > 0.5), x[x < 0.1][::-1]), x)
    everywhere(lambda x: (np.nonzero(x > 0.7), x[x > 0.2]), x.reshape(100, 200))
    everywhere(taken, np.asfortranarray(x.reshape(100, 200)), np.asfortranarray(x.reshape(100, 200) > 0.5))
    everywhere(taken, x.reshape(20000, 1).repeat(2, 1), x > 0.5)
    launches = [i for i in walk(pytocu.jit(taken).lower(x, x > 0.5).host("cuda").body) if i.op.name == "launch"]
    assert [i.attr("schedule") for i in launches].count("compaction") == 1
    builds(taken, x, x > 0.5)


def test_code_for_any_lengths() -> None:
    """Ahead of time, where no call says how long arrays are."""
    for types in (("f32[n]",), ("f32[n, m]",), ("f64[n; S]",)):
        for target in ("cpu", "cuda"):
            verify(pytocu.jit(chosen).lower(*types).host(target), STAGE_RULES)
    compiled = pytocu.jit(chosen).lower("f64[n]").compile("cpu")
    np.testing.assert_array_equal(compiled(LONG), chosen(LONG))
    bins = pytocu.jit(lambda i, w: np.bincount(i, w)).lower("i64[n]", "f64[n]")
    for target in ("cpu", "cuda"):
        verify(bins.host(target), STAGE_RULES)


def test_cubins() -> None:
    builds(chosen, LONG)
    builds(positions, SMALL)


@pytest.mark.parametrize("a", [np.zeros(3), np.array([1.0, 0, 0]), np.array([1.0, 2, 0])])
@pytest.mark.parametrize("size", [2, 3])
def test_chosen_elements_beside_lengths_that_are_one(a: np.ndarray, size: int) -> None:
    """Lengths of the arguments that happen to be 1 broadcast, also to no elements at all."""
    b = np.full((size, size), 3.0)
    everywhere(lambda a, b: b[:, :1] - a[a > 0], a, b)
    if size == 2:
        everywhere(lambda a, b: np.maximum(b[:, 1:], a[a > 0]), a, b)
        everywhere(lambda a, b: np.where(a[a > 0] > 1, b[1:, 1:], 0), a, b)


def test_no_chosen_elements_beside_one() -> None:
    with pytest.raises(UnsupportedError, match=r"known only at run time is 1, .* \(1,\) and \(0,\)"):
        pytocu.jit(lambda a, b: a[a > 0] + b[b > 5])(LONG[-1:], LONG)


def lengths_in_two_loops(x: Any, n: int) -> Any:
    total = np.float64(0)
    for i in range(n):
        b = x[x > 0.3 * i]
        for j in range(n):
            c = x[x > 0.1 * j]
            total += len(c) + 0.01 * len(b)
    return total


def positions_of_a_mask_from_before(x: Any, n: int) -> Any:
    mask, y = x > 0, x * 1.0
    for _ in range(n):
        y = y + len(x[mask]) + y.sum()
    return y, x[mask]


def a_branch_asks_for_the_elements(x: Any, n: int) -> Any:
    mask = x > 0
    total = np.float64(len(x[mask])) if n > 1 else x[mask].sum()
    return total, x[mask]


def steps_change_chosen_elements(x: Any, n: int) -> Any:
    a = x[x > 0]
    for i in range(n):
        a[0] = i + 0.5
    return a


def a_branch_changes_chosen_elements(x: Any, n: int) -> Any:
    a = x[x > 0]
    if n > 1:
        a[0] = 0.5
    return a


def only_the_length_is_used(x: Any, n: int) -> Any:
    total = np.float64(0)
    for i in range(n):
        total = total + len(x[x > i])
    return total


@pytest.mark.parametrize(
    "function",
    [lengths_in_two_loops, positions_of_a_mask_from_before, a_branch_asks_for_the_elements, steps_change_chosen_elements,
     a_branch_changes_chosen_elements, only_the_length_is_used],
)  # fmt: skip
def test_lengths_that_are_read_in_loops_and_branches(function: Callable[..., Any]) -> None:
    """What a region computes is known in it only, and its lengths have names of their own."""
    x = np.linspace(-1, 1, 9)
    for n in (0, 1, 3):
        everywhere(function, x, n)


def test_positions_in_what_a_mask_chose() -> None:
    """The positions are those in the chosen elements, not in the array that they are chosen from."""

    def again(x: np.ndarray) -> Any:
        y = x[x > 0]
        w = np.where(y > 2)
        return w, y[w], np.where(x[np.where(x != 0)] < 1), np.nonzero(y > 2)

    everywhere(again, LONG)
    everywhere(again, SMALL)


def test_numbers_that_are_computed_from_a_length_that_was_read() -> None:
    def sweep(x: np.ndarray, count: int) -> Any:
        y = np.arange(x[x > 0].size)
        for j in range(1, min(y.shape[-1], abs(count))):
            y[..., j] = np.maximum(y[..., j], y[..., j - 1] * 2)
        return y

    def part(x: np.ndarray, count: int) -> Any:
        y = x[:, : count % 3]
        return np.arange(y[y != 2].size), y[y > 0]

    for count in (-1, 0, 3, 100):
        everywhere(sweep, SMALL, count)
        everywhere(part, SMALL, count)


@pytest.mark.parametrize("often", [0.0, 0.001, 0.1, 0.5, 0.97, 1.0])
def test_positions_are_found_from_the_last_one_on(often: float) -> None:
    """On a CPU a search begins where the one before it ended, which is behind the answer where an inner axis begins again."""
    draws = np.random.default_rng(5)
    x = draws.random(70_001)
    compare(pytocu.jit(lambda x, p: (x[x < p], np.nonzero(x < p)[0]))(x, often), (x[x < often], np.nonzero(x < often)[0]))
    small, columns, counts = draws.random((7, 130)), draws.random(130) < often, draws.integers(0, 3, 130)

    def inner(x: np.ndarray, m: np.ndarray, counts: np.ndarray) -> Any:
        repeated = np.repeat(x[0], counts), np.repeat(x, counts, axis=1)
        return x[:, m], x[:, m] + x[:, m][::-1], repeated, np.nonzero(x[:, m] > 0.5)

    everywhere(inner, small, columns, counts)


def test_counts_of_bools_are_int32_where_they_fit() -> None:
    def counted(x: np.ndarray) -> Any:
        return (x > 0).sum(), x[x > 0], np.count_nonzero(x > 1, axis=0), np.sum(x > 0, dtype=np.int64)

    lowered = pytocu.jit(counted).lower(LONG)
    text = lowered.ir("fuse")
    assert "reduce" in text and "i64[x_0]" not in text.replace("i64[x_0] (", ""), text
    everywhere(counted, LONG)
    everywhere(counted, np.zeros(0))


def test_positions_before_a_loop_that_returns() -> None:
    """What is looked for in counts that are kept as int32 may be numbers that only a region knows."""

    def both(x: np.ndarray, m: np.ndarray) -> Any:
        chosen = m[np.where(~m)]

        def step(a: np.ndarray) -> Any:
            k = 0
            while k < 4:
                if (a > 3).all():
                    return a
                k += 1

        return chosen, step(x[:, ::-1])

    for x, m in ((np.ones((1, 1)), np.ones((1, 1), bool)), (np.full((2, 3), 4.0), np.zeros((2, 3), bool))):
        expected = both(x, m)
        compare(pytocu.jit(both)(x, m), expected)


def test_numbers_that_are_no_int32_are_looked_for_in_counts() -> None:
    def places(m: np.ndarray, far: int) -> Any:
        counts, numbers = np.cumsum(m), np.arange(len(m)) + far
        return np.searchsorted(counts, numbers), np.searchsorted(counts, numbers, side="right")

    mask = np.array([True, False, True, True, False])
    for far in (0, 1, -2, 2**31 - 3, 2**32, 2**40, -(2**32) + 1):
        everywhere(places, mask, far)
    for constant in (lambda m: np.searchsorted(np.cumsum(m), np.arange(len(m)) + 2**32),
                     lambda m: np.searchsorted(np.cumsum(m), np.arange(len(m)) - 2**33)):  # fmt: skip
        everywhere(constant, mask)


def test_counts_that_libraries_sort_stay_int64() -> None:
    def ordered(m: np.ndarray) -> Any:
        counts = np.cumsum(m)
        return np.sort(counts)[::-1], np.median(counts), np.searchsorted(counts, [1, 2]), m[m]

    everywhere(ordered, np.array([True, False, True, True, False]))

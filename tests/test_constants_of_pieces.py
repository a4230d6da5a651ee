"""Constants that several pieces of a function share stand in each of them, where its passes look for them."""

import numpy as np

import pytocu


def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[0:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if prime[i]:
            prime[i * i : n + 1 : i] = False
    return np.where(prime)[0]


def test_positions_behind_a_loop_are_found_by_walking_through_the_mask() -> None:
    lowered = pytocu.jit(sieve).lower("weak int")
    assert "compaction" in lowered.ir("fuse", target="cpu")
    for n in (1, 30, 10_000):
        np.testing.assert_array_equal(pytocu.jit(sieve)(n), sieve(n))


def nearest_first(x):
    left, order = np.ones(len(x), bool), []
    while left.any():
        at = np.where(left)[0]
        nearest = at[(x[at] > 1).sum() - 1]
        order.append(nearest)
        left[nearest] = False
    return np.array(order)


def one_of_the_chosen(x):
    at = np.where(x > 0)[0]
    return at[(x[at] > 1).sum()], x[at]


def test_positions_are_read_at_other_places_too() -> None:
    x = np.array([3.0, -1.0, 2.0, 5.0, 0.5])
    np.testing.assert_array_equal(pytocu.jit(nearest_first)(x), nearest_first(x))
    place, chosen = pytocu.jit(one_of_the_chosen)(x)
    assert place == 4 and type(place) is np.int64
    np.testing.assert_array_equal(chosen, x[x > 0])


def whole_masks_change(x):
    mask, y, total = x > 0, x.copy(), 0
    for i in range(len(x)):
        at = np.flatnonzero(mask)
        mask[:] = ~mask
        mask[i] = True
        y[at] += y[mask].sum()
        total += at.sum()
    return mask, y, total


def test_a_mask_that_changes_behind_the_positions() -> None:
    for n in (1, 5, 40):
        x = np.random.default_rng(n).normal(size=n)
        for got, expected in zip(pytocu.jit(whole_masks_change)(x), whole_masks_change(x), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12)

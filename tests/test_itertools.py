"""`itertools`: what it gives of known members, and products of ranges and arrays of run time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.array([0.5, -1, 2, 3.0, 7.0])


def neighbours(x, n):
    total = 0.0
    for i, j in product((-1, 0, 1), repeat=2):
        if i or j:
            total += x[i] * j
    return total, [*product((x[0], x[1]), (1, 2))], list(product(range(2), repeat=0)), list(product())


def pairs(x, n):
    out = np.zeros((n, n))
    for i, j in product(range(n), repeat=2):
        out[i, j] = x[i] - 2 * x[j]
    return out


def windows(x, n):
    out = np.zeros((n * 3, 2))
    for row, (i, j) in enumerate(product(range(n), range(1, 7, 2))):
        out[row] = x[i], j
    return out


def backwards(x, n):
    seen = []
    for i, v, j in product(range(n - 1, -2, -2), x, range(2, n)):
        seen.append(100 * i + v + 10 * j)
    return np.array(seen)


def of_known(x, n):
    made = list(itertools.combinations(range(3), 2)), list(itertools.permutations((1, 2, 3))), [*itertools.chain([1], (2, 3))]
    total = 0.0
    for i, j in itertools.pairwise((0, 2, 3)):
        total += x[i] * x[j]
    for rows in itertools.combinations_with_replacement([x, x + 1], r=2):
        total += rows[0][0] * rows[1][1]
    return made, [a * b for a, b in itertools.permutations([x, x + 1, x + 2], 2)], total


@pytest.mark.parametrize("function", [neighbours, pairs, windows, backwards, of_known])
@pytest.mark.parametrize("n", [3, 1, 0, 5])
def test_numpys_answer(function: Callable[..., Any], n: int) -> None:
    if function is backwards and n < 3:
        # Where no step appends, a list is one of float64.
        n += 3
    compare(pytocu.jit(function)(X, n), function(X, n))


def halved(x, n):
    for k in itertools.count():
        x = x / 2
        if abs(x).max() < n * 0.01 or k > 20:
            break
    return x, k


def counted_down(x, n):
    total = 0
    for k in itertools.count(n, -2):
        total += k
        if k < -5:
            return total, k


def first_above(x, n):
    for k in range(10**12):
        if k * k > n:
            return k


def weighted(x, n):
    total, out = 0.0, []
    for k, v, w in zip(itertools.count(n), x, itertools.repeat(n)):
        total += k * v + w
        out.append(v * k)
    for _ in itertools.repeat(None, n):
        total *= 1.5
    return total, out, [*itertools.repeat(n, 2)]


def in_part(x, n):
    total = 0.0
    for v in itertools.islice(x, 1, None, 2):
        total += v
    return total, [*itertools.islice(range(9), 2, 8, 3)], [*itertools.zip_longest((1, 2, 3), (x[0],), fillvalue=n)]


@pytest.mark.parametrize("function", [halved, counted_down, first_above, weighted, in_part])
@pytest.mark.parametrize("n", [1, 4])
def test_counts_without_an_end_and_parts(function: Callable[..., Any], n: int) -> None:
    compare(pytocu.jit(function)(X, n), function(X, n))


def of_negative_lengths(x, n):
    total = 0.0
    for i, j in product(range(n), range(n)):
        total += x[i] * j
    return total


def test_ranges_without_numbers_have_no_step() -> None:
    jitted = pytocu.jit(of_negative_lengths)
    for n in (-2, 0, 3):
        compare(jitted(X, n), of_negative_lengths(X, n))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, n: list(itertools.combinations(range(n), 7)), "itertools.combinations of 7 goes over a number of steps"),
        (lambda x, n: list(product(range(n), [x, x])), "itertools.product of a list and of what is known only"),
        (lambda x, n: list(itertools.permutations(range(7))), "more than 1024 members of itertools"),
        (lambda x, n: list(itertools.accumulate(x)), "itertools.accumulate is not compiled"),
        (lambda x, n: list(itertools.count(0.5)), "itertools.count of other steps than ints"),
        (lambda x, n: list(itertools.count(1, 0)), "itertools.count of other steps than ints"),
        (lambda x, n: list(product(range(3), repeat=n)), "repeat= must be known while compiling"),
    ],
)
def test_what_is_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(function)(X, 3)
    assert said in str(caught.value) and caught.value.help


def members_that_change(x):
    total = 0.0
    for k, (a, b) in enumerate(product(x, repeat=2)):
        x[1] += 1
        x[0] -= 0.5
        total += a * b * k
    return total, x


def rows_that_change(x):
    total = np.zeros(len(x[0]))
    for a, k in product(x, range(2)):
        x[1] += k
        total += a
    return total, x


@pytest.mark.parametrize(("function", "shape"), [(members_that_change, (4,)), (rows_that_change, (4, 2))])
def test_product_has_the_numbers_of_when_it_is_called(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    same = x.copy()
    compare(pytocu.jit(function)(x), function(same))
    compare(x, same)


def test_the_way_out_for_members_of_a_run() -> None:
    others = lambda x: itertools.pairwise(enumerate(x)), lambda x: itertools.combinations(enumerate(x), 2)
    for made, said in zip(others, ("x[i], x[i + 1]", "x[i], x[j]"), strict=True):
        with pytest.raises(UnsupportedError) as caught:
            pytocu.jit(lambda x, made=made: [a[1] + b[1] for a, b in made(x)])(X)
        assert said in (caught.value.help or "")


def closest(x, n):
    best, pair = np.inf, None
    for i, j in itertools.combinations(range(len(x)), 2):
        if abs(x[i] - x[j]) < best:
            best, pair = abs(x[i] - x[j]), (i, j)
    return best, pair


def products_of_pairs(x, n):
    out = []
    for k, (a, b) in enumerate(itertools.combinations(x, 2)):
        out.append(a * b)
        x[k % len(x)] += n
    return out, x


def places_of_pairs(x, n):
    return list(itertools.combinations(range(n, 1, -2), 2)), sum(i * j for i, j in itertools.combinations(range(n), 2))


def first_pair_above(x, n):
    for a, b in itertools.combinations(x, 2):
        if a + b > n:
            break
    else:
        return x[0] * 0
    return a - b


def triangles(x, n):
    points = np.stack([x, x * x], axis=1)
    area = 0.0
    for a, b, c in itertools.combinations(points, 3):
        area += abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    return area, list(itertools.combinations(range(len(x), n, -2), 3))


def three_that_add_up(x, n):
    for k, (a, b, c) in enumerate(itertools.combinations(x, 3)):
        if a + b + c == n:
            return k
    return -1


def four_that_add_up(x, n):
    for k, (a, b, c, d) in enumerate(itertools.combinations(x, 4)):
        if a + b + c + d == n:
            return k
    return -1


def choices_of_five_and_six(x, n):
    total = 0.0
    for a, *others in itertools.combinations(x, 5):
        total = total * 0.5 + a * others[-1] - others[1]
    return total, list(itertools.combinations(range(n, -1, -1), 6))


def runs_of_one_sign(x, n):
    found, long = [], 1
    for a, b in itertools.pairwise(x):
        if (a > 0) == (b > 0):
            long += 1
        else:
            found.append((a, long))
            long = 1
    return found, long, [b - a for a, b in itertools.pairwise(range(n))]


def trapezoids(x, n):
    total = 0.0
    for (a, b), (s, t) in zip(itertools.pairwise(x), itertools.pairwise(x * n), strict=False):
        total += (a + b) * (t - s)
    return total, sum(abs(b - a) for a, b in itertools.pairwise(x))


def rows_that_add_up(x, n):
    rows = x.reshape(-1, 1) + np.arange(2.0)
    for a, b in itertools.pairwise(rows):
        b += a
    for a, b in itertools.combinations(rows, 2):
        b -= a
    return rows


@pytest.mark.parametrize(
    "function",
    [
        closest, products_of_pairs, places_of_pairs, first_pair_above, runs_of_one_sign, trapezoids, rows_that_add_up,
        triangles, three_that_add_up, four_that_add_up, choices_of_five_and_six,
    ],
)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
def test_pairs_of_members_of_a_run(function: Callable[..., Any], count: int) -> None:
    x = np.random.default_rng(count).integers(-4, 5, count).astype(float)
    jitted = pytocu.jit(function)
    for n in (-1, 0, 1, 2, 7):
        if count == 0 and function is first_pair_above:
            continue
        ours, theirs = x.copy(), x.copy()
        compare((jitted(ours, n), ours), (function(theirs, n), theirs))


def sums_of_threes(n):
    firsts, lasts, before = 0, 0, -1
    in_order = True
    for i, j, k in itertools.combinations(range(n), 3):
        firsts, lasts = firsts + i * j, lasts + k
        place = (i * n + j) * n + k
        in_order = in_order and i < j < k and place > before
        before = place
    return firsts, lasts, in_order


def test_many_threes_are_all_different() -> None:
    for n in (3, 40, 120):
        assert pytocu.jit(sums_of_threes)(n) == sums_of_threes(n)


def sums_of_fives(n):
    sums = [0] * 5
    for count, (a, b, c, d, e) in enumerate(itertools.combinations(range(n), 5)):
        sums[0] += a * b
        sums[1] += b * c
        sums[2] += c * d
        sums[3] += d * e
        sums[4] += count * e
    return sums


def test_many_fives_are_in_order() -> None:
    for n in (4, 5, 6, 26):
        assert pytocu.jit(sums_of_fives)(n) == sums_of_fives(n)


def pairs_that_change(x):
    for i, (a, b) in enumerate(itertools.pairwise(x)):
        x[i + 1] = a + b
    return x


def pairs_held_by_hand(x):
    a = x[0]
    for i in range(1, len(x)):
        b = x[i]
        x[i] = a + b
        a = b
    return x


def test_pairs_that_the_steps_change_are_refused_with_what_to_write() -> None:
    with pytest.raises(UnsupportedError, match="change that array") as caught:
        pytocu.jit(pairs_that_change)(X.copy())
    assert caught.value.help == "hold the first of a pair: a = x[0]; for i in range(1, len(x)): b = x[i]; ...; a = b"
    compare(pytocu.jit(pairs_held_by_hand)(X.copy()), pairs_that_change(X.copy()))

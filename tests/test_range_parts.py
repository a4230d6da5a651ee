"""Ranges whose bounds only a run knows: members, slices, ``in``, ``len`` and ``sum``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

X = np.array([5.0, 3.0, 9.0, 1.0, 7.0, 2.0])


def gone_over(a, b, s, c):
    total = 0
    for i in range(a, b, s)[c:]:
        total = 3 * total + i
    for i in range(a, b, s)[:c:-1]:
        total = 3 * total + i
    for i in range(a, b, s)[c::2]:
        total = 3 * total + i
    return total


def asked(a, b, s, c):
    r = range(a, b, s)
    return c in r, c not in r, len(r), len(r[c:]), len(r[:c:-1]), sum(r), sum(r[c:], 2)


def one(a, b, s, c):
    return range(a, b, s)[c]


@pytest.fixture(scope="module", params=[gone_over, asked, one])
def both(request: pytest.FixtureRequest) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return request.param, pytocu.jit(request.param)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 5), (2, 7), (7, -4)])
def test_all_of_them(both: Any, a: int, b: int) -> None:
    function, compiled = both
    for s, c in itertools.product((1, 2, -1, -3), (0, 1, 3, -1, -9)):
        try:
            wanted = function(a, b, s, c)
        except IndexError as error:
            with pytest.raises(IndexError, match=f"^{error}"):
                compiled(a, b, s, c)
        else:
            compare(compiled(a, b, s, c), wanted)


def of_steps_known_now(x, n, k):
    total = 0.0
    for i in range(n)[:k]:
        total += x[i]
    for i in range(n)[::-1]:
        total = total / 2 + x[i]
    for i in range(1, n, 2)[k:-1]:
        total = total / 2 + x[i]
    return total, range(n)[-1], range(2, 9, 3)[:k][0], k in range(1, 8, 2), True in range(n), np.int8(k) in range(n)


def positions(x, n, k):
    return x[range(n)[k]], x[range(n)[k:]], list(range(n)[1:]), np.arange(n)[range(6)[:k]]


def inner(x, n, k):
    x = x.copy()
    for i in range(len(x))[1:-1]:
        x[i] += x[i - 1] * x[i + 1]
    for i in reversed(range(len(x))[:k]):
        x[i] += x[i + 1]
    for i, j in zip(range(n)[1:], range(n)[:-1], strict=False):
        x[i] += x[j]
    for i in range(n):
        for j in range(i)[:2]:
            x[j] -= i
    return x


@pytest.mark.parametrize("function", [of_steps_known_now, positions, inner])
@pytest.mark.parametrize(("n", "k"), [(6, 3), (4, 1), (2, 1)])
def test_in_programs(function: Callable[..., Any], n: int, k: int) -> None:
    compare(call_interpreted(function, X, n, k), function(X, n, k))
    compare(pytocu.jit(function)(X, n, k), function(X, n, k))


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("range(n)[1.5]", TypeError, "range indices must be integers or slices, not float"),
        ("range(n)['a']", TypeError, "range indices must be integers or slices, not str"),
        ("range(n)[::0]", ValueError, "slice step cannot be zero"),
        ("range(n)[:1.5]", TypeError, "slice indices must be integers or None or have an __index__ method"),
        ("range(n)[::n]", UnsupportedError, "a slice of a range with a step that is known only at run time"),
        ("range(n)[1:].stop", UnsupportedError, "stop of a range that is known only at run time"),
        ("1.0 in range(n)", UnsupportedError, r"whether(?s:.)*compare it with the bounds"),
        ("zip(range(n), x)[0]", TypeError, "an iterator is not subscriptable"),
        ("range(n)", UnsupportedError, "the function returns a range that is known only at run time"),
    ],
)
def test_what_is_refused(text: str, error: type[Exception], sentence: str) -> None:
    function = make_function("xn", [text], {"np": np})
    with pytest.raises(error, match=sentence):
        pytocu.jit(function)(X, 4)


def test_a_list_without_members_has_no_first_one() -> None:
    def function(n, k):
        made = [i * i for i in range(n)]
        return made[k]

    compiled = pytocu.jit(function)
    assert compiled(3, 0) == 0
    with pytest.raises(IndexError, match=r"^list index out of range"):
        compiled(0, 0)

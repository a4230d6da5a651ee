"""Lists that loops of run time make and that the function returns: of tuples, of arrays, twice, beside others."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.interp import arrange, run

X = np.array([1.0, 2.0, 0.5, -1.0, 1.0])
Place = namedtuple("Place", "at value")


def pairs(x):
    found, chosen, places = [], [], []
    for i in range(len(x)):
        found.append((i, x[i]))
        if x[i] > 0:
            chosen.append((int(x[i]), float(x[i]), x[i] > 1, bool(x[i] < 1)))
            places.append(Place(i, x[i]))
    return found, {"chosen": chosen, "n": len(chosen)}, places, [(k, k * k) for k in range(len(x))]


def ordered(x):
    found = [(float(v), i) for i, v in enumerate(x)]
    found.sort()
    same = [(v, v) for v in x]
    return found, found[1:], same[:2], list(zip(x, range(len(x)), strict=True)), sorted(found)[:1]


def split(x):
    stack, leaves = [(0, len(x))], []
    while stack:
        first, last = stack.pop()
        if last - first <= 1:
            leaves.append((first, last))
            continue
        middle = (first + last) // 2
        stack.append((first, middle))
        stack.append((middle, last))
    return leaves


def until_negative(x):
    found = []
    for v in x:
        if v < 0:
            return found
        found.append((v, 1))
    return found


def of_both_kinds(x):
    found, same, mine, filled = [], [], [], [(0, 0.0)]
    for i in range(len(x)):
        if x[i] > 0:
            found.append((i, x[i]))
            same.append((x[i], x[i]))
        else:
            found.append((i, 0.0))
            mine.append((i, 0.0))
            same.append((x[i], 2.0))
        filled.append((i, x[i]))
    found.sort(key=lambda pair: -pair[0])
    same.insert(0, (7.0, 8.0))
    same.reverse()
    return found, same, mine, filled, found[1:]


def with_sums(x):
    found, total = [], 0.0
    for i in range(len(x)):
        total += x[i]
        found.append((i, total))
    return found


def twice(x):
    found, steps = [], []
    for i in range(len(x)):
        found.append((i, 2))
        steps.append(i)
    d, one = {"x": x.sum()}, [1]
    return [found, d, d, found, [steps, (d, one)]], steps, one


def one_list(x):
    found = []
    for v in x:
        found.append([float(v) * 2, 1.0])
    return found, found


def arrays(x):
    u, shots, parts = x.copy(), [x.copy()], []
    for k in range(2 * len(x)):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        shots.append(u.copy())
        y = x * k
        parts.append(y[1:])
    return u, shots, parts, shots[1:], [np.outer(x, x) + k for k in range(len(x))]


FUNCTIONS = [pairs, ordered, split, until_negative, with_sums, twice, one_list, arrays]


def _shown(value: Any) -> Any:
    """A result with the classes of all that it holds."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, list | tuple):
        return type(value), [_shown(member) for member in value]
    if isinstance(value, dict):
        return [(key, _shown(member)) for key, member in value.items()]
    return type(value), value


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_python_returns(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    for x in (X, X[:3], X[3:4], X[:0], np.arange(4), X.astype(np.float32)):
        assert _shown(jitted(x.copy())) == _shown(function(x.copy()))


def test_members_of_both_kinds() -> None:
    jitted = pytocu.jit(of_both_kinds)
    for x in (X, X[:3], X[3:4]):
        assert _shown(jitted(x)) == _shown(of_both_kinds(x))


def test_lists_that_stand_twice_are_one() -> None:
    (found, d, again, found_again, (steps, (d_inside, one_inside))), steps_behind, one = pytocu.jit(twice)(X)
    assert found is found_again and d is again is d_inside and steps is steps_behind and one is one_inside
    first, second = pytocu.jit(one_list)(X)
    assert first is second


def test_the_interpreter_makes_the_same_lists() -> None:
    for function in (pairs, of_both_kinds):
        lowered = pytocu.jit(function).lower("f64[n]")
        made = lowered.function
        tree = made.body.insts[-1].attr("tree")
        assert _shown(arrange(tree, run(made, [X]))) == _shown(function(X))


def extended(x):
    found, others = [], []
    for i in range(len(x)):
        if x[i] > 0:
            found.append((i, x[i]))
        else:
            others.append((i, 0.0))
    found.extend(others)
    return found


def greatest(x):
    found, best = [], 0
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
        found.append((i, best))
    return found


def same_array(x):
    found, y = [], x * 2
    for _ in range(len(x)):
        found.append(y)
        y = y + 1
    return found


def perhaps_the_same(x):
    found, y = [], x * 2
    for k in range(len(x)):
        if k % 2:
            y = y + 1
        found.append(y)
    return found


def argument(x):
    found = [x]
    for k in range(len(x)):
        found.append(x * k)
    return found


def member_beside(x):
    found, y = [], x.copy()
    for _ in range(len(x)):
        y = y * 0.5
        found.append(y)
    return found, y


def row_beside(x):
    found = [x * k for k in range(len(x))]
    return found, found[0]


def holds_arrays(x):
    found = []
    for k in range(len(x)):
        found.append((k, x[:2] * k))
    return found


def too_large(x):
    found = []
    for k in range(len(x)):
        found.append((k, k + 2**70))
    return found


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (extended, r"the list found grows in a loop and holds"),
        (greatest, "is a Python int .* or, on another way, an np.float64"),
        (same_array, "the function returns the list found"),
        (perhaps_the_same, "the function returns the list found"),
        (argument, "the function returns the list found"),
        (member_beside, r"an array that may be one of its members(.|\n)*return a copy beside it"),
        (row_beside, "an array that may be one of its members"),
        (holds_arrays, r"tuples or lists that hold arrays(.|\n)*lists of its own"),
        (too_large, "the Python int 1180591620717411303424 in a loop on arrays does not fit int64"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(X)

"""``except np.linalg.LinAlgError`` around library calls whose matrices only a run knows."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere
from numpy.linalg import LinAlgError, cholesky

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.runtime.host_steps import call_library

RNG = np.random.default_rng(7)
A = RNG.standard_normal((4, 4))
S = A @ A.T


def solved(a, b):
    try:
        x = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        x = np.zeros_like(b)
    return x


def nearest(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return a.T @ b


def in_an_expression(a, b):
    try:
        y = np.abs(b) + np.linalg.inv(a) @ b + np.linalg.solve(a.T, b[: len(a)])
    except LinAlgError:
        y = b * 0
    else:
        y = y + 1
    return y


def inside_of_another(a, b):
    try:
        b = np.linalg.solve(np.linalg.inv(a), b)
    except LinAlgError:
        b = -b
    return b


def raised_again(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError as error:
        raise ValueError("no solution") from error


def with_finally(a, b):
    fine = True
    try:
        b = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        fine = False
    finally:
        n = 3
    return b, fine, n


def by_a_class_above(a, b):
    try:
        b = np.linalg.solve(a, b)
    except Exception:
        b = b * 2
    return b


def not_caught(a, b):
    try:
        return np.linalg.solve(a, b)
    except ZeroDivisionError:
        return b


def steps_before_it(a, b):
    s = 0
    try:
        s = 1
        b = np.linalg.inv(a)
        s = 2
    except Exception:
        pass
    return b[..., 0].sum(), s


def row_by_row(a, b):
    found = np.zeros(len(b))
    for k in range(len(b)):
        try:
            found[k] = np.linalg.solve(a + k * np.eye(len(b)), b)[k]
        except np.linalg.LinAlgError:
            found[k] = -1.0
            continue
    return found


PROGRAMS = [
    solved, nearest, in_an_expression, inside_of_another, raised_again, with_finally, by_a_class_above, not_caught,
    steps_before_it, row_by_row,
]  # fmt: skip
MATRICES = [A, np.zeros((4, 4)), np.ones((1, 1)), np.zeros((1, 1)), np.zeros((0, 0)), np.diag([1.0, -1.0, 0.0])]


@pytest.mark.parametrize("a", MATRICES, ids=lambda a: f"{len(a)}-{np.any(a)}")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_solutions(function: Callable[..., Any], a: np.ndarray) -> None:
    everywhere(function, a, np.arange(1.0, len(a) + 1), ulp=8)


def definite(a):
    try:
        np.linalg.cholesky(a)
        return True
    except np.linalg.LinAlgError:
        return False


def with_more_and_more(a):
    more = 0.0
    while True:
        try:
            factor = cholesky(a + more * np.eye(len(a)))
            break
        except LinAlgError:
            more = max(2 * more, 0.25)
    return factor, more


def the_first_that_is(a):
    tried = 0
    for more in (0.0, 0.5, 64.0):
        try:
            factor = np.linalg.cholesky(a + more * np.eye(len(a)), upper=True)
        except np.linalg.LinAlgError:
            tried += 1
            continue
        return factor[..., :1], tried
    return a[..., :1], -1


@pytest.mark.parametrize("a", [S, -S, np.zeros((2, 2)), np.ones((1, 1)), np.zeros((0, 0)), np.full((2, 2), np.nan)], ids=str)
@pytest.mark.parametrize("function", [definite, with_more_and_more, the_first_that_is])
def test_factors(function: Callable[..., Any], a: np.ndarray) -> None:
    if not (np.isnan(a).any() and function is with_more_and_more):
        everywhere(function, a, ulp=8)


def test_stacks_and_what_is_not_square() -> None:
    everywhere(solved, np.stack([A, A + 1]), np.ones((2, 4, 1)), ulp=8)
    everywhere(solved, np.stack([A, A * 0]), np.ones((2, 4, 1)), ulp=8)
    everywhere(by_a_class_above, A[:3], np.ones(4))
    everywhere(steps_before_it, A[:3], np.ones(4))


def in_a_comprehension(a, n):
    try:
        return sum(np.linalg.inv(a + k) for k in range(n))
    except np.linalg.LinAlgError:
        return a


def test_what_a_step_alone_computes_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a run may raise LinAlgError here"):
        pytocu.jit(in_a_comprehension)(A, 3)


def test_cupy_looks_at_its_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    @contextmanager
    def errstate(linalg: str):
        looked.append(linalg)
        yield

    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setitem(sys.modules, "cupyx", types.SimpleNamespace(errstate=errstate))
    planned = (("float64", (2, 2)), ("bool", ()))
    for a in (np.eye(2), np.zeros((2, 2))):
        made, done = call_library("cupy", "linalg.inv", (a,), {"caught": True}, planned)
        assert made.shape == (2, 2) and bool(done) is bool(a.any())
    assert looked == ["raise", "raise"]

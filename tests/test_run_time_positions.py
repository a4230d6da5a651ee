"""Python ints of run time as indices and bounds of slices: arguments, numbers of steps, what a loop computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.frontend import ranges
from pytocu.ir import interp
from pytocu.ir.dims import substitute, symbol
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(5)
VECTOR, OTHER, MATRIX = RANDOM.random(9), RANDOM.random(9), RANDOM.random((6, 5))
SQUARE = RANDOM.random((5, 5))
POSITIVE = SQUARE @ SQUARE.T + 5 * np.eye(5)


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives, or the exception of Python's that it raises."""
    try:
        return run()
    except CompileError as error:
        return error
    except (IndexError, ValueError) as error:
        return error


def on_threads(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """A call on a GPU, thread by thread."""
    host = pytocu.jit(function).lower(*arguments).host("cuda")
    return interp.arrange(host.body.terminator.attr("tree"), interp.run(host, arguments))


def agrees(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """NumPy's result, and what it leaves in the arguments, on the CPU and thread by thread."""
    given = copies(arguments)
    wanted = outcome(lambda: function(*given))
    for run in (pytocu.jit(function), lambda *a: on_threads(function, list(a))):
        passed = copies(arguments)
        found = outcome(lambda run=run, passed=passed: run(*passed))
        if isinstance(wanted, Exception):
            assert isinstance(found, type(wanted)), found
            assert str(wanted) in str(found)
            continue
        compare(found, wanted)
        for a, b in zip(passed, given, strict=True):
            if isinstance(a, np.ndarray):
                compare(a, b)


def at(x, i):
    return x[i]


def at_both(x, i, j):
    return x[i, j], x[i], x[:, j]


def between(x, i, j):
    return x[i:j], x[i:], x[:j], x[i : j + 2]


def strided(x, i):
    return x[i::2], x[i::-1], x[:i:-2]


def cleared(x, i, j):
    x[i:j] = 0
    return x


def put(x, i, v):
    x[i] = v
    x[i - 1] += v
    return x


def row_put(x, i, y):
    x[i] = y
    return x


@pytest.mark.parametrize("function", [between, cleared])
def test_ints_are_bounds(function: Callable[..., Any]) -> None:
    compiled = pytocu.jit(function)
    host = compiled.lower(VECTOR, 1, 2).host("cuda")
    for i in (-20, -9, -3, -1, 0, 2, 8, 9, 30):
        for j in (-12, -2, 0, 4, 9, 11):
            wanted = function(VECTOR.copy(), i, j)
            compare(compiled(VECTOR.copy(), i, j), wanted)
            compare(interp.arrange(host.body.terminator.attr("tree"), interp.run(host, [VECTOR.copy(), i, j])), wanted)


@pytest.mark.parametrize("i", [-10, -9, -1, 0, 3, 8, 9])
def test_ints_are_indices(i: int) -> None:
    agrees(at, (VECTOR, i))
    agrees(put, (VECTOR, i, 2.5))
    agrees(strided, (VECTOR, i))
    agrees(row_put, (MATRIX, i, VECTOR[:5]))
    agrees(at_both, (MATRIX, i, 2))


def test_one_code_serves_every_int() -> None:
    compiled = pytocu.jit(cleared)
    for i, j in ((0, 3), (2, -1), (-4, 20)):
        x = VECTOR.copy()
        compiled(x, i, j)
        y = VECTOR.copy()
        y[i:j] = 0
        compare(x, y)
    assert len(compiled.specializations) == 1


def lu(a):
    n = a.shape[0]
    for k in range(n):
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :]
    return a


def cholesky(a):
    n = a.shape[0]
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j])
        a[j + 1 :, j] = a[j + 1 :, j] / a[j, j]
        for k in range(j + 1, n):
            a[k:, k] -= a[k:, j] * a[k, j]
    return a


def mirrored(x, n):
    y = np.zeros_like(x)
    for i in range(n):
        y[i] = x[n - 1 - i]
    return y


def row_sums(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i, 0] + x[i, -1]
    return out


def around(a):
    for j in range(a.shape[0]):
        a[j] = a[j] + a[j - 1]
    return a


def every_other(x, w):
    for i in range(0, x.shape[0] - 3, 4):
        x[i : i + 4] = x[i : i + 4] * w[:4] + i
    return x


def downwards(x):
    for i in range(x.shape[0] - 1, 0, -2):
        x[i] += x[i - 1]
    return x


def by_a_number(x, n):
    k = 0
    while k < n:
        x[k] = x[k] * 2
        x[k : k + 2] += 1
        k += 3
    return x


def first_above(x, v):
    k = np.int64(-1)
    for i in range(len(x)):
        if x[i] > v:
            k = k * 0 + i
            break
    return k


def from_an_int(x, k):
    for j in range(k, x.shape[0]):
        x[j] = x[j] + j
    return x


def enumerated(x, y):
    for i, row in enumerate(x):
        y[i] = row[0] * i
    for i in reversed(range(len(y) - 1)):
        y[i] += y[i + 1]
    return y


def neighbours(a):
    n, m = a.shape
    out = np.zeros_like(a)
    for i in range(n):
        for j in range(m):
            s = a[i - 1, j] + a[i, j - 1]
            if i + 1 < n:
                s = s + a[i + 1, j]
            if j + 1 < m and i > 0:
                s = s + a[i - 1, j + 1]
            out[i, j] = s
    return out


def prefixes(x, out):
    for j in range(len(x)):
        out[j] = np.maximum(x[: j + 1].max(), 0.5)
    return out


LOOPS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lu, (POSITIVE,)),
    (lu, (np.asfortranarray(POSITIVE),)),
    (cholesky, (POSITIVE,)),
    (mirrored, (VECTOR, 9)),
    (mirrored, (VECTOR, 4)),
    (mirrored, (VECTOR, 0)),
    (mirrored, (VECTOR, -2)),
    (mirrored, (VECTOR, 11)),
    (row_sums, (MATRIX,)),
    (around, (MATRIX,)),
    (around, (MATRIX[:, ::2],)),
    (every_other, (RANDOM.random(11), VECTOR)),
    (downwards, (VECTOR,)),
    (downwards, (VECTOR[:4],)),
    (by_a_number, (VECTOR, 7)),
    (by_a_number, (VECTOR, 12)),
    (first_above, (VECTOR, 0.7)),
    (first_above, (VECTOR, 7.0)),
    (from_an_int, (VECTOR, 3)),
    (from_an_int, (VECTOR, -2)),
    (from_an_int, (VECTOR, -12)),
    (from_an_int, (VECTOR, 20)),
    (enumerated, (MATRIX, np.zeros(6))),
    (neighbours, (RANDOM.random((3, 4)),)),
    (prefixes, (VECTOR[:5] - 0.5, np.zeros(5))),
]


@pytest.mark.parametrize(("function", "arguments"), [pytest.param(f, a, id=f.__name__) for f, a in LOOPS])
def test_steps_are_positions(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    agrees(function, arguments)


def test_nothing_runs_before_the_indices_are_compared() -> None:
    def shifted(x, y):
        for j in range(len(x)):
            x[j] = y[j]

    x = np.zeros(5)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        pytocu.jit(shifted)(x, np.ones(3))
    assert not x.any()


def test_an_index_beyond_the_end_is_the_first_one() -> None:
    def downward(x, y, n):
        for j in range(n, -1, -1):
            x[j] = y[j]

    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        pytocu.jit(downward)(np.zeros(9), np.ones(3), 7)


def test_inner_loops_without_steps_ask_for_nothing() -> None:
    def triangle(x, y):
        for i in range(len(x)):
            for k in range(i):
                x[i] += y[k + 1]
        return x

    agrees(triangle, (np.ones(3), np.ones(3)))
    agrees(triangle, (np.ones(1), np.ones(1)))
    agrees(triangle, (np.ones(4), np.ones(3)))


def test_bad_input_is_said_with_its_line() -> None:
    def some(x):
        for k in range(len(x)):
            if x[k] > 0.5:
                return x[:k]
        return x[:0]

    with pytest.raises(UnsupportedError, match="step to step"):
        pytocu.jit(some)(VECTOR)


def test_the_element_that_a_loop_in_a_kernel_computes_is_at_a_position_of_run_time() -> None:
    def changed(x, n, k):
        for i in range(n):
            if i % 2 == 1:
                continue
            x = np.where(x > 1, x - i, x * 2)
        y = x.copy()
        y[..., k % y.shape[-1]] += 1
        return y

    def rows(x, n):
        for i in range(n % 5):
            if i % 2 == 1:
                x = np.where(x * x < 4, x * x + 1, x)
        total = np.zeros_like(x[0])
        for r, s in zip(x, x[::-1], strict=False):
            total = total + r - 2 * s
        return total

    for x in (np.arange(3.0)[:, None], np.arange(6.0).reshape(2, 3), np.ones((2, 1), np.float16)):
        for n in (0, 1, 3, 4):
            agrees(changed, (x, n, n + 1))
            agrees(rows, (x, n))


def test_zip_of_equally_long_arrays() -> None:
    def pairs(x, y):
        total = np.zeros_like(x[0])
        for r, s in zip(x, y, strict=True):
            total = total + r - 2 * s
        return total

    def three(x, y, z):
        total = 0.0
        for i, (r, s, k) in enumerate(zip(x, y, z, strict=True)):
            total = total + r.sum() * i - s.sum() * k
        return total

    four, five = np.arange(12.0).reshape(4, 3), np.arange(15.0).reshape(5, 3)
    for x, y in ((four, five[1:]), (four, five), (five, four)):
        agrees(pairs, (x, y))
        agrees(three, (five, x, y[:, 0]))
        agrees(three, (four, x, y[:, 0]))

    def counted(x):
        total = np.zeros_like(x[0])
        for r, k in zip(x, range(4), strict=True):
            total = total + r * k
        return total

    for x in (four, five, four[:2]):
        agrees(counted, (x,))


def test_what_is_known_of_numbers_that_stand_nowhere_else_is_not_gone_through(monkeypatch):
    asked: list[Any] = []

    def counted(dim: Any, mapping: Any) -> Any:
        asked.append(dim)
        return substitute(dim, mapping)

    monkeypatch.setattr(ranges, "substitute", counted)
    n, at = symbol("n"), symbol("at")
    others = tuple(n - symbol(f"at{k}") for k in range(40))
    assert not ranges.not_negative(n - at - 1, others) and not asked
    assert ranges.not_negative(n - at, (*others, n - at)) and len(asked) == 1
    # What such a number is subtracted from is known, too.
    assert ranges.not_negative(n - 3, (n - 3 - at,))
    assert ranges.not_negative(n - 2, (n - at, at - 2 - symbol("rest")))


def unread_in_a_branch(x, k):
    if x.max() > 2:
        x[(k > 0).sum()]
    return x


def unread_in_a_branch_of_a_loop(x, k):
    for q in range(3):
        if x.max() > q:
            y = x[np.argsort(k)[-1] + (k > 0).sum() - 2] + q  # noqa: F841
    return x


def changed_copy_in_a_branch(x, k):
    for q in range(3):
        if x.max() > q:
            x.copy()[(k > 0).sum()] = 3
    return x


@pytest.mark.parametrize("function", [unread_in_a_branch, unread_in_a_branch_of_a_loop, changed_copy_in_a_branch])
def test_positions_of_what_nobody_reads_are_looked_at_in_branches(function) -> None:
    x, few, many = np.arange(5.0), np.array([1.0, -1, 1]), np.ones(9)
    np.testing.assert_array_equal(pytocu.jit(function)(x.copy(), few), function(x.copy(), few))
    with pytest.raises(IndexError) as wanted:
        function(x.copy(), many)
    if function is not changed_copy_in_a_branch:
        with pytest.raises(IndexError, match=str(wanted.value)):
            pytocu.jit(function)(x.copy(), many)


def from_the_largest_on(y):
    chosen = y > 0
    y[chosen] = y[chosen][::-1]
    return y[np.argmax(y) :]


def test_a_part_that_is_returned_is_one_of_the_argument_also_where_its_old_contents_are_read_again() -> None:
    everywhere(from_the_largest_on, np.arange(5.0))
    y = np.arange(5.0)
    part = pytocu.jit(from_the_largest_on)(y)
    part[0] = 9
    assert y.tolist() == [0, 9, 3, 2, 1]

"""What is wrong with lengths in a side of a branch, or in a loop's body, is an error where that is run, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu

A, B = np.arange(3.0), np.arange(4.0)
MATRIX = np.arange(12.0).reshape(3, 4)


def side(a, b, n):
    y = a * 2
    if n % 2:
        y = a + b
    return y


def expression(a, b, n):
    return np.where(a > 1, a + b if n else a, 0)


def either(a, b, n):
    y = a
    if n or a.shape[0] > 9:
        y = a + b
    return y


def nested(a, b, n):
    y = a
    if n > 0:
        if n > 1:
            y = a + b
        else:
            y = a + 1
    return y


def returned_before(a, b, n):
    if n == 0:
        return a * 2
    c = a + b
    return c - b.sum()


def for_loop(a, b, n):
    z = a
    for _ in range(n):
        z = z * z + b
    return z


def while_loop(a, b, n):
    z = a
    while n > 0:
        z = z * z + b
        n -= 1
    return z


def in_a_later_step(a, b, n):
    for i in range(n):
        a = a + b if i % 2 else a - 1
    return a


def positions(a, b, n):
    z = a.copy()
    for i in range(n):
        z[i] = (a + b)[i]
    return z


def sweep(a, b, n):
    z = a * 1
    for j in range(1, n):
        z[j] = z[j - 1] + (a * b)[j]
    return z


def of_data(a, b, n):
    if a.sum() < 2.5 + n:
        y = a + b
    else:
        y = a - 1
    return y


def while_of_data(a, b, n):
    z = a
    while z.sum() < 3 * n:
        z = z + b
    return z


def in_place(a, b, n):
    a[:] = 1
    if n:
        a += b
    return a


def part(a, b, n):
    if n:
        a[1:] = b[1:]
    return a


def part_in_a_loop(a, b, n):
    for _ in range(n):
        a[1:] = b[1:]
    return a


def both_used_behind(a, b, n):
    y = a + 1
    if n:
        y = y + b
    return y, b * 2


def product(a, b, n):
    y = a.sum()
    if n:
        y = a @ b
    return y


def index(a, b, n):
    for _ in range(n):
        a = a + b.max() * a[7]
    return a


def index_beside_a_position(a, b, n):
    z = a.copy()
    for i in range(n):
        z[i] = a[8] + i
    return z


def smallest(a, b, n):
    m = np.float64(1)
    if n:
        m = b[4:].min()
    return a * m


def squeezed(a, b, n):
    y = a
    if n:
        y = a + b[:, np.newaxis].squeeze(0)
    return y


def nobody_uses_it(a, b, n):
    if n:
        a + b
    return a * 2


def nobody_uses_it_inside(a, b, n):
    if n and n > 1:
        s = (a + b).sum()  # noqa: F841
    return a * 2


def nobody_uses_the_branch(a, b, n):
    z = a
    if a.sum() < 2.5 + n:
        z = a + b
    for _ in range(n):
        z = z * b
    return a


def nobody_uses_a_part(a, b, n):
    if n > 1:
        (a + a[: n - 1]).sum()
    return b * 2


FUNCTIONS = [
    side, expression, either, nested, returned_before, for_loop, while_loop, in_a_later_step, positions, sweep, of_data,
    while_of_data, in_place, part, part_in_a_loop, both_used_behind, product, index, index_beside_a_position, smallest,
    squeezed, nobody_uses_it, nobody_uses_it_inside, nobody_uses_the_branch, nobody_uses_a_part,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_error_of_lengths_is_one_where_it_is_run(function: Callable[..., Any], n: int) -> None:
    everywhere(function, A, B, n)
    everywhere(function, np.arange(9.0), np.arange(9.0), n)


@pytest.mark.parametrize("function", [side, for_loop, sweep, of_data, part_in_a_loop], ids=lambda f: f.__name__)
def test_a_gpu_runs_them(function: Callable[..., Any]) -> None:
    builds(function, A, B, 3)


def test_a_call_whose_lengths_fit_comes_before_and_after_one_whose_lengths_do_not() -> None:
    jitted = pytocu.jit(for_loop)
    for a, b, n in ((A, A, 2), (A, B, 0), (A, A, 3), (A[:2], B, 0), (B, B, 1)):
        np.testing.assert_array_equal(jitted(a, b, n), for_loop(a, b, n))
    with pytest.raises(pytocu.ShapeError, match=r"operands could not be broadcast .* \(3,\) \(4,\) ") as found:
        jitted(A, B, 1)
    assert found.value.loc is not None and found.value.loc.line == for_loop.__code__.co_firstlineno + 3
    assert len(jitted.specializations) == 2


def test_where_lengths_fit_a_loop_is_one_kernel_and_nothing_is_compared() -> None:
    lowered = pytocu.jit(for_loop).lower(A, A, 3)
    (kernel,) = lowered.kernels
    assert kernel.ir.count("while") == 1
    assert not [step for step in lowered.compile("cpu").plan.steps if step[0] == "check"]


def test_a_product_of_a_side() -> None:
    def function(a: Any, b: Any, n: int) -> Any:
        y = a[:, 0] * 1
        if n:
            y = a @ b
        return y

    for b in (B, np.arange(5.0)):
        for n in (0, 1):
            everywhere(function, MATRIX, b, n)


def test_a_number_of_numpy_or_of_python_by_the_side() -> None:
    def mean(total: Any, count: Any) -> Any:
        return total / count if count else 0.0

    def mean_of_one_kind(total: Any, count: Any) -> Any:
        return total / count if count else np.float64(0.0)

    for count in (np.float64(4), np.float64(0)):
        everywhere(mean, np.float64(3), count)
        everywhere(mean_of_one_kind, np.float64(3), count)

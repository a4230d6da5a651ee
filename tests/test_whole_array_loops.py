"""Loops and branches on whole arrays: the host's, with kernels inside and memories that take turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.types import ArrayType
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(7)
VECTOR, MATRIX = RANDOM.random(50), RANDOM.random((9, 8))
ROD = np.r_[0, np.zeros(8), 1.0]


def doubled(u, n):
    v = u.copy()
    for i in range(n):
        v *= 2
        v[0] = i
    return v


def heat_in_place(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_swapped(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25*(a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
        a, b = b, a
    return a


def argument_shifted(u, n):
    for i in range(n):
        u[1:] = u[:-1] + i
    return u


def normal(x, n):
    for _ in range(n):
        x = x / x.sum()
        x = x * 2
    return x, x.max()


def wave(u, v, n, dt):
    for i in range(n):
        lap = np.zeros_like(u)
        lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        v = v + dt * lap
        u = u + dt * v
        if i % 2 == 0:
            u[0] = i
    return u, v


def rolled(x, n):
    k = 0
    while k < n:
        x = np.roll(x, 1) + k
        k += 2
    return x, k


def by_a_number(x, n):
    if n > 2:
        y = np.cumsum(x)
    else:
        y = x[::-1] * 1.0
    return y + 1


def total(x, n):
    s = np.float64(0)
    for i in range(n):
        s = s + (x * i).sum()
    return s


def nested(x, n):
    for i in range(n):
        for j in range(2):
            x = x[::-1] + j
        for k in range(i):
            x = np.roll(x, 1) + k
    return x


def until_converged(u, tol):
    steps = np.int64(0)
    err = np.float64(1)
    while err > tol:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        err = np.abs(new - u).max()
        u = new
        steps = steps + 1
    return u, steps


def at_most(u, tol, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        if np.abs(new - u).max() < tol:
            break
        u = new
    return u


def by_sums(x, y):
    if x.sum() > y.sum():
        z = np.cumsum(x)
    else:
        z = np.cumsum(y)
    return z


def view_before_a_branch(x, y):
    first = x[1:] * 2
    if y.sum() > x.sum():
        y = y / y.max()
    x[1:] += y[1:] + first
    return x


def halved(x):
    while x.sum() > 1:
        x = x / 2
    return x


def turned_and_set(u, n):
    for _ in range(n):
        u[...] = u[::-1]
        u[0] = n
    return u


def views_and_changes(c, x, n):
    first, other = c[:1], c[::-1]
    kept = first + 1
    for _ in range(n):
        x = np.roll(x, 1)
    c *= -1
    return first, x, other[1:], kept


def each_element(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += (x[i] * x[j]).sum()


def made_elements(x):
    a = np.zeros((x.shape[0], x.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = (x[i] * x[j]).max()
    return a


def in_three_loops(a, x, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                a[i, j] += (x[i] * a[k, j]).sum()
    a[0] = 1


def where_below(a, x):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i > j:
                a[i, j] += (x[i] * x[j]).sum()


def on_both_sides(a, x, n):
    for i in range(n):
        a[i] = a[i] * 2 + x.max()
        for j in range(a.shape[1]):
            if j < i:
                a[i, j] = (x[i] * x[j]).max()
            elif x[i, j] > 0.5:
                for k in range(n):
                    a[i, k] = max(a[k, j], a[i].min())
            else:
                a[i, j] = a[i, : j + 1].max()
    return a


def old_contents(a, x, n):
    before, last = a * 2, a * 3
    for i in range(n):
        if x[i, 0] > 0.5:
            before = a.copy()
            a[i] = x[i, : a.shape[1]].max()
            last = a.copy()
        elif i > 2:
            before, a[i] = a * 1, before[i].min() + a[0].max()
    return before, last, before.max() + a


def one_of_two(a, b, n):
    for i in range(n):
        if i % 2:
            a[i] = b.max()
            c = a * 1
        else:
            b[i] += a.min()
            c = b * 1
    return c


def a_branch_that_another_kernel_knows(v, n):
    a, b, t = np.eye(n), np.arange(n * n).reshape(n, n) * 0.5, 1.5
    for i in range(n):
        for j in range(3):
            t = t * 0.5 + a[j, i] * 0.25
            b[-1 - j] = 0.5
            if v[j] < 1:
                a = a * 0.5 + b
                t = t * 0.5 + i * 0.25
    return a, t


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (views_and_changes, (MATRIX.copy(), VECTOR, 3)),
    (turned_and_set, (MATRIX, 3)),
    (turned_and_set, (MATRIX[:1, :1], 4)),
    (doubled, (VECTOR, 3)),
    (doubled, (VECTOR, 0)),
    (heat_in_place, (VECTOR, 5)),
    (heat_swapped, (MATRIX, 4)),
    (heat_swapped, (MATRIX.astype(np.float32), 5)),
    (heat_swapped, (np.asfortranarray(MATRIX), 4)),
    (heat_swapped, (np.asfortranarray(MATRIX), 0)),
    (argument_shifted, (VECTOR, 3)),
    (argument_shifted, (VECTOR, 0)),
    (wave, (VECTOR, VECTOR * 0, 5, 0.1)),
    (rolled, (VECTOR, 7)),
    (nested, (VECTOR, 4)),
    (view_before_a_branch, (VECTOR, VECTOR * 2)),
    (view_before_a_branch, (VECTOR, VECTOR * 0)),
    (until_converged, (ROD, 1e-3)),
    (at_most, (ROD, 1e-3, 1000)),
    (at_most, (ROD, 1e-3, 10)),
    (made_elements, (MATRIX,)),
    (on_both_sides, (MATRIX[:6, :6].copy(), MATRIX, 6)),
    (old_contents, (MATRIX[:6, :7].copy(), MATRIX, 6)),
    (old_contents, (MATRIX[:6, :7].copy(), MATRIX, 0)),
    (one_of_two, (VECTOR.copy(), VECTOR[::-1].copy(), 5)),
    (a_branch_that_another_kernel_knows, (np.array([-1.0, 0.25, 2.0]), 3)),
    (a_branch_that_another_kernel_knows, (np.array([2.0, 0.25, -1.0]), 5)),
]
"""Programs whose results have NumPy's bits."""

SUMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (normal, (VECTOR, 3)),
    (total, (VECTOR, 4)),
    (halved, (VECTOR,)),
    (by_a_number, (VECTOR, 1)),
    (by_a_number, (VECTOR, 4)),
    (by_sums, (VECTOR, VECTOR + 1)),
    (by_sums, (VECTOR + 1, VECTOR)),
    (where_below, (MATRIX[:7, :6].copy(), MATRIX)),
    (each_element, (MATRIX[:7, :6].copy(), MATRIX)),
    (in_three_loops, (MATRIX[:4, :3].copy(), MATRIX, 3)),
    (in_three_loops, (MATRIX[:4, :3].copy(), MATRIX, 0)),
]
"""Programs with sums, whose order is not NumPy's."""


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]


def _check(got: Any, wanted: Any, close: bool) -> None:
    if isinstance(wanted, tuple):
        for a, b in zip(got, wanted, strict=True):
            _check(a, b, close)
        return
    assert type(got) is type(wanted)
    if not isinstance(wanted, np.ndarray | np.generic):
        assert got == wanted
    elif close:
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    else:
        assert not compare(got, wanted)


@pytest.mark.parametrize(("function", "arguments"), [*CASES, *SUMS], ids=lambda case: case.__name__ if callable(case) else "")
def test_whole_array_loops_give_what_numpy_gives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    changed, given = _copies(arguments), _copies(arguments)
    wanted = function(*changed)
    close = any(function is other for other, _ in SUMS)
    jitted = pytocu.jit(function)
    _check(jitted(*given), wanted, close)
    _check(tuple(given), tuple(changed), close)
    lowered = jitted.lower(*arguments)
    for target in ("cuda", "cpu"):
        tree = lowered.function.body.terminator.attr("tree")
        _check(interp.arrange(tree, interp.run(lowered.host(target), _copies(arguments))), wanted, close)


def test_a_step_of_a_stencil_is_one_launch_and_allocates_nothing() -> None:
    for function in (heat_in_place, heat_swapped):
        plan = pytocu.jit(function).lower(VECTOR if function is heat_in_place else MATRIX, 3).compile("cpu").plan
        names = [step[0] for step in plan.steps]
        first, last = names.index("for"), names.index("next")
        assert names[first + 1 : last].count("launch") == 1
        assert "allocate" not in names[first:last]


def test_what_nested_loops_change_in_parts_stays_where_it_is() -> None:
    """No step copies the array: a number of its own is all that is allocated and copied."""
    given = {made_elements: (MATRIX,), in_three_loops: (MATRIX, MATRIX, 3)}
    given |= dict.fromkeys((each_element, where_below), (MATRIX, MATRIX))
    for function, arguments in given.items():
        for target in ("cpu", "cuda:sm_90"):
            host = pytocu.jit(function).lower(*arguments).host(target)
            made = [i.types[0] for i in walk(host.body) if i.op.name == "allocate"]
            whole = [t for t in made if isinstance(t, ArrayType) and t.shape]
            assert len(whole) == (function is made_elements), function.__name__
            assert all(i.attr("carried") == len(whole) for i in host.body.insts if i.op.name == "for_loop")


def test_a_swap_moves_no_element() -> None:
    host = pytocu.jit(heat_swapped).lower(MATRIX, 3).host("cpu")
    (loop,) = [inst for inst in host.body.insts if inst.op.name == "for_loop"]
    assert sum(inst.op.name == "launch" for inst in walk(loop.regions[0])) == 1
    # Two arrays of the program and one for what the next step makes.
    assert loop.attr("carried") == 3


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_kernels_of_steps_are_built_for_a_gpu(backend: str) -> None:
    assert len(pytocu.jit(heat_swapped).lower(MATRIX, 3).compile("cuda:sm_90", backend).binary) > 1000


def rows_set(x, y, n):
    v = x.copy()
    for i in range(n):
        v[0] = i
    return v


def moved_and_added(x, y, n):
    v = y * 2
    w = x + 1
    for _ in range(n):
        v = np.roll(v, 1) + w[::-1]
    return v, w


def in_turn(x, y, n):
    v = np.flip(x, 0) if n > 1 else y * 2
    w = v + x
    for _ in range(n):
        v, w = w, np.roll(v, 1) + y
    return w[::-1], v


def argument_changed(x, y, n):
    for _ in range(n):
        x[1:] = x[:-1] + y[1:]
    return x


ORDERS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, 1)[:, ::2],
)  # fmt: skip


@pytest.mark.parametrize("function", [rows_set, moved_and_added, in_turn, argument_changed])
@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("second", range(3))
def test_memory_in_any_order_takes_turns(function: Callable[..., Any], first: int, second: int) -> None:
    everywhere(function, ORDERS[first](MATRIX.copy()), ORDERS[second](MATRIX[::-1].copy()), 3)


def test_views_of_arguments_are_returned_as_views() -> None:
    c = MATRIX.copy()
    first, _, other, kept = pytocu.jit(views_and_changes)(c, VECTOR, 3)
    assert np.shares_memory(first, c) and np.shares_memory(other, c) and not np.shares_memory(kept, c)
    compare((first, other), (c[:1], c[::-1][1:]))
    c[0] = 7
    assert (first == 7).all() and (other[-1] == 7).all()


def picked(x, i, n):
    for step in range(n):
        x = x[::-1] + x[i - step]
    return x


def picked_until(x, i, n):
    while x.max() < 40:
        x = x[::-1] + x[i]
        i = i + n
    return x


def counted_from_steps(x, i, n):
    made = np.zeros(4)
    for step in range(n):
        made = made * 0.5 + np.bincount(i % 4, step * x[: len(i)], minlength=4)
    return made


def turned(u, i, flag):
    for step in range(4):
        if flag:
            k = step * 3
            u = np.roll(u, 1) + k
        else:
            u = u[i][::-1] * 1.0
    return u


@pytest.mark.parametrize("function", [picked, picked_until, counted_from_steps, turned])
def test_what_may_fail_by_its_data_in_a_step(function) -> None:
    for n in (0, 1, 2):
        everywhere(function, np.arange(1.0, 6), np.array([2, 3, 1, 0, 4]), n)
    everywhere(function, np.arange(1.0, 6), np.array([2, 3, -1, 0, 5]), 1)


def test_a_step_that_fails_says_so_before_the_next_one() -> None:
    """What is wrong from then on is not looked at, whatever the statements are."""

    def one_after_the_other(x, i, n):
        for _ in range(n):
            x = x[i] + x[::-1]
            i = i[i - 1] + 1
        return x

    for n in range(5):
        everywhere(one_after_the_other, np.arange(3.0), np.array([0, 1, 2]), n)
    everywhere(one_after_the_other, np.arange(3.0), np.array([0, 7, 2]), 2)


def test_a_name_that_a_step_binds_to_something_of_another_kind():
    def dropped(mask, x, n):
        w = np.where(mask)
        for _ in range(n):
            w = np.zeros_like(x)  # noqa: F841
        return x

    for n in (0, 2):
        everywhere(dropped, MATRIX > 0.5, VECTOR, n)


def test_a_loop_over_rows_that_a_loop_makes():
    def walked(x, n):
        v = x
        for _ in range(n):
            v = v * v - x[:, :1]
        kept = v[0].copy()
        for i, row in enumerate(v):
            kept = np.where(row == row, kept, row) + i
        return kept

    for n in (0, 1, 3):
        everywhere(walked, MATRIX, n)


def test_a_step_that_becomes_elementwise_stays_on_the_host():
    def shifted(x, y, n):
        v = np.expand_dims(y, 0)
        for _ in range(n):
            w = np.zeros_like(v)
            w[1:] = v[:-1]
            v = w + 3
        x[1:-1] = x[2:] + x[:-2]
        return v

    for n in (0, 3):
        everywhere(shifted, VECTOR.copy(), VECTOR.copy(), n)


def summed(x, n):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + (x * i).sum()
    return total, x * total


def summed_elements(x, n):
    total = 0
    for i in range(n):
        total += x[i]
    return total


def until_it_changes_little(x, n):
    err, steps, x = 1.0, 0, x.copy()
    while err > 0.1 and steps < n + 3:
        old = x.copy()
        x[1:-1] = (old[2:] + old[:-2]) * np.float32(0.5)
        steps += 1
        err = np.abs(x - old).max()
    return x, err, steps


def until_nothing_changes(x, n):
    x, steps = x.copy(), 0
    while steps < n + 3:
        old = x.copy()
        x[1:] = np.minimum(x[1:], x[:-1])
        steps += 1
        if (old == x).all():
            break
    return x + steps


@pytest.mark.parametrize("function, dtypes", [
    (summed, ("f8", "i2")), (summed_elements, ("f4", "i2")), (until_it_changes_little, ("f4", "f8")),
    (until_nothing_changes, ("f4", "i2")),
])  # fmt: skip
def test_python_numbers_that_steps_make_numpy_scalars_of(function: Callable[..., Any], dtypes: tuple[str, ...]) -> None:
    for n, dtype in ((n, d) for n in (1, 3) for d in dtypes):
        everywhere(function, np.array([5, 3, 4, 1, 2, 7], dtype), n)


def test_a_python_number_that_no_step_changed() -> None:
    everywhere(summed, np.ones(3), 0)


def test_a_python_number_that_adapts_to_another_dtype() -> None:
    """In the first step it would be a float32 beside the array, and a float64 from then on."""

    def weighted(x, n):
        total = 0.5
        for _ in range(n):
            total = (x * total).sum(dtype=np.float64)
        return total

    for n in (0, 1, 3):
        everywhere(weighted, np.array([0.1, 0.2, 0.3], np.float32), n)


def left_early(x, limit):
    """Python's numbers divide each other in the first step, and a step that ends early leaves them."""
    before = scale = 2.0
    y = x.copy()
    for i in range(x.shape[0]):
        total = x[i].sum()
        y[i] = x[i] * (total / before) * (scale / before)
        if total > limit:
            break
        before = total
        scale = x[i].max()
    return y


def test_a_step_that_ends_early_leaves_a_python_number() -> None:
    x = np.arange(1, 13).reshape(4, 3) / 8
    for dtype in ("f8", "f4"):
        for limit in (0, 2, 100):
            everywhere(left_early, x.astype(dtype), limit)


def test_sums_in_loops_in_loops() -> None:
    def triangle(x):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(i):
                total += x[i, j]
        return total

    everywhere(triangle, np.arange(9.0).reshape(3, 3))


def largest(x, limit):
    """Python's number stays until a step finds a larger one."""
    most, at = 0.0, -1
    for i in range(x.shape[0]):
        found = x[i].sum()
        if found > most and found < limit:
            most = found
            at = i
    return most, at


def chosen_sum(x, limit):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i, 0] < limit:
            if x[i, 1] > 1:
                total += x[i].sum()
            else:
                total = total * 2.0
    return total


def turns(x, limit):
    a, b = 0.0, 1.0
    for row in x:
        a, b = b, a + row.sum()
        if row[0] > limit:
            break
    return a


@pytest.mark.parametrize("function", [largest, chosen_sum, turns])
def test_python_numbers_that_a_branch_makes_numpy_scalars_of(function: Callable[..., Any]) -> None:
    """A value goes with them that says whether a step bound them: they are returned as what they are."""
    x = np.arange(12.0).reshape(4, 3)
    everywhere(function, x, 100.0)
    everywhere(function, x, 13.0)
    everywhere(function, x.astype("f4"), 100.0)
    everywhere(function, x[1:] + 1, -1.0)


def test_a_name_that_may_still_be_a_python_number() -> None:
    def inside(x):
        most = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > most:
                    most = x[i, j]
        return most

    def third(x, y):
        a = b = 3.0
        for row in x:
            y = y * (a * b)
            a, b = row.sum(), row.max()
        return y

    everywhere(inside, np.ones((3, 2)))
    everywhere(inside, -np.ones((3, 2)))
    # The product of Python's numbers has no dtype of its own, and that of NumPy scalars has.
    for rows in (1, 2, 3):
        everywhere(third, np.arange(6.0)[: 2 * rows].reshape(rows, 2), np.ones(2, np.float32))
    with pytest.raises(UnsupportedError, match=r"fewer than 2 steps is not compiled where a is a Python float"):
        pytocu.jit(third)(np.ones((0, 2)), np.ones(2, np.float32))


def largest_change(x, n):
    for _ in range(n):
        change = 0.0
        for i in range(1, len(x)):
            for j in range(i):
                d = x[i] - x[j]
                x[i] -= 0.1 * d
                change = max(change, abs(d))
        if change < 0.1:
            break
    else:
        x = x * 2
    return x


def greatest_of_rows(x, n):
    greatest = 0
    for i in range(n):
        for j in range(i):
            if x[i] > x[j]:
                greatest = x[i]
    return x + greatest


def scaled_by_greatest(x, n):
    greatest = 0.5
    for i in range(n):
        for j in range(i):
            greatest = max(greatest, abs(x[i] - x[j]))
    return x / greatest if greatest < 2 else x * greatest


@pytest.mark.parametrize("function", [largest_change, greatest_of_rows, scaled_by_greatest])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_name_that_loops_in_loops_may_leave_a_python_number(function: Callable[..., Any], dtype: str, n: int) -> None:
    """What is done with it behind the loops is the same for NumPy's numbers."""
    everywhere(function, np.random.default_rng(1).standard_normal(5).astype(dtype), n)


def test_a_name_that_loops_in_loops_may_leave_a_python_number_beside_narrower_numbers() -> None:
    def added(x, y, n):
        greatest = 0.0
        for i in range(n):
            for j in range(i):
                greatest = max(greatest, abs(x[i] - x[j]))
        return y + greatest

    everywhere(added, np.arange(3.0, dtype="f4"), np.ones(2, "f4"), 3)
    everywhere(added, np.arange(3.0), np.ones(2, "f4"), 3)
    # The sum is float32 without a step and float64 with one.
    with pytest.raises(UnsupportedError, match=r"greatest is a Python number where no step binds it and np\.float64 where"):
        pytocu.jit(added)(np.arange(3.0), np.ones(2, "f4"), 1)


def mixed(x):
    c = 1
    for b in x:
        if b & 1:
            c = c * 2 % 1000
        else:
            c = c - 30
    return c & 7, c, c > 3, -c


def floats(x):
    total, hit = 0.5, False
    for v in x:
        if v > 3:
            total = total * 1.1
            hit = True
    return total, hit, total / 3


def odd_ones(x):
    count = 0
    for b in x:
        if b & 1:
            count += 1
    return np.zeros(count), x[:count], x * count, count


def bits(x):
    c = 1
    for _ in x:
        c = (c << 3) >> (c & 3)
        c = (c ^ 5) & 0xFFFF
    return c


@pytest.mark.parametrize("function", [mixed, floats, odd_ones, bits])
def test_python_numbers_that_a_loop_over_elements_makes(function: Callable[..., Any]) -> None:
    """Where they are returned or are lengths, the host reads what the kernel computed."""
    everywhere(function, np.arange(10))
    everywhere(function, np.array([3, 8, 8, 1]))


def test_shifts_that_python_refuses_or_int64_does_not_hold() -> None:
    def shifted(x, by):
        c = 1
        for b in x:
            if b > 0:
                c = c << (by - 1)
        return c

    x = np.array([0, 1, 1])
    compare(pytocu.jit(shifted)(x, 32), shifted(x, 32))
    with pytest.raises(ValueError, match="negative shift count"):
        pytocu.jit(shifted)(x, 0)
    with pytest.raises(OverflowError, match="does not fit int64"):
        pytocu.jit(shifted)(x, 33)
    compare(pytocu.jit(shifted)(x[:1], 0), 1)


def test_bodies_of_loops_in_loops_are_read_a_few_times() -> None:
    """Each reading that begins with nothing known of the loops inside would double how often the innermost body is read."""

    def nested(x, y):
        total = 0.0
        for a in range(x.shape[0]):
            for b in range(x.shape[1]):
                for c in range(x.shape[2]):
                    for d in range(y.shape[0]):
                        for e in range(y.shape[1]):
                            if a >= b:
                                z = y[d] * x[a, b, c]
                                x[a, b, c] += (z * y[:, e]).sum()
                            total = total + y[d, e]
        return total

    x, y = np.arange(8.0).reshape(2, 2, 2), np.arange(4.0).reshape(2, 2)
    text = pytocu.jit(nested).lower(x, y).ir("lower")
    assert max(int(n) for n in re.findall(r'"[a-e](\d+)_"', text)) < 20
    everywhere(nested, x, y)


def test_memories_that_steps_make_are_known_by_their_names() -> None:
    """An array that is made in a step is another one in each reading of it."""

    def nested(x):
        total = x * 0
        for a in range(x.shape[0]):
            row = np.zeros(x.shape[1])
            for b in range(x.shape[1]):
                cell = np.zeros(x.shape[2])
                for c in range(x.shape[2]):
                    part = np.zeros(x.shape[0])
                    for d in range(x.shape[0]):
                        part[d] += x[d, b, c]
                        cell[c] += part[d]
                        row[b] += cell[c]
                        total[a, b, c] = row[b]
            total[a] = total[a] + row[:, None]
        return total

    x = np.arange(8.0).reshape(2, 2, 2)
    text = pytocu.jit(nested).lower(x).ir("lower")
    assert max(int(n) for n in re.findall(r'"[a-d](\d+)_"', text)) < 5
    everywhere(nested, x)


def test_an_array_is_changed_in_a_loop_and_its_name_bound_again_behind_it() -> None:
    def turned(u, n):
        u = u.copy()
        for _ in range(n):
            for _ in range(n):
                u[1:-1] = 0.5 * (u[2:] + u[:-2])
            u = u[::-1] + 1
        return u

    u = np.linspace(0, 1, 9) ** 2
    for n in (0, 1, 3):
        compare(pytocu.jit(turned)(u, n), turned(u, n))


def falls(z):
    while True:
        full = z >= 4
        if not full.any():
            break
        z[full] -= 4
        z[1:, :] += full[:-1, :]
    return z


def test_a_choice_by_rows_in_a_branch_beside_a_reduction_over_all_axes() -> None:
    """Rows and columns are no single axis for it."""
    given = np.array([[1, 5, 9], [7, 2, 4], [0, 8, 3]])
    wanted, found = given.copy(), given.copy()
    compare(pytocu.jit(falls)(found), falls(wanted))
    compare(found, wanted)


def columns_in_steps(rows, n):
    out = np.ones(3)
    for _ in range(n):
        for row in rows:
            out[0] = row[2]
    return out


def columns_in_a_while_loop(rows, n):
    out = np.ones(3)
    k = 0
    while k < n:
        for row in rows:
            out[0] = row[2]
        k += 1
    return out


def columns_in_a_branch(rows, n):
    out = np.ones(3)
    if n > 1:
        for row in rows:
            out[0] = row[2]
    return out


@pytest.mark.parametrize("function", [columns_in_steps, columns_in_a_while_loop, columns_in_a_branch])
@pytest.mark.parametrize("columns", [0, 2])
def test_no_step_of_an_inner_loop_is_wrong_where_it_has_none(function, columns):
    jitted = pytocu.jit(function)
    rows = np.zeros((0, columns))
    np.testing.assert_array_equal(jitted(rows, 3), function(rows, 3))
    with pytest.raises(IndexError, match=f"index 2 is out of bounds for axis 0 with size {columns}"):
        jitted(np.zeros((2, columns)), 3)


def power_iteration(a, v, tolerance, most):
    last = 0.0
    for k in range(most):
        w = a @ v
        value = v @ w
        v = w / np.sqrt(w @ w)
        if abs(value - last) < tolerance:
            return value, v, k
        last = value
    return last, v, most


def test_results_of_a_branch_are_made_of_different_sums():
    # One kernel has several results of the branch that ends the loop, and each root needs other operands of it.
    jitted = pytocu.jit(power_iteration)
    for size, most in ((3, 50), (40, 50), (40, 2)):
        a = np.diag(np.arange(1.0, size + 1)) + 0.1
        given = a, np.ones(size), 1e-3, most
        for found, wanted in zip(jitted(*given), power_iteration(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def taken_from_a_pile(w):
    pile, n, total = [w[0, 0]], 0, w[0, 0] * 0
    while pile and n < len(w):
        # Where nothing is taken from its beginning, it begins at a position that is known.
        total += pile[0]
        if len(pile) > 1:
            pile[0] = pile.pop()
        else:
            pile.pop()
        near = np.nonzero(w[n] > 0.5)[0]
        if len(near) > 2:
            pile.append(total)
            pile.append(near[0] + 0.25)
        n += 1
    return total, len(pile)


def ends_are_changed(y, u):
    z, w, before = y.copy(), y * 2, 0.0
    for k in range(len(u)):
        m = np.nonzero(z > u[k])[0]
        old = z.copy()
        if len(m) > 10:
            z[0] = w[-1]
            w[-1] = z[0] + z[1]
            z[1] = old[0] + w[0]
        elif len(m) % 2:
            z[2] = z[::-1][0] + len(m)
        before += (old - z).sum()
    return z, w, before


def test_few_elements_are_changed_where_they_are() -> None:
    pile = np.random.default_rng(1).random((9, 6))
    everywhere(taken_from_a_pile, pile)
    plan = pytocu.jit(taken_from_a_pile).lower(pile).compile("cpu").plan
    # The list has room for millions, which no branch copies.
    lengths = [step[3][0] for step in plan.steps if step[0] == "allocate" and step[3]]
    assert len([length for length in lengths if isinstance(length, int) and length > 2**20]) == 1
    everywhere(ends_are_changed, np.random.default_rng(2).random(40), np.linspace(0.2, 0.9, 8), ulp=4)


def history(x, tolerance):
    f = x**2 - 0.3
    found = [np.abs(f).max()]
    k = 0
    while np.abs(f).max() > tolerance and k < 30:
        x = x - f / (2 * x + 1)
        f = x**2 - 0.3
        found.append(np.abs(f).max())
        k += 1
    return x, found


def changed_before(a, u):
    b = a.copy()
    a[1:] *= 2
    for k in range(len(u)):
        m = np.nonzero(u > u[k])[0]
        if len(m) > 2:
            u[0] += len(m)
    return u, b


def test_what_only_the_end_asks_for_is_changed_where_it_is() -> None:
    x = np.linspace(0, 1, 20)
    everywhere(history, x, 0.01)
    # A step whose condition is a branch has two pieces, and the list has room for millions.
    plan = pytocu.jit(history).lower(x, 0.01).compile("cpu").plan
    lengths = [step[3][0] for step in plan.steps if step[0] == "allocate" and step[3]]
    assert len([length for length in lengths if isinstance(length, int) and length > 2**20]) == 1
    everywhere(changed_before, RANDOM.random(9), RANDOM.random(8))


def all_of_it_afterwards(a, x, rows, n):
    for _ in range(n):
        rows[1] = x
        a[1] = 1.5
        a[:] = x * 0.5
    a *= 0.1


def test_a_change_that_another_of_all_of_it_follows_keeps_no_kernel_from_being_made() -> None:
    for n in (0, 2):
        everywhere(all_of_it_afterwards, VECTOR[:8].copy(), VECTOR[8:16], MATRIX.copy(), n)

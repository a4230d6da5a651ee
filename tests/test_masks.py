"""Masked assignment and masked reductions, which need no positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from edge_tools import check, refused
from mask_tools import agree, builds, everywhere, outcome

import pytocu
from pytocu.testing.compare import compare

LONG = np.linspace(-3, 4, 1000)
SMALL = np.float32([[1, -2, 3], [-4, 5, -6], [7, 8, -9], [0, 1, 2]])


def number(x: np.ndarray) -> None:
    x[x > 0] = 1


def doubled(x: np.ndarray) -> np.ndarray:
    x[x > 0] *= 2
    return x


def squares(x: np.ndarray, c: np.ndarray, m: np.ndarray) -> None:
    x[m] = x[m] ** 2 + c[m]


def mandelbrot_step(z: np.ndarray, c: np.ndarray, counts: np.ndarray) -> None:
    inside = np.abs(z) < 2
    z[inside] = z[inside] * z[inside] + c[inside]
    counts[inside] += 1


def rows(x: np.ndarray, m: np.ndarray) -> None:
    x[m] = x[m] * np.arange(3) + 1


def row_for_all(x: np.ndarray, m: np.ndarray, row: np.ndarray) -> None:
    x[m] = row


def columns(x: np.ndarray) -> None:
    x[:, x[0] > 0] = 5
    x[1:, x[1] > 0] = -1


def one_column(x: np.ndarray, m: np.ndarray) -> None:
    x[m, 1] = 7
    x[m, 0] += 2


def in_order(x: np.ndarray, m: np.ndarray, v: np.ndarray) -> None:
    x[m] = v


def kept_and_changed(x: np.ndarray) -> Any:
    y = x[x > 0]
    z = y
    y += 1
    x[...] = 0
    return z.sum(), y.max()


def several(x: np.ndarray, y: np.ndarray) -> Any:
    m = (x > 0) & (y < 1)
    a = np.where(x[m] > 1, y[m], np.sqrt(x[m]))
    return a.sum(), (x > 0).sum(), x[m].astype(np.int32).max(), np.abs(y[m]).min()


def reductions(x: np.ndarray) -> Any:
    y = x[x > 0]
    return y.sum(), y.mean(), y.min(), y.max(), y.any(), y.all(), np.prod(y), np.count_nonzero(y), y.std(), np.var(y, ddof=1)


def by_rows(x: np.ndarray, m: np.ndarray) -> Any:
    return x[m].sum(0), x[m].mean(axis=0), x[m].max(0), x[m].sum()


def integers(x: np.ndarray) -> None:
    x[x > 2] = x[x > 2] // 2
    x[x < 0] += 1


def to_a_float(x: np.ndarray) -> None:
    x[x > 2] += 0.5


def negative_powers(x: np.ndarray, e: np.ndarray) -> Any:
    m = e >= 0
    return (x[m] ** e[m]).sum()


def through_positions(x: np.ndarray, y: np.ndarray) -> Any:
    x[np.where(x > 1)] = 0
    i = np.flatnonzero(y < 0)
    y[i] *= 2
    j, k = np.nonzero(x < -3)
    x[j, k] += 1
    return x[j, k].sum(), y[i].mean(), x.ravel()[i]


def through_chosen_positions(x: np.ndarray, i: np.ndarray, m: np.ndarray) -> Any:
    j = i[m]
    x[j] += 1
    for _ in range(2):
        k = i[x[i] > 0]
        x[k] *= 2
    return x[j] - 1


def chosen_and_changed_at_positions(x: np.ndarray, i: np.ndarray) -> Any:
    v = x[x > 0]
    v[i] += 1
    v[[1, 0]] *= 3
    rows = x[1:].reshape(-1, 3)
    r = rows[rows[:, 0] > 0]
    r[i] -= r[i + 1]
    r[:, i] *= 2
    return v, r


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (number, (LONG,)),
    (chosen_and_changed_at_positions, (LONG.copy(), np.array([0, 2]))),
    (through_chosen_positions, (LONG.copy(), np.arange(1000)[::-1], LONG > 1)),
    (number, (SMALL,)),
    (doubled, (SMALL.T,)),
    (doubled, (np.arange(-5, 300, dtype=np.int16),)),
    (squares, (LONG, LONG[::-1].copy(), LONG**2 > 2)),
    (squares, (LONG, LONG * 3, LONG > 100)),
    (mandelbrot_step, (LONG * 1j + 0.3, LONG * (0.2 + 0.1j), np.zeros(1000, np.int32))),
    (rows, (SMALL, np.array([True, False, False, True]))),
    (row_for_all, (SMALL, np.array([True, False, False, True]), np.float64([1, 2, 3]))),
    (columns, (SMALL,)),
    (one_column, (SMALL, np.array([True, False, False, True]))),
    (in_order, (SMALL, SMALL > 0, np.arange(7))),
    (in_order, (SMALL, SMALL > 0, np.arange(6))),
    (in_order, (SMALL, SMALL > 0, np.arange(1))),
    (in_order, (SMALL, SMALL > 100, np.zeros(0))),
    (in_order, (SMALL, np.array([True, False, False, True]), np.arange(6.0).reshape(2, 3))),
    (kept_and_changed, (LONG,)),
    (integers, (np.arange(-5, 300, dtype=np.int64),)),
    (to_a_float, (np.arange(-5, 300, dtype=np.int64),)),
    (through_positions, (SMALL, np.float64([1, -2, 3, -4, 5]))),
    (negative_powers, (np.arange(10), np.arange(-5, 5))),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_changes_through_masks(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    everywhere(function, *arguments, ulp=4 if function in (mandelbrot_step, kept_and_changed) else 0)


@pytest.mark.parametrize("values", [SMALL, LONG, np.float16(SMALL), np.arange(-3, 9), SMALL > 1, np.zeros((0, 3))], ids=str)
def test_reductions_of_what_a_mask_chooses(values: np.ndarray) -> None:
    if not values.size:
        everywhere(lambda x: (x[x > 0].sum(), x[x > 0].mean(), x[x > 0].any()), values)
    else:
        everywhere(reductions, values, ulp=200)


def test_reductions_of_rows() -> None:
    everywhere(by_rows, SMALL, np.array([True, False, True, True]), ulp=8)
    everywhere(several, LONG, LONG[::-1].copy(), ulp=200)


@pytest.mark.parametrize("name", ["min", "max"])
def test_nothing_chosen_has_no_extreme(name: str) -> None:
    everywhere(lambda x: getattr(x[x > 9], name)(), LONG)


def test_a_mask_of_another_length() -> None:
    for function in (lambda x, m: x[m].sum(), lambda x, m: in_order(x, m, np.float64(1.5))):
        with pytest.raises(IndexError, match="size of axis is 4 but size of corresponding boolean axis is 2"):
            pytocu.jit(function)(SMALL.copy(), np.array([True, False]))
    with pytest.raises(IndexError, match="too many indices for array: array is 1-dimensional, but 2 were indexed"):
        pytocu.jit(lambda x, m: x[m].sum())(LONG, SMALL > 0)


def behind_an_axis(x, m):
    x[:, m] = 1


def behind_a_number(x, m):
    x[1, m] = 1


def added_behind_an_axis(x, m):
    x[:, m] += 1


@pytest.mark.parametrize("function", [behind_an_axis, behind_a_number, added_behind_an_axis], ids=lambda f: f.__name__)
def test_the_axis_that_a_mask_does_not_fit(function: Callable[..., Any]) -> None:
    arguments = np.zeros((2, 3, 4)), np.array([True, False, True, False, True])
    with pytest.raises(IndexError) as expected:
        function(*arguments)
    with pytest.raises(IndexError) as found:
        pytocu.jit(function)(*arguments)
    assert str(expected.value) in str(found.value)


def test_masked_work_is_one_kernel() -> None:
    z = LONG * 1j
    assert len(pytocu.jit(squares).lower(LONG, LONG, LONG > 0).kernels) == 1
    assert len(pytocu.jit(mandelbrot_step).lower(z, z, np.zeros(1000, np.int32)).kernels) == 1
    assert len(pytocu.jit(lambda x: x[x > 0].mean()).lower(SMALL).kernels) == 1


def test_cubins() -> None:
    builds(squares, LONG, LONG, LONG > 0)
    builds(in_order, SMALL, SMALL > 0, np.arange(7))


def escape_times(c: np.ndarray, n: int) -> np.ndarray:
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int32)
    for _ in range(n):
        inside = z.real**2 + z.imag**2 < 4
        z[inside] = z[inside] * z[inside] + c[inside]
        count[inside] += 1
    return count


def thinned(x: np.ndarray, n: int) -> np.ndarray:
    for i in range(n):
        y = x[x > i]
        x[0] = y.size + y.sum()
    return x


def powers(a: np.ndarray, n: int) -> np.ndarray:
    b = a
    for _ in range(n):
        b = b @ a
        b = b / b.max()
    return b


def test_in_loops_of_run_time() -> None:
    """Masks are part of a loop's kernel; lengths that are read, and library calls, are steps in a loop around kernels."""
    grid = np.linspace(-2, 1, 12) + 1j * np.linspace(-1, 1, 9)[:, None]
    everywhere(escape_times, grid, 20)
    everywhere(thinned, np.arange(9.0), 3)
    everywhere(powers, np.random.default_rng(0).random((20, 20)), 3, ulp=512)


def changed_on_a_side(x, n):
    kept = x[x > 2]
    same = kept
    if n > 1:
        kept += kept
    elif n:
        kept[1:] = 7
    return kept, same * 2


def changed_and_left(x, n):
    kept = x[x > 2]
    if n > 1:
        kept += 1
        return kept
    for k in range(n):
        kept *= k + 2
    return kept


@pytest.mark.parametrize("function", [changed_on_a_side, changed_and_left])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_chosen_elements_that_one_side_of_a_branch_changes(function, n) -> None:
    everywhere(function, np.arange(12).reshape(3, 4), n)


RANDOM = np.random.default_rng(8)


def behind_an_axis(x, mask, value):
    x[:, mask] = value
    return x


def turned_over(x, mask):
    kept = x[:, mask]
    x = x * 3
    x[:, mask] = kept[[2, 0, 1], :]
    return x


def test_values_for_a_mask_that_does_not_come_first() -> None:
    x, mask, row = RANDOM.random((3, 4, 5)), RANDOM.random((4, 5)) > 0.5, RANDOM.random(4) > 0.4
    chosen = int(mask.sum())
    everywhere(turned_over, x, mask)
    for shape in ((3, chosen), (3, 1), (chosen,), (3, chosen + 1), (1, chosen), ()):
        everywhere(behind_an_axis, x, mask, RANDOM.random(shape))
    chosen = int(row.sum())
    for shape in ((3, chosen, 5), (chosen, 5), (chosen, 1), (5,), (3, 1, 5), (3, chosen, 1)):
        everywhere(behind_an_axis, x, row, RANDOM.random(shape))


def rows_in_turn(x, m, rows):
    for k in range(3):
        x[m] = rows[k : k + 3] * 2
        m = ~m


def rows_of_itself(x, m, rows):
    positive = x[:, 0] > 0
    x[0] = -x[0]
    x[m] = x[::-1][: rows.shape[0]]
    y = x + 1
    y[positive] = y[: positive.sum()]
    return y


ROWS = np.array([True, False, True, True, False, False])


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (4,), (3, 1), (2, 4), (4, 4), (0, 4)], ids=str)
def test_rows_for_a_mask(shape: tuple[int, ...]) -> None:
    x, values = RANDOM.random((6, 4)), RANDOM.random(shape)
    everywhere(in_order, x, ROWS, values)
    everywhere(in_order, x, ~ROWS & False, values)
    everywhere(in_order, np.asfortranarray(x)[::-1], ROWS, (8 * values).astype(np.int16))


def test_rows_of_another_length_for_a_mask() -> None:
    x, rows = RANDOM.random((6, 4)), RANDOM.random((3, 5))
    agree(outcome(lambda: pytocu.jit(in_order)(x, ROWS, rows)), outcome(lambda: in_order(x, ROWS, rows)), 0)


def test_rows_for_masks_of_several_axes_and_for_arrays_without_elements() -> None:
    x, mask = RANDOM.random((4, 5, 3)), RANDOM.random((4, 5)) > 0.5
    chosen = int(mask.sum())
    for count in (chosen, chosen + 1, 1):
        everywhere(in_order, x, mask, RANDOM.random((count, 3)))
    for count in (3, 2, 1):
        # The number of values is compared though no value is looked at.
        everywhere(in_order, np.zeros((6, 0)), ROWS, np.zeros((count, 0)))
    everywhere(in_order, np.zeros((0, 3)), np.zeros(0, bool), np.zeros((0, 3)))


@pytest.mark.parametrize("function", [rows_in_turn, rows_of_itself])
def test_rows_for_masks_among_other_changes(function: Callable[..., Any]) -> None:
    rows = RANDOM.random((5, 4))
    everywhere(function, RANDOM.random((6, 4)) - 0.5, ROWS, rows if function is rows_in_turn else rows[:3])


@pytest.mark.parametrize("count", [2, 3])
def test_values_for_a_mask_beside_a_number(count: int) -> None:
    everywhere(behind_a_number_in_order, RANDOM.random((3, 6)), ROWS, np.arange(1.0 + count))


def behind_a_number_in_order(x, m, v):
    x[0, m] = v


def test_rows_for_a_mask_are_all_that_a_cpu_writes() -> None:
    low = pytocu.jit(in_order).lower("f64[n, k]", "bool[m]", "f64[p, k]")
    assert [inst.attr("schedule") for inst in low.host("cpu").body.insts if inst.op.name == "launch"] == ["rows", "sweep"]
    # Nothing waits for the comparison of counts in a temporary.
    low = pytocu.jit(in_order).lower("f64[n]", "bool[m]", "f64[p]")
    assert sum(inst.op.name == "launch" for inst in low.host("cpu").body.insts) == 2


def test_axes_of_what_a_mask_of_several_axes_chooses() -> None:
    def axes(x):
        chosen, rows = x[x > 0], x[x[:, 0] > 0]
        inner = lambda a: a.ndim  # noqa: E731
        return chosen.ndim, inner(chosen * 2), np.ndim(chosen), rows.ndim, [a.ndim for a in (chosen, rows)], chosen.itemsize

    x = np.arange(6.0).reshape(2, 3) - 1
    assert pytocu.jit(axes)(x) == axes(x) == (1, 1, 1, 2, [1, 2], 8)


def chosen_in_a_step(x, n):
    chosen = x[x > 0]
    for i in range(n):
        if i == 2:
            return chosen + chosen, x[x < i], chosen


def chosen_in_a_function(x, n):
    chosen = x[np.where(x > 0)]

    def part(y):
        for i in range(n):
            if y.size > 1 and i == 1:
                return y * i - chosen

    return part(chosen)


@pytest.mark.parametrize("n", [0, 2, 3])
@pytest.mark.parametrize("function", [chosen_in_a_step, chosen_in_a_function])
def test_a_step_returns_what_a_mask_chooses_in_it(function: Callable[..., Any], n: int) -> None:
    for x in (np.array([[1.0, -2.0, 3.0]]), np.array([-1.0, 4.0]), np.zeros(0)):
        compare(pytocu.jit(function)(x, n), function(x, n))


def behind_a_slice(x, m, i, v):
    before = x[i, :, m]
    x[i, :, m] = v
    x[i, 1:, m] *= 2
    return before, x


def behind_a_number(x, m, i, v):
    before = x[i, m]
    x[i, m] = v[:1]
    x[i - 1, m, :] += 1
    return before, x[i, m, 0], x


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("function", [behind_a_slice, behind_a_number])
def test_a_mask_beside_a_number(function: Callable[..., Any], known: bool) -> None:
    """Where a slice is between them, the chosen elements come first in what is assigned."""
    jitted = pytocu.jit(static="i")(function) if known else pytocu.jit(function)
    for i in (0, -1, 1):
        x, m = np.arange(18.0).reshape(2, 3, 3), np.array([True, False, True])
        v, same = np.arange(6.0).reshape(2, 3) - 9, x.copy()
        compare(jitted(x, m, i, v), function(same, m, i, v))
        compare(x, same)
    with pytest.raises(IndexError, match="along axis 1; size of axis is 3 but size of corresponding boolean axis is 4"):
        pytocu.jit(lambda x, m, i: x[i, m])(np.ones((2, 3)), np.ones(4, bool), 1)


_NO_ELEMENTS = ["np.arange(12.0).reshape(3, 4)", "np.zeros((0, 3))", "np.zeros(0, bool)",
                "np.array([True, False, True, False])",
                "np.bool_(True)", "np.array(False)", "np.array(2.5)", "np.arange(4)"]  # fmt: skip


def test_masks_without_elements_choose_nothing_of_an_axis_of_any_length() -> None:
    masks = ("c", "np.zeros((0, 4), bool)", "np.zeros((3, 0), bool)", "c[:, None]", "np.zeros((2, 0), bool)", "[]", "d[:0]")
    rows = [row.format(m) for m in masks for row in (
        "a[{0}]", "b[{0}]", "a[:, {0}]", "a[0, {0}]", "a[{0}, 0]", "a[{0}, {0}]",
        "a[{0}, [0, 1]]", "a[None, {0}]",
        "a[{0}] = 7\nreturn a", "a[{0}] += 1\nreturn a", "a[1, {0}] = h[:0]\nreturn a", "h[{0}] = 1\nreturn h",
        "a[{0}].sum(axis=0)", "a[{0}] * a[{0}]", "np.max(h[{0}])",
    )]  # fmt: skip
    check(_NO_ELEMENTS, [*rows, "a.flat[c]", "h.flat[d[:0]]", "a[5, d]", "a[5, c]", "a[5, d[:3]]", "h[a > 2, 0]"])


def in_steps(x, m, n):
    total = 0.0
    for k in range(n):
        total += x[m].sum()
        x[m] += k + 1
        if n > k + 1:
            x[m] = k
    return x, total


def of_a_run(x, y, c):
    m = y[y > c] > 0
    x[m] = x[m] * 2 + 1
    return x, x[m], x[:, m], x[m, 0], x[0].flat[m], np.compress(m, x[0])


def of_rows_of_a_run(x, y, c):
    m = y[y[:, 0] > c] > 0
    x[m] = 7
    return x[m], x


def of_a_list(x, y, c):
    found = []
    for v in y:
        if v > c:
            found.append(v > 3)
    return x[0][np.array(found, bool)]


def of_what_a_run_chooses(x, y, c):
    z = x[0][x[0] > c]
    return z[y > 5], z[y[y > c + 4] > 0]


def test_masks_without_elements_where_a_run_finds_out_lengths() -> None:
    square, none, five = np.arange(25.0).reshape(5, 5), np.zeros(0, bool), np.arange(5.0)
    functions = {
        in_steps: [(five, none, 3), (five, five > 2, 2), (five, none, 0), (five, none > 0, 1), (five, np.zeros(3, bool), 2)],
        of_a_run: [(square, five, 9.0), (square, five, -1.0), (square, five, 2.0)],
        of_rows_of_a_run: [(square, square[:2], 99.0), (square, square, -1.0), (square, square, 4.0)],
        of_a_list: [(square, five, 9.0), (square, five, -1.0), (square, five, 1.0)],
        of_what_a_run_chooses: [(square, five[:0], 1.0), (square, five, -1.0), (square, five, 0.0)],
    }
    for function, calls in functions.items():
        made = pytocu.jit(function)
        for arguments in calls:
            given = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
            try:
                expected = function(*given[0])
            except IndexError as error:
                with pytest.raises(IndexError) as found:
                    made(*given[1])
                assert str(found.value).splitlines()[0] == str(error)
                continue
            compare(made(*given[1]), expected)
            compare(given[1][0], given[0][0])


def test_one_bool_of_run_time_is_a_mask_of_an_axis_of_its_own() -> None:
    rows = [row.format(m) for m in ("e", "f", "e ^ f", "(g > 2)", "(g > 3)") for row in (
        "a[{0}]", "g[{0}]", "b[{0}]", "a[{0}, ...]", "a[:, {0}]", "a[..., {0}]", "a[None, {0}]", "a[1:, {0}, ::2]",
        "a[{0}].sum()", "a[{0}] = 1\nreturn a", "g[{0}] = 0\nreturn g", "g[{0}] += 2\nreturn g", "a[{0}] = h\nreturn a",
        "a[:, {0}] *= 2\nreturn a",
    )]  # fmt: skip
    check(_NO_ELEMENTS, rows)
    refused(_NO_ELEMENTS, "a[0, e]", "one bool beside integers or arrays", "np.where")


def test_what_chosen_rows_do_not_take_is_said_with_their_number() -> None:
    rows = ("a[d[:3]] = h[:3]", "a[d[:3]] = h[:0]", "a[a[:, 0] > 9] = h[1:]", "a[c] = h[:2]", "b[c] = h", "a[:, d] = h[:2]",
            "a[e] = h[:2]", "a[d[:3]] = h[:1]")  # fmt: skip
    check(_NO_ELEMENTS, [f"{row}\nreturn {row[0]}" for row in rows])


def test_masks_beside_a_second_ellipsis_or_one_bool() -> None:
    rows = ["a[..., ..., [True, False]]", "a[..., ..., d]", "a[..., ..., d, d, d]", "a[..., ..., [True]] //= 2\nreturn a",
            "a[0, 0, ..., ..., [True]] = 1\nreturn a", "a[0, 0, d[:3], True] = 1\nreturn a", "a[0, 0, True, d[:3]]",
            "a[0, 0, [True, True], True]", "a[0, 0, e, d[:3]]"]  # fmt: skip
    check(_NO_ELEMENTS, rows)
    for row in ("a[True, d[:3]]", "a[d[:3], True]", "a[True, a > 0]", "a[True, d[:3]] = 1\nreturn a", "a[np.True_, d[:3], 0]",
                "a[0, True, [True, False, True, True]]", "np.add.at(a, (True, d[:3]), 1)\nreturn a"):  # fmt: skip
        refused(_NO_ELEMENTS, row, "one bool beside integers or arrays", "index with the rest")

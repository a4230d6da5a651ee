"""Lists that loops of run time make longer, and comprehensions over steps of run time: arrays with a row for each member."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(8)
V, X = RANDOM.random(5), RANDOM.random((4, 3))


def squares(a, n):
    return np.array([a[i] ** 2 + 1 for i in range(n)])


def over_an_array(a, n):
    pairs = np.array([v * w for v, w in zip(a, a, strict=True)])
    return np.array([np.sin(v) * n for v in a]), np.array([i * v for i, v in enumerate(a)]), pairs


def stacked(a, n):
    layers = [a * k for k in range(n)]
    return np.stack(layers), np.stack(layers, axis=1), np.stack(layers, axis=-1)


def joined(a, n):
    layers = [a * k for k in range(n)]
    return np.concatenate(layers), np.hstack(layers), np.vstack([a * k for k in range(n)]), np.dstack(layers)


def columns(a, n):
    above = np.vstack([a[k] * k for k in range(n)])
    behind = np.dstack([a[k] for k in range(n)])
    return np.column_stack([a * k for k in range(n)]), above, np.hstack([a[k] for k in range(n)]), behind


def table(a, n):
    return np.array([[a[i] * a[j] for j in range(n)] for i in range(n)])


def flat_table(a, n):
    return np.array([a[i] * a[j] for i in range(n) for j in range(2)])


def reduced(a, n):
    made = [a[k : k + 2].sum() for k in range(n)]
    return np.mean(made), np.max(made), len(made), sum([a[k] for k in range(n)])


def history(x, n):
    losses = []
    for _ in range(n):
        x = 0.5 * (x + 1 / x)
        losses.append(x.sum())
    return x, np.array(losses)


def path(x, n):
    seen = [x]
    for _ in range(n):
        x = x - 0.1 * np.sin(x)
        seen.append(x)
    return np.array(seen), len(seen), seen[0], seen[-1], np.array(seen[1:]), np.array(seen[::-1])


def in_place(x, n):
    seen = [x.copy()]
    for i in range(n):
        x[1:] += i
        seen.append(x.copy())
    return np.array(seen)


def of_new_arrays(x, n):
    seen = []
    for i in range(n):
        new = np.zeros_like(x)
        new[1:] = x[:-1]
        new[0] = i
        seen.append(new)
        x = new
    return np.stack(seen), x


def euler(y0, n):
    t, ts, ys = 0.0, [0.0], [y0]
    for _ in range(n):
        ys.append(ys[-1] + 0.1 * ys[-1])
        t += 0.1
        ts.append(t)
    return np.array(ts), np.array(ys)


def fibonacci(a, n):
    fib = [1, 1]
    for _ in range(n):
        fib.append(fib[-1] + fib[-2])
    return np.array(fib)


def backwards(a, n):
    seen = []
    for i in range(n - 1, -1, -1):
        seen.append(a[i])
        seen.append(-a[i])
    return np.array(seen)


def in_loops(a, n):
    seen = []
    for i in range(n):
        for j in range(len(a)):
            seen.append(a[i] * a[j])
        seen.append(a[i])
        for _ in range(n):
            a = a * 0.5
    return np.array(seen), a


def rows_of_rows(a, n):
    rows = []
    for i in range(n):
        row = []
        for v in a:
            row.append(v * i)
        rows.append(row)
    return np.array(rows)


def made_in_steps(a, n):
    total = 0.0
    for k in range(n):
        total += np.array([v * k for v in a]).sum()
    return total


def of_nested_functions(a, n):
    seen = []

    def note(v):
        seen.append(v.max())

    for _ in range(n):
        a = a * 0.5
        note(a)
    return np.array(seen)


def in_a_dict(a, n):
    seen = {"sum": [], "all": []}
    for _ in range(n):
        a = a * 0.5
        seen["sum"].append(a.sum())
        seen["all"].append(a)
    return np.array(seen["sum"]), np.array(seen["all"])


def of_pairs(a, n):
    return np.array([(i, i * i) for i in range(n)]), np.array([[a[i], i] for i in range(n)])


def gone_over(a, n):
    total = 0.0
    for v in [a[i] * 2 for i in range(n)]:
        total += v
    return total


def assigned(a, n):
    out = np.empty((n, n))
    out[:] = [[a[i] + a[j] for j in range(n)] for i in range(n)]
    return out


OF_VECTORS = [
    squares, over_an_array, stacked, joined, columns, table, flat_table, reduced, history, path, in_place, of_new_arrays, euler,
    fibonacci, backwards, in_loops, rows_of_rows, made_in_steps, of_nested_functions, in_a_dict, of_pairs, gone_over, assigned,
]  # fmt: skip


@pytest.mark.parametrize("function", OF_VECTORS, ids=lambda f: f.__name__)
def test_vectors(function: Callable[..., Any]) -> None:
    for n in (4, 1):
        everywhere(function, V.copy(), n, ulp=4)


@pytest.mark.parametrize("function", [squares, history, backwards, euler, of_nested_functions])
def test_lists_without_members_are_arrays_of_float64(function: Callable[..., Any]) -> None:
    everywhere(function, V.copy(), 0, ulp=4)


@pytest.mark.parametrize("function", [squares, stacked, joined, path, in_place, of_new_arrays, euler, in_a_dict])
def test_rows_of_two_axes(function: Callable[..., Any]) -> None:
    for n in (3, 1):
        everywhere(function, X.copy(), n, ulp=4)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    for function in (stacked, joined) if dtype != "bool" else (joined,):
        everywhere(function, np.array([1, 0, 1]).astype(dtype), 2)
    everywhere(lambda a, n: np.array([a[i] for i in range(n)]), np.array([1, 0, 1]).astype(dtype), 2)


def test_nothing_to_stack() -> None:
    everywhere(lambda a, n: np.stack([a * k for k in range(n)]), V, 0)
    everywhere(lambda a, n: np.concatenate([a * k for k in range(n)]), V, 0)


def test_members_that_there_are_not() -> None:
    for key in (0, 3, -4, 2):
        everywhere(lambda a, n: [a[i] for i in range(n)][key], V, 3)
    for key in (2, 3, -3, -4):
        everywhere(lambda a, n, k: [a[i] for i in range(n)][k], V, 3, key)


def test_one_size_serves_all() -> None:
    function = pytocu.jit(history)
    for n in (1, 3, 9):
        function(V, n)
    assert len(function.specializations) == 1


def conditional(a, n):
    seen = []
    for i in range(n):
        if a[i] > 0.5:
            seen.append(a[i])
    return np.array(seen)


def leaving(a, n):
    seen = []
    for i in range(n):
        seen.append(a[i])
        if a[i] > 0.5:
            break
    return np.array(seen)


def until(a, n):
    seen = []
    while a.sum() > 0.1:
        a = a * 0.5
        seen.append(a.sum())
    return np.array(seen)


def chosen(a, n):
    return np.array([a[i] for i in range(n) if a[i] > 0.5])


def one_array(a, n):
    seen = []
    for _ in range(n):
        a[1:] += 0.5
        seen.append(a)
    return np.array(seen)


def changed_after(a, n):
    seen = []
    for i in range(n):
        new = a * i
        seen.append(new)
        new[0] = 5
    return np.array(seen)


def changed_behind(a, n):
    seen = []
    for _ in range(n):
        seen.append(a)
    a[0] = 5
    return np.array(seen)


def changed_first(a, n):
    seen = [a]
    for _ in range(n):
        a[0] += 1
        seen.append(a.copy())
    return np.array(seen)


def changed_through_the_list(a, n):
    seen = []
    for _ in range(n):
        seen.append(a)
    seen[0][0] = 5
    return a


def changed_through_a_list_of_steps(a, n):
    seen = []
    for _ in range(n):
        a = a * 2
        seen.append(a)
    seen[-1][0] = 5
    return a


def handed_on(a, n):
    seen = []
    b = a.copy()
    for _ in range(n):
        b += 1
        c = b * 2
        seen.append(c)
        b = c
    return np.array(seen)


def of_two_kinds(a, n):
    seen = [1]
    for i in range(n):
        seen.append(a[i])
    return np.array(seen)


def test_an_array_of_ints_and_numpys_numbers_has_numpys_dtype() -> None:
    of = pytocu.jit(of_two_kinds)
    for n in (1, 3):
        compare(of(V, n), of_two_kinds(V, n))
    with pytest.raises(UnsupportedError, match="the list seen may hold Python's ints alone"):
        of(V, 0)


def of_chosen_elements(a, n):
    return np.array([a[a > k] for k in range(n)])


def of_lists_of_other_lengths(a, n):
    neighbours = [[j for j in range(len(a)) if a[j] > i] for i in range(n)]
    return neighbours[0]


def of_counted_elements(a, n):
    return np.array([np.unique(a[k:]) for k in range(n)])


def of_other_lengths(a, n):
    return np.array([a[i:] for i in range(n)])


def of_every_nth_element(a, n):
    return np.array([a[k : k + 2 : n] for k in np.argsort(a)])


def triangle(a, n):
    seen = []
    for i in range(n):
        for j in range(i, n):
            seen.append(a[i] * j)
    return np.array(seen)


def again(a, n):
    seen = [a[i] for i in range(n)]
    seen.append(1.0)
    return np.array(seen)


def read_inside(a, n):
    seen = []
    for i in range(n):
        seen.append(a[i])
        a = a + np.array(seen).sum()
    return a


def of_two_names(a, n):
    seen = other = []
    for i in range(n):
        seen.append(a[i])
    return np.array(other)


def of_ints(a, n):
    return np.array([2 * i for i in range(n)])


@pytest.mark.parametrize("function", [conditional, leaving, until, chosen, triangle, read_inside])
def test_how_long_a_run_says(function: Callable[..., Any]) -> None:
    everywhere(function, V, 3, ulp=4)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (one_array, r"append a copy: seen.append\(x.copy\(\)\)"),
        (changed_after, "append a copy"),
        (changed_behind, "append a copy"),
        (changed_first, "append a copy"),
        (changed_through_the_list, "may share its memory"),
        (changed_through_a_list_of_steps, "may share its memory"),
        (handed_on, "append a copy"),
        (of_other_lengths, "whose length changes from step to step"),
        (of_chosen_elements, "whose length changes from step to step"),
        (of_lists_of_other_lengths, "whose length changes from step to step"),
        (of_counted_elements, "whose length changes from step to step"),
        (of_every_nth_element, "whose length changes from step to step"),
        (of_two_names, "a list grows in a loop"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(V.copy(), 3)


def test_ints_beside_floats() -> None:
    jitted = pytocu.jit(of_two_kinds)
    compare(jitted(V.copy(), 3), of_two_kinds(V.copy(), 3))
    with pytest.raises(UnsupportedError, match="the list seen may hold Python's ints alone"):
        jitted(V.copy(), 0)


def parts_of_any_length(x, n):
    parts = []
    for i in range(n):
        first = x[i]
        parts.append(x[:i] + first)
    return parts


def some_parts(x, n):
    parts = []
    for i in range(n):
        if x[i] > 0:
            parts.append(x[i:])
    return len(parts)


def parts_of_a_while(x, n):
    parts, i = [], 0
    while x[i] < n:
        parts.append(x[:i])
        i += 1
    return len(parts)


@pytest.mark.parametrize("function", [parts_of_any_length, some_parts, parts_of_a_while], ids=lambda f: f.__name__)
def test_arrays_of_many_lengths_are_refused_where_they_are_appended(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"the list parts grows (in a loop )?by f64\[") as caught:
        pytocu.jit(function)(V.copy(), 3)
    assert caught.value.loc.line == function.__code__.co_firstlineno + 4 - (function is parts_of_a_while)
    assert "y[i, :len(a)] = a" in caught.value.help
    assert "also:" not in str(caught.value)


def test_a_python_number_beside_numpys() -> None:
    everywhere(again, V.copy(), 3)



def test_ints_without_members_would_be_float64() -> None:
    everywhere(of_ints, V, 3)
    with pytest.raises(UnsupportedError, match="where the list has no member"):
        pytocu.jit(of_ints)(V, 0)


def repeated(a, n):
    matrix = np.diag([1 + 2 * a[0]] * n) + np.diag([-0.5] * (n - 1), 1)
    return matrix, np.array(n * [a[1]]), len([0] * n)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_number_repeated_in_a_list(n: int) -> None:
    everywhere(repeated, V, n)


def test_a_number_that_no_side_changes() -> None:
    def counted(x):
        s = x.dtype.type(0)
        found = [1]
        for i in range(len(x)):
            if x[i] == s:
                found.append(3)
            else:
                s = max(s, s)
        return np.array(found), s

    everywhere(counted, np.array([1.0, 0.0, 2.0, 0.0]))


def test_steps_that_are_written_out_around_a_loop_that_extends_a_list() -> None:
    def extended(a):
        s = a.dtype.type(1)
        found = []
        for _ in range(3):
            for p, q in zip(a[1:], a):  # noqa: B905
                found.extend([s, q | p])
            found.extend([s, s])
        return np.array(found)

    def for_nobody(a):
        s = a.dtype.type(1)
        found = []
        for _ in range(5):
            for p, q in zip(a[1:], a):  # noqa: B905
                found.extend([s, q | p])
            found.extend([s, s])
        return a

    for n in (0, 1, 3):
        a = np.arange(n).astype(np.uint32)
        compare(pytocu.jit(extended)(a), extended(a))
        compare(pytocu.jit(for_nobody)(a), for_nobody(a))

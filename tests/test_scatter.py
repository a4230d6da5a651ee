"""Assignment through integer arrays: NumPy's elements, the last of several for one place, and its errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.explain.plan_text import plan_text
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(3)


def places(count: int, size: int) -> np.ndarray:
    return RANDOM.integers(-size, size, count)


X, Y, Z = RANDOM.random(20), RANDOM.random((6, 5)), RANDOM.random((4, 3, 5))
MANY = places(40, 20)


def assigned(x, i, e):
    x[i] = e
    return x


def added(x, i, e):
    x[i] += e


def scaled(x, i, e):
    x[i] *= 2
    x[i] -= e[0]


def pairs(y, i, j, e):
    y[i, j] = e


def pairs_added(y, i, j, e):
    y[i, j] += e


def columns(y, j, e):
    y[:, j] = e


def middle(z, j, e):
    z[1:3, j, ::2] = e


def around(z, i, j, e):
    z[i, :, j] = e


def row_list(y, e):
    y[[2, 0, 2]] = e


def one_value(x, i):
    x[i] = 7


def chained(x, i, e):
    x[i] = e
    x[i[::-1]] += 1
    return x[1:] * 2


def from_itself(x, i):
    x[i] = x[: i.shape[0]] + x[i]


def into_view(y, i, e):
    y[1:, ::2][i] = e


def local(x, i, e):
    t = x * 2
    t[i] = e
    return t, x


def counted(x, i):
    t = np.zeros(20, np.int32)
    t[i] += 1
    return t


def put(x, i, e):
    np.put(x, i, e)


def put_method(x, i, e):
    x.put(i, e)


def put_clip(y, i, e):
    np.put(y, i, e, mode="clip")


def put_wrap(y, i, e):
    np.put(y, i, e, "wrap")


def put_along(y, i, e):
    np.put_along_axis(y, i, e, 1)


def put_along_first(y, i, e):
    np.put_along_axis(y, i, e, axis=0)


def put_along_flat(y, i, e):
    np.put_along_axis(y, i, e, None)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (assigned, (X, MANY, RANDOM.random(40))),
    (assigned, (X, MANY, np.float64(3))),
    (assigned, (X, MANY[:0], X[:0])),
    (assigned, (X[:1], np.zeros(9, int), RANDOM.random(9))),
    (assigned, (X[:0], MANY[:0], X[:0])),
    (assigned, (X.astype("f4"), MANY.astype("i1"), RANDOM.random(40))),
    (assigned, (np.arange(20), MANY.astype("u4") % 20, RANDOM.random(40) * 100)),
    (assigned, (X.astype("c16"), MANY.reshape(8, 5), RANDOM.random((8, 1)))),
    (assigned, (X.astype("f2"), MANY.reshape(8, 5), RANDOM.random(5).astype("f2"))),
    (assigned, (Y, places(9, 6), RANDOM.random((9, 5)))),
    (assigned, (Y, places(9, 6), RANDOM.random(5))),
    (assigned, (Y, places(4, 6).reshape(2, 2), RANDOM.random((2, 2, 1)))),
    (assigned, (np.asfortranarray(Y), places(9, 6), RANDOM.random((9, 5)))),
    (assigned, (Y[::2, ::-1], places(9, 3), RANDOM.random((9, 5)))),
    (assigned, (X > 0.5, MANY, RANDOM.random(40) > 0.5)),
    (added, (X, MANY, RANDOM.random(40))),
    (added, (Y, places(9, 6), RANDOM.random((9, 5)))),
    (scaled, (X, MANY, RANDOM.random(40))),
    (pairs, (Y, places(9, 6), places(9, 5), RANDOM.random(9))),
    (pairs, (Z, places(9, 4)[:, None], places(2, 3), RANDOM.random((9, 2, 5)))),
    (pairs_added, (Y, places(9, 6), places(9, 5), RANDOM.random(9))),
    (columns, (Y, places(7, 5), RANDOM.random((6, 7)))),
    (columns, (Y, places(7, 5), RANDOM.random(7))),
    (middle, (Z, places(4, 3), RANDOM.random((2, 4, 3)))),
    (around, (Z, places(4, 4), places(4, 5), RANDOM.random((4, 3)))),
    (row_list, (Y, RANDOM.random((3, 5)))),
    (one_value, (X, MANY)),
    (one_value, (X.astype("u1"), MANY)),
    (chained, (X, MANY, RANDOM.random(40))),
    (from_itself, (X, places(15, 20))),
    (into_view, (Y, places(7, 5), RANDOM.random((7, 3)))),
    (local, (X, MANY, RANDOM.random(40))),
    (counted, (X, MANY)),
    (put, (X, MANY, RANDOM.random(40))),
    (put, (Y, places(9, 30), RANDOM.random(4))),
    (put, (np.asfortranarray(Y), places(9, 30), RANDOM.random((3, 4)))),
    (put, (X, np.array([3, 3, 1]), 5)),
    (put_method, (X, MANY, RANDOM.random(40))),
    (put_clip, (Y, np.array([-4, 99, 3, 29]), RANDOM.random(4))),
    (put_wrap, (Y, np.array([-4, 99, 3, 29]), RANDOM.random(2))),
    (put_along, (Y, places(12, 5).reshape(6, 2), RANDOM.random((6, 2)))),
    (put_along, (Y, places(2, 5).reshape(1, 2), 3)),
    (put_along_first, (Y, places(15, 6).reshape(3, 5), RANDOM.random((3, 1)))),
    (put_along_flat, (Y, places(8, 30), RANDOM.random(8))),
]  # fmt: skip


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]


def same(function: Callable[..., Any], arguments: tuple[Any, ...], threads: bool = True) -> None:
    """The arguments and results of the compiled code, and of the threads of both targets, and of the array level."""
    expected = copies(arguments)
    wanted = function(*expected)
    compiled = pytocu.jit(function)
    runs: list[Callable[..., Any]] = [compiled]
    if threads:
        low = compiled.lower(*copies(arguments))
        tree = low.function.body.terminator.attr("tree")
        stages = [low.function, low.host("cpu"), low.host("cuda")]
        runs += [lambda *a, s=s: interp.arrange(tree, interp.run(s, a)) for s in stages]
    for run in runs:
        given = copies(arguments)
        found = run(*given)
        for one, other in zip(given, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_as_numpy(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    same(function, arguments)


@pytest.mark.parametrize("seed", range(3))
def test_random(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    functions = {pairs: 2, pairs_added: 2, assigned: 1, added: 1}
    for _ in range(10):
        function, axes = pick.choice(list(functions.items()))
        shape = tuple(pick.randint(1, 6) for _ in range(pick.randint(axes, 3)))
        wide = tuple(pick.randint(1, 5) for _ in range(pick.randint(1, 2)))
        dtype = pick.choice(("i4", "f8", "u1", "f4"))
        order: Any = pick.choice("CF")
        x = np.array(numbers.integers(0, 99, shape), dtype, order=order)
        positions = [numbers.integers(-n, n, wide if k == 0 else wide[-1:]) for k, n in enumerate(shape[:axes])]
        whole = (*wide, *shape[axes:])
        cut = whole[pick.randint(0, len(whole) - 1) :]
        same(function, (x, *positions, numbers.integers(0, 9, cut).astype(dtype)), threads=False)


def test_the_memory_of_others() -> None:
    def shared(x, y, i):
        x[i] = y[: i.shape[0]] + 1

    i = places(12, 15)
    for shift in (0, 1, 4):
        block, expected = RANDOM.random(30), np.zeros(30)
        expected[...] = block
        shared(expected[shift : shift + 15], expected[:15], i)
        pytocu.jit(shared)(block[shift : shift + 15], block[:15], i)
        np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_outside_of_the_array_nothing_is_written(target: str) -> None:
    for function, arguments in (
        (assigned, (X, np.array([1, 20, 2]), RANDOM.random(3))),
        (assigned, (X, np.array([1, -21, 2]), 1.0)),
        (pairs, (Y, np.array([1, 2]), np.array([0, 5]), 1.0)),
        (put, (Y, np.array([0, 30]), 1.0)),
        (put_along, (Y, np.array([[0, 7]]), 1.0)),
        (assigned, (X[:0], np.array([0]), 1.0)),
    ):
        given = copies(arguments)
        with pytest.raises(IndexError) as wanted:
            function(*copies(arguments))
        with pytest.raises(IndexError) as found:
            if target == "cpu":
                pytocu.jit(function)(*given)
            else:
                interp.run(pytocu.jit(function).lower(*given).host("cuda"), given)
        assert str(wanted.value) in str(found.value)
        if target == "cpu":
            np.testing.assert_array_equal(given[0], arguments[0])


def test_errors() -> None:
    cases: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (assigned, (X, MANY[:2], RANDOM.random(3))),
        (assigned, (Y, MANY[:2] % 6, RANDOM.random((3, 5)))),
        (assigned, (X, X, 1.0)),
        (pairs, (Y, MANY[:2] % 5, MANY[:3] % 5, 1.0)),
        (pairs, (X, MANY, MANY, 1.0)),
        (assigned, (X, MANY, 1j)),
        (put_along, (Y, MANY, 1.0)),
        (put_along, (Y, Y, 1.0)),
        (added, (np.arange(20), MANY, RANDOM.random(40))),
    ]
    for function, arguments in cases:
        with pytest.raises((IndexError, TypeError, ValueError)) as wanted:
            function(*copies(arguments))
        given = copies(arguments)
        kind = TypeError if isinstance(wanted.value, TypeError) else type(wanted.value)
        with pytest.raises(kind) as found:
            pytocu.jit(function)(*given)
        assert str(wanted.value).splitlines()[0][:40] in str(found.value)
        np.testing.assert_array_equal(given[0], arguments[0])


def test_the_plan_has_few_kernels() -> None:
    kernels = pytocu.jit(assigned).lower(X, MANY, RANDOM.random(40)).kernels
    assert len(kernels) <= 4


def test_the_values_are_written_in_order_on_a_cpu() -> None:
    low = pytocu.jit(assigned).lower(X, MANY, RANDOM.random(40))
    assert low.compile("cpu").plan.library_calls() == ()
    assert low.compile("cuda:sm_90").plan.library_calls() == ("maximum.at",)


def row_of(x, i, e):
    x[i] = e


@pytest.mark.parametrize("lengths", ["m", "m, l", "m, 3, l"])
def test_rows_are_copied_as_rows(lengths: str) -> None:
    low = pytocu.jit(row_of).lower(f"f64[n, {lengths}]", "i64[k]", f"f64[k, {lengths}]")
    loops = [i for i in walk(low.host("cpu").body) if i.op.name == "for"]
    # Of pieces of a row, of positions, and of the elements of a piece, which lie behind each other in both arrays.
    whole, each, innermost = loops[-3:]
    assert (each in whole.regions[0].insts, innermost in each.regions[0].insts) == (True, True)
    assert not [i.op.name for i in walk(innermost.regions[0]) if "divide" in i.op.name or "remainder" in i.op.name]


def test_rows_of_arrays_with_strides_are_copied_as_rows() -> None:
    low = pytocu.jit(row_of).lower("f64[n, m; S]", "i64[k]", "f64[k, m]")
    assert [i.attr("over") for i in walk(low.host("cpu").body) if i.op.name == "for"][-3:] == ["parallel", "serial", "serial"]


def moved(u, c):
    for k in range(1, u.shape[0]):
        u[k] = u[k - 1] * c + 1


def test_axes_of_steps_are_one() -> None:
    loops = [i for i in walk(pytocu.jit(moved).lower("f64[n, m, l]", "f64[m, l]").host("cpu").body) if i.op.name == "for"]
    assert [i.attr("over") for i in loops] == ["parallel", "serial", "serial"]
    assert not [i for i in walk(loops[0].regions[0]) if i.op.name == "divide_truncated"]
    for c in (RANDOM.random((7, 30)), RANDOM.random((7, 1)), RANDOM.random(30)):
        for u in (RANDOM.random((9, 7, 30)), RANDOM.random((9, 30, 7)).transpose(0, 2, 1), RANDOM.random((9, 7, 60))[..., ::2]):
            wanted = u.copy()
            pytocu.jit(moved)(u, c)
            moved(wanted, c)
            np.testing.assert_array_equal(u, wanted)


def test_rows_of_several_pieces() -> None:
    # Longer than what a thread copies at once, repeated positions among them, and memory that lies otherwise.
    for shape in ((40, 2100), (40, 3, 700), (40, 1, 1025, 2)):
        e, i = RANDOM.random((90, *shape[1:])), places(90, 40)
        plain, wide = np.zeros(shape), np.zeros((*shape[:-1], 2 * shape[-1]))
        for x in (plain, np.zeros(shape[::-1]).T, wide[..., ::2], wide[..., : shape[-1]], plain[..., ::-1]):
            for values in (e, e[..., :1], e[0], np.asfortranarray(e), np.float64(2)):
                x[...], wanted = 0, np.zeros(shape)
                pytocu.jit(row_of)(x, i, values)
                row_of(wanted, i, values)
                np.testing.assert_array_equal(x, wanted)


def by_masks(x, v, m):
    x[None, m] = v
    return x[m, None]


@pytest.mark.parametrize("shape", [(0, 2), (0, 1), (3, 0), (2, 3)])
def test_masks_without_elements_choose_none(shape: tuple[int, ...]) -> None:
    x, m = np.zeros(shape), np.zeros(shape, bool)
    compare(call_interpreted(by_masks, x, np.ones(1), m), by_masks(x, np.ones(1), m))
    compare(pytocu.jit(by_masks)(x, np.ones(1), m), by_masks(x, np.ones(1), m))


def flags(x, i, e):
    total = 0
    for k in range(i.shape[0]):
        used = np.zeros(20, bool)
        used[i[k]] = True
        x[i[k]] = x[i[k, ::-1]] + e[k]
        total += used.sum()
    return x, total


def test_in_a_native_loop() -> None:
    i, e = places(200, 20).reshape(50, 4), RANDOM.random(50)
    low = pytocu.jit(flags).lower(X, i, e)
    assert "native function" in plan_text(low.compile("cpu").plan)
    (made, total), (wanted, wanted_total) = pytocu.jit(flags)(X.copy(), i, e), flags(X.copy(), i, e)
    np.testing.assert_array_equal(made, wanted)
    assert total == wanted_total


def test_arrays_of_several_axes_are_changed_where_they_are() -> None:
    def steps(y, i, j):
        for k in range(i.shape[0]):
            y[i[k], j[k]] = y[j[k] % 6, i[k] % 5] + k
            np.add.at(y, (j[k] % 6, i[k] % 5), 0.5)
        y[i[0]] += y[i[1]]
        return y

    i, j = places(120, 6).reshape(30, 4), places(120, 5).reshape(30, 4)
    low = pytocu.jit(steps).lower(Y, i, j)
    assert low.compile("cpu").plan.library_calls() == ()
    compare(call_interpreted(steps, Y.copy(), i, j), steps(Y.copy(), i, j))
    compare(pytocu.jit(steps)(Y.copy(), i, j), steps(Y.copy(), i, j))
    turned = np.asfortranarray(Y)
    compare(pytocu.jit(steps)(turned.copy(order="F")[::-1], i, j), steps(turned.copy(order="F")[::-1], i, j))

"""Results lie in memory as NumPy lays them out: the order of axes of what is made of operands in any order."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.axis_orders import best_axes
from pytocu.testing.compare import compare
from pytocu.testing.fuzz_programs import make
from pytocu.testing.operands import make_function


def check(function: Any, *args: Any, repeat: int = 1) -> None:
    wanted = function(*args)
    jitted = pytocu.jit(function)
    for _ in range(repeat):
        same(jitted(*args), wanted)


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    compare(found, wanted, exact=False, ulp=4)
    if isinstance(wanted, np.ndarray) and wanted.size:
        # What is a view of a new array in NumPy is a new array in the same order.
        right = [wanted.strides] if wanted.base is None else [wanted.strides, np.empty_like(wanted).strides]
        moving = [axis for axis, length in enumerate(wanted.shape) if length > 1]
        assert [found.strides[a] for a in moving] in [[strides[a] for a in moving] for strides in right]


def numbers(*shape: int, dtype: str = "f8") -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)


def turned(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The same elements, in memory in the order of these axes."""
    return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))


CUBES = """
x[i] | x[j] | x[:, i] | x[:, :, i] | x[i, :, i] | x[:, i, i] | x[i, i] | x[..., i] | x[:, j] | x[t] | x[0, 0, 0][t]
x[t, t, t, t] | np.take(x, i, axis=1) | np.take_along_axis(x, x.astype(int) % 2, 1) | np.choose(x.astype(int) % 2, [x, x + 1])
np.concatenate([x, x]) | np.concatenate([x, x + 1], axis=2) | np.concatenate([x, np.ascontiguousarray(x)], axis=1)
np.stack([x, x]) | np.stack([x, x], -1) | np.stack(x) | np.stack(x, 2) | np.concatenate(x, 1) | np.vstack([x, x])
np.hstack([x, x]) | np.dstack([x, x]) | np.append(x, x, 0) | np.block([x, x]) | np.tile(x, 2) | np.tile(x, 1)
np.repeat(x, 2, 1) | np.repeat(x, i, 1) | np.roll(x, 1, 1) | np.roll(x, 1) | np.roll(x, (1, 1), (0, 2)) | np.pad(x, 1)
np.pad(x, 1, mode="edge") | np.insert(x, 1, 0, 1) | np.insert(x, [0, 1], 0, 2) | np.delete(x, 0, 1) | np.delete(x, [0, 1], 2)
np.delete(x, slice(0, 1), 2) | np.delete(x, i == 1, 1) | x.reshape(6, 20) + 1 | x.reshape(2, 3, 20) + 1 | x.reshape(-1) + 1
x.reshape(6, 4, 5) + 0 | np.diagonal(x) + 1 | np.diagonal(x, 0, 1, 2) + 1 | np.moveaxis(x, 0, -1) + 1
x[:, None] + x[:, :, None] | np.rot90(x) + 1 | np.lib.stride_tricks.sliding_window_view(x, 2, 1) + 1 | np.tril(x)
np.flip(x) + 1 | np.broadcast_to(x, (2, 2, 3, 4, 5)) + 1 | np.diff(x, axis=1) | np.gradient(x, axis=1) | np.unwrap(x, axis=1)
np.cumsum(x, 1) | np.trapezoid(x, axis=1) | np.ptp(x, 1) | np.matmul(x, x.swapaxes(2, 3)) | np.matmul(x, x[0, 0, 0])
np.matmul(x[0, 0], x[0, 0].T) | np.einsum("abcd,abcd->abd", x, x) | np.where(x > 1, x, 0) | np.select([x > 1], [x], 0)
np.piecewise(x, [x > 1], [1, 2]) | np.isin(x, [1, 2]) | np.interp(x, [0, 9], [0, 1]) | np.add.outer(x[0, 0], x[0])
np.modf(x)[1] | np.divmod(x, 3)[0] | x.std(2) | x.mean((0, 2)) | np.nansum(x, 1) | np.median(x[0, 0])
np.searchsorted([1, 5, 9], x) | np.array([x, x]) | np.resize(x, (4, 60)) | x.T.copy() | x.flatten() | x.view(int) + 1
x.copy().view('f4') + 1 | x.swapaxes(0, 1).copy().swapaxes(0, 1).view('f4') * 1 | np.triu(x, 1)
"""


@pytest.mark.parametrize("text", [text.strip() for line in CUBES.strip().splitlines() for text in line.split("|")])
def test_functions_of_axes_in_any_order(text: str) -> None:
    function = make(f"def program(x, i, j, t):\n    return {text}\n", "program")
    jitted = pytocu.jit(function)
    i, j, t = np.array([1, 0, 1]), np.array([[1, 0], [0, 1]]), np.array([[0, 1], [1, 0], [1, 1]]).T
    for axes in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (2, 0, 3, 1), (1, 0, 3, 2)):
        x = turned(np.arange(120.0).reshape(2, 3, 4, 5), axes)
        same(jitted(x, i, j, t), function(x, i, j, t))


LOOPS = (
    "for k in range(n):\n        y = y * 0.5 + x", "y = np.sin(y) if n > 2 else y + 1",
    "for k in range(n):\n        if k > 1:\n            y = y - 1", "for k in range(n):\n        y = (y.T + 1).T",
    "for k in range(n):\n        y = y + x[:, :1]",
)  # fmt: skip


@pytest.mark.parametrize("text", LOOPS)
def test_loops_and_branches_of_element_operations(text: str) -> None:
    function = make(f"def program(x, n):\n    y = x.T + 1\n    y = y.T\n    {text}\n    return y, y.T * 2\n", "program")
    for x in (numbers(3, 4), np.asfortranarray(numbers(3, 4))):
        check(function, x, 3)


MATRICES = {
    "row-major": numbers(3, 4), "column-major": np.asfortranarray(numbers(3, 4)), "every second column": numbers(3, 8)[:, ::2],
    "every second row of columns": numbers(8, 3)[::2].T, "rows backwards": numbers(3, 4)[::-1],
    "columns backwards": np.asfortranarray(numbers(3, 4))[:, ::-1], "one row": np.broadcast_to(numbers(4), (3, 4)),
    "one column": np.broadcast_to(numbers(3)[:, None], (3, 4)), "one number": np.broadcast_to(numbers(1), (3, 4)),
}  # fmt: skip

FUNCTIONS = (
    lambda x: x.T + 1, lambda x: -x, lambda x: (x + 1).T, lambda x: (x.T + 1).T, lambda x: np.where(x.T > 2, x.T, 0),
    lambda x: x.T.astype("f4"), lambda x: np.copy(x.T), lambda x: x.T.copy(), lambda x: x.copy(), lambda x: np.zeros_like(x.T),
    lambda x: x.T + x.T.copy(), lambda x: x.T[:, ::-1] * 2, lambda x: np.cumsum(x.T, 0), lambda x: (x.T + 1).sum(0),
    lambda x: np.broadcast_to(x[0], (5, 4)) + 1, lambda x: x.T @ x, lambda x: np.add(x.T, 1), lambda x: x.T.round(),
    lambda x: x[None].T * 3, lambda x: np.clip(x.T, 0, 2), lambda x: x.T.real + 1, lambda x: np.array(x.T),
    lambda x: np.array(x.T, order="F"), lambda x: np.abs(x), lambda x: np.full_like(x.T, 2), lambda x: np.ones_like(x),
    lambda x: (x[:, None] + 1)[:, 0].T, lambda x: x.astype("i4", order="C"), lambda x: np.argmax(x[..., None] + x[0], 1),
    lambda x: (x.T + 1).reshape(2, -1), lambda x: (x.T + 1).ravel(), lambda x: x.T - x.T.mean(0),
    lambda x: (x.T, x + 1, (x + 1).T, x.T + x.sum()), lambda x: np.pad(x[:1], 1), lambda x: np.pad(x.T[:1], 1),
    lambda x: x[:, [0, 2]], lambda x: np.asfortranarray(x) + 1, lambda x: np.zeros(x.shape, order="F") * 2,
    lambda x: np.einsum("ij,kj->ki", x, x),
    lambda x: np.einsum("ij,kj->ik", x, x.T.T), lambda x: x.copy("A"), lambda x: np.zeros_like(x, order="A"),
    lambda x: x.imag + 1, lambda x: np.isreal(x), lambda x: np.iscomplex(x), lambda x: np.iscomplex(x + 1j),
    lambda x: np.isreal(x.T),
    lambda x: np.round(x, 1), lambda x: np.round(x.T, -1), lambda x: np.round(x * 1j, 1), lambda x: np.round(x.astype(int), -1),
    lambda x: np.packbits(x > 0, axis=0), lambda x: np.unpackbits(x.astype("u1"), axis=1), lambda x: np.argwhere(x),
    lambda x: (np.imag(x[1:, 1:]), np.isreal(x[::-1, ::-1].T), np.imag(x[-1:]), np.round(x[:, 1:], 1), np.pad(x[:-1], 1)),
    lambda x: (np.packbits(x[::-1] > 0, axis=-1), np.stack([x[-1:], x[-1:]], 1), np.concatenate([x[-1:], x[-1:]])),
    lambda x: (np.add(x, x.T.copy().T, order="A"), np.sqrt(x.T, order="A"), np.add.outer(x[0] + 0, x[1] * 1, order="A")),
    lambda x: np.add(x[:1].copy().T, x[0] * 1, order="A"), lambda x: np.divmod(x, x[0], order="A")[1],
    lambda x: np.nan_to_num(x * 1j), lambda x: np.stack([x.T[-1:, :, None], x.T[-1:, :, None]], 1),
    lambda x: np.einsum("ij,ij->ji", x, x), lambda x: np.insert(x, 1, 0, axis=0), lambda x: np.delete(x[:1].T, 1, axis=0),
)  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_of_a_matrix(name: str, number: int) -> None:
    check(FUNCTIONS[number], MATRICES[name])


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_axes_in_any_order(axes: tuple[int, ...]) -> None:
    x = numbers(2, 3, 4)
    check(lambda x, y, z: (x + 1, x * y, x + y + z, np.where(x > 0, y, z), x.sum(1), x.max(0), x.mean(2), x.var(1)),
          turned(x, axes), turned(x, axes), turned(x, axes[::-1]))  # fmt: skip
    check(lambda x: (np.transpose(x, axes) + 1, (x + 1).transpose(axes), x[:, 0], x[:, 0] + 1), x)
    check(lambda x: x[:, :, None] + x[:, None, :1], x)


def test_axes_of_length_1_and_0(part: Any) -> None:
    functions = (
        lambda x: x + 1, lambda x: x.swapaxes(0, 2) * 2, lambda x: np.pad(x, 1), lambda x: np.insert(x, 1, 0, 1),
        lambda x: np.delete(x, 0, 2), lambda x: x[None].T + 1, lambda x: x.sum(1), lambda x: np.tile(x, 2),
        lambda x: np.concatenate([x, x], 1), lambda x: np.zeros_like(x.T), lambda x: np.roll(x, 1, 0), lambda x: x[:, [0, 0]],
    )  # fmt: skip
    shapes = ((2, 1, 4, 5), (1, 3, 4, 5), (2, 3, 4, 1), (1, 3, 1, 2), (2, 3, 0, 4))
    for function, shape in part(list(itertools.product(functions, shapes))):
        if not (0 in shape and function is functions[4]):
            for axes in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3)):
                check(function, turned(numbers(*shape), axes))


def test_stretches_of_an_axis() -> None:
    functions = [lambda x, axis=axis: np.add.reduceat(x, [0, 1, 1], axis) for axis in range(3)]
    for function, axes in itertools.product(functions, itertools.permutations(range(3))):
        check(function, turned(numbers(2, 3, 4), axes))
    check(lambda x: np.add.reduceat(x, [0, 2, 1], axis=-1), numbers(2, 4))


@pytest.mark.parametrize("first", list(itertools.permutations(range(3))))
def test_operands_in_different_orders(first: tuple[int, ...]) -> None:
    x = numbers(2, 3, 4)
    for second in itertools.permutations(range(3)):
        check(lambda x, y: x + y, turned(x, first), turned(x, second))


def test_repeated_operands_decide_for_the_axes_in_which_they_move() -> None:
    x, row, column = numbers(3, 4), numbers(4), numbers(3)[:, None]
    for other in (row, column, np.broadcast_to(row, (3, 4)), np.broadcast_to(column, (3, 4)), np.float64(2)):
        check(lambda x, other: (x + other, x.T + other.T if other.ndim == 2 else x.T + 1), x, other)
        check(lambda x, other: x + other, np.asfortranarray(x), other)


def test_what_changes_in_place_keeps_its_order() -> None:
    def change(x: np.ndarray, y: np.ndarray) -> Any:
        new = x.T + 1
        new[1:] *= 2
        new[0] = y[:, 0]
        y.T[...] = x.T * 2
        return new, new.T, new.sum(0), new.reshape(-1)

    for x, y in itertools.product((numbers(3, 4), np.asfortranarray(numbers(3, 4))), repeat=2):
        wanted, mine, theirs = y.copy("K"), y.copy("K"), y.copy("K")
        same(pytocu.jit(change)(x, mine), change(x, theirs))
        wanted[...] = theirs
        np.testing.assert_array_equal(mine, wanted)


def test_out_keeps_the_order_that_it_has() -> None:
    x = numbers(3, 4)
    for out in (np.empty((4, 3)), np.empty((4, 3), order="F"), np.empty((8, 6))[::2, ::2]):
        jitted = pytocu.jit(lambda x, out: np.add(x.T, 1, out=out))
        assert jitted(x, out) is out
        np.testing.assert_array_equal(out, x.T + 1)


def test_a_result_is_read_as_it_lies() -> None:
    def passed_on(x: np.ndarray) -> Any:
        y = np.exp(x.T) + 1
        return y, y - y.mean(0), y / y.sum(1, keepdims=True), np.sort(y, 0)

    for x in (numbers(40, 30), np.asfortranarray(numbers(40, 30))):
        found, wanted = pytocu.jit(passed_on)(x), passed_on(x)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, 1e-13)
            assert one.strides == other.strides


def test_repeated_calls_have_the_same_order() -> None:
    # The first is the generic program's, later ones are native.
    for x in (numbers(2, 3, 4), turned(numbers(2, 3, 4), (1, 2, 0)), numbers(2, 3, 8)[..., ::2]):
        check(lambda x: (x.transpose(0, 2, 1) + 1, x + 2), x, repeat=12)


def test_results_of_a_loop_with_other_shapes() -> None:
    def settle(w: np.ndarray, v: np.ndarray, n: int) -> Any:
        for _ in range(n):
            v = v - (w.T @ (w @ v)) * 0.01
            w = w * 0.5
        return v, w.T + 1, w

    check(settle, numbers(3, 4), numbers(4), 3)


def test_results_that_were_made_before_a_branch_of_the_host() -> None:
    def before(x: np.ndarray, n: int) -> Any:
        y = np.add(x.T, 1, out=np.zeros_like(x.T), where=x.T > 0)
        z = x @ x.T
        if n > 2:
            z = np.sort(z, axis=0)
        return y, z

    for n in (1, 3):
        check(before, numbers(3, 4), n)


@pytest.mark.parametrize("text", ["assert n < 9", "np.array([1, 2])[n]", "x = np.cumsum(x, 1)", "x = x[::-1]"])
def test_results_of_branches_and_loops_of_the_host(text: str) -> None:
    head, tail = "def branch(x, n):\n    y = x + 1\n    if n > 2:\n        ", "\n    return y, x.T + 1, x[1:, 1:][::-1] * 2\n"
    branch = make(head + text + tail, "branch")
    step = "for _ in range(n):\n        y, x = x, y.cumsum(0)\n"
    loop = make(f"def loop(x, n):\n    y = x + 1\n    {step}    return y, x.T\n", "loop")
    for x in (numbers(3, 4), np.asfortranarray(numbers(3, 4)), turned(numbers(2, 3, 4), (1, 2, 0))):
        for n in (1, 4) if "[n]" not in text else (1,):
            check(branch, x, n)
            check(loop, x, n)


@pytest.mark.parametrize("text", ["np.block([[y, y], [y, y]])", "np.diff(y, axis=0, prepend=1, append=0)",
                                  "np.stack([y, y], 1)", "np.concatenate([y, y], 1)", "np.delete(y, [], 0)"])  # fmt: skip
def test_lengths_that_happen_to_be_1_in_what_is_joined(text: str) -> None:
    joined = make_function("a", [text.replace("y", "(a[1:-1, 1:-1] > 0.5)")], {"np": np})
    jitted = pytocu.jit(joined)
    for shape in ((5, 6), (3, 3), (3, 5), (5, 3), (4, 4)):
        x = np.asfortranarray(numbers(*shape))
        same(jitted(x), joined(x))


JOINED = ["np.hstack([x[:, ::2], y])", "np.concatenate([x[:, 1:], y], 1)", "np.vstack([x[:, ::2].T, y.T])"]


@pytest.mark.parametrize("text", JOINED)
def test_axes_of_length_1_of_one_of_several_arrays_that_are_joined(text: str) -> None:
    joined = make_function("xy", [text], {"np": np})
    jitted = pytocu.jit(joined)
    for x in (numbers(2, 4), numbers(2, 2), numbers(3, 2), numbers(3, 3)):
        for y in (np.asfortranarray(numbers(len(x), 2)), numbers(len(x), 2)):
            same(jitted(x, y), joined(x, y))


STATED = """np.insert(x, 1, 5, 0) | np.insert(x, 0, y[:, 0], 1) | np.pad(x, 1, 'mean') | np.pad(x, ((1, 0), (0, 2)), 'edge')
np.hstack([x, x]) | np.concatenate([x, y], 1) | np.stack([x, y], 2) | np.block([[x, y], [y, x]]) | np.append(x, y, 0)
np.ones_like(x) | np.full_like(x, 2) | np.unwrap(x) | np.choose((x > 0).astype(int), [x, -x]) | x[:, [1, 0]] | x[[1, 0]]
np.select([x > 0, x < -2], [x, 2 * x]) | np.delete(x, 1, 0) | np.roll(x, 1, 0) | np.diff(x, axis=1, prepend=0) | np.sort(x, 0)
np.fft.fft(x) | np.fft.rfft(x, 7) | np.fft.fft2(x) | np.cumsum(x, 0) | np.take_along_axis(x, np.argsort(x, 0), 0)"""
STATED_TEXTS = [text.strip() for line in STATED.splitlines() for text in line.split(" | ")]
BLOCKS = {
    "behind a branch of the host": "    if n > 3:\n        assert n > 5, 'few'\n    return {0}",
    "a branch": "    if n > 3:\n        r = {0}\n    else:\n        r = {0}\n    return r + 0, r",
    "an expression": "    return {0} if n > 3 else {0} * 1",
    "a side that may raise": "    r = {0}\n    if n > 1:\n        r = {0}\n        assert n < 5\n    return r",
    "a loop": "    r = {0}\n    for i in range(n):\n        r = {0}\n    return r",
    "a loop that has steps": "    r = x @ y.T\n    for i in range(2):\n        r = {0}\n    return r",
}


# Where steps carry a gradient, its length, which the call compares, leaves the strides open.
BLOCKS_AND_TEXTS = [*itertools.product(BLOCKS, STATED_TEXTS), *((w, "np.gradient(x)[0]") for w in BLOCKS if w != "a loop")]


@pytest.mark.parametrize(("where", "text"), BLOCKS_AND_TEXTS)
def test_what_is_made_in_branches_and_loops_lies_as_numpys(where: str, text: str) -> None:
    whole = make(f"def made(x, y, n):\n{BLOCKS[where].format(text)}\n", "made")
    for x, y in itertools.product((numbers(3, 4), np.asfortranarray(numbers(3, 4))), repeat=2):
        for n in (2, 0):
            check(whole, x, y, n)


EMPTY = [
    "(x[:0] + 1).sum(0)", "x[:0].sum(0)", "(x + 1)[:0].sum(0)", "(x[:, :0] * 2).any(1)", "(x + 1).sum(0)",
    "(x[:, :0] * 2).prod(1, keepdims=True)", "np.trapezoid(x[-1:] * 2, axis=0)", "(x * 2)[1:].max(0, initial=1)",
]  # fmt: skip


@pytest.mark.parametrize("text", EMPTY)
def test_a_new_array_without_elements_is_in_no_order_when_it_is_reduced(text: str) -> None:
    reduced = make_function("x", [text], {"np": np})
    jitted = pytocu.jit(reduced)
    for shape in ((2, 2, 3), (1, 2, 3), (0, 2, 3), (2, 3, 4)):
        for order in ("F", "C"):
            x = np.asarray(numbers(*shape), order=order)
            same(jitted(x), reduced(x))


def test_what_steps_carry_may_be_turned_and_changed() -> None:
    def turned_round(x: np.ndarray, n: int) -> Any:
        y = x.copy()
        for _ in range(n):
            w = y[::-1]
            w[1:] += y[1:]
            y = w
        return y

    for x in (numbers(3, 2), np.asfortranarray(numbers(3, 2))):
        for n in (0, 1, 2, 3):
            compare(pytocu.jit(turned_round)(x, n), turned_round(x, n))


def test_copies_of_what_is_repeated_have_the_repeated_axes_last() -> None:
    def copied(x: np.ndarray) -> Any:
        y = np.broadcast_to(x, (2, *x.shape))
        whole = np.broadcast_to(x.astype(int), (2, *x.shape))
        made = y.astype("f4"), y.copy("K"), np.array(y), np.complex64(y)
        along = np.nancumsum(y, 1), np.nanprod(y, -1), np.subtract.accumulate(y, 1), np.subtract.reduce(y, -1)
        return *made, *along, np.isclose(1, whole), np.gradient(whole)[0], whole.round(), np.nan_to_num(y)

    for x in (numbers(2, 3), np.asfortranarray(numbers(2, 3)), numbers(3, 2)[:, ::-1]):
        check(copied, x)


@pytest.mark.parametrize("name", ["count_nonzero", "nanmean", "nanstd", "nanvar", "mean", "std"])
def test_statistics_of_what_is_repeated_lie_as_those_of_its_copy(name: str) -> None:
    reduced = make_function("x", [f"np.{name}(x, axis={axis})" for axis in range(3)], {"np": np})
    check(reduced, np.broadcast_to(numbers(1, 3, 4), (2, 3, 4)))
    check(reduced, np.broadcast_to(numbers(4), (2, 3, 4)))


@pytest.mark.parametrize("axis", [0, -2, 2, None])
def test_sorted_elements_lie_as_those_of_the_array(axis: int | None) -> None:
    for axes in itertools.permutations(range(3)):
        x = turned(numbers(2, 3, 4), axes)
        check(lambda x: (np.sort(x, axis), np.partition(x.T, 1, axis), np.sort(x[::-1, 1:], axis) + 1), x)


def test_sorted_elements_of_a_part_of_an_array_with_gaps_lie_as_those_of_the_part() -> None:
    for x in (numbers(6, 8)[::2, ::2], numbers(3, 4)[::-1], numbers(3, 4)[:, ::-1]):
        check(lambda x: (np.sort(x[::-1, ::-1].T, 0), np.partition(x[1:].T, 1, 0)), x)


EDITED = ["np.delete({}, 0, axis=0)", "np.insert({}, 0, 1, axis=1)", "np.round({}, 2)", "np.array({}, order='A')",
          "{}.ravel('A')"]  # fmt: skip


@pytest.mark.parametrize("text", EDITED)
def test_a_part_that_happens_to_be_the_whole_is_in_the_order_of_the_whole(text: str) -> None:
    edited = make_function("x", [text.format("x[:, :2].T"), text.format("x[1:].T")], {"np": np})
    jitted = pytocu.jit(edited)
    for shape in ((3, 4), (3, 2), (2, 2), (2, 4)):
        same(jitted(numbers(*shape)), edited(numbers(*shape)))


@pytest.mark.parametrize("text", EDITED)
def test_a_part_of_an_array_backwards_that_is_in_column_major_order_is_refused(text: str) -> None:
    edited = make_function("x", [text.format("x[::-1, ::-1].T")], {"np": np})
    jitted = pytocu.jit(edited)
    with pytest.raises(UnsupportedError, match=r"lies in memory in column-major order(.|\n)*\.copy\(order='F'\)"):
        jitted(numbers(3, 4)[::-1, ::-1])
    # With one long axis it is in both orders, and these arrays are in none.
    for x in (numbers(3, 4)[:1, ::-1], numbers(3, 4)[::-1], numbers(3, 8)[::-1, ::-2]):
        same(jitted(x), edited(x))
    copied = make_function("x", [text.format("x[::-1, ::-1].T.copy(order='F')")], {"np": np})
    check(copied, numbers(3, 4)[::-1, ::-1])


def test_one_of_two_arrays_that_is_changed_lies_where_it_did() -> None:
    def changed(x: np.ndarray, n: int) -> Any:
        a = x if n > 2 else x.copy()
        a[1:] = a[:-1]
        y = x[:, ::2] * 2
        for _ in range(n):
            a[1:] = a[:-1]
        x[:1] = a[:1]
        return y, x[:, ::2] * 2, x + 1

    for n in (1, 3):
        x = np.asfortranarray(numbers(3, 4))
        same(pytocu.jit(changed)(x.copy("F"), n), changed(x, n))


def test_layouts_are_specialisations_and_lengths_are_none() -> None:
    jitted = pytocu.jit(lambda x: x + 1)
    for n in (2, 3, 5):
        for axes in itertools.permutations(range(3)):
            jitted(turned(numbers(n, n + 1, n + 2), axes))
    orders = [types[0].partition("x_2")[2] for types in (s.types for s in jitted.specializations)]
    assert set(orders) == {"]", "; F]", "; 0 2 1]", "; 1 0 2]", "; 1 2 0]", "; 2 0 1]"}


def test_the_rule_is_that_of_numpys_iterator() -> None:
    choose = random.Random(3)
    for _ in range(300):
        ndim = choose.choice([2, 3, 4])
        shape = [2, 3, 4, 5][:ndim]
        operands: list[np.ndarray] = []
        for _ in range(choose.choice([1, 2, 3])):
            kept = [choose.random() < 0.75 for _ in range(ndim)]
            axes = choose.sample(range(ndim), ndim)
            operands.append(turned(np.zeros([n if k else 1 for n, k in zip(shape, kept, strict=True)]), tuple(axes)))
        whole = np.broadcast_shapes(*(x.shape for x in operands))
        made = np.nditer([*operands, None], order="K").operands[-1]
        ranks = [tuple(s if n > 1 else None for n, s in zip(x.shape, x.strides, strict=True)) for x in operands]
        order = best_axes(ndim, ranks)
        steps = [made.strides[axis] for axis in order if whole[axis] > 1]
        assert steps == sorted(steps, reverse=True)


PARTS = (
    "{a} + {b}", "{a} * 2", "np.where({a} > 0, {b}, {a})", "np.maximum({a}, {b})", "({a}).transpose({axes})", "-({a})",
    "({a})[::-1]", "({a}).copy()", "np.copy({a})", "({a}).astype(np.float32)", "({a}).swapaxes(0, 1)", "({a})[:, :, ::-1]",
    "{a} + ({b})[0]", "{a} - ({a}).mean(1, keepdims=True)", "({a}).cumsum(2)", "np.zeros_like({a}) + {b}", "({a})[:, :1] + {b}",
)  # fmt: skip
ENDS = ("{a}", "({a}).sum({axis})", "({a}).max({axis})", "({a})[..., 0]", "({a})[1]", "({a}).reshape(-1)", "({a}).T",
        "({a})[:, None]")  # fmt: skip


def program(choose: random.Random) -> str:
    made = ["x", "y"]
    lines = []
    for number in range(choose.choice([1, 2, 3, 4])):
        names = {"a": choose.choice(made), "b": choose.choice(made), "axes": tuple(choose.sample(range(3), 3))}
        lines.append(f"v{number} = {choose.choice(PARTS).format(**names)}")
        made.append(f"v{number}")
    results = [choose.choice(ENDS).format(a=choose.choice(made), axis=choose.choice([0, 1, 2])) for _ in range(2)]
    if choose.random() < 0.3:
        lines.append(f"{made[-1]} = {made[-1]} + 1\n    {made[-1]}[0] = 3")
    return "\n    ".join(["def program(x, y):", *lines, f"return {', '.join(results)}, {made[-1]} + 1"])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(6):
        text = program(choose)
        cube = numbers(3, 3, 3, dtype="i8")
        args = [turned(cube, tuple(choose.sample(range(3), 3))) for _ in range(2)]
        if choose.random() < 0.4:
            args[0] = np.repeat(args[0], 2, 1)[:, ::2].transpose(choose.sample(range(3), 3))
        function = make(text, "program")
        jitted = pytocu.jit(function)
        wanted = function(*args)
        try:
            same(jitted(*args), wanted)
        except AssertionError:
            orders = [a.strides for a in args]
            raise AssertionError(f"{text}\n{orders}") from None


def test_scalar_arguments_as_arrays() -> None:
    for number in (np.uint32(65535), np.float64(2), 2.0, np.array(3)):
        compare(pytocu.jit(lambda s: (np.array(s), np.asarray(s) + 1))(number), (np.array(number), np.asarray(number) + 1))


def reshaped_in_steps(x, n):
    y = x * 1.0
    for _ in range(n):
        z = y.reshape(-1)
        z[0] = 99
        y = y + z[1]
    return y


def flattened_in_steps(x, n):
    y, k = x.copy(order="K"), 0
    while k < n:
        z = y.ravel()
        z[0] = 99
        y = y + z[1]
        k += 1
    return y


def turned_by_steps(x, n):
    y = x.copy()
    for _ in range(n):
        y = (y * 2).T.copy().T
    z = y.reshape(-1)
    z[0] = 5
    return y + z[1]


def of_one_side(x, n):
    y = x * 1.0 if n > 0 else np.zeros(x.shape)
    z = y.reshape(-1)
    z[0] = 5
    return y + z[1]


@pytest.mark.parametrize("function", [reshaped_in_steps, flattened_in_steps])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_steps_carry_the_order_in_which_an_array_begins(function: Any, n: int) -> None:
    for x in (numbers(3, 4), np.asfortranarray(numbers(3, 4)), np.asfortranarray(numbers(1, 4)), numbers(4, 1)):
        check(function, x, n)
    with pytest.raises(UnsupportedError, match="z is a view of y or a copy, as the elements of y lie in memory"):
        pytocu.jit(function)(numbers(3, 4)[:, ::-1], n)


@pytest.mark.parametrize("function", [turned_by_steps, of_one_side])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_reshape_of_what_steps_carry_is_not_taken_for_a_view(function: Any, n: int) -> None:
    """It is one where the array is in row-major order, and a copy otherwise: which, the first steps may not say."""
    x = numbers(3, 4)
    if function is not turned_by_steps:
        check(function, x, n)
    with pytest.raises(UnsupportedError, match="z is a view of y or a copy, as the elements of y lie in memory"):
        pytocu.jit(function)(np.asfortranarray(x), n)


def test_a_reshape_that_is_read_alone_may_be_either() -> None:
    def read(x, n):
        y = x * 1.0
        for _ in range(n):
            y = y + y.reshape(-1)[::-1].reshape(y.shape)
        return y + 0

    for x in (numbers(3, 4), np.asfortranarray(numbers(3, 4))):
        for n in (0, 1, 4):
            compare(pytocu.jit(read)(x, n), read(x, n))


def negated_where(factor, x):
    v = x[2:, 1:-1]
    v = (-v) if factor < 1 else v
    return np.reshape(v, (-1, 1))


def rows_of_one_of_two(factor, x):
    v = x[::2] if factor < 1 else x[1::2]
    w = v.reshape(-1)
    return w.sum(), w


def one_of_three(factor, x):
    v = x[:, ::2] if factor < 1 else x[:, 1::2] if factor < 2 else x[:, :2] * 3
    return v.reshape(2, -1) + 0, v.ravel("F"), np.ascontiguousarray(v), v.T.reshape(-1)


@pytest.mark.parametrize("function", [negated_where, rows_of_one_of_two, one_of_three])
def test_a_reshape_of_one_of_several_arrays_fits_each(function: Any) -> None:
    x = np.arange(16.0).reshape(4, 4)
    jitted = pytocu.jit(function)
    for factor in (0.5, 1.5, 2.5):
        same(jitted(factor, x), function(factor, x))


LISTED = (
    "np.array([x])", "np.asarray([x.T])", "np.stack([[x.T]])", "np.sqrt([x])", "np.array([x + 1])", "np.sum([x], axis=0)",
    "np.array([[x, x]])", "np.array([x], np.float32)", "[x] + x", "np.cumulative_sum(x, axis=0, include_initial=True)",
    "np.cumulative_prod(x, axis=-1, include_initial=True)",
)  # fmt: skip


@pytest.mark.parametrize("text", LISTED)
def test_arrays_of_listed_arrays_and_of_sums_behind_a_number(text: str) -> None:
    if "cumulative" in text and not hasattr(np, "cumulative_sum"):
        pytest.skip("a function of NumPy 2.1")
    for axes in ((0, 1), (1, 0)):
        check(make_function(["x"], [text], {"np": np}), turned(numbers(3, 4), axes))


JOINED_WITH_NOTHING = (
    "np.concatenate([one[1:], y])", "np.concatenate([y, x[:0]])", "np.concatenate([y[:0], y])", "np.concatenate([y[:0], x])",
    "np.concatenate([x[:, :0], y], 1)", "np.vstack([one[1:], y])", "np.hstack([x[:, :0], y])", "np.append(x[:0], y, 0)",
    "np.concatenate([one[1:] + 1, y])", "np.concatenate([(one[1:] + 1).T, y.T], 1)",
    "np.concatenate([one[1:].astype('f4'), y])", "np.concatenate([one.T[:, 1:], y.T], 1)",
    "np.concatenate([np.zeros((0, 4)), y])", "np.concatenate([one, y])",
)  # fmt: skip


@pytest.mark.parametrize("text", JOINED_WITH_NOTHING)
def test_parts_without_elements_decide_how_a_join_lies(text: str) -> None:
    function = make(f"def program(x, y, one):\n    return {text}\n", "program")
    for x, y in itertools.product((numbers(3, 4), np.asfortranarray(numbers(3, 4))), repeat=2):
        check(function, x, y, np.ones((1, 4)))


AS_NUMPY_WORKS = (
    "np.median(c, 0)", "np.median(c, 1)", "np.median(c, -1, keepdims=True)", "np.median(c[::-1], (1,))",
    "np.nanmedian(c, 0)", "np.nanmedian(c, 1, keepdims=True)", "np.nanmedian(c, (2, 0))", "np.nanmedian(c[:, 1:], -1)",
    "np.median(c, (2, 0), keepdims=True)", "np.quantile(c, x.T % 1)", "np.quantile(c, (x % 1).T, 1)",
    "np.quantile(c, [0.5], 0)",
    "np.quantile(c, (x % 1).T, method='lower')", "np.percentile(c, (x % 1).T, (1,))", "np.nanquantile(c, (x % 1).T, 1)",
    "np.nanquantile(c, [0, 0.5], (0, 2))", "np.nanpercentile(c, (x % 1).T)",
    "np.piecewise(x, [x > 1], [1, 2])", "np.polyval((1.5, 2), x)", "np.polyval((), x)", "np.polyval([1, 2], x.T)",
    "np.einsum('ij,jk->ik', x, y, optimize=True)", "np.einsum('ij,jk->ki', x, y, optimize=True)",
    "np.einsum('ij,kj->ki', x, x, optimize='greedy')", "np.einsum('aij,jk->aik', c, y, optimize=True)",
    "np.einsum('aij,jk->kia', c, y, optimize=True)", "np.einsum('ij,ij->ji', x, y.T, optimize=True)",
    "np.einsum('ij,j->ij', x, y[:, 0], optimize=True)", "np.einsum('aij,aik->ajk', c, c, optimize=True)",
    "np.einsum('ij,jk->ik', x[:, :1], y)", "np.einsum('ij,jk->ik', x[:, :1], y, optimize=True)",
    "np.einsum('ij->ji', x, optimize=True) + 1", "np.einsum('ij,aij,ij->jai', x, c[:, :1, :1], x, optimize=True)",
)  # fmt: skip


@pytest.mark.parametrize("text", AS_NUMPY_WORKS)
def test_results_lie_as_numpy_works(text: str) -> None:
    function = make(f"def program(x, y, c):\n    return {text}\n", "program")
    cube, y = numbers(2, 3, 4), numbers(4, 3)
    for c in (cube, np.asfortranarray(cube), turned(cube, (1, 2, 0))):
        repeated = () if "optimize" in text else (MATRICES["one row"], MATRICES["one column"])
        for x in (numbers(3, 4), numbers(4, 3).T, *repeated):
            check(function, x, y, c)


def test_medians_without_nan_of_long_rows() -> None:
    def program(x):
        return np.nanmedian(x, 1)

    jitted = pytocu.jit(program)
    for length in (3, 599, 600, 3):
        x = np.asfortranarray(numbers(2, length, 3))
        same(jitted(x), program(x))


def test_new_results_beside_an_output_are_in_its_order() -> None:
    given, first, columns = numbers(2, 3), numbers(3), numbers(3, 2).T
    check(lambda x, out: np.modf(x, out), given, columns)
    check(lambda x, out: np.divmod(x, 2.0, None, out), given, columns)
    check(lambda x, out: np.frexp(x, out), first, columns)
    check(lambda x, out: np.modf(x.T, out.T), given, numbers(2, 3))
    check(lambda x, y, out: np.divmod(x, y, out), numbers(4, 2, 3), given, turned(numbers(4, 2, 3), (2, 0, 1)))


def test_what_is_searched_is_in_row_major_order() -> None:
    check(lambda x, edges: np.searchsorted(edges, x).T, numbers(2, 3).T, np.arange(4.0))
    check(lambda x, edges: np.digitize(x, edges)[None].T, turned(numbers(2, 3, 4), (2, 0, 1)), np.arange(4.0))


@pytest.mark.parametrize("dtype", ["f4", "i8", "c16"])
def test_products_with_a_number(dtype: str) -> None:
    matrix, cube = turned(numbers(2, 3, dtype=dtype), (1, 0)), turned(numbers(2, 3, 4, dtype=dtype), (2, 1, 0))
    for product in (np.dot, np.inner):
        check(lambda x, n, product=product: (product(x, 3), product(n, x)), matrix, np.float32(2))
        check(lambda x, n, product=product: product(x, n), cube, np.array(2))

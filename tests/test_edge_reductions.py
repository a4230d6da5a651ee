"""Reductions, scans and indices at the edges at which NumPy's own tests look, as tables of expressions."""

from __future__ import annotations

import pytest
from edge_tools import check

from pytocu.testing.matrix import call_threads

PLANE = ("np.arange(12.0).reshape(3, 4)", "np.arange(12.0).reshape(3, 4) % 3 > 0")

AXES = (
    "a.sum(initial=5)", "a.sum(0, initial=5)", "a.sum(where=b)", "a.sum(0, where=b)", "a.sum(1, keepdims=True)",
    "a.sum((0, 1))", "a.sum((0, 1), keepdims=True)", "a.sum(())", "a.sum(-1)", "a.sum(2)", "a.sum(-3)", "a.sum((0, 0))",
    "a.sum(1.0)", "a.sum('x')", "a.sum(dtype='f4')", "a.sum(dtype=int)", "a.sum(dtype=bool)", "a.sum(dtype=complex)",
    "np.sum(a, 0, 'f4')", "np.sum(a, 0, None, None, True)", "np.sum(a, axis=[0])", "np.sum(a, True)", "a.max(initial=100)",
    "a.max(where=b)", "a.max(where=b, initial=-1)", "a.max(0, where=b, initial=-1)", "a.min(initial=-3.5)", "a.prod(where=b)",
    "a.prod(1, initial=2)", "a.mean(where=b)", "a.mean(0, where=b)", "a.mean(0, keepdims=True, where=b)", "a.mean(dtype='f4')",
    "a.mean(dtype=int)", "a.mean(dtype=complex)", "a.std(where=b)", "a.var(ddof=1)", "a.var(0, ddof=3)", "a.var(0, ddof=4)",
    "np.var(a, correction=1)", "np.var(a, ddof=1, correction=1)", "a.var(0, mean=a.mean(0, keepdims=True))",
    "a.std(1, ddof=0.5)", "a.any(where=b)", "a.all(where=b)", "a.all((0, 1))", "a.any(keepdims=True)",
    "np.any(a, 0, None, True)", "a.argmax()", "a.argmax(0)", "a.argmax(1, keepdims=True)", "a.argmax(keepdims=True)",
    "a.argmax((0, 1))", "a.argmin(-1)", "a.argmax(2)", "a.cumsum()", "a.cumsum(1, dtype='f4')", "a.cumsum(2)",
    "a.cumsum(axis=-1, dtype=int)", "np.cumulative_sum(a)", "np.cumulative_sum(a, axis=1)",
    "np.cumulative_sum(a, axis=1, include_initial=True)", "np.cumulative_prod(a, axis=0, include_initial=True)", "np.ptp(a, 0)",
    "np.ptp(a, axis=(0, 1), keepdims=True)", "np.average(a, weights=a)", "np.average(a, axis=0, weights=a[:, 0])",
    "np.average(a, axis=1, weights=a, returned=True)", "np.average(a, axis=0, weights=a + 1, keepdims=True)",
    "np.average(a, weights=a[0])", "np.count_nonzero(a, axis=0)", "np.count_nonzero(a, axis=1, keepdims=True)", "np.diff(a, 2)",
    "np.diff(a, axis=0)", "np.diff(a, n=0)", "np.diff(a, n=10)", "np.diff(a, prepend=0)", "np.diff(a, append=a[:, :1])",
    "np.diff(b)", "np.ediff1d(a)", "np.gradient(a, 2.0, axis=1)", "np.gradient(b, axis=0)", "sum(a)", "sum(a[0], 10)",
    "np.linalg.norm(a, axis=0)", "np.linalg.norm(a, 1)", "np.linalg.norm(a, inf)", "np.linalg.norm(a, -inf)",
    "np.linalg.norm(a[0], 3)", "np.linalg.norm(a[0], 0)", "np.linalg.norm(a, axis=1, keepdims=True)", "np.vdot(a, a)",
    "np.vdot(a, a.T)", "np.vdot(a, a[0])", "np.vdot(a[:1], a[0])",
)  # fmt: skip
OF_NOTHING = (
    "a.sum()", "a.sum(0)", "a.sum(1)", "a.prod()", "a.max(1)", "a.max()", "a.max(0)", "a.min(0)", "a.max(initial=1)",
    "a.max(0, initial=1)", "a.mean()", "a.mean(0)", "a.mean(1)", "a.var()", "a.std(0)", "a.argmax()", "a.argmax(0)",
    "a.argmax(1)", "a.any()", "a.all(0)", "a.cumsum()", "a.cumsum(0)", "np.nansum(a)", "np.nanmax(a)", "np.nanmax(a, 0)",
    "np.nanmean(a)", "np.nanargmax(a)", "np.average(a)", "np.count_nonzero(a)", "np.sort(a)", "np.argsort(a, 0)",
    "np.unique(a)", "np.diff(a)", "np.concatenate([a, a])", "a @ np.zeros((3, 2), a.dtype)", "a.T @ a",
    "np.dot(a[:, 0], a[:, 1])", "np.nonzero(a)", "a[a != 0]", "a.reshape(-1)", "a.reshape(3, -1)", "a.reshape(0, -1)",
    "a.reshape(len(a), -1)", "a.reshape(-1, 0)", "a.reshape(-1, 3)", "a.reshape(-1, 5, 7)", "np.logical_or.reduce(a)",
    "np.maximum.reduce(a, axis=1)", "a[0]", "a[-1:]", "a.max(where=True, initial=2)", "np.amax(a, axis=0, keepdims=True)",
)  # fmt: skip
ACCUMULATORS = (
    "a.sum()", "a.sum(0)", "a.sum(dtype='i1')", "a.sum(dtype='f2')", "a.sum(dtype='?')", "a.prod()", "a.cumsum()",
    "a.cumsum(0, dtype='f8')", "a.cumprod(1)", "a.mean()", "a.mean(dtype='f4')", "a.var()", "a.std(1)", "a.max()",
    "a.argmax(1)", "np.ptp(a)", "a.any()", "np.add.reduce(a)", "np.multiply.reduce(a, 1)",
    "np.logical_xor.reduce(a, axis=None)", "np.bitwise_or.reduce(a)", "np.bitwise_and.reduce(a, axis=None)",
    "np.add.accumulate(a)", "np.multiply.accumulate(a, 1)", "np.logical_or.accumulate(a)", "np.nansum(a)", "np.nanmean(a)",
    "np.nanprod(a, 0)", "np.nancumsum(a)", "np.nanvar(a)", "np.nanargmin(a, 1)", "np.average(a, weights=a)", "np.dot(a, a.T)",
    "np.inner(a, a)", "np.outer(a, a)", "np.linalg.norm(a)", "np.linalg.norm(a[0], inf)", "np.cross(a, a)", "sum(a)",
    "np.sum(a, initial=1.5)", "np.sum(a, initial=300)", "np.max(a, initial=300)", "np.max(a, initial=-1)",
    "np.prod(a, initial=2)", "np.sum(a, initial=True)", "np.add.reduce(a, initial=None)", "np.mean(a, dtype='i4')",
    "np.gradient(a, axis=1)", "np.cumulative_sum(a, axis=0)", "np.linspace(0, a[0, 0], 3)", "np.linspace(a[0], 2, 3)",
    "np.linspace(a[0, 0], a[0, 1], 4, endpoint=False)",
)  # fmt: skip


def test_axes_and_their_arguments() -> None:
    check(PLANE, AXES, 6)


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16", "f2"])
def test_of_nothing(dtype: str) -> None:
    check([f"np.zeros((0, 3), '{dtype}')"], OF_NOTHING, 1)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4"])
def test_accumulators(dtype: str) -> None:
    check([f"np.array([[1, 0, 1], [1, 1, 0]], '{dtype}')"], ACCUMULATORS, 6)


NAN_ROWS = (
    "np.nansum(a)", "np.nansum(a, 0)", "np.nanprod(a)", "np.nanmean(a)", "np.nanmean(a, axis=0)", "np.nanvar(a)",
    "np.nanvar(a, ddof=1)", "np.nanstd(a, 0)", "np.nanmin(a)", "np.nanmax(a)", "np.nanmax(a, axis=0)", "np.nanmin(a, axis=-1)",
    "np.nanargmax(a)", "np.nanargmin(a, axis=0)", "np.nancumsum(a)", "np.nancumprod(a, 0)", "np.argmax(a)", "np.argmin(a)",
    "np.argmax(a, 0)", "np.max(a)", "np.min(a)", "np.cumsum(a)", "np.sort(a)", "np.argsort(a)", "np.unique(a)", "np.ptp(a)",
    "np.nanmax(a, initial=5)", "np.nanmin(a, keepdims=True)", "np.nanmean(a, where=~np.isnan(a))", "np.nansum(a, where=False)",
    "np.nansum(a, initial=3)", "np.maximum.accumulate(a)", "np.fmin.reduce(a)", "np.isclose(a, a, equal_nan=True)",
    "np.sign(a)", "np.count_nonzero(a)", "np.diff(a)", "np.clip(a, 0, 1)",
)  # fmt: skip


@pytest.mark.parametrize(
    "argument",
    ["np.array([[nan, nan], [1, nan]])", "np.array([nan, nan], 'f4')", "np.array([[nan, 1], [2, 3]], 'f2')",
     "np.array([inf, -inf, nan])", "np.array([1, 2, 3])", "np.array([complex(nan, 1), 1j, 2])"],
)  # fmt: skip
def test_nan(argument: str) -> None:
    check([argument], NAN_ROWS, 4)


# Indices.

CUBE = ("np.arange(24.0).reshape(2, 3, 4)",)
INDICES = (
    "a[0]", "a[-1]", "a[2]", "a[-3]", "a[0, 1]", "a[0, 1, 2]", "a[0, 1, 2, 3]", "a[...]", "a[..., 0]", "a[0, ...]",
    "a[..., 0, ...]", "a[None]", "a[:, None]", "a[..., None]", "a[None, ..., None]", "a[()]", "a[:]", "a[::-1]", "a[::2, ::-2]",
    "a[1:1]", "a[5:]", "a[-100:100]", "a[2:0:-1]", "a[::0]", "a[1.0]", "a[1.5:]", "a['x']", "a[[0, 1]]", "a[[0, -1]]", "a[[]]",
    "a[[0], [1]]", "a[[0, 1], :, [1, 2]]", "a[:, [0, 1], [1, 2]]", "a[0, :, [1, 2]]", "a[[0, 1], [1, 2], [0, 3]]",
    "a[[0, 1], [0, 1, 2]]", "a[[[0], [1]], [0, 2]]", "a[np.array([0, 1], 'u1')]", "a[np.array([0.0, 1])]",
    "a[np.array([True, False])]", "a[np.array([True])]", "a[a > 5]", "a[a[0] > 5]", "a[:, a[0, :, 0] > 3]", "a[a > 100]",
    "a[np.array(1)]", "a[np.uint64(1)]", "a[np.array([], int)]", "a[slice(0, 1), 1]", "a[(slice(None), 0)]",
    "a[..., 1:3][:, 0]", "a.T[0]", "a[:, 5:10]", "a[0, 0, -5]", "a[0, 3]", "a[:, 3]", "a[:, :, 4]", "a[0:1, ..., 0]",
    "a[None, [0, 1]]", "a[[0, 1], None, [1, 2]]", "a[:, None, [1, 2]]", "a[1, [0, 1]]", "a[[1], 0, [0, 1]]", "a[[1], :, 0]",
    "a[..., [0, 1]]", "a[[0, 1], ..., [0, 1]]", "a.take(5)", "a.take([0, -1])", "a.take([100])",
    "a.take([5], axis=1, mode='clip')", "a.take([5], axis=1, mode='wrap')", "np.extract(a > 3, a)", "np.argwhere(a > 20)",
    "np.roll(a, (1, 2), axis=(0, 1))", "np.roll(a, 100, axis=1)", "np.rot90(a, 1, (1, 2))", "np.moveaxis(a, [0, 1], [-1, -2])",
    "np.transpose(a, (0, 0, 1))", "a.swapaxes(0, 5)", "np.expand_dims(a, (0, 2))", "np.expand_dims(a, 5)", "a.reshape(4, 6)",
    "a.reshape(-1, 5)", "a.reshape(5, 5)", "a.reshape(-1, -1)", "a.reshape(4, 6, order='F')", "a.ravel('F')", "a.flatten('F')",
    "np.concatenate([a, a[0]])", "np.concatenate([a, a], axis=3)", "np.concatenate([a, a], dtype='i4')",
    "np.stack([a, a], axis=4)", "np.stack([a, a[0]])",
)  # fmt: skip
CHANGES = (
    "a[0] = 1", "a[0] = b", "a[:, 0] = b", "a[...] = 5", "a[1:, 1:] = a[:-1, :-1]", "a[:-1, :-1] = a[1:, 1:]", "a[::-1] = a",
    "a[:] = a[::-1]", "a[:, ::-1] = a", "a[1:] += a[:-1]", "a[:-1] += a[1:]", "a[:, 1:] *= a[:, :-1]",
    "a[:3, :3] += a[:3, :3].T", "a[:3, :3] = a[:3, :3].T", "a[[0, 1]] = a[[1, 0]]", "a[[0, 0]] += 1",
    "a[[0, 1], [1, 2]] += b[:2]", "a[a > 5] *= -1", "a[a > 5] = a[a > 5][::-1]", "a[a > 5] = b", "a[:, a[0] > 1] = 3",
    "a[0, 0] = 1j", "a[0] = 1j * b", "a[5] = 1", "a[0, 5] = 1", "a[:, None] = b", "a[2:0] = b", "a[3:] = b",
    "a[3:] = np.ones((2, 4))", "a[0], a[1] = a[1], a[0]", "a.T[0] = b[:3]", "a.reshape(-1)[3] = 100", "a.flatten()[3] = 100",
    "a[[0, 1]][0] = 5", "a[:, 0], a[:, 1] = a[:, 1], a[:, 0]", "b[1:] = b[:-1]\na[0] = b", "v = a[0]\nv += 1",
    "v = a[1:]\nv[0] = v[1]", "a &= 1", "a -= True", "a *= 1j", "a += b[:3]", "a += np.ones((2, 3, 4))",
    "a[0:2, 0:2] = a[1:3, 1:3]", "a[1:3, 1:3] = a[0:2, 0:2]", "a[0, ::2] = a[0, 1::2]", "np.add(a[1:], a[:-1], out=a[1:])",
    "np.add(a[:, :3], a[:, :3].T, out=a[:, :3])", "a[np.array([2, 0, 1])] = a", "a[np.nonzero(a > 3)] *= 2",
    "t = np.broadcast_to(a, (2, 3, 4))\na += 1\nreturn t + 0",
)  # fmt: skip


def test_indices() -> None:
    check(CUBE, INDICES)


def test_changes_of_elements() -> None:
    check(["np.arange(12.0).reshape(3, 4)", "np.arange(4.0)"], [r if "return" in r else f"{r}\nreturn a" for r in CHANGES])


# As a GPU runs it, thread by thread.


def test_the_form_for_a_gpu() -> None:
    check(PLANE, AXES, 6, call=call_threads)
    check(CUBE, INDICES, call=call_threads)


def test_masks_that_are_no_arrays_of_bools() -> None:
    """Numbers, lists, None and strings are what is not zero; the means divide by the sum of what was given."""
    given = ["np.arange(6.).reshape(2, 3)", "2", "1.5", "np.float32(0.5)", "np.True_", "np.array(True)"]
    masks = ("2", "2.5", "0", "1j", "-3", "np.int8(1)", "[1, 0, 1]", "(True, False, True)", "[[1], [0]]", "[0.5, 1, 0]",
             "False", "b", "c", "d", "e", "[b, c, 0]", "[a[0, 0] > 0, b, False]", "f", "None", "''")  # fmt: skip
    names = ("np.sum(a", "np.mean(a", "np.var(a, 0", "np.std(a, ddof=1", "np.nansum(a, 1", "np.nanmean(a", "np.nanvar(a",
             "np.all(a", "np.prod(a, axis=1, keepdims=True", "np.max(a, initial=0")  # fmt: skip
    check(given, [f"{name}, where={mask})" for name in names for mask in masks], ulp=4)


def test_masks_that_are_refused() -> None:
    given = ["np.arange(6.).reshape(2, 3)", "np.array(2)", "np.array([1, 0, 2])", "np.array([1., 0, 2])"]
    names = ("np.sum(a", "np.mean(a", "np.var(a", "np.nanmean(a", "np.max(a", "np.add(a, a, out=a", "np.copyto(a, a")
    check(given, [f"{name}, where={mask})" for name in names for mask in "bcd"])


def test_axes_that_are_no_ints() -> None:
    """A mean counts its elements first, by a function with other words than a sum's."""
    rows = ["a.mean((0, 1.5))", "np.std(a, np.float64(1))", "np.mean(a, (0, 0))", "np.var(a, 3)"]
    rows += ["np.mean(a, 1.5, where=a > 0)", "np.var(a[0, 0], 0, where=a[0, 0] > 0)", "np.mean(a[0, 0], 0)"]
    rows += [f"np.{name}(a, axis=1.5)" for name in ("mean", "var", "std", "sum", "nanmean", "nanstd")]
    check(["np.ones((2, 3))"], rows)


def test_outputs_that_are_read_only() -> None:
    rows = ["np.take(a, [0, 1], out=b)", "a.take([0, 1], mode='clip', out=b)", "np.take(a, [0], out=b)",
            "np.compress([True, True, False], a, out=b)", "np.argmax(a[None, :2], 0, out=c)",
            "np.median(a[None, :2], 0, out=b)",
            "np.concatenate((a[:1], a[:1]), out=b)", "np.einsum('ij->i', a[None] + b[:, None], out=b)"]  # fmt: skip
    check(["np.arange(3.0)", "np.broadcast_to(0.0, 2)", "np.broadcast_to(0, 2)"], rows)


def test_lengths_of_arguments_are_said() -> None:
    """Shapes with an int of the call are said as NumPy says them, and so is what only a run tells."""
    rows = ["x = np.zeros((a, 2))\nx[:] = [1, 2, 3]\nreturn x", "np.full((a, 2), [1, 2, 3])"]
    check(["4", "np.ones(3)"], [*rows, "np.zeros((a * len(b), 2)) + b", "x = np.zeros((a + 1, 2))\nx += np.ones(3)\nreturn x"])
    check(["4", "0"], ["half = a // 2\nreturn np.full((half, 2), [1, 2, 3])", "np.full((abs(b) + 3, 2), [1, 2, 3])"])

"""Arguments that make no sense: NumPy's exception, or a refusal, at the user's line, and never an internal error."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from edge_tools import SCOPE, check, refused, written

from pytocu.errors import CompileError, UnsupportedError
from pytocu.testing.cases import call_interpreted, call_jit
from pytocu.testing.operands import make_function

GIVEN = ["np.arange(12.).reshape(3, 4)[::-1] % 5", "np.arange(4, dtype='f4')", "np.array([1, 2], 'i2')", "3", "2.5"]

NUMPYS_EXCEPTION = (
    "np.arange(3, step='abc')", "np.arange(3, step=[])", "np.arange(3, 4, np.nan)", "np.arange(None, 4)", "np.arange('a')",
    "np.sum(a, keepdims=10 ** 12)", "np.max(a, keepdims='a')", "np.around(a, 10 ** 12)", "np.argsort(a, axis=True)",
    "np.argsort(a, kind=2)", "np.sort(a, None, kind='x')", "np.sort(a, kind='stable', stable=True)",
    "np.gradient(a, None)", "np.gradient(a, 'abc')", "np.interp(b, b, b, period='abc')", "np.iscomplexobj([[1], [2, 3]])",
    "np.tensordot(a, a, -1)", "np.median(a, axis=1.0)", "np.median(a, axis=np)",
    "np.rot90(a, axes=None)", "np.rot90(a, axes=(0, 'x'))", "np.rot90(a, 1, (0, 0))", "np.rot90(a, 1, (0, 5))",
    "np.rollaxis(a, 0, None)", "np.rollaxis(a, 0, 7)", "np.roll(a, [[1], [2, 3]])", "np.roll(a, (1, 2, 3), (0, 1))",
    "np.roll(a, [None])", "np.polyint(2)", "np.put(a, [None], 1)",
    "np.fft.fft(a, np.nan)", "np.fft.irfft(a, 2.5)", "np.fft.rfft(a, -3)", "np.fft.fft(a, 0)", "np.copy(a, 'i8')",
    "np.flip(a, (0, 0))", "np.gradient(a, axis=(0, 0))", "np.histogram(a, [0, 1, 2], weights=b)",
    "np.histogram_bin_edges(a, [0, 1], weights=2)", "np.stack((a, a), casting=None)", "np.linalg.outer(2, b)",
    "np.corrcoef(a, dtype='i8')", "np.sum(a, axes=0)", "np.sort(a, kin='stable')",
    "np.size(a, 2)", "np.size(a, (0, -2))", "np.array(a, ndmin='a')", "np.array(a, ndmin=100)", "np.array(a, order='Z')",
    "np.einsum('ii', a[:, :1])", "np.einsum('ii->i', a[:1])", "np.einsum('i,ii', a[:, 0], a[:, :1])", "np.einsum('ii->', a)",
    "np.trapezoid(a, x=a[:, :1])", "np.trapezoid(a, x=a[:, :3])",
    "np.array(a, copy='x')", "np.asarray(a, order=3)", "np.array(a[0], 'f4', copy=False)", "np.array([b, b], copy=False)",
)  # fmt: skip
NUMPYS_ANSWER = (
    "np.array(a.T, order='C')", "np.asarray(a[:, 1], order='C')", "np.asarray(a.T, 'f4', order='C')", "np.array(a, ndmin=-3)",
    "np.array(b, ndmin=True, copy=0)", "np.array(b, order='F')", "np.array(b, order=None)", "np.asarray(a, order='A')",
    "np.arange(3, step=2 ** 63)", "np.arange(3, 4, np.uint64(2 ** 63))", "np.arange(0, 3, np.float32(0.5))",
    "np.arange(10, 0, -3)", "np.sum(a, keepdims=2)", "np.argsort(3)",
    "np.linalg.norm(a, axis=1.0)", "np.tensordot(a, a, bytes(2))", "np.median(a, axis=[0, 1])", "np.median(a, axis={})",
    "np.median(a, axis=range(2))", "np.roll(a, 0, axis=[])", "np.roll(a, 2.5)", "np.triu(a, 2 ** 63)", "np.tril(a, 2 ** 63)",
    "np.unravel_index(c, (3, 4), order=None)", "np.unravel_index(c, (3, 4), order='f')", "np.eye(3, k=10)",
    "np.ravel_multi_index((c, c), (3, 4), order=None)", "np.copy(a, 'K')", "np.histogram(a, [0., 1, 2], weights=a.T)",
    "np.roll(a, (1, len(a)))",
    "np.rollaxis(a, 1, 1.0)", "np.arange(3, step=1e400)", "np.arange(3, step=1j)", "np.arange(len(a), step=1e400)",
)  # fmt: skip
REFUSED = {
    "np.arange(3, step=10 ** 30)": "np.arange of object",
    "np.full(3, 10 ** 30)": "np.full of object",
    "np.sum(a, dtype='O')": "of Python's objects",
    "np.array(a, ndmax=1)": "np.array with the argument ndmax= is not supported",
    "np.polyint(a[0], m=10 ** 30)": "np.polyint with m=",
    "np.put(a, 0, 1, mode=-1)": "np.put with mode=-1",
    "np.array_split(a, 10 ** 12)": "1000000000000 pieces",
    "np.diag_indices(3, ndim=10 ** 30)": "at most 64",
}


def test_numpy_says_what_is_wrong() -> None:
    check(GIVEN, NUMPYS_EXCEPTION)


def test_odd_arguments_that_have_a_meaning() -> None:
    check(GIVEN, NUMPYS_ANSWER, call=call_interpreted)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match=REFUSED[text]) as found:
        call_interpreted(make_function("a", [text], {"np": np}), np.ones((3, 4)))
    assert found.value.loc is not None


@pytest.mark.parametrize("text", ["np.linalg.tensordot(a, a, 2)", "np.sum()", "np.stack()", "np.sum(a, nothing=1)"])
def test_numbers_of_arguments_that_numpy_does_not_take(text: str) -> None:
    with pytest.raises(TypeError) as found:
        call_interpreted(make_function("a", [text], {"np": np}), np.ones((3, 4)))
    assert isinstance(found.value, CompileError) and found.value.help is not None


TAKES = (
    "np.put(a, [0, 2], b)\nreturn a", "np.put(a, [0], [b, 1])\nreturn a", "np.place(a, a > 0, b)\nreturn a",
    "np.putmask(a, a > 0, b)\nreturn a", "np.fill_diagonal(a.reshape(2, 2), b)\nreturn a",
    "np.sum(a, initial=b)", "np.max(a, initial=b)", "np.any(a, initial=b)", "np.prod(a.reshape(2, 2), 0, initial=b)",
    "np.piecewise(a, [a > 3], [b, 0])", "np.pad(a, 1, constant_values=b)",
    "np.pad(a, 1, constant_values=(1, b))", "np.pad(a, 1, constant_values=300)",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["i1", "u1", "f4"])
@pytest.mark.parametrize("number", ["300", "-1", "1j", "2.5"])
def test_numbers_that_an_array_does_not_take(dtype: str, number: str) -> None:
    check([f"np.array([4, 6, 0, 3], '{dtype}')", number], TAKES)


ORDERS = (
    "a.ravel('f')", "np.ravel(a, 'f')", "a.T.ravel('k')", "a.T.ravel('a')", "a.flatten('f')", "a.T.flatten('k')",
    "a.ravel(b'F')", "a.reshape(4, 3, order='f')", "a.reshape(-1, order=None)", "np.ravel(b, 0)", "b.ravel(0)",
    "b.flatten('x')", "np.ravel(b, 1)", "np.broadcast_to(b, (3, 4)).flatten('K')", "np.broadcast_to(b, (3, 4)).ravel('K')",
    "np.broadcast_to(b, (2, 3, 4)).T.ravel('K')",
    "np.broadcast_to(b, b.shape)", "np.broadcast_to(b, 4)", "np.broadcast_to(a, (3, 4))", "np.broadcast_to(a[0, 0], ())",
)  # fmt: skip
"""Lower-case letters and bytes are orders too; a view of its own is what repeats nothing."""
COPIES = ("np.reshape(a, (4, 3), copy=1)", "a.reshape((2, 6), copy=True)", "np.reshape(a, 12, copy=0)", "b.reshape(4, copy=[])")
BORDERS = (
    "[1]", "[1, 2]", "[1, 2, 3]", "[[1], [2]]", "[[1, 2]]", "[[1, 2], [3, 4]]", "[[1], [2, 3]]", "[[[1, 2]]]", "[[1, 2, 3]]",
    "[]", "[[1, 2], [3, 4], [5, 6]]",
)  # fmt: skip
DIAGONALS = ("1.5", "0.5", "-0.5", "-1.5", "2.0", "-0.0", "np.nan", "np.inf", "np.float64(0.25)", "-7.5")


def test_orders_in_other_letters_and_views_that_repeat_nothing() -> None:
    check(GIVEN, ORDERS)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="reshape has no copy= in this NumPy")
def test_truth_values_of_copy() -> None:
    check(GIVEN, COPIES)


def test_borders_are_repeated_as_numpy_repeats_them() -> None:
    check(GIVEN, [f"np.pad({x}, 1, constant_values={c})" for x in "ab" for c in BORDERS])
    check(GIVEN, [f"np.pad({x}, {c})" for x in "ab" for c in BORDERS])


def test_diagonals_with_a_fraction() -> None:
    check(GIVEN, [text.format(k) for text in ("np.tril(a, {})", "np.triu(a, k={})", "np.tri(3, 4, {})") for k in DIAGONALS])


def test_numbers_of_elements_are_of_the_kind_of_numpys_version() -> None:
    rows = ("{}", "{} * np.float32(2)", "{} / 2")
    counts = [f"np.count_nonzero({x})" for x in ("a", "a[a > 2]", "a, 0", "a, keepdims=True")]
    check(GIVEN[:1], [row.format(count) for row in rows for count in counts])


def test_structured_results_and_unpacking() -> None:
    check(GIVEN, ("np.frexp(b, out=None)", "np.divmod(b, 2, out=None)", "np.frexp(b, None)", "np.frexp(b, None, None)"))
    names = ("1.5", "None", "d", "a[0, 0]", "np.float32(2)", "(1, 2), 3", "a[:2]")
    check(GIVEN, [f"x, y = {value}\nreturn y" for value in names] + ["x, *y = 3\nreturn x", "(x, y), z = 1, 2\nreturn x"])


def test_sums_along_letters_into_longer_arrays() -> None:
    given = ["np.ones((1, 2))", "np.arange(4.).reshape(2, 2)", "np.zeros((3, 2))", "np.array(2)"]
    rows = ("np.einsum('ij,jk->ik', a, b, out=c)", "np.einsum('ij->ij', a, out=c)", "np.einsum('ij,jk->ik', b, b, out=c)",
            "np.einsum('ij->j', b, out=a[0])", "np.einsum('ij->ij', b, out=a)")  # fmt: skip
    check(given, [f"{row}\nreturn a, c" for row in rows])
    check(given, [f"np.einsum({row})" for row in ("'->', d", "'...->...', d", "'ij,j', b, c[:, 0]", "'i,i', c[:, 0], b[0]")])


def test_quantiles_and_sets_of_few_elements() -> None:
    check(["np.ones((2, 3), 'u1')", "np.array([[1., 5], [5, 2]])"], (
        "np.nanquantile(a, True)", "np.nanquantile(a, 0)", "np.nanquantile(a, 0.5)", "np.setxor1d(b, 5, assume_unique=True)",
        "np.setxor1d(a[:0], -1, assume_unique=True)", "np.setxor1d(b[0], a[0], True)", "np.setxor1d(b, a)",
    ))  # fmt: skip
    with pytest.raises(UnsupportedError, match="one share in uint8"):
        call_interpreted(make_function("a", ["np.nanquantile(a, 0)"], {"np": np}), np.zeros((0, 3), np.uint8))


def test_values_of_parts_that_have_one_element_are_repeated() -> None:
    given = ["np.arange(6.).reshape(2, 3)", "np.ones((2, 3)) > 0", "np.array([0, 1])"]
    check(given, [f"a[{text}\nreturn a" for text in (
        "c] = a[:1]", "[0, 1]] = a[1:]", "[0, 1], :] = a[:, :1]", ":, [0, 1]] = a[:, 2:]", "c, c] = a[0, :1]",
        "a > 2] = a[0, :1]", "a > 2] = a[0, 2:]", "a > 9] = a[0, :1]", "a > 2] = a[0, :2]", "a[:, 0] > 1] = a[:1]",
        "c] = a[:0]",
    )])  # fmt: skip
    check(given, (
        "np.put_along_axis(a, np.array([[0], [1]]), a[:1, :1], True)\nreturn a", "np.insert(a, [0, 1], a[:1], axis=0)",
        "a[:1].squeeze()", "np.squeeze(a[1:, :1])", "a[:, :2].squeeze()", "np.cov(a[:1])", "np.cov(a[:2])",
        "np.sum(a, where=b[:1])", "np.max(a, where=b[:, :1], initial=0)", "np.take_along_axis(a, np.array([[1], [0]]), True)",
    ))  # fmt: skip


def test_axes_of_chosen_elements_are_not_squeezed() -> None:
    refused(["np.array([1., -1.])"], "a[a > 0].squeeze()", "may or may not be 1", "x.squeeze(axis=0)")


def test_positions_of_two_lengths_beside_one_of_run_time() -> None:
    keys = ("[0, 1, 1], b, []", "[0, 1, 1], c, [1, 0]", "b, [0, 1], [0, 1, 1]", "[0, 1], b[:1], [1, 0]")
    check(["np.zeros((2, 3, 3))", "np.array([0, 1, 1])", "np.array([True, False])"], [f"a[{key}]" for key in keys])


def test_bytes_of_bools_are_not_changed() -> None:
    view = "a.view(np.uint8)"
    for change in (f"{view}[0] = 5", "a.view(np.int8)[[0]] = 1", f"np.add({view}, 1, out={view})"):
        refused(["np.array([True, False])"], f"{change}\nreturn a", "the bytes of bools are changed",
        "the array of bools itself")


def test_what_one_element_of_flat_does_not_take() -> None:
    values = ("300", "-1", "1j", "[1]", "np.nan", "2**70", "np.float64(300)", "2.5", "np.int64(-1)")
    check(["np.zeros(3, 'u1')", "np.zeros(3, 'f4')"], [f"{x}.flat[0] = {v}\nreturn {x}" for v in values for x in "ab"])


ITERATORS = ("iter([1, 2])", "map(abs, [1, 2])", "zip([1, 2])", "(v for v in [1, 2])", "reversed([1, 2])", "{1: 2}.values()")


@pytest.mark.parametrize("text", ITERATORS)
def test_iterators_are_no_arrays(text: str) -> None:
    rows = (
        "c + {}", "np.add(c, {})", "c[:] = {}\nreturn c", "c += {}\nreturn c", "np.sqrt({})", "np.stack({})", "np.zeros({})",
        "np.concatenate([c, {}])", "np.sum({})", "np.isin(c, {})", "np.array({})", "np.array([{}, c])",
    )  # fmt: skip
    for row in rows:
        body = row.format(text)
        with pytest.raises(TypeError, match=r"(an iterator|a view of a dict) is used as a number or an array") as found:
            call_interpreted(written("c", body, SCOPE), np.arange(2.0))
        assert "list(...)" in str(found.value)
    kind = (IndexError, TypeError) if "values" in text else IndexError
    with pytest.raises(kind, match="valid indices"):
        call_interpreted(written("c", f"c[{text}]", SCOPE), np.arange(2.0))


def test_iterators_have_no_length_and_no_members() -> None:
    for text in ITERATORS[:-1]:
        for body, said in ((f"len({text})", "no len"), (f"x = {text}\nreturn x[0]", "not subscriptable")):
            with pytest.raises(TypeError, match=said):
                call_interpreted(written("c", body, SCOPE), np.arange(2.0))
    check(["np.arange(2)"], ("len({1: 2}.items())", "np.array(list(map(abs, [1, 2])))", "list({1: 2}.values())"))


def test_shapes_of_rounded_values_and_numbers_of_empty_shapes() -> None:
    check(["np.array([[0, 1], [1, 1]])", "np.ones((2, 2))"], (
        "np.round(a, 1, out=a[:1])\nreturn a", "np.round(a[:1], 1, out=a)\nreturn a", "np.round(b[0], 1, out=b[:1])\nreturn b",
        "np.round(b, 1, out=b[0])\nreturn b", "np.ravel_multi_index((a, a), (2, 0))", "np.ravel_multi_index((0, 0), (2, 0))",
        "np.ravel_multi_index((a, a), (2, 0), mode='clip')", "np.ravel_multi_index((a[:0], a[:0]), (2, 0))",
    ))  # fmt: skip


def test_rolls_by_no_numbers() -> None:
    given = ["np.arange(6.).reshape(2, 3)", "np.zeros((0, 3))"]
    check(given, [f"np.roll({x}, {s}, axis={axis})"
                  for x in "ab" for s in ("()", "[]", "(1,)") for axis in ("None", "0", "()", "(0, 1)")])


def test_distances_of_python_floats_and_narrow_numbers() -> None:
    given = ["1e300", "np.float16(2)", "np.array([1, 2.5], 'f4')", "-0.1"]
    check(given, ("np.linspace(a, b, 3)", "np.linspace(b, a, 3)", "np.linspace(a, c, 3)", "np.linspace(c, a, 4, retstep=True)",
                  "np.linspace(d, b, 7)", "np.linspace(d, c, 5, dtype='f8')",
                  "np.linspace(a, b, 3, endpoint=False)"))  # fmt: skip


def test_the_first_two_numbers_of_ranges() -> None:
    given = ["-1", "300", "-0.0", "0.3", "1e300", "255"]
    rows = [f"np.arange({first}, dtype={dtype})" for dtype in ("'u1'", "'i1'", "'u8'", "'f4'")
            for first in ("a, 3", "b, b + 4", "a, a", "a, 0", "0, -3, a", "f, f + 1", "f, f + 2", "-1, 3", "300, 302",
                          "255, 258",
                          "-1.5, 3", "b, 304.0", "np.int8(-1), 3", "c, 3", "-0.0, 3")]  # fmt: skip
    rows += [f"np.arange({bounds}, dtype='f2')" for bounds in ("d, 5201.8, 1000.3", "d, 4, d", "2 ** 40, 2 ** 40 + 4", "c, 3")]
    rows += ["np.arange(e, 3 * e, e, dtype='f4')", "np.arange(1e300, 3e300, 1e300, dtype='f4')", "np.arange(c, 3, d)",
             "np.arange(-1, np.uint8(20), dtype='i2')", "np.arange(2 ** 40, np.float16(2.5), dtype='u1')",
             "np.arange(np.uint8(3), 20, 0)", "np.arange(0.0, 3, 0)"]  # fmt: skip
    check(given, rows)


def test_python_ints_past_the_ends_of_a_dtype_bound_nothing() -> None:
    given = ["np.array([1, -3, 7], 'i1')", "np.array([4, 4, 4], 'i1')", "256", "-129", "np.array([True, False])"]
    check(given, ("np.clip(a, b, c)", "np.clip(a, d, b)", "np.clip(a, d, None)", "a.clip(d, c)", "np.clip(a, c, b)",
                  "np.clip(a, 0, 256, dtype='f8')", "np.clip(a, 256, b, dtype='f8')", "np.clip(a, d, b, casting='unsafe')",
                  "np.clip(e, max=None, dtype='u8')", "np.clip(e, None, None)", "e.clip(dtype='f4')"))  # fmt: skip


def test_the_other_result_of_a_ufunc_has_the_shape_of_the_array_that_is_given() -> None:
    given = ["np.array([2.5])", "np.zeros((3, 2))", "np.zeros(0)"]
    check(given, ("np.modf(a, b)", "np.modf(2.5, b.T)", "np.frexp(a, out=(b, None))", "np.divmod(a, 2, b)", "np.modf(7, c)"))


def test_points_and_ends_of_interp() -> None:
    given = ["np.array([1.0, 2.0, 4.0])", "np.array([3.0, -1.0, 5.0])", "1j", "np.complex64(1.5 + 2j)"]
    check(given, ("np.interp(d, a, b)", "np.interp(c, a, b)", "np.interp(a * 1j, a, b)",
                  "np.interp(a * (1 + 1j), a, b, period=3)",
                  "np.interp(a, a, b, left=c)", "np.interp(a, a, b[:2], left=c)", "np.interp(c, a, b, period=0)",
                  "np.interp(a, a, b, c, c, 3)", "np.select([a, a > 1], [b[:2], b[:2]])"))  # fmt: skip


def test_accumulations_of_vectors_without_an_axis_and_weights_of_no_numbers() -> None:
    given = ["np.array([3.0, 1, 2])", "np.zeros(0, int)", "np.ones((2, 2))"]
    check(given, ("np.maximum.accumulate(a, axis=None)", "np.subtract.accumulate(a, None)", "np.add.accumulate(c, None)",
                  "np.bincount(b, weights=a)", "np.bincount(b, weights=a, minlength=2)"))  # fmt: skip


def test_single_positions_of_axes_without_elements() -> None:
    given = ["np.zeros(0)", "np.zeros((3, 0))", "np.array([5, 2])", "np.int64(7)", "np.uint8(1)"]
    check(given, ("a[d]", "a[c[0]]", "a[c[1] - 9]", "b[c[0]]", "b[1, c[1]]", "b[d]", "b[e]", "b[c[1]]",
                  "np.take(a, c[0])", "a[c[1]] = 3\nreturn a", "b[c[0]] = 3\nreturn b", "b[c[1]] += 3\nreturn b",
                  "k = 0\nwhile k < 2:\n    a[c[k]] += 1\n    k += 1\nreturn a"))  # fmt: skip


def test_products_of_vectors_of_two_numbers() -> None:
    given = ["np.array([[1.0, 2], [3, 4]])", "np.array([[1.0, 2, 5], [3, 4, 6]])", "np.ones(4)"]
    rows = ("np.cross(a, a)", "np.cross([1.0, 2], [3.0, 4])", "np.cross(a[0], b)")
    try:
        np.cross([1.0, 2], [3.0, 4])
    except ValueError:
        check(given, rows)
    else:
        for row in rows:
            refused(given, row, "np.cross of vectors of two numbers", "write a[0]*b[1]")
    check(given, ("np.cross(b, b[0])", "np.cross(b, c)"))


def test_choices_that_are_all_one_array() -> None:
    given = ["np.array([0, 5, 1])", "np.arange(3.0)", "7"]
    check(given, ("np.choose(a, [b, b])", "a.choose([b, b])", "np.choose(c, [b, b])", "np.choose(-a, (b, b, b))",
                  "np.choose(a, [b, b], mode='clip')", "np.choose(a % 2, [b, b])"))  # fmt: skip


def test_ranges_of_ints_that_a_narrow_dtype_does_not_hold() -> None:
    given = ["3", "-5", "0.7"]
    rows = ("np.arange(np.uint8(3), b)", "np.arange(b, np.uint8(250))", "np.arange(np.uint8(3), c, -128)",
            "np.arange(b, np.int8(100), np.uint8(3), dtype=np.int16)",
            "np.arange(1j, dtype=np.int8)", "np.arange(1j, np.float16(6e4), dtype=float)", "np.arange(256, 1j, dtype='i4')",
            "np.arange(1e-3, 2**63, dtype=np.uint64)", "np.arange(2**63, 2.5, 1e3, dtype='i4')",
            "np.arange(1, 300, 2**63, dtype=np.uint64)", "np.arange(127, np.uint64(9), 2**63)",
            "np.arange(np.uint8(250), np.float32(300.5))", "np.arange(a, 5 + 0j)")  # fmt: skip
    check(given, rows)
    refused(given, "np.arange(2**63, b, 256, dtype=np.uint64)", "9223372036854775808", "write it as a float")


def test_of_several_wrong_arguments_numpys_first_is_named() -> None:
    given = ["np.arange(5)", "np.ones((2, 3))", "np.array([0.5, 1])", "np.ones((2, 3, 4))", "2"]
    rows = ("np.repeat(a, c, 5)", "np.repeat(b, 1j, axis=1.0)", "np.take(a, a, 1.0, mode='bad')", "d.compress(a, (0, 0))",
            "np.trace(a, 1.5)", "a.diagonal(1j)", "np.trace(a, 1, None, (1, 0))", "a.astype('i2', 'C', 'safe', 'x')",
            "b.trace(axis1=(0,), dtype='q7')", "np.nanargmin(a, (0,))", "np.nanargmin(a, 2, 'f4')",
            "np.take_along_axis(b, a, 7)")  # fmt: skip
    check(given, rows)


def test_arguments_of_methods_that_are_looked_at() -> None:
    given = ["np.arange(4)", "np.array([5, -1])", "np.asfortranarray(np.ones((2, 3)))", "np.array(2.5)", "1"]
    rows = ("a.astype('f4', subok=None)", "a.astype('f4', subok='x')", "a.astype('f4', subok=0)",
            "np.put(a, b, 7, mode=0)\nreturn a", "np.put(a, b, 7, mode=1)\nreturn a", "a.put(b, 7, 2)\nreturn a",
            "c.item(9)", "c.item(-9)", "c.item(np.int8(7))", "d.item(1)", "a.item(9)", "a.item(1.5)", "c.item(1j, 0)",
            "c.item(e)", "a.item(None)", "c.item((0, 5))", "c.item(0, 0, 0)", "d.item(())", "a[[0.0]]", "a[[0.0], ...]",
            "a[np.array(1), 1.0, 1]", "a[b, 'a', 0]", "np.lib.stride_tricks.sliding_window_view(a, 1j)",
            "np.cumulative_sum(c, axis=(0,), include_initial=1)", "np.cumulative_sum(c, axis=0, include_initial='x')",
            "np.reshape(a, (2, 3, 4), order='F')", "np.reshape(c, (4, -1), order='F')", "np.reshape(c, (-1, 4), order='F')",
            "np.array([c, a])", "np.array([c, [1.0, 2.0]])", "np.array([[c, a]])",
            "np.place(d, d > 1, [3, 1])\nreturn d", "np.place(d, a > 5, [3, 1])\nreturn d")  # fmt: skip
    check(given, rows)


def test_axes_of_an_array_that_has_many() -> None:
    check(["np.ones((1,) * 40)"], ("a.T", "np.transpose(a, range(39, -1, -1)).shape", "np.transpose(a, (0, 0))"))


def test_outputs_of_accumulations_with_an_axis_of_one_element() -> None:
    given = ["np.ones((3, 4))", "np.ones((2, 3, 4))", "np.zeros((1, 4))", "np.zeros((1, 3, 1))"]
    check(given, ("np.cumsum(a, 0, out=c)", "np.cumsum(a, 1, out=c)", "np.add.accumulate(a, 0, out=c)",
                  "np.cumprod(b, 2, out=d)", "np.cumsum(a[:1], 1, out=c)"))  # fmt: skip


def test_outputs_of_accumulations_of_flat_arrays() -> None:
    """NumPy broadcasts where the two share memory or dtypes differ; it takes the first axis of an output that has more."""
    given = ["np.ones((2, 3))", "np.ones(6)", "np.zeros((6, 2), 'f4')", "np.zeros(3)", "np.zeros(1, 'i4')"]
    check(given, ("np.cumsum(a, out=a)", "np.cumsum(a, out=a.T)", "np.cumsum(a, out=a.reshape(-1)[:3])", "np.cumsum(a, out=d)",
                  "np.cumsum(a, out=d, dtype='f4')", "np.cumsum(a, out=e)", "np.cumsum(b, out=d)", "np.cumprod(b, out=e)",
                  "np.cumsum(a, out=c[:3])", "np.add.accumulate(b, out=a)", "np.cumsum(a, out=b)\nreturn b"))  # fmt: skip
    for body, said in (("np.cumsum(b, out=c)", "an array of more axes, of which NumPy writes the first part"),
                       ("np.cumsum(b[:0], out=d)", "of no elements into an array that has some")):  # fmt: skip
        # Newer versions of NumPy refuse these.
        if np.lib.NumpyVersion(np.__version__) < "2.5.0":
            refused(given, body, said, "")
        else:
            check(given, (body,))

def test_axes_of_positions_beside_nan() -> None:
    check(["np.ones((2, 3))", "np.arange(6).reshape(2, 3)", "np.float64(2)"],
          [f"np.nanargmin({x}, axis={axis})" for x in "abc" for axis in ("(0, 0)", "(0, 1)", "(0, 5)", "(1,)")])  # fmt: skip


def test_an_output_that_must_not_be_written_is_said_first() -> None:
    given = ["np.ones((2, 3))", "np.broadcast_to(np.zeros(3), (3,))", "np.ones(3)"]
    check(given, ("np.max(a, axis=1.5, out=b)", "np.sum(c, out=b, axis=(0, 1))", "np.prod(c, out=b)", "np.std(a, out=b)",
                  "np.median(c, axis=0, out=b)", "np.cumsum(a, axis=-1, out=b)", "np.cumsum(a, axis=7, out=b)",
                  "np.maximum.accumulate(a, out=b)", "np.add.accumulate(a, out=b, axis='x')",
                  "np.cumulative_sum(c, out=b, axis=5)", "np.argmax(a, out=b)", "np.argmax(a, axis=0, out=b)"))  # fmt: skip


def test_shapes_of_masks_beside_outputs() -> None:
    given = ["np.ones((3, 2))", "np.ones(3)", "np.ones(2)", "np.array([True] * 3)", "np.array([True, False])"]
    check(given, ("np.add.reduce(a, out=b, where=e)", "np.add.reduce(a, out=c, where=d)", "np.add.reduce(a, out=b, where=d)",
                  "np.add.reduce(a, out=b, where=np.True_)", "np.sum(a, axis=1, out=c, where=e)",
                  "np.sum(a, axis=0, out=c, where=e)\nreturn c", "np.sum(a, where=d)"))  # fmt: skip
    check(given, ("np.argmax(a, axis=0, out=b)", "np.argmax(a[:0], out=b)", "np.argmax(a[:0], axis=0, out=c)"))


def test_masks_that_copyto_does_not_take() -> None:
    given = ["np.arange(6.).reshape(2, 3)", "np.array([1, 0, 1])", "np.array([True, False])", "np.ones(3, 'u1')", "np.array(1)"]
    check(given, ("np.copyto(a, a, where=b)", "np.copyto(a, a, where=c)\nreturn a",
                  "np.copyto(a, a, where=[True, False])\nreturn a", "np.copyto(a, 2, where=c)",
                  "np.copyto(a[0], a, where=e)", "np.copyto(a[0], a, where=c)",
                  "np.copyto(a, b[0], casting='no', where=b)", "np.copyto(d, 300, where=b)",
                  "np.copyto(a, a[:, :2], where=b * 1.5)",
                  "np.copyto(d, d[:], where=b > 0)\nreturn d", "np.copyto(a, a, casting='bad', where=b)"))  # fmt: skip
    refused(given, "np.copyto(a, None, casting='unsafe', where=a > 2)", "None is used as a number", "pass numbers")


WRONG = (
    "dtype='q7'", "dtype='i4'", "sig=None", "out=b", "out=[1]", "out=d", "out=(None, None)", "where=a", "where=c, out=a",
    "casting='bad'", "casting=3", "order='x'", "subok='x'", "foo=1", "signature='dd'",
)  # fmt: skip


def test_of_several_wrong_keywords_of_ufuncs_numpys_first_is_named() -> None:
    given = ["np.ones(3)", "np.ones(2)", "np.array([True] * 4)", "np.ones(3, int)"]
    words = [sorted(re.findall(r"(\w+)=", one)) for one in WRONG]
    rows = [f"np.add(a, 1.5, {x}, {y})" for (x, p), (y, q) in itertools.permutations(zip(WRONG, words, strict=True), 2)
            if not set(p) & set(q)]  # fmt: skip
    check(given, [f"{row}\nreturn a" for row in rows if "where=a" not in row or "out" in row])


def test_python_ints_beside_narrow_ints_of_run_time_in_ranges() -> None:
    given = ["np.uint8(3)", "0.1", "-1", "np.int16(9)", "70000", "np.uint32(2)", "7"]
    rows = ("np.arange(a, b, c)", "np.arange(a, b, -1)", "np.arange(c, a)", "np.arange(a, c)", "np.arange(d, 0, c)",
            "np.arange(d, e, d)", "np.arange(d, b, -e)", "np.arange(a, 9.5, g)", "np.arange(f, c, 1)", "np.arange(g, f, c)",
            "np.arange(3, b, a)", "np.arange(c, b, a)", "np.arange(a, g)", "np.arange(a, g, d)",
            "np.arange(a, 0.0, -300)")  # fmt: skip
    check(given, rows)


def test_lengths_of_ranges_that_no_range_has() -> None:
    given = ["np.inf", "np.nan", "0.0", "1e300", "-128", "2 ** 62", "-129", "3.5"]
    rows = ("np.arange(a)", "np.arange(b)", "np.arange(-a)", "np.arange(c, h, a)", "np.arange(c, h, -a)", "np.arange(c, b, h)",
            "np.arange(c, d)", "np.arange(d, c)", "np.arange(c, 1 / d, d)", "np.arange(c, -1 / d, d)", "np.arange(e, h, a)",
            "np.arange(2 ** 63 - 1, f)", "np.arange(1e300, 3.0, g, dtype='i4')", "np.arange(1e300, 3.0, d, dtype='i4')",
            "np.arange(1e300, 3.0, -d, dtype='u8')", "np.arange(c, h, 0)", "np.arange(h, c, -0.5)")  # fmt: skip
    check(given, rows)


def test_ints_beyond_64_bits_beside_python_numbers_of_another_kind() -> None:
    given = ["2 ** 64", "0.5", "1j", "True", "np.ones(2)", "-2 ** 63 - 1"]
    functions = ("logical_and", "logical_or", "logical_xor", "less", "equal", "not_equal", "right_shift", "add", "maximum")
    pairs = ("a, b", "c, a", "d, f", "f, b", "a, f", "e, a", "e, f")
    check(given, [f"np.{f}({pair})" for f in functions for pair in pairs])
    check(given, [f"np.{f}({pair})" for f in ("heaviside", "copysign") for pair in (*pairs, "a, 1", "-1, f", "10 ** 30, a")])
    pairs = ("a, 1", "-1, f", "a, f", "a, b")
    check(given, [f"np.{f}({pair})" for f in ("arctan2", "hypot", "logaddexp") for pair in pairs], 4)


def test_quotients_by_lists_of_several_lengths() -> None:
    given = ["-1.5", "np.float64(3)", "2"]
    rows = ("divmod({}, [[1], [2, 3]])", "{} // [[1], [2, 3]]", "[[1], [2, 3]] % {}")
    check(given, [row.format(name) for row in rows for name in "abc"])


def test_a_module_as_an_operand() -> None:
    check(["np.float16(-1.5)", "np.ones(2, 'i4')"], ["a // np", "np % a", "b // np"], call=call_interpreted)


@pytest.mark.parametrize("row", ["np.cumsum(a, out=b)", "np.add.accumulate(a, out=b)", "np.cumulative_sum(a, out=b)"])
def test_accumulation_into_an_array_without_axes(row: str) -> None:
    # NumPy before 2.5 may end the process, so it is not compared with.
    with pytest.raises(ValueError, match="provided out is the wrong size for the accumulation"):
        call_interpreted(written("ab", row, SCOPE), np.ones(3), np.zeros(()))


@pytest.mark.parametrize("shape", ["(2, 1)", "(2, 3)", "(3, 1, 1)"])
def test_accumulation_that_converts_into_an_array_with_more_axes(shape: str) -> None:
    for row in ("np.cumsum(a, dtype=complex, out=b)", "np.add.accumulate(a, dtype='f4', out=b)"):
        # Of a shape that fits with more axes behind it, NumPy before 2.5 writes the first part.
        said = "operands could not be broadcast together with remapped shapes|into an array of more axes|the wrong size"
        with pytest.raises((UnsupportedError, ValueError), match=said):
            call_interpreted(written("ab", row, SCOPE), np.ones(3), np.zeros(eval(shape)))


def test_positions_in_a_scalar() -> None:
    places = ("", "0", "-1", "1", "()", "(0,)", "0, 0", "(0, 0)", "True", "None", "1.5", "'x'", "b", "np.int8(0)")
    for owner in ("np.int16(2)", "np.array(2.5)", "np.arange(1)", "np.bool_(True)"):
        check([owner, "0"], [f"a.item({place})" for place in places], call=call_interpreted)


def test_masks_with_more_axes_than_the_array_that_is_copied_to() -> None:
    for owner, mask in itertools.product(("()", "(1,)", "3"), ("()", "(1,)", "(1, 1)", "3", "(1, 3)")):
        given = [f"np.zeros({owner})", f"np.ones({mask}, bool)", "np.ones(1)"]
        check(given, [f"np.copyto(a, {source}, where=b)\nreturn a" for source in ("1.0", "c")], call=call_interpreted)


def test_numpys_ints_as_digits_and_bools_as_axes() -> None:
    for digits in ("np.int8(1)", "np.uint32(2)", "np.int64(-1)", "True"):
        check([digits], [f"round({x}, {n})" for x in ("2.345", "1234", "True") for n in ("a", digits)], call=call_interpreted)
    rows = [f"np.gradient({x}, axis={axis})" for x in "ab" for axis in ("True", "(True,)")]
    check(["np.ones((1, 3))", "np.ones((4, 3))"], rows)


@pytest.mark.parametrize("shape", ["0", "(0, 3)", "1", "3"])
def test_sums_of_arrays_without_elements_are_pythons(shape: str) -> None:
    for dtype in ("?", "i2", "f4"):
        rows = ("sum(a)", "sum(a, 1)", "sum(a, b)", "sum(a * 2)", "sum(a[:1])", "sum(a) + np.float32(1)")
        check([f"np.ones({shape}, '{dtype}')", "2.5"], rows)


def test_a_sum_of_what_only_a_run_knows_to_have_no_elements() -> None:
    row = "total = 0.5\nfor i in range(b):\n    total = total + float(sum(a[i:]))\nreturn total"
    check(["np.arange(40.0)", "40"], [row])
    refused(["np.arange(40.0)", "42"], row, "sum() of an array without elements", "x.sum()")


def test_which_of_two_faults_of_a_ufunc_is_said() -> None:
    given = ["np.ones((1, 3), 'i2')", "np.ones((2, 3), 'u1')", "np.zeros((2, 1), 'f4')", "np.ones((1, 3), bool)"]
    numbers = ("-129", "70000", "2**64")
    rows = ["np.left_shift(a, {}, dtype='u1')", "np.left_shift({}, b, out=d)", "np.logical_and({}, d, out=c)",
            "np.add(a, {}, out=b)", "np.remainder(a, {}, out=(b,), dtype='u8')", "np.floor_divide(b, {}, out=c, casting='no')",
            "np.add(b, {}, dtype='i4')", "np.less(b, {}, out=c)", "np.multiply(a, {}, out=c)"]  # fmt: skip
    check(given, [row.format(n) for row in rows for n in numbers], call=call_interpreted)
    rows = ["np.negative([[1], [2, 3]], subok=3)", "np.multiply([[1], [2, 3]], a, out=(c,), casting='bad')",
            "np.power([[1], [2, 3]], a, order=1)", "np.heaviside(2.0, [[1], [2, 3]], out=(c,), where=a)",
            "np.divmod(a, 2, dtype=slice(1), out=c)", "np.divmod([1, 2, 3], a, dtype=3, out=b)"]  # fmt: skip
    check(given, rows, call=call_interpreted)


def test_complex_replacements_of_nan() -> None:
    for dtype in ("f2", "f4", "f8", "c8", "c16"):
        given = [f"np.ones(3, '{dtype}')", "2 + 3j", "np.complex64(1)", "np.ones(3, 'c8')"]
        check(given, [f"np.nan_to_num(a, nan={n})" for n in ("b", "c", "d", "2j")], call=call_interpreted)


def test_bounds_of_run_time_beside_complex_ones() -> None:
    check(["np.array([-7, 3], 'i2')", "np.complex128(2 + 1j)"], ["a.clip(b, 2**31)", "a.clip(b, 5)", "np.clip(a, b, None)"])
    given = ["np.array([-7, 3], 'i2')", "2 + 1j", "2**31"]
    refused(given, "a.clip(b, c)", "a bound that is complex beside an int of run time", "astype")


def test_tolerances_that_no_dtype_holds() -> None:
    given = ["np.arange(3.0)", "np.array([0, 1, 2])", "10**30"]
    rows = [f"np.{name}({x}, {y}, {bound})" for name in ("isclose", "allclose")
            for x, y in (("a", "b"), ("b", "2"), ("1", "2"))
            for bound in ("atol=10**30", "rtol=-2**64", "atol=10**400", "atol=c", "rtol=2**63", "atol='x'", "atol=None")
            ]  # fmt: skip
    check(given, rows, call=call_interpreted)


@pytest.mark.parametrize("name", ["nanvar", "nanstd", "var", "std"])
def test_means_that_do_not_fit_the_array(name: str) -> None:
    given = ["np.arange(12.0).reshape(3, 4)", "np.array([1, np.nan, 3, 2])", "np.array(2.0)"]
    means = ("a", "np.ones((1, 4))", "np.ones((3, 1, 1))", "np.ones(3)", "np.ones((2, 3, 4))", "np.ones(0)", "c", "2.5")
    rests = ("", ", where=a > 2", ", keepdims=True")
    rows = [f"np.{name}({x}{rest}, mean={m})" for m in means for x in "abc" for rest in rests]
    rows += [f"np.{name}(a, axis={axis}, mean={m})" for m in means for axis in (0, 1, (0, 1))]
    check(given, rows, call=call_interpreted)


EXPONENTS = ["np.arange(3)", "np.array([-1, -2, 2])", "np.array([4, 5, 6])", "-1", "np.int64(-1)", "np.array([True, False])"]
POWERS = (
    "a[:0] ** e", "np.zeros((0, 3), int) ** b", "np.zeros((0, 3), int) ** b[:1]", "np.power.outer(a[:0], b)", "a[:0] ** d",
    "c[b > 5] ** -1", "c[b > 5] ** d", "c[b > 5] ** e", "c[b > 0] ** -1", "c[b > 0] ** d", "np.power(c[b > 5], -1)",
    "(c[b > 5] ** d).sum()", "c[b > 0] **= b[b > 0]\nreturn c", "c[b > 5] **= -1\nreturn c", "c[b > 0] **= d\nreturn c",
    "f[f & False] ** -1", "f[f] ** -1", "c[b > 0] ** 2",
    "np.power(c, b, out=a, where=b > 0)", "np.power(c, -1, out=a, where=b > 5)",
    "np.power(c, d, out=a, where=b > 5)", "np.power(c, d, out=a, where=b > 0)", "np.power(c, b, out=a, where=b < 0)",
)  # fmt: skip


@pytest.mark.parametrize("call", [call_interpreted, call_jit])
def test_negative_exponents_of_no_integers(call: Callable[..., Any]) -> None:
    check(EXPONENTS, [row if "return" in row or "out=" not in row else f"{row}\nreturn a" for row in POWERS], call=call)


def test_what_functions_say_of_arguments_of_another_kind() -> None:
    given = ["np.arange(12.0).reshape(3, 4)", "np.arange(4)", "np.ones((2, 2, 2))", "np.array(2.5)", "3", "np.ones((1, 1))"]
    rows = ("a.transpose(axes=0)", "a.item(x=1)", "d.transpose(axes=0)", "np.searchsorted(a, 1)", "a.searchsorted(1)",
            "d.searchsorted(1)", "np.searchsorted(4, 1)", "np.moveaxis(a, (0, 0), (0, 1))", "np.moveaxis(a, (), (0, 0))",
            "np.moveaxis(a, (0, 1), (0, 0))", "np.linalg.tensorsolve(a, b, axes=-1)", "np.linalg.tensorinv(a, ind=(0, 1))",
            "np.linalg.tensorinv(a, ind=1.5)", "np.linalg.tensorinv(a, ind=0)", "np.tril_indices_from([[1, 2], [3, 4]])",
            "np.triu_indices_from(e)", "np.diag_indices_from((1, 2))", "np.diag_indices_from(3)",
            "np.linalg.matrix_power(a, None)", "np.linalg.matrix_power(c, None)", "np.linalg.matrix_power(a, 2)",
            "np.linalg.matrix_power(b, 2)")  # fmt: skip
    check(given, rows, call=call_interpreted)
    rows = ("np.fft.ifftn(b, s=[])", "np.fft.fftn(a, s=[], axes=[])", "r = np.fft.hfft(b[:3], out=a[0])\nreturn r, a",
            "a.item()", "a[1:].item()", "a[2:, 3:].item()", "f.item()", "b[:1].item()", "a[1:1].item()")  # fmt: skip
    check(given, rows)
    refused(given[1:2], "np.fft.fftn(np.ones((4, 4)), a[1:3])", "s= must be known", "static")


def test_weights_of_samples_that_are_no_vector_are_numpys_error() -> None:
    for dtype in ("", ", dtype='i4'"):
        function = written("a", f"np.cov((1, 2){dtype}, fweights=a)", SCOPE)
        with pytest.raises(RuntimeError, match="cannot handle multidimensional fweights") as found:
            call_interpreted(function, np.ones((2, 3)))
        assert isinstance(found.value, CompileError)


def test_nothing_of_no_numbers() -> None:
    given = ["np.zeros((0, 3), 'i4')", "np.zeros((2, 0, 3))", "np.array(2.5, 'f4')", "np.array([2, 3])", "np.ones((2, 2))"]
    rows = ("np.linalg.pinv(a)", "np.linalg.pinv(a, rcond=1e-3)", "np.linalg.pinv(b, hermitian=True)", "np.linalg.pinv(e, d)",
            "np.linalg.pinv(e, e)", "r = np.fft.fftn(c, out=c)\nreturn r", "np.fft.rfftfreq(-1)", "np.fft.rfftfreq(-5)",
            "np.fft.rfftfreq(True)", "np.fft.rfftfreq(False)", "np.indices((2, -1), sparse=True)",
            "np.indices((-2, 3), sparse=True, dtype='f4')", "np.dstack([d, d], dtype='f4')", "np.dstack([d, d], casting='no')",
            "b = np.zeros(3, bool)\nb.flat[0] = [1, 2]\nb.flat[1] = ()\nb.flat[2] = [0]\nreturn b",
            "np.fft.fftfreq(-2)", "np.indices(c)", "np.isin(d, np.inf, kind='table')", "np.isin(d, [1.5, 2], kind='table')",
            "np.isin(d, [2, 7], kind='table')", "np.isin(d, [], kind='table')")  # fmt: skip
    check(given, rows)
    refused(given, "np.indices(d)", "a length must be an int", "", scope={})
    refused(given, "np.indices((len(d) - 5, 2), sparse=True)", "known only at run time is below 0", "")
    refused(given, "e = d > 2\ne.flat[0] = d[:1]\nreturn e", "several values are assigned to one bool", "one element")


def test_values_with_more_axes_than_what_they_are_put_into() -> None:
    given = ["np.arange(4.0)", "np.arange(4.0).reshape(2, 2)", "np.ones((4, 4))", "np.ones((2, 1, 2))", "np.ones((2, 2, 2))"]
    rows = ("np.insert(a, 1, c)", "np.insert(a, [1], c)", "np.insert(a, 1, c[:1])", "np.insert(b, 1, d, axis=1)",
            "np.insert(b, [1], d, axis=1)", "np.insert(b, 0, e, axis=0)", "np.insert(b, 1, e, axis=1)",
            "np.insert(b, 1, d, axis=0)", "np.insert(b, [0, 1], e, axis=0)")  # fmt: skip
    check(given, rows)


def test_shapes_that_are_compared_before_numpy_comes_to_another_error() -> None:
    given = ["np.ones((3, 0))", "np.ones(1)", "np.ones(3)", "np.ones((3, 1))", "np.zeros((3, 4), 'i1')", "np.zeros(0, 'f4')"]
    rows = ("np.tensordot(a, b, 2)", "np.tensordot(c, c, 2)", "np.tensordot(d, c, 2)", "np.tensordot(a, b, 3)",
            "np.tensordot(b, a, 2)", "np.tensordot(e, c, [[0, 1], [0, 1]])", "np.tensordot(e, a, [[1, 0], [0, 1]])",
            "np.tensordot(e, c[:2], [[0, 1], [0, 1]])", "np.concatenate((f, e), casting='equiv')",
            "np.concatenate((f, e, c), dtype='u1', casting='no')",
            "np.concatenate((e, e[:2, 1:]), dtype='f4', casting='no')", "np.concatenate((e, e), dtype='f4', casting='no')",
            "np.stack((f, e), casting='no')", "np.vstack((f, e), casting='no', dtype='i1')")  # fmt: skip
    check(given, rows)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float16])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "function",
    [np.inner, lambda x, y: np.tensordot(x, y, ((1,), (1,))), lambda x, y: np.dot(x, y.T), lambda x, y: np.dot(x[None], y[0]),
     lambda x, y: np.inner(x[None], y)],
)  # fmt: skip
def test_products_that_numpy_makes_in_row_major_order(function: Callable[..., Any], dtype: type, order: Any) -> None:
    x, y = np.array(np.arange(12).reshape(3, 4), dtype, order=order), np.arange(20).reshape(5, 4).astype(np.uint8)
    for first, second in ((x, y), (y, x), (x, np.asfortranarray(y))):
        expected = function(first, second)
        made = call_jit(lambda x, y: function(x, y), first, second)
        assert made.strides == expected.strides
        np.testing.assert_array_equal(made, expected, strict=True)


def test_outputs_of_take_are_converted_as_numpy_does() -> None:
    given = ["np.arange(3, dtype='u4')", "np.ones(2, 'c8')", "np.ones(2, 'i1')", "np.ones(2, 'u1')", "np.ones((1, 2))"]
    rows = [f"np.take(a, {row})\nreturn {row[-1]}" for mode in ("raise", "clip") for row in (
        f"[0, 2], mode='{mode}', out=b", f"[0, 2], mode='{mode}', out=c", f"[0, 2], mode='{mode}', out=d",
        f"[0, 2], mode='{mode}', out=e")]  # fmt: skip
    rows += [f"np.compress([True, False, True], a, out={name})\nreturn {name}" for name in "bcd"]
    check(given, [*rows, "np.take(a, 0, out=b[..., 0])\nreturn b", "np.take(a, 1, out=d[..., 0])\nreturn d"])


def test_lists_are_compared_by_the_array_beside_them() -> None:
    given = ["np.arange(12.0).reshape(3, 4)", "np.zeros((3, 0))", "np.arange(2)", "np.float32(2)"]
    rows = [f"{left} {sign} {right}" for sign in ("<", "<=", ">", ">=", "==", "!=")
            for left, right in (("[1, 2]", "a"), ("(1, 2)", "b"), ("[1, 2]", "c"), ("[1, 2]", "d"))]  # fmt: skip
    check(given, [*rows, "[1, 2] + a", "[1, 2, 3, 4] < a"])


@pytest.mark.parametrize("value", ["[1, 2]", "np.ones(2)", "[[1, 2], [3]]", "[1]"])
def test_what_is_wrong_with_a_key_comes_before_what_is_wrong_with_the_value(value: str) -> None:
    keys = ("a[1.0]", "a['x']", "a[7]", "a[1]", "b[1, 1.0]", "b[1, 7]", "b[1, 2]")
    check(["np.arange(3.0)", "np.ones((2, 3))"], [f"{key} = {value}\nreturn a" for key in keys])


def test_what_is_no_class() -> None:
    given = ["np.int8(1)", "np.ones(2)", "2.5"]
    rows = [f"isinstance({x}, {y})" for x in ("a", "b", "c", "1") for y in ("a", "3", "'int'", "[int]", "None", "int | float")]
    check(given, rows)

"""NumPy's answer in corners: classes and sentences of exceptions, comparisons of Python ints, functions of nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree, refused

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted, call_jit
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

EXCEPTIONS = (
    ("a @ a", np.float32(2)), ("a @ 2.0", 3), ("np.nonzero(a)", np.array(True)), ("np.where(a)", 2.5),
    ("np.astype(a, 'f4')", 7),
    ("np.apply_over_axes(np.sum, a, 0)", 2.5), ("np.take(a, [0], axis=1)", np.array(2.5)), ("np.repeat(a, 2, axis=1)", 3),
    ("+a", np.array([True])), ("np.around(a, 2)", False), ("a.round(2)", np.array([True])), ("np.around(a, -1)", np.True_),
    ("np.diff(a, axis=3)", np.ones(3)), ("np.moveaxis(a, 0, -1)", np.array(1j)), ("np.swapaxes(a, 0, 1)", 0),
    ("np.expand_dims(a, 4)", np.ones(3)), ("np.flip(a, 4)", np.ones(3)), ("a.dot(1)", np.float32(1)), ("a[1.5]", np.ones(2)),
    ("a['x']", np.ones(2)), ("np.copyto(a, 1)", 2.5), ("np.copyto(a, 1)", np.float32(1)), ("np.put(a, 0, 1)", 2.5),
    ("np.split(a, 3)", 3), ("np.unstack(a)", 3), ("np.take_along_axis(a, np.array([0]), 0)", 3.5), ("np.place(a, True, 1)", 3),
    ("np.putmask(a, True, 1)", 3), ("np.nan_to_num(a, nan=np.arange(4))", np.ones(3)),
)  # fmt: skip


@pytest.mark.parametrize("text, given", EXCEPTIONS)
def test_classes_and_sentences(text, given):
    """NumPy's exception, of its own class where it has one."""
    function = make_function("a", [text], {"np": np})
    with pytest.raises(Exception) as expected:
        function(given)
    with pytest.raises(expected.type.__mro__[1] if expected.type.__name__[0] == "_" else expected.type) as found:
        call_jit(function, given)
    assert found.value.message == str(expected.value)


def test_comparisons_of_python_ints_with_casting_and_of_two():
    small = np.uint8([1, 2])
    agree(["np.not_equal(a, b, casting='unsafe')", "np.less(a, b, casting='no')"], small, 2**63 - 1)
    agree(["np.equal(a, 2**70)", "np.less(a, 2**70)", "np.equal(a, b)"], 5, True)


def test_rows_of_an_array_as_choices():
    number, rows = "np.array([0, 1, 1, 0])", "np.arange(8.).reshape(2, 4)"
    check([number, rows], ["np.choose(a, b)", "a.choose(b)", "np.choose(a * 3 - 1, b, mode='clip')", "np.choose(a + 1, b)",
                           "np.choose(a + 1, b, mode='wrap')", "np.choose(a, b[:, :1])", "np.choose(a, b[:, 0])",
                           "np.choose(1, b)", "np.choose(a, b[:, :3])", "np.choose(a, b[:0])", "np.choose(0, b[0])",
                           "np.choose(a[:2, None], b)", "np.choose(a[:, None], b.T)", "np.choose(a, np.zeros(70))",
                           "np.choose(a, [])", "np.choose(a.astype('u1'), b.astype('i1'))"])  # fmt: skip


def test_integers_of_two_dtypes_that_none_holds_are_compared_exactly():
    check(["np.array([1, 2**63 - 1, -1, 0])", "np.array([1, 2**63, 2**64 - 1], np.uint64)"],
          ["np.isin(a, b)", "np.isin(b, a)", "np.isin(a, b, invert=True)", "np.setdiff1d(a, b)",
           "np.isin(b, a.astype('i1'))"])  # fmt: skip


def test_masked_values_that_do_not_fit():
    """The sentence is another one where the mask has fewer axes; of an array without elements it is raised too."""
    check(["np.arange(0.)"], [f"a[a > 2] = np.ones({count})\nreturn a" for count in (0, 1, 3)])
    check(["np.zeros((2, 0, 3))"], ["a[a > 2] = np.ones(3)\nreturn a", "a[a[:, :, 0] > 2] = np.ones((2, 3))\nreturn a"])
    check(["np.arange(6.).reshape(3, 2)", "np.zeros(3, bool)", "np.ones((3, 1))"],
          ["a[b] = c\nreturn a", "a[~b] = c\nreturn a", "a[b] = c[:2]\nreturn a", "a[~b] = c[:2]\nreturn a"])  # fmt: skip


def test_positions_in_lists_are_cast_one_by_one():
    check(["np.arange(5.)"], ["np.take(a, [1.0])", "a.take([1.5])", "np.take(a, ['x'])", "np.take(a, [1j])",
                              "np.take(a, [True])", "np.take(a, np.array([1.]))", "np.take(a, [])",
                              "np.take_along_axis(a, [0, 1], 0)"])  # fmt: skip


def test_truth_values_as_axes():
    check(["np.arange(6.).reshape(2, 3)"],
          ["np.size(a, True)", "np.size(a, (False, True))", "np.average(a, axis=True)", "np.sum(a, axis=True)",
           "np.average(a, axis=False, keepdims=True)", "np.average(a, axis=True, weights=np.ones(3))"])  # fmt: skip


def test_shapes_of_cases_and_of_choices_are_compared_apart():
    check(["np.arange(6.).reshape(3, 2)", "np.zeros(3, bool)", "np.ones((3, 1))"],
          ["np.select([b], [c])", "np.select([b, c > 0], [a, c[:2]])", "np.select([b], [a])", "np.select([a > 1], [0], c.T)",
           "np.select([a[:, 0] > 1, b], [a[:2], 0])", "np.select([b, a > 1], [a, 0])"])  # fmt: skip


def test_names_of_classes_in_the_sentences_of_python():
    check(["np.arange(3.)"], ["a.sum.foo", "f = lambda x: x\nreturn f.foo", "f = lambda x: x\nreturn f + 1", "a.sum + 1"])


def test_values_for_no_elements():
    none = np.zeros((2, 0))
    for function in ("place", "putmask"):
        f = make_function("ab", [f"np.{function}(a, a > 1, b)", "a"], {"np": np})
        compare(pytocu.jit(f)(none, np.zeros(0)), f(none, np.zeros(0)))


def test_values_that_are_not_there():
    """No values are put where a mask holds nowhere; `place` looks at the mask, `putmask` does nothing at all."""
    for limit in (0, 9):
        for function in ("np.place", "np.putmask"):
            for values in ("b", "[]"):
                agree(f"{function}(a, a > {limit}, {values})", np.arange(3.0), np.zeros(0))
    agree(["np.place(a, a > 0, b)", "np.putmask(a, a > 0, b[::-1])"], np.arange(5.0), np.arange(2.0))


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
def test_windows_of_less_than_nothing(name):
    beta = ", 2.0" if name == "kaiser" else ""
    for count in (-3, 0, 1, 4):
        agree([f"np.{name}(a{beta})", f"np.{name}({count}{beta})"], count, ulp=8)
    with pytest.raises(UnsupportedError, match="of a length that is a float"):
        call_jit(make_function("a", [f"np.{name}(a{beta})"], {"np": np}), 2.5)


def test_elements_are_rounded_to_the_dtype_of_a_sum():
    """Before anything is added, also where sums of float16 are made in float32."""
    for a in (np.array([2049, 1]), np.array([2049.0, 1]), np.array([2.0**40, 0])):
        agree(["np.sum(a, dtype='f2')", "np.prod(a, dtype='f2')", "np.mean(a, dtype='f2')", "np.cumsum(a, dtype='f2')",
               "np.add.reduceat(a, [0, 1], dtype='f2')"], a)  # fmt: skip


def test_no_differences_are_the_argument():
    agree("np.diff(a, n=0)", 7)
    agree("np.diff(a, n=0)", np.float32(2.5))


def test_the_median_of_no_complex_numbers():
    agree(["np.median(a)", "np.nanmedian(a)"], np.zeros(0, complex))
    agree(["np.median(a, axis=0)", "np.median(a, axis=1)"], np.zeros((0, 3), "c8"))


WRONG_CALLS = (
    ("math.sqrt(a, 1)", 1.0), ("math.ulp(a, a)", 2), ("math.modf(a, 1)", 2.5), ("math.atan2(a)", 2.5), ("math.comb(a)", 3),
    ("math.isclose(a)", 1.0), ("math.fsum(a)", 1.0), ("math.fsum(a)", 3), ("math.fsum(a)", np.float32(2)),
    ("math.fsum([a], 1)", 1.0), ("math.trunc(a)", np.float32(2)), ("math.trunc(a)", np.int8(2)),
    ("math.isqrt(a)", np.float32(4)), ("math.trunc(a)", np.True_),
    ("math.gcd(a, 2)", np.float64(4)), ("math.factorial(a, 1)", 3),
)  # fmt: skip


@pytest.mark.parametrize("text, given", WRONG_CALLS)
def test_sentences_of_math(text, given):
    function = make_function("a", [text], {"math": math})
    with pytest.raises(TypeError) as expected:
        function(given)
    with pytest.raises(TypeError) as found:
        call_jit(function, given)
    assert found.value.message == str(expected.value)


def test_union1d_takes_a_python_number_in_the_dtype_of_the_array():
    agree("np.union1d(a, b)", 3, np.float32([2, 1]))
    agree("np.union1d(a, b)", np.uint8([2, 1]), 7)


V = np.array([0, -0.0, 1, -1, 7.9, 8, 8.1, 30])
Z = np.random.default_rng(0).random((3, 3, 2)).view(complex)[..., 0]


def test_bessel_functions():
    for dtype in ("f8", "f4", "i4", "?", "u1"):
        agree("np.i0(a)", V.astype(dtype), ulp=8)
    agree(["np.i0(a)", "np.i0(2.5)", "np.i0(a + 3)", "np.i0(np.float32(2))"], 2.0, ulp=8)
    agree("np.i0(a)", np.array([np.nan, np.inf, -np.inf, 700, 800]), ulp=8)
    agree("np.i0(a)", 1j)
    agree([f"np.kaiser({m}, a)" for m in (0, 1, 2, 5, 12)], 14.0, ulp=99)
    agree(["np.kaiser(a, 8.6)", "np.kaiser(a, b)"], 7, 3, ulp=99)


@pytest.mark.parametrize("trim", ["", ", 'f'", ", 'b'", ", 'FB'"])
def test_zeros_at_the_ends(trim: str):
    for numbers in ([0, 0, 1, 2, 0], [0, 0], [1, 2], [0, 1, 0, 2, 0, 0]):
        agree([f"np.trim_zeros(a{trim})", f"np.trim_zeros(a{trim}) * 2"], np.array(numbers, float))
    agree(f"np.trim_zeros(a{trim})", np.zeros(0, int))
    refused(f"np.trim_zeros([0, 1]{trim}), a", "no array with one axis", V)


def test_eigenvalues_of_complex_matrices():
    agree(["np.linalg.eig(a)[0]", "np.linalg.eig(a).eigenvectors", "np.linalg.eigvals(a.astype('c8'))"], Z)
    agree("np.linalg.eigvals(a.real.astype(complex))", Z)
    refused("np.linalg.eig(a)", "whether its results are complex depends on the data", Z.real)
    refused("np.linalg.eigvals(a)", "whether its results are complex depends on the data", np.eye(2))
    agree("np.linalg.eigvals(a)", Z[:2])


def test_equations_of_more_axes():
    random = np.random.default_rng(1)
    agree("np.linalg.tensorsolve(a, b)", random.random((2, 3, 6)), random.random((2, 3)), ulp=1000)
    agree("np.linalg.tensorsolve(a, b)", random.random((6, 2, 3)), random.random(6), ulp=1000)
    agree("np.linalg.tensorsolve(a, b, axes=(0, 2))", random.random((2, 6, 3)), random.random(6), ulp=1000)
    agree("np.linalg.tensorsolve(a, b)", random.random((2, 3, 6)), random.random((2, 2)))
    agree("np.linalg.tensorinv(a)", random.random((2, 3, 6)), ulp=1000)
    agree("np.linalg.tensorinv(a, ind=1)", random.random((6, 2, 3)), ulp=1000)
    agree("np.linalg.tensorinv(a, ind=0)", random.random((6, 2, 3)))
    agree("np.linalg.tensorinv(a, ind=1)", random.random((2, 3)))


CORNERS = (
    ("np.array([a, 1])", np.ones(3)), ("np.array([[a, a], [a, 1]])", np.ones(3)), ("isinstance(a, 0)", 1.5),
    ("a.mT", np.float32(1)), ("isinstance(a, (int, 'x'))", np.ones(2)), ("np.array_split(a, 2)", 3),
    ("np.array_split(a, [1])", 2.5), ("reversed(a)", 3), ("reversed(a)", np.float32(1)), ("reversed(a)", np.array(1)),
)  # fmt: skip


@pytest.mark.parametrize("text, given", CORNERS)
def test_more_sentences(text: str, given: object):
    test_classes_and_sentences(text, given)


def test_kinds_of_numbers_with_masks_and_kept_axes():
    mask = np.array(True)
    agree(["np.any(a, where=b)", "np.sum(a, where=b, keepdims=True)", "np.prod(3, axis=(), where=b)"], np.int64(7), mask)
    for given in (np.array(3.0), np.float64(3), 3):
        agree(["np.median(a, keepdims=True)", "np.nanmedian(a, axis=(), keepdims=True)", "np.median(a)"], given)
    agree("np.median(a, axis=(0, 1), keepdims=True)", np.ones((2, 3)))


@pytest.mark.parametrize("arguments", ["", ", norm='ortho'", ", norm='forward'", ", s=(3, 5), norm='ortho'", ", s=(2, 4)"])
def test_transforms_of_float16_along_several_axes(arguments: str):
    """NumPy rounds the first scale to float16."""
    given = np.random.default_rng(0).random((2, 6)).astype(np.float16)
    agree([f"np.fft.{name}(a{arguments})" for name in ("fft2", "ifft2", "fftn", "ifftn")], given, ulp=4)


@pytest.mark.parametrize("call", ["pow(a)", "divmod(a)", "abs()", "range()", "round(a, 1, 2)", "sum()", "abs(x=a)"])
def test_arguments_that_functions_of_python_do_not_take(call: str):
    test_classes_and_sentences(call, 2.5)


BORDERS = (
    *(f"np.pad(a, ((1, 2), (0, 3)), mode={mode!r})" for mode in ("maximum", "minimum", "mean", "median", "linear_ramp")),
    *(f"np.pad(a, (2, 1), {mode!r}, stat_length={lengths})" for mode in ("minimum", "median") for lengths in (1, (2, 9))),
    "np.pad(a, 3, 'linear_ramp', end_values=7)", "np.pad(a, 3, 'linear_ramp', end_values=((7, -2), (0.5, 1)))",
    "np.pad(a, 2, 'reflect', reflect_type='odd')", "np.pad(a, (3, 1), 'symmetric', reflect_type='odd')",
    "np.pad(a[None, 0], ((3, 2), (0, 0)), 'reflect', reflect_type='odd')",
    "np.pad(a, 1, 'mean', stat_length=1.5)", "np.pad(a, 0, 'minimum', stat_length=0)", "np.pad(a, 0, 'mean')",
    "np.pad(a, 1, 'mean', stat_length=-1)", "np.pad(a, 1, 'mean', end_values=2)", "np.pad(a[:0], 1, 'median')",
    "np.pad(a[:0], ((0, 0), (1, 1)), 'maximum')", "np.pad(a[0, 0], (), 'mean')", "np.pad(a, {-1: 1}, 'mean')",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["i8", "u1", "?", "f2", "f4", "c16"])
def test_borders_that_are_computed(dtype):
    """Statistics are rounded for integers; each axis takes the borders of those before it in."""
    check([f"(np.arange(12).reshape(3, 4) * 7 % 11).astype({dtype!r})"], BORDERS, ulp=2, call=call_interpreted)


def test_borders_everywhere():
    a = np.float32(np.arange(12).reshape(3, 4) * 7 % 11)
    agree(["np.pad(a, 2, 'maximum')", "np.pad(a, (1, 2), 'linear_ramp', end_values=7)"], a)
    agree("np.pad(a, 1, 'mean', stat_length=2)", a, ulp=2)
    agree("np.pad(a, b, 'symmetric', reflect_type='odd')", a, 2)


def test_numbers_at_equal_distances_of_complex_ends():
    texts = ["np.linspace(a, 1, 5)", "np.linspace(0, a, 4, endpoint=False)", "np.linspace(a, a, 3)", "np.linspace(a, 2, 1)"]
    for a in (2 - 3j, np.array([1 + 2j, 3 - 1j], "c8"), np.array(1j)):
        agree(texts, a)


def test_rows_and_columns_of_nothing():
    """Arrays without axes have a row without columns where they are true; keys of several axes are sorted along one."""
    agree(["np.argwhere(a)", "np.argwhere(a > 3)", "np.argwhere(0)", "np.lexsort((a, a))"], np.array(2.5))
    keys = np.arange(24).reshape(2, 3, 4) * 7 % 5
    texts = ["np.lexsort((a, -b))", "np.lexsort((a, b), axis=0)", "np.lexsort((a[0], b[1]), 0)", "np.lexsort([a, b, a], 1)"]
    agree(texts, keys, keys % 2)
    wrong = ["np.lexsort((a, b), axis=5)", "np.lexsort((a[0], b))", "np.lexsort((a, b[1:]))", "np.lexsort(())"]
    check(["np.arange(24).reshape(2, 3, 4)", "np.arange(24).reshape(2, 3, 4) % 7"], wrong)


def test_members_among_complex_numbers():
    a = np.array([1 + 1j, 2, np.nan, -0.0, complex(0, np.nan)])
    agree(["np.isin(a, b)", "np.isin(a, b[:0])", "np.isin(b, a, invert=True)", "np.isin(a[:2], 2.0)"], a, a[::2].copy())
    check(["np.arange(3.0)"], ["np.isin(a, [1], kind='table')", "np.isin(a, a, kind='table')", "np.isin(a, [1], kind='sort')"])


def test_histograms_of_bools():
    texts = ["np.histogram(a, 2)", "np.histogram(a)", "np.histogram(a, [0, 1])", "np.histogram_bin_edges(a, 3)"]
    check(["np.array([True, False, True])"], texts)


SENTENCES = (
    "np.ediff1d(b, to_end=1)", "np.ediff1d(b)", "np.compress([True], a[:0], axis=0)", "np.convolve(a[:0], a)",
    "np.convolve(a, [])", "np.convolve(a, a)", "np.convolve(a[0], [])", "np.convolve([], a[0])", "np.polyint(a)",
    "np.polyint(a[:0])", "np.polyint(a.T[1:])", "np.polyint(a[:, :3])", "np.interp(1j, a[0], a[1])",
    "np.interp(a[0] + 1j, a[0], a[1])",
    "np.fft.rfft(a + 1j)",
    "np.fft.rfft(a.T + 1j)", "np.fft.rfft(a + 1j, 3)", "np.fft.rfft(a + 1j, n=0)", "np.fft.rfft(a + 1j, axis=3)",
    "np.fft.fftshift(c, axes=0)", "np.fft.ifftshift(c, (0,))", "np.fft.fftshift(a, 2)", "np.fft.fftshift(a, (0, -3))",
    "np.nan_to_num(c[()], copy=False)",
)  # fmt: skip


def test_which_of_two_errors_numpy_raises_and_its_sentence():
    check(["np.arange(12.0).reshape(3, 4)", "np.array([True, False])", "np.array(2.5)"], SENTENCES, call=call_interpreted)


def test_what_becomes_of_an_array_without_axes():
    texts = ["np.nan_to_num(a, copy=False)", "np.nan_to_num(a)", "np.fft.fftshift(a)", "np.fft.ifftshift(a, ())"]
    check(["np.array(np.nan)"], texts)
    check(["np.arange(3.0)"], ["np.arange(2, dtype=bool)", "np.arange(1, 3, dtype=bool)", "np.arange(0, dtype=bool)"])


def test_nothing_is_inserted():
    values = ("1.0", "[]", "np.zeros((3, 1))", "[1, 2]", "a")
    texts = [f"np.insert(a, [], {value}, axis={axis})" for value in values for axis in (0, 1, None)]
    check(["np.arange(12.0).reshape(3, 4)"], texts, call=call_interpreted)


@pytest.mark.parametrize("text", ["a.sort()", "a.sort(axis=0)", "a.partition(0)", "a.put(0, 1)", "np.put(a, 0, 1)"])
def test_what_numpy_calls_an_array_that_nobody_may_write(text):
    check(["np.broadcast_to(np.arange(4.0), (3, 4))"], [text])


def test_shapes_stand_in_a_sentence_as_they_do_in_a_comparison():
    """Of numbers with and without a sign, which no integers hold both."""
    signs = ("<", "<=", ">", ">=", "==", "!=")
    texts = [text for o in signs for text in (f"a {o} b", f"b {o} a", f"a[0] {o} b[:4]", f"b[:4] {o} a")]
    check(["np.arange(12, dtype='u8').reshape(3, 4) - 4", "np.arange(-2, 3, dtype='i2')"], texts)


def test_numbers_of_math_and_of_python_are_none_of_arrays():
    for given in ("np.array(2.0)", "np.array(True)", "np.array(2)"):
        check([given], ["math.gcd(a, 2)", "math.isqrt(a)", "math.sqrt(a)"], scope={"math": math})
    texts = ["math.gcd(a, 2)", "math.isqrt(a)", "math.sqrt(a)", "float(a)", "int(a)", "complex(a)", "math.floor(a)"]
    check(["np.arange(3)"], texts, scope={"math": math})


def test_what_versions_of_numpy_do_differently():
    """Positions in an array without axes, and integers that are rounded."""
    check(["np.array(3)"], ["np.nonzero(a)", "a.nonzero()", "np.where(a)", "a.round()", "np.round(a, 2)"])
    check(["np.arange(3)"], ["a.round()", "a.round(1)", "np.round(a)", "np.round(a[::2], -1)"])


def test_what_is_no_axis():
    check(["np.arange(6.0).reshape(2, 3)"], ["np.expand_dims(a, [0, 2])"])
    texts = ["np.expand_dims(a, 1.0)", "np.stack((a, a), 'x')", "np.delete(a, 0, 1.0)", "np.take(a, [0], 'x')"]
    check(["np.arange(6.0).reshape(2, 3)"], texts)
    refused("np.expand_dims(a, True)", "an axis must be an integer", np.arange(3.0))


def test_methods_that_operators_call():
    for text in ("a.__neg__()", "a.__len__()", "a.__getitem__(0)"):
        refused(text, "is not supported", np.arange(3.0))


LISTS_BESIDE_CHOSEN = (
    "a[a > 0] + [1, 2]", "[1, 2, 3] * a[a > 0]", "np.add(a[a > 0], (1, 2))", "a[a > 0] + [2]", "a[a > 0] < range(7)",
    "a[a > 0] += [1, 2]\nreturn a", "a[a > 0] //= (1, 2)\nreturn a", "a[a > 0] *= [2]\nreturn a",
    "a[a > 0] += [1, 2, 3, 4, 5, 6]\nreturn a", "np.sum(a[a > 0] * [1, 2, 3, 4, 5, 6])",
)  # fmt: skip


@pytest.mark.parametrize("text", LISTS_BESIDE_CHOSEN)
def test_a_list_beside_chosen_elements_is_for_these(text):
    """And not for the whole array, whose last axis may have as many elements."""
    check(["(np.arange(12) % 5 - 1.0).reshape(2, 3, 2)"], [text], call=call_interpreted)


def test_numbers_that_are_arrays():
    refused("np.roll(a, b)", "by an array is not compiled", np.arange(3.0), np.array([1]))
    refused("np.histogram(a, b)", "an array without axes", np.arange(3.0), np.array(2))


@pytest.mark.parametrize("text", [
    "a.view(None) + 1", "a.view(dtype=None) + 1", "a.view()", "a.view(type=None)", "a[0, 0].view(None)",
    "np.nan_to_num([1.0, np.nan], copy=False)", "np.nan_to_num((1.0, np.nan), copy=None)", "np.nan_to_num(a, copy='a')",
    "np.array(a, copy='')", "np.asarray(a, copy='a')", "np.array([1], copy=0)", "np.array([1], copy=[1])",
    "np.put(np.float32(2), 99, 1)", "np.put(a[0, 0], [0, -2], 1)", "a[0, 0].put(1, 2)", "np.put(a[0, 0], [], 1)",
    "np.put(a[0, 0], 0, 'x')", "np.put(a[0, 0], 3, 1, mode='clip')",
])  # fmt: skip
def test_none_and_text_among_arguments_and_changes_that_nobody_sees(text):
    check(["np.arange(12, dtype=np.int32).reshape(3, 4)"], [text])


def test_degrees_of_freedom_are_one_number():
    texts = ["(2, 2)", "[a]", "[]", "range(2)", "np.array([1])", "[1]", "a", "a[:0]", "np.array([[2]])", "(b, b)", "[b]"]
    check(["np.arange(6.0).reshape(2, 3)", "1"], [f"np.std(a, ddof={text})" for text in texts])
    check(["np.arange(6.0).reshape(2, 3)", "1"], ["a.var(0, ddof=(1, 1, 1))", "np.var(a, 0, ddof=[b])"])


@pytest.mark.parametrize(
    "axes", ["a.dtype", "1.5", "True", "'a'", "{}", "[None]", "[[1, 0]]", "()", "(0, 5)", "(0, 0)", "[1, 0]", "None", "1j"]
)
def test_axes_to_transpose(axes):
    check(["np.arange(6.0).reshape(2, 3)"], [f"np.transpose(a, {axes})", f"a.transpose({axes})"])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_roots_that_powers_with_one_exponent_are(dtype):
    """NumPy's loops take them, and its operators of scalars do not."""
    given = [f"np.array([-0.0, -np.inf, 4, 2], '{dtype}')", f"np.{np.dtype(dtype)}(0.5)", "0.5", "np.array(0.5)"]
    powers = [f"{base} ** {exponent}" for base in ("a", "a[0]", "a[0] + np.zeros((), a.dtype)") for exponent in "bcd"]
    check(given, [*powers, "a ** np.float32(0.5)", "np.power(a, 0.5)", "np.power(a, b)", "np.power(a[1], np.float64(0.5))",
                  "a **= b\nreturn a", "a **= c\nreturn a", "a **= 0.5\nreturn a", "a ** np.int64(2)"], ulp=2)  # fmt: skip


@pytest.mark.parametrize("given", ["[]", "()", "[[], []]", "[[1], []]", "range(3)", "range(0)", "range(9, 0, -4)"])
def test_lists_without_members_and_ranges_among_arguments(given):
    check([given], ["np.add(a, 1)", "np.where(a, 1, 0)", "np.shape(a)", "np.ndim(a)", "np.size(a)", "np.sqrt(a)", "np.sum(a)",
                    "a + np.ones((2, 1))", "np.ones(0) + a", "np.ones(3) * a", "np.cumsum(a)", "np.dot(a, a)"])  # fmt: skip


def test_lists_without_members_beside_arrays():
    check(["[]", "np.zeros(0, 'f4')"], ["np.array([a, b])", "np.array([b, []])", "np.array([b, [[]]])", "np.add([b], a)"])


def test_ranges_as_shapes_and_axes():
    texts = ["np.zeros(b)", "np.ones(b)", "np.full(c, 2.0)", "np.tile(a, c)", "np.flip(a, b)", "np.roll(a, 1, b)",
             "np.pad(a, b)",
             "np.roll(a, c, b)", "np.roll(a, c)", "a.transpose(b)", "np.transpose(a, range(1, -1, -1))", "np.size(a, b)",
             "a.reshape(range(2, 4))", "np.reshape(a, c)", "np.moveaxis(a, b, range(1, -1, -1))",
             "np.broadcast_to(a, range(2, 4))",
             "np.resize(a, c)", "np.average(a, axis=b)", "np.unravel_index(3, range(2, 4))", "np.gradient(a, axis=b)",
             "np.ravel_multi_index(b, range(2, 4))", "np.split(a, c)", "np.sum(a, axis=b)", "np.expand_dims(a, b)",
             "np.sum(np.lib.stride_tricks.sliding_window_view(a, c), (2, 3))"]  # fmt: skip
    check(["np.arange(6.0).reshape(2, 3)", "range(2)", "range(1, 3)"], texts)


def test_lists_that_are_no_array_are_equal_to_none():
    check(["np.arange(4).reshape(2, 2)", "[[1], [2, 3]]"],
          ["np.array_equal(a, b)", "np.array_equal(b, a)", "np.array_equiv(a, [[1], 2])", "np.array_equal(b, b)",
           "np.array_equal(a, [[0, 1], (2, 3)])"])  # fmt: skip


def test_counts_of_nothing_and_positions_in_an_array_without_axes():
    check(["[]"], ["np.bincount(a)", "np.bincount(())", "np.bincount([], minlength=3)", "np.bincount([], weights=[])"])
    check(["np.array(2.0)"], ["np.unravel_index(0, a.shape)", "np.unravel_index(1, ())", "np.unravel_index([0], ())",
                              "np.unravel_index(np.argmax(a), a.shape)", "np.unravel_index([], ())"])  # fmt: skip


def test_what_is_no_function_of_pieces():
    refused("np.piecewise(a, [a > 0], [None])", "np.piecewise with None among the functions", np.arange(3.0))


def test_strings_of_numpy_are_no_results():
    refused("np.str_('x')", "the function returns a str_, a string of a class of its own", 1)
    refused("[a, 1]", "the function returns a str_", np.str_("x"))
    check(["np.str_('x')"], ["str(a)"])


def test_members_of_one_element_and_ranges_of_run_time():
    for name in ("min", "max"):
        refused(f"{name}(a)", "of arrays of one element is one of them", np.arange(2).reshape(2, 1, 1))
    for text in ("range(a).index(1)", "range(a).count(1)"):
        refused(text, "of a range that is known only at run time is not compiled", 5)
    check(["5"], ["range(a).start", "range(a).foo"])


def test_text_as_an_axis_and_lists_as_the_ends_of_a_histogram():
    texts = [f"np.{name}, axis={axis})" for axis in ("''", "'x'")
             for name in ("median(a", "quantile(a, 0.5", "nanmedian(a", "average(a")]  # fmt: skip
    check(["np.arange(6.0).reshape(2, 3)"], texts)
    ranges = ["[[1], [2, 3]]", "[1, [2]]", "[None, 1]", "[[0], [3]]", "[2, 1]", "[1, np.inf]", "(1, 1)", "[1]"]
    check(["np.arange(4.0)"], [f"np.histogram(a, 3, range={ends})" for ends in ranges])


def test_what_is_no_array_to_write_into():
    texts = [f"np.fill_diagonal({given}, 9)" for given in ("3", "2.5", "None", "[[1, 2], [3, 4]]", "a", "[a]", "np.float64(3)")]
    check(["2"], texts)
    check(["np.ones(2)"], ["np.add(a, 1, ...)", "np.sqrt(a, ...)", "np.divmod(a, 1, ...)", "np.add(a, 1, out=...)"])


def test_numbers_of_repeats_that_are_none():
    """Of no elements a number below 0 is one; a float that no C long holds is refused as such."""
    texts = ["np.repeat(a, b)", "np.repeat(a, c)", "np.repeat(a, -1)", "np.repeat([1, 2], b)"]
    check(["np.zeros(0)", "np.int8(-1)", "1e22"], texts)


def test_a_power_that_is_complex_is_no_float():
    """Nobody gets what float() refuses, and an array that would have to become complex is refused."""
    loop = "for i in range(2):\n    b[i] += float(a ** 0.5)\nreturn b"
    rows = ["float(a ** 0.5)", "float(-(a ** 0.5) * 2)", "x = float(a ** 0.5)\nreturn b", "b[0] = a ** 0.5\nreturn b",
            "b[:] = float(a ** 0.5)\nreturn b", "float(a ** 2) + b", "float(a ** 2.0)", loop]  # fmt: skip
    check(["-2.0", "np.zeros(3)"], rows)
    for row in ("a ** 0.5 * b", "np.full(3, a ** 0.5)", "max(a ** 0.5, 1)"):
        with pytest.raises(UnsupportedError, match="is a complex number"):
            call_jit(make_function("ab", [row], {"np": np}), -2.0, np.zeros(3))


def test_lists_of_which_numpy_reads_an_attribute():
    rows = ["np.hsplit([1, 2], 2)", "np.hsplit([[1, 2]], [0])", "np.vsplit([[1, 2], [3, 4]], 2)", "np.split([1, 2], 2)",
            "np.vsplit([[1, 2], [3, 4]], [1])", "np.unstack([1, 2])", "np.rollaxis([1, 2], 0)"]  # fmt: skip
    check(["np.zeros(1)"], rows)


def test_numpy_scalars_as_positions_and_as_dtypes():
    """NumPy cuts off the fraction of a scalar of its own, and of no array, and reads the dtype of one."""
    rows = ["np.take(a, b)", "a.take(b)", "np.take(a, np.float32(1.5))", "np.take(a, b + 9)", "np.zeros(2, b)", "a.astype(b)"]
    check(["np.array([1.0, 2, 3])", "np.float32(1.5)"], rows)
    check(["np.array([1.0, 2, 3])", "np.array([1.5])"], ["np.take(a, b)", "np.zeros(2, b)"])


def test_axes_and_pieces_that_are_none():
    rows = ["np.var(a, axis=1.0, where=b)", "np.mean(a, 1.0, where=b)"]
    check(["np.array([1.0, 2, 3])", "np.array([True, False, True])"], rows)
    with pytest.raises(UnsupportedError, match="axis= must be known"):
        call_jit(make_function("ab", ["np.mean(a, b, where=a > 1)"], {"np": np}), np.ones(3), np.int64(0))
    rows = ["np.vsplit(a, np.uint8(0))", "np.split(a, 0)", "np.cov(a)", "np.corrcoef(a, dtype='f2')", "np.cov(a, [1.0, 2, 3])",
            "np.geomspace(1, 3, 4, axis=1)", "np.geomspace(1, 3, 2, axis=-1)"]  # fmt: skip
    check(["np.ones((0, 3))"], rows)


def test_the_only_choice_has_the_number_0():
    check(["np.int8(-3)", "np.array([0, 1])"], ["np.choose(a, (0,))", "np.choose(b, (5,))", "np.choose(b, (5,), mode='clip')"])

"""Reductions against NumPy: dtype, shape and values over functions, dtypes, axes and shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reduction_tools import (
    DTYPES,
    EXACT,
    FAMILIES,
    MOMENTS,
    NAN,
    POSITIONS,
    RANGES,
    SHAPES,
    SUMS,
    axes_of,
    both_raise,
    check,
    compiled,
    nearly_exact,
    on_threads,
    sample,
    small,
    sparse,
)

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.ir import interp
from pytocu.ir.dims import evaluate
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_selections_have_numpys_bits(dtype: str, shape: tuple[int, ...]) -> None:
    # Which zero and which NaN of complex numbers is chosen is not NumPy's to say either.
    values = sample(dtype, shape) if np.dtype(dtype).kind != "c" else small(dtype, shape)
    values = values + values.dtype.type(0) if values.dtype.kind == "f" else values
    check([t.format(axis) for axis in axes_of(len(shape)) for t in EXACT], values)




@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exact_sums_and_products(dtype: str, shape: tuple[int, ...]) -> None:
    check([t.format(axis) for axis in axes_of(len(shape)) for t in SUMS], small(dtype, shape))




@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_moments(dtype: str, shape: tuple[int, ...]) -> None:
    check([t.format(axis, axis) for axis in axes_of(len(shape)) for t in MOMENTS], small(dtype, shape), exact=False, ulp=8)


# Lengths of 0, and what NumPy refuses.


EMPTY = ("np.sum(a, {})", "np.prod(a, {})", "np.any(a, {})", "np.all(a, {})", "np.max(a, {}, initial=-1)",
         "np.mean(a, {})", "np.var(a, axis={})", "np.std(a, {}, keepdims=True)")  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom", "ignore:invalid value")
@pytest.mark.parametrize("dtype", ["?", "i2", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 3)], ids=str)
def test_no_elements(dtype: str, shape: tuple[int, ...]) -> None:
    check([t.format(axis) for axis in axes_of(len(shape)) for t in EMPTY], np.zeros(shape, dtype))


@pytest.mark.parametrize("name", ["max", "min", "amax", "maximum.reduce"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (0,)], ids=str)
def test_no_elements_and_no_identity(name: str, shape: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.float32)
    for axis in axes_of(len(shape)):
        text = f"np.{name}(a, axis={axis})"
        try:
            eval(text, {"np": np, "a": values})
        except ValueError:
            both_raise(text, values)
        else:
            check([text], values)


@pytest.mark.parametrize("text", [
    "np.sum(a, axis=2)", "a.sum(-3)", "np.max(a, axis=(0, 5))", "np.sum(a, axis=(0, 0))", "np.sum(a, axis=(0, -2))",
    "np.sum(a, axis=[0, 1])", "np.sum(a, axis=1.5)", "np.sum(a, axis='a')", "np.sum(a, axis=a)", "np.sum(a[0, 0], axis=1)",
    "np.mean(a, axis=2)", "np.var(a, axis=(1, 1))", "np.max(a, axis=0, where=a > 0)", "np.sum(a, where=a)",
    "np.sum(a, initial=[1, 2])", "np.sum(a, initial=a)", "np.sum(a.astype('i1'), dtype='i1', initial=300)",
    "np.max(a.astype('i1'), initial=np.nan)", "np.sum(a, keepdims='a')", "np.sum(a, out=a)", "np.sum(a, dtype='q4')",
    "np.sum(a, axis=0, out=a)", "np.sum(a, axis=0, out=3)", "np.var(a, ddof=1, correction=1)", "np.var(a, ddof=a)",
    "np.std(a.astype(int), axis=0, dtype='i4')", "np.sum(a, initial=None, where=a > 0)", "np.mean(a[0, 0], axis=-1, out=a[0])",
])  # fmt: skip
def test_refused_as_numpy_refuses(text: str) -> None:
    both_raise(text, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    "dtypes", ["f4 f4", "f4 f8", "f8 f4", "i4 i2", "i2 i4", "f4 i4", "f4 c8", "? ?", "f2 f4", "i1 f4", "c8 c16"]
)
def test_out(dtypes: str) -> None:
    source, target = dtypes.split()
    values = small(source, (4, 3))
    for name in ("sum", "mean", "max", "var", "any", "prod"):
        if name in ("mean", "var") and np.dtype(target).kind in "b":
            continue
        for call, target_shape in (("a, axis=1", 4), ("a", ()), ("a, axis=0, keepdims=True", (1, 3))):
            out, expected = np.zeros(target_shape, target), np.zeros(target_shape, target)
            function = make_function("ab", [f"np.{name}({call}, out=b)"], {"np": np})
            try:
                function(values, expected)
            except (TypeError, ValueError) as error:
                with pytest.raises(type(error).__mro__[1]):
                    pytocu.jit(function).lower(values, out)
                continue
            low = pytocu.jit(function).lower(values, out)
            interp.run(low.function, (values, out))
            compare(out, expected, exact=False, ulp=4)


# Methods of ufuncs, and scans.


def test_a_single_element_is_combined_with_the_identity_if_there_is_one() -> None:
    texts = ["np.gcd.reduce(a)", "np.lcm.reduce(a)", "np.gcd.reduce(a, axis=())", "np.lcm.reduce(a, axis=())"]
    for values in ([-4], [-4, 6], [-4, -6, 10]):
        check(texts, np.array(values))
        compiled(texts, np.array(values))
    for values in ([-3.0], [-0.0], [-0.0, -0.0]):
        texts = ["np.sum(a)", "np.sum(a, axis=())", "np.hypot.reduce(a, axis=())", "np.sum(a[0])", "np.mean(a[0])"]
        check(texts, np.array(values))
        compiled(texts, np.array(values))


UFUNCS = {
    "biu": ("bitwise_and", "bitwise_or", "bitwise_xor"), "iu": ("gcd", "lcm"),
    "biufc": ("add", "multiply", "maximum", "minimum", "fmin", "fmax", "logical_and", "logical_or", "logical_xor"),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6,), (4, 3)], ids=str)
def test_methods_of_ufuncs(dtype: str, shape: tuple[int, ...]) -> None:
    names = [n for kinds, row in UFUNCS.items() if np.dtype(dtype).kind in kinds for n in row]
    texts = [f"np.{n}.reduce(a)" for n in names] + [f"np.{n}.accumulate(a, axis=-1)" for n in names]
    texts += [f"np.{n}.reduce(a, axis=None, keepdims=True)" for n in names if n not in ("gcd", "lcm")]
    texts += [f"np.{n}.reduce(a, initial=1)" for n in names]
    check(texts, small(dtype, shape))


@pytest.mark.parametrize("name", ["fmin", "fmax"])
def test_complex_numbers_that_are_nan_keep_the_first_one(name: str) -> None:
    values = np.array([[complex(np.nan, 2), complex(1, np.nan)], [complex(1, np.nan), complex(np.nan, 3)]])
    made = [f"np.{name}.reduce(a)", f"np.{name}.reduce(a, axis=(0, 1), keepdims=True)", f"np.{name}.accumulate(a, 1)",
            f"np.nan{name[1:]}(a[:, 0])", f"np.{name}.reduce(a[a != a])", f"np.{name}.reduce(a, initial=a[0, 1])"]  # fmt: skip
    texts = [f"({text}).{part}" for text in made for part in ("real", "imag")]
    check(texts, values)
    compiled(texts, values)


@pytest.mark.parametrize("dtype", ["i4", "f2", "f4", "f8"])
def test_roots_and_logarithms_of_sums(dtype: str) -> None:
    texts = ["np.hypot.reduce(a)", "np.logaddexp.reduce(a, 1)", "np.logaddexp2.reduce(a, axis=0)", "np.hypot.accumulate(a, 1)",
             "np.logaddexp.reduce(a[:0])"]  # fmt: skip
    check(texts, small(dtype, (4, 3)), exact=False, ulp=4)


@pytest.mark.parametrize("text", [
    "np.add.accumulate(a[0, 0])", "np.add.accumulate(a, axis=None)", "np.add.accumulate(a, axis=2)", "np.divmod.reduce(a)",
    "np.add.accumulate(a, axis=(0, 1))", "np.exp.reduce(a)", "np.equal.reduce(a)", "np.bitwise_or.reduce(a)",
    "np.cumsum(a, axis=2)", "np.cumsum(a, axis=(0,))", "np.cumprod(a, 0, 'nothing')",
])  # fmt: skip
def test_ufunc_methods_refused_as_numpy_refuses(text: str) -> None:
    both_raise(text, np.arange(6.0).reshape(2, 3))


SCANS = ("np.cumsum(a, {})", "a.cumsum(axis={})", "np.cumprod(a, axis={})", "a.cumprod({}, dtype='f4')",
         "np.cumsum(a, {}, 'i2')", "np.cumulative_sum(a, axis={})", "np.cumulative_prod(a, axis={})", "np.nancumsum(a, {})",
         "np.nancumprod(a, {})")  # fmt: skip


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 4), (1, 2), (0, 2), (1,), ()], ids=str)
def test_scans(dtype: str, shape: tuple[int, ...]) -> None:
    axes = range(-len(shape), len(shape)) if len(shape) > 1 else [None, 0]
    values = small(dtype, shape)
    if values.dtype.kind in "fc" and values.size and values.ndim:
        values[..., -1] = np.nan
    texts = [t.format(axis) for axis in axes for t in SCANS]
    if values.dtype.kind in "fc":
        texts = [t for t in texts if "i2" not in t]
    named = shape and hasattr(np, "cumulative_sum")
    check([t for t in texts if named or "cumulative" not in t], values)


# Positions, and statistics without NaN.



@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positions(dtype: str, shape: tuple[int, ...]) -> None:
    axes = [None, *range(-len(shape), len(shape))] if shape else [None, 0, -1]
    check([t.format(axis) for axis in axes for t in POSITIONS], sample(dtype, shape))


@pytest.mark.parametrize("text", [
    "np.argmax(a, axis=2)", "np.argmin(a, axis=(0, 1))", "np.argmax(a[:0])", "np.argmin(a[:0], axis=0)", "a.argmax(axis=1.5)",
    "np.argmax(a, axis=0, out=a)", "np.nanargmin(a[:0] > 0)", "np.ptp(a > 0)", "np.ptp(a[:, :0], axis=1)", "np.ptp(a, axis=3)",
    "np.count_nonzero(a, axis=2)", "np.count_nonzero(a, axis=[0])", "np.nanmin(a[:0])", "np.nanmean(a, dtype=int)",
    "np.nanvar(a, axis=0, dtype='i4')", "np.nanvar(a, ddof=1, correction=1)",
])  # fmt: skip
def test_positions_refused_as_numpy_refuses(text: str) -> None:
    both_raise(text, np.arange(6.0).reshape(2, 3))


def test_positions_into_an_array() -> None:
    x, out = np.array([[3.0, 1.0], [5.0, 7.0]]), np.zeros(2, np.int32)
    low = pytocu.jit(lambda x, out: np.argmax(x, axis=1, out=out)).lower(x, out)
    interp.run(low.function, (x, out))
    assert out.tolist() == [0, 1]




@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_ranges_and_counts(dtype: str, shape: tuple[int, ...]) -> None:
    texts = [t.format(axis) for axis in axes_of(len(shape)) for t in RANGES]
    check([t for t in texts if dtype != "?" or "ptp" not in t], small(dtype, shape))




@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (5, 3), (3, 1, 2), ()], ids=str)
def test_statistics_without_nan(dtype: str, shape: tuple[int, ...]) -> None:
    values = small(dtype, shape)
    if values.dtype.kind in "fc" and shape:
        values.reshape(-1)[::2] = np.nan
        values[0] = np.nan
    check([t.format(axis) for axis in axes_of(len(shape)) for t in NAN], values, exact=False, ulp=8)
    if values.dtype.kind in "biu" and shape:
        check(["np.nanargmin(a)", "np.nanargmax(a, axis=0)", "np.nanargmax(a, axis=-1, keepdims=True)"], values)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_positions_without_nan(dtype: str) -> None:
    x = small(dtype, (5, 4))
    x[1, 1:], x[2, :2], x[3, 0] = np.nan, np.nan, np.nan
    if dtype != "c8":
        x[0, :2] = [np.nan, np.inf]
    check(["np.nanargmin(a)", "np.nanargmax(a, axis=0)", "np.nanargmin(a, axis=1, keepdims=True)", "np.nanargmax(a, -1)"], x)
    x[4] = np.nan
    both_raise("np.nanargmax(a, axis=1)", x)
    both_raise("np.nanargmin(a[4])", x)


# The CPU.

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "c16"])
def test_compiled(family: str, dtype: str) -> None:
    # The interpreter has seen every axis and shape.
    texts, exact = FAMILIES[family]
    axes = ["None", "-1", "0"] if dtype == "f4" else ["0"]
    chosen = [t.format(axis, axis) for axis in axes for t in texts if dtype != "?" or "ptp" not in t]
    compiled(chosen, small(dtype, (5, 3)), exact=exact, ulp=8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "c16"])
@pytest.mark.parametrize("shape", [(3, 70), (70, 3)], ids=str)
def test_on_threads(family: str, dtype: str, shape: tuple[int, ...]) -> None:
    texts, exact = FAMILIES[family]
    random = np.random.default_rng(5)
    # Products stay in range, and what is left out is not everything.
    values = np.where(random.random(shape) < 0.9, small(dtype, shape), small(dtype, shape) != 0).astype(dtype)
    chosen = [t.format(axis, axis) for axis in ("None", "0", "1") for t in texts if "prod" not in t and "ptp" not in t]
    on_threads(chosen, values, exact=exact, ulp=64)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["moments", "without nan"])
@pytest.mark.parametrize("shape", [(3, 700), (700, 3), (130, 260)], ids=str)
def test_float16_is_near_the_exact_value(family: str, shape: tuple[int, ...]) -> None:
    texts = [t.format(axis, axis) for axis in ("None", "0", "1") for t in FAMILIES[family][0] if "prod" not in t]
    function, values = make_function("a", texts, {"np": np}), sparse("f2", shape)
    wanted = nearly_exact(function, values, function(values))
    for text, found, (value, ulp) in zip(texts, pytocu.jit(function)(values), wanted, strict=True):
        try:
            compare(np.asarray(found), value, False, ulp)
        except AssertionError as error:
            raise AssertionError(f"{text}: {error}") from None


@pytest.mark.filterwarnings("ignore")
def test_no_elements_compiled() -> None:
    for shape in ((0, 3), (3, 0)):
        compiled([t.format(axis) for axis in (None, 0, 1) for t in EMPTY], np.zeros(shape, np.float32))


def test_errors_come_before_anything_is_written() -> None:
    @pytocu.jit
    def f(x, y):
        y[...] = 1
        return np.max(x)

    @pytocu.jit
    def g(x, y):
        y[...] = 1
        return np.dot(x, y)

    y = np.zeros(3)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        f(np.zeros(0), y)
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\) not aligned: 2 \(dim 0\) != 3 \(dim 0\)"):
        g(np.zeros(2), y)
    assert not y.any()
    assert f(np.ones(2), y) == 1 and g(np.ones(3), y) == 3


SUM_OF = {None: lambda x: x.sum(), 0: lambda x: x.sum(0), 1: lambda x: x.sum(1)}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("on", ["cpu", "threads"])
def test_sums_are_as_accurate_as_numpys(dtype: str, axis: int | None, on: str) -> None:
    # The CPU's code, and the GPU's kernels interpreted thread by thread.
    random = np.random.default_rng(3)
    for shape in ((1, 5000), (300, 7), (9, 257)):
        errors, numpys = [], []
        function = pytocu.jit(SUM_OF[axis])
        host = function.lower(np.ones(shape, dtype)).host("cuda")
        # One sum is a matter of luck.
        for _ in range(6 if axis is not None else 40):
            x = (random.standard_normal(shape) * 1e3 ** random.uniform(-1, 1, shape)).astype(dtype)
            rows = x.reshape(1, -1) if axis is None else x.T if axis == 0 else x
            exact = np.array([math.fsum(map(float, r)) for r in rows])
            # Half a unit is what rounding the exact sum costs.
            rounding = np.spacing(np.abs(exact).astype(dtype)).astype(np.float64) / 2
            ours = function(x) if on == "cpu" else interp.run(host, [x])[0]
            errors.append(np.max(np.abs(np.float64(ours) - exact)))
            numpys.append(np.max(np.maximum(np.abs(x.sum(axis).astype(np.float64) - exact), rounding)))
        assert sum(errors) <= 2 * sum(numpys), shape


def test_sums_of_long_rows_are_as_accurate_as_numpys() -> None:
    x = np.random.default_rng(5).standard_normal((30, 100_000)).astype(np.float32)
    exact = x.astype(np.float64).sum(1)
    ours, numpys = (np.abs(found - exact).mean() for found in (pytocu.jit(SUM_OF[1])(x), x.sum(1)))
    assert ours <= numpys


@pytest.mark.parametrize("length", [8, 12, 100, 2000, 65_536, 100_000, 14 * 65_536])
def test_sums_of_positive_numbers_are_as_accurate_as_numpys(length: int) -> None:
    # Every addition rounds a number as large as the sum of what it adds: nothing cancels that.
    x = np.random.default_rng(7).random((min(4000, 2**24 // length), length), np.float32)
    exact = x.sum(1, dtype=np.float64)
    ours, numpys = (np.sqrt(np.mean((found / exact - 1) ** 2)) for found in (pytocu.jit(SUM_OF[1])(x), x.sum(1)))
    assert ours <= numpys


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_sums_of_pieces_are_rounded_once(rows: int) -> None:
    # 2**24 + 1 has no float32, so what follows the first piece is lost one by one.
    x = np.zeros((rows, 12, 65_536), np.float32)
    x[:, 0], x[:, 1:11, 7], x[:, 11] = 256, 1, -256
    x = x.reshape(rows, -1)
    np.testing.assert_array_equal(pytocu.jit(SUM_OF[1])(x), [10] * rows)
    y = np.zeros((rows, 4, 16_384), np.float32)
    y[:, 0], y[:, 1:3, 7] = 1024, 1
    y = y.reshape(rows, -1)
    np.testing.assert_array_equal(interp.run(pytocu.jit(SUM_OF[1]).lower(y).host("cuda"), [y])[0], [2**24 + 2] * rows)


def test_infinite_sums_of_long_rows() -> None:
    x = np.ones((4, 5000), np.float32)
    x[0, 77], x[1, 4000], x[2, 1000:3000:1999] = np.inf, -np.inf, (np.inf, -np.inf)
    x[3] = np.finfo(np.float32).max
    np.testing.assert_array_equal(pytocu.jit(SUM_OF[1])(x), [np.inf, -np.inf, np.nan, np.inf])


def test_the_same_bits_wherever_the_array_lies() -> None:
    x = np.random.default_rng(4).standard_normal((300, 50)).astype(np.float32)
    function = pytocu.jit(lambda x: (x.sum(), x.sum(0), x.sum(1), x.var(1)))
    first = function(x)
    for offset in (0, 1, 3, 7):
        again = np.zeros(offset + x.size, np.float32)[offset:].reshape(x.shape)
        again[...] = x
        for a, b in zip(function(again), first, strict=True):
            assert a.tobytes() == b.tobytes()


# Masks, first values and output arrays of any kind.


def test_masks_that_broadcast() -> None:
    x = small("f4", (4, 3))
    for mask in (np.array([True, False, True]), np.array([[True], [False], [False], [True]]), np.array(True), np.False_, False):
        check(["np.sum(a, where=b)", "np.mean(a, axis=0, where=b)", "np.max(a, 1, where=b, initial=0.5)", "np.var(a, where=b)",
               "np.std(a, 1, keepdims=True, where=b)", "np.all(a, axis=-1, where=b)", "np.nansum(a, 0, where=b)"],
              x, mask, exact=False, ulp=4)  # fmt: skip
    for mask in (True, np.True_, np.array(True)):
        check(["np.sum(a, where=b)", "np.max(a, initial=2, where=b)"], x, mask, exact=False, ulp=4)
    # Only Python's True is no mask.
    largest = make_function("ab", ["np.max(a, where=b)"], {"np": np})
    assert pytocu.jit(largest)(x, True) == (x.max(),)
    for mask in (False, np.True_):
        with pytest.raises(ValueError) as wanted:
            largest(x, mask)
        with pytest.raises(ValueError) as found:
            pytocu.jit(largest)(x, mask)
        assert str(found.value).startswith(str(wanted.value))
    x = np.ones((2, 3))
    for mask in (np.ones((4, 2, 3), bool), np.ones(4, bool), np.ones((2, 3))):
        with pytest.raises((ValueError, TypeError)):
            np.sum(x, where=mask)
        function = make_function("ab", ["np.sum(a, where=b)"], {"np": np})
        with pytest.raises((ValueError, TypeError)):
            pytocu.jit(function)(x, mask)


@pytest.mark.parametrize("mask", [(2, 4), (3, 3), (3,), (1, 3), (2, 3, 4), (1, 3, 4)])
@pytest.mark.parametrize("first", [0, 2])
def test_masks_that_do_not_fit(mask: tuple[int, ...], first: int) -> None:
    """NumPy's sentences: those of an iterator, and of a mean, which counts what the mask chooses first."""
    x, chosen = np.arange(12.0).reshape(3, 4)[first:], np.ones(mask, bool)
    for text in ("np.sum(a, axis=0, where=b)", "np.max(a, axis=1, initial=0, where=b)", "np.mean(a, axis=1, where=b)",
                 "np.std(a, where=b)", "np.any(a, where=b)", "np.nansum(a, axis=0, where=b)"):  # fmt: skip
        function = make_function("ab", [text], {"np": np})
        try:
            wanted = function(x, chosen)
        except ValueError as error:
            with pytest.raises(ValueError) as found:
                pytocu.jit(function)(x, chosen)
            assert str(found.value).splitlines()[0].strip() == str(error).strip(), text
        else:
            compare(pytocu.jit(function)(x, chosen), wanted)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "c8"])
def test_first_values_known_at_run_time(dtype: str) -> None:
    x = small(dtype, (4, 3))
    texts = ["np.sum(a, initial=b)", "np.prod(a, axis=0, initial=b)", "np.add.reduce(a, initial=b, dtype='f8')"]
    texts += ["np.max(a, axis=1, initial=b)", "np.min(a[:0], initial=b)"]
    for start in (2, 1.5, True, np.float32(1.25), np.int8(3), np.array(2.5)):
        if dtype not in ("f2", "f4", "c8") and isinstance(start, float):
            continue
        check(texts, x, start, exact=False, ulp=2)


def test_a_first_value_that_does_not_fit() -> None:
    both_raise("np.max(a, initial=b)", np.ones(3, np.int8), 300)


def into(text: str, *arguments: np.ndarray) -> None:
    """The arguments that a call writes hold what NumPy writes into them."""
    function = make_function("ab", [text], {"np": np})
    expected = [a.copy() for a in arguments]
    function(*expected)
    for run in (lambda f, *a: interp.run(f.lower(*a).function, a), lambda f, *a: f(*a)):
        ours = [a.copy() for a in arguments]
        run(pytocu.jit(function), *ours)
        compare(tuple(ours), tuple(expected), exact=False, ulp=4)


def test_output_arrays_that_are_read() -> None:
    x, row = small("f4", (4, 3)), small("f8", (3,))
    for text in ("np.add.reduce(a, axis=0, out=a[0])", "np.sum(a, axis=0, out=b)", "np.mean(a, axis=0, out=a[1])",
                 "np.ptp(a, axis=0, out=b)", "np.var(a, 0, out=a[3])", "np.max(a, 0, out=b[::-1])",
                 "np.nanmean(a, axis=0, out=b)", "np.any(a, axis=0, out=a[2])",
                 ):  # fmt: skip
        into(text, x, row)


@pytest.mark.parametrize("shapes", ["4,3 4", "4,3 1", "1,3 4", "3,4 3", "2,2 1,2"])
def test_output_arrays_of_another_shape(shapes: str) -> None:
    x, out = (np.ones(tuple(map(int, s.split(",")))) for s in shapes.split())
    function = make_function("ab", ["np.sum(a, axis=0, out=b)"], {"np": np})
    for call in (function, pytocu.jit(function)):
        try:
            call(x, out)
            fits = True
        except ValueError:
            fits = False
        assert fits == (x.shape[1:] == out.shape)
    assert fits or (out == 1).all()


MISFITS = [
    ("np.sum(a, axis=1, out=b)", "3,5 4"), ("np.max(a, axis=0, out=b)", "3,5 4"), ("np.mean(a, axis=0, out=b)", "3,5 1"),
    ("np.any(a, axis=1, keepdims=True, out=b)", "3,5 4,1"), ("np.sum(a, axis=1, keepdims=True, out=b)", "3,5 3,5"),
    ("np.sum(a, axis=1, out=b)", "2,3,4 2,1"), ("np.sum(a, axis=(0, 2), out=b)", "2,3,4 2"),
    ("np.sum(a, axis=1, out=b)", "1,5 4"), ("np.sum(a, axis=0, out=b)", "2,3,4 1,1"), ("np.sum(a, axis=(), out=b)", "2 3"),
    ("np.sum(a, axis=0, out=b)", "2,1,4 3,1"), ("np.max(a, keepdims=True, out=b)", "2,3,4 2,1,4"),
    ("np.prod(a, axis=1, keepdims=True, out=b)", "1,3,1 2,3,4"),
    ("np.cumsum(a, axis=1, out=b)", "3,5 3,4"), ("np.add.accumulate(a, out=b)", "3,5 4,5"), ("np.cumsum(a, out=b)", "5 4"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), MISFITS)
def test_what_is_said_of_output_arrays_of_another_shape(text: str, shapes: str) -> None:
    arguments = [np.ones(tuple(map(int, s.split(",")))) for s in shapes.split()]
    function = make_function("ab", [text], {"np": np})
    with pytest.raises(ValueError) as expected:
        function(*arguments)
    with pytest.raises(CompileError) as found:
        pytocu.jit(function)(*arguments)
    assert isinstance(found.value, ValueError) and found.value.message == str(expected.value)
    assert (arguments[1] == 1).all()


def test_an_accumulation_that_repeats_its_array_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="one row or column is repeated"):
        pytocu.jit(lambda a, b: np.cumsum(a, axis=1, out=b))(np.ones((1, 5)), np.ones((3, 5)))


@pytest.mark.parametrize("dtype", ["i4", "u8", "i1"])
def test_reductions_whose_formula_is_a_loop(dtype: str) -> None:
    def divisors(x: np.ndarray) -> tuple[np.generic | np.ndarray, ...]:
        rows = np.gcd.reduce(x.reshape(2, -1), axis=1), np.gcd.reduce(x.reshape(-1, 2))
        return np.gcd.reduce(x), *rows, np.lcm.reduce(x % 5 + 1)

    for size in (4, 66, 1000):
        x = (np.arange(1, size + 1) * 6).astype(dtype)[::-1]
        compare(pytocu.jit(divisors)(x), divisors(x))


@pytest.mark.parametrize("length", [31, 64, 96, 127, 300])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_the_first_of_equal_elements_wherever_they_lie(length: int, dtype: str) -> None:
    both = pytocu.jit(lambda x: (x.argmax(axis=1), x.argmin(axis=1)))
    first, second = np.triu_indices(length, 1)
    chosen = np.random.default_rng(2).choice(len(first), min(len(first), 500), replace=False)
    kinds = (1, -1, 0) if dtype == "i4" else (1, -1, 0, np.nan, np.inf, -np.inf)
    for value in kinds:
        x = np.zeros((len(chosen), length), dtype)
        x[np.arange(len(chosen)), first[chosen]] = x[np.arange(len(chosen)), second[chosen]] = value
        for found, wanted in zip(both(x), (x.argmax(axis=1), x.argmin(axis=1)), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "shape", "work", "cost"),
    [
        (lambda x: x.sum(axis=0), (64, 200_000), 196, 64 * 1024),
        (lambda x: x.sum(axis=0), (300, 70), 1, 300 * 70),
        (lambda x: x.sum(axis=0), (1024, 2048), 16, 128 * 1024),
        (lambda x: np.cumsum(x, axis=0), (64, 1000), 4, 64 * 256),
        (lambda x: x.sum(axis=1), (64, 1000), 64, 1000),
        (lambda x: x.sum(), (200_000,), 7, 32768),
    ],
)
def test_an_iteration_costs_as_many_elements_as_it_reads(function, shape, work: int, cost: int) -> None:
    # Threads have pieces of so many elements; a call whose iterations seem to be short stays with one.
    x = np.zeros(shape, np.float32)
    kernel = pytocu.jit(function).lower(x).compile("cpu").plan.kernels[0]
    names = {f"x_{axis}": length for axis, length in enumerate(shape)}
    assert (evaluate(kernel.work, names), evaluate(kernel.cost, names)) == (work, cost)

"""Kernels that reduce: how many there are, and that the interpreter of threads finds what is broken in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import Block, Function, Inst, walk
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_launch import ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.passes import schedule
from pytocu.passes.pipeline import run_pipeline
from pytocu.planning import kernel_function, launches
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain + bias


def moments(x):
    return x.mean(1), x.var(1)


def norm(x):
    return x / np.sqrt((x * x).sum(1, keepdims=True))


def extremes(x):
    return x.min(), x.max(), x.mean()


def centred(x):
    return x - x.mean()


def standardised(x):
    return (x - x.mean(0)) / x.std(0)


def variance(x):
    return x.var()


def unit(a, x):
    y = a @ x
    return y / np.sqrt((y * y).sum())


def means(x):
    mean = x.mean(1)
    return mean - mean.mean(), (x - mean[:, None]).std(0)


def used_twice(x, y):
    mean = x.mean(1)
    largest = mean.max()
    x -= largest
    return mean / largest, x, (mean * y).sum()


ROWS = {
    "a product and its length": (unit, ((300, 200), (200,)), 2),
    "means and what they differ by": (means, ((300, 200),), 3),
    "rows that change before their means are used": (used_twice, ((300, 200), (300,)), 3),
    "softmax": (softmax, ((9, 300),), 1),
    "softmax of long rows": (softmax, ((3, 70_001),), 3),
    "layernorm": (layernorm, ((5, 4000), (4000,), (4000,)), 1),
    "moments of rows": (moments, ((3, 16384),), 1),
    "norm": (norm, ((40, 7),), 1),
    "few elements": (extremes, ((90, 100),), 1),
    "many elements": (extremes, ((300, 200),), 2),
    "centred": (centred, ((40000,),), 3),
    "centred, of one block": (centred, ((30000,),), 1),
    "columns": (standardised, ((3000, 40),), 3),
    "variance": (variance, ((40000,),), 2),
}


@pytest.mark.parametrize("name", ROWS)
def test_how_many_kernels(name: str) -> None:
    function, shapes, count = ROWS[name]
    arrays = [np.random.default_rng(1).standard_normal(s).astype(np.float32) for s in shapes]
    jitted = pytocu.jit(function)
    assert len(jitted.lower(*arrays).kernels) == count
    found, wanted = jitted(*[a.copy() for a in arrays]), function(*arrays)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        assert a.dtype == b.dtype and type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=3e-5, atol=1e-6)


@pytest.mark.parametrize(("shape", "axis"), [((50001,), None), ((3000, 20), 0), ((2, 40000), 1), ((300, 3, 200), (0, 2))])
@pytest.mark.parametrize("middle", [0, 1000])
def test_pieces_have_means_of_their_own(shape: tuple[int, ...], axis: Any, middle: int) -> None:
    """Variances of long rows, by all three ways of running them, are about as near to the true ones as NumPy's."""
    x = np.random.default_rng(3).normal(middle, 1, shape).astype(np.float32)
    low = pytocu.jit(lambda x: x.var(axis)).lower(x)
    assert len(low.kernels) == 2
    true = x.astype(np.float64).var(axis)
    allowed = 4 * max(np.abs(x.var(axis) - true).max(), np.finfo(np.float32).eps)
    threads, array = (interp.run(function, [x])[0] for function in (low.host("cuda"), low.function))
    for answer in (pytocu.jit(lambda x: x.var(axis))(x), threads, array):
        assert np.abs(answer - true).max() <= allowed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), [((140_001,), None), ((70_000, 20), 0), ((6, 70_001), 1), ((300, 2, 300), (0, 2))])
def test_pieces_have_largest_elements_of_their_own(shape: tuple[int, ...], axis: Any, dtype: Any) -> None:
    """Sums of exponentials are computed while the largest element is looked for, and as near to the true ones as NumPy's."""

    def exponentials(x: Any) -> Any:
        return np.exp(x - x.max(axis, keepdims=True)).sum(axis)

    x = (10 * np.random.default_rng(3).standard_normal(shape)).astype(dtype)
    low = pytocu.jit(exponentials).lower(x)
    assert len(low.kernels) == 2
    true = exponentials(x.astype(np.longdouble))
    allowed = 4 * np.maximum(np.abs(exponentials(x) - true), np.spacing(true.astype(dtype)))
    threads, array = (interp.run(function, [x])[0] for function in (low.host("cuda"), low.function))
    for answer in (pytocu.jit(exponentials)(x), threads, array):
        assert np.dtype(getattr(answer, "dtype", None)) == dtype and (np.abs(answer - true) <= allowed).all()


ROWS_OF_EXTREMES = {
    "a piece without numbers": (slice(0, 70_000), -np.inf),
    "a row without numbers": (slice(None), -np.inf),
    "an infinity": (slice(5, 6), np.inf),
    "nan": (slice(7, 8), np.nan),
    "nothing but low numbers": (slice(None), -3e38),
}


@pytest.mark.parametrize("name", ROWS_OF_EXTREMES)
def test_largest_elements_that_are_no_numbers(name: str) -> None:
    where, value = ROWS_OF_EXTREMES[name]
    x = np.random.default_rng(4).standard_normal((2, 140_000)).astype(np.float32)
    x[1, where] = value
    low = pytocu.jit(softmax).lower(x)
    assert len(low.kernels) == 3
    with np.errstate(all="ignore"):
        expected = softmax(x)
        for answer in (pytocu.jit(softmax)(x), interp.run(low.host("cuda"), [x])[0]):
            np.testing.assert_allclose(answer, expected, rtol=3e-6)


def test_variances_of_infinities_and_of_nothing() -> None:
    x = np.ones(40000, np.float32)
    x[7] = np.inf
    with np.errstate(all="ignore"):
        assert np.isnan(x.var()) and np.isnan(pytocu.jit(lambda x: x.var())(x))
    x[7] = np.nan
    assert np.isnan(pytocu.jit(lambda x: x.std())(x))


def test_what_is_made_of_reductions_is_made_once() -> None:
    """The division and the root are those of the kernel of the columns, not of every element."""
    low = pytocu.jit(standardised).lower(np.ones((3000, 40), np.float32))
    combine, last = low.kernels[1:]
    assert combine.ir.count("sqrt") == 1
    assert "sqrt" not in last.ir and "f64" not in last.ir


def exponentials(x):
    e = np.exp(x)
    return e, e.sum(0)


def positive(x):
    mask = x > 0
    return mask, np.where(mask, x, 0).sum(1), mask.sum(0)


@pytest.mark.parametrize(("function", "found"), [(exponentials, [True, False]), (positive, [True, True, False])])
def test_elements_that_are_returned_are_not_computed_again(function: Any, found: list[bool]) -> None:
    """Where they are cheaper to read: a mask is not, for what reads the array anyway."""
    x = np.random.default_rng(2).standard_normal((3000, 40)).astype(np.float32)
    jitted = pytocu.jit(function)
    kernels = jitted.lower("f32[n, m]").kernels
    assert [any(op in k.ir for op in ("exp %", "greater %")) for k in kernels] == found
    for got, wanted in zip(jitted(x), function(x), strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=3e-5)


def slopes(x, weights, gap):
    hidden = np.tanh(x @ weights)
    return hidden.T @ gap, x.T @ (gap[:, np.newaxis] * (1 - hidden * hidden))


def activity(x, weights, gap):
    hidden = np.tanh(x @ weights)
    return hidden, x.T @ (gap[:, np.newaxis] * (1 - hidden * hidden))


def costly(x, weights, gap):
    hidden = np.tanh(x @ weights)
    return hidden.T @ gap, x.T @ (gap[:, np.newaxis] * np.exp(np.sin(hidden)))


@pytest.mark.parametrize(("function", "stored"), [(slopes, 1), (activity, 1), (costly, 2)])
def test_what_is_made_of_a_stored_array_by_little_is_not_stored(function: Any, stored: int) -> None:
    random = np.random.default_rng(3)
    given = [random.standard_normal(shape) for shape in ((3000, 2), (2, 24), 3000)]
    low = pytocu.jit(function).lower("f64[3000, 2]", "f64[2, 24]", "f64[3000]")
    first = launches(low.host("cuda"))[0]
    assert first.attr("outputs") == stored
    for answer in (pytocu.jit(function)(*given), interp.run(low.host("cuda"), given)):
        for got, wanted in zip(answer, function(*given), strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)


def test_a_class_of_sizes_is_compiled_once() -> None:
    jitted = pytocu.jit(softmax)
    for rows, columns in ((3, 100), (7, 200), (1000, 255), (2, 65)):
        jitted(np.ones((rows, columns), np.float32))
    assert len(jitted.specializations) == 1
    jitted(np.ones((3, 10), np.float32))
    assert len(jitted.specializations) == 2
    assert any("is at most" in fact for s in jitted.specializations for fact in s.facts)


def _kernel(columns: bool) -> tuple[Function, list[Any], np.ndarray]:
    """A kernel with shared memory, its arguments, and where its result goes."""
    shape = (300, 40) if columns else (3, 1600)
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    host = pytocu.jit((lambda x: x.sum(0)) if columns else (lambda x: x.sum(1))).lower(x).host("cuda")
    (launch,) = launches(host)
    out = np.zeros(shape[1] if columns else shape[0], np.float32)
    known = {"x": x, **{p.name: out for p in launch.regions[0].params if p.name and p.name.endswith("out")}}
    lengths = {"x_0": shape[0], "x_1": shape[1]}
    arguments: list[Any] = []
    for param, given in zip(launch.regions[0].params, launch.args, strict=True):
        dim = given.inst.attr("value") if given.inst is not None else None
        arguments.append(known[param.name] if param.name in known else evaluate(dim, lengths))
    return kernel_function(host, launch), arguments, out


def _without(block: Block, number: list[int]) -> Block:
    """The block without its barrier number `number[0]`."""
    insts: list[Inst] = []
    for inst in block.insts:
        if inst.op.name == "barrier":
            number[0] -= 1
            if number[0] < 0 and number[0] == -1:
                continue
        for region in inst.regions:
            changed = _without(region, number)
            if changed is not region:
                inst = _with_regions(inst, tuple(changed if r is region else r for r in inst.regions))
        insts.append(inst)
    same = len(insts) == len(block.insts) and all(a is b for a, b in zip(insts, block.insts, strict=True))
    return block if same else Block(block.params, tuple(insts))


def without_barrier(function: Function, number: int) -> Function:
    """The function without one of its barriers."""
    return Function(function.name, function.level, _without(function.body, [number]), function.facts)


def _with_regions(inst: Inst, regions: tuple[Block, ...]) -> Inst:
    made = Inst(inst.op, inst.args, inst.attrs, inst.types, regions, inst.loc)
    object.__setattr__(made, "results", inst.results)
    return made


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
def test_every_barrier_is_needed(columns: bool) -> None:
    function, arguments, out = _kernel(columns)
    block = function.fact("block")
    run_threads(function, arguments, grid=2, block=block)
    x = arguments[0]
    np.testing.assert_allclose(out, x.sum(0 if columns else 1), rtol=1e-5, atol=1e-4)
    barriers = sum(inst.op.name == "barrier" for inst in walk(function.body))
    assert barriers >= 2
    for number in range(barriers):
        with pytest.raises(ThreadFault, match=r"race|uninitialised"):
            run_threads(without_barrier(function, number), arguments, grid=1, block=block)


@pytest.mark.parametrize("few", [0, schedule.FEW_COLUMNS])
@pytest.mark.parametrize(("length", "dtype"), [(130, "f4"), (300, "f8"), (700, "f4"), (1500, "f4"), (1500, "f8"), (1500, "f2")])
def test_columns_of_all_classes(monkeypatch: pytest.MonkeyPatch, length: int, dtype: str, few: int) -> None:
    """Many side by side in a block, or few; longer ones in pieces, whose sums are columns of a class themselves."""
    monkeypatch.setattr(schedule, "FEW_COLUMNS", few)

    def reduced(x: Any) -> Any:
        return x.max(0), x.argmin(0), (x > 0).sum(0), x[:, 1:].sum(0)

    whole = np.random.default_rng(length).integers(-3, 4, (length, 33)).astype(dtype)
    everywhere(reduced, whole)


def test_blocks_of_few_columns() -> None:
    def lanes(columns: int, rows: int) -> list[tuple[int, int]]:
        low = pytocu.jit(lambda x: x.sum(0)).lower(np.broadcast_to(np.float32(0), (rows, columns)).copy())
        function = run_pipeline(low.function, low.context("cuda:sm_90", 32), stop="schedule")
        return [(i.attr("lanes"), i.attr("block")) for i in walk(function.body) if i.op.name == "launch"]

    assert [lanes(4096, n) for n in (100, 200, 500, 1000)] == [[(8, 256)], [(64, 512)], [(64, 512)], [(128, 1024)]]
    assert lanes(5000, 500) == [(16, 512)]


def test_an_exchange_needs_all_threads_of_a_warp() -> None:
    from pytocu.ir.parser import parse_function

    text = """loop func @f(%x: ptr f32, %out: ptr f32) {
      %0 = thread_index : index
      %1 = load %x, %0 : f32
      %2 = const 7 : index
      %3 = less %0, %2 : bool
      if %3 () {
        %4 = shuffle_xor %1 {mask = 1} : f32
        store %out, %0, %4
        yield
      } () {
        yield
      }
      return
    }"""
    with pytest.raises(ThreadFault, match="divergence"):
        run_threads(parse_function(text), [np.zeros(32, np.float32), np.zeros(32, np.float32)], block=32)


def pairwise(x, y):
    d = x[:, None, :] - y[None, :, :]
    return np.sqrt((d * d).sum(axis=2))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5])
def test_few_elements_are_combined_one_by_one(length: int) -> None:
    x, y = (np.random.default_rng(s).standard_normal((30, length)).astype(np.float32) for s in (0, 1))
    low = pytocu.jit(pairwise).lower(x, y)
    (kernel,) = low.kernels
    assert (kernel.schedule == "pointwise") == (0 < length <= 4)
    for answer in (interp.run(low.host("cuda"), [x, y])[0], pytocu.jit(pairwise)(x, y)):
        if length < 5:
            np.testing.assert_array_equal(answer, pairwise(x, y))
        else:
            np.testing.assert_allclose(answer, pairwise(x, y), rtol=1e-6)


def test_few_elements_that_every_element_of_the_row_needs() -> None:
    """They are a reduction's, which computes them once a row."""
    x = np.random.default_rng(0).standard_normal((30, 3)).astype(np.float32)
    (kernel,) = pytocu.jit(norm).lower(x).kernels
    assert kernel.schedule == "rows"


def test_a_mean_is_divided_in_its_own_dtype() -> None:
    """The bits are NumPy's, which divides in float64 and rounds twice: odd sums, lengths, and subnormal quotients."""
    sums = np.random.default_rng(0).integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    sums = np.concatenate([sums, np.float32([0.0, -0.0, np.inf, np.nan, 1e-45, 3e-45, 1.17549435e-38, 3.4e38])])
    for length in (1, 3, 7, 10, 49, 641, 16383):
        x = np.zeros((len(sums), length), np.float32)
        x[:, 0] = sums
        low = pytocu.jit(lambda x: x.mean(1)).lower(x)
        # A GPU may make quotients of float64 products, to the same bits.
        assert length == 1 or "f64" not in low.ir("fuse")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(pytocu.jit(lambda x: x.mean(1))(x), x.mean(1))


def test_one_element_is_combined_with_nothing() -> None:
    x = np.array([[-112], [7]], np.int8)
    for axis in (0, 1):
        function = pytocu.jit(lambda x: np.gcd.reduce(x, axis=axis))
        np.testing.assert_array_equal(function(x), np.gcd.reduce(x, axis=axis))


@pytest.mark.parametrize("shape", [(40, 5), (40, 40), (3, 7), (2, 100), (5, 3000), (2000, 3), (6, 6)])
def test_nothing_is_required_of_rows_that_do_not_exist(shape: tuple[int, ...]) -> None:
    """Threads behind the last row have reduced nothing, and all of nothing is NaN."""
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    x[0, 0] = np.nan
    for axis in (0, 1):
        low = pytocu.jit(lambda x: np.nanargmax(x, axis=axis)).lower(x)
        np.testing.assert_array_equal(interp.run(low.host("cuda"), [x])[0], np.nanargmax(x, axis=axis))
        x[:, 1] = x[1] = np.nan
        with pytest.raises(ValueError, match="All-NaN slice encountered"):
            interp.run(low.host("cuda"), [x])
        x = np.nan_to_num(x)


@pytest.mark.parametrize("shape", [(3, 2), (2, 33), (2, 257), (2, 1100), (1, 5000), (300, 4)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "?"])
def test_the_first_of_elements_that_are_all_the_farthest_number(dtype: str, shape: tuple[int, ...]) -> None:
    """No element replaces the number that a state begins with."""
    kind = np.dtype(dtype).kind
    low, high = {"f": (-np.inf, np.inf), "i": (-128, 127), "b": (False, True)}[kind]
    for number, function in ((low, lambda x: (x.argmax(1), x.argmax())), (high, lambda x: (x.argmin(0), x.argmin()))):
        same = np.full(shape, number, dtype)
        last = same.copy()
        last.flat[-1] = 0 if kind != "b" else not number
        for x in (same, last):
            lowered = pytocu.jit(function).lower(x)
            for found in (interp.run(lowered.host("cuda"), [x]), pytocu.jit(function)(x)):
                for one, wanted in zip(found, function(x), strict=True):
                    np.testing.assert_array_equal(one, wanted)


def test_sums_of_narrow_integers_hold_the_largest_and_smallest():
    """States of a stretch are narrow on a CPU: each holds as many of the largest element as it meets."""

    def sums(arrays):
        return [(a.sum(), a.sum(axis=-1), np.count_nonzero(a), (a > 0).sum(-1)) for a in arrays]

    integers = [np.iinfo(name) for name in ("i1", "u1", "i2", "u2", "i4", "u4")]
    extremes = [(np.bool_, (True,)), *((i.dtype, (i.min, i.max, 1)) for i in integers)]
    arrays = [np.full((2, 70_001), value, dtype) for dtype, values in extremes for value in values]
    for found, expected in zip(pytocu.jit(sums)(arrays), sums(arrays), strict=True):
        for one, wanted in zip(found, expected, strict=True):
            compare(one, wanted)


def test_rows_of_long_expressions_need_no_deep_stack() -> None:
    product = " * ".join(["x"] * 600)
    text = f"({product} - ({product}).sum(axis=1, keepdims=True)).sum(axis=1)"
    low = pytocu.jit(make_function("x", [text], {"np": np})).lower("f32[n, m]")
    assert len(low.kernels) == 1

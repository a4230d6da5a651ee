"""Scans: every dtype and form against NumPy on the CPU and on the GPU's kernels interpreted thread by thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reduction_tools import DTYPES, both_raise, compiled, on_threads, small
from test_reduce_kernels import without_barrier

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_launch import ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.planning import kernel_function, launches
from pytocu.testing.matrix import call_threads
from pytocu.testing.operands import make_function

EXACT = ("np.cumsum(a, {})", "a.cumprod(axis={})", "np.cumsum(a, {}, 'i2')", "np.maximum.accumulate(a, {})",
         "np.minimum.accumulate(a, {})", "np.fmax.accumulate(a, {})", "np.logical_xor.accumulate(a, {})",
         "np.nancumsum(a, {})")  # fmt: skip
INTEGERS = ("np.bitwise_xor.accumulate(a, {})", "np.gcd.accumulate(a, {})", "np.lcm.accumulate(a, {})")
SHAPES = ((7,), (3, 4), (0, 2), (2, 0), (0,), (1,), (1, 5), (5, 1), (2, 3, 4), ())


def texts_for(dtype: str, ndim: int) -> list[str]:
    kind = np.dtype(dtype).kind
    texts = [t for t in EXACT if kind not in "fc" or "i2" not in t]
    texts += INTEGERS if kind in "iu" else []
    axes = range(-1, ndim) if ndim > 1 else [0, -1]
    return [t.format(axis) for axis in axes for t in texts]


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_arrays(dtype: str) -> None:
    for shape in SHAPES:
        texts = texts_for(dtype, len(shape))
        if not shape:
            texts = [t for t in texts if "accumulate" not in t]
        values = small(dtype, shape)
        compiled(texts, values)
        on_threads(texts, values)


def whole(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers, with both signs where the dtype has them, whose running sums are exact."""
    values = np.random.default_rng(3).integers(-3 if np.dtype(dtype).kind in "ifc" else 0, 4, shape)
    return values.astype(dtype) if np.dtype(dtype).kind != "c" else (values + 1j * values[..., ::-1]).astype(dtype)


LENGTHS = (2, 15, 16, 17, 31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 2049, 4095, 4097, 4999, 16384)
"""Around a lane's elements, a warp, a tile and the classes of rows."""


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_of_rows(length: int) -> None:
    values = whole("i4", (3 if length < 2000 else 1, length))
    texts = ["np.cumsum(a, 1)", "np.minimum.accumulate(a, axis=1)", "np.cumsum(a.astype('f4'), 1)"]
    compiled(texts, values)
    on_threads(texts, values)


@pytest.mark.parametrize("shape", [(1, 33), (17, 20), (128, 17), (129, 40), (257, 300), (1024, 18), (1031, 18)], ids=str)
def test_columns(shape: tuple[int, int]) -> None:
    values = whole("i4", shape)
    texts = ["np.cumsum(a, 0)", "np.maximum.accumulate(a)", "np.cumsum(a, 0) - a.sum(0)"]
    compiled(texts, values)
    on_threads(texts, values)
    compiled(["np.cumsum(a.T, 1)", "np.cumsum(a.T, 1).T[::-1]"], values)
    on_threads(["np.cumsum(a.T, 1)", "np.cumsum(a.T, 1).T[::-1]"], values)


LONG = {
    "cuda": [(16385,), (33000,), (2, 20011), (3, 16500, 2), (1100, 40)],
    "cpu": [(65537,), (200_003,), (3, 70_001), (5000, 20)],
}


@pytest.mark.parametrize("dtype", ["?", "i8", "u2", "f2", "f4", "c16"])
def test_long_rows_and_columns(dtype: str) -> None:
    for target, shapes in LONG.items():
        # All of them for two dtypes, a flat and a two-dimensional one for the others.
        for shape in shapes if dtype in ("i8", "f4") else (shapes[0], shapes[-1]):
            axis = 1 if len(shape) == 3 else 0 if shape[0] > 1000 else 1
            values = whole(dtype, shape)
            if dtype == "f2":
                # Sums of a few whole numbers, which float16 holds.
                values[np.random.default_rng(5).random(shape) > 0.01] = 0
            texts = [f"np.cumsum(a, {axis})", f"np.maximum.accumulate(a, {axis})"]
            function = {"cuda": on_threads, "cpu": compiled}[target]
            function(texts[: 1 if dtype == "c16" else 2], values)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], int, int]] = {
    "flat": (lambda x: np.cumsum(x), ((700,),), 1, 1),
    "weights": (lambda x: np.cumsum(x, 1) / x.sum(1, keepdims=True), ((5, 300),), 1, 1),
    "of a quotient": (lambda x: np.cumsum(x / x.sum(1, keepdims=True), 1), ((5, 300),), 1, 1),
    "two": (lambda x: (np.cumsum(x, 1), np.maximum.accumulate(x, 1)), ((5, 300),), 1, 1),
    "of a scan": (lambda x: np.cumsum(np.cumsum(x, 1), 1), ((5, 300),), 1, 1),
    "drawdown": (lambda x: (np.maximum.accumulate(x, 1) - x).max(1), ((5, 300),), 1, 1),
    "read elsewhere": (lambda x: np.diff(np.cumsum(x * 2)), ((700,),), 2, 2),
    "reversed": (lambda x: np.cumsum(x[::-1])[::-1], ((700,),), 2, 2),
    "of pairs": (lambda x: np.cumsum(x[:, np.newaxis] - x, 1), ((40,),), 1, 1),
    "along columns": (lambda x: np.cumsum(x, 0) / x.sum(0), ((100, 60),), 1, 1),
    "other axes": (lambda x: np.cumsum(np.cumsum(x, 0), 1), ((40, 50),), 2, 2),
    "long": (lambda x: np.cumsum(x * x), ((20_000,),), 1, 3),
    "long weights": (lambda x: np.cumsum(x) / x.sum(), ((20_000,),), 1, 3),
    "few long columns": (lambda x: np.cumsum(x, 0), ((300, 20),), 1, 3),
    "many rows": (lambda x: np.cumsum(x, 1), ((300, 16_385),), 1, 1),
}  # fmt: skip
"""Functions, shapes of arguments, and kernels on a CPU and on a GPU."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_how_many_kernels(name: str) -> None:
    function, shapes, on_cpu, on_gpu = PROGRAMS[name]
    arrays = [np.random.default_rng(1).random(s) + 1 for s in shapes]
    low = pytocu.jit(function).lower(*arrays)
    assert len(launches(low.host("cpu"))) == on_cpu
    assert len(launches(low.host("cuda"))) == on_gpu
    if name == "many rows":
        return
    expected = function(*arrays)
    found = [pytocu.jit(function)(*arrays)]
    tree = low.function.body.terminator.attr("tree")
    found.append(interp.arrange(tree, interp.run(low.host("cuda"), tuple(arrays))))
    for answer in found:
        for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (answer, expected)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
def test_short_rows_have_numpys_bits_on_a_cpu(dtype: str) -> None:
    r = np.random.default_rng(4)
    x = r.standard_normal((30, 3000)).astype(dtype)
    x[:, :2] = -0.0
    for texts in (["np.cumsum(a, 1)", "np.cumsum(a, 0)"], ["np.cumprod(a, 1)", "np.cumsum(a[:, 0])"]):
        function = make_function("a", texts, {"np": np})
        with np.errstate(all="ignore"):
            expected = function(x)
        for text, a, b in zip(texts, pytocu.jit(function)(x), expected, strict=True):
            if dtype == "c8" and "prod" in text:
                continue
            assert a.tobytes() == b.tobytes(), text


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 1000), (1, 9000), (1, 50_000), (2000, 20)], ids=str)
def test_sums_are_as_accurate_as_numpys(dtype: str, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(7).standard_normal(shape).astype(dtype)
    axis = 0 if shape[0] > 1000 else 1
    exact = np.cumsum(x.astype(np.longdouble), axis)
    numpys = np.abs(np.cumsum(x, axis) - exact).max()
    low = pytocu.jit(lambda x: np.cumsum(x, axis)).lower(x)
    for found in (pytocu.jit(lambda x: np.cumsum(x, axis))(x), interp.run(low.host("cuda"), (x,))[0]):
        assert np.abs(found - exact).max() <= 2 * numpys


def test_first_elements_stay_as_they_are() -> None:
    """The state before a row takes no sign away and makes no NaN."""
    texts = ["np.cumsum(a)", "np.hypot.accumulate(a)", "np.cumprod(a)", "np.logaddexp.accumulate(a)"]
    for values in ([-0.0], [-0.0, -0.0], [-3.0], [np.nan], [-np.inf], [-0.0] * 40):
        for dtype in ("f4", "f8"):
            compiled(texts, np.array(values, dtype), exact=False, ulp=2)
            on_threads(texts, np.array(values, dtype), exact=False, ulp=2)
            for text in texts[:3]:
                function = make_function("a", [text], {"np": np})
                x = np.array(values, dtype)
                low = pytocu.jit(function).lower(x)
                for (found,) in (pytocu.jit(function)(x), interp.run(low.host("cuda"), (x,))):
                    assert np.signbit(found[0]) == np.signbit(function(x)[0][0]), text
    for values in ([-4, 6, -8], [-4] * 70):
        texts = ["np.gcd.accumulate(a)", "np.lcm.accumulate(a)"]
        compiled(texts, np.array(values))
        on_threads(texts, np.array(values))
    infinite = np.array([complex(np.inf, 0), complex(1, 0)])
    compiled(["np.cumprod(a)[:1]"], infinite)
    on_threads(["np.cumprod(a)[:1]"], infinite)


def test_of_equal_zeros_and_nans_the_first_stays() -> None:
    x = np.tile([0.0, -0.0, -1.0, 0.0, -0.0], 60).astype("f4")
    function = lambda x: (np.maximum.accumulate(x), np.maximum.accumulate(x, dtype="f8"))  # noqa: E731
    sequence = [x[0]]
    for value in x[1:]:
        sequence.append(sequence[-1] if sequence[-1] >= value else value)
    low = pytocu.jit(function).lower(x)
    for first, second in (pytocu.jit(function)(x), interp.run(low.host("cuda"), (x,))):
        assert np.array_equal(np.signbit(first), np.signbit(sequence)) and np.array_equal(first, second)


@pytest.mark.parametrize("length", [10, 300, 17_000])
def test_strides_of_arguments(length: int) -> None:
    base = whole("f8", (3, 2 * length))
    for view in (base[:, ::-1], base[:, ::2], base[::-1, ::-2], np.broadcast_to(base[:1], base.shape)[:, :length],
                 np.broadcast_to(base[:, :1], (3, length)), np.asfortranarray(base)[:, :length]):  # fmt: skip
        compiled(["np.cumsum(a, 1)", "np.cumsum(a, 0)"], view)
        on_threads(["np.cumsum(a, 1)"], view)


def test_results_in_given_arrays() -> None:
    def into(a, b):
        np.cumsum(a, 1, out=b)
        a[:] = np.cumsum(a, 1)
        a[1:, 2:] = np.maximum.accumulate(a, 0)[1:, 2:]
        return np.add.accumulate(a, 1, out=b[:, ::-1])

    for target in ("cpu", "cuda"):
        given = [whole("f4", (5, 40)), np.zeros((5, 40))]
        wanted = [g.copy() for g in given]
        expected = into(*wanted)
        found = pytocu.jit(into)(*given) if target == "cpu" else None
        if found is None:
            host = pytocu.jit(into).lower(*given).host("cuda")
            interp.run(host, tuple(given))
        else:
            np.testing.assert_array_equal(found, expected)
        for a, b in zip(given, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", [(3, 7), (2, 300), (1, 17_000), (200, 40)], ids=str)
def test_of_joined_and_gathered_elements(shape: tuple[int, int]) -> None:
    values = whole("i4", shape)
    texts = ["np.cumsum(np.concatenate([a[:, ::-1], a + 1], 1), 1)", "np.cumsum(np.pad(a, 2), 0)",
             "np.cumsum(a[:, np.abs(a[0]) % a.shape[1]], 1)", "np.cumsum(np.where(a > 0, np.roll(a, 3, 1), 0), 1)"]  # fmt: skip
    compiled(texts, values)
    on_threads(texts, values)


@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f8", "c8"])
def test_along_the_flat_array(dtype: str) -> None:
    for shape in ((5, 7), (3, 2, 4), (1, 1), (0, 3), ()):
        values = small(dtype, shape)
        texts = ["np.cumsum(a)", "a.cumprod()", "np.nancumsum(a, dtype=a.dtype)", "np.cumsum(a.T)"]
        if len(shape) > 1:
            texts += ["np.cumsum(a[::-1, 1:])", "np.cumsum(a, out=np.zeros(a.size, a.dtype))"]
        # The sign of a zero in a product of complex numbers is that of the order.
        compiled(texts, values, exact=dtype != "c8")
        on_threads(texts, values, exact=dtype != "c8")
    compiled(["np.cumsum(a)", "np.cumsum(a.T)"], whole("i4", (300, 300)))
    on_threads(["np.cumsum(a)"], whole("i4", (150, 160)))


@pytest.mark.parametrize(
    "text", ["np.cumsum(a[1:-1, 1:-1])", "np.cumsum(a[:, ::-2])", "np.maximum.accumulate(a[:, 1:].ravel())"]
)
def test_many_pieces_of_what_lies_in_several_places(text: str) -> None:
    """Pieces of a scan are no columns, though what earlier kernels found of each is read along them."""
    compiled([text], whole("f8", (950, 1202)))
    on_threads([text], whole("f4", (302, 303)))


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy before 2.1 has no cumulative_sum")
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "c16"])
def test_with_the_initial_element(dtype: str) -> None:
    texts = ["np.cumulative_sum(a, axis={}, include_initial=True)", "np.cumulative_prod(a, axis={}, include_initial=True)",
             "np.cumulative_sum(a, axis={}, dtype='f8', include_initial=1)"]  # fmt: skip
    for shape in ((7,), (0,), (3, 4), (2, 0), (2, 300)):
        chosen = [t.format(axis) for axis in range(-1, len(shape)) for t in texts]
        if dtype == "c16":
            chosen = [t for t in chosen if "f8" not in t]
        compiled(chosen, small(dtype, shape), exact=dtype != "c16")
        on_threads(chosen, small(dtype, shape), exact=dtype != "c16")
    given = [np.zeros((3, 5), "f4"), np.zeros((3, 5), "f4")]
    for out, function in zip(given, (pytocu.jit(_with_initial), _with_initial), strict=True):
        assert function(np.ones((3, 4), "i4"), out) is out
    np.testing.assert_array_equal(*given)


def _with_initial(a, out):
    return np.cumulative_sum(a, axis=1, include_initial=True, out=out)


@pytest.mark.parametrize("dtype", ["i2", "i8", "f2", "f4", "f8"])
def test_unwrap(dtype: str) -> None:
    whole_numbers = ["np.unwrap(a, period=7)", "np.unwrap(a, axis=0, period=8)"]
    others = ["np.unwrap(a)", "np.unwrap(a, axis=0)", "np.unwrap(a, 4)", "np.unwrap(a, 5.5, period=8.5)"]
    r = np.random.default_rng(8)
    for shape in ((3, 30), (2, 1), (2, 0), (2, 300)):
        values = (r.integers(0, 40, shape) if dtype[0] != "f" else r.random(shape) * 30).astype(dtype)
        if dtype[0] == "i":
            compiled(whole_numbers, values)
            on_threads(whole_numbers, values)
        function = make_function("a", others, {"np": np})
        low = pytocu.jit(function).lower(values)
        # Angles that cancel are as exact as the largest of them; float16 sums are rounded once, NumPy's at every step.
        bound = {"f2": 1.0, "f4": 1e-3}.get(dtype, 1e-11)
        for answer in (pytocu.jit(function)(values), interp.run(low.host("cuda"), (values,))):
            for found, wanted in zip(answer, function(values), strict=True):
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=0, atol=bound)
    for text in ("np.unwrap(a.astype('u1'), period=7)", "np.unwrap(a[0, 0])", "np.unwrap(a, axis=2)"):
        both_raise(text, np.ones((2, 3)))


SIZES = (1, 2, 3, 5, 7, 13, 16, 17, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381)


@pytest.mark.parametrize("seed", range(8))
def test_random_shapes_axes_and_dtypes(seed: int) -> None:
    r = np.random.default_rng(seed)
    for _ in range(4):
        ndim = int(r.integers(1, 4))
        shape = tuple(int(n) for n in r.choice(SIZES[: (18, 11, 6)[ndim - 1]], ndim))
        dtype, axis = str(r.choice(["?", "i1", "u2", "i4", "i8", "f4", "f8", "c8"])), int(r.integers(-ndim, ndim))
        names = ["add", "bitwise_xor", "minimum"] if dtype[0] in "?iu" else ["add", "add"] if dtype == "c8" else ["add", "fmax"]
        texts = [f"np.{name}.accumulate(a, {axis})" for name in names]
        if dtype[0] in "iu":
            # Products wrap around.
            texts.append(f"np.cumprod(a, {axis})")
        values = whole(dtype, shape)
        texts.append(f"np.cumsum(np.{r.choice(['flip', 'transpose', 'array'])}(a), {axis})")
        compiled(texts, values)
        on_threads(texts, values)


def test_a_length_that_may_be_any() -> None:
    low = pytocu.jit(lambda x: np.cumsum(x, -1)).lower("f4[m, n]")
    for shape, targets in (((3, 5), ("cuda", "cpu")), ((2, 2000), ("cuda", "cpu")), ((1, 20_000), ("cuda",))):
        x = whole("f4", shape)
        for target in targets:
            (found,) = interp.run(low.host(target), (x,))
            np.testing.assert_array_equal(found, np.cumsum(x, 1))


# Threads.


def kernels(function: Callable[..., Any], x: np.ndarray, memory: dict[Any, np.ndarray]) -> list[tuple[Any, list[Any]]]:
    """Each kernel of a function of one array with its arguments, arrays of which `memory` gets."""
    host = pytocu.jit(function).lower(x).host("cuda")
    lengths = {f"x_{axis}": size for axis, size in enumerate(x.shape)}
    memory[host.params[0]] = x
    found = []
    for inst in host.body.insts:
        if inst.op.name == "allocate":
            type = inst.types[0]
            memory[inst.result] = np.zeros([evaluate(d, lengths) for d in type.shape], type.dtype.numpy)
        if inst.op.name == "launch":
            given = [memory[a] if a in memory else evaluate(a.inst.attr("value"), lengths) for a in inst.args]
            found.append((kernel_function(host, inst), given))
    return found


@pytest.mark.parametrize("shape", [(3, 1300), (2, 5000), (20_000,)], ids=str)
def test_every_barrier_is_needed(shape: tuple[int, ...]) -> None:
    x = whole("f4", shape)
    total = 0
    memory: dict[Any, np.ndarray] = {}
    for function, given in kernels(lambda x: np.cumsum(x, -1), x, memory):
        block = function.fact("block")
        run_threads(function, given, grid=2, block=block)
        barriers = sum(inst.op.name == "barrier" for inst in walk(function.body))
        total += barriers
        for number in range(barriers):
            with pytest.raises(ThreadFault, match=r"race|uninitialised"):
                run_threads(without_barrier(function, number), given, grid=1, block=block)
        run_threads(function, given, grid=2, block=block)
    # The totals of pieces are combined as every reduction is.
    assert total == (2 if x.ndim == 2 else 4)
    results = [a for a in memory.values() if a is not x and a.shape == x.shape]
    np.testing.assert_array_equal(results[-1], np.cumsum(x, -1))


@pytest.mark.parametrize(
    "text", ["np.take(b.T, np.cumsum(a, axis=0), mode='clip')", "b.T.reshape(-1)[np.cumsum(a[:, :2], axis=1) % 6]"]
)
def test_running_sums_are_positions(text: str) -> None:
    """A position that is divided, because a turned array is read as a flat one, is computed of the running sum."""
    a, b = np.arange(8).reshape(2, 4) - 3, np.arange(6).reshape(2, 3)
    function = make_function("ab", [text], {"np": np})
    np.testing.assert_array_equal(pytocu.jit(function)(a, b), function(a, b))
    np.testing.assert_array_equal(call_threads(function, a, b), function(a, b))


def sums_of_sums(n):
    p = np.ones(n)
    t = 0.0
    for _ in range(1, 3):
        for _ in range(1, 3):
            w = np.cumsum(p)
            p = p + w
            c = p * 2
            if t > 3:
                p = c
            t += c[0]
    return p, t


def test_a_scan_is_computed_on_the_way_or_read_from_memory() -> None:
    """Of one kernel's results one was made of a scan at its own elements, and one of its first element."""
    for wanted, found in zip(sums_of_sums(4), pytocu.jit(sums_of_sums)(4), strict=True):
        np.testing.assert_array_equal(found, wanted)

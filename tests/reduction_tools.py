"""What the tests of reductions share: numbers, and expressions compared with NumPy on the interpreter and the CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.ir.verifier import verify
from pytocu.passes.context import PassContext, Target
from pytocu.passes.pipeline import PIPELINE
from pytocu.testing.compare import compare, edge_values
from pytocu.testing.operands import make_function

DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES: tuple[tuple[int, ...], ...] = ((7,), (5, 3), (1, 4), (3, 1, 2), (1,), ())

EXACT = ("np.min(a, {})", "np.max(a, {})", "np.any(a, {})", "np.all(a, {})", "a.min({})", "a.max(axis={}, keepdims=True)",
         "a.any(axis={}, keepdims=True)", "a.all({})", "np.amin(a, axis={}, keepdims=False)",
         "np.max(a, {}, initial=1)", "np.min(a, axis={}, where=a != 0, initial=1)", "np.any(a, {}, where=a != 1)")  # fmt: skip
SUMS = ("np.sum(a, {})", "np.prod(a, axis={})", "a.sum({}, keepdims=True)", "a.prod(axis={}, keepdims=True)",
        "np.sum(a, {}, initial=2)", "a.sum({}, where=a != 1)", "a.prod({}, where=a != 0, initial=2)",
        "np.sum(a, {}, dtype='f8')", "np.sum(a, {}, dtype=a.dtype)", "np.prod(a, {}, dtype=np.float32)")  # fmt: skip
MOMENTS = ("np.mean(a, {})", "np.var(a, axis={})", "a.std({})", "a.mean({}, keepdims=True)", "a.var({}, ddof=1, keepdims=True)",
           "np.std(a, {}, ddof=0.5)", "np.mean(a, {}, dtype='f4')", "a.mean(axis={}, where=a != 1)",
           "np.var(a, {}, correction=1)", "np.std(a, axis={}, where=a != 1, ddof=1)", "np.var(a, {}, dtype='f8')",
           "np.var(a, {}, mean=a.mean(axis={}, keepdims=True))")  # fmt: skip
POSITIONS = ("np.argmin(a, {})", "a.argmax(axis={})", "np.argmax(a, axis={}, keepdims=True)", "a.argmin({}, keepdims=True)")
RANGES = ("np.ptp(a, {})", "np.ptp(a, axis={}, keepdims=True)", "np.count_nonzero(a, axis={})",
          "np.count_nonzero(a, {}, keepdims=True)")  # fmt: skip
NAN = ("np.nansum(a, {})", "np.nanprod(a, axis={}, initial=2)", "np.nanmin(a, {})", "np.nanmax(a, axis={}, keepdims=True)",
       "np.nanmean(a, {})", "np.nanvar(a, axis={})", "np.nanstd(a, {}, ddof=1)", "np.nanmean(a, {}, keepdims=True, dtype='f8')",
       "np.nanvar(a, axis={}, where=a != 1)", "np.nanstd(a, {}, keepdims=True, correction=0.5)",
       "np.nanmax(a, {}, initial=1, where=a != 1)", "np.nansum(a, {}, where=a != 1)",
       "np.nanmean(a, {}, where=a != 1)")  # fmt: skip
FAMILIES = {
    "selections": (EXACT, True), "sums": (SUMS, True), "moments": (MOMENTS, False), "positions": (POSITIONS, True),
    "ranges": (RANGES, True), "without nan": (NAN, False),
}  # fmt: skip
"""Expressions of one array and an axis, and whether their bits are NumPy's where sums are exact."""


def interpreted(low: Any, arguments: Sequence[Any]) -> Any:
    """The interpreter's answer after the front end and after every pass before fusion; all must agree."""
    function = low.function
    tree = function.body.terminator.attr("tree")
    answer = interp.arrange(tree, interp.run(function, arguments))
    established: list[str] = []
    for step in PIPELINE:
        if step.name == "fuse":
            break
        function = step.run(function, PassContext(Target("cpu")))
        established.extend(step.establishes)
        verify(function, established)
    compare(interp.arrange(tree, interp.run(function, arguments)), answer)
    return answer


def compiled(texts: Sequence[str], *arguments: Any, exact: bool = True, ulp: float = 0) -> None:
    """As :func:`check`, computed by the CPU."""
    function, expected = _by_numpy(texts, arguments)
    _compare_each(texts, arguments, pytocu.jit(function)(*arguments), expected, exact, ulp)


def on_threads(texts: Sequence[str], *arguments: Any, exact: bool = True, ulp: float = 0) -> None:
    """As :func:`check`, by the GPU's kernels, interpreted thread by thread."""
    function, expected = _by_numpy(texts, arguments)
    low = pytocu.jit(function).lower(*arguments)
    results = interp.run(low.host("cuda"), arguments)
    answer = interp.arrange(low.function.body.terminator.attr("tree"), results)
    _compare_each(texts, arguments, answer, expected, exact, ulp)


def check(texts: Sequence[str], *arguments: Any, exact: bool = True, ulp: float = 0) -> None:
    """Every expression has NumPy's answer: dtype, shape and values."""
    function, expected = _by_numpy(texts, arguments)
    answer = interpreted(pytocu.jit(function).lower(*arguments), arguments)
    expected, answer = (e if isinstance(e, tuple) else (e,) for e in (expected, answer))
    _compare_each(texts, arguments, answer, expected, exact, ulp)


def _by_numpy(texts: Sequence[str], arguments: Sequence[Any]) -> tuple[Any, Any]:
    """The function of the expressions, and NumPy's answer."""
    function = make_function("abc"[: len(arguments)], list(texts), {"np": np})
    with np.errstate(all="ignore"):
        return function, function(*arguments)


def _compare_each(
    texts: Sequence[str], arguments: Sequence[Any], answer: Any, expected: Any, exact: bool, ulp: float
) -> None:
    for text, a, e in zip(texts, answer, expected, strict=True):
        try:
            compare(a, e, exact, ulp)
        except AssertionError as error:
            raise AssertionError(f"{text} of {', '.join(str(np.shape(x)) for x in arguments)}: {error}") from None


def nearly_exact(function: Any, values: np.ndarray, expected: Sequence[Any]) -> list[tuple[np.ndarray, float]]:
    """What results that are rounded are compared with: the value and the units in the last place.

    Results in float16 are compared with the value computed in float64, so that the bound is that of our own roundings.
    NumPy's cannot be the measure: along the first axis it adds float16 rows one after another, and the variance of 700
    rows is 70 units off.
    """
    exact = function(values.astype("f8")) if values.dtype == "f2" else expected
    return [
        (np.asarray(e).astype(np.asarray(n).dtype), 4) if np.asarray(n).dtype == "f2" else (np.asarray(n), 128)
        for e, n in zip(exact, expected, strict=True)
    ]


def sparse(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers whose sums are exact in every accumulator, mostly 0 so that float16 results do not overflow."""
    values = small(dtype, shape)
    return np.where(np.random.default_rng(6).random(shape) < min(1.0, 500 / values.size), values, 0).astype(dtype)


def axes_of(ndim: int) -> list[str]:
    every = [None, *range(-ndim, ndim)]
    if ndim > 1:
        every += [(0, 1), (-1, 0), (), tuple(range(ndim))]  # type: ignore[list-item]
    return [repr(a) for a in every]


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Few values, so that most repeat: extremes, zeros, NaN and infinities where the dtype has them."""
    count = math.prod(shape)
    return np.random.default_rng(1).permutation(edge_values(np.dtype(dtype), max(count, 120)))[:count].reshape(shape)


def small(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers whose sums and products are exact in every dtype."""
    values = np.random.default_rng(2).integers(0, 3, shape).astype(dtype)
    return values if np.dtype(dtype).kind != "c" else values + values[..., ::-1] * values.dtype.type(1j) if shape else values


def both_raise(text: str, *arguments: Any) -> None:
    """NumPy's exception class and sentence, from the interpreter as well."""
    function = make_function("abc"[: len(arguments)], [text], {"np": np})
    with pytest.raises(Exception) as numpys:
        function(*arguments)
    with pytest.raises(type(numpys.value)) as ours:
        interpreted(pytocu.jit(function).lower(*arguments), arguments)
    assert str(ours.value).splitlines()[0] == str(numpys.value)
    assert "^" in str(ours.value)

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
    function = make_function("abc"[: len(arguments)], list(texts), {"np": np})
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    for text, a, e in zip(texts, pytocu.jit(function)(*arguments), expected, strict=True):
        try:
            compare(a, e, exact, ulp)
        except AssertionError as error:
            raise AssertionError(f"{text}: {error}") from None


def check(texts: Sequence[str], *arguments: Any, exact: bool = True, ulp: float = 0) -> None:
    """Every expression has NumPy's answer: dtype, shape and values."""
    function = make_function("abc"[: len(arguments)], list(texts), {"np": np})
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    answer = interpreted(pytocu.jit(function).lower(*arguments), arguments)
    expected, answer = (e if isinstance(e, tuple) else (e,) for e in (expected, answer))
    for text, a, e in zip(texts, answer, expected, strict=True):
        try:
            compare(a, e, exact, ulp)
        except AssertionError as error:
            raise AssertionError(f"{text} of {', '.join(str(np.shape(x)) for x in arguments)}: {error}") from None


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

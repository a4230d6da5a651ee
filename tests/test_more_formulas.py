"""Functions that are formulas over others: frequencies, shifts, sorts by several keys, condition numbers, ranks, integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_tools import agree

from pytocu.errors import CompileError, UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

RANDOM = np.random.default_rng(7)
VECTOR, MATRIX, STACK = RANDOM.random(7), RANDOM.random((4, 3)), RANDOM.random((2, 4, 4))
KEYS = RANDOM.integers(0, 3, (3, 9))
SINGULAR = np.array([[1, 2], [2, 4]])


def interpreted(texts: list[str], *arguments: Any, ulp: float = 0) -> None:
    function = make_function("abc"[: len(arguments)], texts, {"np": np})
    found, wanted = call_interpreted(function, *arguments), function(*arguments)
    for a, b in zip(found, wanted, strict=True):
        compare(a, b, ulp)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_frequencies(n: int) -> None:
    interpreted(["np.fft.fftfreq(a)", "np.fft.rfftfreq(a)", "np.fft.fftfreq(a, b)", "np.fft.rfftfreq(a, d=b)"], n, 0.3)
    interpreted([f"np.fft.fftfreq({n})", f"np.fft.rfftfreq({n}, 0.1)", "np.fft.fftfreq(len(a))"], np.ones(n))


def test_shifts() -> None:
    interpreted(["np.fft.fftshift(a)", "np.fft.fftshift(a, 1)", "np.fft.ifftshift(a, axes=(-1, 0))"], MATRIX)
    interpreted(["np.fft.fftshift(a)", "np.fft.ifftshift(a)"], VECTOR)


def test_sorts_by_several_keys() -> None:
    interpreted(["np.lexsort((a[0], a[1], a[2]))", "np.lexsort([a[1], a[0]])", "np.lexsort((a[0],))"], KEYS)
    interpreted(["np.lexsort((a, b))"], np.array([1.0, np.nan, 0, np.nan, -1]), np.array([1, 1, 2, 2, 1]))


def test_singular_values() -> None:
    texts = ["np.linalg.matrix_rank(a)", "np.linalg.matrix_rank(a, 0.5)", "np.linalg.matrix_rank(a, rtol=0.1)"]
    for given in (MATRIX, STACK, SINGULAR, MATRIX.astype(np.float32), np.zeros((3, 3))):
        interpreted(texts, given)
    interpreted(["np.linalg.matrix_rank(a, b)"], STACK, np.array([0.1, 1.0]))
    for given in (MATRIX, STACK, STACK.astype(np.float32)):
        interpreted(["np.linalg.cond(a)", "np.linalg.cond(a, 2)", "np.linalg.cond(a, -2)"], given, ulp=2)
    interpreted(["np.linalg.cond(a)"], np.zeros((2, 2)))


def test_integrals_of_polynomials() -> None:
    texts = ["np.polyint(a)", "np.polyint(a, 2)", "np.polyint(a, k=3)", "np.polyint(a, 0)", "np.polyint(a, 1, 2.5)"]
    for given in (VECTOR, np.array([3, 2, 1]), VECTOR.astype(np.float32)):
        interpreted(texts, given)


def test_on_the_cpu_and_thread_by_thread() -> None:
    agree(["np.fft.fftshift(a)", "np.fft.fftfreq(len(a), 0.5)", "np.lexsort((a, b))", "np.polyint(a)"], VECTOR, VECTOR > 0.5)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("np.fft.fftfreq(2.0)", ValueError, "n should be an integer"),
        ("np.fft.fftfreq(0)", ZeroDivisionError, "float division by zero"),
        ("np.lexsort((a, a[1:]))", ValueError, "all keys need to be the same shape"),
        ("np.polyint(a, -1)", ValueError, "Order of integral must be positive"),
        ("np.linalg.cond(a)", np.linalg.LinAlgError, "1-dimensional array given"),
    ],
)
def test_what_numpy_refuses(text: str, error: type[Exception], said: str) -> None:
    function = make_function("a", [text], {"np": np})
    for run in (function, lambda *given: call_interpreted(function, *given)):
        with pytest.raises(error, match=said):
            run(VECTOR)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("np.lexsort(b)", "of keys whose number is known only at run time"),
        ("np.polyint(a, 2, [1, 2])", "one number known now"),
        ("np.linalg.cond(b, 1)", "p=1 is not compiled"),
        ("np.linalg.cond(b * np.nan)", "with NaN"),
        ("np.linalg.matrix_rank(a)", "of a vector"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as found:
        call_interpreted(make_function("ab", [text], {"np": np}), VECTOR, MATRIX)
    assert isinstance(found.value, CompileError)

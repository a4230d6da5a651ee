"""What functions make of arrays without axes, of axes without elements, and of NumPy scalars known while compiling."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree

WITHOUT_AXES = ["np.mean(a, axis=0)", "np.var(a, axis=-1)", "a.std(axis=0)", "np.sum(a, axis=0)", "np.mean(a, axis=())",
                "np.squeeze(a, axis=0)", "np.squeeze(a, axis=(0,))", "np.delete(a, 0, axis=0)", "np.insert(a, 0, 1, axis=0)",
                "np.delete(a, 0)", "np.average(a, axis=0)", "np.fft.fft(a)"]  # fmt: skip


@pytest.mark.parametrize("number", ["np.array(2.5)", "np.float32(2.5)", "np.array(3)"])
def test_arrays_without_axes(number: str) -> None:
    check((number,), WITHOUT_AXES)


def test_averages_of_no_means() -> None:
    check(("np.zeros((2, 0), np.float16)",), ["np.average(a, axis=0)", "np.average(a, axis=1)",
        "np.average(a, 0, keepdims=True)"])


@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "inverted_cdf", "hazen"])
@pytest.mark.parametrize("dtype", [float, int])
def test_quantiles_of_no_elements(method: str, dtype: type) -> None:
    agree(f"np.quantile(a, 0.3, method='{method}')", np.zeros(0, dtype))


def test_elements_of_a_vector_are_scalars() -> None:
    x = np.arange(6.0).reshape(2, 3)
    check(("np.arange(3.0)[:1]",), ["np.unstack(a)"])
    agree(["np.unstack(np.ones((2, 3)), axis=1)[2] + a[:, 0]", "np.unstack(np.ones(2))[0] + a"], x)


def test_powers_of_matrices_that_are_not_square() -> None:
    agree("np.linalg.matrix_power(a, 2)", np.ones((2, 3)))


def test_derivatives_of_rows() -> None:
    for shape in ("(3, 2)", "(2, 2)", "(3, 1)", "(2, 0)"):
        check((f"np.ones({shape})",), ["np.polyder(a)", "np.polyder(a, 0)"])


KNOWN = [np.int64(300), np.float64(2.7), np.uint8(200), np.bool_(True)]


@pytest.mark.parametrize("number", KNOWN, ids=repr)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_known_scalars_at_positions_are_cast(number: np.generic, dtype: str) -> None:
    rows = ["a[[0, 1]] = s\nreturn a", "a[a == 0] = s\nreturn a", "np.fill_diagonal(a, s)\nreturn a", "a[0] = s\nreturn a",
            "np.put(a, [0], s)\nreturn a", "np.piecewise(a, [a == 0], [s, s])"]  # fmt: skip
    check((f"np.zeros((3, 3), np.{dtype})",), rows, scope={"s": number})

"""``ufunc.reduceat``: stretches between positions, and what NumPy says of positions outside."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused
from function_tools import agree

CUBE = np.arange(24).reshape(2, 3, 4) % 7
AT = np.array([0, 2, 1, 1])


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "logical_and", "bitwise_or", "fmin", "hypot"])
def test_stretches(name: str) -> None:
    texts = [f"np.{name}.reduceat(a, [0, 1])", f"np.{name}.reduceat(a, b, axis=-1)", f"np.{name}.reduceat(a[0, 0], b)",
             f"np.{name}.reduceat(a[:, :, 1:], b, axis=1)"]  # fmt: skip
    agree(texts, CUBE, AT, ulp=4 if name == "hypot" else 0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float16, np.float32, complex])
def test_dtypes(dtype: type) -> None:
    agree(["np.add.reduceat(a, b, 2)", "np.add.reduceat(a[0, 0], b, dtype=complex)", "np.maximum.reduceat(a, b, 1)"],
          CUBE.astype(dtype), AT)  # fmt: skip


def test_rows_of_a_sparse_matrix() -> None:
    data, columns, starts = np.arange(6.0), np.array([0, 2, 1, 0, 1, 2]), np.array([0, 2, 3])
    agree("np.add.reduceat(a * d[b], c)", data, columns, starts, np.array([1.0, 10, 100]))


def test_outputs_and_errors() -> None:
    rows = ["np.add.reduceat(a, [0, 8])", "np.add.reduceat(a, [0, -1])", "np.add.reduceat(a, [])", "np.add.reduceat(a, [0.9])",
            "np.add.reduceat(a, b - 1)", "np.add.reduceat(a, b + 9)", "np.add.reduceat(a, b * 1.0)", "np.add.reduceat(a, 0)",
            "np.add.reduceat(a, [[0]])", "np.less.reduceat(a, [0])", "np.negative.reduceat(a, [0])",
            "np.add.reduceat(a, [0], 1)",
            "np.add.reduceat(a[0], [0])", "np.add.reduceat(a, b, axis=None)", "np.add.reduceat(a[:0], [0])",
            "c = np.zeros(4)\nnp.add.reduceat(a, b, out=c)\nreturn c", "np.add.reduceat(a, b[None])",
            "np.add.reduceat(np.zeros((0, 3)), [5], axis=1)"]  # fmt: skip
    check(("np.arange(6)", "np.array([0, 2, 1, 1])"), rows)


def test_which_of_several_wrong_arguments_is_named() -> None:
    rows = ["np.less.reduceat(a, [0, 8])", "np.less.reduceat(a, [0, 8], 3)", "np.less.reduceat(a, b * 1.0, 3)",
            "np.add.reduceat(a, b * 1.0, dtype='q')", "np.add.reduceat(a, b, 3, dtype='q7')", "np.add.reduceat(a, b, 3, out=3)",
            "np.add.reduceat(a, b, 0, None, (a,))", "np.add.reduceat(a, b, 0, None, ())", "np.add.reduceat(a, b * 1.0, out=())",
            "np.add.reduceat(a, b, out=(None,))", "np.add.reduceat(a, [9], 0, 'q7', 3)", "np.add.reduceat(a, b, (0, 0))",
            "np.add.accumulate(a, 3, 'q7', out=3)", "np.add.accumulate(a, 0, None, (a,))", "np.add.reduce(a, 0, None, (a,))",
            "np.add.reduce(a, 9, out=(None,))", "np.add.reduceat(a, b, out=np.zeros(()))"]  # fmt: skip
    check(("np.arange(6)", "np.array([0, 2, 1, 1])"), rows)


def test_outputs_of_another_shape_are_refused() -> None:
    given = ("np.arange(6.0)", "np.zeros((2, 1))", "np.zeros(3)")
    refused(given, "np.add.reduceat(a, [0], out=b)", "an output of reduceat with 2 axes", "the shape of the result")
    refused(given, "np.add.reduceat(a, [0], out=c)", "an axis of length 3, where the result has 1", "the shape of the result")

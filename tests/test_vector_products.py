"""Averages, products of vectors, norms, and Python's own functions of arrays, against NumPy and Python."""

from __future__ import annotations

import numpy as np
import pytest
from reduction_tools import both_raise, check, compiled, small

import pytocu
from pytocu.planning import launches
from pytocu.testing.operands import make_function

AVERAGES = ("np.average(a)", "np.average(a, axis=0)", "np.average(a, 1, returned=True)", "np.average(a, weights=b)",
            "np.average(a, axis=1, weights=c)", "np.average(a, axis=-1, weights=c, returned=True, keepdims=True)",
            "np.average(a, axis=0, weights=b, keepdims=True)", "np.average(a, axis=(0, 1), weights=b, returned=True)",
            "np.average(a, returned=True)", "np.average(a[0], weights=c)")  # fmt: skip


@pytest.mark.parametrize("dtypes", ["f4 f4 f8", "f8 i4 u1", "i4 f4 i8", "? i1 f4", "f2 f2 i2", "c8 f4 f8"])
def test_averages(dtypes: str) -> None:
    a, b, c = (small(d, s) + np.ones((), d) for d, s in zip(dtypes.split(), ((4, 3), (4, 3), (3,)), strict=True))
    check(AVERAGES, a, b, c, exact=False, ulp=8)


@pytest.mark.parametrize("text", [
    "np.average(a, weights=a[0])", "np.average(a, axis=1, weights=a[0, :2])", "np.average(a, axis=0, weights=a[:, 0] * 0)",
    "np.average(a, axis=(0, 1), weights=a[0])", "np.average(a, axis=2)", "np.average(a, axis=1, weights=a[:1])",
    "np.dot(a[0], a[0, :2])", "np.inner(a[0, 1:], a[0])", "np.vdot(a[0], a[0, :2])", "np.vecdot(a[0], a[0, :1])",
    "np.vecdot(a[0], a[0, :2])", "np.vecdot(2.0, a)", "np.vecdot(a, a, axis=2)", "np.linalg.norm(a, axis=2)",
    "np.linalg.norm(a[0], 'fro')", "np.linalg.norm(a, 'abc')", "np.linalg.norm(a, axis=(0, 0))",
    "np.linalg.norm(a[0, :0], -np.inf)",
    "np.linalg.norm(a[None], 1)", "np.linalg.norm(a[None], axis=(0, 1, 2))", "np.linalg.vector_norm(a, axis=3)",
])  # fmt: skip
def test_products_refused_as_numpy_refuses(text: str) -> None:
    both_raise(text, np.arange(6.0).reshape(2, 3))


DOTS = ("np.dot(a[0], b[0])", "np.vdot(a[0], b[0])", "np.vdot(a, b)", "np.inner(a[0], b[0])", "a[0].dot(b[1])",
        "np.vecdot(a, b)", "np.vecdot(a, b[0])", "np.vecdot(a, b, axis=0)", "np.linalg.vecdot(a[:, None], b)",
        "np.dot(a, b[0, 0])", "np.dot(2, a)",
        "np.inner(a[0, 0], b[0, 0])", "np.vdot(a[0, 0], b[0, 0])", "np.dot(a[0, :0], b[1, :0])")  # fmt: skip


@pytest.mark.parametrize("dtypes", ["f4 f4", "f8 f4", "i1 i1", "i4 u4", "? ?", "? i2", "f2 f2", "c8 c8", "c8 f8", "c16 i4"])
def test_products_of_vectors(dtypes: str) -> None:
    a, b = (small(d, (4, 3)) for d in dtypes.split())
    check(DOTS, a, b, exact=False, ulp=4)


NORMS = ("np.linalg.norm(a)", "np.linalg.norm(a, axis=1)", "np.linalg.norm(a, axis=0, keepdims=True)",
         "np.linalg.norm(a, 'fro')",
         "np.linalg.norm(a, keepdims=True)", "np.linalg.norm(a, ord=1, axis=0)", "np.linalg.norm(a, ord=np.inf, axis=-1)",
         "np.linalg.norm(a, ord=-np.inf, axis=-2, keepdims=True)", "np.linalg.norm(a, ord=0, axis=0)", "np.linalg.norm(a[0])",
         "np.linalg.norm(a, ord=3, axis=1)", "np.linalg.norm(a[0], ord=0.5)", "np.linalg.norm(a[0], 2)",
         "np.linalg.norm(a[0, 0])",
         "np.linalg.norm(a + 1, ord=-1, axis=1)", "np.linalg.norm(a, axis=(0, 1))", "np.linalg.norm(a, 1)",
         "np.linalg.norm(a, np.inf, keepdims=True)", "np.linalg.norm(a, -1, axis=(1, 0))", "np.linalg.norm(a, -np.inf)",
         "np.linalg.vector_norm(a)", "np.linalg.vector_norm(a, axis=1.5)", "np.linalg.vector_norm(a, axis=0, keepdims=True)",
         "np.linalg.vector_norm(a, axis=(0, 1), ord=1)",
         "np.linalg.vector_norm(a, keepdims=True, ord=3)", "np.linalg.norm(a[None])", "np.linalg.norm(a[:, :0], axis=1)",
         "np.linalg.norm(a[0, :0])", "np.linalg.norm(a[:, :0], np.inf)")  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "i4", "u1", "f2", "f4", "f8", "c8", "c16"])
def test_norms(dtype: str) -> None:
    texts = [t.replace("a + 1", "a") if dtype == "?" else t for t in NORMS]
    check(texts, small(dtype, (4, 3)), exact=False, ulp=8)


def test_products_compiled() -> None:
    a, b, c = small("f4", (4, 3)) + 1, small("f8", (4, 3)) + 1, small("i4", (3,)) + 1
    compiled(NORMS, a, exact=False, ulp=8)
    compiled(DOTS, a, b, exact=False, ulp=8)
    compiled([t for t in AVERAGES if "returned" not in t], a, b, c, exact=False, ulp=8)


@pytest.mark.parametrize("text, said", [
    ("np.linalg.cond(a, 1)", "np.linalg.inv(x)"),
    ("np.sum(a, axis=b)", "axis= must be known while compiling"), ("np.sum(a, keepdims=b)", "keepdims= must be known"),
    ("np.unwrap(a, b)", "write it as a constant"),
    ("np.linalg.norm(a, b)", "ord= must be known"),
    ("np.linalg.qr(a, mode='full')", "write mode='reduced'"),
])  # fmt: skip
def test_refused_with_what_to_write(text: str, said: str) -> None:
    function = make_function("ab", [text], {"np": np})
    with pytest.raises(pytocu.errors.UnsupportedError) as error:
        pytocu.jit(function).lower(np.ones((2, 2)), 1)
    assert said in str(error.value)


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f2", "f4", "f8", "c8"])
def test_pythons_own_functions(dtype: str) -> None:
    texts = ["sum(a)", "sum(a[0])", "sum(a, 2)", "sum(a[1], 1.5)", "sum(a[:, 1], a[0])"]
    if dtype[0] in "?iu":
        texts += ["min(a[0])", "max(a[:, 1])"]
    check(texts, small(dtype, (4, 3)))


def test_pythons_own_functions_refuse_as_python_does() -> None:
    for text in ("min(a)", "max(a)", "min(a[:0])"):
        both_raise(text, np.arange(0))
    both_raise("max(a)", np.ones((3, 4), int))
    check(["any(a)", "all(a)", "any(a > 1)"], np.ones(3))


PRODUCTS = ("a @ b[:, :1]", "a[:1] @ b", "a[:, :1] @ b[:1]", "a[:1, :1] @ b[:1, :1]", "a[:0] @ b[:, :1]",
            "a[:, :0] @ b[:0, :1]", "np.dot(a, b[:, :1])", "np.inner(a[:, :1], a[:, :1])")  # fmt: skip


@pytest.mark.parametrize("dtypes", ["f4 f8", "i2 i4", "c8 c8", "f2 f2", "? ?"])
def test_products_of_one_row_column_or_addend(dtypes: str) -> None:
    a, b = (small(d, s) for d, s in zip(dtypes.split(), ((4, 3), (3, 5)), strict=True))
    check(PRODUCTS, a, b, exact=False, ulp=4)
    lowered = pytocu.jit(make_function("ab", PRODUCTS, {"np": np})).lower(a, b)
    assert "library" not in lowered.ir("bufferize")


@pytest.mark.parametrize(("text", "schedule"), [("a @ b", "columns"), ("b.T @ c", "columns"), ("a @ c[:6]", "rows"),
                                                ("(a * c[:, None]).sum(1)", "rows"), ("b.sum(0)", "columns")])  # fmt: skip
def test_the_largest_operands_say_whether_columns_are_combined(text: str, schedule: str) -> None:
    a, b, c = np.ones((50, 6)), np.ones((6, 50)), np.ones(50 if "a" in text else 6)
    lowered = pytocu.jit(make_function("abc", [text], {"np": np})).lower(a, b, c)
    (launch,) = launches(lowered.host("cpu"))
    assert launch.attr("schedule") == schedule


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
def test_rows_and_columns_of_large_arrays_are_not_read_together(target: str) -> None:
    """One of the two would jump from element to element; what lies alike shares a kernel."""
    a, b, c = (np.random.default_rng(n).random(shape) for n, shape in enumerate([(60, 60), (), 60]))
    texts = ("a @ c, a.T @ c", "a @ c, (a + b) @ c", "a.T @ c, c @ (a * b)", "a @ c, a.sum(0), c @ a, a.max(1)")
    expected = (["columns", "rows"], ["rows"], ["columns"], ["columns", "rows"])
    for text, schedules in zip(texts, expected, strict=True):
        function = make_function("abc", text.split(", "), {"np": np})
        found = launches(pytocu.jit(function).lower(a, b, c).host(target))
        assert sorted(i.attr("schedule") for i in found) == schedules, text
        check(text.split(", "), a, b, c, exact=False, ulp=16)
    lowered = pytocu.jit(make_function("abc", ["a @ c", "a.T @ c"], {"np": np})).lower(a, b, c)
    assert "along rows of memory, and the other one along columns" in lowered.kernels[1].why

"""``ufunc.reduce`` and ``ufunc.accumulate`` where the order matters: from the left to the right, everywhere there is no GPU.

NumPy 2.4 and 2.5 combine a row of floats by power and arctan2 wrongly where the CPU has AVX-512 (only its first and
last element), so these are compared along columns.
"""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree

import pytocu

BY_KIND = {
    "b": ("less", "equal", "not_equal", "greater_equal", "divide", "left_shift", "logical_xor"),
    "i": ("subtract", "divide", "floor_divide", "mod", "fmod", "left_shift", "bitwise_right_shift", "heaviside"),
    "f": ("subtract", "true_divide", "floor_divide", "remainder", "fmod", "copysign", "nextafter", "heaviside"),
    "c": ("subtract", "divide"),
}
FORMS = (
    "np.{0}.reduce(a)",
    "np.{0}.accumulate(b, 1)",
    "np.{0}.reduce(b, -1, keepdims=True)",
    "np.{0}.accumulate(a[0])",
    "np.{0}.reduce(a.T[::-1, :1], initial=2, where=a.T[:, 1:2] > 1)",
    "np.{0}.reduce(b[0, 1, ::-2])",
    "np.{0}.accumulate(a.T, -1)",
    "np.{0}.reduce(b + b, 1)",
)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32, np.complex64])
def test_dtypes(dtype: type) -> None:
    kind = np.dtype(dtype).kind
    cube = (np.arange(24).reshape(2, 3, 4) * 5 % 7 - 2 * (kind in "fc")).astype(dtype)
    names = BY_KIND[kind]
    # Which form a name has differs from dtype to dtype.
    forms = FORMS[np.dtype(dtype).num % len(FORMS) :] + FORMS
    agree([form.format(name) for name, form in zip(names, forms, strict=False)], cube[0], cube)


def test_powers_and_angles() -> None:
    values = np.array([[1.5, 0.5, 2], [2, 1.25, 0.5], [0.75, 3, 1]])
    texts = [f"np.{n}.{m}(a, 0)" for n, m in (("power", "reduce"), ("float_power", "accumulate"), ("arctan2", "reduce"))]
    agree(texts, values, ulp=6)
    row = np.array([2.0, 0, 1, 2, 2, 3])
    assert pytocu.jit(lambda a: np.power.reduce(a))(row) == 1
    check(["np.array([2, 3, -1])"], ["np.power.reduce(a)", "np.power.accumulate(a)"])


def test_lengths() -> None:
    empty = ("np.zeros((0, 3))", "np.zeros((3, 0))", "np.zeros(0)")
    lengths = ("np.ones(1)", "np.arange(1025.0)", "np.ones((2, 1, 3))")
    forms = (
        "np.subtract.accumulate({}, -1)",
        "np.fmod.reduce({}, 0, initial=7.25)",
        "np.less.reduce({} > 1, -1, None, None, True, True)",
        "np.true_divide.reduce({}, axis=0)",
    )
    for arguments in (empty, lengths):
        check(arguments, [form.format(name) for form in forms for name in "abc"])
    halves = "np.random.default_rng(0).random((3000, 2)).astype(np.float16)"
    check([halves, f"{halves}[:, 0].copy()"], ["np.subtract.accumulate(a)", "np.subtract.reduce(b)", "np.divide.reduce(b[:5])"])


def test_outputs_and_errors() -> None:
    rows = ["np.subtract.reduce(a, axis=None)", "np.subtract.reduce(a, axis=(0, 1))", "np.subtract.reduce(a, axis=())",
            "np.subtract.reduce(a, axis=(), initial=10)", "np.subtract.reduce(a, axis=(), initial=10, where=b)",
            "np.true_divide.reduce(a, axis=(), initial=2.0)", "np.arctan2.reduce(a, axis=(), initial=0.0)",
            "np.subtract.reduce(a, axis=1, where=b)", "np.subtract.reduce(a, axis=1, where=True)",
            "np.subtract.reduce(a, where=[True, False, True], initial=0)",
            "np.subtract.reduce(a, where=b[:, :2], initial=0)", "np.subtract.reduce(a[:0])",
            "np.subtract.reduce(a[:0], initial=3)", "np.subtract.reduce(a[:, :0])", "np.subtract.reduce(a[0, 0])",
            "np.subtract.reduce(np.array(3), axis=None)", "np.subtract.reduce(3)", "np.subtract.reduce(a, dtype='f4')",
            "np.subtract.reduce(a, dtype=bool)", "np.subtract.reduce(a, initial=2.7)",
            "np.subtract.reduce(a, initial=None)", "np.subtract.reduce(a, 2)", "np.less.reduce(a)",
            # Of ints with this dtype NumPy remembers a loop that later refuses `np.less(True, 3, dtype=bool)`.
            "np.less.reduce(a > 1, dtype=bool)", "np.less.accumulate(a > 1, dtype=bool)",
            "np.less.reduceat(a > 1, [0], dtype=bool)",
            "np.less.reduce(a, dtype=int)", "np.ldexp.reduce(a * 1.0)", "np.ldexp.reduce(a, dtype='f4')",
            "np.ldexp.reduce(a, initial=0.5)", "np.ldexp.accumulate(a)", "np.subtract.reduce(b)",
            "np.left_shift.reduce(a * 1.0)", "np.negative.reduce(a)", "np.divmod.reduce(a)",
            "np.subtract.accumulate(a, None)", "np.subtract.accumulate(a, (1,))", "np.subtract.accumulate(3)",
            "np.subtract.accumulate(a, 2)", "np.subtract.accumulate(a, dtype='f4')", "np.subtract.accumulate(a.T)",
            "np.subtract.accumulate(np.broadcast_to(a[0], (3, 3)), axis=1)", "np.subtract.reduceat(a, [0, 1], 1)",
            "np.subtract.accumulate(a, out=np.zeros((2, 3), 'f4'))", "np.subtract.reduce(a, out=np.zeros(3, 'f4'))",
            "np.divide.reduce(a, out=np.zeros(3, int))", "np.subtract.reduce(a, out=np.zeros(2))",
            "np.divide.reduce(a, out=np.zeros(3, complex))", "np.subtract.reduce(a, out=np.zeros(3, 'i2'))",
            "np.subtract.accumulate(a, 1, out=a)", "np.subtract.accumulate(a, 0, out=a[:, ::-1])",
            "np.subtract.reduce(a, out=a[1])", "np.subtract.outer(a, b[0])"]  # fmt: skip
    check(("np.arange(1, 7).reshape(2, 3)", "np.arange(1, 7).reshape(2, 3) % 3 > 0"), rows)


def test_rows_of_memory_are_combined_as_they_lie() -> None:
    """A check of each position would keep neighbours from being combined together."""
    text = pytocu.jit(lambda x: np.subtract.reduce(x, axis=0)).lower("f32[n, m]").ir(target="cpu")
    assert "first_lane" in text and "atomic_minimum" not in text

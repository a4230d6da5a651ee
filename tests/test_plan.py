"""Plans: their JSON form, the facts they check, and the size of the grid."""

from __future__ import annotations

import numpy as np
import pytest

import pytocu
from pytocu.errors import PytocuError
from pytocu.ir.core import attr_key
from pytocu.runtime import arrays
from pytocu.runtime.plan import layout_of
from pytocu.runtime.plan_json import plan_from_json, plan_to_json


def compiled(function, *types, **options):
    return pytocu.jit(function).lower(*types).compile("cuda:sm_90", **options)


PROGRAMS = [
    (lambda x: x[1:-1] * 2, ("f32[n]",)),
    (lambda x, s: (x + s, x.T, x[0], s * 2, {"a": x[::-1]}, None, "text"), ("f64[n, m; S]", "weak int")),
    (lambda x, y: np.where(x > y, np.inf, -0.0), ("f32[n, m]", "f32[k]")),
    (lambda x: (x, np.float32(np.nan)), ("i8[n, 3; F]",)),
    (lambda x: (x, -np.nan, complex(-np.nan, 1)), ("i8[n]",)),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_json_keeps_everything_but_the_places(number):
    function, types = PROGRAMS[number]
    plan = compiled(function, *types).plan
    text = plan_to_json(plan)
    again = plan_from_json(text)
    assert plan_to_json(again) == text
    for name in ("name", "parameters", "symbols", "kernels", "tree", "assumptions"):
        assert getattr(again, name) == getattr(plan, name)
    assert repr(again.steps) == repr(plan.steps) and attr_key(again.steps) == attr_key(plan.steps)
    assert not again.locs


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 99}', '{"version": 1}', "\x00"])
def test_damaged_json_is_refused(text):
    with pytest.raises(PytocuError):
        plan_from_json(text)


def info_of(array):
    info = arrays.describe(array, "x")
    assert info is not None
    return info


class Shaped:
    """An array of any size without its memory."""

    def __init__(self, *shape):
        self.shape, self.strides = shape, tuple(4 * n for n in range(len(shape)))


def suits(function, types, *shapes, **options):
    program = compiled(function, *types, **options).executable._program
    infos = {n: Shaped(*shape) for n, shape in enumerate(shapes)}
    return program.suits(None, infos, *shapes)


def test_offsets_past_32_bits_need_wide_indices():
    add_one = lambda x: x + 1  # noqa: E731
    for length in (1000, 2**25, 2**30 - 5000):
        assert suits(add_one, ("i8[n]",), (length,))
    for length in (2**30, 2**31 - 1, 2**31, 2**40):
        assert not suits(add_one, ("i8[n]",), (length,))
        assert suits(add_one, ("i8[n]",), (length,), index_bits=64)


def test_loops_over_rows_step_beyond_their_end() -> None:
    """An index that passes 2**31 there would be negative, and its loop would go on outside of the array."""
    total = lambda x: x.sum()  # noqa: E731
    assert suits(total, ("i8[n]",), (2**31 - 2**17,))
    assert not suits(total, ("i8[n]",), (2**31 - 4096,))


def test_a_broadcast_result_counts_not_only_the_inputs():
    outer = lambda x, y: x[:, None] * y  # noqa: E731
    assert suits(outer, ("f32[n]", "f32[m]"), (1000,), (1000,))
    assert not suits(outer, ("f32[n]", "f32[m]"), (2**16,), (2**16,))


def test_strides_count_and_not_only_lengths():
    program = compiled(lambda x: x[:2] * 2, "i8[n; S]").executable._program
    x = Shaped(10)
    for stride, fine in ((1, True), (-(2**20), True), (2**31, False), (-(2**31), False)):
        x.byte_strides = (stride,)
        assert program.suits(None, {0: x}, x) is fine


def test_layouts():
    x = np.zeros((4, 5), np.float32)
    assert layout_of(info_of(x)) == "C"
    assert layout_of(info_of(x.T)) == "F"
    assert layout_of(info_of(x[:, ::2])) == "S"
    assert layout_of(info_of(x[::-1])) == "S"
    assert layout_of(info_of(x[:1].T)) == "C"
    assert layout_of(info_of(np.zeros((0, 5), np.float32)[:, ::2])) == "C"


def test_a_compiled_function_checks_its_arguments():
    exe = pytocu.jit(lambda x, y: x + y).lower("f32[n, 3]", "f32[n, 3]").compile("cpu")
    good = np.ones((2, 3), np.float32)
    assert np.array_equal(exe(good, good), good + good)
    with pytest.raises(TypeError, match="argument x must be an array f32"):
        exe(good.astype(np.float64), good)
    with pytest.raises(ValueError, match="argument y must have shape"):
        exe(good, np.ones((4, 3), np.float32))
    with pytest.raises(ValueError, match="argument x must have shape"):
        exe(np.ones((2, 4), np.float32), good)
    with pytest.raises(ValueError, match=r"row-major \(C\) order"):
        exe(np.asfortranarray(good), good)
    with pytest.raises(TypeError, match="takes 2 arguments but 1"):
        exe(good)
    with pytest.raises(TypeError, match="argument x must be an array"):
        exe(1.0, good)

"""Plans: their JSON form, the facts they check, and the size of the grid."""

from __future__ import annotations

import numpy as np
import pytest

import pytocu
from pytocu.errors import PytocuError
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
    assert repr(again.steps) == repr(plan.steps)
    assert not again.locs


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 99}', '{"version": 1}', "\x00"])
def test_damaged_json_is_refused(text):
    with pytest.raises(PytocuError):
        plan_from_json(text)


def info_of(array):
    info = arrays.describe(array, "x")
    assert info is not None
    return info


def test_offsets_past_32_bits_need_wide_indices():
    plan = compiled(lambda x: x + 1, "i8[n]").plan
    wide = compiled(lambda x: x + 1, "i8[n]", index_bits=64).plan
    small = info_of(np.zeros(1000, np.int8))
    assert plan.fits({"n": 1000}, {0: small})
    for length in (2**30, 2**31 - 1, 2**31, 2**40):
        assert not plan.fits({"n": length}, {0: small})
        assert wide.fits({"n": length}, {0: small})


def test_a_broadcast_result_counts_not_only_the_inputs():
    plan = compiled(lambda x, y: x[:, None] * y, "f32[n]", "f32[m]").plan
    small = info_of(np.zeros(10, np.float32))
    assert plan.fits({"n": 1000, "m": 1000}, {0: small, 1: small})
    assert not plan.fits({"n": 2**16, "m": 2**16}, {0: small, 1: small})


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

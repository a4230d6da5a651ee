"""The float32 formulas of GPUs, compiled for the CPU so that millions of numbers are tried."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir.core import OPS
from pytocu.passes import pipeline
from pytocu.passes.context import Target
from pytocu.testing.compare import compare, edge_values, ulp_distance
from pytocu.testing.matrix import call_threads


@pytest.fixture
def gpu_formulas(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Code for the CPU with the formulas of GPUs."""
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path))

    def as_on_a_gpu(step: pipeline.Pass) -> pipeline.Pass:
        return step._replace(run=lambda function, context: step.run(function, context._replace(target=Target("cuda"))))

    steps = tuple(as_on_a_gpu(step) if step.name == "expand" else step for step in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)


def tangent(x):
    return np.tan(x)


def sine(x):
    return np.sin(np.clip(x, -65536.0, 65536.0))


def cosine(x):
    return np.cos(np.clip(x, -65536.0, 65536.0))


def sine_of_any(x):
    return np.sin(x)


def cosine_of_any(x):
    return np.cos(x)


def angle(y, x):
    return np.arctan2(y, x)


def hypotenuse(x, y):
    return np.hypot(x, y)


def logarithm(x):
    return np.log(x)


def hyperbolic(x):
    return np.tanh(x)


def nearest(function: Any, *operands: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return function(*(x.astype(np.float64) for x in operands)).astype(np.float32)


@pytest.mark.usefixtures("gpu_formulas")
def test_tangent_of_every_size_of_number() -> None:
    """Every 509th float32, and the neighbours of multiples of pi / 2, where most digits cancel."""
    every = np.arange(0, 1 << 31, 509, dtype=np.uint32).view(np.float32)
    multiples = (np.arange(1, 60_000) * (np.pi / 2)).astype(np.float32)
    near = [np.nextafter(multiples, np.float32(to)) for to in (0, np.inf)]
    x = np.concatenate([every[np.isfinite(every)], multiples, *near])
    x = np.concatenate([x, -x])
    actual = pytocu.jit(tangent)(x)
    assert ulp_distance(actual, nearest(np.tan, x)).max() <= OPS["tan"].ulp
    assert (actual != nearest(np.tan, x)).any(), "the tangent of the C library was called"


@pytest.mark.parametrize("function", [sine_of_any, cosine_of_any, tangent])
def test_large_angles_leave_the_bits_of_their_neighbours(function: Any) -> None:
    """Four lanes have one test of their angles: if one is large, all are computed again, one by one."""
    small = np.linspace(-60_000, 60_000, 4 * 64, dtype=np.float32)
    small[5::16] = -0.0
    large = np.float32([65536.0, 65544.0, 1e6, -3e9, 1e20, -3.4e38, np.inf, -np.inf, np.nan])
    alone = call_threads(function, small)
    for lane in range(4):
        x = small.copy()
        x[lane::8] = np.resize(large, x[lane::8].size)
        actual = call_threads(function, x)
        kept = np.ones(x.size, bool)
        kept[lane::8] = False
        np.testing.assert_array_equal(actual[kept].view(np.uint32), alone[kept].view(np.uint32))
        with np.errstate(invalid="ignore"):
            assert ulp_distance(actual, nearest(function, x)).max() <= OPS["sin"].ulp


@pytest.mark.parametrize(("function", "name"), [(sine_of_any, "sin"), (cosine_of_any, "cos"), (tangent, "tan")])
@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_code_for_large_angles_is_there_once(function: Any, name: str, backend: str) -> None:
    compiled = pytocu.jit(function, backend=backend).lower("f32[n]").compile("cuda:sm_90")
    (kernel,) = compiled.kernels
    # One for a lane of a vector, one for the elements behind the vectors.
    assert kernel.ir.count(f"outlined_{name}") == 2
    calls = [line for line in compiled.source.splitlines() if re.search(rf"\b(?:__nv_)?{name}f?\(", line)]
    assert len([line for line in calls if not line.startswith("declare")]) == 1
    assert compiled.binary


@pytest.mark.usefixtures("gpu_formulas")
@pytest.mark.parametrize("function", [sine, cosine])
def test_sines_of_angles_that_are_known_to_be_small(function: Any) -> None:
    """Every 509th float32, and the neighbours of multiples of pi / 2, where most digits cancel."""
    every = np.arange(0, int(np.float32(65536).view(np.uint32)) + 1, 509, dtype=np.uint32).view(np.float32)
    multiples = (np.arange(1, 41_722) * (np.pi / 2)).astype(np.float32)
    near = [np.nextafter(multiples, np.float32(to)) for to in (0, np.inf)]
    x = np.concatenate([every, multiples, *near, np.float32([65536.0])])
    x = np.concatenate([x, -x])
    jitted = pytocu.jit(function)
    actual = jitted(x)
    assert ulp_distance(actual, nearest(function, x)).max() <= OPS["sin"].ulp
    assert (actual != nearest(function, x)).any(), "the function of the C library was called"
    if function is sine:
        assert np.signbit(jitted(np.float32([-0.0, 0.0]))).tolist() == [True, False]
    assert np.isnan(jitted(np.float32([np.nan]))).all()


@pytest.mark.usefixtures("gpu_formulas")
def test_sines_of_halves() -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for function in (np.sin, np.cos):
        jitted = pytocu.jit(lambda x, function=function: function(x))
        assert "half_to_float" in jitted.lower("f16[n]").ir(after="expand", target="cuda")
        assert " sin " not in (text := jitted.lower("f16[n]").ir(after="expand", target="cuda")) and " cos " not in text
        with np.errstate(all="ignore"):
            exact = function(x.astype(np.float64)).astype(np.float16)
        assert ulp_distance(jitted(x), exact).max() <= 1


@pytest.mark.usefixtures("gpu_formulas")
def test_hypotenuse_of_every_size_of_number() -> None:
    random = np.random.default_rng(0)
    x = random.integers(0, 2**32, 1_000_000, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        comparable = x * random.uniform(-2, 2, x.size).astype(np.float32)
    for y in (random.permutation(x), comparable):
        actual, rounded = pytocu.jit(hypotenuse)(x, y), nearest(np.hypot, x, y)
        assert ulp_distance(actual, rounded).max() <= OPS["hypot"].ulp
        assert (actual != rounded).any(), "the function of the C library was called"


def test_special_numbers() -> None:
    x = edge_values("f4", 80)
    compare(call_threads(tangent, x[[0, 1, 2, 3]]), np.array([0.0, -0.0, np.nan, np.nan], np.float32))
    pair = np.repeat(x, x.size), np.tile(x, x.size)
    compare(call_threads(hypotenuse, *pair), nearest(np.hypot, *pair), exact=False, ulp=1)


def test_angles_of_points() -> None:
    """Numbers of every size, of like size, and all edge values."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    x = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        comparable = x * random.uniform(-2, 2, x.size).astype(np.float32)
    edges = edge_values("f4", 80)
    pairs = (random.permutation(x), x), (comparable, x), (np.repeat(edges, edges.size), np.tile(edges, edges.size))
    for across, along in pairs:
        actual, rounded = call_threads(angle, across, along), nearest(np.arctan2, across, along)
        compare(actual, rounded, exact=False, ulp=2)
        numbers = ~np.isnan(rounded)
        assert np.array_equal(np.signbit(actual[numbers]), np.signbit(rounded[numbers]))


def of_every_size(random: np.random.Generator) -> np.ndarray:
    """Random bits, subnormal numbers and edge values."""
    bits = random.integers(0, 2**32, 50_000, dtype=np.uint32), random.integers(0, 2**23, 5_000, dtype=np.uint32)
    return np.concatenate([*(b.view(np.float32) for b in bits), edge_values("f4", 80)])


def test_logarithms() -> None:
    """Numbers of every size and near 1, and what has no logarithm."""
    random = np.random.default_rng(0)
    near = random.uniform(0.4, 2, 50_000), 1 + random.normal(0, 1e-3, 20_000)
    ends = np.float32([2 / 3, 4 / 3, np.finfo(np.float32).tiny, -1e-40, -1, -np.inf])
    x = np.concatenate([of_every_size(random), *(n.astype(np.float32) for n in near), ends])
    actual = call_threads(logarithm, x)
    compare(actual, nearest(np.log, x), exact=False, ulp=OPS["log"].ulp)
    with np.errstate(all="ignore"):
        assert (actual != np.log(x)).any(), "the function of the library was called"


def test_hyperbolic_tangents() -> None:
    """Numbers of every size, and about the one from which there is no polynomial."""
    random = np.random.default_rng(0)
    near = random.uniform(-10, 10, 50_000), random.uniform(0.5, 0.7, 50_000)
    x = np.concatenate([of_every_size(random), *(n.astype(np.float32) for n in near)])
    actual, rounded = call_threads(hyperbolic, x), nearest(np.tanh, x)
    compare(actual, rounded, exact=False, ulp=OPS["tanh"].ulp)
    numbers = ~np.isnan(rounded)
    assert np.array_equal(np.signbit(actual[numbers]), np.signbit(rounded[numbers]))
    assert (actual != np.tanh(x)).any(), "the function of the library was called"

"""NumPy's own value sets of the elementary functions, every line of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import ulp_distance
from pytocu.testing.fuzz import call_cpu
from pytocu.testing.matrix import call_threads
from pytocu.testing.operands import make_function
from pytocu.testing.value_sets import ValueSet, directory, value_sets

SETS = list(value_sets())
pytestmark = pytest.mark.skipif(not SETS, reason=f"NumPy was installed without its tests: {directory()}")


def named(found: ValueSet) -> str:
    return f"{found.op.numpy} {found.inputs.dtype}"


def beyond(found: ValueSet, call: Any, numpys: bool = False) -> list[str]:
    """The lines whose output is further off than the row's bound, or than NumPy states for its own functions."""
    function = make_function("x", [f"np.{found.op.numpy}(x)"], {"np": np})
    with np.errstate(all="ignore"):
        (actual,) = call(function, found.inputs)
    assert actual.dtype == found.outputs.dtype and actual.shape == found.outputs.shape
    bad = ulp_distance(actual, found.outputs) > np.maximum(found.op.ulp, found.stated * numpys)
    return [f"{x!r}: {a!r}, not {e!r}" for x, a, e in zip(found.inputs[bad], actual[bad], found.outputs[bad], strict=True)]


def test_sets_are_all_there() -> None:
    assert len({found.op.name for found in SETS}) >= 20
    assert sum(found.inputs.size for found in SETS) > 25_000
    assert {found.inputs.dtype for found in SETS} == {np.dtype(np.float32), np.dtype(np.float64)}


@pytest.mark.parametrize("found", SETS, ids=named)
def test_values(found: ValueSet) -> None:
    wrong = beyond(found, call_cpu)
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("call", [call_interpreted, call_threads], ids=["interpreter", "threads"])
@pytest.mark.parametrize("found", SETS, ids=named)
def test_values_interpreted(found: ValueSet, call: Any) -> None:
    """The interpreters call NumPy's functions, whose float32 logarithm is 4 units off with AVX-512."""
    wrong = beyond(found, call, numpys=True)
    assert not wrong, "\n".join(wrong[:10])


def test_wrong_values_are_seen() -> None:
    exp = next(found for found in SETS if found.op.name == "exp")

    def worse(function: Any, x: np.ndarray) -> Any:
        (value,) = call_cpu(function, x)
        return (value * value.dtype.type(1 + 2e-6),)

    assert len(beyond(exp, worse)) > 50

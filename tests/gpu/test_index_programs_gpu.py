"""Random programs of every kind of index on a GPU: NumPy's bits, what they change included.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import copy
import linecache
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare
from pytocu.testing.index_programs import index_programs

pytestmark = pytest.mark.gpu


def back(cupy: Any, value: Any) -> Any:
    """What NumPy would have: arrays on the host, and a NumPy scalar for an array without axes."""
    if isinstance(value, tuple):
        return tuple(back(cupy, v) for v in value)
    return cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value


def array(value: Any) -> Any:
    """As :func:`back` has it: device arrays without axes stand for NumPy's scalars."""
    return tuple(map(array, value)) if isinstance(value, tuple) else np.asarray(value)


@pytest.mark.parametrize("seed", range(100, 106))
def test_random_programs(seed: int) -> None:
    cupy = pytest.importorskip("cupy")
    make = index_programs(random.Random(seed).choice)
    seen = 0
    for number in range(30):
        program = make()
        name = f"<index {seed} {number}>"
        linecache.cache[name] = (0, None, program.source.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(program.source, name, "exec"), namespace)
        function = namespace["program"]
        wanted = copy.deepcopy(program.arguments)
        expected = function(*wanted)
        given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in program.arguments]
        try:
            actual = pytocu.jit(function)(*given)
            pytocu.synchronize()
        except UnsupportedError as error:
            assert "NumPy would repeat" in str(error), program.source
            continue
        try:
            compare(array((back(cupy, actual), *back(cupy, tuple(given)))), array((expected, *wanted)))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{program.source}with {program.arguments}") from error
        seen += 1
    assert seen > 24

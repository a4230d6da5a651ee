"""The programs of examples/ on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_whole_programs import PROGRAMS, agree, in_numpy, program

pytestmark = pytest.mark.gpu


def fetched(cupy: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(fetched(cupy, v) for v in value)
    return cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value


@pytest.mark.parametrize("size", [8, 300])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_numpy_gives(cupy: Any, name: str, size: int) -> None:
    names = program(name)
    given = names["arguments"](size, np.random.default_rng(size))
    expected = in_numpy(names, given)
    device = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in given]
    made = fetched(cupy, names["PROGRAM"](*device))
    expected = tuple(np.asarray(e) for e in expected) if isinstance(expected, tuple) else np.asarray(expected)
    agree(made, expected, max(names.get("WITHIN", 0), 1e-6 if name == "shallow_water" else 0))

"""How much the compiler looks at grows with the program, and not with its square."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.frontend import ranges
from pytocu.passes import accesses
from pytocu.testing.fuzz_programs import make


def neighbours(count: int) -> Any:
    """A loop that reads and changes so many elements behind each other in a step."""
    lines = [f"        t{k} = a[i + {k}] * 0.5\n        a[i + {k}] = t{k} + {k}\n" for k in range(count)]
    total = " + ".join(f"t{k}" for k in range(count))
    return make(f"def f(a, n):\n    for i in range(n):\n{''.join(lines)}        a[i] += {total}\n    return a\n", "f")


@pytest.mark.parametrize(("module", "name"), [(ranges, "substitute"), (accesses, "operands")])
def test_positions_of_many_statements(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = getattr(module, name), 0

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return real(*args)

    monkeypatch.setattr(module, name, counted)
    found: list[int] = []
    for count in (10, 40):
        calls = 0
        pytocu.jit(neighbours(count)).lower("f64[m]", "weak int").compile("cpu")
        found.append(calls)
    # The same for each statement, and not more for each that was before it.
    assert 0 < found[1] < 6 * found[0], found


def test_neighbours_give_what_numpy_gives() -> None:
    everywhere(neighbours(6), np.linspace(0.0, 1.0, 12), 5)

"""Texts of exceptions that show what a GPU has computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_texts_of_exceptions import behind_changes, behind_what_may_fail, grows, in_a_helper, in_steps, of_numpy

import pytocu

pytestmark = pytest.mark.gpu

PROGRAMS: list[tuple[Callable[..., Any], np.ndarray, range]] = [
    *[(of_numpy, np.array([1, 100, 101]).astype(dtype), range(1, 8)) for dtype in ("?", "i4", "u8", "f2", "f4", "f8", "c16")],
    *[(program, x, range(-1, 6)) for program in (in_steps, behind_changes, grows, in_a_helper, behind_what_may_fail)
      for x in (np.array([0.1, 2, 3, -4, 50]), np.array([0.25, -1, 3, -4, 100], "f4"))],
]  # fmt: skip


def text_of(call: Callable[[], Any]) -> str:
    """What a call raises; nothing for what raises nothing."""
    try:
        call()
    except Exception as error:
        return str(error).partition("\n")[0]
    return ""


@pytest.mark.parametrize(("program", "x", "numbers"), PROGRAMS, ids=lambda v: getattr(v, "__name__", "") or str(v))
def test_texts(program: Callable[..., Any], x: np.ndarray, numbers: range, cupy: Any) -> None:
    compiled = pytocu.jit(program)
    found, wanted = [], []
    for n in numbers:
        wanted.append(text_of(lambda n=n: program(x.copy(), n)))
        # What a kernel notes is raised when the host waits for the GPU.
        found.append(text_of(lambda n=n: (compiled(cupy.array(x), n), pytocu.synchronize())))
    assert found == wanted
    assert any(wanted)

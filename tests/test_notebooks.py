"""Cells of IPython: functions are compiled from the text of their cell, and a cell that is run again compiles again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def shell() -> Any:
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="needs IPython: pip install 'pytocu[docs]'")
    program = sys.modules["__main__"]
    made = interactive.InteractiveShell.instance()
    made.run_cell("%reset -f")
    made.run_cell("import numpy as np, pytocu")
    yield made
    interactive.InteractiveShell.clear_instance()
    # The shell has put its own in the place of the program's, which processes that are spawned later look for.
    sys.modules["__main__"] = program


def value(shell: Any, text: str) -> Any:
    done = shell.run_cell(text)
    done.raise_error()
    return done.result


def test_a_cell_that_is_run_again_compiles_again(shell: Any) -> None:
    value(shell, "@pytocu.jit\ndef gain(x):\n    return x * 2")
    assert value(shell, "gain(np.ones(2))").tolist() == [2, 2]
    value(shell, "@pytocu.jit\ndef gain(x):\n    return x * 3")
    assert value(shell, "gain(np.ones(2))").tolist() == [3, 3]


def test_what_another_cell_changes_counts(shell: Any) -> None:
    value(shell, "offset = 1.0\ndef curve(x):\n    return x * x")
    value(shell, "@pytocu.jit\ndef lifted(x):\n    return curve(x) + offset")
    assert value(shell, "lifted(np.arange(3.0))").tolist() == [1, 2, 5]
    value(shell, "def curve(x):\n    return x * x * x")
    assert value(shell, "lifted(np.arange(3.0))").tolist() == [1, 2, 9]
    value(shell, "offset = 10.0")
    assert np.array_equal(value(shell, "lifted(np.arange(3.0))"), [10, 11, 18])
    assert value(shell, "len(lifted.specializations)") == 3


def test_a_report_shows_the_cell(shell: Any) -> None:
    value(shell, "@pytocu.jit\ndef curve(x):\n    return np.exp(-x) * 2")
    page = value(shell, "from pytocu.report.page import html_report; html_report(curve.lower('f32[n]'))")
    assert "return np.exp(-x) * 2" in page

"""The programs of examples/ that are more than one expression: every size gives what NumPy gives."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.testing.cases import close
from pytocu.testing.compare import compare

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py") if "\nPROGRAM = " in path.read_text())
KERNELS = {
    "edges": 3, "equalise": 3, "escape_time": 2, "filter": 2, "implicit_heat": 2, "jacobi": 4, "kmeans": 5, "life": 2,
    "mandelbrot": 1, "monte_carlo": 2, "nbody": 6, "network": 10, "shallow_water": 6, "time_warping": 3,
}  # fmt: skip
"""Kernels of each: in front of its loop, of one turn, and behind it."""


def program(name: str) -> dict[str, Any]:
    """What the file of an example defines."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def agree(made: Any, expected: Any, within: float) -> None:
    """The same kinds, dtypes, shapes, and bits where sums are not in another order."""
    if within:
        close(made, expected, within)
    else:
        compare(made, expected)


def in_numpy(names: dict[str, Any], given: tuple[Any, ...]) -> Any:
    """What the program gives in Python, and the functions of scalars that it calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTOCU_DISABLE", "1")
        return names["PROGRAM"].__wrapped__(*copies(given))


def copies(given: tuple[Any, ...]) -> list[Any]:
    """Arguments that a call may change."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in given]


def test_there_are_twelve():
    assert len(PROGRAMS) >= 12


@pytest.mark.every
@pytest.mark.parametrize("size", [5, 8, 37, 130])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_numpy_gives(name: str, size: int):
    names = program(name)
    given = names["arguments"](size, np.random.default_rng(size))
    expected = in_numpy(names, given)
    agree(names["PROGRAM"](*copies(given)), expected, names.get("WITHIN", 0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_thread_by_thread(name: str):
    names = program(name)
    given = names["arguments"](11, np.random.default_rng(1))
    host = names["PROGRAM"].lower(*given).host("cuda:sm_90")
    made = interp.arrange(host.body.terminator.attr("tree"), interp.run(host, copies(given)))
    agree(made, in_numpy(names, given), names.get("WITHIN", 0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_built_for_gpus(name: str):
    names = program(name)
    lowered = names["PROGRAM"].lower(*names["arguments"](11, np.random.default_rng(1)))
    compiled = lowered.compile("cuda:sm_90")
    # The assembler may keep a few bytes of a thread out of its registers.
    assert compiled.binary and all(r.local_bytes <= 32 for r in compiled.resources)
    assert len(lowered.kernels) == KERNELS[name]


def test_one_size_serves_all():
    names = program("shallow_water")
    function = pytocu.jit(names["PROGRAM"].__wrapped__)
    for size in (9, 20, 33):
        function(*names["arguments"](size, None))
    assert len(function.specializations) == 1

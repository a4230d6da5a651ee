"""``warnings.warn``: given where the program comes to it, with Python's text, class and line."""

# ruff: noqa: B028
from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare


class OwnWarning(RuntimeWarning):
    """A class of the program's."""


def plain(x, n):
    warnings.warn("this is slow")
    return x * n


def of_a_run(x, n):
    if x.max() > n:
        warnings.warn(f"{x.max():.2f} is above {n}, of {x.shape}", RuntimeWarning)
    return x * n


def in_steps(x, n):
    for i in range(n):
        x = x + 1
        if i % 2:
            warnings.warn("step %d: %s" % (i, x[0]), category=OwnWarning)  # noqa: UP031
    return x


def in_steps_of_elements(x, n):
    total = 0.0
    for i in range(len(x)):
        if x[i] < n:
            warnings.warn("small")
        total += x[i]
    return total, n


def on_both_sides(x, n):
    if n > 2:
        warnings.warn("large", DeprecationWarning)
        x = x * 2
    else:
        warnings.warn(UserWarning(f"small: {n}"))
    warnings.warn("the end")
    return x


def checked(v, name):
    if v < 2:
        warnings.warn(f"{name} is {v}", stacklevel=2)
    return v


def in_a_helper(x, n):
    return checked(n, "n") + checked(x[0], "first")


def changes_before(x, n):
    x[0] = 7
    if n > 1:
        warnings.warn("changed")
    x[1] = 8
    return x[0] + n


def before_an_exception(x, n):
    warnings.warn("soon")
    raise ValueError("now")


PROGRAMS = [
    plain, of_a_run, in_steps, in_steps_of_elements, on_both_sides, in_a_helper, changes_before, before_an_exception,
]  # fmt: skip


def given(call: Callable[..., Any], arguments: tuple[Any, ...], filter: str) -> tuple[Any, list[Any]]:
    """What a call gives, with what it leaves in its arguments, or raises, and its warnings."""
    arguments = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if filter == "error":
            warnings.filterwarnings("error", category=RuntimeWarning)
            warnings.filterwarnings("error", message="changed")
        try:
            made = call(*arguments)
        except (Warning, ValueError) as error:
            made = str(error).partition("\n")[0]
    return (made, arguments), [(str(w.message), w.category, w.filename, w.lineno) for w in found]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("filter", ["always", "error"])
@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_warnings_are_pythons(program: Callable[..., Any], filter: str, n: int) -> None:
    arguments = (np.array([1.5, 2, 4]), n)
    expected, wanted = given(program, arguments, filter)
    jitted = pytocu.jit(program)

    def interpreted(*args: Any) -> Any:
        low = jitted.lower(*args)
        return interp.arrange(low.function.body.terminator.attr("tree"), interp.run(low.function, list(args)))

    def of_a_gpu(*args: Any) -> Any:
        low = jitted.lower(*args)
        return interp.arrange(low.function.body.terminator.attr("tree"), interp.run(low.host("cuda"), list(args)))

    for call in (jitted, jitted, interpreted, of_a_gpu):
        made, found = given(call, arguments, filter)
        assert found == wanted
        if call is jitted and filter == "always":
            # How much was written before an exception depends on where that is seen.
            compare(made[1], expected[1])
        if isinstance(expected[0], str):
            assert made[0] == expected[0]
        else:
            compare(made[0], expected[0])


def test_the_line_above_the_function() -> None:
    def above(x):
        warnings.warn("from above", stacklevel=2)
        return x + 1

    jitted = pytocu.jit(above)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            above(np.ones(2)), jitted(np.ones(2))
        assert [w.filename for w in found] == [__file__] * 2
        assert found[0].lineno == found[1].lineno


def test_a_place_warns_once_by_default(tmp_path: Path) -> None:
    file = tmp_path / "once.py"
    file.write_text("""
import sys, warnings
import numpy as np, pytocu

def f(x):
    for _ in range(3):
        warnings.warn("once")
    return x + 1

for _ in range(3):
    (pytocu.jit(f) if len(sys.argv) > 1 else f)(np.ones(3))
""")
    folder = str(Path(pytocu.__file__).parents[1])
    said = [
        subprocess.run([sys.executable, str(file), *words], capture_output=True, text=True, env={"PYTHONPATH": folder}).stderr
        for words in ((), ("jit",))
    ]
    assert said[0].count("UserWarning: once") == 1
    assert said[0] == said[1]


def test_elements_do_not_warn() -> None:
    def f(x):
        warnings.warn("each")
        return x

    with pytest.raises(UnsupportedError, match=r"warnings\.warn in a vectorized function"):
        pytocu.vectorize(f)(np.ones(3))

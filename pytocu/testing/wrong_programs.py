"""Programs that are wrong, and what each prints: the page of the docs about errors.

``python -m pytocu.testing.wrong_programs --write docs/errors.md``; a test holds that the page is up to date.
"""

from __future__ import annotations

import argparse
import linecache
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytocu.errors import PytocuError
from pytocu.jitted import jit

_HEAD = """# Errors

What is wrong with a program is said with the line, a caret, what each operand is and where it comes from, and what to write
instead. The classes are NumPy's and Python's own, so `except ValueError` keeps working; a shape or dtype error has NumPy's
sentence. Several errors of one function are said at once, also those in loops and branches and in what it calls. What NumPy or
Python refuses in a side of a branch, or in a loop that may have no step, is raised by the run that comes there, and by no
other; what pytocu does not do is refused at once. The text of an exception that the program raises is Python's, with the
numbers, NumPy scalars and shapes of the run in it; that of a vectorized function shows their types. The traceback has the line
of the call and at most one line of pytocu, the entry of the function; `PYTOCU_DEBUG=1` keeps all. A defect of pytocu itself
names the step that failed and the folder that reproduces it.

This page is written by `python -m pytocu.testing.wrong_programs --write docs/errors.md`.
"""


class Wrong(NamedTuple):
    """A program and the arguments of the call that fails."""

    title: str
    body: str
    arguments: str
    section: str


def _section(name: str, *programs: tuple[str, str, str]) -> tuple[Wrong, ...]:
    return tuple(Wrong(title, textwrap.dedent(body).strip("\n"), arguments, name) for title, body, arguments in programs)


_ONES = "np.ones(3)"
_GRID = "np.ones((4, 3), np.float32)"

PROGRAMS: tuple[Wrong, ...] = (
    *_section(
        "Shapes",
        ("lengths that do not fit", "def f(points, weights):\n    total = points + 1\n    return total * weights",
         "np.ones((4, 2)), np.ones((4, 3))"),
        ("fixed lengths that do not fit", "def f(x, y):\n    return np.maximum(x[:, :2], y[:3])",
         f"{_GRID}, {_GRID}"),
        ("an assignment of another shape", "def f(u, v):\n    u[1:3] = v\n    return u", "np.ones(8), np.ones(4)"),
        ("an axis that is not there", "def f(x):\n    return x.sum(axis=2)", _GRID),
        ("too many indices", "def f(x):\n    return x[0, 1, 2]", _GRID),
        ("a length of an axis that is not there", "def f(x):\n    return x / x.shape[2]", _GRID),
        ("a shape that is no tuple", "def f(x):\n    return x + np.zeros(3, 4)", _GRID),
        ("a reshape that does not fit", "def f(x):\n    return x.reshape(5, 2)", "np.ones(12)"),
        ("arrays that do not join", "def f(x, y):\n    return np.concatenate([x, y], axis=1)",
         "np.ones((2, 3)), np.ones((3, 3))"),
        ("the extreme of nothing", "def f(x):\n    return x.max()", "np.ones(0)"),
    ),
    *_section(
        "Dtypes",
        ("bits of floats", "def f(x, mask):\n    y = x * 2\n    return y & mask", f"{_ONES}, np.array([True, False, True])"),
        ("a float into an integer array", "def f(n, x):\n    n += x\n    return n", f"np.arange(3), {_ONES}"),
        ("a number that does not fit", "def f(x):\n    return x + 300", "np.ones(3, np.uint8)"),
        ("a minus of booleans", "def f(a, b):\n    return a - b", "np.array([True]), np.array([False])"),
        ("rounding of complex numbers", "def f(z):\n    return np.floor(z)", "np.ones(3, np.complex64)"),
        ("objects", "def f(x):\n    return x + 1", "np.array([1, None])"),
        ("a dtype that does not exist", "def f(x):\n    return x.astype('flot32')", _ONES),
        ("long doubles", "def f(x):\n    return x.astype(np.longdouble)", _ONES),
    ),
    *_section(
        "Names",
        ("a name that is not there", "def f(values):\n    return valus * 2", _ONES),
        ("a function NumPy does not have", "def f(x):\n    return np.maximun(x, 0)", _ONES),
        ("an attribute that is not there", "def f(x):\n    return x.shap[0] * x", _ONES),
        ("an argument that is not there", "def f(x):\n    return np.sum(x, axes=0)", _ONES),
        ("a key that is not there", "RATES = {'slow': 0.1, 'fast': 0.9}\n\ndef f(x):\n    return x * RATES['fst']", _ONES),
        ("a variable before its value", "def f(x):\n    y = x + z\n    z = 1\n    return y", _ONES),
        ("a call with too few arguments", "def f(x, y):\n    return x + y", _ONES),
    ),
    *_section(
        "Values known only at run time",
        ("a branch on data", "def f(x):\n    if x > 0:\n        return x\n    return -x", _ONES),
        ("positions that are floats", "def f(x, i):\n    return x[i]", f"{_ONES}, np.array([0.0, 2.0])"),
        ("and of arrays", "def f(x):\n    return (x > 0) and (x < 1)", _ONES),
        ("a chained comparison", "def f(x):\n    return 0 < x < 1", _ONES),
        ("a total of no rows",
         "def f(x):\n    total = 0\n    for row in x:\n        total += row\n    return total", "np.ones((0, 3))"),
        ("a loop that goes beyond the end",
         "def f(x):\n    for k in range(len(x)):\n        x[k] = x[k + 1]\n    return x", _ONES),
        ("an array for which a loop has no room",
         "def f(x, y):\n    for k in range(len(y)):\n        x = y[:k + 1]\n    return x", "np.ones(3), np.ones(40)"),
        ("a complex number of an element", "def f(x):\n    return complex(x[0])", "np.ones(3, complex)"),
        ("a number in a text", "def f(x):\n    return f'{x.sum()}'", _ONES),
        ("an array in the text of an exception",
         "def f(x):\n    if x.sum() > 2:\n        raise ValueError(f'{x}')\n    return x", _ONES),
        ("an index beyond the end", "def f(x, i):\n    return x[i]", f"{_ONES}, np.array([0, 7])"),
    ),
    *_section(
        "Loops and branches",
        ("an array that gets an axis in every step",
         "def f(x, n):\n    for _ in range(n):\n        x = np.stack([x, x])\n    return x", "np.ones(3), 4"),
        ("a length that data square in a loop",
         "def f(x, k):\n    while x.sum() < k:\n        x = np.kron(x, x)\n    return x", "np.ones(3), 9.0"),
        ("a dtype that depends on a branch",
         "def f(x, k):\n    if x.sum() > k:\n        x = x * 2\n    else:\n        x = x.astype(np.float64)\n    return x",
         "np.ones(3, np.float32), 1.0"),
        ("a value of one side alone", "def f(x, k):\n    if x.sum() > k:\n        y = x * 2\n    return y", "np.ones(3), 4.0"),
        ("a list of one side alone", "def f(x, k):\n    if x.sum() > k:\n        parts = [x]\n    return parts[0]",
         "np.ones(3), 1.0"),
        ("a loop that asks an array", "def f(x):\n    while x > 0:\n        x = x - 1\n    return x", _ONES),
        ("a list of numbers of two kinds",
         "def f(x, n):\n    found = [0]\n    for k in range(n):\n        if x[k] > 0.5:\n            found.append(x)\n"
         "    return np.array(found)",
         "np.ones(4), 4"),
        ("results of two kinds",
         "def f(x, n):\n    for k in range(n):\n        if x.sum() > k:\n            return x\n    return x, n",
         "np.ones(3), 4"),
    ),
    *_section(
        "Masks and changed arguments",
        ("a mask of another length", "def f(x, mask):\n    return x[mask]", "np.ones(4), np.array([True, False])"),
        ("chosen elements beside all",
         "def f(x, y, mask):\n    return x[mask] + y", "np.ones(4), np.ones(4), np.array([True, False, True, True])"),
        ("a change that would grow", "def f(u, v):\n    u += v\n    return u", "np.ones(3), np.ones((2, 3))"),
        ("an array that may not be written", "def f(u):\n    u += 1\n    return u", "np.broadcast_to(np.float64(1), (3,))"),
        ("an output of another length", "def f(x, y, z):\n    return np.add(x, y, out=z)",
         "np.ones(3), np.ones(3), np.ones(4)"),
    ),
    *_section(
        "Functions of libraries",
        ("matrices that do not fit", "def f(a, b):\n    return a @ b", "np.ones((3, 4)), np.ones((3, 4))"),
        ("a keyword that is not there", "def f(x):\n    return np.sort(x, kin='stable')", _ONES),
        ("a matrix without an inverse", "def f(a, b):\n    return np.linalg.solve(a, b)", "np.ones((3, 3)), np.ones(3)"),
        ("a function that is not compiled", "def f(x):\n    return np.linalg.eig(x)", "np.ones((3, 3))"),
    ),
    *_section(
        "What is not compiled",
        ("a with statement", "def f(x, lock):\n    with lock:\n        return x + 1", "np.ones(3), None"),
        (
            "a match statement with a mapping",
            'def f(x, k):\n    match k:\n        case {"scale": s}:\n            return x * s',
            'np.ones(3), {"scale": 2.0}',
        ),
        ("an object of a class as a number", "class Box:\n    pass\nBOX = Box()\ndef f(x):\n    return x + BOX", _ONES),
        ("printing", "def f(x):\n    print(x)\n    return x", _ONES),
        ("random numbers", "def f(x):\n    return x + np.random.rand(3)", _ONES),
        ("a captured array", "TABLE = np.arange(3.0)\ndef f(x):\n    return x + TABLE", _ONES),
        ("an exception that data decide on, and that is caught",
         "def f(x, k):\n    try:\n        return x[k]\n    except IndexError:\n        return x[:1]",
         "np.ones(3), np.array([0, 4])"),
        ("a list as an argument", "def f(x, weights):\n    return x * weights", "np.ones(100), [0.5] * 100"),
        ("several errors at once",
         "def f(x, y):\n    a = x & y\n    b = a + 1\n    c = np.sine(x)\n    d = x + TABEL\n    return b, x.sizes",
         f"{_ONES}, {_ONES}"),
        ("several errors in a loop that has steps",
         "def f(x, steps):\n    for k in range(steps):\n        y = np.sine(x)\n        x = x + y\n        if k > 2:\n"
         "            x = np.zeros_lik(x)\n    return x",
         f"{_ONES}, 5"),
    ),
)  # fmt: skip
"""In the order of the page."""


def printed(program: Wrong) -> str:
    """What a call of the program says, with its class.

    Raises
    ------
    AssertionError
        The call does not fail.
    """
    text = program.body + "\n"
    file = "program.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    arguments = eval(f"({program.arguments},)", {"np": np})
    try:
        jit(scope["f"])(*arguments)
    except PytocuError as error:
        return f"{_kind(error)}: {error}".rstrip()
    except TypeError as error:
        # Python itself binds the arguments of a call.
        return f"TypeError: {error}"
    raise AssertionError(f"{program.title}: no error")


def _kind(error: PytocuError) -> str:
    return type(error).__name__


def _lines() -> Iterator[str]:
    yield _HEAD
    section = ""
    for program in PROGRAMS:
        if program.section != section:
            section = program.section
            yield f"\n## {section}\n"
        yield f"\n### {program.title[0].upper()}{program.title[1:]}\n\n"
        call = re.sub(r"\s+", " ", f"f({program.arguments})")
        yield f"<!-- example: no -->\n```python\n{program.body}\n\n{call}\n```\n\n"
        yield f"```text\n{_trimmed(printed(program))}\n```\n"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


def page() -> str:
    """The whole page."""
    return "".join(_lines())


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.wrong_programs [--write FILE]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.wrong_programs", description=main.__doc__)
    parser.add_argument("--write", type=Path, help="where to write the page; printed otherwise")
    options = parser.parse_args(argv)
    if options.write:
        options.write.write_text(page())
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

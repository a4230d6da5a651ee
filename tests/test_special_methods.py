"""Operators, ``len``, ``[]``, ``in`` and loops over objects whose classes say what they do: methods are read as any other."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.array([0.5, -1.25, 2.0, 3.0])


class Dual:
    """A number and its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    @staticmethod
    def of(other):
        return other if isinstance(other, Dual) else Dual(other)

    def __add__(self, other):
        other = Dual.of(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __sub__(self, other):
        return self + -Dual.of(other)

    def __rsub__(self, other):
        return Dual(other) - self

    def __mul__(self, other):
        other = Dual.of(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other):
        other = Dual.of(other)
        slope = (self.slope * other.value - self.value * other.slope) / (other.value * other.value)
        return Dual(self.value / other.value, slope)

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __abs__(self):
        return Dual(np.abs(self.value), np.sign(self.value) * self.slope)

    def __lt__(self, other):
        return self.value < Dual.of(other).value

    def __gt__(self, other):
        return self.value > Dual.of(other).value

    def __eq__(self, other):
        return np.array_equal(self.value, other.value)

    def __iter__(self):
        return iter((self.value, self.slope))


UNIT = Dual(2.0, 1.0)


def polynomial(t):
    return 3 * t * t - t / (t * t + 1) + (1 - t) ** 2 - 0.5


def slopes(x):
    found = polynomial(Dual(x, np.ones_like(x)))
    return found.value, found.slope


def slopes_in_steps(x):
    t = Dual(x, np.ones_like(x))
    for _ in range(len(x)):
        t = t * 0.5 + UNIT
        t -= 0.25
    return t.value, t.slope


def newton(x):
    root = 1.0
    for _ in range(8):
        at = polynomial(Dual(root, 1.0))
        root = root - at.value / at.slope
    return root


def slopes_by_data(x):
    t = Dual(x, x)
    t = t + t if x[0] > 0 else -t
    (value, slope), half = abs(t), 0.5
    return value, slope, t < 1, half > t, t == t, t != Dual(x), [part.sum() for part in t]


def of_a_sum(x):
    return sum([Dual(x, 1.0), Dual(x, 2.0)], Dual(0.0)).slope, sum([Dual(x), 1]).value


class Vector(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __eq__(self, other):
        return False


def named_tuples(x):
    v = Vector(x, 2 * x)
    w = -(v + v) * 3
    w += 2 * v
    return w, Vector(1, 2) == Vector(1, 2), Vector(1, 2) != Vector(1, 2)


class Table:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, key):
        return self.rows[key] * 2

    def __setitem__(self, key, value):
        self.rows[key] = value - 1

    def __contains__(self, value):
        return (self.rows == value).any()

    def __len__(self):
        return 3

    def __matmul__(self, other):
        return self.rows @ other

    def __iadd__(self, other):
        self.rows += other
        return self


def of_a_table(x):
    table = Table(x.reshape(2, 2).copy())
    other = table
    table[0] = 5.0
    table[1, 0] += 3
    table += 1
    return table.rows, table[:, 1], len(table), 4.0 in table, 99.0 in table, 99.0 not in table, table @ x[:2], other is table


class Plain:
    def __init__(self, name):
        self.name = name

    def __add__(self, other):
        return ("plain", self.name) if isinstance(other, Plain) else NotImplemented

    def __radd__(self, other):
        return "plain, from the right", self.name

    def __lt__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return NotImplemented


class Special(Plain):
    def __radd__(self, other):
        return "special", self.name


def which_is_asked(x):
    plain, special = Plain(1), Special(2)
    both = plain + special, special + plain, plain + plain, 1 + plain, special + Special(3)
    return both, plain == special, plain != special, plain == plain, x.sum() + plain


class Leaves:
    """NumPy leaves operators with it to its class."""

    __array_ufunc__ = None

    def __init__(self, value):
        self.value = value

    def __rmul__(self, other):
        return other * self.value

    def __rmatmul__(self, other):
        return other @ self.value


def left_to_the_class(x):
    return x * Leaves(x), x[0] * Leaves(2), 3 * Leaves(x), x @ Leaves(x)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


def of_an_argument(p):
    total = p
    for _ in range(3):
        total = total + p
    return total.x, total.y


FUNCTIONS = [
    slopes, slopes_in_steps, newton, slopes_by_data, of_a_sum, named_tuples, of_a_table, which_is_asked, left_to_the_class,
]  # fmt: skip


def plain(value):
    """Named tuples as tuples, and texts as whether they are these."""
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value)) if not hasattr(value, "_fields") else tuple(map(plain, value))
    return sum(map(ord, value)) if isinstance(value, str) else value


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_methods_of_operators(function: Callable[..., Any]) -> None:
    compare(plain(pytocu.jit(function)(X)), plain(function(X)), exact=False, ulp=4)


def test_operators_of_arguments() -> None:
    for value in (Point(X, 2 * X), Point(1.5, 2)):
        compare(pytocu.jit(of_an_argument)(value), of_an_argument(value))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plain(1) + 1", r"unsupported operand type\(s\) for \+: 'Plain' and 'int'"),
        ("Plain(1) < Plain(2)", "'<' not supported between instances of 'Plain' and 'Plain'"),
    ],
)
def test_what_no_class_answers(text: str, said: str) -> None:
    for call in (lambda: eval(text), lambda: pytocu.jit(SAID[text])(X)):
        with pytest.raises(TypeError, match=said):
            call()


SAID = {"Plain(1) + 1": lambda x: Plain(1) + 1, "Plain(1) < Plain(2)": lambda x: Plain(1) < Plain(2)}


def test_an_array_of_objects_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"of which NumPy would make objects(.|\n)*__array_ufunc__ = None"):
        pytocu.jit(lambda x: x + Plain(1))(X)


def test_another_method_of_the_class_compiles_again() -> None:
    class Scale:
        def __init__(self, by):
            self.by = by

        def __mul__(self, other):
            return other * self.by

    jitted = pytocu.jit(lambda x: Scale(3) * x)
    compare(jitted(X), X * 3)
    Scale.__mul__ = lambda self, other: other + self.by
    compare(jitted(X), X + 3)


def gone_over(x):
    d = Dual(x[0], x[1])
    members = tuple(d), list(d), [*d], sorted(d), list(zip(d, d, strict=True)), list(enumerate(d)), [*map(abs, d)]
    return members, max(d), min(d), sum(d), any(d), all(d), next(iter(d))


def test_builtins_that_go_over_objects() -> None:
    compare(pytocu.jit(gone_over)(X), gone_over(X))


def objects_in_a_list(x):
    found = []
    for v in x:
        found.append(Dual(v))
    return found[0].value


def dicts_in_a_list(x):
    found = []
    for v in x:
        found.append({"low": v})
    return found


@pytest.mark.parametrize(("function", "said"), [(objects_in_a_list, "an object of type Dual"), (dicts_in_a_list, "dict")])
def test_lists_of_a_run_hold_no_objects(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(function)(X)
    assert said in caught.value.message and caught.value.loc is not None


PROGRAM = """
import sys
from dataclasses import dataclass
import numpy as np
import pytocu

@dataclass
class Point:
    x: object

    def __add__(self, other):
        return Point(self.x {operator} other.x)

@pytocu.jit
def made(x):
    return (Point(x) + Point(2 * x)).x

@pytocu.jit
def given(p):
    return (p + p).x

print(made(np.ones(3)).tolist(), given(Point(np.ones(3))).tolist(), "pytocu.frontend.lower" in sys.modules)
"""


def test_another_process_finds_the_methods(tmp_path: Path) -> None:
    """A stored program is used where the methods are the same, and not where one is another."""
    program = tmp_path / "program.py"
    environment = {**os.environ, "PYTOCU_CACHE": "1", "PYTOCU_CACHE_DIR": str(tmp_path / "cache")}
    said = []
    for operator in "++-":
        program.write_text(PROGRAM.format(operator=operator))
        run = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True)
        said.append(run.stdout.strip())
    plus = "[3.0, 3.0, 3.0] [2.0, 2.0, 2.0]"
    assert said == [f"{plus} True", f"{plus} False", "[-1.0, -1.0, -1.0] [0.0, 0.0, 0.0] True"]

"""Random programs that read and change parts of an array by every kind of index: slices, numbers known now and computed
of data, positions, masks, new axes and `...`, one beside the other, and parts of parts.

Every operation is exact.  What is a view and what is a copy decides what a program returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.testing.inplace_programs import Choose


@dataclass(frozen=True)
class IndexProgram:
    """The text of a function ``program``, and its arguments: the array `x`, the values `v`, and what indexes take."""

    source: str
    arguments: tuple[Any, ...]


KINDS = ("slice", "slice", "number", "given", "data", "data", "list", "positions", "distinct", "mask", "test", "no axes")
SLICES = (":", "1:", ":-1", "::2", "::-1", "1:-1:2", "9::-2", "-2:", "5:2")
DATA = ("np.argmax({})", "int(np.argmin({}))", "({} > 0).sum() % {n}", "np.argsort({})[0]", "-1 - np.argmax({})")
STATEMENTS = (
    "return x[{0}]",
    "x[{0}] = 2\nreturn x",
    "x[{0}] = v\nreturn x",
    "x[{0}] = x[{0}] * 2 + 1\nreturn x.sum(), x",
    "x[{0}] {op} 2\nreturn x",
    "x[{0}] {op} v\nreturn x, x[{0}]",
    "y = x[{0}]\ny {op} 2\nx[0] = 1\nreturn x, y",
    "y = np.abs(x) + 1\ny[{0}] {op} x[{0}]\nreturn y, x[{0}].sum()",
    "y = x.copy()\ny[{0}], x[{0}] = x[{0}], y[{0}] + 1\nreturn x, y",
)
OF_PARTS = ("x[{0}][{1}] = 3\nreturn x, x[{0}][{1}]", "x[{0}][{1}] {op} 3\nreturn x", "y = x[{0}]\ny[{1}] {op} 3\nreturn x, y")


class _Indexes:
    """Indexes of arrays, and the arguments that they take."""

    def __init__(self, choose: Choose, random: np.random.Generator):
        self.choose, self.random = choose, random
        self.arguments: dict[str, Any] = {}

    def argument(self, value: Any) -> str:
        name = f"k{len(self.arguments)}"
        self.arguments[name] = value
        return name

    def item(self, length: int) -> str:
        """An index of an axis."""

        def number() -> int:
            return int(self.random.integers(-length, length))

        match self.choose(KINDS):
            case "number":
                return str(number())
            case "given":
                return self.argument(self.choose((int, np.int64, np.int32))(number()))
            case "data":
                return self.choose(DATA).format(self.argument(self.random.standard_normal(length)), n=length)
            case "list":
                return str([number() for _ in range(self.choose((1, 2, 3)))])
            case "positions":
                return self.argument(self.random.integers(-length, length, self.choose(((3,), (2, 3), (1,), (2, 1)))))
            case "distinct":
                return self.argument(self.random.permutation(length)[:3])
            case "mask":
                return self.argument(self.random.random(length) < 0.5)
            case "test":
                return f"{self.argument(self.random.standard_normal(length))} > 0"
            case "no axes":
                return self.argument(np.array(number()))
            case _:
                return self.choose(SLICES)

    def index(self, shape: Sequence[int]) -> str:
        """An index of an array of a shape, without axes of length 0."""
        if len(shape) > 1 and self.choose(range(8)) == 0:
            return ", ".join([self.argument(self.random.random(shape[:2]) < 0.5), *[self.choose(SLICES)] * (len(shape) - 2)])
        used = self.choose(range(1, len(shape) + 1))
        front = self.choose(range(used + 1)) if self.choose(range(4)) == 0 else used
        lengths = [*shape[:front], *shape[len(shape) - used + front :]]
        items = [self.item(length) for length in lengths]
        if front < used or self.choose(range(8)) == 0:
            items.insert(front, "...")
        if self.choose(range(8)) == 0:
            items.insert(self.choose(range(len(items) + 1)), "None")
        return ", ".join(items)


def _part(array: Any, index: str, arguments: dict[str, Any]) -> Any:
    """What NumPy has there; None where it refuses the index, or no element is left."""
    try:
        part = eval(f"x[{index}]", {"x": array, "np": np, **arguments})
    except IndexError:
        return None
    return part if np.size(part) else None


def index_programs(choose: Choose) -> Callable[[], IndexProgram]:
    """A maker of programs whose choices are made by `choose`; each returns what NumPy computes without an error.

    Examples
    --------
    >>> import random
    >>> print(index_programs(random.Random(5).choice)().source.splitlines()[0])
    def program(x, v, k0):
    """

    def make() -> IndexProgram:
        while True:
            random = np.random.default_rng(choose(range(1 << 30)))
            shape = tuple(choose((3, 4, 5, 6)) for _ in range(choose((1, 2, 2, 3))))
            dtype = choose(("f8", "f8", "i8", "f4", "i1"))
            x = random.integers(-9, 9, shape).astype(dtype)
            indexes = _Indexes(choose, random)
            first = indexes.index(shape)
            part = _part(x, first, indexes.arguments)
            text, second = choose((*STATEMENTS, *OF_PARTS)), ""
            if part is None or not isinstance(part, np.ndarray | np.generic):
                continue
            if text in OF_PARTS:
                if not part.ndim:
                    continue
                second = indexes.index(part.shape)
                if _part(part, second, indexes.arguments) is None:
                    continue
            lengths = [1 if choose(range(7)) == 0 else n for n in part.shape[choose(range(part.ndim + 1)) :]]
            v = random.integers(-9, 9, lengths).astype(dtype)
            lines = text.format(first, second, op=choose(("+=", "*=", "-="))).splitlines()
            head = f"def program({', '.join(['x', 'v', *indexes.arguments])}):"
            return IndexProgram("\n    ".join([head, *lines]) + "\n", (x, v, *indexes.arguments.values()))

    return make


__all__ = ["IndexProgram", "index_programs"]

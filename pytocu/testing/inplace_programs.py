"""Random programs that change arrays in place: views, aliases and local temporaries on every side.

Every operation is exact.  What is assigned is always computed: of a plain array that overlaps
its target with other strides, NumPy itself copies elements it has overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Choose = Callable[[Sequence[Any]], Any]
"""Picks one of a sequence; the first is the simplest."""


@dataclass(frozen=True)
class Program:
    """A function's statements, and how many operations they hold."""

    parameters: tuple[str, ...]
    statements: tuple[str, ...]
    result: str
    operations: int

    @property
    def source(self) -> str:
        """The text of the function ``program``."""
        head = f"def program({', '.join(self.parameters)}):"
        return "\n".join([head, *(f"    {s}" for s in self.statements), f"    return {self.result}", ""])


ARRAYS = ("a", "b", "c")
SHAPES: dict[str, tuple[str, ...]] = {
    "whole": ("{}", "{}[...]", "{}[::-1]", "{}[:, ::-1]", "{}[::-1, ::-1]", "{}[None][0]"),
    "rows": ("{}[1:]", "{}[:-1]", "{}[::-1][1:]", "{}[:0:-1]"),
    "columns": ("{}[:, 1:]", "{}[:, :-1]", "{}[:, ::-1][:, 1:]", "{}.T[1:].T"),
    "inner": ("{}[1:, 1:]", "{}[:-1, 1:]", "{}[1:, :-1]", "{}[:-1, :-1]"),
    "row": ("{}[0]", "{}[-1]", "{}[0, ::-1]", "{}[-1, :]"),
    "column": ("{}[:, 0]", "{}[:, -1]", "{}[::-1, 0]", "{}.T[0]"),
    "flipped": ("{}.T", "{}.T[::-1]", "np.transpose({})", "{}.swapaxes(0, 1)[:, ::-1]"),
    "corner": ("{}[0, 0, ...]", "{}[-1, 0, ...]", "{}[0, -1, ...]"),
}
"""Views of an array of shape (n, m), by the shape they have."""

SMALLER: dict[str, tuple[str, ...]] = {"whole": ("row", "corner"), "rows": ("row", "corner"), "inner": ("corner",)}
"""Shapes that broadcast to others."""

BINARY = ("({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.where(a[0, 0] > 0, {}, {})")
AUGMENTED = ("+=", "-=", "*=")
OUT = ("np.add({}, {}, out={})", "np.multiply({}, {}, {})", "np.subtract({}, {}, out=({},))", "np.minimum({}, {}, out={})")
STATEMENTS = ("assign", "augmented", "out", "local", "alias", "copy", "fill", "copyto", "masked", "scalar", "swap")


class _Writer:
    def __init__(self, choose: Choose):
        self.choose = choose
        self.names: list[str] = list(ARRAYS)
        self.scalars = ["2", "k"]
        self.statements: list[str] = []
        self.count = 0

    def view(self, shape: str) -> str:
        return self.choose(SHAPES[shape]).format(self.choose(self.names))

    def operand(self, shape: str) -> str:
        kind = self.choose(("array", "array", "array", "smaller", "scalar"))
        if kind == "scalar":
            return self.choose(self.scalars)
        return self.view(self.choose(SMALLER[shape]) if kind == "smaller" and shape in SMALLER else shape)

    def value(self, shape: str) -> str:
        """Something computed, of the shape."""
        made = self.choose(BINARY).format(self.view(shape), self.operand(shape))
        return self.choose(BINARY[:3]).format(made, self.operand(shape)) if self.choose((False, True)) else made

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def statement(self) -> None:
        shape = self.choose(tuple(SHAPES))
        target = self.view(shape)
        match self.choose(STATEMENTS):
            case "assign":
                text = f"{target} = {self.value(shape)}" if "[" in target and "(" not in target and ".T" not in target else ""
                self.statements.append(text or f"{target}[...] = {self.value(shape)}")
            case "augmented":
                name = self.fresh()
                self.statements.append(f"{name} = {target}")
                self.statements.append(f"{name} {self.choose(AUGMENTED)} {self.operand(shape)}")
            case "out":
                self.statements.append(self.choose(OUT).format(self.operand(shape), self.view(shape), target))
            case "local":
                name = self.fresh()
                self.statements.append(f"{name} = {self.value('whole')}")
                self.names.append(name)
            case "alias":
                name = self.fresh()
                self.statements.append(f"{name} = {self.view('whole')}")
                self.names.append(name)
            case "copy":
                name = self.fresh()
                self.statements.append(f"{name} = {self.view('whole')}.copy()")
                self.names.append(name)
            case "fill":
                self.statements.append(f"{target}.fill({self.choose(('3', 'k'))})")
            case "copyto":
                self.statements.append(f"np.copyto({target}, {self.value(shape)})")
            case "masked":
                mask = f"{self.view(shape)} > {self.choose(self.scalars)}"
                self.statements.append(f"np.copyto({target}, {self.value(shape)}, where={mask})")
            case "scalar":
                name = self.fresh()
                self.statements.append(f"{name} = {self.choose(self.names)}[0, {self.choose(('0', '-1'))}]")
                self.scalars.append(name)
            case _:
                first, second = self.choose(self.names), self.choose(self.names)
                self.statements.append(f"{first}, {second} = {second}, {first}")


def random_inplace_program(choose: Choose) -> Program:
    """A program of a few statements over the arrays `a`, `b`, `c` of one shape and the number `k`.

    Examples
    --------
    >>> import random
    >>> random_inplace_program(random.Random(0).choice).parameters
    ('a', 'b', 'c', 'k')
    """
    writer = _Writer(choose)
    for _ in range(choose((3, 1, 2, 4, 6))):
        writer.statement()
    results = [writer.view(choose(tuple(SHAPES))), choose(writer.names), writer.value("whole"), *writer.scalars[2:]]
    result = ", ".join(results[: choose((4, 1, 2, 3))])
    return Program((*ARRAYS, "k"), tuple(writer.statements), f"({result},)", len(writer.statements))


MEMORY = ("apart", "same", "shifted", "reversed", "transposed", "columns", "strided", "neighbours", "all")
"""How the arguments share memory."""


def inplace_arguments(sizes: Mapping[str, int], dtype: Any, memory: str, seed: int = 0) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The arrays `a`, `b` and `c`, and the number `k`, in memory of one kind.

    Returns
    -------
    (numpy.ndarray, tuple)
        The block that arrays which share memory are views of, and the arguments.
    """
    n, m = sizes["n"], sizes["m"]
    random = np.random.default_rng([seed, n, m])
    block = random.integers(-9 if np.dtype(dtype).kind != "u" else 0, 9, (2 * n + 2, 2 * m + 2)).astype(dtype)
    whole = block[1 : n + 1, 1 : m + 1]
    others = [random.integers(0, 9, (n, m)).astype(dtype) for _ in range(2)]
    match memory:
        case "same":
            chosen = (whole, whole, others[0])
        case "shifted":
            chosen = (whole, block[:n, 2 : m + 2], others[0])
        case "reversed":
            chosen = (others[0], whole, whole[::-1])
        case "transposed":
            chosen = (whole, whole.T, others[0]) if n == m else (np.asfortranarray(others[0]), whole, others[1])
        case "columns":
            chosen = (np.asfortranarray(others[0]), np.asfortranarray(others[1]), whole)
        case "strided":
            chosen = (block[: 2 * n : 2, : 2 * m : 2], others[0], whole[:, ::-1])
        case "neighbours":
            chosen = (block[:n, :m], block[n : 2 * n, :m], others[0])
        case "all":
            chosen = (whole, block[:n, :m], whole[:, ::-1])
        case _:
            chosen = (np.ascontiguousarray(whole), *others)
    return block, (*chosen, 3)


__all__ = ["MEMORY", "Choose", "Program", "inplace_arguments", "random_inplace_program"]

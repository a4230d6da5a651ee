"""Random programs: expressions over arrays, views and scalars whose every operation is exact.

The choices come from a function, so that hypothesis can shrink them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.testing.compare import edge_values

Choose = Callable[[Sequence[Any]], Any]
"""Picks one of a sequence; the first is the simplest."""

ARGUMENTS: dict[str, tuple[str, str]] = {
    "a": ("f8", "n m"), "b": ("f4", "n m"), "padded": ("f4", "n+2 m+2"), "turned": ("f8", "m n"), "wide": ("i4", "n 2*m"),
    "row": ("f8", "m"), "column": ("f4", "n 1"), "whole": ("i8", "n m"), "small": ("i1", "m"), "natural": ("u4", "n 1"),
    "mask": ("?", "n m"), "point": ("f4", ""), "half": ("f2", "n m"), "short": ("f2", "m"), "wave": ("c8", "n m"),
    "phase": ("c16", "m n"), "turn": ("c16", "m"),
}  # fmt: skip
"""Arrays by name: dtype and shape."""

VIEWS: dict[str, tuple[str, ...]] = {
    "padded": ("padded[1:-1, 1:-1]", "padded[2:, 1:-1]", "padded[:-2, 2:]", "padded[1:-1, :-2][::-1]", "padded[-2:0:-1, 1:-1]"),
    "turned": ("turned.T", "turned.T[::-1]", "np.transpose(turned, (1, 0))", "turned[::-1, ::-1].T"),
    "wide": ("wide[:, ::2]", "wide[::-1, 1::2]", "wide[:, ::-2]"),
    "a": ("a", "a[::-1]", "a[:, ::-1]", "a[:, np.newaxis, :][:, 0]"),
    "row": ("row", "row[::-1]", "row[None, :]", "row[np.newaxis]"),
    "column": ("column", "column[::-1]", "column[:, :1]"),
    "half": ("half", "half[::-1]", "half[:, ::-1]"),
    "wave": ("wave.real", "wave.imag", "wave[::-1].real", "np.imag(wave)"),
    "phase": ("phase.T.imag", "phase[::-1].real.T"),
}
"""How an array is read so that its shape broadcasts to (n, m)."""

COMPLEX_VIEWS = ("wave", "wave[::-1]", "wave[:, ::-1]", "phase.T", "phase[::-1].T", "turn", "turn[None, ::-1]", "wave.conj()")
REAL = tuple(name for name, (dtype, _) in ARGUMENTS.items() if name in VIEWS or dtype[0] != "c")
"""Arrays with real views."""

COMPLEX_LITERALS = ("1j", "(0.5-2j)", "np.complex64(3+1j)", "complex(0, np.inf)")
COMPLEX_BINARY = (
    "({} + {})", "({} - {})", "np.add({}, {})", "(np.maximum({}, {}) + 0)", "(np.minimum({}, {}) + 0)",
    "np.where(mask, {}, {})",
)  # fmt: skip
COMPLEX_UNARY = (
    "(-{})", "np.conj({})", "(+{})", "np.rint({})", "({} + wave).astype(np.complex64)", "({} + wave).astype(np.complex128)",
)  # fmt: skip
"""Operations on complex numbers that NumPy computes in one way only: its products round by the processor."""

SCALARS: dict[str, tuple[Any, ...]] = {
    "factor": (2.5, -0.0, float("inf"), 0.1),
    "count": (3, 0, -7, 100),
    "flag": (True, False),
    "strong": (np.float32(0.3), np.float64(1e300), np.int16(-4), np.uint8(200), np.float16(1.5)),
}
LITERALS = ("2", "0.5", "-1", "1e-3", "np.float32(3)", "np.inf", "7")

BINARY = (
    "({} + {})", "({} - {})", "({} * {})", "({} / {})", "np.add({}, {})", "np.copysign({}, {})", "(np.maximum({}, {}) + 0)",
    "(np.minimum({}, {}) + 0)", "({} // {})", "np.remainder({}, {})", "np.fmod({}, {})", "np.where(mask, {}, {})",
)  # fmt: skip
UNARY = (
    "(-{})", "abs({})", "np.sqrt(abs({}) + 0.5)", "np.floor({})", "np.trunc({})", "np.sign({})", "np.square({})",
    "{}.astype(np.float32)", "{}.astype(np.float64)", "np.rint({} * 1.0)", "(+{})", "{}.astype(np.float16)",
)  # fmt: skip
CONDITIONS = ("({} < {})", "({} >= {})", "({} == {})", "({} != {})")


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


class _Writer:
    def __init__(self, choose: Choose):
        self.choose = choose
        self.used: dict[str, None] = {}
        self.locals: list[str] = []
        self.operations = 0

    def leaf(self) -> str:
        kind = self.choose(("array", "array", "array", "local", "scalar", "literal"))
        if kind == "local" and self.locals:
            return self.choose(self.locals)
        if kind == "scalar":
            name = self.choose(tuple(SCALARS))
            self.used[name] = None
            return name
        if kind == "literal":
            return self.choose(LITERALS)
        name = self.choose(REAL)
        self.used[name] = None
        return self.choose(VIEWS.get(name, (name,)))

    def complex_leaf(self) -> str:
        if self.choose((True, True, True, False)):
            text = self.choose(COMPLEX_VIEWS)
            self.used[text.partition(".")[0].partition("[")[0]] = None
            return text
        return self.choose(COMPLEX_LITERALS)

    def complex_expression(self, depth: int) -> str:
        """An expression of complex numbers, with real ones inside."""
        if depth == 0:
            return self.complex_leaf()
        self.operations += 1
        match self.choose(("binary", "binary", "unary", "select", "real")):
            case "unary":
                form = self.choose(COMPLEX_UNARY)
                if "wave" in form:
                    self.used["wave"] = None
                return form.format(self.complex_expression(depth - 1))
            case "select":
                self.operations += 1
                condition = self.choose(CONDITIONS).format(self.complex_leaf(), self.array())
                return f"np.where({condition}, {self.complex_expression(depth - 1)}, {self.complex_leaf()})"
            case "real":
                return f"({self.complex_expression(depth - 1)} - {self.expression(depth - 1)})"
            case _:
                form = self.choose(COMPLEX_BINARY)
                if "mask" in form:
                    self.used["mask"] = None
                return form.format(self.complex_expression(depth - 1), self.complex_expression(max(depth - 2, 0)))

    def array(self) -> str:
        """Never a Python scalar, which has no methods."""
        name = self.choose(tuple(VIEWS))
        self.used[name] = None
        return self.choose(VIEWS[name])

    def expression(self, depth: int) -> str:
        if depth == 0:
            return self.leaf()
        self.operations += 1
        match self.choose(("binary", "binary", "binary", "unary", "select")):
            case "unary":
                form = self.choose(UNARY)
                inner = self.expression(depth - 1)
                return form.format(inner if "astype" not in form else f"({inner} + {self.array()})")
            case "select":
                self.operations += 1
                condition = self.choose(CONDITIONS).format(self.leaf(), self.array())
                return f"np.where({condition}, {self.expression(depth - 1)}, {self.leaf()})"
            case _:
                form = self.choose(BINARY)
                if "mask" in form:
                    self.used["mask"] = None
                return form.format(self.expression(depth - 1), self.expression(depth - self.choose((1, 2)) if depth > 1 else 0))


def random_program(choose: Choose) -> Program:
    """A program of a few statements.

    Examples
    --------
    >>> import random
    >>> random_program(random.Random(0).choice).operations > 0
    True
    """
    writer = _Writer(choose)
    statements: list[str] = []
    for number in range(choose((1, 2, 3))):
        statements.append(f"v{number} = {writer.expression(choose((3, 2, 4)))}")
        writer.locals.append(f"v{number}")
    last = writer.expression(2)
    if choose((False, False, True)):
        last = writer.complex_expression(choose((2, 3)))
    result = choose((last, f"{last}, {writer.locals[0]}", f"({last}, {writer.array()})"))
    order = [name for name in (*ARGUMENTS, *SCALARS) if name in writer.used]
    return Program(tuple(order), tuple(statements), result, writer.operations)


def program_arguments(program: Program, sizes: Mapping[str, int], choose: Choose) -> tuple[Any, ...]:
    """Arguments of ordinary and special values for the lengths ``n`` and ``m``."""
    out: list[Any] = []
    for number, name in enumerate(program.parameters):
        if name in SCALARS:
            out.append(choose(SCALARS[name]))
            continue
        dtype, text = ARGUMENTS[name]
        shape = tuple(eval(part, dict(sizes)) for part in text.split())
        count = int(np.prod(shape, dtype=int))
        pool = edge_values(np.dtype(dtype), max(count, 120), number)
        out.append(np.random.default_rng(number).permutation(pool)[:count].reshape(shape))
    return tuple(out)


__all__ = ["Program", "program_arguments", "random_program"]

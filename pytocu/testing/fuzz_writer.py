"""Grows random programs: see :mod:`pytocu.testing.fuzz_programs` for what they are made of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.ir.core import OPS
from pytocu.ir.types import ALL_DTYPES, DType, dtype_of
from pytocu.testing.fuzz_arrays import ARRAYS
from pytocu.testing.fuzz_blocks import (
    BEFORE_A_CHANGE,
    ERRORS,
    KEPT,
    LIBRARY_CALLS,
    PROGRAMS,
    block_of,
    changing,
    defined,
    number_of_steps,
    second_operands,
    written,
)
from pytocu.testing.fuzz_check import bounded_by
from pytocu.testing.fuzz_programs import (
    CHANGES,
    EXPONENTS,
    LITERALS,
    NEUTRAL,
    OTHERS,
    PYTHON_EXPRESSIONS,
    ROWS,
    SHAPES,
    SIZES,
    VIEWS,
    WANTED,
    Argument,
    Coverage,
    Form,
    Program,
    Statement,
    argument,
    evaluate,
    execute,
    is_argument,
    loop_dtype,
    shows_nan,
    unused,
    value_of,
)
from pytocu.testing.fuzz_reductions import REDUCED

REFUSED_ERRORS = (TypeError, ValueError, OverflowError, ZeroDivisionError, AttributeError, IndexError)
"""What NumPy raises for operands it has no answer for."""

OTHER_WAYS: tuple[dict[str, Any], ...] = (
    {"count": 4, "flag": True, "factor": 0.5}, {"count": -1, "flag": False, "factor": 2.0},
)  # fmt: skip
"""Python scalars that take the other sides of branches, and one that has loops run."""


class Writer:
    """A program in the making, and what NumPy computes of it."""

    def __init__(self, pick: random.Random, coverage: Coverage):
        self.pick = pick
        self.coverage = coverage
        self.size = pick.choice(SIZES)
        self.arguments: dict[str, Argument] = {}
        self.env: dict[str, Any] = {}
        self.statements: list[Statement] = []
        self.variables: list[str] = []
        self.error = False
        self.inexact: set[str] = set()

    @property
    def fresh(self) -> str:
        """A name for the next value."""
        return f"v{sum(bool(s.name) for s in self.statements)}"

    def need(self, code: str) -> None:
        """Make the arguments that an expression names."""
        for name in sorted(Statement("", code.replace("{", "{{").replace("}", "}}")).names):
            if is_argument(name) and name not in self.arguments:
                made = argument(name, self.size, self.pick)
                self.arguments[name], self.env[name] = made, made.placed()

    def leaf(self, dtype: DType, strong: bool = False) -> str:
        """An expression of a dtype: a value computed before, or a view of an argument."""
        known = [v for v in self.variables if getattr(self.env[v], "dtype", None) == dtype.numpy]
        if known and self.pick.random() < 0.75:
            return self.pick.choice(known[-4:])
        if not strong and self.pick.random() < 0.1:
            return self.pick.choice(LITERALS)
        kind = self.pick.choices((*SHAPES, "scalar"), (6, 2, 2, 2, 2, 1, 1, 2))[0]
        return self.pick.choice(VIEWS[kind]).format(f"{kind}_{dtype.name}")

    def other(self, dtype: DType) -> str:
        """A second operand: mostly of the same dtype, or a value of any, or a scalar."""
        chance = self.pick.random()
        if chance < 0.45:
            return self.leaf(dtype)
        if chance < 0.65 and self.variables:
            return self.pick.choice(self.variables)
        if chance < 0.75:
            return self.pick.choice(LITERALS)
        if chance < 0.85:
            return self.pick.choice(PYTHON_EXPRESSIONS)
        return self.leaf(self.pick.choice(ALL_DTYPES))

    def operands(self, form: Form, dtype: DType) -> tuple[str, ...]:
        """Operands for a form whose first one has a dtype."""
        first = self.leaf(dtype, form.strong)
        match form.row:
            case "power":
                return first, self.exponent(dtype)
            case "ldexp":
                return first, self.pick.choice(("3", "-5", "row_i32", "row_i8", "x_i16", "count"))
            case "clip":
                return first, self.leaf(dtype), self.leaf(dtype)
            case "left_shift" | "right_shift":
                return first, self.leaf(dtype)
        return first, *(self.other(dtype) for _ in range(form.arity - 1))

    def exponent(self, dtype: DType) -> str:
        """Negative powers of integers are errors that depend on the data."""
        if dtype.kind in "fc":
            return self.pick.choice((self.other(dtype), "2", "0.5", "-1", "3", "count", "factor"))
        if dtype.kind == "i":
            return self.pick.choice(("2", "3", "5", f"({self.leaf(dtype, True)} & 7)"))
        return self.pick.choice((self.leaf(dtype), "np.float32(1.5)"))

    def grow(self) -> None:
        """Write one more statement."""
        chance = self.pick.random()
        if chance < 0.08:
            self.neutral()
            return
        if self.pick.random() < 0.2:
            self.block()
            return
        if chance < 0.78:
            least = min((self.coverage[name, d.name], self.pick.random(), name, d) for name, d in self.pick.sample(WANTED, 25))
            name, dtype = least[2:]
            self.let(self.pick.choice(ROWS[name]), dtype)
            return
        form = self.pick.choice(self.pick.choices((OTHERS, REDUCED, ARRAYS), (4, 3, 3))[0])
        self.let(form, self.pick.choice([d for d in ALL_DTYPES if d.kind in form.kinds]))

    def neutral(self) -> None:
        """Arithmetic with a number that changes nothing, or nearly, and powers that NumPy writes in another way."""
        row = self.pick.choice(("add", "subtract", "multiply", "divide", "power", "power"))
        power = row == "power"
        # The operator is what NumPy writes in another way; it shows in -0.0 and infinities, which arguments hold.
        form = ROWS[row][-1] if power else self.pick.choice(ROWS[row])
        dtype = self.pick.choice([d for d in ALL_DTYPES if d.kind in ("fc" if power else "iufc")])
        kind = self.pick.choice(("x", "x", "turned", "padded", "cube"))
        argument = self.pick.choice(VIEWS[kind]).format(f"{kind}_{dtype.name}")
        operands = [argument if power else self.leaf(dtype, True), self.pick.choice(EXPONENTS if power else NEUTRAL)]
        if not power and self.pick.random() < 0.3:
            operands.reverse()
        self.put(Statement(self.fresh, form.text, tuple(operands), form.row))

    def block(self) -> None:
        """Lines with a loop, a branch or a mask, of a feature that is rare so far."""
        block = block_of(self.pick, self.coverage)
        dtype = self.pick.choice([d for d in ALL_DTYPES if d.kind in block.kinds])
        for _ in range(6):
            first = self.leaf(dtype, strong=True)
            shape = self.shape_of(first)
            if shape is None or len(shape) < block.least:
                continue
            name = self.fresh
            other = self.fitting(shape, dtype)
            equal = "{1}" if self.shape_of(other) == shape else "{0}"
            text = written(block, name, dtype.kind, self.pick, 0 not in self.size, equal)
            defines = defined(text, name, dtype.kind, self.pick)
            if defines and self.shape_of(other) == () and other in second_operands(dtype.kind):
                # Python's numbers stay Python's in a function of scalars.
                other = f"np.{dtype.numpy.name}({self.pick.choice(('1', '0', '3'))})"
            second = (other,) if "{1}" in text else ()
            made = Statement(name, text, (first, *second), features=block.features, defines=defines)
            if shape == () and (isinstance(evaluate(first, self.env), np.ndarray) or "np.where" in text or "np.clip" in text):
                # Scalars and arrays without axes take turns in NumPy: two types for a loop.
                continue
            self.need(", ".join((made.code, *made.operands)))
            if block.features in ERRORS or all(self.runs(made, other) for other in OTHER_WAYS):
                self.put(made)
            return

    def runs(self, made: Statement, other: Mapping[str, Any]) -> bool:
        """Whether NumPy runs a statement with other Python scalars: what is compiled has to fit in branches not taken, too."""
        given = {**self.env, **{name: value for name, value in other.items() if name in self.env}}
        if not made.name:
            target = made.operands[0]
            given[target] = given[target].copy()
        try:
            value_of(made, given) if made.name else execute(made.code, given)
        except REFUSED_ERRORS:
            return False
        return True

    def shape_of(self, code: str) -> tuple[int, ...] | None:
        """The shape of an expression, or None where NumPy refuses it."""
        self.need(code)
        try:
            return np.shape(evaluate(code, self.env))
        except REFUSED_ERRORS:
            return None

    def fitting(self, shape: tuple[int, ...], dtype: DType) -> str:
        """An operand of a dtype that broadcasts to a shape."""
        # Where a length is 1 another one may be 1 by chance, which is another shape for a loop.
        for _ in range(0 if shape == () or 1 in shape else 4):
            leaf = self.leaf(dtype, strong=True)
            found = self.shape_of(leaf)
            if found is None or len(found) > len(shape):
                continue
            if all(a in (1, b) for a, b in zip(found[::-1], shape[::-1], strict=False)):
                return leaf
        return self.pick.choice(second_operands(dtype.kind))

    def let(self, form: Form, dtype: DType) -> None:
        """Write an operation of a form."""
        self.put(Statement(self.fresh, form.text, self.operands(form, dtype), form.row, form.no_nan))

    def put(self, made: Statement) -> None:
        """Name the value of an operation, unless NumPy has none."""
        self.need(", ".join((made.code, *made.operands)))
        try:
            value = value_of(made, self.env)
            if shows_nan(made, self.env):
                return
            values = [evaluate(o, self.env) for o in made.operands]
        except Exception as error:
            # Which errors NumPy has here is what is found out.
            if made.features not in ERRORS:
                if not isinstance(error, REFUSED_ERRORS):
                    raise
                if not isinstance(error, (TypeError, OverflowError)) or self.pick.random() >= 0.08:
                    return
            if len(self.statements) > 3:
                self.statements.append(made)
                self.error = True
            return
        if made.features in KEPT:
            self.statements.append(made)
            self.env[made.name] = value
            return
        if not acceptable(made, value, values):
            return
        if made.row and made.row != "cast":
            chosen = loop_dtype(OPS[made.row], values)
            self.coverage[made.row, chosen.name if chosen else "?"] += 1
        if bounded_by(made, values, value):
            self.inexact.add(made.name)
        self.statements.append(made)
        self.variables.append(made.name)
        self.env[made.name] = value

    def change(self) -> None:
        """Change an argument, or a copy of a value, in place."""
        given = [n for n in self.arguments if isinstance(self.env[n], np.ndarray) and self.env[n].ndim]
        if given and self.pick.random() < 0.5:
            target = self.pick.choice(given)
            if self.pick.random() < 0.4:
                name = self.fresh
                call = f"{name} = {self.pick.choice(LIBRARY_CALLS)}"
                if self.env[target].dtype.kind in "fc":
                    # Of equal zeros any one may stay.
                    call = call.replace("np.unique({0}[:])", "np.unique({0}[:] + 0)")
                self.put(Statement(name, call, (target,), features=BEFORE_A_CHANGE))
            if not self.error:
                self.change_once(target)
            return
        arrays = [v for v in self.variables if isinstance(self.env[v], np.ndarray) and self.env[v].ndim]
        if not arrays:
            return
        source = self.pick.choice(arrays)
        copied = Statement(self.fresh, "{0}.copy()", (source,))
        self.statements.append(copied)
        self.variables.append(copied.name)
        self.env[copied.name] = self.env[source].copy()
        for _ in range(self.pick.choice((1, 1, 2))):
            self.change_once(copied.name)

    def change_once(self, target: str) -> None:
        """One in-place change that NumPy allows."""
        array = self.env[target]
        dtype = dtype_of(array.dtype)
        assert dtype is not None
        value, number = self.other(dtype), self.pick.choice(("2", "0.5", "count", f"scalar_{dtype.name}"))
        feature, form = "", self.pick.choice(CHANGES)
        if self.pick.random() < 0.5:
            feature, form = changing(self.pick, self.coverage)
        steps = number_of_steps(self.pick, lengths=0 not in self.size)
        text = form.replace("{w}", "{0}").replace("{e}", "{1}").replace("{s}", "{2}").replace("{n}", "{3}")
        made = Statement("", text, (target, value, number, steps), features=feature)
        self.need(f"{value}, {number}, {made.code}")
        if feature and not all(self.runs(made, other) for other in OTHER_WAYS):
            return
        before = array.copy()
        try:
            given = [evaluate(o, self.env) for o in (value, number)]
            if feature and np.broadcast_shapes(array.shape, np.shape(given[0])) != array.shape:
                # NumPy takes a mask of no elements for any array.
                return
            kinds = [np.min_scalar_type(g) if isinstance(g, (bool, int, float, complex)) else g.dtype for g in given]
            # What an assignment makes of a float out of an integer's range depends on the processor.
            if not all(np.can_cast(k, array.dtype, "same_kind") for k in kinds):
                return
            execute(made.code, self.env)
        except REFUSED_ERRORS:
            np.copyto(array, before)
            return
        self.statements.append(made)


def acceptable(made: Statement, value: Any, values: Sequence[Any]) -> bool:
    """Whether the value is one that programs go on with."""
    if not isinstance(value, (np.ndarray, np.generic)) or dtype_of(value.dtype) is None or value.size > 20_000:
        return False
    if made.row == "clip" and any(type(v) is int for v in values[1:]):
        return False
    return not ("isclose" in made.text and any(map(np.iscomplexobj, values)))


def random_program(pick: random.Random, coverage: Coverage) -> tuple[Program, dict[str, Argument]]:
    """A program of four to twenty operations and its arguments.

    Parameters
    ----------
    pick : random.Random
        Source of every choice.
    coverage : Counter
        How often each row and dtype was written; what is rare is preferred, and the counts go up.

    Examples
    --------
    >>> program, arguments = random_program(random.Random(0), Coverage())
    >>> set(program.parameters) <= set(arguments)
    True
    """
    writer = Writer(pick, coverage)
    length = pick.choice((4, 8, 10, 12, 14, 20))
    for _ in range(4 * length):
        if len(writer.statements) >= length or writer.error:
            break
        if writer.pick.random() < 0.04:
            writer.change()
        else:
            writer.grow()
    statements = tuple(writer.statements)
    # What is not exact is returned, so that the values computed of it can be checked exactly.
    ends = {*writer.inexact, *unused(statements)}
    results = tuple(s.name for s in statements if s.name in ends)
    coverage.update((feature, PROGRAMS) for feature in {s.features for s in statements} - {""})
    program = Program(statements, results, inline=pick.random() < 0.5, error=writer.error)
    return program, {name: writer.arguments[name] for name in program.parameters}


__all__ = ["Writer", "random_program"]

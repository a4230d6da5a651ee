"""The cases of the strict comparison: every operation of the op table on every kind of operand.

A :class:`Group` is one function of many expressions over the same operands, so that a few
compilations answer for thousands of cases.  :mod:`pytocu.testing.cases` runs and compares them.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.ir.core import Op
from pytocu.ir.ops import OUTPUTS, elementwise_rows
from pytocu.ir.types import ALL_DTYPES, dtype_named
from pytocu.testing.compare import edge_values


@dataclass(frozen=True)
class Operand:
    """One operand of the expressions of a group.

    Attributes
    ----------
    form : str
        ``array``, ``zero_d`` (an array without axes), ``scalar`` (a NumPy scalar), ``python`` (a
        Python scalar as an argument), ``literal`` (written in the source), ``constant`` (a global).
    dtype : str
        Short dtype name, or ``bool``, ``int``, ``float``, ``complex`` of Python.
    text : str
        Source of the value; empty for arrays.
    """

    form: str
    dtype: str
    text: str = ""

    @property
    def strong(self) -> bool:
        """Whether it has a dtype of its own."""
        return self.form in ("array", "zero_d", "scalar") or self.text.startswith("np.")

    def value(self) -> Any:
        """The value; arrays come from :meth:`Group.arguments`."""
        made = eval(self.text, {"np": np})
        return np.array(made) if self.form == "zero_d" else made

    def __str__(self) -> str:
        return f"{self.form} {self.text or self.dtype}"


_NUMBERS = {"b": ("True", "False"), "i": ("-3", "5", "0"), "u": ("3", "200", "0"), "f": ("2.5", "-0.0", "np.inf", "np.nan"),
            "c": ("1.5-2j", "-0j", "complex(np.inf, 1)", "complex(0, np.nan)")}  # fmt: skip


def strong_operands(form: str, dtypes: Iterable[Any] = ALL_DTYPES) -> list[Operand]:
    """NumPy scalars, 0-d arrays or constants of the dtypes."""
    return [
        Operand(form, d.name, f"np.dtype('{d.numpy}').type({text})") for d in dtypes for text in _NUMBERS[d.kind]
    ]


PYTHON_VALUES = {
    "bool": ("True", "False"),
    "int": ("3", "-1", "0", "300", "2**40", "2**63", "-2**63 - 1"),
    "float": ("2.5", "1e300", "-0.0", "float('nan')"),
    "complex": ("2-1j", "-0j", "1e300j", "complex('inf')"),
}


def weak_operands(form: str) -> list[Operand]:
    """Python scalars as arguments (``python``), in the source (``literal``) or in a global (``constant``)."""
    return [Operand(form, kind, text) for kind, texts in PYTHON_VALUES.items() for text in texts]


FUNCTIONS_OF_ONE = (
    "np.round({0})", "np.round({0}, 2)", "np.round({0} // 4, -1)", "np.around({0}, decimals=12)", "np.isposinf({0})",
    "np.isneginf({0})", "np.nan_to_num({0})", "np.nan_to_num({0}, nan=1, posinf=2.5, neginf=-3)", "np.isreal({0})",
    "np.iscomplex({0})", "np.iscomplexobj({0})", "np.isrealobj({0})", "np.imag({0})", "np.real({0})", "np.real_if_close({0})",
    "np.negative({0}, dtype=np.float64)", "np.add({0}, {0}, dtype=np.float32)", "np.absolute({0}, dtype='i1')",
    "np.square({0}, casting='no')", "np.sqrt({0}, casting='safe', order='K', subok=True)", "np.add({0}, 3, signature='dd->d')",
    "np.modf({0})", "np.frexp({0})", "np.select([{0} == {0}], [{0}], default=2)", "np.asarray({0})", "np.array({0})",
    "np.clip({0}, None, 5)", "np.clip({0}, min=1)", "np.isnan({0}, dtype=bool)",
)  # fmt: skip
"""Exact functions that are no rows of the table, or have arguments that choose the loop."""

METHODS_OF_ONE = (
    "{0}.round(1)", "{0}.round()", "{0}.clip(2, 5)", "{0}.clip(1)", "{0}.clip(max=7)", "{0}.real", "{0}.imag", "{0}.conj()",
    "{0}.conjugate()", "{0}.T", "{0}.nbytes", "{0}.itemsize", "{0}.ndim", "{0}.size", "{0}.shape", "{0}.copy()",
    "{0}.astype(np.float64, casting='safe')", "{0}.astype('f4', copy=False)", "{0}.astype(np.int16, casting='same_kind')",
    "{0}.astype({0}.dtype, order='K')", "{0}.view()", "{0}.view(np.dtype('i%d' % {0}.itemsize))",
    "np.nan_to_num({0}.astype('f4')).view('i4')",
    "({0} > 0).astype('i8').view('f8')", "(-({0} > 0).astype('i8')).view('u8')",
)  # fmt: skip
"""Attributes and methods that arrays and NumPy scalars have."""

FUNCTIONS_OF_TWO = (
    "np.divmod({0}, {1})", "np.isclose({0}, {1})", "np.isclose({0}, {1}, rtol=0.1, atol=0.5, equal_nan=True)",
    "np.select([np.less({0}, {1}), np.equal({0}, {1})], [{0}, {1}], default=1)", "np.add({0}, {1}, dtype=np.float64)",
    "np.multiply({0}, {1}, dtype='f4', casting='unsafe')", "np.subtract({0}, {1}, casting='no')",
    "np.floor_divide({0}, {1}, dtype='f8')", "np.less({0}, {1}, dtype=bool)", "np.subtract({0}, {1}, signature='dd->d')",
)  # fmt: skip

# Groups.


@dataclass(frozen=True)
class Expression:
    """One case: a row and its source over the operands ``a`` and ``b``."""

    row: str
    text: str
    arguments: tuple[str, ...]
    operator: bool = False


def _call(op: Op, arguments: tuple[str, ...]) -> Iterator[Expression]:
    part = f"[{op.output}]" if op.numpy in OUTPUTS else ""
    yield Expression(op.name, f"np.{op.numpy}({', '.join(arguments)}){part}", arguments)
    if op.symbol == "abs":
        yield Expression(op.name, f"abs({arguments[0]})", arguments, True)
    elif op.symbol and len(arguments) == 1:
        yield Expression(op.name, f"{op.symbol}({arguments[0]})", arguments, True)
    elif op.symbol:
        yield Expression(op.name, f"({arguments[0]}) {op.symbol} ({arguments[1]})", arguments, True)


@dataclass(frozen=True)
class Group:
    """Operands, and every expression over them, or those whose source has a match of a pattern."""

    operands: tuple[Operand, ...]
    count: int = 96
    pattern: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """How expressions write the operands."""
        letters = zip("ab", self.operands, strict=False)
        return tuple(f"({o.text})" if o.form == "literal" else n.upper() if o.form == "constant" else n for n, o in letters)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Parameters of the group's functions."""
        return tuple(n for n in self.names if n in ("a", "b"))

    def globals(self) -> dict[str, Any]:
        """Globals of the group's functions."""
        found = {n: o.value() for n, o in zip(self.names, self.operands, strict=True) if o.form == "constant"}
        return {"np": np, **found}

    def arguments(self) -> tuple[Any, ...]:
        """Values of the parameters; two arrays hold every pair of edge values."""
        arrays = sum(o.form == "array" for o in self.operands)
        out: list[Any] = []
        for number, operand in enumerate(self.operands):
            if operand.form == "array":
                values = edge_values(dtype_named(operand.dtype).numpy, self.count, number)
                if arrays == 2:
                    values = np.repeat(values, self.count) if number == 0 else np.tile(values, self.count)
                out.append(values)
            elif operand.form in ("zero_d", "scalar", "python"):
                out.append(operand.value())
        return tuple(out)

    def expressions(self) -> Iterator[Expression]:
        """Every case of the group."""
        return (expression for expression in self._over_operands() if re.search(self.pattern, expression.text))

    def _over_operands(self) -> Iterator[Expression]:
        names = self.names
        for op in elementwise_rows():
            if op.arity == len(names):
                yield from (e for e in _call(op, names) if not self._fills_memory(e))
        if len(names) == 1:
            for dtype in ALL_DTYPES:
                if self.operands[0].strong:
                    yield Expression("cast", f"({names[0]}).astype(np.{dtype.numpy})", names)
                yield Expression("cast", f"np.dtype('{dtype.numpy}').type({names[0]})", names)
            texts = FUNCTIONS_OF_ONE + (METHODS_OF_ONE if self.operands[0].strong else ())
            yield from (Expression(_row_of(text), text.format(*names), names) for text in texts)
            return
        yield Expression("copy", f"divmod({names[0]}, {names[1]})", names, True)
        for text in FUNCTIONS_OF_TWO:
            yield Expression("copy", text.format(*names), names)
        for low, high in ((names[1], names[1]), (names[1], "5"), ("None", names[1]), (names[1], "None")):
            row = {("None", names[1]): "minimum", (names[1], "None"): "maximum"}.get((low, high), "clip")
            yield Expression(row, f"np.clip({names[0]}, {low}, {high})", (names[0], low, high))
        condition = "np.equal(np.remainder(np.isnan(np.float64(a)) + np.float64(a), 2), 0)" if "a" in names else "True"
        yield Expression("where", f"np.where({condition}, {names[0]}, {names[1]})", names)
        yield Expression("where", f"np.where({names[0]}, {names[1]}, {names[0]})", names)

    def _fills_memory(self, expression: Expression) -> bool:
        """Python computes 3 << 2**40 and 3 ** 2**40 exactly."""
        count = self.operands[-1]
        grows = expression.operator and expression.row in ("left_shift", "power")
        return grows and count.dtype == "int" and not any(o.strong for o in self.operands) and count.value() > 1000

    def __str__(self) -> str:
        return ", ".join(map(str, self.operands))


def _row_of(text: str) -> str:
    """The row that bounds the error of a function with arguments of its own."""
    name = text.partition("(")[0].removeprefix("np.")
    return name if name in ("square", "sqrt") else "copy"


_COUNTER = itertools.count()


def make_function(parameters: Iterable[str], expressions: Iterable[str], namespace: dict[str, Any]) -> Any:
    """A function of the expressions as a tuple, with source that Python's tools find."""
    name = f"<case {next(_COUNTER)}>"
    lines = [f"def case({', '.join(parameters)}):\n", "    return (\n"]
    lines += [f"        {text},\n" for text in expressions]
    lines.append("    )\n")
    # Without a time stamp linecache keeps what no file holds.
    linecache.cache[name] = (0, None, lines, name)
    exec(compile("".join(lines), name, "exec"), namespace)
    return namespace["case"]


@functools.lru_cache(256)
def _function_of(
    parameters: tuple[str, ...], constants: tuple[tuple[str, Operand], ...], texts: tuple[str, ...]
) -> Any:
    return make_function(parameters, texts, {"np": np, **{name: operand.value() for name, operand in constants}})


def function_of(group: Group, texts: tuple[str, ...]) -> Any:
    """A function of some of a group's expressions; groups that differ in the values of arguments share it."""
    constants = tuple((n, o) for n, o in zip(group.names, group.operands, strict=True) if o.form == "constant")
    return _function_of(group.parameters, constants, texts)


def all_groups() -> Iterator[Group]:
    """The whole matrix: every pair of dtypes, forms and positions."""
    arrays = [Operand("array", d.name) for d in ALL_DTYPES]
    others = other_operands()
    for operand in (*arrays, *others):
        yield Group((operand,))
    for pair in itertools.product(arrays, arrays):
        yield Group(pair)
    for array, other in itertools.product(arrays, others):
        yield Group((array, other))
        yield Group((other, array))
    for pair in itertools.product(others, others):
        yield Group(pair)


def other_operands() -> list[Operand]:
    """Every operand that is no array with axes."""
    strong = [o for form in ("zero_d", "scalar", "constant") for o in strong_operands(form)]
    return strong + [o for form in ("python", "literal", "constant") for o in weak_operands(form)]


def promotion_groups() -> Iterator[Group]:
    """Every pair of kinds of operands: what decides the dtype, with one value of each strong kind."""
    small = {"b": "True", "i": "-3", "u": "200", "f": "2.5", "c": "2.5 - 1j"}
    strong = [Operand(form, d.name, f"np.dtype('{d.numpy}').type({small[d.kind]})")
              for form in ("zero_d", "scalar") for d in ALL_DTYPES]  # fmt: skip
    texts = {"bool": ("True",), "int": ("3", "-1", "300", "2**40", "2**63"), "float": ("1e300",), "complex": ("2j",)}
    weak = [Operand(form, k, text) for form in ("python", "literal") for k, values in texts.items() for text in values]
    kinds = [*(Operand("array", d.name) for d in ALL_DTYPES), *strong, *weak]
    for pair in itertools.product(kinds, kinds):
        if any(o.form not in ("literal", "constant") for o in pair):
            yield Group(pair, 7)


ALWAYS = (("f32", "f32"), ("f64", "f64"), ("i32", "i32"), ("i64", "u64"), ("bool", "bool"), ("u8", "i8"), ("f32", "i16"),
          ("f16", "f16"), ("f16", "i8"), ("c64", "c64"), ("c128", "c128"), ("c64", "f64"))  # fmt: skip
"""Pairs of array dtypes in every sample."""


def sampled_groups(count: int, seed: int = 0) -> list[Group]:
    """A part of the matrix: every dtype alone, the usual pairs, and `count` others."""
    chosen = [Group((Operand("array", d.name),)) for d in ALL_DTYPES]
    chosen += [Group((Operand("array", a), Operand("array", b))) for a, b in ALWAYS]
    pick = random.Random(seed)
    arrays = [Operand("array", d.name) for d in ALL_DTYPES]
    others = other_operands()
    for number in range(count):
        other = others[(number * 37 + seed * 11) % len(others)]
        match number % 5:
            case 0:
                chosen.append(Group((other,)))
            case 1:
                chosen.append(Group((pick.choice(arrays), other)))
            case 2:
                chosen.append(Group((other, pick.choice(arrays))))
            case 3:
                chosen.append(Group((other, pick.choice(others))))
            case _:
                chosen.append(Group((pick.choice(arrays), pick.choice(arrays))))
    return list(dict.fromkeys(chosen))

"""Random programs over the whole expression language, written while NumPy computes them.

A program is a list of statements of one operation each; since every value is known while a
program grows, a statement that NumPy refuses is not written (or is the last one, where the
same error is expected).  Which operation and dtype comes next is chosen by how often each was
chosen before, so that all are covered evenly.
"""

from __future__ import annotations

import collections
import dataclasses
import linecache
import math
import random
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from pytocu.elementwise import vectorize
from pytocu.errors import UnsupportedError
from pytocu.ir import promote
from pytocu.ir.core import Op
from pytocu.ir.ops import OUTPUTS, elementwise_rows
from pytocu.ir.types import ALL_DTYPES, I32, DType, dtype_named, dtype_of
from pytocu.testing.compare import edge_values
from pytocu.testing.fuzz_containers import TALLY
from pytocu.testing.fuzz_scalars import PLAIN

# Arguments.

SHAPES: dict[str, tuple[str, ...]] = {
    "x": ("n", "m"), "row": ("m",), "column": ("n", "1"), "turned": ("m", "n"), "padded": ("n + 2", "m + 2"),
    "cube": ("2", "n", "m"), "point": (),
}  # fmt: skip
"""Kinds of array arguments and their shapes; an argument is called ``x_f32``."""

SIZES = ((3, 4), (5, 2), (1, 3), (3, 1), (0, 4), (33, 9), (2, 67), (1, 1))

LAYOUTS = ("{}", "{}", "np.asfortranarray({})", "np.flip(np.flip({}).copy())", "np.repeat({}, 2, axis=-1)[..., ::2]")
"""Expressions that put the elements of an array elsewhere in memory."""

VIEWS: dict[str, tuple[str, ...]] = {
    "x": ("{}", "{}", "{}", "{}[::-1]", "{}[:, ::-1]", "{}[...]", "{}[:, None, :][:, 0]", "{}[0]", "{}[:, :1]", "{}[-1:]",
          "{}[:, ::2]"),
    "row": ("{}", "{}[::-1]", "{}[None, :]", "{}[np.newaxis]", "np.expand_dims({}, 0)"),
    "column": ("{}", "{}[::-1]", "{}[:, :1]"),
    "turned": ("{}.T", "{}.T[::-1]", "np.transpose({}, (1, 0))", "{}[::-1, ::-1].T", "{}.swapaxes(0, 1)",
               "np.moveaxis({}, 0, 1)"),
    "padded": ("{}[1:-1, 1:-1]", "{}[2:, 1:-1]", "{}[:-2, 2:]", "{}[1:-1, :-2][::-1]", "{}[-2:0:-1, 1:-1]"),
    "cube": ("{}", "{}[1]", "{}[0, ::-1]", "{}[::-1]", "{}[-1:]"),
    "point": ("{}", "{}", "{}[()]"),
    "scalar": ("{}",),
}  # fmt: skip
"""How an argument is read, so that the shapes of most readings broadcast."""

PYTHON_SCALARS: dict[str, tuple[Any, ...]] = {
    "count": (3, 0, -7, 100, 2, -1), "factor": (2.5, -0.0, math.inf, 0.1, 0.5, -1.0), "flag": (True, False),
    "turn": (2 - 1j, 0.5j),
}  # fmt: skip
PYTHON_EXPRESSIONS = (
    "count", "factor", "flag", "turn", "(count + 1)", "math.sqrt(abs(factor))", "(factor if flag else 0.25)", "(not flag)",
    "(count < 3 and flag)", "(count > 1 or flag)", "max(count, 2)", "min(factor, 1.0)", "(0 < count < 50)", "float(count)",
    "abs(count)", "pow(count, 2)", "(count % 5)", "(count // 2 - 1)", "x_f64.shape[0]", "len(row_f32)", "x_i32.ndim",
    "complex(factor, count)", "bool(count)", "(x_f64.shape[1] * 2 + 1)", "int(flag)", "x_u8.size",
)  # fmt: skip
LITERALS = ("2", "0", "1", "0.0", "0.5", "-1", "3", "1e-3", "np.float32(3)", "np.int8(-3)", "True", "np.inf", "7",
            "-0.0", "1j", "np.float64(0.1)", "np.uint8(200)", "np.float16(1.5)", "np.nan", "math.pi", "(2 - 0.5j)",
            "np.complex64(1 + 2j)")  # fmt: skip

NEUTRAL = ("0", "1", "0.0", "1.0", "-0.0", "-1", "True")
"""With these, algebra is tempted to leave an operation out."""

EXPONENTS = ("0.5", "2", "-1", "1", "0.5", "2.0", "0.5")
"""Powers that are roots, squares, reciprocals or nothing at all."""

# Operations.


class Form(NamedTuple):
    """Source of one operation over operands; `row` says what its value may be, where it is not NumPy's bits."""

    text: str
    arity: int
    row: str = ""
    kinds: str = "biufc"
    """Of the first operand."""
    strong: bool = False
    """The first operand is an array or a NumPy scalar."""
    no_nan: bool = False
    """The sign of a NaN shows, and says nothing."""


def _row_forms(op: Op) -> Iterator[Form]:
    part = f"[{op.output}]" if op.numpy in OUTPUTS else ""
    arity = op.arity or 0
    slots = ", ".join(f"{{{k}}}" for k in range(arity))
    sign = op.name in ("signbit", "copysign")
    if op.name == "clip":
        yield Form("np.clip({0}, {1}, {2})", 3, "clip")
        return
    yield Form(f"np.{op.numpy}({slots}){part}", arity, op.name, no_nan=sign)
    if op.symbol == "abs":
        yield Form("abs({0})", 1, op.name, strong=True)
    elif op.symbol and arity == 1:
        yield Form(f"({op.symbol}{{0}})", 1, op.name, strong=True)
    elif op.symbol:
        yield Form(f"({{0}} {op.symbol} {{1}})", 2, op.name, strong=True)


ROWS: dict[str, tuple[Form, ...]] = {op.name: tuple(_row_forms(op)) for op in elementwise_rows()}
"""Of each row of the op table that is a ufunc: how it is written."""

OTHERS: tuple[Form, ...] = (
    Form("np.where({0}, {1}, {2})", 3, kinds="b"),
    Form("np.where({0} > 0, {1}, {2})", 3, kinds="iuf"),
    Form("np.select([{0}, {1} == {1}], [{1}, {2}], default=0)", 3, kinds="b"),
    Form("np.nan_to_num({0})", 1),
    Form("np.nan_to_num({0}, nan=1, posinf=2.5, neginf=-3)", 1, kinds="fc"),
    Form("np.isclose({0}, {1})", 2, kinds="biuf"),
    Form("np.isclose({0}, {1}, rtol=0.1, atol=0.5, equal_nan=True)", 2, kinds="biuf"),
    Form("np.round({0}, 1)", 1, kinds="iufc"),
    Form("np.around({0})", 1, kinds="iufc"),
    Form("{0}.round(2)", 1, kinds="iufc", strong=True),
    Form("np.isposinf({0})", 1, kinds="biuf"),
    Form("np.isneginf({0})", 1, kinds="biuf"),
    Form("np.isreal({0})", 1, strong=True),
    Form("np.iscomplex({0})", 1, strong=True),
    Form("np.real({0})", 1, strong=True),
    Form("np.imag({0})", 1, strong=True),
    Form("{0}.real", 1, kinds="c", strong=True),
    Form("{0}.imag", 1, kinds="c", strong=True),
    Form("{0}.conj()", 1, strong=True),
    Form("{0}.clip(1, 5)", 1, kinds="iuf", strong=True),
    Form("({0} + {1}).T", 2, kinds="iufc", strong=True),
    Form("np.add({0}, {1}, dtype=np.float64)", 2, kinds="biuf"),
    Form("np.subtract({0}, {1}, dtype='f4', casting='same_kind')", 2, kinds="biuf"),
    Form("({0} < {1}).astype(np.int8)", 2, kinds="biuf", strong=True),
    Form("np.array({0})", 1),
    Form("np.asarray({0})", 1),
    Form("{0}[::-1]", 1, strong=True),
    Form("{0}[..., None][..., 0]", 1, strong=True),
    Form("divmod({0}, {1})[1]", 2, "remainder", kinds="iuf", strong=True),
    Form("{0}.view(np.dtype('i%d' % {0}.itemsize))", 1, kinds="iuf", strong=True, no_nan=True),
    Form("({0}.view(np.dtype('f%d' % {0}.itemsize)) * 1)", 1, kinds="iu", strong=True),
    *(Form(f"{{0}}.astype(np.{d.numpy.name})", 1, "cast", strong=True) for d in ALL_DTYPES),
    *(Form(f"np.{d.numpy.name}({{0}})", 1, "cast", strong=True) for d in ALL_DTYPES if d.kind != "b"),
    # Whether a number is rounded once shows in few numbers, so it is tried more often.
    *(
        Form(text, 1, "cast", kinds="f", strong=True)
        for text in ("{0}.astype(np.float16)", "np.float16({0})", "{0}.astype('f2')")
    ),
)  # fmt: skip

CHANGES = (
    "{w}[...] = {e}", "{w}[::-1] = {e}", "{w}[1:] = {s}", "{w} += {e}", "{w} -= {e}", "np.add({e}, {s}, out={w})",
    "np.copyto({w}, {e}, where={w} == {w})", "np.maximum({w}, {e}, out={w}, where={w} == {w})", "{w}[..., ::2] = {s}",
    "{w}.fill({s})", "{w}[-1:] = {w}[:1]", "np.negative({w}, out={w})", "{w}[::-1] = {w} + {s}", "{w}[1:] -= {w}[:-1]",
    "{w}[:-1] = {w}[1:]", "{w}[..., 1:] += {w}[..., :-1]", "{w}[...] = {w}[::-1]", "{w}[1:-1] = {w}[2:] + {w}[:-2]",
)  # fmt: skip
"""In-place changes of an array `w`, with `e` that broadcasts to it and a number `s`."""


@dataclass(frozen=True)
class Statement:
    """One line: a name for an expression's value, or, without a name, a change in place.

    With `features` and a name it is a block: lines that bind the name.  `defines` is a function of scalars that they
    call, which stands before the program.
    """

    name: str
    text: str
    operands: tuple[str, ...] = ()
    row: str = ""
    no_nan: bool = False
    features: str = ""
    defines: str = ""

    @property
    def block(self) -> bool:
        """Whether the code is no expression, but lines that bind the name."""
        return bool(self.name and self.features)

    @property
    def code(self) -> str:
        """The expression, or the statement that changes something."""
        return self.text.format(*self.operands)

    @property
    def names(self) -> frozenset[str]:
        """Every name that is read."""
        return frozenset(re.findall(r"(?<![\w.'])[a-z]\w*", self.code)) - {self.name}

    @property
    def operations(self) -> int:
        """How many operations of the op table, or functions, it holds; of a block, how many lines that compute."""
        if self.block or "\n" in self.text:
            computing = (line for line in self.text.splitlines() if not re.match(r"\s*(for|while|if|elif|else|def)\b", line))
            return sum(bool(re.search(r"[-+*/%^|&~(<>]", line)) for line in computing)
        return int(bool(self.row) or "(" in self.text)


@dataclass(frozen=True)
class Program:
    """Statements, and which values are returned.

    Attributes
    ----------
    inline : bool
        Values that are used once are written where they are used.
    error : bool
        NumPy refuses the last statement.
    """

    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    inline: bool = False
    error: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The arguments it reads, in order."""
        known = {s.name for s in self.statements}
        used = {n for s in self.statements for n in s.names} | set(self.results)
        return tuple(sorted(n for n in used - known if is_argument(n)))

    @property
    def operations(self) -> int:
        """How many operations of the op table, or functions, it holds."""
        return sum(s.operations for s in self.statements)

    def lines(self, name: str = "program") -> list[str]:
        """The function's source."""
        written: dict[str, str] = {}
        out = [f"def {name}({', '.join(self.parameters)}):"]
        uses = collections.Counter(n for s in self.statements for o in s.operands for n in re.findall(r"\bv\d+\b", o))
        in_place = any(not s.name for s in self.statements)
        for s in self.statements:
            code = s.text.format(*(re.sub(r"\bv\d+\b", lambda m: written.get(m[0], m[0]), o) for o in s.operands))
            once = uses[s.name] == 1 and s.text.count("{0}") <= 1 and len(code) < 300
            if self.inline and s.name and not s.block and once and not in_place and s.name not in self.results:
                repeated = any(t.block or t.text.count(f"{{{k}}}") > 1 for t in self.statements
                               for k, o in enumerate(t.operands) if re.search(rf"\b{s.name}\b", o))  # fmt: skip
                if not repeated:
                    written[s.name] = f"({code})"
                    continue
            code = code if s.block or not s.name else f"{s.name} = {code}"
            out += [f"    {line}" for line in code.splitlines()]
        listed = "".join(f"{written.get(r, r)}, " for r in self.results)
        return [*out, f"    return ({listed.rstrip()})" if self.results else "    return ()"]

    @property
    def definitions(self) -> list[str]:
        """The class of which it makes objects, and the functions of scalars that it calls, line by line."""
        made = [*TALLY.splitlines(), "", ""] if any("Tally(" in s.text for s in self.statements) else []
        return made + self.scalar_functions

    @property
    def scalar_functions(self) -> list[str]:
        """The functions of scalars that it calls, line by line."""
        return [line for s in self.statements if s.defines for line in (*s.defines.splitlines(), "", "")]

    @property
    def source(self) -> str:
        """The text of the function ``program``, behind that of the functions of scalars."""
        return "\n".join([*self.definitions, *self.lines(), ""])

    def function(self) -> Any:
        """The program as a function with source."""
        return make(self.source, "program")


_MADE = collections.Counter[str]()
NAMESPACE: dict[str, Any] = {"np": np, "math": math, "dataclasses": dataclasses, "pytocu": SimpleNamespace(vectorize=vectorize)}


def make(source: str, name: str) -> Any:
    """A function of a text, whose source Python's tools find."""
    _MADE["programs"] += 1
    file = f"<program {_MADE['programs']}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    # Thousands of programs are made; the text of those long gone is not kept.
    linecache.cache.pop(f"<program {_MADE['programs'] - 2000}>", None)
    namespace: dict[str, Any] = dict(NAMESPACE)
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


def is_argument(name: str) -> bool:
    """Whether a name is one of the arguments a program may read."""
    kind, _, dtype = name.rpartition("_")
    return name in PYTHON_SCALARS or (kind in (*SHAPES, "scalar") and dtype in _DTYPE_NAMES)


_DTYPE_NAMES = frozenset(d.name for d in ALL_DTYPES)


class Argument(NamedTuple):
    """The value of an argument, and for arrays an expression that says where its elements lie."""

    value: Any
    layout: str = "{}"

    def placed(self) -> Any:
        """The argument as it is passed, in memory of its own."""
        if not isinstance(self.value, np.ndarray):
            return self.value
        return eval(self.layout.format("value"), {"np": np, "value": self.value.copy()})


def argument(name: str, size: tuple[int, int], pick: random.Random) -> Argument:
    """A value for an argument: edge values, random bits and ordinary numbers."""
    if name in PYTHON_SCALARS:
        return Argument(pick.choice(PYTHON_SCALARS[name]))
    kind, _, dtype = name.rpartition("_")
    numpy = dtype_named(dtype).numpy
    shape = tuple(eval(part, dict(zip("nm", size, strict=True))) for part in SHAPES.get(kind, ()))
    count = math.prod(shape)
    pool = edge_values(numpy, max(count, 90), pick.randrange(1000))
    values = np.random.default_rng(pick.randrange(2**32)).permutation(pool)[:count]
    if numpy.kind in "fc":
        # What becomes of a signalling NaN depends on the instructions that NumPy was compiled to.
        with np.errstate(invalid="ignore"):
            values.view(f"f{numpy.itemsize // (2 if numpy.kind == 'c' else 1)}")[...] *= 1
    values = values.reshape(shape)
    if kind == "scalar":
        return Argument(values[()])
    return Argument(values, pick.choice(LAYOUTS) if shape else "{}")


def wanted() -> list[tuple[str, DType]]:
    """Every row with every dtype it computes in."""
    found: list[tuple[str, DType]] = []
    for op in elementwise_rows():
        for dtype in ALL_DTYPES:
            try:
                operands = (dtype, I32) if op.name == "ldexp" else (dtype,) * (op.arity or 0)
                loop, outputs = promote.ufunc_loop(op.numpy, operands)
            except TypeError:
                continue
            if loop[0] is dtype and all(d in ALL_DTYPES for d in outputs):
                found.append((op.name, dtype))
    return found


WANTED = tuple(wanted())


def loop_dtype(op: Op, values: Sequence[Any]) -> DType | None:
    """The dtype of the loop NumPy picks for some values."""
    kinds = [{int: "int", float: "float", complex: "complex"}.get(type(v)) or dtype_of(np.asarray(v).dtype) for v in values]
    if any(k is None for k in kinds):
        return None
    try:
        return promote.ufunc_loop(op.numpy, tuple(k for k in kinds if k is not None))[0][0]
    except (TypeError, ValueError, UnsupportedError):
        return None


Coverage = collections.Counter[tuple[str, str]]
"""How many statements hold a row with a dtype; of loops, branches and masks, how many programs hold them."""


def evaluate(code: str, env: Mapping[str, Any]) -> Any:
    """NumPy's value of an expression."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # One namespace: a comprehension in it is a function of its own before Python 3.12, which sees no locals of others.
        return eval(code, {**NAMESPACE, **env})


def value_of(statement: Statement, env: Mapping[str, Any]) -> Any:
    """NumPy's value of a statement that has a name."""
    if not statement.block:
        return evaluate(statement.code, env)
    # One namespace: functions that the lines define see it.
    scope = {**NAMESPACE, **env, "pytocu": PLAIN}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(TALLY if "Tally(" in statement.text else statement.defines, scope)
        exec(statement.code, scope)
    return scope[statement.name]


def execute(code: str, env: dict[str, Any]) -> None:
    """Run a statement that changes something."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, dict(NAMESPACE), env)


def shows_nan(statement: Statement, env: Mapping[str, Any]) -> bool:
    """Whether the sign of a NaN would be part of the value."""
    if not statement.no_nan:
        return False
    return any(bool(np.any(v != v)) for v in (evaluate(o, env) for o in statement.operands))


def changed_arguments(statements: Iterable[Statement]) -> list[str]:
    """The arguments that a program writes to."""
    return [name for name in dict.fromkeys(s.operands[0] for s in statements if not s.name) if is_argument(name)]


def unused(statements: Iterable[Statement]) -> list[str]:
    """Values that no later statement reads."""
    listed = list(statements)
    read = {n for s in listed for n in s.names}
    return [s.name for s in listed if s.name and s.name not in read]


def with_results(program: Program, results: Iterable[str]) -> Program:
    """The same program that returns other values."""
    return replace(program, results=tuple(dict.fromkeys(results)))


__all__ = [
    "CHANGES", "EXPONENTS", "LITERALS", "NEUTRAL", "OTHERS", "PYTHON_EXPRESSIONS", "ROWS", "SHAPES", "SIZES", "VIEWS", "WANTED",
    "Argument", "Coverage", "Form", "Program", "Statement", "argument", "changed_arguments", "evaluate", "execute",
    "is_argument", "loop_dtype", "make", "shows_nan", "unused", "value_of", "with_results",
]  # fmt: skip

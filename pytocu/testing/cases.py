"""Every operation of the op table on every kind of operand, compared strictly with NumPy.

A :class:`Group` is one function of many expressions over the same operands, so that a few
compilations answer for thousands of cases.  ``python -m pytocu.testing.cases --full`` runs the
whole matrix; tests run :func:`sampled_groups`.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.errors import PytocuError, UnsupportedError
from pytocu.ir import interp_rows, promote
from pytocu.ir.core import OPS, Function, Op, walk
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.types import ALL_DTYPES, COMPILED_DTYPES, dtype_named, dtype_of
from pytocu.testing.compare import compare, edge_values, same_bits, ulp_distance

FORMULAS = {
    "maximum": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "minimum": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "fmax": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "fmin": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "clip": "the sign of zero: NumPy's depends on the vector width, ours is min(max(x, low), high)",
    "cast": "floats out of an integer's range: NumPy's depends on the CPU, ours is what `cast` of the op table states",
    "reciprocal": "of the integer 0, which is a cast of infinity",
}
"""Where NumPy's own answer depends on layout, length or CPU, so that the row's formula is compared."""

ZERO_SIGN = frozenset({"maximum", "minimum", "fmax", "fmin", "clip"})

ABSOLUTE = frozenset({"logaddexp", "logaddexp2"})
"""Rows whose bound is in units of the last place of 1 where the result is smaller than that."""


# Comparison.


def compare_with_numpy(rows: Iterable[str], actual: Any, expected: Any) -> None:
    """Compare bits with NumPy, but for what the formulas of the rows state.

    Raises
    ------
    AssertionError
        See :func:`pytocu.testing.compare.compare`.
    """
    if ZERO_SIGN & set(rows):
        actual, expected = _positive_zeros(actual), _positive_zeros(expected)
    compare(actual, expected)


def _positive_zeros(value: Any) -> Any:
    match value:
        case tuple() | list():
            return type(value)(map(_positive_zeros, value))
        case np.ndarray() | np.generic() if value.dtype.kind == "f":
            with np.errstate(all="ignore"):
                plain = value + value.dtype.type(0)
            return plain if isinstance(value, np.ndarray) else plain[()]
        case _:
            return value


def close(actual: Any, expected: Any, relative: float) -> None:
    """The same kinds, dtypes and shapes, and values within a relative distance (absolute below 1)."""
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            close(a, e, relative)
        return
    left, right = np.asarray(actual), np.asarray(expected)
    if right.dtype.kind != "f":
        compare(actual, expected)
        return
    # Equal values everywhere, so that only kind, dtype and shape are compared.
    compare(np.zeros_like(left) if left.ndim else type(actual)(0), np.zeros_like(right) if right.ndim else type(expected)(0))
    np.testing.assert_allclose(left, right, rtol=relative, atol=relative)


def rows_of(function: Function) -> set[str]:
    """Names of the operations in a function."""
    return {inst.op.name for inst in walk(function.body)}


def _within_bound(op: Op, actual: Any, reference: np.ndarray) -> None:
    """Within the row's bound of the correctly rounded value."""
    left, right = np.asarray(actual), np.asarray(reference)
    distance = ulp_distance(left, right)
    good = distance <= op.ulp
    if op.name in ABSOLUTE:
        with np.errstate(all="ignore"):
            good |= np.abs(left - right) <= op.ulp * np.finfo(right.dtype).eps
    if not good.all():
        worst = np.unravel_index(np.argmax(np.where(good, 0, distance)), distance.shape)
        raise AssertionError(
            f"{int((~good).sum())} of {good.size} elements are more than {op.ulp:g} ulp off, worst at {tuple(map(int, worst))}: "
            f"{left[worst]!r}, correctly rounded {right[worst]!r}, {distance[worst]:g} ulp"
        )


def reference(op: Op, arguments: tuple[Any, ...], dtype: np.dtype) -> np.ndarray:
    """The correctly rounded value of an inexact row, from long double.

    Examples
    --------
    >>> float(reference(OPS["exp"], (np.float32(1),), np.dtype("f4")))
    2.7182817459106445
    """
    operands = tuple(_promoted(a) for a in arguments)
    loop, _ = promote.ufunc_loop(op.numpy, operands)
    with np.errstate(all="ignore"):
        wide = [np.asarray(a).astype(d.numpy).astype(np.longdouble) for a, d in zip(arguments, loop, strict=True)]
        function = promote.numpy_function(op.numpy)
        rounded = np.asarray(function(*wide)).astype(dtype)
        # The C library's powl(-inf, -2**63) is wrong; at infinities double is exact.
        finite = np.isfinite(sum(w * 0 for w in wide))
        return np.where(finite, rounded, function(*[w.astype(np.float64) for w in wide]).astype(dtype))


def _promoted(value: Any) -> Any:
    kind = {bool: "bool", int: "int", float: "float"}.get(type(value))
    if kind == "bool":
        return dtype_named("bool")
    return kind if kind else dtype_of(np.asarray(value).dtype)


# Operands.


@dataclass(frozen=True)
class Operand:
    """One operand of the expressions of a group.

    Attributes
    ----------
    form : str
        ``array``, ``zero_d`` (an array without axes), ``scalar`` (a NumPy scalar), ``python`` (a
        Python scalar as an argument), ``literal`` (written in the source), ``constant`` (a global).
    dtype : str
        Short dtype name, or ``bool``, ``int``, ``float`` of Python.
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


_NUMBERS = {"b": ("True", "False"), "i": ("-3", "5", "0"), "u": ("3", "200", "0"), "f": ("2.5", "-0.0", "np.inf", "np.nan")}


def strong_operands(form: str, dtypes: Iterable[Any] = COMPILED_DTYPES) -> list[Operand]:
    """NumPy scalars, 0-d arrays or constants of the dtypes."""
    return [
        Operand(form, d.name, f"np.dtype('{d.numpy}').type({text})") for d in dtypes for text in _NUMBERS[d.kind]
    ]


PYTHON_VALUES = {
    "bool": ("True", "False"),
    "int": ("3", "-1", "0", "300", "2**40", "2**63", "-2**63 - 1"),
    "float": ("2.5", "1e300", "-0.0", "float('nan')"),
}


def weak_operands(form: str) -> list[Operand]:
    """Python scalars as arguments (``python``), in the source (``literal``) or in a global (``constant``)."""
    return [Operand(form, kind, text) for kind, texts in PYTHON_VALUES.items() for text in texts]


# Groups.


@dataclass(frozen=True)
class Expression:
    """One case: a row and its source over the operands ``a`` and ``b``."""

    row: str
    text: str
    arguments: tuple[str, ...]
    operator: bool = False


def _call(op: Op, arguments: tuple[str, ...]) -> Iterator[Expression]:
    yield Expression(op.name, f"np.{op.numpy}({', '.join(arguments)})", arguments)
    if op.symbol == "abs":
        yield Expression(op.name, f"abs({arguments[0]})", arguments, True)
    elif op.symbol and len(arguments) == 1:
        yield Expression(op.name, f"{op.symbol}({arguments[0]})", arguments, True)
    elif op.symbol:
        yield Expression(op.name, f"({arguments[0]}) {op.symbol} ({arguments[1]})", arguments, True)


@dataclass(frozen=True)
class Group:
    """Operands, and every expression over them."""

    operands: tuple[Operand, ...]
    count: int = 96

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
        names = self.names
        for op in elementwise_rows():
            if op.arity == len(names):
                yield from _call(op, names)
        if len(names) == 1:
            for dtype in ALL_DTYPES:
                if self.operands[0].strong:
                    yield Expression("cast", f"({names[0]}).astype(np.{dtype.numpy})", names)
                yield Expression("cast", f"np.dtype('{dtype.numpy}').type({names[0]})", names)
            return
        for low, high in ((names[1], names[1]), (names[1], "5"), ("None", names[1]), (names[1], "None")):
            row = {("None", names[1]): "minimum", (names[1], "None"): "maximum"}.get((low, high), "clip")
            yield Expression(row, f"np.clip({names[0]}, {low}, {high})", (names[0], low, high))
        condition = "np.equal(np.remainder(np.isnan(np.float64(a)) + np.float64(a), 2), 0)" if "a" in names else "True"
        yield Expression("where", f"np.where({condition}, {names[0]}, {names[1]})", names)
        yield Expression("where", f"np.where({names[0]}, {names[1]}, {names[0]})", names)

    def __str__(self) -> str:
        return ", ".join(map(str, self.operands))


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


# Checking.


def _numpy_answer(text: str, scope: dict[str, Any]) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(text, scope)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        return error


def must_refuse(group: Group, expression: Expression, expected: Any) -> bool:
    """Whether the answer is an UnsupportedError: float16 and complex results, and powers that depend on a sign."""
    dtype = getattr(expected, "dtype", None)
    if isinstance(expected, complex) or (dtype is not None and dtype_of(dtype) not in COMPILED_DTYPES):
        return True
    op = OPS[expression.row]
    if op in elementwise_rows() and op.arity == len(group.operands) and not isinstance(expected, Exception):
        python = expression.operator and not any(o.strong for o in group.operands)
        operands = tuple(_operand(o, group.operands, expression) for o in group.operands)
        if not python and dtype_named("f16") in promote.ufunc_loop(op.numpy, operands)[0]:
            return True
    if expression.row != "power" or group.operands[-1].form in ("literal", "constant"):
        return False
    base, exponent = group.operands
    if expression.operator and base.form in ("python", "literal", "constant") and not base.strong and not exponent.strong:
        # Python's own power of two ints: an int or a float, by the sign of the exponent.
        return exponent.dtype in ("int", "bool") and base.dtype in ("int", "bool") and exponent.dtype == "int"
    try:
        loop, _ = promote.ufunc_loop("power", tuple(_operand(o, group.operands, expression) for o in group.operands))
    except TypeError:
        return False
    return loop[1].kind == "i"


def _operand(operand: Operand, operands: tuple[Operand, ...], expression: Expression) -> Any:
    if operand.strong or operand.dtype == "bool":
        return dtype_named(operand.dtype)
    if not expression.operator and not any(o.strong for o in operands):
        return dtype_named({"int": "i64", "float": "f64"}[operand.dtype])
    return operand.dtype


def _needs_objects(operand: Operand) -> bool:
    """A Python int that no dtype holds: NumPy takes it for an object, whose methods it then looks for."""
    return operand.dtype == "int" and not -(2**63) <= operand.value() < 2**64


@dataclass(frozen=True)
class Failure:
    """A case that did not come out as it must."""

    group: Group
    expression: Expression
    message: str

    def __str__(self) -> str:
        return f"{self.expression.text} with {self.group}: {self.message[:400]}"


def check_group(group: Group, call: Callable[..., Any], results: list[Any] | None = None) -> list[Failure]:
    """Run every case of a group and compare.

    Parameters
    ----------
    group : Group
    call : callable
        ``call(function, *arguments)`` compiles and runs a function.
    results : list, optional
        Filled with (expression, result) of the cases that have one.

    Returns
    -------
    list of Failure
        Empty when every case agrees with NumPy.
    """
    arguments = group.arguments()
    scope = {**group.globals(), **dict(zip(group.parameters, arguments, strict=True))}
    fine: list[tuple[Expression, Any]] = []
    failures: list[Failure] = []
    for expression in group.expressions():
        expected = _numpy_answer(expression.text, dict(scope))
        if isinstance(expected, Exception) or must_refuse(group, expression, expected):
            message = _check_refused(group, expression, expected, call, arguments)
            if message:
                failures.append(Failure(group, expression, message))
        else:
            fine.append((expression, expected))
    answers = _answers(group, [e for e, _ in fine], call, arguments)
    for (expression, expected), answer in zip(fine, answers, strict=True):
        if isinstance(answer, PytocuError):
            failures.append(Failure(group, expression, f"{type(answer).__name__}: {answer}"))
            continue
        if results is not None:
            results.append((expression, answer))
        try:
            _check_value(expression, answer, expected, scope)
        except AssertionError as error:
            failures.append(Failure(group, expression, str(error)))
    return failures


def _answers(group: Group, expressions: list[Expression], call: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    """One result an expression; where the function of all of them fails, each is asked alone."""
    if not expressions:
        return []
    try:
        return list(call(make_function(group.parameters, [e.text for e in expressions], group.globals()), *arguments))
    except PytocuError as error:
        if len(expressions) == 1:
            return [error]
    half = len(expressions) // 2
    return [*_answers(group, expressions[:half], call, arguments), *_answers(group, expressions[half:], call, arguments)]


def _check_refused(
    group: Group, expression: Expression, expected: Any, call: Callable[..., Any], arguments: tuple[Any, ...]
) -> str:
    """An empty text when the case raises what it must, and the next good call works."""
    wanted = type(expected) if isinstance(expected, Exception) else UnsupportedError
    wanted = next(t for t in (TypeError, OverflowError, ZeroDivisionError, ValueError, UnsupportedError) if issubclass(wanted, t))
    try:
        answer = call(make_function(group.parameters, [expression.text], group.globals()), *arguments)
    except PytocuError as error:
        if isinstance(error, UnsupportedError) and must_refuse(group, expression, expected):
            return ""
        if isinstance(error, OverflowError) and any(_needs_objects(o) for o in group.operands):
            return ""
        if not isinstance(error, wanted):
            return f"{type(error).__name__} where NumPy has {expected!r}: {error}"
        sentence = str(expected).strip()
        if wanted in (TypeError, ValueError) and not str(error).startswith(sentence):
            return f"another sentence than NumPy's: {str(error).splitlines()[0]!r}, not {sentence!r}"
        return ""
    return f"gives {answer!r} where {expected!r} is expected"


def _check_value(expression: Expression, actual: Any, expected: Any, scope: dict[str, Any]) -> None:
    op = OPS[expression.row]
    kind = getattr(expected, "dtype", np.dtype(object)).kind
    if expression.row == "cast":
        (argument,) = (eval(n, scope) for n in expression.arguments)
        if not isinstance(argument, (bool, int, float)):
            wanted = dtype_of(expected.dtype)
            assert wanted is not None
            exact = interp_rows.cast(argument, wanted)
            _agrees_in_range(np.asarray(argument), np.asarray(exact), np.asarray(expected))
            expected = np.asarray(exact) if isinstance(expected, np.ndarray) else exact
        compare(actual, expected)
        return
    python = not isinstance(expected, (np.ndarray, np.generic))
    if not python and kind == "f" and not op.exact:
        compare(np.zeros_like(actual)[()] if np.ndim(actual) == 0 else np.zeros_like(actual),
                np.zeros_like(expected)[()] if np.ndim(expected) == 0 else np.zeros_like(expected))  # fmt: skip
        _within_bound(op, actual, reference(op, tuple(eval(n, scope) for n in expression.arguments), expected.dtype))
        return
    if op.name == "reciprocal" and kind in "iu":
        argument = np.asarray(eval(expression.arguments[0], scope))
        with np.errstate(all="ignore"):
            value = interp_rows.cast(1.0 / argument.astype(np.float64), dtype_named(f"{kind}{expected.dtype.itemsize * 8}"))
        expected = np.where(argument == 0, value, expected).astype(expected.dtype)
        expected = expected if isinstance(actual, np.ndarray) else expected[()]
    compare_with_numpy({op.name}, actual, expected)
    if op.name in ZERO_SIGN and not python:
        arguments = tuple(eval(n, scope) for n in expression.arguments)
        if all(isinstance(a, (np.ndarray, np.generic)) for a in arguments):
            compare(np.asarray(actual), np.asarray(interp_rows.evaluate(op, arguments)))


def _agrees_in_range(given: np.ndarray, ours: np.ndarray, numpys: np.ndarray) -> None:
    """The formula is NumPy's answer wherever the value fits."""
    if given.dtype.kind == "f" and numpys.dtype.kind in "iu":
        fits = interp_rows.in_range(given, numpys.dtype)
        ours, numpys = ours[fits], numpys[fits]
    assert same_bits(ours, numpys).all(), "the formula of cast is not NumPy's answer in range"


# Which groups.


def all_groups() -> Iterator[Group]:
    """The whole matrix: every pair of dtypes, forms and positions."""
    arrays = [Operand("array", d.name) for d in COMPILED_DTYPES]
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


ALWAYS = (("f32", "f32"), ("f64", "f64"), ("i32", "i32"), ("i64", "u64"), ("bool", "bool"), ("u8", "i8"), ("f32", "i16"))
"""Pairs of array dtypes in every sample."""


def sampled_groups(count: int, seed: int = 0) -> list[Group]:
    """A part of the matrix: every dtype alone, the usual pairs, and `count` others."""
    chosen = [Group((Operand("array", d.name),)) for d in COMPILED_DTYPES]
    chosen += [Group((Operand("array", a), Operand("array", b))) for a, b in ALWAYS]
    pick = random.Random(seed)
    arrays = [Operand("array", d.name) for d in COMPILED_DTYPES]
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


def call_jit(function: Any, *arguments: Any) -> Any:
    """Compile with ``@jit`` and run."""
    import pytocu

    return pytocu.jit(function)(*arguments)


def main(argv: list[str] | None = None) -> int:
    """``python -m pytocu.testing.cases [--full] [--count N] [--seed S] [--part I/N]``."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.cases", description=main.__doc__)
    parser.add_argument("--full", action="store_true", help="the whole matrix")
    parser.add_argument("--count", type=int, default=60, help="how many groups of a sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1", help="the I-th of N parts, to run several at once")
    options = parser.parse_args(argv)
    part, parts = map(int, options.part.split("/"))
    groups = list(all_groups()) if options.full else sampled_groups(options.count, options.seed)
    cases = failed = 0
    for number, group in enumerate(groups[part::parts]):
        failures = check_group(group, call_jit)
        cases += sum(1 for _ in group.expressions())
        failed += len(failures)
        for failure in failures:
            print(failure, flush=True)
        if number % 50 == 49:
            print(f"{number + 1} of {len(groups[part::parts])} groups, {cases} cases, {failed} failures", flush=True)
    print(f"{cases} cases, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

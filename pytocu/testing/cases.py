"""Every operation of the op table on every kind of operand, compared strictly with NumPy.

:mod:`pytocu.testing.matrix` runs the whole matrix of :mod:`pytocu.testing.operands`; tests run a
sample.  FORMULAS and LIMITS state where the answer is not NumPy's.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.elementwise import VectorizedFunction
from pytocu.errors import PytocuError, UnsupportedError
from pytocu.ir import interp, interp_rows, promote
from pytocu.ir.core import Function, Op, walk
from pytocu.ir.ops import OPS
from pytocu.ir.types import DType, dtype_named, dtype_of
from pytocu.jitted import jit
from pytocu.passes import fold, infer_types
from pytocu.passes.context import PassContext, Target
from pytocu.testing.compare import compare, complex_distance, same_bits, ulp_distance
from pytocu.testing.complex_reference import PLAIN_STEPS, bound_of, complex_reference, growth, relative_distance
from pytocu.testing.operands import Expression, Group, function_of

FORMULAS = {
    **dict.fromkeys(
        ("less", "less_equal", "greater", "greater_equal"),
        "of complex NumPy scalars with a NaN: NumPy's operators on scalars ignore it, ours are those of arrays",
    ),
    "maximum": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "minimum": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "fmax": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "fmin": "the sign of zero: NumPy's depends on the vector width, ours is x of equal zeros",
    "clip": "the sign of zero: ours is x of equal zeros, as NumPy's beside numbers; beside arrays of bounds NumPy's depends on "
    "their lengths and dtype",
    "nextafter": "the sign of a float16 zero from 0.0 to -0.0 depends on NumPy's version, ours is that of y",
    "cast": "floats out of an integer's range: NumPy's depends on the CPU, ours is what `cast` of the op table states",
    "reciprocal": "the integer 0, whose reciprocal is what a cast of infinity gives",
    "power": "-inf and -0.0 to the power of 0.5: NumPy takes a square root, which is NaN and -0.0, where one exponent is used "
    "again for several elements, as of a scalar or of a row or column that is broadcast, and otherwise the C library's pow, "
    "which is +inf and 0.0; ours are +inf and 0.0 where the exponent is an array with axes",
}
"""Where NumPy's own answer depends on layout, length or CPU, so that the row's formula is compared."""

FORMULAS_OF_FUNCTIONS = {
    **dict.fromkeys(
        ("quantile", "percentile", "nanquantile", "nanpercentile", "partition"),
        "the sign of zero, where there are zeros of both signs: which of them NumPy's partition leaves first depends on the "
        "processor, ours are as `np.sort` leaves them",
    ),
    "unique": "with `sorted=False` the order: NumPy's is that of a hash table, or ascending, by its version and the dtype; "
    "ours is ascending",
    "sort": "of zeros of both signs the order, unless it is stable: NumPy's depends on the processor, ours is the library's",
    "assignment": "`x[::2] = x[:n]`, `x[m] = x[a:b]` and `np.place(x, m, x[a:b])`: NumPy copies between overlapping parts of a "
    "vector one element after the other if both go up or both go down, and reads what it has written; ours are the "
    "elements from before",
    "dot": "of floats and a number: NumPy's BLAS adds the products to 0, or leaves zeros where the number is 0, so that they "
    "may be 0.0 where a product is -0.0 or NaN; ours are the products",
}
"""Functions of arrays of which the same is true."""

LIMITS = {
    "power": "a power of two Python ints is an int, and a ValueError where the exponent turns out to be negative, since that "
    "is a float. Refused is `x ** n` of an array of bools, which is int8 where n is 2 and int64 otherwise",
    "clip": "a Python int known only at run time must fit the array's dtype, also where it bounds nothing",
    "complex": "np.real_if_close has a dtype that depends on the data; parts of a Python complex known only at run time; "
    "a Python complex before an np.float64 (`1j * s`) gives Python's own complex, which adapts to arrays, as here; if it is "
    "returned or goes through a loop or branch it is an np.complex128 here, and `abs` and the parts of it are np.float64",
    "arange": "of 2**63 - 512 elements and more NumPy's is empty where it rounds that number to 2.0**63; ours is a "
    "ValueError, as of any other array that is too big; a Python int that int64 does not hold is refused beside numbers of run "
    "time",
    "bincount": "of no elements, weights give int64 zeros in NumPy; ours are float64, as of any other number of elements",
    "sum": "Python's `sum` of an array without elements is its start, an int; ours is the NumPy number of every other length",
    "reshape": "of an array with gaps or negative strides: NumPy's may be a view of it; ours is a copy, and a call in which "
    "that makes a difference is refused",
    "reductions": "with an `out=` of another dtype than they compute in: NumPy converts what it has so far to that dtype and "
    "back whenever a buffer of 8192 elements is full, so that the layout says what is converted in between; lengths for which "
    "it does so are refused, unless it makes no difference, as in sums of ints and means of ints in `int64`, in "
    "floats of another size, or in the smallest and largest of floats in `int32` and `int64` (numbers that these do not hold "
    "count as in one buffer)",
    "percentile": "one share that is a NumPy scalar and wider than the array, of all elements of an array with a NaN: NumPy's "
    "NaN has the array's dtype, ours the dtype that every other answer has",
    "assignment": "a NumPy scalar that signed integers do not hold is an error where somebody reads the element; one that is "
    "overwritten before, or for which there is no element, is not looked at",
    "searchsorted": "a `sorter` with a position that the array does not have is an error, also where the search "
    "does not come to it",
    "errors": "of two errors of one call, those of dtypes, numbers of axes and lengths come before those of what the data say, "
    "as an index out of bounds, also where they stand behind these (`y = x[i]` and `np.concatenate([x, b])` of a matrix `b`); "
    "an int that is an argument is data. Nothing is written before",
    "int": "a Python int that no dtype holds, or beyond int64 with no dtype beside it, may be refused with an OverflowError; "
    "so is one that a kernel computes in a step of a loop, also where only parts of a difference are too large (`n*n - n*n`)",
}
"""Where NumPy answers and an error is expected instead, or where the dtype would depend on a length."""

ZERO_SIGN = frozenset({"maximum", "minimum", "fmax", "fmin", "clip", "nextafter"})

ORDER = frozenset({"less", "less_equal", "greater", "greater_equal"})

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
        case dict():
            return {key: _positive_zeros(held) for key, held in value.items()}
        case np.ndarray() | np.generic() if value.dtype.kind in "fc":
            with np.errstate(all="ignore"):
                plain = np.add(value, value.dtype.type(0))
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
    if right.dtype.kind not in "fc":
        compare(actual, expected)
        return
    # Equal values everywhere, so that only kind, dtype and shape are compared.
    compare(np.zeros_like(left) if left.ndim else type(actual)(0), np.zeros_like(right) if right.ndim else type(expected)(0))
    np.testing.assert_allclose(left, right, rtol=relative, atol=relative)


def rows_of(function: Function) -> set[str]:
    """Names of the operations in a function."""
    return {inst.op.name for inst in walk(function.body)}


def within_bound(
    op: Op, actual: Any, reference: np.ndarray, of_complex: bool = False, grown: np.ndarray | float = 1.0, own: Any = None
) -> None:
    """Within the row's bound of the correctly rounded value, or `own`, NumPy's answer."""
    left, right = np.asarray(actual), np.asarray(reference)
    distance = complex_distance(left, right) if right.dtype.kind == "c" else ulp_distance(left, right)
    bound = bound_of(op, of_complex)
    if of_complex:
        distance = relative_distance(distance, left, right, grown)
    good = distance <= bound
    if right.dtype.kind == "f":
        good &= (left != 0) | (right != 0) | (np.signbit(left) == np.signbit(right))
    if own is not None:
        good |= same_bits(left, np.asarray(own))
    if op.name in ABSOLUTE:
        with np.errstate(all="ignore"):
            good |= np.abs(left - right) <= op.ulp * np.finfo(right.dtype).eps
    if not good.all():
        worst = np.unravel_index(np.argmax(np.where(good, 0, distance)), distance.shape)
        raise AssertionError(
            f"{int((~good).sum())} of {good.size} elements are more than {bound:g} ulp off, "
            f"worst at {tuple(map(int, worst))}: {left[worst]!r}, correctly rounded {right[worst]!r}, {distance[worst]:g} ulp"
        )


def own_answer(op: Op, of_complex: bool, value: Any) -> Any:
    """NumPy's answer where that may stand for the correctly rounded one: not of real powers, which depend on the layout."""
    return None if op.name == "power" and not of_complex else value


def reference(op: Op, arguments: Sequence[Any], dtype: np.dtype, own: Any = None, text: str = "") -> np.ndarray:
    """The correctly rounded value of an inexact row, from long double.

    Of complex numbers, NumPy's `own` answer is taken where a part is infinite or NaN, and for
    powers that are products.  `text` is the expression, which decides about powers.

    Examples
    --------
    >>> float(reference(OPS["exp"], (np.float32(1),), np.dtype("f4")))
    2.7182817459106445
    """
    operands = tuple(_promoted(a) for a in arguments)
    loop, _ = promote.ufunc_loop(op.numpy, operands)
    with np.errstate(all="ignore"):
        given = [np.asarray(a).astype(d.numpy) for a, d in zip(arguments, loop, strict=True)]
        if any(d.kind == "c" for d in loop):
            return complex_reference(op, given, dtype, own)
        wide = [g.astype(np.longdouble) for g in given]
        root = op.name == "power" and not rewritten_power(text, arguments) and _one_exponent(text, arguments, loop)
        if root and wide[1] == 0.5:
            # Which the loop of long double does not take.
            return np.sqrt(wide[0]).astype(dtype)
        rounded = np.asarray(promote.numpy_result(op, wide)).astype(dtype)
        # The C library's powl(-inf, -2**63) is wrong; at infinities double is exact.
        finite = np.isfinite(sum(w * 0 for w in wide))
        doubles = [w.astype(np.float64) for w in wide]
        own_way = op.name == "power" and not rewritten_power(text, arguments) and not root
        made = interp_rows.evaluate(op, doubles) if own_way else promote.numpy_result(op, doubles)
        return np.where(finite, rounded, np.asarray(made).astype(dtype))


def rewritten_power(text: str, arguments: Sequence[Any]) -> bool:
    """Whether an expression is a power that NumPy's operator always writes in another way.

    Examples
    --------
    >>> rewritten_power("x ** y", (np.ones(2), 0.5)), rewritten_power("np.power(x, y)", (np.ones(2), 0.5))
    (True, False)
    """
    base, exponent = arguments
    return "**" in text and isinstance(base, np.ndarray) and base.ndim > 0 and type(exponent) in (bool, int, float, complex)


def _one_exponent(text: str, arguments: Sequence[Any], loop: Sequence[DType]) -> bool:
    """Whether NumPy's loop takes a root where the exponent of all elements is 0.5; the operators of scalars run none."""
    several = "**" not in text or any(isinstance(a, np.ndarray) for a in arguments)
    return several and np.ndim(arguments[1]) == 0 and promote.takes_roots(loop[0])


def exact_power(text: str, arguments: Sequence[Any]) -> bool:
    """Whether an expression is a power of floats that NumPy writes as a root, a square, a reciprocal or nothing at all.

    Examples
    --------
    >>> exact_power("x ** y", (np.ones(2), 0.5)), exact_power("x ** y", (np.ones(2), 0.25))
    (True, False)
    """
    if len(arguments) != 2 or not rewritten_power(text, arguments):
        return False
    return arguments[0].dtype.kind == "f" and arguments[1] in (-1, 0.5, 1, 2)


def _promoted(value: Any) -> Any:
    kind = {bool: "bool", int: "int", float: "float", complex: "complex"}.get(type(value))
    if kind == "bool":
        return dtype_named("bool")
    return kind if kind else dtype_of(np.asarray(value).dtype)


# Checking.


def _numpy_answer(text: str, scope: dict[str, Any]) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(text, scope)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        return error


def must_refuse(group: Group, expression: Expression, expected: Any) -> bool:
    """Whether an error is expected where NumPy may answer: see LIMITS."""
    first = expected[0] if isinstance(expected, tuple) and expected else expected
    dtype = getattr(first, "dtype", None)
    number = isinstance(expected, (int, float, complex)) and not isinstance(expected, np.generic)
    if OPS[expression.row].numpy and not expression.operator and number:
        # A NumPy function gives a Python number only where it went through an array of objects.
        return True
    if "np.clip" in expression.text and len(group.operands) == 2 and _beyond_dtype(group):
        return True
    if dtype is not None and dtype_of(dtype) is None:
        return True
    if _holds_complex(group, expression):
        return True
    if expression.row != "power" or group.operands[-1].form in ("literal", "constant"):
        return False
    base, exponent = group.operands
    if expression.operator and base.form in ("array", "zero_d") and (base.dtype, exponent.dtype) == ("bool", "int"):
        return exponent.form == "python"
    if expression.operator and base.form in ("python", "literal", "constant") and not base.strong and not exponent.strong:
        # Python's own power of two ints: an int or a float, by the sign of the exponent.
        return exponent.dtype in ("int", "bool") and base.dtype in ("int", "bool") and exponent.dtype == "int"
    return False


def _python_complex_with_float64(group: Group) -> bool:
    """np.float64 is a Python float too, so Python's complex answers, with a number of its own: see LIMITS."""
    weak = any(o.dtype == "complex" for o in group.operands)
    # What is known while compiling is Python's own.
    known = not group.parameters
    return weak and not known and any(o.dtype == "f64" and o.form in ("scalar", "constant") for o in group.operands)


def _holds_complex(group: Group, expression: Expression) -> bool:
    """What is refused of complex numbers: dtypes that depend on data, attributes of Python's own."""
    if not any(np.iscomplexobj(o.value() if o.text else np.empty(0, dtype_named(o.dtype).numpy)) for o in group.operands):
        return False
    attribute = any(f"np.{name}(" in expression.text for name in ("real", "imag", "isreal"))
    return "real_if_close" in expression.text or (attribute and group.operands[0].form == "python")


def _huge(group: Group) -> bool:
    """A Python int that no dtype holds, or only uint64 and there is no dtype beside it."""
    top = 2**64 if any(o.strong for o in group.operands) else 2**63
    return any(o.dtype == "int" and not -(2**63) <= o.value() < top for o in group.operands)


def _beyond_dtype(group: Group) -> bool:
    """A Python int as an argument that the integer dtype of the first operand does not hold."""
    first, bound = group.operands
    if bound.form != "python" or bound.dtype != "int" or not first.strong or dtype_named(first.dtype).kind not in "iu":
        return False
    limits = np.iinfo(dtype_named(first.dtype).numpy)
    return not limits.min <= bound.value() <= limits.max


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
        if expression.operator and _python_complex_with_float64(group):
            if expression.row == "power":
                # Python's complex powers of infinities and NaN are its own, and some are errors.
                continue
            expected = np.asarray(expected)[()] if isinstance(expected, (bool, complex)) else expected
        if isinstance(expected, Exception) or must_refuse(group, expression, expected):
            message = _check_refused(group, expression, expected, call, arguments)
            if message:
                failures.append(Failure(group, expression, message))
        else:
            fine.append((expression, expected))
    answers = _answers(group, [e for e, _ in fine], call, arguments)
    for (expression, expected), answer in zip(fine, answers, strict=True):
        if isinstance(answer, OverflowError) and _huge(group):
            continue
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


def device_failures(group: Group, call: Callable[..., Any]) -> list[Failure]:
    """Run every case of a group on a device, and compare with the CPU backend.

    Exact rows have the same bits; the others are compared with the correctly rounded value.

    Parameters
    ----------
    call : callable
        ``call(function, *arguments)`` moves arrays to the device, runs, and gives NumPy arrays.
    """
    answered: list[Any] = []
    failures = check_group(group, call_jit, answered)
    arguments = group.arguments()
    scope = {**group.globals(), **dict(zip(group.parameters, arguments, strict=True))}
    answers = _answers(group, [e for e, _ in answered], call, arguments)
    for (expression, expected), actual in zip(answered, answers, strict=True):
        op = OPS[expression.row]
        try:
            if isinstance(actual, PytocuError):
                raise AssertionError(str(actual))
            given = tuple(eval(n, scope) for n in expression.arguments)
            of_complex = any(np.iscomplexobj(g) for g in given)
            plain = of_complex and op.name in PLAIN_STEPS
            # What Python computes is the host's.
            plain |= exact_power(expression.text, given) or not isinstance(expected, (np.ndarray, np.generic))
            if plain or not bound_of(op, of_complex) or np.asarray(expected).dtype.kind not in "fc":
                compare(np.asarray(actual), np.asarray(expected))
                continue
            compare(np.zeros_like(actual), np.zeros_like(np.asarray(expected)))
            grown = growth(op, given) if of_complex else 1.0
            exact = reference(op, given, np.asarray(expected).dtype, expected, expression.text)
            within_bound(op, actual, exact, of_complex, grown)
        except AssertionError as error:
            failures.append(Failure(group, expression, str(error)))
    return failures


def _answers(group: Group, expressions: list[Expression], call: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    """One result an expression; where the function of all of them fails, each is asked alone."""
    if not expressions:
        return []
    try:
        return list(call(function_of(group, tuple(e.text for e in expressions)), *arguments))
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
    kinds = (TypeError, OverflowError, ZeroDivisionError, ValueError, UnsupportedError)
    wanted = next(kind for kind in kinds if issubclass(wanted, kind))
    try:
        answer = call(function_of(group, (expression.text,)), *arguments)
    except PytocuError as error:
        if isinstance(error, UnsupportedError) and must_refuse(group, expression, expected):
            return ""
        if isinstance(error, OverflowError) and (_huge(group) or "np.clip" in expression.text):
            return ""
        beyond = any(o.dtype == "int" and abs(o.value()) >= 2**63 for o in group.operands)
        if isinstance(error, TypeError) and wanted is OverflowError and beyond:
            # Which of two errors is found first.
            return ""
        if not isinstance(error, wanted):
            return f"{type(error).__name__} where NumPy has {expected!r}: {error}"
        sentence = str(expected).strip()
        # Which of the conversions to the loop's dtype NumPy tries first shows in its sentence only.
        chosen = "signature=" in expression.text or "dtype=" in expression.text
        if chosen and any(o.dtype == "complex" for o in group.operands):
            return ""
        if wanted in (TypeError, ValueError) and not str(error).startswith(sentence):
            return f"another sentence than NumPy's: {str(error).splitlines()[0]!r}, not {sentence!r}"
        return ""
    if must_refuse(group, expression, expected) and not isinstance(expected, Exception):
        # What is known while compiling is NumPy's own answer, in float16 or not.
        return _known_answer(answer[0], expected)
    if _huge(group) and not any(o.strong for o in group.operands):
        return ""
    return f"gives {answer!r} where {expected!r} is expected"


def _known_answer(answer: Any, expected: Any) -> str:
    try:
        compare(answer, expected)
    except AssertionError as error:
        return str(error)
    return ""


def _check_value(expression: Expression, actual: Any, expected: Any, scope: dict[str, Any]) -> None:
    op = OPS[expression.row]
    kind = getattr(expected, "dtype", np.dtype(object)).kind
    if expression.row == "cast":
        (argument,) = (eval(n, scope) for n in expression.arguments)
        if type(argument) not in (bool, int, float, complex):
            wanted = dtype_of(expected.dtype)
            assert wanted is not None
            exact = interp_rows.cast(argument, wanted)
            _agrees_in_range(np.asarray(argument), np.asarray(exact), np.asarray(expected))
            expected = np.asarray(exact) if isinstance(expected, np.ndarray) else exact
        compare(actual, expected)
        return
    python = not isinstance(expected, (np.ndarray, np.generic))
    values = () if python else tuple(eval(n, scope) for n in expression.arguments)
    of_complex = any(np.iscomplexobj(v) for v in values)
    if not python and kind in "fc" and bound_of(op, of_complex) and not exact_power(expression.text, values):
        compare(np.zeros_like(actual)[()] if np.ndim(actual) == 0 else np.zeros_like(actual),
                np.zeros_like(expected)[()] if np.ndim(expected) == 0 else np.zeros_like(expected))  # fmt: skip
        grown = growth(op, values) if of_complex else 1.0
        exact = reference(op, values, expected.dtype, expected, expression.text)
        within_bound(op, actual, exact, of_complex, grown, own_answer(op, of_complex, expected))
        return
    if op.name == "reciprocal" and kind in "iu":
        expected = interp_rows.settled(op, values, expected)
    if op.name in ORDER and not python and of_complex:
        # A Python int that no dtype holds stays one.
        arrays = [np.asarray(v) if isinstance(v, np.generic) else v for v in values]
        found = bool(np.all(np.asarray(actual) == expected))
        if not found and any(np.any(a != a) for a in arrays):
            with np.errstate(all="ignore"):
                expected = promote.numpy_function(op.numpy)(*arrays)
    compare_with_numpy({op.name}, actual, expected)
    if op.name in ZERO_SIGN and not python:
        arguments = tuple(eval(n, scope) for n in expression.arguments)
        if all(isinstance(a, (np.ndarray, np.generic)) for a in arguments):
            compare(np.asarray(actual), np.asarray(interp_rows.evaluate(op, arguments)))


def _agrees_in_range(given: np.ndarray, ours: np.ndarray, numpys: np.ndarray) -> None:
    """The formula is NumPy's answer wherever the value fits."""
    if given.dtype.kind == "c":
        given = np.real(given)
    if given.dtype.kind == "f" and numpys.dtype.kind in "iu":
        fits = interp_rows.in_range(given, numpys.dtype)
        ours, numpys = ours[fits], numpys[fits]
    assert same_bits(ours, numpys).all(), "the formula of cast is not NumPy's answer in range"


def call_jit(function: Any, *arguments: Any) -> Any:
    """Compile with ``@jit`` and run."""
    with warnings.catch_warnings():
        # Python warns of ~True, which is what a case is for.
        warnings.simplefilter("ignore", DeprecationWarning)
        return jit(function)(*arguments)


def call_interpreted(function: Any, *arguments: Any) -> Any:
    """Run what the front end and the passes that settle types make, with the interpreter: no code is built."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        low = (function if isinstance(function, VectorizedFunction) else jit(function)).lower(*arguments)
        context = PassContext(Target("cpu"))
        settled = infer_types.run(fold.run(low.function, context), context)
        # A Python int beyond 64 bits is known while compiling, and no parameter.
        given = dict(zip(inspect.unwrap(function).__code__.co_varnames, arguments, strict=False))
        results = interp.run(settled, [given[p.name] for p in settled.params])
        return interp.arrange(low.function.body.terminator.attr("tree"), results)

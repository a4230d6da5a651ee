"""Python operators on abstract values: known numbers are computed now, the rest becomes IR."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, located
from pytocu.frontend.values import Context, as_dim, as_value, dim_value, is_array, is_dynamic, is_numpy_scalar, is_weak
from pytocu.ir import dims, infer, promote
from pytocu.ir.core import OPS, Value
from pytocu.ir.types import BOOL, COMPILED_DTYPES, WEAK_INT, ScalarType, WeakType, element

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
UNARY: dict[type[ast.AST], str] = {ast.UAdd: "positive", ast.USub: "negative", ast.Invert: "invert"}

_DIM_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def compute(context: Context, function: Callable[..., Any], *args: Any) -> Any:
    """Evaluate something known now; an exception becomes an error at this line."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise located(error, context.loc) from None


def binary(context: Context, name: str, left: Any, right: Any) -> Any:
    """``left <op> right`` with Python's and NumPy's meaning."""
    row = OPS[name]
    if not is_dynamic(left) and not is_dynamic(right):
        assert row.python is not None
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            as_value(context, left)
            as_value(context, right)
        return compute(context, row.python, left, right)
    length = _length_arithmetic(context, name, left, right)
    if length is not None:
        return length
    for side in (left, right):
        if side is None or isinstance(side, str):
            if name in ("equal", "not_equal") and is_weak(left if side is right else right):
                return name == "not_equal"
            break
    if name == "power":
        rewritten = _power(context, left, right)
        if rewritten is not None:
            return rewritten
    return elementwise(context, name, left, right)


def _length_arithmetic(context: Context, name: str, left: Any, right: Any) -> Any:
    a, b = as_dim(left), as_dim(right)
    if a is None or b is None:
        return None
    if name in _DIM_ARITHMETIC:
        return dim_value(context, _DIM_ARITHMETIC[name](a, b))
    if name in ("floor_divide", "remainder") and isinstance(b, int) and b > 0:
        return dim_value(context, dims.floordiv(a, b) if name == "floor_divide" else dims.modulo(a, b))
    return None


def _power(context: Context, left: Any, right: Any) -> Value | None:
    """NumPy's rewrite of ``array ** scalar`` for the exponents -1, 0.5, 1 and 2."""
    known = not is_dynamic(right) and is_weak(right)
    if known and is_array(left) and left.type.shape != ():
        kind = element(left.type).kind
        if kind == "f":
            fast = {-1: "reciprocal", 0.5: "sqrt", 1: "positive", 2: "square"}.get(right)
            if fast is not None:
                return elementwise(context, fast, left)
        elif kind in "iu" and type(right) is int and right in (1, 2):
            return elementwise(context, "positive" if right == 1 else "square", left)
    return None


def _check_integer_power(context: Context, operands: list[Value]) -> None:
    base, exponent = operands
    if isinstance(base.type, WeakType) and isinstance(exponent.type, WeakType):
        if exponent.type.kind == "int" and base.type.kind in ("bool", "int") and as_dim(exponent) is None:
            inst = exponent.inst
            if inst is None or inst.op.name != "const":
                raise UnsupportedError(
                    "a power of two Python ints that are known only at run time (int or float depends on the sign)",
                    context.loc,
                    "make the exponent a constant, a static argument or a float",
                )
        return
    loop, _ = promote.ufunc_loop("power", tuple(promote.operand(o.type) for o in operands))
    if loop[1].kind not in "iu":
        return
    inst = exponent.inst
    if inst is not None and inst.op.name == "const":
        if inst.attr("value") < 0:
            raise located(ValueError("Integers to negative integer powers are not allowed."), context.loc)
    elif loop[1].kind == "i":
        raise UnsupportedError(
            "an integer power whose signed exponent is known only at run time: NumPy raises an error for negative ones",
            context.loc,
            "make the exponent a constant or unsigned, or use floats: x.astype(np.float64) ** y",
        )


def elementwise(context: Context, name: str, *operands: Any) -> Value:
    """One elementwise row; Python scalars stay weak beside strong operands."""
    row = OPS[name]
    values = [as_value(context, o) for o in operands]
    if name == "power":
        _check_integer_power(context, values)
    answer = _out_of_range_comparison(context, name, values)
    if answer is not None:
        return answer
    made = context.builder.emit(row, values)
    _check_known(context, row.name, made)
    return made


def _check_known(context: Context, name: str, made: Value) -> None:
    inst = made.inst
    if isinstance(made.type, WeakType) or inst is None:
        return
    computed = {element(made.type)}
    if inst.op.numpy and inst.op.infer is infer.ufunc:
        # np.signbit of an int8 is a bool, computed in float16.
        computed |= set(promote.ufunc_loop(inst.op.numpy, tuple(promote.operand(a.type) for a in inst.args))[0])
    refused = [d for d in computed if d not in COMPILED_DTYPES]
    if refused:
        given = ", ".join(str(a.type) for a in inst.args)
        raise UnsupportedError(
            f"NumPy computes {name} of {given} in {refused[0].numpy}, which is not supported",
            context.loc,
            "convert an operand first: x.astype(np.float32)",
        )


def _out_of_range_comparison(context: Context, name: str, values: list[Value]) -> Value | None:
    """A comparison with a Python int no integer dtype holds has one answer for every element."""
    if OPS[name].overflow != "answer" or len(values) != 2:
        return None
    for number, side in enumerate(values):
        inst = side.inst
        other = values[1 - number]
        if side.type != WEAK_INT or inst is None or inst.op.name != "const" or isinstance(other.type, WeakType):
            continue
        value = inst.attr("value")
        if element(other.type).kind not in "iu" or -(2**63) <= value < 2**64:
            continue
        python = OPS[name].python
        assert python is not None
        # Any element compares the same with a number outside every integer dtype.
        answer = python(0, value) if number == 1 else python(value, 0)
        constant = context.builder.const(answer, ScalarType(BOOL))
        array_other = elementwise(context, "equal", other, other)
        return elementwise(context, "logical_and" if not answer else "logical_or", array_other, constant)
    return None


def unary(context: Context, name: str, operand: Any) -> Any:
    """``-x``, ``+x``, ``~x`` and ``abs(x)``."""
    row = OPS[name]
    if not is_dynamic(operand):
        assert row.python is not None
        return compute(context, row.python, operand)
    return elementwise(context, name, operand)


def truth(context: Context, value: Any, what: str) -> bool:
    """The truth of a condition that must be known now.

    Raises
    ------
    UnsupportedError
        It depends on array data or on a run-time scalar.
    """
    if isinstance(value, Value):
        if is_array(value) and value.type.ndim:  # pyright: ignore[reportAttributeAccessIssue]
            raise UnsupportedError(
                f"{what} depends on the data of an array ({value.type})",
                context.loc,
                "choose per element: np.where(condition, a, b)",
            )
        if is_numpy_scalar(value) or is_array(value):
            raise UnsupportedError(
                f"{what} depends on a scalar computed at run time ({value.type})",
                context.loc,
                "choose with np.where(condition, a, b)",
            )
        raise UnsupportedError(
            f"{what} depends on a Python scalar known only at run time ({value.type})",
            context.loc,
            "name the argument in @jit(static=(...)) so that its value is known while compiling, or use np.where",
        )
    return compute(context, bool, value)

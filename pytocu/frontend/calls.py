"""Calls: NumPy functions, builtins, methods, and user functions (inlined)."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import DTypeError, MissingAttributeError, UnsupportedError, located
from pytocu.frontend.attributes import METHODS, Method, attribute
from pytocu.frontend.numpy_calls import call_numpy, numpy_name
from pytocu.frontend.operators import binary, compute, unary
from pytocu.frontend.source import function_node
from pytocu.frontend.values import (
    Context,
    as_dim,
    contains_dynamic,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_dynamic,
)
from pytocu.ir.core import Value
from pytocu.ir.types import F64, I64, WeakType, element

_OPERATOR_FUNCTIONS = {
    getattr(operator, python_name): row
    for python_name, row in {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
        "lshift": "left_shift", "rshift": "right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
        "gt": "greater", "ge": "greater_equal",
    }.items()
}  # fmt: skip


def call(frame: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The abstract value of a call.

    Raises
    ------
    UnsupportedError
        The function cannot be compiled.
    """
    context: Context = frame.context
    if isinstance(function, Method):
        return _call_method(context, function, args, kwargs)
    if isinstance(function, Value):
        raise located(TypeError(f"'{function.type}' object is not callable"), context.loc)
    if hasattr(function, "node") and hasattr(function, "frame"):
        return _inline_local(context, function, args, kwargs)
    if isinstance(function, functools.partial):
        return call(frame, function.func, (*function.args, *args), {**function.keywords, **kwargs})
    python = _plain_function(function)
    if python is not None:
        return _inline(context, python, args, kwargs)
    if isinstance(function, types.MethodType):
        return call(frame, function.__func__, (function.__self__, *args), kwargs)
    name = numpy_name(function)
    if name is not None:
        return call_numpy(context, name, function, args, kwargs)
    try:
        handler = BUILTINS.get(function)
    except TypeError:
        handler = None
    if handler is not None:
        return _call_builtin(frame, handler, function, args, kwargs)
    if not contains_dynamic(args) and not contains_dynamic(kwargs) and _evaluated_now(function):
        return compute(context, lambda: function(*args, **kwargs))
    if function in _OPERATOR_FUNCTIONS and len(args) == 2:
        return binary(context, _OPERATOR_FUNCTIONS[function], *args)
    if isinstance(function, (types.BuiltinMethodType, types.BuiltinFunctionType)) and isinstance(
        getattr(function, "__self__", None), (list, dict)
    ):
        return function(*args, **kwargs)
    raise _unknown(context, function)


def _unknown(context: Context, function: Any) -> UnsupportedError:
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(function, "__module__", None) == "math":
        return UnsupportedError(
            f"math.{name} of a value known only at run time", context.loc, "use NumPy's function: it takes scalars and arrays"
        )
    if isinstance(getattr(function, "__self__", None), np.random.RandomState | np.random.Generator):
        return UnsupportedError(f"random numbers ({name})", context.loc, "pass the samples as an argument")
    if name in ("print", "input", "open"):
        return UnsupportedError(f"{name}() has no meaning in compiled code", context.loc, "call it outside the function")
    return UnsupportedError(f"a call of {describe(function)} with run-time values", context.loc)


def _evaluated_now(function: Any) -> bool:
    module = getattr(function, "__module__", "") or ""
    if module in ("math", "cmath", "operator", "builtins"):
        return function not in (print, input, open, exec, eval)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (str, bytes, tuple, list, dict, int, float, np.dtype, np.generic)):
        return True
    return isinstance(function, type) and issubclass(function, (Exception, np.dtype))


def _plain_function(function: Any) -> types.FunctionType | None:
    """The Python function behind a function, a jitted function or a wrapper of one."""
    if isinstance(function, types.FunctionType):
        module = function.__module__ or ""
        library = module.split(".")[0] in ("numpy", "cupy", "jax")
        return None if library else function
    inner = getattr(function, "__wrapped__", None)
    if getattr(type(function), "__pytocu_jit__", False) and isinstance(inner, types.FunctionType):
        return inner
    return None


def _inline(context: Context, function: types.FunctionType, args: Any, kwargs: dict[str, Any]) -> Any:
    node = function_node(function)
    if node in context.active:
        raise UnsupportedError(f"recursion: {function.__name__} calls itself", context.loc, "write it as a loop")
    arguments = bind(context, function.__name__, inspect.signature(function, follow_wrapped=False), args, kwargs)
    saved = context.builder.loc
    try:
        return context.hooks.run_function(context, function, node, arguments, saved)
    finally:
        context.builder.loc = saved


def _inline_local(context: Context, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if function.node in context.active:
        raise UnsupportedError(f"recursion: {function.__name__} calls itself", context.loc, "write it as a loop")
    signature = _signature_of(function.node, function.defaults)
    arguments = bind(context, function.__name__, signature, args, kwargs)
    saved = context.builder.loc
    try:
        return context.hooks.run_function(context, function, function.node, arguments, saved)
    finally:
        context.builder.loc = saved


def _signature_of(node: ast.FunctionDef | ast.Lambda, defaults: dict[str, Any]) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters: list[inspect.Parameter] = []

    def add(argument: ast.arg, kind: Any) -> None:
        default = defaults.get(argument.arg, kinds.empty)
        parameters.append(kinds(argument.arg, kind, default=default))

    for argument in node.args.posonlyargs:
        add(argument, kinds.POSITIONAL_ONLY)
    for argument in node.args.args:
        add(argument, kinds.POSITIONAL_OR_KEYWORD)
    if node.args.vararg:
        parameters.append(kinds(node.args.vararg.arg, kinds.VAR_POSITIONAL))
    for argument in node.args.kwonlyargs:
        add(argument, kinds.KEYWORD_ONLY)
    if node.args.kwarg:
        parameters.append(kinds(node.args.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def bind(context: Context, name: str, signature: inspect.Signature, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by parameter name with defaults filled in; Python's TypeError at the call."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise located(TypeError(f"{name}() {error}"), context.loc) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _call_method(context: Context, method: Method, args: Any, kwargs: dict[str, Any]) -> Any:
    if method.name in ("clip",):
        kwargs = {{"min": "low", "max": "high"}.get(k, k): v for k, v in kwargs.items()}
    handler = METHODS[method.name]
    try:
        inspect.signature(handler).bind(context, method.value, *args, **kwargs)
    except TypeError as error:
        given = ", ".join(f"{k}=" for k in kwargs) or f"{len(args)} arguments"
        raise UnsupportedError(f"ndarray.{method.name} with {given} ({error})", context.loc) from None
    return handler(context, method.value, *args, **kwargs)


def _call_builtin(frame: Any, handler: Callable[..., Any], function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    context: Context = frame.context
    if not contains_dynamic(args) and not contains_dynamic(kwargs) and function not in (enumerate, zip, reversed, range):
        return compute(context, lambda: function(*args, **kwargs))
    if kwargs and function not in (enumerate, zip):
        raise UnsupportedError(f"{function.__name__}() with {', '.join(kwargs)}= and run-time values", context.loc)
    return handler(frame, *args, **kwargs)


def _len(frame: Any, value: Any) -> Any:
    if isinstance(value, Value):
        if not dimensions(value):
            raise located(TypeError("len() of unsized object"), frame.context.loc)
        return dim_value(frame.context, dimensions(value)[0])
    return len(value)


def _members(frame: Any, value: Any) -> list[Any]:
    return list(frame.context.hooks.iterate(frame, value, "iteration"))


def _range(frame: Any, *bounds: Any) -> Any:
    for bound in bounds:
        if is_dynamic(bound):
            raise UnsupportedError(
                "a loop whose number of steps is known only at run time",
                frame.context.loc,
                "make the bound a constant or name it in @jit(static=(...))",
            )
    return compute(frame.context, range, *bounds)


def _float(frame: Any, value: Value) -> Any:
    return _python_scalar(frame.context, value, "float", F64)


def _int(frame: Any, value: Value) -> Any:
    if as_dim(value) is not None:
        return value
    return _python_scalar(frame.context, value, "int", I64)


def _python_scalar(context: Context, value: Value, kind: str, dtype: Any) -> Any:
    if isinstance(value.type, WeakType) and value.type.kind == kind:
        return value
    name = "float64" if dtype is F64 else "int64"
    raise UnsupportedError(
        f"{kind}() of a value known only at run time ({value.type})", context.loc, f"use np.{name}(x), which stays in the kernel"
    )


def _abs(frame: Any, value: Any) -> Any:
    return unary(frame.context, "absolute", value)


def _pow(frame: Any, base: Any, exponent: Any) -> Any:
    return binary(frame.context, "power", base, exponent)


def _divmod(frame: Any, a: Any, b: Any) -> Any:
    return binary(frame.context, "floor_divide", a, b), binary(frame.context, "remainder", a, b)


def _isinstance(frame: Any, value: Any, classes: Any) -> bool:
    wanted = classes if isinstance(classes, tuple) else (classes,)
    if isinstance(value, Value):
        if isinstance(value.type, WeakType):
            kind = getattr(builtins, value.type.kind)
            return any(issubclass(kind, w) for w in wanted)
        if is_array(value):
            return any(w is np.ndarray for w in wanted)
        return any(isinstance(w, type) and issubclass(element(value.type).numpy.type, w) for w in wanted)
    return isinstance(value, classes)


def _getattr(frame: Any, base: Any, name: Any, *default: Any) -> Any:
    try:
        return frame.context.hooks.get_attribute(frame, base, name)
    except MissingAttributeError:
        if default:
            return default[0]
        raise


def _hasattr(frame: Any, base: Any, name: Any) -> bool:
    if not isinstance(base, Value):
        return hasattr(base, name)
    try:
        attribute(frame.context, base, name)
    except MissingAttributeError:
        return False
    return True


def _extreme(row: str) -> Callable[..., Any]:
    def handler(frame: Any, *values: Any) -> Any:
        raise UnsupportedError(
            f"{'max' if row == 'maximum' else 'min'}() of run-time values chooses by the truth of a comparison",
            frame.context.loc,
            f"use np.{row}(a, b)",
        )

    return handler


def _sum(frame: Any, values: Any, start: Any = 0) -> Any:
    total = start
    for value in _members(frame, values):
        total = binary(frame.context, "add", total, value)
    return total


def _refuse_type(frame: Any, *args: Any) -> Any:
    raise DTypeError("bool() of a value known only at run time", frame.context.loc, "compare with np.where(condition, a, b)")


BUILTINS: dict[Any, Callable[..., Any]] = {
    len: _len,
    range: _range,
    enumerate: lambda frame, values, start=0: list(enumerate(_members(frame, values), start)),
    zip: lambda frame, *values, strict=False: list(zip(*(_members(frame, v) for v in values), strict=strict)),
    reversed: lambda frame, values: list(reversed(_members(frame, values))),
    tuple: lambda frame, values=(): tuple(_members(frame, values)),
    list: lambda frame, values=(): _members(frame, values),
    sum: _sum,
    abs: _abs,
    pow: _pow,
    divmod: _divmod,
    float: _float,
    int: _int,
    bool: _refuse_type,
    min: _extreme("minimum"),
    max: _extreme("maximum"),
    isinstance: _isinstance,
    getattr: _getattr,
    hasattr: _hasattr,
}
"""Python builtins with a meaning on run-time values: ``(frame, *args)``."""

"""Arguments of an interpreted function: what they must be, which lengths they state, and the form of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.errors import DTypeError, InternalError, ShapeError
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike, as_symbol, evaluate, format_shape
from pytocu.ir.interp_memory import Memory
from pytocu.ir.python_functions import class_at
from pytocu.ir.types import ArrayType, ScalarType, Type, WeakType, weak_type_of


class State:
    """What a run knows: the lengths, the values so far, and the memory of allocated arrays."""

    def __init__(self, function: Function, sizes: dict[str, int], limit: int, steps: list[int]):
        self.function = function
        self.limit = limit
        self.steps = steps
        self.sizes = sizes
        self.values: dict[Value, Any] = {}
        self.allocated: dict[int, Memory | None] = {}
        self.kept: list[np.ndarray] = []
        self.ready: dict[Inst, Callable[..., Any]] = {}

    def dim(self, dim: DimLike) -> int:
        try:
            return evaluate(dim, self.sizes)
        except KeyError as error:
            raise InternalError(f"no argument states the length {error.args[0]}") from None

    def dims(self, dims: Sequence[DimLike]) -> tuple[int, ...]:
        return tuple(map(self.dim, dims))


def arrange(tree: Any, results: Sequence[Any]) -> Any:
    """Put results into the form of ``return``'s attribute `tree`: numbers, and tuples of trees.

    A tuple may begin with what it makes: ``tuple``, ``list``, ``dict`` (of names and trees),
    ``named`` (the class's path first), ``str`` (of the text), ``if`` (a bool, and what it chooses between) or ``none``;
    ``members``, ``either`` and ``zip`` make lists of the elements of arrays, the last one of a tuple of such lists.

    Examples
    --------
    >>> arrange((0, (1, 0)), ("a", "b"))
    ('a', ('b', 'a'))
    """
    match tree:
        case bool() | None:
            return tuple(results)
        case int():
            return results[tree]
        case ("dict", *items):
            return {key: arrange(t, results) for key, t in items}
        case ("named", path, *trees):
            return class_at(path)._make(arrange(t, results) for t in trees)
        case ("list", *trees):
            return [arrange(t, results) for t in trees]
        case ("if", test, yes, no):
            return arrange(yes if results[test] else no, results)
        case ("members", member, kind):
            return results[member].tolist() if kind == "numbers" else list(results[member])
        case ("either", member, marks):
            return _either(results[member], results[marks])
        case ("zip", ("named", path, *trees)):
            return [class_at(path)._make(t) for t in zip(*(arrange(t, results) for t in trees), strict=True)]
        case ("zip", (_, *trees)):
            return list(zip(*(arrange(t, results) for t in trees), strict=True))
        case ("read-only", member):
            made = arrange(member, results).view()
            made.flags.writeable = False
            return made
        case ("str", text):
            return text
        case ("none",):
            return None
        case ("tuple", *trees):
            return tuple(arrange(t, results) for t in trees)
        case _:
            return tuple(arrange(t, results) for t in tree)


def _either(numbers: Any, marks: Any) -> list[Any]:
    """The list of what numbers are by their marks: 0 for Python's int, 1 for another of Python's, 2 for NumPy's, 3 for None."""
    if numbers.ndim > 1:
        return [_either(*pair) for pair in zip(numbers, marks, strict=True)]
    made = (lambda n: int(n), lambda n: n.item(), lambda n: n, lambda n: None)
    return [made[mark](number) for number, mark in zip(numbers, marks, strict=True)]


def bind_symbols(function: Function, arguments: Sequence[Any]) -> dict[str, int]:
    """The lengths that the arguments' shapes give to the symbols of the parameter types.

    Raises
    ------
    DTypeError, ShapeError
        An argument has another dtype, rank or length than its parameter's type says.
    """
    sizes: dict[str, int] = {}
    for number, (param, argument) in enumerate(zip(function.params, arguments, strict=True)):
        if not isinstance(param.type, ArrayType):
            continue
        array = _array_argument(param.type, argument, number)
        for dim, size in zip(param.type.shape, array.shape, strict=True):
            name = as_symbol(dim)
            if name is not None and sizes.setdefault(name, size) != size:
                raise ShapeError(
                    f"argument {number} has shape {format_shape(array.shape)} where {param.type} is expected: "
                    f"{name} is {sizes[name]} by an earlier argument"
                )
    for name, number, axis in function.fact("symbols", ()):
        sizes.setdefault(name, np.shape(arguments[number])[axis])
    return sizes


def _array_argument(type: ArrayType, argument: object, number: int) -> np.ndarray:
    if not isinstance(argument, np.ndarray):
        raise DTypeError(f"argument {number} is a {kind_name(argument)} where {type} is expected")
    if argument.dtype != type.dtype.numpy:
        raise DTypeError(f"argument {number} has dtype {argument.dtype} where {type} is expected")
    if argument.ndim != type.ndim:
        raise ShapeError(f"argument {number} has shape {format_shape(argument.shape)} where {type} is expected")
    return argument


def kind_name(value: object) -> str:
    """The name of a value's class."""
    return type(value).__name__


def check_argument(state: State, expected: Type, argument: Any, number: int) -> None:
    """Compare an argument with the type of its parameter.

    Raises
    ------
    DTypeError, ShapeError
        It is another.
    """
    match expected:
        case ArrayType():
            shape = state.dims(expected.shape)
            if argument.shape != shape:
                raise ShapeError(
                    f"argument {number} has shape {format_shape(argument.shape)} where {expected} is expected: "
                    f"{format_shape(shape)}"
                )
            order = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS"}.get(expected.layout)
            # At array level the layout means nothing yet.
            if state.function.level == "host" and order and not argument.flags[order]:
                raise InternalError(f"argument {number} is not laid out as {expected} says")
        case WeakType(kind):
            if weak_type_of(argument) != expected:
                raise DTypeError(f"argument {number} is a {kind_name(argument)} where a Python {kind} is expected")
        case ScalarType(dtype):
            if not isinstance(argument, np.generic) or argument.dtype != dtype.numpy:
                raise DTypeError(f"argument {number} is a {kind_name(argument)} where a NumPy {dtype.numpy} is expected")
        case _:
            if not isinstance(argument, (int, np.integer)):
                raise DTypeError(f"argument {number} is a {kind_name(argument)} where an integer is expected")

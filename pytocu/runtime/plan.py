"""The finished plan of a function, and its execution.

A plan is data: what the arguments must be, the lengths that follow from them, and steps that
check, convert, allocate, launch and return.  It knows nothing of the compiler; names of
operations are those of the IR.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import CompileError, DTypeError, IndexingError, InternalError, Loc, ShapeError, located
from pytocu.ir.dims import Dim, DimLike, as_symbol, evaluate, format_shape
from pytocu.ir.types import DType, dtype_named
from pytocu.runtime import arrays, cuda
from pytocu.runtime.arrays import ArrayInfo

Step: TypeAlias = tuple[Any, ...]
"""The name of the step, then its operands; values are numbered slots, arguments first."""

PYTHON_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "absolute": operator.abs, "invert": operator.invert, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "left_shift": operator.lshift, "right_shift": operator.rshift,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
"""What Python does with Python scalars."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What one argument must be: ``array`` of dtype, shape and layout, ``scalar`` or ``weak``."""

    name: str
    kind: str
    dtype: str
    shape: tuple[DimLike, ...] = ()
    layout: str = "C"


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """How a kernel is called.

    ``parameters`` has one word a parameter: ``pointer``, ``index``, or the dtype of a scalar.
    ``work`` is the number of iterations that are spread over threads, ``cost`` the elements of
    one iteration.
    """

    name: str
    parameters: tuple[str, ...]
    schedule: str
    work: DimLike
    cost: DimLike = 1
    block: int = 0
    index_bits: int = 32


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a call does."""

    name: str
    parameters: tuple[Parameter, ...]
    symbols: tuple[tuple[str, int, int], ...]
    steps: tuple[Step, ...]
    kernels: tuple[KernelSpec, ...]
    tree: Any
    assumptions: tuple[tuple[Dim, bool], ...]
    locs: Mapping[int, Loc] = field(default_factory=dict)

    def sizes(self, infos: Mapping[int, ArrayInfo]) -> dict[str, int]:
        """The lengths of a call by name."""
        return {name: infos[number].shape[axis] for name, number, axis in self.symbols}

    def applies(self, sizes: Mapping[str, int]) -> bool:
        """Whether the facts the code relies on hold for these lengths."""
        return all((evaluate(dim, sizes) == 1) is is_one for dim, is_one in self.assumptions)

    def fits(self, sizes: Mapping[str, int], infos: Mapping[int, ArrayInfo]) -> bool:
        """Whether every offset, and an index one grid further, fits the kernels' index."""
        if any(spec.index_bits == 64 for spec in self.kernels):
            return True
        limit = 2**31 - 1
        for info in infos.values():
            reach = sum((n - 1) * abs(s) for n, s in zip(info.shape, info.byte_strides, strict=True) if n > 1)
            if reach // info.dtype.itemsize >= limit:
                return False
        for spec in self.kernels:
            elements = evaluate(spec.work, sizes) * evaluate(spec.cost, sizes)
            if 2 * elements + spec.block >= limit:
                return False
        return True


def check_arguments(plan: Plan, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo]) -> None:
    """Compare arguments with what a compiled function was compiled for.

    Raises
    ------
    DTypeError, ShapeError
        Naming the argument, what it is and what it should be.
    """
    if len(arguments) != len(plan.parameters):
        raise DTypeError(f"{plan.name}() takes {len(plan.parameters)} arguments but {len(arguments)} were given")
    sizes: dict[str, int] = {}
    for number, (parameter, argument) in enumerate(zip(plan.parameters, arguments, strict=True)):
        if parameter.kind == "array":
            _check_array(parameter, argument, infos.get(number), sizes)
        elif parameter.kind == "scalar":
            if np.asarray(argument).dtype != dtype_named(parameter.dtype).numpy or np.ndim(argument):
                raise DTypeError(f"argument {parameter.name} must be a {dtype_named(parameter.dtype).numpy} scalar")
        elif type(argument).__name__ != parameter.dtype:
            raise DTypeError(
                f"argument {parameter.name} must be a Python {parameter.dtype}, not {type(argument).__name__}"
            )


def _check_array(parameter: Parameter, argument: Any, info: ArrayInfo | None, sizes: dict[str, int]) -> None:
    want = f"{parameter.dtype}[{', '.join(map(str, parameter.shape))}]"
    if info is None:
        raise DTypeError(f"argument {parameter.name} must be an array {want}, not {type(argument).__name__}")
    have = f"{info.dtype}{list(info.shape)}"
    if info.dtype.name != parameter.dtype or len(info.shape) != len(parameter.shape):
        raise DTypeError(f"argument {parameter.name} must be an array {want}, not {have}")
    for dim, length in zip(parameter.shape, info.shape, strict=True):
        name = as_symbol(dim)
        expected = dim if isinstance(dim, int) else sizes.setdefault(name, length) if name else length
        if expected != length:
            raise ShapeError(f"argument {parameter.name} must have shape {want}, not {have}")
    if layout_of(info) != parameter.layout and parameter.layout != "S":
        name = {"C": "row-major (C)", "F": "column-major (F)"}[parameter.layout]
        raise ShapeError(
            f"argument {parameter.name} must lie in {name} order", help="compile for any strides: f32[n, m; S]"
        )


def layout_of(info: ArrayInfo) -> str:
    """``C``, ``F`` or ``S`` (other strides); lengths 0 and 1 do not matter."""
    if info.strides is None or len(info.shape) < 1:
        return "C"
    if cuda.is_c_contiguous(info.shape, info.strides, info.dtype.itemsize):
        return "C"
    reversed_ok = cuda.is_c_contiguous(info.shape[::-1], info.strides[::-1], info.dtype.itemsize)
    return "F" if reversed_ok and len(info.shape) > 1 else "S"


@dataclass(slots=True)
class View:
    """An argument's memory seen with another shape."""

    argument: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


class Executor:
    """Runs the steps that depend on where the arrays are; see the CPU and CUDA ones."""

    def allocate(self, shape: tuple[int, ...], dtype: DType, layout: str) -> tuple[Any, int]:
        """A new array and its address."""
        raise InternalError("not an executor")

    def launch(self, number: int, spec: KernelSpec, values: Sequence[Any], work: int, cost: int) -> None:
        """Run a kernel on packed parameter values."""
        raise InternalError("not an executor")

    def scalar(self, array: Any) -> Any:
        """What a NumPy scalar result is for the caller."""
        raise InternalError("not an executor")

    def array(self, array: Any) -> Any:
        """What a new array is for the caller."""
        raise InternalError("not an executor")


def execute(
    plan: Plan, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo], sizes: Mapping[str, int], executor: Executor
) -> Any:
    """Run a plan.

    Parameters
    ----------
    arguments : sequence
        The dynamic arguments in order.
    infos : mapping
        Descriptions of the array arguments by number.
    sizes : mapping
        Lengths by name.

    Returns
    -------
    object
        What the user's function would return.
    """
    values: dict[int, Any] = dict(enumerate(arguments))
    pointers: dict[int, int] = {number: info.pointer for number, info in infos.items()}
    scalars: set[int] = set()
    fresh: set[int] = set()
    for position, step in enumerate(plan.steps):
        match step:
            case ("launch", number, slots):
                spec = plan.kernels[number]
                work = evaluate(spec.work, sizes)
                cost = evaluate(spec.cost, sizes)
                if work * cost:
                    packed = [pointers[s] if w == "pointer" else values[s] for s, w in zip(slots, spec.parameters, strict=True)]
                    executor.launch(number, spec, packed, work, cost)
            case ("allocate", slot, dtype, shape, layout, is_scalar):
                lengths = tuple(evaluate(d, sizes) for d in shape)
                values[slot], pointers[slot] = executor.allocate(lengths, dtype_named(dtype), layout)
                (scalars if is_scalar else fresh).add(slot)
            case ("dim", slot, dim):
                values[slot] = evaluate(dim, sizes)
            case ("stride", slot, source, axis):
                info = infos[source]
                values[slot] = info.byte_strides[axis] // info.dtype.itemsize
            case ("check", kind, dims, shapes):
                _check(plan, position, kind, [evaluate(d, sizes) for d in dims], shapes, sizes)
            case ("convert", slot, source, dtype):
                values[slot] = _convert(plan, position, values[source], dtype_named(dtype).numpy)
            case ("python", slot, name, sources):
                values[slot] = _python(plan, position, name, [values[s] for s in sources])
            case ("const", slot, value, dtype):
                values[slot] = dtype_named(dtype).numpy.type(value) if dtype else value
            case ("view", slot, source, op, attrs):
                values[slot] = _view(values[source], source, infos, op, attrs, sizes)
            case _:
                raise InternalError(f"a plan has no step {step[0]}")

    def leaf(slot: int) -> Any:
        value = values[slot]
        if slot in scalars:
            return executor.scalar(value)
        if slot in fresh:
            return executor.array(value)
        if isinstance(value, View):
            return arrays.view(
                arguments[value.argument], infos[value.argument], value.shape, value.strides, value.offset
            )
        return value

    return arrange(plan.tree, leaf)


def arrange(tree: Any, leaf: Callable[[int], Any]) -> Any:
    """Results nested as the user's function nests them."""
    match tree:
        case int():
            return leaf(tree)
        case ("tuple", *members):
            return tuple(arrange(m, leaf) for m in members)
        case ("list", *members):
            return [arrange(m, leaf) for m in members]
        case ("dict", *items):
            return {key: arrange(member, leaf) for key, member in items}
        case ("str", text):
            return text
        case _:
            return None


def _check(
    plan: Plan, position: int, kind: str, dims: list[int], shapes: Sequence[Any], sizes: Mapping[str, int]
) -> None:
    if kind == "broadcast":
        left, right = dims
        if left != right:
            listed = " ".join(format_shape(tuple(evaluate(d, sizes) for d in s)) for s in shapes)
            raise ShapeError(f"operands could not be broadcast together with shapes {listed} ", plan.locs.get(position))
    else:
        index, size, axis = dims
        if not -size <= index < size:
            message = f"index {index} is out of bounds for axis {axis} with size {size}"
            raise IndexingError(message, plan.locs.get(position))


def _convert(plan: Plan, position: int, value: Any, dtype: np.dtype) -> Any:
    try:
        with np.errstate(all="ignore"):
            return dtype.type(value)
    except (OverflowError, ValueError, TypeError) as error:
        raise located(error, plan.locs.get(position)) from None


def _python(plan: Plan, position: int, name: str, values: list[Any]) -> Any:
    try:
        return PYTHON_OPERATORS[name](*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise located(error, plan.locs.get(position)) from None


def _view(
    source: Any, slot: int, infos: Mapping[int, ArrayInfo], op: str, attrs: Mapping[str, Any], sizes: Mapping[str, int]
) -> View:
    if isinstance(source, View):
        base = source
    else:
        info = infos[slot]
        base = View(slot, info.shape, info.byte_strides, 0)
    shape, strides, offset = list(base.shape), list(base.strides), base.offset
    match op:
        case "newaxis":
            shape.insert(attrs["axis"], 1)
            strides.insert(attrs["axis"], 0)
        case "transpose":
            shape, strides = ([v[a] for a in attrs["axes"]] for v in (shape, strides))
        case "slice":
            size = [evaluate(d, sizes) for d in attrs["size"]]
            if 0 not in size:
                offset += sum(evaluate(s, sizes) * stride for s, stride in zip(attrs["start"], strides, strict=True))
            strides = [stride * step for stride, step in zip(strides, attrs["step"], strict=True)]
            shape = size
        case "index":
            axis = attrs["axis"]
            if 0 not in shape:
                offset += evaluate(attrs["at"], sizes) * strides[axis]
            del shape[axis], strides[axis]
        case _:
            raise CompileError(f"{op} is no view of an argument")
    return View(base.argument, tuple(shape), tuple(strides), offset)

"""The finished plan of a function.

A plan is data: what the arguments must be, the lengths that follow from them, and steps that
check, convert, allocate, launch and return.  It knows nothing of the compiler; names of
operations are those of the IR.  `pytocu.runtime.program` writes it as a function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pytocu.errors import DTypeError, Loc, ShapeError
from pytocu.ir.dims import Dim, DimLike, as_symbol
from pytocu.ir.types import dtype_named
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.strides import is_c_contiguous

Step: TypeAlias = tuple[Any, ...]
"""The name of the step, then its operands; values are numbered slots, arguments first."""

class Parameter(NamedTuple):
    """What one argument must be: ``array`` of dtype, shape and layout, ``scalar`` or ``weak``."""

    name: str
    kind: str
    dtype: str
    shape: tuple[DimLike, ...] = ()
    layout: str = "C"


class KernelSpec(NamedTuple):
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


class Plan(NamedTuple):
    """Everything a call does."""

    name: str
    parameters: tuple[Parameter, ...]
    symbols: tuple[tuple[str, int, int], ...]
    steps: tuple[Step, ...]
    kernels: tuple[KernelSpec, ...]
    tree: Any
    assumptions: tuple[tuple[Dim, bool], ...]
    locs: Mapping[int, Loc] = MappingProxyType({})


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
    if is_c_contiguous(info.shape, info.strides, info.dtype.itemsize):
        return "C"
    reversed_ok = is_c_contiguous(info.shape[::-1], info.strides[::-1], info.dtype.itemsize)
    return "F" if reversed_ok and len(info.shape) > 1 else "S"

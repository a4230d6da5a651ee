"""The finished plan of a function.

A plan is data: what the arguments must be, the lengths that follow from them, and steps that
check, convert, allocate, launch and return.  It knows nothing of the compiler; names of
operations are those of the IR.  `pytocu.runtime.program` writes it as a function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import DTypeError, Loc, ShapeError, UnsupportedError
from pytocu.ir.dims import DimLike, Fact, as_symbol
from pytocu.ir.library_names import numpy_name
from pytocu.ir.types import dtype_named
from pytocu.record import Record
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.failures import Failure
from pytocu.runtime.strides import byte_bounds, layout_of_strides

Step: TypeAlias = tuple[Any, ...]
"""The name of the step, then its operands; values are numbered slots, arguments first."""

Sharing: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Groups of arguments in one memory: ``same`` elements or ``overlap``, and their numbers."""


class Parameter(Record):
    """What one argument must be: ``array`` of dtype, shape and layout, ``scalar`` or ``weak``."""

    name: str
    kind: str
    dtype: str
    shape: tuple[DimLike, ...] = ()
    layout: str = "C"


class KernelSpec(Record):
    """How a kernel is called.

    ``parameters`` has one word a parameter: ``pointer``, ``index``, or the dtype of a scalar.
    ``work`` is the number of iterations that are spread over threads, ``cost`` the elements of
    one iteration, and ``each`` the iterations that a thread of a GPU runs at once.  Threads lie
    in a row, or in columns and rows: ``grid`` has their numbers and the most columns of a block.
    A kernel that ``waits`` does so itself for the launch before it, so it may begin while that one ends.
    ``written`` are the numbers of the pointers to what it writes, ``read`` of those to what it reads.
    """

    name: str
    parameters: tuple[str, ...]
    schedule: str
    work: DimLike
    cost: DimLike = 1
    block: int = 0
    index_bits: int = 32
    each: int = 1
    grid: tuple[DimLike, ...] = ()
    waits: bool = False
    written: tuple[int, ...] = ()
    read: tuple[int, ...] = ()

    @property
    def tile(self) -> int:
        """Iterations that the threads of a block run at once."""
        return self.block * self.each


class Plan(Record):
    """Everything a call does.

    ``written`` are the numbers of the arguments that are changed; ``sharing`` says which others
    are in one memory with them, a fact the code relies on.
    """

    name: str
    parameters: tuple[Parameter, ...]
    symbols: tuple[tuple[str, int, int], ...]
    steps: tuple[Step, ...]
    kernels: tuple[KernelSpec, ...]
    tree: Any
    assumptions: tuple[Fact, ...]
    written: tuple[int, ...] = ()
    sharing: Sharing = ()
    locs: Mapping[int, Loc] = MappingProxyType({})

    def failures(self) -> tuple[Failure, ...]:
        """What kernels may find wrong with the data."""
        found: list[Failure] = []
        for place, step in enumerate(self.steps):
            match step:
                case ("failed", _, at, error, sentence, numbers, said):
                    found.append(Failure(at, error, sentence, numbers, self.locs.get(place), said))
        return tuple(found)

    def library_calls(self) -> tuple[str, ...]:
        """NumPy's names of what the caller's library computes, in order."""
        return tuple(numpy_name(step[2]) for step in self.steps if step[0] == "library")

    def words(self) -> int:
        """How many words kernels have to note it."""
        return sum(step[2] for step in self.steps if step[0] == "failures")

    def shared(self, infos: Mapping[int, ArrayInfo]) -> Sharing:
        """Which arguments are in one memory with one that is written."""
        return shared_memory(self.written, infos)

    def spans(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names of the lengths of shared memory, and the arguments in it."""
        return [(f"{self.parameters[n[0]].name}_span", n) for kind, n in self.sharing if kind == "overlap"]


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
        known = {"C": "row-major (C) order", "F": "column-major (F) order"}
        name = known.get(parameter.layout, f"the order of axes {parameter.layout}")
        raise ShapeError(
            f"argument {parameter.name} must lie in {name}", help="compile for any strides: f32[n, m; S]"
        )


def shared_memory(written: Sequence[int], infos: Mapping[int, ArrayInfo]) -> Sharing:
    """Groups of arguments whose ranges of addresses meet, where one of them is written.

    Parameters
    ----------
    written : sequence of int
        Numbers of the arguments that the function changes.
    infos : mapping
        The array arguments by number.

    Raises
    ------
    UnsupportedError
        Two of them have different dtypes.
    """
    if not written:
        return ()
    ranges = {n: address_range(info) for n, info in infos.items() if 0 not in info.shape}
    group = {n: n for n in ranges}
    for w in written:
        for n in ranges:
            if w in ranges and n != w and ranges[n][0] < ranges[w][1] and ranges[w][0] < ranges[n][1]:
                if infos[n].dtype is not infos[w].dtype:
                    other = infos[n].name
                    sentence = f"argument {infos[w].name} is written, and shares memory with argument {other} of another dtype"
                    raise UnsupportedError(sentence, help=f"pass a copy of {other}")
                old, new = sorted((group[n], group[w]), reverse=True)
                group = {k: new if g == old else g for k, g in group.items()}
    members = {g: tuple(sorted(k for k in group if group[k] == g)) for g in sorted(set(group.values()))}
    return tuple((_relation([infos[n] for n in numbers]), numbers) for numbers in members.values() if len(numbers) > 1)


def _relation(infos: Sequence[ArrayInfo]) -> str:
    views = {(i.pointer, i.shape, tuple(s for s, n in zip(i.byte_strides, i.shape, strict=True) if n > 1)) for i in infos}
    return "same" if len(views) == 1 else "overlap"


def address_range(info: ArrayInfo) -> tuple[int, int]:
    """The first address of an array's elements, and the one behind the last."""
    low, high = byte_bounds(info.shape, info.byte_strides, info.dtype.itemsize)
    return info.pointer + low, info.pointer + high


def memory_range(infos: Sequence[ArrayInfo]) -> tuple[int, int]:
    """The lowest address of arrays of one dtype, and the number of elements from there to the last one's end."""
    ranges = [address_range(info) for info in infos]
    low = min(r[0] for r in ranges)
    return low, (max(r[1] for r in ranges) - low) // infos[0].dtype.itemsize


def layout_of(info: ArrayInfo) -> str:
    """The layout of an argument, as its type states it; lengths 0 and 1 do not matter."""
    if info.strides is None or len(info.shape) < 1:
        return "C"
    return layout_of_strides(info.shape, info.strides, info.dtype.itemsize)

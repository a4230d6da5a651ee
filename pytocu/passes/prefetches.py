"""Memory that a loop of a CPU reads from one end to the other is asked for somewhat before it is read.

Processors read ahead by themselves, but not beyond the end of a page, and not so far that memory always has something to do
while a loop waits for the results of its arithmetic. Nothing but time depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, product
from pytocu.passes.accesses import Index
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import itemsize_of

AHEAD = 4096
"""Bytes between what is read and what is asked for."""

FAR = 2**18
"""Bytes of an array from which on it is asked for; of less, much lies in the first caches."""

Stream = tuple[Value, Affine]

Found = Mapping[tuple[DimLike, int], Sequence[Stream]]
"""Streams by all their elements and the bytes of one."""


def streams(e: Elements, pairs: Iterable[tuple[Value, Index]], fits: Callable[[Affine], bool]) -> Found:
    """What is read at offsets over the loops that fit, without what is known to be small."""
    found: dict[tuple[Value, tuple[DimLike, ...]], Affine] = {}
    for value, at in pairs:
        if value not in e.memory or (value, at) in e.made:
            continue
        offset = e.memory[value].offset(at, e.ndim)
        merged = e.merged(offset)
        if not merged.parts and fits(merged):
            found.setdefault((e.memory[value].pointer, merged.coefficients), offset)
    sizes: dict[tuple[DimLike, int], list[Stream]] = {}
    for (pointer, coefficients), offset in found.items():
        moving = [size for size, c in zip(e.sizes, coefficients, strict=True) if c != 0]
        elements, itemsize = product(moving), itemsize_of(pointer)
        if not isinstance(elements, int) or elements * itemsize > FAR:
            sizes.setdefault((elements, itemsize), []).append((pointer, offset))
    return sizes


def goes_on(e: Elements, merged: Affine) -> bool:
    """Whether what is read along the last loop goes on in the next iteration of the others."""
    steps = zip(merged.coefficients, e.walk(), strict=True)
    return merged.coefficients[-1] == 1 and all(c in (0, whole) for c, whole in steps)


def write(e: Elements, builder: Builder, found: Found, count: int, ahead: int = AHEAD) -> None:
    """Ask for `count` elements, from so many bytes behind the loops' indices on."""
    for (elements, itemsize), group in found.items():
        asked = Builder(e.loc)
        for pointer, offset in group:
            attrs = {"ahead": ahead, "bytes": count * itemsize}
            asked.inst("prefetch", (pointer, e.address(asked, offset)), attrs)
        if isinstance(elements, int):
            builder.insts.extend(asked.take())
            continue
        asked.emit("yield")
        empty = Builder(e.loc)
        empty.emit("yield")
        far = e.before.emit("less", (e.dim(FAR // itemsize), e.dim(elements)), name="far")
        builder.inst("if", (far,), {}, (), (Block((), asked.take()), Block((), empty.take())))

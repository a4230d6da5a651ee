"""Which elements of the vectors each lane of `lanes` is given, and which loops have such lanes."""

from __future__ import annotations

from pytocu.ir.core import Inst
from pytocu.ir.types import VectorType
from pytocu.record import Record


class Share(Record):
    """Lane k is given `many` elements from ``k * step + first`` on."""

    step: int
    first: int
    many: int


def lane_reach(inst: Inst) -> list[Share]:
    """What lanes are given of each vector: equal parts where nothing else is said.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> f = parse_function('''
    ... loop func @sums(%x: ptr f32, %out: ptr f32) {
    ...   %0 = const 0 : index
    ...   %x_vector = load %x, %0 {align = 16, lanes = 8} : <8 x f32>
    ...   %out_vector = lanes %x_vector {lanes = 4, reach = ((1, 2, 2),)} : <4 x f32> (%k: index, %a: f32, %b: f32) {
    ...     %1 = add %a, %b : f32
    ...     yield %1
    ...   }
    ...   store %out, %0, %out_vector {align = 16}
    ...   return
    ... }''')
    >>> (share,) = lane_reach(f.body.insts[2])
    >>> [list(share_of_lane(share, k)) for k in range(4)]
    [[2, 3], [3, 4], [4, 5], [5, 6]]
    """
    stated = inst.attr("reach")
    if stated is not None:
        return [Share(*numbers) for numbers in stated]
    sizes = [vector.type.lanes // inst.attr("lanes") for vector in inst.args if isinstance(vector.type, VectorType)]
    return [Share(size, 0, size) for size in sizes]


def share_of_lane(share: Share, lane: int) -> range:
    """The elements of a vector that a lane is given."""
    first = lane * share.step + share.first
    return range(first, first + share.many)


def is_widened(loop: Inst) -> bool:
    """Whether a loop's body takes several shares at a time, as many as its schedule wants, or has few iterations.

    A compiler that unrolled it as well would make more code, which takes longer to compile and runs no faster.
    """
    return loop.attr("few", False) or any(inst.op.name == "lanes" and inst.attr("lanes") > 1 for inst in loop.regions[0].insts)

"""A launch's schedule in words, what decided it, and how fast such a kernel may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.explain.traffic import number_of
from pytocu.explain.work import counted
from pytocu.ir.core import Inst, walk
from pytocu.ir.dims import DimLike, product, symbols
from pytocu.ir.types import ArrayType, ScalarType, element

COPY_BYTES_A_SECOND = 4.195e12
"""Of a large copy on an H200 (docs/performance.md)."""

OPERATIONS_A_SECOND = 3.35e13
"""Of float32, one an instruction, on an H200: 132 multiprocessors of 128 lanes at 1.98 GHz."""

LAUNCH_SECONDS = 2e-6
"""Between the beginnings of two kernels that do nothing."""

THREADS = 20_000
"""So many, each with some loads on the way, are what a large copy has to have."""

ANY_LENGTH = "the length is not known here, so the code is what is right for all"

_DIVISION = 8
_COSTS = {"divide": _DIVISION, "sqrt": _DIVISION, "floor_divide": 12, "remainder": 12, "fmod": 12, "power": 40, "copy": 0}
_FUNCTION = 14


MOST_BYTES = 1 << 30
"""What a kernel moves at least, where lengths that are not known are supposed to be long."""


def long_lengths(moved: DimLike, sizes: Mapping[str, int]) -> dict[str, int]:
    """A power of two for every length that is not known, so large that a launch's own time does not count.

    Parameters
    ----------
    moved : int or Dim
        The bytes that a kernel moves.

    Examples
    --------
    >>> from pytocu.ir.dims import symbol
    >>> long_lengths(symbol("n") * symbol("m") * 4, {"m": 1024})
    {'n': 262144}
    """
    names = [name for name in symbols(moved) if name not in sizes]
    for power in range(4, 31):
        lengths = dict.fromkeys(names, 1 << power)
        if (number_of(moved, {**sizes, **lengths}) or 0) >= MOST_BYTES:
            return lengths
    return {}


def how(launch: Inst, target: str, each: int = 1, rows: bool = False, vectors: bool = False, block: int = 0) -> str:
    """The schedule in words.

    Parameters
    ----------
    launch : Inst
        As the pass ``schedule`` leaves it.
    each : int
        How many elements a thread computes at once.
    block : int
        Threads of a block in the finished code; 0 for what the pass ``schedule`` asked for.
    rows : bool
        Whether rows and columns are counted apart.
    vectors : bool
        Whether elements are loaded or stored as vectors.
    """
    schedule, block = launch.attr("schedule"), block or launch.attr("block", 0)
    lanes, share = launch.attr("lanes", 1), launch.attr("share", 0)
    if block:
        lanes = min(lanes, block)
    if schedule == "sweep":
        spread = f"; blocks of {block} threads" if block else "; positions are spread over threads"
        return f"one thread goes through all steps of a loop for each position{spread}"
    if target == "cpu":
        match schedule:
            case "columns":
                return "tiles of columns are combined row of memory by row of memory; columns are spread over threads"
            case _ if launch.attr("reduced"):
                return "rows are spread over threads, each walked with vector instructions"
            case _:
                return "the last axis is an inner loop of vector instructions; the others are spread over threads"
    match schedule:
        case "pointwise":
            if rows:
                moved = f"a thread computes {each} elements{' as vectors' if vectors else ' of a column'} at once"
                return f"an index over rows and one over columns, blocks of {block} threads, {moved}"
            moved = f"{each} elements at a time" if each > 1 else "one element at a time"
            moved = "neighbouring elements are read and written as vectors" if vectors else moved
            return f"one index over all elements, blocks of {block} threads, {moved}"
        case "tiles":
            return f"blocks of {block} threads read tiles along each operand's own axis through shared memory"
        case "compaction":
            walked = "walk through pieces of a mask, and have the places of true elements in shared memory"
            return f"blocks of {block} threads {walked}, whose elements neighbouring threads compute"
        case "rows":
            held = share and launch.attr("whole")
            wide = f", in vectors of {launch.attr('vector')}" if launch.attr("vector", 1) > 1 else ""
            if launch.attr("several"):
                wide += f", and each thread has {launch.attr('several')} rows at once"
            if lanes == 1:
                kept = f", and keeps its {share} elements in registers" if held else ""
                return f"one thread has a row{kept}{wide}; blocks of {block} threads"
            kept = f", which keep {share} elements each in registers" if held else ""
            return f"a row is shared by {lanes} threads{kept}{wide}; blocks of {block} threads"
        case "columns":
            walked = "one thread walks a column" if lanes == 1 else f"a column is shared by {lanes} threads"
            return f"neighbouring threads have neighbouring columns, and {walked}; blocks of {block} threads"
    return str(schedule)


def why(launch: Inst, target: str, sizes: Mapping[str, int]) -> str:
    """What decided the schedule."""
    reduced, parallel = launch.attr("reduced"), launch.attr("parallel")
    schedule = launch.attr("schedule")
    if schedule == "sweep":
        return "every step reads and changes arrays at the thread's own position, whatever it is along the axis of the loop"
    if not reduced:
        if schedule == "compaction":
            return "a mask chooses what is computed, and the counts of its pieces say where those of each go"
        if schedule == "tiles":
            return "an operand lies along another axis than the result, and both axes are long"
        if any(i.op.name == "gather" for i in walk(launch.regions[0])):
            return "nothing is reduced; what is chosen by positions is read where it lies"
        return "nothing is reduced, and every operand is read along the axis in which the result is written"
    scans = any(i.op.kind == "scan" for i in walk(launch.regions[0]))
    what = "scans" if scans else "reduces"
    piece = next((i.attr("piece") for i in walk(launch.regions[0]) if i.attr("piece") is not None), None)
    over = f"it {what} {_lengths('axis', 'axes', reduced)}"
    if parallel:
        over += f", once for each element of {_lengths('an axis', 'axes', parallel)}"
    if piece is not None:
        over += f", cut into pieces of {piece}"
    if schedule == "columns":
        return f"{over}; the reduced axis is not the one that neighbours in memory lie along"
    length = number_of(product(reduced), sizes)
    if length is None and target != "cpu":
        return f"{over}; {ANY_LENGTH}"
    return f"{over}, along which neighbours lie in memory"


def _lengths(one: str, several: str, lengths: Sequence[DimLike]) -> str:
    if len(lengths) == 1:
        return f"{'an ' if one == 'axis' else ''}{one} of length {lengths[0]}"
    return f"{several} of lengths {', '.join(map(str, lengths[:-1]))} and {lengths[-1]}"


def operations(launch: Inst) -> DimLike:
    """About how many float32 operations the elements take; loops whose number of steps is not known have names in it."""
    total: DimLike = 0
    for inst, times in counted(launch.regions[0].insts):
        if inst.op.kind not in ("elementwise", "reduce", "scan") or not inst.args:
            continue
        type = inst.args[0].type if inst.op.kind != "elementwise" else inst.types[0]
        cost = _COSTS.get(inst.op.name, 1 if inst.op.exact else _FUNCTION)
        wide = isinstance(type, ArrayType | ScalarType) and element(type).name in ("f64", "c128")
        total = total + times * cost * (2 if wide else 1)
    return total


def expected(moved: int | None, computed: float | None, threads: int | None = None) -> tuple[float | None, str]:
    """The share of the speed of a copy that a kernel may reach, and what limits it.

    An estimate: bytes over the speed of a copy against operations over the speed of arithmetic and a
    launch's own time, with the figures of one GPU.  Few threads do not keep memory busy.

    Examples
    --------
    >>> expected(1 << 30, 1e6)[1], expected(4096, 10.0)[1], expected(1 << 20, 1e12)[1]
    ('memory', 'launch', 'arithmetic')
    >>> share, limit = expected(1 << 30, 1e6, 256)
    >>> round(share, 2), limit
    (0.01, 'threads')
    """
    if moved is None or computed is None or not moved:
        return None, ""
    memory, arithmetic = moved / COPY_BYTES_A_SECOND, computed / OPERATIONS_A_SECOND
    few = memory * THREADS / threads if threads and threads < THREADS else 0.0
    taken = max(memory, arithmetic, few) + LAUNCH_SECONDS
    parts = {"memory": memory, "arithmetic": arithmetic, "launch": LAUNCH_SECONDS, "threads": few}
    return memory / taken, max(parts, key=lambda name: parts[name])

"""Chooses how each launch runs on the target.

``pointwise`` (GPU): one index over the whole result, spread over the threads of a grid.
``tiles`` (GPU): the same through tiles in shared memory, where an operand lies along another axis than the result.
``sweep``: one thread goes through all steps of a loop for each free position (see `pytocu.passes.sweeps`).
``rows`` (CPU): the last axis is an inner loop that becomes vector code; the others are split
over threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, make_attrs
from pytocu.ir.dims import DimLike, as_symbol, product, symbol
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import ArrayType, axes_of, element, shape_of
from pytocu.passes.accesses import demand, is_blank, walking_axes, whole_index
from pytocu.passes.affine import unit
from pytocu.passes.classes import SHORTEST, Classes
from pytocu.passes.context import PassContext
from pytocu.passes.costs import operations
from pytocu.passes.elements import strides_of
from pytocu.passes.spaces import NARROW
from pytocu.passes.split import columns_first

WARP = 32
"""Threads that exchange registers."""

SWEEP_BLOCK = 32
"""Threads a block of a sweep: few, since a thread has many steps and there may be few threads for all multiprocessors."""

BLOCK = 256
"""Threads a block: a multiple of the warp that fills every architecture's multiprocessor."""

LANES = 64
"""States of a row on a CPU: four vectors of the widest kind for float32."""

FEW_LANES = 8
"""The same of rows of no more than `LANES` elements, but for the shortest."""

SHORT, DEAR = 15, 10
"""Elements of a row that are combined one after the other, as more would be spent on several states: up to so many, unless
an element takes so many operations."""

FEW_ROWS, WIDE_BYTES = 16, 4
"""So many short rows are walked one by one, and sums of elements that have more bytes."""

VECTOR_BYTES = 16
"""What a thread of a pointwise kernel moves of the widest array: the largest access there is."""

LEAST_LANES, MOST_LANES = 2, 16
"""Elements next to each other that a thread computes: two where one alone has `VECTOR_BYTES`."""

LEAST_ROWS, MOST_ROWS = 4, 8
"""Elements of a thread that lie in several rows, or a block apart."""

STORED_BYTES, MOST_GROUPS = 16, 2
"""What a thread of a pointwise kernel stores of each result, by vectors a block apart, and how many these are at most."""

WHOLE_ROW_BYTES, LEAST_SHARED_OPERATIONS = 64, 64
"""A thread has whole rows along a short last axis: if they have so few bytes, and save so many simple operations a row."""

WIDEST_ROWS = 128
"""Bytes of memory that the rows of a thread lie in at most, to be loaded as one vector."""

VECTOR_ROWS = 2
"""Rows of a thread that has vectors of columns."""

TILE_BYTES = 36 * 1024
"""Shared memory of the tiles of a block at most; operands that find no room are read across their rows."""

WIDE_TILE, FEW_ELEMENTS, MOST_TILE_OPERATIONS = 64, 2**21, 32
"""Rows and columns of a tile where results have more elements, and each takes so few operations."""

MOST_LANE_OPERATIONS, MOST_ROW_OPERATIONS = 2048, 512
"""Operations on elements that a thread is given at most before it is given fewer elements."""

TILE_COLUMNS = 32
"""Columns of a block where threads lie in columns and rows."""


def run(function: Function, context: PassContext) -> Function:
    """State the schedule of every launch."""
    gpu = context.target.kind == "cuda"

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch":
            return None
        made = inst.regions[0].terminator.args
        if not gpu and made and all(map(is_blank, made)):
            # Whatever is in this memory, nobody reads it.
            return ()
        for one in [inst] if gpu else _not_blank(builder, inst, args):
            state(builder, one, args if one is inst else one.args)
        return ()

    def state(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> None:
        attrs = dict(inst.attrs)
        attrs["schedule"] = "pointwise" if gpu else "rows"
        if gpu:
            attrs["block"] = BLOCK
        if inst.attr("free") is not None:
            attrs |= {"schedule": "sweep"} | ({"block": SWEEP_BLOCK} if gpu else {})
        elif inst.attr("reduced"):
            attrs |= _reduction(inst, classes) if gpu else _reduction_on_cpu(inst, classes)
        elif gpu and any(i.op.name == "compaction" for i in inst.regions[0].insts):
            attrs["schedule"] = "compaction"
        else:
            attrs |= _short_axes(inst, classes, not gpu)
            if gpu and _transposes(inst, classes):
                attrs |= {"schedule": "tiles", "side": _side(inst, classes)}
        builder.inst("launch", args, attrs, (), inst.regions)

    classes = Classes(context)
    scheduled = classes.state(rewrite(function, rule))
    facts = (*scheduled.facts, ("index_bits", context.index_bits), ("target", context.target.kind))
    return Function(scheduled.name, scheduled.level, scheduled.body, facts)


def _not_blank(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> list[Inst]:
    """Launches of what stands before blank memory in each result, where that is all of the rest; others as they are."""
    body, count = inst.regions[0], inst.attr("outputs")
    roots: list[Inst] = []
    for root in body.terminator.args:
        made = root.inst
        while made is not None and made.op.name == "copy" and not made.attrs:
            made = made.args[0].inst
        if made is None or made.op.name != "concatenate" or made.attr("axis") != 0 or not all(map(is_blank, made.args[1:])):
            return [inst]
        roots.append(made)
    if not roots or len(roots) != count:
        return [inst]
    given = dict(zip(body.params, args, strict=False))
    found: list[Inst] = []
    for number, (root, out) in enumerate(zip(roots, args[-count:], strict=True)):
        first = root.args[0]
        size = shape_of(first.type)
        attrs = {"start": (0,) * len(size), "step": (1,) * len(size), "size": size}
        part = builder.emit("slice", (out,), attrs)
        needed = {first}
        for one in reversed(body.insts[:-1]):
            if not needed.isdisjoint(one.results):
                needed.update(one.args)
        region = Builder(inst.loc)
        region.insts = [one for one in body.insts[:-1] if not needed.isdisjoint(one.results)]
        region.emit("yield", (region.emit("copy", (first,)),))
        params = tuple(param for param in body.params if param in needed)
        own = dict(inst.attrs) | {"outputs": 1, "name": f"{inst.attr('name')}_{number}" if number else inst.attr("name")}
        taken = (*(given[param] for param in params), part)
        found.append(Inst(inst.op, taken, make_attrs(own), (), (Block(params, region.take()),), inst.loc))
    return found


ROWS = ((8, 1, 256, 8), (32, 4, 256, 8), (128, 16, 256, 8), (256, 32, 256, 8), (512, 32, 256, 16), (1024, 32, 128, 32),
        (2048, 128, 256, 16), (4096, 256, 512, 16), (8192, 512, 512, 16), (16384, 512, 512, 32),
        (32768, 1024, 1024, 32))  # fmt: skip
"""Longest row, threads a row, threads a block, elements of a row in a thread's registers.

Where all threads of a multiprocessor work on one row, none loads while they wait for each other, so a row has a thousand
threads only where their registers would not hold it otherwise.
"""

LARGE_SHARE_BYTES = 128
"""What a thread keeps of a row that many threads share."""

KEPT_BYTES = 256
"""What a thread keeps of a row in registers at most."""

MOST_SHARE_OPERATIONS, LEAST_SHARE_BYTES = 450, 32
"""A row is shared by more threads where a thread's share would be written out as more simple operations, as the compiler takes
time for each, but none has fewer bytes: it would load too little at once."""

ACCESS_OPERATIONS = 4
"""Simple operations that loading or storing an element is like: that is written for arrays that are aligned, and for others."""

MOST_THREADS = 1024
"""Threads a block has at most."""

COLUMNS = ((16, 1, 256, 16), (32, 2, 256, 16), (64, 4, 256, 16), (128, 8, 256, 16), (256, 16, 512, 16), (512, 16, 512, 32),
           (1024, 32, 1024, 32))  # fmt: skip
"""Longest column, threads a column, threads a block, elements of a column in a thread's registers.

Columns side by side in a block, which are the quotient of the two, are enough to read whole lines of memory. Threads of a
column are few, since each more is a step of putting their results together.
"""

FEW_COLUMNS, SHORT_COLUMN = 4096, 128
"""With so few columns that are longer than this one, fewer lie side by side in a block, so that there are more blocks: a thread
has few elements and waits for memory once."""

FEW_COLUMNS_BLOCK, SIDE_BY_SIDE = 512, 8
"""Threads a block there at least, and columns side by side: a sector of memory of float32."""

MOST_BLOCK_BYTES = 128 * 1024
"""What the threads of a block keep of columns: half of the registers there are."""

COLUMN_PIECE, WIDE_COLUMN_PIECE = (8, 256, 32), (16, 256, 16)
"""Threads a column, threads a block, and elements of a thread at once, of pieces, and of those with elements of 64 bits."""

ANY_COLUMN = (8, 256, 16)
"""The same of columns of any length."""

PIECE = (256, 256, 16)
"""Threads a row, threads a block, and elements of a thread at once, of pieces of long rows."""

WHOLE_PIECE = (1024, 1024, 16)
"""The same where a piece is swept more than once, so that all of it has to stay in registers."""

SCANNED_BYTES = {64: 128, 128: 128, 256: 128, 512: 64, 1024: 64}
"""What a thread has of a scan at once, by threads a block: running values and what they are made of are in registers."""

ALIKE_LANES = 64
"""Threads of a row and of a block at most where all rows read the same, and many blocks hide what they wait for."""

ROWS_OF_A_THREAD, STATES_BYTES = 4, 64
"""Rows that a thread has at once there, of whose reductions the states have so many bytes at most."""

MANY_THREADS, MOST_BLOCK_OPERATIONS, BLOCK_BYTES = 2**19, 32, 4
"""They pay if there were more threads with a row each, and an element takes so few operations of numbers so narrow that
loads count beside them."""

LIGHT_LANES, LIGHT_BYTES, LIGHT_OPERATIONS = (128, 256), 64, 12
"""Rows of one array that are read once, changed by few operations, and written: threads of a row that are twice as many, with
half of the share; what a thread keeps at most; and how many operations are few.  While a block adds up, others have to load."""

RESIDENT = {32: 2048, 64: 1536}
"""For how many threads of a multiprocessor there the registers have to do, by the bytes that a thread keeps."""

ANY_ROW = (256, 256, 4)
"""The same of rows whose length is not known: right for all, and best for none."""


def _reduction(inst: Inst, classes: Classes) -> dict[str, Any]:
    """How the rows of a kernel that reduces are given to threads."""
    length = product(inst.attr("reduced"))
    piece = _piece(inst)
    if _columns(inst, classes):
        if _scans(inst):
            # One thread walks a column.
            return {"schedule": "columns", "lanes": 1, "block": BLOCK}
        for longest, lanes, block, share in COLUMNS:
            if piece is None and classes.at_most(length, longest):
                if longest > SHORT_COLUMN and classes.at_most(product(inst.attr("parallel")), FEW_COLUMNS):
                    block = max(longest, FEW_COLUMNS_BLOCK)
                    lanes = block // SIDE_BY_SIDE
                    share = longest // lanes
                while block > BLOCK and block * share * _widest(inst) > MOST_BLOCK_BYTES:
                    block //= 2
                return _shared("columns", lanes, block, share)
        of_piece = WIDE_COLUMN_PIECE if _widest(inst) > WIDE_BYTES else COLUMN_PIECE
        lanes, block, share = ANY_COLUMN if piece is None else of_piece
        return _shared("columns", lanes, block, share, whole=piece is not None and _fits(piece, lanes * share))
    if piece is not None:
        lanes, block, share = WHOLE_PIECE if any(i.op.name == "own_piece" for i in inst.regions[0].insts) else PIECE
        return _rows(inst, classes, lanes, block, share, whole=_fits(piece, lanes * share))
    for longest, lanes, block, share in ROWS:
        if classes.at_most(length, longest):
            lanes, block, share = _balanced(inst, lanes, block, share)
            light = _is_light(inst, share)
            if light and lanes in LIGHT_LANES and share * 4 == LIGHT_BYTES:
                lanes, share = 2 * lanes, share // 2
            if longest > BLOCK and _is_small(inst, 2 * share):
                lanes, share = lanes // 2, 2 * share
                block = max(lanes, BLOCK) if lanes <= WARP else lanes
            elif WARP < lanes < block:
                # A row of several warps has a block of its own.
                block = lanes
            resident = {"resident": RESIDENT[share * 4]} if light and lanes > WARP else {}
            return _rows(inst, classes, lanes, block, share) | _several(inst, classes, lanes) | resident
    # Where lengths are known, `split` has cut what is longer.
    return _rows(inst, classes, *ANY_ROW, whole=False) | _several(inst, classes, ANY_ROW[0])


def _several(inst: Inst, classes: Classes, lanes: int) -> dict[str, Any]:
    """Several rows of a thread where all rows read the same, are many, and do little with each element."""
    parallel, ndim = len(inst.attr("parallel")), len(inst.attr("parallel")) + len(inst.attr("reduced"))
    (region,) = inst.regions
    places = [tuple(unit(k, ndim) for k in place) for place in inst.attr("places")]
    if not parallel or any(p.moves(parallel) for place in places for p in place) or _scans(inst):
        return {}
    types = [element(i.types[0]) for i in region.insts if i.op.kind == "elementwise"]
    if _row_operations(inst) > MOST_BLOCK_OPERATIONS or any(t.kind in "fc" and t.itemsize > BLOCK_BYTES for t in types):
        return {}
    for root, place in zip(region.terminator.args, places, strict=True):
        for value, at in demand([root], place, ndim):
            own = value.inst is None and any(p.parts or any(c != 0 for c in p.coefficients[:parallel]) for p in at)
            if own and any(p.moves(parallel) for p in at):
                return {}
    few = max(MANY_THREADS // min(lanes, ALIKE_LANES), 1)
    if classes.at_most(product(inst.attr("parallel")), few) is not False:
        return {}
    states = sum(element(t).itemsize for i in region.insts if i.op.kind == "reduce" for t in i.types)
    several = ROWS_OF_A_THREAD
    while several > 1 and several * states > STATES_BYTES:
        several //= 2
    return {"several": several} if several > 1 else {}


def _balanced(inst: Inst, lanes: int, block: int, share: int) -> tuple[int, int, int]:
    """More threads a row where a thread's share is much to compile, or more than registers hold beside those of other rows."""
    bytes, cost = _widest(inst), _row_cost(inst)
    while WARP <= lanes < block and share * bytes > LEAST_SHARE_BYTES and share * cost > MOST_SHARE_OPERATIONS:
        lanes, share = 2 * lanes, share // 2
    if BLOCK < lanes < MOST_THREADS and share * bytes > LARGE_SHARE_BYTES:
        lanes, block, share = 2 * lanes, 2 * lanes, share // 2
    return lanes, block, share


def _is_light(inst: Inst, share: int) -> bool:
    """Whether rows of one array are read, changed by few operations and written, with no number of more than 4 bytes."""
    (region,) = inst.regions
    rows = _whole_rows(inst, region.params)
    made = _whole_rows(inst, [r for i in region.insts for r in i.results])
    written = [r for r in region.terminator.args if r in made]
    if len(rows) != 1 or len(written) != 1 or _widest(inst) != 4 or share * 4 not in RESIDENT or _scans(inst):
        return False
    narrow = all(element(v.type).itemsize <= 4 for v in made)
    return narrow and len(inst.attr("reduced")) == 1 and _sweeps(inst) > 0 and _row_operations(inst) <= LIGHT_OPERATIONS


def _whole_rows(inst: Inst, values: Sequence[Value]) -> list[Value]:
    """Those of some values that have an element for each of all rows."""
    whole = product((*inst.attr("parallel"), *inst.attr("reduced")))
    return [v for v in values if isinstance(v.type, ArrayType) and product(v.type.shape) == whole]


def _is_small(inst: Inst, share: int) -> bool:
    """Whether a thread may have a larger share: of rows that are only read, as long as it keeps them and does little."""
    ndim = len(inst.attr("parallel")) + len(inst.attr("reduced"))
    if any(unit(k, ndim).moves(len(inst.attr("parallel"))) for place in inst.attr("places") for k in place) or _scans(inst):
        return False
    bytes = sum(element(p.type).itemsize for p in inst.regions[0].params if isinstance(p.type, ArrayType))
    most = KEPT_BYTES if _sweeps(inst) == 1 else KEPT_BYTES // 2
    return share * bytes <= most and share * _row_cost(inst) <= MOST_SHARE_OPERATIONS


def _sweeps(inst: Inst) -> int:
    """How many reductions of a row follow each other."""
    known: dict[Value, int] = {}
    for step in inst.regions[0].insts:
        count = max((known.get(a, 0) for a in step.args), default=0) + (step.op.kind == "reduce")
        known.update(dict.fromkeys(step.results, count))
    return max(known.values(), default=0)


def _row_operations(inst: Inst) -> int:
    """Simple operations that each element of a row takes."""
    found = (i for i in inst.regions[0].insts if i.op.kind == "elementwise" and _whole_rows(inst, i.results))
    return sum(map(operations, found))


def _row_cost(inst: Inst) -> int:
    """The same with what each element is loaded and stored by."""
    arrays = [v.type for v in (*inst.regions[0].params, *inst.regions[0].terminator.args) if isinstance(v.type, ArrayType)]
    along = sum(any(d in inst.attr("reduced") for d in a.shape) for a in arrays)
    return _row_operations(inst) + ACCESS_OPERATIONS * along


def _fits(piece: DimLike, most: int) -> bool:
    """Whether a piece is known to be no longer."""
    return isinstance(piece, int) and piece <= most


def _rows(inst: Inst, classes: Classes, lanes: int, block: int, share: int, whole: bool = True) -> dict[str, Any]:
    """Vectors where a row, or a piece of one, is made of whole ones."""
    scanned = [element(i.types[0]).itemsize for i in inst.regions[0].insts if i.op.kind == "scan"]
    if scanned and share * max(scanned) > SCANNED_BYTES[block]:
        share, whole = SCANNED_BYTES[block] // max(scanned), False
    vector = min(max(VECTOR_BYTES // _widest(inst), 1), share)
    while not classes.divides(vector, product(inst.attr("reduced"))):
        vector //= 2
    return _shared("rows", lanes, block, share, vector, whole)


def _shared(schedule: str, lanes: int, block: int, share: int, vector: int = 1, whole: bool = True) -> dict[str, Any]:
    """A row, or a column, shared by threads."""
    return {"schedule": schedule, "lanes": lanes, "block": block, "share": share, "vector": vector, "whole": whole}


def _widest(inst: Inst) -> int:
    """Bytes an element of the widest array that a launch reads or writes; of generated numbers there is none."""
    return max((element(a.type).itemsize for a in inst.args if isinstance(a.type, ArrayType)), default=VECTOR_BYTES)


def _reduction_on_cpu(inst: Inst, classes: Classes) -> dict[str, Any]:
    """How the rows of a kernel that reduces are walked: element by element where several states would not help."""
    if _columns(inst, classes):
        return {"schedule": "columns"}
    rows = (REDUCTIONS[i.attr("op")] for i in inst.regions[0].insts if i.op.kind == "reduce")
    length = product(inst.attr("reduced"))
    short = SHORT if _row_operations(inst) < DEAR else FEW_LANES - 1
    if any(row.loops for row in rows):
        return {"schedule": "rows", "lanes": 1}
    if classes.at_most(length, short):
        return {"schedule": "rows", "lanes": 1, **({"share": FEW_ROWS} if _together(inst, classes) else {})}
    few = classes.at_most(length, LANES)
    # Whether rows have more elements than there are states; of a length that nobody knows yet they may have none.
    whole = classes.at_most(length, short) is False and few is not None
    return {"schedule": "rows", "lanes": FEW_LANES if few else LANES, **({"whole": True} if whole else {})}


def _together(inst: Inst, classes: Classes) -> bool:
    """Whether many short rows are walked together, where their elements can be moved as vectors; see `ShortRows`.

    That costs as much as a sum of wide elements with which nothing else is done.
    """
    if _scans(inst) or classes.at_most(product(inst.attr("parallel")), FEW_ROWS) is not False:
        return False
    sums = all(i.attr("op") == "add" for i in inst.regions[0].insts if i.op.kind == "reduce")
    return not sums or _row_operations(inst) > 0 or _widest(inst) <= WIDE_BYTES


def _piece(inst: Inst) -> DimLike | None:
    return next((i.attr("piece") for i in inst.regions[0].insts if i.attr("piece") is not None), None)


def _scans(inst: Inst) -> bool:
    return any(i.op.kind == "scan" for i in inst.regions[0].insts)


def _columns(inst: Inst, classes: Classes) -> bool:
    """Whether neighbouring threads should have neighbouring rows."""
    parallel, reduced = inst.attr("parallel"), inst.attr("reduced")
    # Pieces of one row, along which what earlier kernels found of each is read, are no columns.
    if len(parallel) == (0 if _piece(inst) is None else 1):
        return False
    ndim = len(parallel) + len(reduced)
    roots = inst.regions[0].terminator.args
    places = [tuple(unit(k, ndim) for k in place) for place in inst.attr("places")]
    along = columns_first(list(zip(roots, places, strict=True)), len(parallel), ndim)
    return along and classes.at_most(parallel[-1], NARROW) is False


def _transposes(inst: Inst, classes: Classes) -> bool:
    """Whether an operand lies along another axis than the result, and both axes are long."""
    region = inst.regions[0]
    roots = region.terminator.args
    shape = shape_of(roots[0].type)
    ndim = len(shape)
    axes = [axis for axis in walking_axes(inst.args[-inst.attr("outputs")]) if shape[axis] != 1]
    arrays = {p: strides_of(p.type, p.name) for p in region.params if isinstance(p.type, ArrayType)}
    for value, at in demand(roots, whole_index(ndim), ndim) if len(axes) > 1 else ():
        if value not in arrays or any(place.parts for place in at):
            continue
        steps = [sum(place.coefficients[axis] * s for place, s in zip(at, arrays[value], strict=True)) for axis in axes]
        if steps[-1] in (0, 1) or 1 not in steps:
            continue
        along = axes[steps.index(1)]
        short = [classes.at_most(shape[axis], TILE_COLUMNS - 1) for axis in (along, axes[-1])]
        if True not in short:
            return True
    return False


def _side(inst: Inst, classes: Classes) -> int:
    """Rows and columns of a tile: many, so that much is on its way at once, where there are still tiles for all of a GPU."""
    root = inst.regions[0].terminator.args[0]
    bytes = max(element(a.type).itemsize for a in inst.args if isinstance(a.type, ArrayType))
    fits = WIDE_TILE * (WIDE_TILE + 1) * bytes <= TILE_BYTES
    short = sum(map(operations, inst.regions[0].insts)) <= MOST_TILE_OPERATIONS
    if fits and short and classes.at_most(product(shape_of(root.type)), FEW_ELEMENTS) is False:
        return WIDE_TILE
    return TILE_COLUMNS


def _short_axes(inst: Inst, classes: Classes, results: bool) -> dict[str, Any]:
    """Lengths of last axes, also of results, that are so short that code is written for each: coordinates and channels."""
    (region,) = inst.regions
    arrays = [*region.params, *(inst.args[-inst.attr("outputs") :] if results else ())]
    types = [v.type for v in arrays if isinstance(v.type, ArrayType) and v.type.ndim > 1]
    lasts = [type.shape[axes[-1]] for type in types if (axes := axes_of(type.layout, type.ndim))]
    names = dict.fromkeys(name for name in map(as_symbol, lasts) if name is not None)
    known = [(name, classes.exactly(symbol(name), SHORTEST)) for name in names]
    found = tuple((name, length) for name, length in known if length is not None and length > 1)
    return {"known": found} if found else {}

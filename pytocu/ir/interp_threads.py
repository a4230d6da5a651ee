"""Runs the loop level thread by thread with NumPy, and reports what is undefined.

The threads of a block advance together: a value is an array with one element a thread (or one
for all of them), and a mask says which threads take part.  Blocks follow one another.  Memory
knows its bounds and which elements were written, and remembers who touched what since
the last barrier, so a kernel that is right only by luck is found without a GPU.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import InternalError, located
from pytocu.ir import interp_accesses as accesses
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.interp_launch import Fault, Run
from pytocu.ir.interp_memory import Memory, Touched, memory_of
from pytocu.ir.interp_rows import broken_rule, cast, part
from pytocu.ir.interp_rows import evaluate as evaluate_row
from pytocu.ir.lanes import lane_reach, share_of_lane
from pytocu.ir.ops import GRID_AXES
from pytocu.ir.types import IndexType, PointerType, ScalarType, Type, VectorType, element

Steps: TypeAlias = "Generator[Steps, Any, Sequence[Any] | None]"
"""Runs a region; yields the regions inside it to be run first, so that depth costs no Python stack."""


def run_threads(
    function: Function | Block,
    arguments: Sequence[Any],
    *,
    grid: int | tuple[int, int] = 1,
    block: int | tuple[int, int] = 32,
    index_bits: int | None = None,
    faults: list[Fault] | None = None,
    limit: int = 10_000_000,
    aligned: bool | None = None,
) -> None:
    """Run a loop-level function on every thread of a grid; pointers' memory is written in place.

    Parameters
    ----------
    function : Function or Block
        The kernel; a Block is the region of a ``launch``.
    arguments : sequence
        An array or :class:`Memory` for a pointer, a NumPy scalar for a scalar, an int for an index.
    grid, block : int or (int, int)
        Number of blocks, and of threads in each; two where they lie in columns and rows.  A loop
        over ``parallel`` is spread over them too, and every iteration counts as a thread of its
        own where races are looked for.
    index_bits : int, optional
        Width of an index, 32 or 64; by default as the function's facts say.
    faults : list of Fault, optional
        Collects what is undefined instead of stopping at the first.
    limit : int
        Iterations after which a ``while`` counts as endless.
    aligned : bool, optional
        What ``aligned`` answers: true as if every pointer were a multiple of any number of bytes,
        or false; by default what holds for the given memory.

    Raises
    ------
    ThreadFault
        A thread read or wrote out of bounds, read memory nobody wrote, raced, left a barrier
        waiting, met a vector at an address that is no multiple of its `align` bytes, overflowed
        an index, or gave a raw row operands it forbids.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> f = parse_function('''
    ... loop func @twice(%x: ptr f32, %out: ptr f32, %n: index) {
    ...   %0 = const 0 : index
    ...   %1 = const 1 : index
    ...   for %0, %n, %1 {over = "grid"} (%i: index) {
    ...     %2 = load %x, %i : f32
    ...     %3 = add %2, %2 : f32
    ...     store %out, %i, %3
    ...     yield
    ...   }
    ...   return
    ... }''')
    >>> out = np.zeros(3, np.float32)
    >>> run_threads(f, [np.float32([1, 2, 3]), out, 3])
    >>> out
    array([2., 4., 6.], dtype=float32)
    """
    body, stated = (function, 64) if isinstance(function, Block) else (function.body, function.fact("index_bits", 64))
    width: int = stated if index_bits is None else index_bits
    memories: dict[int, Memory] = {}
    given: dict[Value, Any] = {}
    for param, argument in zip(body.params, arguments, strict=True):
        given[param] = _argument(param.type, argument, memories)
    stored = {inst.args[0] for inst in walk(body) if inst.op.name == "store"}
    touched = {id(given[p]): Touched(given[p].data.size) for p in body.params if p in stored}
    grid, block = (grid, 1) if isinstance(grid, int) else grid, (block, 1) if isinstance(block, int) else block
    run = Run(body, grid, block, width, faults, limit, touched, aligned)
    with np.errstate(all="ignore"):
        for number in range(grid[0] * grid[1]):
            run.number, run.epoch = number, 0
            run.values, run.shared = dict(given), {}
            run.exited = np.zeros(run.lanes, bool)
            run.owners = number * run.lanes + np.arange(run.lanes)
            for param in body.params:
                _check_index(run, body.insts[0], param.type, given[param], ~run.exited)
            _drive(_steps(run, body, np.ones(run.lanes, bool)))
            for memory in run.shared.values():
                del run.touched[id(memory)]


def _argument(type: Type, argument: Any, memories: dict[int, Memory]) -> Any:
    match type:
        case PointerType(dtype):
            if isinstance(argument, np.ndarray):
                # One array given twice is one memory.
                if id(argument) not in memories:
                    memories[id(argument)] = memory_of(argument, dtype=dtype.numpy)
                argument = memories[id(argument)]
            if not isinstance(argument, Memory) or argument.data.dtype != dtype.numpy:
                raise InternalError(f"{type} is given something else: {argument!r}")
            return argument
        case ScalarType(dtype):
            if np.asarray(argument).dtype != dtype.numpy:
                raise InternalError(f"{type} is given {argument!r}")
            return np.full(1, argument, dtype.numpy)
        case IndexType():
            return np.full(1, argument, np.int64)
    raise InternalError(f"a parameter of type {type} does not stand at loop level")


def _drive(steps: Steps) -> None:
    stack, value = [steps], None
    while stack:
        try:
            inner = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
            continue
        stack.append(inner)
        value = None


def _steps(run: Run, block: Block, mask: np.ndarray) -> Steps:
    """Run a block for the threads of `mask`; the yielded values, or None when no thread is left."""
    for inst in block.insts:
        match inst.op.name:
            case "yield":
                return [run.values[a] for a in inst.args]
            case "return":
                run.exited = run.exited | mask
                return None
            case "for" | "if" | "while" | "lanes" as name:
                results = yield {"for": _for, "if": _if, "while": _while, "lanes": _lanes}[name](run, inst, mask)
                mask = mask & ~run.exited
                if results is None or not mask.any():
                    return None
            case _:
                results = _inst(run, inst, mask)
        run.values.update(zip(inst.results, results, strict=True))
    raise InternalError("a block does not end with a return or a yield")


def _merge(active: np.ndarray, new: Any, old: Any) -> Any:
    """The new value for active threads, the old one for the others."""
    if isinstance(new, Memory) or isinstance(old, Memory):
        raise InternalError("pointers are not carried")
    if active.all():
        return new
    # A vector has a row for each thread.
    return np.where(active[:, None] if max(np.ndim(new), np.ndim(old)) == 2 else active, new, old)


def _for(run: Run, inst: Inst, mask: np.ndarray) -> Steps:
    lower, upper, step, *state = (run.values[a] for a in inst.args)
    (region,) = inst.regions
    bad = mask & ~run.wide(step > 0)
    if bad.any():
        run.report("undefined", inst, bad, "the step is not positive")
        # Such a loop would not end, so those threads skip it where faults are collected.
        mask = mask & ~bad
    position, advance, owners = lower, step, run.owners
    over = inst.attr("over")
    if over in GRID_AXES or over == "parallel":
        place, threads = run.place(1 if GRID_AXES.get(over) == "y" else 0)
        position, advance = lower + place * step, threads * step
    elif over != "serial":
        raise InternalError(f"for does not know over = {over!r}")
    index = region.params[0]
    _check_index(run, inst, index.type, position, mask)
    active = mask & (position < upper)
    while active.any():
        if over == "parallel":
            run.owners = run.wide((position - lower) // step)
        run.values[index] = position
        run.values.update(zip(region.params[1:], state, strict=True))
        yielded = yield _steps(run, region, active)
        active = active & ~run.exited
        if yielded is None:
            break
        state = [_merge(active, new, old) for new, old in zip(yielded, state, strict=True)]
        position = position + advance
        _check_index(run, inst, index.type, position, active)
        active = active & (position < upper)
    run.owners = owners
    return state


def _if(run: Run, inst: Inst, mask: np.ndarray) -> Steps:
    condition = run.wide(run.values[inst.args[0]])
    results: list[Any] | None = None
    for region, active in zip(inst.regions, (mask & condition, mask & ~condition), strict=True):
        if not active.any():
            continue
        yielded = yield _steps(run, region, active)
        if yielded is None:
            continue
        results = list(yielded) if results is None else [_merge(active, n, o) for n, o in zip(yielded, results, strict=True)]
    return results


def _while(run: Run, inst: Inst, mask: np.ndarray) -> Steps:
    before, body = inst.regions
    state = [run.values[a] for a in inst.args]
    results: list[Any] | None = None
    active = mask
    for _ in range(run.limit):
        run.values.update(zip(before.params, state, strict=True))
        tested = yield _steps(run, before, active)
        active = active & ~run.exited
        if tested is None:
            return results
        goes_on, *current = tested
        results = current if results is None else [_merge(active, n, o) for n, o in zip(current, results, strict=True)]
        active = active & goes_on
        if not active.any():
            return results
        run.values.update(zip(body.params, results, strict=True))
        after = yield _steps(run, body, active)
        active = active & ~run.exited
        if after is None:
            return results
        state = [_merge(active, n, o) for n, o in zip(after, results, strict=True)]
    run.report("endless", inst, active, f"the loop did not end after {run.limit} iterations")
    return results


def _lanes(run: Run, inst: Inst, mask: np.ndarray) -> Steps:
    """A vector is an array with one row a thread."""
    (region,) = inst.regions
    count = inst.attr("lanes")
    number, *params = region.params
    vectors = [run.values[a] for a in inst.args if isinstance(a.type, VectorType)]
    carried = [run.values[a] for a in inst.args if not isinstance(a.type, VectorType)]
    reach = lane_reach(inst)
    made: list[Sequence[Any]] = []
    for lane in range(count):
        run.values[number] = np.full(1, lane)
        given = [v[:, m] for v, shares in zip(vectors, reach, strict=True) for m in share_of_lane(shares, lane)]
        run.values.update(zip(params, [*given, *carried], strict=True))
        yielded = yield _steps(run, region, mask)
        if yielded is None:
            return None
        made.append(yielded)
        carried = list(yielded[len(yielded) - len(carried) :])
    results: list[Any] = []
    place = 0
    for type in inst.types:
        if not isinstance(type, VectorType):
            break
        share = type.lanes // count
        results.append(np.stack([run.wide(v) for lane in made for v in lane[place : place + share]], axis=1))
        place += share
    return [*results, *carried]


def _check_index(run: Run, inst: Inst, type: Type, value: Any, mask: np.ndarray) -> None:
    if run.index_bits != 32 or not isinstance(type, IndexType):
        return
    bad = mask & run.wide((value < -(2**31)) | (value >= 2**31))
    if bad.any():
        found = int(run.wide(value)[bad][0])
        run.report("index-overflow", inst, bad, f"the index {found} does not fit 32 bits", index=found)


def _inst(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    """The results of an instruction without regions."""
    args = [run.values[a] for a in inst.args]
    match inst.op.name:
        case "load":
            return (accesses.load(run, inst, mask, *args),)
        case "store":
            accesses.store(run, inst, mask, *args)
            return ()
        case "atomic_minimum":
            accesses.atomic_minimum(run, inst, mask, *args)
            return ()
        case "prefetch":
            return ()
        case "shared":
            return (accesses.shared(run, inst),)
        case "local":
            return (accesses.local(run, inst),)
        case "barrier":
            missing = ~run.exited & ~mask
            if missing.any():
                run.report("divergence", inst, missing, "the thread never comes to a barrier where others of its block wait")
            run.epoch += 1
            return ()
        case "thread_index":
            return (np.arange(run.lanes) % run.block[0],)
        case "block_index":
            return (np.full(1, run.number % run.grid[0]),)
        case "block_count":
            return (np.full(1, run.grid[0]),)
        case "shuffle_xor":
            return (_shuffle(run, inst, mask, *args),)
        case "transposed":
            return [np.stack(column, axis=1) for column in zip(*(a.T for a in args), strict=True)]
        case "const":
            value = np.full(1, inst.attr("value"), _dtype(inst.types[0]))
            _check_index(run, inst, inst.types[0], value, mask)
            return (value,)
        case "aligned":
            fit = [accesses.address(run, m) % bytes == 0 for m, bytes in zip(args, inst.attr("bytes"), strict=True)]
            return (np.full(1, all(fit) if run.aligned is None else run.aligned),)
    if inst.op.kind != "elementwise" and inst.op.name != "part":
        raise InternalError(f"{inst.op.name} does not stand at loop level")
    return (_elementwise(run, inst, args, mask),)


WARP = 32


def _shuffle(run: Run, inst: Inst, mask: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Every thread of a warp gets the value of another one, so all have to be there."""
    threads = np.arange(run.lanes)
    warps = threads // WARP
    missing = ~run.exited & ~mask & np.isin(warps, warps[mask])
    if missing.any():
        run.report("divergence", inst, missing, "the thread never comes to where others of its warp exchange values")
    partner = threads ^ inst.attr("mask")
    alone = mask & (partner >= run.lanes)
    if alone.any():
        run.report("undefined", inst, alone, "the thread to exchange with does not exist")
    return run.wide(value)[np.minimum(partner, run.lanes - 1)]


def _dtype(type: Type) -> np.dtype:
    match type:
        case IndexType():
            return np.dtype(np.int64)
        case ScalarType(dtype):
            return dtype.numpy
    raise InternalError(f"a value of type {type} is not run thread by thread")


def _elementwise(run: Run, inst: Inst, args: list[Any], mask: np.ndarray) -> np.ndarray:
    dtype = _dtype(inst.types[0])
    uniform = all(a.shape == (1,) for a in args)
    whole = uniform or bool(mask.all())
    # Threads that do not take part hold nothing that may be computed with.
    if not whole:
        args = [a if a.shape == (1,) else a[mask] for a in args]
    broken = broken_rule(inst.op, args, dtype)
    if broken is not None and broken.any():
        bad = np.zeros(run.lanes, bool)
        bad[mask] = run.wide(broken)[mask] if whole else broken
        if bad.any():
            lane = int(np.flatnonzero(broken)[0])
            shown = ", ".join(str(a[lane if a.shape == broken.shape else 0]) for a in args)
            run.report("undefined", inst, bad, f"{inst.op.name} is not defined for {shown}")
    try:
        match inst.op.name:
            case "convert_raw" if dtype.kind == "b":
                raise TypeError("convert_raw does not convert to bool")
            case "convert_raw":
                value = args[0].astype(dtype)
            case "bitcast":
                value = np.ascontiguousarray(args[0]).view(dtype)
            case "part":
                value = np.atleast_1d(part(args[0], inst.attr("which")))
            case "cast":
                value = cast(args[0], element(inst.types[0]))
            case _:
                value = evaluate_row(inst.op, args)
    except (TypeError, ValueError, OverflowError) as error:
        raise located(error, inst.loc) from error
    if value.dtype != dtype:
        raise InternalError(f"{inst.op.name} gives {value.dtype} where its type is {inst.types[0]}")
    if not whole:
        full = np.zeros(run.lanes, dtype)
        full[mask] = value
        value = full
    _check_index(run, inst, inst.types[0], value, mask)
    return value

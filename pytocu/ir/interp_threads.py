"""Runs the loop level thread by thread with NumPy, and reports what is undefined.

The threads of a block advance together: a value is an array with one element a thread (or one
for all of them), and a mask says which threads take part.  Blocks follow one another.  Memory
knows its bounds and which elements were written, and remembers who touched what since
the last barrier, so a kernel that is right only by luck is found without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import InternalError, located
from pytocu.ir import interp_accesses as accesses
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.interp_launch import Fault, Run
from pytocu.ir.interp_memory import Memory, Touched, memory_of
from pytocu.ir.interp_rows import BROKEN_RULES, cast, evaluator, part
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
    ready: dict[Inst, Callable[..., Any]] | None = None,
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
    ready : dict, optional
        Keeps what runs each instruction for other launches of the same kernel.

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
    run = Run(body, grid, block, width, faults, limit, touched, aligned, {} if ready is None else ready)
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
    values, ready = run.values, run.ready
    for inst in block.insts:
        step = ready.get(inst)
        if step is None:
            step = ready[inst] = _ready(inst)
        if step is _leave:
            if inst.op.name == "yield":
                return [values[a] for a in inst.args]
            run.exited = run.exited | mask
            return None
        if inst.regions:
            results = yield step(run, inst, mask)
            mask = mask & ~run.exited
            if results is None or not mask.any():
                return None
        else:
            results = step(run, inst, mask)
        values.update(zip(inst.results, results, strict=True))
    raise InternalError("a block does not end with a return or a yield")


def _leave(run: Run, inst: Inst, mask: np.ndarray) -> Any:
    """The end of a block."""


def _ready(inst: Inst) -> Callable[[Run, Inst, np.ndarray], Any]:
    """What runs an instruction, whatever the block and the step: looked up once."""
    name = inst.op.name
    if name in ("yield", "return"):
        return _leave
    if name in _NESTED:
        return _NESTED[name]
    if name in _ALONE:
        return _ALONE[name]
    if inst.op.kind != "elementwise" and name != "part":
        raise InternalError(f"{name} does not stand at loop level")
    return _elementwise(inst)


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


def _load(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    return (accesses.load(run, inst, mask, *[run.values[a] for a in inst.args]),)


def _store(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    accesses.store(run, inst, mask, *[run.values[a] for a in inst.args])
    return ()


def _atomic_minimum(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    accesses.atomic_minimum(run, inst, mask, *[run.values[a] for a in inst.args])
    return ()


def _barrier(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    missing = ~run.exited & ~mask
    if missing.any():
        run.report("divergence", inst, missing, "the thread never comes to a barrier where others of its block wait")
    run.epoch += 1
    return ()


def _transposed(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    return [np.stack(column, axis=1) for column in zip(*(run.values[a].T for a in inst.args), strict=True)]


def _packed(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    places = np.arange(64, dtype=np.uint64)
    return ((run.values[inst.args[0]].astype(np.uint64) << places).sum(axis=1, dtype=np.uint64),)


def _ones(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    return (np.bitwise_count(run.values[inst.args[0]]).astype(np.uint64),)


def _lowest_one(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    value = run.values[inst.args[0]]
    return (np.bitwise_count(~value & (value - np.uint64(1))).astype(np.uint64),)


def _const(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    value = np.full(1, inst.attr("value"), _dtype(inst.types[0]))
    _check_index(run, inst, inst.types[0], value, mask)
    return (value,)


def _aligned(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
    memories = [run.values[a] for a in inst.args]
    fit = [accesses.address(run, m) % bytes == 0 for m, bytes in zip(memories, inst.attr("bytes"), strict=True)]
    return (np.full(1, all(fit) if run.aligned is None else run.aligned),)


WARP = 32


def _shuffle(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
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
    return (run.wide(run.values[inst.args[0]])[np.minimum(partner, run.lanes - 1)],)


_NESTED: dict[str, Callable[[Run, Inst, np.ndarray], Steps]] = {"for": _for, "if": _if, "while": _while, "lanes": _lanes}
_ALONE: dict[str, Callable[[Run, Inst, np.ndarray], Sequence[Any]]] = {
    "load": _load,
    "store": _store,
    "atomic_minimum": _atomic_minimum,
    "prefetch": lambda run, inst, mask: (),
    "shared": lambda run, inst, mask: (accesses.shared(run, inst),),
    "local": lambda run, inst, mask: (accesses.local(run, inst),),
    "barrier": _barrier,
    "thread_index": lambda run, inst, mask: (np.arange(run.lanes) % run.block[0],),
    "block_index": lambda run, inst, mask: (np.full(1, run.number % run.grid[0]),),
    "block_count": lambda run, inst, mask: (np.full(1, run.grid[0]),),
    "shuffle_xor": _shuffle,
    "transposed": _transposed,
    "packed": _packed,
    "ones": _ones,
    "lowest_one": _lowest_one,
    "const": _const,
    "aligned": _aligned,
}


def _dtype(type: Type) -> np.dtype:
    match type:
        case IndexType():
            return np.dtype(np.int64)
        case ScalarType(dtype):
            return dtype.numpy
    raise InternalError(f"a value of type {type} is not run thread by thread")


def _computed(inst: Inst, dtype: np.dtype) -> Callable[..., np.ndarray]:
    """What the row computes of the threads' operands."""
    match inst.op.name:
        case "convert_raw" if dtype.kind == "b":
            raise located(TypeError("convert_raw does not convert to bool"), inst.loc)
        case "convert_raw":
            return lambda value: value.astype(dtype)
        case "bitcast":
            return lambda value: np.ascontiguousarray(value).view(dtype)
        case "part":
            which = inst.attr("which")
            return lambda value: np.atleast_1d(part(value, which))
        case "cast":
            target = element(inst.types[0])
            return lambda value: cast(value, target)
    return evaluator(inst.op)


def _elementwise(inst: Inst) -> Callable[[Run, Inst, np.ndarray], Sequence[Any]]:
    type = inst.types[0]
    dtype = _dtype(type)
    compute = _computed(inst, dtype)
    rule = BROKEN_RULES.get(inst.op.name)
    is_index = isinstance(type, IndexType)
    names = inst.args

    def run_elementwise(run: Run, inst: Inst, mask: np.ndarray) -> Sequence[Any]:
        values = run.values
        args = [values[a] for a in names]
        whole = all(a.shape == _ONE for a in args) or bool(mask.all())
        # Threads that do not take part hold nothing that may be computed with.
        if not whole:
            args = [a if a.shape == _ONE else a[mask] for a in args]
        if rule is not None:
            _look_for_broken(run, inst, mask, args, rule(args, dtype), whole)
        try:
            value = compute(*args)
        except (TypeError, ValueError, OverflowError) as error:
            raise located(error, inst.loc) from error
        if value.dtype != dtype:
            raise InternalError(f"{inst.op.name} gives {value.dtype} where its type is {type}")
        if not whole:
            full = np.zeros(run.lanes, dtype)
            full[mask] = value
            value = full
        if is_index:
            _check_index(run, inst, type, value, mask)
        return (value,)

    return run_elementwise


_ONE = (1,)
"""The shape of a value that all threads have in common."""


def _look_for_broken(
    run: Run, inst: Inst, mask: np.ndarray, args: Sequence[np.ndarray], broken: np.ndarray | None, whole: bool
) -> None:
    if broken is None or not broken.any():
        return
    bad = np.zeros(run.lanes, bool)
    bad[mask] = run.wide(broken)[mask] if whole else broken
    if bad.any():
        lane = int(np.flatnonzero(broken)[0])
        shown = ", ".join(str(a[lane if a.shape == broken.shape else 0]) for a in args)
        run.report("undefined", inst, bad, f"{inst.op.name} is not defined for {shown}")

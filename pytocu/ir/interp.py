"""Runs the array and host levels with NumPy: the living definition of the IR.

In come a function and its arguments, out come its results.  Every value is checked against
its type on the way, so running after a pass finds what the pass broke.  Kernels that are
lowered already run thread by thread in :mod:`pytocu.ir.interp_threads`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.errors import CompileError, InternalError, located, refuse_repeating
from pytocu.ir import interp_checks, library, reductions
from pytocu.ir.core import OPS, Block, Function, Inst, Value, chain_from
from pytocu.ir.dims import Dim
from pytocu.ir.interp_arguments import State, arrange, bind_symbols, check_argument, kind_name
from pytocu.ir.interp_memory import Memory, memory_of
from pytocu.ir.interp_rows import cast, part
from pytocu.ir.interp_rows import evaluate as evaluate_row
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.regions import step_name
from pytocu.ir.types import (
    ArrayType,
    IndexType,
    PointerType,
    ScalarType,
    Type,
    WeakType,
    axes_of,
    element,
    number_of,
    shape_of,
    weak_type_of,
)

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


class EndlessLoop(InternalError):
    """A loop takes more steps than it was given."""


def run(
    function: Function, arguments: Sequence[Any], limit: int = 10_000_000, steps: list[int] | None = None
) -> tuple[Any, ...]:
    """Run a function on NumPy arguments.

    Parameters
    ----------
    function : Function
        At array or host level; a loop-level function writes into the arrays given for its
        pointers and returns nothing.
    arguments : sequence
        An array for an ArrayType or PointerType, a NumPy scalar for a ScalarType, a Python
        scalar for a weak type, an int for an index.
    limit : int
        Iterations after which a ``while`` counts as endless.
    steps : list of int, optional
        Gets the iterations of each ``while`` outside of lowered kernels.

    Returns
    -------
    tuple
        All values of the ``return``, in order; :func:`arrange` gives them the user's form.
        Arguments the function changes are changed.

    Raises
    ------
    DTypeError, ShapeError
        An argument is not what the parameter's type says, or lengths do not fit together.
    CompileError
        What NumPy raises, with the instruction's place.
    ThreadFault
        A lowered kernel does something undefined.
    EndlessLoop
        A ``while`` outside of lowered kernels takes more iterations than `limit`.
    InternalError
        A value is not what its type says.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> f = parse_function('''
    ... func @double(%x: f32[n]) {
    ...   %y = add %x, %x : f32[n]
    ...   return %y
    ... }''')
    >>> run(f, [np.float32([1, 2])])
    (array([2., 4.], dtype=float32),)
    """
    if len(arguments) != len(function.params):
        raise TypeError(f"{function.name} takes {len(function.params)} arguments, not {len(arguments)}")
    if function.level == "loop":
        run_threads(function.body, arguments, index_bits=function.fact("index_bits", 64), limit=limit)
        return ()
    state = State(function, bind_symbols(function, arguments), limit, [] if steps is None else steps)
    for number, (param, argument) in enumerate(zip(function.params, arguments, strict=True)):
        check_argument(state, param.type, argument, number)
        state.values[param] = argument
    with np.errstate(all="ignore"):
        results = _block(state, function.body)
    for place, contents in function.body.terminator.attr("updates", ()):
        results[place][...] = results[contents]
    _check_written(state, results)
    # A NumPy scalar is allocated as memory of one element and read at the end.
    returned = function.body.terminator.args
    return tuple(r[()] if isinstance(v.type, ScalarType) else r for r, v in zip(results, returned, strict=True))


def _block(state: State, block: Block) -> tuple[Any, ...]:
    """Run instructions up to the ``return`` or ``yield`` and give its values."""
    for inst in block.insts:
        args = [state.values[a] for a in inst.args]
        if inst.op.name in ("return", "yield"):
            return tuple(args)
        try:
            values = _inst(state, inst, args)
        except CompileError:
            raise
        except (TypeError, ValueError, IndexError, NotImplementedError, OverflowError, ZeroDivisionError) as error:
            raise located(error, inst.loc) from error
        for result, value in zip(inst.results, values, strict=True):
            state.values[result] = _settle(state, inst, result.type, value)
    raise InternalError("a block does not end with a return or a yield")


def _settle(state: State, inst: Inst, type: Type, value: Any) -> Any:
    """The value in the form its type says (scalar or 0-d array), or an error where it is another."""
    match type:
        case WeakType(kind):
            # The power of a negative float is complex, and so is what Python's operators make of it.
            of_power = kind == "float" and isinstance(value, complex)
            if weak_type_of(value) != type and not of_power:
                raise InternalError(f"{inst.op.name} gives a {kind_name(value)} where its type is weak {kind}")
            return value
        case IndexType():
            return int(value)
        case ScalarType(dtype):
            array = np.asarray(value)
            if array.dtype != dtype.numpy or array.ndim:
                raise InternalError(f"{inst.op.name} gives {array.dtype}{list(array.shape)} where its type is {type}")
            return value if inst.op.name == "allocate" else array[()]
        case ArrayType(dtype, shape):
            array = np.asarray(value)
            if array.dtype != dtype.numpy or array.shape != state.dims(shape):
                if inst.op.kind == "elementwise" and array.dtype == dtype.numpy:
                    refuse_repeating([np.shape(state.values[a]) for a in inst.args], inst.loc)
                raise InternalError(f"{inst.op.name} gives {array.dtype}{list(array.shape)} where its type is {type}")
            return array
    raise InternalError(f"a value of type {type} does not stand at this level")


def _inst(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The results of one instruction."""
    handler = _HANDLERS.get(inst.op.name)
    if handler is not None:
        return handler(state, inst, args)
    if inst.op.kind == "elementwise":
        return (evaluate_row(inst.op, args),)
    if inst.op.python is not None:
        return (inst.op.python(*args),)
    raise InternalError(f"{inst.op.name} does not stand at {state.function.level} level")


def _const(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    value = inst.attr("value")
    match inst.types[0]:
        case WeakType(kind):
            return (_PYTHON[kind](value),)
        case ArrayType(dtype, shape):
            return (np.full(state.dims(shape), value, dtype.numpy),)
        case ScalarType(dtype):
            return (dtype.numpy.type(value),)
    return (value,)


def _cast(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (cast(args[0], element(inst.types[0])),)


def _convert(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (number_of(args[0], element(inst.types[0]).numpy, inst.attr("wrap", False)),)


def _dim(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (state.dim(inst.attr("value")),)


def _newaxis(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.expand_dims(args[0], inst.attr("axis")),)


def _transpose(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.transpose(args[0], inst.attr("axes")),)


def _view(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (args[0].view(element(inst.types[0]).numpy),)


def _slice(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array = args[0]
    parts: list[slice] = []
    for axis, length in enumerate(array.shape):
        start, step, size = (state.dim(inst.attr(name)[axis]) for name in ("start", "step", "size"))
        last = start + (size - 1) * step
        if size <= 0:
            parts.append(slice(0, 0))
            continue
        if not (0 <= start < length and 0 <= last < length):
            raise InternalError(f"slice reads positions {start} to {last} of axis {axis} with size {length}")
        stop = last + (1 if step > 0 else -1)
        parts.append(slice(start, stop if stop >= 0 else None, step))
    return (array[tuple(parts)],)


def _index(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array, axis, at = args[0], inst.attr("axis"), state.dim(inst.attr("at"))
    if not 0 <= at < array.shape[axis]:
        raise InternalError(f"index reads position {at} of axis {axis} with size {array.shape[axis]}")
    # The ellipsis keeps a view where the last axis goes.
    return (array[(*[slice(None)] * axis, at, ...)],)


def _pick(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array, at = args
    axis = inst.attr("axis")
    if not 0 <= at < array.shape[axis]:
        raise InternalError(f"pick reads position {at} of axis {axis} with size {array.shape[axis]}")
    return (array[(*[slice(None)] * axis, int(at), ...)],)


def _broadcast(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array, shape = np.asarray(args[0]), state.dims(inst.attr("shape"))
    expand, ndim = inst.attr("expand"), inst.attr("ndim")
    if expand is not None and ndim is not None:
        for axis in range(len(shape) - ndim, len(shape)):
            length = array.shape[axis - (len(shape) - ndim)]
            if axis not in expand and length != shape[axis]:
                raise InternalError(f"broadcast keeps axis {axis}, which has length {length} and not {shape[axis]}")
    return (np.broadcast_to(array, shape),)


def _windows(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array, axis = args[0], inst.attr("axis")
    size, length = state.dims((inst.attr("size"), inst.attr("length")))
    if size and length and size + length - 1 > array.shape[axis]:
        raise InternalError(f"{size} windows of {length} reach outside of axis {axis} with size {array.shape[axis]}")
    shape = (*array.shape[:axis], size, *array.shape[axis + 1 :], length)
    return (np.lib.stride_tricks.as_strided(array, shape, (*array.strides, array.strides[axis]), writeable=False),)


def _wrapped(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    axis = inst.attr("axis")
    start, length = state.dims((inst.attr("start"), inst.attr("length")))
    if length != args[0].shape[axis] or (length and not 0 <= start <= length):
        raise InternalError(f"axis {axis} with size {args[0].shape[axis]} is wrapped at {length} from {start} on")
    return (np.roll(args[0], -start, axis),)


def _strided(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    flat, shape = args[0], state.dims(inst.attr("shape"))
    positions = np.full((), state.dim(inst.attr("offset")))
    for length, stride in zip(shape, state.dims(inst.attr("strides")), strict=True):
        positions = np.add.outer(positions, np.arange(length) * stride)
    if positions.size and not 0 <= positions.min() <= positions.max() < flat.size:
        raise InternalError(f"strided reads positions {positions.min()} to {positions.max()} of {flat.size}")
    steps = [s * flat.itemsize for s in state.dims(inst.attr("strides"))]
    first = flat[positions.flat[0] if positions.size else 0 :]
    return (np.lib.stride_tricks.as_strided(first, shape, steps, writeable=flat.flags.writeable),)


def _update(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    old, _, new = args
    # The view of an array of positions says which elements are replaced.
    positions = _view_again(state, inst.args[1], inst.args[0], np.arange(old.size).reshape(old.shape))
    changed = np.array(old, order="C")
    changed.reshape(-1)[positions] = np.broadcast_to(new, positions.shape)
    return (changed,)


def _view_again(state: State, value: Value, base: Value, array: np.ndarray) -> np.ndarray:
    """The view of `base` that `value` is, taken of another array."""
    for inst in chain_from(base, value):
        (array,) = _inst(state, inst, [array, *(state.values[a] for a in inst.args[1:])])
    return array


def _memory(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    low, high = shared_range(args)
    if low < high and not _is_one_memory(args):
        names = " and ".join(inst.attr("names"))
        raise InternalError(f"the program is of arguments {names} in one memory, and these are not", inst.loc)
    itemsize = args[0].itemsize
    for name, array in zip(inst.attr("names"), args, strict=True):
        state.sizes[f"{name}_at"] = (array.__array_interface__["data"][0] - low) // itemsize
        state.sizes |= {f"{name}_s{axis}": s // itemsize for axis, s in enumerate(array.strides)}
    size = (high - low) // itemsize
    state.sizes[f"{inst.attr('names')[0]}_span"] = size
    # From the lowest address on; the elements between those of the arguments belong to whoever holds the memory.
    flat: Any = (ctypes.c_char * max(high - low, 1)).from_address(low)
    return (np.frombuffer(flat, args[0].dtype, size),)


def _is_one_memory(arrays: Sequence[np.ndarray]) -> bool:
    """Whether no memory of others lies between the arrays."""
    end = None
    for low, high in sorted(np.lib.array_utils.byte_bounds(a) for a in arrays if a.size):
        if end is not None and low >= end:
            return False
        end = high if end is None else max(end, high)
    return True


def shared_range(arrays: Sequence[np.ndarray]) -> tuple[int, int]:
    """The lowest address of the arrays and the end of the highest element."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in arrays if a.size]
    if not bounds:
        first = arrays[0].__array_interface__["data"][0]
        return first, first
    return min(b[0] for b in bounds), max(b[1] for b in bounds)


def _offset(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    array, flat = (a.__array_interface__["data"][0] for a in args)
    return ((array - flat) // args[0].itemsize,)


def _reduce(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    operands, axes = tuple(map(np.asarray, args)), inst.attr("axes")
    if inst.attr("pieces") is None:
        return reductions.evaluate(inst.attr("op"), operands, axes)
    count, length = state.dims((inst.attr("pieces"), inst.attr("piece")))
    return reductions.evaluate_pieces(inst.attr("op"), operands, axes, count, length)


def _scan(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    name, axis = inst.attr("op"), inst.attr("axis")
    if inst.attr("pieces") is None:
        return (reductions.accumulate(name, args[0], axis, inst.attr("exclusive", False)),)
    return (reductions.accumulate_pieces(name, args[0], args[1], axis, state.dim(inst.attr("piece"))),)


def _own_piece(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """Pieces are counted over all axes that are cut."""
    axes = inst.attr("axes")
    shape, (piece,) = state.dims(inst.attr("shape")), state.dims((inst.attr("piece"),))
    lengths = [shape[a] for a in axes]
    number = np.arange(math.prod(lengths)) // piece
    held = args[0][number].reshape(*lengths, *args[0].shape[1:])
    return (np.moveaxis(held, range(len(axes)), axes),)


def _iota(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    shape, axis = state.dims(inst.attr("shape")), inst.attr("axis")
    along = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return (np.broadcast_to(along, shape),)


def _concatenate(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.concatenate(args, inst.attr("axis")),)


def _gather(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    source, *positions = args
    axes, first = inst.attr("axes"), inst.attr("at")
    others = [a for a in range(source.ndim) if a not in axes]
    rest = [source.shape[a] for a in others]
    for axis, place in zip(axes, positions, strict=True):
        if np.size(place) and 0 not in rest and not 0 <= np.min(place) <= np.max(place) < source.shape[axis]:
            raise InternalError(f"gather reads positions {np.min(place)} to {np.max(place)} of axis {axis} of {source.shape}")
    if 0 in rest:
        made = np.empty((*np.broadcast_shapes(*map(np.shape, positions)), *rest), source.dtype)
    else:
        made = np.transpose(source, [*axes, *others])[(*positions, ...)]
    count = max(np.ndim(p) for p in positions)
    return (np.moveaxis(made, range(count), range(first, first + count)),)


def _search(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.searchsorted(args[0], args[1], "right" if inst.attr("right") else "left"),)


def _compaction(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.flatnonzero(args[0]),)


def _fold_range(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    start, vector, lower, upper = args
    made = np.array(np.broadcast_arrays(start, lower, upper)[0])
    function, lower, upper = OPS[inst.attr("op")], *(np.broadcast_to(b, made.shape) for b in (lower, upper))
    for place in np.ndindex(made.shape):
        for position in range(lower[place], upper[place]):
            made[place] = evaluate_row(function, (made[place], vector[position]))
    return (made,)


def _combine_at(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    start, places, values = args
    made, function = np.array(start, order="C"), None if inst.attr("op") == "last" else OPS[inst.attr("op")]
    rest = values.shape[1:]
    flat = made.reshape(made.size // math.prod(rest) if made.size else 0, *rest)
    if made.size and places.size and not 0 <= places.min() <= places.max() < len(flat):
        raise InternalError(f"combine_at changes positions {places.min()} to {places.max()} of {len(flat)}")
    if not made.size:
        return (made,)
    for place, value in zip(places.tolist(), values, strict=True):
        flat[place] = value if function is None else evaluate_row(function, (flat[place], value))
    return (made,)


def _place(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    start, mask, values, count = args
    made = np.array(start, order="C")
    numbers = np.arange(np.count_nonzero(mask)) * (0 if inst.attr("single") and count == 1 else 1)
    chosen = [p[numbers < count] for p in np.nonzero(mask)]
    made[tuple(chosen)] = values[numbers[numbers < count]]
    return (made,)


def _keep(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (np.array(args[0]),)


def _library(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    options = {k: state.dim(v) if isinstance(v, Dim) else v for k, v in inst.attr("options", ())}
    made = library.evaluate(inst.attr("function"), args, options)
    return tuple(np.ascontiguousarray(m).reshape(m.shape) for m in made)


def _read_length(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    state.sizes[inst.attr("name")] = length = int(args[0][()])
    if not 0 <= length <= state.dim(inst.attr("limit")):
        raise InternalError(f"{inst.attr('name')} is {length} and not one of 0 to {state.dim(inst.attr('limit'))}")
    return ()


def _diagonal(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    made = np.diagonal(args[0], inst.attr("offset"), -2, -1)
    if args[0].flags.writeable:
        made.flags.writeable = True
    return (made,)


def _reshape(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (args[0].reshape(state.dims(inst.attr("shape"))),)


def _kernel(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    (region,) = inst.regions
    state.values.update(zip(region.params, args, strict=True))
    return _block(state, region)


def _region(state: State, region: Block, args: Sequence[Any]) -> Sequence[Any]:
    """A region of a loop or a branch, for these arguments."""
    state.values.update(zip(region.params, args, strict=True))
    return _block(state, region)


def _for_loop(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    (region,), count = inst.regions, inst.attr("carried")
    bounds, carried, shared = args[:3], args[3 : 3 + count], args[3 + count :]
    number = type(bounds[0])
    for step in range(*map(int, bounds)):
        if step_name(inst) is not None:
            state.sizes[step_name(inst)] = step
        carried = list(_region(state, region, [number(step), *carried, *shared]))
    return carried


def _while_loop(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    (region,), count = inst.regions, inst.attr("carried")
    carried, shared = args[:count], args[count:]
    step = 0
    while carried[0]:
        step += 1
        if step > state.limit:
            raise EndlessLoop(f"a loop did not end after {state.limit} steps", inst.loc)
        carried = list(_region(state, region, [*carried, *shared]))
    state.steps.append(step)
    return carried


def _if_else(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    condition, *shared = args
    return _region(state, inst.regions[0 if condition else 1], shared)


def _map(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The region for one element after the other."""
    (region,), count = inst.regions, inst.attr("elements")
    elements, shared = args[:count], args[count:]
    shape = state.dims(shape_of(inst.types[0]))
    given = [a if weak_type_of(a) is not None else np.broadcast_to(a, shape) for a in elements]
    results = [np.empty(shape, element(t).numpy) for t in inst.types]
    for place in np.ndindex(shape):
        here = [a[place] if isinstance(a, np.ndarray) else a for a in given]
        for result, made in zip(results, _region(state, region, [*here, *shared]), strict=True):
            result[place] = made
    return results


def _allocate(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    type = inst.types[0]
    shape = state.dims(shape_of(type))
    axes = axes_of(type.layout if isinstance(type, ArrayType) else "C", len(shape))
    laid = np.empty([shape[axis] for axis in axes], element(type).numpy)
    array = laid.transpose([axes.index(axis) for axis in range(len(axes))])
    # A kernel that writes it says which words it sees.
    state.allocated[id(array)] = None
    state.kept.append(array)
    return (array,)


def _stride(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (args[0].strides[inst.attr("axis")] // args[0].itemsize,)


def _read(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (bool(args[0]),)


def _launch(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    (region,) = inst.regions
    if any(isinstance(p.type, PointerType) for p in region.params):
        _launch_threads(state, inst, region, args)
        return ()
    split = len(args) - inst.attr("outputs", 1)
    state.values.update(zip(region.params, args[:split], strict=True))
    # Copies: all is read before anything is written.
    yielded = [np.array(value) for value in _block(state, region)]
    for output, value in zip(args[split:], yielded, strict=True):
        if value.shape != output.shape or value.dtype != output.dtype:
            raise InternalError(
                f"{inst.attr('name')} yields {value.dtype}{list(value.shape)} for an output {output.dtype}{list(output.shape)}"
            )
        output[...] = value
        if id(output) in state.allocated:
            state.allocated[id(output)] = memory_of(output)
    return ()


def _launch_threads(state: State, inst: Inst, region: Block, args: list[Any]) -> None:
    memories: dict[int, Memory] = {}
    for param, array in zip(region.params, args, strict=True):
        if isinstance(array, np.ndarray) and isinstance(param.type, PointerType):
            made = state.allocated.get(id(array))
            if made is None:
                fresh = id(array) in state.allocated
                made = memory_of(array, initialised=not fresh, dtype=param.type.dtype.numpy)
                if fresh:
                    state.allocated[id(array)] = made
            memories[id(array)] = made
    given = [memories.get(id(a), a) for a in args]
    block = inst.attr("block") or 32
    work = state.dim(inst.attr("work")) if inst.attr("work") is not None else block
    # Few blocks: the interpreter should walk the grid-stride loop more than once.
    grid = max(1, min(-(-work // (block * inst.attr("each", 1))), 3))
    if inst.attr("grid"):
        grid, block = (2, 2), (16, block // 16)
    bits = state.function.fact("index_bits", 64)
    run_threads(region, given, grid=grid, block=block, index_bits=bits, limit=state.limit, ready=state.ready)


def _check_written(state: State, results: tuple[Any, ...]) -> None:
    for number, result in enumerate(results):
        memory = state.allocated.get(id(result))
        if memory is None and id(result) in state.allocated and result.size:
            raise InternalError(f"nobody wrote {result.size} elements of result {number}")
        if memory is not None and not (memory.initialised | ~memory.allowed).all():
            raise InternalError(f"nobody wrote {int((~memory.initialised).sum())} elements of result {number}")


def _part(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    return (part(args[0], inst.attr("which") or inst.op.name),)


_HANDLERS: dict[str, Callable[[State, Inst, list[Any]], Sequence[Any]]] = {
    "allocate": _allocate,
    "assume": interp_checks.assume,
    "bind": interp_checks.bind,
    "broadcast": _broadcast,
    "cast": _cast,
    "check": interp_checks.check,
    "concatenate": _concatenate,
    "const": _const,
    "convert": _convert,
    "diagonal": _diagonal,
    "dim": _dim,
    "failed": interp_checks.failed,
    "failures": interp_checks.failures,
    "combine_at": _combine_at,
    "place": _place,
    "compaction": _compaction,
    "fold_range": _fold_range,
    "for_loop": _for_loop,
    "gather": _gather,
    "if_else": _if_else,
    "imag": _part,
    "index": _index,
    "iota": _iota,
    "own_piece": _own_piece,
    "keep": _keep,
    "kernel": _kernel,
    "launch": _launch,
    "map": _map,
    "library": _library,
    "memory": _memory,
    "newaxis": _newaxis,
    "part": _part,
    "pick": _pick,
    "read": _read,
    "real": _part,
    "read_length": _read_length,
    "reduce": _reduce,
    "require": interp_checks.require,
    "reshape": _reshape,
    "scan": _scan,
    "search": _search,
    "offset": _offset,
    "slice": _slice,
    "stride": _stride,
    "strided": _strided,
    "transpose": _transpose,
    "update": _update,
    "view": _view,
    "windows": _windows,
    "wrapped": _wrapped,
    "while_loop": _while_loop,
    "strides": interp_checks.strides,
    "writable": interp_checks.writable,
}

__all__ = ["EndlessLoop", "arrange", "bind_symbols", "run"]

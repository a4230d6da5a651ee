"""What an interpreted function checks while it runs: lengths, conditions on the data, assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import (
    NOTHING,
    CompileError,
    IndexingError,
    InternalError,
    ShapeError,
    UnsupportedError,
    failure,
    refuse_repeating,
    tell,
)
from pytocu.ir.core import Inst, walk
from pytocu.ir.dims import ASSIGNED, Fact, assignment_sentence, empty_sentence, first_outside, format_shape, output_sentence
from pytocu.ir.interp_arguments import State
from pytocu.ir.python_functions import give_warning
from pytocu.ir.types import shape_of


def bind(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The number gets its name."""
    if inst.attr("length") is not None:
        length = state.dim(inst.attr("length"))
        (name,) = inst.attr("names")
        state.sizes[name], _, _ = slice(int(args[0]), None).indices(length)
        return ()
    for name, sign in zip(inst.attr("names"), (1, -1), strict=False):
        state.sizes[name] = max(sign * int(args[0]), 0)
    return ()


def strides(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The strides of an argument get names."""
    names = iter(inst.attr("names"))
    for length, stride in zip(args[0].shape, args[0].strides, strict=True):
        for sign in (1, -1):
            state.sizes[next(names)] = max(sign * stride // args[0].itemsize, 0) if length > 1 else 0
    return ()


def writable(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The memory may be changed."""
    what = inst.attr("what")
    if not args[0].flags.writeable and inst.attr("caught", False):
        raise UnsupportedError(f"{what} is read-only, which an except clause of the function would catch", inst.loc)
    if not args[0].flags.writeable:
        raise ShapeError(f"{what} is read-only", inst.loc)
    return ()


def check(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """Compare lengths."""
    if inst.attr("kind") == "index":
        index, size, axis = inst.attr("dims")
        found = first_outside(index, size, inst.attr("shapes"), state.sizes)
        if found is not None:
            raise IndexingError(f"index {found[0]} is out of bounds for axis {axis} with size {found[1]}", inst.loc)
        return ()
    dims = state.dims(inst.attr("dims"))
    match inst.attr("kind"):
        case "assign" | "mask" | "place" as kind:
            if dims[0] != dims[1]:
                what = ASSIGNED[kind]
                given, wanted = map(state.dims, inst.attr("shapes"))
                refuse_repeating([given], inst.loc, wanted)
                raise ShapeError(assignment_sentence(given, wanted, what), inst.loc)
        case "broadcast":
            if dims[0] != dims[1]:
                refuse_repeating([state.dims(s) for s in inst.attr("shapes")], inst.loc)
                shapes = " ".join(format_shape(state.dims(s)) for s in inst.attr("shapes"))
                raise ShapeError(f"operands could not be broadcast together with shapes {shapes} ", inst.loc)
        case "output":
            if dims[0] != dims[1]:
                output, whole = map(state.dims, inst.attr("shapes"))
                raise ShapeError(output_sentence(output, whole), inst.loc)
        case "squeeze":
            if tuple(dims) != (1,):
                raise ShapeError("cannot select an axis to squeeze out which has size not equal to one", inst.loc)
        case str(kind) if kind.startswith("empty "):
            if tuple(dims) == (0,):
                raise ShapeError(empty_sentence(kind.removeprefix("empty ")), inst.loc)
        case "equal" | "fits" | "meets" as kind:
            if dims[0] != dims[1]:
                error, sentence, *parts = inst.attr("shapes")
                if kind == "fits":
                    refuse_repeating([(dims[0],)], inst.loc, (dims[1],))
                if kind == "meets":
                    refuse_repeating([(dims[0],), (dims[1],)], inst.loc)
                raise tell(failure(error, sentence, dims, inst.loc), parts)
        case "warn":
            path, sentence, modules, level, _ = inst.attr("shapes")
            give_warning(path, sentence, dims, inst.loc, modules, level)
        case kind:
            raise InternalError(f"check has no kind {kind!r}")
    return ()


def require(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The first operand where the second holds everywhere."""
    made, *others = (np.array(a) for a in np.broadcast_arrays(*args))
    broken = ~others[0]
    if broken.any() and not _is_of_nothing(state, inst):
        raise stated_failure(state, inst, int(others[1][broken].min()) if len(others) > 1 else 0)
    return (made,)


def _is_of_nothing(state: State, inst: Inst) -> bool:
    """Whether all that is computed of a value, element by element, has no elements: a kernel computes nothing then."""
    readers = [i for i in walk(state.function.body) if any(a.inst is inst for a in i.args)]
    return bool(readers) and all(i.op.kind == "elementwise" and 0 in state.dims(shape_of(i.types[0])) for i in readers)


def stated_failure(state: State, inst: Inst, number: int) -> CompileError:
    return _failure(inst, (number, *state.dims(inst.attr("dims"))))


def _failure(inst: Inst, numbers: Sequence[int]) -> CompileError:
    return tell(failure(inst.attr("error"), inst.attr("sentence"), numbers, inst.loc), inst.attr("said", ()))


def failures(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """The words in which kernels note what is wrong with the data."""
    return (np.full(state.dims(shape_of(inst.types[0])), NOTHING),)


def failed(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """Raise what a kernel has noted."""
    first = inst.attr("at")
    numbers = [int(word) for word in args[0][first : first + 1 + len(inst.attr("dims"))]]
    if numbers[0] != NOTHING:
        raise _failure(inst, numbers)
    return ()


def assume(state: State, inst: Inst, args: list[Any]) -> Sequence[Any]:
    """What was decided while compiling holds."""
    fact = Fact(inst.attr("dim"), inst.attr("relation"), inst.attr("number"))
    if not fact.holds(state.sizes):
        raise InternalError(f"the code assumes that {fact}, and it is {state.dim(fact.dim)}")
    return ()

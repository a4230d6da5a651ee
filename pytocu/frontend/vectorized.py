"""Functions of scalars over arrays: what `pytocu.vectorize` made, called.

The function is read once, with a NumPy scalar for each array (a Python scalar stays one), and what was read is the
region of a ``map``.  While it is read (`Context.elements`) the numbers are those of one element, so control flow
by data needs no host: see `pytocu.frontend.control` and `pytocu.frontend.numbers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.config import UFUNC_KEYWORDS, Elementwise
from pytocu.errors import Loc, ShapeError, UnsupportedError, raised
from pytocu.frontend.attributes import target_dtype
from pytocu.frontend.control import choice, hoist
from pytocu.frontend.frames import Frame, Scope
from pytocu.frontend.inplace import OUTPUT, check_output_shapes, mask_of, note_write, out_arrays
from pytocu.frontend.operators import attempt
from pytocu.frontend.source import FunctionNode, parameter_names
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import (
    Context,
    Masked,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    describe,
    dimensions,
    is_array,
    is_number,
    is_weak,
)
from pytocu.ir import regions
from pytocu.ir.core import Inst, Value, walk
from pytocu.ir.dims import DimLike
from pytocu.ir.infer import broadcast_shapes
from pytocu.ir.types import ArrayType, DType, Type, element, scalar, type_text

KEYWORDS = ("out", *UFUNC_KEYWORDS)
"""Arguments that every vectorized function has besides its own."""

_IN_MAPS = ("elementwise", "view", "const", "generated", "choice", "scalar", "region")


def arguments_of(
    context: Context, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]:
    """The function's own arguments, and those of every vectorized function; arrays for results stand behind its own."""
    keywords = {name: kwargs[name] for name in KEYWORDS if name in kwargs}
    own = {name: value for name, value in kwargs.items() if name not in KEYWORDS}
    count = len(signature.parameters)
    if args[count:]:
        if "out" in keywords:
            raise raised(TypeError("cannot specify 'out' as both a positional and keyword argument"), context.loc)
        keywords["out"] = args[count:]
    return args[:count], own, keywords


def over_elements(
    context: Context,
    function: Any,
    node: FunctionNode,
    stated: Elementwise,
    arguments: Mapping[str, Any],
    caller: Loc | None,
    out: Any = None,
    where: Any = True,
    casting: Any = "same_kind",
    dtype: Any = None,
) -> Any:
    """The results of a vectorized function: arrays, or NumPy scalars where nothing has axes; a tuple where it has several.

    Raises
    ------
    UnsupportedError
        Something that is read is not compiled, or the ways through the function do not return the same.
    DTypeError
        A result does not cast to what ``out=`` or ``dtype=`` wants.
    ShapeError
        Shapes that do not broadcast.
    """
    name = function.__name__
    given = _arguments(context, stated, arguments)
    if context.elements is not None:
        _refuse_inside(context, name, given, stated, {"out": out is None, "where": where is True, "dtype": dtype is None})
        around, context.results_at = context.results_at, len(context.frames) + 1
        try:
            made = _results(context, name, stated, context.hooks.run_function(context, function, node, given, caller))
        finally:
            # What is refused there is said with what is wrong behind it.
            context.results_at = around
        return tuple(made) if len(made) > 1 else made[0]
    loc = context.loc
    outs = out if isinstance(out, tuple) else (out,)
    everywhere = where is True or (is_number(where) and bool(where))
    if not everywhere and any(not is_array(o) for o in outs):
        raise UnsupportedError(
            f"{name} with the argument where= and no out= is not supported: what it leaves out is not defined",
            loc,
            "choose with np.where(condition, result, other)",
        )
    wanted = None if dtype is None else target_dtype(context, dtype)
    names = [n for n, v in given.items() if n not in stated.excluded and isinstance(v, Value)]
    masked = [] if everywhere else [mask_of(context, where), *outs]
    spread = [*(given[n] for n in names), *masked]
    shape = _shape(context, spread)
    params = [Value(_element_type(v.type), n) for v, n in zip(spread, [*names, *["where"] * len(masked)], strict=True)]
    values = {**given, **dict(zip(names, params, strict=False))}
    targets: list[Value | None] = []

    def read() -> tuple[Value, ...]:
        made = _results(context, name, stated, context.hooks.run_function(context, function, node, values, caller))
        # Arguments of the function itself name the first results; those behind them are new.
        more = len(made) - len(outs) if caller is None and isinstance(out, tuple) else 0
        targets[:] = out_arrays(context, (*outs, *[None] * more) if more else out, len(made))
        dtypes = [wanted if t is None else element(t.type) for t in targets]
        for number, (value, target) in enumerate(zip(made, dtypes, strict=True)):
            for other in (wanted, target):
                if other is not None:
                    _check_cast(context, name, number if len(made) > 1 else None, element(value.type), other, casting)
        return tuple(v if d is None else cast(context, v, d) for v, d in zip(made, dtypes, strict=True))

    def chosen() -> tuple[Value, ...]:
        test, *old = params[len(names) :]
        frame = Frame(context, function, Scope(frozenset()), {}, "", name, None)
        return choice(frame, test, read, lambda: tuple(old), "the choice of an element")

    context.elements, context.results_at = shape, len(context.frames) + 1
    try:
        with context.builder.nested() as insts:
            results = read() if everywhere else chosen()
    finally:
        context.elements, context.results_at = None, 0
        context.builder.loc = loc
    arrays = [t for t in targets if t is not None]
    for target in arrays:
        note_write(context, target, OUTPUT)
    check_output_shapes(context, [dimensions(v) for v in spread], [dimensions(a) for a in arrays], [])
    made = _map(context, spread, params, insts, results, shape)
    for result, target in zip(made, targets, strict=True):
        if target is not None:
            context.builder.update(target, result)
    answers = [m if t is None else t for m, t in zip(made, targets, strict=True)]
    return tuple(answers) if len(answers) > 1 else answers[0]


def _map(
    context: Context,
    spread: Sequence[Value],
    params: Sequence[Value],
    insts: Sequence[Inst],
    results: Sequence[Value],
    shape: tuple[DimLike, ...],
) -> list[Value]:
    """The instruction; what the call checks stands before it."""
    builder = context.builder
    inside = hoist(context, insts, {*params, *(result for inst in insts for result in inst.results)})
    shared = regions.captured(inside, params, results)
    block = regions.closed(inside, params, results, shared, context.loc)
    for inst in walk(block):
        if inst.op.kind not in _IN_MAPS and inst.op.name != "yield":
            raise UnsupportedError(
                "work on an array in a vectorized function: numbers are those of one element, and arrays are only read",
                inst.loc,
                "compute with whole arrays outside of it, or write a loop over the elements of an array in excluded=",
            )
    types: list[Type] = [scalar(element(v.type)) for v in results]
    if shape:
        types = [ArrayType(element(v.type), shape) for v in results]
    made = builder.inst("map", (*spread, *shared), {"elements": len(spread)}, types, (block,))
    return list(made.results)


def _arguments(context: Context, stated: Elementwise, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function sees them; without a NumPy number or an array, Python's are NumPy's default dtypes."""
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, Masked):
            value = as_value(context, value)
        if name not in stated.excluded and (
            isinstance(value, np.ndarray) or (isinstance(value, (tuple, list)) and not contains_dynamic(value))
        ):
            raise UnsupportedError(
                f"the argument {name} of a vectorized function is {describe(value)}",
                context.loc,
                f"pass an array, or name {name} in excluded= where the function takes it whole",
            )
        given[name] = value
    numbers = [n for n, v in given.items() if n not in stated.excluded and (isinstance(v, Value) or is_number(v))]
    if all(is_weak(given[n]) for n in numbers):
        given |= {n: as_strong(context, given[n]) for n in numbers}
    return given


def _refuse_inside(
    context: Context, name: str, given: Mapping[str, Any], stated: Elementwise, absent: Mapping[str, bool]
) -> None:
    """What a vectorized function is not given by another one."""
    for keyword, fine in absent.items():
        if not fine:
            raise UnsupportedError(
                f"{name} with the argument {keyword}= in a vectorized function", context.loc, "leave it out, for one element"
            )
    for argument, value in given.items():
        if argument not in stated.excluded and is_array(value) and dimensions(value):
            raise UnsupportedError(
                f"a vectorized function gives the whole array {argument} to {name}, element by element",
                context.loc,
                f"give it one element, as {argument}[k]",
            )


def _results(context: Context, name: str, stated: Elementwise, result: Any) -> list[Value]:
    """One NumPy scalar for each result."""
    members = list(result) if isinstance(result, tuple) else [result]
    made: list[Value] = []
    for member in members:
        if not (isinstance(member, Value) or is_number(member)):
            raise UnsupportedError(
                f"the vectorized function {name} returns {describe(member)}",
                context.loc,
                "return a number, or a tuple of numbers",
            )
        value = as_strong(context, member)
        if dimensions(value):
            raise UnsupportedError(
                f"the vectorized function {name} returns an array ({type_text(value.type)})",
                context.loc,
                "return one number, or a tuple of numbers: it is called for each element",
            )
        made.append(cast(context, value, element(value.type)) if not is_array(value) else without_axes(context, value))
    if not made or (stated.outputs is not None and len(made) != stated.outputs):
        wanted = "a number" if stated.outputs in (None, 1) else f"{stated.outputs} numbers"
        raise UnsupportedError(f"the vectorized function {name} returns {len(made)} numbers and not {wanted}", context.loc)
    return made


def _shape(context: Context, values: Sequence[Value]) -> tuple[DimLike, ...]:
    try:
        return broadcast_shapes([dimensions(v) for v in values])
    except ValueError as error:
        raise ShapeError(str(error), context.loc) from None


def _element_type(type: Type) -> Type:
    return scalar(type.dtype) if isinstance(type, ArrayType) else type


def _check_cast(context: Context, name: str, number: int | None, found: DType, wanted: DType, casting: Any) -> None:
    """NumPy's exception where a result does not cast."""
    if attempt(context, np.can_cast, found.numpy, wanted.numpy, casting):
        return
    which = "" if number is None else f" {number}"
    text = f"Cannot cast ufunc '{name}' output{which} from {found.numpy!r} to {wanted.numpy!r} with casting rule '{casting}'"
    raise raised(TypeError(text), context.loc, "convert what the function returns, or give casting='unsafe'")


def vectorized(
    context: Context, function: Any, node: FunctionNode, stated: Elementwise, values: Mapping[str, Any]
) -> Any:
    """The results where the vectorized function itself is called: `values` are its arguments, and those of every one."""
    names = parameter_names(node)
    own = {name: value for name, value in values.items() if name in names}
    outs = tuple(value for name, value in values.items() if name not in names and name not in UFUNC_KEYWORDS)
    keywords = {name: values[name] for name in UFUNC_KEYWORDS}
    into = outs if any(o is not None for o in outs) else None
    return over_elements(context, function, node, stated, own, None, into, **keywords)

"""What is done with masked values without taking the chosen elements out: reductions, assignments, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.attributes import METHODS
from pytocu.frontend.compaction import check_masks, read_length
from pytocu.frontend.indexing import subscript
from pytocu.frontend.inplace import (
    DESTINATION,
    ask_for,
    assigned_value,
    augmented,
    fitted,
    known_number,
    note_write,
    number_at,
)
from pytocu.frontend.masked import contains_masked, fits, fitted_mask, is_mask, lifted, mask_over, rest, same, values
from pytocu.frontend.numpy_calls import call_handler
from pytocu.frontend.operators import attempt, binary, chosen_exponent, elementwise, truths
from pytocu.frontend.reductions import combined, length, repeated
from pytocu.frontend.requirements import is_length, require, require_equal
from pytocu.frontend.reshaping import ravel
from pytocu.frontend.ufunc_calls import rows_of
from pytocu.frontend.values import Context, Masked, as_value, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import OPS, Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, empty_sentence, product
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.types import I64, WEAK_INT, WeakType, element, scalar

_OTHER_COUNT = (
    "NumPy boolean array indexing assignment cannot assign {1} input values to the {0} output values where the mask is true"
)

_TYPED = ("sum", "prod", "mean", "var", "std")
_whole_count = Deferred("pytocu.frontend.statistics", "whole_count")

_REDUCED = frozenset([*_TYPED, "any", "all", "min", "max", "amin", "amax", "count_nonzero"])
"""The reductions that have a masked form."""

_ELEMENTWISE = frozenset(
    [
        "where", "clip", "isclose", "nan_to_num", "round", "around", "fix", "real", "imag", "angle", "sinc", "isposinf",
        "isneginf",
    ]
)  # fmt: skip
"""Functions besides the ufuncs that work element by element."""

_METHODS = frozenset(["astype", "round", "clip", "conj", "conjugate", "copy"])


def call_function(
    context: Context, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A NumPy function of arguments of which some are masked values.

    Parameters
    ----------
    name : str
        NumPy's.
    function : callable
        ``function(*args, **kwargs)`` calls it on other abstract values.
    """
    plain = not contains_masked(kwargs) and kwargs.get("out") is None and kwargs.get("where", True) is True
    if plain and name == "power" and len(args) == 2:
        return binary(context, name, *args)
    if plain and args and (rows_of(name) or name in _ELEMENTWISE) and (name != "where" or len(args) == 3):
        return lifted(context, lambda *operands: function(*operands, **kwargs), *args)
    if plain and name in _REDUCED and isinstance(args[0], Masked) and not contains_masked(args[1:]):
        return _reduced(context, name, function, args[0], args[1:], kwargs)
    return function(*values(context, args), **values(context, kwargs))


def call_method(context: Context, name: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``x[mask].name(...)``."""

    def function(array: Any, *given: Any, **named: Any) -> Any:
        return call_handler(array, f"ndarray.{name}", partial(METHODS[name], context), given, named, context)

    only = isinstance(value, Masked) and not contains_masked(args) and not contains_masked(kwargs)
    if only and name in _METHODS and kwargs.get("out") is None:
        return lifted(context, lambda array: METHODS[name](context, array, *args, **kwargs), value)
    if only and name in _REDUCED:
        return _reduced(context, name, function, value, args, kwargs)
    return function(as_value(context, value), *values(context, args), **values(context, kwargs))


def _reduced(context: Context, name: str, function: Callable[..., Any], value: Masked, args: Any, kwargs: Any) -> Any:
    """A reduction over the chosen elements: of the whole array, without the others."""
    second = "dtype" if name in _TYPED else "out"
    given = dict(zip(("axis", second), args, strict=False)) | kwargs
    axis = given.pop("axis", None)
    allowed = {"dtype", "ddof", "correction"} if name in _TYPED else set()
    whole = axis is None or (type(axis) is int and (axis == 0 or (axis == -1 and rest(value) == 0)))
    if value.elements is not None or len(args) > 2 or not whole or not set(given) <= allowed:
        return function(as_value(context, value), *args, **kwargs)
    ndim = len(dimensions(value.array))
    axes = tuple(range(ndim if axis is None else len(dimensions(value.mask))))
    mask = mask_over(context, value.mask, ndim)
    match name:
        case "count_nonzero":
            counted = elementwise(context, "bitwise_and", truths(context, value.array), mask)
            made = combined(context, "add", (cast(context, counted, I64),), axes, False)[0]
            return _whole_count(context, made) if axis is None else made
        case "min" | "max" | "amin" | "amax":
            return _extreme(context, "minimum" if "min" in name else "maximum", value, mask, axes)
    return function(value.array, axis=axes, where=mask, **given)


def _extreme(context: Context, row: str, value: Masked, mask: Value, axes: tuple[int, ...]) -> Value:
    """The least or the largest of the chosen elements; NumPy's error where there are none."""
    dtype = element(value.array.type)
    identity = context.builder.const(REDUCTIONS[row].identity((dtype,))[0], scalar(dtype))
    (made,) = combined(context, row, (elementwise(context, "where", mask, value.array, identity),), axes, False)
    (some,) = combined(context, "bitwise_or", (value.mask,), tuple(range(len(dimensions(value.mask)))), False)
    return require(context, made, some, "ValueError", empty_sentence(row))


# Assignment.


def mask_in(key: Any) -> tuple[int, Value] | None:
    """Which item of an index is its only mask, where the others are slices and Python's ints."""
    items = key if isinstance(key, tuple) else (key,)
    masks = [n for n, item in enumerate(items) if is_mask(item)]
    numbers = [n for n, item in enumerate(items) if isinstance(item, Value) and item.type == WEAK_INT]
    others = [item for n, item in enumerate(items) if n not in masks and n not in numbers]
    if len(masks) != 1 or any(isinstance(item, (Value, list, Masked)) or item is None or item is Ellipsis for item in others):
        return None
    return masks[0], items[masks[0]]


def without_numbers(context: Context, base: Value, key: Any, number: int, mask: Value) -> tuple[Value, Value, int]:
    """The view of an array that the items beside the mask name, the mask, and on which of its axes that begins."""
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1:
        return base, mask, 0
    axes = len(dimensions(mask))
    if not all(isinstance(item, slice) for item in items if item is not mask):
        # NumPy looks at the mask before it looks at numbers.
        check_masks(context, base, items)
    basic = (*items[:number], *[slice(None)] * axes, *items[number + 1 :])
    view = subscript(context, base, (*basic, Ellipsis))
    return view, mask, sum(isinstance(item, slice) for item in items[:number])


def _are_apart(key: tuple[Any, ...]) -> bool:
    """Whether a slice stands between the mask and numbers, or between these."""
    items = [isinstance(item, slice) for item in key]
    behind = items[items.index(False) :]
    return False in behind[behind.index(True) :] if True in behind else False


def assign(context: Context, base: Value, key: Any, place: tuple[int, Value], value: Any) -> None:
    """``base[key] = value``: a choice for each element, of what is there and what is assigned.

    Parameters
    ----------
    place : tuple
        Which item of the key is a mask, and that.

    Raises
    ------
    CompileError
        Lengths that do not fit; a number of values other than that of the chosen elements is
        an error when the code has run.
    """
    target, mask, first = without_numbers(context, base, key, *place)
    ndim, count = len(dimensions(target)), len(dimensions(mask))
    moved = target if first == 0 else _to_front(context, target, first, count)
    mask = fitted_mask(context, target, mask, first, place[0])
    if first and _are_apart(key):
        # NumPy's chosen elements are the first axis of what is assigned then.
        target, first = moved, 0
    note_write(context, target, DESTINATION)
    dtype = element(target.type)
    known = known_number(value)
    if known is not None:
        new: Value = number_at(context, known, dtype)
    elif isinstance(value, Masked) and _of_mask(context, value, mask) and rest(value) == ndim - count:
        new = cast(context, value.array, dtype)
    else:
        made = assigned_value(context, value, dtype)
        if isinstance(made.type, WeakType):
            # A Python complex number is nothing for an array of floats.
            ask_for(context, made, dtype)
        new = cast(context, made, dtype)
        shape = dimensions(target)
        before, behind = shape[:first], shape[first + count :]
        if len(dimensions(new)) <= len(behind):
            _check_each(context, mask, dimensions(new), shape, first)
        else:
            # The chosen elements are an axis where the mask begins.
            alone = ndim == count and (not isinstance(key, tuple) or len(key) == 1)
            said = (_OTHER_COUNT, ()) if alone else _mismatch(dimensions(new), shape, first, count)
            surplus = len(dimensions(new)) - (ndim - count) - 1
            if surplus > 0:
                text = f"{len(dimensions(new))} axes are assigned to elements of {ndim - count} axes"
                raise UnsupportedError(text, context.loc, "leave out the first axes")
            wanted = *before, dimensions(new)[-1 - len(behind)], *behind
            new = repeated(context, fitted(context, new, wanted, "value array"), wanted)
            new = new if first == 0 else _to_front(context, new, first, 1)
            single = is_length(context, dimensions(new)[0], 1)
            if not single:
                new = _in_order(context, moved, mask, new, single is None, *said)
                if moved is target and context.builder.root(target) is target:
                    context.builder.replace(target, new)
                else:
                    context.builder.update(moved, new)
                return
            new = context.builder.emit("index", (new,), {"axis": 0, "at": 0, "keep": True})
    chosen = mask_over(context, mask, ndim)
    context.builder.update(moved, elementwise(context, "where", chosen, new, moved))


def _check_each(context: Context, mask: Value, given: Sequence[DimLike], target: Sequence[DimLike], first: int) -> None:
    """Raise where what each chosen element gets does not fit it in the call that compiles, and say how many there are."""
    count = len(dimensions(mask))
    apart: DimLike = 0
    for own, wanted in zip(reversed(given), reversed(target[first + count :]), strict=False):
        # A length of 1 is repeated.
        misfit = (own - 1) * (own - wanted)
        apart = apart + misfit * misfit
    fits = 1 - dim_min(apart, 1)
    if fits == 0 or (fits != 1 and is_length(context, fits, 0)):
        (number,) = combined(context, "add", (cast(context, ravel(context, mask), I64),), (0,), False)
        chosen = read_length(context, number, product(dimensions(mask)), "chosen")
        sentence, shown = _mismatch(given, target, first, count)
        sentence = sentence.format(*(f"{{{k + 2}}}" for k in range(len(shown) + 1)))
        require_equal(context, 1, 0, "ValueError", sentence, chosen, *shown)


def _of_mask(context: Context, value: Masked, mask: Value) -> bool:
    now = context.builder.emit("copy", (mask,))
    return value.elements is None and same(value.mask, now)


def _to_front(context: Context, value: Value, first: int, count: int) -> Value:
    ndim = len(dimensions(value))
    axes = tuple(range(first, first + count))
    order = (*axes, *(a for a in range(ndim) if a not in axes))
    return context.builder.emit("transpose", (value,), {"axes": order})


def _mismatch(given: Sequence[DimLike], target: Sequence[DimLike], first: int, count: int) -> tuple[str, tuple[DimLike, ...]]:
    """NumPy's sentence where the mask does not come first; ``{0}`` is the number of chosen elements."""
    beside = (*target[:first], *target[first + count :])
    fields = [f"{{{k}}}" for k in range(1, len(given) + len(beside) + 1)]
    shown, others = fields[: len(given)], fields[len(given) :]
    others.insert(first, "{0}")
    shapes = [f"({','.join(texts)}{',' * (len(texts) == 1)})" for texts in (shown, others)]
    text = f"shape mismatch: value array of shape {shapes[0]} could not be broadcast to indexing result of shape {shapes[1]}"
    return text, (*given, *beside)


def _in_order(
    context: Context, target: Value, mask: Value, new: Value, single: bool, sentence: str, shown: tuple[DimLike, ...]
) -> Value:
    """The target with values for the chosen elements one after the other, of which there may be a `single` one for all."""
    builder, lengths, given = context.builder, dimensions(mask), dimensions(new)[0]
    # Of an array without elements no value would be looked at.
    some = dim_min(dim_max(given - 1, 0), 1) if single else dim_min(given, 1)
    none_left = sentence.format(0, *(f"{{{k + 2}}}" for k in range(len(shown or (given,)))))
    require_equal(context, dim_min(some, product(lengths)), some, "ValueError", none_left, *(shown or (given,)))
    (count,) = combined(context, "add", (cast(context, ravel(context, mask), I64),), (0,), False)
    available = length(context, given)
    fits = elementwise(context, "equal", count, available)
    if single:
        # Only a run knows that there is one value, which all chosen elements get.
        fits = elementwise(context, "bitwise_or", fits, elementwise(context, "equal", available, 1))
    available = require(context, available, fits, "ValueError", sentence, count, shown or (given,))
    return builder.emit("place", (target, mask, new, available), {"single": True} if single else {})


def change(context: Context, operator: str, value: Masked, other: Any) -> Masked:
    """``y += other`` of a masked value, which all names of it see."""
    dtype = element(value.array.type)
    other = chosen_exponent(context, value, other) if operator == "power" and fits(other, value) else other
    if not fits(other, value):
        augmented(context, operator, as_value(context, value), values(context, other))
        return value
    given = as_value(context, other.array if isinstance(other, Masked) else other)
    operands = tuple(promote.operand(v.type) for v in (value.array, given))
    attempt(context, promote.check_outputs, OPS[operator].numpy, operands, (dtype,), None, "same_kind")
    made = binary(context, operator, value.array, other.array if isinstance(other, Masked) else other)
    value.array = cast(context, made, dtype)
    return value

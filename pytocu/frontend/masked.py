"""Masked values: what ``x[mask]`` is before anybody asks for its elements one after the other.

A :class:`Masked` is the whole array beside its mask.  Elementwise work on values of one mask is done on
the whole arrays, a reduction leaves out what the mask does, and ``x[mask] = value`` chooses element
by element: none of it needs to know how many elements there are.  Whatever else is done with
one gets the elements themselves (`values`), which is a compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytocu.errors import IndexingError
from pytocu.frontend.requirements import is_length, of_arguments, require_equal
from pytocu.frontend.values import Context, Grown, Masked, Steps, as_value, dimensions, is_array
from pytocu.ir.core import Value, attr_key
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min
from pytocu.ir.infer import repeated_axes
from pytocu.ir.types import BOOL, element, scalar

DIFFERENT = (
    "boolean index did not match indexed array along axis {2}; size of axis is {0} but size of corresponding boolean "
    "axis is {1}"
)
_TOO_MANY = "too many indices for array: array is {}-dimensional, but {} were indexed"
_PURE = ("elementwise", "view", "const", "generated", "choice", "reduce", "scan", "scalar")


def is_mask(value: Any) -> bool:
    """A run-time array of bools with axes."""
    return is_array(value) and element(value.type) is BOOL and bool(dimensions(value))


def chosen(context: Context, array: Value, mask: Value, axis: int = 0) -> Masked:
    """``array[mask]``, as the contents are now; `axis` is what :func:`fitted_mask` says.

    Raises
    ------
    IndexingError
        The mask does not have the lengths of the first axes.
    """
    mask = fitted_mask(context, array, mask, 0, axis)
    return Masked(_frozen(context, array), _frozen(context, mask))


def fitted_mask(context: Context, array: Value, mask: Value, first: int = 0, axis: int = 0) -> Value:
    """The mask, of which is stated that it has the lengths of axes of an array.

    NumPy does not look at a length of 0: such a mask chooses nothing of an axis of any length, and one of that length that
    chooses nothing comes in its place.

    Parameters
    ----------
    first : int
        The first of these axes.
    axis : int
        Its number in the message, of the array of which this one may be a part.

    Raises
    ------
    IndexingError
        The lengths are known, or it has more axes.
    """
    shape, lengths = dimensions(array)[first:], dimensions(mask)
    if len(lengths) > len(shape):
        raise IndexingError(_TOO_MANY.format(len(shape), len(lengths)), context.loc)
    wants_none = False
    for number, (length, wanted) in enumerate(zip(lengths, shape, strict=False)):
        if length != wanted and has_none_for(context, length, wanted):
            wants_none = True
        elif is_told_by_a_run(context, length, wanted):
            require_mask(context, length, wanted, axis + number)
            mask = lengthened(context, mask, number, wanted)
        else:
            require_equal(context, wanted, length, "IndexError", DIFFERENT, axis + number, operands=(array, mask))
    return _none_of(context, shape[: len(lengths)]) if wants_none else mask


def lengthened(context: Context, mask: Value, axis: int, wanted: DimLike) -> Value:
    """A mask that has the wanted length or none, of that length: behind none come as many that choose nothing."""
    shape = dimensions(mask)
    none = _none_of(context, (*shape[:axis], wanted - shape[axis], *shape[axis + 1 :]))
    return context.builder.emit("concatenate", (mask, none), {"axis": axis})


def _none_of(context: Context, shape: Sequence[DimLike]) -> Value:
    """A mask that chooses nothing."""
    wanted = tuple(shape)
    attrs = {"shape": wanted, "expand": repeated_axes((), wanted), "ndim": 0}
    return context.builder.emit("broadcast", (context.builder.const(False, scalar(BOOL)),), attrs)


def is_told_by_a_run(context: Context, length: DimLike, wanted: DimLike) -> bool:
    """Whether a run has to tell that a mask has another length than what it chooses from, where it may have none."""
    told = any(isinstance(dim, Dim) and not of_arguments(context, dim) for dim in (length, wanted))
    return length != wanted and told and context.elements is None


def has_none_for(context: Context, length: DimLike, wanted: DimLike) -> bool:
    """Whether in the call that compiles a mask has no elements and an axis has some; False where only a run can tell."""
    none = dim_max(length, 1 - dim_min(wanted, 1))
    told = is_length(context, none, 0)
    if told is None and isinstance(none, Dim) and context.elements is None and of_arguments(context, none):
        # Wherever it stands: of a loop without a step, or a side that is not taken, the mask is not looked at.
        context.builder.emit("assume", (), {"dim": none, "relation": "!=", "number": 0})
    return told or False


def require_mask(context: Context, length: DimLike, wanted: DimLike, axis: int, sentence: str = DIFFERENT) -> None:
    """State that an axis of a mask has the length of an axis, or none, which NumPy takes for any."""
    if length != wanted:
        require_equal(context, dim_min(length, 1) * wanted, length, "IndexError", sentence, axis)


def _frozen(context: Context, value: Value) -> Value:
    """What an array holds now: later changes of it are not seen."""
    return context.builder.emit("copy", (value,), name=value.name)


def same(first: Value, second: Value) -> bool:
    """Whether two values are computed alike of the same contents."""
    stack = [(first, second)]
    seen: set[tuple[Value, Value]] = set()
    while stack:
        a, b = stack.pop()
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        if a.inst is None or b.inst is None or a.inst.op is not b.inst.op or a.inst.op.kind not in _PURE or a.index != b.index:
            return False
        if a.type != b.type or attr_key(a.inst.attrs) != attr_key(b.inst.attrs) or len(a.inst.args) != len(b.inst.args):
            return False
        stack.extend(zip(a.inst.args, b.inst.args, strict=True))
    return True


def likeness(context: Context, value: Value) -> int:
    """A number that is one of values that are the :func:`same`."""
    known = context.likenesses
    stack = [value]
    while stack:
        one = stack[-1]
        inst = one.inst
        if one in known:
            stack.pop()
        elif inst is None or inst.op.kind not in _PURE:
            known[one] = id(one)
        elif missing := [a for a in inst.args if a not in known]:
            stack.extend(missing)
        else:
            known[one] = hash((inst.op.name, one.index, attr_key(inst.attrs), *(known[a] for a in inst.args)))
    return known[value]


def as_mask(context: Context, array: Value, key: Any) -> Any:
    """The mask whose positions an index of an array of its lengths is; another index is itself."""
    items = key if isinstance(key, tuple) else (key,)
    if not items or not all(isinstance(item, Value) for item in items):
        return key
    mask = context.positions.get(items)
    if mask is None or dimensions(array)[: len(items)] != dimensions(mask):
        return key
    return mask


def rest(value: Masked) -> int:
    """How many axes each chosen element has."""
    return len(dimensions(value.array)) - len(dimensions(value.mask))


def values(context: Context, value: Any) -> Any:
    """The chosen elements themselves in place of masked values, in tuples, lists and dicts too."""
    match value:
        case Masked():
            return as_value(context, value)
        case tuple() if type(value) is tuple:
            return tuple(values(context, v) for v in value)
        case list() if type(value) is list and any(isinstance(v, (Masked, tuple, list)) for v in value):
            return [values(context, v) for v in value]
        case dict() if any(isinstance(v, Masked) for v in value.values()):
            return {k: values(context, v) for k, v in value.items()}
    return value


def lifted(context: Context, function: Callable[..., Any], *operands: Any) -> Any:
    """An elementwise function of operands, at least one of which is a masked value.

    Parameters
    ----------
    function : callable
        Of whole arrays; it gives one, or a tuple of them.
    """
    masked = [o for o in operands if isinstance(o, Masked) and o.elements is None]
    if not masked or not all(fits(o, masked[0]) for o in operands):
        return function(*(values(context, o) for o in operands))
    made = function(*(o.array if isinstance(o, Masked) else o for o in operands))
    if isinstance(made, tuple):
        return tuple(Masked(m, masked[0].mask) for m in made)
    return Masked(made, masked[0].mask) if isinstance(made, Value) else made


def fits(operand: Any, first: Masked) -> bool:
    """Whether an operand of an elementwise function stands beside whole arrays as beside the chosen elements."""
    if first.elements is not None:
        return False
    if isinstance(operand, Masked):
        return operand.elements is None and rest(operand) == rest(first) and same(operand.mask, first.mask)
    if isinstance(operand, (list, tuple, range, Steps, Grown)):
        # An array for each chosen element.
        return False
    return not is_array(operand) or len(dimensions(operand)) <= rest(first)


def mask_over(context: Context, mask: Value, ndim: int) -> Value:
    """The mask with an axis of length 1 for each axis of a chosen element, so that it broadcasts."""
    for axis in range(len(dimensions(mask)), ndim):
        mask = context.builder.emit("newaxis", (mask,), {"axis": axis})
    return mask


def contains_masked(value: Any) -> bool:
    """Whether a value, or a member of a tuple, list or dict, is a masked one."""
    if isinstance(value, (tuple, list)):
        return any(map(contains_masked, value))
    if isinstance(value, dict):
        return any(map(contains_masked, value.values()))
    return isinstance(value, Masked)

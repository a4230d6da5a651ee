"""In-place changes: assignment to elements, augmented assignment, ``out=``, ``copyto``, ``fill``.

Every one of them computes a value, fits it to its target with NumPy's rules and sentences, and
writes one ``update``.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, ShapeError, UnsupportedError, located, raised
from pytocu.frontend.indexing import axis_for_bool, has_bool, has_picks, subscript
from pytocu.frontend.numbers import perhaps_complex
from pytocu.frontend.operators import attempt, choose_power, elementwise, fast_power, truths
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import (
    Context,
    Flat,
    Steps,
    as_element,
    as_strong,
    as_value,
    cast,
    const_inst,
    convert,
    describe,
    dimensions,
    is_array,
    is_number,
    is_numpy_scalar,
    python_type_name,
)
from pytocu.ir import promote
from pytocu.ir.core import OPS, Value
from pytocu.ir.dims import OUTPUT_PATTERN, DimLike, Misfit, assignment_pattern, format_shape, may_repeat
from pytocu.ir.infer import assignment_pairs, broadcast_shapes, meeting_lengths
from pytocu.ir.types import BOOL, F64, WEAK_FLOAT, DType, ScalarType, WeakType, element, scalar, type_text
from pytocu.operands import assignment_notes, operand_notes

Shape = tuple[DimLike, ...]

_in_own_words = Deferred("pytocu.frontend.own_words", "in_own_words")
_picked = Deferred("pytocu.frontend.picking", "picked")

DESTINATION, OUTPUT, COPIED = "assignment destination", "output array", "WRITEBACKIFCOPY base"
"""What NumPy calls the target of an assignment, of a ufunc, and an output array that it copies back into."""


def note_write(context: Context, target: Value, what: str = OUTPUT) -> None:
    """State that the memory of a target is written.

    Raises
    ------
    ShapeError
        The target repeats elements.
    UnsupportedError
        It is of the bytes of bools, or repeats elements and NumPy only warns.
    """
    builder = context.builder
    if builder.read_only(target) and builder.is_offered(target):
        text = "what np.broadcast_arrays repeats is written, which changes several elements"
        raise UnsupportedError(text, context.loc, "write to the array itself, or to a copy")
    if builder.read_only(target):
        raise ShapeError(f"{what} is read-only", context.loc, "write to the array it is a view of, or to a copy")
    if any(i.op.name == "view" and element(i.args[0].type) is BOOL is not element(i.types[0]) for i in builder.views(target)):
        text = "the bytes of bools are changed, and bytes other than 0 and 1 are no bools"
        raise UnsupportedError(text, context.loc, "change the array of bools itself")
    # A name of one array or another is written where it is that one.
    _, arrays = builder.decided(builder.root(target)) or ((), ())
    for param in map(builder.argument, (target, *arrays)):
        if param is not None and param not in builder.written:
            builder.written[param] = None
            builder.write_check(param, what)


def fitted(context: Context, value: Value, target: Value | Shape, what: str = "input array") -> Value:
    """Check that a value broadcasts to a target, and drop its leading axes of length 1."""
    wanted = target if isinstance(target, tuple) else dimensions(target)
    while what == "input array" and len(dimensions(value)) > len(wanted) and dimensions(value)[0] == 1:
        # NumPy's sentence is about what is left without them.
        value = context.builder.emit("index", (value,), {"axis": 0, "at": 0, "keep": True})
    given = dimensions(value)
    try:
        if what == "where mask" and len(given) > len(wanted):
            raise ValueError("a mask has no axes of length 1 in front")
        pairs = assignment_pairs(given, wanted)
    except ValueError:
        said = type_text(target.type) if isinstance(target, Value) else f"shape {format_shape(wanted)}"
        notes = assignment_notes(context.loc, said, type_text(value.type)) if what == "input array" else ()
        raise located(Misfit(assignment_pattern(what), (given, wanted)), context.loc, None, notes) from None
    kind = {"input array": "assign", "value array": "place"}.get(what, "mask")
    for pair in pairs:
        context.builder.emit("check", (), {"kind": kind, "dims": pair, "shapes": (given, wanted)})
    for _ in range(len(given) - len(wanted)):
        value = context.builder.emit("index", (value,), {"axis": 0, "at": 0, "keep": True})
    return value


def _number(context: Context, value: Any, dtype: DType, put: Callable[[np.ndarray, Any], Any]) -> Value:
    """A number known now, as NumPy puts it into an array of the dtype.

    Raises
    ------
    CompileError
        NumPy refuses it.
    """

    return context.builder.const(_asked(context, value, dtype, put), scalar(dtype))


def ask_for(context: Context, value: Value, dtype: DType) -> None:
    """Let NumPy refuse a Python number known at run time that an array of the dtype does not take."""
    _asked(context, _example(value), dtype, _set)


def taken(context: Context, value: Value, dtype: DType) -> Value:
    """A value as an array of the dtype takes it: of Python numbers those of its kind that fit."""
    if isinstance(value.type, WeakType):
        ask_for(context, value, dtype)
    return cast(context, value, dtype)


def put_in(context: Context, value: Value, dtype: DType) -> Value:
    """A value as `taken`, where signed integers take those NumPy scalars that fit."""
    return as_element(context, value, dtype) if isinstance(value.type, ScalarType) else taken(context, value, dtype)


def _asked(context: Context, value: Any, dtype: DType, put: Callable[[np.ndarray, Any], Any]) -> Any:
    """What an array of the dtype holds once NumPy has put a number into it."""

    def ask() -> Any:
        array = np.zeros(1, dtype.numpy)
        put(array, value)
        return array[0].item()

    return attempt(context, ask)


def known_number(value: Any) -> Any:
    """A number known now, or None."""
    if is_number(value):
        return value
    inst = const_inst(value)
    return None if inst is None or not isinstance(value.type, WeakType) else inst.attr("value")


def number_in(context: Context, value: Any, dtype: DType) -> Value:
    """A number known now, as ``array[...] = value`` puts it into an array of the dtype.

    Raises
    ------
    CompileError
        NumPy refuses it.
    """
    return _number(context, value, dtype, _set)


def number_at(context: Context, value: Any, dtype: DType) -> Value:
    """A number known now, as ``array[positions] = value`` puts it there: a NumPy scalar is cast, as an array is.

    Raises
    ------
    CompileError
        NumPy refuses it.
    """
    return _number(context, value, dtype, _set_at)


def _set_part(array: np.ndarray, value: Any) -> None:
    array.real = value


def _set_at(array: np.ndarray, value: Any) -> None:
    array[[0]] = value


def _set(array: np.ndarray, value: Any) -> None:
    array[...] = value


def assign_elements(context: Context, target: Value, value: Any) -> None:
    """``target[...] = value``, where `target` is a view of what is assigned to.

    Raises
    ------
    ShapeError
        Shapes that do not fit, a target that repeats elements.
    RangeError
        A Python number that the dtype does not hold.
    """
    note_write(context, target, DESTINATION)
    dtype = element(target.type)
    known = known_number(value)
    if known is not None:
        if isinstance(known, complex):
            as_value(context, known)
        context.builder.update(target, number_in(context, known, dtype))
        return
    made = assigned_value(context, value, dtype)
    ndim = len(dimensions(target))
    if isinstance(value, (list, tuple)) and len(dimensions(made)) > ndim:
        text = "The requested array would exceed the maximum number of dimension of"
        raise raised(ValueError(f"setting an array element with a sequence. {text} {ndim}."), context.loc)
    # The shape first, as NumPy does; a view of the target itself is read before anything is written.
    made = fitted(context, made, target)
    # A Python complex number is nothing for an array of floats.
    context.builder.update(target, put_in(context, made, dtype))


def assigned_value(context: Context, value: Any, dtype: DType) -> Value:
    """What is assigned to an array of a dtype, to which NumPy takes the numbers of a list at once."""
    if isinstance(value, (list, tuple, range, Steps, Flat)):
        return context.hooks.listed(context, value, dtype.numpy)
    made = _value_to_put(context, value, dtype, _set)
    # NumPy asks for a float, which a complex number is not.
    return context.builder.emit("python_float", (made,)) if dtype.kind == "f" and perhaps_complex(made) else made


def _value_to_put(context: Context, value: Any, dtype: DType, put: Callable[[np.ndarray, Any], Any]) -> Value:
    """A value that is put into an array of a dtype; of what is none, NumPy says what is wrong."""
    try:
        return as_value(context, value)
    except CompileError as error:
        if error.own_words:
            raise _in_own_words(context, error, lambda v: put(np.zeros(1, dtype.numpy), v), (value,), {}) from None
        raise


def assign_part(context: Context, part: Value, value: Any) -> None:
    """``target.real = value``, where `part` is that view: NumPy makes an array of the value, and casts that.

    Raises
    ------
    ShapeError
        Shapes that do not fit, a target that repeats elements.
    """
    note_write(context, part, DESTINATION)
    known, dtype = known_number(value), element(part.type)
    if known is not None:
        context.builder.update(part, _number(context, known, dtype, _set_part))
        return
    made = as_strong(context, _value_to_put(context, value, dtype, _set_part))
    context.builder.update(part, cast(context, fitted(context, made, part), dtype))


def element_view(context: Context, base: Value, key: Any, value: Any) -> Value:
    """The view ``base[key]``, of a key without arrays, as the target of an assignment; one element is an array without axes.

    Raises
    ------
    UnsupportedError
        A list for one element.
    TypeError, ValueError
        An array is assigned to one element.
    """
    if not is_array(base):
        kind = base.type.kind if isinstance(base.type, WeakType) else f"numpy.{element(base.type).numpy.name}"
        raise raised(TypeError(f"'{kind}' object does not support item assignment"), context.loc)
    keys = key if isinstance(key, tuple) else (key,)
    if has_bool(keys):
        return axis_for_bool(context, base, keys)
    view = _picked if has_picks(base, key) else subscript
    if Ellipsis in keys:
        return view(context, base, keys)
    used = sum(k is not None for k in keys)
    one = 0 < used == len(keys) == len(dimensions(base)) and not any(isinstance(k, slice) for k in keys)
    # What is wrong with the key comes before what is wrong with the value.
    made = view(context, base, (*keys, Ellipsis))
    if one and is_array(value):
        _check_one(context, value, element(base.type), _set_first)
    if one and isinstance(value, (list, tuple)):
        attempt(context, _set_first, np.zeros(1, element(base.type).numpy), _stand_in(value))
        raise UnsupportedError(f"a {type(value).__name__} is assigned to one element", context.loc, "assign its member")
    return made


def _stand_in(values: Any) -> Any:
    """A list with zeros for what is known only at run time."""
    if isinstance(values, (list, tuple)):
        return [_stand_in(v) for v in values]
    return _example(values) if isinstance(values, Value) else values


def _set_first(array: np.ndarray, value: Any) -> None:
    array[0] = value


def _check_one(context: Context, value: Value, dtype: DType, put: Callable[[np.ndarray, Any], Any]) -> None:
    """Refuse an array for one element as NumPy does: one of bools takes an array of length 1.

    Raises
    ------
    TypeError, ValueError
    """
    shape = dimensions(value)
    if shape:
        attempt(context, put, np.zeros(1, dtype.numpy), np.zeros((1,) * len(shape), element(value.type).numpy))
    for length in shape:
        require_equal(context, length, 1, "ValueError", "setting an array element with a sequence.")


def fill(context: Context, target: Value, value: Any, /) -> None:
    """``target.fill(value)``.

    Raises
    ------
    ShapeError
        The value has axes.
    """
    if not is_array(target):
        # A NumPy scalar is immutable, and fill says nothing about it.
        raise UnsupportedError("fill() of a NumPy scalar", context.loc, "give the name the new value")
    note_write(context, target, DESTINATION)
    known = known_number(value)
    if known is not None:
        context.builder.update(target, _number(context, known, element(target.type), np.ndarray.fill))
        return
    made = as_value(context, value)
    _check_one(context, made, element(target.type), np.ndarray.fill)
    if dimensions(made):
        made = subscript(context, made, (*(0 for _ in dimensions(made)), Ellipsis))
    if isinstance(made.type, WeakType):
        _asked(context, _example(made), element(target.type), np.ndarray.fill)
        context.builder.update(target, cast(context, made, element(target.type)))
        return
    context.builder.update(target, put_in(context, made, element(target.type)))


def copyto(context: Context, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """``np.copyto(dst, src, casting=..., where=...)``.

    Raises
    ------
    DTypeError
        A cast that the rule does not allow.
    ShapeError
        Shapes that do not fit.
    """
    if not is_array(dst):
        # NumPy's sentence, which is another one in older versions.
        like: Any = dst
        if isinstance(dst, Value):
            like = element(dst.type).numpy.type(0) if is_numpy_scalar(dst) else getattr(builtins, python_type_name(dst))()
        attempt(context, np.copyto, like, 0)
    # NumPy's sentence for a rule that it does not have.
    attempt(context, np.copyto, np.zeros(1), np.zeros(1), casting=casting)
    dtype = element(dst.type)
    known = known_number(src)
    if type(known) is int:
        # An int that does not fit is found before the mask is looked at.
        attempt(context, np.copyto, np.zeros(1, dtype.numpy), known, casting="unsafe")
    mask = None if where is True else mask_of(context, where)
    if src is dst and dimensions(dst):
        # NumPy copies nothing and looks at no shape.
        return
    note_write(context, dst, DESTINATION)
    if known is not None:
        if isinstance(known, complex):
            as_value(context, known)
        made = _number(context, known, dtype, lambda array, v: np.copyto(array, v, casting=casting))
    else:
        made = as_value(context, src)
        attempt(context, np.copyto, np.zeros(1, dtype.numpy), _example(made), casting=casting)
    made = fitted(context, made, dst)
    if made.type == WEAK_FLOAT and dtype.kind in "iu":
        # Only reached by casting="unsafe", which makes an array of the number first.
        made = convert(context, made, F64)
    made = cast(context, made, dtype)
    if mask is not None:
        made = elementwise(context, "where", fitted(context, mask, dst, "where mask"), made, dst)
    context.builder.update(dst, made)


def mask_of(context: Context, where: Any) -> Value:
    """The mask of ``where=``: of a number or a list, what is not zero.

    Raises
    ------
    DTypeError
        It is an array, and not of bools.
    """
    if where is None or isinstance(where, str):
        where = bool(where)
    known = known_number(where)
    if known is not None:
        return as_strong(context, bool(known))
    value = as_value(context, where)
    if is_array(value) and not isinstance(where, (list, tuple)) and element(value.type) is not BOOL:
        found, what = element(value.type).numpy, "array data" if dimensions(value) else "scalar"
        sentence = f"Cannot cast {what} from dtype('{found}') to dtype('bool') according to the rule 'safe'"
        raise raised(TypeError(sentence), context.loc, "compare first: where=mask != 0")
    return truths(context, value)


def _example(value: Value) -> Any:
    """What stands for a run-time value where NumPy is asked whether it may be cast."""
    match value.type:
        case WeakType(kind):
            return {"bool": False, "int": 0, "float": 0.0, "complex": 0j}[kind]
        case ScalarType(dtype):
            return dtype.numpy.type(0)
    return np.zeros((1,) * len(dimensions(value)), element(value.type).numpy)


# Ufuncs with output arrays.


def out_arrays(context: Context, out: Any, count: int) -> tuple[Value | None, ...]:
    """The arrays that ``out=`` names, one a result, None where a new one is made.

    Raises
    ------
    CompileError
        Not arrays, or not as many as the function has results; NumPy's sentences.
    """
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple) and count > 1:
        raise raised(TypeError("'out' must be a tuple of arrays"), context.loc)
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != count:
        raise raised(ValueError("The 'out' tuple must have exactly one entry per ufunc output"), context.loc)
    for one in outs:
        if one is not None and not is_array(one):
            help = f"{describe(one)} is a number; pass an array" if isinstance(one, Value) else None
            raise raised(TypeError("return arrays must be of ArrayType"), context.loc, help)
    return outs


def check_one_output(context: Context, out: Any) -> None:
    """NumPy's error of a tuple that is not one of one output."""
    if isinstance(out, tuple) and len(out) != 1:
        out_arrays(context, out, 1)


def method_output(context: Context, out: Any, dtype: Any) -> tuple[Value | None, ...]:
    """As :func:`out_arrays`, of the methods of ufuncs, which look at `dtype` before.

    Raises
    ------
    CompileError
    """
    check_one_output(context, out)
    if not isinstance(dtype, Value):
        attempt(context, np.dtype, dtype)
    return out_arrays(context, [None] if out == (None,) else out, 1)


def out_array(context: Context, out: Any, sentence: str = "return arrays must be of ArrayType") -> tuple[Value | None]:
    """The array that ``out=`` is, of functions that take no tuple of one, or None.

    Raises
    ------
    CompileError
        No array; NumPy's sentence.
    """
    if out is not None and not is_array(out):
        help = f"{describe(out)} is a number; pass an array" if isinstance(out, Value) else None
        raise raised(TypeError(sentence), context.loc, help)
    return (out,)


NO_OUTPUT = "output must be an array"
"""What NumPy's functions that are no ufuncs say of an ``out=`` that is no array."""


def prepare_outputs(
    context: Context,
    name: str,
    values: Sequence[Value],
    outs: Sequence[Value | None],
    signature: Any = None,
    casting: str = "same_kind",
    where: Any = True,
) -> None:
    """Check that the results of a ufunc may be written into arrays, before anything is computed.

    Raises
    ------
    DTypeError
        A result does not cast to its array's dtype; NumPy's exception.
    ShapeError
        The shapes do not fit.
    """
    arrays = [o for o in outs if o is not None]
    for out in arrays:
        # NumPy looks at the arrays first.
        note_write(context, out, OUTPUT)
    operands = tuple(promote.operand(v.type) for v in values)
    targets = tuple(None if o is None else element(o.type) for o in outs)
    attempt(context, promote.check_outputs, name, operands, targets, signature, casting)
    shapes = [dimensions(v) for v in values]
    mask = [] if where is True else [dimensions(mask_of(context, where))]
    check_output_shapes(context, shapes, [dimensions(o) for o in arrays], mask)


def write_outputs(
    context: Context, results: Sequence[Value], outs: Sequence[Value | None], where: Any = True
) -> tuple[Value, ...]:
    """Write the results of a ufunc that have an array; what the ufunc returns."""
    writes: list[tuple[Value, Value]] = []
    for result, out in zip(results, outs, strict=True):
        if out is None:
            continue
        made = cast(context, result, element(out.type))
        if where is not True:
            made = elementwise(context, "where", mask_of(context, where), made, out)
        if len(dimensions(made)) <= len(dimensions(out)):
            writes.append((out, made))
    if len(writes) > 1 and not _apart(context, *(out for out, _ in writes)):
        text = "a ufunc with two results in one memory: which of them stays depends on how NumPy computes them"
        raise UnsupportedError(text, context.loc, "give each its own array, or None")
    for out, made in writes:
        context.builder.update(out, made)
    return tuple(result if out is None else out for result, out in zip(results, outs, strict=True))


def write_result(
    context: Context,
    made: Value,
    out: Any,
    no_array: str,
    other_shape: str,
    other_rank: str | None = None,
    error: type[Exception] = ValueError,
    what: str = OUTPUT,
) -> Value:
    """Write the result of a function that is no ufunc into an array of its shape, whatever the dtype; the array.

    Parameters
    ----------
    no_array, other_shape, other_rank : str
        NumPy's sentences where `out` is no array, has other lengths or another number of axes.
    error : type
        What the last two are.
    what : str
        What NumPy calls the array where it is read-only.

    Raises
    ------
    CompileError
        The shape is another one.
    """
    if not is_array(out):
        raise raised(TypeError(no_array), context.loc)
    shape, wanted = dimensions(made), dimensions(out)
    if len(shape) != len(wanted):
        raise raised(error(other_rank or other_shape), context.loc)
    for length, given in zip(shape, wanted, strict=True):
        require_equal(context, length, given, error.__name__, other_shape)
    note_write(context, out, what)
    context.builder.update(out, cast(context, made, element(out.type)))
    return out


def _apart(context: Context, first: Value, second: Value) -> bool:
    """Whether two outputs have no element in common: other memory, or two rows of one array."""
    if context.builder.apart(first, second):
        return True
    a, b = first.inst, second.inst
    if first is second or a is None or b is None or a.op.name != "index" or b.op.name != "index" or a.args != b.args:
        return False
    places = a.attr("at"), b.attr("at")
    return a.attr("axis") == b.attr("axis") and all(isinstance(p, int) for p in places) and places[0] != places[1]


def augmented(context: Context, name: str, target: Value, value: Any) -> Value:
    """``target += value`` and its like, in place.

    Raises
    ------
    DTypeError, ShapeError
        As for a ufunc with ``out=``.
    """
    fast = fast_power(target, value) if name == "power" else None
    operands = (target, value) if fast is None else (target,)
    numpy_name = OPS[fast or name].numpy
    try:
        prepare_outputs(context, numpy_name, [as_value(context, o) for o in operands], (target,))
    except CompileError as error:
        if isinstance(error, TypeError):
            error.help = error.help or "in place an array keeps its dtype: x = x + y makes a new one"
        said = [type_text(v.type) if isinstance(v, Value) else "" for v in (target, value)]
        error.notes = error.notes or operand_notes(context.loc, said)
        raise
    result = elementwise(context, fast or name, *operands)
    if name == "power" and fast is None:
        result = choose_power(context, result, target, value)
    (made,) = write_outputs(context, (result,), (target,))
    return made


def check_output_shapes(context: Context, shapes: Sequence[Shape], outs: Sequence[Shape], mask: Sequence[Shape]) -> None:
    """Check that operands and mask broadcast together to the shape of the outputs, which are not broadcast."""
    every = (*shapes, *outs, *mask)
    try:
        whole = broadcast_shapes(every)
    except ValueError as error:
        raise located(error, context.loc) from None
    for pair in meeting_lengths(every):
        context.builder.emit("check", (), {"kind": "broadcast", "dims": pair, "shapes": every})
    for out in outs:
        pairs = zip((*[1] * (len(whole) - len(out)), *out), whole, strict=True)
        grown = [(o, w) for o, w in pairs if o != w and (o == 1 or may_repeat(o))]
        if len(out) < len(whole) or any(isinstance(w, int) for o, w in grown if o == 1):
            raise located(Misfit(OUTPUT_PATTERN, (out, whole), every), context.loc)
        for pair in grown:
            context.builder.emit("check", (), {"kind": "output", "dims": pair, "shapes": (out, whole)})


FUNCTIONS = {"copyto": copyto}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = {"fill": fill}
"""Methods of arrays."""

"""Functions that the caller's library computes: linear algebra, Fourier transforms, sorting.

In: abstract values and NumPy's arguments.  Out: ``library`` instructions, whose operands are in memory.
The list of these functions is closed (`pytocu.ir.library`); what is around them is compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import transpose
from pytocu.frontend.inplace import assign_elements, note_write, write_result
from pytocu.frontend.layouts import laid_out_as, order_of, row_major
from pytocu.frontend.operators import attempt, elementwise, known_int, known_option
from pytocu.frontend.reductions import length, stand_in
from pytocu.frontend.requirements import refuse_later, require, require_equal
from pytocu.frontend.reshaping import array_of, as_length, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, cast, dimensions, is_array
from pytocu.frontend.worded import evaluated
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike, dim_min, modulo
from pytocu.ir.layouts import row_major as row_major_ranks
from pytocu.ir.layouts import slowest_first
from pytocu.ir.library import LIBRARY, numpy_library, result_dtypes
from pytocu.ir.types import C64, C128, F16, F32, F64, I64, ArrayType, DType, element, scalar


def in_memory(context: Context, value: Value) -> Value:
    """An operand that lies in memory: what a library made, an argument, or one transposed, as it is; others are put there."""
    builder = context.builder
    base = value
    while base.inst is not None and (base.inst.op.name == "transpose" or _is_whole(base.inst)):
        base = base.inst.args[0]
    unchanged = base in builder.arguments and base.inst is None and builder.contents(base) is base
    made = builder.contents(value).inst
    stored = made is not None and made.op.name in ("library", "keep")
    return value if unchanged or stored else builder.emit("keep", (value,), name=value.name)


def _is_whole(inst: Inst) -> bool:
    """Whether it is a row-major argument in another shape, which is the same memory."""
    source = inst.args[0].type if inst.args else None
    return inst.op.name == "reshape" and inst.args[0].inst is None and isinstance(source, ArrayType) and source.layout == "C"


def call(context: Context, name: str, operands: Sequence[Value], **options: Any) -> tuple[Value, ...]:
    """The results of a library call; those without axes are scalars.

    Raises
    ------
    CompileError
        What NumPy raises for these dtypes and numbers of axes.
    """
    # What a side or a step alone computes has no flag outside of it.
    depth, flags = context.catching or (-1, [])
    caught = depth == context.builder.depth and "caught" in LIBRARY[name].options
    if caught:
        options["caught"] = True
    given = tuple((k, v) for k, v in options.items() if v is not None)
    types = tuple((element(o.type), len(dimensions(o))) for o in operands)
    attempt(context, result_dtypes, name, types, given)
    stored = [in_memory(context, o) for o in operands]
    made = context.builder.inst("library", stored, {"function": name, **({"options": given} if given else {})})
    results = tuple(_scalar(context, r) for r in made.results)
    if caught:
        flags.append(results[-1])
        return results[:-1]
    return results


def _scalar(context: Context, value: Value) -> Value:
    if dimensions(value):
        return value
    return context.builder.emit("cast", (value,), {}, (scalar(element(value.type)),))


# Linear algebra.


def floating(context: Context, name: str, operands: Sequence[Any]) -> list[Value]:
    """Operands in the dtype in which ``np.linalg`` computes."""
    values = [array_of(context, o) for o in operands]
    for value in values:
        if element(value.type).name == "f16":
            # NumPy's sentence.
            attempt(context, result_dtypes, name, tuple((element(v.type), len(dimensions(v))) for v in values), ())
    dtypes = [element(v.type) if element(v.type).kind in "fc" else F64 for v in values]
    common = promote.result_dtype(tuple(dtypes)) if len(dtypes) > 1 else dtypes[0]
    return [cast(context, v, common) for v in values]


def _linalg(name: str, doc: str, named: Any = None) -> Callable[..., Any]:
    def handler(context: Context, a: Any) -> Any:
        made = call(context, name, floating(context, name, (a,)))
        return made[0] if len(made) == 1 else tuple(made) if named is None else named(*made)

    handler.__doc__ = doc
    return handler


def type_named(function: Callable[..., Any], argument: Any) -> Any:
    """The class of named tuples that a function of NumPy returns."""
    return type(function(argument))


def solve(context: Context, a: Any, b: Any) -> Value:
    """``x`` of ``a @ x = b``"""
    return call(context, "linalg.solve", floating(context, "linalg.solve", (a, b)))[0]


LINALG: dict[str, Callable[..., Any]] = {
    "solve": solve,
    "inv": _linalg("linalg.inv", "The inverse of matrices"),
    "pinv": _linalg("linalg.pinv", "The Moore-Penrose inverse of matrices"),
    "det": _linalg("linalg.det", "Determinants"),
    "slogdet": _linalg("linalg.slogdet", "Signs and logarithms of determinants", type_named(np.linalg.slogdet, np.eye(1))),
    "svdvals": _linalg("linalg.svdvals", "Singular values"),
}
"""Functions of ``np.linalg`` that are library calls without keywords; others are in `pytocu.frontend.decompositions`."""


# Fourier transforms.


def _transformed(context: Context, name: str, a: Any) -> Value:
    value = array_of(context, a)
    dtype = element(value.type)
    wide: DType = dtype if dtype.kind in "fc" and dtype.bits > 16 else F32 if dtype.kind == "f" else F64
    return cast(context, value, wide)


def _as_it_lies(
    context: Context, value: Value, axes: Sequence[int], made: Callable[[Value, tuple[int, ...]], Value]
) -> Value:
    """What a library makes along axes of an array, whose other axes stay: elements are in the order of those of the array.

    The library is given the array with its axes in that order, and makes the result in row-major order of these.
    """
    ranks, _ = order_of(context, context.builder.contents(value))
    count = len(dimensions(value))
    order = tuple(range(count)) if ranks is None else slowest_first(ranks)
    if order == tuple(range(count)):
        return made(value, tuple(axes))
    found = made(transpose(context, value, order), tuple(order.index(axis % count) for axis in axes))
    if ranks is not None and None in ranks:
        # Of an axis along which the array does not move the order of a result does not follow.
        context.builder.orders[found] = row_major_ranks(dimensions(found)), frozenset()
    return transpose(context, found, tuple(order.index(axis) for axis in range(count)))


_NO_POINTS = "Invalid number of FFT data points ({0}) specified."


def _fft(name: str, doc: str) -> Callable[..., Any]:
    def handler(context: Context, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
        given = array_of(context, a)
        value = _transformed(context, name, given)
        if out is not None:
            _check_target(context, name, value, out, {"n": 1, "axis": axis, "norm": norm})
            return _into(context, handler(context, given, n, axis, norm), out)
        count = None if n is None else as_length(context, n, _NO_POINTS)
        if isinstance(count, int) and count < 1:
            raise raised(ValueError(_NO_POINTS.format(count)), context.loc)
        if count is not None:
            require_equal(context, dim_min(count, 1), 1, "ValueError", _NO_POINTS)
        place, scale = known_int(context, axis, "axis="), known_option(context, norm, "norm=")
        if count is None:
            # NumPy asks for the length of the axis first.
            attempt(context, operator.getitem, dimensions(value), place)
        if name == "fft.rfft" and element(given.type).kind == "c":
            _refuse_complex(context, value, dimensions(value)[place] if count is None else count)
            value = context.builder.emit("real", (value,))
        if element(given.type) is F16 and (name == "fft.irfft" or _is_scaled(name, scale)):
            return _as_it_lies(context, value, (place,), lambda v, axes: _of_halves(context, name, v, count, axes[0], scale))
        options = {"n": count, "norm": scale}
        return _as_it_lies(context, value, (place,), lambda v, axes: call(context, name, (v,), axis=axes[0], **options)[0])

    handler.__doc__ = doc
    return handler


def _refuse_complex(context: Context, value: Value, count: DimLike) -> None:
    """Real transforms are of real numbers; NumPy's sentence names the one for an even length, or for an odd one."""
    said: list[str] = []
    for size in (2, 1):
        try:
            np.fft.rfft(np.ones(size, element(value.type).numpy))
        except TypeError as error:
            said.append(str(error))
    require_equal(context, modulo(count, 2), 1, "TypeError", said[0])
    refuse_later(context, count, "TypeError", said[1])


def _is_scaled(name: str, norm: Any) -> bool:
    """Whether a transform is divided by its length or the root of it."""
    return norm == "ortho" or (name.startswith("fft.i") == (norm in (None, "backward")))


def _of_halves(context: Context, name: str, value: Value, count: DimLike | None, axis: int, norm: Any) -> Value:
    """A transform of float16, whose scale NumPy rounds to float16; real results are float16."""
    back = name.startswith("fft.i")
    (made,) = call(context, name, (value,), n=count, axis=axis, norm="forward" if back else "backward")
    if _is_scaled(name, norm):
        size = count if count is not None else dimensions(made if name == "fft.irfft" else value)[axis]
        number = cast(context, length(context, size), F16)
        number = elementwise(context, "sqrt", number) if norm == "ortho" else number
        scale = cast(context, elementwise(context, "reciprocal", number), F32)
        parts = [made] if name == "fft.irfft" else [context.builder.emit(row, (made,)) for row in ("real", "imag")]
        scaled = [elementwise(context, "multiply", part, scale) for part in parts]
        made = scaled[0] if len(scaled) == 1 else context.builder.emit("compose", scaled)
    return cast(context, made, F16) if name == "fft.irfft" else made


def _check_target(context: Context, name: str, value: Value, out: Any, options: dict[str, Any]) -> None:
    """Let NumPy refuse an array that its function does not write to, whatever the lengths."""
    options = {k: known_option(context, v, f"{k}=") for k, v in options.items()}
    attempt(context, numpy_library(name), stand_in(value), out=stand_in(out), **options)


def _into(context: Context, made: Value, out: Value) -> Value:
    return write_result(context, made, out, "return arrays must be of ArrayType", "output array has wrong shape.")


def _of_lengths(context: Context, name: str, value: Value, s: Any, axes: Any, norm: Any) -> Value:
    """Transforms of one axis after the other, from the last one on, each cut or filled with zeros, as NumPy makes them."""
    single = FFT["ifft" if name.startswith("fft.i") else "fft"]
    for size, place in reversed(_lengths_and_axes(context, name, value, s, axes, norm)):
        value = single(context, value, size, place, norm)
    return value


def _lengths_and_axes(context: Context, name: str, value: Value, s: Any, axes: Any, norm: Any) -> list[tuple[Any, int]]:
    """The axes that are transformed, each with its new length, or None where it stays; what is wrong NumPy says."""
    ndim = len(dimensions(value))
    if s is None:
        lengths: list[Any] = [None] * (ndim if axes is None else len(attempt(context, tuple, axes)))
        attempt(context, np.take, np.ones(ndim, int), range(ndim) if axes is None else axes)
        # Lengths of 1 say nothing against an array without elements.
        examples = [1] * len(lengths) or None
        axes = range(ndim) if axes is None and ndim else axes
    else:
        lengths = list(s) if isinstance(s, (tuple, list)) else attempt(context, list, known_option(context, s, "s="))
        examples = [-1 if isinstance(n, int) and n == -1 else 1 for n in lengths]
    attempt(context, numpy_library(name), stand_in(value), examples, axes, norm)
    places = [range(ndim)[a] for a in (range(-len(lengths), 0) if axes is None else axes)]
    known = [None if isinstance(n, int) and n == -1 else n for n in lengths]
    return list(zip(known, places, strict=True))


def _real_fftn(name: str, doc: str, axes: tuple[int, ...] | None) -> Callable[..., Any]:
    """Transforms of real numbers along the last axis, and of the complex ones along the others."""

    def handler(
        context: Context, a: Any, s: Any = None, axes: Any = axes, norm: Any = None, out: Any = None
    ) -> Any:
        value = array_of(context, a)
        chosen = known_option(context, axes, "axes=")
        (*others, (size, place)) = _lengths_and_axes(context, name, value, s, chosen, known_option(context, norm, "norm="))
        if out is not None:
            count = {"s": (1,) * (len(others) + 1), "axes": (*(a for _, a in others), place)}
            _check_target(context, name, value, out, {**count, "norm": norm})
        if name.startswith("fft.i"):
            for length, axis in others:
                value = FFT["ifft"](context, value, length, axis, norm)
            value = FFT["irfft"](context, value, size, place, norm)
        else:
            value = FFT["rfft"](context, value, size, place, norm)
            for length, axis in reversed(others):
                value = FFT["fft"](context, value, length, axis, norm)
        return value if out is None else _into(context, value, out)

    handler.__doc__ = doc
    return handler


_TURNED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The scale of a transform as that of the one in the other direction."""


def hfft(context: Context, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Value:
    """The Fourier transform of numbers of which the other half is the conjugate one"""
    value = array_of(context, a)
    place, scale = known_option(context, axis, "axis="), known_option(context, norm, "norm=")
    attempt(context, np.fft.hfft, stand_in(value), 2 if n is None and dimensions(value) else n and 1, place, scale)
    out = out if _writes_halves() else None
    return FFT["irfft"](context, elementwise(context, "conjugate", value), n, place, _TURNED[scale], out)


@lru_cache
def _writes_halves() -> bool:
    """Whether ``np.fft.hfft`` writes its ``out=``, which its versions differ in."""
    out = np.full(2, np.nan)
    np.fft.hfft(np.zeros(2), out=out)
    return not np.isnan(out[0])


def ihfft(context: Context, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Value:
    """The inverse of ``hfft``"""
    value = array_of(context, a)
    place, scale = known_option(context, axis, "axis="), known_option(context, norm, "norm=")
    attempt(context, np.fft.ihfft, stand_in(value), 2 if n is None and dimensions(value) else n and 1, place, scale)
    made = elementwise(context, "conjugate", FFT["rfft"](context, value, n, place, _TURNED[scale]))
    return made if out is None else _into(context, made, out)


def _fftn(name: str, doc: str, axes: tuple[int, ...] | None) -> Callable[..., Any]:
    def handler(
        context: Context, a: Any, s: Any = None, axes: Any = axes, norm: Any = None, out: Any = None
    ) -> Any:
        value = _transformed(context, name, a)
        chosen = known_option(context, axes, "axes=")
        if out is not None and (dimensions(value) or chosen is not None):
            _check_target(context, name, value, out, {"axes": chosen, "norm": norm})
            return _into(context, handler(context, value, s, chosen, norm), out)
        half = is_array(array_of(context, a)) and element(array_of(context, a).type) is F16
        if s is not None or half:
            # The first scale is one of float16 then, and NumPy does nothing along no axes.
            as_it_is = half or (isinstance(s, (tuple, list)) and not s)
            return _of_lengths(context, name, array_of(context, a) if as_it_is else value, s, chosen, norm)
        given = tuple(range(len(dimensions(value)))) if chosen is None else attempt(context, tuple, chosen)
        if not given:
            # NumPy does nothing then.
            return array_of(context, a)
        scale = known_option(context, norm, "norm=")
        return _as_it_lies(context, value, given, lambda v, axes: call(context, name, (v,), axes=axes, norm=scale)[0])

    handler.__doc__ = doc
    return handler


FFT: dict[str, Callable[..., Any]] = {
    "fft": _fft("fft.fft", "The discrete Fourier transform along an axis"),
    "ifft": _fft("fft.ifft", "The inverse of ``fft``"),
    "rfft": _fft("fft.rfft", "The Fourier transform of real numbers"),
    "irfft": _fft("fft.irfft", "The inverse of ``rfft``"),
    "fft2": _fftn("fft.fft2", "The Fourier transform along two axes", (-2, -1)),
    "ifft2": _fftn("fft.ifft2", "The inverse of ``fft2``", (-2, -1)),
    "fftn": _fftn("fft.fftn", "The Fourier transform along several axes", None),
    "ifftn": _fftn("fft.ifftn", "The inverse of ``fftn``", None),
    "rfft2": _real_fftn("fft.rfft2", "The Fourier transform of real numbers along two axes", (-2, -1)),
    "irfft2": _real_fftn("fft.irfft2", "The inverse of ``rfft2``", (-2, -1)),
    "rfftn": _real_fftn("fft.rfftn", "The Fourier transform of real numbers along several axes", None),
    "irfftn": _real_fftn("fft.irfftn", "The inverse of ``rfftn``", None),
    "hfft": hfft,
    "ihfft": ihfft,
}
"""The functions of ``np.fft``."""


# Sorting.


def sort(
    context: Context,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = MISSING,
) -> Value:
    """Sorted along an axis; NaN come last"""
    options = _known_options(context, kind, order, stable, descending)
    value, place = _sorted_along(context, np.sort, a, axis, options)
    if options.get("descending"):
        kept = {k: v for k, v in options.items() if k != "descending"}
        return _turned(context, sort(context, _turned(context, value), place, **kept))
    # Equal integers are the same, so any sort gives this result; of short ones NumPy counts the digits only where
    # the sort is to be stable, eight times as fast.
    dtype = element(value.type)
    digits = dtype.kind in "biu" and dtype.numpy.itemsize <= 2
    # Of floats the zeros of both signs keep their order.
    steady = dtype.kind in "fc" and _is_steady(options)
    stable = True if digits or steady else None
    return _as_it_lies(context, value, (place,), lambda v, axes: call(context, "sort", (v,), axis=axes[0], stable=stable)[0])


def sort_complex(context: Context, a: Any) -> Value:
    """Sorted along the last axis, as complex numbers"""
    made = sort(context, a)
    dtype = element(made.type)
    if dtype.kind == "c":
        return made
    return laid_out_as(context, cast(context, made, C64 if dtype.kind in "iu" and dtype.bits <= 16 else C128), made, "K")


def lexsort(context: Context, keys: Any, axis: Any = -1) -> Value:
    """The positions that sort vectors together, or along an axis of each, the last one first of all"""
    place = known_option(context, axis, "axis=")
    values = _keys(context, keys)
    for value in values[1:]:
        first, other = dimensions(values[0]), dimensions(value)
        if len(first) != len(other):
            raise raised(ValueError(_SAME_KEYS), context.loc)
        for wanted, found in zip(first, other, strict=True):
            require_equal(context, wanted, found, "ValueError", _SAME_KEYS)
    attempt(context, np.lexsort, [stand_in(v) for v in values], place)
    place = operator.index(place)
    if not dimensions(values[0]):
        return context.builder.const(0, scalar(I64))
    order = argsort(context, values[0], place, stable=True)
    names = {"np": np, "place": place}
    for value in values[1:]:
        sorted_so_far = evaluated(context, "np.take_along_axis(value, order, place)", {**names, "value": value, "order": order})
        again = argsort(context, sorted_so_far, place, stable=True)
        order = evaluated(context, "np.take_along_axis(order, again, place)", {**names, "order": order, "again": again})
    return order


_SAME_KEYS = "all keys need to be the same shape"


def _keys(context: Context, keys: Any) -> list[Value]:
    """The arrays that are sorted together: members of a tuple or list, or of an array along its first axis."""
    if isinstance(keys, (tuple, list)):
        made = [array_of(context, k) for k in keys]
    else:
        value = array_of(context, keys)
        count = dimensions(value)[0] if dimensions(value) else 0
        if not isinstance(count, int):
            help = "write np.lexsort((b, a)) with the arrays themselves"
            raise UnsupportedError("np.lexsort of keys whose number is known only at run time", context.loc, help)
        made = [context.builder.emit("index", (value,), {"axis": 0, "at": row}) for row in range(count)]
    if not made:
        raise raised(TypeError("need sequence of keys with len > 0 in lexsort"), context.loc)
    return made


def argsort(
    context: Context,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = MISSING,
) -> Value:
    """The positions that sort along an axis"""
    given = array_of(context, a)
    if not dimensions(given):
        # An array without axes has one position, where `sort` refuses it.
        given = ravel(context, given)
    options = _known_options(context, kind, order, stable, descending)
    value, place = _sorted_along(context, np.argsort, given, axis, options)
    if options.get("descending"):
        value = _turned(context, value)
    return call(context, "argsort", (value,), axis=place, stable=True if _is_steady(options) else None)[0]


def _is_steady(options: dict[str, Any]) -> bool:
    """Whether equal elements keep their order."""
    return options["kind"] in ("stable", "mergesort") or bool(options["stable"])


def _known_options(context: Context, kind: Any, order: Any, stable: Any, descending: Any) -> dict[str, Any]:
    """How a function sorts; what is missing NumPy's function has not in every version."""
    given = {"kind": kind, "order": order, "stable": stable, "descending": descending}
    return {name: known_option(context, value, f"{name}=") for name, value in given.items() if value is not MISSING}


def _sorted_along(
    context: Context, function: Callable[..., Any], a: Any, axis: Any, options: dict[str, Any]
) -> tuple[Value, int]:
    """The operand and the axis; what is wrong with the arguments NumPy's function says."""
    value, axis = array_of(context, a), known_option(context, axis, "axis=")
    example = np.ones((1,) * len(dimensions(value)), element(value.type).numpy)
    attempt(context, function, example, axis, **options)
    return (ravel(context, value), 0) if axis is None else (value, operator.index(axis))


def _turned(context: Context, value: Value) -> Value:
    """Numbers in the opposite order, in which NaN come last as well, or these as they were."""
    return elementwise(context, "negative" if element(value.type).kind in "fc" else "invert", value)


def searchsorted(context: Context, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Value:
    """Where elements would be put into an array in ascending order, by halves"""
    side = known_option(context, side, "side=")
    array, values = array_of(context, a), array_of(context, v) if isinstance(v, (list, tuple)) else as_strong(context, v)
    # NumPy's error of an array that is no vector.
    attempt(context, np.searchsorted, np.ones((1,) * len(dimensions(array))), 1.0, side)
    if sorter is not None:
        array = _in_order(context, array, array_of(context, sorter))
    common = promote.result_dtype((element(array.type), element(values.type)))
    if common.kind == "c":
        raise UnsupportedError("searchsorted of complex numbers is not compiled", context.loc, "search the real parts")
    return search(context, cast(context, array, common), cast(context, values, common), side in ("right", "r", "R"))


def _in_order(context: Context, array: Value, sorter: Value) -> Value:
    """The elements of a vector in the order of positions that ``np.argsort`` gives."""
    example = np.zeros((1,) * len(dimensions(sorter)), element(sorter.type).numpy)
    attempt(context, np.searchsorted, np.ones(1), 1.0, sorter=example)
    size = dimensions(array)[0]
    require_equal(context, dimensions(sorter)[0], size, "ValueError", "sorter.size must equal a.size")
    order = cast(context, sorter, I64)
    inside = elementwise(context, "greater_equal", order, 0)
    inside = elementwise(context, "bitwise_and", inside, elementwise(context, "less", order, length(context, size)))
    order = require(context, order, inside, "ValueError", "Sorter index out of range.")
    return context.builder.emit("gather", (array, order), {"axes": (0,), "at": 0})


def search(context: Context, array: Value, values: Value, right: bool) -> Value:
    """How many elements of a sorted vector are before each value; both have one dtype."""
    builder = context.builder
    plain = array in builder.arguments and array.inst is None and builder.contents(array) is array
    whole = array.inst is not None and array.inst.op.name in ("library", "keep")
    stored = array if plain or whole else builder.emit("keep", (array,), name=array.name)
    made = builder.emit("search", (stored, values), {"right": True} if right else {})
    return row_major(context, made) if len(dimensions(made)) > 1 else made


def sort_in_place(
    context: Context,
    value: Value,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = MISSING,
) -> None:
    """``x.sort()``."""
    if not is_array(value):
        raise UnsupportedError("sort() of a NumPy scalar", context.loc, "leave it out")
    # An axis is named here.
    attempt(context, operator.index, known_option(context, axis, "axis="))
    note_write(context, value, "sort array")
    assign_elements(context, value, sort(context, value, axis, kind, order, stable=stable, descending=descending))


METHODS: dict[str, Handler] = {"sort": sort_in_place, "argsort": argsort, "searchsorted": searchsorted}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sort": sort,
    "sort_complex": sort_complex,
    "argsort": argsort,
    "lexsort": lexsort,
    "searchsorted": searchsorted,
    **{f"linalg.{name}": LINALG[name] for name in ("solve", "inv", "det", "slogdet")},
    **{f"fft.{name}": handler for name, handler in FFT.items()},
}
"""By NumPy's name; parameters are called as NumPy calls them."""

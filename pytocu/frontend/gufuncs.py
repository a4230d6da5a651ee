"""NumPy's ufuncs of vectors and matrices: ``matmul``, ``vecdot``, ``matvec`` and ``vecmat``, with the arguments of ufuncs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.inplace import OUTPUT, check_output_shapes, note_write, out_arrays
from pytocu.frontend.matrix_products import NO_REDUCTION, matrix_product
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.products import summed_products
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.requirements import REMAPPED, require_equal
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import checked_keywords, loop_named
from pytocu.frontend.values import Context, as_strong, cast, dimensions, is_array
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import element

_SIGNATURES = {
    "matmul": "(n?,k),(k,m?)->(n?,m?)",
    "vecdot": "(n),(n)->()",
    "matvec": "(m,n),(n)->(m)",
    "vecmat": "(n),(n,m)->(m)",
}


def _conjugate(context: Context, value: Value) -> Value:
    return elementwise(context, "conjugate", value) if element(value.type).kind == "c" else value


def _vecdot(context: Context, a: Value, b: Value) -> Value:
    ndim = max(len(dimensions(a)), len(dimensions(b)))
    return summed_products(context, _conjugate(context, a), b, ndim - 1)


def _matvec(context: Context, a: Value, b: Value) -> Value:
    if len(dimensions(b)) == 1:
        return matrix_product(context, a, b)
    column = context.builder.emit("newaxis", (b,), {"axis": len(dimensions(b))})
    made = matrix_product(context, a, column)
    return context.builder.emit("index", (made,), {"axis": len(dimensions(made)) - 1, "at": 0})


def _vecmat(context: Context, a: Value, b: Value) -> Value:
    a = _conjugate(context, a)
    if len(dimensions(a)) == 1:
        return matrix_product(context, a, b)
    row = context.builder.emit("newaxis", (a,), {"axis": len(dimensions(a)) - 1})
    made = matrix_product(context, row, b)
    return context.builder.emit("index", (made,), {"axis": len(dimensions(made)) - 2, "at": 0})


def _cores(name: str, a: Value, b: Value) -> tuple[int, int, int]:
    """How many of the last axes of the operands, and of the result, are those of one vector or matrix."""
    first, second = len(dimensions(a)), len(dimensions(b))
    if name == "matmul":
        return min(first, 2), min(second, 2), (first > 1) + (second > 1)
    return {"vecdot": (1, 1, 0), "matvec": (2, 1, 1), "vecmat": (1, 2, 1)}[name]


def _gufunc(name: str, compute: Callable[[Context, Value, Value], Value], doc: str) -> Handler:
    def handler(
        context: Context,
        x1: Any,
        x2: Any,
        /,
        out: Any = None,
        *,
        axes: Any = MISSING,
        axis: Any = MISSING,
        keepdims: Any = MISSING,
        casting: Any = "same_kind",
        order: Any = "K",
        dtype: Any = None,
        subok: Any = True,
        signature: Any = MISSING,
        sig: Any = MISSING,
    ) -> Any:
        given = {"axes": axes, "axis": axis, "keepdims": keepdims, "signature": signature, "sig": sig}
        given = {k: known_option(context, v, f"{k}=") for k, v in given.items() if v is not MISSING}
        kinds = {k: given[k] for k in ("signature", "sig") if k in given}
        stated = checked_keywords(context, name, {"order": order, "subok": subok, "casting": casting, **kinds})
        if (asked := stated["order"]) != "K":
            text = f"np.{name} with the argument order={asked!r} is not supported"
            help = "leave it out" if asked == "A" else f"arrange the result with np.copy(result, order={asked!r})"
            raise UnsupportedError(text, context.loc, help)
        loop = loop_named(context, name, {"dtype": dtype, **kinds})
        a, b = as_strong(context, x1), as_strong(context, x2)
        as_array = out is Ellipsis
        (target,) = out_arrays(context, None if as_array else out, 1)
        # NumPy says what is wrong with arguments but for the lengths of axes.
        chosen = {k: v for k, v in given.items() if k not in kinds}
        example = None if target is None else stand_in(target)
        ufunc = promote.numpy_function(name)
        chosen_loop = (None,) * (ufunc.nin + ufunc.nout) if loop is None else loop
        attempt(context, ufunc, stand_in(a), stand_in(b), out=example, casting=casting, signature=chosen_loop, **chosen)
        if name == "matmul" and target is not None and not dimensions(target) and len(dimensions(b)) > 1:
            # NumPy takes the second matrix for vectors then.
            text = "np.matmul with a matrix and an out= without axes is not supported"
            raise UnsupportedError(text, context.loc, "give out= as many axes as the result has")
        made, places = _product(context, name, compute, (a, b), loop, casting, chosen, target)
        if target is not None:
            return _written(context, name, made, places, target)
        return context.builder.emit("as_array", (made,)) if as_array and not is_array(made) else made

    handler.__doc__ = doc
    return handler


def _product(
    context: Context,
    name: str,
    compute: Callable[[Context, Value, Value], Value],
    operands: tuple[Value, Value],
    loop: Any,
    casting: str,
    chosen: dict[str, Any],
    target: Value | None,
) -> tuple[Value, tuple[int, ...]]:
    """The result, and which of its axes are those of one vector or matrix."""
    dtypes = tuple(element(v.type) for v in operands)
    inputs, _ = attempt(context, promote.ufunc_loop, name, dtypes, loop, casting)
    cores = _cores(name, *operands)
    axes = _known_axes(chosen, cores)
    a, b = (cast(context, _moved(context, v, place), d) for v, place, d in zip(operands, axes, inputs, strict=False))
    shape = dimensions(b)
    at = len(shape) - 2 if name in ("matmul", "vecmat") and len(shape) > 1 else len(shape) - 1
    sentence = f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {_SIGNATURES[name]} "
    sentence += "(size {1} is different from {0})"
    require_equal(context, dimensions(a)[len(dimensions(a)) - 1], shape[at], "ValueError", sentence, operands=operands)
    _check_stacks(context, name, (a, b), operands, target, bool(chosen.get("keepdims")))
    made = compute(context, a, b)
    ndim = len(dimensions(made))
    if chosen.get("keepdims"):
        where = axes[2] if len(axes) > 2 else (chosen.get("axis", -1),)
        place = operator.index(where[0]) % (ndim + 1)
        return context.builder.emit("newaxis", (made,), {"axis": place}), ()
    last = tuple(range(ndim - cores[2], ndim))
    if len(axes) < 3 or not last:
        return made, last
    return moveaxis(context, made, last, axes[2]), tuple(place % ndim for place in axes[2])


def _check_stacks(
    context: Context, name: str, moved: Sequence[Value], operands: Sequence[Value], target: Value | None, keepdims: bool
) -> None:
    """State that the axes in front of those of one vector or matrix broadcast: `moved` are the operands with these behind."""
    first, second, _ = _cores(name, *operands)
    stacks = [dimensions(v)[: len(dimensions(v)) - n] for v, n in zip(moved, (first, second), strict=True)]
    if not all(stacks):
        return
    made = [*dimensions(moved[0])[-2:][: first - 1], *dimensions(moved[1])[-1:][: second - 1]]
    kept = [1] if keepdims else made
    ndim = max(map(len, stacks)) + len(kept)
    shown: list[DimLike] = []

    def text(shape: Sequence[DimLike | None], comma: bool) -> str:
        parts = []
        for length in shape:
            parts.append("newaxis" if length is None else f"{{{2 + len(shown)}}}")
            shown.extend(() if length is None else (length,))
        return f"({','.join(parts)}{',' * comma})"

    words = []
    for operand, stack in zip(operands, stacks, strict=True):
        own = dimensions(operand)
        words.append(f"{text(own, len(own) == 1)}->{text((*stack, *(None for _ in kept)), ndim == 1)}")
    if target is not None:
        own = dimensions(target)
        words.append(f"{text(own, len(own) == 1)}->{text(own, ndim == 1)}")
    sentence = f"{REMAPPED}{' '.join(words)}  and requested shape {text(kept, ndim == 1 and bool(kept))}"
    for length, other in zip(reversed(stacks[0]), reversed(stacks[1]), strict=False):
        if 1 not in (length, other):
            require_equal(context, length, other, "ValueError", sentence, *shown, either=True, operands=operands)


def _known_axes(chosen: dict[str, Any], cores: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """The axes of one vector or matrix in each operand, and in the result where they are named."""
    if "axis" in chosen:
        return [(operator.index(chosen["axis"]),)] * 2
    if "axes" not in chosen:
        return [tuple(range(-n, 0)) for n in cores[:2]]
    return [tuple(a) if isinstance(a, (tuple, list)) else (operator.index(a),) for a in chosen["axes"]]


def _moved(context: Context, value: Value, axes: Sequence[int]) -> Value:
    """The axes moved to the end."""
    last = tuple(range(-len(axes), 0))
    ndim = len(dimensions(value))
    return value if [a % ndim for a in axes] == [a % ndim for a in last] else moveaxis(context, value, tuple(axes), last)


def _written(context: Context, name: str, made: Value, places: tuple[int, ...], target: Value) -> Value:
    """The result in an array, where it is repeated along further axes in front; axes that the array lacks have length 1."""
    shape, wanted = dimensions(made), dimensions(target)
    note_write(context, target, OUTPUT)
    more = len(wanted) - len(shape)
    lacking = max(-more, 0)
    if more and places != tuple(range(len(shape) - len(places), len(shape))):
        text = f"np.{name} with axes= and an out= of {'more' if more > 0 else 'fewer'} axes is not supported"
        help = "give out= as many axes as the result has"
        if more > 0:
            raise UnsupportedError(text, context.loc, help)
        for length in [d for p, d in enumerate(shape) if p not in places][:lacking]:
            # NumPy has an answer where it is 1.
            require_equal(context, length, 1, "ValueError", NO_REDUCTION.format(-1))
            require_equal(context, length, 0, "UnsupportedError", text, help=help)
        return target
    leading, shape = shape[:lacking], shape[lacking:]
    places = tuple(p - lacking for p in places if p >= lacking)
    more = max(more, 0)
    for number, place in enumerate(places):
        sentence = f"{name}: Output operand 0 has a mismatch in its core dimension {number}, with gufunc signature "
        sentence += f"{_SIGNATURES[name]} (size {{1}} is different from {{0}})"
        require_equal(context, shape[place], wanted[place + more], "ValueError", sentence)
    for length in leading:
        require_equal(context, length, 1, "ValueError", NO_REDUCTION.format(-1))
        made = context.builder.emit("index", (made,), {"axis": 0, "at": 0})
    loops = tuple(d for p, d in enumerate(shape) if p not in places)
    around = tuple(d for p, d in enumerate(wanted) if p - more not in places)
    check_output_shapes(context, [loops], [around], [])
    context.builder.update(target, cast(context, made, element(target.type)))
    return target


matmul = _gufunc("matmul", matrix_product, "The product of two matrices, or stacks of them, or of a matrix and a vector")
vecdot = _gufunc("vecdot", _vecdot, "The sums of products along an axis, the first array conjugated")


def _matmul(context: Context, x1: Any, x2: Any, /) -> Any:
    """The array API's name of ``np.matmul``"""
    return matmul(context, x1, x2)


def _linalg_vecdot(context: Context, x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """The array API's name of ``np.vecdot``"""
    return vecdot(context, x1, x2, axis=axis)


FUNCTIONS: dict[str, Handler] = {
    "matmul": matmul,
    "vecdot": vecdot,
    "matvec": _gufunc("matvec", _matvec, "The products of matrices and vectors"),
    "vecmat": _gufunc("vecmat", _vecmat, "The products of vectors, conjugated, and matrices"),
    "linalg.matmul": _matmul,
    "linalg.vecdot": _linalg_vecdot,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

"""Products of matrices: ``@``, ``matmul``, ``dot``, ``inner``, ``outer``, ``tensordot``, ``einsum``.

A product of two matrices of float32, float64 or complex numbers is a library call; the pass `products` makes
a sum of products of it where the matrices are small.  Every other product is a sum of products, computed in
the kernels around it: with vectors it reads a matrix once, and libraries have no products of integers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import library_calls, products
from pytocu.frontend.attributes import target_dtype, transpose
from pytocu.frontend.creation import eye
from pytocu.frontend.indexing import subscript
from pytocu.frontend.inplace import OUTPUT, note_write, out_array
from pytocu.frontend.layouts import example_ranks, laid_out, order_of, row_major, unknown
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.products import summed_products
from pytocu.frontend.reductions import combined, stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import broadcast, copied, diagonal, is_dense, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import compute_ufunc, without_axes
from pytocu.frontend.values import Context, as_strong, cast, contains_dynamic, dim_value, dimensions, is_array
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, at_most_one, product
from pytocu.ir.layouts import product_ranks, summed_ranks
from pytocu.ir.types import F16, F32, element


def matrix_product(context: Context, a: Value, b: Value) -> Value:
    """``a @ b`` of arrays whose lengths fit."""
    made = _product(context, a, b)
    return laid_out(context, made, (a, b), partial(product_ranks, a, b, dimensions(made)))


def _product(context: Context, a: Value, b: Value) -> Value:
    dtype = promote.result_dtype((element(a.type), element(b.type)))
    vectors = len(dimensions(a)) == 1, len(dimensions(b)) == 1
    if len(dimensions(a)) == len(dimensions(b)) == 2 and 1 in (dimensions(a)[0], *dimensions(b)):
        return _of_one_row(context, a, b)
    if not any(vectors) and dtype.kind in "fc" and dtype.bits > 16:
        return library_calls.call(context, "matmul", (cast(context, a, dtype), cast(context, b, dtype)))[0]
    left = a if vectors[0] else context.builder.emit("newaxis", (a,), {"axis": len(dimensions(a))})
    if vectors[0] and not vectors[1]:
        left = context.builder.emit("newaxis", (a,), {"axis": 1})
    elif vectors[1]:
        left = a
    right = b if any(vectors) else context.builder.emit("newaxis", (b,), {"axis": len(dimensions(b)) - 2})
    ndim = max(len(dimensions(left)), len(dimensions(right)))
    return summed_products(context, left, right, ndim - 1 if vectors[1] else ndim - 2)


def _of_one_row(context: Context, a: Value, b: Value) -> Value:
    """A product that has one column, one row, or one addend: a product with a vector, or an outer one."""
    if dimensions(b)[1] == 1:
        made = matrix_product(context, a, subscript(context, b, (slice(None), 0)))
        return context.builder.emit("newaxis", (made,), {"axis": 1})
    if dimensions(a)[0] == 1:
        made = matrix_product(context, subscript(context, a, 0), b)
        return context.builder.emit("newaxis", (made,), {"axis": 0})
    return elementwise(context, "multiply", a, b)


def dot(context: Context, a: Any, b: Any, out: Any = None) -> Any:
    """The sum over the last axis of a and the last but one of b; a product where one is a number"""
    if out is not None:
        return write_product(context, np.dot, _operands(context, np.dot, a, b), dot(context, a, b), out)
    first, second = _operands(context, np.dot, a, b)
    ranks = len(dimensions(first)), len(dimensions(second))
    if min(ranks) == 0 or ranks == (1, 1):
        return products.dot(context, first, second)
    attempt(context, np.dot, stand_in(first), stand_in(second))
    place = max(ranks[1] - 2, 0)
    _check_aligned(context, first, second, ranks[0] - 1, place)
    if ranks[1] == 1 or max(ranks) <= 2:
        return row_major(context, _product(context, first, second))
    return _contracted(context, first, second, (ranks[0] - 1,), (place,))


def _operands(context: Context, function: Callable[..., Any], a: Any, b: Any) -> tuple[Value, Value]:
    """Both as arrays or NumPy scalars; a list without numbers gets a dtype from the other one, as NumPy's versions do it."""
    values = [as_strong(context, v) for v in (a, b)]
    empty = [_has_no_number(v) for v in (a, b)]
    if empty[0] is not empty[1]:
        place = empty.index(True)
        examples: list[Any] = [np.zeros(0, element(v.type).numpy) for v in values]
        examples[place] = []
        dtype = promote.known_dtype(function(*examples).dtype, f"np.{function.__name__}")
        values[place] = cast(context, values[place], dtype)
    return values[0], values[1]


def _has_no_number(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_has_no_number, value))


def write_product(context: Context, function: Callable[..., Any], operands: Any, made: Value, out: Any) -> Value:
    """The result of ``np.dot`` in an array that has its dtype and its shape, and lies in row-major order.

    Raises
    ------
    CompileError
        It has not.
    """
    if not is_array(out):
        raise raised(TypeError("'out' must be an array"), context.loc)
    examples = [stand_in(o) for o in operands]
    attempt(context, function, *([examples] if function is np.linalg.multi_dot else examples), out=stand_in(out))
    if not is_dense(context, out):
        text = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        raise raised(ValueError(text), context.loc, "leave out= away, and assign the result: out[...] = ...")
    note_write(context, out, OUTPUT)
    for wanted, given in zip(dimensions(made), dimensions(out), strict=True):
        require_equal(context, wanted, given, "ValueError", "output array has wrong dimensions")
    context.builder.update(out, made)
    # The number itself in place of an array without axes.
    return out if dimensions(out) else made


def _check_aligned(context: Context, a: Value, b: Value, first: int, second: int, turned: bool = False) -> None:
    """Compare two lengths; where b is `turned`, NumPy shows it with its last two axes exchanged, and counts them so."""
    shapes = dimensions(a), dimensions(b)
    if turned and len(shapes[1]) > 1:
        shapes, second = (shapes[0], (*shapes[1][:-2], *shapes[1][:-3:-1])), second - 1
    count = len(shapes[0])
    listed = ["(" + ",".join(f"{{{2 + start + k}}}" for k in range(len(s))) + ("," if len(s) == 1 else "") + ")"
              for start, s in ((0, shapes[0]), (count, shapes[1]))]  # fmt: skip
    sentence = f"shapes {listed[0]} and {listed[1]} not aligned: {{0}} (dim {first}) != {{1}} (dim {second})"
    lengths = shapes[0][first], shapes[1][second]
    require_equal(context, *lengths, "ValueError", sentence, *shapes[0], *shapes[1], operands=(a, b))


def inner(context: Context, a: Any, b: Any, /) -> Any:
    """The sum over the last axes of both; a product where one is a number"""
    first, second = _operands(context, np.inner, a, b)
    ranks = len(dimensions(first)), len(dimensions(second))
    if min(ranks) == 0 or ranks == (1, 1):
        return products.inner(context, first, second)
    _check_aligned(context, first, second, ranks[0] - 1, ranks[1] - 1, True)
    return _contracted(context, first, second, (ranks[0] - 1,), (ranks[1] - 1,))


def outer(context: Context, a: Any, b: Any, out: Any = None) -> Any:
    """All products of an element of a and one of b"""
    first, second = (ravel(context, library_calls.array_of(context, v)) for v in (a, b))
    column = context.builder.emit("newaxis", (first,), {"axis": 1})
    row = context.builder.emit("newaxis", (second,), {"axis": 0})
    return compute_ufunc(context, "multiply", (column, row), {"out": out_array(context, out)[0]})


def _outer(context: Context, x1: Any, x2: Any, /) -> Any:
    first, second = (library_calls.array_of(context, v) for v in (x1, x2))
    attempt(context, np.linalg.outer, stand_in(first), stand_in(second))
    return outer(context, first, second)


def tensordot(context: Context, a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products along axes of both"""
    first, second = (library_calls.array_of(context, v) for v in (a, b))
    axes = library_calls.known_option(context, axes, "axes=")
    if isinstance(axes, int):
        # More axes than an array has are one mistake, and NumPy would list them all.
        axes = min(axes, 65)
    _compare_before(context, first, second, axes)
    attempt(context, np.tensordot, stand_in(first), stand_in(second), axes)
    ranks = len(dimensions(first)), len(dimensions(second))
    if not isinstance(axes, (int, np.integer)):
        left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    else:
        left, right = tuple(range(ranks[0] - axes, ranks[0])), tuple(range(axes))
    left, right = (tuple(x % n for x in places) for places, n in zip((left, right), ranks, strict=True))
    for x, y in zip(left, right, strict=True):
        lengths = dimensions(first)[x], dimensions(second)[y]
        require_equal(context, *lengths, "ValueError", "shape-mismatch for sum", operands=(first, second))
    return _contracted(context, first, second, left, right)


def _compare_before(context: Context, first: Value, second: Value, axes: Any) -> None:
    """State what NumPy compares before it comes to an axis that an array does not have."""
    sides = (range(-axes, 0), range(axes)) if isinstance(axes, int) else axes
    if not isinstance(sides, (tuple, list)) or len(sides) != 2:
        return
    left, right = (list(s) if isinstance(s, (tuple, list, range)) else [s] for s in sides)
    if len(left) != len(right) or not all(type(x) is int for x in left + right):
        return
    if len({*left}) != len(left) or len({*right}) != len(right):
        return
    shapes = dimensions(first), dimensions(second)
    pairs = [*zip(left, right, strict=True)]
    there = [all(-len(shape) <= x < len(shape) for x, shape in zip(pair, shapes, strict=True)) for pair in pairs]
    for x, y in pairs[: there.index(False)] if False in there else ():
        lengths = shapes[0][x], shapes[1][y]
        require_equal(context, *lengths, "ValueError", "shape-mismatch for sum", operands=(first, second))


def _tensordot(context: Context, x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return tensordot(context, x1, x2, axes)


def _contracted(context: Context, a: Value, b: Value, left: Sequence[int], right: Sequence[int]) -> Value:
    """The sum of products along axes, by a product of two matrices."""
    free = [[n for n in range(len(dimensions(v))) if n not in used] for v, used in ((a, left), (b, right))]
    shapes = [tuple(dimensions(v)[n] for n in f) for v, f in zip((a, b), free, strict=True)]
    summed = tuple(dimensions(a)[n] for n in left)
    rows = _merged(context, transpose(context, a, (*free[0], *left)), (product(shapes[0]), product(summed)))
    columns = _merged(context, transpose(context, b, (*right, *free[1])), (product(summed), product(shapes[1])))
    made = row_major(context, _product(context, rows, columns))
    return _merged(context, made, (*shapes[0], *shapes[1]))


def _merged(context: Context, value: Value, shape: tuple[DimLike, ...]) -> Value:
    source = dimensions(value)
    if source == shape:
        return value
    return context.builder.emit("reshape", (value,), {"shape": shape, "source": source})


def vdot(context: Context, a: Any, b: Any, /) -> Any:
    """The sum of products of all elements, those of the first array conjugated"""
    values = [library_calls.array_of(context, v) for v in _operands(context, np.vdot, a, b)]
    if any(map(dimensions, values)):
        values = [ravel(context, v) for v in values]
    return products.vdot(context, *values)


# Einstein's sums.


def einsum(
    context: Context,
    subscripts: Any,
    /,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = MISSING,
    **kwargs: Any,
) -> Any:
    """Sums of products of arrays along letters, or along numbers of axes; several are multiplied one after the other"""
    if not isinstance(subscripts, str):
        subscripts, operands = _with_letters(context, (subscripts, *operands))
    values = [library_calls.array_of(context, o) for o in operands]
    options: dict[str, Any] = {"optimize": known_option(context, optimize, "optimize="), "order": order}
    # Each way to optimize has its own rule where none is named.
    options |= {} if casting is MISSING else {"casting": known_option(context, casting, "casting=")}
    options |= kwargs if dtype is None else {**kwargs, "dtype": target_dtype(context, dtype).numpy}
    if out is not None and not is_array(out):
        raise raised(TypeError("keyword parameter out must be an array for einsum"), context.loc)
    # Axes of length 1 NumPy may take for repeated ones.
    examples = [np.ones((2,) * len(dimensions(v)), element(v.type).numpy) for v in (*values, *([] if out is None else [out]))]
    target = None if out is None else examples.pop()
    made = attempt(context, np.einsum, subscripts, *examples, out=target, **options)
    if order not in ("K", "C", "A"):
        text = f"np.einsum with the argument order={order!r} is not supported"
        raise UnsupportedError(text, context.loc, "arrays are made in row-major order")
    letters, output = _letters(subscripts.replace(" ", ""), [len(dimensions(v)) for v in values])
    # None is a way to optimize as well: NumPy looks at lengths first, and multiplies two matrices as such.
    optimizes = options["optimize"] is not False
    if out is not None:
        # Without a way to optimize, the array decides with the operands in which dtype NumPy adds up.
        deciding = values if optimizes else [*values, out]
        made = np.result_type(*(element(v.type).numpy for v in deciding)) if dtype is None else options["dtype"]
    dtype = promote.known_dtype(made if out is not None else np.asarray(made).dtype, "np.einsum")
    given = values, letters
    values = [cast(context, v, dtype) for v in values]
    lengths = _lengths(context, values, letters, output, optimizes)
    # Of others the call raises.
    are_square = all(at_most_one(dimensions(v)[own.index(x)]) == at_most_one(n) for v, own in zip(values, letters, strict=True)
                     for x, n in zip(own, dimensions(v), strict=True))  # fmt: skip
    pairs = [_not_repeated(context, v, own, lengths) for v, own in zip(values, letters, strict=True)]
    values, letters = [v for v, _ in pairs], [own for _, own in pairs]
    if out is not None:
        note_write(context, out, "operand array with iterator write flag set")
        for letter, length in zip(output, dimensions(out), strict=True):
            if lengths[letter] == 1:
                # It is repeated.
                continue
            shown, sentence = _remapped([*given[1], output], output, [dimensions(v) for v in (*given[0], out)])
            if length == 1:
                shown, sentence = [lengths[letter]], NO_REDUCTION.format(output.index(letter))
            require_equal(context, lengths[letter], length, "ValueError", sentence, *shown, operands=values)
        made = _summed_over_letters(context, values, letters, output, dtype is F16)
        made = cast(context, made, element(out.type))
        context.builder.update(out, broadcast(context, made, dimensions(out)) if dimensions(out) else made)
        return out
    found = _summed_over_letters(context, values, letters, output, dtype is F16)
    is_made = is_array(found) and found.inst is not None and found.inst.op.kind != "view"
    if is_array(found) and optimizes and order == "K" and len(values) > 1:
        example = partial(np.einsum, subscripts, optimize=options["optimize"])
        # Of three arrays lengths decide which two are multiplied first, unless nothing is added up: nothing is known then.
        once = len(values) == 2 or set(output) == set("".join(letters))
        rule = partial(example_ranks, example, given[0], dimensions(found)) if once and are_square else lambda known: None
        if not is_made and order_of(context, found)[0] != rule({a: order_of(context, a)[0] for a in given[0]}):
            found = copied(context, found)
        laid_out(context, found, given[0], rule)
    elif is_made:
        if optimizes or order == "A":
            unknown(context, found)
        elif order == "C":
            row_major(context, found)
        else:
            laid_out(context, found, given[0], partial(summed_ranks, *given, output, dimensions(found)))
    if is_array(found) and not isinstance(made, np.ndarray):
        return subscript(context, found, ())
    # By some ways to optimize NumPy makes an array without axes.
    return context.builder.emit("as_array", (found,)) if isinstance(made, np.ndarray) and not is_array(found) else found


def _lengths(
    context: Context, values: Sequence[Value], letters: Sequence[str], output: str, optimizes: bool
) -> dict[str, DimLike]:
    """The length of each letter, which all operands have; one that is 1 is repeated."""
    lengths: dict[str, DimLike] = {}
    for number, (own, value) in enumerate(zip(letters, values, strict=True)):
        if not optimizes:
            _check_diagonals(context, value, own, number if len(values) > 1 or set(own) != set(output) else None)
        for letter, length in zip(own, dimensions(value), strict=True):
            known = lengths.setdefault(letter, length)
            if known == 1:
                lengths[letter] = length
            elif length not in (1, known):
                shown, sentence = _remapped(letters, output, [dimensions(v) for v in values])
                if optimizes:
                    shown = []
                    sentence = f"Size of label '{letter}' for operand {number} ({{0}}) does not match previous terms ({{1}})."
                require_equal(context, known, length, "ValueError", sentence, *shown, either=True, operands=values)
    for number, (own, value) in enumerate(zip(letters, values, strict=True)):
        if optimizes:
            # Of several NumPy takes the diagonals of each alone.
            _check_diagonals(context, value, own, number if len(values) == 1 and set(own) != set(output) else None)
    return lengths


def _check_diagonals(context: Context, value: Value, letters: str, number: int | None) -> None:
    """Let the call compare lengths of one letter, which repeats no axis where it stands twice with one array."""
    which = "single operand" if number is None else f"operand {number}"
    for letter, length in zip(letters, dimensions(value), strict=True):
        sentence = f"dimensions in {which} for collapsing index '{letter}' don't match ({{0}} != {{1}})"
        require_equal(context, dimensions(value)[letters.index(letter)], length, "ValueError", sentence, operands=(value,))


NO_REDUCTION = (
    "output operand requires a reduction along dimension {}, but the reduction is not enabled. "
    "The dimension size of 1 does not match the expected output shape."
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _with_letters(context: Context, given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Arrays that are followed by the numbers of their axes, as letters and arrays."""
    count = len(given) // 2
    lists = [*given[1 : 2 * count : 2], *given[2 * count :]]
    for numbers in lists:
        if contains_dynamic(numbers) or not isinstance(numbers, (tuple, list)):
            help = 'write np.einsum("ij,jk->ik", a, b)'
            raise UnsupportedError("np.einsum takes its letters as a string", context.loc, help)
    # NumPy says what is wrong with numbers; of one letter there are as many axes as lists have.
    arrays = [library_calls.array_of(context, a) for a in given[: 2 * count : 2]]
    examples = [np.ones((2,) * len(dimensions(a))) for a in arrays]
    asked = [x for pair in zip(examples, lists, strict=False) for x in pair]
    attempt(context, np.einsum, *asked, *lists[count:])
    texts = ["".join("..." if n is Ellipsis else _LETTERS[operator.index(n)] for n in numbers) for numbers in lists]
    return ",".join(texts[:count]) + "".join(f"->{text}" for text in texts[count:]), tuple(arrays)


def _letters(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; axes that three dots stand for have letters of their own."""
    inputs, arrow, output = subscripts.partition("->")
    letters = inputs.split(",")
    covered = [rank - len(own.replace("...", "")) for own, rank in zip(letters, ranks, strict=True)]
    most = max([n for own, n in zip(letters, covered, strict=True) if "..." in own], default=0)
    spare = [x for x in reversed(_LETTERS) if x not in subscripts][:most]
    dots = "".join(spare)
    letters = [own.replace("...", dots[most - n :]) for own, n in zip(letters, covered, strict=True)]
    if arrow:
        return letters, output.replace("...", dots)
    every = "".join(letters)
    return letters, dots + "".join(sorted(x for x in set(every) if every.count(x) == 1 and x not in dots))


def _not_repeated(context: Context, value: Value, letters: str, lengths: dict[str, DimLike]) -> tuple[Value, str]:
    """Without the axes of length 1 that are repeated along the axes of others."""
    for axis in reversed(range(len(letters))):
        letter = letters[axis]
        if dimensions(value)[axis] == 1 and lengths[letter] != 1 and letters.count(letter) == 1:
            value = context.builder.emit("index", (value,), {"axis": axis, "at": 0, "keep": True})
            letters = letters[:axis] + letters[axis + 1 :]
    return value, letters


def _several(context: Context, pairs: Sequence[tuple[Value, str]], output: str, half: bool) -> Value:
    """Products of the first operand with one that shares a letter, and so on; float16 is rounded at the end."""
    rest = [(cast(context, v, F32), own) if half else (v, own) for v, own in pairs]
    first = rest.pop(0)
    while rest:
        at = next((n for n, (_, own) in enumerate(rest) if set(own) & set(first[1])), 0)
        other = rest.pop(at)
        needed = set(output).union(*(own for _, own in rest))
        kept = output if not rest else "".join(x for x in dict.fromkeys(first[1] + other[1]) if x in needed)
        first = library_calls.array_of(context, _two(context, first, other, kept, False)), kept
    made = without_axes(context, first[0])
    return cast(context, made, F16) if half else made


def _summed_over_letters(
    context: Context, values: Sequence[Value], letters: Sequence[str], output: str, half: bool
) -> Value:
    pairs = [_alone(context, v, own) for v, own in zip(values, letters, strict=True)]
    if len(pairs) > 2:
        return _several(context, pairs, output, half)
    if len(pairs) == 2:
        return _two(context, pairs[0], pairs[1], output, half)
    value, own = pairs[0]
    if len(own) == len(output) and is_array(value):
        # Nothing is added up: a view.
        return transpose(context, value, tuple(own.index(x) for x in output))
    return _ordered(context, _summed(context, value, own, output), [x for x in own if x in output], output)


def _alone(context: Context, value: Value, letters: str) -> tuple[Value, str]:
    """Each letter once: one that stands twice is a diagonal."""
    while any(letters.count(x) > 1 for x in letters):
        letter = next(x for x in letters if letters.count(x) > 1)
        first = letters.index(letter)
        second = letters.index(letter, first + 1)
        value = diagonal(context, value, 0, first, second, writable=True)
        letters = "".join(x for n, x in enumerate(letters) if n not in (first, second)) + letter
    return value, letters


def _summed(context: Context, value: Value, letters: str, output: str) -> Value:
    """The sum along letters that do not stand in the output, in the value's dtype."""
    axes = tuple(n for n, x in enumerate(letters) if x not in output)
    if not axes:
        return value
    dtype = element(value.type)
    wide = cast(context, value, F32 if dtype is F16 else dtype)
    return cast(context, combined(context, "add", (wide,), axes, False)[0], dtype)


def _ordered(context: Context, value: Value, letters: Sequence[str], output: str) -> Value:
    if not is_array(value) or "".join(letters) == output:
        return value if value.inst is None or value.inst.op.kind != "view" else context.builder.emit("copy", (value,))
    return context.builder.emit("copy", (transpose(context, value, tuple(letters.index(x) for x in output)),))


def _two(context: Context, first: tuple[Value, str], second: tuple[Value, str], output: str, half: bool) -> Value:
    (a, left), (b, right) = first, second
    # What only one operand has and the output has not is summed before.
    kept = {x for x in left + right if x in output or (x in left and x in right)}
    a, b = _summed(context, a, left, "".join(kept)), _summed(context, b, right, "".join(kept))
    left, right = ("".join(x for x in own if x in kept) for own in (left, right))
    both = [x for x in left if x in right]
    batch = [x for x in both if x in output]
    summed = [x for x in both if x not in output]
    rows, columns = [x for x in left if x not in right], [x for x in right if x not in left]
    if summed and rows and columns and not half:
        return _by_matrices(context, (a, left), (b, right), (batch, rows, columns, summed), output)
    order = [*batch, *rows, *columns, *summed]
    wide = [_with_axes(context, v, own, order) for v, own in ((a, left), (b, right))]
    if not summed:
        made = elementwise(context, "multiply", *wide)
    else:
        dtype = element(wide[0].type)
        kept_dtype = F32 if half else dtype
        terms = elementwise(context, "multiply", *(cast(context, w, kept_dtype) for w in wide))
        axes = tuple(range(len(order) - len(summed), len(order)))
        made = cast(context, combined(context, "add", (terms,), axes, False)[0], dtype)
    return _ordered(context, made, order[: len(order) - len(summed)], output)


def _with_axes(context: Context, value: Value, letters: str, order: Sequence[str]) -> Value:
    """The axes in an order, with new ones for letters the value has not."""
    own = [x for x in order if x in letters]
    value = transpose(context, value, tuple(letters.index(x) for x in own)) if own else value
    for place, letter in enumerate(order):
        if letter not in letters:
            value = context.builder.emit("newaxis", (value,), {"axis": place})
    return value


def _by_matrices(
    context: Context,
    first: tuple[Value, str],
    second: tuple[Value, str],
    parts: tuple[list[str], list[str], list[str], list[str]],
    output: str,
) -> Value:
    """By products of stacked matrices."""
    batch, rows, columns, summed = parts
    lengths = {x: d for value, own in (first, second) for x, d in zip(own, dimensions(value), strict=True)}

    def stacked(value: Value, own: str, groups: Sequence[list[str]]) -> Value:
        order = [*batch, *(x for g in groups for x in g)]
        value = transpose(context, value, tuple(own.index(x) for x in order))
        shape = (*(lengths[x] for x in batch), *(product([lengths[x] for x in g]) for g in groups))
        return _merged(context, value, shape)

    made = matrix_product(context, stacked(*first, (rows, summed)), stacked(*second, (summed, columns)))
    order = [*batch, *rows, *columns]
    return _ordered(context, _merged(context, made, tuple(lengths[x] for x in order)), order, output)


def _remapped(letters: Sequence[str], output: str, shapes: Sequence[Sequence[DimLike]]) -> tuple[list[DimLike], str]:
    """Lengths, and NumPy's sentence of them where a letter has two: ``{2}`` and so on for each.

    NumPy goes over the letters of the result and then over the others in alphabetical order.
    """
    order = [*output, *sorted({*"".join(letters)} - {*output})]
    shown: list[DimLike] = []

    parts = []
    for own, shape in zip(letters, shapes, strict=True):
        # A letter that stands twice has one axis, the diagonal's.
        lengths: dict[str, DimLike | None] = dict(zip(own, shape, strict=True))
        for row in (list(lengths.values()), [lengths.get(letter) for letter in order]):
            alone = len(row) == 1
            while row and row[0] is None:
                row = row[1:]
            texts = []
            for d in row:
                texts.append("newaxis" if d is None else f"{{{2 + len(shown)}}}")
                if d is not None:
                    shown.append(d)
            parts.append(f"({','.join(texts)}{',' * alone})")
    pairs = " ".join("->".join(parts[n : n + 2]) for n in range(0, len(parts), 2))
    return shown, f"operands could not be broadcast together with remapped shapes [original->remapped]: {pairs} "


def matrix_power(context: Context, a: Any, n: Any) -> Value:
    """A square matrix times itself, again and again by squares, or its inverse"""
    (value,) = (library_calls.array_of(context, a),)
    power = library_calls.known_option(context, n, "n=")
    attempt(context, np.linalg.matrix_power, stand_in(value), 1)
    size = dimensions(value)
    require_equal(context, size[-2], size[-1], "LinAlgError", "Last 2 dimensions of the array must be square")
    attempt(context, np.linalg.matrix_power, stand_in(value), power)
    power = operator.index(power)
    if power < 0:
        value, power = library_calls.LINALG["inv"](context, value), -power
    if power == 0:
        one = eye(context, dim_value(context, size[-1]), dtype=element(value.type).numpy)
        return context.builder.emit("copy", (broadcast(context, one, size),))
    if power == 1:
        # The array itself, or its inverse.
        return value
    if power == 3:
        return matrix_product(context, matrix_product(context, value, value), value)
    made: Value | None = None
    square = value
    while power:
        power, bit = divmod(power, 2)
        if bit:
            made = square if made is None else matrix_product(context, made, square)
        square = matrix_product(context, square, square) if power else square
    assert made is not None
    return made


METHODS: dict[str, Handler] = {"dot": dot}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "dot": dot,
    "vdot": vdot,
    "inner": inner,
    "outer": outer,
    "tensordot": tensordot,
    "einsum": einsum,
    "linalg.matrix_power": matrix_power,
    "linalg.outer": _outer,
    "linalg.tensordot": _tensordot,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

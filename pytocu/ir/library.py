"""The closed list of library calls: what a plan lets NumPy, CuPy or PyTorch compute on whole arrays.

Everything else is compiled.  A row says which function of NumPy it is, whether operands have to have
one dtype, and the shapes of the results; the dtypes NumPy is asked for, with arrays of one element.
Lengths that must be equal are compared before the call (`pytocu.frontend.library_calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from pytocu.ir.dims import DimLike, dim_min, floordiv
from pytocu.ir.library_names import caught
from pytocu.ir.promote import known_dtype
from pytocu.ir.types import ArrayType, DType, Type, element, shape_of
from pytocu.record import Record

Shape = tuple[DimLike, ...]
Shapes = Callable[[Sequence[Shape], dict[str, Any]], tuple[Shape, ...]]


class LibraryFunction(Record):
    """A row.

    Parameters
    ----------
    name : str
        NumPy's name, ``linalg.inv`` for ``np.linalg.inv``.
    doc : str
        One sentence.
    shapes : callable
        ``shapes(shapes, options)``: those of the results.
    arity : int
        Operands.
    options : tuple of str
        Keywords, known while compiling, each passed to the library.
    """

    name: str
    doc: str
    shapes: Shapes
    arity: int = 1
    options: tuple[str, ...] = ()


LIBRARY: dict[str, LibraryFunction] = {}
"""The rows by name."""


def _row(name: str, doc: str, shapes: Shapes, arity: int = 1, options: tuple[str, ...] = ()) -> None:
    LIBRARY[name] = LibraryFunction(name, doc, shapes, arity, options)


def _matmul(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    (*batch, rows, _), (*others, _, columns) = shapes
    return ((*_batch(tuple(batch), tuple(others)), rows, columns),)


def _batch(a: Shape, b: Shape) -> Shape:
    """Leading axes of two stacks of matrices, which are of equal length or 1."""
    count = max(len(a), len(b))
    a, b = ((*[1] * (count - len(s)), *s) for s in (a, b))
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def _same(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    return (shapes[0],)


def _rest(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    return (shapes[0][:-2],)


def _values(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    """One number a row and column, as many as there are of the fewer."""
    (*batch, rows, columns) = shapes[0]
    return ((*batch, dim_min(rows, columns)),)


def _eigh(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    return (shapes[0][:-1], shapes[0])


def _svd(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    (*batch, rows, columns) = shapes[0]
    least = dim_min(rows, columns)
    u, v = (rows, columns) if options.get("full_matrices", True) else (least, least)
    return (*batch, rows, u), (*batch, least), (*batch, v, columns)


def _qr(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    (*batch, rows, columns) = shapes[0]
    least = dim_min(rows, columns)
    match options.get("mode"):
        case "complete":
            return (*batch, rows, rows), (*batch, rows, columns)
        case "r":
            return ((*batch, least, columns),)
        case "raw":
            # The rows of the first are columns.
            return (*batch, columns, rows), (*batch, least)
    return (*batch, rows, least), (*batch, least, columns)


def _pinv(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    (*batch, rows, columns) = shapes[0]
    return ((*batch, columns, rows),)


def _caught(shapes: Shapes) -> Shapes:
    """Those of a function that may find matrices that it does not do: with ``caught`` it says besides whether it did them."""
    return lambda given, options: (*shapes(given, options), *([()] if options.get("caught") else []))


def _solve(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    if len(shapes[1]) == 1:
        return (shapes[0][:-1],)
    return ((*_batch(shapes[0][:-2], shapes[1][:-2]), *shapes[1][-2:]),)


def _along(shapes: Sequence[Shape], options: dict[str, Any], length: Callable[[DimLike], DimLike]) -> tuple[Shape, ...]:
    axis = options.get("axis", -1) % len(shapes[0])
    given = options.get("n")
    return (tuple((length(d if given is None else given)) if a == axis else d for a, d in enumerate(shapes[0])),)


def _fft(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    return _along(shapes, options, lambda n: n)


def _rfft(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    return _along(shapes, options, lambda n: floordiv(n, 2) + 1)


def _irfft(shapes: Sequence[Shape], options: dict[str, Any]) -> tuple[Shape, ...]:
    given = options.get("n")
    return _along(shapes, options, lambda n: n if given is not None else (n - 1) * 2)


_FFT = ("n", "axis", "norm")
_row("matmul", "Products of matrices, stacked along leading axes", _matmul, 2)
_row("linalg.solve", "x of a @ x = b", _caught(_solve), 2, ("caught",))
_row("linalg.inv", "The inverse of matrices", _caught(_same), 1, ("caught",))
_row("linalg.pinv", "The Moore-Penrose inverse of matrices", _pinv)
_row("linalg.cholesky", "The lower triangle L of a = L @ L.conj().T, or the upper one", _caught(_same), 1, ("upper", "caught"))
_row("linalg.det", "The determinants of matrices", _rest)
_row("linalg.slogdet", "Signs and logarithms of determinants", lambda s, o: (s[0][:-2], s[0][:-2]))
_row("linalg.eig", "Eigenvalues and eigenvectors of complex matrices", _eigh)
_row("linalg.eigvals", "Eigenvalues of complex matrices", lambda s, o: (s[0][:-1],))
_row("linalg.eigh", "Eigenvalues and eigenvectors of symmetric matrices, by one triangle", _eigh, 1, ("UPLO",))
_row("linalg.eigvalsh", "Eigenvalues of symmetric matrices, by one triangle", lambda s, o: (s[0][:-1],), 1, ("UPLO",))
_row("linalg.svd", "Singular values and vectors", _svd, 1, ("full_matrices",))
_row("linalg.svdvals", "Singular values", _values)
_row("linalg.qr", "Orthogonal and upper triangular factors", _qr, 1, ("mode",))
_row("fft.fft", "The discrete Fourier transform along an axis", _fft, 1, _FFT)
_row("fft.ifft", "Its inverse", _fft, 1, _FFT)
_row("fft.rfft", "The Fourier transform of real numbers: the half that is not redundant", _rfft, 1, _FFT)
_row("fft.irfft", "Its inverse", _irfft, 1, _FFT)
_row("fft.fft2", "The Fourier transform along two axes", _same, 1, ("axes", "norm"))
_row("fft.ifft2", "Its inverse", _same, 1, ("axes", "norm"))
_row("fft.fftn", "The Fourier transform along several axes", _same, 1, ("axes", "norm"))
_row("fft.ifftn", "Its inverse", _same, 1, ("axes", "norm"))
_row("sort", "Sorted along an axis; NaN come last", _same, 1, ("axis", "stable"))
_row("argsort", "The positions that sort along an axis", _same, 1, ("axis", "stable"))
_row("counts", "How many of the numbers name each element, added to integers", _same, 2)
_row("last_position", "1 and the number of the last position that names each element, of numbers of elements", _same, 2)


def last_position(start: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """For each element of a vector 1 and the number of the last position that names it, or what stands there.

    Examples
    --------
    >>> last_position(np.zeros(4, int), np.array([2, 0, 2]))
    array([2, 0, 3, 0])
    """
    made = np.array(start)
    # NumPy assigns in the order of the positions; those behind the end are the last one, so that any example is one.
    made[np.minimum(positions, made.size - 1)] = np.arange(1, positions.size + 1)
    return made


def counts(start: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The elements of a vector and how many of some numbers, which are at least 0 and less than its length, are each one's.

    Examples
    --------
    >>> counts(np.zeros(4, int), np.array([2, 0, 2]))
    array([1, 0, 2, 0])
    """
    # Larger numbers are the last one, so that any example is one.
    return start + np.bincount(np.minimum(numbers.astype(np.int64), max(start.size - 1, 0)), minlength=start.size)


def numpy_library(name: str) -> Callable[..., Any]:
    """NumPy's function, or our own of this name."""
    own = {"last_position": last_position, "counts": counts}
    if name in own:
        return own[name]
    return reduce(getattr, name.split("."), np)


def evaluate(name: str, arrays: Sequence[Any], options: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """NumPy's results, each an array."""
    function = numpy_library(name)
    if options.get("caught"):
        others = {k: v for k, v in options.items() if k != "caught"}
        made: Any = caught(lambda: function(*arrays, **others), np.linalg.LinAlgError, lambda: _unseen(name, arrays, others))
    else:
        made = function(*arrays, **options)
    return tuple(np.asarray(m) for m in made) if isinstance(made, tuple) else (np.asarray(made),)


def _unseen(name: str, arrays: Sequence[Any], options: dict[str, Any]) -> np.ndarray:
    """An array of the shape and dtype of a result."""
    operands = tuple((known_dtype(a.dtype, f"np.{name}"), a.ndim) for a in arrays)
    (dtype,) = result_dtypes(name, operands, tuple(options.items()))
    (shape,) = LIBRARY[name].shapes([a.shape for a in arrays], options)
    return np.zeros([int(str(length)) for length in shape], dtype.numpy)


@lru_cache(maxsize=512)
def result_dtypes(
    name: str, operands: tuple[tuple[DType, int], ...], options: tuple[tuple[str, Any], ...]
) -> tuple[DType, ...]:
    """The dtypes of the results for operands of these dtypes and numbers of axes.

    Raises
    ------
    TypeError, ValueError
        NumPy has no such function of these.

    Examples
    --------
    >>> from pytocu.ir.types import F32
    >>> result_dtypes("fft.fft", ((F32, 2),), ())
    (c64,)
    """
    examples = [np.ones((1,) * ndim, dtype.numpy) for dtype, ndim in operands]
    made = evaluate(name, examples, {**dict(options), **_one(name)})
    return tuple(known_dtype(m.dtype, f"np.{name}") for m in made)


def _one(name: str) -> dict[str, Any]:
    """Lengths have nothing to do with dtypes."""
    return {"n": 1} if "n" in LIBRARY[name].options else {}


def result_types(name: str, types: Sequence[Type], options: tuple[tuple[str, Any], ...]) -> tuple[Type, ...]:
    """The types of the results of a library call.

    Raises
    ------
    TypeError, ValueError
        It is not in the list, or not for these operands.

    Examples
    --------
    >>> from pytocu.ir.types import parse_type
    >>> result_types("matmul", [parse_type("f32[n, k]"), parse_type("f32[k, m]")], ())
    (ArrayType(dtype=f32, shape=(n, m), layout='C'),)
    """
    row = LIBRARY.get(name)
    if row is None or len(types) != row.arity or not all(isinstance(t, ArrayType) for t in types):
        raise TypeError(f"{name} of {', '.join(map(str, types))} is no library call")
    if not set(dict(options)) <= set(row.options):
        raise TypeError(f"{name} has the options {', '.join(row.options)}")
    dtypes = result_dtypes(name, tuple((element(t), len(shape_of(t))) for t in types), options)
    shapes = row.shapes([shape_of(t) for t in types], dict(options))
    return tuple(ArrayType(d, s) for d, s in zip(dtypes, shapes, strict=True))

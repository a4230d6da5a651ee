"""What combines the elements of an axis: the table of reductions and scans.

A reduction keeps one or several numbers, its *state*, and combines two states into one.  The
order in which states are combined is the schedule's: every row is associative, and sums are
trees.  Rows are those of the op table; the formulas run at loop level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytocu.deferred import Deferred
from pytocu.ir.types import DType, dtype_of
from pytocu.record import Record

if TYPE_CHECKING:
    from pytocu.ir.core import Value
    from pytocu.ir.expander import Expander

_joined = Deferred("pytocu.ir.compensation", "joined")

State: TypeAlias = "tuple[Value, ...]"


class Reduction(Record):
    """A row.

    Parameters
    ----------
    name : str
        The attribute ``op`` of ``reduce`` and ``scan``.
    doc : str
        One sentence.
    identity : callable
        ``identity(dtypes)`` is the state of no elements, a number for each part.
    combine : callable
        ``combine(e, first, second)`` writes the state of two; `first` holds what comes first.
    states : int
        Parts of the state, and operands of ``reduce``.
    later : callable, optional
        A cheaper formula where all of `second` comes after `first`.
    empty : bool
        Whether NumPy has a value for no elements; without one the call checks the lengths.
    loops : bool
        Whether the formula has a loop, so that several states are not combined at once.
    """

    name: str
    doc: str
    identity: Callable[[tuple[DType, ...]], tuple[Any, ...]]
    combine: Callable[[Expander, State, State], State]
    states: int = 1
    empty: bool = True
    later: Callable[[Expander, State, State], State] | None = None
    loops: bool = False

    def append(self, e: Expander, state: State, elements: State) -> State:
        """The state of one element more, which comes after all others."""
        return (self.later or self.combine)(e, state, elements)


def _by_row(name: str) -> Callable[[Expander, State, State], State]:
    return lambda e, first, second: (e(name, first[0], second[0]),)


def _number(value: Any) -> Callable[[tuple[DType, ...]], tuple[Any, ...]]:
    return lambda dtypes: (value,)


def _end(upper: bool) -> Callable[[tuple[DType, ...]], tuple[Any, ...]]:
    """The largest or smallest number of the dtype."""
    return lambda dtypes: (_end_of(dtypes[0], upper),)


def _end_of(dtype: DType, upper: bool) -> Any:
    match dtype.kind:
        case "b":
            return upper
        case "i" | "u":
            limits = np.iinfo(dtype.numpy)
            return int(limits.max if upper else limits.min)
        case "c":
            end = float("inf") if upper else float("-inf")
            return complex(end, end)
    return float("inf") if upper else float("-inf")


def _position(upper: bool) -> Callable[[tuple[DType, ...]], tuple[Any, ...]]:
    """The farthest number at the last position, which stands for none: where all elements are this number."""
    return lambda dtypes: (_end_of(dtypes[0], upper), _end_of(dtypes[1], True))


_WORSE = {"less": "greater_equal", "greater": "less_equal"}


def _replaces(e: Expander, better: str, a: Value, b: Value) -> Value:
    """Whether a number takes the place of another: where it is better, and a NaN that of any other number."""
    match a.type.dtype.kind:  # type: ignore[union-attr]
        case "f":
            # Not worse and not equal, or NaN, is one comparison.
            return e("bitwise_and", e("invert", e(_WORSE[better], b, a)), e("invert", e("isnan", a)))
        case "c":
            return e("bitwise_and", e("bitwise_or", e(better, b, a), e("isnan", b)), e("invert", e("isnan", a)))
        case _:
            return e(better, b, a)


def _extreme(better: str) -> Callable[[Expander, State, State], State]:
    """The better number, or the first NaN; of equal ones the first position."""

    def combine(e: Expander, first: State, second: State) -> State:
        (a, at), (b, bt) = first, second
        earlier = e("less", bt, at)
        replaces = _replaces(e, better, a, b)
        same = e("equal", a, b)
        if a.type.dtype.kind in "fc":  # type: ignore[union-attr]
            same = e("bitwise_or", same, e("bitwise_and", e("isnan", a), e("isnan", b)))
        chosen = e("bitwise_or", replaces, e("bitwise_and", same, earlier))
        return e.where(chosen, b, a), e.where(chosen, bt, at)

    return combine


def _later_extreme(better: str) -> Callable[[Expander, State, State], State]:
    """As `_extreme`, where equal numbers keep the position, also the one of no element; NaN is never left."""

    def combine(e: Expander, first: State, second: State) -> State:
        (a, at), (b, bt) = first, second
        chosen = _replaces(e, better, a, b)
        return e.where(chosen, b, a), e.where(chosen, bt, at)

    return combine


COMPENSATED = "compensated_add"
"""The sum of few numbers that are sums of many: its error does not grow with their count."""

EXTREMES = ("argmin", "argmax")
"""Of numbers with their positions, for which every order gives the same bits."""

REDUCTIONS: dict[str, Reduction] = {
    row.name: row
    for row in (
        Reduction("add", "The sum", _number(0), _by_row("add")),
        Reduction(COMPENSATED, "The sum, beside what rounding took from it", lambda dtypes: (0, 0), _joined, states=2),
        Reduction("multiply", "The product", _number(1), _by_row("multiply")),
        Reduction("minimum", "The smallest; NaN wins", _end(True), _by_row("minimum"), empty=False),
        Reduction("maximum", "The largest; NaN wins", _end(False), _by_row("maximum"), empty=False),
        Reduction("fmin", "The smallest; NaN only of NaNs alone", _number(float("nan")), _by_row("fmin"), empty=False),
        Reduction("fmax", "The largest; NaN only of NaNs alone", _number(float("nan")), _by_row("fmax"), empty=False),
        Reduction("bitwise_and", "The bits that all have", lambda d: (True if d[0].kind == "b" else -1 if d[0].kind == "i"
            else _end_of(d[0], True),), _by_row("bitwise_and")),
        Reduction("bitwise_or", "The bits that any has", _number(0), _by_row("bitwise_or")),
        Reduction("bitwise_xor", "The bits that an odd number have", _number(0), _by_row("bitwise_xor")),
        Reduction("gcd", "The greatest common divisor", _number(0), _by_row("gcd"), loops=True),
        Reduction("lcm", "The least common multiple", _number(1), _by_row("lcm"), empty=False, loops=True),
        Reduction("hypot", "The root of the sum of squares", _number(0), _by_row("hypot")),
        Reduction("logaddexp", "log of the sum of exponentials", _number(float("-inf")), _by_row("logaddexp")),
        Reduction("logaddexp2", "log2 of the sum of powers of 2", _number(float("-inf")), _by_row("logaddexp2")),
        # Where all elements are the farthest number of the dtype, the position may be that of no element.
        Reduction("argmin", "The first position of the smallest, beside it; NaN wins", _position(True), _extreme("less"),
                  states=2, empty=False, later=_later_extreme("less")),
        Reduction("argmax", "The first position of the largest, beside it; NaN wins", _position(False),
                  _extreme("greater"), states=2, empty=False, later=_later_extreme("greater")),
    )
}
"""By name."""


def is_rounded(op: str, dtype: DType) -> bool:
    """Whether a reduction is a sum that is rounded."""
    return op == "add" and dtype.kind in "fc"


def evaluate(name: str, operands: tuple[np.ndarray, ...], axes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Reduce arrays with NumPy: what the row means, for the interpreter.

    Parameters
    ----------
    name : str
        A row.
    operands : tuple of ndarray
        One array a part of the state, all of one shape.
    axes : tuple of int
        The axes that go.
    """
    dtypes = tuple(_dtype(o) for o in operands)
    row = REDUCTIONS[name]
    if row.states == 1:
        (x,) = operands
        start = x.dtype.type(row.identity(dtypes)[0])
        if x.dtype == bool and name in ("minimum", "maximum"):
            name = "logical_and" if name == "minimum" else "logical_or"
        ufunc: Any = getattr(np, name)
        if not x.size:
            return (np.full(_without(x.shape, axes), start, x.dtype),)
        if len(axes) > 1 and not _reorderable(ufunc):
            x, axes = _flattened(x, axes), (-1,)
        return (np.asarray(ufunc.reduce(x, axis=axes, dtype=x.dtype)),)
    value, place = (_flattened(o, axes) for o in operands)
    if name == COMPENSATED:
        return _compensated(value, place)
    if not value.shape[-1]:
        return tuple(np.full(value.shape[:-1], i, o.dtype) for i, o in zip(row.identity(dtypes), operands, strict=True))
    best = np.expand_dims(getattr(np, name)(value, axis=-1), -1)
    return tuple(np.take_along_axis(o, best, -1)[..., 0] for o in (value, place))


def _compensated(parts: np.ndarray, rests: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums along the last axis, one part after the other, as `pytocu.ir.compensation.joined` has them."""
    total, rest = np.zeros_like(parts[..., 0]), np.zeros_like(parts[..., 0])
    with np.errstate(all="ignore"):
        for part, more in zip(np.moveaxis(parts, -1, 0), np.moveaxis(rests, -1, 0), strict=True):
            after = total + part
            second = after - total
            rest = rest + more + ((total - (after - second)) + (part - second))
            whole = np.where(np.isfinite(after), after + rest, after)
            total, rest = whole, rest - (whole - after)
    return total, rest


def neutral(row: Reduction, dtype: DType) -> tuple[Any, bool]:
    """The state before the first element of a scan, and whether combining it with an element leaves all bits.

    0 + -0.0 is 0.0, so sums begin with -0.0; gcd, lcm and hypot take the sign away, and a product of complex
    numbers makes NaN of infinities.
    """
    (identity,) = row.identity((dtype,))
    if row.name == "add" and dtype.kind in "fc":
        identity = complex(-0.0, -0.0) if dtype.kind == "c" else -0.0
    return identity, row.name not in ("gcd", "lcm", "hypot") and not (row.name == "multiply" and dtype.kind == "c")


def accumulate(name: str, operand: np.ndarray, axis: int, exclusive: bool = False) -> np.ndarray:
    """Scan an array with NumPy: what the row means, for the interpreter.

    Parameters
    ----------
    name : str
        A row of one part.
    operand : ndarray
        Of the dtype of the result.
    axis : int
        The axis.
    exclusive : bool
        Each result is made of the elements before its own, the first is the row's neutral element.
    """
    made = getattr(np, name).accumulate(operand, axis=axis, dtype=operand.dtype)
    if not exclusive:
        return made
    out = np.moveaxis(np.empty_like(made), axis, 0)
    out[:1] = neutral(REDUCTIONS[name], _dtype(operand))[0]
    out[1:] = np.moveaxis(made, axis, 0)[:-1]
    return np.moveaxis(out, 0, axis)


def accumulate_pieces(name: str, operand: np.ndarray, starts: np.ndarray, axis: int, length: int) -> np.ndarray:
    """Scan each piece of an axis on its own, from the state in `starts`, whose first axis are the pieces."""
    moved = np.moveaxis(operand, axis, 0)
    out = np.empty_like(moved)
    for number, start in enumerate(starts):
        part = slice(number * length, (number + 1) * length)
        # The first piece has nothing before it; a neutral element would take the sign of some elements away.
        made = moved[part] if number == 0 else np.concatenate([start[np.newaxis], moved[part]])
        out[part] = accumulate(name, made, 0)[min(number, 1) :]
    return np.moveaxis(out, 0, axis)


def _reorderable(ufunc: Any) -> bool:
    return ufunc.identity is not None or ufunc.__name__ in ("maximum", "minimum", "fmax", "fmin")


def _flattened(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    kept = [a for a in range(x.ndim) if a not in axes]
    length = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    return np.transpose(x, [*kept, *axes]).reshape(*(x.shape[a] for a in kept), length)


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(d for a, d in enumerate(shape) if a not in axes)


def _dtype(array: np.ndarray) -> DType:
    found = dtype_of(array.dtype)
    assert found is not None
    return found


def evaluate_pieces(
    name: str, operands: tuple[np.ndarray, ...], axes: tuple[int, ...], count: int, length: int
) -> tuple[np.ndarray, ...]:
    """Reduce each piece of the axes, taken as one in row-major order; the pieces are a new first axis."""
    flat = tuple(_flattened(o, axes) for o in operands)
    parts = [evaluate(name, tuple(f[..., c * length : (c + 1) * length] for f in flat), (-1,)) for c in range(count)]
    if not parts:
        return tuple(np.empty((0, *_without(o.shape, axes)), o.dtype) for o in operands)
    return tuple(np.stack(column) for column in zip(*parts, strict=True))

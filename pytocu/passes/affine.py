"""Positions in arrays: linear expressions over the loop indices of a kernel, with dimensions as coefficients.

What is not linear in the loop indices (quotients and remainders of a reshape, an element of an
array of positions) stands as a :class:`Part` among the terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from pytocu.ir.dims import Dim, DimLike, floordiv, is_number, modulo, symbols
from pytocu.record import Record


class Part(Record):
    """A term that is not linear in the loop indices.

    ``//`` and ``%`` take a position that is not negative and a length; ``wrap`` is ``%`` of one below twice the length, with no
    division; ``element`` takes an
    integer value of the kernel, the position in it, and the length that its elements stay below.
    """

    name: str
    args: tuple[Any, ...]


class Affine:
    """``sum(coefficients[k] * index[k]) + sum(factor * part) + offset``; compared by value."""

    __slots__ = ("_hash", "coefficients", "offset", "parts")

    def __init__(
        self, coefficients: tuple[DimLike, ...], offset: DimLike = 0, parts: tuple[tuple[Part, DimLike], ...] = ()
    ):
        self.coefficients = coefficients
        self.offset = offset
        self.parts = parts
        # Found out once: walks look the same positions up again and again.
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Affine) and self._key() == other._key()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    def __repr__(self) -> str:
        return f"Affine({', '.join(map(repr, self._key() if self.parts else self._key()[:2]))})"

    def _key(self) -> tuple[Any, ...]:
        return self.coefficients, self.offset, self.parts

    @property
    def fixed(self) -> bool:
        """Whether all iterations have this position."""
        return not self.parts and not any(self.coefficients)

    def moves(self, first: int = 0) -> bool:
        """Whether the position depends on a loop index from `first` on."""
        return any(c != 0 for c in self.coefficients[first:]) or any(_moves(part.args, first) for part, _ in self.parts)

    def __add__(self, other: Affine | DimLike) -> Affine:
        if isinstance(other, Affine):
            pairs = zip(self.coefficients, other.coefficients, strict=True)
            linear = Affine(tuple(a + b for a, b in pairs), self.offset + other.offset)
            return _with_parts(linear, (*self.parts, *other.parts)) if self.parts or other.parts else linear
        return Affine(self.coefficients, self.offset + other, self.parts)

    __radd__ = __add__

    def __mul__(self, factor: DimLike) -> Affine:
        parts = tuple((part, c * factor) for part, c in self.parts)
        return Affine(tuple(c * factor for c in self.coefficients), self.offset * factor, parts)

    __rmul__ = __mul__

    def __floordiv__(self, length: DimLike) -> Affine:
        """The whole part of a position that is not negative."""
        if length == 1:
            return self
        if self.fixed and isinstance(self.offset, int) and isinstance(length, int):
            return Affine(self.coefficients, floordiv(self.offset, length))
        return _alone(Part("//", (self, length)), len(self.coefficients))

    def __mod__(self, length: DimLike) -> Affine:
        """What the division of a position that is not negative leaves."""
        if length == 1 or (self.fixed and isinstance(self.offset, int) and isinstance(length, int)):
            return Affine((0,) * len(self.coefficients), 0 if length == 1 else modulo(self.offset, length))
        return _alone(Part("%", (self, length)), len(self.coefficients))

    def wrapped(self, length: DimLike) -> Affine:
        """A position that is not negative and below twice a length, less the length where it is not below that."""
        return _alone(Part("wrap", (self, length)), len(self.coefficients))


def _moves(args: tuple[Any, ...], first: int) -> bool:
    return any(a.moves(first) if isinstance(a, Affine) else isinstance(a, tuple) and _moves(a, first) for a in args)


def _alone(part: Part, ndim: int) -> Affine:
    return Affine((0,) * ndim, 0, ((part, 1),))


def element_of(value: Any, at: tuple[Affine, ...], length: DimLike, ndim: int) -> Affine:
    """The position that an element of an array of integers states, brought below a length."""
    return _alone(Part("element", (value, at, length)), ndim)


def _with_parts(linear: Affine, terms: tuple[tuple[Part, DimLike], ...]) -> Affine:
    """Add terms; ``(a // d) * d + a % d`` is a."""
    parts: dict[Part, DimLike] = {}
    for part, factor in terms:
        parts[part] = parts.get(part, 0) + factor
    parts = {part: factor for part, factor in parts.items() if factor != 0}
    for part, factor in parts.items():
        if part.name != "%":
            continue
        whole, length = part.args
        quotient = Part("//", part.args)
        if parts.get(quotient) == factor * length:
            rest = tuple((p, c) for p, c in parts.items() if p not in (part, quotient))
            return _with_parts(Affine(linear.coefficients, linear.offset), rest) + whole * factor
    return Affine(linear.coefficients, linear.offset, tuple(parts.items()))


def linear_pieces(position: Affine) -> Iterator[Affine]:
    """The linear expressions that a position is computed of, without those of elements."""
    yield position
    for part, _ in position.parts:
        if part.name != "element":
            yield from linear_pieces(part.args[0])


def states_positions(position: Affine) -> bool:
    """Whether an array of integers states a part of the position."""
    return any(part.name == "element" for piece in linear_pieces(position) for part, _ in piece.parts)


def stating_values(place: Affine) -> Iterator[Any]:
    """The values whose elements a position is computed of."""
    for part, _ in place.parts:
        for arg in part.args:
            if isinstance(arg, Affine):
                yield from stating_values(arg)
        if part.name == "element":
            yield part.args[0]
            for inner in part.args[1]:
                yield from stating_values(inner)


def names_in(place: Affine) -> set[str]:
    """The lengths and numbers of run time that a position depends on."""
    found: set[str] = set()
    stack: list[Any] = [place]
    while stack:
        part = stack.pop()
        if isinstance(part, Dim):
            found.update(symbols(part))
        elif isinstance(part, tuple):
            stack.extend(part)
        elif isinstance(part, Affine):
            stack.extend((part.offset, *part.coefficients, *(c for _, c in part.parts), *(p.args for p, _ in part.parts)))
    return found


def mentions(place: Affine, names: Set[str]) -> bool:
    """Whether a position depends on one of these numbers."""
    return not names.isdisjoint(names_in(place))


def numbers_in(place: Affine) -> set[str]:
    """The numbers of run time that a position depends on."""
    return set(filter(is_number, names_in(place)))


def unit(axis: int, ndim: int) -> Affine:
    """The loop index `axis` itself."""
    return Affine(tuple(1 if k == axis else 0 for k in range(ndim)))


def constant(value: DimLike, ndim: int) -> Affine:
    """A position that does not move."""
    return Affine((0,) * ndim, value)


def merge_axes(shape: list[DimLike], accesses: list[Affine]) -> tuple[list[DimLike], list[list[int]]]:
    """Walk adjacent axes as one where every access allows it.

    Axes `k` and `k + 1` of lengths `a` and `b` are one axis of length `a * b` when every
    access steps along `k` exactly `b` times its step along `k + 1`.  Axes of length 1 vanish.

    Returns
    -------
    lengths
        Of the merged axes.
    groups
        Which old axes each new one stands for; an access steps along it as along the last.

    Examples
    --------
    >>> merge_axes([4, 3], [Affine((3, 1)), Affine((0, 0))])
    ([12], [[0, 1]])
    >>> merge_axes([4, 3], [Affine((3, 1)), Affine((1, 0))])
    ([4, 3], [[0], [1]])
    """
    groups: list[list[int]] = []
    sizes: list[DimLike] = []
    for axis in range(len(shape)):
        if shape[axis] == 1:
            continue
        if groups:
            last = groups[-1][-1]
            if all(a.coefficients[last] == a.coefficients[axis] * shape[axis] for a in accesses):
                groups[-1].append(axis)
                sizes[-1] = sizes[-1] * shape[axis]
                continue
        groups.append([axis])
        sizes.append(shape[axis])
    return sizes, groups

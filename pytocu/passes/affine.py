"""Linear expressions over the loop indices of a kernel, with dimensions as coefficients."""

from __future__ import annotations

from pytocu.ir.dims import DimLike


class Affine:
    """``sum(coefficients[k] * index[k]) + offset``; compared by value."""

    __slots__ = ("coefficients", "offset")

    def __init__(self, coefficients: tuple[DimLike, ...], offset: DimLike = 0):
        self.coefficients = coefficients
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self.coefficients == other.coefficients and self.offset == other.offset

    def __hash__(self) -> int:
        return hash((self.coefficients, self.offset))

    def __repr__(self) -> str:
        return f"Affine({self.coefficients!r}, {self.offset!r})"

    def __add__(self, other: Affine | DimLike) -> Affine:
        if isinstance(other, Affine):
            pairs = zip(self.coefficients, other.coefficients, strict=True)
            return Affine(tuple(a + b for a, b in pairs), self.offset + other.offset)
        return Affine(self.coefficients, self.offset + other)

    __radd__ = __add__

    def __mul__(self, factor: DimLike) -> Affine:
        return Affine(tuple(c * factor for c in self.coefficients), self.offset * factor)

    __rmul__ = __mul__


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

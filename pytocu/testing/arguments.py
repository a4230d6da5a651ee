"""Arguments made from type texts: ``f32[n, 3], bool[n], weak float`` becomes arrays and scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.ir.dims import evaluate, symbols
from pytocu.ir.types import ArrayType, DType, ScalarType, Type, WeakType, axes_of, is_strided, parse_type, shape_of, split_top
from pytocu.testing.compare import edge_values

ODD_SIZES = (7, 5, 3, 9, 11)
"""Lengths of the symbols in order: odd, so that no vector or block is full."""


def argument_types(text: str) -> tuple[Type, ...]:
    """Types from a text such as ``f32[n, 3], bool[n]``.

    Raises
    ------
    ValueError
        One of them is no type.

    Examples
    --------
    >>> [str(t) for t in argument_types("f32[n, 3], weak int")]
    ['f32[n, 3]', 'weak int']
    """
    return tuple(map(parse_type, split_top(text)))


def symbol_names(types: Sequence[Type]) -> tuple[str, ...]:
    """The named lengths of the types, in the order they appear."""
    return tuple(dict.fromkeys(name for type in types for dim in shape_of(type) for name in symbols(dim)))


def size_cases(types: Sequence[Type]) -> tuple[dict[str, int], ...]:
    """Lengths worth trying: odd ones, all 1, all 0, and one where only the first is 0.

    Examples
    --------
    >>> size_cases(argument_types("f32[n, m]"))[0]
    {'n': 7, 'm': 5}
    """
    names = symbol_names(types)
    odd = {name: ODD_SIZES[number % len(ODD_SIZES)] for number, name in enumerate(names)}
    cases = [odd, dict.fromkeys(names, 1), dict.fromkeys(names, 0)]
    if len(names) > 1:
        cases.append({**odd, names[0]: 0})
    return tuple(dict(items) for items in dict.fromkeys(tuple(case.items()) for case in cases))


def make_argument(type: Type, sizes: Mapping[str, int], seed: int = 0, values: str = "edge") -> Any:
    """One argument of a type.

    Parameters
    ----------
    type : Type
        An array, a NumPy scalar or a weak (Python) scalar.
    sizes : mapping of str to int
        The named lengths.
    seed : int
        The same seed gives the same values.
    values : str
        ``edge`` takes special values too (infinities, NaNs, both zeros, extremes), ``plain``
        ordinary ones, ``positive`` numbers between 0.5 and 2 (1 to 9 for integers).

    Returns
    -------
    numpy.ndarray, numpy.generic, bool, int or float

    Examples
    --------
    >>> make_argument(parse_type("f64[n; S]"), {"n": 3}).strides
    (16,)
    """
    match type:
        case WeakType("bool"):
            return bool(seed % 2)
        case WeakType("int"):
            return 2 + seed % 5
        case WeakType("float"):
            return (0.75, 1.5, 0.1, 3.0)[seed % 4]
        case WeakType("complex"):
            return (0.75 + 2j, -1.5j, 0.1 - 3j)[seed % 3]
        case ScalarType(dtype):
            return _elements(dtype, 1, seed, "plain" if values == "edge" else values)[0]
        case ArrayType(dtype, shape, layout):
            lengths = tuple(evaluate(dim, sizes) for dim in shape)
            flat = _elements(dtype, int(np.prod(lengths, dtype=int)), seed, values)
            return _laid_out(flat.reshape(lengths), layout)
    raise TypeError(f"no argument is made of type {type}")


def make_arguments(types: Sequence[Type], sizes: Mapping[str, int], seed: int = 0, values: str = "edge") -> tuple[Any, ...]:
    """One argument for each type; see :func:`make_argument`."""
    return tuple(make_argument(type, sizes, seed + 17 * number, values) for number, type in enumerate(types))


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    axes = axes_of(layout, array.ndim)
    if len(axes) < array.ndim:
        raise ValueError(f"no argument of layout {layout} is made, whose elements repeat")
    if axes != tuple(range(array.ndim)):
        turned = _laid_out(np.ascontiguousarray(array.transpose(axes)), "S" if is_strided(layout) else "C")
        return turned.transpose([axes.index(axis) for axis in range(array.ndim)])
    if layout == "S" and array.ndim:
        # Every second element of the last axis of a larger array, and of its first one backwards.
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        view = wide[..., ::2]
        if array.ndim > 1:
            view = view[::-1]
        view[...] = array
        return view
    return array


def _elements(dtype: DType, count: int, seed: int, values: str) -> np.ndarray:
    random = np.random.default_rng([seed, count, 7])
    kind = dtype.kind
    if kind == "c":
        parts = [_elements(dtype.word, count, seed + part, values) for part in range(2)]
        return np.stack(parts, -1).view(dtype.numpy)[..., 0]
    if values == "edge":
        # Enough for all special values, in an order that small arrays meet different ones.
        pool = edge_values(dtype.numpy, max(count, 160), seed)
        return random.permutation(pool)[:count]
    if kind == "b":
        return random.integers(0, 2, count).astype(bool)
    if kind in "iu":
        low = 1 if values == "positive" or kind == "u" else -9
        return random.integers(low, 10, count).astype(dtype.numpy)
    if values == "positive":
        return random.uniform(0.5, 2.0, count).astype(dtype.numpy)
    return (random.standard_normal(count) * 3).astype(dtype.numpy)


__all__ = ["argument_types", "make_argument", "make_arguments", "size_cases", "symbol_names"]

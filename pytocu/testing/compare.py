"""Strict comparison of results, and the values that find mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def ulp_distance(a: Any, b: Any) -> np.ndarray:
    """How many floating-point numbers lie between two, element by element.

    Parameters
    ----------
    a, b : array_like of one float dtype and shape
        float16, float32 or float64.

    Returns
    -------
    numpy.ndarray of float64
        0 for equal values (both zeros too) and for two NaNs, ``inf`` where only one is NaN.

    Examples
    --------
    >>> float(ulp_distance(np.float32(1), np.nextafter(np.float32(1), np.float32(2))))
    1.0
    """
    left, right = np.asarray(a), np.asarray(b)
    if left.dtype != right.dtype or left.dtype.kind != "f":
        raise TypeError(f"ulp_distance takes one float dtype, not {left.dtype} and {right.dtype}")
    left, right = np.broadcast_arrays(left, right)
    one_nan = np.isnan(left) != np.isnan(right)
    low, high = _in_order(left), _in_order(right)
    # As unsigned numbers the difference is exact even over the whole range.
    with np.errstate(over="ignore"):
        distance = (np.maximum(low, high).astype(np.uint64) - np.minimum(low, high).astype(np.uint64)).astype(np.float64)
    distance = np.where(np.isnan(left) & np.isnan(right), 0.0, distance)
    return np.where(one_nan, np.inf, distance)


def complex_distance(actual: Any, expected: Any) -> np.ndarray:
    """The larger error of the two parts, in units of the last place of the larger part.

    Parameters
    ----------
    actual, expected : array_like of one complex dtype and shape

    Returns
    -------
    numpy.ndarray of float64
        0 where both parts are equal; ``inf`` where a part is infinite or NaN and the other is not the same.
        The sign of an infinity beside a NaN says nothing (C leaves it open, and it may be that of the NaN).

    Examples
    --------
    >>> round(float(complex_distance(np.complex64(1 + 1e-7j), np.complex64(1))), 3)
    0.839
    """
    left, right = np.asarray(actual), np.asarray(expected)
    if left.dtype != right.dtype or left.dtype.kind != "c":
        raise TypeError(f"complex_distance takes one complex dtype, not {left.dtype} and {right.dtype}")
    parts = [(np.real(left), np.real(right)), (np.imag(left), np.imag(right))]
    with np.errstate(all="ignore"):
        size = np.maximum(*(np.where(np.isfinite(e), np.abs(e), 0) for _, e in parts))
        unit = np.spacing(size).astype(np.longdouble)
        worst = np.zeros(right.shape, np.longdouble)
        for (a, e), (_, beside) in zip(parts, parts[::-1], strict=True):
            same = (a == e) | (np.isnan(a) & np.isnan(e)) | (np.isinf(a) & np.isinf(e) & np.isnan(beside))
            error = np.abs(a.astype(np.longdouble) - e.astype(np.longdouble)) / unit
            error = np.where(np.isfinite(a) & np.isfinite(e), error, np.inf)
            worst = np.maximum(worst, np.where(same, 0, error))
    return worst.astype(np.float64)


def _in_order(values: np.ndarray) -> np.ndarray:
    """Integers in the order of the floats, with no gap between neighbours and one zero."""
    bits = np.ascontiguousarray(values).view(_UNSIGNED[values.dtype.itemsize]).reshape(values.shape).astype(np.uint64)
    width = values.dtype.itemsize * 8
    magnitude = (bits & np.uint64((1 << (width - 1)) - 1)).astype(np.int64)
    return np.where(bits >> np.uint64(width - 1) != 0, -magnitude, magnitude)


def same_bits(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype hold the same bits; any NaN equals any other."""
    if actual.dtype.kind == "c":
        return same_bits(np.real(actual), np.real(expected)) & same_bits(np.imag(actual), np.imag(expected))
    if actual.dtype.kind != "f":
        return actual == expected
    both_nan = np.isnan(actual) & np.isnan(expected)
    return both_nan | ((actual == expected) & (np.signbit(actual) == np.signbit(expected)))


def compare(actual: Any, expected: Any, exact: bool = True, ulp: float = 0) -> None:
    """Assert that two results are the same: kind of object, dtype, shape and values.

    Parameters
    ----------
    actual, expected : array, NumPy scalar, Python scalar, or tuple, list or dict of these
        What was computed and what NumPy answers.
    exact : bool
        Compare bits: the sign of zero counts, the payload of a NaN does not.  Where False,
        floats may differ by `ulp`.
    ulp : float
        Largest distance in units in the last place where not exact, for each part of a complex
        number; integers must always agree.

    Raises
    ------
    AssertionError
        Names the first element that differs, both values, their bits and their distance.

    Examples
    --------
    >>> compare(np.float32([0.0]), np.float32([-0.0]))
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 1 elements differ, first at [0]:
      actual   0.0 (0x00000000)
      expected -0.0 (0x80000000)
      distance 0 ulp
    """
    if isinstance(expected, dict):
        if type(actual) is not type(expected) or list(actual) != list(expected):
            raise AssertionError(f"got {_describe(actual)} where {_describe(expected)} is expected")
        actual, expected = tuple(actual.values()), tuple(expected.values())
    if isinstance(expected, (tuple, list)):
        if type(actual) is not type(expected) or len(actual) != len(expected):
            raise AssertionError(f"got {_describe(actual)} where {_describe(expected)} is expected")
        for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
            try:
                compare(a, e, exact, ulp)
            except AssertionError as error:
                raise AssertionError(f"result {number}: {error}") from None
        return
    if _kind(actual) != _kind(expected):
        raise AssertionError(f"got {_describe(actual)} where {_describe(expected)} is expected")
    if expected is None:
        return
    left, right = np.asarray(actual), np.asarray(expected)
    if left.dtype != right.dtype or left.shape != right.shape:
        raise AssertionError(f"got {_describe(actual)} where {_describe(expected)} is expected")
    good = same_bits(left, right)
    if not exact and right.dtype.kind in "fc":
        good |= _within(left, right, ulp)
    if good.all():
        return
    where = tuple(int(i) for i in np.argwhere(~good)[0])
    a, e = left[where], right[where]
    at = f", first at [{', '.join(map(str, where))}]" if where else ""
    lines = [
        f"{int((~good).sum())} of {good.size} elements differ{at}:",
        f"  actual   {_show(a)}",
        f"  expected {_show(e)}",
    ]
    if right.dtype.kind == "f":
        allowed = "" if exact else f", {ulp:g} allowed"
        lines.append(f"  distance {float(ulp_distance(a, e)):.17g} ulp{allowed}")
    raise AssertionError("\n".join(lines))


def _within(actual: np.ndarray, expected: np.ndarray, ulp: float) -> np.ndarray:
    if expected.dtype.kind == "c":
        return _within(np.real(actual), np.real(expected), ulp) & _within(np.imag(actual), np.imag(expected), ulp)
    return ulp_distance(actual, expected) <= ulp


def _kind(value: Any) -> Any:
    match value:
        case np.ndarray():
            return np.ndarray
        case np.generic():
            return np.generic
        case _:
            return type(value)


def _describe(value: Any) -> str:
    match value:
        case np.ndarray(dtype=dtype, shape=shape):
            return f"an array of {dtype} with shape {shape}"
        case np.generic(dtype=dtype):
            return f"a NumPy scalar of {dtype}"
        case tuple() | list():
            return f"a {type(value).__name__} of {len(value)}"
        case dict():
            return f"a dict of {', '.join(map(repr, value))}"
        case _:
            return f"a Python {type(value).__name__}"


def _show(value: Any) -> str:
    array = np.asarray(value)
    digits = array.dtype.itemsize * 2
    number = int.from_bytes(array.tobytes(), "little" if np.little_endian else "big")
    return f"{value!s} (0x{number:0{digits}x})"


def edge_values(dtype: Any, count: int, seed: int = 0) -> np.ndarray:
    """Values of a dtype at which operations go wrong, then random bits.

    Parameters
    ----------
    dtype : dtype_like
        bool, an integer, a float or a complex dtype.
    count : int
        How many; the special values come first, so give at least 64 to have them all.
    seed : int
        Of the random part; the same seed gives the same values.

    Returns
    -------
    numpy.ndarray
        One-dimensional, of `count` elements.

    Examples
    --------
    >>> edge_values("int8", 6).tolist()
    [0, 1, 2, 3, 5, 7]
    """
    wanted = np.dtype(dtype)
    random = np.random.default_rng([seed, wanted.itemsize, ord(wanted.kind)])
    match wanted.kind:
        case "b":
            special = np.array([False, True])
            rest = random.integers(0, 2, count).astype(bool)
        case "i" | "u":
            special = _integers(wanted)
            rest = _random_bits(random, wanted, count)
        case "f":
            special = _floats(wanted)
            rest = np.empty(count, wanted)
            # Random bits are mostly huge or tiny; every second value is of ordinary size.
            rest[0::2] = _random_bits(random, wanted, len(rest[0::2]))
            rest[1::2] = random.standard_normal(len(rest[1::2])) * 10
        case "c":
            part = np.dtype(f"f{wanted.itemsize // 2}")
            values = np.empty(count, wanted)
            values.real = edge_values(part, count, seed)
            values.imag = random.permutation(edge_values(part, count, seed + 1))
            return values
        case _:
            raise TypeError(f"edge_values has no values of dtype {wanted}")
    return np.concatenate([special, rest])[:count]


def _random_bits(random: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype)


def _integers(dtype: np.dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    near = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100, info.bits - 1, info.bits]
    middle = 1 << (info.bits // 2)
    candidates = [*near, *(-n for n in near), middle - 1, middle, info.max, info.max - 1, info.min, info.min + 1]
    return np.array([c for c in dict.fromkeys(candidates) if info.min <= c <= info.max], dtype)


def _floats(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    one = dtype.type(1)
    # Above the middle of two float16, and just there once it is rounded to float32.
    halfway = 1 + 2.0**-11 + 2.0**-40
    positive = [
        0.0, np.inf, 1.0, info.smallest_subnormal, info.smallest_normal, info.max, 0.5, 2.0, 1.5, 2.5, 3.0, halfway, 0.1,
        np.nextafter(one, dtype.type(2)), np.nextafter(one, dtype.type(0)), info.eps, 1 / info.eps, 2 / info.eps,
        np.nextafter(dtype.type(info.smallest_normal), dtype.type(0)), np.pi, np.pi / 2, 100.0,
        127.0, 128.0, 255.0, 256.0, 32768.0, 2.0**31, 2.0**32, 2.0**63, 2.0**64,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        values = np.array(positive).astype(dtype)
    return np.concatenate([np.stack([values, -values], axis=1).ravel(), np.array([np.nan, -np.nan], dtype)])


__all__ = ["compare", "complex_distance", "edge_values", "same_bits", "ulp_distance"]

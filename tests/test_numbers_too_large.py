"""Python ints that int64 does not hold, as lengths, positions, steps, axes and options: what NumPy says, with the line."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused, written

import pytocu
from pytocu.errors import CompileError
from pytocu.testing.cases import call_interpreted

ARGUMENTS = ("np.arange(6.0)", "np.arange(12.0).reshape(3, 4)", "10 ** 30")
ROWS = (
    "np.zeros(c)", "np.zeros((2, c))", "np.ones(-c)", "np.full(c, 1.0)", "np.arange(c)", "np.arange(2, c)",
    "np.linspace(0, 1, c)", "np.eye(c)", "np.eye(3, c)", "np.tri(c)", "np.tri(3, 3, c)", "np.eye(3, 3, c)", "np.tril(b, c)",
    "np.triu(b, -c)", "np.diag(a, c)", "np.diag(b, c)", "np.trace(b, c)", "np.triu_indices(3, c)", "np.indices((c, 2))",
    "np.bartlett(c)", "np.hanning(c)", "np.fft.fftfreq(c)", "b[c]", "b[:, -c]", "b[:c]", "b[-c:]", "b[::c] + 0",
    "b[::-c] + 0", "b[:, 1::c] + 0", "b.reshape(c)", "b.reshape(-c)", "b.reshape(c, -1)", "np.resize(a, c)", "np.repeat(a, c)",
    "np.tile(a, c)", "np.roll(a, c)", "np.roll(b, -c, axis=1)", "np.rot90(b, c)", "b.sum(axis=c)", "np.flip(b, -c)",
    "np.pad(a, c)",
    "np.stack((b, b), axis=c)", "np.bincount(np.array([1, 2]), minlength=c)", "np.histogram(a, bins=c)", "np.var(a, ddof=c)",
    "np.histogram(a, bins=3, range=(0, c))", "np.broadcast_to(a, (c, 6))", "a.item(c)",
    *(f"np.{n}, {k})" for n in ("tri(3, 4", "tril(b", "triu(b", "tril_indices(3", "triu_indices(3", "diagonal(b")
      for k in ("2**62", "2**63 - 1", "2**63", "2**63 + 1", "-2**63 + 9", "-2**63")),
    "np.lib.stride_tricks.sliding_window_view(a, c)",
)  # fmt: skip


def test_as_arguments() -> None:
    check(ARGUMENTS, ROWS)


@pytest.mark.parametrize("body", ["np.zeros(c)", "np.hanning(c)", "b.reshape(c)", "b.sum(axis=c)", "np.arange(c)"])
def test_the_line_is_said(body: str) -> None:
    with pytest.raises(CompileError) as found:
        pytocu.jit(written("abc", body, {"np": np}))(np.arange(6.0), np.ones((3, 4)), 10**30)
    assert ", in case" in str(found.value)


def test_longer_ranges_are_refused() -> None:
    refused(ARGUMENTS, "for i in range(c):\n    if a[0] < 1:\n        break\nreturn a", "more numbers than int64", "while True")


def test_what_takes_more_memory_than_there_is() -> None:
    with pytest.raises(MemoryError) as caught:
        pytocu.jit(lambda x: x + (100 << 2**63))(np.ones(3))
    assert isinstance(caught.value, pytocu.CompileError) and "100 << 2**63" in str(caught.value)


@pytest.mark.parametrize("number", ["2**63", "2**64", "-2**63 - 1", "10**30"])
def test_ufuncs_with_keywords(number: str) -> None:
    keywords = (", casting='safe'", ", casting='no'", ", dtype=bool", ", dtype='f4'", ", signature='dd->?'", ", out=c")
    logic = [f"np.logical_xor({x}, {number}{k})" for x in ("a", "b", "3") for k in keywords]
    compared = [f"np.greater({x}, {y}{k})" for x, y in ((number, "255"), ("a", number), (number, number), ("2.5", number))
                for k in (", out=c", ", out=c, casting='safe'", ", dtype=bool", ", dtype='f4'", ", casting='no'")]  # fmt: skip
    check(["np.array([1., 0, 3])", "np.array([1, 0, 3])", "np.zeros(3, bool)"], logic + compared, call=call_interpreted)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_replacements_of_nan(dtype: str) -> None:
    numbers = ("2**63", "2**64", "-10**30", "10**400", "b")
    rows = [f"np.nan_to_num(a, {k}={n})" for k in ("nan", "posinf", "neginf") for n in numbers]
    check([f"np.array([np.nan, np.inf, -np.inf, 1], '{dtype}')", "2**65"], rows, call=call_interpreted)


def test_bessel_functions() -> None:
    check(["2**64"], ["np.i0(a)", "np.i0(-2**63 - 1)", "np.i0(10**30)"], call=call_interpreted)


@pytest.mark.parametrize("number", ["2**63", "2**64 - 1", "2**64", "-2**63 - 1"])
def test_choices(number: str) -> None:
    where = [f"np.where(a, {x}, {y})" for n in (number, "c") for o in ("1", "True", "1.5", n) for x, y in ((n, o), (o, n))]
    select = [f"np.select([a], [{x}], {number})" for x in ("1", "1.5", "b", "np.int8(2)")]
    select += [f"np.select([a], [{number}]{d})" for d in ("", ", 1.5", ", b")]
    check(["np.array([True, False])", "np.ones(2, 'f4')", number], where + select, call=call_interpreted)


@pytest.mark.parametrize("body", ["np.clip({}, 0, 5)", "np.clip({}, np.int8(2), None)", "np.sum({})", "np.ravel({})"])
@pytest.mark.parametrize("number", ["2**64", "a"])
def test_numbers_that_numpy_computes_with_as_objects(body: str, number: str) -> None:
    refused(["2**64"], f"return {body.format(number)}", "as an object", "make it a float", error=OverflowError)


@pytest.mark.parametrize("index", ["np.uint64(2**64 - 1)", "np.uint64(2**63)", "np.uint64(1)", "np.array(2**64 - 1, 'u8')"])
def test_unsigned_positions(index: str) -> None:
    rows = ("a[c]", "b[1, c]", "b[c] + 0", "b[c, 1:] + 0", "a[d[0]]", "a[d]", "a[d[1:]]")
    check(["np.arange(3)", "np.arange(9).reshape(3, 3)", index, "np.array([2**64 - 1, 0], 'u8')"], rows)


@pytest.mark.parametrize("index", ["2**63", "2**64", "-2**63 - 1"])
def test_positions_that_are_no_ints_of_64_bits(index: str) -> None:
    rows = ("a[b]", "a[None, b]", "a[[0]][b]", "a.flat[b]", "np.take(a, [b])", "a[b] = 1\nreturn a", "a[b] += 1\nreturn a")
    check(["np.arange(3.0)", index], rows)

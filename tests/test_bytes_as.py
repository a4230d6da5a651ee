"""Views with a dtype of another size: the bytes of the last axis as other numbers."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused

import pytocu
from pytocu.testing.compare import compare

DTYPES = ("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")


@pytest.mark.parametrize("source", DTYPES)
def test_every_pair_of_dtypes(source: str):
    """The bits of every dtype as those of every other one, of edge values."""
    bits = np.random.default_rng(1).integers(0, 256, 3 * 64, dtype=np.uint8)
    numbers = (bits > 99) if source == "bool" else bits.view(source)
    rows = numbers.reshape(3, -1)
    targets = [t for t in DTYPES if t != "bool" and np.dtype(t).itemsize != np.dtype(source).itemsize]

    def viewed(x, y):
        return [np.copy(x.view(t)) for t in targets], [np.copy(y.view(t)) for t in targets]

    for actual, expected in zip(pytocu.jit(viewed)(numbers, rows), viewed(numbers, rows), strict=True):
        for one, other in zip(actual, expected, strict=True):
            compare(one, other, exact=True)


def _copies(*texts: str) -> list[str]:
    return [f"np.copy({text})" for text in texts]


def test_lengths_and_gaps():
    check(
        ["np.arange(6, dtype='i4')"],
        _copies("a.view('i8')", "a[:5].view('i8')", "a[::2].view('i1')", "a.reshape(2, 3).view('i1')",
                "a.reshape(3, 2).view('i8')", "a.reshape(2, 3).T.view('i1')", "a[:0].view('i8')",
                "a.view('c16')", "a[2:4].view('f8')", "(a + 1).view('i8')",
                "a[1:2:2].view('i1')", "a[::2].copy().view('i1')", "(a * 2).view('u1').sum()"),
    )  # fmt: skip
    check(["np.array(5, 'i4')"], ["a.view('i1')", "a.view('i8')", "a.view('f4')"])
    check(["np.int32(5)"], ["a.view('i1')", "a.view('i8')", "a.view('f4')"])
    for text in ("[:, 1:3]", "[:, ::2]", "[::2]", "[:, :1]", "[:, :0]", "[:0, ::2]", ".T"):
        check([f"np.arange(12.).reshape(3, 4){text}"], _copies("a.view('f4')", "a.view('c16')"))
    check(["np.arange(12.)[::2]"], _copies("a.view('f4')", "a.view('c16')"))
    empty = ["np.zeros((0, 4), 'f4')", "np.zeros((3, 0), 'f4')"]
    check(empty, _copies("a.view('u1')", "a.view('f8')", "b.view('f8')", "b.view('u1')"))


def test_a_change_of_either_is_refused():
    for body in ("z = a.view('u1')\nz[:] = 0\nreturn a", "z = a.view('u1')\na[0] = 7\nreturn z"):
        refused(["np.arange(3.)"], body, "one of them is changed", "write .copy() where it is made")
    bodies = "z = a.copy().view('u1').copy()\nz[:8] = 1\nreturn z", "z = a.view('u1').copy()\na[0] = 7\nreturn z"
    check(["np.arange(3.)"], bodies)


def test_bytes_are_no_bools():
    refused(["np.arange(3.)"], "a.view(bool)", "bytes other than 0 and 1 are no bools", "x.view(np.uint8) != 0")

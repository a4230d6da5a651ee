"""Reductions at array level: text, types and what the interpreter gives."""

import numpy as np
import pytest

from pytocu.errors import CompileError, InternalError
from pytocu.ir.interp import run
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.verifier import verify

SUMS = """func @sums(%x: f64[n, 3, m]) {
  %total = reduce %x {axes = (0, 1, 2), op = "add"} : f64
  %rows = reduce %x {axes = (2,), op = "maximum"} : f64[n, 3]
  %parts = reduce %x {axes = (0, 2), op = "add", piece = 5, pieces = n} : f64[n, 3]
  %at = iota {axis = 2, shape = (n, 3, m)} : i64[n, 3, m]
  %best, %where = reduce %x, %at {axes = (2,), op = "argmax"} : f64[n, 3], i64[n, 3]
  %running = scan %x {axis = 0, op = "add"} : f64[n, 3, m]
  return %total, %rows, %parts, %where, %running {tree = ("tuple", 0, 1, 2, 3, 4)}
}
"""


def test_what_reductions_mean():
    function = parse_function(SUMS)
    verify(function)
    assert print_function(function) == SUMS.strip()
    x = np.random.default_rng(0).standard_normal((4, 3, 5))
    total, rows, parts, where, running = run(function, [x])
    assert total == x.sum()
    np.testing.assert_array_equal(rows, x.max(2))
    flat = x.transpose(1, 0, 2).reshape(3, 20)
    np.testing.assert_allclose(parts, flat.reshape(3, 4, 5).sum(2).T)
    np.testing.assert_array_equal(where, x.argmax(2))
    np.testing.assert_array_equal(running, x.cumsum(0))


def test_axes_are_in_order_and_in_range():
    reduced = '%y = reduce %x {axes = (1, 0), op = "add"} : f64'
    with pytest.raises((InternalError, CompileError), match="in order"):
        verify(parse_function(f"func @f(%x: f64[n, m]) {{\n  {reduced}\n  return %y {{tree = 0}}\n}}"))


@pytest.mark.parametrize("text", ['reduce %x {axes = (0,), op = "ad"} : f64', 'scan %x {axis = 0, op = ""} : f64[n]'])
def test_what_combines_is_in_the_table(text: str):
    with pytest.raises(InternalError, match=r"which is none of add|which is not a string that is a name"):
        verify(parse_function(f"func @f(%x: f64[n]) {{\n  %y = {text}\n  return %y {{tree = 0}}\n}}"))

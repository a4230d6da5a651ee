"""Methods of Python's containers and builtins that are given what only a run knows: Python's answer, or a refusal."""

from __future__ import annotations

import copy
import re
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.arange(6.0).reshape(2, 3)
Point = namedtuple("Point", "a b")
TABLE = {1: 2, 2: 3}


def counts(x, n, s):
    return x.shape.count(3), (n, 3).count(2), Point(n, 3).count(2), (1, 2, 1).count(n), (1, 2, 1).count(1)


def numbered(x, n, s):
    total = 0
    for k, v in enumerate((5, 6), start=n):
        total += k * v
    return total, list(enumerate([5, 6], n))


def rounded(x, n, s):
    return round(1.5, n), round(2.675, n), round(15, -n), round(True, n), round(2.675, ndigits=n)


def powers(x, n, s):
    return pow(n, exp=2), pow(base=n, exp=n), pow(base=2, exp=n)


def copies(x, n, s):
    held, row = [x, n], copy.copy(x.T)
    apart, same = copy.deepcopy(held), copy.copy(held)
    x[0] = 9.0
    return apart, same, row, copy.copy(n), copy.deepcopy({"a": (x, s)})["a"]


def listed(x, n, s):
    return [1, 2.5] - np.float32(1), np.int8(2) > (1, 2), [1.5] / np.float16(2)


def read(x, n, s):
    return TABLE.get(2), TABLE.get(5, n), {"a": x}.get("a", s), {"a": n}.get("b")


def of_an_int(n):
    return n.bit_length(), n.bit_count(), n.conjugate(), n.numerator, n.denominator


def of_a_float(n):
    return n.is_integer(), n.conjugate(), n.real, n.imag


def of_a_complex(n):
    return n.conjugate(), n.real.is_integer(), n.imag.conjugate()


def of_steps(n):
    total = 0
    for i in range(n):
        total += (3 * i - 4).bit_length() + i.bit_count()
        if (i / 4).is_integer():
            total += 100
    return total


@pytocu.vectorize
def bits_of(x):
    return int(x).bit_length() + 100 * float(x).is_integer()


INTS = (0, 1, -1, 7, -8, 2**62, 2**63 - 1, -(2**63), True)
FLOATS = (0.0, -0.0, 3.5, -4.0, 2.0**70, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize(
    ("function", "numbers"),
    [(of_an_int, INTS), (of_a_float, FLOATS), (of_a_complex, (1 + 2j, -1.5 - 0j)), (of_steps, (0, 1, 17))],
)
def test_methods_of_python_numbers(function: Any, numbers: Any) -> None:
    made = pytocu.jit(function)
    for number in numbers:
        compare(made(number), function(number))


def test_methods_of_python_numbers_in_a_kernel() -> None:
    x = np.array([0.0, 3.0, -2.5, 9.0, -(2.0**40), 1e-300, -7.0])
    compare(bits_of(x), np.array([int(v).bit_length() + 100 * v.is_integer() for v in x.tolist()]))


@pytest.mark.parametrize(
    ("function", "number", "sentence", "help"),
    [
        (lambda n: n.hex(), 1.5, "the attribute hex of a Python float", "make a text of it outside"),
        (lambda n: n.to_bytes(), 3, "the attribute to_bytes of a Python int", "ask outside the function"),
        (lambda n: n.as_integer_ratio(), 3, "the attribute as_integer_ratio of a Python int", "ask outside the function"),
    ],
)
def test_methods_that_are_refused(function: Any, number: Any, sentence: str, help: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence) as error:
        pytocu.jit(function)(number)
    assert help in error.value.help


@pytest.mark.parametrize("function", [counts, numbered, rounded, powers, copies, listed, read])
def test_pythons_answer(function: Any) -> None:
    for n, s in ((2, 1.5), (1, -0.5)):
        made, wanted = pytocu.jit(function)(X.copy(), n, s), function(X.copy(), n, s)
        compare(made, wanted)


def test_what_stands_twice_is_copied_once() -> None:
    def changed(x):
        first, second = copy.deepcopy([x, (x, x)])
        first += 1
        return first, second, x

    compare(pytocu.jit(changed)(X.copy()), changed(X.copy()))


def test_an_array_that_is_copied_lies_as_it_did() -> None:
    made = pytocu.jit(lambda x: (copy.copy(x), copy.deepcopy(x)))(X.T)
    assert [m.strides for m in made] == [copy.copy(X.T).strides, copy.deepcopy(X.T).strides]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n, s: [1, 2] @ [1, 2],
        lambda x, n, s: (n, 2) @ (1, 2),
        lambda x, n, s: [1, 2] @ n,
        lambda x, n, s: divmod([n], 2),
        lambda x, n, s: divmod((n, n), 2),
        lambda x, n, s: divmod([x], 2),
        lambda x, n, s: getattr(x, 3),
        lambda x, n, s: hasattr(x, None),
        lambda x, n, s: int(s, 2),
    ],
)
def test_pythons_errors(function: Any) -> None:
    with pytest.raises(TypeError) as wanted:
        function(X, 2, 1.5)
    with pytest.raises(TypeError) as found:
        pytocu.jit(function)(X, 2, 1.5)
    assert str(found.value).split("\n")[0] == str(wanted.value)


def cut(x, n, s):
    values = [1, 2, 3]
    values[n:] = [9]
    return values


def shortened(x, n, s):
    values = [1, 2, 3]
    del values[n:]
    return values


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, n, s: TABLE.get(n), "dict.get() compares values known only at run time"),
        (lambda x, n, s: {(2, 3): 7}.get(x.shape, 1), "dict.get() compares values known only at run time"),
        (lambda x, n, s: {2: x}.get(len(x), x), "dict.get() compares values known only at run time"),
        (lambda x, n, s: (n, 3, 5).index(3, 1), "tuple.index() compares values known only at run time"),
        (lambda x, n, s: (x[:1, 0], n).index(2), "tuple.index() compares values known only at run time"),
        (lambda x, n, s: (x[:1, 0], 3).count(3), "tuple.count() compares values known only at run time"),
        (lambda x, n, s: (1, 2, 3)[n:], "a slice of a tuple with bounds that are known only at run time"),
        (lambda x, n, s: "abc"[:n], "a slice of a str with bounds that are known only at run time"),
        (lambda x, n, s: x.shape[: n - 1], "a slice of a tuple with bounds that are known only at run time"),
        (cut, "a slice of a list with bounds that are known only at run time"),
        (shortened, "of several members of a list whose length a run decides is not compiled"),
        (lambda x, n, s: [5, 6, 7].pop(n), "list.pop() at a position that is known only at run time"),
        (lambda x, n, s: [5, 6, 7].insert(n, 9), "list.insert() at a position that is known only at run time"),
        (lambda x, n, s: int("11", n), "int() of a text with a base that is known only at run time"),
        (lambda x, n, s: pow(n, 2, mod=5), "pow() with a modulo of ints known only at run time"),
        (lambda x, n, s: copy.copy({1, 2}), "copy.copy of a set is not compiled"),
        (lambda x, n, s: copy.deepcopy(Point(x, n)), "copy.deepcopy of a Point is not compiled"),
    ],
)
def test_what_is_refused(function: Any, said: str) -> None:
    function(X, 2, 1.5)
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(function)(X, 2, 1.5)
    assert said in str(caught.value) and caught.value.help


def test_a_number_beside_an_array_without_axes_is_taken_out_of_it() -> None:
    def one_of_two(z):
        if z.any():
            return z + 1
        return z

    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(one_of_two)(np.array(1.5))
    assert caught.value.help == "take the number out of the array without axes: z[()]"
    compare(pytocu.jit(lambda z: z + 1 if z.any() else z[()])(np.array(1.5)), np.float64(2.5))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n, s: x.shape.index(len(x)),
        lambda x, n, s: Point(n, 3).index(3),
        lambda x, n, s: (s, n, 2, n + 1).index(n),
        lambda x, n, s: (s, n, 2).index(s * 2),
        lambda x, n, s: (x[0, 0], x[1, 1], x[0, 1]).index(max(x[0, 0], x[1, 1], x[0, 1])),
        lambda x, n, s: x[(3, n).index(2)],
    ],
)
def test_the_place_of_a_number_in_a_tuple(function: Any) -> None:
    for x, n, s in ((X, 2, 1.5), (X, 3, 1.5), (X[::-1], 2, 1.0)):
        try:
            wanted = function(x, n, s)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                pytocu.jit(function)(x, n, s)
        else:
            compare(pytocu.jit(function)(x, n, s), wanted)


def test_slices_of_numbers_of_a_run() -> None:
    def inner(x, n):
        middle, rest = slice(1, x.shape[1] - 1), slice(n, None)
        total = x[:, middle] * 2
        for part in (slice(0, n), rest, slice(None, n, -1)):
            total[part] += x[part, slice(1, x.shape[1] - 1)]
        return total, middle.stop, x[rest]

    for n in (0, 1, 2, -1):
        compare(pytocu.jit(inner)(X, n), inner(X, n))
    with pytest.raises(TypeError, match="slice expected at least 1 argument, got 0"):
        pytocu.jit(lambda x: x[slice()])(X)

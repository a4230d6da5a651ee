"""What NumPy and Python say where something that is no number is used as one, and which of several errors comes first."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused

import pytocu


def test_what_is_no_number_in_the_words_of_the_function():
    bodies = (
        "None - a", "a - None", "a & 'x'", "a // 'x'", "a - 'x'", "a @ None", "None @ a", "divmod(a, np)", "a < None",
        "a % None", "np.add(-0.0, None)", "np.maximum(a, None)", "np.maximum(b'x', -0.0)", "np.linspace(None, None)",
        "np.quantile(a, None)",
        "np.linspace(a, None, 3)", "np.union1d(a, None)", "np.less(a, 'x', dtype=int)", "np.kron(a, b'x')", "np.repeat(a, 'x')",
        "np.append(a, None, axis=0)", "np.stack((a, {}))", "np.logaddexp(b, b'x')", "a.clip('x', 3)", "sum([a, None])",
    )  # fmt: skip
    check(["np.ones((2, 3), 'i4')", "np.ones(3, 'c16')"], bodies)


def test_what_is_no_number_in_assignments():
    statements = "a += None", "a[0] *= None", "a[...] = None", "a[0] -= 'x'", "np.fill_diagonal(a, {})", "a.put(5, {})"
    check(["np.ones((2, 3), 'i4')"], [f"{statement}\nreturn a" for statement in statements])


def test_arrays_of_objects_are_refused():
    refused(["np.ones(3)"], "np.full(2, None)", "None is used as a number or an array", "no arrays of Python objects")
    refused(["np.ones(3)"], "np.where(a > 0, a, None)", "None is used as a number or an array", "no arrays of Python objects")


class Adding:
    """A class with an operator of its own, which nobody calls."""

    def __radd__(self, other):
        raise AssertionError


OWN = Adding()


def test_code_of_a_class_is_not_run_for_its_words():
    def added(x):
        return np.add(x, OWN)

    with pytest.raises(pytocu.DTypeError, match="an object of type Adding is used as a number"):
        pytocu.jit(added)(np.ones(3))


def test_examples_are_small():
    """NumPy is asked for its words with the ints that stand in the program, which may be lengths."""

    def filled(x):
        return np.full((2**20, 2**20), None)

    with pytest.raises(pytocu.DTypeError, match="None is used as a number"):
        pytocu.jit(filled)(np.ones(3))


def test_operators_in_place_have_their_own_sign():
    check(["False", "2-1j"], ["a ^= b\nreturn a", "a @= b\nreturn a", "a @ b", "a &= 1.5\nreturn a", "a <<= b\nreturn a"])
    check(["np.float32(1)", "2"], ["a @= b\nreturn a", "a |= None\nreturn a", "a ^= b\nreturn a"])


def test_powers_with_a_modulo():
    check(["np.ones(3)", "np.uint32(5)", "2.5"], ["pow(a, a, 3)", "pow(a, 2, 3)", "pow(c, 2, 3)", "pow(2, a, 3)"])
    refused(["5"], "pow(a, 2, 3)", "pow() with a modulo", "base ** exponent % modulo")


def test_orders_and_castings_of_ufuncs():
    bodies = (
        "np.add(a, 1, order='c')", "np.add(a, 1, order='f')", "np.add(a, 1, order=None)", "np.add(a, 1, order=0)",
        "np.add(a, 1, order='x')", "np.add(a, 1, casting=None)", "np.add(a, 1, casting='bad')", "np.mod.outer(a, 1, casting=3)",
        "np.add(a, 1, out=3, order='x')", "np.matmul(a, a.T, order='k')", "np.arctan(a, foo=1)", "np.atan(a, a, a, a)",
        "np.true_divide(a, a, foo=1)", "np.pow(a)",
    )  # fmt: skip
    check(["np.ones((2, 3), 'i4')"], bodies)


READ_ONLY = "np.broadcast_to(np.arange(4, dtype='i4').reshape(2, 2), (2, 2))"


def test_arrays_that_must_not_be_written_come_before_dtypes_and_indices():
    statements = (
        "a *= b", "np.add(a, b, out=a)", "np.sqrt(b, a)", "a[...] *= b", "a[:1] += b", "a[:, 0, [0, 1]] = 1", "a[...] = np",
        "np.copyto(a, b)", "a[[True, False, True]] = 2", "a[1.5] = 2", "a[9] = 2", "np.fill_diagonal(a, 1j)",
        "np.clip(a, 'x', 1, out=a)", "a.clip(0.5, None, out=a)", "np.putmask(a, [1, 0], 2j)", "a.fill(1j)",
        "np.put(a, [1.5], 1j)",
    )  # fmt: skip
    check([READ_ONLY, "np.float64(2)"], [f"{statement}\nreturn a" for statement in statements])


def test_lengths_come_before_what_is_found_behind_them():
    """The call that compiles has lengths for which NumPy does not come to the dtypes."""
    arguments = ["np.ones(3, 'u1')", "np.ones((2, 0, 3), bool)", "np.ones(2)"]
    check(arguments, ["np.place(a, b, c)\nreturn a", "np.putmask(a, b, c)\nreturn a"])

    def changed(x, y):
        x[1:] = y
        x -= True

    f = pytocu.jit(changed)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.ones(3, bool), np.ones(3, bool))
    with pytest.raises(TypeError, match="boolean subtract"):
        f(np.ones(4, bool), np.ones(3, bool))

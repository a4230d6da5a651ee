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
    refused(["5"], "pow(a, 2, 3)", "pow() with a modulo", "while e: r = r * b % m")


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

    bodies = (
        "np.gcd(a[:, 1:], a[::-1]), np.add(b, 1.5, out=a)", "a[:, :2] = a\nreturn np.add(a, 1.5, out=a)",
        "a[1:] + a, b.nothing",
        "a[2:] + a, b.nothing", "a[:, :1] = a[2:]\nreturn b.nothing",
    )  # fmt: skip
    check(["np.ones((3, 3), int)", "np.int32(2)"], bodies)

    def changed(x, y):
        x[1:] = y
        x -= True

    f = pytocu.jit(changed)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.ones(3, bool), np.ones(3, bool))
    with pytest.raises(TypeError, match="boolean subtract"):
        f(np.ones(4, bool), np.ones(3, bool))


def test_what_is_no_int_in_the_words_of_the_function():
    """Each function has its own: of lengths, axes, decimals and counts."""
    bodies = (
        "np.eye(True)", "np.eye(2, True)", "np.identity(np.True_)", "np.eye(np.float32(1))", "np.tri('x')", "np.tile(a, None)",
        "np.tile(a, 'x')", "np.pad(a, True)", "np.pad(a, 1.5)", "np.pad(a, None)", "np.full(True, 1)", "np.full(2.5, 1)",
        "np.full(np.float32(2), 1)", "np.zeros((True, 2))", "np.zeros(1j)", "np.zeros({})",
        "np.zeros((1.5, 2))",
        "np.unravel_index(0, 2.5)", "np.reshape(a, True)", "np.reshape(a, 2.0)", "np.broadcast_to(a, True)",
        "np.resize(a, 2.5)",
        "np.fft.fft(a, n=True)", "np.vander(a, True)", "np.rot90([a], 'x')", "np.polyder(a, 'x')", "np.diff(a, 'x')",
        "np.diff(a, None)", "np.histogram(a, 1.5)", "np.bincount([1, 2], minlength=True)", "np.split(a, 2, axis='x')",
        "np.split(a, [1], axis=None)", "np.trace([a], 1.5)", "np.diag_indices('x')", "np.swapaxes([a], 1.0, 0)",
        "np.squeeze(a, 0.0)", "np.concatenate([a], False)", "np.concatenate([a], 0.0)", "np.take(a, 0, False)",
        "np.take(a, 0, 0.0)", "np.flip(a, 0.0)", "np.append(a, [2], axis=1.0)", "np.linspace(0, 1, 3, axis=1.0)",
        "np.hanning([1])",
        "np.apply_over_axes(np.sum, a, None)", "np.sum(a, keepdims=None)", "np.round(a, 1.5)",
    )  # fmt: skip
    check(["np.arange(2.)"], bodies)


def test_truth_values_that_numpy_takes_for_ints():
    check(["np.arange(2.)"], ["np.tile(a, True)", "np.tile(a, (True, 2))", "np.tri(True)", "np.tri(2, True, True)"])
    refused(["np.ones((2, 2))"], "np.triu(a, k=np.float32(1.5))", "cannot be interpreted as an integer", "write an int")
    refused(["np.ones(2)"], "np.linspace(0, 1, True)", "cannot be interpreted as an integer", "write an int")


def test_arrays_of_members_with_other_shapes():
    bodies = (
        "np.array([a, b])", "np.array([a, a.T])", "np.array([[a], [1]])", "np.array([a, a[0]])",
        "np.array([c, c[:, :, 1:]])", "np.array([c, c[:, 1:]])", "np.array([a, b, a[:1]])", "np.array([[1, 2], 3])",
    )  # fmt: skip
    check(["np.ones((2, 3))", "np.ones((2, 2))", "np.ones((2, 3, 4))"], bodies)


def test_names_of_axes_and_kinds_of_operands():
    bodies = "np.cross(a, a, axis=1)", "np.cross(b, b, axisb=4)", "np.choose(1.0, [1, 2])", "np.choose([1.0], [1, 2])"
    check(["np.ones(3)", "np.ones((3, 3))"], bodies)
    check(["np.ones((2, 2))"], ["np.linalg.matrix_power(a, 1)", "np.linalg.matrix_power(a, -1)"])
    refused(["np.ones(2, 'f4')"], "np.multiply.at(a, [0], 1j)\nreturn a", "rounds to float32 at every step", "convert")
    try:
        np.ones(6).flat[1.5]
    except IndexError:
        # Older versions refuse it.
        check(["np.arange(6.)"], ["a.flat[1.5]"])
    else:
        refused(["np.arange(6.)"], "a.flat[1.5]", "an index of x.flat", "")


def test_arguments_of_methods():
    bodies = (
        "a.argmin(0, None, -1)", "a.argmax(None, None, 1)", "a.sum(1, 2, 3, 4, 5, 6, 7, 8)", "a.sum(foo=1)", "a.copy(1, 2)",
        "a.fill()", "a.take()", "a.clip(1, 2, 3, 4, 5)", "a.round(1, 2, 3)", "a.astype()", "a.conj(1)", "a.min(foo=2)",
        "a.searchsorted()", "a.put(1)", "a.swapaxes(1)", "a.mean(foo=1)", "a.squeeze(1, 2)",
    )  # fmt: skip
    check(["np.ones((2, 3))"], bodies)
    check(["np.float32(2)"], ["a.argmin(0, None, -1)", "a.sum(foo=1)", "a.copy(1, 2)"])


def test_more_of_numpys_order():
    """What NumPy looks at first, and lengths of letters, of lists and of arrays without axes."""
    bodies = (
        "np.einsum('ij,jk', b, b)", "np.einsum('i,i->', a, b[0])", "np.einsum('ij,kj->ki', b, b[:, 1:])",
        "np.einsum('ij,jk', b, b, optimize=True)", "np.einsum('ij,kj,kl', b, b[:, 1:], b, optimize='optimal')",
        "np.einsum('ii', b, optimize=True)", "np.einsum('ii,i->i', b[:1], b[0], optimize=None)",
        "np.take_along_axis(b, [0], (0, 1))", "np.take_along_axis(b, 1.0, 5)", "np.take_along_axis(b, 1, 0)",
        "np.put_along_axis(b, 0, None, 1)", "np.take_along_axis(b, b, 0)", "np.take_along_axis(a, [0], None)",
        "np.copyto(b, c, casting='no')", "np.tri(-1, 1, 2)", "np.tri(2, -3)", "np.expand_dims(a, ())",
    )  # fmt: skip
    check(["np.ones(4)", "np.ones((2, 3))", "np.array(2)"], bodies)
    refused(["np.ones(3)"], "np.ceil(a, dtype=object)", "gives dtype object, which pytocu does not know", "")


def test_floats_of_run_time_as_lengths():
    """The sentence quotes the number."""
    bodies = (
        "np.zeros(a)", "np.ones(a, int)", "np.full(a, 1)", "np.empty(a)", "np.zeros((2, a))", "np.zeros_like(b, shape=a)",
        "b if a < 0 else np.zeros(a)", "for _ in range(2):\n    b = b + np.zeros(a)\nreturn b",
    )  # fmt: skip
    for number in ("2.5", "1.0", "np.nan", "1e22"):
        check([number, "np.ones(3)"], bodies)
    with pytest.raises(TypeError, match="got <weak float>"):
        pytocu.vectorize(lambda x, n: x + np.zeros(n))(np.ones(3), 2.5)


def test_repeats_that_are_no_ints():
    bodies = ("np.repeat(b, a)", "b.repeat(a, axis=0)", "np.repeat(b, [a])", "np.repeat(b, [a, a, 1])")
    for number in ("2.5", "-0.5", "-1.5", "np.nan", "np.inf", "True", "2", "1j"):
        check([number, "np.ones(3)"], bodies)
    for number in ("np.float64(2.5)", "np.array(2.5)", "np.array([2])"):
        check([number, "np.ones(3)"], bodies)


def test_outputs_without_a_dtype():
    bodies = [f"np.{name}(a, out={out})" for name in ("nanmean", "nanvar", "nanstd") for out in ("(b,)", "[b]", "3", "2.5")]
    check(["np.ones(3)", "np.array(1.0)"], bodies)
    check(["np.ones(3, int)", "np.array(1.0)"], bodies)


def test_positions_on_an_axis_without_elements():
    bodies = ("a[b]", "a.T[:, b]", "a[b, 0]", "a[b, :0]", "a[b, b]", "np.zeros((0, 2))[b]", "a[b] + 1")
    for positions in ("[2, 3]", "[3, 2]", "[-2, 1]", "[]"):
        check(["np.zeros((0, 3))", f"np.array({positions}, int)"], bodies)

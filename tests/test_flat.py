"""``x.flat``: read, assigned and gone over by number, as NumPy does it."""

from __future__ import annotations

import pytest
from edge_tools import check, refused

GIVEN = ("np.array([2, 1])", "2")
ARRAYS = ("np.arange(6.).reshape(2, 3)", "np.arange(6).reshape(3, 2).T", "np.arange(12.).reshape(4, 3)[::2]")

READ = (
    "a.flat[0]", "a.flat[-7]", "a.flat[9]", "a.flat[[1, 3]]", "a.flat[[1, 9]]", "a.flat[[]]", "a.flat[(1,)]", "a.flat[...]",
    "a.flat[None]", "a.flat[1:3]", "a.flat[::-1]", "a.flat['x']", "a.flat[np.uint8(1)]", "a.flat[1, 2]", "a.flat[c]",
    "a.flat[c:]", "a.flat[b]", "a.flat[b[1]]", "len(a.flat)", "a.flat == 0", "a.flat < a.flat", "-a.flat", "a.flat + 1",
    "c + a.flat", "a.flat + b[0] * a.ravel()", "a.flat.shape", "a.flat.base is a", "a.flat.foo", "a.flat.copy()", "sum(a.flat)",
    "float(a.flat)", "np.add(a.flat, 1)", "isinstance(a.flat, np.flatiter)", "np.shape(a.flat)", "np.array(a.flat)",
    "np.asarray(a.flat)", "np.concatenate([a.flat, a.flat])", "[x + 1 for x in np.zeros((2, 2)).flat]",
    "a.flat[a.ravel() > 2]", "a.T.flat[a.ravel() > 2] * 2", "a.flat[a > 2]", "a.flat[a.ravel()[1:] > 2]",
    "a.flat[np.zeros(0, bool)]",
)  # fmt: skip

CHANGES = (
    "a.flat[9] = 1", "a.flat[3] = 1", "a.flat[-1] = True", "a.flat[c] = 4", "a.flat[b[0]] = 4", "a.flat[b] = b",
    "a.flat[b] = 4",
    "a.flat[[1, 9]] = 1", "a.flat[[1, 1]] = [5, 6]", "a.flat[1:4] = [7, 8]", "a.flat[1:4] = np.arange(9)", "a.flat[:] = []",
    "a.flat = [1, 2]", "a.flat[1] = [3, 4]", "a.flat = 1j", "a.flat = 7", "a.flat[1] += 1", "a.flat[1:3] *= [2, 3]",
    "a.flat = np.arange(3)", "a.flat[...] = 3", "a.flat[::4] = 3", "a.flat[::-2] = np.arange(3)", "a.flat[c:] = 4",
    "a.flat[c:] = b", "f = a.flat\nf[1] = 4\nf[0] += f[1]", "for i in range(len(a.flat)):\n    a.flat[i] = i",
    "a.flat = b[b < c]", "a.flat[1:] = b[b > c]", "a.flat[[1, 2]] = b[b > 0]",
    "b[:] = a.flat[:2]", "a.flat[a.ravel() > 2] = [7, 8]", "a.flat[a.ravel() > 2] += 1", "a.flat[a.ravel()[1:] > 2] = 1",
)  # fmt: skip

LOOPS = (
    "s = 0\nfor x in a.flat:\n    s += x\n    a[-1:] = 3\nreturn s",
    "s = 0\nfor i, x in enumerate(a.flat):\n    s += i * x\nreturn s",
    "for x, y in zip(a.flat, a.T.flat):\n    c += x * y\nreturn c",
)  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS)
def test_elements_in_a_row(array):
    check((array, *GIVEN), READ)
    check((array, *GIVEN), [f"{body}\nreturn a, b" for body in CHANGES])
    check((array, *GIVEN), LOOPS)


@pytest.mark.parametrize("array", ("np.array(5.)", "np.zeros((0, 3))", "np.broadcast_to(np.arange(3.), (2, 3))"))
def test_arrays_without_axes_elements_and_leave_to_be_changed(array):
    check([array], ["a.flat[0]", "a.flat[1]", "a.flat[:]", "len(a.flat)", "a.flat == 0"])
    changes = ("a.flat = 3", "a.flat = [1]", "a.flat[0] += 1", "a.flat[1] = 1", "a.flat[1:1] = 1", "a.flat[:] = [1, 2]")
    check([array], [f"{body}\nreturn a" for body in changes])


def test_what_is_refused():
    array = ["np.arange(6.).reshape(2, 3)"]
    refused(array, "a.flat[[int(a[0, 1]), 0]]", "an index of x.flat", "write x.reshape(-1)[...]")
    refused(array, "a.flat = a.T\nreturn a", "its own x.flat", "x.flat = y.copy()")
    refused(array, "a.flat.coords", "coords of x.flat", "enumerate")

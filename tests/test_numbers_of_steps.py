"""Python ints that steps of loops make of the call's numbers: Python's, or an OverflowError where int64 does not hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import written

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare

BODIES = (
    "for v in range(x, x + 3):\n    a[v % 3] = v\nreturn a",
    "for v in range(x * y, x * y + 3):\n    a[v % 3] = v\nreturn a",
    "for v in range(x, x + 3):\n    a[v % 3] = v * v\nreturn a",
    "for v in range(x, x + 3):\n    a[v % 3] += 1\nreturn a",
    "for v in range(x, x + 3):\n    if v * 2 > y:\n        a[v % 3] = 7\nreturn a",
    "for v in range(len(a)):\n    if v > 1:\n        a[(v * v * x) % 3] += 1\nreturn a",
    "for v in range(len(a)):\n    a[v] = 1 if v * x < y else v * v * x\nreturn a",
    "v = x\nwhile v < x + 3:\n    a[v % 3] += v\n    v += 1\nreturn a",
    "if a[0] == 0:\n    for v in range(len(a)):\n        a[v] = v * v * x * y\nreturn a",
    "for t in range(y):\n    a = np.sort(a)\n    for v in range(x * t, x * t + 3):\n        a[v % 3] += v\nreturn a",
    "return [v for v in range(x * y, x * y + 2)]",
)
NUMBERS = (
    (10, 3), (10**9, 4), (2**62, 4), (2**63 - 1, 1), (2**63 - 3, 1), (-(2**63), 1), (3037000500, 2), (2**58, 3), (2**61, 3),
)  # fmt: skip


def _compared(body: str, x: int, y: int, call: Any) -> bool:
    """Whether the call has Python's answer, and not an OverflowError where int64 holds no number."""
    function = written(("a", "x", "y"), body, {"np": np})
    wanted, given = np.arange(3.0), np.arange(3.0)
    expected = function(wanted, x, y)
    try:
        found = call(function, given, x, y)
    except OverflowError as error:
        assert isinstance(error, CompileError) and error.loc is not None
        return False
    compare(found, expected)
    compare(given, wanted)
    return True


def _by_threads(function: Any, *arguments: Any) -> Any:
    low = pytocu.jit(function).lower(*arguments)
    results = interp.run(low.host("cuda:sm_90", index_bits=64), arguments)
    return interp.arrange(low.function.body.terminator.attr("tree"), results)


@pytest.mark.parametrize("body", BODIES)
def test_numbers_that_int64_may_not_hold(body: str) -> None:
    answered = [_compared(body, x, y, lambda f, *given: pytocu.jit(f)(*given)) for x, y in NUMBERS]
    # What int64 holds is Python's.
    assert answered[:2] == [True, True] and not all(answered)


@pytest.mark.parametrize("body", BODIES[:8])
def test_on_a_gpu_thread_by_thread(body: str) -> None:
    answered = [_compared(body, x, y, _by_threads) for x, y in NUMBERS[:5]]
    assert answered[:2] == [True, True] and not all(answered)


def test_calls_that_are_repeated() -> None:
    function = pytocu.jit(written(("a", "x"), "for v in range(x, x + 3):\n    a[v % 3] = v\nreturn a", {}))
    for _ in range(4):
        assert function(np.zeros(3), 5).tolist() == [6, 7, 5]
        with pytest.raises(OverflowError, match="a Python int in a loop on arrays does not fit int64"):
            function(np.zeros(3), 2**63 - 1)


GUARDED = (
    "for v in range(k):\n    if v * v > x:\n        break\n    a[v] = v * v\nreturn a",
    "for v in range(k):\n    if v < 3:\n        a[v] = v * v * v * v * v\n    else:\n        break\nreturn a",
    "for v in range(x * k, x * k):\n    a[v % 3] = v\nreturn a",
)


@pytest.mark.parametrize("body", GUARDED)
def test_numbers_that_no_step_makes_are_not_looked_at(body: str) -> None:
    function = written(("a", "x", "k"), body, {})
    found = pytocu.jit(function)(np.arange(3.0), 4, 2**62)
    compare(found, function(np.arange(3.0), 4, 2**62))


FAR = (
    "for v in range(0, x, y):\n    a = a + v\nreturn a",
    "for v in range(x, 0, -y):\n    a = a * 0.5 + v\nreturn a",
    "for v in range(0, x, 2**62):\n    a = a + v\nreturn a",
    "for v in range(x - 5, x, 3):\n    a = a + v\nreturn a",
    "for v in range(0, x, y):\n    a[v % 3] += v\nreturn a",
    "for v in range(x, -x, -y):\n    a[v % 3] += v * 0.5\nreturn a",
    "s = 0\nfor v in range(0, x, y):\n    if a[v % 3] > 0:\n        s += 1\nreturn s",
)


@pytest.mark.parametrize("body", FAR)
def test_ranges_whose_next_number_int64_does_not_hold(body: str) -> None:
    for x, y in ((2**63 - 1, 2**62), (2**63 - 1, 2**63 - 1), (2**63 - 2, 2**61 + 1), (10, 3), (9, 2**62)):
        assert _compared(body, x, y, lambda f, *given: pytocu.jit(f)(*given))
        assert _compared(body, x, y, _by_threads)


@pytest.mark.parametrize("body", ["np.arange(x, x + 3)", "np.arange(x - 3, x)"])
def test_ends_of_another_dtype_are_refused(body: str) -> None:
    # NumPy's is float64 or object where one end is no number of int64.
    function = pytocu.jit(written(("x",), body, {"np": np}))
    with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
        function(2**63 - 2 if "+" in body else -(2**63) + 2)
    compare(function(5), np.arange(5, 8) if "+" in body else np.arange(2, 5))


@pytest.mark.parametrize("k", [2**63 - 1, -(2**62), 2**62, 1])
def test_diagonals_far_away(k: int) -> None:
    for text in ("np.tri(3, k=k)", "np.triu(np.ones((3, 3)), k)", "np.tril(np.ones((3, 3)), k)"):
        function = written(("k",), text, {"np": np})
        compare(pytocu.jit(function)(k), function(k))


def test_edges_that_are_nan() -> None:
    with pytest.raises(UnsupportedError, match="an edge of the bins is NaN"):
        pytocu.jit(lambda x, edges: np.histogram(x, edges))(np.arange(4.0), np.array([np.nan, 1.0]))


OF_DATA = (
    "r = 0\nfor v in a:\n    p = 7 * int(v) - 4\n    if p > -1:\n        r += 1\nreturn r",
    "for i in range(len(a)):\n    a[i] = 7 // ((int(a[i]) * -3) or 1)\nreturn a",
    "for i in range(len(a)):\n    a[i] = (int(a[i]) * int(a[i]) + 1) % 10\nreturn a",
    "for i in range(len(a)):\n    a[i] = int(a[i]) + x\nreturn a",
)


@pytest.mark.parametrize("call", [lambda f, *given: pytocu.jit(f)(*given), _by_threads])
@pytest.mark.parametrize("body", OF_DATA)
def test_numbers_that_are_made_of_data(body: str, call: Any) -> None:
    function = written(("a", "x"), body, {})
    for dtype in (np.int64, np.float64):
        small, large = (np.array([3, last, 2**31], dtype) for last in (-7, 2**62))
        expected = small.copy()
        answer = function(expected, 5)
        compare(call(function, small, 5), answer)
        compare(small, expected)
        with pytest.raises(OverflowError, match="does not fit int64"):
            call(function, large, 2**62)


def test_a_constant_that_int64_does_not_hold() -> None:
    function = written(("a",), "for i in range(len(a)):\n    a[i] = min(int(a[i]), 2**93)\nreturn a", {})
    with pytest.raises(UnsupportedError, match=f"the Python int {2**93} in a loop on arrays does not fit int64"):
        pytocu.jit(function)(np.arange(3.0))


@pytest.mark.parametrize("text", ["int(v) + 2**64", "2**64 - int(v)", "-int(v) & (2**64 - 1)", "2**64 // int(v)"])
def test_constants_beyond_int64_in_loops_that_are_pythons(text: str) -> None:
    # Loops whose steps read numbers go natively where int64 holds all of them.
    body = f"r = 0\nfor i in range(len(a)):\n    v = a[i]\n    if v > 2:\n        r = {text}\n    out[i] = r & 1\nreturn r"
    function = written(("a", "out"), body, {})
    assert pytocu.jit(function)(np.array([1, 3, 4]), np.zeros(3)) == function(np.array([1, 3, 4]), np.zeros(3))


@pytest.mark.parametrize("text", ["abs(n)", "-n", "n - 1", "min(n, 3) - 2", "n + 1"])
def test_arguments_that_are_the_ends_of_int64(text: str) -> None:
    function = written(("a", "n"), f"for i in range(len(a)):\n    if a[i] > 1:\n        a[i] = {text}\nreturn a", {})
    end = 2**63 - 1 if "+" in text else -(2**63)
    compare(pytocu.jit(function)(np.arange(3.0), 5), function(np.arange(3.0), 5))
    with pytest.raises(OverflowError, match="a Python int in a loop on arrays does not fit int64"):
        pytocu.jit(function)(np.arange(3.0), end)


def test_counts_of_steps_are_assembled(gpu_compilers) -> None:
    """NVIDIA's assemblers ended the process, where the count was chosen behind its quotient."""

    def kept(a, b, v):
        n = len(a)
        for i in range(n):
            v[i + 1 :] += v[i + 1 :] * 0.125
            for _ in range(max(i - 2, 0), min(i + 3, n)):
                a[i, i] = b[i, i]
        return a, v

    lowered = pytocu.jit(kept).lower("f64[n, n]", "f64[n, n]", "f64[n]")
    for backend in ("nvvm", "cuda_c"):
        assert lowered.compile("cuda:sm_90", backend).binary


@pytest.mark.parametrize("call", [lambda f, *given: pytocu.jit(f)(*given), _by_threads])
@pytest.mark.parametrize("text", ["e", "min(e, x)", "e + x", "3 * e * e - x"])
def test_steps_that_data_count(text: str, call: Any) -> None:
    lines = ("found = []", "t = x", "for v in a[: x + 2]:", "    if v < 4:", "        continue",
             "    for e, g in enumerate(found):", f"        t = (t + g + {text}) % 97", "    found.append(t % 97)",
             "return t")  # fmt: skip
    function = written(("a", "x"), "\n".join(lines), {})
    for a in (np.array([5.0, 1, 9, 4, 7, 2]), np.array([1.0])):
        compare(call(function, a, 3), function(a, 3))


def test_an_int_beside_steps_that_data_count() -> None:
    lines = ("t = 0", "found = []", "for v in a:", "    if v < 4:", "        continue", "    for e, g in enumerate(found):",
             "        t = (t + g + min(e, x)) % 97", "    found.append(t % 97 + 1)", "return t")  # fmt: skip
    function, a = written(("a", "x"), "\n".join(lines), {}), np.array([1.0, 5, 6, 7, 2, 8, 9])
    compare(pytocu.jit(function)(a, 2**62), function(a, 2**62))
    with pytest.raises(UnsupportedError, match=f"the Python int {2**70} in a loop on arrays does not fit int64"):
        pytocu.jit(function)(a, 2**70)

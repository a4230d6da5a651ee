"""Numbers that are Python's on one way through a program and NumPy's on another: what is done with them, and returned."""

from __future__ import annotations

import math
import runpy

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function


def same(function, *args) -> None:
    with np.errstate(all="ignore"):
        expected = function(*args)
    compare(pytocu.jit(function)(*args), expected)


def ratio(a, b):
    return a / b if b else 0.0


def ratio_of_statements(a, b):
    if b == 0:
        return 0.0
    result = a / b
    return result


@pytest.mark.parametrize("function", [ratio, ratio_of_statements])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8])
def test_what_is_returned_is_of_the_kind_of_the_side_taken(function, dtype) -> None:
    for b in (2, 0):
        same(function, dtype(1), dtype(b))
        same(lambda a, b: (1, {"a": (function(a, b), a)}), dtype(1), dtype(b))


def mean_or(x, other):
    return x.mean() if x[0] > 0 else other


def some_uses(x):
    m = mean_or(x, 0.5)
    low = m if x[1] > 0 else x[1]
    return x * m, m - x, x > m, np.sqrt(m), np.where(x > m, x, m), np.maximum(x, low), np.clip(x, low, m), np.full(2, m), [-m]


def stored(x):
    out = np.zeros(3, np.float32)
    out[0] = mean_or(x, 0.1)
    out[1:] = max(x[1], 0.0)
    return out, mean_or(x, 0) * 2 + 1, mean_or(x, 3.0) / 2


def smoothed(x):
    """A step may leave a Python number, and the sides of a branch kinds of their own."""
    out = np.empty_like(x)
    last = np.float64(0)
    for i in range(len(x)):
        if x[i] < 0:
            last = 0.0
        last = last * 0.5 + (x[i] if x[i] > 0 else 0.0)
        out[i] = last
    return out


def test_a_loop_without_a_step_leaves_what_there_was() -> None:
    def function(x, y, n):
        m = y[0] if x[0] > 0 else 3
        for _ in range(n):
            m = 0.5
        return x * m

    same(function, np.array([-1.0, 2.0]), np.ones(2), 0)
    with pytest.raises(UnsupportedError, match=r"a Python .* or, on another way, an np.float64"):
        pytocu.jit(function)(np.array([-1, 2]), np.ones(2), 0)


def found(x):
    at = x.argmax() if x[0] > 0 else -1
    return x[at], x + at


def flagged(x):
    flag = False
    if x[0] > 0:
        flag = (x > 1).any()
    if flag and not x[1] > 5:
        x = x + 1
    return x, flag, (x > 0) & flag


@pytest.mark.parametrize("function", [some_uses, stored, smoothed, found, flagged])
@pytest.mark.parametrize("first", [2.0, -2.0])
def test_what_is_the_same_for_both_is_computed(function, first: float) -> None:
    same(function, np.array([first, 1.0, -3.0]))
    same(function, np.array([first, -1.0, 3.0]))


@pytest.mark.parametrize("first", [0, 0.0, 1.5])
def test_complex_sums_that_begin_with_a_real_number(first: float) -> None:
    def horner(x):
        t = first
        for v in x:
            t = t * 0.5 + v
        return t

    def of_minus(x):
        t = first
        for v in x:
            t = v - -t
        return t

    for dtype in (np.complex64, np.complex128):
        x = np.array([1 + 2j, complex(-0.0, -0.0), 3 - 1j], dtype)
        same(horner, x)
        # Python's -0.0 is -0.0 + 0j for the array, and NumPy's is -0.0 - 0j: the first step is another one.
        same(of_minus, x)
        same(of_minus, x[:1])
        same(of_minus, x[:0])


@pytest.mark.parametrize("first", [1.0, -1.0])
def test_what_functions_make_is_numpys(first: float) -> None:
    """Of two Python numbers an operator makes a Python number, and a function of NumPy a NumPy scalar."""
    x = np.full(3, first)
    same(lambda x: (mean_or(x, 0.5) + 1, np.add(mean_or(x, 0.5), 1), abs(mean_or(x, 0.5)), np.float64(mean_or(x, 0.5))), x)
    same(lambda x, a: (mean_or(x, a), mean_or(x, a) * 2.0, int(max(mean_or(x, 0.5), x[0]))), x, 0.1)


def test_a_new_array_of_a_dtype_converts_it() -> None:
    for x in (np.full(3, 2, np.float16), np.full(3, -2, np.float16)):
        same(lambda x: (np.full_like(x, mean_or(x, 0.5)) + x, np.full(3, mean_or(x, 0.5), np.float32)), x)
    with pytest.raises(UnsupportedError, match=r"or, on another way, an np\.float16"):
        pytocu.jit(lambda x: np.full(3, mean_or(x, 0.5)))(x)


def test_a_known_number_has_to_be_one_of_the_dtype() -> None:
    """What stands for 0.1 is a float32, which a float64 would show."""
    x = np.ones(3, np.float32)
    same(lambda x: x + mean_or(x, 0.1), -x)
    same(lambda x: x.astype(np.float64) + mean_or(x, 0.5), -x)
    with pytest.raises(UnsupportedError, match=r"np.float32, and which of them decides what . gives"):
        pytocu.jit(lambda x: x.astype(np.float64) + mean_or(x, 0.1))(x)


@pytest.mark.parametrize(
    "text",
    [
        "x.astype(np.float32) * mean_or(x, 0.0)",
        "np.array([1, 2]) * mean_or(x, 0)",
        "1 // mean_or(x, 0.0)",
        "-mean_or(x, 0)",
        "x ** mean_or(x, 2.0)",
        "mean_or(x, a) % 3",
        "mean_or(x, 0.0).dtype",
        "isinstance(mean_or(x, 0.0), np.floating)",
        "round(mean_or(x, 0.5), 1)",
        "np.sqrt(mean_or(x.astype(np.float32), 1.0))",
        "mean_or(x.astype(np.float32), a)",
        "np.real(mean_or(x, 0.0))",
        "np.zeros(3, np.int8) + np.int8(mean_or(x, math.nan))",
    ],
)
def test_what_would_show_the_kind_is_refused(text: str) -> None:
    names = {"np": np, "math": math, "mean_or": mean_or}
    function = make_function("xa", [text], names)
    with pytest.raises(UnsupportedError, match=r"or, on another way, an np\.float") as caught:
        pytocu.jit(function)(np.ones(3), 0.25)
    assert caught.value.help and "make both NumPy's: np.float" in caught.value.help


def test_the_operand_that_is_of_two_kinds_is_shown() -> None:
    def mean(x: np.ndarray, m: np.ndarray) -> np.ndarray:
        return x.sum() / max(1, np.count_nonzero(m))

    with pytest.raises(UnsupportedError, match=r"np\.int64, and which of them decides what / gives") as caught:
        pytocu.jit(mean)(np.ones(3, np.float32), np.ones(3, bool))
    (note,) = caught.value.notes
    assert note.text == "a Python int, or an np.int64"
    assert note.loc.column == caught.value.loc.column + len("x.sum() / ") if caught.value.loc else False


def test_an_int_that_the_other_dtype_does_not_hold_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"300 stands beside an np.uint8, which does not hold it"):
        pytocu.jit(lambda x: x + (x.max() if x[0] > 0 else 300))(np.ones(3, np.uint8))


@pytest.mark.parametrize("target", ["cuda:sm_90", "cpu"])
def test_the_kind_is_part_of_the_plan(target: str) -> None:
    compiled = pytocu.jit(ratio).lower("f64", "f64").compile(target)
    assert compiled.plan.tree[0] == "if"


def followed(following, start):
    steps = 0
    while following[start] != start:
        start = following[start]
        steps += 1
    return start, steps


def taken(table, weights, left):
    out = np.zeros(len(weights), dtype=bool)
    total = 0.0
    for i in range(len(weights) - 1, -1, -1):
        total += table[left]
        if weights[i] > 2:
            out[i] = True
            left -= weights[i]
    return out, total


def path(following, n):
    place = 0
    out = np.zeros(n, int)
    for k in range(n):
        out[k] = place
        place = following[place]
    return out


def test_positions_that_begin_as_pythons_ints() -> None:
    same(followed, np.array([0, 0, 1, 2]), 3)
    same(followed, np.array([0, 0, 1, 2]), -1)
    same(taken, np.arange(30.0), np.array([1, 3, 1, 3]), 20)
    same(taken, np.arange(30.0), np.array([1, 3, 1, 3]), 4)
    same(path, np.array([2, 0, -2, 1]), 6)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        pytocu.jit(followed)(np.array([0, 0, 1, 4]), 3)
    with pytest.raises(IndexError, match="index -5 is out of bounds for axis 0 with size 4"):
        pytocu.jit(followed)(np.array([0, 0, 1, -5]), 3)


def of_two_loops(a, n, m):
    total = 0
    for i in range(n):
        for j in range(m):
            total += a[i, j]
    return total


def largest(a, n, m):
    best, count = -1.0, 0
    for i in range(n):
        for j in range(m):
            if a[i, j] > best:
                best = a[i, j]
                count += 1
    return best, count


def in_a_branch(a, n, m):
    total = 0.0
    for i in range(n):
        if a[i, 0] > 0:
            for j in range(m):
                total += a[i, j]
    return total


def below_the_diagonal(a, n, m):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total += a[i, j] * m
    return total / 2


def while_there_is_one(a, n, m):
    total, k = 0.0, 0
    while k < n:
        if a[k, m - 1] > 2:
            total += a[k, 0]
        k += 1
    return total


@pytest.mark.parametrize("function", [of_two_loops, largest, in_a_branch, below_the_diagonal, while_there_is_one])
@pytest.mark.parametrize(("n", "m"), [(3, 3), (1, 2), (0, 2), (2, 0), (0, 0)])
def test_loops_that_may_have_no_step_leave_pythons_numbers(function, n: int, m: int) -> None:
    a = np.arange(9.0).reshape(3, 3) - 2
    same(function, a, n, m)
    same(function, -np.abs(a), n, m)


def test_what_is_not_alike_for_both_kinds_requires_a_step() -> None:
    def scaled(x, y, n):
        total = 0.0
        for i in range(n):
            total += y[i]
        return x * total

    same(scaled, np.ones(3), np.ones(3), 0)
    same(scaled, np.ones(3, np.float32), np.ones(3), 2)
    with pytest.raises(UnsupportedError, match=r"is a Python number where the loop has no step"):
        pytocu.jit(scaled)(np.ones(3, np.float32), np.ones(3), 0)


def around_a_polygon(x, start):
    """A position is Python's int in the first step, and NumPy's or Python's in the others."""
    n, steps = len(x), 0
    p = start
    while steps < n:
        q = (p + 1) % n
        for r in range(n):
            if x[r] < x[q]:
                q = r
        p = q * 1
        steps += 1
    return x[p + 0], x[min(max(x.argmax() - 1, 0), n - 2) + 1]


def test_ints_of_both_kinds_are_positions() -> None:
    for start in (0, 2, np.int64(1)):
        same(around_a_polygon, np.array([3.0, -1.0, 2.0, 5.0]), start)


def test_ints_of_both_kinds_that_int64_does_not_hold_are_refused() -> None:
    def product(x, k, n):
        at = k if n else x.argmax()
        return x + at * k

    same(product, np.arange(3), 5, 1)
    with pytest.raises(UnsupportedError, match="a Python int that int64 does not hold"):
        pytocu.jit(product)(np.arange(3), 2**40, 1)


def path_to(previous, n):
    path, k = [], n - 1
    while k != -1:
        path.append(k)
        k = previous[k]
    return np.array(path[::-1])


def best_so_far(x, n):
    found, best = [], 0
    for i in range(n):
        if x[i] > best:
            best = x[i]
        if x[i] >= 0:
            found.append(best)
    return np.array(found), len(found)


def list_of_both(x, n):
    found, best = [], 0
    for i in range(n):
        if x[i] > best:
            best = x[i]
        found.append(best)
    return found


def test_lists_of_both_kinds() -> None:
    same(path_to, np.array([-1, 0, 1, 1, 3]), 5)
    same(best_so_far, np.array([-3, 0, 4, 2, 7]), 5)
    with pytest.raises(UnsupportedError, match="decides what the list that is returned holds"):
        pytocu.jit(list_of_both)(np.array([0, 4]), 2)


def limited(x, n):
    """The first step is shorter where the last one would be too long; each may be an int."""
    h = min(1, 0.3 * n)
    k = 0 if n > 4 else n * 0.5
    level = 0
    if n > 2:
        level = 1.5 - 0.2 * n
    part = x[: int(max(2, 0.3 * n))]
    return x * max(0, 1 - h), x + max(h, k), max(1, n * 0.4) / 2, level > k, part, float(h) + int(h), level * x


def either_kind(x, n):
    return max(0, 1.5 - 0.2 * n), min(n, 2.5), {"h": (0 if n > 4 else n * 0.5, x)}, 1 if n > 4 else 0.5


@pytest.mark.parametrize("function", [limited, either_kind])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, -4])
def test_pythons_ints_and_floats_stand_side_by_side(function, n: int) -> None:
    same(function, np.array([1.0, -2.0, 3.0]), n)


def test_python_compares_with_nan_as_it_does() -> None:
    same(lambda x, a: (max(0, a) * x, min(0, a) * x, max(a, 0) * x, min(a, 0)), np.ones(2), math.nan)
    same(lambda x, a: (max(0, a), min(0, a), max(a, 0)), np.ones(2), -0.0)


@pytest.mark.parametrize(
    "text",
    ["x.astype(np.float32) * max(0, a)", "np.array([1, 2]) * max(0, a)", "np.ceil(max(0, a))", "-max(0, a)", "max(0, a) ** 2",
     "max(0, a) // 2", "round(max(0, a), 1)", "max(n, a) * n"],
)  # fmt: skip
def test_what_differs_for_pythons_ints_and_floats_is_refused(text: str) -> None:
    function = make_function("xan", [text], {"np": np})
    with pytest.raises(UnsupportedError, match=r"is a Python float .line 3. or, on another way, a Python int") as caught:
        pytocu.jit(function)(np.ones(2), 0.25, 3)
    assert caught.value.help == "make both floats: 0.0 for 0, float(...)"


def test_an_int_beyond_what_float64_holds_is_refused() -> None:
    function = pytocu.jit(lambda x, n: x * min(n, 0.5))
    compare(function(np.ones(2), -(2**53) + 1), np.full(2, 1 - 2.0**53))
    with pytest.raises(UnsupportedError, match="a Python int beyond 9007199254740992 stands beside a float"):
        function(np.ones(2), -(2**53))


def nearest_int(x, n):
    """The idiom of a search: infinity, until a step binds one of Python's ints."""
    best, at = math.inf, -1
    for i in range(n):
        d = (7 * i + 3) % 5 - 2
        if x[i] > 0 and d < best:
            best, at = d, i
    return best, at, {"b": [best]}


def limits_of_ints(x, n):
    low, high = math.inf, -math.inf
    for i in range(n):
        k = i * i - 3 * i
        low = min(low, k)
        high = max(high, k)
    return low, high, high - low, x * low


def least_distance(x, n):
    best = math.inf
    for i in range(n):
        for j in range(i):
            if x[i] > x[j]:
                best = min(best, i - j)
    return -1 if best == math.inf else best


def of_three_kinds(x, n):
    best = math.inf
    i = 0
    while i < n:
        if x[i] > 1:
            best = x[i]
        elif x[i] > 0:
            best = 2 * i
        elif x[i] < -1:
            best = best + 1
        i += 1
    return best


def int_that_becomes_a_float(x, n):
    best = 0
    for i in range(n):
        if x[i] > 0:
            best = i / 2
        elif x[i] < -1:
            best = best + 1
    return best


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("function", [nearest_int, limits_of_ints, least_distance, of_three_kinds, int_that_becomes_a_float])
def test_loops_that_begin_with_a_float_leave_ints_and_floats_what_they_are(function, n: int) -> None:
    for x in ([-1.5, 0.7, 2.0, -3.0, 0.6], [-3.0, -2.0, -0.5, -2.5, 0.0], [0.5, -2.0, 0.25, 0.75, -0.5]):
        everywhere(function, np.array(x), n)


def test_an_int_beyond_what_float64_holds_is_refused_in_a_loop() -> None:
    def function(n, far):
        best = math.inf
        for i in range(n):
            best = min(best, i + far)
        return best

    same(function, 3, 2**53 - 9)
    with pytest.raises(UnsupportedError, match="a Python int beyond 9007199254740992 stands beside a float"):
        pytocu.jit(function)(3, 2**53)


def test_the_way_out_of_ints_of_numpy_beside_a_float_of_python() -> None:
    def function(x, as_number):
        best = math.inf
        for v in x:
            if v < best:
                best = as_number(v)
        return best

    x = np.array([5, 3, 9])
    with pytest.raises(UnsupportedError, match="best is i64 on one side of a branch") as caught:
        pytocu.jit(lambda x: function(x, lambda v: v))(x)
    assert caught.value.help == "make the np.int64 a float as well: float(...)"
    for n in (0, 3):
        same(lambda x: function(x, float), x[:n])


def largest_on_a_side(x, n):
    best = 0.0
    if n > 0:
        for i in range(n):
            if x[i] > best:
                best = x[i]
    return best


def largest_on_a_side_of_a_side(x, n):
    best = 0.0
    if n > 0:
        if n > 2:
            for i in range(n):
                if x[i] > best:
                    best = x[i]
        else:
            best = x[1]
    elif n < -5:
        best = 7
    return best


@pytest.mark.parametrize("function", [largest_on_a_side, largest_on_a_side_of_a_side])
def test_a_loop_on_a_side_runs_once_where_it_is_asked_what_it_leaves(function) -> None:
    x = np.array([-1.5, 2.5, 3.5, -7])
    for n in (-7, -1, 0, 1, 2, 3, 4):
        same(function, x, n)
    text = pytocu.jit(function).lower(x, 3).ir("lower")
    assert text.count("_loop ") == 1


def steps_of_a_solver(u, dx, end):
    t = 0.0
    while t < end:
        dt = min(0.4 * dx / np.abs(u).max(), end - t)
        u = u - dt / dx * (u - np.roll(u, 1))
        t += dt
    return u


def mean_of_some(x, n):
    s, count = 0.0, 0
    for d in (0, 1):
        if d + n < 3:
            s += x[d]
            count += 1
    return s / count


def over_either(x, n):
    s = 0.0
    if n > 0:
        s = x[n]
    return 1.0 / s, s / n, s / (s - 1.0)


def mean_of_ints(x, n):
    s = 0
    for i in range(n):
        s += int(x[i]) if i % 2 else x.astype(np.int64)[i]
    return s / n


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (steps_of_a_solver, ((0.1, 0.3), (0.1, 0.0))),
        (mean_of_some, ((0,), (1,), (2,))),
        (over_either, ((1,), (3,))),
        (mean_of_ints, ((1,), (2,), (4,))),
    ],
)
def test_quotients_of_numbers_of_either_kind(function, arguments) -> None:
    x = np.array([1.5, 2.5, 0.0, 4.0])
    compiled = pytocu.jit(function)
    for more in arguments:
        compare(compiled(x, *more), function(x, *more))


def test_a_divisor_of_0_is_an_error_of_one_kind_alone() -> None:
    compiled = pytocu.jit(over_either)
    with pytest.raises(UnsupportedError, match="a division by 0, which raises where the number is Python's") as error:
        compiled(np.array([1.5, 2.5, 0.0, 4.0]), 2)
    assert "np.float64(0.0)" in error.value.help


def step_size(x, tol):
    h = 0.1
    for v in x:
        h *= min(5.0, max(0.2, 0.9 * (tol / max(abs(v), 1e-10)) ** 0.2))
    return h


def power_of_either(x, a, exponent):
    h = a
    for v in x:
        if v > 0:
            h = v
    return h ** exponent, h ** 2, 2 ** h


def test_powers_of_numbers_of_either_kind() -> None:
    compiled = pytocu.jit(step_size)
    for x in (np.array([0.5, -1.5, 0.0]), np.array([1e-30, -1e200])):
        compare(compiled(x, 1e-6), step_size(x, 1e-6), exact=False, ulp=4)
    same(lambda x, a: mean_or(x, a) ** 2, np.ones(3), 0.25)
    same(lambda x, a: mean_or(x, a) ** 2, -np.ones(3), 0.25)
    compiled = pytocu.jit(power_of_either)
    for a in (0.5, -0.0, np.inf, np.nan):
        for x in (np.array([1.5, -2.0]), np.array([-1.0])):
            for exponent in (0.5, 3.0, 0.0):
                compare(compiled(x, a, exponent), power_of_either(x, a, exponent), exact=False, ulp=4)


@pytest.mark.parametrize(
    ("a", "exponent", "said"),
    [
        (-1.5, 0.5, "a power of a negative number, complex where the number is Python's"),
        (1e200, 1.5, "a power that is too large, which raises where the number is Python's"),
        (0.0, -1.0, "a power that is too large, which raises where the number is Python's"),
    ],
)
def test_powers_that_are_errors_of_one_kind_alone(a: float, exponent: float, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as error:
        pytocu.jit(power_of_either)(np.array([-1.0]), a, exponent)
    assert "np.float64(0.0)" in error.value.help


def an_index_of_either_kind(x, n):
    t = 1
    if n > 2:
        t = 1.5
    return x[t]


def an_index_that_is_a_float(x, n):
    t = 1.0
    if n > 2:
        t = 1.5
    return x[t]


def test_an_index_that_may_be_an_int_is_no_error_of_numpys() -> None:
    x = np.array([1.5, 2.5])
    with pytest.raises(UnsupportedError, match=r"t is a Python int on one way and np\.float64 on another") as error:
        pytocu.jit(an_index_of_either_kind)(x, 1)
    assert "make it an int on each way: int(t)" in error.value.help
    with pytest.raises(IndexError, match="only integers, slices"):
        pytocu.jit(an_index_that_is_a_float)(x, 1)


def of_lines(folder, *lines):
    """``function(x, n)`` of a file."""
    file = folder / "program.py"
    file.write_text("\n    ".join(["import numpy as np\n\n\ndef function(x, n):", *lines]) + "\n")
    return runpy.run_path(str(file))["function"]


_OF_INTS = (
    "return x[:t]", "return x[t:]", "x[t:] = 0", "x[t] += 1", "return np.zeros(t)", "return np.zeros((t, 2))",
    "return np.full(t, 2.0)", "return np.eye(t)", "return x.reshape(t, -1)", "return np.linspace(0, 1, t)", "return [1] * t",
    "return (1, 2, 3)[t]", "return t.bit_length()", "return len(range(t))", "return t << 1", "return range(3)[t]",
    "for j in range(t): x[j] = 0", "for j in range(t % 5): x[j] = 0",
)  # fmt: skip


@pytest.mark.parametrize("statement", _OF_INTS)
@pytest.mark.parametrize("begin", [("t = min([n, x[0]])",), ("t = n", "for v in x:", "    if v < t: t = v")])
def test_what_only_ints_can_do_is_no_error_of_a_number_that_may_be_one(statement, begin, tmp_path) -> None:
    """It is NumPy's float in some runs, which raise, and the int in others, which have an answer."""
    function = of_lines(tmp_path, *begin, statement)
    x = np.array([4.0, 5, 2, 1, 4])
    function(x.copy(), 1)
    with pytest.raises((TypeError, IndexError, AttributeError)):
        function(x.copy(), 30)
    with pytest.raises(UnsupportedError, match=r"(t|a number) is a Python (int|number)|which of them decides what") as error:
        pytocu.jit(function)(x, 1)
    assert "int(" in error.value.help or "np.float64(" in error.value.help


@pytest.mark.parametrize(
    "asked", ["isinstance(t, np.float64)", "isinstance(t, float)", "isinstance(t, int)", "t.dtype == 'f8'"]
)
def test_runs_are_refused_where_only_the_kind_of_a_number_is_asked_for_that_a_loop_may_leave(asked, tmp_path) -> None:
    function = of_lines(tmp_path, "t = n", "for v in x:", "    if v < t: t = v", f"return {asked}")
    jitted = pytocu.jit(function)
    x = np.array([4.0, 5, 2])
    compare(jitted(x, 30), function(x, 30))
    with pytest.raises(UnsupportedError, match=r"t is a Python number where no step binds it and np\.float64 where one does"):
        jitted(x, 1)


def highest_so_far(x, n):
    t = 0.5
    seen = {}
    for _ in range(len(x)):
        for v in x:
            if v > t:
                t = v
            seen["t"] = float(t)
            if n:
                break
    return n


def test_a_number_of_two_kinds_may_be_one_that_no_step_hands_on_a_kind_of() -> None:
    """A branch with a loop in it leaves it, and of what the dict holds nobody knows the kind."""
    x = np.array([1, 1, 2.5, 3, 1.5], np.float32)
    for n in (3, 0):
        same(highest_so_far, x, n)


def first_beyond(x, n):
    for i in range(n):
        if x[i] > 2:
            return x[i]
        if x[i] < 0:
            return 0.0
    return -1.0


def pair_of_a_step(x, n):
    i = 0
    while True:
        if i >= n:
            return 0, None
        if x[i] > 2:
            return x[i] * 2, i
        if x[i] < 0:
            return 1, i
        i += 1


def of_two_loops(x, n):
    for i in range(n):
        for j in range(i):
            if x[i] > x[j] + 2:
                return x[i]
            if x[i] < 0:
                return 0.5
    return n


def int_or_float64(x, n):
    for k in range(3):
        if x[k] > 2:
            return n + k
        if x[k] > 1:
            return x[k]
    return 0


def total_so_far(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 2:
            return total
        total += x[i]
    return total


def total_and_count(x, n):
    total, count = 0, 0
    while count < n:
        if x[count] < 0:
            return total, count
        if x[count] > 2:
            return x[count], total
        total = total + x[count]
        count += 1
    return total, count


def best_before_a_return(x, n):
    best = -1.0
    for i in range(n):
        for j in range(i):
            if x[i] + x[j] > 4:
                return best
            best = max(best, x[j])
    return best


@pytest.mark.parametrize(
    "function",
    [first_beyond, pair_of_a_step, of_two_loops, int_or_float64, total_so_far, total_and_count, best_before_a_return],
)
def test_returns_of_both_kinds_in_a_loop(function) -> None:
    jitted = pytocu.jit(function)
    for x in ([0.5, 1.5, 0.25, 3.0], [0.5, 0.5, -1.0, 3.0], [0.5] * 4, [3.0, 0.5, 2.5, 0.5], [-1.0, -2.0, 0.0, 4.0]):
        for n in (0, 1, 3, 4):
            assert repr(jitted(np.array(x), n)) == repr(function(np.array(x), n))


def test_an_int_beside_floats_that_float64_does_not_hold() -> None:
    def either(x, n):
        if x[0] > 0:
            return n
        if x[1] > 0:
            return 0.5
        return x[0]

    for function in (either, int_or_float64):
        with pytest.raises(UnsupportedError, match="a Python int beyond 9007199254740992 stands beside a float"):
            pytocu.jit(function)(np.full(3, 3.0), 2**53 + 1)
        assert pytocu.jit(function)(np.full(3, 3.0), 2**53 - 1) == 2**53 - 1


def mean_of_positive(x):
    total, count = 0.0, 0
    for v in x:
        if v > 0:
            total += v
            count += 1
    return total / count if count else 0.0


def ratio_of_sums(x, limit):
    above, below = 0.0, 0.0
    for v in x:
        if v > limit:
            above += v
        else:
            below += v
    return (above / below if below != 0 else math.inf), (below and above / below)


@pytest.mark.parametrize(("function", "others"), [(mean_of_positive, ()), (ratio_of_sums, (0.5,))])
def test_what_a_conditional_expression_leaves_out_refuses_no_run(function, others) -> None:
    """Its divisor is 0, which Python refuses and NumPy does not, so that it is not computed for both."""
    jitted = pytocu.jit(function)
    for x in ([1.0, 2.5, 4.0], [-1.0, -2.0], [], [-1.0, 3.0]):
        compare(jitted(np.array(x), *others), function(np.array(x), *others))


def sum_where_many_are_chosen(x, y):
    s = 0.0
    if y.any():
        pass
    elif len(y[y == 0]) > 3:
        s = (x * y).sum()
    return s


def sum_beside_an_array(x, y):
    s = 0.0
    if y.any():
        y = x
    else:
        if len(y[y == 0]) > 3:
            s = (x * y).sum()
        else:
            y = y + x
    return y, s


@pytest.mark.parametrize("function", [sum_where_many_are_chosen, sum_beside_an_array])
def test_the_kind_of_a_number_is_told_by_a_length_that_one_side_reads(function) -> None:
    for n in (2, 5):
        everywhere(function, np.arange(float(n)), np.zeros(n))
        everywhere(function, np.arange(float(n)), np.ones(n))

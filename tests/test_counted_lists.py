"""Lists of numbers whose length a run decides: appended to under a condition, stacks and queues."""

import linecache
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.frontend import rounds
from pytocu.testing.compare import compare

A = np.random.default_rng(0).standard_normal(9)
INPUTS = [A, -np.abs(A), np.zeros(0), np.ones(1)]


def positive(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return np.array(found)


def crossings(x):
    found = []
    for i in range(1, len(x)):
        if x[i - 1] < 0 <= x[i]:
            found.append(i)
    return found


def chosen(x):
    return [i for i in range(len(x)) if x[i] > 0.3]


def next_greater(x):
    out = np.full(len(x), -1.0)
    stack = []
    for i in range(len(x)):
        while stack and x[stack[-1]] < x[i]:
            out[stack.pop()] = x[i]
        stack.append(i)
    return out


def hull(x):
    h = []
    for i in range(len(x)):
        while len(h) >= 2 and (x[h[-1]] - x[h[-2]]) * (i - h[-1]) >= (x[i] - x[h[-1]]) * (h[-1] - h[-2]):
            h.pop()
        h.append(i)
    return h


def moving_mean(x):
    window = []
    means = []
    for v in x:
        window.append(v)
        if len(window) > 3:
            window.pop(0)
        means.append(sum(window) / len(window))
    return means


def balanced(x):
    stack = []
    for v in x:
        if v > 0:
            stack.append(v)
        elif not stack:
            return False, -1
        else:
            stack.pop()
    return not stack, len(stack)


def in_two_loops(x):
    pairs = [(0, 0)]
    for i in range(len(x)):
        for j in range(i):
            if x[i] + x[j] > 0:
                pairs.append((i, j))
    total = 0
    for i, j in pairs:
        total += i * j
    return total, len(pairs), pairs[-1]


def behind_loops(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    found.append(-1)
    for i in range(len(x)):
        if x[i] < 0:
            found.append(i)
    found.append(-2)
    return found


def evenly_then_once(x):
    found = []
    for i in range(len(x)):
        found.append(i)
    found.append(-1)
    return found, found[-1]


def runs(x):
    lengths = []
    length = 0
    for v in x:
        if v > 0:
            length += 1
        elif length:
            lengths.append(length)
            length = 0
    if length:
        lengths.append(length)
    return lengths, max(lengths) if lengths else 0


def cleared(x):
    found = []
    n = 0
    for v in x:
        found.append(v)
        if len(found) == 3:
            n += 1 if found[0] > found[-1] else 2
            found.clear()
        elif v < -1:
            del found[-1]
    return n, len(found)


def left(x):
    found = []
    for i in range(len(x)):
        if x[i] > 1:
            break
        if x[i] < 0:
            continue
        found.append(i)
    else:
        found.append(-1)
    return found


def changed(x):
    found = [0]
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        else:
            found[-1] = -i
    return found


def in_a_function(x):
    def note(into, value):
        if value > 0:
            into.append(value)

    found = []
    for v in x:
        note(found, v)
    return len(found), np.array(found)


def collatz(x):
    n = len(x) + 3
    found = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        found.append(n)
    return found


def history(x):
    errors = []
    error = 1.0
    while error > 0.01:
        y = 0.5 * x
        error = np.abs(y - x).max(initial=0.0)
        x = y
        errors.append(error)
    return x, errors


def flood(x):
    grid = np.outer(x, x) > 0
    seen = np.zeros(grid.shape, np.bool_)
    stack = [(0, 0)]
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1]:
            continue
        if seen[i, j] or not grid[i, j]:
            continue
        seen[i, j] = True
        stack.append((i + 1, j))
        stack.append((i, j + 1))
        stack.append((i - 1, j))
        stack.append((i, j - 1))
    return seen


def breadth_first(x):
    n = len(x)
    far = np.full(n + 1, -1)
    far[0] = 0
    queue = [0]
    while len(queue) > 0:
        k = queue.pop(0)
        for step in (1, 3):
            after = k + step
            if after < n and x[after] > -0.5 and far[after] < 0:
                far[after] = far[k] + 1
                queue.append(after)
    return far


PROGRAMS = [
    positive, crossings, next_greater, hull, moving_mean, balanced, in_two_loops, behind_loops, evenly_then_once, runs,
    cleared, left, changed, in_a_function, collatz, history, flood, breadth_first,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("x", INPUTS, ids=["mixed", "negative", "empty", "one"])
def test_programs(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)


@pytest.mark.parametrize("x", INPUTS[:3], ids=["mixed", "negative", "empty"])
def test_a_comprehension_with_a_condition(x: np.ndarray) -> None:
    everywhere(chosen, x)


def emptied(x):
    stack = [1]
    for i in range(len(x)):
        if x[i] > 0:
            stack.append(i)
        else:
            stack.pop()
    return len(stack)


def beyond(x):
    found = [1]
    total = 0
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        total += found[i]
    return total


def before(x):
    found = [0]
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        n += found[-3]
    return n


@pytest.mark.parametrize("function", [emptied, beyond, before])
@pytest.mark.parametrize("x", INPUTS[:2], ids=["mixed", "negative"])
def test_what_python_raises(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)


def counts_up(n):
    found = []
    k = 0
    while k != n:
        if k % 3:
            found.append(k)
        k += 1
    return len(found), sum(found)


def test_a_list_in_a_while_loop_has_room_for_more_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # The cache knows nothing of it.
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    monkeypatch.setattr(rounds, "_ROUNDS", (4, 8, 16))
    for n in (0, 3, 8, 20, 40):
        everywhere(counts_up, n)
    with pytest.raises(UnsupportedError, match="the list found holds more than 16 members"):
        pytocu.jit(counts_up)(100)


def ints_and_numpys(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        if x[i] > 1:
            found.append(x[i])
    return found


@pytest.mark.parametrize("x", INPUTS)
def test_ints_beside_numpys_floats(x: np.ndarray) -> None:
    everywhere(ints_and_numpys, x)


def two_types(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        if x[i] > 1:
            found.append(np.float32(x[i]))
    return found


def inserted(x):
    found = [0]
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        found.insert(0, i)
    return found




def in_a_branch(x, n):
    found = [n]
    if n > 3:
        found.append(len(x))
    if n > 5:
        found.append(7)
    return found, len(found)


@pytest.mark.parametrize("n", [1, 4, 6])
def test_a_branch(n: int) -> None:
    everywhere(in_a_branch, A, n)


def places(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    return found


def another_functions_list(x):
    """The list has another name where a loop makes it longer."""
    todo = places(x)
    steps = 0
    while todo and steps < 20:
        steps += 1
        i = todo.pop()
        if i > 3:
            todo.append(i // 2)
    return steps, todo


def a_comprehensions_list(x):
    todo = [i for i in range(len(x)) if x[i] > 0]
    steps = 0
    while todo and steps < 20:
        steps += 1
        i = todo.pop(0)
        if i > 3:
            todo.append(i // 2)
    return steps, todo


def popped_from_a_comprehension(x):
    todo = [i * i for i in range(len(x))]
    last = todo.pop() if todo else -1
    return last, todo


def below_the_diagonal(x):
    """An inner loop of as many steps as the number of the outer one says."""
    n = len(x)
    filled = []
    for i in range(n):
        for j in range(i):
            filled.append(i * j)
    return filled, [i * j for i in range(n) for j in range(i)]


@pytest.mark.parametrize(
    "function", [another_functions_list, a_comprehensions_list, popped_from_a_comprehension, below_the_diagonal]
)
def test_lists_from_elsewhere(function: Callable[..., Any]) -> None:
    for x in INPUTS:
        everywhere(function, x)


def test_a_number_of_run_time_says_how_long_a_list_of_nested_loops_is() -> None:
    def pairs(n):
        found = []
        for i in range(n):
            for j in range(i):
                found.append(i * j)
        return found

    for n in (4, 0, -1, 1):
        everywhere(pairs, n)


def several_at_once(x):
    found = []
    for v in x:
        if v == v:
            found.extend([v, v * 2, 0.5 * v])
    return found


def test_a_line_that_appends_several() -> None:
    for x in INPUTS:
        everywhere(several_at_once, x)


def of_a_tuple(x, n):
    """The steps of the loop are written out."""
    found = []
    for i in (1, 2, 3):
        if i < n:
            found.append(i)
        elif found:
            found.pop()
            found.extend([7, 8])
    return found


def chosen_of_a_tuple(x, n):
    return [i for i in (1, 2, 3) if i < n]


def inner_steps(x, n):
    return [i * j for i in range(2) for j in range(n)]


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("function", [of_a_tuple, chosen_of_a_tuple, inner_steps])
def test_steps_that_are_written_out(function: Callable[..., Any], n: int) -> None:
    everywhere(function, A, n)


def typed(x):
    return np.array([v for v in x if v > 0], np.float32), np.array([i for i in range(len(x)) if x[i] > 0], np.int8)


def test_an_empty_list_has_the_dtype_that_is_asked_for() -> None:
    for x in INPUTS:
        everywhere(typed, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64])
def test_numbers_that_a_dtype_does_not_hold(dtype: type) -> None:
    def narrow(n, step):
        found = []
        for i in range(n):
            if i:
                found.append(i * step)
        return np.array(found, dtype)

    everywhere(narrow, 2, 100)
    for n, step in ((5, 100), (5, -100), (5, -1)):
        if np.iinfo(dtype).min <= -n and step == -1:
            continue
        if dtype is np.uint64 and step > 0:
            continue
        with pytest.raises(OverflowError) as expected:
            narrow(n, step)
        with pytest.raises(OverflowError) as found:
            pytocu.jit(narrow)(n, step)
        assert str(found.value).partition("\n")[0] == str(expected.value)


def test_floats_that_a_dtype_does_not_hold() -> None:
    def whole(x):
        return np.array([v for v in x if v != 0], np.int8)

    everywhere(whole, np.array([1.5, -3.0]))
    with pytest.raises(UnsupportedError, match="holds a number that int8 does not hold"):
        pytocu.jit(whole)(np.array([1.5, 1000.0]))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (two_types, "the list found grows in a loop and holds a Python int and f32"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(A)


@pytest.mark.parametrize("number_of", [int, float, complex, abs, round])
def test_lists_are_no_numbers(number_of: Callable[[Any], Any]) -> None:
    def of_some(x: np.ndarray) -> Any:
        found = []
        for i in range(len(x)):
            if x[i] > 0:
                found.append(i)
        return x * number_of(found)

    def of_lengths(x: np.ndarray) -> Any:
        found = [(1, len(x))]
        for i in range(len(x)):
            if len(found) != number_of(found):
                x[i] = 0
        return x

    for function in (of_some, of_lengths):
        with pytest.raises(TypeError) as expected:
            function(np.ones(3))
        with pytest.raises(TypeError) as found:
            pytocu.jit(function)(np.ones(3))
        assert str(found.value).splitlines()[0] == str(expected.value)


def evens(x, n):
    found, k = [], 0
    while k != n:
        if x[k % 5] > 0 or k % 2 == 0:
            found.append(k)
        k += 1
    return found


def test_a_cpu_has_room_for_all_members_at_once() -> None:
    """One loop and memory that nobody fills; on a GPU there is a second loop with more memory."""
    jitted = pytocu.jit(evens)
    lowered = jitted.lower("f64[m]", "weak int")
    assert lowered.ir("rooms", target="cpu").count("while_loop") == 1
    assert lowered.ir("rooms", target="cuda").count("while_loop") == 2
    for n in (0, 7, 3000, 1_000_000):
        assert jitted(np.arange(-2.0, 3.0), n) == evens(np.arange(-2.0, 3.0), n)


def until_nothing_is_left(u, most):
    t, k, times = 0.0, 0, [0.0]
    while t < most and k + 1 < len(u):
        pair = np.array([u[k], u[k + 1]])
        total = pair.sum()
        if total == 0:
            break
        t += total
        k += 2
        times.append(t)
    return np.array(times)


def test_a_loop_that_data_may_end_has_room_for_all_members() -> None:
    u = np.random.default_rng(0).random(5000)
    jitted = pytocu.jit(until_nothing_is_left)
    for most in (5.0, 1e6):
        np.testing.assert_array_equal(jitted(u, most), until_nothing_is_left(u, most))
    u[1000:1002] = 0
    np.testing.assert_array_equal(jitted(u, 1e6), until_nothing_is_left(u, 1e6))


def members_that_steps_make(x, u):
    ys = [x * 1]
    for k in range(len(u)):
        z = x * u[k]
        if u[k] > 0.3:
            ys.append(z)
    return ys


def a_work_array_is_copied(x, u):
    z = x.copy()
    ys = [z.copy()]
    k = 0
    while k < len(u):
        z[0] += u[k]
        if u[k] > 0.3:
            ys.append(z.copy())
        elif len(ys) > 1:
            z = ys.pop().copy()
        k += 1
    return np.array(ys), z


def members_are_read(x, u):
    ys = [x]
    for k in range(len(u)):
        z = ys[len(ys) // 2].copy()
        while z[0] < 3:
            z = z * 1.5
        z[1] = u[k]
        if u[k] > 0.3:
            ys.append(z)
    ys[1] = x * 7
    ys.insert(1, ys[-1] * 2)
    del ys[0]
    greatest = max(ys, key=lambda a: a.sum())
    return ys[::-1][0] + 1, [z.sum() for z in ys], np.stack(ys), greatest, len(ys), np.mean(ys, axis=0)


def a_member_too_many(x, u):
    ys = [x]
    for k in range(len(u)):
        if u[k] > 0.3:
            ys.append(x * u[k])
    return ys[9]


def two_lengths(x, u):
    ys = [x]
    for k in range(len(u)):
        if u[k] > 0.3:
            ys.append(u * u[k])
    return np.array(ys)


U = np.array([0.1, 0.7, 0.2, 0.9, 0.4])


@pytest.mark.parametrize("function", [members_that_steps_make, a_work_array_is_copied, members_are_read, a_member_too_many])
def test_lists_of_arrays(function: Callable[..., Any]) -> None:
    everywhere(function, np.array([1.0, 2.0, 3.0]), U)


def test_lengths_of_members_are_compared() -> None:
    everywhere(two_lengths, np.arange(5.0), U)
    with pytest.raises(UnsupportedError, match="members of lengths 5 and 3 stand in one list"):
        pytocu.jit(two_lengths)(np.arange(3.0), U)


CHANGED = {
    "by the list": "ys[-1][0] = 7", "of the caller": "x[0] = 7",
    "read before": "first[0] = 7", "a part": "ys[1:][0][0] = 7", "in a loop": "for z in ys:\n        z += 1",
    "of another list": "ws = [ys[0] for v in u]\n    ws[-1][0] = 4",
    "of a branch": "w = x * 3 if u[0] > 0 else first\n    w += 1",
}  # fmt: skip


def changes(case: str) -> str:
    """A program that changes a member of a list."""
    in_step = {
        "after it is appended": ("", "z[0] += 1"), "in the next step": ("z[0] += 1", ""),
        "swapped": ("b[:] = z + 1", "z, b = b, z"),
    }  # fmt: skip
    before, after = in_step.get(case, ("z = z * u[k]", ""))
    lines: list[str] = ["ys = [x]", "first = ys[0]", "z = x * 1", "b = x * 2", "for k in range(len(u)):"]
    lines += ["    " + line for line in (before, "if u[k] > 0.3:", "    ys.append(z)", after) if line]
    lines += [CHANGED[case]] if case not in in_step else []
    return "def f(x, u):\n    " + "\n    ".join([*lines, "return np.array(ys)"]) + "\n"


@pytest.mark.parametrize("case", [*CHANGED, "after it is appended", "in the next step", "swapped"])
def test_members_are_not_changed(case: str) -> None:
    name = f"<a member is changed {case}>"
    linecache.cache[name] = len(changes(case)), None, changes(case).splitlines(keepends=True), name
    names: dict[str, Any] = {"np": np}
    exec(compile(changes(case), name, "exec"), names)
    with pytest.raises(UnsupportedError, match="is a member of the list ys, or may be, is changed"):
        pytocu.jit(names["f"])(np.array([1.0, 2.0, 3.0]), U)


def popped_twice(x, u):
    ys = [x]
    z = ys.pop()
    for k in range(len(u)):
        if u[k] > 0.3:
            ys.append(z)
            ys.append(z)
    return ys


def returned_beside(x, u):
    ys = []
    z = x
    for k in range(len(u)):
        z = z * u[k]
        if u[k] > 0.3:
            ys.append(z)
    return ys, z


@pytest.mark.parametrize(
    ("function", "said"), [(popped_twice, "the function returns the list ys"), (returned_beside, "beside it an array")]
)
def test_members_with_other_names_are_not_returned(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(np.array([1.0, 2.0, 3.0]), U)


class Place(NamedTuple):
    row: Any
    column: Any


def in_tuples(x):
    e = [(x[0], Place(0, 0))]
    for i in range(len(x)):
        if x[i] < 0.9:
            e.append((x[i], Place(i, -i)))
    e[0] = (x[2], Place(7, 8))
    e.insert(1, (x[3], Place(1, 1)))
    e.remove((x[0], Place(0, 0)))
    greatest = max(e)
    e.sort(reverse=True)
    by_row = sorted(e, key=lambda t: t[1][0] * -1)
    return e, (x[2], Place(2, -2)) in e, e.count((x[3], Place(3, -3))), greatest, e[-1][1].column, by_row


def deeper(x):
    found = [(x[i], (i, (x[i] * 2, True))) for i in range(len(x)) if x[i] < 0.6]
    chosen = found[0] if x[0] < x[1] else found[-1]
    return found, chosen, min(found), found[0] == found[-1]


def stacked(x):
    stack = [(0, (0.0, 0.0))]
    n = 0
    while stack:
        d, (a, b) = stack.pop()
        n += a + b
        if d < 3:
            stack.append((d + 1, (a + 0.5, b)))
            stack.append((d + 1, (a, b + x[d])))
    return n, len(stack)


@pytest.mark.parametrize("function", [in_tuples, deeper, stacked])
def test_tuples_in_tuples(function: Callable[..., Any]) -> None:
    x = np.array([0.5, 0.1, 0.9, 0.3, 0.7, 0.2])
    expected, found = function(x), pytocu.jit(function)(x)
    # Classes of numbers, too.
    assert repr(found) == repr(expected)


def two_forms(x):
    e = []
    for i in range(len(x)):
        if x[i] > 0:
            e.append((x[i], (i, i)))
        else:
            e.append((x[i], i, i))
    return e


def as_array(x):
    return np.array([(x[i], (i, i)) for i in range(len(x)) if x[i] > 0])


@pytest.mark.parametrize(
    ("function", "said"), [(two_forms, "tuples with tuples in them beside others"), (as_array, "an array of tuples that hold")]
)
def test_tuples_in_tuples_are_alike(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(A)


def reached(links, core):
    seen = np.full(len(links), -1)
    seen[0] = 0
    waiting = [0]
    while waiting:
        j = waiting.pop()
        if core[j]:
            for k in np.where(links[j] & (seen == -1))[0]:
                seen[k] = seen[j] + 1
                waiting.append(k)
    return seen


def test_a_branch_appends_as_many_as_data_say() -> None:
    links = np.random.default_rng(1).random((10, 10)) > 0.7
    for core in (links.sum(1) > 2, links[0], np.zeros(10, bool)):
        compare(pytocu.jit(reached)(links, core), reached(links, core))


def inwards(x):
    """Once around the edge of what is left, and so on."""
    m = np.reshape(x[: len(x) // 3 * 3], (-1, 3))
    found = []
    top, bottom, left, right = 0, m.shape[0] - 1, 0, m.shape[1] - 1
    while top <= bottom and left <= right:
        for j in range(left, right + 1):
            found.append(m[top, j])
        top += 1
        for i in range(top, bottom + 1):
            found.append(m[i, right])
        right -= 1
        if top <= bottom:
            for j in range(right, left - 1, -1):
                found.append(m[bottom, j])
            bottom -= 1
        if left <= right:
            for i in range(bottom, top - 1, -1):
                found.append(m[i, left])
            left += 1
    return np.array(found, float)


def triangle(x):
    found, k = [], 0
    while k < len(x):
        for j in range(k, len(x)):
            found.append(x[j] - k)
        k += 2
    return np.array(found, float), k


@pytest.mark.parametrize("function", [inwards, triangle])
@pytest.mark.parametrize("x", INPUTS, ids=["mixed", "negative", "empty", "one"])
def test_loops_in_a_while_loop_append(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)

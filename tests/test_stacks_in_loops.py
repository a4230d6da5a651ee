"""Lists whose length a run decides in nested loops: stacks and queues over grids and graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare

RNG = np.random.default_rng(0)
IMAGE = RNG.random((5, 6)) > 0.45


def a_stack_in_each_step(mask, n):
    seen = np.zeros(n)
    for i in range(n):
        if mask[i]:
            stack = [i]
            while stack:
                y = stack.pop()
                seen[i] += y
                if y > 0:
                    stack.append(y - 1)
    return seen


def components(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=int)
    count = 0
    for i in range(h):
        for j in range(w):
            if mask[i, j] and labels[i, j] == 0:
                count += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if 0 <= y < h and 0 <= x < w and mask[y, x] and labels[y, x] == 0:
                        labels[y, x] = count
                        stack.append((y + 1, x))
                        stack.append((y - 1, x))
                        stack.append((y, x + 1))
                        stack.append((y, x - 1))
    return labels, count


def breadth_first(indptr, indices, source):
    distance = np.full(len(indptr) - 1, -1)
    distance[source] = 0
    queue = deque([source])
    while queue:
        u = queue.popleft()
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if distance[v] == -1:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


def depth_first(indptr, indices, source):
    seen = np.zeros(len(indptr) - 1, dtype=bool)
    order = []
    stack = [source]
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in indices[indptr[u] : indptr[u + 1]][::-1]:
            if not seen[v]:
                stack.append(v)
    return np.array(order)


def near_ones(x, limit):
    """Lists that a step makes longer by as many members as data say."""
    n = len(x)
    seen = np.zeros(n, dtype=bool)
    stack, count = [0], 0
    while stack:
        i = stack.pop()
        if not seen[i]:
            seen[i] = True
            count += 1
            stack.extend([k for k in range(n) if abs(x[k] - x[i]) < limit])
    return seen, count


def greatest_of_windows(x, width):
    window, found = deque(), []
    for i in range(len(x)):
        while window and x[window[-1]] <= x[i]:
            window.pop()
        window.append(i)
        if window[0] <= i - width:
            window.popleft()
        if i >= width - 1:
            found.append(x[window[0]])
    return np.array(found)


ADJACENT = RNG.random((8, 8)) < 0.3
GRAPH = np.r_[0, np.cumsum(ADJACENT.sum(1))], np.nonzero(ADJACENT)[1]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (a_stack_in_each_step, (RNG.random(5) > 0.4, 5)),
        (components, (IMAGE,)),
        (breadth_first, (*GRAPH, 0)),
        (depth_first, (*GRAPH, 0)),
        (near_ones, (RNG.random(12), 0.2)),
        (greatest_of_windows, (RNG.random(14), 3)),
    ],
)
def test_programs(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    expected = function(*arguments)
    found = pytocu.jit(function)(*arguments)
    for one, wanted in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, expected)), strict=True):
        compare(one, wanted)


def extended(x, n):
    found, other = [], []
    for k in range(n):
        found.extend(range(k))
        found += [i for i in range(len(x)) if x[i] > k]
        other += [k, k + 1]
    return found, other


def extended_by_itself(x, n):
    found = [i for i in range(len(x)) if x[i] > n]
    for k in range(2):
        if k < n:
            found.extend(found)
    return len(found)


def emptied(x, n):
    queue = deque()
    for i in range(len(x)):
        if x[i] > 0:
            queue.append(i)
    for _ in range(n):
        queue.popleft()
    return len(queue)


def last_three(x, n):
    window = deque([0], maxlen=3)
    total = 0
    for i in range(n):
        window.append(i * 2)
        total += window[0]
    return total, len(window)


def of_a_comprehension(x, n):
    queue = deque([i for i in range(len(x)) if x[i] > 0])
    total = 0
    while queue:
        total += queue.popleft() * n
        if len(queue) > 3:
            queue.pop()
    return total


def means_of_a_window(x, n):
    window = deque(maxlen=n)
    means = np.zeros(len(x))
    for i, v in enumerate(x):
        window.append(v)
        if len(window) > 0:
            means[i] = sum(window) / len(window)
    return means


def latest_first(x, n):
    window = deque(maxlen=n)
    for v in x:
        window.appendleft(v * 2)
    return list(window)


def three_first(x, n):
    window = deque(maxlen=3)
    for v in x[n:]:
        window.appendleft(v)
    return len(window), np.array(window).sum()


@pytest.mark.parametrize("function", [means_of_a_window, latest_first, three_first])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_windows(function: Callable[..., Any], n: int) -> None:
    x = np.array([3.0, -1.0, 2.0, 0.5, 4.0, 1.5, 2.25, 8.0, 0.25])
    everywhere(function, x, n)


def test_windows_of_no_such_length() -> None:
    with pytest.raises(ValueError, match="maxlen must be non-negative"):
        pytocu.jit(latest_first)(np.arange(4.0), -1)


def begun(x, n):
    window = deque([1.0], maxlen=n)
    for v in x:
        window.append(v)
    return len(window)


def outside_of_a_loop(x, n):
    window = deque(maxlen=n)
    window.append(x[0])
    return len(window)


@pytest.mark.parametrize(
    ("function", "said"), [(begun, "that is begun with members"), (outside_of_a_loop, "deque.append outside of a loop")]
)
def test_windows_that_are_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(np.arange(4.0), 3)


@pytest.mark.parametrize("function", [extended, emptied, last_three, of_a_comprehension])
def test_members_that_a_run_counts(function: Callable[..., Any]) -> None:
    x = np.array([3.0, -1.0, 2.0, 0.5, 4.0])
    for n in (0, 1, 3, 9 if function is emptied else 2):
        everywhere(function, x, n)


def both_ends(x, n):
    queue = deque([n])
    queue.appendleft(n + 1)
    queue.append(len(x))
    first = queue.popleft()
    return first, queue.pop(), queue[0], len(queue)


def test_queues() -> None:
    x = np.array([3.0, -1.0, 2.0])
    assert pytocu.jit(both_ends)(x, 5) == both_ends(x, 5)
    with pytest.raises(UnsupportedError, match="returns"):
        pytocu.jit(lambda n: deque([n]))(3)
    with pytest.raises(UnsupportedError, match=r"deque.rotate is not compiled"):
        pytocu.jit(lambda n: deque([n]).rotate(1))(3)
    with pytest.raises(AttributeError, match=r"'collections.deque' object has no attribute 'push'"):
        pytocu.jit(lambda n: deque([n]).push(1))(3)
    with pytest.raises(IndexError, match="pop from an empty deque"):
        pytocu.jit(lambda n: deque([n][:0]).popleft())(3)


def filled_as_data_say(limit):
    stack, count = [0], 0
    while stack:
        if stack.pop() == 0:
            for k in range(int(limit[0])):
                stack.append(k + 1)
        count += 1
    return count


def test_a_step_that_appends_more_than_a_gpu_has_room_for_is_refused() -> None:
    jitted = pytocu.jit(filled_as_data_say)
    for limit in (700, 5000):
        assert jitted(np.array([limit])) == limit + 1
    host = jitted.lower("i64[n]").host("cuda")
    assert interp.run(host, [np.array([700])]) == (701,)
    with pytest.raises(UnsupportedError, match="makes the list stack longer by more members"):
        interp.run(host, [np.array([5000])])


def between_knots(x, y, queries):
    """A search in each step of a loop of one thread."""
    n = len(x)
    out = np.empty_like(queries)
    for k, q in enumerate(queries):
        i = min(max(np.searchsorted(x, q) - 1, 0), n - 2)
        out[k] = y[i] + (y[i + 1] - y[i]) * (q - x[i])
    return out


def test_a_search_in_each_step() -> None:
    x = np.sort(RNG.random(7))
    everywhere(between_knots, x, RNG.random(7), RNG.random(9))


def given_again(x, count):
    """`best` is what it was in every step, which nothing but the branches of a step says."""
    best, taken = x.dtype.type(0.0), 0
    found = []
    k = 0
    while k < 6:
        k += 1
        if -count > k * 3:
            break
        if found:
            taken = found.pop(0)
        found.append(3)
        best = max(best, best)
    return best, taken


def test_a_name_that_every_step_gives_what_it_has() -> None:
    for count in (-1, -4):
        everywhere(given_again, np.ones(1, np.float32), count)


def sliced_queue(x):
    return deque([1, 2, 3])[1:]


def sliced_queue_of_a_run(x):
    queue = deque()
    for value in x:
        if value > 0:
            queue.append(value)
    return queue[1:]


def queue_and_list(x):
    queue, more = deque([1]), [2]
    return queue + more


def part_of_a_queue(x):
    queue = deque([1, 2, 3])
    del queue[:2]
    return len(queue)


@pytest.mark.parametrize("function", [sliced_queue, sliced_queue_of_a_run, queue_and_list, part_of_a_queue])
def test_queues_refuse_what_lists_do(function: Callable[..., Any]) -> None:
    x = np.ones(3)
    with pytest.raises(TypeError) as expected:
        function(x)
    with pytest.raises(TypeError) as caught:
        pytocu.jit(function)(x)
    assert str(caught.value).splitlines()[0] == str(expected.value)


def test_queues_are_no_lists() -> None:
    def kinds(x):
        queue = deque([1, 2])
        same = queue == deque([1, 2]), queue == [1, 2], queue != [1, 2]
        return *same, isinstance(queue, list), isinstance(queue, deque), isinstance([1, 2], deque)

    everywhere(kinds, np.ones(2))

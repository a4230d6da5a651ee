"""Lists and dicts that branches and loops of run time change: what they hold is merged place by place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.array([0.5, -1, 2, 3.0])


def run(s, n):
    for _ in range(n):
        s["x"] = s["x"] * 2
        if s["x"].sum() > 20:
            s["hit"] = s["hit"] + 1


def helper(state, dt):
    state["x"] = state["x"] + dt * state["v"]
    state["v"] = state["v"] - dt * state["x"]


def motion(x, n):
    state = {"x": x.copy(), "v": x * 0}
    for _ in range(n):
        helper(state, 0.1)
    return state["x"]


def fields(x, n):
    s = {"u": x * 1.0, "t": 0.0}
    for _ in range(n):
        s["u"] = s["u"] * 0.5 + 1
        s["t"] = s["t"] + 0.25
    return s["u"], s["t"]


def pair_in_turn(x, n):
    p = [x, x * 2]
    for _ in range(n):
        p[0], p[1] = p[1], p[0] + p[1]
    return p


def one_side(x, n):
    d = {"a": x, "b": 1.0, "s": "name", "n": None}
    if x[0] > n:
        d["a"] = x + 1
        d["b"] = 2.0
    return d["a"], d["b"], d["s"], d["n"]


def layers(x, n):
    layers = [{"w": x, "m": x * 0}, {"w": x + 1, "m": x * 0}]
    for _ in range(n):
        for l in layers:
            l["m"] = 0.9 * l["m"] + 0.1 * l["w"]
            l["w"] = l["w"] - 0.01 * l["m"]
    return [(l["w"], l["m"]) for l in layers]


def two_names_of_a_list(x, n):
    p = [x, x]
    q = p
    for _ in range(n):
        q[0] = q[0] + 1
    return p[0], p[1]


def best(x, n):
    best = {"v": -np.inf, "k": -1}
    for k in range(n):
        v = (x * k).sum()
        if v > best["v"]:
            best["v"] = v
            best["k"] = k
    return best["v"], best["k"]


def counted_in_a_dict(x, n):
    d = {"it": 0, "x": x}
    while d["it"] < n and d["x"][0] < 50:
        d["x"] = d["x"] * 1.5
        d["it"] += 1
    return d["it"], d["x"]


def swapped_arrays(x, n):
    l = [x.copy(), x * 2]
    for _ in range(n):
        l[0] += 1
        l[0], l[1] = l[1], l[0]
    return l[0], l[1]


def both_sides(x, n):
    l = [x.copy(), x * 2]
    if x[0] > n - 2:
        l[0] = l[0] + 1
    else:
        l[1] = l[1] * 3
    l[1] += 1
    return l


def raises_in_a_step(x, n):
    l = [x.copy(), x * 2]
    for _ in range(n):
        l[0] = l[0] * 2
        if l[0].sum() > 40:
            raise ValueError("too large")
    return l


def a_list_in_a_list_twice(x, n):
    a = [x]
    l = [a, a]
    for _ in range(n):
        l[0][0] = l[1][0] + 1
    return a[0]


def a_tuple_in_a_dict(x, n):
    d = {"p": (x, x * 2), "q": x}
    for _ in range(n):
        a, b = d["p"]
        d["p"] = (b, a + d["q"])
    return d["p"]


def a_slice_of_a_list(x, n):
    l = [x, x * 2, x * 3]
    for _ in range(n):
        l[:] = [a * 2 for a in l]
    return l


def turned_lists(x, n):
    l = [x, x * 2, x * 3]
    for _ in range(n):
        l.insert(0, l.pop())
        l[0] = l[0] + l[1]
        l.reverse()
    return l


def updated(x, n):
    d = {"u": x, "v": x * 0}
    for _ in range(n):
        d.update(u=d["u"] * 0.5, v=d["u"] + d["v"])
    return d["u"], d["v"]


def left_and_else(x, n):
    s = {"k": 0, "x": x}
    while s["k"] < n:
        s["x"] = s["x"] * 1.5
        if s["x"].max() > 20:
            break
        s["k"] += 1
    else:
        s["x"] = s["x"] - 1
    return s["k"], s["x"]


def returned_in_a_step(x, n):
    l = [x, 0]
    for k in range(n):
        l[0] = l[0] * 1.5
        l[1] = k
        if l[0].max() > 8:
            return l[0], l[1]
    return l[0], -1


def by_a_nested_function(x, n):
    state = [x, x * 0]
    def step():
        state[1] = state[1] + state[0]
        state[0] = state[0] * 0.5
    for _ in range(n):
        step()
    return state[1]


def by_a_helper(x, n):
    state = {"x": x, "hit": 0}
    run(state, n)
    y = state["x"] + state["hit"]
    run(state, 2)
    return y, state["x"], state["hit"]


def changed_and_bound(x, n):
    l = [x.copy() for _ in range(3)]
    for _ in range(n):
        for i in range(3):
            l[i][1:] = l[i][:-1] * 0.5
            l[i] = l[i] + l[(i + 1) % 3]
    return l


def loops_in_loops(x, n):
    l = [x, x + 1]
    for k in range(n):
        for j in range(k):
            l[0] = l[0] + j
            if l[0].sum() > 10:
                l[0], l[1] = l[1], l[0] * 0.5
    return l


def numbers_in_lists(x, n):
    m = [[1.0, 0.0], [0.0, 1.0]]
    for _ in range(n):
        m[0][1] = m[0][1] + m[0][0] * 0.5
        m[1][0] = m[1][0] - m[0][1]
    return m


def scalars(x, n):
    hist = [x[0], x[1], x[2]]
    for _ in range(n):
        hist[0], hist[1], hist[2] = hist[1], hist[2], hist[0] + hist[1]
    return np.array(hist)


def views(x, n):
    y = x.copy()
    views = [y[:2], y[2:]]
    for _ in range(n):
        views[0] += 1
        views[1] *= views[0]
    return y


def ways_through_a_step(x, n):
    l = [x, x]
    for k in range(n):
        if x[k % 4] > 0:
            l[0] = l[0] + 1
        elif x[k % 4] < -5:
            continue
        else:
            l[1] = l[1] - 1
        l[0] = l[0] * l[1]
    return l


def returned_on_two_ways(x, n):
    p = [x, x * 2]
    if x[0] * n > 1:
        p[0] = p[0] + 1
        return p
    p[0] = p[0] * 2
    return p


def the_list_itself_from_a_step(x, n):
    p = [x, x * 2]
    for k in range(n):
        if x[k % 4] > 1:
            return p
        p[0] = p[0] * 2
    p[1] = p[1] + 100
    return p


def with_a_member_of_it(x, n):
    p = [x, x * 2]
    for k in range(n):
        p[0] = p[0] * 2
        if x[k % 4] > 1:
            return p, p[0]
        p[1] = p[1] - 1
    return p, p[1]


def a_tuple_with_a_list(x, n):
    p = [x, x + 1]
    q = (p, x)
    for _ in range(n):
        p[0] = p[0] + 1
    return q


def broken_off(x, n):
    p = [x, x + 1]
    for k in range(n):
        p[0] = p[0] + 1
        if x[0] * k > 1:
            break
        p[1] = p[1] * p[0]
    else:
        p[0] = p[0] - 1
    return p


def a_default(x, n):
    p = [x, x + 1]
    def f(y, p=p):
        return y + p[0]
    for _ in range(n):
        p[0] = f(p[0])
    return f(p[1])


def by_an_outer_name(x, n):
    c = x * 0

    def step(y):
        nonlocal c
        for k in range(n):
            c = c + 1
            if y[k % 4] > 1:
                return y
            c = c + 10
        return y * 2

    y = step(x)
    return y, c


def upd(s, k):
    return {"a": s["a"] + k, "b": [s["b"][1], s["b"][0] + s["a"]]}


def by_a_function_anew(x, n):
    s = {"a": x, "b": [x, x * 2]}
    for k in range(n):
        s = upd(s, k)
    return s["a"], s["b"]


def turned(p, n):
    for _ in range(n):
        p = [p[1], p[0] + 1]
    return p


def an_argument_of_a_helper(x, n):
    a = [x, x * 2]
    b = turned(a, n)
    return a, b


def changed_behind_a_helper(x, n):
    a = [x, x * 2]
    b = turned(a, n)
    b[0] = b[0] * 3
    return a, b


def changed_first(p, n):
    for _ in range(n):
        p[0] = p[0] + 1
        p = [p[1], p[0] + 1]
    return p


def changed_in_a_helper(x, n):
    a = [x, x * 2]
    b = changed_first(a, n)
    return a, b


def by_a_comprehension(x, n):
    p = [x, x * 2]
    for k in range(n):
        p = [w - 0.1 * k for w in p]
    return p


def a_dict_anew(x, n):
    s = {"a": x, "t": 0.0}
    for _ in range(n):
        s = {"a": s["a"] * 0.5, "t": s["t"] + 0.5}
    return s["a"], s["t"]


def the_old_one_has_a_name(x, n):
    p = [x, x * 2]
    q = p
    for _ in range(n):
        p = [p[1], p[0] + 1]
    return p, q


def anew_and_changed(x, n):
    p = [x, x * 2]
    for _ in range(n):
        p[0] = p[0] + 1
        p = [p[1], p[0]]
        p[1] = p[1] * 2
    return p


def anew_on_a_side(x, n):
    p = [x, x * 2]
    if x[0] * n > 1:
        p = [p[1], p[0]]
    p[0] = p[0] + 1
    return p


def old_or_new(x, n):
    p = [x, x * 2]
    q = p
    if x[0] * n > 1:
        p = [p[1], p[0]]
    return p, q


def a_window(x, n):
    h = [x * i for i in range(3)]
    for _ in range(n):
        h = [*h[1:], h[-1] + h[0]]
    return h


def returned_or_another(x, n):
    if x[0] * n > 1:
        return [x, x * 2]
    return [x * 3, x]


def returned_in_a_tuple(x, n):
    for k in range(n):
        if x[k % 4] > 1:
            return [x * k, x], k
    return [x, x * 3], -1


def an_iterator_of_the_old_one(x, n):
    p = [x, x * 2]
    z = zip(p, p, strict=True)
    for _ in range(n):
        p = [p[1], p[0] + 1]
    return [a + b for a, b in z]


def rows(x, n):
    p = [[x, x], [x, x * 2]]
    for _ in range(n):
        p = [[a + 1 for a in row] for row in p]
        p[0][1] = p[0][1] * 2
    return p


def in_a_tuple_before(x, n):
    p = [x, x * 2]
    q = (p, 1)
    for _ in range(n):
        p = [p[1], p[0]]
        p[0] = p[0] + 1
    return p, q


def numbers(x, n):
    p = [x, 1.0, 3]
    for _ in range(n):
        p = [p[0] * p[1], p[1] * 0.5, p[2] + 1]
    return p


def in_a_while_loop(x, n):
    p = [x, x + 1]
    while p[0].sum() < 20 * n:
        p = [p[1], p[0] + p[1] * 0.25 + 1]
    return p


def anew_or_changed(x, n):
    p = [x, x + 1]
    for k in range(n):
        if x[k % 4] > 0:
            p = [p[1], p[0] + 1]
        elif x[k % 4] < -5:
            p[0] = p[0] * 2
    return p


def arrays_in_turn(x, n):
    p = [x.copy(), x + 1]
    for _ in range(n):
        p = [p[1], p[0]]
        p[0] += 1
    return p


def by_another_name(x, n):
    p = [x, x]
    for _ in range(n):
        q = [p[1], p[0] + 1]
        p = q
        q[0] = q[0] * 2
    return p


def copies(x, n):
    p = [x, x * 2]
    if x[0] * n > 1:
        p[0] = p[0] + 1
        return list(p)
    return [p[1], p[0]]


def returned_by_a_function(x, n):
    def step(s):
        for k in range(n):
            if x[k % 4] > 1:
                return {"a": s["a"], "k": k}
            s = {"a": s["a"] * 2, "k": s["k"]}
        return {"a": s["a"] + 100, "k": -1}
    r = step({"a": x, "k": 0})
    return r["a"], r["k"]


def broken_off_anew(x, n):
    p = [x, 0]
    for _ in range(n):
        p = [p[0] * 2, p[1] + 1]
        if p[0].sum() > 30:
            break
    return p


def anew_in_two_loops(x, n):
    p = [x, x]
    for k in range(n):
        for j in range(k):
            p = [p[1] + j, p[0]]
        p[0] = p[0] + 1
    return p


def the_step_before(x, n):
    p = [x, x]
    for _ in range(n):
        r = p
        p = [p[1], p[0] + 1]
        p[0] = p[0] + r[0]
    return p


def the_old_one_is_changed(x, n):
    p = [x, x]
    for _ in range(n):
        old = p
        p = [p[1], p[0] + 1]
        old[0] = old[0] * 100
    return p


def a_function_that_reads_it(x, n):
    p = [x, x]
    f = lambda: p[0]  # noqa: E731
    for _ in range(n):
        p = [p[1], p[0] + f()]
    return p, f()


def by_nonlocal(x, n):
    p = [x, x]
    def change():
        nonlocal p
        p = [p[1], p[0] + 1]
    for _ in range(n):
        change()
    return p


def lists_in_dicts(x, n):
    d = {"p": [x, x], "q": (x, [x * 2])}
    for _ in range(n):
        d["p"] = [d["p"][1], d["p"][0] + 1]
        d["q"] = (d["q"][0] + 1, [d["q"][1][0] * 2])
    return d["p"], d["q"]


def lists_in_tuples(x, n):
    t = (x, [x, x * 2])
    for _ in range(n):
        t = (t[0] + 1, [t[1][1], t[1][0]])
    return t


def lists_in_lists(x, n):
    p = [x, x * 2]
    q = [p, p]
    for _ in range(n):
        q = [[q[0][0] + 1, q[0][1]], [q[1][0], q[1][1] * 2]]
    return q, p


def anew_in_both(x, n):
    p = [x]
    for k in range(n):
        p = [a + 0 for a in p]
        if x[0] * k > 0.4:
            p = [p[0] * 2]
        else:
            p = [p[0] + 1]
    return p


def a_dict_of_a_dict(x, n):
    p = {"a": x, "b": x + 1}
    for _ in range(n):
        p = {key: value * 0.5 for key, value in p.items()}
    return list(p.values())


def a_dict_and_more(x, n):
    p = {"a": x, "b": x + 1}
    for _ in range(n):
        p = {**p, "a": p["a"] + p["b"]}
    return p["a"], p["b"]


def a_copy_or_another(x, n):
    p = [x, x + 1]
    if x[0] * n > 1:
        q = list(p)
    else:
        q = [x * 5, x]
    q[0] = q[0] + 1
    return p, q


def the_best_so_far(x, n):
    p = [x, x + 1]
    best, cost = list(p), 1e9
    for _ in range(n):
        p = [w * 0.9 for w in p]
        c = float((p[0] ** 2).sum())
        if c < cost:
            best, cost = list(p), c
    return best, cost


def the_last_numbers(x, n):
    hist = [0.0] * 4
    for k in range(n):
        hist = [*hist[1:], hist[-1] + float(k)]
    return hist


def endless(x, n):
    p = [x, x]
    while True:
        p[0] = p[0] + 1
        if p[0].sum() > n * 7:
            return p


def endless_anew(x, n):
    p = [x, x]
    while True:
        p = [p[0] + 1, p[1]]
        if p[0].sum() > n * 7:
            return list(p)


def constants(x, n):
    for _ in range(n):
        x = x + 1
        if x.sum() > 12:
            return [1, 2]
    return [1, 2]


def texts(x, n):
    if x[0] > n:
        return [x, 1.0], "a"
    return [x * 2, 1.0], "a"


def changed_behind(x, n):
    p = [x, x * 2]
    q = p
    for _ in range(n):
        p = [p[1], p[0] + 1]
    p[0] = x * 100
    return p, q


def changed_before(x, n):
    p = [x, x * 2]
    q = p
    for _ in range(n):
        p[0] = p[0] + 1
        p = [p[1], p[0]]
    return p, q


def one_of_two(x, n):
    p = [x, x * 2]
    q = [x, x]
    for _ in range(n):
        p[0] = p[0] + 1
        p = q
    return p, q


def changed_behind_a_side(x, n):
    p = [x, x * 2]
    q = p
    if x[0] * n > 1:
        p = [p[1], p[0]]
    p[0] = p[0] + 1
    return p, q


def this_or_that(x, n):
    p = [x, x + 1]
    if x[0] * n > 1:
        q = p
    else:
        q = [x * 5, x]
    q[0] = q[0] + 1
    return p, q


def arrays_in_a_new_list(x, n):
    p = [x.copy(), x.copy()]
    for _ in range(n):
        p[0][1:] += p[1][:-1]
        p[1] *= 2
        p = [p[1], p[0]]
    return p


def two_names_of_memory(x, n):
    l = [x.copy(), x * 2]
    y = l[0]
    for _ in range(n):
        l[0] += 1
        l[0], l[1] = l[1], l[0]
    return l[0], l[1], y


def one_memory_on_a_side(x, n):
    l = [x.copy(), x * 2]
    if x[0] > n - 2:
        l[0] = l[1]
    l[1] += 1
    return l


ANEW = [
    by_a_comprehension, a_dict_anew, the_old_one_has_a_name, anew_and_changed, anew_on_a_side, old_or_new, a_window,
    returned_or_another, returned_in_a_tuple, an_iterator_of_the_old_one, rows, in_a_tuple_before, numbers,
    in_a_while_loop, anew_or_changed, arrays_in_turn, by_another_name, copies, returned_by_a_function, broken_off_anew,
    anew_in_two_loops, the_step_before, the_old_one_is_changed, a_function_that_reads_it, by_nonlocal, lists_in_dicts,
    lists_in_tuples, lists_in_lists, anew_in_both, a_dict_of_a_dict, a_dict_and_more, a_copy_or_another,
    the_best_so_far, the_last_numbers, endless, endless_anew, constants, texts, by_a_function_anew,
    an_argument_of_a_helper, arrays_in_a_new_list,
]  # fmt: skip

PROGRAMS = [
    fields, pair_in_turn, one_side, layers, two_names_of_a_list, best, counted_in_a_dict, swapped_arrays, both_sides,
    raises_in_a_step, a_list_in_a_list_twice, a_tuple_in_a_dict, a_slice_of_a_list, turned_lists, updated,
    left_and_else, returned_in_a_step, by_a_nested_function, by_a_helper, changed_and_bound, loops_in_loops,
    numbers_in_lists, scalars, views, ways_through_a_step, returned_on_two_ways, the_list_itself_from_a_step,
    with_a_member_of_it, a_tuple_with_a_list, broken_off, a_default, motion, by_an_outer_name, two_names_of_memory,
    one_memory_on_a_side,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize("function", [*PROGRAMS, *ANEW], ids=lambda f: f.__name__)
def test_programs(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)


@pytest.mark.parametrize("function", [pair_in_turn, layers, by_a_helper, by_an_outer_name, *ANEW], ids=lambda f: f.__name__)
def test_loops_without_a_step(function: Callable[..., Any]) -> None:
    everywhere(function, X, 0)


def train(w1, w2, x, y, steps):
    layers = [w1, w2]
    for _step in range(steps):
        acts = [x]
        for w in layers:
            acts.append(np.tanh(acts[-1] @ w))
        g = acts[-1] - y
        grads = []
        for i in reversed(range(len(layers))):
            g = g * (1 - acts[i + 1] ** 2)
            grads.append(acts[i].T @ g)
            g = g @ layers[i].T
        for i in range(len(layers)):
            layers[i] = layers[i] - 0.1 * grads[len(layers) - 1 - i]
    return layers


def test_training() -> None:
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal(shape) for shape in ((3, 4), (4, 2), (5, 3), (5, 2))]
    for steps in (0, 1, 4):
        everywhere(train, *arguments, steps, ulp=64)


def of_other_lengths(x, n):
    p = [x]
    for _ in range(n):
        p = [*p, x]
    return p


def held_and_returned(x, n):
    def part(d):
        if x[0] > n - 1:
            q = [x, x]
            d["q"] = q
            return q
        return [x, x]

    d = {"q": [x, x]}
    r = part(d)
    r[0] = r[0] + 1
    return d["q"][0]


def held_and_returned_by_a_step(x, n):
    def part(d):
        for k in range(n + 3):
            if x[k] > 1:
                q = [x, x]
                d["q"] = q
                return q
        return [x, x]

    d = {"q": [x, x]}
    r = part(d)
    r[0] = r[0] + 1
    return d["q"][0]


def other_keys(x, n):
    d = {"a": x}
    for k in range(n):
        d["b"] = x + k
    return d["b"]


def nested_keys(x, n):
    d, loss = {"a": x}, {}
    for k in range(n):
        d["a"] = d["a"] * 0.5
        for j in range(k + 2):
            d["b"] = d["a"] + j
        loss["last"] = d["b"].sum()
    return d["b"], loss["last"]


def keys_in_a_while(x, n):
    d = {}
    while n > 0:
        d["x"] = x + n
        n -= 1
    return d["x"]


class Fitted:
    def __init__(self, weights):
        self.weights = weights

    def predict(self, x):
        self.hidden = np.maximum(x * self.weights, 0)
        return self.hidden

    def fit(self, x, n):
        for _ in range(n):
            error = self.predict(x) - 1
            self.loss = (error**2).max()
            self.weights = self.weights - 0.1 * x * error
        return self.loss


def attributes_of_a_step(x, n):
    model = Fitted(x * 0 + 0.5)
    return model.fit(x, n), model.weights, model.hidden


@pytest.mark.parametrize("function", [other_keys, nested_keys, keys_in_a_while, attributes_of_a_step])
@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_keys_that_the_first_step_adds(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X.copy(), n)


def keys_of_a_side(x, n):
    d = {}
    for k in range(n):
        if k % 2:
            d["odd"] = x + k
    return len(d)


def keys_of_later_steps(x, n):
    d = {}
    for k in range(n):
        d[k] = x
    return len(d)


def a_text(x, n):
    d = {"mode": "a", "x": x}
    for _ in range(n):
        d["mode"] = "b" if d["mode"] == "a" else "a"
        d["x"] = d["x"] + 1
    return d["x"]


def python_without_a_step(x, n):
    p = [0, 0.0]
    for k in range(n):
        if x[k % 4] > 0:
            p[0] += 1
            p[1] += x[k % 4]
    return p[0], p[1]


def test_members_that_no_step_changed_stay_pythons() -> None:
    for n in (0, 1, 5):
        everywhere(python_without_a_step, X.copy(), n)


def the_other_name(x, n):
    p = [x[0], 0]
    q = p
    if n > 0:
        q = [q[0] + 1, 1]
    p[1] = 5
    return q[1]


def the_best(x, n):
    best = {"x": x[0], "f": 1e9}
    now = {"x": x[0], "f": 1e9}
    for _ in range(n):
        now = {"x": now["x"] * 0.5, "f": now["f"] - 1}
        if now["f"] < best["f"]:
            best = now
        now["f"] = now["f"] - 100
    return best["f"], now["f"]


def kept_at_a_step(x, n):
    best, now = [0, 0], [1, 2]
    for i in range(n):
        now[0] += 1
        if i == 1:
            best = now
    return best, now


def the_best_copied(x, n):
    best = {"x": x[0], "f": 1e9}
    now = {"x": x[0], "f": 1e9}
    for _ in range(n):
        now = {"x": now["x"] * 0.5, "f": now["f"] - 1}
        if now["f"] < best["f"]:
            best = dict(now)
        now["f"] = now["f"] - 100
    return best["f"], now["f"]


def under_a_name_bound_again(x, n):
    """What the first loop has left, and a step then leaves, is read by nobody."""
    points = [{"a": x, "n": 1}, {"a": x + 1, "n": 2}]
    for p in points:
        p["a"] = p["a"] * 2
    points[0], points[1] = points[1], points[0]
    for _ in range(n):
        for p in points:
            p["a"] = p["a"] * 0.5
    return points[0]["a"], points[1]["a"], points[0]["n"]


def test_what_a_run_chooses_of_is_changed_where_no_name_has_what_was_chosen() -> None:
    for n in (0, 1, 3):
        everywhere(the_best_copied, X.copy(), n)
        everywhere(under_a_name_bound_again, X.copy(), n)


@pytest.mark.parametrize(
    ("function", "said", "help"),
    [
        (the_other_name, "p[1] = ... changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (the_best, "now['f'] = ... changes a dict that may be one that has other names, too", "copy it first: dict(...)"),
        (kept_at_a_step, "now[0] = ... changes a list that may be one that has other names", "copy it first: list(...)"),
        (changed_behind, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (changed_before, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (one_of_two, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (changed_behind_a_side, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (this_or_that, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (changed_behind_a_helper, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (changed_in_a_helper, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (held_and_returned, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (held_and_returned_by_a_step, "changes a list that may be one that has other names, too", "copy it first: list(...)"),
        (of_other_lengths, "p is a list of 1 before a step of the loop and a list of 2 after it", "np.array(...)"),
        (other_keys, "a loop without a step is not compiled where a dict grows in its first step", "assign each of them"),
        (keys_of_a_side, "a dict grows in a branch by the key", "= None before"),
        (keys_of_later_steps, "a member of a dict is assigned at a place known only at run time", "a list"),
        (a_text, "d['mode'] is 'a' before a step of the loop and 'b' after it", "values of one kind"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_refused(function: Callable[..., Any], said: str, help: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(function)(X.copy(), 0)
    assert said in caught.value.message and help in (caught.value.help or "")


def a_set_in_a_loop(n):
    seen = set()
    for _ in range(n):
        seen.add(3)
    return len(seen)


def a_set_in_a_branch(n):
    seen = {1}
    if n > 2:
        seen.discard(1)
    return len(seen)


def a_set_with_other_members(n):
    seen = {1}
    if n > 2:
        seen.remove(1)
        seen.add(2)
    return 1 in seen


def numbers_in_a_set(n):
    seen = set()
    seen.add(n)
    seen.add(n + 1 - 1)
    return len(seen)


def numbers_as_keys(n):
    pairs = [(n, 1), (n, 2)]
    return len(dict(pairs))


def numbers_as_keys_later(n):
    held = {3: 1}
    held.update([(n, 2)])
    return len(held)


def counted_by_a_dict(n):
    counts = {}
    counts[n] = counts.get(1, 0) + 1
    return counts[1]


def asked_of_a_dict(n):
    counts = {1: 2}
    return n in counts


def a_number_as_a_key(n):
    held = {3: 1}
    return held.setdefault(n, 2)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (a_set_in_a_loop, "a set grows in a loop"),
        (a_set_in_a_branch, "a set shrinks in a branch"),
        (a_set_with_other_members, "a set gets other members in a branch"),
        (numbers_in_a_set, r"set.add\(\) compares values known only at run time(.|\n)*seen = \[False\] \* n"),
        (counted_by_a_dict, r"a member of a dict is assigned(.|\n)*counts = \[0\] \* n"),
        (asked_of_a_dict, r"'in' with values known only at run time(.|\n)*counts = \[0\] \* n"),
        (numbers_as_keys, "a key cannot be a value known only at run time"),
        (numbers_as_keys_later, "a key cannot be a value known only at run time"),
        (a_number_as_a_key, r"dict.setdefault\(\) compares values known only at run time"),
    ],
)
def test_what_a_set_or_dict_holds_is_known_while_compiling(function, said):
    with pytest.raises(pytocu.UnsupportedError, match=said):
        pytocu.jit(function)(3)


def test_numbers_of_a_run_among_those_of_a_set():
    def among(x):
        found = 0
        for v in x:
            if v in {1, 5}:
                found += 1
        return found, x[0] in frozenset((2, 3))

    everywhere(among, np.array([1, 2, 5, 1]))
    everywhere(among, np.array([2, 2]))


def test_sets_that_stay_as_they_are():
    def known(n):
        seen = {1, 2}
        seen.add(5)
        total = 0
        for i in range(n):
            seen.add(5)
            total += i if 5 in seen else 1
        return total, len(seen)

    assert pytocu.jit(known)(4) == known(4)


def members_of_generators(x, n):
    pairs = sorted((x[i], i) for i in range(n) for _ in range(2))
    queue = deque(int(i) for i in np.flatnonzero(x > 1))
    total = 0
    while queue:
        total = total * 10 + queue.popleft()
    some = list(x[i] for i in range(n))  # noqa: C400
    return some, pairs, total, list(v * 2 for v in x if v > 1), np.array(list([i, n] for i in range(n)))  # noqa: C400


def test_lists_of_generators() -> None:
    x = np.array([3.0, 1.0, 4.0, 1.5])
    compiled = pytocu.jit(members_of_generators)
    for n in (1, 3, 4):
        compare(compiled(x, n), members_of_generators(x, n))

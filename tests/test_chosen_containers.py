"""Lists, dicts and objects of which a run chooses one: in conditional expressions, in branches and in what a call returns."""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.operands import make_function


@dataclass
class Pair:
    a: np.ndarray
    b: np.ndarray
    n: int = 0


def shown(value: Any, seen: list[Any]) -> Any:
    """What a value holds, and which lists, dicts and objects in it are one."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tolist()
    if isinstance(value, tuple):
        return [shown(member, seen) for member in value]
    if not isinstance(value, list | dict) and not is_dataclass(value):
        return type(value).__name__, value
    for number, one in enumerate(seen):
        if one is value:
            return "again", number
    seen.append(value)
    held = dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, dict) else vars(value)
    return type(value).__name__, [(key, shown(member, seen)) for key, member in held.items()]


def agree(function: Any, *make: Any) -> None:
    """A function does what Python does, and to its arguments, and returns the same objects."""
    jitted = pytocu.jit(function)
    for n in (3, 1, 0, -2):
        ours, theirs = ([*(one() for one in make), n] for _ in range(2))
        assert shown((jitted(*ours), *ours), []) == shown((function(*theirs), *theirs), [])


def x() -> np.ndarray:
    return np.array([1.0, 2, 3])


def y() -> np.ndarray:
    return np.array([5.0, 7, 11])


def a_dict() -> dict[str, np.ndarray]:
    return {"f": x()}


def another() -> dict[str, np.ndarray]:
    return {"f": y()}


def pick(a, b, n):
    return a if n > 0 else b


def pick_by_statement(a, b, n):
    if n > 0:
        return a
    return b


def new_or_old(x, y, n):
    d = {"a": x}
    e = {"a": y} if n > 0 else d
    return e["a"] + 1


def used_at_once(x, y, n):
    d, e = [x, {"k": y}], [y, {"k": x}]
    return (d if n > 0 else e)[1]["k"] - (d if n > 1 else e)[0]


def objects(x, y, n):
    p = (Pair(x, y) if n > 2 else Pair(y, x, 2)) if n > 0 else Pair(x * 2, y)
    p.a = p.a + 1
    p.n += n
    return p


def lists_of_two_kinds(x, y, n):
    f = [x, 1] if n > 0 else [y, 2]
    f.append(3)
    return f


def as_an_argument(x, y, n):
    read = lambda d, k: d["f"] * k  # noqa: E731
    return read(k=2 if n > 0 else 3, d={"f": x} if n > 0 else {"f": y})


def unpacked(x, y, n):
    cur, old = ([x, 0], [y, 1]) if n > 0 else ([y, 2], [x, 3])
    cur[1] += 1
    old[0] = old[0] * 2
    return cur, old


def changes_where_it_is_reached(x, y, n):
    d = {"f": x, "k": 0}

    def count():
        d["k"] += 1
        return d["k"]

    z = count() if n > 0 else 7
    more = n > 1 and count() > 1
    return z, d["k"], x * (1 if more else 2)


def named_on_the_way(x, y, n):
    m = 0
    z = (m := n + 1) if n > 0 else 5
    return z, m, x * m


def made_by_a_call(x, y, n):
    r = pick({"f": x}, {"f": y}, n)
    r["f"] = r["f"] + 1
    return r


def chosen_of_its_own_names(x, y, n):
    def make(k):
        d, e = {"f": x}, {"f": y}
        return d if k > 0 else e

    r = make(n)
    r["f"] = r["f"] + 1
    return r


def let_go(x, y, n):
    d, e = {"f": x}, {"f": y}
    f = d if n > 0 else e
    del d, e
    f["f"] = f["f"] + 1
    return f


def asked_and_over(x, y, n):
    d, e = {"f": x}, {"f": y}
    if pick(d, e, n)["f"][0] > 1:
        d["f"] = x * 2
    return d, e


@pytest.mark.parametrize(
    "function",
    [
        new_or_old, used_at_once, objects, lists_of_two_kinds, as_an_argument, unpacked, changes_where_it_is_reached,
        named_on_the_way, made_by_a_call, chosen_of_its_own_names, let_go, asked_and_over,
    ],
)  # fmt: skip
def test_one_of_two(function):
    agree(function, x, y)


def one_argument_or_another(a, b, n):
    return a if n > 0 else b


def returned_twice(a, b, n):
    r = {"f": a["f"] + 1}
    if n > 1:
        r = a
    elif n > 0:
        r = b
    return r, [r]


def in_an_argument(a, b, n):
    a["g"] = b if n > 0 else {"f": b["f"]}
    return a


def before_what_it_may_be(a, b, n):
    d = {"f": a["f"] * 2}
    f = d if n > 0 else a
    return f, d


def either_of_both(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    return pick(d, e, n), pick_by_statement(d, e, n), d if n > 1 else e


def exchanged(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    if n > 0:
        d, e = e, d
    return d, e, [e, d]


def inside_of_others(a, b, n):
    d, e = {"in": [a, {"k": 1}]}, {"in": [b, {"k": 2}]}
    f = d if n > 0 else e
    return f["in"][1], d["in"], f


@pytest.mark.parametrize(
    "function",
    [
        one_argument_or_another, returned_twice, in_an_argument, before_what_it_may_be, either_of_both, exchanged,
        inside_of_others,
    ],
)  # fmt: skip
def test_which_one_a_caller_is_given(function):
    agree(function, a_dict, another)


def directly(a, b, n):
    pick(a, b, n)["f"] = a["f"] + 1


def by_statements(a, b, n):
    pick_by_statement(a, b, n)["f"] = a["f"] + 1


def the_other_name(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    r = pick_by_statement(d, e, n)
    d["f"] = d["f"] + 1
    return r["f"]


def changed(d, value):
    d["f"] = value
    return d


def in_one_expression(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    return pick_by_statement(d, e, n)["f"] + changed(d, a["f"] * 3)["f"]


def in_one_display(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    return [pick_by_statement(d, e, n), changed(d, a["f"] * 3)][0]["f"]


def of_the_function_around(a, b, n):
    s, t = {"f": a["f"]}, {"f": b["f"]}

    def get(k):
        if k > 0:
            return s
        return t

    r = get(n)
    s["f"] = b["f"] * 5
    return r["f"]


def kept_by_a_function(a, b, n):
    def make():
        s = {"f": a["f"]}

        def more():
            s["f"] = s["f"] + 1

        return s, more

    q, more = make()
    if n > 0:
        q = {"f": b["f"]}
    more()
    return q["f"]


def kept_by_a_method(a, b, n):
    held = [a["f"]]
    add = held.append
    if n > 0:
        held = [b["f"]]
    add(a["f"] + 1)
    return len(held)


def kept_in_a_list(a, b, n):
    keep = []

    def make(k):
        d, e = {"f": a["f"]}, {"f": b["f"]}
        keep.append(d)
        if k > 0:
            return d
        return e

    r = make(n)
    keep[0]["f"] = b["f"] * 9
    return r["f"]


def returned_by_a_step(a, b, n):
    keep = [{"f": b["f"]}]
    other = {"f": a["f"]}

    def look(k):
        for i in range(5):
            if i == k:
                d = {"f": a["f"] * i}
                keep[0] = d
                return d
        return other

    r = look(n)
    keep[0]["f"] = b["f"] * 9
    return r["f"]


def bound_again_by_a_callee(a, b, n):
    d = {"f": a["f"]}

    def another():
        nonlocal d
        if n > 0:
            d = {"f": b["f"]}

    def hold(q):
        another()
        return q

    q = hold(d)
    q["f"] = a["f"] * 11
    return d["f"]


def one_more_branch(a, b, n):
    d, e = {"f": a["f"]}, {"f": b["f"]}
    f = d if n > 0 else e
    if n > 1:
        d = {"f": a["f"] * 8}
    d["f"] = a["f"] * 4
    return f["f"], d["f"]


def gone_over(a, b, n):
    d, e = [a["f"], b["f"]], [b["f"], a["f"]]
    z = a["f"] * 0
    for v in d if n > 0 else e:
        d[1] = v * 3
        z = z + v
    return z


@pytest.mark.parametrize(
    "function",
    [
        directly, by_statements, the_other_name, in_one_expression, in_one_display, of_the_function_around, kept_by_a_function,
        kept_by_a_method, kept_in_a_list, returned_by_a_step, bound_again_by_a_callee, one_more_branch, gone_over,
    ],
)  # fmt: skip
def test_what_may_have_another_name_is_not_changed(function):
    # A copy would not be what the program makes longer.
    help = "append to a list with a name of its own" if function is kept_by_a_method else "copy it first"
    with pytest.raises(UnsupportedError, match=rf"may be one that has other names, too(.|\n)*{help}"):
        pytocu.jit(function)(a_dict(), another(), 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2] if n > 0 else [1, 2, 3]", "the conditional expression gives a list of 2 or a list of 3, and which of them"),
        ("[x] if n > 0 else (x,)", "the conditional expression gives a list or a tuple of 1, and which of them"),
        ("{'a': x} if n > 0 else {'b': x}", "gives a dict of 'a' or a dict of 'b'(.|\n)*or name n in @jit"),
        ("'a' if n > 0 else 'b'", "the conditional expression gives 'a' or 'b', and which of them is known only at run time"),
        ("np.sin if n > 0 else np.cos", "the conditional expression gives a ufunc or another ufunc"),
        ("n or [1]", "'or' gives a Python int or a list, and which of them"),
        ("(n > 0 and [x]) or [n]", "'and' gives a list or a Python bool, and which of them"),
    ],
)
def test_values_of_two_kinds(text, said):
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(make_function("xn", [text], {"np": np}))(x(), 3)


def statistics_by_class(x, y, n):
    found: dict[Any, Any] = {"n": len(x)}
    for c in range(3):
        of_class = x[y == c]
        if len(of_class) == 0:
            found[c] = (np.zeros(x.shape[1]), 0.0)
            continue
        found[c] = (of_class.sum(axis=0), len(of_class) / found["n"])
    return found, list(found), len(found)


def keys_of_both_sides(x, y, n):
    found = {}
    if x[0, 0] > 0.5:
        if y[0] > 0:
            found["x"], found["of"] = x[x > 0.5], {"y": y, "all": [1, 2]}
        else:
            found["x"], found["of"] = x[0], {"y": y + 1, "all": [3, 4]}
    else:
        found["x"] = x[:, 0]
        found["of"] = {"y": y - 1, "all": [5, 6]}
    found["of"]["all"].append(7)
    return found


@dataclass
class Settings:
    n: int
    x: Any = field(init=False)


def attributes_of_both_sides(x, y, n):
    made = Settings(n)
    if y[0] > 0:
        made.x = x
    else:
        made.x = x * 2
    return made.x + 1, made.n


def keys_in_another_order(x, y, n):
    found = {}
    if y[0] > 0:
        found["x"] = x
        found["y"] = y
    else:
        found["y"] = y
        found["x"] = x
    return found


def keys_of_one_side(x, y, n):
    found = {}
    if y[0] > 0:
        found["x"] = x
    else:
        found["x"] = x + 1
        found["y"] = y
    return found


@pytest.mark.parametrize("function", [statistics_by_class, keys_of_both_sides, attributes_of_both_sides])
def test_keys_that_both_sides_of_a_branch_give_a_dict(function: Any) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        # Whole numbers, whose sums are the same in any order.
        x, y = rng.integers(0, 2, (5, 2)).astype(float), rng.integers(0, 3, 5)
        agree(function, lambda x=x: x.copy(), lambda y=y: y.copy())


@pytest.mark.parametrize("function", [keys_in_another_order, keys_of_one_side])
def test_other_keys_on_the_sides_of_a_branch_are_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"a dict grows in a branch by the keys?") as caught:
        pytocu.jit(function)(np.ones((2, 2)), np.array([1, 2]), 3)
    assert caught.value.help is not None and "= None before" in caught.value.help

"""Names that a run may bind, on a side of a branch or in a step of a loop: Python's value, or its error where one is read."""

# Names that are read unbound are what this is about.
# ruff: noqa: F821, F841

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_run_time_positions import copies, on_threads

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare


def one_side(x, n):
    if x[0] > 0:
        y = x[1]
    if x[2] > 0:
        return y * 2
    return x[0] * n


def of_python(x, n):
    if n > 0:
        k = n * 2
    if x[0] > 0:
        return k + 1
    return 0


def same_condition(x, n):
    if n > 0:
        y = x[0]
    s = x[1]
    if n > 0:
        s = s + y
    return s


def last_above(x, n):
    for i in range(len(x)):
        if x[i] > n:
            k = i
    return k


def first_above(x, n):
    for i in range(len(x)):
        if x[i] > n:
            k = i
            break
    return x[k]


def chosen_on_one_side(x, n):
    if x[0] > 0:
        y = x[x < 2] * n
        y += 1
    if x[2] > 0:
        return y
    return x


def chosen_on_either_side(x, n):
    if x[0] > 0:
        y, k = x[x > 0], n
    elif x[2] > 0:
        y, k = x[x < 0], 5
    return y, k


def chosen_in_each_step(x, n):
    out = x.copy()
    for i in range(3):
        where = np.nonzero(x > i + n)[0]
        if x[i] > 0:
            y = x[where] * 2
        if x[i] < 0:
            out[where] = 1
        elif x[i] > 0:
            out[where] += y
    return out


def in_while(x, n):
    i = 0
    while i < n:
        if x[i] > 0:
            v = x[i]
        i += 1
    return v, i


def of_the_step_before(x, n):
    s = x[0] * 0
    for i in range(n):
        if i > 0:
            s = s + x[i] * before
        before = x[i]
    return s


def of_some_step_before(x, n):
    s = x[0] * 0
    for i in range(n):
        if x[i] > 0:
            v = x[i]
        if x[i] < 1.5:
            s = s + v
    return s


def bound_by_an_inner_loop(x, n):
    for i in range(n):
        if i == 1:
            k = i
        for j in range(n):
            k = j
    return k


def by_two_loops(x, n):
    for i in range(n - 1):
        k = i
    for i in range(n):
        k = k + i
    return k


def an_array(x, n):
    if n > 0:
        y = x * 2
        y[0] = 5
    if x[0] > 0:
        y[1] = n
        return y
    return x


def array_of_some_step(x, n):
    for i in range(n):
        if x[i] > 0:
            y = x * i
    return y + 1


def argument_itself(x, n):
    if n > 1:
        y = x
    y[0] = n
    return x + 1


def in_a_sweep(x, n):
    out = np.zeros(3)
    for i in range(n):
        if x[i] > 0:
            v = x[i] * 2
        if x[i] < 1.5:
            out[i] = v
    return out


def in_a_condition(x, n):
    if x[0] > 0:
        y = x[1]
    return y if n > 1 else x[2]


def augmented(x, n):
    if x[0] > 0:
        y = x[1]
    y += n
    return y


def by_a_function_inside(x, n):
    if x[0] > 0:
        y = x[1]

    def inner(z):
        return y + z

    return inner(x[2])


def deleted(x, n):
    y = x[0]
    if n > 1:
        del y
    return y


def deleted_in_a_step(x, n):
    y = x[0]
    for i in range(n):
        del y
        if x[i] > 0:
            y = x[i]
    return x + 1


def deleted_twice(x, n):
    if n > 1:
        y = x[0]
    del y
    return x[1]


def arrays_beside_numbers(x, n):
    """What an inner step hands on with the array is none of what its elements are made of."""
    s = x[0] * 0
    for _ in range(n):
        for k in range(n):
            if x[k] > 0:
                b = x[1]
            w = x + 0.5
    s = s + w.sum()
    for _ in range(n):
        s = s + b
    return s


FUNCTIONS = [
    chosen_on_one_side, chosen_on_either_side, chosen_in_each_step,
    arrays_beside_numbers,
    one_side, of_python, same_condition, last_above, first_above, in_while, of_the_step_before, of_some_step_before,
    bound_by_an_inner_loop, by_two_loops, an_array, array_of_some_step, argument_itself, in_a_sweep, in_a_condition, augmented,
    by_a_function_inside, deleted, deleted_in_a_step, deleted_twice,
]  # fmt: skip


def outcome(run: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call returns and leaves in its arguments, or what it raises."""
    given = copies(arguments)
    try:
        return run(*given), given
    except (NameError, IndexError) as error:
        return error


def agrees(found: Any, wanted: Any) -> None:
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted)) and str(found).startswith(str(wanted)), found
    else:
        compare(found, wanted)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_as_python_has_it(function: Callable[..., Any], first: float) -> None:
    for last in (2.0, -2.0):
        for n in (0, 1, 2, 3):
            arguments = (np.array([first, 1.0, last]), n)
            wanted = outcome(function, arguments)
            agrees(outcome(pytocu.jit(function), arguments), wanted)
            agrees(outcome(lambda *a: call_interpreted(function, *a), arguments), wanted)
            agrees(outcome(lambda *a: on_threads(function, list(a)), arguments), wanted)


def two_of_them(x, n):
    if n > 0:
        y = x[0]
    if n > 1:
        z = x[1]
    return y + z


def test_the_error_names_the_line_and_what_to_do() -> None:
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'z'") as caught:
        pytocu.jit(two_of_them)(np.ones(3), 1)
    assert caught.value.loc.line == two_of_them.__code__.co_firstlineno + 5
    assert caught.value.help == "assign it on every path before this line"


def changed_behind(x, n):
    if x[0] < 0:
        y = x[1]
    x[1] = y
    x[2] = 7
    return x


def test_nothing_behind_it_has_changed_an_argument() -> None:
    for run in (pytocu.jit(changed_behind), lambda *a: call_interpreted(changed_behind, *a)):
        x = np.ones(3)
        with pytest.raises(UnboundLocalError):
            run(x, 1)
        assert x.tolist() == [1, 1, 1]


def caught_by_a_clause(x, n):
    if n > 1:
        y = x[0]
    try:
        return y
    except NameError:
        return x[1]


def a_list(x, n):
    if n > 1:
        y = [x]
    return y[0]


def list_of_a_step_before(x, n):
    s = x[0]
    for i in range(n):
        if i > 0:
            s = s + y[0][1]
        y = [x]
    return s


def chosen_in_a_step_before(x, n):
    s = x[0]
    for i in range(n):
        if x[i] > 0:
            y = x[x > i]
        if x[i] > 0:
            s = s + y.sum()
    return s


def chosen_in_no_step(x, n):
    s = x[0]
    y = np.zeros(0)
    for i in range(n):
        if x[i] > 0:
            y = x[x > i]
        if x[i] > 0:
            s = s + y.sum()
    return s


def test_the_advice_for_what_a_mask_has_chosen_in_a_step_before() -> None:
    with pytest.raises(UnsupportedError, match="whose length only that step knows") as caught:
        pytocu.jit(chosen_in_a_step_before)(np.ones(3), 2)
    assert caught.value.help is not None and caught.value.help.endswith("before the loop: y = np.zeros(0)")
    for n in (0, 2, 3):
        given = np.array([2.0, -1.0, 3.0]), n
        compare(pytocu.jit(chosen_in_no_step)(*given), chosen_in_a_step_before(*given))


def lengths_of_steps(x, n):
    for i in range(n):
        if x[i] > 0:
            y = x[:i]
    return y


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (caught_by_a_clause, "a run may raise UnboundLocalError here, and the except clause"),
        (a_list, "y is assigned on one side of a branch only"),
        (list_of_a_step_before, "what an earlier step has left"),
        (lengths_of_steps, "y is assigned in a loop that may have no step"),
    ],
)
def test_what_has_no_zeros_is_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said) as caught:
        pytocu.jit(function)(np.ones(3), 2)
    assert caught.value.loc is not None
    assert caught.value.help


@pytocu.vectorize
def of_an_element(x, t):
    if x > t:
        y = x * 2
    if x > 2 * t:
        return y
    return x


@pytocu.vectorize
def step_of_an_element(x, t):
    s = 0.0
    i = 0
    while i < t:
        if i > 0:
            s += before
        if x > i:
            before = x * i
        i += 1
    return s


@pytocu.vectorize
def number_of_an_element(x, t):
    if x > t:
        y = 1
    return y


@pytocu.vectorize
def pair_of_an_element(x, t):
    if x > t + 1:
        y, z = x, 2
    elif x > t:
        y, z = -x, 3
    return y * z


@pytest.mark.parametrize(("function", "given"), [(number_of_an_element, 0.5), (pair_of_an_element, 0.0)])
def test_a_name_that_a_branch_binds_and_nothing_else_asks_for(function: Any, given: float) -> None:
    fine, wrong, plain = np.array([1.0, 5.0]), np.array([1.0, -2.0]), function.__wrapped__
    compare(function(fine, given), np.array([plain(a, given) for a in fine.tolist()]))
    compare(pytocu.jit(lambda x: function(x, given) + 1)(fine), function(fine, given) + 1)
    for call in (function, pytocu.jit(lambda x, t: function(x, t) + 1), pytocu.jit(lambda x, t: function(x[1], t))):
        with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
            call(wrong, given)


@pytest.mark.parametrize(
    ("function", "given", "wrong"),
    [(of_an_element, [2.0, 1.0, 0.5], [2.0, 1.0, -1.5]), (step_of_an_element, [1.0, 2.0, 0.0], [2.0, 2.0, 2.0])],
)
def test_in_a_vectorized_function(function: Any, given: list[float], wrong: list[float]) -> None:
    x, plain = np.array([1.0, 5.0, -2.0]), function.__wrapped__
    compare(function(x, np.array(given)), np.array([plain(a, b) for a, b in zip(x.tolist(), given, strict=True)]))
    with pytest.raises(UnboundLocalError):
        [plain(a, b) for a, b in zip(x.tolist(), wrong, strict=True)]
    with pytest.raises(UnboundLocalError, match="cannot access local variable"):
        function(x, np.array(wrong))


# Random programs.

LEAVES = {"a": ["x[0]", "x[m]"], "b": ["x[1]", "x[0] * 2"], "k": ["n", "m", "3"], "f": ["t", "0.5"]}
CONDITIONS = ["n > 1", "x[0] > 0", "x[1] > t", "t > 0", "n > m"]
CALLS = [([1.0, -1, 2], 2, 1, 0.5), ([-1.0, 1, 2], 3, 0, 0.0), ([1.0, 2, -3], 0, 2, -1.0), ([-1.0, -2, -3], 1, 1, 3.0)]


class Program:
    """The text of a function in which some runs bind a name before it is read, and some do not."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.loops = 0

    def text(self) -> str:
        first = [f"    {name} = {leaves[0]}" for name, leaves in LEAVES.items() if self.random.random() < 0.6]
        body = [line for _ in range(3) for line in self.statements(3, "    ")]
        lines = ["def program(x, n, m, t):", "    s = x[0] * 0", *first, *body, "    return s, s * 0.5", ""]
        return "\n".join(lines)

    def statements(self, depth: int, indent: str) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth, indent)]

    def statement(self, depth: int, indent: str) -> list[str]:
        choice, pick = self.random.random(), self.random.choice
        name = pick(list(LEAVES))
        if choice < 0.4 or not depth:
            return [f"{indent}{name} = {pick([*LEAVES[name], *LEAVES[name], f'{name} + {LEAVES[name][0]}'])}"]
        if choice < 0.5:
            return [f"{indent}s = s + {name}"]
        if choice < 0.53:
            return [f"{indent}del {name}"]
        if choice < 0.8 or self.loops == 2:
            of_steps = [f"i{self.loops} > 0", f"x[i{self.loops}] > t"] * 2 if self.loops else []
            lines = [f"{indent}if {pick([*CONDITIONS, *of_steps])}:", *self.statements(depth - 1, indent + "    ")]
            if self.loops and self.random.random() < 0.1:
                lines.append(f"{indent}    {pick(['break', 'continue'])}")
            return lines
        self.loops += 1
        lines = [f"{indent}for i{self.loops} in range({pick(['n', 'm', 'len(x)'])}):"]
        lines += self.statements(depth - 1, indent + "    ")
        self.loops -= 1
        return lines


@pytest.mark.parametrize("part", range(12))
def test_random_programs(part: int) -> None:
    for seed in range(part * 6, part * 6 + 6):
        source = Program(seed).text()
        name = f"<unbound {seed}>"
        linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(source, name, "exec"), namespace)
        compiled = pytocu.jit(namespace["program"])
        for x, *numbers in CALLS:
            arguments = (np.array(x), *numbers)
            wanted, found = outcome(namespace["program"], arguments), outcome(compiled, arguments)
            if isinstance(wanted, NameError):
                # Of several that a run comes to, what Python's numbers tell is known before what data do.
                assert isinstance(found, NameError) and "not " in str(found), f"{source}\n{found}"
            else:
                compare(found, wanted)

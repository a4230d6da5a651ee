"""Random functions of scalars, with branches and loops: the same as the plain function for each element.

Numbers are float64 and int64, which Python's own numbers are too, so every bit is Python's.
"""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_vectorize import in_python

import pytocu
from pytocu.ir import interp
from pytocu.testing.compare import compare

FLOATS, INTS = ("x", "y", "a", "b"), ("n", "i", "j")
X = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 4.0, np.inf, np.nan])
Y = np.array([1.5, -0.5, 2.0, 0.0, -3.0, 1e300, -0.0, 0.25, 1.0])
N = np.array([[0], [3], [-2]])


@st.composite
def float_expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """A float of floats and ints."""
    leaf = st.sampled_from([*FLOATS, "0.5", "-1.25", "3.0"])
    if depth == 0:
        return draw(leaf)
    inner = float_expressions(depth - 1)
    kind = draw(st.integers(0, 8))
    first, second = draw(inner), draw(inner)
    match kind:
        case 0 | 1:
            return f"({first} {draw(st.sampled_from('+-*'))} {second})"
        case 2:
            return f"{first} / (abs({second}) + 1)"
        case 3:
            return f"({first} if {draw(conditions())} else {second})"
        case 4:
            return f"{draw(st.sampled_from(['min', 'max']))}({first}, {second})"
        case 5:
            return f"({first} * {draw(int_expressions())})"
        case 6:
            return f"(-{first})"
        case 7:
            return f"float({first})"
    return draw(leaf)


@st.composite
def int_expressions(draw: st.DrawFn) -> str:
    """A small int."""
    first, second = draw(st.sampled_from([*INTS, "2"])), draw(st.sampled_from([*INTS, "3"]))
    match draw(st.integers(0, 3)):
        case 0:
            return f"(({first} {draw(st.sampled_from('+-*'))} {second}) % 97)"
        case 1:
            return f"({first} // {draw(st.integers(2, 5))})"
        case 2:
            return f"(1 if {draw(conditions())} else {second})"
    return first


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A truth value."""
    names = st.sampled_from([*FLOATS, *INTS, "0", "1.5"])
    first, second = draw(names), draw(names)
    comparison = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    one = f"{first} {draw(comparison)} {second}"
    match draw(st.integers(0, 5)):
        case 0:
            return f"({one} and {draw(names)} {draw(comparison)} {draw(names)})"
        case 1:
            return f"({one} or {draw(names)} {draw(comparison)} {draw(names)})"
        case 2:
            return f"(not {draw(st.sampled_from(FLOATS))})"
        case 3:
            return f"({draw(names)} {draw(comparison)} {one})"
    return f"({one})"


@st.composite
def blocks(draw: st.DrawFn, depth: int, loops: int, indent: str = "    ") -> list[str]:
    """Statements; `loops` is how many loops are around them."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 9 if depth else 3))
        inner = blocks(depth - 1, loops, f"{indent}    ") if depth else st.just(["pass"])
        looped = blocks(depth - 1, loops + 1, f"{indent}    ") if depth else st.just(["pass"])
        match kind:
            case 0 | 1:
                lines.append(f"{indent}{draw(st.sampled_from(('a', 'b', 'x')))} = {draw(float_expressions())}")
            case 2:
                lines.append(f"{indent}i = {draw(int_expressions())}")
            case 3:
                lines.append(f"{indent}a, b = b, a")
            case 4 | 5:
                lines += [f"{indent}if {draw(conditions())}:", *draw(inner)]
                if draw(st.booleans()):
                    lines += [f"{indent}else:", *draw(inner)]
            case 6:
                counter = f"t{loops}"
                lines += [f"{indent}{counter} = 0", f"{indent}while {draw(conditions())} and {counter} < 4:"]
                lines += [f"{indent}    {counter} += 1", *draw(looped)]
            case 7:
                steps = draw(st.sampled_from(["3", "5", "n", "n % 3", "2, 8, 2"]))
                lines += [f"{indent}for j in range({steps}):", *draw(looped)]
                if draw(st.booleans()):
                    lines += [f"{indent}else:", *draw(inner)]
            case 8 if loops:
                leave = draw(st.sampled_from(["break", "continue"]))
                lines += [f"{indent}if {draw(conditions())}:", f"{indent}    {leave}"]
            case _:
                lines += [f"{indent}if {draw(conditions())}:"]
                lines += [f"{indent}    return {draw(float_expressions())}, {draw(int_expressions())}"]
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function of x, y and n with two results."""
    body = draw(blocks(depth=2, loops=0))
    last = f"    return {draw(float_expressions())}, {draw(int_expressions())}"
    return "\n".join(["def program(x, y, n):", "    a, b, i, j = 0.0, y, 1, 0", *body, last])


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_functions(text: str) -> None:
    check(text)


NUMBERS = itertools.count()


def make_program(text: str) -> Any:
    """A function with source that Python's tools find."""
    name = f"<random function {next(NUMBERS)}>"
    linecache.cache[name] = (0, None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"]


def test_a_loop_in_a_loop_that_needs_less() -> None:
    """Both loops lose what they carry for nobody."""
    check(
        "def program(x, y, n):\n"
        "    i = t = 0\n"
        "    while i >= 0 and t < 4:\n"
        "        t += 1\n"
        "        s = 0\n"
        "        while i >= 0 and s < 4:\n"
        "            s += 1\n"
        "            i = 1 if x >= 1.5 else i\n"
        "    return y, i\n"
    )


def check(text: str) -> None:
    """On the CPU, in the interpreter, and thread by thread."""
    program = make_program(text)
    expected = in_python(program, (X, Y, N))
    made = pytocu.vectorize(program)
    lowered = made.lower(X, Y, N)
    tree = lowered.function.body.terminator.attr("tree")
    compare(made(X, Y, N), expected)
    for function in (lowered.function, lowered.host("cuda")):
        compare(interp.arrange(tree, interp.run(function, [X, Y, N])), expected)

"""Random programs of two names that hold numbers of Python's and NumPy's, which loops and branches exchange."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.testing.alias_programs import Choose, indented

_STARTS = (
    "0", "1", "2", "-1", "0.0", "0.5", "1.5", "math.inf", "-math.inf", "n", "x[0]", "y[0]", "y[n]", "x[n] * 2",
)  # fmt: skip

_HEADS = {
    "for i in range(n):": ("x[i]", "y[i]", "i"),
    "for i in range(1, n):": ("x[i]", "y[i - 1]"),
    "for i in range(len(x)):": ("x[i]", "y[i]"),
    "for v in x:": ("v",),
    "for v in y:": ("v",),
    "for v, w in zip(x, y):": ("v", "w"),
}

_EXCHANGES = ("b, a", "b, a", "b, {0}", "{0}, a", "min(a, {0}), b")

_STATEMENTS = ("name",) * 4 + ("exchange",) * 2 + ("grow",)

_EXPRESSIONS = (
    "{0}", "{0}", "{0}", "{0} + {1}", "{0} - {1}", "{0} * {1}", "min({0}, {1})", "max({0}, {1})", "abs({0})", "-{0}", "{0} / 2",
    "{0} / {1}",     "{0} if {1} < {2} else {3}", "{0} if {1} == {2} else {3}",
)  # fmt: skip


def random_kind_program(choose: Choose) -> str:
    """The source of ``program(x, y, n)``: a float64 and an int64 vector of 5 elements and a small number of steps.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_kind_program(lambda choices: choices[0]), end="")
    def program(x, y, n):
        a = 0
        b = 0
        for i in range(n):
            a = a
        return a, b
    """
    lines = [f"a = {choose(_STARTS)}", f"b = {choose(_STARTS)}"]
    for _ in range(choose((1, 1, 1, 2))):
        head = choose(tuple(_HEADS))
        steps = _block(choose, ("a", "b", "a", "b", "1", "0.5", "2", "n", "x[0]", "y[1]", *_HEADS[head] * 2), 0)
        if choose((False,) * 4 + (True,)):
            steps += ["for j in range(2):", *indented(_block(choose, ("a", "b", "1", "j", *_HEADS[head]), 1))]
        loop = [head, *indented(steps)]
        if choose((False,) * 3 + (True,)):
            loop = [f"if {choose(('n > 1', 'n < 1', 'x[0] > 0', 'b > a'))}:", *indented(loop)]
        lines += loop
    lines.append(f"return {choose(('a, b', 'a', 'b', 'a + b, b'))}\n")
    return "\n    ".join(["def program(x, y, n):", *lines])


def _block(choose: Choose, atoms: Sequence[str], depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(choose((1, 1, 2, 2, 3))):
        kind = choose(_STATEMENTS + (("branch",) * 3 if depth < 2 else ()) + (("leave",) if depth else ()))
        if kind == "leave":
            return [*lines, choose(("break", "continue"))]
        lines += _statement(choose, atoms, depth, kind)
    return lines


def _statement(choose: Choose, atoms: Sequence[str], depth: int, kind: str) -> list[str]:
    four = [choose(atoms) for _ in range(4)]
    match kind:
        case "exchange":
            return [f"a, b = {choose(_EXCHANGES).format(four[0])}"]
        case "grow":
            return [f"{choose(('a', 'b'))} {choose(('+=', '-='))} {four[0]}"]
        case "branch":
            lines = [f"if {four[0]} {choose(('<', '>', '==', '!='))} {four[1]}:", *indented(_block(choose, atoms, depth + 1))]
            return [*lines, "else:", *indented(_block(choose, atoms, depth + 1))] if choose((False, True)) else lines
    return [f"{choose(('a', 'b'))} = {choose(_EXPRESSIONS).format(*four)}"]


__all__ = ["random_kind_program"]

"""Random programs of three names, which loops and branches bind to one memory or another and through which it is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Choose = Callable[[Sequence[Any]], Any]

NAMES = ("w", "v", "u")

_DEEPEST = 3

_STATEMENTS = (
    *("loop",) * 4, *("branch",) * 3, *("new",) * 3, *("change",) * 3, *("name",) * 2, *("part",) * 2, "copy", "swap", "whole",
)  # fmt: skip


def random_alias_program(choose: Choose) -> str:
    """The source of ``program(a, x, y, n, m)``: vectors of 3 elements, and numbers of steps; it returns what the names hold.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_alias_program(lambda choices: choices[-1]), end="")
    def program(a, x, y, n, m):
        w = x * 2
        v = x + 1
        u = np.ones(3)
        u[:] = u * .5
        u[:] = u * .5
        u[:] = u * .5
        u[:] = u * .5
        return w, v, u
    """
    lines = [
        f"w = {choose(['np.zeros(3)', 'a', 'x * 2'])}",
        f"v = {choose(['w', 'a', 'x + 1'])}",
        f"u = {choose(['w', 'v', 'np.ones(3)'])}",
    ]
    for _ in range(choose([2, 3, 4])):
        lines.extend(_statement(choose, 0))
    return "\n    ".join(["def program(a, x, y, n, m):", *lines, "return w, v, u\n"])


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of a block."""
    return [f"    {line}" for line in lines]


def _block(choose: Choose, depth: int) -> list[str]:
    return indented(line for _ in range(choose([1, 2, 3])) for line in _statement(choose, depth))


def _statement(choose: Choose, depth: int) -> list[str]:
    kind = choose(_STATEMENTS[7 * (depth == _DEEPEST) :])
    if kind == "loop":
        return [f"for i{depth} in range({choose(['n', 'm'])}):", *_block(choose, depth + 1)]
    if kind == "branch":
        lines = [f"if y[{choose([0, 1, 2])}] < {choose(['.3', '.5', 'w[0]'])}:", *_block(choose, depth + 1)]
        return [*lines, "else:", *_block(choose, depth + 1)] if choose([False, True, True]) else lines
    first, second = choose(NAMES), choose(NAMES)
    match kind:
        case "new":
            return [f"{first} = {second} - x"]
        case "change":
            return [f"{first} {choose(['-=', '*=', '+='])} {choose(['.1', '.5', f'{second} * .5', 'x'])}"]
        case "name":
            return [f"{first} = {second}"]
        case "part":
            return [f"{first}[{choose([0, 1, -1])}] = {choose(['1.5', f'{second}[1]', 'x[0]'])}"]
        case "copy":
            return [f"{first} = {second}.copy()"]
        case "swap":
            return [f"{first}, {second} = {second}, {first}"]
    return [f"{first}[:] = {second} * .5"]

"""Longer parts of random programs: loops in loops, over arrays whose length is a Python int and over square arrays, and
sequences of statements.

Every number is a small multiple of a power of two, so sums are exact in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from pytocu.testing.alias_programs import indented
from pytocu.testing.nest_programs import nest_lines
from pytocu.testing.statement_programs import KINDS, statement_lines

NESTED = "arrays of a number's length in nested loops"
"""The feature that programs with these lines count for."""

STATEMENTS = "statements in any order"
"""The feature of lines that bind what a sequence of statements returns, of whatever kind it is, or raise."""

_BEGIN = (
    "np.ones(n)", "np.zeros(n)", "np.arange(n) * 0.5", "np.full(n, 2.0)", "np.zeros((n, 2))[:, 0]", "np.ones(n + 1)[1:]",
)  # fmt: skip

_LOOPS = ("range(@N % 5)", "range(1, 3)", "range(n)", "range(2)")

_OUTER = (
    "p = p * 0.5 + q", "q[0] += 1", "t += p.sum()", "w = np.cumsum(p)\np = p + w", "w = np.zeros(n)\nw[1:] = q[:-1]\np = p + w",
)  # fmt: skip

_INNER = (
    "a = int(np.searchsorted(np.sort(p), t % 2.0)) % n", "a = int(np.argmax(q))", "c = np.cumsum(p)", "c = np.sort(q)",
    "c = p[::-1].copy()", "c = np.where(p > q, p, q)", "c = p.copy()", "p[i % n] -= 0.25", "q[i % n:] += 1", "p[a] += 1",
    "q = c * 0.5", "p = q + 1", "p, q = q, p", "t += c[a]", "t = t * 0.5 + p[0]", "p[1:] = q[:-1] + c[1:]", "q[:] = c",
    "c = np.concatenate([p[1:], q[:1]])", "if t > 3:\n    p = c", "if p[0] > q[0]:\n    q[0] = t", "c = np.ones(n) * t",
    "e = np.zeros(n)\ne[a] = 1\nq = q + e", "t = min(t, 4.0)", "a = np.searchsorted(np.cumsum(p), t)\np[a % n] += 1",
    "a = np.searchsorted(p, {0}.ravel()[0])\np[a % n] -= 0.25", "a = np.argmax(p)\np[a] -= 2.0",
    "q[np.searchsorted(p, q[0]) % n] += 0.5",
)  # fmt: skip


def nested_lines(pick: random.Random) -> str:
    """Lines that bind ``@v`` to an array behind such loops; ``@N`` is a number of steps."""
    begin = [f"{name} = {pick.choice(_BEGIN)}" for name in "pq"]
    lines = ["n = abs(count) % 4 + 1", *begin, "c = np.zeros(n)", "a = 0", "t = 0.0"]
    indent = ""
    for counter in ("i", "j", "k")[: pick.randint(1, 3)]:
        lines.append(f"{indent}for {counter} in {pick.choice(_LOOPS)}:")
        indent += "    "
        if pick.random() < 0.4:
            lines += [indent + line for line in pick.choice(_OUTER).split("\n")]
    for _ in range(pick.randint(1, 5)):
        lines += [indent + line for line in pick.choice(_INNER).split("\n")]
    lines.append(f"@v = np.append({pick.choice(('p', 'q', 'c', 'p + q'))}, t + {{0}}.size)")
    return "\n".join(lines)


_SQUARES = (
    "np.arange(m * m).reshape(m, m) % 7 * 0.5 - 1", "np.eye(m) * {0}.size", "np.ones((m, m))",
    "np.arange(m * m, 0.0, -1).reshape(m, m)", "(np.arange(m) * 0.25 - np.arange(m)[:, None])",
)  # fmt: skip


def square_lines(pick: random.Random) -> str:
    """Lines that bind ``@v`` to an array behind loops over rows, parts and elements of square arrays."""
    begin = ["m = abs(count) % 7 + 2", *(f"{name} = {pick.choice(_SQUARES)}" for name in "ab"), "v = np.arange(m) * 0.75 - 1"]
    # Of two zeros a maximum may be either, which a sum with zero does not show.
    lines = [*begin, f"s = {pick.choice(('1.5', '0.25', 'float(m)'))}", "k = abs(count) % 3 + 1", *nest_lines(pick.choice)]
    return "\n".join([*lines, "@v = np.vstack([a, b, v, np.full(m, t + c)]) + 0.0"])


_VECTORS = (
    "np.arange(m) * 0.75 - 1", "np.arange(m) * 3 % 5 - 1", "np.arange(m, 0, -1).astype(np.float32)", "np.ones(m) * {0}.size",
    "np.arange(m) - {0}.size % 3 * 0.5",
)  # fmt: skip


def statement_part(pick: random.Random) -> str:
    """Lines that bind ``@v`` to what such a sequence returns."""
    # The text is a format for the operands.
    lines = statement_lines(pick.choice, pick.choice(KINDS))
    body = [line.replace("{", "{{").replace("}", "}}") for line in lines]
    vector = pick.choice(_VECTORS)
    begin = ["m = abs(count) % 4 + 3", f"x = {vector}", "y = x[::-1][:3] + 1", "def part(x, y, count):"]
    return "\n".join([*begin, *indented(body), "@v = part(x, y, count)"])


WRITERS: Mapping[str, Callable[[random.Random], str]] = {
    NESTED: nested_lines, "rows, parts and elements in nested loops": square_lines, STATEMENTS: statement_part,
}  # fmt: skip
"""By feature: what writes the lines of a program that counts for it."""

__all__ = ["STATEMENTS", "WRITERS"]

"""Loops in loops over arrays whose length is a Python int, for random programs: what a step makes has a memory of its own.

Every number is a small multiple of a power of two, so sums are exact in any order.
"""

from __future__ import annotations

import random

NESTED = "arrays of a number's length in nested loops"
"""The feature that programs with these lines count for."""

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


__all__ = ["NESTED", "nested_lines"]

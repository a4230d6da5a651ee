"""Random programs whose steps go over what masks choose, and change arrays, lists and numbers on the way."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.testing.alias_programs import Choose

_OUTER = (
    "while t < n:", "while t < n and ({mask}).any():", "while stack and t < 20:", "for p in range(len(x)):",
    "for p in range(n):", "for p in np.flatnonzero(x > -1):",
)  # fmt: skip

_MASKS = (
    "x > {number}", "x == y", "free", "~free", "m[{place}]", "(x > y) & free", "y % 3 == t % 3", "x[::-1] < y",
    "m[{place}] & free",
)  # fmt: skip

_INNER = {
    "for q in np.flatnonzero({mask}):": ("q",),
    "for q in np.where({mask})[0]:": ("q",),
    "for q in np.nonzero({mask})[0]:": ("q",),
    "for k, q in enumerate(np.flatnonzero({mask})):": ("q", "k"),
    "for v in x[{mask}]:": ("v",),
    "for v, q in zip(y[{mask}], np.flatnonzero({mask})):": ("v", "q"),
    "for q, r in zip(*np.nonzero(m)):": ("q", "r"),
    "for q, r in np.argwhere(m):": ("q", "r"),
}

_CHANGES = (
    "x[{at}] += {value}", "x[{at}] = {value}", "y[{at}] -= 1", "free[{at}] = {truth}", "free[{at}] ^= True", "t += 1",
    "s = s + {value}", "s = max(s, {value})", "stack.append(int({at}))", "m[{at}, {at2}] = {truth}", "s -= x[{at}] * y[{at2}]",
)  # fmt: skip

_CONDITIONS = ("{value} > 1", "{truth}", "t < 6 and {value} < 2")

_WHOLE = (
    "chosen = np.flatnonzero({mask})\ns += len(chosen)", "chosen = x[{mask}]\ns += chosen.sum() + chosen.size",
    "chosen = np.flatnonzero({mask})\nif len(chosen) > 1:\n    s += x[chosen[1]] - chosen[0]\n    x[chosen[0]] -= 1",
    "x = x * 0.5", "free[:] = x > y", "s += ({mask}).sum()",
)  # fmt: skip


def random_chosen_program(choose: Choose) -> str:
    """The source of ``program(x, y, m, n)``: vectors of float64 and int64, a matrix of bools as long on both axes, an int.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_chosen_program(lambda choices: choices[0]), end="")
    def program(x, y, m, n):
        free, stack, s, t = x > 0, [0], 0.0, 0
        while t < n:
            p = t % len(x)
            t += 1
            for q in np.flatnonzero(x > 0):
                x[q] += x[q]
        return x, y, free, m, np.float64(s), t
    """
    outer = _filled(choose, choose(_OUTER), ())
    steps: list[str] = []
    if "stack" in outer:
        steps = ["p = stack.pop()", "t += 1"]
    elif "while" in outer:
        steps = ["p = t % len(x)", "t += 1"]
    for _ in range(choose((1, 1, 1, 2))):
        if choose((False, False, False, True)):
            steps += _filled(choose, choose(_WHOLE), ("p",)).split("\n")
        head = choose(tuple(_INNER))
        names = ("p", *_INNER[head])
        steps.append(_filled(choose, head, ("p",)))
        steps += [f"    {line}" for line in _changes(choose, names)]
    if choose((False, False, False, True)):
        steps += _filled(choose, choose(_WHOLE), ("p",)).split("\n")
    lines = ["free, stack, s, t = x > 0, [0], 0.0, 0", outer, *(f"    {line}" for line in steps)]
    lines.append("return x, y, free, m, np.float64(s), t\n")
    return "\n    ".join(["def program(x, y, m, n):", *lines])


def _changes(choose: Choose, names: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for _ in range(choose((1, 2, 3))):
        change = _filled(choose, choose(_CHANGES), names)
        if choose((False, False, True)):
            condition = _filled(choose, choose(_CONDITIONS), names)
            lines += [f"if {condition}:", f"    {change}"]
            if choose((False, False, True)):
                lines.append("    " + choose(("break", "continue")))
        else:
            lines.append(change)
    return lines


def _filled(choose: Choose, text: str, names: Sequence[str]) -> str:
    """The text with numbers, places and masks for what stands in braces; each of the names is an int or a number."""
    places = [name for name in names if name not in ("v", "k")] or ["0"]
    values = [*(("v",) if "v" in names else ()), *(("k",) if "k" in names else ())]
    place = choose(places[::-1])
    found = {
        "place": choose(places), "at": place, "at2": choose(places), "number": choose(("0", "0.5", "t * 0.25")),
        "value": choose((f"x[{place}]", f"y[{place}]", "1", "0.5", "s", *values)),
        "truth": choose(("True", "False", f"x[{place}] > 0", f"free[{place}]")),
    }  # fmt: skip
    mask = choose(_MASKS).format(**found)
    return text.format(mask=mask, **found)


__all__ = ["random_chosen_program"]

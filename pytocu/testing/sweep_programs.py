"""Random programs that change arrays step by step along an axis: most are sweeps, some are loops of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Choose = Callable[[Sequence[Any]], Any]

ARRAYS = ("a", "b", "c")


def random_sweep(choose: Choose) -> str:
    """The source of ``program(a, b, c, v, k)``: arrays of one shape with two axes, a vector along the first, and an int.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_sweep(lambda choices: choices[0]))
    def program(a, b, c, v, k):
        n = a.shape[1]
        for j in range(2, n - 1):
            a[:, j] = a[:, j]
        return a, b, c, v
    """
    rows = choose([False, False, True])
    head = choose([
        "range(2, n - 1)", "range(n - 2, 1, -1)", "range(2, n - 1, 2)", "range(2, min(k, n - 1))", "range(n - 2, 2, -3)",
    ])  # fmt: skip
    lines = [f"n = a.shape[{0 if rows else 1}]", f"for j in {head}:"]
    names: list[str] = []

    def place() -> str:
        # A step may read in front of it and behind it.
        at = choose(["j", "j", "j - 1", "j - 1", "j - 2", "j + 1", "0", "-1", "j // 2", "k % 3"])
        return f"[{at}]" if rows else f"[:, {at}]"

    def operand() -> str:
        return choose([lambda: choose(ARRAYS) + place()] * 4 + [lambda: "v"] + [lambda n=n: n for n in names])()

    def value() -> str:
        form = choose(["{}", "{} + {}", "{} * 2 - {}", "np.maximum({}, {})", "np.where({} > {}, {}, 1)", "{} + j"])
        return form.format(*(operand() for _ in range(form.count("{}"))))

    def change(indent: str) -> None:
        where = "[j]" if rows else "[:, j]"
        target = choose(ARRAYS) + choose([lambda: where, lambda: where, place])()
        lines.append(f"{indent}{target} {choose(['=', '=', '+=', '-='])} {value()}")

    for _ in range(choose([1, 2, 3, 4])):
        match choose(["change", "change", "change", "name", "vector", "if", "inner"]):
            case "change":
                change("    ")
            case "name":
                # A view would see what changes later.
                name = f"t{len(names)}"
                lines.append(f"    {name} = {operand()} * 1")
                names.append(name)
            case "vector":
                lines.append(f"    v = v + {choose(ARRAYS)}{place()}")
            case "if":
                lines.append(f"    if {choose(['j % 2 == 0', 'j > 3', 'k > j', 'j + 1 < n - 1'])}:")
                change("        ")
            case "inner":
                at = "[j - i]" if rows else "[:, j - i]"
                lines.append(f"    for i in range({choose(['2', '1, j', 'j'])}):")
                lines.append(f"        {choose(ARRAYS)}{'[j]' if rows else '[:, j]'} += {choose(ARRAYS)}{at}")
    body = "".join(f"    {line}\n" for line in lines)
    return f"def program(a, b, c, v, k):\n{body}    return a, b, c, v"

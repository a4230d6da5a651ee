"""Random programs of loops in loops over rows, parts and numbers, as elimination, shortest paths and relaxations have them."""

from __future__ import annotations

from pytocu.testing.alias_programs import Choose, indented

_DEEPEST = 3

_OUTER = (
    "range(m)", "range(m)", "range(1, m)", "range(m - 1, -1, -1)", "range(0, m, 2)", "range(m - 2, 0, -1)", "range(k)",
)  # fmt: skip

_INNER = (
    "range({0} + 1, m)", "range({0})", "range(m - {0})", "range({0}, m, 2)", "range({0}, -1, -1)", "range(3)", "range(1, m)",
    "range(max({0} - 2, 0), min({0} + 3, m))",
)  # fmt: skip

_STATEMENTS = (
    *("row",) * 4, *("part",) * 4, *("element",) * 2, *("vector",) * 2, *("number",) * 2, "exchange", "int", "float", "new",
    "whole",
)  # fmt: skip

_ROWS = (
    "{0}", "{0}", "{0} * 0.5 + {1}", "np.minimum({0}, {1})", "np.where({0} > {1}, 0.5, {0})", "{0} - {1} * 0.25",
)  # fmt: skip

_PARTS = (
    ("{0}:", "{0}:"), (":{0}", ":{0}"), ("{0}:", ":m - {0}"), ("{0} + 1:", "{0} + 1:"), ("{0}::2", "{0}::2"),
    (":{0} + 1", "m - 1 - {0}:"),
)  # fmt: skip

_WHOLE = (
    "a = a * 0.5 + b.T", "b = np.where(a > t, b, b * 0.5)", "a[1:-1, 1:-1] = a[1:-1, 2:] * 0.5 + a[:-2, 1:-1]",
)  # fmt: skip


def random_nest_program(choose: Choose) -> str:
    """The source of ``program(a, b, v, s, k)``: two square float64 arrays, a vector as long as they, a float and an int.

    Sums of many elements are left out, and factors are below 1, so that the answer is NumPy's but for the signs of zeros.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_nest_program(lambda choices: choices[0]), end="")
    def program(a, b, v, s, k):
        m = len(a)
        t = s
        c = k
        d = 0.75
        for i in range(m):
            for j in range(i + 1, m):
                for h in range(i + 1, m):
                    a[h] = a[h]
                a[j] = a[j]
            a[i] = a[i]
        return a, b, v, t, c
    """
    return "\n    ".join(["def program(a, b, v, s, k):", *nest_lines(choose), "return a, b, v, t, c\n"])


def nest_lines(choose: Choose) -> list[str]:
    """What such a program does with its arguments, `t` for `s`, `c` for `k`, and a float of Python's own."""
    lines = ["m = len(a)", "t = s", "c = k", "d = 0.75"]
    for _ in range(choose((1, 1, 2))):
        lines += _loop(choose, ())
    return lines


def _loop(choose: Choose, names: tuple[str, ...]) -> list[str]:
    """A loop whose steps have numbers, or one that goes on as long as something holds."""
    name = "ijhg"[len(names)]
    if names and choose((False,) * 5 + (True,)):
        steps = _block(choose, names, len(names) + 1)
        test = choose(("v.max() > {0}", "t < {0} * 4", "a[{1}, 0] > b[{1}, {1}]")).format(choose((1, 2, 3)), choose(names))
        return ["w = 0", f"while {test} and w < 4:", "    w += 1", *indented([*steps, "v = v * 0.75", "t = t + 1.5"])]
    head = choose(_INNER).format(choose(names)) if names else choose(_OUTER)
    inside = (*names, name)
    steps = _block(choose, inside, len(inside))
    if len(names) < _DEEPEST - 1 and choose((True, True, not names, False)):
        steps = [*_loop(choose, inside), *steps] if choose((True, False)) else [*steps, *_loop(choose, inside)]
    return [f"for {name} in {head}:", *indented(steps)]


def _block(choose: Choose, names: tuple[str, ...], depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(choose((1, 1, 2, 3))):
        kinds = (*_STATEMENTS, "branch", "branch", "leave") if depth <= _DEEPEST else _STATEMENTS
        lines += _statement(choose, names, depth, choose(kinds))
    return lines


def _statement(choose: Choose, names: tuple[str, ...], depth: int, kind: str) -> list[str]:
    i, j = choose(names[::-1]), choose(names)
    array = choose(("a", "a", "b"))
    match kind:
        case "row":
            row = array + choose((f"[{i}]", f"[{i}]", f"[:, {i}]", f"[{i} - 1]", f"[m - 1 - {i}]", f"[-1 - {i}]"))
            other = choose((f"a[{j}]", f"b[{i}]", f"a[:, {j}]", "v", "v[::-1]", f"b[{j}] * t", f"b[{i}, {j}]", "c", i))
            return [f"{row} = {choose(_ROWS).format(row, other)}"]
        case "part":
            into, out = (part.format(i) for part in choose(_PARTS))
            target, source = choose((
                (f"v[{into}]", f"v[{out}]"), (f"a[{j}, {into}]", f"v[{out}]"), (f"b[{j}, {into}]", f"b[{i}, {out}]"),
                (f"a[{j}, {into}]", f"a[{j} - 1, {out}]"), (f"v[{into}]", f"b[{j}, {out}]"),
            ))  # fmt: skip
            factor = choose(("0.5", "0.25", "t * 0.125", f"b[{i}, {j}] * 0.0625"))
            return [f"{target} {choose(('=', '+=', '-='))} {source} * {factor}"]
        case "element":
            value = choose((f"b[{j}, {i}]", f"v[{j}]", "t", f"a[{i} - 1, {j}]", "1"))
            return [f"{array}[{i}, {j}] {choose(('=', '+=', '-='))} {value}"]
        case "vector":
            more = choose((f"a[{i}]", f"b[:, {j}]", f"a[{i}, {j}]", "t"))
            return [f"v = {choose(('v * 0.5', 'np.maximum(v, 1)', 'v'))} + {more}"]
        case "number":
            more = choose((f"a[{i}, {j}]", f"v[{j}]", f"b[{i}].max()", i))
            return [f"t = {choose(('t', 't * 0.5', 'max(t, 1.5)'))} + {more} * 0.25"]
        case "exchange":
            return [choose(("a, b = b, a", f"a[[{i}, {j}]] = a[[{j}, {i}]]", f"v, b[{i}] = b[{i}] * 1, v"))]
        case "int":
            return [choose((f"c = c + {i}", f"c = (c * 3 + {j}) % 7", f"c = max(c - {i}, {j})"))]
        case "float":
            made = choose((
                "d % 1.25 + 0.5", "d // 0.5 * 0.25 - 1", f"math.fmod(d, 0.75) + {i}", f"({i} + 1) / (c * c + 3)",
                f"-d * 0.5 + {j}", "math.floor(d * 4) * 0.125", "math.sqrt(abs(d)) * 0.5", f"math.fabs(d - {j} % 3)",
            ))  # fmt: skip
            row = f"{array}[{i}]"
            taken = (f"{row} = {row} * 0.5 + d", "v = v * 0.5 + d", f"c = int(d * 4) + {j}", "t = t * 0.5 + d")
            return [f"d = {made}", choose(taken)]
        case "new":
            name = f"w{depth}"
            begins = choose((f"a[{i}] * 0.5", f"v + b[{j}]", "np.zeros(m)"))
            row = f"{array}[{i}]"
            return [f"{name} = {begins}", f"{name}[{i}:] -= v[{i}:] * 0.5", f"{row} = {row} * 0.5 + {name}"]
        case "whole":
            return [choose(_WHOLE)]
        case "branch":
            test = choose((
                f"{i} % 2 == 0", f"c > {i}", "t > 2", "d > 0.5", f"a[{i}, {j}] > b[{j}, {i}]", f"v[{j}] < 1",
                f"np.argmax(v) > {i}",
            ))  # fmt: skip
            lines = [f"if {test}:", *indented(_block(choose, names, depth + 1))]
            return [*lines, "else:", *indented(_block(choose, names, depth + 1))] if choose((False, True)) else lines
    test = choose((f"v[{i}] > 6", f"{i} > 4", f"c > {j} + 9", f"t > {i} * 2 + 5"))
    return [f"if {test}:", f"    {choose(('break', 'continue'))}"]


__all__ = ["nest_lines", "random_nest_program"]

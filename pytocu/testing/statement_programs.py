"""Random sequences of statements over a few names: numbers, a list, arrays and a dict that branches and loops bind and change.

Other random programs write one kind of lines each.  Here everything stands behind and in everything else: a list is popped in
a loop that a `return` leaves, arrays take other lengths and one memory, a side raises.  Most programs keep the kinds of their
names; in the others a name may hold a Python int here and a NumPy number there, None, a tuple or an array.

Every loop ends, and no list or array gets long: what may go over all of a list or array stands outside of other loops, and
what a ``while`` asks for is not bound in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pytocu.testing.alias_programs import Choose, indented

Pools = Mapping[str, Sequence[str]]
"""By the word behind ``@`` in a text: what may stand there."""

_DEEPEST = 2

_INTS = (
    "t", "t", "n", "j", "1", "3", "len(found)", "a.size", "t // 2", "t - 1", "len(b) - t", "abs(t) % 5", "n - j", "max(t, n)",
    "min(t, 2)", "-t", "(t if @test else n)", "int(@test)", "t * 3 % 7",
)  # fmt: skip
_OF_DATA = ("int(x[0])", "int(a[-1])", "int(x.sum())", "int(a.argmax())", "np.count_nonzero(a)", "d['k']", "y.size")
_NUMPYS = (
    "x[0]", "x[-1]", "x[@place]", "a[0]", "y[t % 3]", "x.sum()", "s", "s + x[0]", "max(s, x[1])", "x.max() + 0", "s * 2",
    "x[j % len(x)]", "a[t]",
)  # fmt: skip
_FLOATS = ("2.5", "0.5", "s", "s + 0.5", "float(t)", "float(x[0])", "s * 0.5", "-s", "max(s, 1.5)", "t / 2", "float(a.sum())")

_NUMBERS = {"of ints": (*_INTS, *_OF_DATA, "s"), "of NumPy's numbers": _NUMPYS, "of floats": _FLOATS}
"""What `s` holds and the list's members are, by the kind of a program."""

KINDS = ("of ints", "of NumPy's numbers", "of floats", "of several kinds")
"""What most names hold in a program."""

_STARTS = {
    "of ints": ("0", "1", "n", "count"), "of NumPy's numbers": ("x[0]", "x.max() + 0", "y[-1]"),
    "of floats": ("0.0", "1.5", "float(n)"),
}  # fmt: skip

_VIEWS = (
    "a", "b", "x", "y", "a[1:]", "b[1:]", "a[::-1]", "b[:-1]", "x[@int:]", "x[:t]", "y[::-1]", "(a if @test else x)",
    "np.flip(a)", "a[a.size // 2:]", "a[::2]",
)  # fmt: skip
_NEW = (
    "x[x > @any]", "a[a != @any]", "b[b > t]", "a + 1", "b * 2", "a + 0", "a * @any", "np.where(a > @any, a, 1)",
    "np.minimum(a, 3)", "np.append(a, @number)", "np.concatenate([a, x])", "np.concatenate([y, b[:2]])",
    "np.zeros(n, x.dtype)", "np.ones_like(b)", "np.sort(a)", "np.cumsum(y, dtype=x.dtype)", "np.roll(b, @int)", "a.copy()",
    "b.copy()", "np.repeat(x, 2)[:t]", "np.unique(b)", "a[[0, -1]]", "a[1:].copy()", "x[@int:] + 0",
)  # fmt: skip
_OTHER_DTYPES = (
    "np.zeros(n)", "np.arange(n)", "a.astype(int)", "np.array(found)", "a / 2", "np.ones(3)", "a > 1", "a.astype('f4')",
)  # fmt: skip

_TESTS = (
    "t > 2", "n > 2", "j % 2", "j > 1", "len(found) > 2", "not found", "found", "a.size > 2", "a.size > b.size", "count > 1",
    "count > 1 and t", "0 < t < 4", "x[0] > 1", "x.sum() > t", "a.any()", "s < 3", "t > s", "s in found",
    "x[@place] < 2 or n > 2", "d['k'] > 2", "t == n", "(x > 1).all()", "len(found) != n", "True", "y.size > n",
)  # fmt: skip

_PLACES = ("0", "-1", "1", "t % len(x)", "j % len(x)", "n - 1", "t")

_STATEMENTS: Mapping[str, Sequence[str]] = {
    "numbers": (
        "t = @int", "t = @int", "t += 1", "t = t * 3 % 7", "s = @number", "s = @number", "s += @number",
        "s = max(s, @number)", "s = push(@number)", "s = found[-1]", "t = len(found)", "t, n = n, t", "t = int(s) % 97",
        "s = min(found, default=@number)", "s = found[t % len(found)]", "push(@number)", "j = @int", "n = t % 4 + 1",
    ),
    "lists": (
        "found.append(@number)", "found.append(@number)", "found.pop()", "found.pop(0)", "found = [@number, @number]",
        "found[t % len(found)] = @number", "found[-1] = @number", "found.sort()", "found = [v + 1 for v in found]",
        "found = [v for v in found if v > t]", "found.extend([@number, @number])", "found += [@number]",
        "found.insert(0, @number)", "found.reverse()", "del found[0]", "found.clear()", "found = found[1:]",
        "found.append(@number)", "found = found + [@number]", "found = sorted(found)", "s = found.pop()", "found = []",
        "found = [@number for v in x if v > t]",
    ),
    "arrays": (
        "a = @array", "a = @array", "a = @array", "b = @array", "b = @array", "a = b", "b = a", "a, b = b, a",
        "a = a if @test else x", "b = a[1:] if @test else a",
    ),
    "new": (
        "a = @array", "a = @array", "b = @array", "b = @array", "a = b + 0", "a, b = b + 1, a[1:].copy()",
        "a = x * 2 if @test else a + 1",
    ),
    "changes": (
        "a += 1", "x *= 2", "b -= 1", "a[:1] = @number", "x[@place] = @number", "x[@place] += 1", "a[a > t] = @number",
        "x[x > @any] = @number", "b[-1:] += 1", "a[t % len(a)] += 1", "a[:] = @number", "b[::2] = 0", "x[1:] = x[:-1]",
        "a[:2] = b[:2]", "b[@int:] += 1", "a[0], a[-1] = a[-1], a[0]", "b[...] = b[::-1]", "a += b[:1]", "y[:] = x[:3]",
        "np.add(b, 1, out=b)", "a.fill(t)", "x.sort()",
    ),
    "dicts": (
        "d['k'] = @int", "d['k'] += 1", "t = d.get('m', @int)", "d = {'k': t, 's': s}", "t = d['k']", "d['s'] = @number",
        "s = d['s']",
    ),
    "kinds": (
        "s = None", "t = @number", "s, t = t, s", "s = sum(found)", "s = @mixed", "found.append(@mixed)", "found = [@mixed]",
        "a = @other", "b = @other", "s = s / 2", "a = [1.0, 2.0]", "b = (a, t)", "b = None", "x[0] = @mixed",
        "s = t if @test else None",
    ),
    "value or None": (
        "p = a", "p = b[b > 0]", "p = a[:t]", "p = a.copy()", "p = None", "if @test: p = x[1:]",
        "if p is not None: p[:1] += 1", "if p is not None: t = len(p)", "if p is None: p = a[1:]", "p = b if @test else None",
    ),
    "pair": ("p = (@number, a)", "s = p[0]", "a = p[1]", "s, b = p", "p = (s, p[1][1:])", "p = (s, b)"),
    "rows": (
        "p = [a, b]", "p.append(a)", "a = p[-1]", "b = p[0]", "p = [b, a[1:]]", "p[0] = b", "p[0][:1] += 1",
        "if len(p) > 1: b = p.pop()", "t = len(p)",
    ),
}  # fmt: skip

_STARTS_OF_A = {
    "views": ("np.zeros(n, x.dtype)", "x[1:]", "x", "y"), "new": ("np.ones_like(x)", "x * 2", "np.zeros(n, x.dtype)", "x"),
}  # fmt: skip
_STARTS_OF_B = {"views": ("a", "y", "x[1:]", "a[:-1]"), "new": ("y + 1", "y", "x[1:].copy()", "a[1:] + 0")}
_BEGIN_OF_P = {"value or None": ("None", "x[1:]", "x", "None"), "pair": ("(s, a)",), "rows": ("[]", "[x]", "[a, b]")}

_OUTER = (
    "for j in range(n):", "for j in range(abs(t) % 5):", "for j in range(len(a)):", "for j, v in enumerate(x):",
    "for v in found[:]:", "for v in a:", "for j in range(n, 0, -1):", "for v, w in zip(x, a):",
    "for j, v in enumerate(found[:]):", "for v in reversed(x):", "for j in range(count):",
)  # fmt: skip
_INNER = (
    "for j in range(n % 4):", "for j in range(abs(t) % 4):", "for v in y:", "for i in range(2):", "for i, v in enumerate(y):",
    "for v in found[:3]:", "for v in a[:2]:",
)  # fmt: skip
_WHILES = (
    ("t", "while t < 6:", "t += 1"), ("w", "while w < 4 and (@test):", "w += 1"), ("found", "while found:", "@popped"),
    ("found", "while len(found) < 4:", "found.append(@number)"), ("w", "while True:", "w += 1"),
)  # fmt: skip
"""What is asked for and may not be bound in the steps, the first line, and what each step begins with."""

_EXITS = (*("return @result",) * 3, "raise ValueError('no')", "raise KeyError(t)", "assert t < 4, 'four'")

_RESULTS = (
    "s", "t", "a", "found", "s, t", "x", "a, t", "len(found), s", "a, b", "b, found", "a[1:], j", "[a, s]", "a.size, n",
    "found, t", "d", "(t, d), a",
)  # fmt: skip


def random_statement_program(choose: Choose) -> str:
    """The source of ``program(x, y, count)``: vectors of one dtype of 5 and of 3 elements, which it may change, and an int.

    Parameters
    ----------
    choose : callable
        One of a sequence.

    Examples
    --------
    >>> print(random_statement_program(lambda choices: choices[0]), end="")
    def program(x, y, count):
        n = abs(count) % 4 + 1
        t = 0
        s = 0
        a = np.zeros(n, x.dtype)
        b = a
        found = []
        d = {'k': t, 's': s}
        j = w = 0
        def push(y):
            found.append(y)
            return y + 1
        t = t
        t = t
        t = t
        return s
    """
    return "\n".join(["def program(x, y, count):", *indented(statement_lines(choose, choose(KINDS))), ""])


def statement_arguments(seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Arguments for three calls, of one dtype: small multiples of a quarter or ints, in arrays of several lengths.

    Examples
    --------
    >>> [(x.dtype.name, x.size, y.size, count) for x, y, count in statement_arguments(1)]
    [('int64', 5, 3, 3), ('int64', 4, 2, 0), ('int64', 7, 3, 6)]
    """
    draw = np.random.default_rng(seed)
    dtype = ("f8", "i8", "f4")[seed % 3]
    for (size, other), count in zip(((5, 3), (4, 2), (7, 3)), (3, 0, 6), strict=True):
        x, y = (draw.integers(-8, 25, length) / (1 if dtype == "i8" else 4) for length in (size, other))
        yield x.astype(dtype), y.astype(dtype), count


def statement_lines(choose: Choose, kind: str) -> list[str]:
    """What such a program does with `x`, `y` and `count`, which ends in a ``return``; `kind` is one of `KINDS`."""
    mixed = kind == "of several kinds"
    kind = choose(tuple(_NUMBERS)) if mixed else kind
    extra = choose(("", "", "", "value or None", "value or None", "pair", "rows"))
    pools = _pools(choose, kind, mixed, extra)
    names = "new" if "new" in pools["kind"] else "views"
    start = [
        "n = abs(count) % 4 + 1", f"t = {choose(('0', '1', 'count', 'n'))}", f"s = {choose(_STARTS[kind])}",
        f"a = {choose(_STARTS_OF_A[names])}", f"b = {choose(_STARTS_OF_B[names])}",
        f"found = {choose(('[]', '[s]', '[s, s + 1]', '[s] * n'))}",
        "d = {'k': t, 's': s}", "j = w = 0",
    ]  # fmt: skip
    if extra:
        start.append(f"p = {choose(_BEGIN_OF_P[extra])}")
    pushed = choose(("found.append(y)", "if len(found) < 4: found.append(y)"))
    start += ["def push(y):", *indented([pushed, "return y + 1"])]
    lines = [line for _ in range(choose((3, 3, 4))) for line in _statement(choose, pools, (), 0)]
    return [*start, *lines, _filled(choose, pools, "return @result")]


def _pools(choose: Choose, kind: str, mixed: bool, extra: str) -> dict[str, Sequence[str]]:
    """What stands for the words of a program whose numbers are of a kind, and statements by their kind."""
    # Where arrays are changed of which a run decides whether they lie in another one's memory, most programs are refused.
    new = ("new", "new", "changes", "changes")
    arrays = choose((("arrays", "arrays"), new, new, ("arrays", "changes")))
    kinds = ["numbers", "numbers", "lists", "lists", *arrays, "dicts", *("kinds",) * 2 * mixed, *(extra,) * 3 * bool(extra)]
    numbers = [text for texts in _NUMBERS.values() for text in texts]
    results = (choose(_RESULTS), choose(_RESULTS)) if mixed else (choose(_RESULTS),)
    return {
        **_STATEMENTS, "kind": kinds, "int": (*_INTS, *choose(((), _OF_DATA))), "number": _NUMBERS[kind], "mixed": numbers,
        "any": ("t", "s", "n", "1"), "test": _TESTS, "place": _PLACES, "popped": ("s = found.pop()", "found.pop(0)"),
        "array": (*_NEW, *(() if "new" in arrays else _VIEWS), *(_OTHER_DTYPES if mixed else ())), "other": _OTHER_DTYPES,
        "result": results,
    }  # fmt: skip


def _filled(choose: Choose, pools: Pools, text: str) -> str:
    """A text with something for each of its words; what is in another expression is short."""
    for _ in range(3):
        text = re.sub(r"@([a-z]+)", lambda m: choose(pools[m[1]]), text)
    return re.sub(r"@([a-z]+)", lambda m: pools[m[1]][0], text)


def _block(choose: Choose, pools: Pools, kept: tuple[str, ...], depth: int) -> list[str]:
    return indented(line for _ in range(choose((1, 1, 2, 3))) for line in _statement(choose, pools, kept, depth))


def _statement(choose: Choose, pools: Pools, kept: tuple[str, ...], depth: int) -> list[str]:
    """A statement that leaves the names `kept` as they are; in a loop the first of them is "loop"."""
    kinds = (*("simple",) * 12, *("branch",) * 5 * (depth < _DEEPEST), *("loop",) * 4 * (depth < _DEEPEST), "exit")
    match choose((*kinds, *("leave",) * 2 * ("loop" in kept))):
        case "branch":
            return _branch(choose, pools, kept, depth)
        case "loop":
            return _loop(choose, pools, kept, depth)
        case "exit":
            return [_filled(choose, pools, "if @test:"), f"    {_filled(choose, pools, choose(_EXITS))}"]
        case "leave":
            return [_filled(choose, pools, "if @test:"), f"    {choose(('break', 'continue'))}"]
    texts = [text for text in pools[choose(pools["kind"])] if not any(_binds(text, name) for name in kept)]
    return [_filled(choose, pools, choose(texts or ("s = @number",)))]


def _binds(text: str, name: str) -> bool:
    """Whether a statement may bind a name to something else, or change the list that it holds."""
    if name == "found" and re.search(r"push\(|found\.|del found", text):
        return True
    return bool(re.search(rf"(^|, |: ){name}\b(,| [-+*/]?=|\.|\[)", text))


def _branch(choose: Choose, pools: Pools, kept: tuple[str, ...], depth: int) -> list[str]:
    lines = [_filled(choose, pools, "if @test:"), *_block(choose, pools, kept, depth + 1)]
    match choose(("", "", "else", "elif")):
        case "else":
            lines += ["else:", *_block(choose, pools, kept, depth + 1)]
        case "elif":
            lines += [_filled(choose, pools, "elif @test:"), *_block(choose, pools, kept, depth + 1)]
            lines += ["else:", *_block(choose, pools, kept, depth + 1)]
    return lines


def _loop(choose: Choose, pools: Pools, kept: tuple[str, ...], depth: int) -> list[str]:
    inside = "loop" in kept
    if choose((False,) * 4 + (True,)):
        # What a loop around asks for no loop inside asks for, whose steps lead to another end.
        ways = [way for way in _WHILES if way[0] == "w" or way[0] not in kept]
        asked, head, step = choose([way for way in ways if not any(_binds(way[2], name) for name in kept)])
        # A loop inside counts its own steps.
        counter = "u" if inside else "w"
        before = {"w": [f"{counter} = 0"], "t": ["t = t % 5"]}.get(asked, [])
        begin = [step, "if w > 3:", "    break"] if head == "while True:" else [step]
        own = [re.sub(r"\bw\b", counter, _filled(choose, pools, line)) for line in (head, *begin)]
        name = counter if asked == "w" else asked
        return [*before, own[0], *indented(own[1:]), *_block(choose, pools, ("loop", *kept, name), depth + 1)]
    lines = [choose(_INNER if inside else _OUTER), *_block(choose, pools, ("loop", *kept), depth + 1)]
    return [*lines, "else:", *_block(choose, pools, kept, depth + 1)] if choose((False,) * 7 + (True,)) else lines


__all__ = ["KINDS", "random_statement_program", "statement_arguments", "statement_lines"]

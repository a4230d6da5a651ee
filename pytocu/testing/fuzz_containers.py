"""Lists whose length a run decides, and what else changes from step to step, in random programs.

Lines are grown by a grammar: they go over the elements of an array, and hold Python ints, NumPy scalars of its dtype, and
lists, dicts and objects of these.  A run pops from lists, leaves loops and functions early, finds None, and may raise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytocu.testing.fuzz_scalars import TESTS, VALUES

TALLY = """\
@dataclasses.dataclass
class Tally:
    total: object
    count: int = 0

    def add(self, number):
        self.total = self.total + number
        self.count += 1

    def reset(self, number):
        before = self.total
        self.total = number
        self.count = 0
        return before

    @property
    def odd(self):
        return self.count % 2 == 1
"""
"""A class of objects that change, which stands before the programs that make some."""

MAY_RAISE = "list, None or step that raises"
"""The feature of lines that may end in an exception."""

_INTS = ("{p} + {q}", "{p} - {q}", "{p} * 2 + {q}", "{p} // 2", "{p} % 5", "max({p}, {q})", "min({p}, {q})", "abs({p})", "-{p}",
         "({p} if {c} else {q})", "{p}", "{p} ^ 3", "int({c})")  # fmt: skip
_INT_TESTS = ("{p} > {q}", "{p} % 3 == 1", "0 < {p} < 9", "{p} != {q}", "{p}", "not {p}", "{p} > 2 and {q} < 5", "{p} & 1",
              "{p} < 0 or flag")  # fmt: skip
_LENGTHS = ("12", "5", "(abs(count) + 2)", "1", "9")
_ZEROS = {"f": "0.0", "c": "0j", "b": "False"}


class Lines:
    """Lines in the making.

    Attributes
    ----------
    ints, numbers : list of str
        Expressions of a Python int, and of a NumPy scalar of the array's dtype.
    tests : list of str
        Other conditions.
    array, zero, start : str
        The line that binds the array; what ``s`` and ``t`` begin with.
    """

    def __init__(self, pick: random.Random, kind: str):
        self.pick = pick
        self.kind = kind
        self.ints = ["t", "count", "1", "3", "len(a)"]
        self.numbers = ["s"]
        self.tests = ["flag"]
        self.zero = f"a.dtype.type({_ZEROS.get(kind, '1')})"
        self.array = f"a = {{0}}.ravel()[:{pick.choice(_LENGTHS)}]"
        self.start = pick.choice(("0", "1", "count % 7", "5"))

    def int(self, depth: int = 2) -> str:
        """An expression of an int, of no more than three digits."""
        return f"({self._int(depth)}) % 97"

    def _int(self, depth: int) -> str:
        if depth == 0 or self.pick.random() < 0.3:
            return self.pick.choice(self.ints)
        return self._filled(self.pick.choice(_INTS), lambda: self._wrapped(self._int(depth - 1)))

    def number(self) -> str:
        """An expression of a scalar of the array's dtype."""
        if self.pick.random() < 0.3:
            return self.pick.choice(self.numbers)
        text = self.pick.choice([v for v in VALUES[self.kind] if "k" not in v])
        return self._filled(text, lambda: self.pick.choice(self.numbers))

    def test(self) -> str:
        """A condition."""
        chance = self.pick.random()
        if chance < 0.25:
            return self.pick.choice(self.tests)
        if chance < 0.6:
            return self._filled(self.pick.choice(_INT_TESTS), lambda: self._wrapped(self._int(1)))
        return self._filled(self.pick.choice(TESTS[self.kind]), lambda: self.pick.choice(self.numbers))

    def _filled(self, text: str, operand: Callable[[], str]) -> str:
        while "{c}" in text:
            text = text.replace("{c}", self.pick.choice((*self.tests, f"{self.pick.choice(self.ints)} > 2")), 1)
        while found := re.search(r"\{[pq]\}", text):
            text = text[: found.start()] + operand() + text[found.end() :]
        return text

    def _wrapped(self, text: str) -> str:
        return text if re.fullmatch(r"-?\w+(\(\w+\))?", text) else f"({text})"

    def of(self, item: str) -> str:
        """A member of a list: of ints (``n``), scalars (``x``), or pairs of these."""
        made = self.int if item[0] == "n" else self.number
        return f"({made()}, {made()})" if len(item) > 1 else made()

    def change(self) -> list[str]:
        """A line that changes a name that goes from step to step."""
        return [f"t = {self.int()}"] if self.pick.random() < 0.5 else [f"s = {self.number()}"]

    def head(self, inner: bool = False) -> str:
        """The first line of a loop over the array; what its names are is known from there on."""
        i, x, y = ("j", "p", "q") if inner else ("i", "x", "y")
        steps = self.pick.choice(("t", "3", "abs(count) % 7", "i" if inner and "i" in self.ints else "5"))
        heads = (
            (f"for {i} in range(len(a)):", i, (f"a[{i}]",)),
            (f"for {i} in range({steps}):", i, ()),
            (f"for {i} in reversed(range(len(a))):", i, (f"a[{i}]",)),
            (f"for {x} in a:", "", (x,)),
            (f"for {i}, {x} in enumerate(a):", i, (x, x)),
            (f"for {i}, {x} in enumerate(a[::-1], 2):", i, (x,)),
            (f"for {x} in reversed(a):", "", (x,)),
            (f"for {x}, {y} in zip(a, a[::-1]):", "", (x, y)),
            (f"for {x}, {y} in zip(a[1:], a):", "", (x, y)),
            (f"for {i}, ({x}, {y}) in enumerate(zip(a, b)):", i, (x, y)),
            (f"for {i}, {x} in zip(range(3, 20), a):", i, (x,)),
        )  # fmt: skip
        text, number, scalars = self.pick.choice(heads)
        self.ints += [number] * 2 if number else []
        self.numbers += [*scalars]
        return text

    def under(self, lines: list[str], chance: float = 0.6) -> list[str]:
        """Lines as they are, or in a branch."""
        if self.pick.random() > chance:
            return lines
        made = [f"if {self.test()}:", *_inside(lines)]
        if self.pick.random() < 0.25:
            made += ["else:", *_inside(self.change())]
        return made

    def leaving(self) -> list[str]:
        """A way out of a step or a loop, now and then."""
        if self.pick.random() < 0.7:
            return []
        return [f"if {self.test()}:", f"    {self.pick.choice(('break', 'continue', 'continue'))}"]

    def body(self, statements: tuple[Callable[[], list[str]], ...], count: int) -> list[str]:
        """Some statements of some kinds."""
        chosen = [line for _ in range(count) for line in self.pick.choice(statements)()]
        return [*self.leaving(), *chosen, *(self.change() if self.pick.random() < 0.5 else ())]

    def loop(self, statements: tuple[Callable[[], list[str]], ...]) -> list[str]:
        """A loop of some statements, or one that holds another."""
        with self.known():
            if self.pick.random() < 0.2:
                self.ints += ["k"]
                steps = self.pick.choice(("len(a)", "6", "abs(count) % 9"))
                return ["k = 0", f"while k < {steps}:", "    k += 1", *_inside(self.body(statements, 2))]
            made = [self.head()]
            if self.pick.random() >= 0.25:
                return [*made, *_inside(self.body(statements, self.pick.choice((1, 2, 2, 3))))]
            with self.known():
                inner = [self.head(inner=True), *_inside(self.body(statements, 1))]
            return [*made, *_inside([*inner, *self.body(statements, 1)])]

    @contextmanager
    def known(self) -> Iterator[None]:
        """What gets a name in here may have none behind it."""
        ints, numbers = len(self.ints), len(self.numbers)
        yield
        del self.ints[ints:], self.numbers[numbers:]


def _inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


class _List:
    """A list, and lines that change it."""

    def __init__(self, lines: Lines, name: str, item: str):
        self.lines, self.name, self.item = lines, name, item
        self.pick = lines.pick
        self.raises = False
        self.begin = f"{name} = [{'' if self.pick.random() < 0.7 else lines.of(item)}]"
        lines.tests += [name, f"len({name}) > 2"]
        lines.ints += [f"len({name})"]

    def append(self) -> list[str]:
        return self.lines.under([f"{self.name}.append({self.lines.of(self.item)})"], 0.8)

    def more(self) -> list[str]:
        name, of = self.name, lambda: self.lines.of(self.item)
        text = self.pick.choice((f"{name}.extend([{of()}, {of()}])", f"{name}.extend([{of()}])", f"{name}.extend(({of()},))"))
        return self.lines.under([text])

    def _guarded(self, lines: list[str], least: str = "") -> list[str]:
        if self.raises and self.pick.random() < 0.4:
            return self.lines.under(lines, 0.8)
        return [f"if {least or self.name}:", *_inside(lines)]

    def pop(self, first: bool = False) -> list[str]:
        where = "0" if first else self.pick.choice(("", "", "-1"))
        taken = f"{self.name}.pop({where})"
        if len(self.item) > 1:
            target = "t, _" if self.item[0] == "n" else "s, _"
            return self._guarded([f"{target} = {taken}"])
        target = "t" if self.item == "n" else "s"
        return self._guarded([self.pick.choice((f"{target} = {taken}", taken))])

    def queue(self) -> list[str]:
        return self.pop(first=True)

    def delete(self) -> list[str]:
        name = self.name
        text = self.pick.choice((f"del {name}[0]", f"del {name}[-1]", f"{name}.clear()"))
        return self.lines.under(self._guarded([text], f"len({name}) > {self.pick.choice((0, 2, 3))}"), 0.4)

    def change(self) -> list[str]:
        place = self.pick.choice(("0", "-1", "-1", f"t % len({self.name})"))
        return self._guarded([f"{self.name}[{place}] = {self.lines.of(self.item)}"])

    def read(self) -> list[str]:
        place = self.pick.choice(("0", "-1", f"t % len({self.name})", f"len({self.name}) // 2"))
        member = f"{self.name}[{place}]" + ("[1]" if len(self.item) > 1 else "")
        return self._guarded([f"t = ({member} + 1) % 97" if self.item[0] == "n" else f"s = {member}"])

    def over(self) -> list[str]:
        """A loop over it."""
        alone = len(self.item) == 1
        one, member = ("g", "g") if alone else ("(g, h)", "g, h")
        name = self.name
        heads = (f"for {member} in {name}:", f"for e, {one} in enumerate({name}):", f"for {member} in reversed({name}):")
        if self.item[0] == "n":
            return [self.pick.choice(heads), "    t = (t + g) % 97"]
        return [self.pick.choice(heads), "    s = max(s, g)" if self.lines.kind in "fiu" else "    s = s + g"]

    def drain(self) -> list[str]:
        """A loop until it is empty, or for some steps."""
        name = self.name
        member = {"n": "t", "x": "s", "nn": "t, _", "xx": "s, _"}[self.item]
        body = [f"{member} = {name}.pop({self.pick.choice(('', '', '0'))})",
                *self.lines.under([f"{name}.append({self.lines.of(self.item)})"], 1.0)]  # fmt: skip
        return ["m = 0", f"while {name} and m < 20:", "    m += 1", *_inside(body)]

    def array(self) -> str:
        dtype = "np.int64" if self.item == "n" else "a.dtype"
        if len(self.item) == 1:
            return f"np.array({self.name}, {dtype})"
        return "np.int64(t)" if self.item == "nn" else "np.append(a, s)"


_OF_S = ("np.append(a, s)", "np.append(a, s)[-1]")


def _ends(lines: Lines, made: list[str], results: tuple[str, ...]) -> str:
    """The lines with a beginning, and an end that binds the result."""
    # An element that no result needs is not looked at.
    reads = any("s = a[t]" in line for line in made)
    result = lines.pick.choice(_OF_S if reads else (*results, *results, "np.int64(t)", *_OF_S))
    begin = ["b = a[::-1].copy()", f"s = {lines.zero}"]
    if lines.pick.random() < 0.5:
        body = [*begin, *made, f"return {result}"]
        return "\n".join([lines.array, "def part(a, t):", *_inside(body), f"@v = part(a, {lines.start})"])
    return "\n".join([lines.array, *begin, f"t = {lines.start}", *made, f"@v = {result}"])


def _listed(pick: random.Random, kind: str, item: str, ways: str, raises: bool = False) -> str:
    lines = Lines(pick, kind)
    found = _List(lines, "found", item)
    found.raises = raises
    ways_of: dict[str, Callable[[], list[str]]] = {
        "a": found.append, "m": found.more, "p": found.pop, "q": found.queue, "d": found.delete, "c": found.change,
        "r": found.read, "o": found.over,
    }  # fmt: skip
    made = [found.begin, *lines.loop(tuple(ways_of[way] for way in ways))]
    if not any("append" in line for line in made):
        with lines.known():
            made += [lines.head(), *_inside(found.append())]
    if pick.random() < 0.3:
        made += found.drain()
    if pick.random() < 0.4:
        made += found.over()
    return _ends(lines, made, (found.array(), "np.int64(len(found) * 100 + t)"))


def _comprehension(pick: random.Random, kind: str) -> str:
    lines = Lines(pick, kind)
    item = pick.choice("nx")
    with lines.known():
        head = lines.head().removesuffix(":")
        tests = "".join(f" if {lines.test()}" for _ in range(pick.choice((1, 1, 2))))
        made = [f"found = [{lines.of(item)} {head}{tests}]"]
    found = _List(lines, "found", item)
    made += pick.choice((found.over, found.drain, found.read, found.pop))()
    return _ends(lines, made, (found.array(), "np.int64(len(found) * 100 + t)"))


def _generator(pick: random.Random, kind: str) -> str:
    lines = Lines(pick, kind)
    with lines.known():
        head = lines.head().removesuffix(":")
        tests = f" if {lines.test()}" if pick.random() < 0.6 else ""
        made = [f"t = sum({lines.int()} {head}{tests}) % 97"]
    return _ends(lines, made, ("np.int64(t)",))


def _none(pick: random.Random, kind: str) -> str:
    lines = Lines(pick, kind)
    item = pick.choice("nx")
    known = lines.ints if item == "n" else lines.numbers

    def assign() -> list[str]:
        return lines.under([f"best = {lines.of(item)}"], 0.8)

    def first() -> list[str]:
        return [f"if best is None{pick.choice(('', f' or {lines.test()}'))}:", f"    best = {lines.of(item)}"]

    def use() -> list[str]:
        known.append("best")
        made = [f"if best is not None{pick.choice(('', f' and {lines.test()}'))}:", *_inside(lines.change())]
        known.remove("best")
        return made

    def forget() -> list[str]:
        return [f"if {lines.test()}:", "    best = None"]

    body = lines.loop((assign, first, use, forget))
    if not any("best = " in line and "None" not in line for line in body):
        body += first()
    other = "np.int64(-1 if best is None else best)" if item == "n" else "np.append(a, s if best is None else best)"
    return _ends(lines, [f"best = {'None' if pick.random() < 0.7 else lines.of(item)}", *body], (other,))


def _found(pick: random.Random, kind: str) -> str:
    """A function that returns out of nested loops, or comes to its end."""
    lines = Lines(pick, kind)
    item, nothing = pick.choice("nx"), pick.random() < 0.4
    outer = lines.head()
    before = [*lines.leaving(), *(lines.change() if pick.random() < 0.6 else ())]
    inner = lines.head(inner=True)
    way_out = [f"if {lines.test()}:", f"    return {lines.of(item)}"]
    body = [*way_out, *lines.change()] if pick.random() < 0.5 else [*lines.change(), *lines.leaving(), *way_out]
    del lines.ints[5:], lines.numbers[1:]
    after = [] if pick.random() < 0.6 else [f"if {lines.test()}:", f"    return {lines.of(item)}"]
    end = ["return None"] if nothing and pick.random() < 0.5 else [] if nothing else [f"return {lines.of(item)}"]
    dtype = "np.int64(r)" if item == "n" else "np.append(a, r)"
    made = [f"@v = {dtype}"]
    if nothing:
        other = "np.int64(t)" if item == "n" else "np.append(a, s)"
        made = ["if r is None:", f"    @v = {other}", "else:", *_inside(made)]
    start = [lines.array, "b = a[::-1].copy()", f"t = {lines.start}", f"s = {lines.zero}", "def part(a, b, s, t):"]
    function = [outer, *_inside([*before, inner, *_inside(body), *after]), *end]
    return "\n".join([*start, *_inside(function), "r = part(a, b, s, t)", *made])


def _dict(pick: random.Random, kind: str) -> str:
    lines = Lines(pick, kind)
    lines.ints.append("d['n']")
    lines.numbers.append("d['x']")

    def assign() -> list[str]:
        key, item = pick.choice((("n", lines.int), ("x", lines.number)))
        return lines.under([f"d['{key}'] = {item()}"])

    def add() -> list[str]:
        changes = ("d['n'] += 1", "d['n'] -= t", f"d.update(n={lines.int()})", "d['x'] = d.get('x', s)")
        return lines.under([pick.choice(changes)])

    def anew() -> list[str]:
        return lines.under([f"d = {{{{'n': {lines.int()}, 'x': {lines.number()}}}}}"])

    made = [f"d = {{{{'n': {pick.choice(('0', 't', 'count'))}, 'x': s}}}}", *lines.loop((assign, add, anew))]
    return _ends(lines, made, ("np.int64(d['n'])", "np.append(a, d['x'])"))


def _object(pick: random.Random, kind: str) -> str:
    lines = Lines(pick, kind)
    lines.ints.append("p.count")
    lines.numbers.append("p.total")
    lines.tests.append("p.odd")

    def add() -> list[str]:
        return lines.under([f"{pick.choice('ppo')}.add({lines.number()})"])

    def assign() -> list[str]:
        total, count = f"p.total = {lines.number()}", f"p.count = {lines.int()}"
        return lines.under([pick.choice((total, count, "o.count += 2", "p.count += o.count % 5"))])

    def reset() -> list[str]:
        return lines.under([f"s = p.reset({lines.number()})"], 0.9)

    def turn() -> list[str]:
        made = f"p = Tally({lines.number()}, {lines.int()})"
        return lines.under([pick.choice(("p, o = o, p", made, "o.total = p.total"))], 0.5)

    made = [f"p = Tally({lines.zero})", f"o = Tally({lines.zero}, t)", *lines.loop((add, assign, reset, turn))]
    return _ends(lines, made, ("np.int64(p.count * 100 + o.count)", "np.append(a, p.total)", "np.append(a, o.total)"))


def _captured(pick: random.Random, kind: str) -> str:
    """Functions that change a list, and numbers, of the function around them."""
    lines = Lines(pick, kind)
    item = pick.choice(("n", "x", "nn"))
    found = _List(lines, "found", item)
    own = Lines(pick, kind)
    own.ints, own.numbers, own.tests = ["len(found)", "t", "2"], ["y", "s"], [*lines.tests]
    inner = _List(own, "found", item)
    ways = (inner.append, inner.more, inner.delete, inner.queue, inner.read)
    push = [line for _ in range(pick.choice((1, 2))) for line in pick.choice(ways)()]
    push += inner.append() if not any("append" in line for line in push) else []
    written = [n for n in ("s", "t", "found") if any(re.match(rf"\s*{n}(, _)? \+?=", line) for line in push)]
    head = [f"    nonlocal {', '.join(written)}"] if written else []

    def call() -> list[str]:
        return lines.under([f"push({lines.number()})"], 0.7)

    body = lines.loop((call, call, found.pop, found.over))
    body += call() if not any("push(" in line for line in body) else []
    result = pick.choice((found.array(), "np.int64(len(found) * 100 + t)"))
    start = [lines.array, "def part(a, t):", "    b = a[::-1].copy()", f"    s = {lines.zero}"]
    made = [found.begin, "def push(y):", *head, *_inside(push), *body, f"return {result}"]
    return "\n".join([*start, *_inside(made), f"@v = part(a, {lines.start})"])


def _raising(pick: random.Random, kind: str) -> str:
    chance = pick.random()
    if chance < 0.5:
        return _listed(pick, kind, pick.choice(("n", "x", "nn")), pick.choice(("appd", "apqr", "aacr", "amdq")), raises=True)
    lines = Lines(pick, kind)
    texts = (
        "raise ValueError(f'step {{t}}')", "raise KeyError('t')", "assert t < 3, 'large'", "t = (t // (t % 3)) % 97",
        "t = [1, 2, 3][t]", "s = a[t]", "t = best + 1", "raise IndexError(f'{{t}} of {{len(a)}}')",
    )  # fmt: skip
    text = pick.choice(texts)

    def fails() -> list[str]:
        return lines.under([text], 1.0)

    made = lines.loop((lines.change, fails, lines.change))
    made += fails() if not any(text in line for line in made) else []
    best: list[str] = []
    if "best" in text:
        with lines.known():
            best = ["best = None", lines.head(), f"    if {lines.test()}:", f"        best = {lines.int()}"]
    return _ends(lines, [*best, *made], ())


_MADE: dict[str, tuple[Callable[[random.Random, str], str], str]] = {
    "list under a condition": (lambda pick, kind: _listed(pick, kind, pick.choice(("n", "x", "x")), "aaoc"), "iufcb"),
    "stack": (lambda pick, kind: _listed(pick, kind, pick.choice(("n", "x")), "aapr"), "iufcb"),
    "queue": (lambda pick, kind: _listed(pick, kind, pick.choice(("n", "x")), "aaqr"), "iufc"),
    "extend, del, clear": (lambda pick, kind: _listed(pick, kind, pick.choice(("n", "x")), "amdd"), "iufc"),
    "list of tuples": (lambda pick, kind: _listed(pick, kind, pick.choice(("nn", "xx")), "aapqr"), "iufc"),
    "comprehension with conditions": (_comprehension, "iuf"),
    "generator expression": (_generator, "iuf"),
    "None or a value": (_none, "iuf"),
    "return out of nested loops": (_found, "iuf"),
    "dict of run time": (_dict, "iufc"),
    "object that changes": (_object, "iufc"),
    "captured list": (_captured, "iuf"),
    MAY_RAISE: (_raising, "iuf"),
}

CONTAINERS: tuple[tuple[str, str, str, int], ...] = tuple((feature, "", kinds, 1) for feature, (_, kinds) in _MADE.items())
"""Features with the kinds of dtypes they are for; their lines come from :func:`container_lines`."""


def container_lines(feature: str, kind: str, pick: random.Random) -> str:
    """The lines of a feature, with ``{0}`` for the operand and ``@v`` for the name of the value.

    Examples
    --------
    >>> text = container_lines("stack", "f", random.Random(0))
    >>> "found" in text and "@v = " in text
    True
    """
    return _MADE[feature][0](pick, kind)


__all__ = ["CONTAINERS", "MAY_RAISE", "TALLY", "Lines", "container_lines"]

"""Loops, branches and masks in random programs: statements of several lines whose value has one name.

Every operation in them is exact, so bits are compared.  A block changes only what it made itself; what changes an
argument is in :data:`CHANGING_BLOCKS`.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from pytocu.testing.fuzz_containers import CONTAINERS, MAY_RAISE, container_lines
from pytocu.testing.fuzz_loops import OTHERS, SCALAR_CALLS, SWEEPS, choices, sweep_lines
from pytocu.testing.fuzz_nested import STATEMENTS, WRITERS
from pytocu.testing.fuzz_programs import Coverage
from pytocu.testing.fuzz_scalars import random_scalar_function
from pytocu.testing.fuzz_ways import ERRORS as RAISING
from pytocu.testing.fuzz_ways import RETURNED, WAYS, ways

ERRORS = (*RAISING, MAY_RAISE, STATEMENTS)
"""Features of lines that may raise; where they do, the program ends."""

KEPT = (RETURNED, STATEMENTS)
"""Features of lines that bind something of any kind, which is returned: nothing is computed of it."""


class Block(NamedTuple):
    """Some lines that bind ``@v`` to a value made of ``{0}`` and ``{1}``, which have the same dtype.

    Attributes
    ----------
    features : str
        What a program with these lines counts for, separated by commas.
    text : str
        The lines; ``@E`` is an expression of ``@v`` and ``{1}`` with the dtype and shape of ``@v``, ``@N`` a number of
        steps, ``@C`` a condition on Python scalars, ``@K`` one on a counter ``k`` or ``i``, ``@M`` a mask of ``@v``,
        ``@F`` one without a counter and ``@G`` the same of ``{0}``, ``@I`` a small index array of the length of ``@v``;
        more are in :mod:`pytocu.testing.fuzz_loops` and :mod:`pytocu.testing.fuzz_ways`.  Where it is empty,
        :mod:`pytocu.testing.fuzz_containers` writes the lines.
    kinds : str
        Of the dtype.
    least : int
        Fewest axes of ``{0}``.
    """

    features: str
    text: str
    kinds: str = "biufc"
    least: int = 0


_UPDATES: dict[str, tuple[str, ...]] = {
    "f": (
        "@v * 0.5 + {1}", "@v - {1}", "np.where(@v > {1}, @v, {1} * 2)", "np.sqrt(np.abs(@v))", "(@v + {1}) / 2",
        "@v * @v - {1}",
        "np.floor(@v) + @k", "-@v", "np.minimum(@v, {1}) + 0", "@v * @k", "np.where(np.isnan(@v), {1}, @v + @k)",
        "@v // 2 + {1}",
        "np.clip(@v, -4, 4) + 0", "np.where(@v * @v < 4, @v * @v + {1}, @v)",
    ),
    "i": (
        "@v * 3 + {1}", "@v - {1}", "@v ^ {1}", "np.maximum(@v, {1})", "@v // 3 + @k", "@v % 7",
        "np.where(@v > {1}, @v - 1, {1})",
        "abs(@v)", "@v >> 1", "~@v", "@v & {1}", "np.where(@v % 2 == 0, @v // 2, @v * 3 + 1)",
    ),
    "u": ("@v * 3 + {1}", "@v ^ {1}", "np.maximum(@v, {1})", "@v // 3", "@v % 7 + {1}", "np.where(@v > {1}, @v, {1})",
        "@v << 1",
          "@v | {1}"),
    "c": ("@v + {1}", "@v - {1}", "np.where(@v == {1}, @v, -{1})", "@v.conj()", "-@v", "np.where(np.isnan(@v), {1}, @v)"),
    "b": ("@v ^ {1}", "@v | {1}", "@v & {1}", "~@v", "np.where({1}, @v, ~@v)", "np.logical_xor(@v, {1})"),
}  # fmt: skip
"""One exact step, by the kind of the dtype."""

_MASKS: dict[str, tuple[str, ...]] = {
    "f": ("@v > 0", "@v != {1}", "(@v > -1) & (@v < 3)", "np.isnan(@v)", "@v < count", "@v >= {1}"),
    "i": ("@v > 0", "@v % 2 == 0", "@v != {1}", "(@v < 50) | (@v == 7)", "@v > count"),
    "u": ("@v > 3", "@v % 2 == 1", "@v != {1}", "~(@v < 5)"),
    "c": ("@v == {1}", "@v.real > 0", "np.isfinite(@v)"),
    "b": ("@v", "~@v", "@v == {1}"),
}

_NUMBERS = {"f": ("2", "0.5", "factor", "count"), "i": ("2", "3", "count"), "u": ("2", "3"), "c": ("2", "turn",
        "0.5"), "b": ("True",)}
"""What stands for the second operand where no value has its dtype and fits its shape."""

_STEPS = ("count", "count", "abs(count)", "3", "2", "count % 5", "max(count, 2)")
_LENGTHS = ("x_f64.shape[0]", "len(row_f32)")
"""Numbers of steps, and those that are lengths: of arguments without elements no loop of them has a step."""

_CONDITIONS = ("count > 2", "flag", "factor < 1", "count % 2 == 0", "flag and count > 0", "not flag", "0 < count < 50", "count")
_COUNTER_TESTS = ("@k == 2", "@k % 2 == 1", "@k > count // 2", "@k + 1 > 3 and flag", "count - @k < 2")

BLOCKS: tuple[Block, ...] = (
    # Bodies of elements.
    Block("for over run time", "@v = {0}\nfor i in range(@N):\n    @v = @E"),
    Block("for over run time", "@v = {0}\nfor i in range(1, @N):\n    @v = @E\n    @v = @E"),
    Block("for with steps", "@v = {0}\nfor i in range(@N, -2, -3):\n    @v = @E", "fi"),
    Block("for with steps", "@v = {0}\nfor i in range(0, @N, 2):\n    @v = @E"),
    Block("for with steps", "@v = {0}\nfor i in reversed(range(@N)):\n    @v = @E"),
    Block("nested loops", "@v = {0}\nfor i in range(@N):\n    for j in range(2):\n        @v = @E"),
    Block("nested loops", "@v = {0}\nfor i in range(3):\n    for j in range(i):\n        @v = @E\n    @v = @E"),
    Block("nested loops", "@v = {0}\nfor i in range(@N):\n    k = i\n    while k > 0:\n        @v = @E\n        k = k // 2"),
    Block("while", "@v = {0}\nk = 0\nwhile k < @N:\n    @v = @E\n    k += 1"),
    Block("while", "@v = {0}\nk = @N\nwhile k > 0 and k < 90:\n    @v = @E\n    k -= 2"),
    Block("break", "@v = {0}\nfor i in range(@N):\n    @v = @E\n    if @K:\n        break"),
    Block("break", "@v = {0}\nk = 0\nwhile k < @N:\n    if @K:\n        break\n    @v = @E\n    k += 1"),
    Block("continue", "@v = {0}\nfor i in range(@N):\n    if @K:\n        continue\n    @v = @E"),
    Block("else of a loop", "@v = {0}\nfor i in range(@N):\n    if @K:\n        break\n    @v = @E\nelse:\n    @v = @F"),
    Block("early return", "def part(@v, n):\n    for i in range(n):\n        if @K:\n            return @E\n        @v = @E\n"
          "    return @v\n@v = part({0}, @N)"),
    Block("early return", "def part(@v):\n    if @C:\n        return @E\n    @v = @E\n    return @v\n@v = part({0})"),
    Block("two values in a loop", "@v = {0}\nw = {0}\nfor i in range(@N):\n    @v, w = w, @E\n@v = @F"),
    Block("two values in a loop", "@v = {0}\nk = 0\nfor i in range(@N):\n    @v = @E\n    k += i\n@v = @v + k", "f"),
    # Lengths that change from step to step.
    Block("length that changes", "@v = {0}.ravel()\nfor i in range(@N):\n    @v = @v[1:]"),
    Block("length that changes", "@v = {0}.ravel()\nfor i in range(@N):\n    @v = @v[::2]"),
    Block("length that changes",
          "@v = {0}.ravel()\nfor i in range(@N):\n    @v = np.where(@v[1:] == @v[:-1], @v[1:], @v[:-1])"),
    Block("length that changes", "@v = {0}.ravel()\nfor i in range(@N):\n    @v = np.append(@v, @v[-1:])"),
    Block("length that changes", "@v = {0}.ravel()\nfor i in range(@N):\n    if @K:\n        @v = @v[1:]\n    else:\n"
          "        @v = @v[::-1]"),
    Block("length that changes", "@v = {0}.ravel()\nfor i in range(@N):\n    if @K:\n        break\n"
          "    @v = np.concatenate([@v[1:], @v[:2]])"),
    Block("length that changes", "@v = {0}.ravel()\nwhile len(@v) > 1:\n    @v = @v[len(@v) // 2:]"),
    Block("length that changes", "@v = {0}.ravel().copy()\nfor i in range(@N):\n    @v[:1] = @v[-1:]\n    @v = @v[i % 2:]"),
    Block("length that lengths change",
          "@v = {0}.ravel()[:5]\nfor i in range(min(@N, 4)):\n    @v = np.concatenate([@v, @v[::-1]])"),
    Block("length that lengths change",
          "@v = {0}.ravel()[:3]\nw = {0}.ravel()[:2]\nfor i in range(min(@N, 4)):\n    @v, w = np.concatenate([w, @v]), @v"),
    Block("length that lengths change", "@v = {0}.ravel()\nwhile 0 < len(@v) < 40:\n    @v = np.repeat(@v, 2)"),
    Block("length that masks change", "@v = {0}.ravel()\nfor i in range(@N):\n    @v = @v[@v != i]"),
    Block("length that masks change", "@v = np.stack([{0}.ravel(), {0}.ravel()], 1)\nfor i in range(@N):\n"
          "    @v = @v[@v[:, 0] != i]"),
    Block("length that masks change", "@v = {0}.ravel()\nw = np.arange(len(@v))\nfor i in range(@N):\n    m = w % 3 != i % 3\n"
          "    @v = @v[m]\n    w = w[m]\n@v = np.append(@v, @v[:len(w)])"),
    Block("length that masks change", "def part(@v, n):\n    for i in range(n):\n        @v = @v[@v != i]\n"
          "        if len(@v) < 3:\n            return @v\n    return @v\n@v = part({0}.ravel(), @N)"),
    # Branches.
    Block("if", "if @C:\n    @v = {0}\n    @v = @E\nelse:\n    @v = {0}"),
    Block("if", "@v = {0}\nif @C:\n    @v = @E"),
    Block("if with several sides", "@v = {0}\nif @C:\n    @v = @E\nelif @C:\n    @v = @E\nelse:\n    @v = @E"),
    Block("if in a loop", "@v = {0}\nfor i in range(@N):\n    if @K:\n        @v = @E\n    else:\n        @v = @E"),
    Block("if on an element", "@v = {0}\nif {0}.ravel()[0] > 0:\n    @v = @E", "fiu", 1),
    Block("conditional expression", "@v = {0}\n@v = (@E) if @C else @v"),
    # Bodies of whole arrays.
    Block("stencil", "@v = {0}.copy()\nfor i in range(@N):\n    @v[1:-1] = @v[2:] - @v[:-2]", "fiuc", 1),
    Block("stencil", "@v = {0}.copy()\nfor i in range(@N):\n    @v[..., 1:-1] += @v[..., 2:] - 2 * @v[..., 1:-1]", "fi", 1),
    Block("stencil", "@v = {0}.copy()\nfor i in range(@N):\n    @v[1:] = @v[:-1] + 1", "fiu", 1),
    Block("stencil", "@v = {0}.copy()\nfor i in range(@N):\n    @v[1:-1, 1:-1] = @v[:-2, 1:-1] + @v[1:-1, 2:]", "fiuc", 2),
    Block("swapped arrays", "@v = {0}.copy()\nw = {0}.copy()\nfor i in range(@N):\n    w[1:-1] = @v[2:] + @v[:-2]\n"
          "    @v, w = w, @v",
          "fiuc", 1),
    Block("swapped arrays", "@v = {0}.copy()\nw = np.zeros_like(@v)\nk = 0\nwhile k < @N:\n    w[...] = @v[::-1] * 2\n"
          "    @v, w = w, @v\n    k += 1", "fiu", 1),
    Block("reduction in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @v - (@v.max() + 0)", "fiu", 1),
    Block("reduction in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @v ^ @v.sum(axis=0, dtype=@v.dtype)", "iu", 1),
    Block("reduction in a loop", "@v = {0}\nfor i in range(@N):\n"
          "    @v = @v + (@v > {1}).sum(axis=-1, keepdims=True).astype(@v.dtype)",
          "fiu", 1),
    Block("reduction in a loop", "@v = {0}.max()\nfor i in range(@N):\n    @v = @v + ({0} > i).any()", "fi", 1),
    Block("scan or move in a loop", "@v = {0}\nfor i in range(@N):\n    @v = np.roll(@v, 1) - {1}", "fiuc", 1),
    Block("scan or move in a loop", "@v = {0}\nfor i in range(@N):\n    @v = np.cumsum(@v, axis=0, dtype=@v.dtype)", "iu", 1),
    Block("scan or move in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @v[::-1]\n    @v = @E", least=1),
    Block("while on data", "@v = {0}\nk = 0\nwhile k < 5 and @v.max() > 1:\n    @v = @v // 2\n    k += 1", "iu", 1),
    Block("while on data", "@v = {0}\nfor i in range(4):\n    if (@v > 1).sum() < 3:\n        break\n    @v = @v / 2", "f", 1),
    Block("over rows", "@v = np.zeros_like({0}[0])\nfor r in {0}:\n    @v = @v + r", "fiuc", 2),
    Block("over rows", "@v = {0}[0].copy()\nfor i, r in enumerate({0}):\n    @v = np.where(r == r, @v, r) + i", "f", 2),
    Block("over rows", "@v = np.zeros_like({0}[0])\nfor r, s in zip({0}, {0}[::-1]):\n    @v = @v + r - s", "fi", 2),
    Block("elements in a loop", "@v = {0}.copy()\nfor i in range(@N):\n    @v[0] = i\n    @v *= 2", "fi", 1),
    Block("elements in a loop", "@v = {0}.copy()\nfor i in range(@N):\n    @v[-1] = @v[0] + {1}\n    @v[0] -= 1", "fi", 1),
    Block("views in a loop", "@v = {0}.copy()\nfor i in range(@N):\n    w = @v[::-1]\n    w[1:] += @v[1:]\n"
          "    @v = w", "fiu", 1),
    Block("made in a loop", "@v = {0}\nfor i in range(@N):\n    w = np.zeros_like(@v)\n    w[1:] = @v[:-1]\n"
          "    @v = w + {1}", "fiuc", 1),
    # Masks.
    Block("mask = number", "@v = {0}.copy()\n@v[@M] = 1", least=1),
    Block("mask = number", "@v = {0}.copy()\n@v[@M] = factor", "f", 1),
    Block("mask = values", "@v = {0}.copy()\nm = @M\n@v[m] = @v[m] * 2 + np.broadcast_to({1}, @v.shape)[m]", "fiu", 1),
    Block("mask = values", "@v = {0}.copy()\nm = @M\n@v[m] = @v[::-1][m]", least=1),
    Block("mask = values", "@v = {0}.copy()\nm = @M\n@v[m] = @v[m][::-1]", least=1),
    Block("mask op= number", "@v = {0}.copy()\n@v[@M] += 1", "fiuc", 1),
    Block("mask op= number", "@v = {0}.copy()\n@v[@M] *= 2", "fiu", 1),
    Block("mask op= number", "@v = {0}.copy()\n@v[@M] ^= True", "b", 1),
    Block("mask in a loop", "@v = {0}.copy()\nfor i in range(@N):\n    @v[@M] = {1}\n    @v = @E", least=1),
    Block("mask in a loop", "@v = {0}.copy()\nfor i in range(@N):\n    m = @M\n    @v[m] = @v[m] + 1", "fi", 1),
    Block("mask of rows", "@v = {0}.copy()\n@v[@v[:, 0] == @v[:, -1]] = 0", "biuf", 2),
    Block("mask of rows", "@v = {0}[{0}[:, 0] == {0}[:, 0]]", "biuf", 2),
    Block("chosen elements", "@v = {0}\n@v = @v[@M]", least=1),
    Block("chosen elements", "@v = {0}\n@v = np.concatenate([@v[@M], @v[@M]])", least=1),
    Block("chosen elements", "@v = {0}\n@v = np.compress({0}.ravel() == {0}.ravel(), @v.ravel())", "biuf", 1),
    Block("sum of chosen", "@v = {0}\n@v = @v[@M].sum()", "biu", 1),
    Block("sum of chosen", "@v = {0}\nm = @M\n@v = (@v[m] * 2).any(), np.count_nonzero(@v[m])\n@v = @v[0] + @v[1]", "biuf", 1),
    Block("sum of chosen", "@v = {0}\n@v = (@v[@M] + 1).max()", "fiu", 1),
    Block("sum of chosen", "@v = {0}\nm = @M\n@v = @v[m].size + m.sum()\n@v = np.int64(@v)", least=1),
    Block("number of chosen", "@v = {0}\n@v = np.arange(@v[@M].size)", least=1),
    Block("nonzero", "@v = np.nonzero({0})[-1]", least=1),
    Block("nonzero", "@v = np.flatnonzero({0} != {1})", least=1),
    Block("nonzero", "@v = np.argwhere({0})", least=1),
    Block("where of one argument", "@v = {0}\n@v = np.where(@M)[0]", least=1),
    Block("where of one argument", "@v = {0}\nw = np.where(@M)\n@v = @v[w]", least=1),
    Block("bincount", "@v = np.bincount({0}.ravel() & 7, minlength=8)", "biu", 1),
    Block("bincount", "@v = np.bincount(np.append(0, np.arange({0}.size) % 3), np.append(1, {0}.ravel()), 4)", "fi", 1),
    Block("add.at", "@v = {0}.ravel() + 0\nnp.add.at(@v, @I, @v.dtype.type(1))", "fiu", 1),
    Block("add.at", "@v = np.zeros(5)\nnp.add.at(@v, np.arange({0}.size) % 5, {0}.ravel())", "fiu", 1),
    Block("histogram", "@v = np.histogram({0}, bins=4, range=(-2, 6))[0]", "fiu", 1),
    *(Block(feature, text, least=2 if "w[j]" in text or "len(@v)" in text else 1) for feature, text in SWEEPS),
    *(Block(*other) for other in OTHERS),
    *(Block(*way) for way in WAYS),
    *(Block(feature, text) for feature, text in SCALAR_CALLS),
    *(Block(*container) for container in CONTAINERS),
    *(Block(feature, "", "f") for feature in WRITERS),
)  # fmt: skip
"""What a program may hold instead of an expression."""

CHANGING_BLOCKS: tuple[tuple[str, str], ...] = (
    ("argument changed in a loop", "for i in range({n}):\n    {w}[1:] += {w}[:-1]"),
    ("argument changed in a loop", "for i in range({n}):\n    {w}[...] = {w}[::-1]\n    {w}[0] = {s}"),
    ("argument changed in a loop", "k = 0\nwhile k < {n}:\n    {w} += {e}\n    k += 1"),
    ("argument changed in a loop", "for i in range({n}):\n    if i == 2:\n        break\n    {w}[..., 1:-1] = {w}[..., 2:]"),
    ("argument changed in a branch", "if count > 2:\n    {w} += {e}\nelse:\n    {w}[1:] = {s}"),
    ("argument changed in a branch", "if flag:\n    {w}[::-1] = {w} + {s}"),
    ("argument changed through a mask", "{w}[{w} == {e}] = {s}"),
    ("argument changed through a mask", "{w}[{w} != {w}[::-1]] += {s}"),
    ("argument changed through a mask", "m = {w} == {w}\n{w}[m] = {w}[::-1][m]"),
    ("argument changed through views", "a = {w}.T\na[...] = a[::-1]\nb = {w}[..., ::-1]\nb[1:] = b[:-1]"),
    ("argument changed through views", "a = {w}[1:]\nfor i in range({n}):\n    a[::-1] += {s}\n    {w}[:1] = a[:1]"),
    ("argument that takes turns", "a = {w}\nb = np.zeros_like(a)\nfor i in range({n}):\n    b[1:-1] = a[2:] + {s}\n"
     "    a, b = b, a"),
    ("argument that takes turns", "a, b = {w}, {w}.copy()\nk = 0\nwhile k < {n}:\n    b[...] = a[::-1]\n    a, b = b, a\n"
     "    if count > 2:\n        break\n    k += 1\n{w} += {e}"),
    ("argument that takes turns", "a = {w} if count > 2 else {w}.copy()\nfor i in range({n}):\n    a[1:] = a[:-1]\n"
     "{w}[:1] = a[:1]"),
)
"""Statements that change an array `w`, with `e` that broadcasts to it, a number `s` and a number of steps `n`."""

BEFORE_A_CHANGE = "library call before a change"

LIBRARY_CALLS = (
    "np.sort({0}, axis=None, kind='stable')", "np.sort({0}[:], axis=0, kind='stable')", "np.sort({0}[...], kind='stable')",
    "np.argsort({0}[:], axis=-1, kind='stable')", "np.argsort({0}.ravel(), kind='stable')", "np.unique({0}[:])",
    "np.lexsort(({0}[:], {0}))", "np.sort({0}.T.T, axis=-1, kind='stable')[:]",
)  # fmt: skip
"""Of a view of all of an array that is changed behind the call."""

FEATURES = tuple(
    dict.fromkeys([*(b.features for b in BLOCKS), *(feature for feature, _ in CHANGING_BLOCKS), BEFORE_A_CHANGE])
)
"""What programs are counted for."""

PROGRAMS = "programs"
"""The second part of the key of a feature, where that of a row is a dtype."""


def second_operands(kind: str) -> tuple[str, ...]:
    """Numbers that may stand for ``{1}`` beside a dtype of a kind."""
    return _NUMBERS[kind]


def written(block: Block, name: str, kind: str, pick: random.Random, lengths: bool = True, equal: str = "{0}") -> str:
    """The lines of a block, with everything chosen but its operands.

    Where no length may be a number of steps, `lengths` is False.  `equal` is what has the shape of the first operand.

    Examples
    --------
    >>> print(written(BLOCKS[0], "v3", "b", random.Random(0)))
    v3 = {0}
    for i in range(count):
        v3 = v3 & {1}
    """
    if not block.text and block.features not in WRITERS:
        return container_lines(block.features, kind, pick).replace("@v", name)
    plain = tuple(text for text in _UPDATES[kind] if "@k" not in text)
    found = {"E": _UPDATES[kind], "F": plain, "N": _STEPS + _LENGTHS * lengths, "C": _CONDITIONS,
             "K": _COUNTER_TESTS, "M": _MASKS[kind], "G": tuple(text.replace("@v", "{0}") for text in plain),
             "I": ("np.arange(len(@v)) % 2", "np.arange(len(@v)) // 2", "np.zeros(len(@v), np.int64)",
                   "-1 - np.arange(len(@v)) // 2", "np.arange(len(@v)) * 3 % len(@v)"),
             "S": (f"each_{name}",), **choices(kind), **ways(kind)}  # fmt: skip
    text = block.text or WRITERS[block.features](pick)
    text = sweep_lines(text, kind, pick.choice((equal, "{0}", pick.choice(_NUMBERS[kind]))), pick)
    text = re.sub(r"@([C-IKM-OR-UW-Z])", lambda m: pick.choice(found[m[1]]), text)
    # Python scalars only: a counter is one where there is a loop.
    counter = "i" if "for i" in text else "k" if "while k" in text else "2"
    return text.replace("@k", counter).replace("@v", name)


def defined(text: str, name: str, kind: str, pick: random.Random) -> str:
    """The function of scalars that the lines for a name call, if they call one."""
    return random_scalar_function(pick, kind, f"each_{name}") if f"each_{name}(" in text else ""


def changing(pick: random.Random, coverage: Coverage) -> tuple[str, str]:
    """A statement that changes an array, of the feature that programs hold least often."""
    feature = least_often(sorted({f for f, _ in CHANGING_BLOCKS}), pick, coverage)
    return pick.choice([(f, text) for f, text in CHANGING_BLOCKS if f == feature])


def block_of(pick: random.Random, coverage: Coverage) -> Block:
    """A block, of the feature that programs hold least often."""
    feature = least_often(sorted({b.features for b in BLOCKS}), pick, coverage)
    return pick.choice([b for b in BLOCKS if b.features == feature])


def least_often(features: list[str], pick: random.Random, coverage: Coverage) -> str:
    """Of some features the one with the fewest programs so far."""
    return min((coverage[f, PROGRAMS], pick.random(), f) for f in pick.sample(features, min(6, len(features))))[2]


def number_of_steps(pick: random.Random, lengths: bool = True) -> str:
    """An expression of a Python int."""
    return pick.choice(_STEPS + _LENGTHS * lengths)


__all__ = [
    "BEFORE_A_CHANGE", "BLOCKS", "CHANGING_BLOCKS", "ERRORS", "FEATURES", "KEPT", "LIBRARY_CALLS", "PROGRAMS", "Block",
    "block_of", "changing", "defined", "number_of_steps", "second_operands", "written",
]  # fmt: skip

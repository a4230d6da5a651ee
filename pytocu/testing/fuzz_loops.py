"""More lines of several statements for random programs: sweeps, positions of run time, scatter, static loops, helpers.

As in :mod:`pytocu.testing.fuzz_blocks` every operation is exact, and a block changes only what it made itself.
"""

from __future__ import annotations

import random
import re

STEPS: dict[str, tuple[str, ...]] = {
    "f": ("{a} * 0.5 + {b}", "{a} - {b}", "np.where({a} > {b}, {a}, {c})", "({a} + {b}) / 2", "{a} + {b} * {c}",
    "np.floor({a}) - {b}",
          "np.sqrt(np.abs({a})) + {b}", "np.where(np.isnan({a}), {b}, {a})", "-{a}", "{a} + {n}", "{a}",
          "np.clip({a}, -4, 4) + {b}"),
    "i": ("{a} * 3 + {b}", "{a} - {b}", "{a} ^ {b}", "np.maximum({a}, {b})", "{a} // 3 + {b}",
    "np.where({a} > {b}, {c}, {a} - 1)",
          "abs({a}) + {c}", "{a} & {b} | {c}", "{a} + {n}", "{a}"),
    "u": ("{a} * 3 + {b}", "{a} ^ {b}", "np.maximum({a}, {b})", "{a} // 3 + {c}", "np.where({a} > {b}, {c}, {a})",
    "{a} | {b}", "{a}"),
    "c": ("{a} + {b}", "{a} - {b}", "np.where({a} == {b}, {a}, -{c})", "np.conj({a}) + {b}", "{a}"),
    "b": ("{a} ^ {b}", "{a} | {b} & {c}", "np.where({a}, {b}, ~{c})", "~{a}", "{a}"),
}  # fmt: skip
"""One step of a sweep, by the kind of the dtype: of elements `a`, `b` and `c` and a number `n` of the step."""

_FORWARD = ("range(1, n)", "range(1, n)", "range(1, n, 2)", "range(1, min(n, abs(count)))", "range(1 + count % 2, n)")
_BACKWARD = ("range(n - 2, -1, -1)", "range(n - 2, -1, -1)", "range(n - 2, 0, -1)", "range(n - 2, -1, -2)",
             "reversed(range(0, n - 1))")  # fmt: skip
_INNER = ("range(1, n - 1)", "range(n - 2, 0, -1)", "range(1, min(n - 1, 4))", "range(1, n - 1, 3)")

SWEEPS: tuple[tuple[str, str], ...] = (
    ("sweep", "@v = {0}.copy()\nn = @v.shape[-1]\nfor j in @>:\n    @v[..., j] = @P(@v[j] @v[j-1] b[j] b[j-1])"),
    ("sweep", "@v = {0}.copy()\nn = len(@v)\nfor j in @>:\n    @v[j] += @Q(@v[j-1] b[j])\n    @v[j] @-= @Q(@v[j] b[j-1] b[j])"),
    ("sweep", "@v = np.zeros_like({0})\nn = @v.shape[-1]\nfor j in @>:\n    @v[..., j] = @P(@v[j] @v[j-1] b[j] b[j-1])"),
    ("sweep backward", "@v = {0}.copy()\nn = @v.shape[-1]\nfor j in @<:\n    @v[..., j] = @P(@v[j] @v[j+1] b[j] b[j+1])"),
    ("sweep backward", "@v = {0}.copy()\nn = len(@v)\nfor j in @<:\n    @v[j] = @Q(@v[j] @v[j+1] b[j])"),
    ("sweep backward", "@v = {0}.copy()\nn = len(@v)\nfor j in range(n - 1):\n    k = n - 2 - j\n"
     "    @v[k] = @Q(@v[k] @v[k+1] b[k])"),
    ("sweep of several arrays", "@v = {0}.copy()\nw = {0}[..., ::-1].copy()\nn = @v.shape[-1]\nfor j in @>:\n"
     "    w[..., j] = @P(@v[j-1] w[j-1] w[j] b[j])\n    @v[..., j] = @P(@v[j-1] w[j] @v[j] b[j-1])\n"
     "@v = np.where(w == w, @v, w)"),
    ("sweep of several arrays", "@v = {0}.copy()\nw = {0}.copy()\nn = len(@v)\nfor j in @>:\n"
     "    t = @Q(@v[j-1] w[j-1] b[j])\n"
     "    w[j] = t\n    @v[j] = @Q(w[j] @v[j])\nfor j in @<:\n    @v[j] = @Q(@v[j+1] w[j] @v[j])"),
    ("sweep of several arrays", "@v = np.zeros_like({0})\nw = {0}.copy()\nn = @v.shape[-1]\nfor j in @=:\n"
     "    @v[..., j] = @P(w[j-1] w[j+1] w[j])\n    w[..., j] = @P(@v[j] w[j-1])"),
    ("sweep in a time loop", "@v = {0}.copy()\nn = @v.shape[-1]\nfor i in range(@N):\n    for j in @>:\n"
     "        @v[..., j] = @P(@v[j] @v[j-1] b[j])\n    for j in @<:\n        @v[..., j] = @P(@v[j] @v[j+1] b[j])"),
    ("sweep in a time loop", "@v = {0}.copy()\nn = len(@v)\nfor i in range(@N):\n    @v[1:] += @v[:-1]\n"
     "    for j in @>:\n"
     "        @v[j] = @Q(@v[j] @v[j-1] b[j])"),
    ("sweep with a branch", "@v = {0}.copy()\nn = @v.shape[-1]\nfor j in @>:\n    if j % 2 == 0:\n"
     "        @v[..., j] = @P(@v[j] @v[j-1])\n    else:\n        @v[..., j] = @P(b[j] @v[j-1])"),
    ("sweep with a branch", "@v = {0}.copy()\nn = len(@v)\nfor j in range(n):\n    if j > 0 and @C:\n"
     "        @v[j] = @Q(@v[j] @v[j-1])"),
    ("sweep with a carried row", "@v = {0}.copy()\nn = len(@v)\nw = np.zeros_like(@v[0])\nfor j in range(n):\n"
     "    w = w + b_(j)\n"
     "    @v[j] = @Q(@v[j]) + w"),
    ("sweep with a carried row", "@v = {0}.copy()\nn = @v.shape[-1]\nw = @v[..., 0].copy()\nfor j in @>:\n"
     "    w = np.where(w == @v[..., j], w, @v[..., j])\n    @v[..., j] = w"),
)  # fmt: skip
"""Loops along an axis.  ``@P`` and ``@Q`` stand for an expression of some elements, by position on the last axis or the first;
``@>``, ``@<`` and ``@=`` for ranges up, down and without either end; ``b`` is a second array or a number."""

OTHERS: tuple[tuple[str, str, str, int], ...] = (
    # Ints of run time as positions and bounds of slices.
    ("position of run time", "@v = {0}[@O % len({0})]", "biufc", 1),
    ("position of run time", "@v = {0}[@O % len({0})] + {0}[-1 - abs(count) % len({0})]", "iufc", 1),
    ("position of run time", "k = @O % len({0})\n@v = {0}.copy()\n@v[k] = @v[-1]\n@v[len(@v) - 1 - k] = @v[0]", "biufc",
     1),
    ("position of run time", "@v = {0}.copy()\nk = @O % @v.shape[-1]\n@v[..., k] += 1\n@v[..., k:] *= 2", "iuf", 1),
    ("position of run time", "@v = {0}.copy()\nfor i in range(@N):\n    k = (i * 3 + count) % len(@v)\n"
     "    @v[k] = @v[k - 1]",
     "biufc", 1),
    ("position of run time", "@v = {0}[@O % {0}.shape[0], :, @O % {0}.shape[2]]", "biufc", 3),
    ("slice of run time", "@v = {0}[@O:]", "biufc", 1),
    ("slice of run time", "@v = {0}[..., :@O]", "biufc", 1),
    ("slice of run time", "@v = {0}[-@O:@O]", "biufc", 1),
    ("slice of run time", "@v = {0}[@O:][::-1]", "biufc", 1),
    ("slice of run time", "@v = {0}.copy()\n@v[@O:] = @v[0]\n@v[..., :@O] = 1", "biuf", 1),
    ("slice of run time", "@v = {0}.copy()\nk = abs(count) % (len(@v) + 1)\n@v[k:] = {0}[:len(@v) - k]", "biufc", 1),
    ("slice of run time", "k = abs(count) % (len({0}) + 1)\n@v = np.concatenate([{0}[k:], {0}[:k]])", "biufc", 1),
    ("slice of run time", "k = abs(count) % (len({0}) + 1)\n@v = {0}[k:].sum(axis=0, dtype={0}.dtype)", "iu", 1),
    ("slice of run time", "@v = {0}.copy()\nfor i in range(@N):\n    @v[i:] = @v[i:] + 1\n    @v[:i] -= 1", "if", 1),
    ("slice of run time", "@v = {0}.copy()\nfor i in range(1, len(@v)):\n    @v[i] = @v[:i].max(axis=0) + 0", "iuf", 1),
    ("step of run time", "@v = {0}[:: abs(count) % 4 + 1]", "biufc", 1),
    ("step of run time", "@v = {0}[@O :: -1 - abs(count) % 3]", "biufc", 1),
    ("step of run time", "k = @O % 5 - 5\n@v = {0}[..., @O:-@O:k][..., ::-1]", "biufc", 1),
    ("step of run time", "k = count % 3 + 1\n@v = {0}.copy()\n@v[::k] = @v[::k][::-1]\n@v[1::-k] = @v[-1]", "biufc", 1),
    ("step of run time", "@v = {0}.copy()\nfor i in range(1, @N):\n    @v[i::i] = @v[i::i] + 1\n    @v[..., ::-i] -= 1", "if",
     1),
    ("step of run time", "@v = np.zeros_like({0})\nk = abs(count) % 4 + 1\nfor i in range(k):\n"
     "    @v[i::k] = {0}[i::k].max(axis=0, initial=0)", "iu", 1),
    ("step of run time", "k = (count % 2 or -2) * 2\n@v = {0}[::k].sum(axis=0, dtype={0}.dtype)", "iu", 1),
    # Loops until something holds.
    ("while on floats", "@v = {0}\nt = 0.0\nwhile t < 1.0:\n    @v = @E\n    t += 0.25", "biufc", 0),
    ("while on floats", "@v = {0}\nt = factor\nk = 0\nwhile t > 0.2 and k < 7:\n    @v = @E\n    t = t / 2\n    k += 1",
     "biufc", 0),
    ("while True", "@v = {0}\nk = 0\nwhile True:\n    @v = @E\n    k += 1\n    if k >= @N or k > 8:\n        break",
     "biufc", 0),
    ("while True", "@v = {0}\nk = count\nwhile True:\n    if k <= 0 or k == 100:\n        break\n    @v = @E\n"
     "    k -= 2", "biufc", 0),
    ("while on computed data", "@v = {0}\nd = @v.max() + 0\nk = 0\nwhile d > 1 and k < 6:\n    @v = @v // 2\n"
     "    d = @v.max() + 0\n"
     "    k += 1", "iu", 1),
    ("while on computed data", "@v = {0}.copy()\nk = 0\nwhile k < 5:\n    w = @v.copy()\n"
     "    @v[1:] = np.minimum(@v[1:], @v[:-1])\n"
     "    k += 1\n    if (w == @v).all():\n        break\n@v = @v + k", "iu", 1),
    ("while on computed data", "@v = {0}.copy()\nk = 0\nwhile (@v > 3).any() and k < 4:\n    @v[@v > 3] -= 2\n"
     "    k += 1", "if", 1),
    # Python numbers and other objects that a loop leaves.
    ("int found in a loop", "def find(n):\n    for i in range(n):\n        if i * i > count:\n            return i\n"
     "    return -1\n@v = {0} + find(@N)", "if", 0),
    ("int found in a loop", "def find(a, n):\n    for i in range(n):\n        if a[i % len(a)].max() > i:\n"
     "            return i\n    return -1\n@v = {0} * find({0}, @N)", "if", 1),
    ("int found in a loop", "k = -1\nfor i in range(@N):\n    if @C and i > 1:\n        k = i\n        break\n"
     "else:\n    k = 7\n@v = {0} + k", "if", 0),
    ("None before a loop", "w = None\nfor i in range(max(@N, 1)):\n    w = {0} + i if w is None else w - {1}\n@v = w",
     "if", 0),
    ("None before a loop", "@v = {0}\nw = None\nfor i in range(max(@N, 1)):\n    if w is not None:\n"
     "        @v = @v + w\n    w = @E", "iufc", 0),
    ("first step of another dtype", "w = 0\nfor i in range(max(@N, 1)):\n    w = w + {0}\n@v = w", "iufc", 0),
    ("first step of another dtype", "t = 0\n@v = {0}\nwhile t < 1:\n    @v = @E\n    t += 0.25", "iufc", 0),
    ("parts of complex numbers", "@v = {0}.copy()\n@v.real += 1\n@v.imag[...] = @v.real", "c", 1),
    ("parts of complex numbers", "@v = {0}.copy()\nfor i in range(@N):\n    @v.imag *= 0.5\n    @v.real[1:] = @v.imag[:-1]",
     "c", 1),
    ("tuple of arrays as a key", "@v = {0}.copy()\nk = (@I,)\n@v[k] = {0}[0]", "biufc", 1),
    # Scatter.
    ("scatter", "@v = {0}.copy()\n@v[@I] = 1", "biufc", 1),
    ("scatter", "@v = {0}.copy()\n@v[@I] = @v", "biufc", 1),
    ("scatter", "@v = {0}.copy()\n@v[@I] += @v[::-1]", "iufc", 1),
    ("scatter", "@v = {0}.copy()\nm = np.argsort(np.arange(len(@v)) % 3, kind='stable')\n@v[m] = {0}", "biufc", 1),
    ("scatter", "@v = {0}.copy()\n@v[@I, np.arange(len(@v)) % @v.shape[1]] = 1", "biufc", 2),
    ("scatter with ufunc.at", "@v = {0}.ravel() + 0\nnp.@U.at(@v, @I, {0}.ravel())", "iuf", 1),
    ("scatter with ufunc.at", "@v = np.zeros(7, {0}.dtype)\nnp.@U.at(@v, np.arange({0}.size) % 5, {0}.ravel())", "iuf",
     1),
    ("scatter with ufunc.at", "@v = np.zeros(5)\nfor i in range(@N):\n"
     "    np.add.at(@v, np.arange({0}.size) % 5, {0}.ravel() * i)", "iuf", 1),
    ("scatter in a loop", "@v = {0}.copy()\nm = @I\nfor i in range(@N):\n    @v[m] = @v[::-1]", "biufc", 1),
    ("scatter in a loop", "@v = {0}.copy()\nm = @I\nfor i in range(@N):\n    @v[m] += i", "if", 1),
    ("gather in a loop", "@v = {0}\nm = @I\nfor i in range(@N):\n    @v = @v[m]", "biufc", 1),
    ("gather in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @v[(np.arange(len(@v)) + i) % len(@v)]", "biufc", 1),
    ("counts in a loop", "@v = np.zeros(8)\nfor i in range(@N):\n"
     "    @v = @v + np.bincount(({0}.ravel() + {0}.dtype.type(i & 1)) & 7, minlength=8)", "iu", 1),
    ("counts in a loop", "@v = np.zeros(4)\nfor i in range(@N):\n"
     "    @v += np.histogram({0}, bins=4, range=(-2, 6))[0] * i", "fiu", 1),
    # Branches in time loops.
    ("branch in a time loop", "@v = {0}.copy()\nfor i in range(@N):\n    if @C:\n        @v[1:] = @v[:-1]\n    else:\n"
     "        @v[:-1] = @v[1:]", "biufc", 1),
    ("branch in a time loop", "@v = {0}.copy()\nfor i in range(@N):\n    @v[1:-1] = @v[2:] - @v[:-2]\n"
     "    if i % 2 == 0:\n"
     "        @v[0] = @v[-1]\n    elif @C:\n        @v[-1] = 1", "iuf", 1),
    ("branch in a time loop", "@v = {0}.copy()\nw = @v[::-1].copy()\nfor i in range(@N):\n    if i % 2:\n"
     "        @v[1:] = w[:-1]\n    else:\n        w = np.roll(w, 1, axis=0)\n    w[1:] = @v[:-1]", "biufc", 1),
    ("branch in a time loop", "@v = {0}.copy()\nfor i in range(@N):\n    if @C:\n        continue\n"
     "    @v[1:] += @v[:-1]\n"
     "    if i > 2:\n        break", "iuf", 1),
    ("branch in a time loop", "@v = {0}.copy()\nfor i in range(@N):\n    if @v[0].max() > i:\n"
     "        @v[1:] = @v[:-1] - 1", "if", 2),
    # Containers in static loops.
    ("static loop", "@v = {0}\nfor s in (1, -2, 3):\n    @v = np.roll(@v, s, axis=0)\n    @v = @F", "biufc", 1),
    ("static loop", "@v = {0}\nfor k, w in enumerate([{1}, {0}, {1}]):\n    @v = @v + w * k", "iufc", 0),
    ("static loop", "@v = {0}\nfor a, (s, t) in zip([{0}, {1}], ((1, 2), (3, 4))):\n    @v = @v * s + a - t", "iuf", 0),
    ("static loop", "@v = {0}\nfor s in range(3):\n    for t in range(s):\n        @v = @v + s * t\n    @v = @F",
     "iufc", 0),
    ("static loop", "@v = {0}.copy()\nfor s in range(len(@v.shape)):\n    @v = np.moveaxis(@v, s, 0)\n"
     "    @v[1:] += @v[:-1]", "iufc", 1),
    ("list that grows", "parts = []\nfor s in range(3):\n    parts.append(@G)\n@v = np.stack(parts)", "biufc", 0),
    ("list that grows", "parts = [{0}]\nfor s in range(2):\n    parts.append(parts[-1] + s)\n"
     "@v = np.concatenate(parts)", "iufc", 1),
    ("list that grows at run time", "parts = []\nfor i in range(@N + 1):\n    parts.append({0} + i)\n@v = np.array(parts)",
     "iuf", 0),
    ("list that grows at run time", "parts = []\nfor i in range(@N + 1):\n    w = {0} * i\n    parts.append(w[::-1])\n"
     "@v = np.concatenate(parts)", "iuf", 1),
    ("list that grows", "@v = sum([{0} * s for s in (1, 2, 3)])", "iufc", 0),
    ("list that grows", "parts = dict(a={0}, b={1})\nparts['c'] = parts['a'] + parts['b']\n@v = {0} * 1\n"
     "for name in parts:\n    @v = @v + parts[name]", "iufc", 0),
    ("list item", "parts = [{0}, {0}]\nfor s in range(3):\n    parts[s % 2] = parts[s - 1] + s\n"
     "@v = parts[0] - parts[1]", "iufc", 0),
    ("list item", "a, *rest = [{0}, {1}, {0}]\nrest[0], a = a, rest[-1]\n@v = a + rest[0]", "iufc", 0),
    ("list gone over", "parts = [{0}, {0}, {0}]\n@v = {0}\nfor i, w in enumerate(parts):\n    if i < 2:\n        @v = w\n"
     "        parts[i + 1] = @F\n@v = parts[2]", "biufc", 0),
    # Containers in loops of run time and in branches.
    ("list in a loop", "@v = {0}\nparts = [{0}, {0}]\nfor i in range(@N):\n    @v = parts[0]\n"
     "    parts[0], parts[1] = parts[1], @E\n@v = parts[0]", "biufc", 0),
    ("list in a loop", "@v = {0}.copy()\nparts = [@v, {0}.copy()]\nfor i in range(@N):\n    parts[0][1:] = parts[1][:-1]\n"
     "    if @K:\n        parts[1] = parts[0] + parts[1]\n@v = parts[1]", "biufc", 1),
    ("dict in a loop", "@v = {0}\nparts = dict(a={0}, b={0})\nfor i in range(@N):\n    @v = parts['b']\n"
     "    parts['a'] = @E\n    if @K:\n        parts['b'] = parts['a']\n@v = parts['b']", "biufc", 0),
    ("dict in a loop", "@v = {0}\nparts = dict(a={0}, k=0)\nfor i in range(@N):\n    @v = parts['a']\n"
     "    parts = dict(a=@E, k=parts['k'] + 1)\n@v = parts['a'] + parts['k']", "iufc", 0),
    ("list made anew", "@v = {0}\nparts = [{0}, {0}]\nfor i in range(@N):\n    @v = parts[1]\n    parts = [@E, parts[0]]\n"
     "@v = parts[1]", "biufc", 0),
    ("list made anew", "@v = {0}\nparts = [{0}, {0}]\nif @C:\n    parts[0] = @F\nelse:\n    parts = [parts[1], @F]\n"
     "@v = parts[0]", "biufc", 0),
    ("list returned from a loop", "def part(@v, n):\n    for i in range(n):\n        if @K:\n            return [@E, i]\n"
     "        @v = @E\n    return [@v, n]\nw = part({0}, @N)\n@v = w[0] + w[1]", "if", 0),
    # Functions inside.
    ("helper", "def step(a, b):\n    return @H\n@v = step({0}, {1})\n@v = step(@v, {1})", "biufc", 0),
    ("helper", "def step(a, b={1}):\n    return @H\n@v = {0}\nfor i in range(@N):\n    @v = step(@v)", "biufc", 0),
    ("helper", "def one(a, b):\n    return @H\ndef two(a, b):\n    return one(b=b, a=one(a, b))\n@v = two({0}, {1})",
     "biufc", 0),
    ("helper", "step = lambda a, b: @H\n@v = {0}\nfor f in (step, lambda a, b: a):\n    @v = f(@v, {1})", "biufc", 0),
    ("helper", "def pair(a, b):\n    c = @H\n    return c, a\n@v, w = pair({0}, {1})\n@v = np.where(w == w, @v, w)",
     "biufc", 0),
    ("helper that changes", "def bump(a, s):\n    a[1:] = a[:-1]\n    a += s\n@v = {0}.copy()\nfor i in range(@N):\n"
     "    bump(@v, i)",
     "if", 1),
    ("helper that changes", "def border(a):\n    a[0] = a[-1]\n    a[..., -1] = a[..., 0]\n    return a\n"
     "@v = border({0}.copy())\n"
     "border(@v[::-1])", "biufc", 1),
    ("helper that changes", "total = {0}.copy()\ndef add(a):\n    total[...] = total + a\nfor i in range(@N):\n"
     "    add({0})\n@v = total",
     "iufc", 1),
    ("helper with early return", "def step(a, b):\n    if @C:\n        return @H\n    if count > 50:\n"
     "        return a\n    a = @H\n"
     "    return a\n@v = step({0}, {1})", "biufc", 0),
    ("helper with early return", "def step(a, b, n):\n    for i in range(n):\n        a = @H\n        if i == 2:\n"
     "            return a\n"
     "    return b + a\n@v = step({0}, {0}, @N)", "biufc", 0),
    ("helper with early return", "def step(a, b):\n    k = 0\n    while k < 4:\n        if (a > 3).all():\n"
     "            return a\n"
     "        a = @H\n        k += 1\n    return a\n@v = step({0}, {1})", "if", 1),
)  # fmt: skip
"""Lines by feature, with the kinds of dtypes and the fewest axes they are for."""

_OFFSETS = ("count", "count", "abs(count)", "(count // 2)", "(count - 1)", "(count % 3)", "2", "1", "min(count, 5)")
_HELPERS: dict[str, tuple[str, ...]] = {
    "f": ("a * 0.5 + b", "a - b", "np.where(a > b, a, b * 2)", "(a + b) / 2"),
    "i": ("a * 3 + b", "a ^ b", "np.where(a > b, a - 1, b)", "a - b"),
    "u": ("a * 3 + b", "a ^ b", "np.where(a > b, a, b)"),
    "c": ("a + b", "a - b", "np.where(a == b, a, -b)"),
    "b": ("a ^ b", "a | b", "np.where(b, a, ~a)"),
}
_AT = {"f": ("add", "subtract"), "i": ("add", "subtract", "maximum", "bitwise_xor"), "u": ("add", "maximum", "minimum",
"bitwise_or")}


def sweep_lines(text: str, kind: str, second: str, pick: random.Random) -> str:
    """The lines of a sweep with everything chosen but the condition, the numbers of steps and the names.

    Parameters
    ----------
    second : str
        What ``b`` is: ``{1}``, an array of the shape of the first operand, or a number.
    """
    ranges = {">": _FORWARD, "<": _BACKWARD, "=": _INNER}
    # A loop of no steps hides from NumPy that bools are not subtracted.
    text = text.replace("@-=", "^=" if kind == "b" else "-=")
    text = re.sub(r"@([<>=])", lambda m: pick.choice(ranges[m[1]]), text)

    def expression(m: re.Match[str]) -> str:
        # An element by its array and its position along the axis.
        found = re.findall(r"([@\w]+)\[([^\]]+)\]", m[2])
        written = [_element(name, at.replace("-", " - ").replace("+", " + "), m[1] == "P", second) for name, at in found]
        # Numbers alone would be another dtype.
        parts = {part: pick.choice([w for w in written if part != "a" or "[" in w]) for part in "abc"}
        return pick.choice(STEPS[kind]).format(n=pick.choice(("j", "count", "1", "2")), **parts)

    text = re.sub(r"@([PQ])\(([^()]*)\)", expression, text)
    return re.sub(r"b_\((\w+)\)", lambda m: _element("b", m[1], False, second), text)


def _element(name: str, at: str, last: bool, second: str) -> str:
    if name == "b":
        name = second if second.startswith("{") else ""
    if not name:
        return f"({second})"
    return f"{name}[..., {at}]" if last else f"{name}[{at}]"


def choices(kind: str) -> dict[str, tuple[str, ...]]:
    """What stands for the letters of lines in :data:`OTHERS`, by the kind of the dtype."""
    return {"O": _OFFSETS, "H": _HELPERS[kind], "U": _AT.get(kind, ("add",))}


SCALAR_CALLS: tuple[tuple[str, str], ...] = (
    ("function of scalars", "@v = @S({0}, {1})"),
    ("function of scalars", "@v = @S({0}, {1})\n@v = @S(@v, {0})"),
    ("function of scalars in a loop", "@v = {0}\nfor i in range(3):\n    @v = @S(@v, {1})"),
)
"""Calls of a function of scalars, which stands before the program."""


__all__ = ["OTHERS", "SCALAR_CALLS", "STEPS", "SWEEPS", "choices", "sweep_lines"]

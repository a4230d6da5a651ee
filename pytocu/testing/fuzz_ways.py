"""Lines of random programs whose answer depends on the way that is taken: numbers of two kinds, and errors.

A name may be a Python number on one way and a NumPy scalar on another, with uses that give the same for both, and is
returned as it is.  What raises stands in a side of a branch, a step of a loop or a function, which a run may come to or not.
"""

from __future__ import annotations

ERRORS = ("error in a side", "error in a loop", "error in a function", "error on every way")
"""Features of lines that may raise; where they do, the program ends."""

RETURNED = "number of two kinds returned"
"""The feature of lines that bind a number which may be Python's: it is returned, and nothing is computed of it."""

WAYS: tuple[tuple[str, str, str, int], ...] = (
    ("number of two kinds", "m = @Y if @C else @Z\n@v = @W", "biufc", 1),
    ("number of two kinds", "m = @Z if @D else @Y\n@v = @W\n@v[...] = m", "iuf", 1),
    ("number of two kinds", "m = @Z\nif @C:\n    m = @Y\n@v = @W", "biufc", 1),
    ("number of two kinds", "m = @Z\nif @C:\n    if @C:\n        m = @Y\n    else:\n        m = @Z\n@v = @W", "biufc", 1),
    ("number of two kinds", "def part(a):\n    if @C:\n        return @Y\n    return @Z\nm = part({0})\n@v = @W", "biufc", 1),
    ("number of two kinds", "m = max(@Y, @Z)\n@v = @W", "iuf", 1),
    ("number of two kinds", "m = @Y if @C else @Z\nm = min(m, @Z)\n@v = @W", "iuf", 1),
    ("number of two kinds", "m = @Y if @C else @Z\n@v = {0}.copy()\n@v[@M] = m\n@v[0] = m", "biufc", 1),
    ("number of two kinds", "m = @Y if @C else @Z\nn = @Z if @C else @Y\n@v = @W\nm = n\n@v = @v ^ (@W)", "biu", 1),
    ("number of two kinds", "m = np.add(@Y if @C else @Z, {0}.ravel()[:1])\n@v = @W", "iuf", 1),
    ("number of two kinds in a loop", "m = @Z\nfor i in range(@T):\n    m = @Y\n@v = @W", "biufc", 1),
    ("number of two kinds in a loop", "m = @Z\nfor i in range(@T):\n    if @K:\n        m = @Y\n@v = @W", "biufc", 1),
    ("number of two kinds in a loop", "m = @Y\nfor i in range(@T):\n    m = @Z\n@v = @W", "biufc", 1),
    ("number of two kinds in a loop", "@v = {0}\nfor i in range(@T):\n    m = @Y if @K else @Z\n"
     "    @v = np.where(@v > m, @v, m)", "iuf", 1),
    ("number of two kinds in a loop", "m = @Z\nk = @T\nwhile k > 0:\n    m = @Y\n    k -= 2\n@v = @W", "biufc", 1),
    ("number of two kinds in a loop", "w = {0}.ravel()\n@v = np.empty_like(w)\nm = w.dtype.type(0)\nfor i in range(len(w)):\n"
     "    if w[i] < 0:\n        m = 0.0\n    m = m * 0.5 + (w[i] if w[i] > 0 else 0.0)\n    @v[i] = m", "f", 1),
    (RETURNED, "@v = @Y if @C else @Z", "biufc", 1),
    (RETURNED, "@v = @Z\nif @D:\n    @v = @Y", "iuf", 1),
    (RETURNED, "def part(a):\n    if @C:\n        return @Z\n    return @Y\n@v = part({0})", "biufc", 1),
    (RETURNED, "@v = @Z\nfor i in range(@T):\n    if @K:\n        @v = @Y", "biufc", 1),
    (RETURNED, "@v = max(@Y, @Z)", "iuf", 1),
    ("error in a side", "@v = {0}\nif @C:\n    @v = @X\nelse:\n    @v = @E", "biufc", 0),
    ("error in a side", "@v = {0}\nif @C:\n    @v = @E\n    @v = @X\n@v = @F", "biufc", 0),
    ("error in a side", "@v = {0}\nif @C:\n    if @C:\n        @v = @X\n    @v = @E\nelif @C:\n    @v = @F", "biufc", 0),
    ("error in a side", "@v = {0}\n@v = (@X) if @C else (@E)", "biufc", 0),
    ("error in a side", "@v = {0}\nif @C and np.any(@X):\n    @v = @E", "biufc", 0),
    ("error in a side", "@v = {0}\nif @D:\n    @v = @X\n@v = @F", "iuf", 1),
    ("error in a side", "@v = {0}.copy()\nif @C:\n    @v[...] = @X\n    @v += 1", "biufc", 1),
    ("error in a side", "@v = {0}\nif @C:\n    @R\n@v = @F", "biufc", 0),
    ("error in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @X\n@v = @F", "biufc", 0),
    ("error in a loop", "@v = {0}\nfor i in range(@N):\n    if @K:\n        @v = @X\n    @v = @E", "biufc", 0),
    ("error in a loop", "@v = {0}\nfor i in range(@N):\n    if @K:\n        break\n    @v = @E\n    if i == 3:\n"
     "        @v = @X", "biufc", 0),
    ("error in a loop", "@v = {0}\nk = @N\nwhile k > 3:\n    @v = @X\n    k -= 1\n@v = @F", "biufc", 0),
    ("error in a loop", "@v = {0}\nk = @N\nwhile k > 0:\n    k -= 2\n    if @C:\n        @R\n    @v = @F", "biufc", 0),
    ("error in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @E\n    for j in range(i):\n        @v = @X", "biufc", 0),
    ("error in a loop", "@v = {0}\nfor i in range(@N):\n    @v = @E\n    if i > 20:\n        @R\nelse:\n"
     "    @v = @F", "biufc", 0),
    ("error in a function", "def part(@v):\n    if @C:\n        return @X\n    return @F\n@v = part({0})", "biufc", 0),
    ("error in a function", "def part(@v, n):\n    for i in range(n):\n        if @K:\n            return @E\n"
     "        if i == 2:\n            @R\n    return @v\n@v = part({0}, @N)", "biufc", 0),
    ("error in a function", "def part(@v):\n    if @C:\n        return @E\n    return @X\n@v = {0}\nif @C:\n"
     "    @v = part(@v)", "biufc", 0),
    ("error on every way", "@v = {0}\nif @C:\n    @v = @X\nelif @C:\n    @v = @E\nelse:\n    @v = @X", "biufc", 0),
    ("error on every way", "@v = {0}\nif @C:\n    @v = @X\nelif @C:\n    @R\n@v = @F", "biufc", 0),
    ("error on every way", "@v = {0}\nfor i in range(@N):\n    if @K:\n        @v = @X\n    elif @C:\n        @v = @X\n"
     "    else:\n        @v = @E", "biufc", 0),
)  # fmt: skip
"""Lines by feature, with the kinds of dtypes and the fewest axes they are for.

``@Y`` is a NumPy scalar of the dtype, ``@Z`` a Python number that the dtype holds, ``@W`` an array of ``{0}`` and ``m``,
``@T`` a number of steps, ``@D`` a condition on elements, ``@X`` an expression that NumPy or Python refuses whatever the data
are, ``@R`` a statement that raises."""

_REFUSED = (
    "@v.nothing", "np.matmul(np.zeros(3), np.zeros(4))", "@v.astype(bool) - True", "@v.sum(axis=9)", "@v + np.uint8(300)",
    "@v + 1 // 0",
    "{0}[0, 0, 0, 0, 0]", "np.left_shift(@v, 0.5)", "np.add({0}, 0.5, out=np.zeros(3, int))", "np.arange(3) + np.arange(4)",
    "[@v, @v][5]", "@v + math.sqrt(-1)", "@v + len(5)", "np.concatenate([])", "np.zeros((2, 3)).reshape(4)",
    "np.linalg.inv(np.zeros(3))", "np.stack([np.zeros(2), np.zeros(3)])", "@v + nothing", "np.array([1, 2])[7]",
    "np.expand_dims(@v, 9)", "np.zeros(2).transpose(1, 0)", "np.broadcast_to(np.zeros(3), (4,))",
)  # fmt: skip
_RAISING = ("raise ValueError('a value')", "raise KeyError('a key')", "assert count > 1000, 'few'",
            "raise ArithmeticError('one')", "raise IndexError(f'no {{count}}')")  # fmt: skip

_STRONG: dict[str, tuple[str, ...]] = {
    "f": ("({0}.max() + 0)", "{0}.dtype.type(2)", "{0}.ravel()[0]", "{0}.dtype.type(-0.5)"),
    "i": ("{0}.max()", "{0}.dtype.type(3)", "{0}.ravel()[0]", "{0}.sum(dtype={0}.dtype)"),
    "u": ("{0}.max()", "{0}.dtype.type(3)", "{0}.ravel()[0]", "{0}.sum(dtype={0}.dtype)"),
    "c": ("{0}.dtype.type(2)", "{0}.ravel()[0]"),
    "b": ("{0}.any()", "{0}.ravel()[0]", "np.True_"),
}
_WEAK = {"f": ("0.5", "2.0", "0.0", "3", "-1.0"), "i": ("3", "0", "-1", "7"), "u": ("3", "0", "7"), "c": ("0.5", "2", "1j"),
         "b": ("True", "False")}  # fmt: skip
_USES: dict[str, tuple[str, ...]] = {
    "f": ("{0} * m", "{0} + m", "m - {0}", "np.maximum({0}, m) + 0", "np.where({0} > m, {0}, m)", "np.full_like({0}, m) + {0}",
          "np.clip({0}, -4, m) + 0", "{0} / m"),
    "i": ("{0} * m", "{0} + m", "m - {0}", "np.maximum({0}, m)", "np.where({0} > m, {0}, m)", "{0} ^ m", "np.minimum(m, {0})"),
    "u": ("{0} * m", "{0} + m", "np.maximum({0}, m)", "np.where({0} > m, {0}, m)", "{0} ^ m", "{0} | m"),
    "c": ("{0} + m", "m - {0}", "np.where({0} == m, {0}, m)"),
    "b": ("{0} ^ m", "{0} | m", "np.where({0}, m, {0})", "np.logical_xor({0}, m)"),
}
_DATA = ("{0}.ravel()[0] > 0", "{0}.max() > 3", "({0} == {0}).all()")


def ways(kind: str) -> dict[str, tuple[str, ...]]:
    """What stands for the letters of :data:`WAYS`, by the kind of the dtype."""
    # Behind a loop without a step it is known in a run only that the name is Python's, which is refused.
    steps = ("3", "2", "3", "abs(count) + 1", "max(count, 2)", "count")
    return {"T": steps, "X": _REFUSED, "R": _RAISING, "Y": _STRONG[kind], "Z": _WEAK[kind], "W": _USES[kind], "D": _DATA}


__all__ = ["ERRORS", "RETURNED", "WAYS", "ways"]

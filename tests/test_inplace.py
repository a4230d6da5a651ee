"""In-place changes: NumPy's contents, objects and errors, and no kernel more than needed."""

from __future__ import annotations

import linecache
import pickle
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import CompileError, ShapeError, UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare
from pytocu.testing.inplace_programs import MEMORY, inplace_arguments


def made(body: str, parameters: str = "a, b, c, k", name: str = "changed") -> Any:
    """A function of these statements."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f"def {name}({parameters}):\n{lines}"
    file = f"<in place {source}>"
    linecache.cache[file] = (0, None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "helper": helper}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


def helper(x, amount):
    x += amount
    return x[1:]


STATEMENTS = (
    "a += b",
    "a -= b\na *= 2",
    "a[...] = b * c\nreturn a",
    "a[:] = 3\nreturn a[0]",
    "a[1:-1] = b[1:-1] + c[2:]",
    "a[:, 0] = a[:, 1]",
    "a[0] = a[1]\na[-1] = a[0]",
    "a[1:-1, 1:-1] = (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])",
    "a[1:-1] += b[1:-1]",
    "a[1:] += a[:-1]",
    "a[::-1] = a + 0",
    "a[...] = a[::-1]",
    "a[::2, 1:] = b[::2, 1:]\nreturn a[::2]",
    "a[2, 3] = b[0, 1]\na[0, 0] += 1\nreturn a[2, 3]",
    "a.T[1:] = b.T[1:] * 2",
    "a[None, ..., None] += b[None, ..., None]",
    "a -= a[0]\na += a[:, 1:2]",
    "a += a[0, 0]\nreturn a[0, 0]",
    "y = a\ny += 1\nreturn y, a",
    "z = a[1:]\nz += 1\nw = z[:, ::2]\nw *= b[1:, ::2]\nreturn a, z, w",
    "t = a + 1\na += 1\nreturn t",
    "t = a + 1\na[0] = 5\nreturn t * a",
    "t = a.copy()\na[...] = b\nb[...] = t",
    "t = a[1]\ns = a[1, 1]\na[1] = 7\nreturn t * 1, s, t",
    "np.add(a, b, out=c)\nreturn c",
    "np.multiply(a, b, c)\nnp.subtract(c, 1, out=(c,))\nreturn c[::-1]",
    "np.add(a[0], b, out=c)",
    "np.add(a, 1, out=c, where=b > 3)",
    "r = np.add(a, b, out=None)\nr += c\nreturn r",
    "np.clip(a, 2, b, out=c)\na.clip(0, 5, a)\nnp.clip(b, None, 4, out=b)",
    "np.copyto(a, b)\nnp.copyto(c, b[0], where=c > b)\nreturn c",
    "np.copyto(a[1:], b[1:], casting='unsafe', where=a[1:] > k)",
    "a.fill(k)\nb[1:].fill(2)\nc.T[0].fill(a[0, 0])",
    "t = np.where(a > b, a, b)\nt[0] = c[0]\nu = t[1:]\nu *= 2\nt[-1] = t[0] + 1\nreturn t, u",
    "t = a * 2\nt += b\nt *= c\nreturn t",
    "t = a * 2\nu = t\nu[1:-1] = 0\nt[0] = u[2]\nreturn u, a",
    "x, y = a, b\nfor _ in range(3):\n    y[1:-1] = x[2:] + x[:-2]\n    x, y = y, x\nreturn x",
    "v = helper(a, b)\nhelper(x=v, amount=1)\nreturn v",
    "d = {'first': a, 'rest': [b, c]}\nd['first'] += 1\nd['rest'][1][0] = d['rest'][0][1]\nreturn d['rest'][1]",
    "for i in range(3):\n    row = a[i]\n    row += b[0]\nreturn row",
    "a[0] = 1\na *= 2\na[1] = 3\na += b\na[2:4] = a[0]\nreturn a",
    "a[...] = b\na[0] = c[1]\nb[0] = a[1]\nreturn a, b",
    "a[...] = k\nb[...] = True\nc[...] = 2.0",
    "a //= 2\nb %= 3\nc[1:] = -c[1:]" ,
    "s = a[0, 0]\ns += 1\nb[0] = s\nreturn s",
    "a[:, 1:][1:, ::2][0] = b[0, 1::2]",
    "a[0, ...] = c[...][1]\na[..., 0] = 1\na[()] += 1",
    "a[5:] = b[5:]\na[:0] = 9\na[3:1] = k",
    "t = a[1]\nu = t[2, None]\nu[...] = 7\na[0, 1, None] += b[2, None, 1]",
    "d = np.einsum('ii->i', a[:3, :3])\nd += b[0, :3]\nreturn d",
    "np.einsum('iji->ij', a[:2, None, :2])[:, 0] = k\na[0] += 1",
)  # fmt: skip


def compute(function: Any, make: Any) -> Any:
    """Results and memory behind a call."""
    block, arguments = make()
    with np.errstate(all="ignore"):
        results = function(*arguments)
    flat = results if isinstance(results, tuple) else (results,)
    kinds = [[r is a for a in arguments] + [isinstance(r, np.ndarray) and np.shares_memory(r, block)] for r in flat]
    return results, (block, arguments), kinds


@pytest.mark.parametrize("body", STATEMENTS)
def test_as_numpy(body: str) -> None:
    function = made(body)
    compiled = pytocu.jit(function)
    for number, memory in enumerate(MEMORY):
        for dtype in ("i4", "f8") if number else ("i4", "f4", "i8", "u1"):

            def make(dtype: str = dtype, memory: str = memory) -> Any:
                return inplace_arguments({"n": 5, "m": 5}, dtype, memory)

            results, after, kinds = compute(function, make)
            for _ in range(2):
                actual, memory_after, found = compute(compiled, make)
                compare((actual, *memory_after), (results, *after))
                assert found == kinds
    _, arguments = inplace_arguments({"n": 5, "m": 5}, "i4", "apart")
    low = pytocu.jit(function).lower(*arguments)
    results, after, _ = compute(function, lambda: inplace_arguments({"n": 5, "m": 5}, "i4", "apart"))
    for record in low.history("cuda").records:
        block, arguments = inplace_arguments({"n": 5, "m": 5}, "i4", "apart")
        found = interp.arrange(low.function.body.terminator.attr("tree"), interp.run(record.function, arguments))
        compare((found, block, arguments), (results, *after))


def double(x):
    x *= 2
    return x


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
@pytest.mark.parametrize("source", ["?", "i1", "i4", "i8", "u1", "u8", "f4", "f8"])
def test_casts(dtype: str, source: str) -> None:
    """Assignment casts as astype does; augmented assignment and out= by same_kind or with NumPy's exception."""
    for body in ("a[...] = b", "a[1:] = b[:-1]", "a += b", "np.add(b, b, out=a)", "np.multiply(b, 1, out=a)", "np.copyto(a, b)",
                 "np.less(b, b, out=a)", "a[2] = b[1]"):  # fmt: skip
        function = made(body, "a, b")
        expected = [np.arange(2, 6).astype(dtype), np.arange(4).astype(source)]
        actual = [e.copy() for e in expected]
        try:
            function(*expected)
        except TypeError as error:
            with pytest.raises(TypeError) as caught:
                pytocu.jit(function)(*actual)
            assert caught.value.args[0] == str(error), body
            assert isinstance(caught.value, type(error)) or type(error).__module__ == "builtins"
        else:
            pytocu.jit(function)(*actual)
        compare(actual, expected)


A, B = np.arange(6.0).reshape(2, 3), np.arange(6, dtype="i4").reshape(2, 3)


def read_only() -> np.ndarray:
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


ERRORS: tuple[tuple[str, Any], ...] = (
    ("a[...] = b", lambda: (np.zeros(3), np.ones(2))),
    ("a[1:] = b", lambda: (np.zeros(3), np.ones(3))),
    ("a[...] = b", lambda: (np.zeros(3), np.ones((2, 3)))),
    ("a[...] = b", lambda: (np.zeros(1), np.ones(3))),
    ("a[...] = b", lambda: (np.zeros(()), np.ones(3))),
    ("a[0] = b", lambda: (np.zeros(3), np.ones(1))),
    ("a[0, ...] = b", lambda: (np.zeros(3), np.ones(2))),
    ("a += b", lambda: (np.zeros(2), np.ones(3))),
    ("a += b", lambda: (np.zeros(1), np.ones(3))),
    ("a += b", lambda: (np.zeros(()), np.ones(3))),
    ("a += b", lambda: (np.zeros(3), np.ones((1, 3)))),
    ("a += 1.5", lambda: (B.copy(), 0)),
    ("a /= 2", lambda: (B.copy(), 0)),
    ("a += 300", lambda: (np.zeros(2, "u1"), 0)),
    ("a += b", lambda: (np.zeros(2, "u1"), 300)),
    ("a[...] = 300", lambda: (np.zeros(2, "u1"), 0)),
    ("a[...] = b", lambda: (np.zeros(2, "u1"), 300)),
    ("a[...] = -1", lambda: (np.zeros(2, "u8"), 0)),
    ("a[0] = b", lambda: (np.zeros(2, "i1"), -129)),
    ("a[...] = 300.5", lambda: (np.zeros(2, "i1"), 0)),
    ("a[...] = b", lambda: (np.zeros(2, "i4"), float("nan"))),
    ("a[...] = np.inf", lambda: (np.zeros(2, "i4"), 0)),
    ("a.fill(b)", lambda: (np.zeros(2, "i1"), 1000)),
    ("a.fill(b)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, b, out=a)", lambda: (np.zeros(2), np.ones(3))),
    ("np.add(b, b, out=a)", lambda: (np.zeros(1), np.ones(3))),
    ("np.add(b, b[:2], out=a)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, 1, out=a)", lambda: (np.zeros(3, int), np.ones(3))),
    ("np.add(b, 1, out=a, where=b[:2] > 0)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, 1, out=a, where=b)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, 1, out=3)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, 1, a, out=a)", lambda: (np.zeros(3), np.ones(3))),
    ("np.add(b, 1, out=(a, a))", lambda: (np.zeros(3), np.ones(3))),
    ("np.clip(b, 0, 1, out=a)", lambda: (np.zeros(2), np.ones(3))),
    ("np.clip(b, 0, 1, out=a)", lambda: (np.zeros(3, int), np.ones(3))),
    ("np.copyto(a, b)", lambda: (np.zeros(3, int), np.ones(3))),
    ("np.copyto(a, 2.5)", lambda: (np.zeros(3, int), 0)),
    ("np.copyto(a, b)", lambda: (np.zeros(3, int), 2.5)),
    ("np.copyto(a, b)", lambda: (np.zeros(3), 2.5j)),
    ("a[...] = b", lambda: (np.zeros(3), 2.5j)),
    ("a[0] = b", lambda: (np.zeros(3, int), 2.5j)),
    ("a.fill(b)", lambda: (np.zeros(3, np.float16), 2.5j)),
    ("np.copyto(a, b)", lambda: (np.zeros(3), np.ones(2))),
    ("a[1:] = b[1:]", lambda: (np.zeros(4), np.ones((2, 1, 4)))),
    ("a[1:] = b[1:]", lambda: (np.zeros((3, 3)), np.ones((2, 1, 2)))),
    ("np.copyto(a[1:], b[:-1])", lambda: (np.zeros(4), np.ones((2, 4)))),
    ("np.copyto(a, 1.0, where=b > 0)", lambda: (np.zeros(3), np.ones(2))),
    ("np.copyto(a, 1.0, where=b)", lambda: (np.zeros(3), np.ones(3, int))),
    ("np.copyto([1], a)", lambda: (np.zeros(3), 0)),
    ("np.copyto(a, b, casting='odd')", lambda: (np.zeros(3), np.ones(3))),
    ("a[...] = 1", lambda: (read_only(), 0)),
    ("a[0] = b", lambda: (read_only(), 2.0)),
    ("a += 1", lambda: (read_only(), 0)),
    ("np.add(b, b, out=a)", lambda: (read_only(), np.ones(3))),
    ("np.copyto(a, b)", lambda: (read_only(), np.ones(3))),
    ("a.fill(1)", lambda: (read_only(), 0)),
    ("v = a[1:]\nv *= 2", lambda: (read_only(), 0)),
    ("a[3] = 1", lambda: (np.zeros(3), 0)),
    ("a[0, 0] = 1", lambda: (np.zeros(3), 0)),
    ("b[0] = 1", lambda: (np.zeros(3), 2.0)),
    ("c = b.sum()\nc[...] += 2", lambda: (0, np.ones(3))),
    ("c = a * 1\nc[None] += 2", lambda: (np.array(3.0), 0)),
    ("c = np.float64(3)\nc[...] += 2", lambda: (0, 0)),
    ("c = (b * 1,)\nc[0] += 2", lambda: (0, np.ones(3))),
    ("a **= -1", lambda: (B.copy(), 0)),
    ("a -= True", lambda: (np.zeros(2, bool), 0)),
)


@pytest.mark.parametrize(("body", "make"), ERRORS, ids=[f"{n} {e[0]}" for n, e in enumerate(ERRORS)])
def test_errors(body: str, make: Any) -> None:
    """NumPy's sentence and exception, the user's line, and nothing written (also by the statement before)."""
    function = made(body, "a, b")
    with pytest.raises(Exception) as expected:
        function(*make())
    compiled = pytocu.jit(function)
    for _ in range(2):
        arguments = make()
        before = [np.array(a) for a in arguments]
        with pytest.raises(CompileError) as caught:
            compiled(*arguments)
        assert caught.value.message == str(expected.value)
        assert isinstance(caught.value, expected.type) or expected.type.__module__.startswith("numpy")
        assert caught.value.loc is not None and caught.value.loc.line == body.count("\n") + 2
        compare([np.array(a) for a in arguments], before)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_nothing_is_written_before_a_later_statement_fails() -> None:
    compiled = pytocu.jit(made("a[...] = 7\na[1:] = b", "a, b"))
    a = np.zeros(3)
    with pytest.raises(ShapeError, match=r"could not broadcast input array from shape \(3,\) into shape \(2,\)"):
        compiled(a, np.ones(3))
    assert (a == 0).all()


def test_errors_in_inlined_functions_name_both_lines() -> None:
    with pytest.raises(ShapeError, match="operands could not be broadcast") as caught:
        pytocu.jit(made("return helper(a, b)", "a, b"))(np.zeros(2), np.ones(3))
    loc = caught.value.loc
    assert loc is not None and loc.function == "helper" and loc.caller is not None and loc.caller.function == "changed"


def test_refused_by_name() -> None:
    for body, said in (
        ("a[0, True] = 1", "one bool beside integers or arrays"),
        ("np.add(a, 1, where=a > 0)", "where= and no out="),
        ("a.T += 1", "changes an attribute"),
        ("a.resize(3)", "in-place changes are"),
    ):
        with pytest.raises(UnsupportedError, match=said):
            pytocu.jit(made(body, "a, b"))(np.zeros(3), 1)


def test_repeated_elements_are_not_written() -> None:
    base = np.zeros(3)
    repeated = np.lib.stride_tricks.as_strided(base, (4, 3), (0, 8))
    compiled = pytocu.jit(made("a += 1", "a"))
    for _ in range(2):
        with pytest.raises(ShapeError, match="several of its elements share memory"):
            compiled(repeated)
    compiled(np.zeros((4, 6))[:, ::2])
    with pytest.raises(ShapeError, match="several of its elements share memory"):
        compiled(np.lib.stride_tricks.as_strided(np.zeros(8), (5, 3), (0, 16)))
    assert (base == 0).all()


def test_memory_of_two_dtypes_is_refused() -> None:
    x = np.zeros(4, "f4")
    with pytest.raises(UnsupportedError, match="argument a is written, and shares memory with argument b of another dtype"):
        pytocu.jit(made("a += b", "a, b"))(x, x.view("i4"))


# How many kernels, and what they do.

COUNTS: tuple[tuple[str, int, int], ...] = (
    ("c[...] = a * b + c\nreturn c", 1, 0),
    ("a += b\na *= 2\nreturn a", 1, 0),
    ("a[1:-1] += b[1:-1]", 1, 0),
    ("a[:, 0] = a[:, 1]", 1, 0),
    ("a[0] = 0\na[-1] = 0", 1, 0),
    ("np.add(a, b, out=a)\nnp.copyto(c, a, where=b > 0)", 1, 0),
    ("t = a + 1\na += 1\nreturn t", 1, 1),
    ("t = a.copy()\na[...] = b\nb[...] = t", 1, 0),
    ("t = a * 2\nt += b\nreturn t", 1, 1),
    ("a[...] = a[::-1]", 2, 1),
    ("a[1:-1] = a[2:] + a[:-2]", 2, 1),
    ("a -= a[0]", 2, 1),
    ("t = a + 1\na[0] = 5\nreturn t * a", 3, 2),
    ("b[1:-1] = a[2:] + a[:-2]\na[1:-1] = b[2:] + b[:-2]", 2, 0),
)


@pytest.mark.parametrize(("body", "kernels", "allocations"), COUNTS, ids=[c[0] for c in COUNTS])
def test_kernels(body: str, kernels: int, allocations: int) -> None:
    compiled = pytocu.jit(made(body)).lower("f32[n, m]", "f32[n, m]", "f32[n, m]", "weak int").compile("cuda:sm_90")
    assert len(compiled.kernels) == kernels
    assert sum(step[0] == "allocate" for step in compiled.plan.steps) == allocations
    if kernels > 1:
        # The first one that is no copy has no earlier one that it could be part of.
        told = compiled.kernels
        first = next(k for k in told if "_copy" not in k.name)
        assert all(k.why for k in told if k is not first)


def test_reads_and_writes_of_a_kernel() -> None:
    (kernel,) = pytocu.jit(made("a += b\nreturn a")).lower("f32[n]", "f32[n]", "f32[n]", "weak int").kernels
    assert kernel.reads == ("a: f32[n]", "b: f32[n]")
    assert kernel.writes == ("a: f32[n]",)


# Which arguments share memory is found out at each call.


def test_specializations_by_memory() -> None:
    compiled = pytocu.jit(made("c[...] = a[::-1] + b\nreturn c", "a, b, c"))
    block = np.arange(40.0)

    def fresh(*slices: slice) -> list[np.ndarray]:
        copy = block.copy()
        return [copy[s] for s in slices]

    apart = (slice(0, 8), slice(8, 16), slice(16, 24))
    overlap = (slice(0, 8), slice(8, 16), slice(3, 11))
    touching = (slice(3, 11), slice(20, 28), slice(11, 19))
    for slices in (apart, overlap, apart, touching, overlap):
        x, y, z = fresh(*slices)
        assert (compiled(x, y, z) == block[slices[0]][::-1] + block[slices[1]]).all()
    for _ in range(2):
        x, y, _ = fresh(*apart)
        assert compiled(x, y, x) is x
        assert (x == block[:8][::-1] + block[8:16]).all()
    facts = [s.facts for s in compiled.specializations]
    assert len(facts) == 3
    assert any("a and c are the same array" in f for f in facts)
    assert any("a and b and c overlap" in f for f in facts)


def test_compiled_code_refuses_other_memory() -> None:
    compiled = pytocu.jit(made("a += b", "a, b")).lower("f64[n]", "f64[n]").compile("cpu")
    x = np.ones(3)
    compiled(x, np.ones(3))
    with pytest.raises(pytocu.BackendError, match="memory"):
        compiled(x, x)
    assert (x == 2).all()


def test_arrays_that_become_read_only() -> None:
    """The flag is no part of a signature."""
    compiled = pytocu.jit(double)
    x = np.ones(3)
    compiled(x)
    compiled(x)
    x.flags.writeable = False
    with pytest.raises(ShapeError, match="output array is read-only"):
        compiled(x)
    x.flags.writeable = True
    assert (compiled(x) == 8).all()


def test_empty_arrays_and_unit_lengths() -> None:
    function = made("a[1:] += b[:-1]\na[...] *= 2\nreturn a[::2]", "a, b")
    compiled = pytocu.jit(function)
    for n in (0, 1, 2, 3, 1, 0, 5):
        expected, actual = ([np.arange(n, dtype="f4"), np.ones(n, "f4")] for _ in range(2))
        compare((compiled(*actual), *actual), (function(*expected), *expected))


def test_means_of_columns_of_arguments_in_one_memory() -> None:
    function = made("a -= b.mean(0)\nb /= 2\nreturn a", "a, b")
    given, wanted = np.arange(16.0).reshape(4, 4), np.arange(16.0).reshape(4, 4)
    compare(pytocu.jit(function)(given, given.T), function(wanted, wanted.T))
    compare(given, wanted)


def subtracts_the_first(x):
    first = x[:1]
    x -= first
    return first, x


def subtracts_what_it_writes(x):
    out = x[1:6]
    np.subtract(x[2:7], out, out=out)
    return out


def adds_where(x):
    out = x[2:7]
    np.add(x[:5], 1, out=out, where=x[:5] > 0)
    return out


def keeps_what_was_there(x):
    first = x[:1]
    before = first + 0
    x *= first
    return first, before


@pytest.mark.parametrize("function", [subtracts_the_first, subtracts_what_it_writes, adds_where, keeps_what_was_there])
def test_a_returned_view_shows_what_its_memory_holds_at_the_end(function) -> None:
    given, expected = np.arange(3.0, 15), np.arange(3.0, 15)
    found, wanted = pytocu.jit(function)(given), function(expected)
    compare(found, wanted)
    compare(given, expected)
    assert np.shares_memory(found[0] if isinstance(found, tuple) else found, given)


def chosen_rows(a, b, c):
    a[b] += c
    return a


def chosen_columns(a, b, c):
    a[..., None, -2:, b] *= c
    return a


def test_lengths_of_a_run_are_said_of_what_has_more_axes() -> None:
    a, b = np.zeros((4, 3, 2)), np.array([True, False, True, False])
    for shape in ((2, 1, 3, 2), (1, 2, 3, 2), (2, 1, 5, 2)):
        everywhere(chosen_rows, a, b, np.ones(shape))
    everywhere(chosen_columns, a, b[:2], np.ones((1, 1, 4, 2, 1)))

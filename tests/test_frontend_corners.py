"""Small unkind programs: odd shapes, odd names, odd values; each is also run by NumPy and compared."""

from __future__ import annotations

import enum
import functools
import itertools
import math
import types
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
from test_frontend import same

import pytocu
from pytocu.frontend.indexing import slice_bounds
from pytocu.ir.dims import evaluate, floordiv, symbol
from pytocu.testing.compare import compare

F = np.arange(6, dtype=np.float32).reshape(2, 3) - 2.5
BIG = 2**70


def lengths(*shapes, dtype=np.float64):
    return [np.arange(math.prod(s), dtype=dtype).reshape(s) - 1.5 for s in shapes]


# Shapes.


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x[1:-1] + x[:1], x[2:] - x[:-2]),
        lambda x: x[1:-1] * x[1:2],
        lambda x: (x[::-1] + x, x[::-2], x[::-2] + 1, x[-1:1:-1] * 2),
        lambda x: (x[: len(x) // 2] + 1, x[len(x) // 2 :] * 2),
        lambda x: (x[len(x) - 3 :], x[len(x) - 3 :] + 1, x[: len(x) - 3] + 1, x[: len(x) - 3]),
        lambda x: (x[2 : len(x) - 2] + 1, x[1 : len(x) - 1], x[-len(x) :] + 1, x[: -len(x)] + 1),
        lambda x: (x[len(x) - 4 :: -1] + 1, x[: len(x) - 4 : -1] + 1, x[len(x) + 2 :] + 1, x[: len(x) + 2] + 1),
        lambda x: (x[5:2] + 1, x[10:] + 1, x[:-10] + 1, x[-3:3] + 1, x[3:-3:2] + 1, x[-2:-9:-3] + 1),
        lambda x: x[None] + x[:, None],
        lambda x: (x[x.shape[0] : 0 : -1] + 1, x[1:][1:][:-1] + 1, x[::2][::-1] * 3, x[::3][1::2] + 1),
        lambda x: np.where(x[:, None] > 0, x[None], x[0:1]),
    ],
)
def test_lengths(n, function):
    same_or_error(function, np.arange(n, dtype=np.float32))


def same_or_error(function, *args):
    """The same result, or the same kind of error."""
    try:
        with np.errstate(all="ignore"):
            expected = function(*args)
    except Exception as error:
        kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        with pytest.raises(kind) as caught:
            pytocu.jit(function)(*args)
        assert str(error) in str(caught.value)
        return
    with np.errstate(all="ignore"):
        actual = pytocu.jit(function)(*args)
    from test_frontend import same_results

    same_results(actual, expected, args)


@pytest.mark.parametrize("index", [-4, -3, -1, 0, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_single_positions(n, index):
    same_or_error(lambda x: x[index] + 1, np.arange(n, dtype=np.float32))
    same_or_error(lambda x: x[len(x) + index] * 2, np.arange(n, dtype=np.float32))


def test_one_function_for_every_length():
    """A compiled function meets lengths it was not compiled for."""

    @pytocu.jit
    def f(x, y):
        return x[1:-1] + y[2:], x[len(x) - 3 :] * 1.0, x[: len(y) - 2] + 0.5

    def plain(x, y):
        return f.__wrapped__(x, y)

    for n, m in [(5, 5), (3, 3), (9, 9), (2, 2), (4, 4), (3, 4), (5, 3), (7, 3), (1, 2), (0, 2), (3, 8)]:
        x, y = np.arange(n, dtype=np.float64), np.arange(m, dtype=np.float64) * 10
        try:
            expected = plain(x, y)
        except ValueError as error:
            with pytest.raises(ValueError) as caught:
                f(x, y)
            assert str(error).strip() in str(caught.value), (n, m)
        else:
            compare(f(x, y), expected)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((1,), (4,)),
        ((0,), (1,)),
        ((0, 3), (3,)),
        ((2, 3, 4), (3, 1)),
        ((), (3,)),
        ((1, 1), ()),
    ],
)
def test_broadcasting(shapes):
    a, b = lengths(*shapes)
    same(lambda x, y: (x + y, x * 2 - y, np.where(x > y, x, y), np.hypot(x, y) > 1), a, b)


def test_layouts():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for a in (
        x,
        np.asfortranarray(x),
        x[::-1, :, ::-2],
        x.transpose(2, 0, 1),
        np.asfortranarray(x)[::-1],
        x[:, ::-1].T,
        x[:, :1],
    ):
        same(lambda a: (a + 1, a.T * 2, a[::-1, ..., ::-1] - a, a[..., 0] + 1, a.T), a)
    broadcast = np.broadcast_to(np.float32(3), (2, 3))
    same(lambda a: (a + 1, a[0] * 2), broadcast)


def test_the_same_array_twice():
    x = np.arange(5, dtype=np.float32)
    first, second = same(lambda a, b: (a + b, a[::-1] - b), x, x)
    assert first is not second
    same(lambda a, b: (a, b, a), x, x)


def test_equal_results_are_arrays_of_their_own():
    x = np.arange(5, dtype=np.float32)
    a, b, c, d = pytocu.jit(lambda x: (x + 1, x + 1, x * 1, x[1:]))(x)
    assert not np.may_share_memory(a, b) and not np.may_share_memory(c, x) and np.may_share_memory(d, x)
    e, g = pytocu.jit(lambda x: (lambda y: (y, y))(x + 1))(x)
    assert e is g


# Scalars.


def test_zero_dimensional_everything():
    a, b = np.array(2.5, np.float32), np.array(3)
    same(lambda a, b: (a + b, a * 2, np.where(a > b, a, b), -a, a[...], a[()], a[None], a.T, a.copy(), a), a, b)
    same(lambda a: (np.sqrt(a), abs(a), a.astype(int), a.shape, a.ndim, a.size, np.asarray(a), np.copy(a)), a, exact=False)


def test_huge_integers():
    x32, x64, i8 = np.ones(2, np.float32), np.ones(2), np.array([1, -1], np.int8)
    same(lambda x: (x + BIG, x * 2**64, x - 10**30), x64)
    same(lambda x, k: x * k, x64, 2**80)
    same(lambda x: (x < BIG, x == 2**64, x != -(2**65), x >= 300), i8)
    for function in (lambda x: x + 300, lambda x: x * BIG, lambda x: x & 2**64):
        with pytest.raises(OverflowError) as expected:
            function(i8)
        with pytest.raises(OverflowError) as actual:
            pytocu.jit(function)(i8)
        assert str(expected.value) in str(actual.value)
    same(lambda x: x + 2**63, x32)


NEGATIVE_ZERO = -0.0
NAN = float("nan")


def test_signed_zero_and_nan():
    x = np.array([0.0, -0.0, 1.0, np.nan], np.float32)
    same(lambda x: (x * NEGATIVE_ZERO, x + NEGATIVE_ZERO, x - 0.0, x * 1, x / 1, np.copysign(x, NEGATIVE_ZERO), -x), x)
    same(lambda x: (x + NAN, x == NAN, x != NAN, np.where(x > 0, NAN, -0.0), x * float("-inf"), x - np.inf), x)


def test_zero_and_minus_zero_are_different_captures():
    scale = 0.0

    @pytocu.jit
    def f(x):
        return np.copysign(x, scale)

    x = np.ones(2)
    assert f(x)[0] == 1
    scale = -0.0
    assert f(x)[0] == -1
    scale = 0
    assert f(x)[0] == 1


@pytest.mark.parametrize(
    "value", [True, False, 3, -2, 2.5, np.float32(2), np.float64(2), np.int8(3), np.uint64(7), np.bool_(True)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
def test_scalar_arguments(value, dtype):
    x = np.array([0, 1, 1], dtype)
    same_or_error(lambda x, s: (x + s, x * s, x == s, np.where(x != 0, s, x), s + s, s * 2, s), x, value)


def test_python_scalars_stay_python():
    same(lambda a, b: (a + b, a * b, a / b, a // b, a % b, a < b, a**2, -a, abs(b), a == b, bool(a), float(b)), 7, -2)
    same(lambda a, b: (a + b, a * b, a / b, a // b, a % b, a < b, -a, +b), 7.5, -2)
    same(lambda a, b: (a + b, a & b, a | b, a ^ b, a < b, int(a), float(a)), True, False)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        pytocu.jit(lambda x, a, b: x * (a / b))(np.ones(2), 1, 0)


# Names.


def test_names_of_parameters():
    x = np.arange(3, dtype=np.float32)

    def f(int, threadIdx, out, i, n, x_0, float):
        return int * threadIdx + out - i + n * x_0, float

    for args in [(x, x, x, x, 2, 1.5, x), (x, 1, 2.0, x, x, x, 3)]:
        same(f, *args)
    low = pytocu.jit(f).lower(*["f32[n]"] * 6, "weak int")
    assert low.compile("cuda:sm_90").binary


def test_unicode_identifiers():
    def größe(α, ﬁ, 数):
        Δ = α * 2
        return Δ + ﬁ - 数

    x = np.arange(3, dtype=np.float32)
    same(größe, x, 2, x)
    assert pytocu.jit(größe).lower("f32[n]", "weak int", "f32[n]").compile("cuda:sm_90").binary


def double(float, long):
    struct = float + long
    return struct * 2


def test_functions_named_like_c():
    same(double, np.ones(3, np.float32), 2)
    assert pytocu.jit(double).lower("f32[n]", "f32[n]").compile("cuda:sm_90").binary


def test_shadowed_builtins():
    def f(x, len=3, range=2):
        abs = np.negative
        return abs(x) * len + range

    same(f, F)


def test_two_lambdas_on_one_line():
    f, g, h = pytocu.jit(lambda x: x + 1), pytocu.jit(lambda x: x * 2), pytocu.jit(lambda x: (lambda y: y - 1)(x))
    x = np.arange(3.0)
    compare((f(x), g(x), h(x)), (x + 1, x * 2, x - 1))
    pair = [pytocu.jit(f) for f in (lambda x: x + 1, lambda x: x + 2)]
    compare([p(x) for p in pair], [x + 1, x + 2])
    same((lambda x: x + 1), x)


def test_functions_made_in_a_loop():
    made = []
    for k in range(3):

        @pytocu.jit
        def f(x, k=k):
            return x + k

        @pytocu.jit
        def g(x):
            return x * k

        made.append((f, g))
    x = np.arange(3.0)
    assert [float(f(x)[0]) for f, _ in made] == [0, 1, 2]
    assert [float(g(x)[1]) for _, g in made] == [2, 2, 2]


def maker(scale):
    return lambda x: x * scale


def test_functions_of_one_closure():
    x = np.arange(3.0)
    twice, thrice = maker(2), maker(3)
    same(lambda x: twice(thrice(x)) + twice(x), x)
    compare(pytocu.jit(twice)(x), x * 2)
    compare(pytocu.jit(thrice)(x), x * 3)


def test_higher_order_functions():
    def twice(f):
        return lambda y: f(f(y))

    same(lambda x: twice(twice(lambda y: y * 2))(x), F)
    same(lambda x: functools.reduce(lambda a, b: a + b, map(lambda k: x * k, range(3))), F)  # noqa: C417
    same(lambda x: sum(filter(None, [0, 1, 2])) * x, F)


# Objects.


Point = namedtuple("Point", "x y")


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Base:
    offset = 10

    def __init__(self, scale):
        self.scale = scale
        self.__hidden = 3

    @property
    def doubled(self):
        return self.scale * 2

    @functools.cached_property
    def cached(self):
        return self.scale + 0.5

    @staticmethod
    def shifted(x, by=1):
        return x + by

    @classmethod
    def offsetted(cls, x):
        return x + cls.offset

    def hidden(self, x):
        return x * self.__hidden

    def __call__(self, x):
        return x - self.scale

    def apply(self, x):
        return self.hidden(self.shifted(x) * self.doubled) + self.cached + self.offset + self(x) + self.offsetted(x)


class Derived(Base):
    offset = 20

    @property
    def doubled(self):
        return self.scale * 20


class Lazy:
    def __getattr__(self, name):
        return len(name)


def test_objects():
    for thing in (Base(2), Derived(2.5), Base(np.float32(3))):
        same(lambda x: thing.apply(x), F)
        same(lambda x, t: t.apply(x), F, thing)
        compare(pytocu.jit(thing.apply)(F), thing.apply(F))
    same(lambda x, p: x * p.x + p[1] + len(p), F, Point(1, 2.5))
    same(lambda x, m: x + 1 if m is Mode.FAST else x + m.value, F, Mode.SLOW)
    same(lambda x, m: x + m + Level.HIGH, F, Level.LOW)
    same(lambda x, m: {Mode.FAST: x, Mode.SLOW: x * 2}[m] + 1, F, Mode.SLOW)
    same(lambda x, c: x * c.a.b, F, SimpleNamespace(a=SimpleNamespace(b=3)))
    same(lambda x, c: x * c.abc + c.de, F, Lazy())


def test_local_containers():
    def f(x):
        parts = []
        for k in range(3):
            parts.append(x * k)
        parts += [x]
        parts[0] = parts[1] - 1
        table = {}
        table["a"] = parts.pop()
        table.setdefault("b", x + 2)
        table["n"] = 3
        table["n"] += 1
        return parts, table, parts[::-1], [*parts, 1][-1]

    same(f, F)


def test_nonlocal():
    def f(x):
        count = 0

        def step(y):
            nonlocal count
            count += 1
            return y + count

        return step(step(x)), count

    same(f, F)


def test_scopes():
    k = 100

    def f(x):
        ks = [k + 0 for k in range(3)]
        fs = [lambda: i for i in range(3)]
        nested = [[i * j for j in range(i)] for i in range(3)]
        return x + k + sum(ks) + fs[0]() + len(nested[2])

    same(f, F)


def test_long_expressions():
    text = " + ".join(["x"] * 500)
    assert text
    same(lambda x: x + 1 + 2 + 3 + x * 2 - x - x - x + (x + (x + (x + (x + (x + (x + (x + x))))))), F)


def test_imports_inside():
    def f(x):
        import math as m
        from math import pi

        import numpy as local

        return local.sqrt(x) * m.e + pi

    same(f, np.abs(F))


def test_strings():
    same(lambda x: (f"{x.ndim:>3}|{'a':*^5}|{1.25!r}", "%d of %s" % (1, "b"), "{}-{}".format(1, 2), x.dtype.name), F)  # noqa: UP031, UP032


def test_static_metadata_of_results():
    same(lambda x: ((x + 1).dtype.itemsize, (x > 0).dtype.kind, (x + 1).shape, x[0].ndim, (x.astype("i2") * 1.5).dtype.name), F)


def test_squeeze():
    a = np.arange(3.0).reshape(1, 3, 1)
    same(lambda x: (x.squeeze(), x.squeeze(0), np.squeeze(x, axis=(0, 2)), x[0].squeeze(-1), x.squeeze() + 1, x[:, :, 0]), a)
    same(lambda x: x.squeeze(), np.arange(3.0))
    f = pytocu.jit(lambda x: x[1:].squeeze(axis=0) + 1)
    compare(f(np.arange(2.0)), np.float64(2.0))
    with pytest.raises(ValueError, match="cannot select an axis to squeeze out"):
        f(np.arange(3.0))
    compare(f(np.arange(2.0)), np.float64(2.0))


def test_keywords_of_functions():
    same(lambda x: (np.clip(x, max=1), np.clip(x, 0, None), np.clip(x, a_min=-1, a_max=1), x.clip(None, 0)), F)
    same(
        lambda x: (np.expand_dims(x, axis=(0, 2)), np.transpose(x, axes=(1, 0)), np.moveaxis(x, [0, 1], [1, 0]), np.copy(x)), F
    )
    same(lambda x: (np.array(x), np.array(x, dtype="f8"), np.asarray(3, np.int8), np.array(2.5), np.asarray(x, float)), F)
    same(lambda x: (np.result_type(x, 1.0).name, np.isscalar(3), np.isscalar(x), np.result_type(x, np.float64).name), F)


def test_integer_dtype_of_lengths():
    same(lambda x: (x * x.size, len(x) * 2.5, x.shape[0] / x.shape[1], math.prod(x.shape), max(x.shape[0] - 5, 1), x.nbytes), F)
    same(lambda x: (x + len(x), len(x) // 2, -len(x), len(x) % 3, x[len(x) // 2]), F[0])


def test_namespaces_of_other_libraries():
    fake = types.ModuleType("cupy")
    fake.exp = lambda x: 1 / 0
    fake.float32 = np.float32

    def f(x, xp):
        return xp.where(x > 0, xp.float32(2) * xp.abs(x), xp.sqrt(xp.abs(x)))

    compare(pytocu.jit(f)(F, fake), f(F, np))


def test_source_with_odd_indentation():
    if True:
        # fmt: off
        def f(x):
            text = """
at the left margin
            """
        # a comment at the left margin
            y = x \
  + len(text)
            return (y
  * 2)
        # fmt: on
    same(f, F)


def test_containers_of_objects():
    things = [SimpleNamespace(s=2), SimpleNamespace(s=3)]
    table = {"a": things[0], Mode.FAST: things[1], 1: 5}

    def f(x):
        kept = []
        for thing in things:
            kept.append(thing)
        kept.append(np.sqrt)
        return x * things[0].s + table[Mode.FAST].s + sum(t.s for t in things) + kept[0].s, {1: x, "b": table.get(1)}

    same(f, F)
    jitted = pytocu.jit(f)
    before = jitted(F)
    things[0].s = 7
    compare(jitted(F)[0], f(F)[0])
    assert not np.array_equal(before[0], jitted(F)[0])


def test_functions_have_names():
    def f(x):
        def inner(y):
            return y

        return x, inner.__name__, f.__name__, sqrt_of.__name__, callable(inner), isinstance(inner, types.FunctionType)

    same(f, F)


@pytocu.jit
def sqrt_of(x):
    return np.sqrt(x)


def test_bounds_of_every_kind():
    same(lambda x: (x[np.int64(1) :], x[True:], x[Level.LOW], x[: np.uint8(1)], x[np.int8(-1)], x[slice(None, None, -1)]), F[0])
    index = (slice(1, None), None, Ellipsis)
    same(lambda x: (x[index], x[index] + 1), F)


class Changing:
    def __get__(self, instance, owner):
        raise AssertionError("ran the user's code")


class WithDescriptor:
    number = Changing()


class WithGetattribute:
    def __getattribute__(self, name):
        assert name != "number", "ran the user's code"
        return object.__getattribute__(self, name)


def test_descriptors_do_not_run():
    for thing in (WithDescriptor(), WithGetattribute()):
        with pytest.raises(NotImplementedError, match="would run while compiling"):
            pytocu.jit(lambda x: x * thing.number)(F)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_bounds_computed_of_lengths(step):
    """Every bound that a length may give, against Python's own slices."""
    n, m = symbol("n"), symbol("m")
    bounds = [None, -9, -2, -1, 0, 1, 2, 9, n, n - 1, n - 2, n - 3, n + 1, 0 - n, 1 - n, floordiv(n, 2), m, m - 2, n - m, 2 * n]
    for start, stop in itertools.product(bounds, bounds):
        first, count = slice_bounds(n, start, stop, abs(step), step < 0)
        for sizes in ({"n": a, "m": b} for a in range(6) for b in range(4)):
            values = [None if b is None else evaluate(b, sizes) for b in (start, stop)]
            expected = range(sizes["n"])[slice(*values, step)]
            actual = evaluate(count, sizes)
            assert actual == len(expected), (start, stop, sizes)
            assert not actual or evaluate(first, sizes) == expected[0], (start, stop, sizes)


def test_names_without_a_value():
    def after(x):
        y = z  # noqa: F821, F841
        z = x
        return z

    def later(x):
        def inner():
            return y

        made = inner()
        y = x
        return made + y

    def deleted(x):
        y = x
        del y
        return y  # noqa: F821

    def own(x):
        scale = 1

        def inner():
            value = scale  # noqa: F823
            scale = value + x
            return scale

        return inner() + scale

    def untaken(x):
        if x.ndim == 5:
            y = x
        return y

    for function in (after, later, deleted, own, untaken):
        same_or_error(function, F)
        with pytest.raises(NameError, match="where it is not associated with a value"):
            pytocu.jit(function)(F)


def test_a_length_by_its_method():
    same(lambda x: x * x.shape.__len__() + "abc".__len__() + [1, x].__len__(), F)

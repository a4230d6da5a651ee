"""NumPy's elementwise array functions: kinds of results, edge values, namesake libraries, refusals."""

from __future__ import annotations

import collections
import sys
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.frontend.numpy_calls import FUNCTIONS
from pytocu.frontend.refused import REFUSED
from pytocu.ir import interp
from pytocu.runtime.plan_json import plan_from_json, plan_to_json
from pytocu.testing.cases import call_jit, compare_with_numpy
from pytocu.testing.compare import compare, edge_values
from pytocu.testing.matrix import call_threads
from pytocu.testing.operands import make_function


def agree(texts: list[str], *arguments: Any, rows: tuple[str, ...] = ()) -> None:
    """Compiled and interpreted, every expression has NumPy's answer."""
    function = make_function("abc"[: len(arguments)], texts, {"np": np})
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    compare_with_numpy(rows, call_jit(function, *arguments), expected)
    low = pytocu.jit(function).lower(*arguments)
    results = interp.run(low.host("cuda"), arguments)
    compare_with_numpy(rows, interp.arrange(low.function.body.terminator.attr("tree"), results), expected)


DECIMALS = ["np.round(a)", "np.round(a, 1)", "np.round(a, 8)", "np.round(a, 17)", "np.round(a, decimals=-2)", "np.round(a, -9)",
            "np.round(a, 300)", "np.round(a, 400)", "a.round(3)", "np.around(a, np.int64(2))"]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_decimals_of_floats(dtype: str) -> None:
    values = np.concatenate([edge_values(dtype, 400), np.array([0.5, 1.5, 2.5, 2.675, 1.005, 0.15, 0.25, -0.35, 5e15], dtype)])
    agree(DECIMALS, values)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2"])
def test_decimals_of_integers(dtype: str) -> None:
    # Beyond 2**53 the float64 in between may lie outside of int64.
    values = edge_values(dtype, 300).astype(dtype)
    values = values[np.abs(values.astype(np.float64)) < 2.0**53]
    agree(["np.round(a)", "np.round(a, 2)", "np.round(a, -1)", "a.round(-2)", "np.round(a, -3)"], values)


CLIPS = ["np.clip(a, b, c)", "np.clip(a, b, None)", "np.clip(a, None, c)", "np.clip(a, None, None)", "a.clip(b, c)",
         "a.clip(b)", "a.clip(max=c)", "np.clip(a, a_min=b, a_max=c)", "np.clip(a, min=b)", "np.clip(a, max=c)", "np.clip(a)",
         "np.clip(a, b, c, dtype='f8')", "np.clip(a, c, b)"]  # fmt: skip


@pytest.mark.parametrize("dtypes", ["f4 f4 f4", "f8 f4 i4", "i4 i2 i8", "u1 u1 u1", "i8 f8 f4"])
def test_clip_with_bounds_of_any_kind(dtypes: str) -> None:
    a, b, c = (edge_values(d, 120, seed) for seed, d in enumerate(dtypes.split()))
    agree(CLIPS, a, b, c, rows=("clip",))
    nan = np.float64("nan")
    agree(CLIPS, a, nan, c, rows=("clip",))
    agree(CLIPS, a, b[0], c[1], rows=("clip",))


def test_select() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.array([3, 1, 2], np.int32)
    agree(
        [
            "np.select([a > 2, a < 1], [a, b])", "np.select([a > 2, b > 1], [a, b], default=a * 2)",
            "np.select([a > 2], [b], default=-1)", "np.select([b > 1, b < 3], [1, 2.5], 7)", "np.select([a[0, 0] > 0], [1], 2)",
            "np.select((b > 1, b > 2), (np.float32(1), b), 0)", "np.select([True, a > 2], [a, b])",
        ],
        a, b,
    )  # fmt: skip


def test_select_refuses_as_numpy_does() -> None:
    x = np.ones(3)
    for text, kind, said in (
        ("np.select([a > 0], [a, a])", ValueError, "list of cases must be same length"),
        ("np.select([], [])", ValueError, "empty condition list"),
        ("np.select([a], [a])", TypeError, "invalid entry 0 in condlist: should be boolean ndarray"),
        ("np.select([a > 0], [1], default=np.uint8(2))", TypeError, "according to the rule 'same_kind'"),
    ):
        function = make_function("a", [text], {"np": np})
        with pytest.raises(kind, match=said):
            function(x)
        with pytest.raises(kind, match=said):
            call_jit(function, x)


def test_kinds_of_results() -> None:
    """0-d arrays, NumPy scalars, arguments themselves and views, as NumPy gives them."""
    zero_d, one_d, scalar = np.array(2.5), np.array([2.5, -1]), np.float64(2.5)
    texts = ["np.nan_to_num(a)", "np.real(a)", "np.imag(a)", "np.real_if_close(a)", "np.isclose(a, 2.5)",
             "np.select([a > 0], [a])", "np.where(a > 0, a, 1)", "np.round(a, 1)", "np.modf(a)", "np.frexp(a)",
             "np.divmod(a, 2)", "np.clip(a, 0, 1)",
             "np.isreal(a)", "np.iscomplex(a)", "np.iscomplexobj(a)", "np.asarray(a)", "a.view('i8')", "a.imag", "a.real",
             "[np.sqrt(a), {'k': (a.ndim, None)}]"]  # fmt: skip
    for value in (zero_d, one_d, scalar):
        function = make_function("a", texts, {"np": np})
        with np.errstate(all="ignore"):
            expected = function(value)
        actual = call_jit(function, value)
        compare(actual[:-1], expected[:-1])
        assert type(actual[-1]) is list and actual[-1][1] == expected[-1][1]
        for text, ours, theirs in zip(texts, actual, expected, strict=True):
            assert (ours is value) == (theirs is value) or not isinstance(value, np.ndarray), text
            if isinstance(value, np.ndarray) and isinstance(theirs, np.ndarray) and "imag" not in text:
                assert np.shares_memory(ours, value) == np.shares_memory(theirs, value), text


def test_views_as_another_dtype_share_memory() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    def function(x):
        return x.view(np.int32), x.T.view(np.uint32)[1:, ::-1], x[1].view("i4"), x.view().view("f4")

    actual = pytocu.jit(function)(x)
    compare(actual, function(x))
    assert all(np.shares_memory(a, x) for a in actual)
    actual[0][0, 0] = 0x40000000
    assert x[0, 0] == 2.0


def test_view_of_bits_inside_a_kernel() -> None:
    """The bits of a float are an integer: the well-known approximation of 1/sqrt(x)."""

    def function(x):
        guess = (0x5F3759DF - (x.view(np.int32) >> 1)).view(np.float32)
        return guess * (1.5 - 0.5 * x * guess * guess)

    x = np.linspace(0.1, 100, 101).astype(np.float32)
    compare(pytocu.jit(function)(x), function(x))


def test_views_refused() -> None:
    for text, said in (("(a > 0).view('i1').view(bool)", "no bools"),
                       ("a.view(np.matrix)", "another class")):  # fmt: skip
        with pytest.raises(UnsupportedError, match=said):
            call_jit(make_function("a", [text], {"np": np}), np.ones(3))


def test_sinc_and_angle_are_close() -> None:
    for dtype, bound in (("f4", 4e-7), ("f8", 1e-15)):
        x = np.linspace(-5, 5, 201).astype(dtype)
        x[100] = 0
        function = make_function("a", ["np.sinc(a)", "np.angle(a)", "np.angle(a, deg=True)"], {"np": np})
        for actual, expected in zip(call_jit(function, x), function(x), strict=True):
            assert actual.dtype == expected.dtype
            np.testing.assert_allclose(actual, expected, rtol=bound, atol=bound)


def test_errstate() -> None:
    def silent(x):
        with np.errstate(divide="ignore", invalid="warn", over=None):
            y = 1 / x
            with np.errstate(all="ignore"):
                return np.sqrt(y) - y

    x = np.array([1.0, 0.0, -2.0])
    with np.errstate(all="ignore"):
        compare(pytocu.jit(silent)(x), silent(x))

    def loud(x):
        with np.errstate(all="raise"):
            return 1 / x

    def called(x):
        with np.errstate(call=print):
            return 1 / x

    for function, said in ((loud, "all='raise'"), (called, "call=")):
        with pytest.raises(UnsupportedError, match=said):
            pytocu.jit(function)(x)


@pytest.mark.parametrize("name", [n for n in REFUSED if hasattr(np, n) and n not in FUNCTIONS])
def test_refused_functions_say_what_to_write(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"np.{name} is not supported") as raised:
        call_jit(make_function("a", [f"np.{name}(a)"], {"np": np}), np.ones(3))
    assert raised.value.help == REFUSED[name]


def test_random_numbers_are_refused() -> None:
    generator = np.random.default_rng(0)
    for text in ("np.random.rand(3)", "np.random.default_rng(1)", "G.normal(size=3)", "np.random.normal(a)"):
        with pytest.raises(UnsupportedError, match="random numbers") as raised:
            call_jit(make_function("a", [text], {"np": np, "G": generator}), np.ones(3))
        assert raised.value.help == "pass the samples as an argument"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("np.add(a, 1, where=a > 0)", UnsupportedError, "the argument where="),
        ("np.add(a, 1, out=(a, a))", ValueError, "The 'out' tuple must have exactly one entry per ufunc output"),
        ("np.modf(a, out=a)", TypeError, "'out' must be a tuple of arrays"),
        ("np.matmul(a, a, order='A')", UnsupportedError, "the argument order='A'"),
        ("np.add(a, 1, order='Z')", ValueError, "order must be one of 'C', 'F', 'A', or 'K' .got 'Z'."),
        ("np.add(a, 1, casting='odd')", ValueError, "casting must be one of"),
        ("np.add(a, 1, axis=0)", TypeError, "add.. got an unexpected keyword argument 'axis'"),
        ("np.add(a, 1, dtype='f4', sig='ff->f')", TypeError, "cannot specify both 'signature' and 'dtype'"),
        ("np.add(a, 1, dtype='i4')", TypeError, "Cannot cast ufunc 'add' input 0 from dtype.'float64'. to"),
        ("np.less(a, 1, dtype='f4')", TypeError, "No loop matching the specified signature and casting"),
        ("np.frexp(a, dtype='f8')", TypeError, "No loop matching the specified signature"),
        ("np.add(a)", TypeError, "add.. takes from 2 to 3 positional arguments but 1 was given"),
        ("np.modf(a, None, None, None)", TypeError, "modf.. takes from 1 to 3 positional arguments but 4 were given"),
        ("a.astype('i4', casting='safe')", TypeError, "Cannot cast array data from dtype.'float64'. to dtype"),
        ("np.concatenate([a, 1j], None, dtype='f8')", TypeError, "Cannot cast scalar from dtype.'complex128'. to dtype"),
        ("np.stack([a.sum() * 1j] * 2, dtype='f8')", TypeError, "Cannot cast array data from dtype.'complex128'. to dtype"),
        ("np.clip(a, 0, 1, min=2)", ValueError, "is forbidden"),
        ("np.clip(a, 0)", TypeError, "clip.. missing 1 required positional argument: 'a_max'"),
        ("np.nan_to_num(a[0], copy=False)", ValueError, "Unable to avoid copy"),
        ("np.round(a, decimals=1.5)", TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)  # fmt: skip
def test_arguments_of_ufuncs_that_are_refused(text: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call_jit(make_function("a", [text], {"np": np}), np.ones(3))


def test_arguments_of_ufuncs_that_mean_nothing() -> None:
    agree(["np.add(a, 1, out=None)", "np.add(a, 1, None)", "np.add(a, 1, where=True)", "np.add(a, 1, order='K', subok=False)",
           "np.modf(a, out=(None, None))"], np.ones(3))  # fmt: skip


@pytest.fixture
def fake_library(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module called as CuPy is, whose functions are its own."""
    module = types.ModuleType("cupy")
    for name in ("gcd", "modf", "select", "nan_to_num", "isclose", "round", "where", "float32"):

        def function(*args: Any, **kwargs: Any) -> Any:
            raise AssertionError("the library's own function was called")

        function.__module__, function.__name__, function.__qualname__ = "cupy", name, name
        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, "cupy.of_test", module)
    return module


def test_functions_of_other_namespaces(fake_library: types.ModuleType) -> None:
    xp = fake_library
    gcd, select = xp.gcd, xp.select

    def function(x, i):
        return (
            gcd(i, 6), xp.modf(x), select([x > 0], [x]), xp.nan_to_num(x), xp.isclose(x, 1), xp.round(x, 1),
            xp.where(x, i, 2),
        )  # fmt: skip

    def with_numpy(x, i):
        return (
            np.gcd(i, 6), np.modf(x), np.select([x > 0], [x]), np.nan_to_num(x), np.isclose(x, 1), np.round(x, 1),
            np.where(x, i, 2),
        )  # fmt: skip

    x, i = np.array([1.25, -2, np.nan, 0]), np.array([4, 9, -12, 0])
    compare(pytocu.jit(function)(x, i), with_numpy(x, i))


def test_namespace_of_an_array() -> None:
    def function(x):
        xp = x.__array_namespace__()
        return xp.sqrt(xp.abs(x)), xp.astype(x, xp.float32)

    x = np.array([4.0, -9.0])
    compare(pytocu.jit(function)(x), function(x))


def test_integer_powers() -> None:
    """Exponents that are constants, lengths, unsigned, or Python ints, which the host looks at."""
    x = np.arange(-3, 4, dtype=np.int32)
    agree(["a ** b", "np.power(a, b)", "a ** a.shape[0]", "2 ** a.shape[0]", "np.power(2, b)", "a ** True"], x, 3)
    agree(["a ** b", "b ** b", "a ** b[1]"], x, np.arange(7, dtype=np.uint16))
    agree(["a ** b", "b ** b"], x.astype(np.uint8), np.arange(7, dtype=np.uint8))
    agree(["a ** -1", "b ** -2"], x.astype(np.float32) + 4, -3)
    for text in ("a ** b", "np.power(a, b)", "a ** (a.shape[0] - 9)", "np.power(2, b)", "a ** -1"):
        function = make_function("ab", [text], {"np": np})
        for call in (function, pytocu.jit(function)):
            with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
                call(x, -3)
    with pytest.raises(OverflowError, match="Python integer -3 out of bounds for uint8"):
        call_jit(make_function("ab", ["a ** b"], {"np": np}), x.astype(np.uint8), -3)


def test_integer_powers_of_arrays_of_exponents(part: Any) -> None:
    """Signed exponents may be negative, which is an error of the data."""
    x = np.arange(-3, 4, dtype=np.int32)
    seven = np.arange(7)
    for exponents in part([seven.astype(np.int32), seven.astype(np.int8), seven[:, None], np.int16(3), np.array(2)]):
        agree(["a ** b", "np.power(a, b)", "2 ** b", "b ** b", "np.power(b, a & 3)"], x, exponents)
    agree(["a ** b", "b ** a"], np.zeros((0, 3), np.int64), np.array([2, 0, -3])[None] * 0)

    def in_place(x, b):
        x **= b
        return x

    compare(pytocu.jit(in_place)(x.copy(), x & 3), in_place(x.copy(), x & 3))
    # Where nothing is computed nothing is wrong.
    compare(pytocu.jit(lambda a, b: a ** b)(np.zeros((0, 2), np.int8), np.int8(-1)), np.zeros((0, 2), np.int8))
    texts = ["b ** a", "b ** a[0]", "2 ** a", "np.power(b, a)", "b ** b[::-1] ** a", "np.power(a, b, dtype='i8') ** a"]
    for text in part(texts):
        function = make_function("ab", [text], {"np": np})
        for call in (function, pytocu.jit(function), lambda *given, f=function: call_threads(f, *given)):
            with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
                call(x, np.arange(7, dtype=np.int32))


def test_large_exponents_of_integers() -> None:
    """As many steps as the exponent has bits, which a run decides: code for 64 of them takes seconds to compile."""
    for dtype in ("u8", "i8", "u4", "i2"):
        top = np.iinfo(dtype).max
        bases, exponents = np.array([0, 1, 3, 5, top], dtype), np.array([0, 1, 2, 63, top // 2, top - 1, top], dtype)
        agree(["a ** b"], bases[:, None], exponents)
        agree(["np.power(a, b, out=np.ones_like(a), where=b < 3)"], exponents[::-1], exponents)
        code = pytocu.jit(lambda a, b: a**b).lower(bases, bases).compile("cpu").source
        assert "phi" in code and code.count(" mul ") < 10


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_powers_that_numpy_rewrites(dtype: str) -> None:
    """Of a Python scalar known only at run time the value counts too: the root of -inf is NaN, not infinite."""
    x = edge_values(dtype, 200)
    for exponent in (-1, 2, 0.5, 2.0, -1.0):
        agree(["a ** b"], x, exponent)

    def in_place(x, b):
        x **= b
        return x

    compare(pytocu.jit(in_place)(x.copy(), 0.5), in_place(x.copy(), 0.5))


def test_complex_powers_that_numpy_rewrites() -> None:
    x = edge_values("c8", 60)[:6]
    agree(["a ** b"], x, -1)
    agree(["a ** b"], x[4:], 2)


def test_signs_of_complex_numbers_at_the_end_of_the_range() -> None:
    """Where |z| overflows NumPy gives the direction to the imaginary part."""
    top = float(np.finfo(np.float32).max)
    parts = [(5e35, -top), (top, top), (-np.inf, 3), (2, np.inf), (np.inf, np.inf)]
    agree(["np.sign(a)"], np.array([complex(*p) for p in parts], "c8"))


def test_axes_of_known_scalars() -> None:
    texts = ["np.negative(np.float32(3))[..., None] + a", "np.float64(2)[None, None] * a", "np.int8(3)[()] + a"]
    agree(texts, np.ones(3, np.float32))


def test_integer_extremes() -> None:
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u8"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        a = np.array([low, low, high, 0, 5, 1], dtype)
        b = np.array([0, 1, 0, 0, 200 if dtype != "i1" else 100, 63], dtype)
        texts = ["a // b", "a % b", "np.divmod(a, b)", "np.fmod(a, b)", "a << b", "a >> b", "np.gcd(a, b)", "np.lcm(a, b)"]
        agree([*texts, "np.bitwise_count(a)", "abs(a)", "np.sign(a)", "np.square(a)"], a, b)
        if dtype[0] == "i":
            agree(["a // -1", "a % -1", "np.divmod(a, -1)", "-a", "a << -b", "a >> -b", "np.gcd(a, -b)"], a, b)
    agree(["np.sign(a)", "a ** 2", "a ** 0.5", "a ** -1", "a ** 1", "a ** 0", "np.heaviside(a, 2)"], edge_values("f4", 100))
    assert call_jit(make_function("a", ["np.cbrt(a)"], {"np": np}), np.array([-8.0]))[0][0] == -2.0


class Point(NamedTuple):
    """What a function under test returns."""

    x: Any
    y: Any = 2


Pair = collections.namedtuple("Pair", ["first", "second"])


def test_named_tuples() -> None:
    def function(x):
        made = Point(x + 1)
        return Pair(second=made, first=(made.x * made.y, x)), [Point(x, y=None)], made[0]

    x = np.arange(3.0)
    actual, expected = pytocu.jit(function)(x), function(x)
    assert type(actual[0]) is Pair and type(actual[0].second) is Point and type(actual[1][0]) is Point
    assert actual[0].first[1] is x and actual[1][0].y is None and actual[0].second.y == 2
    compare(actual[0].first, expected[0].first)
    compare(actual[2], expected[2])
    low = pytocu.jit(function).lower(x)
    assert type(interp.arrange(low.function.body.terminator.attr("tree"), interp.run(low.host(), (x,)))[0]) is Pair
    plan = low.compile("cpu").plan
    assert plan_from_json(plan_to_json(plan)).tree == plan.tree
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        pytocu.jit(lambda x: Point(y=x))(x)

    class Local(NamedTuple):
        x: Any

    with pytest.raises(UnsupportedError, match="a class that is not at the top of a module"):
        pytocu.jit(lambda x: Local(x + 1))(x)

"""Python and NumPy as users write them: every program is also run by NumPy itself and compared."""

from __future__ import annotations

import functools
import math
import operator
from math import sqrt as python_sqrt

import numpy as np
import pytest
from numpy import exp as exponential

import pytocu
from pytocu.testing.compare import compare

CASES = []
A = np.array([[1.5, -2.25, 0.0], [np.nan, np.inf, -0.0]], np.float32)
V = np.array([3.0, -1.0, 0.5], np.float64)
I = np.array([[1, -2, 3], [100, 7, -8]], np.int32)
M = np.array([True, False, True])
N = np.array([0.25, 1.0, -4.0, 9.0, 2.0], np.float32)
BYTES = np.array([0, 1, 127, 128, 255], np.uint8)


def case(*args, **kwargs):
    """Register a program with the arguments of one call."""

    def register(function):
        CASES.append(pytest.param(function, args, kwargs, id=f"{function.__name__}-{len(CASES)}"))
        return function

    return register


def same(function, *args, exact=True, static=(), **kwargs):
    """Compare a jitted call with the call itself: kind, dtype, shape, bits, identity and shared memory."""
    with np.errstate(all="ignore"):
        expected = function(*args, **kwargs)
        actual = pytocu.jit(function, static=static)(*args, **kwargs)
    same_results(actual, expected, (*args, *kwargs.values()), exact)
    return actual


def same_results(actual, expected, args, exact=True):
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            same_results(a, e, args, exact)
        return
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            same_results(actual[key], expected[key], args, exact)
        return
    if isinstance(expected, str):
        assert actual == expected
        return
    compare(actual, expected, exact, 0 if exact else 4)
    for arg in args:
        if not isinstance(arg, np.ndarray) or not isinstance(expected, np.ndarray):
            continue
        assert (actual is arg) == (expected is arg), "an argument that is returned stays that object"
        if expected.size:
            assert np.may_share_memory(actual, arg) == np.may_share_memory(expected, arg), "views share memory as in NumPy"
            if np.may_share_memory(expected, arg):
                assert actual.__array_interface__["data"] == expected.__array_interface__["data"]
                pairs = zip(actual.shape, actual.strides, expected.strides, strict=True)
                assert all(a == e for length, a, e in pairs if length > 1)


# Arguments, names and statements.


@case(A, 2)
@case(A, 2.5, offset=1)
@case(A, scale=np.float64(3))
def defaults(x, scale, offset=0.5):
    return x * scale + offset


@case(A)
@case(A, b=True)
def keyword_only(x, *, a=2, b=False):
    return x * a - b


@case(A, 3)
def positional_only(x, y, /, z=1):
    return x * y + z


@case(A)
def default_numpy_scalar(x, scale=np.float64(1.5), kind=np.int8(3)):
    return x * scale, x * kind


@case(A)
def tuples(x):
    a, (b, *c) = 1, (2.0, 3, 4)
    d = [a, b, *c]
    first, *_, last = d
    return x * first + last, (a, b), d


@case(A)
def swap(x):
    a, b = x + 1, x - 1
    a, b = b, a
    return a, b


@case(A)
def loop_static(x):
    total = x * 0
    for k in range(5):
        if k == 1:
            continue
        if k == 4:
            break
        total = total + x * k
    else:
        total = total + 1000
    for _ in ():
        pass
    else:
        total = total + 1
    return total


@case(A)
def while_static(x):
    n = 10
    while n > 1:
        n //= 2
        x = x + n
        if n == 2:
            break
    else:
        x = x * 100
    while n < 0:
        pass
    else:
        x = x - 1
    return x


@case(A)
def comprehensions(x):
    scales = [k * k for k in range(4) if k % 2]
    named = {name: value for name, value in zip("ab", scales, strict=True)}
    parts = tuple(x * s for s in scales)
    pairs = [(i, j) for i in range(3) for j in range(i) if i != j]
    return parts[0] + parts[1] * named["b"] + len(pairs), sum(x * k for k in range(1, 3))


@case(A)
def chained_comparison(x):
    n = x.ndim
    if 1 < n <= 2 < 3 and not (n < 2 < 1):
        return x + n
    return x


@case(A)
def early_return(x):
    if x.dtype == np.float32:
        if x.ndim == 2:
            return x + 1
        return x
    raise TypeError(f"only float32, not {x.dtype}")


@case(A)
def no_return(x):
    x + 1


@case(A)
def late_binding(x):
    scale = 2

    def inner(y):
        return y * scale + offset

    scale = 3
    offset = 1
    return inner(x)


@case(A)
def lambdas_late(x):
    functions = [lambda y: y * k for k in range(3)]
    bound = [lambda y, k=k: y * k for k in range(3)]
    return functions[0](x), bound[1](x), sum(f(x) for f in bound)


@case(A)
def nested_default(x):
    def inner(y, *args, scale=2, **rest):
        return y * scale + args[0] - rest["extra"]

    return inner(x, 5, extra=1, scale=4)


@case(A)
def partial_call(x):
    double = functools.partial(np.multiply, 2)
    return double(x), functools.partial(defaults, scale=3)(x, offset=1)


@pytocu.jit
def jitted_helper(x, n=2):
    """A helper."""
    return x * n


@case(A)
def calls_jitted(x):
    return jitted_helper(x) + jitted_helper(x, n=3)


@case(A, 1.5)
def star_arguments(x, y):
    args = (y,)
    options = {"offset": 2}
    return defaults(x, *args, **options), defaults(*(x, 1), **{"offset": y})


@case(A)
def dictionaries(x):
    d = {"a": x, **{"b": x + 1}}
    d2 = dict(a=1, b=2.5)
    return d["a"] * d2["b"], {k: v for k, v in d.items()}, d.get("c"), list(d)


@case(A)
def walrus(x):
    y = (n := x.ndim) + 1
    return x * n + y, [last := k for k in range(3)], last


@case(A)
def deleting(x):
    y = x + 1
    del y
    y = x + 2
    return y


@case(A)
def formatted(x):
    name = f"{x.ndim}d-{x.dtype!s:>10}-{1.5:.3f}-{'a'!r}"
    assert x.ndim == 2, f"rank {x.ndim}"
    return name, x + len(name)


@case(A)
def global_reading(x):
    global MODULE_SCALE
    return x * MODULE_SCALE


MODULE_SCALE = 2.5


@case(A)
def conditional_expression(x):
    return (x if x.ndim == 1 else x + 1) * (2 if None is None else 3)


@case(A)
def docstring_and_pass(x: np.ndarray) -> np.ndarray:
    """A docstring."""
    y: np.ndarray = x + 1
    z: int
    pass
    ...
    return y


@case(A)
def boolean_operators(x):
    a = None or 3
    b = 0 and 5
    c = x is not None and x.ndim == 2
    return x * a + b, c


# Known at compile time.


@case(A)
def math_static(x):
    return x * math.sqrt(2) + math.pi + python_sqrt(4.0) + math.floor(2.5), exponential(x)


@case(A)
def numpy_constants(x):
    return x * np.pi, np.float32(3) * x, np.float64(3) * x, x + np.int64(1), np.e + x, x - np.inf


@case(A)
@case(V)
@case(I)
def dtype_tests(x):
    if x.dtype == np.float32:
        return x + 1
    if x.dtype.kind == "f":
        return x + 2
    if np.issubdtype(x.dtype, np.integer):
        return x + 3
    return x


@case(A)
def numpy_metadata(x):
    limits = np.finfo(x.dtype)
    return x + limits.eps, x.dtype.itemsize, x.itemsize, np.iinfo(np.int8).max, np.result_type(x.dtype, np.float64).name


@case(A)
def lengths(x):
    n, m = x.shape
    return x * n + m, x.shape[0] * x, len(x) * x, x / x.size, x.shape[-1], x.shape, np.shape(x), np.ndim(x), np.size(x)


@case(A)
def length_arithmetic(x):
    n = x.shape[1]
    return x * (n // 2) + n % 2, n - 1, n * n + 1, -n, n / 2, 2**n, float(n), int(n), abs(n), max(3, 4), n**2


@case(A)
@case(1.5)
@case(np.float32(2))
@case(3)
@case(None)
def instances(x):
    if x is None:
        return "none"
    if isinstance(x, np.ndarray):
        return x + 1
    if isinstance(x, (np.floating, np.integer)):
        return x + 2
    if isinstance(x, (int, float)):
        return x * 3
    return x


@case(A, np)
def module_argument(x, xp):
    f = getattr(xp, "sqrt")  # noqa: B009
    return xp.where(x > 0, f(x), 0), getattr(x, "ndim"), getattr(x, "nothing", None)  # noqa: B009


@case(A, "relu")
@case(A, "double")
def string_argument(x, kind):
    table = {"relu": lambda y: np.maximum(y, 0), "double": lambda y: y * 2}
    return table[kind](x)


@case(A, np.tanh)
@case(A, lambda y: y * y)
def function_argument(x, function):
    return function(x)


@case(A)
def operator_module(x):
    return operator.add(x, 1), operator.mul(2, 3) * x, functools.reduce(operator.add, (x, x, x))


@case(A)
def string_methods(x):
    return x * len("a,b,c".split(",")), "abc".upper(), "-".join(["a", "b"])


@case(A)
def builtin_functions(x):
    pairs = [(k, v) for k, v in enumerate(sorted((3, 1, 2)), start=1)]
    total = sum(a * b for a, b in pairs) + min(1, 2) + max((4, 5)) + abs(-3) + round(2.5) + int("7") + divmod(7, 2)[1]
    flags = all([True, 1]) and any([0, 1]) and bool(1)
    return x * total, flags, tuple(reversed((1, 2))), list(map(str, (1, 2))), float("inf"), str(3), len(range(4))


# Casts.


@case(A)
@case(I)
@case(M)
def casts(x):
    return x.astype(np.float64), x.astype("f4"), x.astype(float), x.astype(bool), x.astype(dtype=np.int64, copy=False)


@case(I)
@case(M)
@case(BYTES)
def casts_integer(x):
    return x.astype(int), np.asarray(x, dtype=np.float32), np.float32(x), np.int8(x), x.astype(x.dtype), np.asarray(x)


@case(1.5)
@case(True)
@case(-3)
def casts_scalar(x):
    return np.float32(x), np.int64(x), np.asarray(x), np.float64(x) + x


@case(np.float32(1.5), np.array(2.5))
def zero_dimensional(x, y):
    return x + 1, y + 1, y * x, y.astype(np.float32), x.astype(np.float64), np.asarray(x), y[()], y[...], y, -y, x[()]


# NumPy functions.


@case(A)
def where_clip(x):
    return (
        np.where(x > 0, x, 0),
        np.where(x > 0, 1, 2.0),
        np.clip(x, 0, 1),
        np.clip(x, None, 1),
        np.clip(x, a_min=0, a_max=None),
        x.clip(0, 1),
        x.clip(min=-1),
        x.clip(max=1.5),
    )


@case(I)
def where_condition_dtype(x):
    return np.where(x, x, 1.5), np.where(True, x, 2), np.where(x > 0, x, np.float32(2)), np.where(x.ndim, 1, 0)


@case(A)
def unary_functions(x):
    return abs(x), np.abs(x), np.absolute(x), -x, +x, np.negative(x), np.sign(x), np.square(x), np.fabs(x)


@case(I, 3)
@case(I, np.int8(5))
@case(N, 0.75)
@case(N, 2)
def division(x, y):
    return divmod(x, y), np.divmod(x, y), x // y, x % y, x / y, np.mod(x, y), np.true_divide(x, y), divmod(y, x)


@case(N)
def powers(x):
    return x**2, x**0.5, x**-1, x**1, x**3, 2**x, x**x, np.power(x, 2), pow(x, 2), x**2.0, x**0


@case(I)
def integer_powers(x):
    return x**2, x**3, x**0, x**1, 2.0**x, np.square(x), (-1) ** 3 * x, x ** np.int8(2)


@case(M, np.array([True, True, False]))
@case(BYTES, np.array(3, np.uint8))
@case(I, 6)
def bitwise(a, b):
    return a & b, a | b, a ^ b, ~a, np.bitwise_and(a, b), np.logical_and(a, b), np.logical_not(a), np.invert(a)


@case(I, 2)
@case(BYTES, np.uint8(3))
def shifts(a, b):
    return a << b, a >> b, np.left_shift(a, b), 1 << a.ndim


@case(A, A)
@case(A, V)
@case(I, 2)
def comparisons(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b, np.equal(a, b), np.greater_equal(a, b), (a > 0) == (b > 0)


@case(BYTES)
@case(I)
def comparisons_out_of_range(x):
    return x < 300, x == -1, x > 2**70, x != -(2**70), 2**64 > x, x <= 2**63


@case(A)
def augmented_scalars(x):
    n = 1
    n += 2
    n *= 3
    n **= 2
    n -= 0.5
    t = (1,)
    t += (2,)
    s = np.float32(2)
    s *= 3
    return x * n, t, s


@case(np.float64(2.0), 3)
def augmented_runtime_scalars(x, n):
    x += 1
    n *= 2
    return x * n, n


@case(A)
def constants_only(x):
    return 1, 2.5, True, None, "text", np.float32(3), (), [], {}, (1, [2, {"a": x}])


@case(A)
def numpy_of_constants(x):
    return np.sqrt(2), np.add(1, 2), np.maximum(1, 2.0), np.float32(1) + 1, np.sqrt(2) * x, np.multiply(2, 3) * x


# Views.


@case(A)
@case(np.asfortranarray(A))
@case(A[::-1, ::2])
def view_results(x):
    return (
        x,
        x.T,
        x[0],
        x[-1],
        x[0, 1],
        x[1:],
        x[::-1],
        x[..., 0],
        x[None],
        x[:, np.newaxis],
        x[:, ::-2],
        x[1, 1:],
        x[:],
        x[...],
        x[:, :],
    )


@case(A)
@case(A.T)
@case(A[:, ::-1])
def view_arithmetic(x):
    return x.T + 1, x[0] * 2, x[..., 0] + 1, x[None] + x[:, None], x[::-1, ::2] + 1, x[-1:] * 1, x[np.int64(1), np.int8(0)] + 1


@case(A)
def view_functions(x):
    return (
        np.transpose(x),
        x.transpose(1, 0),
        x.transpose((1, 0)),
        np.transpose(x, (1, 0)),
        np.swapaxes(x, 0, 1),
        x.swapaxes(0, -1),
        np.expand_dims(x, 0),
        np.expand_dims(x, (0, -1)),
        np.squeeze(x[:1], axis=0),
        x[:1].squeeze(0),
        np.moveaxis(x[None], 0, -1),
        x[..., None].mT,
        np.matrix_transpose(x),
        x.conj(),
        x.real,
        np.real(x),
        np.conj(x),
        np.conj(x > 0),
        (x > 0).conj(),
    )


@case(N)
def stencil(x):
    return x[2:] - 2 * x[1:-1] + x[:-2], x[1:] - x[:-1], x[::2], x[::-2], x[-3:-1], x[-1:-4:-1], x[4:1:-2]


@case(N)
def slices_past_the_end(x):
    return x[10:], x[:10], x[-10:], x[:-10], x[10::-1], x[-10::-1], x[3:1], x[1:3:-1], x[:10:-1], x[100:-100:-3], x[:-7:-2]


@case(N)
def slice_values(x):
    return x[10:] + 1, x[:10] + 1, x[-10:] * 1, x[10::-1] + 1, x[-2::-1] + 0, x[slice(1, None, 2)] + 1, x[-4:4] - 1


@case(N)
def slice_by_length(x):
    n = len(x)
    return x[: n // 2], x[n // 2 :] + 1, x[n - 2], x[1 : n - 1] + 1, x[-n:] + 1, x[n // 2 : n : 2]


@case(A, V)
def broadcast(x, v):
    return x + v, x * v[None], v[:, None] * v, x[:, :1] + x, x[:1] - x, np.where(M_GLOBAL > 0, x, v)


M_GLOBAL = 1


@pytest.mark.parametrize(("function", "args", "kwargs"), CASES)
def test_same_as_numpy(function, args, kwargs):
    same(function, *args, exact=function in EXACT, **kwargs)


INEXACT = (
    where_clip,
    string_argument,
    math_static,
    numpy_of_constants,
    powers,
    integer_powers,
    function_argument,
    length_arithmetic,
)
EXACT = tuple({p.values[0] for p in CASES} - set(INEXACT))

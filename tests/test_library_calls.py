"""Products, solvers, transforms and sorting: library calls with compiled work around them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.library import LIBRARY, numpy_library
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.verifier import verify
from pytocu.runtime.host_steps import _counts, _counts_of_sorted, _sorted_by_cupy, _with_plain_nan
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(3)
A = RANDOM.random((40, 30))
B = RANDOM.random((30, 50))
SQUARE = RANDOM.random((20, 20)) + 20 * np.eye(20)
SYMMETRIC = SQUARE + SQUARE.T
V = RANDOM.random(30)
W = np.float64([3, np.nan, 1, 3, -2, np.nan, 0, 1])


def layer(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.maximum(x @ w + b, 0)


def products(a: np.ndarray, b: np.ndarray, v: np.ndarray) -> Any:
    return a @ b, a @ v, v @ b, v @ v, np.dot(a, b), np.matmul(b.T, a.T), np.outer(v, v), np.inner(a, a), (a * 2) @ (b + 1)


def einsums(a: np.ndarray, b: np.ndarray, v: np.ndarray) -> Any:
    s = np.einsum
    return (s("ij,jk->ik", a, b), s("ij,jk->ki", a, b), s("ij,j->i", a, v), s("ij->ji", a), s("ij->", a), s("i,j->ij", v, v),
            s("ij,ij->i", a, a), s("ij,jk", a, b), s("ii", a @ a.T), s("ij,ik->jk", a, a), s("i,i", v, v))  # fmt: skip


def stacks(a: np.ndarray, b: np.ndarray) -> Any:
    return a @ b, np.einsum("nij,njk->nik", a, b), np.tensordot(a, b[0], 1), np.tensordot(a, b, ((0, 2), (0, 1))), a @ b[0]


def solved(a: np.ndarray, b: np.ndarray) -> Any:
    x = np.linalg.solve(a, b * 2)
    return x + 1, np.linalg.inv(a) @ b, np.linalg.det(a) * 2, np.linalg.cholesky(a @ a.T)


def decomposed(a: np.ndarray) -> Any:
    values, vectors = np.linalg.eigh(a)
    q, r = np.linalg.qr(a)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    sign, logarithm = np.linalg.slogdet(a)
    return values, np.abs(vectors), (q @ r), (u * s) @ vh, sign * logarithm, np.linalg.eigvalsh(a).max(), np.linalg.svdvals(a)


def transformed(x: np.ndarray) -> Any:
    f = np.fft.fft(x)
    f[10:] = 0
    return np.fft.ifft(f).real, np.fft.rfft(x, axis=0), np.fft.irfft(np.fft.rfft(x)), np.abs(np.fft.fft2(x)), np.fft.fft(x, 8)


def ordered(x: np.ndarray) -> Any:
    return np.sort(x), np.argsort(x, kind="stable"), np.unique(x), np.sort(x)[::-1] * 2, x[np.argsort(x, kind="stable")]


def sorted_in_place(x: np.ndarray) -> np.ndarray:
    x.sort(axis=0)
    return x


def searched(a: np.ndarray, v: np.ndarray) -> Any:
    s = np.sort(a)
    return np.searchsorted(s, v), np.searchsorted(s, v, side="right"), np.searchsorted(s, 1), s.searchsorted(v[0])


def power_iteration(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    for _ in range(3):
        x = a @ x
        x = x / np.sqrt((x * x).sum())
    return x


def into(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[...] = a @ b
    a[...] = out[:, : a.shape[1]]


def assigned(context: np.ndarray, b: np.ndarray) -> Any:
    c = context @ b
    c[0] = 1
    c += 1
    return c, c.T


def counted(numbers: np.ndarray) -> Any:
    return np.bincount(numbers, minlength=20) + 1


def similar(x: np.ndarray, y: np.ndarray, a: np.ndarray, v: np.ndarray) -> Any:
    # Every kernel of these reads what would take long to compute again, the library too.
    kernel = np.exp(np.sum(x**2, 1).reshape(-1, 1) + np.sum(y**2, 1) - 2 * np.dot(x, y.T))
    return kernel.T @ v, np.linalg.solve(a, kernel)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = [
    (layer, (A, B, np.arange(50.0)), 0),
    (products, (A, B, V), 64),
    (products, (np.float32(A), np.float32(B), np.float32(V)), 64),
    (products, (A + 1j, B - 2j, V * 1j), 64),
    (products, (np.int32(A * 9), np.int64(B * 9), np.int16(V * 9)), 0),
    (einsums, (A, B, V), 256),
    (stacks, (RANDOM.random((3, 20, 19)), RANDOM.random((3, 19, 18))), 64),
    (solved, (SQUARE, SQUARE[:, :18].copy()), 512),
    (transformed, (RANDOM.random((4, 20)),), 512),
    (ordered, (W,), 0),
    (ordered, (np.arange(100) * 37 % 11,), 0),
    (sorted_in_place, (A,), 0),
    (searched, (W, np.float64([0, 1, 2, np.nan, 3, -5])), 0),
    (searched, (np.int32([3, 1, 2]), np.float64([0.5, 1, 9])), 0),
    (into, (A, RANDOM.random((30, 50)), np.zeros((40, 50))), 0),
    (assigned, (A, B), 0),
    (counted, (np.arange(100) * 37 % 11,), 0),
    (similar, (RANDOM.random((6, 2)), RANDOM.random((5, 2)), np.eye(6) * 5 + 1, RANDOM.random(6)), 512),
]


@pytest.mark.parametrize(("function", "arguments", "ulp"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_numpys_results(function: Callable[..., Any], arguments: tuple[Any, ...], ulp: float) -> None:
    everywhere(function, *arguments, ulp=ulp)


def test_decompositions() -> None:
    for found, expected in zip(pytocu.jit(decomposed)(SYMMETRIC), decomposed(SYMMETRIC), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    made = pytocu.jit(lambda a: np.linalg.eigh(a))(SYMMETRIC)
    assert type(made) is type(np.linalg.eigh(SYMMETRIC))


def steps(function: Callable[..., Any], *arguments: Any) -> list[str]:
    plan = pytocu.jit(function).lower(*arguments).compile("cpu").plan
    return [step[2] if step[0] == "library" else step[0] for step in plan.steps if step[0] in ("library", "launch")]


def test_what_is_a_library_call() -> None:
    assert steps(layer, A, B, np.arange(50.0)) == ["matmul", "launch"]
    assert steps(lambda a, b: a.T @ b, A, A) == ["matmul"]
    assert steps(lambda a, v: a @ v + 1, A, V) == ["launch"]
    # Three coordinates, a few rows: sums of products in the kernel around them.
    assert steps(lambda p, r: p @ r + 1, A[:, :3].copy(), np.eye(3)) == ["launch"]
    assert steps(lambda a, b: a @ b, np.int32(A), np.int32(B)) == ["launch"]


def test_library_calls_are_shown() -> None:
    jitted = pytocu.jit(layer)
    arguments = A, B, np.arange(50.0)
    jitted(*arguments)
    assert jitted.specializations[0].library_calls == ("matmul",)
    assert "library call: np.matmul (line " in str(jitted.explain(*arguments))
    text = jitted.lower(*arguments).ir("bufferize")
    assert 'library %x, %w {function = "matmul"} : f64[x_0, w_1]' in text


def test_nothing_but_the_list_computes_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's functions are called by ready programs for library calls and to make arrays only."""
    if not hasattr(sys, "monitoring"):
        pytest.skip("Python 3.12 says what is called")
    # `counts` is NumPy's bincount.
    allowed = [np.empty, np.asarray, np.bincount, *map(numpy_library, LIBRARY)]
    jitted = [(pytocu.jit(f), a) for f, a, _ in CASES if f is not transformed]
    for function, arguments in jitted:
        function(*arguments)
        function(*arguments)
    seen: list[Any] = []

    def note(code: Any, offset: int, called: Any, first: Any) -> None:
        numpys = isinstance(called, np.ufunc) or (getattr(called, "__module__", None) or "").startswith("numpy")
        if numpys and not code.co_filename.startswith(np.__path__[0]):
            seen.append(called)

    tool = sys.monitoring.DEBUGGER_ID
    sys.monitoring.use_tool_id(tool, "calls of NumPy")
    sys.monitoring.register_callback(tool, sys.monitoring.events.CALL, note)
    sys.monitoring.set_events(tool, sys.monitoring.events.CALL)
    try:
        for function, arguments in jitted:
            function(*arguments)
        np.median(V)
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.free_tool_id(tool)
    others = {c for c in seen if not isinstance(c, type) and not any(c is a for a in allowed)}
    # The call in this test shows that calls are seen.
    assert others == {np.median}


def test_verifier_knows_the_list() -> None:
    function = pytocu.jit(lambda a, b: a @ b).lower(A, B).function
    verify(function)
    text = print_function(function)
    assert 'library %a, %b {function = "matmul"} : f64[a_0, b_1]' in text
    assert print_function(parse_function(text)) == text
    for wrong in (text.replace('"matmul"', '"linalg.eig"'), text.replace(": f64[a_0, b_1]", ": f32[a_0, b_1]")):
        with pytest.raises(Exception, match="library"):
            verify(parse_function(wrong))


@pytest.mark.parametrize(
    ("function", "arguments", "sentence"),
    [
        (lambda a, b: a @ b, (A, A), "mismatch in its core dimension 0"),
        (lambda a, b: a @ b, (np.ones((2, 4, 4)), np.ones((3, 4, 5))), "remapped shapes"),
        (lambda a, b: a[1:] @ b[:-1], (np.ones((5, 2, 40, 40), "f4"), np.ones((5, 4, 40, 50), "f4")), "remapped shapes"),
        (lambda a, b: np.matmul(a, b), (np.ones((2, 3, 4), int), np.ones((1, 5, 4, 2), int)), "remapped shapes"),
        (lambda a, b, c: np.matmul(a, b, out=c), tuple(np.ones((n, 2, 2)) for n in (2, 3, 2)), "remapped shapes"),
        (lambda a, b: np.matmul(a, b, axes=[(0, 1), (1, 2), (0, 1)]), (np.ones((2, 4, 3)), np.ones((2, 4, 5))),
         "remapped shapes"),
        (lambda a, b: np.vecdot(a, b), (np.ones((2, 4)), np.ones((3, 4))), "remapped shapes"),
        (lambda a, b: np.vecdot(a, b, axis=0, keepdims=True), (np.ones((4, 2)), np.ones((4, 3))), "remapped shapes"),
        (lambda a, b: np.dot(a, b), (A, A), "not aligned"),
        (lambda a: np.linalg.inv(a), (np.float16(SQUARE),), "float16 is unsupported"),
        (lambda a: np.linalg.inv(a), (np.zeros((3, 3)),), "Singular matrix"),
        (lambda a: np.linalg.inv(a), (A,), "must be square"),
        (lambda a: np.linalg.inv(a), (V,), "at least two-dimensional"),
    ],
)
def test_errors_are_numpys(function: Callable[..., Any], arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(Exception) as numpys:
        function(*arguments)
    with pytest.raises(ValueError if isinstance(numpys.value, ValueError) else TypeError, match=sentence) as ours:
        pytocu.jit(function)(*arguments)
    assert str(ours.value).splitlines()[0] == str(numpys.value)
    if isinstance(numpys.value, np.linalg.LinAlgError):
        assert isinstance(ours.value, np.linalg.LinAlgError)


def test_what_has_no_library_call_says_so() -> None:
    with pytest.raises(UnsupportedError, match=r"np\.roots is not supported"):
        pytocu.jit(lambda x: np.roots(x))(np.ones(3))
    with pytest.raises(UnsupportedError, match="linalg"):
        pytocu.jit(lambda x: np.linalg.eig(x))(SQUARE)


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u4", "i8"])
@pytest.mark.parametrize("length", [1, 5, 128, 256, 300])
def test_counts_by_counting_and_by_sorting(dtype: str, length: int) -> None:
    most = min(length - 1, np.iinfo(dtype).max)
    numbers = np.random.default_rng(length).integers(0, most + 1, 500).astype(dtype)
    start = np.arange(length) - 3
    for given in (numbers, numbers[:0], np.tile(numbers, 2**10)[:-1], np.tile(numbers, 2**11)[::2], np.full(3, most, dtype)):
        expected = numpy_library("counts")(start, given)
        for made in (_counts(np, start, given), _counts_of_sorted(np, start, given)):
            np.testing.assert_array_equal(made, expected, strict=True)
    assert expected[most] == start[most] + 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_without_a_sign_are_what_a_library_sorts_by_bits(dtype: str) -> None:
    given = np.array([1, -np.nan, -0.0, np.nan, -np.inf, -1], dtype)
    made = _with_plain_nan(np, given)
    assert made.dtype == given.dtype and np.signbit(given[1]) and not np.signbit(made[[1, 3]]).any()
    np.testing.assert_array_equal(made, given)
    assert (np.signbit(made) == [False, False, True, False, True, True]).all()
    integers = np.arange(3)
    assert _with_plain_nan(np, integers) is integers


class Stable:
    """NumPy with the two functions as CuPy has them."""

    where, take_along_axis, int32, int64 = np.where, np.take_along_axis, np.int32, np.int64

    @staticmethod
    def argsort(array: np.ndarray, axis: int) -> np.ndarray:
        # Libraries differ in where NaN with other bits stand, and in whether subnormal numbers are zeros.
        assert array.dtype.kind == "i"
        return np.argsort(array, axis, kind="stable")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("axis", [0, -1])
def test_complex_numbers_are_sorted_by_their_parts(dtype: str, axis: int) -> None:
    parts = [1, -np.nan, np.nan, -np.inf, np.inf, -1, -0.0, 0.0, np.finfo(dtype).smallest_subnormal]
    given = np.zeros((3, len(parts) ** 2), dtype)
    for row in given:
        row[:] = RANDOM.permutation([complex(x, y) for x in parts for y in parts])
    order = _sorted_by_cupy(Stable, "argsort", given, axis)
    np.testing.assert_array_equal(order, np.argsort(given, axis, kind="stable"))
    made = _sorted_by_cupy(Stable, "sort", given, axis)
    compare(made, np.take_along_axis(given, order, axis))
    np.testing.assert_array_equal(made, np.sort(given, axis))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_first_of_complex_numbers_that_are_nan_in_a_part_stays(dtype: str) -> None:
    def different(x: Any) -> Any:
        return np.unique(x), np.unique(x, equal_nan=False), np.unique(x, return_counts=True), np.unique(x[:0])

    parts = [1, np.nan, -np.inf, 0.0]
    for _ in range(4):
        given = RANDOM.permutation(np.array([complex(x, y) for x in parts for y in parts], dtype))
        compare(pytocu.jit(different)(given), different(given))


def test_cubins() -> None:
    builds(layer, A, B, np.arange(50.0))
    builds(searched, W, W)


def test_a_result_of_fewer_axes_inside_of_a_reduction() -> None:
    """What a library reads is no matter of the element that is asked for."""
    jitted = pytocu.jit(lambda a: (np.linalg.svdvals(a)[:, None] * a @ a.T).sum(0))
    a = np.random.default_rng(0).random((20, 40))
    np.testing.assert_allclose(jitted(a), (np.linalg.svdvals(a)[:, None] * a @ a.T).sum(0), rtol=1e-12)


def filtered(x, n):
    spectrum = np.fft.rfft(x, n=2 * n)
    spectrum[2:] = 0
    return np.fft.irfft(spectrum, n=x.size), np.fft.fft(x, n), np.fft.ifft(x, len(x) + 3)


def test_transforms_of_a_length_of_run_time() -> None:
    for size in (1, 2, 5, 8):
        for n in (1, 3, 8, 0, -1):
            everywhere(filtered, np.random.default_rng(size).random(size), n, ulp=64)


def test_what_a_library_made_is_passed_on_as_it_is() -> None:
    low = pytocu.jit(lambda a, b, c: a @ b @ c).lower("f64[n, k]", "f64[k, m]", "f64[m, l]")
    assert [step[0] for step in low.compile("cpu").plan.steps] == ["library", "library"]

    def changed_behind(a: Any, b: Any) -> Any:
        c = a @ b
        d = c @ b
        c += 1
        return c, d, c @ d, np.linalg.inv(a @ b).T @ c

    everywhere(changed_behind, np.random.default_rng(1).random((20, 20)), np.random.default_rng(2).random((20, 20)), ulp=1e9)


def products_in_steps(a, b, n):
    """What a step is given is read where it lies, also before it changes there."""
    made = a + 1
    for k in range(n):
        c = np.sort(made) @ b
        made[1:] += c[:-1]
        if k % 2:
            c, made = made, np.sort(c)
        b = np.linalg.inv(b + np.eye(len(b)) * 9) @ b
        b[0] *= 2
    return made, b


def test_what_a_step_is_given_is_not_copied_for_a_library() -> None:
    def multiplied(a, b, n):
        for _ in range(n):
            b = a @ b
        return b

    steps = pytocu.jit(multiplied).lower("f64[n, n]", "f64[n, n]", "weak int").compile("cpu").plan.steps
    # What is carried has memory of its own, to which the result goes; nothing is copied before the call.
    assert [step[0] for step in steps if step[0] in ("launch", "library")] == ["launch", "library", "launch"]
    for n in (0, 1, 5):
        everywhere(products_in_steps, *np.random.default_rng(n).random((2, 20, 20)), n, ulp=1e9)


def solved_and_put_in(a, u, v, n):
    for i in range(n):
        if i % 2 == 0:
            a[:, 1] = u
        u = np.linalg.solve(a, v)
        a[:, 1] = u
    return a, u


def test_a_part_becomes_what_a_library_makes_of_the_whole() -> None:
    a = np.random.default_rng(8).random((5, 5)) + np.eye(5)
    everywhere(solved_and_put_in, a, a[0].copy(), a[1].copy(), 3, ulp=1e9)
    given, passed = a.copy(), a.copy()
    expected = solved_and_put_in(given, a[0].copy(), a[1].copy(), 3)
    found = pytocu.jit(solved_and_put_in)(passed, a[0].copy(), a[1].copy(), 3)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    np.testing.assert_allclose(passed, given, rtol=1e-9)


def product_in_place(a, b):
    c = a
    a @= b
    return a is c


def product_bound_again(a, b):
    total = 2 * a[0]
    total @= b
    a[0] @= b
    return total, a


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (3,)])
def test_products_in_place(shape: tuple[int, ...]) -> None:
    a, b = np.arange(np.prod(shape), dtype=float).reshape(shape), np.arange(9.0).reshape(3, 3)
    for function in (product_in_place, product_bound_again)[: len(shape)]:
        wanted, found = a.copy(), a.copy()
        compare(pytocu.jit(function)(found, b), function(wanted, b))
        compare(found, wanted)


MATRIX = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    ("a", "b"),
    [(MATRIX.astype(int), MATRIX), (MATRIX, MATRIX[0]), (MATRIX, 2.0), (MATRIX, MATRIX[:2]), (MATRIX, MATRIX[:, :2])],
)
def test_products_in_place_that_numpy_refuses(a: Any, b: Any) -> None:
    before = a.copy()
    with pytest.raises((ValueError, TypeError)) as wanted:
        product_in_place(a.copy(), b)
    with pytest.raises(type(wanted.value)) as found:
        pytocu.jit(product_in_place)(a, b)
    assert str(wanted.value) in str(found.value)
    assert (a == before).all()


def sorted_and_filled(x):
    made = np.sort(x, axis=None, kind="stable")
    x.fill(9)
    return made


def sorted_and_changed(x):
    made = np.sort(x[::1])
    x[0] = 77
    return made, x


def solved_and_filled(x):
    made = np.linalg.solve(np.eye(4) * 2.0, x[:])
    x += 5
    return made


def of_an_own_array(x):
    y = x * 2
    made, places = np.sort(y, axis=None), np.argsort(y[:])
    y[1:] = 0
    return made, places, y


@pytest.mark.parametrize("function", [sorted_and_filled, sorted_and_changed, solved_and_filled, of_an_own_array])
def test_what_a_library_reads_is_changed_behind_the_call(function: Callable[..., Any]) -> None:
    """A view of the whole array is read where it is."""
    x = np.array([3.0, 1.0, 2.0, 5.0])
    given, own = x.copy(), x.copy()
    compare(pytocu.jit(function)(own), function(given))
    compare(own, given)


def test_a_library_reads_an_argument_before_it_changes_without_a_copy() -> None:
    compiled = pytocu.jit(sorted_and_filled).lower("f64[n]").compile("cpu")
    assert "_before" not in print_function(compiled.host)


def sorted_and_changed(x):
    ordered = np.sort(x, axis=0)
    x[..., 1:] += x[..., :-1]
    return ordered | x[-1:]


def sorted_in_turns(x):
    first = np.sort(x, axis=0)
    x += first
    second = np.sort(x, axis=0)
    x -= second
    return first + second + x


@pytest.mark.parametrize("function", [sorted_and_changed, sorted_in_turns])
@pytest.mark.parametrize("shape", [(1, 2), (1, 5), (3, 4)])
def test_a_library_is_called_before_what_it_reads_is_changed(function: Any, shape: tuple[int, int]) -> None:
    """Also where only what comes behind the change reads its result."""
    given, passed = (np.ones(shape, np.int32) for _ in range(2))
    expected = function(given)
    compare(pytocu.jit(function)(passed), expected)
    compare(passed, given)


REPEATED: list[Callable[..., Any]] = [
    lambda x, y: (np.sort(np.broadcast_to(x, (4, 3)), axis=0), np.sort(np.broadcast_to(x, (4, 3)), axis=1)),
    lambda x, y: (np.sort(np.broadcast_to(x[None, :, None], (4, 3, 2)), axis=1),),
    lambda x, y: (np.sort(np.broadcast_to(y[:, None], (4, 3)).T, axis=1), np.argsort(np.broadcast_to(x, (4, 3)), axis=0)),
    lambda x, y: (np.partition(np.broadcast_to(x, (4, 3)), 1, 0), np.fft.fft(np.broadcast_to(x, (4, 3)), axis=0)),
    lambda x, y: (np.fft.rfft(np.broadcast_to(x[None, :, None], (4, 3, 2)), axis=1),),
]


@pytest.mark.parametrize("function", REPEATED)
def test_what_libraries_make_of_repeated_elements_lies_as_numpys(function: Callable[..., Any]) -> None:
    x, y = np.array([3.0, 1, 2]), np.arange(4.0)
    for found, expected in zip(pytocu.jit(function)(x, y), function(x, y), strict=True):
        assert found.strides == expected.strides
        np.testing.assert_allclose(found, expected)

"""Loops and branches of run time: against NumPy on the CPU, thread by thread as a GPU runs them, and built for one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(6)
VECTOR, MATRIX = RANDOM.random(100), RANDOM.random((7, 5))
PLANE = RANDOM.random((4, 6)) - 0.5 + 1j * (RANDOM.random((4, 6)) - 0.5)


def julia(z, c, n):
    for _ in range(n):
        z = z * z + c
    return z


def escape_time(re, im, n):
    zr = np.zeros_like(re)
    zi = np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for i in range(n):
        zr2 = zr * zr
        zi2 = zi * zi
        inside = zr2 + zi2 <= 4
        count = np.where(inside, i + 1, count)
        zi = np.where(inside, 2 * zr * zi + im, zi)
        zr = np.where(inside, zr2 - zi2 + re, zr)
    return count


def counted(x, n):
    k = 0
    while k < n:
        x = x + k
        k += 1
        if k == 5:
            break
    else:
        x = x * 2
    return x, k


def leaves_unrolled(x, tolerance):
    for i in range(20):
        if i > tolerance:
            return x + i
        x = x * 1.5
    return x


def three_ways(x, n):
    if n > 3:
        y = x + 1
    elif n < 0:
        y = x - 1
    else:
        return x * 2
    return y


def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


def all_exits(x, n):
    for i in range(n, 0, -1):
        for j in range(i):
            if j == 3:
                continue
            if i == 2:
                break
            if j == 7:
                return x
            x = x + i * j
    return x - 1


def numpy_scalar(x, n):
    m = np.float32(3)
    for i in range(n):
        m = m * np.float32(1.5) + i
        if m > 20:
            break
    return x * m, m


def in_place(x, n):
    for i in range(n):
        x *= 0.5
        x += i
    return x


def root(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def series(x):
    term = np.ones_like(x)
    total = np.ones_like(x)
    for k in range(1, 100):
        term = term * x / k
        total = total + term
    return total


def two_shapes(a, b, n):
    for _ in range(n):
        a = a + 1
        b = b * 2
    return a, b


def stepped(x, first, last, step):
    for i in range(first, last, step):
        x = x * 2 + i
    return x


def backwards(x, n):
    for i in reversed(range(1, n)):
        x = x * 2 + i
    return x


def nested(x, n, m):
    for i in range(n):
        for j in range(i, m):
            x = x + i * j
    return x


def halves(x, n):
    for i in range(n):
        x = x * np.float16(1.01) + i
    return x


def weights(x, w):
    total = np.zeros_like(x)
    for k in range(w.shape[0]):
        total = total + w[k] * x
    return total


def rows(x):
    total = x[0] * 0
    for row in x:
        total = total + row
    return total


def enumerated(x, w):
    total = np.zeros_like(x)
    for k, v in enumerate(w):
        total += v * x + k
    return total


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def early(x, n):
    if n == 0:
        return x * 2
    for _ in range(n):
        x = x + 1
    return x * 1.0


def for_else(x, n, k):
    for i in range(n):
        if i == k:
            x = x + 100
            break
        x = x + i
    else:
        x = x - 1
    return x


def divided_before(x, n):
    most = x.max()
    for _ in range(n):
        x = x / most
    return x


def by_a_sum(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


def small_ints(x, n):
    for i in range(n):
        x = x + i
    return x


def divisions(x, n):
    k = 3
    for _ in range(n):
        k = k - 1
        x = x + 1 // k
    return x


def views(x, n):
    y = x[1:]
    for _ in range(n):
        y = y + x[:-1]
    return y[::2]


def operands_turned_round(x, y, n):
    for _ in range(n):
        x = y + x
    return x


def guarded(x, i, n):
    total = x * 0
    while i < n and x[i] < 2:
        total = total + x[i]
        i += 1
    return total


def branch_in_loop(x, n):
    for i in range(n):
        if i % 2:
            x = x * 2
        else:
            x = x + 1
    return x


def guarded_index(x, n):
    y = x * 1
    if n > 3:
        y = y + x[3]
    return y


def side_by_side(x, y, n):
    total = np.zeros_like(x[0])
    for a, b in zip(x, y, strict=False):
        total = total + a * b
    for i, (a, k) in enumerate(zip(x, range(n), strict=False)):
        total = total - a * k + i
    for k, a in zip(range(1, 20, 3), y, strict=False):
        total = total + a * k
    return total


def either_array(x, y, n):
    z = x * 2 if n > 2 else y
    w = x.T if n == 3 else (y + 1 if n else x[::-1])
    return z + 1, w * 2


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (side_by_side, (MATRIX, MATRIX[:4] + 1, 3)),
    (side_by_side, (MATRIX[:2], MATRIX, 20)),
    (side_by_side, (MATRIX[:1], MATRIX, 20)),
    (either_array, (MATRIX[:5], MATRIX[2:], 1)),
    (either_array, (MATRIX[:5], MATRIX[2:], 3)),
    (either_array, (MATRIX[:5], MATRIX[2:], 0)),
    (escape_time, (PLANE.real * 4, PLANE.imag * 4, 50)),
    (escape_time, ((PLANE.real * 4).astype(np.float32), (PLANE.imag * 4).astype(np.float32), 50)),
    (counted, (VECTOR, 9)),
    (counted, (VECTOR, 3)),
    (leaves_unrolled, (VECTOR, 3)),
    (leaves_unrolled, (VECTOR, 30)),
    (three_ways, (VECTOR, 4)),
    (three_ways, (VECTOR, -1)),
    (three_ways, (VECTOR, 1)),
    (greatest_divisor, (84, 36)),
    (greatest_divisor, (-(10**15), 36)),
    (all_exits, (VECTOR, 6)),
    (all_exits, (VECTOR, 12)),
    (numpy_scalar, (VECTOR, 9)),
    (in_place, (VECTOR, 7)),
    (in_place, (MATRIX.T, 3)),
    (in_place, (MATRIX[::2], 3)),
    (root, (np.float64(2),)),
    (series, (MATRIX,)),
    (two_shapes, (VECTOR, MATRIX, 3)),
    (stepped, (VECTOR, 10, -3, -4)),
    (stepped, (VECTOR, 0, 3, 1)),
    (stepped, (VECTOR, 3, 0, 1)),
    (stepped, (VECTOR, 0, 3, 0)),
    (backwards, (VECTOR, 6)),
    (nested, (MATRIX, 3, 4)),
    (halves, (VECTOR.astype(np.float16), 5)),
    (weights, (VECTOR, RANDOM.random(9))),
    (rows, (MATRIX,)),
    (enumerated, (VECTOR, RANDOM.random(9))),
    (collatz, (27,)),
    (early, (VECTOR, 0)),
    (early, (VECTOR, 2)),
    (for_else, (VECTOR, 5, 3)),
    (for_else, (VECTOR, 5, 9)),
    (divided_before, (MATRIX, 5)),
    (by_a_sum, (MATRIX,)),
    (by_a_sum, (-MATRIX,)),
    (small_ints, (np.ones(5, np.int8), 5)),
    (small_ints, (np.ones(5, np.int8), 500)),
    (divisions, (np.ones(5, np.int64), 2)),
    (divisions, (np.ones(5, np.int64), 3)),
    (views, (VECTOR, 3)),
    (operands_turned_round, (VECTOR, VECTOR + 1, 3)),
    (guarded, (VECTOR, 95, 100)),
    (branch_in_loop, (VECTOR, 5)),
    (guarded_index, (VECTOR, 5)),
    (guarded_index, (VECTOR[:2], 2)),
    (guarded_index, (VECTOR[:2], 5)),
]


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]


def _outcome(run: Callable[[], Any]) -> Any:
    """What a call gives, or the first line of what it raises."""
    with np.errstate(all="ignore"):
        try:
            return run()
        except (CompileError, ArithmeticError, ValueError, IndexError) as error:
            return str(error).splitlines()[0]


def _check(got: Any, wanted: Any, what: str) -> None:
    if isinstance(wanted, tuple):
        assert isinstance(got, tuple)
        for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
            _check(a, b, f"{what}, result {number}")
    elif isinstance(wanted, str | bool | int | float):
        assert type(got) is type(wanted), what
        assert got == wanted, what
    else:
        assert type(got) is type(wanted), what
        problem = compare(got, wanted)
        assert not problem, f"{what}: {problem}"


def _names(case: Any) -> str:
    return case.__name__ if callable(case) else ""


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=_names)
def test_loops_and_branches_give_what_numpy_gives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    changed = _copies(arguments)
    wanted = _outcome(lambda: function(*changed))
    given = _copies(arguments)
    _check(_outcome(lambda: pytocu.jit(function)(*given)), wanted, "CPU")
    _check(tuple(given), tuple(changed), "arguments")
    lowered = pytocu.jit(function).lower(*arguments)
    text = print_function(lowered.function)
    assert print_function(parse_function(text)) == text
    for target in ("cuda", "cpu"):
        host = lowered.host(target)
        tree = lowered.function.body.terminator.attr("tree")
        run = lambda host=host, tree=tree: interp.arrange(tree, interp.run(host, _copies(arguments)))  # noqa: E731
        _check(_outcome(run), wanted, target)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("function", [escape_time, all_exits, weights, root], ids=_names)
def test_loops_are_built_for_a_gpu(function: Callable[..., Any], backend: str) -> None:
    arguments = next(a for f, a in CASES if f is function)
    assert len(pytocu.jit(function).lower(*arguments).compile("cuda:sm_90", backend).binary) > 1000


def test_a_loop_of_element_operations_is_one_kernel_with_the_loop_inside() -> None:
    lowered = pytocu.jit(julia).lower("f32[n, m]", "f32[n, m]", "weak int")
    (kernel,) = lowered.kernels
    assert kernel.ir.count("while") == 1
    assert kernel.ir.count("load") == 2
    x, c = np.float32(PLANE.real), np.float32(PLANE.imag)
    _check(pytocu.jit(julia)(x, c, 7), julia(x, c, 7), "julia")


def test_complex_numbers_go_from_step_to_step() -> None:
    got, wanted = pytocu.jit(julia)(PLANE * 0, PLANE * 0.5, 9), julia(PLANE * 0, PLANE * 0.5, 9)
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_long_loops_over_known_numbers_are_not_written_out() -> None:
    function = pytocu.jit(series).lower("f64[n]").function
    assert sum(i.op.name == "multiply" for i in walk(function.body)) == 1


def test_a_long_loop_whose_steps_differ_is_written_out() -> None:
    factors = tuple(range(40))

    def weighted(x):
        for k in range(40):
            x = x + factors[k]
        return x

    assert np.array_equal(pytocu.jit(weighted)(np.arange(5.0)), np.arange(5.0) + sum(factors))


def test_one_code_serves_every_number_of_steps() -> None:
    jitted = pytocu.jit(in_place)
    for n in range(4):
        _check(jitted(np.ones(3), n), in_place(np.ones(3), n), str(n))
    assert len(jitted.specializations) == 1


def test_loops_of_python_scalars_have_no_kernel() -> None:
    assert pytocu.jit(collatz).lower("weak int").kernels == ()


def test_branches_evaluate_one_side() -> None:
    def safe(a):
        return a if a > 1 else 1 / a

    jitted = pytocu.jit(safe)
    assert jitted(2.0) == 2.0
    assert jitted(0.5) == 2.0
    with pytest.raises(ZeroDivisionError):
        jitted(0.0)


def squares(x, n):
    while x.sum() < n:
        x = np.kron(x, x)
    return x


def grows(x, n):
    parts = []
    for _ in range(n):
        parts.append(x)
    return parts


def unassigned(x, n):
    for k in range(n):
        y = x[:k]
    return y


def one_side(x, n):
    if n > 2:
        y = [x]
    return y


def sides_differ(x, n):
    if n > 2:
        y = x
    else:
        y = x.astype(np.float32)
    return y


def returns_differ(x, n):
    if n > 2:
        return x
    return x[x > 0].astype(np.float32)


def returns_none(x, n):
    if x[0] > n:
        return x[x > n]
    return None


def chooses_again(x, n):
    at = np.arange(len(x))
    for k in range(n):
        at = at[x[at] > k]
    return at


def keeps_the_mask(x, n):
    keep = np.ones(len(x), bool)
    for k in range(n):
        keep &= x > k
    return np.arange(len(x))[keep]


@pytest.mark.parametrize(
    ("function", "said", "way_out"),
    [
        (squares, "x is f64[x_0] before a step of the loop and f64[x_0*x_0] after it", "end the loop: while len(x) < n"),
        (grows, "the function returns the list parts, which a loop of run time made longer", "return an array"),
        (unassigned, "y is assigned in a loop that may have no step", "assign it before the loop"),
        (one_side, "y is assigned on one side of a branch only", "assign it on both sides, or name n in @jit(static=(...))"),
        (sides_differ, "y is f64[x_0] on one side of a branch and f32[x_0] on the other", "stays the same, or name n in"),
        (returns_differ, "returns f64[x_0] (line 491) or f32[chosen] (line 492)", "keep the shape"),
        (returns_none, "returns the elements of f64[x_0] that a mask chooses (line", "np.nan, or -1 for a position"),
    ],
    ids=_names,
)
def test_what_has_no_one_type_is_refused(function: Callable[..., Any], said: str, way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)) as caught:
        pytocu.jit(function)(VECTOR, 3)
    assert way_out in (caught.value.help or "")
    assert caught.value.loc is not None


def sides_differ_by_data(x, n):
    if n > x[0]:
        y = x
    else:
        y = [x]
    return y


def test_what_data_decide_is_no_static_argument() -> None:
    with pytest.raises(UnsupportedError, match="y is f64") as caught:
        pytocu.jit(sides_differ_by_data)(VECTOR, 3)
    assert caught.value.help == "give it values of one kind on both sides"
    assert list(pytocu.jit(sides_differ, static=("n",))(VECTOR, 3)) == list(VECTOR)


def test_a_mask_that_is_kept() -> None:
    x = np.array([3.0, 1.0, 5.0, 0.0])
    compare(pytocu.jit(keeps_the_mask)(x, 3), chooses_again(x, 3))
    compare(pytocu.jit(chooses_again)(x, 3), chooses_again(x, 3))


def doubling(x):
    for _ in range(40):
        x = np.concatenate([x, x])
    return x


def test_what_no_memory_holds_is_pythons_error() -> None:
    with pytest.raises(MemoryError, match="Unable to allocate"):
        pytocu.jit(doubling)(np.arange(60.0))


def by_index(x):
    total = 0.0
    for k in range(40):
        total = total + x[k] if k % 2 else total - x[k]
    return total


def growing(x):
    kept = []
    for _ in range(40):
        kept.append(x)
        x = x * 0.5
    return kept[-1] + kept[3]


def counting(x):
    for k in range(40):
        x = x + k
    return x


@pytest.mark.parametrize(("function", "loops"), [(by_index, 0), (growing, 0), (counting, 1)])
def test_many_steps_are_written_out_where_their_numbers_have_to_be_known(function, loops):
    x = np.arange(60.0)
    assert np.array_equal(pytocu.jit(function)(x), function(x))
    assert pytocu.jit(function).lower("f64[n]").ir("lower").count("for_loop") == loops


def assigned_behind(x, n):
    v = x
    if n:
        v = x * 2
    v[0] = 100
    return v


def turned_or_not(x, n):
    v = x[::-1] if n else x
    x += 1
    return v.sum()


def returned_itself(x, n):
    def part(v):
        if n > 1:
            return v
        return v + 1

    v = part(x)
    x[0] = 100
    return v


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("function", [assigned_behind, returned_itself])
def test_changes_of_what_is_one_memory_or_not(function: Callable[..., Any], n: int) -> None:
    given, x = VECTOR.copy(), VECTOR.copy()
    compare((pytocu.jit(function)(given, n), given), (function(x, n), x))


def test_changes_of_what_may_be_one_memory_are_refused() -> None:
    """Whether the change is seen through the other name is known only at run time."""
    with pytest.raises(UnsupportedError, match="may share its memory with an array that is changed"):
        pytocu.jit(turned_or_not)(VECTOR.copy(), 2)


def one_of_three(x, y, z, n):
    a = x
    for i in range(n):
        if i % 2:
            a = y
        elif i % 3:
            a = z
    a += 1
    return a


def test_of_several_arrays_the_first_is_named_each_time() -> None:
    """Not the one that a set of them holds first."""
    said = set[str]()
    for _ in range(8):
        with pytest.raises(UnsupportedError) as refused:
            pytocu.jit(one_of_three)(VECTOR.copy(), VECTOR.copy(), VECTOR.copy(), 4)
        said.add(str(refused.value).split()[0])
    assert said == {"x"}


def changed_behind(x, n):
    v = x
    for _ in range(n):
        v = v * 2
    x[0] = 100
    return v


def own_memory(x, n):
    y = x + 1
    v = y
    k = 0
    while k < n:
        v = np.roll(v, 1)
        k += 1
    y[0] = 100
    return v


@pytest.mark.parametrize("function", [changed_behind, own_memory])
def test_a_loop_that_may_have_no_step_binds_a_name_to_a_new_array(function: Callable[..., Any]) -> None:
    """Without a step it is the array that is changed."""
    for n in (0, 1, 4):
        everywhere(function, VECTOR, n)


def visited(x, n):
    calls, total, name = 0, np.zeros_like(x), np.float64(0)

    def visit(v, w):
        nonlocal calls, total, name
        calls += 1
        total = total + v * w
        name = v.sum()
        return v * 0.5

    for k in range(n):
        x = visit(x, k)
        if n > 4 and name > 1e9:
            break
    return calls, total, x


@pytest.mark.parametrize("n", [0, 1, 5])
def test_names_that_nested_functions_bind_in_steps(n: int) -> None:
    everywhere(visited, VECTOR[:7], n)


def solved(a, b, tolerance, most):
    """Conjugate gradients."""
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for i in range(most):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        if np.sqrt(new) < tolerance:
            return x, i + 1
        p = r + (new / rs) * p
        rs = new
    return x, most


@pytest.mark.parametrize("most", [0, 1, 9])
def test_a_return_from_a_loop_that_changes_what_is_returned(most: int) -> None:
    """What the sides of the branch return is made anew each time that the body is read."""
    a = MATRIX[:5] @ MATRIX[:5].T + np.eye(5)
    x, steps = pytocu.jit(solved)(a, VECTOR[:5].copy(), 1e-9, most)
    expected, count = solved(a, VECTOR[:5].copy(), 1e-9, most)
    assert steps == count and type(steps) is int
    assert np.allclose(x, expected, rtol=1e-9, atol=0)


def copied_before(x, n):
    v = x.copy()
    for _ in range(n):
        v = v * 2
    v[0] = 100
    return v


def read_before_the_change(x, n):
    v = x if n else x[::-1]
    total = v * 2
    x[0] = 100
    return total


def own_and_forgotten(x, n):
    v = x + 1
    if n:
        v = v * 2
    v[0] = 100
    return v


def steps_are_known(x, n):
    v = x
    for _ in range(100):
        v = v * 0.5 + n
    v[0] = 7
    return v, x


@pytest.mark.parametrize("function", [copied_before, read_before_the_change, own_and_forgotten, steps_are_known])
@pytest.mark.parametrize("n", [0, 2])
def test_changes_of_what_is_one_memory_or_another_for_sure(function: Callable[..., Any], n: int) -> None:
    expected, given = VECTOR.copy(), VECTOR.copy()
    compare(pytocu.jit(function)(given, n), function(expected, n))
    compare(given, expected)


def alignment(a, b, match, mismatch, gap):
    table = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            table[i, j] = max(0, table[i - 1, j - 1] + s, table[i - 1, j] - gap, table[i, j - 1] - gap)
    return table


def test_pythons_numbers_are_chosen_by_data() -> None:
    """In a conditional expression, and as the largest number where an array takes it."""
    a, b = np.array([0, 1, 2, 1]), np.array([1, 2, 2, 0, 1])
    for match, gap in ((2.0, 0.5), (3, 1)):
        compare(pytocu.jit(alignment)(a, b, match, -1.0 if match == 2.0 else -1, gap), alignment(a, b, match, -1, gap))


def test_the_largest_number_is_of_the_kind_that_it_is() -> None:
    largest = pytocu.jit(lambda x: max(0, x[0]))
    for first in (1.0, -1.0):
        compare(largest(np.full(3, first)), max(0, np.float64(first)))


def shortest_paths(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def test_a_slice_of_one_element_broadcasts() -> None:
    d = np.random.default_rng(3).random((5, 5))
    compare(pytocu.jit(shortest_paths)(d), shortest_paths(d))
    with pytest.raises(UnsupportedError, match="a slice of one element begins at 3 of an axis of length 3"):
        pytocu.jit(shortest_paths)(d[:, :3])


def settled(a, n):
    x = np.maximum(a, 1.0)
    while True:
        following = 0.5 * (x + a / x)
        if np.all(np.abs(following - x) <= 1e-9 * following):
            return following
        if x.sum() > n:
            return x - n
        x = following


@pytest.mark.parametrize("n", [100.0, 3.5])
def test_a_loop_without_end_is_left_by_return(n: float) -> None:
    a = np.array([0.5, 2.0, 3.0])
    np.testing.assert_array_max_ulp(pytocu.jit(settled)(a, n), settled(a, n), 2)


@pytest.mark.parametrize("count", [1, 3, 2000])
def test_numbers_from_before_a_branch_that_checks_are_numpys(count: int) -> None:
    def checked(x: Any, count: int) -> Any:
        least = np.min(x)
        whole = np.isfinite(least)
        if count > 2:
            assert count > 1000, "few"
        return least, whole, least + 1

    x = np.array([[3, 2, 5]], np.uint8)
    compiled = pytocu.jit(checked)
    if count == 3:
        with pytest.raises(AssertionError, match="few"):
            compiled(x, count)
        return
    compare(compiled(x, count), checked(x, count))
    low = compiled.lower(x, count)
    results = interp.run(low.function, (x, count))
    compare(interp.arrange(low.function.body.terminator.attr("tree"), results), checked(x, count))

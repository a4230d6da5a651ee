"""Views, gathers, joins and generated values give NumPy's bits, shapes, errors and memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError
from pytocu.ir import interp
from pytocu.testing import fuzz_programs
from pytocu.testing.compare import compare
from pytocu.testing.matrix import call_threads
from pytocu.testing.operands import make_function
from pytocu.testing.view_programs import JOINED, ViewProgram, programs

PROGRAMS = programs()


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value]


def expected_of(program: ViewProgram) -> tuple[Any, tuple[Any, ...]]:
    arguments = program.arguments()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.function(*arguments), arguments


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_on_the_cpu(program: ViewProgram) -> None:
    expected, left = expected_of(program)
    arguments = program.arguments()
    compare(pytocu.jit(program.function)(*arguments), expected)
    compare(arguments, left)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_interpreted(program: ViewProgram) -> None:
    expected, left = expected_of(program)
    lowered = pytocu.jit(program.function).lower(*program.arguments())
    for function in (lowered.function, lowered.host("cpu"), lowered.host("cuda")):
        arguments = program.arguments()
        made = interp.run(function, arguments)
        compare(interp.arrange(function.body.terminator.attr("tree"), made), expected)
        compare(arguments, left)


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_cubins(backend: str, part: Any) -> None:
    for program in part(PROGRAMS[::4]):
        code = pytocu.jit(program.function).lower(*program.arguments()).compile("cuda:sm_90", backend)
        assert code.binary or not code.kernels


def test_a_reshape_is_a_view_where_the_layout_says_so() -> None:
    x = np.arange(24.0).reshape(4, 6)
    views = pytocu.jit(
        lambda x: (x.reshape(2, 12), x.ravel(), x.reshape(4, 2, 3), x.T[:, None].reshape(x.shape[1], 1, -1), x.diagonal())
    )
    assert all(np.shares_memory(made, x) for made in views(x))
    copies = pytocu.jit(lambda x: (x.T.reshape(-1), x.flatten(), x.reshape(-1, copy=True), x[:, ::2].ravel()))
    assert not any(np.shares_memory(made, x) for made in copies(x))


def source_changed(x: Any) -> Any:
    v = x[:, 1:-1].reshape(-1)
    x += 1
    return v


def source_changed_in_a_loop(x: Any) -> Any:
    v = x[:, 1:-1].reshape(-1)
    for _ in range(3):
        x += v.sum()
    return x


def copy_changed(x: Any) -> Any:
    v = np.reshape(x[1:-1, 1:-1], -1)
    v += 1
    return v


def rows_changed(x: Any) -> Any:
    v = np.ascontiguousarray(x[1:-1, 1:-1])
    v[0, 0] = 7
    return v


@pytest.mark.parametrize("function", [source_changed, source_changed_in_a_loop, copy_changed, rows_changed])
def test_a_copy_that_lengths_of_1_would_make_a_view(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    for shape in ((4, 6), (5, 7), (3, 3), (3, 6), (4, 3)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        given = x.copy()
        expected = function(x)
        if (np.shares_memory(expected, x) and expected is not x) or (shape[1] == 3 and function is source_changed_in_a_loop):
            with pytest.raises(pytocu.UnsupportedError, match=r"is a view of .* with these lengths and strides"):
                jitted(given)
        else:
            compare(jitted(given), expected)
            compare(given, x)


def every_other(x: Any) -> Any:
    v = x[:, ::2].reshape(-1)
    x += 1
    return v


def turned_lengths(x: Any) -> Any:
    v = x.reshape(x.shape[1], x.shape[0])
    x += 1
    return v


def flat_copy_changed(x: Any) -> Any:
    v = x.T.reshape(-1)
    v[:1] = 7
    return v


def in_three(x: Any) -> Any:
    v = x[:, None].reshape(-1, x.shape[1])
    x[:1] = 7
    return v


def raveled(x: Any) -> Any:
    v = x[1:].ravel()
    x += 1
    return v


PLACES = {
    "rows": lambda n, m: np.arange(float(n * m)).reshape(n, m),
    "columns": lambda n, m: np.arange(float(n * m)).reshape(m, n).T,
    "every other column": lambda n, m: np.arange(2.0 * n * m).reshape(n, 2 * m)[:, ::2],
    "columns of longer rows": lambda n, m: np.arange(n * (m + 1.0)).reshape(n, m + 1)[:, :m],
    "every other column of odd rows": lambda n, m: np.arange(n * (2.0 * m + 1)).reshape(n, 2 * m + 1)[:, :-1:2],
    "backwards": lambda n, m: np.arange(float(n * m)).reshape(n, m)[::-1],
    "both backwards": lambda n, m: np.arange(float(n * m)).reshape(n, m)[::-1, ::-1],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function", [every_other, turned_lengths, flat_copy_changed, in_three, raveled])
def test_what_is_a_view_depends_on_lengths_and_strides(function: Callable[..., Any], place: str) -> None:
    """A reshape of which both sides are seen is NumPy's, or refused where NumPy makes a view."""
    jitted = pytocu.jit(function)
    for shape in ((4, 6), (3, 5), (3, 3), (4, 4), (1, 6), (6, 1), (1, 1), (0, 4)):
        x, given = PLACES[place](*shape), PLACES[place](*shape)
        expected = function(x)
        try:
            made = jitted(given)
        except pytocu.UnsupportedError as error:
            assert re.search("is a view of .* with these lengths and strides", str(error)), error
            assert np.shares_memory(expected, x)
        else:
            compare(made, expected)
            compare(given, x)


PARTS = ("x", "x.T", "x[:, ::2]", "x[:1]", "x[:1, ::2]", "x[:1, ::-1]", "x[:, :1]", "(x + 1)[:, ::-1]", "x[None]")


@pytest.mark.parametrize("place", ["rows", "columns", "every other column", "columns of longer rows"])
@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("part", PARTS)
def test_all_elements_in_an_order(part: str, order: str, place: str) -> None:
    """`ravel` gives a view where the elements lie next to each other in that order, `reshape` more often."""
    source = "def program(x):\n    part = {part}\n    flat = {flat}\n    flat[-1:] = 7\n    part[:1] += 1\n"
    source += "    return flat, part\n"
    for flat in (f"part.ravel(order={order!r})", f"part.reshape(-1, order={order!r})")[: 1 if order == "K" else 2]:
        program = fuzz_programs.make(source.format(part=part, flat=flat), "program")
        jitted = pytocu.jit(program)
        for shape in ((1, 4), (4, 1), (3, 4), (2, 2), (1, 1)):
            x, given = PLACES[place](*shape), PLACES[place](*shape)
            expected = program(x)
            try:
                made = jitted(given)
            except pytocu.UnsupportedError as error:
                known = "is a view of .* with these lengths and strides|is not known while compiling|with order='F'"
                assert re.search(known, str(error)), error
            else:
                compare(made, expected)
                compare(given, x)


LOCALS = {
    "of a result": lambda x: x.T + 1,
    "of a copy": lambda x: x.T.copy(),
    "of an array like it": lambda x: np.zeros_like(x.T),
    "of a filled array like it": lambda x: np.full_like(x.T, 3.0),
    "of a result of both": lambda x: x.T + np.ascontiguousarray(x.T),
    "of a number and a result": lambda x: 2 * np.sqrt(x.T)[:, ::2],
    "of columns": lambda x: x[:, np.array([0, 0])] * 1.0,
    "of a sum": lambda x: np.stack([x, x]).sum(0),
    "of a reshaped one": lambda x: (x + 1).reshape(x.shape[::-1]) * 2,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LOCALS)
def test_results_lie_in_the_order_of_their_operands(name: str, place: str) -> None:
    """Whether a reshape of a result is a view follows from the order that NumPy makes it in."""
    make = LOCALS[name]

    def source_changed(x: Any) -> Any:
        y = make(x)
        z = y.reshape(-1)
        y[:1] = 5
        return z

    def copy_changed(x: Any) -> Any:
        y = make(x)
        z = y.ravel()
        z[1:] = 5
        return y, z

    for function in (source_changed, copy_changed):
        jitted = pytocu.jit(function)
        for shape in ((3, 5), (3, 3), (1, 6), (6, 1)):
            x = PLACES[place](*shape)
            expected = function(x)
            try:
                made = jitted(x)
            except pytocu.UnsupportedError as error:
                assert re.search("is a view of .* (with these lengths and strides|or a copy)", str(error)), error
                assert place != "rows" or name in ("of a number and a result", "of columns", "of a sum")
            else:
                compare(made, expected)


def copy_alone(x: Any) -> Any:
    y = np.sqrt(x)
    z = y.reshape(-1)
    z += 1
    return z.max() + z


def copies_of_one(x: Any) -> Any:
    y = np.sqrt(x)
    first, second = y.reshape(-1), y.reshape(x.shape[1], -1)
    first += 1
    return second * 2


def changed_copies_of_one(x: Any) -> Any:
    y = np.sqrt(x)
    first, second = y.reshape(-1), y.reshape(x.shape[1], -1)
    first += 1
    second += 1
    return second * 2


def copy_of_a_copy(x: Any) -> Any:
    y = np.sqrt(x)
    first = y.reshape(-1)
    second = first[::2].reshape(-1)
    y += 1
    return second * 2


def test_results_lie_as_strided_arguments_do() -> None:
    rows, columns = np.arange(24.0).reshape(4, 6)[:, ::2], np.arange(24.0).reshape(6, 4).T[:, ::2]
    for function in (copy_alone, copies_of_one, changed_copies_of_one, copy_of_a_copy):
        jitted = pytocu.jit(function)
        for x in (rows, columns, rows[::-1], columns[:, ::-1], np.broadcast_to(rows[0], (4, 3)), rows):
            compare(jitted(x), function(x))
        any_strides = jitted.lower("f64[n, m; S]").compile("cpu")
        compare(any_strides(rows), function(rows))
        with pytest.raises(pytocu.UnsupportedError, match="of y lie in memory as those of x, whose axes are not in row-major"):
            any_strides(columns)


def copies_of_columns(x: Any) -> Any:
    y = x[:, np.array([0, 1])]
    first, second = y.reshape(-1), y.reshape(2, -1)
    first += 1
    return second * 2


def copy_of_columns(x: Any) -> Any:
    y = x[:, np.array([0, 1])]
    z = y.reshape(-1)
    z += 1
    return z.max() + z


def copies_of_sorted(x: Any) -> Any:
    y = np.sort(x.T, axis=0)
    first, second = y.reshape(-1), y.reshape(2, -1)
    first += 1
    return second * 2


def copies_of_positions(x: Any) -> Any:
    y = np.argsort(x.T, axis=0)
    first, second = y.reshape(-1), y.reshape(2, -1)
    first += 1
    return second * 2


def copy_of_sorted(x: Any) -> Any:
    y = np.sort(x.T, axis=0)
    z = y.reshape(-1)
    z += 1
    return z.max() + z


def test_what_nobody_reads_may_be_either() -> None:
    x = np.arange(24.0).reshape(4, 6)
    for function in (copy_of_columns, copies_of_columns, copy_of_sorted, copies_of_sorted):
        compare(pytocu.jit(function)(x), function(x))
    with pytest.raises(pytocu.UnsupportedError, match="is a view of y or a copy, as the elements of y lie in memory"):
        pytocu.jit(copies_of_positions)(x)


def test_all_elements_of_lengths_whose_product_is_1() -> None:
    function = pytocu.jit(lambda x: x + x[1:-1, 1:-1].reshape(-1))
    for shape in ((3, 3), (4, 4)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        compare(function(x), x + x[1:-1, 1:-1].reshape(-1))


def test_kernels() -> None:
    one = {
        "flat": lambda x: x.reshape(-1) * 2 + x.ravel(),
        "table": lambda table, i: table[i] * 2 + 1,
    }
    assert len(pytocu.jit(one["flat"]).lower("f32[n, m]").kernels) == 1
    text = pytocu.jit(one["flat"]).lower("f32[n, m]").ir(target="cpu")
    assert "divide" not in text and "remainder" not in text
    assert len(pytocu.jit(one["table"]).lower("f32[n, m]", "i32[k]").kernels) == 1


@pytest.mark.parametrize(
    ("shape", "count"), [((5,), 1), ((20,), 1), ((21,), 2), ((7, 3), 2), ((0,), 1)], ids=lambda v: str(v)
)
def test_a_table_is_computed_once_for_many_positions(shape: tuple[int, ...], count: int) -> None:
    def looked_up(x: np.ndarray, i: np.ndarray) -> Any:
        return (x[::-1] / 3)[i]

    x, i = np.arange(20.0), np.arange(np.prod(shape)).reshape(shape) % 20
    function = pytocu.jit(looked_up)
    assert len(function.lower(x, i).compile("cpu").kernels) == count
    np.testing.assert_array_equal(function(x, i), looked_up(x, i))
    # Where nothing is known of the lengths, the axes of the positions tell.
    assert len(function.lower("f64[n]", f"i64[{', '.join('mk'[: len(shape)])}]").kernels) == len(shape)
    assert len(pytocu.jit(lambda x, i: (x * 2)[i]).lower(x, i).compile("cpu").kernels) == 1


def check_error(function: Callable[..., Any], *arguments: Any) -> None:
    with pytest.raises(Exception) as wanted:
        function(*arguments)
    with pytest.raises(CompileError) as found:
        pytocu.jit(function)(*arguments)
    kinds = [k for k in type(wanted.value).__mro__ if k.__module__ == "builtins" and issubclass(k, Exception)]
    assert isinstance(found.value, kinds[0]), (found.value, wanted.value)
    assert found.value.message.strip() == str(wanted.value).strip()
    assert found.value.loc is not None and found.value.loc.line == function.__code__.co_firstlineno


X, I = np.arange(60.0).reshape(3, 4, 5), np.array([0, 2, -1])
ERRORS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: x.reshape(7, -1), (X,)),
    (lambda x: x.reshape(7), (X,)),
    (lambda x: x.reshape(-1, -1), (X,)),
    (lambda x: x.reshape(2.0, 30), (X,)),
    (lambda x: np.broadcast_to(x, (3, 4, 6)), (X,)),
    (lambda x: np.broadcast_to(x, (4, 5)), (X,)),
    (lambda x, i: np.broadcast_arrays(x, i), (X[0], I[:2])),
    (lambda x: np.diagonal(x[0, 0]), (X,)),
    (lambda x: np.rot90(x, axes=(1, 1)), (X,)),
    (lambda x: np.flip(x, 3), (X,)),
    (lambda x, i: x[i], (X, np.array([1, 7]))),
    (lambda x, i: x[:, i], (X, np.array([1, -5]))),
    (lambda x, i: x[:, :, i], (X.astype(np.complex64), np.uint8([200]))),
    (lambda x, i: x[i, i, i, i], (X, I)),
    (lambda x, i: x[i, i[:2]], (X, I)),
    (lambda x, i: x[i], (X, I * 0.5)),
    (lambda x, i: x[i], (X[:0], I)),
    (lambda x, i: x.take(i), (X[:0], I)),
    (lambda x, i: x.take(i), (X, np.array([3, -99]))),
    (lambda x, i: x.take(i), (X, I * 0.5)),
    (lambda x, i: x.take(i, 5), (X, I)),
    (lambda x, i: x.take(i, mode="q"), (X, I)),
    (lambda x, i: np.take_along_axis(x, i, 0), (X, I)),
    (lambda x, i: np.take_along_axis(x, x, 0), (X, I)),
    (lambda x, i: np.choose(abs(i), [1, 2]), (X, I)),
    (lambda x, n: x[n], (X, 3)),
    (lambda x: np.arange(1, 2, 0), (X,)),
    (lambda x: np.zeros(-1), (X,)),
    (lambda x: np.diag(x), (X,)),
    (lambda x: np.linspace(0, 1, -1), (X,)),
    (lambda x: np.full(3, 300, np.uint8), (X,)),
    (lambda x: np.meshgrid(x, indexing="z"), (X,)),
    (lambda x: np.vander(x), (X,)),
    (lambda x: np.concatenate([x, x[:, 1:]]), (X,)),
    (lambda x: np.concatenate([x, x[0]]), (X,)),
    (lambda x: np.concatenate([]), (X,)),
    (lambda x: np.concatenate([1, 2]), (X,)),
    (lambda x: np.concatenate([x, x], 5), (X,)),
    (lambda x: np.concatenate([x, x], dtype=np.int32), (X,)),
    (lambda x: np.stack([x, x[1:]]), (X,)),
    (lambda x: np.pad(x, -1), (X,)),
    (lambda x: np.pad(x, 1, mode="reflect"), (X[:0],)),
    (lambda x: np.pad(x, (1, 2, 3)), (X,)),
    (lambda x: np.pad(x, 1, mode="q"), (X,)),
    (lambda x: np.diff(x, -1), (X,)),
    (lambda x: np.gradient(x[:1]), (X,)),
    (lambda x: np.gradient(x, 1, 2), (X,)),
    (lambda x: np.repeat(x, -1), (X,)),
    (lambda x: np.tile(x, -1), (X,)),
    (lambda x: np.cross(x, x), (X,)),
    (lambda x: np.roll(x, 1, 4), (X,)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    function, arguments = ERRORS[number]
    check_error(function, *arguments)


def test_the_argument_is_as_it_was_where_a_position_is_out_of_bounds() -> None:
    x, i = np.arange(5.0), np.array([1, 9])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        pytocu.jit(lambda x, i: x[i] + 1)(x, i)
    np.testing.assert_array_equal(x, np.arange(5.0))


@pytest.mark.parametrize("name", ["rows", "of expressions", "reflect 2", "rolled neighbours", "stencil with a border", "diff"])
def test_one_kernel(name: str) -> None:
    """Reading in place makes no temporary; results of several shapes have a kernel each."""
    function = JOINED[name]
    lowered = pytocu.jit(function).lower("f32[n, m]", "f32[n, m]")
    results = len(lowered.function.body.terminator.args)
    assert len(lowered.kernels) <= results


def test_loops_of_the_cpu_have_no_branches() -> None:
    """They are cut where pieces begin, so each becomes vector code."""
    for name, stretches in (("rows", 2), ("rolled neighbours", 4), ("edge 0", 9)):
        kernel = pytocu.jit(JOINED[name]).lower("f64[n, m]", "f64[n, m]").compile("cpu").kernels[0].ir
        inner = kernel.split('{over = "serial"}')[1:]
        assert len(inner) == stretches and not any(" if " in loop.partition("yield")[0] for loop in inner), kernel


def test_within_the_bounds_of_powers() -> None:
    def spaces():
        return np.logspace(0, 3, 7), np.geomspace(1, 1000, 4), np.geomspace(-2, -32, 5, endpoint=False)

    for made, wanted in zip(pytocu.jit(spaces)(), spaces(), strict=True):
        compare(made, wanted, exact=False, ulp=4)


@pytest.mark.parametrize("function", [
    lambda x: np.pad(x, 9, mode="reflect", reflect_type="odd"),
    lambda x: np.pad(x, 1, mode=len),
    lambda x: np.geomspace(1, 1j, 3),
])  # fmt: skip
def test_refusals(function: Callable[..., Any]) -> None:
    with pytest.raises(pytocu.UnsupportedError) as found:
        pytocu.jit(function)(X)
    assert found.value.loc is not None and found.value.help


WITHOUT_AXES = (
    "np.flip(s)", "np.flip(p)", "np.flip(p, ())", "np.choose(b, [s, 3])", "np.choose(b, [p[None], 3])", "b.choose([1, 3])",
    "s.reshape(())", "p.reshape(())", "np.reshape(s, ())", "s.reshape(1)", "np.repeat(s, 2, axis=0)", "p.repeat(2, axis=-1)",
    "np.take(s, 0, axis=0)", "np.take(p, [0, -1], axis=-1)", "p.take(0)", "np.concatenate([p, 300], axis=None)",
    "np.concatenate([p, 2.5], axis=None)", "np.concatenate([x, 0.5, 2], axis=None)", "np.concatenate([x, s], axis=None)",
    "np.concatenate([1, 2.5], axis=None)", "np.concatenate([x, 1j], axis=None)", "np.append(x, 0)",
)  # fmt: skip


@pytest.mark.parametrize("text", WITHOUT_AXES)
def test_scalars_and_arrays_without_axes(text: str) -> None:
    """What is a scalar, what an array without axes, and in which join a Python number is weak."""
    function = make_function(tuple("spbx"), [text], {"np": np})
    arguments = np.uint8(3), np.array(7, np.uint8), np.True_, np.float16([1, 2])
    compare(pytocu.jit(function)(*arguments), function(*arguments))


@pytest.mark.parametrize("text", ["np.repeat(p, 2, axis=1)", "np.take(p, 0, axis=1)"])
def test_axes_that_arrays_without_axes_lack(text: str) -> None:
    function = make_function(("p",), [text], {"np": np})
    # NumPy sees an array of one axis here.
    for either in (function, pytocu.jit(function)):
        with pytest.raises(IndexError, match="axis 1 is out of bounds for array of dimension 1"):
            either(np.array(7, np.uint8))


@pytest.mark.parametrize("layout", ["x", "x[::-1]", "x[:, :1]", "np.flip(x[:, :1])", "x.T", "x[0]", "x[0, ::2]", "x[:1]"])
@pytest.mark.parametrize("text", ["x.ravel()", "np.ravel(x)", "x.reshape(-1)", "x.flatten()"])
def test_what_reads_an_array_after_it_has_changed(layout: str, text: str) -> None:
    """A flat array is a view for `ravel` only where the elements lie next to each other."""
    source = f"def program(x):\n    flat = {text}\n    x[...] = x[::-1] + 1\n    return flat\n"
    program = fuzz_programs.make(source, "program")
    given, wanted = (eval(layout, {"np": np, "x": np.arange(12.0).reshape(3, 4)}) for _ in range(2))
    expected = program(wanted)
    compare(pytocu.jit(program)(given), expected)
    compare(given, wanted)


@pytest.mark.parametrize(
    "text",
    ["np.append(b, a) * c", "np.concatenate([a, b], axis=None) + c", "np.pad(b[0], (1, 0)) + c", "np.eye(c.shape[1] - 2) + c",
     "np.hstack([b, c[:1, :1]]) * c", "np.zeros(c.shape[1] - 2) + c", "np.full((c.shape[1] - 2, 3), 7) * c",
     "np.linspace(0, 1, c.shape[1] - 2) + c",
     "np.tri(c.shape[1] - 2) * c", "np.kron(c[0, 2:], c[1, 2:]) - c", "np.repeat(c[0, :1], c.shape[1] - 2) + c",
     "np.broadcast_to(c[0, 0], (c.shape[1] - 2,)) + c", "c[:1, :1].reshape(c.shape[1] - 2) + c"],
)  # fmt: skip
def test_lengths_that_happen_to_be_one_broadcast(text: str) -> None:
    """NumPy repeats an axis of length 1 wherever the length comes from."""
    function = make_function("abc", [text], {"np": np})
    arguments = np.int16(3), np.zeros((1, 0), np.uint8), np.ones((4, 3), np.float32)
    compare(pytocu.jit(function)(*arguments), function(*arguments))


@pytest.mark.parametrize("rows", [1, 2, 3, 40])
def test_a_piece_is_read_where_it_has_the_position(rows: int) -> None:
    """The elements of a short row are written out, and none of them is read before the loop."""

    def function(a, b):
        joined = np.concatenate([b[:, ::-1], a], axis=None)
        return np.mean(joined > 0, axis=-1), joined

    arguments = np.uint64(2**63), np.ones((rows, 1), np.float16)
    for call in (call_threads, pytocu.jit(function)):
        given = (function, *arguments) if call is call_threads else arguments
        compare(call(*given), function(*arguments))


WRITTEN_OUT = (
    "np.array([1, 2, 3])", "np.array([0.25, 0.5, 0.25]) * b", "np.array([[1, 2, 3], [4, 5, 6]], np.float32)[1] * b",
    "np.asarray((1, 2, 3)) + b", "np.array([True, False, True]) & (b > 0)", "np.array([0.1, np.nan, -0.0], 'f2')[::-1]",
    "np.array([1j, 2, 3]) * b", "np.array([b[0], 2, b.max()])", "np.array([[b[0], 1], [2, 3.5]])", "np.array([b, b * 2])",
    "np.array([a, 1.0, 2])", "np.array([a, a], 'f4')", "np.array([])", "np.array([[], []]).shape", "len(np.array([3, 4]))",
    "np.array([np.int8(3), np.float16(2)])", "np.float32([1, 2, 3]) * b", "b[np.array([0, -1])]", "np.array([3, 4]).sum() + b",
    "np.array([k * 2 for k in range(3)]) + b", "np.array([-1, 0, 1])[:, None] * b", "np.uint8(b)", "np.array(2.5) + b",
    "sum(w * b[k] for k, w in enumerate(np.array([1, 2, 3])))", "np.where(np.array([True, False, True]), b, 0)",
)  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN_OUT)
def test_arrays_that_are_written_out(text: str) -> None:
    function = make_function("ab", [text], {"np": np})
    for arguments in ((np.float32(0.5), np.array([0.0, 1.5, 3.0])), (2.5, np.array([0, 1, 2], np.float32))):
        expected = function(*arguments)
        compare(pytocu.jit(function)(*arguments), expected)
        compare(call_threads(function, *arguments), expected)


def test_arrays_that_are_written_out_are_new() -> None:
    def function(b):
        made = np.array([1.0, 2.0, 3.0])
        made += b
        made[0] = 7
        return made

    compare(pytocu.jit(function)(np.ones(3)), function(np.ones(3)))


@pytest.mark.parametrize(
    "text", ["np.array([[1, 2], [3]])", "np.array([300], np.uint8)", "np.array([b, 1])", "np.array([b, b[:2]])"]
)
def test_arrays_that_are_written_out_as_numpy_refuses(text: str) -> None:
    function = make_function("ab", [text], {"np": np})
    with pytest.raises((ValueError, OverflowError)) as expected:
        function(1.0, np.ones(3))
    with pytest.raises(expected.type):
        pytocu.jit(function)(1.0, np.ones(3))


def gathered_from_a_join(x: np.ndarray, i: np.ndarray) -> np.ndarray:
    longer = np.concatenate([x, np.zeros((x.shape[0], 1))], axis=1)
    return longer.take(np.concatenate([i[:1], i[2:3]]), axis=1, mode="clip").T


def test_positions_of_a_join_that_state_a_position_of_a_join() -> None:
    x, i = np.arange(12.0).reshape(3, 4), np.array([1, 2, 9])
    compare(pytocu.jit(gathered_from_a_join)(x, i), gathered_from_a_join(x, i))


def rolled_by_numbers_of_run_time(x: np.ndarray, k: int) -> Any:
    shifts = np.array([1, -2, 30])
    y = x * 1
    for column, shift in zip(range(3), shifts, strict=True):
        y[:, column] = np.roll(y[:, column], shift)
    for i in range(abs(k) % 5):
        y = np.roll(y, i - 2, axis=1)
    return y, np.roll(x, k), np.roll(x, (-k, 1), (0, 1))


def test_rolls_by_numbers_of_run_time() -> None:
    for k in (0, 3, -7, 2**62):
        for x in (np.arange(12.0).reshape(3, 4), np.zeros((0, 4)), np.arange(4.0).reshape(1, 4)):
            compare(pytocu.jit(rolled_by_numbers_of_run_time)(x, k), rolled_by_numbers_of_run_time(x, k))


READ_ONLY = (
    "np.diagonal(a)", "a.diagonal(1)", "np.diag(a)", "np.linalg.diagonal(a)", "np.diagonal(a + 1)", "np.diagonal(a)[1:]",
    "np.broadcast_to(a, (2, 3, 3))", "np.broadcast_to(a, a.shape)", "np.broadcast_to(a + 1, (2, 3, 3))", "a.imag", "np.imag(a)",
    "np.lib.stride_tricks.sliding_window_view(a, 2, axis=0)", "np.broadcast_arrays(a, a[0])[1]", "np.diagonal(a) + 1", "a.T",
    "a.real", "np.meshgrid(a[0], a[1], copy=False)[0]", "np.einsum('ii->i', a)", "np.broadcast_to(a[0], (3, 3)).copy()",
    "np.broadcast_arrays(a, a)[0]",
)  # fmt: skip


@pytest.mark.parametrize("text", READ_ONLY)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_results_that_nobody_may_write(text):
    """NumPy's flag, in every call, and the argument keeps its own."""
    x = np.arange(9.0).reshape(3, 3)
    scope = {"np": np}
    function = make_function("a", [text], scope)
    (expected,) = function(x)
    jitted = pytocu.jit(function)
    for _ in range(3):
        (found,) = jitted(x)
        assert found.flags.writeable == expected.flags.writeable
        compare(found, expected)
    assert x.flags.writeable


def test_a_read_only_result_beside_the_array_it_shows():
    def f(x):
        made = x + 1
        return made, np.broadcast_to(made, made.shape), {"d": np.diagonal(made)}

    made, shown, told = pytocu.jit(f)(np.ones((2, 2)))
    assert made.flags.writeable and not shown.flags.writeable and not told["d"].flags.writeable


def test_zeros_of_real_numbers_are_not_written():
    def f(x):
        part = x.imag
        part[0] = 1
        return part

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        pytocu.jit(f)(np.ones(3))

"""Arguments of NumPy's functions that must be known while compiling, and indices and outputs that are easily mistaken."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import InternalError, UnsupportedError
from pytocu.frontend.numpy_calls import FUNCTIONS
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

VECTOR, MATRIX = np.array([3.0, 1.0, 2.0, 4.0]), np.arange(9.0).reshape(3, 3) % 4 + 5 * np.eye(3)


def agrees(text: str, arguments: dict[str, Any]) -> None:
    function = make_function(tuple(arguments), [text], {"np": np})
    given = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments.values()]
    passed = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments.values()]
    compare(call_interpreted(function, *passed), function(*given))
    for a, b in zip(passed, given, strict=True):
        if isinstance(a, np.ndarray):
            compare(a, b)


def _flags() -> list[tuple[str, str]]:
    """Functions of one array, each with a flag or the name of a way."""
    found = []
    for name, handler in sorted(FUNCTIONS.items()):
        _, first, *others = inspect.signature(handler).parameters.values()
        needed = [p for p in others if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if first.default is first.empty and first.kind is first.POSITIONAL_OR_KEYWORD and not needed:
            found += [(name, p.name) for p in others if isinstance(p.default, (bool, str)) and p.name != "where"]
    return found


def test_flags_of_run_time_are_refused() -> None:
    """What a flag is decides what is compiled, so it is never taken for true because it is there."""
    flags = _flags()
    assert len(flags) > 60
    for name, flag in flags:
        function = make_function("xz", [f"np.{name}(x, {flag}=z)"], {"np": np})
        with pytest.raises(UnsupportedError, match=f"{flag}= must be known while compiling"):
            call_interpreted(function, MATRIX, False)


@pytest.mark.parametrize(
    "text",
    ["np.rot90(x, z)", "np.diff(x, z)",
     "np.gradient(x, edge_order=z)", "np.fft.fft(x, axis=z)", "np.fft.fft2(x, axes=(0, z))", "np.rot90(x, 1, (0, z))",
     "np.diag_indices(3, z)"],
)  # fmt: skip
def test_numbers_that_decide_what_is_compiled(text: str) -> None:
    with pytest.raises(UnsupportedError, match="must be known while compiling"):
        call_interpreted(make_function("xz", [text], {"np": np}), MATRIX, 1)


@pytest.mark.parametrize(
    "text",
    ["np.diag(x, 0.5)", "np.trace(x, 'a')", "np.rot90(x, 'a')", "np.diff(x, 1.0)", "np.fft.fft(x, axis=None)",
     "np.fft.fft2(x, axes=1)", "np.diag_indices((1, 2))", "np.hanning((1, 2))", "np.indices(3)", "np.vander(x[0], (1, 2))",
     "np.histogram(x, range=1)", "np.eye(2, k=0.5)"],
)  # fmt: skip
def test_numbers_of_another_kind(text: str) -> None:
    function = make_function("x", [text], {"np": np})
    with pytest.raises((TypeError, ValueError)):
        function(MATRIX)
    with pytest.raises((TypeError, ValueError)) as found:
        call_interpreted(function, MATRIX)
    assert not isinstance(found.value, InternalError)


def test_one_value_on_a_diagonal() -> None:
    for values in (np.ones(1), np.ones(2), np.ones((1, 1))):
        agrees("np.fill_diagonal(x, v)", {"x": MATRIX, "v": values})
    agrees("np.fill_diagonal(x, (7,))", {"x": MATRIX})


@pytest.mark.parametrize(
    "text",
    ["x[True]", "x[False]", "x[np.True_]", "x[:, True]", "x[..., False]", "x[None, ..., False, 1:]", "x[True, ...] + x"],
)
def test_one_bool_as_an_index_is_an_axis(text: str) -> None:
    agrees(text, {"x": MATRIX})


@pytest.mark.parametrize("statement", ["x[True] = 2", "x[False] = 2", "x[True] += v", "x[:, False] = v[0]"])
def test_one_bool_as_the_index_of_what_is_assigned_to(statement: str) -> None:
    names: dict[str, Any] = {}
    exec(compile_lines(f"def change(x, v):\n    {statement}\n"), names)
    given, passed = MATRIX.copy(), MATRIX.copy()
    names["change"](given, np.ones((3, 3)))
    call_interpreted(names["change"], passed, np.ones((3, 3)))
    compare(passed, given)


def compile_lines(text: str) -> Any:
    """Code whose source the front end finds."""
    import linecache

    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return compile(text, file, "exec")


@pytest.mark.parametrize(
    ("text", "said"),
    [("x[0, True]", "beside integers or arrays"), ("x[True, True]", "beside integers or arrays"), ("x[z]", "must be known")],
)
def test_other_bools_as_indices_are_refused(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=f"an index that is one bool .*{said}"):
        call_interpreted(make_function("xz", [text], {"np": np}), MATRIX, True)


def test_two_results_in_one_memory_are_refused() -> None:
    for text in ("np.modf(x, out=(x, x))", "np.divmod(x, 2, out=(x[:2], x[1:]))", "np.frexp(x, out=(x, x))"):
        with pytest.raises(UnsupportedError, match="two results in one memory"):
            call_interpreted(make_function("x", [text], {"np": np}), MATRIX)
    agrees("np.modf(v, out=(x[0], x[1]))", {"v": VECTOR[:3], "x": MATRIX})
    agrees("np.divmod(x, 2, out=(x, v))", {"x": VECTOR, "v": VECTOR})


@pytest.mark.parametrize(
    "text",
    ["x.sum(axis=k)", "np.take(x, [0], axis=k)", "np.moveaxis(x, k, 0)", "np.roll(x, 1, axis=k)", "x.transpose(k, 0)",
     "np.linalg.norm(x, k)", "np.diff(x, k)", "np.array_split(x.T, k + 1)", "np.round(x, k)", "x.sum(0, keepdims=k)",
     "np.sum(x, axis=(k, 0))"],
)  # fmt: skip
def test_the_argument_to_be_made_static_is_named(text: str) -> None:
    function = make_function("xk", [text], {"np": np})
    with pytest.raises(UnsupportedError) as found:
        pytocu.jit(function)(MATRIX, 1)
    if "k + 1" in text:
        assert "name the argument in @jit(static=(...))" in str(found.value.help)
    else:
        assert '@jit(static="k"), which compiles for each value of k' in str(found.value.help)
    compare(pytocu.jit(function, static="k")(MATRIX, 1), function(MATRIX, 1), exact=True)

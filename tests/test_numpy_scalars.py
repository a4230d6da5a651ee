"""Python scalars, NumPy scalars, 0-d arrays and arrays in every position; captured values; sharing."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from edge_tools import check
from nan_constant_tools import SIGNS

import pytocu
from pytocu.testing.cases import call_interpreted, call_jit
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

ARRAY = np.array([[0.5, -1.25, 3.0], [1e-3, 7.0, -2.0]])

OPERANDS: dict[str, Any] = {
    "i": 3, "f": 0.1, "b": True,
    "s4": np.float32(0.1), "s8": np.float64(0.1),
    "z4": np.array(0.7, np.float32), "z8": np.array(0.7),
    "a4": ARRAY.astype(np.float32), "a8": ARRAY,
}  # fmt: skip
"""Every kind of operand of float32 and float64."""


def update(mu, dt, delta_phi):
    return 1 + mu * dt * delta_phi


def falloff(x, h):
    return 1.0 - (x * x) / (h * h)


def complement(one, x):
    return one - x


EXPRESSIONS = {update: "1 + {}*{}*{}", falloff: "1.0 - ({0}*{0})/({1}*{1})", complement: "{} - {}"}


def _mixes(function: Any) -> list[tuple[str, ...]]:
    return list(itertools.product(OPERANDS, repeat=function.__code__.co_argcount))


def _numpy(function: Any, *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*arguments)


@pytest.mark.parametrize("function", EXPRESSIONS, ids=lambda f: f.__name__)
def test_every_mix_in_one_function(function: Any) -> None:
    mixes = _mixes(function)
    for start in range(0, len(mixes), 81):
        part = mixes[start : start + 81]
        program = make_function(OPERANDS, [EXPRESSIONS[function].format(*mix) for mix in part], {})
        results = pytocu.jit(program)(*OPERANDS.values())
        for mix, actual in zip(part, results, strict=True):
            expected = _numpy(function, *(OPERANDS[name] for name in mix))
            try:
                compare(actual, expected)
            except AssertionError as error:
                raise AssertionError(f"{EXPRESSIONS[function].format(*mix)}: {error}") from None


@pytest.mark.parametrize("function", EXPRESSIONS, ids=lambda f: f.__name__)
def test_every_mix_as_arguments(function: Any) -> None:
    """One function, called with every mix: no two of them share code wrongly."""
    compiled = pytocu.jit(function)
    mixes = _mixes(function)
    for mix in mixes if len(mixes) < 100 else mixes[::11]:
        arguments = [OPERANDS[name] for name in mix]
        compare(compiled(*arguments), _numpy(function, *arguments))
    for mix in mixes[::-7]:
        arguments = [OPERANDS[name] for name in mix]
        compare(compiled(*arguments), _numpy(function, *arguments))


ONES = [
    1, True, 1.0, np.float64(1), np.float32(1), np.int8(1), np.bool_(True), np.array(1.0), np.array(1), np.array([1], np.int16),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i8", "f4", "f8"])
def test_equal_ones_are_different_types(dtype: str) -> None:
    @pytocu.jit
    def added(x, y):
        return x + y

    x = np.array([0, 1, 1], dtype)
    for _ in range(2):
        for one in ONES:
            compare(added(x, one), x + one)
        for one in reversed(ONES):
            compare(added(x, one), x + one)
    assert len(added.specializations) == len(ONES)


def test_equal_static_values_are_different() -> None:
    @pytocu.jit(static="y")
    def added(x, y):
        return x + y

    x = np.array([0, 1, 1], np.int8)
    for one in [*ONES[:6], 0.0, -0.0, float("nan")]:
        compare(added(x, one), x + one)
        compare(added(x=x, y=one), x + one)


def test_values_of_one_type_share_code() -> None:
    @pytocu.jit
    def scaled(x, factor):
        return x * factor

    x = np.float32([1, 2, 3])
    for factor in (0.0, -0.0, 1e300, float("inf"), float("nan"), 2.5):
        compare(scaled(x, factor), _numpy(lambda a, b: a * b, x, factor))
    for factor in (1, 0, -7, 2**40):
        compare(scaled(x, factor), x * factor)
    assert len(scaled.specializations) == 2


def test_python_int_must_fit() -> None:
    @pytocu.jit
    def added(x, y):
        return x + y

    x = np.uint8([1, 2])
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        added(x, 300)
    compare(added(x, 200), x + 200)
    with pytest.raises(OverflowError):
        added(x, -1)
    with pytest.raises(OverflowError):
        added(x, 2**64)
    compare(added(x, 1.5), x + 1.5)


# Captured values.

MU = 2.0
SETTINGS = {"gain": 2, "name": "low"}
MODULE = types.ModuleType("settings")


def _helper(x):
    return x + 1


@pytocu.jit
def uses_global(x):
    return x * MU


@pytocu.jit
def uses_settings(x):
    return x * SETTINGS["gain"] if SETTINGS["name"] == "low" else -x


@pytocu.jit
def uses_module(x):
    return x * MODULE.gain  # pyright: ignore[reportAttributeAccessIssue]


@pytocu.jit
def uses_helper(x):
    return _helper(x) * 2


@pytocu.jit
def _jitted_helper(x):
    return _helper(x) - MU


@pytocu.jit
def uses_two_levels(x):
    return _jitted_helper(x) * 3


X = np.float32([1, 2, 3])

VALUES = [3.0, 3, True, np.float64(3), np.float32(3), 0.0, -0.0, float("nan"), float("inf"), 2.0]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_changed_global(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    compare(uses_global(X), X * MU)
    monkeypatch.setitem(globals(), "MU", value)
    compare(uses_global(X), _numpy(lambda: X * value))
    monkeypatch.undo()
    compare(uses_global(X), X * MU)


def test_changed_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(uses_settings(X), X * 2)
    monkeypatch.setitem(SETTINGS, "gain", 5)
    compare(uses_settings(X), X * 5)
    monkeypatch.setitem(SETTINGS, "name", "high")
    compare(uses_settings(X), -X)
    monkeypatch.setitem(globals(), "SETTINGS", {"gain": 0.5, "name": "low"})
    compare(uses_settings(X), X * 0.5)


def test_changed_module_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    for gain in VALUES:
        monkeypatch.setattr(MODULE, "gain", gain, raising=False)
        compare(uses_module(X), _numpy(lambda g: X * g, gain))


def test_redefined_callee(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(uses_helper(X), (X + 1) * 2)
    compare(uses_two_levels(X), (X + 1 - MU) * 3)
    monkeypatch.setitem(globals(), "_helper", lambda x: x - 10)
    compare(uses_helper(X), (X - 10) * 2)
    compare(uses_two_levels(X), (X - 10 - MU) * 3)
    monkeypatch.setitem(globals(), "MU", 7)
    compare(uses_two_levels(X), (X - 10 - 7) * 3)
    monkeypatch.undo()
    compare(uses_helper(X), (X + 1) * 2)
    compare(uses_two_levels(X), (X + 1 - MU) * 3)


def test_changed_closure() -> None:
    gain = 2

    def less(x):
        return x - gain

    def more(x):
        return x + gain

    helper = less

    @pytocu.jit
    def scaled(x):
        return helper(x) * gain

    compare(scaled(X), (X - 2) * 2)
    gain = 2.5
    compare(scaled(X), (X - 2.5) * 2.5)
    gain = np.float64(2.5)
    compare(scaled(X), (X - gain) * gain)

    helper = more
    compare(scaled(X), (X + gain) * gain)


def test_functions_of_one_factory() -> None:
    def factory(gain: Any) -> Any:
        @pytocu.jit
        def scaled(x):
            return x * gain

        return scaled

    functions = {repr(v): factory(v) for v in VALUES}
    for _ in range(2):
        for value in VALUES:
            compare(functions[repr(value)](X), _numpy(lambda v: X * v, value))


class Scaler:
    """Methods read attributes of the object and of its class."""

    offset = 1

    def __init__(self, gain: Any):
        self.gain = gain

    @pytocu.jit
    def scaled(self, x, weight=1):
        y = x * self.gain + self.offset
        return self._plain(y) * weight

    def _plain(self, y):
        return y - self.offset


def test_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = Scaler(2), Scaler(0.5)
    compare(a.scaled(X), X * 2 + 1 - 1)
    compare(b.scaled(X), X * 0.5 + 1 - 1)
    compare(a.scaled(X), X * 2 + 1 - 1)
    a.gain = 3
    compare(a.scaled(X), X * 3 + 1 - 1)
    a.offset = 5  # pyright: ignore[reportAttributeAccessIssue]
    compare(a.scaled(X), X * 3 + 5 - 5)
    compare(b.scaled(X), X * 0.5 + 1 - 1)
    monkeypatch.setattr(Scaler, "offset", 2.5)
    compare(b.scaled(X), X * 0.5 + 2.5 - 2.5)
    monkeypatch.setattr(Scaler, "_plain", lambda self, y: -y)
    compare(b.scaled(X), -(X * 0.5 + 2.5))


def test_numpy_name_bound_to_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(uses_numpy(X), np.sqrt(X))
    monkeypatch.setitem(globals(), "function", np.square)
    compare(uses_numpy(X), np.square(X))
    monkeypatch.setitem(globals(), "function", lambda x: x + 5)
    compare(uses_numpy(X), X + 5)


function = np.sqrt


@pytocu.jit
def uses_numpy(x):
    return function(x)


def test_after_an_error_the_next_call_works() -> None:
    @pytocu.jit
    def added(x, y):
        return x + y

    with pytest.raises(ValueError, match="could not be broadcast"):
        added(np.ones(3), np.ones(4))
    compare(added(np.ones(3), np.ones(3)), np.ones(3) * 2)
    with pytest.raises(TypeError):
        added(np.ones(3), "text")
    compare(added(np.ones(3), np.ones(1)), np.ones(3) * 2)


@pytest.mark.parametrize("number", [np.int64(7), np.float32(1.5)])
def test_an_output_of_a_number_known_now(number: Any) -> None:
    """NumPy calls the method of a scalar, which writes the array and gives a scalar."""
    captured = number
    functions = [
        lambda: np.argmin(captured, axis=0, out=np.zeros((), np.int64)),
        lambda: np.sum(captured, out=np.zeros(())),
        lambda: np.max(captured, out=np.zeros(())),
    ]
    for function in functions:
        compare(pytocu.jit(function)(), function())


STORES = [
    "a[0] = b\nreturn a", "a[:2] = b\nreturn a", "a[0:1] = [b]\nreturn a", "a.fill(b)\nreturn a", "a[0] += b\nreturn a",
    "for i in range(len(a)):\n    a[i] = b\nreturn a", "np.array([b, b], a.dtype)", "np.pad(a, 1, constant_values=b)",
    "a.sum(initial=b, dtype=a.dtype)", "np.full(3, b, a.dtype)", "a[[0, 1]] = b\nreturn a", "a[0] = np.asarray(b)\nreturn a",
]  # fmt: skip
"""Numbers that become elements: integers take a NumPy scalar through Python's int only where one is assigned."""

STORED = [
    "np.int64(300)", "np.int64(5)", "np.uint8(200)", "np.uint64(2**63)", "np.float64(300.7)", "np.float16(-70.5)",
    "np.float64(nan)", "np.float32(-inf)", "np.float64(1e30)", "np.float64(-2.0**63)", "np.complex64(300 + 2j)",
    "np.bool_(True)", "300.7", "nan",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8"])
def test_scalars_that_become_elements(dtype: str, part: Callable[[Sequence[str]], list[str]]) -> None:
    for number in part(STORED):
        # A cast of a float out of range is what the op table states.
        rows = STORES[:9] if "." in number or "nan" in number or "inf" in number else STORES
        check((f"np.zeros(3, np.{dtype})", number), rows)


@pytest.mark.parametrize("name", SIGNS)
def test_signs_of_constants_that_are_nan(name):
    """Copysign, comparisons of bits and signbit tell them; compare() takes any NaN for any other."""
    x = np.arange(7, dtype=np.uint16)
    for call in (call_jit, call_interpreted):
        compare(call(SIGNS[name], x), SIGNS[name](x))


def test_constants_that_are_computed_to_be_nan_have_the_sign_of_numpy():
    computed = ("inf - inf", "0 * inf", "-(0 * inf)", "np.float32(inf) - np.float32(inf)", "np.float16(inf) * np.float16(0)",
                "np.float64(0) / np.float64(0)", "np.sqrt(np.float64(-1))", "np.full(3, inf) - a", "np.sqrt(-a)", "a % -a[:1]",
                "np.fmod(a, 2)", "0 / (a - a)", "a * 0", "-a + a", "-nan - a", "a * -nan", "-(nan * a)", "np.maximum(a, -nan)",
                "np.where(a > 0, -nan, a).astype('f4')", "(np.complex64(complex(-nan, 1)) + 1).real")  # fmt: skip
    check(["np.full(3, inf)"], [f"np.signbit({text})" for text in computed])


def test_the_sign_of_a_captured_nan_is_guarded():
    for values in ((np.nan, -np.nan, 1.0), (complex(0, np.nan), complex(0, -np.nan))):
        held = types.SimpleNamespace()
        function = pytocu.jit(lambda x, held=held: np.copysign(x, held.value.imag if held.value.imag else held.value.real))
        for held.value in values:
            compare(function(ARRAY), function._function(ARRAY))

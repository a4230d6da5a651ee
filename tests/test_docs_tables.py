"""The pages of the docs that commands write are up to date, and the measurements see what they measure."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu import config
from pytocu.ir.core import OPS
from pytocu.ir.types import F32, F64, parse_type
from pytocu.jitted import jit
from pytocu.testing import accuracy, figures, reference, support
from pytocu.testing.complex_reference import complex_reference

# Each table is tested, however many there are.
pytestmark = pytest.mark.every

DOCS = Path(__file__).parent.parent / "docs"
WIDE = np.finfo(np.longdouble).nmant >= 63
REFERENCES = ("exp", "log", "sin", "tan", "cbrt", "arcsinh", "tanh", "log1p", "expm1", "arctan2", "power", "hypot")
wide = pytest.mark.skipif(not WIDE, reason="long double is no wider than float64 here")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="older NumPy has other loops for floor and its kin")
def test_page_of_operations_is_up_to_date() -> None:
    assert (DOCS / "operations.md").read_text() == support.page(), (
        "write it again: python -m pytocu.testing.support --write docs/operations.md"
    )


def test_page_of_accuracy_has_every_function_and_bound() -> None:
    text = (DOCS / "accuracy.md").read_text()
    figures = accuracy.read_figures(text)
    assert text == accuracy.table(figures), "write it again: python -m pytocu.testing.accuracy --write docs/accuracy.md"
    for name, dtype in figures:
        for backend, ulp in figures[name, dtype].items():
            assert ulp <= accuracy.bound(OPS[name], parse_type(dtype).dtype), f"{name} of {dtype} on {backend}"
    assert all("cpu" in measured for measured in figures.values()) and len(figures) > 50


def test_page_of_names_is_up_to_date() -> None:
    assert (DOCS / "api.md").read_text() == reference.page(), (
        "write it again: python -m pytocu.testing.reference --write docs/api.md"
    )


def test_page_of_names_has_every_public_name() -> None:
    listed = {*(f.__name__ for f in reference.FUNCTIONS), *(c.__name__ for c in (*reference.CLASSES, *reference.ERRORS))}
    assert set(pytocu.__all__) - listed == {"__version__"}
    for owner, members in reference.CLASSES.items():
        described = {name for part in reference.parts(owner.__doc__ or "") for name in reference.named(part.text)}
        public = {name for name in vars(owner) if name[0] != "_" and name not in NOT_FOR_USERS.get(owner.__name__, ())}
        assert public <= {*members, *described}, owner.__name__


NOT_FOR_USERS = {
    "Lowered": ("compile_for", "context", "host"),
    "Compiled": ("begin", "host", "short_program"),
    "BundledFunction": ("add",),
}
"""Names without an underscore that other modules of pytocu ask."""

CALLABLES = [
    *(pytest.param(f, id=f.__name__) for f in reference.FUNCTIONS),
    *(
        pytest.param(vars(owner)[name], id=f"{owner.__name__}.{name}")
        for owner, members in reference.CLASSES.items()
        for name in members
        if name in vars(owner)
    ),
]


@pytest.mark.parametrize("function", CALLABLES)
def test_public_functions_say_what_they_take_and_have_an_example(function: Any) -> None:
    sections = {part.heading: part.text for part in reference.parts(function.__doc__ or "")}
    assert sections[""].endswith(".") and ">>> " in sections.get("Examples", "")
    if not isinstance(function, property):
        taken = {*inspect.signature(function).parameters} - {"self"}
        assert taken == reference.named(sections.get("Parameters", "")) - {""}


def test_every_variable_of_the_environment_is_told() -> None:
    rows = [f"| `{o.variable}` | {o.default and f'`{o.default}`'} | {o.doc} |" for o in config.OPTIONS.values()]
    assert "\n".join(rows) in (DOCS / "start.md").read_text()


def test_page_of_figures_is_what_the_commands_write() -> None:
    text = (DOCS / "verification.md").read_text()
    rows = figures.read(text)
    remarks = figures.remarks(text)
    assert text == figures.page(rows, remarks) and len(rows) >= 4
    assert all(f"* {row.check}: " in remarks for row in rows.values() if row.differences)


@wide
def test_every_function_is_within_its_bound_and_a_wrong_last_place_is_measured() -> None:
    compiled = functools.cache(jit)

    def worse(function: Any) -> Any:
        def call(*operands: Any) -> Any:
            (found,) = compiled(function)(*operands)
            if found.dtype.kind == "c":
                return (found * found.dtype.type(1 + 3e-6),)
            for _ in range(20):
                found = np.nextafter(found, found.dtype.type(np.inf))
            return (found,)

        return call

    measured = list(accuracy.measure({"cpu": compiled, "worse": worse}, 2000, seed=3))
    assert {(op.name, dtype.name) for op, dtype, *_ in measured} >= {("exp", "f32"), ("power", "f64"), ("float_power", "f64")}
    beyond = {(op.name, str(dtype), on) for op, dtype, on, ulp, _ in measured if ulp > accuracy.bound(op, dtype)}
    assert beyond == {(op.name, str(dtype), "worse") for op, dtype, *_ in measured}


@wide
@pytest.mark.parametrize("name", REFERENCES)
def test_reference_is_the_nearest_number(name: str) -> None:
    """Long double against arbitrary precision."""
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.prec = 1300
    exact = {"arcsinh": "asinh", "arctan2": "atan2"}.get(name, name)
    functions = {"cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "power": mpmath.power, "hypot": mpmath.hypot}
    function = functions.get(name) or getattr(mpmath, exact)
    for dtype in (F32, F64):
        operands = accuracy.inputs(OPS[name], dtype, 240)
        rounded = accuracy.correctly_rounded(OPS[name], operands)
        compared = 0
        for *given, found in zip(*(x.tolist() for x in operands), rounded, strict=True):
            if not np.isfinite([*given, found]).all() or 0 in given or abs(found) < np.finfo(found.dtype).smallest_normal:
                continue
            value = function(*map(mpmath.mpf, given))
            error = abs(value - mpmath.mpf(float(found))) / mpmath.mpf(float(np.spacing(abs(found))))
            # Long double rounds first: a tie may go the other way, by less than 2**-11 of a unit.
            assert error < 0.501, (name, given, found)
            compared += 1
        assert compared > 40


MPMATH = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}


PLAIN = ("exp", "log", "log1p", "expm1", "exp2", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")


@wide
@pytest.mark.parametrize("name", [*PLAIN, *MPMATH])
def test_complex_reference_is_the_nearest_number(name: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.prec = 400
    functions = {
        "log1p": lambda z: mpmath.log(1 + z),
        "expm1": lambda z: mpmath.exp(z) - 1,
        "exp2": lambda z: mpmath.power(2, z),
    }
    function = functions.get(name) or getattr(mpmath, MPMATH.get(name, name))
    random = np.random.default_rng(4)
    for dtype in (np.complex64, np.complex128):
        parts = random.standard_normal((2, 150)) * 10.0 ** random.integers(-4, 2, (2, 150))
        given = (parts[0] + 1j * parts[1]).astype(dtype)
        rounded = complex_reference(OPS[name], (given,), np.dtype(dtype))
        compared = 0
        for z, found in zip(given.tolist(), rounded.tolist(), strict=True):
            if not np.isfinite(found):
                continue
            value = function(mpmath.mpc(z))
            unit = float(np.spacing(np.abs(np.array([found], dtype).view(rounded.real.dtype)).max()))
            error = max(abs(value.real - found.real), abs(value.imag - found.imag)) / unit
            assert error < 0.52, (name, z, found)
            compared += 1
        assert compared > 100


def test_figures_of_other_backends_stay() -> None:
    figures = {("exp", "float32"): {"cpu": 1.0, "nvvm": 2.0}}
    assert accuracy.read_figures(accuracy.table(figures)) == {
        key: figures.get(key, {}) for key in accuracy.read_figures(accuracy.table({}))
    }

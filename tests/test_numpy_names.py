"""NumPy's functions by name: each ufunc is a row of the table or refused with a reason."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu import frontend
from pytocu.errors import UnsupportedError
from pytocu.frontend.attributes import ATTRIBUTES, METHODS
from pytocu.frontend.calls import CALLERS
from pytocu.frontend.numpy_calls import COMPILE_TIME, FUNCTIONS, INDEX_TRICKS, numpy_name
from pytocu.frontend.refused import REFUSED
from pytocu.frontend.tables import Table
from pytocu.frontend.ufunc_calls import REFUSED_UFUNCS, rows_of
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

UFUNCS = {name: value for name, value in vars(np).items() if isinstance(value, np.ufunc)}
"""Every ufunc of NumPy's namespace, under every name it has there."""


def undecided(names: list[str]) -> list[str]:
    return [name for name in names if not rows_of(name) and name not in REFUSED_UFUNCS and name not in FUNCTIONS]


def test_every_ufunc_is_compiled_or_refused() -> None:
    assert len(UFUNCS) > 100
    assert not undecided(list(UFUNCS))


def test_a_new_ufunc_is_found() -> None:
    assert undecided(["add", "matmul", "newest"]) == ["newest"]


def test_results_of_a_ufunc_are_rows() -> None:
    for name, ufunc in UFUNCS.items():
        rows = rows_of(name)
        assert len(rows) in (0, ufunc.nout), name
        assert all(row.arity == ufunc.nin for row in rows), name


@pytest.mark.parametrize("name", [name for name in REFUSED_UFUNCS if name in UFUNCS])
def test_refused_ufuncs_say_why(name: str) -> None:
    x = np.ones((2, 2))
    arguments = ", ".join(["x"] * UFUNCS[name].nin)
    function = make_function("x", [f"np.{name}({arguments})"], {"np": np})
    if name == "isnat":
        # NumPy's own error: it has no loop for numbers.
        with pytest.raises(TypeError, match="is only defined for"):
            call_jit(function, x)
        return
    with pytest.raises(UnsupportedError, match=f"np.{name} is not supported"):
        call_jit(function, x)


def test_methods_of_ufuncs_are_refused_by_name() -> None:
    function = make_function("x", ["np.isnat.at(x, 0)"], {"np": np})
    with pytest.raises(UnsupportedError, match=r"np\.isnat\.at"):
        pytocu.jit(function)(np.ones(3))
    # NumPy's own error: it has none of these methods either.
    function = make_function("x", ["np.matmul.accumulate(x)"], {"np": np})
    with pytest.raises(RuntimeError, match="Reduction not defined on ufunc with signature"):
        pytocu.jit(function)(np.ones(3))


@pytest.mark.parametrize("table, attribute", [(FUNCTIONS, "FUNCTIONS"), (METHODS, "METHODS"), (INDEX_TRICKS, "OBJECTS")])
def test_tables_name_what_their_modules_have(table: Table, attribute: str) -> None:
    """A name that a module has and the table does not would be refused, though it is compiled."""
    for path in Path(frontend.__file__).parent.glob("*.py"):
        own = getattr(import_module(f"pytocu.frontend.{path.stem}"), attribute, {})
        if isinstance(own, dict):
            assert own.keys() <= table.keys(), path.stem
            assert {name for name, module in table.modules.items() if module == path.stem} <= own.keys(), path.stem
    assert set(table.modules.values()) <= {path.stem for path in Path(frontend.__file__).parent.glob("*.py")}
    assert all(callable(table[name]) for name in table)


def unexplained(names: list[str], owner: Any) -> list[str]:
    """Names of NumPy that are neither compiled nor refused with what to write instead."""
    compiled = [*FUNCTIONS, *REFUSED_UFUNCS, *REFUSED, *COMPILE_TIME, *CALLERS, *METHODS, *ATTRIBUTES, *_OTHERWISE]
    asked = [n for n in names if callable(getattr(owner, n)) and not rows_of(n) and not _is_dtype(owner, n)]
    return [n for n in asked if not {n, numpy_name(getattr(owner, n))} & {*compiled}]


def _is_dtype(owner: Any, name: str) -> bool:
    value = getattr(owner, name)
    return isinstance(value, type) and issubclass(value, (np.generic, np.dtype, Exception))


_OTHERWISE = ("piecewise", "errstate", "ufunc", "ndarray", "__array_namespace_info__", "divmod")
"""What the front end reads by other ways, and what cannot be called to any purpose."""


def test_every_function_is_compiled_or_refused_with_what_to_write() -> None:
    assert not unexplained([n for n in np.__all__ if n not in ("char", "rec", "core", "ma")], np)
    for name in ("linalg", "fft"):
        module = getattr(np, name)
        assert not [n for n in unexplained(module.__all__, module) if f"{name}.{n}" not in FUNCTIONS]


def test_every_method_is_compiled_or_refused_with_what_to_write() -> None:
    own = [n for n in dir(np.ndarray) if n[0] != "_"]
    assert not [n for n in own if n not in (*METHODS, *ATTRIBUTES, *REFUSED)]
    assert not [n for n in dir(np.float64) if n[0] != "_" and n not in (*METHODS, *ATTRIBUTES, *REFUSED, *own)]


def test_a_new_function_is_found() -> None:
    assert unexplained(["sort", "newest"], type("New", (), {"newest": print, "sort": np.sort})) == ["newest"]

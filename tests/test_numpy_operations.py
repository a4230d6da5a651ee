"""Every operation on every kind of operand agrees with NumPy: dtype, shape, kind of result, bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytocu.errors import DTypeError
from pytocu.ir.core import OPS
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.types import ALL_DTYPES
from pytocu.testing.cases import (
    FORMULAS,
    ZERO_SIGN,
    call_jit,
    check_group,
    compare_with_numpy,
    reference,
)
from pytocu.testing.operands import Group, Operand, all_groups, sampled_groups

PAIR = Group((Operand("array", "f32"), Operand("array", "f32")))


@pytest.mark.parametrize("group", sampled_groups(240), ids=str)
def test_as_numpy(group: Group) -> None:
    failures = check_group(group, call_jit)
    assert not failures, "\n".join(map(str, failures))


def test_every_row_is_a_case() -> None:
    """The cases come from the table: a new row is tested with no further line."""
    groups = sampled_groups(20)
    rows = {expression.row for group in groups for expression in group.expressions()}
    assert rows >= {op.name for op in elementwise_rows()}
    assert rows - {op.name for op in elementwise_rows()} == {"where", "cast", "copy"}


def test_matrix_has_every_pair_of_dtypes() -> None:
    pairs = {tuple(o.dtype for o in g.operands) for g in all_groups() if [o.form for o in g.operands] == ["array", "array"]}
    assert len(pairs) == len(ALL_DTYPES) ** 2
    forms = {tuple(o.form for o in g.operands) for g in all_groups()}
    names = ("array", "zero_d", "scalar", "python", "literal", "constant")
    assert forms == {(a,) for a in names} | {(a, b) for a in names for b in names}


def test_formulas_name_rows() -> None:
    assert set(FORMULAS) <= set(OPS)
    assert set(FORMULAS) > ZERO_SIGN


# The check sees what it is there to see.


def _changed(change: Any) -> Any:
    def changed(value: Any) -> Any:
        return tuple(map(changed, value)) if isinstance(value, tuple) else change(value)

    def call(function: Any, *arguments: Any) -> Any:
        return changed(call_jit(function, *arguments))

    return call


def _last_place(value: Any) -> Any:
    return np.nextafter(value, value.dtype.type(0)) if value.dtype.kind == "f" else value


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (_last_place, 20),
        (lambda v: v.astype(np.float64) if v.dtype == np.float32 else v, 20),
        (lambda v: np.where(v == 0, 0, v).astype(v.dtype) if v.dtype.kind == "f" else v, 5),
        (lambda v: np.where(np.isnan(v), np.inf, v).astype(v.dtype) if v.dtype.kind == "f" else v, 10),
        (lambda v: v[:, np.newaxis], 40),
        (lambda v: ~v if v.dtype.kind == "b" else v, 8),
    ],
    ids=["last place", "dtype", "sign of zero", "NaN", "shape", "truth"],
)
def test_wrong_results_are_seen(change: Any, least: int) -> None:
    assert len(check_group(PAIR, _changed(change))) >= least


def test_wrong_kind_is_seen() -> None:
    group = Group((Operand("scalar", "f64", "np.float64(2.5)"),))
    assert not check_group(group, call_jit)
    assert len(check_group(group, _changed(np.asarray))) >= 30


def test_missing_and_wrong_errors_are_seen() -> None:
    group = Group((Operand("array", "bool"), Operand("array", "bool")))

    def answers(function: Any, *arguments: Any) -> Any:
        try:
            return call_jit(function, *arguments)
        except DTypeError:
            return (arguments[0],)

    def other_sentence(function: Any, *arguments: Any) -> Any:
        try:
            return call_jit(function, *arguments)
        except DTypeError:
            raise DTypeError("something else") from None

    assert any("numpy boolean subtract" in f.message for f in check_group(group, answers))
    assert any("another sentence" in f.message for f in check_group(group, other_sentence))


def test_bound_is_of_the_rounded_value() -> None:
    x = np.linspace(-3, 3, 1001)
    assert np.array_equal(reference(OPS["exp"], (x,), x.dtype), np.exp(x.astype(np.longdouble)).astype(np.float64))
    assert reference(OPS["power"], (np.float64(-np.inf), np.float64(-(2.0**63))), np.dtype(np.float64)) == 0


def test_sign_of_zero_is_free_only_where_stated() -> None:
    zeros = np.array([0.0]), np.array([-0.0])
    compare_with_numpy({"maximum"}, *zeros)
    with pytest.raises(AssertionError):
        compare_with_numpy({"add"}, *zeros)

"""Every operation on every kind of operand agrees with NumPy: dtype, shape, kind of result, bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytocu.errors import DTypeError
from pytocu.ir.core import OPS
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.types import ALL_DTYPES
from pytocu.jitted import jit
from pytocu.testing.cases import (
    FORMULAS,
    ZERO_SIGN,
    call_jit,
    check_group,
    compare_with_numpy,
    reference,
)
from pytocu.testing.matrix import call_threads, clusters, one_value
from pytocu.testing.operands import ALWAYS, Group, Operand, all_groups, make_function, sampled_groups

PAIR = Group((Operand("array", "f32"), Operand("array", "f32")))


@pytest.mark.parametrize("group", sampled_groups(240), ids=str)
def test_as_numpy(group: Group) -> None:
    failures = check_group(group, call_jit)
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtypes", [("f32",), ("i64",), ("f64", "f64"), ("i32", "i32"), ("u8", "u8")], ids=" ".join)
def test_every_case_builds_for_a_gpu(dtypes: tuple[str, ...], backend: str) -> None:
    """What has an answer on the CPU has code for a GPU, from both compilers."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-python: pip install 'pytocu[cu13]'")
    group = Group(tuple(Operand("array", d) for d in dtypes), 20)
    answered: list[Any] = []
    assert not check_group(group, call_jit, answered)
    function = make_function(group.parameters, [e.text for e, _ in answered], group.globals())
    compiled = jit(function).lower(*group.arguments()).compile("cuda:sm_90", backend=backend)
    assert len(answered) > 50 and compiled.binary[:4] == b"\x7fELF"


# At the end of the range a complex power is infinite in one way of computing it and not in another.
REAL_PAIRS = [pair for pair in ALWAYS if not any(name.startswith("c") for name in pair)]


@pytest.mark.parametrize("dtypes", [*[(d.name,) for d in ALL_DTYPES], *REAL_PAIRS], ids=" ".join)
def test_gpu_form_of_every_case(dtypes: tuple[str, ...]) -> None:
    failures = check_group(Group(tuple(Operand("array", d) for d in dtypes)), call_threads)
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


def test_clusters_share_functions() -> None:
    """Every group is in one cluster, and those of a cluster differ in the values of arguments only."""
    groups = [g for g in all_groups() if {o.form for o in g.operands} <= {"scalar", "literal"}]
    found = clusters(groups)
    assert sorted(map(str, groups)) == sorted(str(g) for cluster in found for g in cluster)
    assert all(len({(g.names, tuple(o.dtype for o in g.operands)) for g in cluster}) == 1 for cluster in found)
    assert len(found) < len(groups) / 3
    assert {tuple((o.form, o.dtype) for o in g.operands) for g in one_value(groups)} == {
        tuple((o.form, o.dtype) for o in g.operands) for g in groups
    }


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
    zero = np.float64(-0.0)
    for text, x in (("np.power(x, y)", np.array([zero, 4.0])), ("x ** y", np.array([[zero]])), ("np.power(x, y)", zero)):
        with np.errstate(all="ignore"):
            taken = np.power(x, np.float64(0.5))
        assert np.array_equal(np.signbit(reference(OPS["power"], (x, np.float64(0.5)), x.dtype, None, text)), np.signbit(taken))


def test_sign_of_zero_is_free_only_where_stated() -> None:
    zeros = np.array([0.0]), np.array([-0.0])
    compare_with_numpy({"maximum"}, *zeros)
    with pytest.raises(AssertionError):
        compare_with_numpy({"add"}, *zeros)

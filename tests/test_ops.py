"""The op table against NumPy: names, type rules, and every formula over edge values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from pytocu.ir import infer, interp_rows, promote
from pytocu.ir.core import OPS, Function, Op, walk
from pytocu.ir.formulas import Formula
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.ops import NUMPY_NAMES, OUTPUTS, elementwise_rows, spelled
from pytocu.ir.parser import parse_function
from pytocu.ir.types import BOOL, COMPILED_DTYPES, ArrayType, DType, WeakType, element
from pytocu.passes import expand
from pytocu.testing.compare import compare, edge_values, same_bits, ulp_distance

WEAK = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
# A sum of two terms near zero: the bound is in ulp of 1.
CANCELS = {"logaddexp", "logaddexp2"}
ZERO_SIGN_VARIES = {"maximum", "minimum", "fmax", "fmin", "clip"}
names = pytest.mark.parametrize("name", [op.name for op in elementwise_rows()])


def loops(op: Op) -> list[tuple[tuple[DType, ...], DType]]:
    """The loops NumPy has for the row, of those whose dtypes have code."""
    found: dict[tuple[tuple[DType, ...], DType], None] = {}
    for dtypes in itertools.product(COMPILED_DTYPES, repeat=op.arity or 0):
        try:
            inputs, outputs = promote.ufunc_loop(op.numpy, dtypes)
        except TypeError:
            continue
        if all(d in COMPILED_DTYPES for d in (*inputs, *outputs)):
            found[inputs, outputs[op.output]] = None
    return list(found)


def expand_all(function: Function) -> Function:
    """Replace rows by their formulas; only primitives are left."""
    function = expand.run(function)
    left = {i.op.name for i in walk(function.body) if i.op.kind == "elementwise" and not expand.is_primitive(i)}
    assert not left, f"neither spelled nor a formula: {left}"
    return function


def row_function(op: Op, inputs: tuple[DType, ...], output: DType) -> Function:
    """One thread an element: out[i] = op(x0[i], x1[i], ...)."""
    params = "".join(f"%x{k}: ptr {d}, " for k, d in enumerate(inputs))
    loads = "".join(f"%a{k} = load %x{k}, %i : {d}\n" for k, d in enumerate(inputs))
    args = ", ".join(f"%a{k}" for k in range(len(inputs)))
    return parse_function(
        f"""loop func @row({params}%out: ptr {output}, %n: index) {{
          %zero = const 0 : index
          %one = const 1 : index
          for %zero, %n, %one {{over = "grid"}} (%i: index) {{
            {loads}
            %r = {op.name} {args} : {output}
            store %out, %i, %r
            yield
          }}
          return
        }}"""
    )


def run_row(function: Function, columns: list[np.ndarray], output: DType) -> np.ndarray:
    out = np.zeros(columns[0].size, output.numpy)
    run_threads(function, [*columns, out, out.size], block=out.size)
    return out


def operands(op: Op, inputs: tuple[DType, ...]) -> list[np.ndarray]:
    """Every combination of edge values, as columns."""
    count = {1: 600, 2: 110, 3: 24}[len(inputs)]
    values = [edge_values(d.numpy, count, seed) for seed, d in enumerate(inputs)]
    columns = [c.ravel() for c in np.meshgrid(*values, indexing="ij")]
    if op.name == "power" and inputs[1].kind == "i":
        # NumPy refuses negative exponents of integers.
        keep = columns[1] >= 0
        columns = [c[keep] for c in columns]
    return [np.ascontiguousarray(c) for c in columns]


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_row_is_documented_and_consistent(op: Op):
    assert op.doc and "\n" not in op.doc and not op.doc.endswith(".")
    assert op.levels <= {"array", "host", "loop"}
    assert set(op.primitive) <= set("biufc")
    if op.primitive:
        assert op.c or op.libm, f"{op.name} is a primitive without a spelling in C"
        assert op.llvm or op.libm, f"{op.name} is a primitive without a spelling in LLVM"
    if op.kind == "view":
        assert op.index_map is not None
    if op.numpy:
        for alias in (op.numpy, *op.aliases):
            assert op in OUTPUTS.get(alias, (NUMPY_NAMES.get(alias),))
            assert same_function(getattr(np, alias), getattr(np, op.numpy), op.arity or 0)


def same_function(a, b, arity: int) -> bool:
    """One object, or two ufuncs that NumPy runs with the same loops (`radians` and `deg2rad`)."""
    values = [edge_values("float64", 500, seed) for seed in range(arity)]
    with np.errstate(all="ignore"):
        return a is b or (a.types == b.types and bool(same_bits(a(*values), b(*values)).all()))


@names
def test_type_rule_is_numpys(name: str):
    op = OPS[name]
    for dtypes in itertools.product(COMPILED_DTYPES, repeat=op.arity or 0):
        arrays = [np.ones(1, d.numpy) for d in dtypes]
        check_rule(op, arrays, tuple(ArrayType(d, (1,)) for d in dtypes))


@pytest.mark.parametrize("name", [op.name for op in elementwise_rows() if op.arity != 1])
def test_type_rule_with_python_scalars_is_numpys(name: str):
    op = OPS[name]
    for dtype, weak, at in itertools.product(COMPILED_DTYPES, WEAK, range(op.arity or 0)):
        arguments: list[object] = [np.ones(1, dtype.numpy) for _ in range(op.arity or 0)]
        types: list[object] = [ArrayType(dtype, (1,)) for _ in arguments]
        arguments[at], types[at] = WEAK[weak], WeakType(weak)
        check_rule(op, arguments, tuple(types))


def check_rule(op: Op, arguments, types) -> None:
    try:
        with np.errstate(all="ignore"):
            expected = promote.numpy_result(op, arguments).dtype
    except TypeError:
        with pytest.raises(TypeError):
            op.infer(op, types, {})
        return
    (result,) = op.infer(op, types, {})
    assert (element(result).numpy, result.shape) == (expected, (1,)), f"{op.name} of {types}"


def test_where_type_rule_is_numpys():
    op = OPS["where"]
    condition = np.ones(1, bool)
    for a, b in itertools.product(COMPILED_DTYPES, repeat=2):
        for x, y in ((np.ones(1, a.numpy), np.ones(1, b.numpy)), (np.ones(1, a.numpy), 1.0), (1, np.ones(1, b.numpy))):
            types = [WeakType(type(v).__name__) if isinstance(v, (int, float)) else None for v in (x, y)]
            strong = (ArrayType(a, (1,)), ArrayType(b, (1,)))
            given = (ArrayType(BOOL, (1,)), *(t or s for t, s in zip(types, strong, strict=True)))
            (result,) = infer.where(op, given, {})
            assert element(result).numpy == np.where(condition, x, y).dtype


def unwritten(op: Op) -> list[str]:
    """Dtype kinds of the row's loops that no backend can write."""
    return sorted({inputs[0].kind for inputs, _ in loops(op) if not spelled(op, inputs[0].kind) and op.expand is None})


@names
def test_every_loop_is_spelled_or_a_formula(name: str):
    assert loops(OPS[name]) and not unwritten(OPS[name])


def test_a_row_without_spelling_and_formula_is_found():
    assert unwritten(OPS["square"]._replace(expand=None)) == ["f", "i", "u"]
    assert unwritten(OPS["add"]._replace(expand=None)) == ["b"]


FORMULA_FIELDS = ("expand", "gpu_float32", "vector", "half", "gpu_half", "complex")


def missing_formulas(ops: Iterable[Op]) -> list[str]:
    """Rows with a formula that is nowhere."""
    found = []
    for op in ops:
        for field in FORMULA_FIELDS:
            formula = getattr(op, field)
            try:
                assert not isinstance(formula, Formula) or callable(formula.function)
            except AttributeError:
                found.append(f"{field} of {op.name}")
    return found


def test_every_formula_is_there():
    assert missing_formulas(OPS.values()) == []
    wrong = OPS["square"]._replace(expand=Formula("expand", "sqare"), gpu_half=Formula("expand_gpu_half", "on_bots")["x"])
    assert missing_formulas([wrong]) == ["expand of square", "gpu_half of square"]


@pytest.mark.parametrize("name", [op.name for op in elementwise_rows() if op.expand])
def test_formula_is_numpys(name: str):
    op = OPS[name]
    expanded_some = False
    for inputs, output in loops(op):
        columns = operands(op, inputs)
        function = row_function(op, inputs, output)
        expanded = expand_all(function)
        with np.errstate(all="ignore"):
            expected = promote.numpy_result(op, columns)
        plain = run_row(function, columns, output)
        formula = run_row(expanded, columns, output)
        expanded_some |= expanded is not function
        if name in ZERO_SIGN_VARIES and output.kind == "f":
            both_zero = (plain == 0) & (expected == 0)
            assert (same_bits(plain, expected) | both_zero).all(), f"{name} of {inputs}"
        else:
            check(plain, expected, op, inputs, columns)
        check(formula, plain, op, inputs, columns)
    # Older NumPy has no integer loops of floor, ceil and trunc, so nothing of them needs the formula.
    assert expanded_some == any(not spelled(op, inputs[0].kind) for inputs, _ in loops(op))


def check(actual: np.ndarray, expected: np.ndarray, op: Op, inputs: tuple[DType, ...], columns: list[np.ndarray]) -> None:
    if op.name in CANCELS:
        with np.errstate(all="ignore"):
            near = (np.abs(expected) < 1) & (np.abs(actual - expected) <= op.ulp * np.finfo(expected.dtype).eps)
        actual, expected = actual[~near], expected[~near]
    try:
        compare(actual, expected, op.exact, op.ulp)
    except AssertionError as error:
        good = same_bits(actual, expected)
        bad = np.flatnonzero(~good if op.exact else ~good & (ulp_distance(actual, expected) > op.ulp))[:5]
        shown = [tuple(c[i] for c in columns) for i in bad]
        raise AssertionError(f"{op.name} of {inputs}: {error}\n  operands {shown}") from None


@pytest.mark.parametrize("source", COMPILED_DTYPES, ids=str)
def test_cast_formula(source: DType):
    values = edge_values(source.numpy, 2000)
    if source.kind == "f":
        bounds = [b for d in COMPILED_DTYPES if d.is_integer for b in (np.iinfo(d.numpy).min, np.iinfo(d.numpy).max)]
        near = np.array([b + shift for b in bounds for shift in (-1.0, -0.5, 0.0, 0.5, 1.0)])
        values = np.concatenate([values, near.astype(source.numpy)])
    for target in COMPILED_DTYPES:
        function = row_function(OPS["cast"], (source,), target)
        expected = interp_rows.cast(values, target)
        compare(run_row(function, [values], target), expected)
        compare(run_row(expand_all(function), [values], target), expected)
        with np.errstate(all="ignore"):
            numpys = values.astype(target.numpy)
        fits = np.ones(values.size, bool)
        if source.kind == "f" and target.is_integer:
            fits = interp_rows.in_range(values, target.numpy)
        compare(expected[fits], numpys[fits])


def test_cast_out_of_range_is_what_the_row_states():
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.0**31, -(2.0**31) - 1, 300.0, -1.0])
    low32, low64 = -(2**31), -(2**63)
    assert interp_rows.cast(values, dtype("i32")).tolist() == [low32] * 7 + [300, -1]
    assert interp_rows.cast(values, dtype("i8")).tolist() == [0] * 7 + [44, -1]
    assert interp_rows.cast(values, dtype("i64")).tolist() == [low64] * 5 + [2**31, -(2**31) - 1, 300, -1]
    assert interp_rows.cast(values, dtype("u32")).tolist() == [0] * 5 + [2**31, 2**31 - 1, 300, 2**32 - 1]


def dtype(name: str) -> DType:
    return next(d for d in COMPILED_DTYPES if d.name == name)


def test_integer_power_with_a_constant_exponent():
    for exponent in (0, 1, 2, 3, 7, 10):
        function = parse_function(
            f"""loop func @cube(%x0: ptr i32, %out: ptr i32, %n: index) {{
              %zero = const 0 : index
              %one = const 1 : index
              for %zero, %n, %one {{over = "grid"}} (%i: index) {{
                %a = load %x0, %i : i32
                %e = const {exponent} : i32
                %r = power %a, %e : i32
                store %out, %i, %r
                yield
              }}
              return
            }}"""
        )
        values = edge_values("int32", 200)
        expanded = expand_all(function)
        assert sum(i.op.name == "multiply" for i in walk(expanded.body)) <= 4
        compare(run_row(expanded, [values], dtype("i32")), values ** np.int32(exponent))


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_fma_is_the_nearest_number(name: str):
    kind = np.dtype(name).type
    eps, top = kind(np.finfo(name).eps), float(np.finfo(name).max)
    assert interp_rows.evaluate(OPS["fma"], (kind(1) + eps, kind(1) - eps, kind(-1))) == -eps * eps
    values = np.append(edge_values(name, 68)[::3], np.array([top, -top, np.inf], name))
    with np.errstate(all="ignore"):
        for a, b, c in itertools.product(values, repeat=3):
            fused = interp_rows.evaluate(OPS["fma"], (a, b, c))
            if not np.isfinite([a, b, c]).all():
                # A finite product that overflows hides behind an infinite addend.
                compare(fused, c if np.isfinite([a, b]).all() else a * b + c)
                continue
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            if not np.isfinite(fused):
                assert abs(exact) > Fraction(top) and (fused > 0) == (exact > 0)
                continue
            error = abs(Fraction(float(fused)) - exact)
            for side in (np.inf, -np.inf):
                neighbour = float(np.nextafter(fused, kind(side)))
                assert not np.isfinite(neighbour) or error <= abs(Fraction(neighbour) - exact), (a, b, c)


def test_rows_of_python_alone_have_no_value_in_numpy():
    with pytest.raises(TypeError, match="math_sin has no NumPy function"):
        interp_rows.evaluate(OPS["math_sin"], (1.0,))

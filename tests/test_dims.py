"""Dimensions: what is simplified, that text reads back, that values are Python's."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given

from pytocu.ir import dims
from pytocu.ir.dims import (
    as_symbol,
    dim_max,
    dim_min,
    ends_of,
    evaluate,
    first_outside,
    floordiv,
    format_shape,
    greatest,
    lower_bound,
    modulo,
    parse_dim,
    product,
    substitute,
    symbol,
    symbols,
)

n, m = symbol("n"), symbol("m")


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (n + 0, "n"),
        (dim_max(n - 1, 0) + dim_min(n, 1), "n"),
        (2 * dim_min(n, m) - m + 2 * dim_max(m - n, 0) + 1, "m + 1"),
        (dim_max(n - 1, 0) + dim_min(n, 2), "max(n - 1, 0) + min(n, 2)"),
        (dim_max(n - 1, 0) - dim_min(n, 1), "max(n - 1, 0) - min(n, 1)"),
        (n * 0, "0"),
        (n - n, "0"),
        (n * m - m * n, "0"),
        (2 * n - n, "n"),
        (1 + n, "n + 1"),
        (2 - n, "-n + 2"),
        (-n, "-n"),
        ((n + 1) * (n - 1), "n*n - 1"),
        (n * m + n - 2, "m*n + n - 2"),
        (dim_max(n, 0), "n"),
        (dim_max(n + 3, n), "n + 3"),
        (dim_max(n - 2, 0), "max(n - 2, 0)"),
        (dim_max(0, n - 2), "max(n - 2, 0)"),
        (dim_max(3, 5), "5"),
        (dim_max(dim_max(n - 2, 0), 0), "max(n - 2, 0)"),
        (dim_min(n, 0), "0"),
        (dim_min(n, n + 1), "n"),
        (dim_min(n, m), "min(n, m)"),
        (dim_min(3, n), "min(n, 3)"),
        (floordiv(7, 2), "3"),
        (floordiv(n, 1), "n"),
        (floordiv(4 * n + 8, 4), "n + 2"),
        (floordiv(4 * n + 1, 4), "(4*n + 1) // 4"),
        (modulo(7, 2), "1"),
        (modulo(n, 1), "0"),
        (2 * floordiv(n, 3) + 1, "2*(n // 3) + 1"),
        (product((n, 3, m)), "3*m*n"),
        (product(()), "1"),
    ],
)
def test_simplified(dim, text):
    assert str(dim).strip("()") in (text, text.strip("()"))
    assert parse_dim(str(dim)) == dim


def test_equal_polynomials_are_equal():
    assert n * m == m * n and hash(n * m) == hash(m * n)
    assert (n + m) * (n - m) == n * n - m * m
    assert n != m and n != "n"
    assert parse_dim("n + 1") != parse_dim("n + 2")


@pytest.mark.parametrize(
    ("dim", "low"),
    [(5, 5), (n, 0), (n + 3, 3), (n - 3, -3), (-n, None), (2 * n * m + 1, 1), (dim_max(n - 2, 0), 0), (dim_max(-n, 4), 4),
     (dim_min(n + 5, m), 0), (dim_min(-n, m), None), (floordiv(n, 3), 0), (floordiv(n - 1, 3), None), (modulo(n, 4) + 1, 1)],
)  # fmt: skip
def test_lower_bound(dim, low):
    assert lower_bound(dim) == low


def test_names():
    assert symbols(m * n + dim_max(n - symbol("k"), 0)) == ("m", "n", "k")
    assert symbols(4) == ()
    assert as_symbol(n) == "n"
    assert [as_symbol(d) for d in (n + 1, 2 * n, n * n, dim_max(n - 1, 0), 3)] == [None] * 5


def test_substitute():
    assert substitute(dim_max(n - 2, 0), {"n": 7}) == 5
    assert substitute(dim_max(n - 2, 0), {"n": m + 2}) == m
    assert substitute(n + m, {"n": m}) == 2 * m
    assert substitute(3, {"n": m}) == 3


def test_evaluate_needs_every_length():
    with pytest.raises(KeyError, match="m"):
        evaluate(n + m, {"n": 1})


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 3)])
def test_shape_is_written_as_numpy_does(shape):
    with pytest.raises(ValueError, match="could not be broadcast") as error:
        np.empty(shape) + np.empty((4, 4, 4))
    assert f"shapes {format_shape(shape)} {format_shape((4, 4, 4))}" in str(error.value)
    assert format_shape(()) == "()" and format_shape((n, 3)) == "(n,3)"


@pytest.mark.parametrize(
    "text", ["", "n +", "n / 2", "f(n)", "max(n)", "1.5", "True", "n[0]", "max(n, m, 3)", "n ** 2", "-", "min(a=1, b=2)"]
)
def test_no_dimension(text):
    with pytest.raises(ValueError, match="is not a dimension: write"):
        parse_dim(text)


# An expression as a dimension and as Python text, built side by side.
def extend(inner):
    def binary(name, build):
        return st.tuples(inner, inner).map(lambda p: (build(p[0][0], p[1][0]), f"{name}(({p[0][1]}), ({p[1][1]}))"))

    def operator(sign, build):
        return st.tuples(inner, inner).map(lambda p: (build(p[0][0], p[1][0]), f"(({p[0][1]}) {sign} ({p[1][1]}))"))

    divisor = st.integers(1, 9)
    return st.one_of(
        binary("max", dim_max),
        binary("min", dim_min),
        operator("+", lambda a, b: a + b),
        operator("-", lambda a, b: a - b),
        operator("*", lambda a, b: a * b),
        st.tuples(inner, divisor).map(lambda p: (floordiv(p[0][0], p[1]), f"(({p[0][1]}) // {p[1]})")),
        st.tuples(inner, divisor).map(lambda p: (modulo(p[0][0], p[1]), f"(({p[0][1]}) % {p[1]})")),
    )


leaves = st.one_of(
    st.sampled_from("nmk").map(lambda s: (symbol(s), s)),
    st.integers(-9, 9).map(lambda i: (i, str(i))),
)
expressions = st.recursive(leaves, extend, max_leaves=8)
lengths = st.fixed_dictionaries({"n": st.integers(0, 50), "m": st.integers(0, 50), "k": st.integers(0, 50)})


@given(expressions)
@example((floordiv(n, 3) * m, ""))
@example((floordiv(floordiv(n, 3), 2), ""))
@example((floordiv(-n, 3), ""))
@example((modulo(floordiv(n, 3), 2), ""))
def test_text_reads_back(pair):
    dim, _ = pair
    assert parse_dim(str(dim)) == dim
    assert str(parse_dim(str(dim))) == str(dim)


@given(expressions, lengths)
def test_value_is_pythons(pair, sizes):
    dim, python = pair
    value = eval(python, {"max": max, "min": min}, sizes)
    assert evaluate(dim, sizes) == value
    assert substitute(dim, sizes) == value
    assert evaluate(parse_dim(str(dim)), sizes) == value
    low = lower_bound(dim)
    assert low is None or low <= value


@given(expressions, st.sampled_from("nmk"), expressions, lengths)
def test_substitution_commutes_with_evaluation(pair, name, other, sizes):
    # A symbol is a length, so what takes its place must be one too.
    length = dim_max(other[0], 0)
    inner = {**sizes, name: evaluate(length, sizes)}
    assert evaluate(substitute(pair[0], {name: length}), sizes) == evaluate(pair[0], inner)


def test_rebuild_visits_every_symbol():
    seen: list[str] = []

    def leaf(name: str):
        seen.append(name)
        return symbol(name)

    dim = n * m + dim_max(symbol("k") - 1, 0)
    assert dims.rebuild(dim, leaf) == dim
    assert sorted(seen) == ["k", "m", "n"]


def test_lengths_made_of_lengths_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = dims.Atom.__str__
    monkeypatch.setattr(dims.Atom, "__str__", lambda atom: written.append(atom.name) or write(atom))
    length: dims.DimLike = symbol("twelve")
    for _ in range(12):
        length = dim_max(length - 2, 0) + dim_min(length, 7)
    # Each of them is made of the one before twice, and has to be written for the order of terms.
    assert symbols(length) == ("twelve",) and lower_bound(length) == 0
    assert len(written) < 300


t, u = symbol("t"), symbol("u")


@pytest.mark.parametrize(
    "dim",
    [
        n - 1 - modulo(t + 1, 10), modulo(t - 1, 10) + n, modulo(t + u, n + 1) * m + modulo(u, 3), floordiv(t + u + 1, 2) - n,
        dim_min(t + 1, n - 1) * u, dim_max(t - 2, 0) - dim_min(u, 3), 3 * u - modulo(t, 2) * m, floordiv(n, 2) + t,
        modulo(floordiv(t * 3 + u, 4), 5) - t, t * t, modulo(n, t + 1), modulo(t, 2) * modulo(t, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("inner", [m, t + 1])
def test_ends_lie_around_what_steps_have(dim: dims.DimLike, inner: dims.DimLike) -> None:
    steps = [("t", n, False), ("u", inner, True)]
    ends = ends_of(dim, steps)
    if ends is None:
        assert dim in (t * t, modulo(n, t + 1), modulo(t, 2) * modulo(t, 2))
        return
    for rows, columns in itertools.product((0, 1, 2, 5, 12), (0, 1, 4)):
        sizes = {"n": rows, "m": columns}
        least, most = (f(evaluate(end, sizes) for end in ends) for f in (min, max))
        for row in range(rows):
            for column in range(evaluate(inner, {**sizes, "t": row})):
                assert least <= evaluate(dim, {**sizes, "t": row, "u": column}) <= most


def test_steps_of_a_loop_that_changes_no_index_are_not_gone_through() -> None:
    endless = 10**15
    assert first_outside(t, 4, [("u", endless, False), ("t", 4, False)], {}) is None
    assert first_outside(t, 4, [("t", 5, False), ("u", endless, False)], {}) == (4, 4)
    assert first_outside(t, 4, [("t", 5, False), ("u", 0, False)], {}) is None
    assert first_outside(u, 3, [("t", 6, False), ("u", t, False)], {}) == (3, 3)


def test_ends_leave_out_steps_in_which_a_loop_inside_has_none() -> None:
    """What an index lies between is what it is in steps that there are, where these are fewer from step to step or more."""
    n, m, t, u = (symbol(name) for name in ("n", "m", "t", "u"))
    counts = [n - t - 1, t, dim_max(n - t - 3, 0), n - t + 1, t + 1, m]
    for inner in counts:
        steps = [("t", n, False), ("u", inner, False)]
        for dim in (t + u, t - u, n - t - u, t, u, 2 * t + u):
            for sizes in ({"n": 5, "m": 2}, {"n": 6, "m": 1}, {"n": 4, "m": 3}):
                made = ends_of(dim, steps)
                assert made is not None
                ends = [evaluate(end, sizes) for end in made]
                for outer in range(sizes["n"]):
                    for number in range(max(evaluate(inner, {**sizes, "t": outer}), 0)):
                        assert min(ends) <= evaluate(dim, {**sizes, "t": outer, "u": number}) <= max(ends)
    # The last step of the loop around has none inside.
    assert ends_of(n - 1 - (t + u + 1), [("t", n, False), ("u", n - t - 1, False)]) == [n - 2, 0]


def test_the_greatest_of_greatest_lengths_does_not_get_longer() -> None:
    room = symbol("room_")
    one, other = dim_max(n + room - 1, 0), n
    for _ in range(40):
        one, other = greatest([one, other, n + 5]), greatest([other, one, dim_max(room, 3)])
    assert len(str(one)) < 100
    for sizes in ({"n": 0, "room_": 0}, {"n": 3, "room_": 9}, {"n": 0, "room_": 2}):
        assert evaluate(one, sizes) == max(sizes["n"] + sizes["room_"] - 1, sizes["n"] + 5, sizes["room_"], 3)

"""The page of wrong programs: up to date, each with its line, and what several errors and notes look like."""

from __future__ import annotations

import datetime
import linecache
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError, DTypeError, Loc, Note, ShapeError, UnsupportedError
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.operands import operand_notes, origin
from pytocu.testing.wrong_programs import PROGRAMS, page, printed

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == page(), "python -m pytocu.testing.wrong_programs --write docs/errors.md"


def test_there_are_forty_and_each_names_its_line():
    assert len(PROGRAMS) >= 40
    assert len({p.title for p in PROGRAMS}) == len(PROGRAMS)
    for program in PROGRAMS:
        text = printed(program)
        if program.title != "a call with too few arguments":
            assert "--> program.py:" in text, program.title
            assert "^" in text
        assert "Traceback" not in text
        assert "pytocu/" not in text


def test_operands_have_spans_and_origins():
    @pytocu.jit
    def f(points, weights):
        total = points + 1
        return total * weights

    line = f.__wrapped__.__code__.co_firstlineno + 1
    with pytest.raises(ShapeError) as caught:
        f.lower("f32[4, 2]", "f32[4, 3]")
    first, second = caught.value.notes
    assert first.text == f"f32[4, 2] from `total`, line {line + 1}"
    assert second.text == f"f32[4, 3] from `weights`, line {line}"
    shown = str(caught.value).splitlines()
    assert shown[-2].endswith("------- " + second.text)
    assert shown[-1] == "  help: lengths are compared from the last axis on, and have to be equal or 1"
    assert shown[-2].index("-------") == shown[2].index("weights")
    with pytest.raises(ShapeError) as caught:
        f(np.ones((4, 2)), np.ones((4, 3)))
    said = [f"shape (4,2) from `total`, line {line + 1}", f"shape (4,3) from `weights`, line {line}"]
    assert [n.text for n in caught.value.notes] == said


def test_dtypes_of_operands_are_named():
    with pytest.raises(DTypeError) as caught:
        pytocu.jit(lambda x, mask: x & mask).lower("f32[n]", "bool[n]")
    assert [n.text.partition(" from")[0] for n in caught.value.notes] == ["f32[n]", "bool[n]"]


def test_wide_characters_are_two_columns():
    @pytocu.jit
    def f(x, y):
        return (x if "長" else y) & y

    with pytest.raises(DTypeError) as caught:
        f.lower("f32[n]", "f32[n]")
    lines = str(caught.value).splitlines()
    second = next(line for line in lines if "- f32[n] from `y`" in line)
    # A terminal shows one character of the line above as two.
    assert second.index("- f32") == lines[2].rindex("y") + 1


def test_notes_are_left_out_where_the_text_cannot_be_taken_apart():
    assert operand_notes(Loc("no such file", 3, 1, 5), ["a"]) == ()
    assert operand_notes(Loc(__file__, 1, 1, 9), ["a", "b"]) == ()
    assert origin(Loc("no such file", 3), "x") == " from `x`"


def test_all_that_is_wrong_is_said_at_once():
    def f(x, y):
        a = x & y
        b = a + 1
        c = np.sine(x)
        d = x + TABEL  # noqa: F821
        return b, c, d

    with pytest.raises(DTypeError) as caught:
        pytocu.jit(f).lower("f32[n]", "f32[n]")
    others = caught.value.others
    assert [type(o).__name__ for o in others] == ["MissingAttributeError", "UndefinedNameError"]
    assert str(caught.value).count("\n\nalso: ") == 2
    back = pickle.loads(pickle.dumps(caught.value))
    assert str(back) == str(caught.value)


def test_names_of_statements_that_are_not_read():
    """Of what depends on an error, and of the rest of a statement with one; not where it runs perhaps."""

    def f(x, n):
        y = np.hypott(x, 1) + lenght(x)  # noqa: F821
        z = y * np.sqroot(y) + math.pj + (lambda t: t + nothing)(y) + (y if n else nowhere)  # noqa: F821
        w = y.shape, z.T, n.real
        return widht(z) + k + w  # noqa: F821
        k = z  # noqa: F841

    with pytest.raises(AttributeError) as caught:
        pytocu.jit(f).lower("f32[m]", "weak int")
    said = [error.message for error in (caught.value, *caught.value.others)]
    assert said == [
        *("module 'numpy' has no attribute 'hypott'", "name 'lenght' is not defined"),
        *("module 'numpy' has no attribute 'sqroot'", "module 'math' has no attribute 'pj'", "name 'widht' is not defined"),
    ]


def test_all_that_is_wrong_in_loops_branches_and_functions_that_are_called():
    def helper(a):
        b = np.sqroot(a)
        return a + nowhere, b  # noqa: F821

    def f(x, y, n):
        for k in range(2):
            a = x & y
            b = np.fooo(x)
            c = a + b
            if n > k:
                d = np.random.rand(3)
                e = np.zeros_lik(x)
            else:
                d = x.nothing
            e = x[0, 0]
        return helper(x), c, d, e

    with pytest.raises(DTypeError) as caught:
        pytocu.jit(f).lower("f32[m]", "f32[m]", "weak int")
    said = [error.message for error in caught.value.others]
    assert said == [
        "module 'numpy' has no attribute 'fooo'",
        "random numbers (rand) are not compiled",
        "module 'numpy' has no attribute 'zeros_lik'",
        "'numpy.ndarray' object has no attribute 'nothing'",
        "too many indices for array: array is 1-dimensional, but 2 were indexed",
        "module 'numpy' has no attribute 'sqroot'",
        "name 'nowhere' is not defined",
    ]
    with pytest.raises(AttributeError) as caught:
        pytocu.jit(helper).lower("f32[m]")
    assert [error.message for error in caught.value.others] == ["name 'nowhere' is not defined"]


def test_what_a_run_raises_says_what_else_is_wrong_there():
    def f(x, n):
        for _ in range(n):
            a = np.sine(x)
            x[0, 0]
            for _ in range(n):
                a & 1
                np.zeros_lik(x)
        return x

    f = pytocu.jit(f)
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(f(x, 0), x)
    with pytest.raises(AttributeError) as caught:
        f(x, 2)
    assert isinstance(caught.value, CompileError) and "did you mean numpy.sin?" in str(caught.value)
    messages = [error.message for error in caught.value.others]
    assert messages == [
        "too many indices for array: array is 1-dimensional, but 2 were indexed",
        "module 'numpy' has no attribute 'zeros_lik'",
    ]
    assert isinstance(caught.value.others[0], IndexError) and isinstance(caught.value.others[1], AttributeError)
    assert "also: module 'numpy' has no attribute 'zeros_lik'\n" in str(caught.value)
    text = f.lower("f32[m]", "weak int").ir("lower")
    assert print_function(parse_function(text)) == text
    notes = f.explain(x, 0).notes
    assert notes[1] == f"line {caught.value.others[0].loc.line} is wrong, too: IndexError: {messages[0]}"


def test_what_is_wrong_on_another_way_than_an_error():
    def f(x, n):
        if n > 1:
            y = np.random.rand(3)
            return y
        z = np.zeros_lik(x)
        return z

    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(f).lower("f32[m]", "weak int")
    assert [error.message for error in caught.value.others] == ["module 'numpy' has no attribute 'zeros_lik'"]


def test_what_is_meant_for_other_arguments_is_not_said():
    def f(x):
        if x.ndim == 1:
            return np.sine(x)
        return x[:, 0]

    with pytest.raises(AttributeError) as caught:
        pytocu.jit(f).lower("f32[m]")
    assert caught.value.others == ()


def test_elements_of_a_vectorized_function_stay_elements_behind_an_error():
    @pytocu.vectorize
    def v(a, b):
        c = np.random.rand(3)
        if a > b:
            b = a
        return b + c + nowhere  # noqa: F821

    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(lambda x: v(x, x)).lower("f32[m]")
    assert [error.message for error in caught.value.others] == ["name 'nowhere' is not defined"]


def test_all_that_is_wrong_in_a_vectorized_function():
    """Also where every element comes to one of several errors."""

    @pytocu.vectorize
    def f(x, n):
        while x > 0:
            x = x - nowhere  # noqa: F821
            y = np.fooo(x)
        z = n.nothing
        if x > n:
            return np.barr(z, y)
        return widht  # noqa: F821

    with pytest.raises(NameError) as caught:
        f.lower("f64[m]", "f64[m]")
    said = [error.message for error in (caught.value, *caught.value.others)]
    assert said == [
        "name 'nowhere' is not defined",
        "module 'numpy' has no attribute 'fooo'",
        "'numpy.float64' object has no attribute 'nothing'",
        "module 'numpy' has no attribute 'barr'",
        "name 'widht' is not defined",
    ]


def test_what_an_element_raises_says_what_else_is_wrong_there():
    @pytocu.vectorize
    def f(x):
        if x > 0:
            z = np.cosine(x)
            z = np.barr(x)
        else:
            z = x
        return z

    with pytest.raises(AttributeError) as caught:
        f(np.array([-1.0, 2.0]))
    assert str(caught.value).splitlines()[0] == "module 'numpy' has no attribute 'cosine'"
    assert caught.value.help == "did you mean numpy.cos?"
    assert [error.message for error in caught.value.others] == ["module 'numpy' has no attribute 'barr'"]


def test_what_follows_from_an_error_is_not_said():
    def f(x):
        a = np.sine(x)
        if a > 0:
            return a
        return x.nothing

    with pytest.raises(AttributeError) as caught:
        pytocu.jit(f).lower("f32[n]")
    assert caught.value.others == ()


def test_what_the_program_raises_ends_it():
    def f(x, k):
        if k == 1:
            raise ValueError("k is 1")
        return x.nothing

    with pytest.raises(ValueError, match="k is 1") as caught:
        pytocu.jit(f, static="k").lower("f32[n]", 1)
    assert caught.value.others == ()


def test_notes_are_part_of_the_text():
    error = CompileError("no", Loc(__file__, 1, 1, 4), None, [Note(Loc(__file__, 1, 4, 7), "the page")])
    assert str(error).splitlines()[-1].endswith("    --- the page")


CONFLICTS = {
    "a @ b": ("a", "b"),
    "np.matmul(a, b)": ("a", "b"),
    "a.dot(b)": ("a", "b"),
    "np.concatenate([a, b[:, :3]], axis=1)": ("a", "b[:, :3]"),
    "np.stack((a, b))": ("a", "b"),
    "np.einsum('ij,jk->ik', a, b)": ("a", "b"),
    "np.tensordot(a, b, 1)": ("a", "b"),
    "a.T.reshape(5, -1)": ("a.T",),
    "np.reshape(a, (5, 2))": ("a",),
    "np.broadcast_to(b, (2, 5))": ("b",),
    "a[m]": ("a", "m"),
}
"""Expressions whose shapes do not fit, and the operands that are shown."""
SHAPES = {"a": "3, 4", "b": "5, 6", "b[:, :3]": "5, 3", "a.T": "4, 3", "m": "2"}


@pytest.mark.parametrize("text", CONFLICTS)
@pytest.mark.parametrize("known", [False, True])
def test_operands_of_shapes_that_do_not_fit(text: str, known: bool) -> None:
    file = f"<conflict of {text} {known}>"
    lines = ["def f(a, b, m):\n", "    a = a + 1\n", f"    return {text}\n"]
    linecache.cache[file] = (1, None, lines, file)
    scope: dict[str, Any] = {"np": np}
    exec(compile("".join(lines), file, "exec"), scope)
    f = pytocu.jit(scope["f"])
    with pytest.raises((ValueError, IndexError)) as info:
        f.lower("f64[3, 4]", "f64[5, 6]", "bool[2]") if known else f(np.ones((3, 4)), np.ones((5, 6)), np.ones(2, bool))
    assert isinstance(info.value, CompileError)
    found = [(lines[2][n.loc.column - 1 : n.loc.end_column - 1], n.text) for n in info.value.notes]
    origins = {"a": " from `a`, line 2", "b": " from `b`, line 1", "m": " from `m`, line 1"}
    dtypes = {"m": "bool"}
    shown = []
    for operand in CONFLICTS[text]:
        lengths = SHAPES[operand]
        plain = lengths.replace(" ", "") + ("" if "," in lengths else ",")
        said = f"{dtypes.get(operand, 'f64')}[{lengths}]" if known else f"shape ({plain})"
        shown.append((operand, said + origins.get(operand, "")))
    assert found == shown


def test_the_array_of_an_axis_that_is_not_there() -> None:
    def total(points):
        weights = points * 2
        return np.sum(weights[0], axis=1)

    with pytest.raises(ValueError, match="axis 1 is out of bounds") as info:
        pytocu.jit(total).lower("f32[n, 3]")
    assert isinstance(info.value, CompileError) and [note.text for note in info.value.notes] == ["f32[3]"]

    def largest(points):
        weights = points * 2
        return weights.max(axis=2)

    with pytest.raises(ValueError, match="axis 2 is out of bounds") as info:
        pytocu.jit(largest).lower("f32[n, 3]")
    line = largest.__code__.co_firstlineno + 1
    assert isinstance(info.value, CompileError)
    assert [note.text for note in info.value.notes] == [f"f32[n, 3] from `weights`, line {line}"]


def test_an_assignment_shows_both_sides() -> None:
    def f(u, v):
        u[1:3] = v

    for arguments in ((np.ones(8), np.ones(4)), ()):
        with pytest.raises(ValueError, match="could not broadcast input array") as info:
            pytocu.jit(f)(*arguments) if arguments else pytocu.jit(f).lower("f64[8]", "f64[4]")
        assert isinstance(info.value, CompileError)
        line = f.__code__.co_firstlineno
        said = ["shape (2,)", f"shape (4,) from `v`, line {line}"] if arguments else ["f64[2]", f"f64[4] from `v`, line {line}"]
        assert [note.text for note in info.value.notes] == said


NUMBER = np.float32(3)
DAY = datetime.date(2030, 1, 2)


class Plain:
    """A class that Python code defines: its sentences have no module."""


@pytest.mark.parametrize(
    "asked",
    [
        lambda x: NUMBER.nothing,
        lambda x: np.log1p(np.float32(3)).nothing,
        lambda x: np.add.nothing,
        lambda x: x.dtype.nothing,
        lambda x: DAY.nothing,
        lambda x: Plain.nothing,
        lambda x: np.float32.nothing,
        lambda x: (x,).nothing,
    ],
)
def test_the_class_of_what_lacks_an_attribute_is_called_as_python_calls_it(asked):
    x = np.ones(3)
    with pytest.raises(AttributeError) as expected:
        asked(x)
    with pytest.raises(AttributeError) as found:
        pytocu.jit(asked)(x)
    assert str(found.value).splitlines()[0] == str(expected.value)


def test_what_is_wrong_behind_sides_that_do_not_meet():
    def f(x, n):
        found = [1]
        if n > 2:
            return n // 2
        found.append(2.5)
        return x, n

    with pytest.raises(UnsupportedError, match=r"the function returns a Python int .* or a tuple of 2"):
        pytocu.jit(f).lower("f32[m]", "weak int")

"""The page of wrong programs: up to date, each with its line, and what several errors and notes look like."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError, DTypeError, Loc, Note, ShapeError
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
    assert shown[-1].endswith("------- " + second.text)
    assert shown[-1].index("-------") == shown[2].index("weights")
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

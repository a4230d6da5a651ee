"""Records behave as named tuples do."""

from __future__ import annotations

import pickle
from collections import namedtuple

import pytest

from pytocu.record import Mutable, Record, fresh


class Span(Record):
    """A record with a default and a method."""

    start: int
    end: int = 7
    name: str = ""

    def length(self) -> int:
        """How many."""
        return self.end - self.start


Named = namedtuple("Span", "start end name", defaults=(7, ""))


@pytest.mark.parametrize(
    ("values", "named"), [((1,), {}), ((1, 2, "x"), {}), ((1,), {"name": "y"}), ((), {"name": "z", "start": 3, "end": 4})]
)
def test_a_record_is_what_a_named_tuple_is(values, named):
    record, like = Span(*values, **named), Named(*values, **named)
    assert record == like and hash(record) == hash(like) and repr(record) == repr(like)
    assert (record.start, record.end, record.name) == tuple(like)
    assert record._replace(end=9) == like._replace(end=9) and record._asdict() == like._asdict()
    assert Span._fields == Named._fields and Span._make([1, 2, "x"]) == Named._make([1, 2, "x"])
    assert type(record._replace(end=9)) is Span and record._replace(end=9).length() == 9 - record.start
    copied = pickle.loads(pickle.dumps(record))
    assert copied == record and type(copied) is Span
    match record:
        case Span(start, end=end):
            assert (start, end) == (record.start, record.end)


@pytest.mark.parametrize(
    ("values", "named", "said"),
    [
        ((), {}, "no start"),
        ((), {"stop": 1}, "no start, an unexpected stop"),
        ((1, 2, "x", 4), {}, "4 values"),
        ((1,), {"start": 1}, "an unexpected start"),
        ((1,), {"stop": 1}, "an unexpected stop"),
        ((1, 2, "x"), {"name": "y"}, "an unexpected name"),
    ],
)
def test_wrong_values_are_refused(values, named, said):
    with pytest.raises(TypeError, match=said):
        Span(*values, **named)
    with pytest.raises(TypeError):
        Named(*values, **named)


def test_a_record_does_not_change():
    with pytest.raises(AttributeError):
        Span(1).start = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        Span(1).other = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_a_class_derived_from_a_record_has_its_fields():
    class Long(Span):
        def length(self) -> int:
            return 2 * super().length()

    assert Long(1).length() == 12 and Long._fields == Span._fields


class Heap(Mutable):
    """Attributes with and without defaults."""

    name: str
    height: int = 0
    cards: list[int] = fresh(default_factory=list)

    def grow(self) -> None:
        """One more."""
        self.height += 1


class Marked(Heap):
    """The same and one more attribute."""

    mark: str = "none"


def test_an_object_has_its_fields_and_defaults_of_its_own():
    one, two = Heap("a"), Marked("b", 3, mark="red")
    one.grow()
    one.cards.append(5)
    two.grow()
    assert (one.name, one.height, one.cards) == ("a", 1, [5])
    assert (two.name, two.height, two.cards, two.mark) == ("b", 4, [], "red")
    assert Heap("a").height == 0 and one != Heap("a", 1, [5]) and one in {one}


def test_a_copy_shares_what_was_not_replaced():
    one = Marked("a", mark="blue")
    copied = one._replace(height=7)
    assert type(copied) is Marked and (copied.name, copied.height, copied.mark) == ("a", 7, "blue")
    assert copied.cards is one.cards and one.height == 0


@pytest.mark.parametrize(
    ("values", "named", "said"),
    [
        ((), {}, "no name"),
        (("a", 1, [], 4), {}, "4 values"),
        (("a",), {"name": "b"}, "an unexpected name"),
        (("a",), {"width": 1}, "an unexpected width"),
    ],
)
def test_an_object_refuses_wrong_values(values, named, said):
    with pytest.raises(TypeError, match=said):
        Heap(*values, **named)

"""Which fact makes a function compile again and again, said before it hurts.

In: what tells the specialisations of one function apart.  Out: one warning that names what
differs among them and what to write instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytocu.errors import callers_frame
from pytocu.ir.dims import Fact
from pytocu.ir.types import ArrayType, ScalarType, parse_type
from pytocu.record import Record


class SpecializationWarning(UserWarning):
    """A function has been compiled for many kinds of calls; the text names what differs among them."""


Facts = Mapping[str, str]
"""What one specialisation relies on: the name of a fact and its value, both as text."""

_ADVICE = {
    "value": "values other than numbers and arrays are compiled for: pass an array or a number, or fewer values",
    "captured value": "pass it as an argument: arguments that are numbers need no new code when they change",
    "dtype": "convert to one dtype before the call",
    "number of axes": "reshape to one number of axes before the call",
    "order of elements": "np.ascontiguousarray before the call makes it one",
    "lengths that are 1": "lengths of 1 broadcast and so have code of their own; give them to the function in one way",
    "target": "the function runs both on the CPU and on GPUs",
}


def facts_of(
    types: Sequence[str], target: str, captured: Iterable[tuple[str, Any]], assumptions: Iterable[Fact]
) -> Facts:
    """The facts of one specialisation.

    Parameters
    ----------
    types : sequence of str
        The parameters, as ``x: f32[n, 3]`` or ``mode: static 'relu'``.
    target : str
        ``cpu`` or ``cuda``.
    captured : iterable of (str, object)
        Names of captured values and what identifies the values.
    assumptions : iterable of Fact
        About lengths.

    Examples
    --------
    >>> facts_of(["x: f32[1, x_1]", "k: weak int"], "cpu", [], [])["lengths that are 1 of argument x"]
    '(0,)'
    """
    found = {"target": target}
    for shown in types:
        name, _, text = shown.partition(": ")
        if text.startswith("static "):
            found[f"value of argument {name}"] = text.removeprefix("static ")
            continue
        match parse_type(text):
            case ArrayType(dtype, shape, layout):
                found[f"dtype of argument {name}"] = str(dtype)
                found[f"number of axes of argument {name}"] = str(len(shape))
                found[f"order of elements of argument {name}"] = layout
                ones = tuple(n for n, length in enumerate(shape) if length == 1)
                found[f"lengths that are 1 of argument {name}"] = str(ones)
            case ScalarType() as scalar:
                found[f"dtype of argument {name}"] = str(scalar)
            case other:
                found[f"dtype of argument {name}"] = f"Python {other}"
    for name, key in captured:
        found[f"captured value {name}"] = repr(key)
    for fact in assumptions:
        # Bounds of one length are classes of one fact.
        kind = "lengths that are 1 in views" if fact.relation in ("==", "!=") and fact.number == 1 else "size class"
        name = f"{kind} ({fact.dim})"
        found[name] = " and ".join(filter(None, (found.get(name), f"{fact.relation} {fact.number}")))
    return found


def varying(specializations: Sequence[Facts]) -> list[tuple[str, int]]:
    """Facts that differ and how many values each has, most values first.

    Examples
    --------
    >>> varying([{"a": "1", "b": "x"}, {"a": "2", "b": "x"}, {"a": "3", "b": "y"}, {"a": "3"}])
    [('a', 3), ('b', 3)]
    """
    names = dict.fromkeys(name for facts in specializations for name in facts)
    counted = [(name, len({facts.get(name) for facts in specializations})) for name in names]
    return sorted((c for c in counted if c[1] > 1), key=lambda c: -c[1])


class Change(Record):
    """A fact that differs between two specialisations.

    Attributes
    ----------
    fact : str
        Its name, as ``dtype of argument x``.
    before, now : str
        Its values; empty where one relies on no such fact.
    help : str
        What to write instead, where something can be done.
    """

    fact: str
    before: str
    now: str
    help: str = ""

    def __str__(self) -> str:
        return f"{self.fact}: {self.now or 'nothing'}, was {self.before or 'nothing'}"


def nearest_changes(now: Facts, others: Sequence[Facts]) -> tuple[Change, ...]:
    """What tells a specialisation from the one most like it; nothing where there is no other.

    Parameters
    ----------
    now : mapping
        The facts of the specialisation.
    others : sequence of mapping
        Those of earlier ones; of equally near ones the last counts.

    Examples
    --------
    >>> nearest_changes({"a": "1", "b": "x"}, [{"a": "2", "b": "y"}, {"a": "2", "b": "x"}])
    (Change(fact='a', before='2', now='1', help=''),)
    """

    def between(other: Facts) -> list[str]:
        return [name for name in {**now, **other} if now.get(name) != other.get(name)]

    if not others:
        return ()
    nearest = min(reversed(others), key=lambda other: len(between(other)))
    names = between(nearest)
    # Facts about views and sizes follow from those about arguments where both differ.
    names = [n for n in names if not n.startswith(_DERIVED)] or names
    return tuple(Change(n, nearest.get(n, ""), now.get(n, ""), advice(n)) for n in names)


_DERIVED = ("size class", "lengths that are 1 in views")


def advice(fact: str) -> str:
    """What to write so that a fact does not change; empty where nothing is known."""
    return next((text for words, text in _ADVICE.items() if fact.startswith(words)), "")


def warn_when_many(name: str, number: int, allowed: int, specializations: Callable[[], Sequence[Facts]]) -> None:
    """Warn when there are as many specialisations as allowed, and at each doubling.

    Parameters
    ----------
    name : str
        The function.
    number, allowed : int
        Of specialisations.
    specializations : callable
        Gives the facts of all of them.
    """
    if number % allowed or (number // allowed).bit_count() != 1:
        return
    differing = varying(specializations())
    if not differing:
        return
    listed = "; ".join(f"{fact} ({count} kinds)" for fact, count in differing[:3])
    warnings.warn(
        f"{name} has been compiled {number} times, and each time costs milliseconds. What differs: {listed}.\n"
        f"  help: {advice(differing[0][0])}; f.specializations lists all "
        f"(PYTOCU_MAX_SPECIALIZATIONS={allowed} sets when this is said)",
        SpecializationWarning,
        stacklevel=callers_frame(),
    )

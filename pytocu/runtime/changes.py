"""Which fact makes a function compile again and again, said before it hurts.

In: what tells the specialisations of one function apart.  Out: one warning that names what
differs among them and what to write instead.
"""

from __future__ import annotations

import struct
import types
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.errors import callers_frame
from pytocu.floats import float_text
from pytocu.ir.dims import Fact
from pytocu.ir.types import ArrayType, ScalarType, axes_of, is_strided, parse_type
from pytocu.record import Record


class SpecializationWarning(UserWarning):
    """A function has been compiled for many kinds of calls; the text names what differs among them.

    ``PYTOCU_MAX_SPECIALIZATIONS`` says how many.
    """


Facts = Mapping[str, str]
"""What one specialisation relies on: the name of a fact and its value, both as text."""

_ADVICE = {
    "value": "values other than numbers and arrays are compiled for: pass an array or a number, or fewer values",
    "what holds": "each way to hold arrays is compiled for: pass one number of them, with the same keys, or one larger array",
    "captured value": "pass it as an argument: arguments that are numbers need no new code when they change",
    "dtype": "convert to one dtype before the call",
    "number of axes": "reshape to one number of axes before the call",
    "order of elements": "np.ascontiguousarray before the call makes it one",
    "axes of length 1": "lengths of 1 broadcast and so have code of their own; give them to the function in one way",
    "length": "code depends on whether a length is 1, and on how long rows are, for speed; it is compiled once for each class",
    "memory": "pass copies, or arrays that share memory with what is changed in one way",
    "target": "the function runs both on the CPU and on GPUs",
}


_LAYOUTS = {"C": "row-major", "F": "column-major", "S": "with gaps"}


def _order_text(layout: str) -> str:
    if layout in _LAYOUTS:
        return _LAYOUTS[layout]
    axes = ", ".join(map(str, axes_of(layout, 0))) or "none"
    return f"{'with gaps, ' if is_strided(layout) else ''}axes from the slowest to the fastest: {axes}"


_AXES, _ORDER, _ONES = "number of axes of argument ", "order of elements of argument ", "axes of length 1 of argument "

_HELD = "what holds the arrays of argument "

HIDDEN = "\0"
"""Behind it stands what only tells two values apart, and is not shown."""


def facts_of(
    types: Sequence[str],
    target: str,
    captured: Iterable[tuple[str, Any]],
    assumptions: Iterable[Fact],
    shared: str = "",
    index_bits: int = 32,
    held: Iterable[tuple[str, str]] = (),
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
    shared : str
        Which arguments share memory with one that is changed.
    index_bits : int
        Of offsets in arrays.
    held : iterable of (str, str)
        Arguments that hold arrays, and how.

    Examples
    --------
    >>> facts_of(["x: f32[1, x_1]", "k: weak int"], "cpu", [], [])["axes of length 1 of argument x"]
    'axis 0'
    """
    found = {"target": target, **{f"{_HELD}{name}": text for name, text in held}}
    for shown in types:
        name, _, text = shown.partition(": ")
        if text.startswith("static "):
            found[f"value of argument {name}"] = text.removeprefix("static ")
            continue
        match parse_type(text):
            case ArrayType(dtype, shape, layout):
                found[f"dtype of argument {name}"] = str(dtype)
                found[f"{_AXES}{name}"] = str(len(shape))
                found[f"{_ORDER}{name}"] = _order_text(layout)
                ones = [f"axis {n}" for n, length in enumerate(shape) if length == 1]
                found[f"{_ONES}{name}"] = " and ".join(ones) or "none"
            case ScalarType() as scalar:
                found[f"dtype of argument {name}"] = str(scalar)
            case other:
                found[f"dtype of argument {name}"] = f"Python's {str(other).removeprefix('weak ')}"
    for name, key in captured:
        found[f"captured value {name}"] = f"{key_text(key)}{HIDDEN}{key!r}"
    for fact in assumptions:
        # Bounds of one length are classes of one fact.
        name = f"length {fact.dim}"
        said = str(fact).removeprefix(f"{fact.dim} is ")
        found[name] = " and ".join(filter(None, (found.get(name), said)))
    if shared:
        found["memory that arguments share with a changed one"] = shared
    if index_bits == 64:
        found["offsets in arrays"] = "64 bits"
    return found


def sharing_text(sharing: Iterable[tuple[str, Sequence[int]]], names: Sequence[str]) -> str:
    """Which arguments are in one memory, for people.

    Examples
    --------
    >>> sharing_text([("same", (0, 2))], ["u", "k", "v"])
    'u and v are one array'
    """
    said = {"same": "are one array", "overlap": "overlap"}
    return "; ".join(f"{' and '.join(names[n] for n in numbers)} {said.get(kind, kind)}" for kind, numbers in sharing)


def key_text(key: Any) -> str:
    """A captured value for people, from what identifies it; see `pytocu.guards.static_key`.

    Examples
    --------
    >>> from pytocu.guards import static_key
    >>> key_text(static_key(0.5)), key_text(static_key(("a", [1, None])))
    ('0.5', "('a', [1, None])")
    """
    match key:
        case (kind, bytes(bits)) if kind is float:
            return float_text(struct.unpack("<d", bits)[0])
        case (kind, real, imaginary) if kind is complex:
            return f"{key_text(real)} + {key_text(imaginary)}j"
        case (kind, value) if kind in (bool, int, str, bytes, type(None)):
            return repr(value)
        case ("numpy", str(dtype), bytes(bits)):
            return repr(np.frombuffer(bits, dtype)[0])
        case ("dtype", str(dtype)):
            return repr(np.dtype(dtype))
        case (type() as kind, *items) if issubclass(kind, tuple | list):
            inner = ", ".join(map(key_text, items))
            return f"[{inner}]" if issubclass(kind, list) else f"({inner}{',' if len(items) == 1 else ''})"
        case ("object", type() as kind):
            return _article(kind.__name__)
        case _ if hasattr(key, "object"):
            found = key.object
            named = isinstance(found, types.FunctionType | types.BuiltinFunctionType | types.ModuleType | type | np.ufunc)
            return found.__name__ if named else _article(type(found).__name__)
        case (type() as kind, *_):
            return _article(kind.__name__)
    return "another value"


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


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
        Its values, for people.
    help : str
        What to write instead, where something can be done.
    """

    fact: str
    before: str
    now: str
    help: str = ""

    def __str__(self) -> str:
        return f"{self.fact}: {self.now}, was {self.before}"


def nearest_changes(pairs: Sequence[tuple[Facts, Facts]]) -> tuple[Change, ...]:
    """What tells a specialisation from the one most like it; nothing where there is no other.

    Parameters
    ----------
    pairs : sequence of (mapping, mapping)
        The facts of the specialisation beside those of each earlier one; of equally near ones the last counts.

    Examples
    --------
    >>> now = {"a": "1", "b": "x"}
    >>> nearest_changes([(now, {"a": "2", "b": "y"}), (now, {"a": "2", "b": "x"})])
    (Change(fact='a', before='2', now='1', help=''),)
    >>> array = facts_of(["x: f32[n]"], "cpu", [], [])
    >>> nearest_changes([(facts_of(["x: weak float"], "cpu", [], []), array)])[0].now
    "Python's float"
    >>> [c.fact for c in nearest_changes([(facts_of(["x: f64"], "cpu", [], []), array)])]
    ['dtype of argument x', 'number of axes of argument x']
    """
    if not pairs:
        return ()
    now, nearest = min(reversed(pairs), key=lambda pair: (len(_told(*pair)), len(_between(*pair))))
    return tuple(_change(n, nearest.get(n, ""), now.get(n, "")) for n in _told(now, nearest))


def _told(now: Facts, nearest: Facts) -> list[str]:
    """The facts that differ, without those that follow from others."""
    names = _between(now, nearest)
    # What code captures and which lengths it asks for follow from its arguments, where these differ too.
    own = [n for n in names if not n.startswith("length ") and (not n.startswith("captured") or (n in now and n in nearest))]
    if any(n.startswith(_HELD) for n in own):
        # Parts that only one of them has are told by what holds them.
        own = [n for n in own if n.startswith(_HELD) or (n in now and n in nearest)]
    # Of an argument that is a number in one of them, its kind says all.
    for axes in [n for n in own if n.startswith(_AXES) and (n in now) != (n in nearest)]:
        argument = axes.removeprefix(_AXES)
        follows = {f"{_ORDER}{argument}", f"{_ONES}{argument}"}
        if any("Python's" in facts.get(f"dtype of argument {argument}", "") for facts in (now, nearest)):
            follows.add(axes)
        own = [n for n in own if n not in follows]
    return own or names


def _between(now: Facts, other: Facts) -> list[str]:
    return [name for name in {**now, **other} if now.get(name) != other.get(name)]


def _change(fact: str, before: str, now: str) -> Change:
    one, two = (text.partition(HIDDEN)[0] or _absent(fact) for text in (before, now))
    # Two objects that look alike.
    return Change(fact, one, f"another one, {two}" if one == two else two, advice(fact))


def _absent(fact: str) -> str:
    """What it means that no such fact counts."""
    if fact.startswith(("memory", _HELD)):
        return "none"
    if fact.startswith(_AXES):
        return "0"
    return "any" if fact.startswith("length ") else "32 bits" if fact.startswith("offsets") else "not used"


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

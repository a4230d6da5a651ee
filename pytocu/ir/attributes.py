"""What the attributes of an instruction may be, and how many arguments it has at least.

The rows of the op table name their attributes; this table says what values they take.  An attribute
means the same in every row that has it, but for those that are listed with their row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytocu.errors import closest
from pytocu.ir.core import Inst
from pytocu.ir.dims import Dim
from pytocu.ir.ops import GRID_AXES, OPS
from pytocu.ir.printer import format_attr
from pytocu.ir.types import is_layout, is_strided
from pytocu.record import Record


class Kind(Record):
    """Values of an attribute: what they are called in a sentence, and which these are."""

    words: str
    holds: Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_length(value: Any) -> bool:
    return type(value) is int or isinstance(value, Dim)


def _tuple_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(holds, value))


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(d, Dim) or _is_count(d) for d in value)


def _is_layout(value: Any) -> bool:
    return isinstance(value, str) and not is_strided(value) and is_layout(value, len(value.split()))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_numbers(value: Any) -> bool:
    match value:
        case (str() as name, steps, bool()):
            return _is_name(name) and _is_length(steps)
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _is_options(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(v, tuple) and len(v) == 2 and _is_name(v[0]) for v in value)


def _is_sizes(value: Any) -> bool:
    return _is_options(value) and all(_is_count(number) for _, number in value)


def _triples(value: Any) -> bool:
    return isinstance(value, tuple) and all(_tuple_of(_is_integer)(v) and len(v) == 3 for v in value)


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_tree(value: Any) -> bool:
    match value:
        case ("none",) | ("str", str()):
            return True
        case ("named", path, *members):
            return isinstance(path, tuple | str) and all(map(_is_tree, members))
        case ("dict", *items):
            return all(isinstance(i, tuple) and len(i) == 2 and type(i[0]) in (str, int) and _is_tree(i[1]) for i in items)
        case ("if", *members):
            return len(members) == 3 and all(map(_is_tree, members))
        case ("members", *members):
            return len(members) == 2 and _is_count(members[0]) and members[1] in ("numbers", "elements")
        case ("either", *members):
            return len(members) == 2 and all(map(_is_count, members))
        case ("zip", ("tuple", *members)) | ("zip", ("named", _, *members)):
            # What is put together here are lists of one length.
            lists = ("members", "either", "zip")
            return bool(members) and all(isinstance(m, tuple) and m[0] in lists and _is_tree(m) for m in members)
        case ("read-only", *members):
            return len(members) == 1 and _is_tree(members[0])
        case ("tuple" | "list", *members) | (*members,):
            return all(map(_is_tree, members))
    return _is_count(value)


_OVER = ("serial", "reduction", "parallel", *GRID_AXES)

_POWERS = tuple(1 << k for k in range(13))

NUMBER = Kind("a number", _is_number)
COUNT = Kind("an int that is not negative", _is_count)
POSITIVE = Kind("an int above 0", lambda value: _is_count(value) and value > 0)
LENGTH = Kind("a length, as n - 1", _is_length)
LENGTHS = Kind("a tuple of lengths, as (n, 3)", _tuple_of(_is_length))
SHAPE = Kind("a shape, as (n, 3)", _is_shape)
AXES = Kind("a tuple of axes, as (0, 1)", _tuple_of(_is_count))
STEPS = Kind("a tuple of ints that are not 0, or lengths", _tuple_of(lambda value: _is_length(value) and value != 0))
ALIGNMENT = Kind("a power of two up to 4096", lambda value: _is_count(value) and value in _POWERS)
TEXT = Kind("a string", lambda value: isinstance(value, str))
NAME = Kind("a string that is a name", _is_name)
NAMES = Kind("a tuple of names", _tuple_of(_is_name))
TRUTH = Kind("True or False", lambda value: isinstance(value, bool))
INTEGER = Kind("an int", _is_integer)

KINDS: dict[str, Kind] = {
    "ahead": COUNT,
    "align": ALIGNMENT,
    "at": LENGTH,
    "axes": AXES,
    "axis": COUNT,
    "blank": TRUTH,
    "block": POSITIVE,
    "bytes": Kind("a tuple of powers of two up to 4096", _tuple_of(lambda value: _is_count(value) and value in _POWERS)),
    "carried": COUNT,
    "cost": LENGTH,
    "dim": LENGTH,
    "dims": LENGTHS,
    "each": POSITIVE,
    "elements": COUNT,
    "error": NAME,
    "exclusive": TRUTH,
    "expand": AXES,
    "few": TRUTH,
    "free": LENGTHS,
    "function": TEXT,
    "grid": LENGTHS,
    "keep": TRUTH,
    "kind": TEXT,
    "from_python.known": Kind("a number, or None", lambda value: value is None or _is_number(value)),
    "perhaps": TRUTH,
    "beside": Kind("a kind of Python numbers", lambda value: value in ("int", "float")),
    "of": Kind("a kind of Python numbers", lambda value: value in ("bool", "int", "float", "complex")),
    "known": Kind('lengths and their numbers, as (("n", 3),)', _is_sizes),
    "lanes": POSITIVE,
    "length": LENGTH,
    "limit": LENGTH,
    "mask": POSITIVE,
    "on_cpu": COUNT,
    "name": NAME,
    "names": NAMES,
    "ndim": COUNT,
    "number": INTEGER,
    "order": Kind("'C' or 'F'", lambda value: value in ("C", "F")),
    "orders": Kind("layouts of new arrays, None where none is known", _tuple_of(lambda v: v is None or _is_layout(v))),
    "numbers": Kind("the name of a step, how many steps there are and whether the last comes first", _is_numbers),
    "offset": LENGTH,
    "once": LENGTH,
    "op": NAME,
    "options": Kind('options and their values, as (("axis", -1),)', _is_options),
    "outputs": COUNT,
    "over": Kind(f"one of {', '.join(_OVER)}", lambda value: value in _OVER),
    "parallel": LENGTHS,
    "piece": LENGTH,
    "pieces": LENGTH,
    "places": Kind("a tuple of tuples of axes", _tuple_of(_tuple_of(_is_count))),
    "reach": Kind("a tuple of three numbers for each vector", _triples),
    "reduced": LENGTHS,
    "relation": TEXT,
    "resident": POSITIVE,
    "right": TRUTH,
    "said": Kind("a tuple", lambda value: isinstance(value, tuple)),
    "schedule": TEXT,
    "sentence": TEXT,
    "shape": SHAPE,
    "shapes": Kind("a tuple", lambda value: isinstance(value, tuple)),
    "several": POSITIVE,
    "share": POSITIVE,
    "side": POSITIVE,
    "single": TRUTH,
    "size": POSITIVE,
    "source": SHAPE,
    "start": LENGTHS,
    "step": POSITIVE,
    "strides": LENGTHS,
    "tree": Kind('the number of a result, or a tree of them as ("tuple", 0, 1)', _is_tree),
    "usual": TRUTH,
    "updates": Kind("pairs of numbers of results", _tuple_of(lambda v: _tuple_of(_is_count)(v) and len(v) == 2)),
    "value": LENGTH,
    "vector": POSITIVE,
    "what": TEXT,
    "which": Kind('"bits", "real" or "imag"', lambda value: value in ("bits", "real", "imag")),
    "whole": TRUTH,
    "why": TEXT,
    "width": POSITIVE,
    "work": LENGTH,
    "wrap": TRUTH,
    "writable": TRUTH,
    "caught": TRUTH,
    "const.value": NUMBER,
    "diagonal.offset": INTEGER,
    "failed.at": COUNT,
    "gather.at": COUNT,
    "prefetch.bytes": POSITIVE,
    "slice.size": SHAPE,
    "windows.size": LENGTH,
    "wrapped.start": LENGTH,
    "slice.step": STEPS,
}
"""What an attribute is, by its name, or by that of its row and its own."""

MAY_LACK: dict[str, tuple[str, ...]] = {
    "bind": ("length", "on_cpu"),
    "broadcast": ("writable",),
    "convert": ("wrap",),
    "copy": ("order", "blank"),
    "diagonal": ("writable",),
    "writable": ("caught",),
    "failed": ("said",),
    "for": ("few",),
    "if": ("usual",),
    "compaction": ("piece",),
    "for_loop": ("numbers", "once"),
    "index": ("keep",),
    "kernel": ("why", "parallel", "reduced", "places"),
    "launch": tuple(name for name in OPS["launch"].attrs if name not in ("name", "outputs")),
    "library": ("options",),
    "load": OPS["load"].attrs,
    "lanes": ("reach",),
    "reduce": ("pieces", "piece"),
    "place": ("single",),
    "require": ("said",),
    "return": ("tree", "updates", "orders"),
    "scan": ("exclusive", "pieces", "piece"),
    "search": ("right",),
    "store": OPS["store"].attrs,
    "while_loop": ("once",),
}
"""The attributes that an instruction need not have; every row has all others."""

LEAST = {
    "aligned": 1,
    "compaction": 1,
    "concatenate": 1,
    "for": 3,
    "for_loop": 3,
    "gather": 1,
    "if_else": 1,
    "launch": 1,
    "load": 2,
    "memory": 1,
    "reduce": 1,
    "require": 2,
    "scan": 1,
    "store": 3,
    "transposed": 2,
}
"""How many arguments rows have at least that take any number."""


def wrong(inst: Inst) -> str:
    """What is wrong with the attributes or the number of arguments, as the end of a sentence; empty where nothing is.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> text = "func @f(%x: f32[n]) {\\n %y = newaxis %x {axis = -1} : f32[n, 1]\\n return %y {tree = 0}\\n}"
    >>> wrong(parse_function(text).body.insts[0])
    'has axis = -1, which is not an int that is not negative'
    """
    op = inst.op
    given: set[str] = set()
    for name, value in inst.attrs:
        if name in given:
            return f"has the attribute {name} twice"
        given.add(name)
        if name == "fastmath":
            continue
        if name not in op.attrs:
            meant = closest(name, op.attrs)
            return f"has the attribute {name}, which its row does not list{f': did you mean {meant}?' if meant else ''}"
        kind = KINDS.get(f"{op.name}.{name}") or KINDS[name]
        if not kind.holds(value):
            return f"has {name} = {format_attr(value)}, which is not {kind.words}"
    for name in op.attrs:
        if name not in given and name not in MAY_LACK.get(op.name, ()):
            return f"lacks the attribute {name}"
    if op.arity is None and len(inst.args) < LEAST.get(op.name, 0):
        return f"has {len(inst.args)} arguments, and takes {LEAST[op.name]} or more"
    return ""

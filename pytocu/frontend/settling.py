"""The end of a function in which numbers may be Python's: what is done with them is the same for both, or is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from pytocu.deferred import Deferred
from pytocu.errors import Note, UnsupportedError
from pytocu.frontend.first_steps import Required
from pytocu.frontend.kinds import Maybe, follow, is_int, is_numpys, rank_of
from pytocu.frontend.reading import read_bool, read_float, read_int
from pytocu.frontend.storage import HandOn
from pytocu.frontend.type_texts import type_text
from pytocu.frontend.values import AsBranch, Context, Perhaps, const_inst
from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import copy_with, rewrite, rewrite_block
from pytocu.ir.types import BOOL, F64, I64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, DType, ScalarType, WeakType, element, scalar

_ask_for_marks = Deferred("pytocu.frontend.list_kinds", "ask_for_marks")


class Choice(NamedTuple):
    """What is returned where a run decides: a Python bool that chooses, NumPy's number and Python's."""

    is_numpy: Value
    theirs: Value
    pythons: Any


def settle(context: Context, result: Any) -> dict[Value, Choice]:
    """Look at what the function does with numbers that may be Python's; those that it returns.

    Raises
    ------
    UnsupportedError
        What is computed of one depends on which it is.
    """
    builder = context.builder
    bad, found = follow({}, builder.insts, {}, fits=context.fits)
    for origin, inst in bad.items():
        ask_for_kinds(context, inst)
        _ask_for_one_kind(context, origin)
    for origin, inst in sorted(bad.items(), key=lambda pair: (pair[1].loc, *_place(pair[0]))):
        kinds = frozenset[WeakType]().union(*(found[a].kinds for a in inst.args if a in found))
        text = f"{_said(origin, kinds)}, and which of them decides what {_doing(inst)}"
        raise UnsupportedError(text, inst.loc, _way_out(origin), _note(origin, inst))
    _ask_for_branches(context)
    leaves: list[Value] = []
    _leaves(result, leaves)
    made: dict[Value, Choice] = {}
    for value in dict.fromkeys(v for v in leaves if v in found):
        choice = _choice(context, value, found)
        if choice is None:
            for origin in found[value].origins:
                if origin in context.read_of:
                    _ask_for_marks(context, context.read_of[origin])
                _ask_for_one_kind(context, origin)
            (origin, *_) = sorted(found[value].origins, key=_place)
            kinds = found[value].kinds
            text = f"{_said(origin, kinds)}, and so the kind of what the function returns is known only at run time"
            raise UnsupportedError(text, context.loc, _way_out(origin))
        made[value] = choice
    return made


def ask_for_kinds(context: Context, inst: Inst) -> None:
    """Let the function be read again with a list of both kinds of numbers, where one of Python's may become a member."""
    if inst.op.name == "as_numpy" and inst.attr("what") == "member":
        raise HandOn(context.members[inst.loc])


def _ask_for_one_kind(context: Context, origin: Value) -> None:
    """Let the function be read again so that a run is refused in which what a loop leaves is Python's number."""
    inst = origin.inst
    assert inst is not None
    required = Required(inst.loc, origin.name)
    if inst.op.name == "from_python" and len(inst.args) == 2 and required not in context.handed:
        raise HandOn(required)


def _ask_for_branches(context: Context) -> None:
    """Let the function be read again where a run may be refused for what Python leaves out: a side that is not taken."""
    required = {inst.loc for inst in context.fits}
    places = [AsBranch(place) for place, made in context.both_computed.items() if made & required]
    if places:
        raise HandOn(*places)


def _choice(context: Context, value: Value, found: Mapping[Value, Maybe]) -> Choice | None:
    maybe = found[value]
    builder = context.builder
    dtype = element(value.type)
    both = maybe.kinds == {WEAK_INT, WEAK_FLOAT} and dtype is F64
    rank = None if maybe.operand or (len(maybe.kinds) > 1 and not both) else rank_of(builder, value, found, {})
    if rank is None:
        return None
    numpys = is_numpys(builder, rank)
    if both:
        floats = read_float(context, _or_zero(context, numpys, value))
        others = builder.emit("logical_not", (is_int(builder, rank),))
        pythons: Any = Choice(read_bool(context, others), floats, read_int(context, _or_zero(context, others, value)))
        return Choice(read_bool(context, numpys), value, pythons)
    (kind,) = maybe.kinds
    if maybe.known is not None:
        return Choice(read_bool(context, numpys), value, maybe.known)
    read = _READ.get((kind, dtype))
    return None if read is None else Choice(read_bool(context, numpys), value, read(context, _or_zero(context, numpys, value)))


def _or_zero(context: Context, mark: Value, value: Value) -> Value:
    """A number, or 0 where a mark says so: what is not Python's need not be a number that Python's kind has."""
    zero = context.builder.const(0, scalar(element(value.type)))
    return context.builder.emit("where", (mark, zero, value))


_READ: dict[tuple[WeakType, DType], Any] = {
    (WEAK_BOOL, BOOL): read_bool,
    (WEAK_INT, I64): read_int,
    # An int that float64 does not hold was refused where it was made one.
    (WEAK_INT, F64): read_int,
    (WEAK_FLOAT, F64): read_float,
}


def _leaves(value: Any, leaves: list[Value]) -> None:
    match value:
        case Value():
            leaves.append(value)
        case tuple() | list():
            for member in value:
                _leaves(member, leaves)
        case dict():
            _leaves(list(value.values()), leaves)
        case Perhaps():
            _leaves(value.value, leaves)


def _place(origin: Value) -> tuple[Any, ...]:
    """Where a number is written down, for messages that are the same on every run."""
    inst = origin.inst
    assert inst is not None
    return (inst.loc, inst.attr("of"))


def _said(origin: Value, kinds: Set[WeakType]) -> str:
    """What a number is on the ways that there are: Python's of one kind, or of these kinds, or NumPy's."""
    inst = origin.inst
    assert inst is not None
    line = f" (line {inst.loc.line})" if inst.loc.line else ""
    own = WeakType(inst.attr("of"))
    others = [] if inst.attr("beside") is not None else [type_text(kind) for kind in kinds if kind != own]
    more = "".join(f", {text}" for text in sorted(others))
    return f"{origin.name or 'a number'} is {type_text(own)}{line}{more} or, on another way, {_other(origin)}"


def _other(origin: Value) -> str:
    """What a number is on the other way."""
    beside = None if origin.inst is None else origin.inst.attr("beside")
    return f"an np.{element(origin.type).numpy.name}" if beside is None else type_text(WeakType(beside))


def _way_out(origin: Value) -> str:
    if origin.inst is not None and origin.inst.attr("beside") is not None:
        return "make both floats: 0.0 for 0, float(...)"
    return f"make both NumPy's: np.{element(origin.type).numpy.name}(...)"


def _note(origin: Value, inst: Inst) -> tuple[Note, ...]:
    """Which operand it is, where the line shows that."""
    made = origin.inst
    assert made is not None
    beside = (made.loc.file, made.loc.line) == (inst.loc.file, inst.loc.line) and made.loc != inst.loc
    kinds = f"{type_text(WeakType(made.attr('of')))}, or {_other(origin)}"
    return (Note(made.loc, kinds),) if beside and made.loc.end_column else ()


def _doing(inst: Inst) -> str:
    if inst.op.name == "as_numpy":
        return "the list that is returned holds" if inst.attr("what") == "listed" else "this gives"
    return f"{inst.op.symbol or inst.op.name} gives"


def forget(function: Function, fits: Set[Inst]) -> Function:
    """The function without these notes, in which ints that may be Python's are required to fit, and divisors not to be 0."""
    return rewrite(function, partial(_forget, fits))


_BY_ZERO = "a division by 0, which raises where the number is Python's and not where it is NumPy's, is not compiled"
_ROUNDED = "a quotient of Python ints that float64 does not hold is not compiled"
_COMPLEX = "a power of a negative number, complex where the number is Python's and nan where it is NumPy's, is not compiled"
_TOO_LARGE = "a power that is too large, which raises where the number is Python's and not where it is NumPy's, is not compiled"
_FITS = "a Python int that int64 does not hold is not compiled"


def _fitting(builder: Builder, name: str, args: Sequence[Value], made: Value) -> Value:
    """The result, which int64 has to hold; a sum with a small constant, as of positions, is not looked at."""
    x, y = args[0], args[-1]
    if name == "divide":
        return _divided(builder, x, y, made)
    if name == "power":
        return _raised(builder, x, y, made)
    known = [inst.attr("value") for v in args if (inst := const_inst(v)) is not None]
    if name in ("add", "subtract") and any(abs(number) < 2**31 for number in known):
        return made
    if name in ("remainder", "floor_divide"):
        if known and known[-1] > 0 and const_inst(y) is not None:
            return made
        fine = builder.emit("not_equal" if name == "remainder" else "greater", (y, builder.const(0, WEAK_INT)))
    elif name in ("negative", "absolute"):
        fine = builder.emit("not_equal", (x, builder.const(-(2**63), scalar(I64))))
    elif name == "multiply":
        wide = [builder.emit("cast" if isinstance(v.type, ScalarType) else "convert", (v,), {}, (scalar(F64),)) for v in args]
        limit = builder.const(9.2233720368547e18, scalar(F64))
        fine = builder.emit("less", (builder.emit("absolute", (builder.emit("multiply", wide),)), limit))
    else:
        # An overflow has a sign that neither operand has (of a difference: x and -y).
        other = builder.emit("subtract", (builder.const(-1, scalar(I64)), y)) if name == "subtract" else y
        moved = [builder.emit("bitwise_xor", (v, made)) for v in (x, other)]
        fine = builder.emit("greater_equal", (builder.emit("bitwise_and", moved), builder.const(0, scalar(I64))))
    return _required(builder, made, fine, _FITS)


def _divided(builder: Builder, x: Value, y: Value, made: Value) -> Value:
    """A quotient: Python rounds that of ints once, and NumPy the ints too, which float64 holds up to here."""
    made = _required(builder, made, builder.emit("not_equal", (y, builder.const(0, y.type))), _BY_ZERO)
    for value in (x, y):
        number = builder.emit("convert", (value,), {}, (scalar(I64),)) if value.type == WEAK_INT else value
        if isinstance(number.type, WeakType) or element(number.type) is not I64:
            continue
        for row, bound in (("less_equal", 2**53), ("greater_equal", -(2**53))):
            inside = builder.emit(row, (number, builder.const(bound, scalar(I64))))
            made = _required(builder, made, inside, _ROUNDED)
    return made


def _raised(builder: Builder, x: Value, y: Value, made: Value) -> Value:
    """A power of floats: Python raises where it is too large, and one of a negative number may be complex."""
    whole = (exponent := const_inst(y)) is not None and float(exponent.attr("value")).is_integer()
    base, power = (
        v if isinstance(v.type, ScalarType) else builder.emit("convert", (v,), {}, (scalar(F64),)) for v in (x, y)
    )
    if not whole:
        below = builder.emit("less", (base, builder.const(0.0, scalar(F64))))
        made = _required(builder, made, builder.emit("logical_not", (below,)), _COMPLEX)
    large, *infinite = (builder.emit("isinf", (value,)) for value in (made, base, power))
    fine = builder.emit("greater_equal", (builder.emit("logical_or", infinite), large))
    return _required(builder, made, fine, _TOO_LARGE)


def _required(builder: Builder, made: Value, fine: Value, sentence: str) -> Value:
    of_one_kind = sentence in (_BY_ZERO, _COMPLEX, _TOO_LARGE)
    said = ("make the number NumPy's where it begins, as np.float64(0.0)",) if of_one_kind else ()
    attrs = {"error": "UnsupportedError", "sentence": sentence, "dims": (), **({"said": said} if said else {})}
    if isinstance(fine.type, WeakType):
        fine = builder.emit("convert", (fine,), {}, (scalar(BOOL),))
    return builder.emit("require", (made, fine), attrs)


def _forget(fits: Set[Inst], builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.name in ("from_python", "as_numpy"):
        return args[:1]
    if inst in fits:
        return [_fitting(builder, inst.op.name, args, copy_with(inst, builder, args)[0])]
    if inst.attr("marks") is None:
        return None
    regions = tuple(rewrite_block(region, partial(_forget, fits), {}) for region in inst.regions)
    made = Inst(inst.op, args, tuple(pair for pair in inst.attrs if pair[0] != "marks"), inst.types, regions, inst.loc)
    builder.insts.append(made)
    for old, new in zip(inst.results, made.results, strict=True):
        new.name = old.name
    return made.results


__all__ = ["Choice", "forget", "settle"]

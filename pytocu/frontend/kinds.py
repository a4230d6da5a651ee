"""Numbers of which only a run knows whether they are Python's or NumPy's: ``a / b if b else 0.0`` of NumPy scalars.

Such a number is a NumPy scalar here, as which Python's number is written down where the program makes it (``from_python``).
That is right as long as whatever is done with it gives the same for both: the dtype in which it is computed, and so the bits.
`follow` looks at every instruction that such a number reaches, through branches and loops.  What a NumPy function is given has
passed ``as_numpy``: of two Python numbers it makes NumPy's too, where an operator makes Python's.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytocu.frontend.ranges import names_given
from pytocu.frontend.values import const_inst
from pytocu.ir import promote
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value, named, walk
from pytocu.ir.regions import HEADS, carried_count, given, is_region, parameters
from pytocu.ir.rewrite import made_again
from pytocu.ir.types import (
    BOOL,
    C128,
    F64,
    I64,
    U8,
    U64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_ORDER,
    DType,
    ScalarType,
    WeakType,
    dtype_named,
    element,
    scalar,
    weak_type_of,
)

_EXACT = ("add", "subtract", "multiply", "negative", "positive", "absolute")
"""What Python's floats and float64 compute alike."""

_OF_BOOLS = ("bitwise_and", "bitwise_or", "bitwise_xor")


class Maybe(NamedTuple):
    """The Python number that a value may be, which is a NumPy scalar here.

    Attributes
    ----------
    kinds : frozenset of WeakType
        What it may be.
    known : bool, int, float or None
        Which number, where that is known now.
    origins : frozenset of Value
        Where it comes from: results of ``from_python``, and parameters of a loop of which names begin as Python's numbers.
    operand : bool
        It is an argument of a NumPy function.
    """

    kinds: frozenset[WeakType]
    known: Any
    origins: frozenset[Value]
    operand: bool = False


_NUMPYS = Maybe(frozenset(), None, frozenset())
"""What is NumPy's in any case."""


def follow(
    begun: Mapping[Value, Maybe],
    insts: Sequence[Inst],
    yields: Mapping[Value, Value],
    empty: bool = True,
    fits: set[Inst] | None = None,
) -> tuple[dict[Value, Inst], dict[Value, Maybe]]:
    """Find where NumPy scalars compute something else than the Python numbers that they stand for.

    Parameters
    ----------
    begun : mapping
        What may be Python numbers in front of a step, parameters of it too.
    insts : sequence of Inst
        A step.
    yields : mapping
        By parameter: what it is in the next step.
    empty : bool
        Whether loops inside may have no step.
    fits : set of Inst, optional
        Gets what NumPy computes as Python does where int64 holds the result, no divisor is 0, and Python has a real power.

    Returns
    -------
    dict
        By origin: an instruction that computes something else.
    dict
        All values of these instructions that may be Python numbers.
    """
    bad: dict[Value, Inst] = {}
    entering = dict(begun)
    while True:
        found = _follow(entering, insts, bad, empty, fits)
        joined = dict(entering)
        for param, end in yields.items():
            left = maybe_of(found, end) if _is_carried(param, end) else None
            if left is not None:
                joined[param] = either(left, joined.get(param))
        if joined == entering:
            return bad, found
        entering = joined


def _follow(
    begun: Mapping[Value, Maybe],
    insts: Sequence[Inst],
    bad: dict[Value, Inst],
    empty: bool = True,
    fits: set[Inst] | None = None,
) -> dict[Value, Maybe]:
    """All values of these instructions that may be Python numbers; origins that must not be go to `bad`."""
    found = dict(begun)
    for inst in insts:
        own = [found[a] for a in inst.args if a in found]
        if inst.op.name == "from_python":
            kind = frozenset([WeakType(inst.attr("of"))])
            made = Maybe(kind, inst.attr("known"), frozenset([inst.result]))
            found[inst.result] = either(made, own[0] if own else None)
            continue
        if is_region(inst):
            if own or makes_numbers(inst):
                found |= _follow_region(inst, found, bad, empty, fits)
            continue
        if not own or inst.op.name == "yield":
            continue
        made = _computed(inst, found, own, fits)
        if made is None:
            made = _of_ints(inst, found, own, fits)
        if made is None:
            for one in own:
                bad |= {origin: inst for origin in one.origins if origin not in bad}
        elif made.origins:
            found[inst.result] = made
    return found


def makes_numbers(inst: Inst) -> bool:
    """Whether there is a number of Python's in the regions of an instruction that stands for NumPy's elsewhere."""
    return any(inner.op.name == "from_python" for region in inst.regions for inner in walk(region))


def _follow_region(
    inst: Inst, found: Mapping[Value, Maybe], bad: dict[Value, Inst], empty: bool, fits: set[Inst] | None
) -> dict[Value, Maybe]:
    results: dict[Value, Maybe] = {}
    for region in inst.regions:
        outer = list(zip(parameters(inst, region), given(inst), strict=True))
        entering = {p: found[a] for p, a in outer if a in found}
        carried = [p for p, _ in outer[: carried_count(inst)]]
        while True:
            inside = _follow(entering, region.insts, bad, empty, fits)
            joined = dict(entering)
            for param, value in zip(carried, region.terminator.args, strict=False):
                if value in inside:
                    joined[param] = either(inside[value], joined.get(param))
            if joined == entering:
                break
            entering = joined
        if inst.op.name == "map":
            # A ufunc gives NumPy's numbers.
            continue
        for result, value in zip(inst.results, region.terminator.args, strict=True):
            if value in inside:
                results[result] = either(inside[value], results.get(result))
    if inst.op.name == "for_loop" and has_steps(inst.args[:3]):
        return results
    for result, start in zip(inst.results, given(inst)[: carried_count(inst)], strict=False):
        # Without a step it is what it was.
        if start in found and (empty or any(origin.inst is not None for origin in found[start].origins)):
            results[result] = either(found[start], results.get(result))
    return results


def has_steps(head: Sequence[Value]) -> bool:
    """Whether a range is known to have a number."""
    known = [inst.attr("value") for v in head if (inst := const_inst(v)) is not None]
    return len(known) == 3 and len(range(*known)) > 0


def _is_carried(param: Value, end: Value) -> bool:
    """Whether a NumPy scalar of a step is in the next one what `end` is; else the loop is refused."""
    if not isinstance(param.type, ScalarType):
        return False
    return promote.adapts(end.type, param.type.dtype) if isinstance(end.type, WeakType) else end.type == param.type


def maybe_of(found: Mapping[Value, Maybe], value: Value | None) -> Maybe | None:
    """The Python number that a value is or may be, where it is not a NumPy scalar in any case."""
    if value is not None and isinstance(value.type, WeakType):
        return Maybe(frozenset([value.type]), _constant(value), frozenset([value]))
    return None if value is None else found.get(value)


def either(one: Maybe, other: Maybe | None) -> Maybe:
    """What is one or the other."""
    if other is None or one == other:
        return one
    same = type(one.known) is type(other.known) and repr(one.known) == repr(other.known)
    known = one.known if same else None
    return Maybe(one.kinds | other.kinds, known, one.origins | other.origins, one.operand or other.operand)


def _computed(
    inst: Inst, found: Mapping[Value, Maybe], own: Sequence[Maybe], fits: set[Inst] | None
) -> Maybe | None:
    """What an instruction makes of Python numbers: None where it is not what it makes of NumPy scalars."""
    args = inst.args
    operands = any(one.operand for one in own)
    match inst.op.name:
        case "as_numpy":
            return _asked(own[0], element(args[0].type), inst.attr("what"))
        case "require":
            return found.get(args[0], _NUMPYS)
        case "where" if isinstance(inst.types[0], ScalarType) and not operands:
            sides = [found[a] for a in args[1:] if a in found]
            return functools.reduce(either, sides) if sides else _NUMPYS
        case "cast":
            same = _converts(own[0], element(args[0].type), element(inst.types[0])) or _is_int_of(inst)
            return _NUMPYS if same else None
        case "isnan" | "isinf" | "isfinite" if element(args[0].type).kind == "f":
            # No int is one of these.
            return _NUMPYS
        case "update" | "view":
            # Memory has the NumPy scalar, or its bits; whose view a program asks for has passed as_numpy.
            return _NUMPYS
    if inst.op.kind != "elementwise" or not inst.op.numpy:
        # A function takes a Python number for the NumPy scalar of its default dtype.
        defaults = all(promote.default_dtype(k) is element(a.type) for a in args if a in found for k in found[a].kinds)
        return _NUMPYS if defaults else None
    if inst.op.python is not None and not operands and all(isinstance(a.type, WeakType) for a in args if a not in found):
        return _operator(inst, found, own, fits)
    return _NUMPYS if _one_loop(inst, found) else None


def _is_int_of(inst: Inst) -> bool:
    """Whether it is what ``int`` makes of a float64 that int64 was found to hold without its fraction."""
    (value,) = inst.args
    looked_at = value.inst is not None and value.inst.op.name == "require"
    return looked_at and element(value.type) is F64 and element(inst.types[0]) is I64


def _asked(one: Maybe, carrier: DType, what: str) -> Maybe | None:
    """What ``as_numpy`` gives: see :func:`as_numpy`."""
    if what == "operand":
        return one._replace(operand=True)
    if what in ("member", "listed"):
        return None
    return _NUMPYS if what != "object" and _converts(one, carrier, dtype_named(what)) else None


# Beside NumPy's numbers.


def _one_loop(inst: Inst, found: Mapping[Value, Maybe]) -> bool:
    """Whether NumPy runs one loop, on the same numbers, whichever of them are Python's."""
    name, args = inst.op.name, inst.args
    if name == "power" and args[1] in found and args[0] not in found:
        # NumPy looks at an exponent that is Python's.
        return False
    ways = itertools.product(*(_alternatives(a, found) for a in args))
    try:
        loops = {_loop(inst, way) for way in ways}
    except TypeError:
        return False
    if len(loops) > 1:
        return inst.op.overflow == "answer" and all(_compares(inst, found, inputs) for inputs, _ in loops)
    ((inputs, _),) = loops
    return all(_converts(found[a], element(a.type), dtype) for a, dtype in zip(args, inputs, strict=True) if a in found)


def _alternatives(value: Value, found: Mapping[Value, Maybe]) -> list[promote.Operand]:
    own = promote.operand(value.type)
    return [own, *map(promote.operand, found[value].kinds)] if value in found else [own]


def _loop(inst: Inst, way: tuple[promote.Operand, ...]) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    if inst.op.name == "where":
        common = promote.result_dtype(way[1:])
        return (BOOL, common, common), (common,)
    if all(isinstance(o, str) for o in way):
        # Python numbers alone are NumPy's default dtypes.
        way = tuple(promote.result_dtype((o,)) for o in way)
    return promote.ufunc_loop(inst.op.numpy, way)


def _compares(inst: Inst, found: Mapping[Value, Maybe], inputs: Sequence[DType]) -> bool:
    """Whether the dtypes hold what is compared, so that they do not change the answer."""
    for value, dtype in zip(inst.args, inputs, strict=True):
        if value in found:
            known = found[value].known
            if known is None or not holds(dtype, known) or not holds(element(value.type), known):
                return False
        elif isinstance(value.type, WeakType) or (element(value.type) in (I64, U64) and dtype.kind == "f"):
            return False
    return True


def _converts(one: Maybe, carrier: DType, dtype: DType) -> bool:
    """Whether a dtype's number is the same, made of the Python number or of the NumPy scalar that stands for it."""
    if dtype is carrier:
        return True
    if one.known is not None:
        return holds(carrier, one.known) and (dtype.kind in "bfc" or holds(dtype, one.known) or _whole_part(dtype, one.known))
    return all(_converts_kind(kind, carrier, dtype) for kind in one.kinds)


def _converts_kind(kind: WeakType, carrier: DType, dtype: DType) -> bool:
    if kind == WEAK_BOOL:
        return True
    if kind == WEAK_INT:
        return carrier in (I64, F64) and dtype in (F64, C128)
    return carrier in (F64, C128) and dtype.kind in ("c" if kind == WEAK_COMPLEX else "fc")


def _whole_part(dtype: DType, number: Any) -> bool:
    """Whether a dtype of integers holds what is left of a float without its fraction."""
    return isinstance(number, float) and math.isfinite(number) and holds(dtype, int(number))


def holds(dtype: DType, number: Any) -> bool:
    """Whether a number is one of a dtype."""
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        return number == number and abs(number) != math.inf and int(number) == number and info.min <= number <= info.max
    if dtype is BOOL:
        return number in (0, 1)
    try:
        with np.errstate(all="ignore"):
            made = dtype.numpy.type(number)
    except OverflowError:
        return False
    return bool(made.item() == number) or number != number


# Python's operators.


def _operator(
    inst: Inst, found: Mapping[Value, Maybe], own: Sequence[Maybe], fits: set[Inst] | None
) -> Maybe | None:
    """What an operator makes of Python numbers alone."""
    dtypes = {element(a.type) for a in inst.args if a in found}
    if len(dtypes) > 1:
        return None
    (carrier,) = dtypes
    origins = frozenset[Value]().union(*(one.origins for one in own))
    numbers = [found[a].known if a in found else _constant(a) for a in inst.args]
    if inst.op.name == "divide" and inst.args[1] in found and not numbers[1]:
        # Where it is Python's it may be 0, and where it is NumPy's another number.
        numbers[1] = None
    if None not in numbers:
        return _of_known(inst, found, numbers, origins)
    kinds = [found[a].kinds if a in found else frozenset([a.type]) for a in inst.args]
    wide = {k for way in itertools.product(*kinds) if isinstance(k := max(way, key=_rank), WeakType)}
    fixed = [n for n, a in zip(numbers, inst.args, strict=True) if a not in found and n is not None]
    inside = all(holds(carrier, n) for n in fixed)
    if inst.op.overflow == "answer":
        same = carrier is F64 or (carrier is I64 and wide <= {WEAK_INT, WEAK_BOOL}) or (carrier is BOOL and wide == {WEAK_BOOL})
        return Maybe(frozenset([WEAK_BOOL]), None, origins) if same and inside else None
    if carrier is BOOL and inst.op.name in _OF_BOOLS and wide == {WEAK_BOOL}:
        return Maybe(frozenset([WEAK_BOOL]), None, origins)
    if carrier is not F64 or not inside or wide & {WEAK_BOOL, WEAK_COMPLEX}:
        return None
    if inst.op.name == "divide":
        if numbers[1] is None and fits is not None:
            fits.add(inst)
        elif not numbers[1]:
            return None
        return Maybe(frozenset([WEAK_FLOAT]), None, origins)
    if inst.op.name == "power" and wide == {WEAK_FLOAT} and fits is not None:
        fits.add(inst)
        return Maybe(frozenset([WEAK_FLOAT]), None, origins)
    # Python's ints have no -0, and float64 does not hold all products.
    exact = inst.op.name in _EXACT and (WEAK_INT not in wide or inst.op.name not in ("negative", "multiply"))
    return Maybe(frozenset(wide), None, origins) if exact else None


_OF_INTS = ("add", "subtract", "multiply", "negative", "absolute", "remainder", "floor_divide", "divide")


def _of_ints(
    inst: Inst, found: Mapping[Value, Maybe], own: Sequence[Maybe], fits: set[Inst] | None
) -> Maybe | None:
    """What an operator makes of Python's ints alone, which int64 computes alike as long as it holds them.

    Where nobody compares that, only what it holds in any case: a product with 0 or 1, and a sum with a small constant, as those
    of counters.
    """
    args = inst.args
    if inst.op.name not in _OF_INTS or any(one.operand for one in own):
        return None
    if any(a not in found and a.type != WEAK_INT for a in args):
        return None
    kinds = {k for a in args for k in (found[a].kinds if a in found else (a.type,))}
    if kinds != {WEAK_INT} or any(element(a.type) is not I64 for a in args if a in found):
        return None
    numbers = [found[a].known if a in found else _constant(a) for a in args]
    if inst.op.name == "multiply":
        small = any(n in (0, 1) for n in numbers if n is not None)
    else:
        small = inst.op.name in ("add", "subtract") and any(abs(n) < 2**31 for n in numbers if n is not None)
    if not small:
        if fits is None:
            return None
        fits.add(inst)
    kind = WEAK_FLOAT if inst.op.name == "divide" else WEAK_INT
    return Maybe(frozenset([kind]), None, frozenset[Value]().union(*(one.origins for one in own)))


def _rank(kind: Any) -> int:
    return WEAK_ORDER.index(kind.kind)


def _of_known(
    inst: Inst, found: Mapping[Value, Maybe], numbers: Sequence[Any], origins: frozenset[Value]
) -> Maybe | None:
    """What Python computes of numbers known now, where the dtype computes the same; else None."""
    python = inst.op.python
    assert python is not None
    scalars = [element(a.type).numpy.type(n) if a in found else n for a, n in zip(inst.args, numbers, strict=True)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made, theirs = python(*numbers), python(*scalars)
        except (ArithmeticError, TypeError, ValueError):
            return None
    kind = weak_type_of(made)
    dtype = element(inst.types[0])
    if kind is None or isinstance(made, complex) or not isinstance(theirs, np.generic) or theirs.dtype != dtype.numpy:
        return None
    if not promote.adapts(kind, dtype) or not _same(made, theirs.item()):
        return None
    return Maybe(frozenset([kind]), made, origins)


def _same(one: Any, other: Any) -> bool:
    """Whether numbers are equal, zeros with their signs; of complex numbers both parts."""
    if isinstance(other, complex):
        return _same(complex(one).real, other.real) and _same(complex(one).imag, other.imag)
    if one != one or other != other:
        return one != one and other != other
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def _constant(value: Value) -> Any:
    inst = const_inst(value)
    return None if inst is None else inst.attr("value")


# Which of them it is in a run.

INT, PYTHONS, NUMPYS = 0, 1, 2
"""How high numbers rank: Python's ints, its other numbers, NumPy's.  What an operator makes ranks as its highest operand."""


def rank_of(builder: Builder, value: Value, found: Mapping[Value, Maybe], ranks: Mapping[Value, Value]) -> Value | None:
    """How high a value ranks in a run, as a uint8, or None where that is not followed.

    Parameters
    ----------
    builder : Builder
        Writes behind the instructions.
    found : mapping
        The values that may be Python numbers.
    ranks : mapping
        By parameter of a step: its rank when the step begins.
    """
    if value in ranks:
        return ranks[value]
    if isinstance(value.type, WeakType):
        return ranked(builder, INT if value.type == WEAK_INT else PYTHONS)
    if value not in found:
        return ranked(builder, NUMPYS)
    inst = value.inst
    if inst is None:
        return None
    if inst.op.name == "from_python":
        return rank_of_python(builder, inst)
    if inst.op.name == "where":
        sides = [rank_of(builder, a, found, ranks) for a in inst.args[1:]]
        return None if None in sides else builder.emit("where", (inst.args[0], *(s for s in sides if s is not None)))
    if inst.op.kind == "elementwise":
        return _rank_of_result(builder, inst, found, ranks)
    if (marked := dict(inst.attr("marks", ()))).get(value.index) is not None:
        return inst.results[marked[value.index]]
    return _rank_of_branch(builder, value, found, ranks) if inst.op.name == "if_else" else None


def ranked(builder: Builder, rank: int) -> Value:
    """A rank as a value."""
    return builder.const(rank, scalar(U8))


def is_numpys(builder: Builder, rank: Value) -> Value:
    """Whether a number of this rank is NumPy's."""
    return builder.emit("equal", (rank, ranked(builder, NUMPYS)))


def is_int(builder: Builder, rank: Value) -> Value:
    """Whether a number of this rank is Python's int."""
    return builder.emit("equal", (rank, ranked(builder, INT)))


def rank_of_python(builder: Builder, inst: Inst) -> Value | None:
    """How high a number ranks that is Python's, or may be, as marks say: one that is no float may be an int."""
    own = ranked(builder, INT if inst.attr("of") == "int" else PYTHONS)
    if len(inst.args) == 1:
        return None if inst.attr("perhaps") else own
    inner = inst.args[0].inst
    if inner is not None and inner.op.name == "from_python" and inner.attr("of") == "int" and len(inner.args) == 2:
        own = builder.emit("where", (inner.args[1], own, ranked(builder, INT)))
    return builder.emit("where", (inst.args[1], ranked(builder, NUMPYS), own))


def _rank_of_result(
    builder: Builder, inst: Inst, found: Mapping[Value, Maybe], ranks: Mapping[Value, Value]
) -> Value | None:
    """How high what an operator makes of Python's numbers ranks."""
    asked = [a for a in (inst.args[:1] if inst.op.name == "require" else inst.args) if a in found]
    known = [rank_of(builder, a, found, ranks) for a in asked]
    kinds = found[inst.result].kinds
    rank = None if WEAK_INT in kinds else ranked(builder, PYTHONS)
    for one in known:
        if one is None:
            return None
        rank = one if rank is None else builder.emit("maximum", (rank, one))
    if rank is not None and kinds == {WEAK_INT} and any(found[a].kinds != kinds for a in asked):
        # Of bools an operator makes ints.
        rank = builder.emit("where", (is_numpys(builder, rank), rank, ranked(builder, INT)))
    return rank


def _rank_of_branch(
    builder: Builder, value: Value, found: Mapping[Value, Maybe], ranks: Mapping[Value, Value]
) -> Value | None:
    inst = value.inst
    assert inst is not None
    outer = [a for a in given(inst) if a in found]
    # A side need not ask for those of which nobody knows the rank.
    above = {a: rank for a in outer if (rank := rank_of(builder, a, found, ranks)) is not None}
    blocks: list[Block] = []
    for region in inst.regions:
        # Written again, for what the branches inside ask; what nobody reads is dropped, and nothing is compared twice.
        made = made_again(region, {})
        params = {a: Value(scalar(U8)) for a in above}
        inner = Builder(region.terminator.loc)
        inner.insts.extend(made.insts[:-1])
        inside = [p for p, a in zip(made.params, given(inst), strict=True) if a in found]
        entering = {p: found[a] for p, a in zip(inside, outer, strict=True)}
        result = made.terminator.args[value.index]
        entered = {p: params[a] for p, a in zip(inside, outer, strict=True) if a in params}
        rank = rank_of(inner, result, _follow(entering, inner.insts, {}, fits=set()), entered)
        if rank is None:
            return None
        inner.insts[:] = _needed_for(rank, inner.insts)
        inner.inst("yield", (rank,))
        blocks.append(Block((*made.params, *params.values()), inner.take()))
    args = (*inst.args[: HEADS["if_else"]], *given(inst), *above.values())
    return builder.inst("if_else", args, {}, (scalar(U8),), blocks).result


def _needed_for(value: Value, insts: Sequence[Inst]) -> list[Inst]:
    """The instructions of a region that a value is made of, and those that give the numbers of these names."""
    used, names, found = {value}, set[str](), list[Inst]()
    for inst in reversed(insts):
        binds = not names.isdisjoint(names_given(inst))
        if binds or not used.isdisjoint(inst.results):
            used.update(inst.args)
            inner = (inst, *(i for region in inst.regions for i in walk(region)))
            names |= {name for i in inner for _, attr in i.attrs for name in named(attr)}
            found.append(inst)
    return found[::-1]


__all__ = [
    "INT", "NUMPYS", "PYTHONS", "Maybe", "either", "follow", "has_steps", "holds", "is_int", "is_numpys", "makes_numbers",
    "maybe_of", "rank_of", "rank_of_python", "ranked",
]  # fmt: skip

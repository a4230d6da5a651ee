"""Python ints of run time as positions: polynomials over numbers that are not negative.

The number of a step of a loop is such a number, known by name inside of the loop's body; so ``a[:, j]`` is a view
like any other.  Every other int is the difference of two, what it has above 0 and what it has below (``bind``).
What is known of them where the program stands (a step of ``range(n)`` is below n, a branch was taken because
``i > 0``) is a list of polynomials that are not negative; with it most comparisons are made while compiling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, as_dim, dim_value
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import Dim, DimLike, as_symbol, dim_max, dim_min, is_number, lower_bound, substitute, symbol, symbols
from pytocu.ir.types import WEAK_BOOL, WEAK_INT

Known = Callable[[DimLike], bool]
"""Whether a polynomial is known not to be negative."""

Facts = tuple[DimLike, ...]
"""Polynomials that are not negative."""

ARITHMETIC: dict[str, Callable[..., DimLike]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: 0 - a,
    "positive": lambda a: a,
}


def new_name(context: Context, hint: str) -> str:
    """A name for a number that no other number and no length has."""
    return context.name(hint, "_")


def number_as_dim(context: Context, value: Any) -> DimLike | None:
    """The polynomial that a Python int stands for, known now or at run time; None for anything else."""
    dim = as_dim(value)
    if dim is not None or not isinstance(value, Value) or value.type != WEAK_INT:
        return dim
    inst = value.inst
    if inst is not None and inst.op.name == "const":
        return inst.attr("value")
    if inst is not None and inst.op.name in ARITHMETIC:
        parts = [number_as_dim(context, a) for a in inst.args]
        if None not in parts:
            return ARITHMETIC[inst.op.name](*parts)
    return bound(context, value)


def _told(context: Context, value: Value) -> DimLike | None:
    """The polynomial that a number in a condition stands for; names that it has only here are not yet bound."""
    dim = as_dim(value)
    inst = value.inst
    if dim is not None or value.type != WEAK_INT or context.elements is not None:
        return dim
    if inst is not None and inst.op.name == "const":
        return inst.attr("value")
    if inst is not None and inst.op.name in ARITHMETIC:
        parts = [_told(context, a) for a in inst.args]
        return None if None in parts else ARITHMETIC[inst.op.name](*parts)
    if value not in context.bound and not (value.name and is_position(context, value)):
        return None
    above, below = map(symbol, _names(context, value))
    return above - below


def is_position(context: Context, value: Any) -> bool:
    """Whether an int is known to the host, which compares it with lengths."""
    if as_dim(value) is not None:
        return True
    if not isinstance(value, Value) or value.type != WEAK_INT:
        return False
    if context.changing:
        # A loop that changes memory is no element operation, so the host can look at any int in it.
        return True
    inst = value.inst
    if inst is None:
        return value in context.given
    # What Python computes of such ints the host computes too.
    return inst.op.kind != "region" and all(is_position(context, a) for a in inst.args)


def bound(context: Context, value: Value) -> DimLike:
    """An int as the difference of two numbers with names."""
    names = _names(context, value)
    _bind_once(context, value, {"names": names})
    return symbol(names[0]) - symbol(names[1])


def _bind_once(context: Context, value: Value, attrs: dict[str, Any]) -> None:
    """Give a number names, which it may have where the program stands: the same formula has the same ones."""
    names = attrs["names"]
    if not any(inst.op.name == "bind" and inst.attr("names") == names for inst in context.builder.insts):
        context.builder.inst("bind", (value,), attrs)


def _names(context: Context, value: Value) -> tuple[str, str]:
    """What an int has above 0, and what it has below."""
    if value not in context.bound:
        hint = value.name if value.name.isidentifier() else "number"
        context.bound[value] = new_name(context, f"{hint}_above"), new_name(context, f"{hint}_below")
    return context.bound[value]


def slice_bound(context: Context, value: Any, length: DimLike) -> DimLike | None:
    """A bound of a slice with a positive step as a polynomial: of an int that is none, the position that it means."""
    if as_dim(value) is not None or not isinstance(value, Value) or value.type != WEAK_INT:
        return as_dim(value)
    return _on_axis(context, value, formula(value), length, f"{value.name if value.name.isidentifier() else 'number'}_at")


def on_axis(context: Context, dim: DimLike, length: DimLike, hint: str) -> DimLike:
    """A position on an axis, or how many there are, as a number with a name: a formula with all cases is a long one.

    What differs from step to step of a loop stays a formula, which native loops compute.
    """
    if not isinstance(dim, Dim) or as_symbol(dim) is not None or not context.steps.isdisjoint(symbols(dim)):
        return dim
    return _on_axis(context, dim_value(context, dim), dim, length, hint)


def _on_axis(context: Context, value: Value, key: Any, length: DimLike, hint: str) -> DimLike:
    if (key, length) not in context.clamped:
        context.clamped[key, length] = new_name(context, hint)
    name = context.clamped[key, length]
    _bind_once(context, value, {"names": (name,), "length": length})
    context.step_facts = (*context.step_facts, length - symbol(name))
    return symbol(name)


def made_of(context: Context, names: Set[str]) -> set[str]:
    """The names of numbers, and of those that the named formulas among them are made of."""
    found, left = set(names), list(names)
    formulas = {name: key for (key, _), name in context.clamped.items() if isinstance(key, Dim)}
    while left:
        more = set(symbols(formulas.get(left.pop(), 0))) - found
        found |= more
        left.extend(more)
    return found


def formula(value: Value) -> Any:
    """What an int is computed of: the same for ``n - 1`` wherever it stands."""
    inst = value.inst
    if inst is not None and inst.op.name == "const":
        return inst.attr("value")
    if inst is not None and inst.op.name in ARITHMETIC and value.type == WEAK_INT:
        return (inst.op.name, *map(formula, inst.args))
    return value


_OUTSIDE = frozenset(
    {
        *ARITHMETIC, "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
        "python_int", "python_not", "python_choose",
    }
)  # fmt: skip
"""What Python computes of ints and truth values without exceptions."""


def outside_of(context: Context, value: Value, own: Set[Value], names: Set[str] = frozenset()) -> Value | None:
    """A number that is computed in a region, computed before it; None where it is made of something of the region's own.

    That are values and `names`.
    """
    inst = value.inst
    if value not in own or inst is None:
        return None if value in own else value
    if inst.op.name == "const":
        return context.builder.const(inst.attr("value"), value.type)
    if inst.op.name == "dim" and names.isdisjoint(symbols(inst.attr("value"))):
        return context.builder.emit("dim", (), dict(inst.attrs), inst.types, name=value.name)
    divided = inst.op.name in ("remainder", "floor_divide") and formula(inst.args[1]) not in (0, inst.args[1])
    known = inst.op.name in _OUTSIDE or divided
    args = [outside_of(context, a, own, names) for a in inst.args] if known else [None]
    if None in args or value.type not in (WEAK_INT, WEAK_BOOL):
        return None
    emit, given = context.builder.emit, [a for a in args if a is not None]
    if divided and not isinstance(formula(given[1]), int):
        # A division by 0 is an exception in the region, which the program may not come to.
        zero, one = (context.builder.const(number, WEAK_INT) for number in (0, 1))
        given[1] = emit("python_choose", (emit("equal", (given[1], zero)), one, given[1]))
    return emit(inst.op, given, dict(inst.attrs), inst.types, name=value.name)


def length_of(context: Context, value: Value, error: str, sentence: str, elements: DimLike = 1) -> DimLike:
    """The length that a Python int of run time is; `sentence` is what is said of one below 0, which ``{0}`` stands for.

    Where there are no `elements` an int below 0 is a length of 0.

    An int of its own is a number with a name, and so are products of several; sums keep to the names of what they are made
    of, so that positions made of the same ints are known to lie inside.
    """
    dim = number_as_dim(context, value)
    assert dim is not None
    if not isinstance(dim, Dim) or not any(map(is_number, symbols(dim))):
        return length_from(context, dim, error, sentence, elements)
    if len(dim.terms) > _SHORT:
        dim = bound(context, value)
    names = context.bound.get(value)
    if names is not None:
        above, below = map(symbol, names)
        if known_here(context)(above - below):
            return above
        require_equal(context, below * dim_min(elements, 1), 0, error, sentence.replace("{0}", "-{0}"))
        return above
    return context.length(length_from(context, dim, error, sentence, elements))


def length_from(context: Context, dim: DimLike, error: str, sentence: str, elements: DimLike = 1) -> DimLike:
    """A length that is computed of lengths (``len(x) - 1``), of which the run sees to it that it is not below 0."""
    if isinstance(dim, int) or known_here(context)(dim):
        return dim
    require_equal(context, dim_min(dim, 0) * dim_min(elements, 1), 0, error, sentence)
    return dim if (lower_bound(elements) or 0) > 0 else dim_max(dim, 0)


_SHORT = 4
"""Terms of a polynomial that is a length."""


def bound_count(context: Context, value: Value, name: str) -> Dim:
    """An int that is not negative, by name."""
    context.builder.inst("bind", (value,), {"names": (name,)})
    return symbol(name)


def names_given(inst: Inst) -> tuple[str, ...]:
    """The names that an instruction gives to numbers of run time."""
    if inst.op.name == "bind":
        return inst.attr("names")
    return (inst.attr("name"),) if inst.op.name == "read_length" else ()


# What is known.


@contextmanager
def knowing(context: Context, facts: Sequence[DimLike], steps: bool = False) -> Iterator[None]:
    """Read a piece of the program in which these are not negative: a side of a branch, or the `steps` of a loop."""
    saved = context.facts, context.step_facts, context.in_steps, context.in_side
    if steps:
        context.step_facts = (*context.step_facts, *facts)
        context.in_steps = True
    else:
        context.facts = (*context.facts, *facts)
        context.in_side = context.in_steps
    try:
        yield
    finally:
        context.facts, context.step_facts, context.in_steps, context.in_side = saved


def note(context: Context, facts: Facts) -> None:
    """State what the program compares where it stands: it is known from there on."""
    builder = context.builder
    builder.compared = strongest((*builder.compared, *facts))


def strongest(facts: Facts) -> Facts:
    """Facts without those that others imply which differ by a number alone: an index with each of many numbers added.

    Examples
    --------
    >>> n, t = symbol("n"), symbol("t")
    >>> [str(fact) for fact in strongest((n - t - 1, t, n - t - 3, t + 2, n - t - 2))]
    ['n - t - 3', 't']
    """
    least: dict[Any, DimLike] = {}
    for fact in facts:
        terms = tuple([term for term in fact.terms if term[0]]) if isinstance(fact, Dim) else ()
        other = least.setdefault(terms, fact)
        if other is not fact and _number_of(fact) < _number_of(other):
            least[terms] = fact
    return tuple(least.values())


def _number_of(dim: DimLike) -> int:
    """What is added to a polynomial."""
    return sum(factor for monomial, factor in dim.terms if not monomial) if isinstance(dim, Dim) else dim


def known_here(context: Context, branches: bool = True) -> Known:
    """What is known where the program stands, by the branches taken and what was compared as well, of numbers of run time.

    Of lengths alone nothing is taken for known: what is read at a position that depends on them only may be read before
    the loop or the branch around it.
    """
    facts = (*context.step_facts, *context.facts, *context.builder.compared) if branches else context.step_facts
    return lambda dim: not_negative(dim, facts if any(map(is_number, symbols(dim))) else ())


def not_negative(dim: DimLike, facts: Facts = ()) -> bool:
    """Whether a polynomial is not negative where these are not.

    Examples
    --------
    >>> n, t = symbol("n"), symbol("t")
    >>> not_negative(n - t - 1), not_negative(n - t - 1, (n - 1 - t,)), not_negative(n - t - 2, (n - 1 - t,))
    (False, True, False)
    >>> not_negative(n - t - 2, (n - 1 - t, n - (t + 1) - 1))
    True
    """
    low = lower_bound(dim)
    if low is not None and low >= 0:
        return True
    if not facts:
        return False
    solved, alone = _solved_in_turn(facts)
    if not alone.isdisjoint(symbols(dim)):
        solved, _ = _solved_in_turn(facts, frozenset(symbols(dim)))
    last = -1
    while True:
        # What a symbol is has those in it that later facts are solved for.
        name = min((n for n in symbols(dim) if n in solved and solved[n][0] > last), key=lambda n: solved[n][0], default=None)
        if name is None:
            return False
        last, value = solved[name]
        dim = substitute(dim, {name: value})
        low = lower_bound(dim)
        if low is not None and low >= 0:
            return True


@lru_cache(maxsize=256)
def _solved_in_turn(
    facts: Facts, names: frozenset[str] = frozenset()
) -> tuple[dict[str, tuple[int, DimLike]], frozenset[str]]:
    """By symbol the number of the fact that is solved for it, and its value, each fact with what those before it say.

    They say something of a polynomial of symbols with these `names`, and as much of all others that have none of the names
    that are the second result.
    """
    left, alone = _telling(names, facts)
    holding: dict[str, dict[int, None]] = {}
    for number, fact in enumerate(left):
        for name in symbols(fact):
            holding.setdefault(name, {})[number] = None
    found: dict[str, tuple[int, DimLike]] = {}
    for number, fact in enumerate(left):
        if (low := lower_bound(fact)) is not None and low >= 0:
            # It says nothing beside those before it.
            continue
        # fact = rest, a number that is not negative, says what one of its symbols is.
        solved = _solved(fact, symbol(f"rest {len(left) - number - 1}"))
        if solved is None:
            continue
        name, value = solved
        found[name] = number, value
        for other in holding.pop(name):
            if other > number:
                left[other] = substitute(left[other], {name: value})
                for one in symbols(value):
                    holding.setdefault(one, {})[other] = None
    return found, alone


def _telling(names: Set[str], facts: Facts) -> tuple[list[DimLike], frozenset[str]]:
    """The facts that may say something of a polynomial of symbols with these names, and the other names that stand alone.

    A number that is subtracted in one fact and stands nowhere else may be 0, so the fact says what it says without it.
    """
    left = list(strongest(facts))
    alone: set[str] = set()
    while True:
        seen = Counter(name for d in left for name in symbols(d))
        once = {name for name, count in seen.items() if count == 1} - names
        alone |= once
        shorter = [_without(fact, once.intersection(symbols(fact))) for fact in left] if once else left
        if shorter == left:
            return left, frozenset(alone)
        left = [fact for fact in shorter if (low := lower_bound(fact)) is None or low < 0]


def _without(fact: DimLike, names: set[str]) -> DimLike:
    """A fact without what is subtracted and depends on names that stand there alone."""
    for monomial, coefficient in fact.terms if names and isinstance(fact, Dim) else ():
        if coefficient < 0 and len(monomial) == 1 and not monomial[0].args and monomial[0].name in names:
            others = fact + symbol(monomial[0].name) * -coefficient
            if monomial[0].name not in symbols(others):
                fact = others
    return fact


def _solved(fact: DimLike, rest: Dim) -> tuple[str, DimLike] | None:
    """The symbol that a fact is solved for, and its value."""
    if not isinstance(fact, Dim):
        return None
    for monomial, coefficient in fact.terms:
        if coefficient != 1 or len(monomial) != 1 or monomial[0].args:
            continue
        name = monomial[0].name
        others = fact - symbol(name)
        if name not in symbols(others):
            return name, rest - others
    return None


def facts_of(context: Context, test: Value) -> tuple[Facts, Facts]:
    """What is known where a condition holds, and where it does not."""
    if test in context.implied:
        return context.implied[test]
    inst = test.inst
    if inst is None:
        return (), ()
    if inst.op.name == "python_not":
        yes, no = facts_of(context, inst.args[0])
        return no, yes
    if inst.op.name == "python_choose":
        # ``first and second`` is the first where that is false, ``first or second`` where it is true.
        first, *sides = inst.args
        if first in sides:
            (yes, no), (other_yes, other_no) = facts_of(context, first), facts_of(context, sides[first is sides[0]])
            return ((*yes, *other_yes), ()) if first is sides[1] else ((), (*no, *other_no))
    if len(inst.args) != 2:
        return (), ()
    a, b = (_told(context, v) for v in inst.args)
    if a is None or b is None:
        return (), ()
    known = known_here(context)
    match inst.op.name:
        case "less":
            return (b - a - 1,), (a - b,)
        case "less_equal":
            return (b - a,), (a - b - 1,)
        case "greater":
            return (a - b - 1,), (b - a,)
        case "greater_equal":
            return (a - b,), (b - a - 1,)
        case "equal":
            return (a - b, b - a), _apart(a, b, known)
        case "not_equal":
            return _apart(a, b, known), (a - b, b - a)
    return (), ()


def _apart(a: DimLike, b: DimLike, known: Known) -> Facts:
    """What is known of two numbers that differ."""
    return (a - b - 1,) if known(a - b) else (b - a - 1,) if known(b - a) else ()


def least(a: DimLike, b: DimLike, known: Known) -> DimLike:
    """``min(a, b)``."""
    return a if known(b - a) else b if known(a - b) else dim_min(a, b)


def most(a: DimLike, b: DimLike, known: Known) -> DimLike:
    """``max(a, b)``."""
    return a if known(a - b) else b if known(b - a) else dim_max(a, b)

"""Dimensions: integers and integer expressions over named lengths.

A dimension is a plain ``int`` or a :class:`Dim`, a polynomial with integer coefficients
over atoms.  An atom is a named length (a non-negative symbol such as ``n``) or one of
``min(a, b)``, ``max(a, b)``, ``a // b``, ``a % b`` over dimensions.  Equal polynomials are
equal objects by value, so ``n*m == m*n`` holds; two dimensions that compare different may
still be equal at run time.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from pytocu.errors import CompileError, usual_help
from pytocu.record import Record

DimLike: TypeAlias = "int | Dim"
Shape: TypeAlias = "tuple[DimLike, ...]"


class Atom(Record):
    """A named length (``args`` empty) or a function of dimensions (``min max // %``)."""

    name: str
    args: tuple[DimLike, ...] = ()

    def __str__(self) -> str:
        if not self.args:
            return self.name
        if self.name in ("min", "max"):
            return f"{self.name}({', '.join(map(str, self.args))})"
        return f" {self.name} ".join(_factor(a) for a in self.args)


def _factor(dim: DimLike) -> str:
    text = str(dim)
    simple = text.isidentifier() or text.isdigit() or text.replace(".", "_").isidentifier()
    return text if simple else f"({text})"


Monomial: TypeAlias = tuple[Atom, ...]


class Dim:
    """A non-constant dimension; build with :func:`symbol` and arithmetic.

    Examples
    --------
    >>> n = symbol("n")
    >>> str(dim_max(n - 2, 0)), evaluate(dim_max(n - 2, 0), {"n": 7})
    ('max(n - 2, 0)', 5)
    """

    __slots__ = ("_hash", "_low", "_names", "_text", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]):
        self.terms = terms
        self._hash = hash(terms)
        # Found out once: a length may be made of others many times over, each of which would be gone through again.
        self._text = ""
        self._low: int | bool | None = False
        self._names: tuple[str, ...] | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Dim) and self._hash == other._hash and self.terms == other.terms

    def __lt__(self, other: DimLike) -> bool:
        # Only to sort monomials stably; not a comparison of values.
        return str(self) < str(other)

    def __add__(self, other: DimLike) -> DimLike:
        return _added(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: DimLike) -> DimLike:
        return _added(self, other, -1)

    def __rsub__(self, other: DimLike) -> DimLike:
        return _added(other, self, -1)

    def __neg__(self) -> DimLike:
        return 0 - self

    def __mul__(self, other: DimLike) -> DimLike:
        return _multiplied(self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: DimLike) -> DimLike:
        return floordiv(self, other)

    def __mod__(self, other: DimLike) -> DimLike:
        return modulo(self, other)

    def __str__(self) -> str:
        text = self._text
        if text:
            return text
        for monomial, coefficient in self.terms:
            factors = "*".join(f"({a})" if a.name in ("//", "%") else str(a) for a in monomial)
            size = abs(coefficient)
            part = factors if factors and size == 1 else f"{size}*{factors}" if factors else str(size)
            if not text:
                text = part if coefficient > 0 else f"-{part}"
            else:
                text += f" + {part}" if coefficient > 0 else f" - {part}"
        self._text = text
        return text

    __repr__ = __str__


def _terms(dim: DimLike) -> dict[Monomial, int]:
    return dict(dim.terms) if isinstance(dim, Dim) else ({(): dim} if dim else {})


# Passes ask for the same few sums and products again and again.


@lru_cache(maxsize=8192)
def _added(a: DimLike, b: DimLike, sign: int) -> DimLike:
    out = _terms(a)
    for monomial, coefficient in _terms(b).items():
        out[monomial] = out.get(monomial, 0) + sign * coefficient
    return _joined(out)


def _joined(terms: dict[Monomial, int]) -> DimLike:
    """The sum of terms; ``max(a - b, 0) + min(a, b)`` is a, as what a slice takes off and the rest of an axis are the axis."""
    extremes = [m for m, c in terms.items() if c and len(m) == 1 and m[0].name in ("max", "min")]
    for rest, piece in itertools.permutations(extremes, 2):
        (left, zero), (a, b) = rest[0].args, piece[0].args
        if rest[0].name != "max" or piece[0].name != "min" or zero != 0 or terms[rest] != terms[piece]:
            continue
        for whole, other in ((a, b), (b, a)):
            if whole - other == left:
                others = _joined({m: c for m, c in terms.items() if m not in (rest, piece)})
                return others + whole * terms[rest]
    return _make(terms)


@lru_cache(maxsize=8192)
def _multiplied(a: DimLike, b: DimLike) -> DimLike:
    out: dict[Monomial, int] = {}
    for left, x in _terms(a).items():
        for right, y in _terms(b).items():
            key = tuple(sorted(left + right, key=str))
            out[key] = out.get(key, 0) + x * y
    return _make(out)


def _make(terms: dict[Monomial, int]) -> DimLike:
    kept = {m: c for m, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    # Higher products first, constants last: `n*m + n - 2`.
    order = sorted(kept, key=lambda m: (-len(m), tuple(map(str, m))))
    return Dim(tuple((m, kept[m]) for m in order))


def symbol(name: str) -> Dim:
    """A named length, known to be at least 0."""
    return Dim((((Atom(name),), 1),))


def _call(name: str, a: DimLike, b: DimLike) -> Dim:
    return Dim((((Atom(name, (a, b)),), 1),))


def lower_bound(dim: DimLike) -> int | None:
    """A number the dimension is never below, or None.  Every symbol is at least 0."""
    if not isinstance(dim, Dim):
        return dim
    if dim._low is False:
        dim._low = _lower_bound(dim)
    return dim._low


def _lower_bound(dim: Dim) -> int | None:
    total = 0
    for monomial, coefficient in dim.terms:
        if not monomial:
            total += coefficient
            continue
        low = 1
        for atom in monomial:
            bound = _atom_lower(atom)
            if bound is None or bound < 0:
                return None
            low *= bound
        if coefficient < 0:
            return None
        total += coefficient * low
    return total


def _atom_lower(atom: Atom) -> int | None:
    if not atom.args:
        return 0
    bounds = [lower_bound(a) for a in atom.args]
    known = [b for b in bounds if b is not None]
    match atom.name:
        case "max":
            return max(known) if known else None
        case "min":
            return min(known) if len(known) == len(bounds) else None
        case _:
            return 0 if len(known) == 2 and known[0] >= 0 and known[1] >= 0 else None


def dim_max(a: DimLike, b: DimLike) -> DimLike:
    """``max(a, b)``, simplified where the difference has a known sign."""
    return _extreme("max", a, b)


def greatest(dims: Sequence[DimLike]) -> DimLike:
    """The greatest of lengths, none of which is below 0, as a tree of few levels: Python nests 200 parentheses at most.

    What is the greatest of some of them already is taken apart, and each length stands in the tree once: limits of limits
    would be twice as long from one loop to the next.

    Examples
    --------
    >>> a, b, c, d = map(symbol, "abcd")
    >>> print(greatest([a, b, c, d]), greatest([greatest([a, b, c]), greatest([a, b + 1]), 0]))
    max(max(a, b), max(c, d)) max(a, max(b + 1, c))
    """
    found: dict[DimLike, int] = {}
    left = list(reversed(dims))
    while left:
        dim = left.pop()
        if isinstance(dim, Dim) and len(dim.terms) == 1:
            ((monomial, factor),) = dim.terms
            if factor == 1 and len(monomial) == 1 and monomial[0].name == "max" and monomial[0].args:
                left.extend(reversed(monomial[0].args))
                continue
        constant = dim if isinstance(dim, int) else next((factor for monomial, factor in dim.terms if not monomial), 0)
        rest = dim - constant
        found[rest] = max(found.get(rest, constant), constant)
    if len(found) > 1 and found.get(0, 1) <= 0:
        del found[0]
    return _tree([dim_max(rest + constant, 0) for rest, constant in found.items()])


def _tree(dims: Sequence[DimLike]) -> DimLike:
    half = len(dims) // 2
    return dim_max(_tree(dims[:half]), _tree(dims[half:])) if half else dims[0]


def dim_min(a: DimLike, b: DimLike) -> DimLike:
    """``min(a, b)``, simplified where the difference has a known sign."""
    return _extreme("min", a, b)


def at_most_one(dim: DimLike) -> bool:
    """Whether a length is certain to be no more than 1.

    Examples
    --------
    >>> n = symbol("n")
    >>> at_most_one(1), at_most_one(dim_min(n, 1)), at_most_one(n - dim_max(n - 1, 0)), at_most_one(n)
    (True, True, True, False)
    """
    return dim <= 1 if isinstance(dim, int) else _at_most(dim, 1, 4)


def may_repeat(dim: DimLike) -> bool:
    """Whether a length of run time is certain to be 0 or 1, so that its element is repeated where it meets another length.

    Examples
    --------
    >>> may_repeat(dim_min(symbol("count_"), 1)), may_repeat(dim_min(symbol("n"), 1)), may_repeat(symbol("count_"))
    (True, False, False)
    """
    return isinstance(dim, Dim) and any(map(is_number, symbols(dim))) and at_most_one(dim)


def _at_most(dim: DimLike, bound: int, depth: int) -> bool:
    """Whether a dimension never exceeds a number; of a minimum or maximum in it, one case after the other is looked at."""
    low = lower_bound(bound - dim)
    if low is not None and low >= 0:
        return True
    if not isinstance(dim, Dim) or not depth:
        return False
    for monomial, coefficient in dim.terms:
        if len(monomial) == 1 and monomial[0].name in ("min", "max"):
            without = dim - _make({monomial: coefficient})
            cases = (_at_most(without + coefficient * argument, bound, depth - 1) for argument in monomial[0].args)
            # The greater of two numbers is no less than each of them: what is taken away is at least one of them.
            each = (monomial[0].name == "max") == (coefficient > 0)
            return all(cases) if each else any(cases)
    return False


def _extreme(name: str, a: DimLike, b: DimLike) -> DimLike:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if name == "max" else min(a, b)
    low = lower_bound(a - b)
    high = lower_bound(b - a)
    if low is not None and low >= 0:
        return a if name == "max" else b
    if high is not None and high >= 0:
        return b if name == "max" else a
    if isinstance(a, int):  # one spelling: the constant last
        a, b = b, a
    return _call(name, a, b)


def floordiv(a: DimLike, b: DimLike) -> DimLike:
    """``a // b`` for ``b > 0``."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 1:
        return a
    if isinstance(a, Dim) and isinstance(b, int) and all(c % b == 0 for _, c in a.terms):
        return _make({m: c // b for m, c in a.terms})
    return _call("//", a, b)


def modulo(a: DimLike, b: DimLike) -> DimLike:
    """``a % b`` for ``b > 0``."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 1:
        return 0
    return _call("%", a, b)


def product(dims: tuple[DimLike, ...] | list[DimLike]) -> DimLike:
    """The product of the dimensions; 1 for none."""
    out: DimLike = 1
    for dim in dims:
        out = out * dim
    return out


def rebuild(dim: DimLike, leaf: Callable[[str], DimLike]) -> DimLike:
    """Replace every symbol by ``leaf(name)`` and simplify again."""
    if not isinstance(dim, Dim):
        return dim
    out: DimLike = 0
    for monomial, coefficient in dim.terms:
        term: DimLike = coefficient
        for atom in monomial:
            term = term * _rebuild_atom(atom, leaf)
        out = out + term
    return out


def _rebuild_atom(atom: Atom, leaf: Callable[[str], DimLike]) -> DimLike:
    if not atom.args:
        return leaf(atom.name)
    a, b = (rebuild(x, leaf) for x in atom.args)
    return APPLY[atom.name](a, b)


APPLY: dict[str, Callable[[DimLike, DimLike], DimLike]] = {
    "min": dim_min,
    "max": dim_max,
    "//": floordiv,
    "%": modulo,
}


def evaluate(dim: DimLike, sizes: Mapping[str, int]) -> int:
    """The value of the dimension for given lengths.

    Raises
    ------
    KeyError
        A symbol has no length in `sizes`.
    """
    if not isinstance(dim, Dim):
        return dim
    total = 0
    for monomial, coefficient in dim.terms:
        for atom in monomial:
            if atom.args:
                a, b = (evaluate(x, sizes) for x in atom.args)
                match atom.name:
                    case "min":
                        value = min(a, b)
                    case "max":
                        value = max(a, b)
                    case "//":
                        value = a // b
                    case _:
                        value = a % b
            else:
                value = sizes[atom.name]
            coefficient *= value
        total += coefficient
    return total


def substitute(dim: DimLike, mapping: Mapping[str, DimLike]) -> DimLike:
    """Replace symbols by dimensions."""
    if not mapping or mapping.keys().isdisjoint(symbols(dim)):
        return dim
    return rebuild(dim, lambda name: mapping[name] if name in mapping else symbol(name))


def symbols(dim: DimLike) -> tuple[str, ...]:
    """The names in the dimension, each once, in order of appearance."""
    if not isinstance(dim, Dim):
        return ()
    if dim._names is None:
        seen: dict[str, None] = {}
        for atom in (atom for monomial, _ in dim.terms for atom in monomial):
            for arg in atom.args:
                seen.update(dict.fromkeys(symbols(arg)))
            if not atom.args:
                seen[atom.name] = None
        dim._names = tuple(seen)
    return dim._names


def is_number(name: str) -> bool:
    """Whether a name is that of an int of run time, not of a length of the call: it ends with an underscore.

    Where such a number decides what runs, a position that is made of it may lie in an array there only.
    """
    return name.endswith("_")


def as_symbol(dim: DimLike) -> str | None:
    """The symbol's name when the dimension is exactly one symbol, else None."""
    if isinstance(dim, Dim) and len(dim.terms) == 1:
        monomial, coefficient = dim.terms[0]
        if coefficient == 1 and len(monomial) == 1 and not monomial[0].args:
            return monomial[0].name
    return None


class Fact(Record):
    """What code relies on: a length is ``==``, ``!=``, ``<=`` or ``>`` a number.

    Examples
    --------
    >>> fact = Fact(symbol("n"), "<=", 1024)
    >>> str(fact), fact.holds({"n": 7})
    ('n is at most 1024', True)
    """

    dim: Dim
    relation: str
    number: int

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it is so for these lengths."""
        return _RELATIONS[self.relation](evaluate(self.dim, sizes), self.number)

    @property
    def opposite(self) -> Fact:
        """What is so where this is not."""
        return Fact(self.dim, _OPPOSITES[self.relation], self.number)

    def __str__(self) -> str:
        words = {"==": "is", "!=": "is not", "<=": "is at most", ">": "is above"}
        return f"{self.dim} {words[self.relation]} {self.number}"


_RELATIONS = {"==": operator.eq, "!=": operator.ne, "<=": operator.le, ">": operator.gt}
_OPPOSITES = {"==": "!=", "!=": "==", "<=": ">", ">": "<="}


def fact_of(dim: DimLike, relation: str, number: int) -> Fact | bool:
    """The fact, or whether it is so where the length is a number.

    Examples
    --------
    >>> str(fact_of(symbol("a") - symbol("b"), "==", 0)), fact_of(3, ">", 4)
    ('a - b is 0', False)
    """
    return Fact(dim, relation, number) if isinstance(dim, Dim) else _RELATIONS[relation](dim, number)


Steps: TypeAlias = "Sequence[tuple[str, DimLike, bool]]"
"""Loops, the outermost first: the name of a step's number, how many steps there are, and whether the last comes first."""


def ends_of(dim: DimLike, steps: Steps) -> list[DimLike] | None:
    """Dimensions between which the dimension lies in every step of loops; None where it may not.

    These are what it is in the first and the last step of each loop.  A quotient, a remainder or an extreme of numbers of steps
    lies between two of its own, whichever the others are, so it may come to none of the dimensions that are given then.

    Examples
    --------
    >>> n, t = symbol("n"), symbol("t")
    >>> ends_of(n - t, [("t", n, False)]), ends_of(t * t, [("t", n, False)])
    ([n, 1], None)
    >>> ends_of(modulo(t + 1, 10), [("t", n, False)])
    [0, 9]

    A step in which a loop inside has none is not looked at:

    >>> ends_of(t, [("t", n, False), ("u", n - t - 1, False)])
    [0, n - 2]
    """
    found = [dim]
    for place, (name, count, _) in reversed([*enumerate(steps)]):
        first, last = _first_and_last(name, count, [inner for _, inner, _ in steps[place + 1 :]])
        made = [_ends(d, name, first, last) for d in found]
        if None in made:
            return None
        found = list(dict.fromkeys(end for ends in made for end in ends or ()))
    return found


_MANY_ENDS = 64
"""Above so many a dimension is looked at step by step."""


def _first_and_last(name: str, count: DimLike, inside: Sequence[DimLike]) -> tuple[DimLike, DimLike]:
    """The numbers between which those steps of a loop are in which loops of so many steps inside have any."""
    first, last = 0, count - 1
    for inner in inside:
        if isinstance(inner, Dim) and inner.terms and (atom := only_atom(inner)) is not None and atom.name == "max":
            inner = next((part for part in atom.args if part != 0), inner) if 0 in atom.args else inner
        own = symbol(name)
        for slope in (1, -1):
            rest = inner - slope * own
            if isinstance(rest, Dim) and name in symbols(rest):
                continue
            if slope == -1 and last != rest - 1:
                # So many steps less than the loop around has, or another number of them.
                behind = last - (rest - 1)
                last = last if isinstance(behind, int) and behind <= 0 else rest - 1 if isinstance(behind, int) else last
            elif slope == 1 and isinstance(rest, int):
                first = max(first, 1 - rest)
    return first, last


def only_atom(dim: Dim) -> Atom | None:
    """The atom that a dimension is, if it is one."""
    ((monomial, coefficient), *others) = dim.terms
    return monomial[0] if not others and coefficient == 1 and len(monomial) == 1 else None


def _ends(dim: DimLike, name: str, first: DimLike, last: DimLike) -> list[DimLike] | None:
    """What a dimension lies between in steps of one loop: a sum of products is least and greatest at ends of its parts."""
    if not isinstance(dim, Dim) or name not in symbols(dim):
        return [dim]
    parts: dict[Atom, list[DimLike]] = {}
    for monomial, _ in dim.terms:
        inside = [a for a in monomial if a.name == name or any(name in symbols(x) for x in a.args)]
        if len({*inside}) < len(inside):
            return None
        for atom in inside:
            if atom not in parts:
                ends = [first, last] if not atom.args else _atom_ends(atom, name, first, last)
                if ends is None:
                    return None
                parts[atom] = ends
    if math.prod(map(len, parts.values())) > _MANY_ENDS:
        return None
    return [_with_parts(dim, dict(zip(parts, ends, strict=True))) for ends in itertools.product(*parts.values())]


def _atom_ends(atom: Atom, name: str, first: DimLike, last: DimLike) -> list[DimLike] | None:
    one, other = atom.args
    if atom.name == "%":
        return None if name in symbols(other) else [0, other - 1]
    if atom.name == "//" and name in symbols(other):
        return None
    ends = _ends(one, name, first, last), _ends(other, name, first, last)
    if ends[0] is None or ends[1] is None:
        return None
    return list(dict.fromkeys(APPLY[atom.name](a, b) for a in ends[0] for b in ends[1]))


def _with_parts(dim: Dim, parts: Mapping[Atom, DimLike]) -> DimLike:
    """The dimension with other dimensions in the place of some atoms."""
    found: DimLike = 0
    for monomial, coefficient in dim.terms:
        found = found + product([coefficient, *(parts.get(a, Dim((((a,), 1),))) for a in monomial)])
    return found


def first_outside(index: DimLike, size: DimLike, steps: Steps, sizes: Mapping[str, int]) -> tuple[int, int] | None:
    """The index in the first step of loops at which it is no position of an axis, and the length of that, or None.

    Examples
    --------
    >>> first_outside(symbol("t") + 1, 3, [("t", 5, False)], {}), first_outside(symbol("t"), 3, [("t", 3, True)], {})
    ((3, 3), None)
    """
    if not steps:
        place, length = evaluate(index, sizes), evaluate(size, sizes)
        return None if -length <= place < length else (place, length)
    name, count, falling = steps[0]
    numbers = range(evaluate(count, sizes))
    if not any(name in symbols(d) for d in (index, size, *(inner for _, inner, _ in steps[1:]))):
        # All steps of the loop have the same.
        numbers = numbers[:1]
    for number in reversed(numbers) if falling else numbers:
        found = first_outside(index, size, steps[1:], {**sizes, name: number})
        if found is not None:
            return found
    return None


def format_shape(shape: tuple[DimLike, ...]) -> str:
    """A shape as NumPy writes it: ``(3,)``, ``(2,3)``, ``()``."""
    inner = ",".join(map(str, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


class Misfit(ValueError):
    """Shapes that do not go together.

    Parameters
    ----------
    pattern : str
        NumPy's sentence, with ``{}`` for each of the shapes.
    shapes : sequence of shapes
    operands : sequence of shapes
        What NumPy broadcasts before it looks at these.
    """

    def __init__(self, pattern: str, shapes: Sequence[Shape], operands: Sequence[Shape] = ()):
        super().__init__(pattern.format(*map(format_shape, shapes)))
        self.lengths = pattern, tuple(shapes), tuple(operands)


def misfit(shapes: Sequence[Shape]) -> Misfit:
    """Operands that do not broadcast."""
    return Misfit("operands could not be broadcast together with shapes " + "{} " * len(shapes), shapes)


def say_lengths(error: CompileError, sizes: Mapping[str, int]) -> None:
    """Let an error about shapes, and those beside it, say the lengths of a call in place of their names.

    Examples
    --------
    >>> from pytocu.errors import located
    >>> error = located(Misfit("{} is not {}", [(symbol("n"), 3), (4,)]), None)
    >>> say_lengths(error, {"n": 5})
    >>> error.message
    '(5,3) is not (4,)'
    """
    for one in (error, *error.others):
        if one.lengths is None:
            continue
        pattern, shapes, operands = one.lengths
        try:
            numbers, broadcast = ([tuple(evaluate(d, sizes) for d in shape) for shape in every] for every in (shapes, operands))
        except KeyError:
            # A length that only a run tells.
            continue
        if pattern == assignment_pattern():
            numbers[0] = numbers[0][_leading_ones(numbers[0], len(numbers[1])) :]
        columns = itertools.zip_longest(*(shape[::-1] for shape in broadcast), fillvalue=1)
        fit = all(len({*lengths} - {1}) < 2 for lengths in columns)
        text = pattern.format(*map(format_shape, numbers)) if fit else str(misfit(broadcast))
        if one.help == usual_help(one.message):
            one.help = usual_help(text)
        one.message = text


def in_fields(error: CompileError, first: int) -> tuple[str, tuple[DimLike, ...]] | None:
    """The sentence of an error about shapes with ``{first}`` and so on for the lengths of the call, and these.

    Examples
    --------
    >>> from pytocu.errors import located
    >>> in_fields(located(Misfit("{} is not {}", [(symbol("n"), 3), (4,)]), None), 2)
    ('({2},3) is not (4,)', (n,))
    """
    if error.lengths is None:
        return None
    pattern, shapes, _ = error.lengths
    shown = [d for shape in shapes for d in shape if isinstance(d, Dim)]
    fields = iter(range(first, first + len(shown)))
    texts = [[f"{{{next(fields)}}}" if isinstance(d, Dim) else str(d) for d in shape] for shape in shapes]
    return pattern.format(*(f"({','.join(t)}{',' * (len(t) == 1)})" for t in texts)), tuple(shown)


ASSIGNED = {"assign": "input array", "mask": "where mask", "place": "value array"}
"""What the kinds of checks of assignments compare with a target."""


def assignment_sentence(value: tuple[DimLike, ...], target: tuple[DimLike, ...], what: str = "input array") -> str:
    """What NumPy says of an assignment whose shapes do not fit; of a ``value array`` that goes to indexed elements."""
    if what == "input array":
        value = value[_leading_ones(value, len(target)) :]
    return assignment_pattern(what).format(format_shape(value), format_shape(target))


def _leading_ones(shape: Shape, rank: int) -> int:
    """How many leading axes of length 1 are more than a number of axes: NumPy does not show them of what is assigned.

    Examples
    --------
    >>> _leading_ones((1, 1, 1, 4), 2), _leading_ones((2, 1, 4), 2)
    (2, 0)
    """
    return next((n for n, length in enumerate(shape) if length != 1 or n >= len(shape) - rank), len(shape))


def assignment_pattern(what: str = "input array") -> str:
    """As :func:`assignment_sentence`, with ``{}`` for the two shapes."""
    if what == "value array":
        return "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}"
    return f"could not broadcast {what} from shape {{}} into shape {{}}"


def output_sentence(output: tuple[DimLike, ...], whole: tuple[DimLike, ...]) -> str:
    """What NumPy says of an output array that would have to be broadcast."""
    return OUTPUT_PATTERN.format(format_shape(output), format_shape(whole))


OUTPUT_PATTERN = "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}"
"""As :func:`output_sentence`, with ``{}`` for the two shapes."""


def empty_sentence(name: str) -> str:
    """What NumPy says of a reduction of no elements that has no value then, and Python of ``min()`` and ``max()``.

    Examples
    --------
    >>> empty_sentence("argmax")
    'attempt to get argmax of an empty sequence'
    """
    if name in ("min()", "max()"):
        try:
            return str((min if name == "min()" else max)(()))
        except ValueError as error:
            return str(error)
    if name in ("argmin", "argmax"):
        return f"attempt to get {name} of an empty sequence"
    return f"zero-size array to reduction operation {name} which has no identity"


def parse_dim(text: str) -> DimLike:
    """Read what ``str(dim)`` writes.

    Raises
    ------
    ValueError
        The text is not an expression over ``+ - * // %``, ``min``, ``max``, names and integers.
    """
    try:
        return _from_ast(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{text!r} is not a dimension: write 3, n, n - 2 or max(n - 2, 0)") from error


def _from_ast(node: ast.expr) -> DimLike:
    match node:
        case ast.Constant(value=bool()):
            raise KeyError
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return 0 - _from_ast(operand)
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=[a, b], keywords=[]):
            return APPLY[name](_from_ast(a), _from_ast(b))
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _from_ast(left), _from_ast(right)
            if b == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                raise KeyError
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.FloorDiv():
                    return floordiv(a, b)
                case ast.Mod():
                    return modulo(a, b)
    raise KeyError

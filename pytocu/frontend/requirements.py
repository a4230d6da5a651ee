"""What the data must be, as a condition on values: an exception where it does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.errors import NO_ELEMENTS, failure
from pytocu.frontend.values import Context
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, as_symbol, dim_max, dim_min, fact_of, may_repeat, symbols
from pytocu.ir.infer import is_repeated
from pytocu.ir.types import ArrayType, shape_of, type_text
from pytocu.operands import array_notes


def require(
    context: Context,
    value: Value,
    condition: Value,
    error: str,
    sentence: str,
    shown: Value | None = None,
    dims: Sequence[DimLike] = (),
    said: tuple[Any, ...] = (),
) -> Value:
    """The value, whose every element that is computed demands that the condition holds.

    Elements that nobody reads are not computed, and what they demand is not looked at.

    Parameters
    ----------
    value, condition : Value
        Anything, and bool; they broadcast.
    error, sentence : str
        The class of the exception, by Python's name, and what it says: ``{0}`` stands for `shown`
        and ``{1}``, ``{2}`` for the lengths.
    shown : Value, optional
        int64; the smallest one that breaks the condition is shown.
    dims : sequence of lengths
    said : tuple
        What else is said, as :func:`pytocu.errors.told` gives it.
    """
    args = (value, condition) if shown is None else (value, condition, shown)
    attrs = {"error": error, "sentence": sentence, "dims": tuple(dims), **({"said": said} if said else {})}
    return context.builder.emit("require", args, attrs, name=value.name)


def require_equal(
    context: Context,
    first: DimLike,
    second: DimLike,
    error: str,
    sentence: str,
    *shown: DimLike,
    broadcast: bool = False,
    either: bool = False,
    operands: Sequence[Value] = (),
    help: str = "",
) -> None:
    """Let the call compare two lengths; `sentence` has ``{0}`` and ``{1}`` for them, ``{2}`` and so on for those shown.

    Where the first one broadcasts to the second, or either to the other, a length that happens to be 1 is another
    specialisation, and one that is known only at run time is refused.  The message shows the shapes of the
    `operands`, which are the first arrays of the expression.

    Raises
    ------
    CompileError
        They are known to differ.
    """
    if first == second:
        return
    dims = (first, second, *shown)
    if all(isinstance(d, int) for d in dims):
        found = failure(error, sentence, [d for d in dims if isinstance(d, int)], context.loc)
        found.notes = array_notes(context.loc, [type_text(v.type) for v in operands])
        found.help = help or found.help
        raise found
    said = (error, sentence, *filter(None, (help,)), *(shape_of(v.type) for v in operands))
    kind = "meets" if either else "fits" if broadcast else "equal"
    context.builder.emit("check", (), {"kind": kind, "dims": dims, "shapes": said})


def require_fit(
    context: Context,
    length: DimLike,
    wanted: DimLike,
    error: str,
    sentence: str,
    *shown: DimLike,
    either: bool = False,
    operands: Sequence[Value] = (),
) -> None:
    """Let the call compare lengths of which the first broadcasts to the second, or `either` to the other.

    The second is the one that a result has; `sentence` shows no other lengths than those `shown`.
    """
    if not may_repeat(length) or not is_repeated(length, wanted):
        first, second = (wanted, length) if either else (length, wanted)
        require_equal(context, first, second, error, sentence, *shown, broadcast=True, either=either, operands=operands)
        return
    # NumPy makes an array without elements of a length of 0 and one of 0 or 1.
    longer = dim_min(dim_max(wanted - 1, 0), 1)
    text = "a length that is known only at run time is 0, and compiled as 1 beside {2}"
    require_equal(context, (1 - length) * (1 - longer), 0, "UnsupportedError", text, wanted, help=NO_ELEMENTS)
    require_equal(context, length, 1, error, sentence, *shown, operands=operands)


def refuse_later(context: Context, size: DimLike, error: str, sentence: str) -> None:
    """Let the run raise, behind what it compares before: for types that NumPy refuses after it has looked at lengths.

    `size` is any length; where it is known, the compiler raises.
    """
    require_equal(context, size + 1, 0, error, sentence)


def is_length(context: Context, dim: DimLike, number: int) -> bool | None:
    """Whether a length is 0 or 1 in the call that compiles, which becomes a fact; None where only a run can tell."""
    if isinstance(dim, int):
        return dim == number
    if number == 0 and dim in context.zeros:
        return True
    if not of_arguments(context, dim):
        return None
    # A length of an argument that is 1 is written as 1 in its type.
    decided = number == 1 and as_symbol(dim) is not None
    if not decided and (context.elements is not None or context.in_side or context.in_steps):
        return None
    context.builder.emit("assume", (), {"dim": dim, "relation": "!=", "number": number})
    return False


def of_arguments(context: Context, dim: DimLike) -> bool:
    """Whether the lengths of arguments tell a length."""
    given = {n for p in context.given if isinstance(p.type, ArrayType) for d in p.type.shape for n in symbols(d)}
    return given.issuperset(symbols(dim))


def compares(context: Context, dim: DimLike, relation: str, number: int) -> bool | None:
    """Whether a length is ``<=`` or ``>`` a number in the call that compiles, which becomes a fact.

    None where only a run can tell.
    """
    fact = fact_of(dim, relation, number)
    if isinstance(fact, bool):
        return fact
    inside = context.elements is not None or context.in_side or context.in_steps
    if inside or not context.sizes.keys() >= set(symbols(fact.dim)):
        return None
    holds = fact.holds(context.sizes)
    context.builder.emit("assume", (), (fact if holds else fact.opposite)._asdict())
    return holds


REMAPPED = "operands could not be broadcast together with remapped shapes [original->remapped]: "
"""How NumPy begins what it says of shapes that do not fit where it takes axes in an order of its own."""


def fields(first: int, shape: Sequence[DimLike], comma: str = ",") -> str:
    """A shape in a sentence, of lengths that are filled in."""
    return f"({comma.join(f'{{{first + n}}}' for n in range(len(shape)))}{',' if len(shape) == 1 else ''})"

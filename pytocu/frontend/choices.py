"""Choices by scalars known only at run time: ``and``, ``or``, ``a if c else b``, ``min`` and ``max``.

Python evaluates one side; here both are evaluated and one is chosen.  That is the same where the
side that Python leaves out cannot raise and changes nothing, and the kinds of both sides agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pytocu.errors import CompileError, UnsupportedError
from pytocu.frontend.frames import Raised
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.numbers import common_type, of_both_kinds, of_type, python_truth
from pytocu.frontend.operators import binary, elementwise, truth, truths
from pytocu.frontend.raising import is_raised
from pytocu.frontend.reading import read_bool, scalar_of
from pytocu.frontend.type_texts import type_text, type_texts, way_out
from pytocu.frontend.values import Context, Masked, NeedsBranch, as_value, dimensions, is_array, is_dynamic, is_number
from pytocu.ir.core import Inst, Value
from pytocu.ir.types import WEAK_ORDER, ScalarType, Type, WeakType, element

_CANNOT_RAISE = frozenset(
    [
        "add", "subtract", "multiply", "negative", "positive", "absolute", "equal", "not_equal", "less", "less_equal",
        "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "const", "dim", "python_not",
        "python_min", "python_max", "python_choose",
    ]
)  # fmt: skip


def is_choice(value: Any) -> bool:
    """A scalar known only at run time (an array without axes is one), which may decide."""
    return is_dynamic(value) and not dimensions(value)


@contextmanager
def both_sides(context: Context, what: str) -> Iterator[None]:
    """Evaluate what Python may leave out.

    Raises
    ------
    NeedsBranch
        An operation there may raise; changes of lists and dicts are refused while this is active.
    """
    start = len(context.builder.insts)
    outer, context.choosing = context.choosing, True
    try:
        yield
    except (CompileError, Raised) as error:
        if isinstance(error, CompileError) and not is_raised(error):
            raise
        raise NeedsBranch(f"{what} has a side that raises", context.loc) from None
    finally:
        context.choosing = outer
    for inst in context.builder.insts[start:]:
        if not _is_safe(inst):
            raise NeedsBranch(
                f"{what} by a scalar known only at run time evaluates both sides, and {inst.op.name} may raise an error",
                inst.loc,
                "compute it before, or name the scalar in @jit(static=(...))",
            )


def _is_safe(inst: Inst) -> bool:
    weak = [isinstance(a.type, WeakType) for a in inst.args]
    if inst.types and isinstance(inst.types[0], WeakType):
        return inst.op.name in _CANNOT_RAISE
    if inst.op.effects == "check" or inst.op.name == "require" or sum(bool(dimensions(a)) for a in inst.args) > 1:
        return False
    # A Python int known only at run time may not fit.
    return not any(w and a.inst is None for w, a in zip(weak, inst.args, strict=True))


def choose(context: Context, condition: Value, yes: Any, no: Any, what: str) -> Value:
    """``yes if condition else no`` for scalars of one kind.

    Raises
    ------
    UnsupportedError
        The kind of the result would depend on the condition.
    NeedsBranch
        They are no numbers.
    """
    if not all(isinstance(v, Value | Masked | np.ndarray) or is_number(v) for v in (yes, no)):
        raise NeedsBranch(f"{what} chooses at run time between values that are no numbers", context.loc)
    first, second = (as_value(context, v) for v in (yes, no))
    common = common_type(context, first.type, second.type)
    if common is not None:
        first, second = (of_type(context, v, common) for v in (first, second))
    else:
        first, second = of_both_kinds(context, (first, second))
    if first.type == second.type:
        if isinstance(first.type, WeakType) and isinstance(condition.type, WeakType):
            return on_host(context, "python_choose", condition, first, second)
        if isinstance(first.type, ScalarType):
            return elementwise(context, "where", truths(context, condition), first, second)
        if isinstance(first.type, WeakType):
            raise NeedsBranch(f"{what} chooses by data between Python's numbers", context.loc, "write it as an if statement")
    if is_array(first) and is_array(second) and element(first.type) is element(second.type):
        raise NeedsBranch(f"{what} chooses at run time between arrays", context.loc, "write it as an if statement")
    help = way_out(first.type, second.type, sides=True)
    strong = next((v.type for v in (first, second) if isinstance(v.type, ScalarType)), None)
    if strong is not None and any(isinstance(v.type, WeakType) for v in (first, second)):
        help = f"make both NumPy's: np.{strong.dtype.numpy.name}(...)"
    kinds = [v.type.kind for v in (first, second) if isinstance(v.type, WeakType)]
    if len(kinds) == 2:
        help = f"make both of one kind: {max(kinds, key=WEAK_ORDER.index)}(...)"
    text = f"{what} chooses at run time between {' and '.join(type_texts(first.type, second.type))}"
    raise UnsupportedError(text, context.loc, help)


def connect(context: Context, word: str, left: Value, evaluate: Callable[[], Any]) -> Value:
    """``left and right`` or ``left or right``, where `evaluate` gives the right side."""
    with both_sides(context, f"'{word}'"):
        right = evaluate()
    what = f"'{word}'"
    return choose(context, left, right, left, what) if word == "and" else choose(context, left, left, right, what)


def negate(context: Context, value: Any) -> Any:
    """``not value``."""
    if isinstance(value, Value) and isinstance(value.type, WeakType):
        return on_host(context, "python_not", value)
    if context.elements is not None and is_choice(value):
        return on_host(context, "python_not", python_truth(context, value))
    if is_choice(value):
        # Python makes a bool of its own of NumPy's.
        return on_host(context, "python_not", read_bool(context, truths(context, scalar_of(context, value, "bool"))))
    return not truth(context, value, "'not'", elementwise=lambda: "use np.logical_not(x)")


def extreme(context: Context, name: str, row: str, comparison: str, values: list[Any]) -> Value:
    """``min`` or ``max`` of scalars of one kind: the first of equal ones."""
    made = [as_value(context, v) for v in values]
    common: Type | None = made[0].type
    for value in made[1:]:
        common = common and common_type(context, common, value.type)
    if common is not None:
        made = [of_type(context, v, common) for v in made]
    else:
        made = of_both_kinds(context, made)
    if all(v.type == made[0].type and not dimensions(v) for v in made):
        if isinstance(made[0].type, WeakType):
            return on_host(context, f"python_{name}", *made)
        best = made[0]
        for value in made[1:]:
            best = elementwise(context, "where", binary(context, comparison, value, best), value, best)
        if isinstance(best.type, ScalarType):
            return best
    kinds = [v.type.kind for v in made if isinstance(v.type, WeakType)]
    if len(kinds) == len(made):
        each = " and ".join(dict.fromkeys(type_text(v.type) for v in made))
        text = f"{name}() gives one of {each}, and only a run knows which"
        raise UnsupportedError(text, context.loc, f"make all of one kind: {max(kinds, key=WEAK_ORDER.index)}(...)")
    types = ", ".join(type_text(v.type) for v in made)
    raise UnsupportedError(
        f"{name}() of run-time values of types {types} chooses by the truth of a comparison",
        context.loc,
        f"use np.{row}(a, b)",
    )


__all__ = ["both_sides", "choose", "connect", "extreme", "is_choice", "negate"]

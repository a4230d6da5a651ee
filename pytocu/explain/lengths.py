"""Lengths as people call them.

A Python int of run time is the difference of two numbers that are not negative, so that lengths made of it are polynomials of
such numbers.  What is shown is what they are where the int is not negative.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytocu.ir.core import Function, walk
from pytocu.ir.dims import Dim, substitute, symbol, symbols
from pytocu.ir.types import shape_of
from pytocu.record import Record


def ints_of(function: Function) -> dict[str, tuple[str, str]]:
    """The ints of run time that are the difference of two numbers, by the name of the first: theirs, and the second's.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> ints_of(pytocu.jit(lambda n: np.ones(2 * n - 1)).lower("weak int").function)
    {'n_above_': ('n', 'n_below_')}
    """
    found: dict[str, tuple[str, str]] = {}
    lengths = {name for param in function.params for dim in shape_of(param.type) for name in symbols(dim)}
    for inst in walk(function.body):
        if inst.op.name == "bind" and len(inst.attr("names")) == 2:
            above, below = inst.attr("names")
            name = inst.args[0].name or "number"
            found[above] = f"int_{name}" if name in lengths else name, below
    return found


def below_zero(function: Function) -> dict[str, int]:
    """The numbers that are 0 where ints of run time are not negative."""
    return {below: 0 for _, below in ints_of(function).values()}


def shown_with(told: Any, ints: Mapping[str, tuple[str, str]]) -> Any:
    """Records and texts with ints of run time by their names."""
    if not ints:
        return told
    match told:
        case Dim():
            known = {above: symbol(name) for above, (name, _) in ints.items()}
            return substitute(told, known | {below: 0 for _, below in ints.values()})
        case str():
            for above, (name, below) in ints.items():
                told = re.sub(rf"(\b\d+\*|\b){above} - \1{below}\b", rf"\g<1>{name}", told)
                told = re.sub(rf"-(\d+\*|){below} \+ \1{above}\b", rf"\g<1>{name}", told)
                told = re.sub(rf"\b{above}\b", name, told) if below not in told else told
            return told
        case Record():
            return told._replace(**{name: shown_with(value, ints) for name, value in told._asdict().items()})
        case tuple():
            return tuple(shown_with(value, ints) for value in told)
        case _:
            return told

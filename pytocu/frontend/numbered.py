"""Loops of run time whose steps have a number with a name, by which positions are known; see `pytocu.frontend.ranges`."""

from __future__ import annotations

import ast
import builtins

from pytocu.frontend.frames import Frame
from pytocu.frontend.ranges import known_here, most, new_name, number_as_dim
from pytocu.frontend.values import Context, Steps, as_dim, as_value, const_inst, dim_value
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, floordiv, symbol
from pytocu.record import Record


class Numbered(Record):
    """A loop whose steps have a number with a name.

    Attributes
    ----------
    head : list of Value
        The range of the numbers: up from 0, or down to 0.
    value : DimLike
        What the number of a step stands for.
    numbers : (str, DimLike, bool)
        The name, how many steps there are, and whether the last number comes first.
    facts : tuple of DimLike
        What is not negative in a step.
    """

    head: list[Value]
    value: DimLike
    numbers: tuple[str, DimLike, bool]
    facts: tuple[DimLike, ...]


def numbered(frame: Frame, node: ast.For, steps: Steps, wanted: bool = False) -> Numbered | None:
    """Give the steps numbers with a name, where positions are made of them or these are `wanted`."""
    context = frame.context
    if context.elements is not None:
        # In a function of scalars every element has an index of its own.
        return None
    if steps.plain and not wanted and not _makes_positions(node):
        return None
    range_of = _range_of(context, steps)
    if range_of is None:
        return None
    start, distance, stride = range_of
    size = abs(stride)
    count = _count(distance, size)
    hint = node.target.id if isinstance(node.target, ast.Name) else ""
    name = new_name(context, hint if hint.isidentifier() else "step")
    context.steps.add(name)
    number = symbol(name)
    falling = stride < 0
    first = start - size * (count - 1) if falling else start
    all_steps = most(count, 0, known_here(context, branches=False))
    bounds = (all_steps - 1, -1, -1) if falling else (0, all_steps, 1)
    if (start, stride) == (0, 1):
        bounds = (steps.start, steps.stop, steps.step)
    head = [as_value(context, dim_value(context, d) if isinstance(d, Dim) else d) for d in bounds]
    facts = (count - 1 - number, *(distance - 1 - size * number for _ in range(size > 1)))
    return Numbered(head, first + size * number, (name, all_steps, falling), facts)


def most_steps(context: Context, steps: Steps) -> DimLike | None:
    """How many steps a loop has, if the host knows it before."""
    range_of = _range_of(context, steps)
    return None if range_of is None else most(_count(range_of[1], abs(range_of[2])), 0, known_here(context, branches=False))


def _range_of(context: Context, steps: Steps) -> tuple[DimLike, DimLike, int] | None:
    """The first number, how far the end is from it, and the step; None where the host does not know them."""
    stride = as_dim(steps.step)
    if isinstance(steps.step, Value) and const_inst(steps.step) is not None:
        stride = steps.step.inst.attr("value") if steps.step.inst is not None else None
    if not isinstance(stride, int):
        return None
    start, stop = number_as_dim(context, steps.start), number_as_dim(context, steps.stop)
    if start is None or stop is None:
        return None
    return start, stop - start if stride > 0 else start - stop, stride


def _count(distance: DimLike, size: int) -> DimLike:
    return floordiv(distance + (size - 1), size)


def _makes_positions(node: ast.For) -> bool:
    """Whether a subscript or a call in a loop may depend on the number of the step."""
    names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}

    def depends(part: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(part))

    parts = [part for statement in node.body for part in ast.walk(statement)]
    while True:
        before = len(names)
        for part in parts:
            if isinstance(part, ast.For) and depends(part.iter):
                names.update(n.id for n in ast.walk(part.target) if isinstance(n, ast.Name))
            if not isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
                continue
            if part.value is not None and depends(part.value):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                inner = [n for t in targets for n in ast.walk(t)]
                names.update(n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        if len(names) == before:
            break
    # Functions of modules take positions as numbers.
    return any(
        (isinstance(p, ast.Subscript) and depends(p.slice))
        or (isinstance(p, ast.Call) and isinstance(p.func, ast.Name) and not hasattr(builtins, p.func.id) and depends(p))
        for p in parts
    )

"""Sets, dicts and comprehensions, whose members are written out."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.builtin_calls import computed_members, iterate, steps_over
from pytocu.frontend.expressions import assign, elements, evaluate
from pytocu.frontend.frames import Frame
from pytocu.frontend.operators import compute, truth
from pytocu.frontend.type_texts import FLAGS
from pytocu.frontend.values import Generated, Steps, contains_dynamic

_grown = Deferred("pytocu.frontend.grown", "comprehension")


def evaluate_display(frame: Frame, node: ast.expr) -> Any:
    """The set, dict or list, or the members that a generator gives."""
    match node:
        case ast.Set(elts=parts):
            return _set(frame, elements(frame, parts))
        case ast.Dict(keys=keys, values=values):
            return _dict(frame, keys, values)
        case ast.ListComp(elt=element, generators=generators):
            over = evaluate(frame, generators[0].iter)
            steps = steps_over(frame, over)
            if isinstance(steps, Steps) or len(generators) > 1 or generators[0].ifs:
                # Whether there is a member a run may decide.
                return _grown(frame, node, steps)
            return list(_comprehension(frame, generators, lambda inner: evaluate(inner, element), over=over))
        case ast.GeneratorExp():
            return generator(frame, node)
        case ast.SetComp(elt=element, generators=generators):
            return _set(frame, list(_comprehension(frame, generators, lambda inner: evaluate(inner, element))))
        case ast.DictComp(key=key, value=value, generators=generators):
            pairs = list(_comprehension(frame, generators, lambda inner: (evaluate(inner, key), evaluate(inner, value))))
            return {_hashable(frame, k): v for k, v in pairs}
    raise AssertionError(f"{type(node).__name__} is no display")


def generator(frame: Frame, node: ast.GeneratorExp, summed: bool = False) -> Any:
    """The members that a generator gives, or, for ``sum``, what it goes over at run time."""
    over = evaluate(frame, node.generators[0].iter)
    steps = steps_over(frame, over) if summed else over
    if summed and isinstance(steps, Steps):
        return Generated(frame, node, steps)
    names = sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)})
    members = _comprehension(frame, node.generators, lambda inner: evaluate(inner, node.elt), over=over)
    return computed_members(frame, members, lambda: [frame.locals.get(name) for name in names])


def _hashable(frame: Frame, value: Any, of_set: bool = False) -> Any:
    if contains_dynamic(value):
        help = f"use constants as keys, or {FLAGS.removeprefix('use ')}" if of_set else "use constants as keys"
        raise UnsupportedError("a key cannot be a value known only at run time", frame.context.loc, help)
    compute(frame.context, hash, value)
    return value


def _set(frame: Frame, members: list[Any]) -> set[Any]:
    return {_hashable(frame, m, of_set=True) for m in members}


def _dict(frame: Frame, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            other = evaluate(frame, value)
            if not isinstance(other, dict):
                raise raised(TypeError(f"'{type(other).__name__}' object is not a mapping"), frame.context.loc)
            out.update(other)
        else:
            out[_hashable(frame, evaluate(frame, key))] = evaluate(frame, value, perhaps=True)
    return out


def _comprehension(
    frame: Frame, generators: list[ast.comprehension], emit: Callable[[Frame], Any], around: Frame | None = None,
    over: Any = None, numbers: Iterator[int] | None = None,
) -> Iterator[Any]:  # fmt: skip
    if around is None:
        names = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        inner = frame.inside(frozenset(names))
    else:
        inner = around
    first, *rest = generators
    numbers = itertools.count() if numbers is None else numbers
    # The first iterable belongs to the scope around the comprehension, as in Python.
    over = evaluate(frame if around is None else inner, first.iter) if over is None else over
    members = iterate(frame, over, "the comprehension")
    for item in members:
        with frame.context.passing(next(numbers)):
            assign(inner, first.target, item)
            is_member = all(truth(frame.context, evaluate(inner, test), "the comprehension's condition") for test in first.ifs)
            member = emit(inner) if is_member and not rest else None
        if is_member and rest:
            yield from _comprehension(frame, rest, emit, inner, numbers=numbers)
        elif is_member:
            yield member

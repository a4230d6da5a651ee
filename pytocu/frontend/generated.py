"""Python's ``sum`` of a generator whose number of steps is known only at run time.

``sum(e for i in range(n) if c)`` is the loop ``total = 0; for i in range(n): if c: total = total + e``, in names of its own.
"""

from __future__ import annotations

import ast
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import lookup
from pytocu.frontend.statements import run_block
from pytocu.frontend.values import Generated
from pytocu.ir.core import Value
from pytocu.ir.types import WeakType, weak_type_of

_TOTAL, _STEPS = "the sum", "the steps"
"""What no name of the program is called."""


def sum_of(generated: Generated, start: Any) -> Any:
    """The elements added to a start, one after the other.

    Raises
    ------
    UnsupportedError
        They are Python floats: since 3.12 Python makes up for what is lost where these are added.
    """
    frame, node = generated.frame, generated.node
    (over,) = node.generators
    names = {n.id for n in ast.walk(over.target) if isinstance(n, ast.Name)}
    inner = frame.inside(frozenset({*names, _TOTAL, _STEPS}))
    inner.locals[_TOTAL] = start
    inner.locals[_STEPS] = generated.steps
    added = ast.BinOp(ast.Name(_TOTAL, ast.Load()), ast.Add(), node.elt)
    step: ast.stmt = ast.Assign([ast.Name(_TOTAL, ast.Store())], added)
    for test in reversed(over.ifs):
        step = ast.If(test, [step], [])
    loop = ast.For(over.target, ast.Name(_STEPS, ast.Load()), [step], [])
    for part in ast.walk(loop):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    run_block(inner, [loop])
    total = lookup(inner, _TOTAL)
    kind = total.type if isinstance(total, Value) else weak_type_of(total)
    if isinstance(kind, WeakType) and kind.kind in ("float", "complex"):
        text = "sum() of Python floats of a number of steps that is known only at run time is not compiled"
        raise UnsupportedError(text, frame.context.loc, "write a for statement, or np.sum of an array")
    return total

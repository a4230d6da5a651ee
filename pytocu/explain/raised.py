"""Errors of the program at places that a call may not come to: Python says them when it comes there, and so does the code."""

from __future__ import annotations

from pytocu.errors import CompileError, builtin_name, tell
from pytocu.explain.source import line_of
from pytocu.frontend.raising import is_refusal
from pytocu.ir.core import Function, walk

_OF_THE_PROGRAM = ("AttributeError", "NameError", "TypeError", "KeyError")
"""What no data raises."""


def raised_in_words(function: Function) -> tuple[str, ...]:
    """One sentence for each name, attribute or operand that is wrong, and not raised by a statement of the program.

    Parameters
    ----------
    function : Function
        As the front end makes it.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> def f(x, n):
    ...     return np.cossin(x) if n > 2 else x
    >>> print(*raised_in_words(pytocu.jit(f).lower("f32[n]", "weak int").function))
    a call that comes to line 2 raises AttributeError: module 'numpy' has no attribute 'cossin'
    """
    found: dict[str, None] = {}
    for inst in walk(function.body):
        if not is_refusal(inst):
            continue
        name, sentence, *parts = inst.attr("shapes")
        line = line_of(inst.loc)
        stated = line.text.strip().startswith(("raise", "assert")) or "{" in sentence
        if name in _OF_THE_PROGRAM and not stated:
            found[f"a call that comes to line {line.line} raises {name}: {sentence}"] = None
            others = tell(CompileError("", inst.loc), parts).others
            for other in others:
                assert other.loc is not None
                found[f"line {other.loc.line} is wrong, too: {builtin_name(other)}: {other.message}"] = None
    return tuple(found)

"""Whether the results of a random program lie in memory as NumPy's do.

NumPy runs the program a second time, since the comparison of values replaces what is not exact, and with it
where its elements lie.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytocu.testing.fuzz_programs import Argument, Program, Statement, execute, value_of

OTHER_ORDERS = re.compile(
    r"\b(for|while|if|def)\b|each_v"  # loops and branches of the host
    r"|sort|partition|median|quantile|percentile|unique|linalg|fft"  # library calls
    r"|shape\[::-1\]|_like\(.*shape="  # views for some lengths, and the strides of axes of length 1
)
"""Statements whose results pytocu makes in row-major order, or in that of their operands, where NumPy has another one."""

LOOKS_AT_ORDER = re.compile(r"pad\(|imag|isreal|packbits|round")
"""Statements that NumPy computes in column-major order of arrays in that order alone, and never of those without elements."""

LAID_OUT: set[Callable[..., Any]] = set()
"""What runs programs and gives results as they lie in memory: copies from a GPU are in an order of their own."""


def strides_of(program: Program, arguments: Mapping[str, Argument]) -> dict[str, list[tuple[int, ...]]]:
    """The strides that NumPy gives results, in bytes along axes that are longer than 1.

    What NumPy returns as a view may be a new array in the order of the view, so there are two of these; where the view
    repeats elements, it may also be in the order of NumPy's iterator, which takes no notice of axes of repeated ones.
    """
    env: dict[str, Any] = {name: arguments[name].placed() for name in program.parameters}
    free: set[str] = set()
    for statement in program.statements:
        try:
            if not statement.name:
                execute(statement.code, env)
                continue
            env[statement.name] = value_of(statement, env)
        except Exception:
            # Of other numbers than those that are compared NumPy has no answer: nothing is known of what follows.
            break
        looks = LOOKS_AT_ORDER.search(statement.text) and _in_either_order(env)
        if looks or _is_free(statement) or not free.isdisjoint(statement.names):
            free.add(statement.name)
    found: dict[str, list[tuple[int, ...]]] = {}
    for name in program.results:
        value = env.get(name)
        if name in free or not isinstance(value, np.ndarray) or not value.size:
            continue
        found[name] = [_moving(value)]
        if value.base is not None:
            found[name].append(_moving(np.empty_like(value)))
            if 0 in _moving(value):
                found[name].append(_moving(np.nditer([value, None]).operands[1]))
    return found


def _in_either_order(env: Mapping[str, Any]) -> bool:
    """Whether an operand has no elements, or an argument is reversed, so that a view of it may be in any order."""
    values = [value for value in env.values() if isinstance(value, np.ndarray)]
    return any(not value.size or min(value.strides, default=0) < 0 for value in values)


def _is_free(statement: Statement) -> bool:
    return statement.block or bool(OTHER_ORDERS.search(statement.text))


def compare_strides(found: Any, wanted: list[tuple[int, ...]]) -> None:
    """Assert that a result has one of these strides.

    Raises
    ------
    AssertionError
        Names both.
    """
    strides = _moving(found) if isinstance(found, np.ndarray) else wanted[0]
    if len(strides) == len(wanted[0]) and strides not in wanted:
        raise AssertionError(f"strides {strides} where {' or '.join(map(str, wanted))} are expected")


def _moving(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride for length, stride in zip(array.shape, array.strides, strict=True) if length > 1)

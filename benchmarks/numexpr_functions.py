"""The workloads that numexpr has operations for, as its users write them.

Each takes ``evaluate`` and the arguments by name.  Views are made by NumPy outside the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

_CONSTANT = re.compile(r"\d+\.\d+")


def _evaluate(evaluate: Any, expression: str, **names: Any) -> Any:
    """The expression, with constants and Python floats of the type of its arrays.

    A Python float is float64 to numexpr and would make the whole expression float64.
    """
    dtype = next(v.dtype for v in names.values() if getattr(v, "ndim", 0) and v.dtype.kind == "f")
    constants = list(dict.fromkeys(_CONSTANT.findall(expression)))
    text = _CONSTANT.sub(lambda found: f"c_{constants.index(found[0])}", expression)
    values = {name: dtype.type(v) if isinstance(v, float) else v for name, v in names.items()}
    values |= {f"c_{number}": dtype.type(c) for number, c in enumerate(constants)}
    return evaluate(text, local_dict=values, global_dict={})


def _text(expression: str) -> Callable[..., Any]:
    return lambda evaluate, **names: _evaluate(evaluate, expression, **names)


def _mask_out(evaluate: Any, points: Any, mask: Any) -> Any:
    names = {"p": points, "m": mask[:, None], "inf": np.float32(np.inf)}
    return _evaluate(evaluate, "where(m, inf, p)", **names)


def _black_scholes(evaluate: Any, price: Any, strike: Any, years: Any) -> Any:
    d1 = "((log(s / k) + 0.065 * t) / (0.3 * sqrt(t)))"
    d2 = f"({d1} - 0.3 * sqrt(t))"
    n1, n2 = (f"(0.5 + 0.5 * tanh(0.79788456 * ({d} + 0.044715 * {d} * {d} * {d})))" for d in (d1, d2))
    names = {"s": price, "k": strike, "t": years}
    call = _evaluate(evaluate, f"s * {n1} - k * exp(-0.02 * t) * {n2}", **names)
    put = _evaluate(evaluate, "c - s + k * exp(-0.02 * t)", **names, c=call)
    return call, put


def _outer(evaluate: Any, x: Any, y: Any) -> Any:
    return _evaluate(evaluate, "exp(-((x - y) * (x - y))) + x * y", x=x[:, None], y=y)


def _heat_step(evaluate: Any, u: Any) -> Any:
    names = {"c": u[1:-1, 1:-1], "s": u[2:, 1:-1], "n": u[:-2, 1:-1], "e": u[1:-1, 2:], "w": u[1:-1, :-2]}
    return _evaluate(evaluate, "c + 0.1 * (s + n + e + w - 4 * c)", **names)


def _heat_step_3d(evaluate: Any, u: Any) -> Any:
    i, low, high = slice(1, -1), slice(None, -2), slice(2, None)
    names = {"c": u[i, i, i], "a": u[high, i, i], "b": u[low, i, i], "d": u[i, high, i]}
    names |= {"e": u[i, low, i], "f": u[i, i, high], "g": u[i, i, low]}
    return _evaluate(evaluate, "c + 0.1 * (a + b + d + e + f + g - 6 * c)", **names)


def _moving_average(evaluate: Any, x: Any) -> Any:
    names = {"a": x[:-4], "b": x[1:-3], "c": x[2:-2], "d": x[3:-1], "e": x[4:]}
    return _evaluate(evaluate, "(a + b + c + d + e) / 5.0", **names)


def _shaded_relief(evaluate: Any, elevation: Any) -> Any:
    u = elevation
    names = {"a": u[1:-1, 2:], "b": u[1:-1, :-2], "c": u[:-2, 1:-1], "d": u[2:, 1:-1]}
    east, north = (_evaluate(evaluate, f"({t}) / 60.0", **names) for t in ("a - b", "c - d"))
    text = "0.7071 * cos(s) + 0.7071 * sin(s) * cos(5.4978 - arctan2(-e, -n))"
    slope = _evaluate(evaluate, "arctan(sqrt(e * e + n * n))", e=east, n=north)
    return _evaluate(evaluate, text, s=slope, e=east, n=north)


def _normalise_vectors(evaluate: Any, v: Any) -> Any:
    names = {"x": v[:, 0], "y": v[:, 1], "z": v[:, 2]}
    length = _evaluate(evaluate, "sqrt(x * x + y * y + z * z)", **names)
    return _evaluate(evaluate, "v / n", v=v, n=length[:, None])


def _add_transposed(evaluate: Any, x: Any, y: Any) -> Any:
    return _evaluate(evaluate, "x + y", x=x.T, y=y)


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "five_operations": _text("2.5 * a * x + y * z - 1"),
    "weak_scalars": _text("1 + mu * dt * delta"),
    "mask_out": _mask_out,
    "black_scholes": _black_scholes,
    "haversine": _text(
        "12742.0 * arcsin(sqrt(sin((lat2 - lat1) * 0.5) * sin((lat2 - lat1) * 0.5)"
        " + cos(lat1) * cos(lat2) * sin((lon2 - lon1) * 0.5) * sin((lon2 - lon1) * 0.5)))"
    ),
    "outer": _outer,
    "scaled_sum": _text("a * x + y"),
    "polynomial": _text(
        "(((((((0.1 * x - 0.2) * x + 0.3) * x - 0.4) * x + 0.5) * x - 0.6) * x + 0.7) * x - 0.8) * x + 0.9"
    ),
    "normalise_vectors": _normalise_vectors,
    "add_transposed": _add_transposed,
    "heat_step": _heat_step,
    "heat_step_3d": _heat_step_3d,
    "moving_average": _moving_average,
    "shaded_relief": _shaded_relief,
}
"""By the name of the function of `benchmarks.functions`.

Its sums run in one thread and accumulate float32 in float32, so reductions are left to the other peers.
"""

"""Plans as JSON text, and back.

Everything in a plan is numbers, strings, lengths and tuples of these.  Lengths are written
as their text, tuples as lists; source places are left out, since they are about a machine's
files and not about the program.
"""

from __future__ import annotations

from typing import Any

from pytocu.errors import PytocuError
from pytocu.floats import float_text, parse_float
from pytocu.ir.dims import Dim, Fact, parse_dim
from pytocu.runtime.plan import KernelSpec, Parameter, Plan

VERSION = 6
"""Of the text; what reads plans from a disk has it in its keys."""


def _encode(value: Any) -> Any:
    match value:
        case Dim():
            return {"dim": str(value)}
        case tuple() | list():
            # Parameters and kernels too.
            return [_encode(v) for v in value]
        case dict():
            return {"map": {k: _encode(v) for k, v in value.items()}}
        case complex():
            return {"complex": [_encode(value.real), _encode(value.imag)]}
        case float() if value != value:
            # JSON's NaN has neither sign nor payload.
            return {"nan": float_text(value)}
        case None | bool() | int() | float() | str():
            return value
    raise PytocuError(f"a plan holds {value!r}, which has no JSON form")


def _decode(value: Any) -> Any:
    match value:
        case list():
            return tuple(_decode(v) for v in value)
        case {"dim": text}:
            return parse_dim(text)
        case {"map": items}:
            return {k: _decode(v) for k, v in items.items()}
        case {"complex": [real, imag]}:
            return complex(_decode(real), _decode(imag))
        case {"nan": text}:
            return parse_float(text)
        case _:
            return value


def plan_to_json(plan: Plan) -> str:
    """The plan as one line of JSON; equal plans give equal text.

    Examples
    --------
    >>> import pytocu
    >>> exe = pytocu.jit(lambda x: x[1:] * 2).lower("f32[n]").compile("cuda:sm_90")
    >>> plan_from_json(plan_to_json(exe.plan)).kernels == exe.plan.kernels
    True
    """
    import json

    data = {name: _encode(value) for name, value in plan._asdict().items() if name != "locs"}
    return json.dumps({"version": VERSION, **data}, sort_keys=True)


def plan_from_json(text: str) -> Plan:
    """The plan behind a text of :func:`plan_to_json`.

    Raises
    ------
    PytocuError
        The text is not such a plan.
    """
    import json

    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise PytocuError(f"a plan of version {data['version']} was read by one that knows {VERSION}")
        decoded = {name: _decode(data[name]) for name in Plan._fields if name != "locs"}
        decoded["parameters"] = tuple(Parameter(*p) for p in decoded["parameters"])
        decoded["kernels"] = tuple(KernelSpec(*k) for k in decoded["kernels"])
        decoded["assumptions"] = tuple(Fact(*f) for f in decoded["assumptions"])
        return Plan(**decoded)
    except (KeyError, TypeError, ValueError) as error:
        raise PytocuError(f"this is not the JSON of a plan: {error}") from None

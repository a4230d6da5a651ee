"""Which instruction a step of the compiler was at when it raised an exception."""

from __future__ import annotations

from pytocu.ir.builder import Builder
from pytocu.ir.core import Inst, Value


def place_of(error: BaseException) -> str:
    """The instruction that the innermost function with one at hand was looking at, as ``add at f.py:3:5``; or nothing.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> text = "func @f(%x: f32[n]) {\\n %y = add %x, %x : f32[n]\\n return %y {tree = 0}\\n}"
    >>> def rule(inst):
    ...     return inst.args[7]
    >>> try:
    ...     rule(parse_function(text, "f.ir").body.insts[0])
    ... except IndexError as error:
    ...     print(place_of(error))
    add at f.ir:2:2
    """
    found = ""
    step = error.__traceback__
    while step is not None:
        found = _in_frame(step.tb_frame.f_locals) or found
        step = step.tb_next
    return found


def _in_frame(names: dict[str, object]) -> str:
    insts = [v for v in names.values() if isinstance(v, Inst)]
    insts += [v.inst for v in names.values() if isinstance(v, Value) and v.inst is not None]
    if insts:
        return f"{insts[0].op.name} at {insts[0].loc.short()}"
    places = [v.loc for v in names.values() if isinstance(v, Builder) and v.loc.line]
    return f"an instruction at {places[0].short()}" if places else ""

"""Text of the IR: stable, and read back by :mod:`pytocu.ir.parser` to the same text.

Values are called by the user's variables, made unique by a number; values without a name
count from ``%0``.  Nothing in the text depends on memory addresses, paths or hash order.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytocu.floats import float_text
from pytocu.ir.core import Attr, Block, Function, Inst, Value

_NOT_NAME = re.compile(r"\W")


class Names:
    """Gives each value of one scope its unique printed name."""

    def __init__(self) -> None:
        self.of: dict[Value, str] = {}
        self.used: dict[str, int] = {}
        self.count = 0

    def add(self, value: Value) -> str:
        """Name a value at its definition."""
        hint = _NOT_NAME.sub("_", value.name)
        if hint and not hint[0].isdigit():
            name = hint
            while name in self.used:
                self.used[hint] += 1
                name = f"{hint}_{self.used[hint]}"
            self.used[name] = 0
        else:
            name = str(self.count)
            self.count += 1
        self.of[value] = name
        return f"%{name}"

    def __getitem__(self, value: Value) -> str:
        return f"%{self.of.get(value, 'undefined')}"


def format_attr(value: Attr) -> str:
    """A constant as text: ``inf``, ``-0.0``, ``(0, n - 2)``, ``"name"``."""
    match value:
        case str():
            from json import dumps

            return dumps(value)
        case tuple():
            inner = ", ".join(map(format_attr, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case complex():
            return f"complex({format_attr(value.real)}, {format_attr(value.imag)})"
        case float():
            return float_text(value)
        case bool() | None:
            return repr(value)
        case _:
            return str(value)


def _attrs(inst: Inst) -> str:
    if inst.op.name == "const":
        return f" {format_attr(inst.attr('value'))}"
    if not inst.attrs:
        return ""
    return " {" + ", ".join(f"{k} = {format_attr(v)}" for k, v in inst.attrs) + "}"


Show = Callable[[Inst], str]
"""What is written behind an instruction."""


def _block(block: Block, names: Names, indent: str, lines: list[str], locs: Show | None) -> str:
    """Append the block's lines and return its opening."""
    params = ", ".join(f"{names.add(p)}: {p.type}" for p in block.params)
    for inst in block.insts:
        _inst(inst, names, indent + "  ", lines, locs)
    return f"({params}) {{"


def _inst(inst: Inst, names: Names, indent: str, lines: list[str], locs: Show | None) -> None:
    args = ", ".join(names[a] for a in inst.args)
    head = f"{inst.op.name}{' ' if args else ''}{args}{_attrs(inst)}"
    results = ", ".join(names.add(r) for r in inst.results)
    types = f" : {', '.join(map(str, inst.types))}" if inst.types else ""
    text = f"{indent}{results}{' = ' if results else ''}{head}{types}"
    place = len(lines)
    lines.append("")
    for number, region in enumerate(inst.regions):
        inner: list[str] = []
        scope = Names() if inst.op.isolated else names
        opening = _block(region, scope, indent, inner, locs)
        if number == 0:
            text += f" {opening}"
        else:
            lines.append(f"{indent}}} {opening}")
        lines.extend(inner)
    if inst.regions:
        lines.append(f"{indent}}}")
    if locs is not None:
        text += f"  # {locs(inst)}"
    lines[place] = text


def print_function(function: Function, locs: bool | Show = False) -> str:
    """The function as text.

    Parameters
    ----------
    function : Function
        At any level.
    locs : bool or callable
        Add each instruction's place in the user's source, or what the callable says of the instruction.

    Returns
    -------
    str
        Lines without a newline at the end.
    """
    level = "" if function.level == "array" else f"{function.level} "
    facts = ""
    if function.facts:
        facts = " facts {" + ", ".join(f"{k} = {format_attr(v)}" for k, v in function.facts) + "}"
    lines: list[str] = []
    show = (lambda inst: inst.loc.short()) if locs is True else locs or None
    opening = _block(function.body, Names(), "", lines, show)
    return "\n".join([f"{level}func @{function.name}{opening[:-2]}{facts} {{", *lines, "}"])

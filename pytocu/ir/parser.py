"""Reads the text form of the IR.

``print_function(parse_function(text)) == text`` for every text the printer writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NoReturn

from pytocu.errors import CompileError, Loc, closest
from pytocu.floats import parse_float
from pytocu.ir.core import Attr, Block, Function, Inst, Value
from pytocu.ir.dims import parse_dim
from pytocu.ir.ops import OPS
from pytocu.ir.types import Type, parse_type, split_top

_HEADER = re.compile(r"(?:(?P<level>host|loop) )?func @(?P<name>\w+)\((?P<params>.*?)\)(?: facts \{(?P<facts>.*)\})? \{$")
_INST = re.compile(r"(?:(?P<results>%[\w, %]+) = )?(?P<op>[a-z_0-9]+)(?P<rest>.*)$")
_RESULTS = re.compile(r"\s*%[\w, %]+ = ")
_LOC = re.compile(r"\s+# (?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+)$")
_PARAM = re.compile(r"%(\w+):\s*(.+)$")


class _Parser:
    def __init__(self, text: str, file: str):
        self.lines = text.splitlines()
        self.position = 0
        self.file = file

    def fail(self, message: str, word: str = "", operand: bool = False) -> NoReturn:
        """An error of the line that was read last, at a word of it; an operand stands behind the names of the results."""
        line = self.lines[self.position - 1] if 0 < self.position <= len(self.lines) else ""
        results = _RESULTS.match(line) if operand else None
        found = re.compile(re.escape(word) + r"(?!\w)").search(line, results.end() if results else 0) if word else None
        column = found.start() + 1 if found else len(line) - len(line.lstrip()) + 1
        end = column + len(word) if found else len(line.rstrip()) + 1
        raise CompileError(message, Loc(self.file, self.position, column, end))

    def next(self) -> str:
        while self.position < len(self.lines):
            line = self.lines[self.position].strip()
            self.position += 1
            if line and not line.startswith("#"):
                return line
        self.fail("the text ends inside a block: a closing '}' is missing")

    def function(self) -> Function:
        match = _HEADER.match(self.next())
        if match is None:
            self.fail("expected a function: func @name(%x: f32[n]) {")
        values: dict[str, Value] = {}
        params = self.params(match["params"], values)
        block, _ = self.block(params, values)
        if any(line.strip() and not line.lstrip().startswith("#") for line in self.lines[self.position :]):
            self.next()
            self.fail("the function has ended: a text holds one function")
        facts = tuple(self.attrs(match["facts"] or ""))
        return Function(match["name"], match["level"] or "array", block, facts)

    def params(self, text: str, values: dict[str, Value]) -> tuple[Value, ...]:
        out: list[Value] = []
        for part in split_top(text):
            match = _PARAM.match(part)
            if match is None:
                self.fail(f"expected a parameter like %x: f32[n], not {part!r}", part)
            out.append(self.define(match[1], self.type(match[2]), values))
        return tuple(out)

    def define(self, name: str, type: Type, values: dict[str, Value], made: Value | None = None) -> Value:
        if name in values:
            self.fail(f"%{name} is defined twice", f"%{name}")
        value = made or Value(type)
        value.name = "" if name.isdigit() else name
        values[name] = value
        return value

    def type(self, text: str) -> Type:
        try:
            return parse_type(text)
        except ValueError as error:
            self.fail(str(error), text)

    def block(self, params: tuple[Value, ...], values: dict[str, Value]) -> tuple[Block, str]:
        """Read up to the closing brace; also return what stands behind it."""
        insts: list[Inst] = []
        while True:
            line = self.next()
            if line.startswith("}"):
                return Block(params, tuple(insts)), line[1:].strip()
            insts.append(self.inst(line, values))

    def inst(self, line: str, values: dict[str, Value]) -> Inst:
        whole = self.lines[self.position - 1]
        column = len(whole) - len(whole.lstrip()) + 1
        loc = Loc(self.file, self.position, column, column + len(line))
        place = _LOC.search(line)
        if place:
            loc = Loc(place["file"], int(place["line"]), int(place["column"]))
            line = line[: place.start()]
        match = _INST.match(line)
        if match is None:
            self.fail(f"expected an instruction, not {line!r}")
        if match["op"] not in OPS:
            close = closest(match["op"], OPS)
            hint = f"did you mean {close}?" if close else "docs/operations.md lists them"
            self.fail(f"there is no operation {match['op']!r}: {hint}", match["op"])
        op = OPS[match["op"]]
        rest = match["rest"].strip()
        opening = None
        if op.regions:
            if not rest.endswith("{"):
                self.fail(f"{op.name} needs a region: (%i: index) {{")
            head, opening = _split_region(rest[:-1].rstrip())
            rest = head
        rest, types = self.result_types(rest)
        args_text, attrs_text = rest, ""
        attrs: tuple[tuple[str, Attr], ...]
        if op.name == "const":
            attrs = (("value", self.attr(rest)),)
            args_text = ""
        else:
            brace = _outside_string(rest, "{")
            if brace >= 0:
                args_text, attrs_text = rest[:brace], rest[brace + 1 : -1]
            attrs = tuple(self.attrs(attrs_text))
        args = tuple(self.use(a, values) for a in split_top(args_text))
        regions: list[Block] = []
        while opening is not None:
            scope = {} if op.isolated else dict(values)
            block, behind = self.block(self.params(opening, scope), scope)
            regions.append(block)
            opening = _split_region(behind[:-1].rstrip())[1] if behind else None
        if len(regions) != op.regions:
            self.fail(f"{op.name} has {op.regions} regions, not {len(regions)}")
        inst = Inst(op, args, attrs, types, tuple(regions), loc)
        names = [r.strip().lstrip("%") for r in match["results"].split(",")] if match["results"] else []
        if names and not types:
            self.fail(f"{match['results'].strip()} has no type, which stands at the end of the line: as ... : f32[n]")
        if len(names) != len(types):
            self.fail(f"{_counted(names, 'result')} but {_counted(types, 'type')}")
        for name, result in zip(names, inst.results, strict=True):
            self.define(name, result.type, values, result)
        return inst

    def result_types(self, rest: str) -> tuple[str, tuple[Type, ...]]:
        """Split ``args {attrs} : types``; a colon inside a string does not count."""
        colon = _outside_string(f" {rest}", " : ", last=True)
        if colon < 0:
            return rest, ()
        colon = max(colon - 1, 0)
        return rest[:colon].rstrip(), tuple(self.type(t) for t in split_top(rest[colon:].lstrip(" :")))

    def use(self, text: str, values: dict[str, Value]) -> Value:
        name = text.lstrip("%")
        if not text.startswith("%") or name not in values:
            close = closest(name, values)
            self.fail(f"{text} is not defined here{f': did you mean %{close}?' if close else ''}", text, operand=True)
        return values[name]

    def attrs(self, text: str):
        for part in split_top(text.strip()):
            key, equals, value = part.partition(" = ")
            if not equals:
                self.fail(f"expected an attribute like axis = 1, not {part!r}", part)
            yield key, self.attr(value)

    def attr(self, text: str) -> Attr:
        text = text.strip()
        if text.startswith('"'):
            try:
                return json.loads(text)
            except ValueError:
                self.fail(f"{text} is not a string", text)
        if text.startswith("(") and text.endswith(")") and _closes_at_end(text):
            parts = split_top(text[1:-1])
            # `(n // 2)` is a dimension; tuples of one have a comma.
            if len(parts) != 1:
                return tuple(self.attr(p) for p in parts if p)
        if text in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[text]
        if text.startswith("complex("):
            try:
                real, imag = map(parse_float, split_top(text[8:-1]))
            except ValueError:
                self.fail(f"{text!r} is not a complex number: write complex(1.0, 2.0)", text)
            return complex(real, imag)
        for read in (int, parse_float):
            try:
                return read(text)
            except ValueError:
                pass
        try:
            return parse_dim(text)
        except ValueError:
            self.fail(f"{text!r} is not a constant", text)


def _counted(things: Sequence[object], what: str) -> str:
    return f"{len(things)} {what}{'' if len(things) == 1 else 's'}"


def _closes_at_end(text: str) -> bool:
    depth = 0
    quoted = escaped = False
    for position, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
            continue
        quoted = char == '"'
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0 and position < len(text) - 1:
            return False
    return True


def _outside_string(text: str, what: str, last: bool = False) -> int:
    found = -1
    quoted = False
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and quoted:
            position += 2
            continue
        if char == '"':
            quoted = not quoted
        elif not quoted and text.startswith(what, position):
            found = position
            if not last:
                return found
        position += 1
    return found


def _split_region(text: str) -> tuple[str, str]:
    """Split ``head (params)`` at the parenthesis that opens the parameters."""
    if not text.endswith(")"):
        return text, ""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[position], 0)
        if depth == 0:
            return text[:position].rstrip(), text[position + 1 : -1]
    return text, ""


def parse_function(text: str, file: str = "<ir>") -> Function:
    """Read one function.

    Parameters
    ----------
    text : str
        As :func:`pytocu.ir.printer.print_function` writes it.
    file : str
        Name for error messages.

    Raises
    ------
    CompileError
        With the line of the text that cannot be read.
    """
    return _Parser(text, file).function()

"""Which places of the Python source a line of each form comes from, and which kernel it is part of.

In: texts whose lines end with marks, as the printers write them with ``locs``.  Out: rows, the text without the
mark and the numbers of the instructions.  Instructions that a pass leaves alone keep their number, so equal numbers in
two forms are the same instruction; those that a pass made share the place in the Python source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pytocu.errors import Loc
from pytocu.ir.core import Function, Inst
from pytocu.ir.printer import print_function
from pytocu.record import Record

NO_KERNEL = -1

_IR_MARK = re.compile(r"  # (\d+)$")
_CODE_MARK = re.compile(r"  (?://|;) ([\d ]+)$")
_KERNEL = re.compile(r'^  (?:[^"]* )?(?:kernel|launch) .*\bname = "([^"]*)"')
_PLACE = re.compile(r"\t\.loc\t\d+ (\d+) \d+(?:, function_name .*, inlined_at \d+ (\d+) \d+)?")
_FUNCTION = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([\d, ]+\) )?(\w+)\(|define .*?@("[^"]+"|[\w.$]+)\(')
_LABEL = re.compile(r'"?([A-Za-z_][\w.$]*)"?:')
_DIRECTIVES = ("\t.loc\t", "\t.file\t", "\t.cfi_")


class Row(Record):
    """A line of one form.

    Attributes
    ----------
    text : str
    insts : tuple of int
        Numbers of instructions, see :class:`Places`; of a line of assembly, those of its line of code.
    kernel : int
        The kernel it is part of, in order of launch; :data:`NO_KERNEL` outside.
    line : int
        For assembly the line of code, from 0; -1 where there is none.
    """

    text: str
    insts: tuple[int, ...] = ()
    kernel: int = NO_KERNEL
    line: int = -1


class Places:
    """Numbers for instructions and for their places, in order of first sight.

    Attributes
    ----------
    of : list of int
        For each instruction, by its number, the number of its place.
    """

    def __init__(self) -> None:
        self.of: list[int] = []
        self._insts: dict[Inst, int] = {}
        self._locs: dict[Loc, int] = {}

    def mark(self, inst: Inst) -> str:
        """The number of an instruction as text, for printers."""
        if inst not in self._insts:
            self._insts[inst] = len(self.of)
            self.of.append(self._locs.setdefault(inst.loc, len(self._locs)))
        return str(self._insts[inst])

    @property
    def all(self) -> tuple[Loc, ...]:
        """The places by number; those with the same calls around them are one."""
        return tuple(self._locs)


def ir_rows(function: Function, places: Places, kernels: Sequence[str]) -> tuple[Row, ...]:
    """The lines of a function at array or host level.

    Parameters
    ----------
    function : Function
    places : Places
        Gets what is new.
    kernels : sequence of str
        Names of the kernels in order of launch.

    Examples
    --------
    >>> from pytocu.ir.parser import parse_function
    >>> rows = ir_rows(parse_function("func @f(%x: f32[n]) {\\n  return %x {tree = 0}\\n}"), Places(), [])
    >>> [row.text for row in rows], rows[1].insts
    (['func @f(%x: f32[n]) {', '  return %x {tree = 0}', '}'], (0,))
    """
    rows: list[Row] = []
    inside, end = NO_KERNEL, ""
    for line in print_function(function, places.mark).splitlines():
        found = _IR_MARK.search(line)
        text = line[: found.start()] if found else line
        begins = _KERNEL.match(text)
        if begins:
            name = json.loads(f'"{begins[1]}"')
            inside = kernels.index(name) if name in kernels else NO_KERNEL
            end = f"{text[: len(text) - len(text.lstrip())]}}}"
        rows.append(Row(text, (int(found[1]),) if found else (), inside))
        if text == end:
            inside = NO_KERNEL
    return tuple(rows)


def code_rows(source: str, kernels: Sequence[str]) -> tuple[Row, ...]:
    """The lines of generated code whose statements end with marks.

    Parameters
    ----------
    source : str
        CUDA C or LLVM IR.
    kernels : sequence of str
        What the kernels are called in it, in order of launch.

    Examples
    --------
    >>> code_rows('extern "C" __global__ void f() {\\n    out[i] = 1;  // 3 4\\n}', ["f"])[1]
    Row(text='    out[i] = 1;', insts=(3, 4), kernel=0, line=-1)
    """
    rows: list[Row] = []
    kernel = NO_KERNEL
    for line in source.splitlines():
        found = _CODE_MARK.search(line)
        text = line[: found.start()] if found else line
        begins = _FUNCTION.match(text)
        if begins:
            kernel = _number(begins[1] or begins[2], kernels)
        rows.append(Row(text, tuple(map(int, found[1].split())) if found else (), kernel))
        if text == "}":
            kernel = NO_KERNEL
    return tuple(rows)


def _number(name: str, kernels: Sequence[str]) -> int:
    # The CPU's code has a function of its own for a thread's share of the iterations.
    name = name.strip('"').removesuffix(".share")
    return kernels.index(name) if name in kernels else NO_KERNEL


def assembly_rows(text: str, code: Sequence[Row], kernels: Sequence[str]) -> tuple[Row, ...]:
    """The lines of PTX or assembly with line information, which becomes the rows' `line`.

    What was inlined from a helper function belongs to the statement that calls it.

    Examples
    --------
    >>> assembly_rows("\\t.loc\\t1 1 5\\n\\tret;", [Row("return;", (7,), 0)], ["f"])
    (Row(text='\\tret;', insts=(7,), kernel=0, line=0),)
    """
    rows: list[Row] = []
    at = -1
    inside = NO_KERNEL
    for line in text.split("\t.section\t.debug", 1)[0].rstrip().splitlines():
        place = _PLACE.match(line)
        label = _LABEL.match(line)
        if label:
            inside, at = _number(label[1], kernels), -1
        if place:
            at = int(place[2] or place[1]) - 1
        elif not line.startswith(_DIRECTIVES):
            owner = code[at] if 0 <= at < len(code) and line.startswith("\t") else Row("")
            kernel = owner.kernel if owner.text else inside
            rows.append(Row(line, owner.insts, kernel, at if owner.text else -1))
        if line.startswith(("}", ".visible", "//", ".Lfunc_end")):
            at, inside = -1, NO_KERNEL
    return tuple(rows)


def sass_rows(text: str, kernels: Sequence[str]) -> tuple[Row, ...]:
    """The lines of a GPU's machine code, which say of which kernel they are and nothing else.

    Examples
    --------
    >>> sass_rows(".text.f:\\n        EXIT ;", ["f"])[1].kernel
    0
    """
    rows: list[Row] = []
    kernel = NO_KERNEL
    for line in text.splitlines():
        begins = re.match(r"\.text\.([\w$.]+):", line)
        kernel = _number(begins[1], kernels) if begins else kernel
        rows.append(Row(line, (), kernel))
    return tuple(rows)

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
_C_MARK = re.compile(r"  // ([\d ]+)$")
_KERNEL = re.compile(r'^  (?:[^"]* )?(?:kernel|launch) .*\bname = "([^"]*)"')
_PTX_PLACE = re.compile(r"\t\.loc\t\d+ (\d+) \d+(?:, function_name .*, inlined_at \d+ (\d+) \d+)?$")


class Row(Record):
    """A line of one form.

    Attributes
    ----------
    text : str
    insts : tuple of int
        Numbers of instructions, see :class:`Places`; of a line of PTX, those of its line of CUDA C.
    kernel : int
        The kernel it is part of, in order of launch; :data:`NO_KERNEL` outside.
    line : int
        For PTX the line of CUDA C, from 0; -1 where there is none.
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
    inside = NO_KERNEL
    for line in print_function(function, places.mark).splitlines():
        found = _IR_MARK.search(line)
        text = line[: found.start()] if found else line
        begins = _KERNEL.match(text)
        if begins:
            name = json.loads(f'"{begins[1]}"')
            inside = kernels.index(name) if name in kernels else NO_KERNEL
        rows.append(Row(text, (int(found[1]),) if found else (), inside))
        if text == "  }":
            inside = NO_KERNEL
    return tuple(rows)


def cuda_rows(source: str) -> tuple[Row, ...]:
    """The lines of CUDA C whose statements end with marks.

    Examples
    --------
    >>> cuda_rows('extern "C" __global__ void f() {\\n    out[i] = 1;  // 3 4\\n}')[1]
    Row(text='    out[i] = 1;', insts=(3, 4), kernel=0, line=-1)
    """
    rows: list[Row] = []
    kernel, inside = NO_KERNEL, False
    for line in source.splitlines():
        found = _C_MARK.search(line)
        text = line[: found.start()] if found else line
        if text.startswith('extern "C" __global__'):
            kernel, inside = kernel + 1, True
        rows.append(Row(text, tuple(map(int, found[1].split())) if found else (), kernel if inside else NO_KERNEL))
        inside = inside and text != "}"
    return tuple(rows)


def ptx_rows(ptx: str, cuda: Sequence[Row]) -> tuple[Row, ...]:
    """The lines of PTX with line information, which becomes the rows' `line`.

    What was inlined from a helper function belongs to the statement that calls it.

    Examples
    --------
    >>> ptx_rows("\\t.loc\\t1 1 5\\n\\tret;", [Row("return;", (7,), 0)])
    (Row(text='\\tret;', insts=(7,), kernel=0, line=0),)
    """
    rows: list[Row] = []
    at = -1
    for line in ptx.split("\t.section\t.debug", 1)[0].rstrip().splitlines():
        place = _PTX_PLACE.match(line)
        if place:
            at = int(place[2] or place[1]) - 1
        elif not line.startswith(("\t.loc\t", "\t.file\t")):
            owner = cuda[at] if 0 <= at < len(cuda) and line.startswith("\t") else Row("")
            rows.append(Row(line, owner.insts, owner.kernel, at if owner.text else -1))
        if line.startswith(("}", ".visible", "//")):
            at = -1
    return tuple(rows)

"""Line information for LLVM IR text: debug metadata behind each instruction, so that what a compiler makes of it names lines.

In: a module as the backends write it, one instruction a line.  Out: the same lines with a place behind each instruction,
and the metadata that the places stand in.  A place is a line of the user's file (`Places`, while the text is written), or
the line of the text itself (`with_lines`).
"""

from __future__ import annotations

import re

from pytocu.backend.names import file_name
from pytocu.errors import Loc

_FUNCTION = r"define .*?@([^( ]+)\(.*\{$"
_FIRST = 1000000
"""Numbers of metadata from here on are free: a backend's own are few."""


class Places:
    """Debug metadata of a module, which grows as places are asked for.

    Examples
    --------
    >>> places = Places()
    >>> places.begin("shade", Loc("image.py", 4))
    ' !dbg !1000003'
    >>> places.of(Loc("image.py", 5, 9)), places.of(Loc("image.py", 5, 9)), places.of(Loc("noise.py", 2))
    (', !dbg !1000004', ', !dbg !1000004', ', !dbg !1000007')
    """

    def __init__(self) -> None:
        self._count = _FIRST
        self._notes: list[str] = []
        self._numbers: dict[str, str] = {}
        self._unit = self._types = self._scope = self._file = ""

    def begin(self, function: str, loc: Loc) -> str:
        """A function begins at a place: what stands behind its head."""
        file = self._file_of(loc)
        if not self._unit:
            # LLVM wants one unit of a module; its file is that of the first function.
            self._unit = self._note(
                f'distinct !DICompileUnit(language: DW_LANG_C99, file: {file}, producer: "pytocu", isOptimized: true, '
                "runtimeVersion: 0, emissionKind: DebugDirectivesOnly)"
            )
            self._types = self._note("!DISubroutineType(types: !{})")
        self._scope = self._note(
            f"distinct !DISubprogram(name: {_quoted(function)}, scope: {file}, file: {file}, line: {loc.line}, "
            f"type: {self._types}, isLocal: false, isDefinition: true, scopeLine: {loc.line}, isOptimized: true, "
            f"unit: {self._unit})"
        )
        self._file = file
        return f" !dbg {self._scope}"

    def of(self, loc: Loc) -> str:
        """What stands behind an instruction that comes from a place."""
        scope, file = self._scope, self._file_of(loc)
        if file != self._file:
            scope = self._once(f"distinct !DILexicalBlockFile(scope: {scope}, file: {file}, discriminator: 0)")
        return f", !dbg {self._once(f'!DILocation(line: {loc.line}, column: {loc.column}, scope: {scope})')}"

    def metadata(self) -> list[str]:
        """The lines behind the module; none where nothing was asked for."""
        if not self._unit:
            return []
        flag = self._note('!{i32 2, !"Debug Info Version", i32 3}')
        return [f"!llvm.dbg.cu = !{{{self._unit}}}", f"!llvm.module.flags = !{{{flag}}}", *self._notes]

    def _file_of(self, loc: Loc) -> str:
        return self._once(f'!DIFile(filename: {_quoted(loc.file)}, directory: "")')

    def _once(self, text: str) -> str:
        if text not in self._numbers:
            self._numbers[text] = self._note(text)
        return self._numbers[text]

    def _note(self, text: str) -> str:
        self._notes.append(f"!{self._count} = {text}")
        self._count += 1
        return f"!{self._count - 1}"


def _quoted(text: str) -> str:
    """As LLVM writes a string."""
    return '"' + "".join(chr(byte) if byte < 128 else f"\\{byte:02X}" for byte in file_name(text).encode()) + '"'


def with_lines(source: str, file: str = "kernels.ll") -> str:
    """A module with line information of its own text.

    Parameters
    ----------
    source : str
        One instruction a line, as the backends write it.
    file : str
        The name that stands for the text.

    Examples
    --------
    >>> print(with_lines("define void @f() {\\nentry:\\n  ret void\\n}").split("}")[0])
    define void @f() !dbg !1000003 {
    entry:
      ret void, !dbg !1000004
    <BLANKLINE>
    """
    lines: list[str] = []
    places, inside = Places(), False
    for number, line in enumerate(source.splitlines(), 1):
        begins = re.match(_FUNCTION, line)
        if begins:
            line, inside = f"{line[:-2]}{places.begin(begins[1], Loc(file, number))} {{", True
        elif line == "}":
            inside = False
        elif inside and line.startswith("  "):
            line += places.of(Loc(file, number))
        lines.append(line)
    return "\n".join([*lines, *places.metadata()]) + "\n"

"""Line information for LLVM IR text: each instruction's line is its own in the text.

In: a module as the backends write it.  Out: the same lines with a debug location behind each instruction, and
metadata behind them, so that assembly and PTX name the lines of the text they were made of.
"""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"define .*\{$")
_FIRST = 1000000
"""Numbers of metadata from here on are free: a backend's own are few."""


def with_lines(source: str, versions: tuple[int, ...] = (), file: str = "kernels.ll") -> str:
    """A module with line information.

    Parameters
    ----------
    source : str
        One instruction a line, as the backends write it.
    versions : tuple of int
        For NVVM IR, the versions of its instructions and of its debug metadata.
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
    if versions:
        source = source.replace("!{i32 2, i32 0}", f"!{{{', '.join(f'i32 {v}' for v in versions)}}}")
    lines: list[str] = []
    unit, place, types, number = (f"!{_FIRST + n}" for n in range(4))
    notes = [
        f'{unit} = distinct !DICompileUnit(language: DW_LANG_C99, file: {place}, producer: "pytocu", isOptimized: true, '
        "runtimeVersion: 0, emissionKind: LineTablesOnly)",
        f'{place} = !DIFile(filename: "{file}", directory: "")',
        f"{types} = !DISubroutineType(types: !{{}})",
    ]
    count = _FIRST + 3
    scope = ""
    for line_number, line in enumerate(source.splitlines(), 1):
        if _FUNCTION.match(line):
            number = scope = f"!{count}"
            notes.append(
                f'{number} = distinct !DISubprogram(name: "f{line_number}", scope: {place}, file: {place}, '
                f"line: {line_number}, type: {types}, isLocal: false, isDefinition: true, scopeLine: {line_number}, "
                f"isOptimized: true, unit: {unit})"
            )
            line = f"{line[:-1]}!dbg {number} {{"
            count += 1
        elif line == "}":
            scope = ""
        elif scope and line.startswith("  "):
            line = f"{line}, !dbg !{count}"
            notes.append(f"!{count} = !DILocation(line: {line_number}, column: 1, scope: {scope})")
            count += 1
        lines.append(line)
    flags = [f"!llvm.dbg.cu = !{{{unit}}}", f"!llvm.module.flags = !{{!{count}}}"]
    flags.append(f'!{count} = !{{i32 2, !"Debug Info Version", i32 3}}')
    return "\n".join([*lines, *flags, *notes]) + "\n"

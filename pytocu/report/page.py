"""The page: all forms of a function in one file of HTML, which needs no network."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytocu import config
from pytocu.ahead import Ahead
from pytocu.backend import cpu, cuda_c, llvm, nvrtc, nvvm, sass
from pytocu.backend.llvm_debug import with_lines
from pytocu.config import VERSION
from pytocu.driver import Lowered
from pytocu.errors import BackendError
from pytocu.explain import words
from pytocu.explain.collect import explanation
from pytocu.explain.model import Explanation, Kernel
from pytocu.explain.stages import Stage as FunctionStage
from pytocu.explain.stages import stages, subject_of
from pytocu.explain.words import shown as shown_bytes
from pytocu.ir.core import Function, Inst, walk
from pytocu.passes.context import Target, parse_target
from pytocu.planning import kernel_functions, launches, names_in_module
from pytocu.record import Record
from pytocu.report.drawing import draw
from pytocu.report.graph import Graph, plan_graph
from pytocu.report.places import Places, Row, assembly_rows, code_rows, ir_rows, sass_rows
from pytocu.report.sources import expression, source_lines

MOST_LINES = 12
"""Expressions a kernel's box shows."""


class Stage(Record):
    """The function after a pass that changed it."""

    name: str
    doc: str
    rows: tuple[Row, ...]


class Form(Record):
    """The code of a backend, and what its compiler makes of it.

    Attributes
    ----------
    name, language : str
        ``CUDA C`` and how it is coloured.
    code : tuple of Row
    made, made_language : str
        ``PTX``.
    assembly : tuple of Row
    missing : str
        Why there is no assembly; empty where there is.
    """

    name: str
    language: str
    code: tuple[Row, ...]
    made: str
    made_language: str
    assembly: tuple[Row, ...]
    missing: str = ""


class Report(Record):
    """What the page shows.

    Attributes
    ----------
    title, signature, target : str
    stages : tuple of Stage
        ``lower`` first, then the passes that changed the text.
    forms : tuple of Form
        The code of each backend of the target.
    told : Explanation
        What there is to say about the kernels.
    places : Places
    graph : Graph
    """

    title: str
    signature: str
    target: str
    stages: tuple[Stage, ...]
    forms: tuple[Form, ...]
    told: Explanation
    places: Places
    graph: Graph

    def form(self, name: str) -> Form:
        """The code of a backend by its name, as ``CUDA C``."""
        return next(form for form in self.forms if form.name == name)


def html_report(lowered: Lowered, target: str | Target = "cuda:sm_90", backend: str | None = None) -> str:
    """One file of HTML: the plan as a picture, and source, IR, code and assembly with what belongs together linked.

    Parameters
    ----------
    lowered : Lowered
    target : str
        A CUDA architecture, which needs no GPU, or ``cpu``.
    backend : str, optional
        The one that is shown first, and of which registers are told; those of the other one are shown on request.

    Returns
    -------
    str
        The same text for the same function and versions.

    Raises
    ------
    BackendError
        The target is no CUDA architecture.

    Examples
    --------
    >>> import pytocu
    >>> page = html_report(pytocu.jit(lambda x: x + 1).lower("f32[n]"))
    >>> page.startswith("<!DOCTYPE html>"), "http:" in page or "https:" in page
    (True, False)
    """
    return render(collect(lowered, target, backend))


def collect(lowered: Lowered, target: str | Target = "cuda:sm_90", backend: str | None = None) -> Report:
    """What the page shows, as data; parameters and errors as :func:`html_report`."""
    parsed = parse_target(target)
    if parsed.kind == "cuda" and not parsed.arch:
        raise BackendError(f"the page shows code for an architecture: name one such as cuda:sm_90, not {target}")
    found = {s.name: s for s in stages(subject_of(lowered), parsed, check=config.enabled("check"))}
    host = list(found.values())[-1].function
    names = tuple(launch.attr("name") for launch in launches(host))
    places = Places()
    # The compilers are at work while the rest is written.
    begun = [begin for begin in _FORMS[parsed.kind] if names and (begin is not _sass or shutil.which(sass.TOOL))]
    finished = [begin(lowered.name, host, parsed, places) for begin in begun]
    shown = _stages(list(found.values()), places, names)
    told = explanation(lowered, parsed, backend, found=found)
    forms = tuple(form() for form in finished)
    if backend is not None:
        forms = tuple(sorted(forms, key=lambda form: form.name != _NAMES[told.backend]))
    graph = plan_graph(host, {(k.name, a.name): shown_bytes(a.bytes) for k in told.kernels for a in (*k.reads, *k.writes)})
    _describe(graph, found["schedule"].function, told)
    signature = ", ".join(told.types)
    return Report(lowered.name, signature, told.target, shown, forms, told, places, graph)


def _stages(found: Sequence[FunctionStage], places: Places, kernels: Sequence[str]) -> tuple[Stage, ...]:
    """The passes that changed the text."""
    shown: list[Stage] = []
    before: Function | None = None
    for stage in found:
        if stage.function is before:
            continue
        before = stage.function
        rows = ir_rows(stage.function, places, kernels)
        if not shown or [r.text for r in rows] != [r.text for r in shown[-1].rows]:
            shown.append(Stage(stage.name, stage.sentence, rows))
    return tuple(shown)


def _written(code: Sequence[Row]) -> str:
    return "\n".join(row.text for row in code) + "\n"


def _assembled(ahead: Ahead[str], code: Sequence[Row], kernels: Sequence[str]) -> tuple[tuple[Row, ...], str]:
    """The assembly, or why there is none."""
    try:
        return assembly_rows(ahead.result(), code, kernels), ""
    except BackendError as error:
        return (), str(error).splitlines()[0]


def _names(host: Function, kind: str) -> tuple[list[Function], list[str]]:
    """The kernels, and what they are called in their module, in order of launch."""
    functions = list(kernel_functions(host))
    names = names_in_module(functions, kind)
    return functions, [names[launch.attr("name")] for launch in launches(host)]


def _cuda_c(name: str, host: Function, target: Target, places: Places) -> Callable[[], Form]:
    functions, kernels = _names(host, "cuda")
    code = code_rows(cuda_c.emit(functions, marks=places.mark), kernels)
    made = Ahead(nvrtc.ptx, _written(code), target.arch, name, True)
    return lambda: Form("CUDA C", "cuda", code, "PTX", "ptx", *_assembled(made, code, kernels))


def _nvvm(name: str, host: Function, target: Target, places: Places) -> Callable[[], Form]:
    functions, kernels = _names(host, "cuda")
    code = code_rows(nvvm.emit(functions, marks=places.mark), kernels)

    def compiled() -> str:
        return nvvm.ptx(with_lines(_written(code)), target.arch, name, lineinfo=True)

    made = Ahead(compiled)
    return lambda: Form("NVVM IR", "llvm", code, "PTX", "ptx", *_assembled(made, code, kernels))


def _sass(name: str, host: Function, target: Target, places: Places) -> Callable[[], Form]:
    """The machine code of what NVVM IR becomes, beside it."""
    functions, kernels = _names(host, "cuda")
    code = code_rows(nvvm.emit(functions, marks=places.mark), kernels)

    def form() -> Form:
        try:
            text = sass.disassemble(nvvm.build(_written(code), target.arch, name))
        except BackendError as error:
            return Form("NVVM IR and SASS", "llvm", code, "SASS", "asm", (), str(error).splitlines()[0])
        return Form("NVVM IR and SASS", "llvm", code, "SASS", "asm", sass_rows(text, kernels))

    return form


def _llvm(name: str, host: Function, target: Target, places: Places) -> Callable[[], Form]:
    functions, kernels = _names(host, "cpu")
    code = code_rows(llvm.emit(functions, marks=places.mark), kernels)
    text = with_lines(_written(code))
    made = cpu.assembly(text) if functions else ""
    return lambda: Form("LLVM IR", "llvm", code, "Assembly", "asm", assembly_rows(made, code, kernels))


_FORMS = {"cuda": (_cuda_c, _nvvm, _sass), "cpu": (_llvm,)}
_NAMES = {"cuda_c": "CUDA C", "nvvm": "NVVM IR", "llvm": "LLVM IR"}


def _describe(graph: Graph, scheduled: Function, told: Explanation) -> None:
    """Write into each kernel's box the expressions that it computes, which of them again, and whether a loop launches it."""
    kernels = told.kernels
    again = {(name, f"{one.at.line}: {one.expression}") for one in told.repeated for name in one.kernels[1:]}
    regions = {i.attr("name"): i for i in launches(scheduled)}
    for node in graph.nodes:
        if node.kind == "kernel" and node.title in regions:
            if any(around.holds is None for around in kernels[node.kernel].within):
                node.detail += ", in each step"
            lines = [f"{x} (again)" if (node.title, x) in again else x for x in _expressions(regions[node.title])]
            rest = len(lines) - MOST_LINES
            node.lines += lines[:MOST_LINES] + ([f"and {rest} more"] if rest > 0 else [])


def _expressions(kernel: Inst) -> list[str]:
    """What a kernel computes, an expression once, with its line."""
    locs = {i.loc for i in walk(kernel.regions[0]) if i.op.kind in ("elementwise", "reduce", "scan") and i.loc.line}
    ordered = sorted(locs, key=lambda loc: (loc.file, loc.line, loc.end_column, -loc.column))
    return list(dict.fromkeys(f"{loc.line}: {expression(loc)}" for loc in ordered))


# HTML.


@lru_cache(maxsize=4)
def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _rows(rows: Sequence[Row]) -> list[list[Any]]:
    return [[row.text, list(row.insts), row.kernel, row.line] for row in rows]


def _data(report: Report) -> dict[str, Any]:
    places = report.places.all
    lines = source_lines(places)
    files = list(dict.fromkeys(line.file for line in lines))
    number = {file: n for n, file in enumerate(files)}

    def spans(loc: Any) -> list[list[int]]:
        chain = [place for place in loc.chain() if place.file in number]
        return [[number[place.file], place.line, place.column, place.end_column] for place in chain]

    return {
        # Two files may have one name, but folders are nobody's affair who is sent the page.
        "files": [os.path.basename(file) for file in files],
        "places": [spans(loc) for loc in places],
        "of": report.places.of,
        "python": [[number[line.file], line.line, line.text] for line in lines],
        "stages": [{"name": s.name, "doc": s.doc, "rows": _rows(s.rows)} for s in report.stages],
        "forms": [
            {
                "name": form.name,
                "language": form.language,
                "rows": _rows(form.code),
                "made": form.made,
                "madeLanguage": form.made_language,
                "assembly": _rows(form.assembly),
                "missing": form.missing,
            }
            for form in report.forms
        ],
    }


def render(report: Report) -> str:
    """The page of what was collected."""
    # What closes a script element must not stand in one.
    data = json.dumps(_data(report), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    launched = len(report.told.kernels)
    count = len({kernel.name for kernel in report.told.kernels})
    shown = f"{count} kernel{'' if count == 1 else 's'}" + (f", launched at {launched} places" if launched > count else "")
    languages = " and ".join(dict.fromkeys(form.name for form in report.forms)) or "code"
    fields = {
        "CODE": html.escape(languages),
        "TITLE": html.escape(report.title),
        "SIGNATURE": html.escape(f"{report.title}({report.signature})"),
        "ABOUT": html.escape(f"{report.target} · {shown} · pytocu {VERSION}"),
        "GRAPH": draw(report.graph),
        "KERNELS": _table(report.told.kernels),
        "WORDS": words.html(report.told),
        "STYLE": _part("report.css"),
        "SCRIPT": _part("report.js"),
        "DATA": data,
    }
    page = _part("report.html")
    pieces = page.split("@@")
    return "".join(fields[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _table(kernels: Sequence[Kernel]) -> str:
    """A row a kernel; why it is one of its own is said where there are several."""
    own = ("why a kernel of its own",) if len(kernels) > 1 else ()
    heads = ("kernel", "schedule", "moves", "expected share of a copy's speed", "takes", *own)
    rows: list[str] = []
    for number, kernel in enumerate(kernels):
        taken = kernel.taken
        registers = "" if taken is None else f"{taken.registers} registers, " + (
            f"{taken.local_bytes} bytes of spills" if taken.local_bytes else "no spills"
        )
        share = words.expected(kernel).partition(" of the speed of a copy is expected")
        share = f"{share[0]}{share[2]}"
        texts = (f"{kernel.schedule}: {kernel.how}", shown_bytes(kernel.bytes), share, registers, kernel.why)
        cells = "".join(f"<td>{html.escape(text)}</td>" for text in texts[: len(heads) - 1])
        rows.append(f'<tr><th scope="row"><span class="dot k{number % 8}"></span>{html.escape(kernel.name)}</th>{cells}</tr>')
    head = "".join(f"<th>{html.escape(name, quote=False)}</th>" for name in heads)
    return "\n".join((f"<thead><tr>{head}</tr></thead>", "<tbody>", *rows, "</tbody>"))

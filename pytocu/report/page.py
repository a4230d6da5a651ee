"""The page: all forms of a function in one file of HTML, which needs no network."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytocu.backend import cuda_c, nvrtc
from pytocu.config import VERSION
from pytocu.driver import Lowered
from pytocu.errors import BackendError
from pytocu.explain import words
from pytocu.explain.collect import explanation
from pytocu.explain.model import Explanation, Kernel
from pytocu.explain.words import shown
from pytocu.ir.core import Function, Inst, walk
from pytocu.passes.context import Target, parse_target
from pytocu.passes.pipeline import PIPELINE, pass_names
from pytocu.planning import kernel_function, launches
from pytocu.record import Record
from pytocu.report.drawing import draw
from pytocu.report.graph import Graph, plan_graph
from pytocu.report.places import Places, Row, cuda_rows, ir_rows, ptx_rows
from pytocu.report.sources import expression, source_lines

MOST_LINES = 12
"""Expressions a kernel's box shows."""


class Stage(Record):
    """The function after a pass that changed it."""

    name: str
    doc: str
    rows: tuple[Row, ...]


class Report(Record):
    """What the page shows.

    Attributes
    ----------
    title, signature, target : str
    stages : tuple of Stage
        ``lower`` first, then the passes that changed the text.
    cuda, ptx : tuple of Row
    missing : str
        Why there is no PTX; empty where there is.
    told : Explanation
        What there is to say about the kernels.
    places : Places
    graph : Graph
    """

    title: str
    signature: str
    target: str
    stages: tuple[Stage, ...]
    cuda: tuple[Row, ...]
    ptx: tuple[Row, ...]
    missing: str
    told: Explanation
    places: Places
    graph: Graph


def html_report(lowered: Lowered, target: str | Target = "cuda:sm_90") -> str:
    """One file of HTML: the plan as a picture, and source, IR, CUDA C and PTX with what belongs together linked.

    Parameters
    ----------
    lowered : Lowered
    target : str
        A CUDA architecture; needs no GPU.

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
    return render(collect(lowered, target))


def collect(lowered: Lowered, target: str | Target = "cuda:sm_90") -> Report:
    """What the page shows, as data; parameters and errors as :func:`html_report`."""
    parsed = parse_target(target)
    if parsed.kind != "cuda" or not parsed.arch:
        raise BackendError(f"the page shows CUDA C and PTX: name an architecture such as cuda:sm_90, not {target}")
    records = lowered.history(parsed).records
    host = records[-1].function
    names = tuple(launch.attr("name") for launch in launches(host))
    places = Places()
    stages = _stages(lowered.function, [(r.name, r.function) for r in records], places, names)
    cuda, ptx, missing = _code(lowered, host, parsed, places)
    told = explanation(lowered, parsed, "cuda_c")
    graph = plan_graph(host, {(k.name, a.name): shown(a.bytes) for k in told.kernels for a in (*k.reads, *k.writes)})
    _describe(graph, next((r.function for r in records if r.name == "fuse"), host))
    signature = ", ".join(told.types)
    return Report(lowered.name, signature, told.target, stages, cuda, ptx, missing, told, places, graph)


def _stages(
    first: Function, records: Sequence[tuple[str, Function]], places: Places, kernels: Sequence[str]
) -> tuple[Stage, ...]:
    sentences = dict(zip(pass_names(), (p.doc for p in PIPELINE), strict=True))
    sentences["lower"] = "The front end reads the Python source."
    stages: list[Stage] = []
    for name, function in (("lower", first), *records):
        rows = ir_rows(function, places, kernels)
        if not stages or [r.text for r in rows] != [r.text for r in stages[-1].rows]:
            stages.append(Stage(name, sentences[name], rows))
    return tuple(stages)


def _code(
    lowered: Lowered, host: Function, target: Target, places: Places
) -> tuple[tuple[Row, ...], tuple[Row, ...], str]:
    """Lines of CUDA C and of PTX, and why there is no PTX if there is none."""
    functions = tuple(kernel_function(host, launch) for launch in launches(host))
    if not functions:
        return (), (), "No kernel: the plan has only views and values of the host."
    cuda = cuda_rows(cuda_c.emit(functions, marks=places.mark))
    source = "\n".join(row.text for row in cuda) + "\n"
    try:
        ptx = nvrtc.ptx(source, target.arch, lowered.name, ("--generate-line-info",))
    except BackendError as error:
        return cuda, (), str(error).splitlines()[0]
    return cuda, ptx_rows(ptx, cuda), ""


def _describe(graph: Graph, fused: Function) -> None:
    """Write into each kernel's box the expressions of the source that it computes."""
    regions = {i.attr("name"): i for i in fused.body.insts if i.op.name == "kernel"}
    for node in graph.nodes:
        if node.kind == "kernel" and node.title in regions:
            lines = _expressions(regions[node.title])
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
        "cuda": _rows(report.cuda),
        "ptx": _rows(report.ptx),
        "missing": report.missing,
    }


def render(report: Report) -> str:
    """The page of what was collected."""
    # What closes a script element must not stand in one.
    data = json.dumps(_data(report), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    count = len(report.told.kernels)
    fields = {
        "TITLE": html.escape(report.title),
        "SIGNATURE": html.escape(f"{report.title}({report.signature})"),
        "ABOUT": html.escape(f"{report.target} · {count} kernel{'' if count == 1 else 's'} · pytocu {VERSION}"),
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
    rows: list[str] = []
    for number, kernel in enumerate(kernels):
        taken = kernel.taken
        registers = "" if taken is None else f"{taken.registers} registers, " + (
            f"{taken.local_bytes} bytes of spills" if taken.local_bytes else "no spills"
        )
        share = "" if kernel.expected is None else f"{kernel.expected:.2f}, limited by {kernel.limited_by}"
        texts = (f"{kernel.schedule}: {kernel.how}", shown(kernel.bytes), share, registers, kernel.why)
        cells = "".join(f"<td>{html.escape(text)}</td>" for text in texts)
        rows.append(f'<tr><th scope="row"><span class="dot k{number % 8}"></span>{html.escape(kernel.name)}</th>{cells}</tr>')
    return "\n".join(rows)

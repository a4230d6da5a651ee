"""The page of HTML: rows and their links, the graph of the plan, and the file as a whole."""

from __future__ import annotations

import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_programs as programs

import pytocu
from pytocu.backend import cuda_c, nvvm
from pytocu.backend.llvm_debug import with_lines
from pytocu.errors import BackendError, Loc
from pytocu.ir.printer import print_function
from pytocu.planning import kernel_function, launches
from pytocu.report import page
from pytocu.report.drawing import draw, layers_of
from pytocu.report.graph import Edge, Graph, Node, plan_graph
from pytocu.report.places import assembly_rows, code_rows
from pytocu.report.sources import expression, source_lines


def lowered(function: Any, *types: Any) -> Any:
    return pytocu.jit(function).lower(*types)


@pytest.fixture(scope="module")
def standard() -> page.Report:
    return page.collect(lowered(programs.standard, "f32[n, m]", "f32[m]"))


@pytest.fixture(scope="module")
def damped() -> page.Report:
    return page.collect(lowered(programs.damped, "f32[n]", "f32[n]"))


def rows_with(rows: Any, text: str) -> list[Any]:
    found = [row for row in rows if text in row.text]
    assert found, text
    return found


def places(report: page.Report, row: Any) -> set[str]:
    return {expression(report.places.all[report.places.of[inst]]) for inst in row.insts}


def test_rows_are_the_text_that_is_printed_and_built() -> None:
    low = lowered(programs.standard, "f32[n, m]", "f32[m]")
    report = page.collect(low)
    host = low.host("cuda")
    assert "\n".join(r.text for r in report.stages[0].rows) == print_function(low.function)
    assert "\n".join(r.text for r in report.stages[-1].rows) == print_function(host)
    source = "\n".join(r.text for r in report.form("CUDA C").code) + "\n"
    assert source == cuda_c.emit([kernel_function(host, i) for i in launches(host)])


def test_stages_are_the_passes_that_changed_something(standard: page.Report) -> None:
    names = [stage.name for stage in standard.stages]
    assert names[0] == "lower" and {"infer-types", "fuse", "bufferize", "lower-loops"} <= set(names) and "fastmath" not in names
    texts = [[r.text for r in stage.rows] for stage in standard.stages]
    assert all(a != b for a, b in itertools.pairwise(texts))


def test_a_statement_of_cuda_c_has_the_instructions_it_computes(damped: page.Report) -> None:
    chosen = rows_with(damped.form("CUDA C").code, "? faded")
    assert len(chosen) == 2
    selected = {"np.where(faded > y, faded, wave)", "faded > y"}
    # In the loop of vectors the sign of the cosine is part of the statement.
    assert [places(damped, row) for row in chosen] == [selected | {"np.cos(y)"}, selected]
    # Of vectors, of lanes one by one where an angle is large, and of the elements behind the vectors.
    (of_vectors, _, _) = rows_with(damped.form("CUDA C").code, "* 2.5f")
    assert "expf(-x_vector" in of_vectors.text
    assert places(damped, of_vectors) == {"np.exp(-x) * 2.5", "np.exp(-x)", "-x"}


def test_instructions_are_the_same_in_the_last_ir_and_in_cuda_c(standard: page.Report) -> None:
    computed = {inst for row in standard.stages[-1].rows for inst in row.insts if row.kernel >= 0}
    written = {inst for row in standard.form("CUDA C").code for inst in row.insts}
    assert written <= computed
    # What has no text of its own: returns, constants that were folded into others, loads that nobody uses.
    assert len(written) > 0.9 * len(computed)


@pytest.mark.usefixtures("gpu_compilers")
def test_ptx_belongs_to_the_statement_it_was_made_of(damped: page.Report) -> None:
    assert not damped.form("CUDA C").missing
    multiplications = rows_with(damped.form("CUDA C").assembly, "0f40200000")
    assert all("* 2.5f" in damped.form("CUDA C").code[row.line].text for row in multiplications)
    stores = rows_with(damped.form("CUDA C").assembly, "st.global")
    assert all("out" in damped.form("CUDA C").code[row.line].text for row in stores)
    assert not any(re.match(r"\t\.(loc|file|section)\t", row.text) for row in damped.form("CUDA C").assembly)
    assert any("__local_depot" in row.text for row in damped.form("CUDA C").assembly)


@pytest.mark.usefixtures("gpu_compilers")
def test_nvvm_ir_has_its_own_ptx(damped: page.Report) -> None:
    form = damped.form("NVVM IR")
    host = lowered(programs.damped, "f32[n]", "f32[n]").host("cuda")
    assert "\n".join(r.text for r in form.code) + "\n" == nvvm.emit([kernel_function(host, i) for i in launches(host)])
    chosen = rows_with(form.code, " = select i1 ")
    assert any(places(damped, row) == {"np.where(faded > y, faded, wave)"} for row in chosen)
    assert not form.missing
    stores = rows_with(form.assembly, "st.global")
    assert all(form.code[row.line].text.lstrip().startswith("store ") for row in stores)
    assert all(row.kernel == 0 for row in stores)
    assert not any(", debug" in row.text or "\t.loc\t" in row.text for row in form.assembly)


@pytest.mark.usefixtures("gpu_compilers")
def test_older_architectures_get_no_instruction_that_they_do_not_have() -> None:
    low = lowered(programs.heat, "f64[n]", "weak int")
    for arch, waits in (("sm_80", False), ("sm_90", True)):
        form = page.collect(low, f"cuda:{arch}").form("NVVM IR")
        assert not form.missing
        assert any("griddepcontrol.wait" in row.text for row in form.assembly) == waits


@pytest.mark.usefixtures("gpu_compilers")
def test_line_information_leaves_code_as_it_is() -> None:
    source = lowered(programs.damped, "f32[n]", "f32[n]").compile("cuda:sm_90", "nvvm").source
    plain = nvvm.ptx(source, "sm_90", "k")
    told = nvvm.ptx(with_lines(source), "sm_90", "k", lineinfo=True)

    def instructions(text: str) -> list[str]:
        lines = text.split("\t.section")[0].splitlines()
        return [line for line in lines if re.match(r"\t[a-z@]", line)]

    assert instructions(told) == instructions(plain) and len(instructions(plain)) > 50


def test_a_page_for_the_cpu_has_llvm_ir_and_assembly() -> None:
    report = page.collect(lowered(programs.standard, "f32[n, m]", "f32[m]"), "cpu")
    (form,) = report.forms
    assert (form.name, form.made, form.missing) == ("LLVM IR", "Assembly", "")
    root = rows_with(form.code, "@llvm.sqrt.f32(")[0]
    assert "np.sqrt((x * x).mean(axis=1, keepdims=True))" in places(report, root)
    assert sum("sqrtss" in row.text or "fsqrt" in row.text for row in form.assembly) >= 1
    linked = [row for row in form.assembly if row.line >= 0]
    assert len(linked) > 0.5 * len(form.assembly)
    assert {row.kernel for row in linked} == set(range(len(report.told.kernels)))
    text = page.render(report)
    assert "from Python to LLVM IR" in text and "http" not in text


def test_the_backend_that_is_asked_for_comes_first() -> None:
    report = page.collect(lowered(programs.damped, "f32[n]", "f32[n]"), backend="nvvm")
    assert [form.name for form in report.forms][:2] == ["NVVM IR", "CUDA C"] and report.told.backend == "nvvm"


def test_machine_code_is_shown_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page.shutil, "which", lambda name: name)
    monkeypatch.setattr(page.nvvm, "build", lambda *arguments: b"")
    monkeypatch.setattr(page.sass, "disassemble", lambda cubin: "\t.section .text\n.text.damped:\n        /*0000*/ EXIT ;")
    form = page.collect(lowered(programs.damped, "f32[n]", "f32[n]")).form("NVVM IR and SASS")
    assert form.made == "SASS" and form.assembly[-1].kernel == 0 and form.assembly[0].kernel == -1


def test_kernels_inside_loops_have_their_lines() -> None:
    report = page.collect(lowered(programs.heat, "f64[n]", "weak int"))
    assert [k.name for k in report.told.kernels] == ["heat_0", "heat_1"]
    rows = report.stages[-1].rows
    (loop,) = [n for n, row in enumerate(rows) if " for_loop " in row.text]
    (inside,) = [n for n, row in enumerate(rows) if 'name = "heat_1"' in row.text]
    assert loop < inside and rows[inside].kernel == 1 and rows[-1].kernel == -1
    assert any(row.kernel == 1 and " store " in row.text for row in rows)
    assert rows[inside - 1].kernel == -1


def test_inlined_ptx_belongs_to_the_call() -> None:
    cuda = code_rows("int helper() {\n    return 1;\n}\n    x = helper();  // 3", [])
    text = "\t.loc\t1 2 5, function_name $L__info_string0, inlined_at 1 4 9\n\tmov.u32 %r1, 1;\n"
    assert [(row.line, row.insts) for row in assembly_rows(text, cuda, [])] == [(3, (3,))]


def test_a_kernel_that_is_launched_at_several_places_is_one() -> None:
    """As `explain` says."""

    def heat(u, steps):
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    lowered = pytocu.jit(heat).lower("f64[n]", "weak int")
    assert "2 kernels, launched at 4 places · pytocu" in page.html_report(lowered)
    assert ": 2 kernels\n" in str(pytocu.jit(heat).explain("f64[n]", "weak int"))


def test_kernels_have_their_lines(standard: page.Report) -> None:
    assert len(standard.told.kernels) == 3
    for number, name in enumerate(k.name for k in standard.told.kernels):
        of_cuda = [row.text for row in standard.form("CUDA C").code if row.kernel == number]
        assert f" {name}(" in of_cuda[0] and of_cuda[-1] == "}"
        fused = next(stage for stage in standard.stages if stage.name == "fuse")
        assert any(f'name = "{name}"' in row.text for row in fused.rows if row.kernel == number)
        if not standard.form("CUDA C").missing:
            assert any("ret;" in row.text for row in standard.form("CUDA C").assembly if row.kernel == number)


def test_inlined_functions_are_shown_with_their_callers(standard: page.Report) -> None:
    texts = [line.text for line in source_lines(standard.places.all)]
    assert "def scaled(x, weight):" in texts and "    y = scaled(x, weight)" in texts and None in texts
    assert not any("def relax" in (text or "") for text in texts)
    root = rows_with(standard.stages[0].rows, "sqrt")[0]
    (loc,) = {standard.places.all[standard.places.of[inst]] for inst in root.insts}
    assert [expression(place) for place in loc.chain()] == ["np.sqrt((x * x).mean(axis=1, keepdims=True))", "scaled(x, weight)"]


def test_source_of_a_file_that_is_not_python(tmp_path: Path) -> None:
    file = tmp_path / "cell.py"
    file.write_text("%magic\na = 1\nb = 2\nc = 3\n")
    lines = source_lines([Loc(str(file), 2), Loc(str(file), 3), Loc(str(file), 0)])
    assert [(line.line, line.text) for line in lines] == [(2, "a = 1"), (3, "b = 2")]


# The graph.


def shown(graph: Graph) -> list[tuple[str, str, str]]:
    return [(graph.nodes[e.source].title, graph.nodes[e.target].title, e.label) for e in graph.edges]


def test_graph_of_a_change_in_place() -> None:
    graph = plan_graph(lowered(programs.relax, "f32[n]").host())
    assert [(n.kind, n.title) for n in graph.nodes] == [
        ("argument", "u"),
        ("kernel", "relax_0"),
        ("temporary", "out"),
        ("kernel", "relax_copy0"),
        ("result", "u"),
        ("kernel", "relax_1"),
        ("result", "u"),
    ]
    assert shown(graph) == [
        ("u", "relax_0", "4*n bytes"),
        ("relax_0", "out", "4*max(n - 2, 0) bytes"),
        ("out", "relax_copy0", "4*max(n - 2, 0) bytes"),
        ("relax_copy0", "u", "4*n bytes"),
        ("u", "relax_1", "4*n bytes"),
        ("relax_1", "u", "4*n bytes"),
    ]


def test_graph_without_kernels() -> None:
    report = page.collect(lowered(programs.whole, "f32[n]"))
    assert report.graph.nodes == [] and report.told.kernels == () and report.forms == ()
    assert "<svg" in page.html_report(lowered(programs.whole, "f32[n]"))


def test_known_lengths_are_written_as_numbers() -> None:
    host = lowered(lambda x: x[:3] * 2, "f64[5000, 100]").host()
    assert all(label[-5:] == "bytes" or label[-1] == "B" for *_, label in shown(plan_graph(host)))


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    pattern = r'data-node[^>]*><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    return [tuple(map(float, found)) for found in re.findall(pattern, svg)]  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(8))
def test_boxes_do_not_overlap(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = [Node("argument", f"a{n}", "f32[n]") for n in range(random.integers(1, 6))]
    edges: list[Edge] = []
    for kernel in range(random.integers(1, 9)):
        at = len(nodes)
        nodes.append(Node("kernel", f"kernel_{kernel}", "pointwise", kernel, ["x" * int(random.integers(1, 90))]))
        memory = [n for n, node in enumerate(nodes) if node.kind != "kernel"]
        sources = random.choice(memory, min(3, len(memory)), replace=False)
        edges += [Edge(int(source), at, "4*n bytes") for source in sources]
        nodes.append(Node("temporary", f"t{kernel}", "f32[n]"))
        edges.append(Edge(at, at + 1, "4*n bytes"))
    graph = Graph(nodes, edges)
    layers = layers_of(graph)
    assert all(layers[e.source] < layers[e.target] for e in edges)
    svg = draw(graph)
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    placed = boxes(svg)
    assert len(placed) == len(nodes) and svg.count('class="edge') == len(edges) == svg.count('class="bytes"')
    for number, (x, y, w, h) in enumerate(placed):
        assert x >= 0 and y >= 0 and x + w <= width + 1 and y + h <= height + 1
        for x2, y2, w2, h2 in placed[number + 1 :]:
            assert x + w <= x2 + 0.2 or x2 + w2 <= x + 0.2 or y + h <= y2 or y2 + h2 <= y


# The file.


class Elements(HTMLParser):
    """What stands in a page: the elements' names, the addresses they name, and ids."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "link", "path", "rect"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action", "data"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """Elements that are closed where they open."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"] and data.startswith("{"):
            self.data = data


def test_page_is_one_file_that_asks_for_nothing() -> None:
    text = page.html_report(lowered(programs.standard, "f32[n, m]", "f32[m]"))
    elements = Elements(text)
    assert elements.open == [] and elements.addresses == ["data:,"]
    assert len(elements.ids) == len(set(elements.ids))
    assert not any(word in text for word in ("http:", "https:", "@import", "url(", "fetch("))
    assert str(Path(programs.__file__).parent) not in text


def test_page_is_the_same_every_time() -> None:
    first, second = (page.html_report(lowered(programs.damped, "f32[n]", "f32[n]")) for _ in range(2))
    assert first == second


def test_source_cannot_close_the_script() -> None:
    text = page.html_report(lowered(programs.hostile, "f32[n]"))
    data = json.loads(Elements(text).data)
    assert any("</script><!--" in (line or "") for *_, line in data["python"])


def test_without_nvrtc_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: Any) -> Any:
        raise BackendError("NVRTC was not found (none): pip install 'pytocu[cu13]'")

    monkeypatch.setattr(page.nvrtc, "ptx", missing)
    report = page.collect(lowered(programs.damped, "f32[n]", "f32[n]"))
    form = report.form("CUDA C")
    assert form.assembly == () and form.missing.startswith("NVRTC was not found") and form.code
    assert "NVRTC was not found" in page.html_report(lowered(programs.damped, "f32[n]", "f32[n]"))


def test_other_targets_are_refused() -> None:
    with pytest.raises(BackendError, match="name one such as cuda:sm_90, not cuda"):
        page.html_report(lowered(programs.damped, "f32[n]", "f32[n]"), "cuda")


def test_library_calls_are_nodes_of_the_graph() -> None:
    def ranked(x, k):
        order = np.argsort(x)
        return order[-3:], np.bincount(k, minlength=8)

    graph = plan_graph(pytocu.jit(ranked).lower("f32[n]", "i64[n]").host())
    (call,) = [n for n, node in enumerate(graph.nodes) if node.title == "np.argsort"]
    assert graph.nodes[call].kind == "library"
    assert [graph.nodes[e.source].title for e in graph.edges if e.target == call] == ["x"]
    assert [graph.nodes[e.target].title for e in graph.edges if e.source == call] == ["order"]
    # Nobody but the call reads x, and what kernels note about wrong data is no result.
    assert all(e.target == call for e in graph.edges if graph.nodes[e.source].title == "x")
    assert "failures" not in [node.title for node in graph.nodes]
    assert 'class="node library"' in draw(graph)


def test_what_a_kernel_computes_again_says_so() -> None:
    def shares(x):
        e = np.exp(x - x.min(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    graph = page.collect(pytocu.jit(shares).lower("f64[3, 400000]")).graph
    lines = {node.title: node.lines for node in graph.nodes if node.kind == "kernel"}
    assert [line.endswith("keepdims=True)) (again)") for line in lines["shares_4"]].count(True) == 1
    assert not any(line.endswith("(again)") for line in lines["shares_2"])

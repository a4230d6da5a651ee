"""``pytocu dump``: any stage, pass, kernel and form of code, of Python functions and of IR in files, with no GPU."""

from __future__ import annotations

import itertools
import json
import shutil
import sys

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.errors import BackendError
from pytocu.explain.stages import EMIT, next_pass, stages, subject_of, subject_of_text
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.passes.context import Target
from pytocu.passes.pipeline import pass_names

SOURCE = """\
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u, u.sum()
"""

RELAX = ("prog.py:relax", "--args", "f32[n]")


@pytest.fixture
def folder(in_folder):
    """A folder with a program, and the process in it."""
    return in_folder("prog.py", SOURCE)


@pytest.fixture
def command(folder, capsys):
    """Run the command line; the exit code and what was printed."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["dump", *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


@pytest.fixture
def dump(command):
    """What is printed."""

    def run(*words: str) -> str:
        code, out, err = command(*words)
        assert (code, err) == (0, "")
        return out.rstrip("\n")

    return run


@pytest.fixture
def refused(command):
    """The sentence of a refusal, and nothing else."""

    def run(*words: str, code: int = 2) -> str:
        found, out, err = command(*words)
        assert (found, out) == (code, "")
        return err.removeprefix("pytocu: ").removesuffix("\n")

    return run


def test_changed_prints_differences_that_lead_from_stage_to_stage(dump):
    parts = dump(*RELAX, "--changed").split("\n\n# ")
    names = [part.removeprefix("# ").partition(":")[0] for part in parts]
    assert names[0] == "lower"
    assert "fuse" in names
    text = parts[0].partition("\n")[2].splitlines()
    for part in parts[1:]:
        lines = part.splitlines()[3:]
        assert [line[1:] for line in lines if line[0] in " -"] == text
        text = [line[1:] for line in lines if line[0] in " +"]
    assert "\n".join(text) == dump(*RELAX)


def test_differences_are_coloured_where_a_person_reads(dump, monkeypatch):
    pytest.importorskip("rich", reason="colours need rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = dump(*RELAX, "--changed")
    assert "\x1b[31m-" in text
    assert "\x1b[32m+" in text


def test_one_kernel(dump):
    whole = dump(*RELAX)
    assert whole.count("  launch ") == 3
    for name in ("relax_0", "relax_1"):
        text = dump(*RELAX, "--kernel", name)
        assert text.startswith(f"loop func @{name}(")
        assert print_function(parse_function(text)) == text
        code = dump(*RELAX, "--kernel", name, "--emit", "cuda")
        assert code.count("__global__") == 1
        assert f"{name}(" in code
    assert dump(*RELAX, "--kernel", "relax_1", "--after", "fuse").startswith("func @relax_1(")
    stages_of_one = dump(*RELAX, "--kernel", "relax_1", "--all")
    assert stages_of_one.startswith("# fuse: ")
    assert "relax_0" not in stages_of_one


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--kernel", "relax_copy"), "there is no kernel 'relax_copy': did you mean relax_copy0?"),
        (("--kernel", "relax_copy", "--all"), "there is no kernel 'relax_copy': did you mean relax_copy0?"),
        (("--kernel", "relax_1", "--after", "cse"), "there is no kernel 'relax_1' here: kernels exist from the pass fuse on"),
        (("--kernel", "zzz", "--emit", "cuda"), "there is no kernel 'zzz': choose from relax_0, relax_copy0, relax_1"),
        (("--backend", "nvm"), "there is no backend 'nvm' for cuda: did you mean nvvm?"),
        (("--backend", "nvvm", "--emit", "cuda"), "--emit cuda is the text of the backend cuda_c, not of nvvm"),
        (("--start", "fuse"), "--start is for IR from a file: a Python function begins with lower"),
        (("--emit", "plann"), "--emit plann: did you mean plan?"),
        (("--after", "text"), "there is no pass 'text'"),
    ],
)
def test_what_is_not_there_is_one_sentence(refused, words, sentence):
    found = refused(*RELAX, *words)
    assert found.startswith(sentence)
    assert "\n" not in found


def test_the_plan(dump):
    text = dump(*RELAX, "--emit", "plan")
    assert text.splitlines()[:3] == ["plan of relax", "  argument 0: u, f32[n]", "  where n is length 0 of u"]
    assert "  check that 0 may be written (assignment destination)" in text
    assert "launch relax_0(" in text
    data = json.loads(dump(*RELAX, "--emit", "plan", "--json"))
    assert data["target"] == "cuda:sm_90"
    assert [k[0] for k in data["plan"]["kernels"]] == ["relax_0", "relax_copy0", "relax_1"]
    assert "rows" in dump(*RELAX, "--emit", "plan", "--target", "cpu")


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_ptx(dump, backend):
    text = dump(*RELAX, "--emit", "ptx", "--backend", backend, "--target", "cuda:sm_80")
    assert ".target sm_80" in text
    assert ".entry relax_0(" in text


def test_machine_code_of_a_gpu_needs_nvdisasm(refused, dump, folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    sentence = refused(*RELAX, "--emit", "asm", "--target", "cuda", code=1)
    assert sentence.startswith("the machine code of a GPU is shown by NVIDIA's nvdisasm, which is not on the path")
    assert "--emit ptx" in sentence
    tool = folder / "nvdisasm"
    tool.write_text("#!/bin/sh\nhead -c 4 \"$1\" | tail -c 3\necho ' MOV R1, c[0x0][0x28]'\n")
    tool.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(tool))
    assert dump(*RELAX, "--emit", "asm", "--target", "cuda") == "ELF MOV R1, c[0x0][0x28]"
    tool.write_text("#!/bin/sh\necho no such file >&2\nexit 1\n")
    assert refused(*RELAX, "--emit", "asm", "--target", "cuda", code=1) == "nvdisasm refused the code: no such file"


def test_assembly_of_compiled_functions():
    low = pytocu.jit(lambda x: x + 1).lower("f32[n]")
    assert ".entry lambda_(" in low.compile("cuda:sm_90").assembly
    assert ".entry lambda_(" in low.compile("cuda:sm_90", "cuda_c").assembly
    assert "lambda_:" in low.compile("cpu").assembly
    with pytest.raises(BackendError, match="SASS is the code of GPUs"):
        _ = low.compile("cpu").sass


@pytest.mark.parametrize("emit", [e for e in EMIT if e != "asm"])
def test_every_form_as_json(dump, emit):
    data = json.loads(dump(*RELAX, "--emit", emit, "--json"))
    assert data["function"] == "relax"
    assert data["emit"] == emit
    if emit == "resources":
        assert [k["name"] for k in data["kernels"]] == ["relax_0", "relax_copy0", "relax_1"]
        assert all(0 < k["registers"] < 256 for k in data["kernels"])
    elif emit not in ("ir", "plan"):
        assert data["text"] == dump(*RELAX, "--emit", emit)


def test_ir_as_json_has_the_place_of_each_line(dump):
    (stage,) = json.loads(dump(*RELAX, "--after", "cse", "--json"))["stages"]
    assert stage["pass"] == "cse"
    assert stage["text"] == dump(*RELAX, "--after", "cse")
    placed = dict(zip(stage["text"].splitlines(), stage["places"], strict=True))
    assert next(p for line, p in placed.items() if " = multiply " in line) == "prog.py:10:15"
    assert placed["}"] is None
    every = json.loads(dump(*RELAX, "--changed", "--json"))["stages"]
    assert "difference" not in every[0]
    assert all(s["difference"].startswith(f"--- {a['pass']}\n+++ {s['pass']}") for a, s in itertools.pairwise(every))


# IR in files.


@pytest.mark.parametrize("stop", ["lower", *pass_names()])
@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_the_passes_go_on_from_the_text_of_any_stage(dump, folder, stop, target):
    words = ("prog.py:softmax", "--args", "f32[n, m]", "--target", target)
    (folder / "stage.ir").write_text(dump(*words, "--after", stop) + "\n")
    names = pass_names()
    start = () if stop in ("lower", names[-1]) else ("--start", names[names.index(stop) + 1])
    text = dump("stage.ir", "--target", target, *start)
    assert text == dump(*words)


def test_a_file_of_ir_begins_where_its_text_ends(dump, folder):
    code = dump(*RELAX, "--emit", "cuda")
    for stop in ("lower", "fuse", "bufferize", "schedule", "lower-loops", "expand", "dce-2"):
        (folder / "stage.ir").write_text("# a comment\n\n" + dump(*RELAX, "--after", stop, "--locs"))
        assert dump("stage.ir", "--emit", "cuda").count("__global__") == code.count("__global__") == 3
        header = dump("stage.ir", "--all").splitlines()[0]
        assert header == "# text: As the text states it."
        assert dump("stage.ir", "--after", "text") == dump(*RELAX, "--after", stop)




def test_code_of_a_file_of_ir_computes(dump, folder):
    (folder / "stage.ir").write_text(dump(*RELAX, "--after", "cse"))
    function = parse_function((folder / "stage.ir").read_text())
    subject = subject_of_text(function, "narrow")
    from pytocu.explain.stages import compiled

    u = np.arange(6, dtype=np.float32) ** 2
    expected = u.copy()
    expected[1:-1] = 0.5 * (u[2:] + u[:-2])
    made = compiled(subject, Target("cpu"))
    result, total = made(u)
    assert result is u
    assert total == expected.sum()
    np.testing.assert_array_equal(u, expected)


def test_the_inside_of_a_kernel_in_a_file(dump, refused, folder):
    (folder / "kernel.ir").write_text(dump(*RELAX, "--kernel", "relax_0"))
    assert dump("kernel.ir") == dump(*RELAX, "--kernel", "relax_0")
    assert "has no plan" in refused("kernel.ir", "--emit", "cuda")


GOOD = "func @f(%x: f32[n]) {\n  %y = add %x, %x : f32[n]\n  return %y {tree = 0}\n}\n"


@pytest.mark.parametrize(
    ("text", "sentence", "line"),
    [
        (GOOD.replace("add", "ad"), "there is no operation 'ad': did you mean add?", "f32[n]\n    |        ^^"),
        (GOOD.replace("%x, %x", "%x, %xs"), "%xs is not defined here: did you mean %x?", "^^^"),
        (GOOD.replace("f32[n] {", "f23[n] {").replace("(%x: f32", "(%x: f23"), "'f23[n]' has no dtype pytocu knows", "^^^^^^"),
        (GOOD.replace("func", "fun"), "expected a function", "^^^^"),
        (GOOD.replace("\n}", ""), "the text ends inside a block: a closing '}' is missing", "^"),
        (GOOD.replace("tree = 0", "tree 0"), "expected an attribute like axis = 1", "^^^^^^"),
        (GOOD + GOOD, "the function has ended: a text holds one function", "func @f"),
        ("", "'bad.ir' is empty", ""),
        (GOOD.replace(": f32[n]\n", ": f64[n]\n"), "bad.ir: IR verifier: add at bad.ir:2:3 states f64[n] but gives f32[n]",
         "\n    |   ^^^^^^^^^^^^^^^^^^^^^^^^"),
        (GOOD.replace("%y = add %x, %x", "%y = add %y, %x"), "%y is not defined here", "\n    |            ^^"),
    ],
)
def test_text_that_is_no_ir(refused, folder, text, sentence, line):
    (folder / "bad.ir").write_text(text)
    said = refused("bad.ir")
    assert said.startswith(sentence)
    assert "bad.ir" in said
    assert line in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"add"', '"ad"'),
        ('over = "serial"', 'over = "serie"'),
        ('schedule = "rows"', 'schedule = "row"'),
        ("%n: index", "%m: index"),
    ],
)
def test_ir_that_a_step_cannot_take_is_the_files_affair(command, dump, folder, old, new):
    for stop in ("lower", "schedule", "dce-2"):
        text = dump("prog.py:softmax", "--args", "f32[n, m]", "--after", stop)
        (folder / "odd.ir").write_text(text.replace(old, new))
        for emit in ("ir", "cuda", "plan"):
            code, _, err = command("odd.ir", "--emit", emit)
            assert (code, "odd.ir" in err) in ((0, False), (2, True))
            assert "defect" not in err


def test_files_of_ir_that_are_not_there(refused, dump, folder):
    (folder / "good.ir").write_text(GOOD)
    assert refused("god.ir") == "there is no file 'god.ir': did you mean good.ir?"
    assert refused("good.ir", "--args", "f32[n]").startswith("--args and --static are for Python functions")
    assert refused("good.ir", "--start", "fuze") == "there is no pass 'fuze': did you mean fuse?"
    (folder / "fused.ir").write_text(dump("good.ir", "--after", "fuse"))
    assert "(the pass schedule relies on it)" in refused("fused.ir", "--start", "schedule")
    assert refused("fused.ir", "--after", "fold") == "fused.ir is behind the pass fold already: --start fold begins with it"
    assert dump("fused.ir", "--start", "fold", "--after", "fold")
    (folder / "host.ir").write_text(dump("good.ir", "--after", "bufferize"))
    assert refused("host.ir", "--after", "fold") == "host.ir is behind the pass fold already: schedule is the next one"
    (folder / "bytes.ir").write_bytes(b"\xff\xfe")
    assert refused("bytes.ir") == "'bytes.ir' is no text: IR is what pytocu dump prints"


def test_stages_are_verified_and_timed():
    low = pytocu.jit(lambda x: x.sum() / len(x)).lower("f32[n]")
    found = list(stages(subject_of(low), Target("cuda", "sm_90")))
    assert [s.name for s in found] == ["lower", *pass_names()]
    assert all(s.milliseconds > 0 for s in found[1:])
    assert not next(s for s in found if s.name == "fastmath").changed
    assert next_pass(found[-1].function) == ""


LOOPS = """\
import numpy as np


def heat(u, n):
    for _ in range(n):
        u = u + np.roll(u, 1) - u.max()
        u = u / u.sum()
    return u


def settle(u, tolerance):
    while u.max() > tolerance:
        u = 0.5 * (u[::-1] + u.sum(axis=0))
        if u.min() < 0:
            u = np.sqrt(np.cumsum(u))
    return u


def written_out(u):
    for _ in range(3):
        u = u[1:-1] + np.sqrt(u[2:] * u[:-2])
        u = u / u.sum()
    return u
"""


@pytest.mark.parametrize(("target", "emits"), [("cuda:sm_90", ("ir", "cuda", "nvvm", "resources")), ("cpu", ("ir", "llvm"))])
@pytest.mark.parametrize(
    ("function", "types"),
    [("heat", ("f64[n]", "weak int")), ("settle", ("f32[n]", "weak float")), ("written_out", ("f64[40000]",))],
)
def test_every_kernel_that_explain_names_is_there_in_every_form(command, in_folder, capsys, function, types, target, emits):
    in_folder("loops.py", LOOPS)
    words = (f"loops.py:{function}", "--args", ", ".join(types), "--target", target)
    assert main(["explain", *words, "--json"]) == 0
    names = [kernel["name"] for kernel in json.loads(capsys.readouterr()[0])["kernels"]]
    assert len(names) > 1
    for name, emit in itertools.product(names, emits):
        code, out, err = command(*words, "--kernel", name, "--emit", emit)
        assert (code, err) == (0, "")
        assert out.count("__global__") == (emit == "cuda")
        assert out.count("\n") == 1 or emit != "resources"
    words = (*words, "--kernel", names[-1])
    assert [line[2:].partition(":")[0] for line in command(*words, "--all")[1].splitlines() if line[:1] == "#"][-1] != "fuse"
    places = json.loads(command(*words, "--json")[1])["stages"][-1]
    assert places["text"].startswith("loop func @")

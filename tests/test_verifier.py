"""The verifier knows what passes rely on: IR text that it takes is compiled, or refused with a place."""

from __future__ import annotations

import random
import re

import pytest

from pytocu.cli.main import main
from pytocu.errors import InternalError
from pytocu.explain.stages import subject_of_text
from pytocu.ir.attributes import KINDS, LEAST, MAY_LACK
from pytocu.ir.ops import OPS
from pytocu.ir.parser import parse_function
from pytocu.ir.verifier import verify
from pytocu.passes import simplify
from pytocu.passes.pipeline import pass_names

VIEW = "func @f(%x: f32[n, m], %i: i64[k]) {{\n  {}\n  return %y {{tree = 0}}\n}}"
LOOP = "loop func @f(%x: ptr f32, %n: index, %c: bool) {{\n  {}\n  return\n}}"


def view(text: str) -> str:
    return VIEW.format(text)


def loop(*lines: str) -> str:
    return LOOP.format("\n  ".join(lines))


def launch(head: str, arguments: str = "%x, %y", parameters: str = "%x: f32[n]", body: str = "yield %x") -> str:
    text = f"launch {arguments} {{{head}}} ({parameters}) {{\n    {body}\n  }}\n  return %y {{tree = 0}}\n}}"
    return f"host func @f(%x: f32[n]) {{\n  %y = allocate : f32[n]\n  {text}"


RULES = [
    (view("%y = newaxis %x {axis = (0,)} : f32[1, n, m]"), "newaxis at f.ir:2:3 has axis = (0,), which is not an int"),
    (view("%y = newaxis %x {axis = -1} : f32[n, 1, m]"), "which is not an int that is not negative"),
    (view("%y = newaxis %x {axis = 5} : f32[n, m, 1]"), "gets no new axis 5"),
    (view("%y = newaxis %x : f32[n, 1, m]"), "lacks the attribute axis"),
    (view("%y = newaxis %x {axis = 0, axis = 1} : f32[1, n, m]"), "has the attribute axis twice"),
    (view("%y = transpose %x {axes = (0, 0)} : f32[n, n]"), "takes each axis of f32[n, m] once, not (0, 0)"),
    (view("%y = slice %x {size = (2, 2), start = (0,), step = (1, 1)} : f32[2, 2]"), "for each axis of f32[n, m]"),
    (view("%y = slice %x {size = (2, 2), start = (0, 0), step = (1, 0)} : f32[2, 2]"), "a tuple of ints that are not 0"),
    (view("%y = index %x {at = 0, axis = 2} : f32[n, m]"), "f32[n, m] has no axis 2"),
    (view("%y = broadcast %x {expand = (7,), ndim = 2, shape = (k, n, m)} : f32[k, n, m]"), "with the axes (7,) repeated"),
    (view("%y = broadcast %x {expand = (0,), ndim = 1, shape = (k, n, m)} : f32[k, n, m]"), "does not become (k,n,m)"),
    (view("%y = reshape %x {shape = (n*m,), source = (n,)} : f32[n*m]"), "the shape of f32[n, m] is not (n,)"),
    (view("%y = strided %x {offset = 0, shape = (n,), strides = (1,)} : f32[n]"), "over memory with one axis"),
    (view("%y = diagonal %i {length = k, offset = 0} : i64[k]"), "diagonal takes an array with two axes or more"),
    (view("%y = iota {axis = 1, shape = (n,)} : i64[n]"), "(n,) has no axis 1"),
    (view("%y = gather %x, %i {at = 4, axes = (0,)} : f32[k, m]"), "whose positions come at 4"),
    (view("%y = gather %x, %i {at = 0, axes = (9,)} : f32[k, m]"), "gather along the axes (9,)"),
    (view("%y = reduce {axes = (0,), op = \"add\"} : f32[m]"), "has 0 arguments, and takes 1 or more"),
    (view("%y = cast %x : f64[n]"), "takes f32[n, m], and states the shape of f64[n]"),
    (view("%y = const 1.0 : f64[n]"), "cannot have results of the types (f64[n])"),
    (view("%y = const complex(1.0, 2.0) : f64"), "has the value (1+2j) for f64"),
    ("func @f(%x: f32[n]) {\n  return %x {tree = 1}\n}", "return at f.ir:2:3 names the result 1 of 1"),
    ("func @f(%x: f32[n]) {\n  return %x {tree = n}\n}", "the number of a result, or a tree of them"),
    ("func @f(%x: f32[n]) {\n  return %x\n}", "lacks the attribute tree"),
    ("func @f(%x: f32[n]) {\n  return %x {tree = 0, updates = ((0, 1),)}\n}", "names the result 1 of 1"),
    ("func @f(%x: f32[n]) {\n  yield %x\n}", "yield at f.ir:2:3 stands at the end of the function"),
    ("func @f(%x: f32[n]) {\n  %y = add %x, %x : f32[n]\n}", "add at f.ir:2:3 stands at the end of a block"),
    ("func @f(%x: f32[n]) {\n}", "the function is empty"),
    ("func @f(%x: f32[n]) facts {index_bits = 16} {\n  return %x {tree = 0}\n}", "index_bits = 16, which is not 32 or 64"),
    ("func @f(%x: f32[n]) facts {bits = 32} {\n  return %x {tree = 0}\n}", "states the fact bits, which is none of"),
    ("func @f(%x: f32[n]) facts {block = 1, block = 1} {\n  return %x {tree = 0}\n}", "states block twice"),
    ('func @f(%x: f32[n]) facts {symbols = (("n", 0, 3),)} {\n  return %x {tree = 0}\n}', "n is axis 3 of argument 0"),
    (launch('name = "f", outputs = 3'), "launch at f.ir:3:3 has 2 arguments, and writes 3 of them"),
    (launch('name = "f", outputs = 1', arguments="%y"), "has arguments of the types () for (f32[n])"),
    (launch('name = "f", outputs = 1', parameters="%x: f64[n]"), "has arguments of the types (f32[n]) for (f64[n])"),
    (launch('name = "f", outputs = 1', body="yield"), "has results of the types () for"),
    (launch('name = "f", outputs = 1', body="return"), "return at f.ir:4:5 stands at the end of a region"),
    (launch('name = "f", outputs = 1', parameters="%x: ptr f32", body="return"), "(ptr f32, f32[n]) for (ptr f32)"),
    (loop('for %n, %n, %n {over = "all"} (%i: index) {', "  yield", "}"), 'has over = "all", which is not one of serial'),
    (loop('for %n, %n, %c {over = "serial"} (%i: index) {', "  yield", "}"), "has bounds of the types"),
    (loop('for %n, %n, %n {over = "serial"} () {', "  yield", "}"), "has parameters of the types (index) for ()"),
    (loop('for %n, %n, %n {over = "serial"} (%i: index) {', "  yield %i", "}"), "has carried values of the types (index)"),
    (loop("if %n () {", "  yield", "} () {", "  yield", "}"), "has a condition of type index, not bool"),
    (loop("if %c () {", "  yield %n", "} () {", "  yield", "}"), "has results of the types (index) for ()"),
    (loop("while () {", "  yield", "} () {", "  yield", "}"), "has a condition and results of the types () for (bool)"),
    (loop("%v = load %x, %n {align = 8, lanes = 2} : <2 x f32>", "lanes %v {lanes = 3} (%i: index) {", "  yield", "}"),
     "vectors that do not divide into 3 lanes"),
    (loop("%v = load %x, %n {align = 1000000000000, lanes = 2} : <2 x f32>"), "which is not a power of two up to 4096"),
    (loop("%v = load %n, %n : f32"), "takes a pointer and an index first, not index and index"),
    (loop("store %x, %n, %n"), "writes a value of type index through ptr f32"),
    (loop("%v = add %x, %x : f32"), "add does not take pointers"),
    ("func @f(%x: f32[n], %i: i64) {\n  %y = for_loop %i, %i, %i, %x {carried = 3} : f32[n] (%k: i64, %x: f32[n]) {\n"
     "    yield %x\n  }\n  return %y {tree = 0}\n}", "says that more go from step to step"),
    ("func @f(%x: f32[n], %i: i64) {\n  %y = for_loop %i, %i, %i, %x {carried = 1} : f32[n] (%k: i64) {\n"
     "    yield %k\n  }\n  return %y {tree = 0}\n}", "gives 1 values to a region that takes 0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), RULES, ids=[sentence for _, sentence in RULES])
def test_what_passes_rely_on(text: str, sentence: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(parse_function(text, "f.ir"))
    assert sentence in str(caught.value)


def test_every_attribute_of_the_table_has_a_kind() -> None:
    assert {name for op in OPS.values() for name in op.attrs} == {name for name in KINDS if "." not in name}
    for known in (*MAY_LACK, *LEAST, *(name.partition(".")[0] for name in KINDS if "." in name)):
        assert known in OPS
    assert all(set(names) <= set(OPS[op].attrs) for op, names in MAY_LACK.items())


def test_a_pass_behind_the_function_is_no_place_to_begin() -> None:
    text = launch('name = "f", outputs = 1')
    with pytest.raises(Exception, match="the function is behind the pass fuse: schedule is the next one"):
        subject_of_text(parse_function(text, "f.ir"), "fuse")


def test_a_pass_that_fails_names_the_instruction(tmp_path, capsys, monkeypatch) -> None:
    """Whatever a pass stumbles over: the message says at which line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simplify, "_rule", lambda builder, inst, args: args[7])
    (tmp_path / "f.ir").write_text("func @f(%x: f32[n]) {\n  %y = add %x, %x : f32[n]\n  return %y {tree = 0}\n}")
    assert main(["dump", "f.ir"]) == 2
    said = capsys.readouterr().err
    assert "the pass simplify failed on f, looking at add at f.ir:2:3: IndexError" in said


SOURCE = """\
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def relax(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u, u.cumsum()


def picked(x, i, k):
    while k > 0:
        k = k // 2
    return np.concatenate([x[i] * k, x.reshape(-1)[::2]]), (x > 0).any(), x[x > 0]
"""

PROGRAMS = [("softmax", "f32[n, m]"), ("relax", "f64[n], weak int"), ("picked", "f32[n], i64[k], weak int")]
TOKEN = re.compile(r"%\w+|\w+|\"[^\"]*\"|[-+*/(){}\[\],:=;]")
OTHERS = ["0", "-1", "2", "n", "None", '"a"', "()", "(1, 0)", "f64", "f32[n]", "i64", "index", "ptr f32", "1.5", "add", "True"]


def mutant(text: str, rnd: random.Random) -> str:
    """A text with a token removed, replaced or exchanged, or a line removed or moved."""
    lines = text.splitlines()
    number = rnd.randrange(len(lines))
    tokens = list(TOKEN.finditer(lines[number]))
    match rnd.randrange(8):
        case 0:
            lines.pop(number)
        case 1:
            lines.insert(rnd.randrange(len(lines)), lines.pop(number))
        case _ if not tokens:
            lines.pop(number)
        case 2:
            token = rnd.choice(tokens)
            lines[number] = lines[number][: token.start()] + lines[number][token.end() :]
        case 3 | 4:
            token, other = rnd.choice(tokens), rnd.choice(OTHERS)
            lines[number] = lines[number][: token.start()] + other + lines[number][token.end() :]
        case _:
            token, other = rnd.choice(tokens), rnd.choice(TOKEN.findall(text))
            lines[number] = lines[number][: token.start()] + other + lines[number][token.end() :]
    return "\n".join(lines)


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
@pytest.mark.parametrize(("name", "types"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_mutants_of_a_text_are_refused_with_a_place(name, types, target, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "programs.py").write_text(SOURCE)
    rnd = random.Random(f"{name} {target}")
    refused = 0
    for stage in ("lower", "infer-shapes", "fuse", "schedule", "lower-loops", "alike"):
        assert main(["dump", f"programs.py:{name}", "--args", types, "--target", target, "--after", stage]) == 0
        text = capsys.readouterr().out
        for _ in range(12):
            (tmp_path / "m.ir").write_text(changed := mutant(text, rnd))
            emit = rnd.choice(["ir", "ir", "plan", "llvm" if target == "cpu" else "cuda"])
            start = ["--start", rnd.choice(pass_names())] if emit == "ir" and rnd.randrange(4) == 0 else []
            code = main(["dump", "m.ir", "--target", target, "--emit", emit, *start])
            said = capsys.readouterr().err
            assert code in (0, 2), changed
            refused += code == 2
            placed = re.search(r"m\.ir:\d+|@\w+ states|the function is (behind|empty)|m\.ir is scheduled for", said)
            assert code == 0 or placed, f"{said}\n{changed}"
    assert refused > 20

"""Arguments that hold arrays as text: in commands, ahead of time, in saved inputs and in tests that bisect writes."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.errors import DTypeError, InternalError, PytocuError, UnsupportedError
from pytocu.explain.inputs import load_inputs, save_inputs
from pytocu.testing.planted import FAULTS, Fault, planted
from pytocu.tree_text import read_tree, split_items

SOURCE = """\
import dataclasses
from typing import Any, NamedTuple

import numpy as np


class State(NamedTuple):
    u: Any
    v: Any = 2.0


@dataclasses.dataclass
class Spring:
    x: Any
    stiffness: float = 2.0
    name: str = "spring"
    parts: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Half:
    x: Any

    def __post_init__(self):
        self.half = self.x / 2


def step(s, dt):
    return State(s.u + dt * s.v, s.v - dt * s.u)


def force(s):
    return -s.stiffness * s.x


def halves(h):
    return h.half[0] + h.x


def pair(t):
    a, b = t
    return a - 2 * b


def dense(p, x):
    return np.maximum(x * p["w"] + p["b"], 0)


def chosen(d):
    return d["how"](d["x"]) if d["kind"] == "a, b" else d["x"]


def grown(d):
    d["x"] += 1
    d["y"][1:] = d["x"][:-1] * 2
    return d["x"] - d["y"]


def summed(s, dt):
    return State(s[0] + dt * s[1], s[0] * s[1])


def first(s):
    a = s.x[::2]
    return a * s.stiffness
"""


@pytest.fixture
def folder(in_folder):
    """A folder with a program, and the process in it."""
    return in_folder("prog.py", SOURCE)


@pytest.fixture
def prog(folder, monkeypatch):
    """The program as a module."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "prog", raising=False)
    yield importlib.import_module("prog")
    sys.modules.pop("prog", None)


@pytest.fixture
def command(folder, capsys):
    def run(*words):
        code = main(list(words))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


@pytest.mark.parametrize(
    ("function", "types", "parameters"),
    [
        ("pair", "(f32[n], f64[n])", "%t_0: f32[n], %t_1: f64[n]"),
        ("pair", "t = [f32[n; S], weak float,]", "%t_0: f32[n; S], %t_1: weak float"),
        ("step", "State(u=f32[n], v=f32[n]), dt=f64", "%s_u: f32[n], %s_v: f32[n], %dt: f64"),
        ("step", "weak float, s=State(f32[n])", None),
        ("step", "dt=weak float, s=State(f32[n])", "%s_u: f32[n], %s_v: weak float, %dt: weak float"),
        ("force", "Spring(x=f32[n, 3])", "%s_x: f32[n, 3], %s_stiffness: weak float"),
        ("force", "Spring(f32[n], name='a')", "%s_x: f32[n], %s_stiffness: weak float"),
        ("halves", "Half(x=f32[n], half=f32[n])", "%h_x: f32[n], %h_half: f32[n]"),
        ("dense", "{'w': f32[n], \"b\": f32}, f32[n]", "%p_w: f32[n], %p_b: f32, %x: f32[n]"),
        ("dense", "{'w': f32[max(n, 2)], 'b': f32, 'c': [(f32[n],), None]}, f32", "%p_w: f32[max(n, 2)], %p_b: f32, %p_c_0_0"),
        ("chosen", "{'kind': 'a, b', 'x': f32[n], 'how': np.exp}", "%d_x: f32[n]"),
    ],
)
def test_commands_take_them(command, function, types, parameters):
    code, out, err = command("dump", f"prog.py:{function}", "--args", types, "--after", "lower")
    if parameters is None:
        assert code == 2 and "--args gives s twice" in err
        return
    assert code == 0, err
    assert out.startswith(f"func @{function}({parameters}")
    code, out, _ = command("explain", f"prog.py:{function}", "--args", types)
    # As the function writes the part.
    first = parameters.partition(",")[0].partition(": ")[2]
    assert code == 0 and re.match(rf"{function}\(\w+(\.\w+|\[\d\]|\['\w+'\])+: {re.escape(first)}", out), out


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ("(f32[n])", "t: '(f32[n])' is no tuple: a tuple of one is written (f32[n],)"),
        ("(f31[n], f32)", "t[0]: 'f31[n]' is not a type: did you mean f32[n]?"),
        ("{'a': [f32[n], 2.5]}", "t['a'][1]: 2.5 is a value: write its type, weak float"),
        ("(f32[n], ptr f32)", "t[1]: 'ptr f32' is a type inside kernels: arguments are arrays, f32[n], or scalars, f32"),
        ("Stat(f32)", "t: the module of the function has no class 'Stat': did you mean State?"),
        ("nothing.at.all(f32)", "t: the module of the function has no class 'nothing.at.all'"),
        ("State(v=f32[n])", "t: State needs u: write State(u=f32[n], ...)"),
        ("Spring(f32[n], stifness=f32)", "t: Spring has no field 'stifness': did you mean stiffness?"),
        ("State(u=f32[n], q=f32[n])", "t: State has no field 'q': it has u, v"),
        ("State(f32[n], f32, f32)", "t: State has 2 fields, u, v, and 'f32' is one more"),
        ("State(f32[n], u=f32)", "t: State is given u twice"),
        ("step(f32[n])", "t: step is no class of named tuples or dataclass objects"),
        ("{w: f32[n]}", "t: w is no key of a dict that is written as a literal: write 'w'"),
        ("{'w': f32[n], 'w': f32}", "t: the key 'w' stands twice"),
        ("{'w' f32[n]}", "t: \"'w' f32[n]\" is no item of a dict: write {'name': f32[n]}"),
        ("(f32[n], flaot32)", "t[1]: 'flaot32' is not a type: did you mean float32?"),
        ("(f32[n], , f32)", "t: in '(f32[n], , f32)' nothing stands before a comma"),
        ("(f32[n]", "t: in '(f32[n]' the bracket '(' is not closed"),
        ("(f32[n]]", "t: in '(f32[n]]' a bracket is closed by ']' that is none of its kind"),
        ("(f32[n],) + f32", "t: '+ f32' stands behind '(f32[n],)'"),
        ("(f32[n], 'a)", "t: in \"(f32[n], 'a)\" a text in quotes has no end"),
        (
            "(f32, f32)",
            "t: (f32, f32) holds no array, so it is known while compiling: give its value as a static argument, "
            "--static on a command line",
        ),
        ("((f32,), f32[n])", "t: in ((f32,), f32[n]) a part that holds no array is known while compiling, and has no type"),
        ("(1, 2)", "t: (1, 2) is a value: write --static t=(1, 2) where it is known while compiling"),
    ],
)
def test_what_is_none_is_said_at_its_place(command, types, sentence):
    for words in (("dump",), ("explain",), ("bisect",), ("build", "-o", "bundle")):
        code, out, err = command(words[0], "prog.py:pair", "--args", types, *words[1:])
        assert (code, out, err) == (2, "", f"pytocu: --args, {sentence}\n")


def test_bundles(command, folder, prog):
    words = ("--args", "State(f32[n], f32[n]), weak float", "--args", "[f32[n], weak int], weak float", "-o", "bundle")
    code, out, err = command("build", "prog.py:summed", *words)
    assert code == 0 and "summed(s_u: f32[s_u_0], s_v: f32[s_v_0], dt: weak float)" in out, err
    assert command("build", "prog.py:chosen", "--args", "{'x': f32[n], 'kind': 'a', 'how': 'b'}", "-o", "bundle")[0] == 0
    made = pytocu.load("bundle")
    x = np.float32([1, 2])
    for argument in (prog.State(x, x + 1), [x, 3]):
        given, wanted = made.summed(argument, 0.5), prog.summed(argument, 0.5)
        assert type(given) is type(wanted) is prog.State
        np.testing.assert_array_equal(given.u, wanted.u)
        np.testing.assert_array_equal(given.v, wanted.v)
    assert [s.types[1] for s in made.summed.specializations] == ["s_v: f32[s_v_0]"] * 2 + ["s_1: weak int"] * 2
    with pytest.raises(UnsupportedError, match=r"no code for summed where s = \(s_0, s_1\)") as caught:
        made.summed((x, x), 0.5)
    assert str(caught.value).splitlines()[1:] == [
        *("  help: build it too, with --args; the bundle has", "    s = State(u=s_u, v=s_v)", "    s = [s_0, s_1]"),
    ]
    with pytest.raises(UnsupportedError, match="d_kind: static 'c'"):
        made.chosen({"x": x, "kind": "c", "how": "b"})
    with pytest.raises(UnsupportedError, match=r"no code for summed\(s: f32\[s_0\]"):
        made.summed(x, 0.5)


def scaled(p: Any, k: Any) -> Any:
    return p[0] * k + p[1]


def test_ahead_of_time() -> None:
    compiled = pytocu.jit(scaled)
    compiled.precompile("(f32[n], f32[n])", "weak float", targets="cpu")
    assert compiled.specializations[0].types == ("p_0: f32[p_0_0]", "p_1: f32[p_1_0]", "k: weak float")
    x = np.float32([1, 2])
    np.testing.assert_array_equal(compiled((x, x), 0.5), x * 0.5 + x)
    assert len(compiled.specializations) == 1
    with pytest.raises(DTypeError, match=r"argument p\[1\]: 'f31' has no dtype pytocu knows"):
        compiled.precompile("(f32[n], f31)", "weak float", targets="cpu")
    # Beside real arrays a text is a value, also one that would be a type.
    kinds = pytocu.jit(lambda d: d["x"] + 1 if d["kind"] == "f32" else d["x"])
    assert " add " in kinds.lower({"x": x, "kind": "f32"}).ir("lower")


RIGHT = [
    ("step", "State(f32[n], f32[n]), weak float"),
    ("force", "Spring(f32[n])"),
    ("halves", "Half(x=f32[n], half=f32[n])"),
    ("dense", "{'w': f32[n], 'b': f32}, f32[n]"),
    ("chosen", "{'kind': 'a, b', 'x': f32[n], 'how': np.exp}"),
    ("grown", "{'x': f64[n], 'y': f64[n]}"),
]

SWAPPED = Fault("pass", "pytocu.passes.schedule:run", '"launch", args, attrs', '"launch", (*args[1::-1], *args[2:]), attrs')
PLANTED = [
    ("pair", "(f32[n], f32[n])", SWAPPED, "the pass schedule (cpu)"),
    ("first", "Spring(f32[n])", next(f for f in FAULTS if f.name == "a slice stops one early"), "the front end"),
]


@pytest.mark.parametrize(("function", "types", "fault", "step"), PLANTED, ids=["pass", "front end"])
def test_a_planted_fault_is_found_and_its_test_fails(command, folder, function, types, fault, step):
    with planted(fault):
        code, _, err = command("bisect", f"prog.py:{function}", "--args", types, "--target", "cpu")
    assert code == 1 and f"pytocu: {step} makes {function} wrong" in err
    (test,) = folder.glob("test_*.py")
    scope = {}
    exec(compile(test.read_text(), str(test), "exec"), scope)
    (reproduce,) = (value for key, value in scope.items() if key.startswith("test_"))
    reproduce()
    with planted(fault), pytest.raises((AssertionError, PytocuError)):
        reproduce()


@pytest.mark.parametrize(("function", "types"), RIGHT, ids=[r[0] for r in RIGHT])
def test_nothing_is_found_where_nothing_is_wrong(command, folder, function, types):
    code, out, err = command("bisect", f"prog.py:{function}", "--args", types)
    assert code == 0, out + err
    assert f"{function} is NumPy's after every pass and on every backend that ran" in out
    assert list(folder.glob("test_*")) == []


def test_inputs_come_back_as_they_were(folder, prog):
    values = {
        "s": prog.Spring(np.float32([1, 2]), 0.5, "a", [np.arange(3), (1, 2), None, {"k": 2.0}]),
        "t": prog.State(np.ones(2), 2**70),
        "d": {"x": np.zeros((2, 0)), 3: True, "how": np.exp},
        "k": 3,
    }
    assert save_inputs("inputs.npz", values, prog.step) == ()
    back = load_inputs("inputs.npz", prog.step)
    assert sorted(back) == sorted(values) and all(repr(back[name]) == repr(values[name]) for name in values)
    assert back["s"].parts[0].dtype == np.int64 and type(back["t"]) is prog.State
    left = save_inputs("inputs.npz", {"p": (np.ones(2), object()), "q": {"x": np.ones(1), np.float32: 1}, "x": np.ones(1)})
    assert left == ("p", "q") and list(load_inputs("inputs.npz")) == ["x"]
    save_inputs("inputs.npz", {"s": prog.State(np.ones(2), 1.0)}, prog.step)
    with pytest.raises(PytocuError, match=r"cannot be put together: s: the module of the function has no class 'State'"):
        load_inputs("inputs.npz")


def test_the_arguments_of_a_failing_call_are_bisected(command, folder, prog, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.delenv("PYTOCU_DEBUG", raising=False)
    fault = Fault("pass", "pytocu.passes.simplify:run", "    return rewrite", "    return 1 // 0 or rewrite")
    with planted(fault):
        with pytest.raises(InternalError) as caught:
            pytocu.jit(prog.step)(prog.State(np.float32([1, 2]), np.float32([3, 4])), 0.5)
        words = re.search(r"pytocu (bisect \S+ --inputs \S+)", str(caught.value))[1].split()
        code, _, err = command(*words)
    assert code == 1 and "the pass simplify (cpu) makes step wrong" in err
    assert command(*words)[0] == 0


def test_items():
    assert split_items("f32[n, 3], {'a, )b': f32}, \"it's\"") == ["f32[n, 3]", "{'a, )b': f32}", '"it\'s"']
    assert read_tree(r"('a\'b, (', [])", "p", lambda text, place: text, vars) == ("a'b, (", [])

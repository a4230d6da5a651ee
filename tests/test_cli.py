"""The command line: every subcommand, and one sentence with exit code 2 for everything that is not there."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu.cli import demo, info, relief
from pytocu.cli.main import COMMANDS, main
from pytocu.cli.terminal import nearest, show, suggestion, table
from pytocu.errors import BackendError
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.passes.pipeline import PIPELINE, pass_names
from pytocu.runtime import cuda
from pytocu.testing.compare import ulp_distance

SOURCE = '''\
import numpy as np
import pytocu

GAIN = 3


@pytocu.jit
def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


square = lambda x: x * x


def powers(x, order, mode="sum"):
    total = 0.0
    for k in range(order):
        total = total + x**k
    return total


def branch(x):
    if x > 0:
        return x
    return -x


def scaled(x, *, factor=2.0):
    return x * factor


class Filter:
    gain = 2.0

    def twice(self, x):
        return x * self.gain

    @pytocu.jit
    def thrice(self, x):
        return x * GAIN

    @staticmethod
    def shifted(x):
        return x + 1

    @classmethod
    def amplified(cls, x):
        return x * cls.gain


class Made:
    def __init__(self, gain):
        self.gain = gain

    def apply(self, x):
        return x * self.gain


made = Made(5.0)
'''

MORE = """\
import functools
import numpy as np

part = functools.partial(lambda a, x: a * x, 2.0)
slow = np.vectorize(lambda x: x)
"""

ARGS = "f32[n, 3], bool[n]"


@pytest.fixture
def folder(in_folder):
    """A folder with a program, and the process in it."""
    return in_folder("mask.py", SOURCE)


@pytest.fixture
def dump(folder, capsys):
    """Run ``pytocu dump`` and return what it printed."""

    def run(*words: str) -> str:
        code = main(["dump", *words])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return run


@pytest.fixture
def refused(folder, capsys):
    """Run the command line and return the one sentence it refused with."""

    def run(*words: str, code: int = 2) -> str:
        assert main(list(words)) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert err.startswith("pytocu: ")
        return err.removeprefix("pytocu: ").removesuffix("\n")

    return run


def environment():
    """That of a new process, which finds this package in whatever folder it runs."""
    return {**os.environ, "PYTHONPATH": str(Path(pytocu.__file__).parent.parent)}


# pytocu dump


def test_dump_prints_the_plan(dump):
    text = dump("mask.py:mask_out", "--args", ARGS)
    assert text.startswith("host func @mask_out(%points: f32[n, 3], %mask: bool[n])")
    assert 'over = "grid"' in text
    assert print_function(parse_function(text)) == text.rstrip("\n")


@pytest.mark.parametrize("name", ["lower", *pass_names()])
def test_dump_after_every_pass(dump, name):
    text = dump("mask.py:mask_out", "--args", ARGS, "--after", name).rstrip("\n")
    assert print_function(parse_function(text)) == text


def test_dump_after_a_pass_shows_that_pass(dump):
    assert " weak float" in dump("mask.py:mask_out", "--args", ARGS, "--after", "lower")
    assert "const inf : f32" in dump("mask.py:mask_out", "--args", ARGS, "--after", "infer-types")
    assert "kernel" not in dump("mask.py:mask_out", "--args", ARGS, "--after", "cse")
    assert " = kernel " in dump("mask.py:mask_out", "--args", ARGS, "--after", "fuse")


def test_dump_of_a_cpu_target(dump):
    assert 'over = "parallel"' in dump("mask.py:mask_out", "--args", ARGS, "--target", "cpu")


def test_dump_all_prints_the_passes_that_changed_something(dump):
    text = dump("mask.py:mask_out", "--args", ARGS, "--all")
    parts = text.split("\n\n")
    headers = [part.partition("\n")[0] for part in parts]
    names = [header[2:].partition(":")[0] for header in headers]
    assert names[0] == "lower"
    assert {"infer-types", "fuse", "bufferize", "lower-loops"} <= set(names)
    order = ["lower", *pass_names()]
    assert names == sorted(names, key=order.index)
    bodies = [part.partition("\n")[2].rstrip("\n") for part in parts]
    assert all(a != b for a, b in itertools.pairwise(bodies))
    for body in bodies:
        assert print_function(parse_function(body)) == body
    sentences = dict(zip(pass_names(), (p.doc for p in PIPELINE), strict=True))
    assert all(header == f"# {name}: {sentences[name]}" for header, name in zip(headers[1:], names[1:], strict=True))
    assert bodies[-1] == dump("mask.py:mask_out", "--args", ARGS).rstrip("\n")


def test_dump_locs(dump):
    assert "# mask.py:9:12" in dump("mask.py:mask_out", "--args", ARGS, "--after", "lower", "--locs")
    assert "# mask.py:9:12" in dump("mask.py:mask_out", "--args", ARGS, "--all", "--locs")
    assert "mask.py" not in dump("mask.py:mask_out", "--args", ARGS, "--after", "lower")


def test_dump_code(dump):
    assert '__global__ void __launch_bounds__(256) mask_out(' in dump("mask.py:mask_out", "--args", ARGS, "--emit", "cuda")
    assert "define " in dump("mask.py:mask_out", "--args", ARGS, "--emit", "llvm")
    assembly = dump("mask.py:mask_out", "--args", ARGS, "--emit", "asm")
    assert "mask_out:" in assembly
    assert "define " not in assembly


@pytest.mark.parametrize("target", ["cuda", "cuda:sm_80", "cuda:sm_90", "cuda:sm_90a"])
def test_dump_cuda_needs_no_gpu(dump, target):
    assert "__global__" in dump("mask.py:mask_out", "--args", ARGS, "--emit", "cuda", "--target", target)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("square", "multiply %x, %x"),
        ("Filter.twice", "const 2.0"),
        ("Filter.thrice", "const 3"),
        ("Filter.shifted", "const 1"),
        ("Filter.amplified", "const 2.0"),
        ("made.apply", "const 5.0"),
        ("scaled", "const 2.0 : weak float"),
    ],
)
def test_dump_of_every_kind_of_function(dump, name, expected):
    assert expected in dump(f"mask.py:{name}", "--args", "f32[n]", "--after", "lower")


def test_dump_static_and_defaults(dump):
    text = dump("mask.py:powers", "--args", "f64[n]", "--static", "order=3", "--after", "lower")
    assert "square" in text
    assert "square" not in dump("mask.py:powers", "--args", "f64[n]", "--static", "order=2", "--after", "lower")
    static = ("--static", "order=3", "--static", "mode='x'")
    assert dump("mask.py:powers", "--args", "x=f64[n]", *static, "--after", "lower") == text


def test_dump_types_by_name(dump):
    text = dump("mask.py:scaled", "--args", "f32[n], factor=f64", "--after", "lower")
    assert text.startswith("func @scaled(%x: f32[n], %factor: f64)")
    text = dump("mask.py:mask_out", "--args", "mask=bool[n], points=float32[n, 3; F]", "--after", "lower")
    assert text.startswith("func @mask_out(%points: f32[n, 3; F], %mask: bool[n])")


def test_dump_fastmath(dump):
    assert "contract" not in dump("mask.py:powers", "--args", "f32[n]", "--static", "order=3")
    assert "contract" in dump("mask.py:powers", "--args", "f32[n]", "--static", "order=3", "--fastmath", "contract")
    assert "reassoc" in dump("mask.py:powers", "--args", "f32[n]", "--static", "order=3", "--fastmath")


def test_dump_imports_neighbours_and_hides_the_module(dump, folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "constants_of_the_neighbour.py").write_text("HALF = 0.5\n")
    (folder / "inner" / "numpy_user.py").write_text(
        "from dataclasses import dataclass\nfrom constants_of_the_neighbour import HALF\n\n"
        "@dataclass\nclass Point:\n    x: 'int' = 0\n\n"
        "def half(x):\n    return x * HALF\n\n"
        "if __name__ == '__main__':\n    raise SystemExit('ran as a program')\n"
    )
    assert "const 0.5" in dump("inner/numpy_user.py:half", "--args", "f32[n]", "--after", "lower")
    assert "numpy_user" not in sys.modules


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mask.py:mask_ou", "--args", ARGS], "mask.py has no 'mask_ou': did you mean mask_out?"),
        (["mask.py:Filter.twise", "--args", "f32"], "mask.py:Filter has no 'twise': did you mean twice?"),
        (["msk.py:mask_out"], "there is no file 'msk.py': did you mean mask.py?"),
        (["nowhere/mask.py:mask_out"], "there is no file 'nowhere/mask.py': there is no folder 'nowhere'"),
        (["mask"], "'mask' names no function: write FILE.py:FUNCTION"),
        (["."], "'.' names no function: write FILE.py:FUNCTION"),
        (["empty.py"], "'empty.py' names no function: write FILE.py:FUNCTION; empty.py defines none"),
        (["empty.py:f"], "empty.py has no 'f', and no other function"),
        (["inner:f"], "'inner' is a folder: name a file in it"),
        (["mask.py:Filter"], "mask.py:Filter is a class: name one of its methods, as mask.py:Filter.amplified"),
        (["many.py:total", "--args", "f32[n]"], "total(x, *rest) takes any number of arguments (*rest): name each parameter"),
        (["mask.py:GAIN"], "mask.py:GAIN is of type int: name a function, which is a def, a lambda or a jitted one"),
        (["mask.py:mask_out", "--after", "infer-type"], "there is no pass 'infer-type': did you mean infer-types?"),
        (["mask.py:mask_out", "--args", ARGS, "--emit", "cude"], "--emit cude: did you mean cuda?"),
        (
            ["mask.py:mask_out", "--args", ARGS, "--emit", "9"],
            "--emit 9: choose from ir, plan, cuda, nvvm, ptx, llvm, asm, resources",
        ),
        (
            ["mask.py:mask_out", "--args", ARGS, "--emit", "llvm", "--target", "cuda"],
            "--emit llvm has nothing for --target cuda: its target is cpu",
        ),
        (
            ["mask.py:mask_out", "--args", ARGS, "--emit", "asm", "--locs"],
            "--after, --all, --changed and --locs are for --emit ir",
        ),
        (
            ["mask.py:mask_out", "--args", "f33[n], bool[n]"],
            "--args, points: 'f33[n]' is not a type: did you mean f32[n]?",
        ),
        (["mask.py:mask_out", "--args", "F32[n], bool[n]"], "--args, points: 'F32[n]' is not a type: did you mean f32[n]?"),
        (["mask.py:scaled", "--args", "f32[n], weak itn"], "--args, factor: 'weak itn' is not a type: did you mean weak int?"),
        (
            ["mask.py:mask_out", "--args", "=f32, bool[n]"],
            "--args, points: '=f32' is not a type: write f32, f32[n, 3], i64[n, m; S] or weak float",
        ),
        (
            ["mask.py:square", "--args", "2.5"],
            "--args, x: 2.5 is a value: write its type, weak float, or --static x=2.5 where it is known while compiling",
        ),
        (
            ["mask.py:square", "--args", "f32[9223372036854775808]"],
            "--args, x: 'f32[9223372036854775808]': a length is below 2**63",
        ),
        (["mask.py:powers", "--static", "order=2", "--static", "order=3"], "--static gives order twice"),
        (["mask.py:square", "--args", "f32[n]", "--after", ""], "--after is empty"),
        (["mask.py:square", "--args", "f32[n]", "--after", "FUSE"], "there is no pass 'FUSE': did you mean fuse?"),
        (["mask.py::square"], "'mask.py::square': write one colon, mask.py:square"),
        (["link.py:square"], "there is no file 'link.py': did you mean mask.py?"),
        (["more.py:part"], "more.py:part is a functools.partial: name the function in it, and give its values with --static"),
        (["more.py:slow"], "more.py:slow is of np.vectorize: put @pytocu.vectorize above the function instead"),
        (["mask.py:mask_out", "--args", "f32[n]"], 'mask_out(points, mask) needs a type for mask: write --args "f32[n], ..."'),
        (
            ["mask.py:mask_out", "--args", "ptr f32, bool[n]"],
            "--args, points: 'ptr f32' is a type inside kernels: arguments are arrays, f32[n], or scalars, f32",
        ),
        (
            ["mask.py:mask_out", "--args", "f32[n // 0], bool[n]"],
            "--args, points: 'n // 0' is not a dimension: write 3, n, n - 2 or max(n - 2, 0)",
        ),
        (["mask.py:mask_out", "--args", f"{ARGS}, f32"], "--args has more types than parameters, which are points, mask"),
        (["mask.py:mask_out", "--args", "f32, masc=f32"], "--args: there is no parameter 'masc': did you mean mask?"),
        (["mask.py:mask_out", "--args", "f32, points=f32"], "--args gives points twice"),
        (["mask.py:powers", "--static", "ordr=2"], "--static ordr: powers has no such parameter: did you mean order?"),
        (["mask.py:powers", "--args", "f32[n]", "--static", "order"], "--static 'order': write NAME=VALUE"),
        (
            ["mask.py:powers", "--args", "f32[n]", "--static", "order=x"],
            "--static 'order=x': the value is no Python literal; strings are quoted: order=\"'text'\"",
        ),
        (["mask.py:square", "--args", "f32[n]", "--fastmath", "contrct"], "--fastmath contrct: did you mean contract?"),
        (
            ["mask.py:Made.apply", "--args", "f32[n]"],
            "mask.py:Made.apply is called on an object, and Made() fails (Made.__init__() missing 1 required positional "
            "argument: 'gain'): make an object in the file and name its method, as FILE.py:OBJECT.apply",
        ),
        ([], "the following arguments are required: FILE.py:FUNCTION (see pytocu dump --help)"),
        (["f.py:f", "--all", "--after", "x"], "argument --after: not allowed with argument --all (see pytocu dump --help)"),
        (["mask.py:square", "--unknown"], "the following arguments are required"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_dump_refuses_in_one_sentence(folder, refused, words, sentence):
    (folder / "empty.py").write_text("")
    (folder / "inner").mkdir()
    (folder / "many.py").write_text("def total(x, *rest):\n    return x\n")
    (folder / "link.py").symlink_to("nowhere.py")
    (folder / "more.py").write_text(MORE)
    if words[-1:] == ["--unknown"]:
        assert refused("dump", *words) == "pytocu dump has no option --unknown (see pytocu dump --help)"
        assert "has no option --emt: did you mean --emit?" in refused("dump", "mask.py:square", "--emt", "ptx")
        assert refused("passes", "fuse") == "pytocu passes takes no argument 'fuse' (see pytocu passes --help)"
        return
    assert refused("dump", *words) == sentence


def test_other_commands_say_that_they_take_python(folder, refused):
    (folder / "f.ir").write_text("func @f(%x: f32[n]) {\n  return %x {tree = 0}\n}\n")
    for command in ("explain", "bisect"):
        assert refused(command, "f.ir").startswith("'f.ir' is IR, which pytocu dump reads")


def test_dump_refuses_targets(refused):
    words = ("dump", "mask.py:mask_out", "--args", ARGS, "--target")
    assert refused(*words, "cpy").endswith("is not a target: write cpu, cuda or cuda:sm_90: did you mean cpu?")
    assert refused(*words, "gpu:7").startswith("'gpu:7' is not a target: write cpu, cuda or cuda:sm_90")


def test_dump_refuses_architectures_that_nvrtc_does_not_know(refused):
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-python: pip install 'pytocu[cu13]'")
    words = ("dump", "mask.py:mask_out", "--args", ARGS, "--target")
    assert refused(*words, "cuda:sm_91") == "NVRTC has no code for sm_91: did you mean sm_90?"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x = (\n", "broken.py:1: importing the file failed: SyntaxError: '(' was never closed"),
        ("\nimport no_such_module_anywhere\n", "broken.py:2: importing the file failed: ModuleNotFoundError: No module named"),
        ("\n\n1 / 0\n", "broken.py:3: importing the file failed: ZeroDivisionError: division by zero"),
        ("class Skip(BaseException): pass\nraise Skip('not here')\n", "broken.py:2: importing the file failed: Skip: not here"),
        (
            "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd\n",
            "broken.py:3: importing the file failed: Odd",
        ),
        ("raise SystemExit(3)\n", "broken.py:1: importing the file failed: it ends the program (3)"),
    ],
)
def test_dump_of_a_file_that_cannot_be_imported(refused, folder, source, sentence):
    (folder / "broken.py").write_text(source)
    assert refused("dump", "broken.py:f").startswith(sentence)


def test_what_a_file_prints_is_no_part_of_the_output(folder, capsys):
    (folder / "chatty.py").write_text("print('hello')\ndef f(x):\n    return x + 1\n")
    assert main(["dump", "chatty.py:f", "--args", "f32[n]", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["function"] == "f"
    assert err == "hello\n"


def test_a_function_that_is_not_compiled_shows_its_line(refused):
    text = refused("dump", "mask.py:branch", "--args", "f32[n]", code=1)
    assert "mask.py:23:" in text
    assert "if x > 0:" in text
    assert "np.where" in text


def test_debug_shows_the_traceback(folder, monkeypatch):
    monkeypatch.setenv("PYTOCU_DEBUG", "1")
    with pytest.raises(Exception, match="there is no file"):
        main(["dump", "msk.py:mask_out"])


def test_a_defect_is_called_one(refused, monkeypatch):
    def broken(options):
        raise KeyError("lost")

    monkeypatch.setattr(COMMANDS["passes"], "run", broken)
    assert refused("passes", code=1) == "this is a defect of pytocu: KeyError: 'lost' (PYTOCU_DEBUG=1 shows where)"


# The command line as a whole


def test_unknown_commands(refused):
    assert refused("dmp") == "there is no command 'dmp': did you mean dump?"
    assert refused("qqq") == "there is no command 'qqq': choose from " + ", ".join(COMMANDS)
    assert refused() == "the following arguments are required: COMMAND (see pytocu --help)"


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)])
def test_help(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: pytocu{' ' if words else ''}{' '.join(words)}")


def test_as_a_module_and_with_a_reader_that_leaves(folder):
    command = [sys.executable, "-m", "pytocu", "dump", "mask.py:mask_out", "--args", ARGS, "--all"]
    whole = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert whole.stdout.startswith("# lower:")
    assert whole.stderr == ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as reader:
        assert reader.stdout is not None and reader.stderr is not None
        reader.stdout.close()
        assert reader.stderr.read() == b""
    assert reader.returncode == 0


def test_exit_codes_of_the_process(folder):
    command = [sys.executable, "-m", "pytocu", "dump", "msk.py:f"]
    refused = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "pytocu: there is no file 'msk.py': did you mean mask.py?\n"


# pytocu passes, pytocu info


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has the file")
def test_an_output_that_takes_no_more(folder):
    command = [sys.executable, "-m", "pytocu", "dump", "mask.py:mask_out", "--args", "f32[n, 3], bool[n]"]
    with open("/dev/full", "w") as full:
        made = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment())
    assert (made.returncode, made.stderr) == (2, "pytocu: the output cannot be written: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes it")
def test_an_output_that_is_closed(folder):
    command = f"{sys.executable} -m pytocu passes >&-"
    made = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, env=environment())
    assert (made.returncode, made.stderr) == (0, "")


_INTERRUPTED = """
import _signal as signal, os, sys
# A shell starts what runs in its background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from pytocu.__main__ import run
sys.argv[0] = "pytocu"
take = signal.signal
def taken(*given):
    signal.signal = take
    take(*given)
    os.write(1, b".")  # From here on the command is in control, however busy the machine is.
signal.signal = taken
raise SystemExit(run())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("words", [("explain",), ("dump", "--all"), ("passes",)], ids=" ".join)
def test_an_interrupt_shows_no_traceback_whenever_it_comes(folder, words):
    """While NumPy and the commands are imported, while one runs, and behind it."""
    given = ["mask.py:mask_out", "--args", "f32[n, 3], bool[n]"] if words[0] != "passes" else []
    command = [sys.executable, "-c", _INTERRUPTED, words[0], *given, *words[1:]]
    codes = set()
    for moment in range(12):
        made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert made.stdout.read(1) == b"."
        time.sleep(0.002 + 0.04 * moment)
        made.send_signal(signal.SIGINT)
        said = made.communicate()[1].decode()
        codes.add(made.returncode)
        # Python's own end takes the handlers away, and then the signal ends the process.
        ends = ((130, "pytocu: interrupted\n"), (0, ""), (-signal.SIGINT, ""))
        assert (made.returncode, said) in ends, (moment, said)
    assert 130 in codes


def test_an_interrupt_in_a_call_that_no_exception_leaves(tmp_path):
    """As in the callbacks of weak references by which Python's imports give back their locks."""
    (tmp_path / "late.py").write_text("""
class Held:
    def __del__(self):
        raise KeyboardInterrupt

Held()
""")
    command = [sys.executable, "-m", "pytocu", "dump", "late.py:f", "--args", "f32[n]"]
    made = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment())
    assert (made.returncode, made.stderr) == (130, "pytocu: interrupted\n")


def test_the_command_line_is_in_control_before_numpy_is_imported():
    """Nothing is imported before, which would take longer than all else until then."""
    text = """
import os, sys
sys.path.append(sys.argv[1])
before = {*sys.modules}
import pytocu.__main__
print(sorted({*sys.modules} - before - {"_signal"}))
"""
    root = str(Path(pytocu.__path__[0]).parent)
    made = subprocess.run([sys.executable, "-S", "-c", text, root], capture_output=True, text=True, env=environment())
    assert (made.stdout, made.stderr) == ("['pytocu', 'pytocu.__main__']\n", "")


def test_public_names_are_there_before_they_are_used():
    text = """
import pickle, pydoc, sys, pytocu
assert set(pytocu.__all__) <= set(dir(pytocu)) and "numpy" not in sys.modules
from pytocu import ShapeError
assert "numpy" not in sys.modules and "pytocu.jitted" not in sys.modules
import pytocu.elementwise
assert pytocu.jit is pytocu.jitted.jit is pytocu.__getattr__("jit")
assert all(pickle.loads(pickle.dumps(v)) is v for v in map(pytocu.__getattr__, pytocu.__all__) if callable(v))
assert "def jit(" in pydoc.render_doc(pytocu.jit) or "jit(" in pydoc.render_doc(pytocu)
assert pytocu.__version__ == pytocu.config.VERSION
from pytocu import *
assert vectorize is pytocu.vectorize
try:
    pytocu.jot
except AttributeError as error:
    print(error)
"""
    made = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment())
    assert (made.stdout, made.stderr) == ("module 'pytocu' has no attribute 'jot'\n", "")


def test_all_that_changed_is_what_changed(dump):
    words = ("mask.py:mask_out", "--args", "f32[n, 3], bool[n]")
    assert dump(*words, "--all", "--changed") == dump(*words, "--changed") != dump(*words, "--all")


@pytest.mark.parametrize("output", ["mask.py", "mask.py/inside"])
def test_a_bundle_where_none_can_be(refused, output):
    words = ["build", "mask.py:mask_out", "--args", "f32[n, 3], bool[n]", "--output", output]
    assert refused(*words).startswith(f"--output {output} cannot be made: ")


def test_passes(capsys):
    assert main(["passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == ["lower", *pass_names()]
    text = "\n".join(lines)
    for step in PIPELINE:
        assert step.doc in text
        for needed, reason in step.after:
            assert f"after {needed}, because {reason}" in text


def test_info(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for word in ("Python", "NumPy", "llvmlite", "LLVM", "features", "threads", "NVRTC", "libNVVM", "nvJitLink", "bindings"):
        assert word in text
    assert np.__version__ in text
    for variable in ("PYTOCU_DISABLE", "PYTOCU_NUM_THREADS", "PYTOCU_DEBUG"):
        assert variable in text
    assert "compiled code" in text


def test_info_shows_variables_that_are_set(capsys, monkeypatch):
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "3")
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "= 3." in text
    assert "3 used of" in text


def test_info_says_what_is_missing_and_how_to_get_it(capsys, monkeypatch):
    def no_wheel():
        raise BackendError("NVRTC was not found (no libnvrtc): pip install 'pytocu[cu13]'")

    def no_library():
        raise BackendError("nvJitLink was not found (nowhere to be seen): pip install 'pytocu[cu13]'")

    monkeypatch.setattr(info.nvrtc, "supported_archs", no_wheel)
    monkeypatch.setattr(info, "_nvvm_version", no_wheel)
    monkeypatch.setattr(info, "_nvjitlink_version", no_library)
    monkeypatch.setattr(info, "_version", lambda name: "")
    monkeypatch.setattr(cuda, "available", lambda: (False, "no NVIDIA driver was found"))
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "none: no NVIDIA driver was found" in text
    assert "nvJitLink was not found (nowhere to be seen)" in text
    missing = text.partition("Missing\n")[2]
    assert "cuda-bindings, NVRTC, libNVVM, nvJitLink  pip install 'pytocu[cu13]'" in missing
    assert "rich, matplotlib" in missing
    assert "pip install 'pytocu[demo]'" in missing


def test_info_on_a_machine_that_only_runs_bundles(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
    monkeypatch.setattr(info.cpu, "host_cpu", info.cpu.host_cpu.__wrapped__)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "llvmlite builds code for the CPU, and cannot be loaded" in text
    assert "threads" in text and "features" not in text
    assert "pip install llvmlite" in text.partition("Missing\n")[2]


def test_info_on_a_machine_with_gpus(capsys, monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: (True, ""))
    monkeypatch.setattr(cuda, "driver_version", lambda: (13, 0))
    monkeypatch.setattr(cuda, "device_count", lambda: 2)
    monkeypatch.setattr(cuda, "device_name", lambda number: f"Some GPU {number}")
    monkeypatch.setattr(cuda, "arch", lambda number: "sm_90")
    monkeypatch.setattr(cuda, "multiprocessors", lambda number: 132)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "CUDA 13.0" in text
    assert "Some GPU 1, sm_90, 132 multiprocessors" in text


# What is printed with


def test_nearest_and_suggestion():
    assert nearest("dmp", ["dump", "demo"]) == ": did you mean dump?"
    assert nearest("zzz", ["dump"]) == ""
    assert suggestion("zzz", []) == ": choose from none"


def test_table():
    assert table([("a", "1"), ("long", ""), ("", "2")], indent="") == "a     1\nlong\n      2"
    assert table([]) == ""


class Screen:
    """A standard output that a person reads."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


@pytest.mark.parametrize("kind", ["ir", "cuda", "llvm", "asm", "header", "plain"])
def test_colour_changes_no_letter(monkeypatch, kind):
    rich_text = pytest.importorskip("rich.text", reason="needs rich: pip install 'pytocu[demo]'")
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    line = "  %0 = add %x, %y {axis = 1} : f32[n, 3]  # [red] is no markup here, and this line is long"
    show(line, kind)
    assert rich_text.Text.from_ansi(screen.text).plain.rstrip("\n") == line
    assert ("\x1b[" in screen.text) == (kind != "plain")


def test_plain_text_without_rich(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    show("%0 = add", "ir")
    assert screen.text == "%0 = add\n"


# pytocu demo


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'pytocu[demo]'")


def test_demo(matplotlib, tmp_path, capsys):
    picture = tmp_path / "relief.png"
    assert main(["demo", "--output", str(picture), "--size", "400", "--device", "cpu"]) == 0
    text = capsys.readouterr().out
    assert "The function becomes one kernel." in text
    assert "arctan2 %" in text
    assert len(text.splitlines()) < 60
    assert "CPU against NumPy: both float32 of shape (342, 401)" in text
    assert "344 x 403" in text
    assert "400 x 400" in text
    image = importlib.import_module("matplotlib.image").imread(picture)
    height, width = image.shape[:2]
    assert min(height, width) > 600
    middle = image[height // 4 : height // 2, width // 4 : width // 2, :3]
    assert middle.std() > 0.05


def test_demo_relief_is_numpys(matplotlib):
    raster = relief.load_raster()
    assert raster.elevation.dtype == np.float32
    assert 70 < raster.dx < 80 and 90 < raster.dy < 95
    found = relief.shaded_relief(raster.elevation, raster.dx, raster.dy)
    expected = relief.shaded_relief.__wrapped__(raster.elevation, raster.dx, raster.dy)
    assert found.dtype == expected.dtype == np.float32
    assert found.shape == expected.shape == (342, 401)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert np.median(ulp_distance(found, expected)) <= 1


def test_relief_of_planes():
    """A level plane is as bright as the sine of the sun's height; slopes towards the light are brighter."""
    level = np.zeros((5, 6), np.float32)
    np.testing.assert_allclose(relief.shaded_relief(level, 1.0, 1.0), np.sin(np.pi / 4), rtol=1e-6)
    rows, columns = np.mgrid[0:5, 0:6].astype(np.float32)
    to_the_west = relief.shaded_relief(columns, 1.0, 1.0, azimuth=270.0)
    np.testing.assert_allclose(to_the_west, 1.0, rtol=1e-6)
    np.testing.assert_allclose(relief.shaded_relief(columns, 1.0, 1.0, azimuth=90.0), 0.0, atol=1e-6)
    np.testing.assert_allclose(relief.shaded_relief(rows, 1.0, 1.0, azimuth=0.0), 1.0, rtol=1e-6)
    np.testing.assert_allclose(relief.shaded_relief(rows, 1.0, 1.0, azimuth=180.0), 0.0, atol=1e-6)


def test_demo_without_a_gpu_says_so(matplotlib, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo.cuda, "available", lambda: (False, "no NVIDIA driver was found"))
    assert main(["demo", "--output", str(tmp_path / "a.png"), "--size", "50"]) == 0
    assert "No GPU: no NVIDIA driver was found" in capsys.readouterr().out


def test_demo_refuses(matplotlib, refused, monkeypatch):
    assert refused("demo", "--device", "cdua") == "--device cdua: did you mean cuda?"
    assert refused("demo", "--size", "many").startswith("argument --size: 'many' is no size: write a number from 3 to 30000")
    monkeypatch.setattr(demo.cuda, "available", lambda: (False, "no NVIDIA driver was found"))
    assert refused("demo", "--device", "cuda") == "--device cuda: no NVIDIA driver was found"


def test_demo_without_matplotlib(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.cbook", None)
    sentence = "the demo needs matplotlib for its data and its picture: pip install 'pytocu[demo]'"
    assert refused("demo", "--device", "cpu") == sentence


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("nowhere/a.png", "there is no folder 'nowhere'"),
        (".", " is a folder: name a picture in it"),
        ("a.pgn", ".pgn is no ending of a picture: did you mean png?"),
        ("a", "it has no ending of a picture: choose from "),
    ],
)
def test_demo_with_a_place_where_no_picture_can_be(matplotlib, refused, place, sentence):
    assert refused("demo", "--device", "cpu", "--output", place).startswith(f"--output {place}: {sentence}".replace(":  ", " "))


def test_demo_with_a_picture_that_cannot_be_written(matplotlib, folder, capsys):
    raster = relief.load_raster()
    for place, reason in (("nowhere/a.png", "No such file or directory"), ("a.xyz", "is not supported")):
        with pytest.raises(relief.CommandError, match=reason):
            relief.draw(raster, raster.elevation[1:-1, 1:-1], str(Path(place)))


@pytest.mark.gpu
def test_demo_on_a_gpu(matplotlib, tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "relief.png"), "--device", "cuda"]) == 0
    text = capsys.readouterr().out
    assert "GPU against NumPy: both float32 of shape (342, 401)" in text
    assert "with copies to the GPU and back" in text


def test_none_is_a_value_and_words_that_are_no_python_warn_of_nothing(folder, capsys):
    (folder / "given.py").write_text("def given(x, scale):\n    return x if scale is None else x * scale\n")
    assert main(["dump", "given.py:given", "--args", "f32[n], None", "--after", "lower"]) == 0
    assert "func @given(%x: f32[n]) {" in capsys.readouterr().out
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert main(["dump", "given.py:given", "--args", "f32[n], 1for"]) == 2
        assert main(["dump", "given.py:given", "--args", "f32[n]", "--static", "scale=1for"]) == 2
    assert seen == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--nope",), "pytocu has no option --nope (see pytocu --help)"),
        (("dump", "mask.py:mask_out", "--args", ARGS, "--after", "fuse", "--after", "cse"), "--after is given twice"),
        (("dump", "mask.py:mask_out", "--args", ARGS, "--args", ARGS), "--args is given twice"),
        (("dump", "mask.py:mask_out", "--args", ARGS, "--emit", ""), "--emit is empty"),
        (("dump", "mask.py:mask_out", "--args", ARGS, "--fastmath", "nnan,"), "--fastmath 'nnan,' has an empty flag: choose"),
        (("dump", "mask.py:mask_out", "--args", "__import__('os'), bool[n]"), "--args, points: the module of the function"),
    ],
)
def test_what_is_given_twice_or_empty(folder, capsys, words, sentence):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"pytocu: {sentence}") and err.count("\n") == 1
    assert "did you mean __" not in err


def test_warnings_of_pytocu_are_sentences(folder):
    # It is said once a process, and only where the process has not built this code before: so a process of its own.
    done = subprocess.run(
        [sys.executable, "-m", "pytocu", "bisect", "mask.py:mask_out", "--args", "f32[2, 3], bool[2]", "--target", "cpu"],
        env={**environment(), "PYTOCU_CACHE_DIR": str(folder / "mask.py")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # Where it takes two seconds, lines say how far it is; nothing else stands beside the warning.
    said = [line for line in done.stderr.splitlines() if not re.fullmatch(r"inputs \d+ of \d+", line)]
    assert len(said) == 1 and said[0].startswith("pytocu: the cache of compiled code: the cache directory ")

"""Finished plans on disk: another process runs them without a compiler, and whatever they depend on misses them.

Every case runs a small program in processes of their own, which say whether the compiler was loaded.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import Loc
from pytocu.guards import MISSING, reader
from pytocu.runtime import cache, manifest, toolchain
from pytocu.runtime.fingerprint import NotWritable, Writer, code_digest

PACKAGE = str(Path(pytocu.__file__).parents[1])

TAIL = """
import sys
from pytocu.runtime import manifest
COMPILERS = ("pytocu.driver", "pytocu.frontend", "pytocu.passes", "pytocu.backend", "pytocu.ir.core", "llvmlite", "cuda.core")
loaded = [name for name in COMPILERS if name in sys.modules]
import json
print(json.dumps({"result": result, "compiled": "pytocu.driver" in loaded, "loaded": loaded, "refusals": manifest.refusals}))
"""


class Ran(NamedTuple):
    """What a program said: its result, and whether it compiled."""

    result: object
    compiled: bool
    refusals: dict[str, str]


class Project:
    """A folder of modules, and a cache, that programs are run with."""

    def __init__(self, folder: Path):
        self.folder = folder / "project"
        self.cache = folder / "cache"
        self.folder.mkdir()

    def run(self, program: str, cache: Path | None = None, **more: str) -> Ran:
        file = self.folder / "program.py"
        file.write_text(textwrap.dedent(program) + TAIL)
        environment = {**os.environ, "PYTOCU_CACHE_DIR": str(cache or self.cache), "PYTHONPATH": PACKAGE, **more}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout.splitlines()[-1])
        # Nothing of the compiler, or all of it: the parts are not loaded one by one.
        assert said["compiled"] or said["loaded"] == []
        return Ran(said["result"], said["compiled"], said["refusals"])

    def module(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(textwrap.dedent(text))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def kept(project: Project, program: str) -> object:
    """Runs a program twice: the second process finds what the first one kept; returns the result."""
    first = project.run(program)
    assert first.compiled and first.refusals == {}
    second = project.run(program)
    assert second == (first.result, False, {})
    return first.result


SIMPLE = """
import numpy as np, pytocu

@pytocu.jit
def f(x, y):
    return np.sqrt(x * x + y)

result = f(np.arange(4.0), np.ones(4)).tolist()
"""


def test_a_new_process_runs_what_another_one_compiled(project: Project) -> None:
    assert kept(project, SIMPLE) == np.sqrt(np.arange(4.0) ** 2 + 1).tolist()


def test_the_place_in_the_file_does_not_matter(project: Project) -> None:
    result = kept(project, SIMPLE)
    assert project.run("# Lines before it.\n\n\n" + SIMPLE) == (result, False, {})
    assert project.run(SIMPLE.replace("    return", "    # a comment of the same length would do, too\n    return")).compiled
    assert not project.run(SIMPLE.replace("+ y)", "+ y)  # behind the expression")).compiled


def test_another_place_and_user(project: Project, tmp_path: Path) -> None:
    result = kept(project, SIMPLE)
    copied = tmp_path / "elsewhere" / "copy"
    shutil.copytree(project.cache, copied)
    other = Project(tmp_path / "elsewhere")
    home = {"HOME": str(tmp_path / "nobody"), "USER": "somebody", "LOGNAME": "somebody", "HOSTNAME": "other"}
    assert other.run(SIMPLE, copied, **home) == (result, False, {})


CAPTURES = """
import enum, functools, math
import numpy as np
import numpy.linalg
import pytocu
import helpers
from helpers import Settings, inner

FACTOR = {factor}
TABLE = {{"a": (1.0, 2), "b": [np.float32(3), None, "x"]}}
SETTINGS = Settings({setting})
scaled = functools.partial(helpers.scale, by={by})

class Mode(enum.Enum):
    PLAIN = 1
    OTHER = 2

MODE = Mode.{mode}
root = {root}

def closure():
    offset = {offset}

    @pytocu.jit
    def f(x, k=helpers.DEFAULT):
        y = x * FACTOR + offset
        if MODE is Mode.OTHER:
            y = y + 1000
        for value in TABLE["a"]:
            y = y + value
        return inner(root(y)) + SETTINGS.value + SETTINGS.twice + scaled(x) + helpers.CONSTANT + math.pi + k

    return f

result = closure()(np.arange(1.0, 4.0)).tolist()
"""
HELPERS = """
import numpy as np, pytocu
CONSTANT = {constant}
DEFAULT = 4
EXTRA = {extra}

class Settings:
    def __init__(self, value):
        self.value = value
    @property
    def twice(self):
        return self.value * {times}

def scale(x, by):
    return x * by

@pytocu.jit
def inner(x):
    return deeper(x) + EXTRA

def deeper(x, more={more}):
    return np.exp(x) {change} + more
"""
CHOSEN = {
    "factor": 2.0, "setting": 3, "by": 5, "mode": "PLAIN", "root": "np.sqrt", "offset": 1.5, "constant": 7, "extra": 0.25,
    "times": 2, "more": 0.5, "change": "",
}  # fmt: skip
OTHERS = {
    "factor": 2.5, "setting": 3.0, "by": 6, "mode": "OTHER", "root": "np.cbrt", "offset": 1, "constant": 7.5, "extra": 0.5,
    "times": 3, "more": -0.5, "change": "* 1.0",
}  # fmt: skip


def test_each_captured_value_and_callee(project: Project, part: Any) -> None:
    def run(**changed: object) -> Ran:
        values = {**CHOSEN, **changed}
        project.module("helpers", HELPERS.format(**values))
        return project.run(CAPTURES.format(**values))

    first = run()
    assert first.compiled and first.refusals == {}
    assert run() == (first.result, False, {})
    for name, other in part(list(OTHERS.items())):
        changed = run(**{name: other})
        assert changed.compiled, name
        assert run(**{name: other}) == (changed.result, False, {}), name
    # Those that were kept before are there still.
    assert run() == (first.result, False, {})


def test_other_functions_of_a_module_do_not_matter(project: Project) -> None:
    project.module("helpers", HELPERS.format(**CHOSEN))
    project.run(CAPTURES.format(**CHOSEN))
    project.module("helpers", HELPERS.format(**CHOSEN) + "\nUNUSED = 3\ndef unused(x):\n    return x\n")
    assert not project.run(CAPTURES.format(**CHOSEN)).compiled


OPTIONS = """
import numpy as np, pytocu
{setup}
@pytocu.jit({options})
def f(x, mode="a", axis=None):
    return np.exp(x) * (1 if mode == "a" else 2)
result = f({arguments}).tolist()
"""


@pytest.mark.parametrize(
    "changed",
    [
        {"options": "fastmath='contract'"},
        {"arguments": "np.arange(3.0, dtype='f')"},
        {"arguments": "np.arange(3.0), 'b'"},
        {"arguments": "np.arange(3.0), axis=(1, 2)"},
        {"arguments": "np.ones(1)"},
        {"arguments": "np.ones((2, 3)).T"},
        {"setup": "np.__version__ = '2.99'"},
        {"setup": "from pytocu import config; config.build = lambda: '9'"},
        {"setup": "from pytocu.runtime import toolchain; toolchain.installed = lambda backend: 'llvmlite 99'"},
        {"setup": "from pytocu.runtime import host_cpu; host_cpu.host = lambda: 'another CPU'"},
    ],
)
def test_what_else_a_plan_depends_on(project: Project, changed: dict[str, str]) -> None:
    def program(**values: str) -> str:
        return OPTIONS.format(**{"setup": "", "options": "", "arguments": "np.arange(3.0)", **values})

    result = kept(project, program())
    assert project.run(program(**changed)).compiled
    assert project.run(program()) == (result, False, {})


def test_a_machine_without_a_compiler_uses_what_is_there(project: Project) -> None:
    result = kept(project, SIMPLE)
    setup = "from pytocu.runtime import toolchain\ntoolchain.installed = lambda backend: ''\n"
    assert project.run(setup + SIMPLE) == (result, False, {})


LENGTHS = """
import numpy as np, pytocu

@pytocu.jit
def f(x, y):
    return x[1:] + y

result = [f(np.arange(n + 1.0), np.ones(m)).tolist() for n, m in {cases}]
"""


def test_facts_about_lengths(project: Project) -> None:
    many = LENGTHS.format(cases="[(5, 5), (2, 2)]")
    broadcast = LENGTHS.format(cases="[(1, 4)]")
    kept(project, many)
    first = project.run(broadcast)
    assert first.compiled and first.result == [[2.0] * 4]
    assert project.run(broadcast) == (first.result, False, {})
    assert not project.run(many).compiled
    assert not project.run(LENGTHS.format(cases="[(1, 4), (7, 7)]")).compiled


ERRORS = """
import numpy as np, pytocu
{lines}
def inner(x, y):
    return x + y

@pytocu.jit
def f(x, y):
    z = x * 2
    return inner(z, y)

f(np.ones(3), np.ones(3))
try:
    f(np.ones(3), np.ones(4))
except ValueError as error:
    result = str(error)
"""


def test_errors_name_the_line(project: Project) -> None:
    first = kept(project, ERRORS.format(lines=""))
    assert "program.py:5:12, in inner" in str(first) and "called from" in str(first) and "z = " not in str(first)
    moved = project.run(ERRORS.format(lines="\n\n"))
    assert not moved.compiled
    assert "program.py:7:12, in inner" in str(moved.result) and "return inner(z, y)" in str(moved.result)


METHODS = """
import numpy as np, pytocu

class Model:
    gain = 3
    def __init__(self, scale):
        self.scale = scale

    @pytocu.jit
    def apply(self, x):
        return self.shifted(x) * self.scale + (1 if hasattr(self, "extra") else 0) + self.gain

    def shifted(self, x):
        return x - {shift}

model = Model({scale})
{more}
result = model.apply(np.arange(3.0)).tolist()
"""


def test_methods_and_objects(project: Project) -> None:
    def run(**changed: object) -> Ran:
        return project.run(METHODS.format(**{"shift": 1, "scale": 2.0, "more": "", **changed}))

    first = run()
    assert first.compiled and first.refusals == {}
    assert run() == (first.result, False, {})
    assert run(more="unused = 1") == (first.result, False, {})
    for changed in ({"shift": 2}, {"scale": 3.0}, {"more": "model.extra = 1"}, {"more": "Model.gain = 4"}):
        assert run(**changed).compiled, changed
        assert not run(**changed).compiled, changed


LATER = """
import numpy as np, pytocu

GAIN = 2

class Settings:
    offset = 1

settings = Settings()

def inner(x):
    return x * GAIN

@pytocu.jit
def f(x):
    return inner(x) + settings.offset

x = np.arange(3.0)
result = [f(x).tolist()]
{change}
result.append(f(x).tolist())
result.append([s.facts for s in f.specializations][-1])
"""


@pytest.mark.parametrize(
    ("change", "second"),
    [
        ("GAIN = 3", [1.0, 4.0, 7.0]),
        ("settings.offset = 5", [5.0, 7.0, 9.0]),
        ("Settings.offset = 5", [5.0, 7.0, 9.0]),
        ("def inner(x): return x", [1.0, 2.0, 3.0]),
        ("f.lower('f32[n]').kernels[0].name", [1.0, 3.0, 5.0]),
    ],
)
def test_what_was_loaded_is_guarded(project: Project, change: str, second: list[float]) -> None:
    project.run(LATER.format(change=""))
    ran = project.run(LATER.format(change=change))
    assert ran.compiled
    assert ran.result == [[1.0, 3.0, 5.0], second, ["captured GAIN", "captured Settings.offset", "offsets fit 32 bits"]]


def test_true_is_another_value_than_one(project: Project) -> None:
    program = """
        import numpy as np, pytocu

        K, LISTED = {0}, [{0}]

        @pytocu.jit
        def f(x):
            return (x > 1) + K, (x > 1) + LISTED[0]

        result = [str(r.dtype) for r in f(np.arange(3.0))]
        """
    assert project.run(program.format(1)) == (["int64", "int64"], True, {})
    assert project.run(program.format(True)) == (["bool", "bool"], True, {})
    assert project.run(program.format(True)) == (["bool", "bool"], False, {})


SHARED = """
import numpy as np, pytocu

class Box:
    pass

first, second = Box(), Box()
{same}
first.value, second.value = 2, {value}

@pytocu.jit
def f(x):
    return x * first.value + second.value

result = f(np.arange(3.0)).tolist()
"""


def test_functions_of_scalars(project: Project) -> None:
    """How a function was vectorized is part of what it is, on its own and where another one calls it."""
    module = """
        import pytocu

        def plain(x):
            return x if x > 0 else 0.0

        made = pytocu.vectorize({})(plain)
        """
    alone = """
        import numpy as np, scalars
        result = scalars.made(np.array([1.0, -1.0])).tolist()
        """
    called = """
        import numpy as np, pytocu, scalars
        result = pytocu.jit(lambda x: scalars.made(x) * 2)(np.array([1.0, -1.0])).tolist()
        """
    project.module("scalars", module.format(""))
    assert kept(project, alone) == [1.0, 0.0]
    assert kept(project, called) == [2.0, 0.0]
    project.module("scalars", module.format("nout=1"))
    for program in (alone, called):
        assert project.run(program).compiled


def test_one_object_or_two(project: Project) -> None:
    kept(project, SHARED.format(same="", value=2))
    assert project.run(SHARED.format(same="second = first", value=2)).compiled
    assert project.run(SHARED.format(same="second = first", value=2)) == ([2.0, 4.0, 6.0], False, {})
    assert project.run(SHARED.format(same="", value=2)) == ([2.0, 4.0, 6.0], False, {})


REFUSED = {
    "subclass": ("class Int(int):\n    pass\nvalue = Int(3)", "value.real", "subclass of a plain type"),
    "attributes": ("def value():\n    return 1\nvalue.more = 3", "value() + value.more", "which has attributes"),
    "container": ("class Map(dict):\n    pass\nvalue = Map(a=1)", "(1 if value is None else 2)", "container with attributes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_another_process_could_not_compare_is_not_kept(project: Project, name: str) -> None:
    setup, expression, reason = REFUSED[name]
    function = f"f = pytocu.jit(lambda x: x + {expression})"
    program = "\n".join(("import numpy as np, pytocu", setup, function, "result = f(np.ones(2)).tolist()"))
    for _ in range(2):
        ran = project.run(program)
        assert ran.compiled
        assert reason in ran.refusals["<lambda>"]


def test_source_that_changed_after_the_import_is_not_kept(project: Project) -> None:
    project.module("changing", "import numpy as np, pytocu\n\n@pytocu.jit\ndef f(x):\n    return x + 1\n")
    program = """
    import numpy as np, pathlib, changing
    file = pathlib.Path(changing.__file__)
    text = file.read_text()
    file.write_text(text.replace("+ 1", "+ 2"))
    changing.f(np.ones(2))
    file.write_text(text)
    result = None
    """
    ran = project.run(program)
    assert "changed since it was imported" in ran.refusals["f"]
    assert cache_kinds(project) == ["code"]


def cache_kinds(project: Project) -> list[str]:
    before = os.environ.get("PYTOCU_CACHE_DIR")
    os.environ["PYTOCU_CACHE_DIR"] = str(project.cache)
    try:
        return sorted(e.kind for e in cache.entries())
    finally:
        if before is None:
            del os.environ["PYTOCU_CACHE_DIR"]
        else:
            os.environ["PYTOCU_CACHE_DIR"] = before


def test_every_byte_of_a_manifest_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    function = pytocu.jit(lambda x: x * 3)
    x = np.arange(4.0)
    function(x)
    (entry,) = [e for e in cache.entries() if e.kind == "manifest"]
    assert (entry.meta["function"], entry.meta["target"]) == ("test_every_byte_of_a_manifest_counts.<locals>.<lambda>", "cpu")
    assert entry.meta["signature"] == "(x: f64[x_0])"
    file = tmp_path / "cache" / f"{entry.key}.entry"
    data = file.read_bytes()
    assert cache.load(entry.key) is not None
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert cache.load(entry.key) is None, place
    # And the function is compiled again.
    file.write_bytes(data[:-1])
    again = pytocu.jit(function.__wrapped__)
    np.testing.assert_array_equal(again(x), x * 3)
    assert cache.load(entry.key) is not None


def test_a_binary_that_was_removed_is_built_again(project: Project) -> None:
    result = kept(project, SIMPLE)
    for file in project.cache.glob("*.entry"):
        if b"\x7fELF" in file.read_bytes():
            file.unlink()
    assert project.run(SIMPLE) == (result, True, {})
    assert project.run(SIMPLE) == (result, False, {})


def test_specialisations_under_one_key_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(manifest, "MOST", 3)

    def made(value: float) -> object:
        def f(x):
            return x + value

        return pytocu.jit(f)(np.ones(2))

    for number in range(6):
        made(float(number))
    (entry,) = [e for e in cache.entries() if e.kind == "manifest"]
    loaded = cache.load(entry.key)
    assert loaded is not None
    assert [k["values"] for k in json.loads(loaded.text)] == [[["float", float(n).hex()]] for n in (5, 4, 3)]


# The parts.


def sample(x, k=3):
    return [x + i for i in range(k)]


def test_digest_of_code() -> None:
    def digest(text: str) -> str:
        namespace: dict[str, object] = {}
        exec(compile(text, "some file", "exec"), namespace)
        return code_digest(namespace["f"].__code__)  # pyright: ignore[reportAttributeAccessIssue]

    base = digest("def f(x): return x + 1")
    assert digest("\n\n\ndef f(x): return x + 1") == base
    assert digest("def f(x): return x + 1  # comment") == base
    others = [
        "def f(x): return x + 2", "def f(x): return x + 1.0", "def f(x): return x + True", "def f(y): return y + 1",
        "def f(x): return x - 1", "def f(x):  return x + 1", "def f(x, y): return x + 1", "def f(x, /): return x + 1",
        "def f(x): return x + 0.0", "def f(x): return x + -0.0", "def f(x): return x in {1, 2}", "def f(x): return x in {1, 3}",
        "def f(x): return (lambda: x + 1)", "def f(x): return (lambda: x + 2)",
    ]  # fmt: skip
    assert len({base, *map(digest, others)}) == len(others) + 1


class Plain:
    def method(self) -> int:
        return 1


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0, True, 1j, "1", b"1", None, np.float32(1), np.float64(1), np.int64(1), np.dtype("f4"), ...),
        (0.0, -0.0, float("nan"), -float("nan"), complex(float("nan"), 0), complex(-float("nan"), 0), float("inf")),
        ((1, 2), [1, 2], (1, 2.0), ((1,), 2), {1, 2}, frozenset({1, 2}), {1: 2}, {2: 1}, range(1, 2), slice(1, 2)),
        (np.exp, np.log, np.sum, abs, len, str.upper, int, float, np.float32, Plain, sample, np, np.linalg),
        (np.finfo("f4"), np.finfo("f8"), np.iinfo("i4"), Plain(), object(), MISSING),
    ],
)
def test_written_values_differ(values: tuple[object, ...]) -> None:
    texts = [json.dumps(Writer().write(v)) for v in values]
    assert len(set(texts)) == len(values)
    assert texts == [json.dumps(Writer().write(v)) for v in values]
    assert "0x7" not in " ".join(texts)


@pytest.mark.parametrize("value", [np.ones(2), "x".upper, np.frompyfunc(abs, 1, 1), type("Text", (str,), {})("a")])
def test_values_that_cannot_be_written(value: object) -> None:
    with pytest.raises(NotWritable):
        Writer().write(value)


def test_paths() -> None:
    value = {"a": [1, (2, 3)]}

    def function():
        return value, sample

    inside = ["item", ["item", ["item", ["closure", ["function"], 0], "a"], 1], 0]
    assert reader(inside, function)([]) == 2
    assert reader(("global", ("function",), "sample"), function)([]) is sample
    assert reader(("global", ("function",), "no such name"), function)([]) is MISSING
    assert reader(("closure", ("function",), 9), function)([]) is MISSING
    assert reader(("item", ("argument", 0), 5), function)([[1]]) is MISSING
    assert reader(("type", ("argument", 0)), function)([1]) is int
    assert reader(("same", ("argument", 0), ("argument", 1)), function)([value, value]) is True


def test_places_are_kept_relative_to_their_function() -> None:
    first = sample.__code__.co_firstlineno
    loc = Loc(__file__, first + 1, 5, 9, "sample", Loc(__file__, first, 1, 2, "sample"))
    written = manifest._written_loc(loc, [sample])
    assert written == [0, 1, 5, 9, "sample", [0, 0, 1, 2, "sample", None]]
    assert manifest._read_loc(written, [sample]) == loc
    with pytest.raises(NotWritable):
        manifest._written_loc(Loc("elsewhere.py", first), [sample])


def test_versions_are_found_without_reading_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import llvmlite

    assert toolchain.installed("llvm") == f"llvmlite {llvmlite.__version__}"
    (tmp_path / "nvidia_cuda_nvrtc_cu12-12.9.1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert toolchain.installed("cuda_c") == "nvidia_cuda_nvrtc_cu12 12.9.1"
    assert toolchain.installed("llvm") == ""


def test_work_on_pytocu_itself_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "pytocu"
    package.mkdir()
    monkeypatch.setattr(pytocu.config, "__file__", str(package / "config.py"))
    (package / "config.py").write_text("")
    build = pytocu.config.build.__wrapped__
    assert build() == pytocu.config.VERSION
    (tmp_path / ".git").mkdir()
    first = build()
    os.utime(package / "config.py", ns=(0, 2**60))
    assert build() == first
    (package / "config.py").write_text("# edited")
    second = build()
    (package / "config.py").rename(package / "other.py")
    assert len({pytocu.config.VERSION, first, second, build()}) == 4


def test_two_commits_of_one_version_differ_where_they_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an installer notes of modules counts, and neither their order nor how they were installed."""
    monkeypatch.setattr(pytocu.config, "__file__", str(tmp_path / "pytocu" / "config.py"))
    record = tmp_path / f"pytocu-{pytocu.config.VERSION}.dist-info" / "RECORD"
    record.parent.mkdir()
    build = pytocu.config.build.__wrapped__

    def of(*lines: str) -> str:
        record.write_text("".join(f"{line}\n" for line in lines))
        return build()

    modules = ["pytocu/jit.py,sha256=abc,10", "pytocu/ir/ops.py,sha256=def,20"]
    first = of(*modules)
    assert first.startswith(f"{pytocu.config.VERSION}+")
    elsewhere = ["pytocu-0.1.0.dist-info/INSTALLER,sha256=x,4", "../../bin/pytocu,sha256=y,9", "pytocu/__pycache__/jit.pyc,,"]
    assert of(*elsewhere, *reversed(modules)) == first
    assert of(modules[0], "pytocu/ir/ops.py,sha256=ghi,20") != first


def test_the_checksum_of_a_checkout_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, build = tmp_path / "pytocu", pytocu.config.build.__wrapped__
    (package / "__pycache__").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(pytocu.config, "__file__", str(package / "config.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (package / "config.py").write_text("")
    first = build()
    (noted,) = (package / "__pycache__").iterdir()
    state, _, checksum = noted.read_text().partition(" ")
    assert first == f"{pytocu.config.VERSION}+{checksum}"
    # It is read while the files are as they were, and written anew with them.
    noted.write_text(f"{state} 12345678")
    assert build() == f"{pytocu.config.VERSION}+12345678"
    for damaged in ("", state, f"{state} 123", "é"):
        noted.write_text(damaged, encoding="utf-8")
        assert build() == first
    (package / "config.py").write_text("# edited")
    assert build() not in (first, f"{pytocu.config.VERSION}+12345678")
    noted.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    build()
    assert not noted.exists()

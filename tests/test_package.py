"""The package: its floors of imports, what importing it costs, its metadata, and what editors see of it."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import pytocu

# Each example is tested, however many there are.
pytestmark = pytest.mark.every

ROOT = Path(__file__).parent.parent
PACKAGE = Path(pytocu.__file__).parent

_GROUND = {
    "ahead", "binding", "c_functions", "call_operations", "deferred", "errors", "floats", "config", "guards", "lazy",
    "llvm_access", "operands", "processes", "record", "sentences", "tree_calls", "tree_text", "trees",
}  # fmt: skip
_COMPILER = {"frontend", "passes", "backend"}
FLOORS: dict[str, set[str]] = {
    "ahead": _GROUND,
    "binding": _GROUND,
    "c_functions": _GROUND,
    "call_operations": _GROUND,
    "deferred": _GROUND,
    "errors": _GROUND,
    "floats": _GROUND,
    "config": _GROUND,
    "guards": _GROUND,
    "lazy": _GROUND,
    "llvm_access": _GROUND,
    "operands": _GROUND,
    "processes": _GROUND,
    "record": _GROUND,
    "sentences": _GROUND,
    "tree_text": _GROUND,
    "tree_calls": _GROUND,
    "trees": _GROUND,
    "report": _GROUND | {"ir", "passes", "backend", "planning", "driver", "explain", "report"},
    "ir": _GROUND | {"ir"},
    "frontend": _GROUND | {"ir", "frontend"},
    "passes": _GROUND | {"ir", "passes"},
    "backend": _GROUND | {"ir", "backend"},
    "runtime": _GROUND | {"ir.types", "ir.dims", "ir.axis_orders", "ir.python_functions", "ir.library_names", "runtime"},
    "planning": _GROUND | _COMPILER | {"ir", "runtime"},
    "driver": _GROUND | _COMPILER | {"ir", "runtime", "planning", "host_builds"},
    "host_builds": _GROUND | {"backend", "runtime"},
    "source_function": _GROUND | {"ir.types", "runtime", "driver", "explain", "host_builds"},
    "compiles": _GROUND
    | {"ir.types", "ir.dims", "ir.collector", "backend.libraries", "runtime"}
    | {"driver", "explain", "source_function", "host_builds"},
    "jitted": _GROUND | {"runtime", "driver", "explain", "compiles", "source_function"},
    "elementwise": _GROUND | {"jitted"},
    "explain": _GROUND | _COMPILER | {"ir", "runtime", "planning", "driver", "explain"},
    "testing": _GROUND | _COMPILER | {"ir", "runtime", "driver", "jitted", "elementwise", "explain", "testing", ""},
    "cli": _GROUND | _COMPILER | {"ir", "runtime", "driver", "compiles", "jitted", "explain", "testing", "report", "cli", ""},
    "": _GROUND | {"jitted", "elementwise", "runtime"},
    "__main__": {"cli"},
}
"""What each floor may import: a folder, a module, or ``""`` for the package itself."""

LATE = {
    ("__main__", "pytocu.cli.main.main"),
    ("", "pytocu.deferred.Deferred"),
    ("errors", "pytocu.sentences.said"),
    *(("driver", f"pytocu.backend.{name}") for name in ("cpu", "cubin", "cuda_c", "llvm", "nvrtc", "nvvm", "sass")),
    ("driver", "pytocu.backend.cpu_steps"),
    ("compiles", "pytocu.runtime.bundle"),
    ("runtime.arrays", "pytocu.runtime.dlpack"),
    ("runtime.device_array", "pytocu.runtime.dlpack"),
    ("runtime.cuda", "pytocu.runtime.driver_api.Driver"),
    ("runtime.dispatcher", "pytocu.runtime.copying"),
    ("runtime.dispatcher", "pytocu.runtime.changes"),
    ("runtime.dispatcher", "pytocu.runtime.native_calls"),
    ("source_function", "pytocu.host_builds"),
    ("host_builds", "pytocu.backend.cpu"),
    ("host_builds", "pytocu.backend.call_code"),
    ("host_builds", "pytocu.backend.gpu_steps"),
    ("runtime.executable", "pytocu.runtime.changes.sharing_text"),
    ("runtime.access", "pytocu.runtime.on_cpu"),
    ("runtime.access", "pytocu.runtime.on_cuda"),
    ("runtime.access", "pytocu.runtime.host_steps"),
    ("passes.pointwise", "pytocu.passes.vector_rows"),
    ("passes.lower_loops", "pytocu.passes.column_loops.Columns"),
    ("passes.lower_loops", "pytocu.passes.short_row_loops.ShortRows"),
    ("passes.lower_loops", "pytocu.passes.reduce_loops.Rows"),
    ("passes.lower_loops", "pytocu.passes.register_loops.Registers"),
    ("passes.lower_loops", "pytocu.passes.row_blocks.RowBlocks"),
    ("passes.lower_loops", "pytocu.passes.stretch_loops.Stretches"),
    *(("passes.lower_loops", f"pytocu.passes.scan_loops.Scan{name}") for name in ("Registers", "Rows", "Stretches")),
    *(("passes.lower_loops", f"pytocu.passes.{name}") for name in ("rolling_rows", "stretches", "turned_loops")),
}
"""Imports that functions hold: what few programs need, or what only a call does, is loaded where it is needed."""


@functools.cache
def modules(package: Path) -> dict[str, ast.Module]:
    """Syntax trees of all modules by dotted name below the package."""
    found: dict[str, ast.Module] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text())
    return found


def imports(tree: ast.AST, inside_function: bool = False) -> Iterator[tuple[str, int, bool]]:
    """Imported names, dotted to the last part, with the line and whether a function holds the import."""
    for node in ast.iter_child_nodes(tree):
        inside = inside_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        match node:
            case ast.Import(names):
                yield from ((alias.name, node.lineno, inside) for alias in names)
            case ast.ImportFrom(module, names, level):
                assert level == 0, f"line {node.lineno}: imports are absolute"
                yield from ((f"{module}.{alias.name}", node.lineno, inside) for alias in names)
            case ast.Call(ast.Name("Deferred"), [ast.Constant(module), ast.Constant(name)]):
                yield f"{module}.{name}", node.lineno, inside
            case ast.Call(ast.Name("DeferredModule"), [ast.Constant(module)]):
                yield str(module), node.lineno, inside
            case _:
                yield from imports(node, inside)


def violations(trees: dict[str, ast.Module]) -> list[str]:
    """Every import of the package's own modules that goes up, sideways, or hides in a function."""
    found: list[str] = []
    for name, tree in trees.items():
        floor = name.partition(".")[0]
        for imported, line, inside in imports(tree):
            head, _, rest = imported.partition(".")
            if head != "pytocu":
                continue
            # The last part may be a name of a module: the longest part that is a module counts.
            while rest and rest not in trees:
                rest = rest.rpartition(".")[0]
            if inside and (name, imported) not in LATE:
                found.append(f"{name}:{line} imports {imported} inside a function")
            folders = {rest, rest.partition(".")[0]} if rest else {""}
            if not folders & FLOORS.get(floor, set()):
                found.append(f"{name}:{line} must not import {imported}")
    return found


def test_handlers_of_every_error_say_why():
    missing: list[str] = []
    for name, tree in modules(PACKAGE).items():
        path = PACKAGE.joinpath(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        lines = file.read_text().splitlines()
        for node in ast.walk(tree):
            match node:
                case ast.ExceptHandler(type=None | ast.Name(id="Exception" | "BaseException"), lineno=line):
                    if not lines[line].strip().startswith("# "):
                        missing.append(f"{file.relative_to(PACKAGE)}:{line}")
    assert not missing


def test_imports_point_down():
    trees = modules(PACKAGE)
    assert len(trees) > 40
    assert {name.partition(".")[0] for name in trees} == set(FLOORS)
    assert violations(trees) == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("passes.planted", "from pytocu.frontend import lower", "passes.planted:1 must not import pytocu.frontend.lower"),
        ("ir.planted", "from pytocu.passes.context import Target", "ir.planted:1 must not import"),
        ("runtime.planted", "from pytocu.ir.core import Inst", "runtime.planted:1 must not import"),
        ("runtime.planted", "from pytocu.ir import core", "runtime.planted:1 must not import"),
        ("runtime.planted", "import pytocu", "runtime.planted:1 must not import pytocu"),
        ("errors", "\nimport pytocu.ir.dims", "errors:2 must not import pytocu.ir.dims"),
        ("driver", "def f():\n    from pytocu.ir import core", "driver:2 imports pytocu.ir.core inside a function"),
        ("passes.planted", 'x = Deferred("pytocu.frontend.lower", "lower")', "passes.planted:1 must not import"),
        ("passes.planted", 'x = DeferredModule("pytocu.frontend.lower")', "passes.planted:1 must not import"),
        ("driver", "if True:\n    from pytocu import jitted", "driver:2 must not import pytocu.jitted"),
    ],
)
def test_the_floors_are_held(module, source, said):
    names = dict.fromkeys(modules(PACKAGE), ast.parse(""))
    assert any(found.startswith(said) for found in violations({**names, module: ast.parse(source)}))


def missing(trees: dict[str, ast.Module]) -> list[str]:
    """Deferred functions that are not where they are looked for."""
    found: list[str] = []
    for where, tree in trees.items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Name("Deferred"), [ast.Constant(module), ast.Constant(name)]):
                    if not hasattr(importlib.import_module(module), name):
                        found.append(f"{where}:{node.lineno} {module}.{name}")
    return found


def test_deferred_functions_are_there():
    trees = modules(PACKAGE)
    assert missing(trees) == []
    planted = ast.parse('x = Deferred("pytocu.frontend.lower", "lowr")')
    assert missing({**trees, "frontend.planted": planted}) == ["frontend.planted:1 pytocu.frontend.lower.lowr"]


def cycles(trees: dict[str, ast.Module]) -> list[str]:
    """Modules that import each other at their heads."""
    needs = {
        name: {found for imported, _, inside in imports(tree) if not inside for found in parts(imported, trees)} - {name}
        for name, tree in trees.items()
    }
    done: set[str] = set()
    while ready := {name for name in needs.keys() - done if needs[name] <= done}:
        done |= ready
    return sorted(needs.keys() - done)


def parts(imported: str, trees: dict[str, ast.Module]) -> set[str]:
    """The module that holds an imported name, or is it, of the package's own."""
    head, _, rest = imported.partition(".")
    while rest and rest not in trees:
        rest = rest.rpartition(".")[0]
    return {rest} if head == "pytocu" and rest else set()


def test_modules_do_not_import_each_other():
    """Threads that import two of them from both ends at once could see one half made."""
    trees = {name: statically(tree) for name, tree in modules(PACKAGE).items()}
    assert cycles(trees) == []
    planted = ast.parse("from pytocu.frontend.compound import run")
    assert {"frontend.expressions", "frontend.compound"} <= set(cycles({**trees, "frontend.expressions": planted}))


def statically(tree: ast.Module) -> ast.Module:
    """What is imported when a module is, without what a function or a type checker imports, and deferred functions."""
    return ast.Module([n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], [])


def test_modules_import_nothing_heavy():
    # _sha2 is in the standard library from Python 3.12 on.
    allowed = sys.stdlib_module_names | {"numpy", "pytocu", "_sha2"}
    found = [
        f"{name}:{line} imports {imported}"
        for name, tree in modules(PACKAGE).items()
        for imported, line, inside in imports(tree)
        if not inside and imported.partition(".")[0] not in allowed
    ]
    assert found == []


def python(source: str, **environment: str) -> str:
    """Run a program in a new process and return what it printed."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTOCU_")}
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        env={**inherited, "PYTHONPATH": path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_brings_numpy_and_nothing_else():
    new = json.loads(
        python("""
            import json, sys, numpy
            before = set(sys.modules)
            import pytocu
            pytocu.jit(lambda x: x + 1)
            print(json.dumps(sorted({m.partition(".")[0] for m in set(sys.modules) - before})))
        """)
    )
    assert "pytocu" in new
    assert set(new) - sys.stdlib_module_names - {"numpy", "pytocu"} == set()


def test_lowering_and_cuda_text_need_no_compiler():
    text = python("""
        import linecache, sys, pytocu
        linecache.cache["<here>"] = (20, None, ["f = lambda x: x * 2\\n"], "<here>")
        scope = {}
        exec(compile("f = lambda x: x * 2\\n", "<here>", "exec"), scope)
        low = pytocu.jit(scope["f"]).lower("f32[n]")
        assert "__global__" in low.compile("cuda:sm_90", "cuda_c").source
        assert "target datalayout" in low.compile("cuda:sm_90", "nvvm").source
        print(sorted(m for m in ("llvmlite", "cuda", "rich", "matplotlib") if m in sys.modules))
    """)
    assert text.strip() == "[]"


def test_a_missing_llvmlite_is_named_and_no_defect():
    text = python("""
        import linecache, sys
        sys.modules["llvmlite"] = None
        import numpy, pytocu
        linecache.cache["<here>"] = (20, None, ["f = lambda x: x * 2\\n"], "<here>")
        scope = {}
        exec(compile("f = lambda x: x * 2\\n", "<here>", "exec"), scope)
        for run in (pytocu.jit(scope["f"]), lambda x: pytocu.jit(scope["f"]).lower(x).compile("cpu").source):
            try:
                run(numpy.ones(3))
            except pytocu.BackendError as error:
                print(error)
    """)
    lines = text.splitlines()
    assert [line.partition(" (")[0] for line in lines] == ["llvmlite builds code for the CPU, and cannot be loaded"] * 2
    assert lines[0].endswith(": pip install llvmlite")


def test_a_first_call_imports_what_its_program_needs():
    new = set(
        python("""
            import linecache, sys, numpy, pytocu
            lines = ["f = lambda x, y, a: 2.5 * a * x + x * y - 1.0\\n"]
            linecache.cache["<here>"] = (len(lines[0]), None, lines, "<here>")
            scope = {}
            exec(compile(lines[0], "<here>", "exec"), scope)
            pytocu.jit(scope["f"]).lower("f32[n]", "f32[n]", "weak float").compile("cuda:sm_90", "nvvm").source
            print(*(m.removeprefix("pytocu.") for m in sys.modules if m.startswith("pytocu.")))
        """).split()
    )
    assert new >= {"frontend.statements", "frontend.expressions", "passes.fuse", "backend.nvvm"}
    front = {
        "attributes", "builtin_calls", "calls", "compound", "conditions", "control", "indexing", "inplace", "loops", "masked",
        "numpy_calls", "reductions", "subscripts",
    }  # fmt: skip
    ir = {"expand", "expand_bits", "expand_complex", "expand_elementary", "expand_half", "printer", "verifier"}
    passes = {
        "computed_once", "insert", "few", "loop_scalars", "lower_dtypes", "maps", "one_thread", "reduce_loops", "stages",
        "sweeps", "whole_loops",
    }  # fmt: skip
    needless = {f"{folder}.{m}" for folder, names in {"frontend": front, "ir": ir, "passes": passes}.items() for m in names}
    assert needless <= set(modules(PACKAGE)) and needless & new == set()
    assert len(new) < 112, len(new)


def test_disable_runs_plain_python():
    program = """
        import sys, linecache
        import numpy as np, pytocu
        source = "def f(x):\\n    calls.append(x)\\n    return x.sum() if x.ndim else x\\n"
        linecache.cache["<here>"] = (len(source), None, source.splitlines(True), "<here>")
        scope = {"calls": []}
        exec(compile(source, "<here>", "exec"), scope)
        f = pytocu.jit(scope["f"])
        print(f(np.arange(4.0)), len(scope["calls"]), "llvmlite" in sys.modules)
    """
    assert python(program, PYTOCU_DISABLE="1").split() == ["6.0", "1", "False"]
    with pytest.raises(AssertionError, match="UnsupportedError"):
        python(program, PYTOCU_DISABLE="0")


# What wraps a function looks like it.


@pytocu.jit
def documented(x: np.ndarray, factor: float = 2.0, *, shift: int = 0) -> np.ndarray:
    """Scale and shift."""
    return x * factor + shift


def test_decorated_functions_keep_their_face():
    plain = documented.__wrapped__
    assert inspect.isfunction(plain)
    assert inspect.signature(documented) == inspect.signature(plain)
    assert inspect.getdoc(documented) == "Scale and shift."
    assert (documented.__name__, documented.__qualname__, documented.__module__) == ("documented", "documented", __name__)
    assert inspect.unwrap(documented) is plain
    assert repr(documented).startswith("<pytocu.jit documented(x")
    assert documented.__annotations__ == plain.__annotations__
    assert pickle.loads(pickle.dumps(documented)) is documented
    np.testing.assert_array_equal(documented(np.arange(3.0), shift=1), [1.0, 3.0, 5.0])


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="needs pyright: pip install 'pytocu[dev]'")
def test_pyright_sees_through_the_decorator(tmp_path):
    (tmp_path / "sample.py").write_text(
        textwrap.dedent("""\
            import numpy as np
            import pytocu

            @pytocu.jit
            def bare(x: np.ndarray, factor: float = 2.0) -> np.ndarray:
                return x * factor

            @pytocu.jit(static=("order",))
            def called(x: np.ndarray, *, order: int) -> tuple[np.ndarray, np.ndarray]:
                return x, x * order

            reveal_type(bare(np.ones(3), 1.0))
            reveal_type(called(np.ones(3), order=2))
            reveal_type(bare.lower("f32[n]").kernels[0].name)
            bare("text")
            called(np.ones(3))
        """)
    )
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(PACKAGE.parent)], "pythonVersion": "3.11"}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    said = json.loads(done.stdout)["generalDiagnostics"]
    revealed = [re.sub(r"\s+", " ", d["message"]) for d in said if d["severity"] == "information"]
    assert ["ndarray" in revealed[0], "tuple[ndarray" in revealed[1], '"str"' in revealed[2]] == [True] * 3
    errors = [(d["range"]["start"]["line"] + 1, d["rule"]) for d in said if d["severity"] == "error"]
    assert errors == [(15, "reportArgumentType"), (16, "reportCallIssue")]


# Metadata.


def test_project_table():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.split(r"[<>=]", d)[0] for d in project["dependencies"]} == {"numpy", "llvmlite"}
    extras = project["optional-dependencies"]
    assert set(extras) == {"cu13", "cu12", "demo", "test", "docs", "dev"}
    assert all("13" in d for d in extras["cu13"])
    assert all("12" in d for d in extras["cu12"])
    assert (PACKAGE / "py.typed").is_file()
    assert "Copyright (c) The pytocu developers" in (ROOT / "LICENSE").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", pytocu.__version__)


def installed() -> importlib.metadata.Distribution | None:
    """The installed package, in whatever way it was installed."""
    try:
        return importlib.metadata.distribution("pytocu")
    except importlib.metadata.PackageNotFoundError:
        return None


@pytest.mark.skipif(installed() is None, reason="pytocu is not installed: pip install -e .")
def test_installed_metadata():
    found = installed()
    assert found is not None
    assert found.version == pytocu.__version__
    assert found.metadata["License-Expression"] == "BSD-3-Clause"
    assert found.metadata["Requires-Python"] == ">=3.11"
    assert {p.name: p.value for p in found.entry_points if p.group == "console_scripts"} == {"pytocu": "pytocu.__main__:run"}


def test_public_names_are_there():
    assert sorted(pytocu.__all__) == sorted(set(pytocu.__all__))
    for name in pytocu.__all__:
        assert getattr(pytocu, name) is not None


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(path):
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    )
    assert done.returncode == 0, done.stderr
    assert "NumPy: True" in done.stdout


def suite(folder: Path, name: str, source: str) -> Callable[..., str]:
    """``run(*words)``: pytest in a folder with these options and one file of tests."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "golden_plugin.py").write_text("")
    # Importing the real one takes most of such a run.
    (folder / "hypothesis.py").write_text(
        "class HealthCheck: too_slow = None\n\n"
        "class settings:\n    register_profile = load_profile = staticmethod(lambda *names, **values: None)\n"
    )
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu\n    every\n    whole\n")
    (folder / name).write_text(source)

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *words],
            cwd=folder,
            capture_output=True,
            text=True,
        ).stdout

    return run


def test_gpu_tests_are_left_out_and_counted(tmp_path):
    source = (
        "import pytest\n\n@pytest.mark.gpu\n@pytest.mark.parametrize('n', [1, 2])\ndef test_on_a_gpu(n): pass\n\n"
        "def test_always(): pass\n"
    )
    run = suite(tmp_path, "test_sample.py", source)
    plain = run()
    assert "2 GPU tests left out: run them with pytest -m gpu" in plain
    assert "1 passed, 2 deselected" in plain
    assert "2 passed, 1 deselected" in run("-m", "gpu")
    assert "1 passed, 2 deselected" in run("-m", "not gpu")
    if importlib.util.find_spec("xdist") is not None:
        assert "2 GPU tests left out: run them with pytest -m gpu" in run("-n", "2")


def test_a_part_of_many_cases_is_run_and_the_rest_counted(tmp_path):
    source = (
        "import pytest\n\n@pytest.mark.parametrize('n', range(90))\ndef test_many(n): pass\n\n"
        "@pytest.mark.parametrize('n', range(2))\ndef test_few(n): pass\n\n"
        "@pytest.mark.whole\ndef test_long(whole): assert whole\n\n"
        "def test_loop(whole, part): assert (len(part(range(90))) == 90) is whole and len(part(range(2))) == 2\n\n"
        "@pytest.mark.every\n@pytest.mark.parametrize('n', range(40))\ndef test_each(n): pass\n"
    )
    run = suite(tmp_path, "test_cases.py", source)
    plain = run("-v")
    chosen = plain.count("test_many[")
    assert 3 < chosen < 25 and "test_many[0]" in plain
    assert f"{43 + chosen} passed, {91 - chosen} deselected" in plain
    assert f"{91 - chosen} cases of tests with many left out: run them with pytest --whole" in plain
    for words in (["--whole"], ["test_cases.py"], ["-k", "test"], ["-m", "not gpu"]):
        assert "134 passed" in run(*words), words
    assert f"{43 + chosen} passed" in run("--part", "test_cases.py", "-k", "test")
    if importlib.util.find_spec("xdist") is not None:
        assert f"{91 - chosen} cases of tests with many left out" in run("-n", "2")
        assert "134 passed" in run("-n", "1", "--whole")
        assert "134 passed" in run("-n", "1", "test_cases.py")

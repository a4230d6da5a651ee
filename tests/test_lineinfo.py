"""PYTOCU_LINEINFO: code for GPUs that knows the lines of Python it comes from, and is the same code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest
from cache_tools import folder  # noqa: F401

import pytocu
from pytocu import compiles, driver
from pytocu.backend import cubin
from pytocu.driver import Compiled

pytest.importorskip("cuda.bindings.nvvm", reason="needs cuda-python: pip install 'pytocu[cu13]'")
pytestmark = pytest.mark.usefixtures("gpu_compilers")

NOISE = """\
import numpy as np

def damped(wave, far):
    return np.exp(-far) * wave
"""
WAVES = """\
import numpy as np
from noise import damped

def energy(x, far):
    wave = np.sin(x)
    wave = damped(wave, far)
    return (wave * wave).sum(axis=1)
"""
BACKENDS = ("nvvm", "cuda_c")


@pytest.fixture
def energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FunctionType:
    """A function of two files, in a folder whose name has what cannot be escaped in PTX."""
    # What this process built for another test is not in this one's cache.
    driver._begun.cache_clear()
    function = written(tmp_path / 'a "b"', monkeypatch)
    monkeypatch.chdir(tmp_path / 'a "b"')
    return function


def written(path: Path, monkeypatch: pytest.MonkeyPatch, above: str = "", ending: str = ".py") -> FunctionType:
    path.mkdir()
    modules: dict[str, ModuleType] = {}
    for name, text in (("noise", NOISE), ("waves", above + WAVES)):
        file = path / f"{name}{ending}"
        file.write_text(text, encoding="utf-8")
        modules[name] = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, modules[name])
        exec(compile(text, str(file), "exec", dont_inherit=True), modules[name].__dict__)
    return modules["waves"].energy


def compiled(function: FunctionType, backend: str, arch: str = "sm_90") -> Compiled:
    made = pytocu.jit(function).lower("f32[n, m]", "f32[n, m]").compile(f"cuda:{arch}", backend)
    assert made.binary
    return made


def machine_code(made: Compiled) -> bytes:
    """The instructions of the one kernel."""
    header = dict(cubin._sections(made.binary))[f".text.{made.kernel_names[0]}"]
    return made.binary[header[4] : header[4] + header[5]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_the_code_is_the_same_and_knows_its_lines(
    energy: FunctionType, backend: str, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compiled(energy, backend, arch)
    monkeypatch.setenv("PYTOCU_LINEINFO", "1")
    told = compiled(energy, backend, arch)
    assert told.source != plain.source
    assert machine_code(told) == machine_code(plain) and told.resources == plain.resources
    assert b".debug_line" in told.binary and b".debug_line" not in plain.binary
    for name in (b"a 'b'\0", b"waves.py\0", b"noise.py\0"):
        assert name in told.binary and name not in plain.binary


def gathered(x, y):
    places = (x * 7).astype(np.int32) // 7
    left = places % 5
    return np.take(y.ravel(), places) + left


def centred(x, y):
    mean = x.mean(1, keepdims=True)
    variance = x.var(1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) + y


@pytest.mark.parametrize("function", [gathered, centred], ids=lambda f: f.__name__)
def test_straight_code_is_the_same_with_lines(function: FunctionType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the optimiser equal instructions of several lines are not joined."""
    plain = compiled(function, "nvvm")
    monkeypatch.setenv("PYTOCU_LINEINFO", "1")
    told = compiled(function, "nvvm")
    assert plain.source.startswith("; straight\n") and "!dbg" in told.source
    assert machine_code(told) == machine_code(plain)


@pytest.mark.parametrize("backend", BACKENDS)
def test_instructions_stand_at_the_line_that_they_compute(
    energy: FunctionType, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTOCU_LINEINFO", "1")
    text = compiled(energy, backend).assembly
    files = {n: name.rpartition("/")[2] for n, name in re.findall(r'\.file\s+(\d+) "(.*?)"', text)}
    place = ("", 0)
    found: dict[str, set[tuple[str, int]]] = {}
    for line in text.splitlines():
        if at := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            place = files[at[1]], int(at[2])
        elif instruction := re.match(r"\s*(?:@%\w+ )?(ex2\.approx\S*|shfl\.\S*|st\.global\S*)\s", line):
            found.setdefault(instruction[1].partition(".")[0], set()).add(place)
    assert found == {"ex2": {("noise.py", 4)}, "shfl": {("waves.py", 7)}, "st": {("waves.py", 7)}}


def test_code_with_lines_has_a_key_of_its_own(energy: FunctionType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: set[str] = set()
    for switch in "01":
        monkeypatch.setenv("PYTOCU_LINEINFO", switch)
        for backend in BACKENDS:
            keys.add(compiled(energy, backend).begin())
    # The same function below other lines has other lines.
    other = written(tmp_path / "below", monkeypatch, "# a line\n\n")
    keys.add(compiled(other, "nvvm").begin())
    assert len(keys) == 5


@pytest.mark.parametrize("lines", [False, True])
def test_a_plan_is_found_for_the_lines_it_was_made_for(
    energy: FunctionType, lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    compile_ahead = compiles.compile_ahead
    monkeypatch.setattr(compiles, "compile_ahead", lambda *given: made.append(given) or compile_ahead(*given))

    def count(function: FunctionType) -> int:
        before = len(made)
        compiled(function, "nvvm")
        pytocu.jit(function).precompile("f32[n, m]", "f32[n, m]", targets="cuda:sm_90")
        return len(made) - before

    monkeypatch.setenv("PYTOCU_LINEINFO", "01"[lines])
    assert [count(energy), count(energy)] == [1, 0]
    below = written(tmp_path / "below", monkeypatch, "# a line\n\n")
    assert [count(below), count(below), count(energy)] == ([1, 0, 0] if lines else [0, 0, 0])
    monkeypatch.setenv("PYTOCU_LINEINFO", "10"[lines])
    assert [count(energy), count(energy)] == [1, 0]


@pytest.mark.parametrize("lines", [False, True])
def test_names_that_are_no_text_are_written_somehow(lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_LINEINFO", "01"[lines])
    function = written(tmp_path / "names", monkeypatch, ending="\udce9.py")
    for backend in BACKENDS:
        assert (b"waves?.py\0" in compiled(function, backend).binary) == lines

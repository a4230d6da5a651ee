"""``PYTOCU_DUMP`` and ``PYTOCU_LOG``: what a running program compiles, and why."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pytocu
from pytocu.errors import PytocuError
from pytocu.ir.parser import parse_function
from pytocu.runtime.changes import SpecializationWarning
from pytocu.runtime.plan_json import plan_from_json


def scaled(x, k=2):
    return x * k


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))


def test_the_log_says_why_and_how_long(monkeypatch, capsys):
    monkeypatch.setenv("PYTOCU_LOG", "compile")
    f = pytocu.jit(scaled)
    x = np.ones(3, np.float32)
    f(x)
    f(x)
    f(np.ones(5, np.float32))
    f(x.astype(np.float64))
    f(x.reshape(1, 3))
    pytocu.jit(scaled)(x)
    first, second, third, again = capsys.readouterr().err.splitlines()
    assert first.startswith("pytocu: scaled(x: f32[x_0], k: static 2) for cpu compiled in ")
    assert first.endswith(" ms: the first call")
    assert second.endswith("dtype of argument x is f64, was f32")
    assert "number of axes of argument x is 2, was 1" in third
    assert "axes of length 1 of argument x is axis 0, was none" in third
    assert " for cpu read from the cache in " in again


@pytest.mark.parametrize("first", ["another directory", "no cache"])
def test_code_that_is_in_memory_is_kept_where_the_cache_is_now(first, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as before:
        before.setenv(*(("PYTOCU_CACHE", "0") if first == "no cache" else ("PYTOCU_CACHE_DIR", str(tmp_path / "other"))))
        pytocu.jit(scaled)(np.ones(3))
    monkeypatch.setenv("PYTOCU_LOG", "compile")
    for _ in range(2):
        assert pytocu.jit(scaled)(np.ones(3)).tolist() == [2, 2, 2]
    compiled, found = capsys.readouterr().err.splitlines()
    assert " for cpu compiled in " in compiled
    assert " for cpu read from the cache in " in found


def test_the_log_says_how_arguments_hold_arrays(monkeypatch, capsys):
    monkeypatch.setenv("PYTOCU_LOG", "compile")
    monkeypatch.setenv("PYTOCU_MAX_SPECIALIZATIONS", "4")
    f = pytocu.jit(lambda p, k: k * (p["x"] if isinstance(p, dict) else p[0]))
    x = np.ones(3, np.float32)
    f([x, x], 2)
    f((x, x), 2)
    f({"x": x, "y": 1.0}, 2)
    with pytest.warns(SpecializationWarning, match="has been compiled 4 times.*what holds the arrays of argument p .4 kinds"):
        f((x, x, x), 2.0)
    said = [line.partition(" ms: ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said[0] == "the first call"
    assert said[1] == "what holds the arrays of argument p is (_, _), was [_, _]"
    assert said[2] == "what holds the arrays of argument p is {'x': _, 'y': _}, was (_, _)"
    assert said[3].startswith("what holds the arrays of argument p is (_, _, _), was ") and "dtype of argument k" in said[3]
    told = f.explain((x,), 2).recompiled
    assert told is not None and [c.fact for c in told.changes] == ["what holds the arrays of argument p"]


def test_the_log_is_silent_without_the_variable(monkeypatch, capsys):
    monkeypatch.delenv("PYTOCU_LOG", raising=False)
    pytocu.jit(scaled)(np.ones(3))
    assert capsys.readouterr().err == ""


def test_the_log_names_what_there_is(monkeypatch):
    monkeypatch.setenv("PYTOCU_LOG", "compiles")
    with pytest.raises(PytocuError, match="PYTOCU_LOG=compiles: did you mean compile"):
        pytocu.jit(scaled)(np.ones(3))


def test_every_stage_of_a_program_is_dumped_whatever_the_cache_holds(tmp_path, monkeypatch):
    x = np.ones(3, np.float32)
    pytocu.jit(scaled)(x)
    monkeypatch.setenv("PYTOCU_DUMP", str(tmp_path / "dump"))
    f = pytocu.jit(scaled)
    f(x)
    f(x)
    f(x.astype(np.int64))
    one, two = sorted((tmp_path / "dump").iterdir())
    assert (one.name, two.name) == ("scaled-0", "scaled-1")
    names = {p.name for p in one.iterdir()}
    assert {"00-lower.ir", "about.json", "plan.txt", "plan.json", "kernels.ll", "kernels.s", "kernels.o"} <= names
    assert any(n.endswith("-fuse.ir") for n in names)
    about = json.loads((one / "about.json").read_text())
    assert about["types"] == ["x: f32[x_0]", "k: static 2"]
    assert (about["target"], about["backend"]) == ("cpu", "llvm")
    for file in one.glob("*.ir"):
        assert parse_function(file.read_text()).name == "scaled"
    assert plan_from_json((one / "plan.json").read_text()).name == "scaled"


def test_a_precompiled_gpu_function_is_dumped_without_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTOCU_DUMP", str(tmp_path / "dump"))
    pytocu.jit(scaled, backend="cuda_c").precompile("f32[n]", targets="cuda:sm_90")
    (made,) = (tmp_path / "dump").iterdir()
    assert "__global__" in (made / "kernels.cu").read_text()
    assert ".target sm_90" in (made / "kernels.ptx").read_text()
    assert (made / "kernels.cubin").read_bytes()[:4] == b"\x7fELF"
    assert "registers" in (made / "resources.txt").read_text()


def test_a_folder_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYTOCU_DUMP", str(tmp_path / "file"))
    with pytest.raises(PytocuError, match="PYTOCU_DUMP="):
        pytocu.jit(scaled)(np.ones(3))

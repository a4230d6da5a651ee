"""Defects of pytocu: the step is named, what reproduces it is saved, and no frames of pytocu are shown."""

from __future__ import annotations

import json
import re
import traceback
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu.cli.main import main
from pytocu.errors import InternalError
from pytocu.explain import failures
from pytocu.testing.planted import Fault, planted

STEPS = [
    (Fault("front end", "pytocu.frontend.operators:_binary", "if ", "if 1 // 0 or "), "the front end"),
    (Fault("pass", "pytocu.passes.simplify:run", "return rewrite", "return 1 // 0 or rewrite"), "the pass simplify"),
    (Fault("rule", "pytocu.passes.cleanup:dce", "used.update(inst.args)", "used.update(inst.args[:1])"), "after the pass dce"),
    (Fault("backend", "pytocu.backend.llvm:emit", "return ", "return 1 // 0 or "), "the backend llvm"),
]


def scaled(x, k):
    return x * k + 1


def broken(fault):
    """A fault that breaks the first place that its text stands at."""
    import importlib
    import inspect

    module, _, name = fault.place.partition(":")
    source = inspect.getsource(getattr(importlib.import_module(module), name))
    line = next(line.strip() for line in source.splitlines() if line.strip().startswith(fault.old.strip()))
    if source.count(line) == 1 and source.count(fault.old) != 1:
        return fault._replace(old=line, new=line.replace(fault.old, fault.new, 1))
    return fault


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("PYTOCU_DEBUG", raising=False)
    monkeypatch.setenv("PYTOCU_CHECK", "1")
    return tmp_path


@pytest.mark.parametrize(("fault", "step"), STEPS, ids=[s[0].name for s in STEPS])
def test_the_step_is_named_and_what_reproduces_it_is_saved(fault, step):
    f = pytocu.jit(scaled)
    x = np.float32([1, 2])
    with planted(broken(fault)), pytest.raises(InternalError) as caught:
        f(x, 3)
    text = str(caught.value)
    assert text.startswith(step)
    folder = Path(re.search(r"reproduces it is in (\S+)", text)[1])
    about = json.loads((folder / "about.json").read_text())
    assert about["function"] == "scaled"
    assert about["target"] == "cpu"
    assert "Traceback" in (folder / "traceback.txt").read_text()
    assert "x * k + 1" in (folder / "source.py").read_text()
    assert (folder / "lower.ir").exists() == (step != "the front end")
    assert f"pytocu bisect {__file__}:scaled --inputs {folder}/inputs.npz" in text
    shown = "".join(traceback.format_exception(caught.value))
    assert len(re.findall(r'File ".*/pytocu/(?!testing)', shown)) == 0
    np.testing.assert_array_equal(f(x, 3), scaled(x, 3))


def test_the_saved_arguments_are_bisected(temporary, capsys):
    fault = broken(STEPS[1][0])
    x = np.float32([1, 2])
    with planted(fault):
        with pytest.raises(InternalError) as caught:
            pytocu.jit(scaled)(x, 3)
        words = re.search(r"pytocu (bisect \S+ --inputs \S+)", str(caught.value))[1].split()
        assert main([*words, "--output", str(temporary / "tests")]) == 1
    assert "the pass simplify (cpu) makes scaled wrong" in capsys.readouterr().err


def test_debugging_shows_the_frames(monkeypatch):
    monkeypatch.setenv("PYTOCU_DEBUG", "1")
    with planted(broken(STEPS[1][0])), pytest.raises(InternalError) as caught:
        pytocu.jit(scaled)(np.float32([1, 2]), 3)
    assert "ZeroDivisionError" in "".join(traceback.format_exception(caught.value))


def test_what_cannot_be_saved_is_said(monkeypatch):
    monkeypatch.setattr(failures, "LARGEST", 0)
    with planted(broken(STEPS[1][0])), pytest.raises(InternalError) as caught:
        pytocu.jit(scaled)(np.float32([1, 2]), 3)
    folder = Path(re.search(r"reproduces it is in (\S+)", str(caught.value))[1])
    assert json.loads((folder / "about.json").read_text())["arguments that were not saved"] == ["x", "k"]
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with planted(broken(STEPS[1][0])), pytest.raises(InternalError, match="nothing was saved"):
        pytocu.jit(scaled)(np.float32([1, 2]), 3)

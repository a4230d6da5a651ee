"""Python's garbage collector rests while a function is lowered, and is left as it was found."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError
from pytocu.passes import pipeline


@pytest.fixture(autouse=True)
def on_again():
    yield
    gc.enable()


def doubled(x):
    return np.sqrt(x) * 2


def wrong(x):
    return np.surely_not_there(x)


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_left_as_it_was(enabled, monkeypatch):
    seen: list[bool] = []
    first = pipeline.PIPELINE[0]
    spy = pipeline.Pass(first.name, lambda f, c: (seen.append(gc.isenabled()), first.run(f, c))[1], first.doc)
    monkeypatch.setattr(pipeline, "PIPELINE", (spy, *pipeline.PIPELINE[1:]))
    if not enabled:
        gc.disable()
    pytocu.jit(doubled).lower("f32[n]").host("cpu")
    assert seen == [False]
    assert gc.isenabled() is enabled


def test_it_is_on_again_after_an_error():
    with pytest.raises(CompileError):
        pytocu.jit(wrong).lower("f32[n]")
    assert gc.isenabled()

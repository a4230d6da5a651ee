"""Options of the test run: GPU tests are chosen with ``-m gpu``, golden files are written with ``--bless``."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import hypothesis
import pytest

pytest_plugins = ["golden_plugin"]

_LEFT_OUT = pytest.StashKey[int]()

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

# Neither reads nor fills the user's cache; subprocesses inherit it.
_cache = tempfile.TemporaryDirectory(prefix="pytocu-tests-", ignore_cleanup_errors=True)
os.environ["PYTOCU_CACHE_DIR"] = _cache.name


def pytest_unconfigure() -> None:
    """Remove the cache of the run."""
    _cache.cleanup()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the GPU tests out unless a marker expression asks for them, and count them."""
    if "gpu" in (config.option.markexpr or ""):
        return
    chosen = [item for item in items if item.get_closest_marker("gpu") is None]
    left_out = [item for item in items if item.get_closest_marker("gpu") is not None]
    config.stash[_LEFT_OUT] = len(left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of pytest-xdist: tell the process that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["gpu_left_out"] = session.config.stash.get(_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects every test, so one worker's number is the number."""
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("gpu_left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests were left out."""
    number = config.stash.get(_LEFT_OUT, 0)
    if number:
        terminalreporter.write_line(f"{number} GPU tests left out: run them with pytest -m gpu")


@pytest.fixture
def in_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``in_folder(name, source)``: a folder with a program, and the process in it."""

    def make(name: str, source: str) -> Any:
        (tmp_path / name).write_text(source)
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("PYTOCU_DEBUG", raising=False)
        monkeypatch.setattr(sys, "path", list(sys.path))
        return tmp_path

    return make

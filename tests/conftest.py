"""Options of the test run: GPU tests are chosen with ``-m gpu``, golden files are written with ``--bless``.

``pytest`` alone runs a part of the cases of tests that have many, which for a version of Python is always the same;
``pytest --whole``, and a run of named files or tests without ``--part``, all of them.
"""

from __future__ import annotations

import collections
import gc
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import hypothesis
import pytest

pytest_plugins = ["golden_plugin"]

_LEFT_OUT = pytest.StashKey[int]()
_CASES_LEFT_OUT = pytest.StashKey[int]()
_MANY = 2
"""Cases of a test that are all run."""
_OF_TEN = 1
"""Of ten cases of a test that has more, how many are run."""
_PYTHON = f"{sys.version_info.minor} "
"""Each version of Python runs other cases."""

T = TypeVar("T")

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

# Neither reads nor fills the user's cache; subprocesses inherit it.
_cache = tempfile.TemporaryDirectory(prefix="pytocu-tests-", ignore_cleanup_errors=True)
os.environ["PYTOCU_CACHE_DIR"] = _cache.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--whole`` and ``--part``."""
    parser.addoption("--whole", action="store_true", help="run all cases of tests that have many")
    parser.addoption("--part", action="store_true", help="run a part of them also where files or tests are named")


def pytest_configure(config: pytest.Config) -> None:
    """Who names files, tests or marks wants all of them; workers of pytest-xdist are given the same arguments."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.option.whole |= not config.option.part and bool(named or config.option.markexpr or config.option.keyword)


def pytest_unconfigure() -> None:
    """Remove the cache of the run."""
    _cache.cleanup()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the GPU tests out unless a marker expression asks for them, and count them."""
    if "gpu" in (config.option.markexpr or ""):
        return
    chosen = [item for item in items if item.get_closest_marker("gpu") is None]
    config.stash[_LEFT_OUT] = len(items) - len(chosen)
    if not config.option.whole:
        number = len(chosen)
        chosen = _part(chosen)
        config.stash[_CASES_LEFT_OUT] = number - len(chosen)
    if len(chosen) < len(items):
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen


def _part(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items that are not marked ``whole``, without some cases of tests that have many.

    The first case stays, and of the others those that their names choose.
    Every value of a product of parameters is among them before long, which is not so for each third case.
    """
    cases = collections.Counter(_test_of(item) for item in items)
    seen: set[str] = set()
    chosen: list[pytest.Item] = []
    for item in items:
        test = _test_of(item)
        if item.get_closest_marker("whole") is not None:
            continue
        every = cases[test] <= _MANY or test not in seen or item.get_closest_marker("every") is not None
        if every or _is_chosen(item.name):
            chosen.append(item)
        seen.add(test)
    return chosen


def _is_chosen(name: str) -> bool:
    """Whether a case is run where not all of them are."""
    return zlib.crc32((_PYTHON + name).encode()) % 10 < _OF_TEN


def _test_of(item: pytest.Item) -> str:
    """The test that an item is a case of."""
    return item.nodeid.partition("[")[0]


def pytest_collection_finish() -> None:
    """What is there before the first test is not looked at again and again by the garbage collector."""
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of pytest-xdist: tell the process that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["gpu_left_out"] = session.config.stash.get(_LEFT_OUT, 0)
        output["cases_left_out"] = session.config.stash.get(_CASES_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects every test, so one worker's number is the number."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[_LEFT_OUT] = output.get("gpu_left_out", 0)
    node.config.stash[_CASES_LEFT_OUT] = output.get("cases_left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests were left out."""
    number = config.stash.get(_LEFT_OUT, 0)
    if number:
        terminalreporter.write_line(f"{number} GPU tests left out: run them with pytest -m gpu")
    number = config.stash.get(_CASES_LEFT_OUT, 0)
    if number:
        terminalreporter.write_line(f"{number} cases of tests with many left out: run them with pytest --whole")


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> bool:
    """Whether all cases are run: a test that makes its own writes fewer where not."""
    return request.config.option.whole


@pytest.fixture
def part(request: pytest.FixtureRequest, whole: bool) -> Callable[[Sequence[T]], list[T]]:
    """``part(cases)``: those that a test goes through, chosen as cases of tests are."""

    def choose(cases: Sequence[T]) -> list[T]:
        if whole or len(cases) <= _MANY:
            return list(cases)
        return [case for number, case in enumerate(cases) if not number or _is_chosen(f"{request.node.name} {number}")]

    return choose


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


@pytest.fixture(scope="session")
def gpu_compilers() -> None:
    """Skip where NVIDIA's compilers are not installed; where they are, an error of theirs is one of the code."""
    from pytocu.backend import nvrtc, nvvm
    from pytocu.errors import BackendError

    try:
        nvrtc.version(), nvvm.version()
    except BackendError as error:
        pytest.skip(str(error))


@pytest.fixture
def set_thread_count(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets how many threads kernels are spread over on a CPU, at once: otherwise the environment is looked at now and then."""
    from pytocu.runtime import threads

    def choose(count: int) -> None:
        monkeypatch.setenv("PYTOCU_NUM_THREADS", str(count))
        monkeypatch.setattr(threads, "_counted", (0, 0.0))

    return choose

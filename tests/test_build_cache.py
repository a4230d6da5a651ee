"""Built code on disk: another process finds it, and whatever the binary depends on misses it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import pytocu
from pytocu import driver
from pytocu.backend import nvrtc
from pytocu.runtime import cache

PROGRAM = """
import numpy as np, pytocu
from pytocu.backend import cpu
from pytocu.runtime import cache


@pytocu.jit
def f(x, y):
    return np.sqrt(x * x + y) {change}


result = f(np.arange(5, dtype=np.float32), {argument})
statistics = cache.statistics()
print(result.tolist(), statistics.hits, statistics.stores)
"""


def run(tmp_path: Path, directory: Path, change: str = "", argument: str = "np.ones(5, np.float32)") -> tuple[str, int, int]:
    """Result, hits and stores of the program in a process of its own."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(change=change, argument=argument))
    package = str(Path(pytocu.__file__).parents[1])
    environment = {**os.environ, "PYTOCU_CACHE_DIR": str(directory), "PYTHONPATH": package}
    command = [sys.executable, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    answer, hits, stores = done.stdout.rsplit(maxsplit=2)
    return answer, int(hits), int(stores)


def test_another_process_loads_what_the_first_built(tmp_path):
    directory = tmp_path / "cache"
    first = run(tmp_path, directory)
    assert first[1:] == (0, 2)
    assert run(tmp_path, directory) == (first[0], 2, 0)
    elsewhere = tmp_path / "another" / "place"
    elsewhere.mkdir(parents=True)
    assert run(elsewhere, directory) == (first[0], 2, 0)
    copied = tmp_path / "copied"
    subprocess.run(["cp", "-r", str(directory), str(copied)], check=True)
    assert run(tmp_path, copied) == (first[0], 2, 0)


def test_other_code_misses(tmp_path):
    directory = tmp_path / "cache"
    first = run(tmp_path, directory)
    assert run(tmp_path, directory, change="+ 1")[1:] == (0, 2)
    assert run(tmp_path, directory, argument="np.ones(5, np.float64)")[1:] == (0, 2)
    assert run(tmp_path, directory) == (first[0], 2, 0)


@pytest.mark.parametrize("kind", ["code", "manifest"])
def test_a_damaged_entry_is_built_anew(tmp_path, monkeypatch, kind):
    directory = tmp_path / "cache"
    first = run(tmp_path, directory)
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(directory))
    (key,) = [e.key for e in cache.entries() if e.kind == kind]
    entry = directory / f"{key}.entry"
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    entry.write_bytes(data)
    again = run(tmp_path, directory)
    assert again[0] == first[0] and again[2] >= 1
    assert run(tmp_path, directory) == (first[0], 2, 0)


@pytest.fixture
def fresh_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "cache"))
    driver._begun.cache_clear()
    yield
    driver._begun.cache_clear()


def binary(backend: str, arch: str) -> bytes:
    driver._begun.cache_clear()
    return pytocu.jit(lambda x: x * 2 + 1).lower("f32[n]").compile(f"cuda:{arch}", backend).binary


@pytest.mark.usefixtures("fresh_directory")
def test_each_architecture_backend_and_compiler_has_its_own_code(monkeypatch):
    made = [binary(backend, arch) for backend in ("cuda_c", "nvvm") for arch in ("sm_80", "sm_90")]
    before = cache.statistics().stores
    again = [binary(backend, arch) for backend in ("cuda_c", "nvvm") for arch in ("sm_80", "sm_90")]
    assert again == made
    assert len(set(made)) == 4
    assert cache.statistics().stores == before
    for name, change in (("version", lambda: (99, 0)), ("options_for", lambda *settings: ("--other",))):
        with monkeypatch.context() as patch:
            patch.setattr(nvrtc, name, change)
            patch.setattr(nvrtc, "build", lambda source, arch, name, **options: b"other")
            assert binary("cuda_c", "sm_90") == b"other"


@pytest.mark.usefixtures("fresh_directory")
def test_threads_that_wait_for_one_build_keep_it_once():
    function, x = pytocu.jit(lambda x: np.exp(np.sin(x)) * 3), np.arange(5.0)
    before, start = cache.statistics().stores, threading.Barrier(8)

    def call(_: int) -> np.ndarray:
        start.wait()
        return function(x)

    with ThreadPoolExecutor(8) as pool:
        assert len({r.tobytes() for r in pool.map(call, range(8))}) == 1
    assert sorted(e.kind for e in cache.entries()) == ["code", "manifest"]
    assert cache.statistics().stores == before + 2


@pytest.mark.usefixtures("fresh_directory")
def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    before = cache.statistics()
    binary("cuda_c", "sm_90")
    after = cache.statistics()
    assert (after.hits, after.stores, after.misses) == (before.hits, before.stores, before.misses)


def test_the_warning_points_at_the_users_line(tmp_path):
    wrong = tmp_path / "a file"
    wrong.write_text("no directory")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(change="", argument="1").replace("statistics = cache.statistics()\n", "").split("print(")[0])
    environment = {**os.environ, "PYTOCU_CACHE_DIR": str(wrong), "PYTHONPATH": str(Path(pytocu.__file__).parents[1])}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True)
    line = 1 + file.read_text().splitlines().index("result = f(np.arange(5, dtype=np.float32), 1)")
    assert done.stderr.startswith(f"{file}:{line}: CacheWarning: the cache of compiled code: ")
    assert done.stderr.count("CacheWarning") == 1

"""One cache directory, many processes and threads; ``PYTOCU_TEST_LONG=1`` kills them for a minute, not eight seconds."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cache_tools
import pytest
from cache_tools import KEY, ROOT, entry, posix

from pytocu.runtime import cache

# pytest finds fixtures among the names of a module.
folder = cache_tools.folder

PRELUDE = f"""
import os, random, signal, sys, types
for name in ("pytocu", "pytocu.runtime"):
    # Only the cache is imported, not what the package imports for its users.
    module = types.ModuleType(name)
    module.__path__ = [os.path.join({str(ROOT)!r}, *name.split("."))]
    sys.modules[name] = module
before = set(sys.modules)
from pytocu.runtime import cache
"""

WORKER = (
    PRELUDE
    + """
rng = random.Random(int(sys.argv[1]))
keys = [cache.key([str(number)]) for number in range(30)]

def made(key, nonce):
    rng = random.Random(key + str(nonce))
    return cache.Entry("code", {"key": key, "nonce": nonce}, "text" * rng.randrange(3000), rng.randbytes(rng.randrange(60000)))

said = False
while not cache._counts["damaged"]:
    key = rng.choice(keys)
    action = rng.random()
    if action < 0.55:
        found = cache.load(key)
        if found is not None:
            if found.meta["key"] != key or found != made(key, found.meta["nonce"]):
                sys.exit("a wrong entry was loaded")
            if not said:
                print("hit", flush=True)
                said = True
    elif action < 0.97:
        cache.store(key, made(key, rng.randrange(1000)))
    elif action < 0.98:
        cache.prune(max_bytes=rng.randrange(600_000))
    elif action < 0.99:
        cache.entries()
    else:
        for key, sound, reason in cache.verify():
            if not sound:
                sys.exit(f"{key}: {reason}")
sys.exit("a damaged entry was seen")
"""
)


def start(number: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-W", "error", "-c", WORKER, str(number)]
    environment = {**os.environ, "PYTOCU_CACHE_SIZE": "1M"}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@posix
def test_processes_killed_at_random(folder: Path) -> None:
    """Eight processes load, store, list, verify and prune in one directory; one after the other is killed."""
    rng = random.Random(7)
    seconds = 60 if os.environ.get("PYTOCU_TEST_LONG") else 8
    workers = [start(n) for n in range(8)]
    started = len(workers)
    hits = 0
    failures: list[str] = []

    def end(worker: subprocess.Popen[str]) -> None:
        nonlocal hits
        worker.kill()
        output, errors = worker.communicate()
        hits += output.count("hit")
        if worker.returncode != -signal.SIGKILL or errors:
            failures.append(f"exit code {worker.returncode}: {errors}")

    try:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not failures:
            time.sleep(rng.uniform(0.05, 0.3))
            place = rng.randrange(len(workers))
            end(workers[place])
            workers[place] = start(started)
            started += 1
    finally:
        for worker in workers:
            end(worker)
    assert not failures, "\n".join(failures)
    assert hits > 8
    verdicts = list(cache.verify())
    assert verdicts and all(sound for _, sound, _ in verdicts), verdicts
    # Half-written files are all that may be left, and they go.
    for path in folder.glob("*.tmp"):
        os.utime(path, (0, 0))
    cache.prune()
    assert {p.suffix for p in folder.iterdir()} == {".entry"}


@posix
@pytest.mark.parametrize("when", ["write", "replace"])
def test_killed_in_the_middle_of_a_store(folder: Path, when: str) -> None:
    cache.store(KEY, entry())
    script = (
        PRELUDE
        + """
def die(*arguments, **words):
    os.kill(os.getpid(), signal.SIGKILL)
def half(descriptor, data, write=os.write):
    write(descriptor, data[:len(data) // 2])
    die()
if sys.argv[2] == "write":
    os.write = half
else:
    os.replace = die
cache.store(sys.argv[1], cache.Entry("code", {}, "new", bytes(5000)))
"""
    )
    done = subprocess.run([sys.executable, "-c", script, KEY, when])
    assert done.returncode == -signal.SIGKILL
    (left,) = folder.glob("*.tmp")
    assert cache.load(KEY) == entry()
    assert cache.statistics().temporary == 1 and [sound for _, sound, _ in cache.verify()] == [True]
    cache.prune()
    assert left.exists(), "it may belong to a process that lives"
    os.utime(left, (0, time.time() - 7200))
    asking = next(key for key in (cache.key([str(n)]) for n in range(1000)) if int(key[:2], 16) < 8)
    cache.store(asking, entry())
    assert not left.exists() and cache.load(KEY) == entry() and cache.load(asking) == entry()


def test_interrupted_store_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> int:
        raise KeyboardInterrupt

    cache.store(cache.key(["two"]), entry())
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "write", interrupt)
        cache.store(KEY, entry())
    assert len(list(folder.iterdir())) == 1


def test_threads() -> None:
    keys = [cache.key([str(n)]) for n in range(5)]
    wrong: list[object] = []
    hits = [0] * 8
    until = time.monotonic() + 1

    def work(number: int) -> None:
        rng = random.Random(number)
        try:
            while time.monotonic() < until:
                place = rng.randrange(5)
                if rng.random() < 0.5:
                    cache.store(keys[place], entry(place + 5 * rng.randrange(3), 2000))
                elif (found := cache.load(keys[place])) is not None:
                    hits[number] += 1
                    if found.meta["number"] % 5 != place or found != entry(found.meta["number"], 2000):
                        wrong.append(found)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and all(hits)


def test_imports_are_few() -> None:
    """The warm path has milliseconds: neither NumPy nor what takes as long as the cache itself; and never pickle."""
    use = "cache.store('0' * 64, cache.Entry('code', {}, ''))\ncache.load('0' * 64)\nprint(*(set(sys.modules) - before))"
    words = [sys.executable, "-S", "-W", "error", "-c", PRELUDE + use]
    loaded = set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    heavy = {"numpy", "pickle", "_pickle", "shelve", "tempfile", "shutil", "pathlib", "asyncio", "ctypes", "llvmlite", "cuda"}
    if sys.version_info >= (3, 12):
        heavy |= {"hashlib", "_hashlib"}
    assert "json" in loaded and not loaded & heavy
    assert {name for name in loaded if name.startswith("pytocu.")} == {
        "pytocu.config", "pytocu.errors", "pytocu.record", "pytocu.runtime.cache", "pytocu.runtime.cache_directory",
    }  # fmt: skip
    for name in ("cache", "cache_directory"):
        tree = ast.parse((ROOT / "pytocu" / "runtime" / f"{name}.py").read_text())
        used = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
        assert not used & {"pickle", "marshal", "shelve"}

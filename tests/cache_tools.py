"""What the tests of the cache share: a directory, entries to put into it, other users, and warnings counted."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytocu.runtime import cache, cache_directory
from pytocu.runtime.cache import CacheWarning, Entry

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534

posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can do this to a directory")

META = {"function": "mask_out", "signature": "f32[n, 3], bool[n]", "target": "cuda:sm_90", "backend": "nvrtc"}
KEY = cache.key(["one"])


def entry(number: int = 0, size: int = 24) -> Entry:
    text = f'{{"steps": [{number}], "name": "größe \\ud800"}}\ud800'
    return Entry("code", {**META, "number": number}, text, random.Random(number).randbytes(size))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache directory of the test, not made yet; no warning was given in this process."""
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / "made" / "cache"))
    for name in ("PYTOCU_CACHE", "PYTOCU_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache_directory, "_warned", False)
    monkeypatch.setattr(cache, "_written", 0)
    return tmp_path / "made" / "cache"


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that other users can reach, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="pytocu_test_"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@contextmanager
def user(number: int) -> Iterator[None]:
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def one_warning(text: str) -> Iterator[None]:
    """Exactly one warning, with this text; it points at the line of a test."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [w.category for w in caught] == [CacheWarning], [str(w.message) for w in caught]
    assert text in str(caught[0].message)
    assert os.path.dirname(caught[0].filename) == os.path.dirname(__file__)


@contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def file_of(folder: Path, key: str = KEY) -> Path:
    return folder / f"{key}.entry"


def works_without(text: str) -> None:
    """Nothing is kept, nothing is raised, and there is one warning for many calls."""
    with one_warning(text):
        for number in range(3):
            cache.store(cache.key([str(number)]), entry(number))
            assert cache.load(cache.key([str(number)])) is None


def filled(folder: Path, number: int, size: int = 1000) -> list[str]:
    """Entries whose last use is a minute apart, the first one longest ago."""
    keys = [cache.key([str(n)]) for n in range(number)]
    now = time.time()
    for n, key in enumerate(keys):
        cache.store(key, entry(n, size))
        os.utime(file_of(folder, key), (now, now - 60 * (number - n)))
    return keys

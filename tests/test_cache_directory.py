"""Directories that are not trusted or cannot be written: pytocu works without the cache, after one warning."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cache_tools
import pytest
from cache_tools import (
    KEY,
    NOBODY,
    as_root,
    entry,
    file_of,
    no_warning,
    one_warning,
    posix,
    user,
    works_without,
)

from pytocu.runtime import cache, cache_directory
from pytocu.runtime.cache import CacheError

# pytest finds fixtures among the names of a module.
folder = cache_tools.folder
reachable = cache_tools.reachable


@posix
def test_private_under_any_umask(folder: Path) -> None:
    before = os.umask(0)
    try:
        cache.store(KEY, entry())
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (folder.parent, folder, file_of(folder))]
    assert modes == [0o700, 0o700, 0o600]
    assert cache.load(KEY) == entry()


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_directory_that_others_may_write(mode: int, folder: Path) -> None:
    cache.store(KEY, entry())
    folder.chmod(mode)
    with one_warning("chmod go-w"):
        assert cache.load(KEY) is None
        cache.store(KEY, entry(1))
    with pytest.raises(CacheError, match="may be written by other users"):
        cache.entries()
    folder.chmod(0o755)
    assert cache.load(KEY) == entry()


@posix
def test_directory_of_another_user_seen_by_its_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, entry())
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    works_without("belongs to another user")
    with pytest.raises(CacheError, match="belongs to another user"):
        cache.clear()
    monkeypatch.undo()
    assert len(list(folder.iterdir())) == 1


@as_root
def test_directory_of_another_user(folder: Path, reachable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, entry())
    os.chown(folder, NOBODY, NOBODY)
    works_without("belongs to another user (uid 65534)")
    # And the other way round: root's files, read by somebody else.
    os.chown(folder, 0, 0)
    shared = reachable / "cache"
    shutil.copytree(folder, shared)
    shared.chmod(0o755)
    file_of(shared).chmod(0o644)
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(shared))
    monkeypatch.setattr(cache_directory, "_warned", False)
    with user(NOBODY):
        works_without("belongs to another user (uid 0)")


@posix
def test_link_to_a_directory_of_ones_own(folder: Path) -> None:
    folder.parent.mkdir()
    real = folder.parent / "real"
    real.mkdir(mode=0o700)
    folder.symlink_to(real)
    with no_warning():
        cache.store(KEY, entry())
        assert cache.load(KEY) == entry()
    assert file_of(real).exists()


@as_root
def test_link_that_another_user_planted(reachable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reachable.chmod(0o1777)
    mine, planted = reachable / "mine", reachable / "planted"
    mine.mkdir(mode=0o700)
    os.chown(mine, 1000, 1000)
    planted.symlink_to(mine)
    os.chown(planted, NOBODY, NOBODY, follow_symlinks=False)
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(planted))
    with user(1000):
        works_without("symbolic link of another user")
    assert list(mine.iterdir()) == []


@posix
def test_link_in_the_place_of_the_temporary_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(cache.key(["two"]), entry())
    victim = folder.parent / "victim"
    victim.write_text("mine")
    monkeypatch.setattr(os, "urandom", lambda size: b"\0" * size)
    (folder / f"{KEY}.{'00' * 8}.tmp").symlink_to(victim)
    with one_warning("cannot be written"):
        cache.store(KEY, entry())
    assert victim.read_text() == "mine"


@posix
def test_directory_that_may_only_be_read(folder: Path, reachable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hits stay hits; nothing can be added."""
    cache.store(KEY, entry())
    there = reachable / "cache"
    shutil.copytree(folder, there)
    old = time.time() - 10 * 3600
    os.utime(file_of(there), (old, old))
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(there))
    there.chmod(0o500)
    if os.geteuid() == 0:
        os.chown(there, NOBODY, NOBODY)
        os.chown(file_of(there), NOBODY, NOBODY)
        with user(NOBODY):
            _only_read()
    else:
        _only_read()
    there.chmod(0o700)


def _only_read() -> None:
    with one_warning("cannot be written (Permission denied)"):
        for number in range(3):
            assert cache.load(KEY) == entry()
            cache.store(cache.key([f"new {number}"]), entry())
            assert cache.load(cache.key([f"new {number}"])) is None


@contextmanager
def small_disk(where: Path, options: str) -> Iterator[None]:
    where.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(where)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no tmpfs can be mounted: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(where)], check=True)


@as_root
def test_full_disk(folder: Path) -> None:
    with small_disk(folder, "size=64k,mode=700"):
        cache.store(KEY, entry(1, 20000))
        with one_warning("No space left on device"):
            for number in range(5):
                cache.store(cache.key([str(number)]), entry(number, 30000))
        assert cache.load(KEY) == entry(1, 20000)
        assert all(sound for _, sound, _ in cache.verify())
        assert not list(folder.glob("*.tmp"))


@as_root
def test_disk_mounted_read_only(folder: Path) -> None:
    with small_disk(folder, "size=64k,mode=700"):
        cache.store(KEY, entry())
        file = file_of(folder)
        old = time.time() - 10 * 3600
        os.utime(file, (old, old))
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with one_warning("Read-only file system"):
            for _ in range(3):
                assert cache.load(KEY) == entry()
                cache.store(cache.key(["two"]), entry())


@pytest.mark.parametrize("written", [0, 10])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_write_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, written: int) -> None:
    cache.store(KEY, entry())
    calls = 0
    real = os.write

    def failing(descriptor: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if written and calls % 2:
            return real(descriptor, data[:written])
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch, one_warning(os.strerror(number)):
        patch.setattr(os, "write", failing)
        for _ in range(3):
            cache.store(KEY, entry(1))
            cache.store(cache.key(["two"]), entry(2))
    assert calls >= 6
    assert [p.name for p in folder.iterdir()] == [file_of(folder).name]
    assert cache.load(KEY) == entry()


def test_short_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
        cache.store(KEY, entry())
    assert cache.load(KEY) == entry()


def test_file_in_place_of_the_directory(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("mine")
    works_without("Not a directory")
    assert folder.read_text() == "mine"


@posix
def test_link_to_nothing_in_place_of_a_parent(folder: Path) -> None:
    folder.parent.symlink_to(folder.parent.parent / "nothing")
    with one_warning("cannot be made"):
        cache.store(KEY, entry())
        assert cache.load(KEY) is None


def default_directory(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in ("PYTOCU_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@posix
@pytest.mark.parametrize("home", ["missing", "empty", "unset", "file"])
def test_missing_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    match home:
        case "missing":
            default_directory(monkeypatch, HOME=str(tmp_path / "missing"))
        case "empty":
            default_directory(monkeypatch, HOME="")
        case "file":
            (tmp_path / "file").write_text("")
            default_directory(monkeypatch, HOME=str(tmp_path / "file"))
        case _:
            # What Python answers for a user without an entry in the password database.
            default_directory(monkeypatch)
            monkeypatch.setattr(os.path, "expanduser", lambda text: text)
    works_without("there is no home directory; set PYTOCU_CACHE_DIR")
    assert not (tmp_path / "missing").exists()
    with pytest.raises(CacheError, match="home"):
        cache.path()


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_default_directories(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default_directory(monkeypatch, HOME=str(tmp_path), LOCALAPPDATA=str(tmp_path / "local"))
    monkeypatch.setattr(sys, "platform", platform)
    below = {"linux": ".cache/pytocu", "darwin": "Library/Caches/pytocu", "win32": "local/pytocu"}[platform]
    assert cache.path() == str(tmp_path / below)
    if platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert cache.path() == str(tmp_path / below)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache.path() == str(tmp_path / "xdg" / "pytocu")
        cache.store(KEY, entry())
        assert cache.load(KEY) == entry()


def test_directory_named_from_the_home_and_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTOCU_CACHE_DIR", "~/here")
    assert cache.path() == str(tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTOCU_CACHE_DIR", "there")
    cache.store(KEY, entry())
    assert file_of(tmp_path / "there").exists()


@posix
def test_current_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("PYTOCU_CACHE_DIR", "relative")
    works_without("there is no current directory")
    os.chdir(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000])
def test_name_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(tmp_path / name))
    works_without("name too long")


def test_directory_removed_meanwhile(folder: Path) -> None:
    with no_warning():
        cache.store(KEY, entry())
        shutil.rmtree(folder)
        assert cache.load(KEY) is None
        cache.store(KEY, entry())
        assert cache.load(KEY) == entry()


@posix
def test_directory_removed_in_the_middle_of_a_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def replace(*words: str, **descriptors: int) -> None:
        shutil.rmtree(folder)
        real(*words, **descriptors)

    with monkeypatch.context() as patch, no_warning():
        patch.setattr(os, "replace", replace)
        cache.store(KEY, entry())
        assert cache.load(KEY) is None


def test_descriptors_are_closed(folder: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("counts descriptors in /proc")
    before = len(os.listdir("/proc/self/fd"))
    for number in range(50):
        cache.store(KEY, entry())
        cache.load(KEY)
        file_of(folder).write_bytes(b"broken" * number)
        cache.load(KEY)
        cache.entries(), list(cache.verify()), cache.statistics()
    assert len(os.listdir("/proc/self/fd")) == before


@posix
def test_another_process_makes_the_directory_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each directory on the way appears just before this process makes it."""
    make = os.mkdir

    def late(path: str, mode: int) -> None:
        if os.path.isdir(os.path.dirname(path)):
            make(path, mode)
        make(path, mode)

    deep = folder / "a" / "b"
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(deep))
    monkeypatch.setattr(os, "mkdir", late)
    with no_warning():
        cache.store(KEY, entry())
        assert cache.load(KEY) == entry()

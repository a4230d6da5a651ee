"""The command ``pytocu cache``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import cache_tools
import pytest
from cache_tools import KEY, entry, file_of, filled, posix

from pytocu.cli.main import main
from pytocu.runtime import cache
from pytocu.runtime.cache import Entry

# pytest finds fixtures among the names of a module.
folder = cache_tools.folder


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["cache", *words])
    output, errors = capsys.readouterr()
    return code, output, errors


def test_command_lists(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(capsys) == (0, f"0 entries, 0 B of at most 1.0 GiB, in {folder}\n", "")
    cache.store(KEY, entry(1, 3000))
    os.utime(file_of(folder, KEY), (0, time.time() - 90))
    other = cache.key(["two"])
    cache.store(other, Entry("manifest", {"function": "evil\x1b[2J", "signature": "f64[n]"}, "{}"))
    os.utime(file_of(folder, other), (0, time.time() - 3 * 86400 - 5))
    code, output, _ = command(capsys, "list")
    assert code == 0 and output == (
        "function  signature           target      kind         size  last used\n"
        "mask_out  f32[n, 3], bool[n]  cuda:sm_90  code      3.2 KiB  1 min ago\n"
        "evil?[2J  f64[n]              -           manifest    148 B  3 d ago\n"
        f"\n2 entries, 3.3 KiB of at most 1.0 GiB, in {folder}\n"
    )
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    assert "PYTOCU_CACHE=0" in command(capsys)[1]


def test_command_verifies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = filled(folder, 3)
    assert command(capsys, "verify") == (0, "3 entries verified, none is damaged\n", "")
    file_of(folder, keys[0]).write_bytes(b"")
    code, output, errors = command(capsys, "verify")
    assert code == 1 and output == f"{keys[0]}: the length is wrong\n" and "1 of 3 entries damaged" in errors
    code, output, errors = command(capsys, "verify", "--remove")
    assert code == 0 and "3 entries verified, 1 damaged and removed" in output and not errors
    assert command(capsys, "verify")[1] == "2 entries verified, none is damaged\n"


@pytest.mark.parametrize("words", [("clear",), ("prune", "--size", "0"), ("verify", "--remove")])
def test_a_directory_that_may_not_be_written_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    filled(folder, 2)
    # The tests may run as a user who may do everything.
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    said = f"pytocu: the cache directory {folder} may not be written: nothing in it can be removed\n"
    assert command(capsys, *words) == (1, "", said)


@pytest.mark.parametrize("rich", ["there", "missing", "no terminal"])
def test_command_shows_how_far_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rich: str
) -> None:
    filled(folder, 4)
    clock = iter(range(0, 10000, 3))
    with monkeypatch.context() as patch:
        if rich == "there":
            pytest.importorskip("rich")
        else:
            patch.setattr("pytocu.cli.cache.time.monotonic", lambda: next(clock))
        if rich == "missing":
            patch.setitem(sys.modules, "rich.console", None)
        if rich != "no terminal":
            patch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        code, output, errors = command(capsys, "verify")
    assert code == 0 and output == "4 entries verified, none is damaged\n"
    if rich == "there":
        assert "verified" in errors
    else:
        assert errors.splitlines() == [f"verified {n} of 4" for n in range(1, 5)]


def test_command_prunes_and_clears(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(folder, 10)
    assert command(capsys, "prune")[1] == "removed 0 files, 0 B\n"
    assert command(capsys, "prune", "--age", "8.5m")[1].startswith("removed 2 files, ")
    assert command(capsys, "prune", "--size", "3k")[0] == 0 and len(cache.entries()) == 2
    assert command(capsys, "clear")[1].startswith("removed 2 files, ")
    assert command(capsys, "path") == (0, f"{folder}\n", "")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["lst"], "did you mean list?"),
        (["prune", "--size", "many"], "is no size"),
        (["prune", "--age", "3x"], "is no age"),
        (["prune", "--age", "-3d"], "expected one argument"),
        (["prune", "--age", "nand"], "is no age"),
        (["clear", "--age", "3d"], "belong to pytocu cache prune"),
        (["clear", "--remove"], "belongs to pytocu cache verify"),
    ],
)
def test_command_refuses(words: list[str], text: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    filled(folder, 1)
    code, output, errors = command(capsys, *words)
    assert code == 2 and text in errors and not output and len(cache.entries()) == 1


@posix
@pytest.mark.parametrize("action", ["list", "verify", "prune", "clear"])
def test_command_says_why_a_directory_is_not_used(action: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(folder, 1)
    folder.chmod(0o777)
    code, _, errors = command(capsys, action)
    assert code == 1 and "may be written by other users (mode 0777)" in errors and len(list(folder.iterdir())) == 1

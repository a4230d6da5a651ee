"""The cache on disk: what is loaded is what was stored, or nothing, whatever happened to the file."""

from __future__ import annotations

import os
import shutil
import socket
import time
from pathlib import Path

import cache_tools
import pytest
from cache_tools import KEY, META, NOBODY, as_root, entry, file_of, filled, no_warning, one_warning, posix

from pytocu.errors import InternalError
from pytocu.runtime import cache
from pytocu.runtime.cache import Entry

# pytest finds fixtures among the names of a module.
folder = cache_tools.folder


@pytest.mark.parametrize("size", [0, 1, 5000, 3 << 20])
@pytest.mark.parametrize("kind", cache.KINDS)
def test_round_trip(kind: str, size: int) -> None:
    made = entry(1, size)._replace(kind=kind)
    with no_warning():
        assert cache.load(KEY) is None
        cache.store(KEY, made)
        assert cache.load(KEY) == made
        assert cache.load(cache.key(["other"])) is None
        cache.store(KEY, entry(2))
        assert cache.load(KEY) == entry(2)


def test_looking_makes_no_directory(folder: Path) -> None:
    assert cache.load(KEY) is None
    assert cache.entries() == [] and cache.prune() == (0, 0) and cache.clear() == (0, 0) and list(cache.verify()) == []
    assert not folder.parent.exists()


def test_key_depends_on_every_part_and_nothing_else() -> None:
    lists = [[], [""], ["", ""], ["ab"], ["a", "b"], ["b", "a"], ["", "ab"], ["\ud800"], ["a\0b"], ["a", "\0b"]]
    assert len({cache.key(parts) for parts in lists}) == len(lists)
    assert cache.key(["cuda:sm_90", "naïve"]) == cache.key(iter(["cuda:sm_90", "naïve"]))
    # The digest of the lengths (8 bytes, little endian) and the UTF-8 text, so that keys are the same on every machine.
    assert cache.key(["a"]) == "ae6121c88ba555f64c3d812123eb799d128015541f850c5e9bf1d54c08ad8481"


@pytest.mark.parametrize("bad", ["", "x", "../" + "a" * 61, "A" * 64, "a" * 65])
def test_what_is_no_key_is_a_defect(bad: str) -> None:
    with pytest.raises(InternalError):
        cache.store(bad, entry())
    cache.store(KEY, entry())
    with pytest.raises(InternalError):
        cache.load(bad)


def test_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, entry())
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    assert cache.load(KEY) is None
    cache.store(cache.key(["two"]), entry())
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setenv("PYTOCU_CACHE", "1")
    assert cache.load(KEY) == entry()


def test_copied_directory_keeps_every_hit(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [cache.key([str(n)]) for n in range(20)]
    for number, key in enumerate(keys):
        cache.store(key, entry(number))
    other = tmp_path / "elsewhere"
    shutil.copytree(folder, other)
    shutil.rmtree(folder)
    monkeypatch.setenv("PYTOCU_CACHE_DIR", str(other))
    assert [cache.load(key) for key in keys] == [entry(n) for n in range(20)]


# Damage is a miss.


def gone_and_replaced(folder: Path) -> None:
    """The damaged thing is a miss, is removed, and the next store works."""
    with no_warning():
        assert cache.load(KEY) is None
        assert not os.path.lexists(file_of(folder))
        cache.store(KEY, entry())
        assert cache.load(KEY) == entry()


def test_every_bit_flipped(folder: Path) -> None:
    cache.store(KEY, entry())
    path = file_of(folder)
    sound = path.read_bytes()
    for place in range(len(sound)):
        for bit in range(8):
            broken = bytearray(sound)
            broken[place] ^= 1 << bit
            path.write_bytes(broken)
            assert cache.load(KEY) is None, (place, bit)
            assert not path.exists()
    path.write_bytes(sound)
    path.chmod(0o600)
    assert cache.load(KEY) == entry()


def test_every_length(folder: Path) -> None:
    cache.store(KEY, entry())
    path = file_of(folder)
    sound = path.read_bytes()
    for length in range(len(sound)):
        path.write_bytes(sound[:length])
        assert cache.load(KEY) is None, length
        assert not path.exists()
    for more in (b"\0", b"x" * 1000, sound):
        path.write_bytes(sound + more)
        gone_and_replaced(folder)


def test_large_entry_damaged_past_the_first_read(folder: Path) -> None:
    made = entry(3, 5 << 20)
    cache.store(KEY, made)
    assert cache.load(KEY) == made
    path = file_of(folder)
    sound = path.read_bytes()
    for broken in (sound[:-1], sound[:-1] + bytes([sound[-1] ^ 1]), sound[: 1 << 20]):
        path.write_bytes(broken)
        assert cache.load(KEY) is None


def forged(key: str, lengths: tuple[int, int, int], content: bytes, version: int = 1, kind: int = 0) -> bytes:
    """A file whose digest is right."""
    body = cache._BODY.pack(bytes.fromhex(key), kind, *lengths) + content
    digest = cache.sha256(cache._MAGIC + version.to_bytes(4, "little") + body).digest()
    return cache._HEAD.pack(cache._MAGIC, version, digest) + body


FORGED = {
    "another version": forged(KEY, (2, 0, 0), b"{}", version=2),
    "another kind": forged(KEY, (2, 0, 0), b"{}", kind=7),
    "another key": forged(cache.key(["two"]), (2, 0, 0), b"{}"),
    "huge meta": forged(KEY, (2**32 - 1, 0, 0), b"{}"),
    "huge text": forged(KEY, (2, 2**64 - 1, 0), b"{}"),
    "huge binary": forged(KEY, (2, 0, 2**63), b"{}"),
    "lengths that wrap": forged(KEY, (2, 2**63, 2**63), b"{}"),
    "meta is no JSON": forged(KEY, (2, 0, 0), b"{x"),
    "meta is deep": forged(KEY, (200000, 0, 0), b"[" * 200000),
    "meta is a list": forged(KEY, (2, 0, 0), b"[]"),
    "text is no UTF-8": forged(KEY, (2, 1, 0), b"{}\xff"),
}


@pytest.mark.parametrize("name", FORGED)
def test_wrong_content_with_a_right_digest(name: str, folder: Path) -> None:
    cache.store(KEY, entry())
    file_of(folder).write_bytes(forged(KEY, (2, 1, 1), b"{}tb"))
    assert cache.load(KEY) == Entry("code", {}, "t", b"b")
    file_of(folder).write_bytes(FORGED[name])
    assert [sound for _, sound, _ in cache.verify()] == [False]
    gone_and_replaced(folder)


@posix
def test_huge_file_is_not_read(folder: Path) -> None:
    cache.store(KEY, entry())
    for size in (1 << 40, 1 << 30):
        with open(file_of(folder), "r+b") as file:
            file.truncate(size)
        started = time.perf_counter()
        gone_and_replaced(folder)
        assert time.perf_counter() - started < 1


def test_renamed_file_is_refused(folder: Path) -> None:
    other = cache.key(["two"])
    cache.store(other, entry())
    file_of(folder, other).rename(file_of(folder))
    gone_and_replaced(folder)


@posix
@pytest.mark.parametrize("kind", ["directory", "pipe", "socket", "link", "dangling link", "link to itself"])
def test_something_else_in_its_place(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(KEY, entry())
    path = file_of(folder)
    victim = folder.parent / "victim"
    path.rename(victim)
    before = victim.read_bytes()
    match kind:
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            # Its path may have 100 characters only.
            monkeypatch.chdir(folder)
            with socket.socket(socket.AF_UNIX) as made:
                made.bind("s")
            os.rename("s", path)
        case "link":
            path.symlink_to(victim)
        case "dangling link":
            path.symlink_to(folder / "nothing")
        case _:
            path.symlink_to(path)
    gone_and_replaced(folder)
    assert victim.read_bytes() == before and not path.is_symlink()


@posix
def test_full_directory_in_its_place(folder: Path) -> None:
    cache.store(KEY, entry())
    path = file_of(folder)
    path.unlink()
    path.mkdir()
    (path / "somebody's").write_text("work")
    with one_warning("cannot be written"):
        assert cache.load(KEY) is None
        cache.store(KEY, entry())
    assert (path / "somebody's").read_text() == "work"
    assert [p.name for p in folder.iterdir()] == [path.name]


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entry_that_others_may_write_is_not_loaded(mode: int, folder: Path) -> None:
    cache.store(KEY, entry())
    file_of(folder).chmod(mode)
    gone_and_replaced(folder)


@as_root
def test_entry_of_another_user_is_not_loaded(folder: Path) -> None:
    cache.store(KEY, entry())
    os.chown(file_of(folder), NOBODY, NOBODY)
    gone_and_replaced(folder)


# Size.


def test_pruning_keeps_what_was_used_last(folder: Path) -> None:
    keys = filled(folder, 20)
    one = file_of(folder, keys[0]).stat().st_size
    number, size = cache.prune(max_bytes=5 * one + one // 2)
    assert [cache.load(key) is not None for key in keys] == [False] * 15 + [True] * 5
    assert number == 15 and abs(size - 15 * one) < 50
    assert cache.prune(max_age=210)[0] == 2
    assert [cache.load(key) is not None for key in keys[-3:]] == [True] * 3
    assert cache.prune() == (0, 0)
    assert cache.prune(max_bytes=0)[0] == 3 and cache.entries() == []


def test_hit_counts_as_use(folder: Path) -> None:
    keys = filled(folder, 4)
    day = time.time() - 86400
    for key in keys:
        os.utime(file_of(folder, key), (day, day))
    cache.load(keys[1])
    assert time.time() - file_of(folder, keys[1]).stat().st_mtime < 60
    list(cache.verify()), cache.entries()
    cache.prune(max_age=7200)
    assert [e.key for e in cache.entries()] == [keys[1]]
    # Within the hour the time stays, since writing it at every hit would cost more than it tells.
    recent = time.time() - 600
    os.utime(file_of(folder, keys[1]), (recent, recent))
    cache.load(keys[1])
    assert abs(file_of(folder, keys[1]).stat().st_mtime - recent) < 1


def test_storing_keeps_below_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CACHE_SIZE", "100k")
    for number in range(300):
        cache.store(cache.key([str(number)]), entry(number, 1500))
    assert 50 * 1024 < cache.statistics().size <= 100 * 1024 * 17 // 16 + 2000
    assert cache.load(cache.key(["299"])) == entry(299, 1500)


def test_many_processes_of_one_store_each_keep_below_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process stores enough to ask for itself; one key in 32 asks."""
    monkeypatch.setenv("PYTOCU_CACHE_SIZE", "100k")
    for number in range(600):
        monkeypatch.setattr(cache, "_written", 0)
        cache.store(cache.key([str(number)]), entry(number, 1500))
    assert cache.statistics().size < 100 * 1024 + 160 * 2000


def test_entry_larger_than_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = filled(folder, 3)
    monkeypatch.setenv("PYTOCU_CACHE_SIZE", "10k")
    with no_warning():
        cache.store(KEY, entry(0, 20000))
    assert cache.load(KEY) is None and all(cache.load(key) for key in keys)
    monkeypatch.setenv("PYTOCU_CACHE_SIZE", "0")
    cache.store(KEY, entry(0))
    assert cache.load(KEY) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("4096", 4096), ("1k", 1024), ("1.5 GiB", 3 << 29), ("200MB", 200 << 20), (" 2t ", 2 << 40), ("1B", 1)],
)
def test_sizes(text: str, size: int) -> None:
    assert cache.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "x", "-1", "nan", "inf", "1e30", "1 kk", "iB", "0x10"])
def test_what_is_no_size(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError):
        cache.parse_size(text)
    if text:
        monkeypatch.setenv("PYTOCU_CACHE_SIZE", text)
        with one_warning(f"PYTOCU_CACHE_SIZE={text} is no size"):
            cache.store(KEY, entry())
            cache.store(KEY, entry())
        assert cache.load(KEY) == entry() and cache.statistics().limit == 1 << 30


def test_other_files_are_left_alone(folder: Path) -> None:
    filled(folder, 3)
    others = ["notes.txt", "a.entry", "x.tmp", KEY, f"{KEY}.tmp", f"{KEY.upper()}.entry", f"{KEY}.short.tmp"]
    for name in others:
        (folder / name).write_text("mine")
    assert cache.statistics().entries == 3
    assert cache.clear()[0] == 3
    assert sorted(p.name for p in folder.iterdir()) == sorted(others)


def test_statistics_count_what_this_process_did(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_counts", dict.fromkeys(cache._counts, 0))
    cache.load(KEY)
    cache.store(KEY, entry())
    cache.load(KEY)
    cache.load(cache.key(["two"]))
    size = file_of(folder).stat().st_size
    assert cache.statistics() == cache.Statistics(str(folder), 1, size, 0, 1 << 30, 1, 2, 0, 1)
    file_of(folder).write_bytes(b"")
    cache.load(KEY)
    assert cache.statistics().damaged == 1 and cache.statistics().entries == 0


def test_listing_and_verifying(folder: Path) -> None:
    keys = filled(folder, 3)
    cache.store(KEY, Entry("manifest", {"function": "f"}, "{}"))
    listed = cache.entries()
    assert [e.key for e in listed] == [KEY, *reversed(keys)]
    assert listed[0].kind == "manifest" and listed[0].meta == {"function": "f"}
    assert listed[1].meta == {**META, "number": 2} and listed[1].size == file_of(folder, keys[2]).stat().st_size
    first, second = file_of(folder, keys[0]), file_of(folder, keys[1])
    first.write_bytes(first.read_bytes()[:-1] + b"\0")
    second.write_bytes(b"not an entry" * 10)
    verdicts = {key: (sound, reason) for key, sound, reason in cache.verify()}
    assert verdicts[keys[0]] == (False, "the content does not fit its digest")
    assert verdicts[keys[1]] == (False, "not a cache entry")
    assert verdicts[keys[2]] == verdicts[KEY] == (True, "")
    assert {e.key: e.kind for e in cache.entries()} == {keys[0]: "code", keys[1]: "damaged", keys[2]: "code", KEY: "manifest"}
    assert len(list(cache.verify(remove=True))) == 4
    assert {key for key, _, _ in cache.verify()} == {keys[2], KEY}

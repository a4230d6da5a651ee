"""The cache on disk: finished plans and their binaries, one file an entry.

In come a key (see :func:`key`) and an :class:`Entry`; out comes the same entry, in this process or a later one, or
nothing.  :func:`load` and :func:`store` never raise for what they find on the disk: damage is a miss, and a directory
that cannot be used, or must not be trusted, means working without it after one warning.

This file is on the way of the first call of every process, so it imports little, and hashes with the interpreter's own
SHA-256: loading OpenSSL for `hashlib` takes longer than everything else here.  A frozen dataclass takes half a
millisecond to make, a named tuple a tenth of that.  JSON is loaded where something is read or written: a call that
finds nothing does not wait for it before its kernels are built.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pytocu import config
from pytocu.errors import InternalError
from pytocu.record import Record
from pytocu.runtime.cache_directory import (
    HAS_DESCRIPTORS,
    NO_FOLLOW,
    OTHERS_WRITE,
    SUFFIX,
    TEMPORARY,
    CacheError,
    CacheWarning,
    Directory,
    File,
    list_files,
    open_existing,
    parse_size,
    path,
    remove_all,
    sentence,
    size_limit,
    warn,
)

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256

KINDS = ("code", "manifest")
"""What an entry can be: a plan with its binaries, or the facts that lead from a source to plans."""

# The line ends in the magic show a transfer that rewrote them.
_MAGIC = b"pytocu\r\n"
_VERSION = 1
_HEAD = struct.Struct("<8sI32s")
"""Magic, version of the format, SHA-256 of the two and of all that follows."""
_BODY = struct.Struct("<32sBIQQ")
"""Key, kind, lengths of meta, text and binary in bytes."""
_START = _HEAD.size + _BODY.size

_HEXADECIMAL = frozenset("0123456789abcdef")

_TOUCH_AFTER = 3600.0
"""Seconds: how exact the time of last use is."""
_ABANDONED_AFTER = 3600.0
"""Seconds after which a temporary file belongs to a process that was killed."""
_LARGEST = 2**31 - 1
"""Bytes of the largest file that is read or written."""

_READ = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)


class _Damaged(Exception):
    """A file that is not the entry its name promises; the text says in what way."""


class Entry(Record):
    """What is kept under a key.

    Parameters
    ----------
    kind : str
        ``code`` or ``manifest``.
    meta : dict
        JSON values for people: function, signature, target, backend.
    text : str
        The plan or the manifest as JSON.
    binary : bytes
        Machine code.
    """

    kind: str
    meta: dict[str, Any]
    text: str
    binary: bytes = b""


class Listed(Record):
    """An entry as a directory listing shows it: `size` in bytes, `used` (last use) in seconds since the epoch.

    `kind` is ``damaged`` where the head of the file cannot be read; the rest of the file is not looked at.
    """

    key: str
    kind: str
    meta: dict[str, Any]
    size: int
    used: float


class Statistics(Record):
    """The cache in numbers: sizes in bytes; the last four count what this process did (threads may lose counts)."""

    directory: str
    entries: int
    size: int
    temporary: int
    limit: int
    hits: int
    misses: int
    damaged: int
    stores: int


_counts = {"hits": 0, "misses": 0, "damaged": 0, "stores": 0}
_written = 0
"""Bytes this process has stored since it last compared the directory with its limit."""


def key(parts: Iterable[str]) -> str:
    """The key of an entry: a SHA-256 over the parts and their lengths, as 64 hexadecimal digits.

    Parameters
    ----------
    parts : iterable of str
        Everything the entry follows from, in a fixed order.  No paths, times or names of machines, so that the
        directory can be copied.

    Examples
    --------
    >>> key(["ab", "c"]) == key(["a", "bc"])
    False
    >>> len(key(["cuda:sm_90", "func @f() {...}"]))
    64
    """
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(key: str) -> Entry | None:
    """The entry under a key, or None.

    A file that is damaged in any way is a miss, and is removed where that is possible.  Never raises for what is on
    the disk.
    """
    if not config.enabled("cache"):
        return None
    try:
        directory = Directory(create=False)
    except FileNotFoundError:
        _counts["misses"] += 1
        return None
    except CacheError as refusal:
        warn(str(refusal))
        return None
    try:
        entry = _read(directory, key)
        _counts["hits"] += 1
        return entry
    except _Damaged:
        _counts["damaged"] += 1
        directory.remove(_name(key))
    except OSError:
        # No such file, or one that cannot be read now; the next store replaces it.
        _counts["misses"] += 1
    finally:
        directory.close()
    return None


def store(key: str, entry: Entry) -> None:
    """Keep an entry under a key; another process sees all of it or nothing.

    An entry larger than the whole cache may be is not kept.  Never raises for what is on the disk.
    """
    global _written
    if not config.enabled("cache"):
        return
    data = _encode(key, entry)
    limit = size_limit()
    if len(data) > min(limit, _LARGEST):
        return
    try:
        directory = Directory(create=True)
    except CacheError as refusal:
        warn(str(refusal))
        return
    try:
        _replace(directory, _name(key), f"{key}.{os.urandom(8).hex()}{TEMPORARY}", data)
        _counts["stores"] += 1
        _written += len(data)
        # Reading the whole directory at every store would cost more than it keeps.  Keys are evenly spread, so one in
        # 32 decides, however many processes store one entry each.
        if int(key[:2], 16) < 8 or _written > limit // 16:
            _written = 0
            _sweep(directory, limit)
    except FileNotFoundError:
        # Somebody removed the directory meanwhile; the next store makes it again.
        return
    except OSError as error:
        warn(sentence(f"the cache directory {directory.path} cannot be written", error))
    finally:
        directory.close()


def entries() -> list[Listed]:
    """All entries, the one used last first.

    Raises
    ------
    CacheError
        If the directory cannot be used; a missing one is empty.
    """
    directory = open_existing()
    if directory is None:
        return []
    found: list[Listed] = []
    with directory:
        for file in list_files(directory):
            if not file.temporary:
                found.append(_listed(directory, file))
    return sorted(found, key=lambda e: (-e.used, e.key))


def verify(remove: bool = False) -> Iterator[tuple[str, bool, str]]:
    """Read every entry whole.

    Parameters
    ----------
    remove : bool
        Remove the damaged ones.

    Yields
    ------
    tuple of str, bool, str
        The key, whether the entry is sound, and if not, why.

    Raises
    ------
    CacheError
        If the directory cannot be used; a missing one is empty.
    """
    directory = open_existing()
    if directory is None:
        return
    with directory:
        for file in sorted(list_files(directory), key=lambda f: f.name):
            if file.temporary:
                continue
            key = file.name.removesuffix(SUFFIX)
            try:
                _read(directory, key, touch=False)
            except _Damaged as damage:
                if remove:
                    directory.remove(file.name)
                yield key, False, str(damage)
            except FileNotFoundError:
                # Another process removed it meanwhile.
                continue
            except OSError as error:
                yield key, False, f"cannot be read ({error.strerror})"
            else:
                yield key, True, ""


def prune(max_bytes: int | None = None, max_age: float | None = None) -> tuple[int, int]:
    """Remove the entries that were used longest ago, and what killed processes left behind.

    Parameters
    ----------
    max_bytes : int, optional
        What may remain; the configured limit if neither argument is given.
    max_age : float, optional
        Seconds since the last use.

    Returns
    -------
    tuple of int, int
        How many files were removed, and their size in bytes.

    Raises
    ------
    CacheError
        If the directory cannot be used; a missing one is empty.
    """
    if max_bytes is None and max_age is None:
        max_bytes = size_limit()
    directory = open_existing()
    if directory is None:
        return 0, 0
    with directory:
        return _evict(directory, max_bytes, max_bytes, max_age)


def clear() -> tuple[int, int]:
    """Remove every entry and temporary file, and nothing else; how many, and their size in bytes.

    Raises
    ------
    CacheError
        If the directory cannot be used; a missing one is empty.
    """
    directory = open_existing()
    if directory is None:
        return 0, 0
    with directory:
        return remove_all(directory, list_files(directory))


def statistics() -> Statistics:
    """The cache in numbers.

    Raises
    ------
    CacheError
        If the directory cannot be used; a missing one is empty.
    """
    directory = open_existing()
    files: list[File] = []
    if directory is not None:
        with directory:
            files = list_files(directory)
    number = sum(not f.temporary for f in files)
    size = sum(f.size for f in files)
    return Statistics(path(), number, size, len(files) - number, size_limit(), **_counts)


def _name(key: str) -> str:
    if len(key) != 64 or not _HEXADECIMAL.issuperset(key):
        raise InternalError(f"{key!r} is no key of the cache")
    return key + SUFFIX


def _encode(key: str, entry: Entry) -> bytes:
    import json

    _name(key)
    if entry.kind not in KINDS:
        raise InternalError(f"a cache entry cannot be {entry.kind!r}")
    meta = json.dumps(entry.meta, separators=(",", ":"), sort_keys=True).encode()
    text = entry.text.encode("utf-8", "surrogatepass")
    lengths = len(meta), len(text), len(entry.binary)
    body = b"".join((_BODY.pack(bytes.fromhex(key), KINDS.index(entry.kind), *lengths), meta, text, entry.binary))
    return _HEAD.pack(_MAGIC, _VERSION, _digest(body)) + body


def _digest(body: bytes | memoryview) -> bytes:
    digest = sha256(_MAGIC + _VERSION.to_bytes(4, "little"))
    digest.update(body)
    return digest.digest()


def _read(directory: Directory, key: str, touch: bool = True) -> Entry:
    """Read and check an entry; raises _Damaged for what is no entry and OSError for what cannot be read."""
    name = _name(key)
    descriptor, found = _open_file(directory, name)
    try:
        data = _read_bytes(descriptor, found.st_size)
        kind, meta_end, text_end = _check_head(data, key, found.st_size)
        if len(data) != found.st_size or _HEAD.unpack_from(data)[2] != _digest(memoryview(data)[_HEAD.size :]):
            raise _Damaged("the content does not fit its digest")
        if touch and time.time() - found.st_mtime > _TOUCH_AFTER:
            _touch(directory, name, descriptor)
    finally:
        os.close(descriptor)
    import json

    try:
        meta = json.loads(data[_START:meta_end])
        text = data[meta_end:text_end].decode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        raise _Damaged("the description is no JSON") from None
    if not isinstance(meta, dict):
        raise _Damaged("the description is no JSON object")
    return Entry(kind, meta, text, data[text_end:])


def _open_file(directory: Directory, name: str) -> tuple[int, os.stat_result]:
    try:
        descriptor = os.open(directory.place(name), _READ, dir_fd=directory.descriptor)
    except OSError as error:
        # FreeBSD says EMLINK for a link that is not followed; ENXIO is a socket.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise _Damaged("not a regular file") from None
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _Damaged("not a regular file")
        if HAS_DESCRIPTORS and (found.st_uid != os.geteuid() or found.st_mode & OTHERS_WRITE):
            raise _Damaged("another user may write it")
        if not _START <= found.st_size <= _LARGEST:
            raise _Damaged("the length is wrong")
    except BaseException:
        # An interrupt leaves no file open either.
        os.close(descriptor)
        raise
    return descriptor, found


def _read_bytes(descriptor: int, size: int) -> bytes:
    """At most `size` bytes; the head is checked before more than a little is read, so lengths that lie cost nothing."""
    data = os.read(descriptor, min(size, 1 << 20))
    if len(data) == size:
        return data
    _check_head(data, None, size)
    chunks = [data]
    missing = size - len(data)
    while missing and (chunk := os.read(descriptor, min(missing, 1 << 24))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def _check_head(data: bytes, key: str | None, size: int) -> tuple[str, int, int]:
    """The kind, where the meta ends and where the text ends."""
    if len(data) < _START:
        raise _Damaged("the length is wrong")
    magic, version, _ = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise _Damaged("not a cache entry")
    if version != _VERSION:
        raise _Damaged(f"of another version of the format ({version})")
    own, kind, meta, text, binary = _BODY.unpack_from(data, _HEAD.size)
    if key is not None and own.hex() != key:
        raise _Damaged("the file was renamed: it is the entry of another key")
    if kind >= len(KINDS):
        raise _Damaged("of an unknown kind")
    if _START + meta + text + binary != size:
        raise _Damaged("the length is wrong")
    return KINDS[kind], _START + meta, _START + meta + text


def _touch(directory: Directory, name: str, descriptor: int) -> None:
    try:
        if os.utime in os.supports_fd:
            os.utime(descriptor)
        else:
            os.utime(directory.place(name))
    except OSError:
        # A cache that can only be read has no times of use.
        return


def _replace(directory: Directory, name: str, temporary: str, data: bytes) -> None:
    at = directory.descriptor
    try:
        descriptor = os.open(directory.place(temporary), _WRITE, 0o600, dir_fd=at)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        os.replace(directory.place(temporary), directory.place(name), src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        # Nor does it leave half a file behind.
        directory.remove(temporary)
        raise


def _listed(directory: Directory, file: File) -> Listed:
    import json

    key = file.name.removesuffix(SUFFIX)
    kind, meta = "damaged", {}
    try:
        descriptor, status = _open_file(directory, file.name)
        try:
            data = os.read(descriptor, 1 << 16)
            read, end, _ = _check_head(data, key, status.st_size)
            if end <= len(data) and isinstance(value := json.loads(data[_START:end]), dict):
                kind, meta = read, value
        finally:
            os.close(descriptor)
    except (_Damaged, OSError, ValueError, RecursionError):
        # The list says so; `verify` says why.
        pass
    return Listed(key, kind, meta, file.size, file.used)


def _sweep(directory: Directory, limit: int) -> None:
    """Keep the directory below its limit; evicting a tenth more makes this rare."""
    try:
        _evict(directory, limit, limit - limit // 10, None)
    except CacheError:
        # A directory that can be written and not listed is only used, never cleaned.
        return


def _evict(directory: Directory, limit: int | None, target: int | None, max_age: float | None) -> tuple[int, int]:
    now = time.time()
    files = list_files(directory)
    victims = [f for f in files if f.temporary and now - f.used > _ABANDONED_AFTER]
    kept = sorted((f for f in files if not f.temporary), key=lambda f: (f.used, f.name))
    total = sum(f.size for f in kept)
    over = limit is not None and total > limit
    for file in kept:
        if (max_age is not None and now - file.used > max_age) or (over and target is not None and total > target):
            victims.append(file)
            total -= file.size
    return remove_all(directory, victims)


__all__ = [
    "CacheError",
    "CacheWarning",
    "Entry",
    "Listed",
    "Statistics",
    "clear",
    "entries",
    "key",
    "load",
    "parse_size",
    "path",
    "prune",
    "sha256",
    "statistics",
    "store",
    "verify",
]

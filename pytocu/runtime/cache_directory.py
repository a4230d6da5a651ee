"""The directory of the cache: where it is, whether it may be used, and the files in it.

A directory is used when it belongs to this user and no other user can write it: what lies in it is machine code that
will run.  Every file is reached through the descriptor of the directory that was checked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterable
from typing import NoReturn

from pytocu import config
from pytocu.errors import PytocuError, callers_frame
from pytocu.record import Record

SUFFIX = ".entry"
TEMPORARY = ".tmp"
HAS_DESCRIPTORS = {os.open, os.unlink, os.stat, os.rename} <= os.supports_dir_fd and os.scandir in os.supports_fd
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

_HEXADECIMAL = frozenset("0123456789abcdef")
_warned = False


class CacheWarning(RuntimeWarning):
    """pytocu works without its cache on disk, or cannot add to it; the text says why and what to set."""


class CacheError(PytocuError):
    """The cache directory cannot be used; the text says why.

    Only the functions that manage the cache raise it: `load` and `store` warn and go on.
    """


class File(Record):
    """A file of the cache: its name, bytes, seconds since the epoch of its last use, and whether it is half written."""

    name: str
    size: int
    used: float
    temporary: bool


def path() -> str:
    """The cache directory, whether it exists or not.

    Raises
    ------
    CacheError
        If there is no home directory to put it in.
    """
    chosen = config.get("cache_dir")
    try:
        if chosen:
            return os.path.abspath(os.path.expanduser(chosen))
        return os.path.join(_base(), "pytocu")
    except OSError as error:
        raise CacheError(sentence("the cache directory is a relative path and there is no current directory", error)) from None


def parse_size(text: str) -> int:
    """Bytes of a size such as ``500M``, ``1.5 GiB`` or ``4096``; the units are powers of 1024.

    Raises
    ------
    ValueError
        If the text is no size.

    Examples
    --------
    >>> parse_size("1k"), parse_size("0.5 MiB")
    (1024, 524288)
    """
    word = text.strip().upper()
    for end in ("IB", "B"):
        word = word.removesuffix(end)
    power = "KMGT".find(word[-1:]) + 1 if word else 0
    number = float(word[:-1] if power else word)
    if not 0 <= number < 2**60:
        raise ValueError(f"{text!r} is no size")
    return int(number * 1024**power)


def _base() -> str:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        if not local:
            raise CacheError("LOCALAPPDATA is not set; set PYTOCU_CACHE_DIR to a directory of yours")
        return local
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is ignored.
    if os.path.isabs(chosen) and sys.platform != "darwin":
        return chosen
    home = os.path.expanduser("~") if os.environ.get("HOME") != "" else ""
    # A home that is missing is not made: it may be a disk that is not mounted yet.
    if not os.path.isabs(home) or not os.path.isdir(home):
        raise CacheError("there is no home directory; set PYTOCU_CACHE_DIR to a directory of yours")
    return os.path.join(home, *(("Library", "Caches") if sys.platform == "darwin" else (".cache",)))


class Directory:
    """The open cache directory, checked.

    Every file is reached through the descriptor that was checked, so a directory that somebody puts in its place
    meanwhile is never used.  Windows has no such descriptors; there the user's profile is private already.
    """

    __slots__ = ("descriptor", "path")

    def __init__(self, create: bool) -> None:
        self.path = path()
        self.descriptor: int | None = None
        try:
            if create:
                _make(self.path)
            self._open()
        except FileNotFoundError:
            if not create:
                raise
            raise CacheError(f"the cache directory {self.path} cannot be made; set PYTOCU_CACHE_DIR") from None
        except OSError as error:
            raise CacheError(sentence(f"the cache directory {self.path} cannot be used", error)) from None

    def _open(self) -> None:
        if not HAS_DESCRIPTORS:
            if not stat.S_ISDIR(os.stat(self.path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return
        flags = os.O_RDONLY | os.O_DIRECTORY
        try:
            self.descriptor = os.open(self.path, flags | NO_FOLLOW)
        except OSError:
            found = os.lstat(self.path)
            if not stat.S_ISLNK(found.st_mode):
                raise
            # In a directory that many may write, a link of somebody else would choose where files are written.
            if found.st_uid not in (os.geteuid(), 0):
                self._refuse(f"is a symbolic link of another user (uid {found.st_uid});")
            self.descriptor = os.open(self.path, flags)
        found = os.fstat(self.descriptor)
        if found.st_uid != os.geteuid():
            self._refuse(f"belongs to another user (uid {found.st_uid});")
        if found.st_mode & OTHERS_WRITE:
            mode = stat.S_IMODE(found.st_mode)
            self._refuse(f"may be written by other users (mode {mode:04o}): chmod go-w {self.path}, or")

    def _refuse(self, reason: str) -> NoReturn:
        self.close()
        raise CacheError(f"the cache directory {self.path} {reason} set PYTOCU_CACHE_DIR to a directory of yours")

    def place(self, name: str) -> str:
        """The path to give together with the descriptor."""
        return os.path.join(self.path, name) if self.descriptor is None else name

    def remove(self, name: str) -> bool:
        """Remove what has this name, if possible; a link is removed, not what it names."""
        try:
            os.unlink(self.place(name), dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        except OSError:
            try:
                os.rmdir(self.place(name), dir_fd=self.descriptor)
            except OSError:
                return False
        return True

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def _make(path: str) -> None:
    # Another process may make any of these directories between two steps of this one.
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path:
            raise
        _make(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def open_existing() -> Directory | None:
    """The directory, or None where it does not exist; raises CacheError where it must not be used."""
    try:
        return Directory(create=False)
    except FileNotFoundError:
        return None


def size_limit() -> int:
    """Bytes the cache may take."""
    text = config.get("cache_size")
    try:
        return parse_size(text)
    except ValueError:
        default = config.OPTIONS["cache_size"].default
        warn(f"PYTOCU_CACHE_SIZE={text} is no size such as 500M or 2G, and {default} is used")
        return parse_size(default)


def sentence(what: str, error: OSError) -> str:
    """What happened, why, and what to do."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            advice = "make room, or set PYTOCU_CACHE_DIR to a directory on another disk"
        case _:
            advice = "set PYTOCU_CACHE_DIR to a directory of yours"
    return f"{what} ({error.strerror or error}); {advice}"


def warn(reason: str) -> None:
    """Say once a process why the cache does not do its work."""
    global _warned
    if _warned:
        return
    _warned = True
    import warnings

    message = f"the cache of compiled code: {reason} (PYTOCU_CACHE=0 works without it and without this warning)"
    warnings.warn(message, CacheWarning, stacklevel=callers_frame())


def list_files(directory: Directory) -> list[File]:
    """Entries and temporary files; whatever else lies in the directory is not the cache's."""
    found: list[File] = []
    try:
        with os.scandir(directory.path if directory.descriptor is None else directory.descriptor) as listing:
            for item in listing:
                temporary = item.name.endswith(TEMPORARY)
                base = item.name.removesuffix(TEMPORARY if temporary else SUFFIX)
                if base == item.name or not _is_ours(base, temporary):
                    continue
                try:
                    status = item.stat(follow_symlinks=False)
                except OSError:
                    # Another process removed it meanwhile.
                    continue
                found.append(File(item.name, status.st_size, status.st_mtime, temporary))
    except OSError as error:
        raise CacheError(sentence(f"the cache directory {directory.path} cannot be read", error)) from None
    return found


def _is_ours(base: str, temporary: bool) -> bool:
    first, dot, random = base.partition(".")
    return len(first) == 64 and len(dot + random) == (17 if temporary else 0) and _HEXADECIMAL.issuperset(first + random)


def remove_all(directory: Directory, files: Iterable[File]) -> tuple[int, int]:
    """Remove files; how many went, and their size in bytes."""
    number = size = 0
    for file in files:
        if directory.remove(file.name):
            number += 1
            size += file.size
    return number, size

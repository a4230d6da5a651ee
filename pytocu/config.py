"""Every environment variable pytocu reads, in one table."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any

from pytocu.record import Record

VERSION = "0.1.0"
"""The version of pytocu; part of what identifies compiled code."""


class Option(Record):
    """An environment variable.

    Parameters
    ----------
    variable : str
        Its name.
    default : str
        What an unset or empty variable means.
    doc : str
        One sentence.
    """

    variable: str
    default: str
    doc: str


OPTIONS: dict[str, Option] = {
    "disable": Option("PYTOCU_DISABLE", "0", "1 runs every jitted function as plain Python (for debuggers and coverage)."),
    "num_threads": Option("PYTOCU_NUM_THREADS", "", "Threads of the CPU backend; by default as many as this process may use."),
    "debug": Option("PYTOCU_DEBUG", "0", "1 keeps pytocu's own frames in the tracebacks of compile errors."),
    "max_specializations": Option(
        "PYTOCU_MAX_SPECIALIZATIONS", "32", "Specialisations of a function after which a warning says what differs; 0 for none."
    ),
    "dump": Option("PYTOCU_DUMP", "", "A folder that gets every stage of what is compiled; the cache is not asked then."),
    "log": Option("PYTOCU_LOG", "", "compile says of each compile why it happened and how long it took."),
    "lineinfo": Option(
        "PYTOCU_LINEINFO", "0", "1 puts the lines of the Python source into code for GPUs, where profilers show them."
    ),
    "check": Option("PYTOCU_CHECK", "0", "1 verifies the IR after every pass."),
    "native_calls": Option("PYTOCU_NATIVE_CALLS", "1", "0 lets Python make all calls, also those that are repeated often."),
    "cache": Option("PYTOCU_CACHE", "1", "0 works without the cache of compiled code on disk."),
    "cache_dir": Option("PYTOCU_CACHE_DIR", "", "Where compiled code is kept; by default in ~/.cache/pytocu."),
    "host_memory": Option(
        "PYTOCU_HOST_MEMORY", "512M", "What results that are gone may leave for the next ones on a CPU, as 500M; 0 for nothing."
    ),
    "cache_size": Option("PYTOCU_CACHE_SIZE", "1G", "What the cache of compiled code may take, as 500M or 2G."),
}
"""Options by name."""


@lru_cache(maxsize=1)
def build() -> str:
    """The version, and a checksum of the modules where there is a checkout of the repository, or what an installer noted.

    Whoever works on pytocu, or installs it from a repository, changes what it compiles without changing the version.
    """
    package = os.path.dirname(__file__)
    beside = os.path.dirname(package)
    if not os.path.exists(os.path.join(beside, ".git")):
        return _installed(os.path.join(beside, f"pytocu-{VERSION}.dist-info", "RECORD"))
    from zlib import crc32

    files: list[tuple[str, int]] = []
    state, folders = 0, [package]
    for folder in folders:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                found = entry.stat()
                state = crc32(f"{entry.name} {found.st_size} {found.st_mtime_ns}".encode(), state)
                files.append((entry.path, found.st_size))
            elif entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    # The first call of every process waits for this, and reading all files would be a sixth of it.
    noted = os.path.join(package, "__pycache__", "build")
    of_state, _, checksum = _text_in(noted).partition(" ")
    if of_state != f"{state:08x}" or len(checksum) != 8:
        number = 0
        for path, size in files:
            number = crc32(_content(path, size), crc32(os.path.basename(path).encode(), number))
        checksum = f"{number:08x}"
        _note(noted, f"{state:08x} {checksum}")
    return f"{VERSION}+{checksum}"


def _installed(record: str) -> str:
    """The version, and a checksum over the digests of the package's files in the list that installers write."""
    try:
        lines = _content(record, os.stat(record).st_size).splitlines()
    except OSError:
        # A folder that was copied.
        return VERSION
    # Other lines say how and by what it was installed, in which machines with the same files differ; bytecode has no digest.
    files = b"".join(sorted(line for line in lines if line.startswith(b"pytocu/") and not line.endswith(b",,")))
    # The hash of an integer is its remainder by a prime, in every process; loading zlib would take longer than all of this.
    return f"{VERSION}+{hash(int.from_bytes(files)):016x}"


def _content(path: str, size: int) -> bytes:
    # Python's own files take twice as long.
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(opened, size)
    finally:
        os.close(opened)


def _text_in(path: str) -> str:
    try:
        return _content(path, 32).decode("ascii", "replace")
    except OSError:
        return ""


def _note(path: str, text: str) -> None:
    """Write a small file as one, or not at all where Python writes no bytecode."""
    if sys.dont_write_bytecode:
        return
    try:
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError:
        # Another process writes it, or nobody may: the next one reads all files again.
        return


def get(name: str) -> str:
    """The option's text as the environment has it now.

    Examples
    --------
    >>> get("disable") in ("0", "1")
    True
    """
    option = OPTIONS[name]
    return os.environ.get(option.variable, "") or option.default


def enabled(name: str) -> bool:
    """Whether a switch is on: any value but 0, false, no and off."""
    return get(name).lower() not in ("0", "false", "no", "off", "")


FASTMATH_FLAGS = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
"""LLVM's names; ``fastmath=True`` means all of them."""


class Elementwise(Record):
    """That a function is one of scalars, for each element of its arguments.

    Attributes
    ----------
    excluded : tuple of str
        Parameters that get their argument as it is.
    outputs : int or None
        How many numbers it returns, where that is known.
    """

    excluded: tuple[str, ...] = ()
    outputs: int | None = None


UFUNC_KEYWORDS = ("where", "casting", "dtype")
"""Arguments that every function of elements has behind its own and ``out``."""


class Options(Record):
    """What ``@jit`` or ``@vectorize`` was called with, as far as it changes code.

    `trees` say how a function's arguments hold what the code is compiled for, see :mod:`pytocu.trees`; nothing where they are
    that themselves.
    """

    backend: str | None = None
    fastmath: tuple[str, ...] = ()
    elements: Elementwise | None = None
    trees: tuple[Any, ...] = ()


BACKENDS = {"cuda": ("nvvm", "cuda_c"), "cpu": ("llvm",)}
"""Backends by kind of target, the default first."""

DEFAULT_OPTIONS = Options()
"""Of a bare ``@jit``."""

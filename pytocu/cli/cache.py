"""pytocu cache: list, verify, prune or clear the compiled code kept on disk.

Verification shows how far it is: a bar where `rich` is installed and a person reads, lines otherwise.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

from pytocu import config
from pytocu.cli.terminal import CommandError, progress, show, suggestion
from pytocu.errors import PytocuError
from pytocu.runtime import cache

EPILOG = """\
actions:
  list      every entry: function, signature, target, size, time since its last use (the default)
  verify    read every entry whole and compare it with its digest; exit code 1 if one is damaged
  prune     remove the entries used longest ago, down to --size, or PYTOCU_CACHE_SIZE, or older than --age
  clear     remove every entry
  path      print the directory

examples:
  pytocu cache
  pytocu cache verify --remove
  pytocu cache prune --size 200M
  pytocu cache prune --age 30d
"""

_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", default="list", metavar="|".join(ACTIONS), help="list is the default")
    parser.add_argument("--size", type=_size, metavar="SIZE", help="prune: what may remain, as 200M or 1G")
    parser.add_argument("--age", type=_age, metavar="AGE", help="prune: remove what was not used for so long, as 12h or 30d")
    parser.add_argument("--remove", action="store_true", help="verify: remove the damaged entries")


def run(options: argparse.Namespace) -> None:
    """Do one action."""
    if options.action not in ACTIONS:
        raise CommandError(f"cache has no action {options.action!r}{suggestion(options.action, ACTIONS)}")
    if options.action != "prune" and (options.size is not None or options.age is not None):
        raise CommandError("--size and --age belong to pytocu cache prune")
    if options.action != "verify" and options.remove:
        raise CommandError("--remove belongs to pytocu cache verify")
    if options.action in ("prune", "clear") or options.remove:
        _check_writable()
    ACTIONS[options.action](options)


def _check_writable() -> None:
    """Say that nothing can be removed, in place of removing nothing."""
    place = cache.path()
    if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):
        raise PytocuError(f"the cache directory {place} may not be written: nothing in it can be removed")


def _list(options: argparse.Namespace) -> None:
    entries = cache.entries()
    now = time.time()
    header = ("function", "signature", "target", "kind", "size", "last used")
    rows = [
        (
            _word(e, "function"),
            _word(e, "signature"),
            _word(e, "target"),
            e.kind,
            _bytes(e.size),
            f"{_duration(now - e.used)} ago",
        )
        for e in entries
    ]
    if rows:
        first, *rest = _columns([header, *rows], right=(4,)).splitlines()
        show(first, "header")
        show("\n".join(rest))
        show("")
    total = cache.statistics()
    show(f"{_count(total.entries)}, {_bytes(total.size)} of at most {_bytes(total.limit)}, in {total.directory}")
    if not config.enabled("cache"):
        show("PYTOCU_CACHE=0: functions are compiled without the cache")


def _verify(options: argparse.Namespace) -> None:
    number = damaged = 0
    with progress(cache.statistics().entries, "verified") as advance:
        for key, sound, reason in cache.verify(remove=options.remove):
            number += 1
            if not sound:
                damaged += 1
                show(f"{key}: {reason}")
            advance(number)
    if not damaged:
        show(f"{_count(number)} verified, none is damaged")
    elif options.remove:
        show(f"{_count(number)} verified, {damaged} damaged and removed")
    else:
        raise PytocuError(
            f"{damaged} of {_count(number)} damaged: they are never loaded; pytocu cache verify --remove removes them"
        )


def _prune(options: argparse.Namespace) -> None:
    number, size = cache.prune(options.size, options.age)
    show(f"removed {_files(number)}, {_bytes(size)}")


def _clear(options: argparse.Namespace) -> None:
    number, size = cache.clear()
    show(f"removed {_files(number)}, {_bytes(size)}")


def _path(options: argparse.Namespace) -> None:
    show(cache.path())


ACTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "list": _list,
    "verify": _verify,
    "prune": _prune,
    "clear": _clear,
    "path": _path,
}
"""What can be done, by name."""


def _size(text: str) -> int:
    try:
        return cache.parse_size(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write 200M or 1G") from None


def _age(text: str) -> float:
    try:
        age = float(text[:-1]) * _AGES[text[-1:]]
    except (ValueError, KeyError):
        age = -1.0
    if not age >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no age: write 45m, 12h or 30d")
    return age


def _word(entry: cache.Listed, name: str) -> str:
    # A name from a file must not move the terminal's cursor.
    return "".join(c if c.isprintable() else "?" for c in str(entry.meta.get(name, "-")))


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _bytes(size: int) -> str:
    """Bytes as a person reads them.

    Examples
    --------
    >>> _bytes(900), _bytes(2048), _bytes(1 << 30)
    ('900 B', '2.0 KiB', '1.0 GiB')
    """
    if size < 1024:
        return f"{size} B"
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 1024**power:.1f} {'KMGT'[power - 1]}iB"


def _duration(seconds: float) -> str:
    """A time in its largest unit.

    Examples
    --------
    >>> _duration(30), _duration(5400), _duration(400000)
    ('30 s', '1 h', '4 d')
    """
    unit, length = max(((u, n) for u, n in _AGES.items() if seconds >= n), key=lambda item: item[1], default=("s", 1))
    return f"{max(seconds, 0) // length:.0f} {'min' if unit == 'm' else unit}"


def _columns(rows: list[tuple[str, ...]], right: tuple[int, ...]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = (
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)

"""How far a long check is, and when it will be done: a line on a terminal that is written over, elsewhere one now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

BAR = 30
"""Characters of the bar."""

EVERY = 60.0
"""Seconds between two lines where there is no terminal."""


def line(done: int, total: int, seconds: float, earlier: int = 0) -> str:
    """A bar, counts, a rate and the time that is left.

    Parameters
    ----------
    done, total : int
        Units of work.
    seconds : float
        Since the work began.
    earlier : int
        Units that were done before it began, which say nothing about its rate.

    Examples
    --------
    >>> line(150, 600, 10.0)
    '[#######.......................] 150 of 600, 15.0 a second, 30 s left'
    """
    filled = BAR * done // max(total, 1)
    rate = (done - earlier) / max(seconds, 1e-9)
    left = f", {(total - done) / rate:.0f} s left" if rate else ""
    return f"[{'#' * filled}{'.' * (BAR - filled)}] {done} of {total}, {rate:.1f} a second{left}"


def meter(total: int, earlier: int = 0) -> Callable[..., None]:
    """A function ``tell(done, note)`` that says how far the work is.

    On a terminal it writes over its own line; elsewhere it prints a line a minute.

    Parameters
    ----------
    total, earlier : int
        As of :func:`line`.
    """
    begun = said = time.perf_counter()

    def tell(done: int, note: str = "") -> None:
        nonlocal said
        now = time.perf_counter()
        terminal = sys.stderr.isatty()
        if now - said < (0.2 if terminal else EVERY) and not (terminal and done >= total):
            return
        said = now
        text = line(done, total, now - begun, earlier) + (f"; {note}" if note else "")
        end = ("\n" if done >= total else "") if terminal else "\n"
        print(f"\r\x1b[K{text}" if terminal else text, end=end, file=sys.stderr, flush=True)

    return tell


__all__ = ["line", "meter"]

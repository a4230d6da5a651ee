"""Python's garbage collector while instructions are made in numbers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running; also a decorator.

    An instruction and its results refer to each other, so only the collector frees them, and
    while a function is lowered nothing of it can be freed.  A collector that runs meanwhile walks
    over all of it again and again: of a function of 5,000 statements that was two thirds of the
    time, and the time grew faster than the function.  The same holds while the modules that lower are
    loaded.  A collector that the caller switched off stays off.

    Examples
    --------
    >>> import gc
    >>> with paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

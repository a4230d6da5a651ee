"""Calls that are given so long: a loop that does not end, in Python or in native code, leaves a sentence and no answer."""

from __future__ import annotations

import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import Any

from pytocu.errors import PytocuError


class NoAnswer(PytocuError):
    """A call did not end in time."""


class _Stop(BaseException):
    """What ends Python code in a thread that nobody waits for any more; no ``except Exception`` holds it up."""


def within(seconds: float | None, call: Callable[[], Any]) -> Any:
    """What a call gives or raises, if it ends in time.

    Parameters
    ----------
    seconds : float or None
        None waits forever.
    call : callable

    Raises
    ------
    NoAnswer
        It did not end.  Python code is stopped then; native code goes on in a thread of its own, for which the end of the
        process does not wait.

    Examples
    --------
    >>> within(10.0, lambda: 1 + 1)
    2
    >>> def endless():
    ...     while True:
    ...         pass
    >>> within(0.05, endless)
    Traceback (most recent call last):
    ...
    pytocu.testing.limits.NoAnswer: no answer in 0.05 s
    """
    if seconds is None:
        return call()
    found: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:
            # Of the caller, and raised there.
            raised.append(error)

    # What was set around the call, as how floats that overflow are told, holds in it.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop))
        # Python code ends at once, and would take its share of the time from what comes next.
        thread.join(min(seconds, 1.0))
        shown = f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.2g}"
        raise NoAnswer(f"no answer in {shown} s")
    if raised:
        raise raised[0]
    return found[0]


__all__ = ["NoAnswer", "within"]

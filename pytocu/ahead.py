"""Work that another thread does meanwhile.

For calls of C libraries that take milliseconds and leave Python free: opening a compiler, compiling.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pytocu.processes import allocate_lock, fork_waits_for_helper, helps

T = TypeVar("T")


class Ahead(Generic[T]):
    """A result that is computed in a thread of its own, which begins at once.

    Parameters
    ----------
    function : callable
    *arguments

    Examples
    --------
    >>> made = Ahead(pow, 2, 10)
    >>> made.result()
    1024
    """

    def __init__(self, function: Callable[..., T], *arguments: Any):
        # Not at the head: `import pytocu` needs no threads, and importing this would be a tenth of it.
        from threading import Thread

        self._compute = lambda: function(*arguments)
        self._done: list[tuple[T | None, BaseException | None]] = []
        self._process = os.getpid()
        # Not `join`: before Python 3.13 one that is interrupted takes the thread for ended, and the process does not wait.
        self._running = allocate_lock()
        self._running.acquire()
        # Not a daemon: a library that is at work while the process takes it down ends in a fault.
        self._thread = Thread(target=self._run_behind, name="pytocu")
        try:
            self._thread.start()
            # Behind the start: a handler of a signal that forks in between would wait for a thread that never begins.
            fork_waits_for_helper(self._running)
        except RuntimeError:
            # There are no more threads, or the process is about to end: it is computed when it is asked for.
            self._thread = None
            self._running.release()

    def _run(self) -> None:
        try:
            self._done.append((self._compute(), None))
        except BaseException as error:
            # Of whoever asks for the result, and raised there.
            self._done.append((None, error))

    def _run_behind(self) -> None:
        helps()
        try:
            self._run()
        finally:
            self._running.release()

    def wait(self) -> None:
        """Until it is over, however it ends."""
        # In a child that was forked meanwhile the thread does not exist.
        if self._thread is not None and self._process == os.getpid():
            with self._running:
                pass

    def result(self) -> T:
        """What the function returned, once it has.

        Raises
        ------
        BaseException
            What the function raised.
        """
        self.wait()
        if not self._done:
            # There was no thread, or this is a child that was forked meanwhile, where it does not exist.
            self._run()
        made, error = self._done[0]
        if error is not None:
            raise error
        return made  # pyright: ignore[reportReturnType]


__all__ = ["Ahead"]

"""One way into LLVM for everything that uses llvmlite: interrupts and forks find it in one piece."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from pytocu.errors import BackendError
from pytocu.processes import helps, innermost

# LLVM's own locks, and the one that llvmlite holds around each call, are free whenever this one is.
_lock = innermost(threading.RLock())


def llvm_binding() -> Any:
    """LLVM's module of llvmlite, which is loaded when it is first needed.

    Raises
    ------
    BackendError
        It is not installed, or cannot be loaded.
    """
    try:
        import llvmlite.binding
    except (ImportError, OSError) as error:
        reason = f"llvmlite builds code for the CPU, and cannot be loaded ({error})"
        raise BackendError(f"{reason}: pip install llvmlite") from None
    return llvmlite.binding


def undisturbed(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function that uses LLVM so that Ctrl-C cannot cut it short.

    An interrupt is raised in the main thread, wherever that is: within llvmlite it could leave a
    lock taken that other threads then wait for without end.  So the main thread has another one
    do the work; interrupted, it goes on at once, and the work is finished and dropped, before the
    process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        with _lock:
            return function(*args)
    answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        helps()
        try:
            with _lock:
                answer.put((function(*args), None))
        except BaseException as error:
            # Of the caller, and raised there.
            answer.put((None, error))

    # Not a daemon: LLVM at work while the process takes it down ends in a fault.
    threading.Thread(target=work, name="pytocu-llvm").start()
    result, error = answer.get()
    if error is None:
        return result
    try:
        raise error
    finally:
        # The error's traceback refers to this frame.
        del error

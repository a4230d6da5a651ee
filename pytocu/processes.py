"""Locks, and what a fork must not cut in two: only the thread that forks goes on in the child.

A thread that compiles, loads or imports is inside of locks of Python's imports, of LLVM and of other libraries, which
nobody would release in the child; so a fork waits until no thread is in such work, and none begins some meanwhile.

Locks and thread-local data come from where ``threading`` has them: importing that takes a tenth of
what ``import pytocu`` may take, and only threads need it.
"""

from __future__ import annotations

import os
import weakref
from _thread import RLock, allocate_lock
from _thread import _local as Local
from typing import Any

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def lock_of(owner: Any) -> Any:
    """A reentrant lock for the attribute ``_lock`` of an object, replaced by a free one in a forked child."""
    _owners.add(owner)
    return RLock()


# Sets of references, not weak sets: the thread that forks copies them in one step while others add to them.
_of_threads: set[weakref.ref[Any]] = set()
_of_helpers: set[weakref.ref[Any]] = set()
_innermost: list[Any] = []
_entering = RLock()


class _Mine(Local):
    """What the current thread holds."""

    lock: Any = None
    held: tuple[Any, ...] = ()


_mine = _Mine()


def fork_waits() -> Any:
    """A context in which another thread's fork waits for this thread.

    For what compiles, loads and imports, never for what runs the user's kernels: those take as long as they take.

    Examples
    --------
    >>> with fork_waits():
    ...     import json
    """
    if _mine.lock is None:
        made = RLock()
        with _entering:
            _of_threads.add(weakref.ref(made, _of_threads.discard))
        _mine.lock = made
    return _mine.lock


def fork_waits_for_helper(lock: Any) -> None:
    """A thread holds the lock while it works for another one: a fork waits until it has been free.

    In the child it may not be.
    """
    _of_helpers.add(weakref.ref(lock, _of_helpers.discard))


def helps() -> None:
    """Say of the current thread that it works for another one, which waits for it, or is in :func:`fork_waits`.

    It must not wait for a fork itself: that waits for the other thread.
    """
    _mine.lock = RLock()


def innermost(lock: Any) -> Any:
    """The lock, which is always free within a fork: for a module that holds it around a library, and takes no other inside."""
    _innermost.append(lock)
    return lock


def _before_fork() -> None:
    own = _mine.lock
    outer: list[Any] = [_entering, *_alive(_of_threads)]
    if own is not None and own._is_owned():
        # The others may wait for what this thread holds.
        outer = []
    _hold(outer)
    if outer:
        # A thread may have come in before its way was closed.
        _hold(_alive(_of_threads))
    for lock in _alive(_of_helpers):
        # Not held: a helper may wait for another one, and ends only then.
        with lock:
            pass
    _hold(_innermost)


def _hold(locks: list[Any]) -> None:
    for lock in locks:
        lock.acquire()
        _mine.held = (*_mine.held, lock)


def _alive(references: set[weakref.ref[Any]]) -> list[Any]:
    return [lock for lock in [reference() for reference in list(references)] if lock is not None]


def _after_fork() -> None:
    held, _mine.held = _mine.held, ()
    for lock in reversed(held):
        lock.release()


def _after_fork_in_child() -> None:
    global _entering
    _after_fork()
    # The threads that held others do not exist here, and tables change in single steps, so they are whole.
    _entering = RLock()
    _of_threads.clear()
    _of_helpers.clear()
    if _mine.lock is not None:
        _of_threads.add(weakref.ref(_mine.lock, _of_threads.discard))
    for owner in list(_owners):
        owner._lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)

__all__ = ["Local", "RLock", "allocate_lock", "fork_waits", "fork_waits_for_helper", "helps", "innermost", "lock_of"]

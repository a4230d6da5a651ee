"""Locks, and what a fork must not leave behind in the child: those that threads of the parent hold.

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


def _renew_locks() -> None:
    # The thread that held one does not exist here, and tables change in single steps, so they are whole.
    for owner in list(_owners):
        owner._lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

__all__ = ["Local", "RLock", "allocate_lock", "lock_of"]

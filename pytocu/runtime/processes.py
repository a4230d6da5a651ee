"""What a fork must not leave behind in the child: locks that threads of the parent hold."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def lock_of(owner: Any) -> Any:
    """A reentrant lock for the attribute ``_lock`` of an object, replaced by a free one in a forked child."""
    _owners.add(owner)
    return threading.RLock()


def _renew_locks() -> None:
    # The thread that held one does not exist here, and tables change in single steps, so they are whole.
    for owner in list(_owners):
        owner._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

"""What people call library calls that NumPy has under another name, or as part of a function."""

from __future__ import annotations

_KNOWN_AS = {"counts": "bincount", "last_position": "maximum.at"}


def numpy_name(name: str) -> str:
    """NumPy's name of a library call.

    Examples
    --------
    >>> numpy_name("linalg.svd"), numpy_name("counts")
    ('linalg.svd', 'bincount')
    """
    return _KNOWN_AS.get(name, name)

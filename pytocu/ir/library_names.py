"""Library calls without the list of them: those that NumPy has under another name, or as part of a function, and those that say
whether they raised something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_KNOWN_AS = {"counts": "bincount", "last_position": "maximum.at"}


def numpy_name(name: str) -> str:
    """NumPy's name of a library call.

    Examples
    --------
    >>> numpy_name("linalg.svd"), numpy_name("counts")
    ('linalg.svd', 'bincount')
    """
    return _KNOWN_AS.get(name, name)


def caught(run: Callable[[], Any], errors: type[Exception], others: Callable[[], Any]) -> tuple[Any, bool]:
    """What a function of matrices gives, and whether it gave it.

    Parameters
    ----------
    run : callable
        Calls it.
    errors : class
        What is raised by matrices that it does not do.
    others : callable
        Gives an array of the result's shape, which nobody looks at, where it raises.

    Examples
    --------
    >>> import numpy as np
    >>> caught(lambda: np.linalg.inv(np.zeros((1, 1))), np.linalg.LinAlgError, lambda: np.ones((1, 1)))
    (array([[1.]]), False)
    """
    try:
        return run(), True
    except errors:
        return others(), False

"""Functions of matrices that raise where they do not do them, as functions that say whether they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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


__all__ = ["caught"]

"""The arguments ``device=``, ``like=`` and ``order=`` of functions that make arrays.

NumPy has one device, which stands for wherever compiled code keeps its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.frontend.operators import attempt, known_option
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.values import Context, is_array
from pytocu.ir.core import Value


def check_device(context: Context, device: Any, like: Any = None) -> None:
    """Let NumPy refuse a device that it has not, and what is no array.

    Raises
    ------
    CompileError
        What NumPy raises.
    """
    if device is not None:
        attempt(context, np.empty, 0, device=known_option(context, device, "device="))
    if like is not None and not (isinstance(like, Value) and is_array(like)):
        attempt(context, np.empty, 0, like=stand_in(like) if isinstance(like, Value) else like)


def known_order(context: Context, function: Callable[..., Any], order: Any, *args: Any) -> Any:
    """The order of a new array, which NumPy's function takes.

    Raises
    ------
    CompileError
        It does not.
    """
    order = known_option(context, order, "order=")
    attempt(context, function, *args, order=order)
    if isinstance(order, bytes):
        order = order.decode()
    return order.upper() if isinstance(order, str) else order

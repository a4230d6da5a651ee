"""NumPy's arrays on a GPU, as CuPy arrays, and back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.runtime.failures import synchronize


class DeviceScalar(np.ndarray):
    """What came from a GPU as an array without axes: it stands there for a NumPy scalar too."""

    def like(self, expected: Any) -> Any:
        """A NumPy scalar where one is expected, else an array."""
        return self[()] if isinstance(expected, np.generic) else self.view(np.ndarray)


def on_device(array: Any) -> Any:
    """A CuPy array with the same values and strides, on the current device; other objects as they are."""
    if not isinstance(array, np.ndarray):
        return array
    cupy = importlib.import_module("cupy")
    if not array.ndim:
        # CuPy clears memory for an array without axes that equals zero, and so loses the sign of -0.0.
        return cupy.asarray(array.reshape(1)).reshape(())
    owner: Any = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    whole = cupy.asarray(owner, order="A" if owner.flags.fnc else "C")
    if owner is array or whole.strides != owner.strides:
        return whole
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    memory = cupy.cuda.MemoryPointer(whole.data.mem, whole.data.ptr - whole.data.mem.ptr + offset)
    return cupy.ndarray(array.shape, array.dtype, memory, array.strides)


def to_host(value: Any) -> Any:
    """Device arrays as NumPy arrays, inside tuples, lists and dicts too."""
    match value:
        case tuple() | list():
            return type(value)(map(to_host, value))
        case dict():
            return {k: to_host(v) for k, v in value.items()}
        case _ if hasattr(value, "get") and not isinstance(value, np.ndarray):
            return value.get()
        case _:
            return value


def call(function: Callable[..., Any], arguments: Sequence[Any], place: Callable[[Any], Any] = on_device) -> Any:
    """Call a function with arguments on the GPU, and wait for it.

    Parameters
    ----------
    arguments : sequence
        NumPy arrays are placed on the GPU; those that may be written hold afterwards what the function left there.
    place : callable
        What places an array on the GPU.

    Returns
    -------
    Any
        The results on the host, :class:`DeviceScalar` where they are arrays without axes.
    """
    given = [place(a) for a in arguments]
    found = to_host(function(*given))
    synchronize()
    for own, array in zip(arguments, given, strict=True):
        if isinstance(own, np.ndarray) and own.flags.writeable:
            own[...] = to_host(array)
    return _marked(found)


def _marked(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_marked, value))
    if isinstance(value, dict):
        return {key: _marked(held) for key, held in value.items()}
    return value.view(DeviceScalar) if isinstance(value, np.ndarray) and not value.ndim else value


def as_expected(found: Any, expected: Any) -> Any:
    """A result as NumPy has it, where a GPU has an array without axes for a scalar."""
    if isinstance(found, tuple | list) and isinstance(expected, tuple | list) and len(found) == len(expected):
        return type(found)(map(as_expected, found, expected))
    if isinstance(found, dict) and isinstance(expected, dict):
        return {key: as_expected(held, expected.get(key)) for key, held in found.items()}
    return found.like(expected) if isinstance(found, DeviceScalar) else found


__all__ = ["DeviceScalar", "as_expected", "call", "on_device", "to_host"]

"""The arguments of a call in a file: arrays as they are, Python's numbers with their kind beside the name."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytocu.errors import PytocuError

_KINDS = {"bool": bool, "int": int, "float": float, "complex": complex}


def save_inputs(file: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Write arguments by the names of their parameters.

    Parameters
    ----------
    file : str
        ``.npz``, which ``np.load`` reads too.
    values : mapping
        NumPy arrays, NumPy scalars and Python's numbers; device arrays are copied.

    Returns
    -------
    tuple of str
        The names of what has no form in such a file.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "inputs.npz")
    ...     left = save_inputs(file, {"x": np.float32([1, 2]), "k": 3, "mode": "sum"})
    ...     load_inputs(file), left
    ({'x': array([1., 2.], dtype=float32), 'k': 3}, ('mode',))
    """
    made: dict[str, Any] = {}
    left: list[str] = []
    for name, value in values.items():
        kind = type(value).__name__
        array = _host_array(value)
        if _KINDS.get(kind) is type(value):
            # As text, because an int may be one that no array holds.
            made[f"{name}:{kind}"] = np.array(repr(value))
        elif array is not None:
            made[name] = array
        else:
            left.append(name)
    np.savez(file, **made)
    return tuple(left)


def _host_array(value: Any) -> Any:
    """A NumPy array or scalar, or a copy of a device array; None for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        return value if value.dtype.kind in "biufc" else None
    for copied in (
        lambda: value.detach().cpu().numpy(),
        lambda: value.copy_to_host(),
        lambda: value.get() if hasattr(value, "__cuda_array_interface__") else None,
    ):
        try:
            return copied()
        except AttributeError:
            # An array of another library.
            continue
    return None


def _contents(file: str) -> dict[str, Any]:
    found = np.load(file, allow_pickle=False)
    if isinstance(found, np.ndarray):
        raise ValueError("it is one array without a name")
    with found:
        contents = {name: found[name] for name in found.files}
    values: dict[str, Any] = {}
    for key, value in contents.items():
        name, colon, kind = key.partition(":")
        if not isinstance(value, np.ndarray):
            raise ValueError(f"its part {key} is no array")
        if kind in _KINDS:
            text = str(value)
            values[name] = text == "True" if kind == "bool" else _KINDS[kind](text)
        elif colon or value.dtype.kind not in "biufc":
            raise ValueError(f"its array {key} is of dtype {value.dtype}")
        else:
            values[name] = value if value.ndim else value[()]
    return values


def load_inputs(file: str) -> dict[str, Any]:
    """The arguments of a file by name; arrays without axes are NumPy scalars.

    Raises
    ------
    PytocuError
        There is no such file, or it is no ``.npz``.
    """
    try:
        return _contents(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = "it is no file of arrays" if "pickle" in str(error) else str(error)
        raise PytocuError(f"{file!r} holds no arguments ({reason}): np.savez({file!r}, x=x) writes them by name") from None

"""A defect of pytocu in a user's program: what is needed to find it is saved, and the message says where.

Nothing is sent anywhere.  The folder holds the function's source and its arguments, so look at it
before you share it.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import platform
import tempfile
import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytocu import config
from pytocu.errors import InternalError
from pytocu.explain.inputs import save_inputs, texts_of

LARGEST = 256 << 20
"""Bytes of arguments that are saved at most."""


def reported(error: InternalError, function: Any, values: Mapping[str, Any], target: str, lowered: Any = None) -> InternalError:
    """The error with the folder that reproduces it in its text.

    Parameters
    ----------
    function : function
        The user's.
    values : mapping
        Arguments by name.
    lowered : Lowered, optional
        As far as the front end came.
    """
    name = function.__qualname__
    try:
        folder = _saved(error, function, values, target, lowered)
    except OSError as reason:
        return InternalError(f"{error}\n  nothing was saved: {reason.strerror or reason}")
    lines = [str(error), f"  this is a defect of pytocu; what reproduces it is in {folder}"]
    file = function.__code__.co_filename
    if os.path.isfile(file) and "<" not in name:
        inputs = os.path.join(folder, "inputs.npz")
        command = f"pytocu bisect {file}:{name} --inputs {inputs}"
        lines.append(f"  help: {command} finds the step; PYTOCU_DEBUG=1 shows where it failed")
    else:
        lines.append("  help: PYTOCU_DEBUG=1 shows where it failed")
    return InternalError("\n".join(lines))


def _saved(error: InternalError, function: Any, values: Mapping[str, Any], target: str, lowered: Any) -> str:
    folder = tempfile.mkdtemp(prefix=f"pytocu-{function.__name__.strip('<>')}-")
    _, parts, _ = texts_of(values, function)
    size = sum(getattr(v, "nbytes", 0) for v in parts.values())
    left = save_inputs(os.path.join(folder, "inputs.npz"), values, function) if size <= LARGEST else tuple(values)
    about = {
        "function": function.__qualname__,
        "file": function.__code__.co_filename,
        "line": function.__code__.co_firstlineno,
        "target": target,
        "error": str(error),
        "arguments that were not saved": left,
        "pytocu": config.build(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }
    texts = {"about.json": json.dumps(about, indent=1), "traceback.txt": "".join(traceback.format_exception(error))}
    # A function of a terminal has no file.
    with contextlib.suppress(OSError, TypeError):
        texts["source.py"] = inspect.getsource(function)
    if lowered is not None:
        texts["lower.ir"] = lowered.ir("lower", locs=True) + "\n"
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return folder

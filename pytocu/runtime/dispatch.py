"""The first look at a call: from the arguments to the code that is ready for them.

For each list of argument classes that is called often (NumPy arrays or CuPy arrays, with
Python and NumPy scalars), a function is written that takes what identifies an *exact
signature* (dtypes, shapes, strides, devices), finds the ready program in one table and runs
it.  Everything that had to be decided for the signature was decided when the entry was made;
what may change without changing the signature (captured values, the current context) is
looked at again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TABLE_SIZE = 4096
"""Exact signatures remembered for one list of argument classes; a full table starts anew."""

_NUMPY_KEY = ("a{n}.dtype", "a{n}.shape", "a{n}.strides")
_CUPY_KEY = (*_NUMPY_KEY, "a{n}.data.device_id")


@dataclass(frozen=True, slots=True)
class Ready:
    """The program for an exact signature, and the guards on what it captured."""

    run: Callable[..., Any]
    holds: tuple[Callable[[Sequence[Any]], bool], ...]


@dataclass(slots=True)
class Dispatch:
    """The written function for one list of classes, and its table."""

    library: str
    call: Callable[..., Any]
    key: Callable[..., Any]
    table: dict[Any, Ready] = field(default_factory=dict)

    def remember(self, arguments: Sequence[Any], ready: Ready) -> None:
        """Keep the program for the signature of these arguments."""
        if len(self.table) >= TABLE_SIZE:
            self.table.clear()
        self.table[self.key(*arguments)] = ready


def library_of(classes: Sequence[type]) -> str | None:
    """The library when all arrays are of one that has a short way, and the rest are scalars."""
    found: set[str] = set()
    cupy = sys.modules.get("cupy")
    for one in classes:
        if one is np.ndarray:
            found.add("numpy")
        elif cupy is not None and one is cupy.ndarray:
            found.add("cupy")
        elif one not in (bool, int, float) and not issubclass(one, np.generic):
            return None
    return found.pop() if len(found) == 1 else None


def write_dispatch(classes: Sequence[type], slow: Callable[[tuple[Any, ...]], Any]) -> Dispatch | None:
    """The function for a list of argument classes; None where every call goes the general way.

    Parameters
    ----------
    classes : sequence of type
        Exact classes of the arguments.
    slow : callable
        ``slow(arguments)``: the general way, which may remember what it finds.
    """
    library = library_of(classes)
    if library is None:
        return None
    template = _NUMPY_KEY if library == "numpy" else _CUPY_KEY
    arrays = [n for n, c in enumerate(classes) if c not in (bool, int, float) and not issubclass(c, np.generic)]
    names = [f"a{n}" for n in range(len(classes))]
    listed = ", ".join(names)
    key = "(" + "".join(f"{part.format(n=n)}, " for n in arrays for part in template) + ")"
    # Larger Python ints are constants of the code, so they identify a specialisation.
    large = "".join(f" or not -9223372036854775808 <= a{n} < 9223372036854775808" for n, c in enumerate(classes) if c is int)
    lines = [
        f"def key({listed}):",
        f"    return {key}",
        "",
        f"def call({listed}):",
        f"    ready = find({key})",
        f"    if ready is None{large}:",
        f"        return slow(({listed},))",
        "    for holds in ready.holds:",
        f"        if not holds(({listed},)):",
        f"            return slow(({listed},))",
        f"    result = ready.run({listed})",
        f"    return slow(({listed},)) if result is NotImplemented else result",
    ]
    table: dict[Any, Ready] = {}
    namespace: dict[str, Any] = {"find": table.get, "slow": slow}
    exec(compile("\n".join(lines), "<pytocu dispatch>", "exec"), namespace)
    return Dispatch(library, namespace["call"], namespace["key"], table)

"""The value sets that NumPy ships with its tests: inputs, outputs and bounds of elementary functions.

NumPy installs ``umath-validation-set-NAME.csv`` files: a dtype, the bits of an input, the bits of
the correctly rounded output and how many units in the last place NumPy itself may be off.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytocu.ir.core import Op
from pytocu.ir.ops import NUMPY_NAMES

PREFIX = "umath-validation-set-"


class ValueSet(NamedTuple):
    """The lines of one function and dtype.

    Attributes
    ----------
    op : Op
        The function's row.
    inputs, outputs : numpy.ndarray
        Of one dtype, float32 or float64.
    stated : numpy.ndarray
        How many units in the last place NumPy's own functions may be off.
    """

    op: Op
    inputs: np.ndarray
    outputs: np.ndarray
    stated: np.ndarray


def directory() -> Path:
    """Where the installed NumPy has its tests' data; it need not exist."""
    return Path(np.__file__).parent / "_core" / "tests" / "data"


def value_sets() -> Iterator[ValueSet]:
    """Every line of every file, by function and dtype."""
    for path in sorted(directory().glob(f"{PREFIX}*.csv")):
        op = NUMPY_NAMES[path.stem.removeprefix(PREFIX)]
        lines = [line.split(",") for line in path.read_text().splitlines() if line.startswith("np.float")]
        for dtype in dict.fromkeys(kind for kind, *_ in lines):
            size = np.dtype(dtype.removeprefix("np.")).itemsize
            columns = [np.array([int(row[k], 16) for row in lines if row[0] == dtype], f"u{size}") for k in (1, 2)]
            inputs, outputs = (c.view(f"f{size}") for c in columns)
            yield ValueSet(op, inputs, outputs, np.array([int(row[3]) for row in lines if row[0] == dtype]))


__all__ = ["ValueSet", "directory", "value_sets"]

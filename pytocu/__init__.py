"""pytocu compiles NumPy-style Python functions into fused CUDA kernels and native CPU code.

>>> import numpy as np, pytocu
>>> @pytocu.jit
... def mask_out(points, mask):
...     return np.where(mask[:, np.newaxis], np.inf, points)
>>> mask_out(np.ones((2, 3), np.float32), np.array([True, False]))
array([[inf, inf, inf],
       [ 1.,  1.,  1.]], dtype=float32)
"""

from typing import TYPE_CHECKING, Any

from pytocu.config import VERSION
from pytocu.errors import (
    BackendError,
    CompileError,
    DeviceLostError,
    DTypeError,
    IndexingError,
    InternalError,
    OutOfMemoryError,
    PytocuError,
    ShapeError,
    UnsupportedError,
)
from pytocu.jit import JitFunction, jit
from pytocu.runtime.failures import check, synchronize
from pytocu.runtime.streams import stream

if TYPE_CHECKING:
    from pytocu.elementwise import vectorize
    from pytocu.runtime.bundle import load
    from pytocu.runtime.changes import SpecializationWarning

__version__ = VERSION

__all__ = [
    "BackendError",
    "CompileError",
    "DTypeError",
    "DeviceLostError",
    "IndexingError",
    "InternalError",
    "JitFunction",
    "OutOfMemoryError",
    "PytocuError",
    "ShapeError",
    "SpecializationWarning",
    "UnsupportedError",
    "__version__",
    "check",
    "jit",
    "load",
    "stream",
    "synchronize",
    "vectorize",
]


def __getattr__(name: str) -> Any:
    # Not every program needs these, and their modules take a part of the time of the import.
    match name:
        case "load":
            from pytocu.runtime.bundle import load

            return load
        case "SpecializationWarning":
            from pytocu.runtime.changes import SpecializationWarning

            return SpecializationWarning
        case "vectorize":
            from pytocu.elementwise import vectorize

            return vectorize
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

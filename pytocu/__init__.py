"""pytocu compiles NumPy-style Python functions into fused CUDA kernels and native CPU code.

>>> import numpy as np, pytocu
>>> @pytocu.jit
... def mask_out(points, mask):
...     return np.where(mask[:, np.newaxis], np.inf, points)
>>> mask_out(np.ones((2, 3), np.float32), np.array([True, False]))
array([[inf, inf, inf],
       [ 1.,  1.,  1.]], dtype=float32)
"""

# As typing.TYPE_CHECKING: what reads the source takes it for true, and nothing is imported for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytocu.config import VERSION as __version__
    from pytocu.elementwise import vectorize
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
    from pytocu.jitted import JitFunction, jit
    from pytocu.runtime.bundle import load
    from pytocu.runtime.changes import SpecializationWarning
    from pytocu.runtime.failures import check, synchronize
    from pytocu.runtime.streams import stream

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

_MODULES = {
    "JitFunction": "pytocu.jitted",
    "SpecializationWarning": "pytocu.runtime.changes",
    "__version__": "pytocu.config",
    "check": "pytocu.runtime.failures",
    "jit": "pytocu.jitted",
    "load": "pytocu.runtime.bundle",
    "stream": "pytocu.runtime.streams",
    "synchronize": "pytocu.runtime.failures",
    "vectorize": "pytocu.elementwise",
}
"""Where public names are from; exceptions are from `pytocu.errors`."""

if not TYPE_CHECKING:

    def __getattr__(name):
        # A name is looked up when it is first asked for: the command line is in control before NumPy is
        # imported, and a program that catches an exception loads no cache.
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pytocu.deferred import Deferred

        looked_up = Deferred(_MODULES.get(name, "pytocu.errors"), "VERSION" if name == "__version__" else name)
        value = globals()[name] = looked_up.function
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "_MODULES"})

"""Python scalars in programs: Python's operators as text, and conversions to NumPy's dtypes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import DeferredModule
from pytocu.ir.types import number_of

python_part = DeferredModule("pytocu.ir.python_functions")
"""What Python does on the host between kernels, loaded for plans that have such steps."""

PYTHON_OPERATORS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}", "floor_divide": "{} // {}",
    "remainder": "{} % {}", "power": "{} ** {}", "negative": "-{}", "positive": "+{}", "absolute": "abs({})",
    "invert": "~{}", "bitwise_and": "{} & {}", "bitwise_or": "{} | {}", "bitwise_xor": "{} ^ {}",
    "left_shift": "{} << {}", "right_shift": "{} >> {}", "equal": "{} == {}", "not_equal": "{} != {}",
    "less": "{} < {}", "less_equal": "{} <= {}", "greater": "{} > {}", "greater_equal": "{} >= {}",
}  # fmt: skip
"""What Python does with Python scalars, by the name of the row."""

COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
_REAL = frozenset({"bool", "int", "float"})


def result_class(name: str, sources: Sequence[int], known: Mapping[int, str]) -> str:
    """The class of a Python operator's result, or "" where it depends on the values."""
    if name not in PYTHON_OPERATORS:
        result = python_part().PYTHON_FUNCTIONS[name].result
        return known.get(sources[-1], "") if result == "same" else result
    classes = {known.get(s, "") for s in sources}
    if not classes <= _REAL:
        return ""
    if name in ("divide", "power"):
        return "" if name == "power" else "float"
    return "float" if "float" in classes else "int"


def bounds_of(dtype: np.dtype, kind: str) -> tuple[Any, Any] | None:
    """Between which values packing a Python scalar does what a conversion to the dtype does."""
    match dtype.kind:
        case "f" if kind in _REAL:
            # Rounding cannot reach infinity below these.
            return (-3e38, 3e38) if dtype.itemsize == 4 else (-1e308, 1e308) if dtype.itemsize == 8 else None
        case "i" | "u" if kind in ("bool", "int"):
            return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        case _:
            return None


def converter(dtype: np.dtype, wrap: bool) -> Callable[[Any], Any]:
    """A Python scalar to the dtype; a float that overflows becomes infinite, silently."""
    if wrap:
        return lambda value: number_of(value, dtype, True)
    if dtype.kind not in "fc" or dtype == np.float64:
        return dtype.type

    def convert(value: Any) -> Any:
        with np.errstate(all="ignore"):
            return dtype.type(value)

    if dtype.kind == "c":
        return convert
    limit = 6e4 if dtype.itemsize == 2 else 3e38

    def quick(value: Any) -> Any:
        # Changing NumPy's error state costs more than the rest of a call, and few values need it.
        return dtype.type(value) if -limit < value < limit else convert(value)

    return quick


def clamped(bound: int, length: int) -> int:
    """A bound of a slice as a position between 0 and the length."""
    return min(bound, length) if bound >= 0 else max(bound + length, 0)


def truth(value: Any) -> bool:
    """Whether the number in an array without axes is not zero; a device is waited for."""
    read = getattr(value, "item", None)
    return bool(read() if read is not None else value.copy_to_host().item())

"""A call described: types for what code is compiled for, values for what is known while compiling.

In: the arguments of one call, in order of the parameters.  Out: :class:`Call`, whose `key` tells
specialisations apart.  A length never enters the key, only whether it is 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import DTypeError, UnsupportedError
from pytocu.guards import Static, argument_key, is_array_like, is_plain
from pytocu.ir.dims import symbol
from pytocu.ir.types import ArrayType, Type, WeakType, dtype_of, scalar
from pytocu.runtime import arrays
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.plan import layout_of


class Call:
    """What one call passes.

    Attributes
    ----------
    values : tuple
        All arguments in order of the parameters.
    parameters : list of (str, Type or Static)
    keys : list
        What tells specialisations apart, one a parameter.
    infos : dict
        The array arguments, by their number among `dynamic`.
    dynamic : list
        The arguments that are not static, in order.
    """

    __slots__ = ("dynamic", "infos", "keys", "on_gpu", "parameters", "values")

    def __init__(self, values: tuple[Any, ...], on_gpu: bool):
        self.values = values
        self.on_gpu = on_gpu
        self.parameters: list[tuple[str, Type | Static]] = []
        self.keys: list[Any] = []
        self.infos: dict[int, ArrayInfo] = {}
        self.dynamic: list[Any] = []

    @property
    def target(self) -> str:
        """The kind of machine the arguments are for."""
        return "cuda" if self.on_gpu else "cpu"

    @property
    def key(self) -> Any:
        """Equal for calls that the same code may answer."""
        return (self.target, tuple(self.keys))

    def add(self, name: str, value: Any, static: bool) -> None:
        """Describe one argument.

        Raises
        ------
        CompileError
            It can be neither compiled for nor known while compiling.
        """
        weak = _WEAK.get(type(value))
        if static:
            if isinstance(value, np.ndarray):
                raise UnsupportedError(f"the static argument {name} is an array", None, f"leave {name} out of static=")
            self._static(name, value)
        elif weak is not None and (weak is not _INT or -(2**63) <= value < 2**63):
            self._dynamic(name, value, weak)
        elif isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
            found = dtype_of(value.dtype)
            if found is None:
                raise DTypeError(f"argument {name} is a NumPy scalar of dtype {value.dtype}, which is not supported")
            self._dynamic(name, value, scalar(found))
        else:
            info = None if is_plain(value) else arrays.describe(value, name)
            if info is None:
                self._static(name, value)
            else:
                self.infos[len(self.dynamic)] = info
                self._dynamic(name, value, array_type(info))

    def _dynamic(self, name: str, value: Any, type: Type) -> None:
        self.parameters.append((name, type))
        self.keys.append(type)
        self.dynamic.append(value)

    def _static(self, name: str, value: Any) -> None:
        if isinstance(value, (tuple, list, dict)) and _holds_array(value):
            raise UnsupportedError(
                f"the argument {name} is a {type(value).__name__} of arrays", None, "pass each array as an argument of its own"
            )
        self.parameters.append((name, Static(value)))
        self.keys.append(argument_key(value))

    def add_type(self, name: str, type: Type) -> None:
        """Describe an argument of which only the type is known.

        A length of 1 is a fact, as in a call; any other number or name is just a length.
        """
        if isinstance(type, ArrayType):
            shape = tuple(1 if n == 1 else symbol(f"{name}_{axis}") for axis, n in enumerate(type.shape))
            type = ArrayType(type.dtype, shape, type.layout)
        self._dynamic(name, None, type)

    def shown(self) -> tuple[str, ...]:
        """The parameters as texts: types, and the values of static ones."""
        return tuple(f"{name}: {f'static {p.value!r}' if isinstance(p, Static) else p}" for name, p in self.parameters)


_INT = WeakType("int")
_WEAK: dict[type, WeakType] = {bool: WeakType("bool"), int: _INT, float: WeakType("float"), complex: WeakType("complex")}


def _holds_array(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return any(_holds_array(m) if isinstance(m, (tuple, list, dict)) else is_array_like(m) for m in members)


def array_type(info: ArrayInfo) -> ArrayType:
    """The type of an argument: lengths are symbols of its name, except 1."""
    shape = tuple(1 if length == 1 else symbol(f"{info.name}_{axis}") for axis, length in enumerate(info.shape))
    return ArrayType(info.dtype, shape, layout_of(info))

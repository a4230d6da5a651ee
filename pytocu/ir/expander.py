"""What formulas of rows write their instructions with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pytocu.ir.core import Block, Value
from pytocu.ir.types import DType, Type, VectorType, element, scalar

if TYPE_CHECKING:
    from pytocu.ir.bounds import Bounds

    # The builder reads the op table, which names the formulas.
    from pytocu.ir.builder import Builder


class Expander:
    """Writes primitive instructions at one place of the program.

    Parameters
    ----------
    builder : Builder
    exact : bool
        Whether all arithmetic is done as it is written: numbers are where their operands say then.
    stated : dict of Value to Bounds, optional
        Bounds of what formulas have made so far.
    """

    def __init__(self, builder: Builder, exact: bool = True, stated: dict[Value, Bounds] | None = None):
        self.builder, self.exact, self.stated = builder, exact, stated

    def __call__(self, name: str, *args: Value) -> Value:
        return self.builder.emit(name, args)

    def const(self, value: Any, like: Value) -> Value:
        """A constant of the type of `like`."""
        return self.builder.const(value, like.type)

    def cast(self, value: Value, dtype: DType) -> Value:
        """A C conversion in range, or nothing when the dtype is right already."""
        if element(value.type) is dtype:
            return value
        return self.builder.emit("convert_raw", (value,), {}, (retype(value.type, dtype),))

    def bitcast(self, value: Value, dtype: DType) -> Value:
        """The same bits as a number of another dtype of the same size."""
        if element(value.type) is dtype:
            return value
        return self.builder.emit("bitcast", (value,), {}, (retype(value.type, dtype),))

    def kind(self, value: Value) -> str:
        """The dtype kind of what a value stands for."""
        return element(value.type).kind

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """Selection."""
        return self("where", condition, a, b)

    def repeat(
        self, start: Sequence[Value], condition: Callable[..., Value], step: Callable[..., Sequence[Value]]
    ) -> Sequence[Value]:
        """``while condition(*values): values = step(*values)``."""
        types = [v.type for v in start]
        regions: list[Block] = []
        for write in (lambda *values: (condition(*values), *values), step):
            params = tuple(self.builder.param(t) for t in types)
            with self.builder.nested() as insts:
                self.builder.emit("yield", tuple(write(*params)))
            regions.append(Block(params, tuple(insts)))
        return self.builder.inst("while", start, {}, types, regions).results


def retype(type: Type, dtype: DType) -> Type:
    """The same scalar or vector shape with another dtype."""
    return VectorType(dtype, type.lanes) if isinstance(type, VectorType) else scalar(dtype)

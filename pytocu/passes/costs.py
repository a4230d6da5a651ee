"""What instructions cost, in simple operations of one element."""

from __future__ import annotations

from types import MappingProxyType

from pytocu.ir.core import Inst

LONG, LONGEST = 8, 20
"""What an exact operation that takes several instructions counts as, and one that is a series."""

OPERATIONS_A_BYTE = MappingProxyType({"cuda": 10, "cpu": 5})
"""Operations for which a GPU, or a CPU, has time while a byte is stored and loaded again."""

_LONG = frozenset({"divide", "sqrt", "floor_divide", "remainder", "fmod", "divmod"})


def operations(inst: Inst) -> int:
    """Simple operations that one element takes; 0 for what is no arithmetic.

    Examples
    --------
    >>> from pytocu.ir.builder import Builder
    >>> from pytocu.ir.core import Value
    >>> from pytocu.ir.types import F32, scalar
    >>> x = Value(scalar(F32), "x")
    >>> [operations(Builder().emit(op, (x,)).inst) for op in ("negative", "sqrt", "exp")]
    [1, 8, 20]
    """
    if inst.op.name in ("search", "compaction", "fold_range"):
        # A loop over memory.
        return LONGEST
    if inst.op.kind != "elementwise":
        return 0
    return LONG if inst.op.name in _LONG else 1 if inst.op.exact else LONGEST

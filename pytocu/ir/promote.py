"""Promotion: which dtypes an operation computes in, asked of NumPy and remembered.

Weak Python scalars go to NumPy as the Python types ``int``, ``float`` and ``complex``, which
is how NEP 50 spells them.  Python's ``bool`` is a NumPy bool there.  When every argument is
weak the operator is Python's and never comes here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.ir.core import Op
from pytocu.ir.types import BOOL, F64, I64, DType, IndexType, Type, WeakType, dtype_of, element

Operand: TypeAlias = "DType | str"
"""A dtype, or ``int``, ``float``, ``complex`` for a weak scalar."""

_PYTHON = {"int": int, "float": float, "complex": complex}
_EXAMPLE = {"int": 0, "float": 0.0, "complex": 0j}


def operand(type: Type) -> Operand:
    """What promotion sees of a value."""
    match type:
        case WeakType("bool"):
            return BOOL
        case WeakType(kind):
            return kind
        case IndexType():
            return I64
        case _:
            return element(type)


def numpy_function(name: str) -> Any:
    """NumPy's function of that name; the ufunc behind ``clip`` is the one NumPy calls."""
    if name == "clip":
        return np._core.umath.clip  # pyright: ignore[reportAttributeAccessIssue]
    return getattr(np, name)


def numpy_result(op: Op, args: Sequence[Any]) -> Any:
    """What NumPy answers for a row: the function's value, or one of its values."""
    answer = numpy_function(op.numpy)(*args)
    return answer[op.output] if isinstance(answer, tuple) else answer


def known_dtype(dtype: np.dtype, what: str) -> DType:
    """pytocu's dtype for one of NumPy's.

    Raises
    ------
    UnsupportedError
        There is none; the message begins with `what`.
    """
    found = dtype_of(dtype)
    if found is None:
        raise UnsupportedError(f"{what} gives dtype {dtype}, which pytocu does not know")
    return found


@lru_cache(maxsize=65536)
def ufunc_loop(
    name: str, operands: tuple[Operand, ...], signature: Any = None, casting: str = "same_kind"
) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    """The loop NumPy picks: dtypes of the inputs and of the outputs.

    `signature` and `casting` are the ufunc's arguments of these names.

    Raises
    ------
    TypeError, ValueError
        NumPy's own sentence when there is no loop.

    Examples
    --------
    >>> from pytocu.ir.types import F32
    >>> ufunc_loop("add", (F32, "int"))
    ((f32, f32), (f32,))
    """
    ufunc = numpy_function(name)
    given = [_PYTHON[o] if isinstance(o, str) else o.numpy for o in operands]
    chosen = (None,) * (ufunc.nin + ufunc.nout) if signature is None else signature
    _ask_by_a_call(ufunc, operands, casting)
    resolved = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), signature=chosen, casting=casting)
    dtypes = [known_dtype(d, f"np.{name}") for d in resolved]
    return tuple(dtypes[: ufunc.nin]), tuple(dtypes[ufunc.nin :])


@lru_cache(maxsize=65536)
def check_outputs(
    name: str, operands: tuple[Operand, ...], outs: tuple[DType | None, ...], signature: Any, casting: str
) -> None:
    """Ask NumPy whether a ufunc's results may be written into arrays of these dtypes.

    Raises
    ------
    TypeError
        NumPy's own exception where `casting` does not allow it.
    """
    ufunc = numpy_function(name)
    given = [_PYTHON[o] if isinstance(o, str) else o.numpy for o in operands]
    targets = [None if out is None else out.numpy for out in outs]
    chosen = (None,) * (ufunc.nin + ufunc.nout) if signature is None else signature
    _ask_by_a_call(ufunc, operands, casting)
    ufunc.resolve_dtypes((*given, *targets), signature=chosen, casting=casting)


@lru_cache
def takes_roots(dtype: DType) -> bool:
    """Whether NumPy's power in this dtype takes a square root where the one exponent of several elements is 0.5."""
    if dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(np.power(np.full(2, -np.inf, dtype.numpy), dtype.numpy.type(0.5))).all())


def _ask_by_a_call(ufunc: Any, operands: tuple[Operand, ...], casting: str) -> None:
    """Let a ufunc of no elements refuse Python scalars with ``casting="equiv"``: NumPy 2.4's `resolve_dtypes` crashes there."""
    if casting == "equiv" and any(isinstance(o, str) for o in operands):
        ufunc(*(_EXAMPLE[o] if isinstance(o, str) else np.empty(0, o.numpy) for o in operands), casting=casting)


@lru_cache(maxsize=65536)
def result_dtype(operands: tuple[Operand, ...]) -> DType:
    """``np.result_type`` of dtypes and weak scalars; weak alone gives NumPy's default."""
    examples = [_EXAMPLE[o] if isinstance(o, str) else o.numpy for o in operands]
    return known_dtype(np.result_type(*examples), "this mix of dtypes")


def adapts(weak: WeakType, dtype: DType) -> bool:
    """Whether a Python scalar beside a NumPy scalar of a dtype is one of that dtype.

    Examples
    --------
    >>> from pytocu.ir.types import F32, WEAK_COMPLEX, WEAK_INT
    >>> adapts(WEAK_INT, F32), adapts(WEAK_COMPLEX, F32)
    (True, False)
    """
    if weak.kind == "bool":
        return dtype is BOOL
    return result_dtype((operand(weak), dtype)) is dtype


def default_dtype(weak: WeakType) -> DType:
    """The dtype NumPy gives a Python scalar on its own."""
    return {"bool": BOOL, "int": I64, "float": F64}.get(weak.kind) or result_dtype(("complex",))


def strong(type: Type) -> DType:
    """The dtype of a value on its own: its own, or NumPy's default for a Python scalar."""
    return default_dtype(type) if isinstance(type, WeakType) else element(type)


@lru_cache(maxsize=1)
def where_wraps() -> bool:
    """What the installed NumPy does with a Python int in ``np.where`` that the result's dtype lacks.

    NumPy before 2.5 takes its low bits, later ones raise OverflowError.
    """
    try:
        np.where(True, np.uint8(0), 300)
    except OverflowError:
        return False
    return True

"""What a plan does between kernels: calls of the caller's library, and lengths that are read from memory.

The functions of the list of library calls (`pytocu.ir.library`) have one name in NumPy and CuPy; here
stands what they are in PyTorch.  A result is what the plan says it is: of this shape and dtype, row-major.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from pytocu.errors import DTypeError, InternalError, UnsupportedError
from pytocu.ir.library_names import caught
from pytocu.runtime import cuda


def read_host_word(pointer: int) -> int:
    """An int64 in the host's memory."""
    return ctypes.c_int64.from_address(pointer).value


def read_device_word(pointer: int, stream: int, device: int) -> int:
    """An int64 on a GPU, behind what was given to the stream.

    Raises
    ------
    UnsupportedError
        The stream is being captured into a graph, whose replays could not wait.
    """
    word = np.empty(1, np.int64)
    with cuda.activated(device):
        if cuda.capture_of(stream):
            reason = "a length that depends on data is read from the GPU, which a capture into a graph forbids"
            raise UnsupportedError(reason, None, "call it outside")
        cuda.call("cuMemcpyDtoHAsync", word.ctypes.data, pointer, 8, stream)
        cuda.call("cuStreamSynchronize", stream)
    return int(word[0])


@lru_cache
def dtype_called(name: str) -> np.dtype[Any]:
    """The dtype, of which NumPy makes the name anew whenever it is asked for it."""
    return np.dtype(name)


def call_library(
    library: str, name: str, arrays: Sequence[Any], options: Mapping[str, Any], results: Sequence[tuple[str, tuple[int, ...]]]
) -> tuple[Any, ...]:
    """Call a function of the library the arrays belong to.

    Parameters
    ----------
    library : str
        ``numpy``, ``cupy`` or ``torch``.
    name : str
        NumPy's, ``linalg.inv`` for ``np.linalg.inv``.
    arrays : sequence
        Operands.
    options : mapping
        Keywords.
    results : sequence of (str, shape)
        The dtypes by NumPy's name, and shapes, that the results have.

    Raises
    ------
    UnsupportedError
        The library has no such function.
    DTypeError
        It gives another dtype.

    Examples
    --------
    >>> call_library("numpy", "fft.fft", (np.ones(2),), {}, (("complex128", (2,)),))
    (array([2.+0.j, 0.+0.j]),)
    """
    if library not in ("numpy", "cupy", "torch"):
        raise UnsupportedError(
            f"np.{name} is a call of the caller's library, and arrays of {library} have none here",
            None,
            "pass arrays of NumPy, CuPy or PyTorch",
        )
    module = sys.modules[library]
    make = _of_torch(module, name) if library == "torch" else _of_numpy(module, name)
    if options.get("caught"):
        others = {k: v for k, v in options.items() if k != "caught"}
        made = _caught(module, library, lambda: make(arrays, others), arrays[0], *results[0])
    else:
        made = make(arrays, dict(options))
    several = made if isinstance(made, tuple) else (made,)
    return tuple(_as_planned(module, library, name, m, *r) for m, r in zip(several, results, strict=True))


def _caught(
    module: Any, library: str, run: Callable[[], Any], like: Any, dtype: str, shape: tuple[int, ...]
) -> tuple[Any, Any]:
    """What a function of matrices gives, and whether it gave it; see :func:`pytocu.ir.library_names.caught`."""
    if library == "torch":
        unseen = lambda: module.zeros(shape, dtype=getattr(module, dtype), device=like.device)  # noqa: E731
        made, done = caught(run, module.linalg.LinAlgError, unseen)
        return made, module.tensor(done, device=like.device)

    def looked_at() -> Any:
        if library == "numpy":
            return run()
        from cupyx import errstate

        # What CuPy does not look at otherwise.
        with errstate(linalg="raise"):
            return run()

    made, done = caught(looked_at, np.linalg.LinAlgError, lambda: module.zeros(shape, dtype))
    return made, module.asarray(done)


def _as_planned(module: Any, library: str, name: str, made: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    if library == "torch":
        if made.dtype is not getattr(module, dtype):
            raise DTypeError(f"torch.{name} gives {made.dtype} and NumPy {dtype}", help="convert its operands before")
        made = made.contiguous()
    else:
        made = module.asarray(made, order="C")
        if made.dtype != dtype_called(dtype):
            raise DTypeError(f"{library}.{name} gives {made.dtype} and NumPy {dtype}", help="convert its operands before")
    if tuple(made.shape) != tuple(shape):
        raise InternalError(f"{library}.{name} gives {tuple(made.shape)} where the plan has {tuple(shape)}")
    return made


Call = Callable[[Sequence[Any], dict[str, Any]], Any]


def _of_numpy(module: Any, name: str) -> Call:
    """The function of NumPy or CuPy."""
    if name == "last_position":
        return lambda arrays, options: _last_position(module, *arrays)
    if name == "counts":
        made = _counts if module.__name__ == "numpy" else _counts_of_sorted
        return lambda arrays, options: made(module, *arrays)
    function = _function(module, module.__name__, name)
    if module.__name__ == "cupy" and name == "linalg.cholesky":
        return lambda arrays, options: _cholesky_of_cupy(function, *arrays, **options)
    if module.__name__ == "cupy" and name in ("sort", "argsort"):
        return lambda arrays, options: _sorted_by_cupy(module, name, *arrays, axis=options.get("axis", -1))
    return lambda arrays, options: function(*arrays, **options)


def _sorted_by_cupy(cupy: Any, name: str, array: Any, axis: int) -> Any:
    """CuPy's sort is stable, and has no such argument."""
    if array.dtype.kind != "c":
        return getattr(cupy, name)(_with_plain_nan(cupy, array), axis=axis)

    def argsort(key: Any) -> Any:
        return cupy.argsort(key, axis=axis)

    def take(values: Any, order: Any) -> Any:
        return cupy.take_along_axis(values, order, axis=axis)

    order = _order_of_complex(cupy, array, argsort, take)
    return order if name == "argsort" else take(array, order)


def _with_plain_nan(module: Any, array: Any) -> Any:
    """An array of which no NaN has a sign: CuPy sorts float32 and float64 by their bits, those with one before all others."""
    return module.where(array != array, array.dtype.type(math.nan), array) if array.dtype.kind == "f" else array


def _order_of_complex(module: Any, array: Any, argsort: Callable[[Any], Any], take: Callable[[Any, Any], Any]) -> Any:
    """The positions that sort complex numbers as NumPy does: by the real parts and then by the imaginary ones, but behind all
    others those whose imaginary part is NaN, then those whose real part is, and then those of which both are.

    Parameters
    ----------
    module : module
        CuPy or PyTorch.
    array : array
    argsort : callable
        The positions that sort integers along the axis; equal ones keep their order.
    take : callable
        ``np.take_along_axis`` along that axis.
    """
    parts = array.imag, array.real
    no_imag, no_real = (part != part for part in parts)
    keys = [module.where(wrong, 0, _ordered(module, part)) for part, wrong in zip(parts, (no_imag, no_real), strict=True)]
    order = argsort(keys[0])
    for key in (keys[1], no_real * 2 + no_imag * 1):
        order = take(order, argsort(take(key, order)))
    return order


def _ordered(module: Any, numbers: Any) -> Any:
    """Integers in the order of floats that are no NaN, one for the zeros of both signs.

    CuPy's sums and comparisons of float32 take subnormal numbers for zeros.
    """
    size = 8 * numbers.itemsize
    bits = numbers.view(getattr(module, f"int{size}"))
    return module.where(bits < 0, -(1 << size - 1) - bits, bits)


def _cholesky_of_cupy(function: Any, matrices: Any, upper: bool = False) -> Any:
    """CuPy has the lower triangle alone, which is the upper one of the transposed matrix."""
    return function(matrices.conj().swapaxes(-1, -2)).conj().swapaxes(-1, -2) if upper else function(matrices)


def _last_position(module: Any, start: Any, positions: Any) -> Any:
    """See `pytocu.ir.library.last_position`; on a GPU the largest number stays, in whatever order threads write."""
    made = start.copy()
    if module.__name__ == "numpy":
        made[positions] = module.arange(1, positions.size + 1)
        return made
    from cupyx import scatter_max

    scatter_max(made.view(module.uint64), positions, module.arange(1, positions.size + 1, dtype=module.uint64))
    return made


def _counts(module: Any, start: Any, numbers: Any) -> Any:
    """See `pytocu.ir.library.counts`."""
    if numbers.dtype == module.uint8 and numbers.size >= _PAIRED and numbers.flags.c_contiguous:
        made = start.copy()
        made[:256] += _counts_of_bytes(module, numbers)[: start.size]
        return made
    made = module.bincount(numbers, minlength=start.size)
    made += start
    return made


_PAIRED = 2**18
"""Bytes of which two are counted at once: counting waits for memory once a number, and there are 65536 kinds of pairs."""


def _counts_of_bytes(module: Any, numbers: Any) -> Any:
    """How often each of the 256 numbers is there."""
    even = numbers.size - numbers.size % 2
    pairs = module.bincount(numbers[:even].view(module.uint16), minlength=65536).reshape(256, 256)
    return pairs.sum(0) + pairs.sum(1) + module.bincount(numbers[even:], minlength=256)


def _counts_of_sorted(module: Any, start: Any, numbers: Any) -> Any:
    """The same where threads that count would wait for each other: numbers of few bytes are sorted in as many sweeps."""
    most = module.iinfo(numbers.dtype).max
    each = module.minimum(module.arange(start.size), min(most, start.size)).astype(numbers.dtype)
    # Numbers that the dtype does not have end where the largest one does.
    return start + module.diff(module.searchsorted(module.sort(numbers), each, "right"), prepend=0)


def _counts_of_torch(torch: Any, start: Any, numbers: Any) -> Any:
    """The same; PyTorch's own counting waits for the GPU, and refuses numbers that a check of the program reports."""
    most = torch.iinfo(numbers.dtype).max
    each = torch.arange(start.numel(), device=start.device).clamp(max=min(most, start.numel())).to(numbers.dtype)
    ends = torch.searchsorted(torch.sort(numbers)[0], each, right=True)
    return start + torch.diff(ends, prepend=ends.new_zeros(1))


def _last_position_of_torch(torch: Any, start: Any, positions: Any) -> Any:
    numbers = torch.arange(1, positions.numel() + 1, device=start.device)
    return start.clone().scatter_reduce_(0, positions, numbers, "amax")


def _sorted_by_torch(torch: Any, name: str, tensor: Any, dim: int) -> Any:
    """PyTorch has no order of complex numbers."""
    if not tensor.is_complex():
        return torch.sort(tensor, dim=dim, stable=True)[name == "argsort"]

    def argsort(key: Any) -> Any:
        return torch.sort(key, dim=dim, stable=True)[1]

    def take(values: Any, order: Any) -> Any:
        return torch.take_along_dim(values, order, dim=dim)

    order = _order_of_complex(torch, tensor, argsort, take)
    return order if name == "argsort" else take(tensor, order)


def _of_torch(torch: Any, name: str) -> Call:
    """The function of PyTorch that does the same."""
    match name:
        case "sort" | "argsort":
            return lambda arrays, options: _sorted_by_torch(torch, name, *arrays, dim=options.get("axis", -1))
        case "last_position":
            return lambda arrays, options: _last_position_of_torch(torch, *arrays)
        case "counts":
            return lambda arrays, options: _counts_of_torch(torch, *arrays)
        case "linalg.solve":
            return lambda arrays, options: torch.linalg.solve(*arrays)
        case "linalg.qr":
            return lambda arrays, options: _qr_of_torch(torch, *arrays, **options)
        case "linalg.svd" | "linalg.eig" | "linalg.eigh" | "linalg.slogdet":
            function = _function(torch, "torch", name)
            return lambda arrays, options: tuple(function(*arrays, **options))
    function = _function(torch, "torch", name)
    if name.startswith("fft."):
        names = {"axis": "dim", "axes": "dim"}
        return lambda arrays, options: function(*arrays, **{names.get(k, k): v for k, v in options.items()})
    return lambda arrays, options: function(*arrays, **options)


def _qr_of_torch(torch: Any, matrices: Any, mode: str = "reduced") -> Any:
    if mode == "raw":
        made, factors = torch.geqrf(matrices)
        return made.mT, factors
    made = tuple(torch.linalg.qr(matrices, mode=mode))
    return made[1] if mode == "r" else made


def _function(module: Any, library: str, name: str) -> Any:
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        raise UnsupportedError(f"{library} {module.__version__} has no function {name}", None, "compute it outside") from None

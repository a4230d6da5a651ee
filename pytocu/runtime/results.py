"""Arrays out: new arrays and views of the caller's own library.

In: the description of the array that leads a call (:func:`pytocu.runtime.arrays.common`).
Out: objects of its library, from that library's own allocator, on its device.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from pytocu.deferred import DeferredModule
from pytocu.errors import DTypeError, OutOfMemoryError, UnsupportedError
from pytocu.ir.types import DType
from pytocu.runtime import cuda, streams
from pytocu.runtime.arrays import ANY_DEVICE, ArrayInfo, Device
from pytocu.runtime.strides import byte_bounds, dense_strides, laid_out

own_arrays = DeferredModule("pytocu.runtime.device_array")
"""The module of pytocu's own arrays on a GPU, loaded for callers whose library allocates none."""


def resolve_device(like: ArrayInfo) -> Device:
    """The device of results: a real one also where the array has no memory."""
    return cuda.current_device() if like.device == ANY_DEVICE else like.device


def allocate(like: ArrayInfo, shape: Sequence[int], dtype: DType, order: str = "C", stream: int = 0) -> tuple[Any, int]:
    """A new array of the same library on the same device, with undefined contents.

    Parameters
    ----------
    like : ArrayInfo
        What :func:`common` gave.
    order : str
        ``C`` row-major or ``F`` column-major.
    stream : int
        The stream that will write it, where pytocu allocates itself.

    Returns
    -------
    (object, int)
        The array and the address of its first element.  For JAX, and for the protocols, it is
        an array of pytocu's; :func:`finish` makes of it what the caller gets.

    Raises
    ------
    OutOfMemoryError
        The library's allocator has no memory left.
    """
    shape = tuple(shape)
    device = "cpu" if like.on_host else resolve_device(like)
    try:
        if device == "cpu":
            return _allocate_on_host(like, shape, dtype, order)
        return _allocate(like, device, shape, dtype, order, stream)
    except Exception as error:
        # Each library has a class of its own for memory that is used up; whatever else it raises goes on.
        known = no_memory(error)
        if known is error:
            raise
        raise known from error


def no_memory(error: Exception) -> Exception:
    """One exception for what the libraries raise when their memory is used up, with what to do; others stay what they are.

    Examples
    --------
    >>> print(no_memory(MemoryError("Unable to allocate 8 TiB")))
    no memory for a result: Unable to allocate 8 TiB
      help: free arrays, or work on parts; the function stays usable
    >>> no_memory(ValueError("no"))
    ValueError('no')
    """
    if not _is_out_of_memory(error):
        return error
    room = _ROOM.get(type(error).__module__.partition(".")[0], "free arrays")
    text = str(error) or "the library gives no details"
    return OutOfMemoryError(f"no memory for a result: {text}\n  help: {room}, or work on parts; the function stays usable")


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether it is a library's way to say so: PyTorch and Numba do not derive theirs from MemoryError."""
    if isinstance(error, OutOfMemoryError):
        return False
    name = type(error).__name__
    return (
        isinstance(error, MemoryError)
        or name == "OutOfMemoryError"
        or (name == "CudaAPIError" and "OUT_OF_MEMORY" in str(error))
    )


_ROOM = {
    "cupy": "free arrays, or the pool's unused blocks with cupy.get_default_memory_pool().free_all_blocks()",
    "torch": "free tensors, or the pool's unused blocks with torch.cuda.empty_cache()",
    "numba": "free arrays and run gc.collect()",
    "numpy": "free arrays",
}


def _allocate_on_host(like: ArrayInfo, shape: tuple[int, ...], dtype: DType, order: str) -> tuple[Any, int]:
    if like.library == "torch":
        return _torch_empty(shape, dtype, "cpu", order)
    laid, axes = laid_out(shape, order)
    made = np.empty(shape, dtype.numpy, order) if order in ("C", "F") else np.empty(laid, dtype.numpy).transpose(axes)
    return made, made.__array_interface__["data"][0]


def _allocate(like: ArrayInfo, device: Any, shape: tuple[int, ...], dtype: DType, order: str, stream: int) -> tuple[Any, int]:
    match like.library:
        case "cupy":
            cupy = sys.modules["cupy"]
            with cupy.cuda.Device(device):
                laid, axes = (shape, None) if order in ("C", "F") else laid_out(shape, order)
                made = cupy.empty(laid, dtype.numpy, order=order if axes is None else "C")
                made = made if axes is None else made.transpose(axes)
            return made, made.data.ptr
        case "torch":
            return _torch_empty(shape, dtype, f"cuda:{device}", order)
        case "numba":
            numba_cuda = sys.modules["numba.cuda"]
            with numba_cuda.gpus[device]:
                # Bound to the stream, so that Numba's own copies and other readers come after the kernel.
                bound = numba_cuda.external_stream(stream) if stream > streams.PER_THREAD else 0
                strides = None if order == "C" else dense_strides(shape, dtype.numpy.itemsize, order)
                made = numba_cuda.device_array(shape, dtype.numpy, strides, stream=bound)
            return made, int(made.__cuda_array_interface__["data"][0] or 0)
        case _:
            made = own_arrays().empty(shape, dtype.numpy, device, stream, order)
            return made, made.pointer


def _torch_empty(shape: tuple[int, ...], dtype: DType, device: str, order: str) -> tuple[Any, int]:
    torch = sys.modules["torch"]
    theirs = getattr(torch, dtype.numpy.name, None)
    if theirs is None:
        raise DTypeError(f"PyTorch {torch.__version__} has no dtype {dtype.numpy}, which the result has")
    laid, axes = laid_out(shape, order)
    made = torch.empty(laid, dtype=theirs, device=device)
    made = made if order == "C" else made.permute(axes)
    return made, made.data_ptr()


def finish(like: ArrayInfo, made: Any, stream: int = 0) -> Any:
    """What the caller gets of an array that :func:`allocate` gave, once the launch is under way."""
    if like.library != "jax":
        return made
    jax = sys.modules["jax"]
    if isinstance(made, np.ndarray):
        return jax.numpy.asarray(made)
    with cuda.activated(made.device):
        if cuda.capture_of(stream):
            reason = "a call with JAX arrays waits for its kernels, which a capture into a graph forbids"
            raise UnsupportedError(reason, None, "capture with CuPy or PyTorch arrays")
        # JAX may free and reuse the inputs on a stream of its own as soon as the caller drops them.
        cuda.synchronize(stream, made.device)
    # JAX takes row-major arrays only.
    axes = sorted(range(len(made.shape)), key=lambda axis: -made.strides[axis])
    if axes == sorted(axes):
        return jax.dlpack.from_dlpack(made)
    return jax.dlpack.from_dlpack(made.transposed(axes)).transpose([axes.index(axis) for axis in range(len(axes))])


def view(
    obj: Any, info: ArrayInfo, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: DType | None = None
) -> Any:
    """A view of an argument in its own library.

    Parameters
    ----------
    obj : object
        The argument.
    info : ArrayInfo
        Its description.
    shape, strides : sequence of int
        Of the view; strides in bytes.
    offset : int
        Bytes from the argument's first element to the view's.
    dtype : DType, optional
        Of the same size as the argument's, which it is by default, or as a complex argument's parts.

    Raises
    ------
    UnsupportedError
        The library has no such views.
    """
    shape, strides = tuple(shape), tuple(strides)
    itemsize = (dtype or info.dtype).itemsize
    low, high = byte_bounds(info.shape, info.byte_strides, info.dtype.itemsize)
    start, end = byte_bounds(shape, strides, itemsize)
    if 0 in shape:
        offset = 0
    elif offset + start < low or offset + end > high:
        raise ValueError(f"a view of {info.name} would reach outside of its memory")
    made = (dtype or info.dtype).numpy
    match info.library:
        case "jax":
            _no_view(info.name, "is a JAX array, and JAX has no views")
        case "numpy":
            return _numpy_view(obj, info, shape, strides, offset, made)
        case "torch":
            if any(s < 0 for s, n in zip(strides, shape, strict=True) if n > 1):
                _no_view(info.name, "is a PyTorch tensor, and PyTorch has no views with negative steps")
            steps = tuple(max(s, 0) // itemsize for s in strides)
            if itemsize != info.dtype.itemsize:
                obj = sys.modules["torch"].view_as_real(obj)
            part = obj.as_strided(shape, steps, obj.storage_offset() + offset // itemsize)
            return part if dtype is None else part.view(getattr(sys.modules["torch"], made.name))
        case "cupy":
            cupy = sys.modules["cupy"]
            return cupy.ndarray(shape, made, memptr=obj.data + offset, strides=strides)
        case "numba":
            interface = {
                "shape": shape, "strides": strides, "typestr": made.str,
                "data": (info.pointer + offset, info.readonly), "version": 3, "stream": info.stream,
            }  # fmt: skip
            return sys.modules["numba.cuda"].from_cuda_array_interface(interface, owner=obj, sync=False)
    if info.on_host:
        return _numpy_view(info.owner, info, shape, strides, offset, made)
    device = resolve_device(info)
    assert isinstance(device, int)
    pointer = info.pointer + offset if info.pointer else 0
    stream = info.stream or 0
    return own_arrays().DeviceArray(pointer, shape, made, strides, device, stream, info.owner, info.readonly)


def _no_view(name: str, reason: str) -> NoReturn:
    raise UnsupportedError(f"argument {name} {reason}", None, "return a copy: write .copy() behind the slice")


class _Memory:
    """Lets NumPy make an array over an address and keeps its owner alive."""

    __slots__ = ("__array_interface__", "owner")


def _numpy_view(
    owner: Any, info: ArrayInfo, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: np.dtype
) -> np.ndarray:
    memory = _Memory()
    memory.owner = owner
    memory.__array_interface__ = {
        "shape": shape, "strides": strides, "typestr": dtype.str,
        "data": (info.pointer + offset, info.readonly), "version": 3,
    }  # fmt: skip
    return np.asarray(memory)

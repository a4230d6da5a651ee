"""Arrays of every library, in and out.

In: whatever a caller passes.  Out: :class:`ArrayInfo`, what a launch needs to know of an array,
and new arrays and views of the caller's own library.  No array library is imported here: an
object of a library exists only where the library has been imported already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import index
from typing import Any, NoReturn, TypeAlias

import numpy as np

from pytocu.errors import DTypeError, ShapeError, UnsupportedError
from pytocu.ir.types import ALL_DTYPES, DType, dtype_of
from pytocu.record import Record
from pytocu.runtime import cuda, streams
from pytocu.runtime.strides import c_strides, is_c_contiguous

Device: TypeAlias = "int | str"
"""A CUDA ordinal, ``"cpu"``, or :data:`ANY_DEVICE`."""

ANY_DEVICE = -1
"""The device of an empty array without memory: it fits beside arrays of every device."""

KNOWN_DTYPES = "bool, int8 to int64, uint8 to uint64, float16, float32, float64, complex64, complex128"

ARRAY_LIBRARIES = {"cupy": "CuPy", "torch": "PyTorch", "numba": "Numba", "jax": "JAX", "numpy": "NumPy"}


class ArrayInfo(Record):
    """What pytocu knows of one array of a call.

    Attributes
    ----------
    library : str
        ``numpy``, ``cupy``, ``torch``, ``numba``, ``jax``, ``cuda_interface`` or ``dlpack``.
    device : int or str
        CUDA ordinal, ``"cpu"``, or :data:`ANY_DEVICE`.
    pointer : int
        Address of the first element; 0 for an empty array.
    dtype : DType
    shape : tuple of int
    strides : tuple of int or None
        In bytes; None when the elements lie in row-major order without gaps.
    readonly : bool
    stream : int or None
        The stream on which the contents are written, when the array says so.
    owner : object
        What keeps the memory alive.
    name : str
        The argument, for messages.
    """

    library: str
    device: Device
    pointer: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    readonly: bool
    stream: int | None
    owner: Any
    name: str

    @property
    def byte_strides(self) -> tuple[int, ...]:
        """The strides in bytes, also of a contiguous array."""
        return c_strides(self.shape, self.dtype.itemsize) if self.strides is None else self.strides

    @property
    def on_host(self) -> bool:
        """Whether the memory is the host's."""
        return self.device == "cpu"


Reader: TypeAlias = Callable[[Any, str], "ArrayInfo | None"]


def describe(obj: object, name: str) -> ArrayInfo | None:
    """What there is to know of an argument, or None when it is no array.

    Parameters
    ----------
    obj : object
        Anything; NumPy scalars and Python scalars are no arrays.
    name : str
        The argument's name, for messages.

    Raises
    ------
    DTypeError
        The dtype has no code: object, long double, big-endian, structured, strings, dates.
    UnsupportedError
        An array that cannot be read safely; the message says what to write.

    Examples
    --------
    >>> info = describe(np.zeros((2, 3), np.float32)[:, ::2], "x")
    >>> info.library, info.dtype, info.shape, info.strides
    ('numpy', f32, (2, 2), (12, 8))
    >>> describe(1.5, "x") is None
    True
    """
    return _reader(type(obj))(obj, name)


@lru_cache(maxsize=512)
def _reader(cls: type) -> Reader:
    """How objects of a class are read."""
    if cls is np.ndarray:
        return _numpy
    # A base decides, so that a subclass is never taken for a plain array of its library.
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        match root, base.__name__:
            case (("numba" | "numba_cuda"), ("DeviceNDArrayBase" | "DeviceNDArray")):
                return _numba
            case "numpy", "ndarray":
                return _numpy_subclass
            case "numpy", "generic":
                return _no_array
            case "cupy", "ndarray":
                return _cupy if base is cls else _subclass("CuPy array", "cupy.asarray({name})")
            case "torch", "Tensor":
                plain = cls is base or (cls.__name__ == "Parameter" and cls.__module__.startswith("torch."))
                return _torch if plain else _subclass("PyTorch tensor", "{name}.as_subclass(torch.Tensor)")
            case "jax", "Tracer":
                return _jax_tracer
            case (("jax" | "jaxlib"), ("ArrayImpl" | "Array")):
                return _jax
    if cls in (bool, int, float, complex, str, bytes, list, tuple, dict, type(None)):
        return _no_array
    return _protocols


def _no_array(obj: Any, name: str) -> None:
    return None


def _unsupported(name: str, reason: str, help: str | None = None) -> NoReturn:
    raise UnsupportedError(f"argument {name} {reason}", None, help)


# Dtypes, strides and alignment, the same for all libraries.

_WORDS = {
    "O": "Python objects", "V": "structured or raw bytes", "U": "strings", "S": "byte strings", "T": "strings",
    "M": "dates", "m": "time differences",
}  # fmt: skip


_CONVERTED = {
    "f": "write {0}.astype(np.float64)",
    "c": "write {0}.astype(np.complex128)",
    "O": "convert it before the call, as {0}.astype(np.float64): None becomes NaN",
    "V": "pass its fields one by one, as {0}['name']",
    "U": "compute with numbers: np.unique({0}, return_inverse=True) gives one for each text",
    "S": "compute with numbers: {0}.view(np.uint8) are the bytes, np.unique({0}, return_inverse=True) numbers the texts",
    "M": "pass {0}.astype(np.int64), the count of its unit since 1970",
    "m": "pass {0}.astype(np.int64), the count of its unit",
}
"""What to pass instead, by kind of dtype."""


def _dtype(found: np.dtype, name: str) -> DType:
    if not found.isnative and found.kind in "biufc":
        reason = f"argument {name} has dtype {found.str!r}: its byte order is not this machine's"
        raise DTypeError(reason, None, f"write {name}.astype({name}.dtype.newbyteorder('='))")
    dtype = dtype_of(found)
    if dtype is not None:
        return dtype
    what = _WORDS.get(found.kind, "")
    what = f"dtype {found} ({what})" if what else f"dtype {found}"
    help = _CONVERTED.get(found.kind, "").format(name) or None
    raise DTypeError(f"argument {name} has {what}, which is not supported: the dtypes are {KNOWN_DTYPES}", None, help)


def _info(
    library: str,
    device: Device,
    pointer: int,
    dtype: DType,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    readonly: bool,
    stream: int | None,
    owner: Any,
    name: str,
) -> ArrayInfo:
    """Put together what was read, after the checks every array passes."""
    itemsize, word = dtype.itemsize, dtype.word.itemsize
    if strides is not None and is_c_contiguous(shape, strides, itemsize):
        strides = None
    if 0 not in shape and itemsize > 1:
        # A complex number is read as two words, and NumPy aligns it as such.
        uneven = pointer % word or any(s % itemsize for s, n in zip(strides or (), shape, strict=False) if n > 1)
        if uneven:
            _unsupported(name, f"is not aligned to its item size of {itemsize} bytes", f"write {name} = {name}.copy()")
    return ArrayInfo(library, device, pointer, dtype, shape, strides, readonly, stream, owner, name)


# The libraries.


def _numpy(obj: np.ndarray, name: str, library: str = "numpy") -> ArrayInfo:
    flags = obj.flags
    strides = None if flags.c_contiguous else obj.strides
    pointer = obj.__array_interface__["data"][0]
    return _info(library, "cpu", pointer, _dtype(obj.dtype, name), obj.shape, strides, not flags.writeable, None, obj, name)


def _numpy_subclass(obj: np.ndarray, name: str) -> NoReturn:
    kind = type(obj).__name__
    if isinstance(obj, np.ma.MaskedArray):
        help = f"pass {name}.filled(value), or data and mask apart"
        _unsupported(name, "is a MaskedArray, and masks are not supported", help)
    if isinstance(obj, np.matrix):
        _unsupported(name, "is an np.matrix, whose operators mean other things", f"write np.asarray({name})")
    _unsupported(name, f"is a {kind}, a subclass of np.ndarray that may behave in its own way", f"write np.asarray({name})")


def _subclass(what: str, instead: str) -> Reader:
    def refuse(obj: Any, name: str) -> NoReturn:
        help = f"write {instead.format(name=name)}"
        _unsupported(name, f"is a {type(obj).__name__}, a subclass of a {what} that may behave in its own way", help)

    return refuse


def _cupy(obj: Any, name: str) -> ArrayInfo:
    strides = None if obj.flags.c_contiguous else obj.strides
    data = obj.data
    device = data.device_id if data.ptr else ANY_DEVICE
    return _info("cupy", device, data.ptr, _dtype(obj.dtype, name), obj.shape, strides, False, None, obj, name)


@lru_cache(maxsize=1)
def _torch_dtypes(torch: Any) -> dict[Any, DType]:
    pairs = ((getattr(torch, d.numpy.name, None), d) for d in ALL_DTYPES)
    return {theirs: d for theirs, d in pairs if theirs is not None}


def _torch(obj: Any, name: str) -> ArrayInfo:
    torch = sys.modules["torch"]
    if obj.requires_grad:
        _unsupported(name, "requires a gradient, and compiled functions have none", f"pass {name}.detach()")
    if obj.layout is not torch.strided or obj.is_nested:
        _unsupported(name, f"is a {'nested' if obj.is_nested else 'sparse'} PyTorch tensor", f"pass {name}.to_dense()")
    if obj.is_neg():
        _unsupported(name, "is a PyTorch tensor whose sign is flipped when it is read", f"pass {name}.resolve_neg()")
    if obj.is_conj():
        _unsupported(name, "is a PyTorch tensor that is conjugated when it is read", f"pass {name}.resolve_conj()")
    dtype = _torch_dtypes(torch).get(obj.dtype)
    if dtype is None:
        help = f"write {name}.float()" if str(obj.dtype) == "torch.bfloat16" else None
        raise DTypeError(
            f"argument {name} has dtype {obj.dtype}, which is not supported: the dtypes are {KNOWN_DTYPES}", None, help
        )
    where = obj.device
    match where.type:
        case "cpu":
            device: Device = "cpu"
        case "cuda":
            device = where.index
        case other:
            _unsupported(name, f"is a PyTorch tensor on {other!r}", f"pass {name}.cuda() or {name}.cpu()")
    strides = None if obj.is_contiguous() else tuple(s * dtype.itemsize for s in obj.stride())
    return _info("torch", device, obj.data_ptr(), dtype, tuple(obj.shape), strides, False, None, obj, name)


def _numba(obj: Any, name: str) -> ArrayInfo | None:
    return _cuda_interface(obj.__cuda_array_interface__, obj, name, "numba")


def _jax_tracer(obj: Any, name: str) -> NoReturn:
    _unsupported(
        name,
        "is a JAX tracer: a compiled function cannot be traced by jax.jit, jax.grad or jax.vmap",
        "call it outside of the traced function, or through jax.pure_callback",
    )


def _jax(obj: Any, name: str) -> ArrayInfo:
    devices = obj.devices()
    if len(devices) != 1:
        help = f"pass one shard, as {name}.addressable_shards[0].data"
        _unsupported(name, f"is a JAX array spread over {len(devices)} devices", help)
    (device,) = devices
    # The contents are written on a stream of JAX that nobody else can order work after.
    obj.block_until_ready()
    if device.platform == "cpu":
        view = np.asarray(obj)
        info = _numpy(view, name, "jax")
    elif device.platform in ("gpu", "cuda"):
        info = _cuda_interface(obj.__cuda_array_interface__, obj, name, "jax")._replace(stream=None)
    else:
        help = f"write jax.device_put({name}, jax.devices('cuda')[0])"
        _unsupported(name, f"is a JAX array on {device.platform!r}", help)
    return info._replace(readonly=True)


# The protocols.


def _protocols(obj: Any, name: str) -> ArrayInfo | None:
    interface = getattr(obj, "__cuda_array_interface__", None)
    if isinstance(interface, dict):
        return _cuda_interface(interface, obj, name, "cuda_interface")
    # An object with a __getattr__ may answer to any name.
    if callable(getattr(obj, "__dlpack__", None)) and callable(getattr(obj, "__dlpack_device__", None)):
        return _dlpack(obj, name)
    return None


def _cuda_interface(interface: Any, obj: Any, name: str, library: str) -> ArrayInfo:
    missing = [key for key in ("shape", "typestr", "data", "version") if key not in interface]
    if missing:
        _unsupported(name, f"has a CUDA array interface without {', '.join(missing)}")
    if interface.get("mask") is not None:
        _unsupported(name, "has a mask in its CUDA array interface, and masks are not supported", "pass data and mask apart")
    typestr = interface["typestr"]
    if typestr is None:
        # NumPy takes it for float64.
        _malformed(name, "typestr", typestr, "no dtype")
    try:
        found = np.dtype(typestr)
    except TypeError:
        raise DTypeError(f"argument {name} has a dtype that NumPy does not know: {typestr!r}") from None
    dtype = _dtype(found, name)
    shape = _integers(interface, "shape", name)
    strides = None
    if interface.get("strides") is not None:
        strides = _integers(interface, "strides", name)
        if len(strides) != len(shape):
            _unsupported(name, f"has {len(shape)} dimensions but {len(strides)} strides in its CUDA array interface")
    if any(n < 0 for n in shape):
        _unsupported(name, f"has a negative length in its CUDA array interface: shape {shape}")
    data, version = interface["data"], interface["version"]
    if not (isinstance(data, Sequence) and len(data) == 2 and isinstance(data[0], int | np.integer | None)):
        _malformed(name, "data", data, "no pair of an address and a flag")
    pointer, readonly = data
    if not isinstance(version, int):
        _malformed(name, "version", version, "no integer")
    # The stream came with version 3; before, the key had no meaning.
    stream = interface.get("stream") if version >= 3 else None
    if stream is not None and (not isinstance(stream, int) or stream < 0):
        _malformed(name, "stream", stream, "no stream")
    if stream == 0:
        help = "its library should say 1 for the legacy default stream, 2 for the thread's"
        _unsupported(name, "names stream 0 in its CUDA array interface, which the interface forbids", help)
    device: Device = ANY_DEVICE
    pointer = int(pointer or 0)
    if 0 in shape:
        # The address of an empty array need not be memory, so nobody is asked about it.
        pointer = 0
    else:
        device = _device_of(pointer, name)
    return _info(library, device, pointer, dtype, shape, strides, bool(readonly), stream, obj, name)


def _integers(interface: dict[str, Any], key: str, name: str) -> tuple[int, ...]:
    value = interface[key]
    if not isinstance(value, Iterable):
        _malformed(name, key, value, "no tuple of integers")
    try:
        return tuple(index(n) for n in value)
    except TypeError:
        _malformed(name, key, value, "no tuple of integers")


def _malformed(name: str, key: str, value: object, what: str) -> NoReturn:
    _unsupported(name, f"has a CUDA array interface whose {key} is {what}: {value!r}")


def _device_of(pointer: int, name: str) -> int:
    device = cuda.device_of_pointer(pointer) if 0 < pointer < 2**64 else None
    if device is None:
        _unsupported(name, f"states the address {pointer:#x}, which is no memory of a CUDA device")
    return device


def _dlpack(obj: Any, name: str) -> ArrayInfo:
    from pytocu.runtime import dlpack

    kind, ordinal = obj.__dlpack_device__()
    match int(kind):
        case dlpack.DLPACK_CPU | dlpack.DLPACK_CUDA_HOST:
            try:
                view = np.from_dlpack(obj)
            except (BufferError, RuntimeError) as error:
                raise DTypeError(f"argument {name} cannot be read through DLPack: {error}") from None
            return _numpy(view, name, "dlpack")
        case dlpack.DLPACK_CUDA | dlpack.DLPACK_CUDA_MANAGED:
            pass
        case other:
            _unsupported(name, f"is in memory of DLPack's device type {other}: host and CUDA memory are read")
    # The producer orders this stream, on which results for such objects are computed, behind its own.
    stream = streams.current("dlpack", int(ordinal)) or streams.LEGACY
    try:
        try:
            capsule = obj.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:
            # Before DLPack 1.0 there was no max_version.
            capsule = obj.__dlpack__(stream=stream)
        read = dlpack.capsule_tensor(capsule)
    except (BufferError, RuntimeError) as error:
        _unsupported(name, f"cannot be read through DLPack: {error}")
    if read is None:
        _unsupported(name, "gives something else than a DLPack capsule")
    tensor, readonly = read
    letter, bits = dlpack.DLPACK_KINDS.get(tensor.dtype.code), tensor.dtype.bits
    if letter is None or tensor.dtype.lanes != 1 or bits % 8 or not bits:
        code = f"DLPack type code {tensor.dtype.code} with {bits} bits and {tensor.dtype.lanes} lanes"
        raise DTypeError(f"argument {name} has {code}, which is not supported")
    try:
        found = np.dtype(f"{letter}{bits // 8}")
    except TypeError:
        raise DTypeError(f"argument {name} has a dtype that NumPy does not know: {letter}{bits // 8}") from None
    dtype = _dtype(found, name)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[axis] * dtype.itemsize for axis in range(tensor.ndim))
    empty = 0 in shape
    pointer = 0 if empty else (tensor.data or 0) + tensor.byte_offset
    device = ANY_DEVICE if empty else int(ordinal)
    return _info("dlpack", device, pointer, dtype, shape, strides, readonly, stream, (obj, capsule), name)


# Rules of a call.


def common(infos: Iterable[ArrayInfo]) -> ArrayInfo | None:
    """The array whose library, device and stream the call's results have.

    That is the first array on a GPU, or the first array when all are the host's.  Arrays of
    the host with no dimensions fit everywhere: they are passed as scalars.

    Raises
    ------
    UnsupportedError
        Arrays of two devices, or of the host and a device.
    """
    like: ArrayInfo | None = None
    host: ArrayInfo | None = None
    first: ArrayInfo | None = None
    for info in infos:
        first = first or info
        if info.on_host:
            host = host or (info if info.shape else None)
        elif like is None or like.device == ANY_DEVICE:
            # An empty array keeps the lead only while no other one has memory.
            like = info if like is None or info.device != ANY_DEVICE else like
        elif info.device not in (like.device, ANY_DEVICE):
            where = f"argument {like.name} is on CUDA device {like.device}, argument {info.name} on CUDA device {info.device}"
            help = f"copy {info.name} to device {like.device} first"
            raise UnsupportedError(f"{where}: a call works on one device", None, help)
    if like is None:
        return host or first
    if host is not None:
        library = ARRAY_LIBRARIES.get(host.library, "host")
        where = f"argument {host.name} is a {library} array in the host's memory, argument {like.name} is on a GPU"
        raise UnsupportedError(f"{where}: nothing is copied silently", None, f"write {_copy_to_gpu(host.name, like.library)}")
    return like


def _copy_to_gpu(name: str, library: str) -> str:
    match library:
        case "torch":
            return f"torch.as_tensor({name}, device='cuda')"
        case "numba":
            return f"numba.cuda.to_device({name})"
        case "jax":
            return f"jax.device_put({name})"
        case _:
            return f"cupy.asarray({name})"


def check_output(info: ArrayInfo, what: str = "output array", caught: bool = False) -> None:
    """Refuse an array that must not be written; `what` is what NumPy calls it.

    Raises
    ------
    ShapeError
        Read-only (NumPy's sentence), or several indices share one element.
    UnsupportedError
        Read-only, and a clause of the program would have `caught` that.
    """
    if info.readonly and caught:
        sentence = f"{what} is read-only, which an except clause of the function would catch"
        raise UnsupportedError(sentence, None, f"pass a copy of {info.name}")
    if info.readonly:
        help = "JAX arrays never change: use the result" if info.library == "jax" else f"pass a copy of {info.name}"
        raise ShapeError(f"{what} is read-only", None, help)
    if info.strides is not None and repeats_elements(info.shape, info.strides, info.dtype.itemsize):
        sentence = f"argument {info.name} is written, but several of its elements share memory"
        raise ShapeError(sentence, None, f"write to a copy of {info.name}")


def repeats_elements(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether several indices may share one element, as those of a broadcast array do.

    Examples
    --------
    >>> repeats_elements((3, 4), (0, 8), 8), repeats_elements((3, 4), (8, 24), 8)
    (True, False)
    """
    if 0 in shape:
        return False
    reach = itemsize
    for stride, length in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (length - 1)
    return False


def producer_streams(infos: Iterable[ArrayInfo], like: ArrayInfo) -> tuple[int, ...]:
    """The streams, besides that of `like`, that write or read the arrays.

    The launch is ordered after each of them, and each after the launch, with
    :func:`pytocu.runtime.cuda.wait`.
    """
    found: dict[int, None] = {}
    for info in infos:
        if info.stream is not None:
            found[info.stream] = None
        elif info.library != like.library and isinstance(info.device, int) and info.device != ANY_DEVICE:
            found[streams.current(info.library, info.device)] = None
    return tuple(found)

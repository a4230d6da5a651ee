"""The stream a call works on: its caller's library's current one, or one that the caller names.

Memory stays valid across streams for this reason.  CuPy, PyTorch and pytocu's own arrays take memory
from allocators that give a freed block to the next request *of the same stream* without waiting:
work that was submitted to the stream before is over when the next owner's work begins.  So a
result, a temporary and the kernels that use them must belong to one stream.  They do, because
a call asks the library that allocates for its current stream and launches on exactly that one,
and because :func:`stream` makes its stream the current one of the libraries too instead of
telling only the launches about it.  Arguments written on other streams (another library's, or
the one an interface names) are covered by events in both directions: the kernels wait for what
was submitted there, and what is submitted there later, the next owner of the memory included,
waits for the kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from pytocu.errors import PytocuError
from pytocu.processes import Local
from pytocu.record import Record
from pytocu.runtime import cuda

LEGACY, PER_THREAD = 1, 2
"""Handles of the legacy default stream (also 0) and of the thread's default stream."""


class _Entered(Record):
    handle: int
    device: int
    owner: object


class _Here(Local):
    def __init__(self) -> None:
        self.stack: list[_Entered] = []


_here = _Here()


@contextmanager
def stream(stream: Any, device: int | None = None) -> Iterator[int]:
    """Let calls of this thread work on a CUDA stream, for a ``with`` block.

    Kernels are launched on it, results and temporaries belong to it, and it is the current stream
    of CuPy and PyTorch for the block, as far as they are imported: their operations on the
    results are in order.  Blocks nest; the innermost counts, a library's own ``with stream:``
    included.  Other threads are not affected.  Nothing waits at the end of the block.

    Parameters
    ----------
    stream : object
        A stream of CuPy, PyTorch, Numba or cuda.core, any object with ``__cuda_stream__``, or
        a handle as an integer: 0 or 1 is the legacy default stream, 2 the thread's.  The
        stream must exist until its work is done and what was allocated on it is gone; objects are kept
        alive for that, integers cannot be.
    device : int, optional
        The device of the stream; found out by default (the current one for handles 0, 1, 2).
        Calls on other devices are not affected.

    Yields
    ------
    int
        The handle.

    Raises
    ------
    PytocuError
        The object is no stream.
    BackendError
        There is no GPU.

    Examples
    --------
    >>> import pytocu
    >>> with pytocu.stream("fast"):
    ...     pass
    Traceback (most recent call last):
    ...
    pytocu.errors.PytocuError: pytocu.stream takes a CUDA stream, not str: pass a stream of CuPy, PyTorch, Numba \
or cuda.core, an object with __cuda_stream__, or a handle as an int
    """
    handle = handle_of(stream)
    where = cuda.stream_device(handle) if device is None else device
    with ExitStack() as entered:
        cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
        if cupy is not None and hasattr(cupy, "cuda"):
            entered.enter_context(_current_in_cupy(cupy, stream, handle, where))
        if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_available():
            entered.enter_context(_current_in_torch(torch, stream, handle, where))
        _here.stack.append(_Entered(handle, where, stream))
        entered.callback(_here.stack.pop)
        yield handle


def handle_of(stream: Any) -> int:
    """The handle of a stream of any library.

    Raises
    ------
    PytocuError
        The object is no stream.

    Examples
    --------
    >>> handle_of(2)
    2
    """
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # In its first version the protocol was an attribute.
        version_and_handle: Any = protocol() if callable(protocol) else protocol
        return int(version_and_handle[1])
    match type(stream).__module__.partition(".")[0]:
        case "cupy":
            handle = getattr(stream, "ptr", None)
        case "torch":
            handle = getattr(stream, "cuda_stream", None)
        case "numba" | "numba_cuda":
            handle = getattr(stream, "handle", None)
            # Numba holds a ctypes pointer, which is None for the default stream.
            handle = getattr(handle, "value", handle) or 0
        case _:
            handle = None
    if handle is None:
        what = repr(stream) if isinstance(stream, int) else type(stream).__name__
        raise PytocuError(
            f"pytocu.stream takes a CUDA stream, not {what}: pass a stream of CuPy, PyTorch, Numba or cuda.core, "
            "an object with __cuda_stream__, or a handle as an int"
        )
    return int(handle)


@contextmanager
def _current_in_cupy(cupy: Any, stream: Any, handle: int, device: int) -> Iterator[None]:
    cuda_part = cupy.cuda
    if type(stream).__module__.partition(".")[0] == "cupy":
        theirs = stream
    elif handle <= LEGACY:
        theirs = cuda_part.Stream.null
    elif handle == PER_THREAD:
        theirs = cuda_part.Stream.ptds
    else:
        theirs = cuda_part.ExternalStream(handle, device)
    # CuPy keeps a current stream for each device, and changes that of the current device only.
    with cuda_part.Device(device):
        theirs.__enter__()
    try:
        yield
    finally:
        with cuda_part.Device(device):
            theirs.__exit__()


@contextmanager
def _current_in_torch(torch: Any, stream: Any, handle: int, device: int) -> Iterator[None]:
    if type(stream).__module__.partition(".")[0] == "torch":
        theirs = stream
    elif handle <= LEGACY:
        theirs = torch.cuda.default_stream(device)
    else:
        theirs = torch.cuda.ExternalStream(handle, device=device)
    before = torch.cuda.current_device()
    with torch.cuda.stream(theirs):
        if before != device:
            # PyTorch makes the stream's device the current one too.
            torch.cuda.set_device(before)
        yield


def _innermost(device: int) -> _Entered | None:
    return next((entered for entered in reversed(_here.stack) if entered.device == device), None)


def current(library: str, device: int) -> int:
    """The stream a call of this thread works on, when `library` allocates its results.

    Parameters
    ----------
    library : str
        As :attr:`pytocu.runtime.arrays.ArrayInfo.library` names it.
    device : int

    Returns
    -------
    int
        Its handle; 0 for the legacy default stream.
    """
    match library:
        case "cupy":
            return int(sys.modules["cupy"].cuda.get_current_stream(device).ptr)
        case "torch":
            return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)
    entered = _innermost(device)
    if entered is not None:
        return entered.handle
    if library == "numba" and getattr(sys.modules["numba"].config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0):
        return PER_THREAD
    return 0


def owner_of(handle: int, device: int) -> object:
    """What keeps the stream alive, when it came from :func:`stream`."""
    entered = _innermost(device)
    return entered.owner if entered is not None and entered.handle == handle else None

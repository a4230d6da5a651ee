"""The functions of the CUDA driver that running needs, called through ctypes.

In: the driver's own library, which comes with the display driver and not with pip.  Out:
functions called like those of ``cuda.bindings.driver``: they take what goes in and return the
status and what comes out.  Importing ``cuda.bindings.driver`` takes longer than loading a finished plan
and running it, and a machine that runs finished plans has no other need of it.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from pytocu.c_functions import c_function

FUNCTIONS = {
    "cuInit": "u",
    "cuGetErrorName": "i >s",
    "cuGetErrorString": "i >s",
    "cuDriverGetVersion": ">i",
    "cuDeviceGetCount": ">i",
    "cuDeviceGet": ">i i",
    "cuDeviceGetAttribute": ">i i i",
    "cuDevicePrimaryCtxRetain": ">p i",
    "cuCtxGetCurrent": ">p",
    "cuCtxGetDevice": ">i",
    "cuCtxSynchronize": "",
    "cuCtxPushCurrent": "p",
    "cuCtxPopCurrent": ">p",
    "cuPointerGetAttribute": ">i i p",
    "cuModuleLoadData": ">p s",
    "cuModuleUnload": "p",
    "cuModuleGetFunction": ">p p s",
    "cuFuncLoad": "p",
    "cuFuncGetAttribute": ">i i p",
    "cuMemGetInfo": ">n >n",
    "cuDeviceTotalMem": ">n i",
    "cuMemAlloc": ">p n",
    "cuMemAllocAsync": ">p n p",
    "cuMemHostAlloc": ">p n u",
    "cuMemFree": "p",
    "cuMemFreeAsync": "p p",
    "cuMemcpyHtoDAsync": "p p n p",
    "cuMemcpyDtoHAsync": "p p n p",
    "cuMemsetD32Async": "p u n p",
    "cuStreamSynchronize": "p",
    "cuStreamWaitEvent": "p p u",
    "cuStreamGetCtx": "p >p",
    "cuStreamIsCapturing": "p >i",
    "cuStreamGetCaptureInfo": "p >i >q >p >p >n",
    "cuThreadExchangeStreamCaptureMode": "=i",
    "cuEventCreate": ">p u",
    "cuEventRecord": "p p",
    "cuEventSynchronize": "p",
    "cuEventElapsedTime": ">f p p",
    "cuEventDestroy": "p",
    "cuUserObjectCreate": ">p p p u u",
    "cuGraphRetainUserObject": "p p u u",
    "cuGraphCreate": ">p u",
    "cuGraphAddKernelNode": ">p p p n p",
    "cuGraphAddDependencies": "p p p p n",
    "cuGraphInstantiateWithFlags": ">p p q",
    "cuGraphExecKernelNodeSetParams": "p p p",
    "cuGraphLaunch": "p p",
    "cuGraphExecDestroy": "p",
    "cuGraphDestroy": "p",
    "cuLaunchKernel": "p u u u u u u u p p p",
}
"""The parameters of each function, as :func:`pytocu.c_functions.c_function` takes them."""

_SYMBOLS = {
    "cuCtxPushCurrent": "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent": "cuCtxPopCurrent_v2",
    "cuMemGetInfo": "cuMemGetInfo_v2",
    "cuDeviceTotalMem": "cuDeviceTotalMem_v2",
    "cuMemAlloc": "cuMemAlloc_v2",
    "cuMemFree": "cuMemFree_v2",
    "cuMemcpyHtoDAsync": "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync": "cuMemcpyDtoHAsync_v2",
    "cuEventDestroy": "cuEventDestroy_v2",
    "cuStreamGetCaptureInfo": "cuStreamGetCaptureInfo_v2",
    "cuGraphAddKernelNode": "cuGraphAddKernelNode_v2",
    "cuGraphAddDependencies": "cuGraphAddDependencies_v2",
    "cuGraphExecKernelNodeSetParams": "cuGraphExecKernelNodeSetParams_v2",
}
"""Names in the library, where cuda.h defines the plain name as another."""


class CUresult:
    """Statuses that are told apart."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906


class CUdevice_attribute:
    """Attributes of devices."""

    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115


class CUfunction_attribute:
    """Attributes of kernels."""

    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4


class CUpointer_attribute:
    """Attributes of addresses."""

    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9


class CUevent_flags:
    """Kinds of events."""

    CU_EVENT_DISABLE_TIMING = 2


class CUstreamCaptureStatus:
    """Whether a stream is being captured."""

    CU_STREAM_CAPTURE_STATUS_NONE = 0
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2


class CUstreamCaptureMode:
    """What a capture forbids other calls."""

    CU_STREAM_CAPTURE_MODE_RELAXED = 2


class CUuserObject_flags:
    """Promises about a user object."""

    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1


class CUuserObjectRetain_flags:
    """How a graph takes a user object."""

    CU_GRAPH_USER_OBJECT_MOVE = 1


CONSTANTS = (
    CUresult,
    CUdevice_attribute,
    CUfunction_attribute,
    CUpointer_attribute,
    CUevent_flags,
    CUstreamCaptureStatus,
    CUstreamCaptureMode,
    CUuserObject_flags,
    CUuserObjectRetain_flags,
)
"""The driver's enumerations, as far as they are used; the values are part of its binary interface."""


class Driver:
    """The driver's library, opened; its functions are attributes.

    Attributes
    ----------
    launch_ex : callable
        ``cuLaunchKernelEx(configuration, kernel, parameters, 0)`` on addresses; returns the status.

    Raises
    ------
    OSError
        There is no such library on this machine.
    """

    def __init__(self) -> None:
        # On 64-bit Windows all functions have one calling convention.
        self._library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        self.launch_ex = self._library.cuLaunchKernelEx
        self.launch_ex.argtypes = [ctypes.c_void_p] * 4
        self.launch_ex.restype = ctypes.c_int
        for enumeration in CONSTANTS:
            setattr(self, enumeration.__name__, enumeration)

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(name)
        made = c_function(getattr(self._library, _SYMBOLS.get(name, name)), FUNCTIONS[name])
        setattr(self, name, made)
        return made

    def address_of(self, name: str) -> int:
        """The address of a function, for native code that calls it."""
        found = getattr(self._library, _SYMBOLS.get(name, name))
        return ctypes.cast(found, ctypes.c_void_p).value or 0

    def device_name(self, device: int) -> str:
        """The name of a GPU; empty where the driver gives none."""
        text = ctypes.create_string_buffer(256)
        status = self._library.cuDeviceGetName(text, len(text), device)
        return "" if status else text.value.decode()

"""A driver that only looks like CUDA's, with a log, and arrays whose memory nobody reads."""

from __future__ import annotations

import ctypes
import enum
import struct
import types
from typing import Any

from pytocu.runtime import graphs

Status = enum.IntEnum(
    "Status",
    {
        "CUDA_SUCCESS": 0, "CUDA_ERROR_INVALID_VALUE": 1, "CUDA_ERROR_OUT_OF_MEMORY": 2, "CUDA_ERROR_NOT_INITIALIZED": 3,
        "CUDA_ERROR_ILLEGAL_ADDRESS": 700, "CUDA_ERROR_LAUNCH_FAILED": 719, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": 906,
    },
)  # fmt: skip
Capture = enum.IntEnum(
    "Capture",
    {
        "CU_STREAM_CAPTURE_STATUS_NONE": 0, "CU_STREAM_CAPTURE_STATUS_ACTIVE": 1, "CU_STREAM_CAPTURE_STATUS_INVALIDATED": 2,
    },
)  # fmt: skip


ADDRESS, OTHER_GPU = 0x7F00_0000_0000, 0x7F10_0000_0000


class FakeDriver:
    """The driver's functions as the bindings give them, on two devices, with a log."""

    CUresult = Status
    CUstreamCaptureStatus = Capture
    CUstreamCaptureMode = types.SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED="relaxed")
    CUpointer_attribute = types.SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL="ordinal")
    CUuserObject_flags = types.SimpleNamespace(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC=1)
    CUuserObjectRetain_flags = types.SimpleNamespace(CU_GRAPH_USER_OBJECT_MOVE=1)
    CUevent_flags = types.SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUdevice_attribute = types.SimpleNamespace(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED="pools")

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.captures: dict[int, int] = {}
        self.unusable: set[int] = set()
        self.fails: dict[str, Status] = {}
        self.contexts = [100]
        self.mode = "global"
        self.next = ADDRESS + 2**32
        self.streams = {71: 101}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*args: Any) -> tuple[Any, ...]:
            if name in self.fails:
                return (self.fails[name], *([None] if name in ("cuMemAlloc", "cuMemAllocAsync") else []))
            self.log.append((name, *args))
            answer = getattr(self, f"do_{name[2:]}", lambda *_: ())(*args)
            return (Status.CUDA_SUCCESS, *answer) if not (answer and isinstance(answer[0], Status)) else answer

        return call

    def launch_ex(self, configuration: int, kernel: Any, parameters: int, extra: int) -> Status:
        """What a launch states lies in memory: read it, and take it for a plain launch."""
        *lengths, stream, _, _ = struct.unpack_from("@7IPPI", (ctypes.c_char * 56).from_address(configuration))
        return self.cuLaunchKernel(kernel, *lengths, stream, parameters, extra)[0]

    def names(self) -> list[str]:
        return [entry[0] for entry in self.log]

    def do_GetErrorName(self, status: Status) -> tuple[Any, ...]:
        return (Status(status).name.encode(),)

    def do_GetErrorString(self, status: Status) -> tuple[Any, ...]:
        return (b"what went wrong",)

    def do_CtxGetCurrent(self) -> tuple[Any, ...]:
        return (self.contexts[-1] if self.contexts else 0,)

    def do_CtxGetDevice(self) -> tuple[Any, ...]:
        return (self.contexts[-1] - 100,)

    def do_CtxPushCurrent(self, context: int) -> tuple[Any, ...]:
        self.contexts.append(int(context))
        return ()

    def do_CtxPopCurrent(self) -> tuple[Any, ...]:
        return (self.contexts.pop(),)

    def do_DeviceGet(self, device: int) -> tuple[Any, ...]:
        return (device,)

    def do_DeviceGetAttribute(self, name: str, device: int) -> tuple[Any, ...]:
        return (1,)

    def do_DevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        return (100 + device,)

    def do_StreamGetCtx(self, stream: int) -> tuple[Any, ...]:
        return (self.streams.get(stream, 100),)

    def do_StreamIsCapturing(self, stream: int) -> tuple[Any, ...]:
        if stream in self.unusable:
            return Status.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, Capture(0)
        return (Capture(int(stream in self.captures)),)

    def do_StreamGetCaptureInfo(self, stream: int) -> tuple[Any, ...]:
        return Capture(1), self.captures[stream], "graph", None, None, 0

    def do_ThreadExchangeStreamCaptureMode(self, mode: str) -> tuple[Any, ...]:
        self.mode, before = mode, self.mode
        return (before,)

    def do_EventCreate(self, flags: int) -> tuple[Any, ...]:
        return ("event",)

    def do_MemAllocAsync(self, nbytes: int, stream: int) -> tuple[Any, ...]:
        self.next += 4096
        return (self.next,)

    def do_MemAlloc(self, nbytes: int) -> tuple[Any, ...]:
        assert self.mode == "relaxed", "in a capture this call is allowed in no other mode"
        self.next += 4096
        return (self.next,)

    def do_ModuleLoadData(self, cubin: bytes) -> tuple[Any, ...]:
        assert self.mode == "relaxed"
        return (cubin.decode() if len(cubin) < 10 else "module",)

    def do_PointerGetAttribute(self, what: str, pointer: int) -> tuple[Any, ...]:
        return (int(pointer >= OTHER_GPU),)

    def do_UserObjectCreate(self, number: int, destroy: Any, references: int, flags: int) -> tuple[Any, ...]:
        self.destroy = lambda: graphs._forget(number)
        return ("user object",)

    def do_ModuleGetFunction(self, module: str, name: bytes) -> tuple[Any, ...]:
        return (f"{module}:{name.decode()}",)

    def do_DriverGetVersion(self) -> tuple[Any, ...]:
        return (13000,)


class Interface:
    """An object with a CUDA array interface, and memory that nobody reads."""

    def __init__(self, shape=(4,), typestr="<f4", data=(ADDRESS, False), **rest):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3, **rest}


def launches(driver: FakeDriver) -> list[tuple[Any, ...]]:
    """The launches in the log."""
    return [entry for entry in driver.log if entry[0] == "cuLaunchKernel"]

"""DLPack's structures and capsules.

A capsule that was made here owns what it points to until it is destroyed or a consumer calls
the deleter; one that is read here stays unconsumed, and so owns its memory as long as it lives.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np


class DLDevice(ctypes.Structure):
    """DLPack's device."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    """DLPack's dtype."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """DLPack's description of an array; strides count elements."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensor(ctypes.Structure):
    """What an unversioned capsule holds."""

    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class DLManagedTensorVersioned(ctypes.Structure):
    """What a capsule of DLPack 1.0 and later holds; bit 0 of the flags is read-only."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


DLPACK_CPU, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_CUDA_MANAGED = 1, 2, 3, 13
DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
"""NumPy's kind of a DLPack type code."""

_DLPACK_CODES = {kind: code for code, kind in DLPACK_KINDS.items()}
_UNVERSIONED, _VERSIONED = b"dltensor", b"dltensor_versioned"
_exported: dict[int, Any] = {}
# The destructor gets a capsule that nobody owns any more: as a plain address, so that it is not counted again.
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release_export(address: int) -> None:
    _exported.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule: int) -> None:
    # A consumer has renamed the capsule, and calls the deleter itself.
    for name in (_UNVERSIONED, _VERSIONED):
        if _capsule_is_valid(capsule, name):
            _exported.pop(_capsule_pointer(capsule, name), None)


def capsule_tensor(capsule: object) -> tuple[DLTensor, bool] | None:
    """The array in a DLPack capsule and whether it is read-only; None when it is no such capsule.

    The capsule stays unconsumed, so it owns the memory as long as it lives.

    Raises
    ------
    BufferError
        A structure of a later major version, which may lie differently.
    """
    address = id(capsule)
    if _capsule_is_valid(address, _UNVERSIONED):
        return DLManagedTensor.from_address(_capsule_pointer(address, _UNVERSIONED)).tensor, False
    if not _capsule_is_valid(address, _VERSIONED):
        return None
    held = DLManagedTensorVersioned.from_address(_capsule_pointer(address, _VERSIONED))
    if held.major > 1:
        raise BufferError(f"it is a structure of DLPack {held.major}.{held.minor}, and versions up to 1 are read")
    return held.tensor, bool(held.flags & 1)


def capsule(
    owner: object,
    pointer: int,
    device: int,
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: np.dtype,
    readonly: bool,
    versioned: bool,
) -> object:
    """A capsule of an array on a CUDA device, which keeps `owner` alive; strides in bytes."""
    lengths = ctypes.c_int64 * max(len(shape), 1)
    shape_memory = lengths(*shape)
    strides_memory = lengths(*(s // dtype.itemsize for s in strides))
    held = DLManagedTensorVersioned() if versioned else DLManagedTensor()
    if isinstance(held, DLManagedTensorVersioned):
        held.major, held.minor, held.flags = 1, 0, int(readonly)
    held.deleter = ctypes.cast(_release_export, ctypes.c_void_p)
    tensor = held.tensor
    tensor.data, tensor.ndim, tensor.byte_offset = pointer, len(shape), 0
    tensor.device = DLDevice(DLPACK_CUDA, device)
    tensor.dtype = DLDataType(_DLPACK_CODES[dtype.kind], dtype.itemsize * 8, 1)
    tensor.shape = ctypes.cast(shape_memory, ctypes.POINTER(ctypes.c_int64))
    tensor.strides = ctypes.cast(strides_memory, ctypes.POINTER(ctypes.c_int64))
    address = ctypes.addressof(held)
    _exported[address] = (held, shape_memory, strides_memory, owner)
    return _capsule_new(address, _VERSIONED if versioned else _UNVERSIONED, ctypes.cast(_destroy_capsule, ctypes.c_void_p))

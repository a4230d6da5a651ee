"""Which compilers are installed, without importing them or the metadata of packages.

Code that was built by one version of a compiler is not used where another is installed; where
none is installed it is used, since nothing better can be made there.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

PACKAGES = {
    "cuda_c": (("nvidia_cuda_nvrtc", "nvidia_cuda_nvrtc_cu12"),),
    "nvvm": (("nvidia_nvvm", "nvidia_cuda_nvcc_cu12"), ("nvidia_nvjitlink", "nvidia_nvjitlink_cu12")),
    "llvm": (("llvmlite",),),
}
"""What a backend builds with: for each part the names a wheel of it may have."""


def installed(backend: str) -> str:
    """Names and versions of the wheels a backend builds with; empty where none is installed.

    Examples
    --------
    >>> installed("llvm").startswith("llvmlite ")
    True
    """
    return _found(backend, tuple(sys.path))


@lru_cache(maxsize=16)
def _found(backend: str, folders: tuple[str, ...]) -> str:
    found: list[str] = []
    for names in PACKAGES[backend]:
        for folder in folders:
            version = _version(folder or ".", names)
            if version:
                found.append(version)
                break
    return ", ".join(found)


def _version(folder: str, names: tuple[str, ...]) -> str:
    for entry in _entries(folder):
        name, _, version = entry.removesuffix(".dist-info").partition("-")
        if name in names:
            return f"{name} {version}"
    return ""


@lru_cache(maxsize=32)
def _entries(folder: str) -> tuple[str, ...]:
    try:
        listed = os.listdir(folder)
    except OSError:
        return ()
    return tuple(sorted(entry for entry in listed if entry.endswith(".dist-info")))

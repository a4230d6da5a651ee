"""CUDA C to a cubin through NVRTC.

Needs no GPU, no driver, no header path and no host compiler.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache

from pytocu.backend import archs
from pytocu.backend.libraries import LibraryError, library, text_of, texts
from pytocu.errors import BackendError


@lru_cache(maxsize=1)
def version() -> tuple[int, int]:
    """The version of NVRTC, as ``(13, 0)``.

    Raises
    ------
    BackendError
        NVRTC is not installed.
    """
    return library("nvrtc")("Version")


@lru_cache(maxsize=1)
def supported_archs() -> tuple[str, ...]:
    """The architectures this NVRTC has code for, as ``("sm_75", ..., "sm_121")``.

    Raises
    ------
    BackendError
        NVRTC is not installed.
    """
    nvrtc = library("nvrtc")
    numbers = (ctypes.c_int * nvrtc("GetNumSupportedArchs"))()
    nvrtc("GetSupportedArchs", numbers)
    return tuple(f"sm_{number}" for number in numbers)


def check_arch(arch: str) -> str:
    """The architecture, when NVRTC compiles for it.

    Parameters
    ----------
    arch : str
        ``sm_90``; a letter ``a`` or ``f`` behind it asks for features of that model or family.

    Raises
    ------
    BackendError
        With the known architectures.
    """
    return archs.check(arch, supported_archs(), f"NVRTC {'.'.join(map(str, version()))}")


def options_for(arch: str, lineinfo: bool = False) -> tuple[str, ...]:
    """The options a kernel is compiled with; part of what identifies a binary."""
    options = [f"--gpu-architecture={arch}", "--std=c++17", "--fmad=false"]
    if version() >= (13, 0):
        # Leaves out the predefined names of the runtime, which takes 3 of 49 ms away.
        options.append("--minimal")
    if lineinfo:
        options.append("--generate-line-info")
    return tuple(options)


def build(source: str, arch: str, name: str, lineinfo: bool = False, options: Sequence[str] = ()) -> bytes:
    """Compile CUDA C to a cubin.

    Parameters
    ----------
    source : str
        As :func:`pytocu.backend.cuda_c.emit` writes it.
    arch : str
        ``sm_90``.
    name : str
        What NVRTC calls the source in its messages.
    lineinfo : bool
        Keep the lines of ``#line`` for profilers.
    options : sequence of str
        More options of NVRTC.

    Returns
    -------
    bytes
        An ELF file with the kernels.

    Raises
    ------
    BackendError
        NVRTC is missing, does not know the architecture, or refuses the source; then the
        text has its log and the source, because that is a defect of pytocu.
    """
    return _compiled(source, arch, name, (*options_for(arch, lineinfo), *options), ("GetCUBINSize", "GetCUBIN"))


def ptx(source: str, arch: str, name: str, lineinfo: bool = False, options: Sequence[str] = ()) -> str:
    """The PTX that the cubin is assembled from; parameters and errors as :func:`build`."""
    return text_of(_compiled(source, arch, name, (*options_for(arch, lineinfo), *options), ("GetPTXSize", "GetPTX")))


def _compiled(source: str, arch: str, name: str, chosen: Sequence[str], result: tuple[str, str]) -> bytes:
    check_arch(arch)
    nvrtc = library("nvrtc")
    # Absolute, or NVRTC puts the current directory before it, which no binary should know.
    program = nvrtc("CreateProgram", source.encode(), f"/{name}.cu".encode(), 0, None, None)
    try:
        nvrtc("CompileProgram", program, len(chosen), texts(chosen))
        return nvrtc.content(*result, program)
    except LibraryError as error:
        log = nvrtc.log("ProgramLog", program)
        raise BackendError(
            f"NVRTC refused {name} for {arch} ({error}), which is a defect of pytocu:\n{log}\n{_numbered(source)}"
        ) from None
    finally:
        nvrtc("DestroyProgram", program)


def _numbered(source: str) -> str:
    return "\n".join(f"{n:4} | {line}" for n, line in enumerate(source.splitlines(), 1))

"""CUDA C to a cubin through NVRTC, called directly by ``cuda.bindings.nvrtc``.

Needs no GPU, no driver, no header path and no host compiler.  ``cuda.core`` offers the same
in a nicer form, but importing it takes 170 ms and more; importing ``cuda.bindings.nvrtc`` takes
40 ms and loading the library 10 ms, both several times that when the files are not in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pytocu.backend import archs
from pytocu.errors import BackendError


def _nvrtc() -> Any:
    """The bindings of a library that is there.

    Raises
    ------
    BackendError
        A wheel is missing; the text says the command that installs it.
    """
    try:
        from cuda.bindings import nvrtc  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError as error:
        raise BackendError(f"compiling for a GPU needs cuda-python ({error}): pip install 'pytocu[cu13]'") from None
    return nvrtc


def _call(nvrtc: Any, function: Any, *args: Any) -> Any:
    """Call NVRTC; its result code becomes an error, its value the answer."""
    try:
        status, *values = function(*args)
    except RuntimeError as error:
        # The bindings load the library at the first call and report its absence this way.
        raise BackendError(f"NVRTC was not found ({_sentence(error)}): pip install 'pytocu[cu13]'") from None
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(f"{function.__name__} failed: {status.name}")
    return values[0] if values else None


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@lru_cache(maxsize=1)
def version() -> tuple[int, int]:
    """The version of NVRTC, as ``(13, 0)``.

    Raises
    ------
    BackendError
        NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    try:
        status, major, minor = nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise BackendError(f"NVRTC was not found ({_sentence(error)}): pip install 'pytocu[cu13]'") from None
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(f"nvrtcVersion failed: {status.name}")
    return major, minor


@lru_cache(maxsize=1)
def supported_archs() -> tuple[str, ...]:
    """The architectures this NVRTC has code for, as ``("sm_75", ..., "sm_121")``.

    Raises
    ------
    BackendError
        NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    return tuple(f"sm_{number}" for number in _call(nvrtc, nvrtc.nvrtcGetSupportedArchs))


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
    nvrtc = _nvrtc()
    check_arch(arch)
    chosen = [o.encode() for o in (*options_for(arch, lineinfo), *options)]
    program = _call(nvrtc, nvrtc.nvrtcCreateProgram, source.encode(), f"{name}.cu".encode(), 0, [], [])
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(chosen), chosen)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = _text(nvrtc, program)
            raise BackendError(
                f"NVRTC refused {name} for {arch} ({status.name}), which is a defect of pytocu:\n{log}\n{_numbered(source)}"
            )
        binary = b"\0" * _call(nvrtc, nvrtc.nvrtcGetCUBINSize, program)
        _call(nvrtc, nvrtc.nvrtcGetCUBIN, program, binary)
        return binary
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(nvrtc: Any, program: Any) -> str:
    log = b"\0" * _call(nvrtc, nvrtc.nvrtcGetProgramLogSize, program)
    _call(nvrtc, nvrtc.nvrtcGetProgramLog, program, log)
    return log.rstrip(b"\0").decode(errors="replace").strip()


def _numbered(source: str) -> str:
    return "\n".join(f"{n:4} | {line}" for n, line in enumerate(source.splitlines(), 1))

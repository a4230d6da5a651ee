"""NVIDIA's compiler libraries: found among the installed wheels, and called through ctypes.

``cuda.bindings`` calls the same functions.  Importing it takes 40 ms, as long as compiling a small kernel
from its source to a cubin; opening the libraries takes 10, and a thread of its own does that while a function is read.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pytocu.ahead import Ahead
from pytocu.c_functions import c_function
from pytocu.errors import BackendError

INSTALL = "pip install 'pytocu[cu13]'"
"""What brings the libraries."""

_LOG = {"GetProgramLogSize": "p >n", "GetProgramLog": "p p"}
_PLACES: dict[str, tuple[str, ...]] = {
    "nvrtc": ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"),
    "nvvm": ("cu13/lib/libnvvm.so.4", "cuda_nvcc/nvvm/lib64/libnvvm.so.4", "cuda_nvcc/nvvm/lib64/libnvvm.so"),
    "nvJitLink": ("cu13/lib/libnvJitLink.so.13", "nvjitlink/lib/libnvJitLink.so.12"),
    "libdevice": ("cu13/nvvm/libdevice/libdevice.10.bc", "cuda_nvcc/nvvm/libdevice/libdevice.10.bc"),
}
"""Where the wheels of CUDA 13 and 12 have each of them, in the folder ``nvidia``."""

_OF_BACKEND = {"nvvm": ("nvvm", "nvJitLink"), "cuda_c": ("nvrtc",)}
"""What each backend calls, in the order in which it does."""

_TITLES = {"nvrtc": "NVRTC", "nvvm": "libNVVM"}
_FUNCTIONS: dict[str, dict[str, str]] = {
    "nvrtc": {
        "Version": ">i >i",
        "GetNumSupportedArchs": ">i",
        "GetSupportedArchs": "p",
        "CreateProgram": ">p s s i p p",
        "CompileProgram": "p i p",
        "GetCUBINSize": "p >n",
        "GetCUBIN": "p p",
        "GetPTXSize": "p >n",
        "GetPTX": "p p",
        "DestroyProgram": "=p",
        **_LOG,
    },
    "nvvm": {
        "Version": ">i >i",
        "IRVersion": ">i >i >i >i",
        "CreateProgram": ">p",
        "AddModuleToProgram": "p s n s",
        "LazyAddModuleToProgram": "p s n s",
        "VerifyProgram": "p i p",
        "CompileProgram": "p i p",
        "GetCompiledResultSize": "p >n",
        "GetCompiledResult": "p p",
        "DestroyProgram": "=p",
        **_LOG,
    },
    "nvJitLink": {
        "Version": ">u >u",
        "Create": ">p u p",
        "AddData": "p i s n s",
        "Complete": "p",
        "GetLinkedCubinSize": "p >n",
        "GetLinkedCubin": "p p",
        "GetLinkedPtxSize": "p >n",
        "GetLinkedPtx": "p p",
        "GetErrorLogSize": "p >n",
        "GetErrorLog": "p p",
        "Destroy": "=p",
    },
}
"""Functions by their names without that of the library; see :func:`pytocu.c_functions.c_function`."""

_LONG = ("CompileProgram", "VerifyProgram", "Complete")
"""What takes milliseconds. Other threads of Python run meanwhile, for whose turn to end the caller may wait as long."""


class LibraryError(Exception):
    """A function of a library gave another status than success; the text names both."""


def place_of(name: str) -> str:
    """The file of a library, or of ``libdevice``.

    Raises
    ------
    BackendError
        It is not installed; the text says the command that installs it.
    """
    for place in _PLACES[name]:
        for folder in sys.path:
            file = os.path.join(folder or ".", "nvidia", place)
            if os.path.exists(file):
                return file
    # A toolkit, or conda: cuda-python knows where those are.
    try:
        from cuda import pathfinder  # pyright: ignore[reportAttributeAccessIssue]

        if name == "libdevice":
            return pathfinder.find_bitcode_lib("device")
        return str(pathfinder.load_nvidia_dynamic_lib(name).abs_path)
    except (ImportError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BackendError(f"{_TITLES.get(name, name)} was not found ({reason}): {INSTALL}") from None


class Library:
    """A library that is open.

    Parameters
    ----------
    name : str
        ``nvrtc``, ``nvvm`` or ``nvJitLink``.

    Raises
    ------
    BackendError
        It is not installed, or cannot be opened.
    """

    def __init__(self, name: str):
        self._name = name
        file = place_of(name)
        try:
            for needed in _opened_by_name(file):
                _opened(needed)
            self._native = _opened(file)
            self._at_once = ctypes.PyDLL(file, handle=self._native._handle)
        except OSError as error:
            raise BackendError(f"{_TITLES.get(name, name)} cannot be opened ({error}): {INSTALL}") from None
        self._made: dict[str, Callable[..., tuple[Any, ...]]] = {}

    def __call__(self, function: str, *arguments: Any) -> Any:
        """Call a function; its result is what comes out, without the status.

        Raises
        ------
        LibraryError
            The status is not success.
        """
        made = self._made.get(function)
        if made is None:
            native = getattr(self._native if function in _LONG else self._at_once, f"{self._name}{function}")
            made = self._made[function] = c_function(native, _FUNCTIONS[self._name][function])
        status, *values = made(*arguments)
        if status:
            raise LibraryError(f"{self._name}{function}: {self._text(status)}")
        return values[0] if len(values) == 1 else tuple(values)

    def _text(self, status: int) -> str:
        text = getattr(self._native, f"{self._name}GetErrorString", None)
        if text is None:
            return f"error {status}"
        text.restype = ctypes.c_char_p
        return text(status).decode()

    def content(self, size: str, get: str, handle: Any) -> bytes:
        """What two functions give: the number of bytes, and the bytes."""
        buffer = ctypes.create_string_buffer(max(self(size, handle), 1))
        self(get, handle, buffer)
        return buffer.raw

    def log(self, what: str, handle: Any) -> str:
        """A log as text; `what` is ``ProgramLog`` or ``ErrorLog``."""
        return text_of(self.content(f"Get{what}Size", f"Get{what}", handle))


def _opened_by_name(file: str) -> list[str]:
    """What a library opens by its name alone: the wheel of NVRTC 13.0 does not say that it lies beside it."""
    folder, name = os.path.split(file)
    if not name.startswith("libnvrtc.so") or not folder:
        return []
    return [os.path.join(folder, other) for other in os.listdir(folder) if other.startswith("libnvrtc-builtins.so")]


def _opened(file: str) -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL(file)
    # The system's own function, because that of ctypes lets no other thread of Python run meanwhile.
    opens = ctypes.CDLL(None).dlopen
    opens.argtypes, opens.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    handle = opens(os.fsencode(file), os.RTLD_NOW)
    # Where there is none, ctypes tries again and says why.
    return ctypes.CDLL(file, handle=handle) if handle else ctypes.CDLL(file)


_ahead: dict[str, Ahead[Library]] = {}
_begun: set[str] = set()


def open_ahead(backend: str) -> None:
    """Begin to open what a backend will call, behind each other; errors come where a library is asked for.

    Parameters
    ----------
    backend : str
        ``nvvm`` or ``cuda_c``; of others there is nothing to open.
    """
    before = None
    for name in _OF_BACKEND.get(backend, ()):
        if name not in _begun:
            _begun.add(name)
            _ahead[name] = before = Ahead(_opened_behind, before, name)


def _opened_behind(other: Ahead[Library] | None, name: str) -> Library:
    # One at a time: opening changes the process's map of memory, for which the thread that compiles would wait too.
    if other is not None:
        other.wait()
    return Library(name)


@lru_cache(maxsize=4)
def library(name: str) -> Library:
    """A library, opened once; parameters and errors as :class:`Library`."""
    ahead = _ahead.pop(name, None)
    return Library(name) if ahead is None else ahead.result()


def texts(options: Any) -> Any:
    """Options as an array of C."""
    encoded = [option.encode() for option in options]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def text_of(content: bytes) -> str:
    """Text of a library, which ends with a null byte."""
    return content.rstrip(b"\0").decode(errors="replace").strip()

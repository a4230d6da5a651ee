"""Object code of the CPU backend, loaded into this process.

In: an object file as :func:`pytocu.backend.cpu.build` makes it.  Out: the addresses of its
kernels.  Code may refer to functions of the C math library and to nothing else; each reference is
bound to the address of that function in this process.
"""

from __future__ import annotations

import ctypes
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from pytocu.errors import BackendError
from pytocu.llvm_access import llvm_binding, undisturbed
from pytocu.runtime import elf

PREFIX = "math."
"""Stands before the name of a C math function that code calls."""

_ROUNDING = "ceil copysign fabs floor fma nearbyint rint round roundeven sqrt trunc"
_MATH = f"""{_ROUNDING} acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 fdim fmax fmin fmod hypot
    ldexp lgamma log log10 log1p log2 logb nextafter pow remainder scalbn sin sinh tan tanh tgamma"""

MATH_FUNCTIONS = frozenset(name + suffix for name in _MATH.split() for suffix in ("", "f"))
"""Functions of C's ``math.h`` that code may call, under :data:`PREFIX`."""

CODE_GENERATOR_FUNCTIONS = frozenset(name + suffix for name in _ROUNDING.split() for suffix in ("", "f")) | {
    "memcpy",
    "memmove",
    "memset",
}
"""C functions LLVM itself calls where a CPU has no instruction (rounding before SSE 4.1)."""


class Address(int):
    """The address of a kernel; the code stays loaded as long as this object lives.

    A plain ``int`` made of one says nothing about that.
    """

    code: Any


def load(code: bytes, names: Iterable[str], address_of: Callable[[str], int] | None = None) -> dict[str, Address]:
    """Load object code into this process.

    Parameters
    ----------
    code : bytes
        Built on this machine or on one with the same CPU features.
    names : iterable of str
        Kernels whose addresses are wanted.
    address_of : callable, optional
        The address of a function that the code calls; by default :func:`external`.

    Returns
    -------
    dict of str to Address
        Functions ``void (void *slots, int64_t begin, int64_t end)``, loaded as long as one of the
        addresses lives.

    Raises
    ------
    BackendError
        The code is damaged, calls a function it may not call, or lacks a kernel.
    """
    wanted = list(names)
    file = elf.ObjectFile(code)
    externals = {symbol: (address_of or external)(symbol) for symbol in file.undefined()}
    if file.machine == elf.X86_64:
        found, owner = elf.place(file, externals)
    else:
        found, owner = undisturbed(_link, code, wanted, externals)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise BackendError(f"the object code has no kernel {missing[0]!r}")
    return {name: _owned(found[name], owner) for name in wanted}


class Shared:
    """Native functions of the host that are the same for all code of this process, loaded once.

    Parameters
    ----------
    names : sequence of str
    lacking : str
        What a warning says where they cannot be loaded.
    address_of : callable, optional
        As :func:`load` takes it.
    """

    def __init__(self, names: Sequence[str], lacking: str, address_of: Callable[[str], int] | None = None):
        self._names, self._lacking, self._address_of = names, lacking, address_of
        self._lock, self._asked = threading.Lock(), False
        self._loaded: dict[str, Address] | None = None

    def load(self, build: Callable[[], bytes | None]) -> dict[str, Address] | None:
        """Their addresses; None where there are none.  ``build()`` gives their object code the first time."""
        with self._lock:
            if not self._asked:
                try:
                    code = build()
                    # Where a bundle has none, a function that is compiled here may.
                    self._asked = code is not None
                    if code is not None:
                        self._loaded = load(code, self._names, self._address_of)
                except BackendError as error:
                    self._asked = True
                    warnings.warn(f"{self._lacking}: {error}", RuntimeWarning, stacklevel=2)
            return self._loaded


def _owned(address: int, owner: Any) -> Address:
    made = Address(address)
    made.code = owner
    return made


def external(symbol: str) -> int:
    """The address of a function that code may call.

    Raises
    ------
    BackendError
        It is not on the list, or this machine's C library has no such function.
    """
    name = symbol.removeprefix(PREFIX)
    allowed = MATH_FUNCTIONS if name != symbol else CODE_GENERATOR_FUNCTIONS
    if name not in allowed:
        raise BackendError(f"the code calls {symbol!r}, which is none of the C math functions that it may call")
    function = getattr(_library(), name, None)
    address = None if function is None else ctypes.cast(function, ctypes.c_void_p).value
    if address is None:
        raise BackendError(f"this machine's C math library has no function {name!r}")
    return address


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        # Elsewhere than in glibc the math functions are in the C library, which the process has open.
        return ctypes.CDLL(None)


# Other machines than x86-64: LLVM's own linker.

_numbers = count()
_loaded: dict[int, tuple[Any, Any]] = {}
_retired: deque[int] = deque()
_LINKED_BY_ONE = 256


class _Linked:
    """Stands for linked code; what it stands for is unloaded some time after it is gone."""

    __slots__ = ("_number",)

    def __init__(self, number: int):
        self._number = number

    def __del__(self) -> None:
        # A finaliser runs anywhere, also inside of llvmlite, so it only leaves a note; and LLVM's objects, whose
        # finalisers would do more, are not among what the garbage collector finds together with this one.
        _retired.append(self._number)


@lru_cache(maxsize=2)
def _linker(generation: int) -> Any:
    """LLVM's linker keeps a few kilobytes of everything it ever linked, so now and then a new one takes over.

    The old one goes with the last code that it has linked.
    """
    llvm = llvm_binding()

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(use_jit_link=True)


def _link(code: bytes, names: Sequence[str], externals: Mapping[str, int]) -> tuple[dict[str, int], _Linked]:
    llvm = llvm_binding()

    while _retired:
        tracker, _ = _loaded.pop(_retired.popleft())
        tracker.close()
    builder = llvm.JITLibraryBuilder().add_object_img(code)
    for symbol, address in externals.items():
        builder.import_symbol(symbol, address)
    for name in names:
        builder.export_symbol(name)
    number = next(_numbers)
    linker = _linker(number // _LINKED_BY_ONE)
    try:
        library = builder.link(linker, f"pytocu.{number}")
    except RuntimeError as error:
        raise BackendError(f"the object code cannot be loaded: {str(error).strip()}") from None
    _loaded[number] = (library, linker)
    return {name: library[name] for name in names}, _Linked(number)

"""Functions of C libraries, called through ctypes with what comes out as results.

Python's bindings of NVIDIA's libraries offer the same; importing them takes longer than everything
else that a first call does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_KINDS = {
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "n": ctypes.c_size_t,
    "q": ctypes.c_uint64,
    "f": ctypes.c_float,
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
}
"""Kinds of parameters: int, unsigned, size_t, a 64-bit number, float, a handle or an address, text."""


def c_function(native: Any, parameters: str) -> Callable[..., tuple[Any, ...]]:
    """A function that takes what goes in and returns the status and what comes out.

    Parameters
    ----------
    native : object
        A function of a library that ctypes has opened; its result is a status, an int.
    parameters : str
        A letter for each in C's order: ``i`` int, ``u`` unsigned, ``n`` size_t, ``q`` uint64_t,
        ``f`` float, ``p`` a handle or an address, ``s`` text; ``>`` before it marks what comes out, ``=`` what goes in
        and comes out.
    """
    words = parameters.split()
    kinds = [_KINDS[word[-1]] for word in words]
    native.argtypes = [ctypes.POINTER(k) if w[0] in ">=" else k for w, k in zip(words, kinds, strict=True)]
    native.restype = ctypes.c_int

    def function(*args: Any) -> tuple[Any, ...]:
        given = iter(args)
        passed: list[Any] = []
        out: list[Any] = []
        for word, kind in zip(words, kinds, strict=True):
            if word[0] == ">":
                out.append(kind())
            elif word[0] == "=":
                out.append(kind(next(given)))
            else:
                passed.append(next(given))
                continue
            passed.append(ctypes.byref(out[-1]))
        status = native(*passed)
        # A null pointer comes as None.
        return status, *((o.value if o.value is not None or isinstance(o, ctypes.c_char_p) else 0) for o in out)

    return function

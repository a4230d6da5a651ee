"""Short ways to the arrays of libraries that are called often.

The generic program reads every argument through a description; these templates read the
library's own attributes, which costs a tenth.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.record import Record
from pytocu.runtime.strides import layout_of_strides


class Library(Record):
    """How the arrays of one library are read, as templates of Python text.

    ``{n}`` is the number of the argument and ``a{n}`` the argument.  Reading an attribute that makes a tuple takes
    five times as long as one that is there, so strides are read only where elements do not lie in order.

    Attributes
    ----------
    judge : str
        True for an array that only the general way can judge; empty where there are none.
    reads : tuple of str
        Lines that make the local names of `given`.
    exact : tuple of str
        What identifies the exact signature, besides the array's class.
    facts : tuple of str
        What identifies the class of sizes: ``ones`` and ``layout`` are functions.
    given : tuple of str
        Local names that the program takes beside the array itself.
    native : bool
        Whether native code reads the array's own structure: dtype, lengths and strides, which are `exact` then.
    """

    judge: str
    reads: tuple[str, ...]
    exact: tuple[str, ...]
    facts: tuple[str, ...]
    given: tuple[str, ...]
    native: bool = False


_LENGTHS = ("len(s{n})", "1 in s{n} and ones(s{n})")
_ORDER = "(f{n} := a{n}.flags).c_contiguous or (f{n}.f_contiguous and 'F') or layout(s{n}, a{n}.strides, a{n}.itemsize)"

LIBRARIES = {
    "numpy": Library(
        judge="",
        reads=("s{n} = a{n}.shape",),
        exact=("a{n}.dtype", "s{n}", "a{n}.strides"),
        facts=("a{n}.dtype", *_LENGTHS, _ORDER),
        given=("s{n}",),
        native=True,
    ),
    "cupy": Library(
        judge="",
        reads=("s{n} = a{n}.shape", "d{n} = a{n}.data"),
        exact=("a{n}.dtype", "s{n}", "a{n}.strides", "d{n}.device_id"),
        facts=("a{n}.dtype", *_LENGTHS, _ORDER, "d{n}.device_id"),
        given=("s{n}", "d{n}"),
    ),
    "torch": Library(
        judge="a{n}.requires_grad or a{n}.layout is not strided or a{n}.is_nested or a{n}.is_neg() or a{n}.is_conj()",
        reads=("s{n} = a{n}.shape",),
        exact=("a{n}.dtype", "s{n}", "a{n}.is_contiguous() or a{n}.stride()", "a{n}.get_device()"),
        facts=("a{n}.dtype", *_LENGTHS, "a{n}.is_contiguous() or layout(s{n}, a{n}.stride(), 1)", "a{n}.get_device()"),
        given=("s{n}",),
    ),
}
"""Libraries with a short way, by name; see :func:`templates_of`."""


def templates_of(library: str) -> Library:
    """How the arrays of a library are read, as the version that is imported has them."""
    found = LIBRARIES[library]
    if library == "cupy" and hasattr(sys.modules["cupy"].ndarray, "_c_contiguous"):
        # The public way to this flag makes an object first, which takes ten times longer.
        in_order = [part.replace("a{n}.strides", "a{n}._c_contiguous or a{n}.strides") for part in found.exact]
        found = found._replace(exact=tuple(in_order))
    return found


def library_of(classes: Sequence[type]) -> str | None:
    """The library whose arrays are among the classes, when it is one that has a short way."""
    found: set[str] = set()
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    for one in classes:
        if one is np.ndarray:
            found.add("numpy")
        elif cupy is not None and one is cupy.ndarray:
            found.add("cupy")
        elif torch is not None and one in (torch.Tensor, torch.nn.Parameter):
            found.add("torch")
    return found.pop() if len(found) == 1 else None


def is_array_class(one: type) -> bool:
    """Whether arrays of this class have a short way."""
    return library_of((one,)) is not None


def key_globals(library: str) -> dict[str, Any]:
    """What the templates of a library name."""
    made: dict[str, Any] = {"ones": ones, "layout": layout_of_strides}
    if library == "torch":
        made |= {"strided": sys.modules["torch"].strided}
    return made


def ones(shape: Sequence[int]) -> tuple[bool, ...]:
    """Which axes have length 1.

    Examples
    --------
    >>> ones((3, 1))
    (False, True)
    """
    return tuple([n == 1 for n in shape])

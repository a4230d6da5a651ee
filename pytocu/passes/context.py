"""What passes know besides the function: the target and options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pytocu.errors import BackendError
from pytocu.record import Record

_CUDA = re.compile(r"cuda(?::(sm_\d+[af]?))?$")


_FLOAT64 = ("", "80", "90", "100")
"""Architectures with half as many units for float64 as for float32, which are those for computing; or one that is not known."""


class Target(Record):
    """A kind of machine: ``cpu``, or ``cuda`` with an architecture such as ``sm_90``."""

    kind: str
    arch: str = ""

    @property
    def has_float64_units(self) -> bool:
        """Whether a GPU's float64 arithmetic is about as fast as its float32 arithmetic."""
        return self.kind == "cuda" and self.arch.removeprefix("sm_").rstrip("af") in _FLOAT64

    def __str__(self) -> str:
        return f"{self.kind}:{self.arch}" if self.arch else self.kind


def parse_target(text: str | Target) -> Target:
    """Read ``cpu``, ``cuda`` or ``cuda:sm_90``.

    Raises
    ------
    BackendError
        Anything else.

    Examples
    --------
    >>> parse_target("cuda:sm_90").arch
    'sm_90'
    """
    if isinstance(text, Target):
        return text
    if text == "cpu":
        return Target("cpu")
    match = _CUDA.match(text)
    if match is None:
        raise BackendError(f"{text!r} is not a target: write cpu, cuda or cuda:sm_90")
    return Target("cuda", match[1] or "")


class PassContext(Record):
    """Parameters
    ----------
    target : Target
        What schedules and loops are for.
    fastmath : tuple of str
        LLVM flag names that instructions get.
    index_bits : int
        32 or 64: whether every offset is known to fit 32 bits.
    sizes : mapping
        Lengths of the call that asks, by name.  They choose size classes, which the code states
        as facts, and nothing else; a name that is missing may be any length.
    """

    target: Target = Target("cuda")
    fastmath: tuple[str, ...] = ()
    index_bits: int = 32
    sizes: Mapping[str, int] = MappingProxyType({})

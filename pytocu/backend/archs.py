"""Names of GPU architectures, checked against what a compiler knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytocu.errors import BackendError

ARCH = re.compile(r"sm_(\d+)([af]?)")


def check(arch: str, known: Sequence[str], compiler: str) -> str:
    """The architecture, when the compiler has code for it.

    Parameters
    ----------
    arch : str
        ``sm_90``; a letter ``a`` or ``f`` behind it asks for features of that model or family.
    known : sequence of str
        What the compiler compiles for, without letters.
    compiler : str
        Name and version, for the message.

    Raises
    ------
    BackendError
        With the known architectures.

    Examples
    --------
    >>> check("sm_90a", ["sm_90", "sm_100"], "NVRTC 13.0")
    'sm_90a'
    """
    match = ARCH.fullmatch(arch)
    if match is None:
        raise BackendError(f"{arch!r} is not a GPU architecture: write one of {', '.join(known)}")
    if f"sm_{match[1]}" not in known:
        raise BackendError(f"{compiler} has no code for {arch}: it compiles for {', '.join(known)}")
    return arch

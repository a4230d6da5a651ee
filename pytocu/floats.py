"""Floats as text that gives the same bits back, NaN's sign and payload too."""

from __future__ import annotations

import re
import struct

_BITS = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
_QUIET = 1 << 51
"""The payload of the NaN that `nan` means."""
_NAN = r"(-?)nan(?:\(0x([0-9a-f]{1,13})\))?"


def float_text(value: float) -> str:
    """The number as Python writes it; a NaN with its sign and, where it is not the usual one, its payload.

    Examples
    --------
    >>> float_text(-0.5), float_text(float("-nan")), float_text(parse_float("nan(0x8000000000001)"))
    ('-0.5', '-nan', 'nan(0x8000000000001)')
    """
    if value == value:
        return repr(value)
    (bits,) = _BITS.unpack(_DOUBLE.pack(value))
    payload = bits & ((1 << 52) - 1)
    return f"{'-' if bits >> 63 else ''}nan{'' if payload == _QUIET else f'(0x{payload:x})'}"


def parse_float(text: str) -> float:
    """The number of a text of :func:`float_text`, bit for bit.

    Raises
    ------
    ValueError
        The text is none of a number.
    """
    found = re.fullmatch(_NAN, text) if "nan" in text else None
    if found is None:
        return float(text)
    payload = int(found[2], 16) if found[2] else _QUIET
    if not 0 < payload < 1 << 52:
        raise ValueError(f"{text} is no NaN")
    bits = (0xFFF if found[1] else 0x7FF) << 52 | payload
    return _DOUBLE.unpack(_BITS.pack(bits))[0]

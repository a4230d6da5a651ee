"""Sentences of exceptions: templates for numbers that a run has, which Python puts into words.

A sentence is a template of `str.format`.  The name of a field says how its value is made of the numbers, which are ints:

    2                       number 2
    truth 2                 whether it is not 0
    float 2 3               Python's float of the two halves of its bits; ``complex`` of two floats
    float32 2, int64 2 3    NumPy's scalars of the words of 32 bits that they are, the highest first
    array/2,1 float32 2 3   an array of this shape, of such words
    tuple/2 2 truth 3       so many values, each of which is one of these; ``list``, and ``dict`` of keys and values
    known/6162              what is shown as this text, in hexadecimal digits of UTF-8

Behind all that may stand what the operator ``%`` is given: ``{float 2 3 %.3f}``.
"""

from __future__ import annotations

import re
import string
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def said(sentence: str, numbers: Sequence[int]) -> str:
    """The text of a sentence.

    Examples
    --------
    >>> said("{2} of {tuple/2 3 4}, {truth 2} {2:>4}{3 %5.1f}{{}}", (0, 0, 1, 7, 2))
    '1 of (7, 2), True    1  7.0{}'
    """
    return _Sentence().vformat(sentence, numbers, {})


def renumbered(sentence: str, more: int) -> str:
    """The sentence where so many numbers stand before those that there were.

    Examples
    --------
    >>> renumbered("{0} is {{0}} {tuple/2 1 truth 2!r:>{12}}", 2)
    '{2} is {{0}} {tuple/2 3 truth 4!r:>{14}}'
    """

    def field(found: re.Match[str]) -> str:
        return re.sub(r"(?<![^ {])\d+(?![^ ])", lambda number: str(int(number[0]) + more), found[0])

    return re.sub(r"\{\{|\{[^{}!:%]*", field, sentence)


class _Sentence(string.Formatter):
    """Fields of values that are made of numbers."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        name, marked, pattern = field_name.partition(" %")
        value = _value(iter(name.split(" ")), args)
        return (f"%{pattern}" % (value,) if marked else value), field_name


class _Known:
    """Something by its text."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _value(tokens: Iterator[str], numbers: Sequence[int]) -> Any:
    """The value that the next tokens name."""
    kind, _, more = next(tokens).partition("/")
    if kind.isdigit():
        return numbers[int(kind)]
    if kind == "known":
        return _Known(bytes.fromhex(more).decode())
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_value(tokens, numbers) for _ in range(int(more)))
    if kind == "dict":
        return {_value(tokens, numbers): _value(tokens, numbers) for _ in range(int(more))}
    word: Callable[[], int] = lambda: numbers[int(next(tokens))]  # noqa: E731
    if kind == "truth":
        return bool(word())
    if kind == "float":
        return _float(word(), word())
    if kind == "complex":
        return complex(_float(word(), word()), _float(word(), word()))
    return _of_numpy(kind, more, tokens, word)


def _of_numpy(kind: str, more: str, tokens: Iterator[str], word: Callable[[], int]) -> Any:
    import numpy as np

    shape = None
    if kind == "array":
        shape = tuple(int(length) for length in more.split(",") if length)
        kind = next(tokens)
    dtype = np.dtype(kind)
    part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    words = max(part // 4, 1)

    def element() -> bytes:
        number = 0
        for _ in range(words):
            number = number << 32 | word()
        return number.to_bytes(part, "little")

    parts = dtype.itemsize // part * (1 if shape is None else int(np.prod(shape)))
    made = np.frombuffer(b"".join(element() for _ in range(parts)), dtype.newbyteorder("<")).astype(dtype)
    return made[0] if shape is None else made.reshape(shape)


def _float(high: int, low: int) -> float:
    return struct.unpack("<d", struct.pack("<II", low, high))[0]

"""What the commands of this package take: counts, parts, files, and what runs here."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pytocu.runtime import cuda


def count(text: str) -> int:
    """A number of things, at least one.

    Examples
    --------
    >>> count("3")
    3
    """
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def part(text: str) -> tuple[int, int]:
    """``I/N``, the I-th of N parts, counted from 0.

    Examples
    --------
    >>> part("0/3")
    (0, 3)
    """
    which, _, whole = text.partition("/")
    if not (which.isascii() and which.isdigit() and whole.isascii() and whole.isdigit() and int(which) < int(whole)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part: write 0/3, 1/3 or 2/3 for the parts of three")
    return int(which), int(whole)


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression.

    Examples
    --------
    >>> bool(pattern("clip|where").search("np.where(a, b, a)"))
    True
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None


def file(text: str) -> Path:
    """A file that is written at the end of long work: its folder is there before it begins."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path


def check_runs(parser: argparse.ArgumentParser, on: str) -> None:
    """End with a sentence where a backend of GPUs is asked for and there is none."""
    runs, reason = cuda.available() if on in ("nvvm", "cuda_c") else (True, "")
    if not runs:
        parser.error(f"--on {on} needs a GPU: {reason}")


__all__ = ["check_runs", "count", "file", "part", "pattern"]

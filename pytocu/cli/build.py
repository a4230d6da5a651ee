"""pytocu build: compile a function ahead of time, for machines without compilers or source.

``pytocu.load(DIR)`` gives the functions of the bundle by name.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from pytocu.cli.arguments import TYPES, TYPES_HELP, add_options, arguments, prepared
from pytocu.cli.dump import target_of
from pytocu.cli.terminal import CommandError, show
from pytocu.compiles import build

EPILOG = """\
examples:
  pytocu build mask.py:mask_out --args "f32[n, 3], bool[n]" --target cuda:sm_80 --target cuda:sm_90 --target cpu -o DIR
  pytocu build waves.py:step --args "f64[n, m], weak float" --args "f32[n, m], weak float" --static order=2 -o DIR

A name in a shape is any length.  1 broadcasts, and another number is an example of a length: with f32[2] the
code is for calls in which x[1:] has one element, which is a case of its own.  Each signature is built with
32-bit and 64-bit indices.  Captured values are those the file has now.
"""
EPILOG += f"\n{TYPES}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="a function, jitted or not")
    parser.add_argument(
        "--args", action="append", required=True, metavar="TYPES", help=f"{TYPES_HELP}; repeat"
    )
    parser.add_argument(
        "--target", action="append", default=[], metavar="TARGET", help="cpu (this machine, the default) or cuda:sm_90; repeat"
    )
    add_options(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the bundle; functions that are there stay")


def run(options: argparse.Namespace) -> None:
    """Build, and say what was built."""
    targets = _targets(options.target or ["cpu"])
    _check_output(options.output)
    function, known = prepared(options.function, options.static, options.fastmath)
    signatures = [arguments(function, known, text) for text in options.args]
    number = total = 0
    for types, target, index_bits, size in build(function, signatures, targets, options.output):
        show(f"{target:<12} {function.__name__}{types}, {index_bits}-bit indices: {size:,} bytes")
        number, total = number + 1, total + size
    show(f"{number} binaries, {total:,} bytes: pytocu.load({options.output!r}).{function.__name__}")


def _check_output(folder: str) -> None:
    """Refuse a place that cannot hold a bundle before anything is compiled."""
    if not folder:
        raise CommandError("--output is empty: name a folder")
    place = os.path.abspath(folder)
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        raise CommandError(f"--output {folder} cannot be made: {place} is a file")
    if not os.access(place, os.W_OK | os.X_OK):
        raise CommandError(f"--output {folder} cannot be made: {place} may not be written")


def _targets(texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text == "cuda":
            raise CommandError("--target cuda names no architecture: write cuda:sm_90")
        found.append(str(target_of(text, "bundle", ("cpu", "cuda:sm_90"))))
    return list(dict.fromkeys(found))

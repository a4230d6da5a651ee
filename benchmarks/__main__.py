"""``python -m benchmarks GROUP [--cpu] [--scale S] [--json FILE]``.

``gpu``      shares of the copy limit, beside CuPy and cupy.fuse
``calls``    host time of one call on tiny arrays
``compile``  time to the first result in fresh processes
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import calls, compile, gpu


def main() -> None:
    """Run a group of benchmarks and print its table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("group", choices=["gpu", "calls", "compile"])
    parser.add_argument("--cpu", action="store_true", help="calls and compile: the CPU instead of a GPU")
    parser.add_argument("--scale", type=float, default=1.0, help="gpu: fraction of the full sizes")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    arguments = parser.parse_args()
    match arguments.group:
        case "gpu":
            rows = gpu.run(arguments.scale)
        case "calls":
            rows = calls.run(not arguments.cpu)
        case _:
            rows = compile.run(not arguments.cpu)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


main()

"""``python -m benchmarks gpu [--scale S] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import gpu


def main() -> None:
    """Run a group of benchmarks and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("group", choices=["gpu"])
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the full sizes")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    arguments = parser.parse_args()
    rows = gpu.run(arguments.scale)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


main()

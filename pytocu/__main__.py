"""``python -m pytocu``: the same as the command ``pytocu``."""

import sys


def run() -> int:
    """Run the command line; an interrupt that comes while it is still being loaded is no error either."""
    try:
        from pytocu.cli.main import main
    except KeyboardInterrupt:
        print("pytocu: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    raise SystemExit(run())

"""``python -m pytocu``: the same as the command ``pytocu``."""

# Nothing is imported that Python has not loaded itself (`signal` makes enumerations, which takes longer than all of this): an
# interrupt that comes before the first handler below ends in a traceback of Python's.
import _signal as signal  # pyright: ignore[reportMissingImports]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import types
    from typing import NoReturn


def run() -> int:
    """Run the command line; an interrupt that comes while it is being loaded, or ends, is no error either."""
    sys.unraisablehook = _ignored
    try:
        before = signal.getsignal(signal.SIGINT)
        # Where interrupts are ignored, as behind nohup, they stay so.
        taken = before is signal.default_int_handler
        if taken:
            # No exception: it would come up inside of whatever is being imported.
            signal.signal(signal.SIGINT, _leave)
        from pytocu.cli.main import main

        try:
            signal.signal(signal.SIGINT, before)
            return main()
        finally:
            if taken:
                signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:
        _leave()


def _ignored(raised: "sys.UnraisableHookArgs") -> None:
    # Behind a call that no exception leaves (a callback of a weak reference, as the locks of imports have) it would go on.
    if raised.exc_type is KeyboardInterrupt:
        _leave()
    sys.__unraisablehook__(raised)


def _leave(number: int = 0, frame: "types.FrameType | None" = None) -> "NoReturn":
    os.write(2, b"pytocu: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    raise SystemExit(run())

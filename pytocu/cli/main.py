"""The command line: finds the subcommand, runs it, and turns errors into sentences and exit codes.

Exit code 0: done.  1: the function is not compiled, or pytocu has a defect.  2: the command line asks
for something that does not exist.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import pytocu
from pytocu.cli import bisect, build, cache, demo, dump, explain, info, passes
from pytocu.cli.terminal import CommandError, debugging, fail, suggestion
from pytocu.errors import InternalError, PytocuError

COMMANDS = {
    "dump": dump,
    "explain": explain,
    "bisect": bisect,
    "passes": passes,
    "info": info,
    "build": build,
    "cache": cache,
    "demo": demo,
}
"""Subcommands in the order of the help."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    made = _Parser(prog="pytocu", description="Look at what pytocu makes of a function, and at what it found on this machine.")
    made.add_argument("--version", action="version", version=f"pytocu {pytocu.__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, module in COMMANDS.items():
        sentence = (module.__doc__ or "").splitlines()[0].partition(": ")[2]
        sub = commands.add_parser(name, help=sentence, description=sentence, epilog=module.EPILOG)
        # The examples keep their lines.
        sub.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(sub)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; ``sys.argv`` by default.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and not words[0].startswith("-") and words[0] not in COMMANDS:
            raise CommandError(f"there is no command {words[0]!r}{suggestion(words[0], COMMANDS)}")
        options = parser().parse_args(words)
        COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; what is left to flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        fail("interrupted")
        return 130
    except CommandError as error:
        return _failed(str(error), error, 2)
    except InternalError as error:
        return _failed(f"this is a defect of pytocu: {error} (PYTOCU_DEBUG=1 shows where)", error, 1)
    except PytocuError as error:
        return _failed(str(error), error, 1)
    except Exception as error:
        sentence = f"this is a defect of pytocu: {type(error).__name__}: {error}"
        return _failed(f"{sentence} (PYTOCU_DEBUG=1 shows where)", error, 1)
    return 0


def _failed(message: str, error: BaseException, code: int) -> int:
    if debugging():
        raise error
    fail(message)
    return code

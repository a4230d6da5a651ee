"""The command line: finds the subcommand, runs it, and turns errors into sentences and exit codes.

Exit code 0: done.  1: the function is not compiled, or pytocu has a defect.  2: the command line asks
for something that does not exist.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import pytocu
from pytocu.cli import bisect, build, cache, demo, dump, explain, info, passes
from pytocu.cli.terminal import CommandError, debugging, fail, nearest, suggestion
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


class _Once(argparse.Action):
    """A value that is given once: of two, nobody can tell which is meant."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        given: set[str] = namespace.__dict__.setdefault("_given", set())
        if option_string and self.dest in given:
            raise CommandError(f"{option_string} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.register("action", None, _Once)
        self.register("action", "store", _Once)

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
    if sys.stdout is None:
        # The caller has closed it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        if words and not words[0].startswith("-") and words[0] not in COMMANDS:
            raise CommandError(f"there is no command {words[0]!r}{suggestion(words[0], COMMANDS)}")
        whole = parser()
        if words and words[0].startswith("-") and words[0] not in whole._option_string_actions:
            raise CommandError(f"pytocu has no option {words[0]} (see pytocu --help)")
        options, rest = whole.parse_known_args(words)
        if rest:
            raise CommandError(_unknown(whole, options.command, rest[0]))
        with warnings.catch_warnings():
            # Of words that are no Python, of which a sentence says what is wrong; warnings about files have their names.
            warnings.filterwarnings("ignore", category=SyntaxWarning, module=r"<unknown>")
            warnings.showwarning = _warned
            COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; what is left to flush goes nowhere.
        _leave_output()
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
        # What is left is no mistake of whoever typed the command.
        if isinstance(error, OSError) and error.errno in _OF_OUTPUT and error.filename is None:
            _leave_output()
            return _failed(f"the output cannot be written: {error.strerror}", error, 2)
        sentence = f"this is a defect of pytocu: {type(error).__name__}: {error}"
        return _failed(f"{sentence} (PYTOCU_DEBUG=1 shows where)", error, 1)
    return 0


def _warned(message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any) -> None:
    """pytocu's own warnings are sentences; those of the user's files have their places."""
    own = category.__module__.startswith("pytocu.")
    print(f"pytocu: {message}" if own else f"{filename}:{lineno}: {category.__name__}: {message}", file=sys.stderr)


_OF_OUTPUT = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)
"""What is wrong with a disk or terminal that the output goes to."""


def _leave_output() -> None:
    """What is left to flush goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unknown(whole: argparse.ArgumentParser, command: str, word: str) -> str:
    """The sentence about a word that a command does not take."""
    if not word.startswith("-"):
        return f"pytocu {command} takes no argument {word!r} (see pytocu {command} --help)"
    choices = next(a.choices for a in whole._actions if isinstance(a.choices, dict))
    known = [name[2:] for action in choices[command]._actions for name in action.option_strings if name.startswith("--")]
    word = word.partition("=")[0]
    close = nearest(word.lstrip("-"), known).replace("mean ", "mean --")
    return f"pytocu {command} has no option {word}{close} (see pytocu {command} --help)"


def _failed(message: str, error: BaseException, code: int) -> int:
    if debugging():
        raise error
    fail(message)
    return code

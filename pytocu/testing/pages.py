"""Runs the examples of a Markdown page, and writes what its commands print into it.

A page has these blocks:

* ``console``: lines that begin with ``$`` are run by bash, in a new folder for each page; the lines below them are what
  they print, to the letter, but for ``...``, which stands for any text.  ``pytocu`` and ``python`` are those of this process,
  and ``pytest`` runs in the folder of the sources.
* ``python`` whose first line is ``# NAME.py``: written into that folder, for the commands.
* ``python`` with prompts: a doctest, which pytest runs.
* other ``python``: run top to bottom, in one namespace a page.  A comment ``<!-- example: gpu -->`` above the block says what
  it needs: a GPU, or modules by name; ``<!-- example: no -->`` that it is only part of a program.
* ``diff``: a change to the sources or the tests of pytocu, which is made in a copy; commands behind it run with that copy.
* ``sh``: commands that are shown and not run.

``python -m pytocu.testing.pages docs/journey.md --write`` runs the console blocks of pages and writes their output.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytocu.record import Record

PACKAGE = Path(__file__).parent.parent
SECONDS = 300

_FENCE = re.compile(
    r"^(?:<!-- example: (?P<needs>[^>]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_SHELL = (
    'pytocu() { "$PYTOCU_PYTHON" -m pytocu "$@"; }; python() { "$PYTOCU_PYTHON" "$@"; }\n'
    'pytest() { (cd "$PYTHONPATH" && "$PYTOCU_PYTHON" -m pytest -p no:cacheprovider "$@"); }\n'
)


class Example(Record):
    """A block of a page.

    Attributes
    ----------
    language, text : str
    line : int
        Where the text begins, from 1.
    needs : str
        What is said above it; empty where nothing is.
    span : (int, int)
        Where the text stands in the page.
    """

    language: str
    text: str
    line: int
    needs: str
    span: tuple[int, int]

    @property
    def file(self) -> str:
        """The name of the file that the block is; empty for others."""
        named = re.match(r"# ([\w/]+\.py)\n", self.text)
        return named[1] if named and self.language == "python" else ""

    @property
    def is_program(self) -> bool:
        """Whether it is Python to be run, and no file and no doctest."""
        return self.language == "python" and not self.file and not self.text.startswith(">>>") and self.needs != "no"


def examples(page: str) -> tuple[Example, ...]:
    """The blocks of a page, in order.

    Examples
    --------
    >>> [(e.language, e.line, e.needs) for e in examples("Text\\n<!-- example: gpu -->\\n```python\\nf(x)\\n```\\n")]
    [('python', 4, 'gpu')]
    """
    found: list[Example] = []
    for match in _FENCE.finditer(page):
        line = page.count("\n", 0, match.start("text")) + 1
        found.append(Example(match["language"], match["text"], line, match["needs"] or "", match.span("text")))
    return tuple(found)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what is written below it.

    Examples
    --------
    >>> list(commands("$ first \\\\\\n    more\\none\\n$ second\\n"))
    [('first \\\\\\n    more', 'one\\n'), ('second', '')]
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:.*\\\n)*.*)\n", part)
        if match is None:
            raise ValueError(f"a command without an end of line: {part!r}")
        yield match[1], part[match.end() :]


class Sandbox:
    """A folder in which the files of a page lie and its commands run.

    Parameters
    ----------
    folder : Path
        Empty.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.package = PACKAGE
        self.changes = 0
        self.space = folder / "page"
        self.space.mkdir()

    def run(self, command: str) -> str:
        """What a command prints to both of its streams."""
        environment = {**os.environ, "PYTOCU_PYTHON": sys.executable, "PYTHONPATH": str(self.package.parent), "COLUMNS": "100"}
        environment["PYTOCU_CACHE_DIR"] = str(self.folder / "cache")
        if self.package != PACKAGE:
            # Every command would compile the modules of the copy.
            environment["PYTHONPYCACHEPREFIX"] = str(self.folder / "bytecode")
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
        else:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", _SHELL + command],
            cwd=self.space,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        code = "" if done.returncode in (0, 141) else f"[exit code {done.returncode}]\n"
        return done.stdout.replace(f"{self.space}/", "").replace("\t", "        ") + code

    def write(self, example: Example) -> None:
        """Write the file that a block is."""
        path = self.space / example.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.text, encoding="utf-8")

    def change(self, diff: str) -> None:
        """Make a change in a copy of the package and its tests, which later commands use.

        Raises
        ------
        ValueError
            The lines that the change is made to do not stand there, or stand there twice.
        """
        if self.package == PACKAGE:
            self.package = self.folder / "copy" / "pytocu"
            copy, unwanted = self.package.parent, shutil.ignore_patterns("__pycache__")
            shutil.copytree(PACKAGE, self.package, ignore=unwanted)
            if (PACKAGE.parent / "tests").is_dir():
                shutil.copytree(PACKAGE.parent / "tests", copy / "tests", ignore=unwanted)
                shutil.copy(PACKAGE.parent / "pyproject.toml", copy)
            # As in a checkout, code is kept under a checksum of the modules.
            (copy / ".git").touch()
        for name, old, new in _changes(diff):
            path = self.package.parent / name
            text = path.read_text(encoding="utf-8") if old else ""
            if old and text.count(old) != 1:
                raise ValueError(f"{name} has this {text.count(old)} times:\n{old}")
            path.write_text(text.replace(old, new) if old else new, encoding="utf-8")
            # A change within a second would leave the time of a file as it was, by which its bytecode is known.
            self.changes += 1
            written = time.time() + self.changes
            os.utime(path, (written, written))


def _changes(diff: str) -> Iterator[tuple[str, str, str]]:
    """Of each piece the file, the lines that are there, and those that take their place."""
    name = ""
    for piece in re.split(r"^(?=--- |@@)", diff, flags=re.MULTILINE):
        lines = piece.splitlines()
        if lines and lines[0].startswith("--- "):
            name = next(line[4:] for line in lines if line.startswith("+++ "))
        elif lines:
            body = [line or " " for line in lines[1:]]
            old = "".join(f"{line[1:]}\n" for line in body if line[0] in " -")
            yield name, old, "".join(f"{line[1:]}\n" for line in body if line[0] in " +")


def rewritten(page: str) -> str:
    """The page with what its commands print now."""
    made, at = "", 0
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder))
        for example in examples(page):
            if example.file:
                sandbox.write(example)
            elif example.language == "diff":
                sandbox.change(example.text)
            elif example.language == "console":
                text = "".join(f"$ {command}\n{_output(sandbox, command, shown)}" for command, shown in commands(example.text))
                made += page[at : example.span[0]] + text
                at = example.span[1]
    return made + page[at:]


def _output(sandbox: Sandbox, command: str, shown: str) -> str:
    printed = sandbox.run(command)
    return shown if agrees(shown, printed) else printed


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what a command printed, where ``...`` stands for any text.

    Examples
    --------
    >>> agrees("one ... three\\n", "one two three\\n"), agrees("one\\n", "one \\n")
    (True, False)
    """
    pattern = ".*".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, printed, flags=re.DOTALL) is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare pages with what their commands print, or write them."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.pages", description=main.__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write the output into the pages")
    options = parser.parse_args(arguments)
    different = 0
    for path in options.pages:
        before = path.read_text(encoding="utf-8")
        after = rewritten(before)
        different += before != after
        print(f"{path}: {'up to date' if before == after else 'written' if options.write else 'not up to date'}")
        if options.write and before != after:
            path.write_text(after, encoding="utf-8")
    return int(bool(different) and not options.write)


if __name__ == "__main__":
    raise SystemExit(main())

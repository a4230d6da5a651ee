"""Golden files: one file holds a function, commands, and the exact text they print.

A golden file is a Python module.  ``#$`` begins a command about one of its functions, ``#|``
a line of what the command printed, ``#!`` what an error said, on the line it pointed at:

    def scaled(x):
        return 2 * x

    #$ dump scaled --args "f32[n]" --after lower
    #| func @scaled(%x: f32[n]) {
    ...

    def wrong(x):
        if x > 0:  #! UnsupportedError: the branch depends on the data of an array (bool[n])
        #! at: x > 0
            return x

    #$ error wrong --args "f32[n]"

``#$ show scaled explain --args "f32[n]"`` runs the command line itself, on the source alone.  What depends on the
compilers of the machine is left out with ``--lines``, which keeps the lines that a regular expression finds, and
``--hide``, which puts dots in place of what one finds.

``render`` writes the file as it should be; a test compares, ``pytest --bless`` writes it back.
Line numbers inside printed text count the lines of the source alone, so that they do not move
with what is printed above.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import io
import linecache
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import CompileError, PytocuError
from pytocu.testing.arguments import argument_types, make_arguments, size_cases, symbol_names

FOLDER = Path(__file__).parent / "golden"
VECTOR_CPU = ("x86-64-v3", "")
"""One CPU for everybody, so that the packed instructions are the same text everywhere."""


class GoldenError(Exception):
    """A golden file is not in order; the text names the file and the line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--bless``."""
    parser.addoption("--bless", action="store_true", help="write the golden files as the compiler prints them now")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected text is to be rewritten; never on CI."""
    return may_bless(bool(request.config.getoption("--bless")), os.environ)


def may_bless(asked: bool, environment: Any) -> bool:
    """Whether to rewrite expected text.

    Raises
    ------
    pytest.UsageError
        ``--bless`` on a CI machine: it would accept whatever the compiler prints.
    """
    if asked and environment.get("CI", "").lower() not in ("", "0", "false"):
        raise pytest.UsageError("--bless is refused where CI is set: bless on your machine and commit the result")
    return asked


@dataclass(frozen=True)
class Command:
    """One ``#$`` line."""

    line: int
    text: str
    verb: str
    function: str
    options: argparse.Namespace
    words: tuple[str, ...] = ()
    expected: list[str] = field(default_factory=list, compare=False)

    @property
    def types(self) -> tuple[Any, ...]:
        """The argument types."""
        return argument_types(self.options.args)

    @property
    def static(self) -> dict[str, Any]:
        """The static arguments."""
        return {name: ast.literal_eval(value) for name, _, value in (s.partition("=") for s in self.options.static)}

    @property
    def program(self) -> tuple[Any, ...]:
        """What is run: equal for commands that only print different stages."""
        o = self.options
        return (self.function, o.args, tuple(o.static), o.within, o.values, tuple(o.sizes))

    def size_cases(self) -> tuple[dict[str, int], ...]:
        """Lengths to run with."""
        if self.options.sizes:
            return ({name: int(value) for name, _, value in (s.partition("=") for s in self.options.sizes)},)
        return size_cases(self.types)


@dataclass
class Golden:
    """A golden file taken apart: its lines without expected text, and the commands."""

    path: Path
    text: str
    lines: list[tuple[int, str | Command]] = field(default_factory=list)
    source: list[str] = field(default_factory=list)

    @property
    def commands(self) -> list[Command]:
        """Commands in order."""
        return [item for _, item in self.lines if isinstance(item, Command)]

    def module(self) -> ModuleType:
        """The file as a module."""
        return _module(self.path, "\n".join(self.source) + "\n")

    def function(self, name: str) -> Any:
        """A function of the file, jitted."""
        found = getattr(self.module(), name)
        static = next((c.static for c in self.commands if c.function == name), {})
        return found if isinstance(found, pytocu.JitFunction) else pytocu.jit(found, static=tuple(static))

    def programs(self) -> list[Command]:
        """One command for each program that must run (those that are not errors)."""
        chosen = {c.program: c for c in reversed(self.commands) if c.verb not in ("error", "show")}
        return list(reversed(chosen.values()))


@lru_cache(maxsize=256)
def _module(path: Path, source: str) -> ModuleType:
    module = ModuleType(f"golden_{path.stem}")
    module.__file__ = f"<golden>/{path.name}"
    # Without a time stamp linecache keeps what no file holds.
    linecache.cache[module.__file__] = (len(source), None, source.splitlines(keepends=True), module.__file__)
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise ValueError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="#$", add_help=False, allow_abbrev=False)
    parser.add_argument("verb", choices=sorted(VERBS))
    parser.add_argument("function")
    parser.add_argument("--args", default="", help="argument types")
    parser.add_argument("--after", help="print the IR after this pass")
    parser.add_argument("--all", action="store_true", help="print the IR after every pass that changed it")
    parser.add_argument("--emit", choices=("ir", "cuda", "nvvm", "llvm", "asm"), default="ir")
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--index-bits", type=int, choices=(32, 64), default=32)
    parser.add_argument("--static", action="append", default=[], help="name=value")
    parser.add_argument("--sizes", nargs="*", default=[], help="name=length: run with these only")
    parser.add_argument("--values", choices=("edge", "plain", "positive"), default="edge", help="what the arrays hold")
    parser.add_argument("--within", type=float, default=0.0, help="largest relative difference; 0 compares bits")
    return parser


def _show_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="#$ show", add_help=False, allow_abbrev=False)
    parser.add_argument("verb", choices=("show",))
    parser.add_argument("function")
    parser.add_argument("command", choices=("dump", "explain"))
    parser.add_argument("--args", default="")
    parser.add_argument("--lines", default="", help="keep the lines in which this regular expression is found")
    parser.add_argument("--hide", default="", help="dots in place of what this regular expression finds")
    parser.set_defaults(static=[])
    return parser


def read(path: Path) -> Golden:
    """Take a golden file apart.

    Raises
    ------
    GoldenError
        Expected text without a command, a command without a function, and the like.
    """
    golden = Golden(path, path.read_text())
    expecting = False
    for number, line in enumerate(golden.text.splitlines(), 1):
        where = f"{path.name}:{number}"
        if line.startswith("#$"):
            try:
                words = shlex.split(line[2:])
                is_shown = words[:1] == ["show"]
                options, shown = _show_parser().parse_known_args(words) if is_shown else (_parser().parse_args(words), [])
                types = argument_types(options.args)
            except ValueError as error:
                raise GoldenError(f"{where}: {error}: {line}") from None
            if not types and not options.static and options.args:
                raise GoldenError(f"{where}: no argument types: {line}")
            golden.lines.append((0, Command(number, line, options.verb, options.function, options, tuple(shown))))
            expecting = True
        elif line.startswith("#|"):
            if not expecting:
                raise GoldenError(f"{where}: expected text stands under no command")
            golden.commands[-1].expected.append(line[3:])
        elif line.strip().startswith("#!"):
            expecting = False
        else:
            golden.source.append(re.sub(r"  #! .*", "", line))
            golden.lines.append((len(golden.source), golden.source[-1]))
            expecting = False
    _check_complete(golden)
    return golden


def _check_complete(golden: Golden) -> None:
    commands, name = golden.commands, golden.path.name
    if not commands:
        raise GoldenError(f"{name}: a golden file without a command")
    module = golden.module()
    public = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
    }
    if not public:
        raise GoldenError(f"{name}: a golden file without a function")
    for command in commands:
        if command.function not in public:
            raise GoldenError(f"{name}:{command.line}: there is no function {command.function}: {command.text}")
    unused = sorted(public - {c.function for c in commands})
    if unused:
        raise GoldenError(f"{name}: no command names {', '.join(unused)} (helpers begin with an underscore)")
    seen: dict[str, int] = {}
    for command in commands:
        if command.text in seen:
            raise GoldenError(f"{name}:{command.line}: the command of line {seen[command.text]} again")
        seen[command.text] = command.line
    if re.search(r"^\s*[^#\s].*  #! ", golden.text, re.M) and not any(c.verb in ("error", "run") for c in commands):
        raise GoldenError(f"{name}: an expected error without an error command")


def render(golden: Golden) -> str:
    """The file as the compiler prints it now."""
    notes: dict[int, list[str]] = {}
    printed: dict[int, list[str]] = {}
    for command in golden.commands:
        printed[command.line] = VERBS[command.verb](golden, command, notes)
    out: list[str] = []
    for number, item in golden.lines:
        if isinstance(item, Command):
            out.append(item.text)
            out.extend(f"#| {line}".rstrip() for line in printed[item.line])
            continue
        found = notes.get(number, [])
        out.append(f"{item}  #! {found[0]}" if found else item)
        indent = item[: len(item) - len(item.lstrip())]
        out.extend(f"{indent}#! {line}" for line in found[1:])
    return "\n".join(out) + "\n"


def lowered(golden: Golden, command: Command) -> Any:
    """The function of a command, lowered for its types."""
    return golden.function(command.function).lower(*map(str, command.types), **command.static)


def _dump(golden: Golden, command: Command, notes: dict[int, list[str]]) -> list[str]:
    from pytocu.ir.printer import print_function

    o = command.options
    low = lowered(golden, command)
    if o.emit == "ir":
        if o.all:
            lines = ["== lower", *low.ir("lower").splitlines()]
            for record in low.history(o.target, o.index_bits).records:
                if record.changed:
                    lines += [f"== {record.name}", *print_function(record.function).splitlines()]
            return lines
        if o.after == "lower":
            return low.ir("lower").splitlines()
        records = low.history(o.target, o.index_bits).records
        chosen = [r for r in records if r.name == o.after] if o.after else records[-1:]
        if not chosen:
            raise GoldenError(f"{golden.path.name}:{command.line}: there is no pass {o.after}")
        return print_function(chosen[0].function).splitlines()
    device = "nvvm" if o.emit == "nvvm" else "cuda_c"
    target, backend = ("cpu", "llvm") if o.emit in ("llvm", "asm") else (o.target, device)
    compiled = low.compile(target, backend, o.index_bits)
    return (compiled.assembly if o.emit == "asm" else compiled.source).splitlines()


def _show(golden: Golden, command: Command, notes: dict[int, list[str]]) -> list[str]:
    """What the command line prints."""
    from pytocu.cli.main import main

    o = command.options
    needs = o.command == "explain" or any(word in ("ptx", "resources") for word in command.words)
    if needs and "cpu" not in command.words and not _has_compilers():
        # It cannot be known here.
        return command.expected
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as made, redirect_stdout(out), redirect_stderr(err):
        folder = os.path.realpath(made)
        file = Path(folder) / golden.path.name
        file.write_text("\n".join(golden.source) + "\n")
        os.chdir(folder)
        try:
            code = main([o.command, f"{file.name}:{command.function}", "--args", o.args, *command.words])
        finally:
            os.chdir(before)
        text = (out.getvalue() + err.getvalue()).replace(f"{folder}{os.sep}", "")
    # A later file of this name is another one.
    linecache.checkcache()
    lines = [re.sub(o.hide, "...", line) if o.hide else line for line in text.splitlines() if re.search(o.lines, line)]
    return [*lines, f"[exit code {code}]"] if code else lines


@lru_cache(maxsize=1)
def _has_compilers() -> bool:
    from pytocu.backend import nvrtc, nvvm

    try:
        nvrtc.version()
        nvvm.version()
    except PytocuError:
        return False
    return True


def packed_instructions(source: str) -> tuple[str, ...]:
    """The packed arithmetic in the x86-64 code of LLVM IR, for one fixed CPU."""
    from pytocu.backend import cpu

    text = cpu.assembly(source, VECTOR_CPU)
    found = set(re.findall(r"^\s+(v\w+p[sd]|vp\w+)\s+.*%[xy]mm", text, re.M))
    moves = re.compile(r"vp?(mov|broadcast|perm|shuf|unpck|insert|extract|test|align|blend|gather|mask|ack|sra|srl|sll)|vcvt")
    return tuple(sorted(i for i in found if not moves.match(i)))


def _packed(golden: Golden, command: Command, notes: dict[int, list[str]]) -> list[str]:
    return [" ".join(packed_instructions(lowered(golden, command).compile("cpu").source))]


def _run(golden: Golden, command: Command, notes: dict[int, list[str]]) -> list[str]:
    """The types of the results, or what the call raises."""
    sizes = command.size_cases()[0]
    arguments = make_arguments(command.types, sizes, 1, command.options.values)
    try:
        result = golden.function(command.function)(*arguments, **command.static)
    except PytocuError as error:
        return _note(golden, error, notes)
    given = ", ".join(f"{k} = {v}" for k, v in sizes.items())
    return [f"{given}: {described(result)}" if given else described(result)]


def described(result: Any) -> str:
    """A result as a type: ``f32[7, 3]`` for an array, ``f32`` for a NumPy scalar, ``float`` for Python's."""
    match result:
        case tuple() | list():
            return f"({', '.join(map(described, result))})"
        case dict():
            return f"{{{', '.join(f'{k}: {described(v)}' for k, v in result.items())}}}"
        case np.ndarray(dtype=dtype, shape=shape):
            return f"{dtype}[{', '.join(map(str, shape))}]"
        case np.generic(dtype=dtype):
            return str(dtype)
        case _:
            return type(result).__name__


def _error(golden: Golden, command: Command, notes: dict[int, list[str]]) -> list[str]:
    try:
        lowered(golden, command).host(command.options.target)
    except PytocuError as error:
        return _note(golden, error, notes)
    raise GoldenError(f"{golden.path.name}:{command.line}: no error: {command.text}")


def _note(golden: Golden, error: PytocuError, notes: dict[int, list[str]]) -> list[str]:
    """Put the error on the line it points at; errors without a place are printed below the command."""
    message, *more = str(getattr(error, "message", error)).strip().splitlines()
    found = [f"{type(error).__name__}: {message}", *more]
    loc = error.loc if isinstance(error, CompileError) else None
    help = error.help if isinstance(error, CompileError) else None
    here = loc if loc is not None and loc.file == golden.module().__file__ else None
    if here is not None:
        if here.end_column > here.column:
            found.append(f"at: {golden.source[here.line - 1][here.column - 1 : here.end_column - 1]}")
        found.extend(f"called from {c.function}: {golden.source[c.line - 1].strip()}" for c in list(here.chain())[1:])
    if help:
        found.append(f"help: {help}")
    if here is None:
        return found
    notes.setdefault(here.line, []).extend(found)
    return []


VERBS: dict[str, Callable[[Golden, Command, dict[int, list[str]]], list[str]]] = {
    "dump": _dump,
    "error": _error,
    "packed": _packed,
    "run": _run,
    "show": _show,
}
"""What a golden command can do."""


def golden_files() -> list[Path]:
    """Every golden file."""
    return sorted(FOLDER.glob("*.py"))


def difference(golden: Golden, now: str) -> str:
    """A unified diff from the expected text to what is printed now, and how to accept it."""
    name = f"tests/golden/{golden.path.name}"
    lines = difflib.unified_diff(golden.text.splitlines(), now.splitlines(), f"{name} (expected)", f"{name} (now)", lineterm="")
    return "\n".join([*lines, "", f"to accept what is printed now: pytest --bless tests/test_golden.py -k {golden.path.stem}"])


__all__ = ["Command", "Golden", "difference", "golden_files", "lowered", "may_bless", "read", "render", "symbol_names"]

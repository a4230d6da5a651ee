"""The golden files: their text, and that every program in them computes what NumPy computes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_plugin import (
    Command,
    Golden,
    GoldenError,
    difference,
    golden_files,
    lowered,
    may_bless,
    packed_instructions,
    read,
    render,
)

from pytocu.errors import PytocuError
from pytocu.ir import interp
from pytocu.ir.interp import arrange
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.verifier import verify
from pytocu.passes.pipeline import PIPELINE
from pytocu.testing.arguments import make_arguments
from pytocu.testing.cases import close, compare_with_numpy, rows_of

FILES = golden_files()


@pytest.mark.every
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_text(path: Path, bless: bool) -> None:
    golden = read(path)
    now = render(golden)
    if now == golden.text:
        return
    if bless:
        path.write_text(now)
        return
    pytest.fail(difference(golden, now), pytrace=False)


def programs() -> list[Any]:
    """Every program of every golden file."""
    found = []
    for path in FILES:
        golden = read(path)
        found += [pytest.param(golden, c, id=f"{path.stem}-{c.function}-{c.options.args}") for c in golden.programs()]
    return found


def _expected(golden: Golden, command: Command, arguments: tuple[Any, ...]) -> Any:
    """What NumPy answers, or the exception it raises."""
    function = golden.function(command.function).__wrapped__
    try:
        with np.errstate(all="ignore"):
            return function(*arguments, **command.static)
    except Exception as error:
        return error


def _check(command: Command, rows: set[str], actual: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """Results, and the arguments behind the call."""
    for a, e in zip(actual, expected, strict=True):
        _check_one(command, rows, a, e)


def _check_one(command: Command, rows: set[str], actual: Any, expected: Any) -> None:
    if command.options.within:
        close(actual, expected, command.options.within)
    else:
        compare_with_numpy(rows, actual, expected)


@pytest.mark.parametrize(("golden", "command"), programs())
def test_runs_as_numpy(golden: Golden, command: Command) -> None:
    """Compiled for the CPU, and interpreted after every pass for both targets."""
    function = golden.function(command.function)
    for seed, sizes in enumerate(command.size_cases()):
        make = functools.partial(make_arguments, command.types, sizes, seed, command.options.values)
        # A call may change its arguments, so each gets its own, and they are compared behind it.
        arguments = make()
        expected = _expected(golden, command, arguments)
        if isinstance(expected, Exception):
            with pytest.raises(type(expected)) as caught:
                function(*make(), **command.static)
            assert isinstance(caught.value, PytocuError)
            assert str(caught.value).startswith(str(expected).strip())
            continue
        low = function.lower(*arguments, **command.static)
        rows = rows_of(low.function)
        given = make()
        _check(command, rows, (function(*given, **command.static), given), (expected, arguments))
        for target in ("cpu", "cuda"):
            # Odd lengths show every pass; the others only what comes out at the end.
            _interpret(command, low, target, make, (expected, arguments), rows, every=seed == 0)


def _interpret(
    command: Command, low: Any, target: str, make: Callable[[], tuple[Any, ...]], expected: Any, rows: set[str], every: bool
) -> None:
    established: list[str] = []
    seen, shown = "", None
    stages = [("lower", low.function, ())]
    records = low.history(target, check=False).records
    stages += [(r.name, r.function, p.establishes) for r, p in zip(records, PIPELINE, strict=True)]
    for name, function, establishes in stages:
        established += establishes
        if function is shown or not (every or name in ("lower", stages[-1][0])):
            continue
        shown = function
        text = print_function(function)
        if text == seen:
            continue
        seen = text
        parsed = parse_function(text)
        assert print_function(parsed) == text, f"after {name} the text does not read back"
        verify(parsed, established)
        tree = function.body.insts[-1].attr("tree")
        try:
            given = tuple(np.array(a, order="C") if isinstance(a, np.ndarray) and _order(p) == "C" else a
                          for a, p in zip(make(), low.function.params, strict=True))  # fmt: skip
            results = interp.run(parsed, given)
            _check(command, rows, (arrange(tree, results), given), expected)
        except (AssertionError, PytocuError) as error:
            raise AssertionError(f"after {name} for {target}: {error}\n{text}") from error


def _order(param: Any) -> str:
    return getattr(param.type, "layout", "")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_texts_read_back(path: Path) -> None:
    """Lowered from type texts, where lengths have the names the file gives them."""
    golden = read(path)
    for command in golden.programs():
        low = lowered(golden, command)
        for target, index_bits in (("cpu", 32), ("cuda", 64)):
            for record in low.history(target, index_bits).records:
                if record.changed:
                    text = print_function(record.function)
                    assert print_function(parse_function(text)) == text, record.name


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_builds_for_a_gpu_that_is_not_here(path: Path, backend: str) -> None:
    golden = read(path)
    for command in golden.programs():
        compiled = lowered(golden, command).compile("cuda:sm_90", backend)
        assert "#include" not in compiled.source
        if compiled.kernels:
            assert compiled.binary.startswith(b"\x7fELF")
            for kernel in compiled.kernels:
                assert kernel.name.encode() in compiled.binary


def test_packed_instructions_are_seen() -> None:
    """The check of packed instructions tells vector code from scalar code."""
    text = "define void @f(ptr %p) {{ %x = load {t}, ptr %p %y = {op} {t} %x, %x store {t} %y, ptr %p ret void }}"
    assert packed_instructions(text.replace(" %", "\n%").replace(" store", "\nstore").replace(" ret", "\nret").format(
        t="<8 x float>", op="fadd")) == ("vaddps",)  # fmt: skip


# The golden machinery: what must fail does.


GOOD = 'def scaled(x):\n    return 2 * x\n\n\n#$ dump scaled --args "f32[n]" --after lower\n'


def _write(folder: Path, text: str) -> Path:
    path = folder / "case.py"
    path.write_text(text)
    return path


def test_blessed_file_is_stable(tmp_path: Path) -> None:
    now = render(read(_write(tmp_path, GOOD)))
    assert "#| func @scaled(%x: f32[n]) {" in now
    assert render(read(_write(tmp_path, now))) == now


def test_changed_text_is_a_difference(tmp_path: Path) -> None:
    now = render(read(_write(tmp_path, GOOD)))
    golden = read(_write(tmp_path, now.replace("multiply", "divide")))
    text = difference(golden, render(golden))
    assert "-#|   %1 = divide" in text and "+#|   %1 = multiply" in text
    assert "pytest --bless" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def scaled(x):\n    return x\n#| func\n", "under no command"),
        ("def scaled(x):\n    return x\n", "without a command"),
        ('X = 1\n#$ dump scaled --args "f32[n]"\n', "without a function"),
        (GOOD + '#$ dump missing --args "f32[n]"\n', "no function missing"),
        (GOOD + "def other(x):\n    return x\n", "no command names other"),
        (GOOD + '#$ print scaled --args "f32[n]"\n', "invalid choice"),
        (GOOD + '#$ dump scaled --args "f31[n]"\n', "f31"),
        (GOOD + GOOD.splitlines()[-1] + "\n", "again"),
        (GOOD.replace("2 * x", "2 * x  #! UnsupportedError: no"), "without an error command"),
    ],
)
def test_orphans_fail(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GoldenError, match=message):
        read(_write(tmp_path, text))


def test_error_stands_on_its_line(tmp_path: Path) -> None:
    text = 'def wrong(x):\n    if x > 0:\n        return x\n    return -x\n\n\n#$ error wrong --args "f32[n]"\n'
    now = render(read(_write(tmp_path, text)))
    assert "    if x > 0:  #! UnsupportedError: the branch depends on the data of an array (bool[n])\n" in now
    assert render(read(_write(tmp_path, now))) == now
    moved = now.replace("    return -x\n", "    return -x  #! UnsupportedError: elsewhere\n")
    assert render(read(_write(tmp_path, moved))) != moved


def test_no_error_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GoldenError, match="no error"):
        render(read(_write(tmp_path, GOOD.replace("dump", "error").replace(" --after lower", ""))))


def test_ci_does_not_bless() -> None:
    assert may_bless(True, {})
    assert not may_bless(False, {"CI": "true"})
    with pytest.raises(pytest.UsageError, match="refused"):
        may_bless(True, {"CI": "true"})


def test_every_golden_is_python() -> None:
    assert len(FILES) >= 25
    assert all(p.suffix == ".py" for p in (FILES[0].parent).iterdir() if p.name != "__pycache__")
    assert sys.version_info >= (3, 11)

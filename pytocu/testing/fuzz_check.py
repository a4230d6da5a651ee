"""Whether a random program computes what NumPy computes, and the smallest program that does not.

NumPy runs the program line by line.  What an operation with a bound gives is measured against the
correctly rounded value, and then taken for what follows, so that everything else is compared bit
for bit however far it is from the input.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.ir import interp_rows, promote
from pytocu.ir.core import OPS
from pytocu.ir.types import dtype_of
from pytocu.testing.cases import FORMULAS, ORDER, exact_power, own_answer, reference, within_bound
from pytocu.testing.compare import compare
from pytocu.testing.complex_reference import bound_of, growth
from pytocu.testing.device_arrays import as_expected
from pytocu.testing.fuzz_layouts import LAID_OUT, compare_strides, strides_of
from pytocu.testing.fuzz_programs import (
    SHAPES,
    Argument,
    Program,
    Statement,
    changed_arguments,
    evaluate,
    execute,
    shows_nan,
    unused,
    value_of,
    with_results,
)
from pytocu.testing.limits import NoAnswer, within

_NUMPY_RAISES = "where NumPy has"
"""In what is said of a program that raises in NumPy."""

Run = Callable[..., Any]
"""``run(function, *arguments)`` compiles a function and runs it."""


class Verdict(NamedTuple):
    """``same``, ``differs``, ``refused``, ``error`` (the same in both) or ``invalid`` (no program)."""

    kind: str
    message: str = ""
    statement: Statement | None = None


def bounded(row: str, values: Sequence[Any], value: Any) -> bool:
    """Whether a result may be off by some units in the last place."""
    op = OPS[row]
    kind = getattr(value, "dtype", np.dtype(object)).kind
    return bool(bound_of(op, any(map(np.iscomplexobj, values)))) and kind in "fc"


def bounded_by(statement: Statement, values: Sequence[Any], value: Any) -> bool:
    """Whether a statement's value may be off."""
    if not statement.row or statement.row == "cast" or exact_power(statement.text, values):
        return False
    return bounded(statement.row, values, value)


def check(program: Program, arguments: Mapping[str, Argument], run: Run) -> Verdict:
    """Run a program both ways and compare.

    Parameters
    ----------
    arguments : mapping
        By name; each side gets memory of its own.
    run : callable
        The compiled side.
    """
    given = {name: arguments[name].placed() for name in program.parameters}
    env = {name: arguments[name].placed() for name in program.parameters}
    try:
        actual = run(program.function(), *given.values())
    except UnsupportedError as error:
        return Verdict("refused", str(error))
    except Exception as error:
        # What is no error of NumPy's is a difference too.
        return _refused_too(program, env, error)
    computed = dict(zip(program.results, actual, strict=True))
    for statement in program.statements:
        try:
            if not statement.name:
                _change(statement, env)
                continue
            values = [evaluate(o, env) for o in statement.operands] if statement.row else []
            if shows_nan(statement, env):
                return Verdict("invalid")
            value = value_of(statement, env)
        except Exception as error:
            # NumPy's answer, whatever it is, which the compiled function should have given.
            kind = "differs" if program.error else "invalid"
            return Verdict(kind, f"no error {_NUMPY_RAISES} {error!r}", statement)
        if bounded_by(statement, values, value) and statement.name not in computed:
            # What is computed of it could not be compared.
            return Verdict("invalid")
        try:
            if statement.defines:
                _called_alone(program, statement, env, run)
            if statement.name in computed:
                computed[statement.name] = as_expected(computed[statement.name], value)
            env[statement.name] = _settled(statement, values, value, computed.get(statement.name))
        except AssertionError as error:
            return Verdict("differs", str(error), statement)
    for name, found in computed.items():
        try:
            compare(as_expected(found, env[name]), env[name])
        except AssertionError as error:
            return Verdict("differs", str(error), next((s for s in program.statements if s.name == name), None))
    if run in LAID_OUT:
        for name, strides in strides_of(program, arguments).items():
            try:
                compare_strides(computed[name], strides)
            except AssertionError as error:
                return Verdict("differs", str(error), next((s for s in program.statements if s.name == name), None))
    for name in changed_arguments(program.statements):
        try:
            compare(given[name], env[name])
        except AssertionError as error:
            return Verdict("differs", f"{name} holds other values: {error}")
    return Verdict("same")


def _called_alone(program: Program, statement: Statement, env: Mapping[str, Any], run: Run) -> None:
    """Compare a function of scalars that is called outside of compiled functions."""
    name = f"each_{statement.name}"
    # In a program that was made smaller the lines may not read all operands.
    read = [o for k, o in enumerate(statement.operands) if f"{{{k}}}" in statement.text] or ["1"]
    operands = [evaluate(o, env) for o in (*read, read[0])[:2]]
    call = replace(statement, text=f"{statement.name} = {name}(one, other)", operands=())
    expected = value_of(call, dict(zip(("one", "other"), operands, strict=True)))
    compare(as_expected(run(program.function().__globals__[name], *operands), expected), expected)


def _refused_too(program: Program, env: dict[str, Any], error: Exception) -> Verdict:
    for statement in program.statements:
        try:
            if statement.name:
                env[statement.name] = value_of(statement, env)
            else:
                execute(statement.code, env)
        except Exception as expected:
            # Likewise.
            kinds = (TypeError, OverflowError, ZeroDivisionError, ValueError, AttributeError, IndexError, NameError, KeyError,
                     AssertionError, ArithmeticError)
            wanted = next((k for k in kinds if isinstance(expected, k)), Exception)
            if isinstance(error, wanted) and _sentence(error) == _sentence(expected):
                return Verdict("error")
            return Verdict("differs", f"{type(error).__name__} {_NUMPY_RAISES} {expected!r}: {error}", statement)
    return Verdict("differs", f"{type(error).__name__}: {error}")


def _sentence(error: Exception) -> str:
    """What an exception says; the line and the help come behind it.

    Of an axis without elements the host says so, before a position is known.
    """
    said = str(error).partition("\n")[0]
    return re.sub(r"^index -?\d+ is (out of bounds for axis \d+ with size 0)$", r"index 0 is \1", said)


def _change(statement: Statement, env: dict[str, Any]) -> None:
    """Change an array as NumPy does, with the row's formula where NumPy's bits depend on the layout."""
    if not statement.text.startswith("np.maximum("):
        execute(statement.code, env)
        return
    array, *_ = values = [evaluate(o, env) for o in statement.operands[:2]]
    with np.errstate(all="ignore"):
        np.copyto(array, interp_rows.evaluate(OPS["maximum"], values), where=array == array)


def _settled(statement: Statement, values: list[Any], value: Any, actual: Any) -> Any:
    """The value that what follows is computed of."""
    if not statement.row:
        return value
    op = OPS[statement.row]
    if statement.row == "cast":
        if isinstance(value, np.ndarray) and np.shares_memory(value, values[0]):
            # Of the same dtype: what is changed later changes in it, too.
            return value
        dtype = dtype_of(value.dtype)
        assert dtype is not None
        exact = interp_rows.cast(values[0], dtype)
        return np.asarray(exact) if isinstance(value, np.ndarray) else np.asarray(exact)[()]
    if bounded_by(statement, values, value):
        of_complex = any(map(np.iscomplexobj, values))
        if not isinstance(actual, (np.ndarray, np.generic)):
            compare(actual, value)
        # Zeros of both: only the kind of object, the dtype and the shape are compared.
        nothing: list[Any] = [np.zeros_like(v) if isinstance(v, np.ndarray) else type(v)(0) for v in (actual, value)]
        compare(nothing[0], nothing[1])
        grown = growth(op, values) if of_complex else 1.0
        exact = reference(op, values, value.dtype, value, statement.text)
        within_bound(op, actual, exact, of_complex, grown, own_answer(op, of_complex, value))
        return actual
    if statement.row not in FORMULAS or op.name == "power":
        return value
    if op.name == "reciprocal" and value.dtype.kind in "iu":
        return interp_rows.settled(op, values, value)
    if op.name in ORDER:
        with np.errstate(all="ignore"):
            arrays = [np.asarray(v) if isinstance(v, np.generic) else v for v in values]
            made = np.asarray(promote.numpy_function(op.numpy)(*arrays))
        return made if isinstance(value, np.ndarray) else made[()]
    # np.clip makes an array of its first operand, a Python scalar too; the row is the ufunc behind it.
    given = [np.asarray(values[0]), *values[1:]] if op.name == "clip" else values
    with np.errstate(all="ignore"):
        made = interp_rows.evaluate(op, given) if op.name != "reciprocal" else value
    return np.asarray(made) if isinstance(value, np.ndarray) else np.asarray(made)[()]


# Making a failure small.


_PATIENCE = 30.0
"""Seconds that a smaller program is given: more than any of the generator takes."""


def shrink(program: Program, arguments: Mapping[str, Argument], run: Run) -> tuple[Program, dict[str, Argument], Verdict]:
    """The smallest program and arguments found that still differ.

    Returns
    -------
    Program, dict of Argument, Verdict
    """
    best, known = program, dict(arguments)
    verdict = check(best, known, run)
    steps = 0
    improved = True
    while improved and steps < 400:
        improved = False
        for smaller, given in (*_smaller_programs(best, known), *_smaller_arguments(best, known)):
            steps += 1
            try:
                found = within(_PATIENCE, functools.partial(check, smaller, given, run))
            except NoAnswer:
                # The line that ended a loop is gone.
                found = Verdict("invalid")
            if found.kind == "differs" and _error_of(found) == _error_of(verdict):
                best, known, verdict, improved = smaller, given, found, True
                break
            if steps >= 400:
                break
    return best, {name: known[name] for name in best.parameters}, verdict


def _error_of(verdict: Verdict) -> tuple[str, str]:
    """The classes of errors that are the difference, of the compiled side and of NumPy: others are another failure."""
    said = verdict.message.partition(":")[0].partition(" ")[0]
    theirs = verdict.message.partition(f"{_NUMPY_RAISES} ")[2].partition("(")[0]
    return said if said.endswith("Error") else "", theirs


def _smaller_programs(program: Program, known: Mapping[str, Argument]) -> Iterator[tuple[Program, dict[str, Argument]]]:
    given = dict(known)
    if (read := _without_unread(program)) != program:
        yield read, given
    for result in program.results:
        fewer = with_results(program, [r for r in program.results if r != result])
        if fewer.results:
            yield _without_unread(fewer), given
    for number in reversed(range(len(program.statements))):
        statement = program.statements[number]
        others = program.statements[:number] + program.statements[number + 1 :]
        if not statement.name:
            yield replace(program, statements=others), given
            continue
        # An operand, or an argument of the same dtype, in place of the value.
        for operand in dict.fromkeys(statement.operands):
            if operand.isidentifier() and operand != "True":
                renamed = tuple(_renamed(s, statement.name, operand) for s in others)
                results = [operand if r == statement.name else r for r in program.results if r != statement.name]
                yield replace(program, statements=renamed, results=tuple(dict.fromkeys(results)) or (operand,)), given
        smaller = [replace(statement, text=text) for text in _fewer_lines(statement.text)]
        head, _, body = statement.defines.partition(":\n")
        smaller += [replace(statement, defines=f"{head}:\n{text}") for text in _fewer_lines(body) if "return" in text]
        for made in smaller:
            if re.search(r"^return\b", made.text, re.MULTILINE):
                # Without the line of its function it would return from the program.
                continue
            kept = (*program.statements[:number], made, *program.statements[number + 1 :])
            yield _without_unread(replace(program, statements=kept)), given
    if program.inline:
        yield replace(program, inline=False), given


def _fewer_lines(text: str) -> Iterator[str]:
    """Without a line and what is indented below it, or with that in the line's place; loops keep what ends them."""
    lines = text.splitlines()
    asked = {name for line in lines if line.lstrip().startswith("while ") for name in re.findall(r"\w+", line)} - {"while"}
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for number in reversed(range(len(lines)) if len(lines) > 1 else ()):
        end = next((n for n in range(number + 1, len(lines)) if depths[n] <= depths[number]), len(lines))
        body = lines[number + 1 : end]
        if lines[number].split()[:1] and lines[number].split()[0] in asked:
            continue
        yield "\n".join([*lines[:number], *lines[end:]])
        if body:
            yield "\n".join([*lines[:number], *(line[4:] for line in body), *lines[end:]])


def _renamed(statement: Statement, name: str, other: str) -> Statement:
    return replace(statement, operands=tuple(other if o == name else o for o in statement.operands))


def _without_unread(program: Program) -> Program:
    """Without values that nothing reads and that are not returned."""
    while True:
        idle = set(unused(program.statements)) - set(program.results)
        changed = {s.operands[0] for s in program.statements if not s.name}
        if not idle - changed:
            return program
        kept = tuple(s for s in program.statements if s.name not in idle - changed)
        program = replace(program, statements=kept)


def _smaller_arguments(program: Program, known: Mapping[str, Argument]) -> Iterator[tuple[Program, dict[str, Argument]]]:
    for name in program.parameters:
        value = known[name]
        if value.layout != "{}":
            yield program, {**known, name: Argument(value.value)}
    for rows, columns in _halves(program, known):
        yield program, {name: _cut(name, known[name], rows, columns) for name in known}
    for name in program.parameters:
        value = known[name].value
        if isinstance(value, np.ndarray) and value.size and (value != 1).any():
            yield program, {**known, name: Argument(np.ones_like(value), known[name].layout)}


def _halves(program: Program, known: Mapping[str, Argument]) -> Iterator[tuple[slice, slice]]:
    """Either half of each axis that the arguments have in common."""
    whole = slice(None)
    lengths: dict[str, int] = {}
    for name in program.parameters:
        shape = SHAPES.get(name.rpartition("_")[0], ())
        for text, length in zip(shape, np.shape(known[name].value), strict=True):
            if text[0] in "nm":
                lengths[text[0]] = length - 2 * (len(text) > 1)
    for axis, length in lengths.items():
        for half in (slice(0, length // 2), slice(length // 2, length)) if length > 1 else ():
            yield (half, whole) if axis == "n" else (whole, half)


def _cut(name: str, argument: Argument, rows: slice, columns: slice) -> Argument:
    """The part of an array argument that holds some rows and columns of its views."""
    value = argument.value
    if not isinstance(value, np.ndarray):
        return argument
    parts: list[slice] = []
    for text in SHAPES.get(name.rpartition("_")[0], ()):
        chosen = {"n": rows, "m": columns}.get(text[0], slice(None))
        end = chosen.stop
        parts.append(chosen if end is None or len(text) == 1 else slice(chosen.start, end + 2))
    return Argument(value[tuple(parts)].copy(), argument.layout)


def as_test(program: Program, arguments: Mapping[str, Argument], verdict: Verdict) -> str:
    """A pytest of the program, to be pasted into a file."""
    statement = verdict.statement
    op = OPS.get(statement.row) if statement is not None else None
    ulp = max(op.ulp, op.complex_ulp) if op is not None else 0.0
    tolerance = f", exact=False, ulp={ulp:g}" if ulp else ""
    changed = changed_arguments(program.statements)
    imports = ["import copy", "import math"] if changed else ["import math"]
    raises = _NUMPY_RAISES in verdict.message
    scalars = ["from pytocu.testing.fuzz_scalars import in_numpy"] if program.scalar_functions else []
    others = ["import pytest"] if raises else []
    if "Tally(" in program.source:
        imports.insert(0, "import dataclasses")
    lines = [*imports, "", "import numpy as np", *others, "", "import pytocu", "from pytocu.testing.compare import compare",
             *scalars, "", "", *program.definitions, *program.lines("program"), "", "", "def test_program():",
             "    arguments = ("]  # fmt: skip
    lines += [f"        {_spelled(arguments[name])},  # {name}" for name in program.parameters]
    lines += ["    )"]
    if changed:
        lines += ["    given = copy.deepcopy(arguments)"]
    plain = "in_numpy(program)" if scalars else "program"
    called = f"pytocu.jit(program)(*{'given' if changed else 'arguments'})"
    if raises:
        lines += ['    with np.errstate(all="ignore"), pytest.raises(Exception) as expected:', f"        {plain}(*arguments)",
                  "    with pytest.raises(expected.type) as found:", f"        {called}",
                  '    assert str(found.value).partition("\\n")[0] == str(expected.value)']  # fmt: skip
    else:
        lines += ['    with np.errstate(all="ignore"):', f"        expected = {plain}(*arguments)",
                  f"    compare({called}, expected{tolerance})"]  # fmt: skip
    if changed and not raises:
        lines += ["    compare(given, arguments)"]
    said = verdict.message.strip().splitlines()
    return "\n".join([*lines, *(f"    # {line}" for line in said[:6]), ""])


def _spelled(argument: Argument) -> str:
    value = argument.value
    if not isinstance(value, (np.ndarray, np.generic)):
        return _number(value)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({_number(value.item())})".replace("np.bool(", "np.bool_(")
    return argument.layout.format(f"np.array({_listed(value.tolist())}, np.{value.dtype.name}).reshape({value.shape})")


def _listed(values: Any) -> str:
    return f"[{', '.join(map(_listed, values))}]" if isinstance(values, list) else _number(values)


def _number(value: Any) -> str:
    match value:
        case float() if math.isnan(value):
            return "np.nan" if math.copysign(1, value) > 0 else "-np.nan"
        case float() if math.isinf(value):
            return "np.inf" if value > 0 else "-np.inf"
        case complex():
            return f"complex({_number(value.real)}, {_number(value.imag)})"
        case _:
            return repr(value)


__all__ = ["Run", "Verdict", "as_test", "bounded", "check", "shrink"]

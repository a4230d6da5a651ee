"""A small test of what ``pytocu bisect`` found: the program as text, the arguments, and the step that goes wrong."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.config import Options
from pytocu.driver import Lowered
from pytocu.explain.inputs import put_in, texts_of
from pytocu.explain.memories import part_of, shared_memories
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.jitted import JitFunction, jit
from pytocu.passes.context import PassContext, parse_target
from pytocu.passes.pipeline import run_pipeline
from pytocu.testing.bisect import (
    INEXACT_PASSES,
    LIMIT,
    Answer,
    Finding,
    as_called,
    bisect,
    built,
    differing,
    fitting,
    imprecision,
    interpreted,
    most_steps,
    numpy_answer,
    on_gpu,
)
from pytocu.tree_text import names_in

_EPS = float(np.finfo(np.float64).eps)

_INLINE = 64
"""Elements up to which an array is written as its numbers."""


def check_pass(
    text: str, name: str, arguments: Sequence[Any], target: str, sizes: Mapping[str, int], fastmath: tuple[str, ...] = ()
) -> None:
    """Assert that a pass keeps what a function computes.

    Parameters
    ----------
    text : str
        IR as it stands before the pass.
    name : str
        As ``pytocu passes`` lists it.
    target : str
        ``cpu`` or ``cuda:sm_90``.
    sizes : mapping
        Lengths that choose size classes.

    Examples
    --------
    >>> check_pass('''func @double(%x: f32[n]) {
    ...   %y = add %x, %x : f32[n]
    ...   return %y {tree = 0}
    ... }''', "cse", [np.float32([1, 2])], "cpu", {})
    """
    before = parse_function(text)
    context = PassContext(parse_target(target), fastmath, before.fact("index_bits", 32), sizes)
    after = run_pipeline(before, context, check=True, start=name, stop=name)
    loose = (imprecision(before) or bool(fastmath) * _EPS) if name in INEXACT_PASSES else 0.0
    expected = interpreted(before, arguments)
    _same(interpreted(after, arguments, None, most_steps(expected)), expected, loose)


def check_backend(
    text: str, backend: str, arguments: Sequence[Any], sizes: Mapping[str, int], fastmath: tuple[str, ...] = ()
) -> None:
    """Assert that the CPU's code computes what the IR says.

    Parameters
    ----------
    text : str
        IR as the front end made it.
    """
    function = parse_function(text)
    lowered = Lowered(function, (), Options(backend, fastmath), sizes=dict(sizes))
    loose = imprecision(function) or bool(fastmath) * _EPS
    _same(built(fitting(lowered, arguments, "cpu", backend), arguments, LIMIT), interpreted(function, arguments), loose)


def check_on_gpu(function: JitFunction[..., Any], values: Mapping[str, Any], backend: str) -> None:
    """Assert that a call on the GPU gives what NumPy gives."""
    given = as_called(function, values)
    loose = imprecision(function.lower(*given.args, **given.kwargs).function)
    _same(on_gpu(function, values, backend, LIMIT), numpy_answer(function, values), loose)


def check_function(function: JitFunction[..., Any], values: Mapping[str, Any]) -> None:
    """Assert that every step from the source to the CPU's code gives what NumPy gives."""
    found = bisect(function, values, ("cpu",), limit=LIMIT)
    assert found is None, f"{found.name}: {found.difference.message}"


def _same(found: Answer, expected: Answer, loose: float) -> None:
    wrong = differing(found, expected, loose)
    assert wrong is None, wrong.message


def function_of(file: str, name: str, **options: Any) -> JitFunction[..., Any]:
    """A function of a Python file, jitted."""
    module_name = "_pytocu_reproduced_" + re.sub(r"\W", "_", file)
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None and spec.loader is not None, file
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, JitFunction) and found.__pytocu_elements__ is not None:
        return found._with(options.pop("static", ()), options.pop("fastmath", None))
    return jit(found.__wrapped__ if isinstance(found, JitFunction) else found, **options)


def put_together(function: JitFunction[..., Any], texts: Mapping[str, str], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that hold others, of their parts; the texts say how, as :mod:`pytocu.tree_text` has it."""
    return put_in(texts, parts, names_in(function._function))


def test_text(
    finding: Finding,
    function: JitFunction[..., Any],
    place: tuple[str, str],
    values: Mapping[str, Any],
    sizes: Mapping[str, int],
) -> str:
    """A test that fails as long as the step is wrong.

    Parameters
    ----------
    place : tuple of str
        The Python file and the function's name in it.
    values : mapping
        Arguments by name.
    """
    gives = "does not end" if finding.difference.endless else "gives another answer"
    head = f'"""{place[1]}: {_step(finding)} {gives}.  Written by pytocu bisect.\n\n{_shown(finding)}"""\n\n'
    fastmath = f", {function._options.fastmath!r}" if function._options.fastmath else ""
    name = re.sub(r"\W", "_", f"{place[1]}_{finding.name}")
    with_text = finding.before is not None and (finding.kind == "pass" or finding.target == "cpu")
    if with_text:
        assert finding.before is not None
        check = "check_pass" if finding.kind == "pass" else "check_backend"
        shared, given = _written(dict(enumerate(finding.arguments)))
        needed = f"{check}, part_of" if shared else check
        lines = ["import numpy as np", "", f"from pytocu.testing.reproducer import {needed}", ""]
        lines += [f'PROGRAM = """\\\n{print_function(finding.before)}\n"""', *shared]
        lines += ["ARGUMENTS = [", *(f"    {text}," for text in given.values()), "]", ""]
        target = f", {finding.target!r}" if finding.kind == "pass" else ""
        body = f'{check}(PROGRAM, "{finding.name}", ARGUMENTS{target}, {dict(sizes)!r}{fastmath})'
    else:
        check = "check_on_gpu" if finding.kind == "backend" else "check_function"
        texts, parts, _ = texts_of(values, function._function)
        shared, given = _written(parts)
        needed = ", ".join((check, "function_of", *["part_of"][: len(shared)], *["put_together"][: len(texts)]))
        lines = ["import numpy as np", "", f"from pytocu.testing.reproducer import {needed}", ""]
        static = f", static={tuple(sorted(function._static))!r}" if function._static else ""
        flags = f", fastmath={function._options.fastmath!r}" if function._options.fastmath else ""
        lines += [f"FUNCTION = function_of({place[0]!r}, {place[1]!r}{static}{flags})"]
        lines += [*shared, "VALUES = {", *(f"    {key!r}: {text}," for key, text in given.items()), "}"]
        lines += [f"VALUES = put_together(FUNCTION, {texts!r}, VALUES)"] if texts else []
        lines += [""]
        backend = f', "{finding.name}"' if finding.kind == "backend" else ""
        body = f"{check}(FUNCTION, VALUES{backend})"
    return head + "\n".join((*lines, "", f"def test_{name}():", f"    {body}", ""))


test_text.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def _step(finding: Finding) -> str:
    return "the front end" if finding.kind == "front end" else f"the {finding.kind} {finding.name} ({finding.target})"


def _shown(finding: Finding) -> str:
    lines = [finding.difference.message]
    if finding.instruction:
        lines.append(f"First wrong at: {finding.instruction}")
    return "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''") + "\n"


def _written(values: Mapping[Any, Any]) -> tuple[list[str], dict[Any, str]]:
    """Lines that make the memories in which several arguments lie, and the arguments as source."""
    texts = {name: literal(value) for name, value in values.items()}
    lines: list[str] = []
    for number, one in enumerate(shared_memories({n: v for n, v in values.items() if isinstance(v, np.ndarray)})):
        lines.append(f"MEMORY{number or ''} = {literal(one.memory)}")
        texts |= {name: f"part_of(MEMORY{number or ''}, {', '.join(map(repr, view))})" for name, view in one.views.items()}
    return lines, texts


def literal(value: Any) -> str:
    """An argument as Python source that gives the same bits, dtype and order in memory.

    Examples
    --------
    >>> literal(np.float32([1, np.nan])), literal(np.int8(3)), literal(0.5)
    ('np.array([1.0, np.nan], np.float32)', 'np.int8(3)', '0.5')
    """
    match value:
        case np.ndarray():
            return _array(value)
        case np.generic():
            return f"np.{value.dtype.name}({_number(value.item())})"
        case float() | complex():
            return _number(value)
        case _:
            return repr(value)


def _array(value: np.ndarray) -> str:
    flat = np.ascontiguousarray(value)
    dtype = f"np.{value.dtype.name}" if value.dtype.kind != "b" else "np.bool_"
    text = f"np.array({_nested(flat)}, {dtype})"
    if value.size > _INLINE or not _same_bytes(text, flat):
        text = f"np.frombuffer(bytes.fromhex({flat.tobytes().hex()!r}), {dtype}).reshape({value.shape}).copy()"
    elif 0 in value.shape:
        text = f"np.empty({value.shape}, {dtype})"
    if value.flags.c_contiguous:
        return text
    if value.flags.f_contiguous:
        return f"np.asfortranarray({text})"
    return f"strided({text})" if value.ndim else text


def _same_bytes(text: str, flat: np.ndarray) -> bool:
    return eval(text, {"np": np}).tobytes() == flat.tobytes()


def _nested(array: np.ndarray) -> str:
    if not array.ndim:
        return _number(array.item())
    return f"[{', '.join(_nested(part) for part in array)}]"


def _number(value: Any) -> str:
    match value:
        case complex():
            return f"complex({_number(value.real)}, {_number(value.imag)})"
        case float() if value != value:
            return "-np.nan" if np.signbit(value) else "np.nan"
        case float() if value in (np.inf, -np.inf):
            return "np.inf" if value > 0 else "-np.inf"
        case _:
            return repr(value)


def strided(array: np.ndarray) -> np.ndarray:
    """The same elements, every second one of a larger array."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    view = wide[..., ::2]
    view[...] = array
    return view


__all__ = [
    "check_backend", "check_function", "check_on_gpu", "check_pass", "function_of", "literal", "part_of", "put_together",
    "strided", "test_text",
]  # fmt: skip

"""Tables of small functions on small arguments: what NumPy answers, pytocu answers, and what NumPy refuses, it refuses.

A row is the text of an expression, or of statements with a ``return``, in the names ``a``, ``b``, ``c`` and so on of
the arguments.  Arguments are texts too, since a function may change them: each side has its own.
"""

from __future__ import annotations

import itertools
import linecache
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from mask_tools import without_suggestion

from pytocu.errors import PytocuError, UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.compare import compare

SCOPE = {"np": np, "inf": np.inf, "nan": np.nan}

_COUNTER = itertools.count()


def written(parameters: Sequence[str], body: str, scope: dict[str, Any]) -> Any:
    """A function as a user would write it; its source is where Python's tools look for it."""
    body = textwrap.dedent(body).strip("\n")
    lines = [f"def case({', '.join(parameters)}):\n"]
    lines += [f"    {line}\n" for line in (body if "return" in body else f"return {body}").splitlines()]
    name = f"<edge case {next(_COUNTER)}>"
    linecache.cache[name] = (0, None, lines, name)
    own = dict(scope)
    exec(compile("".join(lines), name, "exec"), own)
    return own["case"]


def _run(call: Callable[..., Any], arguments: Sequence[str], scope: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What a call gives, or its exception, and the arguments behind it."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [eval(text, dict(scope)) for text in arguments]
        try:
            return call(*given), given
        except (PytocuError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
            return error, given


def _same_memory(result: Any, given: Sequence[Any]) -> list[str]:
    """For each result and each argument that is an array: the same object, a view of it, or neither."""
    said = []
    results = result if isinstance(result, tuple) else (result,)
    for one, other in itertools.product(results, (g for g in given if isinstance(g, np.ndarray))):
        view = isinstance(one, np.ndarray) and one.size and np.shares_memory(one, other)
        said.append("the argument" if one is other else "a view" if view else "")
    return said


def _agree(found: tuple[Any, list[Any]], expected: tuple[Any, list[Any]], ulp: float) -> None:
    """Results, or exceptions, and what became of the arguments.

    Raises
    ------
    AssertionError
    """
    (actual, changed), (wanted, wanted_changed) = found, expected
    if isinstance(wanted, Exception):
        kind = next(k for k in type(wanted).__mro__ if k.__module__ == "builtins")
        assert isinstance(actual, kind), f"NumPy raises {wanted!r}, got {actual!r}"
        assert not isinstance(actual, UnsupportedError), f"NumPy raises {wanted!r}, got {actual!r}"
        first = without_suggestion(str(wanted).split("\n")[0])
        assert str(actual).startswith(first), f"NumPy says {first!r}, got {str(actual)!r}"
        return
    if isinstance(actual, Exception):
        raise AssertionError(f"NumPy gives {wanted!r}, got {actual!r}")
    compare(actual, wanted, exact=not ulp, ulp=ulp)
    for one, other in zip(changed, wanted_changed, strict=True):
        if isinstance(other, np.ndarray):
            compare(one, other, exact=not ulp, ulp=ulp)
    assert _same_memory(actual, changed) == _same_memory(wanted, wanted_changed), "another memory than NumPy's"


def check(
    arguments: Sequence[str],
    bodies: Sequence[str],
    ulp: float = 0,
    scope: dict[str, Any] | None = None,
    call: Callable[..., Any] = call_jit,
) -> None:
    """Compare every row of a table with NumPy.

    Expressions that have an answer are compiled as one function first.  Rows that are statements, that NumPy
    refuses, or that are not the same there, are run one by one.
    """
    scope = {**SCOPE, **(scope or {})}
    parameters = "abcdefgh"[: len(arguments)]
    functions = {body: written(parameters, body, scope) for body in bodies}
    expected = {body: _run(function, arguments, scope) for body, function in functions.items()}
    untouched = _run(lambda *given: None, arguments, scope)[1]

    def plain(body: str) -> bool:
        result, given = expected[body]
        same = all(not isinstance(g, np.ndarray) or g.tobytes() == u.tobytes() for g, u in zip(given, untouched, strict=True))
        return "return" not in body and not isinstance(result, Exception) and same

    together = [body for body in bodies if plain(body)]
    alone = list(bodies)
    if len(together) > 1:
        function = written(parameters, f"return ({', '.join(together)},)", scope)
        results, given = _run(lambda *values: call(function, *values), arguments, scope)
        if not isinstance(results, Exception):
            for body, result in zip(together, results, strict=True):
                try:
                    _agree((result, given), expected[body], ulp)
                except AssertionError:
                    continue
                alone.remove(body)
    failures = []
    for body in alone:
        try:
            _agree(_run(lambda *values, body=body: call(functions[body], *values), arguments, scope), expected[body], ulp)
        except AssertionError as error:
            failures.append(f"{body} of {', '.join(arguments)}: {error}")
    assert not failures, "\n".join(failures)


def refused(
    arguments: Sequence[str],
    body: str,
    said: str,
    help: str,
    scope: dict[str, Any] | None = None,
    error: type[Exception] = UnsupportedError,
) -> None:
    """A row that NumPy answers and pytocu refuses: the sentence, the line, and what to write instead."""
    scope = {**SCOPE, **(scope or {})}
    function = written("abcdefgh"[: len(arguments)], body, scope)
    result, _ = _run(function, arguments, scope)
    assert not isinstance(result, Exception), f"NumPy refuses {body} too: {result!r}"
    with pytest.raises(error) as found:
        call_jit(function, *(eval(text, dict(scope)) for text in arguments))
    assert said in str(found.value) and help in str(found.value), str(found.value)
    assert ", in case" in str(found.value)

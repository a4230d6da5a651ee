"""Functions of scalars in random programs: branches and loops on the elements of two arrays.

The plain function, called for each element with NumPy scalars, says what is right; see ``docs/scalar-functions.md``.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

VALUES: dict[str, tuple[str, ...]] = {
    "f": ("{p} + {q}", "{p} - {q}", "{p} * {q}", "{p} / 2", "-{p}", "abs({p})", "({p} if {c} else {q})", "{p} * 0.5 + {q}",
          "max({p}, {q})", "np.floor({p})", "{p} + k", "np.sqrt(abs({p}))"),
    "i": ("{p} + {q}", "{p} - {q}", "{p} * 3 + {q}", "{p} ^ {q}", "{p} // 3", "{p} % 7", "({p} if {c} else {q})", "abs({p})",
          "{p} & {q}", "~{p}", "np.maximum({p}, {q})"),
    "u": ("{p} + {q}", "{p} * 3 + {q}", "{p} ^ {q}", "{p} // 3", "{p} % 7", "({p} if {c} else {q})", "{p} | {q}", "{p} >> 1"),
    "c": ("{p} + {q}", "{p} - {q}", "({p} if {c} else {q})", "{p}.conjugate()", "-{p}"),
    "b": ("{p} ^ {q}", "{p} | {q}", "{p} & {q}", "({p} if {c} else {q})", "~{p}"),
}  # fmt: skip
"""A number of two, of one dtype, by its kind."""

TESTS: dict[str, tuple[str, ...]] = {
    "f": ("{p} > {q}", "{p} < 1", "{p} == {p}", "{p} * {p} < 4", "0 < {p} < 8", "{p} > 0 and {q} > 0", "not {p}"),
    "i": ("{p} > {q}", "{p} % 2 == 0", "{p} != 3", "0 < {p} <= 50", "{p} > 0 or {q} > 0", "not {p}", "{p} & 4"),
    "u": ("{p} > {q}", "{p} % 2 == 1", "{p} != 3", "{p} > 5 and {q} < 9", "{p}"),
    "c": ("{p} == {q}", "{p}.real > 0", "{p} != 0 and {q}.imag <= 1"),
    "b": ("{p}", "{p} == {q}", "{p} and not {q}"),
}
"""A condition on two of them."""


def random_scalar_function(pick: random.Random, kind: str, name: str) -> str:
    """The text of a function of two scalars of one dtype, of some kind, that ends for any numbers.

    Examples
    --------
    >>> text = random_scalar_function(random.Random(0), "f", "each")
    >>> text.startswith("@pytocu.vectorize\\ndef each(a, b):")
    True
    """
    lines = _lines(pick, kind, 2, "    ")
    return "\n".join(["@pytocu.vectorize", f"def {name}(a, b):", "    k = 0", *lines, f"    return {_value(pick, kind)}"])


def _filled(pick: random.Random, text: str, kind: str) -> str:
    while "{c}" in text:
        text = text.replace("{c}", _filled(pick, pick.choice(TESTS[kind]), kind), 1)
    first = pick.choice("ab")
    return text.replace("{p}", first).replace("{q}", pick.choice("ab" if first == "b" else "bba"))


def _value(pick: random.Random, kind: str) -> str:
    return _filled(pick, pick.choice(VALUES[kind]), kind)


def _test(pick: random.Random, kind: str) -> str:
    return _filled(pick, pick.choice(TESTS[kind]), kind)


def _lines(pick: random.Random, kind: str, depth: int, indent: str, loop: bool = False) -> list[str]:
    """Statements; a loop has a counter of its own at each depth."""
    lines: list[str] = []
    counter = f"n{depth}"

    def inner(loop: bool = loop) -> list[str]:
        return _lines(pick, kind, depth - 1, f"{indent}    ", loop)

    for _ in range(pick.choice((1, 2, 2, 3))):
        match pick.choice(("set", "set", "set", "swap", "count", *(("if", "else", "for", "while", "return") if depth else ()),
                           *(("leave",) if loop else ()))):  # fmt: skip
            case "set":
                lines.append(f"{indent}{pick.choice('ab')} = {_value(pick, kind)}")
            case "swap":
                lines.append(f"{indent}a, b = b, {_value(pick, kind)}")
            case "count":
                lines.append(f"{indent}k += {pick.choice(('1', '2', 'k + 1'))}")
            case "if":
                lines += [f"{indent}if {_test(pick, kind)}:", *inner()]
            case "else":
                lines += [f"{indent}if {_test(pick, kind)}:", *inner(), f"{indent}elif k > 2:", *inner()]
                lines += [f"{indent}else:", *inner()]
            case "for":
                steps = pick.choice(("3", "2", "1, 6, 2", "k % 3", "3, 0, -1"))
                lines += [f"{indent}for {counter} in range({steps}):", *inner(True)]
            case "while":
                test = f"{counter} < {pick.choice(('3', '5'))} and ({_test(pick, kind)})"
                lines += [f"{indent}{counter} = 0", f"{indent}while {test}:", f"{indent}    {counter} += 1", *inner(True)]
            case "return":
                lines += [f"{indent}if {_test(pick, kind)}:", f"{indent}    return {_value(pick, kind)}"]
            case "leave":
                lines += [f"{indent}if {_test(pick, kind)}:", f"{indent}    {pick.choice(('break', 'continue'))}"]
    return lines


def for_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """The plain function called for each element, in NumPy's place of ``pytocu.vectorize``.

    Raises
    ------
    ValueError
        There are no elements, so nothing says what the dtype is.

    Examples
    --------
    >>> for_each(lambda a, b: a if a > b else b)(np.array([1, 5]), np.array([3, 3]))
    array([3, 5])
    """

    def called(*operands: Any) -> Any:
        given = np.broadcast_arrays(*operands)
        shape = given[0].shape
        if 0 in shape:
            raise ValueError("a function of scalars was called for no elements")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = [function(*(array[place] for array in given)) for place in np.ndindex(shape)]
        result = np.array(made, np.result_type(*{type(m): m for m in made}.values())).reshape(shape)
        return result[()]

    return called


PLAIN = SimpleNamespace(vectorize=for_each)
"""Stands for the package where NumPy runs a program."""


def in_numpy(program: FunctionType) -> FunctionType:
    """A program whose functions of scalars are the plain ones, called for each element.

    Examples
    --------
    >>> in_numpy(lambda x: x + 1)(1)
    2
    """
    plain = {name: for_each(v.__wrapped__) if hasattr(v, "__wrapped__") else v for name, v in program.__globals__.items()}
    return FunctionType(program.__code__, plain, program.__name__, program.__defaults__, program.__closure__)


__all__ = ["PLAIN", "TESTS", "VALUES", "for_each", "in_numpy", "random_scalar_function"]

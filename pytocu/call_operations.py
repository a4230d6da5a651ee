"""The operations that calls of ready programs are made of: below who writes them, and the code that runs them.

A call is a list of words of 8 bytes: the number of an operation, and its operands.  Operands name words of a
*frame*, which holds the arguments of the call, constants and what is computed.  `pytocu.runtime.call_words` writes such
lists, the function of `pytocu.backend.call_code` runs them.
"""

from __future__ import annotations

NAME = "pytocu_call"
"""The function that runs them."""

OPERATIONS = {
    # Objects.
    "type": "a b",
    "same": "a b",
    "equal": "a b",
    "true": "a",
    "global": "a b c",
    "array": "d a b @s #n",
    "flags": "a #m",
    "attribute": "o a b",
    "item": "o a b",
    "call": "o a @s #n b",
    "method": "o a @s #n",
    "tuple": "o @s #n",
    "drop": "d a",
    "box_int": "o a",
    "box_float": "o a",
    # Numbers.
    "memory": "d a #n",
    "address": "d @s",
    "pointer": "d a",
    "int": "d a",
    "float": "d a",
    "copy": "d a",
    "or": "d a b",
    "subtract": "d a b",
    "aligned": "a #m",
    "at_most": "a b",
    "less": "a b",
    "differ": "a b",
    "outside": "a b c",
    "minimum": "d a b",
    "maximum": "d a b",
    "clamped": "d a b",
    "int_add": "d a b",
    "int_subtract": "d a b",
    "int_multiply": "d a b",
    "int_to_float": "d a",
    "float_add": "d a b",
    "float_subtract": "d a b",
    "float_multiply": "d a b",
    "float_divide": "d a b",
    "float_negative": "d a",
    "float_inside": "a b c",
    "float_to_single": "d a",
    # What is done.
    "skip": "a #n",
    "native": "a @s b",
    "commit": "",
    "launch": "a @c @s #n #t f",
    "found": "a b c f",
    "return": "a",
}
"""Operands by the name of the operation; its number is its place.

``d`` is a word that is written, ``o`` one that gets a new object, ``@`` names where several words begin, ``#`` is a number
itself, and other letters are words that are read.
"""

LEAVES = frozenset({
    "type", "same", "equal", "true", "global", "array", "flags", "int", "aligned", "at_most", "less", "differ", "outside",
    "int_add", "int_subtract", "int_multiply", "float_divide", "float_inside", "launch",
})  # fmt: skip
"""Operations behind which Python may make the call, as if nothing had been done."""

MOST_WORDS = 512
"""Words of the largest frame."""

MOST_PARAMETERS = 64
"""Parameters of a kernel that is launched, and of a function."""

NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}
"""Operations by number."""

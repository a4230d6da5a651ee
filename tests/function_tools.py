"""What the tests of NumPy's functions share: expressions compared with NumPy everywhere there is no GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function


def agree(texts: str | Sequence[str], *arguments: Any, ulp: float = 0) -> None:
    """Expressions of a, b, c and so on have NumPy's results, or, where it is one expression, NumPy's exception."""
    given = [texts] if isinstance(texts, str) else list(texts)
    everywhere(make_function("abcdef"[: len(arguments)], given, {"np": np}), *arguments, ulp=ulp)


def refused(text: str, said: str, *arguments: Any) -> None:
    """An expression for which NumPy has an answer, and pytocu an error that says why not."""
    function = make_function("abcdef"[: len(arguments)], [text], {"np": np})
    function(*arguments)
    with pytest.raises(UnsupportedError, match=said) as found:
        call_jit(function, *arguments)
    assert found.value.loc is not None and found.value.help, text

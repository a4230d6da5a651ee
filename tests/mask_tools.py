"""What the tests of masks, compaction and library calls share: functions compared with NumPy everywhere there is no GPU."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import pytocu
from pytocu.ir import interp
from pytocu.ir.verifier import verify
from pytocu.passes.context import PassContext, Target
from pytocu.passes.pipeline import PIPELINE
from pytocu.testing.compare import compare


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return run()
    except Exception as error:
        return error


def without_suggestion(sentence: str) -> str:
    """Python's sentence without the name that it thinks was meant, from 3.13 on; it is a line of its own in pytocu's."""
    return re.sub(r"\. Did you mean '\w+'\?$", "", sentence)


def agree(found: Any, expected: Any, ulp: float) -> None:
    """Both are the same result, or exceptions of one class with one sentence."""
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), f"{found!r} in place of {expected!r}"
        assert str(found).splitlines()[0] == without_suggestion(str(expected))
    elif isinstance(found, Exception):
        raise found
    elif isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for one, wanted in zip(found, expected, strict=True):
            agree(one, wanted, ulp)
    else:
        compare(found, expected, exact=not ulp, ulp=ulp)


def everywhere(function: Callable[..., Any], *arguments: Any, ulp: float = 0) -> None:
    """NumPy's results, changed arguments and exceptions: by the interpreter at array level, by the CPU, by a GPU's threads."""
    changed = copy.deepcopy(arguments)
    expected = outcome(lambda: function(*changed))
    low = outcome(lambda: pytocu.jit(function).lower(*copy.deepcopy(arguments)))
    if isinstance(low, Exception):
        agree(low, expected, ulp)
        return
    tree = low.function.body.terminator.attr("tree")

    def interpreted(lowered: Any) -> Callable[[list[Any]], Any]:
        return lambda given: interp.arrange(tree, interp.run(lowered, given))

    settled = low.function
    verify(settled)
    established: list[str] = []
    for step in PIPELINE:
        if step.name == "fuse":
            break
        # The interpreter copies what a step changes, and lists have room for millions on a CPU.
        before = settled
        settled = step.run(settled, PassContext(Target("cuda" if step.name == "rooms" else "cpu")))
        established.extend(step.establishes)
        # What a pass returned as it was has been verified.
        if settled is not before or step.establishes:
            verify(settled, established)
    host = low.host("cuda")
    for way in (interpreted(low.function), interpreted(settled), lambda given: pytocu.jit(function)(*given), interpreted(host)):
        given = list(copy.deepcopy(arguments))
        found = outcome(lambda: way(given))
        agree(found, expected, ulp)
        if not isinstance(expected, Exception):
            for one, wanted in zip(given, changed, strict=True):
                if isinstance(wanted, np.ndarray):
                    compare(one, wanted, exact=not ulp, ulp=ulp)


def builds(function: Callable[..., Any], *arguments: Any) -> None:
    """Both GPU backends make a cubin of it."""
    for backend in ("nvvm", "cuda_c"):
        assert len(pytocu.jit(function).lower(*arguments).compile("cuda:sm_90", backend).binary) > 500

"""Random sequences of statements give Python's answer, its exception, or are refused."""

from __future__ import annotations

import collections
import copy
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.fuzz import RUNS
from pytocu.testing.fuzz_programs import make
from pytocu.testing.limits import within
from pytocu.testing.statement_programs import random_statement_program, statement_arguments

PROGRAMS = 12

PATIENCE = 10.0
"""Seconds for Python, in which every program comes to its end."""

REFUSED = 0.25
"""The share of calls that may be refused: it is about 0.18."""


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a call returns, or raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(), None
    except Exception as error:
        # Which exception it is belongs to the answer.
        return None, error


def check(source: str, seed: int, run: Callable[..., Any]) -> collections.Counter[str]:
    """Compare the calls of a program: what they return, raise and leave in the arguments; how many there were of each kind."""
    function = make(source, "program")
    kinds: collections.Counter[str] = collections.Counter()
    for given in statement_arguments(seed):
        ours = copy.deepcopy(given)
        expected, error = within(PATIENCE, lambda given=given: outcome(lambda: function(*given)))
        found, raised = outcome(lambda ours=ours: run(function, *ours))
        if isinstance(raised, pytocu.UnsupportedError):
            kinds["refused"] += 1
            continue
        kinds["error" if error else "same"] += 1
        try:
            # What an exception leaves half done is not compared: of two errors shapes come first, before anything is written.
            assert (raised is None) is (error is None) and isinstance(raised, type(error)), f"{raised!r} for {error!r}"
            if error is None:
                compare((found, ours), (expected, given))
        except AssertionError as failure:
            raise AssertionError(f"{source}\nseed {seed}, count {given[2]}: {failure}") from raised
    return kinds


def compare_programs(seeds: range, on: str) -> None:
    kinds = sum((check(random_statement_program(random.Random(s).choice), s, RUNS[on]) for s in seeds), collections.Counter())
    assert kinds["refused"] <= REFUSED * kinds.total() + 6 and kinds["error"] <= kinds.total() / 3, kinds


@pytest.mark.parametrize("part", range(10))
def test_sequences_of_statements(part: int) -> None:
    compare_programs(range(part * PROGRAMS, (part + 1) * PROGRAMS), "cpu")


@pytest.mark.parametrize("on", ["interpreter", "threads"])
def test_sequences_of_statements_run_elsewhere(on: str) -> None:
    compare_programs(range(500, 506), on)


def test_programs_hold_every_kind_of_statement() -> None:
    sources = [random_statement_program(random.Random(seed).choice) for seed in range(400)]
    held = (
        "break", "continue", "else:", "elif ", "while True:", "while found:", "while t < 6:", "for v in found[:]:",
        "raise ValueError", "assert ", "        return ", "            return ", "push(", ".append(", ".pop()", "[x > ",
        "[a > t]", "s = None", "p = None", "p = (", "p = [", "a, b = b, a", "np.append(", "d['k'] += 1", "a[1:]",
        " is not None", "s, t = t, s", "x.sort()",
    )  # fmt: skip
    counts = {text: sum(text in source for source in sources) for text in held}
    assert min(counts.values()) >= 4, counts
    assert all("@" not in source for source in sources)
    depths = [max(len(line) - len(line.lstrip()) for line in source.splitlines()) for source in sources]
    assert max(depths) == 16 and np.median([source.count("\n") for source in sources]) > 20

"""Requirements on data: the exception at the statement, memory that no kernel leaves, nothing for code without them."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu, llvm
from pytocu.driver import Compiled
from pytocu.errors import NOTHING, CompileError, Loc
from pytocu.ir import interp
from pytocu.ir.core import Function
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.passes.context import PassContext, Target
from pytocu.passes.pipeline import run_pipeline
from pytocu.planning import make_plan
from pytocu.runtime import cuda, failures
from pytocu.runtime.failures import Failure
from pytocu.runtime.plan_json import plan_from_json, plan_to_json
from pytocu.runtime.program import Program
from pytocu.runtime.templates import ANY_LIBRARY

TWO = """
func @two(%x: i64[n], %y: f32[n]) {
  %0 = const 0 : i64
  %1 = const 9.0 : f32
  %c = greater_equal %x, %0 : bool[n]
  %d = less %y, %1 : bool[n]
  %p = require %x, %c, %x {dims = (n,), error = "IndexError", sentence = "index {0} of {1}"} : i64[n]
  %q = require %y, %d {dims = (), error = "ValueError", sentence = "too large"} : f32[n]
  return %q, %p {tree = ("tuple", 0, 1)}
}
"""
GOOD = (np.arange(5), np.arange(5, dtype=np.float32))
BAD_INDEX = (np.array([1, -2, 3, -7, 4]), np.float32([1, 2, 3, 99, 5]))
BAD_VALUE = (np.arange(5), np.float32([1, 2, 3, 99, 5]))


def forms() -> list[Function]:
    function = parse_function(TWO)
    return [function, *(run_pipeline(function, PassContext(Target(t)), check=True) for t in ("cpu", "cuda"))]


def compiled() -> Compiled:
    return Compiled(run_pipeline(parse_function(TWO), PassContext(Target("cpu"))), Target("cpu"), "llvm", "two")


@pytest.mark.parametrize("form", range(4))
def test_the_exception_of_the_first_statement_with_the_smallest_number(form: int) -> None:
    def run(arguments: tuple[Any, ...]) -> Any:
        return compiled()(*arguments) if form == 3 else interp.run(forms()[form], arguments)

    for made, expected in zip(run(GOOD), reversed(GOOD), strict=True):
        np.testing.assert_array_equal(made, expected)
    with pytest.raises(IndexError, match=r"^index -7 of 5\n") as raised:
        run(BAD_INDEX)
    assert isinstance(raised.value, CompileError) and raised.value.loc is not None
    with pytest.raises(ValueError, match=r"^too large\n"):
        run(BAD_VALUE)
    run(tuple(a[:0] for a in BAD_INDEX))


def test_the_order_of_threads_does_not_matter() -> None:
    code = compiled()
    x, y = np.arange(1 << 20), np.zeros(1 << 20, np.float32)
    x[[5, 300_000, 1_000_000]] = -3, -9, -5
    for _ in range(3):
        with pytest.raises(IndexError, match=r"^index -9 of 1048576"):
            code(x, y)


def test_code_without_requirements_has_no_words() -> None:
    exe = pytocu.jit(lambda x: x + 1).lower("f32[n]").compile("cpu")
    assert exe.plan.words() == 0 and exe.plan.failures() == ()
    assert "failures" not in print_function(exe.host)


def test_text_and_plan_are_read_back() -> None:
    for form in forms():
        assert print_function(parse_function(print_function(form))) == print_function(form)
    plan = compiled().plan
    again = plan_from_json(plan_to_json(plan))
    assert again.words() == plan.words() == 3
    # Where in the source is kept apart.
    assert [f._replace(loc=None) for f in again.failures()] == [f._replace(loc=None) for f in plan.failures()]


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_cubins(backend: str) -> None:
    host = run_pipeline(parse_function(TWO), PassContext(Target("cuda", "sm_90")))
    code = Compiled(host, Target("cuda", "sm_90"), backend, "two")
    assert ("atomicrmw min i64 addrspace(1)*" if backend == "nvvm" else "atomicMin(failures") in code.source
    assert len(code.binary) > 1000


def test_words_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = (ctypes.c_int64 * 3)()
    monkeypatch.setattr(cuda, "activated", lambda device: _nothing())
    monkeypatch.setattr(cuda, "outside_of_captures", _nothing)
    monkeypatch.setattr(cuda, "call", lambda *args: ctypes.addressof(memory))
    monkeypatch.setattr(failures, "_all", [])
    loc = Loc("user.py", 7, 5)
    needs = (Failure(0, "IndexError", "index {0} of {1}", 2, loc), Failure(2, "ValueError", "no", 1, None))
    words = failures.SharedWords(needs, 3, 0)
    assert list(memory) == [NOTHING] * 3
    failures.check()
    memory[:] = [7, 5, 0]
    with pytest.raises(IndexError, match=r"index 7 of 5\n.*user.py:7:5\n.*an earlier call"):
        failures.check()
    # Said once.
    words.check()
    memory[2] = 0
    with pytest.raises(ValueError, match=r"^no\n"):
        words.check()
    # Of the call that looks.
    memory[:] = [7, 5, 0]
    with pytest.raises(IndexError, match=r"index 7 of 5") as caught:
        words.check(waited=True)
    assert "earlier" not in str(caught.value)
    words.check(waited=True)


def chosen_of_a_table(table: np.ndarray, at: np.ndarray) -> np.ndarray:
    found = table[at]
    return found[found > 0] + 1


def test_a_call_that_waits_for_its_kernels_says_what_they_found() -> None:
    host = pytocu.jit(chosen_of_a_table).lower("f32[n]", "i64[m]").host("cuda:sm_90")
    text = Program(make_plan(host), ANY_LIBRARY, ("executor", "infos")).source
    assert text.index("executor.word(") < text.index("executor.notice()") < text.rindex("executor.launch(")


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def looked_up(table: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.exp(table[at])


@pytest.mark.parametrize(("least", "vectors"), [(None, False), (1000, False), (16, True), (0, True)])
def test_comparisons_of_positions_leave_vector_code(least: int | None, vectors: bool) -> None:
    compiled = pytocu.jit(looked_up).lower("f32[n]", "i64[m]").compile("cpu")
    text = llvm.emit(compiled._functions, llvm.host_dialect()._replace(worth_vectors=least))
    assert bool(re.search(r"fmul <\d+ x float>", cpu.optimized(text))) == vectors
    assert ("llvm.smin" in text) == vectors


def test_a_failure_anywhere_in_a_loop_that_is_vector_code() -> None:
    call, table = pytocu.jit(looked_up), np.linspace(0, 1, 50, dtype=np.float32)
    at = np.arange(1000) % 100 - 50
    np.testing.assert_allclose(call(table, at), np.exp(table[at]), rtol=1e-6)
    for place in (0, 1, 17, 500, 998, 999):
        for wrong in (50, -51, 2**62, -(2**63)):
            bad = at.copy()
            bad[place] = wrong
            with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds for axis 0 with size 50"):
                call(table, bad)
    bad[3], bad[700] = 70, 60
    bad[999] = 80
    with pytest.raises(IndexError, match="index 60 is out of bounds"):
        call(table, bad)

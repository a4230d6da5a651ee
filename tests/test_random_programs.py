"""Random programs: compiled, interpreted and thread by thread they give what NumPy gives; and the check itself."""

from __future__ import annotations

import inspect
import multiprocessing
import random
import re
import statistics
import threading
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from pytocu.ir import promote
from pytocu.ir.core import OPS
from pytocu.ir.types import ALL_DTYPES, dtype_named
from pytocu.testing import device_arrays, everything, fuzz, fuzz_layouts, matrix, planted
from pytocu.testing.compare import complex_distance
from pytocu.testing.complex_reference import growth, relative_distance
from pytocu.testing.fuzz import NOTHING, RUNS, call_cpu, run_chunk, run_many
from pytocu.testing.fuzz_arrays import ARRAYS
from pytocu.testing.fuzz_blocks import BEFORE_A_CHANGE, BLOCKS, ERRORS, FEATURES, KEPT, PROGRAMS
from pytocu.testing.fuzz_check import Verdict, _fewer_lines, as_test, check, shrink
from pytocu.testing.fuzz_programs import (
    ROWS,
    WANTED,
    Argument,
    Coverage,
    Program,
    Statement,
    changed_arguments,
    evaluate,
    is_argument,
)
from pytocu.testing.fuzz_writer import random_program


@pytest.mark.parametrize(("on", "chunk", "count"), [("cpu", 0, 50), ("interpreter", 2, 50), ("threads", 3, 40)])
def test_programs_give_numpys_values(on: str, chunk: int, count: int, whole: bool) -> None:
    count = count if whole else count // 4
    report = run_chunk(RUNS[on], 11, chunk, count)
    assert not report.kinds["differs"], "\n".join(report.tests)
    assert report.kinds["same"] + report.kinds["error"] >= 0.95 * count and report.kinds["error"] <= 0.2 * count


def test_quantiles_are_of_zeros_of_one_sign() -> None:
    """Which of two zeros NumPy's partition leaves first depends on the processor."""
    forms = [form for form in ARRAYS if re.search("quantile|percentile", form.text) and "f" in form.kinds]
    zeros = np.array([[0.0, -0.0], [-0.0, -0.0], [-0.0, 0.0]])
    assert len(forms) == 3
    for form in forms:
        assert not np.signbit(eval(form.text.format("zeros"), {"np": np, "zeros": zeros})).any(), form.text


def test_programs_are_large_and_cover_every_operation() -> None:
    """What is written, without running it; the command runs enough programs for twenty of each pair."""
    pick, coverage = random.Random(1), Coverage()
    programs = [random_program(pick, coverage)[0] for _ in range(400)]
    assert statistics.median(p.operations for p in programs) >= 8
    assert len(WANTED) > 650 and {name for name, _ in WANTED} == set(ROWS)
    assert {d for _, d in WANTED} == set(ALL_DTYPES)
    assert sum(coverage[name, d.name] > 0 for name, d in WANTED) > 0.97 * len(WANTED)
    kinds = {name.partition("_")[0] for p in programs for name in p.parameters}
    assert kinds >= {"x", "row", "column", "turned", "padded", "cube", "point", "scalar", "count", "factor", "flag"}
    assert any(not s.name for p in programs for s in p.statements), "no program changes anything in place"
    assert any(p.inline for p in programs) and any(p.error for p in programs)


def test_programs_hold_loops_branches_and_masks() -> None:
    """Each kind at least so often that 2000 programs hold it more than twenty times."""
    pick, coverage = random.Random(2), Coverage()
    programs = [random_program(pick, coverage) for _ in range(400)]
    counts = {feature: coverage[feature, PROGRAMS] for feature in FEATURES}
    assert min(counts.values()) >= 6, counts
    for feature in FEATURES:
        held = sum(any(s.features == feature for s in p.statements) for p, _ in programs)
        assert held == counts[feature]
    blocks = [s for p, _ in programs for s in p.statements if s.block]
    assert {s.features for s in blocks} == {b.features for b in BLOCKS} | {BEFORE_A_CHANGE}
    assert all("@" not in s.text for s in blocks)
    # Changes of an argument are lines, too.
    assert any(s.features and not s.name and is_argument(s.operands[0]) for p, _ in programs for s in p.statements)


def test_failures_in_loops_become_small() -> None:
    lines = "v0 = {0}\nfor i in range(count):\n    if i == 2:\n        continue\n"
    lines += "    v0 = v0 + {1}\n    v0 = np.logical_xor(v0, {1})"
    program = Program((Statement("v0", lines, ("x_bool", "row_bool"), features="continue"),), ("v0",))
    x = np.array([[True, False], [False, True]])
    arguments = {"x_bool": Argument(x), "row_bool": Argument(np.array([True, True])), "count": Argument(4)}
    assert check(program, arguments, call_cpu).kind == "same"
    with planted.planted(FAULTS["either instead of exactly one"]):
        assert check(program, arguments, call_cpu).kind == "differs"
        smaller, given, verdict = shrink(program, arguments, call_cpu)
    (statement,) = smaller.statements
    assert len(statement.text.splitlines()) == 2 and "continue" not in statement.text
    text = as_test(smaller, given, verdict)
    run_test(text)
    with planted.planted(FAULTS["either instead of exactly one"]), pytest.raises(AssertionError):
        run_test(text)


def test_what_becomes_small_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytocu.testing.fuzz_check._PATIENCE", 0.2)
    lines = "v0 = {0}\nk = 0\nwhile True:\n    if k > 2:\n        break\n    v0 = v0 + 1\n    k = k + 1"
    program = Program((Statement("v0", lines, ("x_i64",), features="while True"),), ("v0",))
    arguments = {"x_i64": Argument(np.ones((2, 2), np.int64))}

    def fails(function: Any, *given: Any) -> Any:
        if "while" in "".join(program_lines(function)):
            raise KeyError(0)
        return function(*given)

    smaller, _, verdict = shrink(program, arguments, fails)
    assert verdict.kind == "differs" and smaller.statements[0].text == "v0 = {0}\nwhile True:\n    break"


def test_another_error_is_another_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure is not made smaller into one that has nothing to do with it."""
    program, arguments = small_program()

    def fails(function: Any, *given: Any) -> Any:
        # Without its second statement the program fails in another way.
        raise KeyError("first") if "logical_xor" in "".join(program_lines(function)) else IndexError("second")

    smaller, _, verdict = shrink(program, arguments, fails)
    assert verdict.message.startswith("KeyError") and any("logical_xor" in s.text for s in smaller.statements)


def test_errors_have_numpys_sentence() -> None:
    """A program that ends in an error: of the same class, with the same sentence; the test that is printed says so, too."""
    text = "v1 = {0}\nif flag:\n    v1 = np.zeros(3) @ np.zeros(4)"
    statements = (Statement("v0", "({0} + 1)", ("x_f64",), "add"), Statement("v1", text, ("v0",), features="error in a side"))
    program = Program(statements, ("v1",), error=True)
    arguments = {"x_f64": Argument(np.ones((2, 2))), "flag": Argument(True)}
    for on in ("cpu", "interpreter", "threads"):
        assert check(program, arguments, RUNS[on]).kind == "error"
        assert check(program, {**arguments, "flag": Argument(False)}, RUNS[on]).kind == "same"

    def fails(function: Any, *given: Any) -> Any:
        raise ValueError("another sentence")

    smaller, given, verdict = shrink(program, arguments, fails)
    assert verdict.kind == "differs" and "another sentence" in verdict.message and len(smaller.statements) == 1
    text = as_test(smaller, given, verdict)
    assert "pytest.raises" in text
    run_test(text)


def test_some_programs_may_raise_and_have_numbers_of_two_kinds() -> None:
    pick, coverage = random.Random(3), Coverage()
    programs = [random_program(pick, coverage)[0] for _ in range(600)]
    raising = [p for p in programs if any(s.features in ERRORS for s in p.statements)]
    ended = [p for p in raising if p.error]
    assert 5 < len(ended) < len(raising) - 5
    kept = [(p, s) for p in programs for s in p.statements if s.features in KEPT]
    assert all(s.name in p.results for p, s in kept if not p.error)
    assert {s.features for _, s in kept} == set(KEPT)


def program_lines(function: Any) -> list[str]:
    return inspect.getsource(function).splitlines()


def test_comprehensions_of_programs_see_their_values() -> None:
    assert evaluate("[np.sum(x) + n for n in range(2)]", {"x": np.arange(3)}) == [3, 4]


def test_the_same_seed_gives_the_same_programs() -> None:
    texts = [[random_program(pick, coverage)[0].source for _ in range(5)]
             for pick, coverage in ((random.Random(4), Coverage()) for _ in range(2))]  # fmt: skip
    assert texts[0] == texts[1]


def test_report_says_what_was_covered() -> None:
    report = run_many("interpreter", 5, 12, 1, print)
    assert report.programs == 12 and NOTHING.plus(report) == report
    said = "\n".join(report.lines())
    assert "12 programs: " in said and "median" in said and f"{len(WANTED)} pairs of operation and dtype" in said


FAULTS = {fault.name: fault for fault in planted.FAULTS}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("either instead of exactly one", marks=pytest.mark.whole),
        "an offset is not multiplied", "unsigned integers compare as signed ones",
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(name: str) -> None:
    """``python -m pytocu.testing.planted`` tries all of them."""
    number = planted.FAULTS.index(FAULTS[name])
    said: list[str] = []
    found = planted.search([number], 150, report=said.append)[number]
    assert found is not None and 0 < found <= 150
    assert f"within {found} programs" in said[0]


def test_what_differs_without_the_fault_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "call_cpu", lambda function, *given: None)
    monkeypatch.setattr(planted, "check", lambda *given: Verdict("differs"))
    said: list[str] = []
    assert planted.search([0], 4, report=said.append) == {0: None} and "NOT FOUND" in said[0]


def test_the_first_program_that_shows_a_fault_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    search = planted._Search(35)
    assert [search.next() for _ in range(4)] == [0, 1, 2, 3] and not search.settled and not search.open
    search.done[2] = 7
    assert not search.settled and search.programs == 27
    search.done |= {0: None, 1: 4}
    assert search.settled and search.programs == 14


def test_planted_faults_change_what_is_there() -> None:
    assert len(planted.FAULTS) >= 20 and len(FAULTS) == len(planted.FAULTS)
    for fault in planted.FAULTS:
        with planted.planted(fault):
            pass
    with pytest.raises(LookupError, match="not once"), planted.planted(planted.FAULTS[0]._replace(old="is not there")):
        pass


def small_program() -> tuple[Program, dict[str, Argument]]:
    statements = (
        Statement("v0", "np.add({0}, {1})", ("x_f32", "row_f32"), "add"),
        Statement("v1", "np.logical_xor({0}, {1})", ("v0", "x_f32"), "logical_xor"),
        Statement("v2", "np.negative({0})", ("v0",), "negative"),
        Statement("v3", "np.logical_not({0})", ("v1",), "logical_not"),
    )
    x = np.array([[0, 1, 2], [-1, 3, 0]], np.float32)
    arguments = {"x_f32": Argument(x, "np.asfortranarray({})"), "row_f32": Argument(np.array([1, 2, 0], np.float32))}
    return Program(statements, ("v2", "v3")), arguments


def test_failures_become_a_small_test() -> None:
    program, arguments = small_program()
    assert check(program, arguments, call_cpu).kind == "same"
    with planted.planted(FAULTS["either instead of exactly one"]):
        verdict = check(program, arguments, call_cpu)
        assert verdict.kind == "differs"
        smaller, given, verdict = shrink(program, arguments, call_cpu)
    assert len(smaller.statements) == 1 and smaller.results == ("v1",)
    assert all(a.layout == "{}" for a in given.values())
    text = as_test(smaller, given, verdict)
    namespace = run_test(text)
    with planted.planted(FAULTS["either instead of exactly one"]), pytest.raises(AssertionError):
        run_test(text)
    assert "test_program" in namespace


def run_test(text: str) -> dict[str, Any]:
    """Run the pasted test as pytest would."""
    namespace: dict[str, Any] = {}
    lines = text.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(("def program", "@pytocu")))
    end = next(n for n, line in enumerate(lines) if line.startswith("def test_program"))
    exec("\n".join([*lines[:begin], *lines[end:]]), namespace)
    namespace["program"] = fuzz_make("\n".join([*lines[begin:end], ""]))
    namespace["test_program"]()
    return namespace


def test_functions_of_scalars_become_small() -> None:
    """A call in a program, and the function called alone."""
    text = "@pytocu.vectorize\ndef each_v0(a, b):\n    k = 0\n    if a:\n        b = b ^ a\n    return np.logical_xor(a, b)"
    statement = Statement("v0", "v0 = each_v0({0}, {1})", ("x_bool", "row_bool"), features="function of scalars", defines=text)
    program = Program((statement,), ("v0",))
    arguments = {"x_bool": Argument(np.array([[True, False], [True, True]])), "row_bool": Argument(np.array([True, False]))}
    for on in ("cpu", "interpreter", "threads"):
        assert check(program, arguments, RUNS[on]).kind == "same"
    with planted.planted(FAULTS["either instead of exactly one"]):
        smaller, given, verdict = shrink(program, arguments, call_cpu)
    assert verdict.kind == "differs" and len(smaller.statements[0].defines.splitlines()) == 3
    test = as_test(smaller, given, verdict)
    run_test(test)
    with planted.planted(FAULTS["either instead of exactly one"]), pytest.raises(AssertionError):
        run_test(test)


def test_a_function_of_scalars_is_compared_where_it_is_called_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "@pytocu.vectorize\ndef each_v0(a, b):\n    return a & b"
    statement = Statement("v0", "v0 = each_v0({0}, {0})", ("x_bool",), features="function of scalars", defines=text)
    program, arguments = Program((statement,), ("v0",)), {"x_bool": Argument(np.array([True, False]))}

    def wrong_alone(function: Any, *given: Any) -> Any:
        made = call_cpu(function, *given)
        return made if isinstance(made, tuple) else ~made

    assert check(program, arguments, call_cpu).kind == "same"
    assert check(program, arguments, wrong_alone).kind == "differs"


def fuzz_make(source: str) -> Any:
    from pytocu.testing.fuzz_programs import make

    return make(source, "program")


def test_wrong_values_kinds_and_errors_are_seen() -> None:
    program, arguments = small_program()

    def other_kind(function: Any, *given: Any) -> Any:
        return tuple(np.asarray(v)[0] for v in call_cpu(function, *given))

    def last_place(function: Any, *given: Any) -> Any:
        return tuple(np.nextafter(v, v.dtype.type(9)) if v.dtype.kind == "f" else v for v in call_cpu(function, *given))

    def refuses(function: Any, *given: Any) -> Any:
        raise TypeError("something")

    for run in (other_kind, last_place, refuses):
        assert check(program, arguments, run).kind == "differs"
    last = Statement("v4", "np.bitwise_and({0}, {1})", ("v0", "v0"), "bitwise_and")
    refused = Program((*program.statements, last), ("v4",), error=True)
    assert check(refused, arguments, call_cpu).kind == "error"
    assert check(refused, arguments, lambda function, *given: (given[0],)).kind == "differs"


def test_command_prints_and_returns(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    page = tmp_path / "verification.md"
    assert fuzz.main(["-n", "6", "--on", "interpreter", "--seed", "3", "--write", str(page)]) == 0
    assert "6 programs: " in capsys.readouterr().out
    assert "| random programs, interpreter | 6 programs, " in page.read_text()


def test_a_run_goes_on_behind_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "CHUNK", 4)
    log, ran, said = tmp_path / "log", [], list[str]()

    def chunk(on: str, seed: int, job: tuple[int, int]) -> Any:
        ran.append(job)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return job, run_chunk(RUNS[on], seed, *job)

    monkeypatch.setattr(fuzz, "_chunk", chunk)
    with pytest.raises(KeyboardInterrupt):
        run_many("interpreter", 9, 10, 1, said.append, log=log)
    with log.open("a") as opened:
        opened.write('{"on": "interp')
    total = run_many("interpreter", 9, 10, 1, said.append, log=log)
    assert ran == [(0, 4), (1, 4), (2, 2), (2, 2)]
    assert total == run_many("interpreter", 9, 10, 1, said.append)
    assert run_many("interpreter", 9, 10, 1, said.append, log=log) == total and len(ran) == 7
    kept = log.read_text()
    log.write_text(kept.replace('"kinds": {"same": 4', '"kinds": {"differs": 1, "same": 3', 1))
    assert log.read_text() != kept
    assert run_many("interpreter", 9, 10, 1, said.append, log=log).kinds["differs"] == 0 and len(ran) == 8
    said.pop()
    assert "2 programs in" in said[-3] and "10 programs in" in said[-2] and "0 programs in" in said[-1]
    with pytest.raises(ValueError, match="--on interpreter --seed 9"):
        run_many("interpreter", 8, 10, 1, said.append, log=log)


def test_chunks_of_processes_that_have_died_or_hang_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "_TOO_LONG", 1)
    hung = threading.Event()

    def work(job: fuzz.Job) -> tuple[fuzz.Job, fuzz.Report]:
        if job[0] == 1:
            hung.wait()
        return job, NOTHING

    found = []
    with ThreadPool(3) as pool:
        with pytest.raises(RuntimeError, match=r"died or hangs, of one of the chunks 1; run each alone with --chunk"):
            for one in fuzz.in_processes(pool, work, [(number, 50) for number in range(4)]):
                found.append(one)
        hung.set()
    assert sorted(job for job, _ in found) == [(0, 50), (2, 50), (3, 50)]


class Unhurried:
    """A pool that takes a job when the one before is finished."""

    def imap_unordered(self, work: Any, jobs: Any) -> Any:
        waiting = map(work, jobs)

        class Results:
            def next(self, timeout: float) -> Any:
                return next(waiting)

        return Results()


def test_a_pool_gets_every_chunk_however_late_it_takes_them() -> None:
    jobs = [(number, 50) for number in range(7)]
    found = fuzz.in_processes(cast(Any, Unhurried()), lambda job: (job, NOTHING), jobs)
    assert [job for job, _ in found] == jobs


def test_failures_say_how_to_run_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "CHUNK", 3)
    answer = RUNS["interpreter"]
    monkeypatch.setitem(RUNS, "interpreter", lambda *given: (None,) * len(answer(*given)))
    said: list[str] = []
    run_many("interpreter", 7, 6, 1, said.append)
    wanted = "# python -m pytocu.testing.fuzz --on interpreter --seed 7 --chunk 1\n"
    chosen = [text for text in said if text.startswith(wanted)]
    assert chosen
    again: list[str] = []
    run_many("interpreter", 7, 6, 1, again.append, only=1)
    assert [text for text in again if text.startswith("#")] == chosen


def test_processes_share_devices() -> None:
    started = multiprocessing.get_context("spawn").Value("i", 0)
    taken = []
    for _ in range(5):
        fuzz._begin(started, 2)
        taken.append(fuzz._device)
    fuzz._device = "cuda:0"
    assert taken == ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"]


def verdict_of(text: str, row: str, given: dict[str, Any], answer: Any) -> str:
    """What the check says of a program of one operation that gives some answer."""
    program = Program((Statement("v0", text, tuple(given), row),), ("v0",))
    return check(program, {name: Argument(value) for name, value in given.items()}, lambda *_: (answer,)).kind


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_root_of_minus_infinity_is_what_the_formula_says(dtype: str) -> None:
    """NumPy's answer depends on whether elements have the exponent in common; each form has one answer that is taken."""
    x = np.array([[-np.inf, 4, -np.inf, 0.25]], dtype)
    half, halves = x.dtype.type(0.5), np.full((1, 1), 0.5, dtype)
    root, power, wrong = (np.array([[v, 2, v, 0.5]], dtype) for v in (np.nan, np.inf, -np.inf))
    name = {"f4": "f32", "f8": "f64"}[dtype]
    for exponent in (half, 0.5, halves, np.broadcast_to(halves, x.shape).copy()):
        kind = "factor" if type(exponent) is float else f"scalar_{name}" if np.ndim(exponent) == 0 else f"row_{name}"
        given = {f"x_{name}": x, kind: exponent}
        # One exponent of all elements is NumPy's own to take a root of, and Python's operator writes one.
        loop = np.ndim(exponent) == 0 and promote.takes_roots(dtype_named(name))
        for text, takes_root in (("np.power({0}, {1})", loop), ("({0} ** {1})", loop or type(exponent) is float)):
            taken, other = (root, power) if takes_root else (power, root)
            assert verdict_of(text, "power", given, taken) == "same"
            for answer in (other, wrong, taken + x.dtype.type(1)):
                assert verdict_of(text, "power", given, answer) == "differs"
    given = {f"x_{name}": x, f"scalar_{name}": x.dtype.type(0.25)}
    fourth = np.array([[np.nan, 4**0.25, np.nan, 0.25**0.25]], dtype)
    assert verdict_of("np.power({0}, {1})", "power", given, fourth) == "differs"
    for on in ("cpu", "interpreter", "threads"):
        for text in ("np.power({0}, {1})", "({0} ** {1})"):
            for exponent in (half, 0.5):
                kind = "factor" if type(exponent) is float else f"scalar_{name}"
                program = Program((Statement("v0", text, (f"x_{name}", kind), "power"),), ("v0",))
                arguments = {f"x_{name}": Argument(x), kind: Argument(exponent)}
                assert check(program, arguments, RUNS[on]).kind == "same"


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_arccosh_of_zero_and_nan_has_one_sign(dtype: str) -> None:
    """C leaves the sign beside the NaN open; it is NumPy's, whatever sign the NaN has that a processor makes."""
    z = np.array([complex(a, b) for a in (0.0, -0.0, 1.0, np.inf) for b in (np.nan, np.copysign(np.nan, -1))], dtype)
    name = {"c8": "c64", "c16": "c128"}[dtype]
    program = Program((Statement("v0", "np.arccosh({0})", (f"row_{name}",), "arccosh"),), ("v0",))
    expected = np.arccosh(z)
    assert np.array_equal(np.signbit(expected.imag[:4]), [False] * 4)
    for on in ("cpu", "interpreter", "threads"):
        assert check(program, {f"row_{name}": Argument(z)}, RUNS[on]).kind == "same"
    assert verdict_of("np.arccosh({0})", "arccosh", {f"row_{name}": z}, np.conj(expected)) == "differs"
    assert verdict_of("np.arccosh({0})", "arccosh", {f"row_{name}": z}, expected * expected.real.dtype.type(0.5)) == "differs"


def test_changes_of_arguments_are_compared() -> None:
    program = Program(
        (Statement("", "{0}[1:] -= {0}[:-1]", ("row_f64",)), Statement("v0", "np.negative({0})", ("row_f64",), "negative")),
        ("v0",),
    )
    x = np.array([1.0, 2, 4, 8])
    assert changed_arguments(program.statements) == ["row_f64"]

    def answer(changed: Any) -> Any:
        def run(_: Any, given: Any) -> Any:
            given[...] = changed
            return (np.array([-1.0, -1, -2, -4]),)

        return check(program, {"row_f64": Argument(x)}, run).kind

    assert (answer([1, 1, 2, 4]), answer([1, 1, 3, 5]), answer(x)) == ("same", "differs", "differs")
    assert x.tolist() == [1, 2, 4, 8]
    for on in ("cpu", "interpreter", "threads"):
        assert check(program, {"row_f64": Argument(x)}, RUNS[on]).kind == "same"
    text = as_test(program, {"row_f64": Argument(x)}, Verdict("differs", "other values"))
    run_test(text)


def test_a_cast_to_the_same_dtype_is_the_array_itself() -> None:
    given = {"x_i8": Argument(np.arange(6, dtype=np.int8).reshape(2, 3))}
    changed = Statement("", "{0} += {1}", ("x_i8", "2"))
    for text in ("np.int8({0})", "{0}.astype(np.int8)"):
        program = Program((Statement("v0", text, ("x_i8",), "cast"), changed), ("v0",))
        assert check(program, given, call_cpu).kind == "same"


def test_zeros_in_a_maximum_have_the_sign_of_the_formula() -> None:
    """NumPy's depends on the width of its vectors, ours is the first operand's; other values are NumPy's."""
    change = "np.maximum({0}, {1}, out={0}, where={0} == {0})"
    program = Program((Statement("", change, ("row_f64", "scalar_f64")),), ())
    x = np.array([-0.0, 0.0, np.nan, -1.0] * 9)
    arguments = {"row_f64": Argument(x), "scalar_f64": Argument(np.float64(0.0))}

    def answer(*values: float) -> str:
        def run(_: Any, given: Any, __: Any) -> Any:
            given[...] = np.array(values * 9)
            return ()

        return check(program, arguments, run).kind

    assert (answer(-0.0, 0.0, np.nan, 0.0), answer(0.0, 0.0, np.nan, 0.0)) == ("same", "differs")
    assert answer(-0.0, 0.0, 0.0, 0.0) == answer(-0.0, 0.0, np.nan, -1.0) == "differs"
    for on in ("cpu", "interpreter", "threads"):
        assert check(program, arguments, RUNS[on]).kind == "same"


def test_roots_and_squares_are_exact_and_zeros_have_signs() -> None:
    """A power that NumPy rewrites has the bits of the root or the square, and a function with a bound has zeros' signs."""
    x = np.array([-0.0, -np.inf, 0.1, 3.0])
    with np.errstate(all="ignore"):
        root, nearly = x**0.5, np.sqrt(x) * (1 + 2.0**-52)
        power = np.power(x, np.full(4, 0.5))
    given = {"row_f64": x, "factor": 0.5}
    answers = [verdict_of("({0} ** {1})", "power", given, a) for a in (root, nearly, power)]
    assert answers == ["same", "differs", "differs"]
    zeros = {"row_f64": np.array([0.0, -0.0])}
    assert verdict_of("np.sin({0})", "sin", zeros, np.array([0.0, -0.0])) == "same"
    assert verdict_of("np.sin({0})", "sin", zeros, np.zeros(2)) == "differs"


def test_everything_goes_on_behind_its_logs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    short = [everything.Check("fuzz-interpreter", "fuzz", "-n 4 --on interpreter --seed 3"),
             everything.Check("matrix-interpreter", "matrix", "--on interpreter --sample 1 --part 3/25"),
             everything.Check("fuzz-nvvm", "fuzz", "-n 4 --on nvvm", True)]  # fmt: skip
    monkeypatch.setattr(everything, "CHECKS", short)
    logs, page = tmp_path / "logs", tmp_path / "page.md"
    command = ["--jobs", "1", "--log", str(logs), "--write", str(page)]
    assert everything.main(command) == 0
    first = {file.name: file.read_text() for file in logs.iterdir()}
    assert set(first) == {"fuzz-interpreter.log", "matrix-interpreter.log"}
    assert "4 programs" in page.read_text() and "matrix, interpreter" in page.read_text()
    with (logs / "matrix-interpreter.log").open("a") as opened:
        opened.write('{"on": "interp')
    assert everything.main([*command, "--seconds", "60"]) == 0
    assert {file.name: file.read_text() for file in logs.iterdir()} == first
    with pytest.raises(ValueError, match="not 1 of --on cpu"):
        matrix.read_log(logs / "matrix-interpreter.log", "cpu", 1)
    (logs / "matrix-interpreter.log").unlink()
    assert everything.main([*command, "--seconds", "0"]) == 2
    said = capsys.readouterr().out
    assert "not finished: fuzz-interpreter, matrix-interpreter" in said and "stopped after 4 of 4" not in said
    cut = ["-n", "8", "--on", "interpreter", "--seconds", "0", "--log", str(tmp_path / "cut")]
    monkeypatch.setattr(fuzz, "CHUNK", 4)
    assert fuzz.main(cut) == 0 and "| 4 of 8 programs, " in capsys.readouterr().out
    assert fuzz.main(cut) == 0 and "| 8 programs, " in capsys.readouterr().out
    assert everything.main(["--jobs", "1", "--list", "--gpu", "--log", str(tmp_path / "none")]) == 0
    assert not (tmp_path / "none").exists()
    assert "--on nvvm --jobs 1 --devices 1" in capsys.readouterr().out


def test_smaller_programs_end():
    text = "n = 0\nwhile n < 3 and a > 0:\n    n += 1\n    a = a + 1\nreturn a"
    made = list(_fewer_lines(text))
    assert "n = 0\nwhile n < 3 and a > 0:\n    n += 1\n    a = a + 1" in made and "n = 0\nreturn a" in made
    assert all("n += 1" in smaller for smaller in made if "while" in smaller)


def test_products_at_the_end_of_the_range_may_be_rounded_less() -> None:
    """NumPy's vector code has one rounding less in a complex square, and no infinity where the formula has."""
    near = np.array([complex(2**64, -(2.0**61))], np.complex64)
    square = np.array([complex(float(np.float32(3.36e38)), -7e37)], np.complex64)
    infinite = np.array([complex(np.inf, -7e37)], np.complex64)
    for base, shown in ((near, 0.0), (near / 2, np.inf)):
        distance = complex_distance(infinite, square)
        assert relative_distance(distance, infinite, square, growth(OPS["power"], (base, 2)))[0] == shown


def test_arrays_of_another_place_are_compared(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    """As on a GPU: arguments are copied there, what was changed is copied back, and scalars are arrays without axes."""

    class There:
        """An array that only its own place can read."""

        def __init__(self, array: np.ndarray):
            self.array = array

        def get(self) -> np.ndarray:
            return self.array

    def run(function: Any, *arguments: Any) -> Any:
        def there(*given: Any) -> Any:
            found = call_cpu(function, *(g.array if isinstance(g, There) else g for g in given))
            parts = found if isinstance(found, tuple) else (found,)
            parts = tuple(There(np.asarray(p)) if isinstance(p, (np.ndarray, np.generic)) else p for p in parts)
            return parts if isinstance(found, tuple) else parts[0]

        def place(value: Any) -> Any:
            return There(value.copy("K")) if isinstance(value, np.ndarray) else value

        return device_arrays.call(there, arguments, place)

    monkeypatch.setattr(device_arrays, "synchronize", lambda: None)
    report = run_chunk(run, 5, 0, count := 20 if whole else 8)
    assert not report.kinds["differs"], "\n".join(report.tests)
    assert report.kinds["same"] >= 0.75 * count


def test_results_in_another_order_differ() -> None:
    def in_rows(function: Any, *given: Any) -> Any:
        return tuple(np.ascontiguousarray(value) for value in call_cpu(function, *given))

    fuzz_layouts.LAID_OUT.add(in_rows)
    program = Program((Statement("v0", "{0} + 1", ("turned_f32.T",)),), ("v0",))
    arguments = {"turned_f32": Argument(np.ones((3, 4), np.float32))}
    try:
        assert check(program, arguments, call_cpu).kind == "same"
        assert "strides (12, 4) where (4, 16) are expected" in check(program, arguments, in_rows).message
    finally:
        fuzz_layouts.LAID_OUT.discard(in_rows)
    free = Program((Statement("v0", "np.sort({0}.T, axis=0)", ("turned_f32",)),), ("v0",))
    assert not fuzz_layouts.strides_of(free, arguments)

"""The benchmarks' own plumbing: what is required, what is written down, that wrong results are no figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import pytocu

ROOT = Path(__file__).parent.parent
# The benchmarks are a package of the repository that is not installed.
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import call_profile, calls, compile, curve, first_call, loops, program_stages, programs, report, timing  # noqa: E402

WITHOUT = ["--without", "numba", "--without", "torch", "--without", "jax"]


@pytest.fixture
def nothing_installed(monkeypatch):
    missing = {name: report.Peer(f"surely_not_{name}", (), name) for name in report.PEERS}
    monkeypatch.setattr(report, "PEERS", missing)


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_peer_is_a_failure(tmp_path, capsys):
    file = tmp_path / "rows.json"
    assert command.main(["compile", "--cpu", "--section", "first-call", "--json", str(file)]) == 1
    said = capsys.readouterr().err
    assert all(f"--without {name}" in said for name in ("numba", "torch", "jax"))
    assert not file.exists()


@pytest.mark.usefixtures("nothing_installed")
def test_only_what_is_left_out_may_be_missing():
    assert report.required(("numba", "jax"), ("numba", "jax")) == ()
    with pytest.raises(report.BenchmarkError, match="jax") as raised:
        report.required(("numba", "jax"), ("numba",))
    assert "numba" not in str(raised.value)


def test_a_peer_may_be_in_a_directory_of_its_own(nothing_installed, tmp_path):
    (tmp_path / "surely_not_numba").mkdir()
    assert report.required(("numba",), (), {"numba": str(tmp_path)}) == ("numba",)


def test_first_calls_are_written_down(tmp_path, capsys):
    file = tmp_path / "rows.json"
    assert command.main(["compile", "--cpu", "--section", "first-call", "--rounds", "1", "--json", str(file), *WITHOUT]) == 0
    written = json.loads(file.read_text())
    assert written["environment"]["left out"] == ["numba", "torch", "jax"]
    assert {"date", "python", "processor", "versions"} <= written["environment"].keys()
    ((row,),) = [table["rows"] for table in written["tables"]]
    assert row["runs"] == "1+1"
    assert row["cold runs"][0] > 0 and row["warm runs"][0] > 0
    shown = capsys.readouterr().out
    assert "pytocu, llvm" in shown and "left out" in shown


def test_every_case_can_be_run():
    cases = [*compile.gpu_cases(), *compile.cpu_cases(), *compile.cubin_cases()]
    assert {c.program for c in cases} <= first_call.CASES.keys()
    assert {c.peer for c in cases} - {""} <= report.PEERS.keys()


def test_a_wrong_result_is_no_figure(monkeypatch):
    monkeypatch.setitem(first_call.CASES, "zeros", lambda: (lambda: np.zeros(first_call.LENGTH), np.asarray))
    monkeypatch.setattr(sys, "argv", ["first_call", "zeros"])
    with pytest.raises(AssertionError):
        first_call.main()


def test_a_process_that_fails_ends_the_benchmark():
    with pytest.raises(report.BenchmarkError, match=r"(?s)this peer failed.*no such thing"):
        compile.run_child(["-c", "raise ValueError('no such thing')"], compile.child_environment({}), "this peer")


def test_a_measured_process_has_fresh_caches_and_bytecode(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTOCU_CHECK", "1")
    variables = compile.cache_variables(str(tmp_path))
    places = [v for k, v in variables.items() if k.endswith(("_DIR", "_PATH"))]
    assert len(places) == 7 and all(v.startswith(str(tmp_path)) for v in places)
    made = compile.child_environment(variables, "/another/numba")
    assert "PYTHONDONTWRITEBYTECODE" not in made and "PYTOCU_CHECK" not in made
    assert made["PYTOCU_CACHE_DIR"] == variables["PYTOCU_CACHE_DIR"]
    assert made["PYTHONPATH"].startswith("/another/numba")


def test_rounds_end_when_the_time_is_used(monkeypatch):
    case = compile.Case("one", "front_end", "torch", rounds=50)
    monkeypatch.setattr(compile.Setting, "time", lambda self, case, directory: (1.0, {"part": 0.5}))
    compile.run_cases([case], compile.Setting(False, "sm_90"), None, budget=0.0)
    assert (len(case.cold), len(case.warm)) == (1, 1)
    assert case.row()["of which"] == "part 0.5"


def test_candidates_take_turns():
    order: list[tuple[str, int]] = []

    def candidate(name):
        return lambda number: (lambda: order.append((name, number)), 10)

    times = timing.interleaved({"a": candidate("a"), "b": candidate("b")}, lambda: None, 2)
    assert order == [("b", 0), ("a", 0), ("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert {name: len(runs) for name, runs in times.items()} == {"a": 2, "b": 2}


def test_sizes_never_seen_are_never_seen():
    seen: list[int] = []
    prepare = calls._unseen(lambda x, a: seen.append(x), lambda n: (n,), 5)
    for number in range(3):
        batch, count = prepare(number)
        batch()
        assert count == 5
    assert len(set(seen)) == len(seen) == 15


def test_shapes_are_all_different():
    shapes = [s for part in calls._thousands(2500) for s in part]
    assert len(set(shapes)) == len(shapes) == 2500


def test_calls_on_the_cpu(monkeypatch):
    monkeypatch.setattr(calls, "SHAPES", 100)
    one, shapes = calls.run(gpu=False, rounds=2)
    rows = {r["call"]: r for r in one.rows}
    assert rows["NumPy x + y"]["times NumPy x + y"] == 1
    assert {"pytocu, five operations", "pytocu, sizes never seen", "NumPy, five operations"} <= rows.keys()
    # Last axes of two, three and four elements have code of their own.
    assert shapes.rows[0]["shapes"] == 100 and shapes.rows[0]["specializations"] <= 4


def test_whole_programs_beside_numpy(capsys, tmp_path):
    without = ["--without", "numba", "--without", "jax"]
    names = ["equalise", "escape_time", "monte_carlo"]
    page = tmp_path / "page.md"
    sized = ["--size", "12", "--rounds", "2", "--write", str(page)]
    assert command.main(["programs", "--cpu", *sized, *without, "--only", *names]) == 0
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == ["program", *names]
    (table,) = programs.run(False, ["numba", "jax"], 1, names, 12)
    assert all(row["in library calls"] == "none" for row in table.rows)
    assert all(row["pytocu"] > 0 and row["numpy"] > 0 and row["kernels"] for row in table.rows)
    assert command.main(["programs", "--cpu", *without, "--only", "nosuch"]) == 1
    assert "there is no program nosuch" in capsys.readouterr().err


def test_the_share_of_library_calls():
    share, called = programs._share(lambda a, b: np.linalg.solve(a, b) + 1, (np.eye(40), np.ones(40)), lambda: None)
    assert called == ["linalg.solve"] and 0 < share < 1


def test_a_program_with_another_result_than_numpys_is_no_figure(monkeypatch):
    monkeypatch.setattr(programs, "_agree", lambda made, expected, within: False)
    with pytest.raises(report.BenchmarkError, match="monte_carlo: the result is not NumPy's"):
        programs.run(False, ["numba", "jax"], 1, ["monte_carlo"], 12)


def test_the_profile_accounts_for_the_whole_call():
    table = call_profile.run(gpu=False, rounds=2)
    rows = {r["step"]: r for r in table.rows}
    whole = rows["pytocu, the whole call"]["us"]
    assert rows["sum of the steps"]["us"] + rows["left: Python between them"]["us"] == pytest.approx(whole)


@pytest.mark.parametrize("run", [curve.run, curve.run_loops])
def test_the_curve(run):
    table = run((10, 20, 40))
    assert [r["statements"] for r in table.rows] == [10, 20, 40]
    assert all(r["total ms"] == pytest.approx(r["front end ms"] + r["passes ms"]) for r in table.rows)


def test_whole_programs_are_compiled_stage_by_stage():
    (row,) = compile.whole_programs(1, ["jacobi"]).rows
    assert row["program"] == "jacobi"
    assert row["kernels"] >= 1
    assert row["lines of LLVM IR"] > 100
    assert row["total"] == pytest.approx(sum(row[stage] for stage in program_stages.STAGES))
    assert all(row[stage] > 0 for stage in program_stages.STAGES)


@pytest.mark.parametrize("power", [1, 2])
def test_the_fit_tells_linear_from_quadratic(power):
    rows = [{"statements": n, "total ms": 0.25 * n**power} for n in curve.STATEMENTS]
    slope, _, exponent = curve.fit(rows)
    assert exponent == pytest.approx(power)
    if power == 1:
        assert slope == pytest.approx(0.25)


def test_the_long_function_is_as_long_as_it_says():
    import inspect

    function = curve.function_of(30)
    assert len(inspect.getsource(function).splitlines()) == 31
    assert len(inspect.getsource(curve.loop_of(30)).splitlines()) == 32
    assert function(np.ones(3, np.float32), np.ones(3, np.float32), 1.5).dtype == np.float32


def test_time_loops_are_checked_and_timed(monkeypatch):
    monkeypatch.setattr(loops, "DIFFERING", [(function, shape, 9) for function, shape, _ in loops.DIFFERING])
    table, differing = loops.run(False, ("numba",), 1, [(40, 20)])
    assert [row["candidate"] for row in table.rows] == ["pytocu, in place", "pytocu, swapped", "NumPy"]
    assert [row["candidate"] for row in differing.rows] == ["pytocu", "NumPy"] * 3
    assert all(row["us a step"] > 0 and row["times best peer"] > 0 for row in (*table.rows, *differing.rows))
    monkeypatch.setattr(loops, "in_place", lambda u, steps: u)
    monkeypatch.setattr(pytocu, "jit", lambda function: function)
    with pytest.raises(report.BenchmarkError, match="steps give another result than NumPy"):
        loops.run(False, ("numba",), 1, [(40, 20)])

"""The run-time benchmarks: every workload's results, and the table from a clock that does not measure."""

from __future__ import annotations

import json
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
# The benchmarks are a package of the repository that is not installed.
sys.path.insert(0, str(ROOT))

import pytocu  # noqa: E402
from benchmarks import __main__ as command  # noqa: E402
from benchmarks import (  # noqa: E402
    chart,
    cpu,
    cpu_peers,
    cuda_kernels,
    functions,
    gpu,
    gpu_peers,
    lengths,
    performance_page,
    report,
    run_time,
    run_time_command,
)
from benchmarks.run_time import Call, Section  # noqa: E402
from benchmarks.workloads import WORKLOADS, Array, Workload, as_tuple, checked, error_of, reference, result_types  # noqa: E402

NAMES = [w.name for w in WORKLOADS]


def _waits(result):
    pass


@pytest.mark.parametrize("workload", WORKLOADS, ids=NAMES)
def test_numpy_is_right(workload):
    arguments = workload.make(workload.tiny)
    results = [np.asarray(r) for r in as_tuple(workload.function(*arguments))]
    assert not checked(workload, results, reference(workload, arguments), result_types(workload))[0]


@pytest.mark.parametrize("workload", WORKLOADS, ids=NAMES)
def test_pytocu_is_right(workload):
    arguments = workload.make(workload.tiny)
    results = [np.asarray(r) for r in as_tuple(pytocu.jit(workload.function)(*arguments))]
    assert not checked(workload, results, reference(workload, arguments), result_types(workload))[0]


def test_names_and_functions_are_there_once():
    assert len({*NAMES}) == len(NAMES) >= 28
    written = {name for name, value in vars(functions).items() if callable(value)}
    assert {w.function.__name__ for w in WORKLOADS} == written


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float16", "float32", "float64", "complex64"])
def test_arrays_have_values_of_their_range(dtype):
    made = Array((500,), dtype, 0, 100).filled(np, np.random.default_rng(1))
    assert made.dtype == dtype and made.shape == (500,)
    if made.dtype.kind in "iuf":
        assert 0 <= made.min() < 10 and 90 < made.max() <= 100


def test_errors_are_seen():
    x = np.array([1.0, 100.0, np.inf])
    assert error_of([x], [x]) == 0
    assert error_of([np.array([1.0, 101.0, np.inf])], [x]) == pytest.approx(0.01)
    assert error_of([np.array([1, np.nan, np.inf])], [x]) == np.inf
    assert error_of([x[:2]], [x]) == np.inf
    assert error_of([x, x], [x]) == np.inf
    assert error_of([np.array([1, 2, 3, 4])], [np.array([1, 2, 3, 5])]) == 0.25


DOUBLE = Workload("double", functions.scaled_sum, lambda n: [2.0, Array((n,)), Array((n,))], (100,), (100,), (10,), target=0.95)
PAIRS = Workload(
    "pairs", functions.kernel_sums, lambda n: [Array((n,))] * 3, (50,), (50,), (5,), operations=lambda n: 6 * n * n
)


def _numpy(workload, arguments):
    return Call(lambda: workload.function(*arguments), _waits)


def _wrong(workload, arguments):
    return Call(lambda: workload.function(*arguments) + np.float32(0.5), _waits)


def _wide(workload, arguments):
    return Call(lambda: workload.function(*arguments).astype(np.float64), _waits)


def _refuses(workload, arguments):
    raise ValueError("no such operation\nand a long trace")


def _refused_by_pytocu(workload, arguments):
    return Call(lambda: pytocu.jit(lambda x: np.linalg.eigvals(x))(np.eye(2)), _waits)


SECONDS = {"pytocu": 2e-6, "numpy": 1.6e-6, "other": 4e-6}


def _section(**makers):
    def clock(calls, estimates):
        assert calls.keys() == estimates.keys()
        return {name: SECONDS.get(name, 1.0) for name in calls}

    random = lambda: np.random.default_rng(0)  # noqa: E731
    return Section("gpu", np, random, makers, clock, np.asarray, 1e9, references=("cuda",))


def test_a_table_of_shares(capsys):
    section = _section(pytocu=_numpy, numpy=_numpy, other=_numpy, odd=_refuses, wide=_wide, cuda=_wrong)
    kept: list[int] = []
    table, problems = run_time.run(section, [DOUBLE, PAIRS], 1.0, 100.0, lambda t: kept.append(len(t.rows)))
    assert not problems and kept == [1, 2, 2]
    first, second = table.rows
    assert first["bytes"] == 1200 and first["limit us"] == pytest.approx(1.2)
    assert [first[n] for n in ("pytocu", "numpy", "other")] == pytest.approx([0.6, 0.75, 0.3])
    assert first["error / numpy's"] == 1 and first["cuda error"] > 0.1
    assert first["best peer"] == "numpy" and first["times best peer"] == pytest.approx(1.25)
    assert first["odd"] == "fails: ValueError: no such operation"
    assert first["wide"] == "fails: gives float64 where NumPy gives float32"
    assert first["cuda"].startswith("fails: wrong by")
    assert second["pytocu"] == pytest.approx(6 * 50 * 50 / 2e-6 / 1e9) and run_time.shown(second, "pytocu") == "7.50 G/s"
    assert run_time.misses(table.rows, ["pytocu"]) == [
        "double: 0.60 of the copy limit, 0.95 is to reach",
        "double: 1.25 times the time of numpy",
        "pairs: 1.25 times the time of numpy",
    ]
    assert run_time.reasons(table.rows, ["odd"]) == ["odd fails: ValueError: no such operation (all)"]
    assert "[2/2" in capsys.readouterr().err


def test_names_with_brackets_are_shown(capsys):
    report.show({}, [report.Table("One", ("workload",), (), [{"workload": "table[index]"}])])
    assert "table[index]" in capsys.readouterr().out


def test_wrong_results_of_pytocu_are_a_problem_and_refusals_are_shown():
    table, problems = run_time.run(_section(pytocu=_wrong), [DOUBLE], 1.0, 100.0)
    assert len(problems) == 1 and "wrong by" in problems[0] and "pytocu us" not in table.rows[0]
    table, problems = run_time.run(_section(pytocu=_refused_by_pytocu), [DOUBLE], 1.0, 100.0)
    assert not problems and table.rows[0]["pytocu"].startswith("refused: ")
    (miss,) = run_time.misses(table.rows, ["pytocu"])
    assert miss.startswith("double: refused: ")


def test_slow_peers_and_used_budgets_are_said():
    table, _ = run_time.run(_section(pytocu=_numpy, numpy=_numpy), [DOUBLE], 0.0, 100.0)
    assert "a call, more than 0 s" in table.rows[0]["numpy"] and table.rows[0]["pytocu"] == pytest.approx(0.6)
    table, _ = run_time.run(_section(pytocu=_numpy), [DOUBLE], 1.0, -1.0)
    assert table.rows[0]["pytocu"] == "not measured: -1 s are used"


def test_what_cannot_be_made_does_not_end_the_run():
    broken = Workload("broken", functions.row_norm, lambda n: [Array((n,))], (3,), (3,), (3,))
    table, _ = run_time.run(_section(pytocu=_numpy), [broken, DOUBLE], 1.0, 100.0)
    assert table.rows[0]["pytocu"].startswith("not measured: fails: AxisError")
    assert table.rows[1]["pytocu"] == pytest.approx(0.6)


def test_details_that_fail_leave_the_figures(monkeypatch):
    section = _section(pytocu=_numpy)
    section.details = lambda workload, arguments: 1 / 0
    table, _ = run_time.run(section, [DOUBLE], 1.0, 100.0)
    assert table.rows[0]["pytocu"] == pytest.approx(0.6) and "ZeroDivisionError" in table.rows[0]["launches"]


ABOUT = {"date": "2026-01-02 03:04 UTC", "processor": "a CPU", "cpus": 2, "versions": {"numpy": "2"}, "device": "a GPU"}


def test_the_picture(tmp_path):
    from matplotlib.image import imread

    section = _section(pytocu=_numpy, numpy=_numpy, odd=_refuses, cuda=_wrong)
    for number, chosen in enumerate(([DOUBLE, PAIRS], [DOUBLE], [PAIRS], [])):
        table, _ = run_time.run(section, chosen, 1.0, 100.0)
        file = tmp_path / f"{number}.png"
        chart.draw(file, table.rows, section.ours, section.peers, section.references, ABOUT)
        picture = imread(file)
        assert picture.shape[0] > 200 and picture[:, :, :3].min() < 0.5 < picture[:, :, :3].mean()


def test_the_page_keeps_what_people_wrote(tmp_path):
    section = _section(pytocu=_numpy, numpy=_numpy, odd=_refuses)
    table, _ = run_time.run(section, [DOUBLE], 1.0, 100.0)
    page = tmp_path / "performance.md"
    page.write_text("# Speed\n\nIn front.\n")
    for _ in range(2):
        for group in ("gpu", "cpu"):
            measured = performance_page.section_text(group, ABOUT, table, section.ours, section.peers)
            performance_page.write(page, group, measured)
    with page.open("a") as opened:
        opened.write("\nBehind.\n")
    picture = tmp_path / "shares.png"
    measured = performance_page.section_text("gpu", ABOUT, table, section.ours, section.peers, (), picture, tmp_path)
    performance_page.write(page, "gpu", measured)
    text = page.read_text()
    assert text.startswith("# Speed\n\nIn front.\n") and text.endswith("Behind.\n")
    assert text.count("## On a GPU") == text.count("## On a CPU") == 1
    assert "| double | 1.20 | 0.60 | 0.75 | fails |" in text
    assert "* double: 0.60 of the copy limit, 0.95 is to reach" in text and "(shares.png)" in text
    assert "a GPU, 2026-01-02 03:04 UTC" in text


def test_the_command_on_the_cpu(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    tiny = [w for w in WORKLOADS if w.name in ("2.5*a*x + y*z - 1", "softmax of rows")]
    monkeypatch.setattr(run_time_command, "WORKLOADS", tiny)
    monkeypatch.setattr(run_time, "_sizes", lambda name, workload: workload.tiny)
    monkeypatch.setattr(cpu, "copy_speed", lambda now: 1e10)
    file, page = tmp_path / "rows.json", tmp_path / "performance.md"
    options = ["--without", "numexpr,numba,jax,torch", "--json", str(file), "--write", str(page)]
    assert command.main(["cpu", *options]) == 0
    written = json.loads(file.read_text())
    assert written["environment"]["left out"] == ["numexpr", "numba", "jax", "torch"]
    rows = {row["workload"]: row for row in written["tables"][0]["rows"]}
    assert rows.keys() == {w.name for w in tiny}
    assert rows["2.5*a*x + y*z - 1"]["pytocu us"] > 0 and rows["softmax of rows"]["numpy us"] > 0
    assert "Run time" in capsys.readouterr().out and "## On a CPU" in page.read_text()
    # What follows from the rows can be made later.
    again, picture = tmp_path / "again.md", tmp_path / "shares.png"
    assert command.main(["cpu", "--from", str(file), "--write", str(again), "--chart", str(picture)]) == 0
    assert again.read_text().replace("![Shares of the limit](shares.png)\n\n", "") == page.read_text()
    assert picture.stat().st_size > 10_000
    assert command.main(["cpu", "--from", str(page)]) == 1
    assert "is no result of an earlier run" in capsys.readouterr().err
    pinned: list[int] = []
    monkeypatch.setattr(cpu, "one_cpu", lambda: pinned.append(1))
    assert command.main(["cpu", *options, "--processor-time"]) == 0
    assert pinned == [1] and "in processor time, with one CPU" in page.read_text() and "load average" in page.read_text()
    assert command.main(["cpu", *options, "--only", "no such workload"]) == 1
    assert "no workload has 'no such workload'" in capsys.readouterr().err


@pytest.mark.parametrize("case", lengths.CASES, ids=[c.name for c in lengths.CASES])
def test_functions_of_every_length_are_right(case):
    found, problems = lengths.tables(_section(pytocu=cpu_peers.pytocu_call), [case], [3, 130], 400, 1.0)
    assert not problems
    (row,) = found[0].rows
    assert row["along"] == case.name and row["3"] > 0 and row["130"] > 0


def test_tables_of_lengths(monkeypatch, capsys):
    monkeypatch.setattr(cpu, "copy_speed", lambda now: 1e10)
    options = ["lengths", "--cpu", "--peers", "numpy", "--elements", "200", "--lengths", "4", "50"]
    assert command.main([*options, "--only", "cumsum", "argmax"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("argmax") == printed.count("cumsum") == 2 and "200 elements in all" in printed
    assert command.main([*options, "--only", "nothing of the kind"]) == 1
    assert "no function has 'nothing of the kind' in its name; there are: softmax, " in capsys.readouterr().err
    wrong = lengths.tables(_section(pytocu=_wrong), lengths.CASES[:1], [4], 40, 1.0)[1]
    assert len(wrong) == 1 and wrong[0].startswith("softmax, 4: pytocu fails: wrong by ")


def test_missing_peers_fail_the_run(monkeypatch, capsys):
    monkeypatch.setattr(report, "PEERS", {name: report.Peer(f"surely_not_{name}", (), name) for name in report.PEERS})
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    assert command.main(["cpu", "--without", "numba,torch"]) == 1
    said = capsys.readouterr().err
    assert "--without numexpr" in said and "--without jax" in said and "--without numba" not in said
    with pytest.raises(report.BenchmarkError, match="there is no peer nobody"):
        run_time_command.chosen_peers(run_time_command.CPU_PEERS, ["nobody"], [])
    assert run_time_command.chosen_peers(run_time_command.CPU_PEERS, ["numpy"], []) == ("numpy",)
    assert run_time_command.chosen_peers(run_time_command.GPU_PEERS, None, ["cupy", "torch", "jax"]) == ()


def test_peers_have_the_names_that_are_offered():
    assert (*cpu_peers.PEERS,) == run_time_command.CPU_PEERS


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are asked for through glibc")
def test_all_candidates_get_huge_pages():
    made = cpu.in_huge_pages({"HOME": "/", "GLIBC_TUNABLES": "mine"})
    assert made is not None and made["HOME"] == "/" and made["GLIBC_TUNABLES"] == "mine"
    assert cpu.in_huge_pages(made) is None


def test_the_clock_takes_turns_in_an_order_drawn_anew(monkeypatch):
    order: list[str] = []
    calls = {name: Call(lambda name=name: order.append(name), _waits) for name in "abc"}
    times = cpu.clock(calls, {"a": 0.05, "b": 10.0, "c": 10.0}, rounds=15)
    rounds = ["".join(order[start : start + 3]) for start in range(0, 45, 3)]
    assert [sorted(names) for names in rounds] == [["a", "b", "c"]] * 15 and all(t > 0 for t in times.values())
    # Each comes behind each of the others, and not always behind the same.
    assert {"ab", "ac", "ba", "bc", "ca", "cb"} <= {pair for names in rounds for pair in (names[:2], names[1:])}
    order.clear()
    monkeypatch.setattr(cpu, "SECONDS", 0.0)
    cpu.clock(calls, {"a": 0.05, "b": 10.0, "c": 10.0}, rounds=9)
    assert sorted(order) == sorted("abc" * 3)
    order.clear()
    cpu.clock({"a": calls["a"]}, {"a": 0.01}, rounds=2)
    assert len(order) == 2 * (1 + 5)


class _Event:
    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        pass


@pytest.fixture
def cupy_on_the_host(monkeypatch):
    """What the GPU benchmarks use of CuPy, with NumPy's arrays."""
    stand_in = types.ModuleType("cupy")
    vars(stand_in).update(vars(np))
    pool = types.SimpleNamespace(free_all_blocks=lambda: None)
    stand_in.get_default_memory_pool = lambda: pool
    stand_in.fuse = lambda kernel_name: lambda function: function
    stand_in.RawModule = _refuses
    device = types.SimpleNamespace(synchronize=lambda: None)
    elapsed = lambda start, end: (end.time - start.time) * 1e3  # noqa: E731
    stand_in.cuda = types.SimpleNamespace(Event=_Event, Device=lambda: device, get_elapsed_time=elapsed)
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    monkeypatch.setattr(gpu, "copy_speed", lambda: 1e12)
    cuda_kernels._module.cache_clear()
    return stand_in


def test_the_gpu_section_with_a_stand_in(cupy_on_the_host):
    section = gpu.section(("cupy", "cupy.fuse", "cuda"), ("nvvm", "cuda_c"))
    assert section.ours == ("pytocu nvvm", "pytocu cuda_c") and section.peers == ("cupy", "cupy.fuse")
    chosen = [w for w in WORKLOADS if w.name in ("Black-Scholes", "x.T + y")]
    section.makers |= {"pytocu nvvm": _numpy, "pytocu cuda_c": _numpy}
    table, problems = run_time.run(section, chosen, 10.0, 100.0, sizes=lambda workload: workload.tiny)
    assert not problems
    first, second = table.rows
    assert all(first[f"{n} us"] > 0 for n in (*section.ours, *section.peers))
    assert "cuda" not in second and first["cuda"].startswith("fails: TypeError")
    # With no device nothing is known of the kernels, and what was measured stays.
    assert "launches" in first


def test_times_of_streams_of_their_own_are_slopes(cupy_on_the_host, monkeypatch):
    now = [0.0]

    def passes(seconds):
        now[0] += seconds

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    # Waiting takes longer than three calls, and is not in the slope.
    call = Call(lambda: passes(2.0), lambda result: passes(7.0), own_stream=True)
    assert gpu.slope_time(call, 3, cupy_on_the_host) == pytest.approx(2.0)
    assert gpu.event_time(call, 3, cupy_on_the_host) == pytest.approx(2.0)
    assert gpu.clock({"a": call, "b": call._replace(own_stream=False)}, {"a": 2.0, "b": 2.0}) == {"a": 2.0, "b": 2.0}
    # The first batch, a short one, is held up: without it the slope is the same.
    began: list[float] = []

    def held_up():
        began.append(now[0])
        passes(2.0 + 3.0 * (len(began) == gpu.AHEAD + 1))

    assert gpu.slope_time(call._replace(function=held_up), 3, cupy_on_the_host) == pytest.approx(2.0)


def test_gpu_peers_have_the_names_that_are_offered():
    assert (*gpu_peers.PEERS,) == run_time_command.GPU_PEERS


def test_every_kernel_by_hand_belongs_to_a_workload():
    assert {w.function.__name__ for w in WORKLOADS} >= cuda_kernels.KERNELS.keys()


def test_kernels_by_hand_compile():
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    _, program = nvrtc.nvrtcCreateProgram(cuda_kernels.SOURCE.encode(), b"by_hand.cu", 0, None, None)
    (status,) = nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS


def test_a_lost_device_ends_the_run_and_keeps_what_is_measured():
    def lost(workload, arguments):
        if workload is PAIRS:
            raise pytocu.errors.DeviceLostError("the context is lost")
        return _numpy(workload, arguments)

    table, problems = run_time.run(_section(pytocu=lost), [DOUBLE, PAIRS, DOUBLE], 1.0, 100.0)
    assert len(table.rows) == 1 and problems == ["pairs: refused: the context is lost"]

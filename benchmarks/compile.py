"""Compile time: first calls in fresh processes with cold and warm caches, beside raw NVRTC and the peers.

Six tables: first calls, source to cubin (no GPU), the import, two curves of the front end
and the passes, and whole programs stage by stage.  Every process of the first three does one thing, is alone
while it runs, and the cases take turns, so that a slow minute of the machine hits all alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import curve, program_stages, programs
from benchmarks.report import BenchmarkError, Table, median, progress, required

SECTIONS = ("first-call", "cubin", "import", "curve", "programs")
BUDGET = 110.0
"""Seconds that first calls may take before no new round begins."""

_ROOT = Path(__file__).resolve().parents[1]


@dataclass(slots=True)
class Case:
    """One row of first calls.

    Parameters
    ----------
    name : str
        As the table says it.
    program : str
        A case of :mod:`benchmarks.first_call`.
    peer : str
        The peer it needs, if any.
    rounds : int
        How often it runs from nothing (and, where it has a cache, with a warm one).
    has_cache : bool
    """

    name: str
    program: str
    peer: str = ""
    rounds: int = 5
    has_cache: bool = True
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Medians and minima, and all runs for the JSON."""
        return {
            "first call": self.name,
            "cold median": median(self.cold),
            "cold min": min(self.cold, default=None),
            "warm median": median(self.warm) if self.warm else None,
            "warm min": min(self.warm, default=None),
            "runs": f"{len(self.cold)}+{len(self.warm)}",
            "of which": ", ".join(f"{name} {median(values):.1f}" for name, values in self.parts.items()),
            "cold runs": self.cold,
            "warm runs": self.warm,
        }


def gpu_cases() -> list[Case]:
    """What runs on a GPU; the slow ones are repeated less."""
    return [
        Case("pytocu, cuda_c", "pytocu_cuda_c"),
        Case("pytocu, nvvm", "pytocu_nvvm"),
        Case("pytocu, nvvm, softmax of rows", "pytocu_nvvm_softmax"),
        Case("raw NVRTC, same source, to a cubin", "raw_nvrtc", has_cache=False),
        Case("cupy.ElementwiseKernel", "cupy_elementwise_kernel", "cupy", 3),
        Case("cupy.fuse", "cupy_fuse", "cupy", 3),
        Case("Triton", "triton_jit", "triton", 2),
        Case("Numba CUDA", "numba_cuda", "numba", 2),
        Case("JAX", "jax_jit", "jax", 2),
        Case("torch.compile", "torch_compile", "torch", 1),
    ]


def cpu_cases() -> list[Case]:
    """What runs on the CPU."""
    return [
        Case("pytocu, llvm", "pytocu_llvm"),
        Case("Numba njit", "numba_cpu", "numba", 2),
        Case("JAX", "jax_jit", "jax", 2),
        Case("torch.compile", "torch_compile_cpu", "torch", 1),
    ]


def cubin_cases() -> list[Case]:
    """Source to cubin: needs the compilers and no GPU."""
    return [
        Case("pytocu, cuda_c", "cubin_cuda_c", has_cache=False),
        Case("pytocu, nvvm", "cubin_nvvm", has_cache=False),
        Case("pytocu, nvvm, as in a call", "ahead_nvvm"),
        Case("pytocu, nvvm, softmax as in a call", "ahead_nvvm_softmax"),
        Case("raw NVRTC, same source", "raw_nvrtc", has_cache=False),
    ]


def cache_variables(directory: str) -> dict[str, str]:
    """Environment variables that put every cache on disk under a directory."""
    places = {
        "PYTOCU_CACHE_DIR": "pytocu",
        "CUPY_CACHE_DIR": "cupy",
        "TRITON_CACHE_DIR": "triton",
        "TORCHINDUCTOR_CACHE_DIR": "inductor",
        "NUMBA_CACHE_DIR": "numba",
        "JAX_COMPILATION_CACHE_DIR": "jax",
        # The driver's own cache of PTX.
        "CUDA_CACHE_PATH": "driver",
    }
    # JAX keeps only what took long to compile, unless told otherwise.
    limits = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    return {name: os.path.join(directory, place) for name, place in places.items()} | limits


def child_environment(variables: dict[str, str], first_path: str = "") -> dict[str, str]:
    """The environment of a measured process; `first_path` comes first on its ``PYTHONPATH``."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTOCU_")}
    # Without bytecode every process would compile Python instead of what is measured.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    path = os.pathsep.join(p for p in (first_path, str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)
    return {**kept, "PYTHONPATH": path, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", **variables}


def run_child(command: Sequence[str], environment: dict[str, str], what: str) -> str:
    """The last line that a process prints.

    Raises
    ------
    BenchmarkError
        It failed: with the end of what it said.
    """
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, cwd=_ROOT)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise BenchmarkError(f"{what} failed (leave a peer out with --without NAME):\n{said}")
    return done.stdout.strip().splitlines()[-1]


@dataclass(slots=True)
class Setting:
    """What all processes of a run share."""

    gpu: bool
    arch: str
    numba_path: str = ""

    def variables(self, case: Case) -> dict[str, str]:
        """The environment variables a case reads, besides those of caches."""
        if case.program != "raw_nvrtc" and not case.program.startswith(("cubin_", "ahead_")):
            return {} if self.gpu else {"JAX_PLATFORMS": "cpu"}
        variables = {"BENCHMARK_GPU": "1" if self.gpu else "0", "BENCHMARK_ARCH": self.arch}
        if not case.has_cache:
            variables["PYTOCU_CACHE"] = "0"
        if case.program == "raw_nvrtc":
            import pytocu
            from benchmarks.functions import five_operations
            from pytocu.backend import nvrtc

            lowered = pytocu.jit(five_operations).lower("f32[n]", "f32[n]", "f32[n]", "weak float")
            variables["BENCHMARK_SOURCE"] = lowered.compile(f"cuda:{self.arch}", "cuda_c").source
            variables["BENCHMARK_OPTIONS"] = " ".join(nvrtc.options_for(self.arch))
        return variables

    def time(self, case: Case, directory: str) -> tuple[float, dict[str, float]]:
        """One process of a case, with its caches in a directory."""
        first_path = self.numba_path if case.peer == "numba" else ""
        environment = child_environment(cache_variables(directory) | self.variables(case), first_path)
        line = run_child(["-m", "benchmarks.first_call", case.program], environment, case.name)
        answer = json.loads(line)
        return answer["milliseconds"], answer["parts"]


def run_cases(cases: Sequence[Case], setting: Setting, rounds: int | None, budget: float = BUDGET) -> None:
    """Fill the cases: each round runs every case that still has rounds, from nothing and then warm."""
    began = time.perf_counter()
    for case in cases:
        if not case.peer:
            # Writes bytecode and brings the files into memory, as installing and using a package does.
            with tempfile.TemporaryDirectory() as directory:
                setting.time(case, directory)
    most = rounds or max((c.rounds for c in cases), default=0)
    for number in range(most):
        if number and time.perf_counter() - began > budget:
            progress(f"{number} of {most} rounds: the time is used up")
            return
        for case in cases:
            if number >= (rounds or case.rounds):
                continue
            with tempfile.TemporaryDirectory() as directory:
                cold, parts = setting.time(case, directory)
                case.cold.append(cold)
                for name, milliseconds in parts.items():
                    case.parts.setdefault(name, []).append(milliseconds)
                shown = f"{case.name}: cold {cold:.1f} ms"
                if case.has_cache:
                    case.warm.append(setting.time(case, directory)[0])
                    shown += f", warm {case.warm[-1]:.1f} ms"
            progress(f"round {number + 1}: {shown}")


_COLUMNS = ("first call", "cold median", "cold min", "warm median", "warm min", "runs", "of which")
_NOTES = (
    "milliseconds to the first result of 2.5*a*x + y*z - 1 on 1000 float32, each in a fresh process",
    "the clock starts with the library and pytocu or the peer imported, arrays made and the CUDA context current, and",
    "includes what is imported from there on (compilers among it); warm: another process has run the same before",
)


def first_calls(setting: Setting, without: Sequence[str], rounds: int | None) -> Table:
    """First calls with cold and warm caches."""
    cases = gpu_cases() if setting.gpu else cpu_cases()
    wanted = required(dict.fromkeys(c.peer for c in cases if c.peer), without, {"numba": setting.numba_path})
    cases = [c for c in cases if not c.peer or c.peer in wanted]
    run_cases(cases, setting, rounds)
    return Table("First call", _COLUMNS, _NOTES, [c.row() for c in cases])


def cubins(setting: Setting, rounds: int | None) -> Table:
    """Source to a cubin with no GPU, and front end and passes alone."""
    without_gpu = Setting(False, setting.arch)
    cases = [*cubin_cases(), Case("front end and passes, 20 operations", "front_end", has_cache=False)]
    run_cases(cases, without_gpu, rounds)
    notes = (f"milliseconds for {setting.arch} in fresh processes, NumPy and pytocu imported, no GPU used, no cache",)
    columns = ("first call", "cold median", "cold min", "of which")
    return Table("Source to cubin", columns, notes, [c.row() for c in cases])


_IMPORT = "import time; s = time.perf_counter(); {statement}; print((time.perf_counter() - s) * 1e3)"


def imports(processes: int = 15) -> Table:
    """pytocu with `jit`, whose module imports NumPy, against ``import numpy``, taking turns."""
    modules = ("numpy", "pytocu")
    statements = {"numpy": "import numpy", "pytocu": "from pytocu import jit"}
    times: dict[str, list[float]] = {m: [] for m in modules}
    environment = child_environment({})
    for number in range(processes + 1):
        for module in modules:
            spent = float(run_child(["-c", _IMPORT.format(statement=statements[module])], environment, f"import {module}"))
            # The first process of each writes bytecode and brings the files into memory.
            if number:
                times[module].append(spent)
    ratio = median([b / a for a, b in zip(times["numpy"], times["pytocu"], strict=True)])
    progress(f"import pytocu: {ratio:.2f} times import numpy")
    rows = [{"import": m, "median": median(times[m]), "min": min(times[m]), "runs": len(times[m])} for m in modules]
    rows[1]["times numpy"] = ratio
    notes = ("milliseconds in fresh processes taking turns; the ratio is the median of the ratios of neighbours",)
    return Table("Import", ("import", "median", "min", "runs", "times numpy"), notes, rows)


PROGRAM_ROUNDS = 3
"""Processes of each program; the least of each stage is shown."""


def whole_programs(rounds: int | None, names: Sequence[str] = ()) -> Table:
    """What compiling the whole programs takes, stage by stage; needs no GPU."""
    environment = child_environment({"PYTOCU_CACHE": "0"})
    figures = (*program_stages.STAGES, "passes, GPU")
    rows: list[dict[str, Any]] = []
    for name in names or programs.names():
        command = ["-m", "benchmarks.program_stages", name]
        runs = [json.loads(run_child(command, environment, name)) for _ in range(rounds or PROGRAM_ROUNDS)]
        row: dict[str, Any] = {"program": name, "kernels": runs[0]["kernels"], "lines of LLVM IR": runs[0]["lines"]}
        row |= {figure: min(one[figure] for one in runs) for figure in figures}
        rows.append(row | {"total": sum(row[stage] for stage in program_stages.STAGES)})
        progress(f"{name}: {rows[-1]['total']:.0f} ms")
    columns = ("program", "kernels", "lines of LLVM IR", *program_stages.STAGES, "total", "passes, GPU")
    notes = (
        "milliseconds of processor time, no cache, in processes that have compiled a small function before;",
        "code for the CPU; kernels of the same code count once, and the total is without the passes of code for a GPU",
    )
    return Table("Whole programs", columns, notes, rows)


def run(
    gpu: bool,
    without: Sequence[str] = (),
    sections: Sequence[str] = (),
    rounds: int | None = None,
    numba_path: str = "",
    arch: str = "sm_90",
) -> list[Table]:
    """The tables.

    Parameters
    ----------
    gpu : bool
        First calls on the current GPU, else on the CPU.
    without : sequence of str
        Peers to leave out.
    sections : sequence of str
        Some of `SECTIONS`; all by default, on the CPU all but ``cubin``.
    rounds : int, optional
        Rounds of every case instead of its own number.
    numba_path : str
        A directory with Numba and a NumPy it works with, first on the path of Numba's processes.
    arch : str
        Of the cubins.

    Raises
    ------
    BenchmarkError
        A peer is missing, or a process failed.
    """
    chosen = sections or (SECTIONS if gpu else tuple(s for s in SECTIONS if s != "cubin"))
    setting = Setting(gpu, arch, numba_path)
    tables: list[Table] = []
    for section in chosen:
        match section:
            case "first-call":
                tables.append(first_calls(setting, without, rounds))
            case "cubin":
                tables.append(cubins(setting, rounds))
            case "import":
                tables.append(imports())
            case "programs":
                tables.append(whole_programs(rounds))
            case _:
                tables.extend((curve.run(), curve.run_loops()))
    return tables

"""``python -m benchmarks GROUP``.

``gpu``      run time of every workload: shares of the copy limit, beside CuPy, cupy.fuse, PyTorch, torch.compile, JAX
``cpu``      the same on a CPU, beside NumPy, numexpr, Numba, JAX and torch.compile
``lengths``  shares of the limit of sums, norms, scans and transposes by the length of their axis
``calls``    host time of one call on tiny arrays, beside the peers; ``--profile`` shows where it goes
``loops``    a step of a time loop, beside the peers and beside what its kernels alone take
``programs`` whole programs of ``examples/``: kernels, library calls, times beside NumPy and the peers
``compile``  time to the first result in fresh processes, to a cubin, of the import, and of the front end

A peer that is missing ends a benchmark with an error; ``--without NAME`` leaves one out, and the
table says so.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import calls, compile, lengths, loops, performance_page, programs, run_time_command
from benchmarks.report import PEERS, BenchmarkError, Table, environment, show, write_json


def _peers(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = sorted({*names} - PEERS.keys())
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no peer {', '.join(unknown)}; choose from {', '.join(sorted(PEERS))}")
    return names


def arguments_of(command: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", type=Path, metavar="FILE", help="also write all rows and the environment here")
    common.add_argument(
        "--without", action="extend", default=[], type=_peers, metavar="NAME,...", help=f"leave out: {', '.join(sorted(PEERS))}"
    )
    groups = parser.add_subparsers(dest="group", required=True)
    run_times = argparse.ArgumentParser(add_help=False, parents=[common])
    run_times.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="workloads whose name has one of these texts")
    run_times.add_argument("--peers", nargs="*", metavar="NAME", help="only these columns, such as cupy.fuse and torch.compile")
    run_times.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS", help="begin no workload after it")
    run_times.add_argument("--slow", type=float, metavar="SECONDS", help="leave a peer out where a call takes longer")
    run_times.add_argument("--from", type=Path, metavar="FILE", dest="read", help="measure nothing: show the JSON of a run")
    run_times.add_argument("--chart", type=Path, metavar="FILE", help="draw the shares as a PNG")
    run_times.add_argument("--write", type=Path, metavar="FILE", help="put the table into this page: docs/performance.md")

    run_time = groups.add_parser("gpu", parents=[run_times], help="run time on a GPU")
    run_time.add_argument("--backend", choices=["cuda_c", "nvvm", "both"], default=None, help="the default one otherwise")
    on_cpu = groups.add_parser("cpu", parents=[run_times], help="run time on the CPU")
    on_cpu.add_argument("--processor-time", action="store_true", help="one CPU and its time: for machines that others use too")

    along = groups.add_parser("lengths", parents=[common], help="run time by the length of an axis")
    along.add_argument("--cpu", action="store_true", help="NumPy arrays instead of a GPU")
    along.add_argument("--processor-time", action="store_true", help="one CPU and its time")
    along.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="functions whose name has one of these texts")
    along.add_argument("--peers", nargs="*", default=[], metavar="NAME", help="these too, such as torch.compile")
    along.add_argument("--lengths", nargs="+", type=int, default=[], metavar="N", help="instead of those between 3 and 200,000")
    along.add_argument("--elements", type=int, default=0, metavar="N", help="of an array")
    along.add_argument("--slow", type=float, default=1.0, metavar="SECONDS", help="leave a peer out where a call takes longer")
    along.set_defaults(backend=None)

    host_time = groups.add_parser("calls", parents=[common], help="host time of one call")
    host_time.add_argument("--cpu", action="store_true", help="NumPy arrays instead of a GPU")
    host_time.add_argument("--profile", action="store_true", help="steps of one call and what each takes")
    host_time.add_argument("--long", action="store_true", help="a million different shapes instead of 20,000")

    steps = groups.add_parser("loops", parents=[common], help="time of a step of a time loop")
    steps.add_argument("--cpu", action="store_true", help="NumPy arrays instead of a GPU")
    steps.add_argument("--rounds", type=int, default=loops.ROUNDS, help="calls of every candidate")

    whole = groups.add_parser("programs", parents=[common], help="whole programs")
    whole.add_argument("--cpu", action="store_true", help="NumPy arrays instead of a GPU")
    whole.add_argument("--rounds", type=int, default=programs.ROUNDS, help="calls of every candidate at most")
    whole.add_argument("--only", nargs="+", default=[], metavar="PROGRAM", help="the names of files in examples/")
    whole.add_argument("--write", type=Path, metavar="FILE", help="put the table into this page: docs/performance.md")
    whole.add_argument("--size", type=int, default=0, help="of all programs, instead of their own sizes")

    build_time = groups.add_parser("compile", parents=[common], help="compile time")
    build_time.add_argument("--cpu", action="store_true", help="NumPy arrays instead of a GPU")
    build_time.add_argument("--section", action="append", default=[], choices=compile.SECTIONS, help="only this table")
    build_time.add_argument("--rounds", type=int, help="rounds of every case")
    build_time.add_argument("--numba-path", default="", metavar="DIR", help="first on the path of Numba's processes")
    return parser.parse_args(command)


def main(command: Sequence[str] | None = None) -> int:
    """Run a group of benchmarks and print its tables."""
    chosen = arguments_of(sys.argv[1:] if command is None else command)
    if chosen.group in ("gpu", "cpu"):
        return run_time_command.run(chosen)
    on_gpu = not getattr(chosen, "cpu", False)
    needs_gpu = on_gpu and not (chosen.group == "compile" and chosen.section and "first-call" not in chosen.section)
    try:
        about = environment(needs_gpu, tuple(PEERS), chosen.without)
        tables: list[Table]
        problems: list[str] = []
        match chosen.group:
            case "lengths":
                tables, problems = lengths.run(chosen)
            case "calls":
                tables = calls.run(on_gpu, chosen.without, chosen.profile, chosen.long)
            case "loops":
                tables = loops.run(on_gpu, chosen.without, chosen.rounds)
            case "programs":
                tables = programs.run(on_gpu, chosen.without, chosen.rounds, chosen.only, chosen.size)
            case _:
                arch = about.get("arch", "sm_90")
                tables = compile.run(on_gpu, chosen.without, chosen.section, chosen.rounds, chosen.numba_path, arch)
    except BenchmarkError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    show(about, tables)
    if chosen.json:
        write_json(chosen.json, about, tables)
    if getattr(chosen, "write", None):
        group = "programs on a GPU" if on_gpu else "programs on a CPU"
        performance_page.write(chosen.write, group, performance_page.programs_text(about, tables[0]))
    for problem in problems:
        print(f"benchmarks: {problem}", file=sys.stderr)
    return int(bool(problems))


def restart_in_huge_pages() -> None:
    """Begin anew with another environment where `benchmarks cpu` needs one, which the C library reads at the start."""
    from benchmarks.cpu import in_huge_pages

    variables = in_huge_pages(os.environ)
    if "cpu" in sys.argv[1:2] and variables is not None:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], variables)


def compile_anew() -> None:
    """Let the columns of first calls be of functions compiled anew, whatever earlier runs left on the disk."""
    # `benchmarks compile` measures both ways itself.
    if "compile" not in sys.argv[1:2]:
        os.environ["PYTOCU_CACHE"] = "0"


if __name__ == "__main__":
    compile_anew()
    restart_in_huge_pages()
    sys.exit(main())

"""What every group shares: required peers, versions, tables, JSON."""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class BenchmarkError(Exception):
    """The benchmark cannot say what it was asked for; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another package that runs the same work.

    Parameters
    ----------
    module : str
        What is imported.
    distributions : tuple of str
        Names under which it is installed, for its version.
    install : str
        What to install.
    """

    module: str
    distributions: tuple[str, ...]
    install: str


PEERS: dict[str, Peer] = {
    "cupy": Peer("cupy", ("cupy-cuda13x", "cupy-cuda12x", "cupy"), "cupy-cuda13x"),
    "numba": Peer("numba", ("numba", "numba-cuda"), "numba-cuda[cu13]"),
    "triton": Peer("triton", ("triton",), "triton"),
    "torch": Peer("torch", ("torch",), "torch"),
    "jax": Peer("jax", ("jax", "jaxlib"), "jax[cuda13]"),
    "numexpr": Peer("numexpr", ("numexpr",), "numexpr"),
}
"""Peers by the name that ``--without`` takes."""


def required(names: Iterable[str], without: Sequence[str], extra_path: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The peers to run: all of `names` but those left out.

    Parameters
    ----------
    names : iterable of str
        What the group compares with.
    without : sequence of str
        What the caller leaves out explicitly.
    extra_path : mapping of str to str, optional
        Peers that run in processes whose ``PYTHONPATH`` starts with this directory.

    Raises
    ------
    BenchmarkError
        One is not installed: a table with a hole would read like a comparison.
    """
    wanted = [n for n in names if n not in without]
    missing = [n for n in wanted if not _installed(PEERS[n].module, (extra_path or {}).get(n, ""))]
    if missing:
        listed = "; ".join(f"{n} (pip install '{PEERS[n].install}', or --without {n})" for n in missing)
        raise BenchmarkError(f"peers of this benchmark are not installed: {listed}")
    return tuple(wanted)


def _installed(module: str, directory: str) -> bool:
    return importlib.util.find_spec(module) is not None or (bool(directory) and (Path(directory) / module).is_dir())


def versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of distributions; those that are not installed are left out.

    Examples
    --------
    >>> sorted(versions(["numpy", "surely-not-installed"]))
    ['numpy']
    """
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def environment(gpu: bool, peers: Sequence[str] = (), without: Sequence[str] = ()) -> dict[str, Any]:
    """Date, machine, device and versions: what a figure means nothing without."""
    ours = ("pytocu", "numpy", "llvmlite", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-nvvm", "nvidia-nvjitlink")
    from pytocu import config

    about: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "processor": _processor(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": {"pytocu": config.VERSION} | versions([*ours, *(d for p in peers for d in PEERS[p].distributions)]),
    }
    if gpu:
        from pytocu.runtime import cuda

        usable, why = cuda.available()
        if not usable:
            raise BenchmarkError(f"there is no GPU to measure ({why}); --cpu measures the CPU where a group has it")
        device = cuda.current_device()
        about["device"] = cuda.device_name(device)
        about["arch"] = cuda.arch(device)
        about["driver"] = ".".join(map(str, cuda.driver_version()))
    if without:
        about["left out"] = list(without)
    return about


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def median(values: Sequence[float]) -> float:
    """The median; NaN of nothing."""
    return statistics.median(values) if values else float("nan")


@dataclass(slots=True)
class Table:
    """Rows of one measurement.

    Parameters
    ----------
    title : str
    columns : tuple of str
        The keys of the rows that are shown, in order; a row may have more, which go to the JSON.
    notes : tuple of str
        What the figures include.
    """

    title: str
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The table as JSON values."""
        return {"title": self.title, "notes": list(self.notes), "rows": self.rows}


def cell(value: Any) -> str:
    """A figure with three to four digits.

    Examples
    --------
    >>> [cell(v) for v in (0.01234, 3.14159, 47.11, 8123.4, "refuses", None)]
    ['0.0123', '3.14', '47.1', '8123', 'refuses', '']
    """
    match value:
        case None:
            return ""
        case float():
            size = abs(value)
            digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 4
            return f"{value:.{digits}f}"
        case _:
            return str(value)


def show(about: Mapping[str, Any], tables: Sequence[Table]) -> None:
    """Print what was measured, where, and the tables."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # A pipe has no width of its own, and a wrapped table cannot be read.
    console = Console() if sys.stdout.isatty() else Console(width=240)
    for name, value in about.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        console.print(f"[bold]{name}[/bold] {', '.join(shown) if isinstance(shown, list) else shown}", highlight=False)
    for table in tables:
        printed = RichTable(title=table.title, title_justify="left", caption="\n".join(table.notes), caption_justify="left")
        for number, column in enumerate(table.columns):
            printed.add_column(column, justify="left" if number == 0 else "right")
        for row in table.rows:
            # As it is: rich reads brackets in a plain text as markup.
            printed.add_row(*(Text(cell(row.get(c))) for c in table.columns))
        console.print(printed)


def write_json(file: Path, about: Mapping[str, Any], tables: Sequence[Table]) -> None:
    """All rows, with the environment."""
    file.write_text(json.dumps({"environment": dict(about), "tables": [t.as_json() for t in tables]}, indent=1) + "\n")


def progress(text: str, end: str = "\n") -> None:
    """One line about what is being measured, apart from the tables."""
    print(text, file=sys.stderr, flush=True, end=end)

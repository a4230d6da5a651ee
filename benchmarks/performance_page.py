"""The page of measured figures: the part between two marks is replaced, what people wrote around it stays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Table, cell
from benchmarks.run_time import misses, reasons, shown

INTRODUCTION = """# Measured performance

The functions, the peers and the way of measuring are those of [benchmarks](benchmarks.md). On a GPU the target is 0.95 of the
copy limit, or hand-written speed where arithmetic is heavy, and everywhere at most 3 % behind the best peer. What misses it is
listed by name.
"""
TITLE = {"gpu": "On a GPU", "cpu": "On a CPU"}


def _marks(group: str) -> tuple[str, str]:
    return f"<!-- measured: {group} -->", f"<!-- end of measured: {group} -->"


def section_text(
    group: str,
    about: Mapping[str, Any],
    table: Table,
    ours: Sequence[str],
    peers: Sequence[str],
    references: Sequence[str] = (),
    chart: Path | None = None,
    folder: Path | None = None,
) -> str:
    """The measured part as Markdown.

    Parameters
    ----------
    group : str
        ``gpu`` or ``cpu``.
    about : mapping
        Date, device and versions.
    table : Table
        The rows of a run.
    ours, peers, references : sequence of str
        Names of candidates.
    chart : Path, optional
        A picture.
    folder : Path, optional
        Where the page lies that shows it.
    """
    candidates = [n for n in (*ours, *peers, *references) if any(n in row for row in table.rows)]
    facts = [c for c in ("launches", "registers", "error / numpy's", "error / cupy's") if any(c in row for row in table.rows)]
    head = ["workload", "limit µs", *candidates, "time / best peer", "first call ms", *facts]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in table.rows:
        cells = [_escaped(row["workload"]), cell(row.get("limit us"))]
        cells += [shown(row, n).partition(":")[0] for n in candidates]
        best = f"{row['times best peer']:.2f} ({row['best peer']})" if "times best peer" in row else ""
        first = next((cell(row[f"{n} first ms"]) for n in ours if f"{n} first ms" in row), "")
        lines.append("| " + " | ".join([*cells, best, first, *(cell(row.get(c)) for c in facts)]) + " |")
    why = reasons(table.rows, candidates)
    missed = misses(table.rows, ours)
    left_out = f" Left out: {', '.join(about['left out'])}." if about.get("left out") else ""
    pages = f" Huge pages {about['huge pages']}." if about.get("huge pages") else ""
    parts = [
        f"## {TITLE[group]}",
        f"{_where(about)}{pages}{_load(about)}{left_out}",
        *(f"{note[0].upper()}{note[1:]}." for note in table.notes),
        *([f"![Shares of the limit]({os.path.relpath(chart, folder)})"] if chart else []),
        "\n".join(lines),
        *(["Without a figure:\n\n" + "\n".join(f"* {_escaped(w)}" for w in why)] if why else []),
        f"### Missed {TITLE[group][0].lower()}{TITLE[group][1:]}",
        "\n".join(f"* {_escaped(m)}" for m in missed) if missed else "None.",
    ]
    return "\n\n".join(parts)


def _where(about: Mapping[str, Any]) -> str:
    device = about.get("device") or f"{about['processor']}, {about['cpus']} CPUs"
    driver = f", driver {about['driver']}" if "driver" in about else ""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"{device}{driver}, {about['date']}. {versions}."


def _load(about: Mapping[str, Any]) -> str:
    """How busy a machine was where the candidates share its CPUs with others."""
    busy = "device" not in about and about.get("load")
    return f" The load average was {busy:.1f} when the run began." if busy else ""


def programs_text(about: Mapping[str, Any], table: Table) -> str:
    """The table of whole programs as Markdown."""
    lines = ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(_escaped(cell(row.get(c))) for c in table.columns) + " |" for row in table.rows]
    notes = "; ".join(table.notes)
    title = "## Whole programs on a GPU" if "device" in about else "## Whole programs on a CPU"
    return "\n\n".join([title, f"{_where(about)}{_load(about)}", f"{notes[0].upper()}{notes[1:]}.", "\n".join(lines)])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def write(file: Path, group: str, section: str) -> None:
    """Put a measured part into a page, in the place of an earlier one of its group or at the end."""
    first, last = _marks(group)
    text = f"{first}\n{section}\n{last}"
    page = file.read_text() if file.exists() else INTRODUCTION
    if first in page and last in page:
        before, _, rest = page.partition(first)
        page = before + text + rest.partition(last)[2]
    else:
        page = f"{page.rstrip()}\n\n{text}\n"
    file.write_text(page)

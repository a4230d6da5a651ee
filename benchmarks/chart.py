"""The picture of a run: for every workload pytocu's share of the limit over the best peer's, and marks for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

OURS, BEST, OTHERS = "#1f6fb4", "#c9c9c4", "#4d4d4d"
MARKS = "o^sDvP*X"


def draw(
    file: Path,
    rows: Sequence[Mapping[str, Any]],
    ours: Sequence[str],
    peers: Sequence[str],
    references: Sequence[str],
    about: Mapping[str, Any],
) -> None:
    """Write a PNG.

    Parameters
    ----------
    file : Path
    rows : sequence of mapping
        Of `benchmarks.run_time`.
    ours, peers, references : sequence of str
        Names of candidates.
    about : mapping
        Date and device.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shares = [r for r in rows if "limit us" in r and "operations" not in r]
    rates = [_over_best(r, ours, peers, references) for r in rows if "operations" in r]
    parts = [(shares, "share of the copy limit"), (rates, "rate over that of the best peer (arithmetic sets the pace)")]
    parts = [part for part in parts if part[0]] or parts[:1]
    heights = [len(part) + 0.6 for part, _ in parts]
    figure = Figure(figsize=(10, 0.36 * sum(heights) + 1.9), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    known: dict[str, Any] = {}
    panels = figure.subplots(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axes, (part, label) in zip(panels, parts, strict=True):
        _panel(axes, part, ours, peers, references, label)
        handles, labels = axes.get_legend_handles_labels()
        known |= zip(labels, handles, strict=True)
    device = about.get("device") or f"{about['processor']}, {about['cpus']} CPUs"
    figure.suptitle(f"{device}, {about['date'][:10]}: longer is faster", fontsize=12, x=0.01, ha="left")
    figure.legend(known.values(), known.keys(), loc="outside lower left", ncols=5, frameon=False, fontsize=9)
    figure.savefig(file, dpi=130)


def _over_best(row: Mapping[str, Any], ours: Sequence[str], peers: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """The row with rates as multiples of the best peer's."""
    best = max((row[n] for n in peers if isinstance(row.get(n), float)), default=1.0)
    names = (*ours, *peers, *references)
    return {**row, **{n: row[n] / best for n in names if isinstance(row.get(n), float)}}


def _panel(
    axes: Any,
    rows: Sequence[Mapping[str, Any]],
    ours: Sequence[str],
    peers: Sequence[str],
    references: Sequence[str],
    label: str,
) -> None:
    places = range(len(rows))
    mine = [max((r[n] for n in ours if isinstance(r.get(n), float)), default=0.0) for r in rows]
    best = [max((r[n] for n in peers if isinstance(r.get(n), float)), default=0.0) for r in rows]
    axes.barh([p - 0.18 for p in places], mine, 0.36, color=OURS, label="pytocu", zorder=2)
    axes.barh([p + 0.18 for p in places], best, 0.36, color=BEST, label="best peer", zorder=2)
    for number, name in enumerate((*peers, *references)):
        found = [(r[name], p) for p, r in zip(places, rows, strict=True) if isinstance(r.get(name), float)]
        if found:
            mark = MARKS[number % len(MARKS)]
            shown = "CUDA by hand" if name == "cuda" else name
            x, y = zip(*found, strict=True)
            style = {"facecolors": "none", "edgecolors": OTHERS, "linewidths": 0.9, "zorder": 4}
            axes.scatter(x, [p + 0.18 for p in y], 18, marker=mark, label=shown, **style)
    for place, row, share in zip(places, rows, mine, strict=True):
        if not share:
            why = next((row[n].partition(":")[0] for n in ours if isinstance(row.get(n), str)), "")
            axes.text(0.01, place - 0.18, f"pytocu: {why}", va="center", fontsize=7.5, color="#a03020", zorder=5)
    axes.axvline(1.0, color="#222222", linewidth=1.2, zorder=3)
    axes.set_yticks(list(places), [r["workload"] for r in rows], fontsize=9)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    # A share above the limit by caches is not to squeeze the others.
    axes.set_xlim(0, min(max([1.1, *mine, *best]) * 1.03, 2.5))
    axes.set_xlabel(label, fontsize=9)
    axes.grid(axis="x", color="#e4e4e4", zorder=0)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)

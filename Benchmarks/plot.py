#!/usr/bin/env python3
"""Draws the plots of a benchmark report: plot.py FOLDER, where FOLDER holds report.json."""

import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

# Operation, metric, title, and whether the metric is a rate.
COSTS = [
    ("bulk", "rate", "bulk load", True),
    ("commit", "p50", "page committed", False),
    ("commit-synced", "p50", "page committed, synced", False),
    ("group-8", "rate", "8 writers, synced", True),
    ("read", "p50", "page read", False),
    ("read", "p99", "page read, p99", False),
    ("scroll", "p50", "scroll of 50 pages", False),
    ("contains", "p50", "100 ids checked", False),
    ("post", "p50", "post by id", False),
    ("update", "p50", "post updated", False),
    ("refresh-long", "p50", "refresh, longest feed", False),
    ("beside", "p99", "page read beside a writer, p99", False),
    ("prune-long", "page", "prune, a page", False),
    ("open-cold", "first", "open and first page, cold", False),
]
COLORS = {
    "quire": "#d1495b",
    "quire-c": "#e8919b",
    "lmdb-c": "#555555",
    "sqlite-norm": "#00798c",
    "sqlite-blob": "#30a4b8",
    "sqlite-article": "#8fc9d3",
    "grdb": "#edae49",
    "rocksdb": "#66a182",
}


def cost(size, engine, operation, metric, is_rate):
    """Microseconds, or for a rate microseconds for each; None if it was not measured."""
    for series in size["series"]:
        if series["operation"] == operation and series["engine"] == engine:
            values = [r[metric] for r in series["rounds"] if r.get(metric)]
            if values:
                value = statistics.median(values)
                return 1e6 / value if is_rate else value
    return None


def engines(size):
    return [e["engine"] for e in size["engines"] if e["engine"] in COLORS]


def plain(value, _=None):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def tidy(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=2)


def draw_ratios(size, path):
    """How many times the cost of Quire each engine has, operation by operation."""
    others = [e for e in engines(size) if e != "quire"]
    rows = [c for c in COSTS if cost(size, "quire", *c[:2], c[3])]
    if not others or not rows:
        return False
    step = len(others) + 1.5
    figure, axes = plt.subplots(figsize=(8, 0.6 + 0.1 * step * len(rows)))
    for i, engine in enumerate(others):
        for j, (operation, metric, _, is_rate) in enumerate(rows):
            value = cost(size, engine, operation, metric, is_rate)
            if value:
                ratio = value / cost(size, "quire", operation, metric, is_rate)
                axes.barh(
                    j * step + i, ratio - 1, left=1, color=COLORS[engine],
                    label=engine if j == 0 else None)
    axes.set_xscale("log")
    axes.axvline(1, color=COLORS["quire"], linewidth=1.2)
    axes.set_yticks([j * step + (len(others) - 1) / 2 for j in range(len(rows))])
    axes.set_yticklabels([r[2] for r in rows])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.grid(axis="x", linewidth=0.3)
    posts = size["workload"]["posts"]
    axes.set_title(f"{posts:,} posts: times the cost of Quire (red line); further right is slower")
    axes.margins(y=0.01)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    tidy(axes)
    save(figure, path)
    return True


def use_style():
    """What all plots have in common."""
    plt.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "quire", "font.size": 8, "axes.titlesize": 9,
        "figure.constrained_layout.use": True, "path.simplify": True,
    })


def save(figure, path):
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def main():
    folder = pathlib.Path(sys.argv[1])
    report = json.loads((folder / "report.json").read_text())
    use_style()
    for size in report["sizes"]:
        w = size["workload"]
        draw_ratios(size, folder / f"ratios-{w['posts']}-{w['pageSize']}-{w['ids']}.svg")


if __name__ == "__main__":
    main()

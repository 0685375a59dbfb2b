#!/usr/bin/env python3
"""Draws how cost grows: growth.py RESULTS FOLDER DOCUMENT.

RESULTS holds what `quire-bench growth` and `quire-bench run` have written. FOLDER gets growth.csv and the plots,
DOCUMENT its table between two marks.
"""

import csv
import json
import math
import pathlib
import statistics
import sys

import plot
from growth_operations import BY_ENGINES, BY_DEPTH, BY_POSTS, MARKS, STEEP

FIELDS = ["samples", "p50", "p99", "reads", "writes", "allocations", "allocated", "written"]


def read_results(folder):
    """Points by (what grows, operation, engine), each a size and a dictionary of costs; and the machine."""
    series, machine = {}, None
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        machine = machine or (result["machine"], result["date"][:10])
        for one in result.get("series", []):
            points = [(p["size"], p["cost"]) for p in one["points"]]
            series.setdefault((one["unit"], one["operation"], "quire"), []).extend(points)
        for size in result.get("sizes", []):
            for one in size["series"]:
                cost = compared_cost(one)
                if cost:
                    key = ("posts", one["operation"], one["engine"])
                    series.setdefault(key, []).append((size["workload"]["posts"], cost))
    return {key: sorted(points, key=lambda p: p[0]) for key, points in series.items()}, machine


def compared_cost(series):
    """Microseconds of an operation that `run` measures; None if the plots do not show it."""
    metric = next((o.metric for o in BY_ENGINES if o.name == series["operation"]), None)
    if metric is None:
        return None
    values = [r[metric] for r in series["rounds"]]
    middle = statistics.median(values)
    if metric == "rate":
        return {"p50": 1e6 / middle}
    tail = [r["p99"] for r in series["rounds"] if "p99" in r]
    return {"p50": middle, "p99": statistics.median(tail) if tail else None}


def records(cost):
    """Calls of LMDB that read or write one; None where they were not counted."""
    return cost["reads"] + cost["writes"] if "reads" in cost else None


def exponent(points, value):
    """The slope of a line through the logarithms; None if there are fewer than two points."""
    pairs = [(math.log(size), math.log(value(c))) for size, c in points if value(c)]
    if len(pairs) < 2:
        return None
    return statistics.linear_regression(*zip(*pairs)).slope


# Plots


def draw(operations, series, path, engines):
    """One small plot an operation. With one engine also the 99th percentile and the records that LMDB was asked."""
    shown = [o for o in operations if (o.unit, o.name, "quire") in series]
    columns = 3
    lines = -(-len(shown) // columns)
    figure, grid = plot.plt.subplots(lines, columns, figsize=(8.6, 1.9 * lines), squeeze=False)
    handles = {}
    for axes, operation in zip(grid.flat, shown):
        for engine in engines:
            points = series.get((operation.unit, operation.name, engine))
            if not points:
                continue
            sizes = [p[0] for p in points]
            color = plot.COLORS[engine]
            line = axes.plot(
                sizes, [c["p50"] for _, c in points], color=color, marker="o", markersize=2.5,
                linewidth=1.8 if engine == "quire" else 1)
            handles[engine if len(engines) > 1 else "median, µs"] = line[0]
            if len(engines) == 1:
                tail = axes.plot(sizes, [c["p99"] for _, c in points], color=color, linestyle=":", linewidth=1)
                count = axes.plot(
                    sizes, [records(c) for _, c in points], color="#777777", linestyle="--", linewidth=1)
                handles["99th percentile, µs"] = tail[0]
                handles["records that LMDB reads and writes"] = count[0]
        adjust(axes)
        slope = exponent(series[operation.unit, operation.name, "quire"], lambda c: c["p50"])
        if slope is not None:
            axes.set_title(f"$n^{{{slope:.2f}}}$", loc="right", fontsize=7.5)
        grows = "" if operation.unit == "posts" else f"; {operation.unit}"
        axes.set_title(operation.title + grows, loc="left", fontsize=7.5)
    for axes in list(grid.flat)[len(shown):]:
        axes.set_visible(False)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    plot.save(figure, path)


def adjust(axes):
    """Both axes are logarithmic, and what is flat looks flat: at least a factor of 30 from bottom to top."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    middle, room = math.sqrt(low * high), max(math.sqrt(30), 1.6 * math.sqrt(high / low))
    axes.set_ylim(middle / room, middle * room)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(plot.FuncFormatter(short))
    axes.yaxis.set_major_formatter(plot.FuncFormatter(plot.plain))
    axes.grid(linewidth=0.3)
    plot.tidy(axes)


def short(value, _=None):
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


# Tables


def write_csv(series, path):
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["operation", "engine", "grows with", "size"] + FIELDS)
        for (unit, operation, engine), points in sorted(series.items()):
            for size, cost in points:
                rows.writerow([operation, engine, unit, size] + [
                    f"{cost[f]:.4g}" if cost.get(f) is not None else "" for f in FIELDS])


def cell(value):
    return "" if value is None else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def table(operations, series):
    lines = [
        "| operation | µs, smallest size | µs, largest size | p99 | exponent of the time | records | "
        "exponent of the records | bounded by |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for operation in operations:
        points = series.get((operation.unit, operation.name, "quire"))
        if not points:
            continue
        (first_size, first), (last_size, last) = points[0], points[-1]
        slopes = [exponent(points, lambda c: c["p50"]), exponent(points, records)]
        time, count = ["" if s is None else f"**{s:.2f}**" if round(s, 2) > STEEP else f"{s:.2f}" for s in slopes]
        lines.append(
            f"| {operation.title} | {cell(first['p50'])} ({short(first_size)}) | {cell(last['p50'])} "
            f"({short(last_size)}) | {cell(last.get('p99'))} | {time} | {cell(records(last))} | {count} | "
            f"{operation.bound} |")
    return "\n".join(lines)


def write_document(path, series, machine, date, load):
    """Replaces what stands between the marks."""
    parts = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['fileSystem']}; {date}. "
        f"Load of the machine before the run: {load}.",
        "**By the number of posts in the cache, the same operations as in the report:**", table(BY_ENGINES, series),
        "**By the number of posts in the cache, in the middle of a feed that has half of them:**",
        table(BY_POSTS, series),
    ]
    for unit in dict.fromkeys(o.unit for o in BY_DEPTH):
        chosen = [o for o in BY_DEPTH if o.unit == unit]
        parts += [f"**{chosen[0].heading}:**", table(chosen, series)]
    text = path.read_text()
    before, rest = text.split(MARKS[0] + "\n")
    after = rest.split(MARKS[1])[1]
    path.write_text(before + "\n\n".join([MARKS[0], *parts, MARKS[1]]) + after)


def main():
    results, folder, document = map(pathlib.Path, sys.argv[1:])
    series, (machine, date) = read_results(results)
    plot.use_style()
    write_csv(series, folder / "growth.csv")
    draw(BY_ENGINES, series, folder / "growth.svg", [e for e in plot.COLORS if any(k[2] == e for k in series)])
    draw(BY_POSTS, series, folder / "growth-posts.svg", ["quire"])
    draw(BY_DEPTH, series, folder / "growth-depth.svg", ["quire"])
    write_document(document, series, machine, date, (results / "load").read_text().strip())


if __name__ == "__main__":
    main()

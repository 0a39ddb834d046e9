"""Charts of times: predicted over sizes, measured with their intervals, and simulated as bars."""
import matplotlib
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .look import in_bytes, size_axis, styled, subplots


@styled
def costs(data, title=None):
    """Predicted times over sizes, the fastest algorithms in colour: circoll.costs(), or `circoll cost --sizes --json`."""
    figure, ((axis,),) = subplots()
    sizes, times, best = data["sizes"], data["times_s"], data["fastest"]
    winners = list(dict.fromkeys(best))
    for name, curve in times.items():
        if name not in winners:
            axis.plot(sizes, [value if value is not None else float("nan") for value in curve], color="#c8ccd0", linewidth=0.8, zorder=1)
    for name in winners:
        axis.plot(sizes, [value if value is not None else float("nan") for value in times[name]], label=name)
    for i in range(1, len(sizes)):
        if best[i] != best[i - 1]:
            axis.axvline(sizes[i], color="#59636e", linewidth=0.8, linestyle=":")
            axis.text(sizes[i], 0.02, in_bytes(sizes[i]), transform=axis.get_xaxis_transform(), rotation=90, fontsize=7, color="#59636e", ha="right")
    axis.set_yscale("log")
    axis.set_ylabel("predicted time [s]")
    size_axis(axis, sizes)
    axis.set_title(title or f"{data['collective']}, p = {data['p']}: the fastest algorithms, and all others in grey")
    axis.legend()
    return figure


def _measured_panels(data):
    """{(collective, p): {algorithm: {bytes: row}}} of the rows of all documents."""
    if hasattr(data, "to_dict"):
        rows = data.to_dict("records")
    else:
        rows = [row for document in (data if isinstance(data, list) else [data]) for row in document["rows"]]
    panels = {}
    for row in rows:
        cells = panels.setdefault((row["collective"], row["p"]), {}).setdefault(row["algorithm"], {})
        if row["bytes"] in cells:
            raise ValueError(f"{row['collective']}, p = {row['p']}, {row['algorithm']}, {in_bytes(row['bytes'])} is there twice: "
                             "circoll merge combines measurements")
        cells[row["bytes"]] = row
    return panels


@styled
def measured(data, kind="times", title=None):
    """Measurements of circoll-bench with their confidence intervals: times over sizes, or "ratios" as bars; a panel for each collective and p.

    A ratio is the native time over an algorithm's. Its interval is of the algorithm's time alone. A result that was wrong has a cross.
    Data are one document or several of `circoll bench --json` and `circoll merge --json`, or circoll.measurements().
    """
    if kind not in ("times", "ratios"):
        raise ValueError(f"measurements are drawn as times or ratios, not as '{kind}'")
    panels = _measured_panels(data)
    algorithms = list(dict.fromkeys(algorithm for series in panels.values() for algorithm in series))
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    if len(algorithms) > len(cycle):
        cycle = [matplotlib.colormaps["turbo"](number / len(algorithms)) for number in range(len(algorithms))]
    colours = dict(zip(algorithms, cycle))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = subplots(lines, columns, figsize=(5.2 * columns, 3.4 * lines))
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for ((collective, p), series), axis in zip(panels.items(), axes.flat):
        (_ratios if kind == "ratios" else _times)(axis, series, colours)
        axis.set_title(f"{collective}, p = {p}")
    shown = [name for name in algorithms if kind != "ratios" or name != "native"]
    wrong = any(_is_wrong(row) for series in panels.values() for cells in series.values() for row in cells.values())
    axes.flat[0].legend(handles=[*(Patch(color=colours[name], label=name) for name in shown),
                                 *([Line2D([], [], color="#d00000", marker="x", linestyle="none", label="wrong result")] if wrong else [])])
    if title:
        figure.suptitle(title)
    return figure


def _is_wrong(row):
    return row.get("correct") == "NO"


def _cross_out(axis, places, heights, rows):
    """Marks what was measured of wrong results."""
    wrong = [(place, height) for place, height, row in zip(places, heights, rows) if _is_wrong(row)]
    if wrong:
        axis.plot(*zip(*wrong), color="#d00000", marker="x", markersize=9, linestyle="none", zorder=5)


def _interval(row):
    """By how much the median may be lower and higher."""
    median, low, high = row["median_us"], row.get("median_low_us"), row.get("median_high_us")
    return max(0.0, median - (median if low is None else low)), max(0.0, (median if high is None else high) - median)


def _times(axis, series, colours):
    for algorithm, cells in series.items():
        rows = [cells[size] for size in sorted(cells)]
        sizes, medians = [max(1, row["bytes"]) for row in rows], [row["median_us"] for row in rows]
        axis.errorbar(sizes, medians, yerr=list(zip(*map(_interval, rows))), marker="o", capsize=2, color=colours[algorithm])
        _cross_out(axis, sizes, medians, rows)
    axis.set_yscale("log")
    axis.set_ylabel("median time [us]")
    size_axis(axis, [max(1, size) for cells in series.values() for size in cells])


def _ratios(axis, series, colours):
    native = series.get("native")
    if not native:
        raise ValueError("ratios need measurements of native")
    sizes = sorted(native)
    others = [algorithm for algorithm in series if algorithm != "native"]
    width = 0.8 / max(1, len(others))
    for number, algorithm in enumerate(others):
        rows = [series[algorithm][size] for size in sizes if size in series[algorithm]]
        places = [sizes.index(row["bytes"]) + (number + 0.5) * width - 0.4 for row in rows]
        heights = [native[row["bytes"]]["median_us"] / row["median_us"] for row in rows]
        errors = []
        for row, height in zip(rows, heights):
            (below, above), median = _interval(row), row["median_us"]
            errors.append((height - height * median / (median + above), height * median / (median - below) - height if below < median else 0.0))
        axis.bar(places, heights, width, yerr=list(zip(*errors)) or None, capsize=2, color=colours[algorithm])
        _cross_out(axis, places, heights, rows)
    axis.axhline(1, color="#1f2328", linewidth=1, linestyle="--")
    axis.set_xticks(range(len(sizes)), [in_bytes(size) for size in sizes], rotation=30)
    axis.set_ylabel("native time / time")


@styled
def simulated(data, title=None):
    """Simulated times of several algorithms as bars for each size, and alone times before them: `circoll simulate COLLECTIVE --json`."""
    rows = data["rows"]
    figure, axes = subplots(len(rows), 1, figsize=(7.2, 0.9 + sum(0.6 + 0.2 * len(row["times"]) for row in rows)), sharex=True)
    for row, (axis,) in zip(rows, axes):
        names = [one["id"].partition("/")[2] + "".join(f" {key}={value}" for key, value in one.get("params", {}).items()) for one in row["times"]]
        axis.barh(names, [one["time_s"] for one in row["times"]], color="#9ecae1", label="time")
        if all("alone_s" in one for one in row["times"]):
            axis.barh(names, [one["alone_s"] for one in row["times"]], 0.5, color="#0072b2", label="without sharing links")
        axis.invert_yaxis()
        axis.set_xscale("log")
        axis.set_title(f"p = {row['p']}, {in_bytes(row['bytes'])}")
    if len(axes[0][0].containers) > 1:
        axes[0][0].legend()
    axes[-1][0].set_xlabel("time [s]")
    figure.suptitle(title or data.get("collective", ""))
    return figure

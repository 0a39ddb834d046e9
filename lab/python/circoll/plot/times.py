"""Charts of times: predicted over sizes, measured with their intervals, and simulated as bars."""
from .look import in_bytes, size_axis, styled, subplots


@styled
def costs(data, title=None):
    """Predicted times over sizes, the fastest algorithms in colour: circoll.costs(), or `circoll cost --sizes --json`."""
    figure, ((axis,),) = subplots()
    sizes, times = data["sizes"], data["times_s"]
    at = range(len(sizes))
    best = [min((curve[i], name) for name, curve in times.items() if curve[i] is not None)[1] for i in at]
    winners = list(dict.fromkeys(best))
    for name, curve in times.items():
        if name not in winners:
            axis.plot(sizes, [value if value is not None else float("nan") for value in curve], color="#c8ccd0", linewidth=0.8, zorder=1)
    for name in winners:
        axis.plot(sizes, [value if value is not None else float("nan") for value in times[name]], label=name)
    for i in at[1:]:
        if best[i] != best[i - 1]:
            axis.axvline(sizes[i], color="#59636e", linewidth=0.8, linestyle=":")
    axis.set_yscale("log")
    axis.set_ylabel("predicted time [s]")
    size_axis(axis, sizes)
    axis.set_title(title or f"{data['collective']}, p = {data['p']}: the fastest algorithms, and all others in grey")
    axis.legend()
    return figure


def _measured_rows(data):
    documents = data if isinstance(data, list) else [data]
    if hasattr(data, "to_dict"):
        return data.to_dict("records")
    return [row for document in documents for row in document["rows"]]


@styled
def measured(data, kind="times", title=None):
    """Measurements of circoll-bench with their confidence intervals: times over sizes, or "ratios" as bars.

    A ratio is the native time over an algorithm's. Its interval is of the algorithm's time alone. Data are one document or several of
    `circoll bench --json` and `circoll merge --json`, or circoll.measurements().
    """
    rows = _measured_rows(data)
    collectives = list(dict.fromkeys(row["collective"] for row in rows))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    columns = min(3, len(collectives))
    lines = -(-len(collectives) // columns)
    figure, axes = subplots(lines, columns, figsize=(5.2 * columns, 3.4 * lines))
    for axis in axes.flat[len(collectives):]:
        axis.set_visible(False)
    for collective, axis in zip(collectives, axes.flat):
        here = [row for row in rows if row["collective"] == collective]
        (_ratios if kind == "ratios" else _times)(axis, here, algorithms)
        axis.set_title(f"{collective}, p = {here[0]['p']}")
    axes.flat[0].legend()
    if title:
        figure.suptitle(title)
    return figure


def _interval(row, median):
    low, high = row.get("median_low_us"), row.get("median_high_us")
    return (max(0.0, median - (low if low is not None else median)), max(0.0, (high if high is not None else median) - median))


def _times(axis, rows, algorithms):
    for algorithm in algorithms:
        mine = sorted((row for row in rows if row["algorithm"] == algorithm), key=lambda row: row["bytes"])
        if mine:
            medians = [row["median_us"] for row in mine]
            errors = list(zip(*(_interval(row, median) for row, median in zip(mine, medians))))
            axis.errorbar([max(1, row["bytes"]) for row in mine], medians, yerr=errors, marker="o", capsize=2, label=algorithm)
    axis.set_yscale("log")
    axis.set_ylabel("median time [us]")
    size_axis(axis, [max(1, row["bytes"]) for row in rows])


def _ratios(axis, rows, algorithms):
    native = {row["bytes"]: row for row in rows if row["algorithm"] == "native"}
    if not native:
        raise ValueError("ratios need measurements of native")
    sizes = sorted(native)
    others = [algorithm for algorithm in algorithms if algorithm != "native"]
    width = 0.8 / max(1, len(others))
    for number, algorithm in enumerate(others):
        mine = {row["bytes"]: row for row in rows if row["algorithm"] == algorithm}
        places, heights, errors = [], [], []
        for place, size in enumerate(sizes):
            if size not in mine:
                continue
            reference, median = native[size]["median_us"], mine[size]["median_us"]
            below, above = _interval(mine[size], median)
            places.append(place + (number + 0.5) * width - 0.4)
            heights.append(reference / median)
            errors.append((reference / median - reference / (median + above),
                           reference / (median - below) - reference / median if below < median else 0.0))
        axis.bar(places, heights, width, yerr=list(zip(*errors)) or None, capsize=2, label=algorithm)
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

"""Charts of runs: steps over time, rounds on a network, failures that are survived, and ratios of many jobs."""
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from .look import in_bytes, styled, subplots

CLASSES = {"BOTH": "#1a7f4b", "FULL": "#66c18c", "SURV": "#56b4e9", "MIX": "#e69f00", "NONE": "#d55e00", "unknown": "#bbbbbb"}
KINDS = {0: ("send", "#0072b2"), 1: ("recv", "#56b4e9"), 2: ("reduce", "#d55e00"), 3: ("copy", "#999999"), 4: ("recv_reduce", "#cc79a7")}
MOST_RANKS = 512  # of a Gantt chart: of more, bars would be thinner than a pixel


def _failures_of(data):
    """(k, name of the failure, class) in the order of rounds, and the head."""
    if isinstance(data, dict):
        entries = [(entry["k"], ", ".join(map(str, entry["failed"])), entry["class"]) for entry in data["failures"]]
        return entries, data
    from circoll import FAILURE_CLASSES
    names = [", ".join(map(str, failed)) for failed in data.failed]
    entries = [(int(row["k"]), names[row["failure"]], FAILURE_CLASSES[row["class"]]) for row in data.table]
    return entries, {"id": data.id, "p": data.p, "keep": data.keep}


@styled
def failures(data, title=None):
    """A matrix of failures: rounds that have ended, ranks that fail, and what can be put together: circoll.faults(), or
    `circoll faults --json`."""
    entries, head = _failures_of(data)
    rounds = {k: column for column, k in enumerate(sorted({k for k, _, _ in entries}))}
    failed = {name: line for line, name in enumerate(dict.fromkeys(name for _, name, _ in entries))}
    classes = list(CLASSES)
    cells = [[len(classes) - 1] * len(rounds) for _ in failed]
    for k, name, what in entries:
        cells[failed[name]][rounds[k]] = classes.index(what)
    figure, ((axis,),) = subplots(figsize=(max(4.5, 2.6 + 0.35 * len(rounds)), max(2.4, 1.2 + 0.24 * len(failed))))
    axis.imshow(cells, cmap=ListedColormap(list(CLASSES.values())), vmin=0, vmax=len(classes) - 1, aspect="auto", interpolation="nearest")
    axis.grid(False)
    axis.set_xticks(range(len(rounds)), rounds)
    axis.set_yticks(range(len(failed)), failed)
    axis.set_xlabel("rounds that have ended")
    axis.set_ylabel("failed ranks")
    seen = {what for _, _, what in entries}
    axis.legend(handles=[Patch(color=colour, label=name) for name, colour in CLASSES.items() if name in seen], loc="upper left", bbox_to_anchor=(1, 1))
    axis.set_title(title or f"{head['id']}, p = {head['p']}, keep = {head['keep']}")
    return figure


def _steps_of(data):
    """(rank, kind, begin, end, whether it is on the critical path) of each step, and the head."""
    if isinstance(data, dict):
        path = {(step["rank"], step["step"]) for step in data.get("path", [])}
        steps = [(rank, kind, begin, end, (rank, number) in path) for rank, number, kind, begin, end in data["steps"]]
        return steps, data
    path = {(int(row["rank"]), int(row["step"])) for row in data.critical_path}
    steps = [(int(row["rank"]), int(row["kind"]), float(row["begin_s"]), float(row["end_s"]), (int(row["rank"]), int(row["step"])) in path)
             for row in data.steps]
    return steps, {"id": data.id, "p": data.p, "bytes": data.bytes, "time_s": data.time_s}


@styled
def gantt(data, title=None):
    """The steps of each rank over time, those of the critical path with a dark edge: circoll.simulate(..., record=True)."""
    steps, head = _steps_of(data)
    if head["p"] > MOST_RANKS:
        raise ValueError(f"a Gantt chart shows at most {MOST_RANKS} ranks")
    figure, ((axis,),) = subplots(figsize=(7.2, max(2.4, 1.2 + 0.2 * min(head["p"], 40))))
    for kind, (name, colour) in KINDS.items():
        mine = [step for step in steps if step[1] == kind]
        if mine:
            # Sends stand in the upper half of a rank's line, all else in the lower half.
            axis.barh([rank - (0.2 if kind == 0 else -0.2) for rank, *_ in mine], [1e6 * (end - begin) for _, _, begin, end, _ in mine],
                      0.38, [1e6 * begin for _, _, begin, *_ in mine], color=colour, label=name,
                      edgecolor=["#1f2328" if on_path else "none" for *_, on_path in mine], linewidth=0.9)
    axis.set_ylim(head["p"] - 0.5, -0.5)
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel("time [us]")
    axis.set_ylabel("rank")
    axis.set_title(title or f"{head['id']}, p = {head['p']}, {in_bytes(head['bytes'])}: {1e6 * head['time_s']:.4g} us")
    axis.legend(ncols=len(KINDS), loc="upper center", bbox_to_anchor=(0.5, -0.14 if head["p"] > 8 else -0.25))
    return figure


def _rounds_of(data):
    if isinstance(data, dict):
        return data["rounds"], data, {name: level["bytes"] for name, level in data["levels"].items()}
    rounds = [{name: row[name].item() for name in row.dtype.names} for row in data.rounds]
    head = {"id": data.id, "p": data.p, "bytes": data.bytes, "topology": data.topology}
    return rounds, head, {name: level[0] for name, level in data.levels.items()}


@styled
def traffic(data, title=None):
    """Rounds on a network whose links are shared: times, and bytes by level: circoll.traffic(), or
    `circoll simulate --topology --json`."""
    rounds, head, levels = _rounds_of(data)
    figure, ((times, volumes),) = subplots(1, 2, figsize=(9, 3.6), gridspec_kw={"width_ratios": [3, 1]})
    numbers = [entry["round"] for entry in rounds]
    times.bar(numbers, [1e6 * entry["time_s"] for entry in rounds], color="#9ecae1", label="on the network")
    times.bar(numbers, [1e6 * entry["alone_s"] for entry in rounds], 0.5, color="#0072b2", label="without sharing links")
    times.xaxis.get_major_locator().set_params(integer=True)
    times.set_xlabel("round")
    times.set_ylabel("time [us]")
    times.set_title(title or f"{head['id']}, p = {head['p']}, {in_bytes(head['bytes'])} on {head['topology']}", wrap=True)
    times.set_ylim(0, 1.2 * max([1e6 * entry["time_s"] for entry in rounds], default=1))  # the legend stands above the bars
    times.legend(ncols=2, loc="upper left")
    order = [name for name in ("node", "group", "system") if name in levels]
    volumes.bar(order, [levels[name] for name in order], color="#009e73")
    volumes.yaxis.set_major_formatter(lambda size, _: in_bytes(size))
    volumes.set_ylabel("bytes of all messages")
    return figure


@styled
def jobs(data, title=None):
    """A ratio of algorithms on many jobs, as boxes: with ranks as they are, and relabelled. Of lab/experiments/allocations.

    A box has the middle half of the jobs, its line is the median, the dot is the mean, and whiskers reach to the best and the worst job.
    """
    panels = data["jobs"]
    figure, (axes,) = subplots(1, len(panels), figsize=(5.4 * len(panels), 1.2 + 0.34 * max(len(panel["rows"]) for panel in panels)), sharex=True)
    for panel, axis in zip(panels, axes):
        axis.set_title(panel["title"])
        if not panel["rows"]:
            continue
        for side, (name, colour) in enumerate((("as_is", "#9ecae1"), ("relabelled", "#0072b2"))):
            places = [line + 0.2 * (2 * side - 1) for line in range(len(panel["rows"]))]
            boxes = axis.boxplot([row[name] for row in panel["rows"]], positions=places, widths=0.34, vert=False,
                                 whis=(0, 100), showmeans=True, patch_artist=True, manage_ticks=False,
                                 meanprops={"marker": "o", "markersize": 3, "markerfacecolor": "#1f2328", "markeredgecolor": "none"},
                                 medianprops={"color": "#1f2328"})
            for box in boxes["boxes"]:
                box.set(facecolor=colour, linewidth=0.6)
        axis.set_yticks(range(len(panel["rows"])), [row["id"] for row in panel["rows"]])
        axis.invert_yaxis()
        axis.axvline(1, color="#1f2328", linewidth=0.8, linestyle="--")
        axis.set_xscale("log")
    axes[0].legend(handles=[Patch(color="#9ecae1", label="ranks as they are"), Patch(color="#0072b2", label="relabelled")])
    figure.supxlabel(data["axis"], fontsize="medium")
    if title:
        figure.suptitle(title)
    return figure


@styled
def links(data, title=None):
    """The bytes on the links of a job, those of the busiest part first, with a panel for each level: `circoll traffic --json`. A link carries what
    the ranks of a host, switch or group exchange with others, of which the longer direction counts."""
    algorithms = [one for one in data["algorithms"] if "levels" in one]
    if not algorithms:
        raise ValueError("no algorithm serves these ranks")
    levels = [level["between"] for level in algorithms[0]["levels"] if len(level.get("links", [])) > 1]
    if not levels:
        raise ValueError("all ranks are on one host, so that there are no links")
    figure, (axes,) = subplots(1, len(levels), figsize=(1.6 + 3.2 * len(levels), 3.6))
    for axis, name in zip(axes, levels):
        for number, one in enumerate(algorithms):
            for side, line in ((one, "-"), (one.get("relabelled"), "--")):
                if side is None:
                    continue
                rows = next(level for level in side["levels"] if level["between"] == name)["links"]
                loads = sorted((max(row["out"]["bytes"], row["in"]["bytes"]) for row in rows), reverse=True)
                axis.plot(range(1, len(loads) + 1), loads, line, marker="." if len(loads) <= 40 else None, color=f"C{number}",
                          label=one["id"] + (", relabelled" if side is not one else ""))
        axis.set_title(name)
        axis.set_xlabel("links, the busiest first")
        axis.set_ylim(bottom=0)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.yaxis.set_major_formatter(lambda size, _: in_bytes(size))
    axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1))
    figure.suptitle(title or f"p = {data['p']}, {in_bytes(data['bytes'])}", fontsize="medium")
    return figure

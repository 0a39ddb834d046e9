"""Charts of schedules: the messages of all ranks, as a space-time diagram or as a circle for each round."""
import math

import matplotlib
from matplotlib.lines import Line2D

from .look import styled, subplots

MOST_RANKS = {"spacetime": 256, "circle": 64}
MOST_ROUNDS = {"spacetime": 200, "circle": 24}


def _messages_of(schedules):
    """(round, source, destination, blocks) of each message, and id, p and number of rounds."""
    first = schedules[0]
    if isinstance(first, dict):
        sends = [(step["round"], schedule["rank"], step["peer"], sum(count for _, _, count in step["left"]))
                 for schedule in schedules for step in schedule["steps"] if step["kind"] == "send"]
        return sends, first["id"], first["size"], first["rounds"]
    import circoll
    return circoll.messages(schedules).tolist(), first.id, first.size, first.rounds


def _arrows(axis, lines, colours, **look):
    """Arrows from (x, y) to (x, y), one for each colour."""
    if not lines:
        return
    x, y, to_x, to_y = zip(*lines)
    axis.quiver(x, y, [b - a for a, b in zip(x, to_x)], [b - a for a, b in zip(y, to_y)], color=colours, angles="xy", scale_units="xy", scale=1,
                units="dots", headwidth=4, headlength=5, headaxislength=4.5, zorder=3, **look)


def _colours(axis, sends):
    """The colours of messages by their blocks, which a legend beside an axis shows if they differ."""
    sizes = sorted({blocks for *_, blocks in sends})
    if len(sizes) < 2:
        return ["#0072b2"] * len(sends)
    of_size = {size: matplotlib.colormaps["viridis_r"](0.12 + 0.88 * k / (len(sizes) - 1)) for k, size in enumerate(sizes)}
    shown = sizes if len(sizes) <= 10 else [sizes[round(k * (len(sizes) - 1) / 9)] for k in range(10)]
    axis.legend(handles=[Line2D([], [], color=of_size[size], label=str(size)) for size in shown], title="blocks", loc="upper left",
                bbox_to_anchor=(1.02, 1))
    return [of_size[blocks] for *_, blocks in sends]


def _spacetime(sends, p, rounds):
    figure, ((axis,),) = subplots(figsize=(max(4.0, min(11.0, 1.8 + 0.7 * rounds)), max(2.4, 1.1 + 0.22 * min(p, 36))))
    axis.grid(False)
    axis.hlines(range(p), 0, max(rounds, 1), color="#d8dee4", linewidth=0.8, zorder=1)
    axis.vlines(range(rounds + 1), -0.5, p - 0.5, color="#d8dee4", linewidth=0.8, linestyle=":", zorder=1)
    lines = [(k + 0.06, source, k + 0.94, destination) for k, source, destination, _ in sends]
    _arrows(axis, lines, _colours(axis, sends), width=1.4 if p <= 32 else 0.8)
    axis.set_xlim(0, max(rounds, 1))
    axis.set_ylim(p - 0.5, -0.5)
    axis.yaxis.get_major_locator().set_params(integer=True)
    step = -(-rounds // 20) if rounds else 1
    axis.set_xticks([k + 0.5 for k in range(0, rounds, step)], range(0, rounds, step))
    axis.tick_params(axis="x", length=0)
    axis.set_xlabel("round")
    axis.set_ylabel("rank")
    return figure


def _circles(sends, p, rounds):
    columns = min(4, max(rounds, 1))
    lines = -(-max(rounds, 1) // columns)
    figure, axes = subplots(lines, columns, figsize=(2.3 * columns + 0.8, 2.4 * lines + 0.4))
    places = [(math.sin(2 * math.pi * rank / p), math.cos(2 * math.pi * rank / p)) for rank in range(p)]
    colours = _colours(axes[0][-1], sends)
    for k, axis in enumerate(axes.flat):
        axis.set_axis_off()
        axis.set_aspect("equal")
        axis.set_xlim(-1.3, 1.3)
        axis.set_ylim(-1.3, 1.3)
        if k >= rounds:
            continue
        axis.set_title(f"round {k}", loc="center")
        axis.scatter(*zip(*places), s=12 if p <= 32 else 5, color="#1f2328", zorder=4)
        for rank, (x, y) in enumerate(places if p <= 32 else []):
            axis.text(1.2 * x, 1.2 * y, str(rank), ha="center", va="center", fontsize=7 if p <= 16 else 5)
        chords, tints = [], []
        for (number, source, destination, _), colour in zip(sends, colours):
            if number != k or source == destination:
                continue
            (x, y), (to_x, to_y) = places[source], places[destination]
            short = min(0.45, 0.07 / math.hypot(to_x - x, to_y - y))  # an arrow ends before the point of the rank
            chords.append((x + short * (to_x - x), y + short * (to_y - y), to_x - short * (to_x - x), to_y - short * (to_y - y)))
            tints.append(colour)
        _arrows(axis, chords, tints, width=1.3 if p <= 32 else 0.8)
    return figure


@styled
def rounds(schedules, form="spacetime", title=None):
    """The messages of all ranks: "spacetime" has an arrow for each, from rank to rank and round to round; "circle" has the ranks around a
    circle, once for each round. Schedules are those of all ranks, or what `circoll show --format json` writes of them."""
    if form not in MOST_RANKS:
        raise ValueError(f"rounds are drawn as spacetime or circle, not as '{form}'")
    sends, name, p, count = _messages_of(schedules)
    if len(schedules) != p:
        raise ValueError(f"rounds are drawn of all ranks, and {len(schedules)} of {p} are here: circoll show writes them without --rank")
    if p > MOST_RANKS[form] or count > MOST_ROUNDS[form]:
        raise ValueError(f"a {form} chart shows at most {MOST_RANKS[form]} ranks and {MOST_ROUNDS[form]} rounds")
    figure = (_spacetime if form == "spacetime" else _circles)(sends, p, count)
    words = title or f"{name}, p = {p}"
    if form == "circle":
        figure.suptitle(words)
    else:
        figure.axes[0].set_title(words)
    return figure

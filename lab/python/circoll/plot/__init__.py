"""Charts by matplotlib: rounds, costs, measurements, failures, simulations and traffic.

Each function takes an object of circoll, or what a command writes with --json, and returns a Figure of matplotlib. This package needs
matplotlib and NumPy, and nothing compiled. `circoll plot` and the options --plot of the tool run it as a program.
"""
from .rounds import rounds
from .runs import CLASSES, failures, gantt, jobs, links, traffic
from .times import costs, measured, simulated

__all__ = ["CLASSES", "chart", "costs", "failures", "gantt", "jobs", "links", "measured", "rounds", "simulated", "traffic"]


def chart(data, kind=None, title=None):
    """The chart for what a command wrote with --json, by its contents. The kind is that of measured() or the form of rounds(). Raises
    ValueError if no chart is for it."""
    if isinstance(data, dict) and data.get("format") == "circoll-schedule":
        data = [data]
    document = data[0] if isinstance(data, list) and data else data
    if not isinstance(document, dict):
        raise ValueError("there is no chart for this: it is no object")
    rows = document.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and "median_us" in row for row in rows):
        return measured(data, kind or "times", title)
    if document.get("format") == "circoll-schedule":
        return rounds(data, kind or "spacetime", title)
    if isinstance(data, list) and len(data) > 1:
        raise ValueError("only measurements are drawn from several files")
    if "times_s" in document:
        return costs(document, title)
    if "failures" in document:
        return failures(document, title)
    if "jobs" in document:
        return jobs(document, title)
    if "algorithms" in document:
        return links(document, title)
    if "levels" in document:
        return traffic(document, title)
    if "steps" in document:
        return gantt(document, title)
    if isinstance(rows, list) and rows and "times" in rows[0]:
        return simulated(document, title)
    if "events" in document:
        raise ValueError("this simulation has no steps: circoll simulate --plot draws them, and --plot with --json writes them")
    raise ValueError("there is no chart for this: it is not of bench, merge, cost --sizes, faults, or simulate, with --json, nor of show --format json")

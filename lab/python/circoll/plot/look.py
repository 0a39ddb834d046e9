"""The look of all charts, and what their axes have in common."""
import functools
import io
import pathlib
import threading

import matplotlib.style
from matplotlib.figure import Figure

_drawing = threading.RLock()  # the look is in matplotlib's parameters, which all threads share


def styled(draw):
    """Draws in the look of circoll.mplstyle. The caller's own look stays as it is."""
    @functools.wraps(draw)
    def with_style(*arguments, **options):
        with _drawing, matplotlib.style.context(str(pathlib.Path(__file__).with_name("circoll.mplstyle"))):
            return draw(*arguments, **options)
    return with_style


class Chart(Figure):
    """A Figure that a notebook shows by itself, as the value of a cell: pyplot does not know it, nor keep it."""

    @styled
    def _repr_png_(self):
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=100)
        return picture.getvalue()


@styled
def save(figure, path):
    """Writes a chart. An SVG has no date, so that the same numbers give the same bytes."""
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None, dpi=150)


def subplots(rows=1, columns=1, figsize=None, **options):
    """A figure, which is the caller's, and its axes as a table, also of one."""
    figure = Chart(figsize=figsize)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def in_bytes(size):
    """A size in words, as the tool writes it."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def size_axis(axis, sizes):
    """Sizes on a logarithmic axis, with a tick for each eightfold."""
    axis.set_xscale("log", base=2)
    ticks = [2.0**k for k in range(0, 64, 3) if min(sizes) / 2 <= 2**k <= max(sizes) * 2]
    axis.set_xticks(ticks, [in_bytes(tick) for tick in ticks], rotation=30)
    axis.set_xlabel("size of the vector")

"""The progress of long calls: what progress=True shows."""
import sys
import time
from collections.abc import Callable

Progress = bool | Callable[[float], object]  # False, True for a line on the terminal, or a function of the part that is done


class Line:
    """A line on the terminal or in a notebook, which is written over: the part that is done, and the time that is left."""

    def __init__(self, name, stream=None):
        self._name, self._stream, self._begin, self._written = name, stream or sys.stderr, time.monotonic(), False
        self._shows = self._stream.isatty() or type(self._stream).__module__.startswith("ipykernel")

    def __call__(self, part):
        """Writes the line anew. Nothing is written before a second has passed."""
        passed = time.monotonic() - self._begin
        if not self._shows or passed < 1:
            return
        left = f", {passed * (1 - part) / part:.0f} s left" if part > 0.02 else ""
        self._stream.write("\r" + f"{self._name}: {100 * part:.0f} %{left}".ljust(60))
        self._stream.flush()
        self._written = True

    def clear(self):
        """Takes the line away."""
        if self._written:
            self._stream.write(f"\r{'':60}\r")
            self._stream.flush()

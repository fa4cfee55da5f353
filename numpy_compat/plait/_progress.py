"""How far long work is: one line on a terminal, and nothing elsewhere."""

import sys
import time

_PATIENCE = 0.5  # seconds before anything is said


class Progress:
    """A `with` block that says what it does on standard error if that is a terminal, and leaves no trace of it."""

    def __init__(self, what):
        self._what, self._width = what, 0

    def __enter__(self):
        try:
            self._terminal = sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # it is closed
            self._terminal = False
        self._began = time.monotonic()
        return self

    def step(self, text, at_once=False):
        """Says what comes next; at_once: even if nothing took long yet, as this will."""
        if self._terminal and (at_once or time.monotonic() - self._began >= _PATIENCE):
            self._write(f"{self._what}: {text}")

    def __exit__(self, *exception):
        if self._width:
            self._write("", "\r")

    def _write(self, line, end=""):
        line = line[:78]
        try:
            sys.stderr.write("\r" + line.ljust(self._width) + end)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._terminal = False
        self._width = len(line)

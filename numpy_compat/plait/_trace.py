"""plait.trace("trace.json"), and PLAIT_TRACE: what happens when, on which thread, for Perfetto and chrome://tracing."""

import atexit
import os

from . import _plait
from ._source import Source


class Trace:
    """A file with what happens from the beginning of a `with` block to its end."""

    def __init__(self, path):
        self._path = path
        self._number = _plait.trace_open(path)

    def __enter__(self):
        if self._number is None:
            self._number = _plait.trace_open(self._path)
        _plait.trace_start(self._number)
        return self

    def __exit__(self, *exception):
        number, self._number = self._number, None
        if number is None:
            raise RuntimeError("this trace is complete")
        _plait.trace_finish(number, _describe(), self._path)

    def __repr__(self):
        return f"<trace to {os.fsdecode(self._path)!r}>"


def _describe():
    """What a trace says of a call site: (place, name of the value, text of the line)."""
    source = Source()

    def describe(site):
        found = _plait.site(site)
        texts = source.describe(*found) if found else ("", "", "")
        return tuple(text.encode("utf-8", "replace").decode() for text in texts)

    return describe


def finish_at_exit():
    """The trace that PLAIT_TRACE asks for is complete before Python's modules go; programs that this one starts have files of their own."""
    os.environ["PLAIT_TRACE"] = _plait.trace_of_children()
    atexit.register(lambda: _plait.trace_finish(None, _describe(), None))

"""Inside warnings.catch_warnings, operations evaluate before they return, so that their warnings are caught."""

import contextlib
import warnings

from . import _plait

_catching = 0


def _apply():
    _plait.set_warnings_caught(_catching > 0)


@contextlib.contextmanager
def uncaught():
    """As outside of warnings.catch_warnings."""
    global _catching
    before, _catching = _catching, 0
    told = _plait.set_warnings_caught(False)
    try:
        yield
    finally:
        _catching = before
        _plait.set_warnings_caught(told)


def _watch():
    enter, leave = warnings.catch_warnings.__enter__, warnings.catch_warnings.__exit__

    def __enter__(self):
        global _catching
        result = enter(self)
        _catching += 1
        self._plait_counted = True
        _apply()
        return result

    def __exit__(self, *exc):
        global _catching
        if getattr(self, "_plait_counted", False):
            _catching -= 1
            self._plait_counted = False
            _apply()
        return leave(self, *exc)

    warnings.catch_warnings.__enter__ = __enter__
    warnings.catch_warnings.__exit__ = __exit__


_watch()

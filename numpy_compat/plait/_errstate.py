"""Floating-point error handling: NumPy's and the recorder's states are set together."""

import functools
import warnings

import numpy

from . import _plait

_catching = 0


def _apply():
    state = numpy.geterr()
    _plait.set_error_state(state["divide"], state["over"], state["under"], state["invalid"])
    loud = any(v in ("raise", "call") for v in state.values())
    heard = _catching > 0 and any(v != "ignore" for v in state.values())
    _plait.set_eager_errors(loud or heard)


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    old = numpy.seterr(all, divide, over, under, invalid)
    _apply()
    return old


def seterrcall(func):
    return numpy.seterrcall(func)


class errstate:
    """numpy.errstate for recorded operations too: a node carries the state of its recording."""

    __slots__ = ("_options", "_active")

    def __init__(self, **options):
        numpy.errstate(**options)  # NumPy refuses what it does not know
        self._options = options
        self._active = None

    def __enter__(self):
        if self._active is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        self._active = numpy.errstate(**self._options)
        self._active.__enter__()
        _apply()

    def __exit__(self, *exc):
        self._active.__exit__(*exc)
        _apply()

    def __call__(self, func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            with errstate(**self._options):
                return func(*args, **kwargs)

        return inner


def _watch_warnings():
    """Inside warnings.catch_warnings, operations evaluate before they return, so that their warnings are caught."""
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


_watch_warnings()
_apply()

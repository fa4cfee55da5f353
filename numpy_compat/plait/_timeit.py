"""plait.timeit() and %plait_timeit: how long something takes with all of its values computed, the first time and later, beside NumPy."""

import statistics
import time

from . import _plait
from ._boundary import has_plait, leaves
from ._functions import original
from ._jit import jit
from ._numpy_proxy import numpys

_WARM = 2.0  # seconds that the background has to compile in, at most
_QUIET = 0.05  # seconds without a new kernel after which it has
_ROUND = 5e-3  # seconds of a round at least
_ROUNDS, _SECONDS = (5, 50), 0.5  # least and most; seconds that they take together, roughly


class Timing:
    """What plait.timeit() returns; its repr is a table.

    first: seconds of the first call, with planning and compiling. steady: of a later one, the median of the rounds; best: the least of
    them. numpy: of the same with NumPy, or None where that is not there. ratio: numpy / steady, or None. rounds: how many.
    """

    def __init__(self, first, rounds, numpys):
        self.first, self.rounds = first, len(rounds)
        self.steady, self.best = statistics.median(rounds), min(rounds)
        self.numpy = statistics.median(numpys) if numpys else None
        self.ratio = self.numpy / self.steady if numpys else None

    def __repr__(self):
        lines = [f"first call  {_text(self.first)}",
                 f"steady      {_text(self.steady)}  (median of {self.rounds} rounds, the best {_text(self.best).strip()})"]  # fmt: skip
        if self.numpy is not None:
            lines.append(f"NumPy       {_text(self.numpy)}  ({self.ratio:.3g} times as long)")
        return "\n".join(lines)


def _text(seconds):
    for unit, factor in (("s ", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:7.2f} {unit}"
    return f"{seconds * 1e9:7.1f} ns"


def timeit(f, *args, **kwargs):
    """How long f(*args, **kwargs) takes with all of its results computed: the first call, later ones, and the same with NumPy.

    f: a jitted function, beside which the function itself runs; a function of Plait's arrays, which gets NumPy's the second time; or any
    other function, which is jitted here. It runs many times: what it writes to its arguments adds up.
    Returns an object whose repr is a table, with the seconds as `first`, `steady`, `best` and `numpy` (None where the same with NumPy
    is not there), and `ratio`. Raises what f raises, and TypeError for what is not callable.
    """
    if not callable(f):
        raise TypeError(f"timeit() takes a callable, not {type(f).__name__}")
    plain = original(f)
    ours = has_plait(args) or has_plait(kwargs)
    if plain is f and not ours:
        f = jit(f)
    theirs, named = (numpys_of(args), numpys_of(kwargs)) if ours else (args, kwargs)
    return measured(lambda: f(*args, **kwargs), lambda: plain(*theirs, **named))


def numpys_of(x):
    """x with NumPy's arrays, functions and modules in the place of Plait's."""
    kind = type(x)
    if kind in (list, tuple):
        return kind([numpys_of(v) for v in x])
    if kind is dict:
        return {k: numpys_of(v) for k, v in x.items()}
    if kind is _plait.ndarray or kind is _plait.lazy_scalar:
        return _plait.export(x if kind is _plait.lazy_scalar else x.to_device("cpu")).copy()
    return numpys(original(x))


def measured(ours, numpys_call):
    """The Timing of two functions without arguments; the second one is NumPy's."""
    first, _ = _timed(ours, 1)
    numpys_call = numpys_call if _is_numpys(numpys_call) else None
    _warm(ours)
    once = min(_timed(ours, 1)[0] for _ in range(3))
    number = max(1, round(_ROUND / max(once, 1e-9)))
    rounds, theirs = [], []
    numpys_number = max(1, round(_ROUND / max(_timed(numpys_call, 1)[0], 1e-9))) if numpys_call else 0
    ends = time.perf_counter() + _SECONDS
    while len(rounds) < _ROUNDS[0] or (len(rounds) < _ROUNDS[1] and time.perf_counter() < ends):
        rounds.append(_timed(ours, number)[0])
        if numpys_call:  # in turn: what else the machine does is the same for both
            theirs.append(_timed(numpys_call, numpys_number)[0])
    return Timing(first, rounds, theirs)


def _timed(call, number):
    """Seconds of one of so many calls, with what they return computed, and the last result."""
    began = time.perf_counter()
    for _ in range(number):
        made = call()
        _evaluated(made)
    return (time.perf_counter() - began) / number, made


def _evaluated(made):
    pending = leaves(made, [])
    if pending:
        _plait.evaluate(*pending)


def _is_numpys(call):
    """Whether a call runs, and gives nothing of Plait's."""
    try:
        return not leaves(call(), [])
    except Exception:  # noqa: BLE001  what is written for Plait alone
        return False


def _warm(call):
    """Calls until the background has compiled what it needs."""
    began = quiet = time.perf_counter()
    known = None
    for calls in range(1_000_000):
        _timed(call, 1)
        now, seen = time.perf_counter(), _plait.stats()["kernels_compiled"]
        if seen != known:
            known, quiet = seen, now
        if now - began > _WARM or (calls >= 3 and now - quiet > _QUIET):
            return

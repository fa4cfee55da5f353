"""Seeing and setting what the engine does."""

import operator

import numpy

from . import _plait


def _change(name, value, called):
    """Changes a setting; called: what the program names it by. Raises TypeError, ValueError with what is allowed."""
    allowed = next(row[3] for row in _plait.settings() if row[1] == name).replace("`", "")
    if type(value) is bool:
        text = "on" if value else "off"
    elif isinstance(value, (int, str, numpy.integer)):
        text = str(value)
    else:
        raise TypeError(f"{called}: a {type(value).__name__} is not allowed; allowed: {allowed}")
    if not _plait.set_config(name, text):
        raise ValueError(f"{called}: {value!r} is not allowed; allowed: {allowed}")


class _Config:
    """The configuration, as attributes; some can be set, to whatever their variable of the environment takes."""

    def __getattr__(self, name):
        try:
            return _plait.get_config()[name]
        except KeyError:
            raise AttributeError(f"plait.config has no attribute {name!r}") from None

    def __setattr__(self, name, value):
        changeable = [row[1] for row in _plait.settings() if row[2]]
        if name not in changeable:
            raise AttributeError(f"plait.config.{name} cannot be set; {', '.join(changeable)} can")
        _change(name, value, f"plait.config.{name}")

    def __dir__(self):
        return sorted(_plait.get_config())

    def __repr__(self):
        return "\n".join(f"{k} = {v!r}" for k, v in _plait.get_config().items())


config = _Config()


def get_num_threads():
    """Threads that a region runs on."""
    return _plait.num_threads()


def set_num_threads(n):
    """Sets the number of threads, an integer from 1; results have the same bits for any. Raises TypeError, ValueError."""
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"set_num_threads() takes an integer, not {n!r}") from None
    _change("threads", n, "set_num_threads()")


def stats():
    """Counters of the engine, the recorder and the memory pool since the start, as a dict.

    What is pending, live, cached or kept is what there is now. Names with device, host and copies tell of GPUs.
    evaluations, plans_made, plans_reused: graphs computed, and their plans. direct_nodes: operations computed one at a time.
    kernels_run, kernels_interpreted, kernels_jitted: loops, and what ran them. kernels_compiled, disk_hits: where machine code came from.
    bytes_moved: what regions read and wrote. pending_nodes: operations recorded and not computed. live_bytes: memory of arrays.
    cached_bytes, plan_bytes, kernel_bytes, site_bytes: what trim() gives back. last_plan_regions, last_plan_bytes,
    last_plan_least_bytes: regions of the last plan, and bytes that it moved and had to move.
    """
    return _plait.stats()


def show_config(mode="stdout"):
    """Plait's version and settings come first, under "Plait"; those of the NumPy beneath it follow."""
    if mode == "dicts":
        return {"Plait": {"version": _plait.__version__, **_plait.get_config()}, **numpy.show_config(mode)}
    if mode == "stdout":
        print(f"Plait:\n  version: {_plait.__version__}")
        for name, value in _plait.get_config().items():
            print(f"  {name}: {value}")
    return numpy.show_config(mode)


def trim():
    """Gives memory back that Plait keeps for later: freed buffers, plans, kernels, call sites; returns the bytes counted of it.

    What is still needed stays, and what went is made again when it is asked for.
    """
    return _plait.trim()


def evaluate(*arrays):
    """Computes the arrays, all in one plan; returns them."""
    _plait.evaluate(*arrays)
    return arrays[0] if len(arrays) == 1 else arrays


def explain(what, *args, target=None, source=False):
    """The plan of a pending array, or what a function computes from args, as text, and as a picture.

    what: plait.ndarray, a lazy scalar, a tuple, list or dict of them, or a callable. The first line starts with "1 region" or
    "N regions" and counts everything. A region names its source lines and the variables that it computes and reads. Nothing is
    computed, except what a called function forces itself: values that it asks for and fallbacks to NumPy come first, in order.
    A notebook shows the picture, and save("plan.svg") or save("plan.html") of what is returned writes it.
    target: "cpu", or an architecture such as "cuda:sm_90", for which each kernel is compiled by NVRTC (no device is needed) and
    described by its registers, shared memory and spills; None: where the arrays live. source: with the kernels' CUDA C++.
    Raises TypeError for anything else, ValueError for an unknown target, DeviceError when NVRTC is missing.
    """
    from . import _explain

    target = target or ""
    if callable(what) and not isinstance(what, _plait.ndarray):
        return _explain.of_function(what, args, target, source)
    if args:
        raise TypeError("explain() takes arguments after a function only; several arrays go in a tuple or a list")
    return _explain.of_arrays(_flatten(what), target, source, _explain.caller(1))


def _flatten(x):
    if isinstance(x, (tuple, list)):
        return [leaf for v in x for leaf in _flatten(v)]
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in _flatten(v)]
    return [x]

"""Loops over arrays of a device. Independent iterations (sharing.py) run there, a thread each. What else there is runs on the host, on copies of the arrays
that go back behind it."""

from .. import _plait
from .._plait import may_share_memory, ndarray
from .by_python import Resumption
from .sharing import are_apart


def device_among(arrays):
    """The name of the device that the first of them lies on which lies on one, or None."""
    return next((a.device for a in arrays if type(a) is ndarray and _plait.on_device(a)), None)


def mixed_up(arrays, written):
    """Whether one of a device that is written to, by their numbers, overlaps another one: copies on the host would be apart."""
    there = [(n, a) for n, a in enumerate(arrays) if type(a) is ndarray and _plait.on_device(a)]
    return any(n != m and may_share_memory(a, b) for m, a in there if m in written for n, b in there)


def numbers_of(arrays):
    """The parameters of a procedure: shapes and strides."""
    params = []
    for a in arrays:
        params += a.shape
        params += a.strides
    return params


def reals_of(arrays):
    """The arrays as a procedure has them: complex numbers begin where their real parts do."""
    return [a.real if a.dtype.kind == "c" else a for a in arrays]


def why_host(code, device):
    """Why the host runs the loop; "" where the device does. The same for all arrays."""
    return code.alone if code.places is None else code.procedure.why_not_on(device, code.head, code.shared)


def found(code, where, device, arrays, args, numbers):
    """The results of the loop, as those of one run."""
    if code.on_host is None:
        code.on_host = why_host(code, device)
    written = [arrays[slot] for slot in code.changed]
    why = code.on_host or (_why_these(code, arrays, written, numbers) if numbers else "")
    if not why and numbers:
        result = _by_threads(code, device, [_plait.to_device(a, device) for a in arrays], written, args, numbers)
        if result is not None:
            return result
        why = code.on_host
    result = _on_host(code, arrays, args)
    if not why and result[1] and isinstance(code.lowering.failures[result[1] - 1].again, Resumption):
        why = code.on_host = "Python does a part of an iteration"  # and will of others
    if why and why not in code.told_why:
        code.told_why.add(why)
        tell(where, why)
    return result


def _why_these(code, arrays, written, numbers):
    if not all(map(_plait.on_device, written)):
        return "it writes to an array of the host"
    return "" if are_apart(code.places, arrays, numbers, may_share_memory) else "iterations may meet in these arrays"


def _by_threads(code, device, arrays, written, args, numbers):
    """None, with the arrays as they were, where an iteration fails, or leaves variables to one before it."""
    low = code.lowering
    kept = [a.copy() for a in written] if low.failures or any(tagged for *_, tagged in low.outputs) else []
    result = code.procedure.run_on(device, reals_of(arrays), numbers_of(arrays), args, len(numbers), code.head, code.shared)
    if result is not None and (name := _unset(low, result[code.head :])):
        code.on_host, result = f"{name} has a value behind the loop that the last iteration does not give it", None
    if result is None:
        for a, b in zip(written, kept):
            a[...] = b
    return result


def _unset(low, results):
    """A variable of those behind the loop that the last iteration has left as it found it."""
    results = iter(results)
    for name, t, tagged in low.outputs:
        for _ in range(2 if t.kind == "c" else 1):
            next(results)
        if tagged and not next(results):
            return name
    return None


def _on_host(code, arrays, args):
    here = [_plait.to_device(a, "cpu") for a in arrays]
    result = code.procedure.run(reals_of(here), numbers_of(here), args)
    for slot in code.changed:
        if here[slot] is not arrays[slot]:
            arrays[slot][...] = here[slot].to_device(arrays[slot].device)
    return result


def tell(where, why):
    """PLAIT_LOG=loops and fallback, once a loop's code."""
    text = f"{where[0]}:{where[1]}: the loop in {where[2]}() runs on the host: {why}"
    _plait.log_loop(text)
    _plait.log_fallback(text)

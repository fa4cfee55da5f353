"""Results are where their operands are: every function of the namespace with arrays of a device while the thread creates on the host, and
with arrays of the host while it creates on a device."""

import numpy
import pytest
from support import needs_device

import plait
from plait import _coverage, _plait
from plait._boundary import leaves

pytestmark = needs_device

# What they give is not decided by their arguments alone: unset memory, the order of equal elements.
_UNDECIDED = {"empty", "empty_like", "argsort"}


def arrays(x):
    return [v for v in leaves(x, [], namespaces=True) if type(v) is plait.ndarray and _plait.host_of(v) is None]


def moved(x, device):
    if type(x) is plait.ndarray and _plait.host_of(x) is None:
        return x.to_device(device)
    if type(x) in (tuple, list):
        return type(x)(moved(v, device) for v in x)
    return {k: moved(v, device) for k, v in x.items()} if type(x) is dict else x


@pytest.mark.parametrize("operands, creates", [("cuda:0", "cpu"), ("cpu", "cuda:0")])
def test_results_are_where_their_operands_are(operands, creates):
    plait.zeros(1, device="cuda")
    wrong = []
    with _coverage.caller(side=64) as called:
        for name, function, text in _coverage.samples():
            args, kwargs = called.arguments(text)
            if not arrays((args, tuple(kwargs.values()))):
                continue
            want = None
            if not name.startswith("random.") and name not in _UNDECIDED:
                want = [numpy.array(v) for v in arrays([function(*args, **kwargs), args])]
                args, kwargs = called.arguments(text)
            args, kwargs = moved(args, operands), moved(kwargs, operands)
            try:
                with plait.device(creates):
                    made = arrays([function(*args, **kwargs), args])
            except Exception as e:  # noqa: BLE001
                wrong.append(f"{name}: {e!r}")
                continue
            if any(v.device != operands for v in made):
                wrong.append(f"{name}: results on {[v.device for v in made]}")
            for got, of_host in zip(made, want or []):
                got = numpy.asarray(got)
                if got.dtype != of_host.dtype or got.shape != of_host.shape or not numpy.allclose(got, of_host, rtol=1e-6, atol=1e-9, equal_nan=True):
                    wrong.append(f"{name}: other values")
    assert not wrong, "\n".join(wrong)

"""torch in jitted functions, and its functions of Plait's arrays."""

import functools
import sys
import types

from . import _plait
from ._boundary import _is_array
from ._foreign_libraries import library_of
from ._pickles import STAND_INS
from ._plait import ndarray
from ._stand_ins import MODULES


class _Torchs(types.ModuleType):
    """torch in jitted functions, where from_numpy() takes Plait's arrays."""

    def __init__(self, torch):
        super().__init__("torch", torch.__doc__)
        self.from_numpy = functools.wraps(torch.from_numpy)(functools.partial(_tensor, torch))
        object.__setattr__(self, "_theirs", torch)

    def __getattr__(self, name):
        return getattr(self._theirs, name)

    def __setattr__(self, name, value):
        super().__setattr__(name, value) if name in ("from_numpy", "_theirs") else setattr(self._theirs, name, value)

    def __dir__(self):
        return dir(self._theirs)


def _tensor(torch, x):
    """torch.from_numpy(): of an array of Plait's, a tensor over its memory, wherever that is."""
    if type(x) is not ndarray:
        return torch.from_numpy(x)
    if _plait.on_device(x):
        return torch.from_dlpack(x)
    return library_of(torch.Tensor).take(x.to_numpy())


def know_torch():
    """Before a function is looked at: torch, if the program has it, is to have a stand-in."""
    if hasattr(sys.modules.get("torch"), "from_numpy"):
        stand_in(sys.modules["torch"])


def stand_in(torch):
    """What stands for the module in jitted functions."""
    if not hasattr(torch, "from_numpy"):  # it is being imported
        return torch
    if id(torch) not in STAND_INS:
        made = STAND_INS[id(torch)] = _Torchs(torch)
        STAND_INS[id(torch.from_numpy)] = made.from_numpy
    return STAND_INS[id(torch)]


MODULES["torch"] = stand_in


def torch_function(func, args, kwargs):
    """torch's functions, operators of tensors among them, take Plait's arrays as tensors over their memory."""
    torch = sys.modules["torch"]

    def made(x):
        if _is_array(type(x)):
            return _tensor(torch, x)
        if type(x) in (list, tuple):
            return type(x)(map(made, x))
        return x

    return func(*map(made, args), **{k: made(v) for k, v in kwargs.items()})

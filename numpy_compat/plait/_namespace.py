"""Every public name of NumPy, found when it is first asked for."""

import importlib
import importlib.machinery
import sys
import types

import numpy

from . import _default_dtype, _dispatch, _plait
from ._fallback import call, from_numpy, to_numpy, wrapper
from ._submodules import NATIVE

# Modules of NumPy that say nothing about arrays.
_SAME_MODULES = {"exceptions", "typing", "dtypes", "core", "f2py", "ma", "emath_"}
_MODULES = {
    "linalg", "fft", "random", "testing", "lib", "polynomial", "char", "strings", "rec", "ctypeslib", "emath", "matlib",
}  # fmt: skip


class _Indexed:
    """numpy.r_, c_, mgrid and ogrid."""

    def __init__(self, target, name):
        self._target, self._name = target, name

    def __getitem__(self, key):
        return call(self._made, (key,), None, self._name)

    def _made(self, key):
        made = self._target[key]
        return _default_dtype.of_values(made, key) if _default_dtype.active else made

    def __len__(self):
        return 0


class vectorize(numpy.vectorize):
    """numpy.vectorize, with Plait arrays in and out."""

    def __call__(self, *args, **kwargs):
        if self.pyfunc is numpy._NoValue or not hasattr(self, "pyfunc"):
            return super().__call__(*args, **kwargs)
        return call(super().__call__, args, kwargs, "vectorize")


def adapt(value, name, module="plait"):
    """What stands for an object of NumPy's namespace in Plait's."""
    if isinstance(value, numpy.ufunc):
        from . import _ufunc

        return _ufunc.make(value)
    if isinstance(value, type) or not callable(value):
        if name in ("r_", "c_", "mgrid", "ogrid"):
            return _Indexed(value, name)
        return value
    if isinstance(value, types.ModuleType):
        return value
    ours = NATIVE.get(value) or wrapper(_default_dtype.creating(value, name), name, module)
    return _dispatch.asking(ours, value, name, module)


class Mirror(types.ModuleType):
    """A submodule of NumPy whose functions take and give Plait arrays."""

    def __init__(self, name, target, own=None):
        super().__init__(name, target.__doc__)
        self.__path__ = []
        self._target = target
        if hasattr(target, "__all__"):
            self.__all__ = list(target.__all__)
        if own:
            self.__dict__.update(own)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._target, name)
        if isinstance(value, types.ModuleType):
            value = mirror(f"{self.__name__}.{name}", value) if value.__name__.startswith("numpy") else value
        else:
            value = self._adapted(value, name)
        setattr(self, name, value)
        return value

    def _adapted(self, value, name):
        return adapt(value, f"{self.__name__.partition('.')[2]}.{name}", self.__name__)

    def __dir__(self):
        return sorted({*dir(self._target), *self.__dict__})


_mirrors = {}


def mirror(name, target, own=None):
    """The mirror of a module of NumPy, made once and importable under its name."""
    if target.__name__ not in _mirrors:
        _mirrors[target.__name__] = sys.modules[name] = Mirror(name, target, own)
    return _mirrors[target.__name__]


def submodule(name):
    if name in _SAME_MODULES:
        module = importlib.import_module(f"numpy.{name}")
        sys.modules.setdefault(f"plait.{name}", module)
        return module
    try:
        return importlib.import_module(f"plait.{name}")
    except ModuleNotFoundError:
        return mirror(f"plait.{name}", getattr(numpy, name, None) or importlib.import_module(f"numpy.{name}"))


def lookup(name):
    """plait.<name> for a name of NumPy. Raises AttributeError for anything else."""
    if name in _MODULES or name in _SAME_MODULES:
        return submodule(name)
    if name == "vectorize":
        return vectorize
    try:
        value = getattr(numpy, name)
    except AttributeError as e:
        raise AttributeError(str(e).replace("module 'numpy'", "module 'plait'"), name=name) from None
    if isinstance(value, types.ModuleType):
        return submodule(name) if value.__name__.startswith("numpy") else value
    return adapt(value, name)


class _Finder:
    """import plait.fft and the like: submodules that exist only as mirrors."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        top, _, rest = fullname.partition(".")
        if top != "plait" or not rest:
            return None
        try:
            source = importlib.import_module(f"numpy.{rest}")
        except ImportError:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(source), is_package=True)


class _Loader:
    def __init__(self, source):
        self.source = source

    def create_module(self, spec):
        if spec.name.partition(".")[2] in _SAME_MODULES:
            return self.source
        return _mirrors.get(self.source.__name__) or Mirror(spec.name, self.source)

    def exec_module(self, module):
        _mirrors.setdefault(self.source.__name__, module)


sys.meta_path.append(_Finder)

__all__ = ["adapt", "from_numpy", "lookup", "mirror", "submodule", "to_numpy", "_plait"]

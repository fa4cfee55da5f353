"""Every public name of NumPy, most of them at once, the rest when it is first asked for."""

import importlib
import importlib.machinery
import sys
import types

import numpy

from . import _default_dtype, _dispatch, _plait
from ._conversion import from_numpy, to_numpy, ufunc_of
from ._fallback import call, wrapper
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
        if isinstance(key, str):  # names of the caller's
            frame = sys._getframe(1)
            return call(numpy.bmat, (key, frame.f_globals, frame.f_locals), None, self._name)
        return call(self._made, (key,), None, self._name)

    def _made(self, key):
        made = self._target[key]
        return _default_dtype.of_values(made, key) if _default_dtype.active else made

    def __len__(self):
        return 0


# What of numpy.testing takes arrays. The rest calls functions, which are to get the arguments that they were given.
_COMPARISONS = {
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal", "assert_array_almost_equal_nulp",
    "assert_array_compare", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal", "build_err_msg",
    "nulp_diff", "print_assert_equal",
}  # fmt: skip


def adapt(value, name, module="plait"):
    """What stands for an object of NumPy's namespace in Plait's."""
    if isinstance(value, numpy.ufunc):
        return ufunc_of(value)
    if isinstance(value, type) or not callable(value):
        if name in ("r_", "c_", "mgrid", "ogrid"):
            return _Indexed(value, name)
        return value
    if isinstance(value, types.ModuleType):
        return value
    if module.startswith("plait.testing") and value.__name__ not in _COMPARISONS:
        return value
    ours = NATIVE.get(value) or wrapper(_default_dtype.creating(value, name), name, module)
    return _dispatch.asking(ours, value, name, module)


made_names = types.ModuleType.__dict__["__dict__"].__get__  # of a mirror, those that somebody has asked for


class Mirror(types.ModuleType):
    """A submodule of NumPy whose functions take and give Plait arrays."""

    def __init__(self, name, target, own=None):
        super().__init__(name, target.__doc__)
        self.__path__ = []
        self._target = target
        if hasattr(target, "__all__"):
            self.__all__ = list(target.__all__)
        # Of the module, not of the class: names that are there are then found as in any module, without a call.
        made_names(self)["__getattr__"] = self._made
        if own:
            made_names(self).update(own)

    @property
    def __dict__(self):
        """All names of the module, for vars() and `import *`; each is made when it is first asked for."""
        for name in vars(self._target):
            if not name.startswith("__"):
                getattr(self, name)
        return made_names(self)

    def _made(self, name):
        if name.startswith("__") and not name.startswith("__cpu_"):  # the import system's; NumPy's own are what the processor can do
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
        return sorted({*dir(self._target), *made_names(self)} - {"__getattr__"})

    def __reduce__(self):
        return importlib.import_module, (self.__name__,)


_mirrors = {}


def mirror(name, target, own=None):
    """The mirror of a module of NumPy, made once and importable under its name."""
    if target.__name__ not in _mirrors:
        _mirrors[target.__name__] = sys.modules[name] = Mirror(name, target, own)
    return _mirrors[target.__name__]


def submodule(name):
    try:
        return importlib.import_module(f"plait.{name}")
    except ModuleNotFoundError:
        return mirror(f"plait.{name}", getattr(numpy, name, None) or importlib.import_module(f"numpy.{name}"))


def lookup(name):
    """plait.<name> for a name of NumPy. Raises AttributeError for anything else."""
    if name in _MODULES or name in _SAME_MODULES:
        return submodule(name)
    if name in ("vectorize", "frompyfunc"):
        from . import _called

        return _called.vectorize if name == "vectorize" else _called.from_python
    try:
        value = getattr(numpy, name)
    except AttributeError as e:
        raise AttributeError(str(e).replace("module 'numpy'", "module 'plait'"), name=name) from None
    if isinstance(value, types.ModuleType):
        return submodule(name) if value.__name__.startswith("numpy") else value
    return adapt(value, name)


def found_at_once(namespace):
    """NumPy's names that a namespace lacks, so that vars() has them, too."""
    return {n: lookup(n) for n in tuple(vars(numpy)) if not n.startswith("_") and n not in namespace}


class _Mirrors:
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
        return importlib.machinery.ModuleSpec(fullname, _MirrorLoader(source), is_package=True)


class _MirrorLoader:
    def __init__(self, source):
        self.source = source

    def create_module(self, spec):
        return _mirrors.get(self.source.__name__) or Mirror(spec.name, self.source)

    def exec_module(self, module):
        _mirrors.setdefault(self.source.__name__, module)


class _SameModules:
    """import plait.ma.core and the like: NumPy's modules under a second name, which are not to be loaded a second time."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        top, _, rest = fullname.partition(".")
        if top != "plait" or rest.partition(".")[0] not in _SAME_MODULES:
            return None
        return importlib.machinery.ModuleSpec(fullname, _SameLoader(), is_package=True)


class _SameLoader:
    def create_module(self, spec):
        module = importlib.import_module("numpy" + spec.name[len("plait") :])
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has set its own


sys.meta_path.insert(0, _SameModules)
sys.meta_path.append(_Mirrors)

__all__ = ["adapt", "from_numpy", "lookup", "mirror", "submodule", "to_numpy", "_plait"]

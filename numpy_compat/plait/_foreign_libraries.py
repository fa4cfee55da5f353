"""Libraries whose arrays jitted functions take: how those come to be NumPy's or Plait's over their memory, and how results come back."""

import sys
import types

import numpy

from . import _exchange, _plait
from ._plait import lazy_scalar, ndarray

OWN = numpy.ndarray, numpy.generic, ndarray, lazy_scalar
COMPUTES = "biufc"  # kinds of dtypes whose scalars are arrays without dimensions in other libraries
_INTERFACE = "__cuda_array_interface__"
known = _plait.foreign_classes  # class of arrays -> its Library


class Refused(Exception):
    """Why an array is not lent; `error`: the class of what is raised for it."""

    def __init__(self, array, why, error=TypeError):
        super().__init__(why)
        self.array, self.error = array, error


class Library:
    """How arrays of a class come to be Plait's, and how results come back, by DLPack and __cuda_array_interface__.

    Calls that are simple ask for less (bindings/foreign.cpp)."""

    to_numpy = None  # the name of a method of arrays for what lend() returns, if it returns
    from_numpy = None  # what take() is of NumPy's writable arrays, if it returns

    def __init__(self, kind):
        self.kind = kind
        self.name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"

    def lend(self, x):
        """NumPy's array over x's memory on the host, or Plait's over that on a device. Raises Refused."""
        try:
            if not hasattr(self.kind, "__dlpack__"):
                return _exchange.from_interface(x)
            made = _exchange.from_dlpack(x)
            return self.on_host(x) if made is NotImplemented else made
        except Exception as e:  # whatever a library says of an array that it does not export
            raise Refused(x, f"that is not lent without a copy ({_line(e)}): give a NumPy array of its values") from e

    def on_host(self, x):
        lent = _exchange.OnHost(x)
        made = numpy.from_dlpack(lent)
        return made if lent.narrow is None else made.view(lent.narrow)

    def take(self, y):
        """An array of the library over y, NumPy's on the host or Plait's; y itself where the library has no such."""
        make = self.importer(y)
        if make is None:
            return y
        try:
            return make(_plait.share(y) if is_narrow(y) else y)
        except (BufferError, TypeError, ValueError, RuntimeError):
            return self.copied(make, y)

    def copied(self, make, y):
        """The same for what the library does not take as it is: read-only memory, and strides that it does not know."""
        try:
            return make(y.copy())
        except (BufferError, TypeError, ValueError, RuntimeError):
            return y

    def importer(self, y):
        """from_dlpack of the library, which stands in a module that the class comes from; None without one."""
        name = self.kind.__module__
        while name:
            found = getattr(sys.modules.get(name), "from_dlpack", None)
            if found is not None:
                return found
            name = name.rpartition(".")[0]
        return None


class _Jax(Library):
    """Arrays of JAX are read-only."""

    def on_host(self, x):
        return numpy.asarray(x)  # which is over its memory, too, and sooner made

    def lend(self, x):
        if isinstance(x, sys.modules["jax"].core.Tracer):
            raise Refused(x, "that JAX traces, and has no values yet: call the function outside of jax.jit, or by jax.pure_callback")
        return super().lend(x)

    def importer(self, y):
        return sys.modules["jax"].dlpack.from_dlpack

    def copied(self, make, y):
        return sys.modules["jax"].numpy.asarray(y)


class _Torch(Library):
    """Tensors, of which torch says itself whether they have an array."""

    to_numpy = "numpy"

    def __init__(self, kind):
        super().__init__(kind)
        self.torch = sys.modules["torch"]
        self.from_numpy = self.torch.from_numpy

    def lend(self, x):
        try:
            return x.numpy()
        except (TypeError, RuntimeError, NotImplementedError) as e:
            return self.seldom(x, e)

    def seldom(self, x, error):
        """What has no array of NumPy's own dtypes in memory of the host."""
        torch = self.torch
        for is_so, why, kind in self.refusals(x):
            if is_so:
                raise Refused(x, why, kind) from None
        if x.device.type == "cuda":
            return super().lend(x)
        bits = {1: torch.uint8, 2: torch.int16}.get(x.element_size())
        narrow = _narrow(str(x.dtype).partition(".")[2]) if x.device.type == "cpu" and bits else None
        if narrow is None:
            raise Refused(x, f"on {x.device}, of {x.dtype}, which NumPy has no array for ({_line(error)}): give x.to() of another dtype") from error
        return x.view(bits).numpy().view(narrow)

    def refusals(self, x):
        torch = self.torch
        yield _is_traced(x), "that torch.compile records, and has no values yet: call the function outside of what is compiled", TypeError
        yield x.is_nested, "that is nested: give the tensors of x.unbind(), one by one", TypeError
        yield x.layout is not torch.strided, f"with the layout {x.layout}: give x.to_dense()", TypeError
        yield x.is_meta, "on the meta device, which has no values: give a tensor on the host or a GPU", TypeError
        yield not _has_memory(x), "without memory of its own, as those in torch.vmap and torch.func.grad: call the function outside of them", TypeError
        yield x.requires_grad, "that requires grad: give x.detach(), of which no derivatives are taken", RuntimeError
        yield x.is_quantized, "that is quantised: give x.dequantize(), or x.int_repr()", TypeError
        yield x.is_conj(), "with its conjugate bit set: give x.resolve_conj()", TypeError
        yield x.is_neg(), "with its negative bit set: give x.resolve_neg()", TypeError
        yield x.device.type not in ("cpu", "cuda"), f"on {x.device}, where Plait does not run: give x.cpu()", TypeError

    def take(self, y):
        if type(y) is not numpy.ndarray:
            return self.torch.from_dlpack(y)
        if not y.flags.writeable:
            y = y.copy()  # tensors cannot be read-only
        try:
            return self.from_numpy(y)
        except TypeError:
            return self.narrow(y)
        except ValueError:  # strides or an order of bytes that torch does not know
            return self.take(numpy.array(y, y.dtype.newbyteorder("="), order="C"))

    def narrow(self, y):
        """A tensor of a dtype that NumPy's arrays have from ml_dtypes; y itself where torch has no such dtype."""
        dtype = getattr(self.torch, y.dtype.name, None) if is_narrow(y) else None
        return y if dtype is None else self.take(y.view(f"i{y.itemsize}" if y.itemsize > 1 else "u1")).view(dtype)


def _is_traced(x):
    """Whether it is one of torch's tensors that stand for others while a function is recorded."""
    return type(x).__name__ in ("FakeTensor", "FunctionalTensor") or x.__class__.__module__.startswith("torch._subclasses")


def _has_memory(x):
    """Not those that stand for others in torch's transforms."""
    try:
        x.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return False
    return True


def is_narrow(y):
    """Whether its dtype is one of ml_dtypes'."""
    return y.dtype.num >= 256


def _narrow(name):
    try:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError, TypeError):
        return None


def _line(error):
    return str(error).strip().partition("\n")[0]


def library_of(kind, x=None):
    """The Library of a class whose instances, x one of them, are arrays of another library; None for any other class."""
    found = known.get(kind)
    if found is None and (hasattr(kind, "__dlpack__") or hasattr(kind, _INTERFACE) or _INTERFACE in getattr(x, "__dict__", ())):
        if issubclass(kind, OWN) or issubclass(kind, types.ModuleType):
            return None
        roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
        make = _Torch if "torch" in roots else _Jax if roots & {"jax", "jaxlib"} else Library
        found = known[kind] = make(kind)
    return found

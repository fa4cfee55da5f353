"""Compiled functions that C and NumPy call: cfunc, vectorize with signatures, guvectorize."""

import ctypes
import functools
import re
import types

import numpy

from . import _plait
from ._signatures import Signature, as_ctypes, signature_of

_FAR = 1 << 56  # elements of a pointer that says not how many there are


class CFunction:
    """A C function that runs a Python function's machine code. Calling it calls the Python function.

    address: of the C function, an int.
    ctypes: the same as a function of ctypes, for `scipy.LowLevelCallable` and C libraries.
    signature: as it was given.

    Whoever has the address has to keep this object alive, or `ctypes`.
    """

    def __init__(self, function, signature):
        self.signature = signature
        self._declared = _with_lengths(signature_of(signature))
        self._function = function
        functools.update_wrapper(self, function)
        self._native, self._code = _entry(function, self._declared)
        prototype = ctypes.CFUNCTYPE(as_ctypes(self._declared.result), *map(as_ctypes, self._declared.arguments))
        self.ctypes = prototype(self.address)
        self.ctypes._plait_function = self  # which has the code

    @property
    def address(self):
        return self._native.address

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __repr__(self):
        return f"<plait.cfunc {self.__name__}: {self.signature}>"


def cfunc(function, signature=None, *, nopython=True, cache=True):
    """A C function of a Python function, compiled now: `plait.cfunc(f, "float64(float64)")`, or `@plait.cfunc("float64(float64)")`.

    signature: types of the result and of the arguments. A text as in C (`"double(int n, double x[n])"`), as of NumPy's or Numba's types
    (`"float64(intp, CPointer(float64))"`), a signature of Numba's, or a prototype of ctypes (`CFUNCTYPE(c_double, c_double)`). The function gets Python's
    numbers. Of a pointer it gets an array of one dimension: with as many elements as the declaration says, which may be one of the other arguments, or of
    no known length, of which it may take the part `x[:n]`. Of a pointer to void it gets the address, an int.

    Returns a CFunction. What the function reads from outside is as it was when it was compiled.

    An error cannot be raised through C. It is told as those of ctypes' callbacks are, by sys.unraisablehook, and the C function returns NaN, or 0 where it
    returns no float.

    Raises TypeError where the function cannot be compiled, or the signature is none.
    """
    if signature is None and (isinstance(function, str) or not isinstance(function, types.FunctionType) and not hasattr(function, "__wrapped__")):
        return functools.partial(CFunction, signature=function)
    return CFunction(function, signature)


def _with_lengths(signature):
    """The signature, with the lengths of pointers as numbers of arguments: ("1", as a name) -> an int, or the number of an argument in a tuple."""
    names = {a.name: k for k, a in enumerate(signature.arguments) if a.name}
    arguments = []
    for k, a in enumerate(signature.arguments):
        length = a.length
        if length and not length.isdigit():
            n = names.get(length)
            if n is None or signature.arguments[n].pointer or signature.arguments[n].dtype.kind not in "iu":
                raise TypeError(f"the length of argument {k + 1} is {length}, which is no argument of an integer type")
            length = (n,)
        arguments.append(a._replace(length=int(length) if isinstance(length, str) and length else length or None))
    for a in (signature.result, *arguments):
        if a.ndim:
            raise TypeError("a C function takes pointers, and no arrays: 'double x[n]', where n is another argument")
        if a.dtype is not None and not a.pointer and (a.dtype == "u8" and a is not signature.result and not _is_length(a, arguments) or a.dtype == "f2"):
            raise TypeError(f"numbers of {a.dtype} of C's have no type of Python's in machine code")
    if signature.result.pointer:
        raise TypeError("a C function that returns a pointer")
    return Signature(signature.result, tuple(arguments))


def _is_length(a, arguments):
    return any(isinstance(x.length, tuple) and arguments[x.length[0]] is a for x in arguments)


def _entry(function, signature):
    from ._python_loops.natively import Array, Fixed, Natively, Number, Word

    given, names = {}, []
    for k, a in enumerate(signature.arguments):
        names.append(f"a{k}")
        if a.pointer and a.dtype is not None:
            extent = Word(a.length[0]) if isinstance(a.length, tuple) else Fixed(_FAR if a.length is None else a.length)
            given[names[-1]] = Array(k, a.dtype, (extent,), (Fixed(a.dtype.itemsize),), True)
        else:
            given[names[-1]] = Number(k, "i" if a.pointer or a.dtype.kind == "u" else a.dtype.kind)
    result, target = signature.result.dtype, "" if signature.result.dtype is None else "r = "
    code = Natively(function, f"{target}f({', '.join(names)})", given, Fixed(1), "r" if target else None, packed=True, alone=False)
    at, kind = 0, None
    if target:
        at, t = code.results["r"]
        kind = result.kind if result.kind not in "bu" else "i"
        if t.kind not in "biuf":
            raise TypeError(f"{function.__name__}() cannot be compiled: it returns what is neither a number of C's nor made one")
        if "bif".index(t.kind if t.kind != "u" else "i") > "bif".index(kind):
            raise TypeError(f"{function.__name__}() cannot be compiled: it returns a float, and its signature says {result}")

    def told(results, words):
        found = code.told(results, words, words).get("r")
        if not target:
            return None
        if kind == "f":
            return float(found)
        return (int(found) + (1 << 63)) % (1 << 64) - (1 << 63)  # as C's numbers wrap around

    told.__name__, told.__qualname__ = function.__name__, function.__qualname__
    arguments = ["int64" if a.pointer else a.dtype.name for a in signature.arguments]
    return _plait.NativeFunction(code.call, arguments, None if result is None else result.name, at, told), code


def _signatures(given):
    """The Signatures of one or of several."""
    if isinstance(given, (str, type)) or not isinstance(given, (list, tuple)):
        given = [given]
    if not given:
        raise TypeError("no signatures")
    return [signature_of(x) for x in given]


def is_signatures(x):
    """Whether vectorize() is given signatures, and no function."""
    return isinstance(x, (str, list, tuple)) or type(x).__module__.startswith("numba.")


def vectorized(function, signatures, identity=None, nopython=True, cache=True):
    """The ufunc of a Python function of numbers, compiled for each of the signatures, which NumPy asks in that order: `"float64(float64, float64)"`."""
    return _made(function, [_elementwise(function, s) for s in _signatures(signatures)], None, identity)


def _elementwise(function, signature):
    from ._python_loops.natively import WORDS, Array, Word, teller, versions_of

    if signature.result.dtype is None or any(a.ndim or a.pointer for a in (signature.result, *signature.arguments)) or not signature.arguments:
        raise TypeError("the signature of a ufunc has numbers as arguments, and one as the result")
    dtypes = [a.dtype for a in (*signature.arguments, signature.result)]
    nin, given = len(signature.arguments), {}
    for k, dtype in enumerate(dtypes):
        given[f"a{k}"] = Array(k, dtype, (Word(0),), (Word(1 + k),), k == nin)
    arguments = ", ".join(f"{WORDS[dtype.kind]}(a{k}[i])" for k, dtype in enumerate(dtypes[:nin]))
    versions = versions_of(function, f"a{nin}[i] = f({arguments})", given, Word(0))
    return {"dtypes": dtypes, "nin": nin, "operands": nin + 1, "dimensions": 1, "steps": nin + 1, "versions": versions, "told": teller(versions)}


_IDENTITIES = {None: "none", 0: "zero", 1: "one", "reorderable": "reorderable"}


def _made(function, loops, layout, identity):
    if identity not in _IDENTITIES:
        raise ValueError(f"identity is 0, 1, None or 'reorderable', not {identity!r}")
    if len({(len(loop["dtypes"]), loop["nin"]) for loop in loops}) > 1:
        raise TypeError("signatures of several numbers of arguments")
    nin = loops[0]["nin"]
    described = [{**loop, "versions": [(need, of.call) for need, of in loop["versions"]]} for loop in loops]
    chars = b"".join(bytes(dtype.num for dtype in loop["dtypes"]) for loop in loops)
    doc = function.__doc__ or ""
    return _plait.make_ufunc(described, chars, nin, len(loops[0]["dtypes"]) - nin, layout, function.__name__, doc, _plait.identities[_IDENTITIES[identity]])


def guvectorize(signatures, layout, *, identity=None, nopython=True, cache=True):
    """A decorator that makes a generalised ufunc of a Python function of arrays, as Numba's does.

    signatures: one or a list: `"void(float64[:], float64[:], float64[:])"`, with the types of all operands, results too. NumPy takes the first one that
    it can cast the operands to.
    layout: NumPy's signature of the dimensions that the function itself goes over, as `"(n),(n)->()"`. An operand without any, `()`, is a number where its
    type is one (an input), or an array of one element where that is `float64[:]`.

    The function sets the elements of its last arguments, the results, and returns nothing. It is compiled now, and called for each element of the other
    dimensions. The result is a numpy.ufunc: `out=`, `axis=`, `axes=`, `keepdims=`, broadcasting and errors are NumPy's.

    Raises TypeError where the function cannot be compiled, where it writes to an input, or where a signature does not fit the layout, and ValueError where
    the layout is none.
    """

    def decorator(function):
        return _made(function, [_generalised(function, s, layout) for s in _signatures(signatures)], layout, identity)

    return decorator


def _layout(text):
    """(of each operand the names of its dimensions, how many operands are inputs)."""
    text = re.sub(r"\s", "", text)
    if not re.fullmatch(r"(\([\w,]*\),?)*->(\([\w,]*\),?)+", text):
        raise ValueError(f"not a layout of dimensions that can be compiled: {text!r}")
    inputs, outputs = (re.findall(r"\(([\w,]*)\)", side) for side in text.split("->"))
    return [[n for n in operand.split(",") if n] for operand in inputs + outputs], len(inputs)


def _generalised(function, signature, layout):
    from ._python_loops.natively import WORDS, Array, Fixed, Word, teller, versions_of

    operands, nin = _layout(layout)
    if signature.result.dtype is not None:
        raise TypeError("the signature of a generalised ufunc returns void")
    if len(operands) != len(signature.arguments):
        raise TypeError(f"{len(signature.arguments)} arguments for {len(operands)} operands of the layout {layout}")
    sizes = list(dict.fromkeys(n for operand in operands for n in operand))
    first = 1 + len(sizes)  # step
    given, arguments, behind = {}, [], first + len(operands)
    for k, (a, core) in enumerate(zip(signature.arguments, operands)):
        if a.pointer or a.ndim != len(core) and not (not core and (a.ndim == 1 or k < nin)):
            raise TypeError(f"argument {k + 1} has {a.ndim} dimensions, and {len(core)} in the layout {layout}")
        extents, strides = [Word(0)], [Word(first + k)]
        for n in core:
            extents.append(Word(1 + sizes.index(n)))
            strides.append(Word(behind))
            behind += 1
        if a.ndim and not core:
            extents.append(Fixed(1))
            strides.append(Fixed(a.dtype.itemsize))
        given[f"a{k}"] = Array(k, a.dtype, tuple(extents), tuple(strides), k >= nin)
        arguments.append(f"a{k}[i]" if a.ndim else f"{WORDS[a.dtype.kind]}(a{k}[i])")
    versions = versions_of(function, f"f({', '.join(arguments)})", given, Word(0))
    dtypes = [a.dtype for a in signature.arguments]
    return {"dtypes": dtypes, "nin": nin, "operands": len(operands), "dimensions": len(sizes) + 1, "steps": behind - first, "versions": versions, "told": teller(versions)}

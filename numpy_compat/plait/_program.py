"""plait.load(path) and what it returns: programs that plait.export wrote."""

import os
import stat

import numpy

from . import _mapped, _namespace, _plait
from ._docs import stand_for
from ._plait import ndarray
from ._shape import overlap

_MAGIC = b"plaitrun"
_NUMPYS = numpy.lib.format.MAGIC_PREFIX, b"PK\x03\x04", b"PK\x05\x06"  # an array, archives


class Error(ValueError):
    """A function that cannot be exported, or an exported program that cannot be read or called so."""

    __module__ = "plait"


class _EmptyError(Error, EOFError):  # which numpy.load raises
    pass


class _FolderError(Error, IsADirectoryError):
    pass


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    """An exported program, or the arrays of a file of numpy.save's.

    file: str or path-like of a program gives a Program, a callable of the arrays that the function took, which returns what it
    returned. All else, and the other parameters, are numpy.load's. Raises plait.Error for a program that is damaged, of another
    version, or without code for this processor; OSError where the file cannot be read. Whoever may write to a program decides
    what runs: it holds machine code.
    """
    if isinstance(file, (str, os.PathLike)) and _is_program(file, allow_pickle):
        try:
            return Program(os.path.abspath(os.fsdecode(file)))
        except ValueError as e:
            raise Error(str(e)) from None
    try:
        made = _namespace.lookup("load")(file, mmap_mode, allow_pickle, fix_imports, encoding, max_header_size=max_header_size)
    except Exception as e:  # whatever is raised for what the file holds, which names no file
        if isinstance(file, (str, os.PathLike)):
            e.add_note(f"The file is {os.fsdecode(file)}; plait.load reads programs of plait.export's and files of numpy.save's.")
        raise
    return _mapped.taken(made) if type(made) is numpy.memmap else made


stand_for(load, numpy.load, "plait")


def _is_program(path, allow_pickle):
    """Whether the file is, or was, a program; else it is one that numpy.load reads. Raises Error where it is neither."""
    path = os.fsdecode(path)
    kind = os.stat(path).st_mode
    if stat.S_ISDIR(kind):
        raise _FolderError(f"{path}: it is a directory")
    if not stat.S_ISREG(kind):
        raise Error(f"{path}: it is no regular file")
    with open(path, "rb") as f:
        begin = f.read(len(_MAGIC))
        if not begin:
            raise _EmptyError(f"{path}: it is empty")
        if _MAGIC.startswith(begin):
            return True
        f.seek(0)
        if not (allow_pickle or begin.startswith(_NUMPYS) or _is_pickle(f)):
            raise Error(f"{path}: it is neither a program of plait.export's nor a file of NumPy's, or it is damaged")
    return False


def _is_pickle(file):
    import pickletools  # which few need

    try:
        for _ in pickletools.genops(file):
            pass
    except Exception:  # of many kinds
        return False
    return True


class Program:
    """What plait.load returns. Arguments and results are as those of a jitted function. Its pickle holds the program."""

    def __init__(self, path):
        import json  # which few need

        self._path, self._seen = path, _version(path)
        self._program = program = _plait.program(path)
        self._data = None  # of one that no file holds
        self.manifest = json.loads(program.manifest)
        self._arguments = [(a["name"], numpy.dtype(a["dtype"])) for a in self.manifest["arguments"]]

    def __reduce__(self):
        if self._data is not None:
            return _unpickled, (self._data,)
        try:
            with open(self._path, "rb") as f:
                data = f.read()
            same = _version(self._path) == self._seen
        except OSError as e:
            raise Error(f"{self._path}: it cannot be read again, so that the program cannot be pickled: {e.strerror}") from e
        if not same:
            raise Error(f"{self._path}: it is another file than when it was loaded, so that the program cannot be pickled")
        return _unpickled, (data,)

    def __call__(self, *arrays):
        if len(arrays) != len(self._arguments):
            raise TypeError(f"{self.manifest['function']} takes {len(self._arguments)} arrays, not {len(arrays)}")
        numpys = not any(map(is_ours, arrays))
        for a, (name, dtype) in zip(arrays, self._arguments):
            if not (is_ours(a) or type(a) in _PLAIN or isinstance(a, numpy.generic)):
                raise TypeError(f"argument '{name}' has to be an array, not {type(a).__name__}")
            if a.dtype != dtype:
                raise TypeError(f"argument '{name}' has dtype {a.dtype}; it was exported with {dtype}")
        given, lent = [], []
        try:
            self._check_places(arrays)
            for a in arrays:
                if is_ours(a):
                    given.append(a if a.flags.c_contiguous else a.copy())
                else:
                    lent.append(_plait.borrow(numpy.require(a, requirements="CA").reshape(a.shape)))
                    given.append(lent[-1])
            results = self._program.run(given)
        except ValueError as e:
            raise Error(str(e)) from None
        finally:
            _plait.end_borrow(*lent)
        for i, made in zip(self._program.writes, results[len(results) - len(self._program.writes) :]):
            arrays[i][...] = made
        return _built(self.manifest["results"], results, _plait.export if numpys else lambda x: x)

    def _check_places(self, arrays):
        """What the program writes to is one element a place, and no other argument's."""
        for i in self._program.writes:
            if not arrays[i].flags.writeable:
                raise ValueError("assignment destination is read-only")
            if _lies_over_itself(arrays[i]):
                raise ValueError(f"elements of argument '{self._arguments[i][0]}' share memory, and it is written to")
        self._program.check_apart(lambda i, j: overlap(arrays[i], arrays[j]))

    def __repr__(self):
        arguments = ", ".join(f"{a['name']}: {a['dtype']}{a['shape']}" for a in self.manifest["arguments"])
        return f"<plait program {self.manifest['function']}({arguments}) for {', '.join(self.manifest['targets'])}>"


def _version(path):
    s = os.stat(path)
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns


def _unpickled(data):
    """The Program of a pickle. Whoever may write to it decides what runs, as with any pickle."""
    import tempfile  # which few need

    with tempfile.NamedTemporaryFile(prefix="plait") as f:
        f.write(data)
        f.flush()
        made = load(f.name)
    made._data = data
    return made


_PLAIN = numpy.ndarray, numpy.memmap  # other subclasses compute in another way than what was recorded


def is_ours(x):
    return ndarray in type(x).__mro__  # isinstance() takes NumPy's for ours


def _lies_over_itself(x):
    """Whether two elements may: each axis has to step over what those of shorter steps span."""
    span = x.itemsize
    for step, n in sorted((abs(step), n) for step, n in zip(x.strides, x.shape) if n > 1):
        if step < span:
            return True
        span += step * (n - 1)
    return False


def _built(tree, results, outward):
    ((kind, x),) = tree.items()
    if kind == "array":
        return outward(results[x])
    if kind == "scalar":
        return numpy.asarray(results[x])[()]
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_built(v, results, outward) for v in x)
    if kind == "dict":
        return {k: _built(v, results, outward) for k, v in x}
    return x

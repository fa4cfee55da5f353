"""The flags attribute of Plait arrays: says what the layout is without evaluating anything."""

from . import _plait


def _is_writeable(base):
    if isinstance(base, _plait.ndarray):
        return base.flags.writeable
    try:
        return not memoryview(base).readonly
    except TypeError:
        return False


class Flags:
    """As numpy's flagsobj: attributes and names in capitals; writeable can be set."""

    _NAMES = {
        "C_CONTIGUOUS": "c_contiguous", "C": "c_contiguous", "CONTIGUOUS": "c_contiguous",
        "F_CONTIGUOUS": "f_contiguous", "F": "f_contiguous", "FORTRAN": "f_contiguous",
        "OWNDATA": "owndata", "O": "owndata", "WRITEABLE": "writeable", "W": "writeable",
        "ALIGNED": "aligned", "A": "aligned", "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy",
        "FNC": "fnc", "FORC": "forc", "BEHAVED": "behaved", "B": "behaved", "CARRAY": "carray", "CA": "carray",
        "FARRAY": "farray", "FA": "farray",
    }  # fmt: skip

    def __init__(self, array, c, f, writeable, owns):
        vars(self).update(
            _array=array, c_contiguous=c, contiguous=c, f_contiguous=f, fortran=f, _writeable=writeable, owndata=owns, aligned=True,
            writebackifcopy=False, fnc=f and not c, forc=f or c,
        )  # fmt: skip

    @property
    def behaved(self):
        return self._writeable

    @property
    def carray(self):
        return self._writeable and self.c_contiguous

    @property
    def farray(self):
        return self._writeable and self.f_contiguous and not self.c_contiguous

    @property
    def writeable(self):
        return self._writeable

    def __setattr__(self, name, value):
        value = bool(value)
        if name == "writebackifcopy" and value:
            raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
        if name == "writeable":
            self._set_writeable(value)
        elif name not in ("aligned", "writebackifcopy"):
            raise AttributeError(f"attribute '{name}' of 'numpy._core.multiarray.flagsobj' objects is not writable")

    def __delattr__(self, name):
        raise AttributeError(f"Cannot delete flags {name} attribute")

    def _set_writeable(self, value):
        base = self._array.base
        if value and not self._writeable and base is not None and not _is_writeable(base):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        _plait.set_writeable(self._array, value)
        vars(self)["_writeable"] = value

    @property
    def num(self):
        return self.c_contiguous * 1 + self.f_contiguous * 2 + self.owndata * 4 + self.aligned * 0x100 + self._writeable * 0x400

    def __getitem__(self, name):
        try:
            return getattr(self, self._NAMES[name])
        except (KeyError, TypeError):
            raise KeyError("Unknown flag") from None

    def __setitem__(self, name, value):
        attribute = self._NAMES.get(name)
        if attribute not in ("writeable", "aligned", "writebackifcopy"):
            raise KeyError("Unknown flag")
        setattr(self, attribute, value)

    def __eq__(self, other):
        return getattr(other, "num", None) == self.num

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "".join(f"  {n} : {self[n]}\n" for n in names)

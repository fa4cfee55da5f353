"""What help(), inspect.signature() and completion show of what stands in NumPy's place: NumPy's own name, docstring and signature."""

import inspect
import types

import numpy


def stand_for(ours, theirs, module):
    """Describes `ours`, a function that stands for NumPy's `theirs`, as NumPy does; what `ours` says itself comes after its first paragraph. Returns `ours`."""
    own = getattr(theirs, "__dict__", {})
    text, note = getattr(theirs, "__doc__", None), ours.__doc__
    ours.__module__ = module
    if text and note and note != text:
        # Before NumPy's parameters, where help() shows it on its first screen.
        first, *rest = inspect.cleandoc(text).split("\n\n", 1)
        text = "\n\n".join([first, f"In Plait: {' '.join(note.split())}", *rest])
    ours.__doc__ = text or note
    # Where NumPy's asks __array_function__, its signature is that of what it calls.
    ours.__wrapped__ = own.get("__wrapped__", theirs)
    if "__signature__" in own:
        ours.__signature__ = own["__signature__"]
    elif isinstance(theirs, types.BuiltinFunctionType) and theirs.__text_signature__:
        ours.__text_signature__ = theirs.__text_signature__
    return ours


def describe(ours, theirs, module="plait"):
    """Describes the public functions in ours (dict of a namespace) as their namesakes in theirs."""
    done = set()
    for name, value in ours.items():
        if type(value) is types.FunctionType and not name.startswith("_") and value not in done:
            done.add(value)
            namesake = getattr(theirs, value.__name__, None)
            if callable(namesake):
                stand_for(value, namesake, module)


def describe_package(package):
    describe(vars(package), numpy)
    describe({n: f for n, f in vars(package.ufunc).items() if not n.startswith("_")}, numpy.ufunc, "plait")
    package.ndarray.__doc__ = numpy.ndarray.__doc__

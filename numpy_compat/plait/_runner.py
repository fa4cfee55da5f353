"""python -m plait: a script with Plait in NumPy's place; third-party packages keep NumPy."""

import builtins
import os
import sys
import sysconfig
import types

_LIBRARIES = tuple(os.path.realpath(p) + os.sep for p in {*sysconfig.get_paths().values(), *sys.path[1:]} if p and "lib" in p)
_PACKAGE = os.path.dirname(os.path.realpath(__file__)) + os.sep


def _is_users(file):
    """True for source files of the user's own program."""
    if not file:
        return False
    file = os.path.realpath(file)
    if "site-packages" in file or "dist-packages" in file:
        return False
    return not file.startswith((_PACKAGE, *_LIBRARIES))


def install():
    """Makes `import numpy` in the user's own files import plait."""
    original = builtins.__import__
    verdicts = {}

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and (name == "numpy" or name.startswith("numpy.")) and globals is not None:
            file = globals.get("__file__")
            if file not in verdicts:
                verdicts[file] = _is_users(file)
            if verdicts[file]:
                return original("plait" + name[5:], globals, locals, fromlist, 0)
        return original(name, globals, locals, fromlist, level)

    builtins.__import__ = import_


def main(argv):
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: python -m plait script.py [arguments]\n       python -m plait -m module [arguments]")
        return 0 if argv else 2
    import plait  # noqa: F401  before the hook, so that its own imports stay NumPy's

    install()
    if argv[0] == "-m":
        import runpy

        sys.argv = argv[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        return 0
    path = argv[0]
    sys.argv = list(argv)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        with open(path, "rb") as f:
            code = compile(f.read(), path, "exec")
    except OSError as e:
        print(f"python -m plait: can't open file {path!r}: {e.strerror}", file=sys.stderr)
        return 2
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    exec(code, module.__dict__)
    return 0

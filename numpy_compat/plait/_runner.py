"""python -m plait: a script with Plait in NumPy's place; third-party packages keep NumPy."""

import builtins
import functools
import importlib.util
import os
import site
import sys
import sysconfig
import types

import numpy


def _libraries():
    """Where the standard library and installed packages are, and Plait and NumPy themselves."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    paths += [os.path.dirname(module.__file__) for module in (numpy, sys.modules[__package__])]
    return tuple({os.path.realpath(p) + os.sep for p in paths if p})


_LIBRARIES = _libraries()


def _is_users(file):
    """True for source files of the user's own program."""
    if not file:
        return False
    file = os.path.realpath(file)
    # A folder of installed packages that another Python owns has the name that all of them have.
    if not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep)):
        return False
    return not file.startswith(_LIBRARIES)


def install():
    """Makes `import numpy`, __import__ and importlib.import_module in the user's own files import plait."""
    original, original_module = builtins.__import__, importlib.import_module
    verdicts = {}

    def here(name, scope):
        """The name of what is to be imported in Plait's place, for code whose globals are scope."""
        if name == "numpy" or name.startswith("numpy."):
            file = scope.get("__file__")
            if file not in verdicts:
                verdicts[file] = _is_users(file)
            if verdicts[file]:
                return "plait" + name[5:]
        return name

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0:
            scope = sys._getframe(1).f_globals if globals is None else globals
            name = here(name, scope)
        return original(name, globals, locals, fromlist, level)

    def import_module(name, package=None):
        if package and name.startswith("."):
            name = importlib.util.resolve_name(name, package)
        return original_module(here(name, sys._getframe(1).f_globals), package)

    builtins.__import__, importlib.import_module = import_, functools.wraps(original_module)(import_module)


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

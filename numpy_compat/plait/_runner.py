"""python -m plait: a program with Plait in NumPy's place, given as `python` takes it; third-party packages keep NumPy."""

import builtins
import functools
import importlib.machinery
import importlib.util
import linecache
import os
import pkgutil
import runpy
import site
import sys
import sysconfig
import types

import numpy


def _libraries():
    """Where the standard library and installed packages are, and Plait and NumPy themselves."""
    of = sysconfig.get_paths()
    paths = [of[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    paths += [os.path.dirname(module.__file__) for module in (numpy, sys.modules[__package__])]
    return tuple({os.path.realpath(p) + os.sep for p in paths if p})


_LIBRARIES = _libraries()


def _is_users(file):
    """True for source files of the user's own program."""
    if file == "<stdin>":
        return True
    if not file:
        return False
    file = os.path.realpath(file)
    # A folder of installed packages that another Python owns has the name that all of them have.
    if not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep)):
        return False
    return not file.startswith(_LIBRARIES)


def install(imports_plait=lambda name, file: _is_users(file)):
    """Makes `import numpy`, __import__ and importlib.import_module in the user's own files import plait.

    imports_plait: whether it does so for a module of NumPy of this name that a file imports.
    """
    original, original_module = builtins.__import__, importlib.import_module
    known = {}

    def here(name, scope):
        """The name of what is to be imported in Plait's place, for code whose globals are scope."""
        if name == "numpy" or name.startswith("numpy."):
            file = scope.get("__file__")
            if file is None and scope.get("__name__") == "__main__":
                file = "<stdin>"  # python -c has none
            if (name, file) not in known:
                known[name, file] = imports_plait(name, file)
            if known[name, file]:
                return "plait" + name[5:]
        return name

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and type(fromlist) is not list:  # a list: pickle and other code in C, called by the user's
            scope = sys._getframe(1).f_globals if globals is None else globals
            name = here(name, scope)
        return original(name, globals, locals, fromlist, level)

    def import_module(name, package=None):
        if package and name.startswith("."):
            name = importlib.util.resolve_name(name, package)
        return original_module(here(name, sys._getframe(1).f_globals), package)

    builtins.__import__, importlib.import_module = import_, functools.wraps(original_module)(import_module)
    builtins.__build_class__ = functools.partial(_built, builtins.__build_class__)


def _built(build, *args, **kwargs):
    """A class whose __array__ gives Plait's arrays: C code of NumPy's, and of others, asks it for one of NumPy's type, and its
    __array_wrap__ to wrap such."""
    made = build(*args, **kwargs)
    method = made.__dict__.get("__array__") if isinstance(made, type) else None
    # Those of subclasses of plait.ndarray are asked by Plait alone.
    if isinstance(method, types.FunctionType) and not issubclass(made, _plait_arrays()):

        @functools.wraps(method)
        def __array__(*args, **kwargs):
            array = method(*args, **kwargs)
            return array.__array__() if type(array) is _plait_arrays() else array

        made.__array__ = __array__
        wrap = made.__dict__.get("__array_wrap__")
        if isinstance(wrap, types.FunctionType):

            @functools.wraps(wrap)
            def __array_wrap__(self, array, context=None, *args, **kwargs):
                return wrap(self, *sys.modules["plait._array_protocol"].as_wrapped(array, context), *args, **kwargs)

            made.__array_wrap__ = __array_wrap__
    return made


def _plait_arrays():
    return sys.modules["plait"].ndarray


USAGE = "usage: python -m plait [-h] [-V] [--profile] [-c code | -m module | script.py | folder | archive | -] [arguments]"

HELP = f"""{USAGE}

Runs a program of NumPy's on Plait: in its own files `import numpy` gives plait; installed packages keep NumPy.

  -c code        the program is the text of the argument
  -m module      the program is a module, found as `python -m` finds it
  script.py      the program is a file, or a folder or an archive with a __main__.py
  -              the program comes from standard input; from a terminal, a prompt
  --profile      first: where the program's time went, line by line, on standard error when it ends
  -h, --help     this text
  -V, --version  the versions of Plait, NumPy and Python

Options of Python come before -m plait. Settings are variables of the environment; plait.show_config() shows them.
"""


def main(argv):
    if not argv or argv[0] in ("-h", "--help"):
        print(HELP if argv else USAGE, end="" if argv else "\n")
        return 0 if argv else 2
    if argv[0] == "--profile":
        if not argv[1:]:
            return _refused("--profile needs a program")
        if argv[1] in ("-h", "--help", "-V", "--version", "--profile"):
            return _refused(f"--profile goes before a program, not {argv[1]}")
        import plait

        # The program's end, however it comes; what it leaves to its exit functions is not seen.
        with plait.profile():
            return main(argv[1:])
    kind, rest = argv[0], argv[1:]
    if kind in ("-c", "-m") and not rest:
        return _refused(f"Argument expected for the {kind} option")
    if kind.startswith("-") and kind not in ("-c", "-m", "-", "-V", "--version"):
        return _refused(f"unknown option {kind}")
    import plait  # before the hook, so that its own imports stay NumPy's

    if kind in ("-V", "--version"):
        print(f"Plait {plait.__plait_version__} (NumPy {numpy.__version__}, Python {sys.version.split()[0]})")
        return 0
    install()
    if kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        return _run(rest[0] + "\n", "<string>", "")
    if kind == "-":
        sys.argv = ["-", *rest]
        if sys.stdin is not None and sys.stdin.isatty():
            return _interact()
        return _run(sys.stdin.read() if sys.stdin else "", "<stdin>", "", __file__="<stdin>")
    if kind == "-m":
        sys.argv = ["-m", *rest[1:]]
        _set_path(os.getcwd())
        return _run_module(rest[0])
    sys.argv = list(argv)
    # As Python does: joined, and nothing more, so that a link and its `..` keep their meaning.
    file = os.path.join(os.getcwd(), kind)
    if pkgutil.get_importer(file) is not None:
        sys.path[0 : 0 if sys.flags.safe_path else 1] = [file]
        return _run_module("__main__", alter_argv=False)
    try:
        with open(file, "rb") as f:
            source = f.read()
    except OSError as e:
        print(f"{sys.executable} -m plait: can't open file {file!r}: [Errno {e.errno}] {e.strerror}", file=sys.stderr)
        return 2
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    return _run(source, file, os.path.dirname(os.path.realpath(file)), __file__=file, __loader__=loader, __cached__=None)


def _refused(why):
    print(f"{why}\n{USAGE}", file=sys.stderr)
    return 2


def _set_path(first):
    if not sys.flags.safe_path:
        sys.path[0] = first


def _main_module(**names):
    module = types.ModuleType("__main__")
    module.__dict__.update({"__loader__": importlib.machinery.BuiltinImporter, "__builtins__": builtins, "__annotations__": {}, **names})
    sys.modules["__main__"] = module
    return module.__dict__


def _run(source, file, path, **names):
    """Runs source text as __main__; path goes to the front of sys.path."""
    _set_path(path)
    scope = _main_module(**names)
    if isinstance(source, str):  # what tracebacks and plait.explain quote
        linecache.cache[file] = len(source), None, source.splitlines(True), file
    return _shown(lambda: exec(compile(source, file, "exec", dont_inherit=True), scope))


def _run_module(name, alter_argv=True):
    """Runs a module, or what is first on sys.path, as __main__, by what `python` itself calls for it."""
    _main_module()
    return _shown(runpy._run_module_as_main, name, alter_argv)


def _shown(run, *args, **kwargs):
    """run(*args), whose exceptions are shown as `python` shows them, without the frames of this file; the exit status."""
    try:
        run(*args, **kwargs)
    except Exception as e:
        trace = e.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in _OWN_FRAMES:
            trace = trace.tb_next
        sys.excepthook(type(e), e.with_traceback(trace), trace)
        return 1
    return 0


_OWN_FRAMES = __file__, runpy.__file__, "<frozen runpy>"


def _interact():
    import code

    _set_path("")
    code.interact(banner=f"Python {sys.version}\nimport numpy gives plait", local=_main_module(), exitmsg="")
    return 0

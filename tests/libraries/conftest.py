import os
import pathlib
import sys

try:
    import plait
except ImportError:  # a build tree puts the module beside the package
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "numpy_compat"))
    import plait

# Scripts that tests start find the same package.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.dirname(os.path.dirname(plait.__file__)), *filter(None, [os.environ.get("PYTHONPATH")])]
)

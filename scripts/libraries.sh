#!/usr/bin/env bash
# Makes the calls of tests/libraries, of pandas, scikit-learn and others, with NumPy's arrays and with Plait's. The package has to be built.
#
# The libraries are installed in a virtual environment of their own, because some want another NumPy than the other tests. PyTorch takes
# gigabytes: its calls are made where it is installed, and counted as skipped elsewhere.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PLAIT_VENV=${PLAIT_LIBRARIES_VENV:-$root/.venv-libraries}
. "$root/scripts/setup.sh"
cd "$root"
need_venv
need_pip "numpy>=2.0" "pytest>=8" pandas xarray scikit-learn scipy statsmodels networkx matplotlib pillow polars "dask[array]" distributed numba jax einops opt_einsum

export PYTHONPATH=$root/numpy_compat${PYTHONPATH:+:$PYTHONPATH} PLAIT_CACHE_DIR=${PLAIT_CACHE_DIR:-${PLAIT_BUILD:-$root/build-test}/cache}
"$py" -c "import plait" || { echo "libraries: build the package first (scripts/test.sh)" >&2; exit 1; }
"$py" -m pytest -q -p no:cacheprovider --durations=12 "$@" tests/libraries

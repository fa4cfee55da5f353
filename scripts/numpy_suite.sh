#!/usr/bin/env bash
# NumPy's own tests, as installed in the environment, on Plait: the part that CI runs, or what the arguments of
# tests/numpy_suite/run.py name (--part all, linalg, _core/tests/test_umath.py -k power). Needs the build of scripts/test.sh.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
need_venv
need_pip "numpy>=2.0" "pytest>=8" "hypothesis>=6"
export PYTHONPATH=$root/numpy_compat${PYTHONPATH:+:$PYTHONPATH} PLAIT_CACHE_DIR=${PLAIT_CACHE_DIR:-${PLAIT_BUILD:-$root/build-test}/cache}
[ $# -gt 0 ] || set -- --part ci
exec "$py" tests/numpy_suite/run.py "$@"

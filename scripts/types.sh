#!/usr/bin/env bash
# Checks the stubs as a user's type checker reads them: mypy and pyright over the samples, the programs of the documentation, and tests/types,
# whose program also runs.
# Both checkers are installed into a virtual environment of their own, .venv-types; pyright's Node.js comes as a wheel.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
need_venv
need_pip "numpy>=2.0" scikit-learn pillow ml_dtypes
checkers=$root/.venv-types
[ -x "$checkers/bin/mypy" ] || { "${PYTHON:-python3}" -m venv "$checkers" && "$checkers/bin/pip" install -q mypy "pyright[nodejs]"; }
export PYTHONPATH=$root/numpy_compat MYPYPATH=$root/numpy_compat
status=0
"$checkers/bin/mypy" --cache-dir="$checkers/cache" --python-executable "$py" --ignore-missing-imports tests/types samples/*.py || status=1
"$checkers/bin/pyright" --pythonpath "$py" tests/types samples || status=1
snippets=$checkers/snippets
rm -rf "$snippets" && mkdir "$snippets" && "$py" scripts/snippets.py "$snippets"
"$checkers/bin/mypy" --cache-dir="$checkers/cache" --python-executable "$py" --ignore-missing-imports --allow-redefinition "$snippets"/*.py || status=1
echo '{"reportPossiblyUnboundVariable": false, "reportMissingImports": false}' >"$snippets/pyrightconfig.json"
"$checkers/bin/pyright" --pythonpath "$py" --project "$snippets" || status=1
"$py" tests/types/program.py || status=1
[ $status -eq 0 ] && echo "types: clean"
exit $status

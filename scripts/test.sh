#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: C++ by layer, samples, package, Python, some hundred fuzz programs, a part of NumPy's
# own tests. Ends with one line, "N passed, N failed, N skipped", and exits with 1 when something failed.
set -uo pipefail
. "$(dirname "$0")/setup.sh"
. "$root/scripts/steps.sh"
. "$root/scripts/checks.sh"
cd "$root"
prepare_tests

step build build_tests
steps_wait
step python python_tests
step c++ cpp_tests
step fuzz fuzz_tests
step numpy numpys_tests
status=0
steps_done || status=1
"$py" scripts/count.py "${test_reports[@]}" || status=1
exit $status

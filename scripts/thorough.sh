#!/usr/bin/env bash
# What CI leaves out because it takes hours or differs from day to day: all C++ tests, Python's on kernels for a device as users get them and
# for each architecture, many fuzz programs with a seed of the day, all of NumPy's own tests, all C++ tests under sanitizers. Nothing waits
# for it. PLAIT_FUZZ_PROGRAMS (20000), PLAIT_FUZZ_SEED (the date).
set -uo pipefail
. "$(dirname "$0")/setup.sh"
. "$root/scripts/steps.sh"
. "$root/scripts/checks.sh"
cd "$root"
export PLAIT_THOROUGH=1 PLAIT_FUZZ_PROGRAMS=${PLAIT_FUZZ_PROGRAMS:-20000} PLAIT_FUZZ_SEED=${PLAIT_FUZZ_SEED:-$(date +%Y%m%d)}
prepare_tests

# In folders of their own; where a tool is not there, nothing of it.
packages() {
  local scratch failed=0
  scratch=$(mktemp -d)
  if command -v conan >/dev/null; then
    for shared in True False; do
      CONAN_HOME=$scratch/conan conan profile detect --exist-ok && CONAN_HOME=$scratch/conan conan create packaging/conan -o "plait/*:shared=$shared" || failed=1
    done
  fi
  if [ -n "${VCPKG_ROOT:-}" ]; then
    for triplet in "" -dynamic; do
      "$VCPKG_ROOT/vcpkg" install plait --overlay-ports=packaging/vcpkg --triplet="$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')-linux$triplet" --x-install-root="$scratch/vcpkg" || failed=1
    done
  fi
  rm -rf "$scratch"
  return $failed
}
all_cpp_tests() { PLAIT_LEFT_OUT=nothing cpp_tests; }
all_of_numpys_tests() { with_package "$py" tests/numpy_suite/run.py --part all -j 1 --report "$reports/numpy.txt"; }

step build build_tests
steps_wait
step sanitizers sanitized_tests '.'
step fuzz fuzz_tests
step c++ all_cpp_tests
step numpy all_of_numpys_tests
step python python_tests
step packages packages
status=0
steps_done || status=1
"$py" scripts/count.py "${test_reports[@]}" build-asan/ctest.log || status=1
exit $status

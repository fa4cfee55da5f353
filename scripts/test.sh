#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: C++ by layer, samples, package, Python, a few thousand fuzz programs, a part of
# NumPy's own tests.
# Ends with one line, "N passed, N failed, N skipped", and exits with 1 when something failed.
# PLAIT_BUILD: the build folder (build-test). PLAIT_FUZZ_PROGRAMS, PLAIT_FUZZ_SECONDS: the fuzzer's budget.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
build=${PLAIT_BUILD:-$root/build-test}
reports=$build/reports

need_apt $build_packages $test_packages
need_venv
need_pip "numpy>=2.0" "pybind11>=2.13" "pytest>=8" "hypothesis>=6" cloudpickle loky scikit-learn pillow "nvidia-cuda-nvrtc>=13"
# Kernels for CUDA are compiled on machines without a GPU, too, and run there as PTX, which NVRTC makes for an architecture that it does not
# know, by the tests' double of the driver.
PLAIT_NVRTC_LIBRARY=$(find "$venv"/lib/python3*/site-packages/nvidia -name 'libnvrtc.so.1?' | head -n 1)
export PLAIT_NVRTC_LIBRARY PLAIT_FAKE_ARCHITECTURE=99

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DPLAIT_CHECKS=ON \
  -DPLAIT_PYTHON=ON -DPython_EXECUTABLE="$py" -Dpybind11_DIR="$("$py" -m pybind11 --cmakedir)"
cmake --build "$build" -- -k 0
mkdir -p "$reports"
rm -f "$reports"/*

# Failures are counted at the end, so that one does not hide the others.
ctest --test-dir "$build" -j "$(nproc)" --verbose --timeout 1200 >"$reports/ctest.log" 2>&1 || true
grep -E "Test +#[0-9]+:|^[0-9]+: .*(FAILED|compiles in)" "$reports/ctest.log" || true

# The build has put the extension beside the package's sources.
export PYTHONPATH=$root/numpy_compat${PYTHONPATH:+:$PYTHONPATH} PLAIT_CACHE_DIR=$build/cache
export PLAIT_CUDA_LIBRARY=$build/tests/libfake_driver.so PLAIT_CUBLASLT_LIBRARY=$build/tests/libfake_cublaslt.so
# Side by side: most tests run on one thread.
for suite in fuzz python; do
  "$py" -m pytest -q -p no:cacheprovider --junitxml="$reports/$suite.xml" "tests/$suite" >"$reports/$suite.log" 2>&1 &
done
wait
cat "$reports/python.log" "$reports/fuzz.log"

PLAIT_BUILD=$build bash scripts/numpy_suite.sh --part ci --report "$reports/numpy.txt" || true

"$py" scripts/count.py "$reports/ctest.log" "$reports/python.xml" "$reports/fuzz.xml" "$reports/numpy.txt"

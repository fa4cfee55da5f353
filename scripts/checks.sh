# The build that all tests use, and the tests in parts, each of which keeps one processor busy; sourced by test.sh and .ci/run.
# PLAIT_BUILD: the build folder (build-test). PLAIT_FUZZ_PROGRAMS, PLAIT_FUZZ_SEED: how many programs the fuzzer runs, and which.
build=${PLAIT_BUILD:-$root/build-test}
reports=$build/reports

build_tests() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DPLAIT_CHECKS=ON \
    -DPLAIT_PYTHON=ON -DPython_EXECUTABLE="$py" -Dpybind11_DIR="$("$py" -m pybind11 --cmakedir)" &&
    cmake --build "$build" -- -k 0 --quiet
}

# What tests need is installed; the build has put the extension beside the package's sources.
prepare_tests() {
  need_apt $build_packages $test_packages
  need_venv
  need_pip "numpy>=2.0" "pybind11>=2.13" "pytest>=8" "hypothesis>=6" scikit-learn pillow cloudpickle loky ml_dtypes ipython "nvidia-cuda-nvrtc>=13"
  mkdir -p "$reports"
  rm -f "$reports"/*
  # Kernels for CUDA are compiled on machines without a GPU, too, and run there as PTX, which NVRTC makes for an architecture that it does
  # not know, by the tests' double of the driver.
  PLAIT_NVRTC_LIBRARY=$(find "$venv"/lib/python3*/site-packages/nvidia -name 'libnvrtc.so.1?' | head -n 1)
  export PLAIT_NVRTC_LIBRARY PLAIT_FAKE_ARCHITECTURE=99
}

# PLAIT_THOROUGH: also what repeats. Without it Python's tests run PTX that is compiled quickly, which takes half of what they do on the double
# of the driver; C++ tests run what users get.
with_package() {
  local quick=()
  [ -n "${PLAIT_THOROUGH:-}" ] || [ -z "${PLAIT_NVRTC_LIBRARY:-}" ] ||
    quick=(PLAIT_NVRTC_BEHIND="$PLAIT_NVRTC_LIBRARY" PLAIT_NVRTC_LIBRARY="$build/tests/libquick_nvrtc.so")
  env PYTHONPATH="$root/numpy_compat${PYTHONPATH:+:$PYTHONPATH}" PLAIT_CACHE_DIR="$build/cache" \
    PLAIT_CUDA_LIBRARY="$build/tests/libfake_driver.so" PLAIT_CUBLASLT_LIBRARY="$build/tests/libfake_cublaslt.so" "${quick[@]}" "$@"
}

# What is labelled thorough takes minutes, and runs in thorough.sh.
cpp_tests() {
  ctest --test-dir "$build" --verbose --timeout 1200 -LE "${PLAIT_LEFT_OUT:-thorough}" >"$reports/ctest.log" 2>&1
  local result=$?
  grep -E "Test +#[0-9]+:|^[0-9]+: .*(FAILED|compiles in)" "$reports/ctest.log"
  return $result
}

pytest_in() { with_package "$py" -m pytest -q -p no:cacheprovider --durations=12 --junitxml="$reports/$1.xml" "tests/$1"; }
python_tests() { pytest_in python; }
fuzz_tests() { pytest_in fuzz; }
numpys_tests() { with_package "$py" tests/numpy_suite/run.py --part ci -j 1 --report "$reports/numpy.txt"; }

# C++ tests under AddressSanitizer and UBSan, without the JIT: LLVM's archives are not instrumented. $1: a pattern of the tests.
sanitized_tests() {
  cmake --preset asan -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DPLAIT_SAMPLES=OFF -DPLAIT_LLVM=OFF || return 1
  local tests
  mapfile -t tests < <(ctest --test-dir build-asan -N -R "$1" | sed -n 's/^ *Test *#[0-9]*: //p')
  cmake --build --preset asan --target "${tests[@]}" -- -k 0 -j 1 --quiet || return 1
  ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
    ctest --test-dir build-asan -R "$1" --verbose --timeout 1800 >build-asan/ctest.log 2>&1
  local result=$?
  grep -E "Test +#[0-9]+:|ERROR: |runtime error|SUMMARY" build-asan/ctest.log
  return $result
}

test_reports=("$reports/ctest.log" "$reports/python.xml" "$reports/fuzz.xml" "$reports/numpy.txt")

#!/usr/bin/env bash
# Checks the CUDA backend on the GPU of this machine, in about ten minutes on 16 cores: builds without LLVM and without a network, runs
# the device's C++ and Python tests, runs them under compute-sanitizer, measures beside CuPy, torch.compile and JAX, and prints a table.
#
#   bash scripts/gpu_check.sh [build] [tests] [python] [memcheck] [racecheck] [bench]      # these steps; without a name all of them
#   eval "$(bash scripts/gpu_check.sh environment)"                                        # what runs on that build, by hand
#
# No step but a build on few cores takes more than ten minutes: each may be a command of its own where commands are limited to that.
# Needs CMake, ninja, a C++20 compiler, and a Python with NumPy and pybind11 (PYTHON names it); what else is missing is counted as
# skipped. The C++ tests need Catch2 2, of which a folder will do that is copied there: PLAIT_CMAKE=-DCMAKE_PREFIX_PATH=FOLDER. PLAIT_BUILD: the build folder (build-gpu). PLAIT_CMAKE: more options for CMake. PLAIT_GPU_DOUBLE=1: on the driver's double, to
# try this script; it runs the PTX of the NVRTC that PLAIT_NVRTC_LIBRARY names, or else what NVRTC's double makes, ten times as slow.
# Ends with "N passed, N failed, N skipped". Exit status: 0; 1 when something failed; 3 without a GPU.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
build=${PLAIT_BUILD:-$root/build-gpu}
reports=$build/reports
double=${PLAIT_GPU_DOUBLE:-}
all="build tests python memcheck racecheck bench"
steps=" ${*:-$all} "
for step in $steps; do
  if [[ " $all environment " != *" $step "* ]]; then
    echo "gpu_check.sh: no step '$step'; there are $all" >&2
    exit 2
  fi
done
asked() { [[ $steps == *" $1 "* ]]; }

# note COUNT passed|failed|skipped NAME: for the sum at the end.
note() { echo "$1 $2 $3" >>"$reports/checks.txt"; }
skip() {
  echo "skipped: $1: $2"
  note 1 skipped "$1"
}

# check NAME SECONDS COMMAND...: its log goes to the reports; a Catch2 program counts with its cases, anything else as one.
check() {
  local name=$1 limit=$2 log="$reports/$1.log" start=$SECONDS status cases
  shift 2
  [ -z "$double" ] || limit=$((4 * limit))  # the doubles compile and run kernels on the host
  timeout "$limit" "$@" >"$log" 2>&1
  status=$?
  cases=$(sed -nE 's/^All tests passed \(.* in ([0-9]+) test cases?\)$/\1/p' "$log" | tail -n 1)
  if [ $status -eq 0 ]; then
    echo "$name: passed, $((SECONDS - start)) s"
    note "${cases:-1}" passed "$name"
  else
    echo "$name: FAILED with status $status after $((SECONDS - start)) s; the end of $log:"
    tail -n 25 "$log"
    note 1 failed "$name"
  fi
  return $status
}

gpu_is_there() {
  [ -n "$double" ] || "$python" - <<'PY'
import ctypes, os, sys
path = os.environ.get("PLAIT_CUDA_LIBRARY") or "libcuda.so.1"
try:
    driver = ctypes.CDLL(path)
except OSError as e:
    sys.exit(f"no GPU to check on: {e}")
count = ctypes.c_int()
if (status := driver.cuInit(0)) or (status := driver.cuDeviceGetCount(ctypes.byref(count))) or count.value == 0:
    sys.exit(f"no GPU to check on: {path} finds {count.value} devices (error {status})")
PY
}
if [ "$steps" != " build " ] && ! gpu_is_there; then
  exit 3
fi

mkdir -p "$reports"
asked environment || rm -f "$reports"/*
touch "$reports/checks.txt"

# What the C++ tests need, as the configuration found it.
programs="tests/cuda_placement tests/cuda_products tests/cuda_own_products tests/cuda_facade"
without_catch() { ! grep -q '^Catch2_DIR:PATH=/' "$build/CMakeCache.txt" 2>/dev/null; }

# What the Python module needs.
why_no_python=$("$python" - <<'PY' 2>&1
import importlib.util, os, sysconfig
missing = [m for m in ("numpy", "pybind11") if importlib.util.find_spec(m) is None]
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    missing.append("Python.h")
print(" ".join(missing), end="")
PY
)

if asked build; then
  options=(-DCMAKE_BUILD_TYPE=Release -DPLAIT_LLVM=OFF -DPLAIT_INSTALL=OFF -DPLAIT_BENCHMARKS=ON)
  targets=(fake_driver fake_nvrtc fake_cublaslt sample_kmeans_cuda device_cost)
  if [ -z "$why_no_python" ]; then
    options+=(-DPLAIT_PYTHON=ON "-DPython_EXECUTABLE=$(command -v "$python")" "-Dpybind11_DIR=$("$python" -m pybind11 --cmakedir)")
    targets+=(_plait)
  fi
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
  fi
  # The folder may have been configured for another Python before.
  # shellcheck disable=SC2086
  check configure 120 cmake --fresh -S . -B "$build" -G Ninja "${options[@]}" ${PLAIT_CMAKE:-} || exit 1
  # shellcheck disable=SC2086
  without_catch || targets+=($(basename -a $programs))
  check build 1800 cmake --build "$build" --target "${targets[@]}" -- -k 0 || exit 1
fi
without_catch && programs=
for program in $programs samples/kmeans_cuda benchmarks/device_cost; do
  if [ ! -x "$build/$program" ]; then
    echo "$build/$program is not there: the build comes first" >&2
    exit 1
  fi
done

export PLAIT_CACHE_DIR=$build/cache PYTHONPATH=$root/numpy_compat${PYTHONPATH:+:$PYTHONPATH}
if [ -n "$double" ]; then
  if [ -n "${PLAIT_NVRTC_LIBRARY:-}" ]; then
    export PLAIT_FAKE_ARCHITECTURE=99
  else
    export PLAIT_NVRTC_LIBRARY=$build/tests/libfake_nvrtc.so
    unset PLAIT_FAKE_ARCHITECTURE
  fi
  unset PLAIT_TEST_GPU
  export PLAIT_CUDA_LIBRARY=$build/tests/libfake_driver.so PLAIT_CUBLASLT_LIBRARY=$build/tests/libfake_cublaslt.so
  echo "ON THE DOUBLE of the driver, with $PLAIT_NVRTC_LIBRARY: no GPU is involved, and the times mean nothing" >&2
elif [ "$steps" != " build " ]; then
  export PLAIT_TEST_GPU=1
  command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >&2
  # Beside the toolkit, NVRTC and cuBLASLt may be wheels of this Python, for this driver or an older one.
  for library in nvrtc cublasLt; do
    variable=PLAIT_${library^^}_LIBRARY
    if [ -z "${!variable:-}" ]; then
      found=$("$python" - "$library" <<'PY'
import ctypes, glob, os, sys
version = ctypes.c_int()
ctypes.CDLL(os.environ.get("PLAIT_CUDA_LIBRARY") or "libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
names = [f"/nvidia/*/lib/lib{sys.argv[1]}.so.{major}" for major in (13, 12) if major <= version.value // 1000]
print(next((f for name in names for p in sys.path for f in glob.glob(p + name)), ""))
PY
)
      [ -z "$found" ] || export "$variable=$found"
    fi
  done
fi

if asked environment; then
  export -p | grep -E '^declare -x (PLAIT_[A-Za-z0-9_]*|PYTHONPATH)='
  exit 0
fi

if asked tests; then
  [ -n "$programs" ] || skip tests "Catch2 2 is not there"
  for program in $programs; do
    check "$(basename "$program")" 240 "$build/$program" "~[double]"
  done
  if [ -n "$double" ]; then points=500; else points=20000000; fi
  check kmeans_cuda 60 "$build/samples/kmeans_cuda" $points 4 5
fi

if asked python; then
  if [ -n "$why_no_python" ]; then
    skip python "not there: $why_no_python"
  elif ! "$python" -c 'import pytest' 2>/dev/null; then
    skip python "pytest is not there"
  else
    timeout $((double ? 1600 : 400)) "$python" -m pytest -q -rs -p no:cacheprovider --junitxml="$reports/python.xml" \
      tests/python/test_device*.py tests/python/test_default_dtype.py >"$reports/python.log" 2>&1 ||
      tail -n 60 "$reports/python.log"
    grep ^SKIPPED "$reports/python.log"
    tail -n 1 "$reports/python.log"
  fi
fi

if asked python && [ -z "$why_no_python" ]; then
  # Random programs, each computed by NumPy and on the device.
  check fuzz 150 "$python" tests/fuzz/run.py --config cuda,cuda-default --programs 2000 --seconds 60 --timeout 100
  grep -E "^[0-9]+ programs" "$reports/fuzz.log"
fi

tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
for kind in memcheck racecheck; do
  asked $kind || continue
  if [ -z "$tool" ]; then
    skip $kind "compute-sanitizer is not there"
  elif [ -z "$programs" ]; then
    skip $kind "Catch2 2 is not there"
  else
    for program in cuda_placement cuda_own_products; do
      check "$kind-$program" 270 "$tool" --tool $kind --error-exitcode 9 "$build/tests/$program" "~[double]"
    done
  fi
done

if asked bench; then
  if [ -n "$why_no_python" ]; then
    skip benchmarks "not there: $why_no_python"
  else
    options=(--device-cost "$build/benchmarks/device_cost" --out "$reports/device.json")
    [ -z "$double" ] || options+=(--scale 0.0001 --seconds 0.05)
    check benchmarks 540 "$python" benchmarks/device.py "${options[@]}"
    cat "$reports/benchmarks.log"
  fi
fi

files=("$reports/checks.txt")
if asked python && [ -z "$why_no_python" ] && "$python" -c 'import pytest' 2>/dev/null; then files+=("$reports/python.xml"); fi
"$python" scripts/count.py "${files[@]}"

#!/usr/bin/env bash
# Measures on a bare machine with a GPU, in under ten minutes on 16 cores, from nothing but the checkout: one file of figures, from which
# the table of docs/cuda.md is written.
#
#   bash scripts/gpu_measure.sh [build] [tests] [ceilings] [device] [scaling]      # these parts; without a name all of them
#   python benchmarks/device_page.py --write docs/cuda.md                          # afterwards, where the file was committed
#
# Each part has a limit of its own and writes its file as it goes, so that what ends early leaves what it measured: build, the device's
# tests, ceilings (benchmarks/ceilings.py), the device's rows beside CuPy, torch and JAX (benchmarks/device.py), and twelve rows of the
# CPU by threads beside torch (benchmarks/scaling.py). The build is without LLVM, so that the CPU's rows are left out where no wheel of
# Plait is at hand: PLAIT_WHEEL names one for this Python (bash scripts/wheels.sh makes it).
# The build puts an extension without LLVM beside the package's sources: where this is tried in a checkout that is worked in, build that again.
# PLAIT_OUT: the folder of the files (benchmarks/results); PYTHON, PLAIT_BUILD, PLAIT_CMAKE, PLAIT_GPU_DOUBLE as in gpu_check.sh.
# Exit status: 0; 1 when a part failed; 3 without a GPU.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
double=${PLAIT_GPU_DOUBLE:-}
export PLAIT_BUILD=${PLAIT_BUILD:-$root/build-gpu} PYTHON=$python
out=${PLAIT_OUT:-$([ -n "$double" ] && echo "$PLAIT_BUILD" || echo "$root/benchmarks")/results}
all="build tests ceilings device scaling"
parts=" ${*:-$all} "
for part in $parts; do
  if [[ " $all " != *" $part "* ]]; then
    echo "gpu_measure.sh: no part '$part'; there are $all" >&2
    exit 2
  fi
done
asked() { [[ $parts == *" $1 "* ]]; }
pieces=$PLAIT_BUILD/measured
mkdir -p "$out" "$pieces"
status=0

# part NAME SECONDS COMMAND...: says how long it took and how it ended.
part() {
  local name=$1 limit=$2 start=$SECONDS result
  shift 2
  echo "=== $name, at most $limit s"
  timeout --kill-after=5 "$limit" "$@"
  result=$?
  case $result in
    0) echo "=== $name: $((SECONDS - start)) s" ;;
    3) exit 3 ;;
    124 | 137) echo "=== $name: out of time after $limit s" && status=1 ;;
    *) echo "=== $name: failed with status $result" && status=1 ;;
  esac
  return $result
}

if asked build; then
  rm -f "$pieces"/*
  cores=$(nproc)
  CMAKE_BUILD_PARALLEL_LEVEL=$((cores > 2 ? cores - 2 : cores)) part build "${PLAIT_BUILD_LIMIT:-300}" bash scripts/gpu_check.sh build || exit 1
fi
if asked tests; then part tests 120 bash scripts/gpu_check.sh tests; fi
variables=$(bash scripts/gpu_check.sh environment) || exit $?
eval "$variables"

small() { [ -z "$double" ] || echo "$@"; }
# shellcheck disable=SC2046
if asked ceilings; then
  part ceilings 30 "$python" benchmarks/ceilings.py --out "$pieces/ceilings.json" $(small --scale 0.00002)
fi
# shellcheck disable=SC2046
if asked device; then
  part device 240 "$python" benchmarks/device.py --device-cost "$PLAIT_BUILD/benchmarks/device_cost" --out "$pieces/device.json" \
    --seconds 0.3 --timeout 50 $(small --scale 0.0001 --seconds 0.02 --only "chain|K.=.2|stencil")
fi
# shellcheck disable=SC2046
if asked scaling && [ -z "${PLAIT_WHEEL:-}$double" ]; then
  echo "=== scaling: left out, as PLAIT_WHEEL names no wheel with LLVM"
elif asked scaling; then
  if [ -n "${PLAIT_WHEEL:-}" ]; then
    rm -rf "$PLAIT_BUILD/wheel"
    "$python" -m pip install -q --no-index --no-deps --target "$PLAIT_BUILD/wheel" "$PLAIT_WHEEL" || exit 1
    export PYTHONPATH=$PLAIT_BUILD/wheel
  fi
  part scaling 75 "$python" benchmarks/scaling.py --seconds 60 --out "$pieces/scaling.json" $(small --only chain --impl numpy,plait --least 0.01)
fi
"$python" benchmarks/device_page.py --join "$pieces" --out "$out" || status=1
exit $status

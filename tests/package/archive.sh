#!/usr/bin/env bash
# An unpacked archive of the C++ library, used from CMake and by pkg-config: archive.sh FOLDER WORK
set -euo pipefail
prefix=$1 work=$2
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
mkdir -p "$work"

cmake -S "$consumer" -B "$work/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_PREFIX_PATH="$prefix" >"$work/log"
cmake --build "$work/cmake" -- --quiet
"$work/cmake/consumer"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
"${CXX:-c++}" -std=c++17 "$consumer/compiled.cpp" $(pkg-config --cflags --libs plait) -o "$work/program"
log=$(PLAIT_CACHE=0 PLAIT_JIT=blocking PLAIT_LOG=compile "$work/program" 2>&1 >/dev/null)
grep -q "plait.compile. [0-9.]* ms, " <<<"$log" || { echo "nothing was compiled: $log"; exit 1; }
pkg-config --exists plait_run
echo "the archive works from CMake and by pkg-config"

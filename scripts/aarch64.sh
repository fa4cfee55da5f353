#!/usr/bin/env bash
# Cross builds for Linux on aarch64 and runs the C++ tests by qemu: on Debian 12, on any processor.
#   aarch64.sh [short]
# With `short`, the tests of core, loop IR, loops, interpreter and JIT alone, and k-means by the JIT beside the interpreter. Left out
# in any case: tests of CUDA, which run what a compiler of this machine makes, and those of the installed package, which build with it.
#
# PLAIT_AARCH64_SYSROOT (build-aarch64/sysroot): where packages of arm64 are unpacked.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
short=${1:-}
if [ -n "$short" ] && [ "$short" != short ]; then
  echo "usage: aarch64.sh [short]" >&2
  exit 2
fi
build=build-aarch64
sysroot=${PLAIT_AARCH64_SYSROOT:-$root/$build/sysroot}

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Of this machine: compiler, qemu, and an llvm-config, which names the archives.
need_apt cmake ninja-build ccache catch2 llvm-19-dev g++-aarch64-linux-gnu qemu-user-static

# Of the target. They are unpacked, not installed: beside these, packages of this machine would have to go.
if [ ! -e "$sysroot/complete" ]; then
  if ! dpkg --print-foreign-architectures | grep -qx arm64 && [ "$(dpkg --print-architecture)" != arm64 ]; then
    as_root dpkg --add-architecture arm64
    as_root apt-get update -q
  fi
  mkdir -p "$sysroot/packages"
  (
    cd "$sysroot/packages"
    apt-get download -q llvm-19-dev:arm64 libzstd-dev:arm64 libzstd1:arm64 zlib1g-dev:arm64 zlib1g:arm64 \
      libgomp1:arm64 libgfortran5:arm64 libopenblas0-pthread:arm64
    for package in *.deb; do dpkg -x "$package" ..; done
  )
  rm -r "$sysroot/packages"
  touch "$sysroot/complete"
fi

cmake --preset aarch64 -DPLAIT_SYSROOT="$sysroot" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache

tests='^(unit_(core|ir|loops|interp|jit)|sample_kmeans_jit)$'
targets=(unit_core unit_ir unit_loops unit_interp unit_jit sample_kmeans)
left_out='cuda|package'
if [ "$short" != short ]; then
  tests=.
  targets=(all)
fi
cmake --build "$build" --target "${targets[@]}"
log=$build/ctest.log
status=0
ctest --test-dir "$build" -R "$tests" -E "$left_out" -j "$(nproc)" --output-on-failure | tee "$log" || status=1
passed=$(grep -cE 'Test +#.* Passed ' "$log" || true)
failed=$(grep -cE 'Test +#.*(\*\*\*(Failed|Timeout|Exception|Not Run)|Subprocess aborted)' "$log" || true)
all=$(ctest --test-dir "$build" -R "$tests" -N | sed -n 's/^Total Tests: //p')
echo "$passed passed, $failed failed, $((all - passed - failed)) skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] && exit "$status"
exit 1

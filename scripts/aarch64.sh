#!/usr/bin/env bash
# Cross builds for Linux on aarch64 and runs tests by qemu: on Debian 12, on any processor.
#   aarch64.sh          C++ tests, and the Python tests named below
#   aarch64.sh short    of C++ those of core, loop IR and JIT, none of Python's, as in CI
# Left out in any case: tests of CUDA, which run what a compiler of this machine makes, and those of the installed package, which build with
# it. Ends with "N passed, N failed, N skipped".
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
build=$root/build-aarch64
sysroot=${PLAIT_AARCH64_SYSROOT:-$build/sysroot}
left_out='cuda|package'
labels=nothing
if [ "$short" ]; then
  targets=(unit_core unit_ir unit_jit)
  cpp_tests='^unit_(core|ir|jit)$'
  python_tests=()
  labels=thorough
else
  targets=(all python_package)
  cpp_tests=.
  python_tests=(creation scalars views indexing reductions matmul sorting scans chains jit python_loops small_products)
fi

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Of this machine: compiler, qemu, and an llvm-config, which names the archives.
need_apt cmake ninja-build ccache catch2 llvm-19-dev g++-aarch64-linux-gnu qemu-user-static
need_venv
need_pip "numpy>=2.0" "pybind11>=2.13"
version=$("$py" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}")')
if [ "$version" != 3.11 ]; then
  echo "aarch64.sh: Debian 12 has packages of Python 3.11, and .venv has $version" >&2
  exit 1
fi

# Of the target. They are unpacked, not installed: beside these, packages of this machine would have to go.
if [ ! -e "$sysroot/complete" ]; then
  if ! dpkg --print-foreign-architectures | grep -qx arm64 && [ "$(dpkg --print-architecture)" != arm64 ]; then
    as_root dpkg --add-architecture arm64
    as_root apt-get update -q
  fi
  mkdir -p "$sysroot/packages"
  (
    cd "$sysroot/packages"
    apt-get download -q llvm-19-dev:arm64 zlib1g:arm64 libgomp1:arm64 libgfortran5:arm64 libopenblas0-pthread:arm64 \
      {lib,}python3.11-minimal:arm64 libpython3.11-{stdlib,dev}:arm64 libexpat1:arm64 libffi8:arm64 libssl3:arm64 libbz2-1.0:arm64 liblzma5:arm64
    for package in *.deb; do dpkg -x "$package" ..; done
  )
  rm -r "$sysroot/packages"
  "$py" -m pip install -q --target "$sysroot/site" --only-binary :all: --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux2014_aarch64 "numpy>=2.0" pytest hypothesis ml_dtypes
  touch "$sysroot/complete"
fi

# The target's Python, on a processor without SME, whose products by OpenBLAS are wrong in qemu 7.2; as a program of this machine, for tests that start it again, too.
python=$build/python
mkdir -p "$build/start"
echo "import sys; sys.executable = '$python'" >"$build/start/sitecustomize.py"
libraries=$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu:$sysroot/usr/lib/aarch64-linux-gnu/openblas-pthread
cat >"$python" <<END
#!/bin/sh
PYTHONPATH=$build/start:$build/package:$sysroot/site\${PYTHONPATH:+:\$PYTHONPATH} exec qemu-aarch64-static -cpu neoverse-n1 -L /usr/aarch64-linux-gnu \\
  -E LD_LIBRARY_PATH=$libraries $sysroot/usr/bin/python3.11 "\$@"
END
chmod +x "$python"

cmake --preset aarch64 -DPLAIT_SYSROOT="$sysroot" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DPLAIT_PYTHON=ON -DPython_EXECUTABLE="$py" \
  -Dpybind11_DIR="$("$py" -m pybind11 --cmakedir)" -DPython_INCLUDE_DIR="$sysroot/usr/include/python3.11" \
  -DPython_NumPy_INCLUDE_DIR="$sysroot/site/numpy/_core/include" -DPYTHON_MODULE_EXTENSION=.cpython-311-aarch64-linux-gnu.so
cmake --build "$build" --target "${targets[@]}" -- --quiet

status=0
ctest --test-dir "$build" -R "$cpp_tests" -E "$left_out" -LE "$labels" -j "$(nproc)" --verbose >"$build/ctest.log" 2>&1 || status=1
grep -E "Test +#[0-9]+:|^[0-9]+: .*FAILED" "$build/ctest.log"
reports=("$build/ctest.log")
if [ -z "$short" ]; then
  cmake --install "$build" --component python --prefix "$build/package" >/dev/null
  files=("${python_tests[@]/#/tests/python/test_}")
  PLAIT_CACHE_DIR=$build/cache "$python" -m pytest -q -p no:cacheprovider "${files[@]/%/.py}" --junitxml="$build/python.xml" || status=1
  reports+=("$build/python.xml")
fi
"$py" scripts/count.py "${reports[@]}" || status=1
exit $status

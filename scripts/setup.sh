# Installs what a fresh Debian 12 lacks; sourced by the other scripts. Nothing is touched that is already there.
# Gives: need_apt PACKAGE..., need_venv, need_pip REQUIREMENT..., $root (the checkout), $py (the Python of $root/.venv).
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${PLAIT_VENV:-$root/.venv}
py=$venv/bin/python

# Compilations are shared between the checkout's build folders (the tests', the wheel's, the package's) and between checkouts.
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$root

build_packages="g++ cmake ninja-build llvm-19-dev libopenblas-dev python3-dev python3-venv"
test_packages="catch2 libxtensor-dev libeigen3-dev libjemalloc2 libmimalloc2.0 pkgconf ccache clang-format-19 clang-tidy-19"

need_apt() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

need_venv() {
  [ -x "$py" ] || "${PYTHON:-python3}" -m venv "$venv"
}

# A requirement is a pip requirement; it is installed when pip does not already have it.
need_pip() {
  local missing=()
  for requirement in "$@"; do
    "$py" - "$requirement" <<'PY' || missing+=("$requirement")
import re, sys
from importlib.metadata import PackageNotFoundError, version
try:
    version(re.split(r"[<>=!\[ ]", sys.argv[1])[0])
except PackageNotFoundError:
    sys.exit(1)
PY
  done
  [ ${#missing[@]} -eq 0 ] || "$py" -m pip install -q "${missing[@]}"
}

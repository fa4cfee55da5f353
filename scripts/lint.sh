#!/usr/bin/env bash
# Checks format (clang-format), clang-tidy's short list over core, recorder, planner and facade, and the Python files.
# "lint.sh --changed" runs clang-tidy on files that differ from the main branch only.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
need_apt $build_packages clang-format-19 clang-tidy-19
need_venv
status=0

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
clang-format-19 --dry-run --Werror "${sources[@]}" || status=1

build=${PLAIT_LINT_BUILD:-$root/build-lint}
cmake -S . -B "$build" -G Ninja -DPLAIT_LLVM=OFF -DPLAIT_TESTS=OFF -DPLAIT_SAMPLES=OFF -DPLAIT_UNITY=OFF >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
rm -f "$build.log"
mapfile -t tidy < <(git ls-files 'src/core/*.cpp' 'src/ir/*.cpp' 'src/facade/*.cpp' 'tracer/*.cpp' 'fusion/*.cpp')
if [ "${1:-}" = --changed ]; then
  mapfile -t tidy < <(git diff --name-only --diff-filter=d main -- "${tidy[@]}")
fi
if [ ${#tidy[@]} -gt 0 ]; then
  printf '%s\n' "${tidy[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p "$build" --quiet 2>/dev/null || status=1
fi

git ls-files -z '*.py' | xargs -0 "$py" -m py_compile || status=1
"$py" -m pip install -q ruff 2>/dev/null || echo "ruff is not to be had: its checks are left out"
if "$py" -m ruff --version >/dev/null 2>&1; then
  git ls-files -z '*.py' | xargs -0 "$py" -m ruff check --quiet || status=1
fi
[ $status -eq 0 ] && echo "lint: clean"
exit $status

#!/usr/bin/env bash
# Checks format (clang-format), where names of systems and of instruction sets stand, clang-tidy's short list over core, recorder, planner and facade, and the Python files with their imports.
# "lint.sh --changed" runs clang-tidy on files that differ from the main branch only. PLAIT_LINT_JOBS: files at a time.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
need_apt $build_packages clang-format-19 clang-tidy-19
need_venv
status=0

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
clang-format-19 --dry-run --Werror "${sources[@]}" || status=1

# What differs between systems and between processors is in folders of theirs (docs/platforms.md).
kept_to() {
  ! git grep -nE "$2" -- src codegen fusion tracer bindings include ':!*/os/*' ':!*/processor/*' || { echo "lint: that belongs into $1/" && status=1; }
}
kept_to os '\b(dlopen|dlsym|dladdr|dl_iterate_phdr|madvise|futex|membarrier|sched_[gs]etaffinity|syscall)\b *\(|<(dlfcn|link|linux/.*|sys/syscall)\.h>|"/(proc|sys)/'
kept_to processor 'intrin\.h>|<arm_|\b_mm[0-9]*_|__(AVX|SSE|F16C|ARM|aarch64|x86_64)'

# Files are checked as the build joins them: their headers, which take most of the time, are read once for several.
build=${PLAIT_LINT_BUILD:-$root/build-lint}
cmake -S . -B "$build" -G Ninja -DPLAIT_LLVM=OFF -DPLAIT_TESTS=OFF -DPLAIT_SAMPLES=OFF >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
rm -f "$build.log"
checked='/(src/core|src/ir|include|src/facade|tracer|fusion)/'
if [ "${1:-}" = --changed ]; then
  mapfile -t tidy < <(git diff --name-only --diff-filter=d main -- '*.cpp' | grep -E "^${checked:1}" || true)
else
  mapfile -t tidy < <("$py" -c 'import json, sys; print(*(c["file"] for c in json.load(open(sys.argv[1]))), sep="\n")' "$build/compile_commands.json" |
    grep -E "$checked")
fi
if [ ${#tidy[@]} -gt 0 ]; then
  printf '%s\n' "${tidy[@]}" | xargs -P "${PLAIT_LINT_JOBS:-$(nproc)}" -n 1 clang-tidy-19 -p "$build" --quiet 2>/dev/null || status=1
fi

# One concept a file: what is longer than 500 lines is asked why. The header of functions is written by a script.
git ls-files '*.cpp' '*.hpp' '*.py' '*.cuh' | grep -vE "^(tests|benchmarks|third_party)/|^include/plait/functions\.hpp$" |
  while read -r f; do n=$(wc -l <"$f"); [ "$n" -le 500 ] || echo "lint: $f has $n lines"; done >"$build.long"
[ ! -s "$build.long" ] || { cat "$build.long"; status=1; }
rm -f "$build.long"

git ls-files -z '*.py' | xargs -0 "$py" -m py_compile || status=1
"$py" scripts/import_circles.py || status=1
"$py" -m pip install -q ruff 2>/dev/null || echo "ruff is not to be had: its checks are left out"
if "$py" -m ruff --version >/dev/null 2>&1; then
  git ls-files -z '*.py' | xargs -0 "$py" -m ruff check --quiet || status=1
fi
[ $status -eq 0 ] && echo "lint: clean"
exit $status

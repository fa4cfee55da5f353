#!/usr/bin/env bash
# Installs what is missing, builds Plait into .venv, and runs the main job: k-means on a photograph, NumPy and Plait side by side.
# Arguments go to samples/kmeans_photo.py.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"

need_apt $build_packages
need_venv
need_pip "numpy>=2.0" "scikit-build-core>=0.10" "pybind11>=2.13" scikit-learn pillow
echo "building Plait (a few minutes the first time)"
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
"$py" -m pip install -q --no-build-isolation .  # what it builds with is there: no second NumPy is downloaded

mkdir -p samples/out
"$py" samples/kmeans_photo.py --out samples/out/kmeans_photo.png "$@"

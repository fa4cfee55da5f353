#!/usr/bin/env bash
# Installs what is missing, builds Plait into .venv, and runs the main job: k-means on a photograph, NumPy and Plait side by side.
# Arguments go to samples/kmeans_photo.py.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"

need_apt $build_packages
need_venv
need_pip "numpy>=2.0" scikit-learn pillow
echo "building Plait (a few minutes the first time)"
"$py" -m pip install -q .

mkdir -p samples/out
"$py" samples/kmeans_photo.py --out samples/out/kmeans_photo.png "$@"

#!/usr/bin/env bash
# Builds the documentation into build-docs/: open build-docs/index.html. A link that leads nowhere is an error.
# MkDocs is installed into a virtual environment of its own, .venv-docs; after that no network is needed.
set -euo pipefail
. "$(dirname "$0")/setup.sh"
cd "$root"
tools=$root/.venv-docs
[ -x "$tools/bin/mkdocs" ] || { "${PYTHON:-python3}" -m venv "$tools" && "$tools/bin/pip" install -q "mkdocs>=1.6" mkdocs-material; }
NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --quiet --strict --clean -f scripts/docs.yml
if fetched=$(grep -rlE '<(script|img|iframe)[^>]* src="?https?:|<link[^>]*stylesheet[^>]*https?:' build-docs --include='*.html'); then
  echo "pages that fetch something when they are read: $fetched"
  exit 1
fi
echo "docs: build-docs/index.html, $(find build-docs -name '*.html' | wc -l) pages"

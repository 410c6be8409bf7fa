#!/usr/bin/env bash
# Gives .venv what the tests need: the package with its test extras. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
if ! .venv/bin/python -c 'import chromadb, faiss, fumikura, mypy, pytest_cov' 2>/dev/null; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,chroma,faiss]'
fi

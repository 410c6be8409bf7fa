#!/usr/bin/env bash
# Gives .venv what the tests need: the package with its test extras, and a Chromium. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
if ! .venv/bin/python -c 'import chromadb, faiss, fastapi, fumikura, mypy, playwright, pytest_cov, pytest_rerunfailures' 2>/dev/null; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,chroma,faiss]'
fi
if ! .venv/bin/python scripts/find_chromium.py >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null
  fi
  .venv/bin/python scripts/find_chromium.py >/dev/null || {
    echo "ブラウザーのテストには Chromium が必要です（Debian/Ubuntu: apt-get install chromium、または FUMIKURA_TEST_CHROMIUM=パス）/ the browser tests need Chromium." >&2
    exit 1
  }
fi

#!/usr/bin/env bash
# Sets Fumikura up on a fresh machine in five stages; safe to run again. Logs to the terminal and logs/setup.log.
set -Eeuo pipefail
cd "$(dirname "$0")"
mkdir -p logs
exec > >(tee -a logs/setup.log) 2>&1

STAGE=0
REMEDY=""
stage() { # stage NUMBER TITLE REMEDY
  STAGE="$1"; REMEDY="$3"
  printf '[%s/5] %s %s\n' "$1" "$(date +%H:%M:%S)" "$2"
}
stopped() {
  printf '\n[%s/5] で止まりました / stopped in stage %s. %s\n' "$STAGE" "$STAGE" "$REMEDY"
  printf 'logs/setup.log に記録があります。直したら bash setup.sh をもう一度どうぞ / fix it and run bash setup.sh again.\n'
}
trap stopped ERR

stage 1 "道具と Python 環境 / tools and Python environment" \
  "Python 3.11 以上と venv が必要です（Debian/Ubuntu: apt-get install python3 python3-venv）/ Python 3.11+ with venv is needed."
PYTHON=""
for candidate in "${FUMIKURA_PYTHON:-}" python3.14 python3.13 python3.12 python3.11 python3; do
  if [ -n "$candidate" ] && command -v "$candidate" >/dev/null &&
    "$candidate" -c 'import sys, venv, ensurepip, sqlite3; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    PYTHON="$candidate"; break
  fi
done
[ -n "$PYTHON" ]
[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e .
.venv/bin/python --version
FUMIKURA=".venv/bin/fumikura"

stage 2 "機械 / hardware" "メモリ 4 GB と空き 4 GB が目安です / 4 GB of memory and 4 GB of disk are wanted."
.venv/bin/python scripts/hardware.py

stage 3 "モデル（無ければ取得）/ models, fetched if missing" \
  "ネットワークと空き容量を確かめてください。途中までの分は残り、続きから取得します / check the network and the free disk; what arrived is kept and resumed."
"$FUMIKURA" models fetch

stage 4 "データフォルダとデータベース / data folder and store" \
  "上の指摘に従ってください / follow the remedies shown above."
"$FUMIKURA" doctor --quick

stage 5 "起動と見本の質問 / start, and a question to the sample notes" \
  "logs/server.log を見るか、fumikura doctor で原因を調べてください / see logs/server.log, or run fumikura doctor."
ADDRESS="$(.venv/bin/python scripts/start_server.py)"
# The sample notebook is made once: who deletes its notes does not want them back with the next set-up.
if [ ! -e logs/sample.added ]; then
  "$FUMIKURA" demo
  touch logs/sample.added
fi
printf '\n準備ができました。ブラウザで開いてください / ready, open in a browser:  %s\n' "$ADDRESS"
printf '止めるには / to stop:  kill $(cat logs/server.pid)   端末から / in a terminal:  %s ask "質問"\n' "$FUMIKURA"

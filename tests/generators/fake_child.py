"""Stands in for the child process that holds a model: same report, same protocol, no model.

Run by tests as `python fake_child.py MODE`; MODE is serve, slow, think, chatty, refuse, die or hang.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stub_llm import StubOptions, StubServer, StubState  # noqa: E402

COUNTING = {"contains": "数えて", "pieces": ["一、", "二、"] + ["三、"] * 400, "piece_delay": 0.05}


def end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main(mode: str) -> None:
    given = json.loads(sys.stdin.buffer.readline())
    sys.stderr.write(f"loading {given['model_path']}\n" * (40_000 if mode == "chatty" else 1))
    sys.stderr.flush()
    threading.Thread(target=end_with_parent, daemon=True).start()
    if mode == "hang":
        time.sleep(60)
    if mode == "slow":
        time.sleep(0.7)
    if mode == "die":
        os._exit(7)
    if mode == "refuse":
        sys.stdout.write('{"error": "not a model"}\n')
        sys.stdout.flush()
        os._exit(1)
    options = StubOptions(ctx=given["context_tokens"], tokenizer="llamacpp", opens_thinking=mode == "think")
    script = {"pieces": ["開館は", "九時です。[1]"], "by_prompt": [COUNTING]}
    server = StubServer(StubState(options=options, script=script))
    sys.stdout.write(json.dumps({"address": server.url}) + "\n")
    sys.stdout.flush()
    server.http.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main(sys.argv[1])

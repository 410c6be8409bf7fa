"""Stands in for the child process that holds a model: same report, same protocol, no model.

Run by tests as `python fake_child.py MODE`; MODE is serve, slow, think, chatty, refuse, die or hang; full: no state can
be written; abort: it dies when it reads a state, as llama.cpp does when the file is cut.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stub_llm import StubHandler, StubOptions, StubServer, StubState  # noqa: E402

COUNTING = {"contains": "数えて", "pieces": ["一、", "二、"] + ["三、"] * 400, "piece_delay": 0.05}


class SlotHandler(StubHandler):
    """Adds the slot: a state is its prompt; a batch is eight characters and takes 20 ms."""

    slot = ""
    folder = ""
    mode = ""

    def do_POST(self) -> None:
        if self.path == "/completion":
            self.compute(self.read_body()["prompt"])
        elif self.path.startswith("/slots/0"):
            self.act(self.path.partition("action=")[2], Path(SlotHandler.folder, self.read_body()["filename"]))
        else:
            super().do_POST()

    def read_body(self) -> dict[str, str]:
        body: dict[str, str] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def compute(self, prompt: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        cached = len(os.path.commonprefix([SlotHandler.slot, prompt]))
        self.close_connection = True
        for done in range(cached, len(prompt), 8):
            SlotHandler.slot = prompt[:done]
            self.event({"stop": False, "prompt_progress": {"processed": done, "total": len(prompt)}})
            time.sleep(0.02)
        SlotHandler.slot = prompt
        counts = {"tokens_evaluated": len(prompt), "tokens_predicted": 1, "timings": {"cache_n": cached}}
        self.event({"stop": True, **counts})

    def event(self, content: dict[str, object]) -> None:
        self.wfile.write(b"data: " + json.dumps(content).encode() + b"\n\n")

    def act(self, action: str, path: Path) -> None:
        if action == "save" and SlotHandler.mode == "full":
            path.write_bytes(b"half")
            self.send_json({"error": {"code": 500, "message": "Unable to save slot"}}, 500)
        elif action == "save":
            path.write_text(SlotHandler.slot, encoding="utf-8")
            self.send_json({"n_saved": len(SlotHandler.slot), "n_written": path.stat().st_size})
        elif SlotHandler.mode == "abort":
            os.abort()
        else:
            SlotHandler.slot = path.read_text(encoding="utf-8")
            self.send_json({"n_restored": len(SlotHandler.slot)})


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
    server.http.RequestHandlerClass = SlotHandler
    SlotHandler.folder, SlotHandler.mode = given.get("prefix_folder") or "", mode
    sys.stdout.write(json.dumps({"address": server.url}) + "\n")
    sys.stdout.flush()
    server.http.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main(sys.argv[1])

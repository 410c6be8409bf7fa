"""The whole flow with the real model: an answer from the sample notes, a refusal, and all of it without a network."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fumikura.models import ModelStore

pytestmark = pytest.mark.live

REPOSITORY = Path(__file__).parents[2]
# A network namespace of its own, in which only the loopback interface is brought up (SIOCSIFFLAGS).
LOOPBACK_UP = """import fcntl, os, socket, struct, sys
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 0x41))
os.execvp(sys.argv[1], sys.argv[1:])"""
NO_NETWORK = ["unshare", "--net", sys.executable, "-c", LOOPBACK_UP]
Run = Callable[..., dict[str, object]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `fumikura … --json` over one data folder; `before` goes in front of the command."""
    folder = os.environ.get("FUMIKURA_TEST_MODELS") or str(Path.home() / ".cache" / "fumikura" / "models")
    store = ModelStore(Path(folder))
    store.fetch(store.default_name)
    data = tmp_path_factory.mktemp("live")

    def fumikura(*arguments: str, before: list[str] | None = None) -> dict[str, object]:
        command = [*(before or []), sys.executable, "-m", "fumikura", "--data", str(data), *arguments, "--json"]
        environment = {**os.environ, "FUMIKURA__PATHS__MODELS": folder}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    return fumikura


def test_demo_answers_from_the_sample_notes_and_refuses_the_mountain(run: Run) -> None:
    taro, fee, mountain = (entry["answer"] for entry in run("demo")["answers"])
    assert taro["status"] == "answered"
    assert "600" in taro["text"]
    assert any("里芋　600g" in citation["quote"] for citation in taro["citations"])
    assert fee["status"] == "answered"
    assert "1,500円" in fee["text"]
    assert (mountain["status"], mountain["citations"]) == ("not_in_sources", [])
    assert mountain["text"].startswith("資料にありません。")


@pytest.mark.skipif(not shutil.which("unshare") or os.geteuid() != 0, reason="a network namespace needs root")
def test_everything_works_with_the_network_off(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "図書室.md"
    path.write_text("# 図書室\n\n開館は九時、閉館は十七時です。\n", encoding="utf-8")
    run("add", str(path), "--notebook", "off", before=NO_NETWORK)
    found = run("search", "開館は何時？", "--notebook", "off", before=NO_NETWORK)
    assert found["hits"][0]["text"] == "開館は九時、閉館は十七時です。"
    answer = run("ask", "開館は何時ですか？", "--notebook", "off", before=NO_NETWORK)
    assert answer["status"] == "answered"
    assert "九時" in answer["text"]

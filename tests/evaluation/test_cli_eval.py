"""`fumikura eval` as a person or a script uses it: its own process, the real parts, the stand-in for the model."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub_llm import StubServer

Start = Callable[..., "subprocess.Popen[bytes]"]
SCRIPT = {
    "by_prompt": [
        {"contains": "開館は何時", "pieces": ["開館は九時です。[1]", "[2]"]},
        {"contains": "何階", "pieces": ["会議室は三階です。[1]", "[2]"]},
        {"contains": "電話番号", "pieces": ["資料にありません。"]},
    ]
}


@pytest.fixture
def start(tmp_path: Path, stub: StubServer) -> Start:
    """Start `fumikura eval …` with the stand-in as its model."""
    stub.play(SCRIPT)

    def fumikura(*arguments: object, **environment: str) -> "subprocess.Popen[bytes]":
        settings = {
            "FUMIKURA__LLM__BACKEND": "ollama",
            "FUMIKURA__LLM__MODEL": "stub",
            "FUMIKURA__OLLAMA__URL": stub.url,
            "FUMIKURA_LANG": "en",
        }
        command = [sys.executable, "-m", "fumikura", "--data", str(tmp_path / "data"), "eval", *map(str, arguments)]
        whole = {**os.environ, **settings, **environment}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=whole, cwd=tmp_path)

    return fumikura


@pytest.fixture
def command(start: Start) -> Callable[..., tuple[int, str, str]]:
    """Run it to its end: exit code, standard output, standard error."""

    def fumikura(*arguments: object, **environment: str) -> tuple[int, str, str]:
        with start(*arguments, **environment) as process:
            out, err = process.communicate(timeout=120)
        return process.returncode, out.decode(), err.decode()

    return fumikura


def asked_of(stub: StubServer, word: str) -> int:
    chats = [one["body"] for one in stub.requests if one["path"] == "/api/chat"]
    return sum(word in json.dumps(body, ensure_ascii=False) for body in chats)


def wait_for(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_run_compare_report(command, library_set: Path, tmp_path: Path) -> None:
    code, out, err = command("run", library_set, "--json", "--out", "a.jsonl")
    assert code == 0, err
    assert json.loads(out)["summary"]["points"]["mean"] == 2
    assert "questions: 3/3" in err
    code, out, err = command("run", library_set, "--out", "b.jsonl", "--settings", "search.top_k=1", "chunk.size=200")
    assert code == 0, err
    assert "| all | 3 | 2.00 [2.00, 2.00] |" in out

    code, out, _ = command("compare", "a.jsonl", "b.jsonl", "--json")
    compared = json.loads(out)
    assert (code, compared["winner"]) == (0, None)
    assert compared["settings"] == {"chunk.size": [256, 200], "search.top_k": [5, 1]}
    assert "no winner: 2 settings differ" in command("compare", "a.jsonl", "b.jsonl")[1]
    assert "within noise" in command("compare", "a.jsonl", "b.jsonl", "--anyway")[1]

    assert command("report", "a.jsonl", "b.jsonl", "--out", "page.html")[0] == 0
    assert "開館は九時です" in (tmp_path / "page.html").read_text(encoding="utf-8")
    code, out, _ = command("report", "a.jsonl", "--markdown")
    assert (code, out.splitlines()[0]) == (0, "# Evaluation report")


def test_a_killed_run_goes_on_by_the_same_command(start, command, library_set: Path, stub: StubServer) -> None:
    by_prompt = [dict(one) for one in SCRIPT["by_prompt"]]
    by_prompt[1]["first_byte_delay"] = 60  # the second question hangs
    stub.play({"by_prompt": by_prompt})
    with start("run", library_set, "--trials", "2") as process:
        wait_for(lambda: asked_of(stub, "何階"))
        process.kill()
    stub.play(SCRIPT)
    code, out, err = command("run", library_set, "--trials", "2", "--json")
    assert code == 0, err
    assert json.loads(out)["summary"]["answer_count"] == 6
    assert [asked_of(stub, word) for word in ("開館は何時", "何階", "電話番号")] == [2, 3, 2]
    folder = Path(json.loads(out)["run"]).parent
    assert [path.suffix for path in folder.iterdir()] == [".jsonl"]  # the killed run's library is gone


def test_sweep_servers_and_judge(command, library_set: Path, stub: StubServer, tmp_path: Path) -> None:
    code, out, err = command("sweep", library_set, "search.top_k", "1", "2", "--out", "sweep")
    assert code == 0, err
    assert [line.split(" | ")[0] for line in out.splitlines()[2:]] == ["| search.top_k=1", "| search.top_k=2"]
    assert (tmp_path / "sweep" / "plot.svg").read_text(encoding="utf-8").startswith("<svg")

    served = f"{stub.url}/v1"
    code, out, err = command("servers", library_set, served, "http://127.0.0.1:9/v1#gone", "--out", "served", "--json")
    assert code == 1
    assert "http://127.0.0.1:9/v1#gone" in err
    assert [(name, run["summary"]["points"]["mean"]) for name, run in json.loads(out)["runs"].items()] == [(served, 2)]

    stub.play({"pieces": ['{"points": 2}']})
    run = tmp_path / "sweep" / "search.top_k=1.jsonl"
    code, out, err = command("judge", run, "--judge", "own", "--judge", f"{served}#second", "--json")
    assert code == 0, err
    judges = json.loads(out)["judges"]
    assert [one["answer_count"] for one in judges.values()] == [3, 3]
    assert list(judges) == ["stub", f"second @ {stub.url.removeprefix('http://')}"]
    stub.play({"pieces": ["良い答えです。"]})
    code, _, err = command("judge", run, "--judge", f"{served}#third")
    assert code == 1
    assert "question q1 (trial 1)" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("run", "nowhere"), 1, "no such file"),
        (("run", "SET", "--settings", "search.topk=3"), 2, "top_k"),
        (("run", "SET", "--settings", "search=3"), 2, "section.key=value"),
        (("run", "SET", "--only", "train"), 2, "held-out or tune"),
        (("run", "SET", "--baseline", "seed9"), 2, "seed1, seed2, whole"),
        (("sweep", "SET", "chunk", "1"), 2, "section.key"),
        (("sweep", "SET", "chunk.size", "1"), 2, "--settings chunk.size"),
        (("servers", "SET", "localhost"), 2, "http://HOST:PORT/v1#model"),
        (("compare", "nowhere.jsonl", "nowhere.jsonl"), 1, "nowhere.jsonl"),
        (("report", "SET/questions.jsonl"), 1, "line 1"),
        (("run",), 2, ""),
    ],
)
def test_wrong_use_is_one_line_and_a_code(command, library_set: Path, arguments, code: int, said: str) -> None:
    done = command(*(text.replace("SET", str(library_set)) for text in arguments))
    assert done[0] == code, done[2]
    assert said in done[2]
    assert "Traceback" not in done[2]

"""The command line as a contract: JSON shapes, exit codes, one line for each error."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stub_llm import StubServer

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, stub: StubServer) -> Run:
    """Run `fumikura` as its own process; the model is the stand-in, everything else is real."""

    def fumikura(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "FUMIKURA__LLM__BACKEND": "ollama",
            "FUMIKURA__LLM__MODEL": "stub",
            "FUMIKURA__OLLAMA__URL": stub.url,
            "FUMIKURA_LANG": "ja",
        }
        command = [sys.executable, "-m", "fumikura", "--data", str(tmp_path / "data"), *arguments]
        whole = {**os.environ, **settings, **environment}
        return subprocess.run(command, capture_output=True, text=True, env=whole, timeout=120, check=False)

    return fumikura


def note(tmp_path: Path) -> Path:
    path = tmp_path / "図書室.md"
    path.write_text("# 図書室\n\n開館は九時、閉館は十七時です。\n", encoding="utf-8")
    return path


def test_add_sources_search_ask_remove_speak_json(run: Run, stub: StubServer, tmp_path: Path) -> None:
    path = note(tmp_path)
    (added,) = json.loads(run("add", str(path), "--json").stdout)
    assert added.keys() == {"source_id", "source", "status", "chunk_count", "seconds", "error"}
    assert (added["source"], added["status"], added["chunk_count"], added["error"]) == ("図書室.md", "added", 1, "")

    (source,) = json.loads(run("sources", "--json").stdout)["sources"]
    assert (source["source_id"], source["status"]) == (added["source_id"], "ready")

    found = json.loads(run("search", "開館は何時？", "--json", "--top-k", "3").stdout)
    assert found.keys() == {"hits", "embed_s", "search_s"}
    assert found["hits"][0].keys() == {"rank", "score", "source", "heading", "page", "start", "end", "text"}
    assert found["hits"][0]["text"] == "開館は九時、閉館は十七時です。"

    stub.play({"pieces": ["開館は", "九時です。[1]"]})
    answer = json.loads(run("ask", "開館は何時？", "--json").stdout)
    assert (answer["status"], answer["coverage"], answer["text"]) == ("answered", "searched", "開館は九時です。[1]")
    (citation,) = answer["citations"]
    text = path.read_text(encoding="utf-8")
    assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert citation.keys() == {"n", "source_id", "source", "heading", "page", "start", "end", "quote", "via"}
    wanted = "model prompt_tokens cached_tokens answer_tokens prompt_sha256 settings_sha256 embed_s search_s ttft_s"
    assert answer["receipt"].keys() >= {*wanted.split(), "decode_s", "total_s", "hits"}
    assert answer["receipt"]["hits"][0].keys() == {"rank", "score", "source", "chunk_id", "used"}

    removed = json.loads(run("remove", "図書室.md", "--json").stdout)["removed"]
    assert [one["source_id"] for one in removed] == [added["source_id"]]
    assert json.loads(run("sources", "--json").stdout)["sources"] == []


def test_what_is_not_there_is_refused_without_citations(run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    done = run("ask", "富士山の標高は何メートル？", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert (answer["status"], answer["citations"]) == ("not_in_sources", [])
    assert answer["text"].startswith("資料にありません。")


def test_plain_output_names_the_passage_and_streams(run: Run, stub: StubServer, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["開館は", "九時です。[1]"]})
    for arguments in (["ask", "開館は何時？"], ["ask", "開館は何時？", "--stream"]):
        shown = run(*arguments).stdout
        assert shown.count("開館は九時です。[1]") == 1
        assert "[1] 図書室.md / 図書室" in shown


def test_notebooks_are_apart(run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)), "--notebook", "仕事")
    assert json.loads(run("sources", "--json").stdout)["sources"] == []
    assert len(json.loads(run("sources", "--notebook", "仕事", "--json").stdout)["sources"]) == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "said"),
    [
        (["ask", ""], {}, 1, "質問が空"),
        (["add", "nowhere.md"], {}, 1, "nowhere.md"),
        (["remove", "無い資料"], {}, 1, "default"),
        (["ask", "鍵は？", "--as-of", "昨日"], {}, 2, "昨日"),
        (["ask", "鍵は？", "--mode", "resident"], {}, 2, "resident"),
        (["--preset", "cloud", "sources"], {}, 2, "cloud"),
        (["--settings", "nowhere.json", "sources"], {}, 2, "nowhere.json"),
        (["sources"], {"FUMIKURA__CHUNK__SIEZ": "3"}, 2, "size"),
        (["sources"], {"FUMIKURA__LLM__BACKEND": "embedded", "FUMIKURA__LLM__MODEL": "qwen3:8b"}, 2, "qwen3:8b"),
        (["sources"], {"FUMIKURA_LANG": "en", "FUMIKURA__SEARCH__TOP_K": "0"}, 2, "search.top_k"),
        (["nonsense"], {}, 2, "nonsense"),
        (["search"], {}, 2, ""),
    ],
)
def test_wrong_use_is_one_line_and_a_code(
    run: Run, arguments: list[str], environment: dict[str, str], code: int, said: str
) -> None:
    done = run(*arguments, **environment)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_folder_without_files_and_a_binary_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty = run("add", str(tmp_path / "empty"))
    assert (empty.returncode, "empty" in empty.stderr) == (1, True)
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00" + bytes(range(256)))
    done = run("add", str(tmp_path / "photo.png"), "--json")
    assert done.returncode == 1
    (report,) = json.loads(done.stdout)
    assert report["status"] == "failed"
    assert "photo.png" in report["error"]


def test_a_backend_that_is_down_says_what_to_start(run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    done = run("ask", "開館は何時？", FUMIKURA__OLLAMA__URL="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "ollama serve" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_model_file_names_the_command(run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    done = run("ask", "開館は何時？", FUMIKURA__LLM__BACKEND="embedded", FUMIKURA__LLM__MODEL="")
    assert done.returncode == 2
    done = run(
        "ask",
        "開館は何時？",
        FUMIKURA__LLM__BACKEND="embedded",
        FUMIKURA__LLM__MODEL="qwen2.5-coder-1.5b-instruct-q4_k_m",
    )
    assert done.returncode == 1
    assert "fumikura models fetch" in done.stderr


def test_models_list_and_doctor_speak_json(run: Run) -> None:
    (model,) = json.loads(run("models", "list", "--json").stdout)["models"]
    assert (model["state"], model["model"]["size_bytes"]) == ("missing", 1_117_320_768)
    done = run("doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == 0
    assert {finding["check"] for finding in findings} >= {"settings", "disk", "store", "embedder", "generator"}
    assert {finding["severity"] for finding in findings} == {"ok"}


def test_doctor_fails_loudly_on_a_wrong_prefix_and_names_the_remedy(run: Run, stub: StubServer) -> None:
    done = run(
        "doctor",
        "--quick",
        FUMIKURA__EMBEDDING__BACKEND="ollama",
        FUMIKURA__EMBEDDING__MODEL="ruri-v3",
        FUMIKURA__EMBEDDING__QUERY_PREFIX="query: ",
    )
    assert done.returncode == 1
    assert "検索クエリ" in done.stdout
    assert "query_prefix" in done.stdout


def test_fumikura_home_holds_settings_and_data(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.json").write_text('{"server": {"port": 8123}}', encoding="utf-8")
    environment = {**os.environ, "FUMIKURA_HOME": str(home)}
    command = [sys.executable, "-m", "fumikura", "sources", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    assert json.loads(done.stdout) == {"sources": []}
    assert (home / "data" / "fumikura.sqlite3").is_file()

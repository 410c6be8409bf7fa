"""The command line as a contract: JSON shapes, exit codes, one line for each error."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from stub_llm import StubServer
from typer.testing import CliRunner

from fumikura import __version__
from fumikura.cli import app
from fumikura.errors import SettingsError

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path, stub: StubServer) -> Start:
    """Start `fumikura` as its own process; the model is the stand-in, everything else is real."""

    def fumikura(*arguments: str, stdout: int | IO[bytes] = subprocess.PIPE, **environment: str):
        settings = {
            "FUMIKURA__LLM__BACKEND": "ollama",
            "FUMIKURA__LLM__MODEL": "stub",
            "FUMIKURA__OLLAMA__URL": stub.url,
            "FUMIKURA_LANG": "ja",
            "PYTHONIOENCODING": "utf-8",
        }
        command = [sys.executable, "-m", "fumikura", "--data", str(tmp_path / "data"), *arguments]
        whole = {**os.environ, **settings, **environment}
        return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env=whole)

    return fumikura


@pytest.fixture
def run(start: Start) -> Run:
    """Run `fumikura` to its end and read what it wrote."""

    def fumikura(*arguments: str, encoding: str = "utf-8", **environment: str) -> subprocess.CompletedProcess[str]:
        with start(*arguments, **environment) as process:
            written = process.communicate(timeout=120)
        stdout, stderr = (stream.decode(encoding) for stream in written)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    return fumikura


def note(tmp_path: Path, text: str = "開館は九時、閉館は十七時です。", name: str = "図書室.md") -> Path:
    path = tmp_path / name
    path.write_text(f"# 図書室\n\n{text}\n", encoding="utf-8")
    return path


def test_add_sources_search_ask_remove_speak_json(run: Run, stub: StubServer, tmp_path: Path) -> None:
    path = note(tmp_path)
    (added,) = json.loads(run("add", str(path), "--json").stdout)
    assert added.keys() == {"source_id", "source", "status", "chunk_count", "seconds", "error"}
    assert (added["source"], added["status"], added["chunk_count"], added["error"]) == ("図書室.md", "added", 1, "")

    (source,) = json.loads(run("sources", "--json").stdout)["sources"]
    wanted = "source_id source title kind date status chunk_count vector_count size_bytes encoding encoding_certain"
    assert source.keys() == {*wanted.split(), "added_at", "pinned", "notices"}
    assert (source["source_id"], source["source"], source["status"]) == (added["source_id"], "図書室.md", "ready")

    found = json.loads(run("search", "開館は何時？", "--json", "--top-k", "3").stdout)
    assert found.keys() == {"hits", "embed_s", "search_s"}
    assert found["hits"][0].keys() == {"rank", "score", "source", "heading", "page", "start", "end", "text"}
    assert found["hits"][0]["text"] == "開館は九時、閉館は十七時です。"

    stub.play({"pieces": ["開館は", "九時です。[1]"]})
    answer = json.loads(run("ask", "開館は何時？", "--json").stdout)
    assert (answer["status"], answer["coverage"], answer["text"]) == ("answered", "read_in_full", "開館は九時です。[1]")
    (citation,) = answer["citations"]
    text = path.read_text(encoding="utf-8")
    assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert citation.keys() == {"n", "source_id", "source", "heading", "page", "start", "end", "quote", "via"}
    wanted = "model prompt_tokens cached_tokens answer_tokens prompt_sha256 settings_sha256 embed_s search_s ttft_s"
    assert answer["receipt"].keys() >= {*wanted.split(), "decode_s", "total_s", "hits"}
    assert answer["receipt"]["hits"][0].keys() == {"rank", "score", "source", "chunk_id", "used"}

    removed = json.loads(run("remove", "図書室.md", "--json").stdout)["removed"]
    assert removed == [source]
    assert json.loads(run("sources", "--json").stdout)["sources"] == []


@pytest.mark.parametrize("mode", ["auto", "rag"])
def test_what_is_not_there_is_refused_without_citations(run: Run, stub: StubServer, tmp_path: Path, mode: str) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["資料にありません。"]})
    done = run("ask", "富士山の標高は何メートル？", "--json", "--mode", mode)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert (answer["status"], answer["citations"]) == ("not_in_sources", [])
    assert answer["text"].startswith("資料にありません。")
    assert answer["coverage"] == ("read_in_full" if mode == "auto" else "searched")


def test_plain_output_names_the_passage_and_streams(run: Run, stub: StubServer, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["開館は", "九時です。[1]"]})
    for arguments in (["ask", "開館は何時？"], ["ask", "開館は何時？", "--stream"]):
        shown = run(*arguments).stdout
        assert shown.count("開館は九時です。[1]") == 1
        assert "[1] 図書室.md / 図書室" in shown
        assert "下書き" not in shown


def test_a_draft_that_is_corrected_is_called_unchecked(run: Run, stub: StubServer, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["開館は九時です。[1]", "館長は山田太郎です。[1]"]})
    shown = run("ask", "開館は何時？", "--stream").stdout
    draft, checked = shown.split("（上は確かめる前の下書きです。")
    assert "山田" in draft
    assert "開館は九時です。[1]" in checked
    assert "山田" not in checked


def test_a_draft_without_an_answer_is_called_unchecked(run: Run, stub: StubServer, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["開館は十時です。"], "prompt_eval_count": 3})  # far fewer tokens than were sent
    done = run("ask", "開館は何時？", "--stream")
    assert done.returncode == 1
    assert done.stdout.endswith("（上は確かめていない下書きです。）\n")
    assert "切り捨て" in done.stderr


def test_a_source_cannot_command_the_terminal(run: Run, stub: StubServer, tmp_path: Path) -> None:
    text = "開館は九時です。\x1b]0;題\x07 \x9b2J :memo: [bold]太字[/bold]"
    run("add", str(note(tmp_path, text, name="図書\x1b[31m室.md")))
    stub.play({"pieces": ["開館は九時です。\x1b[2J[1]"]})
    outputs = [run("sources"), run("search", "開館は何時？"), run("ask", "開館は何時？", "--stream")]
    outputs += [run("remove", "図書\x1b[31m室.md")]
    for done in outputs:
        assert done.returncode == 0
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)
        assert "図書\ufffd[31m室.md" in done.stdout + done.stderr
    assert ":memo: [bold]太字[/bold]" in outputs[1].stdout  # as written


@pytest.mark.parametrize("encoding", ["cp932", "ascii"])
def test_any_output_encoding_will_do(run: Run, tmp_path: Path, encoding: str) -> None:
    text = "開館は九時です 😀 ①②"
    run("add", str(note(tmp_path, text)))
    plain = run("search", "開館は何時？", encoding=encoding, PYTHONIOENCODING=encoding)
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "\\U0001f600" in plain.stdout
    found = json.loads(run("search", "開館は何時？", "--json", PYTHONIOENCODING=encoding).stdout)
    assert found["hits"][0]["text"] == text


def test_lists_for_scripts_are_whole_lines_whose_ids_can_be_used(run: Run, tmp_path: Path) -> None:
    long = "とても長い名前の" * 9 + ".md"
    path = note(tmp_path, name=long)
    path.write_bytes("# 図書室\n\nカフェは①階です。\n".encode("cp932"))
    added = run("add", str(path)).stdout.splitlines()
    assert [line.split("\t")[:3] for line in added] == [[long, "added", "1"]]
    (line,) = run("sources", COLUMNS="40").stdout.splitlines()
    source_id, name, status, *_ = line.split("\t")
    assert (name, status) == (long, "ready")
    assert run("remove", source_id).returncode == 0
    assert run("sources").stdout == ""


def test_the_error_of_a_file_is_shown_whole(run: Run, tmp_path: Path) -> None:
    path = tmp_path / ("とても長い名前の" * 9 + ".png")
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00" + bytes(range(256)))
    (report,) = json.loads(run("add", str(path), "--json").stdout)
    assert f"{path.name}: {report['error'].split(' / ')[0]}" in run("add", str(path), COLUMNS="40").stderr.splitlines()


def test_what_cannot_be_written_ends_quietly(start: Start, run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    for arguments in (["sources"], ["sources", "--json"], ["search", "開館は何時？"], ["--version"], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed, start(*arguments, stdout=closed) as process:
            _, stderr = process.communicate(timeout=60)
        assert (process.returncode, stderr) == (1, b""), arguments


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_one_line(start: Start) -> None:
    with Path("/dev/full").open("wb") as full, start("sources", "--json", stdout=full) as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.decode() == "エラー: No space left on device\n"


def test_an_interrupt_ends_without_a_traceback(start: Start, run: Run, stub: StubServer, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)))
    stub.play({"pieces": ["開館は九時です。[1]"], "first_byte_delay": 30})
    # A shell starts what runs in its background, these tests too, with the signal ignored: that is inherited.
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start("ask", "開館は何時？")
    signal.signal(signal.SIGINT, kept)
    with process:
        wait_until(lambda: any("開館" in str(request) for request in stub.requests))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_version_needs_no_command(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


@pytest.mark.parametrize("name", ["backup", "restore"])
def test_what_is_to_come_says_so(name: str) -> None:
    # In this process: seven starts for one answer would take long.
    for arguments in ([name], [name, "report", "--url", "x", "--help"]):
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, SettingsError)
        assert f"fumikura {name} is to come" in result.exception.en
        assert f"fumikura {name} はこれから" in result.exception.ja


def test_help_lists_only_what_is_there(run: Run) -> None:
    shown = run("--help", COLUMNS="200").stdout
    assert "doctor" in shown
    assert not re.search(r"^\W*(backup|restore)\b", shown, re.MULTILINE)


def test_the_demo_fails_when_nothing_is_cited(run: Run, stub: StubServer) -> None:
    stub.play({"pieces": ["分かりません。"]})
    done = run("demo")
    assert done.returncode == 1
    assert "fumikura doctor" in done.stderr
    stub.play({"pieces": ["里芋は600gです。[1]"]})
    done = run("demo", "--json")
    first = json.loads(done.stdout)["answers"][0]
    assert first["question"] == "里芋は何グラム？"
    assert "600g" in first["answer"]["citations"][0]["quote"]
    assert done.returncode == 0


def test_notebooks_are_apart(run: Run, tmp_path: Path) -> None:
    run("add", str(note(tmp_path)), "--notebook", "仕事")
    assert json.loads(run("sources", "--json").stdout)["sources"] == []
    assert len(json.loads(run("sources", "--notebook", "仕事", "--json").stdout)["sources"]) == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "said"),
    [
        (["ask", ""], {}, 1, "質問が空"),
        (["add", "nowhere.md"], {}, 1, "nowhere.md"),
        (["add", "https://example.org/page"], {}, 2, "https://example.org/page"),
        (["add", "https://example.org/page"], {"FUMIKURA_LANG": "en"}, 2, "to come"),
        (["backup", "--to", "80"], {}, 2, "backup はこれから"),
        (["restore", "--help"], {"FUMIKURA_LANG": "en"}, 2, "restore is to come"),
        (["remove", "無い資料"], {}, 1, "default"),
        (["ask", "鍵は？", "--as-of", "昨日"], {}, 2, "昨日"),
        (["ask", "鍵は？", "--mode", "whole"], {}, 2, "resident"),
        (["--preset", "cloud", "sources"], {}, 2, "cloud"),
        (["--settings", "nowhere.json", "sources"], {}, 2, "nowhere.json"),
        (["sources"], {"FUMIKURA__CHUNK__SIEZ": "3"}, 2, "size"),
        (["models", "fetch"], {"FUMIKURA__LLM__BACKEND": "embedded", "FUMIKURA__LLM__MODEL": "qwen3"}, 2, "qwen3"),
        (["sources"], {"FUMIKURA_LANG": "en", "FUMIKURA__SEARCH__TOP_K": "0"}, 2, "search.top_k"),
        (["nonsense"], {}, 2, "nonsense"),
        (["add", ""], {}, 2, "PATH"),
        (["ask", "鍵は？", "--notebook", " "], {}, 2, "ノートブック"),
        (["sources"], {"FUMIKURA__LLM__CONTEXT_TOKENS": "512"}, 2, "answer_tokens"),
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
    for name in ("photo.png", "notes.zip", "paper.pdf"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00" + bytes(range(256)))
        done = run("add", str(tmp_path / name), "--json")
        assert done.returncode == 1
        (report,) = json.loads(done.stdout)
        assert report["status"] == "failed"
        assert name in report["error"]


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
    assert model.keys() == {"name", "state", "present_bytes", "size_bytes", "sha256", "licence", "publisher"}
    assert (model["state"], model["present_bytes"], model["size_bytes"]) == ("missing", 0, 1_117_320_768)
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

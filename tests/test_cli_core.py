"""The commands of the resident core, in this process: what they show, refuse and leave as it was."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from stub_llm import StubServer
from typer.testing import CliRunner, Result

from fumikura.cli import app
from fumikura.errors import CoreTooLarge, NotFound, SettingsError

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command over a data folder with two notes; the model is the stand-in."""
    given = {"LLM__BACKEND": "ollama", "LLM__MODEL": "stub", "OLLAMA__URL": stub.url}
    for name, value in given.items():
        monkeypatch.setenv(f"FUMIKURA__{name}", value)
    monkeypatch.setenv("FUMIKURA_LANG", "en")
    stub.play({"pieces": ["開館は九時です。[1]"]})

    def fumikura(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["--data", str(tmp_path / "data"), *arguments])

    for name, text in {"図書室.md": "開館は九時です。", "倉庫.md": "鍵は松の棚にあります。"}.items():
        (tmp_path / name).write_text(f"# {name[:-3]}\n\n{text}\n", encoding="utf-8")
        assert fumikura("add", str(tmp_path / name)).exit_code == 0
    return fumikura


def answered(result: Result) -> dict:
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def test_pin_and_unpin_show_what_changed_and_how_full_it_is(run: Run) -> None:
    pinned = answered(run("pin", "倉庫.md", "--json"))
    assert [(one["source"], one["pinned"]) for one in pinned["changed"]] == [("倉庫.md", True)]
    assert {one["source"]: one["pinned"] for one in pinned["sources"]} == {"図書室.md": False, "倉庫.md": True}
    assert pinned["free_tokens"] == pinned["room_tokens"] - pinned["used_tokens"]
    shown = run("unpin", "倉庫.md")
    assert "no longer resident: 倉庫.md" in shown.stderr and "always" not in shown.stderr
    shown = run("pin", "図書室.md")
    assert "always read in full: 図書室.md" in shown.stderr
    assert "図書室.md\t" in shown.stdout and "in full" in shown.stdout


def test_core_is_a_contract_in_json(run: Run) -> None:
    core = answered(run("core", "--json"))
    counts = "window_tokens room_tokens used_tokens free_tokens rules_tokens"
    assert core.keys() == {"changed", "mode", "coverage", "exact", "sources", *counts.split()}
    assert (core["mode"], core["coverage"], core["changed"]) == ("resident", "read_in_full", [])
    assert core["sources"][0].keys() == {"source_id", "source", "token_count", "pinned", "resident"}
    assert all(one["resident"] and one["token_count"] > 0 for one in core["sources"])


def test_pinning_what_does_not_fit_is_refused_with_the_numbers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "庭.md").write_text("露草の庭には石の道が続きます。" * 900, encoding="utf-8")
    run("add", str(tmp_path / "庭.md"))
    refused = run("pin", "図書室.md", "庭.md")
    assert isinstance(refused.exception, CoreTooLarge)
    assert "only" in refused.exception.en and refused.exception.en.count(",") >= 2
    assert isinstance(run("pin", "図書室.md", "ない.md").exception, NotFound)
    core = answered(run("core", "--json"))
    assert not any(one["pinned"] for one in core["sources"])
    assert core["mode"] == "rag"


def test_a_core_that_no_longer_fits_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("pin", "図書室.md")
    monkeypatch.setenv("FUMIKURA__RESIDENT__MOST_TOKENS", "256")
    shown = run("core")
    assert "do not fit into 256 tokens" in shown.stderr


def test_ask_takes_a_mode_and_refuses_one_that_there_is_not(run: Run) -> None:
    for mode, coverage in (("auto", "read_in_full"), ("rag", "searched"), ("resident", "read_in_full")):
        answer = answered(run("ask", "開館は何時？", "--mode", mode, "--json"))
        assert (answer["coverage"], answer["status"]) == (coverage, "answered")
    refused = run("ask", "開館は何時？", "--mode", "whole")
    assert isinstance(refused.exception, SettingsError)
    assert "choose one of auto, rag, resident, hybrid" in refused.exception.en


def test_warm_reads_the_core_ahead(run: Run, stub: StubServer) -> None:
    assert answered(run("warm", "--json"))["coverage"] == "read_in_full"
    (read,) = stub.bodies("/api/chat")
    assert "鍵は松の棚" in read["messages"][1]["content"]
    run("ask", "開館は何時？")
    assert stub.bodies("/api/chat")[1]["messages"][0] == read["messages"][0]
    run("remove", "図書室.md", "倉庫.md")
    assert answered(run("warm", "--json"))["sources"] == []


@pytest.mark.parametrize(
    "command", ["sources", "search 鍵", "ask 鍵は？", "remove 倉庫.md", "pin 倉庫.md", "core", "warm"]
)
def test_a_misspelt_notebook_is_named_not_taken_for_an_empty_one(run: Run, command: str) -> None:
    refused = run(*command.split(), "--notebook", "ない").exception
    assert isinstance(refused, NotFound)
    assert refused.en == "there is no notebook 'ない': there are default"


def test_an_answer_stands_though_its_core_cannot_be_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> bool:
        raise CoreTooLarge("ディスクがいっぱいです。", "the disk is full")

    monkeypatch.setattr("fumikura.resident.Residence.keep", no_room)
    done = run("ask", "開館は何時？")
    assert done.exit_code == 0
    assert "開館は九時です。[1]" in done.stdout and "the disk is full" in done.stderr

"""What a person sees on a terminal: whole names and ids, the text as it was written, nothing that commands it."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from fumikura import terminal
from fumikura.errors import InputTooLong
from fumikura.records import AddReport, Answer, Citation, Hit, Notice, Receipt, SearchResult, SourceSummary

LONG = "とても長い名前の" * 9 + ".md"
SOURCE = SourceSummary(
    source_id="0123456789abcdef",
    name=LONG,
    origin="/notes/" + LONG,
    kind="markdown",
    title="",
    date="2026-03-05",
    size_bytes=10,
    status="ready",
    chunk_count=3,
    vector_count=3,
    encoding="cp932",
    encoding_certain=False,
    sha256="0" * 64,
    added_at="2026-03-05T00:00:00Z",
    notices=(Notice("文字コードを cp932 と見ました。" * 5, "Read as cp932."),),
)
ANSWER = Answer("answered", "searched", "開館は九時です。[1]", (), Receipt("stub"))
Screen = Callable[[], tuple[str, str]]


@pytest.fixture(params=[True, False], ids=["terminal", "pipe"])
def is_terminal(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> Screen:
    """Both outputs, 80 columns wide, as what was written to them."""
    monkeypatch.setenv("FUMIKURA_LANG", "ja")
    streams = io.StringIO(), io.StringIO()
    for name, stream in zip(("out", "err"), streams, strict=True):
        console = getattr(terminal, name)
        kept = {key: getattr(console, f"_{key}") for key in ("markup", "emoji")}
        shown = Console(
            file=stream,
            force_terminal=is_terminal,
            color_system=None,
            width=80,
            highlight=False,
            soft_wrap=True,
            **kept,
        )
        monkeypatch.setattr(terminal, name, shown)
    return lambda: (streams[0].getvalue(), streams[1].getvalue())


def test_names_ids_and_notices_are_never_cut(screen: Screen) -> None:
    terminal.show_sources([SOURCE])
    out, err = screen()
    assert SOURCE.source_id in out
    folded = re.sub(r"[\s\d-]|abcdef|ready", "", out)  # on a terminal a name goes over lines
    assert LONG in out or LONG in folded
    assert "…" not in out
    assert err == f"{LONG}: {SOURCE.notices[0].ja}\n"


def test_errors_of_files_are_lines_of_their_own(screen: Screen) -> None:
    error = Notice("読めません。" * 30, "Unreadable.")
    terminal.show_reports([AddReport("a.md", "added", "1", 2, 0.5), AddReport("b.bin", "failed", error=error)])
    out, err = screen()
    assert [line.split() for line in out.splitlines()[-2:]] == [
        ["a.md", "added", "2", "0.50"],
        ["b.bin", "failed", "0", "0.00"],
    ]
    assert err == f"b.bin: {error.ja}\n"


@pytest.mark.parametrize("is_terminal", [False], ids=["pipe"], indirect=True)
def test_a_name_cannot_break_a_line_for_scripts(screen: Screen) -> None:
    terminal.show_sources([replace(SOURCE, name="a\tb\nc\x1b[2J.md", notices=())])
    assert screen()[0] == "0123456789abcdef\ta b c\ufffd[2J.md\tready\t2026-03-05\t3\n"


def test_text_is_shown_as_written_but_for_control_characters(screen: Screen) -> None:
    wild = ":memo: [red]赤[/red] \x1b[31m \x07 \x9b2J\r終"
    harmless = ":memo: [red]赤[/red] \ufffd[31m \ufffd \ufffd2J\ufffd終"
    terminal.show_hits([Hit(1, 0.5, 1, "id", wild, (wild,), None, 0, 1, wild)])
    citation = Citation(1, "id", wild, wild, None, 0, 1, wild)
    terminal.show_answer(replace(ANSWER, text=wild, citations=(citation,), notices=(Notice(wild, wild),)))
    terminal.say(wild, wild)
    out, err = screen()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)  # the styles are ours
    assert plain.count(harmless) == 3 + 1 + 3
    assert err == f"{harmless}\n{harmless}\n"
    assert not terminal.CONTROL.search(plain)


def test_a_checked_answer_that_equals_the_draft_is_shown_once(screen: Screen) -> None:
    events = [SearchResult((), 0, 0), "開館は", "九時です。[1]", ANSWER]
    terminal.show_events(events, stream=True)
    assert screen()[0] == "開館は九時です。[1]\n"


def test_a_corrected_draft_is_told_from_the_answer(screen: Screen) -> None:
    terminal.show_events([SearchResult((), 0, 0), "開館は十時です。", ANSWER], stream=True)
    draft, label, answer = (line for line in screen()[0].splitlines() if line)
    assert (draft, answer) == ("開館は十時です。", ANSWER.text)
    assert "確かめる前の下書き" in label


def test_a_draft_that_ends_in_an_error_is_called_unchecked(screen: Screen) -> None:
    def events():
        yield SearchResult((), 0, 0)
        yield "開館は十時です。"
        raise InputTooLong("長すぎます。", "too long")

    with pytest.raises(InputTooLong):
        terminal.show_events(events(), stream=True)
    assert "（上は確かめていない下書きです。）" in screen()[0]


def test_without_stream_no_draft_is_shown(screen: Screen) -> None:
    terminal.show_events([SearchResult((), 0, 0), "下書き", ANSWER], stream=False)
    assert screen()[0] == f"{ANSWER.text}\n"


def test_json_is_utf8_and_holds_no_control_character(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    document = {"text": "開館 \x1b[31m \x7f \x9b2J 😀", "name": "a\udcff.md"}
    terminal.write_json(document)
    written = capsysbinary.readouterr().out.decode("utf-8")
    assert json.loads(written) == document
    assert "開館" in written
    assert not terminal.CONTROL.search(written)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "ja"),
        ({"LANG": "C.UTF-8"}, "ja"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "FUMIKURA_LANG": "en"}, "en"),
    ],
)
def test_the_language_follows_the_person(environment: dict[str, str], expected: str) -> None:
    assert terminal.language(environment) == expected


def test_help_does_not_wait_for_numpy() -> None:
    # NumPy alone takes longer to import than the whole command line; a time would depend on the machine.
    code = "import sys, fumikura.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Follow-up questions and the choice of sources, from the question to the checked answer."""

import json
from pathlib import Path

import pytest

from fumikura.generators import ScriptedGenerator
from fumikura.library import Library
from fumikura.records import Answer, Message, Prompt, SearchResult, SourceFile, Usage

PARKS = "dialogue_sources"
ANSWERS = ["開園は七時です。[1]", "閉園は十八時です。[1]", "駐車場は四十台です。[1]", "駐車場は十二台です。[1]"]
# What each turn's citation must quote, and from which park.
RIGHT = [("七時", "東公園"), ("十八時", "東公園"), ("四十台", "東公園"), ("十二台", "西公園")]


@pytest.fixture
def parks(open_library, cases: Path) -> Library:  # type: ignore[no-untyped-def]
    library: Library = open_library(*ANSWERS, FUMIKURA__RESIDENT__MODE="rag")
    library.add("default", [cases / "C107" / PARKS])
    return library


def play(library: Library, questions: list[str]) -> list[tuple[SearchResult, Answer]]:
    """Ask one after another, each with the turns before it."""
    turns: list[tuple[SearchResult, Answer]] = []
    history: list[Message] = []
    for question in questions:
        events = list(library.notebook("default").stream(question, history=history))
        assert isinstance(events[0], SearchResult) and isinstance(events[-1], Answer)
        turns.append((events[0], events[-1]))
        history += [Message("user", question), Message("assistant", events[-1].text)]
    return turns


def test_c107_follow_ups_are_understood_searched_and_cited(parks: Library, cases: Path) -> None:
    dialogue = json.loads((cases / "C107" / "dialogue.json").read_text(encoding="utf-8"))
    turns = play(parks, dialogue)
    for (found, answer), (said, park) in zip(turns, RIGHT, strict=True):
        assert park in found.hits[0].text
        assert said in found.hits[0].text
        assert answer.status == "answered", found.completed
        assert all(said in one.quote and park in one.heading for one in answer.citations) and answer.citations
    assert [found.completed for found, _ in turns][-1] == "西公園の駐車場は？"


def test_c107_the_model_reads_the_completed_question_after_the_turns_as_they_were(parks: Library) -> None:
    play(parks, ["東公園の開園は何時？", "閉園は？"])
    assert isinstance(parks.generator, ScriptedGenerator)
    first, answer, last = parks.generator.prompts[1][-3:]
    assert (first.content, answer.content) == ("東公園の開園は何時？", "開園は七時です。[1]")
    assert last.content.endswith("東公園の閉園は何時？")


def test_c107_a_complete_question_is_not_bent(parks: Library) -> None:
    history = [Message("user", "東公園の開園は何時？"), Message("assistant", "開園は七時です。")]
    found = next(parks.notebook("default").stream("西公園の閉園は何時ですか？", history=history))
    assert isinstance(found, SearchResult)
    assert found.completed == "西公園の閉園は何時ですか？"
    assert "西公園" in found.hits[0].text


def test_only_the_last_three_turns_reach_the_model(parks: Library) -> None:
    asked = [f"{park}の開園は何時？" for park in ("東公園", "西公園", "東公園", "西公園", "東公園")]
    history = [one for text in asked for one in (Message("user", text), Message("assistant", f"答え{text}"))]
    list(parks.notebook("default").stream("閉園は？", history=history))
    assert isinstance(parks.generator, ScriptedGenerator)
    roles = [message.role for message in parks.generator.prompts[0]]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]


def test_the_prompt_comes_just_before_the_model_is_asked(parks: Library) -> None:
    events = list(parks.notebook("default").stream("東公園の開園は何時？"))
    assert [type(event) for event in events] == [SearchResult, Prompt, str, Usage, Answer]
    prompt, answer = events[1], events[4]
    assert isinstance(prompt, Prompt) and isinstance(answer, Answer)
    assert isinstance(parks.generator, ScriptedGenerator)
    assert prompt.messages == parks.generator.prompts[0]
    assert prompt.token_count == parks.generator.count_tokens(prompt.messages)
    assert prompt.sha256 == answer.receipt.prompt_sha256


def test_c115_a_ticked_out_source_answers_nothing(parks: Library) -> None:
    parks.store.set_included("default", "dialogue_sources/east.md", False)
    events = list(parks.notebook("default").stream("東公園の開園は何時？"))
    assert isinstance(events[0], SearchResult) and isinstance(events[-1], Answer)
    assert [hit.source for hit in events[0].hits] == ["dialogue_sources/west.md"]
    assert events[-1].status == "not_in_sources"
    assert "全1箇所のうち" in events[-1].text
    assert all("七時" not in message.content for one in events if isinstance(one, Prompt) for message in one.messages)


def test_c115_nothing_is_ticked(parks: Library) -> None:
    parks.store.include_all("default", False)
    for question, said in (("東公園の開園は何時？", "選ばれていません"), ("When does the park open?", "tick")):
        events = list(parks.notebook("default").stream(question))
        assert [type(event) for event in events] == [SearchResult, Answer]
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert answer.status == "not_in_sources" and said in answer.text
    assert parks.notebook("default").search("東公園の開園は何時？").hits == ()


def test_c115_a_hidden_source_is_not_found_until_it_is_restored(parks: Library) -> None:
    hidden = parks.store.hide_source("default", "dialogue_sources/east.md")
    found = parks.notebook("default").search("東公園の開園は何時？", source_ids=[hidden.source_id])
    assert found.hits == ()
    parks.store.restore_source("default", hidden.source_id)
    assert "七時" in parks.notebook("default").search("東公園の開園は何時？").hits[0].text


def test_c115_the_one_ticked_source_is_found_among_200_nearer_ones(open_library) -> None:  # type: ignore[no-untyped-def]
    library: Library = open_library("門は九時に開きます。[1]", FUMIKURA__RESIDENT__MODE="rag")
    for number in range(200):
        text = f"第{number % 10}公園の開園は{number % 10 + 1}時。"
        library.add_bytes("default", SourceFile(f"park{number}", f"park{number}.txt", text.encode()))
        if number == 9:
            library.embed_pending("default")  # the vectors of the same texts are carried over from here on
    one = library.add_bytes("default", SourceFile("one", "one.txt", "緑地の門は九時に開く。".encode()))
    library.embed_pending("default")
    question = "公園の開園は何時？"
    assert all(hit.source != "one.txt" for hit in library.notebook("default").search(question).hits)
    library.store.include_all("default", False)
    library.store.set_included("default", one.source_id, True)
    found = library.notebook("default").search(question)
    assert [hit.source for hit in found.hits] == ["one.txt"]
    assert found.hits[0].dense_score
    answer = library.notebook("default").ask("緑地の門は何時に開く？")
    assert [citation.source for citation in answer.citations] == ["one.txt"]

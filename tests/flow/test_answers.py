"""Answers as a user sees them, with the model's words given: what is shown, what is cited, what is refused."""

import json
from pathlib import Path

import pytest

from fumikura.errors import BackendReplyInvalid, InputTooLong, QuestionError
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library
from fumikura.records import Answer, SearchResult, Usage

QUESTION = "図書室は何時に開きますか？"
BY_SEARCH = {"FUMIKURA__RESIDENT__MODE": "rag"}


def script(cases: Path, case: str, name: str = "script.json") -> list[str | Usage]:
    """The pieces of a case's script, ended as the script says."""
    content = json.loads((cases / case / name).read_text(encoding="utf-8"))
    finish = "length" if content.get("done_reason") == "length" else "complete"
    return [*content["pieces"], Usage(finish)]


def ask(open_library, cases: Path, *answers, question: str = QUESTION) -> Answer:  # type: ignore[no-untyped-def]
    library = open_library(*answers, **BY_SEARCH)
    library.add("default", [cases / "C099" / "library.md"])
    return library.notebook("default").ask(question)


def assert_quotes_are_slices(library: Library, answer: Answer) -> None:
    for citation in answer.citations:
        text = library.store.source_text("default", citation.source_id)
        assert text[citation.start : citation.end] == citation.quote


def test_an_answer_opens_its_passage(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("開館は九時です。[1]", **BY_SEARCH)
    library.add("default", [cases / "C099" / "library.md"])
    events = list(library.notebook("default").stream(QUESTION))
    assert isinstance(events[0], SearchResult)
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.status, answer.coverage, answer.finish) == ("answered", "searched", "complete")
    assert answer.text == "開館は九時です。[1]"
    assert answer.citations[0].quote == "開館は九時、閉館は十七時です。"
    assert answer.citations[0].heading == "図書室"
    assert_quotes_are_slices(library, answer)
    assert [hit.used for hit in answer.receipt.hits] == [True]
    assert answer.receipt.prompt_tokens


def test_c099_unknown_numbers_vanish_and_never_point_elsewhere(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, script(cases, "C099"))
    assert "[1]" in answer.text
    for wrong in ("[7]", "[0]", "１２", "[12]"):
        assert wrong not in answer.text
    assert {citation.n for citation in answer.citations} == {1}
    assert any("祝日" in sentence for sentence in answer.unsupported)


def test_c100_every_shape_of_mark_is_one_live_citation(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, script(cases, "C100"))
    assert {citation.n for citation in answer.citations} == {1}
    for shape in ("【1】", "［１］", "(出典1)", "[出典: 1]", "[^1]", "〔1〕", "[1, 1]", "[1][1]"):
        assert shape not in answer.text


@pytest.mark.parametrize("name", ["refusal_with_marks.json", "refusal_other_words.json"])
def test_c102_a_refusal_in_any_words_has_no_citation(open_library, cases: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, script(cases, "C102", name), question="図書室の開館と富士山の標高は？")
    assert answer.status == "not_in_sources"
    assert answer.text.startswith("資料にありません。")
    assert answer.citations == ()


def test_c103_general_knowledge_does_not_follow_a_refusal(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, script(cases, "C103"), question="図書室の開館と富士山の標高は？")
    assert answer.status == "not_in_sources"
    assert "3776" not in answer.text
    assert answer.citations == ()


def test_what_nothing_mentions_is_refused_without_asking_the_model(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("富士山は3776メートルです。[1]", **BY_SEARCH)
    library.add_samples("default")
    answer = library.notebook("default").ask("富士山の標高は何メートル？")
    assert isinstance(library.generator, ScriptedGenerator)
    assert library.generator.prompts == []
    assert (answer.status, answer.citations) == ("not_in_sources", ())
    assert answer.text.startswith("資料にありません。")
    assert "検索しました" in answer.text


def test_invented_numbers_are_not_shown(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, "開館は八時半です。[1]")
    assert answer.status == "not_in_sources"
    assert answer.citations == ()
    assert answer.unsupported


def test_c106_an_empty_notebook_needs_no_model(library: Library) -> None:
    answer = library.notebook("default").ask("鍵はどこ？")
    assert isinstance(library.generator, ScriptedGenerator)
    assert library.generator.prompts == []
    assert answer.status == "not_in_sources"
    assert "まだ読める資料がありません" in answer.text


def test_c114_another_notebooks_secret_is_not_found(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("昇給率は四・二パーセントです。[1]", **BY_SEARCH)
    library.add("a", [cases / "C114" / "notebook_a"])
    library.add("b", [cases / "C114" / "notebook_b"])
    answer = library.notebook("b").ask("昇給率は？")
    assert (answer.status, answer.citations) == ("not_in_sources", ())


def test_c122_the_number_opens_the_room_that_was_asked_for(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("北条さんが管理する会議室の定員は26名です。", **BY_SEARCH)
    library.add("default", [cases / "C122"])
    answer = library.notebook("default").ask("北条さんが管理する会議室の定員は？")
    assert [citation.source for citation in answer.citations] == ["C122/room07.md"]
    assert_quotes_are_slices(library, answer)


@pytest.mark.parametrize(
    ("case", "name", "expected"),
    [
        ("C090", "full_pair.json", "開館は九時です。[1]"),
        ("C090", "closing_tag_only.json", "開館は九時です。[1]"),
        ("C091", "script.json", "開館は九時です。[1]"),
        ("C091", "other_tag_names.json", "開館は九時です。[1]"),
        ("C092", "unclosed_with_answer.json", "開館は九時です。[1]"),
    ],
)
def test_thinking_is_never_shown(stub, open_library, cases: Path, case: str, name: str, expected: str) -> None:  # type: ignore[no-untyped-def]
    answer = ask_stub(stub, open_library, cases, case, name)
    assert answer.text == expected


def ask_stub(stub, open_library, cases: Path, case: str, name: str, **settings: str) -> Answer:  # type: ignore[no-untyped-def]
    """Ask through a server that replies by the case's script."""
    stub.play(cases / case / name)
    library = open_library(
        FUMIKURA__LLM__BACKEND="ollama",
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__LLM__CONTEXT_TOKENS="4096",
        FUMIKURA__OLLAMA__URL=stub.url,
        **settings,
    )
    library.add("default", [cases / "C099" / "library.md"])
    return library.notebook("default").ask(QUESTION)


def test_c092_only_thinking_is_named_and_nothing_is_shown(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BackendReplyInvalid) as caught:
        ask_stub(stub, open_library, cases, "C092", "only_thinking_then_cut.json")
    assert "考えている途中" in caught.value.ja


@pytest.mark.parametrize("name", ["script.json", "connection_dropped.json"])
def test_c093_a_broken_answer_is_marked(stub, open_library, cases: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    answer = ask_stub(stub, open_library, cases, "C093", name)
    assert answer.finish == "broken_off"
    assert any("途切れました" in notice.ja for notice in answer.notices)
    assert "開館は九時" in answer.text


def test_c094_a_cut_answer_is_marked(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    answer = ask(open_library, cases, ["開館は九時です。閉館は十七", Usage("length")])
    assert answer.finish == "length"
    assert any("上限" in notice.ja for notice in answer.notices)


@pytest.mark.parametrize("name", ["empty_answer.json", "blank_answer.json"])
def test_c098_an_empty_answer_is_an_error_that_says_so(open_library, cases: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BackendReplyInvalid) as caught:
        ask(open_library, cases, script(cases, "C098", name))
    assert "何も返しませんでした" in caught.value.ja


def test_c087_a_cut_prompt_gives_no_answer(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library(["開館は九時です。[1]", Usage("complete", prompt_tokens=60)])
    library.add("default", [cases / "C099" / "library.md"])
    with pytest.raises(InputTooLong) as caught:
        library.notebook("default").ask(QUESTION)
    assert "切り捨て" in caught.value.ja
    assert "60" in caught.value.en


def test_c087_a_long_source_never_overfills_the_window(stub, open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library(
        FUMIKURA__LLM__BACKEND="ollama",
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__OLLAMA__URL=stub.url,
        FUMIKURA__LLM__CONTEXT_TOKENS="4096",
        FUMIKURA__SEARCH__TOP_K="50",
        FUMIKURA__SEARCH__CONTEXT_TOKENS="100000",
        **BY_SEARCH,
    )
    stub.play({"pieces": ["合言葉は「あかつき７７３４」です。[1]"]})
    library.add("default", [cases / "C087" / "fact_at_top.md"])
    answer = library.notebook("default").ask("合言葉は？")
    assert answer.citations[0].quote.startswith("合言葉は「あかつき")
    sent = stub.bodies("/api/chat")[-1]
    assert sent["options"]["num_ctx"] == 4096
    assert sum(len(message["content"]) for message in sent["messages"]) < 4096


@pytest.mark.parametrize("name", ["vllm_400.json", "llamacpp_200_with_error.json"])
def test_c089_a_server_that_finds_it_too_long_gives_a_plain_message(stub, open_library, cases: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    stub.play(cases / "C089" / name)
    library = open_library(
        FUMIKURA__LLM__BACKEND="openai",
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__OPENAI__URL=f"{stub.url}/v1",
        **BY_SEARCH,
    )
    library.add_samples("default")
    with pytest.raises(InputTooLong) as caught:
        library.notebook("default").ask("里芋は何グラム？")
    assert "{" not in caught.value.ja
    first, second = stub.bodies("/v1/chat/completions")
    assert len(str(second)) < len(str(first))


@pytest.mark.parametrize("question", ["", "   ", "　"])
def test_a_blank_question_is_refused_politely(library: Library, question: str) -> None:
    with pytest.raises(QuestionError):
        library.notebook("default").ask(question)


def test_a_far_too_long_question_is_refused_with_the_limit(library: Library) -> None:
    with pytest.raises(QuestionError) as caught:
        library.notebook("default").ask("あ" * 5000)
    assert "5,000" in caught.value.ja
    assert "4,000" in caught.value.ja


def test_c019_a_lone_surrogate_in_a_question_does_no_harm(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    text = json.loads((cases / "C019" / "lone_surrogate.json").read_text(encoding="utf-8"))["text"]
    answer = ask(open_library, cases, "開館は九時です。[1]", question=f"{text} 図書室の開館は？")
    assert answer.status in ("answered", "not_in_sources")


def test_c064_braces_reach_the_prompt_unchanged(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("合言葉は{さくら}です。[1]", **BY_SEARCH)
    library.add("default", [cases / "C064"])
    answer = library.notebook("default").ask("合言葉は？ {context} と {0}")
    assert isinstance(library.generator, ScriptedGenerator)
    sent = library.generator.prompts[0][-1].content
    for part in ("{name}", "{{body}}", "${HOME}", "{0}", "{context}", "{さくら}"):
        assert part in sent
    assert "さくら" in answer.text


def test_c065_chat_marks_in_a_source_open_no_turn(open_library, cases: Path) -> None:  # type: ignore[no-untyped-def]
    library = open_library("倉庫の担当は森下さんです。[1]")
    library.add("default", [cases / "C065"])
    answer = library.notebook("default").ask("倉庫の担当は？")
    assert isinstance(library.generator, ScriptedGenerator)
    for message in library.generator.prompts[0]:
        assert "<|im_start|>" not in message.content
    assert answer.citations[0].quote == "倉庫の担当は森下さんです。"

"""What is read in full and what is searched, as a person sees it in answers, refusals and receipts."""

from datetime import date
from pathlib import Path

import pytest

from fumikura.errors import Conflict, CoreTooLarge, NotFound, QuestionError
from fumikura.generators import ScriptedGenerator
from fumikura.library import Library
from fumikura.records import Answer, Message, SourceFile
from fumikura.resident import NO_CORE

QUESTION = "図書室の開館は何時？"
LONG = "露草の庭には石の道が続きます。" * 700  # about 10,000 characters
FAR_TOO_LONG = LONG * 5


def add_text(library: Library, name: str, text: str, notebook: str = "default") -> str:
    return library.add_bytes(notebook, SourceFile(name, name, text.encode())).source_id


def ask(library: Library, question: str = QUESTION, **options: object) -> Answer:
    return library.notebook("default").ask(question, **options)  # type: ignore[arg-type]


def prompts(library: Library) -> list[tuple[Message, ...]]:
    assert isinstance(library.generator, ScriptedGenerator)
    return library.generator.prompts


class Uncounted(ScriptedGenerator):
    """A generator that must not be asked for its tokens or its window."""

    def context_tokens(self) -> int:
        raise AssertionError("its window was asked for")

    def count_tokens(self, messages: object) -> int:
        raise AssertionError("its tokens were counted")


def test_everything_fits_so_all_is_read_in_full(library: Library) -> None:
    answer = ask(library)
    assert (answer.status, answer.coverage, answer.receipt.mode) == ("answered", "read_in_full", "resident")
    assert [one.source for one in answer.receipt.core] == ["図書室.md", "倉庫.md", "菜園.md"]
    assert answer.receipt.core_tokens > 0 and answer.receipt.prefix_sha256
    assert answer.receipt.hits and all(hit.used for hit in answer.receipt.hits)
    (asked,) = prompts(library)
    assert "里芋は四百グラム" in asked[1].content
    assert "開館は九時" not in asked[-1].content, "what is resident is not given twice"


def test_a_citation_of_a_resident_source_has_its_heading_and_exact_place(library: Library) -> None:
    library.generator = ScriptedGenerator(["貸出は五冊までです。[1]"])
    (citation,) = ask(library, "貸出は何冊まで？").citations
    assert (citation.via, citation.source, citation.page) == ("resident", "図書室.md", None)
    assert citation.heading == "図書室 / 貸出"
    assert citation.quote == "貸出は五冊までです。"
    assert library.store.source_text("default", citation.source_id)[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("question", "said"),
    [("富士山の標高は？", "資料 3 件の全文を読みました。"), ("How high is it?", "Read in full: all 3 sources.")],
)
def test_a_refusal_says_that_all_was_read(library: Library, question: str, said: str) -> None:
    library.generator = ScriptedGenerator(["資料にありません。"])
    answer = ask(library, question)
    assert (answer.status, answer.citations) == ("not_in_sources", ())
    assert said in answer.text
    assert len(prompts(library)) == 1, "what search finds nothing of is asked all the same"


def test_too_much_and_nothing_pinned_is_searched(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    answer = ask(library)
    assert (answer.coverage, answer.receipt.mode, answer.receipt.core) == ("searched", "rag", ())
    assert [message.role for message in prompts(library)[0]] == ["system", "user"], "there is no core"


def test_what_is_far_too_long_is_decided_without_asking_the_backend(library: Library) -> None:
    add_text(library, "庭.md", FAR_TOO_LONG)
    library.generator = Uncounted([""])
    assert library.residence("default").core() == NO_CORE


def test_pinned_sources_are_read_in_full_and_the_rest_is_searched(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    library.residence("default").pin(["図書室.md"])
    answer = ask(library, "図書室の開館は何時？倉庫の鍵は？")
    assert (answer.coverage, answer.receipt.mode) == ("searched", "hybrid")
    assert [one.source for one in answer.receipt.core] == ["図書室.md"]
    (asked,) = prompts(library)
    assert "開館は九時" in asked[1].content and "松の棚" not in asked[1].content
    assert "開館は九時" not in asked[-1].content and "松の棚" in asked[-1].content
    assert {hit.source: hit.used for hit in answer.receipt.hits}["図書室.md"]
    assert answer.citations[0].via == "resident"


@pytest.mark.parametrize(
    ("mode", "coverage", "resident_count"),
    [("rag", "searched", 0), ("resident", "read_in_full", 3), ("hybrid", "read_in_full", 3)],
)
def test_a_question_can_force_its_mode(library: Library, mode: str, coverage: str, resident_count: int) -> None:
    answer = ask(library, mode=mode)
    assert (answer.receipt.mode, answer.coverage, len(answer.receipt.core)) == (mode, coverage, resident_count)


def test_the_notebook_keeps_the_mode_that_a_person_chose(library: Library, open_library) -> None:  # type: ignore[no-untyped-def]
    library.store.set_mode("default", "rag")
    assert ask(library).receipt.mode == "rag"
    library.close()
    again = open_library()
    assert again.store.mode("default") == "rag"
    assert ask(again).receipt.mode == "rag"
    assert ask(again, mode="resident").receipt.mode == "resident", "the question goes before the notebook"
    again.store.set_mode("default", "auto")
    assert ask(again).receipt.mode == "resident"


def test_a_mode_that_there_is_not_changes_nothing(library: Library) -> None:
    with pytest.raises(QuestionError, match="no mode 'whole'"):
        library.store.set_mode("default", "whole")
    with pytest.raises(NotFound):
        library.store.set_mode("ない", "rag")
    assert library.store.mode("default") == library.store.mode("ない") == "auto"


def test_resident_by_force_that_does_not_fit_says_both_numbers(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    with pytest.raises(CoreTooLarge, match=r"4 resident sources have [\d,]+ tokens, but only 7,092 fit") as caught:
        ask(library, mode="resident")
    assert "7,092 トークンまで" in caught.value.ja
    assert prompts(library) == []


def test_hybrid_by_force_with_nothing_pinned_says_that_it_only_searched(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    answer = ask(library, mode="hybrid")
    assert answer.receipt.mode == "rag"
    assert any("ピン留めした資料がない" in notice.ja for notice in answer.notices)


def test_a_core_that_no_longer_fits_is_searched_and_said(library: Library, open_library) -> None:  # type: ignore[no-untyped-def]
    add_text(library, "庭.md", LONG[:2000])
    library.residence("default").pin(["庭.md"])
    smaller = open_library(FUMIKURA__LLM__CONTEXT_TOKENS="2600")
    answer = ask(smaller)
    assert (answer.receipt.mode, answer.coverage, answer.status) == ("rag", "searched", "answered")
    (notice,) = (notice for notice in answer.notices if "ピン留め" in notice.ja)
    assert "do not fit into 250 tokens" in notice.en
    with pytest.raises(CoreTooLarge, match="only 250 fit"):
        ask(smaller, mode="hybrid")


def test_ticked_out_and_hidden_sources_are_never_resident(library: Library) -> None:
    library.residence("default").pin(["倉庫.md", "菜園.md"])
    library.store.set_included("default", "倉庫.md", False)
    library.store.hide_source("default", "菜園.md")
    answer = ask(library)
    assert [one.source for one in answer.receipt.core] == ["図書室.md"]
    assert "松の棚" not in str(prompts(library)) and "里芋" not in str(prompts(library))


def test_a_question_to_one_source_reads_that_one(library: Library) -> None:
    only = library.store.get_source("default", "倉庫.md").source_id
    answer = ask(library, "鍵はどこ？", source_ids=[only])
    assert [one.source for one in answer.receipt.core] == ["倉庫.md"]
    assert "開館は九時" not in str(prompts(library))


def test_two_questions_share_the_prefix_byte_for_byte(library: Library, open_library) -> None:  # type: ignore[no-untyped-def]
    first = ask(library, today=date(2026, 3, 1))
    history = [Message("user", QUESTION), Message("assistant", "開館は九時です。")]
    second = ask(library, "When does the library close?", history=history, today=date(2027, 1, 2))
    one, two = prompts(library)
    assert one[0] == two[0]
    library.reindex()
    library.close()
    again = open_library()
    third = ask(again, "倉庫の鍵は？")
    assert prompts(again)[0][0] == one[0]
    assert first.receipt.prefix_sha256 == second.receipt.prefix_sha256 == third.receipt.prefix_sha256
    assert first.receipt.prompt_sha256 != second.receipt.prompt_sha256


def test_a_new_source_comes_behind_the_others(library: Library) -> None:
    before = ask(library)
    add_text(library, "あ.md", "# あ\n\n新しい資料です。\n")
    after = ask(library)
    one, two = (asked[1].content for asked in prompts(library))
    assert len(two) > len(one) and two.startswith(one)
    assert before.receipt.prefix_sha256 != after.receipt.prefix_sha256


def test_chat_marks_in_a_pinned_source_open_no_turn(library: Library, cases: Path) -> None:
    library.add("default", [cases / "C065"])
    library.residence("default").pin(["C065/" + path.name for path in (cases / "C065").iterdir()])
    first, second = ask(library), ask(library, "倉庫の担当は？")
    assert first.receipt.core and first.receipt.prefix_sha256 == second.receipt.prefix_sha256
    for asked in prompts(library):
        assert not any("<|im_start|>" in message.content for message in asked)


def test_pinning_too_much_is_refused_with_the_numbers_and_pins_nothing(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    residence = library.residence("default")
    with pytest.raises(CoreTooLarge, match=r"2 resident sources have [\d,]+ tokens, but only 5,842 fit"):
        residence.pin(["図書室.md", "庭.md"])
    with pytest.raises(NotFound):
        residence.pin(["図書室.md", "ない.md"])
    assert not any(source.pinned for source in library.store.sources("default"))


def test_unpinning_takes_out_what_is_named_or_nothing(library: Library) -> None:
    residence = library.residence("default")
    assert [source.pinned for source in residence.pin(["図書室.md", "倉庫.md"])] == [True, True]
    with pytest.raises(NotFound):
        residence.unpin(["図書室.md", "ない.md"])
    (left,) = residence.unpin(["倉庫.md"])
    assert (left.name, left.pinned) == ("倉庫.md", False)
    assert [source.name for source in library.store.sources("default") if source.pinned] == ["図書室.md"]


def test_the_gauge_shows_what_is_used_and_what_would_still_fit(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    library.residence("default").pin(["図書室.md"])
    gauge = library.residence("default").gauge()
    assert (gauge.mode, gauge.coverage, gauge.window_tokens, gauge.room_tokens) == ("hybrid", "searched", 8192, 5842)
    assert gauge.free_tokens == 5842 - gauge.used_tokens > 0
    assert {share.source: share.resident for share in gauge.shares} == {
        "図書室.md": True,
        "倉庫.md": False,
        "菜園.md": False,
        "庭.md": False,
    }
    assert gauge.shares[0].token_count == gauge.used_tokens - gauge.rules_tokens
    assert gauge.shares[-1].token_count > 5842


def test_what_takes_long_to_read_is_searched_until_it_is_computed(library: Library) -> None:
    add_text(library, "庭.md", LONG[:3000])
    answer = ask(library)
    assert answer.receipt.mode == "rag"
    residence = library.residence("default")
    planned = residence.planned()
    assert (planned.mode, planned.coverage) == ("resident", "read_in_full")
    list(library.generator.generate_from(planned.prefix, [*planned.prefix, Message("user", "？")], 1))
    assert ask(library).receipt.mode == "resident"
    library.residence("default").pin([source.name for source in library.store.sources("default")])
    assert ask(library).receipt.mode == "resident"


def test_a_gauge_without_a_loaded_model_is_an_estimate(library: Library) -> None:
    library.generator = Uncounted([""])
    library.generator.loaded = False
    gauge = library.residence("default").gauge()
    assert not gauge.exact and gauge.mode == "resident" and gauge.used_tokens > 0


def test_a_source_without_text_cannot_be_pinned(library: Library) -> None:
    library.add_bytes("default", SourceFile("白紙.md", "白紙.md", b" \n"))
    with pytest.raises(Conflict, match="has no text"):
        library.residence("default").pin(["白紙.md"])
    assert not any(source.pinned for source in library.store.sources("default"))


def test_the_gauge_gives_each_source_its_own_tokens_and_the_rules_theirs(library: Library) -> None:
    gauge = library.residence("default").gauge()
    assert gauge.coverage == "read_in_full" and gauge.rules_tokens > 0
    own = sum(share.token_count for share in gauge.shares)
    assert abs(own + gauge.rules_tokens - gauge.used_tokens) <= len(gauge.shares)


def test_a_mode_that_would_refuse_every_question_is_not_taken(library: Library) -> None:
    add_text(library, "庭.md", LONG)
    with pytest.raises(CoreTooLarge):
        library.residence("default").check_mode("resident")
    library.residence("default").check_mode("hybrid")

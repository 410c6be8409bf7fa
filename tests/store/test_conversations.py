import time

import pytest

from fumikura.errors import NotFound, QuestionError
from fumikura.records import Notice

ANSWER = {"status": "answered", "text": "木曜です。[1]", "citations": [{"n": 1, "source_id": "abc", "quote": "木曜"}]}


@pytest.fixture
def conversation(store):
    return store.add_conversation("n").conversation_id


def test_a_conversation_is_named_after_its_first_question(store, conversation):
    assert store.conversation("n", conversation).title == ""
    store.add_turn("n", conversation, " 会議は\nいつ？ ")
    store.add_turn("n", conversation, "鍵はどこ？")
    row = store.conversation("n", conversation)
    assert (row.title, row.turn_count) == ("会議は いつ？", 2) and store.notebooks() == ["n"]


def test_a_long_question_gives_a_name_of_60_characters(store, conversation):
    store.add_turn("n", conversation, "会" * 61)
    assert store.conversation("n", conversation).title == "会" * 59 + "…"


def test_a_given_title_stays(store):
    given = store.add_conversation("n", "引っ越し").conversation_id
    store.add_turn("n", given, "会議はいつ？")
    assert store.conversation("n", given).title == "引っ越し"
    assert store.rename_conversation("n", given, " 転居 ").title == "転居"
    for title in (" ", "長" * 201):
        with pytest.raises(QuestionError):
            store.rename_conversation("n", given, title)
    assert store.conversation("n", given).title == "転居"


def test_conversations_are_listed_by_the_last_question(store):
    first, second = (store.add_conversation("n", title).conversation_id for title in ("一", "二"))
    assert [row.title for row in store.conversations("n")] == ["二", "一"]
    with store._database.write() as connection:
        connection.execute("UPDATE conversations SET updated_at = '2026-01-01T00:00:00+00:00'")
    store.add_turn("n", first, "会議はいつ？")
    assert [row.conversation_id for row in store.conversations("n")] == [first, second]
    assert store.conversations("m") == []


def test_a_turn_from_the_question_to_the_checked_answer(store, conversation):
    turn = store.add_turn("n", conversation, "それはいつ？\ud83d")
    assert (turn.state, turn.question, turn.completed, turn.text) == (
        "running",
        "それはいつ？\ufffd",
        turn.question,
        "",
    )
    assert turn.answer is None and turn.error is None and turn.ended_at is None
    store.update_turn(turn.turn_id, completed="会議はいつ？", text="木曜")
    done = store.update_turn(turn.turn_id, state="complete", answer=ANSWER, trace={"prompt": "問" * 30_000})
    assert (done.state, done.completed, done.text, done.answer) == ("complete", "会議はいつ？", "木曜", ANSWER)
    assert done.ended_at and store.turns("n", conversation) == [done]
    assert store.turn_trace("n", conversation, turn.turn_id) == {"prompt": "問" * 30_000}


def test_turns_come_in_the_order_of_their_questions(store, conversation):
    questions = [f"質問{number}" for number in range(12)]
    for question in questions:
        store.add_turn("n", conversation, question)
    assert [turn.question for turn in store.turns("n", conversation)] == questions


def test_a_failed_turn_keeps_its_error_in_both_languages(store, conversation):
    turn = store.add_turn("n", conversation, "会議は？")
    failed = store.update_turn(turn.turn_id, state="failed", error=Notice("止まりました", "it stopped"))
    assert failed.error == Notice("止まりました", "it stopped") and failed.ended_at
    assert store.turn_trace("n", conversation, turn.turn_id) == {}


def test_what_ran_when_the_server_ended_is_broken_off(store, conversation):
    running, done = (store.add_turn("n", conversation, "会議は？").turn_id for _ in range(2))
    store.update_turn(running, text="木曜の")
    store.update_turn(done, state="complete", answer=ANSWER)
    assert store.break_off_running_turns() == 1 and store.break_off_running_turns() == 0
    first, second = store.turns("n", conversation)
    assert (first.state, first.text, second.state) == ("broken_off", "木曜の", "complete") and first.ended_at


def test_turns_and_conversations_are_deleted(store, conversation):
    first, second = (store.add_turn("n", conversation, "会議は？").turn_id for _ in range(2))
    store.remove_turn("n", conversation, first)
    assert [turn.turn_id for turn in store.turns("n", conversation)] == [second]
    with pytest.raises(NotFound, match=first):
        store.remove_turn("n", conversation, first)
    store.remove_conversation("n", conversation)
    assert store.conversations("n") == []
    with pytest.raises(NotFound, match=second):
        store.update_turn(second, state="complete")


def test_another_notebook_has_no_part_in_it(store, conversation):
    turn = store.add_turn("n", conversation, "会議は？").turn_id
    store.add_conversation("m")
    for notebook in ("m", "nowhere"):
        for call in (
            lambda name: store.conversation(name, conversation),
            lambda name: store.rename_conversation(name, conversation, "名"),
            lambda name: store.remove_conversation(name, conversation),
            lambda name: store.add_turn(name, conversation, "鍵は？"),
            lambda name: store.turns(name, conversation),
            lambda name: store.turn_trace(name, conversation, turn),
            lambda name: store.remove_turn(name, conversation, turn),
        ):
            with pytest.raises(NotFound):
                call(notebook)
    with pytest.raises(NotFound, match="unknown"):
        store.turn_trace("n", conversation, "unknown")
    assert [row.state for row in store.turns("n", conversation)] == ["running"]


def test_who_quotes_a_source(store, conversation):
    quoting = store.add_turn("n", conversation, "会議は？").turn_id
    other = store.add_turn("n", conversation, "鍵は？").turn_id
    store.update_turn(quoting, state="complete", answer=ANSWER)
    elsewhere = {"text": "abc", "citations": [{"n": 1, "source_id": "def", "quote": "abc"}]}
    store.update_turn(other, state="complete", answer=elsewhere)
    store.add_turn("n", conversation, "abc")
    store.add_note("n", "会議", "木曜", ANSWER["citations"])
    store.add_note("n", "abc", "abc")
    assert store.mentions("n", "abc") == (1, 1) and store.mentions("n", "def") == (1, 0)
    assert store.mentions("n", "ghi") == store.mentions("m", "abc") == (0, 0)


def test_the_receipts_forget_the_text_of_a_deleted_source(store, make_source):
    gone = store.put_source("n", *make_source("a.md", "合言葉は山吹坂。"), "c").source_id
    kept = store.put_source("n", *make_source("b.md", "開館は九時。"), "c").source_id
    conversation = store.add_conversation("n").conversation_id

    def ask(*source_ids):
        hits = [{"source_id": source_id, "text": f"本文 {source_id}"} for source_id in source_ids]
        trace = {"search": {"hits": hits}, "generate": {"messages": [{"content": "資料"}], "raw_text": "答え"}}
        turn = store.add_turn("n", conversation, "合言葉は？").turn_id
        refusal = {"text": "資料にありません。"}
        return store.update_turn(turn, state="complete", text="山吹坂", answer=refusal, trace=trace).turn_id

    both, other = ask(gone, kept), ask(kept)
    store.remove_source("n", "a.md")
    trace = store.turn_trace("n", conversation, both)
    assert [hit["text"] for hit in trace["search"]["hits"]] == ["", f"本文 {kept}"]
    assert trace["generate"] == {"messages": [], "raw_text": ""}
    assert store.turn_trace("n", conversation, other)["generate"]["raw_text"] == "答え"
    assert [turn.text for turn in store.turns("n", conversation)] == ["資料にありません。", "山吹坂"]
    late = store.turn_trace("n", conversation, ask(gone, kept))  # removed while its answer was written
    assert [hit["text"] for hit in late["search"]["hits"]] == ["", f"本文 {kept}"]
    assert late["generate"] == {"messages": [], "raw_text": ""}
    store.hide_source("n", "b.md")
    store.purge_hidden(0)
    assert "本文" not in str([store.turn_trace("n", conversation, turn) for turn in (both, other)])


def test_an_answer_ends_in_its_turn_whatever_its_notebook_is_called_now(store, conversation):
    turn = store.add_turn("n", conversation, "会議は？").turn_id
    store.rename_notebook("n", "仕事")
    store.update_turn(turn, state="complete", answer=ANSWER)
    assert [(one.state, one.answer) for one in store.turns("仕事", conversation)] == [("complete", ANSWER)]


def test_receipts_of_other_notebooks_do_not_hold_up_a_deletion(store, make_source, conversation):
    for number in range(200):
        store.put_source("m", *make_source(f"{number}.md", "会議"), "c")
    source_id = store.put_source("n", *make_source("a.md", "会議"), "c").source_id
    trace = {"search": {"hits": [{"source_id": source_id, "text": "本" * 20_000_000}]}}
    store.update_turn(store.add_turn("n", conversation, "会議は？").turn_id, state="complete", trace=trace)
    begun = time.monotonic()
    store.remove_sources("m", [f"{number}.md" for number in range(200)])
    assert time.monotonic() - begun < 1.5  # all writers wait so long

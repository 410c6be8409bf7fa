import time

import pytest

from fumikura.errors import Conflict, NotFound

CITATIONS = [{"n": 1, "source_id": "abc", "source": "会議.md", "quote": "木曜の\ud83d"}]


def titles(store, query=""):
    return [note.title for note in store.notes("n", query)]


def test_a_note_comes_back_as_it_was_written(store):
    note = store.add_note("n", " 会議の\n日 ", "木曜です。[1]\n\n- 第二会議室", CITATIONS, "会議はいつ？")
    assert (note.title, note.text, note.question) == ("会議の 日", "木曜です。[1]\n\n- 第二会議室", "会議はいつ？")
    assert note.citations == [CITATIONS[0] | {"quote": "木曜の\ufffd"}] and note.source_id is None
    assert store.notes("n") == [note] == [store.note("n", note.note_id)] and store.notes("m") == []


def test_the_newest_note_is_first_and_stays_where_it_is(store):
    ids = [store.add_note("n", title, "").note_id for title in ("一", "二", "三")]
    assert titles(store) == ["三", "二", "一"]
    changed = store.update_note("n", ids[0], text="書き足し")
    assert (changed.title, changed.text) == ("一", "書き足し") and titles(store) == ["三", "二", "一"]
    assert store.update_note("n", ids[1], title="弐").title == "弐"


def test_a_note_written_on_since_it_was_read_is_not_overwritten(store):
    read = store.add_note("n", "会議", "木曜")
    changed = store.update_note("n", read.note_id, text="金曜", read_at=read.updated_at)
    with pytest.raises(Conflict, match="会議"):
        store.update_note("n", read.note_id, text="土曜", read_at=read.updated_at)
    assert store.note("n", read.note_id) == changed and changed.text == "金曜"
    assert store.update_note("n", read.note_id, text="金曜", read_at=read.updated_at).text == "金曜", "sent twice"
    changed = store.note("n", read.note_id)
    assert store.update_note("n", read.note_id, text="土曜", read_at=changed.updated_at).text == "土曜"


def test_every_spelling_finds_a_note(store):
    store.add_note("n", "ﾃﾞｰﾀﾍﾞｰｽ の打ち合せ", "参加費は３千円。")
    store.add_note("n", "買い物", "データ用の紙", question="何を買う？")
    assert titles(store, "データベース") == ["ﾃﾞｰﾀﾍﾞｰｽ の打ち合せ"]
    assert titles(store, "データ　3000円") == ["ﾃﾞｰﾀﾍﾞｰｽ の打ち合せ"]
    assert len(titles(store, "データ")) == 2 and titles(store, "何を") == ["買い物"]
    assert titles(store, "データ 犬") == [] and len(titles(store, " 　")) == 2
    for odd in ("%", "'", '"', "\0", "\ud83d", "x " * 5000):
        assert titles(store, odd) == []


def test_a_changed_note_is_found_by_its_new_words_only(store):
    note = store.add_note("n", "会議", "木曜")
    store.update_note("n", note.note_id, text="金曜")
    assert titles(store, "木曜") == [] and titles(store, "会議 金曜") == ["会議"]


def test_a_new_normaliser_reads_the_notes_again(store):
    store.add_note("n", "会議", "木曜")
    with store._database.write() as connection:
        connection.execute("UPDATE notes SET normalized = 'as an older version wrote it'")
    assert titles(store, "木曜") == []
    store.rebuild_keywords()
    assert titles(store, "木曜") == ["会議"]


def test_a_note_of_a_megabyte(store):
    text = "会議は木曜の十時から。\n" * 28_000
    begun = time.perf_counter()
    note = store.add_note("n", "長い", text)
    assert len(text.encode()) > 900_000 and store.note("n", note.note_id).text == text
    assert titles(store, "木曜 10時") == ["長い"] and time.perf_counter() - begun < 10


def test_a_note_that_became_a_source(store, make_source):
    note = store.add_note("n", "会議", "木曜")
    source_id = store.put_source("n", *make_source(f"note:{note.note_id}", "木曜"), "c").source_id
    store.put_source("m", *make_source("a.md", "木曜"), "c")
    became = store.set_note_source("n", note.note_id, source_id)
    assert became.source_id == source_id and became.updated_at == note.updated_at
    assert store.update_note("n", note.note_id, text="金曜").source_id == source_id
    for unknown in ("0123", store.sources("m")[0].source_id):
        with pytest.raises(NotFound):
            store.set_note_source("n", note.note_id, unknown)
    store.hide_source("n", source_id)
    assert store.note("n", note.note_id).source_id is None
    store.restore_source("n", source_id)
    assert store.note("n", note.note_id).source_id == source_id
    store.remove_source("n", source_id)
    assert store.note("n", note.note_id).source_id is None


def test_a_deleted_note_can_be_put_back(store):
    note = store.add_note("n", "会議", "木曜", CITATIONS, "いつ？")
    gone = store.remove_note("n", note.note_id)
    assert gone == note and store.notes("n") == []
    for call in (store.note, store.remove_note, store.update_note):
        with pytest.raises(NotFound, match=note.note_id):
            call("n", note.note_id)
    back = store.add_note("n", gone.title, gone.text, gone.citations, gone.question)
    assert (back.title, back.text, back.citations) == (note.title, note.text, note.citations)


def test_another_notebook_has_no_part_in_it(store):
    note = store.add_note("n", "会議", "木曜")
    store.add_note("m", "鍵", "棚")
    for call in (store.note, store.remove_note, store.update_note):
        with pytest.raises(NotFound):
            call("m", note.note_id)
    assert store.notes("n") == [note]
    store.remove_notebook("n")
    assert store.notes("n") == [] and len(store.notes("m")) == 1

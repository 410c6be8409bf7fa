"""A run asks every question once, writes each answer down at once, and goes on after any end."""

import json

import pytest

from fumikura.errors import BackendReplyInvalid, BackendUnavailable, Conflict, EvaluationError, SettingsError
from fumikura.evaluation import QuestionSetError, open_set
from fumikura.evaluation.changes import read_changes
from fumikura.evaluation.run_file import read_run
from fumikura.evaluation.run_lock import only_writer
from fumikura.evaluation.runner import RunOptions
from fumikura.evaluation.summary import summarise

DOWN = BackendUnavailable("サーバーが動いていません。", "the server is down")


def test_a_run_keeps_answers_scores_and_how_they_came_about(trial) -> None:
    run = trial.run()
    first, second, third = run.asked
    assert [one.points for one in run.asked] == [2, 2, 2]
    assert first.answer["text"].startswith("開館は九時です。[")
    assert first.answer["citations"][0]["source"] == "図書室.md"
    assert first.answer["receipt"]["model"] == "scripted"
    assert (first.ranks, first.in_prompt, first.retrieval["mrr"], first.support) == ([1], [True], 1, 1)
    assert "会議室は三階です" in "".join(passage["text"] for passage in second.passages)
    assert third.status == "not_in_sources"
    assert 0 < first.ttft_s <= first.total_s
    assert run.header.settings["search"]["top_k"] == 5
    assert run.header.machine["cores"] >= 1
    assert not (trial.folder / "data").exists()  # nothing was written where the person's notebooks are
    assert [path.name for path in trial.folder.iterdir() if path.suffix != ""] == ["run.jsonl"]


def test_the_summary_counts_what_happened(trial) -> None:
    trial.script["会議室"] = "会議室は二階です。[1]"
    trial.script["図書室の電話"] = "図書室の開館は九時です。[1]"
    summary = summarise(trial.run())
    assert summary.points.mean == pytest.approx(2 / 3)
    assert [(one.type, one.points.mean) for one in summary.by_type] == [("fact", 1), ("unknown", 0)]
    assert summary.faults == {"refused_wrongly": 1, "should_have_refused": 1}  # grounding took the wrong floor out
    assert (summary.refusals.precision, summary.refusals.recall, summary.refusals.bare) == (0, 0, 1)
    assert summary.retrieval["recall@5"] == summary.retrieval["in_prompt"] == 1


def test_what_fits_is_read_in_full_before_the_first_question(trial) -> None:
    run = trial.run()
    assert [one.answer["coverage"] for one in run.asked] == ["read_in_full"] * 3
    (core,) = run.cores
    assert core.token_count == run.asked[0].answer["receipt"]["core_tokens"]
    assert summarise(run).latency.core_s == core.seconds
    searched = trial.run("rag.jsonl", resident__mode="rag")
    assert (searched.cores, summarise(searched).latency.core_s) == ((), None)


def test_a_stopped_run_goes_on_without_asking_twice(trial) -> None:
    trial.script["会議室"] = DOWN
    with pytest.raises(EvaluationError, match="q2.*trial 1.*the server is down"):
        trial.run(options=RunOptions(trials=2))
    assert len(read_run(trial.folder / "run.jsonl").asked) == 1
    trial.script["会議室"] = "会議室は三階です。[1]"
    run = trial.run(options=RunOptions(trials=2))
    assert [(one.trial, one.id) for one in run.asked] == [(t, q) for t in (1, 2) for q in ("q1", "q2", "q3")]
    assert [trial.asked.count(key) for key in trial.script] == [2, 3, 2]  # the one that failed was asked again
    trial.run(options=RunOptions(trials=2))
    assert len(trial.asked) == 7


def test_a_torn_last_line_is_asked_again_and_leaves_no_trace(trial) -> None:
    path = trial.run().path
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    run = trial.run()
    assert [one.id for one in run.asked] == ["q1", "q2", "q3"]
    assert trial.asked == ["開館", "会議室", "図書室の電話", "図書室の電話"]
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def test_another_setting_or_another_source_does_not_go_on_in_the_same_file(trial) -> None:
    trial.run()
    with pytest.raises(EvaluationError, match=r"search\.top_k: 5 → 3"):
        trial.run(search__top_k="3")
    source = trial.questions.sources_folder / "図書室.md"
    source.write_text(source.read_text(encoding="utf-8") + "\n日曜は休みです。\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match="set_sha256"):
        trial.run()
    assert len(read_run(trial.folder / "run.jsonl").asked) == 3


def test_a_broken_line_in_the_middle_is_named(trial) -> None:
    path = trial.run().path
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], "{broken", *lines[2:]]) + "\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match="line 2"):
        read_run(path)


def test_a_question_without_an_answer_is_a_miss_and_the_run_goes_on(trial) -> None:
    trial.script["開館"] = BackendReplyInvalid("空の答え", "the model returned nothing")
    first, *others = trial.run().asked
    assert (first.points, first.fault, first.answer) == (0, "failed", None)
    assert "the model returned nothing" in first.error
    assert [one.points for one in others] == [2, 2]


def test_only_one_split_is_asked(trial) -> None:
    run = trial.run(options=RunOptions(split="held_out"))
    assert [one.id for one in run.asked] == ["q2"]
    assert run.header.question_count == 1


def test_evidence_that_is_not_there_stops_before_the_first_question(trial) -> None:
    source = trial.questions.sources_folder / "会議室.md"
    source.write_text("# 会議室\n\n会議室はありません。\n", encoding="utf-8")
    with pytest.raises(QuestionSetError, match="line 2 q2: the evidence '会議室は三階' is not in 会議室.md"):
        trial.run()
    assert trial.asked == []


def test_a_set_without_sources_names_the_folder(trial) -> None:
    for path in trial.questions.source_files():
        path.unlink()
    with pytest.raises(EvaluationError, match="no source in .*sources"):
        trial.run()


def test_a_persons_own_notebook_is_asked_and_not_changed(trial) -> None:
    library = trial.bench.open_library(trial.settings(), trial.folder / "data")
    library.add("仕事", [trial.questions.sources_folder])
    before = library.store.sources("仕事")
    questions = open_set(trial.questions.path)
    out = trial.folder / "own.jsonl"
    run = trial.bench.run_notebook(questions, trial.settings(), out, RunOptions(), "仕事")
    assert [one.points for one in run.asked] == [2, 2, 2]
    assert run.header.notebook == "仕事"
    assert library.store.sources("仕事") == before
    library.close()


@pytest.mark.parametrize("given", ["top_k=3", "search.top_k", "=3", "a.b.c=1", "chunk=3"])
def test_a_misshapen_change_is_refused(given) -> None:
    with pytest.raises(SettingsError, match=r"section\.key=value"):
        read_changes([given])


def test_a_change_that_cannot_be_is_named_as_it_was_given(trial) -> None:
    with pytest.raises(SettingsError, match=r"--settings search\.top_k") as raised:
        trial.settings(search__top_k="0")
    assert "FUMIKURA__" not in raised.value.ja + raised.value.en


def test_two_processes_do_not_write_one_run(trial) -> None:
    with only_writer(trial.folder / "run.jsonl"), pytest.raises(Conflict, match=r"another process writes .*run\.jsonl"):
        trial.run()
    assert len(trial.run().asked) == 3


def test_a_notebook_cut_otherwise_is_not_measured(trial) -> None:
    library = trial.bench.open_library(trial.settings(), trial.folder / "data")
    library.add("仕事", [trial.questions.sources_folder])
    library.close()
    changed = trial.settings(chunk__size="99")
    with pytest.raises(Conflict, match="fumikura reindex"):
        trial.bench.run_notebook(trial.questions, changed, trial.folder / "own.jsonl", RunOptions(), "仕事")
    assert trial.asked == []


def test_more_trials_are_added_to_a_finished_run(trial) -> None:
    trial.run()
    summary = summarise(trial.run(options=RunOptions(trials=3)))
    assert (summary.answer_count, summary.wanted_count, len(trial.asked)) == (9, 9, 9)


@pytest.mark.parametrize(
    "content", [b"important thoughts without a line end", b"one\ntwo", b'{"runs": 1}\nx', b"SQLite\0"]
)
def test_a_file_that_is_no_run_stays_as_it_is(trial, content: bytes) -> None:
    path = trial.folder / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(EvaluationError, match="line 1"):
        trial.run()
    assert path.read_bytes() == content

"""One setting at a time: a run a value, one index where it may be shared, a table and a plot beside them."""

import xml.etree.ElementTree as ET

import pytest

from fumikura.errors import BackendUnavailable, EvaluationError
from fumikura.evaluation.baselines import BASELINES
from fumikura.evaluation.runner import Bench, RunOptions
from fumikura.evaluation.servers import server_changes
from fumikura.evaluation.sweep import file_name, run_each, write_sweep
from fumikura.library import Library

DOWN = BackendUnavailable("動いていません。", "it is down")


class Counting(Library):
    """Counts the sources that were read."""

    added = 0

    def add(self, *arguments, **named):
        type(self).added += 1
        return super().add(*arguments, **named)


@pytest.fixture
def counted(trial) -> Bench:
    def open_library(settings, data) -> Library:
        made = trial.bench.open_library(settings, data)
        library = Counting(settings, data, {})
        library.embedder, library.generator = made.embedder, made.generator
        made.store.close()
        return library

    Counting.added = 0
    return Bench(trial.folder / "data", open_library)


def variants_of(trial, key: str, *values: str) -> dict:
    return {f"{key}={value}": trial.settings(**{key.replace(".", "__"): value}) for value in values}


def test_a_search_setting_shares_one_index(trial, counted) -> None:
    variants = variants_of(trial, "search.top_k", "1", "2", "3")
    sweep = run_each(counted, trial.questions, variants, trial.folder / "sweep", RunOptions())
    assert Counting.added == 2  # two sources, once
    assert [run.header.settings["search"]["top_k"] for run in sweep.runs.values()] == [1, 2, 3]
    table = write_sweep(sweep, "en")
    assert [row[0] for row in table.rows] == list(variants)
    assert table.rows[0][1] == "2.00 [2.00, 2.00]"
    assert table.rows[1][2:4] == ("0.00 [0.00, 0.00]", "1.000")
    names = {path.name for path in (trial.folder / "sweep").iterdir()}
    assert names == {"plot.svg", "table.md", *(f"{name}.jsonl" for name in variants)}
    assert ET.parse(trial.folder / "sweep" / "plot.svg").getroot().tag.endswith("svg")


def test_a_chunk_setting_gets_an_index_of_its_own(trial, counted) -> None:
    variants = variants_of(trial, "chunk.size", "100", "200")
    run_each(counted, trial.questions, variants, trial.folder / "sweep", RunOptions())
    assert Counting.added == 4


def test_a_sweep_goes_on_where_it_stopped(trial) -> None:
    variants = variants_of(trial, "search.top_k", "1", "2")
    trial.script["会議室"] = DOWN
    sweep = run_each(trial.bench, trial.questions, variants, trial.folder / "sweep", RunOptions())
    assert sweep.runs == {}
    assert "q2" in sweep.failures["search.top_k=1"].en
    trial.script["会議室"] = "会議室は三階です。[1]"
    sweep = run_each(trial.bench, trial.questions, variants, trial.folder / "sweep", RunOptions())
    assert len(sweep.runs) == 2
    assert trial.asked.count("開館") == 2


def test_values_make_file_names_and_no_two_the_same() -> None:
    assert file_name("search.top_k=3") == "search.top_k=3"
    names = ["p=a/b", "p=a b", "p=../c", *(f"p={'長い指示' * 40}{n}" for n in range(2))]
    made = {file_name(name) for name in names}
    assert len(made) == len(names)
    assert all("/" not in name and len(name.encode()) < 220 for name in made)


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_is_made_of_settings_that_exist(trial, name) -> None:
    chosen = trial.settings(**{key.replace(".", "__"): value for key, value in BASELINES[name].settings.items()})
    run = trial.bench.run_set(trial.questions, chosen, trial.folder / "b.jsonl", RunOptions())
    assert [one.points for one in run.asked] == [2, 2, 2]


def test_a_server_gets_the_questions_and_the_index_stays(trial, stub) -> None:
    changes = server_changes(trial.settings(), f"{stub.url}/v1", {})
    assert changes == {"llm.backend": "openai", "openai.url": f"{stub.url}/v1", "llm.model": "stub"}
    served = trial.settings(embedding__backend="openai", openai__url="http://127.0.0.1:9/v1")
    assert server_changes(served, f"{stub.url}/v1#m", {})["openai.embedding_url"] == "http://127.0.0.1:9/v1"


def test_an_unreadable_source_is_named(trial) -> None:
    (trial.questions.sources_folder / "z.md").write_bytes(b"")
    with pytest.raises(EvaluationError, match=r"z\.md"):
        trial.run()

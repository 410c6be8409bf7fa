"""The warm-up in the background: its order, its progress, how it gives way and how it fails."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence

import pytest

from fumikura.errors import BackendRefused, BackendUnavailable, FumikuraError, ModelMissing
from fumikura.generators import ScriptedGenerator, prefix_sha256
from fumikura.library import Library
from fumikura.protocols import PrefixProgress
from fumikura.records import Message, SourceFile, Usage
from fumikura.resident import Warmer, WarmState, warming

AT_ONCE_S = 5.0


class Reader(ScriptedGenerator):
    """Reads a prefix in steps, each when `steps` lets it; notes what it read and whether two ran at once."""

    keeps_prefixes = True

    def __init__(self) -> None:
        super().__init__(["開館は九時です。[1]"])
        self.steps = threading.Semaphore(0)
        self.begun: list[str] = []
        self.read: list[str] = []
        self.restored: list[str] = []
        self.kept: set[str] = set()
        self.saved: list[str] = []
        self.hashes: dict[str, str] = {}
        self.fails: list[FumikuraError] = []
        self.disk_full = False
        self.at_once = self.most_at_once = 0

    def warm(self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None = None) -> Usage:
        self.begun.append(prefix[1].content)
        if self.fails:
            raise self.fails.pop(0)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return self._read_in_steps(prefix, stop, progress)
        finally:
            self.at_once -= 1

    def _read_in_steps(
        self, prefix: Sequence[Message], stop: threading.Event, progress: PrefixProgress | None
    ) -> Usage:
        total = self.count_tokens(prefix)
        for step in range(1, 3):
            while not self.steps.acquire(timeout=0.02):
                if stop.is_set():
                    return Usage("stopped")
            if progress:
                progress(total * step // 2, total)
        self.read.append(prefix[1].content)
        return Usage("complete", 1000, 0, 1)

    def restore_prefix(self, prefix: Sequence[Message]) -> bool:
        found = prefix[1].content in self.kept
        self.restored += [prefix[1].content] * found
        return found

    def save_prefix(self, prefix: Sequence[Message]) -> bool:
        if self.disk_full:
            raise BackendRefused("ディスクに空きがありません。", "no space left on the disk")
        self.saved.append(prefix[1].content)
        self.hashes[prefix[1].content] = prefix_sha256(prefix)
        return True

    def forget_prefixes(self, keep: Collection[str] = ()) -> int:
        gone = [text for text in self.saved if self.hashes[text] not in keep]
        self.saved = [text for text in self.saved if text not in gone]
        return len(gone)


@pytest.fixture
def reader(library: Library, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(warming, "REST_S", 0.02)
    monkeypatch.setattr(warming, "RETRY_S", 0.02)
    library.generator = Reader()
    return library.generator


@pytest.fixture
def busy() -> threading.Event:
    return threading.Event()


@pytest.fixture
def warmer(library: Library, reader: Reader, busy: threading.Event) -> Iterator[Warmer]:
    made = Warmer(library.residence, busy.is_set)
    made.start()
    yield made
    made.stop()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + AT_ONCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def go_on(reader: Reader, steps: int = 2) -> None:
    for _ in range(steps):
        reader.steps.release()


def ready(warmer: Warmer, notebook: str = "default") -> WarmState:
    until(lambda: warmer.state(notebook).stage == "ready")
    return warmer.state(notebook)


def test_a_core_is_computed_with_progress_and_kept(library: Library, warmer: Warmer, reader: Reader) -> None:
    assert warmer.state("default") == WarmState("none")
    warmer.wake("default")
    until(lambda: warmer.state("default").stage == "computing")
    go_on(reader, 1)
    until(lambda: warmer.state("default").done_tokens > 0)
    half = warmer.state("default")
    assert 0 < half.done_tokens < half.total_tokens
    go_on(reader, 1)
    state = ready(warmer)
    assert state.done_tokens == state.total_tokens == library.residence("default").planned().token_count
    assert reader.saved == reader.read == [library.residence("default").planned().prefix[1].content]
    assert library.store.last_prefix_notebook() == "default"
    assert (library.store.prefill_pace(reader.name) or 0) > 0


def test_it_gives_way_to_a_question_and_goes_on(warmer: Warmer, reader: Reader, busy: threading.Event) -> None:
    warmer.wake("default")
    until(lambda: reader.begun)
    busy.set()
    warmer.give_way()
    until(lambda: reader.at_once == 0)
    time.sleep(0.1)
    assert len(reader.begun) == 1 and reader.read == []
    busy.clear()
    go_on(reader)
    assert ready(warmer).notice is None
    assert len(reader.begun) == 2 and len(reader.read) == 1


def test_it_waits_while_a_question_is_answered(warmer: Warmer, reader: Reader, busy: threading.Event) -> None:
    busy.set()
    warmer.wake("default")
    time.sleep(0.1)
    assert (reader.begun, warmer.state("default").stage) == ([], "waiting")
    busy.clear()
    go_on(reader)
    ready(warmer)


def test_stale_work_is_dropped_when_the_core_changes(library: Library, warmer: Warmer, reader: Reader) -> None:
    warmer.wake("default")
    until(lambda: reader.begun)
    library.add_bytes("default", SourceFile("倉庫.md", "倉庫.md", "# 倉庫\n\n鍵は竹の箱です。\n".encode()))
    warmer.wake("default")
    until(lambda: len(reader.begun) == 2)
    go_on(reader)
    ready(warmer)
    assert len(reader.read) == 1
    assert "竹の箱" in reader.read[0] and "松の棚" not in reader.read[0]


def test_a_source_deleted_while_it_is_read_is_not_kept(library: Library, warmer: Warmer, reader: Reader) -> None:
    warmer.wake("default")
    until(lambda: reader.begun)
    library.remove("default", ["倉庫.md"])
    warmer.wake("default")
    go_on(reader, 4)
    ready(warmer)
    until(lambda: len(reader.saved) == 1)
    assert "松の棚" not in reader.saved[0] and "開館は九時" in reader.saved[0]


def test_the_notebook_asked_for_last_comes_first_and_none_at_once(
    library: Library, warmer: Warmer, reader: Reader
) -> None:
    library.add_bytes("other", SourceFile("庭.md", "庭.md", "# 庭\n\n露草が咲きます。\n".encode()))
    warmer.wake("default")
    until(lambda: reader.begun)
    warmer.wake("other")
    until(lambda: len(reader.begun) == 2)
    assert "露草" in reader.begun[1]
    go_on(reader, 4)
    ready(warmer, "other")
    ready(warmer)
    assert ["露草" in text for text in reader.read] == [True, False]
    assert reader.most_at_once == 1


def test_a_kept_state_is_restored_instead_of_computed(library: Library, warmer: Warmer, reader: Reader) -> None:
    text = library.residence("default").planned().prefix[1].content
    reader.kept.add(text)
    warmer.wake("default")
    ready(warmer)
    assert (reader.restored, reader.read) == ([text], [])
    assert library.store.prefill_pace(reader.name) is None


def test_a_full_disk_is_said_and_answers_work(library: Library, warmer: Warmer, reader: Reader) -> None:
    reader.disk_full = True
    warmer.wake("default")
    go_on(reader)
    notice = ready(warmer).notice
    assert notice and "no space left" in notice.en
    assert library.notebook("default").ask("図書室の開館は？").status == "answered"


def test_a_missing_model_is_told_and_not_tried_again_until_the_next_change(warmer: Warmer, reader: Reader) -> None:
    reader.fails = [ModelMissing("モデルがありません。", "the model is missing: fumikura models fetch")]
    warmer.wake("default")
    until(lambda: warmer.state("default").stage == "failed")
    time.sleep(0.1)
    assert len(reader.begun) == 1
    notice = warmer.state("default").notice
    assert notice and notice.en == "the model is missing: fumikura models fetch"
    warmer.wake("default")
    go_on(reader)
    ready(warmer)


@pytest.mark.parametrize(
    ("failure_count", "stage", "begun_count"), [(2, "ready", 3), (3, "failed", 3), (9, "failed", 3)]
)
def test_a_server_that_is_away_is_tried_three_times(
    warmer: Warmer, reader: Reader, failure_count: int, stage: str, begun_count: int
) -> None:
    reader.fails = [BackendUnavailable("届きません。", "not reached")] * failure_count
    go_on(reader)
    warmer.wake("default")
    until(lambda: len(reader.begun) == begun_count)
    until(lambda: warmer.state("default").stage == stage)
    time.sleep(0.1)
    assert len(reader.begun) == begun_count


def test_nothing_to_read_is_no_failure(warmer: Warmer, reader: Reader) -> None:
    warmer.wake("ない")
    until(lambda: warmer.state("ない").stage == "none")
    assert reader.begun == []


def test_only_another_version_wakes_it(warmer: Warmer, reader: Reader) -> None:
    go_on(reader, 8)
    warmer.follow("default", "one")
    ready(warmer)
    warmer.follow("default", "one")
    assert warmer.state("default").stage == "ready"
    warmer.follow("default", "two")
    until(lambda: len(reader.begun) == 2)


def test_stop_ends_a_computation_under_way(library: Library, reader: Reader) -> None:
    warmer = Warmer(library.residence, lambda: False)
    warmer.stop()
    warmer = Warmer(library.residence, lambda: False)
    warmer.start()
    warmer.wake("default")
    until(lambda: reader.begun)
    begun = time.monotonic()
    warmer.stop()
    assert time.monotonic() - begun < 2
    assert (reader.at_once, reader.read) == (0, [])
    warmer.wake("default")
    time.sleep(0.1)
    assert len(reader.begun) == 1, "nothing begins after the end"

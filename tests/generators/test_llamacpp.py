"""The life of the child process, with a stand-in for the process that holds the model."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fumikura.errors import BackendTimeout, BackendUnavailable, ModelMissing
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions
from fumikura.generators.llamacpp_process import LOG_BYTES
from fumikura.records import Message, Usage

FAKE_CHILD = str(Path(__file__).with_name("fake_child.py"))
QUESTION = [Message("user", "開館は何時ですか？")]
COUNT = [Message("user", "百まで数えて。")]


def alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    return False


def waits_until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not condition():
        time.sleep(0.02)
    return condition()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., LlamaCppGenerator]]:
    made: list[LlamaCppGenerator] = []

    def generator(mode: str = "serve", **options: object) -> LlamaCppGenerator:
        given = {"context_tokens": 2048, "log_path": tmp_path / "logs" / "llamacpp.log", **options}
        command = (sys.executable, FAKE_CHILD, mode)
        made.append(
            LlamaCppGenerator("tiny", lambda: tmp_path / "tiny.gguf", LlamaCppOptions(child_command=command, **given))
        )
        return made[-1]

    yield generator
    for each in made:
        each.close()


def test_nothing_runs_until_it_is_needed(make) -> None:
    generator = make()
    stream = generator.generate(QUESTION, 10)
    assert generator.pid is None and not generator.loaded
    *pieces, usage = stream
    assert "".join(pieces) == "開館は九時です。[1]"
    assert usage.finish == "complete"
    assert generator.pid is not None and generator.loaded


def test_one_child_serves_all_calls(make) -> None:
    generator = make()
    assert generator.context_tokens() == 2048
    first = generator.pid
    assert generator.count_tokens(QUESTION) == len("[user]開館は何時ですか？[assistant]")
    threads = [threading.Thread(target=lambda: list(generator.generate(QUESTION, 5))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert generator.pid == first


def test_template_that_opens_thinking_is_asked_for(make) -> None:
    generator = make("think")
    stream = generator.generate(COUNT, 500)
    waiting = threading.Timer(0.5, stream.close)
    waiting.start()
    assert list(stream) == [Usage(finish="stopped")], "all of it may still be thinking"


def test_missing_model_is_told_when_asked(tmp_path: Path) -> None:
    def missing() -> Path:
        raise ModelMissing(ja="ありません", en="run fumikura models fetch tiny")

    with pytest.raises(ModelMissing):
        list(LlamaCppGenerator("tiny", missing).generate(QUESTION, 5))


@pytest.mark.parametrize(
    ("mode", "message"),
    [("refuse", r"tiny\.gguf \(exit code 1\): not a model"), ("die", r"tiny\.gguf \(exit code 7\): loading .*Log: ")],
)
def test_child_that_cannot_start_says_why(make, mode: str, message: str) -> None:
    generator = make(mode)
    with pytest.raises(BackendUnavailable, match=message):
        generator.context_tokens()
    assert generator.pid is None


def test_child_that_never_gets_ready_is_ended(make) -> None:
    with pytest.raises(BackendTimeout, match=r"within 0\.5 s"):
        make("hang", start_timeout_s=0.5).context_tokens()


def test_child_whose_program_is_missing_says_so(tmp_path: Path) -> None:
    options = LlamaCppOptions(child_command=(str(tmp_path / "python9"), "-m", "child"))
    with pytest.raises(BackendUnavailable, match=r"python9 \(No such file or directory\): check") as caught:
        LlamaCppGenerator("tiny", lambda: tmp_path / "tiny.gguf", options).context_tokens()
    assert "始められません" in caught.value.ja


@pytest.mark.parametrize("full", [False, True], ids=["folder that cannot be made", "full disk"])
def test_log_that_cannot_be_written_does_not_stop_the_model(make, tmp_path: Path, full: bool) -> None:
    (tmp_path / "file").touch()
    log = Path("/dev/full") if full else tmp_path / "file" / "llamacpp.log"
    generator = make("chatty", log_path=log, start_timeout_s=20)
    assert "".join(piece for piece in generator.generate(QUESTION, 10) if isinstance(piece, str))


def test_crash_in_mid_answer_is_named_and_the_next_question_answered(make) -> None:
    generator = make()
    list(generator.generate(QUESTION, 10))
    stream = generator.generate(COUNT, 500)
    received = [next(stream)]
    os.kill(generator.pid, signal.SIGKILL)
    received += stream
    assert received[0] == "一、"
    assert received[-1].finish == "broken_off"
    error = received[-1].error
    assert error and "SIGKILL" in error.ja and "メモリ" in error.ja
    assert "lack of memory" in error.en
    assert [*generator.generate(QUESTION, 10)][:2] == ["開館は", "九時です。[1]"]


def test_crash_while_counting_is_named(make) -> None:
    generator = make()
    generator.context_tokens()
    running = generator.hold()
    os.kill(generator.pid, signal.SIGSEGV)
    assert waits_until(lambda: not running.process.running())
    error = running.process.crash()
    assert error is not None and "signal SIGSEGV" in error.en
    generator.release()
    assert generator.count_tokens(QUESTION) > 0, "a new child answers"


def test_leaving_closes_the_answer_and_allows_unloading(make) -> None:
    generator = make(idle_unload_s=0.3)
    list(generator.generate(QUESTION, 10))
    stream = generator.generate(COUNT, 500)
    next(stream)
    time.sleep(0.5)
    assert generator.pid is not None, "in use, so not idle"
    stream.close()
    stream.close()
    assert list(stream) == []
    assert waits_until(lambda: generator.pid is None)
    assert generator.count_tokens(QUESTION) > 0


def test_closing_ends_the_child(make) -> None:
    generator = make(idle_unload_s=0)
    generator.context_tokens()
    pid = generator.pid
    generator.close()
    assert not alive(pid)


def test_log_is_bounded(make, tmp_path: Path) -> None:
    make("chatty").context_tokens()
    log = tmp_path / "logs" / "llamacpp.log"
    assert waits_until(lambda: log.exists() and log.stat().st_size > 0)
    assert log.stat().st_size <= LOG_BYTES


PARENT = """
import sys, time
from pathlib import Path
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions
options = LlamaCppOptions(child_command=(sys.executable, sys.argv[1], "serve"))
generator = LlamaCppGenerator("tiny", lambda: Path("tiny.gguf"), options)
generator.context_tokens()
print(generator.pid, flush=True)
time.sleep(60)
"""


def test_child_ends_with_a_killed_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, FAKE_CHILD], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    assert waits_until(lambda: not alive(child))


def test_stream_left_without_closing_is_released(make) -> None:
    generator = make(idle_unload_s=0.2)
    with closing(generator):
        next(generator.generate(QUESTION, 5))
        assert waits_until(lambda: generator.pid is None)


def test_leaving_while_the_model_loads(make) -> None:
    generator = make("slow", idle_unload_s=0.2)
    stream = generator.generate(COUNT, 500)
    threading.Timer(0.2, stream.close).start()
    assert list(stream) == [Usage(finish="stopped")]
    assert waits_until(lambda: generator.pid is None), "nothing holds the child any more"

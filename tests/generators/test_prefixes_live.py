"""Prefixes with the real model: what only llama.cpp itself can show."""

import threading
import time
from pathlib import Path

import pytest

from fumikura.generators import LlamaCppGenerator, LlamaCppOptions
from fumikura.records import Message, Usage

pytestmark = pytest.mark.live

NOTES = "資料だけで答える。\n" + "\n".join(f"{n}号室は{n}階にあり、定員は{n + 3}人、鍵は{n}番。" for n in range(1, 16))
PREFIX = [Message("system", NOTES)]
QUESTION = [*PREFIX, Message("user", "3号室の定員は何人ですか？")]


def make(model_path: Path, folder: Path, reuse_chunk_tokens: int = 0) -> LlamaCppGenerator:
    options = LlamaCppOptions(
        context_tokens=1024, prefix_folder=folder / "prefixes", reuse_chunk_tokens=reuse_chunk_tokens
    )
    return LlamaCppGenerator("default", lambda: model_path, options)


def usage_of(stream) -> Usage:
    *_, usage = stream
    return usage


def test_prefix_is_computed_once_and_survives_the_process(model_path: Path, tmp_path: Path) -> None:
    generator = make(model_path, tmp_path)
    seen: list[tuple[int, int]] = []
    ready = generator.warm(PREFIX, threading.Event(), lambda done, total: seen.append((done, total)))
    assert ready.finish == "complete" and ready.prompt_tokens
    assert len(seen) > 2 and seen[-1] == (ready.prompt_tokens, ready.prompt_tokens)
    assert generator.save_prefix(PREFIX)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "prefixes").iterdir()} == {0o600}
    generator.close()

    again = make(model_path, tmp_path)
    usage = usage_of(again.generate_from(PREFIX, QUESTION, 1))
    assert usage.cached_tokens is not None and usage.cached_tokens >= ready.prompt_tokens - 1
    usage_of(again.generate([Message("user", "やあ")], 1))
    usage = usage_of(again.generate_from(PREFIX, QUESTION, 1))
    assert usage.cached_tokens is not None and usage.cached_tokens >= ready.prompt_tokens - 1
    again.close()


def test_question_ends_a_warm_up(model_path: Path, tmp_path: Path) -> None:
    generator = make(model_path, tmp_path)
    generator.context_tokens()
    ended: list[Usage] = []
    begun = threading.Event()
    warming = threading.Thread(
        target=lambda: ended.append(generator.warm(PREFIX, threading.Event(), lambda done, total: begun.set()))
    )
    warming.start()
    assert begun.wait(10)
    asked = time.monotonic()
    usage_of(generator.generate([Message("user", "やあ")], 1))
    waited = time.monotonic() - asked
    warming.join()
    assert ended[0].finish == "stopped"
    assert waited < 10, "one batch and the question's own tokens"
    generator.close()


def passages(numbers: range) -> str:
    return "\n\n".join(
        f"[{n}] {n}号室\n{n}号室の定員は{n + 3}人、使用料は一時間{n}百円、鍵は窓口で渡す。" for n in numbers
    )


def test_selected_passages_of_a_library_are_shifted_not_computed(model_path: Path, tmp_path: Path) -> None:
    generator = make(model_path, tmp_path, reuse_chunk_tokens=16)
    rules = Message("system", "資料だけで短く答える。")
    library = [rules, Message("user", passages(range(1, 7)))]
    assert generator.save_prefix(library)
    for chosen in (range(2, 7, 2), range(1, 7, 3)):
        prompt = [rules, Message("user", f"{passages(chosen)}\n\n質問: {chosen[1]}号室の定員は何人？")]
        *pieces, usage = generator.generate_from(library, prompt, 12)
        assert isinstance(usage, Usage)
        assert usage.cached_tokens is not None and usage.prompt_tokens is not None
        assert usage.prompt_tokens - usage.cached_tokens < 30, "the question and the template's end"
        assert str(chosen[1] + 3) in "".join(str(piece) for piece in pieces)
    generator.close()

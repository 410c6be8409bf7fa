"""A resident core with the embedded model: time to first token cold, warm, and after a restart; tokens reused."""

import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from bench.report import Figure, at_least, at_most
from fumikura.generators import LlamaCppGenerator, LlamaCppOptions
from fumikura.models import ModelStore
from fumikura.protocols import Pieces
from fumikura.records import Message, Usage

CORE_TOKENS = 4000
QUESTION_COUNT = 50
OTHER_SHARE = 4  # the second notebook's core is a quarter of the first one
ROOM_TOKENS = 1024  # for the question, the answer, and a core that is a little longer than wanted
RULES = "番号付きの資料に書かれていることだけで、短く答える。資料にないときは「資料にありません。」と答える。"
QUESTIONS = ("2号室の定員は何人ですか？", "3号室の鍵は何番ですか？", "5号室の使用料はいくらですか？")


def run(models: Path | None, core_tokens: int = CORE_TOKENS) -> list[Figure]:
    """Measure one core; two more belong to the interleaved questions."""
    store = ModelStore(models or Path.home() / ".cache" / "fumikura" / "models")
    model = store.fetch(store.default_name)
    with tempfile.TemporaryDirectory() as folder:
        options = LlamaCppOptions(context_tokens=core_tokens + ROOM_TOKENS, prefix_folder=Path(folder))
        generator = LlamaCppGenerator(store.default_name, lambda: model, options)
        try:
            prefix = core(generator, core_tokens)
            figures, cold_s = _first_run(generator, prefix)
        finally:
            generator.close()
        again = LlamaCppGenerator(store.default_name, lambda: model, options)
        try:
            return figures + _after_restart(again, prefix, cold_s)
        finally:
            again.close()


def core(generator: LlamaCppGenerator, token_count: int) -> list[Message]:
    """Return a system message of about `token_count` tokens, by the model's own tokenizer."""
    lines = [
        f"{n}号室は{n % 7 + 1}階にあり、定員は{n + 3}名、使用料は一時間{n * 50}円、鍵は{n}番。" for n in range(1, 400)
    ]
    low, high = 1, len(lines)
    while low < high:
        middle = (low + high) // 2
        enough = generator.count_tokens([_core_message(lines[:middle])]) >= token_count
        low, high = (low, middle) if enough else (middle + 1, high)
    return [_core_message(lines[:low])]


def _core_message(lines: Sequence[str]) -> Message:
    return Message("system", "\n\n".join((RULES, *lines)))


def _first_run(generator: LlamaCppGenerator, prefix: list[Message]) -> tuple[list[Figure], float]:
    begun = time.perf_counter()
    ready = generator.warm(prefix, threading.Event())
    warm_up_s = time.perf_counter() - begun
    begun = time.perf_counter()
    saved = generator.save_prefix(prefix)
    save_s = time.perf_counter() - begun
    # Cold is the same question with nothing in the slot: the warm-up's time and the question's own.
    prompt = [*prefix, Message("user", QUESTIONS[0])]
    counted = generator.count_tokens(prompt)
    warm_s, usage = first_token(generator.generate_from(prefix, prompt, 1))
    reused = _reused(generator, prefix, ready)
    cold_s = warm_up_s + warm_s
    reported = usage.prompt_tokens or 0
    return [
        Figure("core", ready.prompt_tokens or 0, "tokens"),
        Figure("warm-up", warm_up_s, "s"),
        Figure("saving the state", save_s if saved else float("nan"), "s"),
        Figure("cold: time to first token", cold_s, "s"),
        Figure("warm: time to first token", warm_s, "s"),
        at_most("warm, share of cold", warm_s / cold_s, "", 1 / 20),
        at_least("core reused, least of 50 questions to two notebooks in turn", reused, "", 0.98),
        at_most("counted tokens against reported, difference", abs(counted / reported - 1), "", 0.02),
    ], cold_s


def _reused(generator: LlamaCppGenerator, prefix: list[Message], ready: Usage) -> float:
    """Return the least share of either core that was reused, over questions to two notebooks in turn."""
    other = [Message("system", prefix[0].content[: len(prefix[0].content) // OTHER_SHARE])]
    other_ready = generator.warm(other, threading.Event())
    generator.save_prefix(other)
    cores = ((prefix, ready.prompt_tokens or 1), (other, other_ready.prompt_tokens or 1))
    shares = []
    for number in range(QUESTION_COUNT):
        core, core_tokens = cores[number % 2]
        asked = Message("user", f"{number + 1}. {QUESTIONS[number % len(QUESTIONS)]}")
        _, usage = first_token(generator.generate_from(core, [*core, asked], 1))
        shares.append((usage.cached_tokens or 0) / core_tokens)
    return min(shares)


def _after_restart(generator: LlamaCppGenerator, prefix: list[Message], cold_s: float) -> list[Figure]:
    begun = time.perf_counter()
    generator.context_tokens()
    load_s = time.perf_counter() - begun
    restored_s, usage = first_token(generator.generate_from(prefix, [*prefix, Message("user", QUESTIONS[1])], 1))
    return [
        Figure("after a restart: loading the model", load_s, "s"),
        Figure("after a restart: time to first token, restore included", restored_s, "s"),
        Figure("after a restart: tokens reused", usage.cached_tokens or 0, "tokens"),
        at_most("after a restart, share of cold", restored_s / cold_s, "", 1 / 10),
    ]


def first_token(answer: Pieces) -> tuple[float, Usage]:
    """Return the seconds to the first piece (to the end where the answer is empty), and the usage."""
    begun = time.perf_counter()
    first_s = 0.0
    for piece in answer:
        first_s = first_s or time.perf_counter() - begun
        if isinstance(piece, Usage):
            return first_s, piece
    raise RuntimeError("the answer ended without a usage")

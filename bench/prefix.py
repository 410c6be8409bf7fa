"""Time to first token of a first question and of a follow-up on the same passages: the prefix is computed once."""

import tempfile
import time
from pathlib import Path

from bench.report import Figure, at_most
from fumikura.library import Library, Places
from fumikura.records import Answer

NOTE = """# 潮見分館の使い方

開館は九時、閉館は十七時です。休館日は毎週水曜です。貸し出しは一人十冊まで、期間は二週間です。
予約は窓口と電話で受け付けます。電話は四番の内線です。返却は入口の青い箱でもできます。

# 会議室

会議室は二階に三つあります。一号室は定員十二名、二号室は定員二十名、三号室は定員六名です。
使用料は一時間三百円で、鍵は一階の受付で受け取ります。飲み物は持ち込めますが食事はできません。
"""
QUESTIONS = ("潮見分館の会議室の使用料はいくらですか？", "潮見分館の会議室の鍵はどこで受け取りますか？")


def run(models: Path | None) -> list[Figure]:
    """Ask two questions of one note with the embedded model."""
    with tempfile.TemporaryDirectory() as data:
        folder = Path(data) / "notes"
        folder.mkdir()
        (folder / "分館.md").write_text(NOTE, encoding="utf-8")
        kept = Path.home() / ".cache" / "fumikura" / "models"
        library = Library.open(Places(None, Path(data)), environment={"FUMIKURA__PATHS__MODELS": str(models or kept)})
        library.fetch_model(None)
        library.add("bench", [folder])
        begun = time.perf_counter()
        library.generator.context_tokens()
        load_s = time.perf_counter() - begun
        first, second = (library.notebook("bench").ask(question) for question in QUESTIONS)
        library.close()
    return _figures(load_s, first, second)


def _figures(load_s: float, first: Answer, second: Answer) -> list[Figure]:
    one, two = first.receipt, second.receipt
    return [
        Figure("loading the model", load_s, "s"),
        Figure("first question: prompt", one.prompt_tokens or 0, "tokens"),
        Figure("first question: time to first token", one.ttft_s, "s"),
        Figure("first question with nothing loaded", load_s + one.ttft_s, "s"),
        Figure("follow-up: prompt", two.prompt_tokens or 0, "tokens"),
        Figure("follow-up: tokens reused", two.cached_tokens or 0, "tokens"),
        at_most("follow-up: time to first token, share of the first", two.ttft_s / one.ttft_s, "", 1 / 3),
    ]

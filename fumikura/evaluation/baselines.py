"""Ways to build such a notebook that ours is measured against, as settings over those that hold here.

What settings cannot say stays ours in all of them and makes them better than they were: citations are checked, wrong
ones leave the answer, a question whose words no source holds is refused without the model, and room left in
`search.context_tokens` widens passages to their neighbours. `bench/` measures the retrieval of the first without that.
The embedder and the model are those that are set, so that the way alone is compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fumikura.errors import SettingsError

_ASSISTANT = (
    "資料だけをもとに、日本語で答えるアシスタントです。資料に書かれていないことには「資料にありません。」と答えます。"
    "根拠にした箇所は、書かれているとおりに引きます。"
)


@dataclass(frozen=True)
class Baseline:
    """Settings by key as on the command line; `pin_all` keeps every source in the prompt."""

    settings: Mapping[str, str]
    pin_all: bool = False


BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        # The mini notebook: windows of 500 that share 100, vectors alone, the five nearest, its kind of prompt.
        "seed1": Baseline(
            {
                "resident.mode": "rag",
                "chunk.method": "fixed",
                "chunk.size": "500",
                "chunk.overlap": "100",
                "search.lexical_weight": "0",
                "search.top_k": "5",
                "search.context_tokens": "2500",
                "llm.context_tokens": "8192",
                "llm.system_prompt": _ASSISTANT,
            }
        ),
        # RAG taken apart: chunks cut where the meaning changes, 256 characters at most, the three nearest.
        "seed2": Baseline(
            {
                "resident.mode": "rag",
                "chunk.method": "semantic",
                "chunk.size": "256",
                "chunk.overlap": "0",
                "search.lexical_weight": "0",
                "search.top_k": "3",
                "llm.temperature": "0",
            }
        ),
        # The whole text in every prompt (cache-augmented generation).
        "whole": Baseline({"resident.mode": "resident", "llm.context_tokens": "32768"}, pin_all=True),
    }
)


def baseline(name: str) -> Baseline:
    """Return the baseline of this name. Raises SettingsError naming those that there are."""
    if name in BASELINES:
        return BASELINES[name]
    known = ", ".join(BASELINES)
    raise SettingsError(f"基準「{name}」はありません。あるのは: {known}", f"no baseline '{name}'; there are: {known}")

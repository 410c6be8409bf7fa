"""Why an answer lost points: the first stage at which it went wrong.

| label | when |
|---|---|
| `failed` | there is no answer: the question did not fit, or the model returned nothing |
| `not_found` | a piece of evidence is neither among the hits nor in the prompt |
| `not_in_prompt` | all evidence is among the hits, but not all of it reached the model |
| `refused_wrongly` | the evidence was there, and the answer says that it is not |
| `invented` | an answer, and no quote supports any of its cited sentences |
| `misread` | the evidence was in the prompt, the answer quotes its passages, and is wrong or incomplete |
| `should_have_refused` | no source holds the answer, and the answer quotes something near |
"""

import re
from collections.abc import Sequence

from fumikura.evaluation.cases import Case
from fumikura.grounding import content_words
from fumikura.japanese import normalize, sentences
from fumikura.records import Answer, Citation

FAULTS = (
    "failed",
    "not_found",
    "not_in_prompt",
    "refused_wrongly",
    "invented",
    "misread",
    "should_have_refused",
)
_MARK = re.compile(r"\[(\d+)\]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SUPPORTED_SHARE = 0.5  # of a sentence's content words, in the quotes that it cites


def fault_of(
    case: Case, answer: Answer, support: float | None, ranks: Sequence[int | None], in_prompt: Sequence[bool]
) -> str:
    """Return the label of an answer that lost points. A question that the model was never asked had no prompt."""
    if not case.answerable:
        return "should_have_refused" if support else "invented"
    if not all(rank or given for rank, given in zip(ranks, in_prompt, strict=True)):
        return "not_found"
    asked_model = bool(answer.receipt.prompt_sha256)
    if asked_model and not all(in_prompt):
        return "not_in_prompt"
    if answer.status == "not_in_sources":
        return "refused_wrongly"
    return "misread" if support else "invented"


def quote_support(answer: Answer) -> float | None:
    """Return the share of the cited sentences whose quotes hold their words and all their numbers; None: none cited.

    Counted anew, by a simpler rule than grounding's own: it checks what grounding let through. Of sentences without
    Japanese only the numbers are looked up.
    """
    quotes = {citation.n: citation for citation in answer.citations}
    judged = [
        _is_supported(sentence, [quotes[n] for n in numbers if n in quotes])
        for sentence, numbers in _cited_sentences(answer.text)
    ]
    return sum(judged) / len(judged) if judged else None


def _cited_sentences(text: str) -> list[tuple[str, list[int]]]:
    spans = (text[start:end] for start, end in sentences(text))
    cited = ((_MARK.sub("", span), [int(n) for n in _MARK.findall(span)]) for span in spans)
    return [(sentence, numbers) for sentence, numbers in cited if numbers]


def _is_supported(sentence: str, quotes: Sequence[Citation]) -> bool:
    held = normalize(" ".join(f"{quote.source} {quote.heading} {quote.quote}" for quote in quotes)).text
    held_words = set(content_words(held))
    numbers = set(_NUMBER.findall(normalize(sentence).text))
    words = content_words(sentence)
    shared = sum(word in held_words for word in words)
    return numbers <= set(_NUMBER.findall(held)) and shared >= _SUPPORTED_SHARE * len(words)

"""From the model's text and the passages that it was really given to what a reader may be shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Literal

from fumikura.errors import BackendReplyInvalid
from fumikura.grounding.cleaning import outside_code, strip_images, strip_thinking
from fumikura.grounding.expected import offers_expected
from fumikura.grounding.marks import mute_unknown
from fumikura.grounding.outline import Line, read_outline
from fumikura.grounding.refusal import REFUSAL, REFUSAL_EN
from fumikura.grounding.spelling import as_written
from fumikura.grounding.verdicts import SentenceJudge, Verdict, is_general
from fumikura.records import AnswerStatus, Citation, Grounded, Passage

Language = Literal["ja", "en"]


@dataclass(frozen=True, slots=True)
class _Judged:
    line: Line
    verdicts: tuple[Verdict, ...]

    def has(self, *kinds: str) -> bool:
        return any(verdict.kind in kinds for verdict in self.verdicts)


def ground(text: str, passages: Sequence[Passage], *, question: str = "", language: Language = "ja") -> Grounded:
    """Return the sentences that a given passage supports, each with `[n]` behind it, and their citations.

    Names are spelled as the passage spells them.

    `[n]` outside of code is always one of the citations, and `n` the passage's number in the prompt. What no passage
    supports is left out and listed; so is all of an answer without a thing of the kind that was asked for (`expected`).
    Raises BackendReplyInvalid when the model returned nothing to read.
    """
    answer = strip_thinking(strip_images(text)).strip()
    if not answer:
        raise BackendReplyInvalid(
            ja="モデルが何も返しませんでした。もう一度質問してください。",
            en="the model returned nothing: ask again",
        )
    judged = _judge(answer, passages, question)
    verdicts = [verdict for one in judged for verdict in one.verdicts]
    unsupported = tuple(verdict.text for verdict in verdicts if verdict.kind == "unsupported")
    kept = _kept(judged)
    if not kept:
        return refused(unsupported, language)
    citations = _distinct(verdicts)
    below_headings = _kept(one for one in judged if one.line.kind != "heading")  # a heading names what is asked about
    if not offers_expected(question, below_headings or kept, [citation.quote for citation in citations]):
        return refused((*unsupported, *kept), language)
    status: AnswerStatus = "partly" if any(one.has("refusal", "mixed") for one in judged) else "answered"
    known = {citation.n for citation in citations}
    texts = [passage.text for passage in passages if passage.n in known]
    shown = outside_code(_join(judged), lambda part: as_written(mute_unknown(part, known), texts))
    return Grounded(status, shown, citations, unsupported)


def refused(unsupported: tuple[str, ...] = (), language: Language = "ja") -> Grounded:
    """Return the one refusal: always the same words, an English sentence after it in English."""
    text = f"{REFUSAL} {REFUSAL_EN}" if language == "en" else REFUSAL
    return Grounded("not_in_sources", text, (), unsupported)


def _judge(answer: str, passages: Sequence[Passage], question: str) -> list[_Judged]:
    judge = SentenceJudge(passages, question)
    lines = read_outline(answer, [f"{passage.lead}\n{passage.text}" for passage in passages])
    judged = [
        _Judged(
            line,
            tuple(
                judge.judge(sentence, is_frame=line.kind in ("heading", "table_head")) for sentence in line.sentences
            ),
        )
        for line in lines
    ]
    if any(one.has("refusal", "mixed") for one in judged):
        return [_without_general_knowledge(one) for one in judged]
    if len(lines) == 1 and all(verdict.kind == "frame" for verdict in judged[0].verdicts):
        return [_Judged(lines[0], tuple(judge.judge_short(sentence) for sentence in lines[0].sentences))]
    return judged


def _kept(judged: Iterable[_Judged]) -> list[str]:
    """Return the supported sentences, without marks."""
    return [
        sentence.text
        for one in judged
        for sentence, verdict in zip(one.line.sentences, one.verdicts, strict=True)
        if verdict.kind in ("supported", "mixed")
    ]


def _without_general_knowledge(judged: _Judged) -> _Judged:
    """After 「資料にありません」 a sentence that begins with 「一般的には」 is no answer from the sources."""
    verdicts = (
        Verdict("unsupported", verdict.text) if verdict.kind == "supported" and is_general(verdict.text) else verdict
        for verdict in judged.verdicts
    )
    return _Judged(judged.line, tuple(verdicts))


def _join(judged: Sequence[_Judged]) -> str:
    """Put the kept sentences back into their lines; frames stay only before something that they frame."""
    kept = list(dropwhile(lambda one: not one.has("supported", "mixed", "refusal"), reversed(judged)))
    return "\n".join(_collapsed(_line_text(one) for one in reversed(kept))).strip("\n")


def _line_text(judged: _Judged) -> str | None:
    """Return the line with what is kept of it, None when nothing is."""
    line = judged.line
    if line.kind == "blank" or not line.sentences:
        return line.prefix
    kept = [
        sentence.gap + verdict.text
        for sentence, verdict in zip(line.sentences, judged.verdicts, strict=True)
        if verdict.kind != "unsupported"
    ]
    return line.prefix + "".join(kept).strip() if kept else None


def _collapsed(lines: Iterator[str | None]) -> Iterator[str]:
    """Leave out removed lines, and the second of two blank lines that a removal brought together."""
    previous = ""
    for line in lines:
        if line is not None and (line.strip() or previous.strip()):
            yield line
            previous = line


def _distinct(verdicts: Sequence[Verdict]) -> tuple[Citation, ...]:
    """Return the citations in order of appearance, each quoted place once."""
    return tuple(dict.fromkeys(citation for verdict in verdicts for citation in verdict.citations))

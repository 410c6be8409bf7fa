"""Judges one sentence of an answer: supported, a refusal, neither, or in part each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fumikura.grounding.features import Claim, Features, claim, features
from fumikura.grounding.marks import format_marks
from fumikura.grounding.outline import Sentence
from fumikura.grounding.quotes import Quoter
from fumikura.grounding.refusal import is_refusal
from fumikura.grounding.support import evidence_of, supporting
from fumikura.japanese import normalize
from fumikura.records import Citation, Passage

Kind = Literal["supported", "mixed", "refusal", "frame", "unsupported"]

_CLAUSE_END = re.compile(r"(?<=[いすたんだ])(?:が|けれども?|けど|ものの)、|,? (?:but|however|although|though),? ")
_APOLOGY = re.compile(
    r"申し訳|恐れ入り|恐縮|すみません|すいません|ごめん|残念|お詫び|\b(?:sorry|apolog\w+|unfortunately|afraid|regret)\b",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"一般的?に|通常は|私の知識|常識|よく知られて|generally|typically|in general|commonly known|my (?:own )?knowledge",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"(?:はい|いいえ|ええ|そうです|違います|yes|no)[、。,.!\s]*", re.IGNORECASE)
_NO = re.compile(r"(?:いいえ|違います|no\b)", re.IGNORECASE)
_SORRY = re.compile(
    r"(?:大変|誠に|本当に)?(?:申し訳(?:あり|ござい)ません(?:でした)?|恐れ入ります|すみません|ごめんなさい)[が、。.!！\s]*"
)
_INTRODUCTION = re.compile(r"[:：][*_\s]*$")  # 持ち物は次のとおりです：
_NAMES_SOURCES = re.compile(r"資料|ソース|提供|source|document|passage|context", re.IGNORECASE)
_PREDICATE_END = re.compile(
    r"(?:と(?:書かれて|記載されて|記されて|あり|ある|のこと|され|いう).*|です|でした|ます|ました|だ|である)?[。.!\s]*$"
)
_SHORTEST_LITERAL = 6  # characters


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sentence's kind, its text with verified marks, its citations. A `frame` (以下のとおりです：) claims nothing."""

    kind: Kind
    text: str
    citations: tuple[Citation, ...] = ()


class SentenceJudge:
    """Judges the sentences of one answer against the passages that were given."""

    def __init__(self, passages: Sequence[Passage], question: str) -> None:
        self._evidence = tuple(evidence_of(passage) for passage in passages if passage.text.strip())
        self._passages = {passage.n: passage for passage in passages}
        self._asked: Features = features(question)
        self._question: Claim = claim(question, features(""))
        self._quoter = Quoter(self._question)

    def judge(self, sentence: Sentence, *, is_frame: bool = False) -> Verdict:
        """Return the verdict on one sentence; `is_frame` says that its place (a heading) makes no claim likely."""
        if is_refusal(sentence.text) and not self._is_literal(sentence.text):
            return self._judge_refusal(sentence)
        wanted = claim(sentence.text, self._asked)
        if (
            wanted.is_empty
            or _SORRY.fullmatch(sentence.text)
            or (_INTRODUCTION.search(sentence.text) and not wanted.numbers)
        ):
            return Verdict("frame", sentence.text)
        parts = _claimed_parts(sentence)
        verdicts = [self._cite(text, numbers) for text, numbers in parts]
        if len(parts) > 1 and not all(verdicts):
            whole = tuple(n for _, numbers in parts for n in numbers)
            parts, verdicts = [(sentence.text, whole)], [self._cite(sentence.text, whole)]
        if all(verdicts):
            return _supported([text for text, _ in parts], verdicts)
        return Verdict("frame" if is_frame and not wanted.numbers else "unsupported", sentence.text)

    def judge_short(self, sentence: Sentence) -> Verdict:
        """Judge 「はい。」 or "Yes." by the words of the question."""
        if not _YES_OR_NO.fullmatch(sentence.text):
            return Verdict("frame", sentence.text)
        numbers = self._answer_in_a_word(sentence)
        citations = tuple(self._quoter.cite(self._passages[n], self._question) for n in numbers)
        return _supported([sentence.text], [citations]) if citations else Verdict("unsupported", sentence.text)

    def _answer_in_a_word(self, sentence: Sentence) -> tuple[int, ...]:
        """Return the passages that bear out the question, for "no" those that speak of it with other numbers."""
        numbers = supporting(self._question, _numbers(sentence), self._evidence, self._question)
        if not (_NO.match(sentence.text) and self._question.numbers):
            return numbers
        asked = replace(self._question, numbers={}, subjects=())
        return () if numbers else supporting(asked, _numbers(sentence), self._evidence, self._question)

    def _judge_refusal(self, sentence: Sentence) -> Verdict:
        """Keep what else the sentence says only where a passage supports it (資料にありませんが、一般的には…)."""
        clauses = [clause for clause in _CLAUSE_END.split(sentence.text) if clause]
        refusing = [clause for clause in clauses if is_refusal(clause)] or clauses[:1]
        others = [
            clause
            for clause in clauses
            if clause not in refusing and not _APOLOGY.search(clause) and not claim(clause, self._asked).is_empty
        ]
        cited = [() if is_general(clause) else self._cite(clause, _numbers(sentence)) for clause in others]
        if others and all(cited):
            found = _supported([sentence.text], [tuple(one for citations in cited for one in citations)])
            return Verdict("mixed", found.text, found.citations)
        return Verdict(
            "refusal", sentence.text if len(clauses) == 1 else refusing[-1].rstrip("。. ") + _stop(sentence.text)
        )

    def _cite(self, text: str, marks: Sequence[int]) -> tuple[Citation, ...]:
        wanted = claim(text, self._asked)
        numbers = supporting(wanted, marks, self._evidence, self._question)
        return tuple(self._quoter.cite(self._passages[n], wanted) for n in numbers)

    def _is_literal(self, text: str) -> bool:
        """Whether a passage itself says this (備考: 記載なし); words about the sources are the model's own."""
        if _NAMES_SOURCES.search(text):
            return False
        core = _PREDICATE_END.sub("", normalize(text).text)
        return len(core) >= _SHORTEST_LITERAL and any(core in one.features.text for one in self._evidence)


def is_general(text: str) -> bool:
    """Whether a sentence announces general knowledge (一般的には…)."""
    return bool(_GENERAL.search(text))


def _claimed_parts(sentence: Sentence) -> list[tuple[str, tuple[int, ...]]]:
    """Cut a sentence after its marks, so that each part is checked against its own (九時[1]、十七時[2]です。)."""
    parts: list[tuple[str, tuple[int, ...]]] = []
    done = 0
    for mark in sentence.marks:
        text = sentence.text[done : mark.position]
        if parts and not _has_content(text):
            parts[-1] = (parts[-1][0] + text, (*parts[-1][1], *mark.numbers))
        else:
            parts.append((text, mark.numbers))
        done = mark.position
    rest = sentence.text[done:]
    if not parts:
        return [(rest, ())]
    if _has_content(rest):
        return [*parts, (rest, ())]
    return [*parts[:-1], (parts[-1][0] + rest, parts[-1][1])]


def _has_content(text: str) -> bool:
    found = features(text)
    return bool(found.words or found.numbers)


def _supported(texts: Sequence[str], cited: Sequence[tuple[Citation, ...]]) -> Verdict:
    """Write each part with its marks behind it, a number that the next part repeats only once."""
    pieces: list[str] = []
    for index, (text, citations) in enumerate(zip(texts, cited, strict=True)):
        numbers = {citation.n for citation in citations}
        following = {citation.n for citation in cited[index + 1]} if index + 1 < len(cited) else set()
        pieces.append(_append(text, "" if numbers == following else format_marks(numbers)))
    return Verdict("supported", "".join(pieces), tuple(one for citations in cited for one in citations))


def _append(text: str, marks: str) -> str:
    if not marks:
        return text
    if text.lstrip().startswith("|") and text.endswith("|"):
        return f"{text[:-1].rstrip()} {marks} |"
    if text.lstrip().startswith(("```", "~~~")):
        return f"{text}\n{marks}"
    return f"{text} {marks}" if text[-1:].isascii() and text[-1:] not in "*_`" else text + marks


def _numbers(sentence: Sentence) -> tuple[int, ...]:
    return tuple(n for mark in sentence.marks for n in mark.numbers)


def _stop(text: str) -> str:
    return "." if text.rstrip().endswith(".") else "。"

"""Asks one question of a set as a user would, and scores everything on the way to its answer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from fumikura.errors import BackendReplyInvalid, BackendUnavailable, InputTooLong, QuestionError
from fumikura.evaluation.cases import Case
from fumikura.evaluation.faults import fault_of, quote_support
from fumikura.evaluation.retrieval_metrics import (
    LocatedEvidence,
    Ranks,
    covers,
    evidence_ranks,
    locate,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from fumikura.evaluation.rubric import score
from fumikura.evaluation.run_file import Asked, plain
from fumikura.notebook import Notebook
from fumikura.records import Answer, Hit, Passage, Prompt, SearchResult

RECALL_AT = (1, 3, 5, 10)
NDCG_AT = 10
UNANSWERED = (InputTooLong, BackendReplyInvalid, QuestionError)  # this question's own failure, not the server's


@dataclass(frozen=True)
class _Course:
    """What happened between question and answer. Several prompts are one that was shortened: the last one counts."""

    hits: tuple[Hit, ...] = ()
    passages: tuple[Passage, ...] = ()
    answer: Answer | None = None
    error: str = ""
    ttft_s: float = 0.0
    total_s: float = 0.0


def ask_case(notebook: Notebook, case: Case, trial: int, texts: Mapping[str, str]) -> Asked:
    """Return the answer to a case with its scores; `texts` are the sources' extracted texts by name.

    A question that cannot be answered by itself (too long, nothing returned) is one with 0 points. Raises BackendError
    when the model's server is down.
    """
    course = _course(notebook, case)
    evidence = locate(case.evidence, texts)
    ranks = evidence_ranks(evidence, course.hits)
    asked = Asked(
        id=case.id,
        trial=trial,
        type=case.type,
        split=case.split,
        question=case.question,
        points=0,
        model_answer=case.answer,
        evidence=[asdict(piece) for piece in case.evidence],
        as_of=case.as_of,
        error=course.error,
        ttft_s=course.ttft_s,
        total_s=course.total_s,
        fault="failed",
        ranks=list(ranks),
        in_prompt=_in_prompt(evidence, course.passages),
        retrieval=_metrics(ranks, _in_prompt(evidence, course.passages)),
        passages=[_passage_json(passage) for passage in course.passages],
    )
    return _scored(asked, case, course.answer) if course.answer else asked


def _scored(asked: Asked, case: Case, answer: Answer) -> Asked:
    result = score(case, answer)
    support = quote_support(answer)
    fault = fault_of(case, answer, support, asked.ranks, asked.in_prompt) if result.points < 2 else ""
    return replace(
        asked,
        points=result.points,
        reasons=[str(reason) for reason in result.reasons],
        answer=plain(answer),
        support=support,
        fault=fault,
    )


def _course(notebook: Notebook, case: Case) -> _Course:
    begun = time.perf_counter()
    course = _Course()
    try:
        for event in notebook.stream(case.question, today=date.fromisoformat(case.as_of) if case.as_of else None):
            passed = time.perf_counter() - begun
            if isinstance(event, SearchResult):
                course = replace(course, hits=event.hits)
            elif isinstance(event, Prompt):
                course = replace(course, passages=event.passages)
            elif isinstance(event, Answer):
                course = replace(course, answer=event, ttft_s=course.ttft_s or passed, total_s=passed)
            elif isinstance(event, str) and not course.ttft_s:
                course = replace(course, ttft_s=passed)
    except UNANSWERED as error:
        return replace(course, error=f"{error.ja} / {error.en}", total_s=time.perf_counter() - begun)
    if course.answer and course.answer.finish == "broken_off":
        raise BackendUnavailable("答えが途中で途切れました。", "the answer broke off")
    return course


def _in_prompt(evidence: Sequence[LocatedEvidence], passages: Sequence[Passage]) -> list[bool]:
    return [covers(passages, piece) for piece in evidence]


def _metrics(ranks: Ranks, in_prompt: Sequence[bool]) -> dict[str, float | None]:
    return {
        **{f"recall@{k}": recall_at(ranks, k) for k in RECALL_AT},
        "mrr": reciprocal_rank(ranks),
        f"ndcg@{NDCG_AT}": ndcg_at(ranks, NDCG_AT),
        "in_prompt": mean(map(float, in_prompt)),
    }


def _passage_json(passage: Passage) -> dict[str, object]:
    kept = ("n", "source", "page", "start", "end", "text", "via")
    return {"heading": " / ".join(passage.heading_path), **{key: getattr(passage, key) for key in kept}}

"""The whole flow on one screen: files become searchable sources, a question becomes a grounded answer.

A notebook composes the parts that are handed to it and knows no settings, paths or servers.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from fumikura.answering import Answering, Question
from fumikura.errors import QuestionError
from fumikura.ingestion import Ingestion, Progress, silent
from fumikura.loaders import FoundFile
from fumikura.records import AddReport, Answer, Message, SearchResult
from fumikura.retrieval import Retriever

AskEvent = SearchResult | str | Answer
"""What an answer in progress yields: the hits first, then pieces of text, the checked answer last."""


@dataclass(frozen=True)
class Notebook:
    """One notebook: add files, search, ask."""

    name: str
    ingestion: Ingestion  # file → source → sections → chunks → vectors
    retriever: Retriever  # question → hits
    answering: Answering  # question and hits → prompt → answer → grounded answer
    keyword_only_reason: Callable[[], str]  # why the vectors cannot be searched now ("": they can)
    top_k: int
    question_chars: int

    def add(self, files: Sequence[FoundFile], progress: Progress = silent) -> list[AddReport]:
        """Add or update files; see Ingestion.add. Raises StoreError."""
        return self.ingestion.add(files, progress)

    def search(
        self, question: str, top_k: int | None = None, source_ids: Collection[str] | None = None
    ) -> SearchResult:
        """Return the passages nearest to the question. Raises QuestionError when it is blank or too long."""
        self._check(question)
        notice = self.keyword_only_reason()
        found = self.retriever.search(self.name, question, top_k or self.top_k, source_ids, dense=not notice)
        return replace(found, notices=(notice, *found.notices)) if notice else found

    def ask(
        self,
        question: str,
        *,
        source_ids: Collection[str] | None = None,
        history: Sequence[Message] = (),
        today: date | None = None,
    ) -> Answer:
        """Return the grounded answer. Raises QuestionError, InputTooLong and BackendError."""
        *_, answer = self.stream(question, source_ids=source_ids, history=history, today=today)
        assert isinstance(answer, Answer)
        return answer

    def stream(
        self,
        question: str,
        *,
        source_ids: Collection[str] | None = None,
        history: Sequence[Message] = (),
        today: date | None = None,
    ) -> Iterator[AskEvent]:
        """Yield the hits, the pieces of the answer as they come, and the checked answer last.

        Raises as `ask`. Closing the iterator ends the generation.
        """
        found = self.search(question, source_ids=source_ids)
        yield found
        yield from self.answering.stream(Question(question, history, today), found)

    def _check(self, question: str) -> None:
        if not question.strip():
            raise QuestionError(
                "質問が空です。知りたいことを書いてください。", "the question is blank: write what you want to know"
            )
        if len(question) > self.question_chars:
            raise QuestionError(
                f"質問が {len(question):,} 文字です。上限は {self.question_chars:,} です（limits.question_chars）。",
                f"the question has {len(question):,} characters, the limit is {self.question_chars:,} "
                "(limits.question_chars)",
            )

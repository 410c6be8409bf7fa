"""The whole flow on one screen: files become searchable sources, a question becomes a grounded answer.

A notebook composes the parts that are handed to it and knows no settings, paths or servers.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from fumikura.answering import Answering, Question, Stop
from fumikura.errors import QuestionError, SettingsError
from fumikura.ingestion import Ingestion, Progress, silent
from fumikura.loaders import FoundFile
from fumikura.prompting import complete_question
from fumikura.records import AddReport, Answer, Message, Mode, Notice, Prompt, SearchResult, Usage
from fumikura.retrieval import Retriever

AskEvent = SearchResult | Prompt | str | Usage | Answer
"""What an answer in progress yields: hits; if the model is asked the prompt, pieces and their Usage; the answer."""

LONGEST_NAME = 200  # characters
HISTORY_TURNS = 3  # shown to the model; follow-ups are completed from all of them


@dataclass(frozen=True)
class Notebook:
    """One notebook: add files, search, ask."""

    name: str
    ingestion: Ingestion  # file → source → sections → chunks → vectors
    retriever: Retriever  # question → hits
    answering: Answering  # question, resident core and hits → prompt → answer → grounded answer
    keyword_only_reason: Callable[[], Notice | None]  # why the vectors cannot be searched now (None: they can)
    usable_source_ids: Callable[[], list[str] | None]  # what is ticked and not hidden (None: all)
    top_k: int
    question_chars: int

    def add(self, files: Sequence[FoundFile], progress: Progress = silent) -> list[AddReport]:
        """Add or update files; see Ingestion.add. Raises StoreError."""
        return self.ingestion.add(files, progress)

    def search(
        self, question: str, top_k: int | None = None, source_ids: Collection[str] | None = None
    ) -> SearchResult:
        """Return the passages nearest to the question, of sources that are ticked (and among `source_ids`).

        Raises QuestionError when the question is blank or too long.
        """
        self.check(question)
        return self._search(question, top_k or self.top_k, self._chosen(source_ids))

    def ask(
        self,
        question: str,
        *,
        source_ids: Collection[str] | None = None,
        history: Sequence[Message] = (),
        today: date | None = None,
        mode: Mode | None = None,
    ) -> Answer:
        """Return the grounded answer. Raises QuestionError, InputTooLong, CoreTooLarge and BackendError."""
        *_, answer = self.stream(question, source_ids=source_ids, history=history, today=today, mode=mode)
        assert isinstance(answer, Answer)
        return answer

    def stream(
        self,
        question: str,
        *,
        source_ids: Collection[str] | None = None,
        history: Sequence[Message] = (),
        today: date | None = None,
        mode: Mode | None = None,
        stop: Stop | None = None,
    ) -> Iterator[AskEvent]:
        """Yield the hits, the prompt, the pieces as they come, their Usage, and the checked answer last.

        A follow-up is completed from the questions in `history` (oldest first). `mode` says how the sources are to be
        read (None: as the notebook or the settings say). Raises as `ask`. `stop` ends the generation from any thread,
        closing the iterator from this one.
        """
        self.check(question)
        earlier = [message.content for message in history if message.role == "user"]
        completed = complete_question(question, earlier)
        chosen = self._chosen(source_ids)
        found = self._search(completed, self.top_k, chosen)
        yield found
        turns = last_turns(history, HISTORY_TURNS)
        asked = Question(question, completed, turns, today, chosen, mode, stop or Stop())
        yield from self.answering.stream(asked, found)

    def _search(self, question: str, top_k: int, source_ids: Collection[str] | None) -> SearchResult:
        notice = self.keyword_only_reason()
        found = self.retriever.search(self.name, question, top_k, source_ids, dense=notice is None)
        return replace(found, completed=question, notices=(*([notice] if notice else []), *found.notices))

    def _chosen(self, source_ids: Collection[str] | None) -> Collection[str] | None:
        usable = self.usable_source_ids()
        if usable is None or source_ids is None:
            return usable if source_ids is None else source_ids
        return set(usable) & set(source_ids)

    def check(self, question: str) -> None:
        """Raise QuestionError for a question that is blank or too long."""
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


def last_turns(history: Sequence[Message], count: int) -> Sequence[Message]:
    """Return the messages from the `count`-th last question on."""
    starts = [place for place, message in enumerate(history) if message.role == "user"]
    return history[starts[-count] :] if len(starts) > count else history


def refuse_unusable(name: str) -> None:
    """Raise SettingsError for what cannot be a notebook's name."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise SettingsError(
            f"ノートブックの名前「{name[:20]}」は使えません。1〜{LONGEST_NAME} 文字で付けてください。",
            f"the notebook name '{name[:20]}' cannot be used: give it 1 to {LONGEST_NAME} characters",
        )

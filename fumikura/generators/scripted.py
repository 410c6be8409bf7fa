"""Generators without a model, for tests and for trying the flow: one echoes, one plays prepared answers."""

from collections.abc import Generator as Steps
from collections.abc import Sequence
from threading import Event

from fumikura.errors import BackendError
from fumikura.generators.prefix import ServersOwnCache
from fumikura.generators.token_estimate import TokenEstimate
from fumikura.protocols import PrefixProgress
from fumikura.records import Message, Usage


class ScriptedGenerator(ServersOwnCache):
    """Plays `answers` in turn (the last one again and again); keeps the prompts that it was given in `prompts`.

    An answer is a text, a sequence of pieces that may end with a Usage, or an error to raise.
    """

    exact_counts = False
    loaded = True

    def __init__(
        self,
        answers: Sequence[str | Sequence[str | Usage] | BackendError],
        name: str = "scripted",
        context_tokens: int = 8192,
    ) -> None:
        self.name = name
        self.prompts: list[tuple[Message, ...]] = []
        self.closed = False
        self._answers = list(answers)
        self._context_tokens = context_tokens
        self._estimate = TokenEstimate()

    def context_tokens(self) -> int:
        """Return the size given to the constructor."""
        return self._context_tokens

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the estimate that servers without a tokenizer get."""
        return self._estimate.count(messages)

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Steps[str | Usage, None, None]:
        """Yield the pieces of the next answer, then its Usage."""
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(tuple(messages))
        if isinstance(answer, BackendError):
            raise answer
        pieces = [answer] if isinstance(answer, str) else list(answer)
        yield from (piece for piece in pieces if piece)
        if not (pieces and isinstance(pieces[-1], Usage)):
            text = "".join(piece for piece in pieces if isinstance(piece, str))
            yield Usage("complete", self.count_tokens(messages), 0, len(text))

    def warm(self, prefix: Sequence[Message], stop: Event, progress: PrefixProgress | None = None) -> Usage:
        """Use up no answer."""
        return Usage("stopped" if stop.is_set() else "complete", self.count_tokens(prefix), 0, 1)

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


class EchoGenerator(ServersOwnCache):
    """Answers with the last message, in pieces of a few characters, cut at `max_tokens` characters."""

    name = "echo"
    exact_counts = False
    loaded = True

    def __init__(self, context_tokens: int = 8192, piece_characters: int = 8) -> None:
        self._context_tokens = context_tokens
        self._step = piece_characters
        self._estimate = TokenEstimate()

    def context_tokens(self) -> int:
        """Return the size given to the constructor."""
        return self._context_tokens

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the estimate that servers without a tokenizer get."""
        return self._estimate.count(messages)

    def generate(self, messages: Sequence[Message], max_tokens: int) -> Steps[str | Usage, None, None]:
        """Yield the last message, then a Usage that counts a character as a token."""
        text = messages[-1].content
        echoed = text[:max_tokens]
        for start in range(0, len(echoed), self._step):
            yield echoed[start : start + self._step]
        finish: Usage = Usage("complete" if echoed == text else "length", self.count_tokens(messages), 0, len(echoed))
        yield finish

    def close(self) -> None:
        """Nothing to end."""

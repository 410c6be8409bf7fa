"""How many tokens the resident core may have."""

from dataclasses import dataclass

QUESTION_TOKENS = 700  # kept for the question, the turns before it, today's date and the reminder
MOST_TOKENS = 30_000  # beyond that models overlook what they were given, whatever their window


@dataclass(frozen=True, slots=True)
class Budget:
    """The room for rules and resident core together, in tokens.

    `pace` is how many tokens a second the backend was seen to read (None: not measured yet, so no bound by it).
    """

    window_tokens: int  # of the backend's context, prompt and answer together
    answer_tokens: int
    passage_tokens: int  # for the passages that are retrieved beside a core
    warm_s: float  # the longest that computing the core may take
    pace: float | None = None
    most_tokens: int = MOST_TOKENS

    def room(self, *, with_passages: bool) -> int:
        """Return how many tokens rules and core may have, with or without retrieved passages behind them."""
        kept = self.answer_tokens + QUESTION_TOKENS + (self.passage_tokens if with_passages else 0)
        bounds = [self.window_tokens - kept, self.most_tokens]
        if self.pace is not None:
            bounds.append(int(self.pace * self.warm_s))
        return max(0, min(bounds))

"""What became of a prompt: the model's draft, and whether it can be used at all."""

from dataclasses import dataclass

from fumikura.errors import BackendReplyInvalid, InputTooLong
from fumikura.grounding import looks_chinese
from fumikura.prompting import Language
from fumikura.protocols import Generator
from fumikura.records import Finish, Notice, Prompt, Usage

# A server that reports fewer tokens than this share of ours has cut the prompt. An estimate is an upper bound:
# Japanese text measured 0.55 to 0.95 tokens a character, estimated 1.3.
CUT_SHARE_EXACT, CUT_SHARE_ESTIMATED = 0.9, 0.4

FINISH_NOTICES: dict[Finish, Notice] = {
    "length": Notice("答えが長さの上限（llm.answer_tokens）で切れました。", "The answer was cut at llm.answer_tokens."),
    "broken_off": Notice("答えが途中で途切れました。もう一度質問してください。", "The answer broke off: ask again."),
    "stopped": Notice("答えを途中で止めました。", "The answer was stopped."),
}
IN_CHINESE = Notice(
    "モデルが中国語で答えました。もう一度質問するか、別のモデルを選んでください。",
    "The model answered in Chinese: ask again or choose another model.",
)


@dataclass(frozen=True)
class Draft:
    """What the model wrote, how it ended, and when its first piece came."""

    prompt: Prompt
    text: str
    usage: Usage
    ttft_s: float
    decode_s: float

    @property
    def new_tokens(self) -> int | None:
        """Prompt tokens that the backend read anew; None where it does not say."""
        prompt_tokens, cached_tokens = self.usage.prompt_tokens, self.usage.cached_tokens
        return None if prompt_tokens is None or cached_tokens is None else prompt_tokens - cached_tokens


def check_not_cut(draft: Draft, generator: Generator) -> None:
    """Raise InputTooLong when the server read far less than was sent, BackendReplyInvalid when nothing came."""
    reported, expected = draft.usage.prompt_tokens, draft.prompt.token_count
    share = CUT_SHARE_EXACT if generator.exact_counts else CUT_SHARE_ESTIMATED
    if reported is not None and reported < share * expected:
        raise InputTooLong(
            f"資料の一部が切り捨てられたので答えません（約 {expected} トークンのうち {generator.name} が"
            f"読んだのは {reported}）。サーバーのコンテキストを広げるか、llm.context_tokens を減らしてください。",
            f"part of the material was cut, so there is no answer ({generator.name} read {reported} of about "
            f"{expected} tokens): enlarge the server's context or lower llm.context_tokens",
        )
    if not draft.text.strip():
        raise _nothing_returned(draft.usage)


def _nothing_returned(usage: Usage) -> BackendReplyInvalid:
    if usage.finish == "length":
        return BackendReplyInvalid(
            "モデルは考えている途中で長さの上限（llm.answer_tokens）に達し、答えを返しませんでした。上限を増やしてもう一度どうぞ。",
            "no answer was produced: the limit llm.answer_tokens was reached while thinking; raise it and ask again",
        )
    reason = Notice(f"（{usage.error.ja}）", f" ({usage.error.en})") if usage.error else Notice("", "")
    return BackendReplyInvalid(
        f"モデルが何も返しませんでした{reason.ja}。もう一度質問してください。",
        f"the model returned nothing{reason.en}: ask again",
    )


def notices_of(draft: Draft, language: Language) -> list[Notice]:
    """Return what a person should know about what the model wrote."""
    notices = [IN_CHINESE] if language == "ja" and looks_chinese(draft.text) else []
    finish = FINISH_NOTICES.get(draft.usage.finish)
    return [*notices, finish] if finish else notices

"""Lays out a prompt: fixed rules, resident core, history, numbered passages, question.

Knows how texts are ordered, fenced, made harmless and fitted into the token budget. Does not know where passages come
from, which server answers, or what becomes of the answer.
"""

from fumikura.prompting.builder import CountTokens, PassageOrder, PromptBuilder, core_prefix
from fumikura.prompting.defuse import defuse
from fumikura.prompting.excerpt import estimate_messages, estimated_tokens
from fumikura.prompting.followup import complete_question
from fumikura.prompting.language import language_of
from fumikura.prompting.layout import messages_sha256
from fumikura.prompting.wording import Language

__all__ = [
    "CountTokens",
    "Language",
    "PassageOrder",
    "PromptBuilder",
    "complete_question",
    "core_prefix",
    "defuse",
    "estimate_messages",
    "estimated_tokens",
    "language_of",
    "messages_sha256",
]

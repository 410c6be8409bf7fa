"""Grounds an answer: ties its sentences to the passages that were given, recognises refusals, drops the rest.

Works on texts and words alone. Does not know how passages were found, which model wrote, or how an answer is shown, and
cannot judge meaning: a wrong use of a passage's own words passes.
"""

from fumikura.grounding.answerable import content_words, missing_terms, nothing_there, stands_out
from fumikura.grounding.cleaning import looks_chinese, strip_images, strip_thinking
from fumikura.grounding.ground import ground, refused
from fumikura.grounding.marks import take_marks
from fumikura.grounding.refusal import REFUSAL, REFUSAL_EN, is_refusal
from fumikura.grounding.support import SUPPORT_THRESHOLD

__all__ = [
    "REFUSAL",
    "REFUSAL_EN",
    "SUPPORT_THRESHOLD",
    "content_words",
    "ground",
    "is_refusal",
    "looks_chinese",
    "missing_terms",
    "nothing_there",
    "refused",
    "stands_out",
    "strip_images",
    "strip_thinking",
    "take_marks",
]

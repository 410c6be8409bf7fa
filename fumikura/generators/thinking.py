"""Removes a model's thinking from its answer, in every shape in which servers let it through.

A tag opens thinking only at the very start of the answer; a closing tag without an opening one ends thinking that the
chat template opened. Tags that the answer quotes (in backticks or quotation marks, or in mid-sentence) stay.
"""

import re
from typing import Literal

from fumikura.records import Finish

NAMES = r"(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think)"
OPENING = re.compile(rf"<{NAMES}(?:\s[^<>]*)?>|\[THINK\]|◁think▷", re.IGNORECASE)
CLOSING = re.compile(rf"</{NAMES}\s*>|\[/THINK\]|◁/think▷", re.IGNORECASE)
LONGEST_TAG = 64  # characters; a longer "tag" is text
BLANK_LINE = re.compile(r"\n[ \t　]*\n")
QUOTES_BEFORE = "`「『\"'“‘（("
WINDOW_CHARACTERS = 200  # held back at first: about 2 s at 60 tokens a second, only until a server is known

State = Literal["start", "thinking", "window", "answer"]


class TemplateHabits:
    """What a backend's earlier answers showed, so that later ones need not be held back."""

    def __init__(self, opened_by_template: bool | None = None) -> None:
        self.opened_by_template = opened_by_template  # None: not known yet

    def window(self) -> int | None:
        """Return how many characters of an answer to hold back; None: up to the closing tag."""
        if self.opened_by_template is None:
            return WINDOW_CHARACTERS
        return None if self.opened_by_template else 0


class ThinkingFilter:
    """Fed with pieces, returns what may be shown. One filter serves one answer."""

    def __init__(self, habits: TemplateHabits | None = None) -> None:
        self._habits = habits or TemplateHabits(opened_by_template=False)
        self._window = self._habits.window()
        self._state: State = "start"
        self._held = ""  # not shown yet
        self._shown = ""

    def feed(self, piece: str) -> str:
        """Return the text that is certainly answer after this piece; may be empty."""
        self._held += piece
        before: State | None = None
        while before != self._state:
            before = self._state
            self._advance()
        return self._show(self._held) if self._state == "answer" else ""

    def finish(self, finish: Finish) -> str:
        """Return what was held back and is answer, now that the stream has ended."""
        if self._state == "thinking":
            self._held = _answer_in_unclosed(self._held, finish)
        elif self._state == "window" and self._window is None and finish != "complete":
            self._held = ""  # this server's template opens the thinking, and the reply ended inside it
        rest = self._show(self._held)
        self._learn()
        return rest

    def _advance(self) -> None:
        if self._state == "start":
            self._leave_start()
        elif self._state == "thinking":
            self._leave_thinking()
        elif self._state == "window":
            self._leave_window()

    def _leave_start(self) -> None:
        self._held = self._held.lstrip("\ufeff \t\r\n　")
        opening = OPENING.match(self._held)
        if opening:
            self._held = self._held[opening.end() :]
            self._state = "thinking"
        elif self._held and not _may_become_opening(self._held):
            self._state = "answer" if self._window == 0 else "window"

    def _leave_thinking(self) -> None:
        closing = CLOSING.search(self._held)
        if closing:
            self._held = self._held[closing.end() :]
            self._habits.opened_by_template = self._habits.opened_by_template or False
            self._window = 0
            self._state = "start"

    def _leave_window(self) -> None:
        closing = lone_closing_tag(self._held)
        if closing:
            self._held = self._held[closing.end() :]
            self._habits.opened_by_template = True
            self._window = 0
            self._state = "start"
        elif self._window is not None and len(self._held) > self._window:
            self._state = "answer"

    def _show(self, text: str) -> str:
        self._held = ""
        self._shown += text
        return text

    def _learn(self) -> None:
        if self._state in ("window", "answer") and self._shown.strip():
            late = lone_closing_tag(self._shown) is not None
            if late or self._window != 0:
                self._habits.opened_by_template = late


def ends_in_opening_tag(prompt: str) -> bool:
    """Tell whether a chat template ends the prompt inside thinking, so that the answer begins there."""
    return re.search(rf"(?:{OPENING.pattern})\s*\Z", prompt, re.IGNORECASE) is not None


def lone_closing_tag(text: str) -> re.Match[str] | None:
    """Return the first closing tag that no opening tag precedes and that the text does not quote."""
    for closing in CLOSING.finditer(text):
        before = text[: closing.start()]
        quoted = before.count("`") % 2 == 1 or before[-1:] in QUOTES_BEFORE
        if not quoted and not OPENING.search(before):
            return closing
    return None


def _may_become_opening(held: str) -> bool:
    """Tell whether more characters could turn the text into an opening tag."""
    if len(held) > LONGEST_TAG or held[0] not in "<[◁":
        return False
    lower = held.lower()
    names = ("<think", "<thinking", "<thought", "<thoughts", "<reasoning", "<reflection", "<scratchpad", "<seed:think")
    if any(name.startswith(lower) for name in (*names, "[think]", "◁think▷")):
        return True
    return re.match(rf"<{NAMES}(?:\s[^<>]*)?$", held, re.IGNORECASE) is not None


def _answer_in_unclosed(thinking: str, finish: Finish) -> str:
    """Return the answer in thinking that never closed: after the last blank line, else all of it.

    Nothing when the answer was cut: then the limit was reached while thinking.
    """
    if finish != "complete":
        return ""
    parts = BLANK_LINE.split(thinking.strip())
    return parts[-1].strip()

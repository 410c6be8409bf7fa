"""Notes as Markdown: all of them as one file to keep, one of them as a source."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from fumikura.jobs import NOTE_ORIGIN
from fumikura.records import SourceFile
from fumikura.store import NoteRow
from fumikura.web.language import Language

TITLE_CHARS = 60
# Code is matched first, so that what looks like a mark inside of it stays.
_MARK = re.compile(r"(?P<code>```.*?(?:```|\Z)|(?P<ticks>`+)[^\n]*?(?P=ticks))|\s?\[(?P<n>\d{1,3})\](?!\()", re.DOTALL)


def without_marks(text: str, is_mark: Callable[[int], bool] = lambda n: True) -> str:
    """Take the citation marks `[n]` out, where `is_mark(n)` and outside of code."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if match["code"] or not is_mark(int(match["n"])) else ""

    return _MARK.sub(kept, text)


def titled(title: str, text: str, question: str = "") -> str:
    """Return the note's title, or what it begins with."""
    first = next((line for line in (title, question, *text.splitlines()) if line.strip(" \t#")), "")
    return " ".join(first.strip(" \t#").split())[:TITLE_CHARS]


def export(notes: Sequence[NoteRow], language: Language) -> str:
    """Return all notes as one Markdown file, each with the passages that it cites."""
    return "\n".join(_section(note, language) for note in notes)


def export_name(today: date) -> str:
    """Return the name under which the export is saved."""
    return f"fumikura-notes-{today.isoformat()}.md"


def as_source(note: NoteRow) -> SourceFile:
    """Return the note as a file to add; adding it again updates the source that it became.

    Its citation marks are left out: in a source they would point nowhere.
    """
    title = titled(note.title, note.text, note.question) or "メモ"
    numbers = {citation["n"] for citation in note.citations}
    content = f"# {title}\n\n{without_marks(note.text, numbers.__contains__)}\n"
    return SourceFile(
        origin=NOTE_ORIGIN + note.note_id,
        name=re.sub(r"[/\\]", "_", title) + ".md",
        content=content.encode(),
        modified=note.updated_at[:10],
    )


def _section(note: NoteRow, language: Language) -> str:
    title = titled(note.title, note.text, note.question) or ("メモ" if language == "ja" else "Note")
    parts = [f"# {_plain(title)}", note.text.strip()]
    if note.question:
        parts.insert(1, f"> {_plain(note.question)}")
    if note.citations:
        parts.append("出典:" if language == "ja" else "Sources:")
        parts.append("\n".join(_cited(note.citations)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _cited(citations: Iterable[dict[str, object]]) -> Iterable[str]:
    for citation in citations:
        page = f"p. {citation['page']}" if citation.get("page") else ""
        place = " · ".join(str(part) for part in (citation["source"], citation["heading"], page) if part)
        yield f"- [{citation['n']}] {_plain(place)}: 「{_plain(str(citation['quote']))}」"


def _plain(text: str) -> str:
    """Return a source's words on one line, so that no viewer of the file takes them for HTML or an image."""
    return " ".join(text.split()).replace("<", "\\<").replace("![", "!\\[")

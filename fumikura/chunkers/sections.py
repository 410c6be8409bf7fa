"""What every chunker does for a section: make chunks of spans, and keep a heading without text findable."""

from collections.abc import Callable, Iterable, Iterator

from fumikura.chunkers.cutting import Span, trimmed
from fumikura.chunkers.tokens import TokenLimit
from fumikura.errors import SettingsError
from fumikura.records import Chunk, Section, Source

CutSection = Callable[[Source, int], Iterable[Chunk]]


def chunk_sections(source: Source, cut: CutSection, limit: TokenLimit) -> list[Chunk]:
    """Return the chunks that `cut` makes of each section, and one of each heading that nothing else carries.

    A heading stands in the heading path of its section's chunks and of those below it; only one without any text
    becomes a chunk of its own.
    """
    chunks: list[Chunk] = []
    for number in range(len(source.sections)):
        body = list(cut(source, number))
        chunks += body or _heading_chunk(source, number, limit)
    return chunks


def make_chunk(source: Source, number: int, span: Span, lead: str = "") -> Chunk:
    """Return the chunk of a span inside section `number`, without outer white space."""
    start, end = trimmed(source.text, *span)
    return Chunk(number, start, end, source.text[start:end], source.sections[number].heading_path, lead)


def require_positive(name: str, value: int) -> None:
    """Raise SettingsError when `value`, in characters, is below 1."""
    if value < 1:
        raise SettingsError(
            ja=f"{name} は1以上の文字数にしてください(今は {value})。",
            en=f"{name} must be at least 1 character (it is {value}).",
        )


def _heading_chunk(source: Source, number: int, limit: TokenLimit) -> Iterator[Chunk]:
    section = source.sections[number]
    heading = next((block for block in section.blocks if block.kind == "heading"), None)
    if heading is None or _goes_on_below(source.sections, number):
        return
    chunk = make_chunk(source, number, (heading.start, heading.end))
    if any(char.isalnum() for char in chunk.text):
        yield from limit.fitted(source.text, chunk)


def _goes_on_below(sections: tuple[Section, ...], number: int) -> bool:
    path = sections[number].heading_path
    below = sections[number + 1].heading_path if number + 1 < len(sections) else ()
    return len(below) > len(path) and below[: len(path)] == path

"""A source made ready for the tables: texts cleaned, offsets checked, before any transaction begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fumikura.errors import SourceError
from fumikura.records import Chunk, Notice, Section, Source
from fumikura.store.texts import as_json, clean, content_sha256, nfc


@dataclass(frozen=True)
class Draft:
    """A source and its chunks as they will be stored."""

    source: Source
    chunks: tuple[Chunk, ...]
    chunk_recipe: str

    @property
    def embed_texts(self) -> list[str]:
        """What the keyword index reads of each chunk."""
        return [chunk.embed_text for chunk in self.chunks]

    def source_values(self) -> dict[str, object]:
        """Return the columns of `sources` that come from the source itself."""
        source = self.source
        return {
            "origin": source.origin,
            "name": source.name,
            "kind": source.kind,
            "title": source.title,
            "date": source.date,
            "size_bytes": source.size_bytes,
            "sha256": source.sha256,
            "encoding": source.encoding,
            "encoding_certain": source.encoding_certain,
            "notices": as_json([[notice.ja, notice.en] for notice in source.notices]),
            "metadata": as_json(dict(source.metadata)),
            "chunk_recipe": self.chunk_recipe,
            "chunk_count": len(self.chunks),
        }

    def section_values(self) -> list[tuple[object, ...]]:
        """Return (position, heading_path, page, start, end, text) of each section."""
        return [
            (position, as_json(section.heading_path), section.page, section.start, section.end, section.text)
            for position, section in enumerate(self.source.sections)
        ]

    def chunk_values(self, section_ids: Sequence[int]) -> list[tuple[object, ...]]:
        """Return (section_id, position, start, end, heading_path, lead, content_sha256) of each chunk."""
        return [
            (
                section_ids[chunk.section],
                position,
                chunk.start,
                chunk.end,
                self._own_heading_path(chunk),
                chunk.lead,
                content_sha256(chunk.embed_text),
            )
            for position, chunk in enumerate(self.chunks)
        ]

    def _own_heading_path(self, chunk: Chunk) -> str | None:
        same = chunk.heading_path == self.source.sections[chunk.section].heading_path
        return None if same else as_json(chunk.heading_path)


def make_draft(source: Source, chunks: Sequence[Chunk], chunk_recipe: str) -> Draft:
    """Return the draft. Raises SourceError when sections leave gaps or a chunk lies outside its section."""
    source = _cleaned(source)
    _check_sections(source)
    cleaned = tuple(
        replace(
            chunk,
            text=source.text[chunk.start : chunk.end],
            lead=clean(chunk.lead),
            heading_path=_clean_path(chunk.heading_path),
        )
        for chunk in chunks
    )
    for chunk in cleaned:
        _check_chunk(source, chunk)
    return Draft(source, cleaned, chunk_recipe)


def _cleaned(source: Source) -> Source:
    sections = tuple(
        replace(section, heading_path=_clean_path(section.heading_path), text=clean(section.text))
        for section in source.sections
    )
    return replace(
        source,
        origin=nfc(source.origin),
        name=nfc(source.name),
        title=clean(source.title),
        text=clean(source.text),
        sections=sections,
        metadata=_clean_mapping(source.metadata),
        notices=tuple(Notice(clean(notice.ja), clean(notice.en)) for notice in source.notices),
    )


def _clean_path(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean(part) for part in parts)


def _clean_mapping(metadata: Mapping[str, str]) -> dict[str, str]:
    return {clean(key): clean(value) for key, value in metadata.items()}


def _check_sections(source: Source) -> None:
    position = 0
    for section in source.sections:
        if section.start != position or section.text != source.text[section.start : section.end]:
            raise _bad_offsets(source, section.start)
        position = section.end
    if position != len(source.text):
        raise _bad_offsets(source, position)


def _check_chunk(source: Source, chunk: Chunk) -> None:
    section: Section | None = source.sections[chunk.section] if 0 <= chunk.section < len(source.sections) else None
    if section is None or not section.start <= chunk.start < chunk.end <= section.end:
        raise _bad_offsets(source, chunk.start)


def _bad_offsets(source: Source, position: int) -> SourceError:
    # An error of this one file: the others of the same run are stored all the same.
    return SourceError(
        ja=f"{source.name} の {position} 文字目で、節や断片の位置が本文と合いません。"
        "この資料名を添えて報告してください。",
        en=f"{source.name}: sections or chunks do not fit the text at character {position}; please report this",
    )

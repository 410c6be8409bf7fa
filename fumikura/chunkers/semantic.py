"""Chunks that end where the topic turns: where neighbouring sentences are least alike. Knows vectors, no models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fumikura.chunkers.pieces import Piece, body_blocks, packed, pieces_of, sentence_pieces
from fumikura.chunkers.sections import chunk_sections, require_positive
from fumikura.chunkers.structure import fitted_run
from fumikura.chunkers.tokens import TokenLimit
from fumikura.protocols import Embedder
from fumikura.records import Block, Chunk, Source

PERCENTILE = 25


@dataclass(frozen=True, slots=True)
class _Passage:
    """The pieces of one block; of prose also the cosine similarity of each sentence with the next one."""

    pieces: list[Piece]
    prose: bool
    similarities: tuple[float, ...] = ()


class SemanticChunker:
    """Cuts prose where similarity falls into the lowest quarter of the text, at 0.5 to 1.5 times `target` characters.

    Headings and paragraphs always end a chunk. Tables, lists and code have no sentences to compare: they are cut
    along their structure.
    """

    def __init__(self, embedder: Embedder, target: int = 256) -> None:
        require_positive("chunk.size", target)
        self._embedder = embedder
        self._target = target
        self._lower, self._upper = target // 2, target + target // 2
        self._limit = TokenLimit(embedder.max_tokens, embedder.count_tokens)
        self.recipe = f"semantic target={target} percentile={PERCENTILE} embedder={embedder.name} v1"

    def chunk(self, source: Source) -> list[Chunk]:
        """Return the chunks in reading order. Raises SettingsError, and BackendError from the embedder."""
        passages = [self._passages(source, number) for number in range(len(source.sections))]
        similarities = [value for section in passages for passage in section for value in passage.similarities]
        # A quantile of this text, since absolute similarities differ between models.
        turn = float(np.percentile(similarities, PERCENTILE)) if similarities else -1.0

        def cut(source: Source, number: int) -> Iterator[Chunk]:
            for passage in passages[number]:
                for run in self._runs(passage, turn):
                    yield from fitted_run(source, number, run, self._limit)

        return chunk_sections(source, cut, self._limit)

    def _passages(self, source: Source, number: int) -> list[_Passage]:
        blocks = enumerate(body_blocks(source.text, source.sections[number]))
        return self._compared(source.text, [self._passage(source.text, block, place) for place, block in blocks])

    def _passage(self, text: str, block: Block, number: int) -> _Passage:
        if block.kind != "paragraph":
            return _Passage(list(pieces_of(text, block, number, self._target)), prose=False)
        sentences = sentence_pieces(text, block.start, block.end, number, self._upper)
        spans = (span for piece in sentences for span in self._limit.fitted_spans(text, (piece.start, piece.end)))
        return _Passage([Piece(*span, block=number) for span in spans], prose=True)

    def _compared(self, text: str, passages: list[_Passage]) -> list[_Passage]:
        """Embed the sentences of one section in one call and note how alike neighbours of a paragraph are."""
        sentences = [text[piece.start : piece.end] for passage in passages if passage.prose for piece in passage.pieces]
        if len(sentences) < 2:
            return passages
        vectors = self._embedder.embed_documents(sentences)
        alike = [float(value) for value in np.einsum("ij,ij->i", vectors[:-1], vectors[1:])]
        return list(_with_similarities(passages, alike))

    def _runs(self, passage: _Passage, turn: float) -> Iterator[list[Piece]]:
        if not passage.prose:
            yield from packed(passage.pieces, self._target)
            return
        runs = [passage.pieces[:1]]
        for piece, similarity in zip(passage.pieces[1:], passage.similarities, strict=True):
            turned = similarity < turn and _length(runs[-1]) >= self._lower
            if turned or piece.end - runs[-1][0].start > self._upper:
                runs.append([])
            runs[-1].append(piece)
        yield from self._without_short_tail(runs)

    def _without_short_tail(self, runs: list[list[Piece]]) -> list[list[Piece]]:
        if len(runs) > 1 and _length(runs[-1]) < self._lower and _length(runs[-2] + runs[-1]) <= self._upper:
            return [*runs[:-2], runs[-2] + runs[-1]]
        return runs


def _with_similarities(passages: Sequence[_Passage], alike: Sequence[float]) -> Iterator[_Passage]:
    place = 0
    for passage in passages:
        if passage.prose:
            count = len(passage.pieces)
            passage = _Passage(passage.pieces, True, tuple(alike[place : place + count - 1]))
            place += count
        yield passage


def _length(run: Sequence[Piece]) -> int:
    return run[-1].end - run[0].start

"""A notebook's vectors in memory, kept in step with the store: only new rows are read, removed ones dropped."""

from dataclasses import dataclass

import numpy as np

from fumikura.protocols import VectorReader
from fumikura.records import Ids, VectorRows


@dataclass(frozen=True)
class Mirror:
    """The store's vectors as of one revision of a notebook, ascending by chunk id."""

    space: str
    revision: int
    rows: VectorRows


@dataclass(frozen=True)
class Difference:
    """What lies between the ids that an index holds and those of the store."""

    space: str
    revision: int
    removed: Ids
    added: Ids


def difference(reader: VectorReader, notebook: str, space: str, held: Ids) -> Difference:
    """Compare the held ids (of this space) with the store's. Ids are never used twice, so ids are enough."""
    # The revision is read first: what changes while the ids are read is found by the next search.
    revision = reader.vector_revision(notebook)
    present_space = reader.vector_space()
    ids = reader.vector_ids(notebook)
    if present_space != space:
        return Difference(present_space, revision, removed=held, added=ids)
    return Difference(
        space,
        revision,
        removed=np.setdiff1d(held, ids, assume_unique=True),
        added=np.setdiff1d(ids, held, assume_unique=True),
    )


def in_step(reader: VectorReader, notebook: str, space: str, revision: int) -> bool:
    """Whether what was read as of this space and revision is still what the store holds."""
    return reader.vector_revision(notebook) == revision and reader.vector_space() == space


def apply(rows: VectorRows, change: Difference, new: VectorRows) -> VectorRows:
    """Return the rows without the removed and with the new ones, ascending by id."""
    kept = np.isin(rows.ids, change.removed, assume_unique=True, invert=True)
    if not kept.any():
        return new
    if not len(new.ids):
        return VectorRows(rows.ids[kept], rows.sources[kept], rows.vectors[kept])
    ids = np.concatenate([rows.ids[kept], new.ids])
    sources = np.concatenate([rows.sources[kept], new.sources])
    vectors = np.concatenate([rows.vectors[kept], new.vectors])
    order = np.argsort(ids)
    return VectorRows(ids[order], sources[order], vectors[order])

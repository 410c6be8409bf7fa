-- The resident core: how a notebook is to be read, which computed prefixes may be kept, how fast prompts are read.

-- auto, rag, resident or hybrid.
ALTER TABLE notebooks ADD COLUMN mode TEXT NOT NULL DEFAULT 'auto';

-- A prefix that was computed, with what it holds: [[public id, SHA-256], …]. Once one of these has changed or gone, the
-- prefix's file must go as well.
CREATE TABLE prefixes (
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  prefix_sha256 TEXT NOT NULL,
  sources TEXT NOT NULL,
  used_at REAL NOT NULL,
  PRIMARY KEY (notebook_id, prefix_sha256)
) WITHOUT ROWID;

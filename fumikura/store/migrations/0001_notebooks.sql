-- The first schema. Character offsets count code points in a source's extracted text.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Tells this store from others: an index kept in another place must not serve its ids to the wrong store.
INSERT INTO meta VALUES ('store_id', lower(hex(randomblob(8))));

-- revision grows with every change of the notebook's sources, chunks or vectors.
CREATE TABLE notebooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0,
  chunk_count INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  origin TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  date TEXT,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  encoding TEXT,
  encoding_certain INTEGER NOT NULL,
  notices TEXT NOT NULL,
  metadata TEXT NOT NULL,
  chunk_recipe TEXT NOT NULL,
  chunk_count INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  included INTEGER NOT NULL DEFAULT 1,
  added_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (notebook_id, origin)
);

-- A source's sections, joined in order, are its whole text: it is stored nowhere else.
CREATE TABLE sections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  heading_path TEXT NOT NULL,
  page INTEGER,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  text TEXT NOT NULL
);

CREATE INDEX sections_by_source ON sections (source_id, position);

-- AUTOINCREMENT: a chunk id is never used twice, so an index can trust the ids that it holds.
-- heading_path is NULL where the chunk is embedded under its section's.
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  section_id INTEGER NOT NULL REFERENCES sections (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  heading_path TEXT,
  lead TEXT NOT NULL,
  content_sha256 TEXT NOT NULL
);

CREATE INDEX chunks_by_source ON chunks (source_id, position);
CREATE INDEX chunks_by_notebook ON chunks (notebook_id);
CREATE INDEX chunks_by_section ON chunks (section_id, position);

-- rowid = chunks.id. Tokens carry notebook and column in front ("17b会議"), so a word of one notebook is
-- another word in the next: no filter is needed, and counts and ranks never mix notebooks.
-- The stored tokens allow exact deletion when the dictionary has changed since.
CREATE VIRTUAL TABLE keyword USING fts5 (
  bigrams,
  words,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co S* P*'"
);

-- In how many chunks each token of `keyword` occurs. fts5vocab knows too, but reads a token's whole list.
CREATE TABLE tokens (
  token TEXT PRIMARY KEY,
  chunk_count INTEGER NOT NULL
) WITHOUT ROWID;

-- How vectors were made; at most one recipe is searched.
CREATE TABLE recipes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  recipe TEXT NOT NULL UNIQUE,
  dimension INTEGER,
  present INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE vectors (
  id INTEGER PRIMARY KEY,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  chunk_id INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  recipe_id INTEGER NOT NULL REFERENCES recipes (id) ON DELETE CASCADE,
  content_sha256 TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (chunk_id, recipe_id)
);

CREATE INDEX vectors_by_notebook ON vectors (notebook_id, recipe_id, chunk_id);
CREATE INDEX vectors_by_source ON vectors (source_id, recipe_id);
CREATE INDEX vectors_by_content ON vectors (notebook_id, content_sha256);

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  step TEXT NOT NULL DEFAULT '',
  done_count INTEGER NOT NULL DEFAULT 0,
  total_count INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

-- What the server keeps: jobs with their files, conversations, notes; what a person sets on a source.

-- listing grows whenever the list of the notebook's sources would show something else.
ALTER TABLE notebooks ADD COLUMN listing INTEGER NOT NULL DEFAULT 0;

-- given_name: the name a person gave (NULL: the file's own). hidden_at: Unix seconds, NULL while it is shown.
-- vector_count: vectors of the present recipe, kept so that neither list nor progress counts them.
ALTER TABLE sources ADD COLUMN given_name TEXT;
ALTER TABLE sources ADD COLUMN hidden_at REAL;
ALTER TABLE sources ADD COLUMN vector_count INTEGER NOT NULL DEFAULT 0;

UPDATE sources SET vector_count = (
  SELECT count(*) FROM vectors WHERE vectors.source_id = sources.id
  AND vectors.recipe_id = (SELECT id FROM recipes WHERE present)
);

CREATE INDEX sources_embedding ON sources (notebook_id, id) WHERE vector_count < chunk_count AND hidden_at IS NULL;
CREATE INDEX sources_left_out ON sources (notebook_id) WHERE NOT included OR hidden_at IS NOT NULL;

-- The bytes of a source's file, apart from its row, which is written again by every change.
CREATE TABLE originals (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  content BLOB NOT NULL
);

-- Nothing has written jobs so far. source_id is public, as a job outlives its source. error: [Japanese, English].
DROP TABLE jobs;

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  step TEXT NOT NULL,
  done_count INTEGER NOT NULL DEFAULT 0,
  total_count INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  deaths INTEGER NOT NULL DEFAULT 0, -- how often the process died while it ran
  error TEXT,
  source_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX jobs_by_notebook ON jobs (notebook_id, id, state, updated_at);
CREATE INDEX jobs_in_turn ON jobs (kind <> 'add', id) WHERE state = 'queued';

-- The bytes that a job works on, until it is done.
CREATE TABLE job_files (
  job_id INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  origin TEXT NOT NULL,
  name TEXT NOT NULL,
  modified TEXT,
  content BLOB NOT NULL
);

CREATE TABLE conversations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE INDEX conversations_by_notebook ON conversations (notebook_id, updated_at);

-- answer: the checked answer as JSON. trace: how it came about, last because only the receipt reads it.
CREATE TABLE turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  completed TEXT NOT NULL,
  state TEXT NOT NULL,
  text TEXT NOT NULL DEFAULT '',
  error TEXT,
  asked_at TEXT NOT NULL,
  ended_at TEXT,
  answer TEXT,
  trace TEXT
);

CREATE INDEX turns_by_conversation ON turns (conversation_id, id);
CREATE INDEX turns_running ON turns (id) WHERE state = 'running';

-- source_row: the source that the note became. normalized: title, question and text as a search reads them.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  notebook_id INTEGER NOT NULL REFERENCES notebooks (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  question TEXT NOT NULL,
  source_row INTEGER REFERENCES sources (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  citations TEXT NOT NULL,
  text TEXT NOT NULL,
  normalized TEXT NOT NULL
);

CREATE INDEX notes_by_notebook ON notes (notebook_id, id);
CREATE INDEX notes_by_source ON notes (source_row);

-- The database of a workspace. Every row is derived from the files of trial folders, nothing else: deleting the database and `rematch ingest`
-- gives the same rows. Bytes are bytes, *_ns nanoseconds, NULL is "not measured". Never edit this file: add a numbered one.

-- study.json
CREATE TABLE study (
  study_id              TEXT PRIMARY KEY,
  name                  TEXT NOT NULL,
  sweep_path            TEXT NOT NULL,
  sweep_text            TEXT NOT NULL,
  trainer_build_id      TEXT NOT NULL,
  num_blocks            INTEGER NOT NULL,
  budget_per_rank_bytes INTEGER,
  document              TEXT NOT NULL          -- study.json, less its whitespace
) WITHOUT ROWID;

-- Arms of a group differ in nothing but recompute.
CREATE TABLE grp (
  study_id TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  PRIMARY KEY (study_id, group_id)
) WITHOUT ROWID;

CREATE TABLE arm (
  study_id   TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm        TEXT NOT NULL,                    -- "[]", "moe_act", "layernorm+moe_act", ...
  group_id   TEXT NOT NULL,
  position   INTEGER NOT NULL,                 -- in the sweep's order, control first
  is_control INTEGER NOT NULL,
  status     TEXT NOT NULL,                    -- planned | inactive | invalid | skipped
  reason     TEXT NOT NULL,
  recompute  TEXT NOT NULL,                    -- JSON
  PRIMARY KEY (study_id, arm),
  FOREIGN KEY (study_id, group_id) REFERENCES grp ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE trial (
  study_id     TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  trial_id     TEXT NOT NULL,
  group_id     TEXT NOT NULL,
  arm          TEXT NOT NULL,
  is_control   INTEGER NOT NULL,
  block        INTEGER NOT NULL,               -- 0-based round
  slot         INTEGER NOT NULL,               -- 0-based position within the block
  run_position INTEGER NOT NULL,               -- in the order in which the trials run
  document     TEXT NOT NULL,                  -- trial.json, less its whitespace
  PRIMARY KEY (study_id, trial_id),
  FOREIGN KEY (study_id, arm) REFERENCES arm ON DELETE CASCADE
) WITHOUT ROWID;

-- launch.json
CREATE TABLE attempt (
  study_id        TEXT NOT NULL,
  trial_id        TEXT NOT NULL,
  attempt         INTEGER NOT NULL,            -- 1-based
  host            TEXT NOT NULL,
  launch_end      TEXT NOT NULL,
  start_unix_ns   INTEGER NOT NULL,
  end_unix_ns     INTEGER NOT NULL,
  strays_ended    INTEGER NOT NULL,
  world_size      INTEGER NOT NULL,
  launch_document TEXT NOT NULL,               -- launch.json, less its whitespace
  PRIMARY KEY (study_id, trial_id, attempt),
  FOREIGN KEY (study_id, trial_id) REFERENCES trial ON DELETE CASCADE
) WITHOUT ROWID;

-- hello, model and bye of a rank's record, and its exit
CREATE TABLE rank (
  study_id                TEXT NOT NULL,
  trial_id                TEXT NOT NULL,
  attempt                 INTEGER NOT NULL,
  rank                    INTEGER NOT NULL,
  record_complete         INTEGER NOT NULL,
  record_problems         TEXT NOT NULL,       -- JSON list
  pid                     INTEGER NOT NULL,
  exit_code               INTEGER,
  signal                  INTEGER,
  ended_by_supervisor     INTEGER NOT NULL,
  start_mono_ns           INTEGER NOT NULL,
  end_mono_ns             INTEGER NOT NULL,
  has_hello               INTEGER NOT NULL,
  host                    TEXT,
  device                  TEXT,
  device_name             TEXT,
  provenance              TEXT,
  build_id                TEXT,
  libtorch_version        TEXT,
  comm_backend            TEXT,
  omp_num_threads         INTEGER,
  local_rank              INTEGER,
  world_size              INTEGER,
  record_trial_id         TEXT,
  record_rank             INTEGER,
  record_pid              INTEGER,
  hello_unix_ns           INTEGER,
  resolved_recompute      TEXT,                -- JSON
  has_model               INTEGER NOT NULL,
  num_parameters_local    INTEGER,
  num_parameters_total    INTEGER,
  flops_per_step          REAL,
  has_bye                 INTEGER NOT NULL,
  bye_exit_code           INTEGER,
  steps_completed         INTEGER,
  lifetime_peak_allocated_bytes INTEGER,
  lifetime_peak_reserved_bytes  INTEGER,
  bye_unix_ns             INTEGER,
  PRIMARY KEY (study_id, trial_id, attempt, rank),
  FOREIGN KEY (study_id, trial_id, attempt) REFERENCES attempt ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE stage (
  study_id TEXT NOT NULL,
  trial_id TEXT NOT NULL,
  attempt  INTEGER NOT NULL,
  rank     INTEGER NOT NULL,
  position INTEGER NOT NULL,                   -- in the record
  stage    TEXT NOT NULL,
  event    TEXT NOT NULL,                      -- enter | leave
  step     INTEGER,
  unix_ns  INTEGER NOT NULL,
  mono_ns  INTEGER NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, position),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE step (
  study_id                      TEXT NOT NULL,
  trial_id                      TEXT NOT NULL,
  attempt                       INTEGER NOT NULL,
  rank                          INTEGER NOT NULL,
  step                          INTEGER NOT NULL,
  start_mono_ns                 INTEGER NOT NULL,
  step_time_ns                  INTEGER NOT NULL,
  loss                          REAL,
  loss_bits                     TEXT NOT NULL, -- fp32 as 8 hex digits
  grad_norm                     REAL,
  skipped                       INTEGER NOT NULL,
  is_nan                        INTEGER NOT NULL,
  end_allocated_bytes           INTEGER NOT NULL,
  end_reserved_bytes            INTEGER NOT NULL,
  lifetime_peak_allocated_bytes INTEGER NOT NULL,
  lifetime_peak_reserved_bytes  INTEGER NOT NULL,
  num_alloc_retries             INTEGER NOT NULL,
  largest_free_block_bytes      INTEGER NOT NULL,
  forward_end_allocated_bytes   INTEGER NOT NULL,
  tokens_received               TEXT NOT NULL, -- JSON list, one number an MoE layer
  PRIMARY KEY (study_id, trial_id, attempt, rank, step),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

-- Watermarks. step is -1 for the build, and for the step that ran out of memory `source` is oom.
CREATE TABLE phase (
  study_id             TEXT NOT NULL,
  trial_id             TEXT NOT NULL,
  attempt              INTEGER NOT NULL,
  rank                 INTEGER NOT NULL,
  source               TEXT NOT NULL,          -- model | step | oom
  step                 INTEGER NOT NULL,
  phase                TEXT NOT NULL,
  duration_ns          INTEGER NOT NULL,
  peak_allocated_bytes INTEGER NOT NULL,
  peak_reserved_bytes  INTEGER NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, source, step, phase),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

-- Regions by label. step is -1 for the sites of the model.
CREATE TABLE label_count (
  study_id  TEXT NOT NULL,
  trial_id  TEXT NOT NULL,
  attempt   INTEGER NOT NULL,
  rank      INTEGER NOT NULL,
  count_of  TEXT NOT NULL,                     -- sites | sites_available | replays
  step      INTEGER NOT NULL,
  label     TEXT NOT NULL,
  num       INTEGER NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, count_of, step, label),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

-- What a rank said of its own end: out of memory, or an error.
CREATE TABLE rank_oom (
  study_id                 TEXT NOT NULL,
  trial_id                 TEXT NOT NULL,
  attempt                  INTEGER NOT NULL,
  rank                     INTEGER NOT NULL,
  stage                    TEXT NOT NULL,
  step                     INTEGER,
  phase                    TEXT NOT NULL,
  requested_bytes          INTEGER NOT NULL,
  allocated_bytes          INTEGER NOT NULL,
  reserved_bytes           INTEGER NOT NULL,
  capacity_bytes           INTEGER,
  largest_free_block_bytes INTEGER NOT NULL,
  num_alloc_retries        INTEGER NOT NULL,
  scope                    TEXT NOT NULL,      -- module path open at the request
  unix_ns                  INTEGER NOT NULL,
  mono_ns                  INTEGER NOT NULL,
  message                  TEXT NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE rank_error (
  study_id  TEXT NOT NULL,
  trial_id  TEXT NOT NULL,
  attempt   INTEGER NOT NULL,
  rank      INTEGER NOT NULL,
  position  INTEGER NOT NULL,                  -- in the record
  kind      TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  stage     TEXT NOT NULL,
  step      INTEGER,
  phase     TEXT NOT NULL,
  unix_ns   INTEGER NOT NULL,
  mono_ns   INTEGER NOT NULL,
  message   TEXT NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, position),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

-- Where and why an attempt failed: the causing rank only.
CREATE TABLE failure (
  study_id        TEXT NOT NULL,
  trial_id        TEXT NOT NULL,
  attempt         INTEGER NOT NULL,
  kind            TEXT NOT NULL,
  stage           TEXT NOT NULL,
  step            INTEGER,
  phase           TEXT,
  rank            INTEGER NOT NULL,
  host            TEXT NOT NULL,
  requested_bytes INTEGER,
  allocated_bytes INTEGER,
  reserved_bytes  INTEGER,
  capacity_bytes  INTEGER,
  message         TEXT NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt),
  FOREIGN KEY (study_id, trial_id, attempt) REFERENCES attempt ON DELETE CASCADE
) WITHOUT ROWID;

-- What the rules say. scope: study, arm or run; subject names it ("", the arm, trial/attempt).
CREATE TABLE verdict (
  study_id              TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  scope                 TEXT NOT NULL,
  subject               TEXT NOT NULL,
  outcome               TEXT NOT NULL,
  reason                TEXT NOT NULL,
  num_planned           INTEGER,
  num_judged            INTEGER,
  num_passed            INTEGER,
  hot_rank              INTEGER,
  peak_allocated_bytes  INTEGER,
  peak_reserved_bytes   INTEGER,
  binding_phase         TEXT,
  activation_peak_bytes INTEGER,
  step_time_ns          REAL,
  tflops_per_rank       REAL,
  PRIMARY KEY (study_id, scope, subject)
) WITHOUT ROWID;

-- Views for SQL users: the keys are spelled out, so that no join is needed.
CREATE VIEW peaks AS
  SELECT s.name AS study, t.arm, t.block, t.slot, p.trial_id, p.attempt, p.rank, p.source, p.step, p.phase, p.duration_ns,
         p.peak_allocated_bytes, p.peak_reserved_bytes
  FROM phase p JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

CREATE VIEW steps AS
  SELECT s.name AS study, t.arm, t.block, t.slot, x.trial_id, x.attempt, x.rank, x.step, x.step_time_ns, x.loss, x.loss_bits, x.grad_norm,
         x.skipped, x.is_nan, x.lifetime_peak_allocated_bytes, x.lifetime_peak_reserved_bytes
  FROM step x JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

CREATE VIEW failures AS
  SELECT s.name AS study, t.arm, t.block, t.slot, f.trial_id, f.attempt, f.kind, f.stage, f.step, f.phase, f.rank, f.host,
         f.requested_bytes, f.allocated_bytes, f.reserved_bytes, f.capacity_bytes, f.message
  FROM failure f JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

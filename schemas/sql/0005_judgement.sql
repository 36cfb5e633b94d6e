-- What decides whether two trials may be compared, what a strategy decided, and verdicts with their intervals.

ALTER TABLE rank ADD COLUMN num_devices        INTEGER;  -- visible to the rank
ALTER TABLE rank ADD COLUMN device_id          TEXT;
ALTER TABLE rank ADD COLUMN driver_version     TEXT;
ALTER TABLE rank ADD COLUMN cuda_version       TEXT;
ALTER TABLE rank ADD COLUMN nccl_version       TEXT;
ALTER TABLE rank ADD COLUMN link_types         TEXT;
ALTER TABLE rank ADD COLUMN cpu_affinity       TEXT;     -- list of CPUs: "0-3,8"
ALTER TABLE rank ADD COLUMN allocator_settings TEXT;
ALTER TABLE rank ADD COLUMN environment        TEXT;     -- JSON: recorded variables that are set

UPDATE rank SET cpu_affinity = '', environment = '{}' WHERE has_hello;

ALTER TABLE attempt ADD COLUMN trial_document TEXT;      -- trial.json of its folder; null where it is the plan's

ALTER TABLE arm ADD COLUMN variation TEXT NOT NULL DEFAULT '';  -- what its group changes besides recompute: expandable_segments | cpu_offloading

ALTER TABLE study ADD COLUMN awaits_decision INTEGER NOT NULL DEFAULT 0;  -- its strategy may add trials to those that are planned

ALTER TABLE verdict ADD COLUMN pass_rate_low  REAL;      -- Wilson, 95 %
ALTER TABLE verdict ADD COLUMN pass_rate_high REAL;
ALTER TABLE verdict ADD COLUMN mean_step_time_ns      REAL;  -- of the steady steps
ALTER TABLE verdict ADD COLUMN window_step_time_ns    REAL;  -- mean of the steps 11 to 20, counted from 1
ALTER TABLE verdict ADD COLUMN tflops_of_mean_time    REAL;
ALTER TABLE verdict ADD COLUMN tflops_mean_over_steps REAL;
ALTER TABLE verdict ADD COLUMN first_steady_step INTEGER;  -- of a run
ALTER TABLE verdict ADD COLUMN warmup_reached    INTEGER;  -- of a run: its step times settled in the first half
ALTER TABLE verdict ADD COLUMN peak_growth_bytes INTEGER;  -- of a run: in the last third of the steps, of the rank nearest to what is allowed
ALTER TABLE verdict ADD COLUMN peak_growth_allowed_bytes INTEGER;
ALTER TABLE verdict ADD COLUMN is_pareto      INTEGER;   -- of an arm: no other of its group is at most as high in peak and time and lower in one

-- Documents of before: no strategy had decided anything, and no group was varied.
UPDATE trial SET document = json_set(document, '$.backend.expandable_segments', json('false'));
UPDATE study SET document = json_set(
  document, '$.strategy', 'one_label', '$.blocks_auto', json('false'), '$.decisions', json('[]'),
  '$.arms', json((SELECT json_group_array(json_set(value, '$.variation', '')) FROM json_each(study.document, '$.arms'))),
  '$.trials', json((SELECT json_group_array(json_set(value, '$.backend.expandable_segments', json('false')))
                    FROM json_each(study.document, '$.trials'))));

CREATE TABLE decision (
  study_id TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  position INTEGER NOT NULL,                   -- in the order in which they were taken
  round    INTEGER NOT NULL,                   -- 0-based: whose results it looked at
  action   TEXT NOT NULL,                      -- take | leave_out | freeze | stop
  arm      TEXT NOT NULL,                      -- empty: of the whole study
  reason   TEXT NOT NULL,
  PRIMARY KEY (study_id, position)
) WITHOUT ROWID;

CREATE TABLE effect (
  study_id          TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm               TEXT NOT NULL,
  against           TEXT NOT NULL,             -- the other arm
  against_control   INTEGER NOT NULL,
  peak_delta_bytes  INTEGER NOT NULL,
  activation_delta_bytes INTEGER,
  censored          INTEGER NOT NULL,          -- the saving is "at least"
  memory_verdict    TEXT,                      -- lower | higher | equal | undecided
  memory_low_bytes  INTEGER,                   -- interval of the difference; null when repeats agree to the byte or there are none
  memory_high_bytes INTEGER,
  time_fraction     REAL,                      -- ratio - 1, from the fit
  time_low          REAL,                      -- simultaneous interval
  time_high         REAL,
  time_verdict      TEXT,                      -- faster | slower | equal | undecided
  blocks_needed     INTEGER,                   -- of undecided: blocks that would decide it
  PRIMARY KEY (study_id, arm)
) WITHOUT ROWID;

CREATE TABLE interaction (
  study_id  TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm       TEXT NOT NULL,                     -- a pair of labels that both ran alone
  first     TEXT NOT NULL,
  second    TEXT NOT NULL,
  activation_bytes      REAL NOT NULL,         -- pair less the sum of its labels, each against its control; negative: it saves more
  activation_low_bytes  REAL,                  -- 95 % interval
  activation_high_bytes REAL,
  log_time      REAL,                          -- the same of log step time
  log_time_low  REAL,
  log_time_high REAL,
  PRIMARY KEY (study_id, arm)
) WITHOUT ROWID;

CREATE TABLE time_fit (
  study_id           TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  group_id           TEXT NOT NULL,
  num_runs           INTEGER NOT NULL,
  degrees_of_freedom INTEGER NOT NULL,
  residual_sd        REAL NOT NULL,            -- of log step time, pooled over arms
  critical_value     REAL NOT NULL,            -- Dunnett
  confidence         REAL NOT NULL,            -- simultaneous, of one look
  drift_per_slot     REAL NOT NULL,            -- slope of log step time over the position within a block
  drift_p_value      REAL NOT NULL,
  PRIMARY KEY (study_id, group_id)
) WITHOUT ROWID;

CREATE TABLE diagnosis (
  study_id  TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  symptom   TEXT NOT NULL,                     -- stable identifier
  arm       TEXT NOT NULL,                     -- empty: of the whole study
  finding   TEXT NOT NULL,                     -- with its numbers
  next_step TEXT NOT NULL,
  PRIMARY KEY (study_id, position)
) WITHOUT ROWID;

CREATE TABLE field_difference (
  study_id      TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  trial_id      TEXT NOT NULL,
  attempt       INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  against       TEXT NOT NULL,                 -- the trial that it was compared with
  field         TEXT NOT NULL,
  value         TEXT NOT NULL,                 -- empty: not recorded
  against_value TEXT NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, position)
) WITHOUT ROWID;

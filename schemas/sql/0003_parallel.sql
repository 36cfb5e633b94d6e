-- What ranks communicated, and what moved from one rank to another.

-- Of each rank its last completed step: not every step.
CREATE TABLE communication (
  study_id    TEXT NOT NULL,
  trial_id    TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  rank        INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  axis        TEXT NOT NULL,                   -- tp | cp | dp | pp | dp_cp | tp_cp | tp_dp_cp | ep | expt_tp | expt_dp | world
  pass        TEXT NOT NULL,                   -- forward | backward | replay | update
  operation   TEXT NOT NULL,                   -- all_reduce | all_gather | reduce_scatter | all_to_all | send | receive
  num_calls   INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,                -- reports/METRICS.md, "Communication"
  duration_ns INTEGER NOT NULL,                -- from call to end, waiting for peers included
  PRIMARY KEY (study_id, trial_id, attempt, rank, step, axis, pass, operation),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

ALTER TABLE rank_error ADD COLUMN failed_rank INTEGER;  -- of a victim: the rank that failed or did not come

-- Part of the verdict of an arm: the two ranks between which its hot rank or its failure moved, seen from the arm that it is set against.
CREATE TABLE moved_rank (
  study_id      TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm           TEXT NOT NULL,
  moved         TEXT NOT NULL,                 -- hot_rank | failure
  side          TEXT NOT NULL,                 -- from: of the other arm | to: of this arm
  against       TEXT NOT NULL,                 -- the other arm
  rank          INTEGER NOT NULL,
  pipeline_rank INTEGER NOT NULL,
  pipeline_size INTEGER NOT NULL,
  against_peak_allocated_bytes INTEGER,        -- of this rank in the other arm
  against_binding_phase        TEXT,
  peak_allocated_bytes         INTEGER,        -- of this rank in this arm
  binding_phase                TEXT,
  PRIMARY KEY (study_id, arm, moved, side)
) WITHOUT ROWID;

-- Of every attempt and rank, its last completed step by axis and pass.
CREATE VIEW traffic AS
  SELECT s.name AS study, t.arm, t.block, t.slot, c.trial_id, c.attempt, c.rank, c.step, c.axis, c.pass, sum(c.num_calls) AS num_calls,
         sum(c.bytes) AS bytes, sum(c.duration_ns) AS duration_ns
  FROM communication c JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id)
  GROUP BY s.name, t.arm, t.block, t.slot, c.trial_id, c.attempt, c.rank, c.step, c.axis, c.pass;

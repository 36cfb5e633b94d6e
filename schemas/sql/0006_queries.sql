-- What looks at many trials at once needs, and the views that `rematch query` reads.

-- Unique, since the keys stand in them: SQLite then reads joins in their order, without sorting.
CREATE UNIQUE INDEX study_by_name ON study (name, study_id);
CREATE UNIQUE INDEX trial_in_run_order ON trial (study_id, run_position, trial_id);
-- Without the documents that a row of the table holds.
CREATE INDEX attempt_key ON attempt (study_id, trial_id, attempt);

-- The report of a study as one build of the program made it. A new row of the study takes it away.
CREATE TABLE report (
  study_id   TEXT PRIMARY KEY REFERENCES study ON DELETE CASCADE,
  build_id   TEXT NOT NULL,                    -- of rematch
  plan       TEXT NOT NULL,                    -- study.json, less its trials and its whitespace
  model      TEXT NOT NULL,                    -- JSON: facts, tables of cells, notes
  conclusion INTEGER NOT NULL                  -- exit code of `rematch run`
) WITHOUT ROWID;

CREATE VIEW studies AS
  SELECT s.name AS study, s.study_id, s.num_blocks, s.budget_per_rank_bytes, s.trainer_build_id,
         (SELECT count(*) FROM trial t WHERE t.study_id = s.study_id) AS num_trials,
         (SELECT count(*) FROM attempt a WHERE a.study_id = s.study_id) AS num_attempts,
         (SELECT count(*) FROM failure f WHERE f.study_id = s.study_id) AS num_failed_attempts,
         v.outcome AS conclusion, v.reason
  FROM study s LEFT JOIN verdict v ON v.study_id = s.study_id AND v.scope = 'study' AND v.subject = '';

CREATE VIEW arms AS
  SELECT s.name AS study, a.study_id, a.arm, a.variation, a.position, a.is_control, a.status, v.outcome, coalesce(nullif(v.reason, ''), a.reason) AS reason,
         v.num_planned, v.num_judged, v.num_passed, v.hot_rank, v.peak_allocated_bytes, v.peak_reserved_bytes, v.binding_phase,
         v.activation_peak_bytes, v.step_time_ns, v.tflops_per_rank, v.pass_rate_low, v.pass_rate_high, v.is_pareto
  FROM arm a JOIN study s USING (study_id) LEFT JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'arm' AND v.subject = a.arm;

-- What ranks said of their own end.
CREATE VIEW errors AS
  SELECT s.name AS study, t.arm, t.block, t.slot, e.trial_id, e.attempt, e.rank, e.position, e.kind, e.exit_code, e.stage, e.step, e.phase,
         e.failed_rank, e.message
  FROM rank_error e JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

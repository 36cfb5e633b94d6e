-- What predictions are made of.

ALTER TABLE step ADD COLUMN forward_end_requested_bytes INTEGER;  -- null: of an older record

-- Of each rank its last completed step: not every step.
CREATE TABLE work (
  study_id     TEXT NOT NULL,
  trial_id     TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  rank         INTEGER NOT NULL,
  step         INTEGER NOT NULL,
  pass         TEXT NOT NULL,                  -- forward | backward | replay | update
  matmul_flops INTEGER NOT NULL,               -- reports/METRICS.md, "Work"
  matmul_bytes INTEGER NOT NULL,
  other_bytes  INTEGER NOT NULL,
  num_kernels  INTEGER NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, step, pass),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

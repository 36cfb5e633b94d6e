-- What live memory was for. Of each rank the step of its largest allocated peak, and the request that failed: not every step.

CREATE TABLE peak_attribution (
  study_id TEXT NOT NULL,
  trial_id TEXT NOT NULL,
  attempt  INTEGER NOT NULL,
  rank     INTEGER NOT NULL,
  source   TEXT NOT NULL,                      -- step: at its peak | oom: when the request failed
  step     INTEGER NOT NULL,                   -- -1: before the first
  role     TEXT NOT NULL,                      -- parameters | gradients | optimizer_state | activations | logits_and_loss | ...
  region   TEXT NOT NULL,                      -- labels of the open regions, outermost first: "moe/moe_act"; empty outside every region
  bytes    INTEGER NOT NULL,
  PRIMARY KEY (study_id, trial_id, attempt, rank, source, step, role, region),
  FOREIGN KEY (study_id, trial_id, attempt, rank) REFERENCES rank ON DELETE CASCADE
) WITHOUT ROWID;

ALTER TABLE step ADD COLUMN aux_losses TEXT NOT NULL DEFAULT '{}';  -- JSON, by name

-- Of each arm its largest attributed total: the hot rank's peak, or what it held when it ran out of memory.
CREATE VIEW attribution AS
  WITH total AS (
    SELECT a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step, sum(a.bytes) AS total_bytes,
           row_number() OVER (PARTITION BY a.study_id, t.arm
                              ORDER BY sum(a.bytes) DESC, t.run_position, a.attempt, a.rank, a.source, a.step) AS place
    FROM peak_attribution a JOIN trial t USING (study_id, trial_id)
    GROUP BY a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step
  )
  SELECT s.name AS study, t.arm, p.trial_id, p.attempt, p.rank, p.source, p.step, a.role, a.region, a.bytes,
         1.0 * a.bytes / p.total_bytes AS share
  FROM total p
  JOIN peak_attribution a USING (study_id, trial_id, attempt, rank, source, step)
  JOIN trial t USING (study_id, trial_id)
  JOIN study s USING (study_id)
  WHERE p.place = 1;

-- What the formats and verbs for reading results need.

-- The plots of a kept report, apart from its tables: most formats have none. JSON; reports of before are made anew.
ALTER TABLE report ADD COLUMN plots TEXT NOT NULL DEFAULT '';
DELETE FROM report;

-- study.json, less its trials and its whitespace: of a study of many trials they are nearly all of the document.
ALTER TABLE study ADD COLUMN head TEXT NOT NULL DEFAULT '';
UPDATE study SET head = json_set(document, '$.trials', json('[]'));

-- The trials of an arm, in the order in which they run.
CREATE UNIQUE INDEX trial_of_arm ON trial (study_id, arm, run_position, trial_id);

-- When attempts began stands in the index: to ask for those since a time reads no documents.
DROP INDEX attempt_key;
CREATE INDEX attempt_key ON attempt (study_id, trial_id, attempt, start_unix_ns);

-- The rest of what is judged, for SQL users: schemas/VIEWS.md documents every view.
CREATE VIEW runs AS
  SELECT s.name AS study, t.arm, t.block, t.slot, a.trial_id, a.attempt, a.start_unix_ns, v.outcome, v.reason, v.hot_rank,
         v.peak_allocated_bytes, v.peak_reserved_bytes, v.binding_phase, v.activation_peak_bytes, v.step_time_ns, v.mean_step_time_ns,
         v.window_step_time_ns, v.tflops_per_rank, v.first_steady_step, v.warmup_reached, v.peak_growth_bytes, v.peak_growth_allowed_bytes
  FROM attempt a JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id)
  LEFT JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'run' AND v.subject = a.trial_id || '/' || a.attempt;

CREATE VIEW decisions AS
  SELECT s.name AS study, d.position, d.round, d.action, d.arm, d.reason FROM decision d JOIN study s USING (study_id);

CREATE VIEW diagnoses AS
  SELECT s.name AS study, d.position, d.symptom, d.arm, d.finding, d.next_step FROM diagnosis d JOIN study s USING (study_id);

CREATE VIEW unmatched AS
  SELECT s.name AS study, t.arm, d.trial_id, d.attempt, d.field, d.value, d.against AS against_trial_id, d.against_value
  FROM field_difference d JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

CREATE VIEW interactions AS
  SELECT s.name AS study, i.arm, i.first, i.second, i.activation_bytes, i.activation_low_bytes, i.activation_high_bytes, i.log_time,
         i.log_time_low, i.log_time_high
  FROM interaction i JOIN study s USING (study_id);

CREATE VIEW moved_ranks AS
  SELECT s.name AS study, m.arm, m.moved, m.side, m.against, m.rank, m.pipeline_rank, m.pipeline_size, m.against_peak_allocated_bytes,
         m.against_binding_phase, m.peak_allocated_bytes, m.binding_phase
  FROM moved_rank m JOIN study s USING (study_id);

CREATE VIEW time_fits AS
  SELECT s.name AS study, f.group_id, f.num_runs, f.degrees_of_freedom, f.residual_sd, f.critical_value, f.confidence, f.drift_per_slot,
         f.drift_p_value
  FROM time_fit f JOIN study s USING (study_id);

CREATE VIEW work_done AS
  SELECT s.name AS study, t.arm, t.block, t.slot, w.trial_id, w.attempt, w.rank, w.step, w.pass, w.matmul_flops, w.matmul_bytes,
         w.other_bytes, w.num_kernels
  FROM work w JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

-- With the id of the study: names are not unique.
DROP VIEW attribution;
CREATE VIEW attribution AS
  WITH total AS (
    SELECT a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step, sum(a.bytes) AS total_bytes,
           row_number() OVER (PARTITION BY a.study_id, t.arm
                              ORDER BY sum(a.bytes) DESC, t.run_position, a.attempt, a.rank, a.source, a.step) AS place
    FROM peak_attribution a JOIN trial t USING (study_id, trial_id)
    GROUP BY a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step
  )
  SELECT s.name AS study, p.study_id, t.arm, p.trial_id, p.attempt, p.rank, p.source, p.step, a.role, a.region, a.bytes,
         1.0 * a.bytes / p.total_bytes AS share
  FROM total p
  JOIN peak_attribution a USING (study_id, trial_id, attempt, rank, source, step)
  JOIN trial t USING (study_id, trial_id)
  JOIN study s USING (study_id)
  WHERE p.place = 1;

-- What gates on the study look at; JSON.
ALTER TABLE report ADD COLUMN gate_figures TEXT NOT NULL DEFAULT '';

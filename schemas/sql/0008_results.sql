-- What the formats and verbs for reading results need.

-- The plots of a kept report, apart from its tables: most formats have none. JSON; reports of before are made anew.
ALTER TABLE report ADD COLUMN plots TEXT NOT NULL DEFAULT '';
DELETE FROM report;

-- Of arms: the figures that only their report had. Of databases of before they are null until `rematch ingest`.
ALTER TABLE verdict ADD COLUMN provenance               TEXT;     -- measured | modelled-device | predicted
ALTER TABLE verdict ADD COLUMN held_after_forward_bytes INTEGER;
ALTER TABLE verdict ADD COLUMN estimated_step_time_ns   REAL;     -- of a prediction
ALTER TABLE verdict ADD COLUMN estimated_replay_ns      REAL;     -- of it
ALTER TABLE verdict ADD COLUMN hot_rank_num_alike       INTEGER;  -- of a prediction: ranks that the hot rank stands for besides itself

-- Where an arm failed, in its first judged run that did, and what it was set against.
CREATE TABLE arm_failure (
  study_id         TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm              TEXT NOT NULL,
  kind             TEXT NOT NULL,
  stage            TEXT NOT NULL,
  step             INTEGER,
  phase            TEXT,
  rank             INTEGER NOT NULL,
  num_alike        INTEGER,                    -- of a prediction: ranks that this one stands for besides itself
  host             TEXT NOT NULL,
  requested_bytes  INTEGER,
  allocated_bytes  INTEGER,
  reserved_bytes   INTEGER,
  capacity_bytes   INTEGER,
  moved_from_arm   TEXT,                       -- the control, when its failure was at another place or on another rank
  PRIMARY KEY (study_id, arm)
) WITHOUT ROWID;

-- A failed arm against the control at the last step that both completed; a null step: not comparable.
CREATE TABLE failed_comparison (
  study_id            TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  arm                 TEXT NOT NULL,
  step                INTEGER,
  peak_delta_bytes    INTEGER,
  peak_delta_fraction REAL,
  PRIMARY KEY (study_id, arm)
) WITHOUT ROWID;

-- The two controls of a block, the later over the earlier.
CREATE TABLE control_pair (
  study_id                 TEXT NOT NULL REFERENCES study ON DELETE CASCADE,
  group_id                 TEXT NOT NULL,
  position                 INTEGER NOT NULL,   -- in the order of the blocks
  block                    INTEGER NOT NULL,
  time_difference_fraction REAL NOT NULL,      -- ratio - 1
  PRIMARY KEY (study_id, group_id, position)
) WITHOUT ROWID;

-- One row an arm, with a column of the same key for each column of the report's table of arms. Differences of figures are made here, those
-- of fits to the nine digits that mean something.
DROP VIEW arms;
CREATE VIEW arms AS
  WITH judged AS (
    SELECT s.name AS study, a.study_id, a.arm, a.variation, a.position, a.is_control, a.status, a.group_id,
           coalesce(nullif(v.reason, ''), a.reason) AS reason, v.outcome, v.num_planned, v.num_judged, v.num_passed, v.hot_rank,
           v.peak_allocated_bytes, v.peak_reserved_bytes, v.binding_phase, v.activation_peak_bytes, v.step_time_ns, v.tflops_per_rank,
           v.pass_rate_low, v.pass_rate_high, v.is_pareto, v.provenance, v.hot_rank_num_alike, v.held_after_forward_bytes,
           v.mean_step_time_ns, v.window_step_time_ns, v.tflops_of_mean_time, v.tflops_mean_over_steps, v.estimated_step_time_ns,
           v.estimated_replay_ns, e.against, e.against_control, e.peak_delta_bytes,
           e.activation_delta_bytes, e.censored, e.memory_verdict, e.memory_low_bytes, e.memory_high_bytes, e.time_fraction, e.time_low,
           e.time_high, e.time_verdict, e.blocks_needed, r.peak_allocated_bytes AS against_peak_bytes,
           r.activation_peak_bytes AS against_activation_bytes, r.step_time_ns AS against_step_time_ns,
           r.estimated_step_time_ns AS against_estimate_ns, f.kind, f.stage, f.step, f.phase, f.rank, f.num_alike, f.host, f.requested_bytes,
           f.allocated_bytes, f.reserved_bytes, f.capacity_bytes, f.moved_from_arm, m.rank AS moved_from_rank,
           m.stage || coalesce(' of step ' || m.step, '') || coalesce(', ' || m.phase, '') AS moved_from,
           f.stage || coalesce(' of step ' || f.step, '') || coalesce(', ' || f.phase, '') AS moved_to,
           c.arm IS NOT NULL AS is_set_against_control, c.step AS common_step, c.peak_delta_bytes AS failed_delta_bytes,
           c.peak_delta_fraction AS failed_delta_fraction
    FROM arm a JOIN study s USING (study_id)
    LEFT JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'arm' AND v.subject = a.arm
    LEFT JOIN effect e ON e.study_id = a.study_id AND e.arm = a.arm
    LEFT JOIN verdict r ON r.study_id = a.study_id AND r.scope = 'arm' AND r.subject = e.against
    LEFT JOIN arm_failure f ON f.study_id = a.study_id AND f.arm = a.arm
    LEFT JOIN arm_failure m ON m.study_id = a.study_id AND m.arm = f.moved_from_arm
    LEFT JOIN failed_comparison c ON c.study_id = a.study_id AND c.arm = a.arm
  )
  SELECT study, study_id, arm, variation, position, is_control, status, outcome, reason, num_planned, num_judged, num_passed,
         hot_rank, peak_allocated_bytes, peak_reserved_bytes, binding_phase, activation_peak_bytes, step_time_ns, tflops_per_rank,
         iif(pass_rate_low IS NULL, NULL, CAST(printf('%.9g', pass_rate_low) AS REAL)) AS pass_rate_low, iif(pass_rate_high IS NULL, NULL, CAST(printf('%.9g', pass_rate_high) AS REAL)) AS pass_rate_high,
         is_pareto, group_id, provenance, peak_reserved_bytes - peak_allocated_bytes AS fragmentation_bytes, hot_rank_num_alike,
         held_after_forward_bytes, mean_step_time_ns, window_step_time_ns, tflops_of_mean_time, tflops_mean_over_steps,
         estimated_step_time_ns, estimated_replay_ns, against || CASE WHEN against_control THEN '' ELSE ' (reference, not control)' END
           AS against, peak_delta_bytes, peak_allocated_bytes * 1.0 / against_peak_bytes - 1 AS peak_delta_fraction,
         CASE censored WHEN 1 THEN 'at least' WHEN 0 THEN 'as shown' END AS saving_is, activation_delta_bytes,
         activation_peak_bytes * 1.0 / against_activation_bytes - 1 AS activation_delta_fraction, memory_verdict, memory_low_bytes,
         memory_high_bytes, step_time_ns / against_step_time_ns - 1 AS time_delta_fraction,
         iif(time_fraction IS NULL, NULL, CAST(printf('%.9g', time_fraction) AS REAL)) AS time_fraction, iif(time_low IS NULL, NULL, CAST(printf('%.9g', time_low) AS REAL)) AS time_low_fraction,
         iif(time_high IS NULL, NULL, CAST(printf('%.9g', time_high) AS REAL)) AS time_high_fraction, time_verdict, blocks_needed,
         CASE WHEN is_pareto THEN 'yes' END AS pareto,
         CASE WHEN peak_allocated_bytes IS NOT NULL THEN
           (SELECT p.time_difference_fraction FROM control_pair p WHERE p.study_id = judged.study_id AND p.group_id = judged.group_id
            ORDER BY abs(p.time_difference_fraction) DESC, p.position LIMIT 1) END AS aa_time_difference_fraction,
         estimated_step_time_ns / against_estimate_ns - 1 AS estimated_time_delta_fraction, kind AS failure_kind, stage AS failure_stage,
         step AS failure_step, phase AS failure_phase, rank AS failure_rank, num_alike AS failure_num_alike, host AS failure_host,
         requested_bytes, allocated_bytes, reserved_bytes, capacity_bytes AS limit_bytes,
         CASE WHEN common_step IS NOT NULL THEN 'after step ' || common_step || ', not a pass'
              WHEN is_set_against_control THEN 'not comparable' END AS failed_comparison,
         failed_delta_bytes AS failed_peak_delta_bytes, failed_delta_fraction AS failed_peak_delta_fraction,
         'moved from ' || moved_from || CASE WHEN moved_from_rank <> rank THEN ' on rank ' || moved_from_rank ELSE '' END ||
           ' to ' || moved_to || CASE WHEN moved_from_rank <> rank THEN ' on rank ' || rank ELSE '' END AS failure_moved,
         arm AS modules, num_planned AS runs_planned, num_judged AS runs_judged, num_passed AS runs_passed
  FROM judged;

-- Of a symptom, besides what was found: why that means it, what else was ruled out, and the next step as it is typed.
ALTER TABLE diagnosis ADD COLUMN why       TEXT NOT NULL DEFAULT '';
ALTER TABLE diagnosis ADD COLUMN ruled_out TEXT NOT NULL DEFAULT '';  -- empty: nothing
ALTER TABLE diagnosis ADD COLUMN command   TEXT NOT NULL DEFAULT '';

-- Of a run, so that an arm of many can be shown without judging its study again.
ALTER TABLE verdict ADD COLUMN loss_basis TEXT;  -- what the losses were compared with; empty: with nothing
ALTER TABLE verdict ADD COLUMN shortfalls TEXT;  -- JSON: ["rule", "message", ...], the conditions of a pass that it does not meet

-- study.json, less its trials and its whitespace: of a study of many trials they are nearly all of the document.
ALTER TABLE study ADD COLUMN head TEXT NOT NULL DEFAULT '';
UPDATE study SET head = json_set(document, '$.trials', json('[]'));

-- The trials of an arm, in the order in which they run.
CREATE UNIQUE INDEX trial_of_arm ON trial (study_id, arm, run_position, trial_id);

-- What others published, as imported: published/NAME.json of the workspace, which is the truth.
CREATE TABLE published_table (
  name     TEXT PRIMARY KEY,                   -- of the sweep that it belongs to
  document TEXT NOT NULL                       -- JSON: rematch/published/1
) WITHOUT ROWID;

CREATE VIEW published AS
  SELECT p.name AS study, 'published' AS provenance, CAST(r.key AS INTEGER) AS position, json_extract(r.value, '$.arm') AS arm,
         json_extract(r.value, '$.description') AS description, json_extract(r.value, '$.precision') AS precision,
         json_extract(r.value, '$.outcome.kind') AS outcome, json_extract(r.value, '$.outcome.iterations_completed') AS iterations_completed,
         json_extract(r.value, '$.outcome.stage') AS stage, json_extract(r.value, '$.outcome.requested.bytes') AS requested_bytes,
         json_extract(r.value, '$.outcome.allocated.bytes') AS allocated_bytes,
         json_extract(r.value, '$.peak_allocated.bytes') AS peak_allocated_bytes,
         json_extract(r.value, '$.peak_allocated.resolution_bytes') AS peak_allocated_resolution_bytes,
         json_extract(r.value, '$.peak_allocated.ranks') AS peak_ranks, json_extract(r.value, '$.peak_allocated.after_iteration') AS after_iteration,
         json_extract(r.value, '$.peak_reserved.bytes') AS peak_reserved_bytes,
         CAST(round(json_extract(r.value, '$.step_time_ms.value') * 1e6) AS INTEGER) AS step_time_ns,
         json_extract(r.value, '$.tflops_per_gpu.value') AS tflops_per_gpu, json_extract(r.value, '$.outcome.evidence') AS evidence
  FROM published_table p, json_each(p.document, '$.rows') r;

-- Differences as the source prints them, and what they are of.
CREATE VIEW published_deltas AS
  SELECT p.name AS study, 'published' AS provenance, json_extract(r.value, '$.arm') AS arm, json_extract(d.value, '$.of') AS difference_of,
         json_extract(d.value, '$.against') AS against, json_extract(d.value, '$.percent') / 100.0 AS published_fraction,
         json_extract(d.value, '$.magnitude.bytes') AS published_bytes
  FROM published_table p, json_each(p.document, '$.rows') r, json_each(r.value, '$.deltas') d;

-- When attempts began stands in the index: to ask for those since a time reads no documents.
DROP INDEX attempt_key;
CREATE INDEX attempt_key ON attempt (study_id, trial_id, attempt, start_unix_ns);

-- The rest of what is judged, for SQL users: schemas/VIEWS.md documents every view. Each has the id of the study, since names are not
-- unique, and those with bytes or times of trials have their provenance, which the ranks said themselves.
CREATE VIEW runs AS
  SELECT s.name AS study, a.study_id, t.arm, t.block, t.slot, a.trial_id, a.attempt, a.start_unix_ns, v.outcome, v.reason, v.hot_rank,
         v.peak_allocated_bytes, v.peak_reserved_bytes, v.binding_phase, v.activation_peak_bytes, v.step_time_ns, v.mean_step_time_ns,
         v.window_step_time_ns, v.tflops_per_rank, v.first_steady_step, v.warmup_reached, v.peak_growth_bytes, v.peak_growth_allowed_bytes,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = a.study_id AND r.trial_id = a.trial_id AND r.attempt = a.attempt AND r.provenance IS NOT NULL
          ORDER BY r.rank LIMIT 1) AS provenance
  FROM attempt a JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id)
  LEFT JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'run' AND v.subject = a.trial_id || '/' || a.attempt;

CREATE VIEW decisions AS
  SELECT s.name AS study, d.study_id, d.position, d.round, d.action, d.arm, d.reason FROM decision d JOIN study s USING (study_id);

CREATE VIEW diagnoses AS
  SELECT s.name AS study, d.study_id, d.position, d.symptom, d.arm, d.finding, d.why, d.ruled_out, d.next_step, d.command
  FROM diagnosis d JOIN study s USING (study_id);

CREATE VIEW unmatched AS
  SELECT s.name AS study, d.study_id, t.arm, d.trial_id, d.attempt, d.field, d.value, d.against AS against_trial_id, d.against_value
  FROM field_difference d JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

CREATE VIEW interactions AS
  SELECT s.name AS study, i.study_id, i.arm, i.first, i.second, i.activation_bytes, i.activation_low_bytes, i.activation_high_bytes,
         i.log_time, i.log_time_low, i.log_time_high,
         (SELECT v.provenance FROM verdict v WHERE v.study_id = i.study_id AND v.scope = 'arm' AND v.subject = i.arm) AS provenance
  FROM interaction i JOIN study s USING (study_id);

-- Arms that were judged inactive or invalid have no numbers.
CREATE VIEW moved_ranks AS
  SELECT s.name AS study, m.study_id, m.arm, m.moved, m.side, m.against, m.rank, m.pipeline_rank, m.pipeline_size,
         m.against_peak_allocated_bytes, m.against_binding_phase, m.peak_allocated_bytes, m.binding_phase,
         (SELECT v.provenance FROM verdict v WHERE v.study_id = m.study_id AND v.scope = 'arm' AND v.subject = m.arm) AS provenance
  FROM moved_rank m JOIN study s USING (study_id)
  WHERE NOT EXISTS (SELECT 1 FROM verdict v
                    WHERE v.study_id = m.study_id AND v.scope = 'arm' AND v.subject IN (m.arm, m.against)
                      AND v.outcome IN ('inactive', 'invalid'));

CREATE VIEW time_fits AS
  SELECT s.name AS study, f.study_id, f.group_id, f.num_runs, f.degrees_of_freedom, f.residual_sd, f.critical_value, f.confidence,
         f.drift_per_slot, f.drift_p_value,
         (SELECT v.provenance FROM arm a JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'arm' AND v.subject = a.arm
          WHERE a.study_id = f.study_id AND a.group_id = f.group_id AND v.provenance IS NOT NULL LIMIT 1) AS provenance
  FROM time_fit f JOIN study s USING (study_id);

CREATE VIEW work_done AS
  SELECT s.name AS study, w.study_id, t.arm, t.block, t.slot, w.trial_id, w.attempt, w.rank, w.step, w.pass, w.matmul_flops,
         w.matmul_bytes, w.other_bytes, w.num_kernels,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = w.study_id AND r.trial_id = w.trial_id AND r.attempt = w.attempt AND r.rank = w.rank) AS provenance
  FROM work w JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW peaks;
CREATE VIEW peaks AS
  SELECT s.name AS study, p.study_id, t.arm, t.block, t.slot, p.trial_id, p.attempt, p.rank, p.source, p.step, p.phase, p.duration_ns,
         p.peak_allocated_bytes, p.peak_reserved_bytes,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = p.study_id AND r.trial_id = p.trial_id AND r.attempt = p.attempt AND r.rank = p.rank) AS provenance
  FROM phase p JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW steps;
CREATE VIEW steps AS
  SELECT s.name AS study, x.study_id, t.arm, t.block, t.slot, x.trial_id, x.attempt, x.rank, x.step, x.step_time_ns, x.loss, x.loss_bits,
         x.grad_norm, x.skipped, x.is_nan, x.lifetime_peak_allocated_bytes, x.lifetime_peak_reserved_bytes,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = x.study_id AND r.trial_id = x.trial_id AND r.attempt = x.attempt AND r.rank = x.rank) AS provenance
  FROM step x JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW failures;
CREATE VIEW failures AS
  SELECT s.name AS study, f.study_id, t.arm, t.block, t.slot, f.trial_id, f.attempt, f.kind, f.stage, f.step, f.phase, f.rank, f.host,
         f.requested_bytes, f.allocated_bytes, f.reserved_bytes, f.capacity_bytes, f.message,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = f.study_id AND r.trial_id = f.trial_id AND r.attempt = f.attempt AND r.rank = f.rank) AS provenance
  FROM failure f JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW errors;
CREATE VIEW errors AS
  SELECT s.name AS study, e.study_id, t.arm, t.block, t.slot, e.trial_id, e.attempt, e.rank, e.position, e.kind, e.exit_code, e.stage,
         e.step, e.phase, e.failed_rank, e.message,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = e.study_id AND r.trial_id = e.trial_id AND r.attempt = e.attempt AND r.rank = e.rank) AS provenance
  FROM rank_error e JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW traffic;
CREATE VIEW traffic AS
  SELECT s.name AS study, c.study_id, t.arm, t.block, t.slot, c.trial_id, c.attempt, c.rank, c.step, c.axis, c.pass,
         sum(c.num_calls) AS num_calls, sum(c.bytes) AS bytes, sum(c.duration_ns) AS duration_ns,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = c.study_id AND r.trial_id = c.trial_id AND r.attempt = c.attempt AND r.rank = c.rank) AS provenance
  FROM communication c JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id)
  GROUP BY s.name, c.study_id, t.arm, t.block, t.slot, c.trial_id, c.attempt, c.rank, c.step, c.axis, c.pass;

DROP VIEW attempts;
CREATE VIEW attempts AS
  SELECT s.name AS study, a.study_id, t.arm, t.block, t.slot, a.trial_id, a.attempt, a.host,
         (SELECT group_concat(json_extract(value, '$.node'), ',') FROM json_each(a.launch_document, '$.nodes')) AS nodes,
         a.launch_end, a.world_size, a.job_id, a.array_job_id, a.array_task_id, a.restart_count, a.runner, a.start_unix_ns, a.end_unix_ns,
         a.strays_ended
  FROM attempt a JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

DROP VIEW ranks;
CREATE VIEW ranks AS
  SELECT s.name AS study, r.study_id, t.arm, t.block, t.slot, r.trial_id, r.attempt, r.rank, r.node, r.host, r.local_rank,
         r.visible_devices, r.device, r.device_name, r.device_id, r.cpu_affinity, r.pid, r.exit_code, r.signal, r.ended_by_supervisor,
         r.provenance
  FROM rank r JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

-- Of the runs that count for their arm: one that was judged inactive or invalid has no numbers.
DROP VIEW attribution;
CREATE VIEW attribution AS
  WITH without_numbers AS (
    SELECT study_id, scope, subject FROM verdict WHERE scope IN ('run', 'arm') AND outcome IN ('inactive', 'invalid')
  ), total AS (
    SELECT a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step, sum(a.bytes) AS total_bytes,
           row_number() OVER (PARTITION BY a.study_id, t.arm
                              ORDER BY sum(a.bytes) DESC, t.run_position, a.attempt, a.rank, a.source, a.step) AS place
    FROM peak_attribution a JOIN trial t USING (study_id, trial_id)
    WHERE (a.study_id, 'run', a.trial_id || '/' || a.attempt) NOT IN (SELECT study_id, scope, subject FROM without_numbers)
      AND (a.study_id, 'arm', t.arm) NOT IN (SELECT study_id, scope, subject FROM without_numbers)
    GROUP BY a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step
  )
  SELECT s.name AS study, p.study_id, t.arm, p.trial_id, p.attempt, p.rank, p.source, p.step, a.role, a.region, a.bytes,
         1.0 * a.bytes / p.total_bytes AS share,
         (SELECT r.provenance FROM rank r
          WHERE r.study_id = p.study_id AND r.trial_id = p.trial_id AND r.attempt = p.attempt AND r.rank = p.rank) AS provenance
  FROM total p
  JOIN peak_attribution a USING (study_id, trial_id, attempt, rank, source, step)
  JOIN trial t USING (study_id, trial_id)
  JOIN study s USING (study_id)
  WHERE p.place = 1;

-- What gates on the study look at; JSON.
ALTER TABLE report ADD COLUMN gate_figures TEXT NOT NULL DEFAULT '';

-- What the formats and verbs for reading results need.

-- The plots of a kept report, apart from its tables: most formats have none. JSON; reports of before are made anew.
ALTER TABLE report ADD COLUMN plots TEXT NOT NULL DEFAULT '';
DELETE FROM report;

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

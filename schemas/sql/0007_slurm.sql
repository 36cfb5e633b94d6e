-- Where attempts ran: the Slurm allocation, the nodes, the devices that ranks could see.

ALTER TABLE attempt ADD COLUMN job_id        INTEGER;    -- null: not under Slurm
ALTER TABLE attempt ADD COLUMN array_job_id  INTEGER;
ALTER TABLE attempt ADD COLUMN array_task_id INTEGER;
ALTER TABLE attempt ADD COLUMN restart_count INTEGER;    -- requeues before
ALTER TABLE attempt ADD COLUMN runner        TEXT;       -- runner_id of the runner that started it

ALTER TABLE rank ADD COLUMN node            TEXT;        -- Slurm's name; outside Slurm the host's; null: not known
ALTER TABLE rank ADD COLUMN visible_devices TEXT;        -- CUDA_VISIBLE_DEVICES; null: not set

-- Documents of before: all ranks were on the one host. Of a lost attempt it is not known.
UPDATE attempt SET launch_document = json_set(
  launch_document, '$.allocation', json('null'),
  '$.nodes', json(CASE WHEN host = '' THEN '[]'
                       ELSE json_array(json_object('host', host, 'node', host, 'topology', NULL, 'visible_devices', NULL)) END),
  '$.ranks', json((SELECT json_group_array(json_set(value, '$.node', 0)) FROM json_each(attempt.launch_document, '$.ranks'))));

UPDATE rank SET node = (SELECT nullif(a.host, '') FROM attempt a
                        WHERE a.study_id = rank.study_id AND a.trial_id = rank.trial_id AND a.attempt = rank.attempt);

CREATE VIEW attempts AS
  SELECT s.name AS study, t.arm, t.block, t.slot, a.trial_id, a.attempt, a.host,
         (SELECT group_concat(json_extract(value, '$.node'), ',') FROM json_each(a.launch_document, '$.nodes')) AS nodes,
         a.launch_end, a.world_size, a.job_id, a.array_job_id, a.array_task_id, a.restart_count, a.runner, a.start_unix_ns, a.end_unix_ns,
         a.strays_ended
  FROM attempt a JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

CREATE VIEW ranks AS
  SELECT s.name AS study, t.arm, t.block, t.slot, r.trial_id, r.attempt, r.rank, r.node, r.host, r.local_rank, r.visible_devices,
         r.device, r.device_name, r.device_id, r.cpu_affinity, r.pid, r.exit_code, r.signal, r.ended_by_supervisor
  FROM rank r JOIN trial t USING (study_id, trial_id) JOIN study s USING (study_id);

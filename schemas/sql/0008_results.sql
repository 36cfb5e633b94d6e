-- What the formats and verbs for reading results need.

-- The plots of a kept report, apart from its tables: most formats have none. JSON; reports of before are made anew.
ALTER TABLE report ADD COLUMN plots TEXT NOT NULL DEFAULT '';
DELETE FROM report;

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

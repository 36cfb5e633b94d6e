-- What the formats and verbs for reading results need.

-- The plots of a kept report, apart from its tables: most formats have none. JSON; reports of before are made anew.
ALTER TABLE report ADD COLUMN plots TEXT NOT NULL DEFAULT '';
DELETE FROM report;

-- study.json, less its trials and its whitespace: of a study of many trials they are nearly all of the document.
ALTER TABLE study ADD COLUMN head TEXT NOT NULL DEFAULT '';
UPDATE study SET head = json_set(document, '$.trials', json('[]'));

-- The trials of an arm, in the order in which they run.
CREATE UNIQUE INDEX trial_of_arm ON trial (study_id, arm, run_position, trial_id);

-- From version 9 to 10: what a run was asked for stands in it from its beginning, so that what is
-- missing at its end has a name.

-- The subcommand that made the run, and a hash of what it was asked for: of the options, not of the
-- library that ran, so that two builds which were asked the same share it. NULL: not known.
ALTER TABLE runs ADD COLUMN command TEXT;
ALTER TABLE runs ADD COLUMN request_hash TEXT;

-- Cases: asked for; of these declined (the kernel does not take the problem, or this CPU cannot run
-- it) and lost (no result). NULL: not known, or, but for asked, not counted yet: the run goes on, or
-- was killed.
ALTER TABLE runs ADD COLUMN asked INTEGER;
ALTER TABLE runs ADD COLUMN declined INTEGER;
ALTER TABLE runs ADD COLUMN lost INTEGER;
ALTER TABLE runs ADD COLUMN done INTEGER GENERATED ALWAYS AS (asked - declined - lost) VIRTUAL;

-- What the run was asked to do with the case: 1 to judge it, 2 to time it, 3 both. NULL: nothing
-- (a roof), or not known.
ALTER TABLE cases ADD COLUMN asked INTEGER;

-- One row a case that was asked for and has no result, with the reason. Of a run that was killed,
-- too: the cases are there from its beginning.
CREATE VIEW lost AS
    SELECT run, cases.id AS case_id, kernel, convention, input, rows, hidden, dtype, cache, threads,
           operation, asked,
           CASE WHEN coalesce(verdict, 'pending') = 'pending' THEN 'not reached'
                WHEN verdict = 'skipped' THEN detail
                ELSE 'judged, not timed' END AS reason
    FROM cases LEFT JOIN accuracies ON accuracies.case_id = cases.id
    WHERE asked > 0
      AND (coalesce(verdict, 'pending') IN ('pending', 'skipped')
           OR (asked >= 2 AND verdict IN ('ok', 'ok (no bound)', 'inaccurate', 'wrong-class')
               AND NOT EXISTS (SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id)));

-- The contents of the tables, for lnbench and for other programs: all results of lnbench are queries of these views.
-- They are plain joins and correlated subqueries, so that any condition on the run becomes an index search:
-- many_runs_test counts the steps.

-- One row for each judged case.
CREATE VIEW judged AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, verdict, reason, detail, verdict = 'fail' AS failed,
           verdict = 'type-limited' AS type_limited, telling, checked, adversarial, edge_case,
           has_correct_digits, error, kappa
    FROM cells JOIN cases ON cases.cell = cells.id JOIN judgements ON judgements.case_id = cases.id
    WHERE verdict IN ('pass', 'type-limited', 'fail');

-- One row for each timed case.
CREATE VIEW timed AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, is_copy, regime, time_ns, time_lo_ns, time_hi_ns, gbps, copy_ratio,
           copy_ratio_lo, copy_ratio_hi, cycles, instructions, repetitions, processes
    FROM cells JOIN cases ON cases.cell = cells.id JOIN timings ON timings.case_id = cases.id;

-- One row for each requested case without a result, also of killed runs.
CREATE VIEW missing AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, requested,
           CASE WHEN verdict IS NULL THEN 'not reached'
                WHEN verdict = 'missing' THEN coalesce(detail, '')
                ELSE 'judged, not timed' END AS reason
    FROM cells JOIN cases ON cases.cell = cells.id
         LEFT JOIN judgements ON judgements.case_id = cases.id
    WHERE requested > 0
      AND ((verdict IS NULL AND requested <> 2) OR verdict = 'missing'
           OR (requested >= 2
               AND (verdict IS NULL OR verdict = 'pass' OR reason IN ('inaccurate', 'wrong-class'))
               AND NOT EXISTS (SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id)));

-- One row for each kernel, convention, shape, cache state and number of threads: its judged cases, with adversarial
-- rows apart, and its time.
CREATE VIEW summary AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads, id AS cell,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT adversarial) AS judged,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT adversarial AND failed) AS failed,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT adversarial AND type_limited) AS type_limited,
           (SELECT max(error) FROM judged WHERE cell = cells.id AND NOT adversarial) AS error,
           (SELECT max(error) FROM judged WHERE cell = cells.id AND adversarial) AS adversarial,
           (SELECT count(*) FROM missing WHERE cell = cells.id) AS missing,
           (SELECT min(time_ns) FROM timed WHERE cell = cells.id) AS time_ns,
           (SELECT max(gbps) FROM timed WHERE cell = cells.id) AS gbps,
           (SELECT max(copy_ratio) FROM timed WHERE cell = cells.id) AS copy_ratio
    FROM cells;

-- What the tables say, for lnbench and for every other program: each answer of lnbench is asked here.
-- Plain joins and correlated subqueries, so that a condition on the run, however it is put, becomes a
-- search of an index: store_many_test counts the steps.

-- A row a judged case.
CREATE VIEW judged AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, verdict, reason, detail, verdict = 'wrong' AS wrong,
           verdict = 'limit' AS limited, telling, checked, hunted, extreme, usable, error, kappa
    FROM cells JOIN cases ON cases.cell = cells.id JOIN judgements ON judgements.case_id = cases.id
    WHERE verdict IN ('right', 'limit', 'wrong');

-- A row a timed case.
CREATE VIEW timed AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, roof, regime, time_ns, time_lo_ns, time_hi_ns, gbps, roof_ratio,
           roof_lo, roof_hi, cycles, instructions, repetitions, processes
    FROM cells JOIN cases ON cases.cell = cells.id JOIN timings ON timings.case_id = cases.id;

-- A row a case that was asked for and has no result, of killed runs too.
CREATE VIEW lost AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads,
           (SELECT name FROM inputs WHERE inputs.id = input_id) AS input,
           cases.id AS case_id, cell, asked,
           CASE WHEN verdict IS NULL THEN 'not reached'
                WHEN verdict = 'lost' THEN coalesce(detail, '')
                ELSE 'judged, not timed' END AS reason
    FROM cells JOIN cases ON cases.cell = cells.id
         LEFT JOIN judgements ON judgements.case_id = cases.id
    WHERE asked > 0
      AND ((verdict IS NULL AND asked <> 2) OR verdict = 'lost'
           OR (asked >= 2
               AND (verdict IS NULL OR verdict = 'right' OR reason IN ('inaccurate', 'wrong-class'))
               AND NOT EXISTS (SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id)));

-- A row a kernel, convention, shape and so on: what was judged of it, rows that were hunted apart, and
-- its time.
CREATE VIEW board AS
    SELECT run, operation, kernel, types, convention, rows, hidden, cache, threads, id AS cell,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT hunted) AS judged,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT hunted AND wrong) AS wrong,
           (SELECT count(*) FROM judged WHERE cell = cells.id AND NOT hunted AND limited) AS limited,
           (SELECT max(error) FROM judged WHERE cell = cells.id AND NOT hunted) AS error,
           (SELECT max(error) FROM judged WHERE cell = cells.id AND hunted) AS hunted,
           (SELECT count(*) FROM lost WHERE cell = cells.id) AS lost,
           (SELECT min(time_ns) FROM timed WHERE cell = cells.id) AS time_ns,
           (SELECT max(gbps) FROM timed WHERE cell = cells.id) AS gbps,
           (SELECT max(roof_ratio) FROM timed WHERE cell = cells.id) AS roof_ratio
    FROM cells;

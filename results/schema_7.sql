-- From version 6 to 7: views, so that one line of SQL answers a question. Nothing is stored in them.

-- One row a timed case: median time of a call in ns, GB/s of x read and y written, and the share of
-- what the faster copy reached on the same bytes in the same run. No intervals: export has them.
CREATE VIEW speeds AS
    WITH ranked AS (
        SELECT case_id, real_ns,
               row_number() OVER (PARTITION BY case_id ORDER BY real_ns) AS place,
               count(*) OVER (PARTITION BY case_id) AS repetitions
        FROM repetitions
    ), medians AS (
        SELECT case_id, avg(real_ns) AS time_ns, max(repetitions) AS repetitions
        FROM ranked
        WHERE place IN ((repetitions + 1) / 2, repetitions / 2 + 1)
        GROUP BY case_id
    ), timed AS (
        SELECT cases.*, time_ns, repetitions,
               min(CASE WHEN kernel IN ('roof_copy', 'roof_copy_nt') THEN time_ns END) OVER (
                   PARTITION BY run, rows, hidden, dtype, cache, threads) AS copy_ns
        FROM cases JOIN medians ON medians.case_id = cases.id
    )
    SELECT run, id AS case_id, kernel, convention, rows, hidden, dtype, cache, threads, time_ns,
           2.0 * rows * hidden * CASE dtype WHEN 'f64' THEN 8 WHEN 'f32' THEN 4 ELSE 2 END
               / time_ns AS gbps,
           copy_ns / time_ns AS copy_share, repetitions
    FROM timed;

-- One row a judged case.
CREATE VIEW errors AS
    SELECT run, cases.id AS case_id, kernel, convention, input, rows, hidden, dtype, verdict,
           declared, row_ulp_max, ulp_max, mismatches, bound_row_ulp
    FROM cases JOIN accuracies ON accuracies.case_id = cases.id;

-- One row a kernel and verdict: how many cases, the largest error, and a case to replay.
CREATE VIEW verdicts AS
    SELECT run, kernel, verdict, declared, count(*) AS cases, max(row_ulp_max) AS row_ulp_max,
           min(case_id) AS example
    FROM errors GROUP BY run, kernel, verdict, declared;

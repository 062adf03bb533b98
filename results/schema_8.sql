-- From version 7 to 8: the view speeds knows every roof, rep movsb among them.
DROP VIEW speeds;

-- One row a timed case: median time of a call in ns, GB/s of x read and y written, and the share of
-- what the fastest copy reached on the same bytes in the same run. No intervals: export has them.
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
               min(CASE WHEN kernel LIKE 'roof\_%' ESCAPE '\' THEN time_ns END) OVER (
                   PARTITION BY run, rows, hidden, dtype, cache, threads) AS copy_ns
        FROM cases JOIN medians ON medians.case_id = cases.id
    )
    SELECT run, id AS case_id, kernel, convention, rows, hidden, dtype, cache, threads, time_ns,
           2.0 * rows * hidden * CASE dtype WHEN 'f64' THEN 8 WHEN 'f32' THEN 4 ELSE 2 END
               / time_ns AS gbps,
           copy_ns / time_ns AS copy_share, repetitions
    FROM timed;

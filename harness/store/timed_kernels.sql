-- Who was timed in two processes or more, the latest run first: of one run, or of the latest of a machine. A store
-- of a thousand runs is read as one of eight.
-- `judged`: whether the run says how wrong the kernel is on the rows asked for.
-- ?1 run, 0: of the machine; ?2 what its runs share (runs.machine); ?3 convention, ?4 hidden, ?5 kappa or NULL;
-- ?6: figures of whole cases are asked for, which rows of the sweep have not.
WITH latest (run) AS (
    SELECT ?1 WHERE ?1 > 0
    UNION ALL
    SELECT id FROM (SELECT id FROM runs WHERE ?1 = 0 AND machine = ?2 AND coalesce(repetitions, 1) > 0
                    ORDER BY id DESC LIMIT 8)),
described AS MATERIALIZED (
    SELECT run, name, descriptor ->> '$.param' AS param, descriptor ->> '$.object_hash' AS object_hash
    FROM latest JOIN kernels USING (run))
SELECT timed.run AS run, kernel, convention, rows, hidden, types AS dtype, input, cache, threads, operation,
       param, object_hash,
       EXISTS (SELECT 1 FROM judged
               WHERE judged.run = timed.run AND judged.kernel = timed.kernel AND judged.types = timed.types
                 AND judged.convention = ?3 AND judged.hidden <= 2 * ?4 AND 2 * judged.hidden >= ?4
                 AND CASE WHEN ?5 IS NULL THEN judged.input = 'normal'
                          ELSE (judged.input = 'offset' AND NOT ?6)
                               OR (substr(judged.input, 1, 7) = 'offset:'
                                   AND CAST(substr(judged.input, 8) AS REAL) >= ?5) END) AS judged
FROM latest JOIN timed USING (run) LEFT JOIN described ON described.run = timed.run AND name = kernel
WHERE NOT is_copy AND processes > 1
ORDER BY timed.run DESC, case_id;

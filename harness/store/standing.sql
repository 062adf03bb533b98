-- What a run says of each of its kernels: how wrong it is, what that rests on, and whether it can be
-- recommended. A row a kernel, its type and a scope of its judged cases: 'all' but adversarial
-- rows; of these 'ordinary' (normal rows), 'edge_case' and 'any' (no edge case); 'adversarial'. With a
-- convention the scopes are the inputs that were judged under it.
-- ?1 run, ?2 budget in row ULP, ?3 convention or ''.
WITH scopes (scope) AS (VALUES ('all'), ('any'), ('ordinary'), ('edge_case'), ('adversarial')),
sums AS MATERIALIZED (
    SELECT kernel, types, iif(?3 = '', scope, input) AS scope, count(*) AS judged,
           count(*) FILTER (WHERE failed) AS failed,
           count(*) FILTER (WHERE type_limited) AS type_limited,
           count(*) FILTER (WHERE has_correct_digits) AS has_correct_digits,
           count(*) FILTER (WHERE checked) AS checked,
           count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM timings
                                              WHERE timings.case_id = judged.case_id)) AS apart,
           max(error) AS error, case_id -- where error is largest
    FROM judged JOIN scopes
        ON CASE scope WHEN 'adversarial' THEN adversarial
                      WHEN 'ordinary' THEN NOT adversarial AND input = 'normal'
                      WHEN 'edge_case' THEN NOT adversarial AND edge_case
                      WHEN 'any' THEN NOT adversarial AND NOT edge_case
                      ELSE NOT adversarial END
    WHERE run = ?1 AND ?3 IN ('', convention) AND (?3 = '' OR scope = 'all')
    GROUP BY 1, 2, 3),
own AS (
    SELECT kernel, types, operation, min(id) AS place,
           CASE types WHEN 'f64' THEN 4503599627370496 WHEN 'f16' THEN 1024 WHEN 'bf16' THEN 128
                      ELSE 8388608 END AS no_digit -- 2^(p - 1)
    FROM cells WHERE run = ?1 GROUP BY kernel, types),
facts AS MATERIALIZED (
    SELECT kernel, types, operation, place, coalesce(role, '') AS role, reproducible, descriptor ->> '$.param' AS param,
           EXISTS (SELECT 1 FROM timed WHERE run = ?1 AND kernel = own.kernel
                   AND types = own.types) AS has_time,
           (SELECT count(*) FROM missing WHERE run = ?1 AND kernel = own.kernel
            AND types = own.types) AS missing,
           -- where the mean takes all digits: below 10 kappa tells of something else
           (SELECT min(judged_rows.kappa) FROM judged JOIN judged_rows USING (case_id)
            WHERE run = ?1 AND kernel = own.kernel AND types = own.types AND NOT edge_case
            AND error >= no_digit AND row_ulp >= no_digit AND judged_rows.kappa >= 10) AS lost_from,
           NOT EXISTS (SELECT 1 FROM judged LEFT JOIN accuracies USING (case_id)
                       WHERE run = ?1 AND kernel = own.kernel AND types = own.types AND NOT adversarial
                       AND (failed OR type_limited OR mismatches > 0 OR (elements > 0 AND correctly_rounded < 1)))
               AS rounded,
           -- its own bound, as it would be printed: 2.0003 is 2
           NOT EXISTS (SELECT 1 FROM judged LEFT JOIN accuracies USING (case_id)
                       WHERE run = ?1 AND kernel = own.kernel AND types = own.types AND NOT adversarial
                       AND NOT edge_case AND NOT checked
                       AND coalesce(bound_row_ulp, 9e999) > ?2 * 1.005) AS proven,
           (SELECT case_id FROM judged WHERE run = ?1 AND kernel = own.kernel AND types = own.types
            AND failed -- first what it computes instead, then from which size on it is wrong; of equals one
                      -- that says what it takes (verdict.h: SAYS_PLAIN)
            ORDER BY telling >= 4 DESC, detail LIKE '%; right at %' DESC, telling DESC,
                     detail LIKE '%, plain%' DESC, checked, case_id LIMIT 1) AS fault
    FROM own LEFT JOIN kernels ON kernels.run = ?1 AND name = kernel),
-- Types whose kernels with parameters of the same type were timed: those with others answer another question.
own_params AS MATERIALIZED (SELECT DISTINCT operation || types AS own FROM facts WHERE param = types AND has_time)
SELECT kernel, types AS dtype, role, missing, lost_from, rounded, proven, fault, scope, judged, failed, type_limited, has_correct_digits,
       checked, apart, error, case_id,
       coalesce(scope = 'all', 0) AND failed = 0 AND type_limited = 0 AND coalesce(error <= ?2, 1) AND role <> 'peer'
           AND NOT coalesce(param <> types AND operation || types IN (SELECT own FROM own_params), 0) AS accurate,
       CASE WHEN reproducible = 'none' THEN 'its bits differ from call to call'
            WHEN NOT has_time THEN 'judged, not timed'
            WHEN coalesce(apart, 0) = 0 THEN 'timed, judged on the timed rows only'
            WHEN role IN ('library', 'plugin') AND checked = 0 THEN 'not judged beyond these rows'
            WHEN missing = 1 THEN 'one of its cases is missing'
            WHEN missing > 0 THEN printf('%d of its cases are missing', missing)
            WHEN (SELECT state <> 'complete' AND requested IS NULL FROM runs WHERE id = ?1)
                THEN 'cases of it may be missing'
            ELSE '' END AS doubt,
       coalesce(param <> types AND operation || types IN (SELECT own FROM own_params), 0) AS other_param,
       operation
FROM facts LEFT JOIN sums USING (kernel, types)
ORDER BY place, kernel, types, scope <> 'all';

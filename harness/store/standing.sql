-- The errors of each kernel of a run: one row for each kernel, type and scope of its judged cases: 'all' but
-- adversarial rows; subsets 'ordinary' (normal rows), 'edge_case' and 'any' (no edge case); 'adversarial'. ?1 run.
WITH scopes (scope) AS (VALUES ('all'), ('any'), ('ordinary'), ('edge_case'), ('adversarial')),
sums AS MATERIALIZED (
    SELECT kernel, types, scope, count(*) AS judged,
           count(*) FILTER (WHERE failed) AS failed,
           count(*) FILTER (WHERE type_limited) AS type_limited,
           count(*) FILTER (WHERE has_correct_digits) AS has_correct_digits,
           count(*) FILTER (WHERE checked) AS checked,
           count(*) FILTER (
               WHERE NOT EXISTS (SELECT 1 FROM timings WHERE timings.case_id = judged.case_id)) AS untimed,
           max(error) AS error, case_id -- of the largest error
    FROM judged JOIN scopes
        ON CASE scope WHEN 'adversarial' THEN adversarial
                      WHEN 'ordinary' THEN NOT adversarial AND input = 'normal'
                      WHEN 'edge_case' THEN NOT adversarial AND edge_case
                      WHEN 'any' THEN NOT adversarial AND NOT edge_case
                      ELSE NOT adversarial END
    WHERE run = ?1
    GROUP BY 1, 2, 3),
own AS (
    SELECT kernel, types, operation, min(id) AS place,
           CASE types WHEN 'f64' THEN 4503599627370496 WHEN 'f16' THEN 1024 WHEN 'bf16' THEN 128
                      ELSE 8388608 END AS no_digit -- 2^(p - 1)
    FROM cells WHERE run = ?1 GROUP BY kernel, types),
facts AS MATERIALIZED (
    SELECT kernel, types, operation, place, coalesce(role, '') AS role,
           -- where the mean takes all digits (a kappa below 10 has another cause)
           (SELECT min(judged_rows.kappa) FROM judged JOIN judged_rows USING (case_id)
            WHERE run = ?1 AND kernel = own.kernel AND types = own.types AND NOT edge_case
            AND error >= no_digit AND row_ulp >= no_digit AND judged_rows.kappa >= 10) AS missing_from,
           NOT EXISTS (SELECT 1 FROM judged LEFT JOIN accuracies USING (case_id)
                       WHERE run = ?1 AND kernel = own.kernel AND types = own.types AND NOT adversarial
                       AND (failed OR type_limited OR mismatches > 0 OR (elements > 0 AND correctly_rounded < 1)))
               AS rounded,
           (SELECT case_id FROM judged WHERE run = ?1 AND kernel = own.kernel AND types = own.types
            AND failed
            -- minimized failures first, then those that name the computed function, then those with a smallest
            -- failing size; among equals, one that names its factors (verdict.h; earlier runs say `plain`)
            ORDER BY reason IN ('inaccurate', 'wrong-class'), detail LIKE '%other than the default%', telling >= 4 DESC, detail LIKE '%; right at %' DESC, telling DESC,
                     detail LIKE '%, default%' OR detail LIKE '%, plain%' DESC, checked, case_id LIMIT 1) AS fault
    FROM own LEFT JOIN kernels ON kernels.run = ?1 AND name = kernel)
SELECT kernel, types AS dtype, role, missing_from, rounded, fault, scope, judged, failed, type_limited, has_correct_digits,
       checked, untimed, error, case_id, operation
FROM facts LEFT JOIN sums USING (kernel, types)
ORDER BY operation, place, kernel, types, scope <> 'all';

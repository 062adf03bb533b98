-- The kernel of a run to call at one place: one row for each kernel of the types, the fastest at the place first. A
-- kernel can be recommended if it can be called (a call of the library or a plugin; if the run has neither, any kernel
-- but a peer), is within the budget (`within`), and has no `doubt`. ?1 run, ?2 operation, ?3 types, ?4 budget in row
-- ULP, ?5 whether a proven bound is needed, ?6 kappa, or NULL for all judged rows, ?7 convention, ?8 rows, ?9 hidden,
-- ?10 cache, ?11 threads and ?12 input of the place, ?13 type of gamma and beta or '', ?14 names, labels or patterns of
-- kernels as a JSON array, or ''.
WITH own AS MATERIALIZED (
    SELECT kernel, coalesce(role, '') AS role, reproducible, descriptor ->> '$.param' AS param,
           coalesce(descriptor ->> ('$.dispatched."' || ?8 || 'x' || ?9 || '"'), '') AS dispatched
    FROM cells LEFT JOIN kernels ON kernels.run = ?1 AND name = kernel
    WHERE cells.run = ?1 AND operation = ?2 AND types = ?3 AND kernel NOT IN ('copy', 'copy_nt', 'copy_rep')
      AND (?13 = '' OR descriptor ->> '$.param' = ?13)
      AND (?14 = '' OR EXISTS (SELECT 1 FROM json_each(?14) AS word
                               WHERE kernel_matches(word.value, kernel) OR descriptor ->> '$.label' = word.value))
    GROUP BY kernel),
here AS MATERIALIZED (
    SELECT kernel, case_id, time_ns, time_lo_ns, time_hi_ns, copy_ratio, copy_ratio_lo, copy_ratio_hi, processes
    FROM timed
    WHERE run = ?1 AND operation = ?2 AND types = ?3 AND convention = ?7 AND rows = ?8 AND hidden = ?9
      AND cache = ?10 AND threads = ?11 AND input = ?12 AND NOT is_copy),
-- With a kappa, the budget applies to normal rows and to rows of 'offset' up to the first that has this kappa.
up_to (kappa) AS MATERIALIZED (
    SELECT min(judged_rows.kappa) FROM judged JOIN judged_rows USING (case_id)
    WHERE ?6 > 0 AND run = ?1 AND types = ?3 AND convention = ?7 AND hidden = ?9 AND input = 'offset'
      AND judged_rows.kappa >= 0.9 * ?6),
counted AS MATERIALIZED (
    SELECT kernel, case_id, failed, type_limited AND (?6 IS NULL OR input = 'normal') AS type_limited, checked,
           NOT EXISTS (SELECT 1 FROM timings WHERE timings.case_id = judged.case_id) AS untimed,
           iif(?6 IS NULL, error, coalesce(
               (SELECT max(row_ulp) FROM judged_rows, up_to
                WHERE judged_rows.case_id = judged.case_id AND convention = ?7 AND hidden = ?9
                  AND (input = 'normal' OR input = 'offset' AND judged_rows.kappa <= up_to.kappa)),
               iif(input = 'normal' AND convention = ?7 AND hidden = ?9, error, NULL))) AS error,
           -- its own bound; edge cases and conformance tests have none
           CASE WHEN checked OR edge_case THEN NULL
                WHEN ?6 IS NULL THEN (SELECT coalesce(max(bound_row_ulp), 9e999) FROM accuracies AS a
                                      WHERE a.case_id = judged.case_id)
                ELSE (SELECT max(coalesce(bound_row_ulp, 9e999)) FROM judged_rows, up_to
                      WHERE judged_rows.case_id = judged.case_id AND convention = ?7 AND hidden = ?9
                        AND (input = 'normal' OR input = 'offset' AND judged_rows.kappa <= up_to.kappa)) END AS bound
    FROM judged WHERE run = ?1 AND operation = ?2 AND types = ?3 AND NOT adversarial),
sums AS MATERIALIZED (
    SELECT kernel, count(*) AS judged, count(error) AS compared, sum(failed) AS failed,
           sum(type_limited) AS type_limited, sum(checked) AS checked, sum(untimed) AS untimed, max(error) AS error
    FROM counted GROUP BY kernel),
bounds AS MATERIALIZED (SELECT kernel, max(bound) AS bound FROM counted GROUP BY kernel),
facts AS MATERIALIZED (
    SELECT own.kernel, role, dispatched, here.case_id AS case_id, time_ns, time_lo_ns, time_hi_ns, copy_ratio, copy_ratio_lo,
           copy_ratio_hi, processes, coalesce(iif(?6 IS NULL, judged, compared), 0) AS judged, error,
           (role IN ('library', 'plugin') OR NOT EXISTS (SELECT 1 FROM own WHERE role IN ('library', 'plugin')))
               AND role <> 'peer' AS callable,
           -- Kernels with other parameter types count only if none with the elements' type was timed.
           coalesce(param <> ?3, 0) AND EXISTS (SELECT 1 FROM own AS other JOIN timed USING (kernel)
                                                WHERE run = ?1 AND types = ?3 AND other.param = ?3) AS other_param,
           coalesce(bound <= ?4 * 1.005, 0) AS proven, -- library_accurate_f32 has bounds up to 2.00002
           coalesce(failed = 0 AND type_limited = 0 AND role <> 'peer', 0)
               AND iif(?6 IS NULL, coalesce(error <= ?4, 1), compared > 0 AND (SELECT kappa FROM up_to) > 0 AND error <= ?4)
               AS in_budget,
           CASE WHEN reproducible = 'none' THEN 'its bits differ from call to call'
                WHEN NOT EXISTS (SELECT 1 FROM timed WHERE run = ?1 AND kernel = own.kernel AND types = ?3)
                    THEN 'its speed was not measured'
                WHEN coalesce(untimed, 0) = 0 THEN 'its errors were judged on the timed rows only'
                WHEN role IN ('library', 'plugin') AND checked = 0 THEN 'it did not go through the conformance tests'
                WHEN lost = 1 THEN 'one of its cases is missing'
                WHEN lost > 0 THEN printf('%d of its cases are missing', lost)
                ELSE '' END AS doubt
    FROM (SELECT *, (SELECT count(*) FROM missing WHERE run = ?1 AND missing.kernel = own.kernel AND types = ?3) AS lost
          FROM own) AS own
         LEFT JOIN sums USING (kernel) LEFT JOIN bounds USING (kernel) LEFT JOIN here USING (kernel)),
candidates AS MATERIALIZED (SELECT *, in_budget AND NOT other_param AND (NOT ?5 OR proven) AS within FROM facts),
fit AS MATERIALIZED (SELECT * FROM candidates WHERE callable AND within AND doubt = '' AND case_id > 0),
best AS MATERIALIZED (SELECT * FROM fit ORDER BY copy_ratio DESC NULLS LAST, time_ns, kernel LIMIT 1),
fastest AS MATERIALIZED (
    SELECT * FROM candidates WHERE role <> 'peer' AND NOT other_param AND case_id > 0
    ORDER BY copy_ratio DESC NULLS LAST, time_ns, kernel LIMIT 1),
-- Those without a significant difference from the best; the smallest error decides.
near AS MATERIALIZED (
    SELECT fit.kernel, fit.error, fit.proven FROM fit, best
    WHERE fit.kernel = best.kernel OR fit.time_ns < best.time_ns
       OR (fit.copy_ratio_hi >= best.copy_ratio_lo AND fit.copy_ratio >= 0.9 * best.copy_ratio))
SELECT own.*, kernel IN (SELECT kernel FROM near) AS near,
       kernel = (SELECT kernel FROM near ORDER BY coalesce(error, 0), NOT proven, kernel LIMIT 1) AS recommended,
       -- Copy ratio and time contradict each other beyond both intervals.
       EXISTS (SELECT 1 FROM fastest WHERE own.role <> 'peer' AND NOT own.other_param AND own.processes > 1
               AND fastest.processes > 1 AND own.time_hi_ns < fastest.time_lo_ns) AS sooner_than_fastest,
       EXISTS (SELECT 1 FROM best JOIN fit ON fit.kernel = own.kernel WHERE fit.processes > 1 AND best.processes > 1
               AND fit.time_hi_ns < best.time_lo_ns) AS sooner_than_best
FROM candidates AS own
ORDER BY case_id IS NULL, copy_ratio DESC NULLS LAST, time_ns, kernel

-- How wrong each kernel of a run is on normal rows, and on rows of kappa up to the first judged one of at least
-- ?5, at the nearest hidden size within a factor of 2. A row a kernel, figure (larger is worse) and kind of rows;
-- `fault`: the first case that rules it out, whatever the budget (as `worst`), on any input and shape.
-- ?1 run, ?2 types, ?3 convention, ?4 hidden, ?5 kappa or NULL, ?6 kappa of the rows of 'offset', an array in JSON.
WITH facts AS MATERIALIZED (
    SELECT kernel, case_id, hidden,
           CASE WHEN input = 'normal' THEN 0.0
                WHEN substr(input, 1, 7) = 'offset:' THEN CAST(substr(input, 8) AS REAL) END AS kappa,
           row_ulp_max AS row_ulp, bound_row_ulp AS bound, norm_max AS norm, ulp_max AS ulp,
           1 - correctly_rounded AS misrounded
    FROM judged JOIN accuracies USING (case_id)
    WHERE run = ?1 AND types = ?2 AND convention = ?3 AND elements > 0
    UNION ALL
    SELECT kernel, case_id, hidden, sweep.value, row_ulp, bound_row_ulp, norm_max, NULL, NULL
    FROM judged JOIN judged_rows USING (case_id)
         JOIN json_each(?6) AS sweep ON sweep.key = row % json_array_length(?6)
    WHERE run = ?1 AND types = ?2 AND convention = ?3 AND input = 'offset'),
figures (figure) AS (VALUES ('row_ulp'), ('bound'), ('norm'), ('ulp'), ('misrounded')),
values_near AS MATERIALIZED (
    SELECT kernel, figure, kappa > 0 AS shifted, hidden, kappa, case_id,
           CASE figure WHEN 'row_ulp' THEN row_ulp WHEN 'norm' THEN norm WHEN 'ulp' THEN ulp
                       WHEN 'misrounded' THEN misrounded
                       -- no bound and no claim both prove nothing
                       ELSE iif(bound IS NULL AND row_ulp IS NOT NULL, 9e999, bound) END AS value
    FROM facts, figures
    WHERE hidden <= 2 * ?4 AND 2 * hidden >= ?4 AND (kappa = 0 OR kappa IS NOT NULL AND ?5 IS NOT NULL)),
ends AS (
    SELECT *, row_number() OVER (PARTITION BY kernel, figure, shifted
                                 ORDER BY max(hidden * 1.0 / ?4, ?4 * 1.0 / hidden), hidden, kappa) AS place
    FROM values_near WHERE value IS NOT NULL AND (NOT shifted OR kappa >= ?5))
SELECT kernel, figure, shifted, ends.hidden, ends.kappa, max(all_of.value) AS worst, count(DISTINCT all_of.case_id) AS cases
FROM ends JOIN values_near AS all_of USING (kernel, figure, shifted)
WHERE place = 1 AND all_of.hidden = ends.hidden AND all_of.kappa <= ends.kappa
GROUP BY kernel, figure, shifted, ends.hidden, ends.kappa
UNION ALL
SELECT kernel, 'fault', 0, NULL, NULL, min(case_id), 1
FROM judged
WHERE run = ?1 AND types = ?2 AND convention = ?3
  -- a limit of the run's own (run --max-row-ulp) breaks no promise
  AND (reason <> 'inaccurate' OR instr(coalesce(detail, ''), 'above --max-row-ulp') = 0)
  AND (failed OR type_limited AND (input = 'normal'
       OR (substr(input, 1, 7) = 'offset:' AND CAST(substr(input, 8) AS REAL) <= ?5)))
GROUP BY kernel;

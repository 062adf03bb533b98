-- The kernels that keep an accuracy class (docs/lab/dispatch.md) at some hidden sizes, by all judgements of a run under
-- a convention, with and without eps. One row for each kernel and size: the family on which it was not judged, or the
-- rows that exceed the limit most. If both are NULL, it belongs to the class.
-- ?1 run, ?2 types, ?3 class, ?4 hidden sizes, ?5 convention, ?6 the same without eps or '', ?7 every input family,
-- ?8 kappa of the rows of 'offset', from row 0 on. ?4, ?7 and ?8 are JSON arrays.
WITH facts AS MATERIALIZED (
    SELECT kernel, case_id, input, hidden, convention <> ?5 AS bare, NULL AS kappa, error,
           iif(bound_row_ulp IS NULL AND error IS NOT NULL OR error = 9e999, 9e999, bound_row_ulp) AS bound
    FROM judged LEFT JOIN accuracies USING (case_id)
    WHERE run = ?1 AND types = ?2 AND convention IN (?5, ?6)
    UNION ALL
    SELECT kernel, case_id, input, hidden, 0, sweep.value, row_ulp,
           iif(bound_row_ulp IS NULL AND row_ulp IS NOT NULL, 9e999, bound_row_ulp)
    FROM judged JOIN judged_rows USING (case_id)
         JOIN json_each(?8) AS sweep ON sweep.key = row % json_array_length(?8)
    WHERE run = ?1 AND types = ?2 AND convention = ?5 AND input = 'offset'),
-- The largest error of the peers, and of the textbook kernel that represents textbook kernels, on the same rows.
others AS MATERIALIZED (
    SELECT input, hidden, kappa, role = 'peer' AS peer, max(error) AS error
    FROM facts JOIN kernels ON kernels.run = ?1 AND name = kernel
    WHERE NOT bare AND (role = 'peer' OR kernel = 'two_pass_f32_avx2')
    GROUP BY input, hidden, kappa, kernel, role),
limits AS MATERIALIZED (
    SELECT input, hidden, kappa,
           coalesce(min(128, 8 * max(0.5, min(error) FILTER (WHERE peer))),
                    max(16, min(128, 8 * min(error)))) AS most
    FROM others GROUP BY input, hidden, kappa),
breaches AS (
    SELECT kernel, sizes.value AS size, case_id, facts.input, facts.hidden, bare,
           -- If y is subnormal, a bound counts multiples of the smallest number, which are row ULP there.
           CASE WHEN ?3 <> 'accurate' OR facts.input IN ('subnormal-out', 'signed-zeros') THEN error ELSE bound END AS found,
           CASE ?3 WHEN 'fast' THEN coalesce(most, 16) WHEN 'accurate' THEN 2 WHEN 'exact' THEN 0.5 END AS most
    FROM json_each(?4) AS sizes JOIN facts ON facts.hidden <= 2 * sizes.value LEFT JOIN limits
        ON limits.input = facts.input AND limits.hidden = facts.hidden AND limits.kappa IS facts.kappa
    WHERE CASE ?3 WHEN 'fast' THEN NOT bare AND facts.input NOT IN ('huge', 'overflow', 'worst')
                                 AND substr(facts.input, 1, 6) <> 'worst:'
               WHEN 'accurate' THEN 1 ELSE NOT bare END),
worst AS (
    SELECT *, row_number() OVER (PARTITION BY kernel, size
                                 ORDER BY found / most DESC, bare, input, hidden) AS place
    FROM breaches
    -- A smaller excess counts as within the limit: a proof may reach no further if a row's scale is just below a power
    -- of two or statistics are inexact (kernels/apply/split.h).
    WHERE found > most * (1 + 1.0 / 16384))
SELECT own.kernel, sizes.value AS size,
       CASE WHEN ?3 = 'exact' AND descriptor ->> '$.statistics' NOT IN ('exact', 'rms_exact') THEN 'it is not correctly rounded'
            WHEN ?3 = 'reproducible' AND descriptor ->> '$.statistics' NOT IN ('reproducible', 'rms_tiled')
                THEN 'its bits depend on the ISA' END AS unfit,
       (SELECT value FROM json_each(?7)
        WHERE NOT EXISTS (SELECT 1 FROM facts WHERE facts.kernel = own.kernel AND input = value AND NOT bare))
           AS lacking,
       case_id, input, hidden, bare, found, most,
       (SELECT count(DISTINCT case_id) FROM facts WHERE facts.kernel = own.kernel) AS cases
FROM (SELECT DISTINCT kernel FROM cells WHERE run = ?1 AND types = ?2) AS own, json_each(?4) AS sizes
     LEFT JOIN kernels ON kernels.run = ?1 AND name = own.kernel
     LEFT JOIN worst ON worst.kernel = own.kernel AND worst.size = sizes.value AND place = 1
ORDER BY own.kernel, sizes.value;

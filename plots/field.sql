-- A bar for each kernel at the report's shape, the fastest first: textbook kernels, lnbench's kernels, plugins, peers.
CREATE TEMP TABLE bars AS
    WITH candidates AS (
        SELECT *, row_number() OVER (PARTITION BY role, form
                      ORDER BY copy_ratio DESC NULLS LAST, time_ns, kernel) AS of_form,
               row_number() OVER (PARTITION BY role ORDER BY number) AS of_role,
               (SELECT kind FROM shown WHERE shown.case_id = timed_kernels.case_id) AS kind
        FROM timed_kernels)
    SELECT CASE role WHEN 'textbook' THEN 1 WHEN 'plugin' THEN 3 WHEN 'peer' THEN 4 ELSE 2 END AS section,
           *
    FROM candidates
    -- Each textbook kernel (naive, two-pass, Welford, pairwise, compensated, fused) on its fastest ISA, the library's
    -- calls, and plugins.
    WHERE case_id IN (SELECT case_id FROM maybe_fastest) OR titles <> '-' OR
          CASE role WHEN 'textbook' THEN of_form = 1 AND form <> 'corrected' AND form NOT LIKE '% sums' WHEN 'library' THEN of_role <= 8
                    WHEN 'plugin' THEN of_role <= 8 WHEN 'peer' THEN kind = 8 END;
CREATE TEMP TABLE chart AS
    SELECT row_number() OVER (ORDER BY section, heading DESC, gbps DESC, number) AS place, heading, label, kernel,
           inside, gbps, lo, hi, share, class, error
    FROM (SELECT section, number, 0 AS heading, CASE WHEN role = 'peer' THEN name WHEN role = 'textbook' AND titles = '-' AND form = 'fused'
                      THEN 'fused: ' || label ELSE label END AS label, kernel,
                 coalesce(nullif(titles, '-'), (SELECT name FROM looks JOIN maybe_fastest USING (kind)
                                                WHERE maybe_fastest.case_id = bars.case_id AND kind = 1), '-') AS inside, gbps, lo, hi, coalesce(copy_ratio, 0) AS share, class,
                 CASE WHEN class = 5 THEN 'NaN or fault' -- gnuplot drops a bare NaN
                      WHEN error BETWEEN 1000 AND min(1e5, no_digit(types)) THEN printf('%d', round(error / 100) * 100)
                      ELSE coalesce(error_words, '-') END
                 || iif(edge_case = 9e999, ' *', '') AS error FROM bars
          UNION ALL
          SELECT DISTINCT section, 0, 1, CASE section WHEN 1 THEN 'What people write' WHEN 2 THEN 'lnbench'
                              WHEN 3 THEN 'Plugin' ELSE 'Other libraries' END,
                 '-', '-', 0, 0, 0, 0, 0, '-' FROM bars);
CREATE TEMP TABLE chart_settings AS
    SELECT 'title' AS key, 0 AS number, printf('%s of %s in %s: how fast, how wrong',
           (SELECT operation_title(operation) FROM drawn), words, regime) AS text
    FROM shape
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'both'
    UNION ALL
    SELECT 'subtitle', 0, about.words || coalesce(', ' || nullif(isa_words, ''), '')
        || '; bars: GB/s and % of the copy beside it.  * NaN, infinite or a fault on edge cases'
        || coalesce('; the copy: ' || copy_words(copy_kernel), '') FROM about, shape
    UNION ALL SELECT 'copy', coalesce(copy_gbps, 0), '-' FROM shape
    UNION ALL SELECT 'fastest', max(gbps), '-' FROM bars
    UNION ALL SELECT 'rough', rough_limit(types), '-' FROM about;

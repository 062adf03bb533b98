-- The speed relative to the copy over hidden size, with a panel for each cache level: a band of all kernels, and at
-- each size the fastest kernel of each name.
CREATE TEMP TABLE panels AS
    WITH copies AS ( -- of the first kernel at each size
        SELECT level, regime, hidden, gbps / copy_ratio AS copy_gbps
        FROM (SELECT *, row_number() OVER (PARTITION BY regime, hidden ORDER BY case_id) AS place
              FROM here WHERE NOT is_copy AND copy_ratio > 0)
        WHERE place = 1),
    ordered AS (
        SELECT *, row_number() OVER (PARTITION BY level ORDER BY copy_gbps) AS place,
               count(*) OVER (PARTITION BY level) AS count FROM copies)
    SELECT row_number() OVER (ORDER BY level) AS panel, level, regime, copy_gbps,
           (SELECT count(DISTINCT hidden) FROM here AS own WHERE own.level = ordered.level AND NOT own.is_copy)
               AS sizes
    FROM ordered WHERE place = count / 2 + 1 ORDER BY level;
CREATE TEMP TABLE points AS
    SELECT panel, style AS series, CASE kind WHEN 3 THEN 'two_pass' WHEN 4 THEN 'welford' ELSE name END AS label,
           kernel, hidden, copy_ratio AS share, copy_ratio_lo AS lo, copy_ratio_hi AS hi, gbps, look
    FROM panels JOIN ranked USING (level)
    WHERE in_regime = 1 AND kind NOT IN (5, 6, 9) AND copy_ratio IS NOT NULL;
-- The fastest and the recommended kernels of a panel, numbered in the order of their occurrence.
CREATE TEMP TABLE fastest AS
    SELECT panel, kernel, min(series) AS series,
           row_number() OVER (PARTITION BY panel ORDER BY min(series), min(hidden)) AS place
    FROM points WHERE series <= 2 GROUP BY panel, kernel;
-- The band between the slowest 10 % and the fastest 10 % of all kernels at a size.
CREATE TEMP TABLE bands AS
    SELECT panel, hidden, min(iif(place >= 0.1, copy_ratio, NULL)) AS lo,
           max(iif(place <= 0.9, copy_ratio, NULL)) AS hi
    FROM (SELECT panel, hidden, copy_ratio,
                 percent_rank() OVER (PARTITION BY panel, hidden ORDER BY copy_ratio) AS place
          FROM panels JOIN here USING (level) WHERE copy_ratio IS NOT NULL)
    GROUP BY panel, hidden;
CREATE TEMP TABLE chart AS
    SELECT panel, series, label, kernel, hidden, share, lo, hi, gbps,
           coalesce((SELECT place FROM fastest WHERE own.series <= 2 AND fastest.panel = own.panel
                     AND fastest.kernel = own.kernel), 0) AS place
    FROM (SELECT * FROM points
          UNION ALL SELECT panel, 100, '-', '-', hidden, lo, lo, hi, 0, 0 FROM bands) AS own
    WHERE EXISTS (SELECT 1 FROM points) ORDER BY panel, look, hidden;
CREATE TEMP TABLE chart_settings AS
    SELECT key, number, text FROM (
        SELECT panel, 1 AS place, 'regime_' || panel AS key, 0 AS number, regime AS text FROM panels
        UNION ALL SELECT panel, 2, 'copy_' || panel, copy_gbps, '-' FROM panels
        UNION ALL SELECT panel, 3, 'sizes_' || panel, sizes, '-' FROM panels
        UNION ALL
        SELECT panel, 4, 'fastest_' || panel || '_' || series, 0,
               iif(series = 1, 'fastest: ', 'recommended: ') || group_concat(place || ' ' || label, ', ')
        FROM (SELECT * FROM fastest JOIN named USING (kernel) ORDER BY panel, place) GROUP BY panel, series
        UNION ALL
        SELECT 9, 1, 'subtitle', 0, words
               || '; at each size the fastest kernel of that name; grey: 10 to 90 % of all kernels'
        FROM about
        UNION ALL SELECT 9, 2, 'panels', (SELECT count(*) FROM panels), '-'
        UNION ALL SELECT 9, 3, 'again', 0, command FROM again WHERE what = 'speed')
    ORDER BY panel, place;

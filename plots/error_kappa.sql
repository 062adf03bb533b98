-- The largest error of the judged rows with about the same kappa, one line for each name; lines that coincide share
-- a label.
CREATE TEMP TABLE wanted AS
    -- Without timings, a look is represented by its first kernel, and has no title.
    WITH kernels AS (
        SELECT look, style, kernel, number, name FROM shown WHERE kind <> 6
        UNION ALL
        SELECT look, style, kernel, number, iif(kind = 8, name, label)
        FROM looks JOIN named USING (kernel, number)
        WHERE kind <> 6 AND number = (
            SELECT min(number) FROM looks AS own JOIN named USING (kernel, number)
            WHERE own.look = looks.look AND class > 0)
          AND look NOT IN (SELECT look FROM best))
    SELECT look AS line, style, kernel, name
    FROM (SELECT *, row_number() OVER (PARTITION BY kernel ORDER BY look) AS times FROM kernels) WHERE times = 1;
CREATE TEMP TABLE bins AS
    SELECT line, floor(log10(max(judged_rows.kappa, 1)) * 2 + 0.5) AS bin,
           max(iif(row_ulp < 9e999, max(row_ulp, 0.1), 9e999)) AS most, max(judged_rows.kappa, 1) AS kappa
    FROM wanted CROSS JOIN judged_cases USING (kernel) CROSS JOIN about USING (types)
         CROSS JOIN judged_rows USING (case_id)
    WHERE NOT edge_case
      -- At a much larger kappa the elements of a row hardly differ, so that such rows lose less.
      AND judged_rows.kappa <= 32 * no_digit(types)
    GROUP BY line, bin HAVING bin < 32;
-- Lines that look the same: within a factor of two everywhere, or both with all digits correct.
CREATE TEMP TABLE lines AS
    WITH ends AS (
        SELECT line, bin, min(most, 4 * no_digit(types)) AS most, count(*) OVER (PARTITION BY line) AS bins
        FROM bins, about),
    pairs AS (
        SELECT own.line, other.line AS first FROM ends AS own JOIN ends AS other USING (bin, bins)
        WHERE other.line <= own.line GROUP BY 1, 2
        HAVING count(*) = bins AND max(max(own.most / other.most, other.most / own.most))
                   < iif(max(own.most) > 4, 2, 1.0000001)),
    near AS (SELECT line, min(first) AS first FROM pairs GROUP BY line),
    firsts AS (
        SELECT own.line, iif(other.first = own.first, own.first, own.line) AS first
        FROM near AS own JOIN near AS other ON other.line = own.first)
    SELECT row_number() OVER (ORDER BY line) AS place, line,
           iif(first = line, (SELECT group_concat(name, ' ≈ ')
               FROM (SELECT name FROM wanted JOIN firsts AS other USING (line)
                     WHERE other.first = firsts.line ORDER BY line)), '-') AS label FROM firsts;
CREATE TEMP TABLE chart AS
    SELECT place AS line, style, lines.label, kernel, kappa, iif(most = 9e999, 4 * no_digit(types), most) AS error, most = 9e999 AS failed
    FROM lines JOIN wanted USING (line) JOIN bins USING (line), about ORDER BY place, bin;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, types || ', ' || judged_convention
        || (SELECT format('; the worst row of about that kappa; hidden %s, input families %s', group_concat(DISTINCT hidden),
            group_concat(DISTINCT input)) FROM (SELECT * FROM judged_cases JOIN judged_rows USING (case_id) ORDER BY hidden))
        AS text FROM about
    UNION ALL SELECT 'lines', (SELECT count(*) FROM lines), '-'
    UNION ALL SELECT 'no_digit', no_digit(types), '-' FROM about
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'accuracy';

-- The largest error of the judged rows of about that kappa, a line a name; names whose kernels have the same
-- errors share one.
CREATE TEMP TABLE wanted AS
    -- What stands for a look where nothing was timed is the first kernel of it; of no title then.
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
    SELECT line, floor(log10(max(judged_rows.kappa, 1)) * 2 + 1e-9) AS bin,
           max(iif(row_ulp < 9e999, max(row_ulp, 0.1), 9e999)) AS most
    FROM wanted CROSS JOIN judged_cases USING (kernel) CROSS JOIN about USING (types)
         CROSS JOIN judged_rows USING (case_id)
    WHERE NOT extreme
      -- Beyond, the elements of a row differ by a few units in the last place: other rows, with less to lose.
      AND judged_rows.kappa <= no_digit(types)
    GROUP BY line, bin HAVING bin < 32;
CREATE TEMP TABLE lines AS
    WITH marks AS (
        SELECT line, group_concat(printf('%d:%!.18g', bin, most)) AS mark
        FROM (SELECT * FROM bins ORDER BY line, bin) GROUP BY line),
    firsts AS (SELECT mark, min(line) AS line FROM marks GROUP BY mark ORDER BY min(line) LIMIT 8)
    SELECT row_number() OVER (ORDER BY line) AS place, line,
           (SELECT group_concat(name, ', ') FROM (SELECT name FROM wanted JOIN marks USING (line)
            WHERE marks.mark = firsts.mark ORDER BY line)) AS label FROM firsts;
CREATE TEMP TABLE chart AS
    SELECT place AS line, style, lines.label, kernel, pow(10, (bin + 0.5) / 2) AS kappa,
           min(most, 4 * no_digit(types)) AS error, most = 9e999 AS wrong
    FROM lines JOIN wanted USING (line) JOIN bins USING (line), about ORDER BY place, bin;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, types || ', ' || judged_convention
        || '; the worst of all judged rows of about that kappa; thin: errors that grow with kappa, and with '
        || 'its square' AS text FROM about
    UNION ALL SELECT 'lines', (SELECT count(*) FROM lines), '-'
    UNION ALL SELECT 'no_digit', no_digit(types), '-' FROM about
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'accuracy';

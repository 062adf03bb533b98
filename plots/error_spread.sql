-- The errors of single elements on rows with a mean near zero; conformance tests differ by kernel. A bar for each name,
-- divided into the fractions with errors up to 1/2, 1, 2 and 4 units in the last place, and larger ones.
CREATE TEMP TABLE counts AS
    SELECT look, min(max(CAST(key AS INTEGER), 5), 9) AS part, sum(value) AS count
    FROM shown CROSS JOIN judged_cases AS own USING (kernel)
         CROSS JOIN accuracies ON accuracies.case_id = own.case_id, json_each(ulp_histogram)
    WHERE kind NOT IN (5, 6) AND NOT own.edge_case AND NOT checked AND kappa_max <= 10
    GROUP BY 1, 2;
CREATE TEMP TABLE chart AS
    WITH shares AS (
        SELECT look, part, sum(count) OVER (PARTITION BY look ORDER BY part) * 1.0 / sum(count) OVER (PARTITION BY look)
                   AS upto, count * 1.0 / sum(count) OVER (PARTITION BY look) AS share FROM counts),
    places AS (
        SELECT look, row_number() OVER (ORDER BY sum(iif(part > 6, share, 0)), look) AS place,
               sum(iif(part > 6, share, 0)) AS beyond FROM shares GROUP BY look)
    SELECT place, name AS label, part - 4 AS part, upto - share AS "from", upto AS "to", beyond
    FROM shares JOIN places USING (look) JOIN shown USING (look) ORDER BY place, part;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, types || ', ' || judged_convention
        || '; elements of rows with kappa up to 10, without edge cases and conformance tests; errors in element ULP' AS text FROM about
    UNION ALL SELECT 'rows', (SELECT max(place) FROM chart), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'accuracy';

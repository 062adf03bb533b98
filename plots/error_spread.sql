-- How the errors of single elements are spread: the share of them up to a size, on ordinary rows.
CREATE TEMP TABLE counts AS
    SELECT look, key AS bin, sum(value) AS count
    FROM shown CROSS JOIN judged_cases AS own USING (kernel)
         CROSS JOIN accuracies ON accuracies.case_id = own.case_id, json_each(ulp_histogram)
    WHERE kind NOT IN (5, 6) AND NOT own.extreme AND kappa_max <= 10
    GROUP BY look, key;
CREATE TEMP TABLE lines AS
    SELECT row_number() OVER (ORDER BY look) AS line, look, sum(count) AS elements
    FROM counts GROUP BY look HAVING sum(count) > 0;
CREATE TEMP TABLE chart AS
    SELECT line, style, name AS label, pow(2, bins.value - 6) AS ulp,
           (SELECT sum(count) FROM counts WHERE counts.look = lines.look AND bin <= bins.value) * 1.0 / elements
               AS share
    FROM lines JOIN shown USING (look),
         json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]') AS bins
    ORDER BY line, bins.value;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, types || ', ' || judged_convention
        || '; all elements of rows with kappa up to 10' AS text FROM about
    UNION ALL SELECT 'lines', (SELECT count(*) FROM lines), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'accuracy';

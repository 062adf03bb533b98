-- Bytes of the file that each run takes, about: the pages of a table, with its indexes, are shared out by
-- its rows. A row of worst_rows counts for the tensors that it names.
WITH of_run (run, case_id) AS (SELECT run, cases.id FROM cells JOIN cases ON cell = cells.id),
parts (name, run, rows) AS (
    SELECT 'cells', run, count(*) FROM cells GROUP BY run
    UNION ALL SELECT 'cases', run, count(*) FROM of_run GROUP BY run
    UNION ALL SELECT 'accuracies', run, count(*) FROM of_run JOIN accuracies USING (case_id) GROUP BY run
    UNION ALL SELECT 'judgements', run, count(*) FROM of_run JOIN judgements USING (case_id) GROUP BY run
    UNION ALL SELECT 'judged_rows', run, count(*) FROM of_run JOIN judged_rows USING (case_id) GROUP BY run
    UNION ALL SELECT 'repetitions', run, count(*) FROM of_run JOIN repetitions USING (case_id) GROUP BY run
    UNION ALL SELECT 'timings', run, count(*) FROM of_run JOIN timings USING (case_id) GROUP BY run
    UNION ALL SELECT 'worst_rows', run, count(*) FROM of_run JOIN worst_rows USING (case_id) GROUP BY run
    UNION ALL SELECT 'tensors', run, count(*) FROM of_run JOIN worst_rows USING (case_id) GROUP BY run
    UNION ALL SELECT 'kernels', run, count(*) FROM kernels GROUP BY run
    UNION ALL SELECT 'facts', run, count(*) FROM facts GROUP BY run),
pages (name, bytes) AS (
    SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name) WHERE aggregate = 1
    GROUP BY tbl_name),
totals (name, rows) AS (SELECT name, sum(rows) FROM parts GROUP BY name)
SELECT run, CAST(sum(bytes * 1.0 * parts.rows / totals.rows) AS INTEGER) AS bytes
FROM parts JOIN totals USING (name) JOIN pages USING (name) GROUP BY run ORDER BY run

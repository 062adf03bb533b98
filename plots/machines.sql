-- The winners within 2 row ULP of several machines: a row a shape of the first machine, at most 12. It reads
-- the tables of docs/recipes/fleet/machines.sql; same: 1 for the first machine's kernel, 2 for another, 3 for none.
CREATE TEMP TABLE chart AS
    WITH accurate AS (SELECT *, rowid AS place FROM winners WHERE errors = 'at most 2 row ULP'),
    shapes AS (
        SELECT row_number() OVER (ORDER BY place) AS row, shape, types, convention, cache, threads,
               fastest AS first
        FROM accurate WHERE machine = 'A' ORDER BY place LIMIT 12),
    ordered AS (SELECT machine, row_number() OVER (ORDER BY run) AS number FROM machines)
    SELECT row, number AS "column", shape, coalesce(fastest, 'not timed') AS kernel, gbps,
           CASE WHEN fastest IS NULL THEN 3 WHEN fastest = first THEN 1 ELSE 2 END AS same
    FROM shapes CROSS JOIN ordered LEFT JOIN accurate USING (machine, shape, types, convention, cache, threads)
    ORDER BY row, number;
CREATE TEMP TABLE chart_settings AS
    SELECT 'title' AS key, 0 AS number, 'Which kernel wins on which machine?' AS text
    UNION ALL
    SELECT 'subtitle', 0, 'the fastest kernel that is never more than 2 row ULP off, and its GB/s; dark: the same '
        || 'as on the first machine'
    UNION ALL SELECT 'footer', 0, 'the times of a machine are of its own run'
    UNION ALL SELECT 'rows', (SELECT max(row) FROM chart), '-'
    UNION ALL SELECT 'columns', (SELECT count(*) FROM machines), '-'
    UNION ALL SELECT 'name_' || row_number() OVER (ORDER BY run), 0, cpu FROM machines;

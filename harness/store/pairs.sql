-- One row for each case that run ?1 (base) or ?2 (new) has or requested: its key, its number in both, and its missing
-- part in each (1 judgement, 2 time, 3 both). Cases of the new run come first.
WITH both AS (
    SELECT nc.kernel, nc.types, nc.convention, nc.rows, nc.hidden, nc.cache, nc.threads, nc.operation, n.input_id,
           b.id AS base, n.id AS new
    FROM cells AS nc JOIN cases AS n ON n.cell = nc.id
         LEFT JOIN cells AS bc ON bc.run = ?1 AND bc.kernel = nc.kernel AND bc.types = nc.types
              AND bc.convention = nc.convention AND bc.rows = nc.rows AND bc.hidden = nc.hidden AND bc.cache = nc.cache
              AND bc.threads = nc.threads AND bc.operation = nc.operation
         LEFT JOIN cases AS b ON b.cell = bc.id AND b.input_id = n.input_id
    WHERE nc.run = ?2
    UNION ALL
    SELECT bc.kernel, bc.types, bc.convention, bc.rows, bc.hidden, bc.cache, bc.threads, bc.operation, b.input_id, b.id, NULL
    FROM cells AS bc JOIN cases AS b ON b.cell = bc.id
    WHERE bc.run = ?1 AND NOT EXISTS (
        SELECT 1 FROM cells AS nc JOIN cases AS n ON n.cell = nc.id AND n.input_id = b.input_id
        WHERE nc.run = ?2 AND nc.kernel = bc.kernel AND nc.types = bc.types AND nc.convention = bc.convention
              AND nc.rows = bc.rows AND nc.hidden = bc.hidden AND nc.cache = bc.cache AND nc.threads = bc.threads
              AND nc.operation = bc.operation))
SELECT both.*, both.types AS dtype, inputs.name AS input,
       coalesce((SELECT requested FROM missing WHERE case_id = base), 0) AS base_missing,
       coalesce((SELECT requested FROM missing WHERE case_id = new), 0) AS new_missing,
       (SELECT reason FROM missing WHERE case_id = base) AS base_reason,
       (SELECT reason FROM missing WHERE case_id = new) AS new_reason,
       (SELECT reproducible FROM kernels WHERE run = ?1 AND name = both.kernel) AS base_class,
       (SELECT reproducible FROM kernels WHERE run = ?2 AND name = both.kernel) AS new_class,
       (SELECT descriptor ->> '$.label' FROM kernels WHERE run = ?2 AND name = both.kernel) AS label
FROM both JOIN inputs ON inputs.id = input_id
WHERE both.kernel NOT IN ('copy', 'copy_nt', 'copy_rep')
ORDER BY new IS NULL, coalesce(new, base);

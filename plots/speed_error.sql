-- Speed against error at the report's shape. front: no kernel is faster without a larger error.
CREATE TEMP TABLE points AS
    SELECT * FROM timed_kernels WHERE class > 0 AND (SELECT count(*) FROM timed_kernels WHERE class > 0) > 1;
CREATE TEMP TABLE chart AS
    WITH fronts AS (
        SELECT *, coalesce(error < no_digit(types), 0) AND NOT EXISTS (
                   SELECT 1 FROM points AS other
                   WHERE other.gbps >= own.gbps AND other.error <= own.error
                     AND (other.gbps > own.gbps OR other.error < own.error)) AS front
        FROM points AS own)
    SELECT kernel,
           -- Each textbook form on its fastest ISA, and each library with its fastest call.
           coalesce((SELECT iif(kind = 8, best.name, label) FROM best
                     WHERE best.case_id = fronts.case_id AND kind >= 3 ORDER BY look LIMIT 1),
                    iif(front, label, '-')) AS label,
           gbps, lo, hi, iif(class = 5, NULL, coalesce(error, 0)) AS error,
           class, front
    FROM fronts ORDER BY number;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number,
           about.words || coalesce(', ' || nullif(isa_words, ''), '') || ', ' || shape.words
           || '; errors: the worst row of any input and convention but edge cases' AS text FROM about, shape
    UNION ALL SELECT 'failed', (SELECT count(*) FROM points WHERE class = 5), '-'
    UNION ALL SELECT 'rough', rough_limit(types), '-' FROM about
    UNION ALL SELECT 'no_digit', no_digit(types), '-' FROM about
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'both';

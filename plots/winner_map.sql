-- The fastest kernel, and the fastest accurate one, at ten sizes at most of each regime.
CREATE TEMP TABLE columns AS
    WITH sizes AS (
        SELECT level, hidden, row_number() OVER (PARTITION BY level ORDER BY hidden) - 1 AS place,
               count(*) OVER (PARTITION BY level) AS count
        FROM (SELECT DISTINCT level, hidden FROM here WHERE NOT is_copy))
    SELECT level, hidden, value + 1 AS number
    FROM sizes JOIN json_each('[0,1,2,3,4,5,6,7,8,9]')
        ON place = iif(count <= 10, value, value * (count - 1) / 9);
-- Nobody can say who is fastest where another's time is shorter by more than both intervals, as in the answer.
CREATE TEMP TABLE winners AS
    SELECT level, kind, regime, columns.number, hidden, gbps, label,
           (kind = 1 OR case_id IS NOT (SELECT recommended FROM asked)) -- which is taken all the same
           AND EXISTS (SELECT 1 FROM ranked AS other WHERE other.look = own.look AND other.rows = own.rows
                   AND other.hidden = own.hidden AND other.time_hi_ns < own.time_lo_ns
                   AND min(other.processes, own.processes) > 1) AS noisy,
           iif(EXISTS (SELECT 1 FROM ranked AS other WHERE other.look = own.look AND other.rows = own.rows
                   AND other.hidden = own.hidden AND other.case_id <> own.case_id
                   AND other.time_lo_ns <= own.time_hi_ns AND other.time_hi_ns >= own.time_lo_ns), '≈ ', '') AS tie
    FROM ranked AS own JOIN columns USING (level, hidden) JOIN named USING (kernel)
    WHERE in_regime = 1 AND kind <= 2;
CREATE TEMP TABLE chart AS
    SELECT regime, hidden,
           coalesce(max(iif(kind = 1, iif(noisy, 'too noisy to say', tie || label), NULL)), '-') AS fastest,
           max(iif(kind = 1, gbps, 0)) AS fastest_gbps,
           coalesce(max(iif(kind = 2, iif(noisy, 'too noisy to say', tie || label), NULL)), '-') AS recommended,
           max(iif(kind = 2, gbps, 0)) AS recommended_gbps
    FROM winners GROUP BY level, hidden ORDER BY level, number;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, words || coalesce(', ' || nullif(isa_words, ''), '')
        || '; recommended: within 2 row ULP on all judged rows but adversarial ones; ≈: intervals overlap' AS text FROM about
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'speed';

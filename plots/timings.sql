-- Every single timing at the report's shape, with a strip for each name, which shows the noise within an interval by
-- process.
CREATE TEMP TABLE chart AS
    WITH singles AS (
        SELECT dense_rank() OVER (ORDER BY look) AS strip, count(*) OVER (PARTITION BY look) AS n, style,
               name AS label, process, repetition,
               real_ns / time_ns AS relative, ntile(4) OVER (PARTITION BY look ORDER BY real_ns) AS quarter
        FROM shown CROSS JOIN repetitions USING (case_id))
    SELECT strip, style, label, process, relative, n,
           max(iif(quarter = 1, relative, 0)) OVER (PARTITION BY strip) AS lower,
           max(iif(quarter = 3, relative, 0)) OVER (PARTITION BY strip) AS upper
    FROM singles ORDER BY strip, process, repetition;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number,
           about.words || ', ' || shape.words
               || '; a ring a repetition, its time over the kernel time; bars: from the first to the third quartile' AS text
    FROM about, shape
    UNION ALL SELECT 'strips', (SELECT max(strip) FROM chart), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'speed';

-- Every single timing at the report's shape, a strip a name: how much of an interval is noise, and of which
-- process.
CREATE TEMP TABLE chart AS
    SELECT dense_rank() OVER (ORDER BY look) AS strip, style, name AS label, process, real_ns / time_ns AS relative
    FROM shown CROSS JOIN repetitions AS single USING (case_id) ORDER BY look, process, repetition;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number,
           about.words || ', ' || shape.words || '; one dot a repetition, its time over the median' AS text
    FROM about, shape
    UNION ALL SELECT 'strips', (SELECT max(strip) FROM chart), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'speed';

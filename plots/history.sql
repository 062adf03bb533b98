-- The eight series with most points on one machine, a line at the median of each segment, and a vertical line at each
-- change. harness/commands/history.c describes `past` and `drawn`.
CREATE TEMP TABLE counted AS
    SELECT row_number() OVER (ORDER BY count(*) DESC, series) AS number, series,
           kernel || ' ' || rows || 'x' || hidden AS name
    FROM past WHERE machine_number = (SELECT machine_number FROM drawn) GROUP BY series;
CREATE TEMP TABLE points AS
    SELECT number, past.*, segment_median AS median FROM past JOIN counted USING (series) WHERE number <= 8;
CREATE TEMP TABLE ticks AS
    SELECT row_number() OVER (ORDER BY started, run) AS x, run, "commit" FROM points
    GROUP BY run, started, "commit" ORDER BY x;
CREATE TEMP TABLE chart AS
    SELECT number AS series, x, value, coalesce(lo, value) AS lo, coalesce(hi, value) AS hi
    FROM points JOIN ticks USING (run) ORDER BY number, nth;
CREATE TEMP TABLE chart_segments AS
    SELECT number AS series, min(x) AS x0, max(x) AS x1, median FROM points JOIN ticks USING (run)
    GROUP BY number, segment, median ORDER BY number, segment;
CREATE TEMP TABLE chart_changes AS
    SELECT series, x0 AS x, before AS "from", median AS "to"
    FROM (SELECT *, lag(median) OVER (PARTITION BY series ORDER BY x0) AS before FROM chart_segments)
    WHERE before IS NOT NULL ORDER BY series, x0;
CREATE TEMP TABLE chart_ticks AS
    SELECT x, substr("commit", 1, 7) AS label FROM ticks
    WHERE (x - 1) % (((SELECT count(*) FROM ticks) + 9) / 10) = 0;
CREATE TEMP TABLE chart_settings AS
    WITH ends AS (
        SELECT min(value) AS low, max(value) AS high, (max(value) - min(value)) * 0.08 AS room,
               min(started) AS first, max(started) AS last,
               (SELECT count(*) FROM ticks) AS runs, (SELECT count(*) FROM chart_changes) AS changes,
               (SELECT count(*) > 8 FROM counted) AS left_out
        FROM points),
    frame AS (
        SELECT *, CASE WHEN room > 0 THEN room WHEN high <> 0 THEN abs(high) * 0.1 ELSE 1 END AS margin FROM ends)
    SELECT 'title' AS key, 0 AS number, printf('%d run%s, %d change%s', runs, iif(runs = 1, '', 's'), changes,
               iif(changes = 1, '', 's')) AS text FROM ends
    UNION ALL SELECT 'footer', 0, (SELECT substr(machine, 1, 150) FROM points LIMIT 1)
    UNION ALL
    SELECT 'subtitle', 0, substr(first, 1, 10) || ' to ' || substr(last, 1, 10)
        || '; lines: medians between change points' || iif(left_out, '; series with fewer runs left out', '')
    FROM ends
    UNION ALL
    SELECT 'measure', 0, CASE measure WHEN 'time_ns' THEN 'time of a call (ns)'
        WHEN 'gbps' THEN 'GB/s (x read and y written)' WHEN 'copy_ratio' THEN 'share of the copy bandwidth'
        WHEN 'row_ulp_max' THEN 'largest error (row ULP)' ELSE measure END FROM drawn
    UNION ALL SELECT 'ymin', iif(low > 0, max(0, low - margin), low - margin), '-' FROM frame
    UNION ALL SELECT 'ymax', high + margin, '-' FROM frame
    UNION ALL SELECT 'runs', runs, '-' FROM ends
    UNION ALL SELECT 'changes', changes, '-' FROM ends
    UNION ALL SELECT 'series', count(DISTINCT series), '-' FROM points
    UNION ALL SELECT 'name_' || number, 0, name FROM counted WHERE number <= 8;

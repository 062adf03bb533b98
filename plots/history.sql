-- A measure over the runs of one machine: the eight series with most points, a line at the median of each
-- segment, and an upright at each change. `past` has the points of each series by time: series, name, run,
-- commit, started, value, lo, hi, segment, median (of the segment); `asked` has measure and machine.
CREATE TEMP TABLE chosen AS
    SELECT row_number() OVER (ORDER BY count(*) DESC, series) AS number, series, name
    FROM past GROUP BY series, name ORDER BY number LIMIT 8;
CREATE TEMP TABLE points AS SELECT number, past.*, past.rowid AS place FROM past JOIN chosen USING (series);
CREATE TEMP TABLE ticks AS
    SELECT row_number() OVER (ORDER BY started, run) AS x, run, "commit" FROM points
    GROUP BY run, started, "commit" ORDER BY x;
CREATE TEMP TABLE chart AS
    SELECT number AS series, x, value, coalesce(lo, value) AS lo, coalesce(hi, value) AS hi
    FROM points JOIN ticks USING (run) ORDER BY number, place;
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
               count(DISTINCT series) < (SELECT count(DISTINCT series) FROM past) AS left_out
        FROM points),
    frame AS (
        SELECT *, CASE WHEN room > 0 THEN room WHEN high <> 0 THEN abs(high) * 0.1 ELSE 1 END AS margin FROM ends)
    SELECT 'title' AS key, 0 AS number, printf('%d run%s, %d change%s', runs, iif(runs = 1, '', 's'), changes,
               iif(changes = 1, '', 's')) AS text FROM ends
    UNION ALL SELECT 'footer', 0, substr(machine, 1, 150) FROM asked
    UNION ALL
    SELECT 'subtitle', 0, substr(first, 1, 10) || ' to ' || substr(last, 1, 10)
        || '; lines: medians between change points' || iif(left_out, '; series with fewer runs left out', '')
    FROM ends
    UNION ALL
    SELECT 'measure', 0, CASE measure WHEN 'time_ns' THEN 'time of a call (ns)'
        WHEN 'gbps' THEN 'GB/s (x read and y written)' WHEN 'copy_ratio' THEN 'share of the copy bandwidth'
        WHEN 'row_ulp_max' THEN 'largest error (row ULP)' ELSE measure END FROM asked
    UNION ALL SELECT 'ymin', iif(low > 0, max(0, low - margin), low - margin), '-' FROM frame
    UNION ALL SELECT 'ymax', high + margin, '-' FROM frame
    UNION ALL SELECT 'runs', runs, '-' FROM ends
    UNION ALL SELECT 'changes', changes, '-' FROM ends
    UNION ALL SELECT 'series', (SELECT count(*) FROM chosen), '-'
    UNION ALL SELECT 'name_' || number, 0, name FROM chosen;

-- Where a kernel's error comes from: a bar a kernel, in it the share of each stage in the sum of their mean
-- squares. `stages` has place and name of each kernel's stages, their rms, and the kernel's total and statistics;
-- `asked` has the subtitle and what it was made on.
CREATE TEMP TABLE shares AS
    SELECT *, coalesce(rms * rms / sum(rms * rms) OVER (PARTITION BY place), 0) AS share FROM stages;
CREATE TEMP TABLE chart AS
    SELECT place, stage,
           coalesce(sum(share) OVER (PARTITION BY place ORDER BY stage
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS "from",
           sum(share) OVER (PARTITION BY place ORDER BY stage) AS "to"
    FROM shares ORDER BY place, stage;
CREATE TEMP TABLE chart_more AS
    SELECT DISTINCT place, kernel, total, statistics FROM stages ORDER BY place;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, substr(subtitle, 1, 200) || '; total: RMS error in row ULP' AS text
    FROM asked
    UNION ALL
    SELECT 'footer', 0, 'fitted: mean and rstd as seen from outside, rstd in variance | ' || made_on FROM asked
    UNION ALL SELECT 'rows', (SELECT count(*) FROM chart_more), '-'
    UNION ALL SELECT DISTINCT 'stage_' || stage, 0, name FROM stages;

-- What a new chart needs: its rows, and what its script is told beside them.
CREATE TEMP TABLE chart AS SELECT kernel, number AS gbps FROM named ORDER BY number;
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, 'a toy' AS text
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'speed';

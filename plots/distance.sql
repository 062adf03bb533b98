-- How far conventions lie from one, in ULP of f32 and relative: over hidden at one std, and over std at one
-- hidden. `asked` has the one (convention, label), hidden, std and what it was made on; `others` the others.
CREATE TEMP TABLE distances AS
    WITH RECURSIVE powers (power) AS (SELECT 1 UNION ALL SELECT power + 1 FROM powers WHERE power < 17),
    steps (step) AS (SELECT -96 UNION ALL SELECT step + 1 FROM steps WHERE step < 32), -- 16 a decade
    places AS (
        SELECT 0 AS over_std, 1 << power AS x, 1 << power AS hidden, std FROM powers, asked
        UNION ALL SELECT 1, pow(10, step / 16.0), hidden, pow(10, step / 16.0) FROM steps, asked)
    SELECT over_std, series, x, apart_ulp(asked.convention, others.convention, places.hidden, places.std) AS ulp,
           apart_relative(asked.convention, others.convention, places.hidden, places.std) AS relative
    FROM others, places, asked;
CREATE TEMP TABLE chart AS
    SELECT 1 + over_std AS panel, series, x, iif(ulp > 0, ulp, NULL) AS distance FROM distances
    UNION ALL SELECT 3 + over_std, series, x, iif(relative > 0, relative, NULL) FROM distances
    ORDER BY 1, 2, 3;
CREATE TEMP TABLE chart_settings AS
    WITH most AS (SELECT max(1, max(ulp)) AS ulp, max(1e-7, max(relative)) AS relative FROM distances)
    SELECT 'title' AS key, 0 AS number, printf('How far off is an output that should be %s?', label) AS text FROM asked
    UNION ALL SELECT 'footer', 0, 'distances at the largest element of the row asked for | ' || made_on FROM asked
    UNION ALL
    SELECT 'subtitle', 0, convention || '; rows of +-std in turn; exact distances, no rounding, nothing measured'
    FROM asked
    -- Nothing below shows in f32, whose ulp is 2^-24 to 2^-23 of a number.
    UNION ALL SELECT 'ymin', 1e-2, '-'
    UNION ALL SELECT 'ymax', pow(10, ceil(log10(ulp) + 0.3)), '-' FROM most
    UNION ALL SELECT 'relative_min', 1e-9, '-'
    UNION ALL SELECT 'relative_max', pow(10, ceil(log10(relative) + 0.3)), '-' FROM most
    UNION ALL SELECT 'hidden', hidden, '-' FROM asked
    UNION ALL SELECT 'std', std, '-' FROM asked
    UNION ALL SELECT 'series', (SELECT count(*) FROM others), '-'
    UNION ALL SELECT 'hidden_min', 2, '-'
    UNION ALL SELECT 'hidden_max', 1 << 17, '-'
    UNION ALL SELECT 'std_min', 1e-6, '-'
    UNION ALL SELECT 'std_max', 1e2, '-'
    UNION ALL SELECT 'name_' || series, 0, name FROM others;

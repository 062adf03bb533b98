-- The part of a run that its charts and page show: cases that can be compared with each other, the shape that
-- represents the run, and the kernels that a chart names. The caller makes three tables before:
--   drawn     run, operation, types (NULL: the most measured ones), page (0: not the page's types), and from
--             harness/show/answer.c: rows and hidden of the answer's shape, the isa that labels leave out, the cases
--             of the fastest, the recommended and the proven kernel, noisy
--   standing  each kernel of the types except copies, in the order of the run, from harness/store/standing.sql:
--             kernel, types, role, other_param, recommendable; judged, error and worst_case of rows that are not
--             edge cases; edge_case: the largest error on edge cases
--   maybe_fastest    case_id, kind (1 or 2 of looks): cases at the answer's shape without a significant difference in speed
-- harness/store/script.c has the functions that SQLite lacks.

CREATE TEMP TABLE timed_cases AS
    SELECT timed.* FROM drawn CROSS JOIN timed USING (run, operation) WHERE gbps < 9e999;

-- The cases that can be compared: those of the most timed group, or of the most judged one if nothing was timed.
-- convention is that of the speeds, judged_convention that of the errors shown with them.
CREATE TEMP TABLE groups AS
    SELECT types, convention, cache, threads, count(*) AS cases, min(case_id) AS first, 1 AS has_time
    FROM timed_cases WHERE NOT is_copy AND types = coalesce((SELECT types FROM drawn), types)
    GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT types, convention, min(cache), min(threads), count(*), min(case_id), 0
    FROM judged WHERE run = (SELECT run FROM drawn) AND operation = (SELECT operation FROM drawn) AND types = coalesce((SELECT types FROM drawn), types)
    GROUP BY 1, 2;
CREATE TEMP TABLE about AS
    SELECT types, iif(has_time, convention, NULL) AS convention, cache, threads, has_time,
           coalesce((SELECT convention FROM groups AS other WHERE NOT other.has_time
                     AND other.types = own.types AND other.convention = own.convention),
                    (SELECT convention FROM groups AS other WHERE NOT other.has_time
                     AND other.types = own.types ORDER BY cases DESC, first LIMIT 1), convention)
               AS judged_convention,
           EXISTS (SELECT 1 FROM groups AS other WHERE NOT other.has_time AND other.types = own.types)
               AS has_judged,
           printf('%s, %s, %s, %d thread%s', types, convention, cache_phrase(cache), threads,
                  iif(threads = 1, '', 's')) AS words,
           coalesce(nullif((SELECT isa FROM drawn), '') || ' unless named', '') AS isa_words
    FROM groups AS own ORDER BY has_time DESC, cases DESC, first LIMIT 1;

-- The cases whose errors are shown.
CREATE TEMP TABLE judged_cases AS
    SELECT judged.* FROM about CROSS JOIN judged USING (types)
    WHERE run = (SELECT run FROM drawn) AND operation = (SELECT operation FROM drawn)
          AND judged.convention = judged_convention;

-- The timed cases, with copies.
CREATE TEMP TABLE here AS
    SELECT own.*, CASE regime WHEN 'L1' THEN 0 WHEN 'L2' THEN 1 WHEN 'L3' THEN 2 ELSE 3 END AS level,
           iif(is_copy, NULL, gbps * time_ns / time_hi_ns) AS lo,
           iif(is_copy, NULL, gbps * time_ns / time_lo_ns) AS hi
    FROM timed_cases AS own JOIN about USING (types, cache, threads)
    WHERE has_time AND (is_copy OR own.convention = about.convention) ORDER BY case_id;

-- The shape of the answer, else the one with most timed cases; of several the one in L2 near hidden 768.
CREATE TEMP TABLE shape AS
    SELECT rows, hidden, regime,
           printf('%d rows × %d', rows, hidden) AS words,
           (SELECT kernel FROM here AS copy WHERE is_copy AND copy_ratio = 1 AND copy.rows = here.rows
            AND copy.hidden = here.hidden) AS copy_kernel,
           (SELECT gbps FROM here AS copy WHERE is_copy AND copy_ratio = 1 AND copy.rows = here.rows
            AND copy.hidden = here.hidden) AS copy_gbps
    FROM here GROUP BY rows, hidden, regime HAVING sum(NOT is_copy) > 0
    ORDER BY (rows, hidden) IS (SELECT rows, hidden FROM drawn) DESC,
             1000.0 * count(*) + CASE level WHEN 1 THEN 300 WHEN 3 THEN 200 WHEN 2 THEN 100 ELSE 0 END
             - abs(log2(hidden / 768.0)) DESC,
             min(iif(is_copy, NULL, case_id)) LIMIT 1;

-- Every kernel of the types except copies, in the order of the run; form: the common name of a textbook kernel.
CREATE TEMP TABLE named AS
    WITH facts AS (
        SELECT name, descriptor ->> '$.isa' AS isa, coalesce(descriptor ->> '$.source', '') AS source,
               descriptor ->> '$.version' AS version,
               iif(descriptor ->> '$.schedule' = 'plain', descriptor ->> '$.statistics',
                   coalesce(descriptor ->> '$.schedule', '')) AS form,
               iif(descriptor ->> '$.acc' = 'f64' AND descriptor ->> '$.io' <> 'f64', ', f64 sums', '')
                   AS sums
        FROM kernels WHERE run = (SELECT run FROM drawn))
    SELECT row_number() OVER (ORDER BY own.rowid) AS number, own.*, isa, source,
           coalesce(version, '') AS version,
           kernel_label(kernel, iif(role = 'plugin', '', types),
                        iif(role = 'plugin', '', (SELECT isa FROM drawn))) AS label,
           iif(role = 'textbook', replace(iif(form = 'welford', 'Welford', form) || sums, '_', '-'), '')
               AS form,
           error_class(judged, error, types) AS class,
           (SELECT error_words(own.error, types, verdict, reason) FROM judgements
            WHERE case_id = worst_case) AS error_words
    FROM standing AS own JOIN about USING (types) LEFT JOIN facts ON name = kernel ORDER BY own.rowid;

-- The names that charts show; a name may stand for several kernels. look: their order; kind: fastest, recommended, four
-- textbook forms, a plugin, a peer, proven; style: a style of style.gp.
CREATE TEMP TABLE looks AS
    WITH fixed (kind, name, noisy_name) AS (
        VALUES (1, 'fastest', 'among the fastest'), (2, 'recommended', NULL),
               (3, 'two-pass', NULL), (4, 'Welford', NULL), (5, 'naive', NULL), (6, 'fused', NULL)),
    members AS (
        SELECT kind, iif((SELECT noisy FROM drawn), coalesce(noisy_name, name), name) AS name, 0 AS first,
               kernel, number
        FROM fixed JOIN named ON CASE kind WHEN 1 THEN role <> 'peer' AND NOT other_param WHEN 2 THEN recommendable
                                           ELSE role = 'textbook' AND form = name END
        UNION ALL
        SELECT iif(role = 'peer', 8, 7),
               (SELECT iif(role = 'peer', version, source) FROM named AS other
                WHERE other.source = own.source AND other.role = own.role ORDER BY number LIMIT 1),
               (SELECT min(number) FROM named AS other
                WHERE other.source = own.source AND other.role = own.role), kernel, number
        FROM named AS own WHERE role IN ('peer', 'plugin')
        UNION ALL
        SELECT 9, 'proven', 0, kernel, number
        FROM drawn JOIN timed_cases ON case_id = proven JOIN named USING (kernel)),
    ordered AS (
        SELECT *, dense_rank() OVER (ORDER BY iif(kind = 8, 7, kind), first) AS look,
               dense_rank() OVER (PARTITION BY kind ORDER BY first) AS of_kind FROM members)
    SELECT look, kind, CASE kind WHEN 8 THEN 8 + (of_kind - 1) % 4 WHEN 9 THEN 12 ELSE kind END AS style, name,
           kernel, number
    FROM ordered WHERE look <= 12 ORDER BY look, number;

-- The kernels of a look, the fastest at a shape, and at a hidden size of a cache level, first: the answer's kernel
-- before all others, then by the copy ratio.
CREATE TEMP TABLE ranked AS
    SELECT look, kind, style, name, number, here.*,
           row_number() OVER (PARTITION BY look, rows, hidden ORDER BY case_id IS answer DESC,
               copy_ratio DESC NULLS LAST, time_ns, kernel, case_id) AS at_shape,
           row_number() OVER (PARTITION BY look, regime, hidden ORDER BY case_id IS answer DESC,
               copy_ratio DESC NULLS LAST, time_ns, kernel, case_id) AS in_regime
    FROM (SELECT looks.*, CASE kind WHEN 1 THEN fastest WHEN 2 THEN recommended END AS answer FROM looks, drawn)
         JOIN here USING (kernel);

-- The best kernel of each look at the report's shape.
CREATE TEMP TABLE best AS
    SELECT ranked.*, class FROM ranked JOIN shape USING (rows, hidden) JOIN named USING (kernel)
    WHERE at_shape = 1 ORDER BY look;

-- The kernels timed at that shape: titles ("fastest, recommended", "-"), the name with its titles ("fastest:
-- one_sweep", "naive_avx2", "oneDNN 2.6.3"), and shown: the first look that it is the best of.
CREATE TEMP TABLE timed_kernels AS
    WITH titled AS (
        SELECT case_id, min(look) AS shown, max(iif(kind = 8, name, NULL)) AS peer,
               max(iif(kind = 1, name, NULL)) AS fastest, max(iif(kind IN (2, 9), name, NULL)) AS recommended
        FROM best GROUP BY case_id),
    words AS (
        SELECT *, coalesce(fastest || coalesce(', ' || recommended, ''), recommended) AS titles FROM titled)
    SELECT here.*, named.*, words.shown,
           coalesce(titles, '-') AS titles,
           coalesce(titles || ': ', '') || coalesce((SELECT name FROM looks WHERE kind = 8
               AND looks.kernel = named.kernel), label) AS name
    FROM here JOIN shape USING (rows, hidden) JOIN named USING (kernel) LEFT JOIN words USING (case_id)
    WHERE case_id = (SELECT min(case_id) FROM here AS first WHERE first.kernel = named.kernel
                     AND first.rows = shape.rows AND first.hidden = shape.hidden)
    ORDER BY number;

-- The looks that are shown, each kernel once.
CREATE TEMP TABLE shown AS
    SELECT looks.look, kind, style, timed_kernels.*
    FROM timed_kernels JOIN looks ON looks.look = shown AND looks.kernel = timed_kernels.kernel
    ORDER BY looks.look;

-- At most ten hidden sizes of each cache level, for the page's table of the fastest and recommended kernels.
CREATE TEMP TABLE columns AS
    WITH sizes AS (
        SELECT level, hidden, row_number() OVER (PARTITION BY level ORDER BY hidden) - 1 AS place,
               count(*) OVER (PARTITION BY level) AS count
        FROM (SELECT DISTINCT level, hidden FROM here WHERE NOT is_copy))
    SELECT level, hidden, value + 1 AS number
    FROM sizes JOIN json_each('[0,1,2,3,4,5,6,7,8,9]')
        ON place = iif(count <= 10, value, value * (count - 1) / 9);
-- "noisy": the time of another kernel is shorter, beyond both intervals, as in the answer.
CREATE TEMP TABLE winners AS
    SELECT level, kind, regime, columns.number, hidden, gbps, label,
           (kind = 1 OR case_id IS NOT (SELECT recommended FROM drawn)) -- the answer still recommends it
           AND EXISTS (SELECT 1 FROM ranked AS other WHERE other.look = own.look AND other.rows = own.rows
                   AND other.hidden = own.hidden AND other.time_hi_ns < own.time_lo_ns
                   AND min(other.processes, own.processes) > 1) AS noisy,
           iif(EXISTS (SELECT 1 FROM ranked AS other WHERE other.look = own.look AND other.rows = own.rows
                   AND other.hidden = own.hidden AND other.case_id <> own.case_id
                   AND other.time_lo_ns <= own.time_hi_ns AND other.time_hi_ns >= own.time_lo_ns), '≈ ', '') AS tie
    FROM ranked AS own JOIN columns USING (level, hidden) JOIN named USING (kernel)
    WHERE in_regime = 1 AND kind <= 2;
CREATE TEMP TABLE sizes AS
    SELECT regime, hidden || '' AS hidden,
           coalesce(max(iif(kind = 1, iif(noisy, 'too noisy to say', tie || label), NULL)), '-') AS fastest,
           max(iif(kind = 1, gbps, NULL)) AS fastest_gbps,
           coalesce(max(iif(kind = 2, iif(noisy, 'too noisy to say', tie || label), NULL)), '-') AS recommended,
           max(iif(kind = 2, gbps, NULL)) AS recommended_gbps
    FROM winners GROUP BY level, hidden ORDER BY level, number;

-- The errors shown with the speeds: for each judged input, one row for each of the first kernels shown.
CREATE TEMP TABLE input_errors AS
    WITH inputs AS (SELECT input, min(case_id) AS place FROM judged_cases GROUP BY input),
    first_shown AS (SELECT look, kernel FROM shown ORDER BY look LIMIT 7)
    SELECT inputs.input, count(case_id) AS judged, total(failed) AS failed, max(error) AS error,
           case_id -- case of the largest error
    FROM inputs CROSS JOIN first_shown LEFT JOIN judged_cases AS own
        ON own.input = inputs.input AND own.kernel = first_shown.kernel AND NOT adversarial
    GROUP BY place, look ORDER BY place, look;

-- The peers, in the order of the run.
CREATE TEMP TABLE peers AS SELECT DISTINCT look, name FROM looks WHERE kind = 8 ORDER BY look;

-- For each chart, the command that measures its data again, with the run's own names of kernels.
CREATE TEMP TABLE again AS
    WITH RECURSIVE option (own, rest) AS (
        SELECT '', command_line || ' --' FROM runs WHERE id = (SELECT run FROM drawn)
        UNION ALL SELECT substr(rest, 1, instr(rest, ' --') - 1), substr(rest, instr(rest, ' --') + 3)
        FROM option WHERE rest <> ''),
    run AS (
        SELECT printf('lnbench run --plan %s --only', iif(plan = 'choose', 'quick', plan)) AS begin,
               printf('%s --seed %u', (SELECT group_concat(' --' || own, '') FROM option
                WHERE substr(own, 1, 5) IN ('kerne', 'plugi', 'param')), seed) AS seed
        FROM runs WHERE id = (SELECT run FROM drawn)),
    speed AS (
        SELECT begin || printf(' speed --conventions %s --dtypes %s', coalesce(convention, judged_convention), types)
                   AS begin,
               printf(' --cache %s --threads %d', coalesce(cache, 'hot'), coalesce(threads, 1))
               || coalesce((SELECT ' --shapes ' || group_concat(shape, ',') FROM (
                   SELECT rows || 'x' || hidden AS shape FROM here GROUP BY rows, hidden
                   ORDER BY min(case_id))), '') AS shapes, seed
        FROM run, about),
    accuracy AS ( -- options that change the problems
        SELECT printf('%s accuracy%s%s', begin, (SELECT group_concat(' --' || own, '') FROM option
                WHERE substr(own, 1, 3) IN ('con', 'dty', 'inp', 'ope', 'sha')), seed) AS command FROM run)
    SELECT 'speed' AS what, begin || shapes || seed AS command FROM speed
    UNION ALL SELECT 'accuracy', command FROM accuracy
    UNION ALL SELECT 'both', iif(EXISTS (SELECT 1 FROM here), begin || shapes || seed || '; ', '') || command
    FROM speed, accuracy
    UNION ALL SELECT 'states', begin || ' --cache hot,cold --threads 1,2 --shapes ' || rows || 'x' || hidden || seed
    FROM speed, shape;

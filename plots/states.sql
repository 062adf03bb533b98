-- The speeds of the named kernels in each cache state and with each number of threads.
CREATE TEMP TABLE states AS
    SELECT row_number() OVER (ORDER BY min(case_id)) AS state, own.cache, own.threads
    FROM timed_cases AS own JOIN shape USING (rows, hidden) JOIN about USING (types, convention)
    WHERE NOT own.is_copy GROUP BY own.cache, own.threads ORDER BY min(case_id) LIMIT 8;
CREATE TEMP TABLE chart AS
    SELECT dense_rank() OVER (ORDER BY look) AS place, shown.name AS label, own.kernel, state, own.gbps,
           own.gbps * own.time_ns / own.time_hi_ns AS lo, own.gbps * own.time_ns / own.time_lo_ns AS hi
    FROM shown JOIN timed_cases AS own USING (kernel, types, convention, rows, hidden)
         JOIN states ON states.cache = own.cache AND states.threads = own.threads
    WHERE (SELECT count(*) FROM states) > 1 ORDER BY look, state;
CREATE TEMP TABLE chart_settings AS
    SELECT 'state_' || state AS key, 0 AS number,
           printf('%s, %d thread%s', cache_phrase(cache), threads, iif(threads = 1, '', 's')) AS text FROM states
    UNION ALL
    SELECT 'subtitle', 0, types || ', ' || judged_convention || ', ' || shape.words FROM about, shape
    UNION ALL SELECT 'states', (SELECT count(*) FROM states), '-'
    UNION ALL SELECT 'rows', (SELECT max(place) FROM chart), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'states';

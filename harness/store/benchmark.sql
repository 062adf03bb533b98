-- Google Benchmark's entries of run ?1 (docs/user_guide.md and src/json_reporter.cc of version 1.7.1), so that its
-- compare.py and other readers of its JSON read ours: one entry for each repetition, three aggregates for each case
-- timed more than once, and an aggregate "accuracy" without times for each judged case (tools that compare times skip
-- it). NULL keys are left out. Unfinished processes do not count. METRICS stands for the published metrics.
WITH finished AS MATERIALIZED (SELECT process FROM finished_processes WHERE run = ?1),
own AS MATERIALIZED (
    SELECT cases.id, row_number() OVER (ORDER BY cases.id) - 1 AS family, threads,
           kernel || '/' || convention || '/' || inputs.name || '/' || rows || 'x' || hidden || '/' || types || '/' || cache
               || '/threads:' || threads AS name,
           2.0 * rows * hidden * CASE types WHEN 'f64' THEN 8 WHEN 'f32' THEN 4 ELSE 2 END AS bytes,
           (SELECT count(*) FROM repetitions WHERE case_id = cases.id AND process IN finished) AS repetitions
    FROM cells JOIN cases ON cell = cells.id JOIN inputs ON inputs.id = input_id
    WHERE run = ?1 AND (EXISTS (SELECT 1 FROM judgements WHERE case_id = cases.id)
                        OR EXISTS (SELECT 1 FROM repetitions WHERE case_id = cases.id))),
-- Only positive times count.
times AS MATERIALIZED (
    SELECT id, process, repetition, place, iterations, real_ns, cpu_ns, number,
           count(*) OVER (PARTITION BY id) AS count,
           row_number() OVER (PARTITION BY id ORDER BY real_ns) AS real_place,
           row_number() OVER (PARTITION BY id ORDER BY cpu_ns) AS cpu_place,
           avg(real_ns) OVER (PARTITION BY id) AS real_mean, avg(cpu_ns) OVER (PARTITION BY id) AS cpu_mean
    FROM (SELECT own.id, r.*, row_number() OVER (PARTITION BY own.id ORDER BY process, repetition) - 1 AS number
          FROM own JOIN repetitions AS r ON case_id = own.id WHERE process IN finished)
    WHERE real_ns > 0 AND real_ns < 9e999 AND abs(cpu_ns) < 9e999),
means AS (
    SELECT id, count, real_mean, cpu_mean,
           avg(real_ns) FILTER (WHERE real_place IN ((count + 1) / 2, count / 2 + 1)) AS real_median,
           avg(cpu_ns) FILTER (WHERE cpu_place IN ((count + 1) / 2, count / 2 + 1)) AS cpu_median,
           sqrt(sum((real_ns - real_mean) * (real_ns - real_mean)) / (count - 1)) AS real_deviation,
           sqrt(sum((cpu_ns - cpu_mean) * (cpu_ns - cpu_mean)) / (count - 1)) AS cpu_deviation
    FROM times WHERE count > 1 GROUP BY id),
aggregates (place, id, aggregate, iterations, real_time, cpu_time) AS (
    SELECT 1, id, 'mean', count, real_mean, cpu_mean FROM means
    UNION ALL SELECT 2, id, 'median', count, real_median, cpu_median FROM means
    UNION ALL SELECT 3, id, 'stddev', count, real_deviation, cpu_deviation FROM means),
entries AS (
    SELECT 0 AS place, id, '' AS aggregate, 'iteration' AS run_type, number AS repetition_index, NULL AS aggregate_unit, iterations,
           real_ns AS real_time, cpu_ns AS cpu_time, 'ns' AS time_unit, process, repetition AS round, place AS "order"
    FROM times
    UNION ALL SELECT place, id, aggregate, 'aggregate', NULL, 'time', iterations, real_time, cpu_time, 'ns', NULL, NULL, NULL
    FROM aggregates
    UNION ALL SELECT 4, case_id, 'accuracy', 'aggregate', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM judgements WHERE case_id IN (SELECT id FROM own))
SELECT own.name || iif(aggregate = '', '', '_' || aggregate) AS name, family AS family_index, 0 AS per_family_instance_index,
       own.name AS run_name, run_type, own.repetitions, own.threads, nullif(aggregate, '') AS aggregate_name, aggregate_unit,
       repetition_index, entries.iterations, real_time, cpu_time, time_unit, iif(entries.place = 0, bytes * 1e9 / real_time, NULL) AS bytes_per_second,
       process, round, "order",
       time_ns, time_lo_ns, time_hi_ns, gbps, copy_ratio, copy_ratio_lo, copy_ratio_hi,
       bound_row_ulp, METRICS, verdict || iif(reason = '', '', ' (' || reason || ')') AS label
FROM entries JOIN own USING (id)
     LEFT JOIN timings ON timings.case_id = own.id AND entries.place = 2
     LEFT JOIN judgements ON judgements.case_id = own.id AND entries.place = 4
     LEFT JOIN accuracies ON accuracies.case_id = own.id AND entries.place = 4
ORDER BY family, entries.place, repetition_index

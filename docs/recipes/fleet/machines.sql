-- The machines of a store side by side, each by its latest whole run: `machines`, `winners`, `costs` and
-- `errors`. docs/recipes/fleet/machines prints them; so does
--     sqlite3 -readonly -box survey.db ".read machines.sql" "SELECT * FROM winners"
-- Times of two machines are never compared: a choice's cost is a ratio of shares of the roof on one.

CREATE TEMP VIEW machines AS
    SELECT char(64 + row_number() OVER (ORDER BY id)) AS machine,
           (SELECT value FROM facts WHERE run = id AND name = 'cpu_model')
           || coalesce((SELECT ' without ' || value FROM facts
                        WHERE run = id AND name = 'isa_disabled' AND value <> 'unknown'), '')
           || coalesce((SELECT ' by ' || value FROM facts
                        WHERE run = id AND name = 'worker' AND value <> 'unknown'), '') AS cpu,
           (SELECT group_concat(value, '/') FROM facts -- in the order of their names
            WHERE run = id AND name IN ('cpu_family', 'cpu_model_number', 'cpu_vendor'))
               AS family_model_vendor,
           (SELECT value FROM facts WHERE run = id AND name = 'compiler') AS compiler,
           (SELECT substr(value, 1, 12) FROM facts WHERE run = id AND name = 'git_commit') AS "commit",
           substr(started, 1, 10) AS date, id AS run, seed
    FROM runs
    WHERE id IN (SELECT max(id) FROM runs WHERE state = 'complete'
                 AND plan IN ('quick', 'default', 'full') GROUP BY machine);

-- Our kernels by name that are right on every row judged; error: of all these rows.
CREATE TEMP TABLE right_kernels AS
    SELECT run, kernel, types, max(error) AS error
    FROM board JOIN machines USING (run) JOIN kernels USING (run)
    WHERE kernels.name = kernel AND role IN ('', 'textbook')
    GROUP BY run, kernel, types HAVING sum(wrong) = 0 AND sum(judged) > 0;

-- What each machine timed, by its share of the roof.
CREATE TEMP TABLE shares AS
    SELECT machine, types, convention, rows, hidden, cache, threads, kernel, max(roof_ratio) AS share,
           max(roof_lo) AS share_lo, max(roof_hi) AS share_hi, max(gbps) AS gbps, error
    FROM timed JOIN machines USING (run) LEFT JOIN right_kernels USING (run, kernel, types)
    WHERE NOT roof
    GROUP BY machine, types, convention, rows, hidden, cache, threads, kernel;

CREATE TEMP TABLE winners AS
    WITH asked (errors, most) AS (VALUES ('never wrong', 9e999), ('at most 2 row ULP', 2.0)),
    ranked AS (
        SELECT *, row_number() OVER (
                   PARTITION BY machine, types, convention, rows, hidden, cache, threads, errors
                   ORDER BY share DESC, kernel) AS place
        FROM shares JOIN asked ON error <= most)
    SELECT rows || 'x' || hidden AS shape, types, convention, cache, threads, errors, machine,
           kernel AS fastest, gbps, share, share_lo, share_hi
    FROM ranked WHERE place = 1
    ORDER BY rows, hidden, types, convention, cache, threads, errors DESC, machine;

-- Where one machine's choice cannot run on another, or takes more than 1.1 times the best's time there.
CREATE TEMP VIEW costs AS
    SELECT own.shape, own.types, own.convention, own.cache, own.threads, own.errors,
           own.fastest AS choice, own.machine AS of, there.machine AS "on",
           CASE WHEN moved.share IS NULL THEN 'cannot run'
                ELSE printf('%.2f [%.2f, %.2f]', there.share / moved.share,
                            there.share_lo / moved.share_hi, there.share_hi / moved.share_lo)
                END AS times_the_best,
           there.fastest AS best_there
    FROM winners AS own
         JOIN winners AS there USING (shape, types, convention, cache, threads, errors)
         LEFT JOIN shares AS moved
             ON moved.machine = there.machine AND moved.kernel = own.fastest
                AND moved.rows || 'x' || moved.hidden = own.shape AND moved.types = own.types
                AND moved.convention = own.convention AND moved.cache = own.cache
                AND moved.threads = own.threads
    WHERE own.machine <> there.machine
      AND (moved.share IS NULL OR there.share_lo / moved.share_hi > 1.1);

-- Errors of two machines with the same seed, bit for bit. They must be the same where the kernel is
-- reproducible on every instruction set, as measured or as it declares.
CREATE TEMP TABLE judged_there AS
    SELECT machine, seed, kernel, types, convention, rows, hidden, cache, threads, input, verdict,
           descriptor ->> '$.reproducibility' IS 'isa'
           OR descriptor ->> '$.declared_reproducibility' IS 'isa' AS must, accuracies.*
    FROM judged JOIN machines USING (run) JOIN accuracies USING (case_id)
         LEFT JOIN kernels ON kernels.run = machines.run AND name = kernel
    WHERE elements > 0 AND NOT EXISTS (SELECT 1 FROM timings WHERE timings.case_id = judged.case_id);

CREATE TEMP VIEW errors AS
    WITH pairs AS (
        SELECT a.machine || ', ' || b.machine AS machines, a.must, a.kernel, a.rows, a.hidden,
               a.convention, a.input,
               a.verdict = b.verdict
               AND (a.ulp_max, a.ulp_mean, a.ulp_rms, a.ulp_p50, a.ulp_p90, a.ulp_p99, a.ulp_bias,
                    a.row_ulp_max, a.row_ulp_mean, a.norm_max, a.rel_l2, a.correctly_rounded, a.bits,
                    a.mean_ulp_max, a.rstd_ulp_max, a.mismatches, a.elements, a.exact_zeros,
                    a.sign_of_zero, a.worst_row)
                IS (b.ulp_max, b.ulp_mean, b.ulp_rms, b.ulp_p50, b.ulp_p90, b.ulp_p99, b.ulp_bias,
                    b.row_ulp_max, b.row_ulp_mean, b.norm_max, b.rel_l2, b.correctly_rounded, b.bits,
                    b.mean_ulp_max, b.rstd_ulp_max, b.mismatches, b.elements, b.exact_zeros,
                    b.sign_of_zero, b.worst_row)
               AND coalesce(a.output_hash = b.output_hash, 1) AS same
        FROM judged_there AS a JOIN judged_there AS b
            USING (seed, kernel, types, convention, rows, hidden, cache, threads, input)
        WHERE a.machine < b.machine)
    SELECT machines, count(*) AS judged_on_both, sum(same) AS same_bits, sum(must) AS must_be_same,
           count(*) FILTER (WHERE must AND NOT same) AS of_them_not,
           min(iif(must AND NOT same,
                   kernel || ', ' || rows || 'x' || hidden || ', ' || convention || ', ' || input, NULL))
               AS the_first
    FROM pairs GROUP BY machines;

-- The queries of tools/dispatch: the kernels of a class, and the library's calls compared with them. The tool fills
-- the tables; tools/class.sql finds the kernels of a class.

-- The operation: one row.
CREATE TEMP TABLE wanted (operation TEXT);
-- The run to check.
CREATE TEMP TABLE chosen (run INTEGER PRIMARY KEY);
CREATE TEMP TABLE members (class TEXT, types TEXT, hidden INTEGER, kernel TEXT);

-- The kernels that a call of the library could dispatch to, and the calls. Kernels that broke a promise are left out.
CREATE TEMP VIEW own AS
    SELECT kernels.run, name AS kernel, role, descriptor ->> '$.isa' AS isa, descriptor ->> '$.param' AS param
    FROM kernels JOIN chosen USING (run)
    WHERE descriptor ->> '$.source' = 'builtin' AND role <> 'copy'
      AND coalesce(descriptor ->> '$.operation', 'layernorm') = (SELECT operation FROM wanted);
CREATE TEMP VIEW faulty AS
    SELECT DISTINCT kernel, types FROM judged JOIN chosen USING (run) WHERE failed AND NOT adversarial;

-- The cases timed in the same rounds; the tool stores them in the table `rounds`.
CREATE TEMP VIEW rounds_asked AS
    SELECT run, kernel, role, isa, param, types, convention, rows, hidden, cache, threads, input, regime,
           rows || 'x' || hidden AS shape, copy_ratio, copy_ratio_lo, copy_ratio_hi
    FROM timed JOIN own USING (run, kernel)
    WHERE processes > 1;

-- Each call of the library with the fastest kernel of its class in the same rounds. ratio: the call's time divided by
-- that kernel's.
CREATE TEMP VIEW compared AS
    WITH calls AS (
        SELECT rounds.*, substr(kernel, 9, instr(substr(kernel, 9), '_') - 1) AS class
        FROM rounds WHERE role = 'library'),
    pairs AS (
        SELECT own.*, best.kernel AS best, best.copy_ratio / own.copy_ratio AS ratio,
               best.copy_ratio_lo / own.copy_ratio_hi AS ratio_lo, best.copy_ratio_hi / own.copy_ratio_lo AS ratio_hi,
               row_number() OVER (PARTITION BY own.kernel, own.run, own.types, own.rows, own.hidden,
                                               own.cache, own.threads, own.input, own.convention
                                  ORDER BY best.copy_ratio DESC, best.kernel) AS rank
        FROM calls AS own LEFT JOIN (rounds AS best JOIN members USING (kernel, types, hidden))
            ON best.role <> 'library' AND members.class = own.class
               AND (best.run, best.types, best.param, best.rows, best.hidden, best.cache, best.threads,
                    best.input, best.convention)
                   = (own.run, own.types, own.param, own.rows, own.hidden, own.cache,
                      own.threads, own.input, own.convention))
    SELECT shape, regime, ratio, ratio_lo, ratio_hi, best, kernel
    FROM pairs WHERE rank = 1 ORDER BY types, rows * hidden, hidden, threads, kernel;

-- What tools/dispatch asks a store: who is of a class, who is fastest, and how the library's calls and its
-- table compare. It fills the tables; harness/store/class.sql says who is of a class.

-- The instruction sets, and the lesser ones that a CPU with them has.
CREATE TEMP TABLE usable (isa TEXT, place INTEGER, lesser TEXT);
-- The operation, and the convention that is timed: one row.
CREATE TEMP TABLE wanted (operation TEXT, convention TEXT);
-- Runs that count: their cases were judged, or timed, for the table.
CREATE TEMP TABLE asked (run INTEGER PRIMARY KEY);
CREATE TEMP TABLE members (class TEXT, types TEXT, hidden INTEGER, kernel TEXT);
-- The rows of the operation's table in kernels/dispatch.
CREATE TEMP TABLE rows_of_table (
    class TEXT, types TEXT, param TEXT, isa TEXT, regime TEXT, hidden_to REAL, kernel TEXT);

-- Kernels that ln_layernorm(), say, could take, and its own calls. No kernel is of a class that broke a promise.
CREATE TEMP VIEW own AS
    SELECT kernels.run, name AS kernel, role, descriptor ->> '$.isa' AS isa, descriptor ->> '$.param' AS param
    FROM kernels JOIN asked USING (run)
    WHERE descriptor ->> '$.source' = 'builtin' AND role <> 'copy'
      AND coalesce(descriptor ->> '$.operation', 'layernorm') = (SELECT operation FROM wanted);
CREATE TEMP VIEW faulty AS
    SELECT DISTINCT kernel, types FROM judged JOIN asked USING (run) WHERE failed AND NOT adversarial;

-- Who was timed, beside each other, as the table `rounds` once the runs are known: calls of three rows at most within L2 are a regime of their own.
CREATE TEMP VIEW rounds_asked AS
    SELECT run, kernel, role, isa, param, types, convention, rows, hidden, cache, threads, input,
           iif(rows <= 3 AND regime IN ('L1', 'L2'), 'few', regime) AS regime,
           rows || 'x' || hidden AS shape, time_ns, copy_ratio, copy_ratio_lo, copy_ratio_hi
    FROM timed JOIN own USING (run, kernel)
    WHERE processes > 1;

-- The kernel of each cell of the table: in the caches y is read after each call, as by the next layer. Where
-- several runs timed a cell, those that all of them have, by the mean of their times over the copy's.
CREATE TEMP VIEW fastest AS
    WITH costs AS (
        SELECT types, param, regime, hidden, kernel, isa, avg(1 / copy_ratio) AS cost,
               count(DISTINCT run) AS runs
        FROM rounds
        WHERE role <> 'library' AND convention = (SELECT convention FROM wanted) AND threads = 1 AND cache = iif(regime IN ('DRAM', 'few'), 'hot', 'read')
        GROUP BY types, param, regime, hidden, kernel, isa),
    whole AS (
        SELECT *, max(runs) OVER (PARTITION BY types, param, regime, hidden) AS most FROM costs),
    ranked AS (
        SELECT class, types, param, usable.isa, usable.place, regime, hidden, kernel,
               row_number() OVER (PARTITION BY class, types, param, usable.isa, regime, hidden
                                  ORDER BY cost, kernel) AS rank
        FROM members JOIN whole USING (types, hidden, kernel) JOIN usable ON lesser = whole.isa
        WHERE runs = most)
    SELECT class, types, param, isa, place, regime, hidden, kernel FROM ranked
    WHERE rank = 1 AND isa IN (SELECT isa FROM rounds WHERE rounds.types = ranked.types);

-- Beside the fastest kernel of its class in the same rounds: each call, and each kernel of the table for the
-- best ISA that was timed there, of one thread. ratio: its time over the best's.
CREATE TEMP VIEW compared AS
    WITH asked_for AS (
        SELECT rounds.*, substr(kernel, 9, instr(substr(kernel, 9), '_') - 1) AS class, kernel AS what
        FROM rounds WHERE role = 'library'
        UNION ALL
        SELECT rounds.*, class, 'table, ' || class || ' ' || rows_of_table.isa
        FROM rounds JOIN rows_of_table USING (types, param, regime, kernel)
        WHERE threads = 1 AND role <> 'library'
          AND rows_of_table.isa = (SELECT usable.isa FROM rounds AS r JOIN usable USING (isa)
                                   WHERE r.run = rounds.run AND r.types = rounds.types
                                   ORDER BY place DESC LIMIT 1)
          AND hidden_to = (SELECT min(hidden_to) FROM rows_of_table AS t
                           WHERE t.hidden_to >= hidden AND t.class = rows_of_table.class
                             AND t.types = rounds.types AND t.param = rounds.param
                             AND t.isa = rows_of_table.isa AND t.regime = rounds.regime)),
    pairs AS (
        SELECT own.*, best.kernel AS best, best.copy_ratio / own.copy_ratio AS ratio,
               best.copy_ratio_lo / own.copy_ratio_hi AS ratio_lo, best.copy_ratio_hi / own.copy_ratio_lo AS ratio_hi,
               row_number() OVER (PARTITION BY what, own.run, own.types, own.rows, own.hidden,
                                               own.cache, own.threads, own.input,
                                               own.convention
                                  ORDER BY best.copy_ratio DESC, best.kernel) AS rank
        FROM asked_for AS own LEFT JOIN (rounds AS best JOIN members USING (kernel, types, hidden))
            ON best.role <> 'library' AND members.class = own.class
               AND (best.run, best.types, best.param, best.rows, best.hidden, best.cache, best.threads,
                    best.input, best.convention)
                   = (own.run, own.types, own.param, own.rows, own.hidden, own.cache,
                      own.threads, own.input, own.convention))
    SELECT what, shape, regime, types, cache, threads, ratio, ratio_lo, ratio_hi, best, kernel,
           what = kernel OR EXISTS (SELECT 1 FROM members WHERE members.class = pairs.class
                                    AND (members.types, members.hidden, members.kernel)
                                        = (pairs.types, pairs.hidden, pairs.kernel)) AS of_class
    FROM pairs WHERE rank = 1 ORDER BY types, rows * hidden, hidden, threads, what;

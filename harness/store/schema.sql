-- The tables of the result store (PRAGMA user_version: STORE_VERSION in open.c), documented in results/README.md.
-- Undefined figures are NULL; infinities are stored as such; 64-bit seeds and hashes as two's complement.

-- origin: a random word made when the run begins, by which an import stores it only once. imported: it was measured
-- into another store.
-- request_hash: of the run's options, not of the library, so that two builds with the same options share it.
-- requested, unsupported (the kernel or this CPU does not support it), missing (no result): NULL if not known or,
-- except requested, not counted yet. cases (with a result) and repetitions are counted when the run ends.
-- machine: shared by runs whose times can be compared; NULL: the processor has no name. triples: three-way
-- combinations of levels in the problems of the conformance tests (0: they were not run); triples_covered: of these.
CREATE TABLE runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    started         TEXT NOT NULL,
    ended           TEXT,
    command_line    TEXT NOT NULL,
    plan            TEXT NOT NULL,
    plan_hash       TEXT NOT NULL,
    seed            INTEGER NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('open', 'complete', 'interrupted')),
    origin          TEXT NOT NULL,
    imported        INTEGER NOT NULL,
    command         TEXT,
    request_hash    TEXT,
    requested       INTEGER,
    unsupported     INTEGER,
    missing         INTEGER,
    done            INTEGER GENERATED ALWAYS AS (requested - unsupported - missing) VIRTUAL,
    cases           INTEGER,
    repetitions     INTEGER,
    machine         TEXT,
    triples         INTEGER NOT NULL,
    triples_covered INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_plan ON runs (plan_hash, id);
CREATE INDEX runs_by_machine ON runs (machine, id);
CREATE UNIQUE INDEX runs_by_origin ON runs (origin);

CREATE TABLE facts (
    run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- role: 'library', 'peer', 'plugin', 'textbook' or '' (ours, with a proof). reproducible: whether its bits were seen to
-- differ from call to call.
CREATE TABLE kernels (
    id           INTEGER PRIMARY KEY,
    run          INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    descriptor   TEXT NOT NULL,
    role         TEXT,
    reproducible TEXT,
    UNIQUE (run, name)
) STRICT;

-- Cases that differ only in their input: a row of the view summary. regime: the cache level that holds the bytes of a
-- call on the run's machine: 'L1', 'L2', 'L3' or 'DRAM'.
CREATE TABLE cells (
    id         INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kernel     TEXT NOT NULL,
    types      TEXT NOT NULL,
    convention TEXT NOT NULL,
    rows       INTEGER NOT NULL,
    hidden     INTEGER NOT NULL,
    cache      TEXT NOT NULL,
    threads    INTEGER NOT NULL,
    operation  TEXT NOT NULL,
    regime     TEXT NOT NULL,
    UNIQUE (run, kernel, types, convention, rows, hidden, cache, threads, operation)
) STRICT;

-- The names of inputs of all runs: input families, files, conformance tests.
CREATE TABLE inputs (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- requested: 1 its judgement, 2 its timing, 3 both. NULL: nothing (a copy), or not known.
CREATE TABLE cases (
    id        INTEGER PRIMARY KEY,
    cell      INTEGER NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
    input_id  INTEGER NOT NULL REFERENCES inputs (id),
    requested INTEGER,
    UNIQUE (cell, input_id)
) STRICT;

-- The figures of a judged case. output_hash: FNV-1a of all bits of the output. ulp_histogram: a JSON array of counts:
-- elements with an error below 2^-6 ulp, then from 2^-6, 2^-5, ... 2^24 on; zeros at its end are left out. The others
-- are the metrics of domain/metric_list.c.
CREATE TABLE accuracies (
    case_id       INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    bound_row_ulp REAL,
    output_hash   INTEGER,
    ulp_histogram TEXT,
    ulp_max REAL, ulp_mean REAL, ulp_rms REAL, ulp_p50 REAL, ulp_p90 REAL, ulp_p99 REAL, ulp_bias REAL,
    row_ulp_max REAL, row_ulp_mean REAL, norm_max REAL, rel_l2 REAL, correctly_rounded REAL, bits REAL,
    mean_ulp_max REAL, rstd_ulp_max REAL, mismatches INTEGER NOT NULL, elements INTEGER NOT NULL,
    exact_zeros INTEGER NOT NULL, sign_of_zero INTEGER NOT NULL, worst_row INTEGER NOT NULL,
    worst_column INTEGER NOT NULL, worst_computed REAL, worst_exact REAL, kappa_max REAL
) STRICT;

-- The verdict of a case and the facts derived from it; its figures are in accuracies.
CREATE TABLE judgements (
    case_id            INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    verdict            TEXT NOT NULL CHECK (verdict IN ('pass', 'type-limited', 'fail', 'unsupported', 'missing')),
    reason             TEXT NOT NULL,    -- type-limited, fail: 'inaccurate', 'crashed', ...; pass: '', 'no bound'
    detail             TEXT,             -- where, how or why; NULL: no detail
    telling            INTEGER NOT NULL, -- how much the detail says about the failure, 0 to 4
    checked            INTEGER NOT NULL, -- a conformance test, no input
    adversarial        INTEGER NOT NULL, -- rows that a search found for some kernel, and this one does not fail
    edge_case          INTEGER NOT NULL, -- values or results at the limits of the type's range
    has_correct_digits INTEGER,          -- passes, with a correct digit in each row; NULL: not known
    error              REAL,             -- largest row ULP; infinite: wrong class or no output; NULL: none
    kappa              REAL
) STRICT;

-- cycles, instructions: counted by the CPU for one call; NULL if it has no counters.
CREATE TABLE repetitions (
    case_id      INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
    process      INTEGER NOT NULL,
    repetition   INTEGER NOT NULL,
    place        INTEGER NOT NULL,
    iterations   INTEGER NOT NULL,
    real_ns      REAL,
    cpu_ns       REAL,
    cycles       REAL,
    instructions REAL,
    PRIMARY KEY (case_id, process, repetition)
) STRICT, WITHOUT ROWID;

-- Speeds from the repetitions of a case, computed when the last process that timed it has ended.
CREATE TABLE timings (
    case_id       INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    is_copy       INTEGER NOT NULL, -- a copy, the reference for the speed of kernels
    time_ns       REAL,
    time_lo_ns    REAL,
    time_hi_ns    REAL,
    gbps          REAL,
    copy_ratio    REAL, -- time of the fastest copy / its own, paired round by round
    copy_ratio_lo REAL,
    copy_ratio_hi REAL,
    cycles        REAL,
    instructions  REAL,
    repetitions   INTEGER NOT NULL,
    processes     INTEGER NOT NULL
) STRICT;

-- mean_error: (computed - exact) / sqrt(exact mean^2 + exact biased variance). rstd_error: (computed - exact) / exact.
-- NULL: the kernel does not return it, or there is no exact rstd.
CREATE TABLE judged_rows (
    case_id       INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
    row           INTEGER NOT NULL,
    kappa         REAL,
    row_ulp       REAL,
    norm_max      REAL,
    bound_row_ulp REAL,
    mean_error    REAL,
    rstd_error    REAL,
    PRIMARY KEY (case_id, row)
) STRICT, WITHOUT ROWID;

-- Worker processes that completed all their repetitions (--resume repeats the others).
CREATE TABLE finished_processes (
    run     INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    PRIMARY KEY (run, process)
) STRICT, WITHOUT ROWID;

-- The result of `lnbench doctor --noise`: the smallest detectable change on a machine, as a fraction of the time.
CREATE TABLE noise (
    machine  TEXT NOT NULL,
    regime   TEXT NOT NULL,
    made     TEXT NOT NULL,
    smallest REAL NOT NULL,
    PRIMARY KEY (machine, regime)
) STRICT, WITHOUT ROWID;

-- The result store, version 1 (PRAGMA user_version). Documented in results/README.md.
-- Undefined figures are NULL; infinities are themselves; 64-bit seeds are stored as two's complement.

CREATE TABLE runs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    started      TEXT NOT NULL,
    ended        TEXT,
    command_line TEXT NOT NULL,
    plan         TEXT NOT NULL,
    plan_hash    TEXT NOT NULL,
    seed         INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('open', 'complete', 'interrupted'))
) STRICT;
CREATE INDEX runs_by_plan ON runs (plan_hash, id);

CREATE TABLE facts (
    run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernels (
    id         INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    descriptor TEXT NOT NULL,
    UNIQUE (run, name)
) STRICT;

CREATE TABLE cases (
    id         INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kernel     TEXT NOT NULL,
    convention TEXT NOT NULL,
    input      TEXT NOT NULL,
    rows       INTEGER NOT NULL,
    hidden     INTEGER NOT NULL,
    dtype      TEXT NOT NULL,
    cache      TEXT NOT NULL,
    threads    INTEGER NOT NULL,
    UNIQUE (run, kernel, convention, input, rows, hidden, dtype, cache, threads)
) STRICT;

CREATE TABLE accuracies (
    case_id           INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    verdict           TEXT NOT NULL,
    declared          INTEGER NOT NULL,
    detail            TEXT NOT NULL,
    bound_row_ulp     REAL,
    ulp_max           REAL,
    ulp_mean          REAL,
    ulp_rms           REAL,
    ulp_p50           REAL,
    ulp_p90           REAL,
    ulp_p99           REAL,
    ulp_bias          REAL,
    row_ulp_max       REAL,
    row_ulp_mean      REAL,
    norm_max          REAL,
    rel_l2            REAL,
    correctly_rounded REAL,
    bits              REAL,
    mean_ulp_max      REAL,
    rstd_ulp_max      REAL,
    mismatches        INTEGER NOT NULL,
    elements          INTEGER NOT NULL,
    exact_zeros       INTEGER NOT NULL,
    sign_of_zero      INTEGER NOT NULL,
    worst_row         INTEGER NOT NULL,
    worst_column      INTEGER NOT NULL,
    worst_computed    REAL,
    worst_exact       REAL,
    kappa_max         REAL
) STRICT;

CREATE TABLE repetitions (
    case_id    INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
    process    INTEGER NOT NULL,
    repetition INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    real_ns    REAL,
    cpu_ns     REAL,
    PRIMARY KEY (case_id, process, repetition)
) STRICT, WITHOUT ROWID;

CREATE TABLE judged_rows (
    case_id       INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
    row           INTEGER NOT NULL,
    kappa         REAL,
    row_ulp       REAL,
    norm_max      REAL,
    bound_row_ulp REAL,
    PRIMARY KEY (case_id, row)
) STRICT, WITHOUT ROWID;

-- Worker processes that left every repetition they were to make (--resume repeats the others).
CREATE TABLE finished_processes (
    run     INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    PRIMARY KEY (run, process)
) STRICT, WITHOUT ROWID;

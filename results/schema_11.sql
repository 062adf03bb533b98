-- From version 10 to 11: a run in a store of many costs what it costs alone. What is shown of a case
-- stands in narrow tables, written with it, and its key stands once.
DROP VIEW speeds;
DROP VIEW errors;
DROP VIEW verdicts;
DROP VIEW lost;

-- Cases that differ in their input alone: a row of the view board.
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
    UNIQUE (run, kernel, types, convention, rows, hidden, cache, threads, operation)
) STRICT;
INSERT INTO cells (run, kernel, types, convention, rows, hidden, cache, threads, operation)
    SELECT run, kernel, dtype, convention, rows, hidden, cache, threads, operation FROM cases
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY min(id);

-- asked: 1 to judge it, 2 to time it, 3 both. NULL: nothing (a roof), or not known.
CREATE TABLE cases_11 (
    id    INTEGER PRIMARY KEY,
    cell  INTEGER NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
    input TEXT NOT NULL,
    asked INTEGER,
    UNIQUE (cell, input)
) STRICT;
INSERT INTO cases_11 (id, cell, input, asked)
    SELECT cases.id, cells.id, input, asked FROM cases
    JOIN cells USING (run, kernel, convention, rows, hidden, cache, threads, operation)
    WHERE types = dtype;
DROP TABLE cases;
ALTER TABLE cases_11 RENAME TO cases;

-- What is decided of a judged case, beside its figures in accuracies.
CREATE TABLE judgements (
    case_id  INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    verdict  TEXT NOT NULL CHECK (verdict IN ('right', 'wrong', 'declined', 'lost')),
    reason   TEXT NOT NULL,    -- of wrong: 'inaccurate', 'crashed', ...; of right: '', 'no bound'
    declared INTEGER NOT NULL, -- the kernel's own bound makes no claim there
    checked  INTEGER NOT NULL, -- a check of the referee, no input
    hunted   INTEGER NOT NULL, -- rows that a search found for some kernel, where this one is not at fault
    extreme  INTEGER NOT NULL, -- values, or results, at the ends of the type's range
    usable   INTEGER,          -- a correct digit in each row; NULL: not known
    error    REAL,             -- largest row ULP; infinite: no right figure; NULL: none is to be had
    kappa    REAL
) STRICT;

-- What the repetitions of a case come to, once the process that timed it last has ended.
CREATE TABLE timings (
    case_id      INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    roof         INTEGER NOT NULL, -- a copy, what kernels are measured by
    regime       TEXT NOT NULL,
    time_ns      REAL,
    time_lo_ns   REAL,
    time_hi_ns   REAL,
    gbps         REAL,
    roof_ratio   REAL, -- time of the fastest copy / its own, paired round by round
    roof_lo      REAL,
    roof_hi      REAL,
    cycles       REAL,
    instructions REAL,
    repetitions  INTEGER NOT NULL,
    processes    INTEGER NOT NULL
) STRICT;

-- Cases with a result and repetitions, counted when the run ends. NULL: it goes on, or was killed.
ALTER TABLE runs ADD COLUMN cases INTEGER;
ALTER TABLE runs ADD COLUMN repetitions INTEGER;
-- Runs whose times may be compared share it. NULL: the processor has no name.
ALTER TABLE runs ADD COLUMN machine TEXT;
CREATE INDEX runs_by_machine ON runs (machine, id);

-- What a kernel is, so that SQL can ask: 'roof', 'library', 'peer', 'plugin', 'textbook' or '' (ours,
-- with a proof); whether its bits were seen to differ from call to call.
ALTER TABLE kernels ADD COLUMN role TEXT;
ALTER TABLE kernels ADD COLUMN reproducible TEXT;

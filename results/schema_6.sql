-- From version 5 to 6: a case says what operation it is of. Older cases are of LayerNorm.

CREATE TABLE cases_6 (
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
    operation  TEXT NOT NULL DEFAULT 'layernorm',
    UNIQUE (run, kernel, convention, input, rows, hidden, dtype, cache, threads, operation)
) STRICT;
INSERT INTO cases_6 (id, run, kernel, convention, input, rows, hidden, dtype, cache, threads)
    SELECT id, run, kernel, convention, input, rows, hidden, dtype, cache, threads FROM cases;
DROP TABLE cases;
ALTER TABLE cases_6 RENAME TO cases;

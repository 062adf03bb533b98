-- From version 2 to 3: the worst row of each judged case is kept, so that it can be replayed.

-- Bits of a row, of gamma or of beta, in the order of this machine's memory; each only once,
-- whatever number of cases and runs has it. hash: FNV-1a of them (two's complement).
CREATE TABLE tensors (
    id   INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL UNIQUE,
    bits BLOB NOT NULL
) STRICT;

CREATE TABLE worst_rows (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id) ON DELETE CASCADE,
    y_hash  INTEGER NOT NULL,
    x       INTEGER REFERENCES tensors (id),
    gamma   INTEGER REFERENCES tensors (id),
    beta    INTEGER REFERENCES tensors (id)
) STRICT;

-- From version 1 to 2: outputs are hashed, runs can come from elsewhere, the machine's noise is kept.

-- FNV-1a over every bit that came out of the kernel (two's complement); NULL: not known.
ALTER TABLE accuracies ADD COLUMN output_hash INTEGER;

-- Of an imported run: a hash of what was imported, so that it comes in once. NULL: measured here.
ALTER TABLE runs ADD COLUMN origin TEXT;
CREATE UNIQUE INDEX runs_by_origin ON runs (origin) WHERE origin IS NOT NULL;

-- What `lnbench calibrate` found: of one machine the latest counts.
CREATE TABLE calibrations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    made       TEXT NOT NULL,
    machine    TEXT NOT NULL,
    kernel     TEXT NOT NULL,
    rebuilds   INTEGER NOT NULL,
    confidence REAL NOT NULL
) STRICT;
CREATE INDEX calibrations_by_machine ON calibrations (machine, id);

CREATE TABLE noise (
    calibration INTEGER NOT NULL REFERENCES calibrations (id) ON DELETE CASCADE,
    method      TEXT NOT NULL CHECK (method IN ('duet', 'compare')),
    regime      TEXT NOT NULL,
    rows        INTEGER NOT NULL,
    hidden      INTEGER NOT NULL,
    floor       REAL NOT NULL,
    smallest    REAL NOT NULL,
    seconds     REAL NOT NULL,
    processes   INTEGER NOT NULL,
    trials      INTEGER NOT NULL,
    PRIMARY KEY (calibration, method, regime)
) STRICT, WITHOUT ROWID;

-- Copies runs of the attached database `f` into the store. Ids are shifted beyond the existing ones; runs whose origin
-- the store has are left out. TEMP table `came` must exist: id in f and new id. TEMP table `moved` gets the cases (old
-- id, new id), by which the tables of their results are copied afterwards.
CREATE TEMP TABLE behind AS SELECT
    (SELECT coalesce(max(id), 0) FROM main.cells) AS cell, (SELECT coalesce(max(id), 0) FROM main.cases) AS one,
    (SELECT coalesce(max(id), 0) FROM main.kernels) AS kernel;
INSERT INTO main.runs (id, started, ended, command_line, plan, plan_hash, seed, state, origin, imported, command,
        request_hash, requested, unsupported, missing, cases, repetitions, machine, triples, triples_covered)
    SELECT came.own, started, ended, command_line, plan, plan_hash, seed, state, origin, 1, command,
        request_hash, requested, unsupported, missing, cases, repetitions, machine, triples, triples_covered
    FROM came CROSS JOIN f.runs AS r ON r.id = came.id;
INSERT INTO main.facts SELECT own, place, name, value FROM came CROSS JOIN f.facts ON run = id;
INSERT INTO main.kernels SELECT k.id + kernel, own, name, descriptor, role, reproducible
    FROM came CROSS JOIN f.kernels AS k ON k.run = came.id, behind;
INSERT INTO main.cells SELECT c.id + cell, own, c.kernel, types, convention, rows, hidden, cache, threads, operation, regime
    FROM came CROSS JOIN f.cells AS c ON c.run = came.id, behind;
CREATE TEMP TABLE moved AS SELECT c.id AS old, c.id + one AS own, c.cell + behind.cell AS cell, input_id, requested
    FROM came CROSS JOIN f.cells ON f.cells.run = came.id CROSS JOIN f.cases AS c ON c.cell = f.cells.id, behind;
INSERT OR IGNORE INTO main.inputs (name) SELECT name FROM f.inputs WHERE id IN (SELECT input_id FROM moved);
INSERT INTO main.cases SELECT moved.own, cell, inputs.id, requested
    FROM moved CROSS JOIN f.inputs AS i ON i.id = input_id JOIN main.inputs ON inputs.name = i.name;
INSERT INTO main.finished_processes SELECT own, process FROM came CROSS JOIN f.finished_processes ON run = id;
DROP TABLE temp.behind;

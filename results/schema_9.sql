-- From version 8 to 9: what the CPU counted in a repetition, a call; NULL where it counts nothing.
ALTER TABLE repetitions ADD COLUMN cycles REAL;
ALTER TABLE repetitions ADD COLUMN instructions REAL;

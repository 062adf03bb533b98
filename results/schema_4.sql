-- From version 3 to 4: how the errors of a case are spread.

-- A JSON array of counts: elements whose error is below 2^-6 ulp, then from 2^-6, 2^-5, ... 2^24 on;
-- zeros at its end are left out. NULL: nothing was measured, or it is not known.
ALTER TABLE accuracies ADD COLUMN ulp_histogram TEXT;

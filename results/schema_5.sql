-- From version 4 to 5: what a kernel's mean and rstd are off by, of each judged row.

-- (computed - exact) / sqrt(exact mean^2 + exact biased variance); NULL: the kernel gives no mean.
ALTER TABLE judged_rows ADD COLUMN mean_error REAL;
-- (computed - exact) / exact of rstd; NULL likewise, or where there is no exact rstd.
ALTER TABLE judged_rows ADD COLUMN rstd_error REAL;

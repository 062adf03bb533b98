-- One row for each case of run ?1 with a result: its key, figures and speed. METRICS stands for the columns of
-- accuracies that domain/metric_list.c has.
SELECT operation, kernel, convention, inputs.name AS input, rows, hidden, types AS dtype, cache, threads, regime,
       coalesce(verdict, '') AS verdict, coalesce(reason, '') AS reason, has_correct_digits,
       coalesce(detail, '') AS detail, bound_row_ulp, METRICS, time_ns, time_lo_ns, time_hi_ns, gbps, copy_ratio,
       copy_ratio_lo, copy_ratio_hi, coalesce(repetitions, 0) AS repetitions, coalesce(processes, 0) AS processes,
       coalesce(kernels.reproducible, '-') AS reproducibility, cases.id AS "case"
FROM cells JOIN cases ON cases.cell = cells.id JOIN inputs ON inputs.id = input_id
     LEFT JOIN judgements ON judgements.case_id = cases.id LEFT JOIN accuracies ON accuracies.case_id = cases.id
     LEFT JOIN timings ON timings.case_id = cases.id
     LEFT JOIN kernels ON kernels.run = cells.run AND kernels.name = cells.kernel
WHERE cells.run = ?1
      AND (verdict IS NOT NULL OR EXISTS (SELECT 1 FROM repetitions AS r WHERE r.case_id = cases.id))
ORDER BY cases.id

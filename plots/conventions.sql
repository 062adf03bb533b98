-- The effect of changes to PyTorch's convention on a row that alternates between +std and -std, and their cost in speed
-- in this run: the ratio of a kernel's times under two conventions with the same affine form.
CREATE TEMP TABLE pairs AS
    SELECT own.time_ns / base.time_ns AS ratio
    FROM timed_cases AS own JOIN about JOIN here AS base
        USING (kernel, types, rows, hidden, cache, threads)
    WHERE NOT own.is_copy AND own.convention <> about.convention
      AND affine(own.convention) = affine(about.convention)
    ORDER BY 1;
CREATE TEMP TABLE chart AS
    WITH changes (change, convention, hidden, std) AS (VALUES
        ('divide by N-1 instead of N, hidden 64', 'ddof=1,eps=1e-5@var,affine=none', 64, 1),
        ('divide by N-1 instead of N, hidden 768', 'ddof=1,eps=1e-5@var,affine=none', 768, 1),
        ('divide by N-1 instead of N, hidden 4096', 'ddof=1,eps=1e-5@var,affine=none', 4096, 1),
        ('eps added to the quotient', 'ddof=0,eps=1e-5@quotient,affine=none', 768, 1),
        ('eps outside the root', 'ddof=0,eps=1e-5@std,affine=none', 768, 1),
        ('eps 1e-6 instead of 1e-5', 'ddof=0,eps=1e-6@var,affine=none', 768, 1),
        ('no eps', 'ddof=0,eps=0,affine=none', 768, 1),
        ('eps outside the root', 'ddof=0,eps=1e-5@std,affine=none', 768, 0.02),
        ('eps 1e-6 instead of 1e-5', 'ddof=0,eps=1e-6@var,affine=none', 768, 0.02),
        ('no eps', 'ddof=0,eps=0,affine=none', 768, 0.02))
    SELECT row_number() OVER () + 1 + (std < 1) AS place, change, convention,
           apart_ulp('ddof=0,eps=1e-5@var,affine=none', convention, hidden, std) AS row_ulp,
           apart_relative('ddof=0,eps=1e-5@var,affine=none', convention, hidden, std) AS relative, std
    FROM changes WHERE (SELECT page AND operation = 'layernorm' FROM drawn); -- the same for every type
CREATE TEMP TABLE chart_settings AS
    SELECT 'subtitle' AS key, 0 AS number, 'Exact distance from torch.nn.LayerNorm (divisor N, eps 1e-5 in '
        || 'the variance), in ULP of f32; hidden size 768 unless named' AS text
    UNION ALL
    SELECT 'cost', 0, 'Cost in speed: ' || coalesce(
        (SELECT printf('%+.1f %% (median of %d pairs of this run)', 100 * (ratio - 1), (SELECT count(*) FROM pairs))
         FROM pairs WHERE rowid = (SELECT count(*) FROM pairs) / 2 + 1),
        'once a row, none in the loop over elements')
    UNION ALL SELECT 'rows', (SELECT max(place) FROM chart), '-'
    UNION ALL SELECT 'again', 0, command FROM again WHERE what = 'speed';

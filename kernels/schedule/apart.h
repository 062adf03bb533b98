/* Rows that apply/guarded.h finds strange are made one by one, in double. */
#ifndef LN_SCHEDULE_APART_H
#define LN_SCHEDULE_APART_H

_Static_assert(sizeof(storage) == sizeof(item), "what is computed apart is stored as items are");

/* Gamma and beta of n elements (LANES of them if n is more) from column i on, as numbers. */
LN_INLINE void convention_parameters(const convention *convention, size_t i, size_t n,
                                     item gamma[LANES], item beta[LANES])
{
    ln_affine affine = convention->affine;
    item_store(gamma, lane_set(1));
    item_store(beta, lane_set(0));
    if (affine == LN_AFFINE_SCALAR) {
        item_store(gamma, convention->gamma_scalar);
        item_store(beta, convention->beta_scalar);
    } else if (affine != LN_AFFINE_NONE) {
        item_store(gamma, param_load(convention->gamma + i, n));
    }
    if (affine == LN_AFFINE_VECTOR || affine == LN_AFFINE_GAMMA1)
        item_store(beta, param_load(convention->beta + i, n));
}

LN_RARE void apply_apart(row row, convention convention, centre centre)
{
    item x[LANES], gamma[LANES], beta[LANES];
    double one = convention.affine == LN_AFFINE_GAMMA1 ? 1 : 0;
    for (size_t i = 0; i < row.hidden; i += LANES) {
        size_t n = row.hidden - i;
        item_store(x, row_last(&row, i, n));
        convention_parameters(&convention, i, n, gamma, beta);
        for (size_t j = 0; j < LANES; j++) {
            double deviation = ((double)x[j] - centre.mean) - centre.rest;
            double xhat = deviation * centre.rstd + (double)convention.quotient;
            x[j] = (item)(xhat * (one + (double)gamma[j]) + (double)beta[j]);
        }
        row_store(row.y + i, lane_load(x), n);
    }
}

LN_INLINE void apply_row_guarded(const row *row, const convention *convention, centre centre)
{
    if (__builtin_expect(centre.strange, 0))
        apply_apart(*row, *convention, centre);
    else
        apply_row(row, convention, centre);
}
#define apply_row apply_row_guarded

#endif

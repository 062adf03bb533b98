/* y where apply/folded.h has rstd go into gamma. */
#ifndef LN_SCHEDULE_FOLDED_H
#define LN_SCHEDULE_FOLDED_H

LN_INLINE vec apply_vector_folded(const row *row, const convention *convention, centre centre,
                                  size_t i, size_t n)
{
    if (convention->affine == LN_AFFINE_NONE || convention->quotient != 0)
        return apply_vector(row, convention, centre, i, n);
    affine_terms terms = convention_terms(convention, i, n);
    terms.gamma = lane_multiply(terms.gamma, centre.rstd);
    return convention_finish_with(convention, centre_deviation(centre, row_last(row, i, n)), terms);
}
#define apply_vector apply_vector_folded

#endif

/* For statistics that need no pivot. */
#ifndef LN_NO_PIVOT_H
#define LN_NO_PIVOT_H

LN_INLINE real statistics_pivot(const statistics *statistics, const row *row)
{
    (void)statistics, (void)row;
    return 0;
}

#endif

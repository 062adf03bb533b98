/* Pairwise summation over a row of any length, in one sweep and a fixed order.
 *
 * A chunk of CHUNK blocks goes to UNROLL accumulators, which are summed to one vector; vectors are
 * added up in pairs, pairs of pairs and so on, like the carries of a binary counter (Higham,
 * "Accuracy and Stability of Numerical Algorithms", 4.2). What is left is added from the shortest
 * sums to the longest.
 *
 * No term goes through more than cascade_depth(N) roundings, that of its product included: at most
 * CHUNK in its chunk (the first is added to zero, exactly), log2(BLOCK) over accumulators and
 * lanes, and for C > 1 chunks, floor(log2(C)) + 1: a term at level l has l of those behind it, and
 * before it are at most the levels above l, and one more. */
#ifndef LN_CASCADE_H
#define LN_CASCADE_H

enum { CHUNK = 2, CHUNK_ELEMENTS = CHUNK * BLOCK, CASCADE_LEVELS = 8 * sizeof(size_t) };

/* level[l] is meant where bit l of chunks is set. */
typedef struct cascade {
    acc level[CASCADE_LEVELS];
    size_t chunks;
} cascade;

LN_INLINE void parts_clear(acc parts[UNROLL])
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        parts[u] = acc_set(0);
}

/* Adds the sums of the next chunk. */
LN_INLINE void cascade_add(cascade *cascade, const acc parts[UNROLL])
{
    acc sum = parts_sum(parts);
    unsigned level = 0;
    for (size_t carry = cascade->chunks++; carry & 1; carry >>= 1)
        sum = acc_add(cascade->level[level++], sum);
    cascade->level[level] = sum;
}

LN_INLINE real cascade_sum(const cascade *cascade)
{
    acc sum = acc_set(0);
    unsigned level = 0;
    for (size_t left = cascade->chunks; left; left >>= 1, level++)
        if (left & 1)
            sum = acc_add(cascade->level[level], sum);
    return acc_sum(sum);
}

LN_INLINE double cascade_depth(size_t hidden)
{
    double steps = ceil((double)hidden / BLOCK), chunks = ceil(steps / CHUNK);
    return fmin(steps, CHUNK) + bound_levels() + (chunks > 1 ? floor(log2(chunks)) + 1 : 0);
}

#endif

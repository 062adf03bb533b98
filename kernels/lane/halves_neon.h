/* Four 16-bit elements, NEON, which has no masks: the first n are read and written as two and one.
 */
#ifndef LN_LANE_HALVES_NEON_H
#define LN_LANE_HALVES_NEON_H

#include "lane/lane.h"
#include <arm_neon.h>
#include <string.h>

/* n < 4 */
LN_APART uint16x4_t halves_load_first(const uint16_t *p, size_t n)
{
    uint64_t all = 0;
    uint32_t two;
    if (n & 1u)
        all = p[n & 2u];
    if (n & 2u) {
        memcpy(&two, p, sizeof(two));
        all = all << 32 | two;
    }
    return vcreate_u16(all);
}

/* n < 4 */
LN_APART void halves_store_first(uint16_t *p, uint16x4_t a, size_t n)
{
    uint64_t all = vget_lane_u64(vreinterpret_u64_u16(a), 0);
    if (n & 2u) {
        memcpy(p, &all, sizeof(uint32_t));
        all >>= 32;
        p += 2;
    }
    if (n & 1u)
        *p = (uint16_t)all;
}

#endif

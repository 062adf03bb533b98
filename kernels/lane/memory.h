/* The words for what lies in memory, from those of its type: LN_STORAGE is that of x, residual, y
 * and sum, LN_PARAM that of gamma and beta. */
#ifndef LN_LANE_MEMORY_H
#define LN_LANE_MEMORY_H

#include "lane/lane.h"
#include LN_LANE_FILE
#include LN_STORAGE_FILE
#include LN_PARAM_FILE

#define LN_PASTE_(a, b) a##b
#define LN_PASTE(a, b) LN_PASTE_(a, b)

typedef LN_PASTE(element_, LN_STORAGE) storage;
typedef LN_PASTE(element_, LN_PARAM) param;

/* What rounding to the storage type is off by, relative and (half of the smallest number)
 * absolute: 0 where items are stored as they are. */
#define UNIT_f32 0x1p-24
#define UNIT_f64 0x1p-53
#define UNIT_bf16 0x1p-8
#define UNIT_f16 0x1p-11
#define TINY_f32 0x1p-150
#define TINY_f64 0x1p-1074 /* half of it is 0 in double */
#define TINY_bf16 0x1p-134
#define TINY_f16 0x1p-25
#define STORED_AS_COMPUTED (LN_PASTE(UNIT_, LN_STORAGE) == ITEM_UNIT)
#define STORAGE_UNIT (STORED_AS_COMPUTED ? 0.0 : LN_PASTE(UNIT_, LN_STORAGE))

LN_INLINE vec lane_load(const storage *p)
{
    return LN_PASTE(lane_load_, LN_STORAGE)(p);
}

LN_INLINE vec lane_load_first(const storage *p, size_t n)
{
    return LN_PASTE(lane_load_first_, LN_STORAGE)(p, n);
}

LN_INLINE void lane_store(storage *p, vec a)
{
    LN_PASTE(lane_store_, LN_STORAGE)(p, a);
}

LN_INLINE void lane_store_first(storage *p, vec a, size_t n)
{
    LN_PASTE(lane_store_first_, LN_STORAGE)(p, a, n);
}

LN_INLINE vec lane_stored(vec a)
{
    return LN_PASTE(lane_stored_, LN_STORAGE)(a);
}

/* lane_store(), and around the caches, where no number is subnormal. */
#ifdef LANE_STORE_REGULAR
LN_INLINE void lane_store_regular(storage *p, vec a)
{
    LN_PASTE(lane_store_regular_, LN_STORAGE)(p, a);
}

LN_INLINE void lane_stream_regular(storage *p, vec a)
{
    LN_PASTE(lane_stream_regular_, LN_STORAGE)(p, a);
}
#else
#define lane_store_regular lane_store
#define lane_stream_regular LN_PASTE(lane_stream_, LN_STORAGE)
#endif

#ifdef LANE_DOT
LN_INLINE void lane_dot(const storage *p, size_t n, int odd, vec *sum, vec *square)
{
    LN_PASTE(lane_dot_, LN_STORAGE)(p, n, odd, sum, square);
}
#endif

/* The first n parameters (LANES of them if n is more), zeros behind them. */
LN_INLINE vec param_load(const param *p, size_t n)
{
    return n >= LANES ? LN_PASTE(lane_load_, LN_PARAM)(p)
                      : LN_PASTE(lane_load_first_, LN_PARAM)(p, n);
}

/* One parameter in every lane. */
LN_INLINE vec param_set(const param *p)
{
    return lane_set(LN_PASTE(item_of_, LN_PARAM)(*p));
}

#endif

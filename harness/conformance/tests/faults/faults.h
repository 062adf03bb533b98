/* Planted faults: the hooks by which a fault changes a correct LayerNorm.
 *
 *     FAULT(ELEMENT, lane, lane_13_of_16, "lane 13 of 16 is off by 2^-12", i % 16 == 13 ? y * 1.0002 : y)
 *
 * is one line of faults.def and gives two kernels: fault.lane_13_of_16, and twin.lane_13_of_16,
 * which evaluates the same expression and discards it. */
#ifndef LNBENCH_FAULTS_H
#define LNBENCH_FAULTS_H

#include <layernorm_plugin.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Data that all prepared states of a kernel share. */
typedef struct prepared_states {
    bool table;        /* exists until the last state is released */
    int alive;         /* the number of states */
    ln_problem latest; /* the problem of the state that was prepared last */
} prepared_states;

/* One call of one fault's kernel. */
typedef struct planted_call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    bool wrong;          /* true for the fault, false for its twin */
    ln_type accumulator; /* the declared type of mean and rstd */
    unsigned long count; /* earlier calls of this kernel */
    const prepared_states *prepared;
    double *row;    /* the input row, hidden elements */
    double *output; /* the output row */
} planted_call;

/* The statistics of a row: numbers of the accumulator's type. */
typedef struct statistics {
    double mean, var, rstd;
} statistics;

/* The hooks. Each is given the right value, and returns or stores the fault's value. N is hidden, M rows. */
typedef struct planted_fault {
    const char *name, *what;
    /* Changes the problem and the tensors. */
    void (*problem)(const planted_call *call, ln_problem *problem, ln_tensors *tensors);
    /* Returns the weight of element i in both sums. */
    double (*weight)(const planted_call *call, size_t row, size_t i);
    /* Called after mean and var are computed, and after rstd is. */
    void (*moments)(const planted_call *call, size_t row, statistics *s);
    void (*scale)(const planted_call *call, size_t row, statistics *s);
    /* Return the row that is read; the elements that are read for x, gamma and beta; and the one that is written. */
    size_t (*source)(const planted_call *call, size_t row, size_t i);
    size_t (*read)(const planted_call *call, size_t row, size_t i);
    size_t (*gamma)(const planted_call *call, size_t row, size_t i);
    size_t (*beta)(const planted_call *call, size_t row, size_t i);
    size_t (*write)(const planted_call *call, size_t row, size_t i);
    /* Return y before it is rounded to the storage type, and the rounded value. */
    double (*element)(const planted_call *call, size_t row, size_t i, double xhat, double gamma,
                      double beta, double y);
    double (*rounding)(const planted_call *call, size_t row, size_t i, double y, double stored);
    /* Return the outputs besides y. */
    double (*mean_out)(const planted_call *call, size_t row, const statistics *s, double value);
    double (*rstd_out)(const planted_call *call, size_t row, const statistics *s, double value);
    double (*sum_out)(const planted_call *call, size_t row, size_t i, double x, double residual,
                      double value);
    /* Called before and after everything else. If `before` returns true, the call ends. */
    bool (*before)(const planted_call *call);
    void (*after)(const planted_call *call);
} planted_fault;

/* ---- conversions of element types by their bits, since branches would take longer than the kernels ---- */

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float from_f16(uint16_t half)
{
    uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
    uint32_t normal = (size << 13) + ((size < 0x7c00 ? 112u : 224u) << 23);
    uint32_t small = bits_of((float)(int)size * 0x1p-24f);
    return float_of((size < 0x400 ? small : normal) | sign);
}

/* Rounds by adding 2^23 units in the last place. */
static inline uint16_t to_f16(float value)
{
    uint32_t bits = bits_of(value), size = bits & 0x7fffffffu, e = size >> 23;
    uint32_t up = e < 113 ? 0 : e - 113, magic = (up + 126) << 23;
    uint32_t half = up * 1024 + bits_of(float_of(size) + float_of(magic)) - magic;
    half = size >= 0x477ff000 ? 0x7c00 : half; /* 65520 */
    half = size > 0x7f800000 ? 0x7e00 : half | bits >> 31 << 15;
    return (uint16_t)half;
}

static inline uint16_t to_bf16(float value)
{
    uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

/* Load element i of a tensor as a double, and store a value, rounded to nearest even, as element i. */
static inline double load_element(ln_type type, const void *tensor, size_t i)
{
    const uint16_t *halves = tensor;
    switch (type) {
    case LN_F32:
        return (double)((const float *)tensor)[i];
    case LN_F64:
        return ((const double *)tensor)[i];
    case LN_F16:
        return (double)from_f16(halves[i]);
    default:
        return (double)float_of((uint32_t)halves[i] << 16);
    }
}

static inline void store_element(ln_type type, void *tensor, size_t i, double value)
{
    switch (type) {
    case LN_F32:
        ((float *)tensor)[i] = (float)value;
        return;
    case LN_F64:
        ((double *)tensor)[i] = value;
        return;
    case LN_F16:
        ((uint16_t *)tensor)[i] = to_f16((float)value);
        return;
    default:
        ((uint16_t *)tensor)[i] = to_bf16((float)value);
    }
}

/* Returns a value rounded to a type. */
static inline double rounded(ln_type type, double value)
{
    double room;
    store_element(type, &room, 0, value);
    return load_element(type, &room, 0);
}

static inline size_t stride_of(size_t stride, size_t hidden)
{
    return stride ? stride : hidden;
}

/* The correct kernels, thirty-five in each type (honest.c). */
extern const ln_kernel honest_kernels[];
extern const size_t honest_count;

#endif

/* clang-format off */
/* The table of the kernels that ln_layernorm() and ln_rmsnorm() use. docs/lab/dispatch.md has the measured times.
 *
 * row(class, storage, param, isa, when, kernel): among the rows for these types and the CPU's best ISA that has
 * rows, the first one whose condition `when` is true is used. The last row of each ISA is always true. */
#ifndef LN_DISPATCH_TABLE_H
#define LN_DISPATCH_TABLE_H

#include "layernorm.h"

/* The condition of a row. A call is in memory if x and y do not fit into the caches (dispatch.c): kernels with _nt in
 * their name then store y around them. */
typedef enum ln_when {
    LN_WHEN_few,           /* at most 3 rows, for which the time of a single row matters */
    LN_WHEN_narrow,        /* at most 128 columns */
    LN_WHEN_long_even,     /* rows of 16 KiB or more that each begin a cache line */
    LN_WHEN_uneven,        /* rows that do not all begin cache lines: storing two rows in turn takes twice as long */
    LN_WHEN_memory,        /* in memory */
    LN_WHEN_narrow_memory, /* both */
    LN_WHEN_uneven_memory, /* both */
    LN_WHEN_long_memory,   /* in memory, rows of 16 KiB or more */
    LN_WHEN_always,
} ln_when;

enum { LN_FEW_ROWS = 3, LN_NARROW_COLUMNS = 128, LN_LONG_ROW_BYTES = 16384, LN_LINE_BYTES = 64 };

static inline int ln_when_holds(ln_when when, const ln_problem *problem, size_t element_bytes, int in_memory)
{
    const size_t row_bytes = problem->hidden * element_bytes;
    const size_t y_stride = problem->y_stride ? problem->y_stride : problem->hidden;
    const int is_even = y_stride * element_bytes % LN_LINE_BYTES == 0;
    const int is_narrow = problem->hidden <= LN_NARROW_COLUMNS;
    switch (when) {
    case LN_WHEN_few:
        return problem->rows <= LN_FEW_ROWS && !in_memory;
    case LN_WHEN_narrow:
        return is_narrow;
    case LN_WHEN_long_even:
        return row_bytes >= LN_LONG_ROW_BYTES && is_even;
    case LN_WHEN_uneven:
        return !is_even;
    case LN_WHEN_memory:
        return in_memory;
    case LN_WHEN_narrow_memory:
        return in_memory && is_narrow;
    case LN_WHEN_uneven_memory:
        return in_memory && !is_even;
    case LN_WHEN_long_memory:
        return in_memory && row_bytes >= LN_LONG_ROW_BYTES;
    case LN_WHEN_always:
        return 1;
    }
    return 0;
}

/* Rows for a kernel that exists for each ISA: its name is `name`, the name of the ISA, and `unroll`. */
#define LN_ROW_EACH_ISA(row, class, storage, param, name, unroll) \
    row(class, storage, param, neon, always, name "_neon" unroll) \
    row(class, storage, param, avx512, always, name "_avx512" unroll) \
    row(class, storage, param, avx2, always, name "_avx2" unroll) \
    row(class, storage, param, scalar, always, name "_scalar" unroll)

/* NEON was not measured: each class has the simplest kernel that satisfies it. */
#define LN_LAYERNORM_ROWS(row) \
    row(fast, f32, f32, neon, always, "shifted_two_mean_fused_f32_neon") \
    row(fast, f32, f32, avx512, few, "unpivoted_folded_f32_avx512") \
    row(fast, f32, f32, avx512, narrow_memory, "retry_split_transposed_nt_f32_avx512") \
    row(fast, f32, f32, avx512, uneven_memory, "retry_split_transposed_nt_f32_avx512") \
    row(fast, f32, f32, avx512, long_memory, "shifted_two_mean_blocked_nt_f32_avx512") \
    row(fast, f32, f32, avx512, memory, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row(fast, f32, f32, avx512, long_even, "shifted_two_mean_blocked_f32_avx512_u8") \
    row(fast, f32, f32, avx512, always, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx2, few, "unpivoted_folded_f32_avx2") \
    row(fast, f32, f32, avx2, memory, "retry_split_row_pairs_nt_f32_avx2_u1") \
    row(fast, f32, f32, avx2, always, "shifted_folded_pipelined_f32_avx2") \
    row(fast, f32, f32, scalar, always, "two_pass_two_rstd_f32_acc_f64_scalar") \
    LN_ROW_EACH_ISA(row, fast, f64, f64, "shifted_two_mean_fused_f64", "") \
    LN_ROW_EACH_ISA(row, fast, f64, f32, "shifted_two_mean_fused_f64_param_f32", "") \
    row(fast, bf16, bf16, neon, always, "shifted_two_mean_fused_bf16_neon") \
    row(fast, bf16, bf16, avx512bf16, memory, "retry_folded_row_pairs_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, few, "retry_folded_row_pairs_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, narrow, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, always, "retry_folded_row_pairs_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512, memory, "retry_split_row_pairs_nt_bf16_avx512_u2") \
    row(fast, bf16, bf16, avx512, always, "retry_folded_row_pairs_bf16_avx512") \
    row(fast, bf16, bf16, avx2, always, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, scalar, always, "shifted_two_mean_fused_bf16_scalar") \
    row(fast, bf16, f32, neon, always, "shifted_two_mean_fused_bf16_param_f32_neon") \
    row(fast, bf16, f32, avx512bf16, memory, "retry_folded_row_pairs_nt_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512bf16, always, "retry_folded_row_pairs_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512, memory, "retry_folded_row_pairs_nt_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512, always, "retry_split_row_pairs_bf16_param_f32_avx512_u2") \
    row(fast, bf16, f32, avx2, always, "retry_split_row_pairs_bf16_param_f32_avx2_u1") \
    row(fast, bf16, f32, scalar, always, "shifted_two_mean_fused_bf16_param_f32_scalar") \
    row(fast, f16, f16, neon, always, "shifted_two_mean_fused_f16_neon") \
    row(fast, f16, f16, avx512, memory, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx512, few, "retry_folded_row_pairs_f16_avx512") \
    row(fast, f16, f16, avx512, narrow, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, always, "retry_folded_row_pairs_f16_avx512") \
    row(fast, f16, f16, avx2, always, "retry_folded_row_pairs_f16_avx2") \
    row(fast, f16, f16, scalar, always, "shifted_two_mean_fused_f16_scalar") \
    row(fast, f16, f32, neon, always, "shifted_two_mean_fused_f16_param_f32_neon") \
    row(fast, f16, f32, avx512, memory, "retry_folded_row_pairs_nt_f16_param_f32_avx512") \
    row(fast, f16, f32, avx512, always, "retry_folded_row_pairs_f16_param_f32_avx512") \
    row(fast, f16, f32, avx2, always, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(fast, f16, f32, scalar, always, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(accurate, f32, f32, neon, always, "retry_split_row_pairs_f32_neon_u2") \
    row(accurate, f32, f32, avx512, narrow_memory, "retry_split_transposed_nt_f32_avx512") \
    row(accurate, f32, f32, avx512, uneven_memory, "retry_split_transposed_nt_f32_avx512") \
    row(accurate, f32, f32, avx512, memory, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row(accurate, f32, f32, avx512, few, "retry_split_row_pairs_f32_avx512_u2") \
    row(accurate, f32, f32, avx512, narrow, "retry_split_transposed_f32_avx512") \
    row(accurate, f32, f32, avx512, uneven, "retry_split_transposed_f32_avx512") \
    row(accurate, f32, f32, avx512, always, "retry_split_row_pairs_f32_avx512_u2") \
    row(accurate, f32, f32, avx2, memory, "retry_split_row_pairs_nt_f32_avx2_u1") \
    row(accurate, f32, f32, avx2, always, "retry_split_row_pairs_f32_avx2_u1") \
    row(accurate, f32, f32, scalar, always, "retry_wide_fold_row_pairs_f32_acc_f64_scalar") \
    LN_ROW_EACH_ISA(row, accurate, f64, f64, "doubled_in_pairs_alone_f64", "_u2") \
    LN_ROW_EACH_ISA(row, accurate, f64, f32, "doubled_in_pairs_alone_f64_param_f32", "_u2") \
    row(accurate, bf16, bf16, neon, always, "retry_split_row_pairs_bf16_neon_u2") \
    row(accurate, bf16, bf16, avx512bf16, memory, "retry_split_row_pairs_nt_bf16_avx512bf16") \
    row(accurate, bf16, bf16, avx512bf16, always, "retry_split_row_pairs_bf16_avx512bf16") \
    row(accurate, bf16, bf16, avx512, memory, "retry_split_row_pairs_nt_bf16_avx512_u2") \
    row(accurate, bf16, bf16, avx512, always, "retry_split_row_pairs_bf16_avx512_u2") \
    row(accurate, bf16, bf16, avx2, always, "retry_split_row_pairs_bf16_avx2_u1") \
    row(accurate, bf16, bf16, scalar, always, "exact_certified_grouped_bf16_scalar") \
    row(accurate, bf16, f32, neon, always, "retry_split_row_pairs_bf16_param_f32_neon_u2") \
    row(accurate, bf16, f32, avx512bf16, memory, "retry_split_row_pairs_nt_bf16_param_f32_avx512") \
    row(accurate, bf16, f32, avx512bf16, always, "retry_split_row_pairs_bf16_param_f32_avx512bf16") \
    row(accurate, bf16, f32, avx512, memory, "retry_split_row_pairs_nt_bf16_param_f32_avx512") \
    row(accurate, bf16, f32, avx512, always, "retry_split_row_pairs_bf16_param_f32_avx512_u2") \
    row(accurate, bf16, f32, avx2, always, "retry_split_row_pairs_bf16_param_f32_avx2_u1") \
    row(accurate, bf16, f32, scalar, always, "exact_certified_grouped_bf16_param_f32_scalar") \
    row(accurate, f16, f16, neon, always, "retry_split_row_pairs_f16_neon_u2") \
    row(accurate, f16, f16, avx512, memory, "retry_split_row_pairs_nt_f16_avx512_u2") \
    row(accurate, f16, f16, avx512, always, "retry_split_row_pairs_f16_avx512_u2") \
    row(accurate, f16, f16, avx2, always, "retry_split_row_pairs_f16_avx2_u1") \
    row(accurate, f16, f16, scalar, always, "exact_certified_grouped_f16_scalar") \
    row(accurate, f16, f32, neon, always, "retry_split_row_pairs_f16_param_f32_neon_u2") \
    row(accurate, f16, f32, avx512, memory, "retry_split_row_pairs_nt_f16_param_f32_avx512_u2") \
    row(accurate, f16, f32, avx512, always, "retry_split_row_pairs_f16_param_f32_avx512_u2") \
    row(accurate, f16, f32, avx2, always, "retry_split_row_pairs_f16_param_f32_avx2_u1") \
    row(accurate, f16, f32, scalar, always, "exact_certified_grouped_f16_param_f32_scalar") \
    LN_ROW_EACH_ISA(row, reproducible, f32, f32, "reproducible_two_mean_f32", "") \
    LN_ROW_EACH_ISA(row, reproducible, f64, f64, "reproducible_two_mean_f64", "") \
    LN_ROW_EACH_ISA(row, reproducible, f64, f32, "reproducible_two_mean_f64_param_f32", "") \
    LN_ROW_EACH_ISA(row, reproducible, bf16, bf16, "reproducible_two_mean_bf16", "") \
    LN_ROW_EACH_ISA(row, reproducible, bf16, f32, "reproducible_two_mean_bf16_param_f32", "") \
    LN_ROW_EACH_ISA(row, reproducible, f16, f16, "reproducible_two_mean_f16", "") \
    LN_ROW_EACH_ISA(row, reproducible, f16, f32, "reproducible_two_mean_f16_param_f32", "")

#define LN_RMSNORM_ROWS(row) \
    row(fast, f32, f32, neon, always, "rms_f32_neon") \
    row(fast, f32, f32, avx512, few, "rms_f32_avx512") \
    row(fast, f32, f32, avx512, narrow_memory, "rms_transposed_nt_f32_avx512") \
    row(fast, f32, f32, avx512, long_memory, "rms_blocked_nt_f32_avx512") \
    row(fast, f32, f32, avx512, memory, "rms_fused_nt_f32_acc_f64_avx512") \
    row(fast, f32, f32, avx512, narrow, "rms_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, long_even, "rms_blocked_f32_avx512") \
    row(fast, f32, f32, avx512, uneven, "rms_pipelined_f32_avx2") \
    row(fast, f32, f32, avx512, always, "rms_pipelined_f32_avx512") \
    row(fast, f32, f32, avx2, few, "rms_f32_avx2") \
    row(fast, f32, f32, avx2, memory, "rms_fused_nt_f32_acc_f64_avx2") \
    row(fast, f32, f32, avx2, always, "rms_pipelined_f32_avx2") \
    row(fast, f32, f32, scalar, always, "rms_f32_scalar") \
    LN_ROW_EACH_ISA(row, fast, f64, f64, "rms_f64", "") \
    row(fast, bf16, bf16, neon, always, "rms_bf16_neon") \
    row(fast, bf16, bf16, avx512bf16, memory, "rms_fused_nt_bf16_acc_f64_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, few, "rms_bf16_avx512") \
    row(fast, bf16, bf16, avx512bf16, always, "rms_fused_bf16_acc_f64_avx512bf16") \
    row(fast, bf16, bf16, avx512, always, "rms_pipelined_bf16_avx512") \
    row(fast, bf16, bf16, avx2, always, "rms_bf16_avx2") \
    row(fast, bf16, bf16, scalar, always, "rms_bf16_acc_f64_scalar") \
    row(fast, bf16, f32, neon, always, "rms_bf16_param_f32_neon") \
    row(fast, bf16, f32, avx512bf16, memory, "rms_fused_nt_bf16_param_f32_acc_f64_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, few, "rms_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512bf16, always, "rms_fused_bf16_param_f32_acc_f64_avx512bf16") \
    row(fast, bf16, f32, avx512, always, "rms_pipelined_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx2, always, "rms_bf16_param_f32_avx2") \
    row(fast, bf16, f32, scalar, always, "rms_bf16_param_f32_acc_f64_scalar") \
    row(fast, f16, f16, neon, always, "rms_f16_neon") \
    row(fast, f16, f16, avx512, always, "rms_f16_avx512") \
    row(fast, f16, f16, avx2, always, "rms_f16_avx2") \
    row(fast, f16, f16, scalar, always, "rms_f16_acc_f64_scalar") \
    row(fast, f16, f32, neon, always, "rms_f16_param_f32_neon") \
    row(fast, f16, f32, avx512, always, "rms_f16_param_f32_avx512") \
    row(fast, f16, f32, avx2, always, "rms_f16_param_f32_avx2") \
    row(fast, f16, f32, scalar, always, "rms_f16_param_f32_acc_f64_scalar") \
    row(accurate, f32, f32, neon, always, "rms_fused_f32_acc_f64_neon") \
    row(accurate, f32, f32, avx512, memory, "rms_fused_nt_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, few, "rms_fused_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, narrow, "rms_transposed_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, always, "rms_fused_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx2, memory, "rms_fused_nt_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, always, "rms_fused_f32_acc_f64_avx2") \
    row(accurate, f32, f32, scalar, always, "rms_wide_scaled_f32_acc_f64_scalar") \
    row(accurate, bf16, bf16, avx512bf16, memory, "rms_fused_nt_bf16_acc_f64_avx512bf16") \
    row(accurate, bf16, bf16, avx512bf16, always, "rms_fused_bf16_acc_f64_avx512bf16") \
    LN_ROW_EACH_ISA(row, accurate, bf16, bf16, "rms_bf16_acc_f64", "") \
    row(accurate, bf16, f32, avx512bf16, memory, "rms_fused_nt_bf16_param_f32_acc_f64_avx512bf16") \
    row(accurate, bf16, f32, avx512bf16, always, "rms_fused_bf16_param_f32_acc_f64_avx512bf16") \
    LN_ROW_EACH_ISA(row, accurate, bf16, f32, "rms_bf16_param_f32_acc_f64", "") \
    LN_ROW_EACH_ISA(row, accurate, f16, f16, "rms_f16_acc_f64", "") \
    LN_ROW_EACH_ISA(row, accurate, f16, f32, "rms_f16_param_f32_acc_f64", "") \
    row(reproducible, f32, f32, neon, always, "rms_tiled_f32_neon") \
    row(reproducible, f32, f32, avx512, few, "rms_tiled_f32_avx512") \
    row(reproducible, f32, f32, avx512, narrow, "rms_tiled_f32_avx512") \
    row(reproducible, f32, f32, avx512, uneven, "rms_tiled_f32_avx2") \
    row(reproducible, f32, f32, avx512, always, "rms_tiled_f32_avx512") \
    row(reproducible, f32, f32, avx2, always, "rms_tiled_f32_avx2") \
    row(reproducible, f32, f32, scalar, always, "rms_tiled_f32_scalar") \
    LN_ROW_EACH_ISA(row, reproducible, f64, f64, "rms_tiled_f64", "") \
    LN_ROW_EACH_ISA(row, reproducible, bf16, bf16, "rms_tiled_bf16", "") \
    LN_ROW_EACH_ISA(row, reproducible, bf16, f32, "rms_tiled_bf16_param_f32", "") \
    LN_ROW_EACH_ISA(row, reproducible, f16, f16, "rms_tiled_f16", "") \
    LN_ROW_EACH_ISA(row, reproducible, f16, f32, "rms_tiled_f16_param_f32", "")

#endif

/* clang-format off */
/* Rows of the dispatch table for ISAs that no machine at hand has: by hand, and before those that were
 * measured (dispatch_table.h). NEON's `accurate` is the f32 kernel's schedule and proof; without a row,
 * plain C's kernel would be taken, or the one made like it. */
#ifndef LAYERNORM_DISPATCH_UNMEASURED

#define LAYERNORM_DISPATCH_ANY(row, class, storage, param, isa, kernel) \
    row(class, storage, param, isa, L1, SIZE_MAX, kernel) \
    row(class, storage, param, isa, L2, SIZE_MAX, kernel) \
    row(class, storage, param, isa, L3, SIZE_MAX, kernel) \
    row(class, storage, param, isa, DRAM, SIZE_MAX, kernel) \
    row(class, storage, param, isa, few, SIZE_MAX, kernel)

#define LAYERNORM_DISPATCH_UNMEASURED(row) \
    LAYERNORM_DISPATCH_ANY(row, accurate, f32, f32, neon, "retry_split_row_pairs_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row, accurate, bf16, f32, neon, "retry_split_row_pairs_bf16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row, accurate, bf16, bf16, neon, "retry_split_row_pairs_bf16_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row, accurate, f16, f32, neon, "retry_split_row_pairs_f16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row, accurate, f16, f16, neon, "retry_split_row_pairs_f16_neon_u2")

#endif

/* clang-format off */
/* Rows of the dispatch table that are written by hand, and looked up before the measured ones of
 * dispatch_table.h: of makes of CPU on which another kernel was the fastest, and of NEON, which no
 * machine at hand has. The rows of one cell (of the same make, class, types, ISA and regime) stand
 * one behind the other, and the last reaches to SIZE_MAX. A make's rows are of the best ISA that the
 * measured rows of the cell have. */
#ifndef LAYERNORM_DISPATCH_BY_HAND

/* Share of the non-temporal copy in DRAM, f32 (docs/experiments.md, "grouped", "fetch"):
 *     hidden  kernel                          Zen 5  Zen 4  Intel Xeon
 *       256   retry_split_transposed_nt               .66    .86
 *       256   retry_split_row_pairs_nt, _u2          1.07   1.21
 *       256   shifted_two_mean_fused_nt               .91    .91
 *      4096   retry_split_transposed_nt        .75    .59    .91
 *      4096   retry_split_row_pairs_nt, _u2    .57    .64   1.05
 *      4096   shifted_two_mean_blocked_nt     1.00    .75   1.03 */
#define LAYERNORM_DISPATCH_BY_HAND_MAKES(row_of) \
    row_of(intel, fast, f32, f32, avx512, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row_of(intel, accurate, f32, f32, avx512, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row_of(intel, fast, bf16, f32, avx512bf16, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_bf16_param_f32_avx512") \
    row_of(intel, accurate, bf16, f32, avx512bf16, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_bf16_param_f32_avx512") \
    row_of(intel, fast, f16, f32, avx512, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_f16_param_f32_avx512") \
    row_of(intel, accurate, f16, f32, avx512, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_f16_param_f32_avx512_u2") \
    row_of(amd25, fast, f32, f32, avx512, DRAM, 128, "retry_split_transposed_nt_f32_avx512") \
    row_of(amd25, fast, f32, f32, avx512, DRAM, 2048, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row_of(amd25, fast, f32, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_blocked_nt_f32_avx512") \
    row_of(amd25, accurate, f32, f32, avx512, DRAM, 128, "retry_split_transposed_nt_f32_avx512") \
    row_of(amd25, accurate, f32, f32, avx512, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_f32_avx512_u2")

/* NEON's `accurate` is the f32 kernel's schedule and proof; without a row, plain C's kernel would be
 * taken, or the one made like it. */
#define LAYERNORM_DISPATCH_ANY(row_of, class, storage, param, isa, kernel) \
    row_of(any, class, storage, param, isa, L1, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, L2, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, L3, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, DRAM, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, few, SIZE_MAX, kernel)

#define LAYERNORM_DISPATCH_BY_HAND(row_of) \
    LAYERNORM_DISPATCH_BY_HAND_MAKES(row_of) \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f32, f32, neon, "retry_split_row_pairs_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, f32, neon, "retry_split_row_pairs_bf16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, bf16, neon, "retry_split_row_pairs_bf16_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f32, neon, "retry_split_row_pairs_f16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f16, neon, "retry_split_row_pairs_f16_neon_u2")

#endif

/* clang-format off */
/* Rows of the dispatch tables that are written by hand, and looked up before the measured ones of
 * dispatch_table.h and rms_table.h: of makes of CPU on which another kernel was the fastest, and of NEON, which no
 * machine at hand has. The rows of one cell (of the same make, class, types, ISA and regime) stand
 * one behind the other, and the last reaches to SIZE_MAX. A make's rows are of the best ISA that the
 * measured rows of the cell have. */
#ifndef LAYERNORM_DISPATCH_BY_HAND

/* In DRAM, GB/s of f32, AVX-512 (docs/lab/experiments.md, "fetch", has them all):
 *                                   Zen 4           Intel
 *     hidden                        64  256  4096   64  256  4096
 *     retry_split_transposed_nt     42   29    26   20   16    17
 *     retry_split_row_pairs_nt, u2  25   47    28   23   22    20
 *     shifted_two_mean_fused_nt     24   40    25   13   15    18
 *     shifted_two_mean_blocked_nt   13   25    35   14   18    19
 * and of bf16, a Zen 4 (docs/lab/dispatch.md):  64  256   768  4096  12288
 *     retry_folded_row_pairs_nt                 16   24    30    21     22
 *     shifted_folded_transposed_nt              16   15    22    24     20
 * f16 is there, too. */
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
    row_of(amd25, accurate, f32, f32, avx512, DRAM, SIZE_MAX, "retry_split_row_pairs_nt_f32_avx512_u2") \
    row_of(amd25, fast, bf16, bf16, avx512bf16, DRAM, 128, "shifted_folded_transposed_nt_bf16_avx512bf16") \
    row_of(amd25, fast, bf16, bf16, avx512bf16, DRAM, 2048, "retry_folded_row_pairs_nt_bf16_avx512bf16") \
    row_of(amd25, fast, bf16, bf16, avx512bf16, DRAM, 7094, "shifted_folded_transposed_nt_bf16_avx512bf16") \
    row_of(amd25, fast, bf16, bf16, avx512bf16, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_bf16_avx512bf16") \
    row_of(amd25, fast, f16, f16, avx512, DRAM, 181, "shifted_folded_transposed_nt_f16_avx512") \
    row_of(amd25, fast, f16, f16, avx512, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_f16_avx512")

/* One kernel for all of a class's calls: of NEON the one that keeps the class's promise. */
#define LAYERNORM_DISPATCH_ANY(row_of, class, storage, param, isa, kernel) \
    row_of(any, class, storage, param, isa, L1, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, L2, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, L3, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, DRAM, SIZE_MAX, kernel) \
    row_of(any, class, storage, param, isa, few, SIZE_MAX, kernel)

/* Other builds leave them out, but for those that look at all rows. */
#if defined __aarch64__ || defined LAYERNORM_DISPATCH_EVERY_ISA
#define LAYERNORM_DISPATCH_NEON(row_of) \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f32, f32, neon, "shifted_two_mean_fused_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f64, f64, neon, "shifted_two_mean_fused_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f64, f32, neon, "shifted_two_mean_fused_f64_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, bf16, f32, neon, "shifted_two_mean_fused_bf16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, bf16, bf16, neon, "shifted_two_mean_fused_bf16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f16, f32, neon, "shifted_two_mean_fused_f16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f16, f16, neon, "shifted_two_mean_fused_f16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f32, f32, neon, "retry_split_row_pairs_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f64, f64, neon, "doubled_in_pairs_alone_f64_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f64, f32, neon, "doubled_in_pairs_alone_f64_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, f32, neon, "retry_split_row_pairs_bf16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, bf16, neon, "retry_split_row_pairs_bf16_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f32, neon, "retry_split_row_pairs_f16_param_f32_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f16, neon, "retry_split_row_pairs_f16_neon_u2") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f32, f32, neon, "reproducible_two_mean_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f64, f64, neon, "reproducible_two_mean_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f64, f32, neon, "reproducible_two_mean_f64_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, bf16, f32, neon, "reproducible_two_mean_bf16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, bf16, bf16, neon, "reproducible_two_mean_bf16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f16, f32, neon, "reproducible_two_mean_f16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f16, f16, neon, "reproducible_two_mean_f16_neon")
#define RMSNORM_DISPATCH_BY_HAND(row_of) \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f32, f32, neon, "rms_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f64, f64, neon, "rms_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, bf16, f32, neon, "rms_bf16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, bf16, bf16, neon, "rms_bf16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f16, f32, neon, "rms_f16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, fast, f16, f16, neon, "rms_f16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f32, f32, neon, "rms_wide_scaled_f32_acc_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, f32, neon, "rms_bf16_param_f32_acc_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, bf16, bf16, neon, "rms_bf16_acc_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f32, neon, "rms_f16_param_f32_acc_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, accurate, f16, f16, neon, "rms_f16_acc_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f32, f32, neon, "rms_tiled_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f64, f64, neon, "rms_tiled_f64_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, bf16, f32, neon, "rms_tiled_bf16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, bf16, bf16, neon, "rms_tiled_bf16_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f16, f32, neon, "rms_tiled_f16_param_f32_neon") \
    LAYERNORM_DISPATCH_ANY(row_of, reproducible, f16, f16, neon, "rms_tiled_f16_neon")
#else
#define LAYERNORM_DISPATCH_NEON(row_of)
#define RMSNORM_DISPATCH_BY_HAND(row_of)
#endif

#define LAYERNORM_DISPATCH_BY_HAND(row_of) \
    LAYERNORM_DISPATCH_BY_HAND_MAKES(row_of) LAYERNORM_DISPATCH_NEON(row_of)

#endif

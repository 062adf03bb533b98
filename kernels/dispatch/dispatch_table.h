/* clang-format off */
/* Which kernel ln_layernorm() takes, as measured. Written by
 *
 *     lnbench choose --emit c --class all --dtype f32,f64,bf16,f16 --time 120 --db dispatch.db
 *
 * CPU: AMD EPYC
 * compiler: gcc 12.2.0
 * commit: 0549de2c04ab69815f9d477a02e3c0d31feedfc1
 * run: 3, 2026-11-21T19:06:30Z, f32
 * run: 5, 2026-11-21T19:09:14Z, f64
 * run: 7, 2026-11-21T19:11:07Z, bf16
 * run: 10, 2026-11-21T19:13:37Z, f16
 * fast: row ULP at most 8 times the best peer's, up to 128, on every input family but huge and overflow, not on hunted rows; without peers at most 16, or 8 times that of two_pass_f32_avx2
 * accurate: row ULP at most 2 on every input family, with eps and without, not on hunted rows
 * reproducible: the same bits on every ISA and number of threads
 *
 * row(class, storage, param, isa, regime, hidden up to, kernel): of the rows for a
 * CPU's best ISA and a call's regime (x + y bytes within L1, L2, L3, or beyond) the
 * first that is long enough; rows of better ISAs come first. A program may use it
 * with a macro of its own for row, and ln_layernorm_with(). */
#ifndef LAYERNORM_DISPATCH

/* The caches of the machine that was measured, in bytes. */
#define LAYERNORM_DISPATCH_CACHES 49152, 1048576, 33554432

#define LAYERNORM_DISPATCH(row) \
    row(fast, f32, f32, avx512, L1, 128, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, L1, 443, "shifted_folded_pipelined_f32_avx512") \
    row(fast, f32, f32, avx512, L1, 2048, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, L1, SIZE_MAX, "shifted_two_mean_blocked_f32_avx512_u8") \
    row(fast, f32, f32, avx512, L2, 128, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, L2, 2048, "shifted_folded_pipelined_f32_avx512") \
    row(fast, f32, f32, avx512, L2, SIZE_MAX, "shifted_two_mean_blocked_f32_avx512_u8") \
    row(fast, f32, f32, avx512, L3, 128, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, L3, 443, "shifted_folded_pipelined_f32_avx512") \
    row(fast, f32, f32, avx512, L3, 2048, "shifted_folded_transposed_f32_avx512") \
    row(fast, f32, f32, avx512, L3, SIZE_MAX, "shifted_two_mean_blocked_f32_avx512_u8") \
    row(fast, f32, f32, avx512, DRAM, 128, "shifted_two_mean_fused_nt_f32_avx512") \
    row(fast, f32, f32, avx512, DRAM, 443, "shifted_two_mean_fused_nt_f32_avx2") \
    row(fast, f32, f32, avx512, DRAM, 886, "lanewise_checked_fused_nt_f32_acc_f64_avx512_u8") \
    row(fast, f32, f32, avx512, DRAM, 2048, "lanewise_checked_fused_nt_f32_acc_f64_avx2") \
    row(fast, f32, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_blocked_nt_f32_avx512") \
    row(fast, f32, f32, avx2, L1, 7094, "shifted_folded_pipelined_f32_avx2") \
    row(fast, f32, f32, avx2, L1, SIZE_MAX, "shifted_two_mean_blocked_f32_avx2") \
    row(fast, f32, f32, avx2, L2, SIZE_MAX, "shifted_folded_pipelined_f32_avx2") \
    row(fast, f32, f32, avx2, L3, 2048, "shifted_folded_pipelined_f32_avx2") \
    row(fast, f32, f32, avx2, L3, SIZE_MAX, "shifted_two_mean_blocked_f32_avx2") \
    row(fast, f32, f32, avx2, DRAM, 886, "shifted_two_mean_fused_nt_f32_avx2") \
    row(fast, f32, f32, avx2, DRAM, 2048, "lanewise_checked_fused_nt_f32_acc_f64_avx2") \
    row(fast, f32, f32, avx2, DRAM, 7094, "shifted_two_mean_fused_nt_f32_avx2") \
    row(fast, f32, f32, avx2, DRAM, SIZE_MAX, "shifted_two_mean_blocked_nt_f32_avx2") \
    row(fast, f32, f32, scalar, L1, 128, "shifted_folded_pipelined_f32_scalar") \
    row(fast, f32, f32, scalar, L1, 443, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, L1, 2048, "reproducible_two_mean_f32_scalar") \
    row(fast, f32, f32, scalar, L1, 7094, "shifted_folded_pipelined_f32_scalar") \
    row(fast, f32, f32, scalar, L1, SIZE_MAX, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, L2, 128, "shifted_folded_pipelined_f32_scalar") \
    row(fast, f32, f32, scalar, L2, 443, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, L2, 2048, "reproducible_two_mean_f32_scalar") \
    row(fast, f32, f32, scalar, L2, SIZE_MAX, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, L3, 128, "shifted_folded_pipelined_f32_scalar") \
    row(fast, f32, f32, scalar, L3, 443, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, L3, 2048, "reproducible_two_mean_f32_scalar") \
    row(fast, f32, f32, scalar, L3, SIZE_MAX, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f32, f32, scalar, DRAM, 128, "shifted_folded_pipelined_f32_scalar") \
    row(fast, f32, f32, scalar, DRAM, SIZE_MAX, "two_pass_two_mean_f32_acc_f64_scalar") \
    row(fast, f64, f32, avx512, L1, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx512") \
    row(fast, f64, f32, avx512, L2, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx512") \
    row(fast, f64, f32, avx512, L3, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx512") \
    row(fast, f64, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx512") \
    row(fast, f64, f32, avx2, L1, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx2") \
    row(fast, f64, f32, avx2, L2, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx2") \
    row(fast, f64, f32, avx2, L3, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx2") \
    row(fast, f64, f32, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_avx2") \
    row(fast, f64, f32, scalar, L1, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_scalar") \
    row(fast, f64, f32, scalar, L2, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_scalar") \
    row(fast, f64, f32, scalar, L3, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_scalar") \
    row(fast, f64, f32, scalar, DRAM, SIZE_MAX, "shifted_two_mean_fused_f64_param_f32_scalar") \
    row(fast, f64, f64, avx512, L1, SIZE_MAX, "shifted_two_mean_fused_f64_avx512") \
    row(fast, f64, f64, avx512, L2, SIZE_MAX, "shifted_two_mean_fused_f64_avx512") \
    row(fast, f64, f64, avx512, L3, 7094, "shifted_two_mean_fused_f64_avx512") \
    row(fast, f64, f64, avx512, L3, SIZE_MAX, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx512, DRAM, 886, "corrected_two_mean_f64_avx512") \
    row(fast, f64, f64, avx512, DRAM, 2048, "shifted_two_mean_fused_f64_avx512") \
    row(fast, f64, f64, avx512, DRAM, 7094, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_f64_avx512") \
    row(fast, f64, f64, avx2, L1, SIZE_MAX, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx2, L2, SIZE_MAX, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx2, L3, SIZE_MAX, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx2, DRAM, 128, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, avx2, DRAM, 886, "corrected_two_mean_f64_avx2") \
    row(fast, f64, f64, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f64_avx2") \
    row(fast, f64, f64, scalar, L1, 7094, "shifted_two_mean_fused_f64_scalar") \
    row(fast, f64, f64, scalar, L1, SIZE_MAX, "corrected_two_mean_f64_scalar") \
    row(fast, f64, f64, scalar, L2, 7094, "shifted_two_mean_fused_f64_scalar") \
    row(fast, f64, f64, scalar, L2, SIZE_MAX, "corrected_two_mean_f64_scalar") \
    row(fast, f64, f64, scalar, L3, 7094, "shifted_two_mean_fused_f64_scalar") \
    row(fast, f64, f64, scalar, L3, SIZE_MAX, "corrected_two_mean_f64_scalar") \
    row(fast, f64, f64, scalar, DRAM, 7094, "shifted_two_mean_fused_f64_scalar") \
    row(fast, f64, f64, scalar, DRAM, SIZE_MAX, "corrected_two_mean_f64_scalar") \
    row(fast, bf16, f32, avx512bf16, L1, 7094, "retry_folded_row_pairs_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, L1, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, L2, SIZE_MAX, "retry_folded_row_pairs_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, L3, SIZE_MAX, "retry_folded_row_pairs_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, DRAM, 128, "retry_folded_row_pairs_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, DRAM, 443, "shifted_two_mean_fused_bf16_param_f32_avx512bf16") \
    row(fast, bf16, f32, avx512bf16, DRAM, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512, L1, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512, L2, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512, L3, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx512") \
    row(fast, bf16, f32, avx2, L1, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx2") \
    row(fast, bf16, f32, avx2, L2, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx2") \
    row(fast, bf16, f32, avx2, L3, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx2") \
    row(fast, bf16, f32, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_avx2") \
    row(fast, bf16, f32, scalar, L1, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_scalar") \
    row(fast, bf16, f32, scalar, L2, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_scalar") \
    row(fast, bf16, f32, scalar, L3, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_scalar") \
    row(fast, bf16, f32, scalar, DRAM, SIZE_MAX, "shifted_two_mean_fused_bf16_param_f32_scalar") \
    row(fast, bf16, bf16, avx512bf16, L1, 128, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L1, 443, "retry_folded_four_rows_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L1, 2048, "retry_folded_row_pairs_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L1, 7094, "shifted_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L1, SIZE_MAX, "shifted_folded_pipelined_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L2, 128, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L2, 7094, "retry_folded_four_rows_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L2, SIZE_MAX, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L3, 128, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L3, 2048, "retry_folded_four_rows_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L3, 7094, "retry_folded_transposed_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, L3, SIZE_MAX, "retry_folded_row_pairs_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, DRAM, 128, "shifted_folded_transposed_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, DRAM, 443, "retry_folded_row_pairs_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, DRAM, 2048, "shifted_folded_transposed_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512bf16, DRAM, SIZE_MAX, "shifted_two_mean_fused_nt_bf16_avx512bf16") \
    row(fast, bf16, bf16, avx512, L1, 128, "shifted_folded_pipelined_bf16_avx512") \
    row(fast, bf16, bf16, avx512, L1, SIZE_MAX, "retry_folded_row_pairs_bf16_avx512") \
    row(fast, bf16, bf16, avx512, L2, 128, "shifted_folded_pipelined_bf16_avx512") \
    row(fast, bf16, bf16, avx512, L2, SIZE_MAX, "retry_folded_row_pairs_bf16_avx512") \
    row(fast, bf16, bf16, avx512, L3, 128, "shifted_folded_pipelined_bf16_avx512") \
    row(fast, bf16, bf16, avx512, L3, SIZE_MAX, "retry_folded_row_pairs_bf16_avx512") \
    row(fast, bf16, bf16, avx512, DRAM, 128, "retry_folded_row_pairs_bf16_avx512") \
    row(fast, bf16, bf16, avx512, DRAM, 2048, "shifted_folded_pipelined_bf16_avx512") \
    row(fast, bf16, bf16, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_bf16_avx512") \
    row(fast, bf16, bf16, avx2, L1, 128, "shifted_folded_pipelined_bf16_avx2") \
    row(fast, bf16, bf16, avx2, L1, SIZE_MAX, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, avx2, L2, 128, "shifted_folded_pipelined_bf16_avx2") \
    row(fast, bf16, bf16, avx2, L2, SIZE_MAX, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, avx2, L3, 128, "shifted_folded_pipelined_bf16_avx2") \
    row(fast, bf16, bf16, avx2, L3, SIZE_MAX, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, avx2, DRAM, 443, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, avx2, DRAM, 886, "shifted_folded_pipelined_bf16_avx2") \
    row(fast, bf16, bf16, avx2, DRAM, SIZE_MAX, "retry_folded_row_pairs_bf16_avx2") \
    row(fast, bf16, bf16, scalar, L1, 128, "shifted_two_mean_fused_bf16_scalar") \
    row(fast, bf16, bf16, scalar, L1, SIZE_MAX, "two_pass_bf16_scalar") \
    row(fast, bf16, bf16, scalar, L2, 128, "shifted_two_mean_fused_bf16_scalar") \
    row(fast, bf16, bf16, scalar, L2, SIZE_MAX, "two_pass_bf16_scalar") \
    row(fast, bf16, bf16, scalar, L3, 128, "shifted_two_mean_fused_bf16_scalar") \
    row(fast, bf16, bf16, scalar, L3, SIZE_MAX, "two_pass_bf16_scalar") \
    row(fast, bf16, bf16, scalar, DRAM, 128, "shifted_two_mean_fused_bf16_scalar") \
    row(fast, bf16, bf16, scalar, DRAM, SIZE_MAX, "two_pass_bf16_scalar") \
    row(fast, f16, f32, avx512, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(fast, f16, f32, avx512, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(fast, f16, f32, avx512, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(fast, f16, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(fast, f16, f32, avx2, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(fast, f16, f32, avx2, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(fast, f16, f32, avx2, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(fast, f16, f32, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(fast, f16, f32, scalar, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(fast, f16, f32, scalar, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(fast, f16, f32, scalar, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(fast, f16, f32, scalar, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(fast, f16, f16, avx512, L1, 128, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, L1, 886, "retry_folded_row_pairs_f16_avx512") \
    row(fast, f16, f16, avx512, L1, 2048, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, L1, 7094, "retry_folded_row_pairs_f16_avx512") \
    row(fast, f16, f16, avx512, L1, SIZE_MAX, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, L2, 128, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, L2, 2048, "retry_folded_four_rows_f16_avx512") \
    row(fast, f16, f16, avx512, L2, 7094, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx512, L2, SIZE_MAX, "retry_folded_row_pairs_f16_avx512") \
    row(fast, f16, f16, avx512, L3, 128, "retry_folded_transposed_f16_avx512") \
    row(fast, f16, f16, avx512, L3, 2048, "retry_folded_four_rows_f16_avx512") \
    row(fast, f16, f16, avx512, L3, SIZE_MAX, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, 128, "shifted_folded_transposed_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, 443, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, 886, "shifted_folded_transposed_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, 2048, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, 7094, "shifted_folded_transposed_nt_f16_avx512") \
    row(fast, f16, f16, avx512, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_f16_avx512") \
    row(fast, f16, f16, avx2, L1, 128, "shifted_folded_pipelined_f16_avx2") \
    row(fast, f16, f16, avx2, L1, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(fast, f16, f16, avx2, L2, 128, "shifted_folded_pipelined_f16_avx2") \
    row(fast, f16, f16, avx2, L2, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(fast, f16, f16, avx2, L3, 128, "shifted_folded_pipelined_f16_avx2") \
    row(fast, f16, f16, avx2, L3, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(fast, f16, f16, avx2, DRAM, 128, "retry_folded_row_pairs_f16_avx2") \
    row(fast, f16, f16, avx2, DRAM, 2048, "shifted_folded_pipelined_f16_avx2") \
    row(fast, f16, f16, avx2, DRAM, 7094, "two_pass_f16_avx2") \
    row(fast, f16, f16, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_avx2") \
    row(fast, f16, f16, scalar, L1, SIZE_MAX, "two_pass_f16_scalar") \
    row(fast, f16, f16, scalar, L2, SIZE_MAX, "two_pass_f16_scalar") \
    row(fast, f16, f16, scalar, L3, SIZE_MAX, "two_pass_f16_scalar") \
    row(fast, f16, f16, scalar, DRAM, SIZE_MAX, "two_pass_f16_scalar") \
    row(accurate, f32, f32, avx512, L1, 128, "verified_checked_transposed_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L1, 443, "mixed_checked_staged_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L1, 2048, "lanewise_checked_blocked_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L1, 7094, "lanewise_checked_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L1, SIZE_MAX, "lanewise_checked_blocked_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L2, 128, "verified_checked_transposed_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L2, 443, "mixed_checked_staged_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L2, 2048, "lanewise_checked_staged_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L2, SIZE_MAX, "lanewise_checked_blocked_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L3, 128, "verified_checked_transposed_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L3, 443, "mixed_checked_staged_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, L3, 2048, "lanewise_checked_staged_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L3, 7094, "lanewise_checked_fused_nt_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, L3, SIZE_MAX, "lanewise_checked_blocked_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, DRAM, 128, "mixed_checked_staged_f32_acc_f64_avx512") \
    row(accurate, f32, f32, avx512, DRAM, 886, "lanewise_checked_fused_nt_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx512, DRAM, 2048, "lanewise_checked_fused_nt_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx512, DRAM, SIZE_MAX, "lanewise_checked_fused_nt_f32_acc_f64_avx512_u8") \
    row(accurate, f32, f32, avx2, L1, 443, "lanewise_checked_blocked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L1, 2048, "lanewise_checked_staged_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L1, 7094, "lanewise_checked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L1, SIZE_MAX, "lanewise_checked_blocked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L2, 2048, "lanewise_checked_staged_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L2, 7094, "lanewise_checked_blocked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L2, SIZE_MAX, "lanewise_checked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L3, 2048, "lanewise_checked_staged_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, L3, SIZE_MAX, "lanewise_checked_blocked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, DRAM, 7094, "lanewise_checked_fused_nt_f32_acc_f64_avx2") \
    row(accurate, f32, f32, avx2, DRAM, SIZE_MAX, "lanewise_checked_f32_acc_f64_avx2") \
    row(accurate, f32, f32, scalar, L1, SIZE_MAX, "two_pass_wide_f32_acc_f64_scalar") \
    row(accurate, f32, f32, scalar, L2, SIZE_MAX, "two_pass_wide_f32_acc_f64_scalar") \
    row(accurate, f32, f32, scalar, L3, SIZE_MAX, "two_pass_wide_f32_acc_f64_scalar") \
    row(accurate, f32, f32, scalar, DRAM, SIZE_MAX, "two_pass_wide_f32_acc_f64_scalar") \
    row(accurate, f16, f32, avx512, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(accurate, f16, f32, avx512, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(accurate, f16, f32, avx512, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(accurate, f16, f32, avx512, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx512") \
    row(accurate, f16, f32, avx2, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(accurate, f16, f32, avx2, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(accurate, f16, f32, avx2, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(accurate, f16, f32, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_avx2") \
    row(accurate, f16, f32, scalar, L1, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(accurate, f16, f32, scalar, L2, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(accurate, f16, f32, scalar, L3, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(accurate, f16, f32, scalar, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_param_f32_scalar") \
    row(accurate, f16, f16, avx512, L1, 128, "retry_folded_transposed_f16_avx512") \
    row(accurate, f16, f16, avx512, L1, 886, "retry_folded_row_pairs_f16_avx512") \
    row(accurate, f16, f16, avx512, L1, 2048, "retry_folded_transposed_f16_avx512") \
    row(accurate, f16, f16, avx512, L1, 7094, "retry_folded_row_pairs_f16_avx512") \
    row(accurate, f16, f16, avx512, L1, SIZE_MAX, "retry_folded_transposed_f16_avx512") \
    row(accurate, f16, f16, avx512, L2, 128, "retry_folded_transposed_f16_avx512") \
    row(accurate, f16, f16, avx512, L2, 2048, "retry_folded_four_rows_f16_avx512") \
    row(accurate, f16, f16, avx512, L2, 7094, "retry_folded_row_pairs_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, L2, SIZE_MAX, "retry_folded_row_pairs_f16_avx512") \
    row(accurate, f16, f16, avx512, L3, 128, "retry_folded_transposed_f16_avx512") \
    row(accurate, f16, f16, avx512, L3, 2048, "retry_folded_four_rows_f16_avx512") \
    row(accurate, f16, f16, avx512, L3, SIZE_MAX, "retry_folded_row_pairs_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, 128, "shifted_folded_transposed_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, 443, "retry_folded_row_pairs_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, 886, "shifted_folded_transposed_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, 2048, "retry_folded_row_pairs_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, 7094, "shifted_folded_transposed_nt_f16_avx512") \
    row(accurate, f16, f16, avx512, DRAM, SIZE_MAX, "retry_folded_row_pairs_nt_f16_avx512") \
    row(accurate, f16, f16, avx2, L1, 128, "shifted_folded_pipelined_f16_avx2") \
    row(accurate, f16, f16, avx2, L1, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(accurate, f16, f16, avx2, L2, 128, "shifted_folded_pipelined_f16_avx2") \
    row(accurate, f16, f16, avx2, L2, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(accurate, f16, f16, avx2, L3, 128, "shifted_folded_pipelined_f16_avx2") \
    row(accurate, f16, f16, avx2, L3, SIZE_MAX, "retry_folded_row_pairs_f16_avx2") \
    row(accurate, f16, f16, avx2, DRAM, 128, "retry_folded_row_pairs_f16_avx2") \
    row(accurate, f16, f16, avx2, DRAM, 2048, "shifted_folded_pipelined_f16_avx2") \
    row(accurate, f16, f16, avx2, DRAM, 7094, "two_pass_f16_avx2") \
    row(accurate, f16, f16, avx2, DRAM, SIZE_MAX, "shifted_two_mean_fused_f16_avx2") \
    row(accurate, f16, f16, scalar, L1, SIZE_MAX, "two_pass_f16_scalar") \
    row(accurate, f16, f16, scalar, L2, SIZE_MAX, "two_pass_f16_scalar") \
    row(accurate, f16, f16, scalar, L3, SIZE_MAX, "two_pass_f16_scalar") \
    row(accurate, f16, f16, scalar, DRAM, SIZE_MAX, "two_pass_f16_scalar") \
    row(reproducible, f32, f32, avx512, L1, SIZE_MAX, "reproducible_two_mean_f32_avx512") \
    row(reproducible, f32, f32, avx512, L2, SIZE_MAX, "reproducible_two_mean_f32_avx512") \
    row(reproducible, f32, f32, avx512, L3, SIZE_MAX, "reproducible_two_mean_f32_avx512") \
    row(reproducible, f32, f32, avx512, DRAM, 886, "reproducible_two_mean_f32_avx512") \
    row(reproducible, f32, f32, avx512, DRAM, 2048, "reproducible_two_mean_f32_avx2") \
    row(reproducible, f32, f32, avx512, DRAM, SIZE_MAX, "reproducible_two_mean_f32_avx512") \
    row(reproducible, f32, f32, avx2, L1, SIZE_MAX, "reproducible_two_mean_f32_avx2") \
    row(reproducible, f32, f32, avx2, L2, SIZE_MAX, "reproducible_two_mean_f32_avx2") \
    row(reproducible, f32, f32, avx2, L3, SIZE_MAX, "reproducible_two_mean_f32_avx2") \
    row(reproducible, f32, f32, avx2, DRAM, SIZE_MAX, "reproducible_two_mean_f32_avx2") \
    row(reproducible, f32, f32, scalar, L1, SIZE_MAX, "reproducible_two_mean_f32_scalar") \
    row(reproducible, f32, f32, scalar, L2, SIZE_MAX, "reproducible_two_mean_f32_scalar") \
    row(reproducible, f32, f32, scalar, L3, SIZE_MAX, "reproducible_two_mean_f32_scalar") \
    row(reproducible, f32, f32, scalar, DRAM, SIZE_MAX, "reproducible_two_mean_f32_scalar")

#endif

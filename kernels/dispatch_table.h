/* Which kernel to take. */
#define LAYERNORM_DISPATCH_CACHES 32768, 1048576, 33554432
#define LAYERNORM_DISPATCH(row)                                                                                                \
    row(fast, f32, f32, avx512, L1, SIZE_MAX, "fused_f32_avx512") row(                                                         \
        fast, f32, f32, avx512, L2, SIZE_MAX,                                                                                  \
        "fused_f32_avx512") row(fast, f32, f32, avx512, L3, SIZE_MAX,                                                          \
                                "fused_f32_avx512") row(fast, f32, f32, avx512, DRAM, SIZE_MAX,                                \
                                                        "fused_f32_avx512")                                                    \
        row(fast, f32, f32, avx2, L1, SIZE_MAX, "fused_f32_avx2") row(                                                         \
            fast, f32, f32, avx2, L2, SIZE_MAX,                                                                                \
            "fused_f32_avx2") row(fast, f32, f32, avx2, L3, SIZE_MAX,                                                          \
                                  "fused_f32_avx2") row(fast, f32, f32, avx2, DRAM, SIZE_MAX,                                  \
                                                        "fused_f32_avx2")                                                      \
            row(fast, f32, f32, scalar, L1, SIZE_MAX, "fused_f32_scalar") row(                                                 \
                fast, f32, f32, scalar, L2, SIZE_MAX,                                                                          \
                "fused_f32_scalar") row(fast, f32, f32, scalar, L3, SIZE_MAX,                                                  \
                                        "fused_f32_scalar") row(fast, f32, f32, scalar, DRAM,                                  \
                                                                SIZE_MAX, "fused_f32_scalar")                                  \
                row(accurate, f32, f32, avx512, L1, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx512") row(                       \
                    accurate, f32,                                                                                             \
                    f32, avx512, L2, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx512")                                           \
                    row(accurate, f32, f32, avx512, L3, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx512") row(                   \
                        accurate, f32,                                                                                         \
                        f32, avx512, DRAM, SIZE_MAX,                                                                           \
                        "two_pass_paired_f32_acc_f64_avx512") row(accurate, f32,                                               \
                                                                  f32, avx2, L1, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx2") \
                        row(accurate, f32, f32, avx2, L2, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx2") row(                   \
                            accurate, f32,                                                                                     \
                            f32, avx2, L3, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx2")                                       \
                            row(accurate, f32, f32, avx2, DRAM, SIZE_MAX, "two_pass_paired_f32_acc_f64_avx2") row(             \
                                accurate, f32,                                                                                 \
                                f32, scalar, L1, SIZE_MAX, "two_pass_paired_f32_acc_f64_scalar")                               \
                                row(accurate, f32, f32, scalar, L2,                                                            \
                                    SIZE_MAX, "two_pass_paired_f32_acc_f64_scalar")                                            \
                                    row(accurate, f32,                                                                         \
                                        f32, scalar, L3, SIZE_MAX, "two_pass_paired_f32_acc_f64_scalar")                       \
                                        row(accurate, f32, f32, scalar, DRAM, SIZE_MAX,                                        \
                                            "two_pass_paired_f32_acc_f64_scalar")                                              \
                                            row(reproducible, f32, f32, avx512, L1, SIZE_MAX,                                  \
                                                "reproducible_split_f32_avx512")                                               \
                                                row(reproducible, f32, f32, avx512, L2, SIZE_MAX,                              \
                                                    "reproducible_split_f32_avx512")                                           \
                                                    row(reproducible, f32, f32, avx512, L3,                                    \
                                                        SIZE_MAX,                                                              \
                                                        "reproducible_split_f32_avx512")                                       \
                                                        row(reproducible, f32, f32, avx512, DRAM,                              \
                                                            SIZE_MAX,                                                          \
                                                            "reproducible_split_f32_avx512")                                   \
                                                            row(reproducible, f32, f32, avx2, L1,                              \
                                                                SIZE_MAX,                                                      \
                                                                "reproducible_split_f32_avx2")                                 \
                                                                row(reproducible, f32, f32,                                    \
                                                                    avx2, L2, SIZE_MAX,                                        \
                                                                    "reproducible_split_f32_avx2")                             \
                                                                    row(reproducible, f32, f32,                                \
                                                                        avx2, L3, SIZE_MAX,                                    \
                                                                        "reproducible_split_f32_"                              \
                                                                        "avx2")                                                \
                                                                        row(reproducible, f32,                                 \
                                                                            f32, avx2, DRAM,                                   \
                                                                            SIZE_MAX,                                          \
                                                                            "reproducible_split_"                              \
                                                                            "f32_avx2")                                        \
                                                                            row(reproducible, f32,                             \
                                                                                f32, scalar, L1,                               \
                                                                                SIZE_MAX,                                      \
                                                                                "reproducible_"                                \
                                                                                "split_f32_"                                   \
                                                                                "scalar") row(reproducible,                    \
                                                                                              f32,                             \
                                                                                              f32, scalar,                     \
                                                                                              L2,                              \
                                                                                              SIZE_MAX,                        \
                                                                                              "re"                             \
                                                                                              "pr"                             \
                                                                                              "od"                             \
                                                                                              "uc"                             \
                                                                                              "ib"                             \
                                                                                              "le"                             \
                                                                                              "_s"                             \
                                                                                              "pl"                             \
                                                                                              "it"                             \
                                                                                              "_f"                             \
                                                                                              "32"                             \
                                                                                              "_s"                             \
                                                                                              "ca"                             \
                                                                                              "la"                             \
                                                                                              "r")                             \
                                                                                row(reproducible,                              \
                                                                                    f32, f32,                                  \
                                                                                    scalar,                                    \
                                                                                    L3,                                        \
                                                                                    SIZE_MAX,                                  \
                                                                                    "reproducible"                             \
                                                                                    "_split_f32_"                              \
                                                                                    "scalar")                                  \
                                                                                    row(reproducible,                          \
                                                                                        f32, f32,                              \
                                                                                        scalar,                                \
                                                                                        DRAM,                                  \
                                                                                        SIZE_MAX,                              \
                                                                                        "reproduc"                             \
                                                                                        "ible_"                                \
                                                                                        "split_"                               \
                                                                                        "f32_"                                 \
                                                                                        "scalar")

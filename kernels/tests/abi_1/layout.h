/* The layout of plugin ABI 1 on a 64-bit machine, as numbers: included behind the headers that are to
 * have it, those of today (header_test.c, header_test.cpp) and those of commit 224f8dd beside it
 * (plugin.c). No number here ever changes. */
#ifdef __cplusplus
#define ABI_ASSERT static_assert
#else
#define ABI_ASSERT _Static_assert
#endif
#define ABI_SIZE(type, bytes)                                                                      \
    ABI_ASSERT(sizeof(void *) != 8 || sizeof(type) == (bytes), "size of " #type)
#define ABI_AT(type, member, bytes)                                                                \
    ABI_ASSERT(sizeof(void *) != 8 || offsetof(type, member) == (bytes), #type "." #member)

ABI_SIZE(ln_convention, 24);
ABI_AT(ln_convention, ddof, 0);
ABI_AT(ln_convention, eps_place, 4);
ABI_AT(ln_convention, eps, 8);
ABI_AT(ln_convention, affine, 16);

ABI_SIZE(ln_problem, 88);
ABI_AT(ln_problem, rows, 0);
ABI_AT(ln_problem, hidden, 8);
ABI_AT(ln_problem, x_stride, 16);
ABI_AT(ln_problem, y_stride, 24);
ABI_AT(ln_problem, residual_stride, 32);
ABI_AT(ln_problem, sum_stride, 40);
ABI_AT(ln_problem, storage, 48);
ABI_AT(ln_problem, param, 52);
ABI_AT(ln_problem, convention, 56);
ABI_AT(ln_problem, accuracy, 80);

ABI_SIZE(ln_tensors, 64);
ABI_AT(ln_tensors, x, 0);
ABI_AT(ln_tensors, residual, 8);
ABI_AT(ln_tensors, gamma, 16);
ABI_AT(ln_tensors, beta, 24);
ABI_AT(ln_tensors, y, 32);
ABI_AT(ln_tensors, sum, 40);
ABI_AT(ln_tensors, mean, 48);
ABI_AT(ln_tensors, rstd, 56);

ABI_SIZE(ln_row_facts, 48);
ABI_AT(ln_row_facts, mean, 0);
ABI_AT(ln_row_facts, mean_abs, 8);
ABI_AT(ln_row_facts, max_abs, 16);
ABI_AT(ln_row_facts, var, 24);
ABI_AT(ln_row_facts, max_dev, 32);
ABI_AT(ln_row_facts, rstd, 40);

ABI_SIZE(ln_bound, 16);
ABI_AT(ln_bound, xhat_abs, 0);
ABI_AT(ln_bound, affine_rel, 8);

ABI_SIZE(ln_kernel, 112);
ABI_AT(ln_kernel, struct_size, 0);
ABI_AT(ln_kernel, name, 8);
ABI_AT(ln_kernel, statistics, 16);
ABI_AT(ln_kernel, apply, 24);
ABI_AT(ln_kernel, schedule, 32);
ABI_AT(ln_kernel, isa, 40);
ABI_AT(ln_kernel, storage, 48);
ABI_AT(ln_kernel, param, 52);
ABI_AT(ln_kernel, accumulator, 56);
ABI_AT(ln_kernel, unroll, 60);
ABI_AT(ln_kernel, traits, 64);
ABI_AT(ln_kernel, supports, 72);
ABI_AT(ln_kernel, prepare, 80);
ABI_AT(ln_kernel, release, 88);
ABI_AT(ln_kernel, run, 96);
ABI_AT(ln_kernel, bound, 104);

ABI_SIZE(ln_kernel_facts, 56);
ABI_AT(ln_kernel_facts, role, 0);
ABI_AT(ln_kernel_facts, family, 8);
ABI_AT(ln_kernel_facts, summation, 16);
ABI_AT(ln_kernel_facts, vector_bytes, 24);
ABI_AT(ln_kernel_facts, lanes, 28);
ABI_AT(ln_kernel_facts, chunk, 32);
ABI_AT(ln_kernel_facts, tile, 36);
ABI_AT(ln_kernel_facts, mean_parts, 40);
ABI_AT(ln_kernel_facts, has_pivot, 44);
ABI_AT(ln_kernel_facts, probable_bound, 48);

ABI_SIZE(ln_plugin, 72);
ABI_AT(ln_plugin, abi_version, 0);
ABI_AT(ln_plugin, struct_size, 8);
ABI_AT(ln_plugin, name, 16);
ABI_AT(ln_plugin, count, 24);
ABI_AT(ln_plugin, kernels, 32);
ABI_AT(ln_plugin, set_threads, 40);
ABI_AT(ln_plugin, version, 48);
ABI_AT(ln_plugin, facts_size, 56);
ABI_AT(ln_plugin, facts, 64);

#undef ABI_AT
#undef ABI_SIZE
#undef ABI_ASSERT

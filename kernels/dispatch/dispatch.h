/* Chooses the kernels for ln_layernorm() and ln_rmsnorm(). */
#ifndef LN_DISPATCH_H
#define LN_DISPATCH_H

#include "kernel_table.h"
#include "layernorm_plugin.h"
#include <stdatomic.h>
#include <stdbool.h>

#define LN_NAME_ISA(name, ...) ISA_##name,
enum { LN_ISA_TABLE(LN_NAME_ISA) ISA_COUNT }; /* worst first */

#define LN_COUNT_LINE(...) +1
enum {
    KERNEL_LINES = 0 LN_KERNEL_TABLE(LN_COUNT_LINE, LN_COUNT_LINE),
    RMS_KERNEL_LINES = 0 LN_RMS_KERNEL_TABLE(LN_COUNT_LINE, LN_COUNT_LINE)
};

/* Returns whether this CPU has an ISA and LN_DISABLE_ISA does not disable it. */
bool ln_isa_is_usable(int isa);

/* A type by its name in kernels.def. */
#define TYPE_f32 LN_F32
#define TYPE_f64 LN_F64
#define TYPE_bf16 LN_BF16
#define TYPE_f16 LN_F16

/* The members of ln_kernel that a line of the table gives. */
#define LN_DESCRIBE(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR, ISA,     \
                    UNROLL, FMA, NONTEMPORAL, SAME_BITS, ROUNDED_LAST)                             \
    .name = #NAME, .statistics = #STATISTICS, .apply = #APPLY, .schedule = #SCHEDULE, .isa = #ISA, \
    .storage = TYPE_##STORAGE, .param = TYPE_##PARAM, .accumulator = TYPE_##ACCUMULATOR,           \
    .unroll = UNROLL,                                                                              \
    .traits = ((FMA) ? LN_TRAIT_FMA : 0u) | ((NONTEMPORAL) ? LN_TRAIT_NONTEMPORAL : 0u) |          \
              LN_TRAIT_ROW_REPRODUCIBLE | ((SAME_BITS) ? LN_TRAIT_ISA_REPRODUCIBLE : 0u) |         \
              ((SAME_BITS) == 2 ? LN_TRAIT_CORRECTLY_ROUNDED : 0u) |                               \
              ((ROUNDED_LAST) ? LN_TRAIT_ROUNDED_LAST : 0u),                                       \
    .bound = bound_##NAME, .role = #ROLE, .probable_bound = probable_##NAME

/* Returns the kernel of a line that ln_dispatch() returned for a problem of this operation. */
const ln_kernel *ln_kernel_at(ln_operation operation, int line);

/* Returns the bytes of x that are read and of y that are written. */
static inline double ln_bytes_moved(const ln_problem *problem)
{
    static const double sizes[] = {4, 8, 2, 2};
    return 2 * (double)problem->rows * (double)problem->hidden * sizes[problem->storage];
}

/* Returns the line, among those of the problem's operation, of the kernel for its types, size and accuracy class; -1:
 * there is none. The other fields of the convention do not matter. */
int ln_dispatch(const ln_problem *problem);

/* Lists the lines, each once, that a problem like this one may get with any number of rows. Returns their number. */
enum { LN_PLACES = 3 };
size_t ln_dispatch_any_rows(const ln_problem *problem, int lines[LN_PLACES]);

/* Increases whenever ln_set_cache_bytes() may have changed the results of ln_dispatch(). */
extern atomic_uint ln_caches_changed;

static inline unsigned ln_caches_version(void)
{
    return atomic_load_explicit(&ln_caches_changed, memory_order_acquire);
}

#endif

/* From a problem to a kernel, by the table that `tools/dispatch` makes from measured
 * results. The table has rows for each ISA; what this CPU can use of it is picked out once. */
#include "dispatch.h"
#include "caches.h"
#include "cpu.h"
#include "dispatch_by_hand.h"
#include "dispatch_table.h"
#include "part.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPES = LN_F16 + 1, CLASSES = LN_ACCURACY_REPRODUCIBLE + 1 };
/* few: FEW_ROWS rows at most, within L2: what counts there is how long one row takes, not how many a second. */
enum { L1, L2, L3, DRAM, few, REGIMES, FEW_ROWS = 3 };

#define COUNT_ROW(...) +1
enum { ROWS = 0 LAYERNORM_DISPATCH_BY_HAND(COUNT_ROW) LAYERNORM_DISPATCH(COUNT_ROW) };

typedef struct row {
    ln_cpu make;
    ln_accuracy accuracy;
    ln_type storage, param;
    int isa, regime;
    size_t hidden_to;
    const char *kernel;
} row;

#define CLASS_fast LN_ACCURACY_FAST
#define CLASS_accurate LN_ACCURACY_ACCURATE
#define CLASS_reproducible LN_ACCURACY_REPRODUCIBLE
#define READ_ROW_OF(make, accuracy, storage, param, isa, regime, hidden_to, kernel)                \
    {CPU_##make, CLASS_##accuracy, TYPE_##storage, TYPE_##param,                                   \
     ISA_##isa,  regime,           hidden_to,      kernel},
#define READ_ROW(...) READ_ROW_OF(any, __VA_ARGS__)

static const row table[] = {LAYERNORM_DISPATCH_BY_HAND(READ_ROW_OF) LAYERNORM_DISPATCH(READ_ROW)};

/* The rows that this CPU uses, in the table's order, and where those of each cell lie. */
static struct used_row {
    size_t hidden_to;
    const ln_kernel *kernel;
} used[ROWS];

typedef struct cell {
    ln_cpu make;
    int isa;
    size_t first, count;
} cell;

static cell cells[CLASSES][TYPES][TYPES][REGIMES];
static const ln_kernel *exact_kernels[TYPES][TYPES][2]; /* [1]: for y that goes to DRAM */
static size_t found_bytes[LN_CACHES];                   /* the caches of this machine */
static atomic_size_t cache_bytes[LN_CACHES];            /* what calls are compared with */
static atomic_uint caches_version;

static const ln_kernel *find_kernel(const row *line)
{
    const ln_plugin *plugin = ln_plugin_v1();
    const ln_problem any = {.rows = 1, .hidden = 1, .storage = line->storage, .param = line->param};
    for (size_t i = 0; i < KERNEL_LINES; i++)
        if (strcmp(plugin->kernels[i].name, line->kernel) == 0)
            return plugin->kernels[i].supports(&any) ? NULL : &plugin->kernels[i];
    return NULL;
}

/* What the machine does not tell is taken from the one that was measured. */
static void read_caches(void)
{
    static const size_t measured[LN_CACHES] = {LAYERNORM_DISPATCH_CACHES};
    cache_sources here = ln_cache_sources();
    cache_sizes sizes;
    ln_caches_find(&here, &sizes);
    for (int i = 0; i < LN_CACHES; i++) {
        found_bytes[i] = sizes.bytes[i] ? sizes.bytes[i] : measured[i];
        atomic_store(&cache_bytes[i], found_bytes[i]);
    }
}

/* Of each cell the rows of the first ISA that there is, of this make of CPU or any: the table has
 * the best one first. */
static void read_table(void)
{
    const cache_sources here = ln_cache_sources();
    const ln_cpu make = ln_cpu_make(&here);
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const row *line = &table[i];
        cell *at = &cells[line->accuracy][line->storage][line->param][line->regime];
        bool other = (line->make != CPU_any && line->make != make) ||
                     (at->count > 0 && (at->isa != line->isa || at->make != line->make));
        const ln_kernel *kernel = find_kernel(line);
        if (other || !ln_isa_is_usable(line->isa) || !kernel)
            continue;
        if (at->count++ == 0) {
            at->make = line->make;
            at->isa = line->isa;
            at->first = count;
        }
        used[count++] = (struct used_row){line->hidden_to, kernel};
    }
    read_caches();
}

static void begin(void);

/* x and y stay in L3 up to 5/8 of it: at half of it a kernel that stores through the caches is still
 * the faster one, at three quarters it takes twice as long as one that stores around them (docs/lab/figures.md). */
static int regime_of(const ln_problem *problem)
{
    size_t bytes;
    int regime = L1;
    if (__builtin_mul_overflow(problem->rows, problem->hidden, &bytes) ||
        __builtin_mul_overflow(bytes, 2 * ln_type_size(problem->storage), &bytes))
        return DRAM;
    for (; regime < DRAM; regime++) {
        size_t fits = atomic_load_explicit(&cache_bytes[regime], memory_order_relaxed);
        if (bytes <= (regime == L3 ? fits - fits / 8 * 3 : fits))
            break;
    }
    return regime;
}

bool ln_is_in_memory(const ln_problem *problem)
{
    begin();
    return regime_of(problem) == DRAM;
}

bool ln_has_few_rows(const ln_problem *problem)
{
    begin();
    return problem->rows <= FEW_ROWS && regime_of(problem) <= L2;
}

/* Where a call's rows are, and whether they are few. */
typedef struct place {
    int regime;
    bool is_few;
} place;

static place place_of(const ln_problem *problem)
{
    return (place){regime_of(problem), problem->rows <= FEW_ROWS};
}

static const ln_kernel *look_up(const ln_problem *problem, place where)
{
    const cell *of_regimes = cells[problem->accuracy][problem->storage][problem->param];
    const cell *found = &of_regimes[where.regime], *of_few = &of_regimes[few];
    /* Few rows may have been measured on a lesser ISA alone. */
    if (where.is_few && where.regime <= L2 && of_few->count > 0 &&
        (found->count == 0 || of_few->isa >= found->isa))
        found = of_few;
    if (found->count == 0)
        return NULL;
    size_t at = found->first, last = found->first + found->count - 1;
    while (at < last && problem->hidden > used[at].hidden_to)
        at++;
    return used[at].kernel;
}

static bool is_better(const ln_kernel *kernel, const ln_kernel *than)
{
    return !than || ln_parts_of(kernel)->isa > ln_parts_of(than)->isa;
}

typedef bool relation(const ln_kernel *kernel, const ln_kernel *model);

/* The kernel for these types that is so related to the model, on the best ISA. */
static const ln_kernel *find_relative(const ln_problem *problem, const ln_kernel *model,
                                      relation *is_related)
{
    const ln_plugin *plugin = ln_plugin_v1();
    const ln_kernel *found = NULL;
    for (size_t i = 0; i < KERNEL_LINES; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        if (is_related(kernel, model) && is_better(kernel, found) && !kernel->supports(problem))
            found = kernel;
    }
    return found;
}

static bool is_exact(const ln_kernel *kernel, const ln_kernel *model)
{
    (void)model;
    return kernel->traits & LN_TRAIT_CORRECTLY_ROUNDED && !(kernel->traits & LN_TRAIT_NONTEMPORAL);
}

/* Of the model's ISA: where a better one has no such stores, its usual ones are not known to lose. */
static bool is_exact_to_memory(const ln_kernel *kernel, const ln_kernel *model)
{
    return model && kernel->traits & LN_TRAIT_CORRECTLY_ROUNDED &&
           kernel->traits & LN_TRAIT_NONTEMPORAL &&
           ln_parts_of(kernel)->isa == ln_parts_of(model)->isa;
}

static void read_all(void)
{
    for (int storage = 0; storage < TYPES; storage++)
        for (int param = 0; param < TYPES; param++) {
            const ln_problem any = {
                .rows = 1, .hidden = 1, .storage = (ln_type)storage, .param = (ln_type)param};
            const ln_kernel **found = exact_kernels[storage][param];
            found[0] = find_relative(&any, NULL, is_exact);
            found[1] = find_relative(&any, found[0], is_exact_to_memory);
            if (!found[1])
                found[1] = found[0];
        }
    read_table();
}

static void begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_bool begun;
    if (atomic_load_explicit(&begun, memory_order_acquire))
        return;
    pthread_once(&once, read_all);
    atomic_store_explicit(&begun, true, memory_order_release);
}

unsigned ln_caches_version(void)
{
    return atomic_load_explicit(&caches_version, memory_order_acquire);
}

ln_status ln_set_cache_bytes(size_t l1d, size_t l2, size_t l3)
{
    const size_t bytes[LN_CACHES] = {l1d, l2, l3};
    bool as_found = l1d == 0 && l2 == 0 && l3 == 0;
    begin();
    if (!as_found && (l1d == 0 || l2 < l1d || l3 < l2))
        return LN_ERROR_ARGUMENT;
    for (int i = 0; i < LN_CACHES; i++)
        atomic_store(&cache_bytes[i], as_found ? found_bytes[i] : bytes[i]);
    atomic_fetch_add(&caches_version, 1);
    return LN_OK;
}

static bool is_known(const ln_problem *problem)
{
    return problem->hidden > 0 && (unsigned)problem->storage < TYPES &&
           (unsigned)problem->param < TYPES &&
           (problem->accuracy == LN_ACCURACY_EXACT || (unsigned)problem->accuracy < CLASSES);
}

static const ln_kernel *dispatch_in(const ln_problem *problem, place where)
{
    if (problem->accuracy == LN_ACCURACY_EXACT)
        return exact_kernels[problem->storage][problem->param][where.regime == DRAM];
    return look_up(problem, where);
}

const ln_kernel *ln_dispatch(const ln_problem *problem)
{
    if (!is_known(problem))
        return NULL;
    begin();
    return dispatch_in(problem, place_of(problem));
}

size_t ln_dispatch_any_rows(const ln_problem *problem, const ln_kernel *kernels[LN_PLACES])
{
    static const place places[LN_PLACES] = {
        {L1, false}, {L1, true}, {L2, false}, {L3, false}, {DRAM, false}};
    size_t count = 0;
    if (!is_known(problem))
        return 0;
    begin();
    for (size_t i = 0; i < LN_PLACES; i++) {
        const ln_kernel *kernel = dispatch_in(problem, places[i]);
        bool is_new = kernel != NULL;
        for (size_t before = 0; before < count; before++)
            is_new = is_new && kernels[before] != kernel;
        if (is_new)
            kernels[count++] = kernel;
    }
    return count;
}

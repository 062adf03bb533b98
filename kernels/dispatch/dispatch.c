/* Chooses a kernel for a problem by the rows of dispatch_table.h. The table has rows for each ISA; those that this CPU
 * can use are selected once. */
#include "dispatch.h"
#include "caches.h"
#include "dispatch_table.h"
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { TYPES = LN_F16 + 1, CLASSES = LN_ACCURACY_REPRODUCIBLE + 1 };
enum { OPERATIONS = LN_OPERATION_RMSNORM + 1 };
/* The properties of a kernel by which it is chosen. */
typedef struct line {
    const char *name;
    unsigned char storage, param, isa;
    bool is_exact, is_nontemporal;
} line;

#define READ_LINE(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR, ISA,       \
                  UNROLL, FMA, NONTEMPORAL, SAME_BITS, ...)                                        \
    {#NAME, TYPE_##STORAGE, TYPE_##PARAM, ISA_##ISA, (SAME_BITS) == 2, (NONTEMPORAL) != 0},
static const line layernorm_lines[] = {LN_KERNEL_TABLE(READ_LINE, READ_LINE)};
static const line rmsnorm_lines[] = {LN_RMS_KERNEL_TABLE(READ_LINE, READ_LINE)};
static const struct {
    const line *lines;
    int count;
} kernels[OPERATIONS] = {{layernorm_lines, KERNEL_LINES}, {rmsnorm_lines, RMS_KERNEL_LINES}};

typedef struct row {
    unsigned char operation, accuracy, storage, param, isa, when;
    const char *kernel;
} row;

#define CLASS_fast LN_ACCURACY_FAST
#define CLASS_accurate LN_ACCURACY_ACCURATE
#define CLASS_reproducible LN_ACCURACY_REPRODUCIBLE
#define READ_ROW(operation, accuracy, storage, param, isa, when, kernel)                           \
    {LN_OPERATION_##operation,                                                                     \
     CLASS_##accuracy,                                                                             \
     TYPE_##storage,                                                                               \
     TYPE_##param,                                                                                 \
     ISA_##isa,                                                                                    \
     LN_WHEN_##when,                                                                               \
     kernel},
#define READ_LAYERNORM(...) READ_ROW(LAYERNORM, __VA_ARGS__)
#define READ_RMSNORM(...) READ_ROW(RMSNORM, __VA_ARGS__)

static const row table[] = {LN_LAYERNORM_ROWS(READ_LAYERNORM) LN_RMSNORM_ROWS(READ_RMSNORM)};
enum { ROWS = sizeof table / sizeof *table };

/* The rows that this CPU uses, in the table's order; `cells` has their ranges for each class and pair of types. */
static struct used_row {
    ln_when when;
    int line;
} used[ROWS];

typedef struct cell {
    int isa;
    size_t first, count;
} cell;

static cell cells[OPERATIONS][CLASSES][TYPES][TYPES];
static int exact_lines[OPERATIONS][TYPES][TYPES][2]; /* [1]: for calls in memory */
static size_t found_bytes[LN_CACHES];                /* the caches of this machine */
static atomic_size_t cache_bytes[LN_CACHES];         /* the sizes in use */
atomic_uint ln_caches_changed;

/* Returns the line of a row's kernel; -1: this CPU cannot run it. */
static int find_line(const row *wanted)
{
    const line *lines = kernels[wanted->operation].lines;
    for (int i = 0; i < kernels[wanted->operation].count && ln_isa_is_usable(wanted->isa); i++)
        if (strcmp(lines[i].name, wanted->kernel) == 0)
            return ln_isa_is_usable(lines[i].isa) ? i : -1;
    return -1;
}

/* Finds the caches. A size that is not known is that of a machine that was measured. */
static void read_caches(void)
{
    static const size_t measured[LN_CACHES] = {49152, 1048576, 33554432};
    cache_sources here = ln_cache_sources();
    cache_sizes sizes;
    ln_caches_find(&here, &sizes);
    for (int i = 0; i < LN_CACHES; i++) {
        found_bytes[i] = sizes.bytes[i] ? sizes.bytes[i] : measured[i];
        atomic_store(&cache_bytes[i], found_bytes[i]);
    }
}

/* Selects for each cell the rows of the first ISA that this CPU has: the table lists the best one first. */
static void read_table(void)
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const row *own = &table[i];
        cell *at = &cells[own->operation][own->accuracy][own->storage][own->param];
        const int found = find_line(own);
        if (found < 0 || (at->count > 0 && at->isa != own->isa))
            continue;
        if (at->count++ == 0) {
            at->isa = own->isa;
            at->first = count;
        }
        used[count++] = (struct used_row){(ln_when)own->when, found};
    }
    read_caches();
}

/* Returns whether x and y are too large to stay in L3: larger than 5/8 of it. With half of L3 a kernel that stores
 * through the caches is still faster; with three quarters it takes twice as long as one that stores around them
 * (docs/lab/figures.md). */
static bool is_in_memory(const ln_problem *problem)
{
    const size_t l3 = atomic_load_explicit(&cache_bytes[LN_CACHES - 1], memory_order_relaxed);
    size_t bytes;
    return __builtin_mul_overflow(problem->rows, problem->hidden, &bytes) ||
           __builtin_mul_overflow(bytes, 2 * ln_type_size(problem->storage), &bytes) ||
           bytes > l3 - l3 / 8 * 3;
}

static int look_up(const ln_problem *problem, bool in_memory)
{
    const cell *found =
        &cells[problem->convention.operation][problem->accuracy][problem->storage][problem->param];
    for (size_t i = found->first; i < found->first + found->count; i++)
        if (ln_when_holds(used[i].when, problem, ln_type_size(problem->storage), in_memory))
            return used[i].line;
    return -1;
}

/* Returns the correctly rounded kernel for these types on the best ISA; -1: none. With a `model` from 0 on it returns
 * the kernel of that one's ISA that stores around the caches, or else `model`, which may be faster than one of a worse
 * ISA with such stores. */
static int find_exact(ln_operation operation, ln_type storage, ln_type param, int model)
{
    const line *lines = kernels[operation].lines;
    int found = -1;
    for (int i = 0; i < kernels[operation].count; i++) {
        const line *own = &lines[i];
        bool fits = own->is_exact && own->storage == (int)storage && own->param == (int)param &&
                    ln_isa_is_usable(own->isa) && own->is_nontemporal == (model >= 0);
        if (fits && (model >= 0 ? found < 0 && own->isa == lines[model].isa
                                : found < 0 || own->isa > lines[found].isa))
            found = i;
    }
    return found < 0 ? model : found;
}

static void read_all(void)
{
    for (int i = 0; i < OPERATIONS * TYPES * TYPES; i++) {
        const ln_operation operation = (ln_operation)(i / TYPES / TYPES);
        const ln_type storage = (ln_type)(i / TYPES % TYPES), param = (ln_type)(i % TYPES);
        int *found = exact_lines[operation][storage][param];
        found[0] = find_exact(operation, storage, param, -1);
        found[1] = found[0] < 0 ? -1 : find_exact(operation, storage, param, found[0]);
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

ln_status ln_set_cache_bytes(size_t l1d, size_t l2, size_t l3)
{
    const size_t bytes[LN_CACHES] = {l1d, l2, l3};
    bool as_found = l1d == 0 && l2 == 0 && l3 == 0;
    begin();
    if (!as_found && (l1d == 0 || l2 < l1d || l3 < l2))
        return LN_ERROR_ARGUMENT;
    for (int i = 0; i < LN_CACHES; i++)
        atomic_store(&cache_bytes[i], as_found ? found_bytes[i] : bytes[i]);
    atomic_fetch_add(&ln_caches_changed, 1);
    return LN_OK;
}

static bool is_known(const ln_problem *problem)
{
    return problem->hidden > 0 && (unsigned)problem->convention.operation < OPERATIONS &&
           (unsigned)problem->storage < TYPES && (unsigned)problem->param < TYPES &&
           (problem->accuracy == LN_ACCURACY_EXACT || (unsigned)problem->accuracy < CLASSES);
}

static int dispatch_in(const ln_problem *problem, bool in_memory)
{
    if (problem->accuracy == LN_ACCURACY_EXACT)
        return exact_lines[problem->convention.operation][problem->storage][problem->param]
                          [in_memory];
    return look_up(problem, in_memory);
}

int ln_dispatch(const ln_problem *problem)
{
    if (!is_known(problem))
        return -1;
    begin();
    return dispatch_in(problem, is_in_memory(problem));
}

size_t ln_dispatch_any_rows(const ln_problem *problem, int lines[LN_PLACES])
{
    static const struct {
        size_t rows;
        bool in_memory;
    } places[LN_PLACES] = {{1, false}, {LN_FEW_ROWS + 1, false}, {LN_FEW_ROWS + 1, true}};
    size_t count = 0;
    if (!is_known(problem))
        return 0;
    begin();
    for (size_t i = 0; i < LN_PLACES; i++) {
        ln_problem with_rows = *problem;
        with_rows.rows = places[i].rows;
        const int found = dispatch_in(&with_rows, places[i].in_memory);
        bool is_new = found >= 0;
        for (size_t before = 0; before < count; before++)
            is_new = is_new && lines[before] != found;
        if (is_new)
            lines[count++] = found;
    }
    return count;
}

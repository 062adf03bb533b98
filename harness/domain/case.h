/* A case (case_key) and its stored results (stored_case). Plan, worker, judge, store and show share these types.
 *
 *     case_key key = {.kernel = "two_pass_f32_avx2", .convention = "torch", .input = "normal", .rows = 512,
 *                     .hidden = 768, .dtype = LN_F32, .cache = CACHE_HOT, .threads = 1};
 *     size_t at = stored_cases_find(&cases, &key);   // cases.count: it is none of them
 */
#ifndef LNBENCH_CASE_H
#define LNBENCH_CASE_H

#include "base/hash.h"
#include "domain/verdict.h"
#include "layernorm.h"
#include "metrics/metrics.h"
#include <stdbool.h>
#include <stddef.h>

enum { NAME_MAX_LENGTH = 64, CONVENTION_MAX_LENGTH = 128, INPUT_MAX_LENGTH = 256 };

/* The state of the caches before a timed call. Hot: as the previous call left them. Cold: full of other data. In place
 * (y is x): calls run on copies of x, which are restored when all are used up (worker/child/time.c); the copies of
 * the same bytes, to which kernels are compared, are timed in place too. */
typedef enum cache_state {
    CACHE_HOT,
    CACHE_COLD,
    CACHE_IN_PLACE,
    CACHE_READ, /* hot, and y is read after each call */
    CACHE_STATES
} cache_state;

/* The number of operations (operation.h). */
enum {
    OPERATIONS = 0
#define OPERATION(KIND, name) +1
#include "domain/operations.def"
#undef OPERATION
};

/* operation x kernel x convention x shape x input x cache state x threads. If the kernel's name is a word of
 * copy_names, the case is a copy of the same bytes, which is timed like a kernel. */
typedef struct case_key {
    ln_operation operation; /* LayerNorm, if a stored or exported case names none */
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH]; /* a preset's name, or the canonical list */
    char input[INPUT_MAX_LENGTH];           /* a family, or a file of tensors */
    size_t rows, hidden;
    ln_type dtype;
    cache_state cache;
    unsigned threads;
} case_key;

/* One repetition of a timed case (or copy), as the worker sent it. */
typedef struct timed_repetition {
    unsigned process;    /* number of the worker process within the run */
    unsigned repetition; /* within that process */
    unsigned order;      /* place in the drawn order of the process */
    uint64_t iterations;
    double real_ns, cpu_ns;      /* of one call */
    double cycles, instructions; /* of one call; NaN: not counted */
} timed_repetition;

/* A speed, computed from repetitions. All NaN if it was not measured. */
typedef struct speed_figures {
    double time_ns, time_lo_ns, time_hi_ns; /* median of a call and its 95 % bootstrap interval */
    double gbps;                            /* bytes of x read and y written / median time */
    double copy_ratio, copy_ratio_lo,
        copy_ratio_hi;           /* time of the copy / time of the kernel, of the same rounds */
    double cycles, instructions; /* the fewest of any call; NaN: not counted */
    unsigned repetitions, processes;
} speed_figures;
#define SPEED_UNKNOWN                                                                              \
    {                                                                                              \
        NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0                                          \
    }

extern const char *const dtype_names[LN_F16 + 1];
const char *dtype_name(ln_type type); /* "f32", "f64", "bf16", "f16" */
bool dtype_from_name(const char *name, ln_type *type);
size_t dtype_size(ln_type type);
/* Returns the row ULP above which no digit of an element is correct: 2^(p-1) for a type of precision p (f32
 * 2^23, f64 2^52, f16 2^10, bf16 2^7). */
double dtype_no_digit(ln_type type);
/* Returns the unit roundoff 2^-p. */
double unit_roundoff(ln_type type);
/* Returns the smallest normal number. */
double dtype_least_normal(ln_type type);
extern const char *const cache_names[CACHE_STATES];
const char *cache_name(cache_state state);   /* "hot", "cold", "in-place", "read" */
const char *cache_phrase(cache_state state); /* "hot cache", "cold cache", "in place" */
bool cache_from_name(const char *name, cache_state *state);
bool is_copy(const char *kernel);
/* The ways to copy; a group is compared with the fastest one. copy_mark() is the name in tables ("" for the
 * plain loop), copy_words() the name in sentences. */
enum { COPY_PLAIN, COPY_NT, COPY_REP, COPY_KINDS };
extern const char *const copy_names[COPY_KINDS];
const char *copy_mark(const char *copy);
const char *copy_words(const char *copy);

/* The names of the conformance tests: "combinations", "large", ... They replace the input in the key of such a test.
 * The first name, "", stands for no test. */
enum { CHECK_NAMES = 4 };
extern const char *const check_names[CHECK_NAMES];
bool is_check(const char *input);

bool case_key_equal(const case_key *a, const case_key *b);
/* Returns a hash of the key; equal keys have equal hashes. */
uint64_t case_key_hash(const case_key *key);
/* Returns true if the keys differ at most in the kernel. Such cases are timed in the same rounds. */
bool case_key_same_but_kernel(const case_key *a, const case_key *b);

/* Regimes: the smallest cache that holds x and y of a call (call_bytes() in operation.h). */

typedef enum cache_regime { REGIME_L1, REGIME_L2, REGIME_L3, REGIME_DRAM, REGIMES } cache_regime;
extern const char *const regime_names[REGIMES]; /* "L1", "L2", "L3", "DRAM" */

/* The fields of ln_metrics by name, so that store, views and commands share one list.
 *
 *     for (size_t i = 0; i < metric_count_all; i++)
 *         printf("%s %g\n", metric_list[i].name, metric_value(&metrics, &metric_list[i]));
 */

typedef enum metric_kind {
    METRIC_REAL,  /* double, NaN where undefined */
    METRIC_COUNT, /* uint64_t */
    METRIC_PLACE, /* size_t */
} metric_kind;

typedef struct metric_field {
    const char *name; /* the JSON key, the TSV heading and the database column */
    metric_kind kind;
    size_t offset;  /* in ln_metrics */
    bool published; /* also in the JSON of cases, not only in the store */
} metric_field;

/* The list, in metric_list.c; each is a column of the table accuracies (store/schema.sql). */
extern const metric_field metric_list[];
extern const size_t metric_count_all;

double metric_value(const ln_metrics *metrics, const metric_field *field); /* counts as doubles */

/* Sets every real metric to NaN and every count to 0. */
void metrics_undefined(ln_metrics *metrics);

/* Cases with their results as the store returns them, in the order in which they were first stored; an index
 * finds them by their keys. */

typedef struct stored_case {
    int64_t id; /* unique in the database: `lnbench replay --case` */
    case_key key;
    bool judged;
    case_verdict verdict;
    ln_metrics metrics; /* NaN where not judged */
    /* The largest proven bound of the judged rows; infinite: it bounds nothing; NaN: no bound. */
    double bound_row_ulp;
    bool hashed;
    uint64_t output_hash;          /* of every bit of the output; valid if `hashed` */
    timed_repetition *repetitions; /* owned by the list */
    size_t repetition_count;
    speed_figures speed; /* computed from the repetitions of finished processes */
} stored_case;

typedef struct stored_cases {
    stored_case *cases; /* in the order in which they were first stored */
    size_t count, indexed;
    struct case_place *index; /* of the first `indexed` cases */
} stored_cases;

/* Returns the index of the case with this key, or `count` if there is none. Cases that are not in the index yet are
 * searched one by one. */
size_t stored_cases_find(const stored_cases *cases, const case_key *key);
/* Adds the remaining cases to the index. */
void stored_cases_index(stored_cases *cases);
void stored_cases_free(stored_cases *cases);

#endif

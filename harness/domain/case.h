/* What a case is (case_key), and what a run found out about it (stored_case): plan, worker, judge, store and show
 * share these.
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

/* What a timed call finds. Hot: the caches as the previous call left them. Cold: caches full of other data. In place,
 * y is x: calls go over copies of x, which are restored when all are used up (worker/child/time.c); its roofs are
 * timed in place, too. */
typedef enum cache_state {
    CACHE_HOT,
    CACHE_COLD,
    CACHE_IN_PLACE,
    CACHE_READ, /* hot, and y is read after each call */
    CACHE_STATES
} cache_state;

/* How many operations there are (operation.h). */
enum {
    OPERATIONS = 0
#define OPERATION(KIND, name) +1
#include "domain/operations.def"
#undef OPERATION
};

/* operation x kernel x convention x shape x input x cache state x threads. A roof is a copy of the same bytes, timed
 * like a kernel (roof_names). */
typedef struct case_key {
    ln_operation operation; /* a stored or exported case that names none is a LayerNorm */
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH]; /* a preset's name, or the canonical list */
    char input[INPUT_MAX_LENGTH];           /* a family, or a file of tensors */
    size_t rows, hidden;
    ln_type dtype;
    cache_state cache;
    unsigned threads;
} case_key;

/* One repetition of one timed case (or roof), as the worker sent it. */
typedef struct timed_repetition {
    unsigned process;    /* number of the worker process within the run */
    unsigned repetition; /* within that process */
    unsigned order;      /* place in the drawn order of the process */
    uint64_t iterations;
    double real_ns, cpu_ns;      /* a call */
    double cycles, instructions; /* that the CPU counted, a call; NaN: it was not asked */
} timed_repetition;

/* A speed, summed up from repetitions. All NaN where it was not measured. */
typedef struct speed_figures {
    double time_ns, time_lo_ns, time_hi_ns; /* median of a call and its 95 % bootstrap interval */
    double gbps;                            /* bytes of x read and y written / median time */
    double copy_ratio, copy_ratio_lo,
        copy_ratio_hi;           /* time of the roof / time of the kernel, paired by process */
    double cycles, instructions; /* the fewest of a call; NaN: not counted */
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
/* Row ULP from which on no digit of an element is right, 2^(p-1) for a type of precision p: f32
 * 2^23, f64 2^52, f16 2^10, bf16 2^7. */
double dtype_no_digit(ln_type type);
/* The unit roundoff 2^-p. */
double unit_roundoff(ln_type type);
/* Below it numbers are subnormal. */
double dtype_least_normal(ln_type type);
extern const char *const cache_names[CACHE_STATES];
const char *cache_name(cache_state state);   /* "hot", "cold", "in-place", "read" */
const char *cache_phrase(cache_state state); /* "hot cache", "cold cache", "in place" */
bool cache_from_name(const char *name, cache_state *state);
bool is_roof(const char *kernel);
/* The roofs, of which the fastest is the roof of a group; and how each is called in tables ("" where
 * it goes without saying) and in words. */
enum { ROOF_COPY, ROOF_COPY_NT, ROOF_COPY_REP, ROOFS };
extern const char *const roof_names[ROOFS];
const char *roof_mark(const char *roof);
const char *roof_words(const char *roof);

/* The name of a conformance test takes the place of the input's: "combinations", "large", ... The first, "", is
 * none; those from "calls" on are only in old runs. */
enum { CHECK_NAMES = 11 };
extern const char *const check_names[CHECK_NAMES];
bool is_check(const char *input);

bool case_key_equal(const case_key *a, const case_key *b);
/* Equal keys have equal hashes. */
uint64_t case_key_hash(const case_key *key);
/* All but the kernel is the same: cases that are timed in the same rounds. */
bool case_key_beside(const case_key *a, const case_key *b);

/* Regimes: which cache holds the tables of a call (operation.h: call_bytes()). */

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

/* Metrics of nothing: every real NaN, every count 0. */
void metrics_undefined(ln_metrics *metrics);

/* Cases with what became of them, as the store gives them back: in the order in which they were first
 * stored, and found by their keys. */

typedef struct stored_case {
    int64_t id; /* in the database, over all runs: `lnbench replay --case` */
    case_key key;
    bool judged;
    case_verdict verdict;
    ln_metrics metrics;   /* NaN where not judged */
    double bound_row_ulp; /* the largest proven bound over the rows judged; infinite: no claim; NaN:
                             no bound */
    bool hashed;
    uint64_t output_hash;          /* of every bit that came out; meaningful where hashed */
    timed_repetition *repetitions; /* owned by the list */
    size_t repetition_count;
    speed_figures speed; /* what they come to, as far as processes have ended */
} stored_case;

typedef struct stored_cases {
    stored_case *cases; /* in the order in which they were first stored */
    size_t count, indexed;
    struct case_place *index; /* of the first `indexed` of them */
} stored_cases;

/* Where a case stands; count: nowhere. Those behind the index are looked at one by one. */
size_t stored_cases_find(const stored_cases *cases, const case_key *key);
/* Brings the index up to all cases there are. */
void stored_cases_index(stored_cases *cases);
void stored_cases_free(stored_cases *cases);

#endif

#include "speed.h"

#include "audit_rows.h"
#include "audit_types.h"
#include "certify/rms_row.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HIDDEN = 768, VARIETY = 16, ROWS = 2000, REPETITIONS = 5, PAIRS = 15 };

/* What one thread has to itself: rows of one type, and parameters, uniform in [-2, 2), [1/2, 3/2),
 * [-1/2, 1/2). Doubles are room for any type. */
typedef struct workplace {
    ln_reference *reference;
    ln_type type;
    bool rms;  /* RMSNorm, as PyTorch has it */
    bool done; /* its last work */
    double x[VARIETY][HIDDEN], gamma[HIDDEN], beta[HIDDEN];
    double rounded[HIDDEN], exact[HIDDEN], rest[HIDDEN];
} workplace;

static workplace *workplace_create(void)
{
    workplace *place = calloc(1, sizeof *place);
    if (place != NULL && (place->reference = ln_reference_create()) == NULL) {
        free(place);
        return NULL;
    }
    return place;
}

static void workplace_destroy(workplace *place)
{
    if (place != NULL) {
        ln_reference_destroy(place->reference);
        free(place);
    }
}

static void draw_rows(workplace *place, ln_type type)
{
    unsigned long long state = 1;
    place->type = type;
    for (size_t i = 0; i < HIDDEN; i++) {
        for (size_t r = 0; r < VARIETY; r++) {
            audit_store(type, place->x[r], i, (double)(audit_random(&state) >> 11) * 0x1p-51 - 2);
        }
        audit_store(type, place->gamma, i, (double)(audit_random(&state) >> 11) * 0x1p-53 + 0.5);
        audit_store(type, place->beta, i, (double)(audit_random(&state) >> 11) * 0x1p-53 - 0.5);
    }
}

/* ROWS rows of the type that is there. */
static bool work(workplace *place)
{
    static const ln_convention torch_rms = {.operation = LN_OPERATION_RMSNORM,
                                            .eps_place = LN_EPS_VAR,
                                            .eps = 0x1p-23,
                                            .weight = LN_RMS_WEIGHT};
    ln_reference_result result = {
        .rounded = place->rounded, .exact = place->exact, .rest = place->rest};
    for (size_t r = 0; r < ROWS; r++) {
        const void *x = place->x[r % VARIETY];
        bool done =
            place->rms
                ? ln_rms_reference_row(place->reference, &torch_rms, place->type, place->type,
                                       HIDDEN, x, NULL, place->gamma, &result)
                : ln_reference_row(place->reference, &audit_presets[0], place->type, place->type,
                                   HIDDEN, x, NULL, place->gamma, place->beta, &result);
        if (!done) {
            return false;
        }
    }
    return true;
}

/* Processor seconds for ROWS rows of this type, the best of REPETITIONS; infinite where memory runs
 * out. */
static double time_type(workplace *place, ln_type type)
{
    double best = (double)INFINITY;
    draw_rows(place, type);
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        clock_t start = clock();
        if (!work(place)) {
            return (double)INFINITY;
        }
        double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = spent < best ? spent : best;
    }
    return best;
}

bool speed_print(void)
{
    workplace *place = workplace_create();
    bool done = place != NULL;
    for (unsigned i = 0; done && i < 2 * AUDIT_TYPES; i++) {
        unsigned type = i % AUDIT_TYPES;
        place->rms = i >= AUDIT_TYPES;
        double seconds = time_type(place, (ln_type)type);
        done = isfinite(seconds);
        if (done) {
            printf("%-9s %-4s %6.2f million certified elements a processor second at hidden 768 "
                   "(best of %d times %d rows)\n",
                   place->rms ? "rmsnorm" : "layernorm", audit_type_names[type],
                   1e-6 * HIDDEN * ROWS / seconds, (int)REPETITIONS, (int)ROWS);
        }
    }
    workplace_destroy(place);
    return done;
}

static void *run_worker(void *argument)
{
    workplace *place = argument;
    place->done = work(place);
    return NULL;
}

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds by the clock until each of the first `count` workers, of which one is this thread, has
 * done its ROWS rows; NaN where one could not. Making a thread takes some 0.1 ms, the rows 20 ms
 * and more. */
static double time_workers(workplace **places, unsigned count)
{
    pthread_t threads[SPEED_MOST_THREADS];
    unsigned made = 1;
    double start = seconds_now();
    while (made < count && pthread_create(&threads[made], NULL, run_worker, places[made]) == 0) {
        made++;
    }
    bool done = made == count;
    run_worker(places[0]);
    done = done && places[0]->done;
    for (unsigned i = 1; i < made; i++) {
        done = pthread_join(threads[i], NULL) == 0 && done && places[i]->done;
    }
    return done ? seconds_now() - start : (double)NAN;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* One after the other in turn, so that what else the machine does meets both. */
static bool print_scaling(workplace **places, unsigned threads, ln_type type)
{
    double scaling[PAIRS], best = (double)INFINITY;
    for (unsigned i = 0; i < threads; i++) {
        draw_rows(places[i], type);
    }
    for (int pair = 0; pair < PAIRS; pair++) {
        double one = time_workers(places, 1), all = time_workers(places, threads);
        if (isnan(one) || isnan(all)) {
            return false;
        }
        scaling[pair] = threads * one / all;
        best = fmin(best, all);
    }
    qsort(scaling, PAIRS, sizeof scaling[0], compare_doubles);
    printf("%-4s %u threads do %.2f times the work of one (median of %d pairs, %.2f to %.2f), at "
           "best %.2f million elements a second\n",
           audit_type_names[type], threads, scaling[PAIRS / 2], (int)PAIRS, scaling[0],
           scaling[PAIRS - 1], 1e-6 * HIDDEN * ROWS * threads / best);
    return true;
}

bool speed_print_threads(unsigned threads)
{
    workplace *places[SPEED_MOST_THREADS];
    bool done = true;
    for (unsigned i = 0; i < threads; i++) {
        places[i] = workplace_create();
        done = done && places[i] != NULL;
    }
    for (unsigned type = 0; done && type < AUDIT_TYPES; type++) {
        done = print_scaling(places, threads, (ln_type)type);
    }
    for (unsigned i = 0; i < threads; i++) {
        workplace_destroy(places[i]);
    }
    return done;
}

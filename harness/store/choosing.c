#include "store/choosing.h"
#include "base/allocate.h"
#include "base/text.h"
#include "inputs/inputs.h"
#include "inputs/offset.h"
#include "store/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool store_run_on(result_store *store, const char *name, int64_t *run, error *err)
{
    enum { RUN, MACHINES, LIST };
    char list[512];
    bool row;
    sqlite3_stmt *statement = store_bound(store, STATEMENT_RUN_ON, err, "s", name);
    if (!statement || !store_next(store, statement, &row, err))
        return false;
    *run = sqlite3_column_int64(statement, RUN);
    int64_t machines = sqlite3_column_int64(statement, MACHINES);
    store_copy_text(statement, LIST, list, sizeof list);
    sqlite3_reset(statement);
    if (machines == 0)
        return fail(err, EXIT_CODE_USAGE, "--machine %.80s: %.200s has no run of such a processor",
                    name, store->path);
    return machines == 1 ||
           fail(err, EXIT_CODE_USAGE, "--machine %.80s: several machines: take one by --run: %s",
                name, list);
}

static size_t size_at(sqlite3_stmt *statement, int column)
{
    return (size_t)sqlite3_column_int64(statement, column);
}

/* A key with a word that is none of ours is no kernel to choose. */
static bool read_timed(sqlite3_stmt *statement, timed_kernel *timed)
{
    enum {
        RUN,
        KERNEL,
        CONVENTION,
        INPUT,
        ROWS,
        HIDDEN,
        TYPES,
        CACHE,
        THREADS,
        PARAM,
        HASH,
        JUDGED,
        OPERATION_NAME
    };
    char types[16], cache[16], what[32];
    case_key *key = &timed->key;
    *timed = (timed_kernel){.run = sqlite3_column_int64(statement, RUN)};
    store_copy_text(statement, KERNEL, key->kernel, sizeof key->kernel);
    store_copy_text(statement, CONVENTION, key->convention, sizeof key->convention);
    store_copy_text(statement, INPUT, key->input, sizeof key->input);
    key->rows = size_at(statement, ROWS);
    key->hidden = size_at(statement, HIDDEN);
    store_copy_text(statement, TYPES, types, sizeof types);
    store_copy_text(statement, CACHE, cache, sizeof cache);
    key->threads = (unsigned)sqlite3_column_int(statement, THREADS);
    store_copy_text(statement, PARAM, timed->param, sizeof timed->param);
    store_copy_text(statement, HASH, timed->object_hash, sizeof timed->object_hash);
    timed->judged = sqlite3_column_int(statement, JUDGED) != 0;
    store_copy_text(statement, OPERATION_NAME, what, sizeof what);
    return dtype_from_name(types, &key->dtype) && cache_from_name(cache, &key->cache) &&
           operation_from_name(what, &key->operation);
}

bool store_timed_kernels(result_store *store, const errors_wanted *wanted, const char *machine,
                         timed_kernel **timed, size_t *count, error *err)
{
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_TIMED_KERNELS, err, "issidi", wanted->run, machine, wanted->convention,
        (int64_t)wanted->hidden, wanted->kappa, (int64_t)wanted->of_cases);
    bool row = false;
    *timed = NULL;
    *count = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    for (; fine && row; fine = store_next(store, statement, &row, err)) {
        *timed = allocate_room(*timed, *count, sizeof **timed);
        *count += read_timed(statement, &(*timed)[*count]);
    }
    return fine;
}

/* Kappa of the sweep's rows as JSON, from row 0 on. */
static void add_kappas(ln_type dtype, text_buffer *out)
{
    for (size_t row = 0; row < OFFSET_SWEEP_ROWS; row++)
        text_format(out, "%s%.17g", row ? ", " : "[", offset_sweep_kappa(dtype, row));
    text_add(out, "]");
}

static void read_figure(sqlite3_stmt *statement, errors_near *errors)
{
    enum { KERNEL, FIGURE, SHIFTED, HIDDEN, KAPPA, WORST, CASES };
    static const char *const names[] = {"row_ulp", "bound", "norm", "ulp", "misrounded"};
    char word[16];
    int figure = 0;
    store_copy_text(statement, FIGURE, word, sizeof word);
    while (figure < FIGURES && strcmp(names[figure], word) != 0)
        figure++;
    if (figure == FIGURES)
        errors->fault = sqlite3_column_int64(statement, WORST);
    else
        errors->figures[figure][sqlite3_column_int(statement, SHIFTED) != 0] = (figure_near){
            .worst = store_real(statement, WORST),
            .kappa = store_real(statement, KAPPA),
            .hidden = size_at(statement, HIDDEN),
            .cases = size_at(statement, CASES),
        };
}

/* Those of the kernel that a row is about: a new one has no figures. */
static errors_near *errors_of(errors_near **errors, size_t *count, const char *kernel)
{
    for (size_t i = *count; i-- > 0;)
        if (strcmp((*errors)[i].kernel, kernel) == 0)
            return &(*errors)[i];
    *errors = allocate_room(*errors, *count, sizeof **errors);
    errors_near *added = &(*errors)[(*count)++];
    *added = (errors_near){0};
    snprintf(added->kernel, sizeof added->kernel, "%s", kernel);
    for (int figure = 0; figure < FIGURES; figure++)
        for (int shifted = 0; shifted < 2; shifted++)
            added->figures[figure][shifted] = (figure_near){.worst = NAN, .kappa = NAN};
    return added;
}

bool store_errors_near(result_store *store, const errors_wanted *wanted, errors_near **errors,
                       size_t *count, error *err)
{
    text_buffer kappas = {0};
    char kernel[NAME_MAX_LENGTH];
    bool row = false;
    *errors = NULL;
    *count = 0;
    add_kappas(wanted->dtype, &kappas);
    sqlite3_stmt *statement = store_bound(store, STATEMENT_ERRORS_NEAR, err, "issids", wanted->run,
                                          dtype_name(wanted->dtype), wanted->convention,
                                          (int64_t)wanted->hidden, wanted->kappa, kappas.bytes);
    bool fine = statement && store_next(store, statement, &row, err);
    for (; fine && row; fine = store_next(store, statement, &row, err)) {
        store_copy_text(statement, 0, kernel, sizeof kernel);
        read_figure(statement, errors_of(errors, count, kernel));
    }
    text_free(&kappas);
    return fine;
}

static class_breach read_breach(sqlite3_stmt *statement)
{
    enum { KERNEL, SIZE, UNFIT, LACKING, CASE_ID, INPUT, HIDDEN, BARE, FOUND, MOST, CASES };
    class_breach breach = {
        .case_id = sqlite3_column_int64(statement, CASE_ID),
        .hidden = size_at(statement, HIDDEN),
        .bare = sqlite3_column_int(statement, BARE) != 0,
        .found = store_real(statement, FOUND),
        .most = store_real(statement, MOST),
        .cases = size_at(statement, CASES),
    };
    store_copy_text(statement, KERNEL, breach.kernel, sizeof breach.kernel);
    store_copy_text(statement, UNFIT, breach.unfit, sizeof breach.unfit);
    store_copy_text(statement, LACKING, breach.lacking, sizeof breach.lacking);
    store_copy_text(statement, INPUT, breach.input, sizeof breach.input);
    return breach;
}

bool store_class(result_store *store, const errors_wanted *wanted, const char *class,
                 class_breach **breaches, size_t *count, error *err)
{
    text_buffer sizes = {0}, families = {0}, kappas = {0};
    size_t family_count;
    const input_family *family = input_families(&family_count);
    bool row = false;
    *breaches = NULL;
    *count = 0;
    text_format(&sizes, "[%zu]", wanted->hidden);
    for (size_t i = 0; i < family_count; i++)
        text_format(&families, "%s\"%s\"", i ? ", " : "[", family[i].name);
    text_add(&families, "]");
    add_kappas(wanted->dtype, &kappas);
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_CLASS, err, "isssssss", wanted->run, dtype_name(wanted->dtype), class,
        sizes.bytes, wanted->convention, wanted->without_eps, families.bytes, kappas.bytes);
    bool fine = statement && store_next(store, statement, &row, err);
    for (; fine && row; fine = store_next(store, statement, &row, err)) {
        *breaches = allocate_room(*breaches, *count, sizeof **breaches);
        (*breaches)[(*count)++] = read_breach(statement);
    }
    text_free(&sizes);
    text_free(&families);
    text_free(&kappas);
    return fine;
}
